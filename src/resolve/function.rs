//! Instances of functions: their heads when they are first named, their bodies from a queue.

use super::context::{Frame, Resolver};
use super::entities::{Entity, FunctionDecl, Scope, TemplateValue};
use super::function_table::FunctionInfo;
use super::program::{
    Expr, ExprKind, Function, FunctionId, RecordId, Stmt, StmtKind, Storage, Type, TypeId, Variable, VariableId,
};
use super::qualified::Written;
use super::record_layout::{Part, PartKind};
use crate::calculus::GeometryFacts;
use crate::source::{Language, Span};
use crate::syntax::literals::string;
use crate::syntax::{self, Param, Qualifier, TypeKind};

/// Functions of templates and of their members beyond which no further one is made: templates may ask for each other without end,
/// which functions that stand in a namespace as they are cannot.
pub(super) const INSTANCE_LIMIT: usize = 4_096;

/// An entry of a constructor's list.
type Listed = (syntax::Name, Vec<syntax::Expr>);

/// Nesting that a body counts for when another body needs it at once.
const BODY_DEPTH: usize = 16;

impl<'u> Resolver<'u> {
    /// The instance of a function for template arguments; `None` if there are too many.
    pub(super) fn instance(&mut self, decl: FunctionDecl<'u>, values: Vec<TemplateValue>) -> Option<FunctionId> {
        self.instance_for(decl, values, Vec::new())
    }

    /// The instance for template arguments and the types of the groups of threads that are given for parameters that take
    /// any; `None` if there are too many.
    pub(super) fn instance_for(
        &mut self,
        decl: FunctionDecl<'u>,
        values: Vec<TemplateValue>,
        groups: Vec<(usize, TypeId)>,
    ) -> Option<FunctionId> {
        let key = (std::ptr::from_ref(decl.syntax) as usize, decl.scope, values, groups);
        if let Some(&known) = self.functions.instances.get(&key) {
            return Some(known);
        }
        let is_plain = self.scopes[decl.scope.0].is_namespace && key.2.is_empty() && key.3.is_empty();
        if !is_plain && self.functions.of_templates >= INSTANCE_LIMIT {
            return None;
        }
        self.functions.of_templates += usize::from(!is_plain);
        let function = self.head(decl, &key.2, &key.3);
        self.functions.instances.insert(key, function);
        self.functions.queue.push_back(function);
        Some(function)
    }

    /// Makes a function without its body.
    pub(super) fn head(
        &mut self,
        decl: FunctionDecl<'u>,
        values: &[TemplateValue],
        groups: &[(usize, TypeId)],
    ) -> FunctionId {
        let params = self.records.own_template(decl);
        let bound = self.bind(decl.scope, params, values);
        let scope = self.add_scope(Scope::inside(bound));
        let name = decl.syntax.path.segments.last();
        let span = name.map_or_else(no_span, |segment| segment.name.span);
        let name = name.map_or("", |segment| segment.name.text.as_str());
        let prefix = self.scopes[decl.scope.0].prefix.clone();
        let is_kernel = decl.syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel));
        let outer = std::mem::replace(&mut self.scope, scope);
        let seen = self.visible.see_as(decl.syntax);
        // What stands behind the parameters may name them.
        let trails = is_behind(decl.syntax.result.as_ref(), span);
        let before = (!trails).then(|| self.result_type(decl.syntax, name));
        let this = self.this_param(decl, span);
        let mut handles: Vec<VariableId> = this.into_iter().collect();
        let mut unsupported = Vec::new();
        for (number, param) in decl.syntax.params.iter().enumerate() {
            let variable = self.param(param);
            if let Some(&(_, ty)) = groups.iter().find(|(of, _)| *of == number) {
                let is_reference = self.variables[variable].is_reference;
                self.variables[variable].ty = if is_reference { self.types.pointer(ty, None) } else { ty };
            }
            handles.push(variable);
        }
        let (result, returns_reference) = match before {
            Some(result) => result,
            None => self.result_type(decl.syntax, name),
        };
        if decl.syntax.variadic {
            unsupported.push((span, "function with `...`".to_owned()));
        }
        let mut function = Function {
            name: format!("{prefix}{name}"),
            template_args: self.value_texts(values),
            is_kernel,
            result,
            params: handles,
            body: None,
            geometry: GeometryFacts::default(),
            span,
            unsupported,
            assumed: Vec::new(),
            same_pointers: Vec::new(),
        };
        self.head_attributes(decl.syntax, &mut function);
        if is_kernel {
            self.attributes_of_declarations(decl, name, &mut function);
        }
        self.visible.see_again(seen);
        self.scope = outer;
        self.functions.infos.push(FunctionInfo {
            syntax: decl.syntax,
            scope,
            this,
            returns_reference,
            result_is_auto: decl.syntax.result.as_ref().is_some_and(|ty| matches!(ty.kind, TypeKind::Auto)),
            started: false,
        });
        self.functions.add(function)
    }

    /// The result type; a reference is a pointer.
    pub(super) fn result_type(&mut self, function: &'u syntax::Function, name: &str) -> (TypeId, bool) {
        match &function.result {
            Some(result) => {
                let written = self.resolve_type(result);
                (self.types.held_type(written), written.is_reference)
            }
            None => match name.strip_prefix("operator ") {
                Some(target) => (self.type_by_name(target), false),
                None => (self.types.common.void, false),
            },
        }
    }

    /// The type that the words of a conversion operator name.
    fn type_by_name(&mut self, words: &str) -> TypeId {
        let (base, stars) = match words.find('*') {
            Some(at) => (words[..at].trim(), words[at..].chars().filter(|&c| c == '*').count()),
            None => (words.trim(), 0),
        };
        let base = base.strip_prefix("const ").unwrap_or(base).trim();
        let mut ty = match self.types.builtin_type(base) {
            Some(named) => named,
            None => match self.lookup(base).into_iter().find_map(|entity| match entity {
                Entity::Type(ty) | Entity::Enum(ty, _) => Some(ty),
                Entity::Record(index) => Some(self.record_type(index, None)),
                Entity::Alias([], ty, scope) => Some(self.within(scope, |this| this.resolve_type(ty).ty)),
                _ => None,
            }) {
                Some(ty) => ty,
                None => self.types.unknown(base),
            },
        };
        for _ in 0..stars {
            ty = self.types.pointer(ty, None);
        }
        ty
    }

    /// The parameter `this` of a method that is not static.
    fn this_param(&mut self, decl: FunctionDecl<'u>, span: Span) -> Option<VariableId> {
        let record = decl.record?;
        if self.is_static(decl, record) {
            return None;
        }
        let ty = self.types.intern(Type::Record(record));
        let ty = if decl.syntax.is_const { self.types.with_const(ty) } else { ty };
        let ty = self.types.pointer(ty, None);
        Some(self.variables.add(Variable {
            name: "this".to_owned(),
            ty,
            storage: Storage::Param,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span,
        }))
    }

    /// Whether a method is static; a definition outside does not repeat the word.
    pub(super) fn is_static(&self, decl: FunctionDecl<'u>, record: RecordId) -> bool {
        let says = |function: &syntax::Function| {
            function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Static))
        };
        let name = decl.syntax.path.segments.last().map_or("", |segment| segment.name.text.as_str());
        let scope = self.records.scopes[record.index()];
        says(decl.syntax)
            || self.scopes[scope.0].names.get(name).is_some_and(|entities| {
                entities.iter().any(|entity| match entity {
                    Entity::Function(other) => {
                        other.syntax.params.len() == decl.syntax.params.len() && says(other.syntax)
                    }
                    _ => false,
                })
            })
    }

    /// A parameter; arrays and functions are pointers to them.
    fn param(&mut self, param: &'u Param) -> VariableId {
        let written = self.param_type(param);
        let ty = self.types.held_type(written);
        let variable = self.variables.add(Variable {
            name: param.name.text.clone(),
            ty,
            storage: Storage::Param,
            is_reference: written.is_reference,
            is_volatile: written.is_volatile,
            constant: None,
            range: if written.is_reference { None } else { written.range },
            is_extern: false,
            has_initializer: false,
            span: param.name.span,
        });
        self.note_const(variable, written);
        self.declare(&param.name.text, Entity::Variable(variable));
        variable
    }

    /// The type of a parameter: an array by value is a pointer to its elements.
    pub(super) fn param_type(&mut self, param: &'u Param) -> Written {
        if param.pack {
            return Written::plain(self.types.unknown("parameter pack"));
        }
        let written = self.declared_type(&param.ty, &param.qualifiers);
        match self.types[written.ty] {
            Type::Array { of, .. } if !written.is_reference => {
                let of = if written.is_const { self.types.with_const(of) } else { of };
                let ty = self.types.pointer(of, written.space);
                Written { ty, space: None, is_const: false, ..written }
            }
            Type::Unknown(_) if !written.is_reference && self.types.signatures.contains_key(&written.ty) => {
                let ty = self.types.pointer(written.ty, None);
                Written { ty, space: None, ..written }
            }
            _ => written,
        }
    }

    /// What attributes of earlier declarations say, as far as those of the definition leave it open. Those of templates are
    /// not read: they may depend on parameters of other names.
    fn attributes_of_declarations(&mut self, decl: FunctionDecl<'u>, name: &str, function: &mut Function) {
        let named = self.declared_in(decl.scope, name);
        for earlier in super::call::functions_of(&named) {
            let is_other = !std::ptr::eq(earlier.syntax, decl.syntax) && earlier.syntax.body.is_none();
            if !is_other || earlier.syntax.template.is_some() || !self.declares_same(earlier, decl) {
                continue;
            }
            let stated = function.geometry.clone();
            self.head_attributes(earlier.syntax, function);
            let found = &mut function.geometry;
            found.required_block = stated.required_block.or(found.required_block);
            found.max_threads = stated.max_threads.or(found.max_threads);
            found.cluster = stated.cluster.or(found.cluster);
        }
    }

    /// What attributes say of a kernel's geometry.
    fn head_attributes(&mut self, syntax: &'u syntax::Function, function: &mut Function) {
        for qualifier in &syntax.qualifiers {
            let Qualifier::Attribute(name, args) = qualifier else {
                continue;
            };
            let sizes: Vec<Option<u32>> =
                args.iter().map(|size| self.constant_of(size).and_then(|size| u32::try_from(size).ok())).collect();
            match (name.trim_matches('_'), sizes.as_slice()) {
                ("reqd_work_group_size", [Some(x), Some(y), Some(z)]) => {
                    function.geometry.required_block = Some([*x, *y, *z]);
                }
                ("launch_bounds", [Some(most), ..]) => function.geometry.max_threads = Some(*most),
                ("cluster_dims", [x, rest @ ..]) if rest.len() < 3 => {
                    let extent = |at: usize| rest.get(at).map_or(Some(1), |extent| *extent);
                    match (x, extent(0), extent(1)) {
                        (&Some(x), Some(y), Some(z)) if x > 0 && y > 0 && z > 0 => {
                            function.geometry.cluster = Some([x, y, z]);
                        }
                        _ => {
                            let reason = "a size of clusters that is no constant".to_owned();
                            function.unsupported.push((function.span, reason));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Resolves the bodies of all functions that have been named, and of those that these name.
    pub(super) fn drain(&mut self) {
        while let Some(function) = self.functions.queue.pop_front() {
            self.ensure_body(function);
        }
    }

    /// Resolves the body of a function, if it has not been.
    pub(super) fn ensure_body(&mut self, function: FunctionId) {
        let info = self.functions.infos[function.index()].clone();
        // What is too deep here stays in the queue.
        if info.started || self.depth > super::context::DEPTH_LIMIT {
            return;
        }
        self.functions.infos[function.index()].started = true;
        let Some(body) = &info.syntax.body else {
            return;
        };
        let frame = Frame {
            result: (!info.result_is_auto).then_some(self.functions[function].result),
            returns_reference: info.returns_reference,
            this: info.this,
            temporaries: Vec::new(),
        };
        let is_template = self.is_instance(&info);
        let result = self.body_within(function, frame, |this| {
            this.as_seen_from(info.syntax, is_template, |this| {
                this.within(info.scope, |this| {
                    let mut stmts = this.member_initializers(info.syntax);
                    this.in_block(|this| this.stmts(body, &mut stmts));
                    stmts
                })
            })
        });
        if info.result_is_auto {
            self.functions[function].result = result.unwrap_or(self.types.common.void);
        }
    }

    /// Gives a function the statements that `work` makes within its frame, behind the temporaries that they need; returns the
    /// type of its result, as far as it is known.
    pub(super) fn body_within(
        &mut self,
        function: FunctionId,
        frame: Frame,
        work: impl FnOnce(&mut Self) -> Vec<Stmt>,
    ) -> Option<TypeId> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let in_host = std::mem::replace(&mut self.in_host, false);
        self.depth += BODY_DEPTH;
        let stmts = work(self);
        self.depth -= BODY_DEPTH;
        self.in_host = in_host;
        let frame = std::mem::replace(&mut self.frame, outer);
        let mut whole = self.constants_of_closure(&frame, &stmts);
        whole.extend(frame.temporaries);
        whole.extend(stmts);
        self.functions[function].body = Some(whole);
        frame.result
    }

    /// Whether a function comes from a template, or is a member of what does.
    fn is_instance(&self, info: &FunctionInfo<'u>) -> bool {
        let mut scope = Some(info.scope);
        while let Some(current) = scope {
            if let Some(record) = self.scopes[current.0].record
                && !self.records.origins[record.index()].1.is_empty()
            {
                return true;
            }
            scope = self.scopes[current.0].parent;
        }
        info.syntax.template.as_ref().is_some_and(|params| !params.is_empty())
    }

    /// What a constructor does before its body: bases and members, in the order of their declaration, get what its list says,
    /// else what their declarations say.
    fn member_initializers(&mut self, syntax: &'u syntax::Function) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        let Some(this) = self.frame.this else {
            return stmts;
        };
        let Type::Pointer { to, .. } = self.types[self.variables[this].ty] else {
            return stmts;
        };
        let Type::Record(record) = self.types[to] else {
            return stmts;
        };
        if !self.records.is_constructor(syntax, record) {
            return stmts;
        }
        let span = syntax.path.segments.last().map_or_else(no_span, |segment| segment.name.span);
        let object = self.this(span);
        let object = self.deref(object);
        let own = self.records.decls[self.records.origins[record.index()].0].name;
        if let [(name, args)] = syntax.initializers.as_slice()
            && name.text == own
        {
            let args = self.arguments(args);
            let effect = self.construct_at(object, args, name.span);
            stmts.extend(effect.map(|effect| Stmt { kind: StmtKind::Expr(effect), span: name.span }));
            return stmts;
        }
        self.no_virtual_base(record, span, &mut stmts);
        let mut open: Vec<&'u Listed> = syntax.initializers.iter().collect();
        for part in self.parts_of_constructor(record) {
            self.initialize_part(record, &object, &part, span, &mut open, &mut stmts);
        }
        for (name, _) in open {
            self.miss();
            let reason = format!("initialiser of `{}`", name.text);
            stmts.push(Stmt { kind: StmtKind::Unsupported(reason), span: name.span });
        }
        stmts
    }

    /// A part of the object gets what the list of a constructor says, which is then used up, or what its declaration says.
    fn initialize_part(
        &mut self,
        record: RecordId,
        object: &Expr,
        part: &Part<'u>,
        span: Span,
        open: &mut Vec<&'u Listed>,
        stmts: &mut Vec<Stmt>,
    ) {
        if let PartKind::Anonymous { parts, is_union } = &part.kind {
            let is_listed: Vec<bool> =
                parts.iter().map(|part| open.iter().any(|(name, _)| self.is_named(record, part, name))).collect();
            // Of a union the one that is listed is made, and no other ([class.base.init] paragraph 9).
            let has_listed = is_listed.contains(&true);
            for (part, is_listed) in parts.iter().zip(is_listed) {
                if !is_union || is_listed || !has_listed && part.default().is_some() {
                    self.initialize_part(record, object, part, span, open, stmts);
                }
            }
            return;
        }
        let listed = open.iter().position(|(name, _)| self.is_named(record, part, name));
        let Some((name, args)) = listed.map(|at| open.remove(at)) else {
            if !self.records[record].is_union || part.default().is_some() {
                self.construct_part(record, object, part, span, stmts);
            }
            return;
        };
        let span = name.span;
        let effect = match part.kind {
            PartKind::Base(_) => {
                let constructors = match self.types[part.ty] {
                    Type::Record(base) => self.constructors(base),
                    _ => Vec::new(),
                };
                let args = self.arguments_of(&constructors, args);
                self.base_part(object.clone(), part.ty).and_then(|target| self.construct_at(target, args, span))
            }
            _ => self.listed_member(record, object, part.fields.start, args, span),
        };
        stmts.extend(effect.map(|effect| Stmt { kind: StmtKind::Expr(effect), span }));
    }

    /// A member gets what the list of a constructor says.
    fn listed_member(
        &mut self,
        record: RecordId,
        object: &Expr,
        index: usize,
        args: &'u [syntax::Expr],
        span: Span,
    ) -> Option<Expr> {
        let target = self.field_itself(object.clone(), record, index, span);
        let ty = target.ty;
        if self.records.is_reference_member(record, index) {
            let value = match args {
                [only] => {
                    let bound = self.object(only);
                    self.bound_member(bound, ty, span)
                }
                _ => self.unsupported(span, "reference without an object"),
            };
            return Some(self.store(target, value, span));
        }
        let is_list = |value: &syntax::Expr| matches!(value.kind, syntax::ExprKind::InitList(_));
        // `part({})` hands braces to a constructor, which is another one than that of `part{}`.
        let is_empty =
            |value: &syntax::Expr| matches!(&value.kind, syntax::ExprKind::InitList(list) if list.is_empty());
        let value = match (self.types[ty].clone(), args) {
            (Type::Record(_), [only]) if is_list(only) && (!is_empty(only) || !self.has_constructor(ty)) => {
                self.initial(only, ty)
            }
            (Type::Record(record), args) if self.collective_of(ty).is_none() => {
                let constructors = self.constructors(record);
                if !constructors.is_empty() || args.len() < 2 {
                    let args = self.arguments_of(&constructors, args);
                    return self.construct_at(target, args, span);
                }
                self.braced(args, ty, span)
            }
            (Type::Array { .. }, [only]) if is_list(only) => self.initial(only, ty),
            (Type::Array { .. }, args) => self.braced(args, ty, span),
            (_, []) => self.zero(ty, span),
            (_, [only]) => self.initial(only, ty),
            (_, args) => {
                let args = args.iter().map(|argument| self.expr(argument)).collect();
                self.construct_from(ty, args, span)
            }
        };
        Some(self.store(target, value, span))
    }

    /// Whether a name in the list of a constructor means that part.
    fn is_named(&mut self, record: RecordId, part: &Part<'u>, name: &syntax::Name) -> bool {
        match part.kind {
            PartKind::Member(_) => self.records[record].fields[part.fields.start].name == name.text,
            PartKind::Anonymous { .. } => false,
            PartKind::Base(base) => {
                let has_name = |this: &Self, base: RecordId| {
                    this.records.decls[this.records.origins[base.index()].0].name == name.text
                };
                if has_name(self, base) {
                    // Of two instances of one template the name alone tells none.
                    let bases = &self.records.bases[record.index()];
                    return bases.iter().filter(|(other, _)| has_name(self, *other)).count() == 1;
                }
                let scope = self.records.scopes[record.index()];
                self.within(scope, |this| this.type_by_name(&name.text)) == part.ty
            }
        }
    }

    /// The value of an initialiser in any of its forms.
    pub(super) fn init_value(&mut self, init: &'u syntax::Init, ty: TypeId, span: Span) -> Expr {
        match init {
            syntax::Init::Value(value) => self.initial(value, ty),
            syntax::Init::Call(args) | syntax::Init::List(args) => {
                if self.collective_of(ty).is_some() || self.is_atomic_reference(ty) {
                    let args = args.iter().map(|argument| self.expr(argument)).collect();
                    return self.construct_from(ty, args, span);
                }
                let is_list = matches!(init, syntax::Init::List(_));
                if let (Type::Record(record), true, false) = (self.types[ty].clone(), is_list, args.is_empty())
                    && self.takes_list(record)
                {
                    return self.braced(args, ty, span);
                }
                let aggregate = matches!(self.types[ty], Type::Array { .. } | Type::Record(_) | Type::Vector { .. });
                if is_list && aggregate && !self.has_constructor(ty) {
                    return self.braced(args, ty, span);
                }
                match args.as_slice() {
                    [only] if !matches!(self.types[ty], Type::Vector { .. }) => self.initial_of_one(only, ty),
                    _ => {
                        let args = args.iter().map(|argument| self.expr(argument)).collect();
                        self.construct_from(ty, args, span)
                    }
                }
            }
        }
    }

    /// The value of `T x(value)`: what is `explicit` takes part.
    fn initial_of_one(&mut self, value: &'u syntax::Expr, ty: TypeId) -> Expr {
        if matches!(value.kind, syntax::ExprKind::InitList(_)) {
            return self.initial(value, ty);
        }
        let resolved = self.expr(value);
        let is_class = |ty: TypeId| matches!(self.types[ty], Type::Record(_));
        match self.types.plain(resolved.ty) != self.types.plain(ty) && (is_class(ty) || is_class(resolved.ty)) {
            true => self.functional_cast(resolved, ty, value.span),
            false => self.implicit(resolved, ty, value.span),
        }
    }

    /// A variable at namespace scope or a static member; `None` while it is being resolved.
    pub(super) fn global(&mut self, index: usize) -> Option<VariableId> {
        if let Some(known) = self.globals[index].variable {
            return Some(known);
        }
        if self.depth > super::context::DEPTH_LIMIT {
            return None;
        }
        let (syntax, scope) = (self.globals[index].syntax, self.globals[index].scope);
        let frame = std::mem::replace(&mut self.frame, Frame::none());
        let (variable, written) = self.as_seen_from(syntax, true, |this| {
            this.within(scope, |this| {
                let written = this.declared_type(&syntax.ty, &syntax.qualifiers);
                let storage = this.global_storage(&syntax.qualifiers, written);
                (this.new_variable(syntax, written, storage), written)
            })
        });
        self.globals[index].variable = Some(variable);
        let (syntax, scope) = self.globals[index].definition.unwrap_or((syntax, scope));
        self.as_seen_from(syntax, true, |this| {
            this.within(scope, |this| this.complete_variable(syntax, variable, written));
        });
        self.frame = frame;
        Some(variable)
    }

    /// Where a variable at namespace scope lives.
    fn global_storage(&self, qualifiers: &[Qualifier], written: Written) -> Storage {
        use super::program::AddressSpace;
        let has = |wanted: fn(&Qualifier) -> bool| qualifiers.iter().any(wanted);
        if has(|q| matches!(q, Qualifier::Shared)) || written.space == Some(AddressSpace::Shared) {
            Storage::Shared
        } else if has(|q| matches!(q, Qualifier::Constant)) || written.space == Some(AddressSpace::Constant) {
            Storage::Constant
        } else if has(|q| matches!(q, Qualifier::Device | Qualifier::Managed)) {
            Storage::Global
        } else if written.is_const || has(|q| matches!(q, Qualifier::Constexpr)) {
            Storage::Constant
        } else if self.language == crate::source::Language::OpenCl {
            Storage::Global
        } else {
            Storage::Host
        }
    }

    /// A variable without its constant.
    pub(super) fn new_variable(
        &mut self,
        syntax: &'u syntax::Variable,
        written: Written,
        storage: Storage,
    ) -> VariableId {
        let ty = self.types.held_type(written);
        // Before version 2.0 variables outside of functions are constants.
        self.uses_opencl_2 |= self.language == Language::OpenCl && storage == Storage::Global;
        let is_extern = storage == Storage::Shared
            && syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Extern));
        let variable = self.variables.add(Variable {
            name: syntax.name.text.clone(),
            ty,
            storage,
            is_reference: written.is_reference,
            is_volatile: written.is_volatile,
            constant: None,
            range: None,
            is_extern,
            has_initializer: syntax.init.is_some(),
            span: syntax.name.span,
        });
        self.note_const(variable, written);
        variable
    }

    /// Remembers that a variable is `const`: its type does not say so, because that of its value is the same.
    fn note_const(&mut self, variable: VariableId, written: Written) {
        if written.is_const && !written.is_reference {
            self.variables.constant.insert(variable);
        }
        if written.is_reference && written.binding == Some(syntax::Binding::Rvalue) {
            self.variables.rvalue_references.insert(variable);
        }
    }

    /// Sets the constant of a variable at namespace scope, and the length of an array that its list gives.
    fn complete_variable(&mut self, syntax: &'u syntax::Variable, variable: VariableId, written: Written) {
        let Some(init) = &syntax.init else {
            return;
        };
        let ty = written.ty;
        if let Type::Array { of, len: None } = self.types[ty] {
            let value = self.init_value(init, ty, syntax.span);
            if let Some(len) = list_length(&value) {
                self.variables[variable].ty = self.types.intern(Type::Array { of, len: Some(len) });
            }
            return;
        }
        // The host may change what `__constant__` holds, whatever its initial value.
        let is_device = syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constant))
            && self.language == crate::source::Language::Cuda;
        let is_const = written.is_const
            || syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr))
            || self.variables[variable].storage == Storage::Constant;
        if is_const && !is_device && !written.is_reference && self.types.is_integral(ty) && !written.is_volatile {
            let value = self.init_value(init, ty, syntax.span);
            self.variables[variable].constant = self.constant(&value);
        }
    }
}

/// The number of elements of a list or string.
pub(super) fn list_length(value: &Expr) -> Option<u64> {
    match &value.kind {
        ExprKind::Construct(parts) => Some(parts.len() as u64),
        ExprKind::String(text) => string(text).map(|(_, len)| len),
        _ => None,
    }
}

/// Whether the type of a result stands behind the name of its function (`auto f(int a) -> decltype(a)`).
fn is_behind(result: Option<&syntax::Type>, name: Span) -> bool {
    result.is_some_and(|result| {
        let is_beside = result.span.file == name.file && result.span.expansion == name.expansion;
        is_beside && result.span.start > name.start
    })
}

/// A span for what has no name.
fn no_span() -> Span {
    Span::new(crate::source::FileId::from_index(0), 0, 0)
}
