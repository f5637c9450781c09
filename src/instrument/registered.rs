//! What the runtime knows by number: kernels, shared variables, variables of the device.

/// What has been registered so far.
#[derive(Debug, Default)]
pub(super) struct Registered {
    /// The names of the kernels, by number.
    pub(super) kernels: Vec<String>,
    /// Of each kernel its name and those of its parameters, if a table of them is wanted.
    pub(super) kernel_parameters: Vec<Vec<String>>,
    /// Shared variables by number, if a table of them is wanted.
    pub(super) shared: Vec<String>,
    /// Shared variables at namespace scope, which every kernel registers.
    pub(super) shared_globals: Vec<String>,
    /// How many variables of the device there are.
    symbols: usize,
}

impl Registered {
    /// The number of one more kernel.
    pub(super) fn kernel(&mut self, name: &str) -> usize {
        self.kernels.push(name.to_owned());
        self.kernels.len() - 1
    }

    /// The number of one more shared variable.
    pub(super) fn shared(&mut self, name: &str) -> usize {
        self.shared.push(name.to_owned());
        self.shared.len() - 1
    }

    /// The number of one more variable of the device.
    pub(super) fn symbol(&mut self) -> usize {
        self.symbols += 1;
        self.symbols - 1
    }
}
