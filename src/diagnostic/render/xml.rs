//! Text within XML and HTML, whatever it holds.
//!
//! Deliberately absent: elements and attributes, which each format writes itself.

use super::printable;

/// `text` within an attribute or an element. Two characters that are no control characters are none of XML, either.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            other => escaped.push(other),
        }
    }
    escaped
}
