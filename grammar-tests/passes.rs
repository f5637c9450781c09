//! The passes between resolution and judgement: each leaves a well-formed kernel, and the list of them is what kernels go through.
//!
//! That a pass which damages a kernel is caught is a test of `src/settle`.

use crate::cli::Place;
use raceproof::calculus::{text, validate};
use raceproof::driver::options::Options;
use raceproof::driver::passes::{Pass, all, named};
use raceproof::driver::show::{Stage, show};
use std::path::Path;

/// Files with something for most passes to do.
const FILES: [&str; 9] = [
    "fixtures/phases/objects.cu",
    "fixtures/phases/pipelines.cu",
    "fixtures/phases/producers.cu",
    "fixtures/warps/aggregated.cu",
    "fixtures/warps/named_barriers.cu",
    "fixtures/warps/masks.cu",
    "fixtures/warps/shuffled.cu",
    "fixtures/warps/wide_votes.cu",
    "fixtures/quickstart/race.cu",
];

/// The kernels of a text after a pass, as text.
fn after(pass: Pass, path: &str, source: &str) -> String {
    let mut options = Options::default();
    options.judging.lockstep = Some(32);
    show(Stage::After(pass), Path::new(path), source, &options).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Each kernel of a text of several.
fn kernels(text: &str) -> impl Iterator<Item = String> {
    text.split("\nkernel ").map(|kernel| format!("kernel {}", kernel.strip_prefix("kernel ").unwrap_or(kernel)))
}

#[test]
fn each_pass_leaves_well_formed_kernels_that_are_read_back() {
    for path in FILES {
        let source = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut is_settled = false;
        for pass in all() {
            is_settled |= pass.name == "bounds";
            for kernel in kernels(&after(pass, path, &source)) {
                let read =
                    text::parse(&kernel).unwrap_or_else(|error| panic!("{path}, {}: {error}\n{kernel}", pass.name));
                assert_eq!(text::print(&read).trim_end(), kernel.trim_end(), "{path}, {}", pass.name);
                let violations = match is_settled {
                    true => validate::validate(&read),
                    false => validate::validate_on_the_way(&read),
                };
                assert_eq!(violations, [], "{path}, {}\n{kernel}", pass.name);
            }
        }
    }
}

/// A kernel with a barrier of each kind that only the complete kernel tells the threads of.
const OPEN: &str = "\
__global__ void k(int *out, unsigned mask) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  bar.arrive_and_wait();
  if (threadIdx.x < 64) asm volatile(\"bar.sync 1, 64;\");
  __syncwarp(0x0000ffff);
  out[threadIdx.x] = 0;
}
";

#[test]
fn placeholders_stand_until_their_pass() {
    let lines = |pass: &str, word: &str| {
        let text = after(named(pass).expect("it is a pass"), "k.cu", OPEN);
        text.lines().filter(|line| line.trim_start().starts_with("sync") && line.contains(word)).count()
    };
    for (pass, [object, numbered, mask]) in [
        ("walk", [1, 1, 1]),
        ("objects", [0, 1, 1]),
        ("logs", [0, 1, 1]),
        ("named-barriers", [0, 0, 1]),
        ("shuffles", [0, 0, 1]),
        ("masks", [0, 0, 0]),
        ("invariants", [0, 0, 0]),
    ] {
        let found = ["object ", "numbered ", " mask "].map(|word| lines(pass, word));
        assert_eq!(found, [object, numbered, mask], "after {pass}");
    }
}

#[test]
fn names_of_passes_are_told_apart() {
    let names: Vec<&str> = all().map(|pass| pass.name).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{names:?}");
    assert!(names.iter().all(|name| named(name).is_some_and(|pass| pass.name == *name)) && named("none").is_none());
}

#[test]
fn the_command_line_prints_a_kernel_after_each_pass() {
    let place = Place::with(&[("k.cu", OPEN)]);
    for pass in all() {
        let seen = place.run(&["show", "calculus", "k.cu", "--after", pass.name]).expect(0);
        assert!(seen.out.starts_with("kernel k("), "{}: {}", pass.name, seen.out);
    }
    let last = place.run(&["show", "calculus", "k.cu", "--after", "invariants"]).expect(0);
    assert_eq!(last.out, place.run(&["show", "calculus", "k.cu"]).expect(0).out);
    let timed = place.run(&["show", "calculus", "k.cu", "--timings"]).expect(0);
    let times: Vec<&str> = timed.out.lines().filter_map(|line| line.strip_prefix("// ")?.split(':').next()).collect();
    let judged: Vec<&str> = all().map(|pass| pass.name).filter(|name| *name != "unrolling").collect();
    assert_eq!(times, judged, "{}", timed.out);
}

#[test]
fn what_is_no_pass_is_a_usage_error_that_lists_them() {
    let place = Place::with(&[("k.cu", OPEN)]);
    let mut unknown = place.run(&["show", "calculus", "k.cu", "--after", "finish"]).expect(2);
    for pass in all() {
        unknown = unknown.complains(pass.name);
    }
    place.run(&["show", "protocol", "k.cu", "--after", "walk"]).expect(2).complains("show calculus --after");
    place.run(&["show", "flow", "k.cu", "--timings"]).expect(2).complains("show calculus --timings");
}
