//! Pointers that the host has set before the launch: parameters, and what is one in all but name.
//!
//! The kernel gets pointers as parameters, in structures that are passed by value, in variables of the device, and in
//! global memory at places that do not depend on anything. While no code of the device changes them there, each leads to
//! an array of its own, which is assumed to be apart from the others as the arrays of parameters are.
//!
//! Deliberately absent: pointers at computed places (`rows[i]`), which lead to any array ([`super::stored`]).

use super::facts::{HostPointer, Target, TargetId};
use super::home::{ArrayShape, Home};
use super::layout::Leaf;
use crate::calculus::{ArrayId, Space};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Place, Pointer, Value};
use crate::resolve::program::{AddressSpace, Storage, Type, TypeId, VariableId};
use crate::source::Language;

/// Pointers in memory that lead to each other are followed over so many.
const MAX_HELD: usize = 3;

impl Pass<'_> {
    /// The first of the parameters to which launches in the file give the same pointer as to `variable`, one launch
    /// or another. What is proved of one array also holds where launches give several.
    fn same_pointer(&self, variable: VariableId) -> VariableId {
        let kernel = &self.program.functions[self.frames[0].function];
        let (params, pairs) = (&kernel.params, &kernel.same_pointers);
        let Some(at) = params.iter().position(|&param| param == variable) else { return variable };
        let mut same = vec![at];
        let mut next = 0;
        while let Some(&known) = same.get(next) {
            let partners = pairs.iter().filter_map(|&(a, b)| match known {
                _ if known == a => Some(b),
                _ if known == b => Some(a),
                _ => None,
            });
            let new: Vec<usize> = partners.filter(|partner| !same.contains(partner)).collect();
            same.extend(new);
            next += 1;
        }
        same.iter().min().and_then(|&first| params.get(first)).copied().unwrap_or(variable)
    }

    /// Whether launches in the file give several parameters the pointer to a target.
    pub(in crate::lower) fn is_shared_pointee(&self, target: TargetId) -> bool {
        let &Target::Pointee(first, 0) = self.facts.key(target) else { return false };
        let params = &self.program.functions[self.frames[0].function].params;
        params.iter().any(|&param| param != first && self.same_pointer(param) == first)
    }

    /// A pointer to what the pointer `leaf` of `variable`, which the host has set, points to.
    pub(in crate::lower) fn pointee(&mut self, variable: VariableId, leaf: Leaf, name: &str) -> Pointer {
        let variable = if leaf.offset == 0 { self.same_pointer(variable) } else { variable };
        let declared = &self.program.variables[variable];
        let id = self.facts.target(Target::Pointee(variable, leaf.offset));
        let pointer = HostPointer { ty: leaf.ty, name: name.to_owned(), held_in: None, span: declared.span };
        self.lead_to(id, pointer)
    }

    /// A pointer to the start of a target: one that the host has set.
    fn lead_to(&mut self, id: TargetId, pointer: HostPointer) -> Pointer {
        self.facts.note_host_pointer(id, pointer);
        self.ensure_home(id);
        self.start_of(id)
    }

    /// Gives a home to what a pointer leads to that the host has set.
    pub(in crate::lower) fn settle_behind(&mut self, id: TargetId, pointer: &HostPointer) {
        let Type::Pointer { to, space } = self.program.types[pointer.ty] else { return };
        let held_in = pointer.held_in.and_then(|(holder, offset)| {
            self.ensure_home(holder);
            Some((self.array_of(holder)?, offset))
        });
        let space = match space {
            Some(AddressSpace::Shared) => Space::Shared,
            Some(AddressSpace::Constant) => Space::Constant,
            Some(AddressSpace::Private) => Space::Private,
            Some(AddressSpace::Global) | None => Space::Global,
        };
        let (name, span) = (&*pointer.name, pointer.span);
        let array = self.new_array(&ArrayShape { name, ty: to, space, bytes: None, is_param: true, held_in, span });
        if let Type::Array { len: Some(len), .. } = self.program.types[to] {
            // `float (*a)[16]`: the pointee's own extent is an inner dimension, too.
            self.kernel.arrays[array].inner_dims.insert(0, len);
        }
        self.homes.insert(id, Home::Array(array));
        if space == Space::Global {
            self.register_global(id, array);
        }
    }

    /// A pointer that was read from a `__device__` or `__constant__` variable which no device code changes
    /// is a parameter in all but name: the host has set it before the launch.
    pub(in crate::lower) fn follow_global_pointer(&mut self, holder: TargetId, place: &Place, value: Value) -> Value {
        let &Target::Variable(None, variable) = self.facts.key(holder) else { return value };
        let declared = &self.program.variables[variable];
        let is_global = matches!(declared.storage, Storage::Global | Storage::Constant);
        if !is_global || declared.has_initializer || self.program.language != Language::Cuda {
            return value;
        }
        if self.scans.assigned_anywhere(self.program).contains(&variable) {
            return value;
        }
        self.pointees_of(variable, place, value)
    }

    /// A value that was read from `place` of a variable whose pointers the host has set, with its pointers followed.
    pub(in crate::lower) fn pointees_of(&mut self, variable: VariableId, place: &Place, value: Value) -> Value {
        let declared = &self.program.variables[variable];
        let start = self.kernel.exprs.as_int(place.pointer.offset).and_then(|offset| u64::try_from(offset).ok());
        let (Some(start), Some(leaves)) = (start, self.layout.leaves(place.ty)) else { return value };
        let values = self.flatten(value, place.ty);
        let followed = values.into_iter().zip(leaves).map(|(value, leaf)| match value {
            Value::Pointer(Pointer { base: Base::Unknown(_), .. }) => {
                let leaf = Leaf { offset: start + leaf.offset, ty: leaf.ty };
                let name = format!("{}{}", declared.name, self.layout.part_name(declared.ty, leaf.offset));
                Value::Pointer(self.pointee(variable, leaf, &name))
            }
            value => value,
        });
        let followed = followed.collect();
        self.regroup(followed, place.ty)
    }

    /// A pointer that was read from a fixed place of global memory, in which the kernel changes no pointers, is a
    /// parameter in all but name: the host has set it before the launch. One that leads to the kind of object that it was
    /// reached from is not, as nobody would take the nodes of a list or tree to lie apart.
    pub(in crate::lower) fn follow_held_pointer(&mut self, holder: TargetId, place: &Place, value: Value) -> Value {
        let start = self.kernel.exprs.as_int(place.pointer.offset).and_then(|offset| u64::try_from(offset).ok());
        let (Some(start), Some(leaves)) = (start, self.layout.leaves(place.ty)) else { return value };
        let Some(holding) = self.array_of(holder).filter(|array| self.global_targets.contains_key(array)) else {
            return value;
        };
        let elsewhere = self.facts.target(Target::Elsewhere);
        if [holder, elsewhere].iter().any(|&at| self.facts.is_overwritten(at)) {
            return value;
        }
        let Some(span) = self.facts.host_pointer(holder).map(|pointer| pointer.span) else { return value };
        let values = self.flatten(value, place.ty);
        let followed = values.into_iter().zip(leaves).map(|(value, leaf)| match value {
            Value::Pointer(Pointer { base: Base::Unknown(_), .. }) if self.leads_on(holder, leaf.ty) => {
                let offset = start + leaf.offset;
                let name = self.held_name(holder, holding, offset);
                let id = self.facts.target(Target::Held(holder, offset));
                let pointer = HostPointer { ty: leaf.ty, name, held_in: Some((holder, offset)), span };
                Value::Pointer(self.lead_to(id, pointer))
            }
            value => value,
        });
        let followed = followed.collect();
        self.regroup(followed, place.ty)
    }

    /// Whether a pointer of type `ty` that is held in `holder` leads to another kind of object than those on the way to
    /// it, and the way is short.
    fn leads_on(&self, holder: TargetId, ty: TypeId) -> bool {
        let mut on_the_way = Some(holder);
        let mut steps = 0;
        while let Some(pointer) = on_the_way.and_then(|target| self.facts.host_pointer(target)) {
            if steps == MAX_HELD || self.layout.pointee(pointer.ty) == self.layout.pointee(ty) {
                return false;
            }
            steps += 1;
            on_the_way = pointer.held_in.map(|(before, _)| before);
        }
        true
    }

    /// What the source calls the memory behind the pointer at `offset` of an array: `table->rows`, `table[2].rows`.
    fn held_name(&self, holder: TargetId, holding: ArrayId, offset: u64) -> String {
        let name = &self.kernel.arrays[holding].name;
        let Some(ty) = self.facts.host_pointer(holder).and_then(|pointer| self.layout.pointee(pointer.ty)) else {
            return name.clone();
        };
        let size = self.layout.size(ty).max(1);
        let part = self.layout.part_name(ty, offset % size);
        match (offset / size, part.strip_prefix('.')) {
            (0, Some(field)) => format!("{name}->{field}"),
            (index, _) => format!("{name}[{index}]{part}"),
        }
    }

    /// Pointers in a structure that the host passes by value, while the kernel does not change them.
    pub(in crate::lower) fn follow_passed_pointer(&mut self, holder: TargetId, place: &Place, value: Value) -> Value {
        let &Target::Variable(None, variable) = self.facts.key(holder) else { return value };
        let is_param = self.program.variables[variable].storage == Storage::Param
            && self.program.functions[self.frames[0].function].params.contains(&variable);
        if !is_param || self.facts.is_overwritten(holder) {
            return value;
        }
        self.pointees_of(variable, place, value)
    }
}
