//! `--show-settings`: each setting, its value, and where that comes from; `--settings-schema`.
//!
//! Deliberately absent: which files would be checked, which `check` lists itself.

use super::Sources;
use super::file::{OfKernels, Setting, Typed, Value, taken};
use super::table::{KEYS, Key, Kind, LEVELS, OF_KERNELS, Reach, named};
use crate::diagnostic::RuleId;
use anyhow::Result;
use clap::CommandFactory;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;
use std::path::Path;

/// A line for each key: `effort = "quick"  # raceproof.toml:3`.
pub(in crate::cli) fn show(sources: &Sources, file: Option<&Path>) -> Result<String> {
    let of_file = sources.settings_at(file.unwrap_or(Path::new(".")))?;
    let of_run = sources.settings_at(Path::new("."))?;
    let mut text = String::new();
    for reach in [Reach::Files, Reach::Run] {
        let settings = if reach == Reach::Files { &of_file } else { &of_run };
        for key in Sources::reaching(reach) {
            for (value, place) in origins(sources, key, settings.get(key.name)) {
                writeln!(text, "{} = {value}  # {place}", key.name)?;
            }
        }
    }
    Ok(text)
}

/// The values of a key with their places; what is typed stands above, or beside where both count.
fn origins(sources: &Sources, key: &Key, setting: Option<&Setting>) -> Vec<(String, String)> {
    let typed = key.option.filter(|id| sources.is_typed(id)).and_then(|id| sources.matches.get_raw(id));
    let typed: Option<Vec<String>> = typed.map(|all| all.map(|it| it.to_string_lossy().into_owned()).collect());
    let is_list = matches!(key.kind, Kind::Paths | Kind::Texts | Kind::Integers | Kind::PathsByFormat);
    let mut all = Vec::new();
    if let Some(setting) = setting.filter(|_| key.option.is_none_or(|id| !sources.is_overruled(id))) {
        all.push((written(&setting.value), setting.place.clone()));
    }
    if let Some(typed) = typed {
        let value = match typed.as_slice() {
            [] => "true".to_owned(),
            [one] if !is_list => plain(one, key.kind),
            many => list(many),
        };
        all.push((value, "command line".to_owned()));
    }
    if all.is_empty() {
        let argument = key.option.and_then(|id| sources.command.get_arguments().find(|it| it.get_id() == id));
        let defaults: Vec<String> = argument
            .map(|it| it.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        let value = match (key.kind, defaults.as_slice()) {
            (Kind::Switch, _) => "false".to_owned(),
            (
                Kind::Integers | Kind::Levels | Kind::RulesByPattern | Kind::LanguagesByPattern | Kind::PathsByFormat,
                [],
            ) => "{}".to_owned(),
            (_, []) if key.name == "format" => quoted("text"),
            (Kind::Paths | Kind::Texts | Kind::Patterns | Kind::Kernels, []) => "[]".to_owned(),
            (Kind::Rules, []) if key.name == "ignore" => "[]".to_owned(),
            (Kind::Rules, []) => list(&RuleId::ALL.map(|rule| rule.name().to_owned())),
            (_, []) => "(none)".to_owned(),
            (kind, [one]) if !is_list => plain(one, kind),
            (_, many) => list(many),
        };
        all.push((value, "default".to_owned()));
    }
    all
}

fn plain(text: &str, kind: Kind) -> String {
    if matches!(kind, Kind::Number | Kind::Switch) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

fn table(pairs: impl Iterator<Item = (String, String)>) -> String {
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{} = {value}", quoted(&name))).collect();
    if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
}

/// A value as it might stand in a file.
fn written(value: &Value) -> String {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    match value {
        Value::Text(text) if is_number(text) => text.clone(),
        Value::Text(text) => quoted(text),
        Value::Switch(switch) => switch.to_string(),
        Value::Texts(texts) => list(texts),
        Value::Pairs(pairs) => table(pairs.iter().cloned()),
        Value::Patterns(all) => list(&all.iter().map(|pattern| pattern.text().to_owned()).collect::<Vec<_>>()),
        Value::Kernels(all) => format!("[{}]", all.iter().map(of_kernels).collect::<Vec<_>>().join(", ")),
        Value::Rules(rules) => list(&rules.iter().map(|rule| rule.name().to_owned()).collect::<Vec<_>>()),
        Value::Levels(levels) => table(levels.iter().map(|(rule, level)| (rule.name().to_owned(), quoted(level)))),
        Value::Paths(paths) => table(paths.iter().map(|(format, path)| (format.clone(), quoted(path)))),
        Value::ByPattern(all) => table(all.iter().map(|(pattern, values)| (pattern.text().to_owned(), list(values)))),
    }
}

fn of_kernels(of: &OfKernels) -> String {
    let mut keys = vec![format!("name = {}", quoted(of.name.text()))];
    keys.extend(of.files.iter().map(|files| format!("files = {}", quoted(files.text()))));
    match &of.says {
        Typed::Launch { block, grid, params } => {
            let extents = |(name, typed): (&str, &String)| format!("{name} = [{}]", typed.replace(',', ", "));
            keys.extend(block.iter().map(|typed| extents(("block-dim", typed))));
            keys.extend(grid.iter().map(|typed| extents(("grid-dim", typed))));
            if !params.is_empty() {
                keys.push(format!("params = {}", table(params.iter().cloned())));
            }
        }
        Typed::Contract(conditions) => keys.push(format!("contract = {}", quoted(conditions))),
    }
    format!("{{ {} }}", keys.join(", "))
}

fn extents() -> Json {
    json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3})
}

fn integers() -> Json {
    json!({"type": "object", "additionalProperties": {"type": "integer"}})
}

/// The schema of a table about kernels.
fn kernels() -> Json {
    let property = |(name, kind, about): (&str, Kind, &str)| {
        let mut property = match kind {
            Kind::Extents => extents(),
            Kind::Integers => integers(),
            Kind::Texts => json!({"type": ["string", "array"], "items": {"type": "string"}}),
            _ => json!({"type": "string"}),
        };
        property["description"] = json!(about);
        (name.to_owned(), property)
    };
    let properties: Map<String, Json> = OF_KERNELS.into_iter().map(property).collect();
    json!({"type": "object", "properties": properties, "required": ["name"], "additionalProperties": false})
}

/// The JSON schema of a file, from the table of keys.
pub(in crate::cli) fn schema() -> String {
    let command = super::Cli::command();
    let rules: Vec<&str> = RuleId::ALL.iter().map(|rule| rule.name()).collect();
    let check = command.find_subcommand("check");
    let formats = named("format").and_then(|key| Some(taken(key, check?))).unwrap_or_default();
    let mut properties = Map::new();
    for key in &KEYS {
        let values = check.map(|check| taken(key, check)).unwrap_or_default();
        let text = || if values.is_empty() { json!({"type": "string"}) } else { json!({"enum": values}) };
        let list = |items: Json| json!({"type": "array", "items": items});
        let mut property = match key.kind {
            Kind::Text => text(),
            Kind::Path => json!({"type": "string"}),
            Kind::Number => json!({"type": "number"}),
            Kind::Switch => json!({"type": "boolean"}),
            Kind::Texts => list(text()),
            Kind::Paths | Kind::Patterns => list(json!({"type": "string"})),
            Kind::Extents => extents(),
            Kind::Integers => integers(),
            Kind::Rules => list(json!({"enum": rules})),
            Kind::Levels => {
                let levels = rules.iter().map(|rule| ((*rule).to_owned(), json!({"enum": LEVELS})));
                json!({"type": "object", "properties": levels.collect::<Map<_, _>>(), "additionalProperties": false})
            }
            Kind::RulesByPattern => {
                json!({"type": "object", "additionalProperties": list(json!({"enum": rules}))})
            }
            Kind::LanguagesByPattern => {
                json!({"type": "object", "additionalProperties": {"enum": ["cuda", "hip", "opencl"]}})
            }
            Kind::PathsByFormat => {
                let path = |format: String| (format, json!({"type": "string"}));
                let paths = formats.iter().cloned().map(path);
                json!({"type": "object", "properties": paths.collect::<Map<_, _>>(), "additionalProperties": false})
            }
            Kind::Kernels => list(kernels()),
        };
        property["description"] = json!(key.about);
        properties.insert(key.name.to_owned(), property);
    }
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "raceproof.toml",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    serde_json::to_string_pretty(&schema).expect("a schema is a tree of values") + "\n"
}
