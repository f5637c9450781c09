//! The pictures of a kernel: one launch at a time, which a slider moves, with the legend of the marks.
//!
//! Deliberately absent: moving the slider, which `script.js` does; without it all launches are shown one below the other.

use super::Subject;
use crate::calculus::{Space, is_offset};
use crate::diagnostic::render::xml::escaped;
use crate::diagnostic::report::{Race, WitnessReport};
use crate::diagnostic::vocabulary::{Vocabulary, triple};
use crate::picture::svg::{Certain, Cross, legend, svg};
use crate::picture::{How, LeftOut, Panel, Picture};
use std::fmt::Write;

/// The part of the page with the launches, if there is one to be shown.
pub(super) fn section(body: &mut String, subject: &Subject<'_>) {
    let Some(pictured) = subject.pictured else { return };
    let words = Vocabulary::of(subject.file.language);
    let witnesses = pictured.witnesses.iter().map(|(witness, picture)| (Some(witness), picture));
    let mut all: Vec<(Option<&WitnessReport>, &Picture)> =
        pictured.launches.iter().map(|picture| (None, picture)).chain(witnesses).collect();
    all.sort_by_key(|(_, picture)| picture.geometry.block_threads().saturating_mul(picture.geometry.blocks()));
    // The smallest launch that shows what is wrong is shown first.
    let first = all.iter().position(|(_, picture)| picture.has_collisions()).unwrap_or(all.len() / 2);
    body.push_str("<section aria-labelledby=\"launches\"><h2 id=\"launches\">Who touches what</h2>\n");
    if all.is_empty() {
        body.push_str("<p>No small launch of this kernel can be drawn: what it accesses depends on what is not known here.</p></section>\n");
        return;
    }
    let _ = writeln!(
        body,
        "<p>{} {threads} from top to bottom, elements from left to right.</p>{}",
        match subject.kernel.race {
            Race::RaceFree => "Small launches, in which no two collide:",
            _ => "Launches that witnesses name, and small ones:",
        },
        key(),
        threads = format_args!("{}s", words.thread),
    );
    if all.len() > 1 {
        let _ = writeln!(
            body,
            "<div class=\"slider\" hidden><label for=\"launch\">Launch</label> <input type=\"range\" id=\"launch\" min=\"1\" \
             max=\"{}\" value=\"{}\" step=\"1\"> <output for=\"launch\" id=\"launch-name\"></output></div>",
            all.len(),
            first + 1
        );
    }
    for (number, (witness, picture)) in (1..).zip(&all) {
        launch(body, number, (*witness, picture), words);
    }
    body.push_str("</section>\n");
}

/// What the marks mean.
fn key() -> String {
    let mark = |how| legend(how, Certain::Yes, Cross::None);
    format!(
        "<p class=\"legend\">{} reads {} writes {} atomic {} collides with another {} may happen</p>",
        mark(How::Read),
        mark(How::Write),
        mark(How::Atomic),
        legend(How::Write, Certain::Yes, Cross::Drawn),
        legend(How::Read, Certain::Perhaps, Cross::None),
    )
}

fn launch(
    body: &mut String,
    number: usize,
    (witness, picture): (Option<&WitnessReport>, &Picture),
    words: &Vocabulary,
) {
    let name = named(witness, picture, words);
    let _ = writeln!(
        body,
        "<figure class=\"launch\" id=\"launch-{number}\" data-name=\"{0}\"><figcaption>{0}</figcaption>",
        escaped(&name)
    );
    body.push_str("<div class=\"panels\">\n");
    for panel in &picture.panels {
        let label = label(panel, words);
        let more = match panel.more_cells {
            0 => String::new(),
            more => format!("<p class=\"rest\">{more} more elements are touched.</p>"),
        };
        let said = format!("{label}. {}", described(picture, panel, words));
        let _ = writeln!(
            body,
            "<div class=\"panel\"><h3>{}</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div><p class=\"pointed\" aria-hidden=\"true\">&nbsp;</p>{}</div>",
            escaped(&label),
            escaped(&label),
            svg(picture, panel, &said),
            more
        );
    }
    body.push_str("</div>\n");
    if let Some(rest) = rest(&picture.left_out, words) {
        let _ = writeln!(body, "<p class=\"rest\">Not drawn: {}.</p>", escaped(&rest));
    }
    body.push_str("</figure>\n");
}

/// `4 blocks of 8 threads, n = 32`.
fn named(witness: Option<&WitnessReport>, picture: &Picture, words: &Vocabulary) -> String {
    let (blocks, threads) = (triple(picture.geometry.grid), triple(picture.geometry.block));
    let mut name =
        format!("{} of {blocks} {}s, {}s of {threads} {}s", words.grid, words.block, words.block, words.thread);
    // Global ids that start at 0 are what nobody thinks of.
    let told = picture.params.iter().filter(|(name, value)| *value != 0 || !is_offset(name));
    let values: Vec<String> = told.map(|(name, value)| format!("{name} = {value}")).collect();
    if !values.is_empty() {
        let _ = write!(name, "; {}", values.join(", "));
    }
    if let Some(element) = witness.and_then(|witness| witness.element.as_deref()) {
        let _ = write!(name, " (the witness of {element})");
    }
    name
}

fn label(panel: &Panel, words: &Vocabulary) -> String {
    let array = match panel.space {
        Space::Shared | Space::Distributed => format!("{} in {}", panel.array, words.shared_memory),
        _ => panel.array.clone(),
    };
    match panel.interval {
        Some(interval) => format!("{array}, barrier interval {interval}"),
        None => format!("{array}, all barrier intervals"),
    }
}

/// What a panel shows, for who does not see it.
fn described(picture: &Picture, panel: &Panel, words: &Vocabulary) -> String {
    let count = |how: How| panel.touches.iter().filter(|touch| touch.how == how).count();
    let mut said = format!(
        "{} {}s, {} elements: {} reads, {} writes, {} atomics",
        picture.rows.len(),
        words.thread,
        panel.cells.len(),
        count(How::Read),
        count(How::Write),
        count(How::Atomic)
    );
    let mut colliding: Vec<i64> =
        panel.touches.iter().filter(|touch| touch.collides).map(|touch| panel.cells[touch.cell]).collect();
    colliding.dedup();
    colliding.sort_unstable();
    colliding.dedup();
    if !colliding.is_empty() {
        let cells: Vec<String> = colliding.iter().take(8).map(i64::to_string).collect();
        let _ = write!(said, "; collisions at {}", cells.join(", "));
    }
    said
}

fn rest(left_out: &LeftOut, words: &Vocabulary) -> Option<String> {
    let mut parts = Vec::new();
    if left_out.threads > 0 {
        parts.push(format!("{} more {}s", left_out.threads, words.thread));
    }
    if left_out.panels > 0 {
        parts.push(format!("{} more panels", left_out.panels));
    }
    if left_out.unplaced > 0 {
        parts.push(format!("{} accesses of which memory decides where they are", left_out.unplaced));
    }
    if left_out.rest {
        parts.push("accesses behind the first ones of a long run".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
