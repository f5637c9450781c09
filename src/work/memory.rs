//! Memory: how much of it the process holds, for which of its tasks, and a bound on it.
//!
//! [`Counting`] is the allocator of the program, which counts what is allocated and freed. A *task* is the analysis of one input
//! with all its parts, on whatever threads they are done ([`task`], [`at_work`], [`working_for`]); memory that a thread allocates
//! is held by the task that it works for. Once the process holds more than it may ([`bounded`]), whoever allocates looks
//! ([`look`]) and the task that holds most ends by unwinding: it is *set aside*, to be done once more when no other is under
//! way. What is too large for the bound then, too, is [`TooMuch`].
//!
//! Guarantees: no bound, no unwinding. Of several tasks that are under way, one is set aside at a time. What is too much is
//! found while nothing else is under way, on one thread, so that it hangs neither on the order of tasks nor on their number.
//!
//! Deliberately absent: what is allocated without the allocator (stacks, code), and child processes, which have limits of their
//! own. Counts are those of what was asked for, in steps of [`STEP`]; for what the allocator below keeps, and for what is allocated
//! until somebody looks, a quarter of the bound is left.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Bytes that a thread may have allocated before they are counted: counting costs a write to memory that all threads share.
const STEP: isize = 256 << 10;

/// Tasks that can be under way at once; further ones hold nothing of their own.
const TASKS: usize = 256;

/// Bytes that the process holds.
static HELD: AtomicIsize = AtomicIsize::new(0);
/// Bytes that it may hold.
static BOUND: AtomicIsize = AtomicIsize::new(isize::MAX);
/// Bytes beyond which tasks end.
static END: AtomicIsize = AtomicIsize::new(isize::MAX);
/// Whether it holds more, or a task is to be left: what all threads look at.
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Tasks that are to be left.
static LEFT: AtomicUsize = AtomicUsize::new(0);
/// Whether each task is to be left.
static IS_LEFT: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];
/// Whether one task alone is under way.
static IS_ALONE: AtomicBool = AtomicBool::new(false);
/// The task that is being set aside, or [`NONE`].
static LEAVING: AtomicUsize = AtomicUsize::new(NONE);
/// Bytes that each task holds.
static OF_TASKS: [AtomicIsize; TASKS] = [const { AtomicIsize::new(0) }; TASKS];
/// Whether a number is that of a task which is under way.
static TAKEN: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];

/// No task.
const NONE: usize = usize::MAX;

thread_local! {
    /// What this thread has allocated, less what it has freed, since it was counted last.
    static UNCOUNTED: Cell<isize> = const { Cell::new(0) };
    /// The task that this thread works for.
    static TASK: Cell<usize> = const { Cell::new(NONE) };
}

/// An allocator that counts.
#[derive(Debug)]
pub struct Counting<A>(pub A);

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait; each call is handed on as it came")]
// SAFETY: the allocator below does what the trait asks; what is counted beside it allocates nothing and does not unwind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { self.0.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { self.0.realloc(place, layout, size) }
    }
}

#[inline]
fn count(allocated: usize, freed: usize) {
    // Sizes of layouts are at most `isize::MAX`.
    let change = allocated.cast_signed() - freed.cast_signed();
    // A thread that ends allocates and frees, too, when its variables are gone.
    let _ = UNCOUNTED.try_with(|uncounted| {
        let now = uncounted.get() + change;
        uncounted.set(now);
        if now.abs() >= STEP {
            settle();
        }
    });
}

/// Counts what this thread has allocated and freed.
#[cold]
fn settle() {
    let _ = UNCOUNTED.try_with(|uncounted| {
        let change = uncounted.replace(0);
        let held = HELD.fetch_add(change, Relaxed) + change;
        if let Some(of_task) = TASK.try_with(Cell::get).ok().and_then(|task| OF_TASKS.get(task)) {
            of_task.fetch_add(change, Relaxed);
        }
        let is_over = held > END.load(Relaxed) || LEFT.load(Relaxed) > 0;
        // Only what changes is written: all threads read it.
        if is_over != IS_OVER.load(Relaxed) {
            IS_OVER.store(is_over, Relaxed);
        }
    });
}

/// From now on the process may hold so many bytes; as many as it likes without a number.
pub fn bounded(bytes: Option<usize>) {
    let bytes = bytes.and_then(|bytes| isize::try_from(bytes).ok()).unwrap_or(isize::MAX);
    BOUND.store(bytes, Relaxed);
    END.store(if bytes == isize::MAX { bytes } else { bytes / 4 * 3 }, Relaxed);
    settle();
}

/// The number of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(usize);

/// The task that this thread works for.
pub fn at_work() -> Task {
    Task(TASK.get())
}

/// Does `work`, which is a part of a task.
pub fn working_for<R>(task: Task, work: impl FnOnce() -> R) -> R {
    settle();
    let _before = Before(TASK.replace(task.0));
    work()
}

/// The task of what waits on this thread, which is come back to after a panic, too.
struct Before(usize);

impl Drop for Before {
    fn drop(&mut self) {
        settle();
        TASK.set(self.0);
    }
}

/// A task was set aside: it is to be done again, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more memory than there is beside other work")]
pub struct SetAside;

/// What was under way needs more memory than the process may hold, by itself, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it needs more memory than the {} MiB that there may be", .bound >> 20)]
pub struct TooMuch {
    /// Bytes that the process may hold.
    bound: isize,
}

/// Does `work` as a task beside others.
pub fn task<R>(work: impl FnOnce() -> R) -> Result<R, SetAside> {
    let free = (0..TASKS).find(|&number| TAKEN[number].compare_exchange(false, true, Relaxed, Relaxed).is_ok());
    let Some(number) = free else { return Ok(work()) };
    settle();
    OF_TASKS[number].store(0, Relaxed);
    let outcome = working_for(Task(number), || catch_unwind(AssertUnwindSafe(work)));
    if IS_LEFT[number].swap(false, Relaxed) {
        LEFT.fetch_sub(1, Relaxed);
        settle();
    }
    TAKEN[number].store(false, Relaxed);
    let _ = LEAVING.compare_exchange(number, NONE, Relaxed, Relaxed);
    outcome.or_else(|panic| if panic.is::<SetAside>() { Err(SetAside) } else { resume_unwind(panic) })
}

/// Ends a task that is under way, as soon as it looks, as if it were set aside. Whoever says so knows that it has not ended: numbers
/// of tasks are given again.
pub fn leave(task: Task) {
    if IS_LEFT.get(task.0).is_some_and(|is_left| !is_left.swap(true, Relaxed)) {
        LEFT.fetch_add(1, Relaxed);
        IS_OVER.store(true, Relaxed);
    }
}

/// Does `work` as the only task: what it cannot do within the bound is too much.
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    /// Others may be under way again, after a panic, too.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_ALONE.store(false, Relaxed);
        }
    }
    IS_ALONE.store(true, Relaxed);
    let _end = End;
    work()
}

/// Looks whether this thread works for a task that is to end, and ends it. For whoever is about to allocate what stays.
#[inline]
pub fn look() {
    if IS_OVER.load(Relaxed) {
        end_what_is_too_much();
    }
}

#[cold]
fn end_what_is_too_much() {
    if let Some(ending) = ending() {
        ending.end();
    }
}

/// That a task is to end: for who cannot be unwound, and has to come to an end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    is_alone: bool,
}

impl Ending {
    /// Ends the task.
    pub fn end(self) -> ! {
        if self.is_alone {
            resume_unwind(Box::new(TooMuch { bound: BOUND.load(Relaxed) }))
        } else {
            resume_unwind(Box::new(SetAside))
        }
    }
}

/// Whether the task that this thread works for is to end.
pub fn ending() -> Option<Ending> {
    let task = TASK.get();
    // Who unwinds already frees what it holds.
    if task == NONE || thread::panicking() {
        return None;
    }
    if IS_LEFT[task].load(Relaxed) {
        return Some(Ending { is_alone: false });
    }
    settle();
    if HELD.load(Relaxed) <= END.load(Relaxed) {
        return None;
    }
    if IS_ALONE.load(Relaxed) {
        return Some(Ending { is_alone: true });
    }
    let of = |task: &usize| OF_TASKS[*task].load(Relaxed);
    let largest = (0..TASKS).filter(|&task| TAKEN[task].load(Relaxed)).max_by_key(of).unwrap_or(task);
    let _ = LEAVING.compare_exchange(NONE, largest, Relaxed, Relaxed);
    (LEAVING.load(Relaxed) == task).then_some(Ending { is_alone: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    #[test]
    fn a_task_that_is_left_ends_and_the_next_one_of_its_number_does_not() {
        let (tell, told) = channel();
        let work = thread::spawn(move || {
            let outcome = task(|| {
                tell.send(at_work()).unwrap();
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_secs(60) {
                    look();
                }
            });
            (outcome, task(look))
        });
        leave(told.recv().unwrap());
        assert_eq!(work.join().unwrap(), (Err(SetAside), Ok(())));
    }
}
