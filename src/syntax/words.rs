//! Words and operators: spellings that every front end reads alike.
//!
//! Deliberately absent: where a word may stand, but for those before `friend`, which the grammar does not know. That is the
//! business of the grammar.

use super::{BinaryOp, Expr, Qualifier};
use crate::source::Language;

/// Whether `text` is one of the words of C's arithmetic types.
pub fn is_arithmetic_word(text: &str) -> bool {
    matches!(
        text,
        "void"
            | "bool"
            | "_Bool"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "unsigned"
            | "__int64"
            | "__int32"
            | "__int16"
            | "__int8"
            | "__signed__"
    )
}

/// The attribute that stands for `noexcept` and `throw()` behind a function's parameters.
const NOEXCEPT: &str = "noexcept";

/// `noexcept`, or `noexcept(condition)`.
pub fn noexcept(condition: Option<Expr>) -> Qualifier {
    Qualifier::Attribute(NOEXCEPT.to_owned(), condition.into_iter().collect())
}

/// The condition under which a function with these qualifiers does not throw; an empty one is met, and without any
/// it may throw.
pub fn noexcept_of(qualifiers: &[Qualifier]) -> Option<&[Expr]> {
    qualifiers.iter().find_map(|qualifier| match qualifier {
        Qualifier::Attribute(name, condition) if name == NOEXCEPT => Some(condition.as_slice()),
        _ => None,
    })
}

/// Those of a function's qualifiers that are part of its type (C++17, [dcl.fct]).
pub fn of_function_type(qualifiers: &[Qualifier]) -> Vec<Qualifier> {
    let is_part = |qualifier: &&Qualifier| matches!(qualifier, Qualifier::Attribute(name, _) if name == NOEXCEPT);
    qualifiers.iter().filter(is_part).cloned().collect()
}

/// The normal spelling of a built-in type from its words; `None` if the words contradict each other.
pub fn builtin_type(words: &[&str]) -> Option<String> {
    let (mut unsigned, mut signed, mut short, mut long) = (0, 0, 0, 0);
    let mut base = None;
    for &word in words {
        match word {
            "unsigned" => unsigned += 1,
            "signed" | "__signed__" | "__signed" => signed += 1,
            "short" | "__int16" => short += 1,
            "long" => long += 1,
            "__int64" => long += 2,
            "__int8" => base = Some("char"),
            "const" | "volatile" | "__volatile__" => {}
            "int" | "__int32" => base = base.or(Some("int")),
            "_Bool" => base = Some("bool"),
            "void" | "bool" | "char" | "float" | "double" => {
                if base.is_some() {
                    return None;
                }
                base = Some(word);
            }
            _ => return None,
        }
    }
    let sign = match (unsigned, signed, base) {
        (1, 0, _) => "unsigned ",
        // `signed char` is a type of its own.
        (0, 1, Some("char")) => "signed ",
        (0, 0 | 1, _) => "",
        _ => return None,
    };
    let size = match (short, long, base) {
        (0, 0, _) => base.unwrap_or("int"),
        (1, 0, None | Some("int")) => "short",
        (0, 1, None | Some("int")) => "long",
        (0, 2, None | Some("int")) => "long long",
        (0, 1, Some("double")) => "long double",
        _ => return None,
    };
    if !sign.is_empty() && matches!(size, "void" | "bool" | "float" | "double" | "long double") {
        return None;
    }
    Some(format!("{sign}{size}"))
}

/// What a word before or after a type means; `None` if it cannot change meaning.
pub fn qualifier(word: &str, language: Language) -> Option<Qualifier> {
    Some(match word {
        "__global__" | "__kernel" => Qualifier::Kernel,
        "kernel" if language == Language::OpenCl => Qualifier::Kernel,
        "__device__" => Qualifier::Device,
        "__host__" => Qualifier::Host,
        "__shared__" | "__local" | "local" => Qualifier::Shared,
        "__constant__" | "__constant" | "constant" => Qualifier::Constant,
        "__global" | "global" => Qualifier::Global,
        "__private" | "private" => Qualifier::Private,
        "__generic" | "generic" => Qualifier::Generic,
        "__managed__" => Qualifier::Managed,
        "extern" => Qualifier::Extern,
        "static" => Qualifier::Static,
        "const" | "__const" | "__const__" => Qualifier::Const,
        "volatile" | "__volatile__" | "__volatile" => Qualifier::Volatile,
        "__restrict__" | "__restrict" | "restrict" => Qualifier::Restrict,
        "constexpr" | "consteval" | "constinit" => Qualifier::Constexpr,
        "virtual" | "override" => Qualifier::Virtual,
        "final" => Qualifier::Final,
        "explicit" => Qualifier::Explicit,
        // With a condition, of C++20: whatever holds, it is none that converts by itself.
        word if word.starts_with("explicit") && word.ends_with(')') => Qualifier::Explicit,
        "inline" | "register" | "" => return None,
        other => Qualifier::Other(other.trim_start_matches("__").to_owned()),
    })
}

/// The qualifier of an attribute. `__shared__` and its kin are macros of CUDA's headers for attributes.
pub fn attribute(name: &str, arguments: Vec<Expr>, language: Language) -> Qualifier {
    let name = name.trim_matches('_');
    match name {
        _ if language == Language::OpenCl || !arguments.is_empty() => {}
        "global" => return Qualifier::Kernel,
        "device" => return Qualifier::Device,
        "host" => return Qualifier::Host,
        "shared" => return Qualifier::Shared,
        "constant" => return Qualifier::Constant,
        "managed" => return Qualifier::Managed,
        _ => {}
    }
    Qualifier::Attribute(name.to_owned(), arguments)
}

/// Whether a word may stand between the start of a member and `friend` or `operator`: `__device__ friend inline void f() {}`.
pub fn is_specifier_of_member(word: &str) -> bool {
    matches!(word, "inline" | "constexpr" | "__inline" | "__inline__" | "__forceinline__" | "__host__" | "__device__")
}

/// The qualifiers of a declaration that belong to its type specifier: in OpenCL the address spaces, too.
pub fn of_the_type(qualifiers: &[Qualifier], language: Language) -> Vec<Qualifier> {
    let belongs = |qualifier: &&Qualifier| match qualifier {
        Qualifier::Const | Qualifier::Volatile | Qualifier::Generic => true,
        Qualifier::Global | Qualifier::Private | Qualifier::Shared | Qualifier::Constant => {
            language == Language::OpenCl
        }
        _ => false,
    };
    qualifiers.iter().filter(belongs).cloned().collect()
}

/// The infix operator of a spelling.
pub fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" | "bitand" => BinaryOp::BitAnd,
        "|" | "bitor" => BinaryOp::BitOr,
        "^" | "xor" => BinaryOp::BitXor,
        "&&" | "and" => BinaryOp::And,
        "||" | "or" => BinaryOp::Or,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "==" => BinaryOp::Eq,
        "!=" | "not_eq" => BinaryOp::Ne,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::builtin_type;

    #[test]
    fn words_of_a_type_have_one_order() {
        let cases = [
            ("long int unsigned", Some("unsigned long")),
            ("unsigned", Some("unsigned int")),
            ("signed", Some("int")),
            ("short int", Some("short")),
            ("long long int", Some("long long")),
            ("int long unsigned long", Some("unsigned long long")),
            ("signed char", Some("signed char")),
            ("unsigned const char", Some("unsigned char")),
            ("long double", Some("long double")),
            ("unsigned float", None),
            ("long long long", None),
            ("float double", None),
        ];
        for (words, expected) in cases {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(builtin_type(&words).as_deref(), expected, "{words:?}");
        }
    }
}
