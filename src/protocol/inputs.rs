//! Which inputs decide where a kernel accesses memory: paper 000's property-integrity inputs, as far as the
//! protocol shows them.

use super::sources::{Sources, sources};
use super::{Guard, Origin, Protocol};
use crate::calculus::ExprId;

/// The inputs that reach an index, a guard or a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Names of parameters, in the order of declaration.
    pub params: Vec<String>,
    /// Names of arrays whose content does, in the order of declaration.
    pub arrays: Vec<String>,
    /// Whether no content of an array, nothing that depends on the schedule and nothing unknown does.
    pub access_invariant: bool,
}

/// The inputs of `protocol`.
pub fn inputs(protocol: &Protocol) -> Inputs {
    let reaching = sources(protocol, &addresses_and_conditions(protocol));
    let params = reaching.params.iter().map(|&param| protocol.params[param].name.clone()).collect();
    Inputs { params, arrays: array_names(protocol, &reaching), access_invariant: is_invariant(protocol, &reaching) }
}

fn addresses_and_conditions(protocol: &Protocol) -> Vec<ExprId> {
    let mut values = Vec::new();
    let guards = |guards: &[Guard], values: &mut Vec<ExprId>| values.extend(guards.iter().map(|guard| guard.cond));
    for (_, access) in protocol.accesses.iter() {
        values.push(access.offset);
        guards(&access.guards, &mut values);
    }
    for (_, sync) in protocol.syncs.iter() {
        guards(&sync.guards, &mut values);
    }
    for (_, each) in protocol.loops.iter() {
        values.extend([each.guard, each.continues]);
        values.extend(each.carried.iter().flat_map(|carried| [carried.start, carried.next]));
        guards(&each.guards, &mut values);
    }
    values
}

fn array_names(protocol: &Protocol, reaching: &Sources) -> Vec<String> {
    let read = |array| {
        reaching.opaques.iter().any(|&id| match protocol.opaques[id].origin {
            Origin::Read { array: other, .. } | Origin::Atomic { array: other, .. } => other == array,
            _ => false,
        })
    };
    protocol.arrays.iter().filter(|(array, _)| read(*array)).map(|(_, array)| array.name.clone()).collect()
}

fn is_invariant(protocol: &Protocol, reaching: &Sources) -> bool {
    let modelled = protocol.unsupported.iter().all(|unsupported| unsupported.arrays.is_some());
    let unknown = reaching.opaques.iter().any(|&id| {
        let origin = &protocol.opaques[id].origin;
        matches!(origin, Origin::Read { .. } | Origin::Atomic { .. } | Origin::Havoc(_))
    });
    modelled && !unknown
}
