//! The options of one kernel: those of the run, and what settings say of it above them.
//!
//! Whoever judges a kernel, or makes something of its launches, asks for them. Deliberately absent: which kernels are meant
//! ([`kernel_settings`](super::kernel_settings)).

use super::kernel_settings::{Given, OfKernels, Says};
use super::options::Options;
use super::stated_contracts::StatedContracts;
use crate::resolve::program::{FunctionId, Program};
use std::borrow::Cow;
use std::sync::Arc;

/// The options that one kernel is judged with.
pub(super) fn options_for<'o>(options: &'o Options, program: &Program, function: FunctionId) -> Cow<'o, Options> {
    let Some(OfKernels { name, at, says, .. }) = options.contracts.by_name.of(program, function) else {
        return Cow::Borrowed(options);
    };
    let mut own = match says {
        Says::Nothing => return Cow::Borrowed(options),
        Says::Launch(_) | Says::Contract(_) => options.clone(),
    };
    let judging = &mut own.judging;
    match says {
        Says::Launch(Given { block, grid, params }) => {
            judging.block = block.map_or(judging.block, |extents| extents.map(Some));
            judging.grid = grid.map_or(judging.grid, |extents| extents.map(Some));
            judging.params.retain(|(name, _)| params.iter().all(|(other, _)| other != name));
            judging.params.extend(params.iter().cloned());
            // As on the command line: who states a launch asks for no contract.
            own.contracts.stated = None;
        }
        Says::Contract(phrases) => {
            (judging.block, judging.grid) = ([None; 3], [None; 3]);
            judging.params.clear();
            own.contracts.stated = Some(Arc::new(StatedContracts::of_all(at, name.text(), phrases)));
        }
        Says::Nothing => {}
    }
    Cow::Owned(own)
}

/// Those of `kernels` whose launches are sought elsewhere: not where one is given.
pub(super) fn without_launch(options: &Options, program: &Program, kernels: &[FunctionId]) -> Vec<FunctionId> {
    let settings = &options.contracts.by_name;
    let is_given = |&kernel: &FunctionId| settings.of(program, kernel).is_some_and(|it| it.says.gives_a_launch());
    kernels.iter().copied().filter(|kernel| !is_given(kernel)).collect()
}
