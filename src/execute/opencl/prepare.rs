//! From kernels and a launch description to a job: every argument is compared with its parameter.

use super::job::{Argument, Buffer, Job, Launch, Value};
use super::records::Extents;
use crate::execute::launch::record::{self, Given, Record};
use crate::execute::launch::{self, Blocks, Description, DescriptionError, ElementType, Number, Problem};
use crate::instrument::opencl::{Kernel, Parameter, ParameterKind, Shared};
use crate::source::Language;
use crate::source::spelling::nearest;
use std::path::PathBuf;

/// A parameter that is a struct, as it is laid out.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// Its type.
    pub record: Record,
}

/// What is to be run, and where what it leaves behind goes.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// Instrumented OpenCL C.
    pub text: &'a str,
    /// Its kernels and barriers.
    pub shared: &'a Shared,
    /// Parameters of its kernels that are structs.
    pub structs: &'a [Structure],
    /// Places of kernels and of barriers: file and line.
    pub kernels: Vec<(String, u32)>,
    /// Likewise.
    pub barriers: Vec<(String, u32)>,
}

pub(super) fn job(
    unit: &Unit<'_>,
    description: &Description,
    log: Option<PathBuf>,
    report: PathBuf,
) -> Result<Job, DescriptionError> {
    let launches = description.launches.iter().map(|launch| prepared(unit, description, launch));
    let buffers = description
        .buffers
        .iter()
        .map(|buffer| Buffer { name: buffer.name.clone(), contents: buffer.contents(Language::OpenCl) });
    Ok(Job {
        text: unit.text.to_owned(),
        options: options(unit),
        sites: unit.shared.sites.clone(),
        barriers: unit.barriers.clone(),
        launches: launches.collect::<Result<_, _>>()?,
        buffers: buffers.collect(),
        log,
        report,
    })
}

/// What the device's compiler is told.
pub(super) fn options(unit: &Unit<'_>) -> String {
    unit.shared.version.map_or_else(String::new, |version| format!("-cl-std={version}"))
}

fn prepared(unit: &Unit<'_>, description: &Description, launch: &launch::Launch) -> Result<Launch, DescriptionError> {
    let kernels = &unit.shared.kernels;
    let Some(number) = kernels.iter().position(|kernel| kernel.name == launch.kernel) else {
        let known: Vec<String> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let suggestion = nearest(&launch.kernel, known.iter().map(String::as_str));
        let problem = Problem::UnknownKernel { name: launch.kernel.clone(), suggestion, known };
        return Err(description.error(launch.place, "launch.kernel", problem));
    };
    let kernel = &kernels[number];
    check_names(description, launch, kernel)?;
    if launch.shared > 0 {
        let problem = Problem::WrongType {
            expected: "no dynamic memory: in OpenCL it is an argument, written { local = BYTES }".to_owned(),
            found: format!("{} bytes", launch.shared),
        };
        return Err(description.error(launch.place, "launch.shared", problem));
    }
    if launch.blocks == Blocks::Cooperative {
        let problem = Problem::Other("work-groups of OpenCL cannot wait for each other".to_owned());
        return Err(description.error(launch.place, "launch.cooperative", problem));
    }
    if launch.cluster.is_some() {
        let problem = Problem::Other("OpenCL has no clusters of work-groups".to_owned());
        return Err(description.error(launch.place, "launch.cluster", problem));
    }
    let arguments = kernel.parameters.iter().map(|parameter| argument(unit, description, launch, kernel, parameter));
    Ok(Launch {
        kernel: kernel.name.clone(),
        place: unit.kernels[number].clone(),
        extents: Extents {
            grid: launch.grid,
            block: launch.block,
            items: [0, 1, 2].map(|axis| u64::from(launch.grid[axis]) * u64::from(launch.block[axis])),
        },
        arguments: arguments.collect::<Result<_, _>>()?,
        locals: kernel.locals.clone(),
        globals: kernel.globals.clone(),
    })
}

fn check_names(description: &Description, launch: &launch::Launch, kernel: &Kernel) -> Result<(), DescriptionError> {
    let known = || kernel.parameters.iter().map(|parameter| parameter.name.as_str());
    for argument in &launch.arguments {
        if !known().any(|name| name == argument.name) {
            let problem = Problem::UnknownParameter {
                kernel: kernel.name.clone(),
                suggestion: nearest(&argument.name, known()),
                known: known().map(str::to_owned).collect(),
            };
            return Err(description.error(argument.place, key(&argument.name), problem));
        }
    }
    Ok(())
}

fn key(argument: &str) -> String {
    format!("launch.arguments.{argument}")
}

fn argument(
    unit: &Unit<'_>,
    description: &Description,
    launch: &launch::Launch,
    kernel: &Kernel,
    parameter: &Parameter,
) -> Result<Argument, DescriptionError> {
    let name = &parameter.name;
    let is_it = |each: &&Structure| each.kernel == kernel.name && each.parameter == *name;
    if let Some(Structure { record, .. }) = unit.structs.iter().find(is_it) {
        return structure(description, launch, record, name);
    }
    if let ParameterKind::Unsupported(what) = &parameter.kind {
        let (kernel, parameter, what) = (kernel.name.clone(), name.clone(), what.clone());
        return Err(description.error(launch.place, key(name), Problem::Ungivable { kernel, parameter, what }));
    }
    let Some(given) = launch.arguments.iter().find(|argument| argument.name == *name) else {
        return Err(description.error(launch.place, key(name), Problem::Missing(example(parameter))));
    };
    let wrong = |found: &str| {
        let problem = Problem::WrongType { expected: example(parameter), found: found.to_owned() };
        description.error(given.place, key(name), problem)
    };
    if let (ParameterKind::Value(words), Some(numbers)) = (&parameter.kind, numbers(&given.value))
        && let Some(problem) = misfit(words, numbers)
    {
        return Err(description.error(given.place, key(name), problem.of_kernel(&kernel.name)));
    }
    let value = match (&parameter.kind, &given.value) {
        (ParameterKind::Global | ParameterKind::Constant, launch::Value::Buffer { buffer, offset }) => {
            let element = description.buffers[*buffer].element.bytes(Language::OpenCl);
            Value::Buffer { number: *buffer, offset: offset.saturating_mul(element), first_byte: 0 }
        }
        (ParameterKind::Global | ParameterKind::Constant, launch::Value::Null) => Value::Null,
        (ParameterKind::Local, launch::Value::Local { bytes }) => Value::Local(*bytes),
        (ParameterKind::Value(words), launch::Value::Number(number)) => {
            scalar(words, &[*number]).ok_or_else(|| wrong(&number.to_string()))?
        }
        (ParameterKind::Value(words), launch::Value::Lanes(lanes)) => {
            scalar(words, lanes).ok_or_else(|| wrong("a list of numbers"))?
        }
        (_, launch::Value::Number(_) | launch::Value::Lanes(_)) => return Err(wrong("a number")),
        (_, launch::Value::Buffer { .. }) => return Err(wrong("a buffer")),
        (_, launch::Value::Null) => return Err(wrong("the null pointer")),
        (_, launch::Value::Local { .. }) => return Err(wrong("local memory")),
        (_, launch::Value::Fields(_)) => return Err(wrong("members of a struct")),
    };
    Ok(Argument { name: name.clone(), value })
}

/// A struct, which has no pointers in OpenCL.
fn structure(
    description: &Description,
    launch: &launch::Launch,
    record: &Record,
    name: &str,
) -> Result<Argument, DescriptionError> {
    let key = key(name);
    let example = || launch::host::ParameterKind::Struct(record.clone()).example();
    let Some(given) = launch.arguments.iter().find(|argument| argument.name == *name) else {
        let problem = Problem::Missing(format!("{name} = {}", example()));
        return Err(description.error(launch.place, key, problem));
    };
    let launch::Value::Fields(fields) = &given.value else {
        let problem = Problem::WrongType { expected: example(), found: launch::host::found(&given.value) };
        return Err(description.error(given.place, key, problem));
    };
    let at = Given { kernel: &launch.kernel, key: &key, place: given.place };
    let image = record::image(description, record, fields, at, Language::OpenCl)?;
    if !image.pointers.is_empty() {
        let what = "a struct with a pointer, which no kernel of OpenCL may have,".to_owned();
        let problem = Problem::Ungivable { kernel: launch.kernel.clone(), parameter: name.to_owned(), what };
        return Err(description.error(given.place, key, problem));
    }
    let text = image.bytes.iter().fold("struct:".to_owned(), |text, byte| text + &format!("{byte:02x}"));
    Ok(Argument { name: name.to_owned(), value: Value::Bytes(image.bytes, text) })
}

/// What could be written for a parameter.
fn example(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match &parameter.kind {
        ParameterKind::Local => format!("{name} = {{ local = 1024 }}"),
        ParameterKind::Value(words) => match ElementType::named(words) {
            Some(element) if element.lanes > 1 => format!("{name} = [{}]", vec!["1"; element.lanes.into()].join(", ")),
            _ => format!("{name} = 1, of type {words}"),
        },
        _ => format!("{name} = {{ buffer = \"{name}\" }}"),
    }
}

/// The numbers that are given for a scalar or a vector.
fn numbers(value: &launch::Value) -> Option<&[Number]> {
    match value {
        launch::Value::Number(number) => Some(std::slice::from_ref(number)),
        launch::Value::Lanes(numbers) => Some(numbers),
        _ => None,
    }
}

/// What is wrong with numbers, as many as the type that `words` name has, if one of them is none of its values.
fn misfit(words: &str, numbers: &[Number]) -> Option<Problem> {
    let element = ElementType::named(words).filter(|element| usize::from(element.lanes) == numbers.len())?;
    let number = numbers.iter().find(|number| !element.scalar.holds(**number))?;
    Some(Problem::no_value(*number, element.scalar))
}

/// The bytes of a value of the type that `words` name, if the numbers fit.
fn scalar(words: &str, numbers: &[Number]) -> Option<Value> {
    let element = ElementType::named(words).filter(|element| usize::from(element.lanes) == numbers.len())?;
    let mut bytes = Vec::new();
    for number in numbers {
        element.scalar.holds(*number).then(|| element.scalar.encode(*number, &mut bytes))?;
    }
    // Three lanes take the room of four.
    bytes.resize(element.bytes(Language::OpenCl) as usize, 0);
    let text: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Some(Value::Bytes(bytes, text.join(",")))
}
