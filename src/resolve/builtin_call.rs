//! Calls of builtins: the type of the result, conversions of arguments, and what constants among them decide.

use super::context::{Resolver, expr};
use super::entities::TemplateValue;
use super::program::{BinaryOp, Expr, ExprKind, Type, TypeId};
use crate::builtins::atomics::{self, Numbering};
use crate::builtins::functions::{
    self, Meaning, ResultType, conversion_target, function, is_of_opencl_2, is_plain_conversion, vector_helper,
};
use crate::builtins::namespaces::without_namespaces;
use crate::builtins::{Builtin, Comparison, Fragment, LaneFunction, PureFunction};
use crate::calculus::SyncMemory;
use crate::source::{Language, Span};
use crate::syntax::TemplateArg;

impl<'u> Resolver<'u> {
    /// Whether a builtin function has that name.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        function(self.language, name).is_some()
    }

    /// Whether the builtin function of that name neither touches memory nor meets other threads.
    pub(super) fn only_computes(&self, name: &str) -> bool {
        !function(self.language, name).is_some_and(|meaning| {
            matches!(
                meaning.builtin,
                Builtin::Atomic { .. } | Builtin::CompareAndExchange { .. } | Builtin::Barrier { .. }
            )
        })
    }

    /// A call of a function that the unit does not declare.
    pub(super) fn builtin_call(
        &mut self,
        name: &str,
        template_args: Option<&'u [TemplateArg]>,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let short = without_namespaces(name);
        let args: Vec<Expr> = args.into_iter().map(|argument| self.held_value(argument)).collect();
        if self.language == Language::Cuda
            && let Some(result) = self.group_function(short, template_args, &args, span)
        {
            return result;
        }
        if let Some(named) = conversion_target(self.language, short)
            && let [only] = args.as_slice()
        {
            let to = self.types.named(named);
            let only = self.built_in_operand(only.clone(), span);
            let value = self.load(only);
            if is_plain_conversion(short) {
                return self.convert(value, to);
            }
            return expr(ExprKind::Builtin(Builtin::Pure, short.to_owned(), vec![value]), to, span);
        }
        let known_namespace = functions::is_of_known_namespace(name);
        if self.language == Language::Cuda
            && let Some(rule) = vector_helper(name)
            && args.iter().any(|argument| matches!(self.types[argument.ty], Type::Vector { .. }))
            && self.are_plain(&args)
        {
            self.miss();
            return self.known_call(Meaning { builtin: Builtin::Pure, result: rule }, short, template_args, args, span);
        }
        match function(self.language, short) {
            Some(meaning) if known_namespace => self.known_call(meaning, short, template_args, args, span),
            _ => self.unknown_call(name, args, span),
        }
    }

    /// Whether all are numbers or vectors of them.
    fn are_plain(&self, args: &[Expr]) -> bool {
        args.iter().all(|argument| {
            self.types.is_arithmetic(argument.ty) || matches!(self.types[argument.ty], Type::Vector { .. })
        })
    }

    fn known_call(
        &mut self,
        meaning: Meaning,
        name: &str,
        template_args: Option<&'u [TemplateArg]>,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let Meaning { mut builtin, result } = meaning;
        self.uses_opencl_2 |= self.language == Language::OpenCl && is_of_opencl_2(name);
        let changes_first = matches!(builtin, Builtin::Fragment(Fragment::Load | Fragment::Compute));
        let mut args: Vec<Expr> = args
            .into_iter()
            .enumerate()
            .map(|(position, argument)| match (position, changes_first) {
                (0, true) if self.is_object(&argument) => self.address_of(argument),
                _ => {
                    // What a conversion reads is read.
                    let argument = self.built_in_operand(argument, span);
                    self.load(argument)
                }
            })
            .collect();
        // `std::max<unsigned>(a, b)` takes numbers of that type.
        if let (Builtin::Min | Builtin::Max, Some([stated, ..])) = (&builtin, template_args) {
            let TemplateValue::Type(ty) = self.template_value(stated) else {
                return self.unsupported_with(span, format!("template arguments of `{name}`"), args);
            };
            let ty = self.types.plain(ty);
            args = args.into_iter().map(|argument| self.convert(argument, ty)).collect();
        }
        if args.iter().any(|argument| self.converts_somehow(argument.ty)) {
            let reason = format!("`{name}` of a record that converts to several types");
            return self.unsupported_with(span, reason, args);
        }
        match &mut builtin {
            Builtin::MakeVector(_) => {
                let ty = self.result_type_of(result, &args);
                if let Type::Vector { of, lanes } = self.types[ty]
                    && args.len() == usize::from(lanes)
                {
                    return self.construct_vector(ty, of, lanes, args, span);
                }
                // An overload of a header that is not here: `make_float3(float4)`.
                self.miss();
                if self.are_plain(&args) {
                    return expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), args), ty, span);
                }
                return Expr { ty, ..self.unknown_call(name, args, span) };
            }
            Builtin::Barrier { .. } => builtin = self.barrier(builtin, &args),
            Builtin::Atomic { .. } => {
                if let Some(problem) = self.atomic(&mut builtin, name, &mut args, span) {
                    return problem;
                }
            }
            Builtin::CompareAndExchange { orders, scope, weak } => {
                let stated = args.split_off(args.len().min(3));
                let constants: Vec<Option<i128>> = stated.iter().map(|value| self.constant(value)).collect();
                let said = |numbering: Numbering, [done, failed]: [Option<i128>; 2], scope: &[Option<i128>]| {
                    let done = numbering.order(done?)?;
                    let (failed, within) = numbering.stated(&[&[failed], scope].concat())?;
                    Some(([done, failed], within))
                };
                let said = match (Numbering::of(self.language, name), constants.as_slice()) {
                    (None, []) => Some((*orders, *scope, *weak)),
                    (Some(of @ Numbering::OpenCl), &[done, failed, ref scope @ ..]) => {
                        said(of, [done, failed], scope).map(|(orders, scope)| (orders, scope, *weak))
                    }
                    (Some(of @ Numbering::Nvcc), &[Some(weak), done, failed, ref scope @ ..]) => {
                        said(of, [done, failed], scope).map(|(orders, scope)| (orders, scope, weak != 0))
                    }
                    _ => None,
                };
                let Some(said) = said else {
                    args.extend(stated);
                    return self.unsupported_with(
                        span,
                        format!("`{name}` of orders or a scope that are not known"),
                        args,
                    );
                };
                (*orders, *scope, *weak) = said;
            }
            Builtin::Abs => return self.abs(name, args, span),
            Builtin::PureFunction(PureFunction::Compare(how)) if args.len() == 2 => {
                if let Some(compared) = self.comparison_by_name(*how, &args, span) {
                    return compared;
                }
            }
            Builtin::Assume | Builtin::Require | Builtin::Assert | Builtin::Claim(_) => {
                args = args.into_iter().map(|argument| self.truth(argument)).collect();
            }
            Builtin::Min | Builtin::Max if !self.is_min_max(&args) => builtin = Builtin::Pure,
            Builtin::Mul24 if args.len() != 2 => builtin = Builtin::Pure,
            Builtin::MulAdd24 if args.len() != 3 => builtin = Builtin::Pure,
            _ => {}
        }
        let ty = match (result, template_args) {
            (ResultType::Fetched, Some([TemplateArg::Type(ty)])) => self.resolve_type(ty).ty,
            _ => self.result_type_of(result, &args),
        };
        let converts = matches!(builtin, Builtin::Min | Builtin::Max | Builtin::Mul24 | Builtin::MulAdd24);
        if converts || result == ResultType::Common {
            args = args.into_iter().map(|argument| self.convert(argument, ty)).collect();
        }
        if let Builtin::Lanes(function) = builtin {
            args = self.arguments_of_lanes(function, args);
        }
        if let (Builtin::VectorStore(lanes), Some(value)) = (&builtin, args.first()) {
            let lanes = *lanes;
            let fits = matches!(self.types[value.ty], Type::Vector { lanes: has, .. } if has == lanes);
            if !fits {
                return self.unsupported_with(span, format!("`{name}` of a value that is no such vector"), args);
            }
        }
        expr(ExprKind::Builtin(builtin, name.to_owned(), args), ty, span)
    }

    /// Whether `min` and `max` compare two numbers, or vectors of them.
    fn is_min_max(&self, args: &[Expr]) -> bool {
        let number = |ty: TypeId| self.types.is_arithmetic(ty) || matches!(self.types[ty], Type::Vector { .. });
        matches!(args, [a, b] if number(a.ty) && number(b.ty))
    }

    /// `isless(a, b)` and its kin, which give what the operator gives.
    fn comparison_by_name(&mut self, how: Comparison, args: &[Expr], span: Span) -> Option<Expr> {
        let op = match how {
            Comparison::Equal => BinaryOp::Eq,
            Comparison::NotEqual => BinaryOp::Ne,
            Comparison::Less => BinaryOp::Lt,
            Comparison::LessOrEqual => BinaryOp::Le,
            Comparison::Greater => BinaryOp::Gt,
            Comparison::GreaterOrEqual => BinaryOp::Ge,
        };
        let [left, right] = args else { return None };
        let common = self.types.common_type(left.ty, right.ty)?;
        let (left, right) = (self.convert(left.clone(), common), self.convert(right.clone(), common));
        Some(self.comparison(op, left, right, span))
    }

    /// `abs` of an integer; of anything else it is pure.
    fn abs(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        let mut args = args;
        let Some(only) = args.pop().filter(|_| args.is_empty()) else {
            return self.unsupported_with(span, format!("call of `{name}`"), args);
        };
        let value = match self.language {
            Language::OpenCl => self.operand(only),
            Language::Cuda => self.promote(only),
        };
        let (is_counted, ty) = match self.language {
            Language::OpenCl => (self.is_of_integers(value.ty), self.without_sign(value.ty)),
            Language::Cuda => (self.types.is_integral(value.ty), value.ty),
        };
        let builtin = if is_counted { Builtin::Abs } else { Builtin::Pure };
        expr(ExprKind::Builtin(builtin, name.to_owned(), vec![value]), ty, span)
    }

    /// The arguments of a function on lanes, in the types that the function takes.
    fn arguments_of_lanes(&mut self, function: LaneFunction, args: Vec<Expr>) -> Vec<Expr> {
        use LaneFunction::{All, Any, Select, Upsample};
        let Some(first) = args.first().map(|argument| argument.ty) else { return args };
        let converted = match function {
            Any | All | Upsample => 0,
            Select => 2,
            _ => args.len(),
        };
        let convert = |(at, argument)| if at < converted { self.convert(argument, first) } else { argument };
        args.into_iter().enumerate().map(convert).collect()
    }

    /// Whether it is an integer or a vector of integers.
    fn is_of_integers(&self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Vector { of, .. } => self.types.is_integral(of),
            _ => self.types.is_integral(ty),
        }
    }

    /// The type with other lanes, or of another number.
    fn with_lanes(&mut self, ty: TypeId, change: impl Fn(&Type) -> Option<Type>) -> TypeId {
        let (lane, lanes) = match self.types[ty] {
            Type::Vector { of, lanes } => (of, Some(lanes)),
            _ => (ty, None),
        };
        let Some(changed) = change(&self.types[lane]) else { return ty };
        let of = self.types.intern(changed);
        lanes.map_or(of, |lanes| self.types.intern(Type::Vector { of, lanes }))
    }

    /// The type without a sign.
    fn without_sign(&mut self, ty: TypeId) -> TypeId {
        self.with_lanes(ty, |lane| match *lane {
            Type::Int { width, .. } => Some(Type::Int { width, signed: false }),
            _ => None,
        })
    }

    /// A barrier with the memory that OpenCL's flags name.
    fn barrier(&mut self, builtin: Builtin, args: &[Expr]) -> Builtin {
        let Builtin::Barrier { scope, memory: None } = builtin else {
            return builtin;
        };
        let memory = args.first().and_then(|flags| self.constant(flags)).map(SyncMemory::of_flags);
        // A scope beyond the work-group makes writes visible to more; the same threads wait.
        Builtin::Barrier { scope, memory }
    }

    /// Completes an atomic: the operand that its name implies, orders and scopes of OpenCL 2, operands converted.
    pub(super) fn atomic(
        &mut self,
        builtin: &mut Builtin,
        name: &str,
        args: &mut Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let Builtin::Atomic { op, order, scope } = builtin else {
            return None;
        };
        let pointee = match args.first().map(|address| &self.types[address.ty]) {
            Some(Type::Pointer { to, .. }) => *to,
            _ => {
                let parts = std::mem::take(args);
                return Some(self.unsupported_with(span, format!("`{name}` without a pointer"), parts));
            }
        };
        if let Some(operand) = atomics::implied_operand(self.language, name) {
            args.insert(1, expr(ExprKind::Int(operand), pointee, span));
        }
        let operands = atomics::operand_count(*op);
        if let Some(numbering) = Numbering::of(self.language, name) {
            let rest = args.split_off(args.len().min(operands + 1));
            let constants: Vec<Option<i128>> = rest.iter().map(|value| self.constant(value)).collect();
            let Some(stated) = numbering.stated(&constants) else {
                let parts = args.drain(..).chain(rest).collect();
                return Some(self.unsupported_with(
                    span,
                    format!("`{name}` of an order or scope that is not known"),
                    parts,
                ));
            };
            (*order, *scope) = stated;
        }
        if args.len() != operands + 1 {
            let parts = std::mem::take(args);
            return Some(self.unsupported_with(span, format!("`{name}` with a wrong number of arguments"), parts));
        }
        for operand in &mut args[1..] {
            let value = std::mem::replace(operand, expr(ExprKind::Int(0), pointee, span));
            *operand = self.convert(value, pointee);
        }
        None
    }

    /// The type of a builtin's result.
    fn result_type_of(&mut self, rule: ResultType, args: &[Expr]) -> TypeId {
        let first = args.first().map_or(self.types.common.unknown, |argument| argument.ty);
        match rule {
            ResultType::Void => self.types.common.void,
            ResultType::Fixed(named) => self.types.named(named),
            ResultType::First => first,
            ResultType::Second => args.get(1).map_or(self.types.common.unknown, |value| self.types.promoted(value.ty)),
            // OpenCL's functions take small numbers as they are.
            ResultType::Common
                if self.language == Language::OpenCl
                    && args.iter().all(|argument| self.types[argument.ty] == self.types[first]) =>
            {
                first
            }
            ResultType::Common => {
                args.iter().skip(1).fold(first, |ty, argument| self.types.common_type(ty, argument.ty).unwrap_or(ty))
            }
            ResultType::Floating => self.floating(args),
            ResultType::Lanes(scalar) => {
                let lane = self.types.scalar(scalar);
                match self.types[first] {
                    Type::Vector { lanes, .. } => self.types.intern(Type::Vector { of: lane, lanes }),
                    _ => lane,
                }
            }
            ResultType::Lane => match self.types[first] {
                Type::Vector { of, .. } => of,
                _ => first,
            },
            ResultType::Comparison => match self.types[first] {
                Type::Vector { .. } => self.comparison_type(first),
                _ => self.types.common.int,
            },
            ResultType::Unsigned => self.without_sign(first),
            ResultType::Packed => self.types.word_of(first),
            ResultType::Wider => self.with_lanes(first, |lane| match *lane {
                Type::Int { width, signed } if width <= 32 => Some(Type::Int { width: width * 2, signed }),
                _ => None,
            }),
            ResultType::Real => self.with_lanes(first, |lane| match *lane {
                Type::Int { width: width @ (16 | 32 | 64), .. } => Some(Type::Float { width }),
                _ => None,
            }),
            ResultType::Shuffled => match (&self.types[first], args.last().map(|mask| &self.types[mask.ty])) {
                (&Type::Vector { of, .. }, Some(&Type::Vector { lanes, .. })) => {
                    self.types.intern(Type::Vector { of, lanes })
                }
                _ => self.types.unknown("result of a builtin"),
            },
            ResultType::Pointee => match self.types[first] {
                Type::Pointer { to, .. } => to,
                _ => self.types.common.unknown,
            },
            ResultType::Loaded(lanes) => match args.last().map(|pointer| self.types[pointer.ty].clone()) {
                Some(Type::Pointer { to, .. }) => self.types.intern(Type::Vector { of: to, lanes }),
                _ => self.types.common.unknown,
            },
            ResultType::Fetched | ResultType::Unknown => self.types.unknown("result of a builtin"),
        }
    }

    /// The floating-point type of a mathematical function: the widest of its arguments; integers count as `double`.
    fn floating(&self, args: &[Expr]) -> TypeId {
        let mut best: Option<TypeId> = None;
        for argument in args {
            let ty = match self.types[argument.ty] {
                Type::Vector { .. } | Type::Unknown(_) => return argument.ty,
                Type::Float { .. } => argument.ty,
                _ => continue,
            };
            best = Some(best.map_or(ty, |known| self.types.common_type(known, ty).unwrap_or(known)));
        }
        best.unwrap_or(self.types.common.double)
    }
}
