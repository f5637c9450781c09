//! What names of libraries mean is said in `builtins` and nowhere else (docs/ARCHITECTURE.md, "Invariants across rooms"):
//!
//! - No other room has a string that names a function of CUDA, HIP or OpenCL, but for what [`PLACES`] and [`ELSEWHERE`] list
//!   with a reason.
//! - What stands in for the libraries, the headers that clang is given and the runtimes, has no function that `builtins`
//!   does not know, but for what [`BEYOND`] lists.
//!
//! Words that no library owns (`min`, `barrier`, `sync`) count where names of programs are read: [`READERS`].
//!
//! Deliberately absent: names of types, which front ends need to parse; names of the standard library; words of the
//! languages (`__global__`); texts that are more than a name.

use super::{Source, assert_none, code_lines, room_of, sources};
use raceproof::builtins::names::{is_class, is_distinct, is_function};
use raceproof::builtins::types::named_type;
use raceproof::builtins::variables::variable;
use raceproof::source::Language;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where programs and libraries stand as text, and names of functions with them.
const PLACES: &[(&str, &str)] = &[
    ("src/builtins", "the tables"),
    ("src/front/clang/shim", "headers for clang"),
    ("src/instrument/runtime", "runtimes"),
    ("src/execute", "programs that run kernels, and what compilers say of such programs"),
    ("src/reproduce", "programs that show a race"),
];

/// The rooms that read names of programs, where words count that no library owns.
const READERS: &[&str] = &["resolve", "lower", "flow", "fix", "instrument", "launch", "driver", "check"];

/// What else names functions: a file, the names, why.
const ELSEWHERE: &[(&str, &[&str], &str)] = &[
    ("src/calculus/function.rs", &["__same_group"], "a word of the calculus itself, which GPUVerify has, too"),
    ("src/check/barrier_divergence.rs", &["barrier"], "a word of messages"),
    (
        "src/diagnostic/vocabulary.rs",
        &["get_local_id", "get_group_id", "get_local_size", "get_num_groups", "__builtin_assume"],
        "how messages write what the language of the source has",
    ),
    ("src/front/clang/text.rs", &["to_global", "to_local", "to_private"], "clang misplaces calls of them"),
    ("src/instrument/callees.rs", &["sync"], "a function of the runtime"),
    ("src/launch/enqueued.rs", &["printf"], "functions of C, by how their names end"),
    ("src/lower/lanes.rs", &["abs"], "a function of the calculus"),
    ("src/lower/operator.rs", &["fmin", "fmax"], "functions of the calculus"),
    ("src/lower/ptx", &[], "instructions of PTX"),
    ("src/resolve/expr.rs", &["select"], "what a conditional of lanes is shown as"),
    ("src/resolve/print.rs", &["min", "max"], "words of the text of a program"),
    ("src/resolve/unknown_call.rs", &["min", "max"], "constants of `std::numeric_limits`"),
];

/// What headers and runtimes have, and no table: names, or how they begin (`x…`), and why.
const BEYOND: &[(&[&str], &str)] = &[
    (&["__builtin_…", "__atomic_…", "__ATOMIC_…", "__is_…", "__make_…", "__null", "__auto_type"], "words of compilers"),
    (&["__int128", "__cxa_demangle"], "words of compilers, and of their libraries"),
    (&["__global", "__local", "__constant", "__private", "__generic"], "words of OpenCL C"),
    (&["__opencl_…", "__OPENCL_…"], "macros of OpenCL C"),
    (&["__real_…", "__wrap_…"], "what a linker calls a function that is wrapped"),
    (&["__half_raw", "__nv_bfloat16_raw", "__nv_fp8_interpretation_t", "__nv_saturation_t"], "types"),
    (&["__cudaPushCallConfiguration", "__hipPushCallConfiguration"], "what clang makes of `<<<…>>>`"),
    (
        &["__cudaLaunchKernel", "__cudaRegisterVar", "__cudaRegisterManagedVar"],
        "what nvcc makes of launches and of variables",
    ),
    (&["__hip_assert"], "what the headers of HIP make of `assert`"),
    (&["get_default_queue"], "kernels that launch kernels, which nothing models"),
    (
        &["__syncthreads_at", "atomic_block", "atomic_device", "atomic_system", "get_mask", "get_type"],
        "the runtimes' own",
    ),
];

/// What macros put behind a name: `__float2##int_rn`.
const PASTED: &[&str] = &["_rn", "2", "4", "s2", "int_rn", "half", "half2", "half2_rn", "_s32", "_s32_relu"];

/// The code of a file without its tests.
fn without_tests(source: &Source) -> &str {
    let end = source.text.find("\n#[cfg(test)]\nmod ").unwrap_or(source.text.len());
    if source.path.ends_with("tests.rs") { "" } else { &source.text[..end] }
}

/// The strings of a line that are names, with or without namespaces.
fn names_in(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |text: &&str| {
        let mut chars = text.chars();
        chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
    };
    line.split('"').skip(1).step_by(2).filter(is_name)
}

/// Whether a room may not have that name.
fn is_foreign(room: &str, name: &str) -> bool {
    is_function(name) && (is_distinct(name) || READERS.contains(&room))
}

/// What a file names that only `builtins` may.
fn named(source: &Source) -> Vec<(usize, &str)> {
    let room = room_of(&source.path);
    let own = room.split('/').next().unwrap_or_default();
    let lines = code_lines(without_tests(source));
    let found = lines.flat_map(|(number, line)| names_in(line).map(move |name| (number, name)));
    found.filter(|(_, name)| is_foreign(own, name)).collect()
}

/// The row of [`ELSEWHERE`] for a name in a file.
fn listed(path: &Path, name: &str) -> Option<usize> {
    let is_row = |(file, names, _): &(&str, &[&str], &str)| {
        path.starts_with(file) && (names.is_empty() || names.contains(&name))
    };
    ELSEWHERE.iter().position(is_row)
}

/// What files name that only `builtins` may: the file, the line, the name.
fn strays(files: &[Source]) -> Vec<(&Path, usize, &str)> {
    let of = |source| named(source).into_iter().map(|(number, name)| (&*source.path, number, name)).collect::<Vec<_>>();
    files.iter().flat_map(of).filter(|(path, _, name)| listed(path, name).is_none()).collect()
}

/// The files that may not name functions.
fn other_rooms() -> Vec<Source> {
    let mut found = sources("src");
    found.retain(|source| !PLACES.iter().any(|(place, _)| source.path.starts_with(place)));
    found
}

/// How many names of functions stand where they should not.
pub(crate) fn named_elsewhere() -> usize {
    strays(&other_rooms()).len()
}

#[test]
fn functions_of_libraries_are_named_in_builtins_alone() {
    let files = other_rooms();
    let complaint = |(path, number, name): (&Path, usize, &str)| {
        format!("{}:{number}: `{name}` is for `builtins` to know", path.display())
    };
    assert_none(&strays(&files).into_iter().map(complaint).collect::<Vec<_>>());
}

#[test]
fn what_is_listed_with_a_reason_is_there() {
    let files = other_rooms();
    let used: BTreeSet<usize> = files
        .iter()
        .flat_map(|source| named(source).into_iter().filter_map(|(_, name)| listed(&source.path, name)))
        .collect();
    let rows = (0..ELSEWHERE.len()).filter(|row| !used.contains(row));
    let mut complaints: Vec<String> =
        rows.map(|row| format!("{}:1: names none of what is listed", ELSEWHERE[row].0)).collect();
    let texts = stand_ins();
    let words: BTreeSet<&str> = texts.iter().flat_map(|(_, text)| library_words(text)).collect();
    let names = BEYOND.iter().flat_map(|(names, _)| names.iter());
    let absent = names.filter(|name| !words.iter().any(|word| means(name, word)));
    complaints.extend(
        absent.map(|name| format!("grammar-tests/tidy/meanings.rs:1: `{name}` is in no header and no runtime")),
    );
    assert_none(&complaints);
}

#[test]
fn names_that_are_compared_are_seen() {
    let source = |path: &str, text: &str| Source { path: PathBuf::from(path), text: text.to_owned() };
    let files = [
        source("src/lower/a.rs", "if name == \"barrier\" {} // \"sync\"\n\n#[cfg(test)]\nmod tests {\n\"__popc\"\n}\n"),
        source("src/calculus/b.rs", "match name { \"__popc\" | \"min\" => 1, \"a __popc\" => 2 }"),
    ];
    let found: Vec<(usize, &str)> = strays(&files).into_iter().map(|(_, number, name)| (number, name)).collect();
    assert_eq!(found, [(1, "barrier"), (1, "__popc")]);
    let words = library_words("int __popc(int); // __clz\n__global__ void f(int __x_);\nRP_OF(__vadd) \"__ffs\"");
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["__popc", "__vadd"]);
    assert!(is_known("__popc") && is_known("__vadd") && !is_known("__mystery"));
}

/// The texts that stand in for libraries.
fn stand_ins() -> Vec<(PathBuf, String)> {
    let mut open: Vec<PathBuf> = ["src/front/clang/shim", "src/instrument/runtime"].iter().map(PathBuf::from).collect();
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("the directory can be read") {
            let path = entry.expect("the entry can be read").path();
            let is_text = path.extension().is_some_and(|it| ["h", "hpp", "cu", "cl"].iter().any(|own| it == *own));
            if path.is_dir() {
                open.push(path);
            } else if is_text {
                let text = fs::read_to_string(&path).expect("the file can be read");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The names of a text that only a library would use, outside of comments and strings.
fn library_words(text: &str) -> BTreeSet<&str> {
    let starts = ["__", "atomic", "tex1D", "tex2D", "tex3D", "texC", "surf1D", "surf2D", "surf3D", "surfC"];
    let of_opencl = ["get_", "sub_group_", "work_group_", "async_", "read_image", "write_image"];
    let is_owned = |word: &str| starts.iter().chain(&of_opencl).any(|start| word.starts_with(start));
    let mut found = BTreeSet::new();
    for (_, line) in code_lines(text) {
        let code = line.split('"').step_by(2);
        let words = code.flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        found
            .extend(words.filter(|word| word.len() > 4 && !word.ends_with('_') && is_owned(word) && is_distinct(word)));
    }
    found
}

fn is_known(word: &str) -> bool {
    let of_language = |language| named_type(language, word).is_some() || variable(language, word).is_some();
    let is_part = PASTED.iter().any(|rest| is_function(&format!("{word}{rest}")));
    is_function(word) || is_part || is_class(word) || of_language(Language::Cuda) || of_language(Language::OpenCl)
}

/// Whether a row of [`BEYOND`] means that word.
fn means(row: &str, word: &str) -> bool {
    row.strip_suffix('…').map_or(row == word, |start| word.starts_with(start))
}

fn is_beyond(word: &str) -> bool {
    BEYOND.iter().any(|(names, _)| names.iter().any(|name| means(name, word)))
}

#[test]
fn headers_and_runtimes_have_what_builtins_knows() {
    let mut complaints = Vec::new();
    for (path, text) in stand_ins() {
        let unknown = library_words(&text).into_iter().filter(|word| !is_known(word) && !is_beyond(word));
        complaints.extend(unknown.map(|word| format!("{}:1: `{word}` is not in `builtins`", path.display())));
    }
    assert_none(&complaints);
}
