//! The program around kernels that have none: a `main` of CUDA's runtime API that does what a description says.
//!
//! It is text that is put behind the user's file, so that it shares the unit with the kernels and leaves the lines of the
//! file as they are. Its own lines claim to be those of the description: what a compiler finds wrong with a launch is
//! told there. Buffers come out of files beside the program. Every call is checked; the first that fails ends the
//! program with status 1 and the runtime's own words.
//!
//! What it declares is named `raceproof_…`, so that nothing of the user's is likely to meet it.

use super::element::ElementType;
use super::record::{self, Given, Image, Record};
use super::write::quoted_with;
use super::{Argument, Blocks, Description, DescriptionError, Launch, Number, Problem, Scalar, Value};
use crate::source::Language;
use crate::source::spelling::nearest;
use std::fmt::Write;
use std::path::Path;

/// A kernel as it is written: what a launch of it names and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its name, qualified.
    pub name: String,
    /// Its template parameters, if it is a template: their names, and whether they are values.
    pub template: Option<Vec<(String, bool)>>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// The kernel of a launch, as the program has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What to call it by, with its template arguments.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; may be empty.
    pub name: String,
    /// What it takes.
    pub kind: ParameterKind,
}

/// What a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// Scalars or vectors.
    Numbers(ElementType),
    /// Something else, of this size.
    Bytes(u64),
    /// Nobody knows before the compiler, or it has no size.
    Unknown,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A pointer to data.
    Pointer(Pointee),
    /// A scalar or a vector.
    Scalars {
        /// Of the lanes.
        scalar: Scalar,
        /// How many; 1 for a scalar.
        lanes: u8,
    },
    /// Numbers, one behind the other; of members of structs only.
    Array {
        /// Of the elements.
        scalar: Scalar,
        /// How many.
        count: u64,
    },
    /// A struct, by value.
    Struct(Record),
    /// A texture object, which no description can give.
    Texture,
    /// Nobody knows before the compiler: its type depends on template arguments.
    Dependent,
    /// What no description can give, in words.
    Other(String),
}

impl ParameterKind {
    /// How a value of this kind may look.
    pub(crate) fn example(&self) -> String {
        match self {
            ParameterKind::Pointer(_) => "{ buffer = \"…\" }".to_owned(),
            ParameterKind::Scalars { scalar: Scalar::Float { .. }, lanes: 1 } => "1.0".to_owned(),
            ParameterKind::Scalars { lanes: 1, .. } => "1".to_owned(),
            ParameterKind::Scalars { lanes, .. } => format!("[{}]", vec!["1"; usize::from(*lanes)].join(", ")),
            ParameterKind::Array { count, .. } => format!("[…] (a list of {count} numbers)"),
            ParameterKind::Struct(record) => {
                let members = record.members.iter().map(|member| format!("{} = …", member.name));
                format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
            }
            ParameterKind::Texture | ParameterKind::Dependent | ParameterKind::Other(_) => "…".to_owned(),
        }
    }

    /// What is wanted, in words.
    pub(super) fn wanted(&self) -> String {
        match self {
            ParameterKind::Pointer(_) => "{ buffer = \"name\" } for a pointer".to_owned(),
            ParameterKind::Scalars { lanes: 1, .. } => "a number".to_owned(),
            ParameterKind::Scalars { lanes, .. } => format!("a list of {lanes} numbers"),
            ParameterKind::Array { count, .. } => format!("a list of {count} numbers"),
            ParameterKind::Struct(record) => format!("{} for the struct {}", self.example(), record.name),
            ParameterKind::Dependent => "a value".to_owned(),
            ParameterKind::Texture => "a texture object".to_owned(),
            ParameterKind::Other(what) => what.clone(),
        }
    }
}

/// What a program writes to its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Nothing.
    Nothing,
    /// A digest of what each buffer holds in the end, so that whoever compares runs sees what they computed.
    Digests,
}

/// The text of a program, and the files that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What to put behind the user's file.
    pub text: String,
    /// Names and contents of files that must be in the directory that the text was made for.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Bytes of dynamic shared memory that a kernel may have without asking.
const PLAIN_SHARED: u64 = 48 * 1024;

/// What comes before `main`.
const HELPERS: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
namespace raceproof_host {
struct raceproof_pointer {
    void* raceproof_at;
    template <class raceproof_T> operator raceproof_T*() const { return (raceproof_T*)raceproof_at; }
};
template <class raceproof_V> struct raceproof_number {
    raceproof_V raceproof_value;
    template <class raceproof_T> operator raceproof_T() const { return (raceproof_T)raceproof_value; }
};
template <size_t raceproof_N, size_t raceproof_A> struct raceproof_record {
    alignas(raceproof_A) unsigned char raceproof_bytes[raceproof_N];
    raceproof_record raceproof_put(size_t at, raceproof_pointer pointer) const {
        raceproof_record with = *this;
        memcpy(with.raceproof_bytes + at, &pointer.raceproof_at, sizeof pointer.raceproof_at);
        return with;
    }
    template <class raceproof_T> operator raceproof_T() const {
        static_assert(sizeof(raceproof_T) == raceproof_N, \"the struct is not laid out as the launch description needs it\");
        return *(const raceproof_T*)raceproof_bytes;
    }
};
template <class raceproof_T> struct raceproof_same { typedef raceproof_T type; };
template <class... raceproof_P> cudaError_t raceproof_cooperative(void (*kernel)(raceproof_P...), dim3 grid, dim3 block, size_t shared,
                                                                typename raceproof_same<raceproof_P>::type... values) {
    void* arguments[] = {(void*)&values..., 0};
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, 0);
}
static raceproof_pointer raceproof_at(void* base, size_t bytes) { return {(char*)base + bytes}; }
static raceproof_number<long long> raceproof_signed(long long value) { return {value}; }
static raceproof_number<unsigned long long> raceproof_unsigned(unsigned long long value) { return {value}; }
static void raceproof_check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, \"%s: %s\\n\", what, cudaGetErrorString(error));
    exit(1);
}
static void* raceproof_buffer(const char* name, size_t bytes, const char* path) {
    void* device = 0;
    raceproof_check(cudaMalloc(&device, bytes), name);
    if (!path) {
        raceproof_check(cudaMemset(device, 0, bytes), name);
        return device;
    }
    void* host = malloc(bytes);
    FILE* file = fopen(path, \"rb\");
    if (!host || !file || fread(host, 1, bytes, file) != bytes) {
        fprintf(stderr, \"%s: cannot read %s\\n\", name, path);
        exit(1);
    }
    fclose(file);
    raceproof_check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), name);
    free(host);
    return device;
}
}
";

/// What programs that tell digests need besides.
const DIGESTS: &str = "\
namespace raceproof_host {
static void raceproof_tell(const char* name, const void* device, size_t bytes) {
    unsigned char* host = (unsigned char*)malloc(bytes);
    raceproof_check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), name);
    unsigned long long digest = 0xcbf29ce484222325ull;
    for (size_t at = 0; at < bytes; at++) digest = (digest ^ host[at]) * 0x100000001b3ull;
    printf(\"%s %016llx\\n\", name, digest);
    free(host);
}
}
";

/// What launches with clusters, which CUDA has since 11.8, need besides.
const CLUSTERS: &str = "\
namespace raceproof_host {
template <class... raceproof_P> cudaError_t raceproof_clustered(void (*kernel)(raceproof_P...), dim3 grid, dim3 block, size_t shared,
                                                              bool cooperative, dim3 cluster,
                                                              typename raceproof_same<raceproof_P>::type... values) {
    cudaLaunchAttribute attributes[2];
    memset((void*)attributes, 0, sizeof attributes);
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = cluster.x;
    attributes[0].val.clusterDim.y = cluster.y;
    attributes[0].val.clusterDim.z = cluster.z;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = cooperative;
    cudaLaunchConfig_t config;
    memset((void*)&config, 0, sizeof config);
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.attrs = attributes;
    config.numAttrs = cooperative ? 2 : 1;
    return cudaLaunchKernelEx(&config, kernel, values...);
}
}
";

/// The program of a description, whose launches run `targets`, one for each. Files are sought in `directory`.
pub fn program(
    description: &Description,
    targets: &[Target],
    directory: &Path,
    telling: Telling,
) -> Result<Host, DescriptionError> {
    let mut files = Vec::new();
    let mut body = String::new();
    for (number, buffer) in description.buffers.iter().enumerate() {
        let file = if buffer.is_zero() {
            "0".to_owned()
        } else {
            let name = format!("buffer{number}.bin");
            let path = quoted(&directory.join(&name).display().to_string());
            files.push((name, buffer.contents(Language::Cuda)));
            path
        };
        line(&mut body, description, buffer.place.map(|place| place.line));
        let (name, bytes) = (quoted(&buffer.name), buffer.bytes(Language::Cuda));
        // Writing to a string cannot fail.
        let _ = writeln!(body, "    void* raceproof_{number} = raceproof_buffer({name}, {bytes}, {file});");
    }
    for (launch, target) in description.launches.iter().zip(targets) {
        body.push_str(&launched(description, launch, target)?);
    }
    if telling == Telling::Digests {
        for (number, buffer) in description.buffers.iter().enumerate() {
            let (name, bytes) = (quoted(&buffer.name), buffer.bytes(Language::Cuda));
            let _ = writeln!(body, "    raceproof_tell({name}, raceproof_{number}, {bytes});");
        }
    }
    for number in 0..description.buffers.len() {
        let _ = writeln!(body, "    raceproof_check(cudaFree(raceproof_{number}), \"cudaFree\");");
    }
    let mut text = String::from("\n#line 1 \"<program of the launch description>\"\n");
    text.push_str(HELPERS);
    if description.launches.iter().any(|launch| launch.cluster.is_some()) {
        text.push_str(CLUSTERS);
    }
    if telling == Telling::Digests {
        text.push_str(DIGESTS);
    }
    text.push_str("int main() {\n    using namespace raceproof_host;\n");
    text.push_str(&body);
    text.push_str("    return 0;\n}\n");
    Ok(Host { text, files })
}

/// The statements of one launch.
fn launched(description: &Description, launch: &Launch, target: &Target) -> Result<String, DescriptionError> {
    let arguments = arguments(description, launch, target)?.join(", ");
    let name = &target.name;
    let said = quoted(name);
    let mut text = String::new();
    line(&mut text, description, launch.place.map(|place| place.line));
    if launch.shared > PLAIN_SHARED {
        let _ = writeln!(
            text,
            "    raceproof_check(cudaFuncSetAttribute({name}, cudaFuncAttributeMaxDynamicSharedMemorySize, {}), {said});",
            launch.shared
        );
    }
    let extents = |extents: [u32; 3]| format!("dim3({}, {}, {})", extents[0], extents[1], extents[2]);
    let (grid, block) = (extents(launch.grid), extents(launch.block));
    // On one line, which is the description's.
    let separator = if arguments.is_empty() { "" } else { ", " };
    match (launch.blocks, launch.cluster) {
        (blocks, Some(cluster)) => {
            let (cooperative, cluster) = (blocks == Blocks::Cooperative, extents(cluster));
            let call =
                format!("{name}, {grid}, {block}, {}, {cooperative}, {cluster}{separator}{arguments}", launch.shared);
            let _ = write!(text, "    raceproof_check(raceproof_clustered({call}), {said}); ");
        }
        (Blocks::Independent, None) => {
            let _ = write!(text, "    {name}<<<{grid}, {block}, {}>>>({arguments}); ", launch.shared);
            let _ = write!(text, "raceproof_check(cudaGetLastError(), {said}); ");
        }
        (Blocks::Cooperative, None) => {
            let call = format!("{name}, {grid}, {block}, {}{separator}{arguments}", launch.shared);
            let _ = write!(text, "    raceproof_check(raceproof_cooperative({call}), {said}); ");
        }
    }
    let _ = writeln!(text, "raceproof_check(cudaDeviceSynchronize(), {said});");
    Ok(text)
}

/// What stands between the parentheses of the call.
fn arguments(description: &Description, launch: &Launch, target: &Target) -> Result<Vec<String>, DescriptionError> {
    let known = || target.parameters.iter().map(|parameter| parameter.name.as_str());
    for argument in &launch.arguments {
        if !known().any(|name| name == argument.name) {
            let suggestion = nearest(&argument.name, known());
            let known = known().map(str::to_owned).collect();
            let problem = Problem::UnknownParameter { kernel: launch.kernel.clone(), suggestion, known };
            return Err(description.error(argument.place, key(&argument.name), problem));
        }
    }
    target.parameters.iter().map(|parameter| given(description, launch, parameter)).collect()
}

fn key(name: &str) -> String {
    format!("launch.arguments.{name}")
}

/// What a parameter is given.
fn given(description: &Description, launch: &Launch, parameter: &Parameter) -> Result<String, DescriptionError> {
    let refused = |place, problem| Err(description.error(place, key(&parameter.name), problem));
    if matches!(parameter.kind, ParameterKind::Texture | ParameterKind::Other(_)) {
        let (kernel, what) = (launch.kernel.clone(), parameter.kind.wanted());
        let problem = Problem::Ungivable { kernel, parameter: parameter.name.clone(), what };
        return refused(launch.place, problem);
    }
    let Some(argument) = launch.arguments.iter().find(|argument| argument.name == parameter.name) else {
        return refused(launch.place, Problem::Missing(example(parameter)));
    };
    if let (ParameterKind::Struct(record), Value::Fields(fields)) = (&parameter.kind, &argument.value) {
        let key = key(&parameter.name);
        let at = Given { kernel: &launch.kernel, key: &key, place: argument.place };
        return Ok(passed(&record::image(description, record, fields, at, Language::Cuda)?, record.align));
    }
    match text_of(description, argument, &parameter.kind) {
        Ok(text) => Ok(text),
        Err(problem) => refused(argument.place, problem.of_kernel(&launch.kernel)),
    }
}

/// A struct, byte by byte, with its pointers put in.
fn passed(image: &Image, align: u64) -> String {
    let bytes: Vec<String> = image.bytes.iter().map(u8::to_string).collect();
    let mut text = format!("raceproof_record<{}, {align}>{{{{{}}}}}", bytes.len(), bytes.join(","));
    for (at, buffer, offset) in &image.pointers {
        // Writing to a string cannot fail.
        let _ = write!(text, ".raceproof_put({at}, raceproof_at(raceproof_{buffer}, {offset}))");
    }
    text
}

/// How an argument for a parameter may look.
fn example(parameter: &Parameter) -> String {
    format!("{} = {}", parameter.name, parameter.kind.example())
}

fn text_of(description: &Description, argument: &Argument, kind: &ParameterKind) -> Result<String, Problem> {
    let wrong = |expected: &str| Problem::WrongType { expected: expected.to_owned(), found: found(&argument.value) };
    match (&argument.value, kind) {
        (Value::Local { .. }, _) => Err(Problem::Other(
            "`local` is for kernels of OpenCL; dynamic shared memory of CUDA is the key `shared` of the launch"
                .to_owned(),
        )),
        (Value::Buffer { buffer, offset }, ParameterKind::Pointer(_) | ParameterKind::Dependent) => {
            let bytes = offset * description.buffers[*buffer].element.bytes(Language::Cuda);
            Ok(format!("raceproof_at(raceproof_{buffer}, {bytes})"))
        }
        (Value::Null, ParameterKind::Pointer(_) | ParameterKind::Dependent) => Ok("nullptr".to_owned()),
        (Value::Fields(fields), ParameterKind::Pointer(_)) => Err(misnamed(fields)),
        (Value::Number(number), ParameterKind::Scalars { scalar, lanes: 1 }) => {
            held(*scalar, *number)?;
            Ok(literal(*number, matches!(scalar, Scalar::Float { .. })))
        }
        (Value::Number(number), ParameterKind::Dependent) => Ok(literal(*number, false)),
        (Value::Lanes(numbers), ParameterKind::Scalars { scalar, lanes }) if numbers.len() == usize::from(*lanes) => {
            let lane = |number: &Number| held(*scalar, *number).map(|()| lane(*number, *scalar));
            let lanes: Result<Vec<String>, Problem> = numbers.iter().map(lane).collect();
            Ok(format!("{{{}}}", lanes?.join(", ")))
        }
        (Value::Lanes(numbers), ParameterKind::Dependent) => {
            let lanes: Vec<String> = numbers.iter().map(|number| lane(*number, Scalar::Bool)).collect();
            Ok(format!("{{{}}}", lanes.join(", ")))
        }
        // Until its type is known; if it never is, the compiler refuses the size.
        (Value::Fields(_), ParameterKind::Dependent) => Ok(passed(&Image { bytes: vec![0], pointers: Vec::new() }, 1)),
        _ => Err(wrong(&kind.wanted())),
    }
}

/// What is said of members that are given for a pointer.
fn misnamed(fields: &[Argument]) -> Problem {
    let known = ["buffer", "offset"];
    let wrong = fields.iter().find(|field| !known.contains(&field.name.as_str()));
    match wrong.and_then(|field| nearest(&field.name, known)) {
        Some(meant) => Problem::Other(format!("a pointer is {{ buffer = \"name\" }} (did you mean `{meant}`?)")),
        None => Problem::WrongType {
            expected: ParameterKind::Pointer(Pointee::Unknown).wanted(),
            found: "members of a struct".to_owned(),
        },
    }
}

pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("the number {number}"),
        Value::Lanes(numbers) => format!("a list of {}", numbers.len()),
        Value::Buffer { .. } => "a buffer".to_owned(),
        Value::Null => "the null pointer".to_owned(),
        Value::Local { .. } => "local memory".to_owned(),
        Value::Fields(_) => "members of a struct".to_owned(),
    }
}

fn held(scalar: Scalar, number: Number) -> Result<(), Problem> {
    if scalar.holds(number) {
        return Ok(());
    }
    Err(Problem::no_value(number, scalar))
}

/// A value that becomes whatever the parameter is, enumerations too.
fn literal(number: Number, is_real: bool) -> String {
    match number {
        Number::Integer(value) if is_real => real(value as f64),
        Number::Integer(value) if value < 0 => format!("raceproof_signed({})", negative(value)),
        Number::Integer(value) => format!("raceproof_unsigned({value}ull)"),
        Number::Float(value) => real(value),
        Number::Truth(value) => value.to_string(),
    }
}

/// A constant for a lane, which braces do not let narrow unless its value fits.
fn lane(number: Number, scalar: Scalar) -> String {
    match (scalar, number) {
        (Scalar::Float { bytes }, _) => {
            let suffix = if bytes == 4 { "float" } else { "double" };
            format!("({suffix})({})", literal(number, true))
        }
        (Scalar::Integer { signed: false, .. }, Number::Integer(value)) => format!("{value}u"),
        (_, Number::Integer(value)) if value < 0 => negative(value),
        (_, Number::Integer(value)) => value.to_string(),
        _ => literal(number, false),
    }
}

/// The least number of a type has no literal of its own.
fn negative(value: i128) -> String {
    format!("({}ll - 1)", value + 1)
}

fn real(value: f64) -> String {
    match (value.is_nan(), value.is_infinite()) {
        (true, _) => "(double)NAN".to_owned(),
        (_, true) if value > 0.0 => "(double)INFINITY".to_owned(),
        (_, true) => "-(double)INFINITY".to_owned(),
        // The shortest text that is read back as the same number.
        _ => format!("{value:?}"),
    }
}

/// From here on lines are counted from that one of the description.
fn line(text: &mut String, description: &Description, line: Option<u32>) {
    if let Some(line) = line {
        let _ = writeln!(text, "#line {line} {}", quoted(&description.path.display().to_string()));
    }
}

/// As a string literal of C++.
pub(super) fn quoted(text: &str) -> String {
    quoted_with(text, |control| format!("\\{:03o}", control & 0xff))
}
