//! `raceproof run --opencl-host`: host programs in C on a real driver, with and without the library that they are started with.

use super::run::{Seen, has_driver, seen_of};
use crate::cli::Place;
use raceproof::driver::trace::check_log;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

const PRELUDE: &str = include_str!("host.h");

/// A place with kernels in `k.cl` and a program `p` whose `main` has these statements.
pub(super) fn program(kernels: &str, main: &str) -> Place {
    program_with(
        kernels,
        &format!("int main(int count, char** words) {{\n  open_device();\n{main}\n  return 0;\n}}\n"),
        &[],
    )
}

/// The same with all of its text, and flags for the linker.
fn program_with(kernels: &str, text: &str, flags: &[&str]) -> Place {
    let place =
        Place::with(&[("k.cl", kernels), ("host.h", PRELUDE), ("p.c", &format!("#include \"host.h\"\n{text}"))]);
    let flags = if flags.is_empty() { &["-l:libOpenCL.so.1"] } else { flags };
    let mut compiler = Command::new("cc");
    compiler.current_dir(place.path()).args(["-w", "p.c", "-o", "p"]).args(flags);
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    place
}

/// Runs it with a directory of its own for temporary files, which must be empty afterwards.
fn run_with(place: &Place, options: &[&str], arguments: &[&str], variables: &[(&str, &str)]) -> Seen {
    run_as(place, &[&["run", "--opencl-host"], options].concat(), arguments, variables)
}

/// The same by another command.
pub(super) fn run_as(place: &Place, command: &[&str], arguments: &[&str], variables: &[(&str, &str)]) -> Seen {
    let temporary = place.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = place.command(command);
    command.args(["--", "./p"]).args(arguments).env("TMPDIR", &temporary).envs(variables.iter().copied());
    let seen = seen_of(&mut command);
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}\n{seen:?}");
    seen
}

fn run(place: &Place) -> Seen {
    run_with(place, &[], &[], &[])
}

/// What the program writes by itself, which has to stand before what raceproof says of it.
pub(super) fn alone(place: &Place, arguments: &[&str]) -> String {
    let seen = seen_of(Command::new(place.path().join("p")).args(arguments).current_dir(place.path()));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(!seen.out.is_empty(), "a program without output shows nothing");
    seen.out
}

#[track_caller]
pub(super) fn assert_told(seen: &Seen, code: i32, told: &[&str]) {
    assert_eq!(seen.code, Some(code), "{seen:?}");
    for words in told {
        assert!(seen.out.contains(words) || seen.err.contains(words), "no `{words}`: {seen:?}");
    }
}

const CLEAN: &str = "kernel void twice(global const int *x, global int *y, local int *t, int n) {\n  int l = get_local_id(0), i = get_global_id(0);\n  \
                     t[l] = x[i];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  y[i] = 2 * t[get_local_size(0) - 1 - l] + n;\n}\n";

const CLEAN_MAIN: &str = r#"
  handle x = buffer(256), y = buffer(256), k = kernel_of(built(text_of("k.cl"), ""), "twice");
  fill(x, 64);
  give(k, 0, x); give(k, 1, y); give_int(k, 3, 5);
  NEED(clSetKernelArg(k, 2, 32, NULL));
  cl_uint parameters = 0;
  NEED(clGetKernelInfo(k, 0x1191, sizeof parameters, &parameters, NULL));
  printf("%u parameters, %d words\n", parameters, count);
  launch(k, 64, 8);
  print(y, 64);
  fprintf(stderr, "on the other stream\n");"#;

#[test]
fn a_program_runs_as_it_is_and_its_log_is_complete() {
    if !has_driver() {
        return;
    }
    let place = program(CLEAN, CLEAN_MAIN);
    let own = alone(&place, &[]);
    assert!(own.starts_with("4 parameters, 1 words\n19 17 15 "), "{own}");
    let seen = run(&place);
    assert_told(
        &seen,
        0,
        &["twice (1 launch, 256 accesses)", "the log is complete", "executing the program", "on the other stream"],
    );
    assert!(seen.out.starts_with(&own), "{seen:?}");
    // What it is given goes to it, and what is asked for is kept.
    let seen = run_with(&place, &["--log", "p.trace"], &["a", "-b"], &[]);
    assert_told(&seen, 0, &["4 parameters, 3 words"]);
    let outcome = check_log(&place.path().join("p.trace"), 512 << 20, Some(1)).unwrap();
    let launch = &outcome.log.launches[&0];
    assert_eq!((launch.grid, launch.block, launch.dynamic_shared), ([8, 1, 1], [8, 1, 1], 32));
    let arguments: Vec<(&str, &str)> = launch.arguments.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(arguments, [("x", "@0+0"), ("y", "@1+0"), ("n", "5")]);
    assert!(outcome.log.sites.values().all(|site| site.path == "k.cl"), "{:?}", outcome.log.sites);
}

#[test]
fn a_race_is_told_with_both_lines_and_the_file_of_the_text() {
    if !has_driver() {
        return;
    }
    let racy = CLEAN.replace("  barrier(CLK_LOCAL_MEM_FENCE);\n", "\n");
    let place = program(&racy, CLEAN_MAIN);
    let seen = run(&place);
    assert_told(&seen, 1, &["data race on t", "k.cl:3:3", "5 │   y[i] = 2", "1 pair of places conflicts"]);
    // A text that stands in no file has a name of its own.
    let place = program(&racy, &CLEAN_MAIN.replace("text_of(\"k.cl\")", "strcat(text_of(\"k.cl\"), \"// more\")"));
    assert_told(&run(&place), 1, &["program-1.cl:3:3", "program-1.cl:5:14"]);
}

#[test]
fn work_items_that_part_before_a_barrier_are_told() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) {\n  if (get_local_id(0) < 5)\n    barrier(CLK_LOCAL_MEM_FENCE);\n  y[get_global_id(0)] = 1;\n}\n";
    let main = "handle y = buffer(64), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\"); give(k, 0, y); launch(k, 16, 8); clFinish(queue);";
    let told = "k.cl:3: error: divergent barriers in k: work-item 0 of work-group 0 comes to this barrier and work-item 5 does not";
    assert_told(&run(&program(kernels, main)), 1, &[told, "[barrier-divergence]"]);
}

#[test]
fn accesses_outside_of_buffers_are_told_and_do_no_harm() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) {\n  y[get_global_id(0) + 1000000] = 3;\n}\n";
    let main = "handle y = buffer(64), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\"); give(k, 0, y); launch(k, 8, 8); clFinish(queue);";
    assert_told(
        &run(&program(kernels, main)),
        1,
        &["k.cl:2:3: error: access outside of all allocations through `y` in k"],
    );
}

#[test]
fn programs_of_two_contexts_are_told_apart() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void good(global int *y) { y[get_global_id(0)] = 1; }\n";
    let main = r#"
  const char* bad = "kernel void bad(global int *y) {\n  y[get_global_id(0) / 2] = get_global_id(0);\n}\n";
  handle other = new_context(), other_queue = new_queue(other), program = source(other, bad);
  NEED(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  handle a = kernel_of(built(text_of("k.cl"), NULL), "good"), b = kernel_of(program, "bad");
  handle x = buffer(64), y = buffer_in(other, 64);
  for (int turn = 0; turn < 3; turn++) {
    give(a, 0, x); launch(a, 16, 8);
    give(b, 0, y); launch_in(other_queue, b, 16, 8);
  }
  clReleaseKernel(b); clReleaseProgram(program);
  print(x, 16);"#;
    let place = program(kernels, main);
    let seen = run(&place);
    assert_told(
        &seen,
        1,
        &["good (3 launches, 48 accesses)", "bad (3 launches, 48 accesses)", "data race on y", "program-1.cl:2:3"],
    );
    assert!(!seen.out.contains("k.cl:1:"), "{seen:?}");
    assert!(seen.out.starts_with(&alone(&place, &[])), "{seen:?}");
}

#[test]
fn parts_of_a_buffer_are_one_memory() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *a, global int *b, int n) {\n  int i = get_global_id(0);\n  a[i + n] = i;\n  b[i] = -i;\n}\n";
    let main = |moved: u32| {
        format!(
            "handle whole = buffer(8192), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\");\n\
             fill(whole, 2048); give(k, 0, part_of(whole, 0, 8192)); give(k, 1, part_of(whole, 4096, 64)); give_int(k, 2, {moved});\n\
             launch(k, 16, 8); print(whole, 2048);"
        )
    };
    // The first work-item of one part writes where the ninth of the other does.
    let seen = run(&program(kernels, &main(1024 - 8)));
    assert_told(&seen, 1, &["data race on", "k.cl:4:3", "3 │   a[i + n] = i;", "1 pair of places conflicts"]);
    let place = program(kernels, &main(0));
    let seen = run(&place);
    assert_told(&seen, 0, &["k (1 launch, 32 accesses)", "the log is complete"]);
    assert!(seen.out.starts_with(&alone(&place, &[])), "{seen:?}");
}

#[test]
fn options_of_the_build_count() {
    if !has_driver() {
        return;
    }
    let kernels = "#include \"shift.h\"\n#if __OPENCL_VERSION__ < 120\nint old(int x) { return x; }\n#endif\n#ifdef RACES\nkernel void k(global int *y) { y[0] = get_global_id(0); }\n#else\n\
                   kernel void k(global int *y) { y[SHIFT(get_global_id(0))] = NUMBER; }\n#endif\n";
    let main = r#"
  handle y = buffer(256), k = kernel_of(built(text_of("k.cl"), words[1]), "k");
  fill(y, 64); give(k, 0, y); launch(k, 16, 8); print(y, 20);"#;
    let place = program(kernels, main);
    place.put("inc/shift.h", b"#define SHIFT(i) ((i) + 3)\n");
    let run = |options: &str| run_with(&place, &[], &[options], &[]);
    let seen = run("-I inc -D NUMBER=7 -cl-std=CL1.2 -Werror");
    assert_told(&seen, 0, &["k (1 launch, 16 accesses)", "0 1 2 7 7 "]);
    assert_told(&run("-Iinc -DRACES"), 1, &["data race on y", "k.cl:6:"]);
}

#[test]
fn what_is_compiled_with_headers_and_linked_alone_is_logged() {
    if !has_driver() {
        return;
    }
    let kernels = "#include \"of_host.h\"\nkernel void k(global int *y) { y[PLACE] = 1; }\n";
    let main = r##"
  handle header = source(context, "#define PLACE (get_global_id(0) / 2)\n"), program = source(context, text_of("k.cl"));
  const char* name = "of_host.h";
  cl_int code;
  NEED(clCompileProgram(program, 1, &device, "", 1, &header, &name, NULL, NULL));
  handle linked = clLinkProgram(context, 1, &device, "", 1, &program, NULL, NULL, &code);
  NEED(code);
  handle y = buffer(256), k;
  NEED(clCreateKernelsInProgram(linked, 1, &k, NULL));
  give(k, 0, y); launch(k, 16, 8); print(y, 8);"##;
    assert_told(&run(&program(kernels, main)), 1, &["data race on y", "k (1 launch, 16 accesses)"]);
}

#[test]
fn sizes_that_the_driver_chooses_and_uneven_groups_are_logged() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) { y[get_global_id(0)] = get_local_size(0); }\n\
                   kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(global int *y) { y[get_group_id(0)] = 1; }\n\
                   kernel void task(global int *y) { y[0] = 1; y[0] = 2; }\n";
    let main = r#"
  handle program = built(text_of("k.cl"), ""), y = buffer(512), k = kernel_of(program, "k");
  handle four = kernel_of(program, "four"), task = kernel_of(program, "task");
  give(k, 0, y); launch(k, 97, 0);
  give(task, 0, y); NEED(clEnqueueTask(queue, task, 0, NULL, NULL));
  printf("done\n");
  if (count > 1) { give(four, 0, y); launch(four, 16, 0); }"#;
    let place = program(kernels, main);
    assert_told(&run(&place), 0, &["k (1 launch, 97 accesses)", "task (1 launch, 2 accesses)"]);
    assert_told(&run_with(&place, &[], &["four"], &[]), 1, &["four (1 launch, 16 accesses)", "k.cl:2:"]);
}

#[test]
fn a_launch_that_does_not_fit_is_run_in_slices_and_computes_the_same() {
    if !has_driver() {
        return;
    }
    // What it computes shows how often it ran.
    let kernels = "kernel void many(global int *y, int n) {\n  int i = get_global_id(0);\n  for (int j = 0; j < n; j++) y[i] += i;\n}\n";
    let main = r#"
  const char* loud = "kernel void loud(global int *y) {\n"
                     "  for (int j = 0; j < 400; j++) y[get_global_id(0)]++;\n"
                     "  if (!get_global_id(0)) printf(\"once\\n\");\n}\n";
  handle program = built(count > 2 ? text_of("k.cl") : loud, ""), y = buffer(512), k = kernel_of(program, words[1]);
  fill(y, 128); give(k, 0, y);
  if (count > 2) give_int(k, 1, 60);
  launch(k, 128, 8); print(y, 128);"#;
    let place = program(kernels, main);
    let few = [("RACEPROOF_OPENCL_RECORDS", "1024")];
    let seen = run_with(&place, &[], &["many", "60"], &few);
    assert_told(&seen, 0, &["many (1 launch, 15360 accesses)", "the log is complete", "0 61 122 183 "]);
    let seen = run_with(&place, &[], &["loud"], &few);
    assert_told(&seen, 2, &["a launch of loud is not logged to its end: it makes more accesses than fit into its log"]);
    assert_eq!(seen.out.matches("once").count(), 1, "{seen:?}");
}

#[test]
fn what_is_not_logged_is_told_with_the_reason() {
    if !has_driver() {
        return;
    }
    let kernels =
        "kernel void one(global int *y) { y[get_global_id(0)] = 4; }\nkernel void two(global int *y) { one(y); }\n";
    let main = r#"
  handle y = buffer(256), k = kernel_of(built(text_of("k.cl"), ""), "two");
  give(k, 0, y); launch(k, 8, 8); launch(k, 8, 8); print(y, 8);"#;
    let place = program(kernels, main);
    let seen = run(&place);
    let told = "note: two is launched without a log: k.cl:2: a call of the kernel `one` cannot be instrumented";
    assert_told(&seen, 2, &[told, "4 4 4 4 4 4 4 4"]);
    assert_eq!(seen.out.matches(told).count(), 1, "{seen:?}");
    // A program that comes as a binary, and a launch that waits for the host.
    let main = r#"
  handle first = built("kernel void k(global int *y) { y[get_global_id(0)] = 6; }", ""), y = buffer(256);
  size_t bytes = 0;
  NEED(clGetProgramInfo(first, 0x1165, sizeof bytes, &bytes, NULL));
  unsigned char* binary = malloc(bytes);
  NEED(clGetProgramInfo(first, 0x1166, sizeof binary, &binary, NULL));
  cl_int code;
  handle program = clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char**)&binary, NULL, &code);
  NEED(code);
  NEED(clBuildProgram(program, 1, &device, "", NULL, NULL));
  handle k = kernel_of(program, "k"), waits = kernel_of(first, "k"), event = clCreateUserEvent(context, &code);
  size_t eight = 8;
  give(waits, 0, y);
  NEED(clEnqueueNDRangeKernel(queue, waits, 1, NULL, &eight, &eight, 1, &event, NULL));
  NEED(clSetUserEventStatus(event, 0));
  give(k, 0, y); launch(k, 8, 8); print(y, 8);
  launch(waits, 8, 8); print(y, 8);"#;
    let seen = run(&program("", main));
    let told = [
        "k is launched without a log: its program was not made of source text",
        "k is launched without a log: it is launched while an event waits for the host",
        "k (1 launch, 8 accesses)",
    ];
    assert_told(&seen, 2, &told);
}

#[test]
fn a_text_that_the_driver_does_not_take_is_launched_as_it_is() {
    if !has_driver() {
        return;
    }
    // What stands before the instrumented text knows nothing of the compiler's name.
    let kernels = "#ifdef __clang__\nint f(global int *y) { return y[0]; }\n#else\nint f(global int *y) { return y[1]; }\n#endif\n\
                   kernel void k(global int *y) { y[get_global_id(0)] = f(y) * 0 + 5; }\n";
    let main = "handle y = buffer(256), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\"); fill(y, 8); give(k, 0, y); launch(k, 1, 1); print(y, 2);";
    let seen = run(&program(kernels, main));
    assert_told(&seen, 2, &["k is launched without a log: the driver does not build the instrumented text: ", "5 1"]);
}

#[test]
fn a_program_that_loads_the_library_by_itself_is_logged() {
    if !has_driver() {
        return;
    }
    // Each function is called through a pointer that the program has asked for.
    let names = [
        "clCreateContext",
        "clCreateCommandQueue",
        "clCreateProgramWithSource",
        "clCreateKernel",
        "clCreateBuffer",
        "clGetPlatformIDs",
        "clGetDeviceIDs",
        "clBuildProgram",
        "clSetKernelArg",
        "clEnqueueNDRangeKernel",
        "clEnqueueReadBuffer",
        "clEnqueueWriteBuffer",
    ];
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\nstatic void* library;\nstatic void* asked(const char* name) {\n  \
                                 if (!library) library = dlopen(\"libOpenCL.so.1\", RTLD_LAZY | RTLD_LOCAL);\n  return dlsym(library, name);\n}\n",
    );
    for name in names {
        text += &format!("#define {name} ((__typeof__(&{name}))asked(\"{name}\"))\n");
    }
    let functions = PRELUDE.split_once("static handle device").unwrap().1;
    let kernels = "kernel void k(global int *y) { y[get_global_id(0) / 2] = 1; }\n";
    let (declarations, _) = PRELUDE.split_once("static handle device").unwrap();
    let used = functions.split("static handle part_of").next().unwrap();
    let rest = "static void give(handle kernel, cl_uint position, handle memory) {\n  NEED(clSetKernelArg(kernel, position, sizeof memory, &memory));\n}\n";
    let main = "int main(void) {\n  open_device();\n  size_t all = 16, local = 8;\n  handle y = buffer(64), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"k\");\n  \
                give(k, 0, y);\n  NEED(clEnqueueNDRangeKernel(queue, k, 1, NULL, &all, &local, 0, NULL, NULL));\n  int values[16];\n  \
                NEED(clEnqueueReadBuffer(queue, y, 1, 0, 64, values, 0, NULL, NULL));\n  printf(\"%d\\n\", values[0]);\n  return 0;\n}\n";
    let place = Place::with(&[
        ("k.cl", kernels),
        ("p.c", &format!("{declarations}{text}static handle device{used}{rest}{main}")),
    ]);
    let output = Command::new("cc").current_dir(place.path()).args(["-w", "p.c", "-o", "p", "-ldl"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_told(&run(&place), 1, &["data race on y", "k (1 launch, 16 accesses)", "1\n"]);
}

#[test]
fn the_way_a_program_ends_is_told() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) { y[get_global_id(0)] = 4; }\nkernel void hangs(global int *y) { while (y[0] == 0) ; }\n";
    let main = r#"
  handle program = built(text_of("k.cl"), ""), y = buffer(256), k = kernel_of(program, "k"), hangs = kernel_of(program, "hangs");
  give(k, 0, y); launch(k, 8, 8); clFinish(queue);
  if (!strcmp(words[1], "exit")) exit(3);
  if (!strcmp(words[1], "crash")) abort();
  int zero[2] = {0, 0};
  NEED(clEnqueueWriteBuffer(queue, y, 1, 0, 8, zero, 0, NULL, NULL));
  give(hangs, 0, y); launch(hangs, 1, 1); clFinish(queue);"#;
    let place = program(kernels, main);
    let seen = run_with(&place, &[], &["exit"], &[]);
    assert_told(&seen, 2, &["the program exited with status 3", "k (1 launch, 8 accesses)"]);
    let seen = run_with(&place, &[], &["crash"], &[]);
    assert_told(&seen, 2, &["the program was ended by signal 6 (abort)", "cut off"]);
    let start = Instant::now();
    let seen = run_with(&place, &["--timeout", "5", "--log", "cut.trace"], &["hang"], &[]);
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_told(&seen, 2, &["the program was ended after 5 seconds", "cut off"]);
}

#[test]
fn programs_without_kernels_and_wrong_options_are_told() {
    let place = Place::with(&[]);
    for (arguments, told) in [
        (&["run", "--opencl-host"][..], "name the program behind --"),
        (&["run", "--opencl-host", "--seed", "3", "--", "./p"], "an OpenCL driver has an order of its own"),
        (&["run", "--opencl-host", "--backend", "cpu", "--", "./p"], "leave --backend out"),
        (&["run", "--opencl-host", "-DN=3", "--", "./p"], "says itself with which options"),
        (&["run", "--opencl-host", "--no-log", "--", "./p"], "nothing to do but to start the program"),
        (&["run", "--opencl-host", "k.cl", "--", "./p"], "cannot be used with"),
        (&["amplify", "--opencl-host", "--", "./p"], "does not know what a program builds"),
        (&["run", "--opencl-host", "--", "./not-there"], "cannot start ./not-there"),
        (&["run", "--opencl-host", "--", "true"], "launched no kernel"),
    ] {
        assert_told(&seen_of(&mut place.command(arguments)), 2, &[told]);
    }
}
