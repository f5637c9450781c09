//! `raceproof generate`: launches that reach what is hard to reach, on kernels of which it is known what can be reached.

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::Value;

fn generate(place: &Place, arguments: &[&str]) -> Seen {
    // What machines under load do not reach in their time shows nothing.
    place.run(&[&["generate", "--time", "120"], arguments].concat())
}

/// Whether programs are run in this tier.
fn runs() -> bool {
    tools::are_used()
}

fn report(seen: &Seen) -> Value {
    serde_json::from_str(&seen.out).unwrap_or_else(|_| panic!("{}{}", seen.out, seen.err))
}

/// Reached and all, by kind.
fn totals(report: &Value) -> [[u64; 2]; 2] {
    ["branches", "loops"].map(|kind| ["reached", "all"].map(|what| report["totals"][kind][what].as_u64().unwrap()))
}

const MAGIC: &str = "__global__ void scalar(int *out, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mode == 123456789) out[i] = 1;
}
__global__ void content(const unsigned *x, int *out) {
  if (x[threadIdx.x + 3] == 0xfeedbeefu) out[threadIdx.x] = 1;
}
__global__ void computed(int *out, int n) {
  if (7 * n - 11 == 700000003) out[threadIdx.x] = 1;
}
__global__ void real(int *out, float scale) {
  if (scale > 1234.5f && scale < 1234.75f) out[threadIdx.x] = 1;
}
__global__ void quadratic(int *out, int n) {
  if (n * n - 5000 * n == -6250000) out[threadIdx.x] = 1;
}
__global__ void far(int *out) {
  if (blockIdx.x == 77) out[threadIdx.x] = 1;
}
";

#[test]
fn guards_on_magic_values_are_reached() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", MAGIC)]);
    let seen = generate(&place, &["k.cu", "--format", "json", "--fail-under", "100"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let report = report(&seen);
    assert_eq!(totals(&report)[0], [14, 14], "{}", seen.out);
    for kernel in report["kernels"].as_array().unwrap() {
        let (name, file) = (kernel["kernel"].as_str().unwrap(), kernel["file"].as_str().unwrap());
        let launches = kernel["launches"].as_u64().unwrap();
        assert!((1..=4).contains(&launches), "{name}: {launches}");
        // What it is said to reach it reaches.
        let covered = place.run(&["cover", "k.cu", "--launch", file]);
        assert_eq!(covered.code, Some(0), "{}", covered.err);
        let missed = covered.out.lines().filter(|line| line.ends_with(&format!("(in {name})"))).count();
        assert_eq!(missed, 0, "{}", covered.out);
    }
}

#[test]
fn what_cannot_be_reached_is_proved_and_does_not_count() {
    if !runs() {
        return;
    }
    let text = "__global__ void k(int *out, int n) {
  for (int i = 0; i < 16; i++) out[threadIdx.x] += i;
  if (threadIdx.x > 1024) out[0] = 1;
  if (n > 10) {
    for (int i = 0; i < n; i++) out[threadIdx.x] -= i;
  }
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    // One side of the second branch, and all kinds of executions of both loops but several turns, are impossible.
    assert_eq!(totals(&report(&seen)), [[3, 3], [2, 2]], "{}", seen.out);
    // The same without a proof would be said to be missed.
    let plain = place.run(&["cover", "k.cu", "--launch", "launches/k.toml"]);
    assert!(plain.out.contains("k.cu:2:3: loop never without a turn, never of one turn"), "{}", plain.out);
}

#[test]
fn memory_is_as_large_as_a_launch_needs() {
    if !runs() {
        return;
    }
    let text = "struct grid { int width, height; const float *cells; };
__global__ void k(grid of, float4 *out, const int *at) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < of.width && y < of.height) out[3 * (y * of.width + x) + 5].x = of.cells[y * of.width + x] + at[x];
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("branches 100.0 % (2 of 2)"), "{}", seen.out);
    // A run that looks at each access finds none beside the buffers.
    let run = place.run(&["run", "--backend", "cpu", "k.cu", "--launch", "launches/k.toml"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(!run.err.contains("outside") && !run.out.contains("outside"), "{}{}", run.out, run.err);
}

#[test]
fn the_program_around_kernels_is_set_aside_and_its_launches_say_which_instances_there_are() {
    if !runs() {
        return;
    }
    let text = "#include <cstdio>
template <typename T, int N> __global__ void sum(T *x) { if (x[threadIdx.x] > T(N)) x[threadIdx.x] = 0; }
template <typename T> __global__ void unused(T *x) { x[threadIdx.x] = 0; }
__global__ void lookup(cudaTextureObject_t of, float *x) { x[threadIdx.x] = tex1Dfetch<float>(of, threadIdx.x); }
int main() {
  float *x;
  cudaMalloc(&x, 256);
  sum<float, 40><<<1, 64>>>(x);
  printf(\"the program's own main ran\\n\");
  return cudaDeviceSynchronize();
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("sum<float, 40>: "), "{}", seen.out);
    assert!(seen.out.contains("unused: not searched: it is a template"), "{}", seen.out);
    assert!(seen.out.contains("lookup: not searched: its parameter `of` is a texture object"), "{}", seen.out);
    assert!(seen.out.contains("branches 100.0 % (2 of 2)"), "{}", seen.out);
    let run = place.run(&["run", "--backend", "cpu", "k.cu", "--launch", "launches/sum-float--40.toml"]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.err.contains("its `main` is set aside"), "{}", run.err);
    assert!(!run.out.contains("own main ran"), "{}", run.out);
}

#[test]
fn launches_that_hang_crash_or_diverge_are_left_out_and_counted() {
    if !runs() {
        return;
    }
    let text = "__global__ void k(int *out, int n) {
  if (n == 3 && threadIdx.x == 0) __syncthreads();
  if (n == 4) while (true) out[1]++;
  if (n == 5) *(volatile int *)8 = 1;
  out[threadIdx.x] = n;
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu", "--tries", "400", "--timeout", "0.5"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    for reason in ["barrier divergence", "crash", "no end in time"] {
        assert!(seen.out.contains(reason), "{reason}: {}", seen.out);
    }
    let description = std::fs::read_to_string(place.path().join("launches/k.toml")).unwrap();
    for number in [4, 5] {
        assert!(!description.contains(&format!("arguments.n = {number}\n")), "{description}");
    }
}

#[test]
fn equal_seeds_give_equal_files_and_what_cannot_be_searched_is_refused() {
    if !runs() {
        return;
    }
    let text = "__global__ void k(int *x, int n) { if (x[threadIdx.x] > n && n % 3 == 2) x[0] = 1; }\n";
    let place = Place::with(&[("k.cu", text)]);
    let texts = ["a", "b"].map(|directory| {
        let seen = generate(&place, &["k.cu", "--seed", "5", "--output", directory]);
        assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
        std::fs::read_to_string(place.path().join(format!("{directory}/k.toml"))).unwrap()
    });
    assert_eq!(texts[0], texts[1]);
    std::fs::write(place.path().join("other.cu"), "__global__ void other(int *x) { x[threadIdx.x] = 1; }\n").unwrap();
    let seen = generate(&place, &["k.cu", "other.cu", "--output", "c"]);
    assert!(seen.out.contains("other: not searched: it stands in other.cu"), "{}{}", seen.out, seen.err);
    let seen = generate(&place, &["k.cu", "--kernel", "missing"]);
    assert_eq!(
        (seen.code, seen.err.contains("no kernel named `missing` in the files given")),
        (Some(2), true),
        "{}",
        seen.err
    );
}

#[test]
fn contents_that_break_a_contract_are_kept_apart() {
    if !runs() {
        return;
    }
    let text = "__global__ void k(float *out, const int *idx, const float *in) {
  int i = threadIdx.x;
  if (idx[i] == 3 && idx[i + 1] == 3) in = in + 1;
  out[idx[i]] = in[i];
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let report = report(&seen);
    let kernel = &report["kernels"][0];
    assert_eq!(kernel["contract"][0], "distinct(idx)", "{}", seen.out);
    assert_eq!(kernel["breaking"], "launches/k.breaks-contract.toml", "{}", seen.out);
    let reached = ["k.toml", "k.breaks-contract.toml"].map(|name| {
        let covered = place.run(&["cover", "k.cu", "--launch", &format!("launches/{name}")]);
        assert_eq!(covered.code, Some(0), "{}{}", covered.out, covered.err);
        !covered.out.contains("branch never true")
    });
    assert_eq!(reached, [false, true]);
}

#[test]
fn launches_that_are_found_tell_mutants_apart() {
    if !runs() {
        return;
    }
    let text = "__global__ void k(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * i + n;
}
";
    let place = Place::with(&[("k.cu", text)]);
    let seen = generate(&place, &["k.cu"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let tried = place.run(&["mutate", "k.cu", "--launch", "launches/k.toml", "--operators", "arithmetic-replaced"]);
    assert_eq!(tried.code, Some(0), "{}{}", tried.out, tried.err);
    assert!(tried.out.contains("mutation score    100.0 %"), "{}", tried.out);
}
