//! OpenCL C whose work-groups and work-items take the ids that they are given: which order of them a run has is then raceproof's
//! business, whatever order the driver takes (`runtime/opencl/orders.cl`).
//!
//! A kernel gets one more parameter and begins with what its ids are, functions hand their work-item on ([`super::functions`]), and the
//! functions of OpenCL that give ids are macros. No statement of the user's is changed.
//!
//! Guarantees: an id that is asked for in a way that those macros do not see is refused, never the driver's.
//!
//! Deliberately absent: sub-groups, whose work-items are where the driver has them. That a text asks for them is told
//! ([`super::Shared::placed`]); the work-items of its groups should keep their places then.

use super::Translator;
use crate::builtins::functions::{function, is_about_places, is_enqueueing};
use crate::builtins::{Builtin, WorkItem};
use crate::instrument::InstrumentError;
use crate::source::{Language, Span};
use crate::syntax::Item;

/// The parameter of a kernel that its ids come in.
pub(super) const PARAMETER: &str = "__global uint *raceproof_orders";

/// What a kernel begins with.
pub(super) const BEGINNING: &str = " __local uint raceproof_drawn; raceproof_item raceproof_me; \
                                    __private raceproof_item *raceproof_self = &raceproof_me; \
                                    raceproof_begin(raceproof_self, raceproof_orders, &raceproof_drawn);";

/// Whether a function gives ids: it is a macro before the user's text.
fn is_id(name: &str) -> bool {
    use WorkItem::{GlobalId, GlobalLinearId, GroupId, LocalId, LocalLinearId};
    let meaning = function(Language::OpenCl, name).map(|meaning| meaning.builtin);
    matches!(meaning, Some(Builtin::WorkItem(GlobalId | GroupId | LocalId | GlobalLinearId | LocalLinearId)))
}

/// Hands the work-item on in the calls of a function's body.
pub(super) fn hand_on(translator: &mut Translator<'_>, item: &Item) {
    let tokens = translator.tokens;
    let body = tokens.range(item.span).and_then(|range| {
        let close = range.end - 1;
        Some(tokens.partner(close).filter(|_| tokens.text(close) == "}")?..close)
    });
    let Some(body) = body else {
        return translator.refuse(item.span, "a function whose body cannot be found");
    };
    for at in body {
        let name = tokens.text(at);
        let is_member = matches!(tokens.text(at.saturating_sub(1)), "." | "->");
        let Some(&known) = translator.functions.get(name).filter(|_| tokens.text(at + 1) == "(" && !is_member) else {
            continue;
        };
        if known.is_kernel {
            translator.refuse(item.span, format!("a call of the kernel `{name}`"));
        } else if known.has_body && tokens.text(at + 2) == ")" {
            translator.edits.before(at + 2, "raceproof_self");
        } else if known.has_body {
            translator.edits.after(at + 1, "raceproof_self, ");
        }
    }
}

/// Looks for what takes ids elsewhere, and for what depends on places.
pub(super) fn look_for_ids(translator: &mut Translator<'_>) {
    let tokens = translator.tokens;
    for at in 0..tokens.len() {
        let name = tokens.text(at);
        if is_id(name) && tokens.text(at + 1) != "(" {
            refuse_at(translator, tokens.span(at), format!("`{name}` in another way than by a call"));
        } else if is_enqueueing(name) {
            refuse_at(translator, tokens.span(at), "a kernel that enqueues kernels");
        } else if is_about_places(name) && translator.shared.placed.is_none() {
            translator.shared.placed = Some(name.to_owned());
        }
    }
    for (file, of_file) in tokens.sources().files() {
        if let Some(name) = defined_anew(&of_file.text) {
            refuse_at(translator, Some(Span::new(file, 0, 0)), format!("a macro by the name of `{name}`"));
        }
    }
}

/// Gives the unit up for something at a place of the text.
fn refuse_at(translator: &mut Translator<'_>, span: Option<Span>, what: impl Into<String>) {
    let Some(span) = span.filter(|_| translator.error.is_none()) else { return };
    let sources = translator.tokens.sources();
    let path = sources.file(sources.visible(span).file).path.display().to_string();
    let line = sources.start_position(span).line;
    translator.error = Some(InstrumentError::Unsupported { path, line, what: what.into() });
}

/// An id that a text defines a macro for.
fn defined_anew(text: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().find_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = directive.strip_prefix("define").or_else(|| directive.strip_prefix("undef"))?;
        rest.trim_start().split(|c| !is_of_name(c)).next().filter(|name| is_id(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_that_take_the_names_of_ids_are_found() {
        assert_eq!(defined_anew("int x;\n  # define get_global_id(d) 0\n"), Some("get_global_id"));
        assert_eq!(defined_anew("#undef get_local_id\n"), Some("get_local_id"));
        assert_eq!(defined_anew("#define GID get_global_id(0)\n#define get_global_id_of(x) x\n"), None);
    }
}
