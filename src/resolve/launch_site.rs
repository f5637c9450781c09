//! One launch: the kernel that it names, its configuration and its arguments, as far as they are constants.

use super::call::functions_of;
use super::context::Resolver;
use super::host::Walk;
use super::program::{Expr, ExprKind, Relation, Type};
use super::scope::{Found, FunctionDecl};
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
    pub(super) span: Span,
}

impl<'u> Resolver<'u> {
    pub(super) fn launch(
        &mut self,
        kernel: &'u syntax::Expr,
        config: &'u [syntax::Expr],
        args: &'u [syntax::Expr],
        span: Span,
        walk: &mut Walk<'u>,
    ) {
        let syntax::ExprKind::Path(path) = &kernel.kind else {
            return;
        };
        // A pointer to kernels launches each that it may point to.
        let targets: Vec<&'u syntax::Path> = match path.segments.as_slice() {
            [only] => walk.pointers.iter().filter(|(name, _)| *name == only.name.text).map(|&(_, path)| path).collect(),
            _ => Vec::new(),
        };
        self.launch_of(path, config, args, span, walk);
        for target in targets {
            self.launch_of(target, config, args, span, walk);
        }
    }

    fn launch_of(
        &mut self,
        path: &'u syntax::Path,
        config: &'u [syntax::Expr],
        args: &'u [syntax::Expr],
        span: Span,
        walk: &mut Walk<'u>,
    ) {
        let Found::Entities(entities) = self.find(path) else {
            return;
        };
        let is_kernel = |decl: &FunctionDecl<'u>| {
            decl.syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel))
        };
        let kernels: Vec<FunctionDecl<'u>> = functions_of(&entities).into_iter().filter(is_kernel).collect();
        if kernels.is_empty() {
            return;
        }
        let template_args = path.segments.last().and_then(|segment| segment.args.as_deref());
        let values: Vec<Expr> = args.iter().map(|argument| self.unevaluated(argument)).collect();
        let (decl, template_values) = match self.choose(&kernels, template_args, &values) {
            Some(chosen) => (chosen.decl, chosen.values),
            // What does not fit by type is still a launch of the only kernel of that name and arity.
            None => {
                let fits = |decl: &&FunctionDecl<'u>| decl.syntax.params.len() >= values.len();
                let Some(decl) = kernels.iter().find(fits).copied() else {
                    return;
                };
                let own = self.own_template(decl).len();
                (decl, vec![TemplateValue::Unknown; own])
            }
        };
        let decl = self.definition(&kernels, decl);
        let grid = self.sizes(config.first());
        let block = self.sizes(config.get(1));
        let shared_bytes = match config.get(2) {
            Some(bytes) => self.constant_of(bytes).and_then(|bytes| u64::try_from(bytes).ok()),
            None => Some(0),
        };
        let relations = match (config.first(), config.get(1)) {
            (Some(grid), Some(block)) => {
                let (grid, block) = (self.unevaluated(grid), self.unevaluated(block));
                self.relations([&grid, &block], &values, walk)
            }
            _ => Vec::new(),
        };
        let same_pointers = self.same_pointers(&values);
        let args = values.iter().map(|value| self.constant(value)).collect();
        walk.seen.push(Seen {
            decl,
            values: template_values,
            grid,
            block,
            args,
            shared_bytes,
            relations,
            same_pointers,
            span,
        });
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
    fn sizes(&mut self, size: Option<&'u syntax::Expr>) -> [Option<u64>; 3] {
        let Some(size) = size else {
            return [None; 3];
        };
        let mut value = self.unevaluated(size);
        if let Type::Float { .. } = self.types[value.ty] {
            value = self.convert(value, self.common.uint);
        }
        let lanes = if self.is_integral(value.ty) {
            vec![self.constant(&value), Some(1), Some(1)]
        } else {
            self.constant_lanes(&value).unwrap_or_default()
        };
        let lane = |axis: usize| {
            let size = (*lanes.get(axis)?)?;
            u64::try_from(size).ok().filter(|&size| size > 0)
        };
        [lane(0), lane(1), lane(2)]
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
