//! The rule `open-contract`, which is told where settings give it a level: through the real binary.

use crate::cli::{Place, Seen};

const QUIET: &str = "front = \"tree-sitter\"\nsolver = \"none\"\n";
/// A kernel that is free of races where rows are wide enough, and two launches of which one shows that it keeps that.
const ROWS: &str = "__global__ void rows(float *y, int pitch) {
  y[(blockIdx.y * blockDim.y + threadIdx.y) * pitch + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
void kept(float *y) { rows<<<dim3(4, 2), 64>>>(y, 256); }
";
const OPEN: &str = "void open(float *y, int pitch) { rows<<<dim3(4, 2), 64>>>(y, pitch); }\n";

fn check(settings: &str, text: &str, arguments: &[&str]) -> Seen {
    let place = Place::with(&[("raceproof.toml", &format!("{QUIET}{settings}")), ("k.cu", text)]);
    place.run(&[&["check", "k.cu"], arguments].concat())
}

fn told(level: &str) -> String {
    format!("rules.open-contract = \"{level}\"\n")
}

#[test]
fn an_open_contract_is_as_grave_as_settings_say() {
    let open = format!("{ROWS}{OPEN}");
    let quiet = check("", &open, &[]).expect(0);
    assert!(
        !quiet.out.contains("open-contract") && quiet.out.contains("open at the launch in line 5"),
        "{}",
        quiet.out
    );
    for (level, code) in [("error", 1), ("warning", 1), ("note", 0)] {
        let seen = check(&told(level), &open, &[]).expect(code);
        let message =
            "open contract: rows is race-free if pitch >= gridDim.x * blockDim.x, and a launch is not shown to keep it";
        assert!(seen.out.contains(&format!("{level}[open-contract]: {message}")), "{}", seen.out);
        assert!(seen.out.contains("rows (k.cu:1): race-free for all launches that keep its contract"), "{}", seen.out);
    }
    let off = check(&told("off"), &open, &[]).expect(0);
    assert_eq!(off.out, quiet.out);
    // The option fails for the same kernels, whatever is told.
    check("", &open, &["--fail-on", "open-contract"]).expect(1);
    check(&told("error"), &open, &["--fail-on", "never"]).expect(0);
    check("", &open, &["--config", "rules={open-contract=\"error\"}"]).expect(1);
}

#[test]
fn it_is_told_of_no_kernel_whose_launches_keep_its_contract() {
    let seen = check(&told("error"), ROWS, &[]).expect(0);
    assert!(!seen.out.contains("open-contract"), "{}", seen.out);
    let alone = ROWS.split("void kept").next().unwrap();
    let seen = check(&told("error"), alone, &[]).expect(1);
    assert!(seen.out.contains("and no launch of it was found"), "{}", seen.out);
    // A launch that is stated asks for none, and neither does a kernel that is flat.
    let stated = "[[kernels]]\nname = \"rows\"\nblock-dim = [64]\ngrid-dim = [4, 2]\nparams = { pitch = 256 }\n";
    check(&format!("{}{stated}", told("error")), alone, &[]).expect(0);
    let flat = "__global__ void flat(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";
    check(&told("error"), flat, &[]).expect(0);
    // One that a launch breaks is a race.
    let broken = format!("{alone}void broken(float *y) {{ rows<<<dim3(4, 2), 64>>>(y, 100); }}\n");
    let seen = check(&told("error"), &broken, &[]).expect(1);
    assert!(seen.out.contains("rows (k.cu:1): racy") && !seen.out.contains("open-contract"), "{}", seen.out);
}

#[test]
fn it_is_suppressed_and_kept_in_baselines_as_any_other() {
    let alone = ROWS.split("void kept").next().unwrap();
    let hushed = format!("// raceproof: ignore[open-contract] the library's users see to it\n{alone}");
    let seen = check(&told("warning"), &hushed, &[]).expect(0);
    assert!(seen.out.contains("1 finding suppressed"), "{}", seen.out);
    // Where nobody asks for it, nothing can be said of the comment.
    let seen = check("", &hushed, &[]).expect(0);
    assert!(!seen.out.contains("unused-suppression"), "{}", seen.out);
    let place = Place::with(&[("raceproof.toml", &format!("{QUIET}{}", told("warning"))), ("k.cu", alone)]);
    place.run(&["check", "k.cu", "--write-baseline", "b.json"]).expect(0);
    place.run(&["check", "k.cu", "--baseline", "b.json"]).expect(0);
    place.run(&["check", "k.cu"]).expect(1);
}

#[test]
fn results_hang_on_whether_it_is_told() {
    let alone = ROWS.split("void kept").next().unwrap();
    let place = Place::with(&[("raceproof.toml", QUIET), ("k.cu", alone)]);
    let code = || {
        let mut command = place.command(&["check", "k.cu", "--cache-dir", ".kept"]);
        command.env_remove("RACEPROOF_NO_CACHE").output().unwrap().status.code()
    };
    assert_eq!(code(), Some(0));
    place.put("raceproof.toml", format!("{QUIET}{}", told("error")).as_bytes());
    assert_eq!(code(), Some(1));
    place.put("raceproof.toml", QUIET.as_bytes());
    assert_eq!(code(), Some(0));
}
