//! What the library in a program writes: files, which it names and orders as `messages.h` says, and what stands in them.
//!
//! A message that is not understood is none: it comes from a process of the user's, whatever that does to its memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A program that is to be instrumented.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text {
    /// Its text.
    pub text: String,
    /// Texts that it includes, by the names under which it does.
    pub headers: Vec<(String, String)>,
    /// The options that it is built with.
    pub options: String,
    /// Where the program that builds it works.
    pub directory: PathBuf,
    /// The program's file.
    pub executable: PathBuf,
    /// What the device has besides what it must have, by names apart by blanks.
    pub extensions: String,
    /// Its version, as it words it: `OpenCL 3.0 …`.
    pub version: String,
}

/// Which launch of a process.
pub(super) type Number = u64;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Build(Text),
    Refused {
        unit: usize,
        messages: String,
    },
    Launch(LaunchHead),
    Records {
        launch: Number,
        variables: Vec<u64>,
        records: &'a [u8],
    },
    Counts {
        launch: Number,
        words: Vec<u32>,
    },
    Finished(Number),
    Cut(Number, String),
    /// The host writes a part of a buffer.
    Filled {
        name: String,
        whole: u64,
        bytes: Range<u64>,
    },
    Plain {
        unit: Option<usize>,
        kernel: String,
        reason: String,
    },
    /// Which ids a launch takes is asked for.
    Order(LaunchHead),
    /// Such a launch is over.
    Ran {
        launch: Number,
        held: Vec<Held>,
    },
}

/// What a buffer holds behind a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The parameter that it was given to.
    pub(super) parameter: usize,
    pub(super) bytes: u64,
    pub(super) digest: String,
}

/// A launch that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LaunchHead {
    pub(super) number: Number,
    pub(super) unit: usize,
    pub(super) kernel: String,
    pub(super) items: [u64; 3],
    pub(super) block: [u32; 3],
    pub(super) device: String,
    /// How many compute units that has, where it is said.
    pub(super) units: u32,
    pub(super) arguments: Vec<Given>,
}

/// What a parameter was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A buffer, which has a name of its own and so many bytes, from some byte on.
    Buffer {
        name: String,
        bytes: u64,
        first_byte: u64,
    },
    Null,
    Local(u64),
    Value(Vec<u8>),
}

/// Variables whose sizes stand before the records.
const VARIABLES: usize = 56;

impl Message<'_> {
    /// Reads a message.
    pub(super) fn parse(bytes: &[u8]) -> Option<Message<'_>> {
        let end = bytes.windows(2).position(|two| two == b"\n\n")?;
        let (head, rest) = (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end + 2..]);
        let mut lines = head.lines();
        let words: Vec<&str> = lines.next()?.splitn(4, '\t').collect();
        let number = |at: usize| words.get(at)?.parse().ok();
        let text = |at: usize| words.get(at).map(|word| (*word).to_owned());
        match *words.first()? {
            "build" => build(lines, rest).map(Message::Build),
            "refused" => Some(Message::Refused {
                unit: words.get(1)?.parse().ok()?,
                messages: String::from_utf8_lossy(rest).into_owned(),
            }),
            "launch" => launch(&words, lines).map(Message::Launch),
            "order" => launch(&words, lines).map(Message::Order),
            "ran" => Some(Message::Ran { launch: number(1)?, held: lines.map(held).collect::<Option<_>>()? }),
            "records" => {
                let (variables, records) = rest.split_at_checked(8 * VARIABLES)?;
                let word = |word: &[u8]| u64::from_ne_bytes(std::array::from_fn(|at| word[at]));
                let variables = variables.chunks_exact(8).map(word).collect();
                Some(Message::Records { launch: number(1)?, variables, records })
            }
            "counts" => {
                let word = |word: &[u8]| u32::from_ne_bytes(std::array::from_fn(|at| word[at]));
                Some(Message::Counts { launch: number(1)?, words: rest.chunks_exact(4).map(word).collect() })
            }
            "finished" => Some(Message::Finished(number(1)?)),
            "cut" => Some(Message::Cut(number(1)?, text(2)?)),
            "filled" => {
                let (name, rest) = (text(1)?, words.get(3)?);
                let (first, bytes) = rest.split_once('\t')?;
                let (first, bytes): (u64, u64) = (first.parse().ok()?, bytes.parse().ok()?);
                Some(Message::Filled { name, whole: number(2)?, bytes: first..first.checked_add(bytes)? })
            }
            "plain" => {
                let unit = words.get(1)?.parse().ok();
                Some(Message::Plain { unit, kernel: text(2)?, reason: text(3)? })
            }
            _ => None,
        }
    }
}

fn build<'a>(lines: impl Iterator<Item = &'a str>, mut rest: &[u8]) -> Option<Text> {
    let mut found = Text::default();
    let mut name = None;
    for line in lines {
        let (word, value) = line.split_once('\t')?;
        match word {
            "options" => value.clone_into(&mut found.options),
            "directory" => found.directory = value.into(),
            "executable" => found.executable = value.into(),
            "extensions" => value.clone_into(&mut found.extensions),
            "version" => value.clone_into(&mut found.version),
            "header" => name = Some(value.to_owned()),
            "bytes" => {
                let (text, after) = rest.split_at_checked(value.parse().ok()?)?;
                rest = after;
                let text = String::from_utf8_lossy(text).into_owned();
                match name.take() {
                    None => found.text = text,
                    Some(name) => found.headers.push((name, text)),
                }
            }
            _ => return None,
        }
    }
    Some(found)
}

fn launch<'a>(words: &[&str], lines: impl Iterator<Item = &'a str>) -> Option<LaunchHead> {
    let [_, number, unit, kernel] = words else { return None };
    let (number, unit) = (number.parse().ok()?, unit.parse().ok()?);
    let mut found = LaunchHead { number, unit, kernel: (*kernel).to_owned(), ..LaunchHead::default() };
    for line in lines {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["global", x, y, z] => found.items = [x.parse().ok()?, y.parse().ok()?, z.parse().ok()?],
            ["local", x, y, z] => found.block = [x.parse().ok()?, y.parse().ok()?, z.parse().ok()?],
            ["device", name] => name.clone_into(&mut found.device),
            ["units", units] => found.units = units.parse().ok()?,
            ["argument", "buffer", name, bytes, first_byte] => found.arguments.push(Given::Buffer {
                name: name.to_owned(),
                bytes: bytes.parse().ok()?,
                first_byte: first_byte.parse().ok()?,
            }),
            ["argument", "null"] => found.arguments.push(Given::Null),
            ["argument", "local", bytes] => found.arguments.push(Given::Local(bytes.parse().ok()?)),
            ["argument", "value", digits] => found.arguments.push(Given::Value(of_digits(digits)?)),
            _ => return None,
        }
    }
    Some(found)
}

fn held(line: &str) -> Option<Held> {
    let ["held", parameter, bytes, digest] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    Some(Held { parameter: parameter.parse().ok()?, bytes: bytes.parse().ok()?, digest: digest.to_owned() })
}

fn of_digits(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The messages that are there.
pub(super) struct Inbox {
    directory: PathBuf,
    /// The number of each process's next message.
    next: BTreeMap<u64, u64>,
    /// Messages that were there when it was looked, by process and number: there may be thousands.
    waiting: BTreeSet<(u64, u64)>,
}

/// A message as it came.
pub(super) struct Letter {
    pub(super) process: u64,
    pub(super) bytes: Vec<u8>,
    path: PathBuf,
}

/// Which message is the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The one whose number is next: others are not there yet.
    Strict,
    /// The lowest that is there: nobody writes any more.
    WithGaps,
}

impl Inbox {
    pub(super) fn new(directory: &Path) -> Inbox {
        Inbox { directory: directory.to_path_buf(), next: BTreeMap::new(), waiting: BTreeSet::new() }
    }

    /// The next message, if there is one.
    pub(super) fn next(&mut self, order: Order) -> Option<Letter> {
        let (process, number) = self.known(order).or_else(|| {
            self.look();
            self.known(order)
        })?;
        self.waiting.remove(&(process, number));
        let path = self.directory.join(format!("{process}-{number:08}"));
        self.next.insert(process, number + 1);
        Some(Letter { process, bytes: std::fs::read(&path).unwrap_or_default(), path })
    }
}

impl Inbox {
    /// The next message among those that were there.
    fn known(&self, order: Order) -> Option<(u64, u64)> {
        let is_next = |(process, number): &&(u64, u64)| *number == self.next.get(process).copied().unwrap_or(0);
        self.waiting.iter().find(|it| order == Order::WithGaps || is_next(it)).copied()
    }

    /// Looks what is there.
    fn look(&mut self) {
        let number = |name: &str| {
            let (process, number) = name.split_once('-')?;
            Some((process.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
        };
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        self.waiting = entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    }
}

impl Letter {
    /// Removes a message, and leaves its answer.
    pub(super) fn done(self, answer: Option<&str>) {
        let _ = std::fs::remove_file(&self.path);
        let Some(answer) = answer else { return };
        let (part, whole) = (self.path.with_extension("answer.part"), self.path.with_extension("answer"));
        // The program waits for it; one that is empty says that there is none.
        let is_written = std::fs::write(&part, answer).or_else(|_| std::fs::write(&part, "")).is_ok();
        if is_written {
            let _ = std::fs::rename(&part, whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_headers() {
        let bytes = b"build\noptions\t-DN=4 -I.\ndirectory\t/d\nexecutable\t/d/p\nextensions\tcl_khr_fp64\nversion\tOpenCL 3.0 x\nbytes\t3\nheader\ta.h\nbytes\t2\n\nk\n\nhh";
        let wanted = Text {
            text: "k\n\n".to_owned(),
            headers: vec![("a.h".to_owned(), "hh".to_owned())],
            options: "-DN=4 -I.".to_owned(),
            directory: "/d".into(),
            executable: "/d/p".into(),
            extensions: "cl_khr_fp64".to_owned(),
            version: "OpenCL 3.0 x".to_owned(),
        };
        assert_eq!(Message::parse(bytes), Some(Message::Build(wanted)));
        assert_eq!(Message::parse(b"build\nbytes\t9\n\nshort"), None);
    }

    #[test]
    fn a_launch_comes_with_its_arguments() {
        let text = "launch\t7\t1\tk\nglobal\t8\t2\t1\nlocal\t4\t1\t1\ndevice\tcpu 0\nargument\tbuffer\tff\t64\t16\nargument\tnull\n\
                    argument\tlocal\t32\nargument\tvalue\t0a00\n\n";
        let Some(Message::Launch(launch)) = Message::parse(text.as_bytes()) else { panic!("no launch") };
        assert_eq!((launch.number, launch.unit, launch.items, launch.block), (7, 1, [8, 2, 1], [4, 1, 1]));
        let buffer = Given::Buffer { name: "ff".to_owned(), bytes: 64, first_byte: 16 };
        assert_eq!(launch.arguments, [buffer, Given::Null, Given::Local(32), Given::Value(vec![10, 0])]);
    }

    #[test]
    fn a_launch_whose_ids_are_asked_for_comes_with_its_extents_and_ends_with_what_is_held() {
        let text = "order\t0\t1\tk\nglobal\t8\t2\t1\nlocal\t4\t1\t1\nunits\t2\ndevice\tcpu\n\n";
        let Some(Message::Order(launch)) = Message::parse(text.as_bytes()) else { panic!("no order") };
        assert_eq!((launch.number, launch.items, launch.block, launch.units), (0, [8, 2, 1], [4, 1, 1], 2));
        let held = Held { parameter: 2, bytes: 64, digest: "0f".to_owned() };
        let text = "ran\t7\nheld\t2\t64\t0f\n\n";
        assert_eq!(Message::parse(text.as_bytes()), Some(Message::Ran { launch: 7, held: vec![held] }));
        assert_eq!(Message::parse(b"ran\t7\n\n"), Some(Message::Ran { launch: 7, held: Vec::new() }));
        assert_eq!(Message::parse(b"ran\t7\nheld\t2\n\n"), None);
    }

    #[test]
    fn what_is_no_message_is_not_understood() {
        for bytes in
            [&b""[..], b"launch", b"launch\t1\n\n", b"records\t1\n\nshort", b"nonsense\n\n", b"finished\tx\n\n"]
        {
            assert_eq!(Message::parse(bytes), None);
        }
        let counts = Message::Counts { launch: 2, words: vec![1, 0] };
        assert_eq!(
            Message::parse(&[b"counts\t2\n\n", &1u32.to_ne_bytes()[..], &[0; 7]].concat()),
            Some(counts.clone())
        );
        assert_ne!(Message::parse(b"counts\t2\n\n"), Some(counts));
        assert_eq!(Message::parse(b"cut\t3\tno room\n\n"), Some(Message::Cut(3, "no room".to_owned())));
        let filled = Message::Filled { name: "ff".to_owned(), whole: 64, bytes: 16..24 };
        assert_eq!(Message::parse(b"filled\tff\t64\t16\t8\n\n"), Some(filled));
        assert_eq!(Message::parse(b"filled\tff\t64\t16\n\n"), None);
        let plain = Message::Plain { unit: None, kernel: "k".to_owned(), reason: String::new() };
        assert_eq!(Message::parse(b"plain\t-1\tk\t\n\n"), Some(plain));
    }

    #[test]
    fn messages_come_in_the_order_of_their_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(directory.path().join(name), name).unwrap();
        ["5-00000001", "9-00000002", "5-00000002.part"].into_iter().for_each(write);
        let mut inbox = Inbox::new(directory.path());
        assert!(inbox.next(Order::Strict).is_none(), "the first ones are not there yet");
        write("5-00000000");
        for wanted in ["5-00000000", "5-00000001"] {
            let letter = inbox.next(Order::Strict).unwrap();
            assert_eq!((letter.process, letter.bytes.as_slice()), (5, wanted.as_bytes()));
            letter.done(Some("answer"));
        }
        assert!(directory.path().join("5-00000001.answer").is_file());
        assert!(inbox.next(Order::Strict).is_none());
        assert_eq!(inbox.next(Order::WithGaps).map(|letter| letter.process), Some(9));
    }
}
