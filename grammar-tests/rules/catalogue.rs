//! Every idiom of the catalogue is proved with a derivation that the checker accepts; every near miss is
//! left open.

use super::Subject;
use raceproof::memory_model::Level;

const IDIOMS: &str = include_str!("idioms.txt");
/// Idioms that the catalogue does not have.
const BEYOND: &str = include_str!("beyond.txt");

/// An idiom of the catalogue.
pub(crate) struct Idiom {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) dimensions: usize,
    pub(crate) subject: Subject,
    pub(crate) levels: &'static [Level],
    pub(crate) near_miss: Subject,
    pub(crate) near_miss_levels: &'static [Level],
    /// The rule by which conditions are read that the idiom is for.
    pub(crate) reading: Option<&'static str>,
}

fn levels(word: &str) -> &'static [Level] {
    match word {
        "grid" => &[Level::Block, Level::Grid],
        _ => &[Level::Block],
    }
}

/// Reads the catalogue, and what goes beyond it.
pub(crate) fn idioms() -> Vec<Idiom> {
    [IDIOMS, BEYOND].iter().flat_map(|text| text.split("\nidiom: ").skip(1)).map(idiom).collect()
}

fn idiom(text: &'static str) -> Idiom {
    let (head, text) = text.split_once('\n').expect("a head and a kernel");
    let (kernel, near_miss) = text.split_once("\nnear miss: ").expect("a near miss");
    let (near_miss_level, near_miss) = near_miss.split_once('\n').expect("a level and a kernel");
    let (name, level, dimensions, reading) = match head.split(" | ").collect::<Vec<_>>()[..] {
        [name, level, dimensions] => (name, level, dimensions, None),
        [name, level, dimensions, reading] => (name, level, dimensions, Some(reading)),
        _ => panic!("{head}"),
    };
    Idiom {
        name,
        text: kernel,
        dimensions: dimensions.len(),
        subject: Subject::read(kernel, dimensions.len()),
        levels: levels(level),
        near_miss: Subject::read(near_miss, dimensions.len()),
        near_miss_levels: levels(near_miss_level),
        reading,
    }
}

/// What is not as it should be with a subject: pairs that stay open.
fn open(subject: &Subject, levels: &[Level]) -> (usize, Vec<String>) {
    let mut count = 0;
    let mut open = Vec::new();
    for &level in levels {
        for pair in subject.pairs(level) {
            count += 1;
            let which = format!("{level:?} {} and {}", pair.first.index(), pair.second.index());
            match subject.prove(&pair) {
                Ok(proof) => {
                    if let Err(error) = subject.check(&pair, &proof) {
                        open.push(format!("{which}: rejected: {error}\n{}", proof.derivation));
                    }
                }
                Err(reason) => open.push(format!("{which}: {reason:?}")),
            }
        }
    }
    (count, open)
}

#[test]
fn every_idiom_is_proved_and_checked() {
    let mut failures = Vec::new();
    for idiom in idioms() {
        let (count, open) = open(&idiom.subject, idiom.levels);
        assert!(count > 0, "{}: no pair", idiom.name);
        failures.extend(open.into_iter().map(|text| format!("{}: {text}", idiom.name)));
    }
    assert!(failures.is_empty(), "{}\n{} open", failures.join("\n"), failures.len());
}

#[test]
fn every_near_miss_stays_open() {
    let proved = |idiom: &Idiom| open(&idiom.near_miss, idiom.near_miss_levels).1.is_empty();
    let proved: Vec<&str> = idioms().iter().filter(|idiom| proved(idiom)).map(|idiom| idiom.name).collect();
    assert!(proved.is_empty(), "near misses were proved: {proved:#?}");
}

/// The rules that conditions are read by, as derivations name them.
const READINGS: [&str; 8] = ["ALIGNED", "HULL", "LAST-TURN", "LOOSE", "POWERS", "SWIZZLE", "TURNED", "WHOLE"];

#[test]
fn derivations_name_the_rules_that_conditions_were_read_by() {
    let mut seen: Vec<&str> = Vec::new();
    for idiom in idioms() {
        let Some(reading) = idiom.reading else { continue };
        seen.push(reading);
        let line = format!("READ  by {reading}\n");
        for &level in idiom.levels {
            let proofs = idiom.subject.pairs(level).into_iter().map(|pair| idiom.subject.prove(&pair).expect("proved"));
            let named: Vec<bool> = proofs.map(|proof| proof.derivation.to_string().contains(&line)).collect();
            assert!(named.iter().any(|named| *named), "{}: no derivation names {reading}", idiom.name);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, READINGS);
}
