//! What nvcc says that it would do (`--dryrun`): for which architectures it compiles, as which version, and whether device
//! code is linked later.
//!
//! It is asked, since flags, response files, variables and the toolkit's profile decide this together.

/// What is known before the device's code is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dryrun {
    /// Macros by which device code is chosen, with their values for the oldest architecture.
    pub defines: Vec<(String, String)>,
    /// Whether device code calls that of other units.
    pub linking: DeviceLinking,
}

/// When the parts of device code come together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceLinking {
    /// Each unit has its own whole.
    #[default]
    Never,
    /// They are linked (`-rdc=true`, `-dc`).
    Later,
}

/// Reads it from what nvcc wrote.
pub fn read(said: &str) -> Dryrun {
    let architecture = values(said, "-D__CUDA_ARCH__=").min();
    let (major, minor) = (
        values(said, "-D__CUDACC_VER_MAJOR__=").next().filter(|major| *major >= 4),
        values(said, "-D__CUDACC_VER_MINOR__=").next().unwrap_or(0),
    );
    let mut defines: Vec<(String, String)> = Vec::new();
    defines.extend(architecture.map(|number| ("__CUDA_ARCH__".to_owned(), number.to_string())));
    if let Some(major) = major {
        let version = (major * 1000 + minor * 10).to_string();
        defines.push(("__CUDACC_VER_MAJOR__".to_owned(), major.to_string()));
        defines.push(("__CUDACC_VER_MINOR__".to_owned(), minor.to_string()));
        let names = ["__CUDA_API_VERSION", "CUDART_VERSION", "CUDA_VERSION"];
        defines.extend(names.map(|name| (name.to_owned(), version.clone())));
    }
    let is_later = said.split_whitespace().any(|word| word == "--device-c" || word == "--device-w");
    Dryrun { defines, linking: if is_later { DeviceLinking::Later } else { DeviceLinking::Never } }
}

/// The numbers behind a text, in their order.
fn values<'a>(said: &'a str, before: &'a str) -> impl Iterator<Item = u32> + 'a {
    said.match_indices(before).filter_map(move |(at, _)| {
        let rest = &said[at + before.len()..];
        let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_architecture_decides() {
        let said = "#$ gcc -D__CUDA_ARCH_LIST__=750,900 -E -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=2 \"a.cu\"\n\
                    #$ gcc -D__CUDA_ARCH__=900 -E\n#$ cicc -arch compute_75\n#$ gcc -D__CUDA_ARCH__=750 -E\n";
        let found = read(said);
        let value = |name: &str| found.defines.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(value("__CUDA_ARCH__"), Some("750"));
        assert_eq!((value("__CUDACC_VER_MAJOR__"), value("__CUDACC_VER_MINOR__")), (Some("13"), Some("2")));
        assert_eq!(value("CUDART_VERSION"), Some("13020"));
        assert_eq!(found.linking, DeviceLinking::Never);
        assert_eq!(read("#$ cicc --device-c -arch compute_75").linking, DeviceLinking::Later);
        assert_eq!(read(""), Dryrun::default());
    }
}
