//! A net under stack overflow and aborts: they cost the file that they happen in, and the others keep their answers.
//!
//! Nothing is done twice as long as nothing goes wrong. An overflow of a stack ends in SIGABRT, as every abort does; the
//! handler knows which input the thread was at, and executes the program anew: the same command line, with that input
//! named in a variable as one to leave out. By then nothing has been written, since reports come at the end of a run.
//! The run after it reports the input as lost to a bug of raceproof.
//!
//! Deliberately absent: systems other than unix. A run that reads standard input cannot be done again, nor can one of
//! whose threads nobody knows what it was at; they end with exit code 101.

#![cfg_attr(unix, expect(unsafe_code, reason = "handlers of signals are foreign; each call says why it is sound"))]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that names the inputs to leave out, by their positions.
const LOST: &str = "RACEPROOF_LOST";
/// The variable that plants an overflow: a part of the path of the input in which it is to happen and, behind an `@`, the
/// room: that of [`entering`], or the start if there is none.
const PLANTED: &str = "RACEPROOF_PLANT_OVERFLOW";
/// What is said of an input that was lost.
pub(super) const MESSAGE: &str = "the program ended in it (a stack overflow or an abort)";
/// No input.
const NONE: usize = usize::MAX;

thread_local! {
    static AT_WORK: Cell<usize> = const { Cell::new(NONE) };
}

static ARMED: OnceLock<BTreeSet<usize>> = OnceLock::new();

/// What a run that can be done anew reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// Files only.
    Files,
    /// Standard input, too.
    StandardInput,
}

/// Installs the handler, for a program whose only work is this run.
pub fn arm(inputs: Inputs) {
    let lost = std::env::var_os(LOST);
    let positions = lost.as_deref().and_then(OsStr::to_str).unwrap_or("");
    let positions = positions.split(',').filter_map(|position| position.parse().ok()).collect();
    if ARMED.set(positions).is_ok() {
        #[cfg(unix)]
        handler::install(inputs);
        #[cfg(not(unix))]
        let _ = inputs;
    }
}

/// Whether the input at `position` was lost in an earlier attempt.
pub(super) fn is_lost(position: usize) -> bool {
    ARMED.get().is_some_and(|lost| lost.contains(&position))
}

/// The input that this thread is at.
pub(super) fn at_work() -> usize {
    AT_WORK.get()
}

/// Runs `work`, which belongs to the input at `position`.
pub(super) fn working_at<T>(position: usize, work: impl FnOnce() -> T) -> T {
    let _outer = Outer(AT_WORK.replace(position));
    work()
}

/// The input of what waits on this thread, which is come back to when an input is set aside, too.
struct Outer(usize);

impl Drop for Outer {
    fn drop(&mut self) {
        AT_WORK.set(self.0);
    }
}

/// Gives this thread room for the handler beside a stack that is used up.
pub(super) fn prepare_thread() {
    #[cfg(unix)]
    if ARMED.get().is_some() {
        handler::prepare_thread();
    }
}

/// Overflows the stack if a test asks for it in this input, or notes that it is asked for in a room of it.
pub(super) fn overflow_if_planted(path: &Path) {
    let Some(Planted { part, room, inputs }) = planted() else { return };
    if !path.to_string_lossy().contains(part) {
        return;
    }
    match room {
        Some(_) => drop(inputs.lock().unwrap_or_else(PoisonError::into_inner).insert(at_work())),
        None => drop(std::hint::black_box(overflow(0))),
    }
}

/// Overflows the stack if a test asks for it in this room, for the input that the thread is at.
pub(super) fn entering(room: &str) {
    let Some(Planted { room: Some(planted), inputs, .. }) = planted() else { return };
    if planted == room && inputs.lock().unwrap_or_else(PoisonError::into_inner).contains(&at_work()) {
        std::hint::black_box(overflow(0));
    }
}

/// Where a test wants an overflow.
struct Planted {
    part: String,
    room: Option<String>,
    /// The inputs whose path has that part, as far as they were met.
    inputs: Mutex<BTreeSet<usize>>,
}

fn planted() -> Option<&'static Planted> {
    static SEEN: OnceLock<Option<Planted>> = OnceLock::new();
    let read = || {
        let value = std::env::var(PLANTED).ok().filter(|value| !value.is_empty())?;
        let (part, room) = match value.split_once('@') {
            Some((part, room)) => (part.to_owned(), Some(room.to_owned())),
            None => (value, None),
        };
        Some(Planted { part, room, inputs: Mutex::default() })
    };
    ARMED.get()?;
    SEEN.get_or_init(read).as_ref()
}

#[inline(never)]
fn overflow(depth: u64) -> u64 {
    if std::hint::black_box(depth) == u64::MAX { 0 } else { std::hint::black_box(overflow(depth + 1)) + 1 }
}

#[cfg(unix)]
mod handler {
    use super::{AT_WORK, Inputs, LOST, NONE};
    use std::ffi::{CString, OsString};
    use std::os::unix::ffi::OsStringExt;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// Room for the handler: two frames of a processor with wide registers, and what is called in between.
    const STACK_BYTES: usize = 128 << 10;
    /// Digits of a position, with a comma and the zero that ends a string of C.
    const POSITION_BYTES: usize = 24;
    const EXIT_CODE: i32 = 101;

    /// All that the handler needs, made before: it must not allocate.
    struct Again {
        program: *const libc::c_char,
        arguments: *const *const libc::c_char,
        environment: *const *const libc::c_char,
        /// Where the next position is written, at the end of the variable.
        position: *mut libc::c_char,
        inputs: Inputs,
    }

    static AGAIN: AtomicPtr<Again> = AtomicPtr::new(ptr::null_mut());

    pub(super) fn install(inputs: Inputs) {
        let Some(again) = prepared(inputs) else { return };
        AGAIN.store(Box::into_raw(Box::new(again)), Ordering::SeqCst);
        // SAFETY: the structure is all zeros but for its handler and flags, which is valid; the handler only calls what a
        // handler may call.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_abort as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(libc::SIGABRT, &raw const action, ptr::null_mut());
        }
    }

    /// The strings of another run; they live as long as the process.
    fn prepared(inputs: Inputs) -> Option<Again> {
        let text = |text: OsString| CString::new(text.into_vec()).ok().map(CString::into_raw);
        let program = text(std::env::current_exe().ok()?.into_os_string())?;
        let arguments: Vec<*mut libc::c_char> = std::env::args_os().map(text).collect::<Option<_>>()?;
        let others = std::env::vars_os().filter(|(name, _)| name != LOST);
        let joined = others.map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        });
        let mut environment: Vec<*mut libc::c_char> = joined.map(text).collect::<Option<_>>()?;
        let known = std::env::var(LOST).unwrap_or_default();
        let mut variable = format!("{LOST}={known}").into_bytes();
        let end = variable.len();
        variable.resize(end + POSITION_BYTES, 0);
        let variable = Box::leak(variable.into_boxed_slice());
        environment.push(variable.as_mut_ptr().cast());
        let position = variable[end..].as_mut_ptr().cast();
        Some(Again { program, arguments: ended(arguments), environment: ended(environment), position, inputs })
    }

    /// The strings as C wants them, with a null behind the last.
    fn ended(strings: Vec<*mut libc::c_char>) -> *const *const libc::c_char {
        let strings = strings.into_iter().map(<*mut libc::c_char>::cast_const);
        let strings: Vec<*const libc::c_char> = strings.chain([ptr::null()]).collect();
        Box::leak(strings.into_boxed_slice()).as_ptr()
    }

    pub(super) fn prepare_thread() {
        let stack = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
        // SAFETY: the memory is this thread's alone and is never freed.
        unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
    }

    extern "C" fn on_abort(_: libc::c_int) {
        let again = AGAIN.swap(ptr::null_mut(), Ordering::SeqCst);
        if again.is_null() {
            // Another thread has begun to execute the program anew, which ends this one.
            loop {
                // SAFETY: waiting is allowed in a handler.
                unsafe { libc::pause() };
            }
        }
        let position = AT_WORK.get();
        // SAFETY: what `again` points to was made before the handler was installed and is never freed, and no other
        // thread has it now; `execve`, `write`, `sigprocmask` and `_exit` are allowed in a handler.
        unsafe {
            let again = &*again;
            if position != NONE && again.inputs == Inputs::Files {
                write_position(again.position, position);
                // The signals that are blocked while they are handled would stay so in the new program.
                let mut all: libc::sigset_t = std::mem::zeroed();
                libc::sigfillset(&raw mut all);
                libc::sigprocmask(libc::SIG_UNBLOCK, &raw const all, ptr::null_mut());
                libc::execve(again.program, again.arguments, again.environment);
            }
            const TEXT: &str =
                "raceproof: a bug in raceproof ended the run (a stack overflow or an abort); please report it\n";
            libc::write(2, TEXT.as_ptr().cast(), TEXT.len());
            libc::_exit(EXIT_CODE);
        }
    }

    /// Writes the digits of a position and a comma; zeros follow.
    ///
    /// # Safety
    /// `to` points to [`POSITION_BYTES`] bytes that nothing else uses.
    unsafe fn write_position(to: *mut libc::c_char, position: usize) {
        let mut digits = [0_u8; 20];
        let mut length = 0;
        let mut rest = position;
        loop {
            digits[length] = b'0' + (rest % 10) as u8;
            length += 1;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        for at in 0..length {
            // SAFETY: 20 digits, a comma and a zero fit.
            unsafe { *to.add(at) = digits[length - 1 - at] as libc::c_char };
        }
        // SAFETY: as above.
        unsafe { *to.add(length) = b',' as libc::c_char };
    }
}
