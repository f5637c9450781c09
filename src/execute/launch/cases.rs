//! The program around kernels that runs one launch after another of a file that it is given: built once, run with many inputs.
//!
//! [`super::host`] writes a description into the text of its program; whoever looks for inputs tries thousands, and cannot
//! compile each. Here the text knows the kernels alone, and reads a [`case`] when it starts. Every buffer ends, but for the alignment of its last 16 bytes,
//! where memory begins that nobody may touch, and begins behind such memory: an access beside it ends the program, and the
//! [`places`] of the buffers say which of them it missed, and by how much.
//!
//! Guarantees: a case and the description that it is made from hold the same bytes.
//!
//! Deliberately absent: clusters, whose launches need their extents when they are compiled; other back ends than the CPU.

use super::host::{ParameterKind, Target, quoted};
use super::record::{self, Given, Member, Record};
use super::{Blocks, Description, DescriptionError};
use crate::source::Language;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Untouchable memory on both sides of a buffer, in bytes.
pub const APART: u64 = 1 << 30;

/// The files of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the program is given.
    pub text: String,
    /// What buffers hold that do not hold zeros, by the paths in the text.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// Where a buffer was in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address.
    pub base: u64,
    /// Its size.
    pub bytes: u64,
}

/// What comes before `main`.
const HELPERS: &str = r#"
#line 1 "<program that runs cases>"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <string>
#include <vector>
namespace raceproof_cases {
static char* raceproof_room(size_t bytes) {
    const size_t apart = size_t(1) << 30, pages = (bytes + 4095) / 4096 * 4096;
    char* all = (char*)mmap(0, apart + pages + apart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + apart, pages, PROT_READ | PROT_WRITE) != 0) {
        perror("a buffer");
        exit(4);
    }
    return all + apart + pages - (bytes + 15) / 16 * 16;
}
static void raceproof_fill(char* to, size_t bytes, const char* path) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(to, 1, bytes, file) != bytes) {
        perror(path);
        exit(4);
    }
    fclose(file);
}
typedef cudaError_t (*raceproof_start)(dim3, dim3, void**, size_t, int);
"#;

const MAIN: &str = r#"}
int main(int count, char** words) {
    using namespace raceproof_cases;
    FILE* given = count > 2 ? fopen(words[1], "r") : 0;
    FILE* told = count > 2 ? fopen(words[2], "w") : 0;
    if (!given || !told) return 4;
    std::vector<char*> buffers;
    char what[2], path[4096];
    unsigned long long bytes = 0;
    while (fscanf(given, " %1s", what) == 1) {
        if (what[0] == 'B') {
            if (fscanf(given, "%llu %4095[^\n]", &bytes, path) != 2) return 4;
            char* room = raceproof_room(bytes);
            if (strcmp(path, "-") != 0) raceproof_fill(room, bytes, path);
            buffers.push_back(room);
            fprintf(told, "%llu %llu\n", (unsigned long long)room, bytes);
            continue;
        }
        unsigned kernel, grid[3], block[3], together;
        unsigned long long shared, size, pointers;
        if (fscanf(given, "%u %u %u %u %u %u %u %llu %u %llu", &kernel, grid, grid + 1, grid + 2, block, block + 1, block + 2, &shared,
                   &together, &size) != 10) return 4;
        std::vector<long double> frame(size / sizeof(long double) + 1);
        unsigned char* at = (unsigned char*)frame.data();
        for (unsigned long long byte = 0; byte < size; byte++) {
            unsigned value;
            if (fscanf(given, "%2x", &value) != 1) return 4;
            at[byte] = (unsigned char)value;
        }
        if (fscanf(given, "%llu", &pointers) != 1) return 4;
        for (; pointers > 0; pointers--) {
            unsigned long long where, buffer, offset;
            if (fscanf(given, "%llu %llu %llu", &where, &buffer, &offset) != 3 || buffer >= buffers.size()) return 4;
            char* pointer = buffers[buffer] + offset;
            memcpy(at + where, &pointer, sizeof pointer);
        }
        fflush(told);
        std::vector<void*> arguments;
        for (const size_t* offset = raceproof_offsets[kernel]; *offset != (size_t)-1; offset++) arguments.push_back(at + *offset);
        arguments.push_back(0);
        cudaError_t error = raceproof_starts[kernel](dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]),
                                                     arguments.data(), shared, (int)together);
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        if (error == cudaSuccess) error = cudaGetLastError();
        if (error != cudaSuccess) {
            fprintf(stderr, "%s\n", cudaGetErrorString(error));
            return 3;
        }
    }
    return 0;
}
"#;

/// The text to put behind that of the kernels.
pub fn program(targets: &[Target]) -> String {
    let mut text = String::from(HELPERS);
    let mut offsets = String::from("static const size_t* const raceproof_offsets[] = {");
    let mut starts = String::from("static const raceproof_start raceproof_starts[] = {");
    for (number, target) in targets.iter().enumerate() {
        let name = &target.name;
        // Writing to a string cannot fail.
        let _ = write!(text, "static const size_t raceproof_offsets{number}[] = {{");
        for member in frame(target).members {
            let _ = write!(text, "{}, ", member.offset);
        }
        let _ = writeln!(text, "(size_t)-1}};  // {}", quoted(name));
        let _ = writeln!(
            text,
            "static cudaError_t raceproof_start{number}(dim3 g, dim3 b, void** a, size_t s, int together) {{ return together ? \
             cudaLaunchCooperativeKernel({name}, g, b, a, s) : cudaLaunchKernel({name}, g, b, a, s); }}"
        );
        let _ = write!(offsets, "raceproof_offsets{number}, ");
        let _ = write!(starts, "raceproof_start{number}, ");
    }
    text + &offsets + "};\n" + &starts + "};\n" + MAIN
}

/// Whether a kernel's parameters can be given here.
pub fn is_givable(target: &Target) -> bool {
    fn is_known(kind: &ParameterKind) -> bool {
        match kind {
            ParameterKind::Pointer(_) | ParameterKind::Scalars { .. } | ParameterKind::Array { .. } => true,
            ParameterKind::Struct(record) => record.members.iter().all(|member| is_known(&member.kind)),
            ParameterKind::Texture | ParameterKind::Dependent | ParameterKind::Other(_) => false,
        }
    }
    target.parameters.iter().all(|parameter| is_known(&parameter.kind))
}

/// The parameters as members of one struct, each aligned for anything.
fn frame(target: &Target) -> Record {
    let mut members = Vec::new();
    let mut offset: u64 = 0;
    for parameter in &target.parameters {
        let bytes = match &parameter.kind {
            ParameterKind::Scalars { scalar, lanes } => u64::from(scalar.bytes()) * u64::from(*lanes),
            ParameterKind::Array { scalar, count } => u64::from(scalar.bytes()) * count,
            ParameterKind::Struct(record) => record.bytes,
            _ => 8,
        };
        members.push(Member { name: parameter.name.clone(), offset, bytes, kind: parameter.kind.clone() });
        offset += bytes.div_ceil(16) * 16;
    }
    Record { name: target.name.clone(), bytes: offset, align: 16, members }
}

/// The case that runs the launches of a description, each of one of the program's kernels. Files are to be put into `directory`.
pub fn case(
    description: &Description,
    targets: &[Target],
    kernels: &[usize],
    directory: &Path,
) -> Result<Case, DescriptionError> {
    let mut case = Case { text: String::new(), files: Vec::new() };
    for (number, buffer) in description.buffers.iter().enumerate() {
        let path = if buffer.is_zero() {
            "-".to_owned()
        } else {
            let path = directory.join(format!("buffer{number}.bin"));
            case.files.push((path.clone(), buffer.contents(Language::Cuda)));
            path.display().to_string()
        };
        let _ = writeln!(case.text, "B {} {path}", buffer.bytes(Language::Cuda));
    }
    for (launch, &kernel) in description.launches.iter().zip(kernels) {
        let frame = frame(&targets[kernel]);
        let at = Given { kernel: &launch.kernel, key: "launch.arguments", place: launch.place };
        let image = record::image(description, &frame, &launch.arguments, at, Language::Cuda)?;
        let [x, y, z] = launch.grid;
        let [wide, high, deep] = launch.block;
        let together = u8::from(launch.blocks == Blocks::Cooperative);
        let size = image.bytes.len();
        let _ = writeln!(case.text, "L {kernel} {x} {y} {z} {wide} {high} {deep} {} {together} {size}", launch.shared);
        for byte in &image.bytes {
            let _ = write!(case.text, " {byte:02x}");
        }
        let _ = writeln!(case.text, " {}", image.pointers.len());
        for (at, buffer, offset) in &image.pointers {
            let _ = writeln!(case.text, "{at} {buffer} {offset}");
        }
    }
    Ok(case)
}

/// Where the buffers of a run were, by number, as the program told it.
pub fn places(text: &str) -> Vec<Place> {
    let place = |line: &str| {
        let (base, bytes) = line.split_once(' ')?;
        Some(Place { base: base.parse().ok()?, bytes: bytes.parse().ok()? })
    };
    text.lines().map_while(place).collect()
}

/// The buffer that an access at this address missed, and how many bytes before its beginning (below 0) or behind it the address lies.
pub fn missed(places: &[Place], address: u64) -> Option<(usize, i64)> {
    places.iter().enumerate().find_map(|(number, place)| {
        let offset = i128::from(address) - i128::from(place.base);
        let is_near = offset >= -i128::from(APART) && offset < i128::from(place.bytes + APART);
        is_near.then(|| i64::try_from(offset).ok().map(|offset| (number, offset))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_beside_a_buffer_is_told_by_its_distance() {
        let places = places("4294967296 100\n12884901888 8\nbroken\n");
        assert_eq!(places.len(), 2);
        assert_eq!(missed(&places, 4_294_967_396), Some((0, 100)));
        assert_eq!(missed(&places, 12_884_901_884), Some((1, -4)));
        assert_eq!(missed(&places, 8), None);
    }
}
