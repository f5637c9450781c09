//! The keys of `raceproof.toml`: what each is called, what it holds, and which option of `check` it stands for.
//!
//! This table is what is parsed, what the schema says and what `--show-settings` lists.
//!
//! Deliberately absent: values that only make sense for one run (`--kernel`, `--fix`, `--quiet`).

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text; one of those that the option takes, if it takes but some.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Switch,
    /// A path, relative to the file.
    Path,
    /// Several paths.
    Paths,
    /// Several texts; each one of those that the option takes, if it takes but some.
    Texts,
    /// Up to three numbers.
    Extents,
    /// Integers by name.
    Integers,
    /// Patterns of paths.
    Patterns,
    /// Names of rules.
    Rules,
    /// A level for each rule.
    Levels,
    /// Names of rules for each pattern of paths.
    RulesByPattern,
    /// A language for each pattern of paths.
    LanguagesByPattern,
    /// A path for each format of reports.
    PathsByFormat,
    /// Tables about kernels, each with the keys of [`OF_KERNELS`].
    Kernels,
}

/// The keys of a table about kernels: what each holds, and one line.
pub(super) const OF_KERNELS: [(&str, Kind, &str); 6] = [
    ("name", Kind::Text, "The names of the kernels, as a pattern; namespaces may be left out"),
    ("files", Kind::Text, "The files that they stand in, as a pattern of paths"),
    ("block-dim", Kind::Extents, "Threads of a block, as --block-dim"),
    ("grid-dim", Kind::Extents, "Blocks of the grid, as --grid-dim"),
    ("params", Kind::Integers, "Values of scalar parameters, as --param"),
    ("contract", Kind::Texts, "The contract that they are judged under, as a file of --contracts states it"),
];

/// How wide a key reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The files below the directory of its file: the nearest file counts.
    Files,
    /// The whole run: the file counts that is nearest to the working directory.
    Run,
}

/// A key.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) reach: Reach,
    /// The option that it stands for, by its name in the grammar of the command line; none is a matter of settings alone.
    pub(super) option: Option<&'static str>,
    /// One line.
    pub(super) about: &'static str,
}

const fn of_files(name: &'static str, kind: Kind, option: &'static str, about: &'static str) -> Key {
    Key { name, kind, reach: Reach::Files, option: Some(option), about }
}

const fn of_run(name: &'static str, kind: Kind, option: &'static str, about: &'static str) -> Key {
    Key { name, kind, reach: Reach::Run, option: Some(option), about }
}

const fn alone(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, reach: Reach::Files, option: None, about }
}

/// The levels of rules.
pub(super) const LEVELS: [&str; 4] = ["error", "warning", "note", "off"];

/// All keys, in the order in which they are listed.
pub(super) const KEYS: [Key; 38] = [
    of_files("include-dirs", Kind::Paths, "include_dirs", "Directories that are searched for quoted includes"),
    of_files("defines", Kind::Texts, "defines", "Macros, as NAME or NAME=VALUE"),
    of_files("build", Kind::Path, "build", "The directory of a build, with its compile_commands.json"),
    of_files("lang", Kind::Text, "lang", "The language of all files, whatever their extension"),
    alone("dialects", Kind::LanguagesByPattern, "The language of files, by patterns of their paths"),
    of_files("front", Kind::Text, "front", "The front end that reads the source"),
    of_files("headers", Kind::Text, "headers", "Where headers are sought that no include path leads to"),
    of_files("models", Kind::Paths, "models", "Directories of models, which stand in for headers of libraries"),
    of_files("block-dim", Kind::Extents, "block_dim", "Threads of a block"),
    of_files("grid-dim", Kind::Extents, "grid_dim", "Blocks of the grid"),
    of_files("params", Kind::Integers, "params", "Values of scalar parameters"),
    of_files("level", Kind::Text, "level", "Between which threads races are sought"),
    of_files("any-launch", Kind::Switch, "any_launch", "Whether no contract excuses a race"),
    of_files("contracts", Kind::Path, "contracts", "The contracts that kernels are judged under"),
    alone("kernels", Kind::Kernels, "Launches and contracts of kernels, by patterns of their names"),
    of_files("check-proofs", Kind::Switch, "check_proofs", "Whether derivations are replayed"),
    of_files("hints", Kind::Switch, "hints", "Whether redundant barriers are named"),
    of_files("effort", Kind::Text, "effort", "How hard to try"),
    of_files("solver", Kind::Text, "solver", "The solver that is asked what stays open"),
    of_files("solver-timeout", Kind::Number, "solver_timeout", "Seconds after which a silent solver is broken"),
    of_files("lockstep-warps", Kind::Number, "lockstep_warps", "Threads of a warp that run in lock-step"),
    of_files(
        "strict-externals",
        Kind::Switch,
        "strict_externals",
        "Whether no undefined function is one of its arguments",
    ),
    of_files(
        "externals",
        Kind::Texts,
        "externals",
        "Undefined functions that are functions of their arguments all the same",
    ),
    of_files("refused-externals", Kind::Texts, "refused_externals", "Undefined functions that never are"),
    of_files("global-offset", Kind::Text, "global_offset", "Where global ids of OpenCL start"),
    of_files("max-work-group-size", Kind::Number, "max_work_group_size", "The most work-items of a work-group"),
    of_files("uniform-work-groups", Kind::Switch, "uniform_work_groups", "Whether work-groups are all of one size"),
    of_files("wave", Kind::Number, "wave", "Lanes of a wavefront of HIP"),
    alone(
        "exclude",
        Kind::Patterns,
        "Files that are not checked where a directory is given, by patterns of their paths",
    ),
    alone("select", Kind::Rules, "The rules whose findings are told; all others are left out"),
    alone("ignore", Kind::Rules, "Rules whose findings are left out"),
    alone("rules", Kind::Levels, "How grave findings of rules are: error, warning, note or off"),
    alone("per-file-ignores", Kind::RulesByPattern, "Rules whose findings are left out, by patterns of paths"),
    of_run("fail-on", Kind::Texts, "fail_on", "What makes the exit code 1"),
    of_run("baseline", Kind::Path, "baseline", "The findings that are known already"),
    of_run("format", Kind::Text, "format", "How results are written to standard output"),
    of_run("output", Kind::PathsByFormat, "output", "Files that get a report each, by the format of that"),
    of_run("jobs", Kind::Number, "jobs", "Files that are checked at once"),
];

/// The key of a name.
pub(super) fn named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
