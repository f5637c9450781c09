//! Where reports go: one to standard output, as `--format` says, and others into files, as `--output FORMAT=PATH` says.
//!
//! Guarantees: a file is written whole or not at all, whoever reads it meanwhile; one that cannot be written is told, and all
//! others are written. What is no plain file (a pipe, `/dev/null`) is written to and not replaced.
//!
//! Deliberately absent: what a format looks like (`diagnostic/render`), and which findings there are.

use super::Exit;
use super::args::{CheckArgs, Destination, Format, OutputArgs, When};
use super::output::{color, complain, terminal_width, to_stdout};
use crate::diagnostic::render::text::{Color, Fitted};
use crate::diagnostic::render::{azure, concise, gcc, github, gitlab, json, junit, rdjson, sarif, text};
use crate::diagnostic::report::Report;
use crate::driver::page_of;
use crate::source::disk::normalized;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where the reports of a run go.
pub(super) struct Outputs {
    /// What standard output gets.
    stdout: Format,
    files: Vec<Destination>,
}

/// What a report is shown on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface {
    /// Perhaps a terminal.
    StandardOutput,
    File,
}

impl Outputs {
    /// Those that were asked for, or an error where two of them would be in one place.
    pub(super) fn of(args: &OutputArgs) -> Result<Outputs> {
        let (here, files): (Vec<_>, Vec<_>) = args.output.iter().cloned().partition(|it| it.path.as_os_str() == "-");
        ensure!(here.len() < 2, "--output: two reports go to standard output; give one of them a file");
        let here = here.first().map(|destination| destination.format);
        if let (Some(format), Some(typed)) = (here, args.format) {
            let (format, typed) = (format.name(), typed.name());
            anyhow::bail!(
                "--format {typed} and --output {format}=- both go to standard output; give one of them a file"
            );
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        for file in &files {
            let path = normalized(&std::path::absolute(&file.path).context("--output")?);
            ensure!(
                !paths.contains(&path),
                "--output: two reports go to {}; give each its own file",
                file.path.display()
            );
            paths.push(path);
        }
        Ok(Outputs { stdout: here.or(args.format).unwrap_or(Format::Text), files })
    }

    /// All formats that are written.
    pub(super) fn formats(&self) -> impl Iterator<Item = Format> {
        std::iter::once(self.stdout).chain(self.files.iter().map(|file| file.format))
    }

    /// Writes all of them, each by `write`. An error is one of standard output; the exit code is about files.
    pub(super) fn write(&self, write: &dyn Fn(Format, Surface, &mut dyn Write) -> io::Result<()>) -> Result<Exit> {
        let written = to_stdout(|out| write(self.stdout, Surface::StandardOutput, out));
        let mut exit = Exit::Clean;
        for Destination { format, path } in &self.files {
            if let Err(error) = into_file(path, |out| write(*format, Surface::File, out)) {
                complain(&format!("--output {}: cannot write {}: {error}", format.name(), path.display()));
                exit = Exit::Usage;
            }
        }
        written.context("cannot write to standard output")?;
        Ok(exit)
    }
}

/// Writes a report in a format.
pub(super) fn write_report(
    report: &Report,
    args: &CheckArgs,
    format: Format,
    surface: Surface,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => write_text(report, &args.output, surface, out),
        Format::Concise => concise::render(report, out),
        Format::Gcc => gcc::render(report, out),
        Format::Json => json::render(report, out),
        Format::JsonLines => json::lines::render(report, out),
        Format::Sarif => sarif::render(report, &page_of, out),
        Format::Github => github::render(report, out),
        Format::Gitlab => gitlab::render(report, out),
        Format::Azure => azure::render(report, out),
        Format::Rdjson => rdjson::render(report, out),
        Format::Junit => junit::render(report, out),
    }
}

fn write_text(report: &Report, args: &OutputArgs, surface: Surface, out: &mut dyn Write) -> io::Result<()> {
    let width = terminal_width().filter(|_| surface == Surface::StandardOutput);
    let color = match (surface, args.color) {
        (Surface::StandardOutput, when) => color(when),
        (Surface::File, When::Always) => Color::Ansi,
        (Surface::File, When::Auto | When::Never) => Color::Plain,
    };
    let detail = if args.quiet {
        text::Detail::Lines
    } else if args.statistics {
        text::Detail::Statistics
    } else if args.verbose {
        text::Detail::Verbose
    } else if width.is_some() {
        text::Detail::WithStatistics
    } else {
        text::Detail::Full
    };
    let mut fitted = Fitted::new(out, width);
    text::render(report, color, detail, &mut fitted)?;
    fitted.flush()
}

/// Writes a file whole, beside it at first, or what is no plain file as it is.
fn into_file(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link is kept, and what it leads to replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(&path)?);
        return write(&mut out).and_then(|()| out.flush());
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut out = BufWriter::new(beside(directory)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(known) = fs::metadata(&path) {
        file.as_file().set_permissions(known.permissions())?;
    }
    file.persist(&path).map(drop).map_err(|error| error.error)
}

/// A file without a name that others may read, as any that a shell makes.
#[cfg(unix)]
fn beside(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(directory)
}

/// A file without a name.
#[cfg(not(unix))]
fn beside(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        into_file(&path, |out| out.write_all(b"old")).unwrap();
        let broken = into_file(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
        into_file(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_what_is_no_file_are_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        into_file(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        into_file(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(into_file(place.path(), |out| out.write_all(b"")).is_err(), "a directory is no file");
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let (ours, usual) = (place.path().join("ours"), place.path().join("usual"));
        into_file(&ours, |out| out.write_all(b"")).unwrap();
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
