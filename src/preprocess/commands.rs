//! `compile_commands.json`: how a build compiles each file, as far as the preprocessor cares.
//!
//! Flags of nvcc, clang, gcc and HIP's compiler are understood where they define macros or name include
//! directories, include files (`-include`) or say the language (`-x`, `-cl-std`), also in response files (`@file`, `--options-file file`) and as parts of `-Xclang`; what nvcc hands
//! to other tools (`-Xcompiler`, `-Xptxas`, `-Xlinker` …) is theirs and is skipped. Every other flag is ignored,
//! with its value if it takes one: a build's command line is never rejected.
//!
//! Deliberately absent: guessing the flags of a file that the build does not compile by itself, such as a header.

use super::{ForcedInclude, IncludedPart};
use crate::source::{Dialect, OpenClVersion};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the file in the directory of a build.
pub const FILE: &str = "compile_commands.json";
/// Response files may name each other this deeply.
const NESTING: usize = 8;

/// What a build says about its files.
#[derive(Clone, Debug, Default)]
pub struct CompileCommands {
    /// By canonical path.
    files: BTreeMap<PathBuf, Flags>,
}

/// What a command line says to the preprocessor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Macros with their values, in order; a `-U` takes away what precedes it.
    pub defines: Vec<(String, String)>,
    /// Include directories in order, absolute.
    pub include_dirs: Vec<PathBuf>,
    /// Files that are read before the first line, in order.
    pub includes: Vec<ForcedInclude>,
    /// The language, if `-x` says one that can be checked.
    pub dialect: Option<Dialect>,
    /// The version of OpenCL C, if `-cl-std` says one.
    pub opencl: Option<OpenClVersion>,
}

/// Why there are no commands.
#[derive(Debug, thiserror::Error)]
pub enum CommandsError {
    /// The file is not there or cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// It is no compilation database.
    #[error("{} is no list of compile commands: {cause}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: serde_json::Error,
    },
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

impl CompileCommands {
    /// Reads the commands of the build in `directory` (or the file itself, if that is what it names).
    pub fn read(directory: &Path) -> Result<CompileCommands, CommandsError> {
        let path = if directory.is_file() { directory.to_path_buf() } else { directory.join(FILE) };
        let text = std::fs::read(&path).map_err(|cause| CommandsError::Unreadable { path: path.clone(), cause })?;
        let entries: Vec<Entry> =
            serde_json::from_slice(&text).map_err(|cause| CommandsError::Malformed { path: path.clone(), cause })?;
        let base = path.parent().unwrap_or(Path::new(""));
        let mut commands = CompileCommands::default();
        for entry in entries {
            let directory = base.join(&entry.directory);
            let words = if entry.arguments.is_empty() { split(&entry.command) } else { entry.arguments };
            let file = canonical(&directory.join(&entry.file));
            // The first command counts where a build compiles a file more than once.
            commands.files.entry(file).or_insert_with(|| Flags::of(&words, &directory));
        }
        Ok(commands)
    }

    /// The flags of one file.
    pub fn one(file: &Path, flags: Flags) -> CompileCommands {
        CompileCommands { files: BTreeMap::from([(canonical(file), flags)]) }
    }

    /// All files that the build compiles, with their flags, in the order of their paths.
    pub fn all(&self) -> Vec<(&Path, &Flags)> {
        let mut all: Vec<_> = self.files.iter().map(|(path, flags)| (path.as_path(), flags)).collect();
        all.sort_by_key(|(path, _)| *path);
        all
    }

    /// The flags of a file that the build compiles.
    pub fn flags(&self, file: &Path) -> Option<&Flags> {
        self.files.get(&canonical(file))
    }
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| super::files::normalized(path))
}

impl Flags {
    /// The flags among the words of a command line that runs in `directory`.
    pub fn of(words: &[String], directory: &Path) -> Flags {
        let mut flags = Flags::default();
        flags.read(words, directory, NESTING);
        flags
    }

    fn read(&mut self, words: &[String], directory: &Path, nesting: usize) {
        // What these words announce is meant for the pass over device code, which is the one that is read here.
        let is_wrapping = |word: &&str| matches!(*word, "-Xclang" | "-Xarch_device");
        let mut words = words.iter().map(String::as_str).filter(|word| !is_wrapping(word));
        while let Some(word) = words.next() {
            if let Some(file) = word.strip_prefix('@') {
                self.read_file(file, directory, nesting);
                continue;
            }
            let (flag, attached) = flag_and_value(word);
            let Some(meaning) = meaning(flag) else { continue };
            let Some(value) = attached.or_else(|| words.next()) else { break };
            match meaning {
                Meaning::Define => self.define(value),
                Meaning::Undefine => self.defines.retain(|(name, _)| name != value),
                Meaning::Include => self.include_dirs.extend(value.split(',').map(|one| directory.join(one))),
                Meaning::Force(part) => self.force(value, directory, part),
                Meaning::Language => self.dialect = dialect(value).or(self.dialect),
                Meaning::Standard => self.opencl = OpenClVersion::from_name(value).or(self.opencl),
                Meaning::Response => self.read_file(value, directory, nesting),
                Meaning::Ignored => {}
            }
        }
    }

    fn define(&mut self, typed: &str) {
        let (name, value) = typed.split_once('=').unwrap_or((typed, "1"));
        self.defines.retain(|(known, _)| known != name);
        self.defines.push((name.to_owned(), value.to_owned()));
    }

    fn force(&mut self, names: &str, directory: &Path, part: IncludedPart) {
        let forced = |name: &str| ForcedInclude { name: name.into(), directory: directory.to_path_buf(), part };
        self.includes.extend(names.split(',').map(forced));
    }

    fn read_file(&mut self, file: &str, directory: &Path, nesting: usize) {
        if nesting == 0 {
            return;
        }
        // A response file that is gone leaves the file without its flags, as a missing header leaves it without
        // its text.
        if let Ok(text) = std::fs::read_to_string(directory.join(file)) {
            self.read(&split(&text), directory, nesting - 1);
        }
    }
}

/// What a flag with a value means here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Define,
    Undefine,
    Include,
    Force(IncludedPart),
    Language,
    Standard,
    Response,
    /// Its value is skipped with it.
    Ignored,
}

/// The language that `-x` names, if it can be checked.
fn dialect(name: &str) -> Option<Dialect> {
    Some(match name {
        "cu" | "cuda" => Dialect::Cuda,
        "hip" => Dialect::Hip,
        "cl" | "clcpp" => Dialect::OpenCl(OpenClVersion::Unstated),
        _ => return None,
    })
}

/// What a flag means, if it takes a value.
fn meaning(flag: &str) -> Option<Meaning> {
    Some(match flag {
        "-D" | "--define-macro" => Meaning::Define,
        "-U" | "--undefine-macro" => Meaning::Undefine,
        "-I" | "-isystem" | "-iquote" | "--include-path" | "--system-include" | "-idirafter" => Meaning::Include,
        "-include" | "--include" | "--pre-include" => Meaning::Force(IncludedPart::Whole),
        "-imacros" | "--imacros" => Meaning::Force(IncludedPart::Macros),
        "-x" | "--x" | "--language" => Meaning::Language,
        "-cl-std" | "-std" | "--std" => Meaning::Standard,
        "-optf" | "--options-file" => Meaning::Response,
        "-Xcompiler"
        | "--compiler-options"
        | "-Xptxas"
        | "--ptxas-options"
        | "-Xlinker"
        | "--linker-options"
        | "-Xarchive"
        | "--archive-options"
        | "-Xnvlink"
        | "--nvlink-options"
        | "-Xcudafe"
        | "-Xfatbin"
        | "-gencode"
        | "--generate-code"
        | "-arch"
        | "--gpu-architecture"
        | "-code"
        | "--gpu-code"
        | "-ccbin"
        | "--compiler-bindir"
        | "-o"
        | "--output-file"
        | "-MF"
        | "-MT"
        | "-MQ"
        | "-L"
        | "--library-path"
        | "-l"
        | "--library"
        | "-maxrregcount"
        | "--maxrregcount"
        | "-diag-suppress"
        | "--diag-suppress"
        | "-include-pch"
        | "-target"
        | "--target"
        | "-Xarch_host"
        | "-t"
        | "--threads"
        | "-odir"
        | "--output-directory"
        | "-isysroot"
        | "--sysroot"
        | "-arch-list"
        | "-rdc"
        | "--relocatable-device-code"
        | "-ftz"
        | "--ftz"
        | "-prec-div"
        | "-prec-sqrt"
        | "-fmad"
        | "--fmad"
        | "-O"
        | "--optimize"
        | "-dlto-list"
        | "-mllvm"
        | "-aux-triple" => Meaning::Ignored,
        _ => return None,
    })
}

/// A word as a flag and the value that is attached to it: `-DX=1`, `--gpu-architecture=sm_80`, `-Iinclude`.
fn flag_and_value(word: &str) -> (&str, Option<&str>) {
    for short in ["-D", "-U", "-I", "-O", "-L", "-l", "-x"] {
        if let Some(value) = word.strip_prefix(short).filter(|value| !value.is_empty()) {
            return (short, Some(value));
        }
    }
    // A precompiled header is no include file.
    if word == "-include-pch" {
        return (word, None);
    }
    for attached in ["-isystem", "-iquote", "-imacros", "-include", "-idirafter"] {
        if let Some(value) = word.strip_prefix(attached).filter(|value| !value.is_empty()) {
            return (attached, Some(value.trim_start_matches('=')));
        }
    }
    match word.split_once('=') {
        Some((flag, value)) if word.starts_with('-') => (flag, Some(value)),
        // `-O` alone takes no value of its own.
        _ if word == "-O" => (word, Some("")),
        _ => (word, None),
    }
}

/// The words of a command line, as a shell splits it.
pub fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None) => word.get_or_insert_default().extend(characters.next()),
            ('\\', Some('"')) => match characters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.get_or_insert_default().push(escaped),
                other => word.get_or_insert_default().extend(std::iter::once('\\').chain(other)),
            },
            (_, Some(open)) if character == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(character),
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (_, None) if character.is_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(command: &str) -> Flags {
        Flags::of(&split(command), Path::new("/build"))
    }

    fn defines(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn flags_of_nvcc_are_understood_or_ignored() {
        let found = flags(
            "nvcc -DN=4 -D M -Iinc -I /abs -isystem=sys --define-macro K=2 -UN -gencode arch=compute_80,code=sm_80 \
             -arch=sm_75 -rdc=true -Xcompiler -DHOST,-fPIC -Xcompiler=-DHOST2 -Xptxas -v -dc -lineinfo --use_fast_math \
             -ccbin g++ -std=c++17 -O3 -x cu -maxrregcount 32 -c k.cu -o -DNOT_A_MACRO",
        );
        assert_eq!(found.defines, defines(&[("M", "1"), ("K", "2")]));
        let dirs: Vec<_> = found.include_dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
        assert_eq!(dirs, ["/build/inc", "/abs", "/build/sys"]);
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(split(r#"a 'b c' "d \"e\" \n" f\ g "" h"#), ["a", "b c", r#"d "e" \n"#, "f g", "", "h"]);
        assert_eq!(flags(r#"cc -DTEXT="\"x y\"" -DB"#).defines, defines(&[("TEXT", "\"x y\""), ("B", "1")]));
    }

    #[test]
    fn response_files_are_read_and_may_not_go_round() {
        let build = tempfile::tempdir().unwrap();
        std::fs::write(build.path().join("more.rsp"), "-DA=1 --options-file again.rsp").unwrap();
        std::fs::write(build.path().join("again.rsp"), "-DB=2\n@more.rsp").unwrap();
        let words = split("nvcc @more.rsp @gone.rsp -DC");
        let found = Flags::of(&words, build.path());
        let mut names: Vec<_> = found.defines.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["A", "B", "C"]);
    }

    #[test]
    fn commands_are_found_by_file() {
        let build = tempfile::tempdir().unwrap();
        std::fs::write(build.path().join("k.cu"), "").unwrap();
        let database = r#"[{"directory": ".", "file": "k.cu", "command": "nvcc -DN=1 -c k.cu"},
            {"directory": ".", "file": "./k.cu", "arguments": ["nvcc", "-DN=2"]}]"#;
        std::fs::write(build.path().join(FILE), database).unwrap();
        let commands = CompileCommands::read(build.path()).unwrap();
        assert_eq!(commands.flags(&build.path().join("k.cu")).unwrap().defines, defines(&[("N", "1")]));
        assert_eq!(commands.flags(&build.path().join("other.cu")), None);
    }

    #[test]
    fn what_is_no_database_says_so() {
        let build = tempfile::tempdir().unwrap();
        assert!(matches!(CompileCommands::read(build.path()), Err(CommandsError::Unreadable { .. })));
        std::fs::write(build.path().join(FILE), "{}").unwrap();
        assert!(matches!(CompileCommands::read(build.path()), Err(CommandsError::Malformed { .. })));
    }
}
