//! What is proved has no concrete conflict: idioms, and random edits of them, are enumerated on small
//! geometries in machine arithmetic.

use super::Subject;
use super::catalogue::idioms;
use super::runs::{self, Start};
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough, sums};
use crate::support::tier::tiers;
use raceproof::calculus::arithmetic::{self, Outcome};
use raceproof::calculus::intervals::Relation;
use raceproof::calculus::{Expr, ExprId, GeometryVar};
use raceproof::memory_model::{Level, both_atomic};
use raceproof::protocol::{AccessId, LoopId, Protocol, Role};
use raceproof::prove::{Assumption, Pair, Proof};
use std::collections::HashMap;

/// Idioms that are edited at random.
const EDITED: Law = Law::new("edited_idioms", tiers(100, 400, 20_000));

/// Turns of a loop that are looked at.
const TURNS: i128 = 4;

/// A thread at a concrete point.
struct Point<'a> {
    protocol: &'a Protocol,
    params: &'a [i128],
    block: [i128; 3],
    grid: [i128; 3],
    thread: [i128; 3],
    group: [i128; 3],
    turns: Vec<(LoopId, i128)>,
    wrapped: bool,
}

impl Point<'_> {
    /// The machine's value; `None` where the program has none.
    fn value(&mut self, expr: ExprId) -> Option<i128> {
        let protocol = self.protocol;
        let ty = protocol.exprs.ty(expr);
        match &protocol.exprs[expr] {
            Expr::Int(value, _) => Some(*value),
            Expr::Param(param) => Some(arithmetic::wrap(self.params[param.index()], ty)),
            Expr::Geometry(var) => Some(self.geometry(*var)),
            Expr::Var(var) => match *protocol.roles.get(*var)? {
                Role::Iteration(id) => self.turns.iter().find(|turn| turn.0 == id).map(|turn| turn.1),
                Role::Toggle(id) => self.turns.iter().find(|turn| turn.0 == id).map(|turn| turn.1 % 2),
                _ => None,
            },
            Expr::Unary(op, a) => {
                let value = self.value(*a)?;
                self.note(arithmetic::unary(*op, value, ty).ok()?)
            }
            Expr::Binary(op, a, b) => {
                let operands = protocol.exprs.ty(*a);
                let (a, b) = (self.value(*a)?, self.value(*b)?);
                self.note(arithmetic::binary(*op, a, b, operands).ok()?)
            }
            Expr::Select(c, a, b) => {
                let chosen = if self.value(*c)? != 0 { *a } else { *b };
                self.value(chosen)
            }
            Expr::Convert(to, a) => {
                let value = self.value(*a)?;
                let converted = arithmetic::wrap(value, *to);
                self.wrapped |= converted != value;
                Some(converted)
            }
            Expr::Opaque(..) | Expr::Call(..) => None,
        }
    }

    fn note(&mut self, outcome: Outcome) -> Option<i128> {
        self.wrapped |= outcome.wrapped;
        Some(outcome.value)
    }

    fn geometry(&self, var: GeometryVar) -> i128 {
        match var {
            GeometryVar::ThreadIdx(axis) => self.thread[axis.index()],
            GeometryVar::BlockIdx(axis) => self.group[axis.index()],
            GeometryVar::BlockDim(axis) => self.block[axis.index()],
            GeometryVar::GridDim(axis) => self.grid[axis.index()],
        }
    }

    /// The first byte of the access, if the thread reaches it in these turns.
    fn reaches(&mut self, access: AccessId) -> Option<i128> {
        let protocol = self.protocol;
        let access = &protocol.accesses[access];
        for guard in access.guards.iter().map(|guard| guard.cond) {
            (self.value(guard)? != 0).then_some(())?;
        }
        for each in &access.loops {
            (self.value(protocol.loops[*each].guard)? != 0).then_some(())?;
        }
        self.value(access.offset)
    }
}

/// A launch.
pub(crate) struct Launch {
    pub(crate) block: [i128; 3],
    pub(crate) grid: [i128; 3],
    pub(crate) params: Vec<i128>,
}

/// A few launches that are not large.
pub(crate) fn launches(subject: &Subject, seed: u64) -> Vec<Launch> {
    let mut random = Dice(seed);
    let flat = subject.scope.block[1].is_some();
    let extent = |random: &mut Dice, fixed: Option<u32>, most: u64| match fixed {
        Some(extent) => i128::from(extent),
        // One dimension can be long: masks and warps need it.
        None if flat && random.below(12) == 0 => [16, 33, 64][random.below(3) as usize],
        None => 1 + i128::from(random.below(most)),
    };
    (0..60)
        .map(|_| Launch {
            block: [0, 1, 2].map(|axis| extent(&mut random, subject.scope.block[axis], 4)),
            grid: [0, 1, 2].map(|axis| extent(&mut random, subject.scope.grid[axis], 3).min(3)),
            params: subject
                .protocol
                .params
                .iter()
                .map(|_| i128::from(random.below(9)) * if random.below(6) == 0 { -1 } else { 1 })
                .collect(),
        })
        .collect()
}

fn cube(extents: [i128; 3]) -> Vec<[i128; 3]> {
    let [x, y, z] = extents;
    (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))).collect()
}

/// All ways to give numbers to `loops`.
fn turns(loops: &[LoopId]) -> Vec<Vec<(LoopId, i128)>> {
    loops.iter().fold(vec![Vec::new()], |known, &id| {
        let extended = |turn: i128| {
            known.clone().into_iter().map(move |mut turns| {
                turns.push((id, turn));
                turns
            })
        };
        (0..TURNS).flat_map(extended).collect()
    })
}

/// Every thread that reaches an access, with its bytes.
type Reached = ([i128; 3], [i128; 3], Vec<(LoopId, i128)>, i128, bool);

fn reached(subject: &Subject, launch: &Launch, access: AccessId, level: Level) -> Vec<Reached> {
    let mut reached = Vec::new();
    let groups = if level == Level::Grid { cube(launch.grid) } else { vec![[0; 3]] };
    for group in groups {
        for thread in cube(launch.block) {
            for turns in turns(&subject.protocol.accesses[access].loops) {
                let mut point = Point {
                    protocol: &subject.protocol,
                    params: &launch.params,
                    block: launch.block,
                    grid: launch.grid,
                    thread,
                    group,
                    turns,
                    wrapped: false,
                };
                let holds = subject
                    .protocol
                    .facts
                    .iter()
                    .all(|fact| !fact.guards.is_empty() || point.value(fact.cond).is_some_and(|value| value != 0));
                if holds && let Some(offset) = point.reaches(access) {
                    reached.push((group, thread, point.turns, offset, point.wrapped));
                }
            }
        }
    }
    reached
}

fn related(protocol: &Protocol, pair: &Pair, one: &Reached, other: &Reached) -> bool {
    pair.meeting.relations.iter().all(|(site, relation)| {
        let number = |turns: &[(LoopId, i128)]| {
            turns.iter().find(|turn| protocol.loops[turn.0].site == *site).map_or(0, |turn| turn.1)
        };
        let (one, other) = (number(&one.2), number(&other.2));
        match relation {
            Relation::Same => one == other,
            Relation::Next => other == one + 1,
            Relation::Previous => one == other + 1,
            Relation::Any => true,
        }
    })
}

/// A conflict of the pair on one of a few launches; wrapped values do not count if wrapping was assumed away, nor do
/// accesses that cannot both lie where their types admit it.
pub(crate) fn conflict(subject: &Subject, pair: &Pair, assumes_no_wrap: bool, seed: u64) -> Option<String> {
    let protocol = &subject.protocol;
    let accesses = [pair.first, pair.second].map(|access| &protocol.accesses[access]);
    let sizes = accesses.map(|access| i128::from(access.bytes));
    // The array may begin anywhere where one of the two lies where its type admits it.
    let align = i128::from(accesses[0].align.min(accesses[1].align));
    let are_atomics = sizes[0] == sizes[1] && both_atomic(accesses[0].kind, accesses[1].kind, pair.level);
    for launch in launches(subject, seed) {
        let first = reached(subject, &launch, pair.first, pair.level);
        let second = reached(subject, &launch, pair.second, pair.level);
        let mut bytes: HashMap<i128, Vec<&Reached>> = HashMap::new();
        for one in &first {
            (0..sizes[0]).for_each(|byte| bytes.entry(one.3 + byte).or_default().push(one));
        }
        for other in &second {
            for one in (0..sizes[1]).filter_map(|byte| bytes.get(&(other.3 + byte))).flatten() {
                let distinct =
                    if pair.level == Level::Grid { one.0 != other.0 } else { one.0 == other.0 && one.1 != other.1 };
                let is_defined = (one.3 - other.3) % align == 0;
                let is_exempt = are_atomics && one.3 == other.3;
                let counts = !(assumes_no_wrap && (one.4 || other.4)) && is_defined && !is_exempt;
                if distinct && counts && related(protocol, pair, one, other) {
                    return Some(format!(
                        "{:?} {:?} {:?}: {one:?} {other:?}",
                        launch.block, launch.grid, launch.params
                    ));
                }
            }
        }
    }
    None
}

/// Words that may stand for each other in a kernel's text.
const EXCHANGES: [&[&str]; 7] = [
    &[" + ", " - ", " * "],
    &[" / ", " % "],
    &[" < ", " <= ", " != ", " == ", " >= ", " > "],
    &[" & ", " | ", " ^ "],
    &["tid.x", "tid.y", "bid.x", "bdim.x", "bdim.y", "gdim.x"],
    &["1)", "2)", "0)", "3)"],
    &["i32", "u32"],
];

/// The text with one word exchanged.
pub(crate) fn edited(text: &str, random: &mut Dice) -> String {
    let words = EXCHANGES[random.below(EXCHANGES.len() as u64) as usize];
    let word = words[random.below(words.len() as u64) as usize];
    let other = words[random.below(words.len() as u64) as usize];
    let places: Vec<usize> = text.match_indices(word).map(|found| found.0).collect();
    if places.is_empty() {
        return text.to_owned();
    }
    if word.ends_with("32") {
        return text.replace(word, other);
    }
    let place = places[random.below(places.len() as u64) as usize];
    format!("{}{other}{}", &text[..place], &text[place + word.len()..])
}

fn assumes_no_wrap(assumptions: &[Assumption]) -> bool {
    assumptions.iter().any(|assumption| matches!(assumption, Assumption::NoUnsignedWrap { .. }))
}

/// What a proof relies on that variables have a value where they are read is not tried out.
fn start_of(proof: &Proof) -> Start {
    let has_value = |assumption: &Assumption| matches!(assumption, Assumption::HasValue(_));
    if proof.assumptions.iter().any(has_value) { Start::Unknown } else { Start::Anything }
}

/// Whether a pair conflicts, enumerated or run.
fn races(subject: &Subject, pair: &Pair) -> bool {
    (0..40).any(|seed| {
        conflict(subject, pair, false, seed).is_some()
            || runs::conflict(subject, pair, Start::Anything, false, seed).is_some()
    })
}

/// Proves every pair and enumerates those that are proved; returns their number.
fn agree(subject: &Subject, levels: &[Level], seed: u64, text: &str) -> usize {
    let mut proved = 0;
    for &level in levels {
        for pair in subject.pairs(level) {
            if let Ok(proof) = subject.prove(&pair) {
                proved += 1;
                if let Err(error) = subject.check(&pair, &proof) {
                    panic!("{error}\n{text}\n{}", proof.derivation);
                }
                let no_wrap = assumes_no_wrap(&proof.assumptions);
                let enumerated = conflict(subject, &pair, no_wrap, seed);
                let found = enumerated.or_else(|| runs::conflict(subject, &pair, start_of(&proof), no_wrap, seed));
                if let Some(found) = found {
                    panic!("{level:?} {pair:?}\n{found}\n{text}\n{}\n{:?}", proof.derivation, proof.assumptions);
                }
            }
        }
    }
    proved
}

#[test]
fn idioms_have_no_conflict_and_near_misses_do() {
    for (number, idiom) in idioms().iter().enumerate() {
        let proved = agree(&idiom.subject, idiom.levels, number as u64, idiom.text);
        assert!(proved > 0, "{}", idiom.name);
        let near_miss = &idiom.near_miss;
        let found = idiom
            .near_miss_levels
            .iter()
            .any(|&level| near_miss.pairs(level).iter().any(|pair| races(near_miss, pair)));
        assert!(found, "{}: enumeration finds no race in the near miss", idiom.name);
    }
}

#[test]
fn what_is_proved_of_edited_idioms_has_no_conflict() {
    let idioms = idioms();
    let tried = EDITED.each(|seed| {
        let mut dice = Dice(seed);
        let idiom = &idioms[dice.below(idioms.len() as u64) as usize];
        let mut text = edited(idiom.text, &mut dice);
        for _ in 0..dice.below(3) {
            text = edited(&text, &mut dice);
        }
        let Some(subject) = Subject::try_read(&text, idiom.dimensions) else { return [0, 0] };
        [1, agree(&subject, idiom.levels, dice.next(), &text)]
    });
    let [read, proved] = sums(&tried);
    let is_enough = |count| is_enough(count, tried.len(), 8);
    assert!(is_enough(read) && is_enough(proved), "{read} read, {proved} pairs proved");
}
