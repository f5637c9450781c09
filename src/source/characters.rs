//! Character and string literals: the numbers that a spelling stands for, alike in `#if` and in expressions, and the types
//! that its prefix gives them (C++17, [lex.ccon] and [lex.string]).
//!
//! Deliberately absent: `char8_t`, which C++20 has for `u8`, and suffixes that programs define.

/// The type of a character literal, or of the elements of a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterType {
    /// `char`: no prefix, or `u8`.
    Char,
    /// `int`: several characters in one literal.
    Int,
    /// `wchar_t`: `L`.
    Wide,
    /// `char16_t`: `u`.
    Utf16,
    /// `char32_t`: `U`.
    Utf32,
}

/// The value and type of a character literal, `None` if it is malformed.
pub fn character(text: &str) -> Option<(i64, CharacterType)> {
    let (ty, quoted) = prefixed(text);
    let inside = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    let codes = code_units(inside, ty)?;
    match codes.as_slice() {
        // A plain `char` has a sign on the targets that raceproof models.
        [only] if ty == CharacterType::Char && (128..256).contains(only) => Some((only - 256, ty)),
        // And so has `wchar_t`.
        [only] if ty == CharacterType::Wide => Some((i64::from(*only as i32), ty)),
        [only] => Some((*only, ty)),
        // Several characters in one literal are packed, first one highest, into an `int`, as compilers do.
        [_, ..] if text.starts_with('\'') && codes.len() <= 4 => {
            let packed = codes.iter().fold(0_u32, |packed, code| packed << 8 | (*code as u32 & 0xFF));
            Some((i64::from(packed as i32), CharacterType::Int))
        }
        _ => None,
    }
}

/// The type of the elements of a string literal, which may be written in several parts, and their number with the zero
/// behind the last; `None` if it is malformed.
pub fn string(text: &str) -> Option<(CharacterType, u64)> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (ty, quoted) = prefixed(rest);
        let (inside, is_raw, after) = match quoted.strip_prefix('R') {
            Some(quoted) => {
                let (delimiter, body) = quoted.strip_prefix('"')?.split_once('(')?;
                let (inside, after) = body.split_once(&format!("){delimiter}\""))?;
                (inside, true, after)
            }
            None => {
                let body = quoted.strip_prefix('"')?;
                let end = closing_quote(body)?;
                (&body[..end], false, &body[end + 1..])
            }
        };
        parts.push((ty, inside, is_raw));
        rest = after.trim_start();
    }
    // One prefix is for all parts.
    let ty = parts.iter().map(|part| part.0).find(|ty| *ty != CharacterType::Char).unwrap_or(CharacterType::Char);
    let mut elements = 1;
    for (_, inside, is_raw) in parts {
        elements += match is_raw {
            true => inside.chars().map(|character| encoded(character, ty).len()).sum(),
            false => code_units(inside, ty)?.len(),
        };
    }
    Some((ty, elements as u64))
}

/// The type that the prefix of a literal states, and the literal without it.
fn prefixed(text: &str) -> (CharacterType, &str) {
    let prefixes = [
        ("u8", CharacterType::Char),
        ("u", CharacterType::Utf16),
        ("U", CharacterType::Utf32),
        ("L", CharacterType::Wide),
    ];
    let found = prefixes.into_iter().find_map(|(prefix, ty)| Some((ty, text.strip_prefix(prefix)?)));
    found.unwrap_or((CharacterType::Char, text))
}

/// Where the quote is that ends a string.
fn closing_quote(body: &str) -> Option<usize> {
    let mut is_escaped = false;
    body.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// The codes of characters and escape sequences, as many as the literal has elements.
fn code_units(text: &str, ty: CharacterType) -> Option<Vec<i64>> {
    let mut codes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first != '\\' {
            codes.extend(encoded(first, ty));
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (code, after) = escape(&rest[1..])?;
        match rest[1..].starts_with(['u', 'U']) {
            // The name of a character is encoded like the character.
            true => codes.extend(encoded(char::from_u32(u32::try_from(code).ok()?)?, ty)),
            false => codes.push(code),
        }
        rest = after;
    }
    Some(codes)
}

/// The codes of a character: UTF-8 in a plain literal, UTF-16 after `u`.
fn encoded(character: char, ty: CharacterType) -> Vec<i64> {
    match ty {
        CharacterType::Char | CharacterType::Int => character.encode_utf8(&mut [0; 4]).bytes().map(i64::from).collect(),
        CharacterType::Utf16 => character.encode_utf16(&mut [0; 2]).iter().map(|unit| i64::from(*unit)).collect(),
        CharacterType::Wide | CharacterType::Utf32 => vec![i64::from(u32::from(character))],
    }
}

/// What follows a backslash, and what stands behind it.
fn escape(text: &str) -> Option<(i64, &str)> {
    let kind = text.chars().next()?;
    let after = &text[kind.len_utf8()..];
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
        '0'..='7' => radix(text, 8, 3),
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
    use super::{CharacterType, character, string};

    #[test]
    fn characters_have_values() {
        use CharacterType::{Char, Int, Utf16, Utf32, Wide};
        let cases = [
            ("'a'", Some((97, Char))),
            (r"'\n'", Some((10, Char))),
            (r"'\0'", Some((0, Char))),
            (r"'\x41'", Some((65, Char))),
            (r"'\101'", Some((65, Char))),
            (r"'\xff'", Some((-1, Char))),
            (r"'\''", Some((39, Char))),
            ("'ab'", Some((0x6162, Int))),
            (r"'\377\377\377\376'", Some((-2, Int))),
            ("L'é'", Some((0xE9, Wide))),
            ("'é'", Some((0xC3A9, Int))),
            (r"'\u00e9'", Some((0xC3A9, Int))),
            ("u8'a'", Some((97, Char))),
            ("u'é'", Some((0xE9, Utf16))),
            ("U'é'", Some((0xE9, Utf32))),
            (r"L'\xffffffff'", Some((-1, Wide))),
            ("L'ab'", None),
            ("''", None),
            ("'abcde'", None),
        ];
        for (text, expected) in cases {
            assert_eq!(character(text), expected, "{text}");
        }
    }

    #[test]
    fn strings_have_lengths() {
        use CharacterType::{Char, Utf16, Utf32, Wide};
        let cases = [
            (r#""""#, Some((Char, 1))),
            (r#""ab""#, Some((Char, 3))),
            (r#""a" "b""#, Some((Char, 3))),
            (r#""a\0\x41\"\\""#, Some((Char, 6))),
            (r#""é""#, Some((Char, 3))),
            (r#""\u00e9" L"b""#, Some((Wide, 3))),
            (r#"u"é\U0001F600""#, Some((Utf16, 4))),
            (r#"U"é\U0001F600""#, Some((Utf32, 3))),
            (r##"R"x(a\n")" )x" u8"b""##, Some((Char, 8))),
            (r#""a" name"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(string(text), expected, "{text}");
        }
    }
}
