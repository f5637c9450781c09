//! What is known of single places of a text: of each access its entry in the protocol of its kernel, of each barrier what it stands
//! between.
//!
//! Guarantees: entries are those that the verdict is found from.
//!
//! Deliberately absent: verdicts, which the report has.

use super::isolate::isolated;
use super::options::{Evidence, Fixes, Hints};
use super::passes::{Model, model};
use super::{Options, check_source, read, selected};
use crate::calculus::{Space, SyncScope};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{FileReport, Finding, KernelReport};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::memory_model::AccessKind;
use crate::protocol::text::{print_expr, print_reason};
use crate::protocol::{Access, Guard, Node, Protocol, Sync};
use crate::source::{SourceMap, Span, embedded};
use std::path::Path;

/// What is known of the places of a text.
#[derive(Debug, Default)]
pub struct Details {
    /// Its kernels, in their order; instances of a template each for themselves.
    pub kernels: Vec<OfKernel>,
    /// The files that places point into.
    pub sources: SourceMap,
}

/// What is known of the places in a kernel.
#[derive(Debug)]
pub struct OfKernel {
    /// Its name.
    pub name: String,
    /// Accesses, in program order.
    pub accesses: Vec<OfAccess>,
    /// Barriers of blocks and wider ones, in program order.
    pub barriers: Vec<OfBarrier>,
}

/// An access.
#[derive(Debug)]
pub struct OfAccess {
    /// Where it stands.
    pub span: Span,
    /// What it does.
    pub kind: AccessKind,
    /// `write to tile`.
    pub what: String,
    /// The first byte, as the protocol has it, and how many there are.
    pub bytes: String,
    /// The conditions on the way to it.
    pub guards: Vec<String>,
    /// Why it is approximate; empty if it is exact.
    pub reasons: Vec<String>,
    /// The barrier interval of the text that it is in, from 1.
    pub interval: usize,
}

/// A barrier.
#[derive(Debug)]
pub struct OfBarrier {
    /// Where it stands.
    pub span: Span,
    /// Whom it orders: `threads of a block`.
    pub among: String,
    /// The interval of the text that ends there, from 1; the next one begins.
    pub interval: usize,
    /// Arrays that are accessed in the intervals of the text before and behind it, one access writing.
    pub between: Vec<String>,
    /// Whether the kernel is proved to do without it.
    pub is_redundant: bool,
}

/// What is known of the places of a text; without kernels on which raceproof fails.
pub fn details(path: &Path, text: &str, options: &Options) -> Details {
    isolated(|| of_text(path, text, options)).unwrap_or_default()
}

fn of_text(path: &Path, text: &str, options: &Options) -> Details {
    let text = &*embedded::out_of_strings(text);
    let file = read(path, text, options).launched;
    let words = Vocabulary::of(file.program.language);
    let of = |function| {
        let made = isolated(|| {
            let Model { protocol, .. } = model(&file, function, options);
            of_kernel(&protocol, words)
        });
        made.ok()
    };
    let mut kernels: Vec<OfKernel> = selected(&file.program, options).filter_map(of).collect();
    if kernels.iter().any(|kernel| !kernel.barriers.is_empty()) {
        let redundant = redundant(path, text, options);
        for barrier in kernels.iter_mut().flat_map(|kernel| &mut kernel.barriers) {
            let at = file.program.sources.visible(barrier.span);
            barrier.is_redundant = redundant.contains(&(at.start, at.end));
        }
    }
    Details { kernels, sources: file.program.sources }
}

/// The bytes of the barriers in the text that kernels are proved to do without.
fn redundant(path: &Path, text: &str, options: &Options) -> Vec<(u32, u32)> {
    let options = Options { hints: Hints::Give, fixes: Fixes::Omit, evidence: Evidence::default(), ..options.clone() };
    let Ok(checked) = isolated(|| check_source(path, text, &options)) else { return Vec::new() };
    let FileReport { kernels, sources, .. } = checked.report;
    let found = kernels.iter().flat_map(KernelReport::each_finding).filter(|it| it.rule == RuleId::RedundantBarrier);
    let at = |finding: &Finding| {
        let span = sources.visible(finding.primary.span);
        (span.start, span.end)
    };
    found.map(at).collect()
}

pub(super) fn of_kernel(protocol: &Protocol, words: &Vocabulary) -> OfKernel {
    let place = |site| protocol.sites[site].span;
    let mut walk = Walk { protocol, interval: 1, accesses: Vec::new(), syncs: Vec::new() };
    walk.nodes(&protocol.body);
    let Walk { accesses, syncs, .. } = walk;
    let touched = |at: usize| {
        let is_wanted = |access: &Access| protocol.arrays[access.array].space != Space::Private;
        let of = move |(access, interval): &&(&Access, usize)| *interval == at && is_wanted(access);
        accesses.iter().filter(of).map(|(access, _)| *access).collect::<Vec<_>>()
    };
    let barriers = syncs.iter().filter_map(|&(sync, interval)| {
        let (before, behind) = (touched(interval), touched(interval + 1));
        let mut between: Vec<String> = Vec::new();
        for one in &before {
            let meets =
                behind.iter().any(|other| one.array == other.array && (one.kind.writes() || other.kind.writes()));
            let name = &protocol.arrays[one.array].name;
            if meets && !between.contains(name) {
                between.push(name.clone());
            }
        }
        Some(OfBarrier {
            span: place(sync.site)?,
            among: among(sync.scope, words),
            interval,
            between,
            is_redundant: false,
        })
    });
    let shown = accesses.iter().filter_map(|&(access, interval)| {
        Some(OfAccess {
            span: place(access.site)?,
            kind: access.kind,
            what: format!("{} {}", kind(access.kind), protocol.arrays[access.array].name),
            bytes: bytes(protocol, access),
            guards: access.guards.iter().map(|guard| guarded(protocol, guard)).collect(),
            reasons: access.reasons.iter().map(|reason| print_reason(protocol, reason)).collect(),
            interval,
        })
    });
    OfKernel { name: protocol.name.clone(), accesses: shown.collect(), barriers: barriers.collect() }
}

/// A walk over a protocol in the order of its text, which numbers the intervals between barriers.
struct Walk<'p> {
    protocol: &'p Protocol,
    interval: usize,
    accesses: Vec<(&'p Access, usize)>,
    syncs: Vec<(&'p Sync, usize)>,
}

impl<'p> Walk<'p> {
    fn nodes(&mut self, nodes: &'p [Node]) {
        for node in nodes {
            match node {
                Node::Access(id) => self.accesses.push((&self.protocol.accesses[*id], self.interval)),
                Node::Sync(id) => {
                    let sync = &self.protocol.syncs[*id];
                    if sync.scope != SyncScope::Warp {
                        self.syncs.push((sync, self.interval));
                        self.interval += 1;
                    }
                }
                Node::Fence(_) => {}
                Node::If { then, otherwise, .. } => {
                    self.nodes(then);
                    self.nodes(otherwise);
                }
                Node::Loop(_, body) => self.nodes(body),
            }
        }
    }
}

fn kind(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read of",
        AccessKind::Write => "write to",
        AccessKind::Atomic { .. } => "atomic on",
    }
}

fn among(scope: SyncScope, words: &Vocabulary) -> String {
    let Vocabulary { thread, block, warp, grid, .. } = words;
    match scope {
        SyncScope::Warp => format!("{thread}s of a {warp}"),
        SyncScope::Block => format!("{thread}s of a {block}"),
        SyncScope::Cluster => format!("{thread}s of a cluster of {block}s"),
        SyncScope::Grid => format!("all {thread}s of the {grid}"),
        SyncScope::System => "all threads of all devices".to_owned(),
    }
}

fn bytes(protocol: &Protocol, access: &Access) -> String {
    let unit = if access.bytes == 1 { "byte" } else { "bytes" };
    format!("{} {unit} from {}", access.bytes, print_expr(protocol, access.offset))
}

fn guarded(protocol: &Protocol, guard: &Guard) -> String {
    if guard.not_returned { "the thread has not returned".to_owned() } else { print_expr(protocol, guard.cond) }
}
