//! Emacs with eglot and the file of `editors/emacs`: opens racy files, hears of the races, applies the fix, and they are gone.
//!
//! `RACEPROOF_EMACS` names the program, or it is the one on the PATH; `scripts/test` installs it, with eglot where Emacs has none.

use super::real::{CUDA, OPENCL};
use crate::cli::Place;
use crate::support::tools::{self, path, program};
use std::path::Path;
use std::process::Command;

/// Where Debian keeps the packages of Emacs.
const PACKAGES: &str = "/usr/share/emacs/site-lisp/elpa-src";

/// What Emacs does: its findings, before and behind the fix, are written line by line.
const SCRIPT: &str = r#"
(require 'raceproof)
(require 'flymake)
(setq eglot-sync-connect 60)
(defun findings ()
  (mapcar (lambda (it) (format "%d %s" (line-number-at-pos (flymake-diagnostic-beg it))
                               (car (split-string (flymake-diagnostic-text it) "\n"))))
          (flymake-diagnostics)))
(defun wait (what holds)
  (let ((until (+ (float-time) 60)))
    (while (and (not (funcall holds)) (< (float-time) until))
      ;; What a user's pause does.
      (eglot--signal-textDocument/didChange)
      (flymake-start)
      (accept-process-output nil 0.05))
    (unless (funcall holds) (note (format "waited in vain for %s" what)))))
(defun note (text) (append-to-file (concat text "\n") nil "seen.txt"))
(defun visit (file)
  (find-file file)
  (unless (eglot-managed-p) (apply #'eglot--connect (eglot--guess-contact))))
(visit "a.cu")
(wait "the race" (lambda () (= (length (findings)) 1)))
(note (format "%s %s" major-mode (findings)))
(goto-char (point-min))
(forward-line 2)
(let* ((actions (eglot-code-actions (line-beginning-position) (line-end-position) nil nil))
       (fix (seq-find (lambda (it) (string-prefix-p "insert" (plist-get it :title))) actions)))
  (eglot--apply-workspace-edit (plist-get fix :edit)))
(wait "the end of the race" (lambda () (null (findings))))
(goto-char (point-min))
(forward-line 3)
(note (buffer-substring-no-properties (line-beginning-position) (line-end-position)))
(note (format "%d" (length (findings))))
(visit "b.cl")
(wait "the race of OpenCL" (lambda () (= (length (findings)) 1)))
(note (format "%s %s" major-mode (findings)))
"#;

#[test]
fn emacs_shows_a_race_and_the_fix_ends_it() {
    let Some(emacs) = tools::used("emacs", || program("RACEPROOF_EMACS", "emacs").ok_or(())) else { return };
    let place = Place::with(&[("a.cu", CUDA), ("b.cl", OPENCL), ("script.el", SCRIPT), ("raceproof.toml", "")]);
    let mut command = Command::new(emacs);
    command.args(["--batch", "-Q", "-L"]).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/emacs"));
    for package in std::fs::read_dir(PACKAGES).into_iter().flatten().flatten() {
        command.arg("-L").arg(package.path());
    }
    command.args(["-l", "script.el"]).current_dir(place.path()).env("HOME", place.path());
    let ran = command.env("PATH", path()).env("RACEPROOF_NO_CACHE", "1").output().unwrap();
    let seen = std::fs::read_to_string(place.path().join("seen.txt")).unwrap_or_default();
    let lines: Vec<&str> = seen.lines().collect();
    let said = format!("{seen}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(lines.len() == 4, "{said}");
    assert!(lines[0].starts_with("raceproof-cuda-mode (3 raceproof [data-race]: data race on tile"), "{said}");
    assert!(lines[1].contains("__syncthreads();") && lines[2] == "0", "{said}");
    assert!(lines[3].starts_with("raceproof-opencl-mode (1 raceproof [same-value-write]"), "{said}");
}
