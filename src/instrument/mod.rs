//! Instrumentation; so far, the text that is put beside instrumented programs.

pub mod runtime;
