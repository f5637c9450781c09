//! Choices that are made by default: which text a conditional leaves where it asks for what is not known.
//!
//! A name that is not defined counts as such, also where a header that may define it was not found, and where it is one that
//! only compilers define; an OpenCL device is one of version 3.0 with every extension that is listed. Whatever is there, or is
//! not, because of that is a region of the [`Choice`]: the conditional itself, and each use of a macro that is defined in it,
//! or would be. So later rooms can tell whose text depends on it ([`super::uses`]).
//!
//! A condition that comes to the same whatever such names are makes no choice. Neither does an include guard.
//! What a conditional chose whose condition could not be decided at all is undecided wherever it is used
//! ([`super::Output::undecided`]).
//!
//! Deliberately absent: what tells compilers of other systems apart (`_WIN32`, `_MSC_VER`); the value of
//! `__CUDA_ARCH__`, of which the driver looks at more than one: here is only told what may depend on whether there is one.

use super::branches::Conditional;
use super::condition;
use super::directives::Preprocessor;
use super::interner::Symbol;
use super::{Token, TokenFlags, TokenKind};
use crate::source::headers::is_known;
use crate::source::{Dialect, Language, OpenClVersion, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What was taken by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// In words: "`FEATURE` is not defined (`config.h` was not found)".
    pub taken: String,
    /// Why it had to be taken.
    pub because: Because,
    /// Text that is what it is because of it.
    pub regions: Vec<Span>,
}

/// Why something had to be taken by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// A header that may say it was not found.
    Missing,
    /// It depends on the compiler or the device.
    Implementation,
    /// Host code is compiled with another.
    Pass,
    /// No value of it would do: the text is undecided.
    Undecided,
}

/// Choices by their numbers.
pub(super) type Ids = BTreeSet<usize>;

/// The choices that were met.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) all: Vec<Choice>,
    /// The name that each is about.
    about: Vec<Option<Symbol>>,
    by_words: FxHashMap<String, usize>,
    /// Names whose definition, or want of one, depends on choices.
    of_name: FxHashMap<Symbol, Ids>,
    /// Names that the text says are not defined.
    undefined: FxHashSet<Symbol>,
    /// What the condition that is being decided depends on.
    read: Ids,
    /// Whether a name that a choice is about counts as not known.
    pub(super) doubting: bool,
}

/// Names that tell what compiles: known, whether they are defined or not.
const SETTLED: &str = " _WIN32 _WIN64 __WIN32__ __WINDOWS__ _MSC_VER _MSC_FULL_VER _M_X64 _M_IX86 _M_AMD64 _M_ARM64 _M_ARM \
    __APPLE__ __MACH__ __ANDROID__ __CYGWIN__ __MINGW32__ __MINGW64__ __FreeBSD__ __NetBSD__ __OpenBSD__ __sun __hpux _AIX \
    __aarch64__ __arm__ __ARM_ARCH __ARM_NEON __powerpc__ __powerpc64__ __PPC64__ __ppc__ __i386__ __ia64__ __riscv \
    __s390x__ __mips__ __sparc__ __BIG_ENDIAN__ __CUDACC__ __CUDA_ARCH__ __NVCC__ __CUDA__ __HIPCC__ __HIP__ \
    __HIP_DEVICE_COMPILE__ __HIP_PLATFORM_AMD__ __HIP_PLATFORM_HCC__ __HIP_PLATFORM_NVCC__ __HIP_PLATFORM_NVIDIA__ __HCC__ \
    __OPENCL_VERSION__ __OPENCL_C_VERSION__ __OPENCL_CPP_VERSION__ __cplusplus __METAL_VERSION__ __VA_ARGS__ __VA_OPT__ \
    __EMSCRIPTEN__ __SYCL_DEVICE_ONLY__ SYCL_LANGUAGE_VERSION __ASSEMBLER__ __OBJC__ ";
/// What other host compilers than the one that is taken define; an OpenCL compiler may be any of them.
const OTHER_COMPILERS: &str = " __clang__ __clang_major__ __clang_minor__ __INTEL_COMPILER __INTEL_LLVM_COMPILER __ICC __PGI \
    __PGIC__ __NVCOMPILER __SUNPRO_CC __IBMCPP__ __xlC__ __BORLANDC__ __WATCOMC__ __CLANG_CUDA_RUNTIME_WRAPPER_H__ \
    __GNUC__ __GNUC_MINOR__ __GNUG__ __MINGW__ ";

fn is_among(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// Whether only the compiler may define a name.
fn is_reserved(name: &str) -> bool {
    let rest = name.strip_prefix('_').unwrap_or("");
    rest.starts_with('_') || rest.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Whether a name is that of an include guard.
fn is_guard(name: &str) -> bool {
    let name = name.trim_end_matches('_').to_ascii_uppercase();
    ["_H", "_HPP", "_HXX", "_HH", "_CUH", "_INC", "_INCLUDED", "_CU", "_CL", "_CLH", "_GUARD"]
        .iter()
        .any(|end| name.ends_with(end))
}

impl Preprocessor<'_> {
    /// Makes what is predefined of an OpenCL device, but differs between devices, a matter of choice.
    pub(super) fn doubt_device(&mut self) {
        let Dialect::OpenCl(version) = self.options.dialect else { return };
        let named: Vec<Symbol> = self.macros_defined().collect();
        for name in named {
            let text = self.spellings.text(name);
            let is_of_device = text.starts_with("cl_")
                || text.starts_with("__opencl_c_")
                || matches!(text, "__OPENCL_VERSION__" | "__IMAGE_SUPPORT__" | "__ENDIAN_LITTLE__");
            let is_of_language = matches!(text, "__OPENCL_C_VERSION__" | "CL_VERSION_2_0" | "CL_VERSION_3_0");
            if is_of_device || is_of_language && version == OpenClVersion::Unstated {
                let body = self.macros.definition(name).map(|it| it.body.iter().map(|it| it.text).collect::<Vec<_>>());
                let value = body.unwrap_or_default();
                let value: String = value.iter().map(|&part| self.spellings.text(part)).collect();
                let taken = format!("`{text}` is {value}");
                let id = self.choice(taken, Because::Implementation, Some(name));
                self.choices.of_name.insert(name, Ids::from([id]));
            }
        }
    }

    /// Makes what only the compiler's pass over device code defines a matter of choice.
    pub(super) fn doubt_pass(&mut self) {
        for name in self.options.dialect.names_of_device_pass() {
            let name = self.spellings.intern(name);
            if self.macros.definition(name).is_some() {
                let id = self.choice("the text is device code".to_owned(), Because::Pass, Some(name));
                self.choices.of_name.insert(name, Ids::from([id]));
            }
        }
    }

    fn macros_defined(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.spellings.symbols().filter(|&name| self.macros.definition(name).is_some())
    }

    /// The number of a choice.
    pub(super) fn choice(&mut self, taken: String, because: Because, about: Option<Symbol>) -> usize {
        if let Some(&known) = self.choices.by_words.get(&taken) {
            return known;
        }
        let id = self.choices.all.len();
        self.choices.by_words.insert(taken.clone(), id);
        self.choices.all.push(Choice { taken, because, regions: Vec::new() });
        self.choices.about.push(about);
        id
    }

    /// What the definition of a name, or that there is none, depends on.
    pub(super) fn choices_about(&mut self, name: Symbol) -> Ids {
        if let Some(known) = self.choices.of_name.get(&name) {
            return known.clone();
        }
        let text = self.spellings.text(name);
        let is_known = self.macros.definition(name).is_some()
            || self.is_dynamic(name)
            || self.choices.undefined.contains(&name)
            || condition::is_operator(text)
            || condition::is_query(text)
            || text.starts_with("__builtin_")
            || is_among(SETTLED, text)
            || self.language == Language::Cuda && is_among(OTHER_COMPILERS, text);
        if is_known {
            return Ids::new();
        }
        let text = text.to_owned();
        let missing = self.missing_that_define();
        let (taken, because) = if is_reserved(&text) || self.language == Language::OpenCl && text.starts_with("cl_") {
            (format!("`{text}` is not defined"), Because::Implementation)
        } else if let Some(missing) = missing {
            (format!("`{text}` is not defined ({missing} not found)"), Because::Missing)
        } else {
            return Ids::new();
        };
        Ids::from([self.choice(taken, because, Some(name))])
    }

    /// Headers that were not found up to here and whose macros nobody knows.
    fn missing_that_define(&self) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        for missing in self.told.missing_includes.iter().filter(|missing| !is_known(&missing.name)) {
            if !names.contains(&missing.name.as_str()) {
                names.push(&missing.name);
            }
        }
        Some(match names.as_slice() {
            [] => return None,
            [only] => format!("`{only}` was"),
            [one, two] => format!("`{one}` and `{two}` were"),
            [one, rest @ ..] => format!("`{one}` and {} other headers were", rest.len()),
        })
    }

    /// Remembers that a name was asked for at `place`.
    pub(super) fn consult(&mut self, name: Symbol, place: Span) {
        if self.deciding {
            let about = self.choices_about(name);
            self.choices.read.extend(about);
        } else if let Some(about) = self.choices.of_name.get(&name) {
            let place = self.sources.visible(place);
            for id in about.clone() {
                self.depends(id, place);
            }
        }
    }

    /// Whether a name counts as not known.
    pub(super) fn is_doubted(&mut self, name: Symbol) -> bool {
        self.choices.doubting && !self.choices_about(name).is_empty()
    }

    pub(super) fn consult_choice(&mut self, id: usize) {
        self.choices.read.insert(id);
    }

    /// Remembers that what stands in a region depends on a choice.
    fn depends(&mut self, id: usize, region: Span) {
        match self.choices.all[id].because {
            Because::Undecided => self.told.undecided.push(region),
            _ => self.choices.all[id].regions.push(region),
        }
    }

    /// What was asked for since the last time this was asked.
    pub(super) fn take_read(&mut self) -> Ids {
        std::mem::take(&mut self.choices.read)
    }

    /// Without those that an include guard makes: `#ifndef X` before `#define X`, which is defined from there on whatever it
    /// was before.
    pub(super) fn without_guards(&self, mut choices: Ids) -> Ids {
        if choices.is_empty() {
            return choices;
        }
        let Some((name, has_value)) = self.next_definition() else { return choices };
        let is_guard = !has_value || is_guard(self.spellings.text(name));
        choices.retain(|&id| {
            let is_own = self.choices.about[id] == Some(name);
            !is_own || !is_guard && self.choices.all[id].because == Because::Missing
        });
        choices
    }

    /// The name that the next line defines, and whether to anything.
    fn next_definition(&self) -> Option<(Symbol, bool)> {
        let top = self.stack.last()?;
        let [hash, define, name, rest @ ..] = top.tokens.get(top.next..)? else { return None };
        if !self.is_directive(hash) || self.spellings.text(define.text) != "define" {
            return None;
        }
        Some((name.text, rest.first().is_some_and(|next| !next.flags.has(TokenFlags::LINE_START))))
    }

    /// What the text that is being read depends on.
    fn choices_here(&self) -> Ids {
        let open = self.stack.iter().flat_map(|open| &open.conditionals);
        open.flat_map(|conditional| conditional.choices.iter().copied()).collect()
    }

    /// Remembers that the text which is read defines a name, or says that it is not defined.
    pub(super) fn settle(&mut self, name: Symbol) {
        if self.macros.definition(name).is_none() {
            self.choices.undefined.insert(name);
        }
        if self.choices.all.is_empty() {
            return;
        }
        let here = self.choices_here();
        if here.is_empty() {
            self.choices.of_name.remove(&name);
        } else {
            self.choices.of_name.insert(name, here);
        }
    }

    /// Remembers that text which is left out would define a name.
    pub(super) fn would_settle(&mut self, line: &[Token]) {
        let here = self.choices_here();
        if let Some(name) = line.first().filter(|name| name.kind == TokenKind::Identifier && !here.is_empty()) {
            self.choices.of_name.entry(name.text).or_default().extend(here);
        }
    }

    /// Remembers what a conditional from its `#if` to its end depends on.
    pub(super) fn note_region(&mut self, conditional: &Conditional, region: Span) {
        for &id in &conditional.choices {
            self.depends(id, region);
        }
    }
}
