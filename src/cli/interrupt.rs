//! Ctrl-C, and the signals by which systems ask a process to end: the first one ends the run, so that what was found is
//! not lost; the second one ends the process at once.

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that ask a process to end.
#[cfg(unix)]
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// What shells give a process that SIGINT ended.
const OF_CTRL_C: u8 = code(SIGINT);

/// What shells give a process that a signal ended.
const fn code(signal: i32) -> u8 {
    128 + signal as u8
}

/// Whether the user, or the system, wants the run to end.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    came: Arc<AtomicBool>,
    code: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Begins to listen. Where the system does not allow it, signals end the process as usual.
    pub(super) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        for signal in ENDING {
            // In this order: the action that is registered first must still see the flag unset on the first signal.
            let ends = flag::register_conditional_shutdown(signal, code(signal).into(), Arc::clone(&interrupt.came));
            if ends.is_ok() {
                let _ = flag::register_usize(signal, Arc::clone(&interrupt.code), code(signal).into());
                let _ = flag::register(signal, Arc::clone(&interrupt.came));
            }
        }
        interrupt
    }

    /// Whether a signal came.
    pub(super) fn is_pressed(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }

    /// The exit code for the signal that came.
    pub(super) fn exit_code(&self) -> u8 {
        u8::try_from(self.code.load(Ordering::Relaxed)).ok().filter(|&code| code > 0).unwrap_or(OF_CTRL_C)
    }
}
