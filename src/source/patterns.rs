//! Patterns of paths, as `.gitignore` has them: one without `/` fits at any depth, `*` stops at `/`, `**` does not, and a directory
//! stands for all below it.
//!
//! Deliberately absent: who states them.

use globset::{GlobBuilder, GlobMatcher};
use std::fmt;
use std::path::{Path, PathBuf};

/// A pattern of paths below a directory, as typed and as it matches.
#[derive(Clone)]
pub struct PathPattern {
    text: String,
    matcher: GlobMatcher,
    root: PathBuf,
}

/// What is wrong with a pattern.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoPattern(String);

impl PathPattern {
    /// The pattern that a text is, below an absolute path.
    pub fn new(text: &str, root: &Path) -> Result<PathPattern, NoPattern> {
        let whole = if text.trim_end_matches('/').contains('/') { text.to_owned() } else { format!("**/{text}") };
        let glob =
            GlobBuilder::new(whole.trim_start_matches("./").trim_end_matches('/')).literal_separator(true).build();
        let glob = glob.map_err(|error| NoPattern(error.kind().to_string()))?;
        Ok(PathPattern { text: text.to_owned(), matcher: glob.compile_matcher(), root: root.to_path_buf() })
    }

    /// As typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a path, or a directory above it, is meant.
    pub fn matches(&self, path: &Path) -> bool {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let Ok(inner) = absolute.strip_prefix(&self.root) else { return false };
        inner.ancestors().any(|path| !path.as_os_str().is_empty() && self.matcher.is_match(path))
    }
}

/// What it matches hangs on nothing else.
impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} below {:?}", self.text, self.root)
    }
}

/// A pattern of names: `*` is any text, `?` any character.
#[derive(Clone)]
pub struct NamePattern {
    text: String,
    matcher: GlobMatcher,
}

impl NamePattern {
    /// The pattern that a text is.
    pub fn new(text: &str) -> Result<NamePattern, NoPattern> {
        let plain: String = text.split_whitespace().collect();
        let glob = GlobBuilder::new(&plain).build().map_err(|error| NoPattern(error.kind().to_string()))?;
        Ok(NamePattern { text: text.to_owned(), matcher: glob.compile_matcher() })
    }

    /// As typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a name is meant, of which namespaces may be left out.
    pub fn matches(&self, name: &str) -> bool {
        let plain: String = name.split_whitespace().collect();
        // What stands between template arguments is no namespace of the name.
        let head = plain.find('<').unwrap_or(plain.len());
        let starts = plain[..head].match_indices("::").map(|(at, _)| at + 2);
        std::iter::once(0).chain(starts).any(|at| self.matcher.is_match(&plain[at..]))
    }
}

/// What it matches hangs on nothing else.
impl fmt::Debug for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_meant_at_any_depth_and_below_directories() {
        let root = Path::new("/repo");
        let fits = |pattern: &str, path: &str| PathPattern::new(pattern, root).unwrap().matches(Path::new(path));
        assert!(fits("a.cu", "/repo/x/a.cu") && fits("x", "/repo/x/a.cu") && fits("x/*.cu", "/repo/x/a.cu"));
        assert!(!fits("x/*.cu", "/repo/x/y/a.cu") && fits("x/**", "/repo/x/y/a.cu") && !fits("a.cu", "/other/a.cu"));
        assert!(PathPattern::new("[", root).is_err());
    }

    #[test]
    fn names_are_meant_with_and_without_their_namespace() {
        let fits = |pattern: &str, name: &str| NamePattern::new(pattern).unwrap().matches(name);
        assert!(fits("saxpy*", "saxpy2") && fits("saxpy*", "math::saxpy") && fits("math::*", "math::saxpy"));
        assert!(fits("k<float, 4>", "ns::k<float,4>") && fits("k<*>", "k<a::b>") && fits("*", "k"));
        assert!(!fits("saxpy", "xsaxpy") && !fits("math::*", "saxpy") && !fits("b>", "k<a::b>"));
        assert!(NamePattern::new("[").is_err());
    }
}
