//! Every race of the fixtures that is proved has a program that shows it, or a reason why not.
//!
//! Programs are written, and checked again: the race must be found in them on the lines that were told. A part of them
//! is built and run, all in the tier `full`: the log must have the conflict on these lines.

use super::build::{Built, Toolchain};
use super::{MEMORY, TRIES};
use crate::fixtures::{Fixture, files};
use crate::support::draw::part;
use crate::support::tier::{Tiers, tiers};
use crate::support::tools::has_cxx;
use raceproof::diagnostic::report::{Finding, Reproduction};
use raceproof::driver::options::{Launches, Options, Reproductions};
use raceproof::driver::parallel::{Input, Run, Unwatched, check_all};
use raceproof::driver::reproduce::{Store, write_all};
use raceproof::driver::trace::check_log;
use raceproof::reproduce::proved_race;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Programs of one fixture in as many are written.
const WRITTEN: Tiers<usize> = tiers(40, 20, 1);
/// One program in as many is built and run.
const RUN: Tiers<usize> = tiers(40, 4, 1);

/// Fixtures and kernels without a program for a race, with the beginning of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("fixtures/contents/pointer_tables.cu", "parameter "),
    ("fixtures/hip/", "reproductions are written for CUDA and OpenCL, and this is HIP"),
    ("fixtures/libraries/matrix_fragments.cu", "parameter lane"),
    ("fixtures/libraries/matrix_tiles.cu", "parameter lane"),
    ("fixtures/libraries/structures.cu", "parameter operation is of the type thrust::plus<"),
    ("fixtures/libraries/surfaces.cu", "parameter "),
    ("fixtures/opencl/images.cl", "parameter "),
    ("fixtures/overloads/packs.cu", "how the kernel is called is not understood"),
    ("fixtures/platform/offsets.cl", "parameter get_global_offset(0) is where the ids of a launch start"),
    ("fixtures/traps/held_pointers.cu", "parameter rows is a pointer to pointers"),
    ("fixtures/traps/lambdas_launched.cu", "line 25 of fixtures/traps/lambdas_launched.cu is not in"),
    ("fixtures/traps/loaded_pointers.cu", "parameter rows is a pointer to pointers"),
];

/// Fixtures whose programs do not compile for a CPU: they use what they leave undefined on purpose, assembly, clusters of
/// blocks, and types that the parameters of a kernel template make.
const UNDEFINED: &[&str] = &[
    "fixtures/atomics/objects.cu",
    "fixtures/clusters/barriers.cu",
    "fixtures/clusters/launched.cu",
    "fixtures/clusters/shared.cu",
    "fixtures/fences/ptx_atomics.cu",
    "fixtures/flags/orders.cu",
    "fixtures/flags/waits.cu",
    "fixtures/libraries/block_collectives.cu",
    "fixtures/libraries/block_items.cu",
    "fixtures/libraries/curand.cu",
    "fixtures/libraries/group_copies.cu",
    "fixtures/libraries/matrix_fragments.cu",
    "fixtures/libraries/matrix_tiles.cu",
    "fixtures/libraries/ptx_copies.cu",
    "fixtures/libraries/ptx_matrices.cu",
    "fixtures/libraries/structures.cu",
    "fixtures/libraries/thread_copies.cu",
    "fixtures/models/accessors.cu",
    "fixtures/models/dispatch.cu",
    "fixtures/models/half.cu",
    "fixtures/models/tensor_info.cu",
    "fixtures/models/vectors.cu",
    "fixtures/phases/copies.cu",
    "fixtures/phases/groups.cu",
    "fixtures/phases/objects.cu",
    "fixtures/phases/ptx_objects.cu",
    "fixtures/traps/assembly.cu",
    "fixtures/traps/special_registers.cu",
    "fixtures/traps/undefined_between_blocks.cu",
    "fixtures/traps/undefined_calls.cu",
    "fixtures/traps/unsupported.cu",
    "fixtures/types/template_templates.cu",
    "fixtures/undeclared/attributes.cu",
    "fixtures/undeclared/externals.cu",
    "fixtures/undeclared/objects.cu",
    "fixtures/undeclared/references.cu",
    "fixtures/undeclared/values.cu",
    "fixtures/warps/named_barriers.cu",
];

/// Fixtures whose races need threads that do not run together: a run brings together as many as can come.
const TOGETHER: &[&str] = &["fixtures/warps/together.cu"];

/// Fixtures whose races no log shows: those of variable templates, which are not logged, as the run says.
const UNLOGGED: &[&str] = &["fixtures/traps/variable_templates.cu"];

/// Fixtures whose programs are read with less than the run knows: that two parameters are one pointer behind a conversion,
/// that a template argument is a pointer, and that a text is a model's, whose accesses stand where it is used.
const RUN_ALONE: &[&str] = &[
    "fixtures/models/half.cu",
    "fixtures/models/vectors.cu",
    "fixtures/traps/same_pointers.cu",
    "fixtures/traps/templates.cu",
];

/// Pairs of lines.
type Lines = BTreeSet<[u32; 2]>;

fn checked(path: &Path, options: &Options) -> Run {
    check_all(&[Input::File(path.to_path_buf())], options, &Unwatched)
}

fn findings(run: &Run) -> impl Iterator<Item = &Finding> {
    run.report.files.iter().flat_map(|file| &file.kernels).flat_map(|kernel| &kernel.findings)
}

fn sorted(mut lines: [u32; 2]) -> [u32; 2] {
    lines.sort_unstable();
    lines
}

/// The programs of a fixture with the lines that they show; complaints about races without one.
fn written(path: &Path, directory: &Path) -> (BTreeMap<PathBuf, Lines>, Vec<String>) {
    let text = std::fs::read_to_string(path).expect("a fixture");
    let mut options = Fixture::parse(&text).expect("a fixture that can be read").options;
    options.evidence.reproductions = Reproductions::Draft;
    let mut run = checked(path, &options);
    let mut store = Store::open(directory).expect("a directory");
    let errors = write_all(&mut run, &mut store);
    let mut complaints: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut programs: BTreeMap<PathBuf, Lines> = BTreeMap::new();
    for finding in findings(&run) {
        match &finding.reproduction {
            Some(Reproduction::Written { path, lines }) => {
                programs.entry(path.clone()).or_default().insert(sorted(*lines));
            }
            Some(Reproduction::Refused(reason)) => {
                let is_known = |&(file, known): &(&str, &str)| {
                    path.to_string_lossy().starts_with(file) && reason.starts_with(known)
                };
                if !REFUSED.iter().any(is_known) {
                    complaints.push(format!("{}: {}: {reason}", path.display(), finding.message));
                }
            }
            None if proved_race(finding).is_some() => {
                complaints.push(format!("{}: {}: nothing is said", path.display(), finding.message));
            }
            None => {}
        }
    }
    (programs, complaints)
}

/// The pairs of lines on which `check` finds races in a program.
fn found_again(program: &Path) -> Lines {
    let mut options = Options::default();
    options.judging.launches = Launches::All;
    let run = checked(program, &options);
    let file = &run.report.files[0];
    let line = |span| file.sources.start_position(span).line;
    let races =
        findings(&run).flat_map(Finding::each).filter_map(|finding| Some((finding.primary, finding.secondary?)));
    races.map(|(first, second)| sorted([line(first.span), line(second.span)])).collect()
}

/// The pairs of lines on which a run of a program has conflicts.
fn seen(built: &Built<'_>, wanted: &Lines) -> Result<Lines, String> {
    built.compiles()?;
    let mut seen = Lines::new();
    for seed in 0..TRIES {
        let ran = built.run(0..0, seed);
        let outcome = check_log(&ran.log, MEMORY, Some(1)).map_err(|error| format!("no log: {error}"))?;
        let sites = &outcome.log.sites;
        seen.extend(outcome.conflicts.iter().map(|conflict| sorted(conflict.sites.map(|site| sites[&site].start.0))));
        if wanted.is_subset(&seen) {
            break;
        }
    }
    Ok(seen)
}

#[test]
fn every_race_of_the_fixtures_has_a_program_that_shows_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let only = std::env::var("RACEPROOF_FIXTURE").unwrap_or_default();
    if !has_cxx() {
        return;
    }
    let fixtures: Vec<PathBuf> = files().into_iter().filter(|path| path.to_string_lossy().contains(&only)).collect();
    let fixtures = part("programs of fixtures", fixtures, WRITTEN, |path| path.display().to_string());
    let written: Vec<_> = fixtures
        .par_iter()
        .enumerate()
        .map(|(number, path)| (path, written(path, &directory.path().join(number.to_string()))))
        .collect();
    let mut complaints: Vec<String> = Vec::new();
    let mut programs: Vec<(&PathBuf, PathBuf, Lines)> = Vec::new();
    for (fixture, (of_fixture, told)) in written {
        complaints.extend(told);
        programs.extend(of_fixture.into_iter().map(|(program, lines)| (fixture, program, lines)));
    }
    assert!(!programs.is_empty(), "no program is written");
    let is_among = |known: &[&str], fixture: &Path| known.iter().any(|known| fixture.ends_with(known));
    let name = |program: &Path| program.file_name().expect("a name").to_string_lossy().into_owned();
    complaints.par_extend(programs.par_iter().filter_map(|(fixture, program, lines)| {
        let found = found_again(program);
        let is_there = lines.is_subset(&found) || is_among(RUN_ALONE, fixture);
        (!is_there).then(|| format!("{}: {}: {lines:?} not in {found:?}", fixture.display(), name(program)))
    }));
    let toolchain = Toolchain::new();
    let is_shown = |(fixture, program, _): &&(&PathBuf, PathBuf, Lines)| {
        let is_known = [UNDEFINED, TOGETHER, UNLOGGED].iter().any(|known| is_among(known, fixture));
        program.extension().is_some_and(|extension| extension == "cu") && !is_known
    };
    let named =
        |(fixture, program, _): &&(&PathBuf, PathBuf, Lines)| format!("{} {}", fixture.display(), name(program));
    let chosen = part("runs of programs", programs.iter().filter(is_shown).collect(), RUN, named);
    eprintln!("{} programs, {} of them are run", programs.len(), chosen.len());
    let built = |program: &Path| {
        let text = std::fs::read_to_string(program).expect("a program");
        toolchain.build_whole(program, &text)
    };
    let all: Vec<Result<Built<'_>, String>> = chosen.par_iter().map(|(_, program, _)| built(program)).collect();
    toolchain.compile_together(&all.iter().flatten().collect::<Vec<_>>());
    complaints.par_extend(chosen.par_iter().zip(&all).filter_map(|((fixture, program, lines), built)| {
        let what = match built.as_ref().map_err(Clone::clone).and_then(|built| seen(built, lines)) {
            Ok(seen) if lines.is_subset(&seen) => return None,
            Ok(seen) => format!("the run shows conflicts on {seen:?}, not on all of {lines:?}"),
            Err(why) => why,
        };
        Some(format!("{}: {}: {what}", fixture.display(), name(program)))
    }));
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
