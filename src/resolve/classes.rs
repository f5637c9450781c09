//! What objects of classes do by themselves: conversions, construction, copies, and the end of their lives.
//!
//! Deliberately absent: which function of several is called ([`super::overload`]), what the compiler makes of the parts of an
//! object ([`super::implicit`]), and destructors that do something, which are not modelled.

use super::call::functions_of;
use super::context::{DEPTH_LIMIT, Resolver, expr};
use super::entities::FunctionDecl;
use super::implicit::is_idle;
use super::program::{Expr, ExprKind, RecordId, Type, TypeId};
use super::ranks::Fit;
use super::record_layout::{Part, PartKind};
use crate::source::{Language, Span};
use crate::syntax;

/// Elements of an array of objects that are made one by one in an expression.
pub(super) const MOST_MADE: u64 = 64;

/// Who asks for a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The program, by a cast, a construction or a condition: what is `explicit` takes part.
    Written,
    /// Nobody: the conversion is implicit.
    Nobody,
}

impl<'u> Resolver<'u> {
    /// A call of a record's conversion operator to a type, or of that whose number becomes it best ([over.match.user]).
    pub(super) fn conversion_call(&mut self, value: &Expr, to: TypeId, asked: Asked, span: Span) -> Option<Expr> {
        let mut operators = self.conversion_operators(value.ty);
        if asked == Asked::Nobody {
            operators.retain(|(decl, _)| !is_explicit(decl.syntax));
        }
        self.retain_fitting(&mut operators, value);
        let mut same: Vec<(FunctionDecl<'u>, TypeId)> =
            operators.iter().copied().filter(|&(_, ty)| self.types.plain(ty) == self.types.plain(to)).collect();
        if same.is_empty() && self.types.is_arithmetic(to) {
            if !operators.is_empty() && self.has_conversion_template(value.ty) {
                // An instance of the template would give that very type.
                let (from, to) = (self.type_name(value.ty), self.type_name(to));
                let reason = format!("which of several conversions of {from} gives {to}");
                return Some(self.unsupported_with(span, reason, vec![value.clone()]));
            }
            same.extend(self.best_for_number(&operators, to));
        }
        let first = same.first()?.1;
        let decls: Vec<FunctionDecl<'u>> = same.iter().map(|&(decl, _)| decl).collect();
        // One that takes the object with less is better, whatever it gives.
        let others: Vec<FunctionDecl<'u>> = operators.iter().map(|&(decl, _)| decl).collect();
        let best =
            |this: &mut Self, decls: &[FunctionDecl<'u>]| this.fits_of_object(decls, value).into_iter().flatten().min();
        if best(self, &others) < best(self, &decls) || self.choose(&decls, None, Some(value), &[]).is_none() {
            let (from, to) = (self.type_name(value.ty), self.type_name(to));
            let reason = format!("which of several conversions of {from} gives {to}");
            return Some(self.unsupported_with(span, reason, vec![value.clone()]));
        }
        let call = self.function_call(&decls, None, Some(value.clone()), Vec::new(), span);
        let call = self.load(call);
        Some(if self.types.plain(first) == self.types.plain(to) { call } else { self.convert(call, to) })
    }

    /// The conversion operator whose number becomes another one best. What gives an object of a class is none of them: a second
    /// conversion would have to follow.
    fn best_for_number(
        &self,
        operators: &[(FunctionDecl<'u>, TypeId)],
        to: TypeId,
    ) -> Option<(FunctionDecl<'u>, TypeId)> {
        let gives_number =
            |&&(_, ty): &&(FunctionDecl<'u>, TypeId)| self.types.is_arithmetic(ty) && !self.is_short_float(ty);
        let numbers: Vec<_> = operators.iter().filter(gives_number).copied().collect();
        if let [only] = numbers.as_slice() {
            return Some(*only);
        }
        let fits: Vec<Option<Fit>> =
            numbers.iter().map(|&(_, ty)| self.fit_of_numbers(ty, self.types.plain(to))).collect();
        let is_best = |at: &usize| {
            let beats = |rival: &Option<Fit>| match (&fits[*at], rival) {
                (Some(fit), Some(rival)) => fit.is_better_than(rival),
                (fit, _) => fit.is_some(),
            };
            fits.iter().enumerate().all(|(other, rival)| other == *at || beats(rival))
        };
        (0..numbers.len()).find(is_best).map(|at| numbers[at])
    }

    /// Half precision of CUDA and HIP, which is a class there.
    fn is_short_float(&self, ty: TypeId) -> bool {
        self.language == Language::Cuda && matches!(self.types[self.types.plain(ty)], Type::Float { width: 16 })
    }

    /// The conversion operators that take an object without being asked for.
    fn conversions_by_themselves(&mut self, value: &Expr) -> Vec<(FunctionDecl<'u>, TypeId)> {
        let mut operators = self.conversion_operators(value.ty);
        operators.retain(|(decl, _)| !is_explicit(decl.syntax));
        self.retain_fitting(&mut operators, value);
        operators
    }

    /// Leaves those that take an object, unless there are none: a program that compiles has one.
    fn retain_fitting(&mut self, operators: &mut Vec<(FunctionDecl<'u>, TypeId)>, value: &Expr) {
        let decls: Vec<FunctionDecl<'u>> = operators.iter().map(|&(decl, _)| decl).collect();
        let fits = self.fits_of_object(&decls, value);
        if fits.iter().any(Option::is_some) {
            let mut fits = fits.iter();
            operators.retain(|_| fits.next().is_some_and(Option::is_some));
        }
    }

    /// What a reference to another type is bound to: a new object, but for what converts to a reference.
    pub(super) fn converted_for_reference(&mut self, value: Expr, to: TypeId, span: Span) -> Expr {
        if !self.types.is_alike(value.ty, to) && self.converts_to_reference(value.ty) {
            let name = self.type_name(value.ty);
            return self.unsupported_with(span, format!("reference to what {name} is converted to"), vec![value]);
        }
        self.implicit(value, to, span)
    }

    /// Whether some conversion of a class gives a reference.
    pub(super) fn converts_to_reference(&mut self, ty: TypeId) -> bool {
        let gives_reference = |function: &FunctionDecl<'u>| {
            function.syntax.result.as_ref().is_some_and(|ty| matches!(ty.kind, syntax::TypeKind::Reference(..)))
        };
        self.conversion_operators(ty).iter().any(|(decl, _)| gives_reference(decl))
    }

    /// Those of several constructors that convert a value by themselves.
    pub(super) fn converting(&self, constructors: &[FunctionDecl<'u>]) -> Vec<FunctionDecl<'u>> {
        let params = |decl: &FunctionDecl<'u>| -> Vec<String> {
            decl.syntax.params.iter().map(|param| syntax::type_text(&param.ty)).collect()
        };
        // The word stands in the class alone, also where the constructor is defined outside of it.
        let explicit: Vec<Vec<String>> =
            constructors.iter().filter(|decl| is_explicit(decl.syntax)).map(params).collect();
        constructors.iter().copied().filter(|decl| !explicit.contains(&params(decl))).collect()
    }

    /// Whether a constructor template may fit another object of the class, or of a class that is derived from it, better than
    /// what copies: `template <class T> X(T &)`.
    fn has_greedy_constructor(&mut self, record: RecordId, source: &Expr) -> bool {
        let constructors = self.constructors(record);
        constructors.into_iter().any(|decl| self.is_greedy(decl, record, source))
    }

    /// Whether a template takes whatever it is given, and an object of that class, or of one that is derived from it, more
    /// willingly than what copies and assigns: `template <class T> X(T &)`. Where both are equally willing, it is no template.
    pub(super) fn is_greedy(&self, decl: FunctionDecl<'u>, record: RecordId, source: &Expr) -> bool {
        let is_own = self.types[source.ty] == Type::Record(record);
        let params = self.records.own_template(decl);
        let Some((first, rest)) = decl.syntax.params.split_first() else { return false };
        let (inner, binding) = match &first.ty.kind {
            syntax::TypeKind::Reference(inner, binding) => (&**inner, Some(*binding)),
            _ => (&first.ty, None),
        };
        let syntax::TypeKind::Named(path) = &inner.kind else { return false };
        let is_param = match path.segments.as_slice() {
            [only] => params.iter().any(|param| param.name.text == only.name.text),
            _ => false,
        };
        let adds_const = inner.qualifiers.iter().any(|word| matches!(word, syntax::Qualifier::Const));
        let binds_closer = match binding {
            None => false,
            Some(_) if !self.types.is_const(source.ty) => !adds_const,
            // What is given up goes to `&&` rather than to `const &`.
            Some(binding) => binding == syntax::Binding::Rvalue && !self.is_lvalue(source),
        };
        is_param && rest.iter().all(|param| param.default.is_some() || param.pack) && (!is_own || binds_closer)
    }

    /// What is not understood where a constructor template may be called to copy; `None` if none may.
    pub(super) fn greedy_copy(&mut self, ty: TypeId, source: &Expr, span: Span) -> Option<Expr> {
        let Type::Record(record) = self.types[ty] else { return None };
        if self.in_host || !self.is_object(source) || !self.has_greedy_constructor(record, source) {
            return None;
        }
        let name = self.type_name(ty);
        let reason = format!("copy of {name}, to which a constructor template may fit better");
        Some(self.unsupported_with(span, reason, vec![source.clone()]))
    }

    /// An operand of a built-in operator: a record that converts to one built-in type alone is converted to it. Classes are no
    /// built-in types, but what stands for all that half precision can do.
    pub(super) fn built_in_operand(&mut self, value: Expr, span: Span) -> Expr {
        let loaded = self.load(value.clone());
        if let Some(held) = self.atomic_load(&loaded) {
            return held;
        }
        let mut types: Vec<TypeId> =
            self.conversions_by_themselves(&value).into_iter().map(|(_, ty)| self.types.plain(ty)).collect();
        types.sort();
        types.dedup();
        if types.iter().any(|&ty| !self.is_short_float(ty)) {
            types.retain(|&ty| !self.is_short_float(ty));
        }
        match types.as_slice() {
            &[only] if self.types.is_pointer(only) || self.types.is_arithmetic(only) => {
                self.conversion_call(&value, only, Asked::Nobody, span).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// Whether objects of the type convert to numbers or pointers in more ways than one.
    pub(super) fn converts_somehow(&mut self, ty: TypeId) -> bool {
        let types: Vec<TypeId> = self.conversion_operators(ty).into_iter().map(|(_, ty)| ty).collect();
        types.iter().any(|&ty| self.types.is_pointer(ty) || self.types.is_arithmetic(ty))
    }

    /// Whether some conversion of a record is a template, of which there is an instance for each type.
    fn has_conversion_template(&mut self, from: TypeId) -> bool {
        let functions = self.conversion_functions(from);
        functions.into_iter().any(|decl| !self.records.own_template(decl).is_empty())
    }

    /// The functions that convert a record, its own and those of its bases.
    fn conversion_functions(&mut self, from: TypeId) -> Vec<FunctionDecl<'u>> {
        let Type::Record(record) = self.types[from] else {
            return Vec::new();
        };
        let is_conversion = |name: &&String| name.strip_prefix("operator").is_some_and(|rest| rest.starts_with(' '));
        // Those of bases are inherited.
        let (mut classes, mut next) = (vec![record], 0);
        let mut names: Vec<String> = Vec::new();
        while let Some(&class) = classes.get(next) {
            next += 1;
            let scope = self.records.scopes[class.index()];
            names.extend(self.scopes[scope.0].names.keys().filter(is_conversion).cloned());
            let bases = self.records.bases[class.index()].iter().map(|&(base, _)| base);
            let bases: Vec<RecordId> = bases.filter(|base| !classes.contains(base)).collect();
            classes.extend(bases);
        }
        names.sort();
        names.dedup();
        names.iter().flat_map(|name| self.methods(record, name)).collect()
    }

    /// The conversion operators of a record and what they convert to, in the order in which they are preferred.
    fn conversion_operators(&mut self, from: TypeId) -> Vec<(FunctionDecl<'u>, TypeId)> {
        let mut operators = self.conversion_functions(from);
        // Types here do not know `const`, for which C++ has two operators side by side.
        operators.sort_by_key(|decl| decl.syntax.is_const);
        let mut found = Vec::new();
        for decl in operators {
            let Some(function) = self.instance(decl, Vec::new()) else { continue };
            let result = self.functions[function].result;
            let ty = match self.types[result] {
                Type::Pointer { to, .. } if self.functions.infos[function.index()].returns_reference => to,
                _ => result,
            };
            found.push((decl, ty));
        }
        found
    }

    /// Whether a record has constructors of its own.
    pub(super) fn has_constructor(&mut self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Record(record) => !self.constructors(record).is_empty(),
            _ => false,
        }
    }

    /// The constructors of a record that the program defines; those that it leaves to the compiler are none.
    pub(super) fn constructors(&mut self, record: RecordId) -> Vec<FunctionDecl<'u>> {
        let all = self.named_constructors(record);
        let mut left: Vec<(usize, bool)> = Vec::new();
        for decl in all.iter().filter(|decl| is_defaulted(decl.syntax)) {
            left.push((decl.syntax.params.len(), self.takes_own(*decl, record)));
        }
        if left.is_empty() {
            return all;
        }
        let mut own = Vec::new();
        for decl in all {
            let is_left = left.contains(&(decl.syntax.params.len(), self.takes_own(decl, record)));
            if !is_left || decl.syntax.body.is_some() {
                own.push(decl);
            }
        }
        own
    }

    pub(super) fn named_constructors(&self, record: RecordId) -> Vec<FunctionDecl<'u>> {
        let name = self.records.decls[self.records.origins[record.index()].0].name;
        let scope = self.records.scopes[record.index()];
        functions_of(self.scopes[scope.0].names.get(name).map(Vec::as_slice).unwrap_or(&[]))
    }

    /// Whether the program leaves construction without arguments to the compiler although it has constructors.
    pub(super) fn is_default_defaulted(&self, record: RecordId) -> bool {
        let is_default = |decl: &FunctionDecl<'u>| decl.syntax.params.is_empty() && is_defaulted(decl.syntax);
        self.named_constructors(record).iter().any(is_default)
    }

    /// The program's own constructors that copy or move an object, but for one that does just what the compiler would do.
    pub(super) fn copy_constructors(&mut self, record: RecordId) -> Vec<FunctionDecl<'u>> {
        let mut copying = self.constructors(record);
        copying.retain(|decl| self.takes_own(*decl, record));
        match copying.as_slice() {
            [only] if self.copies_each_member(only.syntax, record) => {
                let name = only.syntax.path.segments.last();
                self.told.silent.extend(name.map(|segment| segment.name.span));
                Vec::new()
            }
            _ => copying,
        }
    }

    /// Whether a function takes an object of its own class, by reference or value, and nothing else that has no default.
    pub(super) fn takes_own(&mut self, decl: FunctionDecl<'u>, record: RecordId) -> bool {
        let Some((first, rest)) = decl.syntax.params.split_first() else { return false };
        if rest.iter().any(|param| param.default.is_none()) || !self.records.own_template(decl).is_empty() {
            return false;
        }
        let ty = self.within(decl.scope, |this| this.param_type(first).ty);
        self.types[ty] == Type::Record(record)
    }

    /// Whether a constructor copies each member from the same member, and does nothing else.
    fn copies_each_member(&mut self, function: &'u syntax::Function, record: RecordId) -> bool {
        let Some(copied) = copied_members(function) else { return false };
        let parts = self.parts(record);
        let is_copied = |this: &mut Self, part: &Part<'u>| match part.kind {
            PartKind::Member(Some(declared)) => {
                let name = declared.name.text.as_str();
                let is_whole = copied.contains(&Copied { name, is_whole: true });
                is_whole && !this.copies_by_code(part.ty) && !this.assigns_by_code(part.ty)
            }
            _ => false,
        };
        copied.len() == parts.len() && parts.iter().all(|part| is_copied(self, part))
    }

    /// Whether a copy of an object shows: one whose copy constructor copies members from the same members and leaves out only
    /// what nothing else gives a value cannot be told from the object itself.
    pub(super) fn copy_shows(&mut self, ty: TypeId) -> bool {
        let Type::Record(record) = self.types[ty] else { return false };
        if !self.copies_by_code(ty) {
            return false;
        }
        let own = self.copy_constructors(record);
        let [only] = own.as_slice() else { return true };
        let Some(copied) = copied_members(only.syntax) else { return true };
        self.parts(record).iter().any(|part| match part.kind {
            PartKind::Member(Some(declared)) => {
                let is_copied = copied.iter().any(|copied| copied.name == declared.name.text);
                let is_silent = is_copied || part.default().is_none() && !self.constructs(part.ty);
                !is_silent || self.copies_by_code(part.ty) || self.assigns_by_code(part.ty)
            }
            _ => true,
        })
    }

    /// Whether the end of a record's life runs code of the program: its own destructor, a base's or a field's.
    pub(super) fn has_destructor(&mut self, ty: TypeId) -> bool {
        let record = match self.types[ty] {
            Type::Record(record) => record,
            Type::Array { of, .. } => return self.has_destructor(of),
            _ => return false,
        };
        let name = format!("~{}", self.records.decls[self.records.origins[record.index()].0].name);
        let scope = self.records.scopes[record.index()];
        let own = functions_of(self.scopes[scope.0].names.get(&name).map(Vec::as_slice).unwrap_or(&[]));
        // One that is only declared is defined elsewhere.
        let is_left = own.iter().all(|decl| decl.syntax.body.is_none()) && own.iter().any(|it| is_defaulted(it.syntax));
        if !own.is_empty() && !is_left && !own.iter().any(|decl| is_idle(decl.syntax)) {
            return true;
        }
        let parts: Vec<TypeId> = self.records[record].fields.iter().map(|field| field.ty).collect();
        let bases: Vec<RecordId> = self.records.bases[record.index()].iter().map(|&(base, _)| base).collect();
        let bases: Vec<TypeId> = bases.into_iter().map(|base| self.types.intern(Type::Record(base))).collect();
        parts.into_iter().chain(bases).any(|part| self.has_destructor(part))
    }

    /// The copy of an object: its value, unless code of the program makes it.
    pub(super) fn copy(&mut self, value: Expr, span: Span) -> Expr {
        if let Some(problem) = self.greedy_copy(value.ty, &value, span) {
            return problem;
        }
        if !self.is_object(&value) || !self.copies_by_code(value.ty) || self.in_host {
            return self.load(value);
        }
        // A value of a class is not `const` because what it was copied from is.
        let ty = self.types.plain(value.ty);
        self.made(ty, span, |this, object| Some(this.copy_into(object, value, span)))
    }

    /// A value that is made in a variable of its own.
    pub(super) fn made(&mut self, ty: TypeId, span: Span, make: impl FnOnce(&mut Self, Expr) -> Option<Expr>) -> Expr {
        let temporary = self.temporary(ty, span);
        let object = expr(ExprKind::Variable(temporary), ty, span);
        let effect = make(self, object.clone());
        let value = expr(ExprKind::Load(Box::new(object)), ty, span);
        match effect {
            Some(effect) => expr(ExprKind::Comma(Box::new(effect), Box::new(value)), ty, span),
            None => value,
        }
    }

    /// What is not understood because the object that a value is will be destroyed by code of the program; `value` otherwise.
    pub(super) fn destroyed(&mut self, value: Expr, span: Span) -> Expr {
        let ty = value.ty;
        if self.in_host || !self.has_destructor(ty) {
            return value;
        }
        let reason = format!("destructor of {}", self.type_name(ty));
        let unsupported = self.unsupported(span, reason);
        expr(ExprKind::Comma(Box::new(unsupported), Box::new(value)), ty, span)
    }

    /// The value of `T()` and `T{}`, and of what an initialiser list leaves out.
    pub(super) fn value_initial(&mut self, ty: TypeId, span: Span) -> Expr {
        if self.in_host || !self.constructs(ty) {
            return self.zero(ty, span);
        }
        match self.types[ty] {
            Type::Record(record) => self.made(ty, span, |this, object| {
                let zero = this.zero(ty, span);
                let has_own = this.has_written_default(record);
                let construction = this.default_construction(object.clone(), span)?;
                if has_own {
                    return Some(construction);
                }
                // What no constructor of the program makes is zero before its members are made.
                let first = this.store(object, zero, span);
                let ty = construction.ty;
                Some(expr(ExprKind::Comma(Box::new(first), Box::new(construction)), ty, span))
            }),
            Type::Array { of, len: Some(len) } if len <= MOST_MADE => {
                let parts = (0..len).map(|_| self.value_initial(of, span)).collect();
                expr(ExprKind::Construct(parts), ty, span)
            }
            _ => self.made(ty, span, |this, object| {
                let zero = this.zero(ty, span);
                let first = this.store(object.clone(), zero, span);
                let construction = this.default_construction(object, span)?;
                let ty = construction.ty;
                Some(expr(ExprKind::Comma(Box::new(first), Box::new(construction)), ty, span))
            }),
        }
    }

    /// An object of a class is made from arguments, where it is.
    pub(super) fn construct_at(&mut self, target: Expr, mut args: Vec<Expr>, span: Span) -> Option<Expr> {
        let ty = target.ty;
        let Type::Record(record) = self.types[ty] else { return None };
        if args.is_empty() && self.has_written_default(record) {
            return self.default_construction(target, span);
        }
        if args.is_empty() {
            let value = self.value_initial(ty, span);
            let has_bytes = !self.records[record].fields.is_empty();
            return has_bytes.then(|| self.store(target, value, span));
        }
        if args.len() == 1 && (self.types.plain(args[0].ty) == ty || self.is_derived(args[0].ty, ty)) {
            let only = args.swap_remove(0);
            if let Some(problem) = self.greedy_copy(ty, &only, span) {
                return Some(problem);
            }
            let source = if self.types.plain(only.ty) == ty { Some(only) } else { self.base_part(only, ty) }?;
            return Some(match self.is_object(&source) {
                true => self.copy_into(target, source, span),
                false => self.store(target, source, span),
            });
        }
        let constructors = self.constructors(record);
        if !self.records.inherits_constructors(record) && self.choose(&constructors, None, None, &args).is_some() {
            return Some(self.function_call(&constructors, None, Some(target), args, span));
        }
        let value = self.construct_record(ty, args, Asked::Written, span);
        Some(self.store(target, value, span))
    }

    /// Whether braces around values make a list for a constructor of a class, which is not followed.
    pub(super) fn takes_list(&mut self, record: RecordId) -> bool {
        self.constructors(record).iter().any(|decl| {
            let Some(first) = decl.syntax.params.first() else { return false };
            let mut ty = &first.ty;
            while let syntax::TypeKind::Reference(inner, _) = &ty.kind {
                ty = inner;
            }
            match &ty.kind {
                syntax::TypeKind::Named(path) => {
                    path.segments.last().is_some_and(|last| last.name.text == "initializer_list")
                }
                _ => false,
            }
        })
    }

    /// A record from arguments: a copy, a call of a constructor on a temporary, or its parts in order.
    pub(super) fn construct_record(&mut self, ty: TypeId, args: Vec<Expr>, asked: Asked, span: Span) -> Expr {
        let ty = self.types.plain(ty);
        let Type::Record(record) = self.types[ty] else {
            return self.unsupported_with(span, "constructor".to_owned(), args);
        };
        if let [only] = args.as_slice()
            && self.types.plain(only.ty) == ty
        {
            let copied = self.is_object(only);
            let value = self.copy(only.clone(), span);
            return if copied { self.destroyed(value, span) } else { value };
        }
        if self.depth > DEPTH_LIMIT {
            return self.unsupported_with(span, "construction nested too deeply".to_owned(), args);
        }
        self.depth += 1;
        let value = self.construct_record_of(record, ty, args, asked, span);
        self.depth -= 1;
        value
    }

    fn construct_record_of(&mut self, record: RecordId, ty: TypeId, args: Vec<Expr>, asked: Asked, span: Span) -> Expr {
        if let [only] = args.as_slice()
            && self.is_derived(only.ty, ty)
            && let Some(problem) = self.greedy_copy(ty, only, span)
        {
            return problem;
        }
        if let [only] = args.as_slice()
            && let Some(part) = self.base_part(only.clone(), ty)
        {
            return self.copy(part, span);
        }
        if let Some(reference) = self.atomic_reference(ty, &args, span) {
            return reference;
        }
        let constructors = self.constructors(record);
        if self.has_destructor(ty) {
            let name = self.type_name(ty);
            return self.unsupported_with(span, format!("destructor of {name}"), args);
        }
        if !args.is_empty() && self.records.inherits_constructors(record) {
            let name = self.type_name(ty);
            return self.unsupported_with(span, format!("inherited constructor of {name}"), args);
        }
        let candidates = if asked == Asked::Nobody { self.converting(&constructors) } else { constructors.clone() };
        if self.choose(&candidates, None, None, &args).is_some() {
            return self
                .made(ty, span, |this, object| Some(this.function_call(&candidates, None, Some(object), args, span)));
        }
        if args.is_empty() && (constructors.is_empty() || self.is_default_defaulted(record)) {
            return self.value_initial(ty, span);
        }
        if let [only] = args.as_slice()
            && let Type::Record(_) = self.types[only.ty]
            && let Some(converted) = self.conversion_call(only, ty, asked, span)
        {
            return converted;
        }
        let name = self.type_name(ty);
        let fields: Vec<TypeId> = self.records[record].fields.iter().map(|field| field.ty).collect();
        let whole = self.records[record].bytes.is_some() && self.records.bases[record.index()].is_empty();
        if !constructors.is_empty() && !args.is_empty() || !whole || args.len() > fields.len() || !self.is_plain(record)
        {
            return self.unsupported_with(span, format!("construction of {name}"), args);
        }
        let parts = args
            .into_iter()
            .zip(fields)
            .enumerate()
            .map(|(index, (part, field))| {
                if self.records.is_reference_member(record, index) {
                    return self.bound_member(part, field, span);
                }
                self.implicit(part, field, span)
            })
            .collect();
        expr(ExprKind::Construct(parts), ty, span)
    }

    /// Whether each field of a record is a member that is zero where nothing is given for it.
    pub(super) fn is_plain(&mut self, record: RecordId) -> bool {
        self.in_host
            || self.parts(record).iter().all(|part| {
                matches!(part.kind, PartKind::Member(_)) && part.default().is_none() && !self.constructs(part.ty)
            })
    }
}

/// Whether a constructor or a conversion is called only where that is asked for.
pub(super) fn is_explicit(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, syntax::Qualifier::Explicit))
}

/// Whether the program leaves a function to the compiler, or deletes it.
pub(super) fn is_defaulted(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, syntax::Qualifier::Defaulted))
}

/// Whether an expression is that member of that variable.
fn is_member_of(value: &syntax::Expr, variable: &str, member: &str) -> bool {
    match &value.kind {
        syntax::ExprKind::Member { object, arrow: false, member: named } => {
            named.name.text == member && bare_name(object) == Some(variable)
        }
        _ => false,
    }
}

/// A member that a constructor copies from the same member, whole or element after element.
#[derive(PartialEq, Eq)]
struct Copied<'s> {
    name: &'s str,
    is_whole: bool,
}

/// The members that a constructor copies from the same members of its parameter, if it does nothing else.
fn copied_members(function: &syntax::Function) -> Option<Vec<Copied<'_>>> {
    let [param] = function.params.as_slice() else { return None };
    let other = param.name.text.as_str();
    let mut copied = Vec::new();
    for (name, args) in &function.initializers {
        match args.as_slice() {
            [only] if is_member_of(only, other, &name.text) => copied.push(Copied { name: &name.text, is_whole: true }),
            _ => return None,
        }
    }
    let mut open: Vec<&syntax::Stmt> = function.body.as_ref()?.iter().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            syntax::StmtKind::Empty => {}
            syntax::StmtKind::Block(stmts) => open.extend(stmts),
            syntax::StmtKind::For { body, .. } => open.push(body),
            syntax::StmtKind::Expr(syntax::Expr { kind: syntax::ExprKind::Assign(None, target, value), .. }) => {
                copied.push(same_member(target, value, other)?);
            }
            _ => return None,
        }
    }
    Some(copied)
}

/// The member that both sides of an assignment name, of which the right one is that of a variable.
fn same_member<'s>(target: &'s syntax::Expr, value: &'s syntax::Expr, other: &str) -> Option<Copied<'s>> {
    match (&target.kind, &value.kind) {
        (syntax::ExprKind::Index(target, at), syntax::ExprKind::Index(value, place)) if is_same_index(at, place) => {
            same_member(target, value, other).map(|copied| Copied { is_whole: false, ..copied })
        }
        _ => own_member(target)
            .filter(|name| is_member_of(value, other, name))
            .map(|name| Copied { name, is_whole: true }),
    }
}

fn is_same_index(a: &syntax::Expr, b: &syntax::Expr) -> bool {
    match (&a.kind, &b.kind) {
        (syntax::ExprKind::Int { value: a, .. }, syntax::ExprKind::Int { value: b, .. }) => a == b,
        (syntax::ExprKind::Binary(op, a, b), syntax::ExprKind::Binary(other, c, d)) => {
            op == other && is_same_index(a, c) && is_same_index(b, d)
        }
        _ => bare_name(a).is_some() && bare_name(a) == bare_name(b),
    }
}

/// The member that an expression names of the object whose method it stands in.
fn own_member(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        syntax::ExprKind::Member { object, arrow: true, member } if matches!(object.kind, syntax::ExprKind::This) => {
            Some(&member.name.text)
        }
        _ => bare_name(value),
    }
}

fn bare_name(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        syntax::ExprKind::Path(path) if path.segments.len() == 1 => Some(&path.segments[0].name.text),
        _ => None,
    }
}
