//! Source excerpts for `codespan-reporting`, of bounded size.
//!
//! codespan prints every labelled line whole, even one of 10 MB. It is therefore never shown the file, only
//! views that hold the labelled lines and, of long ones, a window around the labels. Line and column numbers
//! stay those of the file. Labels that do not fit into one window get views of their own.
//!
//! Invariants: a view's text has no control characters other than tabs; a range of several lines is cut at
//! the end of its first one.

use super::printable;
use crate::source::{SourceMap, Span};
use codespan_reporting::diagnostic::{Label, LabelStyle};
use codespan_reporting::files::{Error, Files};
use std::ops::Range;

/// Lines up to this many bytes are shown whole.
const WHOLE_LINE: usize = 240;
/// Bytes that are shown before the first label of a long line.
const BEFORE: usize = 60;
/// Bytes of a long line that are shown altogether.
const WINDOW: usize = 200;

/// The excerpts of one diagnostic.
#[derive(Default)]
pub(super) struct Snippets {
    views: Vec<View>,
    labels: Vec<Label<usize>>,
}

struct View {
    file: crate::source::FileId,
    name: String,
    text: String,
    lines: Vec<ViewLine>,
}

struct ViewLine {
    /// Line in the file, from 1.
    number: usize,
    /// Its range in the view's text.
    range: Range<usize>,
    /// The part of the file that it shows.
    window: Range<usize>,
    /// Bytes of the ellipsis before the window.
    lead: usize,
    /// Column in the file, from 1, of the window's first character.
    column: usize,
}

impl Snippets {
    /// Adds a label over the visible part of `span`.
    pub(super) fn label(&mut self, sources: &SourceMap, span: Span, style: LabelStyle, text: &str) {
        let span = sources.visible(span);
        let line = LineOf::new(sources, span);
        let (view, at) = self.view_line(sources, span, &line);
        let shown = &self.views[view].lines[at];
        let start = shown.range.start + shown.lead + (line.span.start - shown.window.start);
        let length = line.span.end.min(shown.window.end).saturating_sub(line.span.start);
        self.labels.push(Label::new(style, view, start..start + length).with_message(printable(text)));
    }

    /// The labels, for a diagnostic.
    pub(super) fn labels(&self) -> Vec<Label<usize>> {
        self.labels.clone()
    }

    /// Shows lines that stand alone between two labelled ones; codespan asks for them.
    pub(super) fn fill_gaps(&mut self, sources: &SourceMap) {
        for view in &mut self.views {
            let mut numbers: Vec<usize> = view.lines.iter().map(|line| line.number).collect();
            numbers.sort_unstable();
            for pair in numbers.windows(2).filter(|pair| pair[1] - pair[0] == 2) {
                let source = sources.file(view.file);
                let start = source.lines.line_start(pair[0] as u32 + 1).unwrap_or(source.text.len());
                let line = LineOf::new(sources, Span::new(view.file, start, start));
                view.push(&source.text, &line);
            }
        }
    }

    /// The view and line that show `line`, made if none does.
    fn view_line(&mut self, sources: &SourceMap, span: Span, line: &LineOf) -> (usize, usize) {
        for (index, view) in self.views.iter().enumerate().filter(|(_, view)| view.file == span.file) {
            match view.lines.iter().position(|shown| shown.number == line.number) {
                Some(at) if view.lines[at].shows(&line.span) => return (index, at),
                Some(_) => {}
                None => {
                    self.views[index].push(&sources.file(span.file).text, line);
                    return (index, self.views[index].lines.len() - 1);
                }
            }
        }
        let source = sources.file(span.file);
        let name = printable(&source.path.to_string_lossy()).into_owned();
        let mut view = View { file: span.file, name, text: String::new(), lines: Vec::new() };
        view.push(&source.text, line);
        self.views.push(view);
        (self.views.len() - 1, 0)
    }
}

/// A span cut to its first line, with that line.
struct LineOf {
    number: usize,
    range: Range<usize>,
    span: Range<usize>,
}

impl LineOf {
    fn new(sources: &SourceMap, span: Span) -> LineOf {
        let file = sources.file(span.file);
        let text = file.text.as_ref();
        let start = floor_boundary(text, span.start as usize);
        let number = file.lines.position(text, start).line;
        let line_start = file.lines.line_start(number).unwrap_or(0);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let line_end = line_start + text[line_start..line_end].trim_end_matches('\r').len();
        let start = start.min(line_end);
        let end = floor_boundary(text, span.end as usize).clamp(start, line_end);
        LineOf { number: number as usize, range: line_start..line_end, span: start..end }
    }

    /// The part of the line that is shown.
    fn window(&self, text: &str) -> Range<usize> {
        if self.range.len() <= WHOLE_LINE {
            return self.range.clone();
        }
        let start = self.span.start.saturating_sub(BEFORE).max(self.range.start);
        let end = (start + WINDOW).min(self.range.end);
        floor_boundary(text, start)..floor_boundary(text, end)
    }
}

impl ViewLine {
    /// Whether a label over `span` can be drawn: at least its start is in the window.
    fn shows(&self, span: &Range<usize>) -> bool {
        self.window.start <= span.start && span.start <= self.window.end
    }
}

impl View {
    fn push(&mut self, text: &str, line: &LineOf) {
        let window = line.window(text);
        let (before, after) = (window.start > line.range.start, window.end < line.range.end);
        let start = self.text.len();
        if before {
            self.text.push('…');
        }
        let lead = self.text.len() - start;
        // Every character keeps its length, so that ranges can be shifted instead of mapped.
        for c in text[window.clone()].chars() {
            if c.is_control() && c != '\t' {
                self.text.extend(std::iter::repeat_n('?', c.len_utf8()));
            } else {
                self.text.push(c);
            }
        }
        if after {
            self.text.push('…');
        }
        let column = text[line.range.start..window.start].chars().count() + 1;
        self.lines.push(ViewLine { number: line.number, range: start..self.text.len(), window, lead, column });
        self.text.push('\n');
    }

    fn line(&self, index: usize) -> Result<&ViewLine, Error> {
        let missing = Error::LineTooLarge { given: index, max: self.lines.len() };
        self.lines.iter().find(|line| line.number == index + 1).ok_or(missing)
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

impl<'a> Files<'a> for Snippets {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        self.views.get(id).map(|view| view.name.as_str()).ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        self.views.get(id).map(|view| view.text.as_str()).ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: usize, byte_index: usize) -> Result<usize, Error> {
        let view = self.views.get(id).ok_or(Error::FileMissing)?;
        let line = view.lines.iter().find(|line| byte_index <= line.range.end).or(view.lines.last());
        line.map(|line| line.number - 1).ok_or(Error::FileMissing)
    }

    fn column_number(&'a self, id: usize, line_index: usize, byte_index: usize) -> Result<usize, Error> {
        let view = self.views.get(id).ok_or(Error::FileMissing)?;
        let line = view.line(line_index)?;
        let start = line.range.start + line.lead;
        Ok(line.column + view.text[start..byte_index.max(start)].chars().count())
    }

    fn line_range(&'a self, id: usize, line_index: usize) -> Result<Range<usize>, Error> {
        Ok(self.views.get(id).ok_or(Error::FileMissing)?.line(line_index)?.range.clone())
    }
}
