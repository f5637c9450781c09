//! Verdicts to findings; one page for each rule.

pub mod pages;
