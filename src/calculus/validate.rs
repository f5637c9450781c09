//! Checks that a kernel is well-formed. What later rooms rely on, and what is checked here:
//!
//! - **Handles** of variables, parameters, arrays, sites and expressions are in range.
//! - **Order**: an expression refers only to expressions before it.
//! - **Expression types**: the type that the table gives is the one that the operator makes; operands of an
//!   infix operator have one type; a shift takes integers; `&&`, `||`, `!` and the condition of a selection
//!   take `Bool`; both sides of a selection have one type; a constant lies in the range of its type.
//! - **Assignment**: the value of a `let` has the type of its variable; a read binds a variable of the size
//!   that it reads, or an opaque carrier.
//! - **Conditions** of `if`, `loop`, `assume` and `assert` are `Bool`, as is the variable of `return`.
//! - **Accesses** have an offset of type `i64` and at least one byte; constant memory is never written.
//! - **Counted loops** compare an integer variable by one of `< <= > >= !=` with a bound of its type, step it
//!   by one of `+ - * / << >>` with an operand of its type (a shift: any integer), and do not assign the
//!   variable, or one that the bound or the step's operand uses, in the body.
//! - **Sites**: every access, sync and loop has one of its own.
//! - **Declarations**: elements have at least one byte, extents of blocks at least one thread.
//! - **Placeholders**: there is none for the threads of a barrier ([`Placeholder`](super::Placeholder)) or for the number of
//!   arrivals that an object waits for ([`Count::Open`]). Kernels on their way
//!   from `lower` through `settle` have some, and keep all the rest ([`validate_on_the_way`]).
//!
//! Deliberately absent: whether a `let` happens before a use (an unassigned variable holds anything), and
//! anything about meaning.

use super::{
    Access, Among, BinaryOp, Count, Expr, ExprId, For, Kernel, Placeholder, ScalarType, SiteId, Space, Stmt,
    SyncMemory, Test, UnaryOp, VarId,
};
use super::{arithmetic, operands};

/// The invariants, as [the module](self) lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each variant is a paragraph of the module's page")]
pub enum Invariant {
    Handles,
    Order,
    ExpressionTypes,
    Assignment,
    Conditions,
    Accesses,
    CountedLoops,
    Sites,
    Declarations,
    Placeholders,
}

/// An invariant that does not hold, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// What is wrong, with names of the kernel.
    pub message: String,
}

/// Everything that is wrong with `kernel`; nothing for one that later rooms may take.
pub fn validate(kernel: &Kernel) -> Vec<Violation> {
    let mut checker = Checker { kernel, site_used: vec![false; kernel.sites.len()], violations: Vec::new() };
    checker.declarations();
    for (id, _) in kernel.exprs.iter() {
        checker.node(id);
    }
    // Types of expressions are looked up from here on, which needs their handles to be sound.
    let sound = |violation: &Violation| !matches!(violation.invariant, Invariant::Handles | Invariant::Order);
    if checker.violations.iter().all(sound) {
        checker.block(&kernel.body);
    }
    checker.violations
}

/// The same for a kernel that is not settled: one in which placeholders stand for the threads of barriers.
pub fn validate_on_the_way(kernel: &Kernel) -> Vec<Violation> {
    let mut violations = validate(kernel);
    violations.retain(|violation| violation.invariant != Invariant::Placeholders);
    violations
}

struct Checker<'a> {
    kernel: &'a Kernel,
    site_used: Vec<bool>,
    violations: Vec<Violation>,
}

impl Checker<'_> {
    fn report(&mut self, invariant: Invariant, message: impl Into<String>) {
        self.violations.push(Violation { invariant, message: message.into() });
    }

    fn require(&mut self, holds: bool, invariant: Invariant, message: impl FnOnce() -> String) {
        if !holds {
            self.report(invariant, message());
        }
    }

    fn declarations(&mut self) {
        let kernel = self.kernel;
        for (_, array) in kernel.arrays.iter() {
            self.require(array.element_bytes > 0, Invariant::Declarations, || {
                format!("elements of the array `{}` have no bytes", array.name)
            });
        }
        let empty = kernel.geometry.required_block.is_some_and(|extents| extents.contains(&0))
            || kernel.geometry.cluster.is_some_and(|extents| extents.contains(&0));
        self.require(!empty && kernel.geometry.max_threads != Some(0), Invariant::Declarations, || {
            "a block has no threads, or a cluster no blocks".to_owned()
        });
        if let Some(returned) = kernel.returned {
            match kernel.vars.get(returned) {
                None => self.report(Invariant::Handles, "the variable of `return` does not exist"),
                Some(variable) => self.require(variable.ty == ScalarType::Bool, Invariant::Conditions, || {
                    format!("the variable `{}` of `return` is not a truth value", variable.name)
                }),
            }
        }
        for array in kernel.unsupported.iter().flat_map(|entry| entry.arrays.iter().flatten()) {
            self.require(kernel.arrays.get(*array).is_some(), Invariant::Handles, || {
                format!("unsupported code touches array {array:?}, which does not exist")
            });
        }
    }

    // Expressions.

    fn node(&mut self, id: ExprId) {
        let kernel = self.kernel;
        let node = &kernel.exprs[id];
        if let Some(later) = operands(node).into_iter().find(|&operand| operand >= id) {
            return self.report(Invariant::Order, format!("expression {id:?} refers to {later:?}"));
        }
        let expected = match node {
            Expr::Int(value, ty) => {
                self.require(arithmetic::wrap(*value, *ty) == *value, Invariant::ExpressionTypes, || {
                    format!("the constant {value} is no {ty:?}")
                });
                Some(*ty)
            }
            Expr::Opaque(_, ty) | Expr::Convert(ty, _) | Expr::Call(_, _, ty) => Some(*ty),
            Expr::Geometry(_) => Some(ScalarType::U32),
            Expr::Var(var) => kernel.vars.get(*var).map(|variable| variable.ty),
            Expr::Param(param) => kernel.params.get(*param).map(|param| param.ty),
            Expr::Unary(op, a) => Some(self.unary(*op, kernel.exprs.ty(*a))),
            Expr::Binary(op, a, b) => Some(self.binary(*op, kernel.exprs.ty(*a), kernel.exprs.ty(*b))),
            Expr::Select(c, a, b) => {
                let types = [*c, *a, *b].map(|operand| kernel.exprs.ty(operand));
                self.require(types[0] == ScalarType::Bool && types[1] == types[2], Invariant::ExpressionTypes, || {
                    format!("a selection on {types:?}")
                });
                Some(types[1])
            }
        };
        match expected {
            None => self.report(Invariant::Handles, format!("{node:?} does not exist")),
            Some(ty) => self.require(ty == kernel.exprs.ty(id), Invariant::ExpressionTypes, || {
                format!("{node:?} has type {:?}, not {ty:?}", kernel.exprs.ty(id))
            }),
        }
    }

    fn unary(&mut self, op: UnaryOp, ty: ScalarType) -> ScalarType {
        let is_bool = ty == ScalarType::Bool;
        self.require((op == UnaryOp::Not) == is_bool, Invariant::ExpressionTypes, || format!("{op:?} on {ty:?}"));
        ty
    }

    fn binary(&mut self, op: BinaryOp, a: ScalarType, b: ScalarType) -> ScalarType {
        let agrees = match op {
            BinaryOp::Shl | BinaryOp::Shr => is_integer(a) && is_integer(b),
            BinaryOp::And | BinaryOp::Or => a == ScalarType::Bool && b == ScalarType::Bool,
            _ => a == b,
        };
        self.require(agrees, Invariant::ExpressionTypes, || format!("{op:?} on {a:?} and {b:?}"));
        if op.is_boolean() { ScalarType::Bool } else { a }
    }

    // Statements.

    fn ty(&mut self, id: ExprId) -> Option<ScalarType> {
        if self.kernel.exprs.get(id).is_none() {
            self.report(Invariant::Handles, format!("expression {id:?} does not exist"));
            return None;
        }
        Some(self.kernel.exprs.ty(id))
    }

    fn var(&mut self, var: VarId) -> Option<(ScalarType, String)> {
        let found = self.kernel.vars.get(var).map(|variable| (variable.ty, variable.name.clone()));
        self.require(found.is_some(), Invariant::Handles, || format!("variable {var:?} does not exist"));
        found
    }

    fn site(&mut self, site: SiteId) {
        match self.site_used.get_mut(site.index()).map(|used| std::mem::replace(used, true)) {
            None => self.report(Invariant::Handles, format!("site {site:?} does not exist")),
            Some(true) => self.report(Invariant::Sites, format!("site {site:?} is used twice")),
            Some(false) => {}
        }
    }

    fn condition(&mut self, id: ExprId) {
        if let Some(ty) = self.ty(id) {
            self.require(ty == ScalarType::Bool, Invariant::Conditions, || format!("a condition has type {ty:?}"));
        }
    }

    fn access(&mut self, access: &Access) {
        let known = self.kernel.arrays.get(access.array).is_some();
        self.require(known, Invariant::Handles, || format!("array {:?} does not exist", access.array));
        self.require(access.bytes > 0, Invariant::Accesses, || format!("the access {:?} has no bytes", access.site));
        if let Some(ty) = self.ty(access.offset) {
            self.require(ty == ScalarType::I64, Invariant::Accesses, || {
                format!("the offset of the access {:?} has type {ty:?}", access.site)
            });
        }
        self.site(access.site);
    }

    fn writing_access(&mut self, access: &Access) {
        self.access(access);
        if let Some(array) = self.kernel.arrays.get(access.array) {
            self.require(array.space != Space::Constant, Invariant::Accesses, || {
                format!("the constant array `{}` is written", array.name)
            });
        }
    }

    /// A variable that takes what lies in memory.
    fn load(&mut self, var: VarId, bytes: u32) {
        if let Some((ty, name)) = self.var(var) {
            let fits = ty.bytes() == bytes || matches!(ty, ScalarType::Opaque { .. });
            self.require(fits, Invariant::Assignment, || format!("`{name}` does not hold the {bytes} bytes read"));
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value } => {
                if let (Some((ty, name)), Some(found)) = (self.var(*var), self.ty(*value)) {
                    self.require(ty == found, Invariant::Assignment, || {
                        format!("`{name}` of type {ty:?} takes a value of type {found:?}")
                    });
                }
            }
            Stmt::Read { var, access } => {
                self.load(*var, access.bytes);
                self.access(access);
            }
            Stmt::Write { access, value } => {
                value.map(|value| self.ty(value));
                self.writing_access(access);
            }
            Stmt::Atomic { var, access, operands, .. } => {
                if let Some(var) = var {
                    self.load(*var, access.bytes);
                }
                for &operand in operands {
                    self.ty(operand);
                }
                self.writing_access(access);
            }
            Stmt::If { cond, then, otherwise } => {
                self.condition(*cond);
                self.block(then);
                self.block(otherwise);
            }
            Stmt::For(counted) => self.counted(counted),
            Stmt::Loop { test: Test::Before(cond) | Test::After(cond), body, site } => {
                self.condition(*cond);
                self.site(*site);
                self.block(body);
            }
            Stmt::Fence { memory, site, .. } => self.meeting(*memory, *site),
            Stmt::Sync { memory, among, site, .. } => {
                among.named().into_iter().for_each(|cond| self.condition(cond));
                if let Among::Tiles(threads) | Among::InStep(threads) = among {
                    let whole = threads.is_power_of_two();
                    self.require(whole, Invariant::Conditions, || format!("groups of {threads} threads"));
                }
                if let Among::Arrivals(arrivals) = among {
                    let known = self.kernel.arrays.get(arrivals.array).is_some();
                    self.require(known, Invariant::Handles, || format!("array {:?} does not exist", arrivals.array));
                    let is_offset = self.ty(arrivals.offset).is_none_or(|ty| ty == ScalarType::I64);
                    self.require(is_offset, Invariant::ExpressionTypes, || {
                        "offset of an object that is no `i64`".to_owned()
                    });
                    self.require(arrivals.circle > 0, Invariant::Conditions, || "a circle of no objects".to_owned());
                    self.require(arrivals.count != Count::Open, Invariant::Placeholders, || {
                        "it is open for how many arrivals an object waits".to_owned()
                    });
                }
                if let Among::Placeholder(placeholder) = among {
                    self.placeholder(*placeholder);
                }
                self.meeting(*memory, *site);
            }
            Stmt::Havoc { var, .. } => {
                self.var(*var);
            }
            Stmt::Assume { cond, .. } => self.condition(*cond),
            Stmt::Assert { cond, site, .. } => {
                self.condition(*cond);
                self.site(*site);
            }
        }
    }

    fn placeholder(&mut self, placeholder: Placeholder) {
        self.report(Invariant::Placeholders, format!("a barrier is for {placeholder:?}"));
        let expected = match placeholder {
            Placeholder::Mask(mask) => vec![(mask, None)],
            Placeholder::Object { array, offset } => {
                let known = self.kernel.arrays.get(array).is_some();
                self.require(known, Invariant::Handles, || format!("array {array:?} does not exist"));
                vec![(offset, Some(ScalarType::I64))]
            }
            Placeholder::Numbered { number, threads } => vec![(number, None), (threads, None)],
        };
        for (value, wanted) in expected {
            if let Some(found) = self.ty(value) {
                let fits = wanted.is_none_or(|wanted| wanted == found);
                self.require(fits, Invariant::ExpressionTypes, || format!("a barrier is for {found:?}"));
            }
        }
    }

    /// What a barrier or a fence orders, and where it stands.
    fn meeting(&mut self, memory: SyncMemory, site: SiteId) {
        if let Some(array) = memory.array {
            let known = self.kernel.arrays.get(array).is_some();
            self.require(known, Invariant::Handles, || format!("array {array:?} does not exist"));
        }
        self.site(site);
    }

    fn counted(&mut self, counted: &For) {
        use BinaryOp::{Add, Div, Ge, Gt, Le, Lt, Mul, Ne, Shl, Shr, Sub};
        self.site(counted.site);
        let types = [counted.start, counted.bound, counted.step.by].map(|id| self.ty(id));
        let (Some((ty, name)), [Some(start), Some(bound), Some(by)]) = (self.var(counted.var), types) else { return };
        let shift = matches!(counted.step.op, Shl | Shr);
        let forms = matches!(counted.cmp, Lt | Le | Gt | Ge | Ne)
            && matches!(counted.step.op, Add | Sub | Mul | Div | Shl | Shr)
            && is_integer(ty)
            && start == ty
            && bound == ty
            && if shift { is_integer(by) } else { by == ty };
        self.require(forms, Invariant::CountedLoops, || format!("the loop over `{name}` has no counted form"));
        let mut fixed = vec![counted.var];
        for root in [counted.bound, counted.step.by] {
            self.kernel.exprs.visit(root, |_, node| {
                if let Expr::Var(var) = node {
                    fixed.push(*var);
                }
            });
        }
        let in_bound = fixed[1..].contains(&counted.var);
        self.require(!in_bound, Invariant::CountedLoops, || format!("`{name}` bounds its own loop"));
        for var in super::statements::assigned(&counted.body) {
            if fixed.contains(&var) {
                let assigned = self.kernel.vars.get(var).map_or("?", |variable| variable.name.as_str()).to_owned();
                self.report(
                    Invariant::CountedLoops,
                    format!("`{assigned}` is assigned in the loop over `{name}`, which relies on it"),
                );
            }
        }
        self.block(&counted.body);
    }
}

fn is_integer(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::{Basis, SiteId, text};

    fn violated(source: &str) -> Vec<Invariant> {
        let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
        validate(&kernel).into_iter().map(|violation| violation.invariant).collect()
    }

    fn body(body: &str) -> Vec<Invariant> {
        violated(&format!(
            "kernel k(n: i32) {{ global y: element 4 constant c: element 4 var i: i32 var j: i32 var l: i64 {body} }}"
        ))
    }

    #[test]
    fn a_well_formed_kernel_has_no_violations() {
        assert_eq!(
            body("let j = n for i = 0 while i < j step + 1 @0 { let l = convert<i64>(i) << 2 write y[l; 4] @1 }"),
            []
        );
    }

    #[test]
    fn handles_exist_and_expressions_look_back() {
        let mut kernel = text::parse("kernel k() { var i: i32 let i = i }").unwrap();
        kernel.body.push(Stmt::Let { var: VarId::from_index(7), value: ExprId::from_index(0) });
        kernel.body.push(Stmt::Assume { cond: ExprId::from_index(9), basis: Basis::Stated, span: None });
        let sync = crate::calculus::SyncMemory::BOTH;
        let scope = crate::calculus::SyncScope::Block;
        let among = crate::calculus::Among::All;
        kernel.body.push(Stmt::Sync { scope, memory: sync, among, site: SiteId::from_index(3) });
        assert_eq!(validate(&kernel).iter().map(|found| found.invariant).collect::<Vec<_>>(), [Invariant::Handles; 3]);
        let mut kernel = Kernel::default();
        kernel.exprs.intern(Expr::Unary(UnaryOp::Neg, ExprId::from_index(1)), ScalarType::I32);
        assert_eq!(validate(&kernel)[0].invariant, Invariant::Order);
    }

    #[test]
    fn types_of_expressions_agree() {
        for wrong in
            ["assume n < 3u32", "assume !n == 1", "let i = (n ? 1 : 2)", "let i = n << true", "assume n && true"]
        {
            assert!(body(wrong).contains(&Invariant::ExpressionTypes), "{wrong}");
        }
        let mut kernel = Kernel::default();
        kernel.exprs.intern(Expr::Int(300, ScalarType::Int { width: 8, signed: false }), ScalarType::U32);
        assert_eq!(validate(&kernel).len(), 2);
    }

    #[test]
    fn assignments_conditions_and_accesses_have_their_types() {
        assert_eq!(body("let i = l"), [Invariant::Assignment]);
        assert_eq!(body("let i = read y[0; 8] @0"), [Invariant::Assignment]);
        assert_eq!(body("if n { }"), [Invariant::Conditions]);
        assert_eq!(violated("kernel k() { var r: i32 returned r }"), [Invariant::Conditions]);
        assert_eq!(body("write y[n; 4] @0"), [Invariant::Accesses]);
        assert_eq!(body("write y[0; 0] @0"), [Invariant::Accesses]);
        assert_eq!(body("write c[0; 4] @0"), [Invariant::Accesses]);
    }

    #[test]
    fn counted_loops_rely_on_what_does_not_change() {
        let loops = |text: &str| assert_eq!(body(text), [Invariant::CountedLoops], "{text}");
        loops("for i = 0 while i == 3 step + 1 @0 { }");
        loops("for i = 0 while i < 3 step % 2 @0 { }");
        loops("for i = 0 while i < l step + 1 @0 { }");
        loops("for i = 0 while i < 3 step + 1 @0 { let i = 1 }");
        loops("for i = 0 while i < j step + 1 @0 { if n < 1 { havoc j uninitialized } }");
        loops("for i = 0 while i < 3 step + j @0 { let j = read y[0; 4] @1 }");
        loops("for i = 0 while i < i step + 1 @0 { }");
    }

    #[test]
    fn sites_and_declarations_are_proper() {
        assert_eq!(body("sync block shared @0 write y[0; 4] @0"), [Invariant::Sites]);
        assert_eq!(violated("kernel k() { shared s: element 0 }"), [Invariant::Declarations]);
        assert_eq!(violated("kernel k() [block 8 0 1] { }"), [Invariant::Declarations]);
    }
}
