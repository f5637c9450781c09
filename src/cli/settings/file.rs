//! A settings file as it is read: which keys it has, where, and what is wrong with them.
//!
//! Guarantees: every error names the file, the line and the column; a key that is not known is one. Paths and patterns are
//! relative to the directory of the file.
//!
//! Deliberately absent: which file counts for what, and what the keys do.

use super::table::{KEYS, Key, Kind, LEVELS, OF_KERNELS, named};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::StatedAt;
use crate::driver::contract_file::conditions;
use crate::source::LineIndex;
use crate::source::patterns::{NamePattern, PathPattern};
use crate::source::spelling::nearest;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Command;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a key is set to.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Switch(bool),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
    Patterns(Vec<PathPattern>),
    Rules(Vec<RuleId>),
    Levels(Vec<(RuleId, String)>),
    ByPattern(Vec<(PathPattern, Vec<String>)>),
    Kernels(Vec<OfKernels>),
    Paths(Vec<(String, String)>),
}

/// What is said of kernels that a pattern fits, as it was typed.
#[derive(Clone, Debug)]
pub(super) struct OfKernels {
    pub(super) name: NamePattern,
    pub(super) files: Option<PathPattern>,
    pub(super) at: StatedAt,
    pub(super) says: Typed,
}

/// A launch as options have it, or the conditions of a contract.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Launch { block: Option<String>, grid: Option<String>, params: Vec<(String, String)> },
    Contract(String),
}

/// A key that is set.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) value: Value,
    /// `raceproof.toml:3`, or the option that sets it.
    pub(super) place: String,
}

/// Settings of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) path: Option<PathBuf>,
    pub(super) all: Vec<Setting>,
}

impl Settings {
    pub(super) fn get(&self, key: &str) -> Option<&Setting> {
        self.all.iter().find(|setting| setting.key == key)
    }

    /// These with others above them.
    pub(super) fn under(mut self, above: &Settings) -> Settings {
        self.all.retain(|setting| above.get(setting.key).is_none());
        self.all.extend(above.all.iter().cloned());
        self.all.sort_by_key(|setting| KEYS.iter().position(|key| key.name == setting.key));
        self
    }
}

/// Where a text of settings is from.
struct Text<'a> {
    text: &'a str,
    name: String,
    root: PathBuf,
    lines: LineIndex,
    /// The command `check`, which knows what its options take.
    command: &'a Command,
    is_typed: bool,
}

/// Reads a file.
pub(super) fn read(path: &Path, command: &Command) -> Result<Settings> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let absolute = std::path::absolute(path)?;
    let root = absolute.parent().unwrap_or(Path::new("/")).to_path_buf();
    let name = path.display().to_string();
    let text = Text { text: &text, name, root, lines: LineIndex::new(&text), command, is_typed: false };
    Ok(Settings { path: Some(path.to_path_buf()), all: text.settings()? })
}

/// Reads `KEY=VALUE`, as typed; a value that is no TOML is a text.
pub(super) fn typed(typed: &str, command: &Command) -> Result<Settings> {
    let (key, value) = typed.split_once('=').context("--config: give KEY=VALUE, or a file")?;
    let parses = |text: &str| DeTable::parse(text).is_ok();
    let quoted = format!("{key} = {value:?}");
    let line = if parses(typed) { typed.to_owned() } else { quoted };
    let (name, root) = ("--config".to_owned(), std::env::current_dir()?);
    let text = Text { text: &line, name, root, lines: LineIndex::new(&line), command, is_typed: true };
    Ok(Settings { path: None, all: text.settings()? })
}

impl Text<'_> {
    fn place(&self, at: usize) -> String {
        let position = self.lines.position(self.text, at);
        if self.is_typed { self.name.clone() } else { format!("{}:{}", self.name, position.line) }
    }

    /// Where a table stands that reports refer to.
    fn stated_at(&self, at: usize) -> StatedAt {
        StatedAt { path: PathBuf::from(&self.name), line: self.lines.position(self.text, at).line }
    }

    fn error(&self, at: usize, message: &str) -> anyhow::Error {
        let position = self.lines.position(self.text, at);
        match self.is_typed {
            true => anyhow!("{}: {message}", self.name),
            false => anyhow!("{}:{}:{}: {message}", self.name, position.line, position.column),
        }
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let table = DeTable::parse(self.text)
            .map_err(|error| self.error(error.span().map_or(0, |span| span.start), error.message()))?;
        let mut all = Vec::new();
        for (name, value) in table.get_ref() {
            let at = name.span().start;
            let Some(key) = named(name.get_ref()) else {
                let meant = nearest(name.get_ref(), KEYS.iter().map(|key| key.name));
                return Err(self.error(at, &format!("there is no key `{}`{}", name.get_ref(), suggested(meant))));
            };
            let value =
                self.value(key, value).map_err(|(at, message)| self.error(at, &format!("{}: {message}", key.name)))?;
            all.push(Setting { key: key.name, value, place: self.place(at) });
        }
        Ok(all)
    }

    fn value(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Found<Value> {
        let (inner, at) = (value.get_ref(), value.span().start);
        Ok(match key.kind {
            Kind::Text => {
                let text = text(inner, at)?;
                self.is_taken(key, text, at)?;
                Value::Text(text.to_owned())
            }
            Kind::Number => Value::Text(number(inner, at)?),
            Kind::Switch => match inner {
                DeValue::Boolean(switch) => Value::Switch(*switch),
                other => return Err(wrong(other, "true or false", at)),
            },
            Kind::Path => Value::Text(self.path(text(inner, at)?)),
            Kind::Paths => Value::Texts(texts(value)?.map_each(|(text, _)| Ok(self.path(&text)))?),
            Kind::Texts => Value::Texts(texts(value)?.map_each(|(text, at)| {
                self.is_taken(key, &text, at)?;
                Ok(text)
            })?),
            Kind::Extents => Value::Text(extents(value)?),
            Kind::Integers => Value::Pairs(integers(value)?),
            Kind::Kernels => Value::Kernels(items(value)?.iter().map(|item| self.kernels(item)).collect::<Found<_>>()?),
            Kind::Patterns => Value::Patterns(texts(value)?.map_each(|(text, at)| self.pattern(&text, at))?),
            Kind::Rules => Value::Rules(texts(value)?.map_each(|(text, at)| rule(&text, at))?),
            Kind::Levels => {
                let level = |(name, value): (&str, &Spanned<DeValue<'_>>)| {
                    let at = value.span().start;
                    let level = text(value.get_ref(), at)?;
                    one_of(level, &LEVELS, at)?;
                    Ok((rule(name, at)?, level.to_owned()))
                };
                Value::Levels(pairs(value)?.into_iter().map(level).collect::<Found<_>>()?)
            }
            Kind::RulesByPattern => {
                let ignored = |(pattern, value): (&str, &Spanned<DeValue<'_>>)| {
                    let rules =
                        texts(value)?.map_each(|(text, at)| rule(&text, at).map(|rule| rule.name().to_owned()))?;
                    Ok((self.pattern(pattern, value.span().start)?, rules))
                };
                Value::ByPattern(pairs(value)?.into_iter().map(ignored).collect::<Found<_>>()?)
            }
            Kind::LanguagesByPattern => {
                let language = |(pattern, value): (&str, &Spanned<DeValue<'_>>)| {
                    let at = value.span().start;
                    let language = text(value.get_ref(), at)?;
                    self.is_taken(named("lang").expect("it is one of the keys"), language, at)?;
                    Ok((self.pattern(pattern, at)?, vec![language.to_owned()]))
                };
                Value::ByPattern(pairs(value)?.into_iter().map(language).collect::<Found<_>>()?)
            }
            Kind::PathsByFormat => {
                let path = |(format, value): (&str, &Spanned<DeValue<'_>>)| {
                    let at = value.span().start;
                    self.is_taken(named("format").expect("it is one of the keys"), format, at)?;
                    let path = text(value.get_ref(), at)?;
                    // Standard output is nobody's file.
                    let path = if path == "-" { path.to_owned() } else { self.path(path) };
                    Ok((format.to_owned(), path))
                };
                Value::Paths(pairs(value)?.into_iter().map(path).collect::<Found<_>>()?)
            }
        })
    }

    /// A path as it is seen from the working directory.
    fn path(&self, text: &str) -> String {
        let path = self.root.join(text);
        let here = std::env::current_dir().unwrap_or_default();
        let path = path.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(path);
        if path.as_os_str().is_empty() { ".".to_owned() } else { path.to_string_lossy().into_owned() }
    }

    fn pattern(&self, text: &str, at: usize) -> Found<PathPattern> {
        PathPattern::new(text, &self.root).map_err(|error| (at, error.to_string()))
    }

    /// A table about kernels.
    fn kernels(&self, value: &Spanned<DeValue<'_>>) -> Found<OfKernels> {
        let whole = value.span().start;
        let (mut name, mut files, mut conditions) = (None, None, None);
        let (mut block, mut grid, mut params) = (None, None, Vec::new());
        for (key, value) in pairs(value)? {
            let at = value.span().start;
            let about = |(at, message): (usize, String)| (at, format!("{key}: {message}"));
            match key {
                "name" => {
                    let pattern = NamePattern::new(text(value.get_ref(), at).map_err(about)?);
                    name = Some(pattern.map_err(|error| about((at, error.to_string())))?);
                }
                "files" => files = Some(self.pattern(text(value.get_ref(), at).map_err(about)?, at).map_err(about)?),
                "block-dim" => block = Some(extents(value).map_err(about)?),
                "grid-dim" => grid = Some(extents(value).map_err(about)?),
                "params" => params = integers(value).map_err(about)?,
                "contract" => conditions = Some(contract(value).map_err(about)?),
                other => {
                    let meant = suggested(nearest(other, OF_KERNELS.map(|(name, ..)| name)));
                    return Err((at, format!("there is no key `{other}` of kernels{meant}")));
                }
            }
        }
        let Some(name) = name else {
            return Err((whole, "which kernels are meant? give `name`, for example name = \"saxpy*\"".to_owned()));
        };
        let says = match (conditions, block.is_some() || grid.is_some() || !params.is_empty()) {
            (None, true) => Typed::Launch { block, grid, params },
            (Some(conditions), false) => Typed::Contract(conditions),
            (None, false) => {
                return Err((whole, "give a launch (block-dim, grid-dim, params), or a contract".to_owned()));
            }
            (Some(_), true) => {
                let both = "a contract is about all launches: give it, or block-dim, grid-dim and params";
                return Err((whole, both.to_owned()));
            }
        };
        Ok(OfKernels { name, files, at: self.stated_at(whole), says })
    }

    /// Whether the option of a key takes a value.
    fn is_taken(&self, key: &Key, text: &str, at: usize) -> Found<()> {
        let taken = taken(key, self.command);
        if taken.is_empty() { Ok(()) } else { one_of(text, &taken.iter().map(String::as_str).collect::<Vec<_>>(), at) }
    }
}

/// The values that the option of a key takes, if it takes but some.
pub(super) fn taken(key: &Key, command: &Command) -> Vec<String> {
    let option = key.option.and_then(|id| command.get_arguments().find(|argument| argument.get_id() == id));
    let values = option.map(clap::Arg::get_possible_values).unwrap_or_default();
    values.iter().map(|value| value.get_name().to_owned()).collect()
}

type Found<T> = Result<T, (usize, String)>;

fn suggested(name: Option<String>) -> String {
    name.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn one_of(text: &str, known: &[&str], at: usize) -> Found<()> {
    if known.contains(&text) {
        return Ok(());
    }
    let meant = suggested(nearest(text, known.iter().copied()));
    Err((at, format!("`{text}` is none of {}{meant}", known.join(", "))))
}

fn rule(name: &str, at: usize) -> Found<RuleId> {
    RuleId::from_name(name).ok_or_else(|| {
        let meant = suggested(nearest(name, RuleId::ALL.iter().map(|rule| rule.name())));
        (at, format!("no rule is named `{name}`{meant}"))
    })
}

fn wrong(value: &DeValue<'_>, wanted: &str, at: usize) -> (usize, String) {
    let found = match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    (at, format!("{wanted} is wanted, and this is {found}"))
}

fn text<'v>(value: &'v DeValue<'_>, at: usize) -> Found<&'v str> {
    match value {
        DeValue::String(text) => Ok(text),
        other => Err(wrong(other, "a text", at)),
    }
}

fn number(value: &DeValue<'_>, at: usize) -> Found<String> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map(|number| number.to_string())
            .map_err(|_| (at, "the number is too large".to_owned())),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        other => Err(wrong(other, "a number", at)),
    }
}

/// Up to three numbers, as they would be typed.
fn extents(value: &Spanned<DeValue<'_>>) -> Found<String> {
    let extents = items(value)?.iter().map(|item| number(item.get_ref(), item.span().start));
    let extents = extents.collect::<Found<Vec<String>>>()?;
    if (1..=3).contains(&extents.len()) {
        return Ok(extents.join(","));
    }
    Err((value.span().start, "one, two or three numbers are wanted".to_owned()))
}

fn integers(value: &Spanned<DeValue<'_>>) -> Found<Vec<(String, String)>> {
    let pair = |(name, value): (&str, &Spanned<DeValue<'_>>)| {
        Ok((name.to_owned(), number(value.get_ref(), value.span().start)?))
    };
    pairs(value)?.into_iter().map(pair).collect()
}

/// The conditions of a contract, in one text or several.
fn contract(value: &Spanned<DeValue<'_>>) -> Found<String> {
    let (text, at) = match value.get_ref() {
        DeValue::String(text) => (text.to_string(), value.span().start),
        _ => (texts(value)?.map_each(|(text, _)| Ok(text))?.join(", "), value.span().start),
    };
    conditions(&text).map_err(|error| (at, error.to_string()))?;
    Ok(text)
}

fn items<'v, 't>(value: &'v Spanned<DeValue<'t>>) -> Found<&'v [Spanned<DeValue<'t>>]> {
    match value.get_ref() {
        DeValue::Array(items) => Ok(items),
        other => Err(wrong(other, "a list", value.span().start)),
    }
}

/// Texts with their places.
struct Texts(Vec<(String, usize)>);

impl Texts {
    fn map_each<T>(self, each: impl Fn((String, usize)) -> Found<T>) -> Found<Vec<T>> {
        self.0.into_iter().map(each).collect()
    }
}

fn texts(value: &Spanned<DeValue<'_>>) -> Found<Texts> {
    let each = |item: &Spanned<DeValue<'_>>| {
        let at = item.span().start;
        text(item.get_ref(), at).map(|text| (text.to_owned(), at))
    };
    items(value)?.iter().map(each).collect::<Found<_>>().map(Texts)
}

fn pairs<'v, 't>(value: &'v Spanned<DeValue<'t>>) -> Found<Vec<(&'v str, &'v Spanned<DeValue<'t>>)>> {
    let range: Range<usize> = value.span();
    match value.get_ref() {
        DeValue::Table(table) => Ok(table.iter().map(|(name, value)| (&**name.get_ref(), value)).collect()),
        other => Err(wrong(other, "a table", range.start)),
    }
}

/// Reads what `--config` says: `KEY=VALUE`, or a file.
pub(super) fn of_options(typed_all: &[String], command: &Command) -> Result<(Option<Settings>, Settings)> {
    let (mut file, mut above) = (None, Settings::default());
    for given in typed_all {
        if Path::new(given).is_file() {
            ensure!(file.is_none(), "--config: one file of settings is enough");
            file = Some(read(Path::new(given), command)?);
        } else if given.contains('=') {
            above = above.under(&typed(given, command)?);
        } else {
            bail!("--config: `{given}` is neither KEY=VALUE nor a file");
        }
    }
    Ok((file, above))
}
