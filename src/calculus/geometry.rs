//! Ids and sizes of threads, blocks and grids.
//!
//! Guarantees nothing of a [`Geometry`] by itself: whether a device admits one is asked of [`GeometryFacts`].
//!
//! Deliberately absent: which geometries a program launches.

use super::platform::Platform;

/// The axes of ids and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

impl Axis {
    /// All three.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Ids and sizes. Each is an unsigned value; as an expression it has type [`ScalarType::U32`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GeometryVar {
    /// `threadIdx`, `get_local_id`.
    ThreadIdx(Axis),
    /// `blockIdx`, `get_group_id`.
    BlockIdx(Axis),
    /// `blockDim`, `get_local_size`.
    BlockDim(Axis),
    /// `gridDim`, `get_num_groups`.
    GridDim(Axis),
}

/// What the source says about the geometry of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeometryFacts {
    /// `reqd_work_group_size`: the only block size.
    pub required_block: Option<[u32; 3]>,
    /// `__launch_bounds__`: the greatest number of threads of a block.
    pub max_threads: Option<u32>,
    /// `__cluster_dims__`: blocks of a cluster along each axis. Without it the launch says how large clusters are, and a
    /// launch that says nothing has clusters of one block.
    pub cluster: Option<[u32; 3]>,
    /// Whose limits launches have.
    pub platform: Platform,
}

impl GeometryFacts {
    /// Blocks of a cluster along each axis, if it is known to have more than one.
    pub fn clusters(&self) -> Option<[u32; 3]> {
        self.cluster.filter(|extents| *extents != [1; 3])
    }

    /// Whether grids of that geometry consist of whole clusters; others cannot be launched.
    pub fn has_whole_clusters(&self, grid: [u32; 3]) -> bool {
        self.cluster.is_none_or(|extents| grid.iter().zip(extents).all(|(blocks, of)| blocks % of == 0))
    }

    /// The most threads of a block in a launch that nobody states and that shows something.
    pub fn most_threads(&self) -> u32 {
        let most = self.platform.rules().most_shown;
        self.max_threads.map_or(most, |stated| stated.min(most))
    }

    /// Whether somebody can launch that geometry.
    pub fn admits(&self, geometry: &Geometry) -> bool {
        let limits = [self.max_threads, self.platform.rules().most_threads];
        let is_within = |most: u32| geometry.block_threads() <= u64::from(most);
        self.has_whole_clusters(geometry.grid) && limits.into_iter().flatten().all(is_within)
    }

    /// The cluster that a block lies in, by its position among clusters along each axis.
    pub fn cluster_of(&self, block: [u32; 3]) -> [u32; 3] {
        match self.cluster {
            Some(extents) => std::array::from_fn(|axis| block[axis] / extents[axis]),
            None => block,
        }
    }
}

/// A launch geometry with every size fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Geometry {
    /// Threads of a block along each axis, at least 1.
    pub block: [u32; 3],
    /// Blocks of the grid along each axis, at least 1.
    pub grid: [u32; 3],
}

impl Geometry {
    /// Threads of one block.
    pub fn block_threads(&self) -> u64 {
        self.block.iter().map(|&extent| u64::from(extent)).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&extent| u64::from(extent)).product()
    }
}
