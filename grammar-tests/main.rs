//! The one integration binary: `cargo test --test grammar-tests [FILTER]`.
//!
//! - [`amplify`]: what one run says of all data inputs, through the real binary.
//! - [`annotations`]: the header of annotations: what compilers make of it, and what raceproof does.
//! - [`assumptions`]: what verdicts count on and tell.
//! - [`baseline`]: findings that are known already, through the real binary.
//! - [`cache`]: results of earlier runs, and what makes them be found again.
//! - [`causes`]: one defect is one finding, and two are two.
//! - [`clang`]: the front end on libclang, against tree-sitter's and against bad weather.
//! - [`cli`]: the real binary: exit codes, formats, input that is no source text.
//! - [`cuda`]: the records of the cuda back end, and what nvcc says of instrumented text.
//! - [`data_flow`]: which accesses runs make, and which loads read what which stores left.
//! - [`execution`]: what `check` says of every CUDA fixture, against runs of its kernels.
//! - [`fix`]: barriers that end races.
//! - [`fixtures`]: every file below `fixtures/` against the expectations that it states.
//! - [`flow`]: which inputs reach an access: the law behind amplification, and what files expect.
//! - [`grammar`]: syntax and preprocessor: small texts and what they are read as.
//! - [`hints`]: barriers that are named as redundant.
//! - [`hook`]: the pre-commit hook, run by the real pre-commit.
//! - [`house`]: how large types are, which files use each other in circles; what may not grow.
//! - [`instrument`]: source text to instrumented text: one test for each construct, and laws on all fixtures.
//! - [`kernel_settings`]: launches and contracts of kernels that settings state by patterns of names, through the real binary.
//! - [`lowering`]: source text to calculus, one test for each trap.
//! - [`laws`]: laws that hold for every kernel, tried on random ones.
//! - [`open_contracts`]: contracts that launches leave open, as findings, through the real binary.
//! - [`packaging`]: the wheel, the hook without Rust, what the action runs, the CMake module.
//! - [`pages`]: the examples of the rule pages.
//! - [`lsp`]: the language server, with an editor's side of the protocol and with real editors.
//! - [`passes`]: what each pass leaves of a kernel, and that kernels go through all of them.
//! - [`render`]: the output formats on reports made by hand.
//! - [`reproduce`]: programs that show races, through the real binary.
//! - [`resolution`]: source text to typed programs.
//! - [`rules`]: the prover on the catalogue of index idioms, and what its checker must refuse.
//! - [`run`]: programs that are built and executed on the machine's own compiler.
//! - [`schedule`]: faults that only some orders of blocks and threads show, and deadlocks, through the real binary.
//! - [`settings`]: `raceproof.toml`, through the real binary.
//! - [`show`]: what intermediate forms look like.
//! - [`site`]: the report as a site, in a real browser.
//! - [`solver`]: the solver stage through the real binary, with solvers that lie, hang and die.
//! - [`stand_in`]: builds of users, with make and CMake, through the real binary in the place of nvcc.
//! - [`support`]: how much is tried, which cases are drawn, what is remembered, what a test needs of the machine.
//! - [`suppress`]: comments that suppress findings, through the real binary.
//! - [`theorem`]: protocols and intervals against runs of random kernels.
//! - [`tidy`]: the room table and other rules about the source itself.
//! - [`trace`]: logs of runs, written by the C++ runtime and by hand, whole and damaged.
//! - [`contracts`]: conditions under which kernels that race do not, and the launches that keep them.
//! - [`stated`]: contracts that files state, and launches of logged runs.
//! - [`weather`]: damaged files, full devices, interrupts.
//! - [`witnesses`]: races are shown in launches that somebody would make.

mod adequacy;
mod amplify;
mod annotations;
mod assumptions;
mod baseline;
mod cache;
mod causes;
mod clang;
mod cli;
mod contracts;
mod cover;
mod cuda;
mod data_flow;
mod effort;
mod execution;
mod fix;
mod fixtures;
mod flow;
mod generate;
mod grammar;
mod hints;
mod hook;
mod house;
mod instrument;
mod kernel_settings;
mod laws;
mod lowering;
mod lsp;
mod memory;
mod models;
mod mutants;
mod open_contracts;
mod opencl;
mod packaging;
mod pages;
mod passes;
mod prove_mutants;
mod render;
mod reproduce;
mod resolution;
mod rules;
mod run;
mod schedule;
mod settings;
mod show;
mod site;
mod solver;
mod stand_in;
mod stated;
mod support;
mod suppress;
mod theorem;
mod tidy;
mod trace;
mod weather;
mod witnesses;
