//! Asking: questions that come up while a condition is built.
//!
//! - [`oracle`]: is this not negative? [`sameness`]: is this the same for both threads? [`sampling`]: is there a point at all?

pub(in crate::prove::condition) mod oracle;
pub(in crate::prove::condition) mod sameness;
pub(in crate::prove::condition) mod sampling;
