//! Surfaces: memory that is addressed by a handle and coordinates (CUDA C++ Programming Guide, surface functions).
//!
//! The first coordinate counts bytes, the others rows and layers. What a coordinate out of range does is the boundary
//! mode's to say: the kernel fails (by default), or nothing is accessed. So an access is one at
//! `(z * ROWS + y) * ROW + x` where all coordinates are in the range that any surface may have. Handles that a kernel is
//! given stand for memory of their own, as its pointers do, and that is printed as an assumption. No barrier orders them:
//! what a kernel writes to a surface, its caches need not show before it ends.
//!
//! Deliberately absent: handles out of memory and of namespace scope, coordinates that are clamped: such an access is not
//! modelled and said to be so. Memory of a surface that the kernel also reaches by a texture or a pointer.

use super::pass::Pass;
use super::value::{Place, Value};
use crate::builtins::Direction;
use crate::calculus::{Access, Array, ArrayId, BinaryOp, Expr as Node, ExprId, HavocReason, ScalarType, Space, Stmt};
use crate::resolve::program::{Expr, TypeId};
use crate::source::Span;

/// Bytes between rows: more than the widest surface has (131,072 elements of 16 bytes).
const ROW: i128 = 1 << 22;
/// Rows between layers: more than the highest surface has.
const ROWS: i128 = 1 << 17;
/// Layers: more than the deepest surface has.
const LAYERS: i128 = 1 << 15;
/// `cudaBoundaryModeClamp`
const CLAMP: i128 = 1;

/// The arguments of an access.
struct Call<'e> {
    handle: &'e Expr,
    coordinates: &'e [Expr],
    /// Where what is read goes, if not to the value of the call.
    to: Option<&'e Expr>,
    ty: TypeId,
}

impl Pass<'_> {
    /// `surf2Dwrite(value, surface, x, y, mode)`, `surf2Dread(&value, surface, x, y)` and their kin.
    pub(super) fn surface(
        &mut self,
        direction: Direction,
        coordinates: usize,
        (name, args): (&str, &[Expr]),
        call: &Expr,
    ) -> Value {
        let known = self.arguments(direction, coordinates, args, call).and_then(|known| {
            let bytes = u32::try_from(self.layout.known_size(known.ty)?).ok()?;
            let row = ROW / i128::from(bytes.max(1));
            Some((self.behind(known.handle, bytes, &[row, ROWS][..coordinates - 1])?, bytes, known))
        });
        let Some((array, bytes, known)) = known else {
            return self.give_up_call(format!("access to a surface that is not followed ('{name}')"), args, call);
        };
        if direction == Direction::Write
            && let Some(value) = args.first()
        {
            self.effect(value);
        }
        let coordinates: Vec<ExprId> = known.coordinates.iter().map(|each| self.scalar(each)).collect();
        let (offset, is_inside) = self.coordinates(&coordinates, [ROW, ROWS, LAYERS]);
        self.access_if(is_inside, direction, (array, offset, bytes), call.span);
        if direction == Direction::Write {
            return Value::Void;
        }
        let value = self.unknown_value(known.ty, &HavocReason::Other(format!("what `{name}` reads")), call.span);
        let Some(to) = known.to else { return value };
        let pointer = self.pointer(to);
        self.store(&Place { pointer, ty: known.ty, bits: None }, value, call.span);
        Value::Void
    }

    fn arguments<'e>(&self, direction: Direction, count: usize, args: &'e [Expr], call: &Expr) -> Option<Call<'e>> {
        let (first, rest) = args.split_first()?;
        let (handle, to, ty, rest) = match (direction, self.layout.pointee(first.ty)) {
            (Direction::Write, _) => {
                let (handle, rest) = rest.split_first()?;
                (handle, None, first.ty, rest)
            }
            (Direction::Read, Some(ty)) => {
                let (handle, rest) = rest.split_first()?;
                (handle, Some(first), ty, rest)
            }
            (Direction::Read, None) => (first, None, call.ty, rest),
        };
        let (coordinates, mode) = rest.split_at_checked(count)?;
        let clamps = match mode {
            [] => false,
            [mode] => !matches!(mode.kind, crate::resolve::program::ExprKind::Int(mode) if mode != CLAMP),
            _ => return None,
        };
        (!clamps).then_some(Call { handle, coordinates, to, ty })
    }

    /// An access of so many bytes where a condition holds.
    pub(super) fn access_if(
        &mut self,
        is_inside: ExprId,
        direction: Direction,
        (array, offset, bytes): (ArrayId, ExprId, u32),
        span: Span,
    ) {
        let site = self.site(span);
        let access = Access { array, offset, bytes, align: bytes.next_power_of_two(), site };
        let stmt = match direction {
            Direction::Write => Stmt::Write { access, value: None },
            Direction::Read => {
                let carrier = ScalarType::Opaque { bytes: u16::try_from(bytes).unwrap_or(u16::MAX) };
                Stmt::Read { var: self.temporary("surface", carrier), access }
            }
        };
        let (block, ()) = self.captured(|pass| pass.emit(stmt));
        self.emit_if(is_inside, block, Vec::new());
    }

    /// The memory behind a handle that the kernel is given, of elements of so many bytes, and of such extents from the
    /// innermost outwards, without the outermost one.
    pub(super) fn behind(&mut self, handle: &Expr, bytes: u32, extents: &[i128]) -> Option<ArrayId> {
        let Value::Scalar(handle) = self.value(handle) else { return None };
        let Node::Param(param) = self.kernel.exprs[handle] else { return None };
        if let Some(&known) = self.handles.get(&handle) {
            return Some(known);
        }
        let array = self.kernel.arrays.push(Array {
            name: self.kernel.params[param].name.clone(),
            space: Space::Image,
            bytes: None,
            element_bytes: bytes.max(1),
            inner_dims: extents.iter().rev().filter_map(|&extent| u64::try_from(extent).ok()).collect(),
            is_param: true,
            is_filled_elsewhere: false,
            held_in: None,
            given: None,
            span: None,
        });
        self.handles.insert(handle, array);
        Some(array)
    }

    /// The number of the place, and whether all coordinates are in the range of these extents.
    pub(super) fn coordinates(&mut self, coordinates: &[ExprId], extents: [i128; 3]) -> (ExprId, ExprId) {
        let mut offset = self.offset(0);
        let mut is_inside = self.exprs().bool(true);
        for (&value, extent) in coordinates.iter().zip(extents).rev() {
            let value = self.exprs().convert(ScalarType::I32, value);
            let value = self.exprs().convert(ScalarType::I64, value);
            let value = self.snapshot(value);
            let [zero, extent] = [0, extent].map(|number| self.exprs().int(number, ScalarType::I64));
            let low = self.exprs().binary(BinaryOp::Ge, value, zero);
            let high = self.exprs().binary(BinaryOp::Lt, value, extent);
            let both = self.exprs().and(low, high);
            is_inside = self.exprs().and(is_inside, both);
            let before = self.exprs().binary(BinaryOp::Mul, offset, extent);
            offset = self.exprs().binary(BinaryOp::Add, before, value);
        }
        (offset, is_inside)
    }
}
