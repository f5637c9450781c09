//! Many launches of the same kernels, tried by one worker ([`tried`](super::tried)).
//!
//! Guarantees: a launch that crashes the driver, or does not end, costs the worker and nothing else: the next one has a new worker, with what the
//! driver keeps of its builds.
//!
//! Deliberately absent: which launches are worth a try.

use super::counts::{Counted, words};
use super::job::{self, Answer, Became, Launch, Offer, Try, Work};
use super::prepare::{self, Unit};
use super::{WORKER, cache_of_driver, in_user_lines};
use crate::execute::ExecuteError;
use crate::execute::launch::Description;
use crate::execute::process::{Ended, Server};
use crate::execute::program::Stop;
use crate::execute::scratch::Scratch;
use crate::instrument::opencl::Counts;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long a driver may take to build both texts.
const BUILD: Duration = Duration::from_secs(120);

/// Who tries launches of kernels.
#[derive(Debug)]
pub struct Trials<'u> {
    /// The kernels, in text that logs.
    logging: Unit<'u>,
    /// The same in text that counts.
    counting: Unit<'u>,
    scratch: &'u Scratch,
    worker: Option<Server>,
    tried: usize,
}

/// What became of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// It ran, touched nothing but its own memory, and counted this.
    Counted(Counted),
    /// It needs a buffer of the description, by number, to have so many bytes.
    Needs {
        /// The buffer.
        buffer: usize,
        /// The bytes.
        bytes: u64,
    },
    /// Nobody would keep it, for this reason.
    Failed(String),
}

impl<'u> Trials<'u> {
    /// Of the same kernels in text that logs and in text that counts. Nothing is started yet.
    pub fn new(logging: Unit<'u>, counting: Unit<'u>, scratch: &'u Scratch) -> Trials<'u> {
        Trials { logging, counting, scratch, worker: None, tried: 0 }
    }

    /// Starts a worker, if there is none, and waits until it has built the texts.
    pub fn start(&mut self, stop: Stop<'_>) -> Result<(), ExecuteError> {
        if self.worker.is_some() {
            return Ok(());
        }
        let device = |cause: &str| ExecuteError::Device { cause: cause.to_owned() };
        let Some(counts) = &self.counting.shared.counts else { return Err(device("the text does not count")) };
        let plain = prepare::options(&self.counting);
        let offer = Offer {
            texts: [self.logging.text.to_owned(), self.counting.text.to_owned()],
            // PoCL 3.1 computes something else where branches have counters.
            options: [plain.clone(), format!("{plain} -cl-opt-disable")],
            words: words(counts),
        };
        let path = self.scratch.path().join("trials");
        let answer = path.with_extension("answer");
        let _ = std::fs::remove_file(&answer);
        write(&path, &Work::Trials(offer))?;
        let program =
            std::env::current_exe().map_err(|cause| ExecuteError::Start { program: "raceproof".to_owned(), cause })?;
        let mut command = Command::new(program);
        command.arg(WORKER).arg(&path).stdout(Stdio::null()).stderr(Stdio::null());
        cache_of_driver(&mut command, self.scratch)?;
        let mut worker = Server::start(&mut command)?;
        if let Some(ended) = worker.wait_for(&answer, BUILD, stop)? {
            return Err(device(&format!("the driver does not build the kernels: {}", said(ended))));
        }
        match job::read(&answer).map_err(|cause| ExecuteError::Write { path: answer, cause })? {
            Answer::Ready => self.worker = Some(worker),
            Answer::NoDriver(cause) => return Err(ExecuteError::NoDriver { cause }),
            Answer::Refused(messages) => {
                return Err(ExecuteError::Compile { messages: in_user_lines(&messages), unsupported: Vec::new() });
            }
            Answer::Failed(cause) => return Err(ExecuteError::Device { cause }),
            Answer::Done => return Err(device("the worker ended before it had begun")),
        }
        Ok(())
    }

    /// Tries the first launch of a description.
    pub fn attempt(
        &mut self,
        described: &Description,
        timeout: Duration,
        stop: Stop<'_>,
    ) -> Result<Tried, ExecuteError> {
        let job = prepare::job(&self.counting, described, None, PathBuf::new())?;
        let Some(launch) = job.launches.into_iter().next() else { return Ok(Tried::Failed("no launch".to_owned())) };
        self.start(stop)?;
        let (Some(worker), Some(counts)) = (&mut self.worker, &self.counting.shared.counts) else {
            return Ok(Tried::Failed("no worker".to_owned()));
        };
        self.tried += 1;
        // Each has a path of its own, so that no answer is taken for another one's.
        let path = self.scratch.path().join(format!("try-{}", self.tried));
        let answer = path.with_extension("answer");
        let buffers = job.buffers.into_iter().map(|buffer| buffer.contents).collect();
        let given = Try { buffers, launch };
        write(&path, &given)?;
        worker.ask(&path.display().to_string());
        let ended = worker.wait_for(&answer, timeout, stop)?;
        let became = ended.is_none().then(|| job::read(&answer));
        for left in [&path, &answer] {
            let _ = std::fs::remove_file(left);
        }
        match (became, ended) {
            (Some(Ok(became)), _) => Ok(tried(became, &given.launch, counts)),
            (_, ended) => {
                self.worker = None;
                Ok(Tried::Failed(said(ended.unwrap_or(Ended::Exited(0)))))
            }
        }
    }
}

fn tried(became: Became, launch: &Launch, counts: &Counts) -> Tried {
    match became {
        Became::Counted(words) => {
            let mut counted = Counted::of(counts);
            counted.add((1, &launch.kernel), launch.extents, &words);
            match counted.agreements.iter().all(|agreement| *agreement == [0; 2]) {
                true => Tried::Counted(counted),
                false => Tried::Failed("barrier divergence".to_owned()),
            }
        }
        Became::Needs { buffer, bytes } => Tried::Needs { buffer, bytes },
        Became::Failed(why) => Tried::Failed(why),
    }
}

fn said(ended: Ended) -> String {
    match ended {
        Ended::Exited(status) => format!("exit status {status}"),
        Ended::Signalled(signal) => format!("signal {signal}"),
        Ended::TimedOut => "no end in time".to_owned(),
    }
}

fn write(path: &std::path::Path, message: &impl serde::Serialize) -> Result<(), ExecuteError> {
    job::write(path, message).map_err(|cause| ExecuteError::Write { path: path.to_path_buf(), cause })
}
