//! What may be spent, through the real binary: no clock has a part in a verdict, and less effort decides nothing otherwise.

use super::cli::Place;
use crate::support::tools;
use raceproof::smt::{SolverKind, find};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

/// A kernel of which more is asked than any effort but the greatest allows: each of its accesses may meet each other one.
fn dear() -> String {
    let statement = |k: u32| {
        let [a, b, c] = [2 * k + 3, k + 5, k + 7];
        format!("    a[(i * {a} + j * {b}) ^ n] = b[(j * {c} + i) * m + {k}];\n")
    };
    let body: String = (0..40).map(statement).collect();
    let head = "__global__ void dear(int *a, const int *b, int n, int m) {\n";
    format!("{head}    int i = blockIdx.x * blockDim.x + threadIdx.x, j = threadIdx.y;\n{body}}}\n")
}

/// What is asked of a solver, too, if there is one.
const HASHED: &str = "__global__ void hashed(float *y) {
    unsigned t = threadIdx.x;
    if (t < 8) y[(t * 2654435761u) >> 3] = t;
}
";

fn place() -> Place {
    Place::with(&[("dear.cu", &dear()), ("hashed.cu", HASHED)])
}

fn check(place: &Place, arguments: &[&str]) -> Command {
    let solver = tools::used(SolverKind::Z3.name(), || find(SolverKind::Z3).ok_or(())).is_some();
    let arguments = [&["check", "--color", "never", "--jobs", "1"], arguments].concat();
    let mut command = place.command(&[&arguments[..], &["--solver", if solver { "z3" } else { "none" }]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Lets a process run for a tenth of the time, until it ends.
#[cfg(unix)]
fn slow_down(child: &mut Child) {
    use std::thread::sleep;
    use std::time::Duration;
    let id = child.id().to_string();
    let send = |signal: &str| Command::new("kill").args([signal, &id]).status().unwrap();
    while child.try_wait().unwrap().is_none() {
        send("-STOP");
        sleep(Duration::from_millis(36));
        send("-CONT");
        sleep(Duration::from_millis(4));
    }
}

#[cfg(unix)]
#[test]
fn a_machine_that_is_ten_times_slower_gives_the_same_answers() {
    let place = place();
    let arguments = ["dear.cu", "hashed.cu", "--format", "json", "--effort", "quick"];
    let expected = check(&place, &arguments).output().unwrap();
    let mut child = check(&place, &arguments).spawn().unwrap();
    slow_down(&mut child);
    let slow = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(slow.stdout), String::from_utf8(expected.stdout));
    assert_eq!(slow.status, expected.status);
}

#[test]
fn what_was_not_asked_is_told_and_more_effort_asks_it() {
    let place = place();
    let spent = "what the effort allows was spent before every question was asked; --effort raises it";
    for (effort, is_spent) in [("quick", true), ("normal", true), ("thorough", false)] {
        let output = check(&place, &["dear.cu", "--effort", effort]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.contains(spent), is_spent, "{effort}:\n{text}");
    }
}

/// What less effort proves, and what it shows of barriers, more effort says too. A race may be excused by a contract for which
/// there was too little before.
#[test]
fn more_effort_takes_nothing_back() {
    let verdicts = |effort: &str| -> BTreeMap<String, (String, String)> {
        let trees = ["fixtures/quickstart", "fixtures/stencils", "fixtures/warps", "fixtures/fences"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.env("RACEPROOF_NO_CACHE", "1").arg("check").args(trees).args(["--format", "json", "--effort", effort]);
        let output = command.args(["--front", "tree-sitter", "--solver", "none"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap().iter();
        let kernels = files.flat_map(|file| {
            file["kernels"].as_array().unwrap().iter().map(|kernel| {
                let word = |name: &str| kernel[name].as_str().unwrap().to_owned();
                let key = format!("{} {} {}", file["path"], kernel["line"], kernel["template_args"]);
                (key, (word("race"), word("divergence")))
            })
        });
        kernels.collect()
    };
    let [quick, normal, thorough] = ["quick", "normal", "thorough"].map(verdicts);
    assert!(normal.len() > 100, "{}", normal.len());
    for (less, more) in [(&quick, &normal), (&normal, &thorough)] {
        assert_eq!(less.len(), more.len());
        for (kernel, (race, divergence)) in less {
            let (other, otherwise) = &more[kernel];
            let stays = race != "race-free" || other == race;
            assert!(stays, "{kernel} is {race}, and {other} with more effort");
            let stays = divergence != "uniform" && divergence != "divergent" || otherwise == divergence;
            assert!(stays, "{kernel} is {divergence}, and {otherwise} with more effort");
        }
    }
}

/// A kernel whose planes may overlap, in more ways than are looked at in a scan.
const PLANES: &str =
    "__global__ void planes(float *out, const float *in, int pitch, int height, int batch, float scale, int width) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= (int)(width / scale) || y >= (int)(height / scale)) return;
    int plane = pitch * height;
    for (int i = blockIdx.z; i < batch; i += gridDim.z) {
        for (int channel = 0; channel < 3; channel++) {
            out[i * 3 * plane + y * pitch + x + channel * plane] = in[i];
        }
    }
}
";

#[test]
fn a_contract_that_was_not_sought_to_the_end_says_which_effort_does() {
    let place = Place::with(&[("planes.cu", PLANES)]);
    let said = |effort: &str| {
        let output = check(&place, &["planes.cu", "--effort", effort]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let names_effort = |text: &str| text.contains("--effort thorough looks further");
    assert!(names_effort(&said("quick")), "{}", said("quick"));
    assert!(!names_effort(&said("thorough")), "{}", said("thorough"));
}
