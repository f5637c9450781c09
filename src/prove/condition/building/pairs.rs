//! Which pairs of accesses there are, and whether two writes store the same value.

use crate::calculus::intervals::{Intervals, Meeting};
use crate::calculus::{Expr, ExprId, ScalarType};
use crate::memory_model::{Level, both_atomic, may_meet};
use crate::protocol::{Access, AccessId, Protocol};
use crate::prove::sameness::{self, Sameness};
use crate::prove::state::poly::gcd_of;
use crate::prove::{Groups, Pair};

/// All pairs of accesses that may conflict at `level`: to one array, one of them writing, in one interval.
///
/// `intervals` are those of the kernel that the protocol was inferred from, for the level. Pairs that differ
/// only in which thread is called the first are given once. At [`Level::Cluster`] they are pairs of two blocks of one
/// cluster, at [`Level::Grid`] of two clusters, where the kernel says how large clusters are. Atomics whose scopes
/// reach both threads exempt each other where both have one size that divides both offsets.
pub fn pairs(protocol: &Protocol, intervals: &Intervals, level: Level) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let parties = match level {
        Level::Cluster => (Level::Grid, Groups::Same),
        Level::Grid if protocol.geometry.clusters().is_some() => (Level::Grid, Groups::Different),
        level => (level, Groups::Any),
    };
    for (first, one) in protocol.accesses.iter() {
        for (second, two) in protocol.accesses.iter().skip(first.index()) {
            if !may_conflict(protocol, one, two, level) || exclude_each_other(protocol, [one, two], level) {
                continue;
            }
            let meetings = intervals.meetings(one.site, two.site);
            pairs.extend(distinct(first == second, meetings, (first, second), parties));
        }
    }
    pairs
}

fn may_conflict(protocol: &Protocol, one: &Access, two: &Access, level: Level) -> bool {
    let space = protocol.arrays[one.array].space;
    let exempt = || {
        both_atomic(one.kind, two.kind, level)
            && one.bytes == two.bytes
            && [one, two].iter().all(|access| is_multiple(protocol, access.offset, i128::from(access.bytes), 40))
    };
    one.array == two.array && (one.kind.writes() || two.kind.writes()) && may_meet(space, level) && !exempt()
}

/// Whether the threads would have to disagree about a condition that is the same in both: they stand in branches of
/// which all take the same one. Kernels with variants for inner blocks and for those at the edge have no other pairs by
/// the ten thousand.
fn exclude_each_other(protocol: &Protocol, accesses: [&Access; 2], level: Level) -> bool {
    let [one, two] = accesses.map(|access| &access.guards);
    let shared = |cond: ExprId| sameness::by_form(protocol, cond, level) == Sameness::OfNumbers;
    one.iter().any(|guard| {
        let is_opposite = |other: ExprId| is_negation(protocol, guard.cond, other);
        two.iter().any(|other| is_opposite(other.cond)) && shared(guard.cond)
    })
}

/// Whether one condition holds exactly where the other does not, by their form.
fn is_negation(protocol: &Protocol, one: ExprId, other: ExprId) -> bool {
    use crate::calculus::UnaryOp::Not;
    let negates = |one: ExprId, other: ExprId| matches!(protocol.exprs[one], Expr::Unary(Not, inner) if inner == other);
    let opposite = |one: ExprId, other: ExprId| match (&protocol.exprs[one], &protocol.exprs[other]) {
        (Expr::Binary(op, a, b), Expr::Binary(opposed, c, d)) => {
            (a, b) == (c, d)
                && op.negated() == Some(*opposed)
                && matches!(protocol.exprs.ty(*a), ScalarType::Int { .. })
        }
        _ => false,
    };
    negates(one, other) || negates(other, one) || opposite(one, other)
}

/// An access against itself meets its later iteration and its earlier one in the same way.
fn distinct(
    itself: bool,
    meetings: Vec<Meeting>,
    (first, second): (AccessId, AccessId),
    (level, groups): (Level, Groups),
) -> Vec<Pair> {
    use crate::calculus::intervals::Relation::Previous;
    let mut pairs: Vec<Pair> = Vec::new();
    for meeting in meetings {
        let mirrored = itself && meeting.relations.iter().any(|relation| relation.1 == Previous);
        if !mirrored && !pairs.iter().any(|pair| pair.meeting == meeting) {
            pairs.push(Pair { first, second, level, groups, meeting });
        }
    }
    pairs
}

/// Whether the offset is a multiple of `size`, by its form. What wraps or is converted stays a multiple of a power of
/// two.
fn is_multiple(protocol: &Protocol, expr: ExprId, size: i128, depth: u32) -> bool {
    use crate::calculus::BinaryOp::{Add, Mul, Shl, Sub};
    if size == 1 {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let of = |id: ExprId| is_multiple(protocol, id, size, depth);
    let by_factors = |id: ExprId, factor: ExprId| {
        let factor = protocol.exprs.as_int(factor).and_then(|factor| i64::try_from(factor).ok());
        let shared = factor.zip(i64::try_from(size).ok()).map_or(1, |(factor, size)| gcd_of(factor, size));
        shared > 1 && is_multiple(protocol, id, size / i128::from(shared), depth)
    };
    match protocol.exprs[expr] {
        Expr::Int(value, _) => value % size == 0,
        Expr::Binary(Add | Sub, a, b) => of(a) && of(b),
        Expr::Binary(Mul, a, b) => of(a) || of(b) || by_factors(a, b) || by_factors(b, a),
        Expr::Convert(ScalarType::Int { width: 16.., .. }, a) => size.count_ones() == 1 && size < 1 << 15 && of(a),
        Expr::Binary(Shl, a, b) => of(a) || protocol.exprs.as_int(b).is_some_and(|by| by < 32 && (1 << by) % size == 0),
        Expr::Select(_, a, b) => of(a) && of(b),
        _ => false,
    }
}

/// Whether two writes are known to store the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameValue {
    /// In all threads.
    Proved,
    /// Not known.
    Unknown,
}

/// Whether both accesses of a pair write a value that is the same in all threads of the launch.
pub fn same_value(protocol: &Protocol, pair: &Pair) -> SameValue {
    let values = [pair.first, pair.second].map(|access| protocol.accesses[access].value);
    match values {
        [Some(one), Some(other)]
            if one == other && sameness::by_form(protocol, one, pair.level) <= Sameness::OfCalls =>
        {
            SameValue::Proved
        }
        _ => SameValue::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::pairs;
    use crate::calculus::{intervals, text};
    use crate::memory_model::Level;
    use crate::protocol::infer::infer;

    /// Whether an access where `one` holds is paired with an access where `other` does.
    fn are_paired(one: &str, other: &str, level: Level) -> bool {
        let kernel = format!(
            "kernel k(n: i32, m: u32, f: opaque4, g: opaque4) {{
  global param a: element 4
  var i: i32
  var unknown: i32
  havoc unknown call \"f\"
  for i = 0 while i < 3 step + 1 @2 {{
    if {one} {{ write a[0; 4] @0 }}
    if {other} {{ write a[0; 4] @1 }}
  }}
}}"
        );
        let kernel = text::parse(&kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        let protocol = infer(&kernel);
        let intervals = intervals::analyze(&kernel, &|_| false);
        let sites = |pair: &crate::prove::Pair| [pair.first, pair.second].map(|id| protocol.accesses[id].site.index());
        let pairs = pairs(&protocol, &intervals, level);
        assert!(pairs.iter().any(|pair| sites(pair) == [0, 0]) && pairs.iter().any(|pair| sites(pair) == [1, 1]));
        pairs.iter().any(|pair| sites(pair) == [0, 1])
    }

    /// Whether they are at level block, and at level grid; the same in both orders.
    fn pairs_of(one: &str, other: &str) -> [bool; 2] {
        [Level::Block, Level::Grid].map(|level| {
            let paired = are_paired(one, other, level);
            assert_eq!(are_paired(other, one, level), paired, "{one} and {other}");
            paired
        })
    }

    /// The offsets of an atomic of so many bytes in a block of 256 threads, and whether two of them exempt each other.
    fn offsets_of(offset: &str, bytes: u32) -> (Vec<i64>, bool) {
        use crate::calculus::Geometry;
        use crate::calculus::eval::{Blocks, Contents, Event, Program, Setup, Sink, Value, run};
        #[derive(Default)]
        struct Offsets(Vec<i64>);
        impl Sink for Offsets {
            fn access(&mut self, event: &Event, _locals: &[Value]) {
                self.0.extend(event.offset);
            }
        }
        let kernel = format!("kernel k() {{ global a: element 4 atomic or a[{offset}; {bytes}]() relaxed grid @0 }}");
        let kernel = text::parse(&kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        let setup = Setup {
            geometry: Geometry { block: [256, 1, 1], grid: [1, 1, 1] },
            params: &[],
            blocks: Blocks::All,
            contents: Contents::Unknown,
            budget: 10_000,
        };
        let mut offsets = Offsets::default();
        assert!(run(&Program::new(&kernel), &setup, &mut offsets).finished);
        let intervals = intervals::analyze(&kernel, &|_| false);
        (offsets.0, pairs(&infer(&kernel), &intervals, Level::Block).is_empty())
    }

    #[test]
    fn atomics_exempt_each_other_only_at_multiples_of_their_size() {
        for (offset, bytes) in [
            ("convert<i64>(tid.x) * 4", 4),
            ("convert<i64>(tid.x * 2) * 2", 4),
            ("convert<i64>(tid.x % 2 * 128) * 4", 512),
            ("convert<i64>(convert<u16>(tid.x * 1000)) * 2", 16),
            ("convert<i64>(convert<i32>(tid.x * 50000000))", 128),
            ("convert<i64>(tid.x) * 3 * 4", 12),
        ] {
            let (offsets, exempt) = offsets_of(offset, bytes);
            assert!(exempt && offsets.len() == 256, "{offset}");
            assert!(offsets.iter().all(|offset| offset % i64::from(bytes) == 0), "{offset}");
        }
        for (offset, bytes) in [
            ("convert<i64>(tid.x) * 2", 4),
            ("convert<i64>(convert<u16>(tid.x * 1000)) * 2", 32),
            // What wraps is no multiple of three any more.
            ("convert<i64>(convert<u16>(tid.x * 3000)) * 4", 12),
            ("convert<i64>(convert<u8>(tid.x * 12))", 12),
        ] {
            let (offsets, exempt) = offsets_of(offset, bytes);
            assert!(!exempt && offsets.iter().any(|offset| offset % i64::from(bytes) != 0), "{offset}");
        }
    }

    #[test]
    fn what_all_threads_have_in_common_excludes() {
        for (one, other) in [
            ("n < 3", "!(n < 3)"),
            ("n < 3", "n >= 3"),
            ("n == 3", "n != 3"),
            ("m <= bdim.x", "m > bdim.x"),
            ("gdim.y == 1", "gdim.y != 1"),
            ("f < g", "!(f < g)"),
        ] {
            assert_eq!(pairs_of(one, other), [false, false], "{one} and {other}");
        }
    }

    #[test]
    fn threads_of_two_blocks_do_not_share_their_block() {
        for (one, other) in [
            ("bid.x == 0", "bid.x != 0"),
            ("bid.x < gdim.x - 1", "!(bid.x < gdim.x - 1)"),
            ("convert<i32>(bid.y) < n", "convert<i32>(bid.y) >= n"),
            ("n < convert<i32>(bid.x + 1)", "n >= convert<i32>(bid.x + 1)"),
        ] {
            assert_eq!(pairs_of(one, other), [false, true], "{one} and {other}");
        }
    }

    /// Neither in one block nor across blocks do two threads agree about these.
    #[test]
    fn what_threads_have_of_their_own_excludes_nothing() {
        for (one, other) in [
            ("tid.x == 0", "tid.x != 0"),
            ("tid.z < m", "!(tid.z < m)"),
            ("bid.x * bdim.x + tid.x < m", "bid.x * bdim.x + tid.x >= m"),
            ("i < n", "i >= n"),
            ("unknown < n", "unknown >= n"),
            ("h(tid.x):i32 < n", "h(tid.x):i32 >= n"),
        ] {
            assert_eq!(pairs_of(one, other), [true, true], "{one} and {other}");
        }
    }

    #[test]
    fn what_may_hold_at_once_excludes_nothing() {
        for (one, other) in [
            ("n < 3", "n <= 3"),
            ("n <= 3", "n >= 3"),
            ("n < 3", "m >= 3"),
            ("n < 3", "n >= 2"),
            ("n != 3", "n < 3"),
            ("n < 3", "!(m < 3)"),
            ("n < 3 || m < 3", "n >= 3"),
            ("convert<u32>(n) < 3", "n >= 3"),
        ] {
            assert_eq!(pairs_of(one, other), [true, true], "{one} and {other}");
        }
    }
}
