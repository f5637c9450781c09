//! Calls among host functions: with what arguments they are called, and which functions have to be looked at.
//!
//! A host function that launches is looked at once for each set of template arguments and constant arguments
//! that the calls in the unit give it, and once with open parameters if it may be called in other ways: if
//! nothing in the unit calls it, if its name is used other than in a call, if a call does not show which
//! function it means, or if another unit may call it (see [`super::unit`]).
//!
//! Guarantees: whatever is not looked at for its own arguments, because there are too many or the work that a file may take is
//! done, is looked at with open parameters.
//!
//! Deliberately absent: which function a call means ([`super::callees`]).

use super::found::Target;
use super::unit::Code;
use crate::launch::Relation;
use crate::resolve::{FunctionDecl, Lanes, TemplateValue};
use crate::syntax;
use crate::work;
use rustc_hash::FxHashSet;

/// Instances of host functions beyond which calls are no longer told apart.
const HOST_LIMIT: usize = 256;

/// What is known of an argument of a host function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Argument<'u> {
    /// Nothing.
    #[default]
    Unknown,
    /// It is this number.
    Number(i128),
    /// It is a `dim3` with these lanes, as far as they are known.
    Lanes(Lanes),
    /// It is a pointer to one of these kernels.
    Kernels(Vec<Target<'u>>),
}

impl<'u> Argument<'u> {
    /// The kernels that it may point to.
    pub(super) fn kernels(&self) -> &[Target<'u>] {
        match self {
            Argument::Kernels(kernels) => kernels,
            _ => &[],
        }
    }
}

/// A host function with the arguments of some of its calls.
#[derive(Clone, Debug)]
pub(super) struct Instance<'u> {
    pub(super) decl: FunctionDecl<'u>,
    /// Template arguments.
    pub(super) values: Vec<TemplateValue>,
    /// Arguments by position; those that are not there are unknown, and the last one is not.
    pub(super) args: Vec<Argument<'u>>,
    /// How the arguments are related.
    pub(super) relations: Vec<Relation>,
}

impl<'u> Instance<'u> {
    /// A function of which nothing is known.
    pub(super) fn open(decl: FunctionDecl<'u>) -> Self {
        let open = vec![TemplateValue::Unknown; decl.syntax.template.as_ref().map_or(0, Vec::len)];
        Instance { decl, values: open, args: Vec::new(), relations: Vec::new() }
    }

    /// Whether it is a function of which nothing is known.
    fn is_open(&self) -> bool {
        let is_unknown = |value: &TemplateValue| matches!(value, TemplateValue::Unknown);
        self.args.is_empty() && self.relations.is_empty() && self.values.iter().all(is_unknown)
    }

    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.decl.syntax, other.decl.syntax)
            && self.decl.scope == other.decl.scope
            && self.values == other.values
            && self.args == other.args
            && self.relations == other.relations
    }
}

/// The functions that have to be looked at.
#[derive(Default)]
pub(super) struct Calls<'u> {
    /// Names of launching functions of which not all calls are known.
    pub(super) open: FxHashSet<&'u str>,
    /// Names of functions that are not looked at for all arguments that are known, templates among them.
    dropped: FxHashSet<&'u str>,
    /// Host functions with the arguments that calls and instantiations give them, without repetition.
    instances: Vec<Instance<'u>>,
    /// How many of them have been looked at.
    done: usize,
    /// How many classes have been looked at.
    pub(super) classes: usize,
}

impl<'u> Calls<'u> {
    /// None yet; these names are of functions of which not all calls are known.
    pub(super) fn of(open: FxHashSet<&'u str>) -> Self {
        Calls { open, ..Calls::default() }
    }

    /// The next function to look at.
    pub(super) fn next_instance(&mut self) -> Option<Instance<'u>> {
        loop {
            let next = self.instances.get(self.done).cloned()?;
            self.done += 1;
            if !work::is_over() || next.is_open() {
                return Some(next);
            }
            self.drop(&next);
        }
    }

    /// The function is to be looked at with open parameters instead.
    fn drop(&mut self, instance: &Instance<'u>) {
        self.open.insert(instance.decl.syntax.name());
        self.dropped.insert(instance.decl.syntax.name());
    }

    /// Whether a function has been looked at.
    pub(super) fn looked_at(&self, function: &syntax::Function) -> bool {
        self.instances[..self.done].iter().any(|instance| std::ptr::eq(instance.decl.syntax, function))
    }

    /// Whether a function has to be looked at with open parameters.
    pub(super) fn needs_open(&self, function: &syntax::Function, code: &Code<'u>) -> bool {
        let is_known = self.instances.iter().any(|known| std::ptr::eq(known.decl.syntax, function));
        let name = function.name();
        !is_known || self.dropped.contains(name) || !code.is_template(function) && self.open.contains(name)
    }

    /// Adds a function to be looked at, unless it has been added before.
    pub(super) fn add_instance(&mut self, mut instance: Instance<'u>) {
        while instance.args.pop_if(|last| *last == Argument::Unknown).is_some() {}
        if self.instances.len() >= HOST_LIMIT || work::is_over() && !instance.is_open() {
            self.drop(&instance);
        } else if !self.instances.iter().any(|known| known.is_same(&instance)) {
            self.instances.push(instance);
        }
    }

    /// Adds a function to be looked at with open parameters, of which there are no more than functions.
    pub(super) fn add_open(&mut self, decl: FunctionDecl<'u>) {
        let instance = Instance::open(decl);
        if !self.instances.iter().any(|known| known.is_same(&instance)) {
            self.instances.push(instance);
        }
    }
}
