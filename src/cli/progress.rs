//! A progress bar on standard error, on terminals only; and the end of the run on Ctrl-C.

use super::interrupt::Interrupt;
use crate::driver::parallel::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::path::Path;

/// Fewer files than this are done before a bar could be read.
const WORTH_A_BAR: usize = 8;

/// Shows how many of the files are done.
pub(super) struct Bar {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Bar {
    /// A bar for `total` files, hidden if nobody would see it.
    pub(super) fn new(total: usize, interrupt: Interrupt) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        if total >= WORTH_A_BAR && stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files, {eta} left  {wide_msg}") {
            bar.set_style(style);
        }
        Bar { bar, interrupt }
    }

    /// A bar that is never shown.
    pub(super) fn hidden(interrupt: Interrupt) -> Bar {
        Bar { bar: ProgressBar::hidden(), interrupt }
    }

    /// Removes the bar from the screen.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn done(&self, path: &Path) {
        // A file name must not talk to the terminal.
        let name: String = path.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
        self.bar.set_message(name);
        self.bar.inc(1);
    }

    fn stops(&self) -> bool {
        self.interrupt.is_pressed()
    }
}
