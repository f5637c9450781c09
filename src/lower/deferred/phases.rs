//! Barriers in two steps: a thread arrives, does something else, and waits until all have arrived.
//!
//! What a thread does in between is ordered with nothing that others do before they arrive or after they have waited, so
//! it stands on both sides of the barrier ([`super::again`]). What it did before it arrived, others see who have waited.
//! A barrier that is an object ([`Builtin::Phase`](crate::builtins::Builtin) with an address) is memory as well: it is
//! written where it is told how many arrivals it waits for, and read wherever it is used, so that a use before that is a
//! race. Whom it waits for is said when the kernel is complete (`src/settle/parties.rs`).
//!
//! An arrival that the thread does not wait for there stands as a step at its object, and so does a wait in another block of
//! the program, or one that names its phase by parity: see `src/settle/producers.rs`.
//!
//! Deliberately absent: two arrivals before a wait.

use super::again::Mark;
use crate::builtins::{Builtin, Phase};
use crate::calculus::{
    Access, Among, Arrivals, Count, ExprId, HavocReason, Part, Placeholder, ScalarType, SiteId, Stmt, SyncMemory,
    SyncScope,
};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Pointer, Value};
use crate::resolve::program::{Expr, ExprKind, Stmt as Source, StmtKind, UnaryOp};
use crate::settle::notes::{Init, Object, Wait};
use crate::source::Span;

/// Size of a barrier that is an object.
const BARRIER_BYTES: u32 = 8;

/// Which barrier it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// That of the block or the grid.
    Group(SyncScope),
    Object(Object),
}

/// Where the token of a wait comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// From an arrival that stands in the call of the wait.
    InTheCall,
    /// From a variable; of which arrival it is is not followed.
    Kept,
}

/// A barrier that the thread has arrived at and not waited for.
#[derive(Clone, Debug)]
struct Open {
    whose: Whose,
    mark: Mark,
    span: Span,
    /// The step at the object.
    site: Option<SiteId>,
    /// Whether an asynchronous copy was under way.
    is_copying: bool,
}

/// The barriers of a kernel that the thread has arrived at and not waited for.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Phases {
    open: Vec<Open>,
}

impl Pass<'_> {
    /// A call that belongs to such a barrier.
    pub(in crate::lower) fn phase(
        &mut self,
        phase: Phase,
        scope: Option<SyncScope>,
        args: &[Expr],
        name: &str,
        call: &Expr,
    ) -> Value {
        let span = call.span;
        let (object, rest) = match (scope, args) {
            (Some(scope), rest) => (Some(Whose::Group(scope)), rest),
            (None, [pointer, rest @ ..]) => (self.barrier_at(pointer).map(Whose::Object), rest),
            (None, []) => return self.missing(call),
        };
        // The token may be made in the call.
        let values: Vec<Value> = rest.iter().map(|argument| self.value(argument)).collect();
        let Some(whose) = object else {
            self.unsupported(span, format!("`{name}` of a barrier of which is not known which it is"));
            return self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), span);
        };
        match phase {
            Phase::Init => match (whose, &values[..]) {
                (Whose::Object(object), &[Value::Scalar(count)]) => self.init_object(object, count, span),
                _ => self.unsupported(span, "barrier whose number of arrivals is not known".to_owned()),
            },
            Phase::Arrive => {
                let token = self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), span);
                self.arrive(whose, span);
                return token;
            }
            Phase::Wait => {
                let token = if rest.first().is_some_and(is_arrival) { Token::InTheCall } else { Token::Kept };
                self.wait(whose, token, span);
            }
            Phase::ArriveAndWait => {
                self.use_barrier(whose, span);
                self.copies_arrive(whose_object(whose));
                self.all_arrive(whose, span);
            }
            Phase::WaitParity => match (whose, values.first()) {
                (Whose::Object(object), Some(Value::Scalar(parity))) => {
                    let parity = self.exprs().convert(ScalarType::Bool, *parity);
                    self.wait_at_object(object, parity, span);
                }
                _ => return self.missing(call),
            },
            Phase::Test | Phase::TestParity => {
                let reason = format!("`{name}` anywhere but in a loop that only waits");
                self.unsupported(span, reason);
                return self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), span);
            }
        }
        Value::Void
    }

    /// A loop that does nothing until a barrier lets the thread go on: a wait for it.
    pub(in crate::lower) fn waiting_loop(&mut self, cond: &Expr, body: &Source) -> bool {
        let (tested, holds) = negations(cond);
        let ExprKind::Builtin(Builtin::Phase(phase @ (Phase::Test | Phase::TestParity), None), _, args) = &tested.kind
        else {
            return false;
        };
        if holds || !is_idle(body) {
            return false;
        }
        let [pointer, rest @ ..] = &args[..] else { return false };
        let Some(object) = self.barrier_at(pointer) else { return false };
        match (phase, rest) {
            (Phase::TestParity, [parity, rest @ ..]) => {
                let parity = self.scalar(parity);
                let parity = self.exprs().convert(ScalarType::Bool, parity);
                self.ignore(rest);
                self.wait_at_object(object, parity, cond.span);
            }
            _ => {
                self.ignore(rest);
                self.wait(Whose::Object(object), Token::Kept, cond.span);
            }
        }
        true
    }

    /// The object that a pointer to a barrier leads to.
    pub(in crate::lower) fn barrier_at(&mut self, pointer: &Expr) -> Option<Object> {
        let pointer = self.pointer(pointer);
        self.object_of(&pointer)
    }

    /// The object that a pointer leads to.
    pub(in crate::lower) fn object_of(&mut self, pointer: &Pointer) -> Option<Object> {
        match pointer.base {
            Base::Target(target) => Some(Object { array: self.array_of(target)?, offset: pointer.offset }),
            _ => None,
        }
    }

    /// An object is told how many arrivals it waits for.
    pub(in crate::lower) fn init_object(&mut self, object: Object, count: ExprId, span: Span) {
        let access = self.access_to(object, span);
        let site = access.site;
        self.emit(Stmt::Write { access, value: None });
        let count = self.exprs().convert(ScalarType::I64, count);
        self.notes.objects.inits.push(Init { object, count, site });
    }

    /// The thread arrives at an object.
    pub(in crate::lower) fn arrive_at_object(&mut self, object: Object, span: Span) {
        self.arrive(Whose::Object(object), span);
    }

    /// A wait for the phase of a parity; which one that is is asked when the kernel is complete.
    pub(in crate::lower) fn wait_at_object(&mut self, object: Object, parity: ExprId, span: Span) {
        self.use_barrier(Whose::Object(object), span);
        self.wait_by_itself(object, Some(parity), span);
    }

    /// The barrier is touched in memory. What others find there is not what counts: it is read, so that a use before it
    /// is told for how many it is conflicts with that.
    fn use_barrier(&mut self, whose: Whose, span: Span) {
        let Whose::Object(object) = whose else { return };
        let access = self.access_to(object, span);
        let var = self.temporary("phase", ScalarType::U64);
        self.emit(Stmt::Read { var, access });
    }

    fn access_to(&mut self, object: Object, span: Span) -> Access {
        let (site, offset) = (self.site(span), self.placed(object.array, object.offset));
        Access { array: object.array, offset, bytes: BARRIER_BYTES, align: BARRIER_BYTES, site }
    }

    fn arrive(&mut self, whose: Whose, span: Span) {
        self.use_barrier(whose, span);
        self.copies_arrive(whose_object(whose));
        let is_copying = self.is_copying_now();
        let site = whose_object(whose).map(|object| self.step_at(object, Part::Arrives, span));
        let mark = self.mark();
        self.phases.open.push(Open { whose, mark, span, site, is_copying });
    }

    fn wait_by_itself(&mut self, object: Object, parity: Option<ExprId>, span: Span) {
        let site = self.step_at(object, Part::Waits, span);
        self.notes.objects.waits.push(Wait { site, parity });
    }

    fn wait(&mut self, whose: Whose, token: Token, span: Span) {
        // What was arrived at in other blocks stays a step there.
        let here = |open: &Open| self.is_in_this_block(open.mark);
        let of_object = |open: &&Open| open.whose == whose;
        if let Whose::Object(object) = whose
            && token == Token::Kept
            && self.phases.open.iter().any(|open| open.whose == whose)
            && !self.phases.open.iter().filter(of_object).any(|open| here(open) || open.is_copying)
        {
            self.phases.open.retain(|open| open.whose != whose);
            self.use_barrier(whose, span);
            return self.wait_by_itself(object, None, span);
        }
        if token == Token::Kept {
            self.notes.objects.waited_for.extend(whose_object(whose).map(|object| object.array));
        }
        let arrived: Vec<usize> =
            self.phases.open.iter().enumerate().filter(|(_, open)| open.whose == whose).map(|(at, _)| at).collect();
        let reason = match (token, &arrived[..]) {
            (Token::Kept, &[at]) | (Token::InTheCall, &[.., at]) => {
                let Open { mark, site, .. } = self.phases.open.remove(at);
                self.notes.objects.dropped.extend(site);
                if self.is_in_this_block(mark) {
                    let until = self.mark();
                    self.use_barrier(whose, span);
                    self.all_arrive(whose, span);
                    if self.repeat([mark, until]).is_some() {
                        return;
                    }
                    "wait for a barrier with another barrier since the arrival"
                } else {
                    "wait for a barrier elsewhere than behind the arrival"
                }
            }
            (_, []) => "wait for a barrier that the thread has not arrived at before",
            (Token::Kept, _) => "wait for a barrier after several arrivals",
        };
        self.unsupported(span, reason.to_owned());
    }

    /// A step at an object, for how many is said when the kernel is complete.
    fn step_at(&mut self, object: Object, part: Part, span: Span) -> SiteId {
        let site = self.site(span);
        let offset = self.placed(object.array, object.offset);
        let step = Arrivals { array: object.array, offset, circle: 1, count: Count::Open, part };
        let among = Among::Arrivals(step);
        self.emit(Stmt::Sync { scope: SyncScope::Block, memory: SyncMemory::BOTH, among, site });
        site
    }

    /// All threads of the barrier meet.
    fn all_arrive(&mut self, whose: Whose, span: Span) {
        self.copies_are_done_at(whose_object(whose));
        let (scope, among) = match whose {
            Whose::Group(scope) => (scope, Among::All),
            Whose::Object(Object { array, offset }) => {
                (SyncScope::Block, Among::Placeholder(Placeholder::Object { array, offset }))
            }
        };
        let site = self.site(span);
        self.emit(Stmt::Sync { scope, memory: SyncMemory::BOTH, among, site });
    }

    /// Nobody has waited for what is open at the end.
    pub(in crate::lower) fn no_phases_here(&mut self) {
        for open in std::mem::take(&mut self.phases.open) {
            match open.site {
                // Those at objects are asked about when the kernel is complete.
                Some(_) if !open.is_copying => continue,
                site => self.notes.objects.dropped.extend(site),
            }
            self.unsupported(open.span, "arrival at a barrier that the thread does not wait for".to_owned());
        }
    }
}

fn whose_object(whose: Whose) -> Option<Object> {
    match whose {
        Whose::Object(object) => Some(object),
        Whose::Group(_) => None,
    }
}

/// Whether this is the call of an arrival.
fn is_arrival(token: &Expr) -> bool {
    match &token.kind {
        ExprKind::Builtin(Builtin::Phase(Phase::Arrive, None), ..) => true,
        ExprKind::Convert(inner) => is_arrival(inner),
        _ => false,
    }
}

/// What is tested under negations, and whether the loop goes on where it holds.
fn negations(cond: &Expr) -> (&Expr, bool) {
    let (mut tested, mut holds) = (cond, true);
    loop {
        match &tested.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => (tested, holds) = (inner, !holds),
            ExprKind::Convert(inner) => tested = inner,
            _ => return (tested, holds),
        }
    }
}

/// Whether a body does nothing.
fn is_idle(body: &Source) -> bool {
    matches!(&body.kind, StmtKind::Block(inner) if inner.iter().all(is_idle))
}
