//! Ctrl-C, and the signals by which systems ask a process to end: the first one ends the run, so that what was found is
//! not lost, or what was started not left behind.
//!
//! - [`Interrupt::listen`]: for whoever looks at times; a second signal ends the process at once, if it comes a moment later:
//!   `timeout` and the like signal a process and then its group.
//! - [`interruptible`]: for work that leaves something behind. It is a thread's, and somebody else always looks; terminals
//!   that are closed send two signals, the second of which must not come between.

use super::Exit;
use super::output::complain;
use crate::driver::run::abandon;
use anyhow::{Context, Result};
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long nobody looks whether a signal came.
const LOOK: Duration = Duration::from_millis(20);

/// How long the work may take to end by itself after a signal, which it does where it waits for a process.
const GRACE: Duration = Duration::from_millis(250);

/// How long after the first signal another one is one and the same wish.
const ONE_WISH: Duration = Duration::from_millis(300);

/// Stack of the thread that works.
const STACK_BYTES: usize = 64 << 20;

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
    /// Whether somebody has seen that one came.
    is_seen: Arc<AtomicBool>,
    /// Whether another one ends the process.
    is_urgent: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to listen. Where the system does not allow it, signals end the process as usual.
    pub(super) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        for signal in ENDING {
            let urgent = Arc::clone(&interrupt.is_urgent);
            let ends = flag::register_conditional_shutdown(signal, code(signal).into(), urgent);
            if ends.is_ok() {
                interrupt.note(signal);
            }
        }
        interrupt
    }

    /// Begins to listen, where the first signal is always acted on: further ones change nothing.
    fn listen_once() -> Interrupt {
        let interrupt = Interrupt::default();
        ENDING.into_iter().for_each(|signal| interrupt.note(signal));
        interrupt
    }

    fn note(&self, signal: i32) {
        let _ = flag::register_usize(signal, Arc::clone(&self.code), code(signal).into());
        let _ = flag::register(signal, Arc::clone(&self.came));
    }

    /// Whether a signal came.
    pub(super) fn is_pressed(&self) -> bool {
        let came = self.came.load(Ordering::Relaxed);
        if came && !self.is_seen.swap(true, Ordering::Relaxed) {
            // Nobody may look again.
            let urgent = Arc::clone(&self.is_urgent);
            thread::spawn(move || {
                thread::sleep(ONE_WISH);
                urgent.store(true, Ordering::Relaxed);
            });
        }
        came
    }

    /// The exit code for the signal that came.
    pub(super) fn exit_code(&self) -> u8 {
        u8::try_from(self.code.load(Ordering::Relaxed)).ok().filter(|&code| code > 0).unwrap_or(OF_CTRL_C)
    }
}

/// Does `work` to its end or until a signal comes. Work that does not end by itself then is left to itself, and what it started
/// and made for a time is ended and removed.
pub(super) fn interruptible(work: impl FnOnce(&Interrupt) -> Result<Exit> + Send + 'static) -> Result<Exit> {
    let interrupt = Interrupt::listen_once();
    let (end, ended) = mpsc::channel::<()>();
    let watched = interrupt.clone();
    let work = move || {
        let result = work(&watched);
        drop(end);
        result
    };
    let worker = thread::Builder::new().name("work".to_owned()).stack_size(STACK_BYTES).spawn(work);
    let worker = worker.context("cannot start a thread")?;
    let mut pressed: Option<Instant> = None;
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if interrupt.is_pressed() && pressed.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            abandon();
            complain("interrupted");
            return Ok(Exit::Interrupted(interrupt.exit_code()));
        }
    }
    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
}
