//! Structs that are passed by value: from the members that a description gives to the bytes of the parameter.
//!
//! A member is a scalar, a vector, an array of numbers, a pointer into a buffer or another struct. Every member is given;
//! of members that share their bytes, as those of a union do, one. What lies between members is zero.
//!
//! Deliberately absent: where members lie. Whoever reads the program says so, and the compiler compares the size.

use super::element::Scalar;
use super::host::ParameterKind;
use super::{Argument, Description, DescriptionError, Problem, Value};
use crate::source::spelling::nearest;
use crate::source::{Language, LineColumn};

/// A struct as its kernel lays it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its alignment.
    pub align: u64,
    /// Its members, those of its bases among them.
    pub members: Vec<Member>,
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where it begins in its struct.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// What it takes.
    pub kind: ParameterKind,
}

/// The bytes of a parameter; those of pointers are zero and told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Little-endian.
    pub bytes: Vec<u8>,
    /// Where pointers go: their offset, the number of the buffer, and bytes into it.
    pub pointers: Vec<(u64, usize, u64)>,
}

/// Where a struct is given: its kernel, the keys that lead to it, and the place of its value.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// `launch.arguments.name`.
    pub key: &'a str,
    /// Its value in the description.
    pub place: Option<LineColumn>,
}

/// What a struct becomes whose members are `given`.
pub fn image(
    description: &Description,
    record: &Record,
    given: &[Argument],
    at: Given<'_>,
    language: Language,
) -> Result<Image, DescriptionError> {
    let mut image = Image { bytes: vec![0; record.bytes as usize], pointers: Vec::new() };
    let mut writer = Writer { description, language, kernel: at.kernel, image: &mut image };
    writer.record(record, given, 0, at.key, at.place)?;
    Ok(image)
}

struct Writer<'a> {
    description: &'a Description,
    language: Language,
    kernel: &'a str,
    image: &'a mut Image,
}

impl Writer<'_> {
    fn record(
        &mut self,
        record: &Record,
        given: &[Argument],
        base: u64,
        key: &str,
        place: Option<LineColumn>,
    ) -> Result<(), DescriptionError> {
        self.compare(record, given, key, place)?;
        for argument in given {
            let Some(member) = record.members.iter().find(|member| member.name == argument.name) else { continue };
            self.member(member, argument, base + member.offset, &format!("{key}.{}", member.name))?;
        }
        Ok(())
    }

    /// That all members are given, once, and nothing else.
    fn compare(
        &self,
        record: &Record,
        given: &[Argument],
        key: &str,
        place: Option<LineColumn>,
    ) -> Result<(), DescriptionError> {
        let refused = |place, name: &str, problem| Err(self.description.error(place, format!("{key}.{name}"), problem));
        let known = || record.members.iter().map(|member| member.name.as_str());
        let mut found: Vec<&Member> = Vec::new();
        for argument in given {
            let Some(member) = record.members.iter().find(|member| member.name == argument.name) else {
                let suggestion = nearest(&argument.name, known());
                let known = known().map(str::to_owned).collect();
                let problem = Problem::UnknownMember { record: record.name.clone(), suggestion, known };
                return refused(argument.place, &argument.name, problem);
            };
            if let Some(other) = found.iter().find(|other| other.overlaps(member)) {
                let problem = format!("it shares its bytes with `{}`; give one of them", other.name);
                return refused(argument.place, &argument.name, Problem::Other(problem));
            }
            found.push(member);
        }
        let missing = |member: &&Member| !found.iter().any(|other| other.overlaps(member));
        match record.members.iter().find(missing) {
            Some(member) => refused(place, &member.name, Problem::Missing(member.example())),
            None => Ok(()),
        }
    }

    fn member(&mut self, member: &Member, argument: &Argument, at: u64, key: &str) -> Result<(), DescriptionError> {
        let failed = |problem| self.description.error(argument.place, key, problem);
        let wrong =
            |expected: String| failed(Problem::WrongType { expected, found: super::host::found(&argument.value) });
        match (&member.kind, &argument.value) {
            (ParameterKind::Other(what), _) => {
                let parameter = key.strip_prefix("launch.arguments.").unwrap_or(key).to_owned();
                let problem = Problem::Ungivable { kernel: self.kernel.to_owned(), parameter, what: what.clone() };
                Err(failed(problem))
            }
            (ParameterKind::Struct(record), Value::Fields(fields)) => {
                self.record(record, fields, at, key, argument.place)
            }
            (ParameterKind::Pointer(_), Value::Buffer { buffer, offset }) => {
                let element = self.description.buffers[*buffer].element.bytes(self.language);
                self.image.pointers.push((at, *buffer, offset.saturating_mul(element)));
                Ok(())
            }
            // All bytes are zero already.
            (ParameterKind::Pointer(_), Value::Null) => Ok(()),
            (ParameterKind::Scalars { scalar, lanes: 1 }, Value::Number(number)) => {
                self.numbers(*scalar, &[*number], at).map_err(failed)
            }
            (ParameterKind::Scalars { scalar, lanes }, Value::Lanes(numbers))
                if *lanes > 1 && numbers.len() == usize::from(*lanes) =>
            {
                self.numbers(*scalar, numbers, at).map_err(failed)
            }
            (ParameterKind::Array { scalar, count }, Value::Lanes(numbers)) if numbers.len() as u64 == *count => {
                self.numbers(*scalar, numbers, at).map_err(failed)
            }
            _ => Err(wrong(member.kind.wanted())),
        }
    }

    fn numbers(&mut self, scalar: Scalar, numbers: &[super::Number], at: u64) -> Result<(), Problem> {
        let mut bytes = Vec::new();
        for number in numbers {
            if !scalar.holds(*number) {
                return Err(Problem::no_value(*number, scalar).of_kernel(self.kernel));
            }
            scalar.encode(*number, &mut bytes);
        }
        // Members lie within their struct.
        let at = at as usize;
        if let Some(room) = self.image.bytes.get_mut(at..at + bytes.len()) {
            room.copy_from_slice(&bytes);
        }
        Ok(())
    }
}

impl Member {
    /// Whether the two share bytes, or a name.
    pub fn overlaps(&self, other: &Member) -> bool {
        self.name == other.name || self.offset < other.offset + other.bytes && other.offset < self.offset + self.bytes
    }

    /// How it may be given.
    fn example(&self) -> String {
        format!("{} = {}", self.name, self.kind.example())
    }
}
