//! `raceproof mutate`: what becomes of the mutants of programs with a good test, with a bad one, and with proofs.

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn mutate(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["mutate"], arguments].concat())
}

/// Whether programs are run in this tier.
fn runs() -> bool {
    tools::are_used()
}

fn read(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.path().join(file)).unwrap()
}

/// The mutants that a campaign left in a directory.
fn outcomes(place: &Place, directory: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(&read(place, &format!("{directory}/outcomes.json"))).unwrap();
    report["mutants"].as_array().unwrap().clone()
}

fn text<'v>(mutant: &'v Value, field: &str) -> &'v str {
    mutant[field].as_str().unwrap_or_default()
}

/// Kernels in which every operator finds something. With the argument `good` all results are looked at; otherwise
/// kernels are launched with one thread and nothing to do, and nobody looks.
const EVERYTHING: &str = r#"#include <cstdio>
#include <cstring>
__global__ void turn(int *out, const int *in, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && t >= 0) tile[t] = in[i];
  __syncthreads();
  if (i < n) out[i] = tile[blockDim.x - 1 - t];
}
__global__ void count(int *bins, const int *in, int n) {
  __shared__ int part[4];
  if (threadIdx.x < 4) part[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) atomicAdd(&part[in[k] & 3], 1);
  __syncthreads();
  if (threadIdx.x < 4) bins[threadIdx.x] = part[threadIdx.x];
}
__global__ void sums(int *out, const int *in, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum += in[k] * 3 - k;
  out[threadIdx.x] = sum;
}
__global__ void told(int *data, int *ready, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && n > 0) {
    data[0] = 7;
    __threadfence();
    atomicExch(ready, 1);
  }
}
__global__ void marks(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i != 5) out[i] = 1;
}
__global__ void total(int *out, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x < n) atomicAdd(out, 2);
}
int main(int argc, char **argv) {
  bool good = argc > 1 && !strcmp(argv[1], "good");
  int *in, *out, *ready;
  cudaMallocManaged(&in, 512 * sizeof(int));
  cudaMallocManaged(&out, 512 * sizeof(int));
  cudaMallocManaged(&ready, sizeof(int));
  for (int i = 0; i < 512; i++) in[i] = 1 + i * 7 % 11, out[i] = -1;
  *ready = 0;
  int n = good ? 128 : 0, threads = good ? 64 : 1;
  turn<<<good ? 2 : 1, threads>>>(out, in, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) if (out[i] != in[i / 64 * 64 + 63 - i % 64]) return 1;
  for (int i = n; good && i < 512; i++) if (out[i] != -1) return 1;
  count<<<1, threads>>>(out, in, n);
  cudaDeviceSynchronize();
  int bins[4] = {0, 0, 0, 0};
  for (int i = 0; i < n; i++) bins[in[i] & 3]++;
  for (int i = 0; good && i < 4; i++) if (out[i] != bins[i]) return 1;
  sums<<<1, threads>>>(out, in, n);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < n; i++) sum += in[i] * 3 - i;
  for (int i = 0; good && i < 64; i++) if (out[i] != sum) return 1;
  told<<<1, threads>>>(out, ready, n);
  cudaDeviceSynchronize();
  if (good && (out[0] != 7 || *ready != 1)) return 1;
  for (int i = 0; i < 512; i++) out[i] = 0;
  marks<<<good ? 3 : 1, threads>>>(out, good ? 150 : 0);
  cudaDeviceSynchronize();
  for (int i = 0; good && i < 512; i++) if (out[i] != (i < 150 && i != 5)) return 1;
  out[0] = 0;
  total<<<good ? 3 : 1, threads>>>(out, good ? 150 : 0);
  cudaDeviceSynchronize();
  if (good && out[0] != 300) return 1;
  printf("ended\n");
}
"#;

/// What no run on the CPU shows, whose threads see each other's writes at once, nor any proof: a missing fence is a possible race.
const NEVER_SEEN: [&str; 2] = ["fence-removed", "fence-narrowed"];

#[test]
fn every_operator_has_a_mutant_that_a_good_test_kills_and_a_bad_one_does_not() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", EVERYTHING)]);
    let became = |test: &str| -> BTreeMap<u64, Value> {
        let seen = mutate(&place, &["k.cu", "--no-proofs", "--repetitions", "1", "--output", test, "--", test]);
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        outcomes(&place, test).into_iter().map(|mutant| (mutant["id"].as_u64().unwrap(), mutant)).collect()
    };
    let (good, bad) = (became("good"), became("bad"));
    assert!(good.keys().eq(bad.keys()), "one program has the same mutants, whatever its arguments");
    let is = |mutant: &Value, wanted: &[&str]| wanted.contains(&text(mutant, "status"));
    let told_apart: BTreeSet<&str> = good
        .iter()
        .filter(|(id, mutant)| is(mutant, &["killed", "timeout"]) && is(&bad[id], &["survived", "not-reached"]))
        .map(|(_, mutant)| text(mutant, "operator"))
        .collect();
    let all: BTreeSet<&str> = raceproof::mutation::Operator::ALL.map(|operator| operator.name()).into();
    let missing: Vec<&&str> = all.difference(&told_apart).filter(|name| !NEVER_SEEN.contains(name)).collect();
    assert!(missing.is_empty(), "no mutant of {missing:?} is killed by the good test alone");
    let met: BTreeSet<&str> = good.values().map(|mutant| text(mutant, "operator")).collect();
    assert_eq!(met, all, "there is a mutant of every operator");
}

/// A kernel with a barrier that is needed and one that is not, and a flag that is handed over.
const PROVED: &str = r#"#include <cstdio>
__global__ void turn(int *out, const int *in, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  tile[t] = in[i];
  __syncthreads();
  int other = tile[63 - t];
  __syncthreads();
  if (i < n && t < 64) out[i] = other;
  for (int k = 0; k < 4; k++) {
    if (t % 4 == k) out[i] += k;
  }
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 128 * sizeof(int));
  cudaMallocManaged(&out, 128 * sizeof(int));
  for (int i = 0; i < 128; i++) in[i] = 5 * i;
  turn<<<2, 64>>>(out, in, 128);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; i++) printf("%d\n", out[i]);
}
"#;

#[test]
fn what_is_proved_of_mutants_is_what_their_runs_show() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", PROVED)]);
    let seen = mutate(&place, &["k.cu", "--output", "proved"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let tried = mutate(&place, &["k.cu", "--output", "tried", "--no-proofs"]);
    assert_eq!(tried.code, Some(0), "{}", tried.err);
    let (proved, tried) = (outcomes(&place, "proved"), outcomes(&place, "tried"));
    assert_eq!(proved.len(), tried.len());
    let mut equivalent = BTreeSet::new();
    for (mutant, run) in proved.iter().zip(&tried) {
        if text(mutant, "status") == "equivalent" {
            assert_eq!(text(run, "status"), "survived", "a test tells an equivalent mutant apart: {mutant}\n{run}");
            assert!(text(mutant, "reason").contains("proved"), "{mutant}");
            equivalent.insert((mutant["start"]["line"].as_u64().unwrap(), text(mutant, "operator")));
        }
    }
    // The second barrier, a comparison with the launch's extent, and the end of a loop.
    for wanted in [(9, "barrier-removed"), (10, "guard-opened"), (10, "logical-replaced"), (11, "bound-changed")] {
        assert!(equivalent.contains(&wanted), "{wanted:?} is not proved: {equivalent:?}");
    }
    let racy = |line: u64, operator: &str| {
        let is_it = |it: &&Value| it["start"]["line"].as_u64() == Some(line) && text(it, "operator") == operator;
        let mutant = proved.iter().find(is_it).unwrap();
        assert_eq!(text(mutant, "status"), "racy", "{mutant}");
        assert!(text(mutant, "reason").contains("data race"), "{mutant}");
    };
    racy(7, "barrier-removed");
    racy(7, "barrier-narrowed");
    assert!(seen.out.contains("mutation score"), "{}", seen.out);
}

/// Counters in every way to name a scope: what blocks count together, what one block counts for itself, and a lock.
const SCOPES: &str = r#"#include <cstdio>
#include <cuda/atomic>
using shared_counter = cuda::atomic_ref<int, cuda::thread_scope_device>;
__global__ void together(int *sums) {
  atomicAdd(&sums[0], 1);
  __nv_atomic_fetch_add(&sums[1], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(sums[2]);
  counter.fetch_add(1, cuda::memory_order_relaxed);
  int seen = atomicInc((unsigned *)&sums[3], 1000);
  if (seen == 191) sums[4] = 7;
  atomicAdd_system(&sums[5], 1);
  shared_counter(sums[9])++;
}
__global__ void alone(int *sums) {
  __shared__ int own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  atomicAdd(&own, 1);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 1) sums[6] = own;
}
__global__ void locked(int *sums) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&sums[7], 0, 1) != 0) ;
    sums[8] += 1;
    __threadfence();
    atomicExch(&sums[7], 0);
  }
}
int main() {
  int *sums;
  cudaMallocManaged(&sums, 10 * sizeof(int));
  for (int i = 0; i < 10; i++) sums[i] = 0;
  together<<<3, 64>>>(sums);
  alone<<<3, 64>>>(sums);
  locked<<<3, 64>>>(sums);
  cudaDeviceSynchronize();
  for (int i = 0; i < 10; i++) printf("%d\n", sums[i]);
}
"#;

#[test]
fn an_atomic_of_the_block_misses_what_other_blocks_do() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", SCOPES)]);
    let only = ["k.cu", "--operators", "scope-weakened", "--repetitions", "2"];
    let seen = mutate(&place, &[&only[..], &["--no-proofs", "--output", "tried"]].concat());
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let became = |directory: &str| -> Vec<(u64, String, String)> {
        let line = |mutant: &Value| mutant["start"]["line"].as_u64().unwrap();
        let of =
            |mutant: &Value| (line(mutant), text(mutant, "replacement").to_owned(), text(mutant, "status").to_owned());
        outcomes(&place, directory).iter().map(of).collect()
    };
    let expected = [
        (5, "atomicAdd_block", "killed"),
        (6, "__NV_THREAD_SCOPE_BLOCK", "killed"),
        (7, "cuda::thread_scope_block", "killed"),
        (9, "atomicInc_block", "killed"),
        // There is one device. What stands in line 18 counts in memory that is a block's own.
        (11, "atomicAdd", "survived"),
        // The locks of two blocks may hold each other off by chance, in the order in which blocks run.
        (24, "atomicCAS_block", ""),
        (27, "atomicExch_block", ""),
    ];
    let tried = became("tried");
    assert_eq!(tried.len(), expected.len(), "{tried:#?}");
    for ((line, replacement, status), (at, by, expected)) in tried.iter().zip(expected) {
        assert_eq!((*line, &**replacement), (at, by), "{tried:#?}");
        assert!(expected.is_empty() || status == expected, "{line}: {status}: {tried:#?}");
    }
}

#[test]
fn a_race_by_a_weaker_scope_is_proved() {
    if !runs() {
        return;
    }
    let text_of = "__global__ void k(int *sum) { atomicAdd(sum, 1); }
int main() {
  int *sum;
  cudaMallocManaged(&sum, sizeof(int));
  *sum = 0;
  k<<<2, 64>>>(sum);
  return cudaDeviceSynchronize() || *sum != 128;
}
";
    let place = Place::with(&[("k.cu", text_of)]);
    let seen = mutate(&place, &["k.cu", "--operators", "scope-weakened"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let became = outcomes(&place, "mutants.out");
    assert_eq!((became.len(), text(&became[0], "status")), (1, "racy"), "{became:#?}");
    assert!(text(&became[0], "reason").contains("data race on sum"), "{became:#?}");
}

/// A tile that is read in the order in which it was filled, and a sum that is written back: a test of one block sees no difference.
const STAGED: &str = r#"#include <cstdio>
#include <cstdlib>
typedef float real;
__global__ void scale(real *out, const float *in, const int *at, int n) {
  __shared__ float tile[128];
  extern __shared__ int order[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  order[t] = at[t];
  __syncthreads();
  if (i < n) out[i] = 2 * tile[order[t]];
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  float *out, *in;
  int *at;
  cudaMallocManaged(&out, 128 * sizeof(float));
  cudaMallocManaged(&in, 128 * sizeof(float));
  cudaMallocManaged(&at, 128 * sizeof(int));
  for (int i = 0; i < 128; i++) in[i] = i, at[i] = i, out[i] = 0;
  scale<<<(n + 63) / 64, 64, 64 * sizeof(int)>>>(out, in, at, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) printf("%g\n", out[i]);
}
"#;

#[test]
fn reading_the_input_again_in_the_place_of_a_tile_is_seen_with_more_than_one_block() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", STAGED)]);
    let became = |n: &str| -> BTreeMap<(u64, String, String), String> {
        let only = ["--operators", "memory-swapped", "--no-proofs", "--repetitions", "1"];
        let seen = mutate(&place, &[&["k.cu", "--output", n], &only[..], &["--", n]].concat());
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        let of = |mutant: &Value| {
            let line = mutant["start"]["line"].as_u64().unwrap();
            let change = ["original", "replacement"].map(|field| text(mutant, field).to_owned());
            let [original, replacement] = change;
            ((line, original, replacement), text(mutant, "status").to_owned())
        };
        outcomes(&place, n).iter().map(of).collect()
    };
    let (one, two) = (became("64"), became("128"));
    let status = |of: &BTreeMap<(u64, String, String), String>, line, original: &str, replacement: &str| {
        of.get(&(line, original.to_owned(), replacement.to_owned())).cloned().unwrap_or_default()
    };
    assert_eq!((status(&one, 11, "tile", "in"), status(&two, 11, "tile", "in")), ("survived".into(), "killed".into()));
    // The result is left in the tile; what is constant cannot be written; elements of another type are nothing's.
    assert_eq!(status(&two, 11, "out", "tile"), "killed");
    assert_eq!(status(&two, 8, "tile", "in"), "unviable");
    assert_eq!(status(&two, 11, "order", "at"), "survived");
    assert!(
        two.keys().all(|(_, of, by)| ["at", "order"].contains(&&**of) == ["at", "order"].contains(&&**by)),
        "{two:?}"
    );
}

#[test]
fn a_campaign_that_was_ended_goes_on_and_reports_the_same() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", PROVED)]);
    let whole = mutate(&place, &["k.cu", "--output", "m", "--repetitions", "1"]);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let names = ["outcomes.json", "mutation-report.json", "mutation-report.html", "missed.sarif", "missed.txt"];
    let reports = names.map(|name| read(&place, &format!("m/{name}")));
    // Killed while it wrote an outcome.
    let record = read(&place, "m/progress.jsonl");
    let cut = record.char_indices().filter(|(_, c)| *c == '\n').nth(20).unwrap().0 + 12;
    std::fs::write(place.path().join("m/progress.jsonl"), &record[..cut]).unwrap();
    let rest = mutate(&place, &["k.cu", "--output", "m", "--repetitions", "1"]);
    assert_eq!((rest.code, &rest.out), (whole.code, &whole.out), "{}", rest.err);
    assert!(rest.err.contains("20 outcomes are known from before"), "{}", rest.err);
    for (name, before) in names.iter().zip(&reports) {
        assert_eq!(&read(&place, &format!("m/{name}")), before, "{name}");
    }
    // Another program has another record.
    std::fs::write(place.path().join("k.cu"), PROVED.replace("5 * i", "6 * i")).unwrap();
    let other = mutate(&place, &["k.cu", "--output", "m", "--repetitions", "1", "--operators", "store-removed"]);
    assert_eq!(other.code, Some(0), "{}", other.err);
    assert!(!other.err.contains("known from before"), "{}", other.err);
}

#[test]
fn mutants_are_chosen_by_comments_changes_shares_and_operators() {
    if !runs() {
        return;
    }
    let suppressed =
        PROVED.replace("  tile[t] = in[i];\n", "  tile[t] = in[i];  // raceproof: no-mutants[store-removed] a copy\n");
    let place = Place::with(&[("k.cu", &suppressed)]);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let ended = command
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(place.path())
            .output();
        assert!(ended.unwrap().status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "a"]);
    std::fs::write(place.path().join("k.cu"), suppressed.replace("t < 64)", "t < 63)")).unwrap();
    let listed = |arguments: &[&str]| -> Vec<String> {
        let seen = mutate(&place, &[&["k.cu", "--list"], arguments].concat());
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        seen.out.lines().map(str::to_owned).collect()
    };
    let all = listed(&[]);
    let changed = listed(&["--in-diff", "HEAD"]);
    assert!(!changed.is_empty() && changed.iter().all(|line| line.starts_with("k.cu:10:")), "{changed:?}");
    let shares: Vec<String> = ["1/3", "2/3", "3/3"].iter().flat_map(|share| listed(&["--shard", share])).collect();
    assert_eq!(shares.iter().collect::<BTreeSet<_>>(), all.iter().collect());
    assert_eq!(shares.len(), all.len());
    let sample = listed(&["--sample", "5", "--sample-seed", "3"]);
    assert_eq!((sample.len(), &sample), (5, &listed(&["--sample", "5", "--sample-seed", "3"])));
    let seen =
        mutate(&place, &["k.cu", "--operators", "store-removed", "--repetitions", "1", "--minimum-score", "100"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let became = outcomes(&place, "mutants.out");
    let first = &became[0];
    assert_eq!((text(first, "status"), text(first, "reason")), ("suppressed", "a copy"), "{first}");
    assert!(became.len() > 2 && became[1..].iter().all(|it| text(it, "status") == "killed"), "{became:#?}");
    let report: Value = serde_json::from_str(&read(&place, "mutants.out/mutation-report.json")).unwrap();
    assert_eq!(report["schemaVersion"], "2");
    let reported = report["files"]["k.cu"]["mutants"].as_array().unwrap();
    assert_eq!((&reported[0]["status"], &reported[1]["status"]), (&"Ignored".into(), &"Killed".into()));
    assert_eq!(reported[0]["statusReason"], "suppressed: a copy");
    keeps_the_schema(&place, "mutants.out/mutation-report.json");
}

/// Holds a report against the JSON schema of mutation-testing-report-schema, as it is published.
fn keeps_the_schema(place: &Place, report: &str) {
    const SCRIPT: &str = "import json, sys, jsonschema
schema, report = (json.load(open(name)) for name in sys.argv[1:3])
wrong = list(jsonschema.Draft7Validator(schema).iter_errors(report))
print(schema['title'], len(report['files']), [f'{it.json_path}: {it.message}' for it in wrong])";
    let found = || Some((std::env::var_os("RACEPROOF_PYTHON")?, std::env::var_os("RACEPROOF_MUTATION_SCHEMA")?));
    let tools = tools::used("Python with jsonschema, and the schema", || found().ok_or(()));
    let Some((python, schema)) = tools else { return };
    let mut command = std::process::Command::new(python);
    let read = command.args(["-c", SCRIPT]).arg(schema).arg(report).current_dir(place.path()).output().unwrap();
    let said = String::from_utf8_lossy(&read.stdout);
    let error = String::from_utf8_lossy(&read.stderr);
    assert!(said.contains("MutationTestResult") && said.trim().ends_with("1 []"), "{said}{error}");
}

/// A bit-field cannot be bound, pointers have no product, and a macro brings code that is not in the text.
const APART: &str = r#"#include <cstdio>
#define TWICE(x) ((x) * 2)
struct Flags { unsigned low : 3, high : 5; };
__global__ void k(int *out, const int *in) {
  Flags flags = {1, 2};
  const int *own = in + threadIdx.x;
  int low = flags.low + 1;
  out[threadIdx.x] = *own * low;
  out[threadIdx.x] += TWICE(low);
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 4 * sizeof(int));
  cudaMallocManaged(&out, 4 * sizeof(int));
  for (int i = 0; i < 4; i++) in[i] = i;
  k<<<1, 4>>>(out, in);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("%d\n", out[i]);
}
"#;

#[test]
fn what_has_no_mutants_and_what_means_nothing_is_told() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", APART)]);
    let seen = mutate(&place, &["k.cu", "--repetitions", "1"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(seen.err.contains("k.cu:7: not mutated: the compiler does not take the line"), "{}", seen.err);
    assert!(seen.err.contains("k.cu:9:23: not mutated: code that a macro brings in k"), "{}", seen.err);
    let became = outcomes(&place, "mutants.out");
    let of_line = |line: u64| became.iter().filter(move |mutant| mutant["start"]["line"].as_u64() == Some(line));
    assert_eq!(of_line(7).count(), 0, "{became:#?}");
    let product = of_line(6).find(|mutant| text(mutant, "replacement") == "in * threadIdx.x").unwrap();
    assert_eq!(text(product, "status"), "unviable", "{product}");
    assert!(of_line(8).any(|mutant| text(mutant, "status") == "killed"), "{became:#?}");
}

#[test]
fn a_program_that_fails_by_itself_measures_nothing() {
    if !runs() {
        return;
    }
    let place = Place::with(&[(
        "k.cu",
        &PROVED
            .replace("  for (int i = 0; i < 128; i++) printf", "  return 3;\n  for (int i = 0; i < 128; i++) printf"),
    )]);
    let seen = mutate(&place, &["k.cu"]);
    assert_eq!(seen.code, Some(2), "{}", seen.err);
    assert!(seen.err.contains("the program itself exits with status 3"), "{}", seen.err);
    for (flags, what) in [(["--backend", "cuda"], "--backend cpu"), (["--seed", "3"], "--repetitions")] {
        let seen = mutate(&place, &[&["k.cu"], &flags[..]].concat());
        assert_eq!(seen.code, Some(2), "{}", seen.err);
        assert!(seen.err.contains(what), "{}", seen.err);
    }
}

/// What a campaign has detected, a later one on a changed program takes over; that a mutant has too little time is a usage error.
#[test]
fn what_was_detected_before_is_not_tried_again() {
    if !runs() {
        return;
    }
    let program = "__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x + 1; }
int main() {
  int *x, h[4];
  cudaMalloc(&x, sizeof h);
  k<<<1, 4>>>(x);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] != 4;
}
";
    let place = Place::with(&[("k.cu", program)]);
    let options = ["k.cu", "--operators", "arithmetic-replaced", "--repetitions", "1", "--timeout-multiplier", "2"];
    mutate(&place, &options);
    let killed = |mutants: &[Value]| mutants.iter().filter(|mutant| text(mutant, "status") == "killed").count();
    let before = outcomes(&place, "mutants.out");
    assert!(killed(&before) > 0, "{before:#?}");
    place.put("k.cu", format!("// Another line.\n{program}").as_bytes());
    mutate(&place, &[&options[..], &["--iterate"]].concat());
    let after = outcomes(&place, "mutants.out");
    let known =
        after.iter().filter(|mutant| mutant.to_string().contains("one like it was detected before (--iterate)"));
    assert_eq!((known.count(), killed(&after)), (killed(&before), killed(&before)), "{after:#?}");
    mutate(&place, &["k.cu", "--timeout-multiplier", "0.5"]).expect(2).complains("--timeout-multiplier takes a factor");
}
