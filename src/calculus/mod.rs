//! BabyCUDA: the small calculus that kernels are lowered to (docs/SEMANTICS.md, "The calculus"; after
//! docs/PAPERS.md, "Liew 2024, section 3", extended).
//!
//! # Meaning
//! A [`Kernel`] is one sequential program that every thread of a launch runs over private scalar
//! [`Variable`]s and over [`Array`]s that threads share. Expressions ([`Expr`]) are pure values in an
//! arena; effects stand only in statements ([`Stmt`]).
//!
//! - Arrays are bytes. An access names the array, the byte offset of its first byte (a signed integer
//!   expression) and the number of bytes. Pointers have been resolved to (array, byte offset) before.
//! - `let x = e` assigns the private variable `x`; a variable may be assigned many times. A read binds
//!   the variable that holds the value; its contents are unknown to the protocol.
//! - `break`, `continue` and `return` are gone: they set boolean variables that guard what follows and
//!   that stand in the condition of loops. [`Kernel::returned`] is the variable that `return` sets.
//! - Arithmetic has width and sign ([`ScalarType`]); conversions are explicit ([`Expr::Convert`]); the
//!   operands of a binary operator have the same type, except the right operand of shifts. `/` and `%`
//!   truncate towards zero. Unsigned operations wrap; signed overflow, division by zero and shifts out
//!   of range are traps. Comparisons and `!`, `&&`, `||` give `Bool`; `&&` and `||` here evaluate both
//!   sides (reads have been bound before, under their guards).
//! - Floating-point values are opaque: they have types and no arithmetic that a proof could use.
//!
//! # Invariants (checked by [`validate`])
//! Handles are in range; operand types agree; conditions are `Bool`; loop variables, bounds and steps of
//! [`Stmt::For`] are not assigned in its body; every access, sync, loop and assertion has its own [`Site`];
//! expressions refer only to expressions before them in the arena.
//!
//! Deliberately absent: pointers, functions, types with fields, names of CUDA or OpenCL but for whose limits a launch has
//! ([`Platform`]).

pub mod arithmetic;
pub mod arrivals;
pub mod barriers;
pub mod definitions;
pub mod eval;
pub mod extents;
pub mod intervals;
pub mod text;
pub mod validate;

mod build;
mod function;
mod geometry;
pub mod platform;
pub mod statements;
mod synchronisation;
mod walk;

pub use build::Exprs;
pub use function::{BitCount, Function, Nature};
pub use geometry::{Axis, Geometry, GeometryFacts, GeometryVar};
pub use platform::{GRID, Platform, Rules, is_implicit, is_of_lanes, is_offset, lane_names, offset_name};
pub use statements::nesting;
pub use synchronisation::{Among, Arrivals, AtomicOp, Count, MemoryOrder, Part, Placeholder, SyncMemory, SyncScope};
pub use walk::operands;

use crate::arena::{Arena, Handle, SideTable};
use crate::source::Span;

/// Handle of an expression.
pub type ExprId = Handle<Expr>;
/// Handle of a private variable.
pub type VarId = Handle<Variable>;
/// Handle of a uniform scalar parameter.
pub type ParamId = Handle<Param>;
/// Handle of an array.
pub type ArrayId = Handle<Array>;
/// Handle of a site: the identity of an access, sync, loop or assertion.
pub type SiteId = Handle<Site>;

/// A kernel in the calculus.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Its name as the user knows it.
    pub name: String,
    /// Template arguments as text, if it is an instance.
    pub template_args: Vec<String>,
    /// Uniform scalar parameters: equal for all threads of a launch. Scalar fields of a struct that is
    /// passed by value are parameters of their own, named `p.field`.
    pub params: Arena<Param>,
    /// Arrays that it may access.
    pub arrays: Arena<Array>,
    /// Private scalar variables.
    pub vars: Arena<Variable>,
    /// All expressions, hash-consed.
    pub exprs: Exprs,
    /// Identities of accesses, syncs, loops and assertions.
    pub sites: Arena<Site>,
    /// What the source says about its geometry.
    pub geometry: GeometryFacts,
    /// Axes of the block that nothing mentions but the numbers of threads within their warps, which masks name.
    pub numbered: [bool; 3],
    /// The body.
    pub body: Vec<Stmt>,
    /// The variable that is true once the thread has returned, if the kernel has a `return` that matters.
    pub returned: Option<VarId>,
    /// What could not be modelled. A kernel with an entry that is not limited to arrays is never race-free.
    pub unsupported: Vec<Unsupported>,
    /// What its meaning counts on beyond what is promised: told with every verdict.
    pub relies: Vec<Reliance>,
    /// Where expressions come from, for messages and for no-wrap obligations.
    pub spans: SideTable<Expr, Span>,
}

impl Kernel {
    /// Whether something that is not modelled may do whatever it likes: nothing can be said of such a kernel.
    pub fn anything_may_happen(&self) -> bool {
        self.unsupported.iter().any(|unsupported| unsupported.arrays.is_none())
    }
}

/// A uniform scalar parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
}

/// A private variable of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the source, or a made-up one that cannot clash (`returned`, `t.3`).
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
}

/// An array in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name in the source.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Its extent in bytes, if it is known; of each copy, if blocks of a cluster reach each other's.
    pub bytes: Option<u64>,
    /// Size of the element as declared, for messages (offset 12 of a `float` array is `a[3]`); at least 1.
    pub element_bytes: u32,
    /// Inner dimensions in elements, outermost dropped (`float s[8][33]` has `[33]`), for messages.
    pub inner_dims: Vec<u64>,
    /// Whether the kernel got it as a pointer parameter (then it is assumed disjoint from others).
    pub is_param: bool,
    /// Whether it is a variable of the device that its declaration gives no contents, so that the host or another kernel
    /// fills it.
    pub is_filled_elsewhere: bool,
    /// The array that holds the pointer to it, and at which byte, if it is a parameter only in that the host has put its
    /// address into memory before the launch.
    pub held_in: Option<(ArrayId, u64)>,
    /// The parameter that is false where the host gives the null pointer for it, if the kernel asks. A run that touches
    /// it all the same is none that counts.
    pub given: Option<ParamId>,
    /// Where it is declared.
    pub span: Option<Span>,
}

impl Array {
    /// Whether what it holds at the launch comes from outside: from whoever passes it, or fills it.
    pub fn is_given(&self) -> bool {
        self.is_param || self.is_filled_elsewhere
    }
}

/// Memory spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Visible to the whole grid.
    Global,
    /// One copy for each block, which blocks of its cluster reach: offsets count from the start of the cluster's first
    /// block, and blocks lie [`Space::HOME`] bytes apart, in the order of their ranks in the cluster.
    Distributed,
    /// One copy for each block.
    Shared,
    /// Read-only and visible to the whole grid.
    Constant,
    /// Pixels of images and elements of surfaces: visible to the whole grid, and ordered by barriers that name images
    /// only. CUDA has none: its caches of textures are not kept up while a kernel runs.
    Image,
    /// One copy for each thread (a local array indexed by a variable): never raced on.
    Private,
}

impl Space {
    /// Bytes between the copies of two neighbouring blocks in [`Space::Distributed`]: more than any offset into one.
    pub const HOME: i128 = 1 << 40;
}

/// The identity of an access, sync, loop or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it stands, with its macro expansion chain.
    pub span: Option<Span>,
    /// Calls of inlined device functions that lead here, outermost first.
    pub inlined: Vec<Span>,
    /// For an access of an asynchronous copy, what tells that it is done.
    pub told: Option<Told>,
}

/// The objects that count arrivals and tell that an asynchronous copy is done: others have waited for it who have waited for
/// the next arrival of its thread there, and for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// The array of the objects.
    pub array: ArrayId,
    /// Where they start in it.
    pub start: i64,
}

/// Something that the meaning of a kernel counts on, and that nobody promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reliance {
    /// What.
    pub what: Relied,
    /// Where, if it is about one place.
    pub span: Option<Span>,
}

/// What a [`Reliance`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relied {
    /// The compiler moves no access over a barrier in assembly that does not say that it clobbers memory.
    Unclobbered,
    /// Warps have 32 threads, where the device decides.
    LanesOf32,
    /// Whole warps load and store matrices, all lanes of each with one pointer: other calls are undefined.
    WholeWarps,
    /// All blocks are of one size, where the last ones may be smaller.
    BlocksOfOneSize,
    /// Types that nothing declares and that are used as numbers are some.
    Numbers,
    /// What nothing declares and is named as what tells or checks something accesses no memory that threads share.
    Telling,
    /// What is called of that name and not defined here is a function of its arguments: it reads nothing else that changes, changes
    /// nothing but what it gives, and waits for nobody.
    External(String),
    /// What is called so in objects of a type that nothing declares is data inside of them: the type and the member.
    Member(String, String),
    /// No integer is divided by 0, where that would give some value.
    Divisors,
    /// Operands and arguments whose order is left open are evaluated from left to right.
    LeftToRight,
    /// The factors of OpenCL's `mul24` fit, or are cut off as other platforms do.
    FactorsOf24Bits,
}

/// Something that is not modelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Where.
    pub span: Option<Span>,
    /// What, in the user's words.
    pub reason: String,
    /// The arrays that it may touch in unknown ways; `None` if it may do anything.
    pub arrays: Option<Vec<ArrayId>>,
    /// Whether it may pass barriers, which other threads then wait at.
    pub barriers: bool,
    /// Whether it is only about the order of what one thread does: then it hides no conflict of two.
    pub is_of_thread: bool,
}

impl Unsupported {
    /// What is said of the call of a function that is not defined.
    pub fn call_of(name: &str) -> String {
        format!("call of '{name}', which is not defined")
    }

    /// The function that is not defined, if that is all that is said.
    pub fn undefined_function(&self) -> Option<&str> {
        self.reason.strip_prefix("call of '")?.strip_suffix("', which is not defined")
    }
}

/// Scalar types. Pointers and aggregates do not exist here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// A truth value.
    Bool,
    /// A two's complement integer.
    Int {
        /// 8, 16, 32 or 64; 24 for the part of a number that some multiplications look at, which nothing in memory has.
        width: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point number or any other value that the calculus does not compute with (an opaque
    /// carrier of this many bytes).
    Opaque {
        /// Size.
        bytes: u16,
    },
}

impl ScalarType {
    /// `int`
    pub const I32: ScalarType = ScalarType::Int { width: 32, signed: true };
    /// `unsigned int`
    pub const U32: ScalarType = ScalarType::Int { width: 32, signed: false };
    /// `long` on LP64; the type of byte offsets.
    pub const I64: ScalarType = ScalarType::Int { width: 64, signed: true };
    /// `size_t` on 64-bit devices.
    pub const U64: ScalarType = ScalarType::Int { width: 64, signed: false };

    /// Size in bytes.
    #[inline]
    pub fn bytes(self) -> u32 {
        match self {
            ScalarType::Bool => 1,
            ScalarType::Int { width, .. } => u32::from(width) / 8,
            ScalarType::Opaque { bytes } => u32::from(bytes),
        }
    }

    /// The least and greatest value of an integer or boolean type.
    #[inline]
    pub fn range(self) -> Option<(i128, i128)> {
        match self {
            ScalarType::Bool => Some((0, 1)),
            ScalarType::Int { width, signed: true } => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
            ScalarType::Int { width, signed: false } => Some((0, (1 << width) - 1)),
            ScalarType::Opaque { .. } => None,
        }
    }

    /// Whether that number is one of its values; what is not computed with may be any.
    pub fn holds(self, value: i128) -> bool {
        self.range().is_none_or(|(least, most)| (least..=most).contains(&value))
    }
}

/// Pure values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant; booleans are 0 and 1.
    Int(i128, ScalarType),
    /// A value that nothing is known about and that is the same wherever this node is used
    /// (a floating constant, for instance), by its text.
    Opaque(String, ScalarType),
    /// A private variable.
    Var(VarId),
    /// A uniform parameter.
    Param(ParamId),
    /// An id or a size.
    Geometry(GeometryVar),
    /// A prefix operator.
    Unary(UnaryOp, ExprId),
    /// An infix operator.
    Binary(BinaryOp, ExprId, ExprId),
    /// `c ? a : b`; both are pure.
    Select(ExprId, ExprId, ExprId),
    /// A conversion between scalar types with C's meaning.
    Convert(ScalarType, ExprId),
    /// What a function gives for arguments.
    Call(Function, Vec<ExprId>, ScalarType),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Neg,
    /// Bitwise complement.
    BitNot,
    /// Logical negation (of `Bool`).
    Not,
}

/// Infix operators; the sign of operands decides the meaning of `/`, `%`, `>>`, comparisons, `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the operator that its name says")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Min,
    Max,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl BinaryOp {
    /// Whether the result is `Bool`.
    pub fn is_boolean(self) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne | And | Or)
    }

    /// The comparison that holds exactly where this one does not; `None` if it is no comparison.
    pub fn negated(self) -> Option<BinaryOp> {
        Some(match self {
            BinaryOp::Lt => BinaryOp::Ge,
            BinaryOp::Le => BinaryOp::Gt,
            BinaryOp::Gt => BinaryOp::Le,
            BinaryOp::Ge => BinaryOp::Lt,
            BinaryOp::Eq => BinaryOp::Ne,
            BinaryOp::Ne => BinaryOp::Eq,
            _ => return None,
        })
    }

    /// The comparison that says the same of its operands in the other order; `None` if it is no comparison.
    pub fn mirrored(self) -> Option<BinaryOp> {
        Some(match self {
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            BinaryOp::Eq | BinaryOp::Ne => self,
            _ => return None,
        })
    }
}

/// Statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `let var = value`
    Let {
        /// Assigned variable.
        var: VarId,
        /// The value; its type is the variable's.
        value: ExprId,
    },
    /// `let var = array[offset; bytes]`
    Read {
        /// The variable that takes the value, of any type of that size or an opaque carrier.
        var: VarId,
        /// What is touched.
        access: Access,
    },
    /// `array[offset; bytes] := value`
    Write {
        /// What is touched.
        access: Access,
        /// What is stored, if the calculus can say so; it decides "same value" only.
        value: Option<ExprId>,
    },
    /// `let var = atomic(op) array[offset; bytes]`
    Atomic {
        /// The variable that takes the old value.
        var: Option<VarId>,
        /// What is touched.
        access: Access,
        /// Which operation and with which operands.
        op: AtomicOp,
        /// Operands.
        operands: Vec<ExprId>,
        /// Memory order.
        order: MemoryOrder,
        /// Threads among which it is atomic.
        scope: SyncScope,
    },
    /// `if cond { then } else { otherwise }`
    If {
        /// The condition.
        cond: ExprId,
        /// Taken if it holds.
        then: Vec<Stmt>,
        /// Taken otherwise.
        otherwise: Vec<Stmt>,
    },
    /// `for var = start while cmp(var, bound) step { body }`
    For(Box<For>),
    /// `loop` with a test before or after each turn; the number of turns is not known by form.
    Loop {
        /// When the test runs, and what it is.
        test: Test,
        /// The body.
        body: Vec<Stmt>,
        /// Its identity.
        site: SiteId,
    },
    /// A barrier.
    Sync {
        /// Which threads it orders.
        scope: SyncScope,
        /// Which memory it orders.
        memory: SyncMemory,
        /// For which threads of its scope it is.
        among: Among,
        /// Its identity.
        site: SiteId,
    },
    /// A fence: what its thread did before it is seen, by those whom the scope names, before what its thread does after
    /// it. It waits for nobody.
    Fence {
        /// In which directions.
        order: MemoryOrder,
        /// By whom.
        scope: SyncScope,
        /// Which memory it orders.
        memory: SyncMemory,
        /// Its identity.
        site: SiteId,
    },
    /// The variable takes an unknown value.
    Havoc {
        /// The variable.
        var: VarId,
        /// Why nothing is known, for messages.
        reason: HavocReason,
        /// Where.
        span: Option<Span>,
    },
    /// The condition holds here.
    Assume {
        /// The condition.
        cond: ExprId,
        /// Why it may be relied on, if it may.
        basis: Basis,
        /// Where.
        span: Option<Span>,
    },
    /// It is claimed that the condition holds here. Nothing may rely on it before it is proved.
    Assert {
        /// The condition.
        cond: ExprId,
        /// Who claims it.
        claimed: Claimed,
        /// Its identity.
        site: SiteId,
    },
}

/// Who claims a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claimed {
    /// The source asserts it.
    Asserted,
    /// Threads that call a collective together have to agree about its arguments.
    Agreement,
}

/// Why a condition may be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// The source or a launch states it: whoever uses it tells the user.
    Stated,
    /// Something in the kernel has a meaning only where it holds, such as a barrier for a number of threads: likewise.
    Needed,
    /// It is stated of what memory holds at the launch: it relates what two threads have read, whatever the iterations in
    /// which they are.
    Held,
    /// It was proved of this kernel, and holds in every run that satisfies what is stated before it.
    Proved,
    /// What a call gives makes it hold, such as a vote that is "all": no run is without it.
    Given,
    /// Who goes on has got past it: a thread for which it does not hold has ended, and its launch with it, unfinished
    /// (`__trap()`). So it holds after it, and a run in which it fails shows nothing that is certain.
    Passed,
    /// It is not known to hold, and means nothing until it is proved.
    Candidate,
}

impl Basis {
    /// Whether it restricts whole runs, and is told to the user.
    pub fn is_told(self) -> bool {
        matches!(self, Basis::Stated | Basis::Needed | Basis::Held)
    }
}

/// What an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// Byte offset of the first byte, of type [`ScalarType::I64`].
    pub offset: ExprId,
    /// Number of bytes, at least 1.
    pub bytes: u32,
    /// What the offset of a defined access is a multiple of, counted from an array that lies as is best; 1 where that
    /// says nothing. Proofs do not rely on it: it keeps runs that nobody could make from being witnesses.
    pub align: u32,
    /// Its identity.
    pub site: SiteId,
}

/// A counted loop. `start` is evaluated once; `bound` and the step's operand do not change in the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The loop variable; after the loop it keeps the value that failed the test.
    pub var: VarId,
    /// First value.
    pub start: ExprId,
    /// Comparison of the variable with the bound; one of `Lt Le Gt Ge Ne`.
    pub cmp: BinaryOp,
    /// The bound.
    pub bound: ExprId,
    /// How the variable moves from one turn to the next.
    pub step: Step,
    /// The body; does not assign `var`.
    pub body: Vec<Stmt>,
    /// Its identity.
    pub site: SiteId,
}

/// How a loop variable moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// `Add`, `Sub`, `Mul`, `Div`, `Shl` or `Shr`.
    pub op: BinaryOp,
    /// Its right operand, constant during the loop.
    pub by: ExprId,
}

/// When a [`Stmt::Loop`] tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// `while (c)`
    Before(ExprId),
    /// `do … while (c)`
    After(ExprId),
}

/// Why a variable's value is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HavocReason {
    /// An uninitialised variable.
    Uninitialized,
    /// The result of a call that is not modelled, by name.
    Call(String),
    /// The result of a call, by name, that all threads of a group of this scope make together and that gives them all
    /// the same value. A barrier of the group stands before it.
    Common(SyncScope, String),
    /// A name that nothing declares, taken to be a value. It may be a macro that is more than that, so that nothing is
    /// proved of a kernel with one.
    Undeclared(String),
    /// A clock, an active mask or another value that depends on the schedule, by name.
    Schedule(String),
    /// Whether the access just made is the one that a claim about accesses is about: any of them, in turn. A run looks
    /// at the last one.
    Choice,
    /// What is left to the implementation, in words: a program is proved for all values, and wrong if it races for one.
    /// A run takes 1.
    Implementation(String),
    /// Where a pointer leads, and how it came about, in words: it was loaded, say.
    Pointer(String),
    /// Anything else, in words.
    Other(String),
}
