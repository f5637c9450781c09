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
//! - [`client`]: what the editor knows and wants; [`configuration`]: how files are checked, which whoever serves knows.
//! - [`texts`]: open texts and their edits; [`positions`], [`uri`]: places in the editor's terms.
//! - [`analyst`]: checks what was written last, and leaves what nobody waits for any more.
//! - [`workspace`]: checks the files of the project.
//! - [`documents`], [`project`]: what is known; [`workers`]: who finds out.
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
mod configuration;
mod documents;
mod findings;
mod hints;
mod hover;
mod lenses;
mod pages;
mod positions;
mod project;
mod session;
mod texts;
mod uri;
mod workers;
mod workspace;

pub use configuration::{Configuration, Unfit};
pub use session::ServeError;

use lsp_server::Connection;
use std::sync::Arc;

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
