//! A driver and the header of annotations: it builds texts with all of them as they stand, without raceproof.

use super::host::{alone, program};
use super::run::has_driver;
use crate::annotations::{OPENCL, place};

#[test]
fn drivers_accept_all_annotations_in_every_version() {
    if !has_driver() {
        return;
    }
    for text in OPENCL {
        let (kept, directory) = place(&[]);
        let build = |version| format!("  built(text_of(\"k.cl\"), \"-cl-std={version} -Werror -I {directory}\");\n");
        let main: String = ["CL1.2", "CL2.0", "CL3.0"].into_iter().map(build).collect();
        assert_eq!(alone(&program(text, &(main + "  puts(\"built\");")), &[]), "built\n");
        drop(kept);
    }
}
