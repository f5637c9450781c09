//! Declarations: kernels with their log, functions with who calls them, variables of the program.

use super::types::{NoValue, Space, space};
use super::{Home, Kernel, Local, MOST_POINTERS, MOST_VARIABLES, Parameter, ParameterKind, Translator};
use super::{counters, orders};
use crate::instrument::Purpose;
use crate::syntax::{self, Item, ItemKind, Param, Qualifier, TypeKind, Unit, Variable};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The parameter of a kernel that the log comes in, and of any other function: the work-item that calls it.
const LOG: &str = "__global ulong *raceproof_log";
const SELF: &str = "__private raceproof_item *raceproof_self";
/// The parameter of a kernel that counts.
const COUNTS: &str = "__global uint *raceproof_counts";

/// A function of the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'a> {
    pub(super) result: Option<&'a syntax::Type>,
    pub(super) has_body: bool,
    pub(super) is_kernel: bool,
}

/// The functions of a unit by name.
pub(super) fn collect(unit: &Unit) -> FxHashMap<&str, Function<'_>> {
    let mut found: FxHashMap<&str, Function<'_>> = FxHashMap::default();
    for item in &unit.items {
        let ItemKind::Function(function) = &item.kind else { continue };
        let Some(name) = name_of(function) else { continue };
        let known = found.entry(name).or_insert(Function {
            result: function.result.as_ref(),
            has_body: false,
            is_kernel: false,
        });
        known.has_body |= function.body.is_some();
        known.is_kernel |= is_kernel(function);
    }
    found
}

fn name_of(function: &syntax::Function) -> Option<&str> {
    function.path.segments.last().map(|segment| segment.name.text.as_str())
}

fn is_kernel(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel))
}

impl<'a> Translator<'a> {
    /// Walks the whole unit.
    pub(super) fn unit(&mut self) {
        for item in &self.source.unit.items {
            self.types.item(item);
            match &item.kind {
                ItemKind::Function(function) => self.walk_function(item, function),
                ItemKind::Variables(variables) => {
                    variables.iter().for_each(|variable| self.program_variable(variable));
                }
                ItemKind::Unsupported(reason) => self.unread(item, reason),
                _ => {}
            }
        }
    }

    /// A declaration that could not be read may be code.
    fn unread(&mut self, item: &Item, reason: &str) {
        let braces = self.tokens.range(item.span).is_none_or(|mut range| range.any(|at| self.tokens.text(at) == "{"));
        if braces {
            self.notes.leave_out(item.span, reason);
        }
    }

    /// A variable outside of functions: constant, or, since OpenCL C 2.0, in global memory.
    fn program_variable(&mut self, variable: &'a Variable) {
        let declared = [space(&variable.qualifiers), space(&variable.ty.qualifiers)];
        let is_sampler =
            matches!(self.types.value_words(&variable.ty), Err(NoValue::Other(words)) if words.contains("sampler_t"));
        let is_extern = variable.qualifiers.iter().any(|it| matches!(it, Qualifier::Extern)) && variable.init.is_none();
        let home = if declared.contains(&Space::Constant) || is_sampler { Home::Own } else { Home::Memory };
        if home == Home::Memory && !is_extern {
            self.globals.push(variable.name.text.clone());
        }
        let shape = self.types.shape(&variable.ty);
        self.declare(&variable.name.text, Local { home, shape });
    }

    fn walk_function(&mut self, item: &'a Item, function: &'a syntax::Function) {
        let Some(name) = name_of(function) else { return };
        let Some(&known) = self.functions.get(name) else { return };
        self.notes.enter(name.to_owned());
        let parameters = self.parameter_list(function);
        let added = match self.source.purpose {
            _ if !known.is_kernel => SELF,
            Purpose::Log => LOG,
            Purpose::Schedule => orders::PARAMETER,
            _ => COUNTS,
        };
        match parameters {
            _ if !known.is_kernel && !known.has_body => {}
            None => self.notes.leave_out(item.span, "function whose parameters cannot be found"),
            Some((open, close)) => {
                let is_empty = close == open + 1 || (close == open + 2 && self.tokens.text(open + 1) == "void");
                match (known.is_kernel, is_empty) {
                    (_, true) => self.edits.replace(open..close + 1, format!("({added})")),
                    (true, false) => self.edits.before(close, format!(", {added}")),
                    (false, false) => self.edits.after(open, format!("{added}, ")),
                }
            }
        }
        if let Some(body) = &function.body {
            self.course.bodies.push(self.tokens.sources().visible(self.tokens.place_of(item.span)));
            self.scoped(|translator| {
                for param in &function.params {
                    let shape = translator.types.shape(&param.ty).as_parameter();
                    translator.declare(&param.name.text, Local { home: Home::Own, shape });
                }
                translator.course.enter(translator.tokens, body);
                translator.course.is_of_kernel = known.is_kernel;
                if known.is_kernel {
                    translator.kernel(item, function, name);
                }
                if translator.source.purpose == Purpose::Schedule {
                    orders::hand_on(translator, item);
                } else {
                    translator.block(body);
                }
            });
        }
        self.course.is_of_kernel = false;
        self.notes.enter(String::new());
    }

    /// The tokens of the parentheses around the parameters.
    fn parameter_list(&self, function: &syntax::Function) -> Option<(usize, usize)> {
        let name = self.tokens.range(function.path.segments.last()?.name.span)?;
        let open = Some(name.end).filter(|&at| self.tokens.text(at) == "(")?;
        Some((open, self.tokens.partner(open)?))
    }

    /// The beginning of a kernel: its work-item, and the memory that it was given.
    fn kernel(&mut self, item: &'a Item, function: &'a syntax::Function, name: &str) {
        let open = self.tokens.range(item.span).and_then(|range| {
            let close = range.end - 1;
            self.tokens.partner(close).filter(|_| self.tokens.text(close) == "}")
        });
        let Some(open) = open else {
            return self.refuse(item.span, "a kernel whose body cannot be found");
        };
        let parameters: Vec<Parameter> = function.params.iter().map(|param| self.parameter(param)).collect();
        let (span, globals) = (self.tokens.place_of(item.span), self.globals.clone());
        let kernel = Kernel { name: name.to_owned(), span, parameters, locals: Vec::new(), globals };
        let head = if self.source.purpose == Purpose::Schedule {
            orders::BEGINNING.to_owned()
        } else if self.counts() {
            let holds_barriers = self.course.holds(name);
            if holds_barriers { counters::BEGINNING_WITH_BARRIERS } else { counters::BEGINNING }.to_owned()
        } else {
            self.log_head(item, function, &kernel)
        };
        self.edits.after(open, head);
        self.shared.kernels.push(kernel);
    }

    /// What a kernel that logs begins with.
    fn log_head(&mut self, item: &'a Item, function: &'a syntax::Function, kernel: &Kernel) -> String {
        let mut head = String::from(
            " __local ulong raceproof_sink[16]; __local long raceproof_votes[2]; raceproof_item raceproof_me; \
             __private raceproof_item *raceproof_self = &raceproof_me; \
             raceproof_begin(raceproof_self, raceproof_log, raceproof_sink, raceproof_votes);",
        );
        let (mut pointers, mut ranges) = (0, [0; 2]);
        for (param, parameter) in function.params.iter().zip(&kernel.parameters) {
            let range = match parameter.kind {
                ParameterKind::Global | ParameterKind::Constant => &mut ranges[0],
                ParameterKind::Local => &mut ranges[1],
                _ => continue,
            };
            let name = &parameter.name;
            if !name.is_empty() {
                self.make_assignable(param);
                // Writing to a string cannot fail.
                let _ = write!(
                    head,
                    " {name} = (__typeof__({name}))raceproof_parameter(raceproof_self, {pointers}, {range}, {name});",
                );
            }
            pointers += 1;
            *range += 1;
        }
        for (number, variable) in self.globals.iter().enumerate() {
            let (range, number) = (ranges[0] + number, MOST_VARIABLES + number);
            let _ =
                write!(head, " raceproof_variable(raceproof_self, {number}, {range}, &{variable}, sizeof {variable});");
        }
        if pointers > MOST_POINTERS || self.globals.len() > MOST_VARIABLES {
            self.refuse(item.span, format!("a kernel with more than {MOST_POINTERS} pointers, or a program with more than {MOST_VARIABLES} variables,"));
        }
        head
    }

    fn parameter(&self, param: &'a Param) -> Parameter {
        let kind = match self.types.pointee_space(&param.ty) {
            Some(Space::Global) => ParameterKind::Global,
            Some(Space::Constant) => ParameterKind::Constant,
            Some(Space::Local) => ParameterKind::Local,
            Some(Space::Other) => ParameterKind::Unsupported("a pointer without an address space".to_owned()),
            None => match self.types.value_words(&param.ty) {
                Ok(words) => ParameterKind::Value(words),
                Err(what) => ParameterKind::Unsupported(what.to_string()),
            },
        };
        Parameter { name: param.name.text.clone(), kind }
    }

    /// Takes the `const` of a parameter itself away: the kernel's beginning sets it.
    fn make_assignable(&mut self, param: &Param) {
        let is_pointer = matches!(param.ty.kind, TypeKind::Pointer(_));
        let Some(name) = self.tokens.range(param.name.span).filter(|_| is_pointer) else { return };
        let mut at = name.start;
        while at > 0 && matches!(self.tokens.text(at - 1), "const" | "restrict" | "__restrict" | "volatile") {
            at -= 1;
            if self.tokens.text(at) == "const" {
                self.edits.replace(at..at + 1, "");
            }
        }
    }

    /// A local variable of a kernel is told to the log where it is declared.
    pub(super) fn local_storage(&mut self, item: &Item, variables: &'a [Variable]) {
        let is_local = |variable: &&Variable| {
            [space(&variable.qualifiers), space(&variable.ty.qualifiers)].contains(&Space::Local)
                && !matches!(variable.ty.kind, TypeKind::Pointer(_))
        };
        if self.counts() {
            return;
        }
        let mut text = String::new();
        for variable in variables.iter().filter(is_local) {
            let Some(kernel) = self.shared.kernels.last_mut().filter(|_| self.course.is_of_kernel) else {
                self.notes.leave_out(variable.span, "local variable outside of a kernel");
                continue;
            };
            let (range, number) = (kernel.local_ranges().count(), kernel.locals.len());
            let name = &variable.name.text;
            kernel.locals.push(name.clone());
            // Writing to a string cannot fail.
            let _ = write!(text, " raceproof_variable(raceproof_self, {number}, {range}, &{name}, sizeof {name});");
            if number >= MOST_VARIABLES {
                self.refuse(variable.span, format!("a kernel with more than {MOST_VARIABLES} local variables"));
            }
        }
        match self.tokens.range(item.span) {
            _ if text.is_empty() => {}
            Some(range) => self.edits.after(range.end - 1, text),
            None => self.notes.leave_out(item.span, "declaration in a macro that cannot be taken apart"),
        }
    }
}
