//! One solver process: text in, text out, with a deadline.
//!
//! Writing and reading happen on threads of their own, so that neither a process that does not read nor one
//! that does not write keeps anyone waiting past the deadline. What it writes is bounded. Dropping a
//! [`Process`] kills it.

use crate::children::{self, Child};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

/// Bytes of one answer beyond which it is refused.
const MAX_ANSWER: usize = 4 << 20;
/// Chunks that may wait to be looked at: a process that floods is stopped by its own pipe.
const CHUNKS: usize = 16;

/// Why a process did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The deadline passed.
    Late,
    /// It ended.
    Died,
    /// It wrote without end.
    Flood,
}

/// A running solver.
#[derive(Debug)]
pub(super) struct Process {
    /// It ends with the process.
    _child: Child,
    input: Sender<String>,
    output: Receiver<Vec<u8>>,
    /// What was read beyond the last answer.
    rest: Vec<u8>,
    asked: u64,
}

impl Process {
    /// Starts `program`.
    pub(super) fn start(program: &Path, arguments: &[String]) -> std::io::Result<Process> {
        let mut command = Command::new(program);
        let (child, mut stdin, mut stdout) = children::start(command.args(arguments).stderr(Stdio::null()))?;
        let (input, texts) = mpsc::channel::<String>();
        std::thread::spawn(move || {
            for text in texts {
                if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let (chunks, output) = mpsc::sync_channel(CHUNKS);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read) = stdout.read(&mut buffer)
                && read > 0
                && chunks.send(buffer[..read].to_vec()).is_ok()
            {}
        });
        Ok(Process { _child: child, input, output, rest: Vec::new(), asked: 0 })
    }

    /// Sends text that gets no answer.
    pub(super) fn tell(&self, text: String) {
        // A process that has ended is noticed by the next question.
        let _ = self.input.send(text);
    }

    /// Sends `text` and waits for what is written in answer.
    /// `reads_ahead` is how much the program wants to have read before it looks at any of it.
    pub(super) fn ask(&mut self, mut text: String, reads_ahead: usize, deadline: Instant) -> Result<String, Silence> {
        self.asked += 1;
        let mark = format!("raceproof-{}", self.asked);
        text.push_str(&format!("(echo \"{mark}\")\n"));
        text.extend(std::iter::repeat_n('\n', reads_ahead));
        self.tell(text);
        loop {
            if let Some(end) = find(&self.rest, mark.as_bytes()) {
                let rest = self.rest.split_off(end + mark.len());
                let mut answer = std::mem::replace(&mut self.rest, rest);
                answer.truncate(end);
                // cvc5 echoes a string with its quotes, Z3 without.
                let answer = String::from_utf8_lossy(&answer);
                return Ok(answer.trim_matches(|c: char| c == '"' || c.is_whitespace()).to_owned());
            }
            if self.rest.len() > MAX_ANSWER {
                return Err(Silence::Flood);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => self.rest.extend(chunk),
                Err(RecvTimeoutError::Timeout) => return Err(Silence::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Died),
            }
        }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
