//! Contracts, through the whole of a check: that they are enough, that each condition is needed, that somebody keeps them, and
//! which launches do.

use raceproof::diagnostic::report::{
    Certainty, CheckedLaunch, Contract, ContractKind, Keeping, KernelReport, Race, ScopeKind, WitnessReport,
};
use raceproof::driver::options::{Launches, Proofs};
use raceproof::driver::{Options, check_source};
use std::path::Path;

fn checked_with(text: &str, launches: Launches) -> KernelReport {
    let mut options = Options::default();
    options.judging.launches = launches;
    options.judging.proofs = Proofs::Recheck;
    check_source(Path::new("k.cu"), text, &options).report.kernels.remove(0)
}

fn checked(text: &str) -> KernelReport {
    checked_with(text, Launches::OfContracts)
}

fn words(report: &KernelReport) -> String {
    let conjuncts = report.contract.iter().flat_map(Contract::to_keep);
    conjuncts.map(|conjunct| conjunct.text.as_str()).collect::<Vec<_>>().join(" and ")
}

fn scope(report: &KernelReport) -> Option<&ScopeKind> {
    report.scope.as_ref().map(|scope| &scope.kind)
}

fn launches(report: &KernelReport) -> &[CheckedLaunch] {
    report.contract.as_ref().map_or(&[], |contract| &contract.launches)
}

fn extents(witness: &WitnessReport) -> [i128; 3] {
    let n = witness.params.iter().find(|(name, _)| name == "n").map_or(0, |&(_, value)| value);
    [i128::from(witness.block_dim[0]), i128::from(witness.grid_dim[0]), n]
}

/// The body of a kernel, what is said, the same as C, and the same of a launch: block, grid and `n`.
type Case = (&'static str, &'static str, &'static str, fn([i128; 3]) -> bool);

const CASES: [Case; 6] = [
    ("a[threadIdx.x] = blockIdx.x;", "gridDim.x == 1", "gridDim.x == 1", |[_, grid, _]| grid == 1),
    (
        "a[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1;",
        "n >= gridDim.x * blockDim.x",
        "n >= (long)gridDim.x * blockDim.x",
        |[block, grid, n]| n >= grid * block,
    ),
    (
        "__shared__ int s[1024]; s[threadIdx.x & (blockDim.x - 1)] = threadIdx.x;",
        "blockDim.x is a power of two",
        "(blockDim.x & (blockDim.x - 1)) == 0",
        |[block, ..]| block & (block - 1) == 0,
    ),
    (
        "__shared__ int s[2048]; s[threadIdx.x] = 1; s[threadIdx.x + 256] = 2;",
        "blockDim.x <= 256",
        "blockDim.x <= 256",
        |[block, ..]| block <= 256,
    ),
    (
        "int x = blockIdx.x * blockDim.x + threadIdx.x; if (x < m) a[blockIdx.y * n + x] = 1;",
        "n >= m",
        "n >= m",
        |[_, _, n]| n >= 1,
    ),
    ("*a = threadIdx.x;", "", "", |_| false),
];

#[test]
fn a_contract_suffices_and_its_witnesses_break_it() {
    for (body, said, stated, holds) in CASES {
        let kernel = |assumed: &str| format!("__global__ void k(int *a, int n, int m) {{ {assumed} {body} }}");
        let racy = checked_with(&kernel(""), Launches::All);
        assert_eq!(racy.race, Race::Racy, "{body}");
        assert_eq!(words(&racy), said, "{body}");
        for conjunct in racy.contract.iter().flat_map(Contract::to_keep) {
            let witness =
                conjunct.necessary.as_ref().unwrap_or_else(|| panic!("{body}: {} is not needed", conjunct.text));
            assert!(body.contains("< m") || !holds(extents(witness)), "{body}: {witness:?}");
        }
        if !said.is_empty() {
            let free = checked_with(&kernel(&format!("__builtin_assume({stated});")), Launches::All);
            assert_eq!(free.race, Race::RaceFree, "{body}");
        }
    }
}

#[test]
fn nothing_is_said_of_kernels_that_do_not_race() {
    for body in ["a[blockIdx.x * blockDim.x + threadIdx.x] = 1;", "a[a[threadIdx.x]] = 1;", "asm(\"what\"); a[0] = 1;"]
    {
        let text = format!("__global__ void k(int *a) {{ {body} }}");
        assert_eq!(words(&checked(&text)), "", "{body}");
    }
}

/// Kernels that no launch of somebody keeps free: the contract that would is no excuse.
const NO_EXCUSE: [&str; 8] = [
    // The barrier that ends an iteration is missing: a loop that runs once needs none.
    "__shared__ int s[1024]; int v = 0; for (int b = 0; b < n; b += blockDim.x) { s[threadIdx.x] = b; __syncthreads(); \
     for (int k = 0; k < blockDim.x; k++) v += s[k]; } a[blockIdx.x * blockDim.x + threadIdx.x] = v;",
    "__shared__ int s[1024]; int v = 0; for (int t = 0; t < n / blockDim.x; t++) { s[threadIdx.x] = t; __syncthreads(); \
     for (int k = 0; k < blockDim.x; k++) v += s[k]; } a[blockIdx.x * blockDim.x + threadIdx.x] = v;",
    // One thread of a block alone would count.
    "__shared__ int c; if (threadIdx.x % n == 0) c += 1; __syncthreads(); a[blockIdx.x * blockDim.x + threadIdx.x] = c;",
    // A barrier is missing: only blocks of one thread are free.
    "__shared__ int s[64]; s[threadIdx.x] = 1; a[threadIdx.x] = s[63 - threadIdx.x];",
    // Blocks that share what each of them writes, though it asks who it is.
    "a[threadIdx.x] = blockIdx.x;",
    "if (threadIdx.x == 0) *a = blockIdx.x;",
    // Each thread reads what its neighbour writes.
    "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = a[i + 1];",
    "*a = threadIdx.x;",
];

#[test]
fn what_nobody_keeps_excuses_no_race() {
    for body in NO_EXCUSE {
        let report = checked(&format!("__global__ void k(int *a, int n) {{ {body} }}"));
        assert_eq!(report.race, Race::Racy, "{body}: {}", words(&report));
        assert!(report.each_finding().any(|finding| finding.certainty == Certainty::Proved), "{body}");
    }
}

const ROWS: &str = "__global__ void k(float *o, int pitch, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width) o[y * pitch + x] = 1.f;
}
";

#[test]
fn without_a_launch_the_contract_is_what_is_said() {
    let report = checked(ROWS);
    assert_eq!((report.race, words(&report).as_str()), (Race::RaceFree, "pitch >= width"));
    assert_eq!(scope(&report), Some(&ScopeKind::Contract));
    assert!(report.findings.is_empty() && launches(&report).is_empty());
    let strict = checked_with(ROWS, Launches::All);
    assert_eq!((strict.race, words(&strict).as_str()), (Race::Racy, "pitch >= width"));
}

#[test]
fn no_launch_says_what_memory_holds() {
    use Keeping::Open;
    let kernel = "__global__ void k(int *out, const int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[to[i]] = i;
}
";
    for (launch, count) in
        [("", 0), ("k<<<4, 64>>>(o, t, 256)", 1), ("k<<<(n + 63) / 64, 64>>>(o, t, n)", 1), ("k<<<g, b>>>(o, t, n)", 1)]
    {
        let report = checked(&format!("{kernel}void h(int *o, int *t, int n, dim3 g, dim3 b) {{ {launch}; }}\n"));
        assert_eq!(report.race, Race::RaceFree, "{launch}");
        assert_eq!(scope(&report), Some(&ScopeKind::Contract), "{launch}");
        assert!(words(&report).starts_with("distinct(to)"), "{launch}: {}", words(&report));
        assert!(
            launches(&report).iter().all(|launch| launch.keeping == Open && !launch.missing.is_empty()),
            "{launch}"
        );
        assert_eq!(launches(&report).len(), count, "{launch}");
        let needed = report.contract.iter().flat_map(|contract| &contract.conjuncts);
        let of_data: Vec<_> = needed.filter(|conjunct| conjunct.kind == ContractKind::Data).collect();
        assert!(matches!(of_data.as_slice(), [only] if only.necessary.is_some()), "{launch}");
    }
    let strict = checked_with(kernel, Launches::All);
    assert_eq!((strict.race, words(&strict).as_str()), (Race::PossiblyRacy, "distinct(to)"));
    let mut options = Options::default();
    options.judging.block = [Some(64), Some(1), Some(1)];
    let given = check_source(Path::new("k.cu"), kernel, &options).report.kernels.remove(0);
    assert_eq!((given.race, words(&given).as_str()), (Race::PossiblyRacy, "distinct(to)"));
}

#[test]
fn launches_keep_or_break_the_contract_or_leave_it_open() {
    use Keeping::{Broken, Kept, Open};
    for (args, race, kind, keeping) in [
        ("o, 64, 64", Race::RaceFree, ScopeKind::Launch, Kept),
        ("o, 128, 100", Race::RaceFree, ScopeKind::Launch, Kept),
        ("o, n, n", Race::RaceFree, ScopeKind::Launch, Kept),
        ("o, n, 64", Race::RaceFree, ScopeKind::Contract, Open),
        ("o, 32, 64", Race::Racy, ScopeKind::Launch, Broken),
    ] {
        let host = format!("void h(float *o, int n) {{ k<<<dim3(4, 4), dim3(16, 16)>>>({args}); }}\n");
        let report = checked(&format!("{ROWS}{host}"));
        assert_eq!(report.race, race, "{args}");
        assert_eq!(scope(&report), Some(&kind), "{args}");
        if let [launch] = launches(&report) {
            assert_eq!(launch.keeping, keeping, "{args}");
            assert_eq!(launch.missing.is_empty(), keeping == Kept, "{args}");
        } else {
            assert_eq!(keeping, Kept, "{args}: one launch is told: {:?}", launches(&report));
        }
        let witnesses = report.each_finding().filter_map(|finding| finding.witness.as_ref());
        for witness in witnesses {
            assert_eq!(witness.block_dim, [16, 16, 1], "the race is one of that launch");
        }
    }
}

#[test]
fn a_grid_that_is_computed_has_more_than_one_block() {
    let text = "__global__ void k(float *x, float f) { int i = threadIdx.x; x[i] *= f; }
void h(float *x, int n) { k<<<(n + 255) / 256, 256>>>(x, 2.f); }
";
    let report = checked(text);
    assert_eq!((report.race, words(&report).as_str()), (Race::Racy, "gridDim.x == 1"));
    assert_eq!(launches(&report).iter().map(|launch| launch.keeping).collect::<Vec<_>>(), [Keeping::Broken]);
}

#[test]
fn a_launch_whose_numbers_go_around_keeps_no_contract() {
    let kernel = "__global__ void k(float *a, int p) {\n __shared__ float s[1024];\n int t = threadIdx.x;\n\
        s[t] = a[blockIdx.x * blockDim.x + t];\n\
        if (t < blockDim.x - p) a[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];\n}\n";
    let report = checked(&format!("{kernel}void h(float *a) {{ k<<<4, 64>>>(a, 65); }}\n"));
    assert_eq!(report.race, Race::Racy, "{}", words(&report));
}

/// What host code does to an object, or to a number, before it launches with it.
const CHANGES: [(&str, bool); 9] = [
    ("", true),
    ("int seen = o.row;", true),
    ("o.read(v);", false),
    ("int q = o.next();", false),
    ("o();", false),
    ("o << 3;", false),
    ("if (o) q();", false),
    ("[&x = o.row] { x = 1; }();", false),
    ("auto f = [&] { o.read(v); }; f();", false),
];

#[test]
fn methods_and_operators_may_change_their_objects() {
    let declared = "struct Sizes { int row; void read(char **v); int next() { return row++; } void operator()() { row = 1; }\n\
        void operator<<(int n) { row = n; } operator bool() { return row++; } };\nvoid q();\n\
        __global__ void k(int *a, int row) { a[blockIdx.x * row + threadIdx.x] = threadIdx.x; }\n";
    for (change, is_kept) in CHANGES {
        let host = format!("void h(int *a, char **v) {{ Sizes o = {{64}}; {change} k<<<4, 64>>>(a, o.row); }}\n");
        let report = checked(&format!("{declared}{host}"));
        let kind = if is_kept { ScopeKind::Launch } else { ScopeKind::Contract };
        assert_eq!((report.race, scope(&report)), (Race::RaceFree, Some(&kind)), "{change}");
    }
}

#[test]
fn a_launch_breaks_a_contract_by_what_is_said_of_its_sizes() {
    let keeping = |pitch: &str| {
        let report = checked(&format!(
            "__global__ void k(float *y, int width, int pitch) {{ int col = threadIdx.x, row = blockIdx.x; if (col < width) \
             y[row * pitch + col] = row; }}\nvoid run(float *y, int width, int rows, int other) {{ k<<<rows, 256>>>(y, width, {pitch}); }}\n"
        ));
        (report.race, launches(&report).iter().map(|launch| launch.keeping).collect::<Vec<_>>())
    };
    assert_eq!(keeping("width - 1"), (Race::Racy, vec![Keeping::Broken]));
    assert_eq!(keeping("width").0, Race::RaceFree);
    // What is not known of it may be right.
    assert_eq!(keeping("other"), (Race::RaceFree, vec![Keeping::Open]));
    assert_eq!(keeping("width - other"), (Race::RaceFree, vec![Keeping::Open]));
}

#[test]
fn a_race_that_needs_sizes_smaller_than_the_block_is_a_possible_one() {
    // A tile of sixteen threads: no contract of it admits two warps.
    let rows = "__global__ void k(float *m, int pitch) { __shared__ float a[16][16]; for (int i = 0; i < 16; i++) \
                a[i][threadIdx.x] = m[i * pitch + threadIdx.x];\n__syncthreads();\nfor (int i = 0; i < 16; i++) m[i * pitch + \
                threadIdx.x] = a[i][threadIdx.x]; }\n";
    let report = checked(rows);
    assert_eq!(report.race, Race::PossiblyRacy);
    let is_told = |finding: &&raceproof::diagnostic::report::Finding| {
        finding.array.as_deref() == Some("m")
            && finding.notes.iter().any(|note| note.contains("seen only with pitch = 1"))
    };
    let finding = report.findings.iter().find(is_told).unwrap_or_else(|| panic!("{:#?}", report.findings));
    assert_eq!(finding.certainty, Certainty::Possible);
    assert_eq!(checked_with(rows, Launches::All).race, Race::Racy);
    let slip = "__global__ void k(int *d, int n) { __shared__ int s[256]; s[threadIdx.x] = d[threadIdx.x]; d[threadIdx.x] = s[(n - \
                threadIdx.x) % 256]; }\n";
    assert_eq!(checked(slip).race, Race::Racy);
}
