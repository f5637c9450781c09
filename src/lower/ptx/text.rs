//! The text of a template: what its string literals say, in lines of one instruction, label or brace each.

/// The instructions, labels and braces of a text, without comments; `None` if it has comments that may span lines.
pub(super) fn lines(text: &str) -> Option<Vec<&str>> {
    if text.contains("/*") {
        return None;
    }
    let spoken = text.lines().filter_map(|line| line.split("//").next());
    let lines = spoken.flat_map(|line| line.split(';')).flat_map(parts);
    Some(lines.filter(|line| !line.is_empty()).collect())
}

/// The text that string literals make together.
pub(super) fn spoken(text: &str) -> String {
    let mut spoken = String::new();
    let mut is_inside = !text.contains('"');
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_inside = !is_inside,
            '\\' if is_inside => match letters.next() {
                Some('n') => spoken.push('\n'),
                Some('t') => spoken.push(' '),
                Some(other) => spoken.push(other),
                None => {}
            },
            space if !is_inside && space.is_whitespace() => {}
            other => spoken.push(other),
        }
    }
    spoken
}

/// The braces around instructions, the label and the instruction of a line; not the braces around the lanes of an operand.
fn parts(line: &str) -> Vec<&str> {
    let mut rest = line.trim();
    let mut parts = Vec::new();
    while let Some(inner) = rest.strip_prefix(['{', '}']) {
        parts.push(&rest[..1]);
        rest = inner.trim();
    }
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '%' | '=');
    let label = rest.trim_start_matches(is_name);
    // `shared::cta` is no label.
    if let Some(behind) = label.strip_prefix(':').filter(|behind| label.len() < rest.len() && !behind.starts_with(':'))
    {
        parts.push(&rest[..=rest.len() - label.len()]);
        rest = behind.trim();
    }
    if let Some(before) = rest.strip_suffix('}').filter(|before| !before.contains('{')) {
        parts.extend([before.trim(), "}"]);
    } else if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// How often a name stands in a text.
pub(super) fn mentions(text: &str, name: &str) -> usize {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '%');
    text.split(|letter| !is_part(letter)).filter(|word| *word == name).count()
}
