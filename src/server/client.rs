//! What the editor at the other end knows and wants, and what is offered to it.

use super::hints;
use super::positions::Encoding;
use super::uri;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, DiagnosticOptions,
    DiagnosticServerCapabilities, ExecuteCommandOptions, HoverProviderCapability, InitializeParams, OneOf, SaveOptions,
    ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};
use serde_json::Value;
use std::path::PathBuf;

/// The editor.
pub(super) struct Client {
    /// The units of its positions.
    pub(super) encoding: Encoding,
    /// Whether it asks for findings, instead of being told.
    pub(super) pulls: bool,
    /// Whether it asks again for findings when it is told to.
    pub(super) refreshes_findings: bool,
    /// The same for lenses.
    pub(super) refreshes_lenses: bool,
    /// The same for notes at the ends of lines.
    pub(super) refreshes_hints: bool,
    /// Whether it shows how far work in the background is.
    pub(super) progresses: bool,
    /// Whether it tells of files that change.
    pub(super) watches: bool,
    /// Whether it opens a file when it is asked to.
    pub(super) shows_documents: bool,
    /// The directories of the project.
    pub(super) roots: Vec<PathBuf>,
    /// What its user has set.
    pub(super) settings: Settings,
}

/// What a user has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Notes at the ends of lines.
    pub(super) hints: hints::Wanted,
    /// Verdicts above kernels.
    pub(super) lenses: bool,
    /// Whether all files of the project are checked.
    pub(super) workspace: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { hints: hints::Wanted::default(), lenses: true, workspace: true }
    }
}

impl Settings {
    /// What an object says, perhaps below the name of this server; the rest as it was.
    pub(super) fn of(object: &Value, before: Settings) -> Settings {
        let object = object.get("raceproof").unwrap_or(object);
        let flag = |path: &str, before: bool| object.pointer(path).and_then(Value::as_bool).unwrap_or(before);
        Settings {
            hints: hints::Wanted {
                intervals: flag("/inlayHints/intervals", before.hints.intervals),
                contracts: flag("/inlayHints/contracts", before.hints.contracts),
            },
            lenses: flag("/codeLens", before.lenses),
            workspace: flag("/workspace", before.workspace),
        }
    }
}

impl Client {
    /// What an editor says of itself.
    pub(super) fn of(params: &InitializeParams) -> Client {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.clone()).unwrap_or_default();
        let text = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let window = capabilities.window.as_ref();
        let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let mut roots: Vec<PathBuf> = folders.map(|folder| uri::path(folder, "")).collect();
        #[expect(deprecated, reason = "older editors say nothing else")]
        if let Some(root) = params.root_uri.as_ref().filter(|_| roots.is_empty()) {
            roots.push(uri::path(root, ""));
        }
        roots.retain(|root| root.is_dir());
        let settings = params.initialization_options.as_ref();
        Client {
            encoding: Encoding::agreed(&offered),
            pulls: text.is_some_and(|text| text.diagnostic.is_some()),
            refreshes_findings: workspace
                .and_then(|it| it.diagnostic.as_ref())
                .is_some_and(|it| it.refresh_support == Some(true)),
            refreshes_lenses: workspace
                .and_then(|it| it.code_lens.as_ref())
                .is_some_and(|it| it.refresh_support == Some(true)),
            refreshes_hints: workspace
                .and_then(|it| it.inlay_hint.as_ref())
                .is_some_and(|it| it.refresh_support == Some(true)),
            progresses: window.is_some_and(|window| window.work_done_progress == Some(true)),
            watches: workspace
                .and_then(|it| it.did_change_watched_files.as_ref())
                .is_some_and(|it| it.dynamic_registration == Some(true)),
            shows_documents: window.and_then(|window| window.show_document.as_ref()).is_some_and(|it| it.support),
            roots,
            settings: settings.map_or_else(Settings::default, |it| Settings::of(it, Settings::default())),
        }
    }
}

/// What is offered.
pub(super) fn capabilities(client: &Client, commands: &[&str]) -> ServerCapabilities {
    let commands = commands.iter().map(|&command| command.to_owned()).collect();
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: None })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: None }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        diagnostic_provider: Some(DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some("raceproof".to_owned()),
            inter_file_dependencies: true,
            workspace_diagnostics: client.settings.workspace,
            ..DiagnosticOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions { commands, ..ExecuteCommandOptions::default() }),
        ..ServerCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_found_with_and_without_the_name_of_the_server() {
        let plain = json!({ "inlayHints": { "intervals": true }, "codeLens": false });
        let settings = Settings::of(&plain, Settings::default());
        assert!(settings.hints.intervals && !settings.hints.contracts && !settings.lenses && settings.workspace);
        assert_eq!(Settings::of(&json!({ "raceproof": plain }), Settings::default()), settings);
        assert_eq!(Settings::of(&json!({ "other": 1 }), settings), settings);
    }
}
