//! Function and variable templates with parameter packs: how many arguments each pack has at a use, and the template without packs that
//! it is there ([`crate::syntax::unpack`]).
//!
//! Guarantees: a template is unpacked once for each number of arguments, so that its instances are what they would be of a template that
//! was written without packs.
//!
//! Deliberately absent: packs whose length follows from the arguments of a class (`index_sequence<I...>`), packs of classes and alias templates, and
//! packs of parameters that stand before other parameters. Of these nobody makes a candidate.

use crate::syntax::{self, TemplateArg, TemplateParam, unpack};
use rustc_hash::FxHashMap;

/// What templates with packs have been made into.
#[derive(Debug)]
pub(super) struct Packs<'u> {
    /// Where what is made is kept.
    made: &'u unpack::Made,
    functions: FxHashMap<(usize, Vec<usize>), Option<&'u syntax::Function>>,
    variables: FxHashMap<(usize, Vec<usize>), Option<&'u syntax::Variable>>,
    /// The template that a function was made of, by the addresses of their syntax.
    origins: FxHashMap<usize, usize>,
}

impl<'u> Packs<'u> {
    /// Nothing yet; what is made will be kept there.
    pub(super) fn kept_in(made: &'u unpack::Made) -> Self {
        let (functions, variables, origins) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Packs { made, functions, variables, origins }
    }

    /// Whether a function was made out of a template.
    pub(super) fn is_made_of(&self, function: &syntax::Function, template: &syntax::Function) -> bool {
        self.origins.get(&address(function)) == Some(&address(template))
    }

    /// The template without packs that a function template with these parameters of its own is for so many arguments; one that has no packs is
    /// what it is. `None` where it is not known how long the packs are, or so many arguments do not fit.
    pub(super) fn function(
        &mut self,
        template: &'u syntax::Function,
        own: &[TemplateParam],
        written: &[TemplateArg],
        count: usize,
    ) -> Option<&'u syntax::Function> {
        if !has_pack(own) {
            return Some(template);
        }
        let key = (address(template), lengths(own, &template.params, written, count)?);
        if let Some(known) = self.functions.get(&key) {
            return *known;
        }
        let first = template.template.as_ref().map_or(0, Vec::len) - own.len();
        let function = unpack::function(template, first, &key.1);
        let kept = function.and_then(|function| self.made.function(function));
        if let Some(kept) = kept {
            self.origins.insert(address(kept), address(template));
        }
        self.functions.insert(key, kept);
        kept
    }

    /// The same of a variable template.
    pub(super) fn variable(
        &mut self,
        template: &'u syntax::Variable,
        written: &[TemplateArg],
    ) -> Option<&'u syntax::Variable> {
        if !has_pack(&template.template) {
            return Some(template);
        }
        let key = (address(template), lengths(&template.template, &[], written, 0)?);
        if let Some(known) = self.variables.get(&key) {
            return *known;
        }
        let variable = unpack::variable(template, &key.1);
        let kept = variable.and_then(|variable| self.made.variable(variable));
        self.variables.insert(key, kept);
        kept
    }
}

/// How many parameters of a function stand before its pack of parameters; all, where it has none.
pub(super) fn before_pack(function: &syntax::Function) -> usize {
    function.params.iter().position(|param| param.pack).unwrap_or(usize::MAX)
}

pub(super) fn has_pack(params: &[TemplateParam]) -> bool {
    params.iter().any(|param| param.pack)
}

/// How long each pack is among the parameters of a template, 0 for those that are none, where so many arguments are given to a function with
/// these parameters, and these arguments to the template.
fn lengths(
    own: &[TemplateParam],
    params: &[syntax::Param],
    written: &[TemplateArg],
    count: usize,
) -> Option<Vec<usize>> {
    if unpack::is_open(written) {
        return None;
    }
    let pack = match params.iter().position(|param| param.pack) {
        // What stands behind it deduces nothing.
        Some(at) if at + 1 < params.len() => return None,
        Some(at) => Some((&params[at], count.checked_sub(at)?)),
        None => None,
    };
    let mut lengths = vec![0; own.len()];
    let mut left = written.len();
    for (at, param) in own.iter().enumerate() {
        if !param.pack {
            left = left.saturating_sub(1);
            continue;
        }
        // A pack takes all that is written from there on.
        let written = std::mem::take(&mut left);
        lengths[at] = match pack {
            Some((of, length)) if mentions(&of.ty, param) => {
                if written > length {
                    return None;
                }
                length
            }
            // It may follow from the argument of a class.
            _ if params.iter().any(|other| !other.pack && mentions(&other.ty, param)) => return None,
            _ => written,
        };
    }
    Some(lengths)
}

/// Whether a type as written mentions a parameter of a template.
fn mentions(ty: &syntax::Type, param: &TemplateParam) -> bool {
    let text = syntax::type_text(ty);
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == param.name.text)
}

fn address<T>(syntax: &T) -> usize {
    std::ptr::from_ref(syntax) as usize
}
