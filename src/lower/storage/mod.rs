//! Where values live: targets of pointers, arrays and variables that objects are split into, and the accesses to them.
//!
//! Every object is a byte range of a target ([`facts::Target`]); a target has a home ([`home::Home`]), in variables or in an
//! array. What only shows while walking, such as that a local needs memory of its own, is a fact ([`facts::Facts`]).
//!
//! Deliberately absent: in which order accesses happen.

pub(super) mod access;
pub(super) mod allocate;
pub(super) mod facts;
pub(super) mod home;
pub(super) mod host_pointers;
pub(super) mod layout;
pub(super) mod memory;
pub(super) mod place;
pub(super) mod stored;
pub(super) mod windows;
