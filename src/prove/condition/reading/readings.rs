//! The rules by which a condition is read, by name: for derivations and those who read them.

use std::fmt;

/// A rule by which a condition says more than the expressions that it was made of: the proof starts from what they gave,
/// and the checker applies them again. Their statements stand where they are applied, in this room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// Addresses that types do not admit are left out.
    Aligned,
    /// What lies below the smaller of two values.
    Beyond,
    /// Digits of a neighbour.
    Carry,
    /// What holds of all that a value may be.
    Hull,
    /// What a flag is worth after a loop.
    LastIteration,
    /// Divisors of either sign.
    Loose,
    /// A quotient of a quotient.
    Nested,
    /// Quotients of powers of two.
    Powers,
    /// Low bits changed by a mask that both threads need not share.
    Swizzle,
    /// Loops whose iterations numbers decide.
    NumberedIterations,
    /// Bounds of whole numbers.
    Whole,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reading::Aligned => "ALIGNED",
            Reading::Beyond => "BEYOND",
            Reading::Carry => "CARRY",
            Reading::Hull => "HULL",
            Reading::LastIteration => "LAST-TURN",
            Reading::Loose => "LOOSE",
            Reading::Nested => "NESTED",
            Reading::Powers => "POWERS",
            Reading::Swizzle => "SWIZZLE",
            Reading::NumberedIterations => "TURNED",
            Reading::Whole => "WHOLE",
        })
    }
}
