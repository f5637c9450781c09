//! The calculus: its text and its evaluation.

use super::generate::kernels;
use crate::support::draw::proptest;
use crate::support::tier::tiers;
use proptest::prelude::*;
use raceproof::calculus::eval::{Blocks, Chosen, Contents, Event, History, Program, Setup, byte_at_launch, run};
use raceproof::calculus::validate::validate;
use raceproof::calculus::{
    Access, Among, Axis, BinaryOp, Geometry, GeometryVar, Kernel, ScalarType, Site, Space, Stmt, SyncMemory, SyncScope,
    text,
};

fn execute(kernel: &Kernel, contents: Contents, threads: u32) -> (raceproof::calculus::eval::Run, Vec<Event>) {
    let setup = Setup {
        geometry: Geometry { block: [threads, 1, 1], grid: [2, 1, 1] },
        params: &[Some(3), Some(2)],
        blocks: Blocks::All,
        contents,
        budget: 200_000,
    };
    let mut history = History::default();
    let run = run(&Program::new(kernel), &setup, &mut history);
    (run, history.accesses.into_iter().map(|seen| seen.event).collect())
}

/// What an access is, whatever was stored and whatever barriers it follows.
fn identity(event: &Event) -> impl Ord + Copy + std::fmt::Debug + use<> {
    (event.thread, event.site, event.offset, event.bytes)
}

/// What is exact under `contents` happens in the run with the contents of a seed, with the same barriers before it.
fn exact_accesses_happen(kernel: &Kernel, contents: Contents, seed: u64, threads: u32) -> Result<(), TestCaseError> {
    let (concrete, known) = execute(kernel, Contents::Seeded(seed), threads);
    let (outcome, told) = execute(kernel, contents, threads);
    prop_assume!(outcome.finished && concrete.finished);
    let mut happened: Vec<_> = known.iter().map(|event| (identity(event), event.phase, event.stamp)).collect();
    happened.sort_unstable();
    for event in told.iter().filter(|event| event.exact) {
        let key = (identity(event), event.phase, event.stamp);
        prop_assert!(happened.binary_search(&key).is_ok(), "{:?} in\n{}", event, text::print(kernel));
    }
    Ok(())
}

/// The kernel behind a barrier, before which each thread has put what it read into shared memory.
fn staged(mut kernel: Kernel) -> Kernel {
    let array = |wanted: Space| kernel.arrays.iter().find(|(_, array)| array.space == wanted).expect("an array").0;
    let (from, to) = (array(Space::Global), array(Space::Shared));
    let var = kernel.vars.iter().find(|(_, var)| var.name == "v").expect("a variable").0;
    let mut site = || kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
    let sites = [site(), site(), site()];
    let exprs = &mut kernel.exprs;
    let (id, four) = (exprs.geometry(GeometryVar::ThreadIdx(Axis::X)), exprs.int(4, ScalarType::I64));
    let wide = exprs.convert(ScalarType::I64, id);
    let offset = exprs.binary(BinaryOp::Mul, wide, four);
    let value = Some(exprs.var(var, ScalarType::I32));
    let access = |array, site| Access { array, offset, bytes: 4, align: 1, site };
    let memory = SyncMemory::BOTH;
    let before = [
        Stmt::Read { var, access: access(from, sites[0]) },
        Stmt::Write { access: access(to, sites[1]), value },
        Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site: sites[2] },
    ];
    kernel.body.splice(0..0, before);
    kernel
}

proptest! {
    #![proptest_config(proptest(tiers(80, 400, 20_000)))]

    #[test]
    fn generated_kernels_are_well_formed(kernel in kernels()) {
        prop_assert_eq!(validate(&kernel), []);
    }

    #[test]
    fn texts_read_back(kernel in kernels()) {
        let printed = text::print(&kernel);
        let read = text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        prop_assert!(text::same(&kernel, &read), "{}", printed);
        prop_assert_eq!(text::print(&read), printed);
    }

    #[test]
    fn the_parser_survives_any_text(garbage in ".{0,200}") {
        let _ = text::parse(&garbage);
    }

    #[test]
    fn the_parser_survives_mutated_texts(kernel in kernels(), cut in any::<prop::sample::Index>(), glue in "[ -~]{0,3}") {
        let printed = text::print(&kernel);
        let at = cut.index(printed.len());
        let mutated = format!("{}{glue}{}", &printed[..at], printed.get(at + 1..).unwrap_or(""));
        if let Ok(read) = text::parse(&mutated) {
            let again = text::print(&read);
            let twice = text::parse(&again).unwrap_or_else(|error| panic!("{error}\n{again}"));
            prop_assert!(text::same(&read, &twice), "{}", mutated);
        }
    }

    /// What is exact under unknown contents happens under all contents, with the same barriers before it.
    #[test]
    fn exact_accesses_happen_whatever_arrays_hold(kernel in kernels(), seed in any::<u64>(), threads in 1u32..6) {
        exact_accesses_happen(&kernel, Contents::Unknown, seed, threads)?;
    }

    /// What is exact under chosen contents happens in every run with such contents, and follows the same barriers.
    #[test]
    fn exact_accesses_happen_where_memory_holds_what_was_chosen(
        kernel in kernels(),
        seed in any::<u64>(),
        threads in 1u32..6,
    ) {
        let mut chosen = Chosen::default();
        for (array, _) in kernel.arrays.iter().filter(|(_, array)| array.space == Space::Global) {
            for offset in -64..1024 {
                chosen.set(array, offset, 1, byte_at_launch(seed, array, offset).into());
            }
        }
        exact_accesses_happen(&kernel, Contents::Chosen(&chosen), seed, threads)?;
        exact_accesses_happen(&staged(kernel), Contents::Chosen(&chosen), seed, threads)?;
    }

    /// What happens under some contents is among the accesses under unknown contents, exact or not.
    #[test]
    fn every_access_is_foreseen(kernel in kernels(), seed in any::<u64>(), threads in 1u32..6) {
        let (outcome, known) = execute(&kernel, Contents::Seeded(seed), threads);
        let (_, abstracted) = execute(&kernel, Contents::Unknown, threads);
        prop_assume!(outcome.finished);
        for event in &known {
            let foreseen = abstracted.iter().any(|other| {
                let same_place = other.offset.is_none() || other.offset == event.offset;
                (other.thread, other.site) == (event.thread, event.site) && same_place
            });
            prop_assert!(foreseen, "{:?} in\n{}", event, text::print(&kernel));
        }
    }
}
