//! Tables: what is read of them as formulas is what the memory of a thread holds.

use crate::support::draw::proptest;
use crate::support::tier::tiers;
use proptest::prelude::*;
use raceproof::calculus::eval::{Blocks, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel, text, validate};
use raceproof::settle::tables;

/// All accesses of a run that finishes, in order, with what is stored there.
fn accesses(kernel: &Kernel, n: i128) -> Option<Vec<String>> {
    let setup = Setup {
        geometry: Geometry { block: [13, 1, 1], grid: [2, 1, 1] },
        params: &[Some(n)],
        blocks: Blocks::All,
        contents: Contents::Seeded(7),
        budget: 200_000,
    };
    let mut history = History::default();
    let outcome = run(&Program::new(kernel), &setup, &mut history);
    let all = history.accesses.iter().map(|seen| format!("{:?}", seen.event));
    (outcome.finished && outcome.traps.is_empty()).then(|| all.collect())
}

/// Elements: a progression, one with an element out of line, or anything; a `None` is the parameter.
fn elements() -> impl Strategy<Value = Vec<Option<i16>>> {
    let line = (1usize..12, -40i16..40, -300i16..300)
        .prop_map(|(count, step, first)| (0..count as i16).map(|index| Some(first + index * step)).collect::<Vec<_>>());
    let bent = (line.clone(), any::<prop::sample::Index>(), any::<Option<i16>>()).prop_map(|(mut all, at, value)| {
        let at = at.index(all.len());
        all[at] = value;
        all
    });
    prop_oneof![line, bent, prop::collection::vec(any::<Option<i16>>(), 1..10)]
}

/// What else happens to the array `t` of so many elements, before or after it is filled.
const OTHERWISE: [&str; 8] = [
    "",
    "",
    "",
    "write t[0; 4] := 77 @90",
    "if convert<i32>(tid.x) > 3 { write t[0; 4] := 77 @90 }",
    "if n > 1 { write t[0; 4] := n @90 }",
    "write t[convert<i64>(convert<i32>(tid.x) % SIZE) * 4; 4] := 5 @90",
    "let v = read t[0; 4] @91 write t[0; 4] := v + 1 @90",
];

const INDICES: [&str; 4] = [
    "convert<i64>(i)",
    "convert<i64>(convert<i32>(tid.x) % SIZE)",
    "SIZEi64 - 1i64 - convert<i64>(i)",
    "convert<i64>((convert<i32>(tid.x) + i * 3) % SIZE)",
];

proptest! {
    #![proptest_config(proptest(tiers(60, 300, 6_000)))]

    /// A kernel with tables makes the same accesses, and stores the same, as the kernel that reads its memory.
    #[test]
    fn tables_hold_what_was_written(
        elements in elements(),
        others in [0..OTHERWISE.len(), 0..OTHERWISE.len(), 0..OTHERWISE.len()],
        index in 0..INDICES.len(),
        turns_around in any::<bool>(),
        n in -3i32..6,
    ) {
        let size = elements.len();
        let fill = |(place, value): (usize, &Option<i16>)| {
            let value = value.map_or("n".to_owned(), |value| value.to_string());
            format!("write t[{}; 4] := {value} @{}\n", 4 * place, 10 + place)
        };
        let fill: String = elements.iter().enumerate().map(fill).collect();
        let mut site = 100;
        let mut other = |choice: usize| {
            let text = OTHERWISE[choice].replace("SIZE", &size.to_string());
            site += 10;
            text.replace("@90", &format!("@{site}")).replace("@91", &format!("@{}", site + 1))
        };
        let [before, between, after] = others.map(&mut other);
        let place = INDICES[index].replace("SIZE", &size.to_string());
        let inner = format!(
            "{fill}{between}\nfor i = 0 while i < {size} step + 1 @1 {{
               let v = read t[({place}) * 4; 4] @2
               write s[convert<i64>(v) * 4 + 400000; 4] := v @3
               {after}
             }}"
        );
        let body = if turns_around { format!("for j = 0 while j < 2 step + 1 @4 {{ {inner} }}") } else { inner };
        let source = format!(
            "kernel k(n: i32) {{ private t: element 4, size {} shared s: element 4 var v: i32 var i: i32 var j: i32
             {before} {body} }}",
            4 * size
        );
        let kernel = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        prop_assert_eq!(validate::validate(&kernel), []);
        let mut tabulated = kernel.clone();
        tables::tabulate(&mut tabulated);
        prop_assert_eq!(validate::validate(&tabulated), []);
        let Some(expected) = accesses(&kernel, n.into()) else { return Ok(()) };
        prop_assert_eq!(accesses(&tabulated, n.into()), Some(expected), "{}", text::print(&tabulated));
    }
}
