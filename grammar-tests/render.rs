//! The output formats, on reports made by hand: what they look like is in `snapshots/`.
//!
//! `INSTA_UPDATE=always cargo test --test grammar-tests render` blesses all of them.

mod junit;
mod lists;
mod scanning;

use raceproof::diagnostic::render::text::{Color, Detail};
use raceproof::diagnostic::render::{gcc, json, text};
use raceproof::diagnostic::report::{
    Assumption, AssumptionKind, Certainty, Deciding, Determinism, Divergence, FileReport, Finding, FindingReason,
    Front, KernelReport, Level, Parse, Place, PlaceAccess, Race, Report, Scope, ScopeKind, Unknown, WitnessReport,
    WitnessThread,
};
use raceproof::diagnostic::{Diagnostic, Label, RuleId, Severity};
use raceproof::source::{FileId, Language, SourceMap, Span};
use raceproof::work::Spent;

fn text_of(report: &Report) -> String {
    let mut out = Vec::new();
    text::render(report, Color::Plain, Detail::Full, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn gcc_of(report: &Report) -> String {
    let mut out = Vec::new();
    gcc::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json_of(report: &Report) -> String {
    let mut out = Vec::new();
    json::render(report, &mut out).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

/// The range of the `nth` occurrence of `part`, from 0.
fn span(sources: &SourceMap, file: FileId, part: &str, nth: usize) -> Span {
    let text = &sources.file(file).text;
    let (start, _) = text.match_indices(part).nth(nth).unwrap_or_else(|| panic!("`{part}` is in the text"));
    Span::new(file, start, start + part.len())
}

fn place(span: Span, access: PlaceAccess) -> Place {
    Place { span, access }
}

fn clean(name: &str, line: u32) -> KernelReport {
    KernelReport {
        front: Front::TreeSitter,
        name: name.into(),
        line,
        path: None,
        template_args: Vec::new(),
        params: Vec::new(),
        race: Race::RaceFree,
        divergence: Divergence::Uniform,
        scope: Some(Scope { kind: ScopeKind::AllGeometries, fixes: Vec::new() }),
        determinism: Determinism::Deterministic,
        deciding: Deciding { access_invariant: Some(true), inputs: Vec::new() },
        assumptions: Vec::new(),
        contract: None,
        spent: Spent::default(),
        findings: Vec::new(),
        unknowns: Vec::new(),
    }
}

fn file(path: &str, language: Language, sources: SourceMap, kernels: Vec<KernelReport>) -> Report {
    let front = Front::TreeSitter;
    let file = FileReport {
        path: path.into(),
        language,
        front,
        parse: Parse::Ok,
        kernels,
        diagnostics: Vec::new(),
        comments: Vec::new(),
        unasked: Vec::new(),
        spent: Spent::default(),
        sources,
    };
    Report { files: vec![file] }
}

fn one_file(path: &str, text: &str) -> (SourceMap, FileId) {
    let mut sources = SourceMap::new();
    let id = sources.add_file(path, text);
    (sources, id)
}

fn thread(x: u32, locals: &[(&str, i128)]) -> WitnessThread {
    let locals = locals.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    WitnessThread { block: [0; 3], thread: [x, 0, 0], locals }
}

const SHIFT: &str = "\
// Shifts a vector by one.

__global__ void shift(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        y[i] = y[i + 1];
}

__global__ void copy(float *y, const float *x) { y[threadIdx.x] = x[threadIdx.x]; }
";

fn race(sources: &SourceMap, id: FileId) -> Finding {
    Finding {
        rule: RuleId::DataRace,
        certainty: Certainty::Proved,
        level: Level::Block,
        array: Some("y".into()),
        message: "data race on y: two threads of one block write and read y[1]".into(),
        primary: place(span(sources, id, "y[i]", 0), PlaceAccess::Write),
        secondary: Some(place(span(sources, id, "y[i + 1]", 0), PlaceAccess::Read)),
        reasons: Vec::new(),
        contents: Vec::new(),
        witness: Some(WitnessReport {
            block_dim: [64, 1, 1],
            grid_dim: [1, 1, 1],
            threads: vec![thread(1, &[("i", 1)]), thread(0, &[("i", 0), ("k", -7)])],
            params: vec![("n".into(), 2)],
            byte_offset: Some(4),
            element: Some("y[1]".into()),
        }),
        notes: vec!["read into a variable and put a barrier between the read and the write".into()],
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: raceproof::diagnostic::report::Telling::default(),
    }
}

/// A race and a proof in one file.
fn shift() -> Report {
    let (sources, id) = one_file("a.cu", SHIFT);
    let mut racy = clean("shift", 3);
    racy.race = Race::Racy;
    racy.deciding.inputs = vec!["n".into()];
    racy.findings = vec![race(&sources, id)];
    racy.determinism = Determinism::NotShown("the race on y".into());
    let mut free = clean("copy", 9);
    free.template_args = vec!["float".into(), "4".into()];
    free.scope = Some(Scope { kind: ScopeKind::AllGeometries, fixes: vec!["gridDim.x = 1".into()] });
    free.assumptions =
        vec![Assumption { kind: AssumptionKind::Other, text: "y and x point to disjoint memory".into() }];
    file("a.cu", Language::Cuda, sources, vec![racy, free])
}

#[test]
fn a_race_with_its_witness() {
    insta::assert_snapshot!("race.text", text_of(&shift()));
    insta::assert_snapshot!("race.gcc", gcc_of(&shift()));
    insta::assert_snapshot!("race.json", json_of(&shift()));
}

#[test]
fn json_keeps_the_order_of_the_contract() {
    let text = json_of(&shift());
    let keys = [
        "schema",
        "files",
        "path",
        "front",
        "parse",
        "kernels",
        "name",
        "line",
        "template_args",
        "race",
        "divergence",
        "scope",
        "deterministic",
        "access_invariant",
        "integrity_inputs",
        "assumptions",
        "time_ms",
        "findings",
        "rule",
        "certainty",
        "level",
        "array",
        "message",
        "primary",
        "end_line",
        "end_column",
        "access",
        "secondary",
        "reasons",
        "witness",
        "block_dim",
        "grid_dim",
        "threads",
        "block",
        "thread",
        "locals",
        "params",
        "byte_offset",
        "unknowns",
        "summary",
    ];
    let mut from = 0;
    for key in keys {
        let quoted = format!("\"{key}\":");
        let at = text[from..].find(&quoted).unwrap_or_else(|| panic!("{key} follows in its place"));
        from += at;
    }
}

/// A possible race and an unknown construct, in OpenCL.
fn scatter() -> Report {
    let text = "\
__kernel void scatter(__global float *y, __global const int *index) {
    int j = index[get_global_id(0)];
    y[j] = 1.0f;
}
__kernel void odd(__global float *y) {
    mystery(y);
}
";
    let (sources, id) = one_file("b.cl", text);
    let mut possible = clean("scatter", 1);
    possible.race = Race::PossiblyRacy;
    possible.scope = None;
    possible.deciding.access_invariant = Some(false);
    let write = place(span(&sources, id, "y[j]", 0), PlaceAccess::Write);
    possible.findings = vec![Finding {
        rule: RuleId::DataDependentIndex,
        certainty: Certainty::Possible,
        level: Level::Grid,
        array: Some("y".into()),
        message: "possible data race on y: the index depends on what index holds".into(),
        primary: write,
        secondary: Some(write),
        reasons: vec![FindingReason {
            kind: "data-dependent index".into(),
            span: Some(span(&sources, id, "index[get_global_id(0)]", 0)),
        }],
        witness: None,
        contents: Vec::new(),
        notes: vec!["if values of index never repeat, this is no race; otherwise use an atomic".into()],
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: raceproof::diagnostic::report::Telling::default(),
    }];
    let mut unknown = clean("odd", 5);
    unknown.race = Race::Unknown;
    unknown.divergence = Divergence::Unknown;
    unknown.scope = None;
    unknown.deciding.access_invariant = None;
    let call = span(&sources, id, "mystery(y)", 0);
    let reason = "the function mystery has no body here; define it or give its header with -I";
    unknown.unknowns = vec![
        Unknown { line: 6, also: Vec::new(), span: Some(call), reason: reason.into() },
        Unknown {
            line: 5,
            also: Vec::new(),
            span: None,
            reason: "what the effort allows was spent before every question was asked; --effort raises it".into(),
        },
    ];
    file("b.cl", Language::OpenCl, sources, vec![possible, unknown])
}

#[test]
fn possible_and_unknown_in_the_words_of_opencl() {
    insta::assert_snapshot!("possible.text", text_of(&scatter()));
    insta::assert_snapshot!("possible.gcc", gcc_of(&scatter()));
    insta::assert_snapshot!("possible.json", json_of(&scatter()));
}

#[test]
fn a_macro_from_a_header_is_shown_where_it_is_called() {
    let (mut sources, id) = one_file("m.cu", "#include \"m.h\"\n__global__ void k(float *s) {\n  STORE(s, 1);\n}\n");
    let header = sources.add_file("m.h", "#define PUT(p) p[0]\n#define STORE(p, v) PUT(p) = v\n");
    let call = span(&sources, id, "STORE(s, 1)", 0);
    let outer = sources.add_expansion("STORE", call);
    let inner_call = Span { expansion: Some(outer), ..span(&sources, header, "PUT(p)", 1) };
    let inner = sources.add_expansion("PUT", inner_call);
    let write = Span { expansion: Some(inner), ..span(&sources, header, "p[0]", 0) };
    let mut kernel = clean("k", 2);
    kernel.race = Race::Racy;
    let access = place(write, PlaceAccess::Write);
    kernel.findings = vec![Finding {
        primary: access,
        secondary: Some(access),
        array: Some("s".into()),
        message: "data race on s: two threads of one block write s[0]".into(),
        witness: None,
        contents: Vec::new(),
        notes: Vec::new(),
        ..race(&one_file("a.cu", SHIFT).0, id)
    }];
    let report = file("m.cu", Language::Cuda, sources, vec![kernel]);
    insta::assert_snapshot!("macro.text", text_of(&report));
    insta::assert_snapshot!("macro.gcc", gcc_of(&report));
}

#[test]
fn accesses_in_two_files_have_an_excerpt_each() {
    let (mut sources, id) =
        one_file("two.cu", "#include \"put.h\"\n__global__ void k(int *s) {\n  put(s);\n  s[1]++;\n}\n");
    let header = sources.add_file("put.h", "__device__ void put(int *p) { p[threadIdx.x] = 1; }\n");
    let mut kernel = clean("k", 2);
    kernel.race = Race::Racy;
    kernel.findings = vec![Finding {
        primary: place(span(&sources, id, "s[1]", 0), PlaceAccess::Write),
        secondary: Some(place(span(&sources, header, "p[threadIdx.x]", 0), PlaceAccess::Write)),
        ..race(&one_file("a.cu", SHIFT).0, id)
    }];
    let report = file("two.cu", Language::Cuda, sources, vec![kernel]);
    insta::assert_snapshot!("two-files.text", text_of(&report));
}

#[test]
fn divergence_says_who_waits() {
    let text = "__global__ void k() {\n  if (threadIdx.x == 0)\n    __syncthreads();\n}\n";
    let (sources, id) = one_file("d.cu", text);
    let mut kernel = clean("k", 1);
    kernel.divergence = Divergence::Divergent;
    let mut finding = race(&one_file("a.cu", SHIFT).0, id);
    finding.rule = RuleId::BarrierDivergence;
    finding.array = None;
    finding.message = "barrier divergence: thread 0 waits here and thread 1 does not".into();
    finding.primary = place(span(&sources, id, "__syncthreads()", 0), PlaceAccess::Barrier);
    finding.secondary = None;
    if let Some(witness) = &mut finding.witness {
        witness.byte_offset = None;
        witness.element = None;
        witness.params.clear();
        witness.threads = vec![thread(0, &[]), thread(1, &[])];
    }
    finding.notes = vec!["move the barrier to where all threads of the block pass".into()];
    kernel.findings = vec![finding];
    let report = file("d.cu", Language::Cuda, sources, vec![kernel]);
    insta::assert_snapshot!("divergence.text", text_of(&report));
    insta::assert_snapshot!("divergence.gcc", gcc_of(&report));
}

#[test]
fn a_line_of_ten_megabytes_is_shown_through_a_window() {
    let long = format!(
        "__global__ void k(float *y) {{ {} y[0] = 1; {} y[0] = 2; }}\n",
        ";".repeat(5 << 20),
        " ".repeat(5 << 20)
    );
    let (sources, id) = one_file("long.cu", &long);
    let mut kernel = clean("k", 1);
    kernel.race = Race::Racy;
    kernel.findings = vec![Finding {
        primary: place(span(&sources, id, "y[0]", 0), PlaceAccess::Write),
        secondary: Some(place(span(&sources, id, "y[0]", 1), PlaceAccess::Write)),
        ..race(&one_file("a.cu", SHIFT).0, id)
    }];
    let report = file("long.cu", Language::Cuda, sources, vec![kernel]);
    let text = text_of(&report);
    assert!(text.len() < 3000, "{} bytes", text.len());
    assert!(text.contains("long.cu:1:5242912"), "{text}");
    assert!(text.contains("long.cu:1:10485803"), "{text}");
    insta::assert_snapshot!("long-line.text", text);
}

#[test]
fn source_and_names_cannot_talk_to_the_terminal() {
    let (sources, id) = one_file("e\u{1b}[2J.cu", "y[0] = 1; // \u{1b}[31m \u{7}\u{9b}x\n");
    let mut kernel = clean("k\u{1b}", 1);
    kernel.findings = vec![Finding {
        primary: place(span(&sources, id, "y[0]", 0), PlaceAccess::Write),
        secondary: None,
        message: "bell \u{7} in a message".into(),
        notes: vec!["note \u{1b}[0m".into()],
        ..race(&one_file("a.cu", SHIFT).0, id)
    }];
    let report = file("e\u{1b}[2J.cu", Language::Cuda, sources, vec![kernel]);
    for out in [text_of(&report), gcc_of(&report)] {
        assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out:?}");
    }
}

#[test]
fn spans_of_several_lines_at_the_end_or_empty_do_not_fail() {
    let text = "a\r\nb µ c\nlast";
    let (sources, id) = one_file("x.cu", text);
    for (start, end) in [(0, text.len()), (0, 0), (2, 3), (text.len(), text.len()), (6, 7), (11, 99)] {
        let mut kernel = clean("k", 1);
        let span = Span::new(id, start, end);
        kernel.findings = vec![Finding {
            primary: place(span, PlaceAccess::Write),
            secondary: Some(place(Span::new(id, 0, 1), PlaceAccess::Read)),
            ..race(&one_file("a.cu", SHIFT).0, id)
        }];
        let report = file("x.cu", Language::Cuda, sources.clone(), vec![kernel]);
        assert!(text_of(&report).contains("x.cu"), "{start}..{end}");
        assert!(json_of(&report).contains("x.cu"), "{start}..{end}");
    }
}

#[test]
fn files_that_were_not_read_are_counted() {
    let (sources, id) = one_file("p.cu", "__global__ void k( {\n");
    let mut report = file("p.cu", Language::Cuda, sources, Vec::new());
    report.files[0].parse = Parse::Partial;
    report.files[0].diagnostics = vec![Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Warning,
        message: "syntax error in the parameters of k".into(),
        primary: Label { span: Span::new(id, 16, 20), text: "from here".into() },
        secondary: vec![Label { span: Span::new(id, 0, 10), text: "in this declaration".into() }],
        notes: vec!["what stands here was not checked".into()],
        fix: None,
        hidden: None,
    }];
    let mut failed = report.files[0].clone();
    failed.parse = Parse::Failed;
    failed.diagnostics.clear();
    report.files.push(failed);
    insta::assert_snapshot!("parse.text", text_of(&report));
    insta::assert_snapshot!("parse.gcc", gcc_of(&report));
}

#[test]
fn findings_only_says_nothing_about_clean_kernels() {
    let mut out = Vec::new();
    text::render(&shift(), Color::Plain, Detail::FindingsOnly, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("error[data-race]"), "{text}");
    assert!(!text.contains("copy") && !text.contains("kernels"), "{text}");
}

#[test]
fn colours_are_added_only_when_asked_for() {
    let mut out = Vec::new();
    text::render(&shift(), Color::Ansi, Detail::Full, &mut out).unwrap();
    assert!(out.contains(&0x1b));
    assert!(!text_of(&shift()).contains('\u{1b}'));
}

mod any_span {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the text and wherever the places, every format writes something of bounded size.
        #[test]
        fn can_be_shown(
            text in "([a-z;\t ]{0,400}|[\u{0}-\u{ff}é漢\u{200b}🦀\r]{0,30}|\n){0,12}",
            at in prop::collection::vec((0usize..3000, 0usize..300), 3),
        ) {
            let (sources, id) = one_file("any.cu", &text);
            let span = |(start, length): (usize, usize)| Span::new(id, start, start + length);
            let mut kernel = clean("k", 1);
            kernel.findings = vec![Finding {
                primary: place(span(at[0]), PlaceAccess::Write),
                secondary: Some(place(span(at[1]), PlaceAccess::Read)),
                reasons: vec![FindingReason { kind: "data-dependent index".into(), span: Some(span(at[2])) }],
                ..race(&one_file("a.cu", SHIFT).0, id)
            }];
            let report = file("any.cu", Language::Cuda, sources, vec![kernel]);
            let shown = text_of(&report);
            prop_assert!(shown.contains("any.cu:"));
            prop_assert!(shown.len() < 20_000, "{} bytes", shown.len());
            prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
            prop_assert_eq!(gcc_of(&report).lines().count(), 2);
            json_of(&report);
            scanning::can_be_written(&report);
            lists::can_be_written(&report);
        }
    }
}
