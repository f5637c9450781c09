//! Barriers that take the races of a kernel away, and masks that take its divergences away: tried on the text, told only
//! if the kernel is proved with them.
//!
//! For a kernel all of whose findings are proved, and are of threads of one block, places between the two accesses
//! ([`slots`]) are tried one after the other: the text with the barrier is checked as a file is checked. A place after
//! which the kernel is proved race-free and uniform is the fix; otherwise the one that leaves the fewest findings is
//! taken, and a further barrier is looked for. Or the flags of a barrier of OpenCL are made to
//! name more memory, or the mask of a barrier of a warp the whole warp; so is the mask of a call that threads execute
//! whom it does not name, a divergence. In the end the whole text is checked once more as the user asked.
//!
//! Guarantees: with all edits of a fix, all instances of the kernel are proved race-free and uniform; edits insert, or
//! write the flags or the mask of a barrier anew, and keep every other byte. The number of checks is bounded, so equal input gives
//! equal output.
//!
//! Deliberately absent: races between blocks, which no barrier of a block ends; possible races; divergences of barriers
//! that wait for threads that never come; edits of macros, of
//! headers and of functions that kernels call.

use super::front::{FrontEnd, preprocessing};
use super::options::{Launches, Settings};
use super::{Checked, Options, check_source, options};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{
    Certainty, Divergence, FileReport, Finding, Fix, FixEdit, KernelReport, Level, Place, Race,
};
use crate::edit::Edits;
use crate::fix::{Slot, flags, mask_at, masks, slots};
use crate::front::tree_sitter;
use crate::preprocess;
use crate::resolve::program::{FunctionId, Program};
use crate::source::{FileId, Language, SourceMap, Span};
use crate::syntax::Unit;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Checks that may be spent on a kernel.
const MOST_CHECKS: usize = 12;

/// Barriers that one fix inserts at most.
const MOST_BARRIERS: usize = 3;

/// Adds their fixes to the findings of the reports, which are those of `kernels`.
pub(super) fn suggest(
    (path, text): (&Path, &str),
    options: &Options,
    program: &Program,
    kernels: &[FunctionId],
    reports: &mut [KernelReport],
) {
    let mut instances: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (index, &kernel) in kernels.iter().enumerate() {
        instances.entry(program.functions[kernel].span).or_default().push(index);
    }
    let main = program.sources.files().next().map(|(main, _)| main);
    // The text as it is, read once for all kernels.
    let parsed = OnceCell::new();
    for (name, indices) in instances {
        let is_one_of = |index: &usize| reports[*index].name == reports[indices[0]].name;
        let namesakes = (0..reports.len()).filter(is_one_of).count();
        let plain = name.expansion.is_none() && Some(name.file) == main;
        if !plain || namesakes != indices.len() || !indices.iter().all(|&index| is_mendable(&reports[index])) {
            continue;
        }
        let mut search = Search::new((path, text), options, &reports[indices[0]].name, name, program.language);
        let parsed = parsed.get_or_init(|| search.parsed(text));
        if !indices.iter().any(|&index| search.may_mend(&reports[index], &program.sources, parsed)) {
            continue;
        }
        let Some(fix) = search.fix() else { continue };
        for index in indices {
            reports[index].findings.iter_mut().for_each(|finding| finding.fix = Some(fix.clone()));
        }
    }
}

/// Whether barriers of the block or other masks might end all that is found.
pub(super) fn is_mendable(report: &KernelReport) -> bool {
    let ends = |rule| match rule {
        RuleId::DataRace | RuleId::WarpSynchronous | RuleId::RedundantBarrier => true,
        RuleId::BarrierDivergence => report.divergence == Divergence::Divergent,
        _ => false,
    };
    let within = |level| matches!(level, Level::Warp | Level::Block);
    matches!(report.race, Race::Racy | Race::RaceFree)
        && matches!(report.divergence, Divergence::Uniform | Divergence::Divergent)
        && report.each_finding().all(|it| it.certainty == Certainty::Proved && ends(it.rule) && within(it.level))
        && report.findings.iter().any(|it| it.rule != RuleId::RedundantBarrier)
        && report.unknowns.is_empty()
}

/// Barriers for one kernel.
struct Search<'a> {
    path: &'a Path,
    original: &'a str,
    /// As the user asked.
    options: Options,
    /// The same without what costs most.
    quick: Options,
    name: Span,
    language: Language,
    checks: usize,
}

/// The text with some barriers, and the edits of the text without that make it.
#[derive(Clone)]
struct Mended {
    text: String,
    /// In the order of their places.
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Search<'a> {
    fn new(
        (path, original): (&'a Path, &'a str),
        options: &Options,
        kernel: &str,
        name: Span,
        language: Language,
    ) -> Self {
        let options = Options {
            kernels: vec![kernel.to_owned()],
            hints: options::Hints::Omit,
            fixes: options::Fixes::Omit,
            evidence: options::Evidence::default(),
            ..options.clone()
        };
        let judging = Settings { solver: None, launches: Launches::All, ..options.judging.clone() };
        let quick = Options { front: FrontEnd::TreeSitter, judging, ..options.clone() };
        Search { path, original, options, quick, name, language, checks: 0 }
    }

    fn fix(&mut self) -> Option<Fix> {
        let mut mended = Mended { text: self.original.to_owned(), edits: Vec::new() };
        let mut report = self.check(&mended.text)?;
        let is_divergent = report.kernels.iter().any(|kernel| kernel.divergence == Divergence::Divergent);
        for _ in 0..MOST_BARRIERS {
            let mut best = None;
            // Two places may race within a turn of a loop and between two: a first barrier need not lessen the findings.
            let mut bound = open(&report, is_divergent);
            for candidate in self.candidates(&mended, &report) {
                let next = self.check(&candidate.text)?;
                if is_proved(&next) {
                    let needed = self.needed(candidate);
                    return self.confirmed(&needed);
                }
                let left = open(&next, is_divergent);
                if left < bound || (left == bound && best.is_none()) {
                    (bound, best) = (left, Some((candidate, next)));
                }
            }
            (mended, report) = best?;
        }
        None
    }

    /// Whether there is a place for something that might end one of the findings: where there is none, as within one statement, nothing
    /// needs to be checked.
    fn may_mend(&self, report: &KernelReport, sources: &SourceMap, parsed: &(Unit, FileId)) -> bool {
        let original = Mended { text: self.original.to_owned(), edits: Vec::new() };
        report.each_finding().any(|finding| !self.candidates_for(finding, sources, &original, parsed).is_empty())
    }

    /// What a quick check says; `None` if nothing may be spent any more.
    fn check(&mut self, text: &str) -> Option<FileReport> {
        self.checks += 1;
        (self.checks <= MOST_CHECKS).then(|| check_source(self.path, text, &self.quick).report)
    }

    /// The text without the barriers that turned out not to be needed.
    fn needed(&mut self, mended: Mended) -> Mended {
        let mut needed = mended;
        for index in (0..needed.edits.len()).rev().filter(|_| needed.edits.len() > 1).collect::<Vec<_>>() {
            let less = needed.without(index, self.original);
            if check_source(self.path, &less.text, &self.quick).report.kernels.iter().all(is_free) {
                needed = less;
            }
        }
        needed
    }

    /// The text with one more barrier, or more threads in the mask of a call, for the first divergence of a report or
    /// else its first race, the likeliest place first.
    fn candidates(&self, mended: &Mended, report: &FileReport) -> Vec<Mended> {
        let findings = || report.kernels.iter().flat_map(KernelReport::each_finding);
        let is_divergence = |finding: &&Finding| finding.rule == RuleId::BarrierDivergence;
        let mut races = findings().filter(|finding| finding.level <= Level::Block);
        let Some(finding) = findings().find(is_divergence).or_else(|| races.next()) else { return Vec::new() };
        self.candidates_for(finding, &report.sources, mended, &self.parsed(&mended.text))
    }

    /// The same for one finding.
    fn candidates_for(
        &self,
        finding: &Finding,
        sources: &SourceMap,
        mended: &Mended,
        (unit, main): &(Unit, FileId),
    ) -> Vec<Mended> {
        let main = *main;
        let offset = |place: Place| {
            let visible = sources.visible(place.span);
            (visible.file.index() == main.index()).then_some(visible.start as usize)
        };
        let Some(first) = offset(finding.primary) else { return Vec::new() };
        if finding.rule == RuleId::BarrierDivergence {
            let mask = mask_at(unit, main, self.name, first);
            return mask.and_then(|mask| mended.with_whole_mask(&mask)).into_iter().collect();
        }
        let Some(second) = finding.secondary.map_or(Some(first), offset) else { return Vec::new() };
        let statements = statements(self.language, finding.rule);
        let slots = slots(unit, main, self.name, [first, second]);
        let slots: Vec<Slot> = slots.iter().filter_map(|slot| slot.before_what_belongs_to_it(&mended.text)).collect();
        let widened: Vec<Mended> = match self.language {
            Language::OpenCl => {
                let flags = flags(unit, main, self.name, [first, second]);
                flags.iter().flat_map(|flags| mended.with_fences(flags)).collect()
            }
            Language::Cuda => {
                let masks = masks(unit, main, self.name, [first, second]);
                masks.iter().filter_map(|mask| mended.with_whole_mask(mask)).collect()
            }
        };
        let with = |(slot, &statement): (Slot, &&'static str)| mended.with(slot, statement);
        let inserted = statements.iter().flat_map(|statement| slots.iter().map(move |slot| (*slot, statement)));
        widened.into_iter().chain(inserted.map(with)).collect()
    }

    fn parsed(&self, text: &str) -> (Unit, FileId) {
        let mut sources = SourceMap::new();
        let main = sources.add_file(self.path, text);
        let told = preprocessing(self.path, text, &self.quick);
        let output = preprocess::preprocess(sources, main, &told);
        (tree_sitter::read(output, main, &told).unit, main)
    }

    /// The fix, if the check that the user asked for proves the kernel with it.
    fn confirmed(&self, mended: &Mended) -> Option<Fix> {
        let Checked { report, bugs, .. } = check_source(self.path, &mended.text, &self.options);
        (bugs.is_empty() && is_proved(&report)).then(|| mended.fix(self.original, self.name.file))
    }
}

impl Mended {
    fn with(&self, slot: Slot, statement: &'static str) -> Mended {
        self.edited(slot.at..slot.at, slot.insertion(&self.text, statement))
    }

    /// With more memory named in a barrier's flags: what is named nowhere yet, one after the other.
    fn with_fences(&self, flags: &Range<usize>) -> Vec<Mended> {
        let named = self.text.get(flags.clone()).map_or("", str::trim);
        let more = match named {
            "0" => FENCES.map(str::to_owned).to_vec(),
            one if FENCES.contains(&one) => vec![FENCES.join(" | ")],
            _ => Vec::new(),
        };
        more.into_iter().map(|more| self.edited(flags.clone(), more)).collect()
    }

    /// With a barrier's mask that names the whole warp, if it does not yet.
    fn with_whole_mask(&self, mask: &Range<usize>) -> Option<Mended> {
        let named = self.text.get(mask.clone())?.trim();
        (named != WHOLE_MASK).then(|| self.edited(mask.clone(), WHOLE_MASK.to_owned()))
    }

    fn edited(&self, range: Range<usize>, text: String) -> Mended {
        let mut mended = self.clone();
        let place = self.original(range.start)..self.original(range.end);
        mended.text.replace_range(range, &text);
        mended.edits.push((place, text));
        mended.edits.sort_by_key(|(place, _)| (place.start, place.end));
        mended
    }

    fn without(&self, index: usize, original: &str) -> Mended {
        let mut edits = self.edits.clone();
        edits.remove(index);
        let mut text = original.to_owned();
        edits.iter().rev().for_each(|(place, new)| text.replace_range(place.clone(), new));
        Mended { text, edits }
    }

    /// The byte of the original text that a byte of this one is, which lies in nothing that was edited.
    fn original(&self, at: usize) -> usize {
        let back = |at: usize, (place, text): &(Range<usize>, String)| {
            if at > place.start { at + place.len() - text.len() } else { at }
        };
        self.edits.iter().fold(at, back)
    }

    fn fix(&self, original: &str, main: FileId) -> Fix {
        let line = |at: usize| original[..at].matches('\n').count() + 1;
        let mut verb = "";
        let steps = self.edits.iter().map(|(place, text)| {
            let known = std::mem::replace(&mut verb, if place.is_empty() { "insert " } else { "replace " });
            let verb = if known == verb { "" } else { verb };
            let (new, line) = (text.trim(), line(place.start));
            match original.get(place.clone()) {
                Some(old) if !old.is_empty() => format!("{verb}`{old}` by `{new}` in line {line}"),
                _ if text.starts_with(char::is_whitespace) => format!("{verb}`{new}` after line {line}"),
                _ => format!("{verb}`{new}` before line {line}"),
            }
        });
        let message = steps.collect::<Vec<_>>().join(", ");
        let edit = |(place, text): &(Range<usize>, String)| FixEdit {
            span: Span::new(main, place.start, place.end),
            text: text.clone(),
        };
        Fix { message, edits: self.edits.iter().map(edit).collect() }
    }
}

/// The memory that barriers of OpenCL name.
const FENCES: [&str; 2] = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"];

/// The mask of `__syncwarp` that names every thread.
const WHOLE_MASK: &str = "0xffffffff";

/// Barriers that may end a race, the cheapest first.
fn statements(language: Language, rule: RuleId) -> &'static [&'static str] {
    match (language, rule) {
        (Language::Cuda, RuleId::WarpSynchronous) => &["__syncwarp();", "__syncthreads();"],
        (Language::Cuda, _) => &["__syncthreads();"],
        (Language::OpenCl, _) => &["barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE);"],
    }
}

fn is_proved(report: &FileReport) -> bool {
    !report.kernels.is_empty() && report.kernels.iter().all(is_free)
}

fn is_free(kernel: &KernelReport) -> bool {
    kernel.race == Race::RaceFree && kernel.divergence == Divergence::Uniform
}

/// How many findings are left; far too many if threads do not meet at a barrier and did so before.
fn open(report: &FileReport, is_divergent: bool) -> usize {
    let is_allowed = |divergence| match divergence {
        Divergence::Uniform => true,
        Divergence::Divergent => is_divergent,
        Divergence::PossiblyDivergent | Divergence::Unknown => false,
    };
    let allowed = report.kernels.iter().all(|kernel| is_allowed(kernel.divergence));
    if allowed { report.kernels.iter().map(|kernel| kernel.each_finding().count()).sum() } else { usize::MAX }
}

/// The text with all fixes of its report, if there are any.
pub fn fixed(text: &str, report: &FileReport) -> Option<String> {
    let findings = report.kernels.iter().flat_map(|kernel| &kernel.findings).filter(|finding| !finding.is_hidden());
    let (main, _) = report.sources.files().next()?;
    let of_comments = report.diagnostics.iter().filter_map(|it| it.fix.as_ref());
    let of_comments = of_comments.filter(|fix| fix.edits.iter().all(|edit| edit.span.file == main));
    let fixes = findings.filter_map(|finding| finding.fix.as_ref()).chain(of_comments);
    applied(text, fixes)
}

/// A text with fixes, if there are any.
pub fn applied<'a>(text: &str, fixes: impl Iterator<Item = &'a Fix>) -> Option<String> {
    let mut replacements: Vec<(Range<usize>, &str)> = Vec::new();
    for edit in fixes.flat_map(|fix| &fix.edits) {
        let replacement = (edit.span.start as usize..edit.span.end as usize, edit.text.as_str());
        if !replacements.contains(&replacement) {
            replacements.push(replacement);
        }
    }
    let mut edits = Edits::new();
    for (place, new) in replacements {
        if place.is_empty() { edits.insert(place.start, new) } else { edits.replace(place, new) }
    }
    if edits.is_empty() { None } else { edits.apply(text).ok().map(|edited| edited.text) }
}
