//! What the launches in a file say about a kernel: facts about geometry and arguments.
//!
//! What host code around a launch says is evaluated between declarations and kernels ([`host`]), because templates of
//! kernels need its constants; here the launches of one kernel become sets of facts, each once, in the order in which
//! they first appear. A size or argument that is not a constant is no fact, never a guess. That other launches may
//! exist elsewhere is for the caller to say.
//!
//! Relations between sizes and arguments that all launches of a kernel have in common become assumptions of the
//! kernel ([`assume`]).
//!
//! Deliberately absent: relations with sizes that are rounded up, which kernels guard against themselves.

pub mod enqueued;
mod host;
mod launches;

pub use host::{Resolved, resolve};
pub use launches::{Given, Launch, Launched, Relation, Term};

use crate::calculus::{Axis, Basis, BinaryOp, ExprId, GeometryVar, Kernel, ScalarType, Stmt};
use crate::resolve::program::{FunctionId, Program, Type};
use crate::source::Span;

/// What one or more equal launches say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Threads of a block, where they are known.
    pub block: [Option<u32>; 3],
    /// Blocks of the grid, where they are known.
    pub grid: [Option<u32>; 3],
    /// Scalar parameters whose arguments are constants, by name, in the order of the parameters.
    pub params: Vec<(String, i128)>,
    /// Bytes of dynamically sized shared memory, if they are known.
    pub shared_bytes: Option<u64>,
    /// How the sizes of a block and of the grid are given, where they are not known.
    pub given: [Given; 2],
    /// The launches, in source order.
    pub spans: Vec<Span>,
}

/// Why a launch can never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// A block has more threads than any device allows.
    #[error("a block of {threads} threads is larger than any device allows ({most})")]
    Block {
        /// Its threads, at least.
        threads: u64,
        /// The most that there may be.
        most: u32,
    },
    /// A block is longer along an axis than any device allows.
    #[error("a block of {size} threads along {} is larger than any device allows ({most})", letter(*.axis))]
    BlockExtent {
        /// Its extent.
        size: u64,
        /// Along this axis.
        axis: Axis,
        /// The longest that there may be.
        most: u32,
    },
    /// The grid is longer along an axis than any device allows.
    #[error("a grid of {size} blocks along {} is larger than any device allows ({most})", letter(*.axis))]
    GridExtent {
        /// Its extent.
        size: u64,
        /// Along this axis.
        axis: Axis,
        /// The longest that there may be.
        most: u32,
    },
    /// A block has more threads than the kernel is compiled for.
    #[error("a block of {threads} threads is larger than the kernel's `__launch_bounds__` allow ({most})")]
    Bounds {
        /// Its threads, at least.
        threads: u64,
        /// The number that the kernel states.
        most: u32,
    },
}

fn letter(axis: Axis) -> char {
    ['x', 'y', 'z'][axis.index()]
}

/// The sets of facts that the launches of `kernel` state, and the launches that can never run.
pub fn facts(launched: &Launched, kernel: FunctionId) -> (Vec<Facts>, Vec<(Span, Impossible)>) {
    let mut found: Vec<Facts> = Vec::new();
    let mut impossible = Vec::new();
    for launch in launched.launches_of(kernel) {
        let made = match facts_of(&launched.program, launch) {
            Ok(made) => made,
            Err(reason) => {
                // A function that several instances of a template become launches once in the text.
                if !impossible.contains(&(launch.span, reason)) {
                    impossible.push((launch.span, reason));
                }
                continue;
            }
        };
        match found.iter_mut().find(|known| same(known, &made)) {
            Some(known) => {
                let new = made.spans.into_iter().filter(|span| !known.spans.contains(span)).collect::<Vec<_>>();
                known.spans.extend(new);
            }
            None => found.push(made),
        }
    }
    (found, impossible)
}

/// Whether two sets of facts differ in their places only.
fn same(a: &Facts, b: &Facts) -> bool {
    a.block == b.block
        && a.grid == b.grid
        && a.params == b.params
        && a.shared_bytes == b.shared_bytes
        && a.given == b.given
}

/// Why nobody can launch that. What is not known of a size is taken as 1, the least that it can be.
fn impossible(program: &Program, launch: &Launch) -> Option<Impossible> {
    let rules = program.platform.rules();
    let threads = launch.block.iter().flatten().fold(1_u64, |product, &size| product.saturating_mul(size));
    let has_more = |most: u32| threads > u64::from(most);
    if let Some(most) = rules.most_threads.filter(|&most| has_more(most)) {
        return Some(Impossible::Block { threads, most });
    }
    if let Some((size, axis, most)) = too_long(&launch.block, &rules.block) {
        return Some(Impossible::BlockExtent { size, axis, most });
    }
    if let Some((size, axis, most)) = too_long(&launch.grid, &rules.grid) {
        return Some(Impossible::GridExtent { size, axis, most });
    }
    let stated = program.functions[launch.kernel].geometry.max_threads;
    stated.filter(|&most| has_more(most)).map(|most| Impossible::Bounds { threads, most })
}

/// The first extent that is longer than the longest, with that one.
fn too_long(sizes: &[Option<u64>; 3], most: &[u32; 3]) -> Option<(u64, Axis, u32)> {
    let known = Axis::ALL.into_iter().filter_map(|axis| Some((sizes[axis.index()]?, axis, most[axis.index()])));
    known.into_iter().find(|&(size, _, most)| size > u64::from(most))
}

fn facts_of(program: &Program, launch: &Launch) -> Result<Facts, Impossible> {
    if let Some(reason) = impossible(program, launch) {
        return Err(reason);
    }
    let params = program.functions[launch.kernel].params.iter().zip(&launch.args).filter_map(|(&param, value)| {
        let declared = &program.variables[param];
        let is_scalar = matches!(program.types[declared.ty], Type::Int { .. } | Type::Bool);
        value.filter(|_| is_scalar).map(|value| (declared.name.clone(), value))
    });
    let narrow = |sizes: [Option<u64>; 3]| sizes.map(|size| size.and_then(|size| u32::try_from(size).ok()));
    Ok(Facts {
        block: narrow(launch.block),
        grid: narrow(launch.grid),
        params: params.collect(),
        shared_bytes: launch.shared_bytes,
        given: [launch.given[1], launch.given[0]],
        spans: vec![launch.span],
    })
}

/// States in the kernel what all its launches in the file say of its sizes and parameters.
pub fn assume(kernel: &mut Kernel, launched: &Launched, function: FunctionId) {
    let launches: Vec<&Launch> = launched.launches_of(function).collect();
    let mut stated = Vec::new();
    let mut seen: Vec<&Relation> = Vec::new();
    for (launch, relation) in launches.iter().flat_map(|launch| launch.relations.iter().map(move |it| (launch, it))) {
        if seen.contains(&relation) || !launches.iter().all(|other| says(other, relation)) {
            continue;
        }
        seen.push(relation);
        if let Some(cond) = condition(kernel, &launched.program, function, relation) {
            stated.push(Stmt::Assume { cond, basis: Basis::Stated, span: Some(launch.span) });
        }
    }
    kernel.body.splice(0..0, stated);
}

/// Whether a relation holds in a launch, as it was found or by the constants of the launch.
fn says(launch: &Launch, relation: &Relation) -> bool {
    let value = |term: Term| match term {
        Term::Zero => Some(0),
        Term::Size(GeometryVar::BlockDim(axis)) => launch.block[axis.index()].map(i128::from),
        Term::Size(GeometryVar::GridDim(axis)) => launch.grid[axis.index()].map(i128::from),
        Term::Size(_) => None,
        Term::Param(position) => launch.args.get(position).copied().flatten(),
    };
    let holds_by_constants = || {
        let left = value(relation.left)?.checked_mul(relation.times)?;
        let right = value(relation.right)?.checked_mul(relation.right_times)?.checked_add(relation.plus)?;
        Some(left <= right)
    };
    launch.relations.contains(relation) || holds_by_constants() == Some(true)
}

/// The relation as a condition on the kernel's parameters, computed in 64 bits.
fn condition(kernel: &mut Kernel, program: &Program, function: FunctionId, relation: &Relation) -> Option<ExprId> {
    let left = term(kernel, program, function, relation.left)?;
    let right = term(kernel, program, function, relation.right)?;
    // Bounds read best as bounds.
    match (relation.left, relation.right) {
        (Term::Zero, _) if relation.right_times == 1 => {
            let least = kernel.exprs.int(-relation.plus, ScalarType::I64);
            return Some(kernel.exprs.binary(BinaryOp::Le, least, right));
        }
        (_, Term::Zero) if relation.times == 1 => {
            let greatest = kernel.exprs.int(relation.plus, ScalarType::I64);
            return Some(kernel.exprs.binary(BinaryOp::Le, left, greatest));
        }
        _ => {}
    }
    let times = kernel.exprs.int(relation.times, ScalarType::I64);
    let left = kernel.exprs.binary(BinaryOp::Mul, left, times);
    let right_times = kernel.exprs.int(relation.right_times, ScalarType::I64);
    let right = kernel.exprs.binary(BinaryOp::Mul, right, right_times);
    if relation.plus == -1 {
        return Some(kernel.exprs.binary(BinaryOp::Lt, left, right));
    }
    let plus = kernel.exprs.int(relation.plus, ScalarType::I64);
    let right = kernel.exprs.binary(BinaryOp::Add, right, plus);
    Some(kernel.exprs.binary(BinaryOp::Le, left, right))
}

/// A term as a number of 64 bits; `None` for a parameter that is no integer which these can hold.
fn term(kernel: &mut Kernel, program: &Program, function: FunctionId, term: Term) -> Option<ExprId> {
    let value = match term {
        Term::Zero => return Some(kernel.exprs.int(0, ScalarType::I64)),
        Term::Size(size) => kernel.exprs.geometry(size),
        Term::Param(position) => {
            let &variable = program.functions[function].params.get(position)?;
            let name = &program.variables[variable].name;
            let (param, ty) =
                kernel.params.iter().find(|(_, param)| param.name == *name).map(|(id, it)| (id, it.ty))?;
            if !matches!(ty, ScalarType::Int { .. }) || ty == ScalarType::U64 {
                return None;
            }
            kernel.exprs.param(param, ty)
        }
    };
    Some(kernel.exprs.convert(ScalarType::I64, value))
}
