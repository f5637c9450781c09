//! `raceproof cover --data-flow`: accesses and what comes from one to the other, on programs whose pairs are known.

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::{Value, json};

fn cover(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["cover", "--data-flow"], arguments].concat())
}

/// Whether programs are run in this tier.
fn runs() -> bool {
    tools::are_used()
}

/// The report of a run with this argument.
fn report(place: &Place, argument: &str) -> Value {
    let seen = cover(place, &["k.cu", "--format", "json", "--", argument]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}: {}", seen.out))
}

/// Pairs of a report: lines of the store and of the load, way, bytes.
fn pairs(report: &Value) -> Vec<(u64, u64, String, u64)> {
    let number = |value: &Value| value.as_u64().unwrap();
    let of = |pair: &Value| {
        let way = pair["way"].as_str().unwrap().to_owned();
        (number(&pair["store"]["line"]), number(&pair["load"]["line"]), way, number(&pair["bytes"]))
    };
    report["data_flow"]["pairs"].as_array().unwrap().iter().map(of).collect()
}

fn of(all: &[(u64, u64, &str, u64)]) -> Vec<(u64, u64, String, u64)> {
    all.iter().map(|&(store, load, way, bytes)| (store, load, way.to_owned(), bytes)).collect()
}

/// One launch with a tile, and the number that the program is given.
fn program(body: &str) -> String {
    format!(
        "#include <cstdio>\n#include <cstdlib>
__global__ void k(int *out, const int *in, int n) {{
  __shared__ int tile[64];
  int t = threadIdx.x;
{body}
}}
int main(int argc, char **argv) {{
  int n = argc > 1 ? atoi(argv[1]) : 0, *out, *in;
  cudaMalloc(&out, 256); cudaMalloc(&in, 256);
  k<<<1, 64>>>(out, in, n);
  printf(\"ended %d\\n\", (int)cudaDeviceSynchronize());
}}\n"
    )
}

const HANDED: &str = "  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[(t + n) % 64];";

#[test]
fn a_good_test_shows_what_is_handed_over_and_a_bad_one_does_not() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(HANDED))]);
    let bad = cover(&place, &["k.cu", "--output", "0.txt", "--", "0"]);
    assert_eq!(bad.code, Some(0), "{}", bad.err);
    assert_eq!(bad.out.matches("ended 0").count(), 1, "the second run says nothing: {}", bad.out);
    let text = std::fs::read_to_string(place.path().join("0.txt")).unwrap();
    let missed = "k.cu:8:12: tile is never read here as stored by another thread of the block at k.cu:6:3 (in k)";
    assert!(text.lines().any(|line| line == missed), "{text}");
    assert!(text.contains("accesses 100.0 % (4 of 4)") && text.contains("data flow 50.0 % (1 of 2)"), "{text}");
    let good = report(&place, "1");
    assert_eq!(pairs(&good), of(&[(6, 8, "own-across-barrier", 0), (6, 8, "handed-over", 256)]));
    let seen = cover(&place, &["k.cu", "--format", "json", "--output", "0.json", "--", "0"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let both = cover(&place, &["k.cu", "--with", "0.json", "--fail-under", "55", "--", "1"]);
    assert_eq!(both.code, Some(0), "{}{}", both.out, both.err);
    assert!(both.out.contains("data flow 100.0 % (2 of 2)"), "{}", both.out);
    let less = cover(&place, &["k.cu", "--fail-under", "99", "--", "1"]);
    assert_eq!(less.code, Some(1), "{}{}", less.out, less.err);
    let told = "barriers, branches, loops, accesses and data flow: 85.7 % (6 of 7), which is under 99 %";
    assert!(less.err.contains(told), "{}", less.err);
}

#[test]
fn without_a_barrier_there_is_no_other_thread_and_what_races_is_told_apart() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(&HANDED.replace("__syncthreads();", ";")))]);
    let own = report(&place, "0");
    assert_eq!(pairs(&own), of(&[(6, 8, "own", 256)]));
    assert_eq!(own["totals"]["data_flow"], json!({ "reached": 1, "all": 1 }));
    assert!(own["data_flow"].get("unordered").is_none(), "{own}");
    let racy = report(&place, "1");
    // The last thread alone comes behind the one that it reads of.
    assert_eq!(pairs(&racy), of(&[(6, 8, "own", 0)]));
    let unordered = &racy["data_flow"]["unordered"][0];
    assert_eq!(
        (&unordered["store"]["line"], &unordered["load"]["line"], &unordered["bytes"]),
        (&json!(6), &json!(8), &json!(4))
    );
    let seen = cover(&place, &["k.cu", "--", "1"]);
    let told =
        "k.cu:8:12: tile is read here as stored at k.cu:6:3 with nothing that orders the two: not counted (in k)";
    assert!(seen.out.contains(told), "{}", seen.out);
}

#[test]
fn accesses_are_told_by_interval_and_by_how_many_threads() {
    if !runs() {
        return;
    }
    let body = "  for (int i = 0; i < n; i++) {
    if (t == i)
      tile[t] = 1;
    __syncthreads();
    tile[t] += 1;
    __syncthreads();
  }
  if (n > 9)
    out[t] = in[t];";
    let place = Place::with(&[("k.cu", &program(body))]);
    let report = report(&place, "2");
    let all = report["data_flow"]["accesses"].as_array().unwrap();
    let at = |line: u64| all.iter().find(|access| access["line"] == line).unwrap_or_else(|| panic!("{line}: {report}"));
    let numbers = |line: u64| (at(line)["reads"].as_u64().unwrap(), at(line)["writes"].as_u64().unwrap());
    assert_eq!([8, 10, 14].map(numbers), [(0, 2), (128, 128), (0, 0)]);
    assert_eq!(
        (&at(8)["access"], &at(10)["access"], &at(8)["array"]),
        (&json!("write"), &json!("read-write"), &json!("tile"))
    );
    let one = |barriers: u64| json!({ "barriers": barriers, "times": 1, "by_one": 1, "by_several": 0 });
    assert_eq!(at(8)["intervals"], json!([one(0), one(2)]));
    let several = |barriers: u64| json!({ "barriers": barriers, "times": 128, "by_one": 0, "by_several": 1 });
    assert_eq!((&at(10)["intervals"], &at(10)["distinct_intervals"]), (&json!([several(1), several(3)]), &json!(2)));
    assert_eq!(report["totals"]["accesses"], json!({ "reached": 2, "all": 4 }));
}

/// Two kernels that one allocation goes through.
const LAUNCHES: &str = "#include <cstdio>
#include <cstdlib>
__global__ void store(int *a) { a[threadIdx.x] = 1; }
__global__ void load(const int *a, int *o) { o[threadIdx.x] = a[threadIdx.x]; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *a, *o, *b;
  cudaMalloc(&a, 256); cudaMalloc(&o, 256); cudaMalloc(&b, 256);
  if (n == 0) { load<<<1, 32>>>(a, o); store<<<1, 64>>>(a); }
  if (n == 1) { store<<<1, 64>>>(a); load<<<1, 32>>>(a, o); }
  if (n == 2) { store<<<1, 64>>>(a); cudaMemset(a, 0, 256); load<<<1, 32>>>(a, o); }
  if (n == 3) { store<<<1, 64>>>(a); cudaMemcpy(a, o, 128, cudaMemcpyDeviceToDevice); load<<<1, 32>>>(a, o); }
  if (n == 4) { store<<<1, 64>>>(b); load<<<1, 32>>>(a, o); }
  printf(\"ended %d\\n\", (int)cudaDeviceSynchronize());
}\n";

#[test]
fn launches_hand_on_what_nobody_has_written_since() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", LAUNCHES)]);
    // It is foreseen where the launches come in this order, with one allocation, and the host does not fill all of it.
    assert_eq!(pairs(&report(&place, "0")), []);
    assert_eq!(pairs(&report(&place, "1")), of(&[(3, 4, "between-launches", 128)]));
    assert_eq!(pairs(&report(&place, "2")), []);
    assert_eq!(pairs(&report(&place, "3")), of(&[(3, 4, "between-launches", 0)]));
    assert_eq!(pairs(&report(&place, "4")), []);
}

#[test]
fn blocks_hand_over_by_atomics_and_by_barriers_of_the_grid() {
    if !runs() {
        return;
    }
    let text = "#include <cooperative_groups.h>
#include <cstdio>
__device__ int sum;
__global__ void k(int *a, int *o) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  a[g] = g;
  atomicAdd(&sum, 1);
  cooperative_groups::this_grid().sync();
  o[g] = a[(g + 1) % 8];
}
int main() {
  int *a, *o;
  cudaMalloc(&a, 32); cudaMalloc(&o, 32);
  void *given[] = {&a, &o};
  cudaLaunchCooperativeKernel((void *)k, dim3(2), dim3(4), given);
  printf(\"ended %d\\n\", (int)cudaDeviceSynchronize());
}\n";
    let place = Place::with(&[("k.cu", text)]);
    let report = report(&place, "");
    let found = pairs(&report);
    let bytes = |store: u64, load: u64, way: &str| {
        let pair = found.iter().find(|pair| (pair.0, pair.1, pair.2.as_str()) == (store, load, way));
        pair.unwrap_or_else(|| panic!("no {store} to {load} {way}: {found:?}")).3
    };
    assert_eq!([bytes(6, 9, "handed-over"), bytes(6, 9, "between-blocks")], [24, 8]);
    // No thread comes to its own place again.
    assert!(!found.iter().any(|pair| pair.2 == "own-across-barrier"), "{found:?}");
    assert_eq!(bytes(7, 7, "handed-over") + bytes(7, 7, "between-blocks"), 28, "all but the first find a number");
}

#[test]
fn what_no_format_has_room_for_is_left_out_of_it_and_the_page_has_all() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(HANDED))]);
    for (format, name) in [("lcov", "k.info"), ("cobertura", "k.xml")] {
        let with = cover(&place, &["k.cu", "--format", format, "--output", name, "--", "0"]);
        assert_eq!(with.code, Some(0), "{}", with.err);
        let without = place.run(&["cover", "k.cu", "--format", format, "--output", "plain", "--", "0"]);
        assert_eq!(without.code, Some(0), "{}", without.err);
        let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(read(name), read("plain"));
    }
    let page = cover(&place, &["k.cu", "--format", "html", "--", "0"]);
    let told = "<p class=\"missed\">✗ tile is never read here as stored by another thread of the block at k.cu:6:3</p>";
    assert!(
        page.out.contains(told) && page.out.contains("<th scope=\"row\">data flow</th><td>50.0 % (1 of 2)</td>"),
        "{}",
        page.out
    );
}
