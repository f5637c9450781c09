//! Calls that threads make together: shuffles, votes and reductions of a warp, a tile, a sub-group or a work-group.
//!
//! Every thread that such a call is for has to come to it (CUDA programming guide, warp shuffle functions: all threads
//! that have not exited and that the mask names; OpenCL: all work-items of the group), so it is a barrier that orders no
//! memory. Votes, reductions and what one lane gives away are the same for all, and say something of what the thread itself
//! has put in ([`votes`](super::votes)); what a shuffle gives is the value that the other lane has, where that is a formula
//! (`src/settle/shuffles.rs`) or a number that one thread draws for others (`src/settle/draws`).
//!
//! Deliberately absent: calls without a mask (`__shfl`), which are for the threads that happen to be there.

use super::pass::Pass;
use super::value::Value;
use super::votes::Vote;
use crate::builtins::{self, Gives, InGroup, Made, Operation, Together, groups};
use crate::calculus::eval::WARP;
use crate::calculus::{Among, Expr as Node, ExprId, HavocReason, Placeholder, ScalarType, Stmt, SyncMemory, SyncScope};
use crate::resolve::program::{Expr, Type};
use crate::settle::notes::{Exchange, Lanes, Partner, Shuffle, Source};
use std::cmp::Ordering;

/// The mask of `__syncwarp` that names every thread.
const WHOLE_WARP: i128 = 0xffff_ffff;

impl Pass<'_> {
    pub(super) fn together(&mut self, (whom, made): (Together, Made), name: &str, args: &[Expr], call: &Expr) -> Value {
        let gives = made.gives();
        // A group of threads stands for their mask.
        let has_mask = matches!(whom, Together::Named | Together::Coalesced);
        let mut values = self.values(args);
        if let (true, Some(Value::Scalar(mask))) = (has_mask, values.first_mut()) {
            *mask = self.snapshot(*mask);
        }
        let own = HavocReason::Call(name.to_owned());
        for value in &values {
            self.clobber_value(value, &own, call.span);
        }
        let number = |at: usize| match values.get(at) {
            Some(Value::Scalar(expr)) => Some(*expr),
            _ => None,
        };
        let mask = number(0).filter(|_| has_mask);
        let meeting = match (whom, mask) {
            (Together::Named | Together::Coalesced, Some(mask)) => Some((SyncScope::Warp, self.named_by(mask))),
            (Together::Named | Together::Coalesced, None) => return self.missing(call),
            (Together::Tile(threads), _) => tile(threads),
            (Together::Group(scope), _) => Some((scope, Among::All)),
            (Together::Some, _) => {
                let reason = format!("`{name}` of a group whose threads are not known before it runs");
                self.unsupported_meeting(call.span, reason);
                None
            }
        };
        if let Some((scope, among)) = meeting {
            let memory = if scope == SyncScope::Block { SyncMemory::LIBRARY } else { SyncMemory::NONE };
            let site = self.site(call.span);
            self.emit(Stmt::Sync { scope, memory, among, site });
        }
        let first = usize::from(has_mask);
        let constant = |at: Option<ExprId>| at.and_then(|expr| self.kernel.exprs.as_int(expr));
        let segment = match (whom, number(first + 2)) {
            (Together::Named | Together::Coalesced, None) => Some(WARP),
            (Together::Named | Together::Coalesced, width) => {
                constant(width).and_then(|width| u32::try_from(width).ok())
            }
            (Together::Tile(threads), _) => Some(threads),
            (Together::Group(_) | Together::Some, _) => None,
        };
        let is_whole = segment == Some(WARP);
        let is_common = match gives {
            Gives::Each => false,
            Gives::All => true,
            Gives::Lane => is_whole && constant(number(first + 1)).is_some(),
        };
        let group = match whom {
            Together::Named | Together::Coalesced => constant(mask).map(|_| SyncScope::Warp),
            Together::Tile(WARP) => Some(SyncScope::Warp),
            Together::Group(SyncScope::Block) => Some(SyncScope::Block),
            // How large a sub-group is, the device decides.
            Together::Tile(_) | Together::Group(_) | Together::Some => None,
        };
        let reason = match group.filter(|_| is_common) {
            Some(scope) => HavocReason::Common(scope, name.to_owned()),
            None => own,
        };
        let voted = match (made, values.as_slice(), mask, whom) {
            (Made::Ballot, [_, said], Some(mask), Together::Named) => Some((said, &args[1], mask)),
            (Made::Ballot, [said], _, Together::Tile(WARP)) => {
                Some((said, &args[0], self.exprs().int(WHOLE_WARP, ScalarType::U32)))
            }
            _ => None,
        };
        let operation = match args.get(first..) {
            Some([own, by, ..]) => self.operation(own, by),
            _ => None,
        };
        let vote = Vote::of(made, operation).zip(number(first));
        if let Some((said, arg, voters)) = voted {
            let said = match said {
                &Value::Scalar(own) => self.asked(own),
                other => self.is_true(other.clone(), arg),
            };
            let mask = self.mask(said, &reason, |var| Source::Votes(var, voters), call);
            self.note_vote(Vote::Any, said, &mask, group, call.span);
            return mask;
        }
        let given = self.unknown_value(call.ty, &reason, call.span);
        if let Some((vote, own)) = vote {
            self.note_vote(vote, own, &given, group.filter(|_| is_common), call.span);
        }
        if let (Some((vote, own)), Some(segment), Value::Scalar(holder)) = (vote, segment, &given)
            && let Node::Var(holder) = self.kernel.exprs[*holder]
            && vote.gives_back()
        {
            let value = if vote.is_of_truths() { self.asked(own) } else { own };
            self.notes
                .warps
                .exchanges
                .insert(holder, Exchange { from: Partner::Anyone, value, by: value, segment, mask });
        }
        if let (Some(value), Some(by)) = (number(first), number(first + 1))
            && let Value::Scalar(holder) = given
            && let Node::Var(holder) = self.kernel.exprs[holder]
        {
            // Lanes of a group that happened to be there count within it.
            let is_within = whom == Together::Coalesced;
            if gives == Gives::Lane && is_whole {
                let lanes = if is_within { Lanes::OfMask } else { Lanes::OfWarp };
                self.notes.warps.shuffles.insert(holder, Shuffle { value, lane: by, mask, lanes });
            }
            if let (Some(from), Some(segment), false) = (partner(made), segment, is_within) {
                self.notes.warps.exchanges.insert(holder, Exchange { from, value, by, segment, mask });
            }
        }
        given
    }

    /// What a reduction of `own` is told to do, if it compares and computes in that type.
    fn operation(&self, own: &Expr, by: &Expr) -> Option<Operation> {
        let Type::Unknown(name) = &self.program.types[by.ty] else { return None };
        let (name, of) = name.strip_suffix('>')?.split_once('<')?;
        groups::operation(name).filter(|_| of == self.program.type_name(own.ty))
    }

    /// A number of a group of threads of a warp.
    pub(super) fn in_group(&mut self, what: InGroup, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [group] = args else { return self.missing(call) };
        let group = self.value(group);
        let given = self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), call.span);
        if let (Value::Scalar(group), &Value::Scalar(holder)) = (group, &given)
            && let Node::Var(holder) = self.kernel.exprs[holder]
        {
            let of = match what {
                InGroup::Rank => &mut self.notes.warps.ranks,
                InGroup::Size => &mut self.notes.warps.sizes,
            };
            of.insert(holder, group);
        }
        given
    }

    /// The threads of a warp that a mask names.
    pub(super) fn named_by(&mut self, mask: ExprId) -> Among {
        match self.kernel.exprs.as_int(mask) {
            Some(bits) if bits & WHOLE_WARP == WHOLE_WARP => Among::All,
            _ => Among::Placeholder(Placeholder::Mask(mask)),
        }
    }
}

/// The lane that a shuffle reads from.
fn partner(made: Made) -> Option<Partner> {
    let Made::Shuffle(partner) = made else { return None };
    Some(match partner {
        builtins::Partner::Lane => Partner::Lane,
        builtins::Partner::Below => Partner::Below,
        builtins::Partner::Above => Partner::Above,
        builtins::Partner::Flipped => Partner::Flipped,
    })
}

/// Whom a barrier of aligned groups of so many threads is for; `None` if each is alone.
pub(super) fn tile(threads: u32) -> Option<(SyncScope, Among)> {
    if threads <= 1 {
        return None;
    }
    Some(match threads.cmp(&WARP) {
        Ordering::Less => (SyncScope::Warp, Among::Tiles(threads)),
        Ordering::Equal => (SyncScope::Warp, Among::All),
        Ordering::Greater => (SyncScope::Block, Among::Tiles(threads)),
    })
}
