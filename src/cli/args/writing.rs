//! What was typed of how a report is written, and where.

use clap::ValueEnum;
use std::path::PathBuf;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For people: excerpts, witnesses, verdicts, a summary
    Text,
    /// One line per finding, with rule and kernel, and a summary
    Concise,
    /// One line per finding, as compilers write them
    Gcc,
    /// One versioned object for programs
    Json,
    /// The same findings, an object on each line
    JsonLines,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions, and the page of the step
    Github,
    /// A code quality report for GitLab
    Gitlab,
    /// Issues of a step of Azure Pipelines
    Azure,
    /// Reviewdog's diagnostic format, for comments in reviews
    Rdjson,
    /// A JUnit report, with a test for each kernel
    Junit,
}

impl Format {
    /// As it is typed.
    pub(in crate::cli) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A report in some format, and where it goes: `sarif=a.sarif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Destination {
    pub(in crate::cli) format: Format,
    /// `-` is standard output.
    pub(in crate::cli) path: PathBuf,
}

/// What is wrong with a destination.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum NoDestination {
    #[error("write FORMAT=PATH, for example sarif=raceproof.sarif")]
    Form,
    #[error("the path is missing behind `{0}=`")]
    Path(String),
    #[error("there is no format `{0}`; there are {1}")]
    Format(String, String),
}

pub(super) fn destination(typed: &str) -> Result<Destination, NoDestination> {
    let (name, path) = typed.split_once('=').ok_or(NoDestination::Form)?;
    let format = Format::from_str(name, false).map_err(|_| {
        let all: Vec<String> = Format::value_variants().iter().map(|format| format.name()).collect();
        NoDestination::Format(name.to_owned(), all.join(", "))
    })?;
    if path.is_empty() {
        return Err(NoDestination::Path(name.to_owned()));
    }
    Ok(Destination { format, path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_format_and_a_path() {
        let read = |typed| destination(typed).map(|it| (it.format, it.path)).map_err(|error| error.to_string());
        assert_eq!(read("sarif=a.sarif"), Ok((Format::Sarif, "a.sarif".into())));
        assert_eq!(read("json-lines=out/x=y"), Ok((Format::JsonLines, "out/x=y".into())));
        assert_eq!(read("json=-"), Ok((Format::Json, "-".into())));
        assert!(read("a.sarif").unwrap_err().contains("FORMAT=PATH"));
        assert!(read("sarif=").unwrap_err().contains("missing behind `sarif=`"));
        assert!(read("xml=a").unwrap_err().contains("no format `xml`; there are text, concise, gcc, json, json-lines"));
    }
}
