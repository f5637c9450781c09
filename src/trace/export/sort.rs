//! Any number of rows in order: what memory holds is sorted and put into a temporary file as a *stretch*, and stretches are
//! merged.

use super::ExportError;
use super::row::{NONE, Row};
use crate::trace::format::bytes::Cursor;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};

/// Rows that are held at least, however little memory there is.
const LEAST: usize = 1 << 16;
/// Bytes of a row in a temporary file, at most.
const LONGEST: usize = 160;
/// Bytes of a stretch that are read at once.
const READ: usize = 64 << 10;

/// Takes rows and gives them back in order.
pub(super) struct Sorter {
    rows: Vec<Row>,
    limit: usize,
    file: Option<BufWriter<File>>,
    /// Where stretches end in the file.
    ends: Vec<u64>,
}

impl Sorter {
    /// Half of the memory is for rows; the other half is for the chunk that is read, and tables that are written.
    pub(super) fn new(memory: u64) -> Self {
        Self::with_limit((memory as usize / 2 / size_of::<Row>()).max(LEAST))
    }

    /// Holds so many rows, and more only if they come together.
    pub(super) fn with_limit(limit: usize) -> Self {
        Sorter { rows: Vec::new(), limit, file: None, ends: Vec::new() }
    }

    /// Adds rows, in any order.
    pub(super) fn add(&mut self, rows: Vec<Row>) -> Result<(), ExportError> {
        if self.rows.len() + rows.len() > self.limit && !self.rows.is_empty() {
            self.spill().map_err(ExportError::Temporary)?;
        }
        // No more than is held, even while it grows. What is never touched takes no memory.
        if self.rows.capacity() == 0 {
            self.rows.reserve_exact(self.limit.max(rows.len()));
        }
        self.rows.extend(rows);
        Ok(())
    }

    fn spill(&mut self) -> std::io::Result<()> {
        self.rows.par_sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(1 << 18, tempfile::tempfile()?)),
        };
        let mut before = NONE;
        let mut end = self.ends.last().copied().unwrap_or(0);
        let mut bytes = Vec::with_capacity(LONGEST);
        for row in self.rows.drain(..) {
            bytes.clear();
            row.write(&before, &mut bytes);
            file.write_all(&bytes)?;
            end += bytes.len() as u64;
            before = row;
        }
        self.ends.push(end);
        Ok(())
    }

    /// Hands all rows to `take`, in order.
    pub(super) fn each(mut self, mut take: impl FnMut(Row) -> Result<(), ExportError>) -> Result<(), ExportError> {
        if self.file.is_some() {
            self.spill().map_err(ExportError::Temporary)?;
        }
        let Some(file) = self.file else {
            self.rows.par_sort_unstable();
            return self.rows.into_iter().try_for_each(take);
        };
        // What the rows took is for reading now.
        drop(self.rows);
        let file = file.into_inner().map_err(|error| ExportError::Temporary(error.into_error()))?;
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let mut stretches: Vec<Stretch> = starts.zip(&self.ends).map(|(at, &end)| Stretch::new(at, end)).collect();
        let mut heads = BinaryHeap::new();
        for (number, stretch) in stretches.iter_mut().enumerate() {
            heads.extend(stretch.next(&file)?.map(|row| Reverse((row, number))));
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((row, number)) = *head;
            match stretches[number].next(&file)? {
                Some(next) => *head = Reverse((next, number)),
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
            take(row)?;
        }
        Ok(())
    }
}

/// Sorted rows in the file.
struct Stretch {
    /// What is still to be read of the file.
    at: u64,
    end: u64,
    /// What has been read, and how much of it was given.
    bytes: Vec<u8>,
    given: usize,
    before: Row,
}

impl Stretch {
    fn new(at: u64, end: u64) -> Self {
        Stretch { at, end, bytes: Vec::new(), given: 0, before: NONE }
    }

    fn next(&mut self, file: &File) -> Result<Option<Row>, ExportError> {
        if self.bytes.len() - self.given < LONGEST && self.at < self.end {
            self.fill(file).map_err(ExportError::Temporary)?;
        }
        let mut cursor = Cursor::new(&self.bytes[self.given..]);
        if cursor.is_empty() {
            return Ok(None);
        }
        self.before = Row::read(&self.before, &mut cursor)?;
        self.given = self.bytes.len() - cursor.rest().len();
        Ok(Some(self.before))
    }

    fn fill(&mut self, mut file: &File) -> std::io::Result<()> {
        self.bytes.drain(..self.given);
        self.given = 0;
        let kept = self.bytes.len();
        let more = (self.end - self.at).min(READ as u64);
        self.bytes.resize(kept + more as usize, 0);
        file.seek(SeekFrom::Start(self.at))?;
        file.read_exact(&mut self.bytes[kept..])?;
        self.at += more;
        Ok(())
    }
}
