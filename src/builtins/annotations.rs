//! Annotations that kernels carry for other checkers: GPUVerify's, Faial's and the compilers' own.

use super::functions::{Meaning, ResultType, fixed, meaning, unmodelled_value};
use super::types::Scalar;
use super::{Builtin, Claim, Direction, Formula, OffsetUnit};
use crate::source::Language;

const BOOL: Scalar = Scalar::Bool;
const SIZE: Scalar = Scalar::Int { width: 64, signed: false };

/// The compilers' own assumption.
pub const ASSUMPTION: &str = "__builtin_assume";

/// What an annotation means. Those that are known and not implemented say so by name: taking them for nothing
/// would lose an assumption, and with it what the user meant to be checked.
pub(super) fn annotation(language: Language, name: &str) -> Option<Meaning> {
    Some(match name {
        ASSUMPTION | "__assume" => meaning(Builtin::Assume, ResultType::Void),
        "__requires" | "__global_requires" => meaning(Builtin::Require, ResultType::Void),
        "__assert" | "__global_assert" | "__builtin_assert" | "__invariant" | "__global_invariant" => {
            claim(Claim::Asserted)
        }
        "__candidate_invariant" | "__candidate_global_invariant" => claim(Claim::Candidate),
        "__ensures" | "__global_ensures" => claim(Claim::Ensured),
        "__requires_fresh_array" | "__non_temporal_loads_begin" | "__non_temporal_loads_end" => {
            meaning(Builtin::Nothing, ResultType::Void)
        }
        "__implies" => formula(Formula::Implies, fixed(BOOL)),
        "__ite" => formula(Formula::IfThenElse, ResultType::Common),
        "__is_pow2" => formula(Formula::IsPowerOfTwo, fixed(BOOL)),
        "__mod_pow2" => formula(Formula::ModuloPowerOfTwo, ResultType::First),
        "__enabled" => formula(Formula::Enabled, fixed(BOOL)),
        "__function_wide_invariant" => claim(Claim::FunctionWide),
        "__function_wide_candidate_invariant" => claim(Claim::FunctionWideCandidate),
        "__reads_from"
        | "__reads_from_local"
        | "__reads_from_global"
        | "__writes_to"
        | "__writes_to_local"
        | "__writes_to_global" => meaning(Builtin::Specified, ResultType::Void),
        "__read" => formula(Formula::Accessed(Direction::Read), fixed(BOOL)),
        "__write" => formula(Formula::Accessed(Direction::Write), fixed(BOOL)),
        "__no_read" => formula(Formula::NotAccessed(Direction::Read), fixed(BOOL)),
        "__no_write" => formula(Formula::NotAccessed(Direction::Write), fixed(BOOL)),
        "__read_implies" => formula(Formula::AccessImplies(Direction::Read), fixed(BOOL)),
        "__write_implies" => formula(Formula::AccessImplies(Direction::Write), fixed(BOOL)),
        "__read_offset_bytes" => formula(Formula::AccessOffset(Direction::Read, OffsetUnit::Bytes), fixed(SIZE)),
        "__write_offset_bytes" => formula(Formula::AccessOffset(Direction::Write, OffsetUnit::Bytes), fixed(SIZE)),
        "__read_offset" => formula(Formula::AccessOffset(Direction::Read, OffsetUnit::Elements), fixed(SIZE)),
        "__write_offset" => formula(Formula::AccessOffset(Direction::Write, OffsetUnit::Elements), fixed(SIZE)),
        "__exclusive" => formula(Formula::Exclusive, fixed(BOOL)),
        "__same_group" => formula(Formula::SameGroup, fixed(BOOL)),
        // In CUDA it is a vote, unless it stands in an annotation.
        "__all" if language == Language::OpenCl => formula(Formula::Both, fixed(BOOL)),
        "__non_temporal" => unmodelled_value(&format!("annotation `{name}`"), fixed(BOOL)),
        // What follows the condition says for which threads other checkers may use it.
        _ if name.starts_with("__barrier_invariant") => claim(Claim::Asserted),
        _ if name.starts_with("__uniform_") => formula(Formula::Uniform, fixed(BOOL)),
        _ if name.starts_with("__distinct_") => formula(Formula::Distinct, fixed(BOOL)),
        _ if name.starts_with("__other_") => formula(Formula::Other, ResultType::First),
        _ => return None,
    })
}

fn formula(formula: Formula, result: ResultType) -> Meaning {
    meaning(Builtin::Formula(formula), result)
}

fn claim(claim: Claim) -> Meaning {
    meaning(Builtin::Claim(claim), ResultType::Void)
}
