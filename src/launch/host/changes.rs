//! The names of variables that host code may change, and where it does so ([`super::effects`] finds them).
//!
//! Guarantees: of a name that is not among them nothing is changed, but where [`ANYTHING`] is.
//!
//! Deliberately absent: scopes. Variables of one name share what is done to each of them.

use super::api::{for_launches, is_array_of_pointers};
use crate::builtins::host::gives_reference;
use crate::source::Span;
use crate::syntax::parts::{init_parts, parts_of_stmt, stmts_in, visit};
use crate::syntax::{self, Item, ItemKind, StmtKind, TemplateParamKind, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Stands among changed names for every variable: something that is not understood may change it.
pub(super) const ANYTHING: &str = "";

/// The functions that a statement may put into variables: `f = &k`, `f = k`, also as an initial value.
pub(super) fn pointers_to_functions(stmt: &syntax::Stmt) -> Vec<(&str, &syntax::Path)> {
    let mut found = Vec::new();
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        for value in exprs {
            visit(value, |part| {
                if let syntax::ExprKind::Assign(None, target, value) = &part.kind {
                    found.extend(root_name(target).zip(named_function(value)));
                }
            });
        }
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                let values = init_parts(variable.init.as_ref()).iter().filter_map(named_function);
                found.extend(values.map(|path| (variable.name.text.as_str(), path)));
            }
        }
        open.extend(stmts);
    }
    found
}

/// `k` and `&k`
pub(super) fn named_function(value: &syntax::Expr) -> Option<&syntax::Path> {
    match &value.kind {
        syntax::ExprKind::Path(path) => Some(path),
        syntax::ExprKind::Unary(syntax::UnaryOp::AddressOf, inner) | syntax::ExprKind::Cast(_, _, inner) => {
            match &inner.kind {
                syntax::ExprKind::Path(path) => Some(path),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What a function says of names before anything is known of them.
#[derive(Debug, Default)]
struct Names<'u> {
    /// Arrays of addresses and configurations of launches, which change nothing (see [`super::api`]).
    for_launches: FxHashSet<&'u str>,
    /// The types that parameters and locals are declared with.
    types: FxHashMap<&'u str, Vec<&'u syntax::Type>>,
    /// Parameters of the template that the function is.
    type_parameters: FxHashSet<&'u str>,
}

/// The names of variables that a function may change, and where it does so last.
#[derive(Debug, Default)]
pub(super) struct Changes<'u> {
    /// `None` if that cannot be told, as in a macro.
    last: FxHashMap<&'u str, Option<Span>>,
    /// Variables of which more is changed than lanes that are named.
    wholes: FxHashSet<&'u str>,
    /// Lanes of sizes that are changed by their names: `block.x`.
    lanes: FxHashMap<&'u str, [bool; 3]>,
    /// Variables that others may change from where they get a reference on.
    leaks: FxHashSet<&'u str>,
    /// Variables that may be changed before the place where this is seen.
    anywhere: FxHashSet<&'u str>,
    /// Whether control may get anywhere by a `goto`.
    pub(super) has_jumps: bool,
    names: Rc<Names<'u>>,
}

impl<'u> Changes<'u> {
    /// Nothing yet, in such a function.
    pub(super) fn of_function(function: &'u syntax::Function) -> Self {
        let body = function.body.as_deref().unwrap_or(&[]);
        let mut names = Names { for_launches: for_launches(body), ..Names::default() };
        for param in &function.params {
            names.types.entry(&param.name.text).or_default().push(&param.ty);
        }
        let mut open: Vec<&'u syntax::Stmt> = body.iter().collect();
        while let Some(stmt) = open.pop() {
            let declared = match &stmt.kind {
                StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) => variables.as_slice(),
                StmtKind::RangeFor { variable, .. } => std::slice::from_ref(&**variable),
                _ => &[],
            };
            for variable in declared {
                names.types.entry(&variable.name.text).or_default().push(&variable.ty);
            }
            open.extend(stmts_in(stmt));
        }
        let own = function.template.iter().flatten();
        let types = own.filter(|param| matches!(param.kind, TemplateParamKind::Type(_)));
        names.type_parameters.extend(types.map(|param| param.name.text.as_str()));
        Changes { names: Rc::new(names), ..Changes::default() }
    }

    /// Nothing yet, in the same function.
    pub(super) fn none_of(&self) -> Self {
        Changes { names: self.names.clone(), ..Changes::default() }
    }

    /// Whether a name is that of an array of addresses or of a configuration for launches.
    pub(super) fn is_for_launches(&self, name: &str) -> bool {
        self.names.for_launches.contains(name)
    }

    /// The types that the function declares variables of that name with.
    pub(super) fn types_of(&self, path: &syntax::Path) -> &[&'u syntax::Type] {
        match path.segments.as_slice() {
            [only] => self.names.types.get(only.name.text.as_str()).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// Whether the function declares a variable of that name.
    pub(super) fn is_declared(&self, path: &syntax::Path) -> bool {
        !self.types_of(path).is_empty()
    }

    /// Whether a name is that of a type which the function is a template for.
    pub(super) fn is_type_parameter(&self, path: &syntax::Path) -> bool {
        matches!(path.segments.as_slice(), [only] if self.names.type_parameters.contains(only.name.text.as_str()))
    }

    /// Something changes `name` at a place.
    pub(super) fn add(&mut self, name: &'u str, span: Span) {
        self.wholes.insert(name);
        self.add_part(name, span);
    }

    /// Something changes what an expression names at a place: of `block.x` one lane.
    pub(super) fn add_target(&mut self, target: &'u syntax::Expr, span: Span) {
        let (whole, lane) = match &target.kind {
            syntax::ExprKind::Member { object, member, arrow: false, .. } => {
                (&**object, LANES.iter().position(|lane| *lane == member.name.text))
            }
            _ => (target, None),
        };
        match (&whole.kind, lane) {
            (syntax::ExprKind::Path(path), Some(lane)) if path.segments.len() == 1 => {
                let name = path.segments[0].name.text.as_str();
                self.lanes.entry(name).or_default()[lane] = true;
                self.add_part(name, span);
            }
            _ => self.add_all(roots(target), span),
        }
    }

    /// The lanes of `name` that are changed, if nothing else of it may be.
    pub(super) fn lanes_of(&self, name: &str) -> Option<[bool; 3]> {
        let is_whole = self.wholes.contains(name) || self.is_exposed(name);
        self.lanes.get(name).copied().filter(|_| !is_whole)
    }

    fn add_part(&mut self, name: &'u str, span: Span) {
        let place = Some(span).filter(|span| span.expansion.is_none());
        let last = self.last.entry(name).or_insert(place);
        *last = match (*last, place) {
            (Some(known), Some(place)) if known.file == place.file => {
                Some(if place.start > known.start { place } else { known })
            }
            _ => None,
        };
    }

    /// Something may change `name` at any time, also before the place where this is seen.
    pub(super) fn expose(&mut self, name: &'u str) {
        self.last.insert(name, None);
        self.anywhere.insert(name);
    }

    /// Something gets hold of `name` at a place, and may change it at any time from there on.
    pub(super) fn leak(&mut self, name: &'u str, span: Span) {
        self.add(name, span);
        self.leaks.insert(name);
    }

    pub(super) fn add_all(&mut self, names: impl IntoIterator<Item = &'u str>, span: Span) {
        names.into_iter().for_each(|name| self.add(name, span));
    }

    /// Of these, what changes where it stands, and not through whoever gets hold of it.
    pub(super) fn assigned(&self) -> Self {
        let mut found = self.none_of();
        for (&name, &last) in self.last.iter().filter(|(name, _)| !self.leaks.contains(*name)) {
            found.last.insert(name, last);
            found.lanes.extend(self.lanes.get(name).map(|&lanes| (name, lanes)));
            found.wholes.extend(self.wholes.get(name));
        }
        found
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'u str> {
        self.last.keys().copied()
    }

    /// Whether nothing is changed.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Whether `name` may be among what is changed.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.has(name) || self.has(ANYTHING)
    }

    /// Whether the function changes `name` anywhere.
    pub(super) fn has(&self, name: &str) -> bool {
        self.last.contains_key(name)
    }

    /// Whether others may change `name` from some place on.
    pub(super) fn leaks(&self, name: &str) -> bool {
        self.leaks.contains(name)
    }

    /// Whether what changes `name` may do so at places that cannot be told.
    pub(super) fn is_exposed(&self, name: &str) -> bool {
        self.has(ANYTHING) || matches!(self.last.get(name), Some(None))
    }

    /// Whether all that changes `name` does so where it stands, on the way of control, if perhaps in a macro.
    pub(super) fn is_followed(&self, name: &str) -> bool {
        !self.has_jumps && !self.has(ANYTHING) && !self.anywhere.contains(name)
    }
}

/// The lanes of a size.
const LANES: [&str; 3] = ["x", "y", "z"];

/// Whether a variable is an array of addresses that is for launches, which only read what these are of.
pub(super) fn is_for_launches(variable: &syntax::Variable, changed: &Changes<'_>) -> bool {
    changed.is_for_launches(&variable.name.text) && is_array_of_pointers(&variable.ty)
}

/// The variables that an expression may name as a whole or in part: `a` of `a.b[c]`, `a` and `b` of `c ? a : b`.
pub(super) fn roots(value: &syntax::Expr) -> Vec<&str> {
    use syntax::ExprKind as Kind;
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match &value.kind {
            Kind::Path(path) => found.extend(path.segments.last().map(|segment| segment.name.text.as_str())),
            Kind::Member { object, arrow: false, .. } => open.push(object),
            Kind::Index(inner, _)
            | Kind::Cast(_, _, inner)
            | Kind::Assign(_, inner, _)
            | Kind::Comma(_, inner)
            | Kind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, inner) => open.push(inner),
            Kind::Unary(UnaryOp::Deref, inner) => {
                if let Kind::Unary(UnaryOp::AddressOf, object) = &inner.kind {
                    open.push(object);
                }
            }
            Kind::Conditional(_, one, other) => open.extend([&**one, &**other]),
            Kind::Call(callee, args) => {
                let name = match &callee.kind {
                    Kind::Path(path) => path.segments.last().map_or("", |last| last.name.text.as_str()),
                    _ => "",
                };
                if gives_reference(name) {
                    open.extend(args);
                }
            }
            _ => {}
        }
    }
    found
}

/// The variable that an expression names as a whole or in part, if it is one.
pub(super) fn root_name(value: &syntax::Expr) -> Option<&str> {
    match roots(value).as_slice() {
        [only] => Some(only),
        _ => None,
    }
}
