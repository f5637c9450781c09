//! CUDA's cooperative groups: their types, the methods of these, and the functions beside them.
//!
//! Deliberately absent: which method means something for which group, and what: `resolve` says so, by a match on both.

use super::{Made, Operation, Partner};

/// A kind of group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `thread_block`
    Block,
    /// `cluster_group`
    Cluster,
    /// `grid_group`
    Grid,
    /// A tile of so many neighbouring threads of a block, a power of two.
    Tile(i128),
    /// Threads of a warp that happened to run together.
    Coalesced,
    /// Threads that the schedule or a type that is not known decides.
    Other,
}

/// The name of the type of tiles, without its arguments.
pub const TILE: &str = "thread_block_tile";

/// The name of the type of any group.
pub const ANY_GROUP: &str = "thread_group";

/// The name of the type of all grids of a launch on several devices.
pub const MULTI_GRID: &str = "multi_grid_group";

impl Group {
    /// The group whose type has that name, without its namespace and with the size of a tile as a number.
    pub fn named(name: &str) -> Option<Group> {
        Some(match name {
            "thread_block" => Group::Block,
            "grid_group" => Group::Grid,
            "coalesced_group" => Group::Coalesced,
            "cluster_group" => Group::Cluster,
            ANY_GROUP | MULTI_GRID => Group::Other,
            _ => {
                let size = name.strip_prefix(TILE)?;
                let size = size.strip_prefix('<').and_then(|size| size.strip_suffix('>'));
                match size.and_then(|size| size.parse::<i128>().ok()) {
                    // Since CUDA 11.1 a tile may be larger than a warp, with the same ranks.
                    Some(size) if (1..=1024).contains(&size) && size.count_ones() == 1 => Group::Tile(size),
                    _ => Group::Other,
                }
            }
        })
    }

    /// The name of the type of such a group.
    pub fn type_name(self) -> String {
        match self {
            Group::Block => "thread_block".to_owned(),
            Group::Cluster => "cluster_group".to_owned(),
            Group::Grid => "grid_group".to_owned(),
            Group::Tile(size) => format!("{TILE}<{size}>"),
            Group::Coalesced => "coalesced_group".to_owned(),
            Group::Other => ANY_GROUP.to_owned(),
        }
    }
}

/// A method of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `sync()`
    Sync,
    /// `barrier_arrive()`
    Arrive,
    /// `barrier_wait(token)`
    Wait,
    /// `thread_rank()`
    Rank,
    /// `size()`, `num_threads()`
    Size,
    /// `thread_index()`
    ThreadIndex,
    /// `group_index()`
    GroupIndex,
    /// `group_dim()`: of a block its threads, of a grid its blocks.
    Extents,
    /// `dim_threads()`
    ThreadExtents,
    /// `dim_blocks()`
    BlockExtents,
    /// `block_rank()`
    BlockRank,
    /// `num_blocks()`
    BlockCount,
    /// `block_index()`
    BlockIndex,
    /// `map_shared_rank(pointer, rank)`
    MapSharedRank,
    /// `query_shared_rank(pointer)`
    QuerySharedRank,
    /// `meta_group_rank()`
    TileRank,
    /// `meta_group_size()`
    TileCount,
    /// `is_valid()`
    IsValid,
    /// What the threads make together: `shfl(value, lane)`, `ballot(said)`.
    Together(Made),
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Option<Method> {
        Some(match name {
            "sync" => Method::Sync,
            "barrier_arrive" => Method::Arrive,
            "barrier_wait" => Method::Wait,
            "thread_rank" => Method::Rank,
            "size" | "num_threads" => Method::Size,
            "thread_index" => Method::ThreadIndex,
            "group_index" => Method::GroupIndex,
            "group_dim" => Method::Extents,
            "dim_threads" => Method::ThreadExtents,
            "dim_blocks" => Method::BlockExtents,
            "block_rank" => Method::BlockRank,
            "num_blocks" => Method::BlockCount,
            "block_index" => Method::BlockIndex,
            "map_shared_rank" => Method::MapSharedRank,
            "query_shared_rank" => Method::QuerySharedRank,
            "meta_group_rank" => Method::TileRank,
            "meta_group_size" => Method::TileCount,
            "is_valid" => Method::IsValid,
            "shfl" => Method::Together(Made::Shuffle(Partner::Lane)),
            "shfl_up" => Method::Together(Made::Shuffle(Partner::Below)),
            "shfl_down" => Method::Together(Made::Shuffle(Partner::Above)),
            "shfl_xor" => Method::Together(Made::Shuffle(Partner::Flipped)),
            "any" => Method::Together(Made::Any),
            "all" => Method::Together(Made::All),
            "ballot" => Method::Together(Made::Ballot),
            "match_any" => Method::Together(Made::MatchAny),
            "match_all" => Method::Together(Made::MatchAll),
            _ => return None,
        })
    }
}

/// How a group is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Into tiles of one size: `tiled_partition<32>(group)`.
    Tiled,
    /// By what threads say: `binary_partition(group, said)`.
    Binary,
    /// By a number: `labeled_partition(group, number)`.
    Labeled,
}

/// A free function of cooperative groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The group that all threads of that kind make: `this_grid()`.
    This(Group),
    /// The group of the threads that happen to run together: `coalesced_threads()`.
    Running,
    /// All grids of a launch on several devices: `this_multi_grid()`.
    ThisMultiGrid,
    /// It takes a group apart.
    Partition(Partition),
    /// A method of the group that is its only argument, by the name of that: `thread_rank(group)`.
    Method(&'static str),
    /// What the threads of the group make together that is the first argument: `reduce(group, value, function)`.
    Together(Made),
    /// A function object for `reduce`: `plus<int>()`.
    Object(Operation),
    /// The group begins a copy: `memcpy_async(group, to, from, bytes)`.
    Copy,
    /// The group waits for its copies: `wait(group)`.
    Wait,
    /// It waits for all but its newest ones: `wait_prior<1>(group)`.
    WaitPrior,
}

impl Function {
    /// The function of that name, without its namespace.
    pub fn named(name: &str) -> Option<Function> {
        Some(match name {
            "this_thread_block" => Function::This(Group::Block),
            "this_grid" => Function::This(Group::Grid),
            "this_cluster" => Function::This(Group::Cluster),
            "this_thread" => Function::This(Group::Tile(1)),
            "coalesced_threads" => Function::Running,
            "this_multi_grid" => Function::ThisMultiGrid,
            "tiled_partition" => Function::Partition(Partition::Tiled),
            "binary_partition" => Function::Partition(Partition::Binary),
            "labeled_partition" => Function::Partition(Partition::Labeled),
            "sync" => Function::Method("sync"),
            "thread_rank" => Function::Method("thread_rank"),
            "group_size" => Function::Method("size"),
            "reduce" => Function::Together(Made::ReducedBy),
            "inclusive_scan" | "exclusive_scan" => Function::Together(Made::Scan),
            "memcpy_async" => Function::Copy,
            "wait" => Function::Wait,
            "wait_prior" => Function::WaitPrior,
            _ => Function::Object(operation(name)?),
        })
    }
}

/// What the function object of that name does with two values.
pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "plus" => Operation::Add,
        "less" => Operation::Min,
        "greater" => Operation::Max,
        "bit_and" => Operation::And,
        "bit_or" => Operation::Or,
        "bit_xor" => Operation::Xor,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_name_groups_and_their_sizes() {
        assert_eq!(Group::named("thread_block_tile<16>"), Some(Group::Tile(16)));
        assert_eq!(Group::named("thread_block_tile<24>"), Some(Group::Other));
        assert_eq!(Group::named("thread_block_tile"), Some(Group::Other));
        assert_eq!(Group::named("block"), None);
        for group in [Group::Block, Group::Cluster, Group::Grid, Group::Tile(8), Group::Coalesced, Group::Other] {
            assert_eq!(Group::named(&group.type_name()), Some(group));
        }
    }

    #[test]
    fn functions_name_methods_that_there_are() {
        for name in ["sync", "thread_rank", "group_size"] {
            let Some(Function::Method(method)) = Function::named(name) else { panic!("{name}") };
            assert!(Method::named(method).is_some(), "{method}");
        }
        assert_eq!(Function::named("less"), Some(Function::Object(Operation::Min)));
        assert_eq!(Function::named("mystery"), None);
    }
}
