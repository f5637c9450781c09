//! What is drawn of small launches, and what is not.

use super::svg::svg;
use super::{How, Picture};
use crate::calculus::eval::Chosen;
use crate::calculus::{Geometry, Kernel, text};
use crate::prove::Scope;
use crate::prove::refute::shown::{of_small_launches, of_witness};

fn kernel(source: &str) -> Kernel {
    text::parse(source).unwrap_or_else(|error| panic!("{error}"))
}

fn pictures(kernel: &Kernel) -> Vec<Picture> {
    of_small_launches(kernel, &Scope::default(), 6).iter().map(|shown| Picture::of(kernel, shown)).collect()
}

/// Each thread writes its element and reads its neighbour's; with a barrier between the two, or without.
fn neighbours(barrier: &str) -> Kernel {
    kernel(&format!(
        "kernel k() {{ shared tile: element 4 global param out: element 4 var v: i32
         write tile[convert<i64>(tid.x) * 4; 4] @0
         {barrier}
         let v = read tile[convert<i64>(tid.x) * 4 + 4; 4] @2 }}"
    ))
}

#[test]
fn collisions_are_marked_at_the_elements_where_threads_meet() {
    let pictures = pictures(&neighbours(""));
    let picture = pictures.iter().find(|picture| picture.geometry.block == [4, 1, 1]).expect("a block of four");
    let [panel] = &picture.panels[..] else { panic!("{picture:?}") };
    assert_eq!((panel.array.as_str(), panel.interval), ("tile", Some(1)));
    let collide = |how| -> Vec<(usize, i64)> {
        let touches = panel.touches.iter().filter(|touch| touch.how == how && touch.collides);
        touches.map(|touch| (touch.row, panel.cells[touch.cell])).collect()
    };
    // What the last thread reads nobody writes, and nobody reads what the first one writes.
    assert_eq!(collide(How::Write), [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(collide(How::Read), [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_barrier_makes_two_panels_without_collisions() {
    for picture in pictures(&neighbours("sync block shared @1")) {
        let intervals: Vec<Option<u32>> = picture.panels.iter().map(|panel| panel.interval).collect();
        assert_eq!(intervals, [Some(1), Some(2)]);
        assert!(!picture.has_collisions(), "{picture:?}");
    }
}

#[test]
fn blocks_that_write_one_element_collide_whatever_their_interval() {
    let kernel = kernel(
        "kernel k() { global param out: element 4
         if tid.x == 0 && bid.x < 9 { write out[0; 4] @0 } sync block shared global @1 }",
    );
    let of_two = pictures(&kernel).into_iter().find(|picture| picture.geometry.blocks() == 2).expect("two blocks");
    assert_eq!(of_two.panels[0].interval, None);
    assert!(of_two.has_collisions());
    let of_one = pictures(&kernel).into_iter().find(|picture| picture.geometry.blocks() == 1).expect("one block");
    assert!(!of_one.has_collisions());
}

#[test]
fn what_memory_decides_is_counted_and_not_drawn() {
    let kernel = kernel(
        "kernel k() { global param at: element 4 global param out: element 4 var j: i32
         let j = read at[convert<i64>(tid.x) * 4; 4] @0
         write out[convert<i64>(j) * 4; 4] @1 }",
    );
    let pictures = pictures(&kernel);
    assert!(!pictures.is_empty());
    for picture in &pictures {
        let threads = picture.geometry.block_threads() * picture.geometry.blocks();
        assert_eq!(picture.left_out.unplaced as u64, threads, "{picture:?}");
        assert!(picture.panels.iter().all(|panel| panel.array == "at"));
    }
}

#[test]
fn of_a_large_launch_those_threads_are_drawn_that_collide() {
    let kernel = kernel(
        "kernel k() { shared tile: element 4
         if tid.x == 200 { write tile[0; 4] @0 }
         if tid.x == 201 { write tile[0; 4] @1 } }",
    );
    let launch = (Geometry { block: [256, 1, 1], grid: [1, 1, 1] }, Vec::new());
    let shown = of_witness(&kernel, launch, vec![[0, 0, 0]], &Chosen::default()).expect("it runs");
    let picture = Picture::of(&kernel, &shown);
    let drawn: Vec<u32> = picture.rows.iter().map(|row| row.thread[0]).collect();
    assert!(drawn.contains(&200) && drawn.contains(&201), "{drawn:?}");
    assert_eq!(picture.left_out.threads + drawn.len() as u64, 256);
    assert_eq!(picture.panels[0].touches.iter().filter(|touch| touch.collides).count(), 2);
}

#[test]
fn a_drawing_says_in_words_and_forms_what_it_shows() {
    let pictures = pictures(&neighbours(""));
    let (picture, panel) = (&pictures[0], &pictures[0].panels[0]);
    let drawn = svg(picture, panel, "tile < of \"four\"");
    assert!(drawn.contains("aria-label=\"tile &lt; of &quot;four&quot;\""), "{drawn}");
    let crosses = drawn.matches("l8 8m0 -8l-8 8").count();
    assert_eq!(crosses, panel.touches.iter().filter(|touch| touch.collides).count());
    let squares = drawn.matches("h8v8h-8z").count();
    assert_eq!(squares, panel.touches.iter().filter(|touch| touch.how == How::Write).count());
}

#[test]
fn many_elements_of_a_thread_are_one_bar() {
    let kernel = kernel(
        "kernel k() { global param out: element 4 var i: i32
         for i = 0 while i < 40 step + 1 @1 { write out[(convert<i64>(tid.x) * 40 + convert<i64>(i)) * 4; 4] @0 } }",
    );
    let pictures = pictures(&kernel);
    let picture = &pictures[0];
    let drawn = svg(picture, &picture.panels[0], "bars");
    assert!(!drawn.contains("h8v8h-8z"), "{drawn}");
    assert!(drawn.matches("v6h-").count() <= picture.rows.len());
    assert!(picture.panels[0].more_cells > 0);
}
