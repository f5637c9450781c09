//! The types of variables as `resolve` computes them, against those that clang knows.
//!
//! Compared is what matters to addresses and values: widths, signs, sizes and numbers of elements, sizes and
//! alignments of records. What depends on a template parameter is compared in no pattern, and what `resolve`
//! calls unknown in nothing. Every other difference stands in [`EXCEPTIONS`] with its reason.

use crate::support::draw::part;
use crate::support::tier::tiers;
use raceproof::driver::Pool;
use raceproof::front::clang;
use raceproof::front::tree_sitter;
use raceproof::launch::resolve;
use raceproof::preprocess::{Options, preprocess};
use raceproof::resolve::program::{Program, Storage, Type, TypeId};
use raceproof::source::{Dialect, SourceMap, Span, discover};
use raceproof::syntax::Shape;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Variables whose types differ, and why: file, name, reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("fixtures/libraries/thread_copies.cu", "shape", "an aligned size goes by its number"),
    ("fixtures/phases/pipelines.cu", "pipe", "a pipeline that threads share goes by the address of its state"),
    ("fixtures/phases/pipelines_in_step.cu", "pipe", "a pipeline that threads share goes by the address of its state"),
    (
        "fixtures/libraries/block_collectives.cu",
        "reduce",
        "an object of a collective goes by the pointer to its storage",
    ),
    ("fixtures/types/computed_types.cu", "room", "storage for an object of another type goes by its bytes"),
    ("fixtures/opencl/version_2_0.cl", "in", "a pipe is no value; it goes by the type of its packets"),
    ("fixtures/fences/last_group.cl", "count", "an atomic object goes by the type of its value"),
    ("fixtures/flags/hand_over.cl", "flag", "an atomic object goes by the type of its value"),
    ("fixtures/locks/exchange.cl", "lock", "an atomic object goes by the type of its value"),
    ("fixtures/locks/tested_flags.cl", "taken", "an atomic object goes by the type of its value"),
    ("fixtures/opencl/atomic_flags.cl", "taken", "an atomic object goes by the type of its value"),
    ("fixtures/opencl/compare_exchange.cl", "lock", "an atomic object goes by the type of its value"),
    ("fixtures/opencl/version_2_0.cl", "out", "a pipe is no value; it goes by the type of its packets"),
];

/// How a type and a shape differ, if they do.
fn difference(program: &Program, ty: TypeId, shape: &Shape) -> Option<String> {
    let is_cuda = program.language == raceproof::source::Language::Cuda;
    let differs = || Some(format!("{} is {shape} to clang", program.type_name(ty)));
    let same = match (&program.types[ty], shape) {
        (Type::Unknown(_), _) | (_, Shape::Dependent) => true,
        (Type::Void, Shape::Void) | (Type::Bool, Shape::Bool) => true,
        (Type::Int { width, signed }, Shape::Int { width: w, signed: s }) => (u16::from(*width), signed) == (*w, s),
        (Type::Int { width, signed }, Shape::Enumeration { width: w, signed: s }) => {
            (u16::from(*width), signed) == (*w, s)
        }
        (Type::Float { width }, Shape::Float { width: w }) => u16::from(*width) == *w,
        (Type::Pointer { to, .. }, Shape::Pointer(shape)) => return difference(program, *to, shape),
        (Type::Array { of, len }, Shape::Array(shape, length)) if len == length => {
            return difference(program, *of, shape);
        }
        (Type::Vector { of, lanes }, Shape::Vector(shape, l)) if u64::from(*lanes) == *l => {
            return difference(program, *of, shape);
        }
        // Vectors and short floats of CUDA are structs.
        (Type::Vector { .. } | Type::Float { width: 16 }, Shape::Record(Some(measured))) if is_cuda => {
            (program.size_of(ty), program.align_of(ty)) == (Some(measured.0), Some(measured.1))
        }
        // A lambda may hold more names here than it uses: nothing depends on its layout.
        (Type::Record(record), Shape::Record(_)) if program.records[*record].is_fixed => true,
        (Type::Record(record), Shape::Record(Some(measured))) => {
            let record = &program.records[*record];
            record.bytes.is_none_or(|bytes| (bytes, record.align) == *measured)
        }
        (Type::Record(_), Shape::Record(None)) => true,
        // A handle, which goes by its number.
        (Type::Int { width: 64, signed: false }, Shape::Other(text)) => text.ends_with("event_t"),
        _ => false,
    };
    if same { None } else { differs() }
}

/// The types that clang knows in `text`, by the span of the name.
fn known(pool: &Pool, path: &Path, text: &str, dialect: Dialect) -> BTreeMap<Span, Shape> {
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let output = preprocess(sources, main, &Options::new(dialect));
    let answer = clang::read(pool, &output, dialect).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    answer.known.types.into_iter().collect()
}

/// The variables compared, and the differences.
fn compared(pool: &Pool, path: &Path, text: &str) -> (Vec<String>, Vec<(String, String)>) {
    let dialect = discover::dialect_of(path).expect("a fixture has an extension");
    let known = known(pool, path, text, dialect);
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let program = resolve(tree_sitter::parse(sources, main, &Options::new(dialect)).unit).launched.program;
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for (_, variable) in program.variables.iter() {
        let Some(shape) = known.get(&variable.span) else { continue };
        // What stands for a part of a structure that host code fills has no declaration of its own, and host code is looked
        // at for what it says of launches alone.
        if variable.name.contains('.') || variable.storage == Storage::Host {
            continue;
        }
        seen.push(variable.name.clone());
        // To clang an enumeration without a fixed underlying type may be unsigned. In C++ its values become `int` all the
        // same wherever they are used, and which values there are is known.
        let is_enumeration = matches!(shape, Shape::Enumeration { width: 32, .. });
        if is_enumeration
            && difference(&program, variable.ty, &Shape::Enumeration { width: 32, signed: true }).is_none()
        {
            continue;
        }
        found.extend(difference(&program, variable.ty, shape).map(|text| (variable.name.clone(), text)));
    }
    found.dedup();
    (seen, found)
}

#[test]
fn variables_of_every_fixture_have_the_types_that_clang_knows() {
    let Some(pool) = super::pool() else { return };
    let (files, errors) = discover::discover(&[PathBuf::from("fixtures")]);
    assert!(errors.is_empty() && !files.is_empty(), "{errors:?}");
    let files = part("types of variables", files, tiers(1, 3, 1), |path| path.display().to_string());
    let results: Vec<_> = files
        .par_iter()
        .map(|path| compared(&pool, path, &std::fs::read_to_string(path).expect("the fixture can be read")))
        .collect();
    let mut wrong = Vec::new();
    let mut met = vec![false; EXCEPTIONS.len()];
    for (path, (_, differences)) in files.iter().zip(&results) {
        for (name, text) in differences {
            let is_this = |it: &&(usize, &(&str, &str, &str))| path == Path::new(it.1.0) && name == it.1.1;
            match EXCEPTIONS.iter().enumerate().find(|it| is_this(&it)) {
                Some((at, _)) => met[at] = true,
                None => wrong.push(format!("{}: {name}: {text}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_tried = |name: &str| files.iter().any(|path| path == Path::new(name));
    let unmet: Vec<_> =
        EXCEPTIONS.iter().zip(met).filter(|(it, met)| !met && is_tried(it.0)).map(|(it, _)| it).collect();
    assert!(unmet.is_empty(), "no exceptions any more: {unmet:?}");
    let count: usize = results.iter().map(|(seen, _)| seen.len()).sum();
    assert!(count > 2 * files.len(), "only {count} variables were found in clang's answer");
}

/// Checks that all variables named `v1`, `v2` … of `text` are compared, and have the types that clang knows.
#[track_caller]
fn alike(path: &str, text: &str) {
    let Some(pool) = super::pool() else { return };
    let (seen, differences) = compared(&pool, Path::new(path), text);
    assert!(differences.is_empty(), "{differences:?}");
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_numbered = |word: &&str| word.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let written: BTreeSet<&str> = words.filter(is_numbered).collect();
    let missed: Vec<_> = written.into_iter().filter(|&name| seen.iter().all(|seen| seen != name)).collect();
    assert!(missed.is_empty(), "not compared: {missed:?}");
}

#[test]
fn arithmetic_types_have_clangs_widths_and_signs() {
    alike(
        "a.cu",
        "#include <cstdint>
__global__ void k(char v1, signed char v2, unsigned char v3, short v4, unsigned short v5, int v6, unsigned v7,
  long v8, unsigned long v9, long long v10, unsigned long long v11, float v12, double v13, bool v14, wchar_t v15,
  size_t v16, ptrdiff_t v17, uint8_t v18, int64_t v19, uintptr_t v20, uint v21, ushort v22, clock_t v23,
  char16_t v24, char32_t v25, unsigned long long int v26, long unsigned v27, const volatile short int v28,
  half v29, __half2 v30, __nv_bfloat16 v31, cudaTextureObject_t v32) {}",
    );
    alike(
        "a.cl",
        "__kernel void k(char v1, uchar v2, short v3, ushort v4, int v5, uint v6, long v7, ulong v8, float v9, double v10,
  unsigned long v12, __global half *v13, int2 v14, float3 v15, uchar16 v16, __local double4 *v17) {
  size_t v18; ptrdiff_t v19; bool v20; intptr_t v21; uintptr_t v22; half v23; }",
    );
    alike(
        "a.hip",
        "__global__ void k(char v1, long v2, size_t v3, float4 v4, hip_bfloat16 v5, unsigned long long v6, double3 v7) {
  auto v8 = __ballot(1); auto v9 = warpSize; auto v10 = clock64(); }",
    );
}

#[test]
fn vectors_records_and_enumerations_have_clangs_sizes() {
    alike(
        "a.cu",
        "struct A { char a; double b; }; struct B { int a : 3, b : 7; char c; }; union C { float a; short b[5]; };
struct __align__(16) D { float x, y, z; }; struct E : A { char e; }; struct F { float3 a; float4 b; char c; };
struct G { A a[3]; char *p; bool b; }; struct H {}; struct I { char a; long long b; short c; };
enum J { j1, j2 }; enum L { l1 = -1 }; enum M { m1 = 0x1ffffffff }; enum class N : unsigned char { n1 }; enum class O { o1 };
struct P { J a; N b; }; struct Q { int a : 5; long long b : 40; short c; };
__global__ void k(A v1, B v2, C v3, D v4, E v5, F v6, G v7, H v8, I v9, J v10, L v11, M v12, N v13, O v14, P v15,
  float1 v16, float2 v17, float3 v18, float4 v19, char3 v20, short4 v21, double2 v22, double4 v23, longlong2 v24,
  ulonglong4 v25, dim3 v26, uchar4 v27, int3 v28, Q v29) {}",
    );
    alike(
        "a.cl",
        "typedef struct { char a; float3 b; } A; typedef struct { uchar a; ushort4 b; long c; } B; enum C { c1, c2 };
typedef struct __attribute__((packed)) { char a; int b; } D;
__kernel void k(__global A *v1, __global B *v2, enum C v3, char3 v4, double16 v5, __global D *v6) {}",
    );
}

#[test]
fn declarators_are_read_as_clang_reads_them() {
    alike(
        "a.cu",
        "typedef float Row[8]; typedef Row *Rows; template <typename T> struct Box { T v; T *p[2]; };
__constant__ short v1[3][5]; __device__ unsigned char v2; extern __shared__ double v3[];
__global__ void k(int v4[], float (*v5)[4], int *v6[3], Rows v7, const Row &v8, int **v9, Box<char> v10, Box<double> *v11) {
  __shared__ float v12[2][3 * 4]; auto v13 = v4[0] * 1L; auto v14 = &v5[1][2]; const int &v15 = v4[0];
  unsigned v16[sizeof(Box<double>)], v17 = 0, *v18 = &v17; decltype(v13) v19 = 0; auto v20 = v10.v + 'a'; auto v21 = true ? 1u : 2;
  auto v22 = (unsigned char)1 << 2; auto v23 = 1.0f * 2; auto v24 = v2 + v1[0][0]; v3[0] = v24; auto v25 = threadIdx; auto v26 = sizeof(int); }",
    );
}
