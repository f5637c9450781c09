//! The text of a description: what [`super::parse`] reads back.

use super::{Argument, Blocks, Buffer, Description, Launch, Number, Value, Values};
use std::fmt::Write;

/// The text of a description.
pub(super) fn text(description: &Description) -> String {
    let mut text = String::new();
    for buffer in &description.buffers {
        text.push_str(&of_buffer(buffer));
    }
    for launch in &description.launches {
        text.push_str(&of_launch(launch, &description.buffers));
    }
    text
}

fn of_buffer(buffer: &Buffer) -> String {
    let mut text = format!("[[buffer]]\nname = {}\ntype = \"{}\"\n", quoted(&buffer.name), buffer.element);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "count = {}", buffer.count);
    let values = match &buffer.values {
        Values::Zero => None,
        Values::Constant(number) => Some(format!("constant = {}", scalar(*number))),
        Values::Range(low, high) => Some(format!("range = [{}, {}]", scalar(*low), scalar(*high))),
        Values::Seed { seed, low, high } => {
            Some(format!("seed = {seed}, low = {}, high = {}", scalar(*low), scalar(*high)))
        }
        Values::List(numbers) => Some(format!("list = {}", list(numbers))),
        Values::Loaded(bytes) => {
            let scalar = buffer.element.scalar;
            let each = bytes.chunks_exact(usize::from(scalar.bytes()));
            Some(format!("list = {}", list(&each.map(|bytes| scalar.decode(bytes)).collect::<Vec<_>>())))
        }
    };
    if let Some(values) = values {
        let _ = writeln!(text, "values = {{ {values} }}");
    }
    text.push('\n');
    text
}

fn of_launch(launch: &Launch, buffers: &[Buffer]) -> String {
    let mut text = format!("[[launch]]\nkernel = {}\n", quoted(&launch.kernel));
    let _ = writeln!(text, "grid = {:?}\nblock = {:?}", launch.grid, launch.block);
    if launch.shared > 0 {
        let _ = writeln!(text, "shared = {}", launch.shared);
    }
    if launch.blocks == Blocks::Cooperative {
        text.push_str("cooperative = true\n");
    }
    if let Some(cluster) = launch.cluster {
        let _ = writeln!(text, "cluster = {cluster:?}");
    }
    for Argument { name, value, .. } in &launch.arguments {
        let value = given(value, buffers);
        let _ = writeln!(text, "arguments.{} = {value}", key(name));
    }
    text.push('\n');
    text
}

fn given(value: &Value, buffers: &[Buffer]) -> String {
    match value {
        Value::Number(number) => scalar(*number),
        Value::Lanes(numbers) => list(numbers),
        Value::Buffer { buffer, offset: 0 } => format!("{{ buffer = {} }}", quoted(&buffers[*buffer].name)),
        Value::Buffer { buffer, offset } => {
            format!("{{ buffer = {}, offset = {offset} }}", quoted(&buffers[*buffer].name))
        }
        Value::Null => "\"null\"".to_owned(),
        Value::Local { bytes } => format!("{{ local = {bytes} }}"),
        Value::Fields(fields) => {
            let field = |field: &Argument| format!("{} = {}", key(&field.name), given(&field.value, buffers));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

fn scalar(number: Number) -> String {
    match number {
        Number::Float(value) if value.is_nan() => "nan".to_owned(),
        other => other.to_string(),
    }
}

fn list(numbers: &[Number]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|&number| scalar(number)).collect();
    format!("[{}]", numbers.join(", "))
}

/// As a key: bare if it may be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    quoted_with(text, |control| format!("\\u{control:04x}"))
}

/// In double quotes, with control characters as `control` writes them.
pub(super) fn quoted_with(text: &str, control: impl Fn(u32) -> String) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&control(u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
