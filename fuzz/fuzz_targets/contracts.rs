//! Any text is read as a file of contracts, or refused with lines: no panic, and what a condition is written as is read as the
//! same condition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::driver::stated_contracts::StatedContracts;
use raceproof::judge::contract::Phrase;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let _ = StatedContracts::of_text(Path::new("contracts.txt"), &text);
    if let Ok(phrase) = text.parse::<Phrase>() {
        assert_eq!(phrase.to_string().parse::<Phrase>(), Ok(phrase));
    }
});
