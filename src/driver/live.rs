//! A text that is checked again and again while somebody writes it.
//!
//! What is known of its kernels stays from one check to the next ([`Memo`]): only those are judged again that became others. A check
//! is *quick*, with the front end of this process and without a solver, or *whole*, as `check` does it. Where a whole check has
//! judged a kernel, a quick one says the same of it.
//!
//! Guarantees: a whole check says what a run over that file alone says with the same options. What is
//! kept is what the last text of each kind needs, so it does not grow with the number of checks.
//!
//! Deliberately absent: when to check, and what to do with a check that nobody waits for any more ([`leave`](crate::work::memory::leave)).

use super::front::FrontEnd;
use super::isolate::{Panic, isolated};
use super::memo::Memo;
use super::options::{Evidence, Fixes, Hints, Options, Settings};
use super::{check_source_of_many, parallel};
use crate::diagnostic::report::{FileReport, Fix, Report};
use crate::source::fingerprint::Fingerprint;
use std::path::Path;
use std::sync::Arc;

/// How much is asked of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// An answer while somebody types.
    Quick,
    /// What `check` says.
    Whole,
}

impl Pass {
    /// The options of the pass.
    fn options(self, options: &Options) -> Options {
        let options =
            Options { hints: Hints::Omit, fixes: Fixes::Omit, evidence: Evidence::default(), ..options.clone() };
        match self {
            Pass::Whole => options,
            Pass::Quick => Options {
                front: FrontEnd::TreeSitter,
                judging: Settings { solver: None, ..options.judging.clone() },
                hints: Hints::Omit,
                ..options
            },
        }
    }

    /// Whether a whole check may say anything that a quick one does not.
    pub fn differ(options: &Options) -> bool {
        let is_more = options.judging.solver.is_some() || options.hints == Hints::Give;
        is_more || !matches!(options.front, FrontEnd::TreeSitter)
    }
}

/// What is known of a text.
pub struct Live {
    /// How kernels were judged of which something is known: under other settings, nothing of it counts.
    judging: Option<Fingerprint>,
    whole: Arc<Memo>,
    quick: Memo,
}

impl Default for Live {
    fn default() -> Self {
        let whole = Arc::new(Memo::default());
        Live { judging: None, quick: Memo::behind(Arc::clone(&whole)), whole }
    }
}

impl Live {
    /// Checks a text.
    ///
    /// # Errors
    /// raceproof failed on it as a whole.
    pub fn check(&mut self, path: &Path, text: &str, options: &Options, pass: Pass) -> Result<Report, Panic> {
        let judging = Fingerprint::of_value(&options.judging);
        if self.judging.replace(judging).is_some_and(|before| before != judging) {
            *self = Live { judging: Some(judging), ..Live::default() };
        }
        let options = pass.options(options);
        let memo = match pass {
            Pass::Quick => &self.quick,
            Pass::Whole => &*self.whole,
        };
        let checked = isolated(|| check_source_of_many(path, text, &options, Some(memo), None));
        memo.forget_unasked();
        let mut report = Report { files: vec![checked?.report] };
        parallel::tell(&mut report, &options);
        Ok(report)
    }

    /// Files beside the text are no longer what they were.
    pub fn files_changed(&self) {
        self.whole.units.forget();
        self.quick.units.forget();
    }
}

/// The fix of a finding of this kernel that begins at that line, if one is proved.
pub fn fix(path: &Path, text: &str, options: &Options, (kernel, line): (&str, u32)) -> Option<Fix> {
    let options = Options { kernels: vec![kernel.to_owned()], fixes: Fixes::Suggest, ..options.clone() };
    let checked = isolated(|| super::check_source(path, text, &options)).ok()?;
    let FileReport { kernels, sources, .. } = checked.report;
    let findings = kernels.into_iter().flat_map(|kernel| kernel.findings);
    let mut fixes = findings.filter(|it| sources.start_position(it.primary.span).line == line).map(|it| it.fix);
    fixes.find_map(|fix| fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render::json;
    use crate::driver::parallel::{Input, Unwatched, check_all};

    const TEXT: &str = "__global__ void one(int *y) { y[threadIdx.x] = 1; }
__global__ void two(int *y) { y[threadIdx.x / 2] = 2; }
int main() { one<<<1, 32>>>(0); two<<<1, 32>>>(0); }
";

    fn in_json(report: &Report) -> String {
        let mut text = Vec::new();
        json::render(report, &mut text).expect("memory can be written");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    #[test]
    fn whatever_was_checked_before_a_check_says_what_a_fresh_one_says() {
        let (mut live, options, path) = (Live::default(), Options::default(), Path::new("a.cu"));
        let suppressed =
            TEXT.replace(" y[threadIdx.x / 2]", "\n// raceproof: ignore[data-race] why\ny[threadIdx.x / 2]");
        let texts =
            [TEXT.to_owned(), TEXT.replace("/ 2", "* 2"), format!("\n// moved\n{TEXT}"), suppressed, TEXT.to_owned()];
        for text in texts {
            for pass in [Pass::Quick, Pass::Whole] {
                let report = live.check(path, &text, &options, pass).unwrap();
                let fresh = check_all(&[Input::Text(path.into(), text.clone().into())], &options, &Unwatched).report;
                assert_eq!(in_json(&report), in_json(&fresh), "{text}");
            }
        }
    }

    #[test]
    fn what_was_judged_under_other_settings_does_not_count() {
        let text =
            "__global__ void k(int *y) { y[threadIdx.x] = y[threadIdx.x ^ 1]; }\nint main() { k<<<1, 32>>>(0); }\n";
        let mut options = Options::default();
        let mut live = Live::default();
        let mut racy = |options: &Options| {
            let report = live.check(Path::new("a.cu"), text, options, Pass::Whole).unwrap();
            report.summary().racy
        };
        assert_eq!(racy(&options), 1);
        options.judging.block = [Some(1), Some(1), Some(1)];
        assert_eq!(racy(&options), 0);
        options.judging.block = [None; 3];
        assert_eq!(racy(&options), 1);
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_number_of_checks() {
        let (mut live, options) = (Live::default(), Options::default());
        for number in 0..20 {
            let text = TEXT.replace("= 2", &format!("= {number}"));
            live.check(Path::new("a.cu"), &text, &options, Pass::Quick).unwrap();
            live.check(Path::new("a.cu"), &text, &options, Pass::Whole).unwrap();
        }
        assert!(live.whole.known() <= 4 && live.quick.known() <= 4, "{} {}", live.whole.known(), live.quick.known());
    }

    #[test]
    fn the_fix_of_a_race_is_found_by_its_line() {
        let text = "__global__ void k(int *y) {
  __shared__ int a[64];
  a[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = a[63 - threadIdx.x];
}
int main() { k<<<1, 64>>>(0); }
";
        let fix = fix(Path::new("a.cu"), text, &Options::default(), ("k", 3));
        assert!(fix.as_ref().is_some_and(|fix| fix.edits[0].text.contains("__syncthreads();")), "{fix:?}");
    }
}
