//! `cover`: what a run of a program reaches of its device code.
//!
//! The program is built with counters in the place of logging ([`Logging::Coverage`](crate::execute::program::Logging::Coverage)) and run once; the points of its units
//! are joined with what it counted. An OpenCL program runs as it is, and counts in buffers of the device ([`reached_by`]).
//!
//! Deliberately absent: of CUDA other back ends than the CPU, whose scheduler knows who comes to a barrier.

use super::hosted::{HostText, Hosted};
use super::instrument::InstrumentedFile;
use super::run::Built;
use crate::coverage::counts::Counts;
use crate::coverage::{Missing, Point, Seen};
use crate::execute::opencl::counts::Counted;
use crate::instrument::coverage::{self, PointKind};
use crate::source::{Language, SourceMap, Span};

pub use crate::coverage::text::share;
pub use crate::coverage::{Coverage, SCHEMA, cobertura, html, lcov, text};

/// What the last run of the program reached.
pub fn reached(built: &Built) -> Coverage {
    counted(built, &Counts::read(&built.file_of_counts()))
}

/// The program's points with what was counted in a run.
pub(super) fn counted(built: &Built, counts: &Counts) -> Coverage {
    counted_in((built.instrumented_files(), Language::Cuda), counts, &|_| Vec::new())
}

/// The points of files in that language with what was counted, where sides of points, by their number, are impossible.
pub(super) fn counted_in(
    (files, language): (&[InstrumentedFile], Language),
    counts: &Counts,
    impossible: &dyn Fn(usize) -> Vec<u8>,
) -> Coverage {
    let mut first = 0;
    let mut points = Vec::new();
    for file in files {
        let of_unit = file.unit.points.iter().enumerate();
        points.extend(of_unit.filter_map(|(number, point)| {
            let number = first + number;
            let seen = joined(counts, number, (point, language), &file.sources)?;
            Some(Point { impossible: impossible(number), ..seen })
        }));
        first += file.unit.points.len();
    }
    Coverage::of(points)
}

/// What an OpenCL program reached, in all of the texts that it built.
pub fn reached_by(hosted: &Hosted) -> Coverage {
    let mut points = Vec::new();
    for HostText { file, counted, .. } in &hosted.texts {
        let counts = counts_of(file, counted);
        let of_unit = file.unit.points.iter().enumerate();
        points.extend(
            of_unit.filter_map(|(number, point)| joined(&counts, number, (point, Language::OpenCl), &file.sources)),
        );
    }
    Coverage::of(points)
}

/// Counts of a text as reports have them.
pub(super) fn counts_of(file: &InstrumentedFile, counted: &Counted) -> Counts {
    let mut counts = Counts::default();
    for (number, (point, &[first, second, third, fourth])) in file.unit.points.iter().zip(&counted.points).enumerate() {
        let numbers = match point.kind {
            PointKind::Run(_) => [first, 0, 0, 0],
            PointKind::Branch => [first, second, 0, 0],
            // Each execution and each turn was counted when it began.
            PointKind::Loop { .. } => {
                [first.saturating_sub(second), second.saturating_sub(third), third, second + third + fourth]
            }
            PointKind::Barrier => [first, 0, third, 0],
            // OpenCL has none.
            PointKind::Comparison { .. } => [0; 4],
        };
        counts.add(number, numbers);
    }
    let agreed = file.unit.opencl.counts.as_ref().map_or(&[][..], |counts| &counts.agreed);
    for (&point, &[groups, items]) in agreed.iter().zip(&counted.agreements) {
        if let Some(point) = point {
            counts.add(point, [0, groups, items, 0]);
        }
    }
    // Who comes to no round of a whole group, and was not missed before, comes to one of a part.
    for (number, &[_, _, arrivals, of_whole_groups]) in counted.points.iter().enumerate() {
        let is_barrier = matches!(file.unit.points[number].kind, PointKind::Barrier);
        if is_barrier
            && arrivals > of_whole_groups
            && matches!(counts.barrier(number), Seen::Barrier { partial: 0, .. })
        {
            counts.add(number, [0, 1, 0, 0]);
        }
    }
    for parted in &counted.parted {
        if let Some(&Some(point)) = agreed.get(parted.agreement) {
            counts.add_missing(
                point,
                Missing {
                    launch: parted.launch,
                    kernel: parted.kernel.clone(),
                    block: parted.group,
                    extents: parted.extents,
                    threads: parted.missing.clone(),
                },
            );
        }
    }
    counts
}

/// The text of a file of an OpenCL program.
pub fn source_of<'h>(hosted: &'h Hosted, path: &str) -> Option<&'h str> {
    text_of(hosted.texts.iter().map(|text| &text.file), path)
}

/// The text of a file of the program.
pub fn source<'b>(built: &'b Built, path: &str) -> Option<&'b str> {
    text_of(built.instrumented_files().iter(), path)
}

/// The text of that path among those that files came from.
pub(super) fn text_of<'f>(files: impl Iterator<Item = &'f InstrumentedFile>, path: &str) -> Option<&'f str> {
    let texts = files.flat_map(|file| file.sources.files());
    texts.map(|(_, file)| file).find(|file| file.path.display().to_string() == path).map(|file| &*file.text)
}

/// A point of a text in that language, with what was counted at it; nothing for a comparison, which no report has.
fn joined(
    counts: &Counts,
    number: usize,
    (point, language): (&coverage::Point, Language),
    sources: &SourceMap,
) -> Option<Point> {
    let line = |span: &Span| sources.start_position(*span).line;
    let seen = match &point.kind {
        PointKind::Run(statements) => counts.run(number, statements.iter().map(line).collect()),
        PointKind::Branch => counts.branch(number),
        PointKind::Loop { may_be_skipped } => counts.turns(number, *may_be_skipped),
        PointKind::Barrier => counts.barrier(number),
        PointKind::Comparison { .. } => return None,
    };
    let position = sources.start_position(point.span);
    let file = sources.file(sources.visible(point.span).file).path.display().to_string();
    let function = point.function.clone();
    let (line, column) = (position.line, position.column);
    Some(Point { file, line, column, function, language, seen, impossible: Vec::new() })
}
