//! `raceproof explain`: the pages of rules, of operators of mutation, and of all words that reports print.
//!
//! Deliberately absent: what the pages say (`check/pages`, `driver/words.md`, `mutation/pages.md`).

use super::Exit;
use super::args::ExplainArgs;
use super::output::{terminal_width, to_stdout};
use super::paragraphs::wrapped;
use crate::diagnostic::{RuleId, UNKNOWN};
use crate::driver::mutate::Operator;
use crate::driver::words::Word;
use crate::driver::{page_of, rule_page};
use crate::source::spelling::nearest;
use anyhow::{Context, Result, bail};

/// Longer lines are hard to read, however wide the terminal is; help stops there, too.
const WIDEST: usize = 100;

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit> {
    let text = match &args.rule {
        None => listing(),
        Some(name) => page(name)?,
    };
    let text = match terminal_width() {
        Some(width) => wrapped(&text, width.min(WIDEST)),
        None => text,
    };
    to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

/// The page of what is named as it stands in a report: `data-race`, `[data-race]`, `error[data-race]`.
fn page(typed: &str) -> Result<String> {
    let inner = typed.strip_suffix(']').and_then(|rest| rest.split_once('[')).map(|(_, inner)| inner);
    let name = inner.unwrap_or(typed).trim();
    if name == UNKNOWN {
        return Ok(page_of(None).to_owned());
    }
    if let Some(rule) = RuleId::from_name(name) {
        return Ok(rule_page(rule).to_owned());
    }
    if let Some(operator) = Operator::from_name(name) {
        return Ok(operator.page().to_owned());
    }
    if let Some(word) = Word::named(name) {
        return Ok(format!("# {}\n\n{}\n", word.name(), word.page()));
    }
    let meant = nearest(name, names()).map_or_else(String::new, |meant| format!(" did you mean `{meant}`?"));
    bail!("no rule, verdict or other word of reports is `{name}`;{meant} `raceproof explain` lists all of them");
}

/// All that has a page.
fn names() -> impl Iterator<Item = &'static str> {
    let rules = RuleId::ALL.into_iter().map(RuleId::name).chain([UNKNOWN]);
    rules.chain(Operator::ALL.into_iter().map(Operator::name)).chain(Word::all().into_iter().map(Word::name))
}

/// One line for each name: it, and the first sentence of its page.
fn listing() -> String {
    let line = |name: &str, page: &str| format!("{name:28}{}\n", first_sentence(page));
    let rules = RuleId::ALL.into_iter().map(|rule| line(rule.name(), rule_page(rule)));
    let rules: String = rules.chain([line(UNKNOWN, page_of(None))]).collect();
    let words: String = Word::all().into_iter().map(|word| line(word.name(), word.page())).collect();
    let operators: String = Operator::ALL.into_iter().map(|operator| line(operator.name(), operator.page())).collect();
    format!("Rules:\n{rules}\nVerdicts and other words of reports:\n{words}\nOperators of mutation:\n{operators}")
}

fn first_sentence(page: &str) -> &str {
    let prose = page.lines().find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    prose.split_inclusive(". ").next().unwrap_or(prose).trim_end_matches([' ', '.'])
}
