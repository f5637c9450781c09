//! Which files of a run are checked with which options: files with the same settings are checked together.
//!
//! Guarantees: where all files have the same settings, there is one group, and the run is what it would be without them.
//! Deliberately absent: what settings say ([`super::settings`]).

use super::args::CheckArgs;
use super::options::for_check;
use super::settings::{Manner, Sources};
use crate::diagnostic::RuleId;
use crate::driver::kernel_settings::OfKernels;
use crate::driver::options::{OpenContracts, Options, Part};
use crate::driver::parallel::{Group, Input};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The groups of a run.
pub(super) struct Plan {
    groups: Vec<Planned>,
    /// The files that options name.
    named: BTreeSet<PathBuf>,
}

struct Planned {
    files: BTreeSet<PathBuf>,
    options: Options,
}

impl Plan {
    /// For these inputs.
    pub(super) fn of(sources: &Sources, args: &CheckArgs, inputs: &[Input]) -> Result<Plan> {
        let mut manners: BTreeMap<Manner, Vec<&Path>> = BTreeMap::new();
        for input in inputs {
            manners.entry(sources.manner(input.path())?).or_default().push(input.path());
        }
        let mut groups = Vec::new();
        let mut named: BTreeSet<PathBuf> = files_named(args).collect();
        for (manner, files) in &manners {
            let typed = sources.of_files(manner, files[0])?;
            named.extend(files_named(&typed));
            let mut options = for_check(&typed)?;
            options.telling.rules = Arc::new(sources.rules(files)?);
            if options.telling.rules.levels.contains_key(&RuleId::OpenContract) {
                options.contracts.open = OpenContracts::AsFindings;
            }
            options.contracts.by_name = Arc::new(sources.kernels(&typed, files)?);
            groups.push(Planned { files: files.iter().map(|file| file.to_path_buf()).collect(), options });
        }
        // Options are looked at even if there is no file.
        if groups.is_empty() {
            groups.push(Planned { files: BTreeSet::new(), options: for_check(args)? });
        }
        let run = for_check(args)?;
        for group in &mut groups {
            group.options.telling.baseline.clone_from(&run.telling.baseline);
            group.options.workload.jobs = run.workload.jobs;
        }
        Ok(Plan { groups, named })
    }

    /// The options of the first group, for what concerns the run.
    pub(super) fn options(&self) -> Options {
        self.groups[0].options.clone()
    }

    /// The files that options name: of builds, contracts, launches and the baseline.
    pub(super) fn named(&self) -> impl Iterator<Item = &PathBuf> {
        self.named.iter()
    }

    /// What settings say of kernels by their names, and of which files.
    pub(super) fn of_kernels(&self) -> Vec<(&OfKernels, Vec<&Path>)> {
        let mut all: Vec<(&OfKernels, Vec<&Path>)> = Vec::new();
        for group in &self.groups {
            for of in &group.options.contracts.by_name.0 {
                let files = group.files.iter().map(PathBuf::as_path);
                match all.iter_mut().find(|(known, _)| known.at == of.at) {
                    Some((_, known)) => known.extend(files),
                    None => all.push((of, files.collect())),
                }
            }
        }
        all
    }

    /// Takes over which part of the run the inputs are.
    pub(super) fn choose(&mut self, inputs: &[Input], options: &Options) {
        let all = || inputs.iter().map(|input| input.path().to_path_buf()).collect::<Vec<_>>().into();
        let part = match &options.workload.part {
            Part::All if self.groups.len() > 1 => Part::Group(all()),
            part => part.clone(),
        };
        for group in &mut self.groups {
            group.options.workload.part = part.clone();
        }
    }

    /// The groups with those of their files that are inputs.
    pub(super) fn groups(&self, inputs: &[Input]) -> Vec<Group> {
        let of = |planned: &Planned| {
            let is_of_it = |(_, input): &(usize, &Input)| planned.files.contains(input.path());
            let inputs = inputs.iter().enumerate().filter(is_of_it);
            Group { inputs: inputs.map(|(at, input)| (at, input.clone())).collect(), options: planned.options.clone() }
        };
        let groups = self.groups.iter().map(of).enumerate();
        // One stays even without files: it says how the run is told.
        groups.filter(|(at, group)| *at == 0 || !group.inputs.is_empty()).map(|(_, group)| group).collect()
    }
}

fn files_named(args: &CheckArgs) -> impl Iterator<Item = PathBuf> {
    let build = args.source.build.as_deref().map(|build| build.join("compile_commands.json"));
    let files = [&args.proof.contracts, &args.proof.launches, &args.baseline.baseline].map(Clone::clone);
    files.into_iter().flatten().chain(build)
}
