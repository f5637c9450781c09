//! What the command lines of builds say, read alike by both front ends.

use raceproof::diagnostic::report::{FileReport, Front, Parse, Race};
use raceproof::driver::options::Options;
use raceproof::driver::{CompileCommands, FrontEnd, check_source};
use std::path::Path;
use std::sync::Arc;

/// A build in a directory of its own.
struct Build(tempfile::TempDir);

impl Build {
    fn with(files: &[(&str, &str)]) -> Build {
        let build = Build(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            std::fs::write(build.0.path().join(name), text).expect("a file");
        }
        build
    }

    /// The reports of both front ends on `file`, compiled by `command`.
    fn checked(&self, file: &str, command: &str) -> Vec<FileReport> {
        let entry = serde_json::json!([{ "directory": ".", "file": file, "command": command }]);
        std::fs::write(self.0.path().join("compile_commands.json"), entry.to_string()).expect("a database");
        let commands = Arc::new(CompileCommands::read(self.0.path()).expect("a database"));
        let path = self.0.path().join(file);
        let text = std::fs::read_to_string(&path).expect("the file");
        let fronts = std::iter::once(FrontEnd::TreeSitter).chain(super::clang());
        let options =
            fronts.map(|front| Options { front, commands: Some(Arc::clone(&commands)), ..Options::default() });
        options.map(|options| check_source(Path::new(&path), &text, &options).report).collect()
    }

    /// Checks that both front ends read all of `file` and give its only kernel this verdict.
    #[track_caller]
    fn gives(&self, file: &str, command: &str, race: Race) {
        for report in self.checked(file, command) {
            let seen = format!("{command}: {:?} {:?} {:?}", report.front, report.diagnostics, report.kernels);
            assert_eq!((report.parse, report.kernels.len()), (Parse::Ok, 1), "{seen}");
            assert_eq!(report.kernels[0].race, race, "{seen}");
        }
    }
}

const BY_STEP: &str = "__global__ void k(float *y) { if (blockIdx.x == 0) y[threadIdx.x / STEP] = threadIdx.x; }\n";

#[test]
fn flags_that_do_not_concern_the_source_are_ignored() {
    let build = Build::with(&[("k.cu", BY_STEP), ("flags.rsp", "-lineinfo -Xptxas -v\n-DSTEP=1")]);
    for flags in [
        "-gencode arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90,code=[sm_90,compute_90]",
        "--generate-code arch=compute_75,code=sm_75",
        "-arch=sm_80",
        "-arch sm_80",
        "-rdc=true",
        "-rdc true",
        "--relocatable-device-code=true -dc",
        "-Xcompiler -fPIC",
        "-Xcompiler=-Wall,-DSTEP=3",
        "-Xcompiler -DSTEP=3,-fopenmp",
        "--compiler-options '-DSTEP=3 -O2'",
        "--expt-relaxed-constexpr --expt-extended-lambda",
        "-expt-relaxed-constexpr -extended-lambda",
        "--use_fast_math -ftz=true -prec-div=false --fmad false",
        "-ccbin /usr/bin/g++ -std c++17 -m64 -O3 -g -G -lineinfo",
        "-Xptxas -v,-O3 -Xlinker -rpath -Xcudafe --diag_suppress=177",
        "-maxrregcount 64 --threads 4 --default-stream per-thread",
        "--cuda-gpu-arch=sm_80 --cuda-path=/usr/local/cuda -fcuda-rdc -Xclang -fcuda-allow-variadic-functions",
        "-MD -MT k.o -MF k.d -isystem /usr/local/cuda/include -L/usr/lib -lcudart --no-such-flag",
    ] {
        build.gives("k.cu", &format!("nvcc -DSTEP=1 {flags} -c k.cu -o k.o"), Race::RaceFree);
        // Had a flag swallowed the next word, this would be missed.
        build.gives("k.cu", &format!("nvcc {flags} -DSTEP=2 k.cu"), Race::Racy);
    }
    build.gives("k.cu", "nvcc @flags.rsp -c k.cu", Race::RaceFree);
    build.gives("k.cu", "nvcc --options-file flags.rsp -USTEP -DSTEP=2 -c k.cu", Race::Racy);
    build.gives("k.cu", "nvcc -optf flags.rsp -c k.cu", Race::RaceFree);
}

#[test]
fn included_files_come_before_the_first_line() {
    let header = "#pragma once\n#define STEP 1\n__device__ inline int own(int i) { return i / STEP; }\n";
    let kernel = "__global__ void k(float *y) { if (blockIdx.x == 0) y[own(threadIdx.x)] = threadIdx.x; }\n";
    let build = Build::with(&[("k.cu", kernel), ("own.h", header), ("twice.h", "#include \"own.h\"\n")]);
    build.gives("k.cu", "nvcc -include own.h -c k.cu", Race::RaceFree);
    build.gives("k.cu", "clang++ -includeown.h -include ./twice.h k.cu", Race::RaceFree);
    build.gives("k.cu", "nvcc --pre-include own.h,twice.h k.cu", Race::RaceFree);
    // Only what it defines: its function is not there.
    for report in build.checked("k.cu", "clang++ -imacros own.h k.cu") {
        assert_ne!(report.kernels[0].race, Race::RaceFree, "{:?}", report.front);
    }
    let build = Build::with(&[("k.cu", BY_STEP), ("own.h", header)]);
    build.gives("k.cu", "clang++ -imacros own.h k.cu", Race::RaceFree);
}

#[test]
fn an_included_file_that_is_gone_is_said() {
    let build = Build::with(&[("k.cu", BY_STEP)]);
    for report in build.checked("k.cu", "nvcc -DSTEP=1 -include gone.h k.cu") {
        assert_eq!(report.kernels[0].race, Race::RaceFree);
        assert!(report.diagnostics.iter().any(|it| it.message.contains("gone.h")), "{:?}", report.diagnostics);
    }
}

#[test]
fn the_version_of_opencl_decides_what_is_defined_and_allowed() {
    let by_version = "
__kernel void k(__global int *y) {
#if __OPENCL_C_VERSION__ >= 200
  int *p = y; p[get_global_id(0)] = 1;
#else
  int pipe = get_global_id(0); y[pipe / 2] = pipe;
#endif
}";
    let build = Build::with(&[("k.cl", by_version)]);
    for (version, race) in
        [("CL1.0", Race::Racy), ("CL1.1", Race::Racy), ("CL1.2", Race::Racy), ("CL2.0", Race::RaceFree)]
    {
        build.gives("k.cl", &format!("clang -cl-std={version} k.cl"), race);
    }
    build.gives("k.cl", "clang -x cl -cl-std=cl3.0 -target spir64 k.cl", Race::RaceFree);
    build.gives("k.cl", "clang k.cl", Race::RaceFree);
    build.gives("k.cl", "clang -D__OPENCL_C_VERSION__=120 k.cl", Race::Racy);
}

#[test]
fn the_language_is_what_the_build_says() {
    let text = "__global__ void k(float *y) { if (hipBlockIdx_x == 0) y[hipThreadIdx_x] = warpSize; }";
    let build = Build::with(&[("k.cu", text)]);
    build.gives("k.cu", "hipcc -x hip --offload-arch=gfx90a k.cu", Race::RaceFree);
    for report in build.checked("k.cu", "nvcc k.cu") {
        // Who the threads are is not known; libclang leaves the statement out.
        let race = &report.kernels[0].race;
        assert!(matches!(race, Race::Unknown | Race::PossiblyRacy), "{:?} {race:?}", report.front);
    }
}

#[test]
fn queues_and_blocks_of_opencl_cost_their_kernel_only() {
    let text = "
__kernel void enqueues(__global int *y) {
  queue_t queue = get_default_queue();
  enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(64), ^{ y[get_global_id(0)] = 1; });
}
__kernel void elsewhere(__global int *y) { int *p = y; __global int *q = to_global(p); q[get_global_id(0)] = 2; }
__kernel void right(__global int *y) { y[get_global_id(0)] = sub_group_all(1); }";
    let build = Build::with(&[("k.cl", text)]);
    for report in build.checked("k.cl", "clang -cl-std=CL2.0 k.cl") {
        let races: Vec<_> = report.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.race)).collect();
        assert_eq!(races[0], ("enqueues", Race::Unknown));
        assert_eq!(races[1], ("elsewhere", Race::PossiblyRacy));
        assert_eq!(races[2], ("right", Race::RaceFree), "{:?} {:?}", report.front, report.kernels[2]);
        assert!(report.front == Front::TreeSitter || report.parse == Parse::Ok, "{:?}", report.diagnostics);
    }
}
