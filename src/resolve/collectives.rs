//! CUB's and hipCUB's collectives: the types that name them, their objects, and calls of their methods.
//!
//! The type of a collective is a pointer to its temporary storage, since that is all that an object of it holds. A call
//! of a method becomes what it does: reads of what it is given, the meeting of the threads around the storage, and
//! unknown values for what it gives back.
//!
//! Deliberately absent: what is computed; that other memory is ordered, which the library does not promise.

use super::context::{Resolver, expr};
use super::entities::{Found, TemplateValue};
use super::program::{BinaryOp, Expr, ExprKind, Storage, Type, TypeId};
use crate::builtins::annotations::ASSUMPTION;
use crate::builtins::collectives::{self, Arrangement, Class, FunctionObject, Group, Rest, Role};
use crate::builtins::{Builtin, namespaces};
use crate::calculus::{Axis, GeometryVar};
use crate::source::{Dialect, Span};
use crate::syntax::{self, PathSegment, TemplateArg};

/// Items of a thread beyond which they are not looked at one by one.
const MOST_ITEMS: u64 = 64;
/// Threads of a warp.
const WARP: i128 = crate::calculus::eval::WARP as i128;

/// A class of collectives with its template arguments.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    class: Class,
    /// As users would write it, without arguments.
    name: String,
    /// The type of an item.
    item: TypeId,
    /// Template arguments that are constants, by position.
    numbers: Vec<Option<i128>>,
}

/// What of a collective call is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NotFollowed {
    #[error("a function that is not understood")]
    Function,
    #[error("items that are too many to follow")]
    Items,
    #[error("unexpected arguments")]
    Arguments,
    #[error("memory behind an iterator that is no pointer")]
    Iterator,
    #[error("items that are no array")]
    NoArray,
    #[error("an algorithm that is not known")]
    Algorithm,
    #[error("a block of unknown size")]
    Block,
}

impl<'u> Resolver<'u> {
    /// The type of a collective, by the name of a class that the unit does not declare.
    pub(super) fn collective_type(&mut self, name: &str, segment: Option<&'u PathSegment>) -> Option<TypeId> {
        let class = self.collective_class(name)?;
        let args = segment?.args.as_deref()?;
        let item = match args.first().map(|first| self.template_value(first)) {
            Some(TemplateValue::Type(item)) => item,
            _ => self.types.common.unknown,
        };
        let words: Vec<Option<String>> = args.iter().map(named_constant).collect();
        let mut numbers = vec![None];
        for (argument, word) in args.iter().zip(&words).skip(1) {
            numbers.push(match (word, word.is_none().then(|| self.template_value(argument))) {
                (None, Some(TemplateValue::Value(number, _))) => Some(number),
                // A bare name may have been taken for a type's.
                (Some(word), _) => collectives::algorithm(word),
                _ => None,
            });
        }
        let shown = |(number, word): (&Option<i128>, &Option<String>)| match (number, word) {
            (_, Some(word)) => word.clone(),
            (Some(number), None) => number.to_string(),
            (None, None) => "?".to_owned(),
        };
        let rest: Vec<String> = numbers.iter().zip(&words).skip(1).map(shown).collect();
        let text = [vec![self.type_name(item)], rest].concat().join(", ");
        let storage = self.types.unknown(format!("{name}<{text}>::TempStorage"));
        let collective = Collective { class, name: name.to_owned(), item, numbers };
        self.collectives.insert(storage, collective);
        Some(self.types.pointer(storage, None))
    }

    /// The class that a name which the unit does not declare stands for.
    fn collective_class(&self, name: &str) -> Option<Class> {
        Class::named(self.name_in_library(name)?)
    }

    /// An algorithm of loads and stores, by the name of a constant that the unit does not declare.
    pub(super) fn collective_algorithm(&self, name: &str, span: Span) -> Option<Expr> {
        let algorithm = collectives::algorithm(self.name_in_library(name)?)?;
        Some(expr(ExprKind::Int(algorithm), self.types.common.int, span))
    }

    /// The name without the namespace of the library, if it is in there.
    fn name_in_library<'n>(&self, name: &'n str) -> Option<&'n str> {
        let known = namespaces::in_collectives(name);
        known.or_else(|| (self.uses_collectives && !name.contains("::")).then_some(name))
    }

    /// `X::TempStorage`, where `X` is a collective.
    pub(super) fn collective_storage(&mut self, path: &'u syntax::Path) -> Option<TypeId> {
        let (last, outer) = path.segments.split_last()?;
        if last.name.text != "TempStorage" {
            return None;
        }
        let segment = outer.last()?;
        let ty = match self.find_outer(path) {
            Found::Entities(entities) => {
                entities.iter().find_map(|entity| self.written_of_entity(entity, segment)).map(|written| written.ty)?
            }
            Found::External(name) => self.collective_type(&name, Some(segment))?,
        };
        let Type::Pointer { to, .. } = self.types[ty] else { return None };
        self.collectives.contains_key(&to).then_some(to)
    }

    /// The collective of which a type is.
    pub(super) fn collective_of(&self, ty: TypeId) -> Option<Collective> {
        match self.types[ty] {
            Type::Pointer { to, .. } => self.collectives.get(&to).cloned(),
            _ => None,
        }
    }

    /// An object of a collective, from its storage.
    pub(super) fn collective_object(&mut self, ty: TypeId, parts: Vec<Expr>, span: Span) -> Expr {
        match parts.as_slice() {
            [only] if only.ty == ty => self.load(only.clone()),
            [storage, ..] if self.is_object(storage) && self.address_is(storage, ty) => {
                let address = self.address_of(storage.clone());
                self.convert(address, ty)
            }
            _ => {
                let name = self.collective_of(ty).map_or_else(String::new, |collective| collective.name);
                self.unsupported_with(span, format!("`{name}` without a temporary storage that is followed"), parts)
            }
        }
    }

    /// Whether a pointer to the object is of that type.
    fn address_is(&self, object: &Expr, pointer: TypeId) -> bool {
        matches!(self.types[pointer], Type::Pointer { to, .. } if to == object.ty)
    }

    /// A function object of the library: an object of it, or nothing if the name is another one.
    pub(super) fn library_function_object(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let is_known = args.is_empty() && self.function_object(name).is_some();
        let ty = is_known.then(|| self.types.unknown(name))?;
        Some(expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), Vec::new()), ty, span))
    }

    /// What a class of CUB, Thrust or the standard library computes, if it is a function object.
    fn function_object(&self, name: &str) -> Option<FunctionObject> {
        if self.in_collectives(name) {
            return Some(FunctionObject::Value);
        }
        collectives::function_object(namespaces::in_standard(name)?)
    }

    fn in_collectives(&self, name: &str) -> bool {
        self.name_in_library(name).is_some_and(collectives::is_function_object)
    }

    /// A call of such an object: a value of its arguments.
    pub(super) fn called_function_object(&mut self, callee: &Expr, args: &[Expr], span: Span) -> Option<Expr> {
        let Type::Unknown(name) = self.types[callee.ty].clone() else { return None };
        let stem = name.split('<').next().unwrap_or(&name);
        let result = self.function_object(stem)?;
        let args: Vec<Expr> = args.iter().map(|argument| self.load(argument.clone())).collect();
        let ty = args.first()?.ty;
        let is_number = |ty| self.types.is_arithmetic(ty) || self.part_of_complex(ty).is_some();
        if !args.iter().all(|argument| is_number(argument.ty)) && !self.in_collectives(stem) {
            // Operators of the program, which may do anything, or of a type that is not known.
            return None;
        }
        if result == FunctionObject::Test {
            return Some(expr(ExprKind::Builtin(Builtin::Pure, name, args), self.types.common.bool, span));
        }
        let ty = args.iter().skip(1).fold(ty, |ty, argument| self.types.common_type(ty, argument.ty).unwrap_or(ty));
        Some(expr(ExprKind::Builtin(Builtin::Pure, name, args), ty, span))
    }

    /// A call of a method of a collective.
    pub(super) fn collective_call(
        &mut self,
        collective: &Collective,
        object: Expr,
        method: &str,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let name = format!("{}::{method}", collective.name);
        let object = self.load(object);
        let Some(known) = collective.class.method(method) else {
            return self.unknown_call(&name, [vec![object], args].concat(), span);
        };
        if collective.class.group() == Group::Warp && !self.is_of_whole_warps(collective) {
            // Barriers here know whole warps only.
            let args = [vec![object], args].concat().into_iter().map(|part| self.load(part)).collect();
            let builtin = Builtin::Unmodelled { reason: "collective of a warp".to_owned(), touches_memory: true };
            return expr(ExprKind::Builtin(builtin, name, args), collective.item, span);
        }
        let mut steps = Steps { before: Vec::new(), after: Vec::new() };
        let count = args.len();
        for (position, argument) in args.iter().enumerate() {
            let role = match (position, known.rest) {
                (0, _) => known.first,
                (_, Rest::Plain) => Role::Read,
                (1, Rest::Scanned) => Role::Updated,
                // `ExclusiveScan(in, out, initial value, function)`
                (2, Rest::Scanned) if method.ends_with("Scan") && count > 3 => Role::Read,
                (_, Rest::Items | Rest::Scanned) => Role::Updated,
            };
            if role == Role::Memory {
                continue;
            }
            let is_plain = known.rest == Rest::Items && !matches!(self.types[argument.ty], Type::Array { .. });
            let role = if is_plain && position > 0 { Role::Read } else { role };
            if let Err(problem) = self.collective_argument(collective, argument, role, &mut steps, span) {
                return self.unsupported_with(span, format!("{problem} (`{name}`)"), [vec![object], args].concat());
            }
        }
        if known.first == Role::Memory
            && let Err(problem) = self.shared_out(collective, &args, &mut steps, span)
        {
            return self.unsupported_with(span, format!("{problem} (`{name}`)"), [vec![object], args].concat());
        }
        steps.before.extend(self.stated_width(collective, span));
        let meeting = ExprKind::Builtin(Builtin::Collective(collective.class.group()), name.clone(), vec![object]);
        let meeting = expr(meeting, self.types.common.void, span);
        let ty = if known.result == collectives::Result::Item { collective.item } else { self.types.common.void };
        let result = match known.result {
            collectives::Result::Item => self.unknown_value_of(&name, ty, span),
            collectives::Result::Nothing => expr(ExprKind::Int(0), self.types.common.int, span),
        };
        let all = [steps.before, vec![meeting], steps.after].concat();
        all.into_iter().rev().fold(result, |rest, step| {
            let ty = rest.ty;
            expr(ExprKind::Comma(Box::new(step), Box::new(rest)), ty, span)
        })
    }

    /// The width of the block, which the class of a collective of a block states.
    fn stated_width(&self, collective: &Collective, span: Span) -> Option<Expr> {
        let width = collective.numbers.get(collective.class.threads_at()).copied().flatten()?;
        if collective.class.group() != Group::Block {
            return None;
        }
        let size = self.geometry(GeometryVar::BlockDim(Axis::X), span);
        let width = expr(ExprKind::Int(width), size.ty, span);
        let says = ExprKind::Binary(BinaryOp::Eq, Box::new(size), Box::new(width));
        let says = expr(says, self.types.common.bool, span);
        let name = ASSUMPTION.to_owned();
        Some(expr(ExprKind::Builtin(Builtin::Assume, name, vec![says]), self.types.common.void, span))
    }

    /// Whether all threads of a warp take part, whose number is known.
    fn is_of_whole_warps(&self, collective: &Collective) -> bool {
        let threads = collective.numbers.get(collective.class.threads_at()).copied().unwrap_or(Some(WARP));
        self.dialect == Dialect::Cuda && threads == Some(WARP)
    }

    /// A value that nothing is known about.
    fn unknown_value_of(&self, name: &str, ty: TypeId, span: Span) -> Expr {
        let builtin = Builtin::Unmodelled { reason: format!("result of `{name}`"), touches_memory: false };
        expr(ExprKind::Builtin(builtin, name.to_owned(), Vec::new()), ty, span)
    }

    /// What a method does with an argument of one thread.
    fn collective_argument(
        &mut self,
        collective: &Collective,
        argument: &Expr,
        role: Role,
        steps: &mut Steps,
        span: Span,
    ) -> Result<(), NotFollowed> {
        if let Type::Record(record) = self.types[argument.ty]
            && !self.methods(record, "operator()").is_empty()
        {
            self.called_by_library(collective, argument, steps, span);
            return Ok(());
        }
        if matches!(argument.kind, ExprKind::Unsupported(_)) {
            return Err(NotFollowed::Function);
        }
        let parts = match self.types[argument.ty] {
            Type::Array { of, len: Some(len) } if len <= MOST_ITEMS && self.is_object(argument) => {
                (0..len).map(|index| self.item(argument, of, index)).collect()
            }
            Type::Array { .. } => return Err(NotFollowed::Items),
            _ => vec![argument.clone()],
        };
        for part in parts {
            let is_written = role == Role::Updated && self.is_object(&part);
            if !is_written || !is_local(&part, self) {
                let value = self.load(part.clone());
                steps.before.push(value);
            }
            if is_written {
                let value = self.unknown_value_of(&collective.name, part.ty, span);
                let ty = part.ty;
                steps.after.push(expr(ExprKind::Assign(Box::new(part), Box::new(value)), ty, span));
            }
        }
        Ok(())
    }

    /// The library calls a function object of the program, with values that are not known.
    fn called_by_library(&mut self, collective: &Collective, callee: &Expr, steps: &mut Steps, span: Span) {
        let Type::Record(record) = self.types[callee.ty] else { return };
        let methods = self.methods(record, "operator()");
        let counts = methods.iter().map(|decl| decl.syntax.params.len());
        let Some(count) = counts.min() else { return };
        let args = (0..count).map(|_| {
            let value = self.unknown_value_of(&collective.name, collective.item, span);
            self.kept_object(value, steps, span)
        });
        let args: Vec<Expr> = args.collect();
        let call = self.function_call(&methods, None, Some(callee.clone()), args, span);
        steps.before.push(call);
    }

    /// One item of an array.
    fn item(&self, array: &Expr, of: TypeId, index: u64) -> Expr {
        let span = array.span;
        let index = expr(ExprKind::Int(i128::from(index)), self.types.common.long, span);
        expr(ExprKind::Element(Box::new(array.clone()), Box::new(index)), of, span)
    }

    /// `Load(from, items, valid, default)` and `Store(to, items, valid)`: each thread accesses its own items of the block's.
    fn shared_out(
        &mut self,
        collective: &Collective,
        args: &[Expr],
        steps: &mut Steps,
        span: Span,
    ) -> Result<(), NotFollowed> {
        let [memory, items, rest @ ..] = args else { return Err(NotFollowed::Arguments) };
        let memory = self.load(memory.clone());
        let Type::Pointer { to, .. } = self.types[memory.ty] else {
            return Err(NotFollowed::Iterator);
        };
        let Type::Array { of, len: Some(len) } = self.types[items.ty] else {
            return Err(NotFollowed::NoArray);
        };
        let pointer = self.kept(memory, steps, span);
        let valid = match rest.first() {
            Some(valid) => {
                let valid = self.load(valid.clone());
                let valid = self.convert(valid, self.types.common.long);
                Some(self.kept(valid, steps, span))
            }
            None => None,
        };
        let is_load = collective.class == Class::BlockLoad;
        for index in 0..len {
            let position = self.position(collective, (index, len), span)?;
            let element = self.index(pointer.clone(), position.clone(), span);
            let item = self.item(items, of, index);
            let access = if is_load {
                let value = self.load(element);
                let value = self.convert(value, of);
                expr(ExprKind::Assign(Box::new(item), Box::new(value)), of, span)
            } else {
                let value = self.load(item);
                let value = self.convert(value, to);
                expr(ExprKind::Assign(Box::new(element), Box::new(value)), to, span)
            };
            let step = match &valid {
                Some(valid) => {
                    let is_valid = ExprKind::Binary(BinaryOp::Lt, Box::new(position), Box::new(valid.clone()));
                    let is_valid = expr(is_valid, self.types.common.bool, span);
                    let zero = expr(ExprKind::Int(0), self.types.common.int, span);
                    let access = ExprKind::Comma(Box::new(access), Box::new(zero.clone()));
                    let access = expr(access, self.types.common.int, span);
                    let kind = ExprKind::Conditional(Box::new(is_valid), Box::new(access), Box::new(zero));
                    expr(kind, self.types.common.int, span)
                }
                None => access,
            };
            steps.after.push(step);
        }
        Ok(())
    }

    /// A value in a variable of its own, which is set before the meeting.
    fn kept(&mut self, value: Expr, steps: &mut Steps, span: Span) -> Expr {
        let object = self.kept_object(value, steps, span);
        self.load(object)
    }

    /// The variable itself.
    fn kept_object(&mut self, value: Expr, steps: &mut Steps, span: Span) -> Expr {
        let ty = value.ty;
        let variable = self.temporary(ty, span);
        let object = expr(ExprKind::Variable(variable), ty, span);
        steps.before.push(expr(ExprKind::Assign(Box::new(object.clone()), Box::new(value)), ty, span));
        object
    }

    /// Where an item of a thread lies among those of its block.
    fn position(
        &mut self,
        collective: &Collective,
        (item, items): (u64, u64),
        span: Span,
    ) -> Result<Expr, NotFollowed> {
        let number = |at: usize| collective.numbers.get(at).copied().flatten();
        let arrangement = match number(3) {
            Some(algorithm) => collectives::arrangement(algorithm).ok_or(NotFollowed::Algorithm)?,
            None if collective.numbers.len() > 3 => return Err(NotFollowed::Algorithm),
            None => Arrangement::Blocked,
        };
        let constant = |value: i128, this: &Self| expr(ExprKind::Int(value), this.types.common.long, span);
        let threads = number(1).ok_or(NotFollowed::Block)?;
        let rank = self.rank_by_extents(collective, threads, span);
        let (item, items) = (i128::from(item), i128::from(items));
        let block = threads * collective.extents().iter().product::<i128>();
        let position = match arrangement {
            Arrangement::Blocked => {
                let first = self.times(rank, constant(items, self));
                self.plus(first, constant(item, self))
            }
            Arrangement::Striped => self.plus(rank, constant(item * block, self)),
            Arrangement::WarpStriped => {
                let warp = self.by(BinaryOp::Div, rank.clone(), constant(WARP, self));
                let lane = self.by(BinaryOp::Rem, rank, constant(WARP, self));
                let first = self.times(warp, constant(WARP * items, self));
                let own = self.plus(lane, constant(item * WARP, self));
                self.plus(first, own)
            }
        };
        Ok(position)
    }

    /// The rank of a thread in a block of the extents that the class is told.
    fn rank_by_extents(&self, collective: &Collective, width: i128, span: Span) -> Expr {
        let id = |axis| {
            let value = self.geometry(GeometryVar::ThreadIdx(axis), span);
            expr(ExprKind::Convert(Box::new(value)), self.types.common.long, span)
        };
        let constant = |value: i128| expr(ExprKind::Int(value), self.types.common.long, span);
        let [height, depth] = collective.extents();
        let mut rank = id(Axis::X);
        if height > 1 {
            rank = self.plus(rank, self.times(id(Axis::Y), constant(width)));
        }
        if depth > 1 {
            rank = self.plus(rank, self.times(id(Axis::Z), constant(width * height)));
        }
        rank
    }

    fn plus(&self, left: Expr, right: Expr) -> Expr {
        self.by(BinaryOp::Add, left, right)
    }

    fn times(&self, left: Expr, right: Expr) -> Expr {
        self.by(BinaryOp::Mul, left, right)
    }

    fn by(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (ty, span) = (left.ty, left.span);
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }
}

impl Collective {
    /// The extents of the block beyond the first.
    fn extents(&self) -> [i128; 2] {
        let places = self.class.other_extents();
        let extent = |at: usize| self.numbers.get(at).copied().flatten().unwrap_or(1);
        places.map_or([1, 1], |[height, depth]| [extent(height), extent(depth)])
    }
}

/// What is done before and after the threads meet.
struct Steps {
    before: Vec<Expr>,
    after: Vec<Expr>,
}

/// Whether an object is a part of a local variable, which nobody else sees.
fn is_local(object: &Expr, resolver: &Resolver<'_>) -> bool {
    match &object.kind {
        ExprKind::Variable(variable) => {
            let variable = &resolver.variables[*variable];
            variable.storage == Storage::Local && !variable.is_reference
        }
        ExprKind::Element(inner, _) | ExprKind::Field(inner, _) | ExprKind::Lanes(inner, _) => {
            is_local(inner, resolver)
        }
        _ => false,
    }
}

/// The last name of an argument that is written as `cub::BLOCK_LOAD_TRANSPOSE`.
fn named_constant(argument: &TemplateArg) -> Option<String> {
    let path = match argument {
        TemplateArg::Value(syntax::Expr { kind: syntax::ExprKind::Path(path), .. }) => path,
        TemplateArg::Type(syntax::Type { kind: syntax::TypeKind::Named(path), .. }) => path,
        _ => return None,
    };
    let name = &path.segments.last()?.name.text;
    name.starts_with("BLOCK_").then(|| name.clone()).filter(|name| {
        ["BLOCK_LOAD_", "BLOCK_STORE_", "BLOCK_REDUCE_", "BLOCK_SCAN_"].iter().any(|stem| name.starts_with(stem))
    })
}
