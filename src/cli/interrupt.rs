//! Ctrl-C: the first one ends the run after the files that are under way, so that what was found is not lost;
//! the second one ends the process at once.

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What shells give a process that SIGINT ended.
pub(super) const EXIT_CODE: u8 = 130;

/// Whether the user wants the run to end.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to listen. Where the system does not allow it, Ctrl-C ends the process as usual.
    pub(super) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        // In this order: the action that is registered first must still see the flag unset on the first Ctrl-C.
        let ends = flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), Arc::clone(&interrupt.pressed));
        if ends.is_ok() {
            let _ = flag::register(SIGINT, Arc::clone(&interrupt.pressed));
        }
        interrupt
    }

    /// Whether Ctrl-C was pressed.
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }
}
