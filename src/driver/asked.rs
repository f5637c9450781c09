//! Kernels that are asked for by name: which are meant, and what is said where there is none of that name.
//!
//! Deliberately absent: who asks. Launch descriptions have their own words (`execute/launch/error.rs`).

use crate::source::spelling::nearest;
use std::fmt;

/// Whether a kernel is meant by `wanted`, which may leave out namespaces.
pub fn is_named(name: &str, wanted: &str) -> bool {
    name == wanted || name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with("::"))
}

/// `; did you mean …?`, behind what is said of a name.
pub fn suggestion<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Who leaves out the namespace mistypes what is left.
    let names = known.flat_map(|name| [name, name.rsplit("::").next().unwrap_or(name)]);
    // One of another file that has the very name is not what was mistyped.
    let others = names.filter(|name| *name != wanted);
    nearest(wanted, others).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

/// That no kernel has the name that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct NoKernel {
    wanted: String,
    place: String,
    suggestion: String,
}

impl NoKernel {
    /// What is said where `wanted` was sought at a place (`in a.cu`) whose kernels are `known`.
    pub fn new<'a>(wanted: &str, place: &str, known: impl Iterator<Item = &'a str>) -> NoKernel {
        NoKernel { wanted: wanted.to_owned(), place: place.to_owned(), suggestion: suggestion(wanted, known) }
    }
}

impl std::error::Error for NoKernel {}

impl fmt::Display for NoKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no kernel named `{}` {}{}", self.wanted, self.place, self.suggestion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_may_be_named_without_their_namespace() {
        assert!(is_named("a::b::k", "k") && is_named("a::b::k", "b::k") && is_named("k", "k"));
        assert!(!is_named("a::bk", "k") && !is_named("k", "a::k"));
    }

    #[test]
    fn what_is_near_is_named_with_or_without_its_namespace() {
        let said = |wanted: &str| NoKernel::new(wanted, "in a.cu", ["math::saxpy", "reduce"].into_iter()).to_string();
        assert_eq!(said("saxpi"), "no kernel named `saxpi` in a.cu; did you mean `saxpy`?");
        assert_eq!(said("maths::saxpy"), "no kernel named `maths::saxpy` in a.cu; did you mean `math::saxpy`?");
        assert_eq!(said("transpose"), "no kernel named `transpose` in a.cu");
    }
}
