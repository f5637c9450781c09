//! `raceproof check`.

use super::Exit;
use super::args::CheckArgs;
use super::failing::{exit_of, fails};
use super::fix;
use super::front;

use super::interrupt::Interrupt;
use super::output::{complain, remark, to_stdout, warn};
use super::outputs::{Outputs, write_report};
use super::plan::Plan;
use super::progress::Bar;
use super::settings::{self, Sources};
use super::shard;
use super::wanted::{kernels, kernels_missing, no_kernel, params_missing};
use super::{baseline, changed, step_summary, watch};
use crate::diagnostic::report::{KernelReport, Report};
use crate::driver::asked::suggestion;
use crate::driver::crash;
use crate::driver::kernel_settings::{Given, Says};
use crate::driver::options::{Options, Part};
use crate::driver::parallel::{Input, Problem, Progress, Run, check_groups};
use crate::driver::reproduce::{Store, write_all};
use crate::driver::stated_contracts::StatedContracts;
use crate::site::Site;
use crate::source::discover::discover;
use crate::work::{Spent, Stage, Tally};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs the command.
pub(super) fn run(typed: &CheckArgs, arguments: Vec<OsString>) -> Result<Exit> {
    if typed.settings.settings_schema {
        return printed(&settings::schema());
    }
    if typed.work.watch && !watch::is_watched() {
        return watch::run(typed, &arguments);
    }
    let sources = Sources::of(typed, arguments)?;
    if let Some(file) = &typed.settings.show_settings {
        return printed(&settings::show(&sources, file.as_deref())?);
    }
    let args = &sources.of_run()?;
    let outputs = Outputs::of(&args.output)?;
    let (mut inputs, mut exit) = inputs(args, &sources)?;
    if args.settings.show_files {
        let lines = inputs.iter().map(|input| format!("{}\n", input.path().display()));
        return printed(&lines.collect::<String>());
    }
    let mut plan = Plan::of(&sources, args, &inputs)?;
    let mut options = plan.options();
    for problem in options.contracts.logged.iter().flat_map(|logged| &logged.problems) {
        warn(&format!("--launches: {problem}; launches may be missing"));
    }
    if let Some(revision) = &args.work.changed_since {
        changed::choose(revision, &mut inputs, &mut options)?;
    }
    let share = shard::take(args, &outputs, &sources.files(), &mut inputs, &mut options)?;
    plan.choose(&inputs, &options);
    let reads_text = inputs.iter().any(|input| matches!(input, Input::Text(..)));
    crash::arm(if reads_text { crash::Inputs::StandardInput } else { crash::Inputs::Files });
    // A directory that cannot be written is told before the work.
    let store = args.reproduce.as_deref().map(Store::open).transpose().context("--reproduce")?;
    let site = args.html.as_deref().map(Site::open).transpose().context("--html")?;
    let interrupt = Interrupt::listen();
    let mut run = checked(args, &inputs, &plan, &interrupt);
    watch::leave_seen(counted(&inputs, &run.report, &plan, &sources).iter().map(PathBuf::as_path));
    if args.fix && run.unfinished == 0 {
        let (changed, outcome) = fix::write(&run.report);
        exit = exit.max(outcome);
        if changed > 0 {
            run = checked(args, &inputs, &plan, &interrupt);
        }
    }
    if let Some(unread) = front::unread_by(args.source.front, &options.front, &run.report) {
        warn(&unread);
    }
    for error in store.map_or_else(Vec::new, |mut store| write_all(&mut run, &mut store)) {
        complain(&format!("--reproduce: {error}"));
        exit = Exit::Usage;
    }
    let told = baseline::after(&args.baseline, &mut run, &options).context("the baseline cannot be written")?;
    told.iter().for_each(|line| remark(line));
    let written = site.map_or(Ok(()), |site| site.write(&run));
    if let Err(error) = written {
        complain(&format!("--html: {error}"));
        exit = Exit::Usage;
    }
    let has_findings = fails(&run.report, &args.output.fail_on);
    let left_out = args.output.max_findings.map_or(0, |most| run.report.keep(most));
    let ended = exit;
    let written = outputs.write(&|format, surface, out| match &share {
        Some(share) => share.write(&run, &options, ended, format, out),
        None => write_report(&run.report, args, format, surface, out),
    })?;
    exit = exit.max(written);
    step_summary::write(&run.report, &outputs);
    if left_out > 0 {
        remark(&format!("{left_out} more findings are not shown (--max-findings)"));
    }
    if args.timings {
        remark(&front::answered(args.source.front, &options.front, &run.report));
        remark(&took(&run.report));
    }
    exit = exit.max(problems(&run.problems));
    if run.unfinished > 0 {
        let (left, all) = (run.unfinished, inputs.len());
        complain(&format!("interrupted: {left} of {all} files were not checked; what is reported is about the others"));
        return Ok(Exit::Interrupted(interrupt.exit_code()));
    }
    // What a part of the files lacks may be in the others.
    if matches!(options.workload.part, Part::All) {
        exit = exit.max(unmatched_kernels(&run, &options));
        exit = exit.max(unmatched_params(&run, &options));
        exit = exit.max(unmatched_settings(&run.report, &plan, &options, args));
        if let Some(contracts) = options.contracts.stated.as_ref().filter(|_| options.kernels.is_empty()) {
            unmet_contracts(contracts, &run.report);
        }
    }
    if exit == Exit::Clean && has_findings {
        exit = Exit::Findings;
    }
    Ok(exit)
}

/// A text that is all that was asked for.
fn printed(text: &str) -> Result<Exit> {
    to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

/// What to check. A path that gives nothing is complained about, and the others are checked all the same.
fn inputs(args: &CheckArgs, sources: &Sources) -> Result<(Vec<Input>, Exit)> {
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let paths: Vec<PathBuf> = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    let (files, errors) = discover(&paths);
    for error in &errors {
        complain(&error.to_string());
    }
    ensure!(!args.fix || !args.paths.iter().any(|path| is_stdin(&path)), "--fix: standard input is no file");
    let mut inputs: Vec<Input> = Vec::new();
    for file in files {
        // What is named is checked, whatever settings say.
        if paths.contains(&file) || !sources.excludes(&file)? {
            inputs.push(Input::File(file));
        }
    }
    if args.paths.iter().any(|path| is_stdin(&path)) {
        let name = args.stdin_filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"));
        inputs.insert(0, Input::Text(name, read_stdin()?));
    } else {
        ensure!(args.stdin_filename.is_none(), "--stdin-filename: standard input is not read; add the path `-`");
    }
    Ok((inputs, if errors.is_empty() { Exit::Clean } else { Exit::Usage }))
}

/// All of standard input.
pub(super) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

fn checked(args: &CheckArgs, inputs: &[Input], plan: &Plan, interrupt: &Interrupt) -> Run {
    let interrupt = interrupt.clone();
    let bar = if args.output.quiet { Bar::hidden(interrupt) } else { Bar::new(inputs, interrupt) };
    let progress: Arc<dyn Progress + Send> = Arc::clone(&bar) as Arc<_>;
    let run = check_groups(plan.groups(inputs), &progress);
    bar.finish();
    run
}

pub(super) fn problems(problems: &[Problem]) -> Exit {
    let mut exit = Exit::Clean;
    for problem in problems {
        complain(&problem.to_string());
        exit = exit.max(exit_of(problem));
    }
    exit
}

/// The files that had a part in a run: inputs, what they include, and what options and settings name.
fn counted(inputs: &[Input], report: &Report, plan: &Plan, sources: &Sources) -> Vec<PathBuf> {
    let read = report.files.iter().flat_map(|file| file.sources.files().map(|(_, file)| file.path.clone()));
    // Of text that no file holds, as a header of this program, there is nothing to look at.
    let read = read.filter(|path| path.is_file());
    let asked = inputs.iter().map(|input| input.path().to_path_buf());
    read.chain(asked).chain(plan.named().cloned()).chain(sources.files()).collect()
}

/// A misspelt `--kernel` would otherwise look like a clean run.
pub(super) fn unmatched_kernels(run: &Run, options: &Options) -> Exit {
    let mut exit = Exit::Clean;
    for wanted in kernels_missing(&run.report, options) {
        complain(&format!("--kernel: {}", no_kernel(wanted, &run.report)));
        exit = Exit::Usage;
    }
    exit
}

/// A contract of a kernel that is not there says nothing; somebody may rely on it.
fn unmet_contracts(contracts: &StatedContracts, report: &Report) {
    let (gone, elsewhere) = contracts.unmet(report);
    gone.iter().for_each(|line| warn(line));
    if elsewhere > 0 {
        let are = if elsewhere == 1 { "contract is" } else { "contracts are" };
        remark(&format!("{elsewhere} {are} of files that were not checked (--contracts)"));
    }
}

/// What settings say of kernels that are not there says nothing; somebody may rely on it. A parameter that they do not have is an
/// error, as it is where it is typed.
fn unmatched_settings(report: &Report, plan: &Plan, options: &Options, args: &CheckArgs) -> Exit {
    let (mut exit, mut elsewhere) = (Exit::Clean, 0);
    // Where files are named, kernels of others may be meant.
    let is_whole = args.paths.iter().all(|path| path.is_dir()) && options.kernels.is_empty();
    for (of, files) in plan.of_kernels() {
        let fitting = of.kernels(report, &files);
        let name = of.name.text();
        if fitting.is_empty() {
            elsewhere += usize::from(!is_whole);
            if is_whole {
                let meant = suggestion(name, kernels(report).map(|kernel| kernel.name.as_str()));
                warn(&format!("{}: `{name}` fits no kernel of what was checked{meant}", of.at));
            }
            continue;
        }
        let Says::Launch(Given { params, .. }) = &of.says else { continue };
        for (wanted, _) in params.iter().filter(|(wanted, _)| !fitting.iter().any(|it| it.params.contains(wanted))) {
            let known = fitting.iter().take(4).map(|kernel| told_params(kernel)).collect::<Vec<_>>().join("; ");
            complain(&format!("{}: no kernel has a scalar parameter named `{wanted}`: {known}", of.at));
            exit = Exit::Usage;
        }
    }
    if elsewhere > 0 {
        let say = if elsewhere == 1 { "table of [[kernels]] fits" } else { "tables of [[kernels]] fit" };
        remark(&format!("{elsewhere} {say} no kernel of what was checked; others may be meant"));
    }
    exit
}

/// `k has n, m`
fn told_params(kernel: &KernelReport) -> String {
    match kernel.params.as_slice() {
        [] => format!("{} has none", kernel.name),
        params => format!("{} has {}", kernel.name, params.join(", ")),
    }
}

/// A misspelt `--param` would otherwise fix nothing.
fn unmatched_params(run: &Run, options: &Options) -> Exit {
    let mut exit = Exit::Clean;
    for wanted in params_missing(&run.report, options) {
        let known: Vec<String> = kernels(&run.report).take(4).map(told_params).collect();
        let known = if known.is_empty() { "there is no kernel".to_string() } else { known.join("; ") };
        complain(&format!("--param: no kernel has a scalar parameter named `{wanted}`: {known}"));
        exit = Exit::Usage;
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_outweighs_what_could_not_be_read() {
        let unreadable = || Problem::Unreadable { path: "a.cu".into(), cause: "no".into() };
        let bug = || Problem::Bug { path: "b.cu".into(), message: "index out of range".into() };
        assert_eq!(problems(&[]), Exit::Clean);
        assert_eq!(problems(&[unreadable()]), Exit::Usage);
        assert_eq!(problems(&[unreadable(), bug(), unreadable()]), Exit::Bug);
        assert!(bug().to_string().contains("bug in raceproof while checking b.cu"));
    }
}

/// What the stages took in all files and kernels: `12.0 s of work: 3.1 s read (26 %), …`.
fn took(report: &Report) -> String {
    let mut all = Spent::default();
    for file in &report.files {
        all.add(&file.spent);
        file.kernels.iter().for_each(|kernel| all.add(&kernel.spent));
    }
    let whole = all.all().time.as_secs_f64();
    let stage = |(stage, tally): (Stage, Tally)| {
        let seconds = tally.time.as_secs_f64();
        format!("{} {seconds:.1} s ({:.0} %)", stage.name(), 100.0 * seconds / whole.max(1e-9))
    };
    let counts = |(_, tally): &(Stage, Tally)| tally.time.as_secs_f64() > 0.005 * whole;
    let stages: Vec<String> = all.stages().filter(counts).map(stage).collect();
    format!("{whole:.1} s of work on all threads: {}", stages.join(", "))
}
