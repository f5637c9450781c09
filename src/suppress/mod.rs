//! What users do not want to be told of: comments in the text that suppress findings.
//!
//! - [`comment`]: what a comment says.
//! - [`scan`]: the comments of a text, and what each is about.
//! - [`apply`]: which findings they reach.
//! - [`baseline`]: findings that a tree has today.
//! - [`rules`]: what settings make of rules.
//! - [`told`]: what is wrong with a comment, and which of them suppress nothing.
//!
//! Guarantees: no verdict changes, and no finding is lost: what is suppressed stays in the report with the comment that does it.
//! A comment without a reason suppresses nothing. Of a comment is said that it suppresses nothing only where all that it could
//! be about was judged.
//!
//! Deliberately absent: how findings are made, and how a report looks.

mod apply;
pub mod baseline;
mod comment;
pub mod rules;
mod scan;
mod told;

pub use apply::{hide, regroup};
pub use scan::comments;
pub use told::{Judged, tell};
