//! One launch: the kernel that it names, its configuration and its arguments, as far as they are constants.

use super::api::{launching_call, named_kernel};
use super::found::{Seen, Target};
use super::relations::Measured;
use super::values::Held;
use super::walk::Walk;
use crate::builtins::host;
use crate::builtins::launches::LaunchCall;
use crate::launch::Given;
use crate::resolve::program::{Expr, ExprKind, Type, VariableId};
use crate::resolve::{FunctionDecl, TemplateValue};
use crate::source::Span;
use crate::syntax;
use crate::syntax::parts::{expr_has, path_text};

/// A launch as it was written.
pub(super) struct Site<'u> {
    pub(super) kernel: &'u syntax::Path,
    pub(super) grid: Size<'u>,
    pub(super) block: Size<'u>,
    pub(super) shared: Size<'u>,
    /// `None` for an argument that is not known, and for all of them.
    pub(super) args: Option<Vec<Option<&'u syntax::Expr>>>,
    /// Blocks of a cluster, where the launch says it.
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) span: Span,
}

/// A size of a launch.
#[derive(Clone)]
pub(super) enum Size<'u> {
    /// As it stands at the launch.
    Written(&'u syntax::Expr),
    /// As something was given it before, under a variable that stands for it.
    Held(Held, VariableId),
    /// It is left out.
    Absent,
    Unknown,
}

impl<'u> Size<'u> {
    fn written(size: Option<&'u syntax::Expr>) -> Self {
        size.map_or(Size::Absent, Size::Written)
    }
}

impl Site<'_> {
    /// Whether something is called between the values that the launch reads.
    fn calls(&self) -> bool {
        let sizes = [&self.grid, &self.block].into_iter().filter_map(|size| match size {
            Size::Written(size) => Some(*size),
            _ => None,
        });
        let is_call = |part: &syntax::Expr| match &part.kind {
            syntax::ExprKind::Call(callee, _) => match &callee.kind {
                syntax::ExprKind::Path(path) => host::takes(&path_text(path)).is_none(),
                _ => true,
            },
            syntax::ExprKind::Lambda(_) | syntax::ExprKind::Statements(_) => true,
            kind => kind.is_unread(),
        };
        sizes.chain(self.args.iter().flatten().flatten().copied()).any(|value| expr_has(value, &is_call))
    }
}

impl<'u> Walk<'_, 'u> {
    /// `kernel<<<config>>>(args)`
    pub(super) fn launch(
        &mut self,
        kernel: &'u syntax::Expr,
        config: &'u [syntax::Expr],
        args: &'u [syntax::Expr],
        span: Span,
    ) {
        let syntax::ExprKind::Path(kernel) = &kernel.kind else {
            return;
        };
        let [grid, block, shared] = [0, 1, 2].map(|at| Size::written(config.get(at)));
        let args = Some(args.iter().map(Some).collect());
        self.launch_at(&Site { kernel, grid, block, shared, args, cluster: None, span });
    }

    /// Remembers what a call launches, if it is one that launches.
    pub(super) fn launch_call(&mut self, value: &'u syntax::Expr) {
        let Some((launch, args)) = launching_call(value) else { return };
        let mut cluster = None;
        let unknown = || (Size::Unknown, Size::Unknown, Size::Unknown);
        let (kernel, (grid, block, shared), given) = if launch == LaunchCall::ByAddress {
            let [grid, block, shared] = [1, 2, 4].map(|at| args.get(at).map_or(Size::Absent, Size::Written));
            (args.first(), (grid, block, shared), self.place.addressed(args.get(3)))
        } else {
            let config = args.first().and_then(|config| self.place.config(config));
            let fields = config.and_then(|config| self.place.prepared.configs.get(&config));
            let sizes = fields
                .map(|fields| fields.map(|field| Size::Held(self.place.values.held(self.place.names, field), field)));
            let sizes = sizes.map_or_else(unknown, |[grid, block, shared, ..]| (grid, block, shared));
            cluster = config.and_then(|config| self.place.clusters_of(config));
            let given = match launch {
                LaunchCall::ByAddress | LaunchCall::ConfiguredByAddress => self.place.addressed(args.get(2)),
                LaunchCall::Configured => Some(args.iter().skip(2).map(Some).collect()),
            };
            (args.get(1), sizes, given)
        };
        let Some(kernel) = kernel.and_then(named_kernel) else { return };
        self.launch_at(&Site { kernel, grid, block, shared, args: given, cluster, span: value.span });
    }

    /// Remembers a launch of a kernel, or of each that a pointer to kernels may point to.
    pub(super) fn launch_at(&mut self, site: &Site<'u>) {
        let targets = self.place.targets_of(site.kernel);
        self.launch_of(Target { path: site.kernel, scope: None }, site);
        for target in targets {
            self.launch_of(target, site);
        }
    }

    fn launch_of(&mut self, target: Target<'u>, site: &Site<'u>) {
        let (path, scope) = (target.path, target.scope.unwrap_or(self.place.names.scope()));
        let Ok(named) = self.place.names.within(scope, |names| names.named(path)) else {
            // Its header is missing, or that of a macro that makes it a kernel.
            self.found.missed += 1;
            return;
        };
        let is_function = !named.functions.is_empty();
        let kernels: Vec<FunctionDecl<'u>> =
            named.functions.into_iter().filter(|decl| decl.syntax.is_kernel()).collect();
        if kernels.is_empty() {
            self.found.missed += usize::from(is_function);
            return;
        }
        let template_args = path.segments.last().and_then(|segment| segment.args.as_deref());
        let count = kernels.iter().map(|decl| decl.syntax.params.len()).max().unwrap_or(0);
        let args = site.args.clone().unwrap_or_else(|| vec![None; count]);
        let mut values = Vec::new();
        for argument in args {
            values.push(match argument {
                Some(argument) => self.place.names.value(argument),
                None => self.unknown_argument(site.span),
            });
        }
        let chosen = self.place.names.within(scope, |names| names.choose(&kernels, template_args, &values));
        let (decl, template_values) = match chosen {
            Some(chosen) => (chosen.decl, chosen.values),
            // What does not fit by type is still a launch of the only kernel of that name and arity.
            None => {
                let fitting: Vec<FunctionDecl<'u>> =
                    kernels.iter().filter(|decl| decl.syntax.params.len() >= values.len()).copied().collect();
                let is_one = fitting.iter().all(|decl| decl.syntax.params.len() == fitting[0].syntax.params.len());
                if fitting.is_empty() || !is_one {
                    // Any of them may be launched here.
                    for decl in &kernels {
                        self.found.escaped.entry(std::ptr::from_ref(decl.syntax)).or_insert(site.span);
                    }
                }
                let Some(&decl) = fitting.first() else { return };
                let own = self.place.names.own_template(decl).len();
                (decl, vec![TemplateValue::Unknown; own])
            }
        };
        let decl = definition(&kernels, decl);
        let shared_bytes = match &site.shared {
            Size::Written(bytes) => self.place.names.constant_of(bytes),
            Size::Held(held, _) => held.constant,
            Size::Absent => Some(0),
            Size::Unknown => None,
        };
        let before = self.place.values.constraints.state();
        self.place.values.constraints.read_for_launch(!site.calls());
        let [mut grid, mut block] = [&site.grid, &site.block].map(|size| self.size(size));
        if [&grid, &block].iter().any(|size| size.given == Given::AsAWhole) {
            // What makes the size may stand in a header that is missing, or in text that one would make readable.
            self.found.missed += 1;
        }
        let as_held = self.as_parameters(decl, &values);
        let said = self.place.reader().said([&grid, &block], &as_held);
        self.place.values.constraints.read_for_launch(false);
        self.place.values.constraints.restore(before);
        for (size, found) in [&mut grid, &mut block].into_iter().zip(said.sizes) {
            let is_by_axis = size.given == Given::ByAxis;
            size.lanes.iter_mut().zip(found).for_each(|(lane, found)| *lane = lane.or(found.filter(|_| is_by_axis)));
        }
        let same_pointers = self.place.reader().same_pointers(&values);
        let mut args = self.known_arguments(decl, &kernels, &values);
        args.iter_mut().zip(said.args).for_each(|(known, found)| *known = known.or(found));
        self.found.understood.launches.push(site.span);
        self.found.understood.names.extend(site.kernel.segments.last().map(|last| last.name.span));
        self.found.seen.push(Seen {
            decl,
            values: template_values,
            grid: grid.lanes,
            block: block.lanes,
            args,
            shared_bytes: shared_bytes.and_then(|bytes| u64::try_from(bytes).ok()),
            relations: said.relations,
            same_pointers,
            cluster: site.cluster,
            given: [grid.given, block.given],
            span: site.span,
        });
    }

    /// The arguments as the kernel's parameters hold them, where these are integers.
    pub(super) fn as_parameters(&mut self, decl: FunctionDecl<'u>, values: &[Expr]) -> Vec<Expr> {
        let mut held = Vec::new();
        for (value, param) in values.iter().zip(&decl.syntax.params) {
            let ty = self.place.names.within(decl.scope, |names| names.declared_type(&param.ty, &param.qualifiers).ty);
            let is_number = [value.ty, ty].into_iter().all(|ty| self.place.names.is_integral(ty));
            held.push(if is_number { self.place.names.converted(value.clone(), ty) } else { value.clone() });
        }
        held
    }

    /// The arguments of a kernel that are integer constants: a floating constant is converted where the parameter is an
    /// integer, and what a launch leaves out is what the kernel, or an earlier declaration of it, has by default.
    fn known_arguments(
        &mut self,
        decl: FunctionDecl<'u>,
        kernels: &[FunctionDecl<'u>],
        values: &[Expr],
    ) -> Vec<Option<i128>> {
        let mut args = Vec::new();
        for (value, param) in values.iter().zip(&decl.syntax.params) {
            let ty = self.place.names.within(decl.scope, |names| names.declared_type(&param.ty, &param.qualifiers).ty);
            let is_cut =
                matches!(*self.place.names.ty(value.ty), Type::Float { .. }) && self.place.names.is_integral(ty);
            args.push(match is_cut {
                true => {
                    let converted = self.place.names.converted(value.clone(), ty);
                    self.place.names.constant(&converted)
                }
                false => self.place.names.constant(value),
            });
        }
        for position in values.len()..decl.syntax.params.len() {
            let alike = kernels.iter().filter(|other| other.syntax.params.len() == decl.syntax.params.len());
            let mut defaults = alike.filter_map(|other| Some((other, other.syntax.params[position].default.as_ref()?)));
            // Of several, which of them is meant is not told apart here.
            let default = defaults.next().filter(|_| defaults.next().is_none());
            args.push(
                default
                    .and_then(|(other, value)| self.place.names.within(other.scope, |names| names.constant_of(value))),
            );
        }
        args
    }

    fn unknown_argument(&mut self, span: Span) -> Expr {
        let ty = self.place.names.unknown_type("argument");
        let null = Expr { kind: ExprKind::Null, ty, span };
        Expr { kind: ExprKind::Load(Box::new(null)), ty, span }
    }

    /// A size along three axes: a number, or a `dim3`.
    fn size(&mut self, size: &Size<'u>) -> Measured {
        let mut unknown = Given::AsAWhole;
        let mut pinned = Vec::new();
        let known = match size {
            Size::Written(size) => {
                let mut value = self.place.names.value(size);
                if let Type::Float { .. } = *self.place.names.ty(value.ty) {
                    value = self.place.names.converted(value, self.place.names.common().uint);
                }
                let is_number = self.place.names.is_integral(value.ty) || self.calls_for_a_number(size);
                let lanes = if is_number {
                    Some(vec![self.place.names.constant(&value), Some(1), Some(1)])
                } else {
                    self.place.names.constant_lanes(&value)
                };
                if variable_of(&value).is_some_and(|variable| self.place.values.from_elsewhere.contains(&variable)) {
                    unknown = Given::Elsewhere;
                }
                pinned = self.place.reader().pinned(&value);
                lanes
            }
            Size::Held(held, variable) => {
                pinned = self.place.reader().pinned_parts(*variable);
                held.lanes.clone()
            }
            Size::Absent | Size::Unknown => None,
        };
        let given = if known.is_some() { Given::ByAxis } else { unknown };
        let lanes = known.unwrap_or_default();
        let lane = |axis: usize| {
            let size = (*lanes.get(axis)?)?;
            u64::try_from(size).ok().filter(|&size| size > 0)
        };
        Measured { lanes: [lane(0), lane(1), lane(2)], given, pinned }
    }

    /// Whether an expression is a call, with integers, of functions that give integers: nobody has to look into them to
    /// see that a size has one axis. A method may mean one of its class, which is not looked up.
    fn calls_for_a_number(&mut self, size: &'u syntax::Expr) -> bool {
        let syntax::ExprKind::Call(callee, args) = &size.kind else { return false };
        let syntax::ExprKind::Path(path) = &callee.kind else { return false };
        let Ok(named) = self.place.names.named(path) else { return false };
        !self.place.is_method
            && named.functions.len() == named.count
            && !named.functions.is_empty()
            && named.functions.iter().all(|decl| self.place.names.gives_number(*decl) && !decl.syntax.has_template())
            && args.iter().all(|arg| self.is_number(arg))
    }

    fn is_number(&mut self, value: &'u syntax::Expr) -> bool {
        let value = self.place.names.value(value);
        self.place.names.is_integral(value.ty)
    }
}

/// The definition of a kernel that was found by its declaration.
fn definition<'u>(kernels: &[FunctionDecl<'u>], decl: FunctionDecl<'u>) -> FunctionDecl<'u> {
    if decl.syntax.body.is_some() {
        return decl;
    }
    let same = |other: &&FunctionDecl<'u>| {
        other.syntax.body.is_some()
            && other.syntax.params.len() == decl.syntax.params.len()
            && other.syntax.template.as_ref().map(Vec::len) == decl.syntax.template.as_ref().map(Vec::len)
    };
    kernels.iter().find(same).copied().unwrap_or(decl)
}

/// The variable that a value is read from as it is.
fn variable_of(value: &Expr) -> Option<VariableId> {
    match &value.kind {
        ExprKind::Load(object) => match object.kind {
            ExprKind::Variable(variable) => Some(variable),
            _ => None,
        },
        ExprKind::Convert(inner) => variable_of(inner),
        _ => None,
    }
}
