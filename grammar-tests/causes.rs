//! One defect is one finding: what is one, and what has to stay apart.

use raceproof::diagnostic::report::{Certainty, Finding, KernelReport, Race, Report, Same};
use raceproof::driver::parallel::{Input, Unwatched, check_all};
use raceproof::driver::{Options, check_source};
use std::path::Path;

fn checked(text: &str) -> Vec<KernelReport> {
    let report = check_source(Path::new("a.cu"), text, &Options::default()).report;
    assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
    report.kernels
}

/// The rules of the findings of a kernel, and how many each speaks for.
fn causes(body: &str) -> Vec<(&'static str, usize)> {
    let kernels =
        checked(&format!("__global__ void k(int *x, int *y, const int *v, const int *w, int n) {{\n{body}\n}}\n"));
    kernels[0].findings.iter().map(|finding| (finding.rule.name(), finding.related.len())).collect()
}

/// One finding of the rule, which speaks for others.
fn one(rule: &str, body: &str) {
    let causes = causes(body);
    assert!(matches!(causes[..], [(known, more)] if known == rule && more > 0), "{body}: {causes:?}");
}

/// So many findings.
fn apart(count: usize, body: &str) {
    let causes = causes(body);
    assert_eq!(causes.len(), count, "{body}: {causes:?}");
}

#[test]
fn both_halves_of_an_update_are_one() {
    one("data-race", "  x[0] += 1;");
    one("data-dependent-index", "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  x[v[i]]++;");
}

#[test]
fn a_warp_synchronous_tail_is_one() {
    let lines = [16, 8, 4, 2, 1].map(|d| format!("  if (t < 32) s[t] += s[t + {d}];\n")).concat();
    let body = format!(
        "  __shared__ int s[64];\n  int t = threadIdx.x;\n  if (t < 64) s[t] = x[t];\n  __syncthreads();\n{lines}"
    );
    let causes = causes(&body);
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert!(causes[0].1 > 4, "{causes:?}");
}

#[test]
fn what_one_barrier_ends_is_one_and_what_two_end_is_two() {
    let body = "\
  __shared__ int s[256], r[256];
  int t = threadIdx.x;
  s[t] = v[t];
  r[t] = w[t];
  x[t] = s[255 - t];
  y[t] = r[255 - t];";
    let shared = format!("__builtin_assume(blockDim.x == 256 && gridDim.x == 1);\n{body}");
    one("data-race", &shared);
    let more = "\n  __syncthreads();\n  s[t] = w[t];\n  y[t] += s[255 - t];";
    apart(2, &format!("{shared}{more}"));
}

#[test]
fn what_one_read_decides_is_one_and_what_two_decide_is_two() {
    let head = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    one("data-dependent-index", &format!("{head}  int j = v[i] / 2;\n  x[j] = i;\n  y[j] = i;"));
    apart(2, &format!("{head}  x[v[i] / 2] = i;\n  y[w[i] / 2] = i;"));
}

#[test]
fn statements_that_two_threads_execute_alike_are_one() {
    one("same-value-write", "  x[0] = 1;\n  y[0] = 1;");
    one("data-race", "  x[n] = threadIdx.x;\n  y[n] = threadIdx.x;");
}

#[test]
fn barriers_under_one_condition_are_one_and_under_two_are_two() {
    one(
        "barrier-divergence",
        "  if (threadIdx.x < 3) {\n    __syncthreads();\n    __syncthreads();\n    __syncthreads();\n  }",
    );
    apart(2, "  if (v[threadIdx.x] > 0) __syncthreads();\n  if (w[threadIdx.x] > 0) __syncthreads();");
}

#[test]
fn a_divergence_never_stands_in_a_race() {
    let kernels =
        checked("__global__ void k(int *x) {\n  if (threadIdx.x < 3) __syncthreads();\n  x[0] = threadIdx.x;\n}\n");
    let rules: Vec<&str> = kernels[0].findings.iter().map(|finding| finding.rule.name()).collect();
    assert!(rules.contains(&"barrier-divergence") && rules.len() == 2, "{rules:?}");
}

/// No finding is lost, and the head is the best.
#[test]
fn a_proved_finding_never_stands_in_a_possible_one() {
    for path in crate::fixtures::files() {
        let text = std::fs::read_to_string(&path).expect("a fixture");
        let Ok(fixture) = crate::fixtures::Fixture::parse(&text) else { continue };
        let run = check_all(&[Input::Text(path.clone(), text.into_bytes())], &fixture.options, &Unwatched);
        for finding in heads(&run.report) {
            let is_fine = |other: &Finding| finding.certainty <= other.certainty && other.related.is_empty();
            assert!(finding.related.iter().all(is_fine), "{}: {}", path.display(), finding.message);
        }
    }
}

fn heads(report: &Report) -> impl Iterator<Item = &Finding> {
    report.files.iter().flat_map(|file| &file.kernels).flat_map(|kernel| &kernel.findings)
}

#[test]
fn a_statement_of_a_template_is_told_once() {
    let text = "\
template <typename T> __global__ void k(T *x) { x[0] = threadIdx.x; }
__global__ void other(int *x) { x[0] = threadIdx.x; }
void host(int *x, double *y) { k<<<1, 64>>>(x); k<<<1, 64>>>(y); other<<<1, 64>>>(x); }
";
    let run = check_all(&[Input::Text("a.cu".into(), text.as_bytes().to_vec())], &Options::default(), &Unwatched);
    let kernels = &run.report.files[0].kernels;
    assert_eq!(kernels.len(), 3);
    assert!(kernels.iter().all(|kernel| kernel.race == Race::Racy && kernel.findings.len() == 1));
    let told: Vec<usize> = kernels.iter().map(|kernel| kernel.told().count()).collect();
    assert_eq!(told, [1, 0, 1]);
    let Same::Also(instances) = &kernels[0].findings[0].telling.same else {
        panic!("{:?}", kernels[0].findings[0].telling.same)
    };
    assert_eq!(instances.len(), 1);
    assert_eq!(instances[0].kernel, kernels[1].instance());
}

#[test]
fn a_statement_of_a_header_is_told_once() {
    let place = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        path
    };
    write("k.h", "__global__ void k(int *x) { x[0] = threadIdx.x; }\n");
    let files = ["a.cu", "b.cu"].map(|name| write(name, "#include \"k.h\"\nvoid host(int *x) { k<<<1, 64>>>(x); }\n"));
    let run = check_all(&files.map(Input::File), &Options::default(), &Unwatched);
    let kernels: Vec<&KernelReport> = run.report.files.iter().flat_map(|file| &file.kernels).collect();
    assert!(kernels.len() == 2 && kernels.iter().all(|kernel| kernel.race == Race::Racy));
    assert_eq!(kernels.iter().map(|kernel| kernel.told().count()).collect::<Vec<_>>(), [1, 0]);
    assert!(kernels.iter().all(|kernel| kernel.path.as_ref().is_some_and(|path| path.ends_with("k.h"))));
}

#[test]
fn the_gravest_are_kept() {
    let text = "\
__global__ void may(int *x, const int *v) { x[v[threadIdx.x] / 2] = threadIdx.x; }
__global__ void does(int *x) { x[0] = threadIdx.x; }
";
    let mut report =
        check_all(&[Input::Text("a.cu".into(), text.as_bytes().to_vec())], &Options::default(), &Unwatched).report;
    assert_eq!(report.keep(1), 1);
    let left: Vec<Certainty> = heads(&report).map(|finding| finding.certainty).collect();
    assert_eq!(left, [Certainty::Proved]);
}

#[test]
fn calls_of_what_is_not_defined_are_one_note_a_kernel() {
    let body = "  int a = foo(x);\n  int b = bar(x);\n  int c = foo(y);\n  x[0] = a + b + c;";
    let kernels = checked(&format!("__global__ void k(int *x, int *y) {{\n{body}\n}}\n"));
    let reasons = kernels[0].unknowns.iter().map(|unknown| (unknown.line, unknown.reason.as_str()));
    let calls: Vec<(u32, &str)> = reasons.filter(|(_, reason)| reason.contains("not defined")).collect();
    assert_eq!(calls, [(2, "calls of 'foo' and 'bar', which are not defined (also at lines 3 and 4)")]);
}
