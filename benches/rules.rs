//! Time to prove the conditions of the catalogue of index idioms: `cargo run --release --manifest-path benches/Cargo.toml`.
//!
//! Prints the median and the worst condition (building it from the protocol included, checking apart), then
//! measures the whole catalogue and a few idioms with criterion.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]

use criterion::{Criterion, criterion_group, criterion_main};
use raceproof::calculus::{intervals, text};
use raceproof::memory_model::Level;
use raceproof::protocol::Protocol;
use raceproof::protocol::infer::infer;
use raceproof::prove::premises::{Budget, check_pair, prove_pair};
use raceproof::prove::{Pair, Scope, condition};
use std::hint::black_box;
use std::time::{Duration, Instant};

const IDIOMS: &str = include_str!("../grammar-tests/rules/idioms.txt");

/// A condition of the catalogue.
struct Case {
    name: String,
    protocol: Protocol,
    scope: Scope,
    pair: Pair,
}

fn cases() -> Vec<Case> {
    IDIOMS.split("\nidiom: ").skip(1).flat_map(cases_of).collect()
}

fn cases_of(idiom: &str) -> Vec<Case> {
    let (head, rest) = idiom.split_once('\n').expect("a head");
    let (kernel, _) = rest.split_once("\nnear miss: ").expect("a kernel");
    let [name, level, dimensions] = head.split(" | ").collect::<Vec<_>>()[..] else { panic!("{head}") };
    let kernel = text::parse(kernel).expect("a kernel");
    let (protocol, intervals) = (infer(&kernel), intervals::analyze(&kernel, &|_| true));
    let mut scope = Scope::default();
    for axis in dimensions.len()..3 {
        (scope.block[axis], scope.grid[axis]) = (Some(1), Some(1));
    }
    let level = if level == "grid" { Level::Grid } else { Level::Block };
    let pairs = condition::pairs(&protocol, &intervals, level);
    let case = |(number, pair)| Case {
        name: format!("{name} ({number})"),
        protocol: protocol.clone(),
        scope: scope.clone(),
        pair,
    };
    pairs.into_iter().enumerate().map(case).collect()
}

/// The shortest of several runs.
fn shortest(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..7).map(once).min().unwrap_or_default()
}

fn table(cases: &[Case]) {
    let mut proving = Vec::new();
    let mut checking = Vec::new();
    for case in cases {
        let prove = || prove_pair(&case.protocol, &case.pair, &case.scope, &Budget::default());
        let proof = prove().unwrap_or_else(|open| panic!("{}: {open:?}", case.name));
        proving.push((shortest(|| drop(black_box(prove()))), &case.name));
        let check = || check_pair(&case.protocol, &case.pair, &case.scope, &proof.derivation);
        checking.push((shortest(|| drop(black_box(check()))), &case.name));
    }
    for (what, mut times) in [("prove", proving), ("check", checking)] {
        times.sort();
        let total: Duration = times.iter().map(|time| time.0).sum();
        let (worst, name) = times[times.len() - 1];
        println!(
            "{what}: {} conditions, median {:?}, 90th percentile {:?}, worst {worst:?} ({name}), all {total:?}",
            times.len(),
            times[times.len() / 2].0,
            times[times.len() * 9 / 10].0,
        );
        for (time, name) in times.iter().rev().take(8) {
            println!("  {time:?} {name}");
        }
    }
}

fn catalogue(criterion: &mut Criterion) {
    let cases = cases();
    table(&cases);
    criterion.bench_function("catalogue", |bencher| {
        bencher.iter(|| {
            for case in &cases {
                black_box(prove_pair(&case.protocol, &case.pair, &case.scope, &Budget::default()).is_ok());
            }
        });
    });
    for name in ["global linear id (0)", "grid-stride loop (0)", "row-major matrix, col < width (0)"] {
        let case = cases.iter().find(|case| case.name == name).expect("an idiom");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| black_box(prove_pair(&case.protocol, &case.pair, &case.scope, &Budget::default()).is_ok()));
        });
    }
}

criterion_group!(benches, catalogue);
criterion_main!(benches);
