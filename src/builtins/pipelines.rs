//! Pipelines and asynchronous copies of CUDA's C++ library: types, functions, methods.
//!
//! Deliberately absent: `quit`, and waits with a limit of time.

/// The state that a pipeline of several threads points to, with its namespace.
pub const STATE: &str = "cuda::pipeline_shared_state";

/// A type of the library that means more than its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyType {
    /// `cuda::pipeline<scope>`
    Pipeline,
    /// `cuda::pipeline_role`
    Role,
    /// `cuda::aligned_size_t<n>`: a number of bytes.
    AlignedSize,
}

impl CopyType {
    /// The type of that name, with its namespace.
    pub fn named(name: &str) -> Option<CopyType> {
        Self::in_library(name.strip_prefix("cuda::")?)
    }

    /// The type of that name, without its namespace.
    pub fn in_library(name: &str) -> Option<CopyType> {
        Some(match name {
            "aligned_size_t" => CopyType::AlignedSize,
            "pipeline" => CopyType::Pipeline,
            "pipeline_role" => CopyType::Role,
            _ => return None,
        })
    }
}

/// A free function of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `cuda::make_pipeline(…)`
    Make,
    /// `cuda::memcpy_async(…)`
    Copy,
    /// `cuda::pipeline_consumer_wait_prior<n>(pipeline)`
    WaitPrior,
}

impl Function {
    /// The function of that name, with its namespace.
    pub fn named(name: &str) -> Option<Function> {
        Self::in_library(name.strip_prefix("cuda::")?)
    }

    /// The function of that name, without its namespace.
    pub fn in_library(name: &str) -> Option<Function> {
        Some(match name {
            "make_pipeline" => Function::Make,
            "memcpy_async" => Function::Copy,
            "pipeline_consumer_wait_prior" => Function::WaitPrior,
            _ => return None,
        })
    }
}

/// A method of pipelines, none of which takes arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A producer waits for room: `producer_acquire()`.
    Acquire,
    /// It makes a batch of what it has begun: `producer_commit()`.
    Commit,
    /// A consumer waits for the oldest batch: `consumer_wait()`.
    Wait,
    /// It is done with it: `consumer_release()`.
    Release,
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Option<Method> {
        Some(match name {
            "producer_acquire" => Method::Acquire,
            "producer_commit" => Method::Commit,
            "consumer_wait" => Method::Wait,
            "consumer_release" => Method::Release,
            _ => return None,
        })
    }
}
