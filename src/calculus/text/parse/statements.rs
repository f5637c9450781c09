//! Reading statements.

use super::{Parsed, Parser};
use crate::calculus::text::lex::Token;
use crate::calculus::text::words::{ATOMICS, BASES, CLAIMED, INFIX, ORDERS, PARTS, SCOPES};
use crate::calculus::{
    Access, Among, Arrivals, AtomicOp, BinaryOp, Count, For, HavocReason, Placeholder, ScalarType, SiteId, Step, Stmt,
    SyncMemory, Test, VarId,
};

impl Parser<'_> {
    /// Statements up to a closing brace, which is taken.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut body = Vec::new();
        while !self.take_sign("}") {
            body.push(self.statement()?);
        }
        Ok(body)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.sign("{")?;
        self.nested(Self::statements)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let Token::Word(word) = self.next() else { return self.error_before("expected a statement or `}`") };
        match word.as_str() {
            "let" => self.assignment(),
            "write" => {
                let mut access = self.access()?;
                let value = if self.take_sign(":=") { Some(self.expr(ScalarType::I32)?) } else { None };
                access.site = self.site()?;
                Ok(Stmt::Write { access, value })
            }
            "atomic" => self.atomic(None),
            "if" => {
                let cond = self.expr(ScalarType::Bool)?;
                let then = self.block()?;
                let otherwise = if self.take_word("else") { self.block()? } else { Vec::new() };
                Ok(Stmt::If { cond, then, otherwise })
            }
            "for" => self.counted(),
            "loop" => self.looped(),
            "sync" => {
                let scope = self.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
                Ok(Stmt::Sync { scope, memory: self.sync_memory()?, among: self.among()?, site: self.site()? })
            }
            "fence" => {
                let order = self.entry(ORDERS, "a memory order")?;
                let scope = self.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
                Ok(Stmt::Fence { order, scope, memory: self.sync_memory()?, site: self.site()? })
            }
            "havoc" => self.havoc(),
            _ => {
                match (BASES.iter().find(|(known, _)| *known == word), CLAIMED.iter().find(|(known, _)| *known == word))
                {
                    (Some(&(_, basis)), _) => {
                        Ok(Stmt::Assume { cond: self.expr(ScalarType::Bool)?, basis, span: None })
                    }
                    (None, Some(&(_, claimed))) => {
                        Ok(Stmt::Assert { cond: self.expr(ScalarType::Bool)?, claimed, site: self.site()? })
                    }
                    (None, None) => self.error_before(format!("`{word}` does not start a statement")),
                }
            }
        }
    }

    /// For which threads of its scope a barrier is: `named x < 16`, `tiles 8`.
    pub(crate) fn among(&mut self) -> Parsed<Among> {
        if self.take_word("named") {
            return Ok(Among::Named(self.expr(ScalarType::Bool)?));
        }
        if self.take_word("counted") {
            return Ok(Among::Counted);
        }
        if let Some(&(_, part)) = PARTS.iter().find(|(word, _)| self.take_word(word)) {
            let array = self.array_ref()?;
            self.sign("[")?;
            let offset = self.expr(ScalarType::I64)?;
            self.sign("]")?;
            let circle = if self.take_word("round") { self.small_number()? } else { 1 };
            let count = self.count()?;
            return Ok(Among::Arrivals(Arrivals { array, offset, circle, count, part }));
        }
        if let Some(placeholder) = self.placeholder()? {
            return Ok(Among::Placeholder(placeholder));
        }
        let threads: fn(u32) -> Among = match () {
            () if self.take_word("tiles") => Among::Tiles,
            () if self.take_word("step") => Among::InStep,
            () => return Ok(Among::All),
        };
        Ok(threads(self.small_number()?))
    }

    /// What stands for the threads of a barrier: `mask m`, `object s[0]`, `numbered 1 of 64`.
    fn placeholder(&mut self) -> Parsed<Option<Placeholder>> {
        if self.take_word("mask") {
            return Ok(Some(Placeholder::Mask(self.expr(ScalarType::I32)?)));
        }
        if self.take_word("object") {
            let array = self.array_ref()?;
            self.sign("[")?;
            let offset = self.expr(ScalarType::I64)?;
            self.sign("]")?;
            return Ok(Some(Placeholder::Object { array, offset }));
        }
        if self.take_word("numbered") {
            let number = self.expr(ScalarType::I32)?;
            self.word("of")?;
            return Ok(Some(Placeholder::Numbered { number, threads: self.expr(ScalarType::I32)? }));
        }
        Ok(None)
    }

    /// For how many arrivals an object waits: nothing, `of 64`, `of 32 to 64`, `open`.
    fn count(&mut self) -> Parsed<Count> {
        if self.take_word("open") {
            return Ok(Count::Open);
        }
        if !self.take_word("of") {
            return Ok(Count::Block);
        }
        let number = self.small_number()?;
        Ok(if self.take_word("to") { Count::Range(number, self.small_number()?) } else { Count::Number(number) })
    }

    /// The memory that a barrier orders: `shared global images library only a`.
    pub(crate) fn sync_memory(&mut self) -> Parsed<SyncMemory> {
        let (shared, global) = (self.take_word("shared"), self.take_word("global"));
        let (images, library) = (self.take_word("images"), self.take_word("library"));
        let array = if self.take_word("only") { Some(self.array_ref()?) } else { None };
        Ok(SyncMemory { shared, global, images, array, library })
    }

    fn assignment(&mut self) -> Parsed<Stmt> {
        let var = self.var()?;
        self.sign("=")?;
        if self.take_word("read") {
            let mut access = self.access()?;
            access.site = self.site()?;
            return Ok(Stmt::Read { var, access });
        }
        if self.take_word("atomic") {
            return self.atomic(Some(var));
        }
        let value = self.expr(self.kernel.vars[var].ty)?;
        Ok(Stmt::Let { var, value })
    }

    /// `y[e; 4]`, `y[e; 16 align 8]`; the site follows later.
    pub(crate) fn access(&mut self) -> Parsed<Access> {
        let array = self.array_ref()?;
        self.sign("[")?;
        let offset = self.expr(ScalarType::I64)?;
        self.sign(";")?;
        let bytes = self.small_number()?;
        let align = if self.take_word("align") { self.small_number()? } else { 1 };
        self.sign("]")?;
        Ok(Access { array, offset, bytes, align, site: SiteId::from_index(0) })
    }

    fn atomic(&mut self, var: Option<VarId>) -> Parsed<Stmt> {
        let op: AtomicOp = self.entry(ATOMICS, "an atomic operation")?;
        let mut access = self.access()?;
        self.sign("(")?;
        let operands = self.arguments()?;
        let order = self.entry(ORDERS, "a memory order")?;
        let scope = self.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
        access.site = self.site()?;
        Ok(Stmt::Atomic { var, access, op, operands, order, scope })
    }

    fn counted(&mut self) -> Parsed<Stmt> {
        let var = self.var()?;
        let ty = self.kernel.vars[var].ty;
        self.sign("=")?;
        let start = self.expr(ty)?;
        self.word("while")?;
        if self.var()? != var {
            return self.error_before("the test of a `for` compares its own variable");
        }
        let cmp = self.operator("a comparison")?;
        let bound = self.expr(ty)?;
        self.word("step")?;
        let op = self.operator("an operator")?;
        let by = self.expr(ty)?;
        let site = self.site()?;
        let body = self.block()?;
        Ok(Stmt::For(Box::new(For { var, start, cmp, bound, step: Step { op, by }, body, site })))
    }

    fn operator(&mut self, what: &str) -> Parsed<BinaryOp> {
        let found = match self.peek() {
            Token::Sign(sign) => INFIX.iter().find(|(text, ..)| text == sign).map(|row| row.1),
            _ => None,
        };
        let Some(op) = found else { return self.error(format!("expected {what}")) };
        self.next();
        Ok(op)
    }

    fn looped(&mut self) -> Parsed<Stmt> {
        if self.take_word("while") {
            let test = Test::Before(self.expr(ScalarType::Bool)?);
            let site = self.site()?;
            return Ok(Stmt::Loop { test, body: self.block()?, site });
        }
        let site = self.site()?;
        let body = self.block()?;
        self.word("while")?;
        let test = Test::After(self.expr(ScalarType::Bool)?);
        Ok(Stmt::Loop { test, body, site })
    }

    fn havoc(&mut self) -> Parsed<Stmt> {
        let var = self.var()?;
        Ok(Stmt::Havoc { var, reason: self.havoc_reason()?, span: None })
    }

    /// Why a value is unknown.
    pub(crate) fn havoc_reason(&mut self) -> Parsed<HavocReason> {
        let reason = if self.take_word("uninitialized") {
            HavocReason::Uninitialized
        } else if self.take_word("choice") {
            HavocReason::Choice
        } else if self.take_word("call") {
            HavocReason::Call(self.string()?)
        } else if self.take_word("common") {
            let scope = self.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
            HavocReason::Common(scope, self.string()?)
        } else if self.take_word("undeclared") {
            HavocReason::Undeclared(self.string()?)
        } else if self.take_word("schedule") {
            HavocReason::Schedule(self.string()?)
        } else if self.take_word("implementation") {
            HavocReason::Implementation(self.string()?)
        } else if self.take_word("pointer") {
            HavocReason::Pointer(self.string()?)
        } else {
            self.word("other")?;
            HavocReason::Other(self.string()?)
        };
        Ok(reason)
    }
}
