//! The functions of [`Expr::Call`](super::Expr::Call): those that the calculus does not interpret, of which it has a name and what
//! is known beside that equal arguments give equal results, and those of its own, which are about two threads.
//!
//! The text of a kernel has the name alone. Who reads a text says what is known of the functions in it
//! ([`text::parse_with`](super::text::parse_with)).
//!
//! Deliberately absent: what named functions compute, and what library they are from.

use std::fmt;

/// What a call is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// A pure function that the calculus does not interpret (`sqrtf`), as messages and the text of a kernel name it, and
    /// what is known of it.
    Named(String, Nature),
    /// The value of its only argument in another thread, in an assumption or a claim. Such a condition is about every two
    /// distinct threads of a launch that get to it in the same iterations of the loops around it, whichever of them is the
    /// other one. Nothing else may mention it.
    Other,
    /// Without arguments, in such a condition: whether both threads are of one block.
    SameBlock,
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
        Function::Named(name.into(), nature)
    }

    /// One that moves bits.
    pub fn exact(name: impl Into<String>) -> Self {
        Self::new(name, Nature::Exact)
    }

    /// A part of what it gives: `frexp.out0`.
    pub fn part(&self, part: impl fmt::Display) -> Self {
        Self::new(format!("{self}.{part}"), self.nature())
    }

    /// The name that stands for it in texts.
    pub fn name(&self) -> &str {
        match self {
            Function::Named(name, _) => name,
            Function::Other => "__other",
            Function::SameBlock => "__same_group",
        }
    }

    /// What is known of it; nothing of those of the calculus itself.
    pub fn nature(&self) -> Nature {
        match self {
            Function::Named(_, nature) => *nature,
            Function::Other | Function::SameBlock => Nature::default(),
        }
    }

    /// The function that a name stands for in a text of the calculus, of which this is known if it is none of its own.
    pub(crate) fn of_text(name: &str, nature: Nature) -> Function {
        let about_two = [Function::Other, Function::SameBlock].into_iter().find(|function| function.name() == name);
        about_two.unwrap_or_else(|| Function::new(name, nature))
    }

    /// Whether a condition that mentions it is about two threads.
    pub fn is_about_two(&self) -> bool {
        matches!(self, Function::Other | Function::SameBlock)
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

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
