//! Records: instances of class templates, their members, and the layout of their fields.

use super::context::{DEPTH_LIMIT, Resolver};
use super::program::{Field, Record, RecordId, Type, TypeId};
use super::scope::{Entity, FunctionDecl, Scope, ScopeId};
use super::template::TemplateValue;
use crate::syntax::{self, Item, ItemKind, Qualifier, TemplateArg, TypeKind};

impl<'u> Resolver<'u> {
    /// The type that a record's name with arguments stands for.
    pub(super) fn record_type(&mut self, index: usize, args: Option<&'u [TemplateArg]>) -> TypeId {
        let primary = self.record_decls[index].primary;
        let home = self.record_decls[index].scope;
        let params = primary.template.as_deref().unwrap_or(&[]);
        let values = match args {
            None if params.is_empty() => Vec::new(),
            // Inside a template its bare name stands for the instance.
            None => match self.enclosing_instance(index) {
                Some(record) => return self.intern(Type::Record(record)),
                None => self.complete_values(params, Vec::new(), home),
            },
            Some(args) => self.template_values(params, args, home),
        };
        if self.depth > DEPTH_LIMIT {
            return self.unknown(self.record_decls[index].name);
        }
        let record = self.instantiate_record(index, values);
        self.intern(Type::Record(record))
    }

    /// The instance of a record template whose members are being resolved.
    fn enclosing_instance(&self, index: usize) -> Option<RecordId> {
        let mut scope = Some(self.scope);
        while let Some(current) = scope {
            if let Some(record) = self.scopes[current.0].record
                && self.record_origins[record.index()].0 == index
            {
                return Some(record);
            }
            scope = self.scopes[current.0].parent;
        }
        None
    }

    /// The record for these template arguments.
    pub(super) fn instantiate_record(&mut self, index: usize, values: Vec<TemplateValue>) -> RecordId {
        if let Some(&known) = self.record_decls[index].instances.get(&values) {
            return known;
        }
        let home = self.record_decls[index].scope;
        let (definition, bound) = self.specialization(index, &values);
        let name = format!("{}{}", self.scopes[home.0].prefix, self.record_decls[index].name);
        let name = if values.is_empty() { name } else { format!("{name}<{}>", self.value_texts(&values).join(", ")) };
        let record = self.records.push(Record {
            name: name.clone(),
            is_union: definition.is_union,
            fields: Vec::new(),
            bytes: None,
            align: 1,
            is_fixed: false,
        });
        let scope = self.add_scope(Scope { record: Some(record), prefix: format!("{name}::"), ..Scope::inside(bound) });
        self.record_scopes.push(scope);
        self.record_bases.push(Vec::new());
        self.record_origins.push((index, values.clone()));
        self.record_decls[index].instances.insert(values, record);
        self.depth += 1;
        let outer = std::mem::replace(&mut self.scope, scope);
        self.as_seen_from(definition, true, |this| this.fill_record(record, index, definition));
        self.scope = outer;
        self.depth -= 1;
        record
    }

    /// The definition that fits the arguments best, with the scope that binds its parameters.
    fn specialization(&mut self, index: usize, values: &[TemplateValue]) -> (&'u syntax::Record, ScopeId) {
        let home = self.record_decls[index].scope;
        let primary = self.record_decls[index].primary;
        let mut best: Option<(&'u syntax::Record, ScopeId)> = None;
        for candidate in self.record_decls[index].specializations.clone() {
            let params = candidate.template.as_deref().unwrap_or(&[]);
            let args = candidate.specialization.as_deref().unwrap_or(&[]);
            let mut found = vec![TemplateValue::Unknown; params.len()];
            self.deduce_args(params, &mut found, args, values);
            let scope = self.bind(home, params, &found);
            let own = primary.template.as_deref().unwrap_or(&[]);
            let rebuilt = self.within(scope, |this| this.written_values(own, args));
            let matches = rebuilt.len() == values.len() && rebuilt.iter().zip(values).all(|(a, b)| same_value(a, b));
            if matches && best.is_none_or(|(known, _)| self.is_more_special_record(index, candidate, known)) {
                best = Some((candidate, scope));
            }
        }
        if let Some(found) = best {
            return found;
        }
        let params = primary.template.as_deref().unwrap_or(&[]);
        (primary, self.bind(home, params, values))
    }

    /// Whether a specialisation fits nothing that another does not (C++17, [temp.class.order]).
    fn is_more_special_record(&mut self, index: usize, one: &'u syntax::Record, other: &'u syntax::Record) -> bool {
        let home = self.record_decls[index].scope;
        let own = self.record_decls[index].primary.template.as_deref().unwrap_or(&[]);
        let params = one.template.as_deref().unwrap_or(&[]);
        let values = self.placeholders(params);
        let scope = self.bind(home, params, &values);
        let args = one.specialization.as_deref().unwrap_or(&[]);
        let made = self.within(scope, |this| this.written_values(own, args));
        let params = other.template.as_deref().unwrap_or(&[]);
        let args = other.specialization.as_deref().unwrap_or(&[]);
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.within(home, |this| this.deduce_args(params, &mut found, args, &made));
        let scope = self.bind(home, params, &found);
        let rebuilt = self.within(scope, |this| this.written_values(own, args));
        rebuilt.len() == made.len() && rebuilt.iter().zip(&made).all(|(a, b)| same_value(a, b))
    }

    /// Declares members and lays out fields. The current scope is the record's.
    fn fill_record(&mut self, record: RecordId, index: usize, definition: &'u syntax::Record) {
        let Some(members) = &definition.members else {
            return;
        };
        let mut builder = Builder::new(definition);
        // Inside of a class its own name is that of the class, whatever its constructors are called.
        let name = self.record_decls[index].name;
        if !self.closures.contains_key(&record) {
            self.declare(name, Entity::Record(index));
        }
        self.add_bases(record, definition, &mut builder);
        for member in members {
            self.add_member(member, &mut builder);
        }
        for function in self.record_decls[index].outside.clone() {
            self.declare_outside(record, function);
        }
        for qualifier in &definition.qualifiers {
            if let Some(align) = self.alignment(qualifier) {
                builder.align = builder.align.max(align);
            }
        }
        builder.end_bits();
        if !builder.references.is_empty() {
            self.reference_members.insert(record, std::mem::take(&mut builder.references));
        }
        let align = builder.align;
        let made = &mut self.records[record];
        made.fields = builder.fields;
        made.align = align;
        made.bytes = builder.known.then(|| builder.end.max(1).next_multiple_of(align));
    }

    /// The bytes of base classes come first.
    fn add_bases(&mut self, record: RecordId, definition: &'u syntax::Record, builder: &mut Builder) {
        for base in &definition.bases {
            let ty = self.resolve_type(base).ty;
            let Type::Record(base) = self.types[ty] else {
                builder.known = false;
                continue;
            };
            let is_empty = self.records[base].fields.is_empty();
            let offset = if is_empty {
                Some(0)
            } else {
                builder.place(self.records[base].bytes, Some(self.records[base].align))
            };
            let offset = offset.unwrap_or(0);
            self.record_bases[record.index()].push((base, offset));
            builder.add_fields(self.records[base].fields.clone(), offset, self.reference_members.get(&base));
        }
    }

    fn add_member(&mut self, member: &'u Item, builder: &mut Builder) {
        match &member.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    let is_static =
                        variable.qualifiers.iter().any(|q| matches!(q, Qualifier::Static | Qualifier::Constexpr));
                    if is_static {
                        self.note_order(variable);
                        self.globals.push(super::scope::Global { syntax: variable, scope: self.scope, variable: None });
                        self.declare(&variable.name.text, Entity::Global(self.globals.len() - 1));
                    } else {
                        self.declare_inside(&variable.ty);
                        self.add_field(variable, builder);
                    }
                }
            }
            ItemKind::Record(record) if record.name.text.is_empty() => {
                let ty = self.inline_record(record, "");
                self.lift(ty, builder);
            }
            ItemKind::Function(function) if function.qualifiers.iter().any(|q| matches!(q, Qualifier::Virtual)) => {
                // A table of virtual functions moves the fields in ways that depend on the compiler.
                builder.known = false;
                self.declare_item(member);
            }
            ItemKind::Unsupported(_) => builder.known = false,
            _ => self.declare_item(member),
        }
    }

    /// Gives a closure its fields.
    pub(super) fn lay_out_closure(&mut self, record: RecordId, fields: Vec<(String, TypeId)>) {
        let index = self.record_origins[record.index()].0;
        let mut builder = Builder::new(self.record_decls[index].primary);
        for (name, ty) in fields {
            let (size, align) = (self.layout().size_of(ty), self.layout().align_of(ty));
            let offset = builder.place(size, align).unwrap_or(0);
            builder.fields.push(Field { name, ty, offset, bit_group_bytes: None });
        }
        let Builder { fields, align, end, known, .. } = builder;
        let made = &mut self.records[record];
        made.bytes = known.then(|| end.max(1).next_multiple_of(align));
        made.align = align;
        made.fields = fields;
    }

    /// Adds the fields of an anonymous member as the record's own.
    fn lift(&mut self, ty: TypeId, builder: &mut Builder) {
        let offset = builder.place(self.layout().size_of(ty), self.layout().align_of(ty)).unwrap_or(0);
        if let Type::Record(inner) = self.types[ty] {
            builder.add_fields(self.records[inner].fields.clone(), offset, self.reference_members.get(&inner));
        }
    }

    fn add_field(&mut self, variable: &'u syntax::Variable, builder: &mut Builder) {
        let anonymous = match &variable.ty.kind {
            TypeKind::Record(_) => variable.name.text.is_empty() && variable.bits.is_none(),
            _ => false,
        };
        let written = self.declared_type(&variable.ty, &variable.qualifiers);
        let ty = if written.is_reference { self.held_type(written) } else { self.object_type(written) };
        if anonymous {
            return self.lift(ty, builder);
        }
        let name = variable.name.text.clone();
        let size = self.layout().size_of(ty);
        let natural = self.layout().align_of(ty);
        if let Some(bits) = &variable.bits {
            let bits = self.constant_of(bits).and_then(|bits| u64::try_from(bits).ok());
            return builder.add_bits(name, ty, bits, size);
        }
        let stated = variable.qualifiers.iter().filter_map(|qualifier| self.alignment(qualifier)).max();
        let align = natural.map(|natural| if builder.packed { 1 } else { natural }.max(stated.unwrap_or(1)));
        // A flexible array member takes no room of its own.
        let size = match self.types[ty] {
            Type::Array { len: None, of } if self.layout().size_of(of).is_some() => Some(0),
            _ => size,
        };
        let offset = builder.place(size, align).unwrap_or(0);
        if written.is_reference {
            builder.references.push(builder.fields.len());
        }
        builder.fields.push(Field { name, ty, offset, bit_group_bytes: None });
    }

    /// The alignment that an attribute states.
    pub(super) fn alignment(&mut self, qualifier: &'u Qualifier) -> Option<u64> {
        let Qualifier::Attribute(name, args) = qualifier else {
            return None;
        };
        if !matches!(name.trim_matches('_'), "align" | "aligned" | "alignas") {
            return None;
        }
        let Some(amount) = args.first() else {
            return Some(16);
        };
        let amount = match &amount.kind {
            syntax::ExprKind::Path(path) => match self.path_as_type(path) {
                Some(ty) => self.layout().align_of(ty).map(i128::from),
                None => self.constant_of(amount),
            },
            _ => self.constant_of(amount),
        };
        amount.and_then(|amount| u64::try_from(amount).ok()).filter(|amount| amount.is_power_of_two())
    }

    /// Declares a member that is defined outside of its record; a template's own parameters are bound anew by
    /// the names that the definition gives them.
    fn declare_outside(&mut self, record: RecordId, function: &'u syntax::Function) {
        let Some(last) = function.path.segments.last() else {
            return;
        };
        let (index, values) = self.record_origins[record.index()].clone();
        let scope = match (&self.record_decls[index].primary.template, &function.template) {
            (Some(own), Some(params)) if !own.is_empty() && params.len() >= own.len() => {
                let bound = self.bind(self.record_scopes[record.index()], &params[..own.len()], &values);
                self.scopes[bound.0].prefix = self.scopes[self.record_scopes[record.index()].0].prefix.clone();
                bound
            }
            _ => self.record_scopes[record.index()],
        };
        let decl = FunctionDecl { syntax: function, scope, record: Some(record) };
        self.declare(&last.name.text, Entity::Function(decl));
    }
}

/// Whether two arguments are the same, whatever the type of a constant.
fn same_value(a: &TemplateValue, b: &TemplateValue) -> bool {
    match (a, b) {
        (TemplateValue::Value(a, _), TemplateValue::Value(b, _)) => a == b,
        (a, b) => a == b && *a != TemplateValue::Unknown,
    }
}

/// A record in the course of being laid out.
struct Builder {
    is_union: bool,
    packed: bool,
    /// Whether sizes are known so far.
    known: bool,
    fields: Vec<Field>,
    /// The fields that are declared as references, by index.
    references: Vec<usize>,
    /// One past the last byte so far.
    end: u64,
    align: u64,
    /// The bit-fields that are open: index of the first, its byte, and one past the last bit.
    bits: Option<(usize, u64, u64)>,
}

impl Builder {
    fn new(definition: &syntax::Record) -> Builder {
        let packed = definition
            .qualifiers
            .iter()
            .any(|qualifier| matches!(qualifier, Qualifier::Attribute(name, _) | Qualifier::Other(name) if name.trim_matches('_') == "packed"));
        Builder {
            is_union: definition.is_union,
            packed,
            known: true,
            fields: Vec::new(),
            references: Vec::new(),
            end: 0,
            align: 1,
            bits: None,
        }
    }

    /// Adds the fields of a part of the record, which starts at that offset.
    fn add_fields(&mut self, fields: Vec<Field>, offset: u64, references: Option<&Vec<usize>>) {
        let first = self.fields.len();
        self.references.extend(references.into_iter().flatten().map(|index| first + index));
        self.fields.extend(fields.into_iter().map(|field| Field { offset: field.offset + offset, ..field }));
    }

    /// Room for a member; `None` if its place is not known.
    fn place(&mut self, size: Option<u64>, align: Option<u64>) -> Option<u64> {
        self.end_bits();
        let (Some(size), Some(align)) = (size, align) else {
            self.known = false;
            return None;
        };
        self.align = self.align.max(align);
        let offset = if self.is_union { 0 } else { self.end.checked_next_multiple_of(align)? };
        match offset.checked_add(size) {
            Some(end) if end < 1 << 60 => self.end = self.end.max(end),
            _ => self.known = false,
        }
        Some(offset)
    }

    /// Adds a bit-field after the last one, in a new unit of its type where it would cross one. All fields of a
    /// run share the bytes of the whole run, which are one memory location.
    fn add_bits(&mut self, name: String, ty: TypeId, bits: Option<u64>, size: Option<u64>) {
        let (Some(bits), Some(size)) = (bits, size) else {
            self.known = false;
            return;
        };
        if bits == 0 {
            self.end_bits();
            self.end = if self.is_union { self.end } else { self.end.next_multiple_of(size) };
            return;
        }
        if self.is_union {
            self.end_bits();
        }
        let unit = size * 8;
        let mut next = self.bits.map_or(if self.is_union { 0 } else { self.end * 8 }, |(_, _, next)| next);
        if !self.packed && next / unit != (next + bits - 1) / unit {
            next = next.next_multiple_of(unit);
        }
        let (first, start, _) = self.bits.unwrap_or((self.fields.len(), next / 8, next));
        if !self.packed {
            self.align = self.align.max(size);
        }
        next += bits;
        self.bits = Some((first, start, next));
        if !name.is_empty() {
            self.fields.push(Field { name, ty, offset: start, bit_group_bytes: Some(0) });
        }
    }

    /// Ends a run of bit-fields.
    fn end_bits(&mut self) {
        if let Some((first, start, next)) = self.bits.take() {
            let end = next.div_ceil(8);
            for field in &mut self.fields[first..] {
                field.bit_group_bytes = Some((end - start) as u32);
            }
            self.end = self.end.max(end);
        }
    }
}
