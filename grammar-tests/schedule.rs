//! `raceproof schedule`: planted faults that only some orders show, what is not one, and what is told of both.

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::Value;

fn schedule(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["schedule"], arguments].concat())
}

/// Whether programs are run in this tier.
fn runs() -> bool {
    tools::are_used()
}

/// A program that launches kernels on 64 integers, which are 0 to begin with, and prints the first.
fn program(device: &str, launches: &str) -> String {
    format!(
        "#include <cstdio>\n{device}
int main() {{
  int *x;
  cudaMallocManaged(&x, 64 * sizeof(int));
  for (int i = 0; i < 64; i++) x[i] = 0;
  {launches}
  cudaDeviceSynchronize();
  printf(\"result %d\\n\", x[0]);
}}\n"
    )
}

/// The report of a program, and its exit code.
fn report(text: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let place = Place::with(&[("k.cu", text)]);
    let seen = schedule(&place, &[&["k.cu", "--format", "json"], arguments].concat());
    let report = serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}: {}{}", seen.out, seen.err));
    (seen.code, report)
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().unwrap()
}

fn words<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} of {value}"))
}

fn lines(value: &Value, field: &str) -> String {
    value[field].as_array().unwrap().iter().map(|line| format!("{line}\n")).collect()
}

/// The last block that is done adds up what all have written, but nothing says that it sees it.
const LAST_BLOCK: &str = "__global__ void sums(int *part, int *out, unsigned *done) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1;
    is_last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += ((volatile int *)part)[i];
    *out = sum;
  }
}";
const LAUNCH_LAST_BLOCK: &str = "sums<<<4, 32>>>(x + 8, x, (unsigned *)x + 60);";

/// The last block is found by a counter that is none of atomics.
const COUNTER: &str = "__global__ void tickets(int *out, int *done) {
  __shared__ int drawn;
  if (threadIdx.x == 0) {
    drawn = *done;
    *done = drawn + 1;
  }
  __syncthreads();
  if (drawn == gridDim.x - 1 && threadIdx.x == 0) *out = 7;
}";

const UPDATE: &str = "__global__ void update(int *sum, int n) {
  if (threadIdx.x < n) *sum += threadIdx.x + 1;
}";

const FLOATS: &str = "__global__ void add(float *sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1.0f / (3 + 7 * blockIdx.x));
}";

#[test]
fn planted_races_between_blocks_are_revealed() {
    if !runs() {
        return;
    }
    let cases = [
        ("a fence is missing", program(LAST_BLOCK, LAUNCH_LAST_BLOCK), "late", ["k.cu:5:", "k.cu:11:"]),
        ("an atomic is missing", program(COUNTER, "tickets<<<4, 32>>>(x, x + 1);"), "delay", ["k.cu:5:", "k.cu:6:"]),
        ("an update is not atomic", program(UPDATE, "update<<<4, 1>>>(x, 1);"), "", ["k.cu:3:", "k.cu:3:"]),
    ];
    for (name, text, by, [one, other]) in cases {
        let (code, report) = report(&text, &[]);
        assert_eq!((code, findings(&report).len()), (Some(1), 1), "{name}: {report:#}");
        let finding = &findings(&report)[0];
        assert_eq!(words(finding, "what"), "difference", "{name}");
        assert!(lines(finding, "differs").contains("line 1 of the output is `result "), "{name}: {finding:#}");
        // One change point is enough, and it is the baseline that it is held against.
        let schedule = words(finding, "schedule");
        assert!(schedule.starts_with(by) && !schedule.contains(','), "{name}: {schedule}");
        assert_eq!((words(finding, "against"), &finding["is_minimal"]), ("baseline", &Value::Bool(true)), "{name}");
        let places = lines(finding, "conflicts");
        assert!(places.contains(one) && places.contains(other), "{name}: {finding:#}");
        assert!(lines(finding, "changes").contains("k.cu:"), "{name}: {finding:#}");
    }
}

#[test]
fn sums_of_atomics_that_depend_on_the_order_are_told_and_may_be_let_pass() {
    if !runs() {
        return;
    }
    let text = program(FLOATS, "add<<<24, 32>>>((float *)x);")
        .replace("result %d\\n\", x[0]", "result %.9g\\n\", *(float *)x");
    let (code, whole) = report(&text, &[]);
    assert_eq!(code, Some(1), "{whole:#}");
    let finding = &findings(&whole)[0];
    assert!(lines(finding, "differs").contains("what `sum` points into"), "{finding:#}");
    assert_eq!(finding["conflicts"].as_array().unwrap().len(), 0, "atomics do not conflict: {finding:#}");
    let (code, near) = report(&text, &["--tolerance", "1e-5"]);
    assert_eq!((code, findings(&near).len()), (Some(0), 0), "{near:#}");
    assert_eq!((&whole["compares_memory"], &near["compares_memory"]), (&Value::Bool(true), &Value::Bool(false)));
}

/// Memory differs, and nothing of it is printed.
#[test]
fn memory_is_compared_unless_output_alone_is_asked_for() {
    if !runs() {
        return;
    }
    let append = "__global__ void append(int *list, unsigned *end) {
  if (threadIdx.x == 0) list[atomicAdd(end, 1u)] = blockIdx.x + 1;
}";
    let text = program(append, "append<<<5, 32>>>(x + 8, (unsigned *)x + 1);");
    let (code, whole) = report(&text, &["--schedules", "8"]);
    assert_eq!((code, words(&findings(&whole)[0], "kernel")), (Some(1), "append"), "{whole:#}");
    let (code, output) = report(&text, &["--schedules", "8", "--compare", "output"]);
    assert_eq!((code, findings(&output).len()), (Some(0), 0), "{output:#}");
}

/// Block 0 finds 0 and then 1 only if it is stopped between its reads, and goes on after block 1 has stored both and before block 2
/// has stored.
const TWO: &str = "__global__ void two(int *out, volatile int *a, volatile int *b) {
  if (blockIdx.x == 0) {
    int first = *a;
    int second = *b;
    if (first == 0 && second == 1) *out = 5;
  }
  if (blockIdx.x == 1) {
    *a = 1;
    *b = 1;
  }
  if (blockIdx.x == 2) *b = 2;
}";

#[test]
fn the_schedule_that_is_told_has_as_few_change_points_as_there_can_be() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(TWO, "two<<<3, 1>>>(x, x + 1, x + 2);"))]);
    let seen = schedule(&place, &["k.cu", "--schedules", "200", "--format", "json", "--compare", "output"]);
    let report: Value = serde_json::from_str(&seen.out).unwrap();
    let finding = &findings(&report)[0];
    let schedule_text = words(finding, "schedule");
    // None of one part does: block 0 has to be stopped, or the first store of block 1 to be late; and block 2 to be late, or first.
    assert_eq!(schedule_text.split(',').count(), 2, "{report:#}");
    let replay = |text: &str| schedule(&place, &["k.cu", "--replay", text, "--compare", "output"]);
    for part in schedule_text.split(',') {
        let alone = replay(part);
        assert_eq!(alone.code, Some(0), "{part} alone: {}{}", alone.out, alone.err);
    }
    let (first, again) = (replay(schedule_text), replay(schedule_text));
    assert_eq!((first.code, &first.out), (Some(1), &again.out), "{}", first.err);
    assert!(first.out.contains("line 1 of the output is `result 5`; in the baseline `result 0`"), "{}", first.out);
    assert!(first.out.contains(&format!("--replay '{schedule_text}'")), "{}", first.out);
}

#[test]
fn a_deadlock_is_told_with_who_waits_for_whom() {
    if !runs() {
        return;
    }
    // A later block never sets the flag; the others of the block wait at the barrier for the thread that spins.
    let flag = "__global__ void waits(volatile int *flag) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (*flag == 0) { }
  }
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0) flag[1] = 1;
}";
    let (code, stuck) = report(&program(flag, "waits<<<2, 40>>>(x + 4);"), &[]);
    let finding = &findings(&stuck)[0];
    assert_eq!((code, words(finding, "what"), words(finding, "kernel")), (Some(1), "deadlock", "waits"), "{stuck:#}");
    let waits = lines(finding, "waits");
    assert!(
        waits.contains("k.cu:4:") && waits.contains("thread (0,0,0) of block (0,0,0) spins here on `flag`"),
        "{waits}"
    );
    assert!(waits.contains("k.cu:6") && waits.contains("39 threads of block (0,0,0)"), "{waits}");
    assert!(waits.contains("these do not come: thread (0,0,0) (k.cu:4:"), "{waits}");
    // A barrier that half of the threads never come to: a GPU may wait for them.
    let half = "__global__ void half(int *out) {
  if (threadIdx.x < 16) __syncthreads();
  out[threadIdx.x] = 1;
}";
    let (code, parted) = report(&program(half, "half<<<1, 32>>>(x);"), &["--schedules", "2"]);
    let finding = &findings(&parted)[0];
    assert_eq!((code, words(finding, "what")), (Some(1), "divergence"), "{parted:#}");
    assert!(lines(finding, "differs").contains("k.cu:3: "), "{parted:#}");
    // A barrier of the block in a branch, while the others wait for that warp.
    let branch = "__global__ void parted(int *out) {
  if (threadIdx.x == 0) __syncthreads();
  else __syncwarp();
  out[threadIdx.x] = 1;
}";
    let (code, stuck) = report(&program(branch, "parted<<<1, 32>>>(x);"), &[]);
    let waits = lines(&findings(&stuck)[0], "waits");
    assert_eq!(code, Some(1), "{stuck:#}");
    assert!(waits.contains("k.cu:3") && waits.contains("k.cu:4"), "{waits}");
    // Only if the second block comes first: it takes the lock and keeps it.
    let lock = "__global__ void locks(int *lock, int *out) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) { }
  *out += 1;
  if (blockIdx.x == 0) atomicExch(lock, 0);
}";
    let (code, stuck) = report(&program(lock, "locks<<<2, 32>>>(x + 1, x);"), &[]);
    let finding = &findings(&stuck)[0];
    assert_eq!(
        (code, words(finding, "what"), words(finding, "schedule")),
        (Some(1), "deadlock", "front=1@1"),
        "{stuck:#}"
    );
    assert!(lines(finding, "waits").contains("k.cu:4:"), "{stuck:#}");
}

#[test]
fn a_slow_kernel_is_no_deadlock() {
    if !runs() {
        return;
    }
    // It counts while it spins, changes nothing for long, and comes to its end.
    let slow = "__global__ void slow(volatile int *flag, int *out) {
  int tries = 0;
  while (*flag == 0 && tries < 300000) tries++;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = tries;
}";
    let (code, calm) = report(&program(slow, "slow<<<2, 8>>>(x + 40, x);"), &["--schedules", "4"]);
    assert_eq!((code, findings(&calm).len(), calm["slow"].as_array().unwrap().len()), (Some(0), 0, 0), "{calm:#}");
    // One that does not end in time is told as slow; a baseline that does not measures nothing.
    let endless = slow.replace("tries < 300000", "tries != -1");
    let place = Place::with(&[("k.cu", &program(&endless, "slow<<<1, 8>>>(x + 40, x);"))]);
    let seen = schedule(&place, &["k.cu", "--schedules", "4", "--timeout", "1"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(2), ""), "{}", seen.err);
    assert!(seen.err.contains("does not end within 1 seconds"), "{}", seen.err);
}

#[test]
fn more_blocks_than_are_at_work_at_once_are_no_deadlock() {
    if !runs() {
        return;
    }
    // Each of 300 blocks waits for the one before it: in the reversed order all but one have to wait at once.
    let chain = "__global__ void chain(volatile int *done, int *out) {
  if (threadIdx.x == 0) {
    while (*done != blockIdx.x) { }
    *out = *out * 3 + blockIdx.x;
    __threadfence();
    *done = blockIdx.x + 1;
  }
}";
    let place = Place::with(&[("k.cu", &program(chain, "chain<<<300, 8>>>(x + 1, x);"))]);
    for order in ["blocks=reversed", "blocks=first:299", "blocks=seed:3"] {
        let seen = schedule(&place, &["k.cu", "--replay", order]);
        assert_eq!(seen.code, Some(0), "{order}: {}{}", seen.out, seen.err);
        assert!(seen.out.contains("no difference in exit status, output and memory"), "{}", seen.out);
    }
    // With more of them than there can be at once the order cannot be kept to, which is told and is no deadlock.
    let place = Place::with(&[("k.cu", &program(chain, "chain<<<2000, 8>>>(x + 1, x);"))]);
    let seen = schedule(&place, &["k.cu", "--replay", "blocks=reversed"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("cannot keep to the schedule blocks=reversed"), "{}", seen.out);
    assert!(seen.out.contains("none of them came to its end: nothing is known"), "{}", seen.out);
    let seen = schedule(&place, &["k.cu", "--replay", "blocks=first:1999"]);
    assert_eq!((seen.code, seen.out.contains("no difference")), (Some(0), true), "{}{}", seen.out, seen.err);
}

#[test]
fn what_is_ordered_depends_on_no_schedule() {
    if !runs() {
        return;
    }
    let fenced = LAST_BLOCK.replace("    is_last =", "    __threadfence();\n    is_last =");
    let counted = COUNTER.replace("drawn = *done;\n    *done = drawn + 1;", "drawn = atomicAdd(done, 1);");
    let updated = UPDATE.replace("*sum += threadIdx.x + 1", "atomicAdd(sum, int(threadIdx.x) + 1)");
    let shared = "__global__ void turn(int *out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  int other = tile[63 - threadIdx.x];
  other += __shfl_xor_sync(~0u, other, 5);
  __syncthreads();
  tile[threadIdx.x] = other;
  __syncthreads();
  if (blockIdx.x == 0) out[threadIdx.x] = tile[threadIdx.x ^ 9];
}";
    let cooperative = "#include <cooperative_groups.h>
__global__ void steps(int *x) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;
  grid.sync();
  int other = x[(i + 17) % n];
  grid.sync();
  x[i] += other;
}";
    let launched =
        "void *arguments[] = {&x}; cudaLaunchCooperativeKernel((void *)steps, dim3(4), dim3(16), arguments);";
    for (name, text) in [
        ("last block", program(&fenced, LAUNCH_LAST_BLOCK)),
        ("counter", program(&counted, "tickets<<<4, 32>>>(x, x + 1);")),
        ("update", program(&updated, "update<<<4, 8>>>(x, 8);")),
        ("shared", program(shared, "turn<<<3, 64>>>(x);")),
        ("cooperative", program(cooperative, launched)),
    ] {
        let (code, report) = report(&text, &["--schedules", "30"]);
        assert_eq!((code, findings(&report).len()), (Some(0), 0), "{name}: {report:#}");
        let tried: u64 = report["tried"].as_array().unwrap().iter().map(|of| of["schedules"].as_u64().unwrap()).sum();
        assert_eq!(
            (Some(tried), report["slow"].as_array().unwrap().len()),
            (report["schedules"].as_u64(), 0),
            "{name}"
        );
        assert!(tried >= 10, "{name}: {report:#}");
    }
}

#[test]
fn how_many_of_which_kind_were_tried_is_told_and_the_seed_decides() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(UPDATE, "update<<<4, 40>>>(x, 40);"))]);
    let seen = schedule(&place, &["k.cu"]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(
        seen.out.contains("20 schedules tried beside the baseline: ") && seen.out.contains(" orders of blocks, "),
        "{}",
        seen.out
    );
    assert!(seen.out.contains("difference in update: the result depends on the schedule"), "{}", seen.out);
    assert_eq!(schedule(&place, &["k.cu"]).out, seen.out, "equal seeds give equal reports");
    for (arguments, told) in [
        (&["--backend", "cuda"][..], "kept to by --backend cpu"),
        (&["--tolerance", "2"], "--tolerance takes a fraction"),
        (&["--replay", "blocks"], "is no part of a schedule"),
    ] {
        let seen = schedule(&place, &[&["k.cu"], arguments].concat());
        assert_eq!(seen.code, Some(2), "{}", seen.err);
        assert!(seen.err.contains(told), "{}", seen.err);
    }
    let nothing = Place::with(&[("k.cu", &program(UPDATE, ""))]);
    let seen = schedule(&nothing, &["k.cu"]);
    assert_eq!((seen.code, seen.err.contains("launched no kernel")), (Some(2), true), "{}", seen.err);
}
