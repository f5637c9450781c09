//! Host code, as far as launches need it: constants of locals and globals, and `k<<<…>>>(…)`.
//!
//! A unit is resolved in three steps ([`resolve`]): what it declares; what its host code launches, with which template
//! arguments; the kernels. The functions of the host that launch something are looked at one by one ([`flow`]), those
//! that nothing calls first, since their calls show the arguments of the others ([`calls`]). In each a [`place`] moves
//! along; at a launch it is asked for sizes and arguments ([`sites`]).
//!
//! Guarantees: a size or an argument that is not certain is not known, and a kernel of which not all launches are seen
//! has one of which nothing is known ([`escapes`], [`mentions`]).
//!
//! Deliberately absent: what host code calls, beside what launches something; names, types and constants, for which
//! [`resolve::Declared`](crate::resolve) is asked.

mod api;
mod assignments;
mod callees;
mod calls;
mod changes;
mod conditions;
mod constraints;
mod declarations;
mod effects;
mod escapes;
mod flow;
mod forms;
mod found;
mod hidden;
mod inequalities;
mod linkage;
mod loops;
mod members;
mod mentions;
mod place;
mod prepared;
mod relations;
mod sites;
mod sums;
mod unit;
mod values;
mod walk;
mod ways;

pub(super) use self::relations::implies;

use self::calls::{Calls, Instance};
use self::effects::Methods;
use self::found::{Escaped, Found};
use self::unit::{Bodies, Code};
use super::{Given, Launch, Launched};
use crate::diagnostic::Diagnostic;
use crate::resolve::program::FunctionId;
use crate::resolve::{self, Declared, FunctionDecl};
use crate::source::Language;
use crate::syntax::Unit;
use crate::work;

/// A program with its launches, and what was noticed on the way.
#[derive(Debug)]
pub struct Resolved {
    /// The program and its launches.
    pub launched: Launched,
    /// Items at namespace scope that are not understood.
    pub diagnostics: Vec<Diagnostic>,
    /// How often something that a kernel reaches, or a launch needs, was not understood: a name, a call, a type.
    pub missed: usize,
}

/// Units of work that knowing what host variables of one file hold may take. Beyond it less is known of launches.
const MOST_WORK: u64 = 20_000_000;

/// Resolves a unit: its kernels, with the template arguments that its host code gives them, and the launches there.
pub fn resolve(unit: Unit) -> Resolved {
    let mut names = Declared::of(&unit);
    let found = work::within(MOST_WORK, || find(&mut names, &unit));
    let launched: Vec<_> = found.seen.iter().map(|launch| (launch.decl, &launch.values)).collect();
    names.resolve_kernels(&launched);
    let missed = found.missed;
    let launches = launches(&mut names, found);
    let parts = names.finish();
    let resolve::Resolved { program, diagnostics, missed: missed_by_kernels } =
        parts.program(unit.sources, &unit.known);
    Resolved { launched: Launched::new(program, launches), diagnostics, missed: missed + missed_by_kernels }
}

/// The launches in host functions, in source order, and the kernels that are launched elsewhere, too.
fn find<'u>(names: &mut Declared<'u>, unit: &'u Unit) -> Found<'u> {
    let Bodies { functions, initializers } = unit::bodies_in(names, &unit.items);
    let launching = unit::launching(&functions);
    let (mut open, called) = unit::uses(&functions, &initializers, &launching);
    linkage::called_elsewhere(names.sources(), &unit.items, &functions, &called, &mut open);
    open.extend(escapes::unread_words(names.sources(), &functions));
    open.retain(|name| launching.contains(name));
    let code = Code {
        launching,
        called,
        in_templates: unit::methods_of_templates(&unit.items),
        methods: if names.language() == Language::Cuda { unit::methods_in(&unit.items) } else { Methods::default() },
        members: members::members_of_methods(&unit.items),
    };
    let uses = escapes::uses_of_kernels(names, &unit.items, &functions, &initializers);
    let mut calls = Calls::of(open);
    let mut found = Found::default();
    names.begin_host();
    let launching = functions.into_iter().filter(|decl| code.launching.contains(decl.syntax.name())).collect();
    look_at_all(names, &code, launching, &mut calls, &mut found);
    names.end_host();
    let seen = mentions::Seen { sources: names.sources(), code: &code, calls: &calls, uses: &uses };
    seen.escape_mentioned(&unit.items, &unit.mentions, &mut found);
    // Instances come after the functions that call them; users read launches from top to bottom.
    found.seen.sort_by_key(|launch| (launch.span.file, launch.span.start));
    found
}

/// Looks at the functions that launch something.
fn look_at_all<'u>(
    names: &mut Declared<'u>,
    code: &Code<'u>,
    mut functions: Vec<FunctionDecl<'u>>,
    calls: &mut Calls<'u>,
    found: &mut Found<'u>,
) {
    for &decl in functions.iter().filter(|decl| decl.syntax.has_template()) {
        for values in names.stated_for(decl.syntax) {
            calls.add_instance(Instance { decl, values, args: Vec::new(), relations: Vec::new() });
        }
    }
    // What nothing in the unit calls comes first: its calls show the arguments of the others.
    for &decl in &functions {
        if !code.is_template(decl.syntax) && !code.called.contains(decl.syntax.name()) {
            calls.add_instance(Instance::open(decl));
        }
    }
    look_at_waiting(names, code, calls, found);
    // Each may show further calls, and that of a function not all calls are known. Templates come last: what calls
    // itself, and is called by nothing else, shows their arguments.
    functions.sort_by_key(|decl| code.is_template(decl.syntax));
    while let Some(at) = functions.iter().position(|decl| calls.needs_open(decl.syntax, code)) {
        calls.add_open(functions.remove(at));
        look_at_waiting(names, code, calls, found);
    }
}

/// Looks at the functions that are waiting, and at those that they call.
fn look_at_waiting<'u>(names: &mut Declared<'u>, code: &Code<'u>, calls: &mut Calls<'u>, found: &mut Found<'u>) {
    while let Some(instance) = calls.next_instance() {
        flow::look_at(names, code, &instance, calls, found);
        add_methods(names, code, calls);
    }
}

/// Adds the methods that launch something of the class templates' instances that host code has named by now.
fn add_methods<'u>(names: &Declared<'u>, code: &Code<'u>, calls: &mut Calls<'u>) {
    while calls.classes < names.count_of_classes() {
        let class = names.instance_of_class(calls.classes);
        calls.classes += 1;
        let Some((values, mut methods)) = class else { continue };
        methods.retain(|decl| decl.syntax.body.is_some() && code.launching.contains(decl.syntax.name()));
        methods.sort_by_key(|decl| {
            let name = &decl.syntax.path.segments[0].name;
            (name.span.file, name.span.start)
        });
        for decl in methods.into_iter().filter(|decl| names.own_template(*decl).is_empty()) {
            let values = if decl.syntax.path.segments.len() > 1 { values.clone() } else { Vec::new() };
            calls.add_instance(Instance { decl, values, args: Vec::new(), relations: Vec::new() });
        }
    }
}

/// What was seen of launches as launches of kernels that are resolved, and one of which nothing is known of each kernel
/// that escapes.
fn launches<'u>(names: &mut Declared<'u>, found: Found<'u>) -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut clusters: Vec<(FunctionId, Option<[u32; 3]>)> = Vec::new();
    for launch in found.seen {
        let Some(kernel) = names.launched(launch.decl, launch.values) else { continue };
        match clusters.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, cluster)) => *cluster = cluster.filter(|known| Some(*known) == launch.cluster),
            None => clusters.push((kernel, launch.cluster)),
        }
        launches.push(Launch {
            kernel,
            grid: launch.grid,
            block: launch.block,
            args: names.held_by_parameters(kernel, &launch.args),
            shared_bytes: launch.shared_bytes,
            relations: launch.relations,
            same_pointers: launch.same_pointers,
            given: launch.given,
            span: launch.span,
        });
    }
    for (kernel, cluster) in clusters {
        let is_all = !found.escaped.contains_key(&names.syntax_of(kernel));
        if let Some(cluster) = cluster.filter(|_| is_all) {
            names.assume_clusters(kernel, cluster);
        }
    }
    launches.extend(elsewhere(names, &found.escaped));
    launches
}

/// Launches of which nothing is known: of the kernels whose address escapes.
fn elsewhere(names: &Declared<'_>, escaped: &Escaped) -> Vec<Launch> {
    let unread = |(kernel, syntax)| {
        let &span = escaped.get(&syntax)?;
        Some(Launch {
            kernel,
            grid: [None; 3],
            block: [None; 3],
            args: Vec::new(),
            shared_bytes: None,
            relations: Vec::new(),
            same_pointers: Vec::new(),
            given: [Given::Unread; 2],
            span,
        })
    };
    names.kernels().into_iter().filter_map(unread).collect()
}
