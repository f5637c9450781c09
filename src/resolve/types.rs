//! From types as written to types.

use super::context::{DEPTH_LIMIT, Resolver};
use super::entities::{Entity, Found, Scope, ScopeId};
use super::program::{AddressSpace, Type, TypeId};
use super::qualified::Written;
use crate::builtins::groups;
use crate::builtins::namespaces::without_namespaces;
use crate::source::Language;
use crate::syntax::parts::path_text;
use crate::syntax::{self, Binding, PathSegment, Qualifier, TypeKind, unpack};

/// Whether an entity is another name of a type of its own name.
fn is_named_alike(entity: &Entity<'_>, name: &str) -> bool {
    let Entity::Alias(_, ty, _) = entity else { return false };
    let TypeKind::Named(path) = &ty.kind else { return false };
    matches!(path.segments.as_slice(), [only] if only.name.text == name)
}

impl<'u> Resolver<'u> {
    /// The type that is written.
    pub(super) fn resolve_type(&mut self, ty: &'u syntax::Type) -> Written {
        if self.depth > DEPTH_LIMIT {
            return Written::plain(self.types.common.unknown);
        }
        self.depth += 1;
        let mut written = self.resolve_kind(ty);
        self.depth -= 1;
        for qualifier in &ty.qualifiers {
            match qualifier {
                // What a reference refers to is not made `const` by it.
                Qualifier::Const | Qualifier::Constexpr => written.is_const |= !written.is_reference,
                Qualifier::Volatile => written.is_volatile = true,
                other => written.space = space_of(self.language, other).or(written.space),
            }
        }
        written
    }

    fn resolve_kind(&mut self, ty: &'u syntax::Type) -> Written {
        match &ty.kind {
            TypeKind::Builtin(words) => {
                let ty = self.types.builtin_type(words);
                Written::plain(ty.unwrap_or_else(|| self.types.unknown(words.clone())))
            }
            TypeKind::Named(path) => self.named_path(path),
            TypeKind::Auto | TypeKind::DecltypeAuto => Written::plain(self.types.unknown("auto")),
            TypeKind::Typeof(value) => {
                let value = self.unevaluated(value);
                Written::plain(self.types.plain(value.ty))
            }
            TypeKind::Decltype(value) => self.decltype(value),
            TypeKind::DecltypeOfValue(value) => self.decltype_of_value(value),
            TypeKind::Record(record) => Written::plain(self.inline_record(record, "")),
            TypeKind::Enum(definition) => {
                let key = (std::ptr::from_ref(&**definition) as usize, self.scope);
                let written = match self.inline_types.get(&key) {
                    Some(&known) => known,
                    None => self.declare_enum(definition),
                };
                self.inline_types.insert(key, written);
                written
            }
            TypeKind::Pointer(inner) => {
                let inner = self.resolve_type(inner);
                let to = self.types.object_type(inner);
                let ty = self.types.pointer(to, inner.space);
                Written { is_volatile: inner.is_volatile, ..Written::plain(ty) }
            }
            TypeKind::Reference(inner, binding) => {
                let inner = self.resolve_type(inner);
                // References to references collapse: to an rvalue's only if both are.
                let binding = if inner.binding == Some(Binding::Lvalue) { Binding::Lvalue } else { *binding };
                Written { is_reference: true, binding: Some(binding), ..inner }
            }
            TypeKind::Array(inner, len) => {
                let inner = self.resolve_type(inner);
                let len = len.as_ref().and_then(|len| self.constant_of(len)).and_then(|len| u64::try_from(len).ok());
                let ty = self.types.intern(Type::Array { of: inner.ty, len });
                Written { ty, range: None, ..inner }
            }
            TypeKind::Function(result, params) => {
                Written::plain(self.written_function_type(result, params, &ty.qualifiers))
            }
            TypeKind::Unsupported(reason) => Written::plain(self.types.unknown(reason.clone())),
        }
    }

    /// The type that a path names.
    fn named_path(&mut self, path: &'u syntax::Path) -> Written {
        if let Some(written) = self.named_in_c(path) {
            return written;
        }
        let last = path.segments.last();
        match self.find(path) {
            Found::Entities(entities) => {
                for entity in &entities {
                    if let Some(written) = last.and_then(|last| self.written_of_entity(entity, last)) {
                        return written;
                    }
                }
                let ty = self.types.unknown(path_text(path));
                self.note_misnamed(path, &entities, ty);
                Written::plain(ty)
            }
            Found::External(name) => match self.collective_storage(path) {
                Some(storage) => Written::plain(storage),
                None => match self.computed_type(path, &name) {
                    Some(computed) => computed,
                    None => {
                        let ty = self.external_type(&name, last);
                        self.note_undeclared(path, &name, ty);
                        Written::plain(ty)
                    }
                },
            },
        }
    }

    /// The type that a name stands for in C, where `struct S` and the type name `S` may be two. Whether `struct` stands before
    /// the name is not known here: of two types it is neither.
    fn named_in_c(&mut self, path: &'u syntax::Path) -> Option<Written> {
        let [only] = path.segments.as_slice() else { return None };
        if self.language != Language::OpenCl || path.global {
            return None;
        }
        let name = &only.name.text;
        let (tag, named) = (self.lookup_of(name, Entity::is_tag), self.lookup_of(name, Entity::is_type_name));
        let tag = tag.first().and_then(|entity| self.written_of_entity(entity, only));
        // `typedef struct S S;` names the tag.
        let other = named.first().filter(|entity| !is_named_alike(entity, name));
        let named = other.and_then(|entity| self.written_of_entity(entity, only));
        match (tag, named) {
            (Some(tag), Some(named)) if tag.ty != named.ty => {
                Some(Written::plain(self.types.unknown(format!("{name} (there are two of that name)"))))
            }
            (tag, named) => named.or(tag),
        }
    }

    /// The type that an operand of `sizeof` in C is, if it is a name that stands for a type.
    pub(super) fn type_of_name(&mut self, operand: &'u syntax::Expr) -> Option<TypeId> {
        let syntax::ExprKind::Path(path) = &operand.kind else { return None };
        let [only] = path.segments.as_slice() else { return None };
        if self.language != Language::OpenCl || path.global {
            return None;
        }
        match self.lookup_of(&only.name.text, Entity::is_ordinary).first() {
            Some(entity) if !entity.is_type_name() => None,
            Some(entity) if !is_named_alike(entity, &only.name.text) => {
                self.written_of_entity(entity, only).map(|written| written.ty)
            }
            _ => {
                let tag = self.lookup_of(&only.name.text, Entity::is_tag);
                tag.first().and_then(|entity| self.written_of_entity(entity, only)).map(|written| written.ty)
            }
        }
    }

    /// A type that the unit does not declare.
    fn external_type(&mut self, name: &str, last: Option<&'u PathSegment>) -> TypeId {
        let short = without_namespaces(name);
        if let Some(named) = self.types.builtin_type(short) {
            return named;
        }
        if let Some(known) = self.library_type(name, last) {
            return known;
        }
        // The size of a tile of threads is part of what its methods mean.
        let size = last.and_then(|segment| segment.args.as_ref()).and_then(|args| args.first()).and_then(|argument| {
            match argument {
                syntax::TemplateArg::Value(value) => self.constant_of(value),
                syntax::TemplateArg::Type(_) | syntax::TemplateArg::Expansion(_) => None,
            }
        });
        match size {
            Some(size) if short == groups::TILE => self.types.unknown(groups::Group::Tile(size).type_name()),
            _ if last.is_some_and(|segment| segment.args.is_some()) => self.types.unknown(format!("{name}<…>")),
            _ => self.types.unknown(name),
        }
    }

    /// The type that an entity is, if it is one, with the template arguments of the segment that named it.
    pub(super) fn written_of_entity(&mut self, entity: &Entity<'u>, segment: &'u PathSegment) -> Option<Written> {
        match entity {
            Entity::Type(ty) => Some(self.types.written_as(*ty)),
            Entity::Enum(ty, constants) => {
                let range = self.enum_ranges.get(constants).copied();
                Some(Written { range, ..Written::plain(*ty) })
            }
            Entity::Record(index) => Some(Written::plain(self.record_type(*index, segment.args.as_deref()))),
            Entity::Alias(..) if segment.args.as_deref().is_some_and(unpack::is_open) => {
                Some(Written::plain(self.types.unknown(format!("{}, with a parameter pack", segment.name.text))))
            }
            Entity::Alias(template, ty, scope) => {
                let scope = if template.is_empty() {
                    *scope
                } else {
                    let values = self.template_values(template, segment.args.as_deref().unwrap_or(&[]), *scope);
                    self.bind(*scope, template, &values)
                };
                let written = self.within(scope, |this| match &ty.kind {
                    TypeKind::Record(record) => Written::plain(this.inline_record(record, &segment.name.text)),
                    _ => this.resolve_type(ty),
                });
                Some(written)
            }
            _ => None,
        }
    }

    /// The type that an entity is, for use as a scope.
    pub(super) fn type_of_entity(&mut self, entity: &Entity<'u>, segment: &'u PathSegment) -> TypeId {
        self.written_of_entity(entity, segment).map_or(self.types.common.unknown, |written| written.ty)
    }

    /// A record that is defined inside another declaration; `name` is used if it has none.
    pub(super) fn inline_record(&mut self, record: &'u syntax::Record, name: &str) -> TypeId {
        let key = (std::ptr::from_ref(record) as usize, self.scope);
        if let Some(known) = self.inline_types.get(&key) {
            return known.ty;
        }
        let declared = self.scopes[self.scope.0].names.get(&record.name.text).and_then(|entities| {
            entities.iter().find_map(|entity| match entity {
                Entity::Record(index) => Some(*index),
                _ => None,
            })
        });
        let index = declared.unwrap_or_else(|| self.add_record_decl(record));
        let made = self.instantiate_record(index, Vec::new());
        if self.records[made].name.is_empty() {
            self.records[made].name = if name.is_empty() { "unnamed record".to_owned() } else { name.to_owned() };
        }
        let ty = self.types.intern(Type::Record(made));
        self.inline_types.insert(key, Written::plain(ty));
        ty
    }

    /// The type of a variable, parameter or field with the qualifiers of its declaration. In OpenCL an address
    /// space before a pointer's type belongs to what it points to in the end.
    pub(super) fn declared_type(&mut self, ty: &'u syntax::Type, qualifiers: &'u [Qualifier]) -> Written {
        let mut written = self.resolve_type(ty);
        for qualifier in qualifiers {
            match qualifier {
                Qualifier::Const | Qualifier::Constexpr => {
                    written.is_const |=
                        !written.is_reference && !matches!(self.types[written.ty], Type::Pointer { .. });
                }
                Qualifier::Volatile => written.is_volatile = true,
                Qualifier::Attribute(name, args) if name == "ext_vector_type" || name == "vector_size" => {
                    written.ty = self.extended_vector(written.ty, name, args);
                }
                other => {
                    if let Some(space) = space_of(self.language, other) {
                        match self.types.with_pointee_space(written.ty, space) {
                            Some(ty) => written.ty = ty,
                            None => written.space = Some(space),
                        }
                    }
                }
            }
        }
        written
    }

    /// A vector made by an attribute of the compiler.
    fn extended_vector(&mut self, of: TypeId, attribute: &str, args: &'u [syntax::Expr]) -> TypeId {
        let amount = args.first().and_then(|amount| self.constant_of(amount)).unwrap_or(0);
        let unit = if attribute == "vector_size" { self.layout().size_of(of).unwrap_or(1) } else { 1 };
        match u8::try_from(amount / i128::from(unit.max(1))) {
            Ok(lanes @ 1..=16) => self.types.intern(Type::Vector { of, lanes }),
            _ => self.types.unknown("vector of unusual size"),
        }
    }

    /// A scope inside `parent` for parameters of a template.
    pub(super) fn template_scope(&mut self, parent: ScopeId) -> ScopeId {
        let prefix = self.scopes[parent.0].prefix.clone();
        self.add_scope(Scope { prefix, ..Scope::inside(parent) })
    }
}

/// The address space that a qualifier states in a type or before one.
fn space_of(language: Language, qualifier: &Qualifier) -> Option<AddressSpace> {
    // In CUDA these words say where a variable lives, never where a pointer points to.
    match (language, qualifier) {
        (Language::Cuda, _) => None,
        (Language::OpenCl, Qualifier::Global) => Some(AddressSpace::Global),
        (Language::OpenCl, Qualifier::Shared) => Some(AddressSpace::Shared),
        (Language::OpenCl, Qualifier::Constant) => Some(AddressSpace::Constant),
        (Language::OpenCl, Qualifier::Private) => Some(AddressSpace::Private),
        _ => None,
    }
}
