//! What launches say of a kernel, each set of facts once.

use super::launched;
use raceproof::calculus::Axis;
use raceproof::launch::{Impossible, facts};

#[test]
fn equal_launches_are_one_set_of_facts() {
    let launched = launched(
        "__global__ void k(int *a, int n, bool b) { a[n] = b; } void host(int *p, int x) {
         k<<<4, 64>>>(p, 9, true); k<<<4, 64>>>(p, 9, true); k<<<x, dim3(8, 8)>>>(p, x, 2); }",
    );
    let (found, impossible) = facts(&launched, launched.program.kernels[0]);
    assert_eq!(impossible, []);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].spans.len(), 2);
    assert_eq!((found[0].grid, found[0].block), ([Some(4), Some(1), Some(1)], [Some(64), Some(1), Some(1)]));
    assert_eq!(found[0].params, [("n".to_owned(), 9), ("b".to_owned(), 1)]);
    assert_eq!((found[1].grid, found[1].block), ([None, Some(1), Some(1)], [Some(8), Some(8), Some(1)]));
    assert_eq!(found[1].params, [("b".to_owned(), 1)]);
}

#[test]
fn launches_that_no_device_runs_are_told_apart() {
    let launched = launched(
        "__global__ void __launch_bounds__(512) k(int *a) { a[0] = 1; }
         void host(int *p, int n) {
           k<<<1, 2048>>>(p); k<<<dim3(1, 70000), 32>>>(p); k<<<1, dim3(1, 1, 65)>>>(p); k<<<n, dim3(n, 513)>>>(p);
           k<<<1, 1>>>(p);
         }",
    );
    let (found, impossible) = facts(&launched, launched.program.kernels[0]);
    assert_eq!(found.len(), 1);
    let reasons: Vec<Impossible> = impossible.into_iter().map(|(_, reason)| reason).collect();
    let expected = [
        Impossible::Block { threads: 2048, most: 1024 },
        Impossible::GridExtent { size: 70_000, axis: Axis::Y, most: 65_535 },
        Impossible::BlockExtent { size: 65, axis: Axis::Z, most: 64 },
        Impossible::Bounds { threads: 513, most: 512 },
    ];
    assert_eq!(reasons, expected);
}
