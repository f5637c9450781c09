//! Amplification on kernels in the calculus and runs made by hand.

use super::{
    Amplified, Argument, Conflict, Event, Extent, Launch, ObstacleKind, Place, Run, Subject, Verdict, amplify, json,
    text,
};
use crate::calculus::text::parse;
use crate::flow::analyze;
use crate::source::SourceMap;

const SAXPY: &str = "kernel saxpy(n: i32, a: opaque4) { global param x: element 4 global param y: element 4
    var i: i32 var v: opaque4
    let i = convert<i32>(bid.x * bdim.x + tid.x)
    if i < n { let v = read x[convert<i64>(i) * 4; 4] @0 write y[convert<i64>(i) * 4; 4] := v @1 } }";

const SCATTER: &str = "kernel scatter() { global param idx: element 4 global param y: element 4 var i: i32
    let i = read idx[convert<i64>(tid.x) * 4; 4] @0
    write y[convert<i64>(i) * 4; 4] := i @1 }";

const GATHER: &str = "kernel gather() { global param idx: element 4 global param y: element 4 global param x: element 4
    var i: i32
    let i = read idx[convert<i64>(tid.x) * 4; 4] @0
    let i = read x[convert<i64>(i) * 4; 4] @1
    write y[convert<i64>(tid.x) * 4; 4] := i @2 }";

const OPTIONAL: &str = "kernel optional(`x != 0`: bool) { global param x: element 4, given `x != 0`
    global param y: element 4
    if `x != 0` { write y[convert<i64>(tid.x) * 4; 4] @0 } }";

fn launch(kernel: &str, arguments: &[(&str, &str)]) -> Launch {
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), Argument::parse(value))).collect();
    Launch { kernel: kernel.to_owned(), grid: [16, 1, 1], block: [256, 1, 1], arguments, ..Launch::default() }
}

fn run(launches: Vec<Launch>) -> Run {
    Run { back_end: "cpu".to_owned(), launches, ..Run::default() }
}

fn amplified(source: &str, run: &Run) -> Amplified {
    let kernel = parse(source).unwrap_or_else(|error| panic!("{error}"));
    let flow = analyze(&kernel);
    let sources = SourceMap::new();
    amplify(run, &[Subject { kernel: &kernel, flow: &flow, sources: &sources, architecture: None }])
}

fn saxpy_run(n: &str) -> Run {
    run(vec![launch("saxpy", &[("n", n), ("a", "2.5"), ("x", "@0+0"), ("y", "@1+0")])])
}

#[test]
fn a_clean_run_holds_for_all_data() {
    let mut two = saxpy_run("4096");
    two.launches.extend(saxpy_run("4096").launches);
    two.launches.extend(saxpy_run("5").launches);
    let said = amplified(SAXPY, &two);
    assert_eq!(said.kernels[0].verdict, Verdict::Amplified);
    let text = text(&said);
    assert!(
        text.contains("saxpy: no race for any input with n = 4096, blockDim = 256, gridDim = 16 (2 launches"),
        "{text}"
    );
    assert!(text.contains("with n = 5, "), "{text}");
    assert!(text.contains("every content of x, y; every value of a"), "{text}");
    let json = json(&said);
    assert_eq!(json["schema"], "raceproof.amplify.v1");
    assert_eq!(json["kernels"][0]["statements"][0]["fixed"][0]["value"], "4096");
}

#[test]
fn a_conflict_is_a_race_and_nothing_more_is_said() {
    let mut racy = saxpy_run("4096");
    let place = Place { path: "a.cu".into(), line: 3, column: 1, access: "write".into(), array: "y".into() };
    racy.conflicts = vec![Conflict { launch: 0, places: [place.clone(), place], threads: [(0, 0), (0, 1)], bytes: 4 }];
    let said = amplified(SAXPY, &racy);
    assert_eq!(said.kernels[0].verdict, Verdict::Race);
    assert!(said.kernels[0].statements.is_empty());
    assert!(text(&said).contains("write of y at a.cu:3:1 by thread 0 of block 0"), "{}", text(&said));
}

#[test]
fn whether_a_pointer_was_given_is_fixed() {
    for (given, told) in [("@0+0", "with x != 0, "), ("null", "with x == 0, ")] {
        let said = amplified(OPTIONAL, &run(vec![launch("optional", &[("x", given), ("y", "@1+0")])]));
        let text = text(&said);
        assert!(text.contains(told) && !text.contains("every value of"), "{text}");
    }
}

#[test]
fn an_incomplete_run_shows_nothing() {
    let mut cut_off = saxpy_run("4096");
    cut_off.problems = vec!["the log is cut off".to_owned()];
    assert_eq!(amplified(SAXPY, &cut_off).kernels[0].verdict, Verdict::NotShown);
    let mut diverged = saxpy_run("4096");
    diverged.events = vec![Event { kernel: "saxpy".to_owned(), text: "threads wait at different barriers".to_owned() }];
    assert_eq!(amplified(SAXPY, &diverged).kernels[0].verdict, Verdict::NotShown);
    diverged.events[0].kernel = "other".to_owned();
    assert_eq!(amplified(SAXPY, &diverged).kernels[0].verdict, Verdict::Amplified);
    let said = amplified(SAXPY, &run(Vec::new()));
    assert_eq!(said.kernels[0].obstacles[0].kind, ObstacleKind::NotLaunched);
}

#[test]
fn launches_that_came_to_their_end_count_when_the_run_was_ended() {
    let mut ended = saxpy_run("4096");
    ended.launches.extend(saxpy_run("5").launches);
    ended.problems = vec!["the program was ended because its time was up".to_owned()];
    ended.launches[0].extent = Extent::Whole;
    let said = amplified(SAXPY, &ended);
    assert_eq!((said.kernels[0].verdict, said.kernels[0].launches), (Verdict::Amplified, 1));
    let text = text(&said);
    assert!(text.starts_with("the run is not complete: the program was ended"), "{text}");
    assert!(text.contains("with n = 4096, ") && !text.contains("with n = 5, "), "{text}");
    // A race in what there is of the other launch is one all the same.
    let place = Place { path: "a.cu".into(), line: 3, column: 1, access: "write".into(), array: "y".into() };
    ended.conflicts = vec![Conflict { launch: 1, places: [place.clone(), place], threads: [(0, 0), (0, 1)], bytes: 4 }];
    assert_eq!(amplified(SAXPY, &ended).kernels[0].verdict, Verdict::Race);
}

#[test]
fn data_in_an_index_keeps_a_run_what_it_is() {
    let said = amplified(SCATTER, &run(vec![launch("scatter", &[("idx", "@0+0"), ("y", "@1+0")])]));
    assert_eq!(said.kernels[0].verdict, Verdict::ThisRunOnly);
    assert_eq!(said.kernels[0].obstacles[0].kind, ObstacleKind::Data);
    assert!(text(&said).contains("the content of idx decides"), "{}", text(&said));
}

#[test]
fn data_that_decides_only_reads_is_no_obstacle_unless_pointers_overlap() {
    let apart = run(vec![launch("gather", &[("idx", "@0+0"), ("y", "@1+0"), ("x", "@2+0")])]);
    let said = amplified(GATHER, &apart);
    assert_eq!(said.kernels[0].verdict, Verdict::Amplified);
    assert!(said.kernels[0].relies_on[0].contains("idx"), "{said:?}");
    let overlapping = run(vec![launch("gather", &[("idx", "@0+0"), ("y", "@1+0"), ("x", "@1+4096")])]);
    assert_eq!(amplified(GATHER, &overlapping).kernels[0].obstacles[0].kind, ObstacleKind::Overlap);
    let in_a_struct = run(vec![launch("gather", &[("idx", "@0+0"), ("y", "@1+0")])]);
    let said = amplified(GATHER, &in_a_struct);
    assert_eq!(said.kernels[0].verdict, Verdict::Amplified);
    assert!(said.kernels[0].relies_on.iter().any(|line| line.starts_with("y and x point to disjoint")), "{said:?}");
    let only_read = run(vec![launch("gather", &[("idx", "@0+0"), ("y", "@1+0"), ("x", "@0+0")])]);
    assert_eq!(amplified(GATHER, &only_read).kernels[0].verdict, Verdict::Amplified);
}

#[test]
fn in_place_launches_of_kernels_that_only_compute_are_amplified() {
    let in_place = run(vec![launch("saxpy", &[("n", "64"), ("a", "1"), ("x", "@0+0"), ("y", "@0+0")])]);
    assert_eq!(amplified(SAXPY, &in_place).kernels[0].verdict, Verdict::Amplified);
}

#[test]
fn what_is_not_understood_or_scheduled_forbids_it() {
    let scheduled = "kernel saxpy() { global param y: element 4 var t: i32
        havoc t schedule \"clock64\" if t == 0 { write y[0; 4] @0 } }";
    assert_eq!(amplified(scheduled, &saxpy_run("1")).kernels[0].obstacles[0].kind, ObstacleKind::Schedule);
    let unknown = scheduled.replace("schedule \"clock64\"", "call \"f\"");
    assert_eq!(amplified(&unknown, &saxpy_run("1")).kernels[0].obstacles[0].kind, ObstacleKind::Unknown);
}

#[test]
fn floating_point_and_the_architecture_bind_it_to_the_back_end() {
    let computed = SAXPY.replace("if i < n", "let i = int(float(i):opaque4):i32 if i < n");
    let said = amplified(&computed, &saxpy_run("4096"));
    assert_eq!(said.kernels[0].verdict, Verdict::Amplified);
    assert_eq!(said.kernels[0].restrictions.len(), 1);
    assert!(text(&said).contains("on the back end cpu"), "{}", text(&said));
    let kernel = parse(SAXPY).unwrap_or_else(|error| panic!("{error}"));
    let (flow, sources) = (analyze(&kernel), SourceMap::new());
    let subject = Subject { kernel: &kernel, flow: &flow, sources: &sources, architecture: Some("a.cu:7") };
    assert_eq!(amplify(&saxpy_run("4096"), &[subject]).kernels[0].restrictions.len(), 1);
}

#[test]
fn a_kernel_without_source_is_named() {
    let said = amplified(SAXPY, &run(vec![launch("ns::other<int>", &[])]));
    let other = said.kernels.iter().find(|answer| answer.name == "other").expect("it is named");
    assert_eq!(other.obstacles[0].kind, ObstacleKind::NoSource);
    assert_eq!(other.verdict, Verdict::ThisRunOnly);
}

#[test]
fn arguments_are_read_as_logs_have_them() {
    assert_eq!(Argument::parse("@3+16"), Argument::Pointer { allocation: 3, offset: 16 });
    assert_eq!(Argument::parse("-4"), Argument::Value("-4".to_owned()));
    assert_eq!(Argument::parse("2.5e-3"), Argument::Value("2.5e-3".to_owned()));
    for other in ["null", "wild", "struct:00ff", "@x+1"] {
        assert_eq!(Argument::parse(other), Argument::Other(other.to_owned()));
    }
}
