//! Programs of several fixtures in one, so that the compiler meets what they share once.
//!
//! Most of what compiling a fixture takes goes into the functions of the runtime that it uses. Here each text stands in a
//! namespace of its own, behind the headers of all, and the first argument of the program says whose `main` runs. A text
//! for which that is another program than it is alone has none of this: [`section`] refuses what it does not know, and
//! [`blamed`] finds those that a compiler refuses here; they are compiled by themselves.
//!
//! What a text registers before `main` is registered when it is its turn, so that a log is that of the text alone.

use std::collections::BTreeSet;
use std::fmt::Write;

/// What a text becomes among others.
pub(super) struct Section {
    body: String,
    /// The headers that it includes, as it names them.
    headers: BTreeSet<String>,
    /// The macros that it leaves defined.
    macros: BTreeSet<String>,
}

/// What one text begins with.
const RUNTIME: &str = "#include \"raceproof.hpp\"\n";
const MAIN: &str = "\nint main(";
/// What registers something before `main`, by its class.
const REGISTERED: [&str; 2] = ["sites", "symbol"];

/// What stands before the sections: a list of what each registers.
const FRAME: &str = "#include <functional>
#include <vector>
static std::vector<std::function<void()>>& raceproof_waiting(int section) {
  static std::vector<std::function<void()>> waiting[64];
  return waiting[section];
}
struct raceproof_later {
  raceproof_later(int section, std::function<void()> registers) { raceproof_waiting(section).push_back(registers); }
};
";

/// Sections of one program.
pub(super) const SECTIONS: usize = 12;

/// A text as a section, if it can be one.
pub(super) fn section(unit: &str) -> Option<Section> {
    let text = unit.strip_prefix(RUNTIME)?;
    let (before, main) = text.split_once(MAIN)?;
    let (main, after) = main.split_once("\n}")?;
    // What an assembler refuses cannot be told apart by its messages.
    let is_assembly = ["asm(", "asm (", "asm volatile"].iter().any(|start| before.contains(start));
    if is_assembly || after.contains(MAIN) {
        return None;
    }
    let mut body = format!("{before}\nint raceproof_main({}\nreturn 0;\n}}{after}", within_section(main));
    for class in REGISTERED {
        body = postponed(&body, class)?;
    }
    let directives = |name: &str| {
        let lines = body.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
        let named = lines.filter_map(|line| line.trim_start().strip_prefix(name).map(str::trim_start));
        named.map(str::to_owned).collect::<Vec<String>>()
    };
    let headers: BTreeSet<String> = directives("include").into_iter().collect();
    let is_identifier = |c: char| c.is_alphanumeric() || c == '_';
    let name = |line: String| line.split(|c| !is_identifier(c)).next().unwrap_or("").to_owned();
    let macros: BTreeSet<String> = directives("define").into_iter().map(name).collect();
    // A header beside the text may be another one for another text.
    headers.iter().all(|header| header.starts_with('<')).then_some(Section { body, headers, macros })
}

/// A `main` that calls kernels by their names from the outermost namespace, which is the section's here.
fn within_section(main: &str) -> String {
    let mut pieces = main.split("::");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_outermost = !text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>');
        let is_of_all = ["raceproof", "std"].iter().any(|name| piece.starts_with(name));
        text.push_str(if is_outermost && !is_of_all { "RACEPROOF_SECTION::" } else { "::" });
        text.push_str(piece);
    }
    text
}

/// The text with each object of a class that registers something made when it is the turn of its section.
fn postponed(text: &str, class: &str) -> Option<String> {
    let start = format!("static ::raceproof::{class} ");
    let mut pieces = text.split(&start);
    let mut postponed = pieces.next()?.to_owned();
    for piece in pieces {
        let end = if class == "sites" { ")raceproof\");" } else { ");" };
        let (object, rest) = piece.split_once(end)?;
        let (name, arguments) = object.split_once('(')?;
        let _ = write!(
            postponed,
            "static ::raceproof_later {name}(raceproof_section, [] {{ {start}registered({arguments}{end} }});{rest}"
        );
    }
    Some(postponed)
}

/// One text of several; where it is `marked`, a compiler's messages name the section.
pub(super) fn joined(sections: &[&Section], is_marked: bool) -> String {
    let mut text = RUNTIME.to_owned();
    let headers: BTreeSet<&String> = sections.iter().flat_map(|section| &section.headers).collect();
    headers.into_iter().for_each(|header| text.extend(["#include ", header, "\n"]));
    text.push_str(FRAME);
    for (number, section) in sections.iter().enumerate() {
        let name = format!("raceproof_section_{number}");
        let mut body = section.body.replace("RACEPROOF_SECTION::", &format!("::{name}::"));
        if is_marked {
            body = body.replace("#line 1 \"", &format!("#line 1 \"{name}/"));
        }
        let _ = writeln!(text, "namespace {name} {{\nenum {{ raceproof_section = {number} }};\n{body}\n}}");
        section.macros.iter().for_each(|name| text.extend(["#undef ", name, "\n"]));
    }
    text.push_str("int main(int count, char** arguments) {\n  int section = atoi(arguments[1]);\n");
    text.push_str("  for (auto& registers : raceproof_waiting(section)) registers();\n  switch (section) {\n");
    for (number, section) in sections.iter().enumerate() {
        let given = if section.body.contains("\nint raceproof_main()") { "" } else { "count - 1, arguments + 1" };
        let _ = writeln!(text, "  case {number}: return raceproof_section_{number}::raceproof_main({given});");
    }
    text.push_str("  }\n}\n");
    text
}

/// The sections in which a compiler or a linker found an error, by the messages about the text, and about it as marked.
pub(super) fn blamed(messages: &str) -> BTreeSet<usize> {
    let is_error = |line: &&str| ["error:", "undefined reference"].iter().any(|error| line.contains(error));
    let number = |line: &str| line.split_once("raceproof_section_")?.1.split(['/', ':']).next()?.parse().ok();
    messages.lines().filter(is_error).filter_map(number).collect()
}
