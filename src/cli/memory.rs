//! Amounts of memory, as they are typed behind `--memory`.

use crate::driver::trace::LEAST_MEMORY;
use anyhow::{Result, anyhow, bail};

/// `512M`, `2G`, `65536K` or a number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64> {
    let wrong = || anyhow!("--memory: `{text}` is no amount of memory; write for example 512M or 2G");
    let (digits, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let shift = match unit.to_ascii_uppercase().trim_end_matches(['B', 'I']) {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if bytes < LEAST_MEMORY {
        bail!("--memory: {text} is too little; {}M is the least", LEAST_MEMORY >> 20);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn amounts_of_memory_have_units() {
        let read = |text| bytes(text).ok();
        assert_eq!(
            [read("512M"), read("2GiB"), read("67108864"), read("65536k")],
            [Some(512 << 20), Some(2 << 30), Some(64 << 20), Some(64 << 20)]
        );
        assert!([" 1M", "1M", "M", "-5G", "99999999999G", "5X", "0"].iter().all(|text| bytes(text).is_err()));
    }
}
