//! Annotations that kernels carry for other checkers: GPUVerify's, Faial's and the compilers' own.

use super::functions::{Meaning, ResultType, fixed, meaning, unmodelled};
use super::types::Scalar;
use super::{Builtin, Claim, Formula};

const BOOL: Scalar = Scalar::Bool;

/// What an annotation means. Those that are known and not implemented say so by name: taking them for nothing
/// would lose an assumption, and with it what the user meant to be checked.
pub(super) fn annotation(name: &str) -> Option<Meaning> {
    Some(match name {
        "__builtin_assume" | "__assume" | "__requires" | "__global_requires" => {
            meaning(Builtin::Assume, ResultType::Void)
        }
        "__assert" | "__global_assert" | "__builtin_assert" | "__invariant" | "__global_invariant" => {
            claim(Claim::Asserted)
        }
        "__candidate_invariant" | "__candidate_global_invariant" => claim(Claim::Candidate),
        "__ensures" | "__global_ensures" => claim(Claim::Ensured),
        "__requires_fresh_array" | "__non_temporal_loads_begin" | "__non_temporal_loads_end" => {
            meaning(Builtin::Nothing, ResultType::Void)
        }
        "__implies" => meaning(Builtin::Formula(Formula::Implies), fixed(BOOL)),
        "__ite" => meaning(Builtin::Formula(Formula::IfThenElse), ResultType::Common),
        "__is_pow2" => meaning(Builtin::Formula(Formula::IsPowerOfTwo), fixed(BOOL)),
        "__mod_pow2" => meaning(Builtin::Formula(Formula::ModuloPowerOfTwo), ResultType::First),
        "__enabled" => meaning(Builtin::Formula(Formula::Enabled), fixed(BOOL)),
        // What they claim is proved by nobody here; without them the kernel means the same.
        "__function_wide_invariant"
        | "__function_wide_candidate_invariant"
        | "__barrier_invariant"
        | "__barrier_invariant_1"
        | "__barrier_invariant_2"
        | "__barrier_invariant_binary"
        | "__reads_from"
        | "__writes_to"
        | "__reads_from_local"
        | "__writes_to_local" => meaning(Builtin::Unchecked, ResultType::Void),
        "__exclusive" | "__same_group" | "__read" | "__write" | "__no_read" | "__no_write" | "__read_implies"
        | "__write_implies" | "__non_temporal" => unmodelled(&format!("annotation `{name}`"), false, fixed(BOOL)),
        _ if name.starts_with("__uniform_") => meaning(Builtin::Uniform, fixed(BOOL)),
        _ if name.starts_with("__distinct_") => meaning(Builtin::Distinct, fixed(BOOL)),
        _ if name.starts_with("__other_") => unmodelled(&format!("annotation `{name}`"), false, ResultType::First),
        _ => return None,
    })
}

fn claim(claim: Claim) -> Meaning {
    meaning(Builtin::Claim(claim), ResultType::Void)
}
