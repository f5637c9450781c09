//! `raceproof trace`: the log of a run, checked for conflicts or described.

use super::Exit;
use super::args::{TraceArgs, TraceFormat, TraceStage};
use super::output::{color, to_stdout};
use crate::driver::trace::{self, Format, LEAST_MEMORY, Verdict};
use anyhow::{Context, Result, anyhow, bail};

/// Runs the command.
pub(super) fn run(args: &TraceArgs) -> Result<Exit> {
    let format = match args.format {
        TraceFormat::Text => Format::Text(color(args.color)),
        TraceFormat::Json => Format::Json,
    };
    match args.stage {
        TraceStage::Check => check(args, format),
        TraceStage::Info => info(args, format),
    }
}

fn check(args: &TraceArgs, format: Format) -> Result<Exit> {
    let memory = bytes(&args.memory)?;
    let outcome = trace::check_log(&args.file, memory, args.jobs.map(usize::from)).with_context(|| about(args))?;
    let mut verdict = Verdict::Partial;
    to_stdout(|out| {
        verdict = trace::write_check(&args.file, &outcome, format, out)?;
        Ok(())
    })
    .context("cannot write to standard output")?;
    Ok(match verdict {
        Verdict::Racy => Exit::Findings,
        Verdict::NoConflict => Exit::Clean,
        Verdict::Partial => Exit::Usage,
    })
}

fn info(args: &TraceArgs, format: Format) -> Result<Exit> {
    let log = trace::inspect_log(&args.file).with_context(|| about(args))?;
    to_stdout(|out| trace::write_info(&args.file, &log, format, out)).context("cannot write to standard output")?;
    Ok(if log.problems.is_empty() { Exit::Clean } else { Exit::Usage })
}

fn about(args: &TraceArgs) -> String {
    format!("cannot read {}", args.file.display())
}

/// `512M`, `2G`, `65536K` or a number of bytes.
fn bytes(text: &str) -> Result<u64> {
    let wrong = || anyhow!("--memory: `{text}` is no amount of memory; write for example 512M or 2G");
    let (digits, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let shift = match unit.to_ascii_uppercase().trim_end_matches(['B', 'I']) {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if bytes < LEAST_MEMORY {
        bail!("--memory: {text} is too little; {}M is the least", LEAST_MEMORY >> 20);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn amounts_of_memory_have_units() {
        let read = |text| bytes(text).ok();
        assert_eq!(
            [read("512M"), read("2GiB"), read("67108864"), read("65536k")],
            [Some(512 << 20), Some(2 << 30), Some(64 << 20), Some(64 << 20)]
        );
        assert!([" 1M", "1M", "M", "-5G", "99999999999G", "5X", "0"].iter().all(|text| bytes(text).is_err()));
    }
}
