//! The cuda back end: what its records become, and that nvcc accepts what it is given.
//!
//! No GPU is needed. The device's half of the runtime runs on the cpu back end in its place; nvcc compiles and links.

use crate::cli::Place;
use crate::support::answers;
use crate::support::draw::part;
use crate::support::tier::{Tiers, tiers};
use crate::support::tools::{self, cxx};
use raceproof::driver::Options;
use raceproof::driver::instrument::{Backend, instrument_for};
use raceproof::execute::cuda::nvcc::{self, Nvcc};
use raceproof::instrument::runtime::{cpu_files, cuda_files};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Builds the program that runs kernels on the cpu back end with the records of the cuda back end.
fn protocol(directory: &Path) -> PathBuf {
    let files = cpu_files().into_iter().map(|file| (directory.join(file.path), file.text));
    let ours = cuda_files().into_iter().filter(|file| file.path != "log.hpp");
    for (path, text) in files.chain(ours.map(|file| (directory.join("cuda").join(file.path), file.text))) {
        fs::create_dir_all(path.parent().expect("it is in a directory")).expect("created");
        fs::write(path, text).expect("written");
    }
    let source = directory.join("protocol.cpp");
    fs::write(&source, include_str!("run/cuda_protocol.cpp")).expect("written");
    let program = directory.join("protocol");
    let mut compiler = Command::new(cxx());
    compiler.args(["-std=gnu++17", "-O2", "-w", "-fno-strict-aliasing", "-pthread", "-I"]).arg(directory);
    let output = compiler.arg(source).arg("-o").arg(&program).output().expect("a C++ compiler is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// What a kernel of that program left: what the runtime told, and the answers of `trace info` and `trace check`.
struct Left {
    told: String,
    info: String,
    check: String,
    code: Option<i32>,
}

fn left(place: &Place, program: &Path, kernel: &str) -> Left {
    let (log, report) = (place.path().join("run.trace"), place.path().join("report"));
    let _ = fs::remove_file(&report);
    let mut command = Command::new(program);
    command.arg(kernel).arg(&log).env("RACEPROOF_REPORT", &report).env_remove("RACEPROOF_LOG");
    // The smallest rings that there are: most kernels here fill them many times over.
    let ran = command.env("RACEPROOF_RING_MEGABYTES", "1").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "right\n", "{kernel}: {ran:?}");
    let answer = |word: &str| place.command(&["trace", word, "run.trace"]).output().expect("it runs");
    let (info, check) = (answer("info"), answer("check"));
    Left {
        told: fs::read_to_string(&report).unwrap_or_default(),
        info: String::from_utf8(info.stdout).expect("text"),
        check: String::from_utf8(check.stdout).expect("text"),
        code: check.status.code(),
    }
}

#[test]
fn records_of_warps_become_a_log_that_is_judged_right() {
    let place = Place::with(&[]);
    let program = protocol(place.path());

    let turned = left(&place, &program, "turned");
    assert!(turned.check.contains("no conflict in this run (5000 accesses"), "{}", turned.check);
    assert_eq!(turned.code, Some(0));
    let parameters = "a = @0+0, b = @1+0, n = 1000, factor = 0.10000000000000001, color = -3, yes = 1, \
                      pair = struct:01000200, big = 9223372036854775808";
    assert!(turned.info.contains(parameters), "{}", turned.info);
    assert!(turned.info.contains("grid (16,1,1) block (64,1,1)"), "{}", turned.info);
    assert!(turned.info.contains("shared memory, 256 bytes: row"), "{}", turned.info);

    let too_early = left(&place, &program, "too_early");
    assert!(too_early.check.contains("k.cu:6:1: error: data race on row"), "{}", too_early.check);
    assert!(too_early.check.contains("at 256 bytes"), "{}", too_early.check);
    assert_eq!(too_early.code, Some(1));

    // Four thousand threads, four hundred rounds, five accesses each, and one more: far more than the rings hold.
    let tiles = left(&place, &program, "tiles");
    assert!(tiles.check.contains("no conflict in this run (8196096 accesses"), "{}", tiles.check);

    let small_tiles = left(&place, &program, "small_tiles");
    assert!(small_tiles.check.contains("of two threads of one warp"), "{}", small_tiles.check);
    assert!(small_tiles.check.contains("k.cu:16:1: error: data race on a"), "{}", small_tiles.check);

    let copies = left(&place, &program, "wide_copies");
    assert!(copies.check.contains("one touches bytes 0 to 69999, the other bytes 69999 to 69999"), "{}", copies.check);

    let astray = left(&place, &program, "astray");
    // Sites are counted over both units of the program.
    assert!(astray.told.contains("wild\tastray\t\t0\t23\twrite of 4 bytes"), "{}", astray.told);
    assert!(astray.told.contains("foreign\tastray\t\t0\t24\twrite of 4 bytes"), "{}", astray.told);
    for answer in [&astray.info, &astray.check] {
        let lines = ["not logged: k.cu:22:1: write of 4", "not logged: other.cu:3:5: inline assembly in f"];
        assert!(lines.iter().all(|line| answer.contains(line)), "{answer}");
        // Nobody knows how much there is.
        assert!(answer.contains("incomplete: k.cu:23:1: write of 4 bytes"), "{answer}");
    }
    assert_eq!(astray.code, Some(2));
    assert!(turned.check.contains("the log is complete but for what is not logged"), "{}", turned.check);

    let never = left(&place, &program, "never");
    assert_eq!(never.told, "");
    assert!(never.info.contains("0 launches") && never.info.contains("complete"), "{}", never.info);

    let dies = left(&place, &program, "dies");
    assert!(dies.told.contains("tiles did not end well"), "{}", dies.told);
    assert!(dies.check.contains("incomplete: the log is cut off"), "{}", dies.check);
    assert_eq!(dies.code, Some(2), "{}", dies.check);
}

const RACY: &str = "\
#include <cstdio>
__device__ int last;
__global__ void shift(int *a, int n) {
    __shared__ int row[64];
    row[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x + 1 < n) a[threadIdx.x] = a[threadIdx.x + 1];
    last = row[0];
}
int main() {
    int *a;
    cudaMalloc(&a, 64 * sizeof(int));
    shift<<<1, 64>>>(a, 64);
    printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));
}
";

fn seen(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_machine_without_nvcc_or_gpu_is_told_what_to_do() {
    let place = Place::with(&[("a.cu", RACY), ("bin/nvcc", "")]);
    for verb in ["run", "amplify"] {
        let mut command = place.command(&[verb, "--backend", "cuda", "a.cu"]);
        let (code, text) = seen(command.env("RACEPROOF_NVCC", "/nonexistent"));
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("no nvcc found (/nonexistent)") && text.contains("--backend cpu"), "{text}");
        if nvcc::has_gpu() {
            eprintln!("there is a GPU: what is told where there is none is not tested");
            return;
        }
        command.env("RACEPROOF_NVCC", place.path().join("bin")).env_remove("RACEPROOF_CUDA_ARCH");
        let (code, text) = seen(&mut command);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("no GPU of NVIDIA's"), "{text}");
        assert!(!text.contains("no race") && !text.contains("no conflict"), "{text}");
    }
    // Left to itself it takes the CPU then.
    let (code, text) = seen(place.command(&["run", "a.cu"]).env("RACEPROOF_NVCC", place.path().join("bin")));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("data race on a"), "{text}");
}

#[test]
#[cfg(unix)]
fn libraries_are_handed_to_nvcc() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&[("a.cu", RACY), ("bin/nvcc", "#!/bin/sh\necho \"$@\" >> \"$0.calls\"\n")]);
    let nvcc = place.path().join("bin/nvcc");
    std::fs::set_permissions(&nvcc, std::fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    let mut command = place.command(&["run", "--backend", "cuda", "a.cu", "-l", "cublas", "-L", "/opt/lib"]);
    let (code, text) = seen(command.env("RACEPROOF_NVCC", place.path().join("bin")).env("RACEPROOF_CUDA_ARCH", "75"));
    assert_eq!(code, Some(2), "this nvcc builds nothing: {text}");
    let calls = std::fs::read_to_string(place.path().join("bin/nvcc.calls")).expect("it was called");
    let (units, last) = calls.trim_end().rsplit_once('\n').expect("it was called for each unit and once for all");
    assert!(last.contains(" -L /opt/lib -lcublas ") && last.contains("-o "), "{calls}");
    assert!(!units.contains("cublas"), "{calls}");
}

/// nvcc, in tiers that use it.
fn compiler() -> Option<Nvcc> {
    tools::used("nvcc", nvcc::find)
}

#[test]
fn a_program_is_built_for_two_architectures_with_the_runtime_in_it() {
    if compiler().is_none() {
        return;
    }
    let place = Place::with(&[("a.cu", RACY)]);
    let mut command = place.command(&["run", "--backend", "cuda", "--keep", "kept", "a.cu"]);
    let (code, text) = seen(command.env("RACEPROOF_CUDA_ARCH", "75,90"));
    if nvcc::has_gpu() {
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("data race on a"), "{text}");
        return;
    }
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no GPU of NVIDIA's"), "{text}");
    // What was built begins a log, finds no device, and ends well.
    let (code, text) =
        seen(Command::new(place.path().join("kept/program")).env("RACEPROOF_LOG", place.path().join("t")));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("nothing is logged"), "{text}");
    let (_, info) = seen(&mut place.command(&["trace", "info", "t"]));
    assert!(
        info.contains("0 launches, 6 sites, 0 accesses; ") && info.contains("incomplete: nothing is logged"),
        "{info}"
    );
}

/// On a GPU its log would show a conflict that is none.
#[test]
fn a_program_with_fences_is_run_on_the_cpu_alone() {
    let fenced = RACY.replace("    last = row[0];", "    __threadfence();\n    last = row[0];");
    let place = Place::with(&[("a.cu", &fenced), ("bin/nvcc", "")]);
    for verb in ["run", "amplify"] {
        let mut command = place.command(&[verb, "--backend", "cuda", "a.cu"]);
        command.env("RACEPROOF_NVCC", place.path().join("bin")).env("RACEPROOF_CUDA_ARCH", "75");
        let (code, text) = seen(&mut command);
        assert_eq!(code, Some(2), "{text}");
        let told = "a.cu:7:5: what `__threadfence` orders is not logged on a GPU";
        assert!(text.contains(told) && text.contains("--backend cpu"), "{text}");
        assert!(!text.contains("no race") && !text.contains("conflict in"), "{text}");
    }
    let (code, text) = seen(&mut place.command(&["run", "--backend", "cpu", "a.cu"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("data race on a"), "{text}");
}

/// One fixture in as many is compiled as it is instrumented, and one in as many as it is fixed.
const FIXTURES: Tiers<usize> = tiers(1, 40, 1);
const FIXED: Tiers<usize> = tiers(1, 20, 1);

/// Fixtures that are no CUDA for nvcc even as they stand, and what it says of them.
const NOT_FOR_NVCC: [(&str, &str); 38] = [
    ("fixtures/annotations/accesses.cu", "\"__no_write\" is undefined"),
    ("fixtures/annotations/two_threads.cu", "\"__exclusive\" is undefined"),
    ("fixtures/annotations/two_threads_claims.cu", "\"__distinct_int\" is undefined"),
    ("fixtures/annotations/assumed.cu", "\"__distinct_int\" is undefined"),
    ("fixtures/annotations/formulas.cu", "\"__implies\" is undefined"),
    ("fixtures/assertion/claims.cu", "\"assert\" is undefined"),
    ("fixtures/contents/guards.cu", "\"__exclusive\" is undefined"),
    ("fixtures/contents/scatter.cu", "\"__distinct_int\" is undefined"),
    ("fixtures/invariants/relations.cu", "\"__candidate_invariant\" is undefined"),
    ("fixtures/platform/endings.cu", "calling a __host__ function(\"abort\")"),
    ("fixtures/platform/endings_unseen.cu", "Unresolved extern function"),
    ("fixtures/traps/host_strangers.cu", "arguments_that_are_not_here.h"),
    ("fixtures/traps/missing_headers.cu", "settings_from_elsewhere.h"),
    ("fixtures/undeclared/attributes.cu", "attributes_from_elsewhere.h"),
    ("fixtures/undeclared/effects.cu", "effects_from_elsewhere.h"),
    ("fixtures/models/accessors.cu", "torch/extension.h"),
    ("fixtures/models/dispatch.cu", "ATen/ATen.h"),
    ("fixtures/models/half.cu", "c10/util/Half.h"),
    ("fixtures/models/tensor_info.cu", "ATen/cuda/detail/TensorInfo.cuh"),
    ("fixtures/models/vectors.cu", "glm/kernels.hpp"),
    ("fixtures/undeclared/addresses.cu", "Unresolved extern function"),
    ("fixtures/undeclared/externals.cu", "functions_from_elsewhere.h"),
    ("fixtures/undeclared/objects.cu", "vectors_from_elsewhere.h"),
    ("fixtures/traps/newer_cpp.cu", "requires -fcoroutines"),
    ("fixtures/traps/not_of_a_device.cu", "exception handling"),
    ("fixtures/traps/undefined_between_blocks.cu", "Unresolved extern function"),
    ("fixtures/traps/undefined_calls.cu", "Unresolved extern function"),
    ("fixtures/libraries/curand.cu", "\"curandState\" is undefined"),
    ("fixtures/libraries/matrix_fragments.cu", "name must be a namespace name"),
    ("fixtures/libraries/matrix_tiles.cu", "name must be a namespace name"),
    ("fixtures/traps/lambdas_launched.cu", "requires --extended-lambda nvcc flag"),
    ("fixtures/traps/unsupported.cu", "Unresolved extern function"),
    ("fixtures/types/tied.cu", "calling a constexpr __host__ function(\"tie\")"),
    ("fixtures/undeclared/macros.cu", "macros_from_elsewhere.h"),
    ("fixtures/undeclared/operators.cu", "objects_from_elsewhere.h"),
    ("fixtures/undeclared/references.cu", "\"exchange_from_elsewhere\" is undefined"),
    ("fixtures/undeclared/values.cu", "\"FACTOR_FROM_ELSEWHERE\" is undefined"),
    ("fixtures/warps/named_barriers.cu", "must be in multiple of warp size"),
];

/// The architectures that a text is compiled for: every third one for an earlier one, too, for which clusters of blocks
/// and much of PTX are not.
fn architectures(text: &Path, number: usize) -> &'static [&'static str] {
    const BOTH: [&str; 2] = ["sm_90", "sm_75"];
    let names = ["cluster_group", "__cluster_dims__", "__reduce_", "cp.async", "mbarrier", "mma.sync"];
    let is_for_later = fs::read_to_string(text).is_ok_and(|text| names.iter().any(|name| text.contains(name)));
    if is_for_later || !number.is_multiple_of(3) { &BOTH[..1] } else { &BOTH }
}

/// What nvcc says of a program that needs nothing beside it, if there is one and it does not accept it, host code
/// included.
pub(super) fn said_by_nvcc(text: &Path) -> Option<String> {
    let directory = text.parent().expect("it is in a directory");
    refused_as("-c", "sm_90", &compiler()?, directory, text, directory)
}

/// What nvcc says of the kernels of a text, if it does not accept them for its architectures.
fn refused(nvcc: &Nvcc, runtime: &Path, (text, number): (&Path, usize), includes: &Path) -> Option<String> {
    // Without an object of the host, half of the time: what is tested is what is done to kernels.
    architectures(text, number).iter().find_map(|name| refused_as("-cubin", name, nvcc, runtime, text, includes))
}

fn refused_as(
    product: &str,
    architecture: &str,
    nvcc: &Nvcc,
    runtime: &Path,
    text: &Path,
    includes: &Path,
) -> Option<String> {
    let mut command = Command::new(&nvcc.program);
    command.args(["-std=c++17", "-w", product, "-arch", architecture]);
    // What becomes of the code is not looked at.
    command.args(["-Xcicc", "-O0", "-Xptxas", "-O0", "-I"]).arg(runtime).arg("-I").arg(includes).arg(text);
    let key = (version(nvcc), product, architecture, fs::read(text).expect("it can be read"), headers(includes));
    if let Some(known) = answers::known("nvcc", &key) {
        return postcard::from_bytes(&known).expect("it was written so");
    }
    let output = command.arg("-o").arg(text.with_extension("o")).output().expect("nvcc runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let said = (!output.status.success()).then_some(said);
    // What is no error of the text may be one of the machine.
    if said.as_ref().is_none_or(|said| said.contains("error")) {
        answers::remember("nvcc", &key, &postcard::to_stdvec(&said).expect("it can be written"));
    }
    said
}

/// What decides an answer beside the text: the compiler, and the headers of the runtime.
fn version(nvcc: &Nvcc) -> &'static [u8] {
    static VERSION: OnceLock<Vec<u8>> = OnceLock::new();
    VERSION.get_or_init(|| {
        let version = Command::new(&nvcc.program).arg("--version").output().expect("nvcc runs").stdout;
        let runtime = cuda_files().into_iter().map(|file| file.text.as_bytes().to_vec());
        std::iter::once(version).chain(runtime).collect::<Vec<_>>().concat()
    })
}

/// The texts of the headers in a directory.
fn headers(directory: &Path) -> Vec<u8> {
    let entries = fs::read_dir(directory).expect("it can be read").map(|entry| entry.expect("it can be read").path());
    let is_header = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "h" || kind == "cuh" || kind == "hpp");
    let mut paths: Vec<PathBuf> = entries.filter(is_header).collect();
    paths.sort();
    paths.iter().flat_map(|path| fs::read(path).expect("it can be read")).collect()
}

#[test]
fn fixtures_are_accepted_by_nvcc() {
    let Some(nvcc) = compiler() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for file in cuda_files() {
        fs::write(directory.path().join(file.path), file.text).expect("written");
    }
    let fixtures = fixtures();
    assert!(fixtures.len() > 150, "{}", fixtures.len());
    // What is instrumented is for one architecture, and says so where it is compiled for another.
    let is_for_one = |path: &PathBuf| path.ends_with("platform/architectures.cu");
    let fixtures: Vec<PathBuf> = fixtures.into_iter().filter(|path| !is_for_one(path)).collect();
    let fixtures = part("nvcc", fixtures, FIXTURES, |path| path.display().to_string());
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = fixtures.get(number) else { break };
                    if let Some(message) = fixture_fails(&nvcc, directory.path(), (path, number)) {
                        failed.lock().expect("no panic").push(message);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// One architecture does: what `--fix` inserts is the same for all.
#[test]
fn fixed_fixtures_are_accepted_by_nvcc() {
    let Some(nvcc) = compiler() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let known = |path: &Path| NOT_FOR_NVCC.iter().any(|(known, _)| path.ends_with(known));
    let mut fixed = 0;
    let fixtures: Vec<PathBuf> = fixtures().into_iter().filter(|path| !known(path)).collect();
    // What is inserted is the same few statements everywhere: a part shows that nvcc takes them.
    let drawn = part("nvcc on what is fixed", fixtures.clone(), FIXED, |path| path.display().to_string());
    let count = drawn.len();
    for (position, path) in drawn.into_iter().chain(fixtures).enumerate() {
        // Beyond those that were drawn only until one is fixed: few are.
        if position >= count && fixed > 0 {
            break;
        }
        let Some(text) = crate::fix::fixed_text(&path) else { continue };
        fixed += 1;
        let unit = directory.path().join(format!("{fixed}.cu"));
        fs::write(&unit, text).expect("written");
        let includes = path.parent().expect("it is in a directory");
        let said = refused_as("-cubin", "sm_90", &nvcc, directory.path(), &unit, includes);
        assert_eq!(said, None, "{}", path.display());
    }
    assert!(fixed > 0, "none of the fixtures is fixed");
}

fn fixtures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from("fixtures")];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn fixture_fails(nvcc: &Nvcc, directory: &Path, (path, number): (&Path, usize)) -> Option<String> {
    let name = path.display().to_string();
    let plain_name = name.replace(['/', '.'], "_");
    let text = fs::read_to_string(path).expect("it can be read");
    let includes = path.parent().expect("it is in a directory");
    if let Some((_, reason)) = NOT_FOR_NVCC.iter().find(|(known, _)| *known == name) {
        let plain = directory.join(format!("{plain_name}_plain.cu"));
        fs::write(&plain, text).expect("written");
        let said = refused_as("-c", "sm_90", nvcc, directory, &plain, includes).unwrap_or_default();
        return (!said.contains(reason)).then(|| format!("{name}: nvcc does not say `{reason}` of it: {said}"));
    }
    let file = instrument_for(Backend::Cuda, path, &text, &Options::default()).expect("instrumented");
    let unit = directory.join(format!("{plain_name}.cu"));
    fs::write(&unit, &file.unit.text).expect("written");
    refused(nvcc, directory, (&unit, number), includes).map(|said| format!("{name}: {said}"))
}

/// Without a GPU nothing is measured, and that is what the record says; what was measured elsewhere stays.
#[test]
fn without_a_gpu_the_check_of_gpus_says_that_nothing_is_measured() {
    let place = Place::with(&[("bin/nvidia-smi", "#!/bin/sh\nexit 9\n")]);
    let record = place.path().join("record");
    let mut permissions = fs::metadata(place.path().join("bin/nvidia-smi")).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(place.path().join("bin/nvidia-smi"), permissions).expect("set");
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let check = || seen(Command::new("scripts/gpu-check").arg("fixtures").env("PATH", &path).env("RECORD", &record));
    let (code, text) = check();
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no GPU of NVIDIA") && text.contains("nothing is measured"), "{text}");
    let recorded = fs::read_to_string(&record).expect("there is a record");
    assert!(recorded.starts_with("not measured: no GPU of NVIDIA") && recorded.lines().count() == 1, "{recorded}");
    fs::write(&record, "measured on a GPU, once\n").expect("written");
    assert_eq!(check().0, Some(2));
    assert_eq!(fs::read_to_string(&record).expect("it is there"), "measured on a GPU, once\n");
}
