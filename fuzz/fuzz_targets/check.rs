//! Any bytes go the whole way from source to report without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::driver::{Options, check_source};
use raceproof::source::disk::decode;
use std::path::Path;
use std::time::Duration;

fuzz_target!(|bytes: &[u8]| {
    let text = decode(bytes);
    let options = Options { time_limit: Duration::from_millis(200), ..Options::default() };
    for path in ["main.cu", "main.cl"] {
        let checked = check_source(Path::new(path), &text, &options);
        assert!(checked.bugs.is_empty(), "{:?}", checked.bugs);
    }
});
