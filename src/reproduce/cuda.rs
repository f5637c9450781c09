//! The `main` of a CUDA reproduction: memory, the launch, and nothing else.
//!
//! Written to be read: memory passes for whatever pointer the kernel takes, every call is checked. What it declares is
//! in the namespace `reproduction`, so that nothing of the user's meets it.

use super::directives::words;
use super::plan::{Given, Memory, Plan, PlanError};
use super::slice::Slice;
use crate::execute::launch::{Number, Values};
use std::fmt::Write;

/// Bytes of dynamic shared memory that a kernel may have without asking.
const PLAIN_SHARED: u64 = 48 * 1024;

const CHECK: &str = "
// The launch that shows it.
#include <stdio.h>
#include <stdlib.h>

namespace reproduction {

static void check(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, \"%s\\n\", cudaGetErrorString(error));
    exit(1);
  }
}
";

const MEMORY: &str = "
// Memory of the device; it passes for a pointer to anything.
struct Memory {
  char *start;
  template <class Pointee> operator Pointee *() const { return (Pointee *)start; }
};

// Zeros: that many bytes, of which some are before the pointer.
static Memory zeros(size_t bytes, size_t before = 0) {
  void *start = 0;
  check(cudaMalloc(&start, bytes));
  check(cudaMemset(start, 0, bytes));
  return {(char *)start + before};
}
";

const FILLED: &str = "
// Numbers, each a step further than the one before it; some are before the pointer.
template <class Element> static Memory numbers(size_t count, Element first, Element step, size_t before = 0) {
  Element *host = (Element *)malloc(count * sizeof(Element));
  for (size_t at = 0; at < count; ++at) host[at] = (Element)(first + at * step);
  void *start = 0;
  check(cudaMalloc(&start, count * sizeof(Element)));
  check(cudaMemcpy(start, host, count * sizeof(Element), cudaMemcpyHostToDevice));
  free(host);
  return {(char *)start + before * sizeof(Element)};
}

// The same, one by one.
template <class Element, size_t count> static Memory listed(const Element (&host)[count], size_t before = 0) {
  void *start = 0;
  check(cudaMalloc(&start, sizeof(host)));
  check(cudaMemcpy(start, host, sizeof(host), cudaMemcpyHostToDevice));
  return {(char *)start + before * sizeof(Element)};
}
";

const VALUE: &str = "
// A number that becomes whatever type the parameter has.
struct value {
  long long number;
  template <class Wanted> operator Wanted() const { return (Wanted)number; }
};
";

const TOGETHER: &str = "
template <class Type> struct identity { typedef Type type; };

// Blocks that wait for each other are launched together.
template <class... Parameters>
static void launch_together(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                            typename identity<Parameters>::type... given) {
  void *arguments[] = {(void *)&given..., 0};
  check(cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, 0));
}
";

const TEXTURE: &str = "
// A texture of floats; what it holds decides nothing.
static cudaTextureObject_t texture(cudaExtent extent, unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  check(cudaMalloc3DArray(&resource.res.array.array, &format, extent, flags));
  cudaTextureDesc description = {};
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &description, 0));
  return object;
}
";

const LINEAR_TEXTURE: &str = "
// A texture of floats in a row; what it holds decides nothing.
static cudaTextureObject_t texture() {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = 65536;
  check(cudaMalloc(&resource.res.linear.devPtr, 65536));
  check(cudaMemset(resource.res.linear.devPtr, 0, 65536));
  cudaTextureDesc description = {};
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &description, 0));
  return object;
}
";

/// How texture objects are made: in the shape in which the first read in the text takes them.
fn texture(slice: &Slice) -> (&'static str, &'static str) {
    const PLANE: (&str, &str) = (TEXTURE, "texture({64, 64, 0}, cudaArrayDefault)");
    let shapes = [
        ("tex1Dfetch", LINEAR_TEXTURE, "texture()"),
        ("tex1DLayered", TEXTURE, "texture({64, 0, 4}, cudaArrayLayered)"),
        ("tex2DLayered", TEXTURE, "texture({64, 64, 4}, cudaArrayLayered)"),
        ("tex1D", TEXTURE, "texture({64, 0, 0}, cudaArrayDefault)"),
        ("tex3D", TEXTURE, "texture({16, 16, 16}, cudaArrayDefault)"),
    ];
    let mut words = slice.lines.iter().flat_map(|(line, _)| words(line));
    let known = |word: &str| {
        let word = word.strip_suffix("Lod").unwrap_or(word);
        let shape = shapes.iter().find(|(name, ..)| *name == word).map(|&(_, make, call)| (make, call));
        if word == "tex2D" { Some(PLANE) } else { shape }
    };
    words.find_map(known).unwrap_or(PLANE)
}

/// The text behind the kernel.
pub(super) fn host(plan: &Plan, slice: &Slice) -> Result<String, PlanError> {
    let parameters = &slice.parameters[..];
    let (make_texture, texture) = texture(slice);
    let names: Vec<String> = plan.memory.iter().map(|memory| variable(&memory.name)).collect();
    let mut body = String::new();
    let mut is_filled = false;
    for (memory, name) in plan.memory.iter().zip(&names) {
        let (made, filled) = made(memory)?;
        is_filled |= filled;
        // Writing to a string cannot fail.
        let _ = writeln!(body, "  reproduction::Memory {name} = reproduction::{made};");
    }
    for (symbol, memory) in &plan.symbols {
        let start = format!("{}.start", names[*memory]);
        let _ = writeln!(body, "  reproduction::check(cudaMemcpyToSymbol({symbol}, &{start}, sizeof({start})));");
    }
    for (variable, memory) in &plan.filled {
        let (start, bytes) = (format!("{}.start", names[*memory]), plan.memory[*memory].bytes());
        let direction = "cudaMemcpyDeviceToDevice";
        let _ =
            writeln!(body, "  reproduction::check(cudaMemcpyToSymbol({variable}, {start}, {bytes}, 0, {direction}));");
    }
    for held in &plan.held {
        let holder = &names[held.holder];
        let place =
            if held.offset == 0 { format!("{holder}.start") } else { format!("{holder}.start + {}", held.offset) };
        let set = match held.memory {
            Some(memory) => {
                let start = format!("{}.start", names[memory]);
                format!("cudaMemcpy({place}, &{start}, sizeof({start}), cudaMemcpyHostToDevice)")
            }
            None => format!("cudaMemset({place}, 0, sizeof(void *))"),
        };
        let _ = writeln!(body, "  reproduction::check({set});");
    }
    let mut arguments = Vec::new();
    for (at, (name, given)) in plan.arguments.iter().enumerate() {
        arguments.push(match given {
            Given::Fields(fields) => {
                let ty = parameters.get(at).map(|parameter| parameter.text.as_str()).filter(|text| !text.is_empty());
                let Some(ty) = ty else { return Err(PlanError::Struct(name.clone())) };
                let name = variable(name);
                let _ = writeln!(body, "  {ty} {name} = {{}};");
                members(&mut body, &name, fields, (&names, texture));
                name
            }
            Given::Texture => format!("reproduction::{texture}"),
            Given::Number(number) if !parameters.get(at).is_some_and(|parameter| parameter.is_plain) => {
                // A type that is not written plainly may need a conversion.
                format!("reproduction::value{{{}}}", literal(*number))
            }
            given => text(given, &names),
        });
    }
    let states_clusters = slice.lines.iter().any(|(line, _)| line.contains("__cluster_dims__"));
    let cluster = plan.cluster.filter(|_| !states_clusters);
    body.push_str(&launch(plan, &arguments.join(", "), cluster));
    let mut whole = String::from(CHECK);
    if !plan.memory.is_empty() {
        whole.push_str(MEMORY);
    }
    if is_filled {
        whole.push_str(FILLED);
    }
    if body.contains("reproduction::value{") {
        whole.push_str(VALUE);
    }
    if plan.cooperative {
        whole.push_str(TOGETHER);
    }
    if plan.arguments.iter().any(|(_, given)| given.has_texture()) {
        whole.push_str(make_texture);
    }
    whole.push_str("\n}  // namespace reproduction\n\nint main() {\n");
    if let Some((outer, _)) = plan.kernel.split('<').next().and_then(|name| name.rsplit_once("::")) {
        let _ = writeln!(whole, "  using namespace {outer};");
    }
    whole.push_str(&body);
    whole.push_str("  return 0;\n}\n");
    Ok(whole)
}

/// The statements that fill a struct.
fn members(body: &mut String, outer: &str, fields: &[(String, Given)], made: (&[String], &str)) {
    let (memory, texture) = made;
    for (name, given) in fields {
        let path = format!("{outer}.{name}");
        let lines = match given {
            Given::Fields(fields) => {
                members(body, &path, fields, made);
                continue;
            }
            Given::Texture => format!("  {path} = reproduction::{texture};\n"),
            // An array can only be filled element by element.
            Given::Elements(numbers) => {
                numbers.iter().enumerate().map(|(at, &lane)| format!("  {path}[{at}] = {};\n", literal(lane))).collect()
            }
            given => format!("  {path} = {};\n", text(given, memory)),
        };
        body.push_str(&lines);
    }
}

/// How memory is made, and whether it holds numbers.
fn made(memory: &Memory) -> Result<(String, bool), PlanError> {
    let before = |bytes: u64| if bytes == 0 { String::new() } else { format!(", {bytes}") };
    let ty = ["char", "short", "int", "long long"][memory.element.trailing_zeros().min(3) as usize];
    if let Values::List(numbers) = &memory.values {
        let listed: Vec<String> = numbers.iter().map(|&number| literal(number)).collect();
        return Ok((format!("listed<{ty}>({{{}}}{})", listed.join(", "), before(memory.before)), true));
    }
    let (first, step) = match memory.values {
        Values::Zero => {
            let before = before(memory.before * memory.element);
            return Ok((format!("zeros({}{before})", memory.bytes()), false));
        }
        Values::Constant(Number::Integer(value)) => (value, 0),
        Values::Range(Number::Integer(0), Number::Integer(end)) if end == i128::from(memory.count) => (0, 1),
        _ => {
            let what = "an array with contents that cannot be written in short".to_owned();
            return Err(PlanError::Ungivable { name: memory.name.clone(), what });
        }
    };
    Ok((format!("numbers<{ty}>({}, {first}, {step}{})", memory.count, before(memory.before)), true))
}

/// The launch. Where the kernel does not state how large its clusters are, the launch does: `cluster`.
fn launch(plan: &Plan, arguments: &str, cluster: Option<[u32; 3]>) -> String {
    let name = format!("::{}", plan.kernel);
    let mut text = String::new();
    if plan.shared > PLAIN_SHARED {
        let limit = "cudaFuncAttributeMaxDynamicSharedMemorySize";
        let _ = writeln!(text, "  reproduction::check(cudaFuncSetAttribute({name}, {limit}, {}));", plan.shared);
    }
    let extents = |extents: [u32; 3]| match extents {
        [x, 1, 1] => x.to_string(),
        [x, y, z] => format!("dim3({x}, {y}, {z})"),
    };
    let (grid, block) = (extents(plan.geometry.grid), extents(plan.geometry.block));
    if plan.cooperative {
        let arguments = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
        let shared = plan.shared;
        let _ = writeln!(text, "  reproduction::launch_together({name}, {grid}, {block}, {shared}{arguments});");
    } else if let Some([x, y, z]) = cluster {
        let arguments = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
        let _ = write!(
            text,
            "  cudaLaunchAttribute cluster = {{}};\n  cluster.id = cudaLaunchAttributeClusterDimension;\n  \
             cluster.val.clusterDim.x = {x};\n  cluster.val.clusterDim.y = {y};\n  cluster.val.clusterDim.z = {z};\n  \
             cudaLaunchConfig_t config = {{}};\n  config.gridDim = {grid};\n  config.blockDim = {block};\n  \
             config.dynamicSmemBytes = {};\n  config.attrs = &cluster;\n  config.numAttrs = 1;\n  \
             reproduction::check(cudaLaunchKernelEx(&config, {name}{arguments}));\n",
            plan.shared
        );
    } else {
        let shared = if plan.shared == 0 { String::new() } else { format!(", {}", plan.shared) };
        let _ = writeln!(text, "  {name}<<<{grid}, {block}{shared}>>>({arguments});");
    }
    text.push_str("  reproduction::check(cudaGetLastError());\n  reproduction::check(cudaDeviceSynchronize());\n");
    text
}

/// What stands for an argument of a type that is written plainly.
fn text(given: &Given, memory: &[String]) -> String {
    match given {
        Given::Number(number) => literal(*number),
        Given::Lanes(lanes) => {
            format!("{{{}}}", lanes.iter().map(|&lane| literal(lane)).collect::<Vec<_>>().join(", "))
        }
        Given::Pointer(at) => memory[*at].clone(),
        Given::Null => "nullptr".to_owned(),
        Given::Elements(_) | Given::Local(_) | Given::Fields(_) | Given::Texture => "{}".to_owned(),
    }
}

fn literal(number: Number) -> String {
    match number {
        Number::Integer(value) if value <= i128::from(i64::MIN) => format!("({}ll - 1)", i64::MIN + 1),
        Number::Integer(value) if value > i128::from(i64::MAX) => format!("{value}ull"),
        Number::Integer(value) if i32::try_from(value).is_err() => format!("{value}ll"),
        Number::Integer(value) => value.to_string(),
        Number::Float(value) => format!("{value:?}"),
        Number::Truth(value) => value.to_string(),
    }
}

/// A name as one identifier.
fn variable(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if word.is_empty() { "unnamed".to_owned() } else { word }
}
