//! `raceproof mutate --opencl-host`: what becomes of the mutants of host programs with a good test, with a bad one, and with proofs.

use super::host::{assert_told, program, run_as};
use super::run::{Seen, has_driver, seen_of};
use crate::cli::Place;
use raceproof::mutation::Operator;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn mutate(place: &Place, options: &[&str], arguments: &[&str]) -> Seen {
    run_as(place, &[&["mutate", "--opencl-host", "--repetitions", "1"], options].concat(), arguments, &[])
}

/// The mutants that a campaign left in a directory.
fn outcomes(place: &Place, directory: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join(directory).join("outcomes.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    report["mutants"].as_array().unwrap().clone()
}

fn text<'v>(mutant: &'v Value, field: &str) -> &'v str {
    mutant[field].as_str().unwrap_or_default()
}

/// Line, operator, replacement and status of all mutants of a directory that an operator made.
fn of_operator(place: &Place, directory: &str, operator: Operator) -> Vec<(u64, String, String)> {
    let all = outcomes(place, directory);
    let of = all.iter().filter(|mutant| text(mutant, "operator") == operator.name());
    let told = |mutant: &Value| {
        let line = mutant["start"]["line"].as_u64().unwrap();
        (line, text(mutant, "replacement").to_owned(), text(mutant, "status").to_owned())
    };
    of.map(told).collect()
}

/// Kernels in which every operator for kernels finds something.
const EVERYTHING: &str = "kernel void turn(global int *out, global const int *in, local int *tile, int n) {
  int t = get_local_id(0), i = get_global_id(0);
  if (i < n) tile[t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n && i != 5) out[i] = tile[get_local_size(0) - 1 - t];
}
kernel void count(global int *bins, global const int *in, int n) {
  local int part[4];
  int t = get_local_id(0);
  if (t < 4) part[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = t; k < n; k += get_local_size(0)) atomic_add(&part[in[k] & 3], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 4) bins[t] = part[t];
  atomic_fetch_add((volatile global atomic_int *)&bins[4], 1);
  atomic_fetch_add_explicit((volatile global atomic_int *)&bins[5], 1, memory_order_relaxed, memory_scope_device);
}
kernel void sums(global int *out, global const int *in, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum += in[k] * 3 - k;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  out[get_local_id(0)] = sum;
}
";

/// With the argument `good` all results are looked at; otherwise kernels are launched with one work-item and nothing to do, and nobody looks.
const MAIN: &str = r#"
  int good = !strcmp(words[1], "good"), n = good ? 128 : 0, items = good ? 64 : 1;
  handle in = buffer(1024), out = buffer(1024), program = built(text_of("k.cl"), "-cl-std=CL3.0");
  handle turn = kernel_of(program, "turn"), bins = kernel_of(program, "count"), sums = kernel_of(program, "sums");
  fill(in, 256); fill(out, 256);
  give(turn, 0, out); give(turn, 1, in); give_int(turn, 3, n);
  NEED(clSetKernelArg(turn, 2, 512, NULL));
  launch(turn, good ? 192 : 1, items);
  if (good) print(out, 200);
  give(bins, 0, out); give(bins, 1, in); give_int(bins, 2, n - n / 6);
  launch(bins, items, items);
  if (good) print(out, 200);
  give(sums, 0, out); give(sums, 1, in); give_int(sums, 2, n);
  launch(sums, items, items);
  if (good) print(out, 200);
  clFinish(queue);
  printf("ended\n");"#;

/// What host programs have no mutants of.
const OF_HOSTS: [Operator; 2] = [Operator::GridChanged, Operator::BlockChanged];

/// What no run on a driver shows that runs the work-items of a group one after the other.
const NEVER_SEEN: [Operator; 6] = [
    Operator::ScopeWeakened,
    Operator::FenceRemoved,
    Operator::FenceNarrowed,
    Operator::BarrierNarrowed,
    Operator::AtomicSplit,
    Operator::BarrierConditional,
];

#[test]
fn every_operator_has_a_mutant_that_a_good_test_kills_and_a_bad_one_finds_none() {
    if !has_driver() {
        return;
    }
    let place = program(EVERYTHING, MAIN);
    let became = |test: &str, operators: &[&str]| -> BTreeMap<u64, Value> {
        let seen = mutate(&place, &[&["--no-proofs", "--output", test], operators].concat(), &[test]);
        assert_told(&seen, 0, &["mutation score", "executing the program to learn what it builds"]);
        outcomes(&place, test).into_iter().map(|mutant| (mutant["id"].as_u64().unwrap(), mutant)).collect()
    };
    let (good, bad) = (became("good", &[]), became("bad", &["--operators", "store-removed,guard-negated"]));
    let is = |mutant: &Value, wanted: &[&str]| wanted.contains(&text(mutant, "status"));
    assert!(bad.len() > 5 && bad.values().all(|mutant| is(mutant, &["survived", "not-reached"])), "{bad:?}");
    // One program has the same mutants, whatever its arguments.
    assert!(bad.iter().all(|(id, mutant)| good[id]["diff"] == mutant["diff"]));
    let told_apart: BTreeSet<&str> = good
        .values()
        .filter(|mutant| is(mutant, &["killed", "timeout"]))
        .map(|mutant| text(mutant, "operator"))
        .collect();
    let of_kernels = Operator::ALL.into_iter().filter(|operator| !OF_HOSTS.contains(operator));
    let seen = of_kernels.clone().filter(|operator| !NEVER_SEEN.contains(operator));
    let missing: Vec<&str> = seen.map(Operator::name).filter(|name| !told_apart.contains(name)).collect();
    assert!(missing.is_empty(), "no mutant of {missing:?} is killed by the good test alone");
    let met: BTreeSet<&str> = good.values().map(|mutant| text(mutant, "operator")).collect();
    assert_eq!(met, of_kernels.map(Operator::name).collect(), "there is a mutant of every operator for kernels");
    // What OpenCL writes in its own way.
    let replaced = |operator| -> Vec<String> {
        of_operator(&place, "good", operator).into_iter().map(|(_, replacement, _)| replacement).collect()
    };
    assert_eq!(replaced(Operator::BarrierNarrowed), ["barrier(CLK_GLOBAL_MEM_FENCE)"; 3]);
    assert_eq!(replaced(Operator::FenceNarrowed), ["mem_fence(CLK_LOCAL_MEM_FENCE)"]);
    let narrow = "memory_scope_work_group";
    let weaker = replaced(Operator::ScopeWeakened);
    assert!(weaker[0].starts_with("atomic_fetch_add_explicit(") && weaker[0].contains(narrow), "{weaker:?}");
    assert_eq!(weaker[1..], [narrow]);
    assert!(of_operator(&place, "good", Operator::MemorySwapped).contains(&(5, "in".to_owned(), "killed".to_owned())));
    assert!(replaced(Operator::IdSwapped).contains(&"get_local_id(1)".to_owned()));
    assert_eq!(replaced(Operator::BarrierConditional)[0], "if (get_local_id(0) % 2 == 0) barrier(CLK_LOCAL_MEM_FENCE)");
    // A second run of the same campaign knows all outcomes.
    let again = mutate(&place, &["--no-proofs", "--output", "good"], &["good"]);
    assert_told(&again, 0, &["outcomes are known from before"]);
    assert!(!again.err.contains("executing 1"), "{again:?}");
}

/// A mutant that is no program, macros that bring a whole part and a piece of one, a text with two builds, a header, a line that is left
/// alone, and statements that nobody comes to.
#[test]
fn what_is_no_program_or_not_reached_or_left_alone_is_told_as_that() {
    if !has_driver() {
        return;
    }
    let kernels = "#include \"of_all.h\"
#define STEP 2
#define SUM i + STEP
kernel void k(global int *y, int n) {
  int i = get_global_id(0);
#ifdef FIRST
  global int *p = y + i;
  *p = once(i) + STEP;
#else
  y[i] = 3 * SUM;
#endif
  if (i > 900) y[0] = 5 - n; // raceproof: no-mutants[guard-negated] nobody comes here
}
";
    let main = r#"
  handle y = buffer(256), first = kernel_of(built(text_of("k.cl"), "-DFIRST -I."), "k");
  handle second = kernel_of(built(text_of("k.cl"), "-I."), "k");
  give(first, 0, y); give_int(first, 1, 7); launch(first, 16, 8); print(y, 16);
  give(second, 0, y); give_int(second, 1, 7); launch(second, 16, 8); print(y, 16);"#;
    let place = program(kernels, main);
    place.put("of_all.h", b"int once(int i) { return i * 1; }\n");
    let seen = mutate(&place, &["--no-proofs", "--minimum-score", "100"], &[]);
    assert_told(&seen, 1, &["k.cl: not mutated: what it includes", "which is under 100 %"]);
    let of = |operator| of_operator(&place, "mutants.out", operator);
    let status = |line: u64, replacement: &str, status: &str| (line, replacement.to_owned(), status.to_owned());
    let arithmetic = of(Operator::ArithmeticReplaced);
    // Pointers are added to and not multiplied with.
    assert!(arithmetic.contains(&status(7, "y * i", "unviable")), "{arithmetic:?}");
    assert!(arithmetic.contains(&status(8, "once(i) - STEP", "killed")), "{arithmetic:?}");
    // What stands behind `*` is a part of what SUM brings.
    assert!(arithmetic.iter().all(|(line, ..)| *line != 10), "{arithmetic:?}");
    assert_eq!(of(Operator::GuardNegated), [status(12, "!(i > 900)", "suppressed")]);
    assert!(of(Operator::IndexShifted).contains(&status(12, "(0) + 1", "not-reached")));
    let stores = of(Operator::StoreRemoved);
    assert_eq!(
        stores.iter().map(|(line, _, status)| (*line, &**status)).collect::<Vec<_>>(),
        [(8, "killed"), (10, "killed"), (12, "not-reached")]
    );
    assert!(place.path().join("mutants.out/mutation-report.html").is_file());
    let listed = mutate(&place, &["--list", "--operators", "store-removed"], &[]);
    assert_eq!(listed.out.lines().count(), 3, "{listed:?}");
    let shares: usize = ["1/3", "2/3", "3/3"]
        .iter()
        .map(|share| mutate(&place, &["--list", "--shard", share], &[]).out.lines().count())
        .sum();
    assert_eq!(shares, outcomes(&place, "mutants.out").len());
}

#[test]
fn mutants_of_which_something_is_proved_are_not_run() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *restrict y, global const int *restrict x, local int *t, int n) {
  int l = get_local_id(0);
  t[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = t[get_local_size(0) - 1 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
}
";
    let main = r#"
  handle x = buffer(256), y = buffer(256), k = kernel_of(built(text_of("k.cl"), ""), "k");
  fill(x, 64);
  give(k, 0, y); give(k, 1, x); give_int(k, 3, 7); NEED(clSetKernelArg(k, 2, 32, NULL));
  launch(k, 64, 8); print(y, 64);"#;
    let place = program(kernels, main);
    let seen = mutate(&place, &["--operators", "barrier-removed,barrier-narrowed"], &[]);
    assert_told(&seen, 0, &["proved equivalent      2", "proved racy            2"]);
    let status = |line: u64, replacement: &str, status: &str| (line, replacement.to_owned(), status.to_owned());
    let of = |operator| of_operator(&place, "mutants.out", operator);
    assert_eq!(of(Operator::BarrierRemoved), [status(4, "", "racy"), status(6, "", "equivalent")]);
    let other = "barrier(CLK_GLOBAL_MEM_FENCE)";
    assert_eq!(of(Operator::BarrierNarrowed), [status(4, other, "racy"), status(6, other, "equivalent")]);
}

#[test]
fn what_cannot_be_mutated_is_told() {
    let place = Place::with(&[("k.cl", "kernel void k(int n) { }\n")]);
    for (arguments, told) in [
        (&["mutate", "--opencl-host"][..], "name the program behind --"),
        (&["mutate", "--opencl-host", "--seed", "3", "--", "./p"], "each repetition has an order of its own"),
        (&["mutate", "--opencl-host", "--backend", "cuda", "--", "./p"], "leave --backend out"),
        (&["mutate", "k.cl"], "`raceproof mutate --opencl-host -- PROGRAM`"),
        (&["mutate", "--opencl-host", "--", "true"], "launched no kernel"),
    ] {
        assert_told(&seen_of(&mut place.command(arguments)), 2, &[told]);
    }
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) { y[get_global_id(0)] = 4; }\n";
    let main = "handle y = buffer(256), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\"); give(k, 0, y); launch(k, 8, 8); print(y, 8); return 3;";
    assert_told(&mutate(&program(kernels, main), &[], &[]), 2, &["the program itself exits with status 3"]);
}
