//! The map of the rooms in docs/ARCHITECTURE.md, "The rooms", says the same as the table that is enforced.

use super::{OPEN, ROOMS, assert_none};
use std::collections::BTreeSet;
use std::fs;

const MAP: &str = "docs/ARCHITECTURE.md";

/// A row of the map.
struct Row<'a> {
    line: usize,
    room: &'a str,
    uses: Vec<&'a str>,
}

/// What stands between backquotes in a cell.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The rows of the table below the heading `The rooms`.
fn rows(text: &str) -> Vec<Row<'_>> {
    let lines = (1..).zip(text.lines()).skip_while(|(_, line)| *line != "## The rooms").skip(1);
    let section = lines.take_while(|(_, line)| !line.starts_with("## "));
    section
        .filter(|(_, content)| content.starts_with("| `"))
        .filter_map(|(line, content)| {
            let mut cells = content.split('|').skip(1);
            let room = names(cells.next()?).first().copied()?;
            Some(Row { line, room, uses: names(cells.next()?) })
        })
        .collect()
}

/// In what a map differs from a table of rooms and of what each may use.
fn differences(map: &str, rooms: &[(&str, &[&str])]) -> Vec<String> {
    let rows = rows(map);
    let mut complaints = Vec::new();
    for Row { line, room, uses } in &rows {
        let Some((_, allowed)) = rooms.iter().find(|(name, _)| name == room) else {
            complaints.push(format!("{MAP}:{line}: there is no room `{room}`"));
            continue;
        };
        let (stated, allowed): (BTreeSet<_>, BTreeSet<_>) =
            (uses.iter().copied().collect(), allowed.iter().copied().collect());
        for name in stated.difference(&allowed) {
            complaints.push(format!("{MAP}:{line}: `{room}` may not use `{name}`"));
        }
        for name in allowed.difference(&stated) {
            complaints.push(format!("{MAP}:{line}: that `{room}` may use `{name}` is missing"));
        }
    }
    for (name, _) in rooms {
        match rows.iter().filter(|row| row.room == *name).count() {
            0 => complaints.push(format!("{MAP}:1: the room `{name}` is missing")),
            1 => {}
            _ => complaints.push(format!("{MAP}:1: the room `{name}` stands there more than once")),
        }
    }
    complaints
}

#[test]
fn the_map_says_the_same_as_the_table() {
    let map = fs::read_to_string(MAP).expect("the map can be read");
    assert_none(&differences(&map, ROOMS));
}

#[test]
fn what_a_room_may_use_is_a_room() {
    let rooms: BTreeSet<&str> = ROOMS.iter().map(|(name, _)| *name).collect();
    let unknown = |name: &&str| !rooms.contains(name) || OPEN.contains(name);
    let complaint =
        |room: &str, name: &str| format!("grammar-tests/tidy.rs:1: `{room}` may use `{name}`, which says nothing");
    let of = |(room, uses): &(&str, &[&str])| {
        uses.iter().copied().filter(unknown).map(|name| complaint(room, name)).collect::<Vec<_>>()
    };
    assert_none(&ROOMS.iter().flat_map(of).collect::<Vec<_>>());
}

#[test]
fn a_map_that_differs_is_named_with_its_line() {
    let rooms: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let map = |rows: &str| {
        format!("# A\n| `c` | – |\n## The rooms\n| room | may use | what |\n|---|---|---|\n{rows}\n## More\n| `d` |\n")
    };
    assert_eq!(differences(&map("| `a` | – | `x` |\n| `b` | `a` | – |"), rooms), [""; 0]);
    let at = |complaint: &str| [format!("{MAP}:{complaint}")];
    assert_eq!(differences(&map("| `a` | `b` | – |\n| `b` | `a` | – |"), rooms), at("6: `a` may not use `b`"));
    assert_eq!(
        differences(&map("| `a` | – | – |\n| `b` | – | `a` |"), rooms),
        at("7: that `b` may use `a` is missing")
    );
    assert_eq!(differences(&map("| `b` | `a` | – |"), rooms), at("1: the room `a` is missing"));
    let twice = "| `a` | – | – |\n| `a` | – | – |\n| `b` | `a` | – |";
    assert_eq!(differences(&map(twice), rooms), at("1: the room `a` stands there more than once"));
    assert_eq!(differences(&map("| `a` | – |\n| `b` | `a` |\n| `e` | – |"), rooms), at("8: there is no room `e`"));
    assert_eq!(differences("", rooms).len(), 2);
}
