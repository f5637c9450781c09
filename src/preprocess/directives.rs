//! Walks the files: directives, conditionals, includes.
//!
//! Files stand on a stack of their own, so that include depth costs no call stack. A directive is handled the
//! moment its `#` would be read as a token, also inside the arguments of a macro call.

use super::attributes::without_attributes;
use super::branches::Conditional;
use super::choices::{Because, Choices};
use super::files::{FileAccess, normalized};
use super::headers::{Headers, Loaded};
use super::includes::Search;
use super::interner::{Interner, Symbol};
use super::lexer;
use super::macros::{Macro, Macros, Params};
use super::packing::Packing;
use super::pending::Pending;
use super::predefined;
use super::told::Told;
use super::uses::Uses;
use super::{ForcedInclude, IncludedPart, MissingInclude, Options, Output, Token, TokenFlags, TokenKind};
use crate::diagnostic::Severity;
use crate::source::{FileId, Language, SourceMap, Span};
use crate::work::memory::look;
use std::path::PathBuf;
use std::rc::Rc;

/// The state of preprocessing one unit.
pub(super) struct Preprocessor<'a> {
    pub(super) sources: SourceMap,
    pub(super) spellings: Interner,
    pub(super) names: Names,
    pub(super) language: Language,
    pub(super) options: &'a Options,
    pub(super) macros: Macros,
    /// Whether what is expanded is a condition, in which `defined X` is a number.
    pub(super) deciding: bool,
    pub(super) pending: Pending,
    pub(super) stack: Vec<Open>,
    pub(super) headers: Headers<'a>,
    pub(super) counter: u32,
    pub(super) told: Told,
    pub(super) choices: Choices,
    pub(super) packing: Packing,
}

/// A file that is being read.
pub(super) struct Open {
    pub(super) file: FileId,
    pub(super) tokens: Rc<[Token]>,
    pub(super) next: usize,
    pub(super) conditionals: Vec<Conditional>,
    pub(super) presumed: Presumed,
}

/// What `#line` says of the lines that follow, for `__LINE__` and `__FILE__` alone.
#[derive(Clone, Default)]
pub(super) struct Presumed {
    /// How far their numbers are from those of the text.
    pub(super) offset: i64,
    /// The name of the file, as a string literal.
    pub(super) file: Option<Symbol>,
}

impl Open {
    pub(super) fn new(file: FileId, tokens: Rc<[Token]>) -> Open {
        Open { file, tokens, next: 0, conditionals: Vec::new(), presumed: Presumed::default() }
    }
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
    pub(super) va_args: Symbol,
    pub(super) ellipsis: Symbol,
    pub(super) line: Symbol,
    pub(super) file: Symbol,
    pub(super) counter: Symbol,
    pub(super) level: Symbol,
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
            sources,
            spellings,
            names,
            language: options.language(),
            options,
            macros: Macros::default(),
            deciding: false,
            pending: Pending::default(),
            stack: Vec::new(),
            headers: Headers::new(files),
            counter: 0,
            told: Told::default(),
            choices: Choices::default(),
            packing: Packing::default(),
        }
    }

    /// Reads the definitions of the language and of the command line.
    pub(super) fn predefine(&mut self) {
        self.define_from("<built-in>", &predefined::text(self.options.dialect));
        self.doubt_device();
        let mut lines = String::new();
        for (name, value) in &self.options.defines {
            // `-D 'F(x)=x'` defines a function-like macro, as in every compiler; a line break ends the value.
            let value = value.split('\n').next().unwrap_or("");
            lines.extend(["#define ", name, " ", value, "\n"]);
        }
        if !lines.is_empty() {
            self.define_from("<command-line>", &lines);
        }
        for name in &self.options.undefined {
            let name = self.spellings.intern(name);
            self.macros.undefine(name);
        }
        self.doubt_pass();
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
        self.headers.know(normalized(&path), (main, Rc::clone(&tokens)));
        let mut result = Vec::with_capacity(tokens.len());
        self.stack.push(Open::new(main, tokens));
        self.force_includes(main);
        while let Some(token) = self.expanded() {
            look();
            result.push(token);
        }
        if self.told.gave_up {
            result.clear();
        }
        if self.language == Language::Cuda {
            let choices = &mut self.choices.all;
            result = without_attributes(result, &self.spellings, &self.sources, &mut self.told, choices);
        }
        let mut choices = std::mem::take(&mut self.choices.all);
        choices.retain(|choice| choice.because != Because::Undecided && !choice.regions.is_empty());
        let uses = Uses::of(&result, &self.spellings, &self.sources, choices);
        let Told { diagnostics, missing_includes, sought, modelled, includes, skipped, left_out, undecided, gave_up } =
            self.told;
        Output {
            uses,
            sources: self.sources,
            tokens: result,
            gave_up,
            spellings: self.spellings,
            diagnostics,
            missing_includes,
            sought,
            modelled,
            includes,
            skipped,
            left_out,
            undecided,
            packed: self.packing.of_unit(Span::new(main, 0, u32::MAX as usize)),
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

    fn find_forced(&mut self, forced: &ForcedInclude, main: FileId) -> Option<Loaded> {
        let places = std::iter::once(&forced.directory).chain(&self.options.include_dirs);
        let places: Vec<PathBuf> = places.map(|place| normalized(&place.join(&forced.name))).collect();
        let found = places.iter().find_map(|place| self.load(place));
        if found.is_none() {
            let name = forced.name.display().to_string();
            let span = Span::new(main, 0, 0);
            self.told.report(
                Severity::Warning,
                span,
                &format!("the file `{name}` that the build includes is not found"),
            );
            self.told.missing_includes.push(MissingInclude { name, span });
        }
        found
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

    pub(super) fn is_directive(&self, token: &Token) -> bool {
        token.flags.has(TokenFlags::LINE_START) && token.text == self.names.hash
    }

    pub(super) fn leave_file(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        for conditional in open.conditionals {
            self.told.complain(conditional.start, "unterminated conditional directive");
            let end = self.sources.file(open.file).text.len();
            self.note_region(&conditional, Span { end: end as u32, ..conditional.start });
        }
    }

    /// The remaining tokens of the current line.
    pub(super) fn line(&mut self) -> Vec<Token> {
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
                self.told.report(Severity::Warning, whole, text.trim_end());
            }
            "pragma" => {
                let words: Vec<String> = rest.iter().map(|token| self.spellings.text(token.text).to_owned()).collect();
                self.pragma(&words, whole);
            }
            // `#warning`, `#ident` and what only other compilers know change no meaning.
            _ => {}
        }
    }

    /// `#line 500 "name"`, whose operands macros may give.
    pub(super) fn presume(&mut self, rest: Vec<Token>, hash: Span) {
        let expanded = self.expand_list(rest);
        let number = expanded.first().and_then(|first| self.spellings.text(first.text).parse::<u32>().ok());
        let (Some(number), Some(top)) = (number, self.stack.last_mut()) else { return };
        let here = self.sources.start_position(hash).line;
        top.presumed.offset = i64::from(number) - i64::from(here) - 1;
        if let Some(file) = expanded.get(1).filter(|name| name.kind == TokenKind::String) {
            top.presumed.file = Some(file.text);
        }
    }

    pub(super) fn define(&mut self, rest: &[Token], whole: Span) {
        let Some((name, rest)) = rest.split_first() else { return };
        if name.kind != TokenKind::Identifier || name.text == self.names.defined {
            self.told.complain(whole, "macro names must be identifiers");
            return;
        }
        let called = rest.first().is_some_and(|next| next.text == self.names.open && !next.flags.is_apart());
        let (params, body) = if called {
            let Some((params, body)) = self.params(&rest[1..]) else {
                self.told.complain(whole, "malformed parameters of a macro");
                return;
            };
            (Some(params), body)
        } else {
            (None, rest)
        };
        self.macros.define(name.text, Macro { params, body: body.into() });
        self.settle(name.text);
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

    pub(super) fn undefine(&mut self, rest: &[Token]) {
        let Some(name) = rest.first() else { return };
        self.macros.undefine(name.text);
        self.settle(name.text);
    }
}
