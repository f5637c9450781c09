//! `raceproof.toml` through the real binary: which file counts, what each key does, what is wrong with it and where.
//!
//! - [`effects`]: what each key does.

mod effects;

use crate::cli::{Place, Seen};
use serde_json::Value;

/// A kernel that races in blocks of more than one thread.
const RACY: &str = "__global__ void k(int *x) { x[0] = threadIdx.x; }\n";
const FREE: &str = "__global__ void k(int *x) { if (x) {} }\n";
const QUIET: &str = "front = \"tree-sitter\"\nsolver = \"none\"\n";

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["check"], arguments].concat())
}

fn place(settings: &str, text: &str) -> Place {
    Place::with(&[("raceproof.toml", &format!("{QUIET}{settings}")), ("k.cu", text)])
}

/// What the settings and arguments make of a kernel, and of the run.
fn report(settings: &str, text: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let seen = check(&place(settings, text), &[&["k.cu", "--format", "json"], arguments].concat());
    (seen.json(), seen.code)
}

fn race(report: &Value) -> &str {
    report["files"][0]["kernels"][0]["race"].as_str().unwrap()
}

#[test]
fn a_key_is_the_option_that_it_stands_for() {
    assert_eq!(race(&report("", RACY, &[]).0), "racy");
    assert_eq!(race(&report("block-dim = [1]\ngrid-dim = [1]\n", RACY, &[]).0), "race-free");
    let by_macro = "__global__ void k(int *x) { x[threadIdx.x / W] = threadIdx.x; }\n";
    assert_eq!(race(&report("defines = [\"W=2\"]\n", by_macro, &[]).0), "racy");
    let by_parameter = "__global__ void k(int *x, int n) { x[threadIdx.x / n] = threadIdx.x; }\n";
    assert_eq!(
        race(&report("block-dim = [64]\ngrid-dim = [1]\nparams = { n = 1 }\n", by_parameter, &[]).0),
        "race-free"
    );
    assert_eq!(report("fail-on = [\"unknown\"]\n", RACY, &[]).1, Some(0));
    let included = Place::with(&[
        ("deep/raceproof.toml", &format!("{QUIET}include-dirs = [\"inc\"]\n")),
        ("deep/inc/size.h", "#define W 2\n"),
        ("deep/src/k.cu", &format!("#include \"size.h\"\n{by_macro}")),
    ]);
    assert_eq!(
        race(&check(&included, &["deep/src", "--headers", "none", "--format", "json"]).expect(1).json()),
        "racy"
    );
    let hip = "lang = \"hip\"\n";
    assert_eq!(report(hip, RACY, &[]).1, Some(1));
}

#[test]
fn what_is_typed_stands_above_config_and_that_above_the_file() {
    let one = "block-dim = [1]\ngrid-dim = [1]\n";
    assert_eq!(race(&report(one, RACY, &["--block-dim", "64"]).0), "racy");
    assert_eq!(race(&report(one, RACY, &["--config", "block-dim=[64]"]).0), "racy");
    assert_eq!(race(&report(one, RACY, &["--config", "block-dim=[64]", "--block-dim", "1"]).0), "race-free");
    assert_eq!(race(&report(one, RACY, &["--isolated", "--front", "tree-sitter", "--solver", "none"]).0), "racy");
    let macros = "__global__ void k(int *x) { x[threadIdx.x / W] = threadIdx.x; }\n";
    assert_eq!(race(&report("defines = [\"W=1\"]\n", macros, &["-D", "W=2"]).0), "racy");
    let other = place(one, RACY);
    other.put("other.toml", QUIET.as_bytes());
    check(&other, &["k.cu", "--config", "other.toml"]).expect(1);
    check(&other, &["k.cu"]).expect(0);
}

/// The nearest file counts, whatever the others say; one run checks all, and tells headers once.
#[test]
fn the_nearest_file_counts() {
    let one = format!("{QUIET}block-dim = [1]\ngrid-dim = [1]\n");
    let place = Place::with(&[
        ("raceproof.toml", QUIET),
        ("a.cu", RACY),
        ("small/raceproof.toml", &one),
        ("small/b.cu", RACY),
        ("small/deep/c.cu", RACY),
        ("z.cu", RACY),
    ]);
    let report = check(&place, &[".", "--format", "json"]).expect(1).json();
    let races: Vec<(&str, &str)> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["kernels"][0]["race"].as_str().unwrap()))
        .collect();
    let expected = [("a.cu", "racy"), ("small/b.cu", "race-free"), ("small/deep/c.cu", "race-free"), ("z.cu", "racy")];
    assert_eq!(races, expected);
    for shard in ["1/2", "2/2"] {
        let out = check(&place, &[".", "--format", "json", "--shard", shard]).out;
        place.put(&format!("{}.json", &shard[..1]), out.as_bytes());
    }
    let merged: Value = place.run(&["merge", "1.json", "2.json"]).expect(1).json();
    assert_eq!(merged, report);
}

#[test]
fn rules_are_left_out_and_ranked() {
    let left_out = |settings: &str| {
        let (report, code) = report(settings, RACY, &[]);
        assert_eq!((race(&report), code), ("racy", Some(0)), "{settings}");
        let suppressed = &report["files"][0]["kernels"][0]["suppressed"][0];
        assert_eq!(suppressed["suppression"]["by"], "settings", "{settings}");
        assert_eq!(suppressed["suppression"]["reason"], "left out by raceproof.toml:3", "{settings}");
    };
    left_out("ignore = [\"data-race\", \"same-value-write\"]\n");
    left_out("select = [\"barrier-divergence\"]\n");
    left_out("rules = { data-race = \"off\" }\n");
    left_out("per-file-ignores = { \"k.*\" = [\"data-race\"] }\n");
    assert_eq!(report("per-file-ignores = { \"other/*\" = [\"data-race\"] }\n", RACY, &[]).1, Some(1));
    let noted = check(&place("rules.data-race = \"note\"\n", RACY), &["k.cu", "-q"]).expect(0);
    assert!(noted.out.contains(": note: data race"), "{}", noted.out);
    let warned = check(&place("rules.data-race = \"warning\"\n", RACY), &["k.cu", "-q"]).expect(1);
    assert!(warned.out.contains(": warning: data race"), "{}", warned.out);
    let idle = "// raceproof: ignore[data-race] x\n";
    assert_eq!(report("", &format!("{idle}{FREE}"), &[]).1, Some(1));
    assert_eq!(report("ignore = [\"unused-suppression\"]\n", &format!("{idle}{FREE}"), &[]).1, Some(0));
}

#[test]
fn files_are_left_out_unless_they_are_named() {
    let place = place("exclude = [\"third_party\", \"*_old.cu\"]\n", RACY);
    for file in ["third_party/a.cu", "deep/b_old.cu", "deep/c.cu"] {
        place.put(file, FREE.as_bytes());
    }
    assert_eq!(check(&place, &[".", "--show-files"]).expect(0).out, "deep/c.cu\nk.cu\n");
    assert_eq!(check(&place, &["third_party/a.cu", "--show-files"]).expect(0).out, "third_party/a.cu\n");
}

#[test]
fn languages_go_by_patterns() {
    let opencl = "kernel void k(global int *x) { x[0] = get_local_id(0); }\n";
    let place = place("dialects = { \"gen/*.txt\" = \"opencl\" }\n", FREE);
    place.put("gen/k.txt", opencl.as_bytes());
    let report = check(&place, &["gen/k.txt", "k.cu", "--format", "json"]).expect(1).json();
    let races = ["gen/k.txt", "k.cu"].map(|path| {
        let files = report["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap()["kernels"][0]["race"].as_str().unwrap().to_owned()
    });
    assert_eq!(races, ["racy", "race-free"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let wrong = |settings: &str, told: &str| {
        check(&place(settings, FREE), &["k.cu"]).expect(2).complains(told);
    };
    wrong("efort = \"quick\"\n", "raceproof.toml:3:1: there is no key `efort` (did you mean `effort`?)");
    wrong("effort = 3\n", "raceproof.toml:3:10: effort: a text is wanted, and this is a number");
    wrong(
        "effort = \"quikc\"\n",
        "raceproof.toml:3:10: effort: `quikc` is none of quick, normal, thorough (did you mean `quick`?)",
    );
    wrong(
        "ignore = [\"data-rcae\"]\n",
        "raceproof.toml:3:11: ignore: no rule is named `data-rcae` (did you mean `data-race`?)",
    );
    wrong("rules.data-race = \"loud\"\n", "none of error, warning, note, off");
    wrong("hints = \"yes\"\n", "hints: true or false is wanted");
    wrong("block-dim = [1, 2, 3, 4]\n", "block-dim: one, two or three numbers are wanted");
    wrong("block-dim = [\n", "raceproof.toml:");
    wrong("wave = 33\n", "raceproof.toml, with what is typed: invalid value '33' for '--wave");
    let place = place("", FREE);
    check(&place, &["k.cu", "--config", "efort=quick"]).expect(2).complains("--config: there is no key `efort`");
    check(&place, &["k.cu", "--config", "none.toml"])
        .expect(2)
        .complains("`none.toml` is neither KEY=VALUE nor a file");
}

#[test]
fn settings_are_shown_with_where_they_come_from() {
    let place = place("defines = [\"A=1\"]\n", FREE);
    let shown =
        check(&place, &["--show-settings", "k.cu", "-D", "B", "--config", "effort=quick", "--jobs", "2"]).expect(0).out;
    let lines: Vec<&str> = shown.lines().collect();
    for line in [
        "solver = \"none\"  # raceproof.toml:2",
        "defines = [\"A=1\"]  # raceproof.toml:3",
        "defines = [\"B\"]  # command line",
        "effort = \"quick\"  # --config",
        "level = \"all\"  # default",
        "jobs = 2  # command line",
        "fail-on = [\"racy\", \"divergent\", \"possible\"]  # default",
    ] {
        assert!(lines.contains(&line), "{line} is missing in\n{shown}");
    }
}

#[test]
fn the_schema_has_every_key() {
    let place = place("", FREE);
    let schema = check(&place, &["--settings-schema"]).expect(0).json();
    let keys = schema["properties"].as_object().unwrap();
    let shown = check(&place, &["--show-settings"]).expect(0).out;
    let shown: std::collections::BTreeSet<&str> = shown.lines().map(|line| line.split(" = ").next().unwrap()).collect();
    assert_eq!(shown, keys.keys().map(String::as_str).collect());
    assert_eq!(schema["properties"]["effort"]["enum"], serde_json::json!(["quick", "normal", "thorough"]));
    let manual = std::fs::read_to_string("docs/CONFIGURATION.md").unwrap();
    keys.keys().for_each(|key| assert!(manual.contains(&format!("| `{key}` |")), "{key} is not in the manual"));
}

#[test]
fn a_baseline_and_contracts_are_found_from_the_file() {
    let place =
        Place::with(&[("proj/raceproof.toml", &format!("{QUIET}baseline = \"b.json\"\n")), ("proj/k.cu", RACY)]);
    let inside = |arguments: &[&str]| {
        let mut command = place.command(&[&["check"], arguments].concat());
        command.current_dir(place.path().join("proj")).output().unwrap().status.code()
    };
    assert_eq!(inside(&["k.cu"]), Some(2), "the baseline is not there");
    assert_eq!(inside(&["k.cu", "--write-baseline", "b.json"]), Some(0));
    assert_eq!(inside(&["k.cu"]), Some(0));
}
