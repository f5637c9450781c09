//! Numbers, differences, texts and checksums, as [`super`] defines them.

/// Why bytes are not what they should be; "a number is cut off".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// Bytes that are taken from the front.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// What has not been taken.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (&byte, rest) = self.rest.split_first().ok_or(Malformed("a byte is missing"))?;
        self.rest = rest;
        Ok(byte)
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Result<u64, Malformed> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u64, Malformed> {
        // Up to eight bytes at once: the first byte without its high bit ends the number.
        if let Some((bytes, _)) = self.rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*bytes);
            let ends = !word & 0x8080_8080_8080_8080;
            if ends != 0 {
                let length = ends.trailing_zeros() / 8 + 1;
                self.rest = &self.rest[length as usize..];
                return Ok(packed(word & (u64::MAX >> (64 - 8 * length))));
            }
        }
        self.number_bytewise()
    }

    #[cold]
    fn number_bytewise(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for (at, &byte) in self.rest.iter().take(10).enumerate() {
            if at == 9 && byte > 1 {
                return Err(Malformed("a number has more than 64 bits"));
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok(value);
            }
        }
        Err(Malformed("a number is cut off"))
    }

    /// The next number, if it fits 32 bits.
    pub fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed("a number has more than 32 bits"))
    }

    /// The next difference.
    pub fn difference(&mut self) -> Result<u64, Malformed> {
        self.number().map(from_zigzag)
    }

    /// The next text; what is not UTF-8 is replaced.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let length = self.number()?;
        if length > self.rest.len() as u64 {
            return Err(Malformed("a text is cut off"));
        }
        let (text, rest) = self.rest.split_at(length as usize);
        self.rest = rest;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// That nothing is left.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed("bytes are left over")) }
    }
}

/// The low seven bits of each byte, side by side.
#[inline]
fn packed(word: u64) -> u64 {
    let sevens = word & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = (sevens & 0x007f_007f_007f_007f) | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4
}

/// The difference behind its zigzag form.
#[inline]
pub fn from_zigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// The zigzag form of a difference.
pub fn to_zigzag(difference: u64) -> u64 {
    (difference << 1) ^ (difference >> 63).wrapping_neg()
}

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a text.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// The checksum of `bytes`, going on from `state` (0 at first). Every step is a bijection of the state, so
/// that no change within one word goes unseen.
pub fn checksum(state: u64, bytes: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| {
        let state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^ (state >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(mix(state, bytes.len() as u64), |state, word| mix(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put(&mut bytes, value);
                let mut cursor = Cursor::new(&bytes);
                assert_eq!(cursor.number(), Ok(value));
                assert!(cursor.is_empty());
                assert_eq!(from_zigzag(to_zigzag(value)), value);
                let length = bytes.len();
                bytes.extend([0xff; 9]);
                let mut cursor = Cursor::new(&bytes);
                assert_eq!((cursor.number(), cursor.rest().len()), (Ok(value), 9));
                bytes.truncate(length);
                assert!(Cursor::new(&bytes[..bytes.len() - 1]).number().is_err());
            }
        }
    }

    #[test]
    fn overlong_numbers_and_texts_are_refused() {
        assert!(Cursor::new(&[0xff; 12]).number().is_err());
        assert!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number().is_err());
        assert!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).small().is_err());
        assert!(Cursor::new(&[5, b'a', b'b']).text().is_err());
    }

    #[test]
    fn every_changed_bit_changes_the_checksum() {
        let bytes: Vec<u8> = (0..37).collect();
        let sum = checksum(7, &bytes);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(7, &changed), sum);
        }
        assert_ne!(checksum(7, &bytes[..36]), sum);
    }
}
