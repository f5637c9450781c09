//! The language server, through the real binary: an editor's side of the protocol, and real editors.
//!
//! - [`editor`]: an editor that says what it is told to say.
//! - [`emacs`], [`neovim`]: these, from a racy file to a mended one.
//! - [`vscode`]: the extension for VS Code compiles and packs, and its client talks to the server.
//! - [`soak`]: many random edits, after which it says what `check` says.

mod editor;
mod emacs;
mod neovim;
mod real;
mod soak;
mod vscode;

use crate::cli::Place;
use editor::{Editor, lines};
use serde_json::{Value, json};

const RACY: &str = "// ä 𝄞
__global__ void halves(float *y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void good(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() { halves<<<1, 64>>>(0); good<<<4, 64>>>(0); }
";

#[test]
fn a_race_is_told_and_gone_when_its_fix_is_applied() {
    let place = Place::with(&[("a.cu", "")]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", RACY);
    let told = editor.told("a.cu");
    assert_eq!(lines(&told), [(3, "data-race".to_owned())], "{told:#?}");
    let found = &told[0];
    assert_eq!(found["severity"], 1);
    assert_eq!(found["range"]["start"], json!({ "line": 3, "character": 2 }));
    assert_eq!(found["relatedInformation"][0]["location"]["range"]["start"]["line"], 4);
    assert!(found["message"].as_str().unwrap().contains("data race on tile"), "{found}");
    let page = found["codeDescription"]["href"].as_str().unwrap().strip_prefix("file://").unwrap();
    assert!(std::fs::read_to_string(page).unwrap().starts_with("# data-race"));
    let actions = editor.actions("a.cu", 3);
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles[0], "insert `__syncthreads();` before line 5");
    assert!(titles.contains(&"suppress data-race here, with a reason") && titles.contains(&"explain data-race"));
    editor.apply("a.cu", &actions[0]);
    assert!(editor.text("a.cu").contains("__syncthreads();"), "{}", editor.text("a.cu"));
    assert_eq!(lines(&editor.told("a.cu")), []);
    let back = editor.text("a.cu").find("  __syncthreads();").unwrap();
    editor.replace("a.cu", back..back + "  __syncthreads();".len(), "");
    assert_eq!(lines(&editor.told("a.cu")), [(3, "data-race".to_owned())]);
    editor.close("a.cu");
    assert_eq!(lines(&editor.told("a.cu")), []);
    editor.end();
}

#[test]
fn a_contract_is_stated_and_then_counts() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open(
        "a.cu",
        "__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x; }\nvoid f(int n) { k<<<n, 64>>>(0); }\n",
    );
    let told = editor.told("a.cu");
    let line = u32::try_from(told[0]["range"]["start"]["line"].as_u64().unwrap()).unwrap();
    let actions = editor.actions("a.cu", line);
    let state = actions.iter().find(|action| action["title"] == "state the contract of k: gridDim.x == 1");
    editor.apply("a.cu", &state.unwrap_or_else(|| panic!("{actions:#?}")).clone());
    let begin = "#include \"raceproof.h\"\n__global__ void k(int *x) {\n    RACEPROOF_REQUIRES(gridDim.x == 1);";
    assert!(editor.text("a.cu").starts_with(begin), "{}", editor.text("a.cu"));
    editor.end();
}

#[test]
fn a_finding_is_suppressed_by_the_comment_that_is_offered() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", RACY);
    assert_eq!(editor.told("a.cu").len(), 1);
    let actions = editor.actions("a.cu", 3);
    let suppress = actions.iter().find(|action| action["title"] == "suppress data-race here, with a reason").unwrap();
    editor.apply("a.cu", &suppress.clone());
    assert!(
        editor.text("a.cu").contains("  // raceproof: ignore[data-race] say why\n  tile["),
        "{}",
        editor.text("a.cu")
    );
    assert_eq!(lines(&editor.told("a.cu")), []);
    editor.end();
}

#[test]
fn settings_of_the_file_count_as_they_are_now() {
    let place = Place::with(&[("raceproof.toml", "ignore = [\"data-race\"]\n")]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", RACY);
    assert_eq!(lines(&editor.told("a.cu")), []);
    let written = |text: &str, editor: &mut Editor| {
        place.put("raceproof.toml", text.as_bytes());
        let changed = json!({ "changes": [{ "uri": editor.uri("raceproof.toml"), "type": 2 }] });
        editor.notify("workspace/didChangeWatchedFiles", changed);
    };
    written("", &mut editor);
    assert_eq!(lines(&editor.told("a.cu")), [(3, "data-race".to_owned())]);
    written("ignore = [\"data-rice\"]\n", &mut editor);
    let shown = editor.notified("window/showMessage");
    let message = shown["message"].as_str().unwrap();
    assert!(message.contains("raceproof.toml:1:") && message.contains("data-race"), "{message}");
    editor.end();
}

#[test]
fn an_explanation_is_opened_and_a_wrong_rule_is_refused() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({ "window": { "showDocument": { "support": true } } }));
    let explain = |rule: &str| json!({ "command": "raceproof.explain", "arguments": [rule] });
    editor.request("workspace/executeCommand", explain("data-race"));
    let asked = editor.asked_by_server("window/showDocument");
    assert!(asked["uri"].as_str().unwrap().ends_with("/data-race.md"), "{asked}");
    editor.request("workspace/executeCommand", explain("unknown"));
    let asked = editor.asked_by_server("window/showDocument");
    assert!(asked["uri"].as_str().unwrap().ends_with("/unknown.md"), "{asked}");
    let refused = editor.refused("workspace/executeCommand", explain("data-rice"));
    assert!(refused["message"].as_str().unwrap().contains("data-rice"), "{refused}");
    editor.end();
}

/// A session that is killed leaves nothing in the directory of temporary files, and the next one uses its pages.
#[test]
fn pages_of_rules_stay_where_they_are() {
    let place = Place::with(&[]);
    let temporary = tempfile::tempdir().unwrap();
    let href = || {
        let mut command = place.command(&["lsp", "--front", "tree-sitter", "--solver", "none"]);
        command.env("TMPDIR", temporary.path());
        let mut editor = Editor::at(&place, json!({}), command);
        editor.open("a.cu", RACY);
        let page = editor.told("a.cu")[0]["codeDescription"]["href"].as_str().unwrap().to_owned();
        editor.kill();
        page
    };
    let first = href();
    assert_eq!(href(), first);
    let page = std::path::Path::new(first.strip_prefix("file://").unwrap());
    assert!(std::fs::read_to_string(page).unwrap().starts_with("# data-race"));
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

/// A libclang that is named and cannot be loaded is told once, and texts are read all the same.
#[test]
fn a_library_that_is_named_in_vain_is_told() {
    let place = Place::with(&[("empty/.keep", ""), ("broken/libclang.so", "no library")]);
    for (named, told) in [("empty", "LIBCLANG_PATH names the directory empty"), ("broken", "broken/libclang.so: ")] {
        let mut command = place.command(&["lsp", "--solver", "none"]);
        command.env("LIBCLANG_PATH", named);
        let mut editor = Editor::at(&place, json!({}), command);
        let shown = editor.notified("window/showMessage");
        assert_eq!(shown["type"], 2, "a warning");
        assert!(shown["message"].as_str().unwrap().contains(told), "{shown}");
        editor.open("a.cu", RACY);
        assert_eq!(lines(&editor.told("a.cu")), [(3, "data-race".to_owned())]);
        assert_eq!(editor.heard("window/showMessage").len(), 1);
        editor.end();
    }
}

#[test]
fn hovers_say_what_is_known_of_accesses_barriers_and_kernels() {
    let text = "__global__ void k(const int *in, int *out, const int *at) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[at[threadIdx.x]] = tile[63 - threadIdx.x];
}
__global__ void twice(int *x, int n) {
  if (n > 4) x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
int main() { k<<<1, 64>>>(0, 0, 0); }
";
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", text);
    let mut says = |line: u32, character: u32, parts: &[&str]| {
        let hover = editor.hover("a.cu", line, character);
        let said = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
        parts.iter().for_each(|part| assert!(said.contains(part), "{line}:{character}: {part}: {said}"));
    };
    says(2, 3, &["**write to tile**, barrier interval 1", "exact", "k: "]);
    says(4, 2, &["**write to out**, barrier interval 2", "approximate: data-dependent index (at)"]);
    says(3, 5, &["**barrier** for threads of a block", "orders accesses to tile"]);
    says(8, 5, &["redundant"]);
    says(7, 14, &["**write to x**, barrier interval 1", "if `n > 4`"]);
    says(9, 2, &["read of x", "write to x"]);
    says(0, 17, &["**k**", "where it accesses memory is decided by"]);
    says(11, 13, &["**k**"]);
    assert_eq!(editor.hover("a.cu", 1, 0), Value::Null);
    editor.end();
}

#[test]
fn lenses_have_verdicts_and_hints_are_there_for_who_wants_them() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", RACY);
    let lenses = editor.of_text("textDocument/codeLens", "a.cu", json!({}));
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|it| it["command"]["title"].as_str().unwrap()).collect();
    assert!(titles[0].starts_with("racy") && titles[1].starts_with("race-free"), "{titles:?}");
    assert_eq!(lenses[1]["range"]["start"]["line"], 6);
    let command = json!({ "command": lenses[0]["command"]["command"], "arguments": lenses[0]["command"]["arguments"] });
    editor.request("workspace/executeCommand", command);
    let shown = editor.notified("window/showMessage");
    assert!(shown["message"].as_str().unwrap().starts_with("halves: racy"), "{shown}");
    let whole = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    assert_eq!(editor.of_text("textDocument/inlayHint", "a.cu", whole.clone()), json!([]), "off by default");
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "raceproof": { "inlayHints": { "intervals": true, "contracts": true }, "codeLens": false } } }),
    );
    editor.open(
        "b.cu",
        "__global__ void k(int *x) {\n  x[threadIdx.x] = 1;\n  __syncthreads();\n  x[threadIdx.x] = 2;\n}\n",
    );
    let hints = editor.of_text("textDocument/inlayHint", "b.cu", whole);
    let labels: Vec<&str> = hints.as_array().unwrap().iter().map(|hint| hint["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["requires gridDim.x == 1", "interval 2"]);
    assert_eq!(hints[1]["position"]["line"], 2);
    assert_eq!(editor.of_text("textDocument/codeLens", "b.cu", json!({})), json!([]));
    editor.end();
}

#[test]
fn an_editor_that_asks_is_not_told_and_hears_what_has_not_changed() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({ "textDocument": { "diagnostic": {} } }));
    editor.open("a.cu", RACY);
    let first = editor.of_text("textDocument/diagnostic", "a.cu", json!({}));
    assert_eq!((first["kind"].as_str(), first["items"].as_array().unwrap().len()), (Some("full"), 1));
    let again = editor.of_text("textDocument/diagnostic", "a.cu", json!({ "previousResultId": first["resultId"] }));
    assert_eq!((again["kind"].as_str(), &again["items"]), (Some("unchanged"), &Value::Null));
    editor.append("a.cu", "__global__ void other(int *x) { x[threadIdx.x / 2] = threadIdx.x; }\n");
    let changed = editor.of_text("textDocument/diagnostic", "a.cu", json!({ "previousResultId": first["resultId"] }));
    assert_eq!(changed["items"].as_array().unwrap().len(), 2);
    assert!(editor.unheard().iter().all(|(method, _)| method != "textDocument/publishDiagnostics"));
    editor.end();
}

#[test]
fn all_files_of_the_project_are_checked_in_the_background() {
    let files =
        [("one.cu", RACY), ("sub/two.cl", "__kernel void k(__global int *y) { y[get_global_id(0) / 2] = 1; }\n")];
    let place = Place::with(&files);
    let mut editor = Editor::of(&place, json!({ "window": { "workDoneProgress": true } }));
    assert_eq!(lines(&editor.told("one.cu")), [(3, "data-race".to_owned())]);
    assert_eq!(editor.told("sub/two.cl").len(), 1);
    let ways: Vec<String> = editor
        .heard("$/progress")
        .iter()
        .map(|said| said["value"]["kind"].as_str().unwrap().to_owned())
        .filter(|kind| kind != "report")
        .collect();
    assert_eq!(ways, ["begin", "end"]);
    // What is open counts, not what is saved.
    editor.open("one.cu", "__global__ void k(int *y) { y[threadIdx.x] = 1; }\n");
    assert_eq!(lines(&editor.told("one.cu")), []);
    place.put("sub/two.cl", b"__kernel void k(__global int *y) { y[get_global_id(0)] = 1; }\n");
    let changed = json!({ "changes": [{ "uri": editor.uri("sub/two.cl"), "type": 2 }] });
    editor.notify("workspace/didChangeWatchedFiles", changed);
    assert_eq!(lines(&editor.told("sub/two.cl")), []);
    editor.end();
}

#[test]
fn an_editor_that_asks_hears_of_the_project() {
    let place = Place::with(&[("one.cu", RACY), ("two.cu", "__global__ void k(int *y) { y[threadIdx.x] = 1; }\n")]);
    let mut editor = Editor::of(&place, json!({ "textDocument": { "diagnostic": {} } }));
    let said = editor.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let items = said["items"].as_array().unwrap();
    let of =
        |name: &str| items.iter().find(|item| item["uri"] == editor.uri(name)).unwrap()["items"].as_array().unwrap();
    assert_eq!((of("one.cu").len(), of("two.cu").len()), (1, 0), "{said}");
    editor.end();
}

#[test]
fn headers_count_as_they_are_written_not_as_they_are_saved() {
    let header = "#define DISTANCE 0\n";
    let place = Place::with(&[(".git/HEAD", ""), ("d.cuh", header)]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", "#include \"d.cuh\"\n__global__ void k(int *y) { if (threadIdx.x < 8 && blockIdx.x == 0) y[threadIdx.x] = y[threadIdx.x + DISTANCE]; }\n");
    assert_eq!(lines(&editor.told("a.cu")), []);
    editor.open("d.cuh", header);
    editor.replace("d.cuh", 17..18, "1");
    assert_eq!(lines(&editor.told("a.cu")), [(1, "warp-synchronous".to_owned())]);
    editor.close("d.cuh");
    assert_eq!(lines(&editor.told("a.cu")), []);
    editor.end();
}

#[test]
fn a_request_that_is_taken_back_is_answered_and_nonsense_costs_nothing() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    editor.open("a.cu", RACY);
    let refused = editor.refused("textDocument/nonsense", json!({}));
    assert_eq!(refused["code"], -32601);
    assert_eq!(editor.refused("textDocument/hover", json!({ "no": 1 }))["code"], -32602);
    editor.notify("textDocument/didChange", json!({ "text": 3 }));
    let id = editor.ask(
        "textDocument/hover",
        json!({
            "textDocument": { "uri": editor.uri("a.cu") }, "position": { "line": 3, "character": 3 },
        }),
    );
    editor.notify("$/cancelRequest", json!({ "id": id }));
    // Either it was answered before it was taken back, or it says that it was.
    let answer = editor.answer(id);
    assert!(answer.is_ok() || answer.unwrap_err()["code"] == -32800);
    assert_eq!(lines(&editor.told("a.cu")), [(3, "data-race".to_owned())]);
    editor.end();
}

#[test]
fn a_text_that_is_no_file_is_checked_by_its_language() {
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    let text = "__kernel void k(__global int *y) { y[get_global_id(0) / 2] = 1; }\n";
    editor.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "untitled:Untitled-1", "languageId": "opencl", "version": 1, "text": text } }),
    );
    let told = editor.notified("textDocument/publishDiagnostics");
    assert_eq!(told["uri"], "untitled:Untitled-1");
    assert_eq!(told["diagnostics"].as_array().unwrap().len(), 1, "{told}");
    editor.end();
}
