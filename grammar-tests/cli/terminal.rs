//! What people are told of the command line itself.

use super::Place;
use std::process::Command;

#[test]
fn help_is_a_command_too() {
    let place = Place::with(&[]);
    let helped = place.run(&["help", "check"]).expect(0);
    assert_eq!(helped.out, place.run(&["check", "--help"]).expect(0).out);
    place.run(&["help", "chekc"]).expect(2).complains("chekc");
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
    place.run(&["explain", "tile"]).expect(2).complains("lists all rules");
}
