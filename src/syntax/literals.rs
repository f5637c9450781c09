//! Numbers and characters: from their spelling to what syntax keeps of them, alike for every front end.

use super::ExprKind;

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

/// The value of a character literal, `None` if it is malformed.
pub fn character(text: &str) -> Option<i64> {
    let inside = text.trim_start_matches(['L', 'u', 'U', '8']).strip_prefix('\'')?.strip_suffix('\'')?;
    let mut value: i64 = 0;
    let mut rest = inside;
    let mut count = 0;
    while !rest.is_empty() {
        let (code, after) = code_unit(rest)?;
        rest = after;
        count += 1;
        // Several characters in one literal are packed, first one highest, as compilers do.
        value = if count == 1 { code } else { (value << 8) | (code & 0xFF) };
        if count > 4 {
            return None;
        }
    }
    // A plain `char` has a sign on the targets that raceproof models.
    let plain = text.starts_with('\'');
    (count > 0).then(|| if count == 1 && plain && (128..256).contains(&value) { value - 256 } else { value })
}

/// The first character or escape sequence, and what follows it.
fn code_unit(text: &str) -> Option<(i64, &str)> {
    let Some(escape) = text.strip_prefix('\\') else {
        let first = text.chars().next()?;
        return Some((first as i64, &text[first.len_utf8()..]));
    };
    let kind = escape.chars().next()?;
    let after = &escape[kind.len_utf8()..];
    let simple = |code: u8| Some((i64::from(code), after));
    match kind {
        'n' => simple(b'\n'),
        't' => simple(b'\t'),
        'r' => simple(b'\r'),
        'a' => simple(7),
        'b' => simple(8),
        'f' => simple(12),
        'v' => simple(11),
        'e' => simple(27),
        'x' => radix(after, 16, usize::MAX),
        'u' => radix(after, 16, 4),
        'U' => radix(after, 16, 8),
        '0'..='7' => radix(escape, 8, 3),
        '\\' | '\'' | '"' | '?' => simple(kind as u8),
        _ => None,
    }
}

fn radix(text: &str, radix: u32, most: usize) -> Option<(i64, &str)> {
    let length = text.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let value = i64::from_str_radix(&text[..length], radix).ok()?;
    Some((value, &text[length..]))
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

    #[test]
    fn characters_have_values() {
        assert_eq!(character("'a'"), Some(97));
        assert_eq!(character(r"'\n'"), Some(10));
        assert_eq!(character(r"'\0'"), Some(0));
        assert_eq!(character(r"'\x41'"), Some(65));
        assert_eq!(character(r"'\xff'"), Some(-1));
        assert_eq!(character(r"'\''"), Some(39));
        assert_eq!(character("'ab'"), Some(0x6162));
        assert_eq!(character("L'é'"), Some(0xE9));
        assert_eq!(character("''"), None);
    }
}
