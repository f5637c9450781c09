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
//! Deliberately absent: relations that some launches of a kernel say and others do not.

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

/// What all launches of a kernel in the file say of its sizes and parameters, and where one does.
pub fn common_relations(launched: &Launched, function: FunctionId) -> Vec<(&Relation, Span)> {
    let launches: Vec<&Launch> = launched.launches_of(function).collect();
    let mut common: Vec<(&Relation, Span)> = Vec::new();
    for (launch, relation) in launches.iter().flat_map(|launch| launch.relations.iter().map(move |it| (launch, it))) {
        let is_known = common.iter().any(|(known, _)| *known == relation);
        if !is_known && launches.iter().all(|other| says(other, relation)) {
            common.push((relation, launch.span));
        }
    }
    common
}

/// States in the kernel what all its launches in the file say.
pub fn assume(kernel: &mut Kernel, launched: &Launched, function: FunctionId) {
    let mut stated = Vec::new();
    for (relation, span) in common_relations(launched, function) {
        if let Some(cond) = condition(kernel, &launched.program, function, relation) {
            stated.push(Stmt::Assume { cond, basis: Basis::Stated, span: Some(span) });
        }
    }
    kernel.body.splice(0..0, stated);
}

/// Whether a relation holds in a launch, as it was found or by the constants of the launch.
fn says(launch: &Launch, relation: &Relation) -> bool {
    let value = |term: &Term| match *term {
        Term::Size(GeometryVar::BlockDim(axis)) => launch.block[axis.index()].map(i128::from),
        Term::Size(GeometryVar::GridDim(axis)) => launch.grid[axis.index()].map(i128::from),
        Term::Size(_) => None,
        // Conditions compare in 64 bits with a sign.
        Term::Param(position) => {
            launch.args.get(position).copied().flatten().filter(|arg| *arg <= i128::from(i64::MAX))
        }
    };
    let holds_by_constants = || match relation {
        Relation::NotNegative { terms, plus } => {
            let product = |(factor, product): &(i128, Vec<Term>)| {
                product.iter().try_fold(*factor, |made, term| made.checked_mul(value(term)?))
            };
            let sum = terms.iter().try_fold(*plus, |sum, term| sum.checked_add(product(term)?))?;
            Some(sum >= 0)
        }
        Relation::Power(term) => value(term).map(|value| value >= 0 && value.count_ones() <= 1),
        Relation::Multiple(term, of) => value(term).map(|value| value % of == 0),
    };
    launch.relations.contains(relation)
        || holds_by_constants() == Some(true)
        || host::implies(&launch.relations, relation, |term| value(&term))
}

/// The relation as a condition on the kernel's parameters, computed in 64 bits.
fn condition(kernel: &mut Kernel, program: &Program, function: FunctionId, relation: &Relation) -> Option<ExprId> {
    match relation {
        Relation::NotNegative { terms, plus } => not_negative(kernel, (program, function), terms, *plus),
        Relation::Power(of) => {
            let value = term(kernel, program, function, *of)?;
            let one = kernel.exprs.int(1, ScalarType::I64);
            let less = kernel.exprs.binary(BinaryOp::Sub, value, one);
            let common = kernel.exprs.binary(BinaryOp::BitAnd, value, less);
            let zero = kernel.exprs.int(0, ScalarType::I64);
            Some(kernel.exprs.binary(BinaryOp::Eq, common, zero))
        }
        Relation::Multiple(of, divisor) => {
            let value = term(kernel, program, function, *of)?;
            let [divisor, zero] = [*divisor, 0].map(|number| kernel.exprs.int(number, ScalarType::I64));
            let rest = kernel.exprs.binary(BinaryOp::Rem, value, divisor);
            Some(kernel.exprs.binary(BinaryOp::Eq, rest, zero))
        }
    }
}

/// `w - 32 * g >= 0` as `g * 32 <= w`: what is subtracted stands on the left, and of numbers the smaller side has none.
fn not_negative(
    kernel: &mut Kernel,
    (program, function): (&Program, FunctionId),
    terms: &[(i128, Vec<Term>)],
    plus: i128,
) -> Option<ExprId> {
    let mut sides: [Option<ExprId>; 2] = [None, None];
    let mut add = |kernel: &mut Kernel, side: usize, value: ExprId| {
        sides[side] = Some(sides[side].map_or(value, |sum| kernel.exprs.binary(BinaryOp::Add, sum, value)));
    };
    for (factor, product) in terms {
        let mut made: Option<ExprId> = None;
        for &part in product {
            let value = term(kernel, program, function, part)?;
            made = Some(made.map_or(value, |made| kernel.exprs.binary(BinaryOp::Mul, made, value)));
        }
        let mut made = made?;
        if factor.abs() != 1 {
            let times = kernel.exprs.int(factor.abs(), ScalarType::I64);
            made = kernel.exprs.binary(BinaryOp::Mul, made, times);
        }
        add(kernel, usize::from(*factor > 0), made);
    }
    let is_alone = terms.iter().all(|(factor, _)| *factor > 0);
    // `a < b` reads best so.
    let op = if plus == -1 && !is_alone { BinaryOp::Lt } else { BinaryOp::Le };
    if op == BinaryOp::Le && plus != 0 {
        let number = kernel.exprs.int(plus.abs(), ScalarType::I64);
        let is_left = plus < 0;
        add(kernel, usize::from(!is_left), number);
    }
    let mut side = |at: usize| sides[at].unwrap_or_else(|| kernel.exprs.int(0, ScalarType::I64));
    let (left, right) = (side(0), side(1));
    Some(kernel.exprs.binary(op, left, right))
}

/// A term as a number of 64 bits; `None` for a parameter that is no integer.
fn term(kernel: &mut Kernel, program: &Program, function: FunctionId, term: Term) -> Option<ExprId> {
    let value = match term {
        Term::Size(size) => kernel.exprs.geometry(size),
        Term::Param(position) => {
            let &variable = program.functions[function].params.get(position)?;
            let name = &program.variables[variable].name;
            let (param, ty) =
                kernel.params.iter().find(|(_, param)| param.name == *name).map(|(id, it)| (id, it.ty))?;
            if !matches!(ty, ScalarType::Int { .. }) {
                return None;
            }
            kernel.exprs.param(param, ty)
        }
    };
    Some(kernel.exprs.convert(ScalarType::I64, value))
}
