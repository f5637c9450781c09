//! The words of the two languages: users of CUDA read of threads and blocks, users of OpenCL of work-items
//! and work-groups.
//!
//! Deliberately absent: whole messages. They are made where the finding is made, out of these words.

use super::report::Level;
use crate::source::Language;

/// What follows a macro of raceproof's own header.
const OF_HEADER: &str = " (#include \"raceproof.h\")";

/// The words of one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// One thread of execution.
    pub thread: &'static str,
    /// Threads that share memory and barriers.
    pub block: &'static str,
    /// Threads that run in lock-step.
    pub warp: &'static str,
    /// All threads of a launch.
    pub grid: &'static str,
    /// The barrier of a block, as it is written.
    pub barrier: &'static str,
    /// Memory that a block shares.
    pub shared_memory: &'static str,
    /// A function that only threads run.
    pub device_function: &'static str,
    /// What says that something may be relied on, and where it is from, if compilers do not know it.
    assumption: (&'static str, &'static str),
    /// CUDA's ids and sizes, and the functions that give them here; empty for CUDA.
    pub ids: &'static [(&'static str, &'static str)],
    /// Number of threads of a block, along x, y, z, as it is written.
    pub block_dim: [&'static str; 3],
    /// Number of blocks, along x, y, z, as it is written.
    pub grid_dim: [&'static str; 3],
}

const CUDA: Vocabulary = Vocabulary {
    thread: "thread",
    block: "block",
    warp: "warp",
    grid: "grid",
    barrier: "__syncthreads()",
    shared_memory: "shared memory",
    device_function: "__device__ function",
    assumption: ("__builtin_assume", ""),
    ids: &[],
    block_dim: ["blockDim.x", "blockDim.y", "blockDim.z"],
    grid_dim: ["gridDim.x", "gridDim.y", "gridDim.z"],
};

const OPENCL: Vocabulary = Vocabulary {
    thread: "work-item",
    block: "work-group",
    warp: "sub-group",
    grid: "NDRange",
    barrier: "barrier()",
    shared_memory: "local memory",
    device_function: "function",
    assumption: ("RACEPROOF_ASSUME", OF_HEADER),
    ids: &[
        ("threadIdx", "get_local_id"),
        ("blockIdx", "get_group_id"),
        ("blockDim", "get_local_size"),
        ("gridDim", "get_num_groups"),
    ],
    block_dim: ["get_local_size(0)", "get_local_size(1)", "get_local_size(2)"],
    grid_dim: ["get_num_groups(0)", "get_num_groups(1)", "get_num_groups(2)"],
};

impl Vocabulary {
    /// The words of `language`.
    pub fn of(language: Language) -> &'static Vocabulary {
        match language {
            Language::Cuda => &CUDA,
            Language::OpenCl => &OPENCL,
        }
    }

    /// How the source says that a condition over one thread may be relied on.
    pub fn assuming(&self, condition: &str) -> String {
        let (word, header) = self.assumption;
        format!("`{word}({condition})`{header}")
    }

    /// How the source says that a formula of two threads may be relied on, which is for no compiler to see: `DISTINCT(j)`.
    pub fn assuming_of_two(formula: &str) -> String {
        format!("`RACEPROOF_ASSUME(RACEPROOF_{formula})`{OF_HEADER}")
    }

    /// `text`, in which ids and sizes are written as in CUDA, with the names that the language of the source has.
    pub fn in_source(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (variable, function) in self.ids {
            for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
                text = text.replace(&format!("{variable}.{letter}"), &format!("{function}({axis})"));
            }
        }
        for axis in 0..3 {
            let place = format!("get_group_id({axis}) * get_local_size({axis}) + get_local_id({axis})");
            let sum = format!("{place} + get_global_offset({axis})");
            let id = format!("get_global_id({axis})");
            text = text.replace(&format!("({sum})"), &id).replace(&sum, &id);
        }
        text
    }

    /// Where two threads stand to each other: "two threads of one block".
    pub fn two_threads(&self, level: Level) -> String {
        let Vocabulary { thread, block, warp, .. } = self;
        match level {
            Level::Thread => format!("one {thread}"),
            Level::Warp => format!("two {thread}s of one {warp}"),
            Level::Block => format!("two {thread}s of one {block}"),
            Level::Grid => format!("{thread}s of two {block}s"),
        }
    }

    /// One thread of a launch: "thread (1,0,0) of block (0,0,0)".
    pub fn thread_at(&self, thread: [u32; 3], block: [u32; 3]) -> String {
        format!("{} {} of {} {}", self.thread, triple(thread), self.block, triple(block))
    }
}

/// `(x,y,z)`
pub fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_words() {
        let cuda = Vocabulary::of(Language::Cuda);
        let opencl = Vocabulary::of(Language::OpenCl);
        assert_eq!(cuda.thread_at([1, 0, 0], [0, 2, 0]), "thread (1,0,0) of block (0,2,0)");
        assert_eq!(opencl.thread_at([1, 0, 0], [0, 2, 0]), "work-item (1,0,0) of work-group (0,2,0)");
        assert_eq!(opencl.two_threads(Level::Warp), "two work-items of one sub-group");
        assert_eq!(opencl.in_source("blockDim.y = 1"), "get_local_size(1) = 1");
        assert_eq!(cuda.in_source("blockDim.y = 1"), "blockDim.y = 1");
        assert_eq!(cuda.two_threads(Level::Grid), "threads of two blocks");
        assert_eq!(cuda.assuming("n > 0"), "`__builtin_assume(n > 0)`");
        assert_eq!(opencl.assuming("n > 0"), "`RACEPROOF_ASSUME(n > 0)` (#include \"raceproof.h\")");
    }
}
