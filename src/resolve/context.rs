//! The state of a resolution: what has been declared, what has been built, and where it stands.

use super::entities::{Global, Scope, ScopeId, Scopes, TemplateValue};
use super::function_table::Functions;
use super::implicit::Implicit;
use super::layout::Layout;
use super::names::type_name;
use super::packs::Packs;
use super::program::{Expr, ExprKind, FunctionId, RecordId, Stmt, Storage, TypeId, Variable, VariableId};
use super::qualified::Written;
use super::record_table::Records;
use super::type_table::Types;
use super::variable_table::Variables;
use crate::diagnostic::Diagnostic;
use crate::source::{Dialect, Language, SourceMap, Span};
use crate::syntax::unpack;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

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
    pub(super) types: Types,
    pub(super) visible: super::visible::Visible,
    /// The functions that the compiler makes, by what they do and for which type.
    pub(super) implicit: FxHashMap<(Implicit, TypeId), FunctionId>,
    /// Whether copying or assigning objects of a class runs code of the program, as far as it has been asked.
    pub(super) runs_code: FxHashMap<(Implicit, RecordId), bool>,
    pub(super) records: Records<'u>,
    pub(super) variables: Variables,
    pub(super) functions: Functions<'u>,
    pub(super) kernels: Vec<FunctionId>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) scopes: Scopes<'u>,
    pub(super) globals: Vec<Global<'u>>,
    /// Instances of variable templates, by the template's index and its arguments.
    pub(super) global_instances: FxHashMap<(usize, Vec<TemplateValue>), usize>,
    /// Records and enums defined inside other declarations, by address of their syntax and scope.
    pub(super) inline_types: FxHashMap<(usize, ScopeId), Written>,
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
    /// Where names are looked up now.
    pub(super) scope: ScopeId,
    pub(super) frame: Frame,
    /// Whether host code is being looked at, whose calls are not followed.
    pub(super) in_host: bool,
    /// How often something that a kernel reaches was not understood.
    pub(super) missed: Cell<usize>,
    /// Nesting of expressions, statements, types and instances that are being resolved.
    pub(super) depth: usize,
}

/// Nesting beyond which nothing is resolved any more.
pub(super) const DEPTH_LIMIT: usize = 320;

impl<'u> Resolver<'u> {
    /// An empty state with the scope of the translation unit.
    pub(super) fn new(dialect: Dialect, sources: &'u SourceMap, made: &'u unpack::Made) -> Self {
        let language = dialect.language();
        Resolver {
            language,
            dialect,
            uses_opencl_2: false,
            sources,
            types: Types::new(language),
            visible: super::visible::Visible::default(),
            implicit: FxHashMap::default(),
            runs_code: FxHashMap::default(),
            records: Records::default(),
            variables: Variables::default(),
            functions: Functions::new(Packs::kept_in(made)),
            kernels: Vec::new(),
            diagnostics: Vec::new(),
            scopes: Scopes::of_unit(),
            globals: Vec::new(),
            global_instances: FxHashMap::default(),
            inline_types: FxHashMap::default(),
            told: super::referee::Told::default(),
            collectives: FxHashMap::default(),
            uses_collectives: false,
            kernels_in_general: FxHashSet::default(),
            enum_ranges: FxHashMap::default(),
            scope: ScopeId::default(),
            frame: Frame::none(),
            in_host: false,
            missed: Cell::new(0),
            depth: 0,
        }
    }

    /// The type as users would write it.
    pub(super) fn type_name(&self, ty: TypeId) -> String {
        type_name(self.language, self.types.all(), self.records.all(), ty)
    }

    /// What sizes depend on.
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { language: self.language, types: self.types.all(), records: self.records.all() }
    }

    /// An expression that stands for what is not understood.
    pub(super) fn unsupported(&self, span: Span, reason: impl Into<String>) -> Expr {
        self.miss();
        Expr { kind: ExprKind::Unsupported(reason.into()), ty: self.types.common.unknown, span }
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
        self.scopes.add(scope)
    }

    /// Runs `work` in a new block scope.
    pub(super) fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let block = self.add_scope(Scope::inside(self.scope));
        self.within(block, work)
    }

    /// Adds a local variable that the source does not name, declared at the beginning of the function.
    pub(super) fn temporary(&mut self, ty: TypeId, span: Span) -> VariableId {
        let variable = self.variables.add(Variable {
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
