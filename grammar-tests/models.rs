//! Models of libraries through the real binary: when one is read, what is told of it, and what is wrong with one.
//!
//! - [`glm`]: the model of GLM against the library.

mod glm;

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::Value;

const QUIET: [&str; 5] = ["check", "--solver", "none", "--fail-on", "never"];
const KERNEL: &str =
    "#include <small/pair.h>\n__global__ void k(small::view out) {\n  out[threadIdx.x / WIDTH] = threadIdx.x;\n}\n";

/// A model of the library of [`KERNEL`], whose threads write elements of their own if the width is 1.
fn model(width: u32) -> String {
    format!(
        "[library]\nname = \"Small\"\nabout = \"a view\"\n\n[[stand-in]]\nheaders = [\"small/*.h\"]\ntext = '''\n\
         #define WIDTH {width}\nnamespace small {{ struct view {{\n  int *data;\n  \
         __device__ void put(int i, int value) {{ data[i] = value; }}\n  \
         __device__ int &operator[](int i) {{ return data[i]; }}\n}}; }}\n'''\n"
    )
}

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&QUIET[..], &["--front", "tree-sitter"], arguments].concat())
}

fn kernel(place: &Place, arguments: &[&str]) -> Value {
    let report =
        check(place, &[&["k.cu", "--format", "json", "--block-dim", "64", "--grid-dim", "1"], arguments].concat());
    report.json()["files"][0]["kernels"][0].clone()
}

fn assumes(kernel: &Value, text: &str) -> bool {
    kernel["assumptions"].to_string().contains(text)
}

#[test]
fn a_model_of_the_project_stands_in_for_a_header_and_is_an_assumption() {
    for directory in ["", "deep/"] {
        let mark = if directory.is_empty() { ".git/HEAD" } else { "raceproof.toml" };
        let model_of = |width| (format!("{directory}raceproof.models/small.toml"), model(width));
        let (name, text) = model_of(1);
        let place = Place::with(&[("k.cu", KERNEL), (mark, ""), (&name, &text)]);
        if directory.is_empty() {
            let free = kernel(&place, &[]);
            assert_eq!(free["race"], "race-free");
            assert!(assumes(&free, "`small/pair.h` is as raceproof.models/small.toml has it"), "{free}");
            place.put(&name, model(2).as_bytes());
            assert_eq!(kernel(&place, &[])["race"], "racy");
        } else {
            // It is no project of the file that is above it.
            assert_eq!(kernel(&place, &[])["race"], "unknown");
        }
    }
}

#[test]
fn what_is_given_by_hand_precedes_the_project_and_headers_precede_all_models() {
    let place = Place::with(&[
        ("k.cu", KERNEL),
        (".git/HEAD", ""),
        ("raceproof.models/small.toml", &model(2)),
        ("hand/small.toml", &model(1)),
    ]);
    assert_eq!(kernel(&place, &[])["race"], "racy");
    let by_hand = kernel(&place, &["--models", "hand"]);
    assert_eq!(by_hand["race"], "race-free");
    assert!(assumes(&by_hand, "hand/small.toml has it"), "{by_hand}");
    place.put("inc/small/pair.h", b"#define WIDTH 1\nnamespace small { typedef int *view; }\n");
    for arguments in [&[][..], &["-I", "inc", "--headers", "none"]] {
        let real = kernel(&place, arguments);
        assert_eq!(real["race"], "race-free", "{arguments:?}");
        assert!(!assumes(&real, "raceproof.models"), "{real}");
    }
    assert_eq!(kernel(&place, &["--headers", "none"])["race"], "racy", "models are no headers of the project");
    check(&place, &["k.cu", "--models", "nowhere"]).expect(2).complains("--models: there is no directory nowhere");
}

#[test]
fn a_place_in_a_model_is_told_where_it_is_used() {
    let text = KERNEL.replace("out[threadIdx.x / WIDTH] = threadIdx.x", "out.put(threadIdx.x / 2, threadIdx.x)");
    let place = Place::with(&[("k.cu", &text), (".git/HEAD", ""), ("raceproof.models/small.toml", &model(1))]);
    let seen = check(&place, &["k.cu", "--format", "concise"]);
    assert!(seen.out.contains("k.cu:3:"), "{}", seen.out);
    assert!(!seen.out.contains("small.toml:"), "{}", seen.out);
}

#[test]
fn what_is_wrong_with_a_model_is_told_and_nothing_else_is_lost() {
    let wrong = model(1).replace("headers", "header");
    let place = Place::with(&[
        ("k.cu", KERNEL),
        (".git/HEAD", ""),
        ("raceproof.models/a.toml", &wrong),
        ("raceproof.models/b.toml", "[library\n"),
        ("raceproof.models/small.toml", &model(1)),
    ]);
    assert_eq!(kernel(&place, &[])["race"], "race-free");
    let seen = check(&place, &["k.cu", "--format", "concise"]);
    let told = "raceproof.models/a.toml:6:1: warning: [parse] there is no key `header` of [[stand-in]] (did you mean `headers`?)";
    for part in [
        "raceproof.models/a.toml:6:1",
        "there is no key `header` of [[stand-in]] (did you mean `headers`?)",
        "b.toml:1:",
    ] {
        assert!(seen.out.contains(part), "{told}\n{}", seen.out);
    }
    // A text that does not parse is told at its line.
    place.put("raceproof.models/small.toml", model(1).replace("int i)", "int i").as_bytes());
    let seen = check(&place, &["k.cu", "--format", "concise"]);
    assert!(seen.out.contains("raceproof.models/small.toml:1"), "{}", seen.out);
    assert_ne!(kernel(&place, &[])["race"], "race-free");
    // Nobody who needs no header hears of it.
    place.put("k.cu", b"__global__ void k(int *x) { x[threadIdx.x] = 1; }\n");
    assert!(!check(&place, &["k.cu"]).out.contains("toml"));
}

#[test]
fn a_model_that_changes_is_seen_by_the_next_run() {
    let place = Place::with(&[("k.cu", KERNEL), (".git/HEAD", ""), ("raceproof.models/small.toml", &model(1))]);
    let arguments = ["k.cu", "--block-dim", "64", "--grid-dim", "1", "--front", "tree-sitter"];
    let run = || {
        let mut command = place.command(&[&QUIET[..], &arguments].concat());
        Seen::of(&command.env_remove("RACEPROOF_NO_CACHE").output().unwrap()).out
    };
    assert!(run().contains("race-free") && run().contains("race-free"));
    place.put("raceproof.models/small.toml", model(2).as_bytes());
    assert!(run().contains("racy"));
    place.put("raceproof.models/a.toml", model(1).as_bytes());
    assert!(run().contains("race-free"), "one that is new precedes it");
    std::fs::remove_file(place.path().join("raceproof.models/a.toml")).unwrap();
    assert!(run().contains("racy"), "it is gone again");
}

#[test]
fn launches_of_every_type_are_seen() {
    let text = "#include <ATen/ATen.h>\ntemplate <typename T> __global__ void k(T *out) { out[threadIdx.x] = 1; }\n\
        void host(at::Tensor out) {\n  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, \
        out.scalar_type(), \"k\", [&] { k<scalar_t><<<1, 64>>>(out.data_ptr<scalar_t>()); });\n}\n";
    let place = Place::with(&[("k.cu", text)]);
    let report = check(&place, &["k.cu", "--format", "json"]).json();
    let kernels = report["files"][0]["kernels"].as_array().unwrap();
    let arguments: Vec<String> = kernels.iter().map(|kernel| kernel["template_args"].to_string()).collect();
    assert_eq!(arguments, ["[\"double\"]", "[\"float\"]", "[\"c10::Half\"]", "[\"c10::BFloat16\"]"]);
    assert!(kernels.iter().all(|kernel| kernel["race"] == "race-free"), "{report}");
}

#[test]
fn instrumented_texts_have_nothing_of_a_model() {
    let place = Place::with(&[("k.cu", KERNEL), (".git/HEAD", ""), ("raceproof.models/small.toml", &model(1))]);
    place.run(&["instrument", "k.cu", "--output", "out.cu"]).expect(0);
    let text = std::fs::read_to_string(place.path().join("out.cu")).unwrap();
    assert!(text.contains("#include <small/pair.h>"), "{text}");
    assert!(!text.contains("struct view"), "{text}");
}

#[test]
fn both_front_ends_read_the_same() {
    let Some(()) = tools::used("libclang", || std::env::var("LIBCLANG_PATH").map(drop)) else { return };
    let verdicts = |front: &str| -> Vec<String> {
        let root = env!("CARGO_MANIFEST_DIR");
        let place = Place::with(&[]);
        let fixtures = format!("{root}/fixtures/models");
        let report = place.run(&[&QUIET[..], &["--front", front, "--format", "json", &fixtures]].concat()).json();
        let files = report["files"].as_array().unwrap().iter();
        let kernels = files.flat_map(|file| file["kernels"].as_array().unwrap());
        kernels.map(|it| format!("{} {} {}", it["name"], it["race"], it["template_args"])).collect()
    };
    let by_clang = verdicts("clang");
    assert!(by_clang.len() > 20 && by_clang.iter().all(|verdict| !verdict.contains("unknown")), "{by_clang:?}");
    assert_eq!(by_clang, verdicts("tree-sitter"));
}

/// The blocks of a language in a document.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    document.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_example_of_the_document_works() {
    let document = std::fs::read_to_string(format!("{}/docs/MODELS.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (models, kernels) = (blocks(&document, "toml"), blocks(&document, "cuda"));
    assert_eq!((models.len(), kernels.len()), (1, 1), "one model and one file of kernels");
    let (model, kernels) = (models[0], kernels[0]);
    let place = Place::with(&[("k.cu", kernels), (".git/HEAD", ""), ("raceproof.models/small.toml", model)]);
    let report = check(&place, &["k.cu", "--format", "json"]).json();
    let kernels = report["files"][0]["kernels"].as_array().unwrap();
    let told: Vec<String> = kernels.iter().map(|it| format!("{} {}", it["name"], it["race"])).collect();
    assert_eq!(told, ["\"added\" \"race-free\"", "\"halves\" \"racy\""], "{report}");
    assert!(assumes(&kernels[0], "are as raceproof.models/small.toml has them"), "{report}");
}
