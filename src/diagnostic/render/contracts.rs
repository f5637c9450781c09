//! The contracts of a run as a table: text that `check --contracts` reads back (`driver/contract_file.rs` says what it means),
//! and JSON for programs, `raceproof.contracts.v1` (docs/ARCHITECTURE.md, "Contracts").
//!
//! The text is for keeping: one condition on a line, kernels by path and name, no lines and columns of sources, nothing of the
//! machine or the day. What is no condition stands in comments. That launches are flat along y or z where a kernel reads nothing
//! is no condition of the table: a stated contract means it, too.
//!
//! Guarantees: the same bytes for the same report, whatever the order of its files; each kernel once, under a name that means
//! it alone. Deliberately absent: verdicts and findings.

use crate::diagnostic::report::{Contract, FileReport, Keeping, KernelReport, Race, Report, ScopeKind};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Which kernels are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Those that need a contract.
    WithContract,
    /// Those that need none, and those of which none is known, too.
    All,
}

/// What a kernel asks of those who launch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks<'r> {
    /// That they keep its contract.
    Contract(&'r Contract),
    /// Nothing: it is free for all launches that are flat where it reads nothing.
    Nothing,
    /// Something that is not known, or that nobody can keep.
    NotKnown(&'static str),
}

/// A kernel in the table.
struct Row<'r> {
    path: String,
    kernel: &'r KernelReport,
    /// Its name, with template arguments.
    name: String,
    asks: Asks<'r>,
}

const HEAD: &str =
    "# Contracts of kernels: the launches of each that are free of races. `raceproof contracts` writes them, and
# `raceproof check --contracts FILE` holds kernels and launches against them.
";

/// Writes the table as text.
pub fn text(report: &Report, listed: Listed, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for row in rows(report, listed) {
        writeln!(out)?;
        row.write(out)?;
    }
    Ok(())
}

/// Writes the table as JSON, on one line.
pub fn json(report: &Report, listed: Listed, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(report, listed);
    let contracts = rows.iter().map(RowJson::of).collect();
    serde_json::to_writer(&mut *out, &TableJson { schema: "raceproof.contracts.v1", contracts })?;
    writeln!(out)
}

/// Kernels of one path and name: of several units, or overloads.
type Alike<'r> = Vec<(&'r FileReport, &'r KernelReport)>;

/// The rows, by path and name.
fn rows(report: &Report, listed: Listed) -> Vec<Row<'_>> {
    let mut named: BTreeMap<(String, String), Alike<'_>> = BTreeMap::new();
    for file in &report.files {
        for kernel in &file.kernels {
            let path = kernel.path.as_ref().unwrap_or(&file.path).display().to_string();
            named.entry((path, kernel.instance())).or_default().push((file, kernel));
        }
    }
    let mut rows: Vec<Row<'_>> = named.into_iter().flat_map(|(names, alike)| rows_of(&names, &alike)).collect();
    rows.retain(|row| listed == Listed::All || matches!(row.asks, Asks::Contract(_)));
    rows.sort_by(|one, other| (&one.path, &one.name).cmp(&(&other.path, &other.name)));
    rows
}

/// One row for all that ask the same, or one for each.
fn rows_of<'r>((path, name): &(String, String), alike: &[(&'r FileReport, &'r KernelReport)]) -> Vec<Row<'r>> {
    let agree = |kernels: &[(&FileReport, &KernelReport)]| {
        kernels.windows(2).all(|two| Asks::of(two[0].1).says_the_same(Asks::of(two[1].1)))
    };
    let row = |path: &str, name: String, kernel: &'r KernelReport| Row {
        path: path.to_owned(),
        kernel,
        name,
        asks: Asks::of(kernel),
    };
    // The unit that launches it knows most.
    let telling = |kernels: &[(&'r FileReport, &'r KernelReport)]| {
        kernels.iter().rev().max_by_key(|(_, kernel)| kernel.launches().len()).map(|(_, kernel)| *kernel)
    };
    if agree(alike) {
        return telling(alike).into_iter().map(|kernel| row(path, name.clone(), kernel)).collect();
    }
    let is_one_unit =
        |two: &(&FileReport, &KernelReport), next: &(&FileReport, &KernelReport)| two.0.path == next.0.path;
    let mut rows = Vec::new();
    for unit in alike.chunk_by(is_one_unit) {
        // A header may be another one in each unit.
        let path = unit[0].0.path.display().to_string();
        if agree(unit) {
            rows.extend(telling(unit).map(|kernel| row(&path, name.clone(), kernel)));
        } else {
            let overloads = (1..).zip(unit).map(|(at, (_, kernel))| row(&path, format!("{name}@{at}"), kernel));
            rows.extend(overloads);
        }
    }
    rows
}

impl<'r> Asks<'r> {
    fn of(kernel: &'r KernelReport) -> Asks<'r> {
        let is_of_all = kernel.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::AllGeometries);
        match &kernel.contract {
            Some(_) if kernel.race == Race::RaceFree && kernel.asks_for_flat_launches() => Asks::Nothing,
            Some(contract) if contract.is_plausible || kernel.race == Race::RaceFree => Asks::Contract(contract),
            None if kernel.race == Race::RaceFree && is_of_all => Asks::Nothing,
            _ => Asks::NotKnown(match kernel.race {
                Race::Racy => "it races",
                Race::PossiblyRacy => "it may race",
                Race::RaceFree => "it is only known to be free for the launches that were found",
                Race::Unknown => "it is not decided",
            }),
        }
    }

    fn conditions(self) -> Vec<&'r str> {
        match self {
            Asks::Contract(contract) => contract.to_keep().map(|conjunct| conjunct.text.as_str()).collect(),
            Asks::Nothing | Asks::NotKnown(_) => Vec::new(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Asks::Contract(_) => "contract",
            Asks::Nothing => "any-launch",
            Asks::NotKnown(_) => "not-known",
        }
    }

    fn says_the_same(self, other: Asks<'_>) -> bool {
        self.word() == other.word() && self.conditions() == other.conditions()
    }
}

impl Row<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = format!("{}: {}", quoted(&self.path), self.name);
        match self.asks {
            Asks::Contract(contract) => {
                writeln!(out, "{}", clean(&head))?;
                for conjunct in contract.to_keep() {
                    writeln!(out, "    {}  # {}", clean(&conjunct.text), conjunct.kind.name())?;
                }
                for assumption in assumptions(contract) {
                    writeln!(out, "    # assuming {}", clean(&assumption))?;
                }
                writeln!(out, "    # launches: {}", self.launches())
            }
            Asks::Nothing => writeln!(out, "{}\n    any launch", clean(&head)),
            Asks::NotKnown(why) => {
                let contract = self.kernel.contract.iter().flat_map(Contract::to_keep);
                let needed: Vec<&str> = contract.map(|conjunct| conjunct.text.as_str()).collect();
                // Nobody would keep it: it is no contract.
                let unless =
                    if needed.is_empty() { String::new() } else { format!(" unless {}", needed.join(" and ")) };
                writeln!(out, "# {}: no contract is known; {why}{}", clean(&head), clean(&unless))
            }
        }
    }

    fn count(&self, keeping: Keeping) -> usize {
        self.kernel.launches().iter().filter(|launch| launch.keeping == keeping).count()
    }

    /// `2 kept, 1 open`
    fn launches(&self) -> String {
        let counted = |keeping: Keeping| Some((self.count(keeping), keeping.name())).filter(|(count, _)| *count > 0);
        let counts: Vec<String> = [Keeping::Kept, Keeping::Open, Keeping::Broken]
            .into_iter()
            .filter_map(counted)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if counts.is_empty() { "none found".to_owned() } else { counts.join(", ") }
    }
}

/// A path, in quotes if it would be read as something else.
fn quoted(path: &str) -> Cow<'_, str> {
    let is_odd = path.contains(": ")
        || path.contains('#')
        || path.chars().any(char::is_control)
        || path.starts_with(|it: char| it.is_whitespace() || "\"*".contains(it));
    if is_odd { Cow::Owned(serde_json::Value::from(path).to_string()) } else { Cow::Borrowed(path) }
}

/// A text on one line, without what stands for a comment.
fn clean(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect()
}

/// The assumptions without lines, which change whenever something is written above them; each once.
fn assumptions(contract: &Contract) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for assumption in &contract.assumptions {
        let text = match assumption.text.rsplit_once(" (line ") {
            Some((text, line)) if line.trim_end_matches(')').parse::<u32>().is_ok() => text,
            _ => &assumption.text,
        };
        if !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    }
    found.sort();
    found
}

#[derive(Serialize)]
struct TableJson<'r> {
    schema: &'static str,
    contracts: Vec<RowJson<'r>>,
}

#[derive(Serialize)]
struct RowJson<'r> {
    path: &'r str,
    /// As the text has it: `rows<float>`, `rows@2`.
    kernel: &'r str,
    name: &'r str,
    template_args: &'r [String],
    line: u32,
    /// `contract`, `any-launch` or `not-known`.
    asks: &'static str,
    contract: Vec<ConditionJson<'r>>,
    assumptions: Vec<String>,
    launches: LaunchesJson,
}

#[derive(Serialize)]
struct ConditionJson<'r> {
    text: &'r str,
    kind: &'static str,
}

#[derive(Serialize)]
struct LaunchesJson {
    kept: usize,
    open: usize,
    broken: usize,
}

impl<'r> RowJson<'r> {
    fn of(row: &'r Row<'_>) -> Self {
        let contract = match row.asks {
            Asks::Contract(contract) => Some(contract),
            Asks::Nothing | Asks::NotKnown(_) => None,
        };
        let conjuncts = contract.into_iter().flat_map(Contract::to_keep);
        RowJson {
            path: &row.path,
            kernel: &row.name,
            name: &row.kernel.name,
            template_args: &row.kernel.template_args,
            line: row.kernel.line,
            asks: row.asks.word(),
            contract: conjuncts.map(|it| ConditionJson { text: &it.text, kind: it.kind.name() }).collect(),
            assumptions: contract.map_or_else(Vec::new, assumptions),
            launches: LaunchesJson {
                kept: row.count(Keeping::Kept),
                open: row.count(Keeping::Open),
                broken: row.count(Keeping::Broken),
            },
        }
    }
}
