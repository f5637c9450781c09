//! Words: those that the grammar lacks, those that it takes for something else, and attributes.

use super::{Attribute, Rewriter, Role};
use crate::preprocess::TokenKind;
use crate::source::Language;
use crate::syntax::words::is_arithmetic_word;
use std::ops::Range;

/// The words of the type that a conversion is named by are not more.
const MOST_WORDS: usize = 16;

impl Rewriter<'_> {
    pub(super) fn word(&mut self, at: usize, text: &str) -> usize {
        if self.role(at) == Role::CastType {
            self.emit(if is_arithmetic_word(text) { text } else { "size_t" }, at);
            return at + 1;
        }
        if self.is_specifier_of_friend(at, text) {
            return at + 1;
        }
        if let Some(next) = self.attribute(at, text) {
            return next;
        }
        if let Some(word) = self.replacement(at, text) {
            if !word.is_empty() {
                self.emit(word, at);
            }
            return at + 1;
        }
        if text == "operator" {
            return self.operator_name(at);
        }
        if text == "new" {
            self.flatten_new(at);
        }
        if self.is_calling_convention(at, text) {
            return at + 1;
        }
        self.look_for_angles(at, text);
        self.look_for_constructor(at, text);
        self.look_for_product(at);
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.emit(text, at);
        } else {
            self.emit("name_", at);
        }
        at + 1
    }

    /// Whether a specifier stands before `friend`, where the grammar wants none.
    fn is_specifier_of_friend(&self, at: usize, text: &str) -> bool {
        use crate::syntax::words::is_specifier_of_member as is_specifier;
        let behind = || (at + 1..self.end).find(|&next| !is_specifier(self.text(next)));
        is_specifier(text) && behind().is_some_and(|next| self.text(next) == "friend")
    }

    /// What stands for a word that the grammar does not know, or knows as something else; empty leaves it out.
    pub(super) fn replacement(&self, at: usize, text: &str) -> Option<&'static str> {
        let opencl = self.language == Language::OpenCl;
        Some(match text {
            "__restrict__" | "__restrict" | "restrict" if matches!(self.before(at), "&" | "&&") => "",
            "__restrict__" | "__restrict" | "restrict" => "const",
            "__kernel" | "__global" | "__local" | "__constant" | "__private" | "__generic" | "__read_only"
            | "__write_only" | "__read_write" => "const",
            "kernel" | "global" | "local" | "constant" | "private" | "generic" | "read_only" | "write_only"
            | "read_write"
                if opencl =>
            {
                "const"
            }
            // Before version 2.0 it is a name like any other.
            "pipe" if opencl && self.is_identifier(at + 1) => "const",
            "__device__" | "__host__" if matches!(self.emitted_before(), "]" | ")") => "",
            "__device__" | "__host__" | "constexpr" if self.is_specifier_of_conversion(at) => "",
            "__device__" | "__host__" | "__global__" | "__shared__" | "__constant__" | "__managed__"
            | "__volatile__"
                if !self.in_asm() =>
            {
                "const"
            }
            "__grid_constant__" | "__const__" | "__const" | "__volatile" => "const",
            "template" if matches!(self.text(at + 1), "class" | "struct") => "",
            "typeid" if self.text(at + 1) == "(" => "sizeof",
            "const" if self.before(at) == "new" => "",
            "inline" | "__inline__" | "__inline" | "__forceinline" | "__forceinline__" | "__noinline__"
            | "register" | "__extension__" | "_Noreturn" | "__cdecl" | "__stdcall" | "__device_builtin__"
            | "__builtin_align__" | "CUDARTAPI" | "__cudart_builtin__" => "",
            "_Static_assert" => "static_assert",
            "typeof" | "__typeof__" | "__typeof" => "decltype",
            "_Bool" => "bool",
            "__int64" | "__int32" | "__int16" | "__int8" => "int",
            "__signed__" | "__signed" => "signed",
            "unsigned" | "signed" | "long" | "short"
                if self.text(at + 1) == "(" && !is_arithmetic_word(self.before(at)) && !self.type_goes_on(at) =>
            {
                "name_"
            }
            "import" | "module" | "export" | "concept" | "requires" | "co_await" | "co_yield" | "co_return"
            | "__leave" | "__try" | "__local__" | "__tile__" | "__tile_global__" | "noreturn" => "name_",
            "asm" | "__asm__" | "__asm" | "volatile" => return None,
            "class" | "new" | "delete" | "this" | "template" | "namespace" | "operator" | "typename" | "using"
            | "public" | "protected" | "try" | "catch" | "throw" | "virtual" | "friend" | "and" | "or" | "not"
            | "xor" | "compl" | "bitand" | "bitor" | "and_eq" | "or_eq" | "xor_eq" | "not_eq" | "mutable"
            | "explicit" | "export_" | "constexpr" | "decltype" | "nullptr" | "static_cast" | "reinterpret_cast"
            | "const_cast" | "final" | "override" | "wchar_t" | "noexcept" | "char8_t" | "consteval" | "constinit"
            | "auto_"
                if opencl =>
            {
                "name_"
            }
            _ => return None,
        })
    }

    /// Whether `unsigned (` starts a declarator (`unsigned (*p)[4]`) and no conversion.
    /// Whether a word is another specifier of a conversion, `__host__ __device__ operator int()`: of two, `operator` would be
    /// read as a type.
    fn is_specifier_of_conversion(&self, at: usize) -> bool {
        use crate::syntax::words::is_specifier_of_member as is_specifier;
        let behind = || (at + 1..self.end).find(|&next| !is_specifier(self.text(next)));
        let is_conversion = |next| self.text(next) == "operator" && self.is_identifier(next + 1);
        is_specifier(self.emitted_before()) && behind().is_some_and(is_conversion)
    }

    fn type_goes_on(&self, at: usize) -> bool {
        matches!(self.text(at + 2), "*" | "&")
            && !matches!(self.before(at), "=" | "(" | "," | "+" | "-" | "*" | "return")
    }

    /// `new T *[n]`: the grammar knows no pointers there, and syntax has no node for `new` anyway.
    pub(super) fn flatten_new(&mut self, at: usize) {
        let mut next = at + 1;
        while self.is_identifier(next) || self.text(next) == "::" {
            next += 1;
        }
        while matches!(self.text(next), "*" | "const") {
            self.set_role(next, Role::Skip);
            next += 1;
        }
    }

    /// `void CUDART_CB f(…)`: a macro of a header that is not here, between a type and a name.
    fn is_calling_convention(&self, at: usize, text: &str) -> bool {
        text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && text.len() > 3
            && at > self.start
            && (self.is_type_at(at - 1) || self.before(at) == "*")
            && self.is_identifier(at + 1)
            && self.text(at + 2) == "("
            && !self.is_type_at(at)
            && !self.is_value_at(at)
    }

    /// `operator()`, `operator[]`: single words of the grammar.
    fn operator_name(&mut self, at: usize) -> usize {
        // `x.operator T *()`: the grammar knows no member of that name.
        if matches!(self.before(at), "." | "->")
            && self.is_identifier(at + 1)
            && let Some(arguments) = (at + 2..at + MOST_WORDS).find(|&next| self.text(next) == "(")
        {
            self.emit("name_", at);
            return arguments;
        }
        self.emit("operator", at);
        let joined = match (self.text(at + 1), self.text(at + 2)) {
            ("(", ")") => "()",
            ("[", "]") => "[]",
            ("new" | "delete", _) => return at + 1,
            (operator, _) if self.get(at + 1).is_some_and(|token| token.kind == TokenKind::Punctuator) => {
                self.emit(operator, at + 1);
                return at + 2;
            }
            _ => return at + 1,
        };
        self.emit(joined, at + 1);
        at + 3
    }

    /// An attribute at `at` is kept aside; gives the position behind it.
    fn attribute(&mut self, at: usize, text: &str) -> Option<usize> {
        match text {
            "__attribute__" | "__attribute" if self.text(at + 1) == "(" && self.text(at + 2) == "(" => {
                let outer = self.closing_nearby(at + 1)?;
                self.attribute_list(at + 3..outer - 1, at..outer + 1);
                Some(outer + 1)
            }
            "__launch_bounds__" | "__cluster_dims__" | "__maxnreg__" | "__align__" | "alignas" | "_Alignas"
            | "__block_size__" | "__declspec" | "__pragma" | "__nv_pure__" | "__builtin_align__"
                if self.text(at + 1) == "(" =>
            {
                let close = self.closing_nearby(at + 1)?;
                self.keep_attribute(text, Some(at + 2..close), at..close + 1);
                Some(close + 1)
            }
            "__attribute__" | "__attribute" => None,
            "__packed" | "__packed__" => {
                self.keep_attribute("packed", None, at..at + 1);
                Some(at + 1)
            }
            _ => None,
        }
    }

    fn keep_attribute(&mut self, name: &str, arguments: Option<Range<usize>>, tokens: Range<usize>) {
        self.attributes_from.get_or_insert(self.buffer.attributes.len());
        let name = name.trim_matches('_').to_owned();
        self.buffer.attributes.push(Attribute { before: 0, name, arguments, tokens });
    }

    /// `a, b(1, 2)` between the brackets of an attribute.
    pub(super) fn attribute_list(&mut self, inside: Range<usize>, whole: Range<usize>) {
        let mut at = inside.start;
        while at < inside.end {
            if !self.is_identifier(at) {
                at += 1;
                continue;
            }
            let mut name = at;
            while self.text(name + 1) == "::" && self.is_identifier(name + 2) {
                name += 2;
            }
            let spelling = self.text(name);
            if self.text(name + 1) == "(" {
                let close = self.closing_nearby(name + 1).unwrap_or(inside.end).min(inside.end);
                self.keep_attribute(spelling, Some(name + 2..close), whole.clone());
                at = close + 1;
            } else {
                self.keep_attribute(spelling, None, whole.clone());
                at = name + 1;
            }
        }
    }
}
