//! From text to a kernel.

use super::MAX_DEPTH;
use super::lex::{Token, error_at, tokens};
use super::words::{ATOMICS, INFIX, ORDERS, SCOPES, SPACES, entry, geometry_of, type_of};
use crate::calculus::{
    Access, Array, ArrayId, AtomicOp, BinaryOp, Expr, ExprId, For, GeometryVar, HavocReason, Kernel, Param, ParamId,
    ScalarType, Site, SiteId, Space, Step, Stmt, SyncMemory, Test, UnaryOp, Unsupported, VarId, Variable, arithmetic,
};
use rustc_hash::FxHashMap;

/// Why a text is not a kernel, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// Greatest number of a site in a text, so that a digit too many does not ask for gigabytes.
const MAX_SITES: usize = 1 << 20;

/// Reads one kernel.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let mut parser = Parser::new(text)?;
    parser.head("kernel")?;
    parser.kernel.body = parser.statements()?;
    parser.end()?;
    Ok(parser.kernel)
}

/// What parsing gives.
pub(crate) type Parsed<T> = Result<T, ParseError>;

#[derive(Clone, Copy)]
enum Scalar {
    Param(ParamId),
    Var(VarId),
}

/// An operand whose type is known, or a literal that takes it from beside.
#[derive(Clone, Copy)]
enum Operand {
    Typed(ExprId),
    Literal(i128),
}

/// A name and which of its bearers is meant.
type Key = (String, u32);

/// Reads a kernel; or, for texts about kernels, declarations and expressions.
pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    kernel: Kernel,
    scalars: FxHashMap<Key, Scalar>,
    arrays: FxHashMap<Key, ArrayId>,
    definitions: FxHashMap<u32, ExprId>,
}

impl<'a> Parser<'a> {
    /// A parser at the start of `text`.
    pub(crate) fn new(text: &'a str) -> Parsed<Self> {
        Ok(Parser {
            text,
            tokens: tokens(text)?.tokens,
            at: 0,
            depth: 0,
            kernel: Kernel::default(),
            scalars: FxHashMap::default(),
            arrays: FxHashMap::default(),
            definitions: FxHashMap::default(),
        })
    }

    /// What was read so far.
    pub(crate) fn kernel(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    // Tokens.

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    /// An error at the next token.
    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(error_at(self.text, self.tokens[self.at].1, message))
    }

    /// An error at the token that was just taken.
    fn error_before<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(error_at(self.text, self.tokens[self.at.saturating_sub(1)].1, message))
    }

    /// Whether a sign comes next.
    pub(crate) fn at_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    /// Whether a word comes next.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    /// Whether these words and signs come next.
    pub(crate) fn starts_with(&self, texts: &[&str]) -> bool {
        texts
            .iter()
            .zip(&self.tokens[self.at..])
            .filter(|(text, (token, _))| match token {
                Token::Word(word) => word == *text,
                Token::Sign(sign) => sign == *text,
                _ => false,
            })
            .count()
            == texts.len()
    }

    /// Takes a sign if it comes next.
    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        if found {
            self.next();
        }
        found
    }

    /// Takes a word if it comes next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    /// Takes a sign.
    pub(crate) fn sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { self.error(format!("expected `{sign}`")) }
    }

    /// Takes a word.
    pub(crate) fn word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    /// Takes a word of a table.
    pub(crate) fn entry<T: Copy>(&mut self, table: &[(&'static str, T)], what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => entry(table, word),
            _ => None,
        };
        match found {
            Some(value) => {
                self.next();
                Ok(value)
            }
            None => self.error(format!("expected {what}")),
        }
    }

    fn number(&mut self) -> Parsed<u64> {
        match self.peek() {
            Token::Number { value, suffix } if suffix.is_empty() => match u64::try_from(*value) {
                Ok(value) => {
                    self.next();
                    Ok(value)
                }
                Err(_) => self.error("the number is too large"),
            },
            _ => self.error("expected a number"),
        }
    }

    fn small_number(&mut self) -> Parsed<u32> {
        let value = self.number()?;
        u32::try_from(value).or_else(|_| self.error_before("the number is too large"))
    }

    /// Takes a text in double quotes.
    pub(crate) fn string(&mut self) -> Parsed<String> {
        match self.next() {
            Token::Text(text) => Ok(text),
            _ => self.error_before("expected a text in double quotes"),
        }
    }

    fn ty(&mut self) -> Parsed<ScalarType> {
        match self.next() {
            Token::Word(word) => match type_of(&word) {
                Some(ty) => Ok(ty),
                None => self.error_before(format!("`{word}` is not a type")),
            },
            _ => self.error_before("expected a type"),
        }
    }

    fn name(&mut self) -> Parsed<String> {
        match self.next() {
            Token::Word(word) if super::words::is_plain_name(&word) => Ok(word),
            Token::Name(name) => Ok(name),
            Token::Word(word) => self.error_before(format!("`{word}` is reserved; write it in backquotes")),
            _ => self.error_before("expected a name"),
        }
    }

    fn key(&mut self) -> Parsed<Key> {
        let name = self.name()?;
        let bearer = if self.take_sign("#") { self.small_number()? } else { 1 };
        Ok((name, bearer))
    }

    /// Parses one level deeper, within bounds.
    pub(crate) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    // Declarations.

    /// Everything that stands before the first statement.
    pub(crate) fn head(&mut self, keyword: &str) -> Parsed<()> {
        self.word(keyword)?;
        self.kernel.name = self.name()?;
        if self.take_sign("<") {
            self.list(">", |parser| {
                let arg = parser.string()?;
                parser.kernel.template_args.push(arg);
                Ok(())
            })?;
        }
        self.sign("(")?;
        self.list(")", Self::param)?;
        if self.take_sign("[") {
            self.list("]", Self::geometry_fact)?;
        }
        self.sign("{")?;
        while self.declaration()? {}
        Ok(())
    }

    /// The end of the text.
    pub(crate) fn end(&self) -> Parsed<()> {
        if self.peek() == &Token::End { Ok(()) } else { self.error("expected the end of the text") }
    }

    /// Items separated by commas up to `close`, which is taken.
    fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.take_sign(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.take_sign(close) {
                return Ok(());
            }
            if !self.take_sign(",") {
                return self.error(format!("expected `,` or `{close}`"));
            }
        }
    }

    fn declare(&mut self, key: Key, scalar: Scalar) -> Parsed<()> {
        let text = key.0.clone();
        match self.scalars.insert(key, scalar) {
            None => Ok(()),
            Some(_) => self.error_before(format!("`{text}` is declared twice; call the second one `{text}#2`")),
        }
    }

    fn param(&mut self) -> Parsed<()> {
        let key = self.key()?;
        self.sign(":")?;
        let ty = self.ty()?;
        let id = self.kernel.params.push(Param { name: key.0.clone(), ty });
        self.declare(key, Scalar::Param(id))
    }

    fn geometry_fact(&mut self) -> Parsed<()> {
        if self.take_word("block") {
            let extents = [self.small_number()?, self.small_number()?, self.small_number()?];
            self.kernel.geometry.required_block = Some(extents);
            return Ok(());
        }
        self.word("threads")?;
        self.sign("<=")?;
        self.kernel.geometry.max_threads = Some(self.small_number()?);
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<bool> {
        let Token::Word(word) = self.peek().clone() else { return Ok(false) };
        if let Some(space) = entry(SPACES, &word) {
            self.next();
            self.array(space)?;
            return Ok(true);
        }
        match word.as_str() {
            "var" => self.variable()?,
            "returned" => {
                self.next();
                let returned = self.var()?;
                self.kernel.returned = Some(returned);
            }
            "sites" => {
                self.next();
                let count = self.number()? as usize;
                if count > MAX_SITES {
                    return self.error_before(format!("more than {MAX_SITES} sites"));
                }
                self.sites_up_to(count);
            }
            "unsupported" => self.unsupported()?,
            "define" => self.definition()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn array(&mut self, space: Space) -> Parsed<()> {
        let is_param = self.take_word("param");
        let key = self.key()?;
        self.sign(":")?;
        self.word("element")?;
        let element_bytes = self.small_number()?;
        let (mut bytes, mut inner_dims) = (None, Vec::new());
        while self.take_sign(",") {
            if self.take_word("size") {
                bytes = Some(self.number()?);
                continue;
            }
            self.word("inner")?;
            self.sign("[")?;
            self.list("]", |parser| {
                inner_dims.push(parser.number()?);
                Ok(())
            })?;
        }
        let name = key.0.clone();
        let array = Array { name, space, bytes, element_bytes, inner_dims, is_param, span: None };
        let id = self.kernel.arrays.push(array);
        let name = key.0.clone();
        match self.arrays.insert(key, id) {
            None => Ok(()),
            Some(_) => self.error_before(format!("the array `{name}` is declared twice")),
        }
    }

    fn variable(&mut self) -> Parsed<()> {
        self.next();
        let key = self.key()?;
        self.sign(":")?;
        let ty = self.ty()?;
        let id = self.kernel.vars.push(Variable { name: key.0.clone(), ty });
        self.declare(key, Scalar::Var(id))
    }

    fn unsupported(&mut self) -> Parsed<()> {
        self.next();
        let reason = self.string()?;
        let mut arrays = None;
        if self.take_word("touches") {
            let mut touched = Vec::new();
            if !self.take_word("nothing") {
                touched.push(self.array_ref()?);
                while self.take_sign(",") {
                    touched.push(self.array_ref()?);
                }
            }
            arrays = Some(touched);
        }
        self.kernel.unsupported.push(Unsupported { span: None, reason, arrays });
        Ok(())
    }

    fn definition(&mut self) -> Parsed<()> {
        self.next();
        let Token::Definition(number) = self.next() else { return self.error_before("expected `%` and a number") };
        self.sign("=")?;
        let value = self.expr(ScalarType::I32)?;
        match self.definitions.insert(number, value) {
            None => Ok(()),
            Some(_) => self.error_before(format!("%{number} is defined twice")),
        }
    }

    // Names that are used.

    /// Takes the name of an array.
    pub(crate) fn array_ref(&mut self) -> Parsed<ArrayId> {
        let key = self.key()?;
        match self.arrays.get(&key) {
            Some(&id) => Ok(id),
            None => self.error_before(format!("no array `{}` is declared", key.0)),
        }
    }

    fn scalar(&mut self) -> Parsed<Scalar> {
        let key = self.key()?;
        match self.scalars.get(&key) {
            Some(&scalar) => Ok(scalar),
            None => self.error_before(format!("no variable `{}` is declared", key.0)),
        }
    }

    /// Takes the name of a variable.
    pub(crate) fn var(&mut self) -> Parsed<VarId> {
        match self.scalar()? {
            Scalar::Var(var) => Ok(var),
            Scalar::Param(_) => self.error_before("a parameter cannot be assigned"),
        }
    }

    fn sites_up_to(&mut self, count: usize) {
        while self.kernel.sites.len() < count {
            self.kernel.sites.push(Site { span: None, inlined: Vec::new() });
        }
    }

    /// Takes a site.
    pub(crate) fn site(&mut self) -> Parsed<SiteId> {
        self.sign("@")?;
        let number = self.number()? as usize;
        if number >= MAX_SITES {
            return self.error_before(format!("more than {MAX_SITES} sites"));
        }
        self.sites_up_to(number + 1);
        Ok(SiteId::from_index(number))
    }

    // Statements.

    /// Statements up to a closing brace, which is taken.
    fn statements(&mut self) -> Parsed<Vec<Stmt>> {
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
                let memory = SyncMemory { shared: self.take_word("shared"), global: self.take_word("global") };
                Ok(Stmt::Sync { scope, memory, site: self.site()? })
            }
            "havoc" => self.havoc(),
            "assume" => Ok(Stmt::Assume { cond: self.expr(ScalarType::Bool)?, span: None }),
            "assert" => Ok(Stmt::Assert { cond: self.expr(ScalarType::Bool)?, span: None }),
            _ => self.error_before(format!("`{word}` does not start a statement")),
        }
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

    /// `y[e; 4]`; the site follows later.
    pub(crate) fn access(&mut self) -> Parsed<Access> {
        let array = self.array_ref()?;
        self.sign("[")?;
        let offset = self.expr(ScalarType::I64)?;
        self.sign(";")?;
        let bytes = self.small_number()?;
        self.sign("]")?;
        Ok(Access { array, offset, bytes, site: SiteId::from_index(0) })
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
        } else if self.take_word("call") {
            HavocReason::Call(self.string()?)
        } else if self.take_word("schedule") {
            HavocReason::Schedule(self.string()?)
        } else {
            self.word("other")?;
            HavocReason::Other(self.string()?)
        };
        Ok(reason)
    }

    // Expressions.

    /// An expression; a bare literal has the type `context`.
    pub(crate) fn expr(&mut self, context: ScalarType) -> Parsed<ExprId> {
        let operand = self.infix(0)?;
        self.settle(operand, context)
    }

    fn settle(&mut self, operand: Operand, context: ScalarType) -> Parsed<ExprId> {
        match operand {
            Operand::Typed(id) => Ok(id),
            Operand::Literal(value) => self.literal(value, context),
        }
    }

    fn literal(&mut self, value: i128, ty: ScalarType) -> Parsed<ExprId> {
        if arithmetic::wrap(value, ty) != value {
            return self.error_before(format!("{value} does not fit the type {}", super::words::type_text(ty)));
        }
        Ok(self.kernel.exprs.intern(Expr::Int(value, ty), ty))
    }

    fn infix(&mut self, least: u8) -> Parsed<Operand> {
        let mut left = self.prefix()?;
        loop {
            let found = match self.peek() {
                Token::Sign(sign) => INFIX.iter().find(|(text, ..)| text == sign).copied(),
                _ => None,
            };
            let Some((_, op, own)) = found.filter(|row| row.2 >= least.max(1)) else { return Ok(left) };
            self.next();
            let right = self.nested(|parser| parser.infix(own + 1))?;
            left = self.binary(op, left, right)?;
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Operand, right: Operand) -> Parsed<Operand> {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let left_context = match right {
            Operand::Typed(id) if !shift => self.kernel.exprs.ty(id),
            _ => ScalarType::I32,
        };
        let a = self.settle(left, left_context)?;
        let ty = self.kernel.exprs.ty(a);
        let b = self.settle(right, ty)?;
        let result = if op.is_boolean() { ScalarType::Bool } else { ty };
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Binary(op, a, b), result)))
    }

    fn prefix(&mut self) -> Parsed<Operand> {
        let op = match self.peek() {
            Token::Sign("-") => UnaryOp::Neg,
            Token::Sign("~") => UnaryOp::BitNot,
            Token::Sign("!") => UnaryOp::Not,
            _ => return self.primary(),
        };
        self.next();
        if op == UnaryOp::Neg && matches!(self.peek(), Token::Number { .. }) {
            return self.constant(-1);
        }
        let inner = self.nested(Self::prefix)?;
        let a = self.settle(inner, ScalarType::I32)?;
        let ty = self.kernel.exprs.ty(a);
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Unary(op, a), ty)))
    }

    fn constant(&mut self, sign: i128) -> Parsed<Operand> {
        let Token::Number { value, suffix } = self.next() else { return self.error_before("expected a number") };
        if suffix.is_empty() {
            return Ok(Operand::Literal(sign * value));
        }
        match type_of(&suffix) {
            Some(ty) => Ok(Operand::Typed(self.literal(sign * value, ty)?)),
            None => self.error_before(format!("`{suffix}` is not a type")),
        }
    }

    fn primary(&mut self) -> Parsed<Operand> {
        let token = self.peek().clone();
        match token {
            Token::Number { .. } => self.constant(1),
            Token::Definition(number) => {
                self.next();
                match self.definitions.get(&number) {
                    Some(&id) => Ok(Operand::Typed(id)),
                    None => self.error_before(format!("%{number} is not defined")),
                }
            }
            Token::Text(text) => {
                self.next();
                self.sign(":")?;
                let ty = self.ty()?;
                Ok(Operand::Typed(self.kernel.exprs.opaque(text, ty)))
            }
            Token::Sign("(") => {
                self.next();
                self.nested(Self::parenthesized)
            }
            Token::Word(word) => self.word_operand(&word),
            Token::Name(_) => self.named_operand(),
            _ => self.error("expected an expression"),
        }
    }

    fn parenthesized(&mut self) -> Parsed<Operand> {
        let first = self.infix(0)?;
        if !self.take_sign("?") {
            self.sign(")")?;
            return Ok(first);
        }
        let cond = self.settle(first, ScalarType::Bool)?;
        let then = self.infix(0)?;
        self.sign(":")?;
        let otherwise = self.infix(0)?;
        self.sign(")")?;
        let context = match otherwise {
            Operand::Typed(id) => self.kernel.exprs.ty(id),
            Operand::Literal(_) => ScalarType::I32,
        };
        let a = self.settle(then, context)?;
        let ty = self.kernel.exprs.ty(a);
        let b = self.settle(otherwise, ty)?;
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Select(cond, a, b), ty)))
    }

    fn word_operand(&mut self, word: &str) -> Parsed<Operand> {
        if let Some(var) = geometry_of(word) {
            self.next();
            return Ok(Operand::Typed(self.geometry(var)));
        }
        match word {
            "true" | "false" => {
                self.next();
                Ok(Operand::Typed(self.literal(i128::from(word == "true"), ScalarType::Bool)?))
            }
            "convert" => {
                self.next();
                self.sign("<")?;
                let ty = self.ty()?;
                self.sign(">")?;
                self.sign("(")?;
                let a = self.nested(|parser| parser.expr(ScalarType::I32))?;
                self.sign(")")?;
                Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Convert(ty, a), ty)))
            }
            "min" | "max" => {
                self.next();
                self.sign("(")?;
                let a = self.nested(|parser| parser.infix(0))?;
                self.sign(",")?;
                let b = self.nested(|parser| parser.infix(0))?;
                self.sign(")")?;
                self.binary(if word == "min" { BinaryOp::Min } else { BinaryOp::Max }, a, b)
            }
            _ => self.named_operand(),
        }
    }

    fn geometry(&mut self, var: GeometryVar) -> ExprId {
        self.kernel.exprs.geometry(var)
    }

    /// A variable, a parameter or a call.
    fn named_operand(&mut self) -> Parsed<Operand> {
        if matches!(self.tokens.get(self.at + 1), Some((Token::Sign("("), _))) {
            let name = self.name()?;
            self.sign("(")?;
            let args = self.arguments()?;
            self.sign(":")?;
            let ty = self.ty()?;
            return Ok(Operand::Typed(self.kernel.exprs.call(name, args, ty)));
        }
        let id = match self.scalar()? {
            Scalar::Var(var) => self.kernel.exprs.var(var, self.kernel.vars[var].ty),
            Scalar::Param(param) => self.kernel.exprs.param(param, self.kernel.params[param].ty),
        };
        Ok(Operand::Typed(id))
    }

    /// Expressions after an opening parenthesis, up to the closing one, which is taken.
    pub(crate) fn arguments(&mut self) -> Parsed<Vec<ExprId>> {
        let mut args = Vec::new();
        self.nested(|parser| {
            parser.list(")", |parser| {
                args.push(parser.expr(ScalarType::I32)?);
                Ok(())
            })
        })?;
        Ok(args)
    }
}
