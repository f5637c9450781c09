//! A JUnit report, for the lists of tests of Jenkins, GitLab, Azure and others: a suite for each file, a test for each kernel.
//!
//! A kernel passes if it is proved free of races and uniform and nothing else was found in it; it fails with the first of its
//! findings as the message and all of them, as `gcc` has them, as the text; one that is not decided, or whose findings are
//! suppressed, is skipped, and so is a file that could not be read in full. Nothing is an `error`, which tests have that could not be run.
//!
//! There is no one schema of such reports. This one keeps that of Jenkins' xUnit plugin (`junit-10.xsd`), but for `file` and `line`
//! of a test, which GitLab and others read and which Jenkins' own `junit` step does not mind.
//!
//! Guarantees: well-formed XML 1.0 whatever stands in the source; no two tests of a suite have one name.
//! Deliberately absent: suggestions, which fail nothing; output (`system-out`), properties.

use super::xml::escaped;
use super::{gcc, one_line};
use crate::diagnostic::Severity;
use crate::diagnostic::report::{Divergence, FileReport, Finding, KernelReport, Parse, Race, Report};
use crate::diagnostic::vocabulary::Vocabulary;
use std::collections::BTreeSet;
use std::io::{self, Write};

struct Suite {
    path: String,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    line: u32,
    milliseconds: u64,
    outcome: Outcome,
}

impl Case {
    fn is_skipped(&self) -> bool {
        matches!(self.outcome, Outcome::Skipped { .. })
    }
}

enum Outcome {
    Passed,
    Failed { rule: &'static str, message: String, text: String },
    Skipped { message: String },
}

/// Writes a test for each kernel of `report`. A file without any has no suite.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let suites = report.files.iter().map(suite).collect::<io::Result<Vec<Suite>>>()?;
    let suites: Vec<Suite> = suites.into_iter().filter(|suite| !suite.cases.is_empty()).collect();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let all = suites.iter().flat_map(|suite| &suite.cases);
    writeln!(out, "<testsuites name=\"raceproof\" {} {}>", counts(all.clone()), time(all))?;
    for suite in &suites {
        let (cases, skipped) = (suite.cases.iter(), suite.cases.iter().filter(|case| case.is_skipped()).count());
        let counts = format!("{} skipped=\"{skipped}\" {}", counts(cases.clone()), time(cases));
        writeln!(out, "  <testsuite name=\"{}\" {counts}>", escaped(&suite.path))?;
        suite.cases.iter().try_for_each(|case| write_case(case, &suite.path, out))?;
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// `tests="2" failures="1" errors="0"`
fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let failed = cases.clone().filter(|case| matches!(case.outcome, Outcome::Failed { .. })).count();
    format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", cases.count())
}

/// `time="0.000"`
fn time<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    format!("time=\"{}\"", seconds(cases.map(|case| case.milliseconds).sum()))
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

fn write_case(case: &Case, path: &str, out: &mut dyn Write) -> io::Result<()> {
    let (path, name, time) = (escaped(path), escaped(&case.name), seconds(case.milliseconds));
    let line = case.line;
    write!(out, "    <testcase classname=\"{path}\" name=\"{name}\" file=\"{path}\" line=\"{line}\" time=\"{time}\"")?;
    match &case.outcome {
        Outcome::Passed => return writeln!(out, "/>"),
        Outcome::Failed { rule, message, text } => {
            write!(out, ">\n      <failure type=\"{rule}\" message=\"{}\">", escaped(message))?;
            writeln!(out, "{}</failure>", escaped(text))?;
        }
        Outcome::Skipped { message } => writeln!(out, ">\n      <skipped message=\"{}\"/>", escaped(message))?,
    }
    writeln!(out, "    </testcase>")
}

fn suite(file: &FileReport) -> io::Result<Suite> {
    let mut cases: Vec<Case> = unread(file).into_iter().collect();
    let mut names = BTreeSet::new();
    for kernel in &file.kernels {
        // Overloads share a name, and lists of tests know one by nothing else.
        let plain = one_line(&kernel.instance());
        let numbered = (2_usize..).map(|number| format!("{plain} ({number})"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|name| names.insert(name.clone()));
        cases.push(Case {
            name: name.unwrap_or(plain),
            line: kernel.line,
            milliseconds: kernel.spent.all().time.as_millis() as u64,
            outcome: outcome(kernel, file)?,
        });
    }
    let path = file.path.to_string_lossy().replace('\\', "/");
    Ok(Suite { path: one_line(path.trim_start_matches("./")), cases })
}

/// What stands for a file that could not be read in full.
fn unread(file: &FileReport) -> Option<Case> {
    let words = match file.parse {
        Parse::Ok => return None,
        Parse::Partial => "read only in part",
        Parse::Failed => "not read",
    };
    let why = file.diagnostics.first().map(|first| format!(": {}", one_line(&first.message))).unwrap_or_default();
    let outcome = Outcome::Skipped { message: format!("{words}{why}") };
    Some(Case { name: "(the file)".to_owned(), line: 1, milliseconds: 0, outcome })
}

fn outcome(kernel: &KernelReport, file: &FileReport) -> io::Result<Outcome> {
    let is_defect = |finding: &&Finding| finding.severity() >= Severity::Warning && !finding.is_hidden();
    let defects: Vec<&Finding> = kernel.findings.iter().filter(is_defect).collect();
    if let Some(first) = defects.first() {
        let mut text = Vec::new();
        for defect in &defects {
            gcc::render_finding(defect, &file.sources, Vocabulary::of(file.language), &mut text)?;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        return Ok(Outcome::Failed { rule: first.rule.name(), message: one_line(&first.message), text });
    }
    if kernel.race == Race::RaceFree && kernel.divergence == Divergence::Uniform {
        return Ok(Outcome::Passed);
    }
    let hidden = kernel.hidden().count();
    if hidden > 0 {
        let message = format!("{}, but its findings are suppressed: {hidden}", kernel.race.name());
        return Ok(Outcome::Skipped { message });
    }
    let why = kernel.unknowns.first().map(|unknown| kernel.about(unknown));
    Ok(Outcome::Skipped { message: one_line(&why.unwrap_or_else(|| format!("{} is not decided", kernel.name))) })
}
