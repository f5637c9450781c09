//! What the function that is being walked says of the code in it.

use super::mutants::Ahead;
use crate::syntax::{Function, Qualifier};

/// Where the code that is being walked runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Device,
    Host,
}

/// The side that a function is declared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Host,
    Device,
    Both,
}

/// The side that qualifiers declare.
pub(super) fn pass_of(function: &Function) -> Pass {
    let is = |wanted: fn(&Qualifier) -> bool| function.qualifiers.iter().any(wanted);
    let device = is(|qualifier| matches!(qualifier, Qualifier::Device | Qualifier::Kernel));
    match (device, is(|qualifier| matches!(qualifier, Qualifier::Host))) {
        (true, true) => Pass::Both,
        (true, false) => Pass::Device,
        (false, _) => Pass::Host,
    }
}

/// The function around a statement; outside of all, the host.
#[derive(Debug)]
pub(super) struct Within<'a> {
    pub(super) side: Side,
    /// The side that the function is declared for.
    pub(super) pass: Pass,
    /// The record whose members can be named alone.
    pub(super) record: Option<String>,
    pub(super) returns_reference: bool,
    /// Whether it may be evaluated while the program is compiled.
    pub(super) is_constexpr: bool,
    /// Whether the value at hand may be known to the compiler, and be needed by it.
    pub(super) is_fixed: bool,
    /// The statement, for those who claim something before it.
    pub(super) ahead: Ahead<'a>,
}

impl Default for Within<'_> {
    fn default() -> Self {
        let (side, pass) = (Side::Host, Pass::Host);
        let (is_constexpr, is_fixed) = (false, false);
        Within { side, pass, record: None, returns_reference: false, is_constexpr, is_fixed, ahead: Ahead::Nowhere }
    }
}

impl Within<'_> {
    /// Whether the code is instrumented.
    pub(super) fn is_on_device(&self) -> bool {
        self.side == Side::Device
    }

    /// The record whose members can be named alone.
    pub(super) fn record(&self) -> Option<&str> {
        self.record.as_deref()
    }
}
