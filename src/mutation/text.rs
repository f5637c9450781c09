//! A campaign for people: what no test tells apart, by place, and how many of each kind there were.

use super::{Campaign, Status};
use std::io::{self, Write};

/// Writes it.
pub fn write(campaign: &Campaign, out: &mut dyn Write) -> io::Result<()> {
    for mutant in campaign.mutants.iter().filter(|mutant| mutant.status.is_missed()) {
        let reason = mutant.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        writeln!(out, "{} [{}]{reason}", mutant.line(), mutant.status.name())?;
    }
    if campaign.mutants.iter().any(|mutant| mutant.status.is_missed()) {
        writeln!(out)?;
    }
    for status in Status::ALL {
        let count = campaign.with(status).count();
        if count > 0 || status == Status::Killed {
            writeln!(out, "{:18}{count:6}", status.name())?;
        }
    }
    writeln!(out, "{}", score(campaign))
}

/// The score in words.
pub fn score(campaign: &Campaign) -> String {
    let (detected, all) = campaign.detected();
    match campaign.score() {
        Some(percent) => format!("mutation score    {percent:5.1} % ({detected} of {all})"),
        None => "mutation score    there is no mutant that tests could detect".to_owned(),
    }
}
