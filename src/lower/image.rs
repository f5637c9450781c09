//! Images of OpenCL: pixels that a handle and coordinates address (OpenCL C specification, image read and write
//! functions).
//!
//! A write changes the pixel at its coordinates. A read without a sampler finds that pixel; one with a sampler takes an
//! image that nothing writes while the kernel runs, since a sampler reads images that are `read_only`, and an object that
//! is given as such and as a writable one has no defined contents. What coordinates outside of an image do is undefined,
//! so that an access is one at `(z * ROWS + y) * ROW + x` where all of them are in the range that any image may have.
//! Images that a kernel is given stand for memory of their own, as its pointers do, and that is printed as an assumption.
//! Barriers order them where they say so (`CLK_IMAGE_MEM_FENCE`).
//!
//! Deliberately absent: which bytes of a pixel there are (its format is the host's), samples and levels of detail, arrays
//! of images: such an access is not modelled and said to be so.

use super::pass::Pass;
use super::value::Value;
use crate::builtins::Direction;
use crate::calculus::{BinaryOp, ExprId, Function, HavocReason, Nature};
use crate::resolve::program::Expr;

/// Bytes of a pixel of the widest format.
const PIXEL: u32 = 16;
/// Pixels of a row, rows of a layer, layers: more than any image has.
const EXTENTS: [i128; 3] = [1 << 24, 1 << 17, 1 << 15];
/// Pixels of an image of one dimension, which may be a buffer: as many as there are coordinates.
const BUFFER: [i128; 3] = [1 << 31, 1, 1];

impl Pass<'_> {
    /// `write_imagef(image, place, colour)` and `read_imagef(image, place)`.
    pub(super) fn image(&mut self, direction: Direction, (name, args): (&str, &[Expr]), call: &Expr) -> Value {
        let (image, place) = match (direction, args) {
            (Direction::Read, [_, _, _]) => return self.pure(&Function::new(name, Nature::Fetches), args, call),
            (Direction::Read, [image, place]) => (image, place),
            (Direction::Write, [image, place, colour]) => {
                self.effect(colour);
                (image, place)
            }
            _ => return self.give_up_call(format!("access to an image that is not followed ('{name}')"), args, call),
        };
        let place = self.value(place);
        let known = numbers(place).and_then(|place| {
            let extents = if place.len() == 1 { BUFFER } else { EXTENTS };
            Some((self.behind(image, PIXEL, &extents[..place.len() - 1])?, place, extents))
        });
        let Some((array, place, extents)) = known else {
            return self.give_up_call(format!("access to an image that is not followed ('{name}')"), args, call);
        };
        let (number, is_inside) = self.coordinates(&place, extents);
        let pixel = self.offset(PIXEL.into());
        let offset = self.exprs().binary(BinaryOp::Mul, number, pixel);
        self.access_if(is_inside, direction, (array, offset, PIXEL), call.span);
        match direction {
            Direction::Write => Value::Void,
            Direction::Read => {
                self.unknown_value(call.ty, &HavocReason::Other(format!("what `{name}` reads")), call.span)
            }
        }
    }
}

/// Coordinates: one number, or the lanes of a vector, of which a fourth one means nothing.
fn numbers(place: Value) -> Option<Vec<ExprId>> {
    let lanes = match place {
        Value::Scalar(number) => return Some(vec![number]),
        Value::Aggregate(lanes) => lanes,
        Value::Void | Value::Pointer(_) => return None,
    };
    let number = |lane: Value| match lane {
        Value::Scalar(number) => Some(number),
        _ => None,
    };
    lanes.into_iter().take(3).map(number).collect()
}
