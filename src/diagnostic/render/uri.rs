//! Paths as URIs.

use std::fmt::Write as _;
use std::path::Path;

/// The path as a URI: relative ones stay relative, to the directory in which raceproof ran.
pub(super) fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let prefix = match text.strip_prefix('/') {
        Some(_) => "file://",
        // A colon in the first segment would end a scheme.
        None if text.split('/').next().is_some_and(|first| first.contains(':')) => "./",
        None => "",
    };
    let mut uri = prefix.to_owned();
    for byte in text.trim_start_matches("./").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'+' | b'@' => {
                uri.push(char::from(byte));
            }
            // Writing to a string does not fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_and_stay_relative() {
        assert_eq!(of_path(Path::new("src/a.cu")), "src/a.cu");
        assert_eq!(of_path(Path::new("./a b#?.cu")), "a%20b%23%3F.cu");
        assert_eq!(of_path(Path::new("/tmp/ä.cl")), "file:///tmp/%C3%A4.cl");
        assert_eq!(of_path(Path::new("<stdin>")), "%3Cstdin%3E");
        assert_eq!(of_path(Path::new("a:b/c.cu")), "./a:b/c.cu");
    }
}
