//! Static and dynamic agree: every fixture in OpenCL runs instrumented on a real driver. A kernel that is proved racy
//! conflicts at its witness's geometry; one that is proved free of races does not.
//!
//! Kernels without a verdict are not run, nor are those whose barriers diverge: what they do then is undefined, and
//! drivers hang. Files that this driver cannot build are in [`EXCEPTIONS`].

use super::run::{Seen, has_driver, launch_text, run_in};
use crate::cli::Place;
use crate::fixtures::expectation::Fixture;
use crate::support::draw::part;
use crate::support::tier::{Tier, tiers};
use raceproof::diagnostic::RuleId;
use raceproof::diagnostic::report::{Certainty, Divergence, KernelReport, Race};
use raceproof::driver::instrument::instrument;
use raceproof::driver::options::Options;
use raceproof::driver::parallel::{Input, Unwatched, check_all};
use raceproof::driver::trace::check_log;
use raceproof::instrument::opencl::{Kernel, ParameterKind};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files that do not run, with the reason.
const EXCEPTIONS: [(&str, &str); 11] = [
    ("opencl/version_2_0.cl", "PoCL on a CPU has no generic address space, no variables of the program and no pipes"),
    ("fences/last_group.cl", "it is built as OpenCL C 1.2, which has no fences and atomics of device scope"),
    ("opencl/compare_exchange.cl", "it is built as OpenCL C 1.2, which has no atomics of that kind"),
    ("flags/hand_over.cl", "it is built as OpenCL C 1.2, which has no atomics with orders"),
    ("opencl/atomic_flags.cl", "it is built as OpenCL C 1.2, which has no flags"),
    ("locks/tested_flags.cl", "it is built as OpenCL C 1.2, which has no flags"),
    ("locks/exchange.cl", "it is built as OpenCL C 1.2, which has no atomics with orders"),
    ("opencl/group_functions.cl", "PoCL has no functions of work-groups"),
    ("platform/uneven_groups.cl", "it is built as OpenCL C 1.2, which has no enqueued sizes"),
    ("platform/visible.cl", "it is built as OpenCL C 1.2, which has no memory scopes"),
    ("opencl/images.cl", "launch descriptions have no images"),
];

/// Kernels whose run says something else than the check, with the reason.
const DIFFERENT: [(&str, &str, &str); 9] = [
    ("annotations/header.cl", "scatter_ok", "the buffer holds zeros, which it states not to be"),
    ("annotations/header.cl", "scatter_wide_ok", "the buffer holds zeros, which it states not to be"),
    ("annotations/header.cl", "other_value_ok", "it states one work-group, and two are launched"),
    ("contents/scatter.cl", "marked_ok", "the buffer holds zeros, which the contract that it requires keeps out"),
    ("locks/spin.cl", "of_one_group_ok", "a log of OpenCL has barriers, and no fences"),
    ("opencl/work_group_copies.cl", "barrier_alone_bad", "to a log a copy is over as soon as it has begun"),
    ("platform/offsets.cl", "by_both_bad", "it races where global ids start elsewhere than at 0"),
    ("platform/offsets.cl", "asked_for_bad", "it races where global ids start elsewhere than at 0"),
    ("contracts/conditions.cl", "every_group_ok", "it requires one work-group, and two are launched"),
];

/// What every scalar is that neither the witness nor the fixture fixes.
const SCALAR: i128 = 16;

#[test]
fn every_fixture_in_opencl_agrees_with_its_run() {
    if !has_driver() {
        return;
    }
    let (files, errors) = raceproof::source::discover::discover(&[PathBuf::from("fixtures")]);
    assert!(errors.is_empty(), "{errors:?}");
    let wanted = std::env::var("RACEPROOF_FIXTURE").unwrap_or_default();
    let is_exception = |path: &Path| EXCEPTIONS.iter().any(|(name, _)| path.ends_with(name));
    let files: Vec<PathBuf> = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "cl") && !is_exception(path))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    let files = part("runs in OpenCL", files, tiers(1, 4, 1), |path| path.display().to_string());
    // Drivers have threads of their own; two at once keep two cores busy while texts are compiled.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let found: Vec<(usize, Vec<String>)> =
        pool.install(|| files.par_iter().map(|path| compare(path, &read(path))).collect());
    let runs: usize = found.iter().map(|(runs, _)| runs).sum();
    let complaints: Vec<String> = found.into_iter().flat_map(|(_, complaints)| complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let is_whole = wanted.is_empty() && Tier::current() == Tier::Full;
    assert!(!is_whole || runs > 60, "only {runs} kernels were run");
}

/// The driver builds what `--fix` leaves, and the kernels that are then proved run without a conflict.
#[test]
fn fixed_fixtures_in_opencl_agree_with_their_runs() {
    if !has_driver() {
        return;
    }
    let files = part("fixes in OpenCL", crate::fixtures::files(), tiers(1, 6, 1), |path| path.display().to_string());
    let is_exception = |path: &Path| EXCEPTIONS.iter().any(|(name, _)| path.ends_with(name));
    let is_text = |path: &Path| path.extension().is_some_and(|extension| extension == "cl") && !is_exception(path);
    let texts = files.iter().filter(|path| is_text(path));
    let texts: Vec<(&Path, String)> =
        texts.filter_map(|path| Some((path.as_path(), crate::fix::fixed_text(path)?))).collect();
    let found: Vec<(usize, Vec<String>)> = texts.iter().map(|(path, text)| compare(path, text)).collect();
    let complaints: Vec<&String> = found.iter().flat_map(|(_, complaints)| complaints).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let is_whole = std::env::var_os("RACEPROOF_FIXTURE").is_none() && Tier::current() == Tier::Full;
    assert!(!is_whole || found.iter().filter(|(runs, _)| *runs > 0).count() >= 3, "{found:?}");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// How many kernels of a file with that text were run, and which of them say something else than their verdict.
fn compare(path: &Path, text: &str) -> (usize, Vec<String>) {
    let fixture = Fixture::parse(text).unwrap_or_else(|complaints| panic!("{}: {complaints:?}", path.display()));
    let input = Input::Text(path.to_path_buf(), text.as_bytes().to_vec());
    let report = check_all(&[input], &fixture.options, &Unwatched).report.files.remove(0);
    let of_driver = Options { defines: defines(&fixture), ..Options::default() };
    let file = instrument(path, text, &of_driver).unwrap();
    let chosen: Vec<(&KernelReport, &Kernel)> = report
        .kernels
        .iter()
        .filter(|kernel| kernel.divergence == Divergence::Uniform && expectation(kernel).is_some())
        .filter_map(|kernel| Some((kernel, file.unit.opencl.kernels.iter().find(|other| other.name == kernel.name)?)))
        .collect();
    if chosen.is_empty() {
        return (0, Vec::new());
    }
    let launches: String = chosen.iter().map(|(report, kernel)| launch(report, kernel, &fixture, text)).collect();
    let place = Place::with(&[("k.cl", text), ("launch.toml", &format!("{}{launches}", buffers(&chosen)))]);
    let mut arguments = vec!["k.cl".to_owned(), "--launch=launch.toml".to_owned(), "--log=k.trace".to_owned()];
    arguments.extend(defines(&fixture).iter().map(|(name, value)| format!("-D{name}={value}")));
    let seen = run_in(&place, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    (chosen.len(), judge(path, &place, &chosen, &seen))
}

/// Fixtures are of OpenCL C 1.2 unless they say otherwise.
fn defines(fixture: &Fixture) -> Vec<(String, String)> {
    let mut defines = fixture.options.defines.clone();
    if defines.iter().all(|(name, _)| name != "__OPENCL_C_VERSION__") {
        defines.push(("__OPENCL_C_VERSION__".to_owned(), "120".to_owned()));
    }
    defines
}

/// Whether a run must conflict; nothing if that is not known.
fn expectation(kernel: &KernelReport) -> Option<bool> {
    match kernel.race {
        Race::RaceFree => Some(false),
        Race::Racy if witness(kernel).is_some() => Some(true),
        _ => None,
    }
}

fn witness(kernel: &KernelReport) -> Option<&raceproof::diagnostic::report::WitnessReport> {
    let races = [RuleId::DataRace, RuleId::SameValueWrite, RuleId::WarpSynchronous];
    let mut proved = kernel.each_finding().filter(|finding| finding.certainty == Certainty::Proved);
    proved.find(|finding| races.contains(&finding.rule)).and_then(|finding| finding.witness.as_ref())
}

fn launch(report: &KernelReport, kernel: &Kernel, fixture: &Fixture, text: &str) -> String {
    let witness = witness(report);
    let stated =
        |extents: [Option<u32>; 3], x: u32| [extents[0].unwrap_or(x), extents[1].unwrap_or(1), extents[2].unwrap_or(1)];
    let required = || required_size(text, &kernel.name).unwrap_or_else(|| stated(fixture.options.judging.block, 8));
    let block = witness.map_or_else(required, |witness| witness.block_dim);
    let grid = witness.map_or_else(|| stated(fixture.options.judging.grid, 2), |witness| witness.grid_dim);
    let known = |name: &str| {
        let of_witness = witness.into_iter().flat_map(|witness| &witness.params);
        of_witness
            .chain(&fixture.options.judging.params)
            .find(|(known, _)| known == name)
            .map_or(SCALAR, |(_, value)| *value)
    };
    let mut buffer = 0;
    let arguments: Vec<(String, String)> = kernel
        .parameters
        .iter()
        .map(|parameter| {
            let value = match &parameter.kind {
                ParameterKind::Local => "{ local = 32768 }".to_owned(),
                ParameterKind::Value(_) => known(&parameter.name).to_string(),
                _ if known(&format!("{} != 0", parameter.name)) == 0 => "\"null\"".to_owned(),
                _ => {
                    buffer += 1;
                    format!("{{ buffer = \"b{}\" }}", buffer - 1)
                }
            };
            (parameter.name.clone(), value)
        })
        .collect();
    launch_text(&kernel.name, grid, block, &arguments)
}

/// What `reqd_work_group_size` before a kernel says.
fn required_size(text: &str, kernel: &str) -> Option<[u32; 3]> {
    let name = format!("{kernel}(");
    // Any of its declarations may state it, before or behind its name.
    let head = |(at, _): (usize, &str)| {
        let start = text[..at].rfind([';', '}']).unwrap_or(0);
        let end = text[at..].find(['{', ';']).map_or(text.len(), |end| at + end);
        text[start..end].split_once("reqd_work_group_size(")
    };
    let numbers = text.match_indices(&name).find_map(head)?.1.split(')').next()?;
    let defined = |name: &str| text.split_once(&format!("#define {name} "))?.1.split_whitespace().next()?.parse().ok();
    let size = |word: &str| word.parse().ok().or_else(|| defined(word));
    let sizes: Vec<u32> = numbers.split(',').filter_map(|word| size(word.trim())).collect();
    sizes.try_into().ok()
}

/// As many buffers as a kernel has pointers, each larger than any fixture reaches.
fn buffers(chosen: &[(&KernelReport, &Kernel)]) -> String {
    let most = chosen.iter().map(|(_, kernel)| kernel.parameters.len()).max().unwrap_or(0);
    (0..most).map(|number| format!("[[buffer]]\nname = \"b{number}\"\ntype = \"int\"\ncount = 4194304\n")).collect()
}

fn judge(path: &Path, place: &Place, chosen: &[(&KernelReport, &Kernel)], seen: &Seen) -> Vec<String> {
    let complaint = |what: String| vec![format!("{}: {what}\n{}{}", path.display(), seen.out, seen.err)];
    if !matches!(seen.code, Some(0 | 1)) || seen.out.contains("outside of all allocations") {
        return complaint("it does not run".to_owned());
    }
    let outcome = check_log(&place.path().join("k.trace"), 512 << 20, Some(1)).unwrap();
    if !outcome.log.problems.is_empty() {
        return complaint(format!("its log is incomplete: {:?}", outcome.log.problems));
    }
    let mut conflicts: BTreeMap<&str, usize> = BTreeMap::new();
    for conflict in &outcome.conflicts {
        *conflicts.entry(&outcome.log.launches[&conflict.witness.launch].kernel).or_default() += 1;
    }
    let differs = |(report, _): &&(&KernelReport, &Kernel)| {
        let is_known = DIFFERENT.iter().any(|(file, kernel, _)| path.ends_with(file) && report.name == *kernel);
        expectation(report) != Some(conflicts.contains_key(report.name.as_str())) && !is_known
    };
    let differing: Vec<&str> = chosen.iter().filter(differs).map(|(report, _)| report.name.as_str()).collect();
    if differing.is_empty() {
        Vec::new()
    } else {
        complaint(format!("run and check differ on {}", differing.join(", ")))
    }
}
