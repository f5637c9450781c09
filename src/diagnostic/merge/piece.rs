//! JSON in pieces: what is not looked at stays as it was written, byte for byte.
//!
//! Numbers of any size, orders of fields and escapes of strings come out as they came in, which a tree of values would not
//! hold. Deliberately absent: what the fields mean.

use super::error::MergeError;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// A value of which some parts may be new.
#[derive(Clone, Debug)]
pub(super) enum Piece<'a> {
    /// As it was read.
    Raw(&'a RawValue),
    /// An object.
    Object(Fields<'a>),
    /// A list.
    List(Vec<Piece<'a>>),
    /// A new text.
    Text(String),
}

/// The fields of an object in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a>(Vec<(String, Piece<'a>)>);

impl<'a> Fields<'a> {
    /// The object that a value is.
    pub(super) fn of(value: &'a RawValue) -> Result<Fields<'a>, MergeError> {
        Ok(serde_json::from_str(value.get())?)
    }

    /// A field as it was read.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).and_then(|(_, piece)| match piece {
            Piece::Raw(raw) => Some(*raw),
            _ => None,
        })
    }

    /// A field that has to be there.
    pub(super) fn needed(&self, name: &'static str) -> Result<&'a RawValue, MergeError> {
        self.raw(name).ok_or(MergeError::Lacks(name))
    }

    /// What a field holds.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &'static str) -> Result<T, MergeError> {
        Ok(serde_json::from_str(self.needed(name)?.get())?)
    }

    /// The elements of a field that is a list.
    pub(super) fn elements(&self, name: &'static str) -> Result<Vec<&'a RawValue>, MergeError> {
        Ok(serde_json::from_str(self.needed(name)?.get())?)
    }

    /// Puts a value into the place of a field that is there.
    pub(super) fn replace(&mut self, name: &str, value: Piece<'a>) {
        if let Some((_, piece)) = self.0.iter_mut().find(|(known, _)| known == name) {
            *piece = value;
        }
    }

    /// Puts a new field behind another one, at the front if that is not there.
    pub(super) fn put_behind(&mut self, name: &str, new: &str, value: Piece<'a>) {
        let at = self.0.iter().position(|(known, _)| known == name).map_or(0, |at| at + 1);
        self.0.insert(at, (new.to_owned(), value));
    }

    /// Puts a new field at the end.
    pub(super) fn push(&mut self, new: &str, value: Piece<'a>) {
        self.0.push((new.to_owned(), value));
    }

    /// Takes a field away.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl<'a> FromIterator<(String, Piece<'a>)> for Fields<'a> {
    fn from_iter<I: IntoIterator<Item = (String, Piece<'a>)>>(fields: I) -> Self {
        Fields(fields.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((name, Piece::Raw(value)));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Piece::Raw(raw) => raw.serialize(serializer),
            Piece::Object(fields) => fields.serialize(serializer),
            Piece::List(pieces) => serializer.collect_seq(pieces),
            Piece::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_stays_as_it_was_written() {
        let text = r#"{"b":{"z":1.50,"a":123456789012345678901234567890},"a":"\u00e9","b2":[ 1, 2 ]}"#;
        let mut fields: Fields<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&fields).unwrap(), text);
        fields.put_behind("b", "new", Piece::Text("7".to_owned()));
        fields.remove("a");
        fields.replace("b2", Piece::Text("é".to_owned()));
        let changed = r#"{"b":{"z":1.50,"a":123456789012345678901234567890},"new":"7","b2":"é"}"#;
        assert_eq!(serde_json::to_string(&fields).unwrap(), changed);
    }
}
