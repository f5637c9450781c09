//! Kernels in files whose name says nothing of them: headers, C++ sources, and OpenCL that a C++ source keeps in raw strings.
//!
//! Guarantees: what is taken out of raw strings stands at the bytes and lines where it stood, so that places are those of the file.
//!
//! Deliberately absent: understanding the text. A word says that there may be a kernel; whoever reads the file knows.

use super::Language;
use std::borrow::Cow;
use std::ops::Range;

/// The language of the kernels that a text seems to define. Comments at the start of lines and directives do not count.
pub fn language_of_kernels(text: &str) -> Option<Language> {
    let mut found = None;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with(['#', '*']) || line.starts_with("//") {
            continue;
        }
        if has_word(line, "__global__") {
            return Some(Language::Cuda);
        }
        if has_word(line, "__kernel") || is_kernel_void(line) {
            found = Some(Language::OpenCl);
        }
    }
    found
}

/// `kernel void`, as OpenCL C may write it.
fn is_kernel_void(line: &str) -> bool {
    line.strip_prefix("kernel")
        .is_some_and(|rest| rest.starts_with([' ', '\t']) && rest.trim_start().starts_with("void"))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

/// The text with all but OpenCL in raw strings of C++ replaced by spaces, if there are kernels in such strings and none beside them;
/// otherwise as it is.
pub fn out_of_strings(text: &str) -> Cow<'_, str> {
    if !text.contains("R\"") {
        return text.into();
    }
    let strings = raw_strings(text);
    let has_kernels = |range: &Range<usize>| language_of_kernels(&text[range.clone()]) == Some(Language::OpenCl);
    if !strings.iter().any(has_kernels) {
        return text.into();
    }
    let mut inside = String::with_capacity(text.len());
    let mut outside = String::with_capacity(text.len());
    let mut at = 0;
    for range in &strings {
        blank(&text[at..range.start], &mut inside);
        outside.push_str(&text[at..range.start]);
        inside.push_str(&text[range.clone()]);
        at = range.end;
    }
    blank(&text[at..], &mut inside);
    outside.push_str(&text[at..]);
    if language_of_kernels(&outside).is_some() { text.into() } else { inside.into() }
}

/// As many bytes, and the same lines.
fn blank(text: &str, out: &mut String) {
    out.extend(text.bytes().map(|byte| if byte == b'\n' || byte == b'\r' { char::from(byte) } else { ' ' }));
}

/// What stands in the raw strings of a text; one that does not end goes to the end.
fn raw_strings(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("R\"").map(|start| at + start) {
        let open = start + 2;
        let is_prefixed = text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let delimiter = text[open..].find('(').map(|length| &text[open..open + length]);
        let Some(delimiter) =
            delimiter.filter(|it| !is_prefixed && it.len() <= 16 && !it.contains([' ', ')', '\\', '\n', '"']))
        else {
            at = open;
            continue;
        };
        let first = open + delimiter.len() + 1;
        let closing = format!("){delimiter}\"");
        let last = text[first..].find(&closing).map_or(text.len(), |length| first + length);
        found.push(first..last);
        at = (last + closing.len()).min(text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_comments_and_directives_are_no_kernels() {
        assert_eq!(language_of_kernels("#define __global__\n// __global__ void k();\n * __kernel\n"), None);
        assert_eq!(language_of_kernels("template <class T>\n__global__ void k(T *x) {}\n"), Some(Language::Cuda));
        assert_eq!(language_of_kernels("  __kernel void k() {}"), Some(Language::OpenCl));
        assert_eq!(language_of_kernels("kernel void k() {}"), Some(Language::OpenCl));
        assert_eq!(language_of_kernels("int my__global__x; int kernel = 1; kernels void"), None);
    }

    #[test]
    fn opencl_in_raw_strings_stays_where_it_stood() {
        let text =
            "// é\nconst char *s =\nR\"CLC(\n__kernel void k(__global int *x) { x[0] = 1; }\n)CLC\";\nint host;\n";
        let read = out_of_strings(text);
        assert_eq!(read.len(), text.len());
        assert_eq!(read.find("__kernel"), text.find("__kernel"));
        assert_eq!(read.lines().count(), text.lines().count());
        assert!(!read.contains("host") && !read.contains("CLC"));
    }

    #[test]
    fn what_is_no_raw_string_or_has_device_code_beside_it_is_left_alone() {
        for text in [
            "auto s = R\"(no kernel)\";",
            "__global__ void g() {}\nauto s = R\"(__kernel void k() {})\";",
            "FOOR\"(__kernel void k() {})\"",
            "auto s = \"__kernel void k() {}\";",
        ] {
            assert_eq!(out_of_strings(text), text);
        }
    }

    #[test]
    fn parts_of_one_program_are_read_together_and_an_open_end_is_no_harm() {
        let text = "R\"(\nint twice(int a) { return 2 * a; }\n)\"\nR\"(\n__kernel void k() {}\n";
        let read = out_of_strings(text);
        assert!(read.contains("twice") && read.contains("__kernel") && !read.contains('"'));
    }
}
