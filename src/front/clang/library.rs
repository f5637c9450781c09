//! The only module that touches libclang.
//!
//! [`Library::load`] loads the shared library that `LIBCLANG_PATH` names; [`Library::parse`] gives the cursors
//! and errors of a text. A crash of libclang ends the process, a hang never comes back: this runs in worker
//! processes only ([`super::worker`]).
//!
//! Deliberately absent: any meaning beyond the sort of a cursor, and its type if a job asks for it. What cursors lack (operators, literals,
//! qualifiers) is read from the tokens between them by [`super::convert`].

#![expect(unsafe_code, reason = "libclang is a C library; every call into it stands in this module")]
#![allow(clippy::wildcard_imports, reason = "nearly everything here is a name of the bindings")]
#![expect(clippy::match_overlapping_arm, reason = "what has a name comes before the rest of its group")]
#![expect(non_upper_case_globals, reason = "the constants of the bindings are named as in C")]

mod types;

use super::wire::{Called, Cursor, Fault, Job, Kind, Parsed, Typed, Valued};
use clang_sys::*;
use std::ffi::{CStr, CString, c_int, c_uint};
use std::ops::Range;
use std::ptr;

/// Older ones lack what agreement with this one is tested for.
const OLDEST: u32 = 17;
/// The name of the one file; it is never looked for on disk.
const FILE: &CStr = c"/raceproof-unit";

// The bounds of libclang's groups of cursors, which the bindings do not name.
const FIRST_DECLARATION: CXCursorKind = 1;
const FIRST_REFERENCE: CXCursorKind = 40;
const FIRST_EXPRESSION: CXCursorKind = 100;
const FIRST_STATEMENT: CXCursorKind = 200;
const AFTER_STATEMENTS: CXCursorKind = 350;
const FIRST_EXTRA: CXCursorKind = 600;
const AFTER_EXTRA: CXCursorKind = 700;

/// A loaded libclang, for the thread that loaded it.
pub(super) struct Library {
    index: CXIndex,
    /// Its version, in its own words.
    pub(super) version: String,
}

/// Why libclang gives nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum LibraryError {
    /// In the words of the loader.
    #[error("{0}")]
    NotLoaded(String),
    #[error("{0} is too old; {OLDEST} or later is needed")]
    TooOld(String),
    #[error("no index can be made")]
    NoIndex,
    #[error("a zero byte in an argument")]
    ZeroByte,
    #[error("libclang crashed")]
    Crashed,
    #[error("libclang gave no answer (code {0})")]
    NoAnswer(CXErrorCode),
}

/// Why the one file that is named cannot be loaded; the rest of what `clang_sys` says is about where others would be sought.
fn reason(told: &str) -> &str {
    let invalid = told.split_once("(invalid: [(").and_then(|(_, rest)| rest.strip_suffix(")])"));
    invalid.and_then(|invalid| invalid.split_once(": ")).map_or(told, |(_, why)| why)
}

impl Library {
    /// Loads libclang for this thread.
    pub(super) fn load() -> Result<Library, LibraryError> {
        clang_sys::load().map_err(|told| LibraryError::NotLoaded(reason(&told).to_owned()))?;
        // SAFETY: the library is loaded; the string is read and freed once.
        let version = unsafe { text(clang_getClangVersion()) };
        match major(&version) {
            Some(found) if found >= OLDEST => {}
            _ => return Err(LibraryError::TooOld(version)),
        }
        // SAFETY: the library is loaded; the index is freed by `drop`.
        let index = unsafe { clang_createIndex(0, 0) };
        if index.is_null() { Err(LibraryError::NoIndex) } else { Ok(Library { index, version }) }
    }

    /// Parses the text of `job`.
    pub(super) fn parse(&self, job: &Job) -> Result<Parsed, LibraryError> {
        let arguments = job.arguments.iter().map(|argument| CString::new(argument.as_str()));
        let arguments = arguments.collect::<Result<Vec<_>, _>>().map_err(|_| LibraryError::ZeroByte)?;
        let pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let mut file =
            CXUnsavedFile { Filename: FILE.as_ptr(), Contents: job.text.as_ptr().cast(), Length: job.text.len() as _ };
        let mut unit = ptr::null_mut();
        // SAFETY: every pointer is valid for the call and the lengths are those of what they point to. The unit is
        // freed by `Unit`'s `drop`.
        let status = unsafe {
            clang_parseTranslationUnit2(
                self.index,
                FILE.as_ptr(),
                pointers.as_ptr(),
                pointers.len() as c_int,
                &raw mut file,
                1,
                // A missing header must not hide later errors.
                CXTranslationUnit_KeepGoing,
                &raw mut unit,
            )
        };
        match status {
            CXError_Success if !unit.is_null() => Ok(Unit(unit).read(job)),
            CXError_Crashed => Err(LibraryError::Crashed),
            code => Err(LibraryError::NoAnswer(code)),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the index came from `clang_createIndex` and is freed once.
        unsafe { clang_disposeIndex(self.index) }
    }
}

/// A parsed text.
struct Unit(CXTranslationUnit);

impl Unit {
    fn read(&self, job: &Job) -> Parsed {
        let mut found = Collected { from: job.from, parsed: Parsed::default() };
        // SAFETY: the unit is alive; `collect` gets a pointer to `found`, which outlives the call and is not used
        // otherwise meanwhile.
        unsafe {
            let root = clang_getTranslationUnitCursor(self.0);
            clang_visitChildren(root, collect, (&raw mut found).cast());
        }
        Parsed { errors: self.errors(), ..found.parsed }
    }

    fn errors(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        // SAFETY: the unit is alive; each diagnostic is freed after its parts were copied.
        unsafe {
            for at in 0..clang_getNumDiagnostics(self.0) {
                let diagnostic = clang_getDiagnostic(self.0, at);
                if clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error {
                    let at = offset(clang_getDiagnosticLocation(diagnostic));
                    let message = text(clang_getDiagnosticSpelling(diagnostic));
                    faults.push(Fault { at, message });
                }
                clang_disposeDiagnostic(diagnostic);
            }
        }
        faults
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: the unit came from `clang_parseTranslationUnit2` and is freed once.
        unsafe { clang_disposeTranslationUnit(self.0) }
    }
}

/// What a visit gathers.
struct Collected {
    from: u32,
    parsed: Parsed,
}

/// Called by libclang for every cursor.
extern "C" fn collect(cursor: CXCursor, _parent: CXCursor, data: CXClientData) -> CXChildVisitResult {
    // SAFETY: `data` is the pointer that `Unit::read` passed, to a value that only this function uses meanwhile;
    // the cursor is alive during the call.
    let (found, raw, start, end, at) = unsafe {
        let extent = clang_getCursorExtent(cursor);
        (
            &mut *data.cast::<Collected>(),
            // Of a template, what its instances are.
            match clang_getCursorKind(cursor) {
                CXCursor_FunctionTemplate => clang_getTemplateCursorKind(cursor),
                kind => kind,
            },
            offset(clang_getRangeStart(extent)),
            offset(clang_getRangeEnd(extent)),
            offset(clang_getCursorLocation(cursor)),
        )
    };
    if end <= found.from && raw < FIRST_EXPRESSION {
        return CXChildVisit_Continue;
    }
    if let Some(kind) = kind(raw)
        && start >= found.from
        && end > start
    {
        let Parsed { cursors, types, values, calls, .. } = &mut found.parsed;
        cursors.push(Cursor { kind, start, end, at });
        // SAFETY: the cursor is alive during the calls.
        unsafe {
            match kind {
                Kind::Variable => {
                    types.push(Typed { at, shape: types::of(cursor) });
                    values.extend(constant(cursor).map(|value| Valued { at, value }));
                }
                Kind::Call => {
                    let called = called(cursor, start..end);
                    calls.extend(called.filter(|called| called.declared >= found.from));
                }
                _ if raw == CXCursor_EnumConstantDecl && !is_in_template(cursor) => {
                    values.push(Valued { at, value: clang_getEnumConstantDeclValue(cursor) });
                }
                _ => {}
            }
        }
    }
    CXChildVisit_Recurse
}

/// Where the function of a call is declared and defined, if the call is of one function whatever happens.
///
/// # Safety
/// The translation unit of `call` is alive.
unsafe fn called(call: CXCursor, range: Range<u32>) -> Option<Called> {
    // SAFETY: the unit is alive, as the caller promises; libclang accepts null cursors.
    unsafe {
        let function = clang_getCursorReferenced(call);
        if clang_Cursor_isNull(function) != 0 || clang_Cursor_isDynamicCall(call) != 0 {
            return None;
        }
        // A parameter or a member that holds a function is none.
        let is_function = matches!(
            clang_getCursorKind(function),
            CXCursor_FunctionDecl
                | CXCursor_CXXMethod
                | CXCursor_Constructor
                | CXCursor_ConversionFunction
                | CXCursor_FunctionTemplate
        );
        if !is_function {
            return None;
        }
        let mut definition = clang_getCursorDefinition(function);
        if clang_Cursor_isNull(definition) != 0 {
            definition = clang_getCursorDefinition(clang_getSpecializedCursorTemplate(function));
        }
        let declared = offset(clang_getCursorLocation(function));
        let defined =
            if clang_Cursor_isNull(definition) != 0 { declared } else { offset(clang_getCursorLocation(definition)) };
        let copies = clang_CXXConstructor_isCopyConstructor(function) != 0
            || clang_CXXConstructor_isMoveConstructor(function) != 0;
        Some(Called { start: range.start, end: range.end, declared, defined, copies })
    }
}

/// Whether a declaration stands in a template: values there are those of no instance.
///
/// # Safety
/// The translation unit of `cursor` is alive.
unsafe fn is_in_template(cursor: CXCursor) -> bool {
    let mut around = cursor;
    loop {
        // SAFETY: the unit is alive, as the caller promises; the parent of a unit is null, and null is of no kind.
        let kind = unsafe {
            around = clang_getCursorSemanticParent(around);
            clang_getCursorKind(around)
        };
        match kind {
            CXCursor_ClassTemplate | CXCursor_ClassTemplatePartialSpecialization | CXCursor_FunctionTemplate => {
                return true;
            }
            CXCursor_TranslationUnit => return false,
            // SAFETY: as above.
            _ if unsafe { clang_Cursor_isNull(around) != 0 } => return false,
            _ => {}
        }
    }
}

/// The value of a variable that is a constant number.
///
/// # Safety
/// The translation unit of `variable` is alive.
unsafe fn constant(variable: CXCursor) -> Option<i64> {
    // SAFETY: the unit is alive, as the caller promises; what is evaluated is freed once.
    unsafe {
        let ty = clang_getCanonicalType(clang_getCursorType(variable));
        let is_number = (CXType_Bool..=CXType_Int128).contains(&ty.kind) || ty.kind == CXType_Enum;
        if clang_getCursorKind(variable) != CXCursor_VarDecl
            || !is_number
            || clang_isConstQualifiedType(ty) == 0
            || is_in_template(variable)
        {
            return None;
        }
        let result = clang_Cursor_Evaluate(variable);
        if result.is_null() {
            return None;
        }
        let is_signed = clang_EvalResult_isUnsignedInt(result) == 0;
        let value = match clang_EvalResult_getKind(result) {
            CXEval_Int if is_signed => Some(clang_EvalResult_getAsLongLong(result)),
            CXEval_Int => i64::try_from(clang_EvalResult_getAsUnsigned(result)).ok(),
            _ => None,
        };
        clang_EvalResult_dispose(result);
        value
    }
}

/// The sort of a cursor; `None` for references, attributes and whatever else is read from the tokens.
fn kind(raw: CXCursorKind) -> Option<Kind> {
    Some(match raw {
        CXCursor_FunctionDecl | CXCursor_FunctionTemplate => Kind::Function,
        CXCursor_CXXMethod => Kind::Method,
        CXCursor_Constructor => Kind::Constructor,
        CXCursor_Destructor => Kind::Destructor,
        CXCursor_ConversionFunction => Kind::Conversion,
        CXCursor_VarDecl | CXCursor_FieldDecl | CXCursor_ParmDecl => Kind::Variable,
        CXCursor_DeclStmt => Kind::DeclarationStatement,
        CXCursor_CXXForRangeStmt => Kind::RangeFor,
        CXCursor_UnexposedExpr => Kind::Unexposed,
        CXCursor_CallExpr => Kind::Call,
        CXCursor_ParenExpr => Kind::Parenthesis,
        CXCursor_CStyleCastExpr => Kind::Cast,
        CXCursor_LambdaExpr => Kind::Lambda,
        CXCursor_StmtExpr => Kind::StatementExpression,
        CXCursor_CXXNewExpr | CXCursor_CXXDeleteExpr => Kind::Heap,
        CXCursor_PackExpansionExpr => Kind::Pack,
        CXCursor_CXXThrowExpr
        | CXCursor_CXXTypeidExpr
        | CXCursor_GenericSelectionExpr
        | CXCursor_AddrLabelExpr
        | CXCursor_BlockExpr
        | CXCursor_SizeOfPackExpr => Kind::Foreign,
        FIRST_EXPRESSION..FIRST_STATEMENT => Kind::Expression,
        FIRST_STATEMENT..AFTER_STATEMENTS => Kind::Statement,
        FIRST_DECLARATION..FIRST_REFERENCE | FIRST_EXTRA..AFTER_EXTRA => Kind::Declaration,
        _ => return None,
    })
}

/// The byte that a place shows in the one file; `0` for no place.
///
/// # Safety
/// The translation unit of `place` is alive.
unsafe fn offset(place: CXSourceLocation) -> u32 {
    let mut offset: c_uint = 0;
    // SAFETY: libclang accepts null for what is not asked; the unit is alive, as the caller promises.
    unsafe { clang_getExpansionLocation(place, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &raw mut offset) };
    offset
}

/// Copies and frees a string of libclang.
///
/// # Safety
/// `string` is alive and is not used afterwards.
unsafe fn text(string: CXString) -> String {
    // SAFETY: the pointer is null or ends with a zero byte, and lives until the string is freed.
    unsafe {
        let pointer = clang_getCString(string);
        let copy =
            if pointer.is_null() { String::new() } else { CStr::from_ptr(pointer).to_string_lossy().into_owned() };
        clang_disposeString(string);
        copy
    }
}

/// The first number of `… clang version 18.1.1 …`.
fn major(version: &str) -> Option<u32> {
    let rest = version.split("version ").nth(1)?;
    rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_version_is_found_in_what_libclang_calls_itself() {
        assert_eq!(major("Debian clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(major("clang version 18.1.1 (https://github.com/llvm/llvm-project.git dba2a75e9)"), Some(18));
        assert_eq!(major("nothing of the kind"), None);
    }
}
