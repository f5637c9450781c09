//! Values that are worth a try: what numbers, memory and extents may be.

use super::case::{Case, Contents, whole};
use super::signature::{Memory, Signature};
use crate::execute::launch::{Number, Scalar, Values};

/// Elements that memory has at first. Where a kernel reaches further, more are given.
pub const FIRST_COUNT: u64 = 256;

/// Extents of grid and block to begin with, the ordinary ones first.
pub fn geometries(axes: usize, extents: &[u32]) -> Vec<([u32; 3], [u32; 3])> {
    let mut found = match axes {
        1 => vec![
            ([2, 1, 1], [64, 1, 1]),
            ([1, 1, 1], [256, 1, 1]),
            ([3, 1, 1], [32, 1, 1]),
            ([1, 1, 1], [1, 1, 1]),
            ([1, 1, 1], [128, 1, 1]),
            ([4, 1, 1], [512, 1, 1]),
        ],
        2 => vec![
            ([2, 2, 1], [16, 16, 1]),
            ([2, 2, 1], [8, 8, 1]),
            ([1, 2, 1], [32, 8, 1]),
            ([2, 1, 1], [64, 1, 1]),
            ([1, 1, 1], [32, 32, 1]),
            ([1, 1, 1], [1, 1, 1]),
        ],
        _ => vec![
            ([2, 2, 2], [8, 4, 4]),
            ([2, 2, 1], [16, 16, 1]),
            ([1, 1, 2], [32, 4, 2]),
            ([2, 1, 1], [64, 1, 1]),
            ([1, 1, 1], [1, 1, 1]),
        ],
    };
    // Numbers of the text may be the extents for which the kernel is written.
    for &extent in extents.iter().take(6) {
        let blocks = if axes == 1 { vec![[extent, 1, 1]] } else { vec![[extent, extent, 1], [extent, 1, 1]] };
        let fits = |block: &[u32; 3]| block.iter().product::<u32>() <= 1024;
        let with = |grid| move |block| (grid, block);
        let grid = if axes == 1 { [2, 1, 1] } else { [2, 2, 1] };
        found.extend(
            blocks.into_iter().filter(fits).map(with(grid)).filter(|shape| !found.contains(shape)).collect::<Vec<_>>(),
        );
    }
    found
}

/// What a number may be in a case, boundaries first.
pub fn numbers(scalar: Scalar, case: &Case, dictionary: &[i128]) -> Vec<Number> {
    let threads = i128::from(case.threads());
    let block = i128::from(case.block[0]);
    let tall = i128::from(case.grid[1]) * i128::from(case.block[1]);
    let beside = |size: i128| [size, size - 1, size + 1];
    let ordinary = [0, 1, 2, 3, 4, 5, 7, 8, 16, 2 * threads, 4 * block, i128::from(case.grid[0]), -1];
    let wholes = [threads, block, tall].into_iter().flat_map(beside).chain(ordinary);
    let of_text = dictionary.iter().flat_map(|&number| beside(number));
    let mut found: Vec<Number> = Vec::new();
    for number in wholes.chain(of_text).filter_map(|value| whole(scalar, value)) {
        if !found.contains(&number) {
            found.push(number);
        }
    }
    if matches!(scalar, Scalar::Float { .. }) {
        found.extend([0.5, -0.5, 1e-6, 1e6, -1e6].map(Number::Float));
    }
    found
}

/// What memory may hold, the ordinary first.
pub fn contents(memory: &Memory, count: u64, dictionary: &[i128]) -> Vec<Values> {
    let scalar = memory.element.scalar;
    let seeded = |seed, low: f64, high: f64| match scalar {
        Scalar::Float { .. } => Values::Seed { seed, low: Number::Float(low), high: Number::Float(high) },
        _ => Values::Seed { seed, low: Number::Integer(low as i128), high: Number::Integer(high as i128) },
    };
    if scalar == Scalar::Bool {
        let list = |first: bool| {
            Values::List(
                (0..count * u64::from(memory.element.lanes)).map(|at| Number::Truth((at % 2 == 0) == first)).collect(),
            )
        };
        return vec![Values::Zero, Values::Constant(Number::Truth(true)), list(true), list(false)];
    }
    if memory.together > 1 {
        return vec![Values::Zero, seeded(1, 0.0, 2.0), Values::Constant(Number::Integer(1)), seeded(2, 0.0, 256.0)];
    }
    let Some(most) = whole(scalar, i128::from(count)).map(|_| count as f64).or(Some(127.0)) else { return Vec::new() };
    let mut found = match scalar {
        Scalar::Float { .. } => vec![seeded(1, 0.0, 1.0), Values::Zero, seeded(2, -1.0, 1.0), seeded(3, -100.0, 100.0)],
        _ => vec![
            Values::Range(Number::Integer(0), Number::Integer(most as i128)),
            Values::Zero,
            seeded(1, 0.0, 2.0),
            seeded(2, 0.0, most),
            seeded(3, 0.0, 8.0),
        ],
    };
    let constants =
        [1, 2, -1].into_iter().chain(dictionary.iter().flat_map(|&number| [number, number + 1, number - 1]));
    let constants = constants.filter_map(|value| whole(scalar, value)).map(Values::Constant);
    for values in constants {
        if !found.contains(&values) {
            found.push(values);
        }
    }
    if matches!(scalar, Scalar::Integer { signed: true, .. }) {
        found.push(seeded(4, -4.0, 4.0));
    }
    found
}

/// The ordinary case of those extents, with that value for all numbers.
pub fn ordinary(signature: &Signature, (grid, block): ([u32; 3], [u32; 3]), size: i128) -> Case {
    let number =
        |slot: &super::Slot| whole(slot.scalar, size).or_else(|| whole(slot.scalar, 1)).unwrap_or(Number::Truth(true));
    let memory = |memory: &Memory| {
        let count = FIRST_COUNT * memory.together;
        Contents { count, values: contents(memory, count, &[]).swap_remove(0) }
    };
    Case {
        grid,
        block,
        shared: if signature.has_dynamic_shared { 16 * 1024 } else { 0 },
        numbers: signature.numbers.iter().map(number).collect(),
        memories: signature.memories.iter().map(memory).collect(),
    }
}
