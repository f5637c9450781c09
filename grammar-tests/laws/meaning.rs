//! What lowering makes of C++ is what a compiler makes of it.
//!
//! Random kernels ([`cpp`], [`classes`] of objects of classes, [`packs`] of templates with packs, and [`chosen`], in which types decide what is called) are lowered
//! and run in the executable semantics, and are compiled as plain C++ and run, thread
//! after thread: both must write the same numbers to the same places. So the order in which an expression changes things,
//! conversions, and where control goes are held against a compiler, and not against our own reading of the standard.
//!
//! `RACEPROOF_KERNEL` names a text to try in place of random ones: what is left of a kernel that differs, say.

use super::handed::lowered;
use super::{chosen, classes, cpp, packs};
use crate::support::draw::Law;
use crate::support::tier::tiers;
use crate::support::tools::{cxx, has_cxx};
use raceproof::calculus::Geometry;
use raceproof::calculus::eval::{Blocks, Contents, History, Program, Setup, run};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const LAW: Law = Law::new("meaning", tiers(30, 150, 1200));
const CHOSEN: Law = Law::new("chosen", tiers(50, 150, 3000));
const OF_PACKS: Law = Law::new("meaning_of_packs", tiers(30, 150, 2000));
const OF_CLASSES: Law = Law::new("meaning_of_classes", tiers(30, 150, 1200));
/// How many kernels a program has.
const IN_A_PROGRAM: u64 = 50;
const GEOMETRY: Geometry = Geometry { grid: [2, 1, 1], block: [4, 1, 1] };
const PARAMS: [i32; 2] = [5, 3];

/// What threads write, by block and thread: numbers and their places, sorted, as the order of two calls in one expression
/// is open.
type Written = BTreeMap<[u32; 2], Vec<[i64; 2]>>;

/// What the program starts with: every store prints its place and its number.
const HOST: &str = "#include <cstdio>
#define __device__
#define __global__
struct Cell { inline void operator=(int value); };
static Cell memory[1 << 16], *const middle = memory + (1 << 15);
void Cell::operator=(int value) { std::printf(\"%d %d\\n\", (int)(this - middle), value); }
#define OUT Cell *
static struct { unsigned x; } threadIdx, blockIdx, blockDim;
";

/// What a compiler makes of kernels, by position.
fn compiled(kernels: &[String]) -> Vec<Written> {
    let directory = tempfile::tempdir().expect("a directory");
    let mut text = HOST.to_owned();
    for (number, kernel) in kernels.iter().enumerate() {
        writeln!(text, "namespace s{number} {{\n{kernel}}}").expect("text");
    }
    text += "int main() {\n";
    for number in 0..kernels.len() {
        let ([blocks, threads], [n, m]) = ([GEOMETRY.grid[0], GEOMETRY.block[0]], PARAMS);
        writeln!(
            text,
            "blockDim.x = {threads}; for (unsigned b = 0; b < {blocks}; b++) for (unsigned t = 0; t < {threads}; t++) {{ \
             blockIdx.x = b; threadIdx.x = t; std::printf(\"kernel {number} %u %u\\n\", b, t); \
             s{number}::k(middle, {n}, {m}); }}"
        )
        .expect("text");
    }
    text += "}\n";
    let (source, program) = (directory.path().join("kernels.cpp"), directory.path().join("kernels"));
    std::fs::write(&source, text).expect("a file");
    let mut compiler = Command::new(cxx());
    let built =
        compiler.args(["-std=c++17", "-O0", "-w"]).arg(&source).arg("-o").arg(&program).output().expect("a compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().expect("a program");
    assert!(ran.status.success(), "{:?}", ran.status);
    let mut written = vec![Written::new(); kernels.len()];
    let mut now = None;
    for line in String::from_utf8(ran.stdout).expect("text").lines() {
        let numbers: Vec<i64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        match *numbers.as_slice() {
            [kernel, block, thread] => {
                now = Some(written[kernel as usize].entry([block as u32, thread as u32]).or_default());
            }
            [place, value] => now.as_mut().expect("a kernel").push([place, value]),
            _ => panic!("{line}"),
        }
    }
    written.iter_mut().flat_map(BTreeMap::values_mut).for_each(|all| all.sort());
    written
}

/// What the executable semantics make of a kernel, or why they do not know all.
fn evaluated(kernel: &str) -> Result<Written, String> {
    let kernel = lowered(&format!("#define OUT int *\n{kernel}"));
    if let Some(unsupported) = kernel.unsupported.first() {
        return Err(unsupported.reason.clone());
    }
    let params = PARAMS.map(|value| Some(i128::from(value)));
    let setup = Setup {
        geometry: GEOMETRY,
        params: &params,
        blocks: Blocks::All,
        contents: Contents::Unknown,
        budget: 1_000_000,
    };
    let mut history = History::default();
    let outcome = run(&Program::new(&kernel), &setup, &mut history);
    assert!(outcome.traps.is_empty(), "nothing in these kernels is undefined: {:?}", outcome.traps);
    if !outcome.finished || outcome.inexact {
        let doubtful = history.accesses.iter().map(|recorded| recorded.event).find(|event| !event.exact);
        return Err(format!("finished: {}, doubtful: {doubtful:?}", outcome.finished));
    }
    let mut written: Written = (0..GEOMETRY.grid[0])
        .flat_map(|block| (0..GEOMETRY.block[0]).map(move |thread| ([block, thread], Vec::new())))
        .collect();
    for recorded in history.accesses {
        let event = recorded.event;
        let all = written.entry([event.thread.block, event.thread.thread]).or_default();
        let (Some(offset), Some(value)) = (event.offset, event.value) else { return Err("a number".to_owned()) };
        all.push([offset / 4, i64::from(value as i32)]);
    }
    written.values_mut().for_each(|all| all.sort());
    Ok(written)
}

/// What one thread writes in only one of two runs.
fn difference(wanted: &Written, found: &Written) -> String {
    let (thread, wanted) = wanted.iter().find(|(thread, all)| found.get(*thread) != Some(all)).expect("a difference");
    let mut missing = wanted.clone();
    let mut more = found.get(thread).cloned().unwrap_or_default();
    more.retain(|one| {
        let same = missing.iter().position(|other| other == one);
        same.map(|same| missing.remove(same)).is_none()
    });
    format!("thread {thread:?} should write {missing:?} and writes {more:?}")
}

/// What is wrong with a kernel.
enum Wrong {
    Differs(String),
    /// Something in it is not modelled.
    NotKnown(String),
}

#[test]
fn what_lowering_makes_of_cpp_is_what_a_compiler_makes_of_it() {
    holds(LAW, cpp::kernel, 10);
}

#[test]
fn what_types_choose_is_what_a_compiler_chooses() {
    holds(CHOSEN, chosen::kernel, 10);
}

#[test]
fn what_lowering_makes_of_classes_is_what_a_compiler_makes_of_them() {
    // How some classes lie, and whether some copies are made, is up to the compiler.
    holds(OF_CLASSES, classes::kernel, 3);
}

#[test]
fn what_packs_are_is_what_a_compiler_makes_of_them() {
    holds(OF_PACKS, packs::kernel, 20);
}

/// At most one kernel of so many may not be known.
fn holds(law: Law, kernel: fn(u64) -> String, one_unknown_in: usize) {
    if !has_cxx() {
        return;
    }
    let own = std::env::var("RACEPROOF_KERNEL").ok().map(|path| std::fs::read_to_string(path).expect("a text"));
    let seeds = if own.is_some() { vec![0] } else { law.seeds() };
    let outcomes: Vec<Result<(), Wrong>> = seeds
        .par_chunks(IN_A_PROGRAM as usize)
        .flat_map(|seeds| {
            let kernels: Vec<String> = seeds.iter().map(|&seed| own.clone().unwrap_or_else(|| kernel(seed))).collect();
            let all = compiled(&kernels);
            let judged = seeds.iter().zip(&kernels).zip(all).map(|((seed, kernel), wanted)| match evaluated(kernel) {
                Ok(found) if found == wanted => Ok(()),
                Ok(found) => {
                    law.failed(*seed);
                    Err(Wrong::Differs(format!("seed {seed}: {}\n{kernel}", difference(&wanted, &found))))
                }
                Err(reason) if seeds.len() == 1 => Err(Wrong::NotKnown(format!("{reason}\n{kernel}"))),
                Err(reason) => Err(Wrong::NotKnown(format!("seed {seed}: {reason}"))),
            });
            judged.collect::<Vec<_>>()
        })
        .collect();
    let (mut differ, mut unknown) = (Vec::new(), Vec::new());
    for wrong in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        match wrong {
            Wrong::Differs(text) => differ.push(text),
            Wrong::NotKnown(text) => unknown.push(text),
        }
    }
    let (shortest, all) = (differ.iter().min_by_key(|text| text.len()), outcomes.len());
    assert!(differ.is_empty(), "{} of {all} differ, the shortest: {}", differ.len(), shortest.expect("one"));
    assert!(unknown.len() * one_unknown_in <= all, "{} of {all} are not known: {unknown:#?}", unknown.len());
}
