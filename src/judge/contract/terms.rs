//! Conditions as somebody states them: text, read over the words that [`vocabulary`](super::vocabulary) prints.
//!
//! ```text
//! condition := sum (">=" | "<=" | "==" | "=" | "<" | ">") sum
//!            | value "is a power of two" | value "is a multiple of" number
//!            | ("distinct" | "monotone") "(" array ")"
//! sum       := ["-"] product (("+" | "-") product)*
//! product   := (value | number) ("*" (value | number))*
//! value     := blockDim.x, gridDim.y, … | the functions of OpenCL that give these | a parameter: pitch, s.width, d[1]
//! ```
//!
//! A [`Phrase`] is read without knowing the kernel; [`Terms`] are phrases whose parameters are those of one.
//!
//! Guarantees: what is printed of a condition is read as the same condition; `<` and `>` are read as what they say of
//! integers. Deliberately absent: brackets around sums, divisions, and what memory holds but what [`data`](super::data)
//! says of the elements of an array.

use super::data::{self, Datum, Says};
use super::vocabulary::{Condition, Leaf, Relation, Sum};
use crate::arena::Arena;
use crate::calculus::{ArrayId, Axis, Basis, Kernel, Param, ScalarType, Stmt};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::protocol::{Before, Fact, Protocol};
use crate::prove::Assumption;
use crate::prove::program_point::stated;
use crate::source::Language;
use std::fmt;
use std::str::FromStr;

/// A condition as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    text: String,
    said: Said,
}

/// What a phrase says, with parameters by name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Power(Value),
    Multiple(Value, i128),
    Compare(Vec<Product>, Relation, Vec<Product>),
    Data(Says, String),
}

type Product = (i128, Vec<Value>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Block(Axis),
    Grid(Axis),
    Param(String),
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    /// Nothing of the kind stands there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A number that 64 bits do not hold.
    #[error("the number {0} is too large")]
    TooLarge(String),
    /// `is a multiple of 0`
    #[error("nothing but 0 is a multiple of 0")]
    OfZero,
}

/// Why conditions are none on launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{condition}`: the kernel has no {what} `{name}`{known}")]
pub struct Unfit {
    condition: String,
    what: &'static str,
    name: String,
    known: String,
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Conditions on the launches of one kernel, all of which are stated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// What is said of sizes and scalar parameters.
    pub(super) conditions: Vec<Condition>,
    /// What is said of what arrays hold.
    pub(super) data: Vec<Datum>,
}

impl Terms {
    /// The conditions that phrases state of a kernel.
    pub fn of(phrases: &[Phrase], kernel: &Kernel) -> Result<Terms, Unfit> {
        let mut terms = Terms::default();
        for phrase in phrases {
            match &phrase.said {
                Said::Data(says, name) => terms.data.push(Datum { array: phrase.array(name, kernel)?, says: *says }),
                _ => terms.conditions.push(phrase.condition(&kernel.params)?),
            }
        }
        Ok(terms)
    }

    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.data.is_empty()
    }

    /// The kernel as if its source stated the conditions.
    pub fn stated_in(&self, kernel: &Kernel) -> Kernel {
        let mut stating = kernel.clone();
        let statement = |condition: &Condition| {
            let cond = condition.expression(&mut stating.exprs, &stating.params);
            Stmt::Assume { cond, basis: Basis::Stated, span: None }
        };
        let stated: Vec<Stmt> = self.conditions.iter().map(statement).collect();
        stating.body.splice(0..0, stated);
        self.data.iter().for_each(|&datum| data::state(&mut stating, datum));
        stating
    }

    /// Whether an assumption of a proof is just that one of the conditions holds.
    pub(super) fn is_own(&self, protocol: &Protocol) -> impl Fn(&Assumption) -> bool + use<> {
        let mut protocol = protocol.clone();
        let assumption = |condition: &Condition| {
            let cond = condition.expression(&mut protocol.exprs, &protocol.params);
            let (guards, loops, before) = (Vec::new(), Vec::new(), Before::default());
            stated(&protocol, &Fact { cond, basis: Basis::Stated, guards, loops, before, span: None })
        };
        let own = self.conditions.iter().map(assumption).collect::<Vec<_>>().into_iter();
        let own = own.chain(data::assumptions(&protocol, &self.data));
        let own: Vec<String> = own.filter_map(|own| squeezed(&own)).collect();
        move |assumption| squeezed(assumption).is_some_and(|text| own.contains(&text))
    }
}

/// What a stated assumption says, without blanks and brackets.
fn squeezed(assumption: &Assumption) -> Option<String> {
    let Assumption::Stated(text) = assumption else { return None };
    Some(text.chars().filter(|it| !it.is_whitespace() && !"()".contains(*it)).collect())
}

impl Phrase {
    fn condition(&self, params: &Arena<Param>) -> Result<Condition, Unfit> {
        let leaf = |value: &Value| value.leaf(params).ok_or_else(|| self.unfit(value, params));
        let product =
            |(factor, values): &Product| Ok((*factor, values.iter().map(leaf).collect::<Result<Vec<Leaf>, Unfit>>()?));
        let sum = |products: &[Product]| products.iter().map(product).collect::<Result<_, Unfit>>().map(Sum);
        Ok(match &self.said {
            Said::Power(value) => Condition::Power(leaf(value)?),
            Said::Multiple(value, of) => Condition::Multiple(leaf(value)?, *of),
            Said::Compare(left, relation, right) => Condition::Compare(sum(left)?, *relation, sum(right)?),
            Said::Data(..) => unreachable!("it is no condition on numbers"),
        })
    }

    /// The array of that name, of which something may be said: its elements are read, and the kernel never writes it.
    fn array(&self, name: &str, kernel: &Kernel) -> Result<ArrayId, Unfit> {
        let sayable = data::read_only(kernel);
        let is_it = |id: &&ArrayId| kernel.arrays[**id].name == name;
        sayable.iter().find(is_it).copied().ok_or_else(|| {
            let names: Vec<&str> = sayable.iter().map(|&id| kernel.arrays[id].name.as_str()).collect();
            let known = if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) };
            let what = "array of integers that it only reads,";
            Unfit { condition: self.text.clone(), what, name: name.to_owned(), known }
        })
    }

    fn unfit(&self, value: &Value, params: &Arena<Param>) -> Unfit {
        let Value::Param(name) = value else { unreachable!("every kernel has extents") };
        let numbers = params.iter().filter(|(_, param)| is_number(param)).map(|(_, param)| param.name.as_str());
        let numbers: Vec<&str> = numbers.collect();
        let known = if numbers.is_empty() { String::new() } else { format!("; it has {}", numbers.join(", ")) };
        Unfit { condition: self.text.clone(), what: "integer parameter", name: name.clone(), known }
    }
}

fn is_number(param: &Param) -> bool {
    matches!(param.ty, ScalarType::Int { .. })
}

impl Said {
    /// A number that 64 bits do not hold: `n > 9223372036854775807` says one.
    fn too_large(&self) -> Option<i128> {
        let Said::Compare(left, _, right) = self else { return None };
        let numbers = left.iter().chain(right).map(|(factor, _)| *factor);
        numbers.into_iter().find(|&number| i64::try_from(number).is_err())
    }
}

impl Value {
    /// What the name means; extents of CUDA and of OpenCL have names that no parameter has.
    fn named(name: String) -> Value {
        let axis = |letter: &str| Axis::ALL.into_iter().find(|axis| ["x", "y", "z"][axis.index()] == letter);
        let extent = |of: &str| name.strip_prefix(of).and_then(axis);
        match (extent("blockDim."), extent("gridDim.")) {
            (Some(axis), _) => Value::Block(axis),
            (_, Some(axis)) => Value::Grid(axis),
            _ => Value::Param(name),
        }
    }

    fn leaf(&self, params: &Arena<Param>) -> Option<Leaf> {
        match self {
            Value::Block(axis) => Some(Leaf::Block(*axis)),
            Value::Grid(axis) => Some(Leaf::Grid(*axis)),
            Value::Param(name) => {
                let mut named = params.iter().filter(|(_, param)| param.name == *name && is_number(param));
                named.next().map(|(id, _)| Leaf::Param(id))
            }
        }
    }
}

impl FromStr for Phrase {
    type Err = Misread;

    fn from_str(text: &str) -> Result<Phrase, Misread> {
        if let Some(said) = of_data(text.trim()) {
            return Ok(Phrase { text: text.trim().to_owned(), said });
        }
        let mut words = Words { rest: text.trim() };
        let said = words.condition()?;
        if let Some(number) = said.too_large() {
            return Err(Misread::TooLarge(number.to_string()));
        }
        match words.peek()? {
            None => Ok(Phrase { text: text.trim().to_owned(), said }),
            Some(more) => Err(more.instead_of("the end of the condition")),
        }
    }
}

/// `distinct(idx)`
fn of_data(text: &str) -> Option<Said> {
    let (says, rest) = Says::WORDS.into_iter().find_map(|(word, says)| Some((says, text.strip_prefix(word)?)))?;
    let name = rest.trim_start().strip_prefix('(')?.strip_suffix(')')?.trim();
    let is_name = !name.is_empty() && !name.contains(['(', ')', ' ']);
    is_name.then(|| Said::Data(says, name.to_owned()))
}

/// What a condition is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Name(String),
    Number(i128),
    Sign(&'static str),
}

/// Signs, the longer ones first.
const SIGNS: [&str; 9] = [">=", "<=", "==", "=", "<", ">", "+", "-", "*"];

impl Word {
    fn instead_of(&self, expected: &'static str) -> Misread {
        let found = match self {
            Word::Name(name) => format!("`{name}`"),
            Word::Number(number) => format!("`{number}`"),
            Word::Sign(sign) => format!("`{sign}`"),
        };
        Misread::Expected { expected, found }
    }
}

/// A text that is read from its start.
struct Words<'t> {
    rest: &'t str,
}

impl Words<'_> {
    fn condition(&mut self) -> Result<Said, Misread> {
        let left = self.sum()?;
        if self.takes("is")? {
            return self.property(left);
        }
        const RELATION: &str = "`>=`, `<=`, `==`, `<`, `>` or `is a …`";
        let Some(sign) = self.next()? else { return Err(end_instead_of(RELATION)) };
        let Word::Sign(sign @ (">=" | "<=" | "==" | "=" | "<" | ">")) = sign else {
            return Err(sign.instead_of(RELATION));
        };
        let right = self.sum()?;
        Ok(match sign {
            ">=" => Said::Compare(left, Relation::AtLeast, right),
            "<=" => Said::Compare(left, Relation::AtMost, right),
            ">" => strict((left, Relation::AtLeast, right)),
            "<" => strict((left, Relation::AtMost, right)),
            _ => Said::Compare(left, Relation::Is, right),
        })
    }

    /// `a power of two`, `a multiple of 32`
    fn property(&mut self, of: Vec<Product>) -> Result<Said, Misread> {
        const ONE_VALUE: &str = "one value before `is a …`";
        const PROPERTY: &str = "`a power of two` or `a multiple of` a number";
        let [(1, product)] = of.as_slice() else { return Err(several_instead_of(ONE_VALUE)) };
        let [value] = product.as_slice() else { return Err(several_instead_of(ONE_VALUE)) };
        if !self.takes("a")? {
            return Err(self.instead_of(PROPERTY));
        }
        if self.takes("power")? {
            let is_whole = self.takes("of")? && self.takes("two")?;
            return if is_whole { Ok(Said::Power(value.clone())) } else { Err(self.instead_of("`of two`")) };
        }
        if !(self.takes("multiple")? && self.takes("of")?) {
            return Err(self.instead_of(PROPERTY));
        }
        match self.next()? {
            Some(Word::Number(0)) => Err(Misread::OfZero),
            Some(Word::Number(number)) => Ok(Said::Multiple(value.clone(), number)),
            Some(other) => Err(other.instead_of("a number")),
            None => Err(end_instead_of("a number")),
        }
    }

    fn sum(&mut self) -> Result<Vec<Product>, Misread> {
        let mut sum = Vec::new();
        let mut sign = if self.takes_sign("-")? { -1 } else { 1 };
        loop {
            let (factor, values) = self.product()?;
            // 0 is the sum of nothing.
            if factor != 0 {
                sum.push((sign * factor, values));
            }
            sign = match () {
                () if self.takes_sign("+")? => 1,
                () if self.takes_sign("-")? => -1,
                () => return Ok(sum),
            };
            if self.takes_sign("-")? {
                sign = -sign;
            }
        }
    }

    fn product(&mut self) -> Result<Product, Misread> {
        let mut product = (1_i128, Vec::new());
        loop {
            match self.next()? {
                Some(Word::Number(number)) => {
                    product.0 = product
                        .0
                        .checked_mul(number)
                        .filter(|it| i64::try_from(*it).is_ok())
                        .ok_or_else(|| Misread::TooLarge(format!("{} * {number}", product.0)))?;
                }
                Some(Word::Name(name)) => product.1.push(Value::named(name)),
                Some(sign) => return Err(sign.instead_of("a value or a number")),
                None => return Err(end_instead_of("a value or a number")),
            }
            if !self.takes_sign("*")? {
                return Ok(product);
            }
        }
    }

    /// Whether that name comes next, which is then passed.
    fn takes(&mut self, wanted: &str) -> Result<bool, Misread> {
        self.takes_word(|word| matches!(word, Word::Name(name) if name == wanted))
    }

    fn takes_sign(&mut self, wanted: &str) -> Result<bool, Misread> {
        self.takes_word(|word| matches!(word, Word::Sign(sign) if *sign == wanted))
    }

    fn takes_word(&mut self, is_it: impl Fn(&Word) -> bool) -> Result<bool, Misread> {
        let is_next = self.peek()?.is_some_and(|word| is_it(&word));
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    fn instead_of(&self, expected: &'static str) -> Misread {
        match self.peek() {
            Ok(Some(word)) => word.instead_of(expected),
            Ok(None) => end_instead_of(expected),
            Err(error) => error,
        }
    }

    fn peek(&self) -> Result<Option<Word>, Misread> {
        Words { rest: self.rest }.next()
    }

    fn next(&mut self) -> Result<Option<Word>, Misread> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if let Some(sign) = SIGNS.into_iter().find(|sign| self.rest.starts_with(sign)) {
            self.pass(sign.len());
            return Ok(Some(Word::Sign(sign)));
        }
        if first.is_ascii_digit() {
            return self.number().map(Some);
        }
        let length = length_of_name(self.rest);
        if length == 0 {
            let expected = "a value, a number or a sign";
            return Err(Misread::Expected { expected, found: format!("`{first}`") });
        }
        let name = self.pass(length).to_owned();
        Ok(Some(Word::Name(extent_of_opencl(&name).unwrap_or(name))))
    }

    fn number(&mut self) -> Result<Word, Misread> {
        let end = self.rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let digits = self.pass(end);
        if !digits.bytes().all(|it| it.is_ascii_digit()) {
            return Err(Misread::Expected { expected: "a decimal number", found: format!("`{digits}`") });
        }
        let number: Result<i64, _> = digits.parse();
        number.map(|number| Word::Number(number.into())).map_err(|_| Misread::TooLarge(digits.to_owned()))
    }

    fn pass(&mut self, length: usize) -> &str {
        let (passed, rest) = self.rest.split_at(length);
        self.rest = rest;
        passed
    }
}

fn end_instead_of(expected: &'static str) -> Misread {
    Misread::Expected { expected, found: "the end".to_owned() }
}

fn several_instead_of(expected: &'static str) -> Misread {
    Misread::Expected { expected, found: "a sum or a product".to_owned() }
}

/// Bytes of the name that a text starts with: `pitch`, `s.width`, `d[1]`, `ns::n`, `get_local_size(0)`.
fn length_of_name(text: &str) -> usize {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
    let mut length = text.find(|it: char| !is_part(it)).unwrap_or(text.len());
    for (open, close) in [('[', ']'), ('(', ')')] {
        while length > 0 && text[length..].starts_with(open) {
            let Some(inner) = text[length..].find(close) else { break };
            length += inner + 1;
            length += text[length..].find(|it: char| !is_part(it)).unwrap_or(text.len() - length);
        }
    }
    length
}

/// The name in CUDA of an extent that OpenCL asks a function for.
fn extent_of_opencl(name: &str) -> Option<String> {
    let (function, axis) = name.strip_suffix(')')?.split_once('(')?;
    let letter = ["x", "y", "z"].get(axis.trim().parse::<usize>().ok()?)?;
    let ids = Vocabulary::of(Language::OpenCl).ids;
    let (variable, _) = ids.iter().find(|(_, named)| *named == function)?;
    Some(format!("{variable}.{letter}"))
}

/// `a < b` of integers, said with `<=`: `a + 1 <= b`, and of a number `a <= 15`.
fn strict((mut left, relation, mut right): (Vec<Product>, Relation, Vec<Product>)) -> Said {
    let is_number = |sum: &[Product]| sum.iter().all(|(_, values)| values.is_empty());
    let (smaller, larger) = match relation {
        Relation::AtLeast => (&mut right, &mut left),
        Relation::AtMost | Relation::Is => (&mut left, &mut right),
    };
    if is_number(larger) {
        add(larger, -1);
    } else {
        add(smaller, 1);
    }
    Said::Compare(left, relation, right)
}

/// Adds a number to a sum.
fn add(sum: &mut Vec<Product>, number: i128) {
    match sum.iter_mut().find(|(_, values)| values.is_empty()) {
        Some((own, _)) => *own += number,
        None => sum.push((number, Vec::new())),
    }
    sum.retain(|(factor, _)| *factor != 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Arena<Param> {
        let mut params = Arena::default();
        for name in ["pitch", "width", "s.d[1]"] {
            params.push(Param { name: name.to_owned(), ty: ScalarType::I32 });
        }
        params.push(Param { name: "scale".to_owned(), ty: ScalarType::Opaque { bytes: 4 } });
        params
    }

    fn read(text: &str) -> Result<Condition, String> {
        let phrase: Phrase = text.parse().map_err(|error: Misread| error.to_string())?;
        phrase.condition(&params()).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_are_read_as_they_are_printed() {
        for text in [
            "pitch >= gridDim.x * blockDim.x",
            "2 * pitch + 3 <= width + 7",
            "blockDim.x is a power of two",
            "blockDim.x is a multiple of 32",
            "gridDim.y == 1",
            "s.d[1] >= 0",
            "0 <= pitch",
            "width >= -3",
            "pitch + -2 * width == 0",
        ] {
            assert_eq!(read(text).map(|read| read.words(&params())), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_words_say_the_same() {
        for (other, text) in [
            ("pitch > width", "pitch >= width + 1"),
            ("pitch < width", "pitch + 1 <= width"),
            ("width < 16", "width <= 15"),
            ("16 > width", "15 >= width"),
            ("1 < width", "2 <= width"),
            ("pitch = width", "pitch == width"),
            ("pitch*2>=width-1", "2 * pitch >= width + -1"),
            ("pitch - - width >= 0", "pitch + width >= 0"),
            ("get_local_size(0) <= 256", "blockDim.x <= 256"),
            ("get_num_groups( 2 ) == 1", "gridDim.z == 1"),
            (" width is a power of two ", "width is a power of two"),
        ] {
            assert_eq!(read(other).map(|read| read.words(&params())), Ok(text.to_owned()), "{other}");
        }
    }

    #[test]
    fn what_bounds_a_size_by_itself_or_leaves_no_work_is_not_sayable() {
        for (text, is_sayable) in [
            ("pitch >= gridDim.x * blockDim.x", true),
            ("pitch <= 16", true),
            ("pitch <= 15", false),
            ("pitch <= 0", false),
            ("blockDim.x <= 8", true),
            ("blockDim.x + 15 * pitch <= 16", false),
            ("blockDim.y * pitch <= 47", false),
            ("blockDim.y * pitch <= 1024", true),
            ("pitch + width >= 1", true),
            ("pitch + 3 >= gridDim.y * pitch", false),
        ] {
            assert_eq!(read(text).map(|read| read.is_sayable()), Ok(is_sayable), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_named() {
        for (text, part) in [
            ("", "expected a value or a number, found the end"),
            ("pitch", "`>=`"),
            ("pitch >= ", "found the end"),
            ("pitch >= width >= 3", "expected the end of the condition, found `>=`"),
            ("pitch != 3", "found `!`"),
            ("pitch / 2 >= 3", "found `/`"),
            ("(pitch + 1) * 2 >= 3", "found `(`"),
            ("pitch >= 99999999999999999999", "too large"),
            ("pitch >= 9223372036854775807 * 2", "too large"),
            ("pitch > 9223372036854775807", "too large"),
            ("pitch >= 0x10", "a decimal number"),
            ("pitch is large", "a power of two"),
            ("pitch is a power of three", "of two"),
            ("2 * pitch is a power of two", "one value"),
            ("pitch is a multiple of 0", "multiple of 0"),
            ("pitch is a multiple of width", "a number"),
            ("other >= 3", "no integer parameter `other`; it has pitch, width, s.d[1]"),
            ("scale >= 3", "no integer parameter `scale`"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
