//! What is wrong with a launch description, and where.

use super::element::{Number, Scalar};
use crate::source::LineColumn;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// What is wrong, with the file, the line and the key.
#[derive(Clone, Debug, PartialEq, Error)]
pub struct DescriptionError {
    /// The description.
    pub path: PathBuf,
    /// Where in it.
    pub place: Option<LineColumn>,
    /// The key, with those that it is below: `launch.arguments.n`. Empty if it is about the whole file.
    pub key: String,
    /// What; in a box, so that results that may be errors stay small.
    pub problem: Box<Problem>,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(place) = self.place {
            write!(f, "{}:{}:", place.line, place.column)?;
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.problem)
    }
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Unreadable(String),
    /// It is not TOML.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// A key that means nothing.
    #[error("unknown key{}; known here: {}", suggested(.suggestion.as_deref()), .known.join(", "))]
    UnknownKey {
        /// The key that may be meant.
        suggestion: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What should be there.
        expected: String,
        /// What is.
        found: String,
    },
    /// A key that must be there is not.
    #[error("missing; write {0}")]
    Missing(String),
    /// Two things have one name.
    #[error("there are two of that name")]
    Twice,
    /// A buffer that is not described.
    #[error("there is no buffer `{name}`{}", suggested(.suggestion.as_deref()))]
    UnknownBuffer {
        /// What is asked for.
        name: String,
        /// What may be meant.
        suggestion: Option<String>,
    },
    /// A type that elements cannot have.
    #[error("`{name}` is no type of elements{}; there are char, short, int, long, float, double, their unsigned forms, \
             bool, half, size_t, uint8_t and the like, and vectors as float4", suggested(.suggestion.as_deref()))]
    UnknownType {
        /// What is asked for.
        name: String,
        /// What may be meant.
        suggestion: Option<String>,
    },
    /// A kernel that the program does not have.
    #[error("there is no kernel `{name}`{}; there are: {}", suggested(.suggestion.as_deref()), list_or_none(.known))]
    UnknownKernel {
        /// What is asked for.
        name: String,
        /// What may be meant.
        suggestion: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
    /// An argument for a parameter that the kernel does not have.
    #[error("{kernel} has no such parameter{}; it has: {}", suggested(.suggestion.as_deref()), list_or_none(.known))]
    UnknownParameter {
        /// The kernel.
        kernel: String,
        /// What may be meant.
        suggestion: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
    /// A member that a struct does not have.
    #[error("{record} has no such member{}; it has: {}", suggested(.suggestion.as_deref()), list_or_none(.known))]
    UnknownMember {
        /// The struct.
        record: String,
        /// What may be meant.
        suggestion: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
    /// A parameter of a type that no description can give.
    #[error("the parameter `{parameter}` of {kernel} is {what}, which a launch description cannot give")]
    Ungivable {
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// What it is.
        what: String,
    },
    /// A number that does not fit.
    #[error("{value} is no value of type {element}{}{}", range(*.holds), parameter_of(.kernel.as_deref()))]
    NoSuchValue {
        /// The number.
        value: String,
        /// The type.
        element: String,
        /// The least and the greatest value of the type, if it is one of whole numbers.
        holds: Option<(i128, i128)>,
        /// The kernel, if it is given to one.
        kernel: Option<String>,
    },
    /// A file of NumPy's that does not fit.
    #[error("{}: {cause}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Problem {
    /// That a number is no value of a type.
    pub(crate) fn no_value(number: Number, scalar: Scalar) -> Problem {
        let (value, element) = (number.to_string(), scalar.to_string());
        Problem::NoSuchValue { value, element, holds: scalar.range(), kernel: None }
    }

    /// The same problem, of what a kernel is given.
    pub(crate) fn of_kernel(mut self, name: &str) -> Problem {
        if let Problem::NoSuchValue { kernel, .. } = &mut self {
            *kernel = Some(name.to_owned());
        }
        self
    }
}

fn range(holds: Option<(i128, i128)>) -> String {
    holds.map_or_else(String::new, |(least, most)| format!(", which holds {least} to {most}"))
}

fn parameter_of(kernel: Option<&str>) -> String {
    kernel.map_or_else(String::new, |kernel| format!(" (a parameter of {kernel})"))
}

fn suggested(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn list_or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
