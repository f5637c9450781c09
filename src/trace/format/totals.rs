//! The payloads that end a launch and a log.

use super::Totals;
use super::bytes::{Cursor, Malformed, put, to_zigzag};

/// What a launch did, by its number.
pub fn read_finished(cursor: &mut Cursor<'_>) -> Result<(u32, Totals), Malformed> {
    let id = cursor.small()?;
    let (accesses, blocks) = (cursor.number()?, cursor.number()?);
    let synchronisations = if cursor.is_empty() { 0 } else { cursor.number()? };
    Ok((id, Totals { accesses, blocks, synchronisations }))
}

/// The payload of a launch that ended.
pub fn write_finished(id: u32, totals: &Totals) -> Vec<u8> {
    let Totals { accesses, blocks, synchronisations } = *totals;
    let mut out = Vec::new();
    for number in [id.into(), accesses, blocks, synchronisations] {
        put(&mut out, number);
    }
    out
}

/// The exit status of the program, and the accesses of all launches.
pub fn read_end(cursor: &mut Cursor<'_>) -> Result<(i64, u64), Malformed> {
    Ok((cursor.difference()? as i64, cursor.number()?))
}

/// The payload at the end of a log.
pub fn write_end(exit_status: i64, accesses: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, to_zigzag(exit_status as u64));
    put(&mut out, accesses);
    out
}
