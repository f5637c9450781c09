//! LCOV's tracefile (`man geninfo`): lines and branches by file, as `genhtml` and most services read them.
//!
//! `DA` has how often a line was executed, by all threads together; `BRDA` has the two sides of each condition, the side that
//! holds first, in blocks numbered along the file. A branch that was never come to has `-`, as LCOV wants it.
//!
//! Deliberately absent: barriers and loops, for which LCOV has no words; they are in the JSON.

use super::{Coverage, Point, Seen, lines};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a tracefile.
pub fn write(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    let executed = lines(&coverage.points);
    let mut files: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in &coverage.points {
        files.entry(&point.file).or_default().push(point);
    }
    for (file, points) in files {
        writeln!(out, "TN:\nSF:{file}")?;
        let (mut found, mut hit) = (0, 0);
        let branches = points.iter().filter_map(|point| match point.seen {
            Seen::Branch { holds, fails, .. } => Some((point.line, holds, fails)),
            _ => None,
        });
        for (block, (line, holds, fails)) in branches.enumerate() {
            for (side, times) in [holds, fails].into_iter().enumerate() {
                let taken = if holds + fails == 0 { "-".to_owned() } else { times.to_string() };
                writeln!(out, "BRDA:{line},{block},{side},{taken}")?;
                found += 1;
                hit += u64::from(times > 0);
            }
        }
        writeln!(out, "BRF:{found}\nBRH:{hit}")?;
        let (mut found, mut hit) = (0, 0);
        for ((_, line), times) in executed.range((file, 0)..=(file, u32::MAX)) {
            writeln!(out, "DA:{line},{times}")?;
            found += 1;
            hit += u64::from(*times > 0);
        }
        writeln!(out, "LF:{found}\nLH:{hit}\nend_of_record")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::point_of_k;

    #[test]
    fn lines_and_branches_are_told_by_file() {
        let point = |line, seen| point_of_k("a.cu", (line, 1), seen);
        let branch = |holds, fails| Seen::Branch { holds, fails, diverged_warps: 0, uniform_warps: 0 };
        let coverage = Coverage::of([
            point(3, branch(2, 0)),
            point(5, branch(0, 0)),
            point(4, Seen::Run { lines: vec![4, 6], times: 7 }),
            point(8, Seen::Run { lines: vec![8], times: 0 }),
        ]);
        let mut text = Vec::new();
        write(&coverage, &mut text).expect("memory can be written");
        assert_eq!(
            String::from_utf8(text).expect("UTF-8"),
            "TN:\nSF:a.cu\nBRDA:3,0,0,2\nBRDA:3,0,1,0\nBRDA:5,1,0,-\nBRDA:5,1,1,-\nBRF:4\nBRH:1\n\
             DA:4,7\nDA:6,7\nDA:8,0\nLF:3\nLH:2\nend_of_record\n"
        );
    }
}
