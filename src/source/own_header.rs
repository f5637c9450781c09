//! raceproof's own header: annotations as macros that every compiler accepts (`include/raceproof.h`).
//!
//! The text is a part of the program, so that `#include "raceproof.h"` means the same wherever raceproof reads it, whether
//! or not an include path leads to a copy of it.
//!
//! Guarantees: [`forms`] are what the text says, since they are read from it.
//!
//! Deliberately absent: what annotations mean (`builtins`), and where copies for compilers are put (`driver::store`).

use super::SourceFile;
use std::path::Path;

/// The name by which programs include it.
pub const NAME: &str = "raceproof.h";
/// What stands in the place of its path, where no include path led to a copy.
pub const PATH: &str = "<raceproof.h>";
/// Its text.
pub const TEXT: &str = include_str!("../../include/raceproof.h");
/// The macro by which a text knows that raceproof reads it, or has instrumented it.
pub const READER: &str = "__RACEPROOF__";
/// The macro that is 0 where raceproof reads, and 1 in texts that it has instrumented: a compiler reads these, for which
/// annotations have to vanish.
pub const INSTRUMENTED: &str = "__RACEPROOF_INSTRUMENTED__";

/// What copies of any version have in them, and no other header.
const MARK: &str = "!__RACEPROOF_INSTRUMENTED__";

/// The value of [`READER`]: 10000 * major + 100 * minor + patch.
pub fn version() -> u32 {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    10_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// Whether a file is this header, or a copy of one that another version wrote.
pub fn is_own(file: &SourceFile) -> bool {
    is_named(&file.path) && (file.path.ends_with(PATH) || file.text.contains(MARK))
}

/// Whether a file is called like this header.
pub fn is_named(path: &Path) -> bool {
    path.ends_with(PATH) || path.ends_with(NAME)
}

/// The macros, each with the annotation that it is to raceproof.
pub fn forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    let word = |text: &'static str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
    let defined = TEXT.lines().filter_map(|line| line.strip_prefix("#define "));
    defined.filter_map(move |line| {
        let name = word(line);
        let rest = &line[name.len()..];
        let body = match rest.strip_prefix('(') {
            Some(parameters) => parameters.split_once(") ")?.1,
            None => rest.trim_start(),
        };
        // Names that end so are the header's own.
        (body.starts_with("__") && !name.ends_with('_')).then(|| (name, word(body)))
    })
}

/// A definition of a macro with parameters that does nothing; what is inside another one's brackets is gone with it.
pub fn empty(name: &str) -> Option<String> {
    let start = format!("#define {name}(");
    let head = TEXT.lines().find(|line| line.starts_with(&start))?.split_once(") ")?.0;
    Some(format!("{head}) ((void)0)"))
}

/// The macro that stands for an annotation, if one does.
pub fn macro_of(form: &str) -> Option<&'static str> {
    forms().find(|(_, known)| *known == form).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_from_the_text() {
        let forms: Vec<_> = forms().collect();
        for form in [
            ("RACEPROOF_ASSUME", "__assume"),
            ("RACEPROOF_IF_THEN_ELSE", "__ite"),
            ("RACEPROOF_ENABLED", "__enabled"),
            ("RACEPROOF_SAME_GROUP", "__same_group"),
        ] {
            assert!(forms.contains(&form), "{form:?} in {forms:?}");
        }
        assert!(forms.iter().all(|(name, _)| name.starts_with("RACEPROOF_") && !name.ends_with('_')), "{forms:?}");
        assert_eq!(macro_of("__distinct_value"), Some("RACEPROOF_DISTINCT"));
        assert_eq!(macro_of("__host__"), None);
        assert_eq!(empty("RACEPROOF_IMPLIES").as_deref(), Some("#define RACEPROOF_IMPLIES(a, b) ((void)0)"));
        assert_eq!(empty("RACEPROOF_SAME_GROUP"), None);
    }

    #[test]
    fn each_macro_is_defined_for_raceproof_and_for_compilers_with_the_same_parameters() {
        let defined = |text: &'static str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("#define RACEPROOF_"));
            let heads = lines.map(|line| match line.split_once('(').filter(|(name, _)| !name.contains(' ')) {
                Some(_) => line.split_once(')').map_or(line, |(head, _)| head),
                None => line.split(' ').next().unwrap_or(line),
            });
            // Names that end so are the header's own.
            heads.filter(|head| !head.split('(').next().unwrap_or(head).ends_with('_')).collect::<Vec<_>>()
        };
        let (own, others) = TEXT.split_once("\n#else\n").unwrap();
        let own: Vec<_> = defined(own).into_iter().filter(|head| *head != "H").collect();
        assert_eq!(own.len(), forms().count());
        assert_eq!(own, defined(others));
    }

    #[test]
    fn copies_are_known_and_other_headers_of_the_name_are_not() {
        let file = |path: &str, text: &str| {
            let mut sources = crate::source::SourceMap::new();
            let file = sources.add_file(path, text);
            sources.file(file).clone()
        };
        assert!(is_own(&file(PATH, TEXT)) && is_own(&file("/a/include/raceproof.h", TEXT)));
        assert!(!is_own(&file("/a/include/raceproof.h", "int own;")) && !is_own(&file("other.h", TEXT)));
    }
}
