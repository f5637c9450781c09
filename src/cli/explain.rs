//! `raceproof explain`: the rule pages.

use super::Exit;
use super::args::ExplainArgs;
use super::output::to_stdout;
use crate::diagnostic::RuleId;
use crate::driver::mutate::Operator;
use crate::driver::rule_page;
use crate::source::spelling::nearest;
use anyhow::{Context, Result, bail};

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit> {
    let text = match &args.rule {
        None => listing(),
        Some(name) => {
            let name = name.trim_matches(['[', ']']);
            match (RuleId::from_name(name), Operator::from_name(name)) {
                (Some(rule), _) => rule_page(rule).to_string(),
                (None, Some(operator)) => operator.page().to_owned(),
                (None, None) => match nearest(name, names()) {
                    Some(meant) => {
                        bail!("no rule is named `{name}`; did you mean `{meant}`? `raceproof explain` lists all rules")
                    }
                    None => bail!("no rule is named `{name}`; `raceproof explain` lists all rules"),
                },
            }
        }
    };
    to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

/// All that has a page.
fn names() -> impl Iterator<Item = &'static str> {
    RuleId::ALL.into_iter().map(RuleId::name).chain(Operator::ALL.into_iter().map(Operator::name))
}

/// One line for each rule: its name and the first sentence of its page.
fn listing() -> String {
    let line = |rule: RuleId| format!("{:24}{}", rule.name(), first_sentence(rule_page(rule)));
    let lines: Vec<String> = RuleId::ALL.into_iter().map(line).collect();
    lines.join("\n") + "\n"
}

fn first_sentence(page: &str) -> &str {
    let prose = page.lines().find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    prose.split_inclusive(". ").next().unwrap_or(prose).trim_end_matches([' ', '.'])
}
