//! The entry point; everything is in `raceproof::cli`.

fn main() {}
