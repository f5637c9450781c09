//! What can be done about a finding: the fix that is proved, the contract stated, the finding suppressed with a reason, its rule
//! explained.

use super::commands;
use super::positions::Encoding;
use super::texts::Text;
use crate::diagnostic::render::editor::Remark;
use crate::diagnostic::report::{Conjunct, ContractKind, FileReport, Fix, KernelReport};
use crate::diagnostic::{RuleId, UNKNOWN};
use crate::source::Span;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Command, Diagnostic, Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::HashMap;

/// The header that annotations are in.
const HEADER: &str = "raceproof.h";

/// Whether an action is what most would choose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Preference {
    /// It is.
    Preferred,
    /// It depends on what is meant.
    OneOfSeveral,
}

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
        let quick = |title: String, edits: Vec<TextEdit>, preference: Preference| {
            CodeActionOrCommand::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic.clone()]),
                edit: Some(self.edit(edits)),
                is_preferred: Some(preference == Preference::Preferred),
                ..CodeAction::default()
            })
        };
        if let Some(fix) = fix.or(remark.fix.as_ref()) {
            let edits =
                fix.edits.iter().map(|edit| TextEdit { range: self.range(edit.span), new_text: edit.text.clone() });
            actions.push(quick(fix.message.clone(), edits.collect(), Preference::Preferred));
        }
        let kernel = remark.kernel.as_ref().and_then(|name| self.file.kernels.iter().find(|it| it.name == *name));
        if let Some((title, edits)) = kernel.and_then(|kernel| self.statement(kernel)) {
            actions.push(quick(title, edits, Preference::OneOfSeveral));
        }
        if let Some(rule) = remark.rule.filter(|_| remark.kernel.is_some()) {
            let line = diagnostic.range.start.line;
            let indent = self.indent(line);
            let new_text = format!("{indent}// raceproof: ignore[{}] say why\n", rule.name());
            let start = Position::new(line, 0);
            let edit = TextEdit { range: Range::new(start, start), new_text };
            actions.push(quick(
                format!("suppress {} here, with a reason", rule.name()),
                vec![edit],
                Preference::OneOfSeveral,
            ));
        }
        if remark.kernel.is_some() {
            let name = remark.rule.map_or(UNKNOWN, RuleId::name);
            actions.push(CodeActionOrCommand::Command(Command {
                title: format!("explain {name}"),
                command: commands::EXPLAIN.to_owned(),
                arguments: Some(vec![name.into()]),
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
        let rest = &self.text.text[self.text.lines.within(&self.text.text, line as usize)];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// The contract of a kernel as its first statements, and what is said of that. Conditions that are no expressions cannot be stated so.
    fn statement(&self, kernel: &KernelReport) -> Option<(String, Vec<TextEdit>)> {
        let contract = kernel.contract.as_ref().filter(|_| kernel.path.is_none())?;
        let conditions: Vec<&Conjunct> = contract.to_keep().collect();
        let is_expression = |it: &&Conjunct| it.kind != ContractKind::Data && !it.text.contains(" is a ");
        if conditions.is_empty() || !conditions.iter().all(is_expression) {
            return None;
        }
        let text = &self.text.text;
        let insertion = |at: usize, new_text: String| {
            let position = self.encoding.position(text, &self.text.lines, at);
            TextEdit { range: Range::new(position, position), new_text }
        };
        let stated = conditions.iter().map(|condition| format!("\n    RACEPROOF_REQUIRES({});", condition.text));
        let mut edits = vec![insertion(body(text, kernel)?, stated.collect())];
        if !text.contains(HEADER) {
            edits.insert(0, insertion(0, format!("#include \"{HEADER}\"\n")));
        }
        let words: Vec<&str> = conditions.iter().map(|condition| condition.text.as_str()).collect();
        Some((format!("state the contract of {}: {}", kernel.name, words.join(" and ")), edits))
    }
}

/// The byte behind the brace that begins the body of a kernel.
fn body(text: &str, kernel: &KernelReport) -> Option<usize> {
    let line = match kernel.line.checked_sub(2) {
        Some(before) => text.match_indices('\n').nth(before as usize)?.0 + 1,
        None => 0,
    };
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
