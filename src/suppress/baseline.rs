//! A baseline: how many findings of each rule a kernel of a tree has today, so that only those are told that come later.
//!
//! A finding is known by the file that was checked, the kernel, the rule and the array; lines and witnesses do not matter, so that
//! edits elsewhere change nothing. Of equal ones there are as many as the baseline says: one more is told.
//!
//! The file is JSON with one finding on a line, sorted, and with a version. Paths are relative to its directory.
//!
//! Guarantees: the same bytes for the same findings. What was not looked at is neither told as gone nor taken out.
//! Deliberately absent: reading and writing files; certainty and level of findings, which tell more about effort than about code.

use super::apply::regroup;
use crate::diagnostic::report::{Divergence, FileReport, Finding, KernelReport, Parse, Race, Report};
use crate::diagnostic::suppression::Hidden;
use crate::diagnostic::{Diagnostic, RuleId};
use crate::preprocess::normalized;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

/// The version of what is written here.
const SCHEMA: &str = "raceproof.baseline.v1";

/// By what a finding is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    /// The file that was checked, relative to the baseline.
    file: String,
    /// The kernel, with template arguments; none of a finding on a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    /// The rule.
    rule: String,
    /// The array, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    array: Option<String>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    array: Option<String>,
    count: usize,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(rename = "schema")]
    _schema: String,
    findings: Vec<Row>,
}

/// The findings that a tree has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// Its file, as the user wrote it.
    path: PathBuf,
    /// Where paths begin.
    root: PathBuf,
    counts: BTreeMap<Key, usize>,
}

/// What is wrong with a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is no JSON, or not of the form that is written.
    #[error("it is damaged: {0}; write it anew with --write-baseline")]
    Form(#[from] serde_json::Error),
    /// It is JSON of something else.
    #[error("it is no baseline of raceproof; --write-baseline writes one")]
    NoBaseline,
    /// It is of a version that this one does not know.
    #[error("it is of {0}, and this raceproof reads {SCHEMA}; write it anew with --write-baseline")]
    Schema(String),
    /// It has one kind of finding twice.
    #[error("it is damaged: it has two lines for {0}; write it anew with --write-baseline")]
    Twice(String),
}

/// What of a baseline is no longer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    key: Key,
    /// How many.
    pub count: usize,
}

impl Gone {
    /// `src/k.cu: k: data-race on tile`
    pub fn told(&self) -> String {
        told(&self.key)
    }
}

fn told(Key { file, kernel, rule, array }: &Key) -> String {
    let kernel = kernel.as_ref().map(|kernel| format!("{kernel}: ")).unwrap_or_default();
    let array = array.as_ref().map(|array| format!(" on {array}")).unwrap_or_default();
    format!("{file}: {kernel}{rule}{array}")
}

impl Baseline {
    /// One without findings, for a file at `path`.
    pub fn empty(path: &Path) -> Baseline {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let root = absolute.parent().map(|root| normalized(root)).unwrap_or_default();
        Baseline { path: path.to_path_buf(), root, counts: BTreeMap::new() }
    }

    /// The baseline that `text`, of the file at `path`, is.
    pub fn parse(path: &Path, text: &str) -> Result<Baseline, BaselineError> {
        // The version comes first: another one may have any form.
        let value: serde_json::Value = serde_json::from_str(text)?;
        match value.get("schema").and_then(serde_json::Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) if other.starts_with("raceproof.baseline.") => {
                return Err(BaselineError::Schema(other.to_owned()));
            }
            _ => return Err(BaselineError::NoBaseline),
        }
        let whole: Whole = serde_json::from_str(text)?;
        let mut baseline = Baseline::empty(path);
        for Row { file, kernel, rule, array, count } in whole.findings {
            let key = Key { file, kernel, rule, array };
            if let Some(twice) = baseline.counts.insert(key.clone(), count).map(|_| told(&key)) {
                return Err(BaselineError::Twice(twice));
            }
        }
        Ok(baseline)
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        let row = |(key, &count): (&Key, &usize)| {
            let Key { file, kernel, rule, array } = key.clone();
            serde_json::to_string(&Row { file, kernel, rule, array, count }).expect("a row is no map with odd keys")
        };
        let rows: Vec<String> = self.counts.iter().map(row).collect();
        let mut text = format!("{{\n\"schema\": \"{SCHEMA}\",\n\"findings\": [");
        for (at, row) in rows.iter().enumerate() {
            let comma = if at + 1 < rows.len() { "," } else { "" };
            write!(text, "\n{row}{comma}").expect("a text takes all");
        }
        text + "\n]\n}\n"
    }

    /// How many findings it has.
    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// Its file, as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same for those findings of a report that nobody hides yet.
    pub fn of(path: &Path, report: &Report) -> Baseline {
        let mut baseline = Baseline::empty(path);
        for file in &report.files {
            for diagnostic in file.diagnostics.iter().filter(|it| it.is_finding()) {
                *baseline.counts.entry(baseline.of_file(file, diagnostic)).or_default() += 1;
            }
            for kernel in &file.kernels {
                for finding in kernel.each_finding().filter(|finding| !finding.is_hidden()) {
                    *baseline.counts.entry(baseline.of_kernel(file, kernel, finding)).or_default() += 1;
                }
            }
        }
        baseline
    }

    /// Hides the findings that it has.
    pub fn hide(&self, report: &mut Report) {
        let mut left = self.counts.clone();
        let mut take = |key: Key| {
            let count = left.get_mut(&key).filter(|count| **count > 0)?;
            *count -= 1;
            Some(Hidden::Baseline { path: self.path.clone() })
        };
        for file in &mut report.files {
            let keys: Vec<Option<Key>> =
                file.diagnostics.iter().map(|it| it.is_finding().then(|| self.of_file(file, it))).collect();
            for (diagnostic, key) in file.diagnostics.iter_mut().zip(keys) {
                diagnostic.hidden = key.and_then(&mut take).or_else(|| diagnostic.hidden.take());
            }
            let mut kernels = std::mem::take(&mut file.kernels);
            for kernel in &mut kernels {
                let name = kernel.instance();
                regroup(kernel, |finding| take(self.key(file, Some(&name), finding.rule, finding.array.as_deref())));
            }
            file.kernels = kernels;
        }
    }

    /// What of it a report no longer has; of rules that were looked for, in files that were checked or are no longer there.
    pub fn gone(&self, report: &Report, sought: &BTreeSet<RuleId>) -> Vec<Gone> {
        let mut found: BTreeMap<Key, usize> = BTreeMap::new();
        let mut open: BTreeSet<(String, Option<String>)> = BTreeSet::new();
        let mut checked: BTreeSet<String> = BTreeSet::new();
        for file in &report.files {
            let name = self.named(file);
            let of_files = file.diagnostics.iter().filter(|it| by_baseline(it.hidden.as_ref()));
            of_files.for_each(|it| *found.entry(self.of_file(file, it)).or_default() += 1);
            for kernel in &file.kernels {
                let hidden = kernel.each_finding().filter(|it| by_baseline(it.telling.hidden.as_ref()));
                hidden.for_each(|it| *found.entry(self.of_kernel(file, kernel, it)).or_default() += 1);
                if kernel.race == Race::Unknown || kernel.divergence == Divergence::Unknown {
                    open.insert((name.clone(), Some(kernel.instance())));
                }
            }
            if file.parse == Parse::Ok {
                checked.insert(name);
            }
        }
        let is_looked_at = |key: &Key| {
            let is_sought = RuleId::from_name(&key.rule).is_none_or(|rule| sought.contains(&rule));
            let is_there = || self.root.join(&key.file).exists();
            is_sought
                && !open.contains(&(key.file.clone(), key.kernel.clone()))
                && (checked.contains(&key.file) || !is_there())
        };
        let gone = self
            .counts
            .iter()
            .filter(|(key, _)| is_looked_at(key))
            .map(|(key, count)| Gone { key: key.clone(), count: count - found.get(key).copied().unwrap_or(0) });
        gone.filter(|gone| gone.count > 0).collect()
    }

    /// The same without what is gone.
    pub fn without(&self, gone: &[Gone]) -> Baseline {
        let mut left = self.clone();
        for Gone { key, count } in gone {
            left.counts.entry(key.clone()).and_modify(|left| *left -= count);
        }
        left.counts.retain(|_, count| *count > 0);
        left
    }

    fn of_file(&self, file: &FileReport, diagnostic: &Diagnostic) -> Key {
        self.key(file, None, diagnostic.rule, None)
    }

    fn of_kernel(&self, file: &FileReport, kernel: &KernelReport, finding: &Finding) -> Key {
        self.key(file, Some(&kernel.instance()), finding.rule, finding.array.as_deref())
    }

    fn key(&self, file: &FileReport, kernel: Option<&str>, rule: RuleId, array: Option<&str>) -> Key {
        Key {
            file: self.named(file),
            kernel: kernel.map(str::to_owned),
            rule: rule.name().to_owned(),
            array: array.map(str::to_owned),
        }
    }

    fn named(&self, file: &FileReport) -> String {
        let absolute = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
        from(&self.root, &normalized(&absolute))
    }
}

fn by_baseline(hidden: Option<&Hidden>) -> bool {
    matches!(hidden, Some(Hidden::Baseline { .. }))
}

/// The way from a directory to a file, with `/` on every system.
fn from(root: &Path, path: &Path) -> String {
    let (root, path): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (root.components().collect(), path.components().collect());
    let common = root.iter().zip(&path).take_while(|(a, b)| a == b).count();
    let up = root[common..].iter().map(|_| "..".to_owned());
    let down = path[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_from_the_baseline_to_the_file() {
        let way = |root: &str, path: &str| from(Path::new(root), Path::new(path));
        assert_eq!(way("/a/b", "/a/b/src/k.cu"), "src/k.cu");
        assert_eq!(way("/a/b", "/a/c/k.cu"), "../c/k.cu");
    }

    #[test]
    fn a_text_is_read_as_it_was_written() {
        let mut baseline = Baseline::empty(Path::new("b.json"));
        assert_eq!(Baseline::parse(Path::new("b.json"), &baseline.text()).unwrap(), baseline);
        for (file, array, count) in [("b.cu", None, 2), ("a.cu", Some("s\"t"), 1)] {
            let key = Key {
                file: file.into(),
                kernel: Some("k<1>".into()),
                rule: "data-race".into(),
                array: array.map(str::to_owned),
            };
            baseline.counts.insert(key, count);
        }
        let text = baseline.text();
        assert_eq!(Baseline::parse(Path::new("b.json"), &text).unwrap(), baseline);
        assert_eq!(
            text.lines().nth(3),
            Some(r#"{"file":"a.cu","kernel":"k<1>","rule":"data-race","array":"s\"t","count":1},"#)
        );
    }

    #[test]
    fn other_versions_and_damaged_files_are_told_apart() {
        let error = |text: &str| Baseline::parse(Path::new("b.json"), text).unwrap_err().to_string();
        assert!(error("{").starts_with("it is damaged: EOF"));
        assert!(error("{}").starts_with("it is no baseline of raceproof"));
        assert!(error(r#"{"schema": "raceproof.baseline.v9"}"#).starts_with("it is of raceproof.baseline.v9"));
        let with = |rows: &str| format!(r#"{{"schema": "{SCHEMA}", "findings": [{rows}]}}"#);
        let row = r#"{"file":"a","rule":"parse","count":1}"#;
        assert!(error(&with(&format!("{row},{row}"))).contains("two lines for a: parse"));
        assert!(error(&with(r#"{"file":"a","rule":"parse"}"#)).contains("missing field `count`"));
        assert!(error(&with(r#"{"file":"a","rule":"parse","count":1,"line":3}"#)).contains("unknown field `line`"));
    }
}
