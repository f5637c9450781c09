//! The lists of tokens between the files and the reader: bodies of macros, isolated lists, and what was put back.

use super::Token;
use super::interner::Symbol;
use super::macros::Macros;

/// Tokens that expansions may produce in all before raceproof gives up on a file.
const EXPANSION_BUDGET: usize = 3_000_000;

/// A list of tokens, read up to `next`.
struct List {
    tokens: Vec<Token>,
    next: usize,
    /// The macro whose expansion this is.
    busy: Option<Symbol>,
}

/// The lists, the one that is read first on top.
#[derive(Default)]
pub(super) struct Pending {
    lists: Vec<List>,
    /// Lists below this height belong to the reader outside the isolated list.
    floor: usize,
    /// Number of isolated lists that are being expanded inside each other.
    isolation: usize,
    /// Tokens that expansions have produced.
    produced: usize,
}

impl Pending {
    /// From now on these tokens alone are read. What is given belongs to [`restore`](Self::restore).
    pub(super) fn isolate(&mut self, tokens: Vec<Token>) -> usize {
        let outer = std::mem::replace(&mut self.floor, self.lists.len());
        self.put_back(tokens);
        self.isolation += 1;
        outer
    }

    /// Goes on outside the isolated list, which has been read.
    pub(super) fn restore(&mut self, outer: usize) {
        self.isolation -= 1;
        self.floor = outer;
    }

    /// How deep isolated lists are inside each other; 0 if the files are read.
    pub(super) fn isolation(&self) -> usize {
        self.isolation
    }

    /// The next token of the lists.
    pub(super) fn next(&mut self, macros: &mut Macros) -> Option<Token> {
        while self.lists.len() > self.floor {
            let top = self.lists.last_mut()?;
            if let Some(&token) = top.tokens.get(top.next) {
                top.next += 1;
                return Some(token);
            }
            if let Some(List { busy: Some(name), .. }) = self.lists.pop() {
                macros.end(name);
            }
        }
        None
    }

    /// The token that [`next`](Self::next) would give.
    pub(super) fn peek(&self) -> Option<&Token> {
        self.lists[self.floor..].iter().rev().find_map(|list| list.tokens.get(list.next))
    }

    /// Reads the body of a macro next.
    pub(super) fn expand(&mut self, name: Symbol, tokens: Vec<Token>, macros: &mut Macros) {
        macros.begin(name);
        self.lists.push(List { tokens, next: 0, busy: Some(name) });
    }

    /// Reads these tokens next.
    pub(super) fn put_back(&mut self, tokens: Vec<Token>) {
        self.lists.push(List { tokens, next: 0, busy: None });
    }

    /// Counts tokens that expansion handles; false once the budget is used up.
    pub(super) fn spend(&mut self, tokens: usize) -> bool {
        self.produced += tokens;
        self.produced <= EXPANSION_BUDGET
    }
}
