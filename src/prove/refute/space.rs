//! What is enumerated: small geometries and parameter values, or the ones that the scope fixes.

use super::sweep::Levels;
use crate::calculus::{
    Basis, BinaryOp, Expr, ExprId, Geometry, GeometryFacts, Kernel, ScalarType, Stmt, Test, VarId, extents, is_of_lanes,
};
use crate::prove::Scope;
use rustc_hash::{FxHashMap, FxHashSet};

/// Greatest number of threads of an enumerated launch.
const MOST_THREADS: u64 = 4096;
/// Sizes along one axis, in the order in which they are tried.
const SIZES: [u32; 16] = [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 96, 128, 256, 512];
/// Sizes where two axes are free, and where three are.
const FLAT_SIZES: [u32; 6] = [1, 2, 3, 4, 8, 16];
const SOLID_SIZES: [u32; 3] = [1, 2, 4];
/// Numbers of blocks where one axis is free, and where more are.
const BLOCKS: [u32; 3] = [1, 2, 3];
const FEW_BLOCKS: [u32; 2] = [1, 2];
/// Constants of the kernel that are tried as sizes too: tiles are mostly as large as the blocks that load them.
const TILES: std::ops::RangeInclusive<i128> = 5..=64;
const MOST_TILES: usize = 3;
/// Natural valuations before the first degenerate ones, and how many of those come then.
const NATURAL_FIRST: usize = 12;
const DEGENERATE_SOON: usize = 4;
/// Constants of the kernel that are likely values of anything.
const LIKELY: usize = 5;

/// What a kernel mentions.
pub(super) struct Mentions {
    block: [bool; 3],
    grid: [bool; 3],
    params: Vec<bool>,
    /// Which of the parameters are factors or divisors of something that is no constant, as sizes and pitches are.
    factors: Vec<bool>,
    /// The parameters that variables are computed from.
    behind: FxHashMap<VarId, FxHashSet<usize>>,
    /// Small constants, sorted.
    constants: Vec<i128>,
    /// Number of statements, for estimating costs.
    pub(super) statements: u64,
}

impl Mentions {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let [block, mut grid] = extents::that_matter(kernel);
        // A grid consists of whole clusters.
        for (matters, blocks) in grid.iter_mut().zip(kernel.geometry.clusters().unwrap_or([1; 3])) {
            *matters |= blocks > 1;
        }
        let mut mentions = Mentions {
            block,
            grid,
            params: vec![false; kernel.params.len()],
            factors: vec![false; kernel.params.len()],
            behind: FxHashMap::default(),
            constants: Vec::new(),
            statements: 0,
        };
        let mut seen = FxHashSet::default();
        let mut bodies: Vec<&[Stmt]> = vec![&kernel.body];
        while let Some(body) = bodies.pop() {
            for stmt in body {
                mentions.statements += 1;
                if let Stmt::Let { var, value } = stmt {
                    let params = mentions.params_of(kernel, *value);
                    mentions.behind.entry(*var).or_default().extend(params);
                }
                let mut stack = roots(stmt);
                while let Some(id) = stack.pop() {
                    if seen.insert(id) {
                        mentions.note(kernel, id);
                        stack.extend(crate::calculus::operands(&kernel.exprs[id]));
                    }
                }
                match stmt {
                    Stmt::If { then, otherwise, .. } => bodies.extend([then.as_slice(), otherwise]),
                    Stmt::For(counted) => bodies.push(&counted.body),
                    Stmt::Loop { body, .. } => bodies.push(body),
                    _ => {}
                }
            }
        }
        mentions.constants.sort_unstable();
        mentions.constants.dedup();
        mentions
    }

    fn note(&mut self, kernel: &Kernel, id: ExprId) {
        match kernel.exprs[id] {
            Expr::Param(param) => self.params[param.index()] = true,
            Expr::Int(value, ScalarType::Int { .. }) if (0..=1 << 16).contains(&value) => self.constants.push(value),
            Expr::Binary(BinaryOp::Mul, left, right) => {
                for (factor, other) in [(left, right), (right, left)] {
                    if kernel.exprs.as_int(other).is_none() {
                        self.note_factor(kernel, factor);
                    }
                }
            }
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => self.note_factor(kernel, divisor),
            _ => {}
        }
    }

    fn note_factor(&mut self, kernel: &Kernel, factor: ExprId) {
        for param in self.params_of(kernel, factor) {
            self.factors[param] = true;
        }
    }

    /// The parameters that a value is computed from, as far as it is known here.
    fn params_of(&self, kernel: &Kernel, value: ExprId) -> FxHashSet<usize> {
        let mut params = FxHashSet::default();
        kernel.exprs.visit(value, |_, node| match node {
            Expr::Param(param) => _ = params.insert(param.index()),
            Expr::Var(var) => params.extend(self.behind.get(var).into_iter().flatten()),
            _ => {}
        });
        params
    }
}

/// The expressions that a statement itself evaluates.
fn roots(stmt: &Stmt) -> Vec<ExprId> {
    match stmt {
        Stmt::Let { value, .. } => vec![*value],
        Stmt::Read { access, .. } => vec![access.offset],
        Stmt::Write { access, value } => value.iter().copied().chain([access.offset]).collect(),
        Stmt::Atomic { access, operands, .. } => operands.iter().copied().chain([access.offset]).collect(),
        Stmt::Assume { basis: Basis::Proved | Basis::Given | Basis::Candidate, .. } => Vec::new(),
        Stmt::If { cond, .. } | Stmt::Assume { cond, .. } | Stmt::Assert { cond, .. } => vec![*cond],
        Stmt::For(counted) => vec![counted.start, counted.bound, counted.step.by],
        Stmt::Loop { test: Test::Before(cond) | Test::After(cond), .. } => vec![*cond],
        Stmt::Sync { among, .. } => among.mentioned().collect(),
        Stmt::Fence { .. } | Stmt::Havoc { .. } => Vec::new(),
    }
}

/// What may be chosen, after the scope and the kernel have said what is fixed.
#[derive(Clone)]
pub(super) struct Space {
    pub(super) block: [Option<u32>; 3],
    pub(super) grid: [Option<u32>; 3],
    /// Whether extents that the scope leaves open are taken as 1, because the kernel does not mention them. Its threads
    /// differ along them all the same, so that such a search decides nothing.
    is_narrowed: bool,
    pub(super) max_threads: u64,
    /// What the source says of blocks and clusters.
    facts: GeometryFacts,
    /// For each parameter: its type, and its value if it is fixed, unused or no number.
    params: Vec<(ScalarType, Option<Option<i128>>)>,
    /// Which of them no launch gives, such as the lane that has the first element of a matrix.
    are_implicit: Vec<bool>,
    /// Which of them are factors or divisors ([`Mentions`]).
    are_factors: Vec<bool>,
    constants: Vec<i128>,
}

impl Space {
    pub(super) fn new(kernel: &Kernel, mentions: &Mentions, scope: &Scope, levels: Levels) -> Self {
        let required = kernel.geometry.required_block;
        let stated = [0, 1, 2].map(|axis| scope.block[axis].or(required.map(|extents| extents[axis])));
        let extent = |fixed: Option<u32>, mentioned: bool| fixed.or(if mentioned { None } else { Some(1) });
        let block = [0, 1, 2].map(|axis| extent(stated[axis], mentions.block[axis]));
        // For threads of two blocks there have to be two.
        let several = |axis: usize| axis == 0 && !levels.block;
        let grid = [0, 1, 2].map(|axis| extent(scope.grid[axis], mentions.grid[axis] || several(axis)));
        let is_narrowed = (block, grid) != (stated, scope.grid);
        let is_given = |id| kernel.arrays.iter().any(|(_, array)| array.given == Some(id));
        let params = kernel.params.iter().map(|(id, param)| {
            let fixed = scope.params.get(id.index()).copied().flatten();
            let choice = match param.ty.range() {
                None => Some(None),
                Some(_) if fixed.is_some() => Some(fixed),
                Some(_) if !mentions.params[id.index()] => Some(Some(i128::from(is_given(id)))),
                Some(_) => None,
            };
            (param.ty, choice)
        });
        Space {
            block,
            grid,
            is_narrowed,
            max_threads: u64::from(kernel.geometry.most_threads()),
            facts: kernel.geometry.clone(),
            params: params.collect(),
            are_implicit: kernel.params.iter().map(|(_, param)| is_of_lanes(&param.name)).collect(),
            are_factors: mentions.factors.clone(),
            constants: mentions.constants.clone(),
        }
    }

    /// Leaves extents free that were taken as 1 because the kernel does not mention them.
    pub(super) fn open(&mut self, extents: [[bool; 3]; 2]) {
        if self.is_narrowed {
            for (own, open) in [&mut self.block, &mut self.grid].into_iter().zip(extents) {
                own.iter_mut()
                    .zip(open)
                    .filter(|(own, open)| *open && **own == Some(1))
                    .for_each(|(own, _)| *own = None);
            }
        }
    }

    /// The value of a parameter, if it is fixed (`None` within: it is no number).
    pub(super) fn param(&self, index: usize) -> Option<Option<i128>> {
        self.params[index].1
    }

    /// Number of parameters that may be chosen from many values.
    pub(super) fn free_params(&self) -> usize {
        self.open_params().filter(|&index| !self.are_implicit[index]).count()
    }

    /// The parameters that may be chosen.
    pub(super) fn open_params(&self) -> impl Iterator<Item = usize> {
        self.params.iter().enumerate().filter(|(_, (_, choice))| choice.is_none()).map(|(index, _)| index)
    }

    /// Whether no launch gives a parameter.
    pub(super) fn is_of_lanes(&self, index: usize) -> bool {
        self.are_implicit[index]
    }

    /// Whether a parameter is a size: something is multiplied or divided by it.
    pub(super) fn is_size(&self, index: usize) -> bool {
        self.are_factors[index] && !self.are_implicit[index] && self.params[index].0 != ScalarType::Bool
    }

    /// The same with one geometry.
    pub(super) fn of(&self, geometry: &Geometry) -> Self {
        Space { block: geometry.block.map(Some), grid: geometry.grid.map(Some), ..self.clone() }
    }

    /// Values worth a try for something of at most `greatest`, besides the least ones.
    pub(super) fn likely(&self, greatest: i64) -> Vec<i64> {
        let own = self.constants.iter().filter(|&&constant| constant > 3).take(LIKELY);
        let own = own.flat_map(|&constant| [constant as i64, constant as i64 - 1, constant as i64 + 1]);
        own.chain([8, 16, 32, 64]).filter(|&value| value <= greatest).collect()
    }

    /// The free parameters that are less than 1, which few launches in earnest have.
    pub(super) fn degenerate(&self, params: &[Option<i128>]) -> Vec<usize> {
        let is_odd = |&index: &usize| {
            let (ty, choice) = self.params[index];
            choice.is_none() && ty != ScalarType::Bool && params[index].is_some_and(|value| value < 1)
        };
        (0..self.params.len().min(params.len())).filter(is_odd).collect()
    }

    /// Whether there are such.
    pub(super) fn is_degenerate(&self, params: &[Option<i128>]) -> bool {
        !self.degenerate(params).is_empty()
    }

    /// Whether one launch is all there is.
    pub(super) fn is_fixed(&self) -> bool {
        !self.is_narrowed
            && self.block.iter().chain(&self.grid).all(Option::is_some)
            && self.params.iter().all(|(_, choice)| choice.is_some())
    }

    /// Whether somebody can launch that geometry.
    pub(super) fn admits(&self, geometry: &Geometry) -> bool {
        self.facts.admits(geometry)
    }

    /// The geometries, smallest first.
    pub(super) fn geometries(&self) -> Vec<Geometry> {
        let count_free = |extents: &[Option<u32>]| extents.iter().filter(|extent| extent.is_none()).count();
        let free = count_free(&self.block);
        let rules = self.facts.platform.rules();
        let blocks = choices(self.block, &self.sizes(free), rules.block);
        let block_counts: &[u32] = if count_free(&self.grid) > 1 { &FEW_BLOCKS } else { &BLOCKS };
        let grids = choices(self.grid, block_counts, rules.grid);
        let fixed_block = free == 0;
        let mut all: Vec<_> =
            grids.iter().flat_map(|&grid| blocks.iter().map(move |&block| Geometry { block, grid })).collect();
        let threads = |geometry: &Geometry| geometry.block_threads().saturating_mul(geometry.blocks());
        let fixed_grid = self.grid.iter().all(Option::is_some);
        all.retain(|geometry| self.admits(geometry));
        all.retain(|geometry| {
            (fixed_block || geometry.block_threads() <= self.max_threads)
                && (fixed_grid || fixed_block || threads(geometry) <= MOST_THREADS)
        });
        all.sort_by_key(|geometry| (threads(geometry), geometry.block_threads(), *geometry));
        all
    }

    /// Extents that are tried along each of the free axes of a block.
    fn sizes(&self, free_axes: usize) -> Vec<u32> {
        let mut sizes = match free_axes {
            0 | 1 => SIZES.to_vec(),
            2 => FLAT_SIZES.to_vec(),
            _ => SOLID_SIZES.to_vec(),
        };
        let tiles: Vec<_> = self.tiles().filter(|tile| !sizes.contains(tile)).take(MOST_TILES).collect();
        sizes.extend(tiles);
        sizes
    }

    /// Constants that may well be the sizes of tiles.
    pub(super) fn tiles(&self) -> impl Iterator<Item = u32> {
        self.constants.iter().filter(|constant| TILES.contains(constant)).map(|&constant| constant as u32)
    }

    /// Values of the parameters for a geometry, smallest first, then one parameter apart from the others, then mixed.
    pub(super) fn valuations(&self, geometry: &Geometry) -> Vec<Vec<Option<i128>>> {
        let given = self.given_valuations(geometry);
        if !self.open_params().any(|index| self.are_implicit[index]) {
            return given;
        }
        // A second value shows that it matters which lane has an element.
        let turned = |valuation: &[Option<i128>]| -> Vec<Option<i128>> {
            let each = valuation.iter().zip(&self.are_implicit).zip(&self.params);
            each.map(|((&value, &is_implicit), (_, choice))| match choice {
                None if is_implicit => Some(1),
                _ => value,
            })
            .collect()
        };
        given.iter().flat_map(|valuation| [valuation.clone(), turned(valuation)]).collect()
    }

    /// Values of the parameters that launches give.
    fn given_valuations(&self, geometry: &Geometry) -> Vec<Vec<Option<i128>>> {
        let free = self.free_params();
        if free == 0 {
            return vec![self.valuation(&mut |_| 0)];
        }
        let values = self.interesting(geometry);
        let mut all: Vec<_> = values.iter().map(|&value| self.valuation(&mut |_| value)).collect();
        if (2..=3).contains(&free) {
            // Pitches, counts and extents that differ by one are where off-by-one races live.
            for combination in 0..3usize.pow(free as u32) {
                all.push(self.valuation(&mut |position| (combination / 3usize.pow(position as u32) % 3) as i128 + 1));
            }
        }
        if free > 1 {
            let size = i128::from(geometry.block_threads()) * i128::from(geometry.blocks());
            for base in [size, 4 * size] {
                for chosen in 0..free {
                    for &value in &values {
                        all.push(self.valuation(&mut |position| if position == chosen { value } else { base }));
                    }
                }
            }
            let mut state = 0x2545_f491_4f6c_dd1du64;
            for _ in 0..32 {
                all.push(self.valuation(&mut |_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    values[(state % values.len() as u64) as usize]
                }));
            }
        }
        let mut seen = FxHashSet::default();
        all.retain(|valuation| seen.insert(valuation.clone()));
        self.natural_first(all)
    }

    /// Natural valuations come before degenerate ones, except that a few of those come soon: some accesses
    /// happen with certainty only there.
    fn natural_first(&self, all: Vec<Vec<Option<i128>>>) -> Vec<Vec<Option<i128>>> {
        let (degenerate, natural): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|valuation| self.is_degenerate(valuation));
        let (mut natural, mut degenerate) = (natural.into_iter(), degenerate.into_iter());
        let mut ordered: Vec<_> = natural.by_ref().take(NATURAL_FIRST).collect();
        ordered.extend(degenerate.by_ref().take(DEGENERATE_SOON));
        ordered.extend(natural.chain(degenerate));
        ordered
    }

    /// A valuation that asks `value` for each free parameter, by its position among them.
    pub(super) fn valuation(&self, value: &mut impl FnMut(usize) -> i128) -> Vec<Option<i128>> {
        let mut position = 0;
        let each = self.params.iter().zip(&self.are_implicit).map(|(&(ty, choice), is_implicit)| {
            choice.unwrap_or_else(|| {
                if *is_implicit {
                    return Some(0);
                }
                position += 1;
                let (least, greatest) = ty.range().unwrap_or((0, 0));
                Some(value(position - 1).clamp(least, greatest))
            })
        });
        each.collect()
    }

    /// Values at which kernels change their behaviour, without repetition; sensible ones before 0, -1 and -2.
    fn interesting(&self, geometry: &Geometry) -> Vec<i128> {
        let block = i128::from(geometry.block_threads());
        let all = block * i128::from(geometry.blocks());
        let across = |axis: usize| i128::from(geometry.block[axis]) * i128::from(geometry.grid[axis]);
        let mut values = vec![all, across(0), 1, block, 2, across(1), 3, 4, all + 1, all - 1, 2 * all, 0];
        values.extend([5, 8, 16, 32, 64, -1, -2]);
        values.extend(geometry.block.iter().chain(&geometry.grid).map(|&extent| i128::from(extent)));
        values.extend(self.constants.iter().take(24).flat_map(|&value| [value, value + 1, value - 1]));
        values.extend([block - 1, block + 1, 128, 256, 1024]);
        // Launches cover a little more than there is.
        values.extend([across(0) - 1, across(0) + 1]);
        let mut seen = FxHashSet::default();
        values.retain(|&value| seen.insert(value));
        values
    }
}

/// All combinations of fixed extents and `sizes` elsewhere.
fn choices(fixed: [Option<u32>; 3], sizes: &[u32], greatest: [u32; 3]) -> Vec<[u32; 3]> {
    let along = |axis: usize| -> Vec<u32> {
        match fixed[axis] {
            Some(extent) => vec![extent],
            None => sizes.iter().copied().filter(|&size| size <= greatest[axis]).collect(),
        }
    };
    let [xs, ys, zs] = [along(0), along(1), along(2)];
    let planes = zs.iter().flat_map(|&z| ys.iter().map(move |&y| (y, z)));
    planes.flat_map(|(y, z)| xs.iter().map(move |&x| [x, y, z])).collect()
}
