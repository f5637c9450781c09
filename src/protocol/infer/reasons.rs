//! Why accesses, syncs and loops are approximate: the unknown values that reach them.

use crate::calculus::{Expr, ExprId, ScalarType};
use crate::protocol::{Guard, LoopId, OpaqueId, Origin, Protocol, Reason, ReasonKind, Role, sources};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// What an expression is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Index,
    Control,
}

/// Fills in the reasons of everything.
pub(super) fn fill(protocol: &mut Protocol) {
    let mut loops: Vec<Vec<Reason>> = Vec::new();
    for (_, each) in protocol.loops.iter() {
        let mut reasons = Collector::new(protocol);
        for id in &each.loops {
            reasons.add(&loops[id.index()]);
        }
        reasons.guards(&each.guards);
        let carried = each.carried.iter().flat_map(|carried| [carried.start, carried.next]);
        for value in [each.guard, each.continues].into_iter().chain(carried) {
            reasons.value(value, Use::Control);
        }
        loops.push(reasons.found);
    }
    let context = |guards: &[Guard], within: &[LoopId], reasons: &mut Collector<'_>| {
        reasons.guards(guards);
        for id in within {
            reasons.add(&loops[id.index()]);
        }
    };
    let accesses: Vec<Vec<Reason>> = protocol
        .accesses
        .iter()
        .map(|(_, access)| {
            let mut reasons = Collector::new(protocol);
            reasons.value(access.offset, Use::Index);
            context(&access.guards, &access.loops, &mut reasons);
            reasons.found
        })
        .collect();
    let syncs: Vec<Vec<Reason>> = protocol
        .syncs
        .iter()
        .map(|(_, sync)| {
            let mut reasons = Collector::new(protocol);
            context(&sync.guards, &sync.loops, &mut reasons);
            reasons.found
        })
        .collect();
    let claims: Vec<Vec<Reason>> = protocol
        .claims
        .iter()
        .map(|claim| {
            let mut reasons = Collector::new(protocol);
            reasons.value(claim.cond, Use::Control);
            context(&claim.guards, &claim.loops, &mut reasons);
            reasons.found
        })
        .collect();
    protocol.claims.iter_mut().zip(claims).for_each(|(claim, reasons)| claim.reasons = reasons);
    let handles: Vec<_> = protocol.loops.handles().collect();
    handles.into_iter().zip(loops).for_each(|(id, reasons)| protocol.loops[id].reasons = reasons);
    let handles: Vec<_> = protocol.accesses.handles().collect();
    handles.into_iter().zip(accesses).for_each(|(id, reasons)| protocol.accesses[id].reasons = reasons);
    let handles: Vec<_> = protocol.syncs.handles().collect();
    handles.into_iter().zip(syncs).for_each(|(id, reasons)| protocol.syncs[id].reasons = reasons);
}

struct Collector<'p> {
    protocol: &'p Protocol,
    found: Vec<Reason>,
    seen: FxHashSet<Reason>,
}

impl<'p> Collector<'p> {
    fn new(protocol: &'p Protocol) -> Self {
        Collector { protocol, found: Vec::new(), seen: FxHashSet::default() }
    }

    fn push(&mut self, reason: Reason) {
        if self.seen.insert(reason.clone()) {
            self.found.push(reason);
        }
    }

    fn add(&mut self, reasons: &[Reason]) {
        for reason in reasons {
            self.push(reason.clone());
        }
    }

    /// A loop's own tests count with the loop.
    fn guards(&mut self, guards: &[Guard]) {
        for guard in guards.iter().filter(|guard| guard.of_loop.is_none()) {
            self.value(guard.cond, Use::Control);
        }
    }

    fn value(&mut self, root: ExprId, usage: Use) {
        let protocol = self.protocol;
        let before = self.found.len();
        let mut uncomputable = false;
        let mut unknown = Vec::new();
        protocol.exprs.visit(root, |id, node| match node {
            Expr::Var(var) => unknown.extend(opaque_of(protocol, *var)),
            _ => uncomputable |= matches!(protocol.exprs.ty(id), ScalarType::Opaque { .. }),
        });
        for id in unknown {
            self.opaque(id, usage);
        }
        if uncomputable && self.found.len() == before {
            self.push(plain(ReasonKind::UnsupportedCall, protocol.spans.get(root).copied()));
        }
    }

    fn opaque(&mut self, id: OpaqueId, usage: Use) {
        let opaque = &self.protocol.opaques[id];
        match &opaque.origin {
            Origin::Read { .. } | Origin::Atomic { .. } => self.data(id, usage),
            Origin::Havoc(_) => self.push(plain(ReasonKind::UnsupportedCall, opaque.span)),
            Origin::Complex { value } => {
                self.push(plain(ReasonKind::TooComplex, opaque.span));
                self.data_behind(&[*value], usage);
            }
            Origin::Function { args, .. } => {
                self.push(plain(ReasonKind::UnsupportedCall, opaque.span));
                self.data_behind(args, usage);
            }
            Origin::Loop { .. } => {
                if !self.data_behind(&sources::behind(self.protocol, id), usage) {
                    self.push(plain(ReasonKind::UnknownLoopCount, opaque.span));
                }
            }
        }
    }

    /// Array content that reaches the use.
    fn data(&mut self, id: OpaqueId, usage: Use) {
        let kind = if usage == Use::Index { ReasonKind::DataDependentIndex } else { ReasonKind::DataDependentGuard };
        let opaque = &self.protocol.opaques[id];
        let array = match opaque.origin {
            Origin::Read { array, .. } | Origin::Atomic { array, .. } => Some(array),
            _ => None,
        };
        self.push(Reason { kind, span: opaque.span, array });
    }

    /// The array contents that values are computed from; whether there are any.
    fn data_behind(&mut self, values: &[ExprId], usage: Use) -> bool {
        let protocol = self.protocol;
        let sources = sources::sources(protocol, values);
        let data: Vec<OpaqueId> =
            sources.opaques.into_iter().filter(|&id| sources::is_data(&protocol.opaques[id].origin)).collect();
        for &id in &data {
            self.data(id, usage);
        }
        !data.is_empty()
    }
}

fn plain(kind: ReasonKind, span: Option<Span>) -> Reason {
    Reason { kind, span, array: None }
}

fn opaque_of(protocol: &Protocol, var: crate::calculus::VarId) -> Option<OpaqueId> {
    match protocol.roles.get(var) {
        Some(&Role::Opaque(id)) => Some(id),
        _ => None,
    }
}
