//! Names for places in arrays: byte 12 of a `float` array `y` is `y[3]`.

use crate::calculus::{Array, Space};

/// The element of `array` that holds byte `offset`, in the user's words.
pub(super) fn name(array: &Array, offset: i128) -> String {
    let size = i128::from(array.element_bytes.max(1));
    if array.space == Space::Distributed {
        let (rank, own) = (offset.div_euclid(Space::HOME), offset.rem_euclid(Space::HOME));
        return format!(
            "{} of the block of rank {rank} in its cluster",
            name(&Array { space: Space::Shared, ..array.clone() }, own)
        );
    }
    if array.bytes == Some(size as u64) && array.inner_dims.is_empty() && (0..size).contains(&offset) {
        return array.name.clone();
    }
    let element = offset.div_euclid(size);
    let mut text = array.name.clone();
    for subscript in subscripts(element, &array.inner_dims) {
        text.push_str(&format!("[{subscript}]"));
    }
    match offset.rem_euclid(size) {
        0 => text,
        rest => format!("{text} (byte {rest})"),
    }
}

/// Splits a flat element number into one subscript for each dimension.
fn subscripts(element: i128, inner_dims: &[u64]) -> Vec<i128> {
    let mut rest = element;
    let mut subscripts = Vec::with_capacity(inner_dims.len() + 1);
    for &extent in inner_dims.iter().rev() {
        let extent = i128::from(extent.max(1));
        subscripts.push(rest.rem_euclid(extent));
        rest = rest.div_euclid(extent);
    }
    subscripts.push(rest);
    subscripts.reverse();
    subscripts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(element_bytes: u32, inner_dims: &[u64], bytes: Option<u64>) -> Array {
        Array {
            name: "s".into(),
            space: Space::Shared,
            bytes,
            element_bytes,
            inner_dims: inner_dims.to_vec(),
            is_param: false,
            is_filled_elsewhere: false,
            held_in: None,
            given: None,
            span: None,
        }
    }

    #[test]
    fn elements_are_named_as_the_source_would() {
        assert_eq!(name(&array(4, &[], None), 12), "s[3]");
        assert_eq!(name(&array(4, &[33], Some(33 * 8 * 4)), 4 * 34), "s[1][1]");
        assert_eq!(name(&array(16, &[], None), 20), "s[1] (byte 4)");
        assert_eq!(name(&array(4, &[], Some(4)), 0), "s");
        assert_eq!(name(&array(4, &[], None), -4), "s[-1]");
    }
}
