//! Frames: finding chunks in a file and telling whole ones from damaged ones.

use super::bytes::checksum;
use super::{OLDEST, VERSION};
use std::io::{self, Read, Seek, SeekFrom};

/// First bytes of a log.
pub const MAGIC: [u8; 8] = *b"\x89RPTRACE";
/// First bytes of a chunk.
pub const CHUNK_MAGIC: [u8; 4] = *b"RPCK";
/// Bytes of the head of a log.
pub const HEAD: u64 = 16;
/// Bytes of a chunk before its payload.
pub const FRAME: u64 = 32;
/// Longest payload that is believed: the longest table of sites.
pub const MAX_PAYLOAD: u64 = 1 << 26;

/// Kinds of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// A table of sites.
    Sites,
    /// A launch begins.
    Launch,
    /// An allocation begins.
    Allocation,
    /// An allocation ends.
    Release,
    /// Accesses.
    Accesses,
    /// A launch has ended.
    Finished,
    /// The log is complete.
    End,
    /// Fences, atomics and what else orders threads.
    Synchronisations,
    /// What part of a log this one is.
    Shard,
    /// Something that is not logged.
    LeftOut,
}

impl ChunkKind {
    /// All kinds; the position plus 1 is the number in the log.
    pub const ALL: [ChunkKind; 10] = [
        ChunkKind::Sites,
        ChunkKind::Launch,
        ChunkKind::Allocation,
        ChunkKind::Release,
        ChunkKind::Accesses,
        ChunkKind::Finished,
        ChunkKind::End,
        ChunkKind::Synchronisations,
        ChunkKind::Shard,
        ChunkKind::LeftOut,
    ];

    fn from_number(number: u32) -> Option<ChunkKind> {
        Self::ALL.get(number.checked_sub(1)? as usize).copied()
    }

    fn number(self) -> u32 {
        Self::ALL.iter().position(|&kind| kind == self).map_or(0, |at| at as u32 + 1)
    }
}

/// A whole chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// What it holds.
    pub kind: ChunkKind,
    /// Its number in the log.
    pub ordinal: u64,
    /// Where its payload starts in the file.
    pub start: u64,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A whole chunk.
    Chunk(Chunk),
    /// So many bytes from here are damaged or missing; what follows them is whole or the end.
    Damage {
        /// Where.
        start: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// The end of the file.
    End,
}

/// Why a file is no log at all.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It does not begin like one.
    #[error("this is no log of raceproof")]
    NoLog,
    /// Another version.
    #[error(
        "the log has version {0}, and this raceproof reads versions {OLDEST} to {VERSION}; run the program again with --log"
    )]
    Version(u32),
}

/// Frames a payload.
pub fn framed(kind: ChunkKind, ordinal: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FRAME as usize + payload.len());
    bytes.extend_from_slice(&CHUNK_MAGIC);
    bytes.extend_from_slice(&kind.number().to_le_bytes());
    bytes.extend_from_slice(&ordinal.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(checksum(0, &bytes), payload);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The head of a log.
pub fn head() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes
}

/// Reads the chunks of a file in order, going on behind damage.
pub struct Chunks<R> {
    from: R,
    at: u64,
    length: u64,
}

impl<R: Read + Seek> Chunks<R> {
    /// Checks the head.
    pub fn new(mut from: R) -> Result<Self, HeadError> {
        let length = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(0))?;
        let mut bytes = [0; HEAD as usize];
        if length < HEAD {
            return Err(HeadError::NoLog);
        }
        from.read_exact(&mut bytes)?;
        if bytes[..8] != MAGIC {
            return Err(HeadError::NoLog);
        }
        let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        if !(OLDEST..=VERSION).contains(&version) || bytes[12..] != [0; 4] {
            return Err(HeadError::Version(version));
        }
        Ok(Chunks { from, at: HEAD, length })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What comes next.
    pub fn next(&mut self) -> io::Result<Next> {
        if self.at >= self.length {
            return Ok(Next::End);
        }
        if let Some(chunk) = self.chunk_at(self.at)? {
            self.at = chunk.start + chunk.payload.len() as u64;
            return Ok(Next::Chunk(chunk));
        }
        let start = self.at;
        self.at = self.resume(start + 1)?;
        Ok(Next::Damage { start, bytes: self.at - start })
    }

    /// The chunk that starts at `at`, if it is whole.
    fn chunk_at(&mut self, at: u64) -> io::Result<Option<Chunk>> {
        if self.length - at < FRAME {
            return Ok(None);
        }
        let mut frame = [0; FRAME as usize];
        self.from.seek(SeekFrom::Start(at))?;
        self.from.read_exact(&mut frame)?;
        let word = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| frame[from + byte]));
        let (length, sum) = (word(16), word(24));
        if frame[..4] != CHUNK_MAGIC || length > MAX_PAYLOAD || length > self.length - at - FRAME {
            return Ok(None);
        }
        let kind = ChunkKind::from_number(u32::from_le_bytes([frame[4], frame[5], frame[6], frame[7]]));
        let Some(kind) = kind else { return Ok(None) };
        let mut payload = vec![0; length as usize];
        self.from.read_exact(&mut payload)?;
        let is_whole = checksum(checksum(0, &frame[..24]), &payload) == sum;
        Ok(is_whole.then_some(Chunk { kind, ordinal: word(8), start: at + FRAME, payload }))
    }

    /// Where the next whole chunk starts, or the end of the file.
    fn resume(&mut self, from: u64) -> io::Result<u64> {
        let mut at = from;
        let mut window = vec![0; 1 << 16];
        while at < self.length {
            let size = window.len().min((self.length - at) as usize);
            self.from.seek(SeekFrom::Start(at))?;
            self.from.read_exact(&mut window[..size])?;
            let found: Vec<u64> = (0u64..)
                .zip(window[..size].windows(4))
                .filter(|(_, bytes)| *bytes == CHUNK_MAGIC)
                .map(|(index, _)| at + index)
                .collect();
            for candidate in found {
                if self.chunk_at(candidate)?.is_some() {
                    return Ok(candidate);
                }
            }
            if size < window.len() {
                break;
            }
            // The magic may lie across two windows.
            at += size as u64 - 3;
        }
        Ok(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn sample() -> Vec<u8> {
        let mut bytes = head();
        bytes.extend(framed(ChunkKind::Sites, 0, b"sites"));
        bytes.extend(framed(ChunkKind::Launch, 1, b"RPCK within"));
        bytes.extend(framed(ChunkKind::End, 2, b""));
        bytes
    }

    fn all(bytes: &[u8]) -> Vec<Next> {
        let mut chunks = Chunks::new(Cursor::new(bytes)).expect("the head is whole");
        let mut found = Vec::new();
        loop {
            match chunks.next().expect("memory can be read") {
                Next::End => return found,
                next => found.push(next),
            }
        }
    }

    #[test]
    fn chunks_come_back_and_damage_is_skipped() {
        let whole = sample();
        let kinds = |found: &[Next]| found.iter().map(|next| matches!(next, Next::Chunk(_))).collect::<Vec<_>>();
        assert_eq!(kinds(&all(&whole)), [true, true, true]);
        let mut damaged = whole.clone();
        damaged[HEAD as usize + 40 + 5] ^= 1;
        assert_eq!(kinds(&all(&damaged)), [true, false, true]);
        assert_eq!(kinds(&all(&whole[..whole.len() - 1])), [true, true, false]);
    }

    #[test]
    fn other_files_and_versions_are_refused() {
        assert!(matches!(Chunks::new(Cursor::new(b"no log, but long enough for a head")), Err(HeadError::NoLog)));
        assert!(matches!(Chunks::new(Cursor::new(b"")), Err(HeadError::NoLog)));
        let mut other = sample();
        other[8] = 9;
        assert!(matches!(Chunks::new(Cursor::new(other)), Err(HeadError::Version(9))));
    }
}
