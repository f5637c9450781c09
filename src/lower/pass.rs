//! One walk over a kernel: the kernel under construction, the open blocks, and the inlining stack.

use super::annotation::Annotation;
use super::blocks::Blocks;
use super::deferred::phases::Phases;
use super::deferred::under_way::{Begun, Copies};
use super::ends::Ends;
use super::storage::facts::{Chain, ChainId, Facts, Target, TargetId};
use super::storage::home::Home;
use super::storage::layout::Layout;
use super::storage::windows::Windows;
use super::value::{Base, Pointer};
use super::walk::scan::Scans;
use crate::arena::{Handle, SideTable};
use crate::calculus::{
    ArrayId, BinaryOp, ExprId, Exprs, For, HavocReason, Kernel, Param, Reliance, Relied, ScalarType, Site, SiteId,
    Step, Stmt, Unsupported, VarId, Variable,
};
use crate::resolve::program::{FunctionId, Program, TypeId};
use crate::settle::{Notes, Unsettled};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Nesting of expressions, statements and calls beyond which lowering gives up on the inner part.
const MAX_DEPTH: usize = 400;

/// A function being lowered.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) chain: ChainId,
    /// Set by `return`, where something may follow it.
    pub(super) returned: Option<VarId>,
    /// Where `return` puts the value, if it is not simply the last thing that the function does.
    pub(super) result: Option<TargetId>,
    /// Jumps that are open in this function.
    pub(super) jumps: Vec<Jump>,
}

/// A loop or switch that `break` or `continue` may leave; a flag exists once something sets it.
#[derive(Debug)]
pub(super) struct Jump {
    pub(super) is_loop: bool,
    pub(super) broken: Option<VarId>,
    pub(super) continued: Option<VarId>,
}

/// The walk.
pub(super) struct Pass<'p> {
    pub(super) program: &'p Program,
    pub(super) layout: Layout<'p>,
    pub(super) facts: &'p mut Facts,
    pub(super) kernel: Kernel,
    pub(super) frames: Vec<Frame>,
    /// Call sites that lead to the current frame.
    pub(super) calls: Vec<Span>,
    /// Whether functions assign something through pointers or references, as far as that was asked.
    pub(super) assigns_outside: FxHashMap<FunctionId, bool>,
    pub(super) homes: SideTable<Target, Home>,
    pub(super) scans: Scans,
    /// The type units in which each array is addressed.
    pub(super) units: FxHashMap<ArrayId, BTreeSet<Option<TypeId>>>,
    /// How often each place has called in this pass.
    pub(super) ordinals: FxHashMap<(ChainId, Span), u32>,
    pub(super) temporaries: u32,
    /// Asynchronous copies that are under way.
    pub(super) copies: Copies,
    /// All asynchronous copies so far.
    pub(super) begun: Begun,
    /// Barriers in two steps.
    pub(super) phases: Phases,
    /// What is seen beside the statements, for the passes behind.
    pub(super) notes: Notes,
    pub(super) annotation: Annotation,
    /// The targets that live in arrays of global memory, by array.
    pub(super) global_targets: FxHashMap<ArrayId, TargetId>,
    /// Parameters that live in memory, by array.
    pub(super) passed: FxHashMap<ArrayId, TargetId>,
    /// Offsets of parts of objects whose layout is not known, with the names of their types.
    pub(super) anywhere: FxHashMap<VarId, String>,
    /// The targets of addresses that were made numbers.
    pub(super) addresses: FxHashMap<ExprId, TargetId>,
    /// Addresses in the window of shared memory.
    pub(super) windows: Windows,
    /// The memory behind handles of surfaces and images.
    pub(super) handles: FxHashMap<ExprId, ArrayId>,
    /// Where the thread may have ended.
    pub(super) ends: Ends,
    /// Memory that the thread has allocated.
    pub(super) allocated: FxHashSet<TargetId>,
    pub(super) blocks: Blocks,
    depth: usize,
    names: u32,
}

/// Constructs that are named for one kernel.
const MOST_UNSUPPORTED: usize = 500;

impl<'p> Pass<'p> {
    pub(super) fn new(program: &'p Program, kernel: FunctionId, facts: &'p mut Facts) -> Self {
        let null = facts.target(Target::Null);
        let mut homes = SideTable::new();
        homes.insert(null, Home::Null);
        let frame = Frame { function: kernel, chain: None, returned: None, result: None, jumps: Vec::new() };
        Pass {
            program,
            layout: Layout { program },
            facts,
            kernel: Kernel::default(),
            frames: vec![frame],
            calls: Vec::new(),
            assigns_outside: FxHashMap::default(),
            homes,
            scans: Scans::default(),
            units: FxHashMap::default(),
            ordinals: FxHashMap::default(),
            temporaries: 0,
            copies: Copies::default(),
            begun: Begun::default(),
            phases: Phases::default(),
            notes: Notes::default(),
            annotation: Annotation::default(),
            global_targets: FxHashMap::default(),
            passed: FxHashMap::default(),
            anywhere: FxHashMap::default(),
            addresses: FxHashMap::default(),
            windows: Windows::default(),
            handles: FxHashMap::default(),
            ends: Ends::default(),
            allocated: FxHashSet::default(),
            blocks: Blocks::new(),
            depth: 0,
            names: 0,
        }
    }

    /// Lowers the kernel's parameters and body.
    pub(super) fn kernel_body(&mut self) {
        let function = &self.program.functions[self.frames[0].function];
        for (span, reason) in &function.unsupported {
            self.unsupported(*span, reason.clone());
        }
        self.kernel_params(&function.params);
        let Some(body) = &function.body else {
            return self.unsupported(function.span, "kernel without a body".to_owned());
        };
        if super::walk::scan::has_early_return(body) {
            let flag = self.variable("returned", ScalarType::Bool);
            self.set_flag(flag, 0);
            self.frames[0].returned = Some(flag);
            self.kernel.returned = Some(flag);
        }
        self.stmts(body);
        self.copies_at_the_end(function.span);
        self.no_phases_here();
    }

    /// The kernel as it was walked over, and what was seen beside its statements.
    pub(super) fn finish(mut self) -> Unsettled {
        self.kernel.body = self.blocks.finish();
        self.nobody_has_ended();
        self.windows_at_the_end();
        self.notes.units.mixed = self.mixed_units();
        Unsettled { kernel: self.kernel, notes: self.notes }
    }

    pub(super) fn exprs(&mut self) -> &mut Exprs {
        &mut self.kernel.exprs
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the kernel's own frame is never popped")
    }

    pub(super) fn chain(&self) -> ChainId {
        self.frames.last().and_then(|frame| frame.chain)
    }

    /// A call chain that ends in a call at `span`.
    pub(super) fn enter_chain(&mut self, span: Span) -> Handle<Chain> {
        let parent = self.chain();
        let ordinal = self.ordinals.entry((parent, span)).or_insert(0);
        *ordinal += 1;
        let chain = Chain { parent, call: span, ordinal: *ordinal };
        self.facts.chain(chain)
    }

    /// Adds a statement to the open block.
    pub(super) fn emit(&mut self, stmt: Stmt) {
        if let Stmt::Let { var, value } = stmt {
            self.hold_address(var, value);
        }
        let goes_on = self.watch_copies(&stmt);
        self.blocks.emit(stmt);
        if let Some(barrier) = goes_on {
            self.copies_go_on(barrier);
        }
    }

    /// Adds statements to the open block.
    pub(super) fn emit_all(&mut self, stmts: Vec<Stmt>) {
        self.blocks.emit_again(stmts);
    }

    /// What `action` emits, and its result.
    pub(super) fn captured<R>(&mut self, action: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        self.blocks.begin();
        let result = action(self);
        (self.blocks.finish(), result)
    }

    /// A loop in which a number counts from 0 to `bound`, which the loop does not change.
    pub(super) fn turns(&mut self, stem: &str, bound: ExprId, span: Span, turn: impl FnOnce(&mut Self, ExprId)) {
        let var = self.temporary(stem, ScalarType::I64);
        let at = self.var(var);
        let (body, ()) = self.captured(|pass| turn(pass, at));
        let [start, by] = [0, 1].map(|number| self.exprs().int(number, ScalarType::I64));
        let step = Step { op: BinaryOp::Add, by };
        let site = self.site(span);
        self.emit(Stmt::For(Box::new(For { var, start, cmp: BinaryOp::Lt, bound, step, body, site })));
    }

    /// Runs `action` one level deeper, or returns `None` if that is too deep.
    pub(super) fn deeper<R>(&mut self, action: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = action(self);
        self.depth -= 1;
        Some(result)
    }

    pub(super) fn emit_if(&mut self, cond: ExprId, then: Vec<Stmt>, otherwise: Vec<Stmt>) {
        match self.kernel.exprs.as_int(cond) {
            Some(0) => self.emit_all(otherwise),
            Some(_) => self.emit_all(then),
            None if then.is_empty() && otherwise.is_empty() => {}
            None if then.is_empty() => {
                let cond = self.exprs().not(cond);
                self.emit(Stmt::If { cond, then: otherwise, otherwise: then });
            }
            None => self.emit(Stmt::If { cond, then, otherwise }),
        }
    }

    pub(super) fn emit_let(&mut self, var: VarId, value: ExprId) {
        let ty = self.kernel.vars[var].ty;
        let value = self.coerce(value, ty);
        self.emit(Stmt::Let { var, value });
    }

    /// Emits `let flag = value` for a truth value.
    pub(super) fn set_flag(&mut self, flag: VarId, value: i128) {
        let value = self.exprs().int(value, ScalarType::Bool);
        self.emit(Stmt::Let { var: flag, value });
    }

    /// A new variable with the name that it has in the source.
    pub(super) fn variable(&mut self, name: impl Into<String>, ty: ScalarType) -> VarId {
        self.kernel.vars.push(Variable { name: name.into(), ty })
    }

    /// A new variable with a made-up name.
    pub(super) fn temporary(&mut self, stem: &str, ty: ScalarType) -> VarId {
        self.names += 1;
        let name = format!("{stem}.{}", self.names);
        self.variable(name, ty)
    }

    /// A new truth value that says that the thread has jumped, or fallen through to a label.
    pub(super) fn jump_flag(&mut self, stem: &str) -> VarId {
        let flag = self.temporary(stem, ScalarType::Bool);
        self.notes.jumps.insert(flag);
        flag
    }

    /// The value of a variable.
    pub(super) fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.exprs().var(var, ty)
    }

    /// A fresh variable that holds `value` as it is now.
    pub(super) fn snapshot(&mut self, value: ExprId) -> ExprId {
        if self.is_immutable(value) {
            return value;
        }
        let ty = self.kernel.exprs.ty(value);
        let var = self.temporary("t", ty);
        self.emit(Stmt::Let { var, value });
        self.var(var)
    }

    /// Whether no variable stands in `value`.
    pub(super) fn is_immutable(&self, value: ExprId) -> bool {
        let mut immutable = true;
        self.kernel.exprs.visit(value, |_, expr| immutable &= !matches!(expr, crate::calculus::Expr::Var(_)));
        immutable
    }

    /// A value of type `ty` that nothing is known about.
    pub(super) fn havoc(&mut self, ty: ScalarType, reason: HavocReason, span: Span) -> ExprId {
        let var = self.temporary("unknown", ty);
        self.emit(Stmt::Havoc { var, reason, span: Some(span) });
        self.var(var)
    }

    /// A new site at `span`, in the current chain of inlined calls. What the text of a model does is done where it is called.
    pub(super) fn site(&mut self, span: Span) -> SiteId {
        let sources = &self.program.sources;
        let mut inlined = self.calls.clone();
        let mut span = span;
        while sources.is_of_a_model(span) {
            let Some(call) = inlined.pop() else { break };
            span = call;
        }
        self.kernel.sites.push(Site { span: Some(span), inlined, told: None })
    }

    /// Remembers where an expression comes from, if nothing is remembered yet.
    pub(super) fn note_span(&mut self, expr: ExprId, span: Span) {
        if self.kernel.spans.get(expr).is_none() {
            self.kernel.spans.insert(expr, span);
        }
    }

    /// The meaning of what stands here, or of the kernel as a whole, counts on something.
    pub(super) fn rely(&mut self, span: Option<Span>, what: Relied) {
        let reliance = Reliance { what, span };
        if !self.kernel.relies.contains(&reliance) {
            self.kernel.relies.push(reliance);
        }
    }

    /// A number of that type that no source gives: a parameter of the kernel.
    pub(super) fn implicit_param(&mut self, name: String, ty: ScalarType) -> ExprId {
        let known = self.kernel.params.iter().find(|(_, param)| param.name == name).map(|(id, _)| id);
        let param = known.unwrap_or_else(|| self.kernel.params.push(Param { name, ty }));
        self.exprs().param(param, ty)
    }

    /// Something is not modelled and may do anything.
    pub(super) fn unsupported(&mut self, span: Span, reason: String) {
        self.push_unsupported(Unsupported {
            span: Some(span),
            reason,
            arrays: None,
            barriers: true,
            is_of_thread: false,
        });
    }

    /// Something is not modelled and may do anything to `arrays`.
    pub(super) fn unsupported_on(&mut self, span: Span, reason: String, arrays: Vec<ArrayId>) {
        self.push_unsupported(Unsupported {
            span: Some(span),
            reason,
            arrays: Some(arrays),
            barriers: false,
            is_of_thread: false,
        });
    }

    /// Who has to come here is not modelled; no memory is touched or ordered.
    pub(super) fn unsupported_meeting(&mut self, span: Span, reason: String) {
        let (span, arrays) = (Some(span), Some(Vec::new()));
        self.push_unsupported(Unsupported { span, reason, arrays, barriers: true, is_of_thread: false });
    }

    /// What one thread does to `arrays` is not modelled; what two do is.
    pub(super) fn unsupported_of_thread(&mut self, span: Span, reason: String, arrays: Vec<ArrayId>) {
        let arrays = Some(arrays);
        self.push_unsupported(Unsupported { span: Some(span), reason, arrays, barriers: false, is_of_thread: true });
    }

    /// A call of which is known that it can do anything to `arrays` only, and may pass barriers.
    pub(super) fn unsupported_call(&mut self, span: Span, reason: String, arrays: Vec<ArrayId>) {
        self.push_unsupported(Unsupported {
            span: Some(span),
            reason,
            arrays: Some(arrays),
            barriers: true,
            is_of_thread: false,
        });
    }

    /// Something that is left out without changing what the kernel does.
    pub(super) fn note(&mut self, span: Span, reason: String) {
        self.unsupported_on(span, reason, Vec::new());
    }

    /// Tells something at the first place where it is met.
    pub(super) fn note_once(&mut self, span: Span, reason: String) {
        if !self.kernel.unsupported.iter().any(|entry| entry.reason == reason) {
            self.note(span, reason);
        }
    }

    fn push_unsupported(&mut self, entry: Unsupported) {
        let known = &mut self.kernel.unsupported;
        // Nobody reads further, and after one that may do anything no other changes what is known.
        let is_enough = known.len() >= MOST_UNSUPPORTED && known.iter().any(|entry| entry.arrays.is_none());
        if !is_enough && !known.iter().rev().take(MOST_UNSUPPORTED).any(|other| *other == entry) {
            known.push(entry);
        }
    }

    /// A byte offset.
    pub(super) fn offset(&mut self, bytes: u64) -> ExprId {
        self.exprs().int(i128::from(bytes), ScalarType::I64)
    }

    /// The start of a target.
    pub(super) fn start_of(&mut self, target: TargetId) -> Pointer {
        Pointer { base: Base::Target(target), offset: self.offset(0) }
    }

    /// The null pointer.
    pub(super) fn null(&mut self) -> Pointer {
        let target = self.facts.target(Target::Null);
        self.start_of(target)
    }

    /// A pointer that may point anywhere.
    pub(super) fn unknown_pointer(&mut self, reason: &str) -> Pointer {
        Pointer { base: Base::Unknown(reason.to_owned()), offset: self.offset(0) }
    }
}
