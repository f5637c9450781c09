//! A command line of nvcc: what it makes of which files.
//!
//! Known is what decides that: options that say how far nvcc goes, those that name files, and which options have a word of
//! their own for their value. All others are handed on as they are.
//!
//! Guarantees: words that are not asked for here are kept, in their order; what is not known to compile or to link is
//! [`Goal::Other`], and whoever asks leaves it to nvcc.
//!
//! Deliberately absent: macros and directories (`preprocess/commands.rs`), architectures (nvcc itself says which,
//! `dryrun.rs`), and running anything.

use std::path::{Path, PathBuf};

/// A command line that has been understood.
#[derive(Clone, Debug)]
pub struct Command {
    words: Vec<Word>,
    /// How far nvcc goes.
    pub goal: Goal,
}

/// How far nvcc goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An object of each source: `-c`, `-dc`, `-dw`.
    Objects,
    /// One file of all inputs: a program, a shared library.
    Program,
    /// One archive of all inputs: `-lib`.
    Archive,
    /// Device code alone, which a program loads itself: `-ptx`, `-cubin`, `-fatbin` and the like. It is named so.
    Device(&'static str),
    /// No code of the user's: help, a preprocessed text, a link of device code.
    Other,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// CUDA.
    Cuda,
    /// Source text that is no CUDA.
    Host,
    /// What is only linked.
    Linked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Input(String, Kind),
    /// An option by its longer or only name, its value, and how it was spelled.
    Option {
        name: &'static str,
        value: Option<String>,
        spelled: Vec<String>,
    },
    /// Anything else.
    Plain(String),
}

/// Options that take a value, which may be a word of its own: the long name, then the short one.
const VALUED: [(&str, &str); 67] = [
    ("--output-file", "-o"),
    ("--pre-include", "-include"),
    ("--library", "-l"),
    ("--define-macro", "-D"),
    ("--undefine-macro", "-U"),
    ("--include-path", "-I"),
    ("--system-include", "-isystem"),
    ("--library-path", "-L"),
    ("--output-directory", "-odir"),
    ("--compiler-bindir", "-ccbin"),
    ("--archiver-binary", "-arbin"),
    ("--cudart", "-cudart"),
    ("--cudadevrt", "-cudadevrt"),
    ("--libdevice-directory", "-ldir"),
    ("--target-directory", "-target-dir"),
    ("--optimization-info", "-opt-info"),
    ("--optimize", "-O"),
    ("--dopt", "-dopt"),
    ("--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit"),
    ("--ftemplate-depth", "-ftemplate-depth"),
    ("--x", "-x"),
    ("--std", "-std"),
    ("--machine", "-m"),
    ("--compiler-options", "-Xcompiler"),
    ("--linker-options", "-Xlinker"),
    ("--archive-options", "-Xarchive"),
    ("--ptxas-options", "-Xptxas"),
    ("--nvlink-options", "-Xnvlink"),
    ("--cudafe-options", "-Xcudafe"),
    ("--static-global-template-stub", "-static-global-template-stub"),
    ("--device-entity-has-hidden-visibility", "-device-entity-has-hidden-visibility"),
    ("--threads", "-t"),
    ("--split-compile", "-split-compile"),
    ("--split-compile-extended", "-split-compile-extended"),
    ("--fdevice-time-trace", "-fdevice-time-trace"),
    ("--keep-dir", "-keep-dir"),
    ("--time", "-time"),
    ("--run-args", "-run-args"),
    ("--input-drive-prefix", "-idp"),
    ("--dependency-drive-prefix", "-ddp"),
    ("--drive-prefix", "-dp"),
    ("--dependency-output", "-MF"),
    ("--dependency-target-name", "-MT"),
    ("--gpu-architecture", "-arch"),
    ("--gpu-code", "-code"),
    ("--generate-code", "-gencode"),
    ("--relocatable-device-code", "-rdc"),
    ("--entries", "-e"),
    ("--maxrregcount", "-maxrregcount"),
    ("--ftz", "-ftz"),
    ("--prec-div", "-prec-div"),
    ("--prec-sqrt", "-prec-sqrt"),
    ("--fmad", "-fmad"),
    ("--default-stream", "-default-stream"),
    ("--diag-error", "-diag-error"),
    ("--diag-suppress", "-diag-suppress"),
    ("--diag-warn", "-diag-warn"),
    ("--host-linker-script", "-hls"),
    ("--brief-diagnostics", "-brief-diag"),
    ("--jump-table-density", "-jtd"),
    ("--device-stack-protector", "-device-stack-protector"),
    ("--compress-mode", "-compress-mode"),
    ("--frandom-seed", "-frandom-seed"),
    ("--sanitize", "-sanitize"),
    ("--options-file", "-optf"),
    ("--Ofast-compile", "-Ofc"),
    ("--Werror", "-Werror"),
];

/// Options without a value that count here: the long name, then the short one.
const FLAGS: [(&str, &str); 32] = [
    ("--compile", "-c"),
    ("--device-c", "-dc"),
    ("--device-w", "-dw"),
    ("--link", "-link"),
    ("--lib", "-lib"),
    ("--run", "-run"),
    ("--device-link", "-dlink"),
    ("--cuda", "-cuda"),
    ("--cubin", "-cubin"),
    ("--fatbin", "-fatbin"),
    ("--ptx", "-ptx"),
    ("--optix-ir", "-optix-ir"),
    ("--ltoir", "-ltoir"),
    ("--preprocess", "-E"),
    ("--generate-dependencies", "-M"),
    ("--generate-nonsystem-dependencies", "-MM"),
    ("--generate-dependencies-with-compile", "-MD"),
    ("--generate-nonsystem-dependencies-with-compile", "-MMD"),
    ("--generate-dependency-targets", "-MP"),
    ("--version", "-V"),
    ("--help", "-h"),
    ("--list-gpu-code", "-code-ls"),
    ("--list-gpu-arch", "-arch-ls"),
    ("--dryrun", "-dryrun"),
    ("--clean-targets", "-clean"),
    ("--fdevice-syntax-only", "-fdevice-syntax-only"),
    ("--relocatable-link", "-r"),
    ("--host-linker-script=gen-lcs", "-hls=gen-lcs"),
    ("--disable-warnings", "-w"),
    ("--shared", "-shared"),
    ("--verbose", "-v"),
    ("--keep", "-keep"),
];

/// Options whose value may follow without anything between.
const ATTACHED: [&str; 7] = ["-D", "-U", "-I", "-L", "-l", "-O", "-t"];

/// What ends before any code of the user's is made.
const OTHER: [&str; 13] = [
    "--preprocess",
    "--generate-dependencies",
    "--generate-nonsystem-dependencies",
    "--version",
    "--help",
    "--list-gpu-code",
    "--list-gpu-arch",
    "--dryrun",
    "--clean-targets",
    "--fdevice-syntax-only",
    "--device-link",
    "--relocatable-link",
    "--host-linker-script=gen-lcs",
];

/// What makes device code alone.
const DEVICE: [&str; 6] = ["--ptx", "--cubin", "--fatbin", "--cuda", "--optix-ir", "--ltoir"];

/// What makes objects.
const OBJECTS: [&str; 3] = ["--compile", "--device-c", "--device-w"];

/// What asks for a file that names the headers, beside an object.
const DEPENDENCIES: [&str; 5] = [
    "--generate-dependencies-with-compile",
    "--generate-nonsystem-dependencies-with-compile",
    "--generate-dependency-targets",
    "--dependency-output",
    "--dependency-target-name",
];

/// How nvcc is asked for a file of dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// The option that asks for it alone.
    pub option: &'static str,
    /// Whatever else was said of it, word by word.
    pub more: Vec<String>,
    /// The file.
    pub file: PathBuf,
    /// What depends on the headers.
    pub target: String,
}

impl Command {
    /// Understands words, of which response files are already expanded.
    pub fn of(words: &[String]) -> Command {
        let mut words = split(words);
        let language = words.iter().rev().find_map(|word| word.value_of("--x")).map(str::to_owned);
        for word in &mut words {
            if let Word::Input(path, kind) = word {
                *kind = kind_of(path, language.as_deref());
            }
        }
        let goal = goal(&words);
        Command { words, goal }
    }

    /// The sources and what is linked, in their order.
    pub fn inputs(&self) -> impl Iterator<Item = (&Path, Kind)> {
        self.words.iter().filter_map(|word| match word {
            Word::Input(path, kind) => Some((Path::new(path), *kind)),
            _ => None,
        })
    }

    /// The inputs in CUDA.
    pub fn cuda(&self) -> impl Iterator<Item = &Path> {
        self.inputs().filter(|(_, kind)| *kind == Kind::Cuda).map(|(path, _)| path)
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.words.iter().any(|word| word.is(name))
    }

    /// The value of an option; the last one counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().rev().find_map(|word| word.value_of(name))
    }

    /// The words of these options alone.
    pub fn only(&self, names: &[&str]) -> Vec<String> {
        self.words.iter().filter(|word| names.iter().any(|name| word.is(name))).flat_map(Word::spelled).collect()
    }

    /// The object that is made of a source.
    pub fn object(&self, source: &Path) -> PathBuf {
        match self.value("--output-file") {
            Some(path) if self.goal == Goal::Objects => PathBuf::from(path),
            _ => {
                let stem = source.file_stem().unwrap_or_default();
                let directory = self.value("--output-directory").map(PathBuf::from).unwrap_or_default();
                let mut name = directory.join(stem).into_os_string();
                name.push(".o");
                name.into()
            }
        }
    }

    /// The file of dependencies that is wanted beside an object.
    pub fn dependencies(&self, object: &Path) -> Option<Dependencies> {
        let option = if self.has("--generate-dependencies-with-compile") {
            "-M"
        } else if self.has("--generate-nonsystem-dependencies-with-compile") {
            "-MM"
        } else {
            return None;
        };
        let file = self.value("--dependency-output").map_or_else(|| object.with_extension("d"), PathBuf::from);
        let target = self.value("--dependency-target-name").map_or_else(|| object.display().to_string(), str::to_owned);
        Some(Dependencies { option, more: self.only(&["--generate-dependency-targets"]), file, target })
    }

    /// What is said of how a source is compiled: no inputs, no outputs, no goal.
    pub fn compiling(&self) -> Vec<String> {
        let is_other = |word: &&Word| {
            let of_files = ["--output-file", "--output-directory", "--link", "--lib", "--run", "--run-args"];
            let others = of_files.iter().chain(&OBJECTS).chain(&DEPENDENCIES);
            matches!(word, Word::Input(..)) || others.into_iter().any(|name| word.is(name))
        };
        self.words.iter().filter(|word| !is_other(word)).flat_map(Word::spelled).collect()
    }

    /// The same command without its inputs in CUDA, if it has others that are compiled.
    pub fn without_cuda(&self) -> Option<Vec<String>> {
        let is_cuda = |word: &Word| matches!(word, Word::Input(_, Kind::Cuda));
        let has_others = self.inputs().any(|(_, kind)| kind != Kind::Cuda);
        has_others.then(|| self.words.iter().filter(|word| !is_cuda(word)).flat_map(Word::spelled).collect())
    }

    /// The same command with an object in the place of each input in CUDA. Their dependencies are told by themselves.
    pub fn with_objects(&self, objects: &[PathBuf]) -> Vec<String> {
        let has_host = self.inputs().any(|(_, kind)| kind == Kind::Host);
        let mut objects = objects.iter();
        let mut words = Vec::new();
        for word in &self.words {
            match word {
                Word::Input(_, Kind::Cuda) => words.extend(objects.next().map(|path| path.display().to_string())),
                // Objects would be taken for sources.
                word if !has_host && (word.is("--x") || DEPENDENCIES.iter().any(|name| word.is(name))) => {}
                word => words.extend(word.spelled()),
            }
        }
        words
    }
}

impl Word {
    fn is(&self, wanted: &str) -> bool {
        matches!(self, Word::Option { name, .. } if *name == wanted)
    }

    fn value_of(&self, wanted: &str) -> Option<&str> {
        match self {
            Word::Option { name, value, .. } if *name == wanted => value.as_deref(),
            _ => None,
        }
    }

    fn spelled(&self) -> Vec<String> {
        match self {
            Word::Input(word, _) | Word::Plain(word) => vec![word.clone()],
            Word::Option { spelled, .. } => spelled.clone(),
        }
    }
}

fn split(words: &[String]) -> Vec<Word> {
    let mut split = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            split.push(Word::Input(word.clone(), Kind::Linked));
            continue;
        }
        if let Some(name) = named(&FLAGS, word) {
            split.push(Word::Option { name, value: None, spelled: vec![word.clone()] });
        } else if let Some(name) = named(&VALUED, word) {
            let value = words.next();
            let spelled = std::iter::once(word).chain(value).cloned().collect();
            split.push(Word::Option { name, value: value.cloned(), spelled });
        } else if let Some((name, value)) = with_value(word) {
            split.push(Word::Option { name, value: Some(value.to_owned()), spelled: vec![word.clone()] });
        } else {
            split.push(Word::Plain(word.clone()));
        }
    }
    split
}

/// The longer name of an option of a table.
fn named(table: &[(&'static str, &str)], wanted: &str) -> Option<&'static str> {
    table.iter().find(|(long, short)| *long == wanted || *short == wanted).map(|(long, _)| *long)
}

/// An option with its value in one word: `--std=c++17`, `-DX=1`.
fn with_value(word: &str) -> Option<(&'static str, &str)> {
    if let Some((flag, value)) = word.split_once('=')
        && let Some(name) = named(&VALUED, flag)
    {
        return Some((name, value));
    }
    let short = ATTACHED.iter().find(|short| word.starts_with(**short))?;
    Some((named(&VALUED, short)?, &word[short.len()..]))
}

fn kind_of(path: &str, language: Option<&str>) -> Kind {
    match language {
        Some("cu") => return Kind::Cuda,
        Some(_) => return Kind::Host,
        None => {}
    }
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("cu" | "cup") => Kind::Cuda,
        Some("c" | "cc" | "cxx" | "cpp" | "c++" | "C" | "i" | "ii" | "gpu" | "ptx") => Kind::Host,
        _ => Kind::Linked,
    }
}

fn goal(words: &[Word]) -> Goal {
    let has = |name: &&&str| words.iter().any(|word| word.is(name));
    if words.iter().all(|word| !matches!(word, Word::Input(..))) || OTHER.iter().any(|name| has(&name)) {
        return Goal::Other;
    }
    if let Some(name) = DEVICE.iter().find(has) {
        return Goal::Device(name);
    }
    if OBJECTS.iter().any(|name| has(&name)) {
        return Goal::Objects;
    }
    if has(&&"--lib") { Goal::Archive } else { Goal::Program }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        Command::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn cuda(line: &str) -> Vec<String> {
        command(line).cuda().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn what_a_command_makes_is_told_by_its_options() {
        let cases = [
            ("-c a.cu -o a.o", Goal::Objects),
            ("--compile a.cu", Goal::Objects),
            ("-dc a.cu", Goal::Objects),
            ("a.cu b.cpp -o prog", Goal::Program),
            ("-shared a.o -o lib.so", Goal::Program),
            ("-lib a.o b.cu -o libk.a", Goal::Archive),
            ("-ptx a.cu", Goal::Device("--ptx")),
            ("--cubin -arch=sm_90 a.cu", Goal::Device("--cubin")),
            ("-dlink a.o -o d.o", Goal::Other),
            ("-E a.cu", Goal::Other),
            ("-M a.cu -MF a.d", Goal::Other),
            ("--version", Goal::Other),
            ("-c", Goal::Other),
        ];
        for (line, goal) in cases {
            assert_eq!(command(line).goal, goal, "{line}");
        }
    }

    #[test]
    fn values_are_no_inputs() {
        let line = "-arch sm_90 -Xcompiler -fPIC -gencode arch=compute_75,code=sm_75 -DX=a.cu -I inc.cu -rdc true -MF x.cu \
                    -Ilib.cu -O3 -std c++17 -x cu k.cpp -c -o k.cu -lcublas --threads=4";
        assert_eq!(cuda(line), ["k.cpp"]);
        assert_eq!(cuda("-x c++ a.cu"), Vec::<String>::new());
        assert_eq!(cuda("a.cu b.cpp c.o d.cu"), ["a.cu", "d.cu"]);
        assert_eq!(command("a.cu --relocatable-device-code=true").value("--relocatable-device-code"), Some("true"));
    }

    #[test]
    fn objects_are_where_nvcc_puts_them() {
        assert_eq!(command("-c src/a.cu").object(Path::new("src/a.cu")), Path::new("a.o"));
        assert_eq!(command("-c src/a.cu -odir out").object(Path::new("src/a.cu")), Path::new("out/a.o"));
        assert_eq!(command("-c a.cu -o x/y.obj").object(Path::new("a.cu")), Path::new("x/y.obj"));
        // That is the program's name.
        assert_eq!(command("a.cu -o prog").object(Path::new("a.cu")), Path::new("a.o"));
    }

    #[test]
    fn only_what_says_how_is_said_again() {
        let line = "-O2 -c a.cu -o a.o -MD -MF a.d -MT t --std=c++17 -Xptxas -v -x cu -unheard-of";
        assert_eq!(command(line).compiling(), ["-O2", "--std=c++17", "-Xptxas", "-v", "-x", "cu", "-unheard-of"]);
        let linked = command("-O2 a.cu b.cpp -o prog -lcudart").with_objects(&["/s/a.o".into()]);
        assert_eq!(linked, ["-O2", "/s/a.o", "b.cpp", "-o", "prog", "-lcudart"]);
        assert_eq!(command("-x cu a.cpp -o prog").with_objects(&["/s/a.o".into()]), ["/s/a.o", "-o", "prog"]);
        assert_eq!(command("-c a.cu b.cpp").without_cuda(), Some(vec!["-c".to_owned(), "b.cpp".to_owned()]));
        assert_eq!(command("-c a.cu").without_cuda(), None);
    }

    #[test]
    fn dependencies_are_those_of_the_object() {
        let found = |line| command(line).dependencies(Path::new("out/a.o"));
        assert_eq!(found("-c a.cu -o out/a.o -MF a.d"), None);
        let plain = found("-c a.cu -o out/a.o -MD").unwrap();
        assert_eq!(
            (plain.option, plain.file.as_path(), plain.target.as_str()),
            ("-M", Path::new("out/a.d"), "out/a.o")
        );
        let named = found("-c a.cu -o out/a.o -MMD -MP -MF deps/a.d -MT other.o").unwrap();
        assert_eq!((named.option, named.file.as_path()), ("-MM", Path::new("deps/a.d")));
        assert_eq!((named.more, named.target), (vec!["-MP".to_owned()], "other.o".to_owned()));
    }
}
