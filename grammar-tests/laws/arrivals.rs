//! Objects that count arrivals: what is said of their order holds in runs.
//!
//! Random kernels give threads roles that hand over to each other by one or two channels, some of them in the way of
//! producers and consumers and some with a step left out, moved, or at another object. Others go round the stages of a
//! pipeline, of which the waits are counted, too, with steps behind the loop and copies that one channel tells of. In yet
//! others some threads arrive elsewhere than the rest, and all wait at one place. Whatever two accesses of a run nothing orders, the order of their kernel must let meet in those turns; and where every wait is said to come to an
//! end, the run does.

use crate::support::draw::{Law, is_enough, sums};
use crate::support::tier::tiers;
use raceproof::calculus::arrivals;
use raceproof::calculus::eval::{Blocks, Contents, Event, Meeting, Program, Setup, Sink, Value, run};
use raceproof::calculus::validate::validate;
use raceproof::calculus::{Geometry, Kernel, text};
use raceproof::memory_model::met::{Met, Stands};
use std::fmt::Write as _;

const LAW: Law = Law::new("arrivals", tiers(1_000, 3_000, 60_000));

/// Threads of each role.
const OF_ROLE: usize = 2;

/// Numbers that a seed fixes.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A kernel under way.
struct Draft {
    sites: usize,
    /// For each channel the number of its objects.
    objects: Vec<usize>,
    /// For how many arrivals each waits.
    counts: Vec<String>,
}

impl Draft {
    fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites - 1
    }

    /// The channel `of` starts so many bytes into the array of objects.
    fn start(&self, of: usize) -> usize {
        self.objects[..of].iter().sum::<usize>() * 8
    }

    fn step(&mut self, of: usize, place: &str, waits: bool) -> String {
        let (start, count, site) = (self.start(of), self.counts[of].clone(), self.site());
        let part = if waits { "meets" } else { "arrives" };
        format!("sync block shared global {part} bar[{start} + convert<i64>({place}) * 8] {count}@{site}\n")
    }

    fn access(&mut self, turn: &str) -> String {
        let site = self.site();
        format!("write s[convert<i64>({turn}) * 4; 4] @{site}\n")
    }

    /// The code of a role: steps before the loop, and one of each channel in the loop.
    fn role(&mut self, role: usize, roles: usize, draw: &mut Draw) -> String {
        let mut text = String::new();
        let variable = format!("i{role}");
        let channels = self.objects.len();
        let mut before = vec![0; channels];
        for (of, before) in before.iter_mut().enumerate() {
            // In the way of consumers, every object is free at first.
            let natural = if channels > 1 && of == role % channels { 0 } else { self.objects[of] };
            let times = if draw.once_in(4) {
                draw.below(4)
            } else if role == 0 {
                0
            } else {
                natural
            };
            for arrival in 0..times {
                let place = arrival % self.objects[of];
                text += &self.step(of, &place.to_string(), draw.once_in(5));
                if draw.once_in(6) {
                    text += &self.access("0");
                }
            }
            *before = times;
        }
        if draw.once_in(8) {
            return text + &self.access("0");
        }
        let bound = if draw.once_in(8) { "m" } else { "n" };
        let site = self.site();
        let mut order: Vec<usize> = (0..channels).collect();
        if draw.once_in(4) == (role % 2 == 0) && roles > 1 {
            order.reverse();
        }
        let mut body = String::new();
        for (at, &of) in order.iter().enumerate() {
            if draw.once_in(2) {
                body += &self.access(&variable);
            }
            if draw.once_in(15) {
                continue;
            }
            let shift = if draw.once_in(15) { draw.below(3) } else { before[of] % self.objects[of] };
            let place = format!("({variable} + {shift}) % {}", self.objects[of]);
            let waits = if draw.once_in(4) { draw.once_in(2) } else { at == 0 };
            body += &self.step(of, &place, waits);
        }
        body += &self.access(&variable);
        let _ = write!(text, "for {variable} = 0 while {variable} < {bound} step + 1 @{site} {{\n{body}}}\n");
        if draw.once_in(3) {
            text += &self.access("0");
        }
        text
    }
}

/// A step of a pipeline: which of the two channels, and what is done there.
type InPipeline = (usize, &'static str);

const ACQUIRE: InPipeline = (1, "waits_before");
const COMMIT: InPipeline = (0, "arrives");
const WAIT: InPipeline = (0, "waits");
const RELEASE: InPipeline = (1, "arrives");

/// Roles that go round the stages of a pipeline: all threads do all, or some fill and others empty.
fn pipeline(seed: u64) -> String {
    let mut draw = Draw(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
    let (stages, apart) = (1 + draw.below(3), draw.once_in(2));
    let roles: &[(&str, &[InPipeline])] = match apart {
        true => &[("tid.x < 2u32", &[ACQUIRE, COMMIT]), ("tid.x >= 2u32", &[WAIT, RELEASE])],
        false => &[("tid.x < 1024u32", &[ACQUIRE, COMMIT, WAIT, RELEASE])],
    };
    let mut text = "kernel k(n: i32, m: i32) { shared s: element 4 shared bar: element 8\n".to_owned();
    for role in 0..roles.len() {
        let _ = writeln!(text, "var i{role}: i32");
    }
    let (mut sites, mut code) = (0, String::new());
    let mut site = || {
        sites += 1;
        sites - 1
    };
    let (ahead, turned, mut told) = (draw.below(stages + 1), draw.once_in(6), String::new());
    for (role, (threads, steps)) in roles.iter().enumerate() {
        let mut step = |(channel, part): InPipeline, draw: &mut Draw| {
            let from_producers = if draw.once_in(40) { channel == 1 } else { channel == 0 };
            let count = match (apart, from_producers) {
                (false, _) => "",
                (true, true) => "of 0 to 2 ",
                (true, false) => "of 2 to 1024 ",
            };
            format!("sync block shared global {part} bar[{}] round {stages} {count}@{}\n", channel * stages * 8, site())
        };
        let mut before = String::new();
        let fills: Vec<InPipeline> = steps.iter().copied().filter(|step| [ACQUIRE, COMMIT].contains(step)).collect();
        let empties: Vec<InPipeline> = steps.iter().copied().filter(|step| [WAIT, RELEASE].contains(step)).collect();
        let (mut own, mut accesses) = (steps.to_vec(), 0);
        if draw.once_in(8) {
            own.remove(draw.below(own.len()));
        }
        if turned && own.len() > 1 {
            let last = own.len() - 1;
            own.swap(draw.below(last), last);
        }
        for _ in 0..ahead {
            for &one in &fills {
                before += &step(one, &mut draw);
            }
        }
        let mut body = String::new();
        for &one in &own {
            if draw.once_in(2) {
                body += &format!("write s[convert<i64>(i{role}) * 4; 4] @#{accesses}\n");
                accesses += 1;
            }
            body += &step(one, &mut draw);
        }
        body += &format!("write s[convert<i64>(i{role}) * 4; 4] @#{accesses}\n");
        accesses += 1;
        let mut behind = String::new();
        for _ in 0..if draw.once_in(8) { draw.below(3) } else { ahead } {
            for &one in &empties {
                if draw.once_in(2) {
                    behind += &format!("write s[0; 4] @#{accesses}\n");
                    accesses += 1;
                }
                behind += &step(one, &mut draw);
            }
        }
        let bound = if draw.once_in(12) { "m" } else { "n" };
        for access in 0..accesses {
            let own = site();
            if draw.once_in(2) {
                let _ = writeln!(told, "told @{own} by bar[0]");
            }
            let (was, is) = (format!("@#{access}\n"), format!("@{own}\n"));
            (body, behind) = (body.replace(&was, &is), behind.replace(&was, &is));
        }
        let each = format!("for i{role} = 0 while i{role} < {bound} step + 1 @{} {{\n{body}}}\n", site());
        let _ = writeln!(code, "if {threads} {{\n{before}{each}{behind}}}");
    }
    format!("{text}{told}{code}}}")
}

/// Some threads arrive by themselves, with or without the others elsewhere; all wait, and meet at the end of the turn.
fn elsewhere(seed: u64) -> String {
    let mut draw = Draw(seed.wrapping_mul(0xa076_1d64_78bd_642f) | 1);
    let (some, others) = (1 + draw.below(2), draw.once_in(2));
    let objects = [1 + draw.below(2), 1 + draw.below(2)];
    let (mut sites, mut told) = (0, String::new());
    let mut part = |draw: &mut Draw, before: Option<usize>| {
        let mut site = || {
            sites += 1;
            sites - 1
        };
        let mut step = |channel: usize, part: &str| {
            let place = match before {
                Some(turns) => format!("convert<i64>((i + {turns}) % {}) * 8", objects[channel]),
                None => "convert<i64>(0)".to_owned(),
            };
            let start = channel * objects[0] * 8;
            let count = if channel == 0 && !others { format!("of {some} ") } else { String::new() };
            format!("sync block shared global {part} bar[{start} + {place}] {count}@{}\n", site())
        };
        let turn = if before.is_some() { "i" } else { "0" };
        let waits = if draw.once_in(10) { "waits_before" } else { "waits" };
        let meets = if draw.once_in(4) { "arrives" } else { "meets" };
        let [mut one, mut other] = [step(0, "arrives"), step(0, "arrives")];
        let (wait, meet) = (step(0, waits), step(1, meets));
        let mut access = |draw: &mut Draw| {
            let own = site();
            // A channel that tells of copies starts where each of its steps says.
            if objects[0] == 1 && draw.once_in(6) {
                let _ = writeln!(told, "told @{own} by bar[0]");
            }
            format!("write s[convert<i64>({turn}) * 4; 4] @{own}\n")
        };
        let is_late = draw.once_in(6);
        for own in [&mut one, &mut other] {
            let access = access(draw);
            *own = if is_late { format!("{own}{access}") } else { format!("{access}{own}") };
        }
        let branch = if others { format!("else {{\n{other}}}\n") } else { String::new() };
        let mut parts = vec![format!("if tid.x < {some}u32 {{\n{one}}} {branch}"), wait, access(draw), meet];
        if draw.once_in(4) {
            let (first, second) = (draw.below(4), draw.below(4));
            parts.swap(first, second);
        }
        if draw.once_in(8) {
            parts.remove(draw.below(4));
        }
        if draw.once_in(3) {
            parts.insert(draw.below(parts.len() + 1), access(draw));
        }
        parts.concat()
    };
    let ahead = draw.once_in(4);
    let before = if ahead { part(&mut draw, None) } else { String::new() };
    let body = part(&mut draw, Some(usize::from(ahead)));
    let text = "kernel k(n: i32, m: i32) { shared s: element 4 shared bar: element 8 var i: i32\n";
    format!("{text}{told}{before}for i = 0 while i < n step + 1 @{sites} {{\n{body}}}\n}}")
}

fn source(seed: u64) -> String {
    match seed % 3 {
        1 => return pipeline(seed / 3),
        2 => return elsewhere(seed / 3),
        _ => {}
    }
    let seed = seed / 3;
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let roles = 1 + draw.below(3);
    let channels = 1 + draw.below(2);
    let objects: Vec<usize> = (0..channels).map(|_| 1 + draw.below(3)).collect();
    let counts = (0..channels).map(|_| match draw.below(12) {
        0 => format!("of {} ", roles * OF_ROLE - 1),
        1..5 => String::new(),
        _ => format!("of {} ", roles * OF_ROLE),
    });
    let counts = counts.collect();
    let mut draft = Draft { sites: 0, objects, counts };
    let mut text = "kernel k(n: i32, m: i32) { shared s: element 4 shared bar: element 8\n".to_owned();
    for role in 0..roles {
        let _ = writeln!(text, "var i{role}: i32");
    }
    let turned = draw.once_in(2);
    for role in 0..roles {
        // Which threads come first must not matter.
        let place = if turned { roles - 1 - role } else { role };
        let start = place * OF_ROLE;
        let end = if draft.counts.iter().any(String::is_empty) && place == roles - 1 { 1024 } else { start + OF_ROLE };
        let body = draft.role(role, roles, &mut draw);
        let _ = writeln!(text, "if tid.x >= {start}u32 && tid.x < {end}u32 {{\n{body}}}");
    }
    text + "}"
}

#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    met: Met,
}

impl Sink for Kept {
    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }

    fn access(&mut self, event: &Event, _locals: &[Value]) {
        self.events.push(*event);
    }
}

fn kernel(seed: u64) -> Kernel {
    let source = source(seed);
    let kernel = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert_eq!(validate(&kernel), [], "{source}");
    let printed = text::print(&kernel);
    let again = text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert!(text::same(&kernel, &again), "{printed}");
    kernel
}

/// Of how many pairs of accesses of a run something is said, and whether it is said that nobody waits in vain; `None` where
/// nothing is said.
fn try_out(seed: u64, threads: u32, turns: [i128; 2]) -> Option<(usize, bool)> {
    let kernel = kernel(seed);
    let order = arrivals::order(&kernel).ok().flatten()?;
    let (needs, completes) = (order.needs(), order.completes(&kernel).is_ok());
    if needs.threads > threads {
        return None;
    }
    let setup = Setup {
        geometry: Geometry { block: [threads, 1, 1], grid: [1, 1, 1] },
        params: &turns.map(Some),
        blocks: Blocks::All,
        contents: Contents::Unknown,
        budget: 200_000,
    };
    let mut kept = Kept::default();
    let run = run(&Program::new(&kernel), &setup, &mut kept);
    assert!(run.finished);
    assert!(!completes || !run.inexact, "somebody waits in vain:\n{}", text::print(&kernel));
    let mut told_apart = 0;
    for (at, one) in kept.events.iter().enumerate() {
        for other in &kept.events[..at] {
            if one.thread == other.thread || !one.exact || !other.exact || one.stamp.block != other.stamp.block {
                continue;
            }
            let Some(apart) = order.apart(one.site, other.site) else { continue };
            told_apart += 1;
            let passed = |event: &Event| Stands::of(event, &kernel.sites);
            if kept.met.orders(0, passed(one), passed(other)) {
                continue;
            }
            // In a loop without steps, and outside of loops, it is in turn 0.
            let turn = |side: usize, event: &Event| apart.loops[side].map_or(0, |_| event.offset.unwrap_or(0) / 4);
            let difference = turn(0, one) - turn(1, other);
            let meet = apart.admits(difference) && !apart.is_empty();
            assert!(meet, "{one:?}\n{other:?}\n{apart:?}\n{}", text::print(&kernel));
        }
    }
    Some((told_apart, completes))
}

#[test]
fn what_nothing_orders_may_meet() {
    // Kernels of three kinds take turns by their seeds.
    let tried = LAW.each(|seed| {
        let mut counts = [[0; 3]; 3];
        let of_kind = &mut counts[(seed % 3) as usize];
        for (threads, turns) in [(6, [5, 3]), (3, [5, 3]), (4, [0, 0])] {
            if let Some((told_apart, completes)) = try_out(seed, threads, turns) {
                of_kind[0] += 1;
                of_kind[1] += usize::from(completes);
                of_kind[2] += told_apart;
            }
        }
        counts
    });
    for kind in 0..3 {
        let counts = sums(&tried.iter().map(|counts| counts[kind]).collect::<Vec<_>>());
        let [judged, completing, told_apart] = counts;
        let is_enough = |count, one_in| is_enough(count, tried.len() / 3, one_in);
        assert!(is_enough(judged, 17) && is_enough(completing, 35) && is_enough(told_apart / 3, 1), "{counts:?}");
    }
}
