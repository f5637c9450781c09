//! Character literals: the number that a spelling stands for, alike in `#if` and in expressions.

/// The value of a character literal, `None` if it is malformed.
pub fn character(text: &str) -> Option<i64> {
    let inside = text.trim_start_matches(['L', 'u', 'U', '8']).strip_prefix('\'')?.strip_suffix('\'')?;
    let is_plain = text.starts_with('\'');
    let codes = code_units(inside, is_plain)?;
    match codes.as_slice() {
        // A plain `char` has a sign on the targets that raceproof models.
        [only] if is_plain && (128..256).contains(only) => Some(only - 256),
        [only] => Some(*only),
        // Several characters in one literal are packed, first one highest, into an `int`, as compilers do.
        [_, ..] if is_plain && codes.len() <= 4 => {
            let packed = codes.iter().fold(0_u32, |packed, code| packed << 8 | (*code as u32 & 0xFF));
            Some(i64::from(packed as i32))
        }
        _ => None,
    }
}

/// The codes of characters and escape sequences; of a plain literal those of the bytes of UTF-8.
fn code_units(text: &str, is_plain: bool) -> Option<Vec<i64>> {
    let mut codes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '\\' {
            let (code, after) = escape(&rest[1..])?;
            codes.push(code);
            rest = after;
            continue;
        }
        if is_plain {
            codes.extend(first.encode_utf8(&mut [0; 4]).bytes().map(i64::from));
        } else {
            codes.push(i64::from(u32::from(first)));
        }
        rest = &rest[first.len_utf8()..];
    }
    Some(codes)
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
    use super::character;

    #[test]
    fn characters_have_values() {
        let cases = [
            ("'a'", Some(97)),
            (r"'\n'", Some(10)),
            (r"'\0'", Some(0)),
            (r"'\x41'", Some(65)),
            (r"'\101'", Some(65)),
            (r"'\xff'", Some(-1)),
            (r"'\''", Some(39)),
            ("'ab'", Some(0x6162)),
            (r"'\377\377\377\376'", Some(-2)),
            ("L'é'", Some(0xE9)),
            ("'é'", Some(0xC3A9)),
            ("''", None),
            ("'abcde'", None),
        ];
        for (text, expected) in cases {
            assert_eq!(character(text), expected, "{text}");
        }
    }
}
