//! A panel as SVG: threads from top to bottom, elements from left to right.
//!
//! What an access does is told by the form of its mark and not by its colour alone: a ring reads, a square writes, a diamond
//! does both in one step. Accesses that collide have a cross, and their elements a band from top to bottom. Colours are those
//! of the page that it stands in.
//!
//! Deliberately absent: words of a language; whoever writes the page says them.

use super::{How, Panel, Picture, Row};
use crate::calculus::Geometry;
use crate::diagnostic::render::xml::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The pitch of threads and elements, in units of the drawing.
const PITCH: usize = 14;
/// So many elements are all numbered.
const FEW: usize = 32;
/// So many elements of one thread that follow each other are one bar.
const LONG: usize = 10;
/// Room for the names of threads, and for the numbers of elements.
const LEFT: usize = 92;
const TOP: usize = 40;

/// The drawing of a panel; `label` says in words what it shows. The numbers of its elements stand beside it, so that a script can
/// say what the pointer is at.
pub fn svg(picture: &Picture, panel: &Panel, label: &str) -> String {
    let width = LEFT + panel.cells.len() * PITCH + 8;
    let tops = tops(&picture.rows);
    let height = tops.last().map_or(TOP, |top| top + PITCH) + 8;
    let cells: Vec<String> = panel.cells.iter().map(i64::to_string).collect();
    let mut out = format!(
        "<svg class=\"panel\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{}\" data-left=\"{LEFT}\" data-pitch=\"{PITCH}\" data-cells=\"{}\">",
        escaped(label),
        cells.join(" ")
    );
    let x = |cell: usize| LEFT + cell * PITCH;
    let colliding: BTreeSet<usize> = panel.touches.iter().filter(|it| it.collides).map(|touch| touch.cell).collect();
    for cell in colliding {
        let (left, tall) = (x(cell), height - TOP - 4);
        let _ = write!(out, "<rect class=\"band\" x=\"{left}\" y=\"{TOP}\" width=\"{PITCH}\" height=\"{tall}\"/>");
    }
    heads(&mut out, panel);
    let mut rules = String::new();
    for (row, &top) in picture.rows.iter().zip(&tops) {
        let (middle, end) = (top + PITCH / 2, width - 8);
        let _ = write!(
            out,
            "<text class=\"row\" x=\"{}\" y=\"{}\">{}</text>",
            LEFT - 6,
            middle + 4,
            named_row(picture, row)
        );
        let _ = write!(rules, "M{LEFT} {middle}H{end}");
    }
    let _ = write!(out, "<path class=\"rule\" d=\"{rules}\"/>");
    for how in [How::Read, How::Write, How::Atomic] {
        for is_certain in [true, false] {
            let touches = panel.touches.iter().filter(|touch| (touch.how, touch.certain) == (how, is_certain));
            let places: Vec<(usize, usize)> = touches.map(|touch| (touch.row, touch.cell)).collect();
            let path: String = runs(&places)
                .into_iter()
                .flat_map(|(row, cell, length)| {
                    let is_long = length >= LONG;
                    let bar = is_long.then(|| bar((x(cell), tops[row]), length));
                    let single = (cell..cell + length).filter(move |_| !is_long).map(|cell| (x(cell), tops[row]));
                    bar.into_iter().chain(single.map(move |at| form(how, at))).collect::<Vec<String>>()
                })
                .collect();
            if !path.is_empty() {
                let class = class(how);
                let maybe = if is_certain { "" } else { " maybe" };
                let _ = write!(out, "<path class=\"{class}{maybe}\" d=\"{path}\"/>");
            }
        }
    }
    let crosses = panel.touches.iter().filter(|touch| touch.collides);
    let crosses: String =
        crosses.map(|touch| format!("M{} {}l8 8m0 -8l-8 8", x(touch.cell) + 3, tops[touch.row] + 3)).collect();
    if !crosses.is_empty() {
        let _ = write!(out, "<path class=\"cross\" d=\"{crosses}\"/>");
    }
    out.push_str("</svg>");
    out
}

/// Elements of one thread that follow each other, as row, first element and number.
fn runs(places: &[(usize, usize)]) -> Vec<(usize, usize, usize)> {
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for &(row, cell) in places {
        match runs.last_mut() {
            Some((known, first, length)) if *known == row && *first + *length == cell => *length += 1,
            _ => runs.push((row, cell, 1)),
        }
    }
    runs
}

/// The mark of many elements that follow each other.
fn bar((x, y): (usize, usize), length: usize) -> String {
    let width = length * PITCH - 6;
    format!("M{} {}h{width}v6h-{width}z", x + 3, y + 4)
}

/// The form of a mark in the square whose corner is given.
fn form(how: How, (x, y): (usize, usize)) -> String {
    match how {
        How::Read => format!("M{} {}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", x + 2, y + PITCH / 2),
        How::Write => format!("M{} {}h8v8h-8z", x + 3, y + 3),
        How::Atomic => format!("M{} {}l5 5l-5 5l-5 -5z", x + PITCH / 2, y + 2),
    }
}

fn class(how: How) -> &'static str {
    match how {
        How::Read => "read",
        How::Write => "write",
        How::Atomic => "atomic",
    }
}

/// The mark of an access by itself, for a legend; with a cross if `collides`.
pub fn legend(how: How, certain: Certain, cross: Cross) -> String {
    let maybe = if certain == Certain::Yes { "" } else { " maybe" };
    let cross = if cross == Cross::Drawn { "<path class=\"cross\" d=\"M3 3l8 8m0 -8l-8 8\"/>" } else { "" };
    format!(
        "<svg width=\"{PITCH}\" height=\"{PITCH}\" aria-hidden=\"true\"><path class=\"{}{maybe}\" d=\"{}\"/>{cross}</svg>",
        class(how),
        form(how, (0, 0))
    )
}

/// Whether an access of a legend certainly happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certain {
    /// It does.
    Yes,
    /// It may.
    Perhaps,
}

/// Whether a mark of a legend has a cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cross {
    /// It has.
    Drawn,
    /// It has none.
    None,
}

/// Where each row begins: between blocks there is a gap.
fn tops(rows: &[Row]) -> Vec<usize> {
    let mut top = TOP;
    let mut tops = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            top += if rows[at - 1].block == row.block { PITCH } else { PITCH + PITCH / 2 };
        }
        tops.push(top);
    }
    tops
}

/// The numbers of the elements: all of a few; of many the first, every fourth, and each behind a gap.
fn heads(out: &mut String, panel: &Panel) {
    let mut last = None;
    for (at, &cell) in panel.cells.iter().enumerate() {
        let follows = at > 0 && panel.cells[at - 1] + 1 == cell;
        let is_told = !follows || last.is_none_or(|last| at >= last + if panel.cells.len() > FEW { 4 } else { 1 });
        let (x, y) = (LEFT + at * PITCH + PITCH / 2 + 3, TOP - 4);
        if is_told {
            last = Some(at);
            let _ = write!(out, "<text class=\"cell\" transform=\"translate({x} {y}) rotate(-60)\">{cell}</text>");
        }
        if at > 0 && !follows {
            let (x, bottom) = (LEFT + at * PITCH, TOP - 2);
            let _ = write!(out, "<path class=\"gap\" d=\"M{x} {}V{bottom}\"/>", TOP - 10);
        }
    }
}

/// `0 · 3` for a thread of a flat launch, with as many numbers as the launch has axes.
fn named_row(picture: &Picture, row: &Row) -> String {
    let Geometry { block, grid } = picture.geometry;
    format!("{} · {}", placed(row.block, grid), placed(row.thread, block))
}

/// A place along the axes that have more than one: `3`, `(1, 2)`.
fn placed([x, y, z]: [u32; 3], extents: [u32; 3]) -> String {
    match extents {
        [_, 1, 1] => x.to_string(),
        [_, _, 1] => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}
