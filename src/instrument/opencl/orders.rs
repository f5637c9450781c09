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
use crate::instrument::InstrumentError;
use crate::source::Span;
use crate::syntax::Item;

/// The parameter of a kernel that its ids come in.
pub(super) const PARAMETER: &str = "__global uint *raceproof_orders";

/// What a kernel begins with.
pub(super) const BEGINNING: &str = " __local uint raceproof_drawn; raceproof_item raceproof_me; \
                                    __private raceproof_item *raceproof_self = &raceproof_me; \
                                    raceproof_begin(raceproof_self, raceproof_orders, &raceproof_drawn);";

/// Functions that give ids, which are macros before the user's text.
const IDS: [&str; 5] = ["get_group_id", "get_local_id", "get_global_id", "get_global_linear_id", "get_local_linear_id"];

/// Whether the result of a function depends on where the driver has a work-item in its group.
fn is_placed(name: &str) -> bool {
    const OF_GROUPS: [&str; 5] =
        ["work_group_all", "work_group_any", "work_group_broadcast", "work_group_reduce_", "work_group_scan_"];
    name.contains("sub_group") || OF_GROUPS.iter().any(|start| name.starts_with(start))
}

impl Translator<'_> {
    /// Hands the work-item on in the calls of a function's body.
    pub(super) fn hand_on(&mut self, item: &Item) {
        let tokens = self.tokens;
        let body = tokens.range(item.span).and_then(|range| {
            let close = range.end - 1;
            Some(tokens.partner(close).filter(|_| tokens.text(close) == "}")?..close)
        });
        let Some(body) = body else {
            return self.refuse(item.span, "a function whose body cannot be found");
        };
        for at in body {
            let name = tokens.text(at);
            let is_member = matches!(tokens.text(at.saturating_sub(1)), "." | "->");
            let Some(&known) = self.functions.get(name).filter(|_| tokens.text(at + 1) == "(" && !is_member) else {
                continue;
            };
            if known.is_kernel {
                self.refuse(item.span, format!("a call of the kernel `{name}`"));
            } else if known.has_body && tokens.text(at + 2) == ")" {
                self.edits.before(at + 2, "raceproof_self");
            } else if known.has_body {
                self.edits.after(at + 1, "raceproof_self, ");
            }
        }
    }

    /// Looks for what takes ids elsewhere.
    pub(super) fn ids(&mut self) {
        let tokens = self.tokens;
        for at in 0..tokens.len() {
            let name = tokens.text(at);
            let span = || tokens.span(at);
            if IDS.contains(&name) && tokens.text(at + 1) != "(" {
                self.refuse_at(span(), format!("`{name}` in another way than by a call"));
            } else if name == "enqueue_kernel" {
                self.refuse_at(span(), "a kernel that enqueues kernels");
            } else if is_placed(name) && self.shared.placed.is_none() {
                self.shared.placed = Some(name.to_owned());
            }
        }
        let sources = tokens.sources();
        for (file, of_file) in sources.files() {
            if let Some(name) = defined_anew(&of_file.text) {
                self.refuse_at(Some(Span::new(file, 0, 0)), format!("a macro by the name of `{name}`"));
            }
        }
    }

    /// Gives the unit up for something at a place of the text.
    fn refuse_at(&mut self, span: Option<Span>, what: impl Into<String>) {
        let Some(span) = span.filter(|_| self.error.is_none()) else { return };
        let sources = self.tokens.sources();
        let path = sources.file(sources.visible(span).file).path.display().to_string();
        self.error =
            Some(InstrumentError::Unsupported { path, line: sources.start_position(span).line, what: what.into() });
    }
}

/// An id that a text defines a macro for.
fn defined_anew(text: &str) -> Option<&'static str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().find_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = directive.strip_prefix("define").or_else(|| directive.strip_prefix("undef"))?;
        let name = rest.trim_start().split(|c| !is_name(c)).next()?;
        IDS.into_iter().find(|id| *id == name)
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

    #[test]
    fn sub_groups_and_functions_of_groups_are_placed_and_barriers_are_not() {
        for name in
            ["work_group_scan_inclusive_add", "get_sub_group_id", "sub_group_reduce_add", "intel_sub_group_shuffle"]
        {
            assert!(is_placed(name), "{name}");
        }
        for name in ["work_group_barrier", "work_group_size_hint", "barrier", "async_work_group_copy", "get_local_id"] {
            assert!(!is_placed(name), "{name}");
        }
    }
}
