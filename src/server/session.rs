//! One editor: hears it and those who work for it, and holds all state.
//!
//! A request that needs more than is known waits at its text until that is there, and is answered of the text as it is then. One that
//! the editor takes back is answered at once.
//!
//! Guarantees: the loop does nothing that takes long.

use super::actions::Subject;
use super::analyst::{Analysed, Job};
use super::client::{Client, Settings, capabilities};
use super::configuration::Configuration;
use super::documents::{Answer, Asked, Document, Known, Wanting, errand};
use super::findings::of_report;
use super::hints::hints;
use super::hover::hover;
use super::lenses::lenses;
use super::pages::Pages;
use super::project::Project;
use super::texts::Text;
use super::workers::Workers;
use super::workspace::{Course, Workspace};
use super::{commands, uri};
use crate::diagnostic::render::editor::{Remark, known};
use crate::diagnostic::report::{FileReport, Report};
use crate::diagnostic::{RuleId, Severity, UNKNOWN};
use crate::driver::isolate::Panic;
use crate::driver::live::Pass;
use crate::driver::options::Options;
use crate::driver::page_of;
use crate::source::disk::stand_in;
use crate::source::fingerprint::Fingerprint;
use crossbeam_channel::select;
use lsp_server::{Connection, ErrorCode, Message, Notification, ReqQueue, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, FullDocumentDiagnosticReport, InitializeParams, MessageType,
    PublishDiagnosticsParams, Range, ShowDocumentParams, ShowMessageParams, UnchangedDocumentDiagnosticReport, Uri,
    WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why a session ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The editor said something that the protocol has no place for.
    #[error("the editor does not keep to the protocol: {0}")]
    Protocol(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The editor closed the connection without the end that the protocol has.
    #[error("the editor is gone")]
    Gone,
}

/// How long a text rests before it is checked in the quick way: keys that are pressed at once are one change.
const TYPED: Duration = Duration::from_millis(5);
/// How long it rests before it is checked as a whole.
const RESTS: Duration = Duration::from_millis(400);

/// Serves until the editor says that this is over.
pub(super) fn run(connection: &Connection, configuration: &Arc<dyn Configuration>) -> Result<(), ServeError> {
    let broken = |error: &dyn std::fmt::Display| ServeError::Protocol(error.to_string());
    let (id, params) = connection.initialize_start().map_err(|error| broken(&error))?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| broken(&error))?;
    let client = Client::of(&params);
    let said = json!({
        "capabilities": capabilities(&client, &commands::ALL),
        "serverInfo": { "name": "raceproof", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, said).map_err(|error| broken(&error))?;
    Session::begin(connection, client, configuration)?.until_over()
}

struct Session<'s> {
    connection: &'s Connection,
    client: Client,
    settings: Settings,
    configuration: &'s Arc<dyn Configuration>,
    pages: Pages,
    documents: BTreeMap<PathBuf, Document>,
    workers: Workers,
    project: Project,
    /// Files of which something was told.
    told: BTreeSet<PathBuf>,
    requests: ReqQueue<PathBuf, ()>,
    /// How often files have changed.
    epoch: u64,
}

impl<'s> Session<'s> {
    fn begin(
        connection: &'s Connection,
        client: Client,
        configuration: &'s Arc<dyn Configuration>,
    ) -> Result<Session<'s>, ServeError> {
        let session = Session {
            connection,
            workers: Workers::start(&client, configuration)?,
            settings: client.settings,
            client,
            configuration,
            pages: Pages::of(&**configuration),
            documents: BTreeMap::new(),
            project: Project::default(),
            told: BTreeSet::new(),
            requests: ReqQueue::default(),
            epoch: 0,
        };
        session.look_around();
        Ok(session)
    }

    fn until_over(mut self) -> Result<(), ServeError> {
        self.watch_files();
        // What no longer comes is not waited for.
        let never = crossbeam_channel::never();
        let mut course = self.workers.course.clone();
        loop {
            select! {
                recv(self.connection.receiver) -> message => match message.map_err(|_| ServeError::Gone)? {
                    Message::Request(request) => {
                        let is_over = self.connection.handle_shutdown(&request);
                        if is_over.map_err(|error| ServeError::Protocol(error.to_string()))? {
                            return Ok(());
                        }
                        self.requested(request);
                    }
                    Message::Notification(notification) => self.noticed(notification),
                    Message::Response(response) => drop(self.requests.outgoing.complete(response.id)),
                },
                recv(self.workers.analysed) -> analysed => {
                    if let Ok(analysed) = analysed {
                        self.learnt(analysed);
                    }
                }
                recv(self.workers.answers) -> answer => {
                    if let Ok(answer) = answer {
                        self.answered(answer);
                    }
                }
                recv(course) -> said => match said {
                    Ok(said) => self.seen(said),
                    Err(_) => course = never.clone(),
                },
            }
        }
    }

    // What the editor says.

    fn noticed(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            notification::DidOpenTextDocument::METHOD => self.with(params, Self::opened),
            notification::DidChangeTextDocument::METHOD => self.with(params, Self::changed),
            notification::DidCloseTextDocument::METHOD => self.with(params, Self::closed),
            notification::DidSaveTextDocument::METHOD => {
                self.with(params, |session, saved: DidSaveTextDocumentParams| {
                    let path = session.open_path(&saved.text_document.uri);
                    session.files_changed(path.as_deref());
                });
            }
            notification::DidChangeWatchedFiles::METHOD => {
                self.with(params, |session, changed: DidChangeWatchedFilesParams| {
                    let open = |uri: &Uri| session.open_path(uri).is_some();
                    // What an open text says counts, whatever is saved.
                    if changed.changes.iter().any(|change| !open(&change.uri)) {
                        session.files_changed(None);
                    }
                });
            }
            notification::DidChangeConfiguration::METHOD => {
                if let Some(settings) = params.get("settings") {
                    self.settings = Settings::of(settings, self.settings);
                    if self.client.refreshes_hints {
                        self.request::<request::InlayHintRefreshRequest>(());
                    }
                    if self.client.refreshes_lenses {
                        self.request::<request::CodeLensRefresh>(());
                    }
                }
            }
            notification::Cancel::METHOD => {
                if let Ok(cancel) = serde_json::from_value::<lsp_types::CancelParams>(params) {
                    let id = match cancel.id {
                        lsp_types::NumberOrString::Number(number) => RequestId::from(number),
                        lsp_types::NumberOrString::String(text) => RequestId::from(text),
                    };
                    if let Some(response) = self.requests.incoming.cancel(id) {
                        self.say(response.into());
                    }
                }
            }
            // The protocol lets a server pass over what it does not know.
            _ => {}
        }
    }

    fn with<P: DeserializeOwned>(&mut self, params: Value, act: impl FnOnce(&mut Self, P)) {
        match serde_json::from_value(params) {
            Ok(params) => act(self, params),
            Err(error) => self.log(&format!("a notification was not understood: {error}")),
        }
    }

    fn opened(&mut self, opened: DidOpenTextDocumentParams) {
        let item = opened.text_document;
        let path = uri::path(&item.uri, &item.language_id);
        let options = self.options_of(&path).unwrap_or_default();
        let text = Text::new(item.text);
        stand_in(&path, Some(Arc::clone(&text.text)));
        let document = Document {
            uri: item.uri,
            text,
            version: (item.version, self.epoch),
            options,
            known: None,
            details: None,
            fixes: BTreeMap::new(),
            asked: BTreeSet::new(),
            waiting: Vec::new(),
        };
        self.documents.insert(path.clone(), document);
        self.ask(&path, Duration::ZERO);
    }

    fn changed(&mut self, changed: DidChangeTextDocumentParams) {
        let Some(path) = self.open_path(&changed.text_document.uri) else { return };
        let encoding = self.client.encoding;
        let Some(document) = self.documents.get_mut(&path) else { return };
        document.text = document.text.changed(changed.content_changes, encoding);
        document.version.0 = changed.text_document.version;
        stand_in(&path, Some(Arc::clone(&document.text.text)));
        self.ask(&path, TYPED);
        self.ask_who_includes(&path);
    }

    fn closed(&mut self, closed: DidCloseTextDocumentParams) {
        let Some(path) = self.open_path(&closed.text_document.uri) else { return };
        stand_in(&path, None);
        self.workers.analyst.forget(&path);
        let Some(document) = self.documents.remove(&path) else { return };
        for (id, _) in document.waiting {
            self.give_up(id, ErrorCode::ContentModified, "the text was closed");
        }
        let mut targets: BTreeSet<PathBuf> = document.known.into_iter().flat_map(|it| it.found.into_keys()).collect();
        targets.insert(path.clone());
        // The project may have been checked while this text stood in for the file.
        let is_saved = std::fs::read(&path).is_ok_and(|bytes| bytes == document.text.text.as_bytes());
        if !is_saved {
            let of_file = self.project.found.as_mut().and_then(|project| project.remove(&path));
            targets.extend(of_file.into_iter().flat_map(BTreeMap::into_keys));
            self.look_around();
        }
        self.publish(targets);
        self.ask_who_includes(&path);
    }

    /// Files are no longer what they were; one of them may be an open text that was saved.
    fn files_changed(&mut self, saved: Option<&Path>) {
        self.epoch += 1;
        self.workers.analyst.files_changed();
        let paths: Vec<PathBuf> = self.documents.keys().cloned().collect();
        for path in paths {
            // Of a text that was just written, nothing has changed.
            let is_new = saved == Some(&*path);
            let options = self.options_of(&path);
            let Some(document) = self.documents.get_mut(&path) else { continue };
            // Those from before stay where there are none that can be used.
            document.options = options.unwrap_or_else(|| Arc::clone(&document.options));
            document.version.1 = self.epoch;
            self.ask(&path, if is_new { Duration::ZERO } else { RESTS });
        }
        self.look_around();
    }

    fn ask_who_includes(&mut self, header: &Path) {
        let includes = |document: &Document| {
            let files = document.known.iter().flat_map(|known| &known.report.files);
            files.flat_map(|file| file.sources.files()).any(|(_, file)| file.path == header)
        };
        let others: Vec<PathBuf> = self
            .documents
            .iter()
            .filter(|(path, document)| *path != header && includes(document))
            .map(|(path, _)| path.clone())
            .collect();
        for path in others {
            self.epoch += 1;
            if let Some(document) = self.documents.get_mut(&path) {
                document.version.1 = self.epoch;
            }
            self.ask(&path, TYPED);
        }
    }

    fn requested(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let asked = match method.as_str() {
            request::DocumentDiagnosticRequest::METHOD => {
                self.asked(params, |it: lsp_types::DocumentDiagnosticParams| {
                    (it.text_document.uri, Asked::Findings { before: it.previous_result_id })
                })
            }
            request::HoverRequest::METHOD => self.asked(params, |it: lsp_types::HoverParams| {
                let at = it.text_document_position_params;
                (at.text_document.uri, Asked::Hover(at.position))
            }),
            request::CodeActionRequest::METHOD => {
                self.asked(params, |it: lsp_types::CodeActionParams| (it.text_document.uri, Asked::Actions(it.range)))
            }
            request::CodeLensRequest::METHOD => {
                self.asked(params, |it: lsp_types::CodeLensParams| (it.text_document.uri, Asked::Lenses))
            }
            request::InlayHintRequest::METHOD => {
                self.asked(params, |it: lsp_types::InlayHintParams| (it.text_document.uri, Asked::Hints(it.range)))
            }
            request::WorkspaceDiagnosticRequest::METHOD => return self.asked_of_project(id, params),
            request::ExecuteCommand::METHOD => return self.commanded(id, params),
            _ => return self.refuse(id, ErrorCode::MethodNotFound, &format!("{method} is not known")),
        };
        match asked {
            Ok((path, asked)) => {
                self.requests.incoming.register(id.clone(), path.clone());
                match self.documents.get_mut(&path) {
                    Some(document) => {
                        document.waiting.push((id, asked));
                        self.serve(&path);
                    }
                    None => self.reply(id, &self.of_closed(&path, &asked)),
                }
            }
            Err(error) => self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
        }
    }

    fn asked<P: DeserializeOwned>(
        &self,
        params: Value,
        split: impl FnOnce(P) -> (Uri, Asked),
    ) -> Result<(PathBuf, Asked), serde_json::Error> {
        let (uri, asked) = split(serde_json::from_value(params)?);
        let path = self.open_path(&uri).unwrap_or_else(|| uri::path(&uri, ""));
        Ok((path, asked))
    }

    /// What is said of a text that is not open.
    fn of_closed(&self, path: &Path, asked: &Asked) -> Value {
        match asked {
            Asked::Findings { before } => self.findings_of(path, before.as_deref()),
            Asked::Hover(_) | Asked::Actions(_) | Asked::Lenses | Asked::Hints(_) => Value::Null,
        }
    }

    fn commanded(&mut self, id: RequestId, params: Value) {
        let Ok(called) = serde_json::from_value::<lsp_types::ExecuteCommandParams>(params) else {
            return self.refuse(id, ErrorCode::InvalidParams, "a command with arguments is expected");
        };
        let argument = |at: usize| called.arguments.get(at).and_then(Value::as_str).unwrap_or_default();
        // What is unknown is reported under no rule, and has a page all the same.
        let named = if argument(0) == UNKNOWN { Some(None) } else { RuleId::from_name(argument(0)).map(Some) };
        match called.command.as_str() {
            commands::EXPLAIN if named.is_some() => named.into_iter().for_each(|rule| self.explain(rule)),
            commands::EXPLAIN => {
                return self.refuse(id, ErrorCode::InvalidParams, &format!("there is no rule {}", argument(0)));
            }
            commands::VERDICT => {
                let kernel = self.documents.iter().filter(|(path, _)| path.as_path() == Path::new(argument(0)));
                let files = kernel.flat_map(|(_, document)| &document.known).flat_map(|known| &known.report.files);
                let lines = files.flat_map(|file| {
                    let of_name = file.kernels.iter().filter(|kernel| kernel.instance() == argument(1));
                    of_name.flat_map(|kernel| known(kernel, &file.sources))
                });
                let lines: Vec<String> = lines.collect();
                self.show(MessageType::INFO, &format!("{}: {}", argument(1), lines.join("\n")));
            }
            other => return self.refuse(id, ErrorCode::InvalidParams, &format!("there is no command {other}")),
        }
        self.say(Response::new_ok(id, Value::Null).into());
    }

    fn explain(&mut self, rule: Option<RuleId>) {
        match self.pages.page(rule).filter(|_| self.client.shows_documents) {
            Some(uri) => {
                let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
                self.request::<request::ShowDocument>(params);
            }
            None => self.show(MessageType::INFO, page_of(rule)),
        }
    }

    // What is found out.

    fn ask(&mut self, path: &Path, after: Duration) {
        let Some(document) = self.documents.get_mut(path) else { return };
        document.fixes.clear();
        document.asked.clear();
        let job = |pass| Job {
            path: path.to_path_buf(),
            version: document.version,
            text: Arc::clone(&document.text.text),
            options: Arc::clone(&document.options),
            pass,
        };
        self.workers.analyst.ask(job(Pass::Quick), after);
        if Pass::differ(&document.options) {
            self.workers.analyst.ask(job(Pass::Whole), after + RESTS);
        }
    }

    fn learnt(&mut self, analysed: Analysed) {
        let Analysed { path, version, outcome } = analysed;
        let Some(document) = self.documents.get_mut(&path).filter(|document| document.version == version) else {
            return;
        };
        let report = match outcome {
            Ok(report) => report,
            Err(panic) => {
                let message = match panic {
                    Panic::Bug(message) => format!("bug in raceproof: {message}"),
                    Panic::TooMuch(too_much) => too_much.to_string(),
                };
                let said = format!("{}: {message}", path.display());
                // What was said before is of another text.
                document.known = None;
                for (id, _) in std::mem::take(&mut document.waiting) {
                    self.give_up(id, ErrorCode::InternalError, &message);
                }
                return self.show(MessageType::ERROR, &said);
            }
        };
        let found = of_report(&report, self.client.encoding, &self.pages);
        let before = document.known.take();
        let is_new_version = before.as_ref().is_none_or(|before| before.version != version);
        let mut targets: BTreeSet<PathBuf> = before.into_iter().flat_map(|known| known.found.into_keys()).collect();
        targets.extend(found.keys().cloned());
        document.known = Some(Known { version, report, found });
        self.serve(&path);
        self.publish(targets);
        // What was answered of this version is no longer all that there is to say.
        if !is_new_version && self.client.pulls && self.client.refreshes_findings {
            self.request::<request::WorkspaceDiagnosticRefresh>(());
        }
        if self.client.refreshes_lenses && self.settings.lenses {
            self.request::<request::CodeLensRefresh>(());
        }
    }

    fn answered(&mut self, answer: Answer) {
        let path = match answer {
            Answer::Details(path, version, details) => {
                let Some(document) = self.documents.get_mut(&path).filter(|it| it.version == version) else { return };
                document.details = Some((version, details));
                path
            }
            Answer::Fix(path, version, key, fix) => {
                let Some(document) = self.documents.get_mut(&path).filter(|it| it.version == version) else { return };
                document.fixes.insert(key, fix);
                path
            }
            Answer::Warning(warning) => {
                return warning.iter().for_each(|warning| self.show(MessageType::WARNING, warning));
            }
        };
        self.serve(&path);
    }

    /// Answers what can be answered of a text, and has the rest found out.
    fn serve(&mut self, path: &Path) {
        let Some(document) = self.documents.get_mut(path) else { return };
        let waiting = std::mem::take(&mut document.waiting);
        let (mut left, mut wanted) = (Vec::new(), BTreeSet::new());
        for (id, asked) in waiting {
            if self.requests.incoming.is_completed(&id) {
                continue;
            }
            match self.answer(path, &asked) {
                Ok(value) => self.reply(id, &value),
                Err(wanting) => {
                    wanted.extend(wanting);
                    left.push((id, asked));
                }
            }
        }
        let Some(document) = self.documents.get_mut(path) else { return };
        document.waiting = left;
        for wanting in wanted {
            if document.asked.insert(wanting.clone()) {
                let errand = errand(path, document, wanting);
                // Those who answer are there as long as the session is.
                errand.into_iter().for_each(|errand| drop(self.workers.errands.send(errand)));
            }
        }
    }

    /// The answer, or what it lacks.
    fn answer(&self, path: &Path, asked: &Asked) -> Result<Value, Vec<Wanting>> {
        let document = self.documents.get(path).ok_or_else(Vec::new)?;
        let known = document.known.as_ref().filter(|known| known.version == document.version);
        let known = known.ok_or_else(|| vec![Wanting::Verdicts])?;
        let Some(file) = known.report.files.first() else { return Ok(Value::Null) };
        let details = || {
            let details = document.details.as_ref().filter(|(version, _)| *version == document.version);
            details.map(|(_, details)| details).ok_or_else(|| vec![Wanting::Details])
        };
        let (text, encoding) = (&document.text, self.client.encoding);
        Ok(match asked {
            Asked::Findings { before } => self.findings_of(path, before.as_deref()),
            Asked::Hover(position) => value(&hover(text, *position, (file, details()?), encoding)),
            Asked::Actions(range) => self.actions(path, document, (known, file), *range)?,
            Asked::Lenses if !self.settings.lenses => json!([]),
            Asked::Lenses => value(&lenses(text, file, encoding)),
            Asked::Hints(_) if self.settings.hints == Default::default() => json!([]),
            Asked::Hints(part) => value(&hints(text, *part, self.settings.hints, (file, details()?), encoding)),
        })
    }

    fn actions(
        &self,
        path: &Path,
        document: &Document,
        (known, file): (&Known, &FileReport),
        range: Range,
    ) -> Result<Value, Vec<Wanting>> {
        let is_here = |(_, diagnostic): &&(Remark, Diagnostic)| {
            diagnostic.range.start <= range.end && range.start <= diagnostic.range.end
        };
        let here: Vec<_> = known.found.get(path).into_iter().flatten().filter(is_here).collect();
        let key = |remark: &Remark| {
            let kernel = remark.kernel.clone().filter(|_| remark.severity == Severity::Error);
            kernel.map(|kernel| (kernel, remark.line))
        };
        let missing = here.iter().filter_map(|(remark, _)| key(remark)).filter(|key| !document.fixes.contains_key(key));
        let missing: Vec<Wanting> = missing.map(|(kernel, line)| Wanting::Fix(kernel, line)).collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        let subject = Subject { uri: &document.uri, text: &document.text, file, encoding: self.client.encoding };
        let actions = here.into_iter().flat_map(|entry| {
            let fix = key(&entry.0).and_then(|key| document.fixes.get(&key)).and_then(Option::as_ref);
            subject.actions(entry, fix)
        });
        Ok(value(&actions.collect::<Vec<_>>()))
    }

    // What is said of files.

    /// All that is said of a file, by whoever was checked.
    fn diagnostics_of(&self, target: &Path) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = Vec::new();
        let open = self.documents.values().filter_map(|document| document.known.as_ref());
        let open = open.flat_map(|known| known.found.get(target)).flatten().map(|(_, diagnostic)| diagnostic);
        let project = self.project.found.iter().flatten().filter(|(path, _)| !self.documents.contains_key(*path));
        let project = project.flat_map(|(_, found)| found.get(target)).flatten();
        for diagnostic in open.chain(project) {
            if !all.contains(diagnostic) {
                all.push(diagnostic.clone());
            }
        }
        all
    }

    fn findings_of(&self, path: &Path, before: Option<&str>) -> Value {
        let items = self.diagnostics_of(path);
        let id = result_id(&items);
        let kind = if before == Some(&id) { "unchanged" } else { "full" };
        match kind {
            "unchanged" => json!({ "kind": kind, "resultId": id }),
            _ => json!({ "kind": kind, "resultId": id, "items": items }),
        }
    }

    /// Tells the editor what is found in these files, if it does not ask for that itself.
    fn publish(&mut self, targets: BTreeSet<PathBuf>) {
        if self.client.pulls {
            return;
        }
        for target in targets {
            let document = self.documents.get(&target);
            // What is said may still be of an older text than the one that is there.
            let told = |document: &Document| document.known.as_ref().map_or(document.version, |known| known.version);
            let version = document.map(|document| told(document).0);
            let uri = document.map_or_else(|| uri::of_path(&target), |document| document.uri.clone());
            let diagnostics = self.diagnostics_of(&target);
            if diagnostics.is_empty() && document.is_none() && !self.told.contains(&target) {
                continue;
            }
            if diagnostics.is_empty() {
                self.told.remove(&target)
            } else {
                self.told.insert(target)
            };
            self.notify::<notification::PublishDiagnostics>(PublishDiagnosticsParams { uri, diagnostics, version });
        }
    }

    // The project.

    fn look_around(&self) {
        self.workers.workspace.iter().for_each(Workspace::check_again);
    }

    fn seen(&mut self, course: Course) {
        match course {
            Course::Begun(files) if self.client.progresses => {
                let (token, said) = self.project.begin(files);
                let token = lsp_types::NumberOrString::String(token);
                self.request::<request::WorkDoneProgressCreate>(lsp_types::WorkDoneProgressCreateParams { token });
                self.tell_progress(&said);
            }
            Course::Begun(_) => {}
            Course::Done(done) => self.project.advance(done).iter().for_each(|said| self.tell_progress(said)),
            Course::Overtaken => self.end_progress(),
            Course::Refused(unfit) => self.show(MessageType::ERROR, &unfit.to_string()),
            Course::Ended(report) => {
                self.end_progress();
                self.know_project(report);
            }
        }
    }

    fn know_project(&mut self, report: Report) {
        let targets = self.project.know(report, self.client.encoding, &self.pages);
        self.publish(targets);
        self.tell_of_project();
    }

    fn asked_of_project(&mut self, id: RequestId, params: Value) {
        match serde_json::from_value::<lsp_types::WorkspaceDiagnosticParams>(params) {
            Ok(asked) => {
                self.requests.incoming.register(id.clone(), PathBuf::new());
                if let Some((older, _)) = self.project.asked.replace((id, asked.previous_result_ids)) {
                    self.give_up(older, ErrorCode::ServerCancelled, "it was asked for again");
                }
                self.tell_of_project();
            }
            Err(error) => self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
        }
    }

    /// Answers who waits for news of the project, if there are any.
    fn tell_of_project(&mut self) {
        let none = BTreeMap::new();
        // Where nothing of the project is checked, there is nothing to wait for.
        let found = self.project.found.as_ref().or_else(|| self.workers.workspace.is_none().then_some(&none));
        let (Some(project), Some((_, before))) = (found, &self.project.asked) else { return };
        let before: BTreeMap<PathBuf, &str> =
            before.iter().map(|it| (uri::path(&it.uri, ""), it.value.as_str())).collect();
        let mut targets: BTreeSet<&Path> =
            project.values().flat_map(|found| found.keys()).map(PathBuf::as_path).collect();
        targets.extend(before.keys().map(PathBuf::as_path));
        let mut news = false;
        let mut items = Vec::new();
        for target in targets {
            // The editor asks for open texts by themselves.
            if self.documents.contains_key(target) {
                continue;
            }
            let (uri, diagnostics) = (uri::of_path(target), self.diagnostics_of(target));
            let id = result_id(&diagnostics);
            let is_known = before.get(target) == Some(&id.as_str());
            news |= !is_known && !(diagnostics.is_empty() && !before.contains_key(target));
            items.push(if is_known {
                let report = UnchangedDocumentDiagnosticReport { result_id: id };
                WorkspaceDocumentDiagnosticReport::Unchanged(WorkspaceUnchangedDocumentDiagnosticReport {
                    uri,
                    version: None,
                    unchanged_document_diagnostic_report: report,
                })
            } else {
                let report = FullDocumentDiagnosticReport { result_id: Some(id), items: diagnostics };
                WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
                    uri,
                    version: None,
                    full_document_diagnostic_report: report,
                })
            });
        }
        if (news || before.is_empty())
            && let Some((id, _)) = self.project.asked.take()
        {
            self.reply(id, &value(&WorkspaceDiagnosticReport { items }));
        }
    }

    fn tell_progress(&self, said: &Value) {
        let params = json!({ "token": self.project.token(), "value": said });
        self.say(Notification::new("$/progress".to_owned(), params).into());
    }

    fn end_progress(&mut self) {
        if self.project.progress.take().is_some() {
            self.tell_progress(&json!({ "kind": "end" }));
        }
    }

    // Small things.

    /// The path of a text that is open.
    fn open_path(&self, uri: &Uri) -> Option<PathBuf> {
        let path = uri::path(uri, "");
        if self.documents.contains_key(&path) {
            return Some(path);
        }
        self.documents.iter().find(|(_, document)| document.uri == *uri).map(|(path, _)| path.clone())
    }

    /// The options for a text, if settings can be used.
    fn options_of(&self, path: &Path) -> Option<Arc<Options>> {
        match self.configuration.of_text(path) {
            Ok(options) => Some(Arc::new(options)),
            Err(unfit) => {
                self.show(MessageType::ERROR, &unfit.to_string());
                None
            }
        }
    }

    fn watch_files(&mut self) {
        if self.client.watches {
            let patterns = crate::source::discover::EXTENSIONS.iter().map(|(extension, _)| format!("**/*.{extension}"));
            let others = ["h", "hpp", "cpp", "cc", "c"].map(|extension| format!("**/*.{extension}"));
            let settings = ["raceproof.toml", "compile_commands.json"].map(|name| format!("**/{name}"));
            let all = patterns.chain(others).chain(settings);
            let watchers: Vec<Value> = all.map(|pattern| json!({ "globPattern": pattern })).collect();
            let registration = json!({ "registrations": [{
                "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": watchers },
            }] });
            let registration = serde_json::from_value(registration).expect("it is made as the protocol has it");
            self.request::<request::RegisterCapability>(registration);
        }
    }

    fn request<R: request::Request>(&mut self, params: R::Params) {
        let request = self.requests.outgoing.register(R::METHOD.to_owned(), params, ());
        self.say(request.into());
    }

    fn notify<N: notification::Notification>(&self, params: N::Params) {
        self.say(Notification::new(N::METHOD.to_owned(), params).into());
    }

    fn reply(&mut self, id: RequestId, value: &Value) {
        if self.requests.incoming.complete(&id).is_some() {
            self.say(Response::new_ok(id, value).into());
        }
    }

    /// Answers a request that waits with an error, unless it was taken back.
    fn give_up(&mut self, id: RequestId, code: ErrorCode, why: &str) {
        if self.requests.incoming.complete(&id).is_some() {
            self.refuse(id, code, why);
        }
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, why: &str) {
        self.say(Response::new_err(id, code as i32, why.to_owned()).into());
    }

    fn show(&self, typ: MessageType, message: &str) {
        self.notify::<notification::ShowMessage>(ShowMessageParams { typ, message: message.to_owned() });
    }

    fn log(&self, message: &str) {
        let params = lsp_types::LogMessageParams { typ: MessageType::WARNING, message: message.to_owned() };
        self.notify::<notification::LogMessage>(params);
    }

    fn say(&self, message: Message) {
        // Whoever is gone is noticed where it is listened to.
        let _ = self.connection.sender.send(message);
    }
}

fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("what the protocol has is JSON")
}

/// The name of findings: equal ones have one name.
fn result_id(items: &[Diagnostic]) -> String {
    format!("{:?}", Fingerprint::of(value(&items).to_string().as_bytes()))
}
