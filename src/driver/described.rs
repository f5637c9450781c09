//! A program made of kernels and a launch description.
//!
//! The file is read twice where it has templates: alone, to see which kernels there are and what their parameters are
//! called, and with the program behind it, to see which types the parameters have in the instances that it launches.

use super::Options;
use super::dictionary::Dictionary;
use super::front::{self, ReadUnit};
use crate::builtins::types::is_texture_object;
pub use crate::execute::launch::host::Head;
use crate::execute::launch::host::{self, Host, Parameter, ParameterKind, Pointee, Target, Telling};
use crate::execute::launch::record::{Member, Record};
use crate::execute::launch::{Blocks, Description, DescriptionError, ElementType, Launch, Problem, Scalar};
use crate::launch::{self, Launched};
use crate::resolve::program::{Program, RecordId, Type, TypeId, Variable};
use crate::source::spelling::nearest;
use crate::syntax::{self, Item, ItemKind, Qualifier, TypeKind};
use std::ops::Range;
use std::path::Path;

/// Bytes of parameters that a kernel can have.
const MAX_PARAMETER: u64 = 32 * 1024;

/// What a file of kernels has.
pub(super) struct Kernels {
    heads: Vec<Head>,
    launched: Launched,
    /// What its device code says of inputs.
    pub(super) dictionary: Dictionary,
    /// Where the name of its `main` stands, if it defines one.
    main: Option<Range<usize>>,
}

/// The kernels of a file, as they are written, in source order.
pub fn heads(path: &Path, text: &str, options: &Options) -> Vec<Head> {
    kernels(path, text, options).heads
}

/// Reads a file of kernels.
pub(super) fn kernels(path: &Path, text: &str, options: &Options) -> Kernels {
    let ReadUnit { unit, .. } = front::read(path, text, options, None);
    let mut heads = Vec::new();
    collect(&unit.items, "", &mut heads);
    let main = unit.items.iter().find_map(main_of);
    let dictionary = Dictionary::of(&unit);
    let launched = launch::resolve(unit).launched;
    let program = &launched.program;
    for head in heads.iter_mut().filter(|head| head.template.is_none()) {
        let mut named = program.kernels.iter().map(|&kernel| &program.functions[kernel]);
        let same = |function: &&crate::resolve::program::Function| {
            let names = function.params.iter().map(|&param| program.variables[param].name.as_str());
            function.name == head.name && names.eq(head.parameters.iter().map(|parameter| parameter.name.as_str()))
        };
        if let Some(function) = named.find(same) {
            let types = function.params.iter().map(|&param| &program.variables[param]);
            for (parameter, variable) in head.parameters.iter_mut().zip(types) {
                parameter.kind = kind(program, variable.ty, variable.is_reference);
            }
        }
    }
    Kernels { heads, launched, dictionary, main }
}

fn main_of(item: &Item) -> Option<Range<usize>> {
    match &item.kind {
        ItemKind::Function(function) => {
            let [only] = &function.path.segments[..] else { return None };
            let span = only.name.span;
            let is_main = function.body.is_some() && only.name.text == "main" && span.expansion.is_none();
            is_main.then_some(span.start as usize..span.end as usize)
        }
        // `extern "C"`.
        ItemKind::Namespace { name, items, .. } if name.text.is_empty() => items.iter().find_map(main_of),
        _ => None,
    }
}

/// The kernels that are defined in `items`, in source order.
fn collect(items: &[Item], outer: &str, heads: &mut Vec<Head>) {
    for item in items {
        match &item.kind {
            ItemKind::Namespace { name, items, .. } if name.text.is_empty() => collect(items, outer, heads),
            ItemKind::Namespace { name, items, .. } => collect(items, &format!("{outer}{}::", name.text), heads),
            ItemKind::Function(function) => {
                let is_kernel = function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel));
                // A specialisation is reached through its template.
                let is_special = function.template.as_ref().is_some_and(Vec::is_empty);
                let is_wanted = is_kernel && function.body.is_some() && !is_special;
                if let Some(last) = function.path.segments.last().filter(|_| is_wanted) {
                    let name = format!("{outer}{}", last.name.text);
                    let parameters = function.params.iter().map(parameter).collect();
                    heads.push(Head { name, template: function.template.as_deref().map(template), parameters });
                }
            }
            _ => {}
        }
    }
}

fn template(params: &[syntax::TemplateParam]) -> Vec<(String, bool)> {
    let is_value = |param: &syntax::TemplateParam| matches!(param.kind, syntax::TemplateParamKind::Value(..));
    params.iter().map(|param| (param.name.text.clone(), is_value(param))).collect()
}

fn parameter(param: &syntax::Param) -> Parameter {
    if param.pack {
        let kind = ParameterKind::Other("a parameter pack".to_owned());
        return Parameter { name: param.name.text.clone(), kind };
    }
    let kind = match &param.ty.kind {
        TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Pointer(_)) => double_pointer(),
        TypeKind::Pointer(_) | TypeKind::Array(..) => ParameterKind::Pointer(Pointee::Unknown),
        TypeKind::Reference(..) => reference(),
        _ => ParameterKind::Dependent,
    };
    Parameter { name: param.name.text.clone(), kind }
}

fn double_pointer() -> ParameterKind {
    ParameterKind::Other("a pointer to pointers".to_owned())
}

fn reference() -> ParameterKind {
    ParameterKind::Other("a reference".to_owned())
}

/// What a parameter takes that is resolved.
pub(super) fn kind_of(program: &Program, variable: &Variable) -> ParameterKind {
    kind(program, variable.ty, variable.is_reference)
}

fn kind(program: &Program, ty: TypeId, is_reference: bool) -> ParameterKind {
    if is_reference {
        return reference();
    }
    match &program.types[ty] {
        Type::Pointer { to, .. } if matches!(program.types[*to], Type::Pointer { .. }) => double_pointer(),
        Type::Pointer { to, .. } | Type::Array { of: to, .. } => ParameterKind::Pointer(pointee(program, *to)),
        Type::Vector { of, lanes } => match scalar(&program.types[*of]) {
            Some(scalar) => ParameterKind::Scalars { scalar, lanes: *lanes },
            None => ParameterKind::Other("a vector of a type that is not known".to_owned()),
        },
        Type::Record(record) => structure(program, *record),
        Type::Unknown(name) if is_texture_object(name) => ParameterKind::Texture,
        Type::Unknown(name) => ParameterKind::Other(format!("of the type {name}, which is not known")),
        other => match scalar(other) {
            Some(scalar) => ParameterKind::Scalars { scalar, lanes: 1 },
            None => ParameterKind::Other("of a type without values".to_owned()),
        },
    }
}

/// What a pointer to that type leads to.
fn pointee(program: &Program, to: TypeId) -> Pointee {
    let element = match &program.types[to] {
        Type::Vector { of, lanes } => scalar(&program.types[*of]).map(|scalar| ElementType { scalar, lanes: *lanes }),
        other => scalar(other).map(|scalar| ElementType { scalar, lanes: 1 }),
    };
    match (element, program.size_of(to)) {
        (Some(element), _) => Pointee::Numbers(element),
        (None, Some(bytes)) if bytes > 0 => Pointee::Bytes(bytes),
        _ => Pointee::Unknown,
    }
}

/// A struct with its members.
fn structure(program: &Program, id: RecordId) -> ParameterKind {
    let record = &program.records[id];
    let name = if record.name.is_empty() { "without a name" } else { &record.name };
    let unknown = |what: &str| ParameterKind::Other(format!("the struct {name}, {what}"));
    let Some(bytes) = record.bytes.filter(|bytes| (1..=MAX_PARAMETER).contains(bytes)) else {
        return unknown("whose size is not known or too large for a parameter");
    };
    let mut members = Vec::new();
    // What has no name is room between others.
    for field in record.fields.iter().filter(|field| !field.name.is_empty()) {
        let Some(bytes) = program.size_of(field.ty) else { return unknown("which has a member of unknown size") };
        let kind = match field.bit_group_bytes {
            Some(_) => ParameterKind::Other("a bit-field".to_owned()),
            None => member(program, field.ty),
        };
        members.push(Member { name: field.name.clone(), offset: field.offset, bytes, kind });
    }
    ParameterKind::Struct(Record { name: name.to_owned(), bytes, align: record.align, members })
}

fn member(program: &Program, ty: TypeId) -> ParameterKind {
    let mut element = ty;
    let mut count: Option<u64> = Some(1);
    while let Type::Array { of, len } = &program.types[element] {
        count = count.zip(*len).and_then(|(count, len)| count.checked_mul(len));
        element = *of;
    }
    match (scalar(&program.types[element]), count) {
        _ if element == ty => kind(program, ty, false),
        (Some(scalar), Some(count)) => ParameterKind::Array { scalar, count },
        _ => ParameterKind::Other("an array of something else than numbers".to_owned()),
    }
}

fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Bool => Some(Scalar::Bool),
        Type::Int { width, signed } => Some(Scalar::Integer { bytes: width / 8, signed: *signed }),
        Type::Float { width } if *width <= 64 => Some(Scalar::Float { bytes: width / 8 }),
        _ => None,
    }
}

/// A kernel that can be launched as it is: one that is no template, or an instance that the file itself launches.
pub(super) struct Instance<'k> {
    /// How a launch description names it.
    pub(super) kernel: String,
    pub(super) target: Target,
    /// Launches in host code.
    pub(super) launches: Vec<&'k launch::Launch>,
}

impl Kernels {
    /// The kernels that can be launched as they are.
    pub(super) fn instances(&self) -> Vec<Instance<'_>> {
        let Program { kernels, functions, variables, .. } = &self.launched.program;
        let mut found: Vec<Instance<'_>> = Vec::new();
        for &id in kernels {
            let function = &functions[id];
            let arguments = function.template_args.join(", ");
            let kernel =
                if arguments.is_empty() { function.name.clone() } else { format!("{}<{arguments}>", function.name) };
            let parameter = |&id| {
                let variable: &Variable = &variables[id];
                Parameter { name: variable.name.clone(), kind: kind_of(&self.launched.program, variable) }
            };
            let target =
                Target { name: format!("::{kernel}"), parameters: function.params.iter().map(parameter).collect() };
            // Where nothing names an instance, the types of the template are taken for granted.
            let is_template = |head: &Head| head.name == function.name && head.template.is_some();
            let is_named = !arguments.is_empty() || !self.heads.iter().any(is_template);
            let is_there = function.body.is_some() && is_named && is_argument_list(split(&kernel).1);
            if is_there && found.iter().all(|other| other.kernel != kernel) {
                found.push(Instance { kernel, target, launches: self.launched.launches_of(id).collect() });
            }
        }
        found
    }

    /// The text with its `main` under another name, if it has one: a program that has another `main` is put behind it.
    pub(super) fn without_main(&self, text: &str) -> Option<String> {
        let range = self.main.clone().filter(|range| text.get(range.clone()) == Some("main"))?;
        Some(format!("{}raceproof_own_main{}", &text[..range.start], &text[range.end..]))
    }

    /// The names of its kernels.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.heads.iter().map(|head| head.name.as_str())
    }

    /// Whether every kernel that the description launches is there.
    pub(super) fn has_all(&self, description: &Description) -> bool {
        description.launches.iter().all(|launch| !self.named(split(&launch.kernel).0, launch).is_empty())
    }

    /// The kernels that `name` may mean: qualified in full, or the last part of it; overloads by their parameters.
    fn named(&self, name: &str, launch: &Launch) -> Vec<&Head> {
        let name = name.trim_start_matches("::");
        let ends = |head: &Head| head.name.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"));
        let mut found: Vec<&Head> = self.heads.iter().filter(|head| head.name == name).collect();
        if found.is_empty() {
            found = self.heads.iter().filter(|head| ends(head)).collect();
        }
        let fits = |head: &&Head| {
            let is_given = |parameter: &Parameter| launch.arguments.iter().any(|given| given.name == parameter.name);
            head.parameters.len() == launch.arguments.len() && head.parameters.iter().all(is_given)
        };
        match found.iter().copied().find(fits) {
            Some(head) => vec![head],
            None => found,
        }
    }

    fn target(&self, description: &Description, launch: &Launch) -> Result<Target, DescriptionError> {
        let refused = |problem| Err(description.error(launch.place, "launch.kernel", problem));
        let (name, arguments) = split(&launch.kernel);
        let found = self.named(name, launch);
        let Some(head) = found.first() else {
            let known: Vec<String> = self.names().map(str::to_owned).collect();
            let suggestion = likely(name, &known);
            return refused(Problem::UnknownKernel { name: name.to_owned(), suggestion, known });
        };
        if found.iter().any(|other| other.name != head.name) {
            let all: Vec<&str> = found.iter().map(|head| head.name.as_str()).collect();
            return refused(Problem::Other(format!("it may be any of {}", all.join(", "))));
        }
        match (head.template.is_some(), arguments.is_empty()) {
            (true, true) => {
                let problem = format!("it is a template; name an instance, as in \"{name}<float>\"");
                return refused(Problem::Other(problem));
            }
            (false, false) => return refused(Problem::Other("it is no template".to_owned())),
            _ => {}
        }
        if !is_argument_list(arguments) {
            return refused(Problem::Other(format!("`{arguments}` is no list of template arguments")));
        }
        Ok(Target { name: format!("::{}{arguments}", head.name), parameters: head.parameters.clone() })
    }
}

/// The kernel that is likely meant, whether or not its namespace is written.
pub(super) fn likely(name: &str, known: &[String]) -> Option<String> {
    let last = |name: &'_ str| name.rfind("::").map_or(0, |at| at + 2);
    let close = nearest(&name[last(name)..], known.iter().map(|known| &known[last(known)..]))?;
    known.iter().find(|known| known[last(known)..] == close).cloned()
}

/// A name and its template arguments, which begin with `<` if there are any.
pub(super) fn split(kernel: &str) -> (&str, &str) {
    let (name, arguments) = kernel.split_at(kernel.find('<').unwrap_or(kernel.len()));
    (name.trim(), arguments.trim())
}

/// The name of a kernel without namespaces and template arguments.
pub(super) fn plain(kernel: &str) -> &str {
    let name = split(kernel).0;
    name.rsplit("::").next().unwrap_or(name)
}

/// Whether this can stand behind a name without ending the expression that it is in.
fn is_argument_list(text: &str) -> bool {
    let is_fine = |c: char| c.is_alphanumeric() || " _:,<>*&()+-'.".contains(c);
    text.is_empty() || text.starts_with('<') && text.ends_with('>') && text.chars().all(is_fine)
}

/// The program that runs the kernels of a file as the description says; its files are to be put into `directory`.
pub(super) fn program(
    path: &Path,
    text: &str,
    options: &Options,
    description: &Description,
    (directory, telling): (&Path, Telling),
) -> Result<Host, DescriptionError> {
    let alone = kernels(path, text, options);
    let mut targets = Vec::new();
    for launch in &description.launches {
        targets.push(alone.target(description, launch)?);
    }
    // Types are found out from launches as the language has them.
    let mut plain = description.clone();
    for launch in &mut plain.launches {
        (launch.blocks, launch.cluster) = (Blocks::Independent, None);
    }
    let draft = host::program(&plain, &targets, directory, telling)?;
    let depends = |target: &Target| target.parameters.iter().any(|each| each.kind == ParameterKind::Dependent);
    if !targets.iter().any(depends) {
        return host::program(description, &targets, directory, telling);
    }
    let launched = kernels(path, &format!("{text}{}", draft.text), options).launched;
    let whole = &launched.program;
    let behind: Vec<_> = launched.launches().iter().filter(|launch| launch.span.start as usize >= text.len()).collect();
    if behind.len() == targets.len() {
        for (target, launch) in targets.iter_mut().zip(behind).filter(|(target, _)| depends(target)) {
            let params = &whole.functions[launch.kernel].params;
            for (parameter, &param) in target.parameters.iter_mut().zip(params) {
                let variable = &whole.variables[param];
                let is_known = !matches!(whole.types[variable.ty], Type::Unknown(_));
                if parameter.kind == ParameterKind::Dependent && parameter.name == variable.name && is_known {
                    parameter.kind = kind(whole, variable.ty, variable.is_reference);
                }
            }
        }
    }
    host::program(description, &targets, directory, telling)
}
