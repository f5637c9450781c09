//! S-expressions of a solver's answer, and the values in them.
//!
//! Bounded: text nested deeper than [`DEPTH`] is refused, so no answer overflows the stack.

use super::Value;

/// Nesting beyond which an answer is refused.
const DEPTH: usize = 64;

/// An S-expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sexpr {
    /// A token; quoted symbols and strings keep their quotes.
    Atom(String),
    /// A list.
    List(Vec<Sexpr>),
}

/// All expressions of `text`; `None` if it is not well-formed.
pub(super) fn parse(text: &str) -> Option<Vec<Sexpr>> {
    let mut stack: Vec<Vec<Sexpr>> = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_whitespace() => {}
            ';' => while rest.next().is_some_and(|c| c != '\n') {},
            '(' => {
                if stack.len() > DEPTH {
                    return None;
                }
                stack.push(Vec::new());
            }
            ')' => {
                let list = stack.pop()?;
                stack.last_mut()?.push(Sexpr::List(list));
            }
            '|' | '"' => {
                let mut token = String::from(c);
                loop {
                    let next = rest.next()?;
                    token.push(next);
                    if next == c {
                        break;
                    }
                }
                stack.last_mut()?.push(Sexpr::Atom(token));
            }
            c => {
                let mut token = String::from(c);
                while let Some(&next) = rest.peek()
                    && !next.is_whitespace()
                    && !matches!(next, '(' | ')' | ';' | '"')
                {
                    token.push(next);
                    rest.next();
                }
                stack.last_mut()?.push(Sexpr::Atom(token));
            }
        }
    }
    let all = stack.pop()?;
    stack.is_empty().then_some(all)
}

/// The values of a `get-value` answer: of `((t1 v1) (t2 v2) …)` the second parts.
pub(super) fn values(text: &str) -> Option<Vec<Value>> {
    let answer = parse(text)?;
    let [Sexpr::List(pairs)] = answer.as_slice() else { return None };
    let each = pairs.iter().map(|pair| match pair {
        Sexpr::List(parts) if parts.len() == 2 => value(&parts[1]),
        _ => None,
    });
    each.collect()
}

/// `true`, `7`, `(- 7)`, `#x1f`, `#b101`, `(_ bv7 32)`.
fn value(text: &Sexpr) -> Option<Value> {
    match text {
        Sexpr::Atom(token) => match token.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            token => {
                if let Some(digits) = token.strip_prefix("#x") {
                    u128::from_str_radix(digits, 16).ok().map(Value::Bits)
                } else if let Some(digits) = token.strip_prefix("#b") {
                    u128::from_str_radix(digits, 2).ok().map(Value::Bits)
                } else {
                    token.parse().ok().map(Value::Int)
                }
            }
        },
        Sexpr::List(parts) => match parts.as_slice() {
            [Sexpr::Atom(minus), inner] if minus == "-" => match value(inner)? {
                Value::Int(number) => Some(Value::Int(number.checked_neg()?)),
                _ => None,
            },
            [Sexpr::Atom(underscore), Sexpr::Atom(bits), Sexpr::Atom(_)] if underscore == "_" => {
                bits.strip_prefix("bv")?.parse().ok().map(Value::Bits)
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_every_notation() {
        let text = "((|x!1| 7) (|a b!2| (- 3))\n (y #xfF) (z #b101) (w (_ bv9 32)) (p true) ((f 1) false))";
        let wanted = [
            Value::Int(7),
            Value::Int(-3),
            Value::Bits(255),
            Value::Bits(5),
            Value::Bits(9),
            Value::Bool(true),
            Value::Bool(false),
        ];
        assert_eq!(values(text).unwrap(), wanted);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in
            ["", "sat", "((x 1)", "((x 1)))", "((x y))", "((x 1 2))", "((x (/ 1 2)))", "((x |1))", "((x (- 1 2)))"]
        {
            assert_eq!(values(text), None, "{text}");
        }
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        assert_eq!(parse(&deep), None);
    }
}
