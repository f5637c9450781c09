//! Many random edits, with questions between them of which some are taken back: the server stays, its memory stays, and once it
//! rests it says what `check` says.

use super::editor::{Editor, lines};
use crate::cli::Place;
use crate::support::dice::Dice;
use crate::support::draw::seed;
use crate::support::tier::tiers;
use serde_json::{Value, json};

/// Kernels that edits make others of.
const TEXT: &str = "#define N 64
__global__ void halves(float *y, int n) {
  __shared__ float tile[N];
  tile[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < n; i++) {
    if (threadIdx.x < 32) {
      y[threadIdx.x] += tile[63 - threadIdx.x];
    }
    __syncthreads();
  }
}
__global__ void each(int *y, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = at[i];
}
__global__ void sum(const int *x, int *all, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(all, x[i]);
}
int main() {
  halves<<<1, 64>>>(0, 4);
  each<<<4, 64>>>(0, 0, 256);
  sum<<<4, 64>>>(0, 0, 256);
}
";

/// What is typed.
const PIECES: [&str; 18] = [
    "__syncthreads();\n",
    "threadIdx.x",
    " / 2",
    " + 1",
    "{",
    "}",
    "(",
    ";",
    "\n",
    "\r\n",
    "if (n > 3) ",
    "/* ä𝄞 */",
    "// raceproof\n",
    "\"",
    "#define N 32\n",
    "y[threadIdx.x] = 1;\n",
    "__global__ void more(int *x) { x[threadIdx.x] = x[0]; }\n",
    "#include \"none.cuh\"\n",
];

#[test]
fn after_many_edits_the_server_says_what_check_says() {
    let edits: usize = tiers(100, 600, 10_000).current();
    let place = Place::with(&[]);
    let mut editor = Editor::of(&place, json!({}));
    let mut dice = Dice(seed());
    editor.open("a.cu", TEXT);
    let mut rests = Vec::new();
    for number in 1..=edits {
        edit(&mut editor, &mut dice);
        match dice.below(20) {
            0 => {
                let id = editor.ask(
                    "textDocument/hover",
                    json!({
                        "textDocument": { "uri": editor.uri("a.cu") },
                        "position": { "line": dice.below(30), "character": dice.below(40) },
                    }),
                );
                if dice.chance(50) {
                    editor.notify("$/cancelRequest", json!({ "id": id }));
                }
                let _ = editor.answer(id);
            }
            1 => _ = editor.actions("a.cu", u32::try_from(dice.below(30)).unwrap()),
            2 => _ = editor.newest("a.cu"),
            _ => {}
        }
        // Texts that are only damaged would say little.
        if dice.chance(3) || number == edits {
            let end = editor.text("a.cu").len();
            editor.replace("a.cu", 0..end, TEXT);
            for _ in 0..dice.below(4) {
                edit(&mut editor, &mut dice);
            }
        }
        if number % (edits / 10) == 0 {
            same_as_check(&place, &mut editor, number);
            #[cfg(target_os = "linux")]
            rests.push(editor.memory());
        }
    }
    if let ([first, second, ..], Some(last)) = (rests.as_slice(), rests.last()) {
        let most = first.max(second) + (first.max(second) / 2) + (64 << 20);
        assert!(*last < most, "memory grows: {rests:?}");
    }
    editor.end();
}

fn edit(editor: &mut Editor, dice: &mut Dice) {
    let text = editor.text("a.cu");
    // No editor has a place within what ends a line.
    let is_place =
        |at: &usize| text.is_char_boundary(*at) && !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n'));
    let places: Vec<usize> = (0..=text.len()).filter(is_place).collect();
    let from = dice.below(places.len() as u64) as usize;
    let length = if dice.chance(40) { dice.below(12) as usize } else { 0 };
    let to = places[(from + length).min(places.len() - 1)];
    let new = if dice.chance(60) { dice.pick(&PIECES) } else { "" };
    let from = places[from];
    editor.replace("a.cu", from..to, new);
}

fn same_as_check(place: &Place, editor: &mut Editor, number: usize) {
    let is_told = |found: &Value| found["severity"].as_u64() < Some(3) || found["code"] == "unknown";
    let told: Vec<Value> = editor.newest("a.cu").into_iter().filter(is_told).collect();
    let mut told = lines(&told);
    let text = editor.text("a.cu").to_owned();
    place.put("a.cu", text.as_bytes());
    let path = place.path().canonicalize().unwrap().join("a.cu");
    let path = path.to_string_lossy();
    let seen = place.run(&["check", "--front", "tree-sitter", "--solver", "none", "--format", "gcc", &path]);
    // A note is the second line of a finding, but for what is not decided.
    let is_said = |line: &&str| !line.contains(": note: ") || line.ends_with("[unknown]");
    let entry = |line: &str| {
        let (said, code) = line.strip_prefix(&*path)?.rsplit_once(" [")?;
        let at: u64 = said.split(':').nth(1)?.parse().ok()?;
        Some((at - 1, code.trim_end_matches(']').to_owned()))
    };
    let mut said: Vec<(u64, String)> = seen.out.lines().filter(is_said).filter_map(entry).collect();
    // `check` counts lines behind line feeds.
    if text.replace("\r\n", "").contains('\r') {
        return;
    }
    told.sort();
    said.sort();
    assert_eq!(told, said, "after {number} edits:\n{text}\n{}", seen.out);
}
