//! What one run says of each kernel.

use super::pointers::{Pair, pairs};
use super::{
    Amplified, Answer, Argument, Conflict, Extent, Launch, Obstacle, ObstacleKind, Run, Statement, Subject, Verdict,
};
use crate::calculus::{ParamId, Space};
use crate::flow::words::Words;
use crate::flow::{Decides, Reached, Source};
use std::collections::BTreeSet;

/// Says of every kernel what the run shows. Instances of one template have one answer: a log names the template.
pub fn amplify(run: &Run, subjects: &[Subject<'_>]) -> Amplified {
    let mut names: Vec<String> = Vec::new();
    let of_source = subjects.iter().map(|subject| subject.kernel.name.as_str());
    for name in of_source.chain(run.launches.iter().map(|launch| launch.kernel.as_str())) {
        let name = short(name);
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let kernels = names.iter().map(|name| {
        let instances: Vec<&Subject<'_>> = subjects.iter().filter(|each| short(&each.kernel.name) == name).collect();
        answer(run, name, &instances)
    });
    Amplified { back_end: run.back_end.clone(), problems: run.problems.clone(), kernels: kernels.collect() }
}

/// A name without namespaces and template arguments.
fn short(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

fn answer(run: &Run, name: &str, instances: &[&Subject<'_>]) -> Answer {
    let launches: Vec<(usize, &Launch)> =
        run.launches.iter().enumerate().filter(|(_, launch)| short(&launch.kernel) == name).collect();
    let is_of_this = |conflict: &&Conflict| launches.iter().any(|&(index, _)| index == conflict.launch);
    let races: Vec<Conflict> = run.conflicts.iter().filter(is_of_this).cloned().collect();
    let launches = complete(run, launches);
    let mut obstacles = of_run(run, name, &launches);
    let is_shown = obstacles.is_empty();
    obstacles.extend(of_kernel(instances));
    let [overlapping, unchecked] = all_pairs(instances, &launches);
    obstacles.extend(of_pointers(&overlapping));
    let verdict = match (races.is_empty(), is_shown, obstacles.is_empty()) {
        (false, ..) => Verdict::Race,
        (true, _, true) => Verdict::Amplified,
        (true, true, false) => Verdict::ThisRunOnly,
        (true, false, _) => Verdict::NotShown,
    };
    let mut answer = Answer {
        name: name.to_owned(),
        verdict,
        launches: launches.len(),
        statements: Vec::new(),
        covers: Vec::new(),
        excludes: Vec::new(),
        relies_on: Vec::new(),
        restrictions: Vec::new(),
        obstacles,
        races,
    };
    if verdict == Verdict::Amplified {
        state(&mut answer, instances, &launches);
        let assumed = unchecked.iter().map(|(first, second)| {
            format!("{first} and {second} point to disjoint memory (their places are not in the log)")
        });
        answer.relies_on.extend(assumed);
    }
    answer
}

/// The launches that count: of a run that was ended those that had come to their end, if there are any.
fn complete<'r>(run: &Run, launches: Vec<(usize, &'r Launch)>) -> Vec<(usize, &'r Launch)> {
    let whole = |(_, launch): &&(usize, &Launch)| launch.extent == Extent::Whole;
    if run.problems.is_empty() || !launches.iter().any(|each| whole(&each)) {
        return launches;
    }
    launches.into_iter().filter(|each| whole(&each)).collect()
}

fn obstacle(kind: ObstacleKind, message: impl Into<String>) -> Obstacle {
    Obstacle { kind, message: message.into(), chain: Vec::new() }
}

/// What stands against the run itself.
fn of_run(run: &Run, name: &str, launches: &[(usize, &Launch)]) -> Vec<Obstacle> {
    let is_whole = !launches.is_empty() && launches.iter().all(|(_, launch)| launch.extent == Extent::Whole);
    let problems = run.problems.iter().filter(|_| !is_whole);
    let mut found: Vec<Obstacle> =
        problems.map(|problem| obstacle(ObstacleKind::Incomplete, problem.clone())).collect();
    if launches.is_empty() {
        found.push(obstacle(ObstacleKind::NotLaunched, "the run does not launch it"));
    }
    let events = run.events.iter().filter(|event| event.kernel.is_empty() || short(&event.kernel) == name);
    found.extend(events.map(|event| obstacle(ObstacleKind::Event, event.text.clone())));
    found
}

/// What stands against the kernel: each kind of trouble once, with the first way in which it comes about.
fn of_kernel(instances: &[&Subject<'_>]) -> Vec<Obstacle> {
    if instances.is_empty() {
        return vec![obstacle(ObstacleKind::NoSource, "it is not in the files that were read")];
    }
    let mut found: Vec<Obstacle> = Vec::new();
    for subject in instances {
        let words = Words { kernel: subject.kernel, sources: subject.sources };
        if subject.flow.is_partial {
            found.push(obstacle(ObstacleKind::Unknown, "parts of the kernel are not understood (`check` names them)"));
        }
        for reached in &subject.flow.reached {
            found.extend(hindrance(&words, reached));
        }
        if subject.flow.is_correctable {
            let help = "branches on data are all that stands against it; `show flow` prints them as choices of values";
            for each in found.iter_mut().filter(|each| each.kind == ObstacleKind::Data) {
                if !each.chain.iter().any(|line| line == help) {
                    each.chain.push(help.to_owned());
                }
            }
        }
    }
    let mut seen: Vec<Obstacle> = Vec::new();
    for each in found {
        if !seen.contains(&each) {
            seen.push(each);
        }
    }
    seen
}

/// The obstacle that a source is, if it is one.
fn hindrance(words: &Words<'_>, reached: &Reached) -> Option<Obstacle> {
    let (kind, verb) = match &reached.source {
        source if source.is_data() && reached.decides == Decides::Conflicts => {
            (ObstacleKind::Data, "decides which accesses are made")
        }
        Source::Schedule { .. } => {
            (ObstacleKind::Schedule, "depends on the schedule and decides which accesses are made")
        }
        Source::Unknown { .. } => (ObstacleKind::Unknown, "is not followed and decides which accesses are made"),
        _ => return None,
    };
    let mut chain: Vec<String> = reached.steps.iter().map(|step| words.step(step)).collect();
    chain.push(words.sink(reached));
    Some(Obstacle { kind, message: format!("{} {verb}", words.source(&reached.source)), chain })
}

/// The pairs of pointers of all launches that overlap, and those of which the log does not say.
fn all_pairs(instances: &[&Subject<'_>], launches: &[(usize, &Launch)]) -> [BTreeSet<Pair>; 2] {
    let mut all = [BTreeSet::new(), BTreeSet::new()];
    for subject in instances {
        for (_, launch) in launches {
            let found = pairs(subject, launch);
            all[0].extend(found.overlapping);
            all[1].extend(found.unchecked);
        }
    }
    all
}

fn of_pointers(overlapping: &BTreeSet<Pair>) -> Vec<Obstacle> {
    let told = overlapping.iter().map(|(first, second)| {
        let message = format!(
            "{first} and {second} point into one allocation, and what is read through them decides an access; it was \
             taken that they are disjoint"
        );
        obstacle(ObstacleKind::Overlap, message)
    });
    told.collect()
}

/// Fills in what holds.
fn state(answer: &mut Answer, instances: &[&Subject<'_>], launches: &[(usize, &Launch)]) {
    let inputs = configuration(instances);
    for (_, launch) in launches {
        let statement = statement(launch, &inputs);
        match answer.statements.iter_mut().find(|known| Statement { launches: 1, ..(*known).clone() } == statement) {
            Some(known) => known.launches += 1,
            None => answer.statements.push(statement),
        }
    }
    answer.covers = covered(instances, &inputs);
    answer.excludes = excluded(&inputs);
    answer.relies_on = reliances(instances);
    answer.restrictions = restrictions(instances);
}

/// The property-integrity inputs of all instances.
fn configuration(instances: &[&Subject<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for subject in instances {
        let inputs = subject.flow.inputs().filter(|each| each.source.is_configuration());
        for name in inputs.filter_map(|each| each.source.input_name(subject.kernel)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn statement(launch: &Launch, inputs: &[String]) -> Statement {
    let is_given = |name: &String| {
        let pointer = name.strip_suffix(" != 0")?;
        let (_, value) = launch.arguments.iter().find(|(argument, _)| argument == pointer)?;
        Some((*value != Argument::Other("null".to_owned())).to_string())
    };
    let value = |name: &String| {
        launch.arguments.iter().find_map(|(argument, value)| match value {
            Argument::Value(value) if argument == name => Some(value.clone()),
            _ => None,
        })
    };
    Statement {
        block: launch.block,
        grid: launch.grid,
        dynamic_shared: launch.dynamic_shared,
        fixed: inputs.iter().map(|name| (name.clone(), value(name).or_else(|| is_given(name)))).collect(),
        launches: 1,
    }
}

/// What may be anything.
fn covered(instances: &[&Subject<'_>], inputs: &[String]) -> Vec<String> {
    let mut arrays: Vec<&str> = Vec::new();
    let mut params: Vec<&str> = Vec::new();
    for subject in instances {
        let kernel = subject.kernel;
        for (_, array) in kernel.arrays.iter() {
            let is_input = matches!(array.space, Space::Global | Space::Constant);
            if is_input && !inputs.contains(&array.name) && !arrays.contains(&array.name.as_str()) {
                arrays.push(&array.name);
            }
        }
        // Whether a pointer is null is no value of a parameter.
        let is_value = |id: ParamId| kernel.arrays.iter().all(|(_, array)| array.given != Some(id));
        for (_, param) in kernel.params.iter().filter(|&(id, _)| is_value(id)) {
            if !inputs.contains(&param.name) && !params.contains(&param.name.as_str()) {
                params.push(&param.name);
            }
        }
    }
    let contents = (!arrays.is_empty()).then(|| format!("every content of {}", arrays.join(", ")));
    let values = (!params.is_empty()).then(|| format!("every value of {}", params.join(", ")));
    contents.into_iter().chain(values).chain([String::from("every order in which threads run")]).collect()
}

fn excluded(inputs: &[String]) -> Vec<String> {
    let values = (!inputs.is_empty()).then(|| format!("other values of {}", inputs.join(", ")));
    let rest = ["other extents of grid and block", "pointers that overlap otherwise than in this run"];
    values.into_iter().chain(rest.map(str::to_owned)).collect()
}

fn reliances(instances: &[&Subject<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for subject in instances {
        let words = Words { kernel: subject.kernel, sources: subject.sources };
        for reached in &subject.flow.reached {
            let line = match &reached.source {
                Source::Unset { .. } => format!("{} is never read before it is set", words.source(&reached.source)),
                source if source.is_data() => format!(
                    "{} decides only which elements are read of arrays that nothing writes",
                    words.source(source)
                ),
                _ => continue,
            };
            if !found.contains(&line) {
                found.push(line);
            }
        }
    }
    found
}

fn restrictions(instances: &[&Subject<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for subject in instances {
        let words = Words { kernel: subject.kernel, sources: subject.sources };
        let floating = subject.flow.reached.iter().find(|each| each.source == Source::Floating);
        let floating = floating.map(|each| format!("floating-point arithmetic: {}", words.sink(each)));
        let architecture =
            subject.architecture.map(|place| format!("`__CUDA_ARCH__` decides what is compiled ({place})"));
        for line in floating.into_iter().chain(architecture) {
            if !found.contains(&line) {
                found.push(line);
            }
        }
    }
    found
}
