//! The untyped surface tree that every front end produces.
//!
//! It keeps what the user wrote, in the user's order, with a [`Span`] on every node, and decides nothing:
//! names are not resolved, types are not computed, templates are not expanded, macros are already gone.
//!
//! Invariants:
//! - Nothing is dropped. A construct that a front end does not understand is [`ExprKind::Unsupported`],
//!   [`StmtKind::Unsupported`] or [`ItemKind::Unsupported`] over its whole range, with a reason that
//!   reads well in a message ("lambda expression", "goto statement", "syntax error").
//! - Parentheses are gone (the tree shows grouping), implicit conversions are not there yet.
//! - Both front ends give the same tree for the same program, up to spans.
//!
//! Deliberately absent: CUDA or OpenCL meaning. `threadIdx.x` is a member of a path; `__global__` and
//! `__kernel` are [`Qualifier`]s.

mod aside;
pub mod known;
mod lambda;
pub mod literals;
mod lost;
mod mentions;
pub mod packed;
pub mod parts;
mod print;
mod shape;
pub mod undecided;
pub mod unpack;
mod variable_template;
pub mod words;

pub use aside::{Aside, AsideKind};
pub use lambda::{CallOperator, Capture, CaptureList, CaptureMode, Lambda, Mutability, lambda, statement_expression};
pub use lost::{lost_function, lost_functions, lost_kernel, lost_member, lost_members, lost_name, mark_unread};
pub use mentions::{HiddenBy, Mention, MentionKind, asks_about_kernels};
pub use print::{argument_text, print, type_text, variable_text};
pub use shape::Shape;
pub use variable_template::of_variable_template;

use crate::source::{Dialect, SourceMap, Span};

/// One translation unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it was read as.
    pub dialect: Dialect,
    /// Its files and macro expansions.
    pub sources: SourceMap,
    /// Top-level items of all files, in the order of the preprocessed text.
    pub items: Vec<Item>,
    /// What a compiler knows of it, if the front end asked one.
    pub known: known::Known,
    /// Where its tokens name a kernel or launch one, if the driver has looked.
    pub mentions: Vec<Mention>,
    /// What its templates with packs have been made into, which is no part of its text.
    pub made: unpack::Made,
}

/// A declaration at namespace scope or inside a class.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its whole range.
    pub span: Span,
}

/// The kinds of [`Item`].
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// A function, method or operator: definition or declaration.
    Function(Box<Function>),
    /// Variables declared together (`__shared__ float a[4], b;`).
    Variables(Vec<Variable>),
    /// `struct`, `class` or `union`.
    Record(Record),
    /// `enum` or `enum class`.
    Enum(Enum),
    /// `typedef T name;` and `using name = T;`, perhaps a template.
    Alias {
        /// The new name.
        name: Name,
        /// Template parameters of an alias template; empty otherwise.
        template: Vec<TemplateParam>,
        /// What it stands for.
        ty: Type,
    },
    /// `namespace a::b { … }` (one level each; empty name if anonymous); `extern "C" { … }` has no name either.
    Namespace {
        /// Its name.
        name: Name,
        /// Whether its names are those of the namespace around it, too.
        inline: bool,
        /// What it holds.
        items: Vec<Item>,
    },
    /// `using namespace a;`
    UsingNamespace(Path),
    /// `using a::b;` or `namespace c = a::b;` (then `name` is `c`).
    UsingName {
        /// The name that is introduced.
        name: Name,
        /// What it refers to.
        path: Path,
    },
    /// `template __global__ void k<float, 4>(float *);`, or an explicit specialisation's arguments.
    ExplicitInstantiation {
        /// The template's name with its arguments, if they are written.
        path: Path,
        /// Parameter types as written, from which missing arguments are deduced.
        params: Vec<Param>,
    },
    /// `template class C<float>;`: the template's name with its arguments.
    RecordInstantiation(Path),
    /// `static_assert(c, …);`
    StaticAssert(Expr),
    /// What is not understood: the reason.
    Unsupported(String),
}

/// An identifier with its range; the text is empty for an anonymous entity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A possibly qualified name: `a::b<T, 4>::c`.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether it starts with `::`.
    pub global: bool,
    /// Its segments, outermost first; never empty.
    pub segments: Vec<PathSegment>,
}

/// One segment of a [`Path`].
#[derive(Clone, Debug)]
pub struct PathSegment {
    /// The identifier; `operator+` and the like for operators.
    pub name: Name,
    /// Template arguments, if written.
    pub args: Option<Vec<TemplateArg>>,
}

/// An argument of a template.
#[derive(Clone, Debug)]
pub enum TemplateArg {
    /// A type.
    Type(Type),
    /// A value; a bare name that may be either is a value.
    Value(Expr),
    /// `T...`: as many arguments as the packs in it have elements.
    Expansion(Box<TemplateArg>),
}

/// A parameter of a template.
#[derive(Clone, Debug)]
pub struct TemplateParam {
    /// Its name; empty if unnamed.
    pub name: Name,
    /// Type or value.
    pub kind: TemplateParamKind,
    /// Whether it is a pack (`typename... T`).
    pub pack: bool,
}

/// The kinds of [`TemplateParam`].
#[derive(Clone, Debug)]
pub enum TemplateParamKind {
    /// `typename T = default`.
    Type(Option<Type>),
    /// `int N = default`.
    Value(Type, Option<Expr>),
    /// A template template parameter, `template <…> class T = default`.
    Template(Option<Type>),
}

/// What may stand before or after a declaration and matters to a checker. Others are dropped by the front end
/// only if they cannot change meaning (`inline`, `noexcept`, `register`).
#[derive(Clone, Debug)]
pub enum Qualifier {
    /// `__global__` or `__kernel`.
    Kernel,
    /// `__device__`.
    Device,
    /// `__host__`.
    Host,
    /// `__shared__`, `__local`.
    Shared,
    /// `__constant__`, `__constant`.
    Constant,
    /// `__global` (OpenCL), also `global`.
    Global,
    /// `__private` (OpenCL).
    Private,
    /// `__generic` (OpenCL 2).
    Generic,
    /// `__managed__`.
    Managed,
    /// `extern`.
    Extern,
    /// `static`.
    Static,
    /// `const`.
    Const,
    /// `volatile`.
    Volatile,
    /// `__restrict__` and spellings.
    Restrict,
    /// `constexpr`, `consteval`, `constinit`.
    Constexpr,
    /// `virtual`, `override`; also of a base class.
    Virtual,
    /// `final`, of a virtual function or a class.
    Final,
    /// `= default` and `= delete`: a function that the compiler makes, or that nobody calls.
    Defaulted,
    /// `explicit`: a constructor or conversion that only what asks for it calls.
    Explicit,
    /// `friend`: a function that is defined in a class and is no member of it.
    Friend,
    /// `typedef` never reaches here; `mutable`, `thread_local` and unknown attributes do, by name.
    Other(String),
    /// An attribute with arguments: `__launch_bounds__(256, 2)`, `__attribute__((reqd_work_group_size(8, 8, 1)))`,
    /// `__cluster_dims__(2)`, `alignas(16)`, `aligned(16)`, `packed`; the name without underscores around it.
    Attribute(String, Vec<Expr>),
}

/// A function, method or operator.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; for an out-of-class member the whole path `S::f`; `operator()` and the like for operators.
    pub path: Path,
    /// Template parameters, outermost list first; `Some(vec![])` for `template <>`.
    pub template: Option<Vec<TemplateParam>>,
    /// Qualifiers and attributes in source order.
    pub qualifiers: Vec<Qualifier>,
    /// Result type; `None` for constructors and destructors. Of a conversion operator, whose path says
    /// `operator` and the words of a type, it is that type; a front end that cannot tell it leaves it out.
    pub result: Option<Type>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Whether it ends with `...`.
    pub variadic: bool,
    /// Whether it is `const` (a method).
    pub is_const: bool,
    /// What it may be called on (a method with `&` or `&&` behind its parameters).
    pub called_on: Option<Binding>,
    /// The initialisers of a constructor, by member.
    pub initializers: Vec<(Name, Vec<Expr>)>,
    /// The body; `None` for a declaration.
    pub body: Option<Vec<Stmt>>,
}

impl Function {
    /// A function without a name, parameters and body, to be completed.
    pub const fn nameless() -> Function {
        Function {
            path: Path { global: false, segments: Vec::new() },
            template: None,
            qualifiers: Vec::new(),
            result: None,
            params: Vec::new(),
            variadic: false,
            is_const: false,
            called_on: None,
            initializers: Vec::new(),
            body: None,
        }
    }

    /// The last part of its name.
    pub fn name(&self) -> &str {
        self.path.segments.last().map_or("", |segment| segment.name.text.as_str())
    }

    /// Whether it is written as a kernel.
    pub fn is_kernel(&self) -> bool {
        self.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel))
    }

    /// Whether it is a template, a member of one left aside.
    pub fn has_template(&self) -> bool {
        self.template.as_ref().is_some_and(|params| !params.is_empty())
    }

    /// Whether it stands for a declaration that could not be read: all that is known of it is its name.
    pub fn is_unread(&self) -> bool {
        lost::is_unread(self)
    }
}

/// A function's parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name; empty if unnamed.
    pub name: Name,
    /// Its type, with the declarator folded in (`float *x[4]` is an array of pointers).
    pub ty: Type,
    /// Qualifiers of the declaration (`__global`, `const`, …).
    pub qualifiers: Vec<Qualifier>,
    /// Default argument.
    pub default: Option<Expr>,
    /// Whether it is a pack (`T... x`), whose type is a pattern.
    pub pack: bool,
}

/// One declared variable or data member.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name (may be empty for an unnamed bit-field).
    pub name: Name,
    /// What its name is qualified by where a member is defined outside of its class: `S<int>` of `int S<int>::count = 1;`.
    pub outer: Vec<PathSegment>,
    /// Its type, with the declarator folded in.
    pub ty: Type,
    /// Template parameters of a variable template; empty otherwise.
    pub template: Vec<TemplateParam>,
    /// Qualifiers of the declaration, shared by all its declarators.
    pub qualifiers: Vec<Qualifier>,
    /// Initialiser.
    pub init: Option<Init>,
    /// Width of a bit-field.
    pub bits: Option<Expr>,
    /// Range of the declarator.
    pub span: Span,
}

/// How a variable is initialised.
#[derive(Clone, Debug)]
pub enum Init {
    /// `= e`, where `e` may be an [`ExprKind::InitList`].
    Value(Expr),
    /// `(e, …)`: a constructor call.
    Call(Vec<Expr>),
    /// `{e, …}` without `=`.
    List(Vec<Expr>),
}

/// `struct`, `class` or `union`.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name; empty if anonymous.
    pub name: Name,
    /// What its name is qualified by where it is defined outside of its class: `S<int>` of `struct S<int>::Part { … };`.
    pub outer: Vec<PathSegment>,
    /// Whether it is a union.
    pub is_union: bool,
    /// Template parameters, if it is one.
    pub template: Option<Vec<TemplateParam>>,
    /// Arguments of a specialisation (`struct S<float>`).
    pub specialization: Option<Vec<TemplateArg>>,
    /// `alignas`, `packed` and other attributes.
    pub qualifiers: Vec<Qualifier>,
    /// Base classes.
    pub bases: Vec<Type>,
    /// Members (fields are [`ItemKind::Variables`], methods [`ItemKind::Function`]); `None` for a declaration.
    pub members: Option<Vec<Item>>,
}

/// `enum` or `enum class`.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name; empty if anonymous.
    pub name: Name,
    /// Whether its constants must be qualified.
    pub scoped: bool,
    /// The underlying type, if written.
    pub underlying: Option<Type>,
    /// Its constants in order.
    pub constants: Vec<(Name, Option<Expr>)>,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// `const`, `volatile`, address spaces, on this level of the type.
    pub qualifiers: Vec<Qualifier>,
    /// Its range.
    pub span: Span,
}

impl Type {
    /// Whether it stands for a type that follows from a value, or for a pointer or reference to one.
    pub fn is_auto(&self) -> bool {
        match &self.kind {
            TypeKind::Auto | TypeKind::DecltypeAuto => true,
            TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) => inner.is_auto(),
            _ => false,
        }
    }
}

/// The kinds of [`Type`].
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A built-in arithmetic type or `void`, as normalised words: `"unsigned int"`, `"long long"`, `"float"`,
    /// `"bool"`, `"void"`; signedness first, `int` dropped after `short`, `long`, `long long`
    /// (`long int unsigned` is `"unsigned long"`).
    Builtin(String),
    /// A named type, perhaps a template's instance. `struct S` and `typename T::x` are paths, too.
    Named(Path),
    /// `auto`.
    Auto,
    /// `decltype(e)`.
    Decltype(Box<Expr>),
    /// `decltype((e))`, which looks at a name as at any other value.
    DecltypeOfValue(Box<Expr>),
    /// `typeof(e)` of GNU C: the type of the value.
    Typeof(Box<Expr>),
    /// `decltype(auto)`.
    DecltypeAuto,
    /// A record or enum defined in place.
    Record(Box<Record>),
    /// An enum defined in place.
    Enum(Box<Enum>),
    /// Pointer to; the outer [`Type::qualifiers`] belong to the pointer itself.
    Pointer(Box<Type>),
    /// Reference to, with what it binds to.
    Reference(Box<Type>, Binding),
    /// Array of; `None` for `[]`.
    Array(Box<Type>, Option<Box<Expr>>),
    /// Function type: result and parameters.
    Function(Box<Type>, Vec<Param>),
    /// What is not understood: the reason.
    Unsupported(String),
}

/// What a reference binds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `&`: objects that have a place.
    Lvalue,
    /// `&&`: values, and objects that are given up.
    Rvalue,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Its whole range.
    pub span: Span,
}

/// The kinds of [`Stmt`].
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ … }`
    Block(Vec<Stmt>),
    /// A local declaration: variables, types, aliases, `using`, `static_assert`.
    Item(Item),
    /// An expression for its effect.
    Expr(Expr),
    /// `if (init; c) … else …`
    If {
        /// Statement or declaration before the condition.
        init: Option<Box<Stmt>>,
        /// The condition; a declaration in it stands in `init`.
        cond: Expr,
        /// Whether it is `if constexpr`.
        is_constexpr: bool,
        /// Taken branch.
        then: Box<Stmt>,
        /// The other branch.
        otherwise: Option<Box<Stmt>>,
    },
    /// `for (init; cond; step) body`
    For {
        /// First part.
        init: Option<Box<Stmt>>,
        /// Second part.
        cond: Option<Expr>,
        /// Third part.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `for (variable : range) body`
    RangeFor {
        /// The variable; without a name if it is a structured binding.
        variable: Box<Variable>,
        /// What is walked through.
        range: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `while (cond) body`
    While {
        /// The condition.
        cond: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `do body while (cond);`
    Do {
        /// The body.
        body: Box<Stmt>,
        /// The condition.
        cond: Expr,
    },
    /// `switch (value) body`; the labels stand in the body.
    Switch {
        /// The value.
        value: Expr,
        /// The body, normally a block.
        body: Box<Stmt>,
    },
    /// `case value: …`, `default: …` (no value); the labelled statement follows as its own statement.
    Case(Option<Expr>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
    /// `;`
    Empty,
    /// Inline assembly: the template text and whether a clobber names memory.
    Asm {
        /// The template string.
        text: String,
        /// Output operands, which it may change.
        outputs: Vec<Expr>,
        /// Input operands.
        inputs: Vec<Expr>,
        /// Whether a clobber names memory.
        clobbers_memory: bool,
    },
    /// What is not understood: the reason.
    Unsupported(String),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its whole range.
    pub span: Span,
}

/// The kinds of [`Expr`].
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal: value and suffix in lower case without order (`""`, `"u"`, `"l"`, `"ul"`, `"ll"`, `"ull"`)
    /// and whether it was written in decimal (which decides its type).
    Int {
        /// The value.
        value: u64,
        /// The suffix.
        suffix: String,
        /// Whether the digits were decimal.
        decimal: bool,
    },
    /// A floating literal as written.
    Float(String),
    /// A character literal's value and type.
    Char(i64, literals::CharacterType),
    /// A string literal as written.
    String(String),
    /// `true` or `false`.
    Bool(bool),
    /// `nullptr`, `NULL`.
    Null,
    /// `this`.
    This,
    /// A name.
    Path(Path),
    /// A prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// `e++`, `e--`.
    Postfix(PostfixOp, Box<Expr>),
    /// An infix operator without effect of its own; `&&`, `||` short-circuit.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a = b` (no operator) or `a op= b`.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `f(a, …)`; the callee may be a path or a member. `float4(1, 2, 3, 4)` of C++ is a call of a path, too.
    Call(Box<Expr>, Vec<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.f`, or `a->f` if `arrow`.
    Member {
        /// The object, or the pointer to it.
        object: Box<Expr>,
        /// Whether it was `->`.
        arrow: bool,
        /// The member, perhaps with template arguments.
        member: PathSegment,
    },
    /// `(T)e`, `static_cast<T>(e)` and its kin.
    Cast(CastKind, Box<Type>, Box<Expr>),
    /// `(T)(a, b, …)`, OpenCL's vector literal, or `T{a, …}`.
    Construct(Box<Type>, Vec<Expr>),
    /// `sizeof(T)`
    SizeofType(Box<Type>),
    /// `sizeof e`
    SizeofExpr(Box<Expr>),
    /// `{a, .x = b, …}`: values with their designators.
    InitList(Vec<(Option<Designator>, Expr)>),
    /// `k<<<grid, block, shared, stream>>>(args)`
    Launch {
        /// The kernel, perhaps with template arguments.
        kernel: Box<Expr>,
        /// Grid, block, dynamic shared memory, stream; two to four.
        config: Vec<Expr>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[captures](params) { body }`
    Lambda(Box<Lambda>),
    /// `e...` in a list: as many values as the packs in it have elements.
    Expansion(Box<Expr>),
    /// `sizeof...(T)`
    SizeofPack(Name),
    /// `(e + ...)` and its kin.
    Fold(Box<Fold>),
    /// `({ … })`: a lambda that captures everything by reference and is called here.
    Statements(Box<Lambda>),
    /// What is not understood: the reason.
    Unsupported(String),
}

impl ExprKind {
    /// Whether it is not known what stands there: it could not be read, or is for whoever expands packs.
    pub fn is_unread(&self) -> bool {
        matches!(self, ExprKind::Unsupported(_) | ExprKind::Expansion(_) | ExprKind::Fold(_))
    }
}

/// A fold expression.
#[derive(Clone, Debug)]
pub struct Fold {
    /// What stands between the elements.
    pub op: FoldOp,
    /// What stands on the left; `None` for the dots.
    pub left: Option<Expr>,
    /// What stands on the right; `None` for the dots. Where both are there, the one with a pack is what is repeated.
    pub right: Option<Expr>,
}

/// The operator of a fold expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldOp {
    /// One without an effect of its own.
    Binary(BinaryOp),
    /// `=` (no operator) or `op=`.
    Assign(Option<BinaryOp>),
    /// `,`
    Comma,
}

/// The member or element that an entry of an initialiser list names.
#[derive(Clone, Debug)]
pub enum Designator {
    /// `.name`
    Field(Name),
    /// `[index]`
    Index(Box<Expr>),
}

/// The spellings of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// `(T)e`
    C,
    /// `static_cast`
    Static,
    /// `reinterpret_cast`
    Reinterpret,
    /// `const_cast`
    Const,
    /// `dynamic_cast`
    Dynamic,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `*`
    Deref,
    /// `&`
    AddressOf,
    /// `++e`
    PreIncrement,
    /// `--e`
    PreDecrement,
}

/// Postfix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostfixOp {
    /// `e++`
    Increment,
    /// `e--`
    Decrement,
}

/// Infix operators.
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
    And,
    Or,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}
