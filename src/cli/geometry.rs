//! `X[,Y[,Z]]` of the command line as extents that a device can launch.
//!
//! The limits are CUDA's (compute capability 5.0 and later); OpenCL leaves its own to the device, so that none holds there.

use crate::driver::limits;
use crate::source::Language;

const AXES: [&str; 3] = ["x", "y", "z"];

/// What is wrong with extents.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GeometryError {
    /// Not one to three numbers.
    #[error("`{0}` is not of the form X[,Y[,Z]]; write for example 256 or 16,16")]
    Form(String),
    /// An extent of zero.
    #[error("an extent of 0 launches nothing; every extent must be at least 1")]
    Zero,
    /// One extent is too large.
    #[error("impossible geometry: {extent} along {axis} is more than the {limit} that a {what} can have there")]
    Extent { what: &'static str, axis: &'static str, extent: u32, limit: u32 },
    /// The extents multiply to too much.
    #[error("impossible geometry: {total} threads are more than the {} that a block can have", limits::BLOCK_THREADS)]
    Total { total: u64 },
}

/// The extents of a block.
pub(super) fn block(typed: &str, language: Option<Language>) -> Result<[u32; 3], GeometryError> {
    let extents = parse(typed)?;
    if language == Some(Language::OpenCl) {
        return Ok(extents);
    }
    within(extents, limits::BLOCK, "block")?;
    let total = extents.iter().fold(1, |total: u64, &extent| total.saturating_mul(u64::from(extent)));
    if total > u64::from(limits::BLOCK_THREADS) { Err(GeometryError::Total { total }) } else { Ok(extents) }
}

/// The extents of a grid.
pub(super) fn grid(typed: &str, language: Option<Language>) -> Result<[u32; 3], GeometryError> {
    let extents = parse(typed)?;
    if language != Some(Language::OpenCl) {
        within(extents, limits::GRID, "grid")?;
    }
    Ok(extents)
}

fn parse(typed: &str) -> Result<[u32; 3], GeometryError> {
    let form = || GeometryError::Form(typed.to_string());
    let parts: Vec<&str> = typed.split(',').collect();
    if parts.len() > 3 {
        return Err(form());
    }
    let mut extents = [1; 3];
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part.trim().parse().map_err(|_| form())?;
    }
    if extents.contains(&0) { Err(GeometryError::Zero) } else { Ok(extents) }
}

fn within(extents: [u32; 3], limits: [u32; 3], what: &'static str) -> Result<(), GeometryError> {
    match (0..3).find(|&axis| extents[axis] > limits[axis]) {
        None => Ok(()),
        Some(axis) => Err(GeometryError::Extent { what, axis: AXES[axis], extent: extents[axis], limit: limits[axis] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_extents_are_one() {
        assert_eq!(block("256", None), Ok([256, 1, 1]));
        assert_eq!(block("16, 16", None), Ok([16, 16, 1]));
        assert_eq!(grid("65536,2,3", None), Ok([65536, 2, 3]));
    }

    #[test]
    fn what_no_device_launches_is_refused_with_its_limit() {
        let cuda = Some(Language::Cuda);
        assert_eq!(block("64,32", cuda), Err(GeometryError::Total { total: 2048 }));
        let too_deep = GeometryError::Extent { what: "block", axis: "z", extent: 65, limit: 64 };
        assert_eq!(block("1,1,65", cuda), Err(too_deep));
        assert_eq!(block("1,1,65", Some(Language::OpenCl)), Ok([1, 1, 65]));
        assert_eq!(block("4096", Some(Language::OpenCl)), Ok([4096, 1, 1]));
        assert!(matches!(grid("1,65536", cuda), Err(GeometryError::Extent { axis: "y", .. })));
        assert_eq!(block("0", cuda), Err(GeometryError::Zero));
        for wrong in ["", "1,2,3,4", "x", "-1", "1,,2", "4294967296"] {
            assert_eq!(block(wrong, cuda), Err(GeometryError::Form(wrong.to_string())));
        }
    }
}
