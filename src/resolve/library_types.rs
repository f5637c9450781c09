//! Types of CUDA's, CUB's and the standard library's headers that are plain structures, questions about types that the
//! compiler answers (`std::is_same_v`), and functions of the C library that are handed on as values.
//!
//! A structure gets the members that programs use, laid out as its header does. A question is answered only where types
//! here tell apart what C++ does; otherwise the answer is a value that nothing is known about.
//!
//! Deliberately absent: methods, comparisons; `std::tuple` and `std::array`, whose parts have no names.

use super::context::{Resolver, expr};
use super::entities::{Found, RecordDecl, Scope, ScopeId, TemplateValue};
use super::phases::is_followed;
use super::pipelines;
use super::program::{Expr, ExprKind, Record, Tile, Type, TypeId};
use super::qualified::Written;
use crate::builtins::functions::function;
use crate::builtins::namespaces::without_namespaces;
use crate::builtins::phases::BARRIER;
use crate::builtins::pipelines::STATE;
use crate::builtins::structures::{
    COMPLEX, FRAGMENT, FragmentRole, Member, Structure, TF32, fragment_layout, fragment_role, is_device_pointer,
    structure,
};
use crate::builtins::{Builtin, atomics};
use crate::source::{FileId, Language, Span};
use crate::syntax::{self, Name, PathSegment, TemplateArg};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// As many elements of a fragment as a thread may hold.
const MOST_ELEMENTS: u64 = 64;

/// As many rows or columns as a fragment may have.
const MOST_ROWS: i128 = 64;

/// As many stages as a pipeline may have.
const MOST_STAGES: i128 = 255;

/// What stands before the name of a function in that of its type.
const FUNCTION: &str = "function ";

/// What a structure that the unit does not declare is declared as.
static NO_SOURCE: LazyLock<syntax::Record> = LazyLock::new(|| syntax::Record {
    name: Name { text: String::new(), span: Span::new(FileId::from_index(0), 0, 0) },
    outer: Vec::new(),
    is_union: false,
    template: None,
    specialization: None,
    qualifiers: Vec::new(),
    bases: Vec::new(),
    members: Some(Vec::new()),
});

/// An atomic that is an object, as a structure.
fn atomic(name: &str, args: &[TemplateArg]) -> Option<Structure> {
    let (name, class) = super::atomics::kept(name, args)?;
    let members: &[Member] = match class {
        atomics::Class::Reference => &[Member::Pointer("object", 0)],
        atomics::Class::Object => &[Member::Argument("value", 0)],
    };
    Some(Structure { name, members })
}

impl<'u> Resolver<'u> {
    /// The type that a name of a library stands for.
    pub(super) fn library_type(&mut self, name: &str, last: Option<&'u PathSegment>) -> Option<TypeId> {
        let known = self.collective_type(name, last).or_else(|| self.copying_type(name, last));
        known.or_else(|| self.device_pointer(name, last)).or_else(|| self.library_record(name, last))
    }

    /// `thrust::device_ptr<T>`, which is a pointer to every kernel.
    fn device_pointer(&mut self, name: &str, last: Option<&'u PathSegment>) -> Option<TypeId> {
        let args = last.filter(|_| is_device_pointer(name))?.args.as_deref()?;
        let [TemplateArg::Type(ty)] = args else { return None };
        let to = self.resolve_type(ty).ty;
        Some(self.types.pointer(to, None))
    }

    /// The structure that a name of a library stands for.
    pub(super) fn library_record(&mut self, name: &str, segment: Option<&'u PathSegment>) -> Option<TypeId> {
        let args = segment.and_then(|segment| segment.args.as_deref()).unwrap_or(&[]);
        let known = structure(name).or_else(|| atomic(name, args));
        let Structure { name, members } = known.filter(|_| self.language == Language::Cuda)?;
        if name == BARRIER && !is_followed(args) || name == STATE && !pipelines::is_followed(args) {
            return None;
        }
        let values: Vec<TemplateValue> = args.iter().map(|argument| self.template_value(argument)).collect();
        let mut fields = Vec::new();
        for member in members {
            fields.push(match *member {
                Member::Argument(name, at) => match values.get(at)? {
                    TemplateValue::Type(ty) => (name.to_owned(), *ty),
                    _ => return None,
                },
                Member::Pointer(name, at) => match values.get(at)? {
                    TemplateValue::Type(ty) => (name.to_owned(), self.types.pointer(*ty, None)),
                    _ => return None,
                },
                Member::Elements(name, at) => {
                    // Such as `precision::tf32`, of which the elements are numbers of type `float`.
                    let of = match *values.get(at)? {
                        TemplateValue::Type(of) if self.types.is_arithmetic(of) => of,
                        _ => self.types.common.float,
                    };
                    (name.to_owned(), self.types.intern(Type::Array { of, len: Some(MOST_ELEMENTS) }))
                }
                Member::Stages(name, at) => match values.get(at)? {
                    TemplateValue::Value(stages @ 1..=MOST_STAGES, _) => {
                        let len = Some(*stages as u64 * pipelines::STAGE_BYTES / 8);
                        (name.to_owned(), self.types.intern(Type::Array { of: self.types.common.ulong, len }))
                    }
                    _ => return None,
                },
                Member::Size(name) => (name.to_owned(), self.types.common.ulong),
                Member::Address(name) => (name.to_owned(), self.types.pointer(self.types.common.void, None)),
            });
        }
        let tile = if name == FRAGMENT { self.tile(&values) } else { None };
        let index = self.library_decl(name);
        if let Some(&known) = self.records.decls[index].instances.get(&values) {
            return Some(self.types.intern(Type::Record(known)));
        }
        let types: Vec<String> = fields.iter().map(|(_, ty)| self.type_name(*ty)).collect();
        let name = if values.is_empty() { name.to_owned() } else { format!("{name}<{}>", types.join(", ")) };
        let prefix = format!("{name}::");
        let record = self.records.all.push(Record {
            name,
            is_union: false,
            fields: Vec::new(),
            bytes: None,
            align: 1,
            is_fixed: false,
            tile,
        });
        let scope = self.add_scope(Scope { record: Some(record), prefix, ..Scope::inside(ScopeId::default()) });
        self.records.scopes.push(scope);
        self.records.bases.push(Vec::new());
        self.records.origins.push((index, values.clone()));
        self.records.decls[index].instances.insert(values, record);
        self.lay_out_closure(record, fields);
        if let (COMPLEX, Some(bytes)) = (self.records.decls[index].name, self.records[record].bytes) {
            self.records[record].align = bytes;
        }
        Some(self.types.intern(Type::Record(record)))
    }

    /// What a fragment with these template arguments is of a matrix: of `M` × `K` (left factor), `K` × `N` (right
    /// factor) or `M` × `N` elements.
    fn tile(&self, values: &[TemplateValue]) -> Option<Tile> {
        let [TemplateValue::Type(role), sizes @ ..] = values else { return None };
        let [m, n, k] = [0, 1, 2].map(|at| match sizes.get(at) {
            Some(TemplateValue::Value(size @ 1..=MOST_ROWS, _)) => Some(*size as u32),
            _ => None,
        });
        let is_whole = matches!(sizes.get(3)?, TemplateValue::Type(of) if self.is_whole_number(*of));
        let (rows, columns) = match fragment_role(&self.type_name(*role))? {
            FragmentRole::Left => (m?, k?),
            FragmentRole::Right => (k?, n?),
            FragmentRole::Accumulator => (m?, n?),
        };
        let are_columns = match sizes.get(4) {
            Some(TemplateValue::Type(layout)) => fragment_layout(&self.type_name(*layout)),
            _ => None,
        };
        // Fragments of any other type may share their elements out otherwise.
        let arguments = self.value_texts(values);
        let arguments: Vec<&str> = arguments.iter().map(|argument| without_namespaces(argument)).collect();
        is_whole.then(|| Tile { name: format!("fragment<{}>", arguments.join(", ")), rows, columns, are_columns })
    }

    /// Whether elements of that type are whole bytes: all but `experimental::precision::u4` and its kin.
    fn is_whole_number(&self, ty: TypeId) -> bool {
        self.types.is_arithmetic(ty) || self.type_name(ty) == TF32
    }

    fn library_decl(&mut self, name: &'static str) -> usize {
        let same = |decl: &RecordDecl<'u>| std::ptr::eq(decl.primary, &raw const *NO_SOURCE) && decl.name == name;
        if let Some(index) = self.records.decls.iter().position(same) {
            return index;
        }
        self.records.decls.push(RecordDecl {
            name,
            scope: ScopeId::default(),
            primary: &NO_SOURCE,
            specializations: Vec::new(),
            outside: Vec::new(),
            instances: FxHashMap::default(),
        });
        self.records.decls.len() - 1
    }

    /// `std::is_same_v<T, U>`, `std::is_integral<T>::value` and their kin.
    pub(super) fn type_trait(&mut self, path: &'u syntax::Path, name: &str, span: Span) -> Option<Expr> {
        let name = name.strip_prefix("cuda::").unwrap_or(name).strip_prefix("std::")?;
        let (last, outer) = path.segments.split_last()?;
        let (name, args) = match (name.strip_suffix("_v"), name.strip_suffix("::value")) {
            (Some(name), _) => (name, last.args.as_deref()?),
            (_, Some(name)) => (name, outer.last()?.args.as_deref()?),
            _ => return None,
        };
        let mut types = Vec::new();
        for argument in args {
            types.push(self.written_argument(argument)?);
        }
        let answer = match (name, types.as_slice()) {
            ("is_same", [a, b]) => self.are_same(a, b),
            ("is_floating_point", [ty]) => self.type_is(ty, |ty| matches!(ty, Type::Float { width: 32 | 64 | 128 })),
            ("is_integral", [ty]) => self.type_is(ty, |ty| matches!(ty, Type::Int { .. } | Type::Bool)),
            ("is_pointer", [ty]) => self.type_is(ty, |ty| matches!(ty, Type::Pointer { .. })),
            ("is_void", [ty]) => self.type_is(ty, |ty| matches!(ty, Type::Void)),
            _ if name.starts_with("is_") => None,
            _ => return None,
        };
        let kind = match answer {
            Some(answer) => ExprKind::Int(i128::from(answer)),
            None => ExprKind::Builtin(Builtin::Pure, format!("std::{name}"), Vec::new()),
        };
        Some(expr(kind, self.types.common.bool, span))
    }

    pub(super) fn written_argument(&mut self, argument: &'u TemplateArg) -> Option<Written> {
        match argument {
            TemplateArg::Type(ty) => Some(self.resolve_type(ty)),
            TemplateArg::Value(_) => match self.template_value(argument) {
                TemplateValue::Type(ty) => Some(self.types.written_as(ty)),
                _ => None,
            },
            TemplateArg::Expansion(_) => None,
        }
    }

    /// Whether a type is of a kind, where that is known.
    fn type_is(&self, written: &Written, is_of_kind: impl Fn(&Type) -> bool) -> Option<bool> {
        let ty = &self.types[written.ty];
        let is_enumeration = self.types.behind_enumeration(written.ty).is_some();
        let is_told = !matches!(ty, Type::Unknown(_) | Type::Float { width: 16 }) && !is_enumeration;
        (is_told && !written.is_reference).then(|| is_of_kind(ty))
    }

    fn are_same(&self, a: &Written, b: &Written) -> Option<bool> {
        let is_known = |ty| !self.mentions_unknown(ty, 0);
        let differs = a.ty != b.ty
            || a.is_reference != b.is_reference
            || a.binding != b.binding
            || a.is_volatile != b.is_volatile;
        if !is_known(a.ty) || !is_known(b.ty) {
            return None;
        }
        // What builtin functions give is `long` here where headers say `long long`, and `bfloat16` is `half`.
        let is_told = match &self.types[a.ty] {
            Type::Bool | Type::Float { width: 32 | 64 } | Type::Record(_) => true,
            Type::Int { width, .. } => *width < 64 || a.ty == b.ty,
            _ => false,
        };
        if differs {
            let is_told = is_told || self.types[a.ty] != self.types[b.ty];
            return is_told.then_some(false);
        }
        is_told.then_some(a.is_const == b.is_const)
    }

    fn mentions_unknown(&self, ty: TypeId, depth: usize) -> bool {
        match self.types[ty] {
            _ if depth > 8 => true,
            Type::Unknown(_) => true,
            Type::Pointer { to, .. } => self.mentions_unknown(to, depth + 1),
            Type::Array { of, .. } | Type::Vector { of, .. } => self.mentions_unknown(of, depth + 1),
            _ => false,
        }
    }

    /// The name of the function of the C library that a value is.
    pub(super) fn library_function_of(&self, value: &Expr) -> Option<String> {
        match (&value.kind, &self.types[value.ty]) {
            (ExprKind::Builtin(Builtin::Pure, name, args), Type::Unknown(text)) => {
                (args.is_empty() && text.starts_with(FUNCTION)).then(|| name.clone())
            }
            _ => None,
        }
    }

    /// A function of the C library as an argument of a call.
    pub(super) fn library_function_value(&mut self, argument: &'u syntax::Expr) -> Option<Expr> {
        let syntax::ExprKind::Path(path) = &argument.kind else { return None };
        let Found::External(name) = self.find(path) else { return None };
        let short = without_namespaces(&name);
        let is_pure = function(self.language, short).is_some_and(|known| known.builtin.is_pure());
        let is_variable = crate::builtins::variables::variable(self.language, short).is_some();
        let is_meant = self.language == Language::Cuda && is_pure && !is_variable && !self.in_host;
        let ty = is_meant.then(|| self.types.unknown(format!("{FUNCTION}{short}")))?;
        Some(expr(ExprKind::Builtin(Builtin::Pure, name, Vec::new()), ty, argument.span))
    }
}
