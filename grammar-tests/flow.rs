//! Which inputs reach an access: the law that amplification rests on, tried on random kernels, and files that
//! say what they expect.
//!
//! - [`law`]: two runs that agree on the property-integrity inputs make the same accesses.
//! - [`files`]: `cases/`: each kernel against the comment above it, through both front ends.
//! - [`shown`]: what `show flow` prints.

mod files;
mod kernels;
mod law;
mod shown;
