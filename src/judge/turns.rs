//! Loops of which nobody knows how often they turn, and that stand before an access.
//!
//! A pair that is exact, and that a solver finds possible, may be one that no run confirms, since none gets past a loop whose
//! test asks what memory holds. Whether threads get to the pair depends on that loop, so the race is possible, and the loop
//! is told.
//!
//! Deliberately absent: what a loop would have to find to end; loops behind the access in one around both.

use crate::protocol::{AccessId, LoopId, Node, Protocol, Reason, ReasonKind};
use std::collections::BTreeSet;

/// That it is not known how often loops turn which stand before one of the accesses.
pub(super) fn unknown_before(protocol: &Protocol, accesses: [AccessId; 2]) -> Vec<Reason> {
    let mut loops = BTreeSet::new();
    for access in accesses {
        before(protocol, &protocol.body, access, &mut loops);
    }
    let reason = |id: LoopId| {
        let span = protocol.sites[protocol.loops[id].site].span;
        Reason { kind: ReasonKind::UnknownLoopCount, span, array: None }
    };
    loops.into_iter().map(reason).collect()
}

/// Collects the loops before an access among these nodes, and says whether the access is among them.
fn before(protocol: &Protocol, nodes: &[Node], access: AccessId, loops: &mut BTreeSet<LoopId>) -> bool {
    for node in nodes {
        let is_in = match node {
            Node::Access(id) => *id == access,
            Node::Sync(_) | Node::Fence(_) => false,
            Node::If { then, otherwise, .. } => {
                // Loops of the other way are not before it.
                let mut of_way = BTreeSet::new();
                let is_in = before(protocol, then, access, &mut of_way);
                if !is_in {
                    let mut of_other = BTreeSet::new();
                    if before(protocol, otherwise, access, &mut of_other) {
                        loops.extend(of_other);
                        return true;
                    }
                    of_way.extend(of_other);
                }
                loops.extend(of_way);
                is_in
            }
            Node::Loop(id, body) => {
                let mut within = BTreeSet::new();
                let is_in = before(protocol, body, access, &mut within);
                loops.extend(within);
                if !is_in && !protocol.loops[*id].reasons.is_empty() {
                    loops.insert(*id);
                }
                is_in
            }
        };
        if is_in {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text::parse;
    use crate::protocol::infer::infer;

    /// How many loops stand before the last access.
    fn loops_before_last(body: &str) -> usize {
        let text = format!("kernel k(n: i32) {{ global y: element 4 global x: element 4 var v: i32 {body} }}");
        let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let protocol = infer(&kernel);
        let last = protocol.accesses.handles().last().expect("an access");
        unknown_before(&protocol, [last, last]).len()
    }

    #[test]
    fn loops_that_ask_memory_are_told() {
        let turning = "let v = read x[0; 4] @0 loop while v > 0 @2 { let v = read x[4; 4] @1 }";
        assert_eq!(loops_before_last(&format!("{turning} write y[0; 4] @3")), 1);
        assert_eq!(loops_before_last(&format!("if n > 0 {{ {turning} }} write y[0; 4] @3")), 1);
        assert_eq!(loops_before_last(&format!("if n > 0 {{ {turning} }} else {{ write y[0; 4] @3 }}")), 0);
    }

    #[test]
    fn loops_around_and_counted_ones_are_not() {
        assert_eq!(loops_before_last("let v = read x[0; 4] @0 loop while v > 0 @1 { write y[0; 4] @2 }"), 0);
        assert_eq!(loops_before_last("for v = 0 while v < n step + 1 @1 { } write y[0; 4] @2"), 0);
    }
}
