//! Tests of lowering from source text.
