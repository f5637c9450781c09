//! Kernels built by hand, and what is inferred of them.

use super::infer;
use crate::calculus::{
    Access, Among, Array, Axis, BinaryOp, Expr, ExprId, For, GeometryVar, Kernel, Param, ParamId, ScalarType, Site,
    Space, Step, Stmt, SyncMemory, SyncScope, Test, VarId, Variable,
};
use crate::protocol::{AccessId, Protocol, ReasonKind};

const INT: ScalarType = ScalarType::I32;

/// A kernel under construction, with one global array `a` and the parameter `n`.
struct Build {
    kernel: Kernel,
    n: ParamId,
}

impl Build {
    fn new() -> Self {
        let mut kernel = Kernel::default();
        kernel.arrays.push(Array {
            name: "a".to_owned(),
            space: Space::Global,
            bytes: None,
            element_bytes: 4,
            inner_dims: Vec::new(),
            is_param: true,
            is_filled_elsewhere: false,
            held_in: None,
            given: None,
            span: None,
        });
        let n = kernel.params.push(Param { name: "n".to_owned(), ty: INT });
        Build { kernel, n }
    }

    fn var(&mut self, name: &str, ty: ScalarType) -> VarId {
        self.kernel.vars.push(Variable { name: name.to_owned(), ty })
    }

    fn value(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.kernel.exprs.var(var, ty)
    }

    fn n(&mut self) -> ExprId {
        self.kernel.exprs.param(self.n, INT)
    }

    fn int(&mut self, value: i128) -> ExprId {
        self.kernel.exprs.int(value, INT)
    }

    fn thread(&mut self) -> ExprId {
        let id = self.kernel.exprs.geometry(GeometryVar::ThreadIdx(Axis::X));
        self.kernel.exprs.convert(INT, id)
    }

    fn op(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.kernel.exprs.binary(op, a, b)
    }

    fn site(&mut self) -> crate::calculus::SiteId {
        self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None })
    }

    fn access(&mut self, index: ExprId) -> Access {
        let wide = self.kernel.exprs.convert(ScalarType::I64, index);
        let four = self.kernel.exprs.int(4, ScalarType::I64);
        let offset = self.kernel.exprs.binary(BinaryOp::Mul, four, wide);
        let array = self.kernel.arrays.handles().next().unwrap();
        Access { array, offset, bytes: 4, align: 1, site: self.site() }
    }

    fn write(&mut self, index: ExprId) -> Stmt {
        Stmt::Write { access: self.access(index), value: None }
    }

    fn sync(&mut self) -> Stmt {
        let memory = SyncMemory::BOTH;
        Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site: self.site() }
    }

    fn infer(mut self, body: Vec<Stmt>) -> Protocol {
        self.kernel.body = body;
        infer(&self.kernel)
    }
}

/// The text of an expression, enough for tests.
fn show(protocol: &Protocol, id: ExprId) -> String {
    let go = |id| show(protocol, id);
    match &protocol.exprs[id] {
        Expr::Int(value, _) => value.to_string(),
        Expr::Opaque(text, _) => text.clone(),
        Expr::Var(var) => protocol.vars[*var].name.clone(),
        Expr::Param(param) => protocol.params[*param].name.clone(),
        Expr::Geometry(var) => format!("{var:?}"),
        Expr::Unary(op, a) => format!("{op:?}({})", go(*a)),
        Expr::Binary(op, a, b) => format!("({} {op:?} {})", go(*a), go(*b)),
        Expr::Select(c, a, b) => format!("({} ? {} : {})", go(*c), go(*a), go(*b)),
        Expr::Convert(_, a) => go(*a),
        Expr::Call(function, ..) => function.to_string(),
    }
}

fn offsets(protocol: &Protocol) -> Vec<String> {
    protocol.accesses.iter().map(|(_, access)| show(protocol, access.offset)).collect()
}

fn guards(protocol: &Protocol, index: usize) -> Vec<String> {
    protocol.accesses[AccessId::from_index(index)].guards.iter().map(|guard| show(protocol, guard.cond)).collect()
}

fn reasons(protocol: &Protocol, index: usize) -> Vec<ReasonKind> {
    protocol.accesses[AccessId::from_index(index)].reasons.iter().map(|reason| reason.kind).collect()
}

#[test]
fn an_early_return_guards_what_follows_and_reads_make_indices_approximate() {
    let mut b = Build::new();
    let returned = b.var("returned", ScalarType::Bool);
    b.kernel.returned = Some(returned);
    let (x, yes, no) = (b.var("x", INT), b.kernel.exprs.bool(true), b.kernel.exprs.bool(false));
    let (thread, n) = (b.thread(), b.n());
    let outside = b.op(BinaryOp::Ge, thread, n);
    let flag = b.value(returned);
    let going = b.kernel.exprs.not(flag);
    let read = Stmt::Read { var: x, access: b.access(thread) };
    let loaded = b.value(x);
    let write = b.write(loaded);
    let protocol = b.infer(vec![
        Stmt::Let { var: returned, value: no },
        Stmt::If { cond: outside, then: vec![Stmt::Let { var: returned, value: yes }], otherwise: vec![] },
        Stmt::If { cond: going, then: vec![read, write], otherwise: vec![] },
    ]);
    assert_eq!(offsets(&protocol), ["(4 Mul ThreadIdx(X))", "(4 Mul x)"]);
    assert_eq!(guards(&protocol, 0), ["(ThreadIdx(X) Lt n)"]);
    assert!(protocol.accesses.iter().all(|(_, access)| access.guards[0].not_returned));
    assert_eq!(reasons(&protocol, 0), []);
    assert_eq!(reasons(&protocol, 1), [ReasonKind::DataDependentIndex]);
}

#[test]
fn a_counted_loop_is_affine_in_its_turn_and_toggles_by_parity() {
    let mut b = Build::new();
    let (i, p, q) = (b.var("i", INT), b.var("p", INT), b.var("q", INT));
    let (thread, n, zero, one) = (b.thread(), b.n(), b.int(0), b.int(1));
    let (iv, pv, qv) = (b.value(i), b.value(p), b.value(q));
    let flipped = b.op(BinaryOp::Sub, one, pv);
    let advanced = b.op(BinaryOp::Add, qv, n);
    let (first, second, third) = (b.write(iv), b.write(pv), b.write(qv));
    let body = vec![first, second, third, Stmt::Let { var: p, value: flipped }, Stmt::Let { var: q, value: advanced }];
    let step = Step { op: BinaryOp::Add, by: n };
    let site = b.site();
    let last = b.write(pv);
    let each = For { var: i, start: thread, cmp: BinaryOp::Lt, bound: n, step, body, site };
    let protocol = b.infer(vec![
        Stmt::Let { var: p, value: zero },
        Stmt::Let { var: q, value: one },
        Stmt::For(Box::new(each)),
        last,
    ]);
    assert_eq!(
        offsets(&protocol),
        ["(4 Mul (ThreadIdx(X) Add (n Mul k)))", "(4 Mul parity)", "(4 Mul (1 Add (n Mul k)))", "(4 Mul p)"]
    );
    assert_eq!(guards(&protocol, 0), ["((ThreadIdx(X) Add (n Mul k)) Lt n)"]);
    assert_eq!(reasons(&protocol, 2), []);
    assert_eq!(reasons(&protocol, 3), [ReasonKind::UnknownLoopCount]);
    assert_eq!(protocol.loops.iter().next().unwrap().1.carried.len(), 1);
}

/// `for (;;) { if (i >= n) break; a[i] = …; i += 2; }`
#[test]
fn a_break_at_the_head_leaves_an_affine_loop() {
    let mut b = Build::new();
    let (i, broke) = (b.var("i", INT), b.var("broke", ScalarType::Bool));
    let (thread, n, two) = (b.thread(), b.n(), b.int(2));
    let (iv, flag, no) = (b.value(i), b.value(broke), b.kernel.exprs.bool(false));
    let (outside, going) = (b.op(BinaryOp::Ge, iv, n), b.kernel.exprs.not(flag));
    let next = b.op(BinaryOp::Add, iv, two);
    let write = b.write(iv);
    let rest = vec![write, Stmt::Let { var: i, value: next }];
    let body = vec![Stmt::Let { var: broke, value: outside }, Stmt::If { cond: going, then: rest, otherwise: vec![] }];
    let site = b.site();
    let after = b.write(thread);
    let protocol = b.infer(vec![
        Stmt::Let { var: i, value: thread },
        Stmt::Let { var: broke, value: no },
        Stmt::Loop { test: Test::Before(going), body, site },
        after,
    ]);
    let (_, each) = protocol.loops.iter().next().unwrap();
    let went_on = "((k Eq 0) Or ((ThreadIdx(X) Add (2 Mul (k Sub 1))) Lt n))";
    assert_eq!(show(&protocol, each.guard), went_on);
    assert_eq!(show(&protocol, each.continues), "1");
    assert_eq!(offsets(&protocol)[0], "(4 Mul (ThreadIdx(X) Add (2 Mul k)))");
    assert_eq!(guards(&protocol, 0), [went_on, "((ThreadIdx(X) Add (2 Mul k)) Lt n)"]);
    assert_eq!(reasons(&protocol, 0), []);
    assert_eq!(guards(&protocol, 1), Vec::<String>::new());
}

/// `do { done = a[i]; } while (!done)`, whose flag must not be taken for false after the loop.
#[test]
fn a_flag_that_ends_a_loop_is_unknown_after_it() {
    let mut b = Build::new();
    let (done, x) = (b.var("done", ScalarType::Bool), b.var("x", INT));
    let (flag, no, zero, loaded) = (b.value(done), b.kernel.exprs.bool(false), b.int(0), b.value(x));
    let going = b.kernel.exprs.not(flag);
    let stop = b.op(BinaryOp::Ne, loaded, zero);
    let read = Stmt::Read { var: x, access: b.access(zero) };
    let sync = b.sync();
    let site = b.site();
    let write = b.write(zero);
    let protocol = b.infer(vec![
        Stmt::Let { var: done, value: no },
        Stmt::Loop { test: Test::After(going), body: vec![read, sync, Stmt::Let { var: done, value: stop }], site },
        Stmt::If { cond: flag, then: vec![write], otherwise: vec![] },
    ]);
    assert_eq!(guards(&protocol, 1), ["done"]);
    assert_eq!(reasons(&protocol, 0), [ReasonKind::DataDependentGuard]);
    assert_eq!(reasons(&protocol, 1), [ReasonKind::DataDependentGuard]);
    assert!(protocol.loops.iter().next().unwrap().1.has_sync);
}

/// `for (i = 0; i < n; i++) { sync; if (…) break; }`: the sync of the next turn is guarded by the break.
#[test]
fn a_break_after_a_sync_guards_the_sync_of_the_next_turn() {
    let kernel = |cond: &str| {
        format!(
            "kernel k(n: i32) {{ global a: element 4 var i: i32 var x: i32 var broke: bool
               let broke = false let i = 0
               loop while i < n && !broke @0 {{
                 sync block shared global @1
                 let x = read a[0; 4] @2
                 if {cond} {{ let broke = true }}
                 if !broke {{ let i = i + 1 }} }} }}"
        )
    };
    let guards = |cond: &str| -> Vec<String> {
        let protocol = infer(&crate::calculus::text::parse(&kernel(cond)).unwrap());
        protocol.syncs.iter().flat_map(|(_, sync)| &sync.guards).map(|guard| show(&protocol, guard.cond)).collect()
    };
    assert_eq!(guards("i == convert<i32>(tid.x)"), ["(k Lt n)", "((k Eq 0) Or ((k Sub 1) Ne ThreadIdx(X)))"]);
    assert_eq!(guards("x == 0"), ["(k Lt n)", "going"]);
}

#[test]
fn halving_is_geometric_and_swapped_buffers_stay_opposite() {
    let mut b = Build::new();
    let (s, x, y, t) = (b.var("s", INT), b.var("x", INT), b.var("y", INT), b.var("t", INT));
    let (n, zero, one) = (b.n(), b.int(0), b.int(1));
    let (sv, xv, yv, tv) = (b.value(s), b.value(x), b.value(y), b.value(t));
    let writes = vec![b.write(sv), b.write(xv), b.write(yv)];
    let swap = [Stmt::Let { var: t, value: xv }, Stmt::Let { var: x, value: yv }, Stmt::Let { var: y, value: tv }];
    let site = b.site();
    let body = writes.into_iter().chain(swap).collect();
    let step = Step { op: BinaryOp::Shr, by: one };
    let each = For { var: s, start: n, cmp: BinaryOp::Gt, bound: zero, step, body, site };
    let protocol =
        b.infer(vec![Stmt::Let { var: x, value: zero }, Stmt::Let { var: y, value: n }, Stmt::For(Box::new(each))]);
    assert_eq!(offsets(&protocol), ["(4 Mul s)", "(4 Mul ((parity Eq 0) ? 0 : n))", "(4 Mul ((parity Eq 0) ? n : 0))"]);
    let carried = &protocol.loops.iter().next().unwrap().1.carried;
    let moves: Vec<_> = carried.iter().map(|carried| show(&protocol, carried.next)).collect();
    assert_eq!(moves, ["(s Shr 1)", "(1 Sub parity)"]);
    assert_eq!(reasons(&protocol, 1), []);
}

/// `for (i = 0; i < n; i++) { for (j = 4; j > 0; j -= 2) x += t; }  while (i < 9) { i += 2; x += t; }`
#[test]
fn what_a_loop_moves_steadily_is_known_after_it() {
    let text = "kernel k(n: i32) { global a: element 4 var i: i32 var j: i32 var x: i32
           let x = convert<i32>(tid.x)
           for i = 0 while i < n step + 1 @0 {
             for j = 4 while j > 0 step - 2 @1 { let x = x + n }
             write a[convert<i64>(x); 4] @2
           }
           write a[convert<i64>(x); 4] @3
           loop while x < 9 @4 { let x = x + 2 }
           write a[convert<i64>(x); 4] @5 }";
    let protocol = infer(&crate::calculus::text::parse(text).unwrap());
    let after = "(ThreadIdx(X) Add ((n Mul 2) Mul (n Max 0)))";
    assert_eq!(
        offsets(&protocol),
        [
            "((ThreadIdx(X) Add ((n Mul 2) Mul k)) Add (n Mul 2))".to_owned(),
            after.to_owned(),
            format!("({after} Add (2 Mul turns))")
        ]
    );
    assert_eq!(reasons(&protocol, 1), []);
    assert_eq!(reasons(&protocol, 2), [ReasonKind::UnknownLoopCount]);
}

#[test]
fn deep_nesting_is_reported_and_nested_loops_stay_cheap() {
    let mut b = Build::new();
    let (n, zero, one) = (b.n(), b.int(0), b.int(1));
    let x = b.var("x", INT);
    let xv = b.value(x);
    let mut body = vec![b.write(xv)];
    for depth in 0..40 {
        let i = b.var(&format!("i{depth}"), INT);
        let (iv, site) = (b.value(i), b.site());
        let sum = b.op(BinaryOp::Add, xv, iv);
        body.push(Stmt::Let { var: x, value: sum });
        let step = Step { op: BinaryOp::Add, by: one };
        body = vec![Stmt::For(Box::new(For { var: i, start: zero, cmp: BinaryOp::Lt, bound: n, step, body, site }))];
    }
    let started = std::time::Instant::now();
    let protocol = b.infer(body);
    assert!(started.elapsed().as_secs() < 5, "nested loops take polynomial time");
    assert_eq!(protocol.loops.len(), 40);

    let mut b = Build::new();
    let (thread, n) = (b.thread(), b.n());
    let cond = b.op(BinaryOp::Lt, thread, n);
    let mut body = vec![b.write(thread)];
    for _ in 0..1000 {
        body = vec![Stmt::If { cond, then: body, otherwise: vec![] }];
    }
    let protocol = b.infer(body);
    assert!(protocol.accesses.is_empty());
    assert_eq!(protocol.unsupported.len(), 1);
    assert_eq!(protocol.unsupported[0].arrays, None);
}
