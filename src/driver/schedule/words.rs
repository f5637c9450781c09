//! What a schedule does, and who is stuck, in the user's words and with places in the text.

use crate::diagnostic::vocabulary::Vocabulary;
use crate::driver::instrument::InstrumentedFile;
use crate::driver::told::place;
use crate::execute::report::{Event, EventKind};
use crate::execute::scheduled::{Done, Scheduled};
use crate::schedule::report::{Change, Wait};
use crate::schedule::{At, Of, Part, Schedule};
use crate::source::Language;

/// So many places of a deadlock are told.
const MOST_WAITS: usize = 12;

/// A site of the program: its place and its array.
pub(super) fn site(files: &[InstrumentedFile], number: usize) -> Option<(String, String)> {
    let mut left = number;
    for file in files {
        match file.unit.sites.get(left) {
            Some(site) => return Some((place(file, site.span), site.array.clone())),
            None => left = left.checked_sub(file.unit.sites.len())?,
        }
    }
    None
}

/// What each part of a schedule did in a run.
pub(super) fn changes(
    schedule: &Schedule,
    run: &Scheduled,
    (files, language): (&[InstrumentedFile], Language),
) -> Vec<Change> {
    schedule.parts.iter().map(|part| change(part, run, (files, language))).collect()
}

fn change(part: &Part, run: &Scheduled, (files, language): (&[InstrumentedFile], Language)) -> Change {
    let Vocabulary { thread, block, warp, .. } = Vocabulary::of(language);
    let of = |of: &Of| match of {
        Of::Blocks => format!("{block}s"),
        Of::Warps => format!("{warp}s of each {block}"),
        Of::Threads => format!("{thread}s of each {block}"),
    };
    let (place, text) = match part {
        Part::Order { of: what, launch, .. } => {
            let launch = launch.map_or_else(String::new, |launch| format!(" in launch {launch}"));
            (None, format!("the {} come in another order{launch}", of(what)))
        }
        Part::Front { of: Of::Blocks, launch, number } => {
            (None, format!("{block} {number} of launch {launch} comes first"))
        }
        Part::Front { launch, number, .. } => {
            (None, format!("{thread} {number} of each {block} of launch {launch} comes first"))
        }
        Part::Delay(at) => done(run, "delayed", at, files, "goes on only when nobody else can, from here on"),
        Part::Late(at) => {
            done(run, "late", at, files, "stores this so that others see it only when something orders it")
        }
    };
    Change { part: part.to_string(), place, text }
}

fn done(run: &Scheduled, word: &str, at: &At, files: &[InstrumentedFile], what: &str) -> (Option<String>, String) {
    let is_it = |done: &&Done| {
        done.word == word && (done.launch, done.of, done.event) == (at.launch, (at.block, at.thread), at.event)
    };
    let Some(done) = run.done.iter().find(is_it) else {
        return (None, "nothing: that event does not come, or is no store".to_owned());
    };
    let (place, array) = match (done.site.and_then(|number| site(files, number)), &done.place) {
        (Some((place, array)), _) => (Some(place), array),
        (None, Some((file, line))) => (Some(format!("{file}:{line}")), String::new()),
        (None, None) => (None, String::new()),
    };
    let before = match &place {
        _ if word == "late" => String::new(),
        Some(_) if array.is_empty() => " before the barrier".to_owned(),
        Some(_) => format!(" before it accesses {array}"),
        None => " before a fence or its end".to_owned(),
    };
    (place, format!("thread ({}) of block ({}) {what}{before}", done.thread, done.block))
}

/// Threads that are stuck at one place.
struct Stuck {
    place: Option<String>,
    array: String,
    spins: bool,
    what: String,
    count: u64,
    thread: String,
    block: String,
}

impl Stuck {
    fn of(event: &Event, files: &[InstrumentedFile]) -> Option<Stuck> {
        let fields: Vec<&str> = event.text.split('\t').collect();
        let [what, number, count, thread, block] = fields[..] else { return None };
        let known = number.parse().ok().and_then(|number| site(files, number));
        let line = event.place.as_ref().map(|(file, line)| format!("{file}:{line}"));
        let array = known.as_ref().map_or_else(String::new, |(_, array)| array.clone());
        Some(Stuck {
            place: known.map(|(place, _)| place).or(line),
            array,
            spins: what == "to see a change",
            what: what.to_owned(),
            count: count.parse().unwrap_or(1),
            thread: thread.to_owned(),
            block: block.to_owned(),
        })
    }

    fn who(&self) -> String {
        match self.count {
            1 => format!("thread ({}) of block ({})", self.thread, self.block),
            count => format!("{count} threads of block ({}), the first of them ({}),", self.block, self.thread),
        }
    }

    /// Who waits here for whom.
    fn text(&self, all: &[Stuck]) -> String {
        let s = if self.count == 1 { "s" } else { "" };
        if self.spins {
            let what = if self.array.is_empty() { "memory".to_owned() } else { format!("`{}`", self.array) };
            return format!("{} spin{s} here on {what}, which nobody changes any more", self.who());
        }
        let others: Vec<String> = all
            .iter()
            .filter(|other| other.block == self.block && (other.spins || other.what != self.what))
            .map(|other| {
                let place = other.place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
                let more = if other.count > 1 { format!(" and {} more", other.count - 1) } else { String::new() };
                format!("thread ({}){more}{place}", other.thread)
            })
            .collect();
        let whom =
            if others.is_empty() { String::new() } else { format!(", where these do not come: {}", others.join(", ")) };
        format!("{} wait{s} here for {}{whom}", self.who(), self.what)
    }
}

/// Who waits for whom in a deadlock.
pub(super) fn waits(events: &[Event], files: &[InstrumentedFile]) -> Vec<Wait> {
    let of_kind = events.iter().filter(|event| event.kind == EventKind::Stuck);
    let stuck: Vec<Stuck> = of_kind.filter_map(|event| Stuck::of(event, files)).collect();
    let mut waits: Vec<Wait> =
        stuck.iter().take(MOST_WAITS).map(|each| Wait { place: each.place.clone(), text: each.text(&stuck) }).collect();
    if stuck.len() > MOST_WAITS {
        waits.push(Wait { place: None, text: format!("and others at {} more places", stuck.len() - MOST_WAITS) });
    }
    waits
}
