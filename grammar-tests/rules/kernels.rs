//! Whole kernels with barriers: intervals, iterations, toggles and guards of syncs together.

use super::Subject;
use raceproof::memory_model::Level;
use raceproof::prove::premises::{self, Budget};
use raceproof::prove::{Assumption, Groups, Open, Proof, Returned, SyncQuestion};

/// Pairs of a kernel that stay open at `level`, by the sites' numbers.
fn open(text: &str, dimensions: usize, level: Level) -> Vec<(usize, usize)> {
    let subject = Subject::read(text, dimensions);
    let pairs = subject.pairs(level);
    let mut open = Vec::new();
    for pair in pairs {
        match subject.prove(&pair) {
            Ok(proof) => subject.check(&pair, &proof).unwrap_or_else(|error| panic!("{error}\n{}", proof.derivation)),
            Err(_) => open.push((
                subject.protocol.accesses[pair.first].site.index(),
                subject.protocol.accesses[pair.second].site.index(),
            )),
        }
    }
    open.dedup();
    open
}

fn proves(text: &str, dimensions: usize) {
    assert_eq!(open(text, dimensions, Level::Block), [], "{text}");
}

fn refuses(text: &str, dimensions: usize) {
    assert_ne!(open(text, dimensions, Level::Block), [], "{text}");
}

/// `text` without its line that holds `what`.
fn without(text: &str, what: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains(what)).collect();
    assert_eq!(lines.len() + 1, text.lines().count(), "{what} stands on one line");
    lines.join("\n")
}

const MATRIX_PRODUCT: &str = "kernel k(n: i32) {
  shared a: element 4
  shared b: element 4
  var tx: i32
  var ty: i32
  var t: i32
  var i: i32
  var v: opaque4
  let tx = convert<i32>(tid.x)
  let ty = convert<i32>(tid.y)
  assume bdim.x == 16
  assume bdim.y == 16
  for t = 0 while t < n step + 1 @0 {
    write a[4 * convert<i64>(ty * 16 + tx); 4] @1
    write b[4 * convert<i64>(ty * 16 + tx); 4] @2
    sync block shared global @3
    for i = 0 while i < 16 step + 1 @4 {
      let v = read a[4 * convert<i64>(ty * 16 + i); 4] @5
      let v = read b[4 * convert<i64>(i * 16 + tx); 4] @6
    }
    sync block shared global @7
  }
}";

#[test]
fn a_tiled_matrix_product_needs_both_barriers() {
    proves(MATRIX_PRODUCT, 2);
    refuses(&without(MATRIX_PRODUCT, "@3"), 2);
    refuses(&without(MATRIX_PRODUCT, "@7"), 2);
}

const REDUCTION: &str = "kernel k() {
  shared a: element 4
  var tx: u32
  var s: u32
  var v: opaque4
  let tx = tid.x
  write a[4 * convert<i64>(tx); 4] @0
  sync block shared global @1
  for s = bdim.x / 2 while s > 0 step >> 1 @2 {
    if tx < s {
      let v = read a[4 * convert<i64>(tx + s); 4] @3
      let v = read a[4 * convert<i64>(tx); 4] @4
      write a[4 * convert<i64>(tx); 4] @5
    }
    sync block shared global @6
  }
  if tx == 0 {
    let v = read a[0; 4] @7
  }
}";

#[test]
fn a_reduction_needs_its_barriers_and_its_guard() {
    proves(REDUCTION, 1);
    refuses(&without(REDUCTION, "@1"), 1);
    refuses(&without(REDUCTION, "@6"), 1);
    refuses(&REDUCTION.replace("tx < s", "tx <= s"), 1);
}

const DOUBLE_BUFFER: &str = "kernel k(n: i32, m: i32) {
  shared a: element 4
  var tx: i32
  var p: i32
  var o: i32
  var v: opaque4
  let tx = convert<i32>(tid.x)
  assume convert<i32>(bdim.x) <= n
  let p = 0
  for o = 1 while o < m step * 2 @0 {
    let p = 1 - p
    if tx >= o {
      let v = read a[4 * convert<i64>((1 - p) * n + tx - o); 4] @1
    }
    let v = read a[4 * convert<i64>((1 - p) * n + tx); 4] @2
    write a[4 * convert<i64>(p * n + tx); 4] @3
    sync block shared global @4
  }
}";

#[test]
fn a_toggled_double_buffer_needs_one_barrier_a_turn() {
    proves(DOUBLE_BUFFER, 1);
    refuses(&without(DOUBLE_BUFFER, "@4"), 1);
    refuses(&DOUBLE_BUFFER.replace("(1 - p) * n + tx - o", "p * n + tx - o"), 1);
    refuses(&DOUBLE_BUFFER.replace("<= n", "<= n + 1"), 1);
}

const STENCIL: &str = "kernel k(w: i32, h: i32, d: i32) {
  global param in: element 4
  global param out: element 4
  var x: i32
  var y: i32
  var z: i32
  var v: opaque4
  let x = convert<i32>(bid.x * bdim.x + tid.x)
  let y = convert<i32>(bid.y * bdim.y + tid.y)
  let z = convert<i32>(bid.z * bdim.z + tid.z)
  if x > 0 && x < w - 1 && y > 0 && y < h - 1 && z > 0 && z < d - 1 {
    let v = read in[4 * convert<i64>((z * h + y) * w + x - 1); 4] @0
    let v = read in[4 * convert<i64>((z * h + y) * w + x + 1); 4] @1
    let v = read in[4 * convert<i64>((z * h + y - 1) * w + x); 4] @2
    let v = read in[4 * convert<i64>(((z + 1) * h + y) * w + x); 4] @3
    write out[4 * convert<i64>((z * h + y) * w + x); 4] @4
  }
}";

#[test]
fn a_stencil_in_three_dimensions_is_proved_and_in_place_it_is_not() {
    assert_eq!(open(STENCIL, 3, Level::Grid), []);
    proves(STENCIL, 3);
    let in_place = STENCIL.replace(" in[", " out[");
    assert_eq!(open(&in_place, 3, Level::Grid).len(), 4);
}

const BITONIC: &str = "kernel k() {
  shared a: element 4
  var t: u32
  var k: u32
  var j: u32
  var x: u32
  var v: opaque4
  let t = tid.x
  write a[4 * convert<i64>(t); 4] @0
  sync block shared global @1
  for k = 2 while k <= bdim.x step * 2 @2 {
    for j = k / 2 while j > 0 step / 2 @3 {
      let x = t ^ j
      if x > t {
        let v = read a[4 * convert<i64>(t); 4] @4
        let v = read a[4 * convert<i64>(x); 4] @5
        if (t & k) == 0 {
          write a[4 * convert<i64>(t); 4] @6
          write a[4 * convert<i64>(x); 4] @7
        }
      }
      sync block shared global @8
    }
  }
}";

#[test]
fn a_bitonic_sort_is_proved() {
    proves(BITONIC, 1);
    refuses(&BITONIC.replace("x > t", "x != t"), 1);
    refuses(&without(BITONIC, "@8"), 1);
}

// ---- syncs

fn sync(text: &str, number: usize, returned: Returned) -> Result<Proof, Open> {
    let subject = Subject::read(text, 1);
    let (id, _) = subject.protocol.syncs.iter().nth(number).expect("a sync");
    let question = SyncQuestion { sync: id, level: Level::Block, groups: Groups::Any };
    let proof =
        premises::prove_sync_uniform(&subject.protocol, question, returned, &subject.scope, &Budget::default())?;
    premises::check_sync_uniform(&subject.protocol, question, returned, &subject.scope, &proof.derivation)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    Ok(proof)
}

fn sync_in(condition: &str) -> String {
    format!(
        "kernel k(n: i32) {{
  var tx: i32
  let tx = convert<i32>(tid.x)
  {condition} {{
    sync block shared global @1
  }}
}}"
    )
}

#[test]
fn syncs_under_uniform_conditions_are_uniform() {
    for condition in
        ["if n > 3", "if bid.x == 0", "if bdim.x * 2 > 64", "if tx >= 0", "if tx / 2 < convert<i32>(bdim.x)"]
    {
        assert!(sync(&sync_in(condition), 0, Returned::StillCount).is_ok(), "{condition}");
    }
    for condition in ["if tx < 32", "if tx == 0", "if tx < n", "if tx % 2 == 0"] {
        assert!(sync(&sync_in(condition), 0, Returned::StillCount).is_err(), "{condition}");
    }
}

#[test]
fn syncs_in_loops_need_equal_trip_counts() {
    let in_loop = |head: &str| {
        format!(
            "kernel k(n: i32) {{
  var tx: i32
  var i: i32
  let tx = convert<i32>(tid.x)
  for i = {head} @0 {{
    sync block shared global @1
  }}
}}"
        )
    };
    for head in ["0 while i < n step + 1", "8 while i > 0 step >> 1", "tx while i < tx + n step + 1"] {
        assert!(sync(&in_loop(head), 0, Returned::StillCount).is_ok(), "{head}");
    }
    for head in ["tx while i < n step + 1", "0 while i < tx step + 1", "tx while i < n step + convert<i32>(bdim.x)"] {
        assert!(sync(&in_loop(head), 0, Returned::StillCount).is_err(), "{head}");
    }
}

#[test]
fn leaving_a_loop_after_its_sync_must_be_uniform_too() {
    let leaving = |condition: &str| {
        format!(
            "kernel k(n: i32) {{
  var tx: i32
  var i: i32
  var go: bool
  let tx = convert<i32>(tid.x)
  let i = 0
  let go = true
  loop while go && i < n @0 {{
    sync block shared global @1
    if {condition} {{
      let go = false
    }}
    let i = i + 1
  }}
}}"
        )
    };
    for condition in ["i == 5", "i == n - 3", "i > tx + n"] {
        assert!(sync(&leaving(condition), 0, Returned::StillCount).is_ok(), "{condition}");
    }
    for condition in ["i == tx", "tx > 3", "i > tx"] {
        assert!(sync(&leaving(condition), 0, Returned::StillCount).is_err(), "{condition}");
    }
}

/// Masks, complements and shifts of values of either sign, against machine arithmetic.
#[test]
fn masks_and_shifts_mean_what_the_machine_does() {
    for (index, ty) in [
        ("(tx - 4) & 7", "i32"),
        ("(tx - 4) & -8", "i32"),
        ("(tx - 4) & 2147483640", "i32"),
        ("(tx - 4) >> 1", "i32"),
        ("~(~tx & -4)", "i32"),
        ("(tx + 1) & 4294967292", "u32"),
        ("~(~tx & 4294967288)", "u32"),
        ("(tx - 4) & 7", "u32"),
        ("tx << 3", "u32"),
        ("(tx - 4) << 30", "i32"),
        ("(tx - 4) / 2", "i32"),
        ("(tx - 4) % 4 + 4", "i32"),
        ("((tx - 3) >> 1) * 2 + (tx - 3) % 2", "i32"),
        ("(tx - 3) % 2 + ((tx - 3) & 1) + ((tx - 3) / 2) * 4", "i32"),
        ("(tx - 3) / 2 + ((tx - 3) >> 1)", "i32"),
        ("tx ^ 5", "u32"),
        ("tx | 8", "i32"),
        ("(tx << 2) | (tx & 3)", "u32"),
        ("-tx & 15", "i32"),
        ("-tx & 15", "u32"),
    ] {
        let text = format!(
            "kernel k() {{
  global param a: element 1
  var tx: {ty}
  let tx = convert<{ty}>(tid.x)
  write a[convert<i64>({index}); 1] @0
}}"
        );
        let subject = Subject::read(&text, 1);
        let pair = &subject.pairs(Level::Block)[0];
        if let Ok(proof) = subject.prove(pair) {
            subject.check(pair, &proof).unwrap_or_else(|error| panic!("{error}\n{text}"));
            for seed in 0..20 {
                let found = super::enumeration::conflict(&subject, pair, false, seed);
                assert!(found.is_none(), "{found:?}\n{text}\n{}\n{:?}", proof.derivation, proof.assumptions);
            }
        }
    }
}

#[test]
fn an_early_return_releases_barriers_in_one_language_only() {
    let text = "kernel k(n: i32) {
  var tx: i32
  var done: bool
  returned done
  let done = false
  let tx = convert<i32>(tid.x)
  if tx >= n {
    let done = true
  }
  if !done {
    sync block shared global @0
  }
}";
    let proof = sync(text, 0, Returned::ReleaseBarriers).expect("released");
    assert_eq!(proof.assumptions, [Assumption::ExitedThreadsReleaseBarriers]);
    assert!(sync(text, 0, Returned::StillCount).is_err());
}

#[test]
fn contradictory_assumptions_prove_nothing() {
    let kernel = |claim: &str| {
        format!(
            "kernel k(n: i32) {{
  shared a: element 4
  assume {claim}
  write a[4 * convert<i64>(tid.x) % 8; 4] @0
}}"
        )
    };
    let subject = Subject::read(&kernel("n > 3 && n < 2"), 1);
    assert_eq!(subject.prove(&subject.pairs(Level::Block)[0]).unwrap_err(), Open::Vacuous);
    let subject = Subject::read(&kernel("n > 3 && n < 20"), 1);
    assert_eq!(subject.prove(&subject.pairs(Level::Block)[0]).unwrap_err(), Open::NoRule);
}

const BITONIC_MERGE: &str = "kernel k() {
  shared s: element 4
  var tid: u32
  var size: u32
  var stride: u32
  var pos: u32
  var v: opaque4
  let tid = tid.x
  write s[convert<i64>(tid) * 4; 4] @0
  write s[convert<i64>(tid + bdim.x) * 4; 4] @1
  for size = 2 while size <= 2 * bdim.x step << 1i32 @2 {
    for stride = size / 2 while stride > 0 step >> 1i32 @3 {
      sync block shared global @4
      let pos = 2 * tid - (tid & stride - 1)
      let v = read s[convert<i64>(pos) * 4; 4] @5
      let v = read s[convert<i64>(pos + stride) * 4; 4] @6
      write s[convert<i64>(pos) * 4; 4] @7
      write s[convert<i64>(pos + stride) * 4; 4] @8
    }
  }
}";

/// The stride starts at half of a power of two, so that it is one itself (POWERS).
#[test]
fn a_bitonic_merge_with_nested_powers_of_two_is_proved() {
    proves(BITONIC_MERGE, 1);
    refuses(&BITONIC_MERGE.replace("tid & stride - 1", "tid & 2 * stride - 1"), 1);
    refuses(&BITONIC_MERGE.replace("size = 2 ", "size = 3 "), 1);
    refuses(&without(BITONIC_MERGE, "@4"), 1);
}

#[test]
fn half_of_a_signed_length_may_be_of_either_sign() {
    let reverse = |guard: &str| {
        format!(
            "kernel k(n: i32) {{
  global param a: element 4
  var i: i32
  let i = convert<i32>(bid.x * bdim.x + tid.x)
  if i < {guard} {{
    write a[convert<i64>(i) * 4; 4] @0
    write a[convert<i64>(n - 1 - i) * 4; 4] @1
  }}
}}"
        )
    };
    for level in [Level::Block, Level::Grid] {
        assert_eq!(open(&reverse("n / 2"), 1, level), []);
        assert_ne!(open(&reverse("(n + 2) / 2"), 1, level), []);
    }
}

#[test]
fn launch_bounds_bound_the_block() {
    let ring = |head: &str, ring: u32| {
        format!(
            "kernel k(head: u32) {head} {{
  shared a: element 4
  write a[convert<i64>(head + tid.x & {}) * 4; 4] @0
}}",
            ring - 1
        )
    };
    proves(&ring("[threads <= 256]", 256), 1);
    refuses(&ring("[threads <= 257]", 256), 1);
    refuses(&ring("", 256), 1);
}

/// `n * n` of 32 bits may be 0 where it wraps, which says nothing about the product of 64 bits: 9 times two to the 32 is
/// no power of two, and threads 0 and 1 meet.
#[test]
fn a_power_of_two_in_a_narrow_type_is_none_in_a_wide_one() {
    let text = |test: &str| {
        format!(
            "kernel k(n: u32) {{
  global param a: element 1
  var x: u64
  assume {test}
  let x = convert<u64>(tid.x) * 4294967296
  if x < convert<u64>(n) * convert<u64>(n) {{
    write a[convert<i64>(x & convert<u64>(n) * convert<u64>(n) - 1); 1] @0
  }}
}}"
        )
    };
    let wide = "(convert<u64>(n) * convert<u64>(n) & convert<u64>(n) * convert<u64>(n) - 1) == 0";
    for (test, least) in [("(n * n & n * n - 1) == 0", 0), (wide, 1)] {
        let subject = Subject::read(&text(test), 1);
        let pair = &subject.pairs(Level::Block)[0];
        let proof = subject.prove(pair).map(|proof| proof.assumptions);
        let proves = |proof: &Vec<Assumption>| {
            !proof
                .iter()
                .any(|one| matches!(one, Assumption::NoUnsignedWrap { expression, .. } if expression == "n * n"))
        };
        assert_eq!(usize::from(proof.as_ref().is_ok_and(proves)), least, "{test}: {proof:?}");
    }
}
