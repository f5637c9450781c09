//! What the function that is being walked says of the code in it.

use super::passes::Pass;

/// Where the code that is being walked runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Device,
    Host,
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
}

impl Default for Within {
    fn default() -> Self {
        Within { side: Side::Host, pass: Pass::Host, record: None, returns_reference: false }
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
