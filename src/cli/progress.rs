//! How far a run has come, on standard error, on terminals only; and the end of the run on Ctrl-C.
//!
//! Who waits for more than a moment sees how many files are done and, once enough is done to tell, how long the rest may take,
//! with what has been under way for longest: the kernel and its stage. One slow file is shown by its kernel alone.
//!
//! Guarantees: nothing is drawn after [`Bar::finish`], nor where nobody sees it. Deliberately absent: what files cost
//! ([`estimate`](super::estimate)), what threads are at (`work::watched`).

use super::estimate::{Estimate, weight};
use super::interrupt::Interrupt;
use crate::driver::parallel::{Input, Progress, read};
use crate::work::watched::{AtWork, under_way};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Who has an answer sooner sees nothing else.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is drawn.
const REDRAWN: Duration = Duration::from_millis(200);

/// Shows how far the run is.
pub(super) struct Bar {
    state: Mutex<State>,
    interrupt: Interrupt,
}

/// What is known of the run.
struct State {
    start: Instant,
    is_over: bool,
    files: usize,
    done: Vec<PathBuf>,
    /// What is on the screen; nothing is until the first moment is over.
    drawn: Option<Drawn>,
}

/// What is on the screen.
struct Drawn {
    bar: ProgressBar,
    estimate: Estimate,
}

impl Bar {
    /// A bar for the inputs, hidden if nobody would see it.
    pub(super) fn new(inputs: &[Input], interrupt: Interrupt) -> Arc<Bar> {
        let bar = Bar::hidden(interrupt);
        locked(&bar.state).files = inputs.len();
        if stderr().is_terminal() {
            let (inputs, shown) = (inputs.to_vec(), Arc::clone(&bar));
            // Where there is no thread for it, it is not shown.
            let _ = thread::Builder::new().name("progress".to_owned()).spawn(move || shown.draw_until_over(&inputs));
        }
        bar
    }

    /// A bar that is never shown.
    pub(super) fn hidden(interrupt: Interrupt) -> Arc<Bar> {
        let state = State { start: Instant::now(), is_over: false, files: 0, done: Vec::new(), drawn: None };
        Arc::new(Bar { state: Mutex::new(state), interrupt })
    }

    /// Removes the bar from the screen.
    pub(super) fn finish(&self) {
        let mut state = locked(&self.state);
        state.is_over = true;
        if let Some(drawn) = state.drawn.take() {
            drawn.bar.finish_and_clear();
        }
    }

    fn draw_until_over(&self, inputs: &[Input]) {
        thread::sleep(PATIENCE);
        if locked(&self.state).is_over {
            return;
        }
        let estimate = Estimate::of(inputs.iter().map(|input| (input.path().to_path_buf(), weight_of(input))));
        loop {
            let mut state = locked(&self.state);
            if state.is_over {
                return;
            }
            if state.drawn.is_none() {
                state.drawn = Some(Drawn { bar: new_bar(state.files, &estimate), estimate: estimate.clone() });
            }
            state.draw();
            drop(state);
            thread::sleep(REDRAWN);
        }
    }
}

/// What a file weighs; one that cannot be read is told of elsewhere.
fn weight_of(input: &Input) -> u64 {
    match input {
        Input::File(path) => read(path).map_or(0, |bytes| weight(&bytes)),
        Input::Text(_, bytes) => weight(bytes),
    }
}

fn new_bar(files: usize, estimate: &Estimate) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(estimate.whole()), ProgressDrawTarget::stderr());
    let template = if files > 1 { "{bar:30} {wide_msg}" } else { "{wide_msg}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

impl State {
    fn draw(&mut self) {
        let Some(Drawn { bar, estimate }) = &mut self.drawn else { return };
        estimate.done(self.done.drain(..));
        let left = estimate.left(self.start.elapsed());
        bar.set_position(estimate.position());
        let mut parts = Vec::new();
        if self.files > 1 {
            let left = left.map_or_else(String::new, |left| format!(", {} left", duration(left)));
            parts.push(format!("{}/{} files{left}", estimate.count(), self.files));
        }
        parts.extend(under_way().first().map(at_work));
        bar.set_message(parts.join("  "));
    }
}

/// `reduce<256>: rules, 12 s`
fn at_work(work: &AtWork) -> String {
    // A name must not talk to the terminal.
    let name: String = work.subject.chars().filter(|c| !c.is_control()).collect();
    format!("{name}: {}, {}", work.stage.name(), duration(work.since.elapsed()))
}

/// `12 s`, `3 min`: nobody reads more than that off an estimate.
fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h", (seconds + 1_800) / 3_600),
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress for Bar {
    fn done(&self, path: &Path) {
        locked(&self.state).done.push(path.to_path_buf());
    }

    fn stops(&self) -> bool {
        self.interrupt.is_pressed()
    }
}
