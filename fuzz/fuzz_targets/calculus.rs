//! Any text is read as a kernel or refused with a place; what is read prints and reads back as the same, and
//! a kernel that is well-formed runs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::calculus::eval::{Blocks, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, text, validate::validate};

fuzz_target!(|source: &str| {
    let Ok(kernel) = text::parse(source) else { return };
    let printed = text::print(&kernel);
    let again = text::parse(&printed).expect("a printed kernel reads back");
    assert!(text::same(&kernel, &again), "{printed}");
    if validate(&kernel).is_empty() {
        let params: Vec<_> = kernel.params.iter().map(|_| Some(3)).collect();
        for contents in [Contents::Unknown, Contents::Seeded(7)] {
            let geometry = Geometry { block: [3, 1, 1], grid: [2, 1, 1] };
            let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 10_000 };
            run(&Program::new(&kernel), &setup, &mut History::default());
        }
    }
});
