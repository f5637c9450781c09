//! Contracts that files state, through the real binary: tables that are read back, kernels and launches that no longer keep
//! them, and launches of logged runs.

use crate::cli::{Place, Seen};

/// A kernel whose rows must not overlap, and one that fits into its table.
const ROWS: &str = "template <class T>
__global__ void rows(T *o, int pitch, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width) o[y * pitch + x] = y;
}
__global__ void half(float *o) {
    __shared__ float s[2048];
    s[threadIdx.x] = 1;
    s[threadIdx.x + 256] = 2;
    o[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x + 256];
}
__global__ void once(float *o) { o[threadIdx.x] = blockIdx.x; }
__global__ void flat(float *o) { o[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }
";
const HOST: &str = "void host(float *o, int *i, int n, int m, dim3 g) {
    rows<float><<<dim3(4, 4), dim3(16, 16)>>>(o, n, n);
    rows<int><<<g, dim3(16, 16)>>>(i, n, m);
    half<<<2, 128>>>(o);
    half<<<2, n>>>(o);
    once<<<1, 256>>>(o);
    flat<<<n, 256>>>(o);
}
";
const PART: &str = "__kernel void part(__global float *o, int pitch) {
    o[get_group_id(1) * pitch + get_global_id(0)] = 1;
}
";

const TABLE: &str =
    "# Contracts of kernels: the launches of each that are free of races. `raceproof contracts` writes them, and
# `raceproof check --contracts FILE` holds kernels and launches against them.

part.cl: part
    pitch >= get_num_groups(0) * get_local_size(0)  # scalar
";

fn place() -> Place {
    Place::with(&[("rows.cu", &format!("{ROWS}{HOST}")), ("part.cl", PART)])
}

fn run(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[arguments, &["--solver", "none", "--front", "tree-sitter"]].concat())
}

/// The lines of a table that are no comments.
fn lines(table: &str) -> Vec<&str> {
    let lines = table.lines().map(|line| line.split("  #").next().unwrap_or_default());
    lines.filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty()).collect()
}

/// A kernel of a report.
fn kernel<'r>(report: &'r serde_json::Value, name: &str, arguments: &[&str]) -> &'r serde_json::Value {
    let files = report["files"].as_array().unwrap().iter();
    let mut kernels = files.flat_map(|file| file["kernels"].as_array().unwrap());
    let is_it =
        |kernel: &&serde_json::Value| kernel["name"] == name && kernel["template_args"] == serde_json::json!(arguments);
    kernels.find(is_it).unwrap_or_else(|| panic!("no {name}: {report:#}"))
}

fn rules(kernel: &serde_json::Value) -> Vec<&str> {
    kernel["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

/// What each launch says, by line.
fn launches(kernel: &serde_json::Value) -> Vec<(u64, &str)> {
    let launches = kernel["launches"].as_array().into_iter().flatten();
    launches.map(|launch| (launch["line"].as_u64().unwrap(), launch["contract"].as_str().unwrap())).collect()
}

#[test]
fn a_table_lists_what_kernels_ask_of_launches() {
    let place = place();
    let table = run(&place, &["contracts"]).expect(0).out;
    assert!(table.starts_with(TABLE), "{table}");
    assert_eq!(
        lines(&table),
        [
            "part.cl: part",
            "    pitch >= get_num_groups(0) * get_local_size(0)",
            "    get_local_size(1) == 1",
            "rows.cu: half",
            "    blockDim.x <= 256",
            "rows.cu: once",
            "    gridDim.x == 1",
            "rows.cu: rows<float>",
            "    pitch >= width",
            "rows.cu: rows<int>",
            "    pitch >= width",
        ]
    );
    assert!(table.contains("    # launches: none found\n"), "{table}");
    assert!(table.contains("    # launches: 1 kept, 1 open\n"), "{table}");
    assert!(table.contains("    # assuming no unsigned wrap in blockIdx.x * blockDim.x + threadIdx.x\n"), "{table}");
    assert!(!table.contains("(line "), "what stands above a kernel does not change its lines: {table}");
    // The order in which paths are given does not matter, nor does the number of threads.
    for arguments in [&["contracts", "rows.cu", "part.cl"][..], &["contracts", "--jobs", "1"]] {
        assert_eq!(run(&place, arguments).expect(0).out, table);
    }
    let all = run(&place, &["contracts", "--all"]).expect(0).out;
    assert!(lines(&all).windows(2).any(|two| two == ["rows.cu: flat", "    any launch"]), "{all}");
}

#[test]
fn a_table_has_a_form_for_programs() {
    let place = place();
    let table = run(&place, &["contracts", "--format", "json", "--all"]).expect(0).json();
    assert_eq!(table["schema"], "raceproof.contracts.v1");
    let rows = table["contracts"].as_array().unwrap();
    let half = rows.iter().find(|row| row["name"] == "half").unwrap();
    assert_eq!(half["contract"], serde_json::json!([{"text": "blockDim.x <= 256", "kind": "geometry"}]));
    assert_eq!(half["launches"], serde_json::json!({"kept": 1, "open": 1, "broken": 0}));
    assert_eq!(half["asks"], "contract");
    let flat = rows.iter().find(|row| row["name"] == "flat").unwrap();
    assert_eq!((&flat["asks"], &flat["contract"]), (&"any-launch".into(), &serde_json::json!([])));
}

#[test]
fn what_is_written_is_read_and_holds() {
    let place = place();
    for all in [&[][..], &["--all"]] {
        let table = run(&place, &[&["contracts"], all].concat()).expect(0).out;
        place.put(
            "kept/contracts.txt",
            table.replace("rows.cu", "../rows.cu").replace("part.cl", "../part.cl").as_bytes(),
        );
        place.put("contracts.txt", table.as_bytes());
        for file in ["contracts.txt", "kept/contracts.txt"] {
            let seen = run(&place, &["check", "--contracts", file, "--format", "json"]).expect(0).complains("");
            let report = seen.json();
            assert_eq!(report["summary"]["race_free"], report["summary"]["kernels"], "{report:#}");
            let rows = kernel(&report, "rows", &["float"]);
            assert_eq!((&rows["scope"], launches(rows)), (&"contract".into(), vec![(15, "kept")]));
            assert_eq!(launches(kernel(&report, "rows", &["int"])), [(16, "open")]);
            assert_eq!(launches(kernel(&report, "half", &[])), [(17, "kept"), (18, "open")]);
            assert_eq!(launches(kernel(&report, "once", &[])), [(19, "kept")]);
            let line = 1 + table.lines().position(|line| line == "rows.cu: half").unwrap();
            assert_eq!(kernel(&report, "half", &[])["contract_stated"], format!("{file}:{line}"));
        }
    }
}

#[test]
fn a_kernel_that_no_longer_keeps_its_contract_is_a_finding() {
    let place = place();
    place.put("c.txt", b"rows.cu: rows\n    pitch >= width\nrows.cu: flat: any launch\n");
    run(&place, &["check", "rows.cu", "--contracts", "c.txt", "--kernel", "rows"]).expect(0);
    // One element more than before, and a kernel that forgets its block.
    let changed = ROWS
        .replace("x < width", "x <= width")
        .replace("o[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;", "o[threadIdx.x] = blockIdx.x;");
    place.put("rows.cu", format!("{changed}{HOST}").as_bytes());
    let seen = run(&place, &["check", "rows.cu", "--contracts", "c.txt", "--format", "json"]).expect(1);
    let report = seen.json();
    for (name, arguments, stated) in [
        (
            "rows",
            &["float"][..],
            "broken contract: rows<float> races under its stated contract `pitch >= width` (c.txt:1)",
        ),
        ("flat", &[], "broken contract: flat races for any launch, as c.txt:3 states"),
    ] {
        let kernel = kernel(&report, name, arguments);
        assert_eq!(kernel["race"], "racy");
        assert_eq!(rules(kernel), ["data-race", "broken-contract"], "{kernel:#}");
        let finding = &kernel["findings"][1];
        assert_eq!((&finding["message"], &finding["certainty"]), (&stated.into(), &"proved".into()));
        assert_eq!(finding["primary"]["access"], "kernel");
    }
    let text = run(&place, &["check", "rows.cu", "--contracts", "c.txt"]).expect(1).out;
    assert!(text.contains("= it would take `pitch >= width + 1`, too"), "{text}");
    // The race is one of a launch that keeps what is stated.
    let witness = &kernel(&report, "rows", &["float"])["findings"][0]["witness"]["params"];
    assert!(witness["pitch"].as_i64() >= witness["width"].as_i64(), "{witness}");
}

#[test]
fn launches_are_held_against_what_is_stated() {
    let place = Place::with(&[("k.cu", "")]);
    for (launch, keeping, race, found) in [
        ("k<<<dim3(2, 2), dim3(16, 16)>>>(o, 64, 64)", "kept", "race-free", &[][..]),
        ("k<<<dim3(2, 2), dim3(16, 16)>>>(o, n, n)", "kept", "race-free", &[]),
        ("k<<<dim3(2, 2), dim3(16, 16)>>>(o, n, m)", "open", "race-free", &[]),
        ("k<<<dim3(2, 2), dim3(16, 16)>>>(o, 16, 32)", "broken", "racy", &["data-race"]),
        // One row is free whatever the pitch, but it is not what is stated.
        ("k<<<dim3(2, 1), dim3(16, 1)>>>(o, 16, 32)", "broken", "race-free", &["broken-contract"]),
        // Nobody reads along z, where this launch has two blocks.
        ("k<<<dim3(2, 2, 2), dim3(16, 16)>>>(o, 64, 64)", "broken", "racy", &["data-race"]),
        ("k<<<dim3(2, 2, n), dim3(16, 16)>>>(o, 64, 64)", "open", "race-free", &[]),
        ("k<<<g, dim3(16, 16)>>>(o, 64, 64)", "kept", "race-free", &[]),
    ] {
        let kernel_of = ROWS.split("__global__").nth(1).unwrap().replace("T *o", "float *o").replace("rows(", "k(");
        let host = format!("void host(float *o, int n, int m, dim3 g) {{\n {launch}; }}\n");
        place.put("k.cu", format!("__global__{kernel_of}{host}").as_bytes());
        place.put("c.txt", b"k.cu: k: pitch >= width\n");
        let report = run(&place, &["check", "k.cu", "--contracts", "c.txt", "--format", "json"]).json();
        let kernel = kernel(&report, "k", &[]);
        assert_eq!(kernel["race"], race, "{launch}: {kernel:#}");
        assert_eq!(
            launches(kernel).iter().map(|(_, said)| *said).collect::<Vec<_>>(),
            [keeping],
            "{launch}: {kernel:#}"
        );
        assert_eq!(rules(kernel), found, "{launch}");
    }
}

#[test]
fn a_contract_that_nobody_keeps_is_not_enough() {
    let place = Place::with(&[("k.cu", "__global__ void k(int *o, int n) { o[threadIdx.x / 2] = 1; }\n")]);
    for stated in ["n >= 3, n <= 2", "blockDim.x < 1"] {
        place.put("c.txt", format!("k.cu: k: {stated}\n").as_bytes());
        let report = run(&place, &["check", "k.cu", "--contracts", "c.txt", "--format", "json"]).json();
        assert_ne!(kernel(&report, "k", &[])["race"], "race-free", "{stated}");
    }
}

#[test]
fn contracts_of_opencl_are_stated_in_its_words() {
    let place =
        Place::with(&[("k.cl", PART), ("c.txt", "*/k.cl: part\n  pitch >= get_num_groups(0) * get_local_size(0)\n")]);
    let seen = run(&place, &["check", "k.cl", "--contracts", "c.txt"]).expect(0);
    let line =
        "  contract: pitch >= get_num_groups(0) * get_local_size(0) (stated in c.txt:1; no launch of it was found)";
    assert!(seen.out.contains(line), "{}", seen.out);
    let racy = run(&place, &["check", "k.cl", "--contracts", "c.txt", "--fail-on", "open-contract"]).expect(1);
    assert!(racy.out.contains("race-free for all launches that keep its contract"), "{}", racy.out);
}

#[test]
fn what_cannot_be_read_or_does_not_fit_is_an_error() {
    let place = place();
    for (text, error) in [
        (
            "rows.cu: half: blockDim.x !! 3\n",
            "c.txt:1: `blockDim.x !! 3`: expected a value, a number or a sign, found `!`",
        ),
        ("# half\n\nhalf: blockDim.x <= 256\n", "c.txt:3: `blockDim.x <= 256` is no name of a kernel"),
        ("rows.cu half blockDim.x <= 256\n", "c.txt:1: expected `path: kernel`"),
        ("rows.cu: half: n >= 1\n", "c.txt:1: rows.cu: half: `n >= 1`: the kernel has no integer parameter `n`"),
    ] {
        place.put("c.txt", text.as_bytes());
        run(&place, &["check", "rows.cu", "--contracts", "c.txt"]).expect(2).complains(error);
    }
    run(&place, &["check", "rows.cu", "--contracts", "missing.txt"]).expect(2).complains("cannot read missing.txt");
    run(&place, &["check", "rows.cu", "--contracts", "c.txt", "--block-dim", "16"]).expect(2).complains("--block-dim");
}

#[test]
fn a_contract_of_a_kernel_that_is_not_there_is_a_warning() {
    let place = place();
    let text = "rows.cu: gone: blockDim.x <= 256\nrows.cu: rows<double>: pitch >= width\nlost.cu: k: any launch\n\
                part.cl: part: pitch >= get_num_groups(0) * get_local_size(0)\nrows.cu: rosw: blockDim.x <= 256\n";
    place.put("c.txt", text.as_bytes());
    run(&place, &["check", "rows.cu", "--contracts", "c.txt", "--fail-on", "never"])
        .expect(0)
        .complains("warning: c.txt:5: rows.cu: rosw: there is no such kernel in what was checked; did you mean `rows`?")
        .complains("warning: c.txt:1: rows.cu: gone: there is no such kernel in what was checked")
        .complains("warning: c.txt:2: rows.cu: rows<double>: there is no such kernel")
        .complains("warning: c.txt:3: lost.cu: k: there is no such kernel")
        .complains("note: 1 contract is of files that were not checked");
}

#[test]
fn the_most_exact_name_counts() {
    let place = Place::with(&[
        (
            "k.cu",
            "namespace a {\n__global__ void k(int *o) { o[threadIdx.x] = blockIdx.x; }\n}\n__global__ void k(float *o) { o[threadIdx.x] = blockIdx.x; }\n",
        ),
        ("c.txt", "k.cu: k: gridDim.x == 1\nk.cu: a::k: any launch\n"),
    ]);
    let report = run(&place, &["check", "k.cu", "--contracts", "c.txt", "--format", "json"]).json();
    assert_eq!(kernel(&report, "a::k", &[])["race"], "racy");
    assert_eq!(kernel(&report, "k", &[])["race"], "race-free");
}

#[test]
fn overloads_have_numbers() {
    let text = "__global__ void k(int *o) { o[threadIdx.x] = blockIdx.x; }\n\
                __global__ void k(float *o, int n) { o[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";
    let host = "void host(int *o) { k<<<1, 256>>>(o); }\n";
    let place = Place::with(&[("k.cu", &format!("{text}{host}"))]);
    let table = run(&place, &["contracts"]).expect(0).out;
    let of_second = ["    n >= gridDim.x * blockDim.x", "    blockDim.y == 1"];
    let expected = ["k.cu: k@1", "    gridDim.x == 1", "k.cu: k@2", of_second[0], of_second[1]];
    assert_eq!(lines(&table), expected, "{table}");
    place.put("c.txt", table.as_bytes());
    run(&place, &["check", "k.cu", "--contracts", "c.txt"]).expect(0);
}

/// A program that launches with numbers that its text does not have.
const PROGRAM: &str = "#include <cstdlib>
__global__ void rows(float *o, int pitch, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width) o[y * pitch + x] = 1.f;
}
int main(int count, char **arguments) {
    int pitch = atoi(arguments[1]), width = atoi(arguments[2]);
    float *o;
    cudaMalloc(&o, 4 * 64 * 64);
    rows<<<dim3(width / 16, 2), dim3(16, 4)>>>(o, pitch, width);
    rows<<<dim3(width / 16, 1), dim3(16, 2)>>>(o, pitch + 16, width);
    cudaDeviceSynchronize();
    return count != 3;
}
";

const SCATTERED: &str = "__global__ void scatter(int *out, const int *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[to[i]] = i;
}
void host(int *o, int *t, int n) { scatter<<<(n + 255) / 256, 256>>>(o, t, n); }
";

#[test]
fn what_memory_holds_is_stated_and_left_open() {
    let place = Place::with(&[("scatter.cu", SCATTERED)]);
    let table = run(&place, &["contracts", "."]).expect(0).out;
    assert_eq!(lines(&table), ["scatter.cu: scatter", "    distinct(to)"]);
    place.put("c.txt", table.as_bytes());
    let check =
        |code: i32| run(&place, &["check", "--contracts", "c.txt", "--format", "json", "."]).expect(code).json();
    let report = check(0);
    let scatter = kernel(&report, "scatter", &[]);
    assert_eq!((&scatter["race"], &scatter["scope"]), (&"race-free".into(), &"contract".into()), "{scatter:#}");
    assert_eq!(launches(scatter), vec![(5, "open")]);
    assert_eq!(scatter["contract"][0]["kind"], "data");
    // Who states it means it, of a kernel that counts as well.
    place.put("scatter.cu", SCATTERED.replace("= i;", "+= 1;").replace("int i +=", "int i =").as_bytes());
    assert_eq!(kernel(&check(0), "scatter", &[])["race"], "race-free");
    place.put("scatter.cu", SCATTERED.replace("to[i]]", "to[i] / 2]").as_bytes());
    assert_eq!(rules(kernel(&check(1), "scatter", &[])), ["data-dependent-index", "broken-contract"]);
    place.put("c.txt", b"scatter.cu: scatter: distinct(out)\n");
    let seen = run(&place, &["check", "--contracts", "c.txt", "."]).expect(2);
    seen.complains("no array of integers that it only reads, `out`; it has to");
}

#[test]
fn a_contract_that_a_launch_does_without_is_not_told() {
    // Free for blocks of 32 by 16 threads by how large the tile is; what is found for all launches asks for more.
    let text = "__global__ void k(float *out) {\n  __shared__ float tile[24][40];\n  int x = threadIdx.x, y = threadIdx.y, w = \
                blockDim.x;\n  if (x < 4) { tile[y][x] = 0; tile[y][x + w + 4] = 0; }\n  tile[y][x + 4] = 1;\n}\n\
                int main() { k<<<1, dim3(32, 16)>>>(nullptr); }\n";
    let place = Place::with(&[("halo.cu", text)]);
    let table = run(&place, &["contracts"]).expect(0).out;
    assert!(!table.contains("blockDim.x <= 2"), "{table}");
    let report = run(&place, &["check", "--format", "json"]).expect(0).json();
    assert_eq!(kernel(&report, "k", &[])["race"], "race-free", "{report}");
}

#[test]
fn the_launches_of_a_logged_run_are_held_against_contracts() {
    let place = Place::with(&[("rows.cu", PROGRAM)]);
    for (pitch, width, code, race, counted, said) in [
        ("32", "32", 0, "race-free", "kept by 2", &["kept", "kept"][..]),
        ("16", "32", 1, "racy", "kept by 1, broken by 1", &["broken", "kept"]),
    ] {
        let mut command =
            place.command(&["run", "rows.cu", "--backend", "cpu", "--log", "run.trace", "--", pitch, width]);
        let ran = command.output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{ran:?}");
        let told = String::from_utf8(ran.stdout).unwrap();
        assert!(told.contains(&format!("rows: contract pitch >= width: {counted} of 2 launches\n")), "{told}");
        let open = run(&place, &["check", "rows.cu", "--format", "json"]).expect(0).json();
        assert_eq!(kernel(&open, "rows", &[])["scope"], "contract");
        let seen = run(&place, &["check", "rows.cu", "--launches", "run.trace", "--format", "json"]).expect(code);
        let report = seen.json();
        let kernel = kernel(&report, "rows", &[]);
        assert_eq!(
            (&kernel["race"], &kernel["scope"]),
            (&race.into(), &"the launches in run.trace".into()),
            "{kernel:#}"
        );
        let kept: Vec<&str> = launches(kernel).into_iter().map(|(_, said)| said).collect();
        assert_eq!(kept, said, "{kernel:#}");
        assert!(kernel["launches"].as_array().unwrap().iter().all(|launch| launch["path"] == "run.trace"));
        // The same, of a contract that is stated.
        place.put("c.txt", b"rows.cu: rows: pitch >= width\n");
        let arguments = ["check", "rows.cu", "--launches", "run.trace", "--contracts", "c.txt", "--format", "json"];
        let report = run(&place, &arguments).expect(code).json();
        let kept: Vec<&str> = launches(self::kernel(&report, "rows", &[])).into_iter().map(|(_, said)| said).collect();
        assert_eq!(kept, said, "{report:#}");
    }
    run(&place, &["check", "rows.cu", "--launches", "rows.cu"]).expect(2).complains("--launches: cannot read rows.cu");
}

#[test]
fn a_log_that_passes_parts_of_one_allocation_says_so() {
    for (from, is_told) in [("d + 512", true), ("e", false)] {
        let program = format!(
            "__global__ void shift(float *out, const float *in) {{ int i = threadIdx.x; out[i] = in[i]; }}\nint main() {{\n  float \
             *d, *e;\n  cudaMalloc(&d, 4096);\n  cudaMalloc(&e, 4096);\n  shift<<<1, 64>>>(d, {from});\n}}\n"
        );
        let place = Place::with(&[("shift.cu", &program)]);
        place.run(&["run", "shift.cu", "--backend", "cpu", "--log", "run.trace"]).expect(0);
        let out = run(&place, &["check", "shift.cu", "--launches", "run.trace"]).expect(0).out;
        assert_eq!(out.contains("out and in of shift point into one allocation at run.trace:1"), is_told, "{out}");
    }
}
