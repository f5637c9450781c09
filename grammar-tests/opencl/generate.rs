//! `raceproof generate` on OpenCL kernels, on a real driver: what it reaches, what it leaves out, and that its launches are good ones.

use super::run::{Seen, has_driver, run_in, seen_of};
use crate::cli::Place;
use serde_json::Value;

/// What machines under load do not reach in their time shows nothing.
fn generate(place: &Place, arguments: &[&str]) -> Seen {
    seen_of(&mut place.command(&[&["generate", "--time", "200"], arguments].concat()))
}

fn report(seen: &Seen) -> Value {
    serde_json::from_str(&seen.out).unwrap_or_else(|_| panic!("{seen:?}"))
}

/// A number, contents and an extent that must be met, a tile behind a barrier, and a helper.
const GUARDED: &str = "int is_wanted(int mode) { return mode == 123456789; }
kernel void scalar(global int *out, int n, int mode) {
  int i = get_global_id(0);
  if (i >= n) return;
  if (is_wanted(mode)) out[i] = 1;
}
kernel void content(global const uint *x, global int *out) {
  if (x[get_local_id(0) + 3] == 0xfeedbeefu) out[get_local_id(0)] = 1;
}
kernel void tiled(global float *out, global const float *in, local float *tile, int n) {
  int t = get_local_id(0), i = get_global_id(0);
  tile[t] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[3 * i + 5] = tile[get_local_size(0) - 1 - t];
}
";

#[test]
fn guards_are_reached_and_launches_stay_in_their_memory() {
    if !has_driver() {
        return;
    }
    let place = Place::with(&[("k.cl", GUARDED)]);
    let seen = generate(&place, &["k.cl", "--format", "json", "--fail-under", "100"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let report = report(&seen);
    assert_eq!(report["totals"]["branches"]["reached"], report["totals"]["branches"]["all"], "{seen:?}");
    assert_eq!(report["totals"]["barriers"]["reached"], 1, "{seen:?}");
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 3, "{seen:?}");
    for kernel in kernels {
        let file = kernel["file"].as_str().unwrap();
        // A run that looks at each access finds none beside the buffers.
        let run = run_in(&place, &["k.cl", "--launch", file]);
        assert_eq!(run.code, Some(0), "{file}: {run:?}");
        assert!(!run.out.contains("outside") && !run.err.contains("outside"), "{file}: {run:?}");
    }
    let magic = std::fs::read_to_string(place.path().join("launches/scalar.toml")).unwrap();
    assert!(magic.contains("123456789"), "{magic}");
    let tiled = std::fs::read_to_string(place.path().join("launches/tiled.toml")).unwrap();
    assert!(tiled.contains("local = "), "{tiled}");
}

#[test]
fn launches_that_hang_diverge_or_leave_their_memory_are_left_out_and_counted() {
    if !has_driver() {
        return;
    }
    let text = "kernel void k(volatile global int *out, int n) {
  int t = get_local_id(0);
  if (n == 3) while (out[0] >= 0) out[1]++;
  if (n == 4) out[-1 - t] = 1;
  if (n == 5 && t > 0) return;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[t] = n;
}
";
    let place = Place::with(&[("k.cl", text)]);
    let seen = generate(&place, &["k.cl", "--tries", "60", "--timeout", "0.8"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for reason in ["no end in time", "an access outside of its memory", "barrier divergence"] {
        assert!(seen.out.contains(reason), "{reason}: {seen:?}");
    }
    let description = std::fs::read_to_string(place.path().join("launches/k.toml")).unwrap();
    for number in [3, 4] {
        assert!(!description.contains(&format!("n = {number}\n")), "{description}");
    }
    let run = run_in(&place, &["k.cl", "--launch", "launches/k.toml"]);
    assert!(!run.out.contains("outside") && !run.err.contains("outside"), "{run:?}");
}

#[test]
fn what_cannot_be_searched_is_told() {
    let place = Place::with(&[("k.cl", "kernel void k(global int *x) { x[0] = 1; }\n"), ("other.cl", "")]);
    for (arguments, told) in [
        (&["k.cl", "--backend", "cpu"][..], "leave --backend out"),
        (&["k.cl", "other.cl"], "a file of OpenCL kernels is run alone"),
        (&["--opencl-host"], "name the file of the kernels"),
    ] {
        let seen = generate(&place, arguments);
        assert!(seen.code == Some(2) && seen.err.contains(told), "{told}: {seen:?}");
    }
    if !has_driver() {
        return;
    }
    let text = "kernel void image(read_only image2d_t from, global float *to) { to[0] = get_image_width(from); }
kernel void plain(global float *to, int n) { for (int i = 0; i < n; i++) to[get_global_id(1)] += 1; }
";
    let place = Place::with(&[("k.cl", text)]);
    let seen = generate(&place, &["k.cl"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.contains("image: not searched: its parameter `from` is"), "{seen:?}");
    assert!(seen.out.contains("loops    100.0 % (3 of 3)"), "{seen:?}");
}
