//! Functions that the calculus does not interpret: a name, and what is known beside that equal arguments give equal
//! results.
//!
//! The text of a kernel has the name alone. Who reads a text says what is known of the functions in it
//! ([`text::parse_with`](super::text::parse_with)).
//!
//! Deliberately absent: what they compute, and what library they are from.

use std::fmt;

/// A pure function that the calculus does not interpret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// As messages and the text of a kernel name it.
    pub name: String,
    /// What is known of it.
    pub nature: Nature,
}

/// What is known of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nature {
    /// It computes: with numbers of floating point its result depends on who compiled it.
    #[default]
    Computes,
    /// It moves bits, and computes no number: a part of an aggregate, a bit pattern, a change of sign.
    Exact,
    /// It reads a texture, surface or image, of which its arguments hold the handle.
    Fetches,
    /// It tells of a handle or a pointer, which its arguments leave out.
    Queries,
    /// It counts bits.
    Counts(BitCount),
}

/// What a function counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitCount {
    /// The bits that are set in 32.
    SetOf32,
    /// Those in another number of bits.
    Set,
    /// The zeros before the first bit that is set in 32.
    LeadingOf32,
    /// Those in another number of bits.
    Leading,
    /// The place of the last bit that is set in 32, from 1 on; 0 if there is none.
    PlaceOf32,
    /// That in another number of bits.
    Place,
}

impl Function {
    /// The function of that name of which this is known.
    pub fn new(name: impl Into<String>, nature: Nature) -> Self {
        Function { name: name.into(), nature }
    }

    /// One that moves bits.
    pub fn exact(name: impl Into<String>) -> Self {
        Self::new(name, Nature::Exact)
    }

    /// A part of what it gives: `frexp.out0`.
    pub fn part(&self, part: impl fmt::Display) -> Self {
        Self::new(format!("{}.{part}", self.name), self.nature)
    }
}

impl From<&str> for Function {
    fn from(name: &str) -> Self {
        Self::new(name, Nature::default())
    }
}

impl From<String> for Function {
    fn from(name: String) -> Self {
        Self::new(name, Nature::default())
    }
}

impl From<&Function> for Function {
    fn from(function: &Function) -> Self {
        function.clone()
    }
}

/// The functions of the calculus itself are known by their names.
impl PartialEq<str> for Function {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl PartialEq<&str> for Function {
    fn eq(&self, name: &&str) -> bool {
        self.name == *name
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
