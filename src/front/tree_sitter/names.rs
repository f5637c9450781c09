//! Which identifiers are types, which are templates, which are values: one pass over the tokens.
//!
//! C cannot be parsed without knowing its type names, and the grammar knows none. The answers here are for
//! the whole unit, not by scope: a name is a type if anything in the unit declares it as one. That is enough
//! to tell a cast from a parenthesised operand in practice, and a wrong guess yields a name that `resolve`
//! does not find, never a different program that looks right.

use crate::preprocess::{Output, Symbol, Token, TokenKind};
use crate::source::Language;
use crate::syntax::words;
use rustc_hash::FxHashSet;

/// The names of a unit.
#[derive(Debug)]
pub(super) struct Names {
    language: Language,
    types: FxHashSet<Symbol>,
    templates: FxHashSet<Symbol>,
    values: FxHashSet<Symbol>,
    /// What the unit may declare as a variable, parameter or function.
    perhaps_values: FxHashSet<Symbol>,
}

impl Names {
    /// Collects the names that the tokens of `output` declare.
    pub(super) fn collect(output: &Output, language: Language) -> Names {
        let mut names = Names {
            language,
            types: FxHashSet::default(),
            templates: FxHashSet::default(),
            values: FxHashSet::default(),
            perhaps_values: FxHashSet::default(),
        };
        let mut typedef_ends = 0;
        for at in 0..output.tokens.len() {
            match output.text(&output.tokens[at]) {
                "struct" | "class" | "union" | "enum" | "typename" => names.tagged(output, at),
                "using" => names.alias(output, at),
                "typedef" if at >= typedef_ends => typedef_ends = names.typedef(output, at),
                "template" => names.template(output, at),
                _ => names.value(output, at),
            }
        }
        names
    }

    /// Whether `symbol` is a type, as far as anybody can know.
    pub(super) fn is_type(&self, symbol: Symbol, text: &str) -> bool {
        self.types.contains(&symbol) || is_builtin_type(text, self.language) || {
            // `uint8_t`, `cudaError_t`, `myint_t`: the convention is strong enough for what no declaration shows.
            text.ends_with("_t") && text.len() > 2 && !self.values.contains(&symbol)
        }
    }

    /// Whether something in the unit declares a template of this name.
    pub(super) fn is_template(&self, symbol: Symbol) -> bool {
        self.templates.contains(&symbol)
    }

    /// Whether something in the unit declares a variable, parameter or function of this name.
    pub(super) fn is_value(&self, symbol: Symbol) -> bool {
        self.values.contains(&symbol) && !self.types.contains(&symbol)
    }

    /// Whether the unit declares a type of this name.
    pub(super) fn is_declared_type(&self, symbol: Symbol) -> bool {
        self.types.contains(&symbol)
    }

    /// Whether the unit declares a type of this name, and may declare a value. In C both may be: tags have a name space of
    /// their own.
    pub(super) fn may_be_either(&self, symbol: Symbol) -> bool {
        self.types.contains(&symbol) && self.perhaps_values.contains(&symbol)
    }

    /// `struct S`, `enum class E`, `typename T`.
    fn tagged(&mut self, output: &Output, at: usize) {
        let mut next = at + 1;
        while let Some(token) = output.tokens.get(next) {
            match output.text(token) {
                "class" | "struct" | "..." => next += 1,
                "__align__" | "alignas" | "__attribute__" | "__declspec" => next = after_group(output, next + 1),
                _ => break,
            }
        }
        let Some(name) = identifier(output, next) else { return };
        // In `typename T::x` only the whole is known to be a type.
        let qualified = output.tokens.get(next + 1).is_some_and(|token| output.text(token) == "::");
        if !qualified {
            self.types.insert(name.text);
        }
    }

    /// `using T = …`
    fn alias(&mut self, output: &Output, at: usize) {
        if let Some(name) = identifier(output, at + 1)
            && output.tokens.get(at + 2).is_some_and(|token| output.text(token) == "=")
        {
            self.types.insert(name.text);
        }
    }

    /// `typedef … name, *other, (*function)(…);`; gives the position of the `;`.
    fn typedef(&mut self, output: &Output, at: usize) -> usize {
        let mut depth = 0_usize;
        let mut last = None;
        for (position, token) in output.tokens.iter().enumerate().skip(at + 1) {
            let text = output.text(token);
            match text {
                "(" | "[" | "{" => {
                    if depth == 0
                        && text == "("
                        && output.tokens.get(position + 1).is_some_and(|t| output.text(t) == "*")
                    {
                        last = identifier(output, position + 2).or(last);
                    }
                    depth += 1;
                }
                ")" | "]" | "}" => {
                    let Some(outer) = depth.checked_sub(1) else { return position };
                    depth = outer;
                }
                ";" | "," if depth == 0 => {
                    self.types.extend(last.take().map(|name: Token| name.text));
                    if text == ";" {
                        return position;
                    }
                }
                _ if depth == 0 && token.kind == TokenKind::Identifier && !is_attribute(text) => {
                    // The name in `typedef R (*name)(…)` was found inside the parentheses.
                    last = Some(*token);
                }
                _ => {}
            }
        }
        output.tokens.len()
    }

    /// `template <…> … name`
    fn template(&mut self, output: &Output, at: usize) {
        if output.tokens.get(at + 1).is_none_or(|token| output.text(token) != "<") {
            return;
        }
        let mut next = after_angles(output, at + 1);
        let mut name = None;
        while let Some(token) = output.tokens.get(next) {
            match output.text(token) {
                "(" | "{" | ";" | "=" | ":" | "template" => break,
                "__launch_bounds__" | "__attribute__" | "__align__" | "alignas" | "__declspec" => {
                    next = after_group(output, next + 1);
                    continue;
                }
                "<" => {
                    // A specialisation, or the arguments of the result type.
                    next = after_angles(output, next);
                    continue;
                }
                _ if token.kind == TokenKind::Identifier => name = Some(token.text),
                _ => {}
            }
            next += 1;
        }
        self.templates.extend(name);
    }

    /// `T name =`, `T *name,`, `T name(`.
    fn value(&mut self, output: &Output, at: usize) {
        let Some(name) = identifier(output, at) else { return };
        let Some((before, after)) =
            at.checked_sub(1).and_then(|at| output.tokens.get(at)).zip(output.tokens.get(at + 1))
        else {
            return;
        };
        let text = output.text(before);
        let follows_type = match before.kind {
            TokenKind::Identifier => !is_operator_word(text),
            _ => matches!(text, "*" | "&" | ">" | "&&" | ","),
        };
        let ends = output.text(after);
        let may_end = matches!(ends, "=" | ";" | "," | ")" | "[" | "(" | ":" | "{");
        if follows_type && may_end {
            self.perhaps_values.insert(name.text);
        }
        // After a comma only a further declarator or parameter with an initialiser or bounds is certain.
        let certain = if text == "," { matches!(ends, "=" | "[") } else { may_end };
        if follows_type && certain {
            self.values.insert(name.text);
        }
    }
}

/// The identifier at a position.
fn identifier(output: &Output, at: usize) -> Option<Token> {
    output.tokens.get(at).copied().filter(|token| token.kind == TokenKind::Identifier)
}

/// The position behind `( … )` that opens at `at`, or `at` itself if nothing opens there.
fn after_group(output: &Output, at: usize) -> usize {
    let mut depth = 0_usize;
    for (position, token) in output.tokens.iter().enumerate().skip(at) {
        match output.text(token) {
            "(" => depth += 1,
            ")" if depth <= 1 => return position + 1,
            ")" => depth -= 1,
            _ if depth == 0 => return position,
            _ => {}
        }
    }
    output.tokens.len()
}

/// The position behind `< … >` that opens at `at`, without crossing a `;` or `{`.
fn after_angles(output: &Output, at: usize) -> usize {
    let (mut angles, mut parens) = (0_usize, 0_usize);
    for (position, token) in output.tokens.iter().enumerate().skip(at) {
        match output.text(token) {
            "(" => parens += 1,
            ")" => parens = parens.saturating_sub(1),
            "<" if parens == 0 => angles += 1,
            ">" if parens == 0 => angles = angles.saturating_sub(1),
            ">>" if parens == 0 => angles = angles.saturating_sub(2),
            ";" | "{" => return position,
            _ => {}
        }
        if angles == 0 {
            return position + 1;
        }
    }
    output.tokens.len()
}

fn is_attribute(text: &str) -> bool {
    matches!(text, "__attribute__" | "__attribute" | "__align__" | "alignas")
}

/// Words after which an identifier is an operand and not a declared name.
pub(super) fn is_operator_word(text: &str) -> bool {
    matches!(
        text,
        "return"
            | "case"
            | "else"
            | "do"
            | "throw"
            | "goto"
            | "delete"
            | "new"
            | "sizeof"
            | "and"
            | "or"
            | "not"
            | "xor"
            | "compl"
            | "bitand"
            | "bitor"
            | "namespace"
            | "using"
            | "operator"
            | "co_return"
            | "typename"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "template"
    )
}

/// Whether `text` is a type that C, CUDA's or OpenCL's headers declare.
pub(super) fn is_builtin_type(text: &str, language: Language) -> bool {
    if words::is_arithmetic_word(text) || matches!(text, "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t") {
        return true;
    }
    if matches!(text, "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t") {
        return true;
    }
    match language {
        Language::OpenCl => {
            matches!(text, "half" | "event_t" | "sampler_t" | "image1d_t" | "image2d_t" | "image3d_t")
                || is_opencl_scalar(text.trim_end_matches(|digit: char| digit.is_ascii_digit()))
        }
        Language::Cuda => {
            matches!(
                text,
                "uint"
                    | "uchar"
                    | "ushort"
                    | "ulong"
                    | "dim3"
                    | "half"
                    | "half2"
                    | "__half"
                    | "__half2"
                    | "__nv_bfloat16"
                    | "__nv_bfloat162"
                    | "longlong1"
                    | "longlong2"
                    | "longlong3"
                    | "longlong4"
                    | "ulonglong1"
                    | "ulonglong2"
                    | "ulonglong3"
                    | "ulonglong4"
                    | "curandState"
                    | "cudaStream_t"
                    | "cufftComplex"
                    | "cuComplex"
                    | "cuFloatComplex"
                    | "cuDoubleComplex"
                    | "hip_bfloat16"
                    | "__hip_bfloat16"
                    | "hipComplex"
                    | "hipFloatComplex"
                    | "hipDoubleComplex"
            ) || is_cuda_vector(text)
        }
    }
}

fn is_opencl_scalar(text: &str) -> bool {
    matches!(
        text,
        "char"
            | "uchar"
            | "short"
            | "ushort"
            | "int"
            | "uint"
            | "long"
            | "ulong"
            | "float"
            | "double"
            | "half"
            | "bool"
    )
}

fn is_cuda_vector(text: &str) -> bool {
    let Some(scalar) = text.strip_suffix(['1', '2', '3', '4']) else { return false };
    matches!(scalar, "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "float" | "double")
}
