//! Random kernels of which each thread writes where a shuffle or a reduction tells it to: a run must access what the
//! executable semantics access, where these know it.
//!
//! Blocks come in whole warps and in parts of them, in one row and in several; threads return early. The place tells the
//! value, so that a wrong formula of a lane is a wrong place. The law has as many kernels for each shape of a block.

use super::build::Toolchain;
use super::{checked, run};
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough, part};
use crate::support::tier::{Tiers, tiers};
use crate::support::tools::has_cxx;
use std::fmt::Write;

/// Blocks: their extents, and what numbers their threads.
const BLOCKS: [(&str, &str); 5] = [
    ("64", "blockIdx.x * blockDim.x + threadIdx.x"),
    ("40", "blockIdx.x * blockDim.x + threadIdx.x"),
    ("32,2", "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"),
    ("16,4", "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"),
    ("8,8", "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"),
];
/// One shape of a block in as many is tried.
const SHAPES: Tiers<usize> = tiers(5, 2, 1);
/// Kernels of a file.
const LAW: Law = Law::new("shuffles", tiers(4, 8, 60));

const LEAVES: [&str; 9] = [
    "i",
    "lane",
    "p",
    "7",
    "int(threadIdx.x)",
    "int(threadIdx.x / 32)",
    "int(threadIdx.x >> 4)",
    "int(threadIdx.x & 31)",
    "int(threadIdx.x % 8)",
];
const OPERATORS: [&str; 5] = ["+", "-", "^", "&", "|"];
/// Conditions and loops that all threads of a warp agree about, where a warp is of one row.
const TOGETHER: [&str; 5] = [
    "",
    "if (p > 3) ",
    "if (threadIdx.x / 32 == 0) ",
    "for (int r = 0; r < (p & 3); r++) ",
    "for (int r = threadIdx.x / 32; r < 3; r++) ",
];

struct Maker {
    dice: Dice,
    variables: usize,
}

impl Maker {
    fn value(&mut self, depth: u64) -> String {
        match self.dice.below(5) {
            0 | 1 if depth > 0 => {
                let op = self.dice.pick(&OPERATORS);
                format!("({} {op} {})", self.value(depth - 1), self.value(depth - 1))
            }
            2 if depth > 0 => {
                let [a, b, c] = [(); 3].map(|()| self.value(depth - 1));
                format!("({a} < {b} ? {b} : {c})")
            }
            3 if self.variables > 0 => format!("v{}", self.dice.below(self.variables as u64)),
            _ => self.dice.pick(&LEAVES).to_owned(),
        }
    }

    /// What is mostly the same for all threads of a warp, where a warp is of one row.
    fn level(&mut self) -> String {
        match self.dice.below(8) {
            0 => self.value(1),
            1 | 2 => format!("p {} int(threadIdx.x / 32)", self.dice.pick(&OPERATORS)),
            3 => format!("(p < 3 ? {} : int(threadIdx.x >> 5))", self.dice.below(64)),
            4 if self.variables > 0 => format!("v{}", self.dice.below(self.variables as u64)),
            _ => "p".to_owned(),
        }
    }

    fn shuffle(&mut self) -> String {
        let value = self.value(2);
        let width = self.dice.pick(&[32, 32, 16, 8, 4]);
        let by = match self.dice.below(3) {
            0 => format!("p & {}", width - 1),
            1 => format!("lane & {}", width - 1),
            _ => self.dice.below(width).to_string(),
        };
        let fixed = self.dice.below(width);
        match self.dice.below(8) {
            6 => format!("__reduce_{}_sync(~0u, {})", self.dice.pick(&["min", "max"]), self.level()),
            7 => format!("int(__reduce_{}_sync(~0u, unsigned({})))", self.dice.pick(&["and", "or"]), self.level()),
            0 => format!("tile.shfl({value}, {})", fixed % 8),
            1 => format!("tile.shfl_xor({value}, {})", fixed % 8),
            2 => format!("__shfl_sync(~0u, {value}, {}, {width})", self.value(1)),
            3 => format!("__shfl_up_sync(~0u, {value}, {by}, {width})"),
            4 => format!("__shfl_down_sync(~0u, {value}, {by}, {width})"),
            _ => format!("__shfl_xor_sync(~0u, {value}, {fixed}, {width})"),
        }
    }

    fn statement(&mut self, text: &mut String) {
        let to = self.dice.below(self.variables as u64);
        let line = match self.dice.below(3) {
            0 => format!("  if ({} < {}) v{to} = {};\n", self.value(1), self.value(1), self.value(1)),
            _ => format!("  {}v{to} = {};\n", self.dice.pick(&TOGETHER), self.shuffle()),
        };
        text.push_str(&line);
    }
}

/// The kernel of a seed for one of the shapes of blocks.
fn kernel(seed: u64, shape: u64, number: &str) -> String {
    let mut maker = Maker { dice: Dice(seed.rotate_left(8) ^ shape), variables: 0 };
    let mut text =
        format!("__global__ void k{seed}_ok(int *a, int p) {{\n  int i = {number}, lane = threadIdx.x % 32;\n");
    if maker.dice.below(3) == 0 {
        text.push_str("  if (i > 50 + p) return;\n");
    }
    text.push_str("  auto tile = cg::tiled_partition<8>(cg::this_thread_block());\n");
    for number in 0..3 {
        let value = if maker.dice.below(2) == 0 { maker.value(2) } else { maker.shuffle() };
        let _ = writeln!(text, "  int v{number} = {value};");
        maker.variables += 1;
    }
    for _ in 0..maker.dice.below(5) {
        maker.statement(&mut text);
    }
    text.push_str("  a[(i << 6) + ((v0 ^ v1 ^ v2 ^ (v2 >> 6)) & 63)] = 1;\n}\n\n");
    text
}

#[test]
fn shuffles_give_what_the_semantics_say() {
    if !has_cxx() {
        return;
    }
    let toolchain = Toolchain::new();
    let directory = tempfile::tempdir().expect("a directory");
    let blocks: Vec<(u64, (&str, &str))> = (0..).zip(BLOCKS).collect();
    let (mut launches, mut compared) = (0, 0);
    for (at, (extents, number)) in part("shapes of blocks", blocks, SHAPES, |(_, (extents, _))| (*extents).to_owned()) {
        let mut text = format!(
            "// raceproof: block-dim {extents}\n#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\n"
        );
        LAW.seeds().into_iter().for_each(|seed| text.push_str(&kernel(seed, at, number)));
        let path = directory.path().join(format!("shuffles{at}.cu"));
        std::fs::write(&path, &text).expect("written");
        let (complaints, [free, racy, same]) = run(checked(&path, &toolchain));
        let seed = |kernel: &String| kernel.strip_prefix('k')?.strip_suffix("_ok")?.parse().ok();
        complaints.keys().filter_map(|(_, kernel)| seed(kernel)).for_each(|seed| LAW.failed(seed));
        assert!(complaints.is_empty(), "{complaints:#?}\n{text}");
        eprintln!("{extents}: {free} launches, {same} access by access");
        assert_eq!(racy, 0, "launches of blocks of {extents}");
        launches += free;
        compared += same;
    }
    assert!(is_enough(compared, launches, 6), "of {launches} launches only {compared} are compared");
}
