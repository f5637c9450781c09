//! An editor that says what it is told to say, and remembers what it hears.
//!
//! Positions are in UTF-16, as most editors have them.

use crate::cli::Place;
use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::BufReader;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nobody waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// An editor with a server.
pub(crate) struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Message>,
    root: PathBuf,
    texts: BTreeMap<String, (i32, String)>,
    answers: BTreeMap<i32, Response>,
    unheard: VecDeque<(String, Value)>,
    all: Vec<(String, Value)>,
    next: i32,
}

/// The lines, from 0, and codes of findings.
pub(super) fn lines(told: &[Value]) -> Vec<(u64, String)> {
    let of = |found: &Value| {
        let code = found["code"].as_str().unwrap_or_default().to_owned();
        (found["range"]["start"]["line"].as_u64().unwrap(), code)
    };
    told.iter().map(of).collect()
}

impl Editor {
    /// An editor with these capabilities, of the directory.
    pub(crate) fn of(place: &Place, capabilities: Value) -> Editor {
        Editor::with(place, capabilities, &["--front", "tree-sitter", "--solver", "none"])
    }

    /// The same with other options of the server.
    pub(crate) fn with(place: &Place, capabilities: Value, options: &[&str]) -> Editor {
        let arguments: Vec<&str> = ["lsp", "--stdio"].into_iter().chain(options.iter().copied()).collect();
        Editor::at(place, capabilities, place.command(&arguments))
    }

    /// The same with a server that is started so.
    pub(crate) fn at(place: &Place, capabilities: Value, mut command: Command) -> Editor {
        // What is kept for the user is kept for the test.
        command.env("XDG_CACHE_HOME", place.path().canonicalize().unwrap().join(".user"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (tell, messages) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let root = place.path().canonicalize().unwrap();
        let mut editor = Editor {
            input: child.stdin.take().unwrap(),
            child,
            messages,
            root,
            texts: BTreeMap::new(),
            answers: BTreeMap::new(),
            unheard: VecDeque::new(),
            all: Vec::new(),
            next: 0,
        };
        let folder = json!([{ "uri": editor.uri(""), "name": "project" }]);
        let said = editor.request(
            "initialize",
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folder }),
        );
        assert_eq!(said["capabilities"]["positionEncoding"], "utf-16");
        editor.notify("initialized", json!({}));
        editor
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.root.join(name).display())
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        &self.texts[name].1
    }

    pub(crate) fn open(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), (1, text.to_owned()));
        let item = json!({ "uri": self.uri(name), "languageId": "cuda", "version": 1, "text": text });
        self.unheard.retain(|(_, said)| said["uri"] != item["uri"]);
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    pub(crate) fn close(&mut self, name: &str) {
        self.texts.remove(name);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": self.uri(name) } }));
    }

    /// Puts a text in the place of some bytes.
    pub(crate) fn replace(&mut self, name: &str, range: Range<usize>, new: &str) {
        let (version, text) = self.texts.get_mut(name).unwrap();
        let at = |offset: usize| {
            // A carriage return by itself ends a line, too.
            let is_end = |at: &usize| {
                text[*at..].starts_with('\n') || (text[*at..].starts_with('\r') && !text[*at..].starts_with("\r\n"))
            };
            let ends: Vec<usize> = (0..offset).filter(|at| text.is_char_boundary(*at)).filter(is_end).collect();
            let start = ends.last().map_or(0, |at| at + 1);
            json!({ "line": ends.len(), "character": text[start..offset].encode_utf16().count() })
        };
        let edit = json!({ "range": { "start": at(range.start), "end": at(range.end) }, "text": new });
        text.replace_range(range, new);
        *version += 1;
        let document = json!({ "version": *version, "uri": self.uri(name) });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [edit] }));
    }

    pub(crate) fn append(&mut self, name: &str, new: &str) {
        let end = self.text(name).len();
        self.replace(name, end..end, new);
    }

    /// Applies the edits of an action to a text, the last ones first.
    pub(crate) fn apply(&mut self, name: &str, action: &Value) {
        let edits = action["edit"]["changes"][self.uri(name)].as_array().unwrap().clone();
        for edit in edits.iter().rev() {
            let of = |position: &Value| {
                let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
                let start: usize = self.text(name).split_inclusive('\n').take(line).map(str::len).sum();
                let mut left = position["character"].as_u64().unwrap();
                let rest = self.text(name)[start..].chars().take_while(|character| {
                    let is_before = left > 0;
                    left = left.saturating_sub(character.len_utf16() as u64);
                    is_before
                });
                start + rest.map(char::len_utf8).sum::<usize>()
            };
            let range = of(&edit["range"]["start"])..of(&edit["range"]["end"]);
            self.replace(name, range, edit["newText"].as_str().unwrap());
        }
    }

    /// The findings that the server tells next of this file, for its newest version.
    pub(crate) fn told(&mut self, name: &str) -> Vec<Value> {
        let (uri, version) = (self.uri(name), self.texts.get(name).map(|(version, _)| *version));
        loop {
            let told = self.notified("textDocument/publishDiagnostics");
            // Of a text that is not open, no version is told.
            if told["uri"] == uri && told["version"].as_i64() == version.map(i64::from) {
                return told["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// What the server has told of the newest version of an open file, or tells next.
    pub(crate) fn newest(&mut self, name: &str) -> Vec<Value> {
        let (uri, version) = (self.uri(name), i64::from(self.texts[name].0));
        let is_it = |(_, said): &&(String, Value)| said["uri"] == uri && said["version"].as_i64() == Some(version);
        match self.all.iter().rev().find(is_it) {
            Some((_, told)) => told["diagnostics"].as_array().unwrap().clone(),
            None => self.told(name),
        }
    }

    pub(crate) fn hover(&mut self, name: &str, line: u32, character: u32) -> Value {
        self.of_text("textDocument/hover", name, json!({ "position": { "line": line, "character": character } }))
    }

    pub(crate) fn actions(&mut self, name: &str, line: u32) -> Vec<Value> {
        let at = |character: u32| json!({ "line": line, "character": character });
        let params = json!({ "range": { "start": at(0), "end": at(99) }, "context": { "diagnostics": [] } });
        self.of_text("textDocument/codeAction", name, params).as_array().unwrap().clone()
    }

    /// What is answered of a text.
    pub(crate) fn of_text(&mut self, method: &str, name: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({ "uri": self.uri(name) });
        self.request(method, params)
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id).expect_err("it is refused")
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i32 {
        self.next += 1;
        self.say(Request::new(RequestId::from(self.next), method.to_owned(), params).into());
        self.next
    }

    pub(crate) fn answer(&mut self, id: i32) -> Result<Value, Value> {
        while !self.answers.contains_key(&id) {
            self.hear(method_of_answer(id));
        }
        let answer = self.answers.remove(&id).unwrap();
        let answer = serde_json::to_value(&answer).unwrap();
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say(Notification::new(method.to_owned(), params).into());
    }

    /// The next that the server says in this way.
    pub(crate) fn notified(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.unheard.iter().position(|(heard, _)| heard == method) {
                return self.unheard.remove(at).unwrap().1;
            }
            self.hear(method.to_owned());
        }
    }

    /// The next that the server asks in this way.
    pub(crate) fn asked_by_server(&mut self, method: &str) -> Value {
        self.notified(method)
    }

    /// All that was said in this way so far.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        self.all.iter().filter(|(heard, _)| heard == method).map(|(_, said)| said.clone()).collect()
    }

    pub(crate) fn unheard(&self) -> &VecDeque<(String, Value)> {
        &self.unheard
    }

    /// Ends the session as the protocol has it.
    pub(crate) fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends the server where it stands.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Bytes of memory that the server has.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }

    fn say(&mut self, message: Message) {
        message.write(&mut self.input).expect("the server listens");
    }

    fn hear(&mut self, waiting_for: String) {
        let message = self.messages.recv_timeout(PATIENCE);
        let message = message.unwrap_or_else(|error| panic!("{waiting_for}: {error}; heard {:#?}", self.all));
        match message {
            Message::Response(response) => {
                let id = serde_json::to_value(&response.id).unwrap().as_i64().unwrap();
                self.answers.insert(i32::try_from(id).unwrap(), response);
            }
            Message::Notification(Notification { method, params }) => {
                self.all.push((method.clone(), params.clone()));
                self.unheard.push_back((method, params));
            }
            Message::Request(Request { id, method, params }) => {
                self.all.push((method.clone(), params.clone()));
                self.unheard.push_back((method, params));
                self.say(Response::new_ok(id, Value::Null).into());
            }
        }
    }
}

fn method_of_answer(id: i32) -> String {
    format!("the answer to request {id}")
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
