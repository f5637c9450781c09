//! From TOML to a description.
//!
//! Every table is first searched for keys that mean nothing, in the order of the text; then each key is read.

use super::{
    Argument, Blocks, Buffer, Description, DescriptionError, ElementType, Launch, Number, Problem, Scalar, Value,
    Values, npy,
};
use crate::source::spelling::nearest;
use crate::source::{LineColumn, LineIndex};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// No buffer is larger.
const MAX_BYTES: u64 = 1 << 40;
/// Structs in structs.
const MAX_DEPTH: usize = 32;

type Read<T> = Result<T, DescriptionError>;

/// The text that is read.
struct Text<'a> {
    path: &'a Path,
    text: &'a str,
    lines: LineIndex,
}

/// A value with the keys that lead to it.
#[derive(Clone)]
struct Node<'a> {
    text: &'a Text<'a>,
    value: &'a DeValue<'a>,
    span: Range<usize>,
    key: String,
}

/// A table with the keys that lead to it.
struct Table<'a> {
    text: &'a Text<'a>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    key: String,
}

pub(super) fn parse(path: &Path, text: &str) -> Read<Description> {
    let text = Text { path, text, lines: LineIndex::new(text) };
    let document = DeTable::parse(text.text).map_err(|error| {
        let place = error.span().map(|span| text.place(span.start));
        text.error(place, "", Problem::Syntax(error.message().to_owned()))
    })?;
    let span = document.span();
    let root = Table { text: &text, table: document.get_ref(), span, key: String::new() };
    root.knows(&["buffer", "launch"])?;
    let mut description = Description { path: path.to_path_buf(), buffers: Vec::new(), launches: Vec::new() };
    for node in root.tables("buffer")? {
        let buffer = buffer(&node)?;
        if description.buffers.iter().any(|other| other.name == buffer.name) {
            return Err(node.required("name", "a name")?.error(Problem::Twice));
        }
        description.buffers.push(buffer);
    }
    for node in root.tables("launch")? {
        description.launches.push(launch(&node, &description.buffers)?);
    }
    if description.launches.is_empty() {
        return Err(text.error(None, "launch", Problem::Missing("[[launch]] with the kernel to run".to_owned())));
    }
    Ok(description)
}

fn buffer(table: &Table<'_>) -> Read<Buffer> {
    table.knows(&["name", "type", "count", "values"])?;
    let name = table.required("name", "name = \"x\"")?.string()?.to_owned();
    let typed = table.required("type", "type = \"float\"")?;
    let element = element(&typed)?;
    let (values, found) = match table.get("values") {
        Some(node) => values(&node, element)?,
        None => (Values::Zero, None),
    };
    let count = match (table.get("count"), found) {
        (Some(node), found) => {
            let count = node.whole(1, u64::MAX)?;
            if let Some(found) = found.filter(|found| *found != count) {
                let problem = format!("{count} elements, but `values` has {found}");
                return Err(node.error(Problem::Other(problem)));
            }
            count
        }
        (None, Some(found)) => found,
        (None, None) => return Err(table.missing("count", "count = 1024 (elements)")),
    };
    // Of the two languages the one that takes more room.
    let bytes = element.bytes(crate::source::Language::OpenCl).checked_mul(count);
    if bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(table.error(Problem::Other(format!("{count} elements of type {element} are more than can be had"))));
    }
    if count == 0 {
        return Err(table.error(Problem::Other("it has no elements".to_owned())));
    }
    Ok(Buffer { name, element, count, values, place: Some(table.place()) })
}

fn element(typed: &Node<'_>) -> Read<ElementType> {
    let name = typed.string()?;
    ElementType::named(name).ok_or_else(|| {
        let suggestion = nearest(name, ElementType::names());
        typed.error(Problem::UnknownType { name: name.to_owned(), suggestion })
    })
}

/// The values, and how many elements there are, if they say so.
fn values(node: &Node<'_>, element: ElementType) -> Read<(Values, Option<u64>)> {
    let table = node.table()?;
    table.knows(&["constant", "range", "seed", "low", "high", "list", "npy"])?;
    let ways = ["constant", "range", "seed", "list", "npy"];
    let given: Vec<&str> = ways.into_iter().filter(|way| table.get(way).is_some()).collect();
    let [way] = given[..] else {
        let problem = format!("one of {} is wanted", ways.join(", "));
        return Err(table.error(Problem::Other(problem)));
    };
    if let Some(key) = ["low", "high"].into_iter().find_map(|key| table.get(key)).filter(|_| way != "seed") {
        return Err(key.error(Problem::Other("only together with `seed`".to_owned())));
    }
    let node = table.required(way, way)?;
    let scalar = element.scalar;
    Ok(match way {
        "constant" => (Values::Constant(node.number_of(scalar)?), None),
        "range" => {
            let (low, high) = range(&node, scalar)?;
            (Values::Range(low, high), None)
        }
        "seed" => (seed(&table, &node, scalar)?, None),
        "list" => list(&node, element)?,
        _ => loaded(&node, element)?,
    })
}

fn range(node: &Node<'_>, scalar: Scalar) -> Read<(Number, Number)> {
    let ends = node.list()?;
    let [low, high] = &ends[..] else {
        return Err(
            node.error(Problem::Other("two numbers are wanted: where it begins, and what it stays below".into()))
        );
    };
    Ok((low.number_of(scalar)?, high.end_of(scalar, low.number_of(scalar)?)?))
}

fn seed(table: &Table<'_>, node: &Node<'_>, scalar: Scalar) -> Read<Values> {
    let seed = node.whole(0, u64::MAX)?;
    let end = |key, absent| table.get(key).map_or(Ok(Number::Integer(absent)), |node| node.number_of(scalar));
    let low = end("low", 0)?;
    let high = match table.get("high") {
        Some(high) => high.end_of(scalar, low)?,
        None if matches!(scalar, Scalar::Float { .. }) => Number::Integer(1),
        None => return Err(table.missing("high", "high = 10 (all elements stay below it)")),
    };
    Ok(Values::Seed { seed, low, high })
}

fn list(node: &Node<'_>, element: ElementType) -> Read<(Values, Option<u64>)> {
    let lanes = usize::from(element.lanes);
    let mut numbers = Vec::new();
    for item in node.list()? {
        if lanes == 1 || !matches!(item.value, DeValue::Array(_)) {
            numbers.push(item.number_of(element.scalar)?);
            continue;
        }
        let parts = item.list()?;
        if parts.len() != lanes {
            return Err(item.error(Problem::Other(format!("{} numbers; {element} has {lanes} lanes", parts.len()))));
        }
        for part in parts {
            numbers.push(part.number_of(element.scalar)?);
        }
    }
    if numbers.len() % lanes != 0 {
        return Err(node.error(Problem::Other(format!("{} numbers do not fill lanes of {element}", numbers.len()))));
    }
    let count = (numbers.len() / lanes) as u64;
    Ok((Values::List(numbers), Some(count)))
}

fn loaded(node: &Node<'_>, element: ElementType) -> Read<(Values, Option<u64>)> {
    let beside = node.text.path.parent().unwrap_or(Path::new(""));
    let path = beside.join(node.string()?);
    let failed = |cause: String| node.error(Problem::Npy { path: path.clone(), cause });
    let file = std::fs::read(&path).map_err(|cause| failed(format!("cannot read it: {cause}")))?;
    let array = npy::read(&file, element.scalar).map_err(|cause| failed(cause.to_string()))?;
    let count = array.elements(element).map_err(|cause| failed(cause.to_string()))?;
    Ok((Values::Loaded(array.bytes), Some(count)))
}

fn launch(table: &Table<'_>, buffers: &[Buffer]) -> Read<Launch> {
    table.knows(&["kernel", "grid", "block", "shared", "cooperative", "cluster", "arguments"])?;
    let kernel = table.required("kernel", "kernel = \"name\"")?;
    let name = kernel.string()?.trim().to_owned();
    let grid = table.required("grid", "grid = [4] (blocks in x, y, z)")?.extents()?;
    let block = table.required("block", "block = [256] (threads in x, y, z)")?.extents()?;
    let shared = table.get("shared").map_or(Ok(0), |node| node.whole(0, MAX_BYTES))?;
    let blocks = match table.get("cooperative") {
        None => Blocks::Independent,
        Some(node) => match node.value {
            DeValue::Boolean(true) => Blocks::Cooperative,
            DeValue::Boolean(false) => Blocks::Independent,
            _ => return Err(node.wrong("true or false")),
        },
    };
    let cluster = table.get("cluster").map(|node| node.extents()).transpose()?;
    let mut arguments = Vec::new();
    if let Some(given) = table.get("arguments") {
        arguments = members(&given.table()?, buffers, 0)?;
    }
    Ok(Launch { kernel: name, grid, block, shared, blocks, cluster, arguments, place: Some(kernel.place()) })
}

/// Arguments of a launch or members of a struct.
fn members(table: &Table<'_>, buffers: &[Buffer], depth: usize) -> Read<Vec<Argument>> {
    let entries = table.entries().into_iter();
    let argument = |(name, node): (String, Node<'_>)| {
        Ok(Argument { name, value: argument(&node, buffers, depth)?, place: Some(node.place()) })
    };
    entries.map(argument).collect()
}

/// The null pointer.
const NULL: &str = "null";

fn argument(node: &Node<'_>, buffers: &[Buffer], depth: usize) -> Read<Value> {
    match node.value {
        DeValue::Array(_) => Ok(Value::Lanes(node.list()?.iter().map(Node::number).collect::<Read<_>>()?)),
        DeValue::Table(_) if is_memory(&node.table()?) => memory(&node.table()?, buffers),
        DeValue::Table(_) if depth == MAX_DEPTH => {
            Err(node.error(Problem::Other("structs in structs as deep as this are not read".to_owned())))
        }
        DeValue::Table(_) => Ok(Value::Fields(members(&node.table()?, buffers, depth + 1)?)),
        DeValue::String(_) if node.string()? == NULL => Ok(Value::Null),
        DeValue::String(_) | DeValue::Datetime(_) => Err(node.wrong(
            "a number, a list of numbers, { buffer = \"name\" }, \"null\", { local = bytes } or { member = value } of a \
             struct",
        )),
        _ => Ok(Value::Number(node.number()?)),
    }
}

/// Whether a table is about memory: members of structs have no names of buffers as values.
fn is_memory(table: &Table<'_>) -> bool {
    let entries = table.entries();
    let names_memory = |(key, node): &(String, Node<'_>)| key == "local" && matches!(node.value, DeValue::Integer(_));
    let names_buffer = |(key, node): &(String, Node<'_>)| match &node.value {
        DeValue::String(text) => key == "buffer" || text != NULL,
        _ => false,
    };
    entries.iter().any(names_buffer) || entries.len() == 1 && entries.iter().any(names_memory)
}

fn memory(table: &Table<'_>, buffers: &[Buffer]) -> Read<Value> {
    table.knows(&["buffer", "offset", "local"])?;
    if let Some(local) = table.get("local") {
        if let Some(other) = table.get("buffer").or(table.get("offset")) {
            return Err(other.error(Problem::Other("not together with `local`".to_owned())));
        }
        return Ok(Value::Local { bytes: local.whole(1, MAX_BYTES)? });
    }
    let node = table.required("buffer", "buffer = \"name\"")?;
    let name = node.string()?;
    let Some(buffer) = buffers.iter().position(|buffer| buffer.name == name) else {
        let suggestion = nearest(name, buffers.iter().map(|buffer| buffer.name.as_str()));
        return Err(node.error(Problem::UnknownBuffer { name: name.to_owned(), suggestion }));
    };
    let offset = match table.get("offset") {
        Some(node) => node.whole(0, buffers[buffer].count - 1)?,
        None => 0,
    };
    Ok(Value::Buffer { buffer, offset })
}

impl Text<'_> {
    fn place(&self, at: usize) -> LineColumn {
        self.lines.position(self.text, at)
    }

    fn error(&self, place: Option<LineColumn>, key: &str, problem: Problem) -> DescriptionError {
        DescriptionError { path: self.path.to_path_buf(), place, key: key.to_owned(), problem: Box::new(problem) }
    }
}

impl<'a> Table<'a> {
    fn error(&self, problem: Problem) -> DescriptionError {
        self.text.error(Some(self.place()), &self.key, problem)
    }

    fn missing(&self, key: &str, example: &str) -> DescriptionError {
        self.text.error(Some(self.place()), &self.path_of(key), Problem::Missing(example.to_owned()))
    }

    fn place(&self) -> LineColumn {
        self.text.place(self.span.start)
    }

    fn path_of(&self, key: &str) -> String {
        if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) }
    }

    /// The entries, in the order of the text.
    fn entries(&self) -> Vec<(String, Node<'a>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries.into_iter().map(|(key, value)| (key.get_ref().to_string(), self.node(key.get_ref(), value))).collect()
    }

    fn node(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Node<'a> {
        Node { text: self.text, value: value.get_ref(), span: value.span(), key: self.path_of(key) }
    }

    /// An error for the first key that is not among `known`.
    fn knows(&self, known: &[&str]) -> Read<()> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        for key in keys {
            let name = key.get_ref();
            if !known.contains(&name.as_ref()) {
                let suggestion = nearest(name, known.iter().copied());
                let known = known.iter().map(|&name| name.to_owned()).collect();
                let place = self.text.place(key.span().start);
                let problem = Problem::UnknownKey { suggestion, known };
                return Err(self.text.error(Some(place), &self.path_of(name), problem));
            }
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<Node<'a>> {
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(self.node(key, value))
    }

    fn required(&self, key: &str, example: &str) -> Read<Node<'a>> {
        self.get(key).ok_or_else(|| self.missing(key, example))
    }

    /// The tables of `[[key]]`.
    fn tables(&self, key: &str) -> Read<Vec<Table<'a>>> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(node) if matches!(node.value, DeValue::Table(_)) => {
                Err(node.error(Problem::Other(format!("there may be several: write [[{key}]]"))))
            }
            Some(node) => node.list()?.iter().map(Node::table).collect(),
        }
    }
}

impl<'a> Node<'a> {
    fn error(&self, problem: Problem) -> DescriptionError {
        self.text.error(Some(self.place()), &self.key, problem)
    }

    fn wrong(&self, expected: &str) -> DescriptionError {
        let found = match self.value {
            DeValue::String(text) => format!("the string \"{text}\""),
            DeValue::Integer(value) => format!("the number {value}"),
            DeValue::Float(value) => format!("the number {value}"),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(Problem::WrongType { expected: expected.to_owned(), found })
    }

    fn place(&self) -> LineColumn {
        self.text.place(self.span.start)
    }

    fn string(&self) -> Read<&'a str> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong("a string")),
        }
    }

    fn table(&self) -> Read<Table<'a>> {
        match self.value {
            DeValue::Table(table) => {
                Ok(Table { text: self.text, table, span: self.span.clone(), key: self.key.clone() })
            }
            _ => Err(self.wrong("a table")),
        }
    }

    fn list(&self) -> Read<Vec<Node<'a>>> {
        let DeValue::Array(items) = self.value else { return Err(self.wrong("a list")) };
        let node = |item: &'a Spanned<DeValue<'a>>| Node {
            text: self.text,
            value: item.get_ref(),
            span: item.span(),
            key: self.key.clone(),
        };
        Ok(items.iter().map(node).collect())
    }

    fn number(&self) -> Read<Number> {
        let number = match self.value {
            DeValue::Integer(value) => i128::from_str_radix(value.as_str(), value.radix()).ok().map(Number::Integer),
            DeValue::Float(value) => value.as_str().parse().ok().map(Number::Float),
            DeValue::Boolean(value) => Some(Number::Truth(*value)),
            _ => None,
        };
        number.ok_or_else(|| self.wrong("a number"))
    }

    /// A number that is a value of that type.
    fn number_of(&self, scalar: Scalar) -> Read<Number> {
        let number = self.number()?;
        if scalar.holds(number) {
            return Ok(number);
        }
        Err(self.error(Problem::no_value(number, scalar)))
    }

    /// Where values end that begin at `low`: one above all of them.
    fn end_of(&self, scalar: Scalar, low: Number) -> Read<Number> {
        let number = self.number()?;
        let is_end = match (scalar, low, number) {
            (Scalar::Bool, _, _) => return Err(self.error(Problem::Other("not of type bool; use `list`".to_owned()))),
            (Scalar::Float { .. }, _, _) => scalar.holds(number) && low.real() <= number.real(),
            (_, Number::Integer(low), Number::Integer(high)) => low < high && scalar.holds(Number::Integer(high - 1)),
            _ => false,
        };
        if is_end {
            return Ok(number);
        }
        let problem = format!("{number} cannot end values of type {scalar} that begin at {low}");
        Err(self.error(Problem::Other(problem)))
    }

    fn whole(&self, least: u64, greatest: u64) -> Read<u64> {
        let Ok(Number::Integer(value)) = self.number() else { return Err(self.wrong("a whole number")) };
        u64::try_from(value).ok().filter(|value| (least..=greatest).contains(value)).ok_or_else(|| {
            let limit =
                if greatest == u64::MAX { format!("at least {least}") } else { format!("{least} to {greatest}") };
            self.wrong(&limit)
        })
    }

    /// One to three extents; those that are left out are 1.
    fn extents(&self) -> Read<[u32; 3]> {
        let given = if matches!(self.value, DeValue::Array(_)) { self.list()? } else { vec![self.clone()] };
        if given.is_empty() || given.len() > 3 {
            return Err(self.error(Problem::Other(format!("{} extents; there are x, y and z", given.len()))));
        }
        let mut extents = [1; 3];
        for (extent, node) in extents.iter_mut().zip(given) {
            *extent = node.whole(1, u64::from(u32::MAX))? as u32;
        }
        Ok(extents)
    }
}
