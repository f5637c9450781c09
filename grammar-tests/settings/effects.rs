//! What each key of `raceproof.toml` does to a run, and that the option that it stands for does the same.
//!
//! Each row is a small tree, a key, and what is seen of a run without the key and with it. A key of the schema without a row fails.

use crate::cli::{Place, Seen};
use std::collections::BTreeSet;

/// What one key does.
struct Row {
    key: &'static str,
    /// Settings that hold with the key and without.
    always: &'static str,
    /// The line that sets it.
    line: &'static str,
    /// The same as it is typed; nothing for a key that stands for no option.
    typed: &'static [&'static str],
    /// The files, of which the first is checked.
    files: &'static [(&'static str, &'static str)],
    /// Other arguments.
    arguments: &'static [&'static str],
    seen: fn(&Place, &Seen) -> String,
    /// What is seen without it and with it.
    expected: [&'static str; 2],
}

/// A row of a CUDA kernel in `k.cu`, of which the verdict changes.
const fn verdict(
    key: &'static str,
    line: &'static str,
    typed: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    expected: [&'static str; 2],
) -> Row {
    Row { key, always: "", line, typed, files, arguments: &[], seen: race, expected }
}

/// Nothing more is wanted than a report for programs.
fn arguments(row: &Row) -> Vec<&'static str> {
    let is_json = !["format", "output"].contains(&row.key);
    let format: &[&str] = if is_json { &["--format", "json"] } else { &[] };
    [&["check", row.files[0].0], format, row.arguments].concat()
}

fn kernel(seen: &Seen) -> serde_json::Value {
    seen.json()["files"][0]["kernels"][0].clone()
}

fn race(_: &Place, seen: &Seen) -> String {
    kernel(seen)["race"].as_str().unwrap_or("no kernel").to_owned()
}

fn code(_: &Place, seen: &Seen) -> String {
    format!("{:?}", seen.code)
}

/// A kernel that calls what is defined elsewhere.
const FAR: &str =
    "extern __device__ float far(float);\n__global__ void k(float *x) { x[threadIdx.x] = far(x[threadIdx.x]); }\n";

fn assumptions(_: &Place, seen: &Seen) -> String {
    let assumed = kernel(seen)["assumptions"].as_array().unwrap().clone();
    let texts = assumed.iter().map(|it| it.as_str().unwrap_or_else(|| it["text"].as_str().unwrap()).to_owned());
    // Which extents are 1 is told of any kernel.
    texts.filter(|text| !text.ends_with(" = 1")).collect::<Vec<_>>().join("; ")
}

/// Rules of findings that are told, and of those that are left out.
fn rules(_: &Place, seen: &Seen) -> String {
    let kernel = kernel(seen);
    let of = |name: &str| -> Vec<String> {
        let all = kernel[name].as_array().into_iter().flatten();
        all.map(|it| it["rule"].as_str().unwrap_or_else(|| it["finding"]["rule"].as_str().unwrap()).to_owned())
            .collect()
    };
    format!("{} / {}", of("findings").join(" "), of("suppressed").join(" "))
}

/// The files that are reported.
fn files(_: &Place, seen: &Seen) -> String {
    let report = seen.json();
    let names = report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned());
    names.collect::<Vec<_>>().join(" ")
}

/// Whether more than a thousand steps of the rules were counted: a proof that is replayed takes several times as many.
fn replays(_: &Place, seen: &Seen) -> String {
    let stages = kernel(seen)["stages"].as_array().unwrap().clone();
    let rules = stages.iter().find(|stage| stage["stage"] == "rules").unwrap()["work"].as_u64().unwrap();
    (rules > 1_000).to_string()
}

/// Whether more than four million steps were counted in all: the kernel takes a third of those with little effort.
fn tries_hard(_: &Place, seen: &Seen) -> String {
    let stages = kernel(seen)["stages"].as_array().unwrap().clone();
    let all: u64 = stages.iter().map(|stage| stage["work"].as_u64().unwrap()).sum();
    (all > 4_000_000).to_string()
}

fn complaint(_: &Place, seen: &Seen) -> String {
    let first = seen.err.lines().next().unwrap_or_default();
    first.split(';').next().unwrap_or_default().to_owned()
}

/// Why the first kernel is unknown.
fn reason(_: &Place, seen: &Seen) -> String {
    let reason = kernel(seen)["unknowns"][0]["reason"].as_str().unwrap_or_default().to_owned();
    if reason.contains("did not answer in time") { "silent".to_owned() } else { reason }
}

fn stated(_: &Place, seen: &Seen) -> String {
    kernel(seen)["contract_stated"].as_str().unwrap_or("none").to_owned()
}

fn begins(_: &Place, seen: &Seen) -> String {
    seen.out.chars().next().unwrap_or(' ').to_string()
}

fn is_written(place: &Place, _: &Seen) -> String {
    let text = std::fs::read_to_string(place.path().join("out.sarif"));
    let is_sarif =
        text.is_ok_and(|text| text.contains("\"version\":\"2.1.0\"") || text.contains("\"version\": \"2.1.0\""));
    is_sarif.to_string()
}

const FREE: &str = "__global__ void k(int *x) { if (x) {} }\n";
const RACY: &str = "__global__ void k(int *x) { x[0] = threadIdx.x; }\n";
const OF_BLOCKS: &str = "__global__ void k(int *x) { x[threadIdx.x] = blockIdx.x; }\n";
const BY_MACRO: &str = "__global__ void k(int *x) { x[threadIdx.x / W] = threadIdx.x; }\n";
const BY_HEADER: &str = "#include \"size.h\"\n__global__ void k(int *x) { x[threadIdx.x / W] = threadIdx.x; }\n";
const IN_STEP: &str = "__global__ void k(int *x) {
  __shared__ volatile int s[64];
  if (threadIdx.x < 32) { s[threadIdx.x] = 1; x[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x]; }
}
";
const WARP: &str = "#include <hip/hip_runtime.h>
__global__ void k(int *y) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  y[blockIdx.x * 1024 + t] = s[t ^ 16];
}
";
const PLANES: &str =
    "__global__ void k(float *out, const float *in, int pitch, int height, int batch, float scale, int width) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= (int)(width / scale) || y >= (int)(height / scale)) return;
  int plane = pitch * height;
  for (int i = blockIdx.z; i < batch; i += gridDim.z)
    for (int channel = 0; channel < 3; channel++) out[i * 3 * plane + y * pitch + x + channel * plane] = in[i];
}
";
const HASHED: &str =
    "__global__ void k(float *y) { unsigned t = threadIdx.x; if (t < 8) y[(t * 2654435761u) >> 3] = t; }\n";
/// A solver that says nothing.
const SILENT: &str =
    "#!/bin/sh\nwhile read -r line; do case \"$line\" in '(check-sat)') exec /bin/sleep 60 ;; esac; done\n";

const ROWS: &[Row] = &[
    verdict(
        "include-dirs",
        "include-dirs = [\"inc\"]",
        &["-I", "inc"],
        &[("k.cu", BY_HEADER), ("inc/size.h", "#define W 2\n"), ("other/size.h", "#define W 1\n")],
        ["possibly-racy", "racy"],
    ),
    verdict(
        "models",
        "models = [\"mine\"]",
        &["--models", "mine"],
        &[
            ("k.cu", BY_HEADER),
            (
                "mine/size.toml",
                "[library]\nname = \"size\"\nabout = \"W\"\n[[stand-in]]\nheaders = [\"size.h\"]\ntext = '''\n#define W 2\n'''\n",
            ),
        ],
        ["possibly-racy", "racy"],
    ),
    verdict("defines", "defines = [\"W=2\"]", &["--define", "W=2"], &[("k.cu", BY_MACRO)], ["possibly-racy", "racy"]),
    verdict(
        "build",
        "build = \"out\"",
        &["-p", "out"],
        &[
            ("k.cu", BY_MACRO),
            (
                "out/compile_commands.json",
                "[{\"directory\": \".\", \"file\": \"../k.cu\", \"command\": \"nvcc -DW=2 -c ../k.cu\"}]\n",
            ),
        ],
        ["possibly-racy", "racy"],
    ),
    // OpenCL has no `threadIdx`.
    verdict("lang", "lang = \"opencl\"", &["--lang", "opencl"], &[("k.cu", RACY)], ["racy", "unknown"]),
    verdict("dialects", "dialects = { \"*.cu\" = \"opencl\" }", &[], &[("k.cu", RACY)], ["racy", "unknown"]),
    Row {
        key: "front",
        always: "",
        line: "front = \"clang\"",
        typed: &["--front", "clang"],
        files: &[("k.cu", FREE)],
        arguments: &[],
        seen: complaint,
        // There is none on this machine, as the test has it.
        expected: [
            "",
            "error: --front clang: LIBCLANG_PATH names nowhere, where there is neither a file nor a directory",
        ],
    },
    verdict(
        "headers",
        "headers = \"none\"",
        &["--headers", "none"],
        &[("k.cu", BY_HEADER), ("inc/size.h", "#define W 2\n"), (".git/HEAD", "")],
        ["racy", "possibly-racy"],
    ),
    Row {
        always: "grid-dim = [1]",
        ..verdict("block-dim", "block-dim = [1]", &["--block-dim", "1"], &[("k.cu", RACY)], ["racy", "race-free"])
    },
    Row {
        always: "block-dim = [64]",
        ..verdict("grid-dim", "grid-dim = [1]", &["--grid-dim", "1"], &[("k.cu", OF_BLOCKS)], ["racy", "race-free"])
    },
    Row {
        always: "block-dim = [64]\ngrid-dim = [1]",
        ..verdict(
            "params",
            "params = { n = 1 }",
            &["--param", "n=1"],
            &[("k.cu", "__global__ void k(int *x, int n) { x[threadIdx.x / n] = threadIdx.x; }\n")],
            ["racy", "race-free"],
        )
    },
    verdict(
        "kernels",
        "kernels = [{ name = \"k*\", block-dim = [1], grid-dim = [1] }]",
        &[],
        &[("k.cu", RACY)],
        ["racy", "race-free"],
    ),
    verdict("level", "level = \"block\"", &["--level", "block"], &[("k.cu", OF_BLOCKS)], ["racy", "race-free"]),
    verdict(
        "any-launch",
        "any-launch = true",
        &["--any-launch"],
        &[("k.cu", "__global__ void k(int *x) { x[blockIdx.x * 64 + threadIdx.x] = threadIdx.x; }\n")],
        ["race-free", "racy"],
    ),
    Row {
        key: "contracts",
        always: "",
        line: "contracts = \"stated.txt\"",
        typed: &["--contracts", "stated.txt"],
        files: &[("k.cu", OF_BLOCKS), ("stated.txt", "k.cu: k: gridDim.x == 1\n")],
        arguments: &[],
        seen: stated,
        expected: ["none", "stated.txt:1"],
    },
    Row {
        key: "check-proofs",
        always: "",
        line: "check-proofs = true",
        typed: &["--check-proofs"],
        files: &[("k.cu", "__global__ void k(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n")],
        arguments: &["--timings"],
        seen: replays,
        expected: ["false", "true"],
    },
    Row {
        key: "hints",
        always: "",
        line: "hints = true",
        typed: &["--hints"],
        files: &[("k.cu", "__global__ void k(int *x) { x[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = 2; }\n")],
        arguments: &["--level", "block"],
        seen: rules,
        expected: [" / ", "redundant-barrier / "],
    },
    Row {
        key: "effort",
        always: "",
        line: "effort = \"quick\"",
        typed: &["--effort", "quick"],
        files: &[("k.cu", PLANES)],
        arguments: &["--timings"],
        seen: tries_hard,
        expected: ["true", "false"],
    },
    Row {
        key: "solver",
        always: "",
        line: "solver = \"cvc5\"",
        typed: &["--solver", "cvc5"],
        files: &[("k.cu", FREE)],
        arguments: &[],
        seen: complaint,
        expected: ["", "error: --solver cvc5: there is no program cvc5 on the PATH"],
    },
    Row {
        key: "solver-timeout",
        always: "solver = \"z3\"",
        line: "solver-timeout = 0.5",
        typed: &["--solver-timeout", "0.5"],
        files: &[("k.cu", HASHED), ("z3", SILENT)],
        arguments: &[],
        seen: reason,
        // Without it half a minute passes first.
        expected: ["", "silent"],
    },
    verdict(
        "lockstep-warps",
        "lockstep-warps = 32",
        &["--lockstep-warps", "32"],
        &[("k.cu", IN_STEP)],
        ["racy", "race-free"],
    ),
    verdict(
        "global-offset",
        "global-offset = \"any\"",
        &["--global-offset", "any"],
        &[(
            "k.cl",
            "__kernel void k(__global int *x) { if (get_global_id(0) == 5) x[0] = 1; x[1 + get_global_id(0) % 8192u] = 1; }\n",
        )],
        ["race-free", "unknown"],
    ),
    Row {
        always: "any-launch = true",
        ..verdict(
            "max-work-group-size",
            "max-work-group-size = 64",
            &["--max-work-group-size", "64"],
            &[(
                "k.cl",
                "__kernel void k(__global int *x) {\n  __local int s[64];\n  s[get_local_id(0) % 64] = get_local_id(0);\n}\n",
            )],
            ["racy", "race-free"],
        )
    },
    Row {
        key: "uniform-work-groups",
        always: "",
        line: "uniform-work-groups = true",
        typed: &["--uniform-work-groups"],
        files: &[(
            "k.cl",
            "__kernel void k(__global int *x) {\n  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n  \
             x[get_group_id(0) * get_local_size(0) + get_local_id(0)] = 1;\n}\n",
        )],
        arguments: &[],
        seen: assumptions,
        expected: ["work-groups are all of one size, as with -cl-uniform-work-group-size", ""],
    },
    Row {
        key: "strict-externals",
        always: "",
        line: "strict-externals = true",
        typed: &["--strict-externals"],
        files: &[("k.cu", FAR)],
        arguments: &[],
        seen: race,
        expected: ["race-free", "unknown"],
    },
    Row {
        key: "externals",
        always: "strict-externals = true",
        line: "externals = [\"f?r\"]",
        typed: &["--external", "f?r"],
        files: &[("k.cu", FAR)],
        arguments: &[],
        seen: race,
        expected: ["unknown", "race-free"],
    },
    Row {
        key: "refused-externals",
        always: "",
        line: "refused-externals = [\"far\"]",
        typed: &["--refuse-external", "far"],
        files: &[("k.cu", FAR)],
        arguments: &[],
        seen: race,
        expected: ["race-free", "unknown"],
    },
    Row {
        key: "wave",
        always: "",
        line: "wave = 32",
        typed: &["--wave", "32"],
        files: &[("k.hip", WARP)],
        arguments: &[],
        seen: lanes,
        expected: ["true", "false"],
    },
    Row {
        key: "exclude",
        always: "",
        line: "exclude = [\"old\"]",
        typed: &[],
        files: &[(".", ""), ("k.cu", FREE), ("old/k.cu", FREE)],
        arguments: &[],
        seen: files,
        expected: ["k.cu old/k.cu", "k.cu"],
    },
    Row { seen: rules, expected: ["data-race / ", " / data-race"], ..telling("select", "select = [\"array-bounds\"]") },
    Row { seen: rules, expected: ["data-race / ", " / data-race"], ..telling("ignore", "ignore = [\"data-race\"]") },
    telling("rules", "rules = { data-race = \"note\" }"),
    telling("per-file-ignores", "per-file-ignores = { \"k.*\" = [\"data-race\"] }"),
    Row { typed: &["--fail-on", "never"], ..telling("fail-on", "fail-on = [\"never\"]") },
    Row {
        typed: &["--baseline", "known.json"],
        expected: ["Some(1)", "Some(2)"],
        // It is not there.
        ..telling("baseline", "baseline = \"known.json\"")
    },
    Row { typed: &["--format", "json"], seen: begins, expected: ["e", "{"], ..telling("format", "format = \"json\"") },
    Row {
        typed: &["--output", "sarif=out.sarif"],
        seen: is_written,
        expected: ["false", "true"],
        ..telling("output", "output = { sarif = \"out.sarif\" }")
    },
    // How many threads there are shows nowhere, but that there is one at least.
    Row { typed: &["--jobs", "0"], expected: ["Some(1)", "Some(2)"], ..telling("jobs", "jobs = 0") },
];

/// Whether the verdict relies on how many lanes a wavefront has.
fn lanes(place: &Place, seen: &Seen) -> String {
    assumptions(place, seen).contains("32 lanes").to_string()
}

/// A row of a kernel that races, of which the exit code changes.
const fn telling(key: &'static str, line: &'static str) -> Row {
    Row {
        key,
        always: "",
        line,
        typed: &[],
        files: &[("k.cu", RACY)],
        arguments: &[],
        seen: code,
        expected: ["Some(1)", "Some(0)"],
    }
}

/// What is seen of a run with these settings and arguments.
fn seen(row: &Row, settings: &[&str], typed: &[&str]) -> String {
    let place = Place::with(&row.files.iter().filter(|(name, _)| *name != ".").copied().collect::<Vec<_>>());
    let lines = ["front = \"tree-sitter\"", "solver = \"none\"", row.always];
    let lines = lines.into_iter().chain(settings.iter().copied());
    // The last line of a key counts.
    let mut kept: Vec<&str> = Vec::new();
    for line in lines.flat_map(str::lines) {
        let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
        kept.retain(|other| key(other) != key(line));
        kept.push(line);
    }
    place.put("raceproof.toml", (kept.join("\n") + "\n").as_bytes());
    let silent = place.path().join("z3");
    #[cfg(unix)]
    if silent.is_file() {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&silent, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = place.command(&[&arguments(row)[..], typed].concat());
    command.env("LIBCLANG_PATH", "nowhere").env("RACEPROOF_Z3", &silent).env_remove("RACEPROOF_CVC5");
    let output = command.env("PATH", place.path()).output().unwrap();
    (row.seen)(&place, &Seen::of(&output))
}

#[test]
fn every_key_does_what_its_option_does() {
    let schema = Place::with(&[]).run(&["check", "--settings-schema"]).expect(0).json();
    let keys: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.key).collect();
    assert_eq!(rows, keys, "a key has no row, or a row has no key");
    let mut wrong = Vec::new();
    for row in ROWS {
        let [without, with] = row.expected;
        let mut expect = |settings: &[&str], typed: &[&str], expected: &str| {
            let found = seen(row, settings, typed);
            if found != expected {
                wrong.push(format!("{} with {settings:?} {typed:?}: `{found}` and not `{expected}`", row.key));
            }
        };
        // To wait for the solver as long as nobody says otherwise takes too long.
        if row.key != "solver-timeout" {
            expect(&[], &[], without);
        }
        expect(&[row.line], &[], with);
        if !row.typed.is_empty() {
            expect(&[], row.typed, with);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_format_that_is_typed_stands_above_the_file() {
    let place = Place::with(&[
        ("sub/raceproof.toml", "format = \"json\"\noutput = { sarif = \"a.sarif\", gcc = \"a.txt\" }\n"),
        ("sub/k.cu", RACY),
    ]);
    let run = |arguments: &[&str]| {
        let mut command = place.command(&[&["check", "k.cu", "--front", "tree-sitter"], arguments].concat());
        Seen::of(&command.current_dir(place.path().join("sub")).output().unwrap()).expect(1)
    };
    let is_there = |name: &str| place.path().join("sub").join(name).exists();
    assert!(run(&[]).out.starts_with('{') && is_there("a.sarif") && is_there("a.txt"));
    for name in ["a.sarif", "a.txt"] {
        std::fs::remove_file(place.path().join("sub").join(name)).unwrap();
    }
    assert!(run(&["--format", "text"]).out.starts_with("error"));
    std::fs::remove_file(place.path().join("sub/a.sarif")).unwrap();
    // Standard output has one report, and what is typed takes the place of all that the file writes.
    assert!(run(&["--output", "gcc=-"]).out.starts_with("k.cu:1:"));
    assert!(run(&["--output", "junit=b.xml"]).out.starts_with('{') && is_there("b.xml") && !is_there("a.sarif"));
    let wrong = |settings: &str, told: &str| {
        place.put("sub/raceproof.toml", settings.as_bytes());
        let mut command = place.command(&["check", "k.cu"]);
        Seen::of(&command.current_dir(place.path().join("sub")).output().unwrap()).expect(2).complains(told);
    };
    wrong("format = \"jsn\"\n", "raceproof.toml:1:10: format: `jsn` is none of text, concise,");
    wrong("output = { srif = \"a\" }\n", "raceproof.toml:1:19: output: `srif` is none of text, concise,");
    wrong("output = [\"sarif=a\"]\n", "output: a table is wanted, and this is a list");
}
