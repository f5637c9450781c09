//! Launches that are calls: `cudaLaunchKernel(kernel, grid, block, args, bytes, stream)`, its cooperative form and those
//! of HIP, whose arguments stand in an array of addresses; `cudaLaunchKernelEx(&config, kernel, args…)`, whose sizes stand
//! in a structure, and `cudaLaunchKernelExC`, which has both. Attributes of such a structure may say how large clusters are.
//!
//! An array of addresses is read where it is a local that is initialised by a list and used for nothing but such calls;
//! a configuration, if it is a local that only calls of the API take the address of. Its fields are followed as
//! variables of their own (see [`super::host_flow`]).
//!
//! Deliberately absent: arrays of addresses that are filled element by element, and the driver API (`cuLaunchKernel`),
//! whose kernels are found by name at run time.

use super::context::Resolver;
use super::host::Walk;
use super::host_flow::Held;
use super::host_parts::{exprs_of_stmt, init_parts, stmts_in, visit};
use super::launch_site::{Site, Size};
use super::program::{Type, TypeId, VariableId};
use super::scope::Entity;
use crate::builtins::launches::{self, LaunchCall};
use crate::syntax::{self, Designator, ExprKind, Item, ItemKind, StmtKind, TypeKind, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The fields of a configuration that say something of a launch, in the order in which it has them.
const FIELDS: [&str; 6] = ["gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"];

/// What is known of a function's arrays of addresses, configurations and attributes of launches.
#[derive(Default)]
pub(super) struct Prepared<'u> {
    /// The objects whose addresses an array holds, in its order; `None` for one that is not understood.
    arrays: FxHashMap<VariableId, Vec<Option<&'u syntax::Expr>>>,
    /// The variables that stand for the fields of a configuration.
    configs: FxHashMap<VariableId, [VariableId; FIELDS.len()]>,
    /// The variables that stand for the size of clusters that attributes state.
    attributes: FxHashMap<VariableId, VariableId>,
    /// The attributes of a configuration; `None` if they are given more than once.
    attached: FxHashMap<VariableId, Option<VariableId>>,
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

impl<'u> Resolver<'u> {
    /// Remembers what a call launches, if it is one that launches.
    pub(super) fn launch_call(&mut self, value: &'u syntax::Expr, walk: &mut Walk<'u>) {
        let Some((launch, args)) = launching_call(value) else { return };
        let mut cluster = None;
        let unknown = || (Size::Unknown, Size::Unknown, Size::Unknown);
        let (kernel, (grid, block, shared), given) = if launch == LaunchCall::ByAddress {
            let [grid, block, shared] = [1, 2, 4].map(|at| args.get(at).map_or(Size::Absent, Size::Written));
            (args.first(), (grid, block, shared), self.addressed(args.get(3), walk))
        } else {
            let config = args.first().and_then(|config| self.config(config, walk));
            let fields = config.and_then(|config| walk.prepared.configs.get(&config));
            let sizes = fields.map(|fields| fields.map(|field| Size::Held(self.held(field))));
            let sizes = sizes.map_or_else(unknown, |[grid, block, shared, ..]| (grid, block, shared));
            cluster = config.and_then(|config| self.clusters_of(config, walk));
            let given = match launch {
                LaunchCall::ByAddress | LaunchCall::ConfiguredByAddress => self.addressed(args.get(2), walk),
                LaunchCall::Configured => Some(args.iter().skip(2).map(Some).collect()),
            };
            (args.get(1), sizes, given)
        };
        let Some(kernel) = kernel.and_then(named_kernel) else { return };
        self.launch_at(Site { kernel, grid, block, shared, args: given, cluster, span: value.span }, walk);
    }

    /// The arguments that an array of addresses holds.
    fn addressed(&mut self, array: Option<&'u syntax::Expr>, walk: &Walk<'u>) -> Option<Vec<Option<&'u syntax::Expr>>> {
        let array = self.host_name(without_casts(array?))?;
        walk.prepared.arrays.get(&array).cloned()
    }

    /// The configuration that `&config` means.
    fn config(&mut self, config: &'u syntax::Expr, walk: &Walk<'u>) -> Option<VariableId> {
        self.host_name(addressed(config)?).filter(|config| walk.prepared.configs.contains_key(config))
    }

    /// The clusters that the attributes of a configuration state.
    fn clusters_of(&self, config: VariableId, walk: &Walk<'u>) -> Option<[u32; 3]> {
        let count = self.held(walk.prepared.field(config, "numAttrs")?).constant?;
        let attributes = walk.prepared.attached.get(&config).copied().flatten().filter(|_| count > 0)?;
        let lanes = self.held(*walk.prepared.attributes.get(&attributes)?).lanes?;
        let mut extents = lanes.into_iter().map(|extent| u32::try_from(extent?).ok().filter(|&blocks| blocks > 0));
        Some([extents.next()??, extents.next()??, extents.next()??])
    }

    /// Remembers the attributes that a configuration is given: `config.attrs = attributes`.
    pub(super) fn attach(&mut self, target: &'u syntax::Expr, given: &'u syntax::Expr, walk: &mut Walk<'u>) {
        let ExprKind::Member { object, member, arrow: false, .. } = &target.kind else { return };
        let Some(config) = self.host_name(object).filter(|config| walk.prepared.configs.contains_key(config)) else {
            return;
        };
        if member.name.text == "attrs" {
            let attributes = self.host_name(addressed(given).unwrap_or(given));
            let known = walk.prepared.attached.entry(config).or_insert(attributes);
            *known = known.filter(|known| Some(*known) == attributes);
        }
    }

    /// The size of clusters that `attributes[0].val.clusterDim` means.
    pub(super) fn cluster_object(&mut self, value: &'u syntax::Expr, walk: &Walk<'u>) -> Option<VariableId> {
        let ExprKind::Member { object, member, arrow: false, .. } = &value.kind else { return None };
        let ExprKind::Member { object: attribute, member: inner, arrow: false, .. } = &object.kind else { return None };
        if member.name.text != "clusterDim" || inner.name.text != "val" {
            return None;
        }
        let attribute = match &attribute.kind {
            ExprKind::Index(array, _) => self.host_name(array)?,
            _ => self.host_name(attribute)?,
        };
        walk.prepared.attributes.get(&attribute).copied()
    }

    /// The variable that a name means here.
    pub(super) fn host_name(&mut self, value: &'u syntax::Expr) -> Option<VariableId> {
        self.host_variable_named(simple_name(value)?)
    }

    pub(super) fn host_variable_named(&mut self, name: &str) -> Option<VariableId> {
        match self.lookup(name).as_slice() {
            [Entity::Variable(variable)] => Some(*variable),
            _ => None,
        }
    }

    /// Takes in the declaration of an array of addresses or a configuration.
    pub(super) fn prepare(&mut self, declared: &'u syntax::Variable, variable: VariableId, walk: &mut Walk<'u>) {
        // A lambda changes what it captures whenever it is called.
        let name = &declared.name.text;
        if !walk.changed.is_for_launches(name) || walk.changed.is_exposed(name) {
            return;
        }
        let parts = init_parts(declared.init.as_ref());
        let entries: Vec<(Option<&'u Designator>, &'u syntax::Expr)> = match parts {
            [syntax::Expr { kind: ExprKind::InitList(entries), .. }] => {
                entries.iter().map(|(designator, value)| (designator.as_ref(), value)).collect()
            }
            _ => parts.iter().map(|value| (None, value)).collect(),
        };
        if is_array_of_pointers(&declared.ty) && entries.iter().all(|(designator, _)| designator.is_none()) {
            if let Type::Array { of, len: None } = self.types[self.variables[variable].ty] {
                let len = Some(entries.len() as u64);
                self.variables[variable].ty = self.intern(Type::Array { of, len });
            }
            walk.prepared.arrays.insert(variable, entries.iter().map(|(_, value)| addressed(value)).collect());
        } else if is_config(&declared.ty) {
            let size = self.common.dim3;
            let (bytes, count, other) = (self.common.ulong, self.common.uint, self.common.unknown);
            let types = [size, size, bytes, other, other, count];
            let fields = std::array::from_fn(|at| self.part_of(&declared.name, FIELDS[at], types[at]));
            for (position, (designator, value)) in entries.into_iter().enumerate() {
                let position = match designator {
                    None => Some(position),
                    Some(Designator::Field(name)) => FIELDS.iter().position(|field| *field == name.text),
                    Some(_) => None,
                };
                if let Some(&field) = position.and_then(|position| fields.get(position)) {
                    let held = self.assigned(field, None, value, declared.span);
                    self.set_held(field, held);
                }
            }
            walk.tracked.extend(fields);
            walk.prepared.configs.insert(variable, fields);
        } else if is_attribute(&declared.ty) {
            let size = self.common.dim3;
            let cluster = self.part_of(&declared.name, "clusterDim", size);
            walk.tracked.push(cluster);
            walk.prepared.attributes.insert(variable, cluster);
        }
    }

    /// A variable that stands for a part of a structure.
    fn part_of(&mut self, whole: &syntax::Name, part: &str, ty: TypeId) -> VariableId {
        let name = syntax::Name { text: format!("{}.{part}", whole.text), span: whole.span };
        let variable = self.host_local(&name, ty);
        self.set_held(variable, Held { constant: Some(0).filter(|_| self.is_integral(ty)), ..Held::default() });
        variable
    }
}

/// How a call launches a kernel, and its arguments; `None` if it launches none.
fn launching_call(value: &syntax::Expr) -> Option<(LaunchCall, &[syntax::Expr])> {
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

/// The names of arrays of pointers that a body uses for launches alone, and of configurations and attributes that it uses
/// for calls of the API and member by member.
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

fn is_config(ty: &syntax::Type) -> bool {
    is_named(ty, launches::CONFIGURATION)
}

/// `cudaLaunchAttribute attributes[2]`
fn is_attribute(ty: &syntax::Type) -> bool {
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
fn named_kernel(value: &syntax::Expr) -> Option<&syntax::Path> {
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

fn without_casts(value: &syntax::Expr) -> &syntax::Expr {
    let mut value = value;
    while let ExprKind::Cast(_, _, inner) = &value.kind {
        value = inner;
    }
    value
}

pub(super) fn simple_name(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Path(path) if path.segments.len() == 1 => Some(&path.segments[0].name.text),
        _ => None,
    }
}
