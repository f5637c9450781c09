//! A report for people.

use super::report::{Finding, Report, What};
use std::io::{self, Write};

/// Writes it.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        write_finding(finding, out)?;
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
            tried.kind.counted(tried.schedules) + &differ
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

fn write_finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
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
            writeln!(out, "    {}: {} by thread {thread} of block {block}", access.place, access.does)?;
        }
    }
    if finding.what == What::Difference && finding.conflicts.is_empty() {
        writeln!(
            out,
            "  no two accesses conflict in that run: it is the order of atomics, of blocks or of what threads append"
        )?;
    }
    writeln!(out, "  again:    raceproof schedule --replay '{}' FILE…", finding.schedule)?;
    if finding.shown_by > 1 {
        writeln!(out, "  ({} of the schedules that were tried show such a thing)", finding.shown_by)?;
    }
    writeln!(out)
}
