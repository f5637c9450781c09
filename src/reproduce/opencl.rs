//! What stands beside an OpenCL reproduction: a launch description for `raceproof run`, and a file for Oclgrind.

use super::plan::{Given, Plan, PlanError};
use crate::execute::launch::host::ParameterKind;
use crate::execute::launch::{Number, Scalar, Values};
use std::fmt::Write;

/// The launch description.
pub(super) fn description(plan: &Plan) -> Result<String, PlanError> {
    Ok(plan.description("")?.text())
}

/// What `oclgrind-kernel` reads: the file, the kernel, the sizes, and the arguments in order. Nothing if it cannot say
/// what is needed: pointers into the middle of memory, and contents that are neither zero nor numbers in a row.
pub(super) fn simulation(plan: &Plan, kinds: &[ParameterKind], file: &str) -> Option<String> {
    let sizes = |sizes: [u32; 3]| sizes.map(|size| size.to_string()).join(" ");
    let all: [u32; 3] = std::array::from_fn(|axis| plan.geometry.grid[axis].saturating_mul(plan.geometry.block[axis]));
    let mut text = format!("{file}\n{}\n{}\n{}\n\n", plan.kernel, sizes(all), sizes(plan.geometry.block));
    for ((_, given), kind) in plan.arguments.iter().zip(kinds) {
        let argument = match given {
            Given::Pointer(at) => {
                let memory = &plan.memory[*at];
                let bytes = memory.bytes();
                match memory.values {
                    _ if memory.before > 0 => return None,
                    Values::Zero => format!("size={bytes} char fill=0"),
                    Values::Constant(Number::Integer(value)) => {
                        format!("size={bytes} {} fill={value}", ["char", "short", "int", "long"][log2(memory.element)])
                    }
                    _ => return None,
                }
            }
            Given::Local(bytes) => format!("size={bytes}"),
            Given::Number(number) => scalar(*number, kind)?,
            Given::Null => "null".to_owned(),
            Given::Lanes(_) | Given::Elements(_) | Given::Fields(_) | Given::Texture => return None,
        };
        let _ = writeln!(text, "<{argument}>");
    }
    Some(text)
}

fn log2(bytes: u64) -> usize {
    bytes.trailing_zeros().min(3) as usize
}

fn scalar(number: Number, kind: &ParameterKind) -> Option<String> {
    let ParameterKind::Scalars { scalar, lanes: 1 } = kind else { return None };
    let ty = match scalar {
        Scalar::Float { bytes: 2 } => return None,
        Scalar::Bool => "char".to_owned(),
        other => other.to_string(),
    };
    let value = match number {
        Number::Truth(value) => i128::from(value).to_string(),
        Number::Integer(value) => value.to_string(),
        Number::Float(value) => value.to_string(),
    };
    Some(format!("size={} {ty} fill={value}", scalar.bytes()))
}
