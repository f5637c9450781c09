//! Front ends: each turns text into the same `syntax::Unit`.

pub mod clang;
pub mod tree_sitter;
