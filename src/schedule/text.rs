//! A report for people.

use super::report::{Finding, Report, What};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::source::Language;
use std::io::{self, Write};

/// Writes it.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        write_finding(finding, report.language, out)?;
    }
    for slow in &report.slow {
        writeln!(out, "note: ended before it came to its end, and nobody was shown to be stuck: {slow}")?;
    }
    for refused in &report.refused {
        writeln!(out, "note: the cpu back end cannot keep to the schedule {}: {}", refused.schedule, refused.reason)?;
    }
    let kinds: Vec<String> = report
        .tried
        .iter()
        .map(|tried| {
            let differ = if tried.differ > 0 { format!(" ({} differ)", tried.differ) } else { String::new() };
            tried.kind.counted(tried.schedules, report.language) + &differ
        })
        .collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    writeln!(out, "{} tried beside the baseline{kinds}", counted(report.schedules, "schedule"))?;
    let compared = if report.compares_memory { "exit status, output and memory" } else { "exit status and output" };
    match report.findings.len() {
        0 if report.schedules == report.slow.len() + report.refused.len() && report.schedules > 0 => {
            writeln!(out, "none of them came to its end: nothing is known")
        }
        0 => writeln!(out, "no difference in {compared}"),
        found => writeln!(out, "{}", counted(found, "finding")),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn coordinates([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

fn write_finding(finding: &Finding, language: Language, out: &mut dyn Write) -> io::Result<()> {
    let Vocabulary { thread: a_thread, block: a_block, .. } = Vocabulary::of(language);
    let inside = if finding.kernel.is_empty() { String::new() } else { format!(" in {}", finding.kernel) };
    match finding.what {
        What::Difference => writeln!(out, "difference{inside}: the result depends on the schedule")?,
        What::Deadlock => writeln!(out, "deadlock{inside}: no thread can go on")?,
        What::Divergence => writeln!(out, "divergent barriers{inside}: a GPU may wait for ever")?,
    }
    for line in &finding.differs {
        writeln!(out, "  {line}")?;
    }
    for wait in &finding.waits {
        let place = wait.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        writeln!(out, "  {place}{}", wait.text)?;
    }
    writeln!(out, "  schedule: {}", finding.schedule)?;
    for change in &finding.changes {
        let place = change.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        writeln!(out, "    {place}{}", change.text)?;
    }
    if finding.schedule != finding.against {
        writeln!(out, "  against:  {}", finding.against)?;
    }
    if !finding.is_minimal {
        writeln!(out, "  (perhaps a smaller schedule shows it, too: the runs for that came to an end)")?;
    }
    for conflict in &finding.conflicts {
        writeln!(out, "  {}", conflict.text)?;
        for access in &conflict.accesses {
            let (thread, block) = (coordinates(access.thread), coordinates(access.block));
            writeln!(out, "    {}: {} by {a_thread} {thread} of {a_block} {block}", access.place, access.does)?;
        }
    }
    if let Some(reason) = &finding.unlogged {
        writeln!(out, "  no log says which accesses it comes from: {reason}")?;
    } else if finding.what == What::Difference && finding.conflicts.is_empty() {
        let run = match language {
            Language::Cuda => "that run",
            Language::OpenCl => "a logged run",
        };
        writeln!(
            out,
            "  no two accesses conflict in {run}: it is the order of atomics, of {a_block}s or of what {a_thread}s append"
        )?;
    }
    let (before, after) = match language {
        Language::Cuda => ("", "FILE…"),
        Language::OpenCl => ("--opencl-host ", "-- PROGRAM…"),
    };
    writeln!(out, "  again:    raceproof schedule {before}--replay '{}' {after}", finding.schedule)?;
    if finding.shown_by > 1 {
        writeln!(out, "  ({} of the schedules that were tried show such a thing)", finding.shown_by)?;
    }
    writeln!(out)
}
