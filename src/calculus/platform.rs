//! Whose rules a launch obeys: the limits and rules of CUDA, HIP and OpenCL, in one table.
//!
//! Sources: the CUDA C++ programming guide (compute capabilities 5.0 and later), HIP's programming guide, the specifications
//! of OpenCL 1.2 and 3.0. OpenCL leaves limits to the device. Where the standard has none, the table has what no device
//! comes near, so that ids of a work-group are numbers of ordinary size; no limit that some device exceeds is in it.
//!
//! Deliberately absent: which of this a proof uses, and how that is told.

use super::eval::WARP;
use super::{Axis, SyncScope};
use crate::source::{Dialect, OpenClVersion};

/// Who runs a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Platform {
    /// CUDA.
    #[default]
    Cuda,
    /// HIP.
    Hip,
    /// OpenCL 1, whose work-groups are all of one size.
    OpenCl1,
    /// OpenCL 2 and later.
    OpenCl2,
}

/// What holds on a platform.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The word for it.
    pub word: &'static str,
    /// The most threads of a block, where there is a limit that all devices have.
    pub most_threads: Option<u32>,
    /// The most threads of a block that a witness has: some device runs as many.
    pub most_shown: u32,
    /// The greatest extents of a block.
    pub block: [u32; 3],
    /// The greatest extents of a grid.
    pub grid: [u32; 3],
    /// Threads of a warp; `None` where the device decides.
    pub warp: Option<u32>,
    /// Whether global ids may start at an offset.
    pub has_offset: bool,
    /// The narrowest barriers at which threads that have returned are waited for.
    pub awaits_returned: Option<SyncScope>,
    /// Whether a shift takes its count modulo the bits of what it shifts; elsewhere a larger count has no result.
    pub shifts_modulo_width: bool,
    /// Whether an integer that is divided by 0 has some value; elsewhere such a division has no result.
    pub divides_by_zero: bool,
}

/// The most threads of a block, on every device of CUDA and HIP.
pub const BLOCK_THREADS: u32 = 1024;
/// The greatest extents of a block there.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, BLOCK_THREADS, 64];
/// The greatest extents of a grid there.
pub const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

const DEVICE: Rules = Rules {
    word: "cuda",
    most_threads: Some(BLOCK_THREADS),
    most_shown: BLOCK_THREADS,
    block: BLOCK,
    grid: GRID,
    warp: Some(WARP),
    has_offset: false,
    awaits_returned: None,
    shifts_modulo_width: false,
    divides_by_zero: false,
};

const OPENCL: Rules = Rules {
    word: "opencl1",
    most_threads: None,
    // PoCL runs as many; Intel's driver for CPUs twice as many.
    most_shown: 4096,
    block: [65_536; 3],
    grid: [u32::MAX; 3],
    warp: None,
    has_offset: true,
    awaits_returned: Some(SyncScope::Warp),
    shifts_modulo_width: true,
    divides_by_zero: true,
};

const TABLE: [(Platform, Rules); 4] = [
    (Platform::Cuda, DEVICE),
    (
        Platform::Hip,
        // All threads of a block have to reach `__syncthreads`; what lanes do together, those do that still run.
        Rules { word: "hip", grid: [0x7fff_ffff; 3], warp: None, awaits_returned: Some(SyncScope::Block), ..DEVICE },
    ),
    (Platform::OpenCl1, OPENCL),
    (Platform::OpenCl2, Rules { word: "opencl2", ..OPENCL }),
];

impl Platform {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Platform> {
        TABLE.iter().map(|(platform, _)| *platform)
    }

    /// What holds there.
    pub fn rules(self) -> &'static Rules {
        &TABLE[self as usize].1
    }

    /// The platform whose rules say the same of a kernel once it is lowered, if nothing returns from it: how many lanes a warp
    /// has is settled by then, and from there on nobody asks for more blocks along y and z than every platform has.
    pub fn once_lowered(self) -> Platform {
        if self == Platform::Hip { Platform::Cuda } else { self }
    }

    /// Whether threads that have returned are waited for at a barrier of this scope.
    pub fn awaits_returned(self, scope: SyncScope) -> bool {
        self.rules().awaits_returned.is_some_and(|narrowest| narrowest <= scope)
    }
}

impl From<Dialect> for Platform {
    fn from(dialect: Dialect) -> Platform {
        match dialect {
            Dialect::Cuda => Platform::Cuda,
            Dialect::Hip => Platform::Hip,
            Dialect::OpenCl(OpenClVersion::V2_0 | OpenClVersion::V3_0) => Platform::OpenCl2,
            // Who states no version gets one of these from the compiler.
            Dialect::OpenCl(_) => Platform::OpenCl1,
        }
    }
}

/// The parameter that stands for where global ids start along an axis.
pub fn offset_name(axis: Axis) -> String {
    format!("{OFFSET}{})", axis.index())
}

/// Whether a parameter of that name is one of these.
pub fn is_offset(name: &str) -> bool {
    name.starts_with(OFFSET)
}

/// The parameters that stand for the lane which has the first element of a tile of this name, and for how many lanes further
/// on each 32nd element of it is.
pub fn lane_names(tile: &str) -> [String; 2] {
    [format!("{LANE}{tile}[0][0]"), format!("{STEP}{tile}")]
}

/// Whether a parameter of that name is one of these.
pub fn is_of_lanes(name: &str) -> bool {
    name.starts_with(LANE) || name.starts_with(STEP)
}

/// Whether a launch has no way to give a parameter of that name: where ids start, and which lane has which element.
pub fn is_implicit(name: &str) -> bool {
    is_offset(name) || is_of_lanes(name)
}

const OFFSET: &str = "get_global_offset(";
const LANE: &str = "lane of ";
const STEP: &str = "lanes between elements of ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_platform_at_its_place() {
        for (at, (platform, rules)) in TABLE.iter().enumerate() {
            assert_eq!(*platform as usize, at);
            assert_eq!(TABLE.iter().filter(|(_, other)| other.word == rules.word).count(), 1);
        }
    }

    #[test]
    fn who_has_returned_is_awaited_where_the_platform_says_so() {
        let awaits =
            |platform: Platform| [SyncScope::Warp, SyncScope::Block].map(|scope| platform.awaits_returned(scope));
        assert_eq!(awaits(Platform::Cuda), [false, false]);
        assert_eq!(awaits(Platform::Hip), [false, true]);
        assert_eq!(awaits(Platform::OpenCl1), [true, true]);
        assert_eq!(awaits(Platform::OpenCl2), [true, true]);
    }

    #[test]
    fn platforms_that_are_one_once_lowered_differ_in_nothing_that_counts_then() {
        for platform in Platform::all() {
            // Whoever adds a rule has to say here whether it counts once a kernel is lowered from which nothing returns.
            let counting = |platform: Platform| {
                let Rules {
                    word: _,
                    most_threads,
                    most_shown,
                    block,
                    grid: [along_x, _, _],
                    warp: _,
                    has_offset,
                    awaits_returned: _,
                    shifts_modulo_width,
                    divides_by_zero,
                } = *platform.rules();
                let limits = (most_threads, most_shown, block, along_x);
                (limits, has_offset, shifts_modulo_width, divides_by_zero)
            };
            assert_eq!(counting(platform), counting(platform.once_lowered()), "{platform:?}");
            let most = platform.rules().grid;
            assert!(most.iter().zip(GRID).all(|(&most, searched)| most >= searched), "{platform:?}");
        }
    }
}
