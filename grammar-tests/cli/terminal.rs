//! What people are told of the command line itself.

use super::Place;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

#[test]
fn help_is_a_command_too() {
    let place = Place::with(&[]);
    let helped = place.run(&["help", "check"]).expect(0);
    assert_eq!(helped.out, place.run(&["check", "--help-all"]).expect(0).out);
    place.run(&["help", "chekc"]).expect(2).complains("chekc");
}

/// The long names of options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = text.match_indices("--").map(|(at, _)| &text[at + 2..]);
    let names = words.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default().to_owned());
    names.filter(|name| !name.is_empty() && !name.starts_with('-')).collect()
}

#[test]
fn help_fits_on_a_page_and_all_of_it_is_one_option_away() {
    let place = Place::with(&[]);
    let help = |arguments: &[&str]| {
        let output = place.command(arguments).env("COLUMNS", "100").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let short = help(&["check", "--help"]);
    assert_eq!(short, help(&["check", "-h"]));
    assert!(short.lines().count() < 60, "{} lines: {short}", short.lines().count());
    for wanted in ["--help-all", "--block-dim", "--fail-on", "--format", "--output", "--fix", "Exit codes"] {
        assert!(short.contains(wanted), "{wanted}: {short}");
    }
    let all = options(&help(&["check", "--help-all"]));
    assert!(options(&short).is_subset(&all));
    place.run(&["man", "pages"]).expect(0);
    let page = fs::read_to_string(place.path().join("pages/raceproof-check.1")).unwrap().replace("\\-", "-");
    for rare in ["stdin-filename", "lockstep-warps", "global-offset", "shard", "cache-dir", "settings-schema"] {
        assert!(!short.contains(rare) && all.contains(rare), "{rare}");
        assert!(page.contains(&format!("--{rare}")), "the manual page has {rare}");
        assert!(place.run(&["completions", "bash"]).expect(0).out.contains(&format!("--{rare}")), "{rare}");
    }
}

#[test]
fn the_version_is_one_line_and_all_tools_with_verbose() {
    let place = Place::with(&[]);
    let short = concat!("raceproof ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(place.run(&["--version"]).expect(0).out, short);
    assert_eq!(place.run(&["-V"]).expect(0).out, short);
    place.run(&["--verbose"]).expect(2).complains("--version");
    let long = place.run(&["--version", "--verbose"]).expect(0).out;
    let names: Vec<&str> = long.lines().skip(1).map(|line| line.split(": ").next().unwrap()).collect();
    assert!(long.starts_with(short), "{long}");
    assert_eq!(names, ["commit", "system", "features", "libclang", "solver", "OpenCL driver", "nvcc"], "{long}");
    assert_eq!(place.run(&["-Vv"]).expect(0).out, long);
}

/// Tools that the surroundings name, one of which crashes.
#[cfg(unix)]
#[test]
fn the_version_names_the_tools_that_a_run_would_take() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&[
        ("z3", "#!/bin/sh\necho 'Z3 version 9.8.7 - 64 bit'\n"),
        ("nvcc", "#!/bin/sh\nkill -SEGV $$\n"),
        ("nvcc-12/bin/nvcc", "#!/bin/sh\necho 'nvcc: NVIDIA'\necho 'Cuda compilation tools, release 12.9, V12.9.41'\n"),
    ]);
    for name in ["z3", "nvcc", "nvcc-12/bin/nvcc"] {
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = |nvcc: &str| {
        let mut command = place.command(&["--version", "--verbose"]);
        command.env("RACEPROOF_Z3", place.path().join("z3")).env("RACEPROOF_NVCC", place.path().join(nvcc));
        command.env("OCL_ICD_VENDORS", place.path()).env("LIBCLANG_PATH", place.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let at = place.path().display();
    let long = run("nvcc-12");
    assert!(long.contains(&format!("\nsolver: Z3 version 9.8.7 - 64 bit ({at}/z3)\n")), "{long}");
    assert!(long.contains(&format!("\nnvcc: 12.9.41 ({at}/nvcc-12/bin/nvcc)\n")), "{long}");
    assert!(long.contains("\nOpenCL driver: none is found\n"), "{long}");
    let long = run("nvcc");
    assert!(long.contains(&format!("\nnvcc: nvcc ({at}/nvcc)\n")), "what crashes has no version: {long}");
}

#[test]
fn completions_are_scripts_that_shells_take() {
    let place = Place::with(&[]);
    for (shell, complete) in [("bash", "complete -F"), ("zsh", "#compdef raceproof"), ("fish", "complete -c raceproof")]
    {
        let script = place.run(&["completions", shell]).expect(0).out;
        assert!(script.contains(complete) && script.contains("changed-since"), "{shell}: {script}");
        place.put("script", script.as_bytes());
        // Which shells there are is the machine's affair.
        if let Ok(read) = Command::new(shell).args(["-n", "script"]).current_dir(place.path()).output() {
            assert!(read.status.success() && read.stderr.is_empty(), "{shell}: {read:?}");
        }
    }
    place.run(&["completions", "cmd"]).expect(2).complains("cmd");
}

#[test]
fn each_command_has_a_page_that_lists_its_options() {
    let place = Place::with(&[("taken", "")]);
    place.run(&["man", "pages/man1"]).expect(0);
    let page = |name: &str| std::fs::read_to_string(place.path().join("pages/man1").join(name)).unwrap();
    assert!(page("raceproof.1").contains("raceproof\\-check(1)"), "{}", page("raceproof.1"));
    assert!(page("raceproof-check.1").contains("changed\\-since"));
    assert!(page("raceproof-lsp.1").contains("Language Server Protocol"));
    place.run(&["man", "taken"]).expect(2).complains("cannot write to taken");
}

#[test]
fn who_mistypes_a_rule_or_an_operator_is_told_what_is_near() {
    let place = Place::with(&[]);
    place.run(&["explain", "data-rcae"]).expect(2).complains("did you mean `data-race`?");
    place.run(&["explain", "barrier-delaid"]).expect(2).complains("did you mean `barrier-delayed`?");
    place.run(&["explain", "possible-racy"]).expect(2).complains("did you mean `possibly-racy`?");
    place.run(&["explain", "unkown"]).expect(2).complains("did you mean `unknown`?");
    place.run(&["explain", "a rather odd thing"]).expect(2).complains("lists all of them");
}

/// What a run writes to a terminal of so many columns, which `script` is for it.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Place, columns: usize, arguments: &str) -> String {
    let run = format!("stty cols {columns}; {} {arguments}", env!("CARGO_BIN_EXE_raceproof"));
    let mut command = Command::new("script");
    command.args(["-qec", &run, "/dev/null"]).current_dir(place.path()).stdin(std::process::Stdio::null());
    let output = command.output().expect("script is there (util-linux)");
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[cfg(target_os = "linux")]
#[test]
fn pages_fit_into_a_terminal_and_are_as_they_are_elsewhere() {
    let place = Place::with(&[]);
    let plain = place.run(&["explain", "data-dependent-index"]).expect(0).out;
    assert_eq!(plain, raceproof::driver::rule_page(raceproof::diagnostic::RuleId::DataDependentIndex));
    let narrow = on_a_terminal(&place, 60, "explain data-dependent-index");
    let mut is_code = false;
    for line in narrow.lines() {
        is_code ^= line.starts_with("```");
        assert!(is_code || line.chars().count() <= 60, "{line}");
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&plain));
    for code in plain.split("\n```").skip(1).step_by(2) {
        assert!(narrow.contains(code), "{code}");
    }
    // Nobody reads lines that are as wide as the widest screens.
    let wide = on_a_terminal(&place, 300, "explain");
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
}
