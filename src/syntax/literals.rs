//! Numbers and characters: from their spelling to what syntax keeps of them, alike for every front end.

use super::ExprKind;

pub use crate::source::{CharacterType, character, string};

/// The expression that a number is; a number that does not fit is none.
pub fn number(text: &str) -> ExprKind {
    let lower: String = text.chars().filter(|&character| character != '\'').collect::<String>().to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    let is_float =
        if is_hex { lower.contains(['.', 'p']) } else { lower.contains(['.', 'e']) || lower.ends_with(['f', 'h']) };
    if is_float {
        return ExprKind::Float(text.to_owned());
    }
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let Some(suffix) = normalized_suffix(&lower[digits.len()..]) else {
        return ExprKind::Unsupported(format!("literal `{text}`"));
    };
    let (value, decimal) = if let Some(hex) = digits.strip_prefix("0x") {
        (u64::from_str_radix(hex, 16), false)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        (u64::from_str_radix(binary, 2), false)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (u64::from_str_radix(&digits[1..], 8), false)
    } else {
        (digits.parse(), true)
    };
    match value {
        Ok(value) => ExprKind::Int { value, suffix: suffix.to_owned(), decimal },
        Err(_) => ExprKind::Unsupported(format!("literal `{text}`")),
    }
}

fn normalized_suffix(suffix: &str) -> Option<&'static str> {
    Some(match suffix {
        "" => "",
        "u" => "u",
        "l" => "l",
        "ul" | "lu" | "uz" | "zu" | "z" => "ul",
        "ll" => "ll",
        "ull" | "llu" => "ull",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u64, suffix: &str, decimal: bool) -> String {
        format!("{:?}", ExprKind::Int { value, suffix: suffix.to_owned(), decimal })
    }

    #[test]
    fn integers_keep_value_suffix_and_base() {
        assert_eq!(format!("{:?}", number("42")), int(42, "", true));
        assert_eq!(format!("{:?}", number("0xFFu")), int(255, "u", false));
        assert_eq!(format!("{:?}", number("0b1'01")), int(5, "", false));
        assert_eq!(format!("{:?}", number("017LLU")), int(15, "ull", false));
        assert_eq!(format!("{:?}", number("0")), int(0, "", true));
        assert_eq!(format!("{:?}", number("18446744073709551615ul")), int(u64::MAX, "ul", true));
        assert!(matches!(number("18446744073709551616"), ExprKind::Unsupported(_)));
        assert!(matches!(number("089"), ExprKind::Unsupported(_)));
    }

    #[test]
    fn floats_stay_as_written() {
        for text in ["1.0f", "1e5", "0x1.8p3", "3.f", ".5", "1.0h"] {
            assert!(matches!(number(text), ExprKind::Float(kept) if kept == text), "{text}");
        }
        assert!(matches!(number("0x1e5"), ExprKind::Int { value: 0x1e5, .. }));
        assert!(matches!(number("0x1f"), ExprKind::Int { value: 0x1f, .. }));
    }
}
