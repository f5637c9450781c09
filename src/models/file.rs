//! One file of a model as it is read: what library it is of, and what stands in for which headers.
//!
//! ```toml
//! [library]
//! name = "Small"
//! about = "vectors for kernels"
//!
//! [[stand-in]]
//! headers = ["small/*.h", "small/detail/**"]
//! text = '''
//! struct pair { float x, y; };
//! '''
//! ```
//!
//! Guarantees: what is wrong is told with the file, its line and what is meant; a table that is wrong is left out, and the others
//! of the file count. A text keeps its place in the file: its lines are those of the file.
//!
//! Deliberately absent: what the text means, and whether it is right.

use super::StandIn;
use crate::source::LineIndex;
use crate::source::spelling::nearest;
use globset::{GlobBuilder, GlobMatcher};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of the file, of `[library]` and of `[[stand-in]]`.
const KEYS: [&str; 2] = ["library", "stand-in"];
const OF_LIBRARY: [&str; 2] = ["name", "about"];
const OF_STAND_IN: [&str; 2] = ["headers", "text"];
/// What a text stands between, so that its bytes are those of the file.
const QUOTES: &str = "'''";

/// Something that is wrong with a file of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it is shown.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// The bytes of the text that are wrong.
    pub range: Range<usize>,
    /// What is wrong, and what is meant.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = LineIndex::new(&self.text).position(&self.text, self.range.start);
        write!(f, "{}:{}:{}: {}", self.path.display(), at.line, at.column, self.message)
    }
}

/// What a file has that can be used, and what is wrong with the rest.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The path that is shown.
    path: PathBuf,
    /// The whole file.
    text: Arc<str>,
    /// Which headers are meant, and where what is read instead stands.
    stand_ins: Vec<(Vec<GlobMatcher>, Range<usize>)>,
    pub(super) problems: Vec<Problem>,
}

impl Model {
    /// What it has in the place of a header.
    pub(super) fn stand_in(&self, header: &str) -> Option<StandIn> {
        let plain = header.trim_start_matches("./");
        let is_meant = |patterns: &[GlobMatcher]| patterns.iter().any(|pattern| pattern.is_match(plain));
        let number = self.stand_ins.iter().position(|(patterns, _)| is_meant(patterns))?;
        let text = in_place(&self.text, &self.stand_ins[number].1);
        Some(StandIn { path: self.path.clone(), number, text })
    }

    /// The headers that are meant, as they are written.
    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.stand_ins.iter().flat_map(|(patterns, _)| patterns).map(|pattern| pattern.glob().glob())
    }
}

/// Reads the text of a file.
pub(super) fn read(path: &Path, text: &str) -> Model {
    let model = Model { path: path.to_path_buf(), text: Arc::from(text), ..Model::default() };
    let mut reader = Reader { path, text, model };
    match DeTable::parse(text) {
        Ok(table) => reader.file(table.get_ref()),
        Err(error) => reader.complain(error.span().unwrap_or(0..0), error.message()),
    }
    reader.model
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    model: Model,
}

/// What is wrong, and where.
type Wrong = (Range<usize>, String);

impl Reader<'_> {
    fn complain(&mut self, range: Range<usize>, message: impl Into<String>) {
        let (path, text) = (self.path.to_path_buf(), Arc::from(self.text));
        self.model.problems.push(Problem { path, text, range, message: message.into() });
    }

    fn file(&mut self, table: &DeTable<'_>) {
        self.keys(table, &KEYS, "a model");
        match table.get("library").map(|library| (library.get_ref(), library.span())) {
            Some((DeValue::Table(library), at)) => self.library(library, at),
            Some((_, at)) => self.complain(at, "library: a table is wanted, as [library] begins one"),
            None => self.complain(0..0, "say what library this is of: [library] with `name` and `about`"),
        }
        match table.get("stand-in").map(|all| (all.get_ref(), all.span())) {
            Some((DeValue::Array(all), _)) => {
                for each in all.iter() {
                    match self.stand_in(each) {
                        Ok(stand_in) => self.model.stand_ins.push(stand_in),
                        Err((range, message)) => self.complain(range, message),
                    }
                }
            }
            Some((_, at)) => self.complain(at, "stand-in: tables are wanted, each of which [[stand-in]] begins"),
            None => self.complain(0..0, "nothing stands in for a header here: [[stand-in]] with `headers` and `text`"),
        }
    }

    fn library(&mut self, library: &DeTable<'_>, at: Range<usize>) {
        self.keys(library, &OF_LIBRARY, "[library]");
        for key in OF_LIBRARY {
            match library.get(key).map(|value| (value.get_ref(), value.span())) {
                Some((DeValue::String(_), _)) => {}
                Some((_, at)) => self.complain(at, format!("{key}: a text is wanted")),
                None => self.complain(at.clone(), format!("[library] has no `{key}`")),
            }
        }
    }

    /// Complains about keys that nothing asks for.
    fn keys(&mut self, table: &DeTable<'_>, known: &[&str], of: &str) {
        for name in table.keys().filter(|name| !known.contains(&name.get_ref().as_ref())) {
            let meant = nearest(name.get_ref(), known.iter().copied());
            let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
            self.complain(name.span(), format!("there is no key `{}` of {of}{meant}", name.get_ref()));
        }
    }

    fn stand_in(&mut self, each: &Spanned<DeValue<'_>>) -> Result<(Vec<GlobMatcher>, Range<usize>), Wrong> {
        let DeValue::Table(table) = each.get_ref() else {
            return Err((each.span(), "stand-in: tables are wanted, each of which [[stand-in]] begins".to_owned()));
        };
        self.keys(table, &OF_STAND_IN, "[[stand-in]]");
        let headers = table.get("headers").ok_or_else(|| {
            (each.span(), "which headers does it stand in for? give `headers`, for example [\"small/*.h\"]".to_owned())
        })?;
        let DeValue::Array(listed) = headers.get_ref() else {
            return Err((headers.span(), "headers: a list of patterns is wanted".to_owned()));
        };
        let mut patterns = Vec::new();
        for pattern in listed.iter() {
            match matcher(pattern) {
                Ok(matcher) => patterns.push(matcher),
                Err((range, message)) => self.complain(range, message),
            }
        }
        let text = table.get("text").ok_or_else(|| (each.span(), "there is no `text` to read instead".to_owned()))?;
        Ok((patterns, self.place(text)?))
    }

    /// Where the inside of a text stands in the file.
    fn place(&self, text: &Spanned<DeValue<'_>>) -> Result<Range<usize>, Wrong> {
        let at = text.span();
        let written = self.text.get(at.clone()).unwrap_or_default();
        let is_quoted = written.starts_with(QUOTES) && written.ends_with(QUOTES) && written.len() >= 2 * QUOTES.len();
        if !matches!(text.get_ref(), DeValue::String(_)) || !is_quoted {
            let message = format!("text: write it between {QUOTES} and {QUOTES}, so that it stands as it is read");
            return Err((at, message));
        }
        Ok(at.start + QUOTES.len()..at.end - QUOTES.len())
    }
}

/// A file with white space in the place of everything but one text.
fn in_place(file: &str, text: &Range<usize>) -> Arc<str> {
    let blank = |part: &str| -> String {
        part.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }).collect()
    };
    [blank(&file[..text.start]).as_str(), &file[text.clone()], blank(&file[text.end..]).as_str()].concat().into()
}

/// A pattern of names as directives have them: `*` stops at `/`, `**` does not.
fn matcher(pattern: &Spanned<DeValue<'_>>) -> Result<GlobMatcher, Wrong> {
    let DeValue::String(text) = pattern.get_ref() else {
        return Err((pattern.span(), "headers: a text is wanted, for example \"small/*.h\"".to_owned()));
    };
    if !text.contains(|character: char| character.is_alphanumeric()) {
        let message = format!("headers: `{text}` means every header; begin with the directory of the library");
        return Err((pattern.span(), message));
    }
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    let glob = glob.map_err(|error| (pattern.span(), format!("headers: `{text}` is no pattern: {}", error.kind())))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[library]\nname = \"Small\"\nabout = \"é\"\n";

    fn told(text: &str) -> Vec<String> {
        read(Path::new("a.toml"), text).problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_text_stands_in_at_its_place_for_the_headers_of_its_patterns() {
        let text = format!("{HEAD}[[stand-in]]\nheaders = [\"small/*.h\", \"more/**\"]\ntext = '''\nint x;\n'''\n");
        let model = read(Path::new("a.toml"), &text);
        assert!(model.problems.is_empty());
        let found = model.stand_in("small/a.h").unwrap();
        assert_eq!(found.text.find("int x;"), text.find("int x;"));
        assert_eq!(found.text.trim(), "int x;");
        assert_eq!(found.text.lines().count(), text.lines().count());
        let is_meant = |header: &str| model.stand_in(header).is_some();
        assert!(is_meant("more/a/b.cuh") && is_meant("./small/b.h"));
        assert!(!is_meant("small/a/b.h") && !is_meant("other.h") && !is_meant("small.h"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_rest_counts() {
        let good = "[[stand-in]]\nheaders = [\"b.h\"]\ntext = ''' '''\n";
        for (wrong, message) in [
            (
                "[[stand-in]]\nheader = [\"a.h\"]\ntext = ''' '''\n",
                "a.toml:5:1: there is no key `header` of [[stand-in]] (did you mean `headers`?)",
            ),
            ("[[stand-in]]\nheaders = [\"a[\"]\ntext = ''' '''\n", "a.toml:5:12: headers: `a[` is no pattern: "),
            ("[[stand-in]]\nheaders = [\"**\"]\ntext = ''' '''\n", "a.toml:5:12: headers: `**` means every header"),
            ("[[stand-in]]\nheaders = [\"a.h\"]\ntext = \"int x;\"\n", "a.toml:6:8: text: write it between '''"),
            ("[[stand-in]]\nheaders = [\"a.h\"]\n", "a.toml:4:1: there is no `text`"),
            ("[stand]\n", "a.toml:4:2: there is no key `stand` of a model"),
        ] {
            let text = format!("{HEAD}{wrong}{good}");
            let told = told(&text);
            assert!(told.iter().any(|told| told.starts_with(message)), "{message}: {told:?}");
            assert!(read(Path::new("a.toml"), &text).stand_in("b.h").is_some(), "{message}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        assert!(told("").iter().any(|told| told.contains("[library] with `name`")));
        assert!(told(HEAD).iter().any(|told| told.contains("[[stand-in]] with `headers`")));
        assert_eq!(told("[library\n").len(), 1);
        assert!(told("[library]\nname = \"a\"\n").iter().any(|told| told.contains("has no `about`")));
    }
}
