//! The state of a resolution: what has been declared, what has been built, and where it stands.

use super::function_value::Signature;
use super::implicit::Implicit;
use super::lambda::References;
use super::layout::Layout;
use super::names::type_name;
use super::program::{
    AddressSpace, Expr, ExprKind, Function, FunctionId, Record, RecordId, Stmt, Storage, Type, TypeId, Variable,
    VariableId,
};
use super::record_layout::Shapes;
use super::scope::{Global, RecordDecl, Scope, ScopeId};
use super::template::TemplateValue;
use super::types::Written;
use crate::arena::Arena;
use crate::diagnostic::Diagnostic;
use crate::source::{Dialect, Language, SourceMap, Span};
use crate::syntax;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::VecDeque;

/// Identity of a function instance: its syntax by address, the scope that it stands in (each instance of a
/// class template has its own), its template arguments, and the groups of threads that are given for parameters that take
/// any.
pub(super) type InstanceKey = (usize, ScopeId, Vec<TemplateValue>, Vec<(usize, TypeId)>);

/// What is known of a function beside its [`Function`].
#[derive(Clone, Debug)]
pub(super) struct FunctionInfo<'u> {
    /// Its syntax.
    pub(super) syntax: &'u syntax::Function,
    /// The scope that holds its parameters.
    pub(super) scope: ScopeId,
    /// The parameter `this`.
    pub(super) this: Option<VariableId>,
    /// Whether it returns a reference.
    pub(super) returns_reference: bool,
    /// Whether its result type is written `auto`.
    pub(super) result_is_auto: bool,
    /// Whether its body has been resolved, or is being.
    pub(super) started: bool,
}

/// The function whose body is being resolved.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Its result type (a pointer, if it returns a reference).
    pub(super) result: Option<TypeId>,
    /// Whether it returns a reference.
    pub(super) returns_reference: bool,
    /// Its object.
    pub(super) this: Option<VariableId>,
    /// Declarations of temporaries, to be put at its beginning.
    pub(super) temporaries: Vec<Stmt>,
}

/// All state of a resolution.
pub(super) struct Resolver<'u> {
    pub(super) language: Language,
    pub(super) dialect: Dialect,
    /// Whether something that a kernel reaches is there from OpenCL C 2.0 on only.
    pub(super) uses_opencl_2: bool,
    /// Where the text stands, for what of host code is not read.
    pub(super) sources: &'u SourceMap,
    pub(super) types: Arena<Type>,
    interned: FxHashMap<Type, TypeId>,
    pub(super) visible: super::visible::Visible,
    pub(super) qualified: super::qualified::Qualified,
    /// Variables that are declared `const` and are no references.
    pub(super) const_variables: FxHashSet<VariableId>,
    /// Variables that are declared as references to what is given up.
    pub(super) rvalue_references: FxHashSet<VariableId>,
    pub(super) records: Arena<Record>,
    /// Scopes of the records, by index.
    pub(super) record_scopes: Vec<ScopeId>,
    /// The bases of each record and where they lie, as far as that is known, by index.
    pub(super) record_bases: Vec<Vec<(RecordId, Option<u64>)>>,
    /// The bases that depend on parameters of a template, with the records that they are bases of.
    pub(super) dependent_bases: FxHashSet<(RecordId, RecordId)>,
    /// The records of which it is not known whether a specialisation is meant instead.
    pub(super) open_records: FxHashSet<RecordId>,
    /// The types that stand for these.
    pub(super) open_classes: FxHashSet<TypeId>,
    /// What is known of records beside their fields.
    pub(super) shapes: Shapes<'u>,
    /// The definition that each record was made from: a template's, or a specialisation's.
    pub(super) definitions: FxHashMap<RecordId, &'u syntax::Record>,
    /// The functions that the compiler makes, by what they do and for which type.
    pub(super) implicit: FxHashMap<(Implicit, TypeId), FunctionId>,
    /// Whether copying or assigning objects of a class runs code of the program, as far as it has been asked.
    pub(super) runs_code: FxHashMap<(Implicit, RecordId), bool>,
    /// The declaration and template arguments that a record comes from, by index.
    pub(super) record_origins: Vec<(usize, Vec<TemplateValue>)>,
    pub(super) variables: Arena<Variable>,
    /// Lanes of host variables of type `dim3` that are constant at the current place of host code.
    pub(super) vector_constants: FxHashMap<VariableId, Vec<Option<i128>>>,
    pub(super) functions: Arena<Function>,
    pub(super) infos: Vec<FunctionInfo<'u>>,
    pub(super) instances: FxHashMap<InstanceKey, FunctionId>,
    pub(super) queue: VecDeque<FunctionId>,
    pub(super) kernels: Vec<FunctionId>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) scopes: Vec<Scope<'u>>,
    pub(super) globals: Vec<Global<'u>>,
    /// Instances of variable templates, by the template's index and its arguments.
    pub(super) global_instances: FxHashMap<(usize, Vec<TemplateValue>), usize>,
    pub(super) record_decls: Vec<RecordDecl<'u>>,
    /// Records and enums defined inside other declarations, by address of their syntax and scope.
    pub(super) inline_types: FxHashMap<(usize, ScopeId), Written>,
    /// Types of functions, by result and parameters, and the results by type.
    pub(super) function_types: FxHashMap<Signature, TypeId>,
    pub(super) signatures: FxHashMap<TypeId, Signature>,
    /// The records that lambdas have become.
    pub(super) closures: FxHashMap<RecordId, References>,
    /// The fields of records that are declared as references, by index: pointers, of which every use is a dereference.
    pub(super) reference_members: FxHashMap<RecordId, Vec<usize>>,
    /// The values that enumerations can have, by the scope of their constants, where the language limits them.
    pub(super) enum_ranges: FxHashMap<ScopeId, (i128, i128)>,
    /// What a compiler's answers are held against beside the program.
    pub(super) told: super::referee::Told,
    /// The collectives of CUB that are named, by the type of their temporary storage.
    pub(super) collectives: FxHashMap<TypeId, super::collectives::Collective>,
    /// Whether some scope uses the namespace of CUB, which the unit does not declare.
    pub(super) uses_collectives: bool,
    /// Kernel templates that are looked at once for all arguments, by address of their syntax.
    pub(super) kernels_in_general: FxHashSet<usize>,
    /// Types that stand for parameters of host templates which nothing gives.
    pub(super) open_types: FxHashSet<TypeId>,
    /// Types that nothing in the unit declares and no library is known to.
    pub(super) undeclared: FxHashSet<TypeId>,
    /// Those that are taken for numbers.
    pub(super) numbers: FxHashSet<TypeId>,
    /// Where names are looked up now.
    pub(super) scope: ScopeId,
    pub(super) frame: Frame,
    /// Whether host code is being looked at, whose calls are not followed.
    pub(super) in_host: bool,
    /// How often something that a kernel reaches was not understood.
    pub(super) missed: Cell<usize>,
    /// Nesting of expressions, statements, types and instances that are being resolved.
    pub(super) depth: usize,
    pub(super) common: Common,
}

/// Types that are needed everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) void: TypeId,
    pub(crate) bool: TypeId,
    pub(crate) char: TypeId,
    pub(crate) int: TypeId,
    pub(crate) uint: TypeId,
    pub(crate) long: TypeId,
    pub(crate) ulong: TypeId,
    pub(crate) long_long: TypeId,
    pub(crate) unsigned_long_long: TypeId,
    pub(crate) signed_char: TypeId,
    /// `wchar_t`
    pub(crate) wide: TypeId,
    /// `char16_t`
    pub(crate) utf16: TypeId,
    /// `char32_t`
    pub(crate) utf32: TypeId,
    pub(crate) float: TypeId,
    pub(crate) double: TypeId,
    /// `dim3`: what it holds is that of `uint3`, but what makes one is not, and so it is a type of its own.
    pub(crate) dim3: TypeId,
    /// The type of what could not be typed.
    pub(crate) unknown: TypeId,
}

/// Nesting beyond which nothing is resolved any more.
pub(super) const DEPTH_LIMIT: usize = 320;

impl<'u> Resolver<'u> {
    /// An empty state with the scope of the translation unit.
    pub(super) fn new(dialect: Dialect, sources: &'u SourceMap) -> Self {
        let language = dialect.language();
        let mut types = Arena::new();
        let mut interned = FxHashMap::default();
        let mut intern = |ty: Type| {
            let handle = types.push(ty.clone());
            interned.insert(ty, handle);
            handle
        };
        let int = |width, signed| Type::Int { width, signed };
        let void = intern(Type::Void);
        let uint = intern(int(32, false));
        let common = Common {
            void,
            // Named below.
            long_long: void,
            unsigned_long_long: void,
            signed_char: void,
            wide: void,
            utf16: void,
            utf32: void,
            bool: intern(Type::Bool),
            char: intern(int(8, true)),
            int: intern(int(32, true)),
            uint,
            long: intern(int(64, true)),
            ulong: intern(int(64, false)),
            float: intern(Type::Float { width: 32 }),
            double: intern(Type::Float { width: 64 }),
            dim3: uint,
            unknown: intern(Type::Unknown("unknown type".to_owned())),
        };
        // Not interned: no other type is it.
        let common = Common { dim3: types.push(Type::Vector { of: uint, lanes: 3 }), ..common };
        let mut resolver = Resolver {
            language,
            dialect,
            uses_opencl_2: false,
            sources,
            types,
            interned,
            visible: super::visible::Visible::default(),
            qualified: super::qualified::Qualified::default(),
            const_variables: FxHashSet::default(),
            rvalue_references: FxHashSet::default(),
            records: Arena::new(),
            record_scopes: Vec::new(),
            record_bases: Vec::new(),
            dependent_bases: FxHashSet::default(),
            open_records: FxHashSet::default(),
            open_classes: FxHashSet::default(),
            shapes: Shapes::default(),
            definitions: FxHashMap::default(),
            implicit: FxHashMap::default(),
            runs_code: FxHashMap::default(),
            record_origins: Vec::new(),
            variables: Arena::new(),
            vector_constants: FxHashMap::default(),
            functions: Arena::new(),
            infos: Vec::new(),
            instances: FxHashMap::default(),
            queue: VecDeque::new(),
            kernels: Vec::new(),
            diagnostics: Vec::new(),
            scopes: vec![Scope { is_namespace: true, ..Scope::default() }],
            globals: Vec::new(),
            global_instances: FxHashMap::default(),
            record_decls: Vec::new(),
            inline_types: FxHashMap::default(),
            function_types: FxHashMap::default(),
            signatures: FxHashMap::default(),
            closures: FxHashMap::default(),
            reference_members: FxHashMap::default(),
            told: super::referee::Told::default(),
            collectives: FxHashMap::default(),
            uses_collectives: false,
            open_types: FxHashSet::default(),
            undeclared: FxHashSet::default(),
            numbers: FxHashSet::default(),
            kernels_in_general: FxHashSet::default(),
            enum_ranges: FxHashMap::default(),
            scope: ScopeId::default(),
            frame: Frame::none(),
            in_host: false,
            missed: Cell::new(0),
            depth: 0,
            common,
        };
        resolver.name_integers();
        resolver
    }

    /// Gives the integer types of C++ that share their content with another a handle of their own.
    fn name_integers(&mut self) {
        let Common { long, ulong, char, int, uint, .. } = self.common;
        let ushort = self.intern(Type::Int { width: 16, signed: false });
        let is_c = self.language == Language::OpenCl;
        let mut named = |ty| if is_c { ty } else { self.spelled(ty) };
        let (long_long, unsigned_long_long, signed_char) = (named(long), named(ulong), named(char));
        let (wide, utf16, utf32) = (named(int), named(ushort), named(uint));
        self.common.wide = wide;
        self.common.utf16 = utf16;
        self.common.utf32 = utf32;
        self.common.long_long = long_long;
        self.common.unsigned_long_long = unsigned_long_long;
        self.common.signed_char = signed_char;
    }

    /// The handle of a type.
    pub(super) fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&known) = self.interned.get(&ty) {
            return known;
        }
        let handle = self.types.push(ty.clone());
        self.interned.insert(ty, handle);
        handle
    }

    /// The type as users would write it.
    pub(super) fn type_name(&self, ty: TypeId) -> String {
        type_name(self.language, &self.types, &self.records, ty)
    }

    /// What sizes depend on.
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { language: self.language, types: &self.types, records: &self.records }
    }

    /// A pointer type.
    pub(super) fn pointer(&mut self, to: TypeId, space: Option<AddressSpace>) -> TypeId {
        self.intern(Type::Pointer { to, space })
    }

    /// A type of that name that is not modelled.
    pub(super) fn unknown(&mut self, name: impl Into<String>) -> TypeId {
        self.intern(Type::Unknown(name.into()))
    }

    /// An expression that stands for what is not understood.
    pub(super) fn unsupported(&self, span: Span, reason: impl Into<String>) -> Expr {
        self.miss();
        Expr { kind: ExprKind::Unsupported(reason.into()), ty: self.common.unknown, span }
    }

    /// Notes that something is not understood, perhaps because its declaration was not read.
    pub(super) fn miss(&self) {
        self.missed.set(self.missed.get() + usize::from(!self.in_host));
    }

    /// Runs `work` with names looked up in `scope`.
    pub(super) fn within<T>(&mut self, scope: ScopeId, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = work(self);
        self.scope = outer;
        result
    }

    /// Adds a scope.
    pub(super) fn add_scope(&mut self, scope: Scope<'u>) -> ScopeId {
        self.scopes.push(scope);
        ScopeId(self.scopes.len() - 1)
    }

    /// Runs `work` in a new block scope.
    pub(super) fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let block = self.add_scope(Scope::inside(self.scope));
        self.within(block, work)
    }

    /// Adds a local variable that the source does not name, declared at the beginning of the function.
    pub(super) fn temporary(&mut self, ty: TypeId, span: Span) -> VariableId {
        let variable = self.variables.push(Variable {
            name: "temporary".to_owned(),
            ty,
            storage: Storage::Local,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span,
        });
        self.frame.temporaries.push(Stmt { kind: super::program::StmtKind::Declare(variable, None), span });
        variable
    }
}

impl Frame {
    /// Outside of all functions.
    pub(super) fn none() -> Frame {
        Frame { result: None, returns_reference: false, this: None, temporaries: Vec::new() }
    }
}

/// An expression of that kind.
pub(super) fn expr(kind: ExprKind, ty: TypeId, span: Span) -> Expr {
    Expr { kind, ty, span }
}
