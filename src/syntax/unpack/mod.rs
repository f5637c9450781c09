//! Templates with parameter packs, unpacked: what a function or variable template is where it is known how many arguments each of its
//! packs has.
//!
//! With two arguments `template <typename... T> void f(T... x) { g(x...); }` is
//! `template <typename T#0, typename T#1> void f(T#0 x#0, T#1 x#1) { g(x#0, x#1); }`. No name that can be written has a `#`. From there on it is
//! a template like any other, and nobody needs to know of packs.
//!
//! Guarantees: patterns and fold expressions are expanded as C++17 says ([temp.variadic], [expr.prim.fold]), in the order of the elements.
//! What cannot be is left as it stands, which nobody understands: nothing is dropped.
//!
//! Deliberately absent: which arguments packs have, which is for whoever resolves names; packs of classes, packs that a lambda captures
//! by name, bases and `using` that are expanded.

mod made;
mod walk;

pub use made::Made;

use super::{Function, Param, TemplateArg, TemplateParam, TemplateParamKind, Variable};
use walk::Walk;

/// No pack is longer: what is made of it grows with it.
const LONGEST: usize = 256;

/// The function that a template is whose own packs, among its template parameters from `first` on, have so many arguments, by position;
/// those that are no packs have none. `None` where a name of a pack means something else inside, or a pack of parameters has no length.
pub fn function(template: &Function, first: usize, lengths: &[usize]) -> Option<Function> {
    let mut function = template.clone();
    let mut walk = Walk::default();
    let params = function.template.take().unwrap_or_default();
    // Without parameters it is no template: `template <>` is a specialisation.
    function.template = Some(template_params(&mut walk, params, first, lengths)?).filter(|params| !params.is_empty());
    let mut unpacked = Vec::new();
    for param in std::mem::take(&mut function.params) {
        if param.pack {
            unpacked.extend(elements(&mut walk, &param)?);
        } else {
            unpacked.push(param);
        }
    }
    // Names of parameters may stand in the types of others and behind them.
    for mut param in unpacked {
        walk.param(&mut param);
        function.params.push(param);
    }
    walk.function(&mut function);
    walk.is_whole().then_some(function)
}

/// The same of a variable template.
pub fn variable(template: &Variable, lengths: &[usize]) -> Option<Variable> {
    let mut variable = template.clone();
    let mut walk = Walk::default();
    variable.template = template_params(&mut walk, std::mem::take(&mut variable.template), 0, lengths)?;
    walk.declaration(&mut variable);
    walk.is_whole().then_some(variable)
}

/// Whether how many arguments there are, and which, depends on a pack that nobody has expanded.
pub fn is_open(args: &[TemplateArg]) -> bool {
    args.iter().any(|argument| matches!(argument, TemplateArg::Expansion(_)))
}

fn template_params(
    walk: &mut Walk,
    params: Vec<TemplateParam>,
    first: usize,
    lengths: &[usize],
) -> Option<Vec<TemplateParam>> {
    let mut unpacked = Vec::new();
    for (at, param) in params.into_iter().enumerate() {
        if at < first || !param.pack {
            unpacked.push(param);
            continue;
        }
        let length = *lengths.get(at - first)?;
        if length > LONGEST || matches!(param.kind, TemplateParamKind::Template(_)) {
            return None;
        }
        walk.add(&param.name, length);
        for at in 0..length {
            unpacked.push(TemplateParam { name: walk::element(&param.name, at), pack: false, ..param.clone() });
        }
    }
    unpacked.iter_mut().for_each(|param| walk.template_param(param));
    Some(unpacked)
}

/// The parameters that a pack of parameters is: as many as the packs in its type have elements.
fn elements(walk: &mut Walk, param: &Param) -> Option<Vec<Param>> {
    let types = walk.expanded(&param.ty, Walk::ty)?;
    walk.add(&param.name, types.len());
    let element = |(at, ty)| Param { name: walk::element(&param.name, at), ty, pack: false, ..param.clone() };
    Some(types.into_iter().enumerate().map(element).collect())
}
