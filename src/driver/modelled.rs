//! Headers for which models stand in: what a verdict assumes because of that, and what is wrong with the models.
//!
//! Deliberately absent: which model stands in for which header (`models`), and where it is read (`preprocess`).

use super::Options;
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::{MissingInclude, ModelledHeader};
use crate::source::headers::is_known;
use crate::source::{SourceMap, Span};
use std::path::Path;

/// Headers of one model that an assumption names; of more it says how many there are.
const MOST_NAMES: usize = 3;

/// What every kernel of a file relies on: one assumption for each model.
pub(super) fn assumptions(modelled: &[ModelledHeader]) -> Vec<Assumption> {
    let mut models: Vec<&Path> = Vec::new();
    for header in modelled {
        if !models.contains(&header.model.as_path()) {
            models.push(&header.model);
        }
    }
    let of_model = |model: &&Path| {
        let names: Vec<&str> =
            modelled.iter().filter(|header| header.model == *model).map(|header| header.name.as_str()).collect();
        Assumption { kind: AssumptionKind::Other, text: assumed(&names, model) }
    };
    models.iter().map(of_model).collect()
}

fn assumed(names: &[&str], model: &Path) -> String {
    let model = model.display();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names {
        [only] => format!("`{only}` is as {model} has it"),
        names if names.len() > MOST_NAMES => {
            let (first, rest) = names.split_at(MOST_NAMES - 1);
            format!("{} and {} other headers are as {model} has them", quoted(first), rest.len())
        }
        [first @ .., last] => format!("{} and `{last}` are as {model} has them", quoted(first)),
        [] => String::new(),
    }
}

/// What is wrong with the models that a file was read with, if it looks for a header in vain that some of them may stand in for.
pub(super) fn problems(
    path: &Path,
    missing: &[MissingInclude],
    options: &Options,
    sources: &mut SourceMap,
) -> Vec<Diagnostic> {
    if missing.iter().all(|include| is_known(&include.name)) {
        return Vec::new();
    }
    let told = options.headers.models.problems(path).into_iter().map(|problem| {
        let file = sources.add_file(&problem.path, problem.text);
        Diagnostic {
            rule: RuleId::Parse,
            severity: Severity::Warning,
            message: problem.message,
            primary: Label { span: Span::new(file, problem.range.start, problem.range.end), text: String::new() },
            secondary: Vec::new(),
            notes: vec!["this part of the model is left out; docs/MODELS.md says how one is written".to_owned()],
            fix: None,
            hidden: None,
        }
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn headers_of_one_model_are_one_assumption() {
        let header = |name: &str, model: &str| ModelledHeader { name: name.to_owned(), model: PathBuf::from(model) };
        let told = |headers: &[ModelledHeader]| {
            assumptions(headers).into_iter().map(|assumption| assumption.text).collect::<Vec<_>>()
        };
        let all = [header("a.h", "a.toml"), header("x.h", "b.toml"), header("b.h", "a.toml")];
        assert_eq!(told(&all), ["`a.h` and `b.h` are as a.toml has them", "`x.h` is as b.toml has it"]);
        let many: Vec<ModelledHeader> = ["a", "b", "c", "d"].map(|name| header(name, "a.toml")).to_vec();
        assert_eq!(told(&many), ["`a`, `b` and 2 other headers are as a.toml has them"]);
    }
}
