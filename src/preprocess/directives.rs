//! Walks the files: directives, conditionals, includes.
//!
//! Files stand on a stack of their own, so that include depth costs no call stack. A directive is handled the
//! moment its `#` would be read as a token, also inside the arguments of a macro call.

use super::condition::{self, Truth};
use super::expand::{Macro, Params, Pending};
use super::files::{FileAccess, normalized};
use super::interner::{Interner, Symbol};
use super::lexer;
use super::predefined;
use super::{
    ForcedInclude, Include, IncludedPart, MissingInclude, Options, Output, SoughtBy, SoughtHeader, Token, TokenFlags,
    TokenKind,
};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::source::{FileId, Language, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Deepest chain of includes.
const INCLUDE_DEPTH: usize = 64;
/// Complaints about one unit; a mistake in a loop of macros would repeat itself without end.
const MOST_DIAGNOSTICS: usize = 100;
/// Files that one unit may enter; a file that includes itself twice would otherwise enter 2^64.
const INCLUDE_COUNT: usize = 20_000;
/// Tokens of all files that one unit may enter: a large file that includes itself would otherwise fill the memory.
const INCLUDE_BUDGET: usize = 6_000_000;

/// The state of preprocessing one unit.
pub(super) struct Preprocessor<'a> {
    files: &'a dyn FileAccess,
    pub(super) sources: SourceMap,
    pub(super) spellings: Interner,
    pub(super) names: Names,
    pub(super) language: Language,
    options: &'a Options,
    macros: Vec<Option<Rc<Macro>>>,
    /// The definitions that `#pragma push_macro` keeps, the last one on top.
    pushed: FxHashMap<Symbol, Vec<Option<Rc<Macro>>>>,
    /// Whether what is expanded is a condition, in which `defined X` is a number.
    pub(super) deciding: bool,
    /// How many expansions of each macro are being read.
    pub(super) busy: Vec<u32>,
    pub(super) pending: Vec<Pending>,
    /// Lists below this height belong to the reader outside the isolated list.
    pub(super) floor: usize,
    /// Number of isolated lists that are being expanded inside each other.
    pub(super) isolation: usize,
    /// Tokens that expansions have produced.
    pub(super) produced: usize,
    /// Whether a budget is used up.
    pub(super) gave_up: bool,
    stack: Vec<Open>,
    loaded: FxHashMap<PathBuf, (FileId, Rc<[Token]>)>,
    once: FxHashSet<FileId>,
    entered: usize,
    /// Tokens of the files entered.
    included: usize,
    counter: u32,
    diagnostics: Vec<Diagnostic>,
    missing_includes: Vec<MissingInclude>,
    sought: Vec<SoughtHeader>,
    includes: Vec<Include>,
    skipped: Vec<Span>,
    undecided: Vec<Span>,
    /// `#pragma pack` that still holds, and where it did.
    packing: Vec<Span>,
    packed: Vec<Span>,
}

/// A file that is being read.
struct Open {
    file: FileId,
    tokens: Rc<[Token]>,
    next: usize,
    conditionals: Vec<Conditional>,
    presumed: Presumed,
}

/// What `#line` says of the lines that follow, for `__LINE__` and `__FILE__` alone.
#[derive(Clone, Default)]
struct Presumed {
    /// How far their numbers are from those of the text.
    offset: i64,
    /// The name of the file, as a string literal.
    file: Option<Symbol>,
}

impl Open {
    fn new(file: FileId, tokens: Rc<[Token]>) -> Open {
        Open { file, tokens, next: 0, conditionals: Vec::new(), presumed: Presumed::default() }
    }
}

/// An `#if` that is open.
struct Conditional {
    start: Span,
    /// Whether a branch was taken already.
    taken: bool,
    undecided: bool,
    after_else: bool,
}

/// Where the search for a header starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    /// Beside the file that includes it, if it is in quotes, then in the first directory.
    FromStart,
    /// Behind the directory of the file that includes it.
    Onwards,
}

/// Symbols that the preprocessor looks for.
pub(super) struct Names {
    pub(super) open: Symbol,
    pub(super) close: Symbol,
    pub(super) comma: Symbol,
    pub(super) hash: Symbol,
    pub(super) paste: Symbol,
    pub(super) va_opt: Symbol,
    pub(super) pragma_operator: Symbol,
    va_args: Symbol,
    ellipsis: Symbol,
    digraph: Symbol,
    line: Symbol,
    file: Symbol,
    counter: Symbol,
    level: Symbol,
    pub(super) defined: Symbol,
}

impl Names {
    fn new(spellings: &mut Interner) -> Self {
        let mut intern = |text: &str| spellings.intern(text);
        Names {
            open: intern("("),
            close: intern(")"),
            comma: intern(","),
            hash: intern("#"),
            paste: intern("##"),
            va_opt: intern("__VA_OPT__"),
            pragma_operator: intern("_Pragma"),
            va_args: intern("__VA_ARGS__"),
            ellipsis: intern("..."),
            digraph: intern("%:"),
            line: intern("__LINE__"),
            file: intern("__FILE__"),
            counter: intern("__COUNTER__"),
            level: intern("__INCLUDE_LEVEL__"),
            defined: intern("defined"),
        }
    }
}

impl<'a> Preprocessor<'a> {
    pub(super) fn new(files: &'a dyn FileAccess, sources: SourceMap, options: &'a Options) -> Self {
        let mut spellings = Interner::default();
        let names = Names::new(&mut spellings);
        Preprocessor {
            files,
            sources,
            spellings,
            names,
            language: options.language(),
            options,
            macros: Vec::new(),
            pushed: FxHashMap::default(),
            deciding: false,
            busy: Vec::new(),
            pending: Vec::new(),
            floor: 0,
            isolation: 0,
            produced: 0,
            gave_up: false,
            stack: Vec::new(),
            loaded: FxHashMap::default(),
            once: FxHashSet::default(),
            entered: 0,
            included: 0,
            counter: 0,
            diagnostics: Vec::new(),
            missing_includes: Vec::new(),
            sought: Vec::new(),
            includes: Vec::new(),
            skipped: Vec::new(),
            undecided: Vec::new(),
            packing: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Reads the definitions of the language and of the command line.
    pub(super) fn predefine(&mut self) {
        self.define_from("<built-in>", &predefined::text(self.options.dialect));
        let mut lines = String::new();
        for (name, value) in &self.options.defines {
            // `-D 'F(x)=x'` defines a function-like macro, as in every compiler; a line break ends the value.
            let value = value.split('\n').next().unwrap_or("");
            lines.extend(["#define ", name, " ", value, "\n"]);
        }
        if !lines.is_empty() {
            self.define_from("<command-line>", &lines);
        }
    }

    fn define_from(&mut self, path: &str, text: &str) {
        let file = self.sources.add_file(path, text);
        let tokens = lexer::lex(text, file, self.language, &mut self.spellings).into();
        self.stack.push(Open::new(file, tokens));
        while self.next_of_files().is_some() {}
    }

    /// Reads `main` to its end.
    pub(super) fn run(mut self, main: FileId) -> Output {
        let source = self.sources.file(main);
        let (text, path) = (source.text.clone(), source.path.clone());
        let tokens: Rc<[Token]> = lexer::lex(&text, main, self.language, &mut self.spellings).into();
        self.loaded.insert(normalized(&path), (main, Rc::clone(&tokens)));
        let mut result = Vec::with_capacity(tokens.len());
        self.stack.push(Open::new(main, tokens));
        self.force_includes(main);
        while let Some(token) = self.expanded() {
            result.push(token);
        }
        if self.gave_up {
            result.clear();
        }
        for start in std::mem::take(&mut self.packing) {
            self.packed_until(start, Span::new(main, 0, u32::MAX as usize));
            self.packed.push(Span { end: u32::MAX, ..start });
        }
        Output {
            sources: self.sources,
            tokens: result,
            gave_up: self.gave_up,
            spellings: self.spellings,
            diagnostics: self.diagnostics,
            missing_includes: self.missing_includes,
            sought: self.sought,
            includes: self.includes,
            skipped: self.skipped,
            undecided: self.undecided,
            packed: self.packed,
        }
    }

    /// Opens the files that the command line includes, the first on top: they are read before `main` goes on.
    fn force_includes(&mut self, main: FileId) {
        let options = self.options;
        let (whole, macros): (Vec<_>, Vec<_>) =
            options.includes.iter().partition(|forced| forced.part == IncludedPart::Whole);
        for forced in macros {
            if let Some((file, tokens)) = self.find_forced(forced, main) {
                let below = self.stack.len();
                self.stack.push(Open::new(file, tokens));
                // Leaving a file goes on with the one below it, which must not be read yet.
                let waiting: Vec<Open> = self.stack.drain(..below).collect();
                while self.next_of_files().is_some() {}
                self.stack = waiting;
            }
        }
        for forced in whole.into_iter().rev() {
            if let Some((file, tokens)) = self.find_forced(forced, main) {
                self.stack.push(Open::new(file, tokens));
            }
        }
    }

    fn find_forced(&mut self, forced: &ForcedInclude, main: FileId) -> Option<(FileId, Rc<[Token]>)> {
        let places = std::iter::once(&forced.directory).chain(&self.options.include_dirs);
        let places: Vec<PathBuf> = places.map(|place| normalized(&place.join(&forced.name))).collect();
        let found = places.iter().find_map(|place| self.load(place));
        if found.is_none() {
            let name = forced.name.display().to_string();
            let span = Span::new(main, 0, 0);
            self.report(Severity::Warning, span, &format!("the file `{name}` that the build includes is not found"));
            self.missing_includes.push(MissingInclude { name, span });
        }
        found
    }

    pub(super) fn complain(&mut self, span: Span, message: &str) {
        self.report(Severity::Warning, span, message);
    }

    fn report(&mut self, severity: Severity, span: Span, message: &str) {
        if self.diagnostics.len() >= MOST_DIAGNOSTICS && severity != Severity::Error {
            return;
        }
        self.diagnostics.push(Diagnostic {
            rule: RuleId::Parse,
            severity,
            message: message.to_owned(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
        });
    }

    /// Stops at a budget: nothing more is read, and the file says so.
    pub(super) fn give_up(&mut self, span: Span, why: &str) {
        self.report(Severity::Error, span, &format!("{why}; the file is not read"));
        self.gave_up = true;
    }

    pub(super) fn definition(&self, name: Symbol) -> Option<Rc<Macro>> {
        self.macros.get(name.index())?.clone()
    }

    pub(super) fn is_busy(&mut self, name: Symbol) -> bool {
        if self.busy.len() <= name.index() {
            self.busy.resize(name.index() + 64, 0);
        }
        self.busy[name.index()] > 0
    }

    /// `__LINE__`, `__FILE__`, `__COUNTER__`, `__INCLUDE_LEVEL__`.
    pub(super) fn dynamic(&mut self, token: Token) -> Option<Token> {
        let presumed = self.stack.last().map(|top| top.presumed.clone()).unwrap_or_default();
        let (text, kind) = if token.text == self.names.line {
            let line = i64::from(self.sources.start_position(token.span).line) + presumed.offset;
            (line.to_string(), TokenKind::Number)
        } else if token.text == self.names.level {
            (self.stack.len().saturating_sub(1).to_string(), TokenKind::Number)
        } else if token.text == self.names.counter {
            self.counter += 1;
            ((self.counter - 1).to_string(), TokenKind::Number)
        } else if let Some(file) = presumed.file.filter(|_| token.text == self.names.file) {
            return Some(Token { text: file, kind: TokenKind::String, ..token });
        } else if token.text == self.names.file {
            let visible = self.sources.visible(token.span);
            let path = self.sources.file(visible.file).path.display().to_string();
            (format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"")), TokenKind::String)
        } else {
            return None;
        };
        Some(Token { text: self.spellings.intern(&text), kind, ..token })
    }

    /// The next token of the innermost file that is no directive, whatever its name means.
    pub(super) fn next_of_files(&mut self) -> Option<Token> {
        loop {
            let top = self.stack.last_mut()?;
            let Some(&token) = top.tokens.get(top.next) else {
                self.leave_file();
                continue;
            };
            top.next += 1;
            if self.is_directive(&token) {
                self.directive(token.span);
                continue;
            }
            return Some(token);
        }
    }

    /// The token that [`next_of_files`](Self::next_of_files) would give, if it is in the same file and no directive comes first.
    pub(super) fn peek_files(&self) -> Option<&Token> {
        let top = self.stack.last()?;
        top.tokens.get(top.next).filter(|token| !self.is_directive(token))
    }

    fn is_directive(&self, token: &Token) -> bool {
        token.flags.has(TokenFlags::LINE_START) && (token.text == self.names.hash || token.text == self.names.digraph)
    }

    fn leave_file(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        for conditional in open.conditionals {
            self.complain(conditional.start, "unterminated conditional directive");
            if conditional.undecided {
                let end = self.sources.file(open.file).text.len();
                self.undecided.push(Span { end: end as u32, ..conditional.start });
            }
        }
    }

    /// The remaining tokens of the current line.
    fn line(&mut self) -> Vec<Token> {
        let Some(top) = self.stack.last_mut() else { return Vec::new() };
        let start = top.next;
        while top.tokens.get(top.next).is_some_and(|token| !token.flags.has(TokenFlags::LINE_START)) {
            top.next += 1;
        }
        top.tokens[start..top.next].to_vec()
    }

    fn directive(&mut self, hash: Span) {
        let line = self.line();
        let Some((name, rest)) = line.split_first() else { return };
        let whole = hash.to(line.last().map_or(hash, |last| last.span));
        match self.spellings.text(name.text) {
            "define" => self.define(rest, whole),
            "undef" => self.undefine(rest),
            "include" => self.include(rest, whole, Search::FromStart),
            "include_next" => self.include(rest, whole, Search::Onwards),
            "import" => self.include(rest, whole, Search::FromStart),
            "line" => self.presume(rest.to_vec(), hash),
            _ if name.kind == TokenKind::Number => self.presume(line.clone(), hash),
            "if" => {
                let truth = self.condition(rest, whole);
                self.open_conditional(truth, whole);
            }
            "ifdef" => {
                let truth = self.is_defined(rest);
                self.open_conditional(truth, whole);
            }
            "ifndef" => {
                let truth = self.is_defined(rest).negated();
                self.open_conditional(truth, whole);
            }
            "elif" | "elifdef" | "elifndef" | "else" => self.skip_rest(whole),
            "endif" => self.close_conditional(whole),
            "error" => {
                let text = self.sources.text(whole).trim_start_matches(['#', ' ', '\t']).to_owned();
                self.report(Severity::Warning, whole, text.trim_end());
            }
            "pragma" => {
                let words: Vec<String> = rest.iter().map(|token| self.spellings.text(token.text).to_owned()).collect();
                self.pragma(&words, whole);
            }
            // `#warning`, `#ident` and what only other compilers know change no meaning.
            _ => {}
        }
    }

    /// Classes between two places lie otherwise than usual; where these are in different files, those of both.
    fn packed_until(&mut self, start: Span, end: Span) {
        if start.file == end.file {
            self.packed.push(start.to(end));
        } else {
            self.packed.extend([start, end].map(|at| Span { start: 0, end: u32::MAX, ..at }));
        }
    }

    /// `once`, `push_macro("N")`, `pop_macro("N")`, `pack(…)`; no other pragma changes how the text is read.
    pub(super) fn pragma(&mut self, words: &[String], at: Span) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["once"] => {
                self.once.insert(at.file);
            }
            ["pack", "(", ")"] => {
                for start in std::mem::take(&mut self.packing) {
                    self.packed_until(start, at);
                }
            }
            ["pack", "(", "pop", ..] => {
                if let Some(start) = self.packing.pop() {
                    self.packed_until(start, at);
                }
            }
            ["pack", "(", ..] => self.packing.push(at),
            ["push_macro", "(", name, ")"] => {
                let name = self.spellings.intern(name.trim_matches('"'));
                let definition = self.definition(name);
                self.pushed.entry(name).or_default().push(definition);
            }
            ["pop_macro", "(", name, ")"] => {
                let name = self.spellings.intern(name.trim_matches('"'));
                if let Some(definition) = self.pushed.get_mut(&name).and_then(Vec::pop) {
                    self.set_definition(name, definition);
                }
            }
            _ => {}
        }
    }

    fn set_definition(&mut self, name: Symbol, definition: Option<Rc<Macro>>) {
        if self.macros.len() <= name.index() {
            self.macros.resize(name.index() + 64, None);
        }
        self.macros[name.index()] = definition;
    }

    /// `#line 500 "name"`, whose operands macros may give.
    fn presume(&mut self, rest: Vec<Token>, hash: Span) {
        let expanded = self.expand_list(rest);
        let number = expanded.first().and_then(|first| self.spellings.text(first.text).parse::<u32>().ok());
        let (Some(number), Some(top)) = (number, self.stack.last_mut()) else { return };
        let here = self.sources.start_position(hash).line;
        top.presumed.offset = i64::from(number) - i64::from(here) - 1;
        if let Some(file) = expanded.get(1).filter(|name| name.kind == TokenKind::String) {
            top.presumed.file = Some(file.text);
        }
    }

    fn define(&mut self, rest: &[Token], whole: Span) {
        let Some((name, rest)) = rest.split_first() else { return };
        if name.kind != TokenKind::Identifier || name.text == self.names.defined {
            self.complain(whole, "macro names must be identifiers");
            return;
        }
        let called = rest.first().is_some_and(|next| next.text == self.names.open && !next.flags.is_apart());
        let (params, body) = if called {
            let Some((params, body)) = self.params(&rest[1..]) else {
                self.complain(whole, "malformed parameters of a macro");
                return;
            };
            (Some(params), body)
        } else {
            (None, rest)
        };
        let definition = Macro { params, body: body.into() };
        self.set_definition(name.text, Some(Rc::new(definition)));
    }

    /// `a, b, ...)` and the body behind it.
    fn params<'t>(&self, mut rest: &'t [Token]) -> Option<(Params, &'t [Token])> {
        let mut params = Params { names: Vec::new(), variadic: false };
        let mut after_separator = true;
        loop {
            let (token, after) = rest.split_first()?;
            rest = after;
            if token.text == self.names.close {
                return Some((params, rest));
            }
            if token.text == self.names.comma {
                after_separator = true;
                continue;
            }
            if token.text == self.names.ellipsis {
                params.variadic = true;
                // `args...` names the rest itself.
                if after_separator {
                    params.names.push(self.names.va_args);
                }
                continue;
            }
            after_separator = false;
            if token.kind != TokenKind::Identifier || params.variadic {
                return None;
            }
            params.names.push(token.text);
        }
    }

    fn undefine(&mut self, rest: &[Token]) {
        if let Some(slot) = rest.first().and_then(|name| self.macros.get_mut(name.text.index())) {
            *slot = None;
        }
    }

    fn is_defined(&self, rest: &[Token]) -> Truth {
        rest.first().map_or(Truth::Unknown, |name| self.names_macro(name.text))
    }

    /// Whether a macro of this name exists, those that only `#if` knows included.
    pub(super) fn names_macro(&self, name: Symbol) -> Truth {
        let Names { line, file, counter, level, .. } = self.names;
        let dynamic = [line, file, counter, level].contains(&name);
        let text = self.spellings.text(name);
        Truth::of(dynamic || self.definition(name).is_some() || condition::is_query(text))
    }

    fn condition(&mut self, rest: &[Token], whole: Span) -> Truth {
        let prepared = self.prepare_condition(rest);
        let outer = std::mem::replace(&mut self.deciding, true);
        let expanded = self.expand_list(prepared);
        self.deciding = outer;
        let truth = condition::evaluate(&expanded, &self.spellings);
        if truth == Truth::Unknown {
            self.report(Severity::Note, whole, "condition cannot be decided; it is taken as false");
        }
        truth
    }

    /// What follows a `defined` that a macro brought: the tokens of its operand are not expanded.
    pub(super) fn defined_by_macro(&mut self, defined: Token) -> Token {
        let mut operand = self.unexpanded();
        let in_brackets = operand.is_some_and(|token| token.text == self.names.open);
        if in_brackets {
            operand = self.unexpanded();
        }
        let name = operand.filter(|token| token.kind == TokenKind::Identifier);
        let is_closed = !in_brackets || self.unexpanded().is_some_and(|token| token.text == self.names.close);
        let truth = name.filter(|_| is_closed).map_or(Truth::Unknown, |name| self.names_macro(name.text));
        self.token_of(truth, defined)
    }

    fn token_of(&mut self, truth: Truth, place: Token) -> Token {
        let text = self.spellings.intern(truth.spelling());
        let kind = if truth == Truth::Unknown { TokenKind::Other } else { TokenKind::Number };
        Token { text, kind, ..place }
    }

    /// Replaces `defined X` and `__has_include(…)` by numbers, before macros are expanded.
    fn prepare_condition(&mut self, rest: &[Token]) -> Vec<Token> {
        let mut prepared = Vec::with_capacity(rest.len());
        let mut at = 0;
        while let Some(&token) = rest.get(at) {
            at += 1;
            let is_call = rest.get(at).is_some_and(|next| next.text == self.names.open);
            let truth = if token.text == self.names.defined {
                let name = rest.get(at + usize::from(is_call)).copied();
                at += if is_call { 3 } else { 1 };
                name.map_or(Truth::Unknown, |name| self.names_macro(name.text))
            } else if is_call && matches!(self.spellings.text(token.text), "__has_include" | "__has_include_next") {
                let close = rest[at..].iter().position(|next| next.text == self.names.close);
                let end = close.map_or(rest.len(), |found| at + found);
                let found = self.header_of(&rest[at + 1..end]).is_some_and(|(name, quoted)| {
                    let includer = token.span.file;
                    let next = self.spellings.text(token.text) == "__has_include_next";
                    let search = if next { Search::Onwards } else { Search::FromStart };
                    self.find_header(&name, quoted, includer, search).is_some()
                });
                at = (end + 1).min(rest.len());
                if found { Truth::Yes } else { Truth::Unknown }
            } else {
                prepared.push(token);
                continue;
            };
            let number = self.token_of(truth, token);
            prepared.push(number);
        }
        prepared
    }

    fn open_conditional(&mut self, truth: Truth, start: Span) {
        let undecided = truth == Truth::Unknown;
        let conditional = Conditional { start, taken: truth == Truth::Yes, undecided, after_else: false };
        if let Some(top) = self.stack.last_mut() {
            top.conditionals.push(conditional);
        }
        if truth != Truth::Yes {
            self.skip_to_branch();
        }
    }

    /// `#else` or `#elif` after a branch that was read: the rest of the conditional is skipped.
    fn skip_rest(&mut self, whole: Span) {
        if self.stack.last().is_none_or(|top| top.conditionals.is_empty()) {
            self.complain(whole, "`#else` without `#if`");
            return;
        }
        self.skip_to_branch();
    }

    fn close_conditional(&mut self, whole: Span) {
        let Some(top) = self.stack.last_mut() else { return };
        match top.conditionals.pop() {
            None => self.complain(whole, "`#endif` without `#if`"),
            Some(conditional) if conditional.undecided => self.undecided.push(conditional.start.to(whole)),
            Some(_) => {}
        }
    }

    /// Skips tokens to the branch that is to be read, or past the `#endif`.
    fn skip_to_branch(&mut self) {
        let mut depth = 0_usize;
        let mut skipped_from = None;
        loop {
            if let Some(top) = self.stack.last().filter(|_| skipped_from.is_none()) {
                skipped_from = Some(top.tokens.get(top.next).map_or(u32::MAX, |token| token.span.start));
            }
            let Some(hash) = self.next_directive() else { return };
            let line = self.line();
            let Some((name, rest)) = line.split_first() else { continue };
            let whole = hash.to(line.last().map_or(hash, |last| last.span));
            let text = self.spellings.text(name.text);
            let ends_branch = depth == 0 && (text == "endif" || text.starts_with("el"));
            if let Some(start) = skipped_from.filter(|_| ends_branch).filter(|&start| start < hash.start) {
                self.skipped.push(Span { start, end: hash.start, ..hash });
            }
            if ends_branch {
                skipped_from = None;
            }
            match text {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => return self.close_conditional(whole),
                "endif" => depth -= 1,
                "elif" | "elifdef" | "elifndef" | "else" if depth == 0 => {
                    let text = text.to_owned();
                    if self.takes_branch(&text, rest, whole) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Moves past the next `#` at the start of a line, in the current file.
    fn next_directive(&mut self) -> Option<Span> {
        loop {
            let top = self.stack.last_mut()?;
            let token = *top.tokens.get(top.next)?;
            top.next += 1;
            if self.is_directive(&token) {
                return Some(token.span);
            }
        }
    }

    /// Whether the branch that `#name rest` opens is the one to read.
    fn takes_branch(&mut self, name: &str, rest: &[Token], whole: Span) -> bool {
        let Some(open) = self.stack.last().and_then(|top| top.conditionals.last()) else { return false };
        let (taken, after_else) = (open.taken, open.after_else);
        if after_else {
            self.complain(whole, "branch after `#else`");
            return false;
        }
        let truth = match name {
            _ if taken => Truth::No,
            "else" => Truth::Yes,
            "elif" => self.condition(rest, whole),
            "elifdef" => self.is_defined(rest),
            _ => self.is_defined(rest).negated(),
        };
        if let Some(open) = self.stack.last_mut().and_then(|top| top.conditionals.last_mut()) {
            open.taken |= truth == Truth::Yes;
            open.undecided |= truth == Truth::Unknown;
            open.after_else = name == "else";
        }
        truth == Truth::Yes
    }

    fn include(&mut self, rest: &[Token], whole: Span, search: Search) {
        let named = self.header_of(rest).or_else(|| {
            let expanded = self.expand_list(rest.to_vec());
            self.header_of(&expanded)
        });
        let Some((name, quoted)) = named else {
            self.complain(whole, "malformed include directive");
            return;
        };
        let Some((file, tokens)) = self.find_header(&name, quoted, whole.file, search) else {
            self.missing_includes.push(MissingInclude { name, span: whole });
            return;
        };
        if self.once.contains(&file) {
            self.includes.push(Include { span: whole, entered: None });
            return;
        }
        self.includes.push(Include { span: whole, entered: Some(file) });
        self.entered += 1;
        if self.stack.len() >= INCLUDE_DEPTH || self.entered > INCLUDE_COUNT {
            self.complain(whole, "includes nested too deeply");
            return;
        }
        self.included += tokens.len();
        if self.included > INCLUDE_BUDGET {
            self.give_up(whole, "includes bring in too many tokens");
            return;
        }
        self.stack.push(Open::new(file, tokens));
    }

    /// The header's name and whether it was in quotes.
    fn header_of(&self, tokens: &[Token]) -> Option<(String, bool)> {
        let first = tokens.first()?;
        let text = self.spellings.text(first.text);
        if first.kind == TokenKind::String {
            return Some((text.trim_matches('"').to_owned(), true));
        }
        // The name in `<…>` was lexed as C; its spelling is that of the range, without white space around.
        let mut name = String::new();
        if !text.starts_with('<') {
            return None;
        }
        for token in &tokens[1..] {
            let text = self.spellings.text(token.text);
            if let Some(last) = text.strip_suffix('>') {
                name.push_str(last);
                return Some((name, false));
            }
            if token.flags.has(TokenFlags::SPACE) && !name.is_empty() {
                name.push(' ');
            }
            name.push_str(text);
        }
        None
    }

    fn find_header(
        &mut self,
        name: &str,
        quoted: bool,
        includer: FileId,
        search: Search,
    ) -> Option<(FileId, Rc<[Token]>)> {
        let path = &self.sources.file(includer).path;
        let beside = path.parent().map(Path::to_path_buf).filter(|_| quoted && search == Search::FromStart);
        let dirs = &self.options.include_dirs;
        // The directory that the header which asks for the next one was found in.
        let own =
            dirs.iter().position(|dir| search == Search::Onwards && normalized(path).starts_with(normalized(dir)));
        let dirs = &dirs[own.map_or(0, |own| own + 1)..];
        let places: Vec<PathBuf> = beside.into_iter().chain(dirs.iter().cloned()).collect();
        if search == Search::Onwards {
            // The project is not searched: it would give the same header again.
            return places.iter().find_map(|place| self.load(&normalized(&place.join(name))));
        }
        places.iter().find_map(|place| self.load(&normalized(&place.join(name)))).or_else(|| self.seek(name, includer))
    }

    /// A header that no include path leads to, from the project.
    fn seek(&mut self, name: &str, includer: FileId) -> Option<(FileId, Rc<[Token]>)> {
        let headers = self.options.headers.as_ref()?;
        let includer = &self.sources.file(includer).path;
        let stated = headers.within(&self.options.stated_dirs, name, includer);
        let by = if stated.is_some() { SoughtBy::Build } else { SoughtBy::Name };
        let header = stated.or_else(|| headers.find(name, includer))?;
        let loaded = self.load(&normalized(&header.path))?;
        let sought = SoughtHeader { name: name.to_owned(), inside: header.inside, by };
        if !self.sought.contains(&sought) {
            self.sought.push(sought);
        }
        Some(loaded)
    }

    fn load(&mut self, path: &Path) -> Option<(FileId, Rc<[Token]>)> {
        if let Some((file, tokens)) = self.loaded.get(path) {
            return Some((*file, Rc::clone(tokens)));
        }
        let text = self.files.read(path)?;
        if u32::try_from(text.len()).is_err() {
            return None;
        }
        let file = self.sources.add_file(path, text);
        let text = self.sources.file(file).text.clone();
        let tokens: Rc<[Token]> = lexer::lex(&text, file, self.language, &mut self.spellings).into();
        self.loaded.insert(path.to_path_buf(), (file, Rc::clone(&tokens)));
        Some((file, tokens))
    }
}
