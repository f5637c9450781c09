//! Instrumentation of OpenCL C: the kernels' own text with a macro around every access to memory that work-items share.
//!
//! OpenCL C has no functions over types. What stands around an access is therefore a macro that takes the address of
//! the object and hands it to a function that is overloaded by address space (`runtime/opencl/raceproof.cl`):
//! `RACEPROOF_OBJECT(3, 1, (a[i])) = RACEPROOF_OBJECT(4, 0, (b[j])) + 1`. Which space a pointer points into is thus the
//! compiler's business; one that points to the work-item's own variables costs nothing.
//!
//! - A kernel gets one more parameter, the buffer of the log, and begins with what its pointer parameters are; every
//!   function with a body gets `raceproof_self` as its first parameter, and so do its calls ([`functions`]).
//! - A part of a vector has no address: the vector is wrapped, and the lanes are logged ([`lanes`]).
//! - Branches that decide whether a barrier is come to are agreed on ([`branches`]).
//! - `vloadN`, `vstoreN`, asynchronous copies, atomics and barriers are taken apart at their arguments ([`calls`]).
//!
//! Every argument is evaluated once. The runtime's text stands before the user's, because a driver is given one text.
//!
//! Text that counts what a test reaches ([`Purpose::Cover`](super::Purpose)) has points of coverage in the place of sites, and a buffer of
//! counts in that of the log (`runtime/opencl/counts.cl`); functions and agreements are the same. Text whose ids are given to it
//! ([`Purpose::Schedule`](super::Purpose)) has functions that are the same, and nothing else ([`orders`]).
//!
//! Guarantees: those of the room ([`super`]); what may touch memory and is not logged is named.
//!
//! Deliberately absent: images, pipes, blocks and enqueued kernels; they are named. A call of a kernel from another
//! function is refused. `wait_group_events` is taken for a barrier, and that is named, too; functions over a
//! work-group's values order nothing. A compare-and-exchange is logged as one atomic, whether or not it succeeds.

mod branches;
mod calls;
mod counters;
mod expressions;
mod functions;
mod lanes;
mod orders;
mod statements;
mod types;

use super::coverage::Counters;
use super::notes::Notes;
use super::token_edits::{TokenEdits, assemble};
use super::tokens::Tokens;
use super::{InstrumentError, Instrumented, Purpose, Source, guards, runtime, sites};
use crate::source::{Dialect, Language, OpenClVersion, Span};
use branches::Course;
use functions::Function;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use types::{Shape, Types};

/// What whoever runs the kernels of a unit has to know.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The kernels, in the order of the text.
    pub kernels: Vec<Kernel>,
    /// Barriers by number; of text that counts, those before which work-items agree.
    pub barriers: Vec<Span>,
    /// What text that counts leaves in its buffer; nothing for text that logs.
    pub counts: Option<Counts>,
    /// The table of sites, as logs have it.
    pub sites: String,
    /// The version of OpenCL C that the text is to be compiled as, if it is known.
    pub version: Option<&'static str>,
    /// A function that the text calls and whose result depends on where in its group the driver has a work-item, whatever its ids.
    pub placed: Option<String>,
}

/// What the buffer of a unit that counts has, besides its head (`runtime/opencl/counts.cl`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many points it has.
    pub points: usize,
    /// For each of [`Shared::barriers`] the point that is that barrier, if there is one.
    pub agreed: Vec<Option<usize>>,
}

/// A kernel as it is launched. Its ranges of global memory are its global and constant parameters and then the
/// variables of the program; those of local memory are its local parameters and then its own variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// Its parameters; one more for the log follows them.
    pub parameters: Vec<Parameter>,
    /// Its local variables.
    pub locals: Vec<String>,
    /// Variables of the program in global memory.
    pub globals: Vec<String>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: ParameterKind,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A pointer to global memory.
    Global,
    /// A pointer to constant memory.
    Constant,
    /// Local memory.
    Local,
    /// A value of this type of OpenCL C.
    Value(String),
    /// Something that cannot be given to it, in words.
    Unsupported(String),
}

/// Most local variables of a kernel, and most variables of the program: there is room for so many in the log's head.
const MOST_VARIABLES: usize = 28;
/// Most pointer parameters of a kernel, for the same reason.
const MOST_POINTERS: usize = 96;

/// Where a name lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// In the work-item, or where nothing can be written.
    Own,
    /// In memory that work-items share.
    Memory,
}

#[derive(Clone, Debug)]
struct Local<'a> {
    home: Home,
    shape: Shape<'a>,
}

/// What is collected, and where the walk stands.
struct Translator<'a> {
    tokens: &'a Tokens<'a>,
    source: &'a Source<'a>,
    types: Types<'a>,
    functions: FxHashMap<&'a str, Function<'a>>,
    edits: TokenEdits,
    notes: Notes<'a>,
    shared: Shared,
    scopes: Vec<FxHashMap<&'a str, Local<'a>>>,
    /// What is known of barriers where the walk stands.
    course: Course<'a>,
    /// Variables of the program in global memory, met so far.
    globals: Vec<String>,
    error: Option<InstrumentError>,
}

/// Instruments a unit of OpenCL C.
pub(super) fn instrument(source: &Source<'_>) -> Result<Instrumented, InstrumentError> {
    let tokens = Tokens::new(source.output);
    let mut translator = Translator {
        tokens: &tokens,
        source,
        types: Types::default(),
        functions: functions::collect(source.unit),
        course: Course::of(source.unit),
        edits: TokenEdits::default(),
        notes: Notes::new(&tokens),
        shared: Shared::default(),
        scopes: vec![FxHashMap::default()],
        globals: Vec::new(),
        error: None,
    };
    translator.unit();
    if source.purpose == Purpose::Schedule {
        orders::look_for_ids(&mut translator);
    }
    let Translator { edits, notes, mut shared, course, error, .. } = translator;
    if let Some(error) = error {
        return Err(error);
    }
    // Any function is device code, and its braces show it.
    let guards = guards::guards(&tokens, source, &course.bodies, &["{"]);
    let mut body = assemble(&tokens, &source.output.includes, &edits, guards, source.main)?;
    if source.purpose.counts() {
        body = counters::without_hints(&body);
    }
    shared.sites = sites::table(&notes.sites, &source.output.sources);
    shared.version = version(source.unit.dialect);
    if source.purpose.counts() {
        let agreed =
            shared.barriers.iter().map(|&barrier| counters::point_of(barrier, &notes.points, &tokens)).collect();
        shared.counts = Some(Counts { points: notes.points.len(), agreed });
    }
    let text = whole(source, &body, &shared);
    let kernels = shared.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    let Notes { sites, points, mutants, uncounted, left_out, unordered, .. } = notes;
    Ok(Instrumented { text, sites, kernels, points, mutants, uncounted, left_out, unordered, opencl: shared })
}

/// The body behind the runtime, and the table of sites as comments.
fn whole(source: &Source<'_>, body: &str, shared: &Shared) -> String {
    let most = |count: fn(&Kernel) -> usize| shared.kernels.iter().map(count).max().unwrap_or(0).max(1);
    let mut text = match &shared.counts {
        None if source.purpose == Purpose::Schedule => runtime::OPENCL_ORDERS.to_owned(),
        None => format!(
            "#define RACEPROOF_GLOBALS {}\n#define RACEPROOF_LOCALS {}\n{}",
            most(|kernel| kernel.global_ranges().count()),
            most(|kernel| kernel.local_ranges().count()),
            runtime::OPENCL,
        ),
        Some(Counts { points, agreed }) => format!(
            "#define RACEPROOF_POINTS {points}\n#define RACEPROOF_AGREEMENTS {}\n{}",
            agreed.len(),
            runtime::OPENCL_COUNTS,
        ),
    };
    super::define_reader(&mut text);
    // The compiler's own macros are its business.
    for (name, value) in super::defines(source).filter(|(name, _)| !name.starts_with("__OPENCL")) {
        super::define(&mut text, name, value);
    }
    super::add_body(&mut text, source, body);
    text.push_str("#line 1 \"<sites>\"\n");
    for line in shared.sites.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "// {line}");
    }
    text
}

/// What `-cl-std` is given. Without it the driver chooses, and drivers choose differently.
fn version(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::OpenCl(OpenClVersion::V1_1) => Some("CL1.1"),
        Dialect::OpenCl(OpenClVersion::V1_2) => Some("CL1.2"),
        Dialect::OpenCl(OpenClVersion::V2_0) => Some("CL2.0"),
        Dialect::OpenCl(OpenClVersion::V3_0) => Some("CL3.0"),
        _ => None,
    }
}

impl Kernel {
    /// Names of the ranges of global memory, in order.
    pub fn global_ranges(&self) -> impl Iterator<Item = &str> {
        let is_global =
            |parameter: &&Parameter| matches!(parameter.kind, ParameterKind::Global | ParameterKind::Constant);
        let parameters = self.parameters.iter().filter(is_global).map(|parameter| parameter.name.as_str());
        parameters.chain(self.globals.iter().map(String::as_str))
    }

    /// Names of the ranges of local memory, in order.
    pub fn local_ranges(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter().filter(|parameter| parameter.kind == ParameterKind::Local);
        parameters.map(|parameter| parameter.name.as_str()).chain(self.locals.iter().map(String::as_str))
    }
}

impl<'a> Translator<'a> {
    /// Gives the whole unit up; the first reason counts.
    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        let span = self.tokens.place_of(span);
        let sources = self.tokens.sources();
        let path = sources.file(sources.visible(span).file).path.display().to_string();
        let line = sources.start_position(span).line;
        self.error.get_or_insert(InstrumentError::Unsupported { path, line, what: what.into() });
    }

    /// Whether the text counts what a test reaches, in the place of logging accesses.
    fn counts(&self) -> bool {
        self.source.purpose.counts()
    }

    /// Puts points of coverage where they are wanted.
    fn cover(&mut self, put: impl FnOnce(&mut Counters<'_, 'a>)) {
        if self.counts() {
            let language = Language::OpenCl;
            let (edits, notes) = (&mut self.edits, &mut self.notes);
            put(&mut Counters { language, tokens: self.tokens, edits, notes, compares: false });
        }
    }

    fn find(&self, name: &str) -> Option<&Local<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn declare(&mut self, name: &'a str, local: Local<'a>) {
        if let Some(scope) = self.scopes.last_mut().filter(|_| !name.is_empty()) {
            scope.insert(name, local);
        }
    }

    fn scoped(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(FxHashMap::default());
        walk(self);
        self.scopes.pop();
    }
}
