//! Pointers that the host has set before the launch: parameters, and what is one in all but name.
//!
//! The kernel gets pointers as parameters, in structures that are passed by value, in variables of the device, and in
//! global memory at places that do not depend on anything. While no code of the device changes them there, each leads to
//! an array of its own, which is assumed to be apart from the others as the arrays of parameters are.
//!
//! A pointer at a computed place of a table in such a variable or structure (`bufs.rows[i]`) is one of those of the table
//! ([`chosen`]).
//!
//! Deliberately absent: pointers at computed places of memory (`rows[i]` of a `float **`), and tables of many, which lead to
//! any array ([`super::stored`]).

use super::facts::{HostPointer, Target, TargetId};
use super::home::{ArrayShape, Home};
use super::layout::Leaf;
use crate::calculus::{ArrayId, BinaryOp, Expr, ScalarType, Space};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Place, Pointer, Value};
use crate::resolve::program::{AddressSpace, Storage, Type, TypeId, VariableId};
use crate::source::Language;

/// Tables of pointers have at most so many that are followed.
const MOST_IN_TABLE: u64 = 16;

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
        let Some(start) = start else { return chosen(self, variable, place).map_or(value, Value::Pointer) };
        let Some(leaves) = self.layout.leaves(place.ty) else { return value };
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

/// The pointer at a computed place of a table in a variable: one of those of the table, by its number.
///
/// The table is the array around the place whose elements lie as far apart as the steps of the index; an index that leaves
/// the table is undefined (C++ [expr.add]).
fn chosen(pass: &mut Pass<'_>, variable: VariableId, place: &Place) -> Option<Pointer> {
    if !pass.layout.is_pointer(place.ty) {
        return None;
    }
    let (fixed, step) = steps_of(pass, place.pointer.offset)?;
    let ty = pass.program.variables[variable].ty;
    let (first, count) = table_at(pass, ty, (fixed, step))?;
    let at = pass.snapshot(place.pointer.offset);
    let (mut tag, mut targets) = (None, Vec::new());
    for number in (0..count).rev() {
        let offset = first + number * step;
        let name = format!("{}{}", pass.program.variables[variable].name, pass.layout.part_name(ty, offset));
        let pointer = pass.pointee(variable, Leaf { offset, ty: place.ty }, &name);
        let Base::Target(target) = pointer.base else { return None };
        let own = pass.tag_of(target);
        tag = Some(match tag {
            None => own,
            Some(others) => {
                let here = pass.offset(offset);
                let is_here = pass.exprs().binary(BinaryOp::Eq, at, here);
                pass.exprs().select(is_here, own, others)
            }
        });
        targets.push(target);
    }
    Some(Pointer { base: Base::OneOf { tag: tag?, targets }, offset: pass.offset(0) })
}

/// An offset as a number and an index times a size.
fn steps_of(pass: &Pass<'_>, offset: crate::calculus::ExprId) -> Option<(u64, u64)> {
    let exprs = &pass.kernel.exprs;
    let number = |part| exprs.as_int(part).and_then(|number| u64::try_from(number).ok());
    match exprs[offset] {
        _ if exprs.ty(offset) != ScalarType::I64 => None,
        Expr::Binary(BinaryOp::Add, a, b) => {
            let (moved, by) = if number(b).is_some() { (a, number(b)?) } else { (b, number(a)?) };
            let (fixed, step) = steps_of(pass, moved)?;
            Some((fixed + by, step))
        }
        Expr::Binary(BinaryOp::Mul, a, b) => Some((0, number(b).or_else(|| number(a)).filter(|&step| step > 0)?)),
        _ => None,
    }
}

/// Where the pointers of a table of few lie in an object: the first, and how many there are.
fn table_at(pass: &Pass<'_>, ty: TypeId, (fixed, step): (u64, u64)) -> Option<(u64, u64)> {
    let (mut ty, mut start) = (ty, 0);
    loop {
        match &pass.program.types[ty] {
            &Type::Array { of, len: Some(len) } => {
                let size = pass.layout.size(of);
                if size == step {
                    let is_within = fixed - start < size.saturating_mul(len) && len <= MOST_IN_TABLE;
                    return is_within.then_some((start + (fixed - start) % size, len));
                }
                start += (fixed - start).checked_div(size)? * size;
                ty = of;
            }
            Type::Record(record) => {
                let fields = &pass.program.records[*record].fields;
                let covers = |field: &&crate::resolve::program::Field| {
                    (start + field.offset..start + field.offset + pass.layout.size(field.ty)).contains(&fixed)
                };
                let field = fields.iter().find(covers)?;
                (ty, start) = (field.ty, start + field.offset);
            }
            _ => return None,
        }
    }
}
