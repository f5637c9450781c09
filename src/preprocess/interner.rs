//! Spellings as small numbers: every token carries one, and macro names are looked up by it.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The spelling of a token; equal spellings have equal symbols within one [`Interner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The position in the order in which spellings were first seen.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The spellings seen so far.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    texts: Vec<Arc<str>>,
    symbols: FxHashMap<Arc<str>, Symbol>,
}

impl Interner {
    /// The symbol of `text`.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let shared: Arc<str> = text.into();
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(Arc::clone(&shared));
        self.symbols.insert(shared, symbol);
        symbol
    }

    /// The symbol of `text`, if it was seen before.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// The symbols seen so far.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.texts.len() as u32).map(Symbol)
    }

    /// The spelling of a symbol.
    #[inline]
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.index()]
    }
}
