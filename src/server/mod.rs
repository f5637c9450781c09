//! The language server: what `check` says, in an editor, of texts as they are written.
//!
//! ```text
//!  editor ── requests, texts ──► session ── jobs ──► analyst    (one text after the other, the newest first)
//!         ◄── answers, findings ──  ▲   ── jobs ──► answers    (what a hover or an action needs beside the verdicts)
//!                                   │   ── files ─► workspace  (all files of the project, in the background)
//!                                   └──── events ──────┘
//! ```
//!
//! - [`session`]: the loop that hears the editor and the others, and holds all state.
//! - [`client`]: what the editor knows and wants.
//! - [`texts`]: open texts and their edits; [`positions`], [`uri`]: places in the editor's terms.
//! - [`analyst`]: checks what was written last, and leaves what nobody waits for any more.
//! - [`workspace`]: checks the files of the project.
//! - [`findings`], [`hover`], [`actions`], [`lenses`], [`hints`]: what is said, as the protocol has it. They know no state.
//!
//! Guarantees: what is shown of a text once it rests is what `check` says of it. Nothing that is read is executed. A text on which
//! raceproof fails is told, and costs the others nothing.
//!
//! Deliberately absent: how texts are checked (`driver`), what was typed (`cli`), and editors, which `editors/` has files for.

mod actions;
mod analyst;
mod client;
mod commands;
mod findings;
mod hints;
mod hover;
mod lenses;
mod pages;
mod positions;
mod session;
mod texts;
mod uri;
mod workspace;

use crate::driver::options::Options;
use crate::driver::parallel::Group;
use lsp_server::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How files are checked, as it is now: it is asked for anew when files have changed.
pub trait Configuration: Send + Sync {
    /// The options for a text.
    ///
    /// # Errors
    /// Settings cannot be used.
    fn of_text(&self, path: &Path) -> Result<Options, Unfit>;

    /// The files of directories, with the options for them.
    ///
    /// # Errors
    /// Settings cannot be used.
    fn of_project(&self, roots: &[PathBuf]) -> Result<Vec<Group>, Unfit>;
}

/// Settings that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

/// Why a session ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The editor said something that the protocol has no place for.
    #[error("the editor does not keep to the protocol: {0}")]
    Protocol(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The editor closed the connection without the end that the protocol has.
    #[error("the editor is gone")]
    Gone,
}

/// Serves the editor at the other end of standard input and output, until it says that this is over.
///
/// # Errors
/// The editor breaks the protocol, or is gone.
pub fn serve(configuration: &Arc<dyn Configuration>) -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    let outcome = session::run(&connection, configuration);
    drop(connection);
    // Whoever is gone cannot be waited for.
    if outcome.is_ok() {
        threads.join()?;
    }
    outcome
}
