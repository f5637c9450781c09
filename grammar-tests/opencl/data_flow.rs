//! `raceproof cover --opencl-host --data-flow`: what comes from one access of an OpenCL program to the other, on a real driver.

use super::host::{alone, assert_told, program, run_as};
use super::run::has_driver;
use crate::cli::Place;
use serde_json::Value;

fn pairs(place: &Place, argument: &str) -> Vec<(u64, u64, String, u64)> {
    let command = ["cover", "--opencl-host", "--data-flow", "--format", "json"];
    let seen = run_as(place, &command, &[argument], &[]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let report: Value = serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    let number = |value: &Value| value.as_u64().unwrap();
    let of = |pair: &Value| {
        assert_eq!(pair["language"], "opencl", "{pair}");
        let way = pair["way"].as_str().unwrap().to_owned();
        (number(&pair["store"]["line"]), number(&pair["load"]["line"]), way, number(&pair["bytes"]))
    };
    report["data_flow"]["pairs"].as_array().unwrap().iter().map(of).collect()
}

fn of(all: &[(u64, u64, &str, u64)]) -> Vec<(u64, u64, String, u64)> {
    all.iter().map(|&(store, load, way, bytes)| (store, load, way.to_owned(), bytes)).collect()
}

const HANDED: &str = "kernel void k(global int *out, int n) {
  local int tile[64];
  int t = get_local_id(0);
  tile[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[(t + n) % 64];
}
";

#[test]
fn what_work_items_hand_over_is_seen_and_missed() {
    if !has_driver() {
        return;
    }
    let main = r#"
  handle out = buffer(512), k = kernel_of(built(text_of("k.cl"), ""), "k");
  give(k, 0, out); give_int(k, 1, count > 1 ? atoi(words[1]) : 0);
  launch(k, 128, 64);
  print(out, 128);"#;
    let place = program(HANDED, main);
    let own = alone(&place, &["0"]);
    let seen = run_as(&place, &["cover", "--opencl-host", "--data-flow"], &["0"], &[]);
    let told = [
        "k.cl:6:27: tile is never read here as stored by another work-item of the work-group at k.cl:4:3 (in k)",
        "accesses 100.0 % (3 of 3)",
        "data flow 50.0 % (1 of 2)",
    ];
    assert_told(&seen, 0, &told);
    assert!(seen.out.starts_with(&own) && seen.out.matches(&own).count() == 1, "{seen:?}");
    assert_eq!(pairs(&place, "1"), of(&[(4, 6, "own-across-barrier", 0), (4, 6, "handed-over", 512)]));
}

#[test]
fn launches_hand_on_what_the_host_has_not_written_since() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void store(global int *a) { a[get_global_id(0)] = 1; }
kernel void load(global const int *a, global int *o) { o[get_global_id(0)] = a[get_global_id(0)]; }
";
    let main = r#"
  handle text = built(text_of("k.cl"), ""), first = kernel_of(text, "store"), second = kernel_of(text, "load");
  handle a = buffer(256), o = buffer(256);
  int n = count > 1 ? atoi(words[1]) : 0;
  give(first, 0, a); give(second, 0, a); give(second, 1, o);
  fill(a, 64);
  if (n > 0) launch(first, 64, 64);
  if (n == 2) fill(a, 64);
  if (n == 3) fill(a, 16);
  launch(second, 64, 64);
  print(o, 64);"#;
    let place = program(kernels, main);
    assert_eq!(pairs(&place, "0"), []);
    assert_eq!(pairs(&place, "1"), of(&[(1, 2, "between-launches", 256)]));
    assert_eq!(pairs(&place, "2"), []);
    assert_eq!(pairs(&place, "3"), of(&[(1, 2, "between-launches", 192)]));
}
