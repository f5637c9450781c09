//! Contents of memory in the words of the report, and back to those of a run; and the contract that keeps them out.

use super::verdict::PossibleRace;
use super::{Context, element};
use crate::calculus::eval::{Chosen, Rest};
use crate::calculus::{Array, BinaryOp, Expr, ExprId, Kernel};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{ArrayContents, ElementContents, Finding};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::protocol::{Origin, Protocol, Reason, ReasonKind, Role};
use crate::prove::Held;
use crate::prove::refute::free_arrays;

/// Elements that a message names; the report has them all.
const MOST_NAMED: usize = 8;

/// Contents by array, in the order of the kernel's arrays.
pub(super) fn report(context: &Context<'_>, contents: &[Held]) -> Vec<ArrayContents> {
    let mut report: Vec<ArrayContents> = Vec::new();
    for held in contents {
        let array = &context.kernel.arrays[held.array];
        let element = element_of(array, held);
        match report.last_mut().filter(|last| last.array == array.name) {
            Some(last) => last.elements.push(element),
            None => report.push(ArrayContents { array: array.name.clone(), elements: vec![element] }),
        }
    }
    report
}

fn element_of(array: &Array, held: &Held) -> ElementContents {
    let size = i128::from(array.element_bytes.max(1));
    let offset = i128::from(held.offset);
    let first = offset.rem_euclid(size);
    let is_whole = first == 0 && i128::from(held.bytes) == size;
    ElementContents {
        name: element::name(array, offset),
        index: offset.div_euclid(size),
        part: (!is_whole).then_some([first as u32, held.bytes]),
        value: held.value,
    }
}

/// `row[0] = 0, row[1] = 1, col[0] = col[1] = 0`
pub(super) fn in_words(contents: &[ArrayContents]) -> String {
    let mut groups: Vec<(Vec<&str>, i128)> = Vec::new();
    let mut named = 0;
    let all: usize = contents.iter().map(|array| array.elements.len()).sum();
    for array in contents {
        let first = groups.len();
        for element in array.elements.iter().take(MOST_NAMED - named) {
            named += 1;
            match groups[first..].iter_mut().find(|(_, value)| *value == element.value) {
                Some((names, _)) => names.push(&element.name),
                None => groups.push((vec![&element.name], element.value)),
            }
        }
    }
    let mut texts: Vec<String> =
        groups.into_iter().map(|(names, value)| format!("{} = {value}", names.join(" = "))).collect();
    if named < all {
        texts.push(format!("and {} more", all - named));
    }
    texts.join(", ")
}

/// What would exclude the race, and how the source can say so. Only what does exclude it is promised.
pub(super) fn contract(context: &Context<'_>, rule: RuleId, race: &PossibleRace, group: &[&PossibleRace]) -> String {
    let accesses = [race.pair.first, race.pair.second].map(|access| &context.protocol.accesses[access]);
    let [first, second] = accesses;
    let thread = context.words().thread;
    let has_loops = accesses.iter().any(|access| !access.loops.is_empty());
    let is_one_pair =
        group.iter().all(|other| (other.pair.first, other.pair.second) == (race.pair.first, race.pair.second));
    let is_one_place = is_one_pair && first.offset == second.offset && first.bytes == second.bytes;
    let is_one_way = is_one_pair && first.guards == second.guards;
    if rule == RuleId::DataDependentIndex && is_one_place {
        let array = named(context, &race.reasons, ReasonKind::DataDependentIndex);
        let what = match is_value(context.protocol, first.offset) {
            true => format!("the values of {array} are"),
            false => format!("the indices that are computed from {array} are"),
        };
        if has_loops {
            return format!("free if {what} distinct between {thread}s, in whatever turns of the loop they are used");
        }
        return format!(
            "free if {what} distinct between {thread}s: if they are, say so of the index j before the access: {}",
            Vocabulary::assuming_of_two("DISTINCT(j)")
        );
    }
    let array = named(context, &race.reasons, ReasonKind::DataDependentGuard);
    if rule == RuleId::DataDependentControl && is_one_way && !has_loops {
        return format!(
            "free if at most one {thread} finds the condition on {array} true: if that is so, say so before the access \
             of the condition c: {}",
            Vocabulary::assuming_of_two("EXCLUSIVE(c)")
        );
    }
    let mut arrays: Vec<&str> = Vec::new();
    for array in race.reasons.iter().filter_map(|reason| reason.array) {
        let name = context.kernel.arrays[array].name.as_str();
        if !arrays.contains(&name) {
            arrays.push(name);
        }
    }
    let verb = if arrays.len() == 1 { "holds keeps" } else { "hold keeps" };
    format!("free if what {} {verb} the two accesses of any two {thread}s apart", arrays.join(" and "))
}

/// The array of the first reason of a kind.
fn named<'a>(context: &'a Context<'_>, reasons: &[Reason], kind: ReasonKind) -> &'a str {
    let array = reasons.iter().find(|reason| reason.kind == kind).and_then(|reason| reason.array);
    array.map_or("memory", |array| context.kernel.arrays[array].name.as_str())
}

/// Whether an offset is a value that was read, times the size of an element.
fn is_value(protocol: &Protocol, offset: ExprId) -> bool {
    let exprs = &protocol.exprs;
    let mut at = offset;
    loop {
        match &exprs[at] {
            Expr::Convert(_, inner) => at = *inner,
            Expr::Binary(BinaryOp::Mul, inner, size) if matches!(exprs[*size], Expr::Int(..)) => at = *inner,
            Expr::Var(var) => {
                let Some(&Role::Opaque(id)) = protocol.roles.get(*var) else { return false };
                return matches!(protocol.opaques[id].origin, Origin::Read { .. });
            }
            _ => return false,
        }
    }
}

/// What memory must hold: what the finding says, and zeros in all other arrays that nothing unmodelled touches.
pub fn chosen(kernel: &Kernel, finding: &Finding) -> Chosen {
    if finding.contents.is_empty() {
        return Chosen::default();
    }
    let mut chosen = Chosen::pattern(&free_arrays(kernel), Rest::Constant(0));
    for contents in &finding.contents {
        let found = kernel.arrays.iter().find(|(_, array)| array.is_given() && array.name == contents.array);
        let Some((id, array)) = found else { continue };
        for element in &contents.elements {
            let [first, bytes] = element.part.unwrap_or([0, array.element_bytes]);
            let offset = element.index as i64 * i64::from(array.element_bytes) + i64::from(first);
            chosen.set(id, offset, bytes, element.value as i64);
        }
    }
    chosen
}
