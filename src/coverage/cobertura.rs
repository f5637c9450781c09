//! Cobertura's report (`coverage-04.dtd`), as GitLab, Jenkins and Azure read it: lines, and the sides of branches on them.
//!
//! A file is a class of its own, of a package that is its directory. Paths are those of the report, so that `<source>` is the directory that
//! raceproof ran in. The time stamp is 0: equal counts give equal reports.
//!
//! Deliberately absent: barriers and loops, for which the format has no words; complexity, which nobody measured.

use super::{Coverage, Point, Seen, Total, lines};
use crate::diagnostic::render::xml::escaped;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The lines of a file: how often each was executed, and the sides of the branches on it.
#[derive(Default)]
struct File {
    lines: BTreeMap<u32, Line>,
}

#[derive(Default)]
struct Line {
    times: u64,
    sides: Total,
}

impl File {
    fn lines(&self) -> Total {
        let reached = self.lines.values().filter(|line| line.times > 0).count() as u64;
        Total { reached, all: self.lines.len() as u64 }
    }

    fn branches(&self) -> Total {
        self.lines.values().fold(Total::default(), |sum, line| sum.and(line.sides))
    }
}

fn files(points: &[Point]) -> BTreeMap<&str, File> {
    let mut files: BTreeMap<&str, File> = BTreeMap::new();
    for ((file, line), times) in lines(points) {
        files.entry(file).or_default().lines.entry(line).or_default().times = times;
    }
    for point in points {
        let Seen::Branch { holds, fails, .. } = point.seen else { continue };
        let line = files.entry(&point.file).or_default().lines.entry(point.line).or_default();
        line.sides.add([holds > 0, fails > 0]);
        // The second line of a condition begins no statement.
        line.times = line.times.max(holds + fails);
    }
    files
}

fn rate(total: Total) -> String {
    format!("{:.4}", total.percent() / 100.0)
}

fn rates(files: &[(&str, &File)]) -> (Total, Total) {
    let sum = |of: fn(&File) -> Total| files.iter().fold(Total::default(), |sum, (_, file)| sum.and(of(file)));
    (sum(File::lines), sum(File::branches))
}

/// Writes the report.
pub fn write(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    let files = files(&coverage.points);
    let mut packages: BTreeMap<&str, Vec<(&str, &File)>> = BTreeMap::new();
    for (path, file) in &files {
        let package = path.rsplit_once('/').map_or(".", |(directory, _)| directory);
        packages.entry(package).or_default().push((path, file));
    }
    let (lines, branches) = rates(&packages.values().flatten().copied().collect::<Vec<_>>());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">")?;
    writeln!(
        out,
        "<coverage line-rate=\"{}\" branch-rate=\"{}\" lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" \
         branches-valid=\"{}\" complexity=\"0\" version=\"raceproof {}\" timestamp=\"0\">",
        rate(lines),
        rate(branches),
        lines.reached,
        lines.all,
        branches.reached,
        branches.all,
        env!("CARGO_PKG_VERSION"),
    )?;
    writeln!(out, "  <sources><source>.</source></sources>\n  <packages>")?;
    for (package, files) in &packages {
        let (lines, branches) = rates(files);
        let (package, lines, branches) = (escaped(package), rate(lines), rate(branches));
        writeln!(
            out,
            "    <package name=\"{package}\" line-rate=\"{lines}\" branch-rate=\"{branches}\" complexity=\"0\">\n      <classes>"
        )?;
        files.iter().try_for_each(|(path, file)| class(path, file, out))?;
        writeln!(out, "      </classes>\n    </package>")?;
    }
    writeln!(out, "  </packages>\n</coverage>")
}

fn class(path: &str, file: &File, out: &mut dyn Write) -> io::Result<()> {
    let name = escaped(path.rsplit_once('/').map_or(path, |(_, name)| name));
    let (path, lines, branches) = (escaped(path), rate(file.lines()), rate(file.branches()));
    writeln!(
        out,
        "        <class name=\"{name}\" filename=\"{path}\" line-rate=\"{lines}\" branch-rate=\"{branches}\" complexity=\"0\">\n          \
         <methods/>\n          <lines>"
    )?;
    for (number, Line { times, sides }) in &file.lines {
        match sides.all {
            0 => writeln!(out, "            <line number=\"{number}\" hits=\"{times}\"/>")?,
            all => writeln!(
                out,
                "            <line number=\"{number}\" hits=\"{times}\" branch=\"true\" condition-coverage=\"{:.0}% ({}/{all})\"/>",
                sides.percent(),
                sides.reached,
            )?,
        }
    }
    writeln!(out, "          </lines>\n        </class>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::point_of_k;

    #[test]
    fn directories_are_packages_and_sides_of_branches_are_told_by_line() {
        let point = |file: &str, line, column, seen| point_of_k(file, (line, column), seen);
        let branch = |holds, fails| Seen::Branch { holds, fails, diverged_warps: 0, uniform_warps: 0 };
        let coverage = Coverage::of([
            point("src/<a>.cu", 3, 9, branch(2, 0)),
            point("src/<a>.cu", 3, 20, branch(1, 1)),
            point("src/<a>.cu", 3, 5, Seen::Run { lines: vec![3, 4], times: 2 }),
            point("b.cu", 1, 1, Seen::Run { lines: vec![1], times: 0 }),
        ]);
        let mut text = Vec::new();
        write(&coverage, &mut text).expect("memory can be written");
        let text = String::from_utf8(text).expect("UTF-8");
        for wanted in [
            "lines-covered=\"2\" lines-valid=\"3\" branches-covered=\"3\" branches-valid=\"4\"",
            "<package name=\".\" line-rate=\"0.0000\" branch-rate=\"1.0000\"",
            "<class name=\"&lt;a&gt;.cu\" filename=\"src/&lt;a&gt;.cu\" line-rate=\"1.0000\" branch-rate=\"0.7500\"",
            "<line number=\"3\" hits=\"2\" branch=\"true\" condition-coverage=\"75% (3/4)\"/>",
            "<line number=\"4\" hits=\"2\"/>",
        ] {
            assert!(text.contains(wanted), "no `{wanted}`: {text}");
        }
    }
}
