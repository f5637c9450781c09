//! Why accesses, syncs and loops are approximate: the unknown values that reach them.

use crate::calculus::{Expr, ExprId, HavocReason, ScalarType};
use crate::protocol::{Guard, LoopId, OpaqueId, Origin, Protocol, Reason, ReasonKind, Role, sources};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// What an expression is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    Index,
    Control,
}

/// Fills in the reasons of everything.
pub(super) fn fill(protocol: &mut Protocol) {
    let mut values = Values::new(protocol);
    let mut loops: Vec<Vec<Reason>> = Vec::new();
    for (_, each) in protocol.loops.iter() {
        let mut reasons = Collector::new(&mut values);
        for id in &each.loops {
            reasons.add(&loops[id.index()]);
        }
        reasons.guards(&each.guards);
        let carried = each.carried.iter().flat_map(|carried| [carried.start, carried.next]);
        for value in [each.guard, each.continues].into_iter().chain(carried) {
            reasons.value(value, Use::Control);
        }
        loops.push(reasons.reasons.found);
    }
    let mut of = |value: Option<(ExprId, Use)>, guards: &[Guard], within: &[LoopId]| {
        let mut reasons = Collector::new(&mut values);
        if let Some((root, usage)) = value {
            reasons.value(root, usage);
        }
        reasons.guards(guards);
        for id in within {
            reasons.add(&loops[id.index()]);
        }
        reasons.reasons.found
    };
    let accesses = protocol.accesses.iter();
    let accesses: Vec<Vec<Reason>> =
        accesses.map(|(_, access)| of(Some((access.offset, Use::Index)), &access.guards, &access.loops)).collect();
    let syncs: Vec<Vec<Reason>> = protocol.syncs.iter().map(|(_, sync)| of(None, &sync.guards, &sync.loops)).collect();
    let claims = protocol.claims.iter();
    let claims: Vec<Vec<Reason>> =
        claims.map(|claim| of(Some((claim.cond, Use::Control)), &claim.guards, &claim.loops)).collect();
    protocol.claims.iter_mut().zip(claims).for_each(|(claim, reasons)| claim.reasons = reasons);
    let handles: Vec<_> = protocol.loops.handles().collect();
    handles.into_iter().zip(loops).for_each(|(id, reasons)| protocol.loops[id].reasons = reasons);
    let handles: Vec<_> = protocol.accesses.handles().collect();
    handles.into_iter().zip(accesses).for_each(|(id, reasons)| protocol.accesses[id].reasons = reasons);
    let handles: Vec<_> = protocol.syncs.handles().collect();
    handles.into_iter().zip(syncs).for_each(|(id, reasons)| protocol.syncs[id].reasons = reasons);
}

/// Reasons, each once, in the order in which they were met.
#[derive(Default)]
struct Reasons {
    found: Vec<Reason>,
    seen: FxHashSet<Reason>,
}

impl Reasons {
    fn push(&mut self, reason: Reason) {
        if self.seen.insert(reason.clone()) {
            self.found.push(reason);
        }
    }
}

/// The reasons of one thing.
struct Collector<'v, 'p> {
    values: &'v mut Values<'p>,
    reasons: Reasons,
}

impl<'v, 'p> Collector<'v, 'p> {
    fn new(values: &'v mut Values<'p>) -> Self {
        Collector { values, reasons: Reasons::default() }
    }

    fn add(&mut self, reasons: &[Reason]) {
        for reason in reasons {
            self.reasons.push(reason.clone());
        }
    }

    /// A loop's own tests count with the loop.
    fn guards(&mut self, guards: &[Guard]) {
        for guard in guards.iter().filter(|guard| guard.of_loop.is_none()) {
            self.value(guard.cond, Use::Control);
        }
    }

    fn value(&mut self, root: ExprId, usage: Use) {
        for reason in self.values.reasons(root, usage) {
            self.reasons.push(reason.clone());
        }
    }
}

/// The reasons of values. One guard is around many accesses, and one unknown value in many guards.
struct Values<'p> {
    protocol: &'p Protocol,
    reasons: FxHashMap<(ExprId, Use), Vec<Reason>>,
    /// The array contents that an unknown value is computed from.
    data: FxHashMap<OpaqueId, Vec<OpaqueId>>,
}

impl<'p> Values<'p> {
    fn new(protocol: &'p Protocol) -> Self {
        Values { protocol, reasons: FxHashMap::default(), data: FxHashMap::default() }
    }

    fn reasons(&mut self, root: ExprId, usage: Use) -> &[Reason] {
        if !self.reasons.contains_key(&(root, usage)) {
            let reasons = self.find(root, usage).found;
            self.reasons.insert((root, usage), reasons);
        }
        &self.reasons[&(root, usage)]
    }

    fn find(&mut self, root: ExprId, usage: Use) -> Reasons {
        let protocol = self.protocol;
        let mut uncomputable = false;
        let mut unknown = Vec::new();
        protocol.exprs.visit(root, |id, node| match node {
            Expr::Var(var) => unknown.extend(opaque_of(protocol, *var)),
            _ => uncomputable |= matches!(protocol.exprs.ty(id), ScalarType::Opaque { .. }),
        });
        let mut reasons = Reasons::default();
        for id in unknown {
            self.opaque(id, usage, &mut reasons);
        }
        if uncomputable && reasons.found.is_empty() {
            reasons.push(plain(ReasonKind::UnsupportedCall, protocol.spans.get(root).copied()));
        }
        reasons
    }

    fn opaque(&mut self, id: OpaqueId, usage: Use, reasons: &mut Reasons) {
        let opaque = &self.protocol.opaques[id];
        match &opaque.origin {
            Origin::Read { .. } | Origin::Atomic { .. } => reasons.push(self.content(id, usage)),
            Origin::Havoc(HavocReason::Choice | HavocReason::Implementation(_)) => {}
            Origin::Havoc(HavocReason::Pointer(_)) => reasons.push(plain(ReasonKind::UnknownPointer, opaque.span)),
            Origin::Havoc(_) => reasons.push(plain(ReasonKind::UnsupportedCall, opaque.span)),
            Origin::Complex { .. } => {
                reasons.push(plain(ReasonKind::TooComplex, opaque.span));
                self.data_behind(id, usage, reasons);
            }
            Origin::Function { .. } if opaque.is_same_block() => {}
            Origin::Function { .. } if let Some(value) = opaque.in_other() => {
                for reason in self.find(value, usage).found {
                    reasons.push(reason);
                }
            }
            Origin::Function { .. } => {
                reasons.push(plain(ReasonKind::UnsupportedCall, opaque.span));
                self.data_behind(id, usage, reasons);
            }
            Origin::Loop { .. } => {
                if !self.data_behind(id, usage, reasons) {
                    reasons.push(plain(ReasonKind::UnknownLoopCount, opaque.span));
                }
            }
        }
    }

    /// Array content that reaches the use.
    fn content(&self, id: OpaqueId, usage: Use) -> Reason {
        let kind = if usage == Use::Index { ReasonKind::DataDependentIndex } else { ReasonKind::DataDependentGuard };
        let opaque = &self.protocol.opaques[id];
        let array = match opaque.origin {
            Origin::Read { array, .. } | Origin::Atomic { array, .. } => Some(array),
            _ => None,
        };
        Reason { kind, span: opaque.span, array }
    }

    /// Adds the array contents that an unknown value is computed from; whether there are any.
    fn data_behind(&mut self, id: OpaqueId, usage: Use, reasons: &mut Reasons) -> bool {
        let protocol = self.protocol;
        self.data.entry(id).or_insert_with(|| {
            let sources = sources::sources(protocol, &sources::behind(protocol, id));
            let is_data = |id: &OpaqueId| sources::is_data(&protocol.opaques[*id].origin);
            sources.opaques.into_iter().filter(is_data).collect()
        });
        let data = &self.data[&id];
        data.iter().for_each(|&content| reasons.push(self.content(content, usage)));
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
