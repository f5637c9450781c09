//! Matrices that a warp holds in its registers: `nvcuda::wmma`.
//!
//! A load or a store moves a tile of a matrix, each element by one lane. Which lane has which element is not specified,
//! but fragments of one type agree about it: `c.x[i] += d.x[i]` is how they are added up (CUDA programming guide, warp
//! matrix functions). So a lane moves one of each 32 elements: that of its own number, turned by a number of lanes that is
//! not known, and by another one with each 32. For any element and any lane these can be such that the lane has it, and for
//! any two elements such that two lanes have them. Two lanes of a warp never collide in one tile; a lane that reads what the
//! tile has written without `__syncwarp` in between does, and so do two tiles that are moved against each other.
//!
//! That whole warps come to such a call, all lanes with one pointer, is relied on, and told.
//!
//! Deliberately absent: elements of less than a byte; tiles whose
//! shape or layout is not known, of which any byte may be touched.

use super::pass::Pass;
use super::storage::access::Touch;
use super::value::{Base, Place, Pointer, Value};
use crate::builtins::Fragment;
use crate::calculus::eval::WARP;
use crate::calculus::{Axis, BinaryOp, ExprId, GeometryVar, HavocReason, Relied, ScalarType, Space, lane_names};
use crate::resolve::program::{Expr, Type};
use crate::source::Span;

/// A number of lanes: as there are 32, nothing goes around that is computed with it.
const NUMBER: ScalarType = ScalarType::Int { width: 8, signed: false };

impl Pass<'_> {
    /// A function on a part of a matrix in registers.
    pub(super) fn fragment(&mut self, fragment: Fragment, name: &str, args: &[Expr], call: &Expr) -> Value {
        let reason = HavocReason::Call(name.to_owned());
        let (at, touch) = match fragment {
            Fragment::Load => (Some(1), Touch::Read),
            Fragment::Store => (Some(0), Touch::Write),
            Fragment::Compute => (None, Touch::Read),
        };
        let values = self.values(args);
        if let Some(at) = at
            && let Some(Value::Pointer(pointer)) = values.get(at)
            && self.tile(args, &values, (at, touch), (&reason, call.span)).is_none()
        {
            self.touch_somewhere(pointer, touch, &reason, call.span);
        }
        if let (Fragment::Load | Fragment::Compute, Some(value)) = (fragment, values.first()) {
            self.clobber_value(value, &reason, call.span);
            self.overwrite_private(&args[0], value, call.span);
        }
        Value::Void
    }

    /// Moves the elements of a tile, if its shape is known: those of which the lane has them.
    fn tile(
        &mut self,
        args: &[Expr],
        values: &[Value],
        (at, touch): (usize, Touch),
        (reason, span): (&HavocReason, Span),
    ) -> Option<()> {
        let fragment = args.get(1 - at)?.ty;
        // What is changed is handed over by its address.
        let fragment = self.layout.pointee(fragment).unwrap_or(fragment);
        let Type::Record(record) = self.program.types[fragment] else { return None };
        let tile = self.program.records[record].tile.clone()?;
        let ty = self.layout.pointee(args[at].ty)?;
        let size = self.layout.known_size(ty)?;
        let (Value::Pointer(pointer), Value::Scalar(pitch)) = (&values[at], values.get(2)?) else { return None };
        if matches!(pointer.base, Base::Unknown(_)) {
            return None;
        }
        let are_columns = match values.get(3) {
            None => tile.are_columns?,
            Some(Value::Scalar(layout)) => self.kernel.exprs.as_int(*layout)? != 0,
            Some(_) => return None,
        };
        let elements = tile.rows * tile.columns;
        if elements % WARP != 0 {
            return None;
        }
        self.rely(Some(span), Relied::WholeWarps);
        let lanes = lane_names(&tile.name).map(|name| self.implicit_param(name, NUMBER));
        let pitch = self.exprs().convert(ScalarType::I64, *pitch);
        let pitch = self.snapshot(pitch);
        let start = self.snapshot(pointer.offset);
        let base = pointer.base.clone();
        let turns = self.exprs().int(i128::from(elements / WARP), ScalarType::I64);
        self.turns("part", turns, span, |pass, part| {
            let [in_part, columns, size] = [u64::from(WARP), u64::from(tile.columns), size]
                .map(|number| pass.exprs().int(i128::from(number), ScalarType::I64));
            let before = pass.exprs().binary(BinaryOp::Mul, part, in_part);
            let own = pass.element_of_lane(lanes, part);
            let element = pass.exprs().binary(BinaryOp::Add, before, own);
            let row = pass.exprs().binary(BinaryOp::Div, element, columns);
            let column = pass.exprs().binary(BinaryOp::Rem, element, columns);
            let (line, at) = if are_columns { (column, row) } else { (row, column) };
            let before = pass.exprs().binary(BinaryOp::Mul, line, pitch);
            let number = pass.exprs().binary(BinaryOp::Add, before, at);
            let distance = pass.exprs().binary(BinaryOp::Mul, number, size);
            let offset = pass.exprs().binary(BinaryOp::Add, start, distance);
            pass.move_element(&Place { pointer: Pointer { base, offset }, ty, bits: None }, touch, (reason, span));
        });
        Some(())
    }

    fn move_element(&mut self, place: &Place, touch: Touch, (reason, span): (&HavocReason, Span)) {
        match touch {
            Touch::Read => _ = self.load(place, span),
            Touch::Write => {
                let value = self.unknown_value(place.ty, reason, span);
                self.store(place, value, span);
            }
        }
    }

    /// Which element of this part, of as many as a warp has lanes, belongs to the thread.
    fn element_of_lane(&mut self, [first, step]: [ExprId; 2], part: ExprId) -> ExprId {
        let lane = lane(self);
        let [lane, first, step] = [lane, first, step].map(|number| self.exprs().convert(ScalarType::I64, number));
        let further = self.exprs().binary(BinaryOp::Mul, part, step);
        let turned = self.exprs().binary(BinaryOp::Add, lane, first);
        let turned = self.exprs().binary(BinaryOp::Add, turned, further);
        let lanes = self.exprs().int(i128::from(WARP), ScalarType::I64);
        self.exprs().binary(BinaryOp::Rem, turned, lanes)
    }

    /// A fragment whose elements an index chooses lives in memory of the thread's own.
    fn overwrite_private(&mut self, arg: &Expr, value: &Value, span: Span) {
        let Value::Pointer(pointer) = value else { return };
        let size = self.layout.pointee(arg.ty).and_then(|ty| self.layout.known_size(ty));
        let arrays = self.arrays_behind(pointer);
        let is_private = !arrays.is_empty() && arrays.iter().all(|&it| self.kernel.arrays[it].space == Space::Private);
        if let Some(size) = size.filter(|_| is_private) {
            let size = self.offset(size);
            self.move_bytes(pointer, Touch::Write, size, span);
        }
    }

    /// Touches some byte of whatever a pointer leads to: any of them, since which one is arbitrary.
    fn touch_somewhere(&mut self, pointer: &Pointer, touch: Touch, reason: &HavocReason, span: Span) {
        if let Base::Unknown(reason) = &pointer.base {
            return self.unsupported(span, format!("matrix at {reason}"));
        }
        let start = self.havoc(ScalarType::I64, reason.clone(), span);
        // The lanes have parts of their own, so that what is shown is shown for blocks of many threads.
        let lane = self.exprs().geometry(GeometryVar::ThreadIdx(Axis::X));
        let lane = self.exprs().convert(ScalarType::I64, lane);
        let offset = self.exprs().binary(BinaryOp::Add, start, lane);
        let byte = self.exprs().int(1, ScalarType::I64);
        let somewhere = Pointer { base: pointer.base.clone(), offset };
        self.move_bytes(&somewhere, touch, byte, span);
    }
}

/// The number of the thread within its warp. What it is, is said when it is known which axes the source uses.
pub(super) fn lane(pass: &mut Pass<'_>) -> ExprId {
    let var = match pass.notes.warps.lane {
        Some(var) => var,
        None => pass.temporary("lane", ScalarType::U32),
    };
    pass.notes.warps.lane = Some(var);
    pass.var(var)
}
