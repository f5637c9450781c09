//! What functions of classes see under the names of data members, in host code.
//!
//! A member hides what is declared outside of its class: a size that a method launches with is that of its object. The
//! members are those of the classes around a function, or of the one that its name is qualified by, and of their bases,
//! as far as the unit has them; classes are told apart by their names alone, so that a function may see a few more.
//!
//! Deliberately absent: what members hold, and functions of classes, whose calls are followed by their names
//! ([`super::callees`]).

use crate::syntax::{Function, Item, ItemKind, Record, TypeKind, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// The data members that functions see, by function.
pub(super) type Members<'u> = FxHashMap<*const Function, Vec<&'u Variable>>;

/// The classes of a unit by name, and the functions with the names of the classes that they may be of.
#[derive(Default)]
struct Classes<'u> {
    by_name: FxHashMap<&'u str, Vec<&'u Record>>,
    functions: Vec<(&'u Function, Vec<&'u str>)>,
}

impl<'u> Classes<'u> {
    fn collect(&mut self, items: &'u [Item], around: &[&'u str]) {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { items, .. } => self.collect(items, around),
                ItemKind::Record(record) => {
                    let name = record.name.text.as_str();
                    self.by_name.entry(name).or_default().push(record);
                    self.collect(record.members.as_deref().unwrap_or(&[]), &[around, &[name]].concat());
                }
                ItemKind::Function(function) if function.body.is_some() => {
                    let qualifiers = function.path.segments.iter().rev().skip(1);
                    let named = qualifiers.map(|segment| segment.name.text.as_str());
                    let classes: Vec<&str> = around.iter().copied().chain(named).collect();
                    if !classes.is_empty() {
                        self.functions.push((function, classes));
                    }
                }
                _ => {}
            }
        }
    }

    /// The data members of classes and of their bases.
    fn fields(&self, mut names: Vec<&'u str>) -> Vec<&'u Variable> {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut fields = Vec::new();
        while let Some(name) = names.pop() {
            if !seen.insert(name) {
                continue;
            }
            for record in self.by_name.get(name).into_iter().flatten() {
                for base in &record.bases {
                    let TypeKind::Named(path) = &base.kind else { continue };
                    names.extend(path.segments.last().map(|segment| segment.name.text.as_str()));
                }
                for member in record.members.iter().flatten() {
                    if let ItemKind::Variables(variables) = &member.kind {
                        fields.extend(variables.iter().filter(|field| !field.name.text.is_empty()));
                    }
                }
            }
        }
        fields
    }
}

/// The data members that the functions of classes in `items` see.
pub(super) fn members_of_methods(items: &[Item]) -> Members<'_> {
    let mut classes = Classes::default();
    classes.collect(items, &[]);
    let functions = std::mem::take(&mut classes.functions);
    functions.into_iter().map(|(function, names)| (std::ptr::from_ref(function), classes.fields(names))).collect()
}
