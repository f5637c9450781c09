//! Functions of the host that launch a kernel.
//!
//! Deliberately absent: the driver API (`cuLaunchKernel`), whose kernels are found by name at run time.

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
