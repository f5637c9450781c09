//! Where reports go, and what each format is of a real run.

use super::{FREE, Place, RACY, Seen, UNKNOWN};
use std::fs;
use std::process::Stdio;

/// A file with a race, a free one, and one that is not decided.
fn place() -> Place {
    Place::with(&[("free.cu", FREE), ("racy.cu", RACY), ("odd.cu", UNKNOWN)])
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const FORMATS: [&str; 11] =
    ["text", "concise", "gcc", "json", "json-lines", "sarif", "github", "gitlab", "azure", "rdjson", "junit"];

#[test]
fn a_file_gets_what_standard_output_would() {
    let place = place();
    let options: Vec<String> =
        FORMATS.iter().flat_map(|name| ["--output".into(), format!("{name}={name}.out")]).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let all = place.run(&[&["check", "."], &options[..]].concat()).expect(1);
    for format in FORMATS {
        let alone = place.run(&["check", ".", "--format", format]).expect(1);
        assert_eq!(read(&place, &format!("{format}.out")), alone.out, "{format}");
    }
    assert_eq!(all.out, read(&place, "text.out"), "standard output gets what it gets without");
    let seen = place.run(&["check", ".", "--format", "json", "--output", "gcc=a.txt"]).expect(1);
    assert_eq!(seen.json()["summary"]["racy"], 1);
    assert!(read(&place, "a.txt").starts_with("racy.cu:2:3: error: "));
    place.run(&["check", "racy.cu", "--fail-on", "never", "--output", "json=a.txt"]).expect(0);
    assert!(read(&place, "a.txt").starts_with("{\"schema\":"), "it is replaced");
}

#[test]
fn standard_output_is_a_place_as_well() {
    let place = place();
    let seen = place.run(&["check", ".", "--output", "json=-", "--output", "sarif=a.sarif"]).expect(1);
    assert_eq!(seen.json()["schema"], "raceproof.check.v2");
    assert!(read(&place, "a.sarif").contains("\"2.1.0\""));
    let twice = ["check", ".", "--output", "json=-", "--format", "gcc"];
    let seen = place.run(&twice).expect(2).complains("--format gcc and --output json=- both go to standard output");
    assert!(seen.out.is_empty(), "it is told before the work");
    place.run(&["check", ".", "--output", "json=-", "--output", "gcc=-"]).expect(2).complains("two reports");
    place.run(&["check", ".", "--output", "json=a", "--output", "gcc=./b/../a"]).expect(2).complains("go to ./b/../a");
    assert!(!place.path().join("a").exists());
    place.run(&["check", ".", "--output", "a.sarif"]).expect(2).complains("write FORMAT=PATH");
    place.run(&["check", ".", "--output", "xml=a"]).expect(2).complains("there is no format `xml`");
}

#[test]
fn a_file_that_cannot_be_written_costs_no_other() {
    let place = place();
    let options = ["--output", "sarif=none/a.sarif", "--output", "junit=b.xml", "--output", "json=."];
    let seen = place.run(&[&["check", "."], &options[..]].concat()).expect(2);
    let seen = seen.complains("--output sarif: cannot write none/a.sarif: No such file or directory");
    let seen = seen.complains("--output json: cannot write .: ");
    assert!(seen.out.contains("3 kernels in 3 files"), "{}", seen.out);
    assert!(read(&place, "b.xml").ends_with("</testsuites>\n"));
}

#[test]
fn shards_are_json_or_sarif_wherever_they_go() {
    let place = place();
    let shard = ["check", ".", "--shard", "1/1", "--output", "sarif=1.sarif"];
    place.run(&[&shard[..], &["--format", "json"]].concat()).expect(1);
    assert!(read(&place, "1.sarif").contains("raceproof/shard"));
    place.run(&shard).expect(2).complains("add --format json or --format sarif");
    place.run(&[&shard[..], &["--output", "json=-"]].concat()).expect(1);
    place.run(&[&shard[..4], &["--format", "json", "--output", "gcc=a"]].concat()).expect(2).complains("--shard");
}

#[test]
fn concise_has_a_line_for_each_and_one_with_counts() {
    let seen = place().run(&["check", ".", "--format", "concise"]).expect(1);
    let lines: Vec<&str> = seen.out.lines().collect();
    assert!(lines[0].starts_with("racy.cu:2:3: data-race error: data race on y"), "{}", seen.out);
    assert!(lines[0].ends_with(" [racy_k]"), "{}", seen.out);
    assert!(lines[1].starts_with("odd.cu:2:") && lines[1].contains(": unknown note: odd_k "), "{}", seen.out);
    assert!(
        lines[2].starts_with("3 kernels in 3 files: 1 race-free, 1 racy, 0 possibly racy, 1 unknown"),
        "{}",
        seen.out
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn json_lines_are_a_header_and_findings() {
    let seen = place().run(&["check", ".", "--format", "json-lines"]).expect(1);
    let lines: Vec<serde_json::Value> = seen.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["schema"], &lines[0]["summary"]["kernels"]), (&"raceproof.check-lines.v1".into(), &3.into()));
    assert_eq!((&lines[1]["type"], &lines[1]["rule"]), (&"finding".into(), &"data-race".into()));
    assert_eq!((&lines[1]["kernel"], &lines[1]["primary"]["line"]), (&"racy_k".into(), &2.into()));
    assert_eq!((&lines[2]["type"], &lines[2]["kernel"]), (&"unknown".into(), &"odd_k".into()));
}

#[test]
fn reviews_and_pipelines_get_the_place_of_a_race() {
    let place = place();
    let rdjson = place.run(&["check", ".", "--format", "rdjson"]).expect(1).json();
    let first = &rdjson["diagnostics"][0];
    assert_eq!((&first["severity"], &first["code"]["value"]), (&"ERROR".into(), &"data-race".into()));
    assert_eq!(first["location"]["range"]["start"], serde_json::json!({"line": 2, "column": 3}));
    assert_eq!(rdjson["diagnostics"][1]["severity"], "INFO");
    let azure = place.run(&["check", ".", "--format", "azure"]).expect(1).out;
    let command =
        "##vso[task.logissue type=error;sourcepath=racy.cu;linenumber=2;columnnumber=3;code=data-race]data race on y";
    assert!(azure.starts_with(command), "{azure}");
    assert_eq!(azure.lines().count(), 2, "what is not decided is counted: {azure}");
}

#[test]
fn the_page_of_a_step_is_written_where_github_waits_for_it() {
    let place = place();
    place.put("summary.md", b"of an earlier command\n");
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env("GITHUB_STEP_SUMMARY", place.path().join("summary.md"));
        Seen::of(&command.stdin(Stdio::null()).output().unwrap())
    };
    run(&["check", ".", "--format", "json"]).expect(1);
    assert_eq!(read(&place, "summary.md"), "of an earlier command\n", "it is there for one format alone");
    run(&["check", ".", "--format", "github"]).expect(1);
    let page = read(&place, "summary.md");
    assert!(page.starts_with("of an earlier command\n\n### raceproof\n"), "{page}");
    assert!(page.contains("| 1 | 1 | 0 | 1 |") && page.contains("| error | data-race | racy.cu:2:3 |"), "{page}");
    run(&["check", ".", "--output", "github=a.log"]).expect(1);
    assert_eq!(read(&place, "summary.md").matches("### raceproof").count(), 2);
    fs::remove_file(place.path().join("summary.md")).unwrap();
    fs::create_dir(place.path().join("summary.md")).unwrap();
    run(&["check", ".", "--format", "github"]).expect(1).complains("GITHUB_STEP_SUMMARY: cannot write");
}
