//! Who may call the functions of a unit beside what it calls itself.
//!
//! Deliberately absent: calls that other units make.

use crate::builtins::host;
use crate::resolve::FunctionDecl;
use crate::source::SourceMap;
use crate::syntax::{self, Item, ItemKind, Qualifier};
use rustc_hash::FxHashSet;

/// Who may call the functions of a unit.
#[derive(Default)]
struct Linkage<'u> {
    /// The functions in namespaces without a name.
    unnamed: FxHashSet<*const syntax::Function>,
    /// The names of functions that the file itself declares.
    declared_here: FxHashSet<&'u str>,
    /// Those that a header declares.
    declared_in_headers: FxHashSet<&'u str>,
}

/// Adds to `open` the names of functions that other units may call, with arguments of their own.
///
/// These are the functions with external linkage, unless the unit is the program: it has `main`, no header declares the
/// function for others, and no function is called that the unit declares itself for another to define.
pub(super) fn called_elsewhere<'u>(
    sources: &SourceMap,
    items: &'u [Item],
    functions: &[FunctionDecl<'u>],
    called: &FxHashSet<&'u str>,
    open: &mut FxHashSet<&'u str>,
) {
    let linkage = linkage(sources, items);
    let defined: FxHashSet<&str> = functions.iter().map(|decl| decl.syntax.name()).collect();
    let is_foreign = |name: &&str| called.contains(*name) && !defined.contains(*name) && host::takes(name).is_none();
    let is_program = defined.contains("main") && !linkage.declared_here.iter().any(is_foreign);
    for decl in functions {
        let name = decl.syntax.name();
        let is_internal = is_static(decl.syntax) || linkage.unnamed.contains(&std::ptr::from_ref(decl.syntax));
        if !is_internal && name != "main" && (!is_program || linkage.declared_in_headers.contains(name)) {
            open.insert(name);
        }
    }
}

/// What the declarations of a unit say of who else may call its functions.
fn linkage<'u>(sources: &SourceMap, items: &'u [Item]) -> Linkage<'u> {
    let mut found = Linkage::default();
    let main = sources.files().next().map(|(file, _)| file);
    let mut pending: Vec<(&'u Item, bool)> = items.iter().map(|item| (item, false)).collect();
    while let Some((item, is_unnamed)) = pending.pop() {
        match &item.kind {
            ItemKind::Namespace { name, items, .. } => {
                // `extern "C" { … }` has no name either.
                let text = sources.text(item.span).trim_start();
                let is_unnamed = is_unnamed || name.text.is_empty() && text.starts_with("namespace");
                pending.extend(items.iter().map(|item| (item, is_unnamed)));
            }
            ItemKind::Function(function) if function.body.is_some() && is_unnamed => {
                found.unnamed.insert(std::ptr::from_ref(&**function));
            }
            ItemKind::Function(function) if function.body.is_none() && !is_static(function) => {
                let is_here = Some(sources.visible(item.span).file) == main;
                let names = if is_here { &mut found.declared_here } else { &mut found.declared_in_headers };
                if !function.is_kernel() {
                    names.insert(function.name());
                }
            }
            _ => {}
        }
    }
    found
}

fn is_static(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|it| matches!(it, Qualifier::Static))
}
