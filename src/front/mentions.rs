//! Where the preprocessed tokens of a unit name a kernel or launch one.
//!
//! Tokens are never lost, whatever a front end makes of them: what is found here has to be covered by a launch that the
//! resolver understood, or by something that launches nothing. A place is left out only where the tokens around it show that
//! it launches nothing: a call or declaration (`k(`), a member (`x.k`), an operand that is not evaluated (`sizeof(k)`),
//! an argument of a function that asks about kernels, a comparison, `using a::k;`.
//!
//! Deliberately absent: scopes, and kernels that are named by strings elsewhere than where a module is asked for one.

use crate::preprocess::{Output, Token, TokenKind};
use crate::source::Language;
use crate::syntax::{HiddenBy, Mention, MentionKind, asks_about_kernels};
use rustc_hash::FxHashSet;

/// Words before parentheses whose operand is not evaluated.
const NOT_EVALUATED: [&str; 9] =
    ["sizeof", "decltype", "typeof", "__typeof__", "__typeof", "alignof", "_Alignof", "noexcept", "typeid"];

/// Words before a name that is no kernel's.
const OTHER_NAMES: [&str; 8] = [".", "->", "struct", "class", "enum", "union", "namespace", "goto"];

/// How many tokens are looked at around a place.
const REACH: usize = 4000;

/// The places of a unit, in the order of its tokens. In OpenCL host code stands apart, and launches nothing by its name.
pub fn mentions(output: &Output, language: Language) -> Vec<Mention> {
    if language == Language::OpenCl {
        return Vec::new();
    }
    let text = Text { output, tokens: &output.tokens };
    let kernels = text.kernels();
    if kernels.is_empty() {
        return Vec::new();
    }
    let found = (0..text.tokens.len()).filter_map(|at| {
        let token = &text.tokens[at];
        let word = output.text(token);
        let kind = match token.kind {
            TokenKind::Punctuator if text.starts_launch(at) => MentionKind::Launch,
            TokenKind::Identifier if kernels.contains(word) && !text.launches_nothing(at) => {
                MentionKind::Kernel { name: word.to_owned(), hidden_by: text.hidden_by(at) }
            }
            TokenKind::String if text.is_asked_of_a_module(at) => {
                let name = word.trim_matches('"');
                let is_kernel = kernels.contains(name);
                is_kernel.then(|| MentionKind::Kernel { name: name.to_owned(), hidden_by: HiddenBy::Nothing })?
            }
            TokenKind::Identifier if launches(word) && text.word(at + 1) == "(" => MentionKind::Launch,
            _ => return None,
        };
        Some(Mention { kind, span: token.span })
    });
    found.collect()
}

/// Whether a function of this name launches kernels.
fn launches(name: &str) -> bool {
    ["cuda", "hip", "cu"].iter().any(|prefix| name.starts_with(prefix))
        && (name.contains("Launch") && !name.contains("HostFunc") || name.contains("KernelNode"))
}

/// The tokens of a unit.
#[derive(Clone, Copy)]
struct Text<'a> {
    output: &'a Output,
    tokens: &'a [Token],
}

impl<'a> Text<'a> {
    /// A token, or nothing behind the last one.
    fn word(self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    /// The token before another.
    fn before(self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// Whether `<<<` starts at a token; to the preprocessor it is two of them.
    fn starts_launch(self, at: usize) -> bool {
        self.word(at) == "<<"
            && self.word(at + 1) == "<"
            && self.tokens.get(at + 1).is_some_and(|second| !second.flags.is_apart())
    }

    /// The words in heads that say `__global__`, or `__attribute__((global))`, and may be the name of what is declared: those
    /// before parentheses or template arguments, or in parentheses of their own.
    fn kernels(self) -> FxHashSet<&'a str> {
        let mut found = FxHashSet::default();
        let mut is_head = false;
        for (at, token) in self.tokens.iter().enumerate() {
            let word = self.output.text(token);
            let is_name = || match self.word(at + 1) {
                "(" | "<" => true,
                ")" => self.before(at) == "(",
                _ => false,
            };
            match word {
                "__global__" | "global" => is_head = true,
                "{" | ";" => is_head = false,
                _ if is_head && token.kind == TokenKind::Identifier && is_name() => drop(found.insert(word)),
                _ => {}
            }
        }
        found
    }

    /// Whether the tokens around a name show that nothing is launched there.
    fn launches_nothing(self, at: usize) -> bool {
        let behind = self.behind_arguments(at + 1);
        let is_compared = |word: &str| matches!(word, "==" | "!=");
        let front = if self.before(at) == "&" { at - 1 } else { at };
        // What has members is a namespace or class of that name.
        matches!(self.word(behind), "(" | "::")
            || OTHER_NAMES.contains(&self.before(at))
            || is_compared(self.word(behind))
            || is_compared(self.before(front))
            || self.is_introduced(at)
            || self.is_asked_about(at)
            || self.is_not_evaluated(at)
    }

    fn hidden_by(self, at: usize) -> HiddenBy {
        let is_launched = self.starts_launch(self.behind_arguments(at + 1));
        if self.before(at) == "::" || is_launched { HiddenBy::Nothing } else { HiddenBy::Declarations }
    }

    /// The place behind the template arguments that start at a token, or the token itself.
    fn behind_arguments(self, start: usize) -> usize {
        if self.word(start) != "<" {
            return start;
        }
        let mut depth = 0_usize;
        for at in start..self.tokens.len().min(start + REACH) {
            match self.word(at) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ">>" => depth = depth.saturating_sub(2),
                ";" | "{" | "}" => return start,
                "<<" if self.starts_launch(at) => return start,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        start
    }

    /// `using a::k;`
    fn is_introduced(self, at: usize) -> bool {
        let mut start = at;
        while start > 1 && self.word(start - 1) == "::" {
            start -= if self.tokens[start - 2].kind == TokenKind::Identifier { 2 } else { 1 };
            if self.word(start) == "using" {
                break;
            }
        }
        let is_using = self.word(start) == "using" || self.before(start) == "using";
        is_using && matches!(self.word(at + 1), ";" | ",")
    }

    /// Whether the name is an argument of a function that asks about kernels, perhaps in parentheses or a cast.
    fn is_asked_about(self, at: usize) -> bool {
        for open in self.parentheses_around(at) {
            let before = self.before(open);
            if asks_about_kernels(before) || before == ">" && self.is_asking_template(open - 1) {
                return true;
            }
            let is_group = matches!(before, "(" | "," | "=" | "&") || before == ">" && self.is_cast(open - 1);
            if !is_group {
                return false;
            }
        }
        false
    }

    /// The word before the template arguments that end at a token.
    fn before_arguments(self, end: usize) -> &'a str {
        let mut depth = 0_usize;
        for at in (end.saturating_sub(REACH)..=end).rev() {
            match self.word(at) {
                ">" => depth += 1,
                ">>" => depth += 2,
                "<" => depth = depth.saturating_sub(1),
                ";" | "{" | "}" => return "",
                _ => {}
            }
            if depth == 0 {
                return self.before(at);
            }
        }
        ""
    }

    /// Whether a string is an argument of what gives the kernel of that name: `cuModuleGetFunction(&function, module, "k")`.
    fn is_asked_of_a_module(self, at: usize) -> bool {
        self.parentheses_around(at).any(|open| {
            let name = self.before(open);
            name.contains("ModuleGetFunction") || name.contains("LibraryGetKernel")
        })
    }

    fn is_cast(self, end: usize) -> bool {
        self.before_arguments(end).ends_with("_cast")
    }

    fn is_asking_template(self, end: usize) -> bool {
        asks_about_kernels(self.before_arguments(end))
    }

    fn is_not_evaluated(self, at: usize) -> bool {
        matches!(self.before(at), "sizeof" | "alignof")
            || self.parentheses_around(at).any(|open| NOT_EVALUATED.contains(&self.before(open)))
    }

    /// The parentheses that are open at a token within its statement, the innermost first.
    fn parentheses_around(self, at: usize) -> impl Iterator<Item = usize> {
        let mut depth = 0_usize;
        let inside =
            (at.saturating_sub(REACH)..at).rev().take_while(move |&at| !matches!(self.word(at), ";" | "{" | "}"));
        inside.filter(move |&at| match self.word(at) {
            ")" => {
                depth += 1;
                false
            }
            "(" if depth > 0 => {
                depth -= 1;
                false
            }
            word => word == "(",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::{Options, preprocess};
    use crate::source::{Dialect, SourceMap};

    /// The names that are left in a text behind a kernel `k`.
    fn left(text: &str) -> Vec<String> {
        let mut sources = SourceMap::new();
        let main = sources.add_file("k.cu", format!("__global__ void k(int *p) {{}}\n{text}"));
        let output = preprocess(sources, main, &Options::new(Dialect::Cuda));
        let found = mentions(&output, Language::Cuda).into_iter().map(|mention| match mention.kind {
            MentionKind::Kernel { name, .. } => name,
            MentionKind::Launch => "<<<".to_owned(),
        });
        found.collect()
    }

    #[test]
    fn what_launches_nothing_is_left_out() {
        let harmless = "__global__ void k(int *); template void k<int>(int *); using a::k; int n = sizeof(k); \
                        typedef decltype(&k<int>) T; void f() { x.k = 1; if (p == k || k<int> != q) g(); \
                        cudaFuncSetAttribute((const void *)k<B<2>>, A, 1); \
                        cudaOccupancyMaxPotentialBlockSize(&a, &b, static_cast<T>(k), 0, 0); struct k *s; n = k::size; }";
        assert!(left(harmless).is_empty(), "{:?}", left(harmless));
    }

    #[test]
    fn everything_else_is_there() {
        assert_eq!(left("void f() { k<<<1, 2>>>(p); }"), ["k", "<<<"]);
        assert_eq!(left("REGISTER(a, [] { k<int><<<1, 2>>>(p); });"), ["k", "<<<"]);
        assert_eq!(left("auto g = &k; T t{k}; run<k>(p); cudaLaunchKernel(k);"), ["k", "k", "k", "<<<", "k"]);
        assert_eq!(left("void f() { cuModuleGetFunction(&f, m, \"k\"); printf(\"k\"); }"), ["k"]);
        assert_eq!(left("void f() { (c ? k : k)<<<1, 2>>>(p); h(sizeof(p), k); }"), ["k", "k", "<<<", "k"]);
    }
}
