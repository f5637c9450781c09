//! `--cache-dir` and `--no-cache`: where results of earlier runs are; `raceproof clean`, which removes them; and where the header of
//! annotations and the pages of rules are.
//!
//! Guarantees: a directory that was named is used or complained about; the one that nobody named is left alone where it cannot be
//! used, as on a disk that is read-only.

use super::Exit;
use super::args::{CacheArgs, CachePlace, CleanArgs};
use super::output::remark;
use crate::driver::store::{Removed, Store, clean};
use crate::source::headers::root_around;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// The directory that nobody named.
const NAME: &str = ".raceproof_cache";
/// The variables that say what `--no-cache` and `--cache-dir` say.
const NO_CACHE: &str = "RACEPROOF_NO_CACHE";
const CACHE_DIR: &str = "RACEPROOF_CACHE_DIR";

/// Where results are kept, if they are.
pub(super) fn store(args: &CacheArgs) -> Result<Option<Arc<Store>>> {
    if args.no_cache || is_off() {
        return Ok(None);
    }
    let Some(place) = Place::of(&args.place) else { return Ok(None) };
    match Store::open(&place.directory) {
        Ok(store) => Ok(Some(Arc::new(store))),
        Err(_) if place.named_by.is_none() => Ok(None),
        Err(cause) => Err(cause).with_context(|| place.about()),
    }
}

/// Where what belongs to no repository is kept, if it is: in the directory that a variable names, else in the user's own.
pub(super) fn of_user() -> Option<Store> {
    if is_off() {
        return None;
    }
    let directory = named(CACHE_DIR).or_else(user_directory)?;
    Store::open(&directory).ok()
}

/// Where the header of annotations is for compilers: in the user's own directory, whatever results do.
pub(super) fn include_dir() -> Result<PathBuf> {
    let directory =
        user_directory().context("there is no place for raceproof.h: neither XDG_CACHE_HOME nor HOME is set")?;
    let written = Store::open(&directory).and_then(|store| store.include_dir());
    written.with_context(|| format!("raceproof.h cannot be written below {}", directory.display()))
}

/// Where the pages of rules are for editors: in the user's own directory, whatever results do; nothing if there is none.
pub(super) fn rule_pages() -> Option<PathBuf> {
    Store::open(&user_directory()?).and_then(|store| store.rule_pages()).ok()
}

/// raceproof's directory among what the user's programs keep.
fn user_directory() -> Option<PathBuf> {
    // One that is relative counts as none, by the specification of these variables: it would be another one in each directory.
    let base = named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    Some(base.or_else(|| Some(named("HOME")?.join(".cache")))?.join("raceproof"))
}

/// The path that a variable names.
fn named(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether a variable says that nothing is kept.
fn is_off() -> bool {
    std::env::var_os(NO_CACHE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Runs `clean`.
pub(super) fn run(args: &CleanArgs) -> Result<Exit> {
    let place = Place::of(&args.place).context("there is no current directory")?;
    match clean(&place.directory).with_context(|| place.about())? {
        Removed::Gone => remark(&format!("removed {}", place.directory.display())),
        Removed::Nothing => remark(&format!("nothing to remove: there is no {}", place.directory.display())),
    }
    Ok(Exit::Clean)
}

/// A directory, and what named it.
struct Place {
    directory: PathBuf,
    named_by: Option<&'static str>,
}

impl Place {
    fn of(typed: &CachePlace) -> Option<Place> {
        if let Some(directory) = &typed.cache_dir {
            return Some(Place { directory: directory.clone(), named_by: Some("--cache-dir") });
        }
        if let Some(directory) = std::env::var_os(CACHE_DIR).filter(|value| !value.is_empty()) {
            return Some(Place { directory: directory.into(), named_by: Some(CACHE_DIR) });
        }
        let here = std::env::current_dir().ok()?;
        let root = root_around(&here).unwrap_or(here);
        Some(Place { directory: root.join(NAME), named_by: None })
    }

    fn about(&self) -> String {
        format!("{}: {}", self.named_by.unwrap_or("the cache"), self.directory.display())
    }
}
