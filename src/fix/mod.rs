//! Fixes: barriers that may be missing and memory that barriers may leave out, as places in the user's text.
//!
//! [`slots`] names the places of a kernel where a barrier could stand so that it comes between two places, the likeliest
//! first: in the outermost block that has a statement boundary between them, as late as possible; then, for what
//! happens in different turns of a loop, at the end and at the start of its body. [`flags`] names the arguments by which
//! the barriers of a kernel say which memory they order, [`masks`] those by which they say for whom they are, [`mask_at`]
//! the same of a call that threads make together.
//!
//! Guarantees: a slot lies in the main file, outside every macro, at the boundary of a statement of a block in braces;
//! an insertion keeps every byte that was there and the indentation of the place.
//!
//! Deliberately absent: whether a fix helps. Whoever asks tries it, and tells only what was proved.

mod arguments;

pub use arguments::{flags, mask_at, masks};

use crate::source::{FileId, Span};
use crate::syntax::{Function, Item, ItemKind, Stmt, StmtKind, Unit};

/// A place where a statement can be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The byte of the file before which it goes.
    pub at: usize,
    /// On which side of a statement the place is.
    pub side: Side,
}

/// A side of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It follows.
    Before,
    /// It precedes; it is the last one of its block.
    After,
}

impl Slot {
    /// The slot, above the pragmas that belong to the statement behind it; `None` if an attribute or a `_Pragma` stands before that.
    #[must_use]
    pub fn before_what_belongs_to_it(self, text: &str) -> Option<Slot> {
        if self.side == Side::After {
            return Some(self);
        }
        let mut at = self.at;
        loop {
            let before = text[..at].trim_end();
            let line = before.rfind('\n').map_or(0, |end| end + 1);
            let last = &before[line..];
            let is_pragma = last.trim_start().strip_prefix('#').is_some_and(|it| it.trim_start().starts_with("pragma"));
            if !is_pragma {
                let is_attribute = ["))", "]]", "\")"].iter().any(|end| before.ends_with(end));
                return (!is_attribute).then_some(Slot { at, ..self });
            }
            at = line + last.len() - last.trim_start().len();
        }
    }

    /// What to insert so that `statement` stands there: on a line of its own, unless others share the line.
    pub fn insertion(&self, text: &str, statement: &str) -> String {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let line = &text[text[..self.at].rfind('\n').map_or(0, |end| end + 1)..self.at];
        let indent: String = line.chars().take_while(|each| each.is_whitespace()).collect();
        match self.side {
            Side::Before if indent.len() == line.len() => format!("{statement}{newline}{indent}"),
            Side::Before => format!("{statement} "),
            Side::After if text[self.at..].trim_start_matches([' ', '\t']).starts_with(newline) => {
                format!("{newline}{indent}{statement}")
            }
            Side::After => format!(" {statement}"),
        }
    }
}

/// Slots of the kernel with that name's range, for a barrier between two bytes of the main file.
pub fn slots(unit: &Unit, main: FileId, kernel: Span, places: [usize; 2]) -> Vec<Slot> {
    let Some(body) = function(&unit.items, kernel).and_then(|function| function.body.as_ref()) else {
        return Vec::new();
    };
    let (first, last) = (places[0].min(places[1]), places[0].max(places[1]));
    let mut search = Search { main, first, last, between: Vec::new(), turns: Vec::new() };
    search.block(body, 0);
    let Search { mut between, mut turns, .. } = search;
    // The outermost first; there, the latest first.
    between.sort_by_key(|&(depth, slot)| (depth, std::cmp::Reverse(slot.at)));
    // The innermost loop first.
    turns.sort_by_key(|&(depth, _)| std::cmp::Reverse(depth));
    between.into_iter().chain(turns).map(|(_, slot)| slot).collect()
}

/// The definition whose name stands at `name`.
fn function(items: &[Item], name: Span) -> Option<&Function> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Function(function) => {
            let own = function.path.segments.last()?.name.span;
            let is_it = (own.file, own.start, own.expansion) == (name.file, name.start, name.expansion);
            (is_it && function.body.is_some()).then_some(&**function)
        }
        ItemKind::Namespace { items, .. } => self::function(items, name),
        _ => None,
    })
}

struct Search {
    main: FileId,
    first: usize,
    last: usize,
    /// Slots between the places, with the number of blocks around them.
    between: Vec<(usize, Slot)>,
    /// Slots at the ends of loops around both places.
    turns: Vec<(usize, Slot)>,
}

impl Search {
    /// The range of a statement in the main file, if no macro has a part in its ends.
    fn range(&self, stmt: &Stmt) -> Option<(usize, usize)> {
        let plain = stmt.span.expansion.is_none() && stmt.span.file == self.main;
        plain.then_some((stmt.span.start as usize, stmt.span.end as usize))
    }

    fn block(&mut self, stmts: &[Stmt], depth: usize) {
        for stmt in stmts {
            if let Some((start, _)) = self.range(stmt)
                && self.first < start
                && start <= self.last
                && !matches!(stmt.kind, StmtKind::Case(_))
            {
                self.between.push((depth, Slot { at: start, side: Side::Before }));
            }
            self.within(stmt, depth);
        }
    }

    fn within(&mut self, stmt: &Stmt, depth: usize) {
        match &stmt.kind {
            StmtKind::Block(stmts) => self.block(stmts, depth + 1),
            StmtKind::If { then, otherwise, .. } => {
                self.within(then, depth);
                otherwise.iter().for_each(|otherwise| self.within(otherwise, depth));
            }
            StmtKind::For { body, .. }
            | StmtKind::RangeFor { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Do { body, .. } => {
                self.turn(stmt, body, depth);
                self.within(body, depth);
            }
            StmtKind::Switch { body, .. } => self.within(body, depth),
            _ => {}
        }
    }

    /// The ends of a loop around both places.
    fn turn(&mut self, whole: &Stmt, body: &Stmt, depth: usize) {
        let (Some((start, end)), StmtKind::Block(stmts)) = (self.range(whole), &body.kind) else { return };
        if !(start..end).contains(&self.first) || !(start..end).contains(&self.last) {
            return;
        }
        if let Some((_, at)) = stmts.last().and_then(|last| self.range(last)) {
            self.turns.push((depth, Slot { at, side: Side::After }));
        }
        if let Some((at, _)) = stmts.first().and_then(|first| self.range(first)) {
            self.turns.push((depth, Slot { at, side: Side::Before }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_keeps_the_indentation_of_its_place() {
        let text = "{\n    a;\n    b; c;\n}\n";
        let slot = |at, side| Slot { at, side };
        assert_eq!(slot(6, Side::Before).insertion(text, "s;"), "s;\n    ");
        assert_eq!(slot(16, Side::Before).insertion(text, "s;"), "s; ");
        assert_eq!(slot(18, Side::After).insertion(text, "s;"), "\n    s;");
        assert_eq!(slot(15, Side::After).insertion(text, "s;"), " s;");
        let text = "{\r\n  a;\r\n}\r\n";
        assert_eq!(slot(5, Side::Before).insertion(text, "s;"), "s;\r\n  ");
        assert_eq!(slot(7, Side::After).insertion(text, "s;"), "\r\n  s;");
    }

    #[test]
    fn what_belongs_to_a_statement_stays_with_it() {
        let placed = |text: &str| {
            let at = text.find("for").expect("there is a loop");
            Slot { at, side: Side::Before }.before_what_belongs_to_it(text).map(|slot| slot.at)
        };
        assert_eq!(placed("a;\n  #pragma unroll\n  # pragma nounroll\n  for (;;) b;"), Some(5));
        assert_eq!(placed("a;\n  // #pragma unroll\n  for (;;) b;"), Some(25));
        assert_eq!(placed("a; __attribute__((opencl_unroll_hint(2))) for (;;) b;"), None);
        assert_eq!(placed("a; _Pragma(\"unroll\") for (;;) b;"), None);
    }
}
