//! What is kept of the declaration of a variable template.
//!
//! Deliberately absent: which specialisation a use means.

use super::{Path, TemplateParam, Type, TypeKind};

/// The type and the template parameters of a variable that is declared behind `template <…>`. Of a specialisation the
/// type is not known: nothing chooses among the variables of one name, so that every use is one of a value of which
/// nothing is known.
pub fn of_variable_template(
    ty: Type,
    template: Option<&[TemplateParam]>,
    path: Option<&Path>,
) -> (Type, Vec<TemplateParam>) {
    let Some(params) = template else { return (ty, Vec::new()) };
    // The parameters of a static member that is defined outside of its class are those of the class.
    if path.is_some_and(|path| path.segments.len() > 1) {
        return (ty, params.to_vec());
    }
    let is_special = path.and_then(|path| path.segments.last()).is_some_and(|last| last.args.is_some());
    if params.is_empty() || is_special {
        let kind = TypeKind::Unsupported("specialisation of a variable template".to_owned());
        return (Type { kind, ..ty }, Vec::new());
    }
    (ty, params.to_vec())
}
