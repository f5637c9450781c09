//! Functions of the host that launch a kernel.
//!
//! Deliberately absent: the driver API (`cuLaunchKernel`), whose kernels are found by name at run time.

/// The type of the structure in which the sizes of a launch stand.
pub const CONFIGURATION: &str = "cudaLaunchConfig_t";

/// The type of an attribute of a launch.
pub const ATTRIBUTE: &str = "cudaLaunchAttribute";

/// Whether a function is one of the API of the host, which changes nothing but what it is documented to.
pub fn is_api(name: &str) -> bool {
    name.starts_with("cuda") || name.starts_with("hip")
}

/// The function of OpenCL's API that launches a kernel.
pub const ENQUEUEING: &str = "clEnqueueNDRangeKernel";

/// The function of OpenCL's API that makes the object which stands for a kernel.
pub const CREATION: &str = "clCreateKernel";

/// How a call says what it launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchCall {
    /// `cudaLaunchKernel(kernel, grid, block, addresses, bytes, stream)`: the arguments stand in an array of addresses.
    ByAddress,
    /// `cudaLaunchKernelEx(&config, kernel, arguments…)`: the sizes stand in a structure.
    Configured,
    /// `cudaLaunchKernelExC(&config, kernel, addresses)`: both.
    ConfiguredByAddress,
}

impl LaunchCall {
    /// The function of that name, without a namespace.
    pub fn named(name: &str) -> Option<LaunchCall> {
        Some(match name {
            "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" | "hipLaunchKernel" | "hipLaunchCooperativeKernel" => {
                LaunchCall::ByAddress
            }
            "cudaLaunchKernelEx" => LaunchCall::Configured,
            "cudaLaunchKernelExC" => LaunchCall::ConfiguredByAddress,
            _ => return None,
        })
    }

    /// Which of its arguments names the kernel.
    pub fn kernel_argument(self) -> usize {
        match self {
            LaunchCall::ByAddress => 0,
            LaunchCall::Configured | LaunchCall::ConfiguredByAddress => 1,
        }
    }
}
