//! Front end on libclang: preprocessed text to syntax, through a worker process.
//!
//! The whole story is in [`read`]: write the preprocessed tokens behind declarations of our own ([`text`],
//! [`shim`]); have a worker parse them ([`pool`], [`worker`], [`library`]); sort the cursors by token ([`map`]);
//! turn tokens and cursors into syntax, item by item ([`convert`]); and say for which items the answer must not
//! be used ([`admissible`]).
//!
//! Guarantees: any text gives an answer or a [`Failure`], within the pool's limits, and no crash or hang of
//! libclang reaches this process; a kernel in which clang met an error is among the refused, or marked by
//! [`Answer::mark`].
//!
//! Deliberately absent: meaning of any kind. Types and overloads are found by `resolve`, alike for every front end; what
//! clang knows of them comes along ([`known`]), for `resolve` to hold its own answers against.

mod admissible;
mod arguments;
mod brackets;
mod convert;
mod known;
mod library;
mod locate;
mod map;
mod pool;
mod shim;
mod text;
mod wire;
mod worker;

pub use admissible::Refusal;
pub use locate::{Misled, locate, misled};
pub use pool::{Failure, Limits, Pool, Start};
pub use worker::serve;

use crate::preprocess::Output;
use crate::source::Dialect;
use crate::syntax::known::Known;
use crate::syntax::{Item, ItemKind, Stmt, StmtKind};
use brackets::Brackets;
use map::Map;
use text::Text;
use wire::Job;

/// The reason of an item that clang accepted and conversion did not.
const CONFUSED: &str = "code that could not be read through libclang";

/// Longer units are not given to libclang: they would take its whole deadline, and more memory than it may have.
const MAX_TOKENS: usize = 1_000_000;

/// What reading a file gives.
#[derive(Debug)]
pub struct Answer {
    /// The items, those with errors included.
    pub items: Vec<Item>,
    /// Those among them that must not be relied on.
    pub refused: Vec<Refusal>,
    /// What clang knows of the others.
    pub known: Known,
}

/// Reads the preprocessed tokens of a file.
pub fn read(pool: &Pool, output: &Output, dialect: Dialect) -> Result<Answer, Failure> {
    if text::nests_too_deeply(output) {
        return Err(Failure::Refused("brackets nest too deeply for libclang".to_owned()));
    }
    if output.tokens.len() > MAX_TOKENS {
        return Err(Failure::Refused(format!("{} tokens are too many for libclang", output.tokens.len())));
    }
    let mut best = read_as(pool, output, dialect)?;
    for &other in arguments::alternatives(dialect) {
        if best.refused.is_empty() {
            break;
        }
        let answer = read_as(pool, output, other)?;
        if answer.refused.len() < best.refused.len() {
            best = answer;
        }
    }
    Ok(best)
}

fn read_as(pool: &Pool, output: &Output, dialect: Dialect) -> Result<Answer, Failure> {
    let text = Text::new(output, dialect);
    let arguments = arguments::arguments(dialect);
    let job = Job { arguments, text: text.whole.clone(), from: text.from };
    let parsed = pool.ask(job)?;
    let brackets = Brackets::new(output);
    let map = Map::new(&parsed.cursors, &text, &brackets, output);
    let converted = convert::convert(output, &map, &brackets, dialect.language());
    let refused = admissible::refused(&converted.places, &parsed.errors, &text, output);
    let known = known::known(&parsed, &refused, &text, &brackets, output);
    Ok(Answer { items: converted.items, refused, known })
}

impl Answer {
    /// Marks everything that is refused, so that it is never proved: for those who want no other answer.
    pub fn mark(&mut self) {
        let refused = std::mem::take(&mut self.refused);
        mark(&mut self.items, &refused);
    }
}

fn mark(items: &mut Vec<Item>, refused: &[Refusal]) {
    let mut marks = Vec::new();
    for item in items.iter_mut() {
        if let ItemKind::Namespace { items, .. } = &mut item.kind {
            mark(items, refused);
            continue;
        }
        let Some(refusal) = refused.iter().find(|refusal| refusal.item == item.span) else { continue };
        let unsupported = || refusal.reason.clone();
        match &mut item.kind {
            ItemKind::Function(function) => {
                if let Some(body) = &mut function.body {
                    body.insert(0, Stmt { kind: StmtKind::Unsupported(unsupported()), span: refusal.span });
                }
            }
            ItemKind::Unsupported(_) => {}
            _ => marks.push(Item { kind: ItemKind::Unsupported(unsupported()), span: refusal.span }),
        }
    }
    items.extend(marks);
}
