//! What threads are at, for people who wait: the kernel or file, and the stage.
//!
//! Each thread has a desk, on which it notes what it does; whoever shows progress looks at all desks at times. Nothing that
//! is noted decides anything.
//!
//! Guarantees: a note is put back when the work that it is about ends, also by a panic; noting costs no lock but the desk's
//! own. Deliberately absent: how it is shown.

use super::Stage;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// What a thread is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// The kernel or the file.
    pub subject: String,
    /// What is done with it.
    pub stage: Stage,
    /// Since when it is about that subject.
    pub since: Instant,
}

/// What a thread notes.
struct Desk {
    stage: AtomicUsize,
    subject: Mutex<Option<(String, Instant)>>,
}

/// The desks of all threads that have noted something.
static DESKS: Mutex<Vec<Weak<Desk>>> = Mutex::new(Vec::new());

thread_local! {
    static DESK: Arc<Desk> = {
        let desk = Arc::new(Desk { stage: AtomicUsize::new(Stage::Other as usize), subject: Mutex::new(None) });
        locked(&DESKS).push(Arc::downgrade(&desk));
        desk
    };
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work`, which is about `subject`.
pub fn at<R>(subject: &str, work: impl FnOnce() -> R) -> R {
    let _before = DESK.with(|desk| {
        let subject = locked(&desk.subject).replace((subject.to_owned(), Instant::now()));
        Before { subject, stage: desk.stage.swap(Stage::Other as usize, Ordering::Relaxed) }
    });
    work()
}

/// What was noted before.
struct Before {
    subject: Option<(String, Instant)>,
    stage: usize,
}

impl Drop for Before {
    fn drop(&mut self) {
        let subject = self.subject.take();
        // A thread that ends has no desk any more.
        let _ = DESK.try_with(|desk| {
            *locked(&desk.subject) = subject;
            desk.stage.store(self.stage, Ordering::Relaxed);
        });
    }
}

/// Notes the stage that this thread is in now.
pub(super) fn enters(stage: Stage) {
    let _ = DESK.try_with(|desk| desk.stage.store(stage as usize, Ordering::Relaxed));
}

/// What all threads are at, what is longest under way first.
pub fn under_way() -> Vec<AtWork> {
    let desks: Vec<Arc<Desk>> = {
        let mut desks = locked(&DESKS);
        desks.retain(|desk| desk.strong_count() > 0);
        desks.iter().filter_map(Weak::upgrade).collect()
    };
    let mut all: Vec<AtWork> = desks.iter().filter_map(|desk| noted(desk)).collect();
    all.sort_by(|one, other| (one.since, &one.subject).cmp(&(other.since, &other.subject)));
    all
}

fn noted(desk: &Desk) -> Option<AtWork> {
    let (subject, since) = locked(&desk.subject).clone()?;
    let stage = Stage::ALL.get(desk.stage.load(Ordering::Relaxed)).copied().unwrap_or(Stage::Other);
    Some(AtWork { subject, stage, since })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{during, measured};

    fn of(name: &str) -> Option<Stage> {
        under_way().into_iter().find(|it| it.subject == name).map(|it| it.stage)
    }

    #[test]
    fn the_kernel_and_its_stage_are_noted_and_put_back() {
        measured(|| {
            at("outer of watched", || {
                during(Stage::Rules, || {
                    assert_eq!(of("outer of watched"), Some(Stage::Rules));
                    at("inner of watched", || assert_eq!(of("inner of watched"), Some(Stage::Other)));
                    let _ = std::panic::catch_unwind(|| {
                        at("inner of watched", || -> () { std::panic::resume_unwind(Box::new(())) })
                    });
                    assert_eq!((of("inner of watched"), of("outer of watched")), (None, Some(Stage::Rules)));
                });
                assert_eq!(of("outer of watched"), Some(Stage::Other));
            });
        });
        assert_eq!(of("outer of watched"), None);
    }
}
