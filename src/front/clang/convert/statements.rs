//! Statements.

use super::{Confusion, MISFIT, Reader, Reading};
use crate::front::clang::wire::Kind;
use crate::syntax::{Expr, ExprKind, Item, ItemKind, Path, PathSegment, Stmt, StmtKind};
use std::ops::Range;

impl Reader<'_> {
    /// The statements in the braces that come next.
    pub(super) fn block(&mut self) -> Reading<Vec<Stmt>> {
        let close = self.close(self.at);
        self.expect("{")?;
        let mut found = Vec::new();
        while self.at < close {
            self.statement_into(close, &mut found);
        }
        self.at = close + 1;
        Ok(found)
    }

    /// One statement; several become a block.
    fn statement(&mut self, end: usize) -> Box<Stmt> {
        let start = self.at;
        let mut found = Vec::new();
        self.statement_into(end, &mut found);
        // A label and what it labels are one statement.
        while self.at < end && matches!(found.last(), Some(Stmt { kind: StmtKind::Case(_), .. })) {
            self.statement_into(end, &mut found);
        }
        if found.len() != 1 {
            return Box::new(Stmt { kind: StmtKind::Block(found), span: self.span(start..self.at) });
        }
        Box::new(found.remove(0))
    }

    /// Reads a statement that ends before `end`; always goes on by at least one token.
    fn statement_into(&mut self, end: usize, found: &mut Vec<Stmt>) {
        let (start, depth, before) = (self.at, self.depth, found.len());
        let read = self.deeper(|this| this.statement_here(end, found));
        self.depth = depth;
        self.half = false;
        let why = match read {
            Ok(()) if self.at > start && self.at <= end => return,
            Ok(()) => MISFIT,
            Err(why) => why,
        };
        let reason = self.confused(&why);
        found.truncate(before);
        self.at = start;
        self.skip_statement(end);
        found.push(Stmt { kind: StmtKind::Unsupported(reason), span: self.span(start..self.at) });
    }

    /// Goes behind a statement that could not be read.
    fn skip_statement(&mut self, end: usize) {
        let start = self.at;
        let stop = self.find(start, end, &[";", "{"]);
        self.at = if self.text(stop) == "{" { self.close(stop) + 1 } else { stop + 1 };
        self.at = self.at.clamp(start + 1, end.max(start + 1));
    }

    fn statement_here(&mut self, end: usize, found: &mut Vec<Stmt>) -> Reading<()> {
        let start = self.at;
        let kind = match self.next() {
            "{" => StmtKind::Block(self.block()?),
            ";" => {
                self.at += 1;
                StmtKind::Empty
            }
            "if" => self.if_statement(end)?,
            "for" => self.for_statement(end)?,
            "while" => {
                let inside = self.parentheses(1)?;
                let cond = self.condition(inside)?;
                StmtKind::While { cond, body: self.statement(end) }
            }
            "do" => self.do_statement(end)?,
            "switch" => {
                let inside = self.parentheses(1)?;
                let value = self.condition(inside)?;
                StmtKind::Switch { value, body: self.statement(end) }
            }
            "case" | "default" => return self.label(end, found),
            "break" => self.word(StmtKind::Break)?,
            "continue" => self.word(StmtKind::Continue)?,
            "return" => {
                self.at += 1;
                let value = if self.next() == ";" { None } else { Some(self.next_expression(end)?) };
                self.expect(";")?;
                StmtKind::Return(value)
            }
            "goto" => self.foreign("goto statement", end),
            "try" => return Err(Confusion("try block")),
            "throw" => self.foreign("throw statement", end),
            "co_return" | "co_yield" | "co_await" => self.foreign("coroutine", end),
            "asm" | "__asm__" | "__asm" => self.asm()?,
            "__extension__" => {
                self.at += 1;
                return self.statement_here(end, found);
            }
            "[" if self.text(start + 1) == "[" => {
                return self.attributed(end, found);
            }
            "__attribute__" if self.map.end_of(Kind::DeclarationStatement, start).is_none() => {
                return self.attributed(end, found);
            }
            _ if self.is_label(start) => {
                self.at += 2;
                if self.at < end {
                    self.statement_into(end, found);
                }
                return Ok(());
            }
            _ => return self.plain(end, found),
        };
        found.push(Stmt { kind, span: self.span(start..self.at) });
        Ok(())
    }

    /// A statement behind attributes.
    fn attributed(&mut self, end: usize, found: &mut Vec<Stmt>) -> Reading<()> {
        let start = self.at;
        self.attributes();
        if self.at == start {
            return Err(Confusion("attribute"));
        }
        self.statement_here(end, found)
    }

    fn is_label(&self, at: usize) -> bool {
        self.is_identifier(at) && self.text(at + 1) == ":"
    }

    /// A word and its semicolon.
    fn word(&mut self, kind: StmtKind) -> Reading<StmtKind> {
        self.at += 1;
        self.expect(";")?;
        Ok(kind)
    }

    /// A statement that syntax has no node for.
    fn foreign(&mut self, reason: &str, end: usize) -> StmtKind {
        self.skip_statement(end);
        StmtKind::Unsupported(reason.to_owned())
    }

    /// A declaration or an expression.
    fn plain(&mut self, end: usize, found: &mut Vec<Stmt>) -> Reading<()> {
        let start = self.at;
        if self.map.end_of(Kind::DeclarationStatement, start).is_some() {
            let items = self.item(end);
            found.extend(items.into_iter().map(item_statement));
            return Ok(());
        }
        let expr = self.next_expression(end)?;
        self.expect(";")?;
        let span = self.span(start..self.at);
        let kind = match expr.kind {
            ExprKind::Unsupported(reason) => StmtKind::Unsupported(reason),
            kind => StmtKind::Expr(Expr { kind, span: expr.span }),
        };
        found.push(Stmt { kind, span });
        Ok(())
    }

    /// The tokens in the parentheses behind so many words; goes behind them.
    fn parentheses(&mut self, words: usize) -> Reading<Range<usize>> {
        let open = self.at + words;
        if self.text(open) != "(" {
            return Err(MISFIT);
        }
        let close = self.close(open);
        self.at = close + 1;
        Ok(open + 1..close)
    }

    /// A condition that declares nothing.
    fn condition(&mut self, inside: Range<usize>) -> Reading<Expr> {
        if self.find(inside.start, inside.end, &[";"]) < inside.end
            || self.map.exact(inside.start, inside.end).is_none()
        {
            return Err(Confusion("declaration in a condition"));
        }
        Ok(self.expression(inside))
    }

    fn if_statement(&mut self, end: usize) -> Reading<StmtKind> {
        let is_constexpr = self.text(self.at + 1) == "constexpr";
        let inside = self.parentheses(1 + usize::from(is_constexpr))?;
        let after = self.at;
        let (init, cond) = self.if_head(inside)?;
        self.at = after;
        let then = self.statement(end);
        let otherwise = if self.at < end && self.eat("else") { Some(self.statement(end)) } else { None };
        Ok(StmtKind::If { init, cond, is_constexpr, then, otherwise })
    }

    /// What stands in the parentheses of an `if`.
    fn if_head(&mut self, inside: Range<usize>) -> Reading<(Option<Box<Stmt>>, Expr)> {
        let semicolon = self.find(inside.start, inside.end, &[";"]);
        if semicolon < inside.end {
            self.at = inside.start;
            let init = self.statement(semicolon + 1);
            let cond = self.condition(semicolon + 1..inside.end)?;
            return Ok((Some(init), cond));
        }
        if self.map.exact(inside.start, inside.end).is_some() {
            return Ok((None, self.expression(inside)));
        }
        // `if (T x = e)`: the declaration, and `x` as the condition.
        self.at = inside.start;
        let variable = self.condition_variable(inside.end)?;
        let (name, span) = (variable.name.clone(), self.span(inside));
        let kind = StmtKind::Item(Item { kind: ItemKind::Variables(vec![variable]), span });
        let path = Path { global: false, segments: vec![PathSegment { name: name.clone(), args: None }] };
        let cond = Expr { kind: ExprKind::Path(path), span: name.span };
        Ok((Some(Box::new(Stmt { kind, span })), cond))
    }

    fn for_statement(&mut self, end: usize) -> Reading<StmtKind> {
        if self.map.end_of(Kind::RangeFor, self.at).is_some() {
            return self.range_loop(end);
        }
        let inside = self.parentheses(1)?;
        let after = self.at;
        let first = self.find(inside.start, inside.end, &[";"]);
        let second = self.find(first + 1, inside.end, &[";"]);
        if second >= inside.end {
            return Err(MISFIT);
        }
        self.at = inside.start;
        let init = if first > inside.start { Some(self.for_init(first)) } else { None };
        let cond = if second > first + 1 { Some(self.condition(first + 1..second)?) } else { None };
        let step = if inside.end > second + 1 { Some(self.condition(second + 1..inside.end)?) } else { None };
        self.at = after;
        Ok(StmtKind::For { init, cond, step, body: self.statement(end) })
    }

    /// `for (T x : range) body`
    fn range_loop(&mut self, end: usize) -> Reading<StmtKind> {
        let inside = self.parentheses(1)?;
        let after = self.at;
        if self.find(inside.start, inside.end, &[";"]) < inside.end {
            self.statement(end);
            return Ok(StmtKind::Unsupported("range-based for loop with a first part".to_owned()));
        }
        self.at = inside.start;
        let variable = Box::new(self.range_variable()?);
        self.expect(":")?;
        let range = self.at..inside.end;
        let range = self.expression(range);
        self.at = after;
        Ok(StmtKind::RangeFor { variable, range, body: self.statement(end) })
    }

    /// The first part of a `for`, whose span leaves the semicolon out where it is an expression.
    fn for_init(&mut self, semicolon: usize) -> Box<Stmt> {
        let start = self.at;
        let mut init = self.statement(semicolon + 1);
        if matches!(init.kind, StmtKind::Expr(_)) {
            init.span = self.span(start..semicolon);
        }
        init
    }

    fn do_statement(&mut self, end: usize) -> Reading<StmtKind> {
        self.at += 1;
        let body = self.statement(end);
        if self.next() != "while" {
            return Err(MISFIT);
        }
        let inside = self.parentheses(1)?;
        let cond = self.condition(inside)?;
        self.expect(";")?;
        Ok(StmtKind::Do { body, cond })
    }

    /// `case e:` or `default:`; the statement that it labels follows as one of its own.
    fn label(&mut self, end: usize, found: &mut Vec<Stmt>) -> Reading<()> {
        let start = self.at;
        let value = if self.eat("default") {
            None
        } else {
            self.at += 1;
            Some(self.next_expression(end)?)
        };
        if self.next() == "..." {
            return Err(Confusion("case of a range"));
        }
        self.expect(":")?;
        let span = value.as_ref().map_or_else(|| self.span(start..self.at), |value| value.span);
        found.push(Stmt { kind: StmtKind::Case(value), span });
        Ok(())
    }

    /// `asm volatile ("…" : "=r"(x) : "r"(y) : "memory");`
    fn asm(&mut self) -> Reading<StmtKind> {
        self.at += 1;
        while matches!(self.next(), "volatile" | "__volatile__" | "__volatile" | "inline") {
            self.at += 1;
        }
        if self.next() == "goto" {
            return Err(Confusion("inline assembly with labels"));
        }
        let inside = self.parentheses(0)?;
        let after = self.at;
        // `::` is two colons here.
        let mut sections: Vec<Range<usize>> = std::iter::once(inside.start..inside.start).collect();
        let mut at = inside.start;
        while at < inside.end {
            match self.text(at) {
                ":" => sections.push(at + 1..at + 1),
                "::" => sections.extend([at..at, at + 1..at + 1]),
                text => {
                    let next = if matches!(text, "(" | "[") { self.close(at) + 1 } else { at + 1 };
                    if let Some(section) = sections.last_mut() {
                        section.end = next;
                    }
                    at = next;
                    continue;
                }
            }
            at += 1;
        }
        let section = |at: usize| sections.get(at).cloned().unwrap_or(0..0);
        let text = self.words(section(0));
        let outputs = self.asm_operands(section(1))?;
        let inputs = self.asm_operands(section(2))?;
        if sections.len() > 4 {
            return Err(Confusion("inline assembly with labels"));
        }
        let clobbers_memory = self.words(section(3)).contains("memory");
        self.at = after;
        self.expect(";")?;
        Ok(StmtKind::Asm { text, outputs, inputs, clobbers_memory })
    }

    /// `[name] "=r"(x), …`
    fn asm_operands(&mut self, tokens: Range<usize>) -> Reading<Vec<Expr>> {
        let mut found = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            match self.text(at) {
                "(" => {
                    let inside = at + 1..self.close(at);
                    at = inside.end;
                    found.push(self.expression(inside));
                }
                "[" => at = self.close(at),
                _ => {}
            }
            at += 1;
        }
        if at == tokens.end { Ok(found) } else { Err(MISFIT) }
    }
}

fn item_statement(item: Item) -> Stmt {
    let span = item.span;
    let kind = match item.kind {
        ItemKind::Unsupported(reason) => StmtKind::Unsupported(reason),
        kind => StmtKind::Item(Item { kind, span }),
    };
    Stmt { kind, span }
}
