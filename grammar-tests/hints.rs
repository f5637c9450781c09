//! Barriers that are named as redundant: which are, which are not, and that the text without them is proved.

use crate::fixtures::{Fixture, files};
use crate::support::draw::part;
use crate::support::tier::tiers;
use raceproof::diagnostic::RuleId;
use raceproof::driver::check_source;
use raceproof::driver::options::{Hints, Options};
use raceproof::driver::parallel::on_workers;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// The lines of the barriers that are named, with the kernel that they are named for.
fn named(text: &str) -> Vec<(String, u32)> {
    let options = Options { hints: Hints::Give, ..Options::default() };
    let report = check_source(Path::new("hints.cu"), text, &options).report;
    let mut lines = Vec::new();
    for kernel in &report.kernels {
        let hints = kernel.findings.iter().filter(|finding| finding.rule == RuleId::RedundantBarrier);
        lines.extend(hints.map(|hint| (kernel.name.clone(), report.sources.start_position(hint.primary.span).line)));
    }
    lines
}

fn body(statements: &str) -> String {
    format!(
        "__global__ void k(int *x) {{\n__shared__ int s[256];\nif (blockDim.x != 256) return;\nint t = threadIdx.x;\n{statements}\n}}\n"
    )
}

fn lines(statements: &str) -> Vec<u32> {
    named(&body(statements)).into_iter().map(|(_, line)| line).collect()
}

#[test]
fn a_barrier_that_orders_two_threads_is_not_named() {
    assert_eq!(lines("s[t] = 1;\n__syncthreads();\nx[blockIdx.x * 256 + t] = s[255 - t];"), [] as [u32; 0]);
    assert_eq!(lines("s[t] = 1;\n__syncthreads();\nx[blockIdx.x * 256 + t] = s[t];"), [6]);
}

#[test]
fn of_two_barriers_one_of_which_is_needed_one_is_named() {
    let two = "s[t] = 1;\n__syncthreads();\n__syncthreads();\nx[blockIdx.x * 256 + t] = s[255 - t];";
    assert_eq!(lines(two), [6]);
}

#[test]
fn a_barrier_between_turns_is_not_named() {
    let turns = "for (int i = 0; i < 8; i++) {\ns[t] = i;\n__syncthreads();\nx[blockIdx.x * 2048 + i * 256 + t] = s[255 - t];\n__syncthreads();\n}";
    assert_eq!(lines(turns), [] as [u32; 0]);
    let copied = "for (int i = 0; i < 8; i++) {\ns[t] = i;\n__syncthreads();\nx[blockIdx.x * 2048 + i * 256 + t] = s[t];\n__syncthreads();\n}";
    assert_eq!(lines(copied), [7, 9]);
}

#[test]
fn what_a_barrier_may_order_without_a_race_keeps_it() {
    let atomics = "__shared__ int n;\nif (t == 0) n = 0;\n__syncthreads();\natomicAdd(&n, 1);\n__syncthreads();\nint m = atomicAdd(&n, 0);\nif (t == 0) x[blockIdx.x] = m;";
    assert_eq!(lines(atomics), [] as [u32; 0]);
    assert_eq!(lines("s[t] = 1;\nint any = __syncthreads_or(t);\nx[blockIdx.x * 256 + t] = s[t];"), [] as [u32; 0]);
}

#[test]
fn a_barrier_that_kernels_share_is_named_if_none_needs_it() {
    let function = "__device__ void step(int *s, int t) {\ns[t] = t;\n__syncthreads();\n}\n";
    let kernel = |name: &str, index: &str| {
        format!(
            "__global__ void {name}(int *x) {{ __shared__ int s[256]; if (blockDim.x != 256) return; int t = threadIdx.x; step(s, t); x[blockIdx.x * 256 + t] = s[{index}]; }}\n"
        )
    };
    let own = named(&[function, &kernel("one", "t"), &kernel("two", "t")].concat());
    assert_eq!(own, [("one".to_owned(), 3), ("two".to_owned(), 3)]);
    let shared = named(&[function, &kernel("one", "t"), &kernel("two", "255 - t")].concat());
    assert_eq!(shared, []);
}

/// How many barriers of a fixture are named, and what is wrong when all of them are taken out of its text.
fn without_the_named(path: &Path) -> (usize, Vec<String>) {
    let text = std::fs::read_to_string(path).expect("the fixture can be read");
    let Ok(fixture) = Fixture::parse(&text) else { return (0, Vec::new()) };
    let options = Options { hints: Hints::Give, ..fixture.options };
    let before = check_source(path, &text, &options).report;
    let main = before.sources.files().next().expect("the file itself").0;
    let findings = before.kernels.iter().flat_map(|kernel| &kernel.findings);
    let hints = findings.filter(|finding| finding.rule == RuleId::RedundantBarrier).map(|hint| hint.primary.span);
    let spans: BTreeSet<_> = hints.filter(|span| span.file == main).collect();
    let mut less = text.into_bytes();
    spans.iter().for_each(|span| less[span.start as usize..span.end as usize].fill(b' '));
    let less = String::from_utf8(less).expect("whole calls were taken out");
    let after = check_source(path, &less, &Options { hints: Hints::Omit, ..options }).report;
    let verdicts = before.kernels.iter().zip(&after.kernels);
    let worse = verdicts.filter(|(before, after)| (before.race, before.divergence) != (after.race, after.divergence));
    (spans.len(), worse.map(|(_, after)| format!("{} in {}", after.name, path.display())).collect())
}

#[test]
fn fixtures_without_the_barriers_that_are_named_have_the_same_verdicts() {
    let files = part("fixtures without barriers", files(), tiers(30, 12, 1), |path| path.display().to_string());
    let rows = on_workers(None, || files.par_iter().map(|path| without_the_named(path)).collect::<Vec<_>>());
    let wrong: Vec<_> = rows.iter().flat_map(|row| &row.1).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let removed: usize = rows.iter().map(|row| row.0).sum();
    assert!(removed >= tiers(0, 0, 3).current(), "only {removed} barriers of the fixtures are redundant");
}
