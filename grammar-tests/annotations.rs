//! The header of annotations (`include/raceproof.h`): that every compiler accepts it and makes nothing of it, and that raceproof
//! finds it and reads it wherever programs include it.
//!
//! What each annotation means to raceproof is in `fixtures/annotations/header.cu` and `header.cl`, which have all of them.

use crate::cli::Place;
use crate::support::tools::{self, cxx, has_cxx};
use raceproof::execute::cuda::nvcc;
use raceproof::source::own_header;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const CUDA: [&str; 2] =
    [include_str!("../fixtures/annotations/header.cu"), include_str!("../fixtures/annotations/header_specified.cu")];
pub(crate) const OPENCL: [&str; 2] =
    [include_str!("../fixtures/annotations/header.cl"), include_str!("../fixtures/annotations/header_specified.cl")];

/// The words of CUDA and OpenCL C as a host compiler is to read them.
const WORDS: &str = "#include <stddef.h>\n\
    #define __global__\n#define __device__\n#define __kernel\n#define __global\n\
    struct dim { unsigned x, y, z; };\n\
    extern const struct dim threadIdx, blockIdx, blockDim, gridDim;\n\
    typedef unsigned int uint;\ntypedef unsigned long ulong;\n#define CLK_LOCAL_MEM_FENCE 1\n\
    void __syncthreads(void);\nvoid barrier(int);\nint get_local_id(int);\nint get_group_id(int);\nint get_global_id(int);\n";

/// A place with these files, and the directory that `raceproof --include-dir` prints, below it.
pub(crate) fn place(files: &[(&str, &str)]) -> (Place, String) {
    let place = Place::with(files);
    let directory = printed(&place);
    (place, directory)
}

fn printed(place: &Place) -> String {
    let cache = place.path().join("cache");
    let output = place.command(&["--include-dir"]).env("XDG_CACHE_HOME", cache).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

#[track_caller]
fn is_silent(output: &Output) {
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|other| other == word)
}

#[test]
fn the_fixtures_have_every_macro() {
    for texts in [CUDA, OPENCL] {
        let is_there = |name: &str| texts.iter().any(|text| has_word(text, name));
        let missing: Vec<_> = own_header::forms().map(|(name, _)| name).filter(|name| !is_there(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

#[test]
fn nvcc_accepts_all_of_them_without_a_warning() {
    let Some(nvcc) = tools::used("nvcc", nvcc::find) else { return };
    for text in CUDA {
        let (place, directory) = place(&[("k.cu", text)]);
        let mut command = Command::new(&nvcc.program);
        command.args(["-std=c++17", "-c", "-arch=sm_90", "--Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]);
        command.args(["-I", &directory, "k.cu", "-o", "k.o"]).current_dir(place.path());
        is_silent(&command.output().expect("nvcc runs"));
    }
}

#[test]
fn nvcc_accepts_no_formula_outside_of_an_annotation() {
    let Some(nvcc) = tools::used("nvcc", nvcc::find) else { return };
    let text = "#include \"raceproof.h\"\n__global__ void k(int *a) { if (RACEPROOF_DISTINCT(a[0])) a[1] = 1; }\n";
    let (place, directory) = place(&[("k.cu", text)]);
    let mut command = Command::new(&nvcc.program);
    command.args(["-c", "-arch=sm_90", "-I", &directory, "k.cu", "-o", "k.o"]).current_dir(place.path());
    let output = command.output().expect("nvcc runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("raceproof_formula_outside_of_an_annotation"), "{said}");
}

/// gcc, and clang where it is there: C++ of all ages from the fixtures of CUDA, C from those of OpenCL.
#[test]
fn host_compilers_accept_all_of_them_without_a_warning() {
    if !has_cxx() {
        return;
    }
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let of_cxx = [cxx(), "clang++".to_owned()].into_iter().filter(|name| is_there(name));
    let of_c = ["cc", "clang"].map(str::to_owned).into_iter().filter(|name| is_there(name));
    let cases = of_cxx.map(|name| (name, "c++", &["c++11", "c++17", "c++20"][..], CUDA));
    for (compiler, language, standards, texts) in cases.chain(of_c.map(|name| (name, "c", &["c99", "c11"][..], OPENCL)))
    {
        for (text, standard) in texts.iter().flat_map(|text| standards.iter().map(move |standard| (text, standard))) {
            let (place, directory) = place(&[("words.h", WORDS), ("k.txt", text)]);
            let mut command = Command::new(&compiler);
            command.args([
                "-Wall",
                "-Wextra",
                "-Wno-sign-compare",
                "-Wno-unused-parameter",
                "-pedantic",
                "-Werror",
                "-include",
                "words.h",
                "-x",
            ]);
            command.args([language, &format!("-std={standard}"), "-I", &directory, "-c", "k.txt", "-o", "k.o"]);
            is_silent(&command.current_dir(place.path()).output().expect("it runs"));
        }
    }
}

const UNEVALUATED: &str = "#include \"raceproof.h\"\n#include <stdio.h>\n\
    static int calls;\nstatic bool called(int n) { calls += n; return true; }\n\
    template <int A, int B> static bool is_between(int n) { return called(1) && A < n && n < B; }\n\
    int main() {\n  int i = 0;\n  RACEPROOF_ASSUME(i++ > 5);\n  RACEPROOF_ASSERT(called(1));\n  RACEPROOF_REQUIRES((is_between<1, 3>(i)));\n  \
    RACEPROOF_ASSUME(RACEPROOF_IS_POWER_OF_TWO(i++) && RACEPROOF_IMPLIES(called(1), called(1)));\n  \
    for (; RACEPROOF_INVARIANT(called(1)), i < 3; i++) RACEPROOF_ENSURES(called(1));\n  printf(\"%d %d\\n\", i, calls);\n}\n";

#[test]
fn no_condition_is_evaluated_and_no_formula_links_outside_of_one() {
    if !has_cxx() {
        return;
    }
    let outside = "#include \"raceproof.h\"\nint main(int count, char **) { return RACEPROOF_UNIFORM(count); }\n";
    let (place, directory) = place(&[("a.cpp", UNEVALUATED), ("b.cpp", outside)]);
    let build = |file: &str| {
        let mut command = Command::new(cxx());
        command.args(["-w", "-O0", "-I", &directory, file, "-o", "program"]).current_dir(place.path());
        command.output().expect("it runs")
    };
    is_silent(&build("a.cpp"));
    let output = Command::new(place.path().join("program")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3 0\n");
    let output = build("b.cpp");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("raceproof_formula_outside_of_an_annotation"), "{said}");
}

#[test]
fn the_directory_is_written_where_it_is_not_there_or_differs() {
    let (place, directory) = place(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let expected = place.path().join("cache/raceproof").join(version).join("include");
    assert_eq!(Path::new(&directory), expected);
    let header = expected.join("raceproof.h");
    assert_eq!(fs::read_to_string(&header).expect("it is there"), own_header::TEXT);
    fs::write(&header, "damaged").expect("written");
    assert_eq!(printed(&place), directory);
    assert_eq!(fs::read_to_string(&header).expect("it is there"), own_header::TEXT);
    assert_eq!(fs::read_dir(&expected).expect("a directory").count(), 1);
    // The directory is that of results which belong to no repository, too.
    assert!(place.path().join("cache/raceproof/CACHEDIR.TAG").is_file());
    assert_eq!(place.run(&["header"]).expect(0).out, own_header::TEXT);
}

#[test]
fn without_a_cache_of_its_own_the_directory_is_below_home_or_told_missing() {
    let place = Place::with(&[]);
    let mut command = place.command(&["--include-dir"]);
    command.env("HOME", place.path()).env("XDG_CACHE_HOME", "relative");
    let output = command.output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(Path::new(printed.trim_end()).starts_with(place.path().join(".cache/raceproof")), "{printed}");
    assert!(Path::new(printed.trim_end()).join("raceproof.h").is_file(), "{printed}");
    let mut command = place.command(&["--include-dir"]);
    let output = command.env_remove("HOME").env_remove("XDG_CACHE_HOME").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("neither XDG_CACHE_HOME nor HOME is set"), "{output:?}");
    place.put("file", b"");
    let mut command = place.command(&["--include-dir"]);
    let output = command.env("XDG_CACHE_HOME", place.path().join("file")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("raceproof.h cannot be written below"), "{output:?}");
}

const SCATTER: &str = "#include \"raceproof.h\"\n__global__ void k(float *y, const int *target) {\n  int at = target[threadIdx.x];\n  \
    RACEPROOF_ASSUME(RACEPROOF_DISTINCT(at));\n  y[at] = 1;\n}\n";

#[test]
fn copies_that_include_paths_lead_to_mean_the_same_and_other_headers_what_they_say() {
    let own = "#define RACEPROOF_ASSUME(c)\n";
    let (place, directory) = place(&[("k.cu", SCATTER), ("other/raceproof.h", own), ("vendor/raceproof.h", own)]);
    let checked = |arguments: &[&str]| {
        place.run(&[&["check", "k.cu", "--any-launch", "--block-dim", "64", "--grid-dim", "1"], arguments].concat())
    };
    // A header of the project that no path leads to is not taken for it.
    assert!(checked(&[]).expect(0).out.contains("race-free"));
    assert!(checked(&["-I", &directory]).expect(0).out.contains("race-free"));
    assert!(checked(&["-I", "other"]).expect(1).out.contains("[data-dependent-index]"));
    // Without the assumption, the note says how it is written.
    place.put("k.cu", SCATTER.replace("  RACEPROOF_ASSUME(RACEPROOF_DISTINCT(at));\n", "").as_bytes());
    let note = "before the access: `RACEPROOF_ASSUME(RACEPROOF_DISTINCT(j))` (#include \"raceproof.h\")";
    assert!(checked(&[]).expect(1).out.contains(note), "{}", checked(&[]).out);
}

const PROGRAM: &str = "#include \"raceproof.h\"\n#include <cstdio>\nint reference(int);\n\
    #define CHECKED(i, a) RACEPROOF_ASSERT((a)[i] >= 0); (a)[i] += 1\n\
    __global__ void k(int *a, int n) {\n  int i = threadIdx.x;\n  RACEPROOF_REQUIRES(n == 64 && a[i] == i);\n  \
    RACEPROOF_ASSUME(RACEPROOF_SAME_GROUP || RACEPROOF_OTHER(a[i]) != a[i]);\n  \
    CHECKED(i, a);\n#ifdef __RACEPROOF__\n  a[i] += 1;\n#else\n  a[i] = -1;\n#endif\n}\n\
    int main() {\n  int *a;\n  cudaMallocManaged(&a, 64 * sizeof(int));\n  for (int i = 0; i < 64; i++) a[i] = i;\n  \
    k<<<1, 64>>>(a, 64);\n  cudaDeviceSynchronize();\n  printf(\"%d %d\\n\", a[7], reference(7));\n  return a[7] != reference(7);\n}\n";
const REFERENCE: &str = "#include \"raceproof.h\"\nint reference(int n) { RACEPROOF_ASSUME(n < 0); return n + 2; }\n";

#[test]
fn annotations_do_nothing_in_programs_that_are_built_for_a_run() {
    if !has_cxx() {
        return;
    }
    let place = Place::with(&[("a.cu", PROGRAM), ("reference.cpp", REFERENCE)]);
    for command in ["run", "cover", "mutate"] {
        let seen = place.run(&[command, "a.cu", "reference.cpp"]).expect(0);
        assert!(command == "mutate" || seen.out.contains("9 9"), "{command}: {seen:?}");
    }
    let text = place.run(&["instrument", "a.cu", "-o", "a.cpp"]).expect(0);
    let made = fs::read_to_string(place.path().join("a.cpp")).unwrap_or(text.out);
    // A call that brought an access is expanded, and what it brought stays an annotation for a compiler to pass over.
    let body = &made[made.find("void k").expect("the kernel")..];
    assert!(body.contains("RACEPROOF_ASSERT(") || body.contains("RACEPROOF_ASSERT ("), "{body}");
    let bare = own_header::forms().map(|(_, form)| form).find(|form| has_word(body, form));
    assert_eq!(bare, None, "{body}");
}

#[test]
fn programs_that_show_a_race_need_no_header() {
    if !has_cxx() {
        return;
    }
    let text = "#include \"raceproof.h\"\n__global__ void k(int *a, int n) {\n  RACEPROOF_REQUIRES(n == 3 && RACEPROOF_SAME_GROUP | RACEPROOF_UNIFORM(n));\n  a[n] = threadIdx.x;\n}\n";
    let place = Place::with(&[("k.cu", text)]);
    place.run(&["check", "k.cu", "--reproduce", "out"]).expect(1);
    let made =
        fs::read_dir(place.path().join("out")).expect("a directory").map(|entry| entry.expect("an entry").path());
    let made = made.into_iter().find(|path| path.extension().is_some_and(|it| it == "cu")).expect("a program");
    let program = fs::read_to_string(&made).expect("text");
    assert!(program.contains("#define RACEPROOF_REQUIRES(c) ((void)0)"), "{program}");
    assert!(!program.contains("raceproof.h\"") && !program.contains("__requires"), "{program}");
    place.run(&["run", made.to_str().expect("a name")]).expect(1);
}
