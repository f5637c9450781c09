//! What a run says, as text.

use super::{Amplified, Answer, Conflict, Place, Statement, Verdict};
use std::fmt::Write as _;

/// All answers, one paragraph each.
pub fn text(amplified: &Amplified) -> String {
    let mut out = String::new();
    for problem in &amplified.problems {
        let _ = writeln!(out, "the run is not complete: {problem}");
    }
    for answer in &amplified.kernels {
        kernel(&mut out, answer, &amplified.back_end);
    }
    out
}

fn kernel(out: &mut String, answer: &Answer, back_end: &str) {
    let launches = |count: usize| if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") };
    let _ = match answer.verdict {
        Verdict::Amplified => Ok(()),
        Verdict::Race => writeln!(out, "{}: the run has a race", answer.name),
        Verdict::ThisRunOnly => {
            writeln!(
                out,
                "{}: no race in {} of this run; nothing is said of other inputs",
                answer.name,
                launches(answer.launches)
            )
        }
        Verdict::NotShown => writeln!(out, "{}: nothing is shown", answer.name),
    };
    let only = if answer.restrictions.is_empty() { String::new() } else { format!(" on the back end {back_end}") };
    for statement in &answer.statements {
        let _ = writeln!(
            out,
            "{}: no race for any input with {}{only} ({} of this run)",
            answer.name,
            statement.conditions().join(", "),
            launches(statement.launches)
        );
    }
    for (title, lines) in [
        ("covers", &answer.covers),
        ("does not cover", &answer.excludes),
        ("relies on", &answer.relies_on),
        ("for this back end only", &answer.restrictions),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(out, "  {title}: {}", lines.join("; "));
        }
    }
    for race in &answer.races {
        let _ = writeln!(out, "  {}", in_words(race));
    }
    for obstacle in &answer.obstacles {
        let _ = writeln!(out, "  {}", obstacle.message);
        for line in &obstacle.chain {
            let _ = writeln!(out, "    {line}");
        }
    }
}

/// A race in one line.
fn in_words(race: &Conflict) -> String {
    let [first, second] = &race.places;
    let who = |(block, thread): (u64, u32)| format!("thread {thread} of block {block}");
    format!(
        "{} by {} against {} by {}, at {} byte{}",
        place(first),
        who(race.threads[0]),
        place(second),
        who(race.threads[1]),
        race.bytes,
        if race.bytes == 1 { "" } else { "s" }
    )
}

fn place(place: &Place) -> String {
    format!("{} of {} at {}:{}:{}", place.access, place.array, place.path, place.line, place.column)
}

impl Statement {
    /// What is fixed: `n = 4096`, `blockDim = 256`.
    pub fn conditions(&self) -> Vec<String> {
        let value = |(name, value): &(String, Option<String>)| match value {
            // Whether the host gives a pointer.
            Some(value) if name.contains(" != ") && value == "true" => name.clone(),
            Some(value) if name.contains(" != ") && value == "false" => name.replacen(" != ", " == ", 1),
            Some(value) => format!("{name} = {value}"),
            None => format!("{name} as in this run"),
        };
        let mut all: Vec<String> = self.fixed.iter().map(value).collect();
        all.push(format!("blockDim = {}", extents(self.block)));
        all.push(format!("gridDim = {}", extents(self.grid)));
        if self.dynamic_shared > 0 {
            all.push(format!("{} bytes of dynamic shared memory", self.dynamic_shared));
        }
        all
    }
}

fn extents([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}
