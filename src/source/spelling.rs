//! Which of some names is likely meant by one that is none of them.
//!
//! Guarantees: the same answer whatever the order of the names; nothing that is far off. Deliberately absent: what names mean.

/// The one of `known` that is likely meant by `typed`, if there is one.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = typed.chars().count().max(3) / 3;
    let close = known.into_iter().map(|name| (distance(typed, name), name)).filter(|(far, _)| *far <= limit);
    close.min().map(|(_, name)| name.to_owned())
}

/// Characters to change, add, leave out, or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let change = usize::from(from[i - 1] != to[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_meant_and_what_is_far_is_not() {
        assert_eq!(nearest("data-rcae", ["data-race", "parse"]), Some("data-race".to_owned()));
        assert_eq!(nearest("prase", ["data-race", "parse"]), Some("parse".to_owned()));
        assert_eq!(nearest("tile", ["data-race", "parse"]), None);
    }
}
