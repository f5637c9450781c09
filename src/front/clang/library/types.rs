//! The types of cursors as [`Shape`]s.

use crate::syntax::Shape;
use clang_sys::*;

/// Pointers to pointers and arrays of arrays are followed this far.
const DEPTH: u32 = 24;

/// The type of a declaration.
///
/// # Safety
/// The translation unit of `cursor` is alive.
pub(super) unsafe fn of(cursor: CXCursor) -> Shape {
    // SAFETY: the unit is alive, as the caller promises.
    let (shape, kind) = unsafe { (shape(clang_getCursorType(cursor), DEPTH), clang_getCursorKind(cursor)) };
    match shape {
        // libclang gives the type as it is written.
        Shape::Array(of, _) if kind == CXCursor_ParmDecl => Shape::Pointer(of),
        shape => shape,
    }
}

/// # Safety
/// The translation unit of `ty` is alive.
unsafe fn shape(ty: CXType, depth: u32) -> Shape {
    // SAFETY: the unit is alive, as the caller promises; libclang answers for types of every kind.
    unsafe {
        let ty = clang_getCanonicalType(ty);
        if depth == 0 {
            return other(ty);
        }
        let inner = |ty| Box::new(shape(ty, depth - 1));
        match ty.kind {
            CXType_Void => Shape::Void,
            CXType_Bool => Shape::Bool,
            CXType_Char_S | CXType_SChar | CXType_Short | CXType_Int | CXType_Long | CXType_LongLong
            | CXType_Int128 | CXType_WChar => int(ty, true),
            CXType_Char_U | CXType_UChar | CXType_Char16 | CXType_Char32 | CXType_UShort | CXType_UInt
            | CXType_ULong | CXType_ULongLong | CXType_UInt128 => int(ty, false),
            CXType_Float | CXType_Double | CXType_LongDouble | CXType_Half | CXType_Float16 | CXType_BFloat16 => {
                Shape::Float { width: bits(ty) }
            }
            CXType_Enum => match shape(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(ty)), depth - 1) {
                Shape::Int { width, signed } => Shape::Enumeration { width, signed },
                other => other,
            },
            CXType_Pointer | CXType_LValueReference | CXType_RValueReference => {
                Shape::Pointer(inner(clang_getPointeeType(ty)))
            }
            CXType_ConstantArray => {
                Shape::Array(inner(clang_getArrayElementType(ty)), u64::try_from(clang_getArraySize(ty)).ok())
            }
            CXType_IncompleteArray => Shape::Array(inner(clang_getArrayElementType(ty)), None),
            CXType_Vector | CXType_ExtVector => {
                Shape::Vector(inner(clang_getElementType(ty)), clang_getNumElements(ty).unsigned_abs())
            }
            CXType_Record => Shape::Record(measured(ty)),
            CXType_Dependent => Shape::Dependent,
            _ if clang_Type_getSizeOf(ty) == i64::from(CXTypeLayoutError_Dependent) => Shape::Dependent,
            _ => other(ty),
        }
    }
}

/// # Safety
/// The translation unit of `ty` is alive.
unsafe fn int(ty: CXType, signed: bool) -> Shape {
    // SAFETY: the unit is alive, as the caller promises.
    Shape::Int { width: unsafe { bits(ty) }, signed }
}

/// # Safety
/// The translation unit of `ty` is alive.
unsafe fn bits(ty: CXType) -> u16 {
    // SAFETY: the unit is alive, as the caller promises.
    let bytes = unsafe { clang_Type_getSizeOf(ty) };
    u16::try_from(bytes).map_or(0, |bytes| bytes.saturating_mul(8))
}

/// Size and alignment of a record that is defined.
///
/// # Safety
/// The translation unit of `ty` is alive.
unsafe fn measured(ty: CXType) -> Option<(u64, u64)> {
    // SAFETY: the unit is alive, as the caller promises.
    let (bytes, align) = unsafe { (clang_Type_getSizeOf(ty), clang_Type_getAlignOf(ty)) };
    Some((u64::try_from(bytes).ok()?, u64::try_from(align).ok()?))
}

/// # Safety
/// The translation unit of `ty` is alive.
unsafe fn other(ty: CXType) -> Shape {
    // SAFETY: the unit is alive, as the caller promises; the string is read and freed once.
    Shape::Other(unsafe { super::text(clang_getTypeSpelling(ty)) })
}
