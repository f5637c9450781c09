//! What others hold our formats against: the JSON schema of SARIF 2.1.0, Microsoft's validator of SARIF, and the XML schema of
//! JUnit reports that Jenkins' xUnit plugin has.
//!
//! `scripts/test` installs all of them. They are asked of real runs, over kernels of every kind.

use super::{FREE, MENDABLE, Place, RACY, UNKNOWN};
use crate::support::tools;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const IDLE: &str = "__global__ void idle(int *x) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  x[i] = 1;\n  __syncthreads();\n  x[i] += 1;\n}\n";
const SCATTER: &str = "__global__ void scatter(int *y, const int *at) { y[at[threadIdx.x]] = threadIdx.x; }\n";

/// What the validator says of us, how grave it finds that, and why it goes on saying so.
const SAID: [(&str, &str, &str); 9] = [
    ("GHAzDO1014", "error", "no details of the automation: who uploads a log sets them, unless they are there"),
    ("SARIF2002", "note", "messages are texts and not arguments of patterns: each names what the user wrote"),
    ("SARIF2003", "note", "no revision of the repository is named: what is checked need not be in one"),
    ("SARIF2005", "warning", "no address of the tool, as long as its package names none"),
    ("SARIF2006", "note", "whether the address of the schema answers is the network's affair"),
    ("SARIF2009", "note", "rules have names, not numbers"),
    ("SARIF2010", "note", "no snippets: who shows results has the source"),
    ("SARIF2011", "note", "nor what stands around them"),
    ("SARIF2012", "note", "no addresses of pages: the pages themselves are there, as `help`"),
];

/// Reports of real runs: a whole one, and one of a shard.
fn written() -> Place {
    let twin = RACY.replace("racy_k", "twin");
    let quiet = format!("// raceproof: ignore-file[data-race] known\n{RACY}");
    let place = Place::with(&[
        ("free.cu", FREE),
        ("mend able.cu", MENDABLE),
        ("racy.cu", RACY),
        ("twin.cu", &twin),
        ("quiet.cu", &quiet),
        ("odd.cu", UNKNOWN),
        ("idle.cu", IDLE),
        ("scatter.cu", SCATTER),
        ("broken.cu", "__global__ void k( {\n"),
        ("no.cl", "// raceproof: ignore[data-race]\n__kernel void k(__global int *a) { a[0] = get_local_id(0); }\n"),
    ]);
    for name in ["proved.cu", "race.cu"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quickstart").join(name);
        place.put(&format!("quickstart/{name}"), &fs::read(path).unwrap());
    }
    let all = ["check", ".", "--hints", "--fail-on", "never"];
    place.run(&[&all[..], &["--output", "sarif=all.sarif", "--output", "junit=all.xml"]].concat()).expect(0);
    place.run(&[&all[..], &["--shard", "1/2", "--format", "json", "--output", "sarif=shard.sarif"]].concat()).expect(0);
    place
}

fn variable(name: &str) -> Result<PathBuf, String> {
    std::env::var_os(name).map(PathBuf::from).ok_or_else(|| name.to_owned())
}

/// What a script of Python prints.
fn asked(place: &Place, python: &Path, script: &str, arguments: &[&Path]) -> String {
    let output = Command::new(python).args(["-c", script]).args(arguments).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn sarif_keeps_the_schema_and_the_validator_says_nothing_new() {
    let found = || Ok::<_, String>((variable("RACEPROOF_SARIF_MULTITOOL")?, variable("RACEPROOF_PYTHON")?));
    let Some((multitool, python)) = tools::used("the SARIF multitool", found) else { return };
    let place = written();
    let schema = multitool.with_file_name("sarif-2.1.0.json");
    let script = "import json, sys, jsonschema
schema, *logs = (json.load(open(name)) for name in sys.argv[1:])
kind = jsonschema.validators.validator_for(schema)
for log in logs:
    print(len(log['runs'][0]['results']) > 8, [f'{it.json_path}: {it.message}' for it in kind(schema).iter_errors(log)])";
    let said = asked(&place, &python, script, &[&schema, Path::new("all.sarif")]);
    assert_eq!(said, "True []");
    let said = asked(&place, &python, script, &[&schema, Path::new("shard.sarif")]);
    assert!(said.ends_with(" []"), "{said}");

    let kinds = ["--rule-kind", "Sarif;Gh;Ghas;Ado", "--level", "Error;Warning;Note", "--config", "default"];
    let mut command = Command::new(&multitool);
    command.args(["validate", "all.sarif", "shard.sarif", "-o", "said.sarif"]).args(kinds);
    // It needs no texts of any language.
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").current_dir(place.path());
    let output = command.output().unwrap();
    let log = fs::read_to_string(place.path().join("said.sarif")).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let log: Value = serde_json::from_str(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let mut rules = BTreeSet::new();
    for result in results {
        let (rule, level) = (result["ruleId"].as_str().unwrap(), result["level"].as_str().unwrap_or("warning"));
        assert!(SAID.iter().any(|(known, at, _)| (*known, *at) == (rule, level)), "{result:#}");
        rules.insert(rule);
    }
    assert!(rules.contains("SARIF2010") && results.len() > 20, "it has looked: {rules:?}");
}

#[test]
fn junit_keeps_the_schema_but_for_the_place_of_a_test() {
    let found = || Ok::<_, String>((variable("RACEPROOF_JUNIT_SCHEMA")?, variable("RACEPROOF_PYTHON")?));
    let Some((schema, python)) = tools::used("a schema of JUnit reports", found) else { return };
    let place = written();
    let script = "import sys, xmlschema
schema, report = sys.argv[1:]
tests = 0
for it in xmlschema.XMLSchema(schema).iter_errors(report):
    assert it.elem.tag == 'testcase', it
    assert set(it.elem.attrib) == {'classname', 'name', 'file', 'line', 'time'}, it
    assert \"'file'\" in it.reason or \"'line'\" in it.reason, it
    tests += 1
print(tests > 8)";
    assert_eq!(asked(&place, &python, script, &[&schema, Path::new("all.xml")]), "True");
    // Without what GitLab reads and the schema has not, nothing is left to say.
    let text = fs::read_to_string(place.path().join("all.xml")).unwrap();
    let without: Vec<String> = text.lines().map(|line| without_place(line)).collect();
    place.put("plain.xml", without.join("\n").as_bytes());
    let script = "import sys, xmlschema
schema, report = sys.argv[1:]
print([str(it) for it in xmlschema.XMLSchema(schema).iter_errors(report)])";
    assert_eq!(asked(&place, &python, script, &[&schema, Path::new("plain.xml")]), "[]");
}

/// A line of a report without `file` and `line` of a test.
fn without_place(line: &str) -> String {
    let (Some(start), Some(end)) = (line.find(" file=\""), line.find(" time=\"")) else { return line.to_owned() };
    if line.trim_start().starts_with("<testcase ") {
        format!("{}{}", &line[..start], &line[end..])
    } else {
        line.to_owned()
    }
}
