//! Values that the user gives for parameters of kernels (`--param`, `params` and `[[kernels]]` in raceproof.toml), held against
//! their types.
//!
//! Guarantees: a value that a parameter cannot have is told, once for each kernel that has such a parameter; `judge::scopes` takes
//! no such value. A kernel that has no parameter of that name, or one whose type is no integer, says nothing.
//!
//! Deliberately absent: names that no kernel has, of which only the whole run can tell (`cli`).

use super::Options;
use super::own_options::options_for;
use crate::calculus::{Kernel, ScalarType};
use crate::resolve::program::{FunctionId, Program};
use std::collections::BTreeSet;

/// Which values do not fit parameters of these kernels, a line for each.
pub(super) fn misfits(program: &Program, judged: &[(FunctionId, Kernel)], options: &Options) -> Vec<String> {
    // Instances of a template may have one text.
    let mut told: BTreeSet<String> = BTreeSet::new();
    for (function, kernel) in judged {
        let span = program.functions[*function].span;
        let path = program.sources.file(program.sources.visible(span).file).path.display();
        let line = program.sources.start_position(span).line;
        let options = options_for(options, program, *function);
        for (_, param) in kernel.params.iter() {
            let Some(value) = options.judging.given(&param.name) else { continue };
            let Some((least, most)) = param.ty.range().filter(|_| !param.ty.holds(value)) else { continue };
            let (name, kernel, ty) = (&param.name, &kernel.name, written(param.ty));
            told.insert(format!(
                "--param {name}={value}: the parameter `{name}` of {kernel} ({path}:{line}) is of type {ty}, which holds \
                 {least} to {most}; {kernel} is judged as if the value were not given"
            ));
        }
    }
    told.into_iter().collect()
}

/// An integer type as C has it.
fn written(ty: ScalarType) -> String {
    let (name, is_signed) = match ty {
        ScalarType::Bool | ScalarType::Opaque { .. } => return "bool".to_owned(),
        ScalarType::Int { width, signed } => match width {
            8 => ("char", signed),
            16 => ("short", signed),
            32 => ("int", signed),
            _ => ("long", signed),
        },
    };
    let sign = match (is_signed, name) {
        (false, _) => "unsigned ",
        // Whether a plain one has a sign is the platform's choice.
        (true, "char") => "signed ",
        (true, _) => "",
    };
    format!("{sign}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::check_source;
    use std::path::Path;

    fn told(parameter: &str, values: &[i128]) -> Vec<String> {
        let text = format!("__global__ void k(int *x, {parameter}) {{ x[threadIdx.x + n] = 1; }}\n");
        let mut options = Options::default();
        options.judging.params = values.iter().map(|&value| ("n".to_owned(), value)).collect();
        check_source(Path::new("k.cu"), &text, &options).misfits
    }

    #[test]
    fn a_value_fits_the_type_of_its_parameter_or_is_told() {
        let cases: [(&str, &str, i128, i128); 8] = [
            ("unsigned char n", "unsigned char", 0, 255),
            ("signed char n", "signed char", -128, 127),
            ("short n", "short", -32_768, 32_767),
            ("unsigned short n", "unsigned short", 0, 65_535),
            ("int n", "int", i128::from(i32::MIN), i128::from(i32::MAX)),
            ("unsigned n", "unsigned int", 0, i128::from(u32::MAX)),
            ("long long n", "long", i128::from(i64::MIN), i128::from(i64::MAX)),
            ("size_t n", "unsigned long", 0, i128::from(u64::MAX)),
        ];
        for (parameter, ty, least, most) in cases {
            for value in [least, most] {
                assert_eq!(told(parameter, &[value]), Vec::<String>::new(), "{parameter}");
            }
            for value in [least - 1, most + 1] {
                let expected = format!(
                    "--param n={value}: the parameter `n` of k (k.cu:1) is of type {ty}, which holds {least} to {most}; \
                     k is judged as if the value were not given"
                );
                assert_eq!(told(parameter, &[value]), [expected]);
            }
        }
        assert_eq!(told("bool n", &[2]).len(), 1);
        assert_eq!(told("bool n", &[1]), Vec::<String>::new());
    }

    #[test]
    fn the_last_value_counts() {
        assert_eq!(told("unsigned char n", &[300, 3]), Vec::<String>::new());
        assert_eq!(told("unsigned char n", &[3, 300]).len(), 1);
    }
}
