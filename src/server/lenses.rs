//! The verdict of each kernel, above it.

use super::commands;
use super::texts::Text;
use crate::diagnostic::render::editor::headline;
use crate::diagnostic::report::{FileReport, KernelReport};
use lsp_types::{CodeLens, Command};

use super::positions::Encoding;

/// The lenses of a text: one for each kernel that stands in it, those of instances of a template one after the other.
pub(super) fn lenses(text: &Text, file: &FileReport, encoding: Encoding) -> Vec<CodeLens> {
    let own = file.kernels.iter().filter(|kernel| kernel.path.is_none());
    let lens = |kernel: &KernelReport| {
        let title = match kernel.template_args.as_slice() {
            [] => headline(kernel),
            _ => format!("{}: {}", kernel.instance(), headline(kernel)),
        };
        let about = serde_json::json!([file.path.to_string_lossy(), kernel.instance()]);
        let arguments = about.as_array().cloned();
        CodeLens {
            range: encoding.line_of_report(&text.text, &text.lines, kernel.line),
            command: Some(Command { title, command: commands::VERDICT.to_owned(), arguments }),
            data: None,
        }
    };
    own.map(lens).collect()
}
