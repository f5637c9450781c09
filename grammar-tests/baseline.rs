//! Baselines: what they have is not told and does not fail, moved lines do not matter, and what is gone is said.

use crate::cli::{Place, Seen};
use std::fs::read_to_string;

const PLAIN: [&str; 5] = ["--front", "tree-sitter", "--solver", "none", "--no-cache"];

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["check"], arguments, &PLAIN].concat())
}

/// A kernel that races in an array.
fn racy(name: &str) -> String {
    format!("__global__ void {name}(int *x) {{ x[0] = threadIdx.x; }}\n")
}

#[test]
fn what_a_baseline_has_is_not_told_wherever_it_has_moved() {
    let place = Place::with(&[("src/k.cu", &racy("k"))]);
    let written = check(&place, &["src", "--write-baseline", "known/b.json"]);
    written.expect(2).complains("known/b.json");
    let written = check(&place, &["src", "--write-baseline", "b.json"]).expect(0);
    let written = written.complains("b.json: 1 finding is written");
    assert!(written.out.contains("k (src/k.cu:1): racy; uniform; 1 finding in the baseline"), "{}", written.out);
    let text = read_to_string(place.path().join("b.json")).unwrap();
    let row = r#"{"file":"src/k.cu","kernel":"k","rule":"data-race","array":"x","count":1}"#;
    assert_eq!(text, format!("{{\n\"schema\": \"raceproof.baseline.v1\",\n\"findings\": [\n{row}\n]\n}}\n"));
    place.put("src/k.cu", format!("// moved\n\n{}", racy("k")).as_bytes());
    let known = check(&place, &["src", "--baseline", "b.json", "--format", "json"]).expect(0);
    let report = known.json();
    assert_eq!(report["files"][0]["kernels"][0]["race"], "racy");
    assert_eq!(report["files"][0]["kernels"][0]["suppressed"][0]["suppression"]["by"], "baseline");
    assert_eq!(report["summary"]["suppressed"]["baseline"], 1);
    assert_eq!(known.err, "");
    let sarif = check(&place, &["src", "--baseline", "b.json", "--format", "sarif"]).expect(0).json();
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
}

#[test]
fn what_comes_later_is_told() {
    let place = Place::with(&[("k.cu", &racy("k"))]);
    check(&place, &["k.cu", "--write-baseline", "b.json"]).expect(0);
    place.put("k.cu", (racy("k") + &racy("other")).as_bytes());
    let seen = check(&place, &["k.cu", "--baseline", "b.json"]).expect(1);
    assert!(seen.out.contains("k.cu:2:") && !seen.out.contains("k.cu:1:31"), "{}", seen.out);
    // One more of the same kind in the same kernel.
    place.put("k.cu", b"__global__ void k(int *x) { x[0] = threadIdx.x; if (threadIdx.x > 5) x[9] = threadIdx.x; }\n");
    let more = check(&place, &["k.cu", "--baseline", "b.json", "--format", "json"]).expect(1).json();
    let kernel = &more["files"][0]["kernels"][0];
    let count = |name: &str| kernel[name].as_array().map_or(0, Vec::len);
    assert_eq!([count("findings"), count("suppressed")], [1, 1], "{more}");
}

#[test]
fn what_is_gone_is_said_and_taken_out() {
    let place = Place::with(&[("a.cu", &racy("a")), ("b.cu", &racy("b")), ("c.cu", &racy("c"))]);
    check(&place, &[".", "--write-baseline", "b.json"]).expect(0);
    place.put("b.cu", b"__global__ void b(int *x) { if (x) {} }\n");
    std::fs::remove_file(place.path().join("c.cu")).unwrap();
    // What was not checked is not gone.
    let part = check(&place, &["a.cu", "--baseline", "b.json"]).expect(0);
    assert!(!part.err.contains("b.cu") && part.err.contains("c.cu"), "{}", part.err);
    let named = check(&place, &["b.cu", "--baseline", "b.json", "--kernel", "b"]).expect(0);
    assert_eq!(named.err, "");
    let seen = check(&place, &[".", "--baseline", "b.json"]).expect(0);
    let seen = seen.complains("gone: b.cu: b: data-race on x").complains("gone: c.cu: c: data-race on x");
    seen.complains("b.json: 2 findings are gone (--prune-baseline takes out what is gone)");
    check(&place, &[".", "--baseline", "b.json", "--prune-baseline"]).expect(0).complains("2 findings are taken out");
    let text = read_to_string(place.path().join("b.json")).unwrap();
    assert!(text.contains("a.cu") && !text.contains("b.cu") && !text.contains("c.cu"), "{text}");
    assert_eq!(check(&place, &[".", "--baseline", "b.json"]).expect(0).err, "");
    // An undecided kernel may still have it.
    place.put("a.cu", b"__device__ void f(int *);\n__global__ void a(int *x) { f(x); }\n");
    assert_eq!(check(&place, &[".", "--baseline", "b.json"]).expect(0).err, "");
}

#[test]
fn files_of_other_versions_and_damaged_ones_are_errors() {
    let place =
        Place::with(&[("k.cu", &racy("k")), ("b.json", "{"), ("v9.json", "{\"schema\": \"raceproof.baseline.v9\"}")]);
    check(&place, &["k.cu", "--baseline", "b.json"]).expect(2).complains("--baseline: b.json: it is damaged");
    check(&place, &["k.cu", "--baseline", "v9.json"]).expect(2).complains("it is of raceproof.baseline.v9");
    check(&place, &["k.cu", "--baseline", "none.json"]).expect(2).complains("--baseline: none.json");
    check(&place, &["k.cu", "--prune-baseline"]).expect(2).complains("--baseline");
    check(&place, &["k.cu", "--baseline", "b.json", "--write-baseline", "b.json"])
        .expect(2)
        .complains("cannot be used");
}

/// A kernel that a comment suppresses is in no baseline; shards apply it, each to its files.
#[test]
fn comments_come_first_and_shards_agree() {
    let suppressed = "__global__ void k(int *x) { x[0] = threadIdx.x; } // raceproof: ignore[data-race] tested\n";
    let place = Place::with(&[("a.cu", suppressed), ("b.cu", &racy("b")), ("c.cu", &racy("c"))]);
    check(&place, &[".", "--write-baseline", "b.json"]).expect(0).complains("2 findings are written");
    place.put("d.cu", racy("d").as_bytes());
    let arguments = [".", "--baseline", "b.json", "--format", "json"];
    let whole = check(&place, &arguments).expect(1).out;
    for shard in ["1/2", "2/2"] {
        let out = check(&place, &[&arguments[..], &["--shard", shard]].concat()).out;
        place.put(&format!("{}.json", &shard[..1]), out.as_bytes());
    }
    assert_eq!(place.run(&["merge", "1.json", "2.json"]).expect(1).out, whole);
}
