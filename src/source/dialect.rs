//! The variants of a language, where they decide how its text is read.
//!
//! Deliberately absent: what the variants define and allow. The preprocessor and the front ends know that.

use super::Language;

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// CUDA C++.
    Cuda,
    /// HIP: CUDA's language with names and headers of its own.
    Hip,
    /// OpenCL C of some version.
    OpenCl(OpenClVersion),
}

/// The versions of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenClVersion {
    /// Nobody says: what any version has is accepted.
    Unstated,
    /// 1.0
    V1_0,
    /// 1.1
    V1_1,
    /// 1.2
    V1_2,
    /// 2.0
    V2_0,
    /// 3.0
    V3_0,
}

impl Dialect {
    /// The language whose rules hold.
    pub fn language(self) -> Language {
        match self {
            Dialect::Cuda | Dialect::Hip => Language::Cuda,
            Dialect::OpenCl(_) => Language::OpenCl,
        }
    }
}

impl From<Language> for Dialect {
    fn from(language: Language) -> Dialect {
        match language {
            Language::Cuda => Dialect::Cuda,
            Language::OpenCl => Dialect::OpenCl(OpenClVersion::Unstated),
        }
    }
}

impl OpenClVersion {
    /// The version as `__OPENCL_C_VERSION__` has it; the newest where nobody says.
    pub fn number(self) -> u32 {
        match self {
            OpenClVersion::V1_0 => 100,
            OpenClVersion::V1_1 => 110,
            OpenClVersion::V1_2 => 120,
            OpenClVersion::V2_0 => 200,
            OpenClVersion::V3_0 | OpenClVersion::Unstated => 300,
        }
    }

    /// The version that a program may use if `__OPENCL_C_VERSION__` has this value.
    pub fn from_number(number: u32) -> OpenClVersion {
        match number {
            0..110 => OpenClVersion::V1_0,
            110..120 => OpenClVersion::V1_1,
            120..200 => OpenClVersion::V1_2,
            200..300 => OpenClVersion::V2_0,
            _ => OpenClVersion::V3_0,
        }
    }

    /// What `-cl-std=` calls it: `CL1.2`, `cl2.0`. C++ for OpenCL is read as the C that it builds on.
    pub fn from_name(name: &str) -> Option<OpenClVersion> {
        Some(match name.to_ascii_uppercase().as_str() {
            "CL" | "CL1.0" => OpenClVersion::V1_0,
            "CL1.1" => OpenClVersion::V1_1,
            "CL1.2" => OpenClVersion::V1_2,
            "CL2.0" | "CLC++" | "CLC++1.0" => OpenClVersion::V2_0,
            "CL3.0" | "CLC++2021" => OpenClVersion::V3_0,
            _ => return None,
        })
    }
}

impl Dialect {
    /// Macros that are defined where device code is compiled, and not where the same text is compiled for the host.
    pub fn names_of_device_pass(self) -> &'static [&'static str] {
        match self {
            Dialect::Cuda => &["__CUDA_ARCH__"],
            Dialect::Hip => &["__HIP_DEVICE_COMPILE__", "__AMDGCN__", "__AMDGPU__"],
            Dialect::OpenCl(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_names_and_numbers() {
        assert_eq!(OpenClVersion::from_name("cl1.2"), Some(OpenClVersion::V1_2));
        assert_eq!(OpenClVersion::from_name("CL9"), None);
        for version in [OpenClVersion::V1_0, OpenClVersion::V1_1, OpenClVersion::V1_2, OpenClVersion::V2_0] {
            assert_eq!(OpenClVersion::from_number(version.number()), version);
        }
        assert_eq!(OpenClVersion::from_number(OpenClVersion::Unstated.number()), OpenClVersion::V3_0);
    }
}
