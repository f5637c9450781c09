//! From text to a kernel: tokens, declarations and names here, the rest below.

mod operands;
mod statements;

use super::MAX_DEPTH;
use super::lex::{Token, error_at, tokens};
use super::words::{SPACES, entry, type_of};
use crate::calculus::{
    Array, ArrayId, ExprId, Kernel, Nature, Param, ParamId, Platform, ScalarType, Site, SiteId, Space, Told,
    Unsupported, VarId, Variable,
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

/// Reads one kernel, of whose functions nothing is known.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    parse_with(text, |_| Nature::default())
}

/// Reads one kernel, of whose functions `nature` says what is known.
pub fn parse_with(text: &str, nature: fn(&str) -> Nature) -> Result<Kernel, ParseError> {
    let mut parser = Parser { nature, ..Parser::new(text)? };
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

/// A name and which of its bearers is meant.
type Key = (String, u32);

/// Reads a kernel; or, for texts about kernels, declarations and expressions.
pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    kernel: Kernel,
    /// What is known of the function of a name.
    nature: fn(&str) -> Nature,
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
            nature: |_| Nature::default(),
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

    pub(crate) fn number(&mut self) -> Parsed<u64> {
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
        if self.take_word("cluster") {
            let extents = [self.small_number()?, self.small_number()?, self.small_number()?];
            self.kernel.geometry.cluster = Some(extents);
            return Ok(());
        }
        for platform in Platform::all() {
            if self.take_word(platform.rules().word) {
                self.kernel.geometry.platform = platform;
                return Ok(());
            }
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
            "told" => self.told()?,
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
        let (mut bytes, mut inner_dims, mut held_in, mut given) = (None, Vec::new(), None, None);
        let mut is_filled_elsewhere = false;
        while self.take_sign(",") {
            if self.take_word("size") {
                bytes = Some(self.number()?);
                continue;
            }
            if self.take_word("filled") {
                self.word("elsewhere")?;
                is_filled_elsewhere = true;
                continue;
            }
            if self.take_word("held") {
                self.word("in")?;
                let holder = self.array_ref()?;
                self.word("at")?;
                held_in = Some((holder, self.number()?));
                continue;
            }
            if self.take_word("given") {
                given = Some(self.param_ref()?);
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
        let array = Array {
            name,
            space,
            bytes,
            element_bytes,
            inner_dims,
            is_param,
            is_filled_elsewhere,
            held_in,
            given,
            span: None,
        };
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
        let (mut arrays, mut barriers, mut is_of_thread) = (None, true, false);
        if self.take_word("touches") {
            let mut touched = Vec::new();
            if !self.take_word("nothing") {
                touched.push(self.array_ref()?);
                while self.take_sign(",") {
                    touched.push(self.array_ref()?);
                }
            }
            arrays = Some(touched);
            barriers = self.take_word("and");
            if barriers {
                self.word("barriers")?;
            }
            is_of_thread = self.take_word("alone");
        }
        self.kernel.unsupported.push(Unsupported { span: None, reason, arrays, barriers, is_of_thread });
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

    fn param_ref(&mut self) -> Parsed<ParamId> {
        match self.scalar()? {
            Scalar::Param(param) => Ok(param),
            Scalar::Var(_) => self.error_before("a variable cannot be given"),
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
            self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
        }
    }

    /// `told @3 by bar[16]`
    fn told(&mut self) -> Parsed<()> {
        self.next();
        let site = self.site()?;
        self.word("by")?;
        let array = self.array_ref()?;
        self.sign("[")?;
        let start = self.number()?;
        self.sign("]")?;
        let start = i64::try_from(start).or_else(|_| self.error_before("the number is too large"))?;
        self.kernel.sites[site].told = Some(Told { array, start });
        Ok(())
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
}
