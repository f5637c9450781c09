//! Front ends: each turns text into the same `syntax::Unit`.

mod account;
pub mod clang;
pub mod mentions;
pub mod tree_sitter;
