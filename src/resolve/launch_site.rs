//! One launch: the kernel that it names, its configuration and its arguments, as far as they are constants.

use super::call::functions_of;
use super::context::{Resolver, expr};
use super::host::Walk;
use super::host_flow::Held;
use super::host_relations::Quotient;
use super::program::{Expr, ExprKind, Given, Relation, Type, VariableId};
use super::scope::{Entity, Found, FunctionDecl, ScopeId};
use super::template::TemplateValue;
use crate::source::Span;
use crate::syntax::{self, Qualifier};

/// A launch as it was found.
pub(super) struct Seen<'u> {
    pub(super) decl: FunctionDecl<'u>,
    pub(super) values: Vec<TemplateValue>,
    pub(super) grid: [Option<u64>; 3],
    pub(super) block: [Option<u64>; 3],
    pub(super) args: Vec<Option<i128>>,
    pub(super) shared_bytes: Option<u64>,
    pub(super) relations: Vec<Relation>,
    pub(super) same_pointers: Vec<(usize, usize)>,
    pub(super) cluster: Option<[u32; 3]>,
    /// How the sizes of the grid and of a block are given.
    pub(super) given: [Given; 2],
    pub(super) span: Span,
}

/// The name of a kernel, with the scope that it is looked up in where that is another than the one at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'u> {
    pub(super) path: &'u syntax::Path,
    pub(super) scope: Option<ScopeId>,
}

impl PartialEq for Target<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.path, other.path) && self.scope == other.scope
    }
}

impl Eq for Target<'_> {}

/// A size of a launch, as far as it is known.
pub(super) struct Measured {
    pub(super) lanes: [Option<u64>; 3],
    /// How the lanes are given that are not known.
    pub(super) given: Given,
    /// What the lanes come from.
    pub(super) sources: Vec<Vec<Quotient>>,
    /// The size as one number, if it is one.
    pub(super) value: Option<Expr>,
}

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
    /// As something was given it before.
    Held(Held),
    /// It is left out.
    Absent,
    Unknown,
}

impl<'u> Size<'u> {
    fn written(size: Option<&'u syntax::Expr>) -> Self {
        size.map_or(Size::Absent, Size::Written)
    }
}

impl<'u> Resolver<'u> {
    /// `kernel<<<config>>>(args)`
    pub(super) fn launch(
        &mut self,
        kernel: &'u syntax::Expr,
        config: &'u [syntax::Expr],
        args: &'u [syntax::Expr],
        span: Span,
        walk: &mut Walk<'u>,
    ) {
        let syntax::ExprKind::Path(kernel) = &kernel.kind else {
            return;
        };
        let [grid, block, shared] = [0, 1, 2].map(|at| Size::written(config.get(at)));
        let args = Some(args.iter().map(Some).collect());
        self.launch_at(Site { kernel, grid, block, shared, args, cluster: None, span }, walk);
    }

    /// Remembers a launch of a kernel, or of each that a pointer to kernels may point to.
    pub(super) fn launch_at(&mut self, site: Site<'u>, walk: &mut Walk<'u>) {
        let targets = walk.targets_of(site.kernel);
        self.launch_of(Target { path: site.kernel, scope: None }, &site, walk);
        for target in targets {
            self.launch_of(target, &site, walk);
        }
    }

    fn launch_of(&mut self, target: Target<'u>, site: &Site<'u>, walk: &mut Walk<'u>) {
        let (path, scope) = (target.path, target.scope.unwrap_or(self.scope));
        let Found::Entities(entities) = self.within(scope, |this| this.find(path)) else {
            // Its header is missing, or that of a macro that makes it a kernel.
            self.missed.set(self.missed.get() + 1);
            return;
        };
        let is_kernel = |decl: &FunctionDecl<'u>| {
            decl.syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel))
        };
        let kernels: Vec<FunctionDecl<'u>> = functions_of(&entities).into_iter().filter(is_kernel).collect();
        if kernels.is_empty() {
            let is_function = entities.iter().any(|entity| matches!(entity, Entity::Function(_)));
            self.missed.set(self.missed.get() + usize::from(is_function));
            return;
        }
        let template_args = path.segments.last().and_then(|segment| segment.args.as_deref());
        let count = kernels.iter().map(|decl| decl.syntax.params.len()).max().unwrap_or(0);
        let args = site.args.clone().unwrap_or_else(|| vec![None; count]);
        let mut values = Vec::new();
        for argument in args {
            values.push(match argument {
                Some(argument) => self.unevaluated(argument),
                None => self.unknown_argument(site.span),
            });
        }
        let chosen = self.within(scope, |this| this.choose(&kernels, template_args, None, &values));
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
                        walk.escaped.entry(std::ptr::from_ref(decl.syntax)).or_insert(site.span);
                    }
                }
                let Some(&decl) = fitting.first() else { return };
                let own = self.own_template(decl).len();
                (decl, vec![TemplateValue::Unknown; own])
            }
        };
        let decl = self.definition(&kernels, decl);
        let shared_bytes = match &site.shared {
            Size::Written(bytes) => self.constant_of(bytes),
            Size::Held(held) => held.constant,
            Size::Absent => Some(0),
            Size::Unknown => None,
        };
        let [grid, block] = [&site.grid, &site.block].map(|size| self.size(size, walk));
        if [&grid, &block].iter().any(|size| size.given == Given::AsAWhole) {
            // What makes the size may stand in a header that is missing, or in text that one would make readable.
            self.missed.set(self.missed.get() + 1);
        }
        let relations = self.relations([&grid, &block], &values, walk);
        let same_pointers = self.same_pointers(&values);
        let args = self.known_arguments(decl, &kernels, &values);
        walk.understood.launches.push(site.span);
        walk.understood.names.extend(site.kernel.segments.last().map(|last| last.name.span));
        walk.seen.push(Seen {
            decl,
            values: template_values,
            grid: grid.lanes,
            block: block.lanes,
            args,
            shared_bytes: shared_bytes.and_then(|bytes| u64::try_from(bytes).ok()),
            relations,
            same_pointers,
            cluster: site.cluster,
            given: [grid.given, block.given],
            span: site.span,
        });
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
            let ty = self.within(decl.scope, |this| this.declared_type(&param.ty, &param.qualifiers).ty);
            let is_cut = matches!(self.types[value.ty], Type::Float { .. }) && self.is_integral(ty);
            args.push(match is_cut {
                true => {
                    let converted = self.convert(value.clone(), ty);
                    self.constant(&converted)
                }
                false => self.constant(value),
            });
        }
        for position in values.len()..decl.syntax.params.len() {
            let alike = kernels.iter().filter(|other| other.syntax.params.len() == decl.syntax.params.len());
            let mut defaults = alike.filter_map(|other| Some((other, other.syntax.params[position].default.as_ref()?)));
            // Of several, which of them is meant is not told apart here.
            let default = defaults.next().filter(|_| defaults.next().is_none());
            args.push(default.and_then(|(other, value)| self.within(other.scope, |this| this.constant_of(value))));
        }
        args
    }

    fn unknown_argument(&mut self, span: Span) -> Expr {
        let ty = self.unknown("argument");
        let null = expr(ExprKind::Null, ty, span);
        expr(ExprKind::Load(Box::new(null)), ty, span)
    }

    /// The definition of a kernel that was found by its declaration.
    fn definition(&self, kernels: &[FunctionDecl<'u>], decl: FunctionDecl<'u>) -> FunctionDecl<'u> {
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

    /// A size along three axes: a number, or a `dim3`.
    fn size(&mut self, size: &Size<'u>, walk: &Walk<'u>) -> Measured {
        let mut unknown = Given::AsAWhole;
        let (known, sources, value) = match size {
            Size::Written(size) => {
                let mut value = self.unevaluated(size);
                let sources = self.lanes_of_size(&value);
                if let Type::Float { .. } = self.types[value.ty] {
                    value = self.convert(value, self.common.uint);
                }
                let is_number = self.is_integral(value.ty) || self.calls_for_a_number(size, walk);
                let lanes = if is_number {
                    Some(vec![self.constant(&value), Some(1), Some(1)])
                } else {
                    self.constant_lanes(&value)
                };
                if variable_of(&value).is_some_and(|variable| walk.from_elsewhere.contains(&variable)) {
                    unknown = Given::Elsewhere;
                }
                (lanes, sources, Some(value).filter(|_| is_number))
            }
            Size::Held(held) => (held.lanes.clone(), held.sources.clone(), None),
            Size::Absent | Size::Unknown => (None, Vec::new(), None),
        };
        let given = if known.is_some() { Given::ByAxis } else { unknown };
        let lanes = known.unwrap_or_default();
        let lane = |axis: usize| {
            let size = (*lanes.get(axis)?)?;
            u64::try_from(size).ok().filter(|&size| size > 0)
        };
        Measured { lanes: [lane(0), lane(1), lane(2)], given, sources, value }
    }

    /// Whether an expression is a call, with integers, of functions that give integers: nobody has to look into them to see
    /// that a size has one axis. A method may mean one of its class, which is not looked up.
    fn calls_for_a_number(&mut self, size: &'u syntax::Expr, walk: &Walk<'u>) -> bool {
        let syntax::ExprKind::Call(callee, args) = &size.kind else { return false };
        let syntax::ExprKind::Path(path) = &callee.kind else { return false };
        let Found::Entities(entities) = self.find(path) else { return false };
        let functions = functions_of(&entities);
        let gives_number = |this: &mut Self, decl: &FunctionDecl<'u>| {
            let is_template = decl.syntax.template.as_ref().is_some_and(|params| !params.is_empty());
            let (ty, is_reference) = this.within(decl.scope, |this| this.result_type(decl.syntax, ""));
            !is_template && !is_reference && this.is_integral(ty)
        };
        let is_number = |this: &mut Self, arg: &'u syntax::Expr| {
            let arg = this.unevaluated(arg);
            this.is_integral(arg.ty)
        };
        !walk.is_method
            && functions.len() == entities.len()
            && !functions.is_empty()
            && functions.iter().all(|decl| gives_number(self, decl))
            && args.iter().all(|arg| is_number(self, arg))
    }

    /// The lanes of a vector, as far as they are constants.
    pub(super) fn constant_lanes(&mut self, value: &Expr) -> Option<Vec<Option<i128>>> {
        match &value.kind {
            ExprKind::Construct(parts) => {
                let Type::Vector { lanes, .. } = self.types[value.ty] else {
                    return None;
                };
                (parts.len() == usize::from(lanes)).then(|| parts.iter().map(|part| self.constant(part)).collect())
            }
            ExprKind::Load(object) => match object.kind {
                ExprKind::Variable(variable) => self.vector_constants.get(&variable).cloned(),
                _ => None,
            },
            ExprKind::Convert(inner) => self.constant_lanes(inner),
            _ => None,
        }
    }
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
