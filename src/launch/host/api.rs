//! The API of launches that are calls: `cudaLaunchKernel(kernel, grid, block, args, bytes, stream)`, its cooperative
//! form and those of HIP, whose arguments stand in an array of addresses; `cudaLaunchKernelEx(&config, kernel, args…)`,
//! whose sizes stand in a structure, and `cudaLaunchKernelExC`, which has both. Attributes of such a structure may say
//! how large clusters are.
//!
//! An array of addresses is read where it is a local that is initialised by a list and used for nothing but such calls;
//! a configuration, if it is a local that only calls of the API take the address of.
//!
//! Deliberately absent: arrays of addresses that are filled element by element, and the driver API (`cuLaunchKernel`),
//! whose kernels are found by name at run time.

use crate::builtins::launches::{self, LaunchCall};
use crate::resolve::program::VariableId;
use crate::syntax::parts::{exprs_of_stmt, stmts_in, visit};
use crate::syntax::{self, ExprKind, Item, ItemKind, StmtKind, TypeKind, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The fields of a configuration that say something of a launch, in the order in which it has them.
pub(super) const FIELDS: [&str; 6] = ["gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"];

/// What is known of a function's arrays of addresses, configurations and attributes of launches.
#[derive(Default)]
pub(super) struct Prepared<'u> {
    /// The objects whose addresses an array holds, in its order; `None` for one that is not understood.
    pub(super) arrays: FxHashMap<VariableId, Vec<Option<&'u syntax::Expr>>>,
    /// The variables that stand for the fields of a configuration.
    pub(super) configs: FxHashMap<VariableId, [VariableId; FIELDS.len()]>,
    /// The variables that stand for the size of clusters that attributes state.
    pub(super) attributes: FxHashMap<VariableId, VariableId>,
    /// The attributes of a configuration; `None` if they are given more than once.
    pub(super) attached: FxHashMap<VariableId, Option<VariableId>>,
}

impl Prepared<'_> {
    /// The variable that stands for a field of a configuration.
    pub(super) fn field(&self, config: VariableId, name: &str) -> Option<VariableId> {
        let at = FIELDS.iter().position(|field| *field == name)?;
        self.configs.get(&config).map(|fields| fields[at])
    }

    /// The variables that stand for parts of a configuration or of attributes.
    pub(super) fn parts(&self, whole: VariableId) -> Vec<VariableId> {
        let fields = self.configs.get(&whole).into_iter().flatten();
        fields.chain(self.attributes.get(&whole)).copied().collect()
    }
}

/// How a call launches a kernel, and its arguments; `None` if it launches none.
pub(super) fn launching_call(value: &syntax::Expr) -> Option<(LaunchCall, &[syntax::Expr])> {
    let ExprKind::Call(callee, args) = &value.kind else { return None };
    let ExprKind::Path(path) = &callee.kind else { return None };
    Some((LaunchCall::named(&path.segments.last()?.name.text)?, args))
}

/// The argument of a call that launches a kernel which names the kernel.
pub(super) fn launched_argument(value: &syntax::Expr) -> Option<usize> {
    launching_call(value).map(|(launch, _)| launch.kernel_argument())
}

/// Whether an expression is a call that launches a kernel.
pub(super) fn is_launching_call(value: &syntax::Expr) -> bool {
    launching_call(value).is_some()
}

/// The names of arrays of pointers that a body uses for launches alone, and of configurations and attributes that it
/// uses for calls of the API and member by member.
pub(super) fn for_launches(body: &[syntax::Stmt]) -> FxHashSet<&str> {
    let mut uses: FxHashMap<&str, i64> = FxHashMap::default();
    let mut open: Vec<&syntax::Stmt> = body.iter().collect();
    let mut others: FxHashSet<&str> = FxHashSet::default();
    while let Some(stmt) = open.pop() {
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                if is_array_of_pointers(&variable.ty) || is_config(&variable.ty) || is_attribute(&variable.ty) {
                    uses.insert(&variable.name.text, 0);
                } else {
                    others.insert(&variable.name.text);
                }
            }
        }
        open.extend(stmts_in(stmt));
    }
    uses.retain(|name, _| !others.contains(name));
    let mut count = |name: Option<&str>, by: i64| {
        if let Some(known) = name.and_then(|name| uses.get_mut(name)) {
            *known += by;
        }
    };
    for value in body.iter().flat_map(exprs_of_stmt) {
        visit(value, |part| match &part.kind {
            ExprKind::Path(_) => count(simple_name(part), 1),
            ExprKind::Call(callee, args) if is_api(callee) => {
                for argument in args {
                    match addressed(argument) {
                        Some(config) => count(simple_name(config), -1),
                        None if is_launching_call(part) => count(simple_name(without_casts(argument)), -1),
                        None => {}
                    }
                }
            }
            ExprKind::Member { object, arrow: false, .. } => match &object.kind {
                ExprKind::Index(array, _) => count(simple_name(array), -1),
                _ => count(simple_name(object), -1),
            },
            // `config.attrs = attributes`
            ExprKind::Assign(None, target, given) if is_member(target, "attrs") => {
                count(simple_name(addressed(given).unwrap_or(given)), -1);
            }
            _ => {}
        });
    }
    uses.into_iter().filter(|(_, others)| *others == 0).map(|(name, _)| name).collect()
}

/// Whether a function is one of the API, which changes nothing but what it is documented to.
fn is_api(callee: &syntax::Expr) -> bool {
    match &callee.kind {
        ExprKind::Path(path) => path.segments.last().is_some_and(|last| launches::is_api(&last.name.text)),
        _ => false,
    }
}

/// `void *args[]`
pub(super) fn is_array_of_pointers(ty: &syntax::Type) -> bool {
    match &ty.kind {
        TypeKind::Array(inner, _) => matches!(inner.kind, TypeKind::Pointer(_)),
        _ => false,
    }
}

pub(super) fn is_config(ty: &syntax::Type) -> bool {
    is_named(ty, launches::CONFIGURATION)
}

/// `cudaLaunchAttribute attributes[2]`
pub(super) fn is_attribute(ty: &syntax::Type) -> bool {
    match &ty.kind {
        TypeKind::Array(inner, _) => is_attribute(inner),
        _ => is_named(ty, launches::ATTRIBUTE),
    }
}

fn is_named(ty: &syntax::Type, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().is_some_and(|last| last.name.text == name),
        _ => false,
    }
}

fn is_member(value: &syntax::Expr, name: &str) -> bool {
    matches!(&value.kind, ExprKind::Member { member, arrow: false, .. } if member.name.text == name)
}

/// The kernel, or the pointer to one, that the first argument of a launch names.
pub(super) fn named_kernel(value: &syntax::Expr) -> Option<&syntax::Path> {
    let value = without_casts(value);
    match &without_casts(addressed(value).unwrap_or(value)).kind {
        ExprKind::Path(path) => Some(path),
        _ => None,
    }
}

/// `x` of `&x`, through casts.
pub(super) fn addressed(value: &syntax::Expr) -> Option<&syntax::Expr> {
    match &without_casts(value).kind {
        ExprKind::Unary(UnaryOp::AddressOf, object) => Some(object),
        _ => None,
    }
}

pub(super) fn without_casts(value: &syntax::Expr) -> &syntax::Expr {
    let mut value = value;
    while let ExprKind::Cast(_, _, inner) = &value.kind {
        value = inner;
    }
    value
}

/// A name without namespaces and template arguments.
pub(super) fn simple_name(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Path(path) if path.segments.len() == 1 => Some(&path.segments[0].name.text),
        _ => None,
    }
}
