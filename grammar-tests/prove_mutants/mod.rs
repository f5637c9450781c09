//! Mutation against raceproof's own proofs: a proof that survives damage to its kernel must be right.
//!
//! Every barrier of every proved fixture is taken out in turn, and indices of proved fixtures are changed. What is
//! still proved must have derivations that the checker accepts and no conflict in small launches.
//! `scripts/mutate-proofs` does the same over trees of kernels.

#[allow(dead_code, reason = "the program over trees tells more of each mutant than the tests ask")]
mod campaign;
pub(crate) mod handed;
#[allow(dead_code, reason = "the program over trees draws changes by the dice of a whole run")]
mod mutation;
#[allow(dead_code, reason = "the program over trees tells more of each enumeration than the tests ask")]
mod oracle;

use crate::fixtures::{Fixture, files};
use crate::support::draw::{is_enough, part, seed};
use crate::support::tier::{Tier, Tiers, tiers};
use campaign::{Judge, Outcome, Row, Trial, What, proved, raceproof, strict};
use raceproof::driver::parallel::on_workers;
use raceproof::driver::subjects::Subjects;
use rayon::prelude::*;
use std::path::PathBuf;

/// Mutants of one fixture in as many are tried.
const FIXTURES: Tiers<usize> = tiers(24, 24, 1);

/// The rows that `make` gives for every proved kernel of the fixtures.
fn rows(judge: Judge<'_>, make: &(dyn Fn(&Trial<'_>) -> Vec<Row> + Sync)) -> Vec<Row> {
    rows_of(&part("mutants of fixtures", files(), FIXTURES, |path| path.display().to_string()), judge, make)
}

/// The rows that `make` gives for every proved kernel of these files.
fn rows_of(paths: &[PathBuf], judge: Judge<'_>, make: &(dyn Fn(&Trial<'_>) -> Vec<Row> + Sync)) -> Vec<Row> {
    on_workers(None, || {
        let rows = paths.par_iter().map(|path| {
            let text = std::fs::read_to_string(path).expect("the fixture can be read");
            let Ok(fixture) = Fixture::parse(&text) else { return Vec::new() };
            let options = strict(fixture.options);
            let (kernels, _) = proved(path, &text, &options);
            let Ok(subjects) = Subjects::read(path, &text, &options) else { return Vec::new() };
            let trial = |position| Trial::new(&subjects, position, &options, judge, seed());
            kernels.iter().filter_map(|kernel| trial(kernel.position)).flat_map(|trial| make(&trial)).collect()
        });
        rows.collect::<Vec<Vec<Row>>>().concat()
    })
}

fn is_proved(row: &Row) -> bool {
    matches!(row.outcome, Outcome::Proved { .. })
}

fn assert_right(rows: &[Row]) {
    let wrong: Vec<String> = rows.iter().filter(|row| row.is_wrong()).map(|row| format!("{row:#?}")).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn without_a_barrier_a_proved_fixture_is_found_or_free() {
    let rows = rows(&raceproof, &|trial| trial.without_barriers());
    assert_right(&rows);
    let redundant = rows.iter().filter(|row| is_proved(row)).count();
    assert!(is_enough(rows.len() - redundant, rows.len(), 2), "{redundant} of {} are redundant", rows.len());
}

#[test]
fn with_an_index_changed_a_proved_fixture_is_found_or_free() {
    let rows = rows(&raceproof, &|trial| trial.with_an_index_changed(0).into_iter().collect());
    assert_right(&rows);
    let free = rows.iter().filter(|row| is_proved(row)).count();
    assert!(is_enough(rows.len() - free, rows.len(), 2) && is_enough(free, rows.len(), 40), "{free} of {}", rows.len());
}

#[test]
fn proved_fixtures_are_free_as_they_are() {
    assert_right(&rows(&raceproof, &|trial| vec![trial.unchanged()]));
}

/// A prover that sees the same kernel whatever is done to it is caught, at each kind of damage.
#[test]
fn a_prover_that_accepts_all_is_caught() {
    if Tier::current() == Tier::Quick {
        return;
    }
    let gullible: Judge<'_> = &|subject, _, options| subject.judge(subject.lower(options)?, options);
    let classes = [mutation::Class::OffByOne, mutation::Class::Stride, mutation::Class::Swap];
    let mut rows: Vec<Row> = Vec::new();
    let counted = |rows: &[Row], is_it: &dyn Fn(&What) -> bool| {
        let all = rows.iter().filter(|row| is_it(&row.what));
        (all.clone().filter(|row| row.is_wrong()).count(), all.count())
    };
    let of_barriers = |rows: &[Row]| counted(rows, &|what| matches!(what, What::Barrier));
    let of_class = |rows: &[Row], class| counted(rows, &|what| matches!(what, What::Index(of, _) if *of == class));
    // Nothing that it accepts ends an enumeration early. So only as many fixtures are tried as show it: few changes of
    // an index by one make a race, and by luck none of a portion does, or most of its barriers are needed by nobody.
    let (files, portions) = (files(), tiers(12, 12, 4).current());
    for first in 0..portions {
        let paths: Vec<PathBuf> = files.iter().skip(first).step_by(portions).cloned().collect();
        rows.extend(rows_of(&paths, gullible, &|trial| {
            let index = trial.with_an_index_changed(1);
            trial.without_barriers().into_iter().chain(index).collect()
        }));
        let (caught, all) = of_barriers(&rows);
        if caught * 2 > all && classes.iter().all(|class| of_class(&rows, *class).0 > 0) {
            break;
        }
    }
    assert!(rows.iter().all(is_proved));
    let (barriers, all) = of_barriers(&rows);
    assert!(barriers * 2 > all, "{barriers} of {all} barriers");
    for class in classes {
        let (caught, all) = of_class(&rows, class);
        assert!(caught > 0, "none of {all}: {}", class.name());
    }
}
