//! What the function that is being walked says of the code in it.

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
pub(super) struct Within {
    pub(super) side: Side,
    /// The side that the function is declared for.
    pub(super) pass: Pass,
    /// The record whose members can be named alone.
    pub(super) record: Option<String>,
    pub(super) returns_reference: bool,
    /// Whether it may be evaluated while the program is compiled.
    pub(super) is_constexpr: bool,
}

impl Default for Within {
    fn default() -> Self {
        Within { side: Side::Host, pass: Pass::Host, record: None, returns_reference: false, is_constexpr: false }
    }
}

impl Within {
    /// Whether the code is instrumented.
    pub(super) fn is_on_device(&self) -> bool {
        self.side == Side::Device
    }

    /// The record whose members can be named alone.
    pub(super) fn record(&self) -> Option<&str> {
        self.record.as_deref()
    }
}
