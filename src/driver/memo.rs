//! Verdicts of kernels that occur in several files of one run.
//!
//! A header with kernels is checked by itself and in every unit that includes it, and trees hold copies. Two
//! kernels that lower to the same thing but for where it stands, with equal launches, have one verdict: it is
//! found once, with spans replaced by their numbers, and put in place for the others. So have a CUDA kernel and its copy for
//! HIP, if nothing returns from it ([`Platform::once_lowered`](crate::calculus::Platform::once_lowered)).
//!
//! Their invariants are looked for once, likewise; and a unit is read once for all that ask what it launches ([`ReadUnits`]).
//!
//! Guarantees: what comes from memory is what [`judge`] and [`strengthen`] would have answered (they depend on spans
//! only in passing them on), so no answer depends on the order in which threads come by. Kernels are compared by two
//! keyed hashes of 64 bits over all that they hold.
//!
//! Deliberately not kept: what is read of a file whose kernels are judged.

use super::options::{Options, Settings};
use super::read_units::ReadUnits;
use crate::arena::Handle;
use crate::calculus::{Kernel, Stmt, Test};
use crate::check::verdict::Verdict;
use crate::invariant::{Strengthened, strengthen};
use crate::judge;
use crate::launch::Facts;
use crate::protocol::Protocol;
use crate::prove::Assumption;
use crate::prove::premises::Proofs;
use crate::source::fingerprint::Hashed;
use crate::source::{Language, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of the kernels of one run.
#[derive(Default)]
pub(super) struct Memo {
    /// Keyed anew in every process: no one can choose kernels that meet.
    keys: [RandomState; 2],
    verdicts: Mutex<FxHashMap<Key, Verdict>>,
    invariants: Mutex<FxHashMap<Key, Option<Strengthened>>>,
    /// What was asked for since what nobody asks for any more was forgotten last.
    asked: Mutex<FxHashSet<Key>>,
    /// What is known from judgements with more effort, which count before those that are here.
    better: Option<Arc<Memo>>,
    /// Units that were read for their launches.
    pub(super) units: ReadUnits,
}

type Key = [u64; 2];

/// One kernel of the run: what it is but for where it stands.
pub(super) struct Entry<'m> {
    memo: &'m Memo,
    key: Key,
    spans: Spans,
}

/// All that a verdict is found from, but for the options, which are those of the run where they do not give a launch.
pub(super) struct Subject<'a> {
    /// The kernel.
    pub(super) kernel: &'a Kernel,
    /// Its protocol, which is inferred from it.
    pub(super) protocol: &'a Protocol,
    /// Its launches.
    pub(super) launches: &'a [Facts],
    /// The language.
    pub(super) language: Language,
}

impl Memo {
    /// One whose judgements stand back behind others, which were found with more effort from the same options.
    pub(super) fn behind(better: Arc<Memo>) -> Memo {
        Memo { keys: better.keys.clone(), better: Some(better), ..Memo::default() }
    }

    /// Forgets what was not asked for since this was done last.
    pub(super) fn forget_unasked(&self) {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| asked.contains(key));
        self.invariants.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| asked.contains(key));
    }

    /// Verdicts and invariants that are kept.
    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.verdicts.lock().unwrap().len() + self.invariants.lock().unwrap().len()
    }

    /// The verdict on a kernel, the best that is known.
    fn verdict(&self, key: &Key) -> Option<Verdict> {
        let better = self.better.as_ref().and_then(|better| better.verdict(key));
        better.or_else(|| self.verdicts.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }

    /// The place of a kernel, as it was lowered.
    pub(super) fn entry(&self, kernel: &Kernel) -> Entry<'_> {
        let mut numbered = kernel.clone();
        if kernel.returned.is_none() {
            numbered.geometry.platform = kernel.geometry.platform.once_lowered();
        }
        let mut spans = Spans::default();
        each_span(&mut numbered, &mut |span| *span = spans.number(*span));
        Entry { memo: self, key: self.key(&numbered), spans }
    }

    fn key(&self, subject: &impl fmt::Debug) -> Key {
        let mut text = Hashed(self.keys.each_ref().map(BuildHasher::build_hasher));
        write!(text, "{subject:?}").expect("hashing does not fail");
        text.finish()
    }
}

impl Entry<'_> {
    /// The kernel of the entry with its invariants, from memory where they are known.
    pub(super) fn strengthened(&self, kernel: &Kernel, protocol: &Protocol, proofs: Proofs) -> Option<Strengthened> {
        let Entry { memo, key, spans } = self;
        memo.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(*key);
        let known = memo.invariants.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some(mut strengthened) = known {
            change_spans_of_invariants(&mut strengthened, |number| spans.seen.get(number.start as usize).copied());
            if let Some(strengthened) = &mut strengthened {
                strengthened.kernel.geometry.platform = kernel.geometry.platform;
            }
            return strengthened;
        }
        let strengthened = strengthen(kernel, protocol, proofs);
        let mut kept = strengthened.clone();
        if change_spans_of_invariants(&mut kept, |span| spans.numbers.get(&span).map(|&number| as_span(number))) {
            memo.invariants.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, kept);
        }
        strengthened
    }

    /// The verdict, from memory where it is known. The subject is the kernel of the entry with its invariants.
    pub(super) fn judge(&self, subject: &Subject<'_>, options: &Options) -> Verdict {
        let Subject { kernel, protocol, launches, language } = *subject;
        let Entry { memo, key, spans } = self;
        let launches_alone: Vec<Facts> =
            launches.iter().map(|facts| Facts { spans: Vec::new(), ..facts.clone() }).collect();
        // What settings say of launches differs from kernel to kernel.
        let Settings { block, grid, params, .. } = &options.judging;
        let key = memo.key(&(key, &launches_alone, language, block, grid, params));
        memo.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        if let Some(mut verdict) = memo.verdict(&key) {
            change_spans(&mut verdict, |number| spans.seen.get(number.start as usize).copied());
            return verdict;
        }
        let verdict = judge::judge(kernel, protocol, launches, language, &options.judging);
        let mut kept = verdict.clone();
        let all_known = change_spans(&mut kept, |span| spans.numbers.get(&span).map(|&number| as_span(number)));
        if all_known {
            memo.verdicts.lock().unwrap_or_else(PoisonError::into_inner).insert(key, kept);
        }
        verdict
    }
}

/// Spans in the order in which they were met first.
#[derive(Default)]
struct Spans {
    seen: Vec<Span>,
    numbers: FxHashMap<Span, usize>,
}

impl Spans {
    fn number(&mut self, span: Span) -> Span {
        let next = self.seen.len();
        let number = *self.numbers.entry(span).or_insert(next);
        if number == next {
            self.seen.push(span);
        }
        as_span(number)
    }
}

/// A number, written as a span.
fn as_span(number: usize) -> Span {
    Span::new(Handle::from_index(0), number, number)
}

/// Calls `change` with every span of a kernel, in a fixed order.
fn each_span(kernel: &mut Kernel, change: &mut impl FnMut(&mut Span)) {
    for array in kernel.arrays.handles() {
        kernel.arrays[array].span.iter_mut().for_each(&mut *change);
    }
    for site in kernel.sites.handles() {
        let site = &mut kernel.sites[site];
        site.span.iter_mut().chain(&mut site.inlined).for_each(&mut *change);
    }
    for unsupported in &mut kernel.unsupported {
        unsupported.span.iter_mut().for_each(&mut *change);
    }
    for expr in 0..kernel.exprs.len() {
        kernel.spans.get_mut(Handle::from_index(expr)).into_iter().for_each(&mut *change);
    }
    each_span_of(&mut kernel.body, change);
}

fn each_span_of(body: &mut [Stmt], change: &mut impl FnMut(&mut Span)) {
    for statement in body {
        match statement {
            Stmt::Let { .. } | Stmt::Read { .. } | Stmt::Write { .. } | Stmt::Atomic { .. } => {}
            Stmt::Sync { .. } | Stmt::Fence { .. } | Stmt::Assert { cond: _, claimed: _, site: _ } => {}
            Stmt::If { cond: _, then, otherwise } => {
                each_span_of(then, change);
                each_span_of(otherwise, change);
            }
            Stmt::For(counted) => each_span_of(&mut counted.body, change),
            Stmt::Loop { test: Test::Before(_) | Test::After(_), body, site: _ } => each_span_of(body, change),
            Stmt::Havoc { var: _, reason: _, span } | Stmt::Assume { cond: _, basis: _, span } => {
                span.iter_mut().for_each(&mut *change);
            }
        }
    }
}

/// Replaces every span of a verdict; whether a replacement was known for each.
fn change_spans(verdict: &mut Verdict, replacement: impl Fn(Span) -> Option<Span>) -> bool {
    let mut all_known = true;
    let mut change = |span: &mut Option<Span>| {
        if let Some(old) = *span {
            *span = replacement(old);
            all_known &= span.is_some();
        }
    };
    // Whoever adds a field has to say here whether it holds spans.
    let Verdict {
        race: _,
        divergence: _,
        scope: _,
        assumptions,
        conflicts: _,
        divergences: _,
        failed_claims: _,
        possible,
        possible_divergences,
        possible_claims,
        undecided: _,
        contract,
    } = verdict;
    change_spans_of_assumptions(assumptions, &mut change);
    if let Some(contract) = contract {
        change_spans_of_assumptions(&mut contract.assumptions, &mut change);
    }
    let of_races = possible.iter_mut().map(|race| &mut race.reasons);
    let of_syncs = possible_divergences.iter_mut().map(|divergence| &mut divergence.reasons);
    let of_claims = possible_claims.iter_mut().map(|claim| &mut claim.reasons);
    of_races.chain(of_syncs).chain(of_claims).flatten().for_each(|reason| change(&mut reason.span));
    all_known
}

/// Replaces the span of every assumption.
fn change_spans_of_assumptions(assumptions: &mut BTreeSet<Assumption>, change: &mut impl FnMut(&mut Option<Span>)) {
    let renumber = |mut assumption| {
        if let Assumption::NoUnsignedWrap { span, .. } | Assumption::FitsInto { span, .. } = &mut assumption {
            change(span);
        }
        assumption
    };
    *assumptions = std::mem::take(assumptions).into_iter().map(renumber).collect();
}

/// Replaces every span of a kernel with invariants; whether a replacement was known for each.
fn change_spans_of_invariants(
    strengthened: &mut Option<Strengthened>,
    replacement: impl Fn(Span) -> Option<Span>,
) -> bool {
    let Some(Strengthened { kernel, assumptions, rejected: _ }) = strengthened else { return true };
    let mut all_known = true;
    let mut replaced = |span: Span| {
        let new = replacement(span);
        all_known &= new.is_some();
        new
    };
    each_span(kernel, &mut |span| *span = replaced(*span).unwrap_or(*span));
    change_spans_of_assumptions(assumptions, &mut |span| *span = span.and_then(&mut replaced));
    all_known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render::json;
    use crate::diagnostic::report::{FileReport, Report};
    use crate::driver::parallel::{Input, Unwatched, check_all};
    use crate::driver::{check_source, check_source_of_many};
    use std::path::{Path, PathBuf};

    /// A race, possible races with reasons, what may wrap, and loops with invariants on which verdicts depend.
    const KERNELS: &str = "__global__ void racy(int *y) { y[threadIdx.x / 2] = 1; }
__global__ void data(int *y, const int *at) {
    int i = at[threadIdx.x];
    y[i] = 1;
}
__global__ void wraps(int *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1;
}
__global__ void doubled(int *y, const int *flag, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int step = 1;
    for (int k = 0; k < n; k++) {
        if (flag[k] > 0) step *= 2;
    }
    if (i >= 0) y[i / step * step + (i & (step - 1))] = 1;
}
__global__ void uneven(int *y, const int *flag, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = 0;
    for (unsigned k = 0; k < n; k++) {
        if (flag[k] > 0) at += 3;
    }
    if (flag[i]) __syncthreads();
    y[i + at] = 1;
}
";

    /// The kernels, and a copy in another file where everything stands elsewhere.
    fn copies() -> [(PathBuf, String); 2] {
        let moved = format!("// moved\n\nstruct Elsewhere {{ int it; }};\n\n{}", KERNELS.replace("    ", "       "));
        [("one.cu".into(), KERNELS.to_owned()), ("two.cu".into(), moved)]
    }

    fn in_json(report: FileReport) -> String {
        let mut text = Vec::new();
        json::render(&Report { files: vec![report] }, &mut text).expect("memory can be written");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    #[test]
    fn what_is_remembered_is_told_in_the_lines_of_each_copy() {
        let (memo, options) = (Memo::default(), Options::default());
        let known = || [memo.verdicts.lock().unwrap().len(), memo.invariants.lock().unwrap().len()];
        let mut lines = Vec::new();
        for (path, text) in copies() {
            let shared = check_source_of_many(&path, &text, &options, Some(&memo), None);
            assert_eq!(known(), [5, 5], "the copy is not looked at again");
            let of = |report: &FileReport| report.kernels.iter().map(|kernel| kernel.line).collect::<Vec<_>>();
            lines.push(of(&shared.report));
            let alone = check_source(&path, &text, &options);
            assert_eq!(in_json(shared.report), in_json(alone.report), "{}", path.display());
        }
        assert_eq!(lines[1], lines[0].iter().map(|line| line + 4).collect::<Vec<_>>());
    }

    #[test]
    fn a_run_over_copies_writes_what_runs_over_each_write() {
        let options = Options::default();
        let inputs = copies().map(|(path, text)| Input::Text(path, text.into_bytes()));
        let together = check_all(&inputs, &options, &Unwatched).report;
        for (report, (path, text)) in together.files.into_iter().zip(copies()) {
            assert_eq!(in_json(report), in_json(check_source(&path, &text, &options).report), "{}", path.display());
        }
    }

    #[test]
    fn a_cuda_kernel_and_its_copy_for_hip_are_looked_at_once() {
        let (memo, options) = (Memo::default(), Options::default());
        let known = || [memo.verdicts.lock().unwrap().len(), memo.invariants.lock().unwrap().len()];
        for path in ["one.cu", "one.hip"] {
            let shared = check_source_of_many(Path::new(path), KERNELS, &options, Some(&memo), None);
            assert_eq!(known(), [5, 5], "{path}");
            let alone = check_source(Path::new(path), KERNELS, &options);
            assert_eq!(in_json(shared.report), in_json(alone.report), "{path}");
        }
    }

    #[test]
    fn invariants_come_back_with_the_spans_of_their_own_kernel() {
        let kernel = |(path, text): &(PathBuf, String)| {
            let program = crate::driver::read(Path::new(path), text, &Options::default()).launched.program;
            let found = program.kernels.iter().find(|&&kernel| program.functions[kernel].name == "doubled");
            crate::driver::passes::settled(&program, *found.expect("it is there"))
        };
        let memo = Memo::default();
        let shown = |strengthened: Option<Strengthened>| {
            let Strengthened { kernel, assumptions, rejected: _ } = strengthened.expect("it has invariants");
            format!("{kernel:?} {assumptions:?}")
        };
        let mut all = Vec::new();
        for copy in copies() {
            let kernel = kernel(&copy);
            let protocol = crate::protocol::infer::infer(&kernel);
            let shared = shown(memo.entry(&kernel).strengthened(&kernel, &protocol, Proofs::Trust));
            assert_eq!(shared, shown(strengthen(&kernel, &protocol, Proofs::Trust)));
            assert_eq!(memo.invariants.lock().unwrap().len(), 1);
            all.push(shared);
        }
        assert_ne!(all[0], all[1], "the copies stand at different places");
    }
}
