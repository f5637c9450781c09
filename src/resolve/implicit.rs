//! What the compiler makes of classes by itself: their default construction, their copies and their assignment, base after
//! base and member after member, in the order of declaration.
//!
//! Each is a function of the typed program that is made when it is first needed, and only where it does more than move bytes:
//! where some constructor, assignment or default initialiser of the program has a part in it. Everything else stays a load and
//! a store.
//!
//! A constructor that copies just what the compiler would copy counts as moving bytes, so that nobody needs to know whether a
//! compiler leaves a copy out.
//!
//! Deliberately absent: the order of virtual bases, and the end of objects whose destructors do something, which makes a
//! kernel unknown wherever such an object comes to be ([`Resolver::has_destructor`]).

use super::classes::is_defaulted;
use super::context::{DEPTH_LIMIT, Frame, Resolver, expr};
use super::entities::{FunctionDecl, ScopeId};
use super::function_table::FunctionInfo;
use super::program::{
    BinaryOp, Expr, ExprKind, Function, FunctionId, RecordId, Stmt, StmtKind, Storage, Type, TypeId, Variable,
    VariableId,
};
use super::record_layout::{Part, PartKind};
use crate::calculus::GeometryFacts;
use crate::source::{FileId, Span};
use crate::syntax;

/// Elements of an array that are made or copied one by one.
const FEW: u64 = 16;

/// What such functions have in place of a declaration.
static NO_SOURCE: syntax::Function = syntax::Function::nameless();

/// What the compiler makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Implicit {
    /// Construction without arguments.
    Construct,
    /// Construction from another object.
    Copy,
    /// Assignment of another object.
    Assign,
    /// What the declaration of a member, by its field, gives it: it may name other members.
    Member(usize),
}

/// How an object of a class is made without arguments.
enum Construction {
    /// Nothing happens.
    Idle,
    /// By a constructor of the program.
    Written,
    /// Part by part.
    Implicit,
    /// Not at all, as far as is understood.
    Missing,
}

impl<'u> Resolver<'u> {
    /// The parts of a record, in the order of their construction.
    pub(super) fn parts(&self, record: RecordId) -> Vec<Part<'u>> {
        match self.records.shapes.get(&record) {
            // Of a union one member at most is made with the object.
            Some(shape) if self.records[record].is_union => {
                shape.parts.iter().filter(|part| part.default().is_some()).cloned().collect()
            }
            Some(shape) => shape.parts.clone(),
            None => {
                self.records[record].fields.iter().enumerate().map(|(at, field)| Part::member(at, field.ty)).collect()
            }
        }
    }

    /// The parts that a constructor may name: of a union, all members.
    pub(super) fn parts_of_constructor(&self, record: RecordId) -> Vec<Part<'u>> {
        self.records.shapes.get(&record).map(|shape| shape.parts.clone()).unwrap_or_else(|| self.parts(record))
    }

    /// What making an object without arguments does; `None` if it does nothing.
    pub(super) fn default_construction(&mut self, target: Expr, span: Span) -> Option<Expr> {
        match self.types[target.ty] {
            // Host code is not followed.
            Type::Array { .. } if self.in_host => None,
            Type::Array { .. } => {
                self.constructs(target.ty).then(|| self.implicit_call(Implicit::Construct, target, None, span))
            }
            Type::Record(record) => match self.construction(record) {
                Construction::Idle => None,
                Construction::Implicit | Construction::Missing if self.in_host => None,
                Construction::Written => {
                    let constructors = self.constructors(record);
                    Some(self.function_call(&constructors, None, Some(target), Vec::new(), span))
                }
                Construction::Implicit => Some(self.implicit_call(Implicit::Construct, target, None, span)),
                Construction::Missing => {
                    let name = self.type_name(target.ty);
                    Some(self.unsupported(span, format!("construction of {name} without arguments")))
                }
            },
            _ => None,
        }
    }

    /// Whether making an object of a type without arguments does something.
    pub(super) fn constructs(&mut self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Array { of, .. } => self.constructs(of),
            Type::Record(record) => !matches!(self.construction(record), Construction::Idle),
            _ => false,
        }
    }

    /// Whether the program says how an object of a class is made without arguments.
    pub(super) fn has_written_default(&mut self, record: RecordId) -> bool {
        let constructors = self.constructors(record);
        !constructors.is_empty() && self.choose(&constructors, None, None, &[]).is_some()
    }

    fn construction(&mut self, record: RecordId) -> Construction {
        let constructors = self.constructors(record);
        let parts = self.parts(record);
        let has_code = parts.iter().any(|part| self.part_constructs(part));
        let written = if constructors.is_empty() { None } else { self.choose(&constructors, None, None, &[]) };
        match written {
            Some(chosen) => {
                let is_empty = chosen.decl.syntax.initializers.is_empty() && is_idle(chosen.decl.syntax);
                if is_empty && !has_code { Construction::Idle } else { Construction::Written }
            }
            None if !constructors.is_empty() && !self.is_default_defaulted(record) => Construction::Missing,
            None if has_code => Construction::Implicit,
            None => Construction::Idle,
        }
    }

    fn part_constructs(&mut self, part: &Part<'u>) -> bool {
        match &part.kind {
            PartKind::Anonymous { parts, is_union: true } => parts.iter().any(|part| part.default().is_some()),
            PartKind::Anonymous { parts, .. } => parts.iter().any(|part| self.part_constructs(part)),
            _ => part.default().is_some() || self.constructs(part.ty),
        }
    }

    /// Whether copying an object of a type runs code of the program.
    pub(super) fn copies_by_code(&mut self, ty: TypeId) -> bool {
        self.runs_code(Implicit::Copy, ty)
    }

    /// Whether the program copies objects of a type in several ways, among which what is moved decides.
    pub(super) fn copies_in_several_ways(&mut self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Record(record) => self.own_functions(Implicit::Copy, record).len() > 1,
            _ => false,
        }
    }

    /// Whether assigning an object of a type runs code of the program.
    pub(super) fn assigns_by_code(&mut self, ty: TypeId) -> bool {
        self.runs_code(Implicit::Assign, ty)
    }

    fn runs_code(&mut self, what: Implicit, ty: TypeId) -> bool {
        let record = match self.types[ty] {
            Type::Array { of, .. } => return self.runs_code(what, of),
            Type::Record(record) => record,
            _ => return false,
        };
        if let Some(&known) = self.runs_code.get(&(what, record)) {
            return known;
        }
        let is_union = self.records[record].is_union;
        let runs = !self.own_functions(what, record).is_empty()
            || !is_union
                && self.parts(record).iter().any(|part| match part.kind {
                    PartKind::Anonymous { is_union: true, .. } => false,
                    _ => self.runs_code(what, part.ty),
                });
        if self.records.shapes.contains_key(&record) {
            self.runs_code.insert((what, record), runs);
        }
        runs
    }

    /// Whether some part of an object has several functions that copy or assign it, among which what is moved decides.
    fn parts_move_otherwise(&mut self, what: Implicit, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Array { of, .. } => self.parts_move_otherwise(what, of),
            Type::Record(record) => match self.own_functions(what, record).len() {
                0 => self.parts(record).iter().any(|part| self.parts_move_otherwise(what, part.ty)),
                several => several > 1,
            },
            _ => false,
        }
    }

    /// The program's own functions that copy or assign objects of a class, or make one.
    fn own_functions(&mut self, what: Implicit, record: RecordId) -> Vec<FunctionDecl<'u>> {
        match what {
            Implicit::Construct | Implicit::Member(_) => Vec::new(),
            Implicit::Copy => self.copy_constructors(record),
            Implicit::Assign => {
                let mut own = self.methods(record, "operator=");
                own.retain(|decl| {
                    decl.record == Some(record) && !is_defaulted(decl.syntax) && self.takes_own(*decl, record)
                });
                own
            }
        }
    }

    /// What it takes to make an object a copy of another.
    pub(super) fn copy_into(&mut self, target: Expr, source: Expr, span: Span) -> Expr {
        self.moved_by_code(Implicit::Copy, target, source, span)
    }

    /// What it takes to assign an object to another; denotes the target where that is an object of the program.
    pub(super) fn assign_object(&mut self, target: Expr, source: Expr, span: Span) -> Expr {
        self.moved_by_code(Implicit::Assign, target, source, span)
    }

    fn moved_by_code(&mut self, what: Implicit, target: Expr, source: Expr, span: Span) -> Expr {
        if self.in_host || !self.runs_code(what, target.ty) {
            let ty = target.ty;
            let value = if self.is_object(&source) { expr(ExprKind::Load(Box::new(source)), ty, span) } else { source };
            return self.store(target, value, span);
        }
        let own = match self.types[target.ty] {
            Type::Record(record) => self.own_functions(what, record),
            _ => Vec::new(),
        };
        if own.is_empty() && !self.is_lvalue(&source) && self.parts_move_otherwise(what, target.ty) {
            let name = self.type_name(target.ty);
            return self.unsupported_with(
                span,
                format!("move of {name}, whose parts have moves of their own"),
                vec![source, target],
            );
        }
        if let Some(problem) = self.left_to_the_compiler(what, &own, &target, &source, span) {
            return problem;
        }
        match own.as_slice() {
            [] => self.implicit_call(what, target, Some(source), span),
            _ if own.iter().all(|decl| decl.syntax.body.is_some()) && self.depth <= DEPTH_LIMIT => {
                self.function_call(&own, None, Some(target), vec![source], span)
            }
            _ => {
                let name = self.type_name(target.ty);
                let what = if what == Implicit::Copy { "copy constructor" } else { "assignment operator" };
                self.unsupported_with(span, format!("{what} of {name}"), vec![source, target])
            }
        }
    }

    /// What is not understood where the program writes one function that copies or assigns and leaves another to the compiler,
    /// and it is that which fits.
    fn left_to_the_compiler(
        &mut self,
        what: Implicit,
        own: &[FunctionDecl<'u>],
        target: &Expr,
        source: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let Type::Record(record) = self.types[target.ty] else { return None };
        let all = match what {
            _ if own.is_empty() => return None,
            Implicit::Construct | Implicit::Member(_) => return None,
            Implicit::Copy => self.named_constructors(record),
            Implicit::Assign => self.methods(record, "operator="),
        };
        let is_left = |this: &mut Self, decl: &FunctionDecl<'u>| {
            decl.record == Some(record) && is_defaulted(decl.syntax) && this.takes_own(*decl, record)
        };
        let mut all: Vec<FunctionDecl<'u>> = all.into_iter().filter(|decl| is_left(self, decl)).collect();
        if all.is_empty() {
            return None;
        }
        all.extend(own);
        let chosen = self.choose(&all, None, Some(target), std::slice::from_ref(source))?;
        is_defaulted(chosen.decl.syntax).then(|| {
            let name = self.type_name(target.ty);
            let what = if what == Implicit::Copy { "copy" } else { "assignment" };
            let reason = format!("{what} of {name} that is left to the compiler, beside one that is not");
            self.unsupported_with(span, reason, vec![source.clone(), target.clone()])
        })
    }

    /// What gives a member the value that its declaration states.
    pub(super) fn default_member(&mut self, object: Expr, field: usize, span: Span) -> Expr {
        self.implicit_call(Implicit::Member(field), object, None, span)
    }

    /// A call of such a function.
    fn implicit_call(&mut self, what: Implicit, target: Expr, source: Option<Expr>, span: Span) -> Expr {
        let function = self.implicit_function(what, self.types.plain(target.ty));
        let params = self.functions[function].params.clone();
        let mut args = Vec::new();
        for (object, param) in std::iter::once(target).chain(source).zip(params) {
            let address = self.address_of_any(object);
            let ty = self.variables[param].ty;
            args.push(self.convert(address, ty));
        }
        let result = self.functions[function].result;
        let call = expr(ExprKind::Call(function, args), result, span);
        if what == Implicit::Assign { self.deref(call) } else { call }
    }

    /// The function that does so for objects of a type.
    fn implicit_function(&mut self, what: Implicit, ty: TypeId) -> FunctionId {
        if let Some(&known) = self.implicit.get(&(what, ty)) {
            return known;
        }
        let span = self.span_of(ty);
        let this = self.implicit_param("this", ty, span);
        let other = matches!(what, Implicit::Copy | Implicit::Assign).then(|| self.implicit_param("other", ty, span));
        let pointer = self.variables[this].ty;
        let name = self.type_name(ty);
        let name = match what {
            Implicit::Construct => format!("construction of {name}"),
            Implicit::Copy => format!("copy of {name}"),
            Implicit::Assign => format!("assignment of {name}"),
            Implicit::Member(_) => format!("member of {name}"),
        };
        let function = self.functions.add(Function {
            name,
            template_args: Vec::new(),
            is_kernel: false,
            result: if what == Implicit::Assign { pointer } else { self.types.common.void },
            params: std::iter::once(this).chain(other).collect(),
            body: Some(Vec::new()),
            geometry: GeometryFacts::default(),
            span,
            unsupported: Vec::new(),
            assumed: Vec::new(),
            same_pointers: Vec::new(),
        });
        self.functions.infos.push(FunctionInfo {
            syntax: &NO_SOURCE,
            scope: ScopeId::default(),
            this: Some(this),
            returns_reference: what == Implicit::Assign,
            result_is_auto: false,
            started: true,
        });
        self.implicit.insert((what, ty), function);
        let frame = Frame {
            result: Some(self.types.common.void),
            returns_reference: false,
            this: Some(this),
            temporaries: Vec::new(),
        };
        self.body_within(function, frame, |resolver| resolver.implicit_body(what, ty, this, other, span));
        function
    }

    /// Where a type is defined.
    fn span_of(&self, ty: TypeId) -> Span {
        match self.types[ty] {
            Type::Array { of, .. } => self.span_of(of),
            Type::Record(record) if self.records.definitions.contains_key(&record) => {
                self.records.definitions[&record].name.span
            }
            _ => Span::new(FileId::from_index(0), 0, 0),
        }
    }

    fn implicit_param(&mut self, name: &str, ty: TypeId, span: Span) -> VariableId {
        let ty = self.types.pointer(ty, None);
        self.variables.add(Variable {
            name: name.to_owned(),
            ty,
            storage: Storage::Param,
            is_reference: name != "this",
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span,
        })
    }

    fn implicit_body(
        &mut self,
        what: Implicit,
        ty: TypeId,
        this: VariableId,
        other: Option<VariableId>,
        span: Span,
    ) -> Vec<Stmt> {
        if self.depth > DEPTH_LIMIT {
            return vec![Stmt { kind: StmtKind::Unsupported("class nested too deeply".to_owned()), span }];
        }
        let target = self.behind(this, span);
        let source = other.map(|other| self.behind(other, span));
        let mut stmts = Vec::new();
        match self.types[ty] {
            Type::Record(record) => {
                self.no_virtual_base(record, span, &mut stmts);
                for part in self.parts(record) {
                    let is_other = matches!(what, Implicit::Member(field) if !part.fields.contains(&field));
                    match &source {
                        _ if is_other => {}
                        None => self.construct_part(record, &target, &part, span, &mut stmts),
                        Some(source) => self.move_part(what, &target, source, &part, span, &mut stmts),
                    }
                }
            }
            Type::Array { of, len } => stmts.extend(self.each_element(what, of, len, &target, source.as_ref(), span)),
            _ => {}
        }
        if what == Implicit::Assign {
            let address = self.address_of(target);
            stmts.push(Stmt { kind: StmtKind::Return(Some(address)), span });
        }
        stmts
    }

    /// The object that a parameter points to.
    fn behind(&mut self, param: VariableId, span: Span) -> Expr {
        let ty = self.variables[param].ty;
        let pointer = expr(ExprKind::Variable(param), ty, span);
        let pointer = expr(ExprKind::Load(Box::new(pointer)), ty, span);
        self.deref(pointer)
    }

    /// Virtual bases are made by the class of the whole object, before all others.
    pub(super) fn no_virtual_base(&mut self, record: RecordId, span: Span, stmts: &mut Vec<Stmt>) {
        if self.records.shapes.get(&record).is_some_and(|shape| shape.has_virtual_base) {
            self.miss();
            let reason = format!("virtual base of {}", self.records[record].name);
            stmts.push(Stmt { kind: StmtKind::Unsupported(reason), span });
        }
    }

    /// A part of an object comes to life as its declaration says.
    pub(super) fn construct_part(
        &mut self,
        record: RecordId,
        object: &Expr,
        part: &Part<'u>,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) {
        let effect = match (&part.kind, part.default()) {
            // At most one member of a union has an initial value, and the others are not made.
            (PartKind::Anonymous { parts, is_union }, _) => {
                for part in parts.iter().filter(|part| !is_union || part.default().is_some()) {
                    self.construct_part(record, object, part, span, stmts);
                }
                None
            }
            (PartKind::Base(_), _) => match self.base_part(object.clone(), part.ty) {
                Some(target) => self.default_construction(target, span),
                None => None,
            },
            (PartKind::Member(declared), Some(init)) => {
                let span = declared.map_or(span, |declared| declared.span);
                let scope = self.records.scopes[record.index()];
                let target = self.field_itself(object.clone(), record, part.fields.start, span);
                let is_reference = self.records.is_reference_member(record, part.fields.start);
                let value = self.within(scope, |this| match init {
                    syntax::Init::Value(value) if is_reference => {
                        let bound = this.object(value);
                        this.bound_member(bound, target.ty, span)
                    }
                    _ if is_reference => this.unsupported(span, "reference member with such an initial value"),
                    _ => this.init_value(init, target.ty, span),
                });
                Some(self.store(target, value, span))
            }
            (PartKind::Member(_), None) => {
                let target = self.field_itself(object.clone(), record, part.fields.start, span);
                self.default_construction(target, span)
            }
        };
        stmts.extend(effect.map(|effect| Stmt { kind: StmtKind::Expr(effect), span }));
    }

    /// A part of an object becomes a copy of the same part of another.
    fn move_part(
        &mut self,
        what: Implicit,
        target: &Expr,
        source: &Expr,
        part: &Part<'u>,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) {
        let Type::Record(record) = self.types[target.ty] else { return };
        let by_code = self.runs_code(what, part.ty);
        let effects: Vec<Expr> = match &part.kind {
            PartKind::Base(_) if by_code => {
                let parts = (self.base_part(target.clone(), part.ty), self.base_part(source.clone(), part.ty));
                match parts {
                    (Some(target), Some(source)) => vec![self.moved_by_code(what, target, source, span)],
                    _ => Vec::new(),
                }
            }
            PartKind::Anonymous { is_union: true, .. } => {
                // The widest member holds all bytes of the others.
                let size = |this: &Self, at: usize| this.layout().size_of(this.records[record].fields[at].ty);
                let widest = part.fields.clone().max_by_key(|&at| size(self, at));
                widest.map(|at| self.move_field(what, target, source, record, at, span)).into_iter().collect()
            }
            PartKind::Anonymous { parts, .. } if by_code => {
                for part in parts {
                    self.move_part(what, target, source, part, span, stmts);
                }
                Vec::new()
            }
            _ => part.fields.clone().map(|at| self.move_field(what, target, source, record, at, span)).collect(),
        };
        stmts.extend(effects.into_iter().map(|effect| Stmt { kind: StmtKind::Expr(effect), span }));
    }

    fn move_field(
        &mut self,
        what: Implicit,
        target: &Expr,
        source: &Expr,
        record: RecordId,
        at: usize,
        span: Span,
    ) -> Expr {
        let target = self.field_itself(target.clone(), record, at, span);
        let source = self.field_itself(source.clone(), record, at, span);
        self.moved_by_code(what, target, source, span)
    }

    /// The same for each element of an array: few of them one by one, so that their places are constants, many in a loop.
    fn each_element(
        &mut self,
        what: Implicit,
        of: TypeId,
        len: Option<u64>,
        target: &Expr,
        source: Option<&Expr>,
        span: Span,
    ) -> Vec<Stmt> {
        let Some(len) = len else {
            self.miss();
            let reason = "objects of which nobody says how many there are".to_owned();
            return vec![Stmt { kind: StmtKind::Unsupported(reason), span }];
        };
        let ty = self.types.common.ulong;
        if len <= FEW {
            let number = |value: u64| expr(ExprKind::Int(i128::from(value)), ty, span);
            let effects = (0..len).filter_map(|at| self.element_effect(what, of, &number(at), target, source, span));
            return effects.map(|effect| Stmt { kind: StmtKind::Expr(effect), span }).collect();
        }
        let counter = self.hidden_variable("position", self.types.common.ulong, span);
        let object = || expr(ExprKind::Variable(counter), ty, span);
        let index = expr(ExprKind::Load(Box::new(object())), ty, span);
        let number = |value: u64| expr(ExprKind::Int(i128::from(value)), ty, span);
        let Some(effect) = self.element_effect(what, of, &index, target, source, span) else { return Vec::new() };
        let less = ExprKind::Binary(BinaryOp::Lt, Box::new(index), Box::new(number(len)));
        let step = ExprKind::Step { target: Box::new(object()), up: true, postfix: false };
        let first = Stmt { kind: StmtKind::Declare(counter, Some(number(0))), span };
        let kind = StmtKind::For {
            init: Some(Box::new(first)),
            cond: Some(expr(less, self.types.common.bool, span)),
            step: Some(expr(step, ty, span)),
            body: Box::new(Stmt { kind: StmtKind::Expr(effect), span }),
        };
        vec![Stmt { kind, span }]
    }

    fn element_effect(
        &mut self,
        what: Implicit,
        of: TypeId,
        index: &Expr,
        target: &Expr,
        source: Option<&Expr>,
        span: Span,
    ) -> Option<Expr> {
        let element = |array: &Expr| {
            let kind = ExprKind::Element(Box::new(array.clone()), Box::new(index.clone()));
            expr(kind, of, span)
        };
        match source {
            Some(source) => Some(self.moved_by_code(what, element(target), element(source), span)),
            None => self.default_construction(element(target), span),
        }
    }
}

/// Whether a function's body does nothing.
pub(super) fn is_idle(function: &syntax::Function) -> bool {
    let does_nothing = |stmt: &syntax::Stmt| matches!(stmt.kind, syntax::StmtKind::Empty);
    function.body.as_ref().is_some_and(|body| body.iter().all(does_nothing))
}
