//! Panic isolation: a bug met in one file must not take the verdicts of the others with it.
//!
//! [`isolated`] runs a closure and turns a panic into its message with its place. The panic hook prints
//! nothing for isolated code, so that standard error holds only what raceproof means to say; panics
//! elsewhere print as usual.
//!
//! Deliberately absent: a net under stack overflow and aborts, which [`super::crash`] is. Passes bound their depth, too.

use crate::work::memory::{SetAside, TooMuch};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Panic {
    /// A bug: what the panic said, and where.
    #[error("{0}")]
    Bug(String),
    /// The work needs more memory than it may have.
    #[error("{0}")]
    TooMuch(TooMuch),
}

impl Panic {
    /// What it said, if it is a bug.
    pub fn bug(&self) -> Option<String> {
        match self {
            Panic::Bug(message) => Some(message.clone()),
            Panic::TooMuch(_) => None,
        }
    }

    /// Whether memory was wanted.
    pub fn is_of_memory(&self) -> bool {
        matches!(self, Panic::TooMuch(_))
    }
}

/// Runs `work`; a panic in it becomes an error that says what and where. One that sets a whole task aside goes on.
pub fn isolated<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    HOOK.call_once(install_hook);
    DEPTH.set(DEPTH.get() + 1);
    // The state behind `work` is dropped with it, so nothing half-changed can be seen afterwards.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|payload| match payload.downcast_ref() {
        Some(too_much) => Panic::TooMuch(*too_much),
        None if payload.is::<SetAside>() => resume_unwind(payload),
        None => Panic::Bug(MESSAGE.take().unwrap_or_else(|| "panic without a message".into())),
    })
}

fn install_hook() {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            return previous(info);
        }
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("panic without a message");
        let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        MESSAGE.set(Some(format!("{text}{place}")));
    }));
}

#[cfg(test)]
mod tests {
    use super::isolated;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        assert_eq!(isolated(|| 3), Ok(3));
        let message = isolated(|| panic!("index {} is out of range", 7)).unwrap_err().to_string();
        assert!(message.starts_with("index 7 is out of range at "), "{message}");
        assert!(message.contains("isolate.rs:"), "{message}");
    }
}
