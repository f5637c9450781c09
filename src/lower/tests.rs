//! Lowering of programs built by hand; those from source text are in `grammar-tests/lowering.rs`.

use super::lower;
use crate::arena::Arena;
use crate::calculus::{Axis, GeometryVar, Kernel, Platform, text};
use crate::resolve::program::*;
use crate::source::{Language, SourceMap, Span};
use rustc_hash::FxHashSet;

/// A program with one kernel under construction.
struct Build {
    program: Program,
    params: Vec<VariableId>,
    bytes: usize,
}

impl Build {
    fn new() -> Self {
        let program = Program {
            language: Language::Cuda,
            platform: Platform::Cuda,
            sources: SourceMap::new(),
            types: Arena::new(),
            records: Arena::new(),
            variables: Arena::new(),
            functions: Arena::new(),
            kernels: Vec::new(),
            numbers: FxHashSet::default(),
        };
        Build { program, params: Vec::new(), bytes: 0 }
    }

    fn span(&mut self) -> Span {
        self.bytes += 1;
        Span::new(crate::source::FileId::from_index(0), self.bytes, self.bytes + 1)
    }

    fn ty(&mut self, ty: Type) -> TypeId {
        let known = self.program.types.iter().find(|(_, known)| **known == ty).map(|(id, _)| id);
        known.unwrap_or_else(|| self.program.types.push(ty))
    }

    fn int(&mut self) -> TypeId {
        self.ty(Type::Int { width: 32, signed: true })
    }

    fn bool(&mut self) -> TypeId {
        self.ty(Type::Bool)
    }

    fn float(&mut self) -> TypeId {
        self.ty(Type::Float { width: 32 })
    }

    fn pointer(&mut self, to: TypeId) -> TypeId {
        self.ty(Type::Pointer { to, space: None })
    }

    fn variable(&mut self, name: &str, ty: TypeId, storage: Storage) -> VariableId {
        let span = self.span();
        self.program.variables.push(Variable {
            name: name.to_owned(),
            ty,
            storage,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span,
        })
    }

    fn param(&mut self, name: &str, ty: TypeId) -> VariableId {
        let variable = self.variable(name, ty, Storage::Param);
        self.params.push(variable);
        variable
    }

    fn expr(&mut self, kind: ExprKind, ty: TypeId) -> Expr {
        let span = self.span();
        Expr { kind, ty, span }
    }

    fn object(&mut self, variable: VariableId) -> Expr {
        let ty = self.program.variables[variable].ty;
        self.expr(ExprKind::Variable(variable), ty)
    }

    fn get(&mut self, variable: VariableId) -> Expr {
        let object = self.object(variable);
        self.load(object)
    }

    fn load(&mut self, object: Expr) -> Expr {
        let ty = object.ty;
        self.expr(ExprKind::Load(Box::new(object)), ty)
    }

    fn number(&mut self, value: i128) -> Expr {
        let int = self.int();
        self.expr(ExprKind::Int(value), int)
    }

    fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let ty = if op.is_boolean() { self.bool() } else { a.ty };
        self.expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)
    }

    fn tid(&mut self) -> Expr {
        let uint = self.ty(Type::Int { width: 32, signed: false });
        let int = self.int();
        let tid = self.expr(ExprKind::Geometry(GeometryVar::ThreadIdx(Axis::X)), uint);
        self.expr(ExprKind::Convert(Box::new(tid)), int)
    }

    /// `pointer[index]`, an object.
    fn at(&mut self, pointer: Expr, index: Expr) -> Expr {
        let Type::Pointer { to, .. } = self.program.types[pointer.ty] else { panic!("no pointer") };
        let ty = pointer.ty;
        let moved = self.expr(ExprKind::PointerAdd(Box::new(pointer), Box::new(index)), ty);
        self.expr(ExprKind::Deref(Box::new(moved)), to)
    }

    fn assign(&mut self, object: Expr, value: Expr) -> Stmt {
        let ty = object.ty;
        let assign = self.expr(ExprKind::Assign(Box::new(object), Box::new(value)), ty);
        self.stmt(StmtKind::Expr(assign))
    }

    fn stmt(&mut self, kind: StmtKind) -> Stmt {
        let span = self.span();
        Stmt { kind, span }
    }

    fn function(&mut self, name: &str, params: Vec<VariableId>, result: TypeId, body: Vec<Stmt>) -> FunctionId {
        let span = self.span();
        self.program.functions.push(Function {
            name: name.to_owned(),
            template_args: Vec::new(),
            is_kernel: name == "k",
            result,
            params,
            body: Some(body),
            geometry: crate::calculus::GeometryFacts::default(),
            span,
            unsupported: Vec::new(),
            assumed: Vec::new(),
            same_pointers: Vec::new(),
        })
    }

    fn kernel(mut self, body: Vec<Stmt>) -> Kernel {
        let void = self.ty(Type::Void);
        let params = self.params.clone();
        let kernel = self.function("k", params, void, body);
        lower(&self.program, kernel)
    }
}

fn check(kernel: &Kernel, expected: &[&str]) {
    let printed = text::print(kernel);
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let mut rest = lines.as_slice();
    for line in expected {
        let at = rest.iter().position(|found| found == line);
        let Some(at) = at else { panic!("no line `{line}` (in this order) in\n{printed}") };
        rest = &rest[at + 1..];
    }
}

#[test]
fn a_guarded_copy_keeps_guard_and_offsets() {
    let mut b = Build::new();
    let (int, float) = (b.int(), b.float());
    let pointer = b.pointer(float);
    let (from, to) = (b.param("x", pointer), b.param("y", pointer));
    let (n, i) = (b.param("n", int), b.variable("i", int, Storage::Local));
    let tid = b.tid();
    let declare = b.stmt(StmtKind::Declare(i, Some(tid)));
    let (px, py, ix, iy) = (b.get(from), b.get(to), b.get(i), b.get(i));
    let source = b.at(px, ix);
    let source = b.load(source);
    let target = b.at(py, iy);
    let copy = b.assign(target, source);
    let (i, n) = (b.get(i), b.get(n));
    let cond = b.binary(BinaryOp::Lt, i, n);
    let guarded = b.stmt(StmtKind::If(cond, Box::new(copy), None));
    let kernel = b.kernel(vec![declare, guarded]);
    check(
        &kernel,
        &[
            "let i = convert<i32>(tid.x)",
            "if i < n {",
            "let x.1 = read x[convert<i64>(i) * 4; 4] @0",
            "write y[convert<i64>(i) * 4; 4] := x.1 @1",
        ],
    );
}

#[test]
fn a_counted_loop_is_counted_and_a_postfix_step_leaves_no_trace() {
    let mut b = Build::new();
    let int = b.int();
    let pointer = b.pointer(int);
    let (a, n, i) = (b.param("a", pointer), b.param("n", int), b.variable("i", int, Storage::Local));
    let zero = b.number(0);
    let first = b.stmt(StmtKind::Declare(i, Some(zero)));
    let (left, right) = (b.get(i), b.get(n));
    let cond = b.binary(BinaryOp::Lt, left, right);
    let target = Box::new(b.object(i));
    let step = b.expr(ExprKind::Step { target, up: true, postfix: true }, int);
    let (pointer, index, value) = (b.get(a), b.get(i), b.get(i));
    let target = b.at(pointer, index);
    let body = b.assign(target, value);
    let kind = StmtKind::For { init: Some(Box::new(first)), cond: Some(cond), step: Some(step), body: Box::new(body) };
    let each = b.stmt(kind);
    let kernel = b.kernel(vec![each]);
    check(&kernel, &["for i = 0 while i < n step + 1 @1 {", "write a[convert<i64>(i) * 4; 4] := i @0"]);
}
