//! What was typed to be told of `check`: the options that are asked for most, or all.
//!
//! Options that are for few are hidden from the short help alone: the long one, the manual page and completions have them.

use clap::{ArgAction, Args};

/// Which help is wanted; whoever asks for one gets no further than that.
#[derive(Args, Debug)]
pub(in crate::cli) struct HelpArgs {
    /// Print the options that are asked for most
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print all options, with all that they take
    #[arg(long, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
}
