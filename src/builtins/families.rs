//! Families of CUDA's functions whose names say what they are: conversions, SIMD within a word, dynamic programming, arithmetic
//! of `half` and `__nv_bfloat16`, complex numbers. All compute a value of their arguments and touch no memory.
//!
//! Deliberately absent: what they compute.

use super::Builtin;
use super::functions::{Meaning, ResultType, fixed, meaning, pure};
use super::types::{DOUBLE, FLOAT, HALF, INT, LONG, NamedType, SHORT, Scalar, UCHAR, UINT, ULONG, USHORT, named_type};
use crate::source::Language;

/// What the function of that name means, if it is one of a family.
pub(super) fn of_form(name: &str) -> Option<Meaning> {
    made_vector(name).or_else(|| {
        let result = rounded(name)
            .or_else(|| conversion(name))
            .or_else(|| within_a_word(name))
            .or_else(|| of_dynamic_programming(name))
            .or_else(|| of_half(name))
            .or_else(|| complex(name))?;
        Some(pure(result))
    })
}

/// `make_float4` and its kin, `make_cuComplex`.
fn made_vector(name: &str) -> Option<Meaning> {
    let vector = name.strip_prefix("make_")?;
    let is_complex = matches!(vector, "cuComplex" | "cuFloatComplex" | "cuDoubleComplex");
    let made = named_type(Language::Cuda, vector)?;
    let is_vector = is_complex || matches!(made, NamedType::Vector(..));
    is_vector.then(|| meaning(Builtin::MakeVector(vector.to_owned()), ResultType::Fixed(made)))
}

/// A name without the direction in which it rounds.
fn without_rounding(name: &str) -> Option<&str> {
    ["_rn", "_rz", "_ru", "_rd"].iter().find_map(|rounding| name.strip_suffix(rounding))
}

/// `__fadd_rn`, `__dmul_rz`, `__frcp_ru` …
fn rounded(name: &str) -> Option<ResultType> {
    let stem = without_rounding(name)?;
    let operation =
        |rest: &str| matches!(rest, "add" | "sub" | "mul" | "div" | "ma" | "maf" | "rcp" | "sqrt" | "rsqrt");
    if stem.strip_prefix("__f").is_some_and(operation) {
        return Some(fixed(FLOAT));
    }
    (stem.strip_prefix("__d").is_some_and(operation) || stem == "__fma").then(|| fixed(DOUBLE))
}

/// `__float2int_rd`, `__ll2double_ru`, `__ushort_as_half`, `__float22half2_rn` …
fn conversion(name: &str) -> Option<ResultType> {
    let plain = without_rounding(name).unwrap_or(name).strip_prefix("__")?;
    if let Some((from, to)) = plain.split_once("_as_") {
        return Some(fixed(scalar(from).and(scalar(to))?));
    }
    match plain {
        "float22half2" | "float22bfloat162" | "float2bfloat162" | "floats2bfloat162" => return Some(pair(HALF)),
        "half22float2" | "bfloat1622float2" => return Some(pair(FLOAT)),
        _ => {}
    }
    let places = plain.match_indices('2').map(|(at, _)| at);
    let mut ends = places.filter(|&at| scalar(&plain[..at]).is_some());
    ends.find_map(|at| scalar(&plain[at + 1..])).map(fixed)
}

fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "short" => SHORT,
        "ushort" => USHORT,
        "uchar" => UCHAR,
        "int" => INT,
        "uint" => UINT,
        "ll" | "longlong" => LONG,
        "ull" => ULONG,
        "float" => FLOAT,
        "double" => DOUBLE,
        "half" | "bfloat16" => HALF,
        _ => return None,
    })
}

/// `__vadd2`, `__vabsdiffu4`, `__vmaxs4`: two or four numbers in one word.
fn within_a_word(name: &str) -> Option<ResultType> {
    let stem = name.strip_prefix("__v")?.strip_suffix(['2', '4'])?;
    let operation = ["absdiff", "abs", "add", "sub", "neg", "avg", "hadd", "max", "min", "sad", "cmp", "set"]
        .iter()
        .find_map(|operation| stem.strip_prefix(operation))?;
    let how = ["", "s", "u", "ss", "us", "eq", "ne", "ges", "geu", "gts", "gtu", "les", "leu", "lts", "ltu"];
    how.contains(&operation).then(|| fixed(UINT))
}

/// `__vimax3_s32`, `__viaddmin_u16x2`, `__vimin_s32_relu`: the instructions for dynamic programming. Those that say which operand
/// it was (`__vibmax_s32`) write that through a pointer, and are none of these.
fn of_dynamic_programming(name: &str) -> Option<ResultType> {
    let (operation, of) = name.strip_prefix("__vi")?.split_once('_')?;
    let (of, is_clamped) = match of.strip_suffix("_relu") {
        Some(of) => (of, true),
        None => (of, false),
    };
    let is_known = match operation {
        "max3" | "min3" | "addmax" | "addmin" => true,
        // Without the clamp these are `max` and `min`.
        "max" | "min" => is_clamped,
        _ => false,
    };
    let result = match of {
        "s32" => INT,
        "s16x2" => UINT,
        "u32" | "u16x2" if !is_clamped => UINT,
        _ => return None,
    };
    is_known.then(|| fixed(result))
}

/// `hsin`, `h2exp`, `__hmax`, `__hadd2_sat`, `__hgt2`, `__nv_cvt_float_to_fp8` …
fn of_half(name: &str) -> Option<ResultType> {
    let function = |rest: &str| {
        matches!(
            rest,
            "exp"
                | "exp2"
                | "exp10"
                | "log"
                | "log2"
                | "log10"
                | "sqrt"
                | "rsqrt"
                | "rcp"
                | "sin"
                | "cos"
                | "tanh"
                | "floor"
                | "ceil"
                | "trunc"
                | "rint"
        )
    };
    if name.strip_prefix("h2").is_some_and(function) {
        return Some(pair(HALF));
    }
    if name.strip_prefix('h').is_some_and(function) {
        return Some(fixed(HALF));
    }
    match name {
        "__nv_cvt_float_to_fp8"
        | "__nv_cvt_double_to_fp8"
        | "__nv_cvt_halfraw_to_fp8"
        | "__nv_cvt_bfloat16raw_to_fp8" => return Some(fixed(UCHAR)),
        "__nv_cvt_float2_to_fp8x2" | "__nv_cvt_double2_to_fp8x2" => return Some(fixed(USHORT)),
        "__lows2half2"
        | "__highs2half2"
        | "__lowhigh2highlow"
        | "__halves2bfloat162"
        | "__bfloat162bfloat162"
        | "__low2half2"
        | "__high2half2"
        | "__low2bfloat162"
        | "__high2bfloat162" => return Some(pair(HALF)),
        "__low2bfloat16" | "__high2bfloat16" => return Some(fixed(HALF)),
        "__hisnan" | "__hisinf" => return Some(fixed(INT)),
        "__hisnan2" => return Some(pair(HALF)),
        _ => {}
    }
    let plain = ["_rn", "_sat", "_relu", "_nan"].iter().find_map(|how| name.strip_suffix(how)).unwrap_or(name);
    let rest = plain.strip_prefix("__h")?;
    let (rest, is_pair) = rest.strip_suffix('2').map_or((rest, false), |rest| (rest, true));
    let compares = |rest: &str| {
        let rest = rest.strip_suffix('u').unwrap_or(rest);
        matches!(rest, "eq" | "ne" | "gt" | "ge" | "lt" | "le")
    };
    match rest {
        "2div" => Some(pair(HALF)),
        "add" | "sub" | "mul" | "div" | "fma" | "neg" | "abs" | "max" | "min" if is_pair => Some(pair(HALF)),
        // `__hadd` is the average of integers, too.
        "add" => Some(ResultType::First),
        "sub" | "mul" | "div" | "fma" | "neg" | "abs" | "max" | "min" => Some(fixed(HALF)),
        _ if rest.strip_prefix('b').is_some_and(compares) && is_pair => Some(fixed(INT)),
        _ if compares(rest) => Some(if is_pair { pair(HALF) } else { fixed(INT) }),
        _ => None,
    }
}

/// `cuCmulf`, `cuCabs`, `cuConj` …
fn complex(name: &str) -> Option<ResultType> {
    match name {
        "cuComplexFloatToDouble" => return Some(pair(DOUBLE)),
        "cuComplexDoubleToFloat" => return Some(pair(FLOAT)),
        _ => {}
    }
    let rest = name.strip_prefix("cu")?;
    let (stem, scalar) = rest.strip_suffix('f').map_or((rest, DOUBLE), |stem| (stem, FLOAT));
    match stem {
        "Cadd" | "Csub" | "Cmul" | "Cdiv" | "Cfma" | "Conj" => Some(pair(scalar)),
        "Creal" | "Cimag" | "Cabs" => Some(fixed(scalar)),
        _ => None,
    }
}

fn pair(lane: Scalar) -> ResultType {
    ResultType::Fixed(NamedType::Vector(lane, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_type_of_the_result() {
        for (name, result) in [
            ("__float2ull_rd", fixed(ULONG)),
            ("__ll2double_ru", fixed(DOUBLE)),
            ("__ushort_as_bfloat16", fixed(HALF)),
            ("__double_as_longlong", fixed(LONG)),
            ("__float22bfloat162_rn", pair(HALF)),
            ("__vabsdiffu4", fixed(UINT)),
            ("__hmax", fixed(HALF)),
            ("__hmul2_sat", pair(HALF)),
            ("__hbge2", fixed(INT)),
            ("__hgt", fixed(INT)),
            ("h2exp", pair(HALF)),
            ("cuCmulf", pair(FLOAT)),
            ("cuCabs", fixed(DOUBLE)),
        ] {
            assert_eq!(of_form(name), Some(pure(result)), "{name}");
        }
        for name in ["__vote", "__half", "__2", "cuCtxCreate", "__float2", "hash", "__vadd3", "__hypot"] {
            assert_eq!(of_form(name), None, "{name}");
        }
    }
}
