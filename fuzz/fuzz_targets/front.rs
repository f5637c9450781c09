//! Any bytes give a tree that prints; a text with a syntax error never comes back as read in full.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::front::tree_sitter::{ParseState, parse};
use raceproof::preprocess::Options;
use raceproof::source::disk::decode;
use raceproof::source::{Language, SourceMap};

fuzz_target!(|bytes: &[u8]| {
    let text = decode(bytes);
    for language in [Language::Cuda, Language::OpenCl] {
        let mut sources = SourceMap::new();
        let main = sources.add_file("main", text.as_str());
        let answer = parse(sources, main, &Options::new(language));
        let printed = raceproof::syntax::print(&answer.unit);
        if printed.contains("«syntax error»") {
            assert_ne!(answer.parse, ParseState::Ok);
        }
    }
});
