//! Building: from a protocol and a question to a condition.
//!
//! - [`conflict`]: two accesses touch a common byte; [`pairs`]: which two may. [`disagreement`]: threads disagree about
//!   reaching a sync. [`claim`]: a claim fails in one thread, or in two.
//! - [`facts`]: what holds for threads that reach a program point. [`meeting`]: syncs that were passed. [`groups`]: threads of
//!   one warp, or of two. [`tickets`]: numbers that were drawn.
//!
//! The order in which things are said decides what values are made of, and what a search finds: it is kept.

pub(in crate::prove::condition) mod claim;
pub(in crate::prove::condition) mod conflict;
pub(in crate::prove::condition) mod disagreement;
mod facts;
mod groups;
mod meeting;
pub(in crate::prove::condition) mod pairs;
mod tickets;
