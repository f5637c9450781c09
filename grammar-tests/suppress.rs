//! Comments that suppress findings: what they reach, what is said of them, and that no verdict changes.

use crate::cli::{Place, Seen};
use serde_json::Value;

const PLAIN: [&str; 5] = ["--front", "tree-sitter", "--solver", "none", "--no-cache"];

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["check"], arguments, &PLAIN].concat())
}

/// The report on `k.cu` with this text, and how the check ended.
fn checked(text: &str) -> (Value, Option<i32>) {
    let place = Place::with(&[("k.cu", text)]);
    let seen = check(&place, &["k.cu", "--format", "json"]);
    (seen.json(), seen.code)
}

fn kernel(report: &Value) -> &Value {
    &report["files"][0]["kernels"][0]
}

/// How many findings of the first kernel are told, and how many are suppressed.
fn counts(report: &Value) -> [usize; 2] {
    ["findings", "suppressed"].map(|name| kernel(report)[name].as_array().map_or(0, Vec::len))
}

/// The rules and messages of what is said of comments.
fn of_comments(report: &Value) -> Vec<(String, String)> {
    let files = report["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files.flatten().map(|finding| (text(&finding["rule"]), text(&finding["message"]))).collect()
}

/// A kernel with a race between its lines 3 and 5; each line with what is put behind it.
fn racy(at: &[(usize, &str)]) -> String {
    let lines = [
        "__global__ void k(int *x) {",
        "    __shared__ int s[64]; if (blockDim.x != 64) return;",
        "    s[threadIdx.x] = 1;",
        "    int other = 63 - threadIdx.x;",
        "    x[blockIdx.x * 64 + threadIdx.x] = s[other];",
        "}",
    ];
    let behind = |line: usize| at.iter().find(|(number, _)| *number == line).map_or("", |(_, text)| text);
    lines.iter().zip(1..).map(|(line, number)| format!("{line}{}\n", behind(number))).collect()
}

#[test]
fn a_comment_at_either_place_suppresses_and_no_verdict_changes() {
    let (report, code) = checked(&racy(&[]));
    assert_eq!((counts(&report), code), ([1, 0], Some(1)));
    for line in [3, 5] {
        for comment in ["  // raceproof: ignore[data-race] tested", "  /* raceproof: ignore[data-race]: tested */"] {
            let (report, code) = checked(&racy(&[(line, comment)]));
            assert_eq!((counts(&report), code), ([0, 1], Some(0)), "{line} {comment}");
            assert_eq!(kernel(&report)["race"], "racy");
            let suppressed = &kernel(&report)["suppressed"][0];
            assert_eq!(suppressed["rule"], "data-race");
            assert_eq!(suppressed["suppression"]["by"], "comment");
            assert_eq!(suppressed["suppression"]["reason"], "tested");
            assert_eq!(suppressed["suppression"]["place"]["line"], line);
            assert_eq!(report["summary"]["suppressed"]["comment"], 1);
            assert_eq!(of_comments(&report), []);
        }
    }
    // Above, where it stands alone; and not at a line that is no place of the finding.
    let above = "\n    // raceproof: ignore[parse, data-race] tested";
    let (report, _) = checked(&racy(&[(2, above)]));
    assert_eq!(counts(&report), [0, 1]);
    let (report, code) = checked(&racy(&[(4, " // raceproof: ignore[data-race] tested")]));
    assert_eq!((counts(&report), code), ([1, 0], Some(1)));
    assert_eq!(of_comments(&report)[0].0, "unused-suppression");
    let (report, _) = checked(&racy(&[(3, " // raceproof: ignore[array-bounds] tested")]));
    assert_eq!(counts(&report), [1, 0]);
    let (report, _) = checked(&racy(&[(3, " const char *t = \"// raceproof: ignore[data-race] tested\";")]));
    assert_eq!(counts(&report), [1, 0], "it stands in a string");
}

#[test]
fn kernels_and_files_are_suppressed_as_a_whole() {
    let other = "__global__ void other(int *x) { x[0] = threadIdx.x; }\n";
    let in_kernel = racy(&[(4, "\n    // raceproof: ignore-kernel[data-race] tested")]) + other;
    let above = format!("// raceproof: ignore-kernel[data-race] tested\n{}{other}", racy(&[]));
    for text in [in_kernel, above] {
        let (report, code) = checked(&text);
        assert_eq!((counts(&report), code), ([0, 1], Some(1)));
        assert_eq!(report["files"][0]["kernels"][1]["findings"].as_array().unwrap().len(), 1, "the other kernel");
    }
    let (report, code) = checked(&format!("{}{other}// raceproof: ignore-file[data-race] tested\n", racy(&[])));
    assert_eq!((counts(&report), code), ([0, 1], Some(0)));
    assert_eq!(report["summary"]["racy"], 2);
    assert_eq!(report["summary"]["suppressed"]["comment"], 2);
}

#[test]
fn slips_are_findings_and_suppress_nothing() {
    let said = |comment: &str| {
        let (report, code) = checked(&racy(&[(3, comment)]));
        assert_eq!((counts(&report), code), ([1, 0], Some(1)), "{comment}");
        let mut said = of_comments(&report);
        assert_eq!(said.len(), 1, "{said:?}");
        let (rule, message) = said.remove(0);
        assert_eq!(rule, "invalid-suppression");
        message
    };
    assert!(said(" // raceproof: ignore[data-race]").contains("gives no reason"));
    assert!(said(" // raceproof: ignore all of it").contains("names no rule"));
    assert!(said(" // raceproof: ignore[data-rcae] tested").ends_with("`data-rcae` (did you mean `data-race`?)"));
    assert!(said(" // raceproof: ignroe[data-race] tested").ends_with("(did you mean `ignore`?)"));
    // They fail a run that finds nothing else.
    let free = "// raceproof: ignore[parse]\n__global__ void k(int *a) { if (a) {} }\n";
    let place = Place::with(&[("k.cu", free)]);
    check(&place, &["k.cu"]).expect(1);
    check(&place, &["k.cu", "--fail-on", "racy,divergent"]).expect(0);
}

#[test]
fn comments_that_suppress_nothing_are_taken_out() {
    let text = racy(&[
        (1, "\n    // raceproof: ignore[data-race] nothing here"),
        (3, " // raceproof: ignore[array-bounds, data-race, parse] tested"),
        (5, " // raceproof: ignore[assertion] tested"),
        (6, "\n#if 0\n// raceproof: ignore[data-race] another build\n#endif"),
    ]);
    let place = Place::with(&[("k.cu", &text)]);
    let report = check(&place, &["k.cu", "--format", "json"]).expect(1).json();
    let said: Vec<String> =
        of_comments(&report).into_iter().map(|(rule, message)| format!("{rule}: {message}")).collect();
    let nothing = "unused-suppression: this comment suppresses nothing";
    assert_eq!(said, [nothing, &format!("{nothing} of `array-bounds`, `parse`"), nothing]);
    let fixed = check(&place, &["k.cu", "--fix"]).expect(0).complains("fixed k.cu: remove the comment in line 2");
    assert!(fixed.out.contains("1 finding suppressed"), "{}", fixed.out);
    let kept = [
        (3, " // raceproof: ignore[data-race] tested"),
        (6, "\n#if 0\n// raceproof: ignore[data-race] another build\n#endif"),
    ];
    assert_eq!(std::fs::read_to_string(place.path().join("k.cu")).unwrap(), racy(&kept));
}

/// What was not looked at may be what a comment suppresses.
#[test]
fn nothing_is_said_of_comments_where_not_all_was_judged() {
    let idle = "__global__ void k(int *a) { if (a) {} } // raceproof: ignore[data-race] tested\n";
    let place = Place::with(&[("k.cu", idle), ("more.cu", "")]);
    check(&place, &["k.cu"]).expect(1);
    for part in [["--kernel", "k"], ["--level", "block"], ["--block-dim", "32"]] {
        check(&place, &[&["k.cu"][..], &part].concat()).expect(0);
    }
    check(&place, &["k.cu", "--any-launch"]).expect(0);
    let unknown = "__device__ void mystery(int *);\n__global__ void odd(int *a) { mystery(a); }\n";
    place.put("k.cu", format!("{idle}{unknown}").as_bytes());
    check(&place, &["k.cu"]).expect(0);
}

#[test]
fn comments_of_headers_count_for_what_stands_there() {
    let header = "__device__ void put(int *a) { a[0] = threadIdx.x; } // raceproof: ignore[data-race] tested\n\
                  inline int idle() { return 0; } // raceproof: ignore[data-race] not needed\n";
    let unit = |name: &str| format!("#include \"put.h\"\n__global__ void {name}(int *a) {{ put(a); }}\n");
    let place = Place::with(&[("put.h", header), ("a.cu", &unit("a")), ("b.cu", &unit("b"))]);
    let report = check(&place, &[".", "--format", "json"]).expect(1).json();
    assert_eq!(report["summary"]["suppressed"]["comment"], 2);
    assert_eq!(of_comments(&report).len(), 1, "the comment in a header is told once");
    assert_eq!(report["files"][0]["findings"][0]["primary"]["path"], "put.h");
    check(&place, &[".", "--fix"]).expect(0).complains("fixed put.h: remove the comment in line 2");
    assert_eq!(std::fs::read_to_string(place.path().join("put.h")).unwrap().matches("raceproof").count(), 1);
}

/// A finding that is suppressed speaks for no other: not for one of another kernel, nor for one of the same cause.
#[test]
fn what_is_suppressed_hides_nothing_else() {
    let text = "__device__ void put(int *a) { a[0] = threadIdx.x; }\n";
    let header = "#include \"put.cuh\"\n";
    let place = Place::with(&[
        ("put.cuh", text),
        (
            "a.cu",
            &format!(
                "{header}// raceproof: ignore-kernel[data-race] tested\n__global__ void a(int *x) {{ put(x); }}\n"
            ),
        ),
        ("b.cu", &format!("{header}__global__ void b(int *x) {{ put(x); }}\n")),
    ]);
    let report = check(&place, &["a.cu", "b.cu", "--format", "json"]).expect(1).json();
    assert_eq!(counts(&report), [0, 1]);
    assert_eq!(report["files"][1]["kernels"][0]["findings"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn every_format_keeps_or_counts_what_is_suppressed() {
    let place = Place::with(&[("k.cu", &racy(&[(3, " // raceproof: ignore[data-race] the caller waits")]))]);
    let text = check(&place, &["k.cu"]).expect(0).out;
    assert!(!text.contains("error[data-race]"), "{text}");
    assert!(text.contains("k (k.cu:1): racy; uniform; 1 finding suppressed\n"), "{text}");
    assert!(text.ends_with("1 racy, 0 possibly racy, 0 unknown; 1 finding suppressed\n"), "{text}");
    let sarif = check(&place, &["k.cu", "--format", "sarif"]).expect(0).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let suppression = &results[0]["suppressions"][0];
    assert_eq!((&suppression["kind"], &suppression["justification"]), (&"inSource".into(), &"the caller waits".into()));
    assert_eq!(results[0]["kind"], "fail");
    for format in ["json-lines", "rdjson", "azure", "concise"] {
        let out = check(&place, &["k.cu", "--format", format]).expect(0).out;
        assert!(!out.is_empty() && !out.contains("data-race"), "{format}: {out}");
    }
    for format in ["gcc", "github"] {
        assert_eq!(check(&place, &["k.cu", "--format", format]).expect(0).out, "", "{format}");
    }
    assert_eq!(check(&place, &["k.cu", "--format", "gitlab"]).expect(0).json(), serde_json::json!([]));
    let junit = check(&place, &["k.cu", "--format", "junit"]).expect(0).out;
    assert!(junit.contains("<skipped message=\"racy, but its findings are suppressed: 1\"/>"), "{junit}");
    assert!(check(&place, &["k.cu", "--statistics"]).expect(0).out.starts_with("0  in all: no finding\n"));
}

#[test]
fn shards_and_kept_results_give_the_same() {
    let slip = "inline int g() { return 1; } // raceproof: ignore[data-race]\n";
    let unit = |comment: &str| format!("#include \"slip.h\"\n{}", racy(&[(3, comment)]));
    let place = Place::with(&[
        ("slip.h", slip),
        ("a.cu", &unit(" // raceproof: ignore[data-race] tested")),
        ("b.cu", &unit("").replace("k(", "b(")),
        ("c.cu", &unit(" // raceproof: ignore[data-race] tested").replace("k(", "c(")),
    ]);
    for format in ["json", "sarif"] {
        let whole = check(&place, &[".", "--format", format]).expect(1).out;
        let shards = ["1/2", "2/2"].map(|shard| {
            let name = format!("{}.{format}", &shard[..1]);
            place.put(&name, check(&place, &[".", "--format", format, "--shard", shard]).out.as_bytes());
            name
        });
        let merged = place.run(&["merge", &shards[0], &shards[1]]).expect(1);
        assert_eq!(merged.out, whole, "{format}");
        let kept = || {
            let mut command = place.command(&["check", ".", "--format", format, "--cache-dir", "kept"]);
            command.args(&PLAIN[..4]).env_remove("RACEPROOF_NO_CACHE").output().unwrap()
        };
        for _ in 0..2 {
            assert_eq!(String::from_utf8(kept().stdout).unwrap(), whole, "{format}");
        }
    }
}
