//! Any bytes go through the preprocessor without a panic, and every token lies inside its file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::preprocess::{FileAccess, Options, preprocess_with};
use raceproof::source::disk::decode;
use raceproof::source::{Language, SourceMap};
use std::path::Path;

/// One header: the text itself, so that includes of includes are tried.
struct Itself(String);

impl FileAccess for Itself {
    fn read(&self, path: &Path) -> Option<String> {
        path.ends_with("x").then(|| self.0.clone())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let text = decode(bytes);
    for language in [Language::Cuda, Language::OpenCl] {
        let mut sources = SourceMap::new();
        let main = sources.add_file("main", text.as_str());
        let output = preprocess_with(&Itself(text.clone()), sources, main, &Options::new(language));
        for token in &output.tokens {
            let length = output.sources.file(token.span.file).text.len();
            assert!(token.span.start <= token.span.end && token.span.end as usize <= length);
            output.sources.start_position(token.span);
        }
    }
});
