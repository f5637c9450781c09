//! The worker process: jobs from standard input, replies to standard output, until the input ends.
//!
//! A worker limits its own memory, runs libclang on a large stack, and does not survive a crash of it.
//! Its parent is [`super::pool`].

use super::library::Library;
use super::wire::{self, Greeting, Job, Reply};
use std::io;
use std::process::ExitCode;

/// The variable in which the parent passes the limit on the worker's memory, in bytes.
pub(super) const MEMORY_VARIABLE: &str = "RACEPROOF_WORKER_MEMORY";
/// libclang and its visitor recurse over the tree.
const STACK_BYTES: usize = 256 << 20;

/// Serves jobs until standard input ends.
pub fn serve() -> ExitCode {
    limit_memory();
    let work = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(converse);
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn converse() -> Result<(), wire::WireError> {
    let (mut from, mut to) = (io::stdin().lock(), io::BufWriter::new(io::stdout().lock()));
    let library = match Library::load() {
        Ok(library) => library,
        Err(why) => return wire::send(&mut to, &Greeting::Unusable(why.to_string())),
    };
    wire::send(&mut to, &Greeting::Ready(library.version.clone()))?;
    while let Some(job) = wire::receive::<Job>(&mut from)? {
        let reply = library.parse(&job).map_or_else(|why| Reply::Failed(why.to_string()), Reply::Parsed);
        wire::send(&mut to, &reply)?;
    }
    Ok(())
}

/// Best effort: systems without such limits still have the parent's deadline.
fn limit_memory() {
    let limit = std::env::var(MEMORY_VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
    #[cfg(unix)]
    if let Some(bytes) = limit {
        let _ = rlimit::setrlimit(rlimit::Resource::AS, bytes, bytes);
        // A crash is an answer; its core would only fill the disk.
        let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
    }
    #[cfg(not(unix))]
    let _: Option<u64> = limit;
}
