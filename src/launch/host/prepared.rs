//! What functions prepare for launches that are calls ([`super::api`]): arrays of addresses, configurations, and
//! attributes. Their fields are followed as variables of their own.

use super::api::{FIELDS, addressed, is_array_of_pointers, is_attribute, is_config, without_casts};
use super::place::Place;
use super::values::{Held, Source};
use crate::resolve::Common;
use crate::resolve::program::{TypeId, VariableId};
use crate::syntax::parts::init_parts;
use crate::syntax::{self, Designator, ExprKind};

impl<'u> Place<'_, 'u> {
    /// The arguments that an array of addresses holds.
    pub(super) fn addressed(&mut self, array: Option<&'u syntax::Expr>) -> Option<Vec<Option<&'u syntax::Expr>>> {
        let array = self.variable_of(without_casts(array?))?;
        self.prepared.arrays.get(&array).cloned()
    }

    /// The configuration that `&config` means.
    pub(super) fn config(&mut self, config: &'u syntax::Expr) -> Option<VariableId> {
        self.variable_of(addressed(config)?).filter(|config| self.prepared.configs.contains_key(config))
    }

    /// The clusters that the attributes of a configuration state.
    pub(super) fn clusters_of(&self, config: VariableId) -> Option<[u32; 3]> {
        let count = self.values.held(self.names, self.prepared.field(config, "numAttrs")?).constant?;
        let attributes = self.prepared.attached.get(&config).copied().flatten().filter(|_| count > 0)?;
        let lanes = self.values.held(self.names, *self.prepared.attributes.get(&attributes)?).lanes?;
        let mut extents = lanes.into_iter().map(|extent| u32::try_from(extent?).ok().filter(|&blocks| blocks > 0));
        Some([extents.next()??, extents.next()??, extents.next()??])
    }

    /// Remembers the attributes that a configuration is given: `config.attrs = attributes`.
    pub(super) fn attach(&mut self, target: &'u syntax::Expr, given: &'u syntax::Expr) {
        let ExprKind::Member { object, member, arrow: false, .. } = &target.kind else { return };
        let Some(config) = self.variable_of(object).filter(|config| self.prepared.configs.contains_key(config)) else {
            return;
        };
        if member.name.text == "attrs" {
            let attributes = self.variable_of(addressed(given).unwrap_or(given));
            let known = self.prepared.attached.entry(config).or_insert(attributes);
            *known = known.filter(|known| Some(*known) == attributes);
        }
    }

    /// The size of clusters that `attributes[0].val.clusterDim` means.
    pub(super) fn cluster_object(&mut self, value: &'u syntax::Expr) -> Option<VariableId> {
        let ExprKind::Member { object, member, arrow: false, .. } = &value.kind else { return None };
        let ExprKind::Member { object: attribute, member: inner, arrow: false, .. } = &object.kind else { return None };
        if member.name.text != "clusterDim" || inner.name.text != "val" {
            return None;
        }
        let attribute = match &attribute.kind {
            ExprKind::Index(array, _) => self.variable_of(array)?,
            _ => self.variable_of(attribute)?,
        };
        self.prepared.attributes.get(&attribute).copied()
    }

    /// Takes in the declaration of an array of addresses or a configuration.
    pub(super) fn prepare(&mut self, declared: &'u syntax::Variable, variable: VariableId) {
        // A lambda changes what it captures whenever it is called.
        let name = &declared.name.text;
        if !self.changed.is_for_launches(name) || self.changed.is_exposed(name) {
            return;
        }
        let parts = init_parts(declared.init.as_ref());
        let entries: Vec<(Option<&'u Designator>, &'u syntax::Expr)> = match parts {
            [syntax::Expr { kind: ExprKind::InitList(entries), .. }] => {
                entries.iter().map(|(designator, value)| (designator.as_ref(), value)).collect()
            }
            _ => parts.iter().map(|value| (None, value)).collect(),
        };
        if is_array_of_pointers(&declared.ty) && entries.iter().all(|(designator, _)| designator.is_none()) {
            self.names.complete_array(variable, entries.len());
            self.prepared.arrays.insert(variable, entries.iter().map(|(_, value)| addressed(value)).collect());
        } else if is_config(&declared.ty) {
            let Common { dim3: size, ulong: bytes, uint: count, unknown: other, .. } = self.names.common();
            let types = [size, size, bytes, other, other, count];
            let fields = std::array::from_fn(|at| self.part_of(&declared.name, FIELDS[at], types[at]));
            for (position, (designator, value)) in entries.into_iter().enumerate() {
                let position = match designator {
                    None => Some(position),
                    Some(Designator::Field(name)) => FIELDS.iter().position(|field| *field == name.text),
                    Some(_) => None,
                };
                if let Some(&field) = position.and_then(|position| fields.get(position)) {
                    let held = self.assigned(field, None, value);
                    self.values.set(self.names, field, held);
                    let value = self.names.value_as(value, self.names.variable(field).ty);
                    let pinned = self.reader().pinned(&value);
                    self.reader().give_all(Source { variable: field, part: None }, pinned);
                }
            }
            self.values.tracked.extend(fields);
            self.prepared.configs.insert(variable, fields);
        } else if is_attribute(&declared.ty) {
            let size = self.names.common().dim3;
            let cluster = self.part_of(&declared.name, "clusterDim", size);
            self.values.tracked.push(cluster);
            self.prepared.attributes.insert(variable, cluster);
        }
    }

    /// A variable that stands for a part of a structure.
    fn part_of(&mut self, whole: &syntax::Name, part: &str, ty: TypeId) -> VariableId {
        let name = syntax::Name { text: format!("{}.{part}", whole.text), span: whole.span };
        let variable = self.names.add_variable(&name, ty);
        let constant = Some(0).filter(|_| self.names.is_integral(ty));
        self.values.set(self.names, variable, Held { constant, ..Held::default() });
        self.values.constraints.follow(variable);
        variable
    }
}
