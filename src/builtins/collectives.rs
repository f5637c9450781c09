//! CUB's and hipCUB's collectives: classes whose methods the threads of a block, or of a warp, call together.
//!
//! What is told of a method is what its documentation promises: it reads and writes its temporary storage, all threads of
//! its group call it, it reads and writes the items that it is given, and it takes function objects. That it orders other
//! memory is promised nowhere.
//!
//! Deliberately absent: what is computed; classes that work on the shared memory of the program (`BlockHistogram`).

/// The threads that call a method together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// A block.
    Block,
    /// A warp, or a part of one.
    Warp,
}

/// Classes of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the class that its name says")]
pub enum Class {
    BlockAdjacentDifference,
    BlockDiscontinuity,
    BlockExchange,
    BlockLoad,
    BlockMergeSort,
    BlockRadixSort,
    BlockReduce,
    BlockScan,
    BlockShuffle,
    BlockStore,
    WarpExchange,
    WarpMergeSort,
    WarpReduce,
    WarpScan,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 14] = [
        Class::BlockAdjacentDifference,
        Class::BlockDiscontinuity,
        Class::BlockExchange,
        Class::BlockLoad,
        Class::BlockMergeSort,
        Class::BlockRadixSort,
        Class::BlockReduce,
        Class::BlockScan,
        Class::BlockShuffle,
        Class::BlockStore,
        Class::WarpExchange,
        Class::WarpMergeSort,
        Class::WarpReduce,
        Class::WarpScan,
    ];

    /// The class of that name, without its namespace.
    pub fn named(name: &str) -> Option<Class> {
        Some(match name {
            "BlockAdjacentDifference" => Class::BlockAdjacentDifference,
            "BlockDiscontinuity" => Class::BlockDiscontinuity,
            "BlockExchange" => Class::BlockExchange,
            "BlockLoad" => Class::BlockLoad,
            "BlockMergeSort" => Class::BlockMergeSort,
            "BlockRadixSort" => Class::BlockRadixSort,
            "BlockReduce" => Class::BlockReduce,
            "BlockScan" => Class::BlockScan,
            "BlockShuffle" => Class::BlockShuffle,
            "BlockStore" => Class::BlockStore,
            "WarpExchange" => Class::WarpExchange,
            "WarpMergeSort" => Class::WarpMergeSort,
            "WarpReduce" => Class::WarpReduce,
            "WarpScan" => Class::WarpScan,
            _ => return None,
        })
    }

    /// The threads that call its methods together.
    pub fn group(self) -> Group {
        match self {
            Class::WarpExchange | Class::WarpMergeSort | Class::WarpReduce | Class::WarpScan => Group::Warp,
            _ => Group::Block,
        }
    }

    /// Where the number of threads that take part stands among its template arguments.
    pub fn threads_at(self) -> usize {
        if matches!(self, Class::WarpExchange | Class::WarpMergeSort) { 2 } else { 1 }
    }

    /// Where the extents of a block beyond the first stand among its template arguments, if it has any.
    pub fn other_extents(self) -> Option<[usize; 2]> {
        match self {
            Class::BlockLoad | Class::BlockStore => Some([4, 5]),
            _ => None,
        }
    }

    /// What the method of that name does.
    pub fn method(self, name: &str) -> Option<Method> {
        let method = |first, rest, result| Some(Method { first, rest, result });
        let items = |result| method(Role::Updated, Rest::Items, result);
        match (self, name) {
            (Class::BlockReduce | Class::WarpReduce, "Sum" | "Reduce" | "Max" | "Min") => {
                method(Role::Read, Rest::Plain, Result::Item)
            }
            (
                Class::WarpReduce,
                "HeadSegmentedSum" | "TailSegmentedSum" | "HeadSegmentedReduce" | "TailSegmentedReduce",
            ) => method(Role::Read, Rest::Plain, Result::Item),
            (
                Class::BlockScan | Class::WarpScan,
                "ExclusiveSum" | "InclusiveSum" | "ExclusiveScan" | "InclusiveScan",
            ) => method(Role::Read, Rest::Scanned, Result::Nothing),
            (Class::WarpScan, "Broadcast") => method(Role::Read, Rest::Plain, Result::Item),
            (Class::BlockLoad, "Load") | (Class::BlockStore, "Store") => {
                method(Role::Memory, Rest::Items, Result::Nothing)
            }
            (
                Class::BlockRadixSort,
                "Sort" | "SortDescending" | "SortBlockedToStriped" | "SortDescendingBlockedToStriped",
            )
            | (Class::BlockMergeSort | Class::WarpMergeSort, "Sort" | "StableSort")
            | (
                Class::BlockExchange,
                "StripedToBlocked"
                | "BlockedToStriped"
                | "WarpStripedToBlocked"
                | "BlockedToWarpStriped"
                | "ScatterToBlocked"
                | "ScatterToStriped",
            )
            | (Class::WarpExchange, "StripedToBlocked" | "BlockedToStriped" | "ScatterToStriped")
            | (Class::BlockDiscontinuity, "FlagHeads" | "FlagTails" | "FlagHeadsAndTails")
            | (
                Class::BlockAdjacentDifference,
                "SubtractLeft" | "SubtractRight" | "SubtractLeftPartialTile" | "SubtractRightPartialTile",
            ) => items(Result::Nothing),
            (Class::BlockShuffle, "Offset" | "Rotate" | "Up" | "Down") => {
                method(Role::Read, Rest::Scanned, Result::Nothing)
            }
            _ => None,
        }
    }
}

/// What a method does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// With the first one.
    pub first: Role,
    /// With the others.
    pub rest: Rest,
    /// What it returns.
    pub result: Result,
}

/// What happens to an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is read.
    Read,
    /// It is read, and written if it is an object that can be.
    Updated,
    /// It points to memory that the threads of the block share out among them.
    Memory,
}

/// What happens to the arguments after the first. Function objects are called whatever is said here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// They are read.
    Plain,
    /// Arrays are read and written, numbers are read.
    Items,
    /// The second is written, and so are later ones but for an initial value.
    Scanned,
}

/// What a method returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Nothing.
    Nothing,
    /// An item.
    Item,
}

/// How the items of a block lie in memory, by the algorithm that loads or stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// Each thread has neighbouring items.
    Blocked,
    /// Neighbouring threads have neighbouring items.
    Striped,
    /// Likewise within each warp, whose items are neighbours.
    WarpStriped,
}

/// The arrangement of an algorithm; the default is a direct one.
pub fn arrangement(algorithm: i128) -> Option<Arrangement> {
    ARRANGEMENTS.get(usize::try_from(algorithm).ok()?).map(|(_, arrangement)| *arrangement)
}

/// The number that an algorithm of loads and stores is, by its name (`BLOCK_LOAD_TRANSPOSE`): an enumeration of the library.
pub fn algorithm(name: &str) -> Option<i128> {
    let rest = name.strip_prefix("BLOCK_LOAD_").or_else(|| name.strip_prefix("BLOCK_STORE_"))?;
    ARRANGEMENTS.iter().position(|(known, _)| *known == rest).map(|at| at as i128)
}

/// The algorithms in the order of the library's enumerations, `cub::BlockLoadAlgorithm` and `cub::BlockStoreAlgorithm`, and how they
/// arrange items.
const ARRANGEMENTS: [(&str, Arrangement); 6] = [
    ("DIRECT", Arrangement::Blocked),
    ("STRIPED", Arrangement::Striped),
    ("VECTORIZE", Arrangement::Blocked),
    ("TRANSPOSE", Arrangement::Striped),
    ("WARP_TRANSPOSE", Arrangement::WarpStriped),
    ("WARP_TRANSPOSE_TIMESLICED", Arrangement::WarpStriped),
];

/// Whether a class without its namespace is a function object of the library, which computes a value of its arguments.
pub fn is_function_object(name: &str) -> bool {
    matches!(name, "Sum" | "Max" | "Min" | "Equality" | "Inequality" | "ArgMax" | "ArgMin" | "Difference" | "Division")
}

/// What a function object gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionObject {
    /// A value of the type of its arguments.
    Value,
    /// A truth value.
    Test,
}

/// What a function object of the standard library or Thrust gives, by its name without the namespace.
pub fn function_object(name: &str) -> Option<FunctionObject> {
    Some(match name {
        "plus" | "minus" | "multiplies" | "divides" | "modulus" | "negate" | "maximum" | "minimum" | "bit_and"
        | "bit_or" | "bit_xor" | "identity" => FunctionObject::Value,
        "equal_to" | "not_equal_to" | "less" | "less_equal" | "greater" | "greater_equal" | "logical_and"
        | "logical_or" | "logical_not" => FunctionObject::Test,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_belong_to_classes() {
        let sum = Class::named("BlockReduce").and_then(|class| class.method("Sum"));
        assert_eq!(sum.map(|method| method.result), Some(Result::Item));
        assert_eq!(Class::BlockScan.method("Sum"), None);
        assert_eq!(Class::named("BlockHistogram"), None);
        assert_eq!(Class::WarpScan.group(), Group::Warp);
        let scatter = Class::named("WarpExchange").and_then(|class| class.method("ScatterToStriped"));
        assert_eq!(scatter.map(|method| method.rest), Some(Rest::Items));
        assert_eq!(Class::WarpExchange.method("ScatterToBlocked"), None);
        assert_eq!((Class::WarpMergeSort.threads_at(), Class::WarpReduce.threads_at()), (2, 1));
    }

    #[test]
    fn algorithms_say_how_items_lie() {
        assert_eq!(algorithm("BLOCK_LOAD_VECTORIZE").and_then(arrangement), Some(Arrangement::Blocked));
        assert_eq!(algorithm("BLOCK_STORE_TRANSPOSE").and_then(arrangement), Some(Arrangement::Striped));
        assert_eq!(algorithm("BLOCK_LOAD_WARP_TRANSPOSE").and_then(arrangement), Some(Arrangement::WarpStriped));
        assert_eq!(algorithm("BLOCK_REDUCE_RAKING").and_then(arrangement), None);
    }
}
