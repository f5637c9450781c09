//! What a contract admits has no conflict, and each of its conditions excludes one; stated in a file, it is enough.
//!
//! Kernels write and read matrices with pitches, guards and offsets that the seed draws, planes and windows. The words of a contract are read
//! here by a small evaluator of their own, so that what is held against the runs is what the user is told.

use super::handed::{lowered, rechecked};
use super::tickets::conflict;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel};
use raceproof::diagnostic::report::{Certainty, Contract, KernelReport, Race, WitnessReport};
use raceproof::driver::options::{Contracts, Proofs, Settings};
use raceproof::driver::stated_contracts::StatedContracts;
use raceproof::driver::{Options, check_source};
use std::path::Path;
use std::sync::Arc;

const LAW: Law = Law::new("contracts", tiers(40, 200, 2000));
/// Launches that are tried for each contract.
const LAUNCHES: usize = 60;

const GUARDS: [&str; 8] = [
    "",
    "",
    "if (x < q) ",
    "if (x < q && y < 4) ",
    "if (x < p) ",
    "if (threadIdx.x < 16) ",
    "if (x + 1 < q) ",
    "if (y < q) ",
];
const COLUMNS: [&str; 8] = ["x", "x", "threadIdx.x", "2 * x", "x + 1", "x + q", "x / 2", "blockIdx.x"];
const ROWS: [&str; 8] = [
    "y * p",
    "y * p",
    "blockIdx.y * p",
    "0",
    "y * 64",
    "threadIdx.y * p",
    "y * (int)(gridDim.x * blockDim.x)",
    "(y + 1) * p",
];
const SHARED: [&str; 8] = [
    "threadIdx.x",
    "threadIdx.y * 16 + threadIdx.x",
    "threadIdx.x & (blockDim.x - 1)",
    "threadIdx.x + 128",
    "threadIdx.y * p + threadIdx.x",
    "threadIdx.x % 32",
    "threadIdx.x + q",
    "2 * threadIdx.x + threadIdx.y",
];

/// Planes and windows, whose distances and bounds are parameters.
const PLANES: [&str; 8] = [
    "if (x < q && threadIdx.y < 4) a[blockIdx.y * p + threadIdx.y * q + x] = x;",
    "if (x < 8 && threadIdx.y < 4) a[blockIdx.y * p + threadIdx.y * q + x] = x;",
    "if (x <= q && threadIdx.y < 4) a[blockIdx.y * p + threadIdx.y * q + x] = x;",
    "if (x < q && threadIdx.y < 4) a[blockIdx.y * p + threadIdx.y / 2 * q + x] = x;",
    "if (q + x < p) a[y * 64 + q + x] = x;",
    "if (q + x < 64) a[y * p + q + x] = x;",
    "if (q + x < p) a[y * p + q + x] = x;",
    "if (q + x < 64) a[y / 2 * p + q + x] = x;",
];

/// A kernel with two parameters, `p` and `q`.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut one_of = |words: &[&'static str; 8]| words[dice.below(8) as usize];
    let (guard, column, row) = (one_of(&GUARDS), one_of(&COLUMNS), one_of(&ROWS));
    let shared = [one_of(&SHARED), one_of(&SHARED)];
    let other = [one_of(&COLUMNS), one_of(&ROWS)];
    let planes = one_of(&PLANES);
    let body = match dice.below(5) {
        0 => format!("{guard}s[{}] = x;", shared[0]),
        1 => format!("{guard}s[{}] = x;\n  y += s[{}];", shared[0], shared[1]),
        2 => format!("{guard}a[{row} + {column}] = x;\n  y += a[{} + {}];", other[1], other[0]),
        3 => format!("{guard}a[{row} + {column}] = x;"),
        _ => planes.to_owned(),
    };
    format!(
        "__global__ void k(int *a, int p, int q) {{\n  extern __shared__ int s[];\n  \
         int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n  {body}\n}}\n"
    )
}

/// A launch of one of these kernels.
#[derive(Clone, Copy, Debug)]
struct Launch {
    geometry: Geometry,
    params: [i128; 2],
}

impl Launch {
    fn of(witness: &WitnessReport) -> Launch {
        let param =
            |wanted: &str| witness.params.iter().find(|(name, _)| name == wanted).map_or(0, |&(_, value)| value);
        let geometry = Geometry { block: witness.block_dim, grid: witness.grid_dim };
        Launch { geometry, params: ["p", "q"].map(param) }
    }

    fn drawn(dice: &mut Dice) -> Launch {
        let mut one_of = |values: &[u32]| values[dice.below(values.len() as u64) as usize];
        let block = [one_of(&[1, 2, 3, 8, 16, 17, 32, 40]), one_of(&[1, 1, 2, 3]), 1];
        let grid = [one_of(&[1, 1, 2, 3]), one_of(&[1, 1, 2]), 1];
        let params = [0; 2].map(|_| i128::from(one_of(&[0, 1, 2, 7, 16, 31, 32, 33, 64, 100, 128, 200])) - 1);
        Launch { geometry: Geometry { block, grid }, params }
    }

    fn value(&self, word: &str) -> i128 {
        let extent = |extents: [u32; 3], axis: &str| {
            i128::from(extents[["x", "y", "z"].iter().position(|it| *it == axis).unwrap()])
        };
        match word.split_once('.') {
            Some(("blockDim", axis)) => extent(self.geometry.block, axis),
            Some(("gridDim", axis)) => extent(self.geometry.grid, axis),
            _ if word == "p" => self.params[0],
            _ if word == "q" => self.params[1],
            _ => word.parse().unwrap_or_else(|_| panic!("`{word}` is no value of a launch")),
        }
    }

    /// `2 * p + 1`
    fn sum(&self, words: &str) -> i128 {
        let term = |term: &str| term.split(" * ").map(|word| self.value(word.trim())).product::<i128>();
        words.split(" + ").map(term).sum()
    }

    /// Whether what the words of a condition say is so.
    fn keeps(&self, condition: &str) -> bool {
        if let Some(value) = condition.strip_suffix(" is a power of two") {
            return self.value(value).count_ones() == 1;
        }
        if let Some((value, of)) = condition.split_once(" is a multiple of ") {
            return self.value(value) % self.value(of) == 0;
        }
        let relations: [(&str, fn(&i128, &i128) -> bool); 4] =
            [(" >= ", i128::ge), (" <= ", i128::le), (" == ", i128::eq), (" = ", i128::eq)];
        let said = relations.iter().find_map(|(sign, holds)| Some((condition.split_once(sign)?, holds)));
        let ((left, right), holds) = said.unwrap_or_else(|| panic!("`{condition}` is no condition"));
        holds(&self.sum(left), &self.sum(right))
    }

    /// Whether two threads conflict; `None` where the run ends early, or numbers wrap.
    fn races(&self, kernel: &Kernel) -> Option<bool> {
        let params = self.params.map(Some);
        let Launch { geometry, .. } = *self;
        let setup =
            Setup { geometry, params: &params, blocks: Blocks::All, contents: Contents::Unknown, budget: 400_000 };
        let mut history = History::default();
        let outcome = run(&Program::new(kernel), &setup, &mut history);
        let is_usable = outcome.finished && outcome.wrapped.is_empty() && outcome.traps.is_empty();
        is_usable.then(|| conflict(kernel, &history).is_some())
    }
}

/// The extents that are taken as 1 since nothing reads them.
fn fixed(report: &KernelReport) -> Vec<String> {
    report.scope.iter().flat_map(|scope| scope.fixes.iter().cloned()).collect()
}

/// A launch that keeps the contract and races, or one that is said to show that a condition is needed and does not.
fn refutation(text: &str, report: &KernelReport, contract: &Contract, seed: u64) -> Option<String> {
    let kernel = lowered(text);
    let mut dice = Dice(seed ^ 0x5ee5);
    let fixed = fixed(report);
    let conditions: Vec<&str> = contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect();
    for _ in 0..LAUNCHES {
        let launch = Launch::drawn(&mut dice);
        let is_admitted = conditions.iter().all(|condition| launch.keeps(condition))
            && fixed.iter().all(|condition| launch.keeps(condition));
        if is_admitted && launch.races(&kernel) == Some(true) {
            return Some(format!("{launch:?} keeps {conditions:?} and races"));
        }
    }
    contract.conjuncts.iter().enumerate().find_map(|(at, conjunct)| {
        let launch = Launch::of(conjunct.necessary.as_ref()?);
        let is_alone = conditions.iter().enumerate().all(|(other, condition)| launch.keeps(condition) == (other != at));
        let races = launch.races(&kernel);
        (!is_alone || races == Some(false))
            .then(|| format!("{launch:?} does not show that {} is needed", conjunct.text))
    })
}

/// Why a contract that was inferred is not enough once it is stated.
fn refused(text: &str, contract: &Contract) -> Option<String> {
    let conditions: Vec<&str> = contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect();
    let line = format!("k.cu: k: {}\n", conditions.join(", "));
    let stated = match StatedContracts::of_text(Path::new("stated.txt"), &line) {
        Ok(stated) => stated,
        Err(error) => return Some(error.to_string()),
    };
    let judging = Settings { proofs: Proofs::Recheck, ..Settings::default() };
    let contracts = Contracts { stated: Some(Arc::new(stated)), ..Contracts::default() };
    let options = Options { judging, contracts, ..Options::default() };
    let mut checked = check_source(Path::new("k.cu"), text, &options);
    let report = checked.report.kernels.remove(0);
    let is_enough = report.race == Race::RaceFree && checked.misfits.is_empty();
    let said = report.contract.iter().flat_map(|contract| &contract.conjuncts).map(|conjunct| conjunct.text.as_str());
    let is_said = said.eq(conditions.iter().copied());
    (!is_enough || !is_said)
        .then(|| format!("`{line}` is {:?}: {:?} {:?}", report.race, report.contract, report.unknowns))
}

#[test]
fn what_a_contract_admits_is_free_and_what_it_excludes_races() {
    let found: Vec<[bool; 3]> = LAW.each(|seed| {
        let text = kernel(seed);
        let report = rechecked(&text);
        let Some(contract) = &report.contract else { return [report.race == Race::Racy, false, false] };
        if let Some(found) = refutation(&text, &report, contract, seed) {
            panic!("seed {seed}: {found}\n{text}");
        }
        if let Some(found) = refused(&text, contract) {
            panic!("seed {seed}: {found}\n{text}");
        }
        let is_proved = report.each_finding().all(|finding| finding.certainty == Certainty::Proved);
        assert!(is_proved || report.race != Race::Racy, "seed {seed}\n{text}");
        let is_needed = contract.conjuncts.iter().all(|conjunct| conjunct.necessary.is_some());
        [true, true, is_needed]
    });
    let count = |column: usize| found.iter().filter(|row| row[column]).count();
    let (racy, with, needed) = (count(0), count(1), count(2));
    eprintln!(
        "{} kernels: {racy} race, {with} of them have a contract, all conditions of {needed} are shown to be needed",
        found.len()
    );
    assert!(
        is_enough(with, racy, 4) && is_enough(needed, with, 2),
        "of {racy} that race only {with} have a contract, {needed} needed"
    );
}
