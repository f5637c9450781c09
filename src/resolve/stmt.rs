//! Statements and local declarations.

use super::context::{DEPTH_LIMIT, Resolver, expr};
use super::entities::{Entity, Global, ScopeId};
use super::function::list_length;
use super::program::{AddressSpace, Expr, ExprKind, Stmt, StmtKind, Storage, Type, TypeId, VariableId};
use super::qualified::Written;
use crate::source::{Language, Span};
use crate::syntax::{self, ItemKind, Qualifier, TypeKind};

impl<'u> Resolver<'u> {
    /// Statements in the current scope, appended to `out`.
    pub(super) fn stmts(&mut self, stmts: &'u [syntax::Stmt], out: &mut Vec<Stmt>) {
        for stmt in stmts {
            self.stmt(stmt, out);
        }
    }

    /// A statement in a block of its own, as the branch of an `if` is.
    fn branch(&mut self, stmt: &'u syntax::Stmt) -> Box<Stmt> {
        let mut out = Vec::new();
        self.in_block(|this| this.stmt(stmt, &mut out));
        let only = if out.len() == 1 { out.pop() } else { None };
        Box::new(only.unwrap_or(Stmt { kind: StmtKind::Block(out), span: stmt.span }))
    }

    /// A statement; a declaration of several variables becomes several statements.
    pub(super) fn stmt(&mut self, stmt: &'u syntax::Stmt, out: &mut Vec<Stmt>) {
        if self.depth > DEPTH_LIMIT {
            out.push(Stmt { kind: StmtKind::Unsupported("statement nested too deeply".to_owned()), span: stmt.span });
            return;
        }
        self.depth += 1;
        self.stmt_kind(stmt, out);
        self.depth -= 1;
    }

    fn stmt_kind(&mut self, stmt: &'u syntax::Stmt, out: &mut Vec<Stmt>) {
        use syntax::StmtKind as Kind;
        let span = stmt.span;
        let kind = match &stmt.kind {
            Kind::Block(stmts) => {
                let mut inner = Vec::new();
                self.in_block(|this| this.stmts(stmts, &mut inner));
                StmtKind::Block(inner)
            }
            Kind::Item(item) => return self.local_item(item, out),
            Kind::Expr(value) => match self.atomic_wait(value) {
                Some(wait) => wait,
                None => StmtKind::Expr(self.effect(value)),
            },
            Kind::If { init, cond, is_constexpr, then, otherwise } => {
                let mut inner = Vec::new();
                self.in_block(|this| {
                    if let Some(init) = init {
                        this.stmt(init, &mut inner);
                    }
                    this.if_stmt(cond, *is_constexpr, then, otherwise.as_deref(), span, &mut inner);
                });
                match init {
                    Some(_) => StmtKind::Block(inner),
                    None => return out.extend(inner),
                }
            }
            Kind::For { init, cond, step, body } => {
                return self
                    .in_block(|this| this.for_stmt(init.as_deref(), cond.as_ref(), step.as_ref(), body, span, out));
            }
            Kind::RangeFor { variable, range, body } => self.range_for(variable, range, body, span),
            Kind::While { cond, body } => {
                let cond = self.expr(cond);
                let cond = self.truth(cond);
                StmtKind::While(cond, self.branch(body))
            }
            Kind::Do { body, cond } => {
                let body = self.branch(body);
                let cond = self.expr(cond);
                StmtKind::Do(body, self.truth(cond))
            }
            Kind::Switch { value, body } => {
                let value = self.expr(value);
                let value = self.switched(value);
                StmtKind::Switch(value, self.branch(body))
            }
            Kind::Case(None) => StmtKind::Case(None),
            Kind::Case(Some(value)) => match self.constant_of(value) {
                Some(value) => StmtKind::Case(Some(value)),
                None => StmtKind::Unsupported("case label that is not a constant".to_owned()),
            },
            Kind::Break => StmtKind::Break,
            Kind::Continue => StmtKind::Continue,
            Kind::Return(value) => self.return_stmt(value.as_ref(), span),
            Kind::Empty => return,
            Kind::Asm { text, outputs, inputs, clobbers_memory } => StmtKind::Asm {
                text: text.clone(),
                outputs: outputs.iter().map(|output| self.expr(output)).collect(),
                inputs: inputs.iter().map(|input| self.value(input)).collect(),
                clobbers_memory: *clobbers_memory,
            },
            Kind::Unsupported(reason) => {
                self.miss();
                StmtKind::Unsupported(reason.clone())
            }
        };
        out.push(Stmt { kind, span });
    }

    /// `if`, or the branch that an `if constexpr` leaves.
    fn if_stmt(
        &mut self,
        cond: &'u syntax::Expr,
        is_constexpr: bool,
        then: &'u syntax::Stmt,
        otherwise: Option<&'u syntax::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let cond = self.expr(cond);
        let cond = self.truth(cond);
        if is_constexpr && let Some(value) = self.constant(&cond) {
            let taken = if value != 0 { Some(then) } else { otherwise };
            if let Some(taken) = taken {
                out.push(*self.branch(taken));
            }
            return;
        }
        let then = self.branch(then);
        let otherwise = otherwise.map(|otherwise| self.branch(otherwise));
        out.push(Stmt { kind: StmtKind::If(cond, then, otherwise), span });
    }

    fn for_stmt(
        &mut self,
        init: Option<&'u syntax::Stmt>,
        cond: Option<&'u syntax::Expr>,
        step: Option<&'u syntax::Expr>,
        body: &'u syntax::Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut before = Vec::new();
        if let Some(init) = init {
            self.stmt(init, &mut before);
        }
        let init = match before.len() {
            0 => None,
            1 => before.pop().map(Box::new),
            // The variables of one declaration live as long as the loop; a block would end them.
            _ => {
                let stmt = init.map_or(span, |init| init.span);
                let last = before.pop().map(Box::new);
                let cond = cond.map(|cond| self.condition(cond));
                let step = step.map(|step| self.effect(step));
                let body = self.branch(body);
                before.push(Stmt { kind: StmtKind::For { init: last, cond, step, body }, span });
                out.push(Stmt { kind: StmtKind::Block(before), span: stmt.to(span) });
                return;
            }
        };
        let cond = cond.map(|cond| self.condition(cond));
        let step = step.map(|step| self.effect(step));
        let body = self.branch(body);
        out.push(Stmt { kind: StmtKind::For { init, cond, step, body }, span });
    }

    fn condition(&mut self, cond: &'u syntax::Expr) -> Expr {
        let cond = self.expr(cond);
        self.truth(cond)
    }

    /// `return`; the first one of a function whose result type is `auto` decides it.
    fn return_stmt(&mut self, value: Option<&'u syntax::Expr>, span: Span) -> StmtKind {
        let Some(value) = value else {
            return StmtKind::Return(None);
        };
        let Some(result) = self.frame.result else {
            let value = self.returned(value, None);
            self.frame.result = Some(value.ty);
            if value.ty == self.types.common.void {
                return returned_void(value, span);
            }
            return StmtKind::Return(Some(value));
        };
        if self.frame.returns_reference {
            let object = self.object(value);
            if !self.is_object(&object) {
                return StmtKind::Unsupported("reference to a temporary returned".to_owned());
            }
            let address = self.address_of(object);
            return StmtKind::Return(Some(self.convert(address, result)));
        }
        if result == self.types.common.void {
            let value = self.expr(value);
            return match self.types[value.ty] {
                Type::Void => returned_void(value, span),
                _ => StmtKind::Unsupported("value returned from a function without result".to_owned()),
            };
        }
        StmtKind::Return(Some(self.returned(value, Some(result))))
    }

    /// The value that a function returns. Whether a local variable that it names is copied is up to the compiler.
    fn returned(&mut self, value: &'u syntax::Expr, result: Option<TypeId>) -> Expr {
        let is_name = matches!(value.kind, syntax::ExprKind::Path(_));
        if let (false, Some(result)) = (is_name, result) {
            return self.initial(value, result);
        }
        let span = value.span;
        let object = self.expr(value);
        let result = match result {
            Some(result) => result,
            None if matches!(self.types[object.ty], Type::Array { .. }) => return self.load(object),
            None => object.ty,
        };
        let is_local = match object.kind {
            ExprKind::Variable(variable) => self.variables[variable].storage == Storage::Local,
            _ => false,
        };
        if is_local && self.types.plain(object.ty) == self.types.plain(result) && self.copy_shows(result) {
            let name = self.type_name(result);
            let reason = format!("copy constructor of {name}, which a compiler may leave out here");
            return self.unsupported_with(span, reason, vec![object]);
        }
        // What ends with the function is given up.
        let ends_here = match object.kind {
            ExprKind::Variable(variable) => {
                let declared = &self.variables[variable];
                matches!(declared.storage, Storage::Local | Storage::Param) && !declared.is_reference
            }
            _ => false,
        };
        if ends_here && self.is_derived(object.ty, result) && self.copies_in_several_ways(result) {
            let name = self.type_name(result);
            let reason = format!("copy or move of {name}: which one is made here depends on the version of C++");
            return self.unsupported_with(span, reason, vec![object]);
        }
        let object = if ends_here { self.given_up(object) } else { object };
        self.implicit(object, result, span)
    }

    /// A local declaration.
    fn local_item(&mut self, item: &'u syntax::Item, out: &mut Vec<Stmt>) {
        match &item.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.declare_inside(&variable.ty);
                    self.local(variable, out);
                }
            }
            ItemKind::StaticAssert(_) => {}
            ItemKind::Unsupported(reason) => {
                out.push(Stmt { kind: StmtKind::Unsupported(reason.clone()), span: item.span });
            }
            ItemKind::Function(function) => match self.call_behind_macro(function) {
                Some(reason) => {
                    self.miss();
                    out.push(Stmt { kind: StmtKind::Unsupported(reason), span: item.span });
                }
                None => self.declare_item(item),
            },
            _ => self.declare_item(item),
        }
    }

    /// Where a local variable lives.
    fn local_storage(&self, variable: &syntax::Variable, written: Written) -> Storage {
        let has = |wanted: fn(&Qualifier) -> bool| variable.qualifiers.iter().any(wanted);
        let is_cuda = self.language == Language::Cuda;
        if written.space == Some(AddressSpace::Shared) || is_cuda && has(|q| matches!(q, Qualifier::Shared)) {
            Storage::Shared
        } else if written.space == Some(AddressSpace::Constant) || is_cuda && has(|q| matches!(q, Qualifier::Constant))
        {
            Storage::Constant
        } else if self.in_host {
            Storage::Host
        } else if has(|q| matches!(q, Qualifier::Static)) {
            if written.is_const { Storage::Constant } else { Storage::Global }
        } else {
            Storage::Local
        }
    }

    /// A local variable with its initial value.
    fn local(&mut self, syntax: &'u syntax::Variable, out: &mut Vec<Stmt>) {
        let span = syntax.span;
        if self.is_declared_elsewhere(syntax) {
            return self.declare_elsewhere(syntax);
        }
        let mut written = self.declared_type(&syntax.ty, &syntax.qualifiers);
        let mut deduced = None;
        if syntax.ty.is_auto() {
            let Some(value) = self.auto_value(syntax, &mut written) else {
                out.push(Stmt { kind: StmtKind::Unsupported("`auto` without a value".to_owned()), span });
                return;
            };
            deduced = Some(value);
        } else if self.is_any_group(written.ty) && !written.is_reference {
            let any = written.ty;
            deduced = self.auto_value(syntax, &mut written);
            if !self.is_certain_group(written.ty) {
                written.ty = any;
            }
        }
        if let Some(reason) = self.hidden_by_macro(syntax, written) {
            self.miss();
            out.push(Stmt { kind: StmtKind::Unsupported(reason), span });
        }
        let storage = self.local_storage(syntax, written);
        let variable = self.new_variable(syntax, written, storage);
        // C lets a variable's own initialiser see it.
        self.declare(&syntax.name.text, Entity::Variable(variable));
        if written.is_reference {
            let value = match deduced {
                Some(value) => value,
                None => match &syntax.init {
                    Some(syntax::Init::Value(value)) => self.object(value),
                    Some(syntax::Init::Call(args) | syntax::Init::List(args)) if args.len() == 1 => {
                        self.object(&args[0])
                    }
                    _ => self.unsupported(span, "reference without an object"),
                },
            };
            let address = self.bind_reference(value, written, variable, span);
            out.push(Stmt { kind: StmtKind::Declare(variable, Some(address)), span });
            return;
        }
        let cleans_up = |qualifier: &Qualifier| matches!(qualifier, Qualifier::Attribute(name, _) if name == "cleanup");
        if syntax.qualifiers.iter().any(cleans_up) {
            let reason = "`cleanup`, which calls a function at the end of the block".to_owned();
            out.push(Stmt { kind: StmtKind::Unsupported(reason), span });
        }
        if self.has_destructor(written.ty) {
            // It would run at every way out of the block.
            let reason = format!("destructor of {}", self.type_name(written.ty));
            out.push(Stmt { kind: StmtKind::Unsupported(reason), span });
        }
        if self.is_constructed(syntax, written) && deduced.is_none() {
            return self.constructed_local(syntax, variable, out);
        }
        if deduced.is_none() && self.undeclared_local(syntax, variable, out) {
            return;
        }
        if syntax.init.is_none() && storage == Storage::Local && !self.types.is_dim3(written.ty) {
            out.push(Stmt { kind: StmtKind::Declare(variable, None), span });
            let object = expr(ExprKind::Variable(variable), written.ty, span);
            let construction = self.default_construction(object, span);
            out.extend(construction.map(|construction| Stmt { kind: StmtKind::Expr(construction), span }));
            return;
        }
        let value = match (deduced, &syntax.init) {
            (Some(value), _) => Some(self.implicit(value, written.ty, span)),
            (None, Some(init)) => Some(self.init_value(init, written.ty, span)),
            // Its constructor makes `dim3 size;` one along all axes.
            (None, None) if self.types.is_dim3(written.ty) && storage != Storage::Shared => {
                Some(self.zero(written.ty, span))
            }
            (None, None) => None,
        };
        if let (Some(value), Type::Array { of, len: None }) = (&value, self.types[written.ty].clone())
            && let Some(len) = list_length(value)
        {
            self.variables[variable].ty = self.types.intern(Type::Array { of, len: Some(len) });
        }
        let value = value.map(|value| Expr { ty: self.variables[variable].ty, ..value });
        self.note_constant(variable, written, &syntax.qualifiers, value.as_ref());
        out.push(Stmt { kind: StmtKind::Declare(variable, value), span });
    }

    /// Remembers the value of an integer that is `const` and initialised by a constant.
    fn note_constant(
        &mut self,
        variable: VariableId,
        written: Written,
        qualifiers: &[Qualifier],
        value: Option<&Expr>,
    ) {
        let is_const = written.is_const || qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr));
        let lives = matches!(self.variables[variable].storage, Storage::Local | Storage::Constant | Storage::Host);
        if let Some(value) = value
            && is_const
            && lives
            && !written.is_volatile
            && self.types.is_integral(written.ty)
        {
            self.variables[variable].constant = self.constant(value);
        }
    }

    /// The value of a variable declared `auto`, and its type.
    fn auto_value(&mut self, syntax: &'u syntax::Variable, written: &mut Written) -> Option<Expr> {
        let init = match syntax.init.as_ref()? {
            syntax::Init::Value(value) => value,
            syntax::Init::Call(args) | syntax::Init::List(args) => args.first()?,
        };
        let value = self.object(init);
        if matches!(syntax.ty.kind, TypeKind::DecltypeAuto) {
            // In parentheses a name gives a reference, and these are gone.
            let is_name = self.is_object(&value) && matches!(value.kind, ExprKind::Variable(_) | ExprKind::Field(..));
            *written = self.declared_as(init, &value);
            if is_name && !matches!(self.types[value.ty], Type::Unknown(_)) {
                let reason = "`decltype(auto)` from a name, which parentheses make a reference".to_owned();
                return Some(self.unsupported_with(syntax.span, reason, vec![value]));
            }
            return Some(value);
        }
        if written.is_reference {
            written.is_const |= self.types.is_const(value.ty);
            written.ty = self.types.plain(value.ty);
            self.collapse(written, &value);
            return Some(value);
        }
        let value = self.copy(value, syntax.span);
        written.ty = value.ty;
        Some(value)
    }

    /// `auto &&` is a reference to what has a place, if that is what it is bound to.
    pub(super) fn collapse(&self, written: &mut Written, value: &Expr) {
        if written.is_reference && self.is_lvalue(value) {
            written.binding = Some(syntax::Binding::Lvalue);
        }
    }

    /// The address that a reference holds.
    pub(super) fn bind_reference(&mut self, value: Expr, written: Written, variable: VariableId, span: Span) -> Expr {
        let ty = self.variables[variable].ty;
        if matches!(value.kind, ExprKind::Unsupported(_)) {
            return Expr { ty, ..value };
        }
        let is_same = self.types.is_alike(value.ty, written.ty)
            || matches!(self.types[written.ty], Type::Unknown(_) | Type::Record(_));
        if self.is_object(&value) && is_same {
            let address = self.address_of(value);
            if let Type::Pointer { to, .. } = self.types[address.ty]
                && self.types.is_alike(to, written.ty)
            {
                // The reference takes the address space of what it is bound to.
                let space = self.types.space_of_pointer(address.ty);
                let to = self.types.object_type(written);
                let ty = self.types.pointer(to, space);
                self.variables[variable].ty = ty;
                return self.convert(address, ty);
            }
            return self.convert(address, ty);
        }
        let value = if self.is_derived(value.ty, written.ty) {
            value
        } else {
            self.converted_for_reference(value, written.ty, span)
        };
        let value = self.destroyed(value, span);
        let address = self.address_of_any(value);
        self.convert(address, ty)
    }

    /// Whether a declaration in a block names a variable of the device that is declared outside of the function.
    fn is_declared_elsewhere(&self, syntax: &syntax::Variable) -> bool {
        let has = |wanted: fn(&Qualifier) -> bool| syntax.qualifiers.iter().any(wanted);
        self.language == Language::Cuda
            && has(|q| matches!(q, Qualifier::Extern))
            && !has(|q| matches!(q, Qualifier::Shared))
    }

    /// Gives the variable at namespace scope its name in this block; all blocks that name one mean the same.
    fn declare_elsewhere(&mut self, syntax: &'u syntax::Variable) {
        let name = &syntax.name.text;
        let (mut scope, mut known) = (Some(self.scope), None);
        while let (Some(current), None) = (scope, known) {
            let entities = self.scopes[current.0].names.get(name).map(Vec::as_slice).unwrap_or(&[]);
            known = entities.iter().find_map(|entity| match entity {
                Entity::Global(index) => Some(*index),
                _ => None,
            });
            scope = self.scopes[current.0].parent;
        }
        let index = known.unwrap_or_else(|| {
            let unit = ScopeId::default();
            self.globals.push(Global::new(syntax, unit));
            let index = self.globals.len() - 1;
            self.within(unit, |this| this.declare(name, Entity::Global(index)));
            index
        });
        self.declare(name, Entity::Global(index));
    }

    /// Whether a variable is initialised by a constructor of the program.
    fn is_constructed(&mut self, syntax: &syntax::Variable, written: Written) -> bool {
        let Type::Record(record) = self.types[written.ty] else {
            return false;
        };
        let shared = syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Shared));
        if shared || self.constructors(record).is_empty() {
            return false;
        }
        !matches!(&syntax.init, Some(syntax::Init::Value(_)))
    }

    /// A variable whose constructor is called on it.
    fn constructed_local(&mut self, syntax: &'u syntax::Variable, variable: VariableId, out: &mut Vec<Stmt>) {
        let span = syntax.span;
        let ty = self.variables[variable].ty;
        let Type::Record(record) = self.types[ty] else { return };
        let constructors = self.constructors(record);
        let object = expr(ExprKind::Variable(variable), ty, span);
        let effect = match &syntax.init {
            Some(syntax::Init::List(args)) if !args.is_empty() && self.takes_list(record) => {
                let value = self.braced(args, ty, span);
                Some(self.store(object, value, span))
            }
            Some(syntax::Init::Call(args) | syntax::Init::List(args)) => {
                let args = self.arguments_of(&constructors, args);
                self.construct_at(object, args, span)
            }
            _ => self.default_construction(object, span),
        };
        out.push(Stmt { kind: StmtKind::Declare(variable, None), span });
        out.extend(effect.map(|effect| Stmt { kind: StmtKind::Expr(effect), span }));
    }
}

impl Resolver<'_> {
    /// The number that a `switch` chooses by; an object that is none is converted to it.
    fn switched(&mut self, value: Expr) -> Expr {
        let span = value.span;
        let value = self.built_in_operand(value, span);
        let value = self.load(value);
        if matches!(self.types[value.ty], Type::Record(_)) {
            let name = self.type_name(value.ty);
            return self.unsupported_with(span, format!("`switch` on a value of type {name}"), vec![value]);
        }
        self.promote(value)
    }
}

/// `return f();` without a value: the call is made for its effect, and then the function returns.
fn returned_void(value: Expr, span: Span) -> StmtKind {
    StmtKind::Block(vec![Stmt { kind: StmtKind::Expr(value), span }, Stmt { kind: StmtKind::Return(None), span }])
}
