//! `raceproof adequacy`: what is said of tests that are known to miss something, and of launches that do better.

use crate::cli::Place;
use crate::support::tools;
use serde_json::Value;

const PROGRAM: &str = "#include <cstdio>
__global__ void scale(int *x, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mode == 77) x[i] = 5;
  for (int k = 0; k < 4; k++) x[i] += k * mode;
}
__global__ void never(int *x) { x[threadIdx.x] = 1; }
int main() {
  int *x, h[64];
  cudaMalloc(&x, sizeof h);
  scale<<<1, 64>>>(x, 64, 0);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf(\"%d\\n\", h[3]);
  return cudaDeviceSynchronize();
}
";

#[test]
fn what_tests_miss_is_told_with_the_launches_that_do_better() {
    if !tools::are_used() {
        return;
    }
    let place = Place::with(&[("k.cu", PROGRAM)]);
    let seen =
        place.run(&["adequacy", "k.cu", "--time", "120", "--schedules", "2", "--mutants", "40", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let report: Value = serde_json::from_str(&seen.out).unwrap();
    let gaps = report["gaps"].as_array().unwrap();
    let places: Vec<(u64, bool)> =
        gaps.iter().map(|gap| (gap["line"].as_u64().unwrap(), gap["is_filled"].as_bool().unwrap())).collect();
    // Of the loop, which always has four turns, nothing is missed.
    assert_eq!(places, [(4, true), (5, true)], "{}", seen.out);
    assert_eq!(report["unlaunched"][0]["kernel"], "never");
    assert_eq!(report["totals"]["loops"]["all"], 1, "{}", seen.out);
    // The program multiplies by 0: it cannot tell what is multiplied.
    let faults = report["faults"].as_array().unwrap();
    let of_product = |fault: &&Value| fault["line"] == 6 || fault["start"]["line"] == 6;
    let told_apart =
        faults.iter().filter(of_product).filter(|fault| !fault["told_apart_by"].as_array().unwrap().is_empty());
    assert!(told_apart.count() > 0, "{}", seen.out);
    assert_eq!(report["schedules"]["findings"].as_array().unwrap().len(), 0);
    for name in ["adequacy.txt", "adequacy.html", "adequacy.json", "launches/scale.toml", "launches/never.toml"] {
        assert!(place.path().join("adequacy.out").join(name).is_file(), "{name}");
    }
    let text = std::fs::read_to_string(place.path().join("adequacy.out/adequacy.txt")).unwrap();
    assert!(text.contains("never: no test launches it; adequacy.out/launches/never.toml does"), "{text}");
    // A launch that is named reaches what it is named for.
    let covered = place.run(&["cover", "k.cu", "--launch", "adequacy.out/launches/scale.toml"]);
    assert!(!covered.out.contains("k.cu:5:7"), "{}", covered.out);
    let less = place.run(&[
        "adequacy",
        "k.cu",
        "--time",
        "5",
        "--schedules",
        "0",
        "--mutants",
        "5",
        "--fail-under",
        "99",
        "--minimum-score",
        "0",
    ]);
    assert_eq!(less.code, Some(1), "{}{}", less.out, less.err);
    assert!(less.err.contains("which is under 99 %"), "{}", less.err);
}

#[test]
fn results_that_depend_on_the_schedule_are_part_of_the_report() {
    if !tools::are_used() {
        return;
    }
    let text = "#include <cstdio>
__global__ void last(int *x) { if (threadIdx.x == 0) x[0] = blockIdx.x; }
int main() {
  int *x, h;
  cudaMalloc(&x, 4);
  last<<<4, 32>>>(x);
  cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
  printf(\"%d\\n\", h);
  return cudaDeviceSynchronize();
}
";
    let place = Place::with(&[("k.cu", text)]);
    let arguments = ["adequacy", "k.cu", "--time", "5", "--schedules", "6", "--mutants", "4", "--output", "found"];
    let seen = place.run(&arguments);
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("gives something else in last"), "{}", seen.out);
    assert!(!place.path().join("adequacy.out").exists());
    let page = std::fs::read_to_string(place.path().join("found/adequacy.html")).unwrap();
    assert!(page.contains("What depends on the schedule"), "{page}");
    let seen = place.run(&["adequacy", "--opencl-host", "--", "./program"]);
    assert_eq!((seen.code, seen.err.contains("cover --opencl-host")), (Some(2), true), "{}", seen.err);
}
