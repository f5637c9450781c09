//! That an instrumented text of OpenCL kernels is what its head says: a driver compiles it, and `run` runs it.

use super::host::{alone, program};
use super::run::{arg, has_driver, launch_text, run_in};

#[test]
fn a_driver_compiles_it_and_run_runs_it() {
    let kernels = "kernel void k(global int *y) { y[get_global_id(0) / 2] = get_global_id(0); }\n";
    if !has_driver() {
        return;
    }
    let place =
        program(kernels, "  kernel_of(built(text_of(\"logged.cl\"), \"\"), \"k\");\n  printf(\"compiled\\n\");");
    place.run(&["instrument", "k.cl", "-o", "logged.cl"]).expect(0);
    assert_eq!(alone(&place, &[]), "compiled\n");
    let text = std::fs::read_to_string(place.path().join("logged.cl")).unwrap();
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("// ")).collect();
    assert!(head.contains(&"//   raceproof run k.cl --launch launch.toml"), "{head:#?}");
    let buffer = "[[buffer]]\nname = \"y\"\ntype = \"int\"\ncount = 16\n";
    let launch = launch_text("k", [2, 1, 1], [8, 1, 1], &[arg("y", "{ buffer = \"y\" }")]);
    place.put("launch.toml", format!("{buffer}{launch}").as_bytes());
    let seen = run_in(&place, &["k.cl", "--launch", "launch.toml"]);
    assert!(seen.code == Some(1) && seen.out.contains("k.cl:1:"), "{seen:?}");
    place.run(&["instrument", "k.cl", "-o", "x.cl", "--runtime", "r"]).expect(2).complains("stands in their text");
}
