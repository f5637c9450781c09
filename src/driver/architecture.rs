//! Text that depends on the architecture it is compiled for: `#if __CUDA_ARCH__ >= 800`.
//!
//! A kernel is read as for one architecture ([`TAKEN`]). Where the conditions of its text compare with others, it is lowered
//! for some on either side of them, too. If something else comes of it, the verdict says for which it holds; and a proof
//! stands only if the kernel is not shown to race, or to diverge, for one of the others.
//!
//! Where more of them are compared with than are looked at, every proof says for which one it is.
//!
//! Deliberately absent: judging architectures before 700, whose warps run in lock-step and whose text relies on that (that the text
//! differs for them is told), and proofs for the others: code of theirs is often made of what is not modelled.

use super::front::Kept;
use super::passes::settled;
use super::{Options, Outcome, checked, read_kept};
use crate::calculus::{Kernel, Platform, text};
use crate::diagnostic::report::{
    Assumption, AssumptionKind, Conjunct, Divergence, Keeping, KernelReport, Race, ScopeKind, Unknown,
};
use crate::launch::{Launch, Launched};
use crate::resolve::program::{FunctionId, Program};
use crate::source::{SourceMap, Span};
use crate::work::{self, Stage};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// The macro.
const NAME: &str = "__CUDA_ARCH__";
/// Its value where nobody says another.
const TAKEN: u32 = 800;
/// Its values, in order; the first stands for those before 700.
const KNOWN: [u32; 10] = [600, 700, 750, 800, 860, 890, 900, 1000, 1030, 1200];
/// Numbers that may be meant for one.
const PLAUSIBLE: RangeInclusive<u32> = 100..=2000;
/// The first that is judged.
const FIRST: u32 = 700;
/// Architectures that are looked at besides.
const MOST_OTHERS: usize = 3;

/// Looks at these kernels as they are for other architectures, and changes what is said of them. Of those that are `launched`
/// by other files, a proof is for these launches: they are not judged anew.
pub(super) fn look_aside(
    (path, text): (&Path, &str),
    program: &Program,
    (kernels, launched): (&[FunctionId], &[FunctionId]),
    options: &Options,
    outcomes: &mut [Outcome],
) {
    if kernels.is_empty() || program.platform != Platform::Cuda || options.defines.iter().any(|(name, _)| name == NAME)
    {
        return;
    }
    let mut others = others(&program.sources);
    let mut depending = BTreeSet::new();
    if others.len() > MOST_OTHERS {
        depending.extend(0..kernels.len());
        others.truncate(MOST_OTHERS);
    }
    // The same for all of them.
    let own: Vec<OnceCell<Kernel>> = kernels.iter().map(|_| OnceCell::new()).collect();
    for other in others {
        let mut options = options.clone();
        options.defines.push((NAME.to_owned(), other.to_string()));
        let kept = Kept::all();
        let read = || work::during(Stage::Read, || read_kept(path, text, &options, &kept).launched);
        let differs = |at: usize, there: &Program| {
            let own = || own[at].get_or_init(|| settled(program, kernels[at]));
            let same = |found| text::same(own(), &settled(there, found));
            outcomes[at].is_ok() && !counterpart(program, kernels[at], there).is_some_and(same)
        };
        // Mostly nothing differs, which is seen without all that host code knows. An instance that it does not know then differs.
        let differs_anywhere = |there: &Program| (0..kernels.len()).any(|at| differs(at, there));
        if !differs_anywhere(&work::within(0, read).program) {
            continue;
        }
        let there = read();
        let differing: Vec<usize> = (0..kernels.len()).filter(|&at| differs(at, &there.program)).collect();
        depending.extend(&differing);
        let is_judged = |&at: &usize| {
            let is_proved =
                |report: &KernelReport| report.race == Race::RaceFree || report.divergence == Divergence::Uniform;
            other >= FIRST
                && !launched.contains(&kernels[at])
                && outcomes[at].as_ref().is_ok_and(|(report, _)| is_proved(report))
        };
        let judged: Vec<usize> = differing.into_iter().filter(is_judged).collect();
        for at in judged {
            let Some(found) = counterpart(program, kernels[at], &there.program) else { continue };
            if let Some(Ok((judged, _))) = checked(&there, &[found], &options, None).pop()
                && let Ok((report, _)) = &mut outcomes[at]
            {
                take_back(report, &judged, other);
            }
        }
    }
    for at in depending {
        if let Ok((report, _)) = &mut outcomes[at] {
            let text = format!("`{NAME}` is {TAKEN}");
            report.assumptions.push(Assumption { kind: AssumptionKind::Other, text });
        }
    }
}

/// Architectures for which a condition in the files may be decided otherwise, the nearest first.
fn others(sources: &SourceMap) -> Vec<u32> {
    let compared: BTreeSet<u32> = sources.files().flat_map(|(_, file)| compared(&file.text)).collect();
    let mut found = BTreeSet::new();
    for number in compared {
        found.extend(KNOWN.iter().rev().find(|&&known| known < number));
        found.extend(KNOWN.iter().find(|&&known| known == number));
        found.extend(KNOWN.iter().find(|&&known| known > number));
    }
    found.remove(&TAKEN);
    let mut found: Vec<u32> = found.into_iter().collect();
    found.sort_by_key(|other| other.abs_diff(TAKEN));
    found
}

/// The numbers that stand beside the architecture: in conditions of the preprocessor, in macros, in the code itself.
fn compared(text: &str) -> Vec<u32> {
    if !text.contains(NAME) {
        return Vec::new();
    }
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let words = |line: &str| -> Vec<u32> {
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(|word| word.parse().ok()).collect()
    };
    let is_definition = |line: &str| {
        line.trim_start()
            .strip_prefix('#')
            .and_then(|rest| rest.trim_start().strip_prefix("define"))
            .is_some_and(|rest| rest.split_whitespace().next() == Some(NAME))
    };
    let beside = joined.lines().filter(|line| line.contains(NAME) && !is_definition(line)).flat_map(words);
    beside.filter(|number| PLAUSIBLE.contains(number)).collect()
}

/// The same kernel in another reading of the file.
fn counterpart(program: &Program, kernel: FunctionId, there: &Program) -> Option<FunctionId> {
    let place = |program: &Program, kernel: FunctionId| {
        let function = &program.functions[kernel];
        let position = program.sources.start_position(function.span);
        (function.name.clone(), function.template_args.clone(), position.line)
    };
    let wanted = place(program, kernel);
    there.kernels.iter().copied().find(|&other| place(there, other) == wanted)
}

/// Puts the launches of the file as it is compiled for the host in the place of those that were read. One that stands in text
/// which only the host has is told at its kernel.
pub(super) fn take_launches(file: &mut Launched, there: &Launched) {
    let (program, host) = (&file.program, &there.program);
    let kernels: Vec<(FunctionId, FunctionId)> =
        program.kernels.iter().filter_map(|&kernel| Some((counterpart(program, kernel, host)?, kernel))).collect();
    let launches = there.launches().iter().filter_map(|launch| {
        let &(_, kernel) = kernels.iter().find(|(there, _)| *there == launch.kernel)?;
        // It is told by its line, which is the same in both.
        let place = host.sources.visible(launch.span);
        let path = &host.sources.file(place.file).path;
        let file = program.sources.files().find(|(_, file)| file.path == *path).map(|(file, _)| file);
        let span = file.map_or(program.functions[kernel].span, |file| Span { file, ..place });
        Some(Launch { kernel, span, ..launch.clone() })
    });
    let launches = launches.collect();
    file.replace(launches);
}

/// Takes back what does not hold for the other architecture.
fn take_back(report: &mut KernelReport, other: &KernelReport, architecture: u32) {
    let say = |report: &mut KernelReport, what: &str| {
        let reason = format!("{what} where `{NAME}` is {architecture}: `-D {NAME}={architecture}` shows it");
        report.unknowns.push(Unknown { line: report.line, also: Vec::new(), span: None, reason });
    };
    if report.race == Race::RaceFree && other.race == Race::Racy {
        say(report, "threads race");
        report.race = Race::Unknown;
    }
    if report.race == Race::RaceFree && other.race == Race::RaceFree {
        free_under_both(report, other);
    }
    if report.divergence == Divergence::Uniform && other.divergence == Divergence::Divergent {
        say(report, "threads disagree about a barrier");
        report.divergence = Divergence::Unknown;
    }
}

/// It is free for both architectures under what both need.
fn free_under_both(report: &mut KernelReport, other: &KernelReport) {
    let Some(theirs) = &other.contract else { return };
    let is_open = |report: &KernelReport| report.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Contract);
    if report.contract.is_none() || is_open(other) {
        report.scope.clone_from(&other.scope);
    }
    let Some(own) = &mut report.contract else {
        report.contract = Some(theirs.clone());
        return;
    };
    let news = theirs.conjuncts.iter().filter(|their| own.conjuncts.iter().all(|known| known.text != their.text));
    let news: Vec<Conjunct> = news.cloned().collect();
    own.conjuncts.extend(news);
    for launch in &mut own.launches {
        // A launch keeps both or leaves one open; one that breaks a contract makes its kernel racy.
        let same = theirs.launches.iter().find(|their| their.span == launch.span && their.keeping != Keeping::Kept);
        if let Some(open) = same {
            launch.keeping = open.keeping;
            launch.missing.extend(open.missing.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_architectures() {
        let text = "#if defined(__CUDA_ARCH__) && \\\n  __CUDA_ARCH__ >= 900\n# elif (__CUDA_ARCH__ < 700)\n#endif\nif (__CUDA_ARCH__ > 860) f(1);";
        assert_eq!(compared(text), [900, 700, 860]);
        assert!(compared("#ifdef __CUDA_ARCH__\n#if N >= 900").is_empty());
        assert!(compared("#define __CUDA_ARCH__ 800").is_empty(), "every file begins with this line");
        assert_eq!(compared("#define NEW (__CUDA_ARCH__ >= 800)"), [800]);
    }

    /// Instances that a template of the host launches are found for the other architecture, too.
    #[test]
    fn a_proof_of_an_instance_is_taken_back_if_it_races_elsewhere() {
        let text = "template <int N> __global__ void flip(int *a) {\n\
                    __shared__ int s[N];\n\
                    s[threadIdx.x] = a[threadIdx.x];\n\
                    #if __CUDA_ARCH__ < 900\n\
                    __syncthreads();\n\
                    #endif\n\
                    a[threadIdx.x] = s[N - 1 - threadIdx.x]; }\n\
                    template <int N> __global__ void fill(int *a) { a[threadIdx.x] = N; }\n\
                    template <int N> void go(int *a) { flip<N><<<1, N>>>(a); fill<N><<<1, N>>>(a); }\n\
                    int main() { go<64>(0); return 0; }\n";
        let checked = crate::driver::check_source(Path::new("k.cu"), text, &Options::default());
        let [flip, fill] = checked.report.kernels.as_slice() else { panic!("{:?}", checked.report.kernels) };
        let depends = |report: &KernelReport| report.assumptions.iter().any(|it| it.text.contains(NAME));
        assert!(flip.race == Race::Unknown && depends(flip), "{flip:?}");
        assert!(fill.race == Race::RaceFree && !depends(fill), "{fill:?}");
    }
}
