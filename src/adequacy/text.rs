//! The report for people.

use super::{Adequacy, Fault, Gap};
use crate::coverage::text::share;
use std::io::{self, Write};

/// Writes it.
pub fn write(adequacy: &Adequacy, out: &mut dyn Write) -> io::Result<()> {
    for gap in &adequacy.gaps {
        write_gap(gap, out)?;
    }
    for silent in &adequacy.unlaunched {
        let launches = silent.file.as_ref().map_or_else(String::new, |file| format!("; {file} does"));
        writeln!(out, "{}: no test launches it{launches}", silent.kernel)?;
    }
    for Fault { mutant, told_apart_by } in &adequacy.faults {
        writeln!(out, "{} [{}]", mutant.line(), mutant.status.name())?;
        for file in told_apart_by {
            writeln!(out, "  told apart by {file}")?;
        }
    }
    if let Some(schedules) = &adequacy.schedules {
        for finding in &schedules.findings {
            let what = finding.differs.first().map_or("no thread can go on", String::as_str);
            let inside = if finding.kernel.is_empty() { String::new() } else { format!(" in {}", finding.kernel) };
            writeln!(out, "the schedule `{}` gives something else{inside}: {what}", finding.schedule)?;
        }
    }
    adequacy.remarks.iter().try_for_each(|remark| writeln!(out, "note: {remark}"))?;
    summary(adequacy).into_iter().try_for_each(|(name, value)| writeln!(out, "{name:<16}{value}"))
}

/// The figures, by name.
pub(super) fn summary(adequacy: &Adequacy) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> =
        adequacy.totals.named().map(|(name, total)| (name, share(total))).collect();
    let filled = adequacy.gaps.iter().filter(|gap| gap.is_filled).count();
    if !adequacy.gaps.is_empty() {
        lines.push(("gaps", format!("{} ({filled} filled by launches that were found)", adequacy.gaps.len())));
    }
    let of = |name: &str| adequacy.mutants.get(name).copied().unwrap_or(0);
    let detected = of("killed") + of("timeout");
    let all = detected + of("survived") + of("undecided") + of("not reached");
    lines.push(match adequacy.score {
        Some(score) => ("mutation score", format!("{score:5.1} % ({detected} of {all})")),
        None => ("mutation score", "none".to_owned()),
    });
    let more = adequacy.faults.iter().filter(|fault| !fault.told_apart_by.is_empty()).count();
    if more > 0 {
        lines.push(("", format!("{:5.1} % with the launches that were found", percent(detected + more, all))));
    }
    if let Some(schedules) = &adequacy.schedules {
        let found = match schedules.findings.len() {
            0 => "no difference".to_owned(),
            1 => "1 finding".to_owned(),
            found => format!("{found} findings"),
        };
        lines.push(("schedules", format!("{found} in {}", schedules.schedules)));
    }
    lines
}

#[expect(clippy::cast_precision_loss, reason = "a campaign has no 2^52 mutants")]
fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all as f64
}

fn write_gap(gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
    let Gap { file, line, column, function, what, .. } = gap;
    writeln!(out, "{file}:{line}:{column}: {what} (in {function})")?;
    for added in &gap.reached_by {
        writeln!(out, "  {} by launch {} of {}: {}", reached(gap), added.launch, added.file, added.words)?;
    }
    Ok(())
}

/// Whether launches do for a gap.
pub(super) fn reached(gap: &Gap) -> &'static str {
    if gap.is_filled { "reached" } else { "reached in part" }
}
