//! Functions of libraries that come with CUDA and have device code: cuRAND and `nvcuda::wmma`. Their names are
//! specific enough to be known without their headers.
//!
//! Deliberately absent: CUB and Thrust, whose functions take part in barriers.

use super::functions::{Meaning, ResultType, fixed, meaning};
use super::types::{DOUBLE, FLOAT, NamedType, UINT, ULONG};
use super::{Builtin, Fragment, Random};

/// What the function of that name means. Names come without namespaces.
pub(super) fn library(name: &str) -> Option<Meaning> {
    let rest =
        name.strip_prefix("curand").or_else(|| name.strip_prefix("hiprand").or_else(|| name.strip_prefix("rocrand")));
    if let Some(rest) = rest {
        return random(rest);
    }
    let of_fragments = |what, result| Some(meaning(Builtin::Fragment(what), result));
    match name {
        "skipahead" | "skipahead_sequence" | "skipahead_subsequence" => {
            Some(meaning(Builtin::Random(Random::Skip), ResultType::Void))
        }
        "load_matrix_sync" => of_fragments(Fragment::Load, ResultType::Void),
        "store_matrix_sync" => of_fragments(Fragment::Store, ResultType::Void),
        "__float_to_tf32" => Some(meaning(Builtin::Pure, fixed(FLOAT))),
        "fill_fragment" | "mma_sync" | "bmma_sync" => of_fragments(Fragment::Compute, ResultType::Void),
        _ => None,
    }
}

/// cuRAND's functions, by what follows `curand` in their names.
fn random(rest: &str) -> Option<Meaning> {
    let vector = |lane, lanes| ResultType::Fixed(NamedType::Vector(lane, lanes));
    let result = match rest {
        "_init" => return Some(meaning(Builtin::Random(Random::Seed), ResultType::Void)),
        "" | "_poisson" | "_discrete" => fixed(UINT),
        "_long_long" => fixed(ULONG),
        "_uniform" | "_normal" | "_log_normal" => fixed(FLOAT),
        "_uniform_double" | "_normal_double" | "_log_normal_double" => fixed(DOUBLE),
        "_normal2" | "_log_normal2" | "_uniform2" => vector(FLOAT, 2),
        "_normal2_double" | "_log_normal2_double" | "_uniform2_double" => vector(DOUBLE, 2),
        "4" | "_poisson4" | "_discrete4" => vector(UINT, 4),
        "_uniform4" | "_normal4" | "_log_normal4" => vector(FLOAT, 4),
        _ => return None,
    };
    Some(meaning(Builtin::Random(Random::Draw), result))
}
