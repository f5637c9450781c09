//! Types, qualifiers and names as text.

use super::expr::{expr, list};
use super::{params, unsupported};
use crate::syntax::{Binding, Enum, Path, PathSegment, Qualifier, TemplateArg, Type, TypeKind};

/// A type, from the inside out.
pub(super) fn ty(of: &Type) -> String {
    let inner = match &of.kind {
        TypeKind::Builtin(name) => name.clone(),
        TypeKind::Named(named) => path(named),
        TypeKind::Auto => "auto".into(),
        TypeKind::Decltype(value) => format!("decltype({})", expr(value)),
        TypeKind::DecltypeOfValue(value) => format!("decltype(({}))", expr(value)),
        TypeKind::Typeof(value) => format!("typeof({})", expr(value)),
        TypeKind::DecltypeAuto => "decltype(auto)".into(),
        TypeKind::Record(record) if record.name.text.is_empty() => "struct".into(),
        TypeKind::Record(record) => format!("struct {}", record.name.text),
        TypeKind::Enum(each) => enumeration(each),
        // The qualifiers of a pointer stand behind its star.
        TypeKind::Pointer(to) => return format!("{}*{}", ty(to), behind(&of.qualifiers)),
        TypeKind::Reference(to, Binding::Lvalue) => format!("{}&", ty(to)),
        TypeKind::Reference(to, Binding::Rvalue) => format!("{}&&", ty(to)),
        TypeKind::Array(..) => array(of),
        TypeKind::Function(result, written) => format!("{}({})", ty(result), params(written)),
        TypeKind::Unsupported(reason) => unsupported(reason),
    };
    format!("{}{inner}", qualifiers(&of.qualifiers))
}

/// The element with all dimensions behind it, the outermost first, as C has them.
fn array(of: &Type) -> String {
    let mut dimensions = String::new();
    let mut element = of;
    while let TypeKind::Array(inner, size) = &element.kind {
        dimensions += "[";
        dimensions += &size.as_ref().map(|size| expr(size)).unwrap_or_default();
        dimensions += "]";
        element = inner;
    }
    ty(element) + &dimensions
}

/// The qualifiers of a declaration that its type does not show anyway (front ends put some on both), and the type.
pub(super) fn declared(outer: &[Qualifier], of: &Type) -> String {
    let shown = ty(of);
    let repeated = |word: &str| shown.split([' ', '*', '&']).any(|known| known == word);
    let words: Vec<String> = outer.iter().map(qualifier_word).filter(|word| !repeated(word)).collect();
    if words.is_empty() { shown } else { format!("{} {shown}", words.join(" ")) }
}

fn behind(of: &[Qualifier]) -> String {
    let text = qualifiers(of);
    if text.is_empty() { text } else { format!(" {}", text.trim_end()) }
}

/// `enum class color : int { red = 1, green }`
pub(super) fn enumeration(of: &Enum) -> String {
    let word = if of.scoped { "enum class" } else { "enum" };
    let underlying = of.underlying.as_ref().map(|under| format!(" : {}", ty(under))).unwrap_or_default();
    let constants: Vec<String> = of
        .constants
        .iter()
        .map(|(name, value)| match value {
            Some(value) => format!("{} = {}", name.text, expr(value)),
            None => name.text.clone(),
        })
        .collect();
    format!("{} {{ {} }}", format!("{word} {}{underlying}", of.name.text).trim_end(), constants.join(", "))
}

/// `a::b<T, 4>::c`
pub(super) fn path(of: &Path) -> String {
    let global = if of.global { "::" } else { "" };
    format!("{global}{}", of.segments.iter().map(member).collect::<Vec<_>>().join("::"))
}

/// One segment of a path.
pub(super) fn member(segment: &PathSegment) -> String {
    format!("{}{}", segment.name.text, segment.args.as_ref().map(|args| arguments(args)).unwrap_or_default())
}

/// `<T, 4>`
pub(super) fn arguments(args: &[TemplateArg]) -> String {
    let one = |arg: &TemplateArg| match arg {
        TemplateArg::Type(of) => ty(of),
        TemplateArg::Value(value) => expr(value),
        TemplateArg::Expansion(pattern) => {
            let pattern = arguments(std::slice::from_ref(pattern));
            format!("{}...", &pattern[1..pattern.len() - 1])
        }
    };
    format!("<{}>", args.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Qualifiers, each with a blank behind it.
pub(super) fn qualifiers(of: &[Qualifier]) -> String {
    of.iter().map(|qualifier| qualifier_word(qualifier) + " ").collect()
}

fn qualifier_word(qualifier: &Qualifier) -> String {
    let word = match qualifier {
        Qualifier::Kernel => "kernel",
        Qualifier::Device => "device",
        Qualifier::Host => "host",
        Qualifier::Shared => "shared",
        Qualifier::Constant => "constant",
        Qualifier::Global => "global",
        Qualifier::Private => "private",
        Qualifier::Generic => "generic",
        Qualifier::Managed => "managed",
        Qualifier::Extern => "extern",
        Qualifier::Static => "static",
        Qualifier::Const => "const",
        Qualifier::Volatile => "volatile",
        Qualifier::Restrict => "restrict",
        Qualifier::Constexpr => "constexpr",
        Qualifier::Virtual => "virtual",
        Qualifier::Final => "final",
        Qualifier::Defaulted => "defaulted",
        Qualifier::Explicit => "explicit",
        Qualifier::Friend => "friend",
        Qualifier::Other(name) => name,
        Qualifier::Attribute(name, args) => return format!("{name}({})", list(args)),
    };
    word.to_string()
}
