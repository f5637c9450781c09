//! Classes of CUDA's, CUB's and the standard library's headers that are plain structures: the members that programs use,
//! laid out as their headers do.
//!
//! Deliberately absent: methods, comparisons; `std::tuple` and `std::array`, whose parts have no names.

use super::namespaces::without_namespaces;
use super::{phases, pipelines};

/// A complex number.
pub const COMPLEX: &str = "thrust::complex";
/// A part of a matrix that a warp holds.
pub const FRAGMENT: &str = "nvcuda::wmma::fragment";

/// Numbers of a fragment that lie in memory as `float`.
pub const TF32: &str = "nvcuda::wmma::precision::tf32";

/// A structure of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The name under which it is kept.
    pub name: &'static str,
    /// Its members, in their order.
    pub members: &'static [Member],
}

/// A member of a structure: its name, and the position of its type among the arguments of the structure or a type of the
/// language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Of the type that an argument is.
    Argument(&'static str, usize),
    /// A pointer to it.
    Pointer(&'static str, usize),
    /// The elements of a fragment of a matrix that a thread holds.
    Elements(&'static str, usize),
    /// Two barriers for each of as many stages as an argument says.
    Stages(&'static str, usize),
    /// A size.
    Size(&'static str),
    /// A pointer to anything.
    Address(&'static str),
}

/// The structure of that name, with its namespace.
pub fn structure(name: &str) -> Option<Structure> {
    use Member::{Address, Argument, Elements, Size, Stages};
    let (name, members): (&'static str, &'static [Member]) = match name {
        "std::pair" | "thrust::pair" | "cuda::std::pair" => {
            ("std::pair", &[Argument("first", 0), Argument("second", 1)])
        }
        "cub::KeyValuePair" | "hipcub::KeyValuePair" => {
            ("cub::KeyValuePair", &[Argument("key", 0), Argument("value", 1)])
        }
        COMPLEX | "cuda::std::complex" => (COMPLEX, &[Argument("real part", 0), Argument("imaginary part", 0)]),
        "wmma::fragment" | "nvcuda::wmma::fragment" => (FRAGMENT, &[Elements("x", 4)]),
        "wmma::matrix_a" | "nvcuda::wmma::matrix_a" => ("nvcuda::wmma::matrix_a", &[]),
        "wmma::matrix_b" | "nvcuda::wmma::matrix_b" => ("nvcuda::wmma::matrix_b", &[]),
        "wmma::accumulator" | "nvcuda::wmma::accumulator" => ("nvcuda::wmma::accumulator", &[]),
        "wmma::precision::tf32" | "nvcuda::wmma::precision::tf32" => (TF32, &[]),
        "wmma::row_major" | "nvcuda::wmma::row_major" => ("nvcuda::wmma::row_major", &[]),
        "wmma::col_major" | "nvcuda::wmma::col_major" => ("nvcuda::wmma::col_major", &[]),
        phases::BARRIER => (phases::BARRIER, &[Size("phase")]),
        pipelines::STATE => (pipelines::STATE, &[Stages("barriers", 1)]),
        "cudaPitchedPtr" => ("cudaPitchedPtr", &[Address("ptr"), Size("pitch"), Size("xsize"), Size("ysize")]),
        "cudaExtent" => ("cudaExtent", &[Size("width"), Size("height"), Size("depth")]),
        _ => return None,
    };
    Some(Structure { name, members })
}

/// What part a fragment has in a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentRole {
    /// The left factor.
    Left,
    /// The right factor.
    Right,
    /// What the product is added to.
    Accumulator,
}

/// What the first template argument of a fragment says.
pub fn fragment_role(name: &str) -> Option<FragmentRole> {
    match without_namespaces(name) {
        "matrix_a" => Some(FragmentRole::Left),
        "matrix_b" => Some(FragmentRole::Right),
        "accumulator" => Some(FragmentRole::Accumulator),
        _ => None,
    }
}

/// Whether columns of a fragment lie in one piece, by the template argument that says how it lies in memory.
pub fn fragment_layout(name: &str) -> Option<bool> {
    match without_namespaces(name) {
        "row_major" => Some(false),
        "col_major" => Some(true),
        _ => None,
    }
}

/// Whether a class is a pointer to every kernel: `thrust::device_ptr<T>`.
pub fn is_device_pointer(name: &str) -> bool {
    name == "thrust::device_ptr"
}

/// What a function of complex numbers gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfComplex {
    /// A complex number.
    Complex,
    /// A number of the type of its parts.
    Real,
}

/// What the function of Thrust or libcu++ of that name gives for a complex number, by its name without the namespace.
pub fn of_complex(name: &str) -> Option<OfComplex> {
    match name {
        "conj" | "exp" | "log" | "pow" | "sqrt" | "proj" | "sin" | "cos" => Some(OfComplex::Complex),
        "abs" | "norm" | "arg" => Some(OfComplex::Real),
        _ => None,
    }
}
