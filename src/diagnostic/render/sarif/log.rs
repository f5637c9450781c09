//! The part of SARIF's object model that is written, in the order in which it is written.
//!
//! Section numbers are those of the OASIS standard "Static Analysis Results Interchange Format 2.1.0".

use crate::diagnostic::render::json;
use crate::diagnostic::render::uri;
use crate::diagnostic::report::Finding;
use crate::diagnostic::shard::{Origin, Shard};
use crate::source::LineColumn;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A log with one run (3.13, 3.14).
#[derive(Serialize)]
pub(super) struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<ResultJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<BTreeMap<&'static str, Carried<'a>>>,
}

/// The name of the property of a run that says which shard it is.
pub(in crate::diagnostic) const CARRIED: &str = "raceproof/shard";

/// What a shard carries.
#[derive(Serialize, Deserialize)]
pub(in crate::diagnostic) struct Carried<'a> {
    /// The shard itself.
    pub(in crate::diagnostic) shard: Cow<'a, Shard>,
    /// Where the results of the run belong.
    pub(in crate::diagnostic) results: Vec<Origin>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

/// 3.19
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    full_name: &'static str,
    semantic_version: &'static str,
    /// Where the tool is told of, as its package says; not there as long as that says nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    information_uri: &'static str,
    short_description: Message,
    rules: Vec<Rule>,
}

/// 3.49
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    id: &'static str,
    name: String,
    short_description: Message,
    full_description: Message,
    help: Help,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Help {
    text: &'static str,
    markdown: &'static str,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 2],
}

/// 3.27
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultJson {
    pub(super) rule_id: &'static str,
    pub(super) rule_index: usize,
    pub(super) kind: &'static str,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<FixJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<SuppressionJson>,
    #[serde(skip_serializing_if = "Properties::is_empty")]
    pub(super) properties: Properties,
}

/// What has no place in SARIF, as in JSON.
#[derive(Default, Serialize)]
pub(super) struct Properties {
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<&'static str>,
    #[serde(rename = "threadLevel", skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<serde_json::Value>,
}

/// 3.35
#[derive(Serialize)]
pub(super) struct SuppressionJson {
    pub(super) kind: &'static str,
    pub(super) justification: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<Location>,
}

/// 3.55
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixJson {
    pub(super) description: Message,
    pub(super) artifact_changes: [ArtifactChange; 1],
}

/// 3.56
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement>,
}

/// 3.57: an insertion deletes a region without length.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Message,
}

/// 3.11; with the text alone also 3.3, content.
#[derive(Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

/// 3.28
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
}

/// 3.33
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
    pub(super) kind: &'static str,
}

/// 3.29
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

/// 3.4
#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

/// 3.30: lines and columns from 1, the end exclusive.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

impl<'a> Log<'a> {
    pub(super) fn new(rules: Vec<Rule>, results: Vec<ResultJson>, carried: Option<Carried<'a>>) -> Self {
        let driver = Driver {
            name: "raceproof",
            full_name: concat!("raceproof ", env!("CARGO_PKG_VERSION")),
            semantic_version: env!("CARGO_PKG_VERSION"),
            information_uri: env!("CARGO_PKG_REPOSITORY"),
            short_description: Message { text: env!("CARGO_PKG_DESCRIPTION").to_owned() },
            rules,
        };
        Log {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver },
                column_kind: "unicodeCodePoints",
                results,
                properties: carried.map(|carried| BTreeMap::from([(CARRIED, carried)])),
            }],
        }
    }
}

impl Rule {
    /// The name of a rule is an identifier for people, by convention in Pascal case.
    pub(super) fn new(
        id: &'static str,
        name: String,
        summary: String,
        page: &'static str,
        level: &'static str,
    ) -> Rule {
        let first = summary.split_inclusive(". ").next().unwrap_or(&summary).trim().to_owned();
        Rule {
            id,
            name,
            short_description: Message { text: first },
            full_description: Message { text: summary },
            help: Help { text: page, markdown: page },
            default_configuration: Configuration { level },
            properties: RuleProperties { tags: ["correctness", "concurrency"] },
        }
    }
}

impl Properties {
    pub(super) fn of(finding: &Finding) -> Properties {
        Properties {
            certainty: Some(finding.certainty.name()),
            level: Some(finding.level.name()),
            array: finding.array.clone(),
            witness: finding.witness.as_ref().and_then(json::witness),
            contents: json::contents(&finding.contents),
        }
    }

    fn is_empty(&self) -> bool {
        self.certainty.is_none()
    }
}

impl Location {
    pub(super) fn at(physical_location: PhysicalLocation, logical: Option<LogicalLocation>) -> Location {
        Location { id: None, physical_location, logical_locations: logical.into_iter().collect(), message: None }
    }
}

impl ArtifactChange {
    pub(super) fn new(path: &Path, replacements: Vec<Replacement>) -> ArtifactChange {
        ArtifactChange { artifact_location: ArtifactLocation { uri: uri::of_path(path) }, replacements }
    }
}

impl PhysicalLocation {
    pub(super) fn new(path: &Path, region: Region) -> PhysicalLocation {
        PhysicalLocation { artifact_location: ArtifactLocation { uri: uri::of_path(path) }, region }
    }
}

impl Region {
    /// A whole line.
    pub(super) fn line(line: u32) -> Region {
        Region { start_line: line.max(1), start_column: None, end_line: None, end_column: None }
    }

    pub(super) fn between(start: LineColumn, end: LineColumn) -> Region {
        Region {
            start_line: start.line,
            start_column: Some(start.column),
            end_line: Some(end.line),
            end_column: Some(end.column),
        }
    }
}
