//! Models of libraries: texts that are read in the place of headers which nobody finds.
//!
//! A model is a file of `raceproof.models` ([`file`]), which says for which names of headers its text stands in. Those of the
//! program itself come last: a user's model precedes them, and what is given by hand precedes what lies beside a project.
//!
//! Guarantees: what a model stands in for hangs on the files of models alone, as they are whenever they are asked for, and
//! every answer is recorded with its question ([`crate::source::dependencies`]). What is wrong with a file costs that part
//! of it, and nothing else.
//!
//! Deliberately absent: when a header counts as not found, which is the preprocessor's, and what the text of a model means.

mod file;

pub use file::Problem;

use crate::source::dependencies::{Dependency, Question, Stamp, record};
use crate::source::disk;
use crate::source::fingerprint::Fingerprint;
use crate::source::headers::root_around;
use file::Model;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The name of a directory of models.
pub const DIRECTORY: &str = "raceproof.models";
/// A directory with a file of settings may have models, too.
const SETTINGS: &str = "raceproof.toml";
/// The models that are a part of the program.
const SHIPPED: [Shipped; 2] = [
    Shipped {
        path: "raceproof.models/glm.toml",
        below: &["glm/"],
        text: include_str!("../../raceproof.models/glm.toml"),
    },
    Shipped {
        path: "raceproof.models/pytorch.toml",
        below: &["ATen/", "THC/", "c10/", "torch/"],
        text: include_str!("../../raceproof.models/pytorch.toml"),
    },
];

/// A model that is a part of the program: parsed only where it is asked for, since most that look for a header in vain look for
/// that of another library.
struct Shipped {
    /// What is shown of its place.
    path: &'static str,
    /// What the names of all of its headers begin with.
    below: &'static [&'static str],
    text: &'static str,
}

/// The models of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Models {
    /// Directories that were given by hand.
    given: Vec<PathBuf>,
}

/// What is read in the place of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// The file of the model, as it is shown.
    pub path: PathBuf,
    /// The how manieth text of that file it is: each is read once in a unit.
    pub number: usize,
    /// The text, at the place where it has in the file: all else is white space.
    pub text: Arc<str>,
}

impl Models {
    /// Those of `given` directories, of projects, and of the program.
    pub fn new(given: &[PathBuf]) -> Models {
        Models { given: given.to_vec() }
    }

    /// What stands in for a header that was not found, in a unit.
    pub fn find(&self, header: &str, unit: &Path) -> Option<StandIn> {
        let own = self.of_unit(unit);
        own.iter().find_map(|file| file.model.stand_in(header)).or_else(|| shipped(header))
    }

    /// What is wrong with the files that a unit is read with.
    pub fn problems(&self, unit: &Path) -> Vec<Problem> {
        self.of_unit(unit).iter().flat_map(|file| file.model.problems.clone()).collect()
    }

    /// The models that a unit is read with, as they are now: as long as that is the same, so is all that is found.
    pub fn answer(&self, unit: &Path) -> Fingerprint {
        answer(&self.files(unit))
    }

    fn of_unit(&self, unit: &Path) -> Vec<Arc<Known>> {
        let files = self.files(unit);
        record(|| Dependency::Answer(Question::Models { unit: unit.to_path_buf() }, answer(&files)));
        files
    }

    /// The files of users' models, the first first.
    fn files(&self, unit: &Path) -> Vec<Arc<Known>> {
        let mut files: Vec<PathBuf> = Vec::new();
        for directory in self.directories(unit) {
            let inside = std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut inside: Vec<PathBuf> =
                inside.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
            inside.sort();
            files.extend(inside);
        }
        files.iter().filter_map(|path| known(path)).collect()
    }

    fn directories(&self, unit: &Path) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.given.iter().map(|given| disk::absolute(given)).collect();
        let unit = disk::absolute(unit);
        let directory = unit.parent().unwrap_or(&unit);
        let of_settings = directory.ancestors().find(|directory| directory.join(SETTINGS).is_file());
        let of_project = root_around(directory);
        let roots = of_settings.map(Path::to_path_buf).into_iter().chain(of_project);
        for directory in roots.map(|root| root.join(DIRECTORY)) {
            if !all.contains(&directory) {
                all.push(directory);
            }
        }
        all
    }
}

/// A file of a user as it was read.
struct Known {
    /// Its path and its text.
    is: Fingerprint,
    model: Model,
}

fn answer(files: &[Arc<Known>]) -> Fingerprint {
    Fingerprint::of_value(&files.iter().map(|file| file.is).collect::<Vec<_>>())
}

/// A file of a user as it is now, which is read again only where it may be another one: every header that is not found asks.
/// A copy of a model of the program is that model, and none of a user.
fn known(path: &Path) -> Option<Arc<Known>> {
    type Read = Mutex<BTreeMap<PathBuf, (Stamp, Option<Arc<Known>>)>>;
    static READ: Read = Mutex::new(BTreeMap::new());
    // Before it is read: whoever changes it in between leaves a stamp that is no longer true.
    let stamp = Stamp::of(path).filter(Stamp::is_steady);
    let mut all = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.get(path).filter(|(of_before, _)| stamp == Some(*of_before)) {
        return known.clone();
    }
    let text = std::fs::read(path).map(|bytes| disk::decode(&bytes)).unwrap_or_default();
    let is_shipped = SHIPPED.iter().any(|shipped| shipped.text == text);
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(here).unwrap_or(path);
    let known = (!is_shipped)
        .then(|| Arc::new(Known { is: Fingerprint::of_value(&(shown, &text)), model: file::read(shown, &text) }));
    if let Some(stamp) = stamp {
        all.insert(path.to_path_buf(), (stamp, known.clone()));
    }
    known
}

/// What the program itself has in the place of a header.
fn shipped(header: &str) -> Option<StandIn> {
    static MODELS: [OnceLock<Model>; SHIPPED.len()] = [const { OnceLock::new() }; SHIPPED.len()];
    let plain = header.trim_start_matches("./");
    let asked = SHIPPED.iter().zip(&MODELS).filter(|(shipped, _)| shipped.below.iter().any(|it| plain.starts_with(it)));
    let model = |(shipped, model): (&Shipped, &'static OnceLock<Model>)| {
        model.get_or_init(|| file::read(Path::new(shipped.path), shipped.text)).stand_in(header)
    };
    asked.map(model).find_map(|found| found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn model(header: &str, text: &str) -> String {
        format!(
            "[library]\nname = \"a\"\nabout = \"b\"\n[[stand-in]]\nheaders = [\"{header}\"]\ntext = '''\n{text}'''\n"
        )
    }

    #[test]
    fn shipped_models_have_no_problems() {
        for Shipped { path, below, text } in SHIPPED {
            let model = file::read(Path::new(path), text);
            assert!(model.problems.is_empty(), "{:?}", model.problems);
            let is_below = |pattern: &str| below.iter().any(|it| pattern.starts_with(it));
            assert!(model.patterns().all(is_below), "{path}: {:?}", model.patterns().collect::<Vec<_>>());
        }
        let stands_in = |header| Models::default().find(header, Path::new("/nowhere/k.cu")).map(|it| it.path);
        for header in ["torch/extension.h", "ATen/cuda/detail/TensorInfo.cuh", "c10/util/Half.h", "THC/THCAtomics.cuh"]
        {
            assert_eq!(stands_in(header).unwrap(), Path::new("raceproof.models/pytorch.toml"), "{header}");
        }
        for header in ["glm/glm.hpp", "glm/gtc/matrix_transform.hpp"] {
            assert_eq!(stands_in(header).unwrap(), Path::new("raceproof.models/glm.toml"), "{header}");
        }
        assert_eq!(stands_in("vector"), None);
    }

    #[test]
    fn models_by_hand_precede_those_of_settings_and_these_those_of_the_project() {
        let root = tempfile::tempdir().unwrap();
        let place = |name: &str| root.path().join(name);
        for name in [".git", "raceproof.models", "sub/raceproof.models", "hand"] {
            create_dir_all(place(name)).unwrap();
        }
        write(place("raceproof.models/a.toml"), model("glm/*.hpp", "int project;")).unwrap();
        let unit = place("sub/k.cu");
        let found = |models: &Models| models.find("glm/glm.hpp", &unit).unwrap().text.trim().to_owned();
        assert_eq!(found(&Models::default()), "int project;");
        let before = Models::default().answer(&unit);
        write(place("sub/raceproof.toml"), "").unwrap();
        write(place("sub/raceproof.models/a.toml"), model("glm/*.hpp", "int settings;")).unwrap();
        assert_eq!(found(&Models::default()), "int settings;");
        assert_ne!(Models::default().answer(&unit), before);
        write(place("hand/a.toml"), model("glm/*.hpp", "int hand;")).unwrap();
        assert_eq!(found(&Models::new(&[place("hand")])), "int hand;");
        assert_eq!(Models::new(&[place("hand")]).find("other/none.h", &unit), None);
    }
}
