//! Barriers that end races: where they are inserted, that the text with them is proved, and that nothing else changes.

use crate::fixtures::{Fixture, files};
use crate::support::draw::part;
use crate::support::tier::tiers;
use raceproof::diagnostic::report::{Divergence, FileReport, Fix, Race};
use raceproof::driver::check_source;
use raceproof::driver::mend::fixed;
use raceproof::driver::options::{Fixes, Options};
use raceproof::driver::parallel::on_workers;
use rayon::prelude::*;
use std::path::Path;

fn checked(path: &str, text: &str) -> FileReport {
    check_source(Path::new(path), text, &Options { fixes: Fixes::Suggest, ..Options::default() }).report
}

fn fix_of(report: &FileReport) -> Option<&Fix> {
    report.kernels.iter().flat_map(|kernel| &kernel.findings).find_map(|finding| finding.fix.as_ref())
}

/// The statements of a kernel over a block of 256, with what is inserted into them.
fn mended(statements: &str) -> Option<String> {
    let before = format!(
        "__global__ void k(int *x, int n) {{\n  __shared__ int s[256];\n  if (blockDim.x != 256) return;\n  int t = threadIdx.x;\n{statements}}}\n"
    );
    let after = fixed(&before, &checked("k.cu", &before))?;
    let again = checked("k.cu", &after);
    assert!(again.kernels.iter().all(|kernel| kernel.race == Race::RaceFree), "{after}");
    assert_eq!(fixed(&after, &again), None, "a second run leaves it alone");
    let body = after.split_once("int t = threadIdx.x;\n").expect("the head is as it was").1;
    Some(body.strip_suffix("}\n").expect("so is the end").to_owned())
}

#[test]
fn a_barrier_goes_between_the_accesses_as_late_as_it_can() {
    let after =
        mended("  s[t] = x[blockIdx.x * 256 + t];\n  int y = n;\n  x[blockIdx.x * 256 + t] = s[255 - t] + y;\n");
    let expected = "  s[t] = x[blockIdx.x * 256 + t];\n  int y = n;\n  __syncthreads();\n  x[blockIdx.x * 256 + t] = s[255 - t] + y;\n";
    assert_eq!(after.as_deref(), Some(expected));
}

#[test]
fn a_barrier_goes_before_a_condition_that_threads_decide() {
    let after = mended("  s[t] = t;\n  if (t < 128) {\n    x[blockIdx.x * 256 + t] = s[255 - t];\n  }\n");
    let expected =
        "  s[t] = t;\n  __syncthreads();\n  if (t < 128) {\n    x[blockIdx.x * 256 + t] = s[255 - t];\n  }\n";
    assert_eq!(after.as_deref(), Some(expected));
}

#[test]
fn a_pragma_stays_with_its_loop() {
    let text = |barrier: &str| {
        format!(
            "  s[t] = t;\n{barrier}  #pragma unroll\n  for (int i = 0; i < 256; i++) n += s[i];\n  x[blockIdx.x * 256 + t] = n;\n"
        )
    };
    assert_eq!(mended(&text("")), Some(text("  __syncthreads();\n")));
}

#[test]
fn a_race_between_turns_gets_its_barrier_at_an_end_of_the_loop() {
    let turns = |end: &str| {
        format!(
            "  for (int i = 0; i < 8; i++) {{\n    s[t] = i;\n    __syncthreads();\n    x[blockIdx.x * 2048 + i * 256 + t] = s[255 - t];\n{end}  }}\n"
        )
    };
    assert_eq!(mended(&turns("")), Some(turns("    __syncthreads();\n")));
}

#[test]
fn two_barriers_may_be_needed() {
    let turns = |[middle, end]: [&str; 2]| {
        format!(
            "  for (int i = 0; i < 8; i++) {{\n    s[t] = i;\n{middle}    x[blockIdx.x * 2048 + i * 256 + t] = s[255 - t];\n{end}  }}\n"
        )
    };
    let barrier = "    __syncthreads();\n";
    assert_eq!(mended(&turns(["", ""])), Some(turns([barrier, barrier])));
}

#[test]
fn within_a_warp_a_barrier_of_the_warp_does() {
    let tail = |between: &str| {
        format!(
            "  s[t] = t;\n  __syncthreads();\n  if (t < 32) {{\n    s[t] += s[t + 32];\n{between}    x[blockIdx.x * 32 + t] = s[(t + 1) % 32];\n  }}\n"
        )
    };
    assert_eq!(mended(&tail("")), Some(tail("    __syncwarp();\n")));
}

#[test]
fn what_no_barrier_ends_is_left_alone() {
    assert_eq!(mended("  x[t] = blockIdx.x;\n"), None, "two blocks");
    assert_eq!(mended("  x[blockIdx.x * 256] = t;\n"), None, "one statement");
    assert_eq!(mended("  s[t] = t;\n  if (t < 8) __syncthreads();\n  x[blockIdx.x * 256 + t] = s[255 - t];\n"), None);
}

#[test]
fn opencl_gets_its_own_barrier() {
    let text = |barrier: &str| {
        format!(
            "__kernel void k(__global int *x) {{\n  __local int s[256];\n  int t = get_local_id(0);\n  if (get_local_size(0) != 256) return;\n  s[t] = t;\n{barrier}  x[get_group_id(0) * 256 + t] = s[255 - t];\n}}\n"
        )
    };
    let before = text("");
    let report = checked("k.cl", &before);
    assert_eq!(fixed(&before, &report), Some(text("  barrier(CLK_LOCAL_MEM_FENCE);\n")));
    let message = fix_of(&report).map(|fix| fix.message.clone());
    assert_eq!(message.as_deref(), Some("insert `barrier(CLK_LOCAL_MEM_FENCE);` before line 6"));
}

#[test]
fn a_barrier_is_made_to_name_the_memory_that_it_leaves_out() {
    let text = |flags: &str| {
        format!(
            "__kernel void k(__global int *x, __local int *s) {{\n  int t = get_local_id(0);\n  s[t] = t;\n  barrier({flags});\n  x[get_global_id(0)] = s[get_local_size(0) - 1 - t];\n}}\n"
        )
    };
    let fix = |flags: &str| {
        let before = text(flags);
        let report = checked("k.cl", &before);
        let fixed = fixed(&before, &report)?;
        Some((fix_of(&report)?.message.clone(), fixed))
    };
    let both = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";
    let told = |old: &str, new: &str| Some((format!("replace `{old}` by `{new}` in line 4"), text(new)));
    assert_eq!(fix("CLK_GLOBAL_MEM_FENCE"), told("CLK_GLOBAL_MEM_FENCE", both));
    assert_eq!(fix("0"), told("0", "CLK_LOCAL_MEM_FENCE"));
    assert_eq!(fix("CLK_LOCAL_MEM_FENCE"), None);
}

#[test]
fn a_mask_is_made_to_name_those_that_execute_its_call() {
    let text = |masks: [&str; 2]| {
        format!(
            "__global__ void k(float *x) {{\n  int t = blockIdx.x * blockDim.x + threadIdx.x;\n  float sum = t + __shfl_xor_sync({}, t, 1);\n  if (__any_sync({}, sum > 1.0f)) sum += 1;\n  x[t] = sum;\n}}\n",
            masks[0], masks[1]
        )
    };
    let fix = |masks: [&str; 2]| {
        let before = text(masks);
        let report = checked("k.cu", &before);
        Some((fix_of(&report)?.message.clone(), fixed(&before, &report)?))
    };
    let whole = "0xffffffff";
    let told = |message: &str| Some((message.to_owned(), text([whole, whole])));
    assert_eq!(fix(["0xffff", whole]), told("replace `0xffff` by `0xffffffff` in line 3"));
    assert_eq!(fix([whole, "1u << 31"]), told("replace `1u << 31` by `0xffffffff` in line 4"));
    let both = "replace `0xffff` by `0xffffffff` in line 3, `1u << 31` by `0xffffffff` in line 4";
    assert_eq!(fix(["0xffff", "1u << 31"]), told(both));
    assert_eq!(fix([whole, whole]), None);
}

#[test]
fn a_mask_that_names_too_many_is_left_alone() {
    assert_eq!(mended("  if (t % 32 < 8) x[blockIdx.x * 256 + t] = __shfl_xor_sync(0xffff, t, 1);\n"), None);
}

/// The text of a fixture after `--fix`, if that changes it.
pub(crate) fn fixed_text(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("the fixture can be read");
    let fixture = Fixture::parse(&text).ok()?;
    let options = Options { fixes: Fixes::Suggest, ..fixture.options };
    fixed(&text, &check_source(path, &text, &options).report)
}

/// The number of kernels of a fixture that are fixed, and what is wrong with the text after it.
fn fixed_fixture(path: &Path) -> (usize, Vec<String>) {
    let text = std::fs::read_to_string(path).expect("the fixture can be read");
    let Ok(fixture) = Fixture::parse(&text) else { return (0, Vec::new()) };
    let options = Options { fixes: Fixes::Suggest, ..fixture.options };
    let before = check_source(path, &text, &options).report;
    let Some(after_text) = fixed(&text, &before) else { return (0, Vec::new()) };
    let after = check_source(path, &after_text, &options).report;
    let (mut count, mut wrong) = (0, Vec::new());
    for (before, after) in before.kernels.iter().zip(&after.kernels) {
        let was_fixed = before.findings.iter().any(|finding| finding.fix.is_some());
        let is_proved = after.race == Race::RaceFree && after.divergence == Divergence::Uniform;
        count += usize::from(was_fixed);
        if if was_fixed { !is_proved } else { before.race != after.race } {
            wrong.push(format!("{} in {}: {}", after.name, path.display(), after.race.name()));
        }
    }
    if fixed(&after_text, &after).is_some() {
        wrong.push(format!("{} is fixed twice", path.display()));
    }
    (count, wrong)
}

#[test]
fn fixed_fixtures_are_proved_and_stay_as_they_are() {
    let files = part("fixtures to fix", files(), tiers(30, 15, 1), |path| path.display().to_string());
    let rows = on_workers(None, || files.par_iter().map(|path| fixed_fixture(path)).collect::<Vec<_>>());
    let wrong: Vec<_> = rows.iter().flat_map(|row| &row.1).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let count: usize = rows.iter().map(|row| row.0).sum();
    assert!(count >= tiers(0, 0, 10).current(), "only {count} kernels of the fixtures are fixed");
}
