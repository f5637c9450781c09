//! What was typed of mutants: which, how they are tried, and what is told of them.

use super::sharing::portion;
use super::{Portion, RunArgs};
use crate::driver::mutate::Operator;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0    the campaign came to its end
  1    the score is lower than --minimum-score
  2    usage or input error; the program fails without a mutant
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct MutateArgs {
    #[command(flatten)]
    pub(in crate::cli) run: RunArgs,
    /// Where the campaign is kept, with its reports: a campaign that was interrupted goes on there
    #[arg(long, value_name = "DIR", default_value = "mutants.out")]
    pub(in crate::cli) output: PathBuf,
    /// These operators alone (see `raceproof explain OPERATOR`)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = operator(), help_heading = "Mutants")]
    pub(in crate::cli) operators: Vec<Operator>,
    /// Those mutants alone that are on lines of the named files which have changed since this revision of git
    #[arg(long, value_name = "REV", help_heading = "Mutants")]
    pub(in crate::cli) in_diff: Option<String>,
    /// So many mutants, chosen at random
    #[arg(long, value_name = "N", help_heading = "Mutants")]
    pub(in crate::cli) sample: Option<usize>,
    /// What decides which ones `--sample` chooses
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Mutants")]
    pub(in crate::cli) sample_seed: u64,
    /// The K-th of N shares of the mutants
    #[arg(long, value_name = "K/N", value_parser = portion, help_heading = "Mutants")]
    pub(in crate::cli) shard: Option<Portion>,
    /// Leave out what is like a mutant that was detected before, as DIR has it
    #[arg(long, help_heading = "Mutants")]
    pub(in crate::cli) iterate: bool,
    /// List the mutants and do nothing else
    #[arg(long, help_heading = "Mutants")]
    pub(in crate::cli) list: bool,
    /// Prove nothing: run mutants, too, that are proved to be equivalent or to race
    #[arg(long, help_heading = "Trials")]
    pub(in crate::cli) no_proofs: bool,
    /// Runs of each mutant, each with another order of threads; one that only some of them kill is undecided
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10_000), help_heading = "Trials")]
    pub(in crate::cli) repetitions: u64,
    /// A mutant is ended after so many times the time of the program, and not before two seconds
    #[arg(long, value_name = "FACTOR", default_value_t = 10.0, help_heading = "Trials")]
    pub(in crate::cli) timeout_multiplier: f64,
    /// Exit 1 if the score is lower, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "Trials")]
    pub(in crate::cli) minimum_score: Option<f64>,
}

fn operator() -> impl TypedValueParser<Value = Operator> {
    let values = Operator::ALL.map(|operator| PossibleValue::new(operator.name()).help(operator.summary()));
    PossibleValuesParser::new(values).map(|name| Operator::from_name(&name).unwrap_or(Operator::BarrierRemoved))
}
