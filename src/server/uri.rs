//! Paths and URIs.
//!
//! Guarantees: `path(&of_path(p))` is `p` for absolute paths. A text that is no file has a path that no file has.

use crate::source::disk::absolute;
use lsp_types::Uri;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The URI of an absolute path.
pub(super) fn of_path(path: &Path) -> Uri {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' => {
                uri.push(char::from(byte));
            }
            // Writing to a string does not fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    Uri::from_str(&uri).expect("what is escaped is a URI")
}

/// The path of a URI, an absolute one; of a text that is no file, a name with an extension of the language that the editor says.
pub(super) fn path(uri: &Uri, language: &str) -> PathBuf {
    absolute(&named(uri, language))
}

fn named(uri: &Uri, language: &str) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else {
        let name: String = decoded(text).chars().map(|c| if c == '/' { '-' } else { c }).collect();
        return PathBuf::from(format!("{name}.{}", extension(language)));
    };
    // What stands before the path is a host, which is this one.
    let path = decoded(rest.find('/').map_or(rest, |at| &rest[at..]));
    let is_drive = matches!(path.as_bytes(), [b'/', drive, b':', ..] if drive.is_ascii_alphabetic());
    PathBuf::from(if is_drive { &path[1..] } else { &path })
}

fn extension(language: &str) -> &'static str {
    match language {
        "opencl" | "cl" => "cl",
        "hip" => "hip",
        _ => "cu",
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let pair = more.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for text in ["/a/b.cu", "/a b/ü%20[1].cu", "/x/#1?.cl"] {
            assert_eq!(path(&of_path(Path::new(text)), ""), Path::new(text), "{}", of_path(Path::new(text)).as_str());
        }
    }

    #[test]
    fn editors_escape_as_they_like() {
        let of = |text: &str| named(&Uri::from_str(text).unwrap(), "cuda");
        assert_eq!(of("file:///c%3A/a.cu"), Path::new("c:/a.cu"));
        assert_eq!(of("file://localhost/a.cu"), Path::new("/a.cu"));
        assert_eq!(of("untitled:Untitled-1"), Path::new("untitled:Untitled-1.cu"));
    }
}
