//! What a compiler knows is held against what was found: here it is told what is wrong.

use super::function;
use raceproof::front::tree_sitter;
use raceproof::launch::resolve;
use raceproof::preprocess::Options;
use raceproof::resolve::program::Program;
use raceproof::source::{FileId, Language, SourceMap, Span};
use raceproof::syntax::Shape;
use raceproof::syntax::known::{Call, Known};

const TEXT: &str = "enum Kind { first, second };
const int width = 4;
__device__ int at(int i) { return i; }
__device__ int at(long i) { return i / 2; }
struct Cell { int value; __device__ Cell(int i) : value(i) {} };
__global__ void k(int *out) { int i = at((int)threadIdx.x); Cell cell(i); out[cell.value + second * width] = i; }
__global__ void other(int *out) { out[threadIdx.x] = 1; }
";

/// The words of the text, by which span they stand at: the `count`-th of that name.
fn span(name: &str, count: usize) -> Span {
    let (start, _) = TEXT.match_indices(name).nth(count).expect("it stands in the text");
    Span::new(FileId::from_index(0), start, start + name.len())
}

/// The program of the text, held against this.
fn held(known: Known) -> Program {
    let mut sources = SourceMap::new();
    let main = sources.add_file("test.cu", TEXT);
    let mut unit = tree_sitter::parse(sources, main, &Options::new(Language::Cuda)).unit;
    unit.known = known;
    resolve(unit).launched.program
}

/// Why nothing is proved of a kernel.
fn reasons(known: Known, kernel: &str) -> Vec<String> {
    function(&held(known), kernel).unsupported.iter().map(|(_, reason)| reason.clone()).collect()
}

fn calls(place: &str, function: Span, constructs: bool) -> Known {
    let around = Span::new(
        FileId::from_index(0),
        TEXT.find("__global__ void k").unwrap(),
        TEXT.find("__global__ void other").unwrap(),
    );
    let place = span(place, 0);
    let call = Call {
        caller: span("k(", 0).sub(1),
        around,
        place,
        name: "at".to_owned(),
        function: [function; 2],
        constructs,
    };
    Known { calls: vec![call], ..Known::default() }
}

trait Shorter {
    fn sub(self, bytes: u32) -> Span;
}

impl Shorter for Span {
    /// Without its last bytes.
    fn sub(self, bytes: u32) -> Span {
        Span { end: self.end - bytes, ..self }
    }
}

#[test]
fn a_call_of_another_function_is_unknown() {
    let [called, other] = [0, 1].map(|count| span("at(", count).sub(1));
    assert_eq!(reasons(calls("at((int)threadIdx.x)", called, false), "k"), Vec::<String>::new());
    let found = reasons(calls("at((int)threadIdx.x)", other, false), "k");
    assert_eq!(found, ["to libclang `at` of line 4 is called here, which is not how it was read"]);
    assert!(reasons(calls("at((int)threadIdx.x)", other, false), "other").is_empty());
}

#[test]
fn a_call_that_stands_elsewhere_is_another_one() {
    let called = span("at(", 0).sub(1);
    assert_eq!(reasons(calls("second * width", called, false), "k").len(), 1);
    // Where an object is made is told in several ways.
    let constructor = span("Cell(", 0).sub(1);
    assert!(reasons(calls("second * width", constructor, true), "k").is_empty());
}

#[test]
fn a_type_that_differs_is_unknown_where_it_is_used() {
    let known = |shape| Known { types: vec![(span("i = at", 0).sub(5), shape)], ..Known::default() };
    assert!(reasons(known(Shape::Int { width: 32, signed: true }), "k").is_empty());
    assert!(reasons(known(Shape::Dependent), "k").is_empty());
    let found = reasons(known(Shape::Int { width: 64, signed: true }), "k");
    assert_eq!(found, ["`i` was read as int, and is i64 to libclang"]);
    let cell = |shape| Known { types: vec![(span("cell(", 0).sub(1), shape)], ..Known::default() };
    assert!(reasons(cell(Shape::Record(Some((4, 4)))), "k").is_empty());
    assert_eq!(reasons(cell(Shape::Record(Some((8, 4)))), "k").len(), 1);
    assert!(reasons(cell(Shape::Record(Some((8, 4)))), "other").is_empty());
}

#[test]
fn a_value_that_differs_is_unknown_everywhere() {
    for (name, value) in [("second", 1), ("width", 4)] {
        let known = |value| Known { values: vec![(span(name, 0), value)], ..Known::default() };
        assert!(reasons(known(value), "k").is_empty(), "{name}");
        let found = reasons(known(value + 1), "other");
        assert_eq!(found, [format!("`{name}` was read as {value}, and is {} to libclang", value + 1)]);
    }
}
