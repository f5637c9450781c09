//! `switch`: labels cut the body into segments; each runs if a label of its own or of one before it, from
//! which control falls through, matches.

use super::stmt::Exits;
use crate::calculus::{BinaryOp, ExprId};
use crate::lower::pass::{Jump, Pass};
use crate::resolve::program::{Expr, Stmt, StmtKind};
use crate::source::Span;

/// The statements between two groups of labels.
struct Segment<'s> {
    labels: Vec<Option<i128>>,
    body: &'s [Stmt],
}

impl Pass<'_> {
    /// `switch (value) body`
    pub(in crate::lower) fn switch(&mut self, value: &Expr, body: &Stmt, span: Span) -> Exits {
        let value = self.scalar(value);
        let value = self.snapshot(value);
        let list = match &body.kind {
            StmtKind::Block(list) => list.as_slice(),
            _ => std::slice::from_ref(body),
        };
        let (before, segments) = cut(list);
        for stmt in before {
            // Unreachable, except that declarations are in scope of what follows.
            if let StmtKind::Declare(..) = stmt.kind {
                self.stmt(stmt);
            }
        }
        if holds_nested_label(list) {
            self.unsupported(span, "case label inside a nested statement".to_owned());
        }
        self.frame().jumps.push(Jump { is_loop: false, broken: None, continued: None });
        self.no_copies_here(span);
        let (block, mut exits) = self.captured(|pass| {
            let falls_through = segments.iter().rev().skip(1).any(|segment| !ends_in_jump(segment.body));
            if falls_through { pass.with_fall_through(value, &segments) } else { pass.exclusive(value, &segments) }
        });
        let broken = self.frame().jumps.pop().and_then(|jump| jump.broken);
        if let Some(flag) = broken {
            self.set_flag(flag, 0);
        }
        self.emit_all(block);
        exits.flags.retain(|&flag| Some(flag) != broken);
        exits.always = false;
        exits
    }

    /// No segment falls through: one `if` after another.
    fn exclusive(&mut self, value: ExprId, segments: &[Segment<'_>]) -> Exits {
        let mut exits = Exits::default();
        let mut arms = Vec::new();
        for segment in segments {
            let cond = self.entry(value, segment, segments);
            let body = match segment.body.split_last() {
                Some((Stmt { kind: StmtKind::Break, .. }, rest)) => rest,
                _ => segment.body,
            };
            let (block, inner) = self.captured(|pass| pass.stmts(body));
            exits.add(&inner.flags);
            arms.push((cond, block, segment.labels.contains(&None)));
        }
        // The default runs where no label matches, so it stands last whatever its place in the source.
        arms.sort_by_key(|(_, _, is_default)| *is_default);
        let mut otherwise = Vec::new();
        while let Some((cond, block, is_default)) = arms.pop() {
            otherwise = if is_default { block } else { self.captured(|pass| pass.emit_if(cond, block, otherwise)).0 };
        }
        self.emit_all(otherwise);
        exits
    }

    /// A flag says that a label has matched; a `break` flag ends it.
    fn with_fall_through(&mut self, value: ExprId, segments: &[Segment<'_>]) -> Exits {
        let mut exits = Exits::default();
        let matched = self.jump_flag("matched");
        self.set_flag(matched, 0);
        for segment in segments {
            let entry = self.entry(value, segment, segments);
            let now = self.var(matched);
            let now = self.exprs().or(now, entry);
            self.emit_let(matched, now);
            let flags = exits.flags.clone();
            let (mut block, inner) = self.captured(|pass| pass.stmts(segment.body));
            for &flag in flags.iter().rev() {
                let cond = self.negated(flag);
                block = self.captured(|pass| pass.emit_if(cond, block, Vec::new())).0;
            }
            let cond = self.var(matched);
            self.emit_if(cond, block, Vec::new());
            exits.add(&inner.flags);
        }
        exits
    }

    /// Whether control enters a segment by one of its own labels.
    fn entry(&mut self, value: ExprId, segment: &Segment<'_>, all: &[Segment<'_>]) -> ExprId {
        let mut entry = self.exprs().bool(false);
        for label in &segment.labels {
            let this = match label {
                &Some(label) => self.label_matches(value, label),
                None => self.default_matches(value, all),
            };
            entry = self.exprs().or(entry, this);
        }
        entry
    }

    /// Whether no label of the switch matches.
    fn default_matches(&mut self, value: ExprId, all: &[Segment<'_>]) -> ExprId {
        let mut any = self.exprs().bool(false);
        for label in all.iter().flat_map(|segment| &segment.labels).flatten() {
            let matches = self.label_matches(value, *label);
            any = self.exprs().or(any, matches);
        }
        self.exprs().not(any)
    }

    fn label_matches(&mut self, value: ExprId, label: i128) -> ExprId {
        let ty = self.kernel.exprs.ty(value);
        let label = self.exprs().int(label, ty);
        self.exprs().binary(BinaryOp::Eq, value, label)
    }
}

/// What stands before the first label, and the segments after it.
fn cut(list: &[Stmt]) -> (&[Stmt], Vec<Segment<'_>>) {
    let is_label = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Case(_));
    let first = list.iter().position(is_label).unwrap_or(list.len());
    let (before, mut rest) = list.split_at(first);
    let mut segments = Vec::new();
    while !rest.is_empty() {
        let labels = rest.iter().take_while(|stmt| is_label(stmt)).count();
        let body = rest[labels..].iter().take_while(|stmt| !is_label(stmt)).count();
        let named = rest[..labels].iter().filter_map(|stmt| match stmt.kind {
            StmtKind::Case(label) => Some(label),
            _ => None,
        });
        segments.push(Segment { labels: named.collect(), body: &rest[labels..labels + body] });
        rest = &rest[labels + body..];
    }
    (before, segments)
}

/// Whether control cannot reach the end of `body`.
fn ends_in_jump(body: &[Stmt]) -> bool {
    let mut current = body;
    loop {
        match current.last().map(|stmt| &stmt.kind) {
            Some(StmtKind::Break | StmtKind::Continue | StmtKind::Return(_)) => return true,
            Some(StmtKind::Block(inner)) => current = inner,
            _ => return false,
        }
    }
}

/// Whether a label of this switch stands deeper than in its body's own list.
fn holds_nested_label(list: &[Stmt]) -> bool {
    let mut stack: Vec<(&Stmt, usize)> = list.iter().map(|stmt| (stmt, 0)).collect();
    while let Some((stmt, depth)) = stack.pop() {
        match &stmt.kind {
            StmtKind::Case(_) if depth > 0 => return true,
            StmtKind::Block(inner) => stack.extend(inner.iter().map(|stmt| (stmt, depth + 1))),
            StmtKind::If(_, then, otherwise) => {
                stack.push((then, depth + 1));
                stack.extend(otherwise.as_deref().map(|stmt| (stmt, depth + 1)));
            }
            StmtKind::For { body, .. } | StmtKind::While(_, body) | StmtKind::Do(body, _) => {
                stack.push((body, depth + 1));
            }
            // The labels in an inner switch are its own.
            _ => {}
        }
    }
    false
}
