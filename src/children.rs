//! Child processes that answer questions, solvers and workers of libclang: none of them outlives this process.
//!
//! Guarantees: a [`Child`] that is dropped is killed and collected; [`end_all`] does the same with all that live, and lets
//! none be started any more, so that a process that is about to end leaves nothing behind, whatever its threads still do.
//!
//! Deliberately absent: what is said to them and how long they may take, which is up to their owners; programs of users, which
//! are groups of processes with an end of their own (`execute`).

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::process::{self, ChildStdin, ChildStdout, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that live.
static LIVING: Mutex<Living> = Mutex::new(Living { is_over: false, next: 0, children: BTreeMap::new() });

struct Living {
    is_over: bool,
    next: u64,
    children: BTreeMap<u64, process::Child>,
}

/// A child process.
#[derive(Debug)]
pub struct Child {
    number: u64,
}

/// Starts a command whose input and output are pipes.
pub fn start(command: &mut Command) -> Result<(Child, ChildStdin, ChildStdout)> {
    // Whoever starts one holds the lock, so that none comes up behind the back of `end_all`.
    let mut living = living();
    if living.is_over {
        return Err(Error::other("this process is about to end"));
    }
    let mut child = command.stdin(process::Stdio::piped()).stdout(process::Stdio::piped()).spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        end(child);
        return Err(Error::other("no pipes"));
    };
    let number = living.next;
    living.next += 1;
    living.children.insert(number, child);
    Ok((Child { number }, input, output))
}

/// Ends all that live; none can be started after that.
pub fn end_all() {
    let mut living = living();
    living.is_over = true;
    std::mem::take(&mut living.children).into_values().for_each(end);
}

fn living() -> MutexGuard<'static, Living> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// It may have ended by itself: then there is nothing to kill, and waiting returns at once.
fn end(mut child: process::Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Child {
    fn drop(&mut self) {
        let child = living().children.remove(&self.number);
        child.into_iter().for_each(end);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn who_is_dropped_is_killed() {
        let (child, _input, mut output) =
            start(Command::new("/bin/sh").args(["-c", "exec sleep 100"])).expect("a child");
        drop(child);
        // The pipe is closed where nobody is left who writes to it.
        let mut text = String::new();
        assert_eq!(output.read_to_string(&mut text).expect("text"), 0);
    }

    #[test]
    fn what_cannot_be_started_is_an_error() {
        assert!(start(&mut Command::new("/no/such/program")).is_err());
    }
}
