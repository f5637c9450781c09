//! Types as text, in the words of the source language.

use super::program::{AddressSpace, Program, Record, Type, TypeId};
use crate::arena::Arena;
use crate::source::Language;

impl Program {
    /// The type as users would write it.
    pub fn type_name(&self, ty: TypeId) -> String {
        type_name(self.language, &self.types, &self.records, ty)
    }
}

/// The type as users would write it; `dim3` is that of what it holds.
pub(super) fn type_name(language: Language, types: &Arena<Type>, records: &Arena<Record>, ty: TypeId) -> String {
    let name = |inner: TypeId| type_name(language, types, records, inner);
    match &types[ty] {
        Type::Void => "void".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int { width, signed } => int_name(language, *width, *signed).to_owned(),
        Type::Float { width: 16 } => "half".to_owned(),
        Type::Float { width: 32 } => "float".to_owned(),
        Type::Float { width: 64 } => "double".to_owned(),
        Type::Float { .. } => "long double".to_owned(),
        Type::Pointer { to, space } => format!("{}{} *", space_name(*space), name(*to)),
        Type::Array { of, len } => {
            // The dimensions of an array of arrays read from the outermost to the innermost.
            let mut dimensions = format!("[{}]", len.map_or_else(String::new, |len| len.to_string()));
            let mut element = *of;
            while let Type::Array { of, len } = &types[element] {
                dimensions.push_str(&format!("[{}]", len.map_or_else(String::new, |len| len.to_string())));
                element = *of;
            }
            format!("{}{dimensions}", name(element))
        }
        Type::Vector { of, lanes } => format!("{}{lanes}", vector_stem(types, *of)),
        Type::Record(record) => records[*record].name.clone(),
        Type::Unknown(name) => name.clone(),
    }
}

/// The C name of an integer type.
fn int_name(language: Language, width: u8, signed: bool) -> &'static str {
    match (width, signed) {
        (8, true) => "char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned int",
        (_, true) => "long",
        (_, false) if language == Language::OpenCl => "ulong",
        (_, false) => "unsigned long",
    }
}

/// What stands before the number of lanes in a vector's name.
fn vector_stem(types: &Arena<Type>, lane: TypeId) -> &'static str {
    match &types[lane] {
        Type::Int { width: 8, signed: true } => "char",
        Type::Int { width: 8, signed: false } => "uchar",
        Type::Int { width: 16, signed: true } => "short",
        Type::Int { width: 16, signed: false } => "ushort",
        Type::Int { width: 32, signed: true } => "int",
        Type::Int { width: 32, signed: false } => "uint",
        Type::Int { signed: true, .. } => "long",
        Type::Int { signed: false, .. } => "ulong",
        Type::Float { width: 16 } => "half",
        Type::Float { width: 64 } => "double",
        Type::Float { .. } => "float",
        _ => "vector",
    }
}

/// The address space as OpenCL writes it before a type.
fn space_name(space: Option<AddressSpace>) -> &'static str {
    match space {
        None => "",
        Some(AddressSpace::Global) => "__global ",
        Some(AddressSpace::Shared) => "__local ",
        Some(AddressSpace::Constant) => "__constant ",
        Some(AddressSpace::Private) => "__private ",
    }
}
