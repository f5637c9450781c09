//! Launches of OpenCL kernels: `clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, …)` in the host code beside
//! them.
//!
//! Host code of OpenCL is no unit together with its kernels, which it names by strings. It is read as tokens
//! ([`HostText`]): the kernel is the one that `clCreateKernel` gives the object that is enqueued, a size is the number
//! that the array or variable holds at the call.
//!
//! Guarantees: a size is known only if every way to the call gives the variable that one number: by an assignment that
//! stands before the call in the same block or one around it and under no condition, that nothing between the two undoes.
//! An array that anything else than such a call takes the address of has unknown sizes. A kernel object that may be one
//! or another, or that comes from elsewhere, counts as a launch of each that it may be, of unknown size.
//!
//! Deliberately absent: the bindings of C++ (`cl::CommandQueue`), arguments (`clSetKernelArg`), sizes that are computed from
//! what the program reads.

use crate::builtins::launches::{CREATION, ENQUEUEING};
use crate::preprocess::TokenKind;
use crate::preprocess::host_text::HostText;
use crate::source::headers::ProjectHeaders;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A call that launches a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// The name of the kernel.
    pub kernel: String,
    /// Work-items of a work-group, as far as they are known.
    pub block: [Option<u64>; 3],
    /// Work-groups, likewise.
    pub grid: [Option<u64>; 3],
    /// The bytes of the call in the text.
    pub place: Range<usize>,
}

/// The launches in the host code at `path` with that `text`, in its order.
pub fn enqueued(path: &Path, text: &str, headers: &Arc<ProjectHeaders>) -> Vec<Enqueued> {
    // Nearly no host code launches anything; it need not be preprocessed.
    if !text.contains(ENQUEUEING) {
        return Vec::new();
    }
    let host = HostText::read(path, text, headers);
    let reader = Reader { blocks: Blocks::of(&host), objects: objects(&host), host: &host };
    let calls = (0..host.len()).filter(|&at| host.text(at) == ENQUEUEING && host.text(at + 1) == "(");
    calls.flat_map(|at| reader.launches(at)).collect()
}

/// A kernel object that `clCreateKernel` makes.
struct Object {
    /// What it is assigned to, as written.
    holder: String,
    /// The name of the kernel; `None`: it is computed.
    kernel: Option<String>,
    /// Where it is made.
    at: usize,
}

fn objects(host: &HostText) -> Vec<Object> {
    let is_call = |&at: &usize| host.text(at) == CREATION && host.text(at + 1) == "(";
    let object = |at| {
        let name = host.arguments(at + 1).into_iter().nth(1)?;
        Some(Object { holder: holder(host, at)?, kernel: string(host, name), at })
    };
    (0..host.len()).filter(is_call).filter_map(object).collect()
}

/// What the value of the expression that starts at `at` is assigned to.
fn holder(host: &HostText, at: usize) -> Option<String> {
    let mut end = at;
    if host.text(end - 1) == ")" && host.text(end.checked_sub(3)?) == "(" {
        end -= 3;
    }
    let end = end.checked_sub(1).filter(|&it| host.text(it) == "=")?;
    let mut start = end;
    while start > 0 {
        let is_part = match host.text(start - 1) {
            "." | "->" | "[" | "]" | "this" => true,
            // A type before a name is no part of it.
            _ if host.is(start - 1, TokenKind::Identifier) => start == end || !host.is(start, TokenKind::Identifier),
            _ => host.is(start - 1, TokenKind::Number),
        };
        if !is_part {
            break;
        }
        start -= 1;
    }
    (start < end).then(|| written(host, start..end))
}

/// The tokens of a range as one word, without `this->`.
fn written(host: &HostText, range: Range<usize>) -> String {
    let joined: String = range.map(|at| host.text(at)).collect();
    joined.strip_prefix("this->").map(str::to_owned).unwrap_or(joined)
}

/// The string that an argument is: a literal, or a variable that the file gives one literal.
fn string(host: &HostText, range: Range<usize>) -> Option<String> {
    if host.is(range.start, TokenKind::String) {
        let (text, end) = host.joined(range.start);
        return (end == range.end).then_some(text);
    }
    let name = host.text(range.start);
    if range.len() != 1 || !host.is(range.start, TokenKind::Identifier) {
        return None;
    }
    let mut found = BTreeSet::new();
    for at in (0..host.len()).filter(|&at| host.text(at) == name) {
        let mut next = at + 1;
        if host.text(next) == "[" && host.text(next + 1) == "]" {
            next += 2;
        }
        if host.text(next) == "=" {
            let (text, _) = host.joined(next + 1);
            found.insert((!text.is_empty()).then_some(text));
        }
    }
    let first = found.pop_first()?;
    first.filter(|_| found.is_empty())
}

/// The blocks of the text: which brace each token stands in.
struct Blocks {
    /// The brace around each token.
    innermost: Vec<Option<usize>>,
    /// Where the block of a brace ends, by the brace.
    ends: Vec<usize>,
}

impl Blocks {
    fn of(host: &HostText) -> Blocks {
        let mut blocks = Blocks { innermost: Vec::with_capacity(host.len()), ends: vec![host.len(); host.len()] };
        let mut open: Vec<usize> = Vec::new();
        for at in 0..host.len() {
            if host.text(at) == "}" {
                open.pop().into_iter().for_each(|brace| blocks.ends[brace] = at);
            }
            blocks.innermost.push(open.last().copied());
            if host.text(at) == "{" {
                open.push(at);
            }
        }
        blocks
    }

    /// The braces around a token, the innermost first.
    fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.innermost[at], |&brace| self.innermost[brace])
    }

    /// The body of the function around a token: the outermost brace that follows a list of parameters.
    fn function(&self, host: &HostText, at: usize) -> Option<Range<usize>> {
        let is_body =
            |&brace: &usize| brace > 0 && matches!(host.text(brace - 1), ")" | "const" | "noexcept" | "override");
        let body = self.around(at).filter(is_body).last()?;
        Some(body..self.ends[body])
    }
}

/// Whether a call launches the kernels that are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// It launches the one.
    Certain,
    /// It may launch any of them.
    Possible,
}

/// A place where a variable may get a value.
struct Event {
    at: usize,
    /// Which element: `None` for one that is not known.
    element: Option<usize>,
    /// What it gets; `None` for anything.
    value: Option<i64>,
    /// Whether it happens whenever its block is run.
    is_certain: bool,
}

struct Reader<'h> {
    host: &'h HostText,
    blocks: Blocks,
    objects: Vec<Object>,
}

impl Reader<'_> {
    /// What the call at `at` launches.
    fn launches(&self, at: usize) -> Vec<Enqueued> {
        let arguments = self.host.arguments(at + 1);
        let [_, kernel, dimensions, _, global, local, ..] = arguments.as_slice() else { return Vec::new() };
        let Some(place) = self.host.place(at) else { return Vec::new() };
        let (kernels, certainty) = self.kernels(at, &written(self.host, kernel.clone()));
        let mut sizes = [[None; 3]; 2];
        let dimensions = self.host.number(dimensions.clone()).and_then(|number| usize::try_from(number).ok());
        if let (Some(dimensions @ 1..=3), Certainty::Certain) = (dimensions, certainty) {
            sizes = [local, global].map(|argument| self.sizes(at, argument.clone(), dimensions));
        }
        let [block, global] = sizes;
        let groups = |axis: usize| {
            let (global, local) = (global[axis]?, block[axis]?);
            (local > 0 && global % local == 0).then(|| global / local)
        };
        let grid = [0, 1, 2].map(groups);
        let launch = |kernel: &String| Enqueued { kernel: kernel.clone(), block, grid, place: place.clone() };
        kernels.iter().map(launch).collect()
    }

    /// The kernels that the object may be that is written so at `at`.
    fn kernels(&self, at: usize, object: &str) -> (Vec<String>, Certainty) {
        let body = self.blocks.function(self.host, at);
        let is_near = |it: &&&Object| body.as_ref().is_some_and(|body| body.contains(&it.at));
        let all: Vec<&Object> = self.objects.iter().filter(|it| it.holder == object).collect();
        let near: Vec<&Object> = all.iter().filter(is_near).copied().collect();
        let chosen = if near.is_empty() { all } else { near };
        // An object that comes from elsewhere, or whose name is computed, may be any kernel that the file makes.
        let is_known = !chosen.is_empty() && chosen.iter().all(|it| it.kernel.is_some());
        let chosen = if is_known { chosen } else { self.objects.iter().collect() };
        let names: BTreeSet<&String> = chosen.iter().filter_map(|it| it.kernel.as_ref()).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let certainty = if is_known && names.len() == 1 { Certainty::Certain } else { Certainty::Possible };
        (names, certainty)
    }

    /// The sizes that an argument of the call at `at` holds; those of further dimensions are 1.
    fn sizes(&self, at: usize, argument: Range<usize>, dimensions: usize) -> [Option<u64>; 3] {
        let mut sizes = [Some(1); 3];
        let name = self.addressed_variable(argument);
        for (axis, size) in sizes.iter_mut().enumerate().take(dimensions) {
            let held = name.as_deref().and_then(|name| self.held(at, name, axis));
            *size = held.and_then(|number| u64::try_from(number).ok()).filter(|&number| number > 0);
        }
        sizes
    }

    /// The variable whose address an argument is.
    fn addressed_variable(&self, argument: Range<usize>) -> Option<String> {
        let words: Vec<&str> = argument.map(|at| self.host.text(at)).collect();
        let name = match words.as_slice() {
            [name] | ["&", name] | ["&", name, "[", "0", "]"] => name,
            ["(", _, "*", ")", rest @ ..] | ["(", "const", _, "*", ")", rest @ ..] => match rest {
                [name] | ["&", name] => name,
                _ => return None,
            },
            _ => return None,
        };
        (!matches!(*name, "NULL" | "nullptr" | "0")).then(|| (*name).to_owned())
    }

    /// What element `axis` of a variable holds at the call at `at`.
    fn held(&self, at: usize, name: &str, axis: usize) -> Option<i64> {
        let body = self.blocks.function(self.host, at)?;
        if self.is_parameter(&body, name) {
            return None;
        }
        let events = self.events(body.clone(), name)?;
        let events: Vec<Event> = events.into_iter().filter(|it| it.element.is_none_or(|it| it == axis)).collect();
        if events.is_empty() {
            return self.held_by_file(name, axis);
        }
        let around: Vec<Option<usize>> = self.blocks.around(at).map(Some).collect();
        let dominates = |it: &&Event| it.is_certain && it.at < at && around.contains(&self.blocks.innermost[it.at]);
        let last = events.iter().rfind(dominates)?;
        let value = last.value?;
        // The block around the call that may be run again after the last certain value was given.
        let again = around.iter().position(|&block| block == self.blocks.innermost[last.at])?;
        let again = again.checked_sub(1).and_then(|inner| around[inner]).map(|brace| brace..self.blocks.ends[brace]);
        let matters = |it: &&Event| {
            let is_between = it.at > last.at && it.at < at;
            is_between || again.as_ref().is_some_and(|block| block.contains(&it.at))
        };
        let is_word =
            |range: Range<usize>, words: &[&str]| range.into_iter().any(|it| words.contains(&self.host.text(it)));
        let has_jumps = is_word(body, &["goto"]) || is_word(last.at..at, &["case", "default"]);
        let agree = events.iter().filter(matters).all(|it| it.value == Some(value));
        (agree && !has_jumps).then_some(value)
    }

    /// What a variable of the file holds whose function gives it nothing. Other files do not reach it.
    fn held_by_file(&self, name: &str, axis: usize) -> Option<i64> {
        let host = self.host;
        let named = || (0..host.len()).filter(|&at| host.text(at) == name);
        let declared = named().find(|&at| self.blocks.function(host, at).is_none())?;
        let statement = (0..declared).rev().take_while(|&it| !matches!(host.text(it), ";" | "{" | "}"));
        let is_own = statement.into_iter().any(|it| matches!(host.text(it), "static" | "const" | "constexpr"));
        let is_member = |at: usize| at > 0 && matches!(host.text(at - 1), "." | "->");
        if !is_own || named().any(is_member) {
            return None;
        }
        let events = self.events(0..host.len(), name)?;
        let mut values = events.iter().filter(|it| it.element.is_none_or(|it| it == axis)).map(|it| it.value);
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }

    /// Whether the function with that body has a parameter of the name.
    fn is_parameter(&self, body: &Range<usize>, name: &str) -> bool {
        let before = (0..body.start).rev().take_while(|&it| !matches!(self.host.text(it), ";" | "{" | "}"));
        before.into_iter().any(|it| self.host.text(it) == name)
    }

    /// Where a variable gets values in a range; `None` if it may get them elsewhere, too, through its address.
    fn events(&self, range: Range<usize>, name: &str) -> Option<Vec<Event>> {
        let host = self.host;
        let mut found = Vec::new();
        let (mut is_array, mut is_copied) = (false, false);
        for at in range.filter(|&at| host.text(at) == name) {
            let before = if at > 0 { host.text(at - 1) } else { "" };
            if matches!(before, "." | "->") {
                continue;
            }
            let is_certain = self.is_certain(at);
            let (element, next) = match host.text(at + 1) {
                "[" => (self.element(at + 1), host.end_of_argument(at + 2) + 1),
                _ => (Some(0), at + 1),
            };
            let is_plain = next == at + 1;
            is_array |= !is_plain;
            if before == "=" && at > 2 && host.text(at - 3) == "&" {
                return None;
            }
            is_copied |= is_plain && matches!(before, "=" | "return");
            match host.text(next) {
                "=" if host.text(next + 1) == "{" => {
                    let values = host.arguments(next + 1);
                    found.extend((0..3).map(|axis| {
                        let value = values.get(axis).and_then(|value| host.number(value.clone()));
                        Event { at, element: Some(axis), value, is_certain }
                    }));
                }
                "=" => {
                    // One of the elements gets it, and it is not known which.
                    let number = || host.number(next + 1..host.end_of_argument(next + 1));
                    let value = element.and_then(|_| number());
                    found.push(Event { at, element, value, is_certain: is_certain && element.is_some() });
                }
                "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "|=" | "&=" | "^=" | "++" | "--" => {
                    found.push(Event { at, element, value: None, is_certain: false });
                }
                _ if matches!(before, "++" | "--" | ">>") => {
                    found.push(Event { at, element, value: None, is_certain: false });
                }
                "," | ")" if is_plain && matches!(before, "(" | "," | "&") && !self.is_read_only(at) => return None,
                _ if before == "&" && !self.is_read_only(at) => return None,
                _ => {}
            }
        }
        // What the name of an array is given to has its address.
        (!is_array || !is_copied).then_some(found)
    }

    /// The number between the brackets at `open`.
    fn element(&self, open: usize) -> Option<usize> {
        usize::try_from(self.host.number(open + 1..self.host.end_of_argument(open + 1))?).ok()
    }

    /// Whether the name at `at` is an argument of a call that changes nothing.
    fn is_read_only(&self, at: usize) -> bool {
        self.host
            .callee(at)
            .is_some_and(|callee| callee == ENQUEUEING || callee == "sizeof" || callee.ends_with("printf"))
    }

    /// Whether the statement of the name at `at` is run whenever its block is.
    fn is_certain(&self, at: usize) -> bool {
        let start =
            (0..at).rev().find(|&it| matches!(self.host.text(it), ";" | "{" | "}" | ")" | ":" | "else" | "do" | "?"));
        start.is_none_or(|it| matches!(self.host.text(it), ";" | "{" | "}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The launches of a program whose function `run` has these statements.
    fn launches(statements: &str) -> Vec<String> {
        let text = format!(
            "#define TILE 16\nstatic size_t always[2] = {{8, 4}};\n\
             void run(cl_command_queue q, cl_program p, size_t *given) {{\n\
             cl_kernel k = clCreateKernel(p, \"blur\", 0);\nsize_t g[2] = {{64, 32}};\n{statements}\n}}\n"
        );
        let found = enqueued(Path::new("host.c"), &text, &Arc::new(ProjectHeaders::new(&[])));
        let sizes =
            |sizes: [Option<u64>; 3]| sizes.map(|size| size.map_or("?".to_owned(), |size| size.to_string())).join(",");
        found.iter().map(|it| format!("{} {} / {}", it.kernel, sizes(it.grid), sizes(it.block))).collect()
    }

    const LAUNCH: &str = "clEnqueueNDRangeKernel(q, k, 2, NULL, g, l, 0, 0, 0);";

    #[test]
    fn sizes_are_what_the_arrays_hold_at_the_call() {
        let known = ["blur 4,2,1 / 16,16,1"];
        assert_eq!(launches(&format!("size_t l[2] = {{TILE, TILE}}; {LAUNCH}")), known);
        assert_eq!(launches(&format!("size_t l[3]; l[0] = l[1] = 1; l[0] = TILE; l[1] = 2 * 8; {LAUNCH}")), known);
        assert_eq!(
            launches(&format!("size_t l[2] = {{n, 1}}; while (f()) {{ l[0] = 16; l[1] = 16; {LAUNCH} }}")),
            known
        );
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; for (;;) {{ if (f()) {LAUNCH} }}")), known);
        let one = "size_t l = 32, m = 64; clEnqueueNDRangeKernel(q, k, 1, NULL, &m, &l, 0, 0, 0);";
        assert_eq!(launches(one), ["blur 2,1,1 / 32,1,1"]);
        let of_file = "clEnqueueNDRangeKernel(q, k, 2, NULL, g, always, 0, 0, 0);";
        assert_eq!(launches(of_file), ["blur 8,8,1 / 8,4,1"]);
    }

    #[test]
    fn sizes_that_may_be_something_else_are_not_known() {
        let half = ["blur ?,2,1 / ?,16,1"];
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; if (f()) l[0] = 8; {LAUNCH}")), half);
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; for (;;) {{ {LAUNCH} l[0] /= 2; }}")), half);
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; for (;;) {{ {LAUNCH} l[0] = 8; }}")), half);
        let unknown = ["blur ?,?,1 / ?,?,1"];
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; tune(l); {LAUNCH}")), unknown);
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; l[i] = 8; {LAUNCH}")), unknown);
        assert_eq!(launches(&format!("size_t l[2] = {{16, 16}}; size_t *m = l; {LAUNCH}")), unknown);
        assert_eq!(launches(&format!("switch (f()) {{ case 1: l[0] = 8; {LAUNCH} }}")), unknown);
        assert_eq!(launches("clEnqueueNDRangeKernel(q, k, 2, NULL, g, given, 0, 0, 0);"), unknown);
        assert_eq!(launches("clEnqueueNDRangeKernel(q, k, 2, NULL, g, NULL, 0, 0, 0);"), unknown);
    }

    #[test]
    fn a_kernel_object_that_may_be_either_launches_both_with_unknown_sizes() {
        let text = format!("size_t l[2] = {{16, 16}}; if (f()) k = clCreateKernel(p, \"sharpen\", 0); {LAUNCH}");
        assert_eq!(launches(&text), ["blur ?,?,? / ?,?,?", "sharpen ?,?,? / ?,?,?"]);
        let elsewhere = "size_t l[2] = {16, 16}; clEnqueueNDRangeKernel(q, other, 2, NULL, g, l, 0, 0, 0);";
        assert_eq!(launches(elsewhere), ["blur ?,?,? / ?,?,?"]);
        let named = "const char *name = \"edges\"; s->k[1] = clCreateKernel(p, name, 0);\n\
                     clEnqueueNDRangeKernel(q, s->k[1], 1, NULL, g, always, 0, 0, 0);";
        assert_eq!(launches(named), ["edges 8,1,1 / 8,1,1"]);
    }
}
