//! The comments of a text that suppress findings, and what each is about.
//!
//! A comment is about the line that it stands in, or the next one with code where it stands alone; about the kernel that it
//! stands in or above; or about its file. Lines of the preprocessor (`#pragma unroll`) are no code here.
//!
//! Guarantees: what looks like a comment within a string is none; of a header that is included twice each comment is there once.
//! Deliberately absent: what comments reach.

use super::comment::{MARK, Word, said};
use crate::diagnostic::suppression::{Comment, Named, Reach};
use crate::preprocess::{Pieces, normalized, pieces};
use crate::source::{FileId, Language, SourceFile, SourceMap, Span};
use std::ops::Range;

/// The comments of all files that a unit was read from; `kernels` are the places of their names, `skipped` is what `#if` left out.
pub fn comments(sources: &SourceMap, language: Language, kernels: &[Span], skipped: &[Span]) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    for (id, file) in sources.files().filter(|(_, file)| file.text.contains(MARK)) {
        let text = Text { id, file, pieces: pieces(&file.text, language) };
        let names: Vec<Span> =
            kernels.iter().map(|&kernel| sources.visible(kernel)).filter(|kernel| kernel.file == id).collect();
        for comment in text.comments(&names, skipped) {
            let path = |span: Span| normalized(&sources.file(span.file).path);
            let is_it =
                |known: &&mut Comment| known.span.start == comment.span.start && path(known.span) == path(comment.span);
            match found.iter_mut().find(is_it) {
                Some(known) => {
                    known.is_read |= comment.is_read;
                    if known.reach == Reach::Kernel(None) {
                        known.reach = comment.reach;
                    }
                }
                None => found.push(comment),
            }
        }
    }
    found
}

/// A text in its pieces.
struct Text<'a> {
    id: FileId,
    file: &'a SourceFile,
    pieces: Pieces,
}

impl Text<'_> {
    fn comments(&self, kernels: &[Span], skipped: &[Span]) -> Vec<Comment> {
        self.pieces.comments.iter().filter_map(|range| self.comment(range, kernels, skipped)).collect()
    }

    fn comment(&self, range: &Range<usize>, kernels: &[Span], skipped: &[Span]) -> Option<Comment> {
        let said = said(self.file.text.get(range.clone())?)?;
        let span = |range: Range<usize>| Span::new(self.id, range.start, range.end);
        let named = |name: &Range<usize>| {
            let name = range.start + name.start..range.start + name.end;
            Named { name: self.file.text[name.clone()].to_owned(), span: span(name) }
        };
        let start = range.start as u32;
        let is_left_out = |place: &&Span| place.file == self.id && place.start <= start && start < place.end;
        Some(Comment {
            span: span(range.clone()),
            removal: span(self.removal(range)),
            reach: match said.word {
                Word::Line => Reach::Line(self.line_about(range)),
                Word::Kernel => Reach::Kernel(self.kernel_at(range, kernels)),
                Word::File => Reach::File,
            },
            rules: said.rules.iter().map(named).collect(),
            reason: said.reason,
            slip: said.slip,
            is_read: !skipped.iter().any(|place| is_left_out(&place)),
        })
    }

    fn line(&self, at: usize) -> u32 {
        self.file.lines.position(&self.file.text, at).line
    }

    fn text(&self, token: usize) -> &str {
        self.pieces.tokens.get(token).and_then(|range| self.file.text.get(range.clone())).unwrap_or_default()
    }

    /// The number of the first token that starts at a byte or behind it.
    fn from(&self, at: usize) -> usize {
        self.pieces.tokens.partition_point(|token| token.start < at)
    }

    fn is_of_preprocessor(&self, token: usize) -> bool {
        let line = self.pieces.tokens.get(token).map_or(0, |range| self.line(range.start));
        let first = (0..=token).rev().take_while(|&it| self.line(self.pieces.tokens[it].start) == line).last();
        first.is_some_and(|first| matches!(self.text(first), "#" | "%:"))
    }

    /// The line of code that a comment is about.
    fn line_about(&self, comment: &Range<usize>) -> u32 {
        let (first, last) = (self.line(comment.start), self.line(comment.end.saturating_sub(1)));
        let next = self.from(comment.end);
        let is_behind_code = next > 0 && self.line(self.pieces.tokens[next - 1].end.saturating_sub(1)) == first;
        if is_behind_code {
            return first;
        }
        let code = (next..self.pieces.tokens.len()).find(|&token| !self.is_of_preprocessor(token));
        code.map_or(last, |token| self.line(self.pieces.tokens[token].start))
    }

    /// The line of the name of the kernel that a comment stands in or above.
    fn kernel_at(&self, comment: &Range<usize>, kernels: &[Span]) -> Option<u32> {
        let holds = |kernel: &&Span| {
            self.extent(**kernel).is_some_and(|extent| extent.start <= comment.start && comment.end <= extent.end)
        };
        kernels.iter().find(holds).map(|kernel| self.line(kernel.start as usize))
    }

    /// A kernel from the end of what stands before its declaration to the end of its body.
    fn extent(&self, name: Span) -> Option<Range<usize>> {
        let at = self.from(name.start as usize);
        let ends = |&token: &usize| {
            matches!(self.text(token), ";" | "{" | "}" | "<%" | "%>") || self.is_of_preprocessor(token)
        };
        let start = (0..at).rev().find(ends).map_or(0, |token| self.pieces.tokens[token].end);
        let open = (at..self.pieces.tokens.len()).find(|&token| matches!(self.text(token), ";" | "{" | "<%"))?;
        let end = match self.text(open) {
            ";" => self.pieces.tokens[open].end,
            _ => self.closing(open),
        };
        Some(start..end)
    }

    /// The end of the body that this token opens; of the text if nothing closes it.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for token in open..self.pieces.tokens.len() {
            match self.text(token) {
                "{" | "<%" => depth += 1,
                "}" | "%>" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.pieces.tokens[token].end;
            }
        }
        self.file.text.len()
    }

    /// What goes when a comment is taken away.
    fn removal(&self, comment: &Range<usize>) -> Range<usize> {
        let text = &*self.file.text;
        let blanks = |c: char| c == ' ' || c == '\t';
        let before = text[..comment.start].trim_end_matches(blanks);
        let after = text[comment.end..].trim_start_matches(blanks);
        let begins_line = before.is_empty() || before.ends_with('\n');
        let line_end = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'));
        match (begins_line, line_end) {
            (true, Some(rest)) => before.len()..text.len() - rest.len(),
            (true, None) => comment.start..text.len() - after.len(),
            (false, _) => before.len()..comment.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each comment of a text: what it is about, and the text without it.
    fn seen(text: &str) -> Vec<(Reach, String)> {
        let mut sources = SourceMap::new();
        let id = sources.add_file("a.cu", text);
        let name = |at: usize| Span::new(id, at, at + 1);
        let kernels: Vec<Span> = text.match_indices("k(").map(|(at, _)| name(at)).collect();
        let without = |comment: &Comment| {
            let mut text = text.to_owned();
            text.replace_range(comment.removal.start as usize..comment.removal.end as usize, "");
            text
        };
        let found = comments(&sources, Language::Cuda, &kernels, &[]);
        found.iter().map(|comment| (comment.reach, without(comment))).collect()
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_next_one_with_code() {
        assert_eq!(seen("a; // raceproof: ignore[x] y\nb;\n"), [(Reach::Line(1), "a;\nb;\n".to_owned())]);
        let above = "a;\n  // raceproof: ignore[x] y\n  // more\n\n#pragma unroll\nb;\n";
        assert_eq!(seen(above), [(Reach::Line(6), "a;\n  // more\n\n#pragma unroll\nb;\n".to_owned())]);
        let within = "a; /* raceproof: ignore[x] y */ b;\n/* raceproof: ignore[x] y */ c;\n";
        assert_eq!(seen(within).iter().map(|it| it.0).collect::<Vec<_>>(), [Reach::Line(1), Reach::Line(2)]);
        assert_eq!(seen(within)[1].1, "a; /* raceproof: ignore[x] y */ b;\nc;\n");
        assert_eq!(seen("char *s = \"// raceproof: ignore[x] y\";"), []);
    }

    #[test]
    fn a_comment_is_about_the_kernel_that_it_stands_in_or_above() {
        let mark = "// raceproof: ignore-kernel[x] y\n";
        let text = |above: &str, inside: &str, below: &str| {
            format!("int n;\n{above}__global__ void k(int *a) {{ if (a) {{}}\n{inside}}}\n{below}void f() {{}}\n")
        };
        assert_eq!(seen(&text(mark, "", ""))[0].0, Reach::Kernel(Some(3)));
        assert_eq!(seen(&text("", mark, ""))[0].0, Reach::Kernel(Some(2)));
        assert_eq!(seen(&text("", "", mark))[0].0, Reach::Kernel(None));
        assert_eq!(seen("// raceproof: ignore-file[x] y\n")[0].0, Reach::File);
    }

    #[test]
    fn text_that_is_left_out_is_known() {
        let text = "#if 0\na; // raceproof: ignore[x] y\n#endif\n";
        let mut sources = SourceMap::new();
        let id = sources.add_file("a.cu", text);
        let skipped = [Span::new(id, 6, 36)];
        assert!(!comments(&sources, Language::Cuda, &[], &skipped)[0].is_read);
        assert!(comments(&sources, Language::Cuda, &[], &[])[0].is_read);
    }
}
