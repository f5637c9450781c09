//! Sessions with solvers that lie, hang, flood, print garbage or die, and with real ones where there are any.

use super::find::find_in;
use super::*;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn limits(millis: u64) -> Limits {
    Limits { resources: 1_000_000, deadline: Instant::now() + Duration::from_millis(millis) }
}

/// A shell script that plays a solver: `body` runs once for each line that it reads, in `$line`.
#[cfg(unix)]
fn fake(directory: &Path, body: &str) -> Solver {
    use std::os::unix::fs::PermissionsExt;
    let program = directory.join("z3");
    fs::write(&program, format!("#!/bin/sh\nwhile read -r line; do\n{body}\ndone\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Solver { kind: SolverKind::Z3, program }
}

/// Echoes what it is told to echo, and does `on_check` when asked.
fn answering(on_check: &str) -> String {
    format!(
        "case \"$line\" in\n '(check-sat)') {on_check} ;;\n '(echo '*) w=${{line#'(echo \"'}}; echo \"${{w%'\")'}}\" ;;\nesac"
    )
}

#[cfg(unix)]
fn asked(on_check: &str) -> (Answer, Duration) {
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session::new(fake(directory.path(), &answering(on_check)));
    let mut terms = Terms::new();
    let p = terms.symbol("p", Sort::Bool);
    session.assert(&terms, p);
    let start = Instant::now();
    let answer = session.check(limits(1_500));
    (answer, start.elapsed())
}

#[cfg(unix)]
#[test]
fn a_solver_that_answers_is_believed_for_what_it_says() {
    assert_eq!(asked("echo sat").0, Answer::Sat);
    assert_eq!(asked("echo unsat").0, Answer::Unsat);
    assert_eq!(asked("echo unknown").0, Answer::Unknown(Trouble::GaveUp("z3")));
}

#[cfg(unix)]
#[test]
fn garbage_is_no_answer() {
    for garbage in
        ["echo satisfied", "echo '(error \"line 1: no\")'", "echo unsat; echo sat", ":", "printf '\\377\\000x\\n'"]
    {
        let (answer, _) = asked(garbage);
        assert!(matches!(answer, Answer::Unknown(Trouble::Garbage { .. })), "{garbage}: {answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_solver_that_hangs_is_left_at_the_deadline() {
    let (answer, took) = asked("exec sleep 60");
    assert_eq!(answer, Answer::Unknown(Trouble::Late("z3")));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[cfg(unix)]
#[test]
fn a_solver_that_dies_is_noticed_at_once() {
    for death in ["exit 1", "echo uns; exit 0", "kill -9 $$"] {
        assert_eq!(asked(death).0, Answer::Unknown(Trouble::Died("z3")), "{death}");
    }
}

#[cfg(unix)]
#[test]
fn a_flood_is_stopped() {
    let (answer, _) = asked("exec cat /dev/zero");
    assert!(matches!(answer, Answer::Unknown(Trouble::Garbage { .. } | Trouble::Late(_))), "{answer:?}");
}

#[cfg(unix)]
#[test]
fn a_solver_that_reads_nothing_keeps_nobody_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let solver = fake(directory.path(), "exec sleep 60");
    let mut session = Session::new(solver);
    let mut terms = Terms::new();
    for index in 0..20_000 {
        let p = terms.symbol(format!("a long name that fills the pipe {index}"), Sort::Bool);
        session.assert(&terms, p);
    }
    let start = Instant::now();
    assert_eq!(session.check(limits(500)), Answer::Unknown(Trouble::Late("z3")));
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Answers by question, and how many were asked for in vain.
#[derive(Debug, Default)]
struct Notes(Mutex<(HashMap<String, Answer>, usize)>);

impl Memory for Notes {
    fn known(&self, question: &str) -> Option<Answer> {
        let mut notes = self.0.lock().unwrap();
        let known = notes.0.get(question).cloned();
        notes.1 += usize::from(known.is_none());
        known
    }

    fn remember(&self, question: &str, answer: &Answer) {
        self.0.lock().unwrap().0.insert(question.to_owned(), answer.clone());
    }
}

#[cfg(unix)]
#[test]
fn what_is_remembered_is_not_asked_again_but_for_its_model() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let body = format!(
        "echo \"$line\" >> {}\ncase \"$line\" in '(get-value'*) echo '((p true))' ;; esac\n{}",
        log.display(),
        answering("echo sat")
    );
    let solver = fake(directory.path(), &body);
    let notes = Arc::new(Notes::default());
    let asked = |times: usize| {
        let heard = fs::read_to_string(&log).unwrap_or_default();
        assert_eq!(heard.lines().filter(|line| *line == "(check-sat)").count(), times, "{heard}");
    };
    let mut terms = Terms::new();
    let [p, q] = ["p", "q"].map(|name| terms.symbol(name, Sort::Bool));
    for round in 0..3 {
        let mut session = Session::new(solver.clone()).with_memory(notes.clone());
        session.assert(&terms, p);
        assert_eq!(session.check(limits(60_000)), Answer::Sat);
        asked(1 + usize::from(round == 2));
        if round == 1 {
            let values = session.values(&terms, &[p], Instant::now() + Duration::from_secs(60)).unwrap();
            assert_eq!(values, [Some(Value::Bool(true))]);
            asked(2);
        }
    }
    // Another assertion or another limit is another question.
    let mut session = Session::new(solver).with_memory(notes.clone());
    session.assert(&terms, p);
    session.check(Limits { resources: 7, ..limits(60_000) });
    asked(3);
    session.push();
    session.assert(&terms, q);
    session.check(limits(60_000));
    asked(4);
    session.pop();
    assert_eq!(session.check(limits(60_000)), Answer::Sat);
    asked(4);
    assert_eq!(notes.0.lock().unwrap().1, 3);
}

#[cfg(unix)]
#[test]
fn what_a_clock_or_a_failure_decides_is_not_remembered() {
    // Only the first waits for its deadline, however busy the machine is.
    for (on_check, millis, is_remembered) in [
        ("exec sleep 60", 500, false),
        ("exit 1", 60_000, false),
        ("echo oops", 60_000, false),
        ("echo unknown", 60_000, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let notes = Arc::new(Notes::default());
        let mut session = Session::new(fake(directory.path(), &answering(on_check))).with_memory(notes.clone());
        session.check(limits(millis));
        assert_eq!(notes.0.lock().unwrap().0.len(), usize::from(is_remembered), "{on_check}");
    }
}

#[cfg(unix)]
#[test]
fn after_a_death_the_next_process_is_told_everything() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mark = directory.path().join("died");
    let body = format!(
        "echo \"$line\" >> {}\n{}",
        log.display(),
        answering(&format!("if [ -e {0} ]; then echo unsat; else : > {0}; exit 1; fi", mark.display()))
    );
    let mut session = Session::new(fake(directory.path(), &body));
    let mut terms = Terms::new();
    let (p, q) = (terms.symbol("p", Sort::Bool), terms.symbol("q", Sort::Bool));
    session.assert(&terms, p);
    session.push();
    session.assert(&terms, q);
    assert_eq!(session.check(limits(60_000)), Answer::Unknown(Trouble::Died("z3")));
    fs::remove_file(&log).unwrap();
    assert_eq!(session.check(limits(60_000)), Answer::Unsat);
    let told = fs::read_to_string(&log).unwrap();
    let wanted = ["(declare-const |p!0| Bool)", "(assert |p!0|)", "(push 1)", "(assert |q!1|)", "(check-sat)"];
    let mut at = 0;
    for line in wanted {
        at += told[at..].find(line).unwrap_or_else(|| panic!("no {line} after byte {at} of {told}"));
    }
}

#[cfg(unix)]
#[test]
fn a_solver_that_keeps_failing_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session::new(fake(directory.path(), &answering("exit 3")));
    let seen: Vec<Answer> = (0..5).map(|_| session.check(limits(60_000))).collect();
    assert!(seen[..3].iter().all(|answer| *answer == Answer::Unknown(Trouble::Died("z3"))), "{seen:?}");
    assert!(seen[3..].iter().all(|answer| *answer == Answer::Unknown(Trouble::Abandoned("z3"))), "{seen:?}");
    session.reset();
    assert_eq!(session.check(limits(60_000)), Answer::Unknown(Trouble::Died("z3")));
}

#[cfg(unix)]
#[test]
fn a_model_that_cannot_be_read_is_no_model() {
    let directory = tempfile::tempdir().unwrap();
    let body = answering("echo sat").replace("esac", " '(get-value '*) echo '((x banana))' ;;\nesac");
    let mut session = Session::new(fake(directory.path(), &body));
    let mut terms = Terms::new();
    let x = terms.symbol("x", Sort::Int);
    let zero = terms.int(0);
    let positive = terms.apply(Op::Lt, vec![zero, x]);
    session.assert(&terms, positive);
    assert_eq!(session.check(limits(60_000)), Answer::Sat);
    let model = session.values(&terms, &[x], Instant::now() + Duration::from_secs(5));
    assert!(matches!(model, Err(Trouble::Garbage { .. })), "{model:?}");
}

#[test]
fn a_solver_that_is_not_there_is_named() {
    let mut session = Session::new(Solver { kind: SolverKind::Cvc5, program: PathBuf::from("/nowhere/cvc5") });
    let answer = session.check(limits(1_000));
    assert!(matches!(answer, Answer::Unknown(Trouble::NotStarted { solver: "cvc5", .. })), "{answer:?}");
}

#[cfg(unix)]
#[test]
fn solvers_are_found_by_variable_or_on_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let there = fake(directory.path(), ":");
    let path = Some(directory.path().as_os_str().to_owned());
    assert_eq!(find_in(SolverKind::Z3, None, path.clone()), Some(there.clone()));
    assert_eq!(find_in(SolverKind::Cvc5, None, path.clone()), None);
    assert_eq!(find_in(SolverKind::Z3, Some(there.program.clone().into()), None), Some(there));
    assert_eq!(find_in(SolverKind::Z3, Some("/nowhere/z3".into()), path), None, "what is named is not replaced");
    fs::write(directory.path().join("cvc5"), "not a program").unwrap();
    assert_eq!(find_in(SolverKind::Cvc5, None, Some(directory.path().into())), None);
}

/// Solvers of this machine; none is an error where `RACEPROOF_NEED_SOLVERS` is set, as `scripts/test` does.
fn real(kind: SolverKind) -> Option<Session> {
    let found = find(kind);
    if found.is_none() {
        let needed = std::env::var_os("RACEPROOF_NEED_SOLVERS").is_some();
        assert!(!needed || kind == SolverKind::Bitwuzla, "{} is missing, and needed", kind.name());
        eprintln!("skipped: {} is not on this machine", kind.name());
    }
    found.map(Session::new)
}

#[test]
fn real_solvers_answer_with_models_and_stay_incremental() {
    for mut session in [SolverKind::Z3, SolverKind::Cvc5].into_iter().filter_map(real) {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", Sort::Int), terms.symbol("a |name\\", Sort::Int));
        let (two, seven) = (terms.int(2), terms.int(-7));
        let twice = terms.apply(Op::Mul, vec![two, x]);
        let sum = terms.apply(Op::Add, vec![twice, y]);
        let equation = terms.eq(sum, seven);
        session.assert(&terms, equation);
        assert_eq!(session.check(limits(20_000)), Answer::Sat);
        session.push();
        let rest = terms.apply(Op::Mod, vec![y, two]);
        let zero = terms.int(0);
        let even = terms.eq(rest, zero);
        session.assert(&terms, even);
        assert_eq!(session.check(limits(20_000)), Answer::Unsat, "{}", session.script());
        session.pop();
        assert_eq!(session.check(limits(20_000)), Answer::Sat);
        let unused = terms.symbol("unused", Sort::Bool);
        let values = session.values(&terms, &[x, unused, y], Instant::now() + Duration::from_secs(20)).unwrap();
        let number = |at: usize| values[at].and_then(Value::number).unwrap();
        assert_eq!(2 * number(0) + number(2), -7);
        assert_eq!(values[1], None);
        session.reset();
        let wide = terms.symbol("wide", Sort::Bits(32));
        let three = terms.bits(3, 32);
        let masked = terms.apply(Op::BvAnd, vec![wide, three]);
        let low = terms.apply(Op::Low(8), vec![masked]);
        let big = terms.bits(4, 8);
        let impossible = terms.apply(Op::BvUle, vec![big, low]);
        session.assert(&terms, impossible);
        assert_eq!(session.check(limits(20_000)), Answer::Unsat, "{}", session.script());
    }
}

#[test]
fn every_solver_decides_bit_vectors_and_stays_incremental() {
    for mut session in SolverKind::ALL.into_iter().filter_map(real) {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", Sort::Bits(32)), terms.symbol("a |name\\", Sort::Bits(32)));
        let (sum, seven) = (terms.apply(Op::BvAdd, vec![x, y]), terms.bits(7, 32));
        let equation = terms.eq(sum, seven);
        session.assert(&terms, equation);
        assert_eq!(session.check(limits(20_000)), Answer::Sat, "{}", session.script());
        session.push();
        let one = terms.bits(1, 32);
        let equal = terms.eq(x, y);
        session.assert(&terms, equal);
        assert_eq!(session.check(limits(20_000)), Answer::Unsat, "{}", session.script());
        session.pop();
        assert_eq!(session.check(limits(20_000)), Answer::Sat, "{}", session.script());
        let values = session.values(&terms, &[x, y], Instant::now() + Duration::from_secs(20)).unwrap();
        let number = |at: usize| values[at].and_then(Value::number).unwrap();
        assert_eq!((number(0) + number(1)).rem_euclid(1 << 32), 7);
        // The question after a reset knows nothing of the one before.
        session.reset();
        let odd = terms.apply(Op::BvAnd, vec![x, one]);
        let is_odd = terms.eq(odd, one);
        session.assert(&terms, is_odd);
        assert_eq!(session.check(limits(20_000)), Answer::Sat, "{}", session.script());
    }
}

#[test]
fn effort_is_counted() {
    let Some(mut session) = real(SolverKind::Z3) else { return };
    let mut terms = Terms::new();
    // A sum of three cubes that nobody finds in a moment.
    let cubes: Vec<TermId> = ["x", "y", "z"]
        .into_iter()
        .map(|name| {
            let x = terms.symbol(name, Sort::Int);
            terms.apply(Op::Mul, vec![x, x, x])
        })
        .collect();
    let sum = terms.apply(Op::Add, cubes);
    let wanted = terms.int(42);
    let equation = terms.eq(sum, wanted);
    session.assert(&terms, equation);
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = session.check(Limits { resources: 20_000, deadline });
    assert_eq!(answer, Answer::Unknown(Trouble::GaveUp("z3")));
    assert!(Instant::now() < deadline);
}
