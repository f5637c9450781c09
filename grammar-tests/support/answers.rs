//! What follows from text alone, remembered from one run of the tests to the next.
//!
//! What a compiler says of a text, and what a program that was built from a text does, is the same as long as the text
//! is. The key must hold everything on which an answer depends: text, headers, flags, version of the tool. Answers
//! stand below `target/`, and go with `cargo clean`; one that nobody asked for in [`DAYS`] days is removed.
//!
//! An answer of raceproof is never remembered: it is what is tested.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

/// Days that an answer stays without being asked for.
const DAYS: u64 = 30;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers")
}

/// Removes what nobody has asked for in a long time.
fn prune() {
    let is_old = |path: &Path| {
        let age = fs::metadata(path).and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
        age.is_some_and(|age| age > Duration::from_secs(DAYS * 24 * 60 * 60))
    };
    for entry in fs::read_dir(directory()).into_iter().flatten().flatten() {
        if is_old(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Where the answer to a question of some kind is.
fn place(kind: &str, key: &impl Hash) -> PathBuf {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, kind).hash(&mut hasher);
        key.hash(&mut hasher);
        hasher.finish()
    };
    directory().join(format!("{kind}-{:016x}{:016x}", half(0), half(1)))
}

/// The answer that is remembered.
pub(crate) fn known(kind: &str, key: &impl Hash) -> Option<Vec<u8>> {
    static PRUNED: Once = Once::new();
    PRUNED.call_once(prune);
    let place = place(kind, key);
    let answer = fs::read(&place).ok()?;
    let _ = File::open(&place).and_then(|file| file.set_modified(SystemTime::now()));
    Some(answer)
}

/// Remembers an answer. What a busy machine may be to blame for is no answer.
pub(crate) fn remember(kind: &str, key: &impl Hash, answer: &[u8]) {
    // Whole or not at all, also where two write at once.
    let written = fs::create_dir_all(directory()).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(directory())?;
        file.write_all(answer)?;
        file.persist(place(kind, key)).map_err(|failed| failed.error)
    });
    if let Err(error) = written {
        eprintln!("an answer is not remembered: {error}");
    }
}
