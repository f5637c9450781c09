//! From a geometry and values of scalars to everything that a launch is given: memory, sizes, the instance of a
//! template.
//!
//! Every pointer gets memory of its own, as large as [`Needs`] says, zero unless contents are given or what is assumed of
//! them says otherwise; pointers that the launches in the file take to be one get one. A struct that is passed by value gets its
//! fields one by one.

use super::needs::Needs;
use crate::calculus::eval::Chosen;
use crate::calculus::{Array, ArrayId, Geometry, Kernel, ScalarType, Space, Stmt, SyncScope};
use crate::diagnostic::report::KernelReport;
use crate::execute::launch::host::{Head, ParameterKind};
use crate::execute::launch::record::Record;
use crate::execute::launch::{
    Argument, Blocks, Buffer, Description, ElementType, Launch, Number, Scalar, Value, Values,
};
use std::path::PathBuf;
use thiserror::Error;

/// Bytes on both sides of what an access with an address from memory may reach.
const ROOM: u64 = 64 * 1024;
/// Elements of a buffer that a program lists one by one.
const MOST_LISTED: u64 = 4096;
/// Bytes of a buffer above which a launch is not made.
const MAX_BYTES: u64 = 64 << 20;

/// A kernel in all forms that are needed.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What was found.
    pub report: &'a KernelReport,
    /// What was judged.
    pub kernel: &'a Kernel,
    /// How it is called.
    pub head: &'a Head,
    /// Parameters that the launches in the file give the same pointer: groups of their names.
    pub same: &'a [Vec<String>],
}

/// One launch with all that it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The kernel as the launch names it, with template arguments.
    pub kernel: String,
    /// Its sizes.
    pub geometry: Geometry,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Whether blocks wait for each other, so that they must be launched together.
    pub cooperative: bool,
    /// Blocks of a cluster, where there are several.
    pub cluster: Option<[u32; 3]>,
    /// Allocations.
    pub memory: Vec<Memory>,
    /// What the parameters are given, in their order.
    pub arguments: Vec<(String, Given)>,
    /// Variables of the device that hold pointers, and the number of the memory that they point to.
    pub symbols: Vec<(String, usize)>,
    /// Variables of the device that hold numbers, and the number of the memory that is copied into them.
    pub filled: Vec<(String, usize)>,
    /// Pointers that lie in memory.
    pub held: Vec<Held>,
}

/// A pointer in memory of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What the source calls the memory that it points to.
    pub name: String,
    /// The number of the memory that it lies in.
    pub holder: usize,
    /// How many bytes behind what a pointer to that memory points to.
    pub offset: u64,
    /// The number of the memory that it points to; none of the null pointer.
    pub memory: Option<usize>,
}

/// An allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The pointer that it is for.
    pub name: String,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u64,
    /// How many elements there are.
    pub count: u64,
    /// Elements before the one that the pointer points to.
    pub before: u64,
    /// What it holds.
    pub values: Values,
}

/// What a parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A scalar.
    Number(Number),
    /// A vector.
    Lanes(Vec<Number>),
    /// An array in a struct.
    Elements(Vec<Number>),
    /// A pointer into the memory of that number.
    Pointer(usize),
    /// The null pointer.
    Null,
    /// A texture object; what it holds decides nothing.
    Texture,
    /// Local memory of OpenCL.
    Local(u64),
    /// A struct: its members by their names.
    Fields(Vec<(String, Given)>),
}

/// Why there is no launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A parameter that nobody can make up.
    #[error("parameter {name} is {what}, for which no value can be made up")]
    Ungivable {
        /// Its name.
        name: String,
        /// What it is.
        what: String,
    },
    /// An array that is too large.
    #[error("{name} would have to be of {bytes} bytes")]
    TooLarge {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// A struct of which it is not known how it is written.
    #[error("how the type of parameter {0} is written is not known")]
    Struct(String),
    /// A launch description sets no variables of the device.
    #[error("{0} is a variable of the device, and launch descriptions set none")]
    Symbol(String),
    /// A launch description puts no pointers into buffers.
    #[error("the pointer to {0} lies in memory, and launch descriptions put none there")]
    Held(String),
}

/// The value of a scalar parameter if nobody says another.
pub fn default(ty: ScalarType) -> Option<i128> {
    matches!(ty, ScalarType::Int { .. } | ScalarType::Bool).then_some(1)
}

/// Makes one launch.
struct Maker<'a> {
    subject: &'a Subject<'a>,
    params: &'a [Option<i128>],
    /// What memory must hold.
    contents: &'a Chosen,
    needs: &'a Needs,
    /// A byte that is certainly accessed, whatever the needs say.
    far: u64,
    /// Decides what memory holds.
    seed: u64,
    memory: Vec<Memory>,
}

/// The launch of a kernel with these values, and with `contents` in its memory. `far` is an offset that memory must hold; `seed` decides what it holds.
pub fn plan(
    subject: &Subject<'_>,
    (geometry, params): (Geometry, &[Option<i128>]),
    contents: &Chosen,
    needs: &Needs,
    (far, seed): (i128, u64),
) -> Result<Plan, PlanError> {
    let far = u64::try_from(far.unsigned_abs()).unwrap_or(0);
    let mut maker = Maker { subject, params, contents, needs, far, seed, memory: Vec::new() };
    let mut arguments = Vec::new();
    for parameter in &subject.head.parameters {
        arguments.push((parameter.name.clone(), maker.argument(&parameter.name, &parameter.kind)?));
    }
    let symbols = maker.symbols()?;
    let filled = maker.filled()?;
    let held = maker.held()?;
    Ok(Plan {
        kernel: instance(subject, params),
        geometry,
        shared: needs.dynamic_shared(subject.kernel),
        cooperative: waits_for_the_grid(subject.kernel),
        cluster: subject.kernel.geometry.clusters(),
        memory: maker.memory,
        arguments,
        symbols,
        filled,
        held,
    })
}

impl Maker<'_> {
    fn argument(&mut self, name: &str, kind: &ParameterKind) -> Result<Given, PlanError> {
        match kind {
            ParameterKind::Pointer(_) => self.pointer(name),
            ParameterKind::Dependent if self.array(name).is_some() => self.pointer(name),
            ParameterKind::Dependent => Ok(self.scalars(name, None, 1)),
            ParameterKind::Scalars { scalar, lanes } => Ok(self.scalars(name, Some(*scalar), *lanes)),
            ParameterKind::Array { count, .. } => {
                let element = |at: u64| Number::Integer(self.value(&format!("{name}[{at}]")));
                Ok(Given::Elements((0..*count).map(element).collect()))
            }
            ParameterKind::Struct(record) => self.members(name, record),
            ParameterKind::Texture => Ok(Given::Texture),
            ParameterKind::Other(what) => Err(PlanError::Ungivable { name: name.to_owned(), what: what.clone() }),
        }
    }

    /// The array behind a pointer of that name.
    fn array(&self, name: &str) -> Option<ArrayId> {
        let mut arrays = self.subject.kernel.arrays.iter();
        arrays.find(|(_, array)| array.is_param && array.name == *name).map(|(id, _)| id)
    }

    fn pointer(&mut self, name: &str) -> Result<Given, PlanError> {
        let group = self.subject.same.iter().find(|group| group.iter().any(|known| known == name));
        let is_one = |memory: &Memory| group.is_some_and(|group| group.contains(&memory.name));
        if let Some(known) = self.memory.iter().position(is_one) {
            return Ok(Given::Pointer(known));
        }
        let named = || group.into_iter().flatten().find_map(|other| self.array(other));
        let found = self.array(name).or_else(named);
        if found.is_some_and(|array| self.is_null(array)) {
            return Ok(Given::Null);
        }
        if let Some(array) = found.filter(|&array| self.subject.kernel.arrays[array].space == Space::Shared) {
            return Ok(Given::Local(self.needs.shared(array).max(1)));
        }
        let memory = self.allocated(name, found)?;
        self.memory.push(memory);
        Ok(Given::Pointer(self.memory.len() - 1))
    }

    /// Whether the launch has no array there.
    fn is_null(&self, array: ArrayId) -> bool {
        let given = self.subject.kernel.arrays[array].given;
        given.is_some_and(|given| self.params[given.index()] == Some(0))
    }

    fn allocated(&self, name: &str, array: Option<ArrayId>) -> Result<Memory, PlanError> {
        let (before, bytes, element) = match array {
            Some(array) => self.extent(array),
            // Never accessed.
            None => (ROOM, 2 * ROOM, 1),
        };
        if bytes > MAX_BYTES {
            return Err(PlanError::TooLarge { name: name.to_owned(), bytes });
        }
        let count = bytes.div_ceil(element);
        let listed = array.and_then(|array| self.listed(array, (before, count), element));
        let values = match listed {
            Some(values) => values?,
            None => contents(self.subject.report, self.seed, count),
        };
        Ok(Memory { name: name.to_owned(), element, count, before: before / element, values })
    }

    /// The contents that an array must have, all else zero; nothing if it is not said.
    fn listed(&self, array: ArrayId, (before, count): (u64, u64), element: u64) -> Option<Result<Values, PlanError>> {
        let mut listed = self.contents.listed(array).peekable();
        listed.peek()?;
        if count > MOST_LISTED {
            let name = self.subject.kernel.arrays[array].name.clone();
            return Some(Err(PlanError::Ungivable {
                name,
                what: "an array with too many elements to list".to_owned(),
            }));
        }
        let mut bytes = vec![0u8; (count * element) as usize];
        for (offset, byte) in listed {
            let at = offset.checked_add_unsigned(before).and_then(|at| usize::try_from(at).ok());
            if let Some(place) = at.and_then(|at| bytes.get_mut(at)) {
                *place = byte;
            }
        }
        let number = |bytes: &[u8]| {
            let bits = bytes.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            let free = 64 - 8 * bytes.len() as u32;
            Number::Integer(i128::from((bits << free) as i64 >> free))
        };
        Some(Ok(Values::List(bytes.chunks(element as usize).map(number).collect())))
    }

    /// Bytes before the pointer, bytes in all, and the size of an element.
    fn extent(&self, id: ArrayId) -> (u64, u64, u64) {
        let element = match self.subject.kernel.arrays[id].element_bytes {
            size @ (1 | 2 | 4) => u64::from(size),
            size if size % 8 == 0 => 8,
            size if size % 4 == 0 => 4,
            _ => 1,
        };
        let (low, high) = self.needs.reach(id).unwrap_or((0, 0));
        // A pattern knows no size of elements whose type is a parameter.
        let is_pattern = self.subject.head.template.is_some() && self.subject.report.template_args.is_empty();
        let is_open = self.needs.is_open(id) || is_pattern;
        let room = if is_open { ROOM.max(self.far + 4096) } else { 0 };
        let before = (low.min(0).unsigned_abs() + room).next_multiple_of(64);
        (before, before + high.max(0).unsigned_abs() + room + 64, element)
    }

    /// A scalar or the lanes of a vector, as the kernel's parameters have them.
    fn scalars(&self, name: &str, scalar: Option<Scalar>, lanes: u8) -> Given {
        if lanes == 1 {
            let value = self.value(name);
            let is_bool = scalar == Some(Scalar::Bool);
            return Given::Number(if is_bool { Number::Truth(value != 0) } else { Number::Integer(value) });
        }
        let each = ["x", "y", "z", "w"].iter().take(usize::from(lanes));
        Given::Lanes(each.map(|lane| Number::Integer(self.value(&format!("{name}.{lane}")))).collect())
    }

    fn value(&self, name: &str) -> i128 {
        let position = self.subject.kernel.params.iter().position(|(_, param)| param.name == name);
        position.and_then(|position| self.params[position]).unwrap_or(1)
    }

    /// A struct, of which the kernel's parameters and arrays are the leaves; of a union the first member.
    fn members(&mut self, name: &str, record: &Record) -> Result<Given, PlanError> {
        let mut fields = Vec::new();
        let mut end = 0;
        for member in record.members.iter().filter(|member| !member.name.is_empty()) {
            if member.offset < end {
                continue;
            }
            end = member.offset + member.bytes;
            fields.push((member.name.clone(), self.argument(&format!("{name}.{}", member.name), &member.kind)?));
        }
        Ok(Given::Fields(fields))
    }

    /// Memory for pointers that the host puts into variables of the device.
    fn symbols(&mut self) -> Result<Vec<(String, usize)>, PlanError> {
        let kernel = self.subject.kernel;
        let is_given = |name: &str| {
            let root = name.split(['.', '[']).next().unwrap_or(name);
            self.subject.head.parameters.iter().any(|parameter| parameter.name == root)
        };
        let is_pointed_to = |array: &Array| array.is_param && array.held_in.is_none() && array.space != Space::Private;
        let arrays = kernel.arrays.iter().filter(|(_, array)| is_pointed_to(array));
        let names: Vec<String> =
            arrays.filter(|(_, array)| !is_given(&array.name)).map(|(_, array)| array.name.clone()).collect();
        let mut symbols = Vec::new();
        for name in names {
            if let Given::Pointer(memory) = self.pointer(&name)? {
                symbols.push((name, memory));
            }
        }
        Ok(symbols)
    }

    /// What the host copies into variables of the device that hold numbers: up to the last one that is listed.
    fn filled(&mut self) -> Result<Vec<(String, usize)>, PlanError> {
        let kernel = self.subject.kernel;
        let mut filled = Vec::new();
        for (id, array) in kernel.arrays.iter().filter(|(_, array)| array.is_filled_elsewhere) {
            let Some((last, _)) = self.contents.listed(id).last() else { continue };
            let (_, _, element) = self.extent(id);
            let count = (last.unsigned_abs() + 1).div_ceil(element);
            let Some(values) = self.listed(id, (0, count), element) else { continue };
            filled.push((array.name.clone(), self.memory.len()));
            let name = format!("contents_of_{}", array.name);
            self.memory.push(Memory { name, element, count, before: 0, values: values? });
        }
        Ok(filled)
    }

    /// Memory for pointers that the host puts into memory; what holds them comes before them.
    fn held(&mut self) -> Result<Vec<Held>, PlanError> {
        let kernel = self.subject.kernel;
        let mut held = Vec::new();
        for (_, array) in kernel.arrays.iter() {
            let Some((holder, offset)) = array.held_in else { continue };
            let holder = &kernel.arrays[holder].name;
            let known = self.memory.iter().position(|memory| memory.name == *holder);
            let holder = known.map_or_else(|| self.pointer(holder), |known| Ok(Given::Pointer(known)))?;
            let Given::Pointer(holder) = holder else { continue };
            let memory = match self.pointer(&array.name)? {
                Given::Pointer(memory) => Some(memory),
                _ => None,
            };
            held.push(Held { name: array.name.clone(), holder, offset, memory });
        }
        Ok(held)
    }
}

/// Whether the kernel has a barrier of all blocks.
fn waits_for_the_grid(kernel: &Kernel) -> bool {
    let mut open: Vec<&[Stmt]> = vec![&kernel.body];
    while let Some(body) = open.pop() {
        for statement in body {
            match statement {
                Stmt::Sync { scope: SyncScope::Grid, .. } => return true,
                Stmt::If { then, otherwise, .. } => open.extend([&then[..], &otherwise[..]]),
                Stmt::For(each) => open.push(&each.body),
                Stmt::Loop { body, .. } => open.push(body),
                _ => {}
            }
        }
    }
    false
}

/// What memory holds: zeros, ones, small numbers; numbers that differ where the verdict takes that for granted.
fn contents(report: &KernelReport, seed: u64, count: u64) -> Values {
    let assumes = |text: &str| report.assumptions.iter().any(|each| each.text.contains(text));
    if assumes("differs between any two threads") || assumes("holds for any two threads") {
        return Values::Range(Number::Integer(0), Number::Integer(i128::from(count)));
    }
    match seed {
        _ if assumes("is the same in all threads") => Values::Constant(Number::Integer(2)),
        0 => Values::Zero,
        // What data decides may divide by data.
        1 => Values::Constant(Number::Integer(1)),
        _ => Values::Seed { seed, low: Number::Integer(0), high: Number::Integer(6) },
    }
}

/// The kernel with the template arguments that it is checked with.
fn instance(subject: &Subject<'_>, params: &[Option<i128>]) -> String {
    let name = &subject.head.name;
    let Some(template) = &subject.head.template else { return name.clone() };
    if !subject.report.template_args.is_empty() {
        return format!("{name}<{}>", subject.report.template_args.join(", "));
    }
    let given = |(param, is_value): &(String, bool)| {
        let position = subject.kernel.params.iter().position(|(_, known)| known.name == *param);
        match position.and_then(|position| params[position]) {
            Some(value) if *is_value => value.to_string(),
            _ if *is_value => "16".to_owned(),
            _ if subject.report.assumptions.iter().any(|each| each.text.starts_with(&format!("{param} = int"))) => {
                "int".to_owned()
            }
            _ => "float".to_owned(),
        }
    };
    format!("{name}<{}>", template.iter().map(given).collect::<Vec<_>>().join(", "))
}

impl Memory {
    /// A type of whole numbers with elements of that size.
    pub fn element_type(&self) -> ElementType {
        let bytes = u8::try_from(self.element).unwrap_or(1);
        ElementType { scalar: Scalar::Integer { bytes, signed: true }, lanes: 1 }
    }

    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.element * self.count
    }
}

impl Given {
    /// Whether there is a texture in it.
    pub(super) fn has_texture(&self) -> bool {
        match self {
            Given::Texture => true,
            Given::Fields(fields) => fields.iter().any(|(_, given)| given.has_texture()),
            _ => false,
        }
    }
}

impl Plan {
    /// As a launch description, in which the names of buffers begin with `prefix`.
    pub fn description(&self, prefix: &str) -> Result<Description, PlanError> {
        if let Some((name, _)) = self.symbols.first().or(self.filled.first()) {
            return Err(PlanError::Symbol(name.clone()));
        }
        if let Some(held) = self.held.first() {
            return Err(PlanError::Held(held.name.clone()));
        }
        if let Some((name, _)) = self.arguments.iter().find(|(_, given)| given.has_texture()) {
            return Err(PlanError::Ungivable { name: name.clone(), what: "a texture object".to_owned() });
        }
        let buffers = self.memory.iter().map(|memory| Buffer {
            name: format!("{prefix}{}", memory.name),
            element: memory.element_type(),
            count: memory.count,
            values: memory.values.clone(),
            place: None,
        });
        let arguments = self.arguments.iter().map(|(name, given)| self.described(name, given)).collect();
        let launch = Launch {
            kernel: self.kernel.clone(),
            grid: self.geometry.grid,
            block: self.geometry.block,
            shared: self.shared,
            blocks: if self.cooperative { Blocks::Cooperative } else { Blocks::Independent },
            cluster: self.cluster,
            arguments,
            place: None,
        };
        Ok(Description { path: PathBuf::new(), buffers: buffers.collect(), launches: vec![launch] })
    }

    fn described(&self, name: &str, given: &Given) -> Argument {
        let value = match given {
            Given::Number(number) => Value::Number(*number),
            Given::Lanes(numbers) | Given::Elements(numbers) => Value::Lanes(numbers.clone()),
            Given::Pointer(at) => Value::Buffer { buffer: *at, offset: self.memory[*at].before },
            Given::Null => Value::Null,
            Given::Local(bytes) => Value::Local { bytes: *bytes },
            // Refused above.
            Given::Texture => Value::Fields(Vec::new()),
            Given::Fields(fields) => {
                Value::Fields(fields.iter().map(|(name, given)| self.described(name, given)).collect())
            }
        };
        Argument { name: name.to_owned(), value, place: None }
    }
}
