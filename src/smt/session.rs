//! A stack of assertions and the process that is asked about it.
//!
//! The stack lives here; the process is told what it has not heard yet when a question is asked. So a process
//! that had to be killed is replaced by one that is told everything, and the caller does not notice other than
//! by one answer [`Answer::Unknown`].

use super::find::Solver;
use super::print::{self, Said};
use super::process::{Process, Silence};
use super::sexpr;
use super::terms::{TermId, Terms};
use super::{SolverKind, Value};
use crate::source::dependencies::a_clock_decides;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

/// Processes that may fail one session before no more are started.
const MAX_FAILURES: u32 = 3;

/// How much one question may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The solver's own counter, in Z3's units: about three million a second.
    pub resources: u64,
    /// The net.
    pub deadline: Instant,
}

/// What a question came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The assertions hold together, says the solver.
    Sat,
    /// They do not.
    Unsat,
    /// It is not known.
    Unknown(Trouble),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It could not be started.
    #[error("{solver} could not be started: {cause}")]
    NotStarted {
        /// Its name.
        solver: &'static str,
        /// What the system said.
        cause: String,
    },
    /// It ended before it answered.
    #[error("{0} ended before it answered")]
    Died(&'static str),
    /// It did not answer in time.
    #[error("{0} did not answer in time")]
    Late(&'static str),
    /// It answered something that is no answer.
    #[error("{solver} answered `{text}`, which is no answer")]
    Garbage {
        /// Its name.
        solver: &'static str,
        /// What it wrote, shortened.
        text: String,
    },
    /// It gave up.
    #[error("{0} gave up")]
    GaveUp(&'static str),
    /// It failed too often.
    #[error("{0} failed too often")]
    Abandoned(&'static str),
}

/// What solvers have answered before, to questions by their whole text.
///
/// A question stands for all that decides its answer but for the solver's version, which whoever keeps answers must keep
/// apart. What a clock or a failure decided is no answer, and is never handed over.
pub trait Memory: Debug + Send + Sync {
    /// The answer to `question`, if it is there.
    fn known(&self, question: &str) -> Option<Answer>;
    /// Takes an answer that it did not know.
    fn remember(&self, question: &str, answer: &Answer);
}

#[derive(Debug, Default)]
struct Frame {
    text: String,
    /// How much of the text the process has heard.
    heard: usize,
    /// Terms and functions that got a name in this frame.
    named: Vec<TermId>,
    functions: Vec<usize>,
}

/// A stack of assertions about terms of one table, and a solver.
#[derive(Debug)]
pub struct Session {
    solver: Solver,
    process: Option<Process>,
    /// Frames that the process has opened.
    opened: usize,
    frames: Vec<Frame>,
    said: Said,
    failures: u32,
    resources: u64,
    memory: Option<Arc<dyn Memory>>,
    /// Set while the last answer was remembered: its limits. The process has not heard the question.
    remembered: Option<Limits>,
}

impl Session {
    /// A session without assertions; nothing is started yet.
    pub fn new(solver: Solver) -> Self {
        Session {
            solver,
            process: None,
            opened: 0,
            frames: vec![Frame::default()],
            said: Said::default(),
            failures: 0,
            resources: 0,
            memory: None,
            remembered: None,
        }
    }

    /// The same session, which does not ask what `memory` knows.
    pub fn with_memory(self, memory: Arc<dyn Memory>) -> Self {
        Session { memory: Some(memory), ..self }
    }

    /// Which solver is asked.
    pub fn kind(&self) -> SolverKind {
        self.solver.kind
    }

    /// Forgets all assertions and all failures; terms may be of another table from now on.
    ///
    /// The process is told to forget as well, so that answers do not depend on what was asked before.
    pub fn reset(&mut self) {
        if let Some(process) = &self.process {
            process.tell("(reset)\n".to_owned() + self.solver.kind.prelude());
        }
        self.frames = vec![Frame::default()];
        self.opened = 1;
        self.said = Said::default();
        self.failures = 0;
    }

    /// Opens a frame.
    pub fn push(&mut self) {
        self.frames.push(Frame::default());
    }

    /// Drops the last frame and all that was asserted in it.
    pub fn pop(&mut self) {
        debug_assert!(self.frames.len() > 1, "pop without push");
        if let Some(frame) = self.frames.pop() {
            self.said.forget(&frame.named, &frame.functions);
        }
        if self.opened > self.frames.len() {
            self.opened = self.frames.len();
            if let Some(process) = &self.process {
                process.tell("(pop 1)\n".to_owned());
            }
        }
    }

    /// Asserts a boolean term.
    pub fn assert(&mut self, terms: &Terms, id: TermId) {
        let written = print::write(terms, &[id], &mut self.said);
        if let Some(frame) = self.frames.last_mut() {
            frame.text.push_str(&written.prelude);
            frame.text.push_str(&format!("(assert {})\n", written.roots[0]));
            frame.named.extend(written.named);
            frame.functions.extend(written.functions);
        }
    }

    /// The whole stack as text, for people and for running it by hand.
    pub fn script(&self) -> String {
        let frames: Vec<&str> = self.frames.iter().map(|frame| frame.text.as_str()).collect();
        format!("{}{}(check-sat)\n", self.solver.kind.prelude(), frames.join("(push 1)\n"))
    }

    /// Asks whether the assertions hold together.
    pub fn check(&mut self, limits: Limits) -> Answer {
        let Some(memory) = self.memory.clone() else { return self.check_by_process(limits) };
        let question = format!("{} {}\n{}", self.solver.kind.name(), limits.resources, self.script());
        let known = memory.known(&question);
        self.remembered = known.as_ref().map(|_| limits);
        known.unwrap_or_else(|| {
            let answer = self.check_by_process(limits);
            if matches!(answer, Answer::Sat | Answer::Unsat | Answer::Unknown(Trouble::GaveUp(_))) {
                memory.remember(&question, &answer);
            }
            answer
        })
    }

    fn check_by_process(&mut self, limits: Limits) -> Answer {
        let name = self.solver.kind.name();
        if self.failures >= MAX_FAILURES {
            return Answer::Unknown(Trouble::Abandoned(name));
        }
        let mut text = match self.unheard(limits.resources) {
            Ok(text) => text,
            Err(trouble) => return Answer::Unknown(trouble),
        };
        text.push_str(&self.solver.kind.limit(limits.resources));
        text.push_str("(check-sat)\n");
        match self.ask(text, limits.deadline) {
            Ok(answer) => match answer.as_str() {
                "sat" => Answer::Sat,
                "unsat" => Answer::Unsat,
                "unknown" | "timeout" => Answer::Unknown(Trouble::GaveUp(name)),
                other => Answer::Unknown(self.fail(garbage(name, other))),
            },
            Err(trouble) => Answer::Unknown(trouble),
        }
    }

    /// Values of terms in the model of the last [`Answer::Sat`]; nothing may have been asserted since. A term
    /// that no assertion mentions has none.
    pub fn values(
        &mut self,
        terms: &Terms,
        wanted: &[TermId],
        deadline: Instant,
    ) -> Result<Vec<Option<Value>>, Trouble> {
        let name = self.solver.kind.name();
        let names: Vec<Option<String>> = wanted.iter().map(|&id| self.said.name(terms, id)).collect();
        let asked: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        if asked.is_empty() {
            return Ok(vec![None; wanted.len()]);
        }
        // Only a process that was asked has a model.
        if let Some(limits) = self.remembered.take()
            && let Answer::Unknown(trouble) = self.check_by_process(Limits { deadline, ..limits })
        {
            return Err(trouble);
        }
        let answer = self.ask(format!("(get-value ({}))\n", asked.join(" ")), deadline)?;
        match sexpr::values(&answer) {
            Some(values) if values.len() == asked.len() => {
                let mut values = values.into_iter();
                Ok(names.iter().map(|name| name.as_ref().and_then(|_| values.next())).collect())
            }
            _ => Err(self.fail(garbage(name, &answer))),
        }
    }

    /// What the process has to hear before the next question; starts one if there is none.
    fn unheard(&mut self, resources: u64) -> Result<String, Trouble> {
        let mut text = String::new();
        let limited_at_start = self.solver.kind.limit_argument(1).is_some();
        if limited_at_start && self.resources != resources {
            self.process = None;
        }
        if self.process.is_none() {
            self.start(resources)?;
            text.push_str(self.solver.kind.prelude());
            self.frames.iter_mut().for_each(|frame| frame.heard = 0);
            self.opened = 1;
        }
        let open = self.opened;
        for (depth, frame) in self.frames.iter_mut().enumerate() {
            if depth >= open {
                text.push_str("(push 1)\n");
            }
            text.push_str(&frame.text[frame.heard..]);
            frame.heard = frame.text.len();
        }
        self.opened = self.frames.len();
        Ok(text)
    }

    fn start(&mut self, resources: u64) -> Result<(), Trouble> {
        let kind = self.solver.kind;
        let mut arguments: Vec<String> = kind.limit_argument(resources).into_iter().collect();
        arguments.extend(kind.arguments().iter().map(|&argument| argument.to_owned()));
        self.resources = resources;
        match Process::start(&self.solver.program, &arguments) {
            Ok(process) => self.process = Some(process),
            Err(cause) => {
                return Err(self.fail(Trouble::NotStarted { solver: kind.name(), cause: cause.to_string() }));
            }
        }
        Ok(())
    }

    fn ask(&mut self, text: String, deadline: Instant) -> Result<String, Trouble> {
        let name = self.solver.kind.name();
        let Some(process) = &mut self.process else { return Err(Trouble::Died(name)) };
        process.ask(text, self.solver.kind.reads_ahead(), deadline).map_err(|silence| {
            self.fail(match silence {
                Silence::Late => {
                    a_clock_decides();
                    Trouble::Late(name)
                }
                // Of memory that others took, perhaps.
                Silence::Died => {
                    a_clock_decides();
                    Trouble::Died(name)
                }
                Silence::Flood => garbage(name, "…"),
            })
        })
    }

    /// Ends the process, which cannot be relied on any more.
    fn fail(&mut self, trouble: Trouble) -> Trouble {
        self.process = None;
        self.failures += 1;
        trouble
    }
}

fn garbage(solver: &'static str, text: &str) -> Trouble {
    let mut short: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Trouble::Garbage { solver, text: short }
}
