//! Special registers of PTX, which `mov` reads.
//!
//! Source: the PTX ISA, "Special Registers". `%warpid` and `%smid` are where a thread is at the moment, and may change while
//! it runs: no number of its warp, and not even the same for all of a warp that read them at different times.
//!
//! Deliberately absent: registers of clusters and those that the driver defines, of which nothing is known.

use crate::calculus::Axis;

/// A register that says something of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Register {
    /// `%laneid`
    Lane,
    /// `WARP_SZ`
    WarpSize,
    /// `%lanemask_lt` and its kin.
    Mask(Lanes),
    /// `%tid`
    Thread(Axis),
    /// `%ntid`
    Threads(Axis),
    /// `%ctaid`
    Block(Axis),
    /// `%nctaid`
    Blocks(Axis),
    /// Something that is the same for all threads of the launch, by name.
    OfLaunch(&'static str),
}

/// Which lanes of the warp a mask has, beside the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Lanes {
    Own,
    Below,
    UpToOwn,
    Above,
    FromOwn,
}

/// Names of what is the same for all threads of a launch.
const OF_LAUNCH: [&str; 6] = ["nsmid", "nwarpid", "gridid", "dynamic_smem_size", "total_smem_size", "aggr_smem_size"];

/// How names begin of what a thread finds at the moment.
const OF_THE_MOMENT: [&str; 6] = ["clock", "globaltimer", "smid", "warpid", "pm", "activemask"];

impl Register {
    /// The register of that name, `%%tid.x` in a template.
    pub(super) fn named(text: &str) -> Option<Self> {
        if text == "WARP_SZ" {
            return Some(Register::WarpSize);
        }
        let name = text.trim_start_matches('%');
        if name.len() == text.len() {
            return None;
        }
        Some(match name {
            "laneid" => Register::Lane,
            "lanemask_eq" => Register::Mask(Lanes::Own),
            "lanemask_lt" => Register::Mask(Lanes::Below),
            "lanemask_le" => Register::Mask(Lanes::UpToOwn),
            "lanemask_gt" => Register::Mask(Lanes::Above),
            "lanemask_ge" => Register::Mask(Lanes::FromOwn),
            _ => match name.split_once('.') {
                Some((name @ ("tid" | "ntid" | "ctaid" | "nctaid"), axis)) => {
                    let axis = match axis {
                        "x" => Axis::X,
                        "y" => Axis::Y,
                        "z" => Axis::Z,
                        _ => return None,
                    };
                    match name {
                        "tid" => Register::Thread(axis),
                        "ntid" => Register::Threads(axis),
                        "ctaid" => Register::Block(axis),
                        _ => Register::Blocks(axis),
                    }
                }
                _ => Register::OfLaunch(OF_LAUNCH.into_iter().find(|of_launch| *of_launch == name)?),
            },
        })
    }
}

/// Whether a text reads what a thread finds at the moment, which the schedule decides.
pub(in crate::lower) fn reads_the_moment(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = text.split(|letter| !is_part(letter));
    words.any(|word| OF_THE_MOMENT.iter().any(|name| word.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_known_by_name() {
        assert_eq!(Register::named("%%laneid"), Some(Register::Lane));
        assert_eq!(Register::named("%ctaid.y"), Some(Register::Block(Axis::Y)));
        assert_eq!(Register::named("%%lanemask_ge"), Some(Register::Mask(Lanes::FromOwn)));
        assert_eq!(Register::named("%%nsmid"), Some(Register::OfLaunch("nsmid")));
        for name in ["laneid", "%%warpid", "%%smid", "%%tid", "%%tid.w", "%%clock64", "%%cluster_ctaid.x"] {
            assert_eq!(Register::named(name), None, "{name}");
        }
    }

    #[test]
    fn where_a_thread_is_depends_on_the_moment() {
        for text in ["mov.u32 %0, %%smid;", "mov.u32 %0, %%warpid;", "mov.u64 %0, %%clock64;", "activemask.b32 %0;"] {
            assert!(reads_the_moment(text), "{text}");
        }
        for text in ["mov.u32 %0, %%nsmid;", "mov.u32 %0, %%laneid;"] {
            assert!(!reads_the_moment(text), "{text}");
        }
    }
}
