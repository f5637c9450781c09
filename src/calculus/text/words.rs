//! The words of the text: one table for the printer and the parser.

use crate::calculus::{
    AtomicOp, Axis, Basis, BinaryOp, Claimed, GeometryVar, MemoryOrder, Part, ScalarType, Space, SyncScope,
};

/// Words that cannot stand for a name without backquotes: those that may stand where a name may.
pub(super) const RESERVED: &[&str] = &["atomic", "convert", "false", "max", "min", "nothing", "param", "read", "true"];

pub(super) const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("distributed", Space::Distributed),
    ("image", Space::Image),
    ("shared", Space::Shared),
    ("constant", Space::Constant),
    ("private", Space::Private),
];

pub(crate) const BASES: &[(&str, Basis)] = &[
    ("assume", Basis::Stated),
    ("needs", Basis::Needed),
    ("holds", Basis::Held),
    ("proved", Basis::Proved),
    ("given", Basis::Given),
    ("passes", Basis::Passed),
    ("candidate", Basis::Candidate),
];

pub(crate) const CLAIMED: &[(&str, Claimed)] = &[("assert", Claimed::Asserted), ("agree", Claimed::Agreement)];

pub(crate) const SCOPES: &[(&str, SyncScope)] = &[
    ("warp", SyncScope::Warp),
    ("block", SyncScope::Block),
    ("cluster", SyncScope::Cluster),
    ("grid", SyncScope::Grid),
    ("system", SyncScope::System),
];

pub(super) const ATOMICS: &[(&str, AtomicOp)] = &[
    ("load", AtomicOp::Load),
    ("store", AtomicOp::Store),
    ("exchange", AtomicOp::Exchange),
    ("compare_exchange", AtomicOp::CompareExchange),
    ("add", AtomicOp::Add),
    ("sub", AtomicOp::Sub),
    ("increment", AtomicOp::Increment),
    ("decrement", AtomicOp::Decrement),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
];

pub(crate) const ORDERS: &[(&str, MemoryOrder)] = &[
    ("relaxed", MemoryOrder::Relaxed),
    ("acquire", MemoryOrder::Acquire),
    ("release", MemoryOrder::Release),
    ("acquire_release", MemoryOrder::AcquireRelease),
    ("sequentially_consistent", MemoryOrder::SequentiallyConsistent),
    ("acquire_on_exchange", MemoryOrder::AcquireOnExchange),
    ("acquire_release_on_exchange", MemoryOrder::AcquireReleaseOnExchange),
];

/// Infix operators with their binding strength; all associate to the left.
pub(super) const INFIX: &[(&str, BinaryOp, u8)] = &[
    ("||", BinaryOp::Or, 1),
    ("&&", BinaryOp::And, 2),
    ("|", BinaryOp::BitOr, 3),
    ("^", BinaryOp::BitXor, 4),
    ("&", BinaryOp::BitAnd, 5),
    ("==", BinaryOp::Eq, 6),
    ("!=", BinaryOp::Ne, 6),
    ("<", BinaryOp::Lt, 7),
    ("<=", BinaryOp::Le, 7),
    (">", BinaryOp::Gt, 7),
    (">=", BinaryOp::Ge, 7),
    ("<<", BinaryOp::Shl, 8),
    (">>", BinaryOp::Shr, 8),
    ("+", BinaryOp::Add, 9),
    ("-", BinaryOp::Sub, 9),
    ("*", BinaryOp::Mul, 10),
    ("/", BinaryOp::Div, 10),
    ("%", BinaryOp::Rem, 10),
];

/// The word of `value` in a table.
pub(crate) fn word<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, entry)| entry == value).map_or("?", |(word, _)| word)
}

/// Steps at objects that count arrivals.
pub(super) const PARTS: &[(&str, Part)] =
    &[("arrives", Part::Arrives), ("meets", Part::Meets), ("waits", Part::Waits), ("waits_before", Part::WaitsBefore)];

/// The entry of `text` in a table.
pub(super) fn entry<T: Copy>(table: &[(&'static str, T)], text: &str) -> Option<T> {
    table.iter().find(|(word, _)| *word == text).map(|&(_, value)| value)
}

/// `i32`, `bool`, `opaque4`.
pub(super) fn type_text(ty: ScalarType) -> String {
    match ty {
        ScalarType::Bool => "bool".to_owned(),
        ScalarType::Int { width, signed } => format!("{}{width}", if signed { 'i' } else { 'u' }),
        ScalarType::Opaque { bytes } => format!("opaque{bytes}"),
    }
}

/// The inverse of [`type_text`].
pub(super) fn type_of(text: &str) -> Option<ScalarType> {
    if text == "bool" {
        return Some(ScalarType::Bool);
    }
    if let Some(bytes) = text.strip_prefix("opaque") {
        return Some(ScalarType::Opaque { bytes: bytes.parse().ok()? });
    }
    let signed = text.starts_with('i');
    let width = text.strip_prefix(['i', 'u'])?;
    ["8", "16", "24", "32", "64"]
        .contains(&width)
        .then(|| ScalarType::Int { width: width.parse().unwrap_or(32), signed })
}

/// `tid.x`, `bdim.z`.
pub(super) fn geometry_text(var: GeometryVar) -> String {
    let (stem, axis) = match var {
        GeometryVar::ThreadIdx(axis) => ("tid", axis),
        GeometryVar::BlockIdx(axis) => ("bid", axis),
        GeometryVar::BlockDim(axis) => ("bdim", axis),
        GeometryVar::GridDim(axis) => ("gdim", axis),
    };
    format!("{stem}.{}", ["x", "y", "z"][axis.index()])
}

/// The inverse of [`geometry_text`].
pub(super) fn geometry_of(text: &str) -> Option<GeometryVar> {
    let (stem, axis) = text.split_once('.')?;
    let axis = match axis {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return None,
    };
    Some(match stem {
        "tid" => GeometryVar::ThreadIdx(axis),
        "bid" => GeometryVar::BlockIdx(axis),
        "bdim" => GeometryVar::BlockDim(axis),
        "gdim" => GeometryVar::GridDim(axis),
        _ => return None,
    })
}

/// Whether `name` reads back as one identifier.
pub(super) fn is_plain_name(name: &str) -> bool {
    let parts_are_words = name.split('.').all(|part| {
        !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
    });
    parts_are_words
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !RESERVED.contains(&name)
        && geometry_of(name).is_none()
}

/// `text` between `quote`s, with backslashes before quotes, backslashes and line breaks.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let mut result = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => result.push_str("\\n"),
            '\\' => result.push_str("\\\\"),
            _ if letter == quote => result.extend(['\\', letter]),
            _ => result.push(letter),
        }
    }
    result.push(quote);
    result
}

/// The texts by which the bearers of `names` are referred to: `i`, `i#2`, `i#3`.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut bearers: rustc_hash::FxHashMap<&str, u32> = rustc_hash::FxHashMap::default();
    names
        .map(|name| {
            let count = bearers.entry(name).or_insert(0);
            *count += 1;
            let text = if is_plain_name(name) { name.to_owned() } else { quoted(name, '`') };
            if *count == 1 { text } else { format!("{text}#{count}") }
        })
        .collect()
}
