//! Files of NumPy's: one array each, `numpy.save`.
//!
//! The format is that of NumPy's "NEP 1": a magic word, a version, the length of a header, the header (a dictionary of
//! Python's with three keys), the elements. Versions 1 to 3 are read, in both byte orders. Arrays of records and of
//! Python's objects are refused.

use super::element::{ElementType, Scalar};

/// Why a file gives no array. All are said of the file: "it …".
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NpyError {
    #[error("it is not a file of numpy.save")]
    Foreign,
    #[error("it is of version {0} of the format; 1 to 3 are read")]
    Version(u8),
    #[error("it is cut off in its header")]
    CutOff,
    #[error("its header has no `{0}`")]
    Missing(&'static str),
    #[error("it holds records; save one array of numbers")]
    Records,
    #[error("its elements are of dtype {found}, not {wanted}; save it with .astype(\"{wanted}\")")]
    Dtype { found: String, wanted: String },
    #[error("its shape {0} is no tuple")]
    NoTuple(String),
    #[error("its shape {0} is not made of numbers")]
    NoNumbers(String),
    #[error("it is stored column by column; save it with numpy.ascontiguousarray")]
    ColumnByColumn,
    #[error("it has {bytes} bytes of elements, which does not fit its shape {shape}")]
    Size { bytes: usize, shape: String },
    #[error("its shape is {shape}; for {element} the last extent must be {lanes}")]
    Lanes { shape: String, element: ElementType, lanes: u64 },
}

/// An array as it is in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Array {
    /// Its extents.
    pub(super) shape: Vec<u64>,
    /// Its elements, little-endian, row by row.
    pub(super) bytes: Vec<u8>,
}

impl Array {
    /// How many elements of that type it has; vectors take their lanes from the last extent.
    pub(super) fn elements(&self, element: ElementType) -> Result<u64, NpyError> {
        let lanes = u64::from(element.lanes);
        let total: u64 = self.shape.iter().product();
        if lanes == 1 {
            return Ok(total);
        }
        match self.shape.split_last() {
            Some((last, before)) if *last == lanes => Ok(before.iter().product()),
            _ => Err(NpyError::Lanes { shape: tuple(&self.shape), element, lanes }),
        }
    }
}

/// Reads the array of `file`, whose elements must be of type `scalar`.
pub(super) fn read(file: &[u8], scalar: Scalar) -> Result<Array, NpyError> {
    let (header, data) = split(file)?;
    let descr = value_of(header, "descr").ok_or(NpyError::Missing("descr"))?;
    let kind = descr.trim_matches(['\'', '"']);
    if !descr.starts_with(['\'', '"']) {
        return Err(NpyError::Records);
    }
    let (order, kind) = match kind.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
        _ => ("|", kind),
    };
    if kind != code(scalar) {
        return Err(NpyError::Dtype { found: name(kind), wanted: name(&code(scalar)) });
    }
    let shape = shape(value_of(header, "shape").ok_or(NpyError::Missing("shape"))?)?;
    if value_of(header, "fortran_order") == Some("True") && shape.iter().filter(|extent| **extent > 1).count() > 1 {
        return Err(NpyError::ColumnByColumn);
    }
    let width = u64::from(scalar.bytes());
    let total = shape.iter().try_fold(width, |product, extent| product.checked_mul(*extent));
    if total != Some(data.len() as u64) {
        return Err(NpyError::Size { bytes: data.len(), shape: tuple(&shape) });
    }
    let mut bytes = data.to_vec();
    if order == ">" {
        bytes.chunks_mut(width as usize).for_each(<[u8]>::reverse);
    }
    Ok(Array { shape, bytes })
}

/// The header and what follows it.
fn split(file: &[u8]) -> Result<(&str, &[u8]), NpyError> {
    let rest = file.strip_prefix(b"\x93NUMPY").ok_or(NpyError::Foreign)?;
    let (version, rest) = rest.split_at_checked(2).ok_or(NpyError::Foreign)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk::<2>().map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest)),
        2 | 3 => rest.split_first_chunk::<4>().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
        other => return Err(NpyError::Version(other)),
    }
    .ok_or(NpyError::Foreign)?;
    let (header, data) = rest.split_at_checked(length).ok_or(NpyError::CutOff)?;
    Ok((std::str::from_utf8(header).map_err(|_| NpyError::Foreign)?, data))
}

/// The text of the value of a key of the header.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = [format!("'{key}':"), format!("\"{key}\":")]
        .iter()
        .find_map(|quoted| header.find(quoted.as_str()).map(|at| at + quoted.len()))?;
    let rest = header[at..].trim_start();
    let end = match rest.chars().next()? {
        '(' => rest.find(')')? + 1,
        quote @ ('\'' | '"') => rest[1..].find(quote)? + 2,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim_end())
}

fn shape(text: &str) -> Result<Vec<u64>, NpyError> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inner = inner.ok_or_else(|| NpyError::NoTuple(text.to_owned()))?;
    let extents = inner.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    extents.map(|extent| extent.parse().map_err(|_| NpyError::NoNumbers(text.to_owned()))).collect()
}

/// As NumPy codes it: `f4`.
fn code(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "b1".to_owned(),
        Scalar::Integer { bytes, signed: true } => format!("i{bytes}"),
        Scalar::Integer { bytes, signed: false } => format!("u{bytes}"),
        Scalar::Float { bytes } => format!("f{bytes}"),
    }
}

/// As NumPy prints it: `float32`.
fn name(code: &str) -> String {
    let Some((letter, bytes)) = code.split_at_checked(1) else { return code.to_owned() };
    let bits = bytes.parse::<u32>().ok().and_then(|bytes| bytes.checked_mul(8));
    match (letter, bits) {
        ("b", _) => "bool".to_owned(),
        ("i", Some(bits)) => format!("int{bits}"),
        ("u", Some(bits)) => format!("uint{bits}"),
        ("f", Some(bits)) => format!("float{bits}"),
        ("c", Some(bits)) => format!("complex{bits}"),
        _ => code.to_owned(),
    }
}

/// As Python prints it.
fn tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        all => format!("({})", all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
