//! The typed program that [`super`] produces and `lower` consumes.

pub mod visit;

use crate::arena::{Arena, Handle};
use crate::builtins::Builtin;
use crate::calculus::{GeometryFacts, GeometryVar, Platform};
use crate::source::{Language, SourceMap, Span};
use rustc_hash::FxHashSet;

/// Handle of a type; equal types have equal handles, but for `dim3`, which holds what `uint3` does and has a handle of its own.
pub type TypeId = Handle<Type>;
/// Handle of a variable.
pub type VariableId = Handle<Variable>;
/// Handle of a function.
pub type FunctionId = Handle<Function>;
/// Handle of a record.
pub type RecordId = Handle<Record>;

/// A typed program.
#[derive(Debug)]
pub struct Program {
    /// The language.
    pub language: Language,
    /// Whose rules its launches obey.
    pub platform: Platform,
    /// Files and expansions.
    pub sources: SourceMap,
    /// Types, interned.
    pub types: Arena<Type>,
    /// Structs, classes, unions with their layout.
    pub records: Arena<Record>,
    /// Globals, parameters and locals.
    pub variables: Arena<Variable>,
    /// Kernels and the device functions that they reach, each instance its own.
    pub functions: Arena<Function>,
    /// The kernels, in source order.
    pub kernels: Vec<FunctionId>,
    /// Types that nothing declares and that are taken for numbers, since their names or uses say so.
    pub numbers: FxHashSet<TypeId>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// An integer, character or enumeration type.
    Int {
        /// 8, 16, 32 or 64.
        width: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point type of this many bits.
    Float {
        /// 16, 32, 64 or 128.
        width: u8,
    },
    /// A pointer; also what a reference has become.
    Pointer {
        /// What it points to.
        to: TypeId,
        /// The address space that its type states (OpenCL), if any.
        space: Option<AddressSpace>,
    },
    /// An array; `None` for one of unknown extent (`extern __shared__ T a[]`).
    Array {
        /// Element type.
        of: TypeId,
        /// Number of elements.
        len: Option<u64>,
    },
    /// A short vector. Three lanes take the room of four in OpenCL and of three in CUDA: see [`Program`]'s layout functions.
    Vector {
        /// Lane type.
        of: TypeId,
        /// Number of lanes.
        lanes: u8,
    },
    /// A struct, class or union.
    Record(RecordId),
    /// A type that is not known or not modelled (an undeclared name, a type parameter that nothing
    /// instantiates, a texture): its name as written.
    Unknown(String),
}

/// Address spaces that a type or declaration states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// `__global`; what kernel parameters of CUDA point to.
    Global,
    /// `__shared__`, `__local`.
    Shared,
    /// `__constant__`, `__constant`.
    Constant,
    /// `__private`; locals.
    Private,
}

/// A struct, class or union with its layout (the C layout that nvcc and OpenCL use).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name, with template arguments.
    pub name: String,
    /// Whether it is a union.
    pub is_union: bool,
    /// Its fields; those of base classes come first, an anonymous member's fields are lifted.
    pub fields: Vec<Field>,
    /// Size in bytes; `None` if a field's is unknown, and then no field's offset may be relied on.
    pub bytes: Option<u64>,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether nothing changes it once it is made: what a lambda that is not `mutable` has become.
    pub is_fixed: bool,
    /// What a warp holds together, if it is a fragment of a matrix.
    pub tile: Option<Tile>,
}

/// The part of a matrix that a fragment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// What it is called where its lanes are told of.
    pub name: String,
    /// As many rows.
    pub rows: u32,
    /// As many elements in a row.
    pub columns: u32,
    /// Whether columns lie in one piece in memory, if the type says so.
    pub are_columns: Option<bool>,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Byte offset in the record. Adjacent bit-fields share the bytes of their whole group.
    pub offset: u64,
    /// Bytes of the bit-field group that it belongs to, if it is a bit-field.
    pub bit_group_bytes: Option<u32>,
    /// Its own width, if it is a bit-field.
    pub bits: Option<u32>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type; a reference is a pointer, and every use of it is a dereference.
    pub ty: TypeId,
    /// Where it lives.
    pub storage: Storage,
    /// Whether it was declared as a reference.
    pub is_reference: bool,
    /// Whether `volatile` was written anywhere in its type.
    pub is_volatile: bool,
    /// Its value, if it is a constant that the program can rely on (`const int`, `constexpr`, an enum constant,
    /// a non-type template argument).
    pub constant: Option<i128>,
    /// The least and greatest value that the language lets it have, where its type alone would allow more: an
    /// enumeration whose underlying type is not fixed.
    pub range: Option<(i128, i128)>,
    /// Whether it is `extern __shared__` (all of these share one allocation).
    pub is_extern: bool,
    /// Whether its declaration gives it a value.
    pub has_initializer: bool,
    /// Where it is declared.
    pub span: Span,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// A parameter of a function.
    Param,
    /// A local variable of a thread.
    Local,
    /// Shared by a block: `__shared__`, `__local`, in a function or (CUDA) at namespace scope.
    Shared,
    /// `__device__`, `__managed__`, or a program-scope variable of OpenCL 2.
    Global,
    /// `__constant__`, `__constant`, or a constant table at namespace scope.
    Constant,
    /// A host variable that a kernel mentions; only its constant may be used.
    Host,
}

/// A kernel or device function, with concrete types.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, qualified.
    pub name: String,
    /// Template arguments as text; empty if it is no instance.
    pub template_args: Vec<String>,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Result type.
    pub result: TypeId,
    /// Parameters; `this` comes first in a method.
    pub params: Vec<VariableId>,
    /// The body; `None` if it is only declared.
    pub body: Option<Vec<Stmt>>,
    /// What its attributes say of blocks and clusters.
    pub geometry: GeometryFacts,
    /// Range of its name.
    pub span: Span,
    /// What in its head is not understood.
    pub unsupported: Vec<(Span, String)>,
    /// What was taken for granted to understand it: a type for a template parameter that nothing gives.
    pub assumed: Vec<String>,
    /// Positions of parameters that some launch gives one and the same pointer, the earlier one first.
    pub same_pointers: Vec<(usize, usize)>,
}

/// How the reason begins why nobody looks at an instance of a kernel template.
pub(super) const LEFT_OUT: &str = "an instance of a kernel template beyond";

impl Function {
    /// Whether it is a kernel that nobody looks at, since the file has too many instances of templates.
    pub fn is_left_out(&self) -> bool {
        self.unsupported.iter().any(|(_, reason)| reason.starts_with(LEFT_OUT))
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Its range.
    pub span: Span,
}

/// The kinds of [`Stmt`].
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ … }`
    Block(Vec<Stmt>),
    /// A local (or shared) variable comes to life, with its initial value converted to its type.
    /// An aggregate's initialiser is an [`ExprKind::Construct`].
    Declare(VariableId, Option<Expr>),
    /// An expression for its effect.
    Expr(Expr),
    /// `if`; the condition is of type `bool`. An `if constexpr` has been decided already.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `for`; the condition is of type `bool`.
    For {
        /// First part, in the scope of the loop.
        init: Option<Box<Stmt>>,
        /// The condition.
        cond: Option<Expr>,
        /// The step.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `while`
    While(Expr, Box<Stmt>),
    /// `do … while`
    Do(Box<Stmt>, Expr),
    /// `switch` on an integer; `Case` statements stand in the body.
    Switch(Expr, Box<Stmt>),
    /// `case` with its constant, or `default`.
    Case(Option<i128>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`, with the value converted to the result type (a pointer to it, if that is a reference).
    Return(Option<Expr>),
    /// Inline assembly; operands as they were.
    Asm {
        /// The template.
        text: String,
        /// Output operands (lvalues).
        outputs: Vec<Expr>,
        /// Input operands.
        inputs: Vec<Expr>,
        /// Whether it may touch memory.
        clobbers_memory: bool,
    },
    /// What is not understood: the reason.
    Unsupported(String),
}

/// An expression. Whether it denotes an object (an lvalue) or a value follows from its kind: `Variable`,
/// `Deref`, `Element`, `Field` and `Lanes` of an lvalue denote objects; everything else is a value. A value
/// is taken from an object by `Load` only.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type: of the object, or of the value.
    pub ty: TypeId,
    /// Its range.
    pub span: Span,
}

/// The kinds of [`Expr`].
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer or boolean constant.
    Int(i128),
    /// A floating constant, as written.
    Float(String),
    /// A string literal.
    String(String),
    /// The null pointer.
    Null,
    /// An id or size (`threadIdx.x`), as an unsigned 32-bit value.
    Geometry(GeometryVar),
    /// A variable, as an object.
    Variable(VariableId),
    /// `*p`, as an object.
    Deref(Box<Expr>),
    /// An element of an array object, as an object (`s[i]`, where `s` is an array and not a pointer).
    Element(Box<Expr>, Box<Expr>),
    /// A field of a record, by index: an object if the record is one.
    Field(Box<Expr>, usize),
    /// Lanes of a vector, in order: an object if the vector is one.
    Lanes(Box<Expr>, Vec<u8>),
    /// The value of an object.
    Load(Box<Expr>),
    /// The address of an object; of an array, that of its first element when the type says so (decay).
    AddressOf(Box<Expr>),
    /// A pointer moved by a signed number of elements of its pointee type.
    PointerAdd(Box<Expr>, Box<Expr>),
    /// The difference of two pointers in elements, of type `long`.
    PointerDifference(Box<Expr>, Box<Expr>),
    /// A conversion of a value to this expression's type: arithmetic, to bool, or of a pointer.
    Convert(Box<Expr>),
    /// Negation, complement, logical not; the operand has been promoted.
    Unary(UnaryOp, Box<Expr>),
    /// An arithmetic operator or comparison on operands of one type (shifts: promoted each by itself); also
    /// on vectors, lane by lane, and on pointers for comparisons.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`, of truth values; the right side is evaluated only if the left holds.
    And(Box<Expr>, Box<Expr>),
    /// `||`, of truth values; the right side is evaluated only if the left fails.
    Or(Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// Stores a value, converted to the object's type, and denotes the object.
    Assign(Box<Expr>, Box<Expr>),
    /// `a op= b`: the object, the operator, the right side converted, and the type in which it is computed.
    /// Denotes the object. On a pointer the operator is `Add` or `Sub` and the right side counts elements.
    CompoundAssign {
        /// The object.
        target: Box<Expr>,
        /// The operator.
        op: BinaryOp,
        /// The right side.
        value: Box<Expr>,
        /// The type of the computation.
        compute: TypeId,
    },
    /// `++` and `--`, of numbers and pointers.
    Step {
        /// The object.
        target: Box<Expr>,
        /// Whether it counts up.
        up: bool,
        /// Whether the value is the old one; otherwise it denotes the object.
        postfix: bool,
    },
    /// A call of a function of the program; an argument for a reference parameter is an address. The result
    /// of a function that returns a reference is wrapped in `Deref`.
    Call(FunctionId, Vec<Expr>),
    /// A function, as a pointer to it.
    Function(FunctionId),
    /// A call through a pointer; arguments are objects where they denote one, and not converted yet: a parameter may
    /// be a reference.
    CallThrough(Box<Expr>, Vec<Expr>),
    /// A call of a builtin.
    Builtin(Builtin, String, Vec<Expr>),
    /// A call of something that is not known: its name, its arguments, and why it is not known.
    UnknownCall(String, Vec<Expr>, Callee),
    /// A vector, array or record built from parts in order; missing ones are zero. A vector with one part is a splat.
    Construct(Vec<Expr>),
    /// What is not understood: the reason.
    Unsupported(String),
}

/// Why it is not known what is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// It is not defined here. The arguments of these places are the addresses of objects that were handed over by their names: it
    /// takes them by reference, or copies of them.
    Undefined(Vec<usize>),
    /// Which of several functions of the unit it is hangs on a type that is not known.
    OneOfSeveral,
}

pub use crate::calculus::{BinaryOp, UnaryOp};
