//! Logging commands of Azure Pipelines: findings are listed as issues of the step, at their lines.
//!
//! `##vso[task.logissue type=error;sourcepath=a.cu;linenumber=6;columnnumber=9;code=data-race]data race on y: …`, as
//! <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands> has it, and escaped as there and in Microsoft's
//! own `azure-pipelines-task-lib` (`node/taskcommand.ts`). A proved finding is an error, a possible one a warning. The second
//! access and the advice are further lines of the message. Azure lists the first ten issues of each type of a step; the
//! gravest come first. The last line is that of `text`, with all counts.
//!
//! Guarantees: one command a line; no text of the user can end a property or start a command of its own. Deliberately absent:
//! what is unknown, but for its count, and suggestions: Azure has no issue that is no defect.

use super::said::{Said, said};
use super::text;
use crate::diagnostic::Severity;
use crate::diagnostic::report::Report;
use std::io::{self, Write};

/// Writes the findings of `report`.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for said in said(report) {
        if let Some(kind) = kind(said.severity) {
            writeln!(out, "{}", command(&said, kind))?;
        }
    }
    writeln!(out, "{}", text::summary(report))
}

/// Nothing for what is no defect.
fn kind(severity: Severity) -> Option<&'static str> {
    match severity {
        Severity::Error => Some("error"),
        Severity::Warning => Some("warning"),
        Severity::Note | Severity::Hint => None,
    }
}

fn command(said: &Said<'_>, kind: &str) -> String {
    let (path, at, rule) = (property(&said.path()), said.start(), said.rule);
    let place = format!("sourcepath={path};linenumber={};columnnumber={}", at.line, at.column);
    format!("##vso[task.logissue type={kind};{place};code={rule}]{}", data(&said.lines.join("\n")))
}

/// `text` as the message of a command. Agents read a percent sign in this form alone as itself.
fn data(text: &str) -> String {
    super::printable(text).replace('%', "%AZP25").replace('\n', "%0A")
}

/// `text` as the value of a property.
fn property(text: &str) -> String {
    data(text).replace(']', "%5D").replace(';', "%3B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_part_of_the_command() {
        assert_eq!(data("50% ##vso[task.x]\nx\ry;"), "50%AZP25 ##vso[task.x]%0Ax\u{FFFD}y;");
        assert_eq!(property("a;type=b]c%0A.cu"), "a%3Btype=b%5Dc%AZP250A.cu");
    }

    #[test]
    fn what_is_no_defect_is_no_issue() {
        assert_eq!([Severity::Error, Severity::Warning].map(kind), [Some("error"), Some("warning")]);
        assert_eq!([Severity::Note, Severity::Hint].map(kind), [None, None]);
    }
}
