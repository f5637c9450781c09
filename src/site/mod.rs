//! A report as a site: a table of all kernels that can be sorted and filtered, and a page for each kernel with its findings,
//! pictures of small launches, and its source by barrier intervals.
//!
//! A [`Site`] is a directory: `index.html`, `kernels/*.html`, one style and one script. It needs no network and no server, and
//! says the same without its script, which sorts, filters and moves the launch that is shown.
//!
//! Guarantees: the same bytes for the same report; text from sources is never markup. A directory that holds anything but a
//! site of raceproof is refused; of an earlier site no page stays.
//!
//! Deliberately absent: what is found and how it is said, which are those of the report.

mod index;
mod kernel;
mod launches;
mod source;
#[cfg(test)]
mod tests;

use crate::diagnostic::render::xml::escaped;
use crate::diagnostic::report::{FileReport, KernelReport};
use crate::driver::parallel::Run;
use crate::driver::pictured::Pictured;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What says in a page that it is one of raceproof's.
const MARK: &str = "<meta name=\"generator\" content=\"raceproof\">";

/// A directory for a site.
#[derive(Debug)]
pub struct Site {
    directory: PathBuf,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The directory has something else in it.
    #[error("{} holds files that are no site of raceproof: name a directory of its own", .0.display())]
    Occupied(PathBuf),
    /// Something cannot be written or read.
    #[error("{}: {cause}", path.display())]
    Disk {
        /// What.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// A kernel and what is known of it.
#[derive(Clone, Copy)]
struct Subject<'r> {
    file: &'r FileReport,
    kernel: &'r KernelReport,
    pictured: Option<&'r Pictured>,
    /// Its number in the report, from 0.
    number: usize,
}

impl Subject<'_> {
    /// The name of its page.
    fn page(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name: String = self.kernel.name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(60).collect();
        format!("{:04}-{name}.html", self.number + 1)
    }

    /// The file that its name stands in.
    fn path(&self) -> &Path {
        self.kernel.path.as_deref().unwrap_or(&self.file.path)
    }
}

impl Site {
    /// Makes the directory, and empties it of an earlier site.
    pub fn open(directory: &Path) -> Result<Site, SiteError> {
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |cause| SiteError::Disk { path, cause }
        };
        fs::create_dir_all(directory).map_err(at(directory))?;
        let index = directory.join("index.html");
        let is_empty = fs::read_dir(directory).map_err(at(directory))?.next().is_none();
        let is_ours = || fs::read_to_string(&index).is_ok_and(|text| text.contains(MARK));
        if !is_empty && !is_ours() {
            return Err(SiteError::Occupied(directory.to_path_buf()));
        }
        let kernels = directory.join("kernels");
        if kernels.is_dir() {
            fs::remove_dir_all(&kernels).map_err(at(&kernels))?;
        }
        fs::create_dir(&kernels).map_err(at(&kernels))?;
        let site = Site { directory: directory.to_path_buf() };
        // Who looks while the check is under way, or after it was stopped, sees that it is not done.
        let unfinished = page(("raceproof", ""), "<h1>raceproof</h1><p>The check is not finished.</p>");
        site.put(Path::new("index.html"), &unfinished)?;
        site.put(Path::new("style.css"), STYLE)?;
        site.put(Path::new("script.js"), SCRIPT)?;
        Ok(site)
    }

    /// Writes the pages of a run.
    pub fn write(&self, run: &Run) -> Result<(), SiteError> {
        let subjects = subjects(run);
        for (at, subject) in subjects.iter().enumerate() {
            let around = (at.checked_sub(1).map(|before| &subjects[before]), subjects.get(at + 1));
            self.put(&Path::new("kernels").join(subject.page()), &kernel::page_of(subject, around))?;
        }
        // It is last: a site with an index is whole.
        self.put(Path::new("index.html"), &index::page_of(&run.report, &subjects))
    }

    fn put(&self, name: &Path, text: &str) -> Result<(), SiteError> {
        let path = self.directory.join(name);
        let written = fs::File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|cause| SiteError::Disk { path, cause })
    }
}

fn subjects(run: &Run) -> Vec<Subject<'_>> {
    let mut subjects = Vec::new();
    for (at, file) in run.report.files.iter().enumerate() {
        let pictured = run.pictured.get(at);
        for (position, kernel) in file.kernels.iter().enumerate() {
            subjects.push(Subject {
                file,
                kernel,
                pictured: pictured.and_then(|it| it.get(position)),
                number: subjects.len(),
            });
        }
    }
    subjects
}

/// A page; `base` leads from it to the directory of the site.
fn page((title, base): (&str, &str), body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{base}style.css\">\n<script src=\"{base}script.js\" defer></script>\n\
         </head>\n<body>\n{body}\n</body>\n</html>\n"
    )
}
