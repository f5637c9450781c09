//! Mutants: places of device code, and launches, where the instrumented text can do something else than the program does.
//!
//! One program holds all of its mutants. A place that has some is wrapped so that the number that the program is given
//! when it starts chooses among them (`runtime/cpu/mutants.hpp`). What each is in the text of the user, which is what people and proofs
//! look at, is said by [`Mutant::edits`](super::mutant::Mutant). OpenCL C is compiled while a program runs: there that text is the mutant, and
//! nothing is wrapped ([`opencl`](super::opencl)).
//!
//! Guarantees: without a number the program does what it did; operands are evaluated as often as they were, and those of `&&` and `||` when
//! they were.
//!
//! Deliberately absent: code that macros bring, since no edit of the text would be that mutant alone, but for parts of OpenCL C that a macro
//! call is all of; functions that may be
//! evaluated while the program is compiled; what declares the extents of arrays, and other constants; code of the host but
//! for launches.

use super::facts::{Facts, GlobalHome};
use super::mutant::{Claim, ClaimPlace, Edit, Untouched};
use super::notes::Notes;
use super::scope::{Scopes, Space};
use super::token_edits::TokenEdits;
use super::tokens::Tokens;
use crate::builtins::Builtin;
use crate::builtins::confused::{every_other_thread, weaker_atomic};
use crate::builtins::functions::function;
use crate::calculus::AtomicOp;
use crate::mutation::Operator;
use crate::source::{Language, Span};
use crate::syntax::parts::{expr_has, stmts_in};
use crate::syntax::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use std::ops::Range;

/// A statement of a claim's place, as the tree has it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Ahead<'a> {
    /// In a block, perhaps with another one behind it.
    InBlock(&'a Stmt, Option<&'a Stmt>),
    /// The branch of an `if`, or the body of a loop.
    Alone(&'a Stmt),
    /// The condition of a loop.
    Test(&'a Expr),
    /// Nothing can be claimed.
    #[default]
    Nowhere,
}

/// What one place may become.
struct Choice {
    operator: Operator,
    /// The runtime's name of it, if several are told apart by name.
    name: &'static str,
    edits: Vec<Edit>,
    claimed: Option<String>,
}

/// Who puts the mutants into the text.
pub(super) struct Mutators<'c, 'a> {
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) facts: &'c Facts,
    pub(super) scopes: &'c Scopes,
    pub(super) language: Language,
    pub(super) edits: &'c mut TokenEdits,
    pub(super) notes: &'c mut Notes<'a>,
    /// Where claims about the expression at hand stand.
    pub(super) ahead: Ahead<'a>,
    pub(super) untouched: &'a Untouched,
}

/// The sign of an operator and its name in the runtime.
pub(super) fn sign(op: BinaryOp) -> (&'static str, &'static str) {
    match op {
        BinaryOp::Add => ("+", "add"),
        BinaryOp::Sub => ("-", "subtract"),
        BinaryOp::Mul => ("*", "multiply"),
        BinaryOp::Div => ("/", "divide"),
        BinaryOp::Rem => ("%", "modulo"),
        BinaryOp::Shl => ("<<", "shift_left"),
        BinaryOp::Shr => (">>", "shift_right"),
        BinaryOp::BitAnd => ("&", "bitwise_and"),
        BinaryOp::BitOr => ("|", "bitwise_or"),
        BinaryOp::BitXor => ("^", "bitwise_xor"),
        BinaryOp::And => ("&&", "both"),
        BinaryOp::Or => ("||", "either"),
        BinaryOp::Lt => ("<", "is_less"),
        BinaryOp::Le => ("<=", "is_less_or_equal"),
        BinaryOp::Gt => (">", "is_greater"),
        BinaryOp::Ge => (">=", "is_greater_or_equal"),
        BinaryOp::Eq => ("==", "is_equal"),
        BinaryOp::Ne => ("!=", "is_not_equal"),
    }
}

/// What an operator is confused with. None is its negation, which conditions have as a mutant of their own.
fn confused(op: BinaryOp) -> &'static [BinaryOp] {
    match op {
        BinaryOp::Add => &[BinaryOp::Sub, BinaryOp::Mul],
        BinaryOp::Sub => &[BinaryOp::Add, BinaryOp::Mul],
        BinaryOp::Mul => &[BinaryOp::Add, BinaryOp::Div],
        BinaryOp::Div | BinaryOp::Rem => &[BinaryOp::Mul],
        BinaryOp::Shl => &[BinaryOp::Shr],
        BinaryOp::Shr => &[BinaryOp::Shl],
        BinaryOp::BitAnd | BinaryOp::BitXor => &[BinaryOp::BitOr],
        BinaryOp::BitOr => &[BinaryOp::BitAnd],
        BinaryOp::Lt => &[BinaryOp::Le, BinaryOp::Ne],
        BinaryOp::Le => &[BinaryOp::Lt, BinaryOp::Eq],
        BinaryOp::Gt => &[BinaryOp::Ge, BinaryOp::Ne],
        BinaryOp::Ge => &[BinaryOp::Gt, BinaryOp::Eq],
        BinaryOp::Eq => &[BinaryOp::Le, BinaryOp::Ge],
        BinaryOp::Ne => &[BinaryOp::Lt, BinaryOp::Gt],
        BinaryOp::And | BinaryOp::Or => &[],
    }
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne)
}

/// A number that a pointer may be compared with.
fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Null | ExprKind::Int { value: 0, .. })
}

/// Whether evaluating an expression twice, or earlier in its statement, makes a difference.
fn has_effects(language: Language, expr: &Expr) -> bool {
    expr_has(expr, &|part| {
        if is_work_item(language, part) {
            return false;
        }
        matches!(
            part.kind,
            ExprKind::Assign(..)
                | ExprKind::Postfix(..)
                | ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, _)
                | ExprKind::Call(..)
                | ExprKind::Construct(..)
                | ExprKind::Lambda(_)
                | ExprKind::Statements(_)
                | ExprKind::Unsupported(_)
                | ExprKind::Fold(_)
                | ExprKind::Launch { .. }
        )
    })
}

/// Whether an expression is an id, or an extent, of OpenCL, where these are calls.
fn is_work_item(language: Language, expr: &Expr) -> bool {
    let ExprKind::Call(callee, _) = &expr.kind else { return false };
    let ExprKind::Path(path) = &callee.kind else { return false };
    let name = path.segments.last().map_or("", |last| last.name.text.as_str());
    let meaning = || function(language, name).map(|meaning| meaning.builtin);
    language == Language::OpenCl && matches!(meaning(), Some(Builtin::WorkItem(_)))
}

/// Whether a value depends on memory, of whose contents no proof knows anything.
fn reads_memory(expr: &Expr) -> bool {
    expr_has(expr, &|part| matches!(part.kind, ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _)))
}

/// Whether the parts of a statement but its own store, or declaration, can be evaluated before it.
fn is_claimable(language: Language, statement: &Stmt) -> bool {
    let has_effects = |expr: &Expr| has_effects(language, expr);
    match &statement.kind {
        StmtKind::Expr(value) => match &value.kind {
            ExprKind::Assign(_, target, value) => !has_effects(target) && !has_effects(value),
            _ => false,
        },
        StmtKind::Item(item) => match &item.kind {
            crate::syntax::ItemKind::Variables(variables) => match variables.as_slice() {
                [variable] => match &variable.init {
                    Some(crate::syntax::Init::Value(value)) => !has_effects(value),
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        },
        StmtKind::If { init: None, cond, .. } => !has_effects(cond),
        StmtKind::Return(Some(value)) => !has_effects(value),
        _ => false,
    }
}

/// Whether control may leave a statement, or come into it, otherwise than from its start to its end.
fn jumps(statement: &Stmt) -> bool {
    let mut open = vec![statement];
    while let Some(statement) = open.pop() {
        if matches!(
            statement.kind,
            StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Case(_)
                | StmtKind::Unsupported(_)
                | StmtKind::Asm { .. }
        ) {
            return true;
        }
        open.extend(stmts_in(statement));
    }
    false
}

impl<'a> Mutators<'_, 'a> {
    /// The place in the text of tokens that no macro brought, or, where the text alone is changed, of which macros brought all or nothing.
    fn plain(&self, range: Range<usize>) -> Option<Span> {
        if self.language == Language::OpenCl {
            return self.uncut(range);
        }
        let (first, last) = (self.tokens.span(range.start)?, self.tokens.span(range.end.checked_sub(1)?)?);
        let is_plain =
            |at: usize| self.tokens.span(at).is_some_and(|span| span.expansion.is_none() && span.file == first.file);
        range.clone().all(is_plain).then(|| Span::new(first.file, first.start as usize, last.end as usize))
    }

    /// The place of tokens that no macro call at their ends brings more than.
    fn uncut(&self, range: Range<usize>) -> Option<Span> {
        let seen = |at: usize| {
            let span = self.tokens.span(at)?;
            Some((span.expansion.is_some(), self.tokens.sources().visible(span)))
        };
        let brings_more = |inside: usize, outside: Option<usize>| {
            let call = seen(inside).filter(|(is_brought, _)| *is_brought);
            call.zip(outside.and_then(seen)).is_some_and(|((_, call), (_, other))| call == other)
        };
        let last = range.end.checked_sub(1)?;
        let ((_, first), (_, end)) = (seen(range.start)?, seen(last)?);
        let is_cut = brings_more(range.start, range.start.checked_sub(1)) || brings_more(last, Some(range.end));
        let is_of_one_file = range.clone().all(|at| seen(at).is_some_and(|(_, span)| span.file == first.file));
        (!is_cut && is_of_one_file).then(|| Span::new(first.file, first.start as usize, end.end as usize))
    }

    /// The text of a part of the tree that no macro brought.
    pub(super) fn text(&self, expr: &Expr) -> Option<&'a str> {
        let span = self.plain(self.tokens.range(expr.span)?)?;
        self.tokens.sources().file(span.file).text.get(span.start as usize..span.end as usize)
    }

    /// The tokens of a place that may have mutants, and where it is in the text.
    fn of(&mut self, expr: &Expr) -> Option<(Range<usize>, Span)> {
        let range = self.tokens.range(expr.span)?;
        let Some(span) = self.plain(range.clone()) else {
            self.notes.leave_uncounted(expr.span, "code that a macro brings");
            return None;
        };
        (self.untouched.is_empty() || !self.is_untouched(span)).then_some((range, span))
    }

    fn is_untouched(&self, span: Span) -> bool {
        let sources = self.tokens.sources();
        let path = sources.file(span.file).path.display().to_string();
        let (start, end) = (sources.start_position(span).line, sources.end_position(span).line);
        (start..=end).any(|line| self.untouched.contains(&(path.clone(), line)))
    }

    /// Notes the mutants of a place, and gives the number of the first.
    fn add(&mut self, span: Span, choices: Vec<Choice>, about: Option<&Expr>) -> usize {
        let place =
            about.filter(|expr| !has_effects(self.language, expr) && !reads_memory(expr)).and_then(|_| self.place());
        let mut first = None;
        for Choice { operator, edits, claimed, .. } in choices {
            let claim = claimed.zip(place.clone()).map(|(condition, place)| Claim { condition, place });
            first.get_or_insert(self.notes.mutant(operator, span, edits, claim));
        }
        first.unwrap_or(0)
    }

    /// Where claims about the expression at hand stand, in the text.
    fn place(&self) -> Option<ClaimPlace> {
        let of = |span: Span| self.tokens.range(span).and_then(|range| self.plain(range));
        match self.ahead {
            Ahead::InBlock(statement, _) if is_claimable(self.language, statement) => {
                of(statement.span).map(ClaimPlace::Before)
            }
            Ahead::Alone(statement) if is_claimable(self.language, statement) => {
                of(statement.span).map(ClaimPlace::Around)
            }
            Ahead::Test(cond) if !has_effects(self.language, cond) => of(cond.span).map(ClaimPlace::Test),
            _ => None,
        }
    }

    /// `::raceproof::op::list<…>()` of the choices.
    fn list(choices: &[Choice]) -> String {
        let names: Vec<String> = choices.iter().map(|choice| format!("::raceproof::op::{}", choice.name)).collect();
        format!("::raceproof::op::list<{}>()", names.join(", "))
    }

    /// An operator between two operands; `operator` is what it belongs to.
    pub(super) fn binary(&mut self, expr: &'a Expr, op: BinaryOp, [left, right]: [&'a Expr; 2], operator: Operator) {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logical(expr, op, [left, right]);
        }
        let is_about_null = matches!(op, BinaryOp::Eq | BinaryOp::Ne) && (is_null(left) || is_null(right));
        if is_about_null {
            return;
        }
        let Some((range, span)) = self.of(expr) else { return };
        let range = self.tokens.without_parentheses(range);
        let Some(at) = self.tokens.operator_of(range.clone(), sign(op).0, [left.span, right.span]) else { return };
        let Some(own) = self.plain(at..at + 1) else { return };
        let (Some(first), Some(second)) = (self.text(left), self.text(right)) else { return };
        let choices: Vec<Choice> = confused(op)
            .iter()
            .map(|&other| Choice {
                operator,
                name: if other == BinaryOp::Div { "divide_by_anything" } else { sign(other).1 },
                edits: vec![Edit { span: own, text: sign(other).0.to_owned() }],
                claimed: Some(format!(
                    "(({first}) {} ({second})) == (({first}) {} ({second}))",
                    sign(op).0,
                    sign(other).0
                )),
            })
            .collect();
        let list = Self::list(&choices);
        let number = self.add(span, choices, Some(expr));
        let head = format!("::raceproof::replaced<{number}>(::raceproof::op::{}(), {list}, ", sign(op).1);
        self.edits.wrap(range, head, ")");
        self.edits.replace(at..at + 1, ",");
    }

    fn logical(&mut self, expr: &'a Expr, op: BinaryOp, [left, right]: [&'a Expr; 2]) {
        let Some((range, span)) = self.of(expr) else { return };
        let range = self.tokens.without_parentheses(range);
        let Some(at) = self.tokens.operator_of(range.clone(), sign(op).0, [left.span, right.span]) else { return };
        let Some(own) = self.plain(at..at + 1) else { return };
        let (Some(first), Some(second)) = (self.text(left), self.text(right)) else { return };
        let other = if op == BinaryOp::And { BinaryOp::Or } else { BinaryOp::And };
        let whole = format!("(({first}) {} ({second}))", sign(op).0);
        let choice = |name, span, text: &str, other: String| Choice {
            operator: Operator::LogicalReplaced,
            name,
            edits: vec![Edit { span, text: text.to_owned() }],
            claimed: Some(format!("{whole} == {other}")),
        };
        let choices = vec![
            choice(sign(other).1, own, sign(other).0, format!("(({first}) {} ({second}))", sign(other).0)),
            choice("only_left", span, first, format!("(bool)({first})")),
            choice("only_right", span, second, format!("(bool)({second})")),
        ];
        let list = Self::list(&choices);
        let number = self.add(span, choices, Some(expr));
        let head = format!("::raceproof::replaced_logical<{number}>(::raceproof::op::{}(), {list}, ", sign(op).1);
        self.edits.wrap(range.clone(), head, ")");
        self.edits.wrap(range.start..at, "[&]() -> bool { return bool(", "); }");
        self.edits.replace(at..at + 1, ",");
        self.edits.wrap(at + 1..range.end, "[&]() -> bool { return bool(", "); }");
    }

    /// A condition that decides whether something is done: negated, and for a guard always and never.
    pub(super) fn guard(&mut self, cond: &'a Expr, wanted: &[Operator]) {
        let Some((range, span)) = self.of(cond) else { return };
        let Some(text) = self.text(cond) else { return };
        let choices: Vec<Choice> = wanted
            .iter()
            .map(|&operator| {
                let (name, replaced, claimed) = match operator {
                    Operator::GuardNegated => ("negated", format!("!({text})"), None),
                    Operator::GuardOpened => ("always", "true".to_owned(), Some(format!("({text})"))),
                    _ => ("never", "false".to_owned(), Some(format!("!({text})"))),
                };
                Choice { operator, name, edits: vec![Edit { span, text: replaced }], claimed }
            })
            .collect();
        let list = Self::list(&choices);
        let number = self.add(span, choices, Some(cond));
        self.edits.wrap(range, format!("::raceproof::changed<{number}>({list}, bool("), "))");
    }

    /// A value that may be another one: one more, one less, or with the other sign.
    pub(super) fn value(&mut self, value: &'a Expr, operator: Operator, wanted: &[&'static str]) {
        let Some((range, span)) = self.of(value) else { return };
        let Some(text) = self.text(value) else { return };
        let choices: Vec<Choice> = wanted
            .iter()
            .map(|&name| {
                let replaced = match name {
                    "plus_one" => format!("({text}) + 1"),
                    "minus_one" => format!("({text}) - 1"),
                    _ => format!("-({text})"),
                };
                Choice { operator, name, edits: vec![Edit { span, text: replaced }], claimed: None }
            })
            .collect();
        let list = Self::list(&choices);
        let number = self.add(span, choices, None);
        self.edits.wrap(range, format!("::raceproof::changed<{number}>({list}, "), ")");
    }

    /// An id or an extent of a launch, with those that it is confused with.
    pub(super) fn id(&mut self, expr: &'a Expr, confused: &[String]) {
        let Some((range, span)) = self.of(expr) else { return };
        let Some(text) = self.text(expr) else { return };
        let choices: Vec<Choice> = confused
            .iter()
            .map(|other| Choice {
                operator: Operator::IdSwapped,
                name: "",
                edits: vec![Edit { span, text: other.clone() }],
                claimed: Some(format!("({text}) == ({other})")),
            })
            .collect();
        let number = self.add(span, choices, Some(expr));
        self.edits.wrap(range, format!("::raceproof::one_of<{number}>("), format!(", {})", confused.join(", ")));
    }

    /// A statement that is one call or one store, and may be missing, or be something else.
    fn call(&mut self, expr: &'a Expr, choices: Vec<(Operator, &str, Option<&str>)>) {
        let Some((range, span)) = self.of(expr) else { return };
        let mut head = String::from("(");
        for (operator, condition, other) in choices {
            let text = match (operator, other) {
                (Operator::BarrierConditional, _) => {
                    let condition = every_other_thread(self.language);
                    format!("if ({condition}) {}", self.text(expr).unwrap_or_default())
                }
                (_, other) => other.unwrap_or_default().to_owned(),
            };
            let edits = vec![Edit { span, text }];
            let choice = Choice { operator, name: "", edits, claimed: None };
            let number = self.add(span, vec![choice], None);
            let instead = other.map_or_else(|| "void()".to_owned(), |other| format!("void({other})"));
            head.push_str(&format!("::raceproof::{condition}<{number}>() ? {instead} : "));
        }
        self.edits.wrap(range, format!("{head}void("), "))");
    }

    /// A barrier that is a statement of its own. `narrower` are calls of those that order less.
    pub(super) fn barrier(&mut self, expr: &'a Expr, narrower: &[String]) {
        self.delayed(expr);
        let mut choices =
            vec![(Operator::BarrierRemoved, "skips", None), (Operator::BarrierConditional, "skips_half", None)];
        choices.extend(narrower.iter().map(|narrower| (Operator::BarrierNarrowed, "skips", Some(narrower.as_str()))));
        self.call(expr, choices);
    }

    /// A barrier behind the statement that follows it.
    fn delayed(&mut self, expr: &'a Expr) {
        let Ahead::InBlock(_, Some(following)) = self.ahead else { return };
        if jumps(following) {
            return;
        }
        let Some((range, span)) = self.of(expr) else { return };
        let Some(after) = self.tokens.range(following.span) else { return };
        let (Some(end), Some(text)) = (self.plain(after.clone()), self.text(expr)) else { return };
        let behind = Span::new(end.file, end.end as usize, end.end as usize);
        let edits = vec![Edit { span, text: String::new() }, Edit { span: behind, text: format!(" {text};") }];
        let choice = Choice { operator: Operator::BarrierDelayed, name: "", edits, claimed: None };
        let number = self.add(span, vec![choice], None);
        self.edits.wrap(range, format!("(::raceproof::skips<{number}>() ? void() : void("), "))");
        self.edits.after(after.end - 1, format!(" if (::raceproof::skips<{number}>()) {text};"));
    }

    /// A fence that is a statement of its own.
    pub(super) fn fence(&mut self, expr: &'a Expr, narrower: &[String]) {
        let mut choices = vec![(Operator::FenceRemoved, "skips", None)];
        choices.extend(narrower.iter().map(|narrower| (Operator::FenceNarrowed, "skips", Some(narrower.as_str()))));
        self.call(expr, choices);
    }

    /// A store that is a statement of its own.
    pub(super) fn store(&mut self, expr: &'a Expr) {
        self.call(expr, vec![(Operator::StoreRemoved, "skips", None)]);
    }

    /// Text in the place of an expression, where nothing is wrapped.
    pub(super) fn in_the_place_of(&mut self, expr: &'a Expr, operator: Operator, text: String) -> Option<usize> {
        let (_, span) = self.of(expr)?;
        let choice = Choice { operator, name: "", edits: vec![Edit { span, text }], claimed: None };
        Some(self.add(span, vec![choice], None))
    }

    /// The name of a scope that a call is given.
    pub(super) fn named_scope(&mut self, expr: &'a Expr, weaker: String) {
        let Some(range) = self.tokens.range(expr.span) else { return };
        let after = format!(", {weaker})");
        if let Some(number) = self.in_the_place_of(expr, Operator::ScopeWeakened, weaker) {
            self.edits.wrap(range, format!("::raceproof::scope_of<{number}>("), after);
        }
    }

    /// The scope that is part of a type: the type says, too, which mutant may make it a weaker one.
    pub(super) fn scope_argument(&mut self, expr: &'a Expr, weaker: String) {
        let Some(range) = self.tokens.range(expr.span) else { return };
        if let Some(number) = self.in_the_place_of(expr, Operator::ScopeWeakened, weaker) {
            self.edits.wrap(range, format!("::raceproof::scope_or_weaker<{number}>("), ")");
        }
    }

    /// Whether an atomic of that name has a weaker one that may make a difference.
    pub(super) fn may_be_weaker(&self, name: &str, arguments: &[Expr]) -> bool {
        weaker_atomic(name).is_some() && !arguments.first().is_some_and(|place| self.is_shared(place))
    }

    /// Whether an address is one of shared memory by name: no other block has it, and every scope is as good as the next.
    fn is_shared(&self, address: &Expr) -> bool {
        let mut inner = address;
        while let ExprKind::Unary(UnaryOp::AddressOf, next)
        | ExprKind::Index(next, _)
        | ExprKind::Binary(BinaryOp::Add, next, _) = &inner.kind
        {
            inner = next;
        }
        let ExprKind::Path(path) = &inner.kind else { return false };
        let name = path.segments.last().map_or("", |last| last.name.text.as_str());
        match self.scopes.find(name) {
            Some(local) => local.held.as_ref().is_some_and(|held| held.space == Space::Shared),
            None => self
                .facts
                .global(name)
                .is_some_and(|global| matches!(global.home, GlobalHome::Shared | GlobalHome::DynamicShared)),
        }
    }

    /// An atomic function whose scope is in its name.
    pub(super) fn scope_of_atomic(&mut self, callee: &'a Expr, name: &str) {
        let Some(weaker) = weaker_atomic(name) else { return };
        let (Some(range), Some(called)) = (self.tokens.range(callee.span), self.text(callee)) else { return };
        let Some(before) = called.strip_suffix(name) else { return };
        let weaker = format!("{before}{weaker}");
        if let Some(number) = self.in_the_place_of(callee, Operator::ScopeWeakened, weaker.clone()) {
            let given = "(static_cast<decltype(all)&&>(all)...)";
            let chosen = format!("::raceproof::weakens<{number}>() ? {weaker}{given} : {called}{given}");
            self.edits.replace(range, format!("[](auto&&... all) {{ return {chosen}; }}"));
        }
    }

    /// What is indexed, with what may be indexed in its place; `from` is the runtime's way to choose.
    pub(super) fn swapped(&mut self, base: &'a Expr, from: &str, others: &[String]) {
        let Some((range, span)) = self.of(base).filter(|_| !others.is_empty()) else { return };
        let choice = |other: &String| Choice {
            operator: Operator::MemorySwapped,
            name: "",
            edits: vec![Edit { span, text: other.clone() }],
            claimed: None,
        };
        let number = self.add(span, others.iter().map(choice).collect(), None);
        self.edits.wrap(range, format!("::raceproof::{from}<{number}>("), format!(", {})", others.join(", ")));
    }

    /// An atomic function whose result nobody uses.
    pub(super) fn atomic(
        &mut self,
        expr: &'a Expr,
        callee: &'a Expr,
        (called_as, op): (&str, AtomicOp),
        arguments: &'a [Expr],
    ) {
        let [place, value] = arguments else { return };
        let (name, sign) = match op {
            AtomicOp::Add => ("add", "+"),
            AtomicOp::Sub => ("subtract", "-"),
            AtomicOp::And => ("bitwise_and", "&"),
            AtomicOp::Or => ("bitwise_or", "|"),
            AtomicOp::Xor => ("bitwise_xor", "^"),
            _ => return,
        };
        let (Some((range, _)), Some((_, span))) = (self.of(callee), self.of(expr)) else { return };
        let (Some(called), Some(place), Some(value)) = (self.text(callee), self.text(place), self.text(value)) else {
            return;
        };
        let edits = vec![Edit { span, text: format!("*({place}) = *({place}) {sign} ({value})") }];
        let choice = Choice { operator: Operator::AtomicSplit, name: "", edits, claimed: None };
        let number = self.add(span, vec![choice], None);
        // One that may have a weaker scope is named by [`Self::scope_of_atomic`].
        if !self.may_be_weaker(called_as, arguments) {
            let function = format!("[](auto&&... all) {{ return {called}(static_cast<decltype(all)&&>(all)...); }}");
            self.edits.replace(range.clone(), function);
        }
        self.edits.wrap(range, format!("::raceproof::split<{number}>(::raceproof::op::{name}(), "), ")");
    }

    /// What a loop does behind each of its turns.
    pub(super) fn step(&mut self, step: &'a Expr) {
        let Some((range, span)) = self.of(step) else { return };
        let Some(text) = self.text(step) else { return };
        let edits = vec![Edit { span, text: format!("{text}, {text}") }];
        let choice = Choice { operator: Operator::StrideDoubled, name: "", edits, claimed: None };
        let number = self.add(span, vec![choice], None);
        self.edits.wrap(range, "(void(", format!("), ::raceproof::skips<{number}>() ? void({text}) : void())"));
    }

    /// A launch, by its configuration; what the runtime has been told of it is changed before the kernel takes it.
    pub(super) fn launch(&mut self, config: &'a [Expr]) -> String {
        let mut told = String::new();
        let whats = [
            (Operator::GridChanged, "changed_grid", ["g.x - 1", "g.x + 1"]),
            (Operator::BlockChanged, "changed_block", ["(g.x + 1) / 2", "g.x * 2"]),
        ];
        for (expr, (operator, name, extents)) in config.iter().zip(whats) {
            let (Some((_, span)), Some(text)) = (self.of(expr), self.text(expr)) else { continue };
            let choice = |extent: &str| Choice {
                operator,
                name: "",
                edits: vec![Edit { span, text: format!("[](dim3 g) {{ g.x = {extent}; return g; }}({text})") }],
                claimed: None,
            };
            let number = self.add(span, extents.into_iter().map(choice).collect(), None);
            told.push_str(&format!("::raceproof::{name}<{number}>(), "));
        }
        told
    }
}
