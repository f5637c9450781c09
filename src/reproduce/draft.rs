//! One reproduction before it has a name: its text, and the races that it shows.

use super::plan::{Plan, PlanError};
use super::slice::{Slice, SliceError};
use super::{cuda, opencl};
use crate::execute::launch::host::ParameterKind;
use crate::source::Language;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How every file of a reproduction begins, behind what makes it a comment; by it, it is known again.
pub(super) const MARK: &str = "A data race, written by `raceproof check --reproduce`";

/// Why a race has no reproduction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DraftError {
    /// Its launch cannot be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its kernel cannot be taken out of the text.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// A language without programs around its kernels.
    #[error("reproductions are written for CUDA and OpenCL, and this is HIP")]
    Hip,
    /// A kernel whose parameters do not stand in the text as they were resolved.
    #[error("how the kernel is called is not understood")]
    Head,
    /// An access whose line is not in the part of the text that was taken.
    #[error("line {0} of {1} is not in what the kernel needs")]
    NoLine(u32, String),
}

/// One race, as its reproduction tells it.
#[derive(Clone, Debug)]
pub struct RaceText {
    /// One line.
    pub message: String,
    /// The two accesses.
    pub accesses: [Origin; 2],
    /// The name of its rule.
    pub rule: &'static str,
    /// Whether the array is in memory that a block shares.
    pub is_shared: bool,
}

/// An access in the user's text.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
    /// The line.
    pub line: u32,
    /// What happens there, and which thread does it.
    pub what: String,
}

/// A reproduction that has no name yet.
#[derive(Clone, Debug)]
pub struct Draft {
    language: Language,
    /// What its name begins with: the kernel, the line and the rule of the first race.
    pub(super) stem: String,
    /// The kernel, its file and its launch, in words.
    about: String,
    races: Vec<RaceText>,
    /// The lines of the races in the slice, from 1.
    lines: Vec<[u32; 2]>,
    slice: Slice,
    plan: Plan,
    kinds: Vec<ParameterKind>,
    host: String,
}

/// Where a race is found in a reproduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The lines of the two accesses.
    pub lines: [u32; 2],
}

/// Puts a launch and the text that it needs together. `about` says in words what kernel and launch it is.
pub fn draft(
    (language, kernel, about): (Language, &str, String),
    races: Vec<RaceText>,
    slice: &Slice,
    plan: &Plan,
    kinds: &[ParameterKind],
) -> Result<Draft, DraftError> {
    let host = match language {
        Language::OpenCl => opencl::description(plan)?,
        Language::Cuda => cuda::host(plan, slice)?,
    };
    let mut lines = Vec::new();
    for race in &races {
        let [first, second] = &race.accesses;
        lines.push([slice.line_of(first)?, slice.line_of(second)?]);
    }
    let stem = races
        .first()
        .map_or_else(|| word(kernel), |race| format!("{}-{}-{}", word(kernel), race.accesses[0].line, race.rule));
    Ok(Draft {
        language,
        stem,
        about,
        races,
        lines,
        slice: slice.clone(),
        plan: plan.clone(),
        kinds: kinds.to_vec(),
        host,
    })
}

/// A name as part of the name of a file.
fn word(name: &str) -> String {
    let last = name.rsplit("::").next().unwrap_or(name);
    let word: String = last.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    word.chars().take(80).collect()
}

impl Slice {
    /// The line of this slice, from 1, that an access is on.
    fn line_of(&self, origin: &Origin) -> Result<u32, DraftError> {
        let is_it = |from: &Option<(PathBuf, u32)>| {
            from.as_ref().is_some_and(|(path, line)| *line == origin.line && *path == origin.path)
        };
        let at = self.lines.iter().position(|(_, from)| is_it(from));
        let missing = || DraftError::NoLine(origin.line, origin.path.display().to_string());
        at.map(|at| at as u32 + 1).ok_or_else(missing)
    }
}

impl Draft {
    /// Where its races are.
    pub fn shown(&self) -> Vec<Shown> {
        let before = self.header("").len() as u32;
        self.lines.iter().map(|lines| Shown { lines: lines.map(|line| line + before) }).collect()
    }

    /// What the name of its first file ends with.
    pub(super) fn extension(&self) -> &'static str {
        match self.language {
            Language::OpenCl => "cl",
            Language::Cuda => "cu",
        }
    }

    /// Its files under a name: what each name ends with, and what it holds. The first is the one to run.
    pub(super) fn files(&self, name: &str) -> Vec<(&'static str, String)> {
        let mut text = self.header(name).join("\n");
        text.push('\n');
        for (line, _) in &self.slice.lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        if self.language == Language::Cuda {
            text.push_str(&self.host);
            return vec![("cu", text)];
        }
        let description = format!("# {MARK}.\n# The launch of {name}.cl\n\n{}", self.host);
        let mut files = vec![("cl", text), ("toml", description)];
        files.extend(self.simulation(name).map(|text| ("sim", text)));
        files
    }

    fn simulation(&self, name: &str) -> Option<String> {
        opencl::simulation(&self.plan, &self.kinds, &format!("{name}.cl"))
    }

    /// The comment on top, line by line; as many lines for any name.
    fn header(&self, name: &str) -> Vec<String> {
        let before = 0;
        let mut lines = self.comment(name, before);
        // The lines of the races count those of the comment itself, whose number does not depend on them.
        let count = lines.len() as u32;
        lines = self.comment(name, count);
        lines
    }

    fn comment(&self, name: &str, before: u32) -> Vec<String> {
        let mut lines = vec![format!("{MARK}."), String::new(), self.about.clone()];
        for (number, (race, at)) in self.races.iter().zip(&self.lines).enumerate() {
            lines.push(String::new());
            lines.push(format!("{}. {}", number + 1, race.message));
            for (origin, line) in race.accesses.iter().zip(at) {
                let path = file_name(&origin.path);
                lines.push(format!("     line {} ({path}:{}): {}", line + before, origin.line, origin.what));
            }
        }
        lines.push(String::new());
        lines.push("To see it:".to_owned());
        lines.extend(self.commands(name));
        if !self.slice.left_out.is_empty() {
            lines.push(String::new());
            lines.push(format!("Headers that were not found and are left out: {}", self.slice.left_out.join(", ")));
        }
        let mut comment: Vec<String> = lines.iter().map(|line| commented(line)).collect();
        comment.push(String::new());
        comment
    }

    fn commands(&self, name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.language == Language::OpenCl {
            lines.push(format!("  raceproof run {name}.cl --launch {name}.toml"));
            if self.simulation(name).is_some() {
                lines.push(format!("  oclgrind-kernel --data-races {name}.sim"));
            }
            return lines;
        }
        lines.push(format!("  raceproof run {name}.cu"));
        let compiled = format!("  nvcc -arch=native -lineinfo {name}.cu");
        if self.races.iter().any(|race| race.is_shared) {
            lines.push(format!("{compiled} && compute-sanitizer --tool racecheck ./a.out"));
            let writes_twice = |race: &RaceText| race.accesses.iter().all(|access| access.what.starts_with("write"));
            if self.races.iter().any(|race| race.is_shared && writes_twice(race)) {
                lines.push("(it may say nothing of two writes of the same value; try --print-level info)".into());
            }
        } else {
            lines.push(compiled);
            lines.push(
                "(compute-sanitizer looks for races in shared memory only, and this one is in global memory)".into(),
            );
        }
        lines
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A line of a comment. A backslash at its end would swallow the next line.
fn commented(line: &str) -> String {
    let mut text = String::from("// ");
    // A trigraph or a control character of a name must not end the comment.
    let _ = write!(text, "{}", line.replace(|c: char| c.is_control(), " "));
    text.trim_end().trim_end_matches('\\').to_owned()
}
