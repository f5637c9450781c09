//! What can be done about a finding: the fix that is proved, the contract stated, the finding suppressed with a reason, its rule
//! explained.

use super::commands;
use super::positions::Encoding;
use super::texts::Text;
use crate::diagnostic::render::editor::{Remark, contract};
use crate::diagnostic::report::{FileReport, Fix, KernelReport};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::source::{LineIndex, Span};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::HashMap;

/// A text for which actions are wanted.
pub(super) struct Subject<'s> {
    /// Its name.
    pub(super) uri: &'s Uri,
    /// What stands in it.
    pub(super) text: &'s Text,
    /// What is known of it.
    pub(super) file: &'s FileReport,
    /// The units of positions.
    pub(super) encoding: Encoding,
}

impl Subject<'_> {
    /// What can be done about a finding.
    pub(super) fn actions(
        &self,
        (remark, diagnostic): &(Remark, Diagnostic),
        fix: Option<&Fix>,
    ) -> Vec<CodeActionOrCommand> {
        let mut actions = Vec::new();
        let quick = |title: String, edits: Vec<TextEdit>, is_preferred: bool| {
            CodeActionOrCommand::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic.clone()]),
                edit: Some(self.edit(edits)),
                is_preferred: Some(is_preferred),
                ..CodeAction::default()
            })
        };
        if let Some(fix) = fix {
            let edits =
                fix.edits.iter().map(|edit| TextEdit { range: self.range(edit.span), new_text: edit.text.clone() });
            actions.push(quick(fix.message.clone(), edits.collect(), true));
        }
        let kernel = remark.kernel.as_ref().and_then(|name| self.file.kernels.iter().find(|it| it.name == *name));
        if let Some((title, edit)) = kernel.and_then(|kernel| self.statement(kernel)) {
            actions.push(quick(title, vec![edit], false));
        }
        if let Some(rule) = remark.rule {
            let line = diagnostic.range.start.line;
            let indent = self.indent(line);
            let new_text = format!("{indent}// raceproof: ignore[{}] say why\n", rule.name());
            let start = Position::new(line, 0);
            let edit = TextEdit { range: Range::new(start, start), new_text };
            actions.push(quick(format!("suppress {} here, with a reason", rule.name()), vec![edit], false));
            let title = format!("explain {}", rule.name());
            let arguments = Some(vec![rule.name().into()]);
            actions.push(CodeActionOrCommand::Command(Command {
                title,
                command: commands::EXPLAIN.to_owned(),
                arguments,
            }));
        }
        actions
    }

    fn edit(&self, edits: Vec<TextEdit>) -> WorkspaceEdit {
        // The key is compared by its text, which nothing changes.
        #[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
        let changes = HashMap::from([(self.uri.clone(), edits)]);
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }

    /// The range of a place in the text as it was checked.
    fn range(&self, span: Span) -> Range {
        let at = |offset: u32| self.encoding.position(&self.text.text, &self.text.lines, offset as usize);
        Range::new(at(span.start), at(span.end))
    }

    fn indent(&self, line: u32) -> &str {
        let start = self.text.lines.line_start(line + 1).unwrap_or(self.text.text.len());
        let rest = &self.text.text[start..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// The contract of a kernel as its first statements, and what is said of that.
    fn statement(&self, kernel: &KernelReport) -> Option<(String, TextEdit)> {
        let conditions = contract(kernel);
        if conditions.is_empty() || kernel.path.is_some() {
            return None;
        }
        let words = Vocabulary::of(self.file.language);
        let at = body(&self.text.text, &self.text.lines, kernel)?;
        let stated = conditions.iter().map(|condition| format!("\n    {}({condition});", words.assumption));
        let position = self.encoding.position(&self.text.text, &self.text.lines, at);
        let edit = TextEdit { range: Range::new(position, position), new_text: stated.collect() };
        Some((format!("state the contract of {}: {}", kernel.name, conditions.join(" and ")), edit))
    }
}

/// The byte behind the brace that begins the body of a kernel.
fn body(text: &str, lines: &LineIndex, kernel: &KernelReport) -> Option<usize> {
    let line = lines.line_start(kernel.line)?;
    let name = kernel.name.rsplit("::").next()?;
    let from = line + text[line..].find(name)? + name.len();
    let mut depth = 0;
    for (at, character) in text[from..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            '{' if depth == 0 => return Some(from + at + 1),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
