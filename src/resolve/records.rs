//! Records: instances of class templates and their members. How these lie is for [`super::record_layout`] to say, and which
//! definitions outside of a class belong to it for [`super::outside`].

use super::context::{DEPTH_LIMIT, Resolver};
use super::entities::{Entity, Found, Global, Scope, ScopeId, TemplateValue};
use super::outside::bare_name;
use super::overload::states_volatile;
use super::program::{Field, Record, RecordId, Type, TypeId};
use super::record_layout::{Builder, Part, PartKind, is_packed};
use super::type_functions::Condition;
use crate::syntax::{self, Item, ItemKind, Qualifier, TemplateArg, TypeKind, unpack};

/// Whether it is known which definition a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    Certain,
    /// One with a pack may be meant.
    ButForPacks,
    /// Another may be meant.
    Open,
}

/// Nesting of first members beyond which nothing is claimed of what lies at a record's start.
const START_DEPTH: usize = 16;

impl<'u> Resolver<'u> {
    /// The type that a record's name with arguments stands for.
    pub(super) fn record_type(&mut self, index: usize, args: Option<&'u [TemplateArg]>) -> TypeId {
        let primary = self.records.decls[index].primary;
        let home = self.records.decls[index].scope;
        let params = primary.template.as_deref().unwrap_or(&[]);
        if args.is_some_and(unpack::is_open) {
            let class = self.types.unknown(format!("{}, with a parameter pack", self.records.decls[index].name));
            self.records.open_types.insert(class);
            return class;
        }
        let values = match args {
            None if params.is_empty() => Vec::new(),
            // Inside a template its bare name stands for the instance.
            None => match self.enclosing_instance(index) {
                Some(record) => return self.types.intern(Type::Record(record)),
                None => self.complete_values(params, Vec::new(), home),
            },
            Some(args) => self.template_values(params, args, home),
        };
        if self.depth > DEPTH_LIMIT {
            return self.types.unknown(self.records.decls[index].name);
        }
        let record = self.instantiate_record(index, values);
        // Types do not tell what is `volatile`.
        let is_specialized = !self.records.decls[index].specializations.is_empty();
        if self.records.open.contains(&record) || is_specialized && states_volatile(args.unwrap_or(&[])) {
            let name = &self.records[record].name;
            let class = self.types.unknown(format!("{name}, of which another specialisation may be meant"));
            self.records.open_types.insert(class);
            return class;
        }
        self.types.intern(Type::Record(record))
    }

    /// The class before the last name of a path, where it is not known whether a specialisation of it is meant.
    pub(super) fn open_class(&mut self, path: &'u syntax::Path) -> Option<String> {
        let (_, outer) = path.segments.split_last()?;
        let last = outer.last()?;
        let Found::Entities(entities) = self.find_outer(path) else { return None };
        let ty = entities.iter().find_map(|entity| self.written_of_entity(entity, last))?.ty;
        self.records.open_types.contains(&ty).then(|| self.type_name(ty))
    }

    /// The instance of a record template whose members are being resolved.
    fn enclosing_instance(&self, index: usize) -> Option<RecordId> {
        let mut scope = Some(self.scope);
        while let Some(current) = scope {
            if let Some(record) = self.scopes[current.0].record
                && self.records.origins[record.index()].0 == index
            {
                return Some(record);
            }
            scope = self.scopes[current.0].parent;
        }
        None
    }

    /// The record for these template arguments.
    pub(super) fn instantiate_record(&mut self, index: usize, values: Vec<TemplateValue>) -> RecordId {
        if let Some(&known) = self.records.decls[index].instances.get(&values) {
            return known;
        }
        let home = self.records.decls[index].scope;
        let (definition, bound, knowledge) = self.specialization(index, &values);
        let name = format!("{}{}", self.scopes[home.0].prefix, self.records.decls[index].name);
        let name = if values.is_empty() { name } else { format!("{name}<{}>", self.value_texts(&values).join(", ")) };
        let record = self.records.all.push(Record {
            name: name.clone(),
            is_union: definition.is_union,
            fields: Vec::new(),
            bytes: None,
            align: 1,
            is_fixed: false,
            tile: None,
        });
        let scope = self.add_scope(Scope { record: Some(record), prefix: format!("{name}::"), ..Scope::inside(bound) });
        if knowledge != Knowledge::Certain {
            self.records.open.insert(record);
        }
        self.records.scopes.push(scope);
        self.records.bases.push(Vec::new());
        self.records.origins.push((index, values.clone()));
        self.records.decls[index].instances.insert(values, record);
        self.records.definitions.insert(record, definition);
        self.depth += 1;
        let outer = std::mem::replace(&mut self.scope, scope);
        self.as_seen_from(definition, true, |this| this.fill_record(record, index, definition));
        self.scope = outer;
        self.depth -= 1;
        record
    }

    /// The definition that fits the arguments best, with the scope that binds its parameters, and whether it is the one.
    fn specialization(&mut self, index: usize, values: &[TemplateValue]) -> (&'u syntax::Record, ScopeId, Knowledge) {
        let home = self.records.decls[index].scope;
        let primary = self.records.decls[index].primary;
        let mut best: Option<(&'u syntax::Record, ScopeId)> = None;
        let own = primary.template.as_deref().unwrap_or(&[]);
        let mut knowledge = if own.iter().any(is_unread) { Knowledge::Open } else { Knowledge::Certain };
        for candidate in self.records.decls[index].specializations.clone() {
            let params = candidate.template.as_deref().unwrap_or(&[]);
            let args = candidate.specialization.as_deref().unwrap_or(&[]);
            if params.iter().any(|param| param.pack) {
                if knowledge == Knowledge::Certain && self.may_fit_by_pack(index, candidate, values) {
                    knowledge = Knowledge::ButForPacks;
                }
                continue;
            }
            let mut found = vec![TemplateValue::Unknown; params.len()];
            self.deduce_args(params, &mut found, args, values);
            if self.has_value_of_another_type(own, params, args, values) {
                knowledge = Knowledge::Open;
                continue;
            }
            let is_open = found.contains(&TemplateValue::Unknown);
            if is_open && self.may_be_meant(params, args, values) {
                knowledge = Knowledge::Open;
                continue;
            }
            if is_open && !values.contains(&TemplateValue::Unknown) {
                continue;
            }
            let scope = self.bind(home, params, &found);
            let own = primary.template.as_deref().unwrap_or(&[]);
            let conditions = self.within(scope, |this| {
                let condition = |argument: &'u TemplateArg, this: &mut Self| match argument {
                    TemplateArg::Type(ty) => this.condition_in(ty),
                    TemplateArg::Value(_) | TemplateArg::Expansion(_) => Condition::Holds,
                };
                args.iter().map(|argument| condition(argument, this)).collect::<Vec<_>>()
            });
            if conditions.contains(&Condition::Fails) {
                continue;
            }
            let rebuilt = self.within(scope, |this| this.written_values(own, args));
            let rebuilt = self.stated_values(own, rebuilt, home);
            let is_condition = |at: usize| conditions.get(at) == Some(&Condition::Open);
            let agrees = |(at, (a, b)): (usize, (&TemplateValue, &TemplateValue))| is_condition(at) || same_value(a, b);
            let matches = rebuilt.len() == values.len() && rebuilt.iter().zip(values).enumerate().all(agrees);
            let is_doubtful = states_volatile(args) || conditions.contains(&Condition::Open);
            if matches && is_doubtful || !matches && self.may_be_same(&rebuilt, values) {
                knowledge = Knowledge::Open;
                continue;
            }
            if matches && best.is_none_or(|(known, _)| self.is_more_special_record(index, candidate, known)) {
                best = Some((candidate, scope));
            }
        }
        if let Some((definition, scope)) = best {
            // No other is more special than one without parameters.
            let is_full = definition.template.as_ref().is_none_or(Vec::is_empty) && knowledge == Knowledge::ButForPacks;
            return (definition, scope, if is_full { Knowledge::Certain } else { knowledge });
        }
        let params = primary.template.as_deref().unwrap_or(&[]);
        (primary, self.bind(home, params, values), knowledge)
    }

    /// Whether a parameter of a specialisation stands for one that is `auto`, and is of another type than the value: compilers do
    /// not agree on whether it fits.
    fn has_value_of_another_type(
        &mut self,
        own: &'u [syntax::TemplateParam],
        params: &'u [syntax::TemplateParam],
        args: &'u [TemplateArg],
        values: &[TemplateValue],
    ) -> bool {
        own.iter().zip(args).zip(values).any(|((own, argument), value)| {
            let (syntax::TemplateParamKind::Value(auto, _), TemplateValue::Value(_, given)) = (&own.kind, value) else {
                return false;
            };
            let Some(param) = params.iter().find(|param| bare_name(argument) == Some(&param.name.text)) else {
                return false;
            };
            match &param.kind {
                syntax::TemplateParamKind::Value(ty, _) if matches!(auto.kind, TypeKind::Auto) => {
                    let stated = self.resolve_type(ty).ty;
                    !matches!(ty.kind, TypeKind::Auto) && self.types.plain(stated) != self.types.plain(*given)
                }
                _ => false,
            }
        })
    }

    /// Whether a specialisation, whose parameters are not all deduced, may be for an argument that is not known.
    fn may_be_meant(&self, params: &[syntax::TemplateParam], args: &[TemplateArg], values: &[TemplateValue]) -> bool {
        let asks = |argument: &TemplateArg| {
            let text = syntax::argument_text(argument);
            !params.iter().any(|param| param.name.text == text)
        };
        args.iter().zip(values).any(|(argument, value)| self.is_open_value(value) && asks(argument))
    }

    /// Whether nothing that is known tells arguments apart.
    pub(super) fn may_be_same(&self, some: &[TemplateValue], others: &[TemplateValue]) -> bool {
        let differs = |(a, b)| !same_value(a, b) && !self.is_open_value(a) && !self.is_open_value(b);
        some.len() == others.len() && !some.iter().zip(others).any(differs)
    }

    /// Whether an argument is not known, or a type that is not.
    pub(super) fn is_open_value(&self, value: &TemplateValue) -> bool {
        match value {
            TemplateValue::Type(ty) => self.is_open_type(*ty),
            TemplateValue::Pack(values) => values.iter().any(|value| self.is_open_value(value)),
            TemplateValue::Unknown => true,
            _ => false,
        }
    }

    /// Whether a type is not known, or what it is made of.
    fn is_open_type(&self, ty: TypeId) -> bool {
        let ty = self.types.plain(ty);
        match &self.types[ty] {
            Type::Pointer { to, .. } => self.is_open_type(*to),
            Type::Array { of, .. } => self.is_open_type(*of),
            Type::Unknown(_) => !self.types.signatures.contains_key(&ty),
            _ => false,
        }
    }

    /// Whether a specialisation with a pack, which nothing expands, may fit these arguments: none of those before the first
    /// expansion differs.
    fn may_fit_by_pack(&mut self, index: usize, candidate: &'u syntax::Record, values: &[TemplateValue]) -> bool {
        let home = self.records.decls[index].scope;
        let own = self.records.decls[index].primary.template.as_deref().unwrap_or(&[]);
        let params = candidate.template.as_deref().unwrap_or(&[]);
        let args = candidate.specialization.as_deref().unwrap_or(&[]);
        let mentions_pack = |argument: &TemplateArg| {
            let text = syntax::argument_text(argument);
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            text.contains('«') || words.any(|word| params.iter().any(|param| param.pack && param.name.text == word))
        };
        let before = args.iter().take_while(|argument| !mentions_pack(argument)).count();
        let values: Vec<TemplateValue> = values.iter().flat_map(flattened).collect();
        if values.len() < before || before == args.len() && values.len() > before {
            return false;
        }
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.deduce_args(params, &mut found, &args[..before], &values);
        let scope = self.bind(home, params, &found);
        let rebuilt = self.within(scope, |this| this.written_values(own, &args[..before]));
        rebuilt.iter().zip(&values).all(|(a, b)| same_number(a, b))
    }

    /// Whether a specialisation fits nothing that another does not (C++17, [temp.class.order]).
    fn is_more_special_record(&mut self, index: usize, one: &'u syntax::Record, other: &'u syntax::Record) -> bool {
        let home = self.records.decls[index].scope;
        let own = self.records.decls[index].primary.template.as_deref().unwrap_or(&[]);
        let params = one.template.as_deref().unwrap_or(&[]);
        let values = self.placeholders(params);
        let scope = self.bind(home, params, &values);
        let args = one.specialization.as_deref().unwrap_or(&[]);
        let made = self.within(scope, |this| this.written_values(own, args));
        let made = self.complete_values(own, made, home);
        let params = other.template.as_deref().unwrap_or(&[]);
        let args = other.specialization.as_deref().unwrap_or(&[]);
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.within(home, |this| this.deduce_args(params, &mut found, args, &made));
        let scope = self.bind(home, params, &found);
        let rebuilt = self.within(scope, |this| this.written_values(own, args));
        let rebuilt = self.complete_values(own, rebuilt, home);
        rebuilt.len() == made.len() && rebuilt.iter().zip(&made).all(|(a, b)| same_value(a, b))
    }

    /// Declares members and lays out fields. The current scope is the record's.
    fn fill_record(&mut self, record: RecordId, index: usize, definition: &'u syntax::Record) {
        let Some(members) = &definition.members else {
            return;
        };
        let mut builder = Builder::new(definition);
        // Inside of a class its own name is that of the class, whatever its constructors are called.
        let name = self.records.decls[index].name;
        if !self.records.closures.contains_key(&record) {
            self.declare(name, Entity::Record(index));
        }
        self.add_bases(record, definition, &mut builder);
        for member in members {
            self.add_member(member, &mut builder);
        }
        self.declare_outside(record);
        for qualifier in &definition.qualifiers {
            if let Some(align) = self.alignment(qualifier) {
                builder.align = builder.align.max(align);
            }
        }
        builder.end_bits();
        if !builder.references.is_empty() {
            self.records.references.insert(record, std::mem::take(&mut builder.references));
        }
        self.records.settle_bases(record, &builder);
        let made = &mut self.records[record];
        made.fields = std::mem::take(&mut builder.fields);
        made.align = builder.align;
        made.bytes = builder.bytes();
        self.records.shapes.insert(record, builder.shape());
    }

    /// The bytes of base classes come first.
    fn add_bases(&mut self, record: RecordId, definition: &'u syntax::Record, builder: &mut Builder<'u>) {
        for written in &definition.bases {
            let ty = self.resolve_type(written).ty;
            let Type::Record(base) = self.types[ty] else {
                builder.is_known = false;
                continue;
            };
            let shape = self.records.shapes.get(&base).cloned().unwrap_or_default();
            let is_virtual = written.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Virtual));
            builder.is_dynamic |= shape.is_dynamic;
            builder.has_virtual_base |= shape.has_virtual_base || is_virtual;
            let (was_known, is_first) = (builder.is_known && !is_virtual, builder.is_empty());
            let offset = if self.records.is_empty_record(base) {
                builder.align = builder.align.max(self.records[base].align);
                Some(0)
            } else {
                builder.place_base(self.records[base].bytes, Some(self.records[base].align), shape.data_end)
            };
            if offset == Some(0) {
                builder.add_empties(&self.empties_at_start(ty, 0));
            }
            if self.is_dependent_base(written, base) {
                self.records.dependent_bases.insert((record, base));
            }
            let is_certain = was_known && (is_first || builder.is_known);
            self.records.bases[record.index()].push((base, offset.filter(|_| is_certain)));
            let fields = self.records[base].fields.clone();
            let fields = builder.add_fields(fields, offset.unwrap_or(0), self.records.references.get(&base));
            builder.parts.push(Part { kind: PartKind::Base(base), ty, fields });
        }
    }

    /// The empty classes at the start of an object of that type.
    fn empties_at_start(&self, ty: TypeId, depth: usize) -> Vec<RecordId> {
        match self.types[ty] {
            Type::Array { of, .. } => self.empties_at_start(of, depth),
            Type::Record(record) if depth < START_DEPTH => {
                let mut empties = self.records.empties_of(record);
                let first = self.records[record].fields.iter().filter(|field| field.offset == 0);
                empties.extend(first.flat_map(|field| self.empties_at_start(field.ty, depth + 1)));
                empties
            }
            _ => Vec::new(),
        }
    }

    fn add_member(&mut self, member: &'u Item, builder: &mut Builder<'u>) {
        match &member.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    let is_static =
                        variable.qualifiers.iter().any(|q| matches!(q, Qualifier::Static | Qualifier::Constexpr));
                    if is_static {
                        self.visible.note_order(variable);
                        self.globals.push(Global::new(variable, self.scope));
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
            ItemKind::Function(function) if is_marked_virtual(function) => {
                builder.is_dynamic = true;
                self.declare_item(member);
            }
            ItemKind::Unsupported(_) => builder.is_known = false,
            _ => self.declare_item(member),
        }
    }

    /// Gives a closure its fields.
    pub(super) fn lay_out_closure(&mut self, record: RecordId, fields: Vec<(String, TypeId)>) {
        let index = self.records.origins[record.index()].0;
        let mut builder = Builder::new(self.records.decls[index].primary);
        for (name, ty) in fields {
            let (size, align) = (self.layout().size_of(ty), self.layout().align_of(ty));
            let offset = builder.place(size, align).unwrap_or(0);
            builder.parts.push(Part::member(builder.fields.len(), ty));
            builder.fields.push(Field { name, ty, offset, bit_group_bytes: None, bits: None });
        }
        let made = &mut self.records[record];
        made.bytes = builder.bytes();
        made.align = builder.align;
        made.fields = std::mem::take(&mut builder.fields);
        self.records.shapes.insert(record, builder.shape());
    }

    /// Adds the fields of an anonymous member as the record's own.
    fn lift(&mut self, ty: TypeId, builder: &mut Builder<'u>) {
        let offset = builder.place(self.layout().size_of(ty), self.layout().align_of(ty)).unwrap_or(0);
        builder.meet_empties(offset, &self.empties_at_start(ty, 0));
        if let Type::Record(inner) = self.types[ty] {
            let fields = self.records[inner].fields.clone();
            let fields = builder.add_fields(fields, offset, self.records.references.get(&inner));
            let parts = self.records.shapes.get(&inner).map(|shape| shape.parts.clone()).unwrap_or_default();
            builder.add_anonymous(ty, self.records[inner].is_union, fields, &parts);
        }
    }

    fn add_field(&mut self, variable: &'u syntax::Variable, builder: &mut Builder<'u>) {
        let anonymous = match &variable.ty.kind {
            TypeKind::Record(_) => variable.name.text.is_empty() && variable.bits.is_none(),
            _ => false,
        };
        let written = self.declared_type(&variable.ty, &variable.qualifiers);
        let ty = if written.is_reference { self.types.held_type(written) } else { self.types.object_type(written) };
        if anonymous {
            return self.lift(ty, builder);
        }
        let is_mutable = variable
            .qualifiers
            .iter()
            .any(|qualifier| matches!(qualifier, Qualifier::Other(word) if word == "mutable"));
        let ty = if is_mutable { self.types.as_mutable(ty) } else { ty };
        let size = self.layout().size_of(ty);
        let natural = self.layout().align_of(ty);
        if let Some(bits) = &variable.bits {
            let bits = self.constant_of(bits).and_then(|bits| u64::try_from(bits).ok());
            return builder.add_bits(variable, ty, bits, size);
        }
        let stated = variable.qualifiers.iter().filter_map(|qualifier| self.alignment(qualifier)).max();
        let is_packed = builder.is_packed || is_packed(&variable.qualifiers);
        let align = natural.map(|natural| if is_packed { 1 } else { natural }.max(stated.unwrap_or(1)));
        // Compilers pack members of plain structures only, and which are plain depends on them.
        builder.is_known &= !is_packed || natural == align || !self.has_code(ty);
        // A flexible array member takes no room of its own.
        let size = match self.types[ty] {
            Type::Array { len: None, of } if self.layout().size_of(of).is_some() => Some(0),
            _ => size,
        };
        let offset = builder.place(size, align).unwrap_or(0);
        builder.meet_empties(offset, &self.empties_at_start(ty, 0));
        if written.is_reference {
            builder.references.push(builder.fields.len());
        }
        let name = variable.name.text.clone();
        builder.add_member(variable, Field { name, ty, offset, bit_group_bytes: None, bits: None });
    }

    /// Whether a type is a class with functions or bases, or holds one.
    fn has_code(&self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Array { of, .. } => self.has_code(of),
            Type::Record(record) => {
                let members =
                    self.records.definitions.get(&record).and_then(|definition| definition.members.as_deref());
                let is_function = |item: &Item| matches!(item.kind, ItemKind::Function(_));
                !self.records.bases[record.index()].is_empty()
                    || members.unwrap_or(&[]).iter().any(is_function)
                    || self.records[record].fields.iter().any(|field| self.has_code(field.ty))
            }
            _ => false,
        }
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
}

/// Whether a function is declared `virtual`, `override` or `final`.
pub(super) fn is_marked_virtual(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Virtual | Qualifier::Final))
}

/// The arguments of a pack one by one.
fn flattened(value: &TemplateValue) -> Vec<TemplateValue> {
    match value {
        TemplateValue::Pack(values) => values.clone(),
        value => vec![value.clone()],
    }
}

/// Whether two arguments may be the same, whatever the types of constants.
fn same_number(a: &TemplateValue, b: &TemplateValue) -> bool {
    match (a, b) {
        (TemplateValue::Value(a, _), TemplateValue::Value(b, _)) => a == b,
        (a, b) => a == b || [a, b].contains(&&TemplateValue::Unknown),
    }
}

/// Whether two arguments are known to be the same.
pub(super) fn same_value(a: &TemplateValue, b: &TemplateValue) -> bool {
    match (a, b) {
        (TemplateValue::Pack(a), TemplateValue::Pack(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (a, b) => a == b && *a != TemplateValue::Unknown,
    }
}

/// Whether a parameter of a template could not be read.
pub(super) fn is_unread(param: &syntax::TemplateParam) -> bool {
    match &param.kind {
        syntax::TemplateParamKind::Value(ty, _) => matches!(ty.kind, TypeKind::Unsupported(_)),
        _ => false,
    }
}
