//! What nvcc's two passes see differently, in one unit.
//!
//! Conditionals on `__CUDA_ARCH__` are decided as the device pass decides them, everywhere; a function for both sides
//! therefore takes its device branch on the host, too.
//!
//! Two functions that differ in `__host__` and `__device__` only are one function twice for a C++ compiler. Where the
//! unit has such a pair, every function of that name that is for the device alone is renamed, and so are its calls in
//! code for the device alone. A call from a function for both sides keeps the host's, and is named in the result.

use super::items::Walker;
use super::tokens::Tokens;
use super::within::{Pass, pass_of};
use crate::syntax::{Expr, ExprKind, Function, Item, ItemKind, Qualifier};
use rustc_hash::{FxHashMap, FxHashSet};

/// What precedes the name of the device's half of a pair.
const PREFIX: &str = "raceproof_device_";

/// The names of functions that the unit has once for the host and once for the device.
pub(super) fn pairs(items: &[Item], tokens: &Tokens<'_>) -> FxHashSet<String> {
    let mut seen: FxHashMap<String, Pass> = FxHashMap::default();
    let mut found = FxHashSet::default();
    let mut waiting: Vec<(String, &[Item])> = vec![(String::new(), items)];
    while let Some((scope, items)) = waiting.pop() {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { name, items, .. } => waiting.push((format!("{scope}::{}", name.text), items)),
                ItemKind::Record(record) => {
                    let members = record.members.as_deref().unwrap_or_default();
                    waiting.push((format!("{scope}::{}", record.name.text), members));
                }
                ItemKind::Function(function) => {
                    let pass = pass_of(function);
                    let Some((name, key)) = signature(&scope, function, tokens).filter(|_| pass != Pass::Both) else {
                        continue;
                    };
                    if *seen.entry(key).or_insert(pass) != pass {
                        found.insert(name);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The last name of a function, and what two declarations of it have in common.
fn signature(scope: &str, function: &Function, tokens: &Tokens<'_>) -> Option<(String, String)> {
    let last = function.path.segments.last()?.name.text.clone();
    let path: Vec<&str> = function.path.segments.iter().map(|segment| segment.name.text.as_str()).collect();
    let mut key = format!("{scope}::{}(", path.join("::"));
    for param in &function.params {
        key += &tokens.range(param.ty.span).map(|range| tokens.join(range)).unwrap_or_default();
        key += &format!("{:?},", shape(&param.ty));
    }
    Some((last, format!("{key}){}{}", function.is_const, function.template.is_some())))
}

/// Pointers, references and arrays around a type: their range is that of the type inside.
fn shape(ty: &crate::syntax::Type) -> String {
    use crate::syntax::TypeKind;
    match &ty.kind {
        TypeKind::Pointer(inner) => shape(inner) + "*",
        TypeKind::Reference(inner, _) => shape(inner) + "&",
        TypeKind::Array(inner, _) => shape(inner) + "*",
        _ => format!("{}", ty.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Const))),
    }
}

impl Walker<'_> {
    /// Renames the device's half of a pair where it is declared.
    pub(super) fn rename_half(&mut self, function: &Function) {
        let Some(last) = function.path.segments.last() else { return };
        if pass_of(function) == Pass::Device && self.pairs.contains(&last.name.text) {
            self.rename(last.name.span, &last.name.text);
        }
    }

    fn rename(&mut self, span: crate::source::Span, name: &str) {
        if let Some(range) = self.tokens.range(span) {
            self.edits.replace(range.end - 1..range.end, format!("{PREFIX}{name}"));
        }
    }

    /// A call in device code of a function that is one of a pair.
    pub(super) fn call_other_pass(&mut self, callee: &Expr, name: &str) {
        if !self.within.is_on_device() || !self.pairs.contains(name) {
            return;
        }
        if self.within.pass == Pass::Both {
            return self
                .notes
                .leave_out(callee.span, format!("call of `{name}`, of which host and device have each their own"));
        }
        let span = match &callee.kind {
            ExprKind::Path(path) => path.segments.last().map(|last| last.name.span),
            ExprKind::Member { member, .. } => Some(member.name.span),
            _ => None,
        };
        if let Some(span) = span {
            self.rename(span, name);
        }
    }
}
