//! `[[kernels]]` of `raceproof.toml`: launches and contracts of kernels by patterns of their names, through the real binary.

use crate::cli::{Place, Seen};
use serde_json::Value;

const QUIET: &str = "front = \"tree-sitter\"\nsolver = \"none\"\n";
/// Two kernels that race in blocks of more than one thread.
const RACY: &str = "__global__ void first(int *x) { x[0] = threadIdx.x; }
namespace math { __global__ void second(int *x, int n) { x[threadIdx.x / n] = threadIdx.x; } }
";
/// A kernel that is free of races where rows are wide enough.
const ROWS: &str = "__global__ void rows(float *y, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[blockIdx.y * pitch + i] = 1;
}
";

fn place(settings: &str, files: &[(&str, &str)]) -> Place {
    let place = Place::with(files);
    place.put("raceproof.toml", format!("{QUIET}{settings}").as_bytes());
    place
}

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["check"], arguments].concat())
}

/// Each kernel with its verdict and scope.
fn verdicts(seen: &Seen) -> Vec<(String, String, String)> {
    let report = seen.json();
    let files = report["files"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let scope = |kernel: &Value| text(&kernel["scope"]["kind"]) + kernel["scope"].as_str().unwrap_or_default();
    let kernels = files.iter().flat_map(|file| file["kernels"].as_array().unwrap());
    kernels.map(|kernel| (text(&kernel["name"]), text(&kernel["race"]), scope(kernel))).collect()
}

fn races(place: &Place, arguments: &[&str]) -> Vec<(String, String)> {
    let all = verdicts(&check(place, &[&[".", "--format", "json"], arguments].concat()));
    all.into_iter().map(|(name, race, _)| (name, race)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, race)| ((*name).to_owned(), (*race).to_owned())).collect()
}

const ONE: &str = "block-dim = [1]\ngrid-dim = [1]\n";

#[test]
fn a_launch_is_that_of_the_kernels_that_a_pattern_fits() {
    let of = |settings: &str| races(&place(settings, &[("k.cu", RACY)]), &[]);
    assert_eq!(of(""), pairs(&[("first", "racy"), ("math::second", "racy")]));
    assert_eq!(
        of(&format!("[[kernels]]\nname = \"first\"\n{ONE}")),
        pairs(&[("first", "race-free"), ("math::second", "racy")])
    );
    assert_eq!(
        of(&format!("[[kernels]]\nname = \"sec*\"\n{ONE}")),
        pairs(&[("first", "racy"), ("math::second", "race-free")])
    );
    let second = "[[kernels]]\nname = \"math::*\"\nblock-dim = [64]\ngrid-dim = [1]\nparams = { n = 1 }\n";
    assert_eq!(of(second), pairs(&[("first", "racy"), ("math::second", "race-free")]));
    // What is said of all is what is said of each of them.
    let each = verdicts(&check(
        &place(&format!("[[kernels]]\nname = \"*\"\n{ONE}"), &[("k.cu", RACY)]),
        &["k.cu", "--format", "json"],
    ));
    let all = verdicts(&check(
        &place("", &[("k.cu", RACY)]),
        &["k.cu", "--format", "json", "--block-dim", "1", "--grid-dim", "1"],
    ));
    assert_eq!(each, all);
    assert!(all.iter().all(|(_, race, scope)| race == "race-free" && scope == "given"), "{all:?}");
}

#[test]
fn the_last_that_fits_counts_and_what_is_typed_stands_above() {
    let wide = "block-dim = [64]\ngrid-dim = [1]\n";
    let both =
        |first: &str, last: &str| format!("[[kernels]]\nname = \"*\"\n{first}[[kernels]]\nname = \"first\"\n{last}");
    let one_last = place(&both(wide, ONE), &[("k.cu", RACY)]);
    assert_eq!(races(&one_last, &[]), pairs(&[("first", "race-free"), ("math::second", "racy")]));
    let wide_last = place(&both(ONE, wide), &[("k.cu", RACY)]);
    assert_eq!(races(&wide_last, &[]), pairs(&[("first", "racy"), ("math::second", "race-free")]));
    // It stands above what the file says of all, and below what is typed.
    let above = place(&format!("{wide}[[kernels]]\nname = \"first\"\n{ONE}"), &[("k.cu", RACY)]);
    assert_eq!(races(&above, &[])[0].1, "race-free");
    assert_eq!(races(&above, &["--block-dim", "64"])[0].1, "racy");
    assert_eq!(races(&above, &["--config", "kernels=[]"])[0].1, "racy");
    let params = "[[kernels]]\nname = \"second\"\nblock-dim = [64]\ngrid-dim = [1]\nparams = { n = 1 }\n";
    let params = place(params, &[("k.cu", RACY)]);
    assert_eq!(races(&params, &["--kernel", "second", "--param", "n=2"])[0].1, "racy");
    assert_eq!(races(&params, &["--kernel", "second"])[0].1, "race-free");
}

#[test]
fn files_are_meant_by_patterns_of_their_paths() {
    let settings = format!("[[kernels]]\nname = \"first\"\nfiles = \"src/**\"\n{ONE}");
    let place = place(&settings, &[("src/deep/a.cu", RACY), ("other/b.cu", RACY)]);
    let expected = [("first", "racy"), ("math::second", "racy"), ("first", "race-free"), ("math::second", "racy")];
    assert_eq!(races(&place, &[]), pairs(&expected));
}

/// Two kernels that are the same but for their names are told apart, within a run too that knows what it judged.
#[test]
fn kernels_that_are_alike_have_their_own_launches() {
    let alike =
        "__global__ void a(int *x) { x[0] = threadIdx.x; }\n__global__ void b(int *x) { x[0] = threadIdx.x; }\n";
    let place = place(&format!("[[kernels]]\nname = \"b\"\n{ONE}"), &[("k.cu", alike), ("l.cu", alike)]);
    let expected = [("a", "racy"), ("b", "race-free"), ("a", "racy"), ("b", "race-free")];
    assert_eq!(races(&place, &["--jobs", "1"]), pairs(&expected));
}

#[test]
fn a_contract_is_one_that_a_file_would_state() {
    let asks = "[[kernels]]\nname = \"ro*\"\ncontract = \"pitch >= gridDim.x * blockDim.x\"\n";
    let stated = place(asks, &[("k.cu", ROWS)]);
    let seen = check(&stated, &["k.cu"]).expect(0);
    assert!(seen.out.contains("race-free for all launches that keep its contract"), "{}", seen.out);
    assert!(seen.out.contains("(stated in raceproof.toml:3; no launch of it was found)"), "{}", seen.out);
    // The same as by the option, but for where it stands.
    let by_file = place("", &[("k.cu", ROWS), ("c.txt", "k.cu: rows: pitch >= gridDim.x * blockDim.x\n")]);
    let other = check(&by_file, &["k.cu", "--contracts", "c.txt"]).expect(0);
    assert_eq!(seen.out.replace("raceproof.toml:3", "c.txt:1"), other.out);
    // One that is too weak is broken.
    let weak = place("[[kernels]]\nname = \"rows\"\ncontract = \"pitch >= blockDim.x\"\n", &[("k.cu", ROWS)]);
    let seen = check(&weak, &["k.cu"]).expect(1);
    assert!(seen.out.contains("error[broken-contract]") && seen.out.contains("raceproof.toml:3"), "{}", seen.out);
    // A launch that does not keep it is told, one that is given is none of its business.
    let launched = format!("{ROWS}void host(float *y) {{ rows<<<dim3(4, 2), 64>>>(y, 100); }}\n");
    let seen = check(&place(asks, &[("k.cu", &launched)]), &["k.cu"]).expect(1);
    assert!(seen.out.contains("broken at the launch in line 5"), "{}", seen.out);
    let typed = check(&stated, &["k.cu", "--block-dim", "64", "--grid-dim", "1,1", "--format", "json"]).expect(0);
    assert_eq!(verdicts(&typed)[0].2, "given");
    // Several conditions, and any launch.
    let several = place(
        "[[kernels]]\nname = \"rows\"\ncontract = [\"pitch >= gridDim.x * blockDim.x\", \"gridDim.z == 1\"]\n",
        &[("k.cu", ROWS)],
    );
    assert!(check(&several, &["k.cu"]).expect(0).out.contains("and gridDim.z == 1"));
    let any = place("[[kernels]]\nname = \"rows\"\ncontract = \"any launch\"\n", &[("k.cu", ROWS)]);
    assert!(check(&any, &["k.cu"]).expect(1).out.contains("for any launch, as raceproof.toml:3 states"));
}

#[test]
fn a_contract_that_does_not_fit_its_kernel_is_an_error_and_proves_nothing() {
    let place = place("[[kernels]]\nname = \"rows\"\ncontract = \"width >= 4\"\n", &[("k.cu", ROWS)]);
    let seen = check(&place, &["k.cu"]).expect(2).complains("raceproof.toml:3: rows: ");
    assert!(seen.err.contains("it is judged as if nothing were stated"), "{}", seen.err);
}

#[test]
fn what_fits_no_kernel_is_told() {
    let idle = format!("[[kernels]]\nname = \"frist\"\n{ONE}");
    let place = place(&idle, &[("k.cu", RACY), ("other.cu", ROWS)]);
    check(&place, &["."])
        .expect(1)
        .complains("warning: raceproof.toml:3: `frist` fits no kernel of what was checked; did you mean `first`?");
    check(&place, &["k.cu"]).expect(1).complains("note: 1 table of [[kernels]] fits no kernel of what was checked");
    let seen = check(&place, &[".", "--kernel", "rows"]);
    assert!(!seen.err.contains("warning: raceproof.toml"), "{}", seen.err);
    place.put("raceproof.toml", format!("{QUIET}[[kernels]]\nname = \"*\"\nparams = {{ m = 1 }}\n").as_bytes());
    check(&place, &["."])
        .expect(2)
        .complains("raceproof.toml:3: no kernel has a scalar parameter named `m`: first has none");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let refused = |settings: &str, part: &str| {
        check(&place(settings, &[("k.cu", RACY)]), &["k.cu"]).expect(2).complains(part);
    };
    let table = "[[kernels]]\n";
    refused(
        &format!("{table}nmae = \"k\"\n"),
        "raceproof.toml:4:8: kernels: there is no key `nmae` of kernels (did you mean `name`?)",
    );
    refused(&format!("{table}block-dim = [1]\n"), "which kernels are meant? give `name`");
    refused(&format!("{table}name = \"k\"\n"), "give a launch (block-dim, grid-dim, params), or a contract");
    refused(
        &format!("{table}name = \"k\"\nblock-dim = [1]\ncontract = \"n >= 1\"\n"),
        "a contract is about all launches",
    );
    refused(&format!("{table}name = \"[\"\nblock-dim = [1]\n"), "raceproof.toml:4:8: kernels: name: ");
    refused(
        &format!("{table}name = \"k\"\nblock-dim = [1, 1, 1, 1]\n"),
        "kernels: block-dim: one, two or three numbers",
    );
    refused(&format!("{table}name = \"k\"\nblock-dim = [2048]\n"), "raceproof.toml:3: block-dim: impossible geometry");
    refused(&format!("{table}name = \"k\"\ncontract = \"n >>= 1\"\n"), "raceproof.toml:5:12: kernels: contract: ");
    refused(&format!("{table}name = \"k\"\nparams = {{ n = 1.5 }}\n"), "params: `1.5` is no integer");
    refused("kernels = 1\n", "kernels: a list is wanted, and this is a number");
}

#[test]
fn settings_show_them_and_the_schema_has_them() {
    let settings = "[[kernels]]\nname = \"saxpy*\"\nfiles = \"src/**\"\nblock-dim = [256]\nparams = { n = 1000 }\n\
                    [[kernels]]\nname = \"rows\"\ncontract = \"pitch >= 4\"\n";
    let place = place(settings, &[("k.cu", RACY)]);
    let shown = check(&place, &["--show-settings"]).expect(0).out;
    let expected = "kernels = [{ name = \"saxpy*\", files = \"src/**\", block-dim = [256], params = { \"n\" = 1000 } }, \
                    { name = \"rows\", contract = \"pitch >= 4\" }]  # raceproof.toml:3";
    assert!(shown.contains(expected), "{shown}");
    let schema: Value = check(&place, &["--settings-schema"]).expect(0).json();
    let table = &schema["properties"]["kernels"]["items"];
    assert_eq!(table["required"], serde_json::json!(["name"]));
    for key in ["name", "files", "block-dim", "grid-dim", "params", "contract"] {
        assert!(table["properties"][key]["description"].is_string(), "{key}: {table}");
    }
}

#[test]
fn results_hang_on_them() {
    let place = place(&format!("[[kernels]]\nname = \"first\"\n{ONE}"), &[("k.cu", RACY)]);
    let kept = |place: &Place| {
        let mut command = place.command(&["check", "k.cu", "--format", "json", "--cache-dir", ".kept"]);
        let output = command.env_remove("RACEPROOF_NO_CACHE").output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["files"][0]["kernels"][0]["race"].clone()
    };
    assert_eq!((kept(&place), kept(&place)), ("race-free".into(), "race-free".into()));
    place.put("raceproof.toml", format!("{QUIET}[[kernels]]\nname = \"second\"\n{ONE}").as_bytes());
    assert_eq!(kept(&place), "racy");
    place.put("raceproof.toml", QUIET.as_bytes());
    assert_eq!(kept(&place), "racy");
}
