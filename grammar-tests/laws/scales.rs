//! Invariants of variables that are scaled together hold in every run.
//!
//! Random pairs of loops, of which one multiplies a variable and divides another and the other goes back: with factors,
//! starts, tests and places of the steps that fit each other, or do not quite. Each invariant becomes an assertion.

use super::claims::runs;
use super::invariants::asserted;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough, sums};
use crate::support::tier::tiers;
use raceproof::calculus::text::{parse, print};
use raceproof::calculus::{Kernel, validate};
use raceproof::invariant::strengthen;
use raceproof::protocol::infer::infer;
use raceproof::prove::premises::Proofs;
use std::fmt::Write;

const LAW: Law = Law::new("scales", tiers(150, 750, 6000));

fn pick<'t>(dice: &mut Dice, from: &[&'t str]) -> &'t str {
    from[dice.below(from.len() as u64) as usize]
}

/// A loop over `d`, with what it does to `s` before and after its access.
fn scaling(dice: &mut Dice, text: &mut String, down: bool, sites: &mut u32) {
    let mut site = || {
        *sites += 1;
        *sites - 1
    };
    let bound = pick(dice, &["n", "bound", "bound", "bound"]);
    let own = if down { ["* 2", "* 2", "<< 1", "* 4", "* 3"] } else { [">> 1", ">> 1", "/ 2", ">> 2", "/ 3"] };
    let other = if down { [">> 1", ">> 1", "/ 2", ">> 2", "/ 3"] } else { ["* 2", "* 2", "<< 1", "* 4", "* 3"] };
    let (start, test) = if down {
        (pick(dice, &["1", "1", "1", "2", "0", "n"]), format!("d {} {bound}", pick(dice, &["<=", "<=", "<"])))
    } else {
        (pick(dice, &[bound, bound, "bound >> 1", "n", "8"]), format!("d {} 0", pick(dice, &[">", ">", ">=", "!="])))
    };
    let step = pick(dice, &own);
    let scale = format!("let s = s {}", pick(dice, &other));
    let scale = match dice.below(6) {
        0 => format!("if v > 0 {{ {scale} }}"),
        1 => format!("{scale} {scale}"),
        _ => scale,
    };
    // Loops over values that stop moving would not end.
    let turns = "let t = t + 1";
    match dice.below(4) {
        0 => {
            let _ = writeln!(
                text,
                "let d = {start} let t = 0 let on = true loop while on && t < 9 && {test} @{} {{",
                site()
            );
            let _ = writeln!(text, "{turns} let d = d {step}");
        }
        1 => {
            let _ = writeln!(text, "let d = {start} let t = 0 let on = true loop @{} {{ {turns}", site());
        }
        _ => {
            let _ = writeln!(text, "let t = 0 for d = {start} while {test} step {step} @{} {{", site());
        }
    }
    let is_do = text.trim_end().ends_with(&format!("{{ {turns}"));
    let early = dice.below(2) == 0;
    if early {
        let _ = writeln!(text, "{scale}");
    }
    let _ =
        writeln!(text, "if convert<i32>(tid.x) < convert<i32>(d) {{ write y[convert<i64>(s) * 4; 4] @{} }}", site());
    if !early {
        let _ = writeln!(text, "{scale}");
    }
    if is_do {
        let _ = writeln!(text, "let d = d {step} }} while t < 9 && {test}");
    } else {
        if text.contains("on && t < 9") && dice.below(2) == 0 && !text.trim_end().ends_with("@0 {") {
            let _ = writeln!(text, "if v > 3 {{ let on = false }}");
        }
        let _ = writeln!(text, "}}");
    }
    let _ = writeln!(text, "write y[convert<i64>(s) * 4; 4] @{}", site());
}

fn kernel(seed: u64) -> Kernel {
    let dice = &mut Dice(seed);
    let (s, d) = (pick(dice, &["i32", "i32", "u32"]), "i32");
    let mut text = format!(
        "kernel k(n: i32, m: i32) {{ global y: element 4
var s: {s} var d: {d} var bound: {d} var t: i32 var v: i32 var on: bool\n"
    );
    let bound = pick(dice, &["convert<i32>(bdim.x)", "convert<i32>(bdim.x)", "n", "max(n, 1)", "7"]);
    let start = pick(dice, &["1", "1", "1", "2", "3", "0"]);
    let _ = writeln!(text, "let bound = {bound} let s = {start} let on = true let v = read y[0; 4] @0");
    let mut sites = 1;
    scaling(dice, &mut text, false, &mut sites);
    scaling(dice, &mut text, true, &mut sites);
    text.push('}');
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn products_of_scaled_variables_are_what_is_said_of_them() {
    let tried = LAW.each(|seed| {
        let [mut products, mut turns, mut checked] = [0; 3];
        let kernel = kernel(seed);
        let Some(strengthened) = strengthen(&kernel, &infer(&kernel), Proofs::Recheck) else { return [0; 3] };
        let violations = validate::validate(&strengthened.kernel);
        assert!(violations.is_empty(), "seed {seed}: {violations:?}");
        assert!(strengthened.rejected.is_empty(), "seed {seed}: {:?}", strengthened.rejected);
        let text = print(&strengthened.kernel);
        products += text.matches("convert<i64>(s) * convert<i64>(d) >=").count();
        products += text.matches("convert<i64>(d) * convert<i64>(s) >=").count();
        turns += text.matches("proved s >= 2\n").count();
        let (kernel, _) = asserted(strengthened.kernel);
        for (launch, outcome) in runs(&kernel, seed) {
            let wrapped = !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
            if outcome.traps.is_empty() && !(wrapped && !strengthened.assumptions.is_empty()) {
                checked += usize::from(outcome.finished);
                let failed = outcome.failed_assertions.first().map(|seen| seen.site.index());
                assert!(failed.is_none(), "seed {seed}: @{failed:?} fails in {launch}\n{}", print(&kernel));
            }
        }
        [products, turns, checked]
    });
    let [products, turns, checked] = sums(&tried);
    let is_enough = |count, one_in| is_enough(count, tried.len(), one_in);
    assert!(
        is_enough(products, 75) && is_enough(turns, 300) && is_enough(checked / 2, 3),
        "{products} products, {turns} of turns, {checked} runs"
    );
}
