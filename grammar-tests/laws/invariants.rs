//! Invariants that are kept hold in every run.
//!
//! Random loops over three variables, which move under conditions that memory, ids and the variables themselves
//! decide; each invariant becomes an assertion again, and none may fail, whatever memory holds.

use super::claims::runs;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough, sums};
use crate::support::tier::tiers;
use crate::theorem::random_kernel;
use raceproof::calculus::text::{parse, print};
use raceproof::calculus::{Basis, Claimed, Kernel, Site, Stmt};
use raceproof::invariant::strengthen;
use raceproof::protocol::infer::infer;
use raceproof::prove::premises::Proofs;
use std::fmt::Write;

const LAW: Law = Law::new("invariants", tiers(40, 150, 6_000));

struct Loops<'d> {
    dice: &'d mut Dice,
    text: String,
    sites: u32,
}

impl Loops<'_> {
    fn pick(&mut self, from: &[&str]) -> String {
        from[self.dice.below(from.len() as u64) as usize].to_owned()
    }

    fn site(&mut self) -> u32 {
        self.sites += 1;
        self.sites - 1
    }

    fn update(&mut self) {
        let var = self.pick(&["a", "b", "c"]);
        let other = self.pick(&["a", "b", "c"]);
        let constant = self.pick(&["0", "1", "2", "3", "4", "6", "12"]);
        let value = match self.dice.below(12) {
            0..4 => format!("{var} + {constant}"),
            4 => format!("{var} - {constant}"),
            5 => format!("1 - {var}"),
            6 => format!("{var} ^ 1"),
            7 => format!("{var} / 2"),
            8 => format!("({var} & 255) * 2"),
            9 => constant,
            10 => other,
            _ => format!("{var} + {other} & 63"),
        };
        let _ = writeln!(self.text, "let {var} = {value}");
    }

    fn condition(&mut self) -> String {
        let var = self.pick(&["a", "b", "c"]);
        let constant = self.pick(&["0", "1", "4", "12"]);
        let op = self.pick(&["<", "<=", "==", "!=", ">"]);
        match self.dice.below(5) {
            0 | 1 => "v > 0".to_owned(),
            2 => "convert<i32>(tid.x) < n".to_owned(),
            _ => format!("{var} {op} {constant}"),
        }
    }

    fn body(&mut self, depth: u32) {
        for _ in 0..1 + self.dice.below(3) {
            match self.dice.below(if depth > 2 { 3 } else { 8 }) {
                0..3 => self.update(),
                3..6 => {
                    let cond = self.condition();
                    let _ = writeln!(self.text, "if {cond} {{");
                    self.body(depth + 1);
                    let _ = writeln!(self.text, "}} else {{");
                    if self.dice.below(2) == 0 {
                        self.update();
                    }
                    let _ = writeln!(self.text, "}}");
                }
                6 => self.counted(depth),
                _ => {
                    let (read, at) = (self.site(), self.pick(&["i", "j", "0"]));
                    let _ = writeln!(self.text, "let v = read y[convert<i64>({at}) * 4; 4] @{read}");
                }
            }
        }
    }

    fn counted(&mut self, depth: u32) {
        let site = self.site();
        let (var, bound) = (self.pick(&["i", "j"]), self.pick(&["n", "3", "5"]));
        let plain = depth > 0 || self.dice.below(3) > 0;
        if plain && !self.text.contains(&format!("for {var} ")) {
            let _ = writeln!(self.text, "for {var} = 0 while {var} < {bound} step + 1 @{site} {{");
        } else {
            let _ = writeln!(self.text, "let t = 0 loop while t < 6 && a < 50 @{site} {{ let t = t + 1");
        }
        self.body(depth + 1);
        let _ = writeln!(self.text, "}}");
    }

    fn kernel(mut self) -> Kernel {
        self.text.push_str("kernel k(n: i32, m: i32) { global y: element 4\n");
        for var in ["a", "b", "c", "v", "i", "j", "t"] {
            let _ = writeln!(self.text, "var {var}: i32");
        }
        for var in ["a", "b", "c"] {
            let start = self.pick(&["0", "1", "2", "8", "convert<i32>(tid.x)", "n"]);
            let _ = writeln!(self.text, "let {var} = {start}");
        }
        let read = self.site();
        let _ = writeln!(self.text, "let v = read y[0; 4] @{read} let i = 0 let j = 0");
        for _ in 0..1 + self.dice.below(2) {
            self.counted(0);
            let (one, other) = (self.site(), self.site());
            let _ = writeln!(
                self.text,
                "write y[convert<i64>(a) * 4; 4] @{one} write y[convert<i64>(b + c) * 4; 4] @{other}"
            );
        }
        self.text.push('}');
        parse(&self.text).unwrap_or_else(|error| panic!("{error}\n{}", self.text))
    }
}

/// The kernel with every invariant as an assertion, and how many there are.
pub(super) fn asserted(mut kernel: Kernel) -> (Kernel, usize) {
    let mut body = std::mem::take(&mut kernel.body);
    let count = assert_all(&mut kernel, &mut body);
    kernel.body = body;
    (kernel, count)
}

fn assert_all(kernel: &mut Kernel, body: &mut [Stmt]) -> usize {
    let mut count = 0;
    for stmt in body {
        match stmt {
            Stmt::Assume { cond, basis: Basis::Proved, .. } => {
                let site = kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
                *stmt = Stmt::Assert { cond: *cond, claimed: Claimed::Asserted, site };
                count += 1;
            }
            Stmt::If { then, otherwise, .. } => {
                count += assert_all(kernel, then) + assert_all(kernel, otherwise);
            }
            Stmt::For(each) => count += assert_all(kernel, &mut each.body),
            Stmt::Loop { body, .. } => count += assert_all(kernel, body),
            _ => {}
        }
    }
    count
}

#[test]
fn kept_invariants_hold_in_every_run() {
    let tried = LAW.each(|seed| {
        let (mut kept, mut checked) = (0, 0);
        let kernel = if seed % 4 == 0 {
            random_kernel(seed)
        } else {
            Loops { dice: &mut Dice(seed), text: String::new(), sites: 0 }.kernel()
        };
        let Some(strengthened) = strengthen(&kernel, &infer(&kernel), Proofs::Recheck) else { return [kept, checked] };
        let violations = raceproof::calculus::validate::validate(&strengthened.kernel);
        assert!(violations.is_empty(), "seed {seed}: {violations:?}");
        assert!(strengthened.rejected.is_empty(), "seed {seed}: {:?}", strengthened.rejected);
        let (kernel, count) = asserted(strengthened.kernel);
        kept += count;
        for (launch, outcome) in runs(&kernel, seed) {
            let wrapped = !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
            if outcome.traps.is_empty() && !(wrapped && !strengthened.assumptions.is_empty()) {
                checked += usize::from(outcome.finished);
                let failed = outcome.failed_assertions.first().map(|seen| seen.site.index());
                assert!(failed.is_none(), "seed {seed}: @{failed:?} fails in {launch}\n{}", print(&kernel));
            }
        }
        [kept, checked]
    });
    let [kept, checked] = sums(&tried);
    let is_enough = |count| is_enough(count, 2 * tried.len(), 3);
    assert!(is_enough(kept) && is_enough(checked), "only {kept} invariants are kept, and {checked} runs are finished");
}
