//! Edits by token, and how they reach the text through macro calls and headers.
//!
//! An edit at a token that a macro call brought replaces the outermost call by its expansion, on one line and
//! followed by as many line breaks as the call had, so that lines keep their numbers. Everything else of the text
//! stays byte for byte. In an expansion the macros of raceproof's own header stay macros: what they are to raceproof is nothing
//! that a compiler knows. A header that was found is put in the place of its `#include`, between `#line` directives.

use super::InstrumentError;
use super::tokens::Tokens;
use crate::edit::{EditError, Edits};
use crate::preprocess::Include;
use crate::source::{FileId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// An edit of tokens.
#[derive(Clone, Debug)]
enum TokenEdit {
    Wrap(Range<usize>, String, String),
    Before(usize, String),
    After(usize, String),
    Replace(Range<usize>, String),
}

/// Edits of tokens, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct TokenEdits {
    edits: Vec<TokenEdit>,
}

impl TokenEdits {
    /// Puts text around tokens; of equal ranges the first is outside.
    pub(super) fn wrap(&mut self, tokens: Range<usize>, before: impl Into<String>, after: impl Into<String>) {
        self.edits.push(TokenEdit::Wrap(tokens, before.into(), after.into()));
    }

    pub(super) fn before(&mut self, token: usize, text: impl Into<String>) {
        self.edits.push(TokenEdit::Before(token, text.into()));
    }

    pub(super) fn after(&mut self, token: usize, text: impl Into<String>) {
        self.edits.push(TokenEdit::After(token, text.into()));
    }

    pub(super) fn replace(&mut self, tokens: Range<usize>, text: impl Into<String>) {
        self.edits.push(TokenEdit::Replace(tokens, text.into()));
    }
}

impl TokenEdit {
    /// The tokens at which text is put or taken.
    fn touched(&self) -> [usize; 2] {
        match self {
            TokenEdit::Wrap(tokens, ..) | TokenEdit::Replace(tokens, _) => {
                [tokens.start, tokens.end.saturating_sub(1).max(tokens.start)]
            }
            TokenEdit::Before(token, _) | TokenEdit::After(token, _) => [*token; 2],
        }
    }
}

/// An outermost macro call.
type Call = (FileId, u32, u32);

/// The edits of each file, on its text with some macro calls expanded.
struct Assembly<'a> {
    tokens: &'a Tokens<'a>,
    includes: &'a [Include],
    /// Outermost calls by file, in order, disjoint.
    calls: BTreeMap<FileId, Vec<(u32, u32)>>,
    /// The tokens that each call to be expanded has brought, first and last.
    expanded: BTreeMap<Call, Range<usize>>,
    /// Lines put in before a byte of a file: guards of text that conditionals left out.
    guards: Vec<(Span, String)>,
    entered: FxHashSet<FileId>,
    /// The files that are being assembled, each inside the one before it.
    open: Vec<FileId>,
}

/// The text of `main` after `edits`, its headers inlined. `guards` put a line of their own before a place.
pub(super) fn assemble(
    tokens: &Tokens<'_>,
    includes: &[Include],
    edits: &TokenEdits,
    guards: Vec<(Span, String)>,
    main: FileId,
) -> Result<String, InstrumentError> {
    let repeated = edits.edits.iter().flat_map(TokenEdit::touched).find(|&token| tokens.is_repeated(token));
    if let Some(span) = repeated.and_then(|token| tokens.span(token)) {
        let file = tokens.sources().visible(span).file;
        return Err(InstrumentError::Repeated(tokens.sources().file(file).path.display().to_string()));
    }
    let calls = outermost_calls(tokens);
    let mut assembly = Assembly {
        tokens,
        includes,
        calls,
        expanded: BTreeMap::new(),
        guards,
        entered: FxHashSet::default(),
        open: Vec::new(),
    };
    let touched: FxHashSet<Call> =
        edits.edits.iter().flat_map(TokenEdit::touched).filter_map(|token| assembly.call_of(token)).collect();
    for token in 0..tokens.len() {
        if let Some(call) = assembly.call_of(token).filter(|call| touched.contains(call)) {
            let range = assembly.expanded.entry(call).or_insert(token..token);
            if range.end != token {
                return Err(InstrumentError::Scattered(tokens.sources().start_position(spanned(call)).line));
            }
            range.end = token + 1;
        }
    }
    let mut by_file: FxHashMap<FileId, Vec<&TokenEdit>> = FxHashMap::default();
    for edit in &edits.edits {
        let [first, last] = edit.touched();
        let (Some(file), Some(other)) = (assembly.file_of(first), assembly.file_of(last)) else { continue };
        if file != other {
            let line = tokens.span(first).map_or(0, |span| tokens.sources().start_position(span).line);
            return Err(InstrumentError::Scattered(line));
        }
        by_file.entry(file).or_default().push(edit);
    }
    let text = assembly.file(main, &by_file)?;
    match by_file.keys().filter(|file| !assembly.entered.contains(file)).min() {
        Some(&file) => Err(InstrumentError::Unplaced(tokens.sources().file(file).path.display().to_string())),
        None => Ok(text),
    }
}

fn spanned((file, start, end): Call) -> Span {
    Span::new(file, start as usize, end as usize)
}

/// The outermost macro calls of every file; nested ones are part of those around them.
fn outermost_calls(tokens: &Tokens<'_>) -> BTreeMap<FileId, Vec<(u32, u32)>> {
    let mut calls: BTreeMap<FileId, Vec<(u32, u32)>> = BTreeMap::new();
    for span in (0..tokens.len()).filter_map(|at| tokens.span(at)).filter(|span| span.expansion.is_some()) {
        let visible = tokens.sources().visible(span);
        let known = calls.entry(visible.file).or_default();
        if known.last() != Some(&(visible.start, visible.end)) {
            known.push((visible.start, visible.end));
        }
    }
    for known in calls.values_mut() {
        known.sort_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(known.len());
        for &(start, end) in known.iter() {
            match merged.last_mut().filter(|last| start < last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => merged.push((start, end)),
            }
        }
        *known = merged;
    }
    calls
}

impl Assembly<'_> {
    fn file_of(&self, token: usize) -> Option<FileId> {
        self.tokens.span(token).map(|span| self.tokens.sources().visible(span).file)
    }

    /// The outermost call that brought a token, or in whose arguments it stands.
    fn call_of(&self, token: usize) -> Option<Call> {
        let visible = self.tokens.sources().visible(self.tokens.span(token)?);
        let calls = self.calls.get(&visible.file)?;
        let at = calls.partition_point(|&(start, _)| start <= visible.start).checked_sub(1)?;
        let (start, end) = calls[at];
        (visible.start < end).then_some((visible.file, start, end))
    }

    /// The text of one file with its edits, and below it those of the headers that it includes.
    fn file(&mut self, file: FileId, edits: &FxHashMap<FileId, Vec<&TokenEdit>>) -> Result<String, InstrumentError> {
        self.entered.insert(file);
        if self.open.contains(&file) {
            let path = self.tokens.sources().file(file).path.display().to_string();
            return Err(InstrumentError::Repeated(path));
        }
        self.open.push(file);
        let source = self.tokens.sources().file(file).clone();
        let flat = Flat::new(self, file, &source.text);
        let mut places = Edits::new();
        for edit in edits.get(&file).into_iter().flatten() {
            flat.add(self.tokens, edit, &mut places);
        }
        for (span, message) in &self.guards {
            if span.file == file {
                let line = self.tokens.sources().start_position(*span).line;
                let back = format!("{message}\n#line {line} {}\n", quoted(&source.path.display().to_string()));
                places.insert(flat.offset(span.start as usize), back);
            }
        }
        let mut seen: FxHashSet<Span> = FxHashSet::default();
        for include in self.includes.iter().filter(|include| include.span.file == file) {
            if !seen.insert(include.span) {
                continue;
            }
            let range = flat.offset(include.span.start as usize)..flat.offset(include.span.end as usize);
            let header = match include.entered {
                Some(header) if !self.entered.contains(&header) || !self.is_guarded(header) => {
                    let path = self.tokens.sources().file(header).path.display().to_string();
                    let line = self.tokens.sources().start_position(include.span).line + 1;
                    let text = self.file(header, edits)?;
                    let end = if text.ends_with('\n') { "" } else { "\n" };
                    let back = quoted(&source.path.display().to_string());
                    format!("#line 1 {}\n{text}{end}#line {line} {back}", quoted(&path))
                }
                _ => String::new(),
            };
            places.replace(range, header);
        }
        self.open.pop();
        let edited = places.apply(&flat.text).map_err(|error| self.locate(&error, &flat, file))?;
        Ok(edited.text)
    }

    fn locate(&self, error: &EditError, flat: &Flat, file: FileId) -> InstrumentError {
        let at = match error {
            EditError::Overlap { second, .. } => second.start,
            EditError::Outside(range) => range.start,
        };
        let text = flat.text.get(..at).unwrap_or("");
        let path = self.tokens.sources().file(file).path.display().to_string();
        InstrumentError::Edits { path, line: text.matches('\n').count() as u32 + 1, cause: error.clone() }
    }

    /// Whether a header begins with the guard that makes a second inclusion empty.
    fn is_guarded(&self, file: FileId) -> bool {
        let text = &self.tokens.sources().file(file).text;
        let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with('#'));
        let Some(first) = lines.next() else { return false };
        let word = |line: &str| line.trim_start_matches(['#', ' ', '\t']).to_owned();
        let second = lines.next().map(word).unwrap_or_default();
        let first = word(first);
        first.starts_with("pragma once")
            || first.strip_prefix("ifndef").is_some_and(|name| {
                second
                    .strip_prefix("define")
                    .is_some_and(|it| it.split_whitespace().next() == name.split_whitespace().next())
            })
    }
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text of a file in which some macro calls are expanded.
struct Flat {
    text: String,
    /// Each expanded call: its range in the file, its range here.
    calls: Vec<(Range<usize>, Range<usize>)>,
    /// Where tokens of expanded calls stand here.
    tokens: FxHashMap<usize, Range<usize>>,
}

impl Flat {
    fn new(assembly: &Assembly<'_>, file: FileId, source: &str) -> Flat {
        let mut flat =
            Flat { text: String::with_capacity(source.len()), calls: Vec::new(), tokens: FxHashMap::default() };
        let mut at = 0;
        for (&(_, start, end), tokens) in assembly.expanded.range((file, 0, 0)..=(file, u32::MAX, u32::MAX)) {
            let (start, end) = (start as usize, end as usize);
            flat.text.push_str(&source[at..start]);
            let from = flat.text.len();
            flat.expansion(assembly.tokens, tokens.clone());
            let lines = source[start..end].matches('\n').count();
            let written = flat.text[from..].matches('\n').count();
            flat.text.extend(std::iter::repeat_n('\n', lines.saturating_sub(written)));
            flat.calls.push((start..end, from..flat.text.len()));
            at = end;
        }
        flat.text.push_str(&source[at..]);
        flat
    }

    fn expansion(&mut self, tokens: &Tokens<'_>, range: Range<usize>) {
        for at in range.clone() {
            if at == range.start || tokens.is_apart(at) || tokens.would_merge(at) {
                self.text.push(' ');
            }
            let from = self.text.len();
            self.text.push_str(tokens.annotation(at).unwrap_or_else(|| tokens.text(at)));
            self.tokens.insert(at, from..self.text.len());
        }
        self.text.push(' ');
    }

    /// Where a byte of the file stands here; in an expanded call, the end of the expansion.
    fn offset(&self, byte: usize) -> usize {
        let before = self.calls.partition_point(|(old, _)| old.start < byte);
        match self.calls[..before].last() {
            None => byte,
            Some((old, new)) => new.end + byte.saturating_sub(old.end),
        }
    }

    fn range(&self, tokens: &Tokens<'_>, token: usize) -> Option<Range<usize>> {
        if let Some(range) = self.tokens.get(&token) {
            return Some(range.clone());
        }
        let span = tokens.span(token)?;
        let start = self.offset(span.start as usize);
        Some(start..start + (span.end - span.start) as usize)
    }

    fn add(&self, tokens: &Tokens<'_>, edit: &TokenEdit, edits: &mut Edits) {
        let [first, last] = edit.touched();
        let (Some(first), Some(last)) = (self.range(tokens, first), self.range(tokens, last)) else { return };
        let range = first.start..last.end;
        match edit {
            TokenEdit::Wrap(_, before, after) => edits.wrap(range, self.apart(first.start, before), after.clone()),
            TokenEdit::Before(_, text) => edits.insert(first.start, self.apart(first.start, text)),
            TokenEdit::After(_, text) => edits.insert(last.end, text.clone()),
            TokenEdit::Replace(_, text) => {
                let lines = self.text.get(range.clone()).map_or(0, |old| old.matches('\n').count());
                edits.replace(range, text.clone() + &"\n".repeat(lines));
            }
        }
    }

    /// `text`, with a space where `::` would join what precedes it to another token.
    fn apart(&self, at: usize, text: &str) -> String {
        let joins = self.text.get(..at).is_some_and(|before| before.ends_with([':', '<', '%']));
        if joins && text.starts_with(':') { format!(" {text}") } else { text.to_owned() }
    }
}
