//! Whether something can be reached at all, and by which launch: a question to the checker.
//!
//! A claim that never holds is put where nobody has come so far, `__assert(false)` as the first statement of a branch. A claim is proved where
//! no thread of any launch gets to it, and refuted with a witness where one does: the launch to try. Of loops the claim is about their turns,
//! which the text is made to count.
//!
//! Loops of which every kernel has the number of turns as a constant need no claim.
//!
//! Guarantees: what is called impossible is proved for every launch, whatever those in host code say, from no more assumptions than the kernels' own proofs need,
//! and none of the kernels that may hold the place leaves anything open. A witness is no more than a hint: who asks runs it.
//!
//! Deliberately absent: conditions of `?:`, what macros bring, statements in headers; turns of loops that a `return` leaves.

use crate::calculus::statements::every;
use crate::calculus::{self, Kernel};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, ContractKind, KernelReport, Race, WitnessReport};
use crate::driver::contracts::judged_for_any_launch;
use crate::driver::described::plain;
use crate::driver::front::{self, FrontEnd};
use crate::driver::options::{Evidence, Fixes, Hints, Launches, Settings};
use crate::driver::passes::lowered_for_any_launch;
use crate::driver::{Options, read};
use crate::instrument::coverage::PointKind;
use crate::source::Span;
use crate::syntax::parts::stmts_in;
use crate::syntax::{Function, Item, ItemKind, Qualifier, Stmt, StmtKind, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Questions about a file beyond which nothing more is asked.
const MOST: usize = 120;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// Nobody gets there.
    Impossible,
    /// A thread of this launch gets there.
    Launch(WitnessReport),
}

/// A statement that decides what is executed.
#[derive(Debug)]
struct Place {
    function: String,
    whole: Span,
    on: On,
}

#[derive(Debug)]
enum On {
    If { then: Body, otherwise: Option<Body> },
    Loop { body: Body, is_left: bool, breaks: bool },
}

/// A statement that belongs to another one.
#[derive(Clone, Copy, Debug)]
struct Body {
    span: Span,
    is_block: bool,
}

/// Line, column, and whether it is a loop.
type Key = (u32, u32, bool);

/// Who asks about a file.
pub(super) struct Questions {
    path: PathBuf,
    text: String,
    options: Options,
    places: BTreeMap<Key, Place>,
    /// The names of the kernels, without namespaces.
    kernels: Vec<String>,
    /// What the proof of each kernel takes for granted, by its name without namespaces.
    assumptions: BTreeMap<String, BTreeSet<String>>,
    /// What kernels ask of contents, by their names without namespaces.
    of_contents: Vec<(String, String)>,
    /// Extents that kernels want to be 1, likewise: whether of a block, and the axis.
    ones: Vec<(String, (usize, usize))>,
    /// Kinds of executions of loops whose turns are constants.
    turns: BTreeMap<(u32, u32), BTreeSet<u8>>,
    asked: BTreeMap<(Key, u8), Vec<KernelReport>>,
}

impl Questions {
    /// About a file as it is written.
    pub(super) fn new(path: &Path, text: &str, options: &Options) -> Questions {
        let judging = Settings { launches: Launches::All, ..options.judging.clone() };
        let options = Options {
            front: FrontEnd::TreeSitter,
            hints: Hints::Omit,
            fixes: Fixes::Omit,
            evidence: Evidence::default(),
            judging,
            ..options.clone()
        };
        let unit = front::read(path, text, &options, None).unit;
        let mut found = Found { unit: &unit, path, places: BTreeMap::new(), kernels: Vec::new() };
        found.items(&unit.items);
        let Found { places, kernels, .. } = found;
        let turns = constant_turns(path, text, &options);
        let mut assumptions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for kernel in judged_for_any_launch(path, text, &options) {
            let known = assumptions.entry(plain(&kernel.name).to_owned()).or_default();
            known.extend(kernel.assumptions.into_iter().map(|assumption| assumption.text));
        }
        let of_contracts = Settings { launches: Launches::OfContracts, ..options.judging.clone() };
        let judged = judged_for_any_launch(path, text, &Options { judging: of_contracts, ..options.clone() });
        let (of_contents, ones) = (of_contents(&judged), ones(&judged));
        Questions {
            path: path.to_path_buf(),
            text: text.to_owned(),
            options,
            places,
            kernels,
            assumptions,
            of_contents,
            ones,
            turns,
            asked: BTreeMap::new(),
        }
    }

    /// The extents that the contract of a kernel wants to be 1: those of the grid, then those of a block.
    pub(super) fn ones(&self, kernel: &str) -> [[bool; 3]; 2] {
        let mut found = [[false; 3]; 2];
        for (_, (level, axis)) in self.ones.iter().filter(|(name, _)| name == plain(kernel)) {
            found[*level][*axis] = true;
        }
        found
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the contract of a kernel asks of contents: `distinct(idx)`.
    pub(super) fn asks_of_contents(&self, kernel: &str) -> Vec<String> {
        let of_kernel = self.of_contents.iter().filter(|(name, _)| name == plain(kernel));
        of_kernel.map(|(_, text)| text.clone()).collect()
    }

    /// Whether a side of a branch or a loop, which stands in this file, can be reached from a kernel; nothing if that is not known.
    pub(super) fn ask(&mut self, kernel: &str, (line, column): (u32, u32), kind: &PointKind, side: u8) -> Option<Said> {
        let key = (line, column, matches!(kind, PointKind::Loop { .. }));
        let place = self.places.get(&key)?;
        let is_kernel = self.kernels.contains(&place.function);
        if is_kernel && place.function != kernel {
            return None;
        }
        let leaves = matches!(place.on, On::Loop { is_left: true, .. } | On::Loop { breaks: true, .. });
        if let (true, false, Some(kinds)) = (key.2, leaves, self.turns.get(&(line, column)))
            && !kinds.contains(&side)
        {
            return Some(Said::Impossible);
        }
        if !self.asked.contains_key(&(key, side)) {
            if self.asked.len() >= MOST {
                return None;
            }
            let edits = edits(place, side)?;
            // A function that is no kernel may be part of each of them.
            let kernels = if is_kernel { vec![kernel.to_owned()] } else { Vec::new() };
            let options = Options { kernels, ..self.options.clone() };
            let judged = judged_for_any_launch(&self.path, &edited(&self.text, edits), &options);
            self.asked.insert((key, side), judged);
        }
        self.said(kernel, self.asked.get(&(key, side))?)
    }

    /// What the kernels say with the claim in the text.
    fn said(&self, kernel: &str, judged: &[KernelReport]) -> Option<Said> {
        let mut is_open = judged.is_empty();
        for report in judged {
            for finding in report.each_finding().filter(|finding| finding.rule == RuleId::Assertion) {
                is_open = true;
                let witness = finding.witness.as_ref().filter(|_| finding.certainty == Certainty::Proved);
                if let Some(witness) = witness.filter(|_| plain(&report.name) == kernel) {
                    return Some(Said::Launch(witness.clone()));
                }
            }
        }
        let is_decided = |report: &KernelReport| {
            let own = self.assumptions.get(plain(&report.name));
            let is_known = |text: &String| own.is_some_and(|own| own.contains(text));
            report.race != Race::Unknown
                && report.unknowns.is_empty()
                && report.assumptions.iter().all(|assumption| is_known(&assumption.text))
        };
        (!is_open && judged.iter().all(is_decided)).then_some(Said::Impossible)
    }
}

/// The conditions on contents in the contracts of kernels.
fn of_contents(kernels: &[KernelReport]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for kernel in kernels {
        let conjuncts = kernel.contract.iter().flat_map(|contract| &contract.conjuncts);
        for conjunct in conjuncts.filter(|conjunct| conjunct.kind == ContractKind::Data) {
            found.push((plain(&kernel.name).to_owned(), conjunct.text.clone()));
        }
    }
    found
}

/// The extents that contracts of kernels want to be 1.
fn ones(kernels: &[KernelReport]) -> Vec<(String, (usize, usize))> {
    let mut found = Vec::new();
    for kernel in kernels {
        for conjunct in kernel.contract.iter().flat_map(|contract| &contract.conjuncts) {
            let extents = ["gridDim", "blockDim"].into_iter().enumerate();
            let all = extents
                .flat_map(|(level, name)| ["x", "y", "z"].into_iter().enumerate().map(move |axis| (level, name, axis)));
            let wanted = all.filter(|(_, name, (_, axis))| conjunct.text == format!("{name}.{axis} == 1"));
            found.extend(wanted.map(|(level, _, (axis, _))| (plain(&kernel.name).to_owned(), (level, axis))));
        }
    }
    found
}

/// The text that claims that a side is not reached.
fn edits(place: &Place, side: u8) -> Option<Vec<(usize, String)>> {
    const NEVER: &str = " __assert(false); ";
    let at = |body: Body, text: &str| {
        let (start, end) = (body.span.start as usize, body.span.end as usize);
        match body.is_block {
            true => vec![(start + 1, text.to_owned())],
            false => vec![(start, format!("{{{text}")), (end, " }".to_owned())],
        }
    };
    match (&place.on, side) {
        (On::If { then, .. }, 1) => Some(at(*then, NEVER)),
        (On::If { otherwise: Some(otherwise), .. }, _) => Some(at(*otherwise, NEVER)),
        (On::If { then, otherwise: None }, _) => {
            let end = then.span.end as usize;
            // What belongs to the branch of an outer `if` must not take its `else`.
            Some(vec![(end, format!(" else {{{NEVER}}}"))])
        }
        (On::Loop { is_left: true, .. }, _) => None,
        (On::Loop { body, .. }, side) => {
            let claim =
                ["raceproof_turns != 0", "raceproof_turns != 1", "raceproof_turns < 2"][usize::from(side.min(2))];
            let (start, end) = (place.whole.start as usize, place.whole.end as usize);
            let mut edits = at(*body, " raceproof_turns++; ");
            edits.insert(0, (start, "{ int raceproof_turns = 0; ".to_owned()));
            edits.push((end, format!(" __assert({claim}); }}")));
            Some(edits)
        }
    }
}

/// The text with insertions, in the order of their places; of one place the first comes first.
fn edited(text: &str, edits: Vec<(usize, String)>) -> String {
    let mut result = String::with_capacity(text.len() + 100);
    let mut done = 0;
    for (at, inserted) in edits {
        result.push_str(text.get(done..at).unwrap_or_default());
        result.push_str(&inserted);
        done = at;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

/// Who walks over a unit.
struct Found<'u> {
    unit: &'u Unit,
    path: &'u Path,
    places: BTreeMap<Key, Place>,
    kernels: Vec<String>,
}

impl Found<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { items, .. } => self.items(items),
                ItemKind::Record(record) => self.items(record.members.as_deref().unwrap_or_default()),
                ItemKind::Function(function) => self.function(function),
                _ => {}
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let Some(name) = function.path.segments.last().map(|last| last.name.text.clone()) else { return };
        if function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel)) {
            self.kernels.push(name.clone());
        }
        let mut open: Vec<&Stmt> = function.body.iter().flatten().collect();
        while let Some(statement) = open.pop() {
            self.statement(statement, &name);
            open.extend(stmts_in(statement));
        }
    }

    fn statement(&mut self, statement: &Stmt, function: &str) {
        let body =
            |statement: &Stmt| Body { span: statement.span, is_block: matches!(statement.kind, StmtKind::Block(_)) };
        let (point, on) = match &statement.kind {
            StmtKind::If { cond, then, otherwise, init: None, is_constexpr: false } => {
                (cond.span, On::If { then: body(then), otherwise: otherwise.as_deref().map(body) })
            }
            StmtKind::For { body: turn, .. } | StmtKind::While { body: turn, .. } | StmtKind::Do { body: turn, .. } => {
                (statement.span, On::Loop { body: body(turn), is_left: returns(turn), breaks: breaks(turn) })
            }
            _ => return,
        };
        let spans = match &on {
            On::If { then, otherwise } => [Some(statement.span), Some(then.span), otherwise.map(|body| body.span)],
            On::Loop { body, .. } => [Some(statement.span), Some(body.span), None],
        };
        let sources = &self.unit.sources;
        let is_plain = |span: &Span| span.expansion.is_none() && sources.file(span.file).path == self.path;
        if !spans.iter().flatten().all(is_plain) {
            return;
        }
        let position = sources.start_position(point);
        let key = (position.line, position.column, matches!(on, On::Loop { .. }));
        self.places.insert(key, Place { function: function.to_owned(), whole: statement.span, on });
    }
}

fn returns(statement: &Stmt) -> bool {
    holds(statement, |kind| matches!(kind, StmtKind::Return(_) | StmtKind::Asm { .. } | StmtKind::Unsupported(_)))
}

/// A `break` of an inner loop counts, too.
fn breaks(statement: &Stmt) -> bool {
    holds(statement, |kind| matches!(kind, StmtKind::Break))
}

fn holds(statement: &Stmt, wanted: impl Fn(&StmtKind) -> bool) -> bool {
    let mut open = vec![statement];
    while let Some(statement) = open.pop() {
        if wanted(&statement.kind) {
            return true;
        }
        open.extend(stmts_in(statement));
    }
    false
}

/// The kinds of executions, by number, that each loop of the file's kernels has where its turns are constants, by line and column.
fn constant_turns(path: &Path, text: &str, options: &Options) -> BTreeMap<(u32, u32), BTreeSet<u8>> {
    let file = read(path, text, options).launched;
    let mut found: BTreeMap<(u32, u32), BTreeSet<u8>> = BTreeMap::new();
    for &function in &file.program.kernels {
        let kernel = lowered_for_any_launch(&file, function, options);
        every(&kernel.body, |statement| {
            let (site, turns) = match statement {
                calculus::Stmt::For(counted) => (counted.site, turns(&kernel, counted)),
                calculus::Stmt::Loop { site, .. } => (*site, None),
                _ => return,
            };
            let Some(span) = kernel.sites[site].span else { return };
            let sources = &file.program.sources;
            if sources.file(sources.visible(span).file).path != path {
                return;
            }
            let position = sources.start_position(span);
            let kinds = found.entry((position.line, position.column)).or_default();
            // What is not constant may be anything.
            kinds.extend(turns.map_or(0..=2, |turns| turns..=turns));
        });
    }
    found
}

/// Which kind of executions a counted loop of constants has: no turn, one, or several.
fn turns(kernel: &Kernel, counted: &calculus::For) -> Option<u8> {
    let constant = |id| kernel.exprs.as_int(id);
    let (mut value, bound, by) = (constant(counted.start)?, constant(counted.bound)?, constant(counted.step.by)?);
    for turns in 0..2 {
        let goes_on = match counted.cmp {
            calculus::BinaryOp::Lt => value < bound,
            calculus::BinaryOp::Le => value <= bound,
            calculus::BinaryOp::Gt => value > bound,
            calculus::BinaryOp::Ge => value >= bound,
            calculus::BinaryOp::Ne => value != bound,
            _ => return None,
        };
        if !goes_on {
            return Some(turns);
        }
        value = match counted.step.op {
            calculus::BinaryOp::Add => value.checked_add(by)?,
            calculus::BinaryOp::Sub => value.checked_sub(by)?,
            calculus::BinaryOp::Mul => value.checked_mul(by)?,
            calculus::BinaryOp::Div => value.checked_div(by)?,
            calculus::BinaryOp::Shl => value.checked_shl(u32::try_from(by).ok()?)?,
            calculus::BinaryOp::Shr => value.checked_shr(u32::try_from(by).ok()?)?,
            _ => return None,
        };
    }
    Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "__global__ void k(int* out, int n, int mode) {
    if (threadIdx.x >= blockDim.x) out[threadIdx.x] = 1;
    if (mode * mode - 34 * mode == -289) {
        out[threadIdx.x] = n;
    }
    for (int i = 0; i < 16; i++) out[threadIdx.x] += i;
}
";

    fn ask(line: u32, column: u32, kind: &PointKind, side: u8) -> Option<Said> {
        let options = Options::default();
        Questions::new(Path::new("k.cu"), TEXT, &options).ask("k", (line, column), kind, side)
    }

    #[test]
    fn what_nobody_reaches_is_proved_impossible() {
        assert_eq!(ask(2, 9, &PointKind::Branch, 1), Some(Said::Impossible));
        let counted = PointKind::Loop { may_be_skipped: true };
        assert_eq!(ask(6, 5, &counted, 0), Some(Said::Impossible));
        assert_eq!(ask(6, 5, &counted, 1), Some(Said::Impossible));
        assert!(matches!(ask(6, 5, &counted, 2), Some(Said::Launch(_))));
    }

    #[test]
    fn what_launches_of_the_file_do_not_reach_is_not_impossible() {
        let text = "__global__ void k(int* x, int n) {
    if (n > 5) x[threadIdx.x] = 1;
    if (blockIdx.x > 0) x[0] = 2;
}
int main() { int* x; k<<<1, 32>>>(x, 3); }
";
        let mut questions = Questions::new(Path::new("k.cu"), text, &Options::default());
        for line in [2, 3] {
            let said = questions.ask("k", (line, 9), &PointKind::Branch, 1);
            assert!(matches!(said, Some(Said::Launch(_))), "{line}: {said:?}");
        }
    }

    #[test]
    fn what_a_proof_takes_as_1_is_wanted_to_be_1() {
        let body = "{ if (x[threadIdx.x] > 40) x[threadIdx.x] = 0; }";
        let text = format!(
            "template <int N> __global__ void many(float* x) {body}
__global__ void one(float* x) {body}
__global__ void each(float* x) {{ x[blockIdx.x * blockDim.x + threadIdx.x] = 0; }}
int main() {{ float* x; many<3><<<1, 64>>>(x); }}
"
        );
        let questions = Questions::new(Path::new("k.cu"), &text, &Options::default());
        for (kernel, along_x) in [("many<3>", true), ("one", true), ("each", false)] {
            assert_eq!(questions.ones(kernel)[0][0], along_x, "{kernel}");
        }
    }

    #[test]
    fn a_function_is_asked_about_with_all_kernels_that_may_hold_it() {
        let text = "__device__ void f(int* x, int n) {
    if (n > 2) x[threadIdx.x] = 1;
    if (n > 9) x[threadIdx.x] = 2;
}
__global__ void little(int* x) { f(x, 1); }
__global__ void more(int* x) { f(x, 7); }
";
        let mut questions = Questions::new(Path::new("k.cu"), text, &Options::default());
        assert_eq!(questions.ask("little", (2, 9), &PointKind::Branch, 1), None);
        assert!(matches!(questions.ask("more", (2, 9), &PointKind::Branch, 1), Some(Said::Launch(_))));
        assert_eq!(questions.ask("little", (3, 9), &PointKind::Branch, 1), Some(Said::Impossible));
    }

    #[test]
    fn what_somebody_reaches_comes_with_a_launch() {
        let Some(Said::Launch(witness)) = ask(3, 9, &PointKind::Branch, 1) else { panic!("no launch") };
        assert!(witness.params.contains(&("mode".to_owned(), 17)), "{witness:?}");
    }

    #[test]
    fn insertions_keep_their_order() {
        assert_eq!(edited("if (a) b;", vec![(7, "{ x; ".to_owned()), (9, " }".to_owned())]), "if (a) { x; b; }");
    }
}
