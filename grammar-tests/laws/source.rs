//! Random CUDA kernels as text: what real kernels index with, and mistakes of one, in loops, guards and barriers.
//!
//! Shared and global memory, one and two dimensions, signed and unsigned arithmetic, division, remainders, shifts,
//! masks and xors, buffers that take turns, halving strides, trip counts by thread, early returns, barriers of blocks
//! and of warps under conditions. Parameters are `n` and `m`; every kernel ends for small ones.

use crate::support::dice::Dice;

const SHARED: [&str; 30] = [
    "t",
    "t",
    "t",
    "t",
    "d - 1 - t",
    "(t + 1) % d",
    "t ^ 1",
    "t / 2",
    "2 * t",
    "2 * t + 1",
    "t >> 1",
    "t & ~1",
    "t | 1",
    "(t / 32) * 32 + 31 - t % 32",
    "t % 4",
    "0",
    "t + 1",
    "d + t",
    "2 * d - 1 - t",
    "min(t, n)",
    "u - 1u",
    "(u + 3u) & 31u",
    "(t - 1) / 2 + 1",
    "((t - 3) >> 1) + 2",
    "(t + n) % d",
    "y * d + t",
    "y * (d + 1) + t",
    "t * blockDim.y + y",
    "q * 8 + r",
    "(unsigned char)(t * 16)",
];
const SHARED_IN_LOOP: [&str; 12] = [
    "(k & 1) * d + t",
    "((k + 1) & 1) * d + d - 1 - t",
    "(k % 3) * d + t",
    "((k + 1) % 3) * d + d - 1 - t",
    "(1 - k % 2) * d + t",
    "k * d + t",
    "k * d + d - 1 - t",
    "t + k",
    "t * 4 + k",
    "(t + k) % d",
    "t ^ k",
    "t",
];
const SHARED_IN_HALVING: [&str; 6] = ["t", "t + h", "2 * h * t", "2 * h * t + h", "t ^ h", "t & ~h"];
const GLOBAL: [&str; 20] = [
    "g",
    "g",
    "g",
    "g",
    "g + 1",
    "2 * g",
    "2 * g + 1",
    "g / 2",
    "t",
    "b",
    "b * n + t",
    "g ^ 1",
    "b * (d - 1) + t",
    "b * d + d - 1 - t",
    "g * 4 + 3",
    "(b * blockDim.y + y) * d + t",
    "n - g",
    "g % n",
    "g - m",
    "(unsigned char)g",
];
const GLOBAL_IN_LOOP: [&str; 7] = [
    "k * d * gridDim.x + g",
    "g * 8 + k",
    "(k * gridDim.x + b) * d + t",
    "k * n + g",
    "g",
    "g + k",
    "(b * 8 + k) * d + t",
];
/// Barriers of some threads, rightly used and wrongly.
const OF_SOME: [&str; 9] = [
    "if (t % 32 < 16) __syncwarp(0x0000ffff);\nelse __syncwarp(0xffff0000);\n",
    "if (t % 32 < 16) __syncwarp(0x0000ffff);\n",
    "__syncwarp(0x0000ffff);\n",
    "if (t < n) __syncwarp(__ballot_sync(0xffffffff, t < n));\n",
    "{ unsigned v = __ballot_sync(0xffffffff, t < n); if (t < n) { s[t] = x; __syncwarp(v); x += s[t ^ 1]; } }\n",
    "{ unsigned v = __ballot_sync(0xffffffff, t % 4 < 2); s[t] = x; if (t % 4 < 2) __syncwarp(v); }\n",
    "__syncwarp(__activemask());\n",
    "__syncwarp();\n",
    "if (t % 32 < 4) { s[t] = x; __syncwarp((1u << 4) - 1); x += s[t ^ 1]; }\n",
];

/// What threads do together, some of which tells them all the same: of a warp, of a part of one, of a block.
const TOGETHER: [&str; 14] = [
    "if (__any_sync(0xffffffff, x < n)) s[t] = x;\n",
    "if (__any_sync(0xffffffff, x < n)) __syncwarp();\n",
    "if (__any_sync(0xffffffff, x < n)) __syncthreads();\n",
    "if (__syncthreads_or(x < n)) __syncthreads();\n",
    "x = __shfl_sync(0xffffffff, x, 0);\n",
    "x = __shfl_sync(0xffffffff, x, 0, 4);\n",
    "x = __shfl_xor_sync(0xffffffff, x, 1);\n",
    "if (x & 1) __syncwarp();\n",
    "if (x & 1) __syncthreads();\n",
    "if (t < n) x += __shfl_down_sync(0xffffffff, x, 16);\n",
    "if (t % 32 < 16) x = __reduce_add_sync(0x0000ffff, x);\n",
    "s[(__shfl_sync(0xffffffff, x, 2) & 7) * d + t] = x;\n",
    "x = __syncthreads_count(x > 0);\n",
    "s[(__syncthreads_count(x > 0) & 7) * d + t] = x;\n",
];

/// Which barriers kernels have, besides those of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barriers {
    /// Of whole warps.
    OfAll,
    /// Of some threads of a warp, too.
    OfSome,
    /// Calls that threads make together, too.
    Together,
}

const CONDITIONS: [&str; 20] = [
    "t < n",
    "t == 0",
    "t % 2 == 0",
    "t > 0",
    "n > 2",
    "b == 0",
    "t < d / 2",
    "(t & 1) == 1",
    "t < 32",
    "g < n",
    "n > 1 && m > 1",
    "t == 0 || t == n",
    "y == 0",
    "t + 1 < d",
    "g % 2 == 0",
    "r < 8",
    "m % 2 == 0",
    "t >= n",
    "u - 1u < 8u",
    "!(t < m)",
];
const UNIFORM: [&str; 6] = ["n > 2", "m > 0", "n > m", "b % 2 == 0", "d > 3", "n % 2 == 0"];

/// The kernel of a seed.
pub(super) fn kernel(seed: u64, barriers: Barriers) -> String {
    let mut maker = Maker { dice: Dice(seed), loops: Loops::default(), barriers };
    let body = maker.block(2, 3);
    format!(
        "__global__ void k(int *a, int *o, int n, int m) {{
  __shared__ int s[4096];
  int t = threadIdx.x, b = blockIdx.x, d = blockDim.x, g = b * d + t, q = t / 8, r = t % 8, x = 0;
  unsigned u = threadIdx.x;
  {}
{body}}}\n",
        if maker.dice.below(4) == 0 { "int y = threadIdx.y;" } else { "int y = 0;" }
    )
}

/// Which loop variables may be used.
#[derive(Clone, Copy, Default)]
struct Loops {
    counted: bool,
    halving: bool,
}

struct Maker {
    dice: Dice,
    loops: Loops,
    barriers: Barriers,
}

impl Maker {
    fn block(&mut self, least: u64, depth: u32) -> String {
        let count = least + self.dice.below(4);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.dice.below(if depth == 0 { 11 } else { 17 }) {
            0..=2 => format!("s[{}] = x;\n", self.shared()),
            3..=5 => format!("x += s[{}];\n", self.shared()),
            6 => format!("o[{}] = x;\n", self.global()),
            7 | 9 if self.barriers == Barriers::Together => self.dice.pick(&TOGETHER).to_owned(),
            7 => format!("x += a[{}];\n", self.global()),
            9 if self.barriers == Barriers::OfSome => self.dice.pick(&OF_SOME).to_owned(),
            8 | 9 => "__syncthreads();\n".to_owned(),
            10 if self.barriers == Barriers::OfSome => self.dice.pick(&OF_SOME).to_owned(),
            10 => self.dice.pick(&["__syncwarp();\n", "__syncthreads();\n", "x += 1;\n"]).to_owned(),
            11 | 12 => format!("if ({}) {{\n{}}}\n", self.dice.pick(&CONDITIONS), self.block(1, depth - 1)),
            13 => format!("if ({}) {{\n{}}}\n", self.dice.pick(&UNIFORM), self.block(1, depth - 1)),
            14 => format!("if ({}) return;\n", self.dice.pick(&CONDITIONS)),
            _ => self.looped(depth),
        }
    }

    fn looped(&mut self, depth: u32) -> String {
        let around = self.loops;
        let head = if !around.halving && self.dice.below(4) == 0 {
            self.loops.halving = true;
            self.dice.pick(&[
                "for (int h = 8; h > 0; h >>= 1)",
                "for (int h = 1; h < d; h *= 2)",
                "for (int h = m; h > 0; h /= 2)",
            ])
        } else if !around.counted {
            self.loops.counted = true;
            self.dice.pick(&[
                "for (int k = 0; k < n; k++)",
                "for (int k = 0; k < m; k++)",
                "for (int k = 1; k < n; k++)",
                "for (int k = t; k < n; k += d)",
                "for (int k = t; k < m * d; k += d)",
                "for (int k = n; k > 0; k--)",
                "for (int k = m; k < n; k += 2)",
            ])
        } else {
            return format!("if ({}) {{\n{}}}\n", self.dice.pick(&UNIFORM), self.block(1, depth - 1));
        };
        let mut body = self.block(1, depth - 1);
        match self.dice.below(8) {
            0 => body += &format!("if ({}) break;\n", self.dice.pick(&UNIFORM)),
            1 => body = format!("if ({}) continue;\n{body}", self.dice.pick(&UNIFORM)),
            2 | 3 => body += "__syncthreads();\n",
            _ => {}
        }
        self.loops = around;
        format!("{head} {{\n{body}}}\n")
    }

    fn shared(&mut self) -> &'static str {
        match self.dice.below(3) {
            0 if self.loops.halving => self.dice.pick(&SHARED_IN_HALVING),
            1 | 2 if self.loops.counted => self.dice.pick(&SHARED_IN_LOOP),
            _ => self.dice.pick(&SHARED),
        }
    }

    fn global(&mut self) -> &'static str {
        if self.loops.counted && self.dice.below(2) == 0 {
            return self.dice.pick(&GLOBAL_IN_LOOP);
        }
        self.dice.pick(&GLOBAL)
    }
}
