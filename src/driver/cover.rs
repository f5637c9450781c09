//! `cover`: what a run of a program reaches of its device code.
//!
//! The program is built with counters in the place of logging ([`Logging::Coverage`](crate::execute::program::Logging::Coverage)) and run once; the points of its units
//! are joined with what it counted.
//!
//! Deliberately absent: other back ends than the CPU, whose scheduler knows who comes to a barrier.

use super::run::Built;
use crate::coverage::Point;
use crate::coverage::counts::Counts;
use crate::instrument::coverage::PointKind;
use crate::source::{SourceMap, Span};

pub use crate::coverage::text::share;
pub use crate::coverage::{Coverage, SCHEMA, cobertura, html, lcov, text};

/// What the last run of the program reached.
pub fn reached(built: &Built) -> Coverage {
    let counts = Counts::read(&built.file_of_counts());
    let mut first = 0;
    let mut points = Vec::new();
    for file in built.instrumented_files() {
        let of_unit = file.unit.points.iter().enumerate();
        points.extend(of_unit.map(|(number, point)| joined(&counts, first + number, point, &file.sources)));
        first += file.unit.points.len();
    }
    Coverage::of(points)
}

/// The text of a file of the program.
pub fn source<'b>(built: &'b Built, path: &str) -> Option<&'b str> {
    let texts = built.instrumented_files().iter().flat_map(|file| file.sources.files());
    texts.map(|(_, file)| file).find(|file| file.path.display().to_string() == path).map(|file| &*file.text)
}

fn joined(counts: &Counts, number: usize, point: &crate::instrument::coverage::Point, sources: &SourceMap) -> Point {
    let line = |span: &Span| sources.start_position(*span).line;
    let seen = match &point.kind {
        PointKind::Run(statements) => counts.run(number, statements.iter().map(line).collect()),
        PointKind::Branch => counts.branch(number),
        PointKind::Loop { may_be_skipped } => counts.turns(number, *may_be_skipped),
        PointKind::Barrier => counts.barrier(number),
    };
    let position = sources.start_position(point.span);
    let file = sources.file(sources.visible(point.span).file).path.display().to_string();
    Point { file, line: position.line, column: position.column, function: point.function.clone(), seen }
}
