//! What parent and worker say to each other: jobs and replies, each a frame of its length and its bytes.
//!
//! A reply is the flat list of the cursors that libclang sees, in the order in which it visits them, and its
//! error messages; places are byte offsets into the text of the job. Nothing in a reply is trusted: a frame
//! that is too long or does not decode is an error, and offsets are checked where they are used.

use crate::syntax::Shape;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};

/// Longer frames are garbage.
const MAX_FRAME: u32 = 512 << 20;

/// A text to parse.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Job {
    /// Arguments of the compiler.
    pub(super) arguments: Vec<String>,
    /// The whole text, declarations of our own first.
    pub(super) text: String,
    /// Where the user's text starts; nothing before it is answered.
    pub(super) from: u32,
}

/// The worker's first word.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Greeting {
    /// libclang is loaded; its version as it names itself.
    Ready(String),
    /// It cannot be used: why.
    Unusable(String),
}

/// The answer to a job.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Reply {
    /// What libclang saw.
    Parsed(Parsed),
    /// It gave nothing: why.
    Failed(String),
}

/// What libclang saw.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Parsed {
    /// Cursors in pre-order, those before [`Job::from`] and mere references apart.
    pub(super) cursors: Vec<Cursor>,
    /// Errors in the order in which they were met.
    pub(super) errors: Vec<Fault>,
    /// The types of variables, parameters and fields.
    pub(super) types: Vec<Typed>,
    /// The values of enumerators and of constant variables.
    pub(super) values: Vec<Valued>,
    /// The functions that calls are of, where nothing is decided while the program runs.
    pub(super) calls: Vec<Called>,
}

/// The value of what is declared at a place.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Valued {
    /// Where its name stands.
    pub(super) at: u32,
    /// The value, with a sign if its type has one.
    pub(super) value: i64,
}

/// A call and its function.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Called {
    /// First byte of the call.
    pub(super) start: u32,
    /// One past the last byte.
    pub(super) end: u32,
    /// Where the function is declared.
    pub(super) declared: u32,
    /// Where it is defined, or declared if no definition is known.
    pub(super) defined: u32,
    /// Whether it constructs an object from another one of its class.
    pub(super) copies: bool,
}

/// The type of what is declared at a place.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Typed {
    /// Where its name stands.
    pub(super) at: u32,
    /// The type.
    pub(super) shape: Shape,
}

/// One cursor.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Cursor {
    /// What it is.
    pub(super) kind: Kind,
    /// First byte.
    pub(super) start: u32,
    /// One past the last byte.
    pub(super) end: u32,
    /// Where libclang would point: the name of a declaration.
    pub(super) at: u32,
}

/// An error message.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Fault {
    /// Where it points.
    pub(super) at: u32,
    /// What it says.
    pub(super) message: String,
}

/// The sorts of cursors that conversion tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Kind {
    /// A function or a function template.
    Function,
    /// A method.
    Method,
    /// A constructor.
    Constructor,
    /// A destructor.
    Destructor,
    /// `operator T`.
    Conversion,
    /// A variable, a field or a parameter.
    Variable,
    /// Any other declaration.
    Declaration,
    /// A declaration statement.
    DeclarationStatement,
    /// `for (x : xs)`
    RangeFor,
    /// Any other statement.
    Statement,
    /// An expression that libclang does not name: often an implicit conversion around another.
    Unexposed,
    /// A call, written or implicit.
    Call,
    /// `(e)`
    Parenthesis,
    /// `(T)e`
    Cast,
    /// `[…] { … }`
    Lambda,
    /// `({ … })`
    StatementExpression,
    /// `new`, `delete`.
    Heap,
    /// `e...`
    Pack,
    /// `throw`, `typeid` and others that no kernel may have.
    Foreign,
    /// Any other expression.
    Expression,
}

/// Why a conversation ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    /// The pipe is closed or broken.
    #[error("{0}")]
    Broken(#[from] io::Error),
    /// What came is no message.
    #[error("not a message")]
    Garbage,
}

/// Sends `message`.
pub(super) fn send<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), WireError> {
    let bytes = postcard::to_stdvec(message).map_err(|_| WireError::Garbage)?;
    let length = u32::try_from(bytes.len()).ok().filter(|&length| length <= MAX_FRAME).ok_or(WireError::Garbage)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    Ok(to.flush()?)
}

/// Waits for a message; `None` if the other side closed the pipe between two.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, WireError> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(WireError::Garbage);
    }
    // What was promised need not come: memory grows with what does.
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() != length as usize {
        return Err(WireError::Broken(io::ErrorKind::UnexpectedEof.into()));
    }
    postcard::from_bytes(&bytes).map(Some).map_err(|_| WireError::Garbage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_pipe() {
        let mut pipe = Vec::new();
        send(&mut pipe, &Greeting::Ready("18".into())).unwrap();
        send(&mut pipe, &Reply::Failed("no".into())).unwrap();
        let mut rest = pipe.as_slice();
        assert!(matches!(receive(&mut rest), Ok(Some(Greeting::Ready(version))) if version == "18"));
        assert!(matches!(receive(&mut rest), Ok(Some(Reply::Failed(why))) if why == "no"));
        assert!(matches!(receive::<Reply>(&mut rest), Ok(None)));
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let mut long = &[0xff, 0xff, 0xff, 0xff, 1][..];
        assert!(matches!(receive::<Reply>(&mut long), Err(WireError::Garbage)));
        let mut cut = &[9, 0, 0, 0, 1][..];
        assert!(matches!(receive::<Reply>(&mut cut), Err(WireError::Broken(_))));
        let mut odd = &[2, 0, 0, 0, 77, 1][..];
        assert!(matches!(receive::<Reply>(&mut odd), Err(WireError::Garbage)));
    }
}
