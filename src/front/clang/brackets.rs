//! Which bracket closes which.

use crate::preprocess::Output;

/// The brackets of a unit.
#[derive(Debug)]
pub(super) struct Brackets {
    /// For each opening bracket the token that closes it; the number of tokens for all others.
    closing: Vec<u32>,
    /// For each token the bracket that is open before it, plus one; 0 for none. One more at the end.
    around: Vec<u32>,
}

impl Brackets {
    /// Matches the brackets of `output`.
    pub(super) fn new(output: &Output) -> Brackets {
        let end = output.tokens.len();
        let mut closing = vec![end as u32; end];
        let mut around = Vec::with_capacity(end + 1);
        let mut open: Vec<usize> = Vec::new();
        let innermost = |open: &[usize]| open.last().map_or(0, |&at| at as u32 + 1);
        for (at, token) in output.tokens.iter().enumerate() {
            around.push(innermost(&open));
            match output.text(token) {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(start) = open.pop() {
                        closing[start] = at as u32;
                    }
                }
                _ => {}
            }
        }
        around.push(innermost(&open));
        Brackets { closing, around }
    }

    /// The token that closes the bracket at `open`; the number of tokens if none does.
    pub(super) fn close(&self, open: usize) -> usize {
        self.closing.get(open).map_or(self.closing.len(), |&close| close as usize)
    }

    /// `end`, or behind the brackets that open in `start..end` and are still open there.
    pub(super) fn complete(&self, start: usize, mut end: usize) -> usize {
        while let Some(open) = self.around.get(end).and_then(|&open| (open as usize).checked_sub(1)) {
            let close = self.close(open);
            if open < start || close >= self.closing.len() {
                break;
            }
            end = close + 1;
        }
        end
    }
}
