//! Where each target lives in this pass: an array, or scalar variables.

use super::facts::{Target, TargetId};
use super::layout::Leaf;
use crate::builtins::types::is_handle;
use crate::calculus::{Array, ArrayId, Basis, BinaryOp, ExprId, HavocReason, Param, ScalarType, Space, Stmt, VarId};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Pointer, Value};
use crate::resolve::program::{Storage, Type, TypeId, VariableId};
use crate::source::Span;

/// Where a target lives.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Home {
    /// Nowhere.
    Null,
    /// In an array.
    Array(ArrayId),
    /// In variables, one for each leaf.
    Slots(Vec<Slot>),
}

/// One leaf of a split variable.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Slot {
    pub(in crate::lower) leaf: Leaf,
    pub(in crate::lower) holder: Holder,
}

/// What holds a leaf.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Holder {
    /// A variable.
    Var(VarId),
    /// A pointer; the tag exists if it may have several targets.
    Pointer { tag: Option<VarId>, offset: VarId },
    /// Nothing ever assigns it after its initialisation: this.
    Value(Value),
}

/// What to do with a value that cannot change any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// Use it as it is: an argument of an inlined call.
    Expression,
    /// Give it the variable's name, so that messages can show it.
    Name,
}

/// How a new array is described.
pub(in crate::lower) struct ArrayShape<'a> {
    pub(in crate::lower) name: &'a str,
    pub(in crate::lower) ty: TypeId,
    pub(in crate::lower) space: Space,
    pub(in crate::lower) bytes: Option<u64>,
    pub(in crate::lower) is_param: bool,
    pub(in crate::lower) held_in: Option<(ArrayId, u64)>,
    pub(in crate::lower) span: Span,
}

impl Pass<'_> {
    /// The target of a variable, as the current frame sees it.
    pub(in crate::lower) fn target_of(&mut self, variable: VariableId) -> TargetId {
        let declared = &self.program.variables[variable];
        let target = match declared.storage {
            Storage::Shared if declared.is_extern => Target::ExternShared,
            Storage::Param | Storage::Local => Target::Variable(self.chain(), variable),
            Storage::Shared | Storage::Global | Storage::Constant | Storage::Host => Target::Variable(None, variable),
        };
        let id = self.facts.target(target);
        if self.homes.get(id).is_none() {
            self.settle(id, variable);
        }
        id
    }

    /// Gives a home to a target that a pointer leads to before the walk has come to its declaration.
    pub(in crate::lower) fn ensure_home(&mut self, id: TargetId) {
        if self.homes.get(id).is_some() {
            return;
        }
        match *self.facts.key(id) {
            Target::Variable(_, variable) => self.settle(id, variable),
            Target::ExternShared => {
                let mut variables = self.program.variables.iter();
                let found = variables.find(|(_, variable)| variable.is_extern && variable.storage == Storage::Shared);
                if let Some((variable, _)) = found {
                    self.settle(id, variable);
                }
            }
            Target::Elsewhere => {
                let array = self.kernel.arrays.push(Array {
                    name: "loaded_memory".to_owned(),
                    space: Space::Global,
                    bytes: None,
                    element_bytes: 1,
                    inner_dims: Vec::new(),
                    is_param: false,
                    is_filled_elsewhere: false,
                    held_in: None,
                    given: None,
                    span: None,
                });
                self.homes.insert(id, Home::Array(array));
                self.register_global(id, array);
            }
            _ => {
                if let Some(pointer) = self.facts.host_pointer(id).cloned() {
                    self.settle_behind(id, &pointer);
                }
            }
        }
    }

    /// Gives a home to a variable that is used without having been declared on the way.
    fn settle(&mut self, id: TargetId, variable: VariableId) {
        let declared = &self.program.variables[variable];
        let home = match declared.storage {
            Storage::Shared => {
                let space = if self.facts.is_distributed(id) { Space::Distributed } else { Space::Shared };
                Home::Array(self.static_array(variable, space))
            }
            Storage::Global => {
                let array = self.static_array(variable, Space::Global);
                self.register_global(id, array);
                Home::Array(array)
            }
            Storage::Constant => Home::Array(self.static_array(variable, Space::Constant)),
            // A texture or sampler at namespace scope: read-only, and only named to fetch from it.
            Storage::Host if self.is_handle(declared.ty) => {
                let leaf = Leaf { offset: 0, ty: declared.ty };
                let text = declared.name.clone();
                let value = Value::Scalar(self.exprs().opaque(text, ScalarType::Opaque { bytes: 1 }));
                Home::Slots(vec![Slot { leaf, holder: Holder::Value(value) }])
            }
            Storage::Host => {
                let reason = format!("host variable '{}' in device code", declared.name);
                self.unsupported(declared.span, reason);
                self.fresh_home(id, &declared.name, declared.ty, declared.span)
            }
            // A value parameter of a template that nothing instantiates: uniform, and not in the parameter list.
            Storage::Param if self.chain().is_none() => return self.kernel_param(variable),
            Storage::Param | Storage::Local => self.fresh_home(id, &declared.name, declared.ty, declared.span),
        };
        self.homes.insert(id, home);
    }

    fn is_handle(&self, ty: TypeId) -> bool {
        matches!(&self.program.types[ty], Type::Unknown(name) if is_handle(name))
    }

    fn static_array(&mut self, variable: VariableId, space: Space) -> ArrayId {
        let declared = &self.program.variables[variable];
        let bytes = if declared.is_extern { None } else { self.layout.known_size(declared.ty) };
        let (name, ty, span) = (&*declared.name, declared.ty, declared.span);
        let array = self.new_array(&ArrayShape { name, ty, space, bytes, is_param: false, held_in: None, span });
        self.kernel.arrays[array].is_filled_elsewhere = !declared.has_initializer
            && !declared.is_extern
            && matches!(declared.storage, Storage::Global | Storage::Constant);
        array
    }

    pub(in crate::lower) fn new_array(&mut self, shape: &ArrayShape<'_>) -> ArrayId {
        let (element, inner_dims) = self.layout.innermost(shape.ty);
        let element_bytes = u32::try_from(self.layout.size(element).max(1)).unwrap_or(1);
        self.kernel.arrays.push(Array {
            name: shape.name.to_owned(),
            space: shape.space,
            bytes: shape.bytes.filter(|&bytes| bytes > 0),
            element_bytes,
            inner_dims,
            is_param: shape.is_param,
            is_filled_elsewhere: false,
            held_in: shape.held_in,
            given: None,
            span: Some(shape.span),
        })
    }

    /// A home for a local of type `ty`: variables, or a private array where variables do not do.
    pub(in crate::lower) fn fresh_home(&mut self, id: TargetId, name: &str, ty: TypeId, span: Span) -> Home {
        let leaves = if self.facts.is_in_memory(id) { None } else { self.layout.leaves(ty) };
        let Some(leaves) = leaves else {
            let bytes = self.layout.known_size(ty);
            let shape = ArrayShape { name, ty, space: Space::Private, bytes, is_param: false, held_in: None, span };
            return Home::Array(self.new_array(&shape));
        };
        let names = self.layout.leaf_names(ty);
        let slots = leaves.into_iter().zip(names).map(|(leaf, suffix)| {
            let holder = self.fresh_holder(id, leaf, &format!("{name}{suffix}"));
            Slot { leaf, holder }
        });
        Home::Slots(slots.collect())
    }

    fn fresh_holder(&mut self, id: TargetId, leaf: Leaf, name: &str) -> Holder {
        if let Some(scalar) = self.layout.scalar(leaf.ty) {
            return Holder::Var(self.variable(name, scalar));
        }
        let several = self.facts.points_to(id, leaf.offset).targets.len() > 1;
        let tag = several.then(|| self.variable(format!("{name}.tag"), ScalarType::I32));
        Holder::Pointer { tag, offset: self.variable(format!("{name}.offset"), ScalarType::I64) }
    }

    /// Declares a local; `initial` is its first value, if it has one.
    pub(in crate::lower) fn declare(&mut self, variable: VariableId, initial: Option<Value>, span: Span) {
        let declared = &self.program.variables[variable];
        let id = self.facts.target(Target::Variable(self.chain(), variable));
        let function = self.frame().function;
        let frozen = !self.scans.assigned(self.program, function).contains(&variable);
        let leaves = if self.facts.is_in_memory(id) { None } else { self.layout.leaves(declared.ty) };
        if let (true, Some(value), Some(leaves)) = (frozen, &initial, leaves) {
            let keep = if declared.storage == Storage::Param { Keep::Expression } else { Keep::Name };
            let slots = self.frozen_slots(&leaves, value.clone(), variable, keep);
            self.homes.insert(id, Home::Slots(slots));
            return;
        }
        let home = self.fresh_home(id, &declared.name, declared.ty, declared.span);
        self.homes.insert(id, home);
        match initial {
            Some(value) => {
                let pointer = self.start_of(id);
                let place = crate::lower::value::Place { pointer, ty: declared.ty, bits: None };
                self.store(&place, value, span);
            }
            None => self.uninitialised(id, span),
        }
    }

    fn uninitialised(&mut self, id: TargetId, span: Span) {
        let Some(Home::Slots(slots)) = self.homes.get(id).cloned() else { return };
        for slot in slots {
            if let Holder::Var(var) = slot.holder {
                self.emit(Stmt::Havoc { var, reason: HavocReason::Uninitialized, span: Some(span) });
            }
        }
    }

    /// Slots of a variable that nothing assigns after its initialisation.
    fn frozen_slots(&mut self, leaves: &[Leaf], value: Value, variable: VariableId, keep: Keep) -> Vec<Slot> {
        let declared = &self.program.variables[variable];
        let names = self.layout.leaf_names(declared.ty);
        let values = self.flatten(value, declared.ty);
        let values = self.fit_leaves(values, leaves);
        let slots = leaves.iter().zip(names).zip(values).map(|((&leaf, suffix), value)| {
            let name = format!("{}{suffix}", declared.name);
            let keep = if self.is_constant(&value) { Keep::Expression } else { keep };
            let holder = Holder::Value(self.freeze(value, &name, keep));
            Slot { leaf, holder }
        });
        slots.collect()
    }

    fn is_constant(&self, value: &Value) -> bool {
        matches!(value, Value::Scalar(expr) if self.kernel.exprs.as_int(*expr).is_some())
    }

    /// The value as it is now, in variables named after `name` where it could change later.
    fn freeze(&mut self, value: Value, name: &str, keep: Keep) -> Value {
        match value {
            Value::Scalar(expr) if keep == Keep::Expression && self.is_immutable(expr) => Value::Scalar(expr),
            Value::Scalar(expr) => Value::Scalar(self.named(expr, name)),
            Value::Pointer(pointer) => Value::Pointer(self.freeze_pointer(pointer, name)),
            other => other,
        }
    }

    fn freeze_pointer(&mut self, pointer: Pointer, name: &str) -> Pointer {
        let offset = if self.is_immutable(pointer.offset) {
            pointer.offset
        } else {
            self.named(pointer.offset, &format!("{name}.offset"))
        };
        let base = match pointer.base {
            Base::OneOf { tag, targets } if !self.is_immutable(tag) => {
                Base::OneOf { tag: self.named(tag, &format!("{name}.tag")), targets }
            }
            base => base,
        };
        Pointer { base, offset }
    }

    fn named(&mut self, value: ExprId, name: &str) -> ExprId {
        let ty = self.kernel.exprs.ty(value);
        let var = self.variable(name, ty);
        self.emit(Stmt::Let { var, value });
        self.var(var)
    }

    /// Gives homes to the parameters of the kernel.
    pub(in crate::lower) fn kernel_params(&mut self, params: &[VariableId]) {
        for &param in params {
            self.kernel_param(param);
        }
    }

    fn kernel_param(&mut self, variable: VariableId) {
        let declared = &self.program.variables[variable];
        let id = self.facts.target(Target::Variable(None, variable));
        let leaves = if self.facts.is_in_memory(id) { None } else { self.layout.leaves(declared.ty) };
        let function = self.frames[0].function;
        let frozen = !self.scans.assigned(self.program, function).contains(&variable);
        let Some(leaves) = leaves else {
            // A struct that is indexed by a variable, or cannot be split: read-only memory, or a private copy.
            let space = if frozen { Space::Constant } else { Space::Private };
            let bytes = self.layout.known_size(declared.ty);
            let (name, ty, span) = (&*declared.name, declared.ty, declared.span);
            let array = self.new_array(&ArrayShape { name, ty, space, bytes, is_param: true, held_in: None, span });
            self.homes.insert(id, Home::Array(array));
            self.passed.insert(array, id);
            return;
        };
        let names = self.layout.leaf_names(declared.ty);
        let values: Vec<Value> =
            leaves.iter().zip(&names).map(|(&leaf, suffix)| self.param_leaf(variable, leaf, suffix)).collect();
        if frozen {
            let slots = leaves.into_iter().zip(values);
            let slots = slots.map(|(leaf, value)| Slot { leaf, holder: Holder::Value(value) }).collect();
            self.homes.insert(id, Home::Slots(slots));
            return;
        }
        let home = self.fresh_home(id, &declared.name, declared.ty, declared.span);
        self.homes.insert(id, home);
        let value = self.regroup(values, declared.ty);
        let place = crate::lower::value::Place { pointer: self.start_of(id), ty: declared.ty, bits: None };
        self.store(&place, value, declared.span);
    }

    /// The value of a scalar or pointer in a parameter.
    fn param_leaf(&mut self, variable: VariableId, leaf: Leaf, suffix: &str) -> Value {
        let declared = &self.program.variables[variable];
        let name = format!("{}{suffix}", declared.name);
        if let Some(ty) = self.layout.scalar(leaf.ty) {
            let param = self.kernel.params.push(Param { name, ty });
            let value = self.exprs().param(param, ty);
            if let Some(range) = declared.range {
                self.assume_range(value, range, declared.span);
            }
            return Value::Scalar(value);
        }
        Value::Pointer(self.pointee(variable, leaf, &name))
    }

    /// States what the language says of a value: that it lies in `least..=greatest`.
    fn assume_range(&mut self, value: ExprId, (least, greatest): (i128, i128), span: Span) {
        let ty = self.kernel.exprs.ty(value);
        for (op, limit) in [(BinaryOp::Ge, least), (BinaryOp::Le, greatest)] {
            let limit = self.exprs().int(limit, ty);
            let cond = self.exprs().binary(op, value, limit);
            self.emit(Stmt::Assume { cond, basis: Basis::Stated, span: Some(span) });
        }
    }

    /// The array that a target lives in, if it lives in one.
    pub(in crate::lower) fn array_of(&self, target: TargetId) -> Option<ArrayId> {
        match self.homes.get(target) {
            Some(Home::Array(array)) => Some(*array),
            _ => None,
        }
    }
}
