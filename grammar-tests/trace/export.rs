//! Tables of logs: the query of `docs/LOGS.md` finds in them what `trace check` finds, and their columns are those of the
//! page. What asks them is DuckDB, in the Python that `RACEPROOF_PYTHON` names; `scripts/test` installs it.

use super::shards::{PROGRAM, logged};
use crate::cli::Place;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

const PAGE: &str = include_str!("../../docs/LOGS.md");

/// Prints the rows of the query, and the columns of every table.
const ASK: &str = r#"
import duckdb, glob, json, pathlib, sys
names = ["launches", "allocations", "sites", "accesses", "synchronisations"]
tables = {name: f"tables/{name}.parquet" for name in names}
def all(query): return duckdb.sql(query).fetchall()
print(json.dumps({
    "conflicts": all(sys.argv[1]),
    "columns": {name: [row[:3:2] + row[3:4] for row in all(f"SELECT name, type, converted_type, repetition_type FROM parquet_schema('{path}')")[1:]] for name, path in tables.items()},
    "schemas": [row[0].decode() for path in tables.values() for row in all(f"SELECT value FROM parquet_kv_metadata('{path}') WHERE key = 'raceproof.schema'")],
    "codecs": sorted({row[0] for path in tables.values() for row in all(f"SELECT compression FROM parquet_metadata('{path}')")}),
    "rows": {name: all(f"SELECT count(*) FROM '{path}'")[0][0] for name, path in tables.items()},
    "is_sorted": all("SELECT coalesce(bool_and(key >= before), true) FROM (SELECT (launch, CASE space WHEN 'global' THEN 0 WHEN 'constant' THEN 1 WHEN 'shared' THEN 2 WHEN 'managed' THEN 3 ELSE 4 END, address) AS key, lag(key) OVER (ORDER BY file_row_number) AS before FROM read_parquet('tables/accesses.parquet', file_row_number = true)) WHERE before IS NOT NULL")[0][0],
    "left": sorted(path.name for path in pathlib.Path("tables").iterdir()),
}))
"#;

fn python() -> PathBuf {
    std::env::var_os("RACEPROOF_PYTHON").map(PathBuf::from).unwrap_or_else(|| {
        panic!("RACEPROOF_PYTHON does not name a Python that has duckdb: run scripts/test, which installs it")
    })
}

/// The query as it stands in the page.
fn query() -> &'static str {
    let query = PAGE.split("```sql\n").nth(1).expect("the page has a query");
    query.split("```").next().expect("the query has an end")
}

fn export(place: &Place, log: &str, more: &[&str]) -> Output {
    let mut command = place.command(&["trace", "export", "--format", "parquet", log, "tables"]);
    command.args(more).output().expect("raceproof runs")
}

fn asked(place: &Place) -> Value {
    let mut command = std::process::Command::new(python());
    let output = command.args(["-c", ASK, query()]).current_dir(place.path()).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// A conflict: whether it is between blocks, and both sites with their lines.
type Pair = (bool, [(u64, u64); 2]);

fn by_query(answer: &Value) -> BTreeSet<Pair> {
    let conflicts = answer["conflicts"].as_array().expect("there are rows");
    let pair = |row: &Value| {
        let number = |at: usize| row[at].as_u64().expect("it is a number");
        assert_eq!(row[8], true, "nothing in the program orders by atomics");
        (row[0] == "grid", [(number(1), number(4)), (number(2), number(6))])
    };
    conflicts.iter().map(pair).collect()
}

fn by_check(place: &Place, log: &str) -> BTreeSet<Pair> {
    let output = place.command(&["trace", "check", log, "--format", "json"]).output().expect("raceproof runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let findings = report["findings"].as_array().expect("there are findings");
    let pair = |finding: &Value| {
        let mut sites = ["primary", "secondary"].map(|which| {
            let place = &finding[which];
            (place["site"].as_u64().expect("a number"), place["line"].as_u64().expect("a number"))
        });
        sites.sort_unstable();
        (finding["level"] == "grid", sites)
    };
    findings.iter().map(pair).collect()
}

#[test]
fn the_query_of_the_page_finds_what_the_check_finds() {
    let more = "\n__global__ void mixed(int* all, char* bytes) {
    int i = threadIdx.x;
    bytes[i] = 1;                                   // neighbours, in one cell of the query
    if (i % 2) ((short*)bytes)[64 + i] = 1;
    if (i == 3) *(int*)(bytes + 16) = 7;            // overlaps four of them
    atomicAdd_block(&all[0], 1);                    // of other blocks, too
    atomicAdd(&all[1], 1);
    if (i == 5) all[1] = 0;
    all[32 + i] = i;
    __syncwarp();
    all[32 + (i ^ 1)] = i;
    __syncthreads();
    all[32 + 64 * blockIdx.x + i] = all[31];
}\n";
    let launch = "    mixed<<<2, 64>>>((int*)first, (char*)second);\n    cudaDeviceSynchronize();";
    let (head, main) = PROGRAM.split_once("int main").expect("there is a main");
    let main = main.replace("    cudaDeviceSynchronize();", launch);
    let place = logged(&format!("{head}{more}\nint main{main}"));
    let output = export(&place, "run.trace", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (answer, expected) = (asked(&place), by_check(&place, "run.trace"));
    assert!(expected.len() >= 8, "{expected:#?}");
    assert_eq!(by_query(&answer), expected);
    assert_eq!(answer["codecs"], serde_json::json!(["ZSTD"]));
    assert_eq!(answer["schemas"], serde_json::json!(vec!["raceproof.log.v1"; 5]));
    assert_eq!(answer["is_sorted"], true);
    assert_eq!(answer["left"].as_array().map(Vec::len), Some(5), "{}", answer["left"]);
    let info = place.command(&["trace", "info", "run.trace", "--format", "json"]).output().expect("raceproof runs");
    let info: Value = serde_json::from_slice(&info.stdout).expect("it is JSON");
    assert_eq!((&answer["rows"]["accesses"], &answer["rows"]["launches"]), (&info["accesses"], &3.into()));
}

/// The columns of the page: table, column and type.
fn of_page() -> BTreeSet<[String; 3]> {
    let mut table = "";
    let mut columns = BTreeSet::new();
    for line in PAGE.lines() {
        if line.starts_with('`') {
            table = line.split('`').nth(1).unwrap_or_default();
        }
        if let Some((name, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once("` | ")) {
            let kind = rest.split(" |").next().unwrap_or_default();
            columns.insert([table, name, kind].map(str::to_owned));
        }
    }
    columns
}

#[test]
fn the_page_has_every_column_and_its_type() {
    let place = logged(PROGRAM);
    assert_eq!(export(&place, "run.trace", &[]).status.code(), Some(0));
    let answer = asked(&place);
    let mut columns = BTreeSet::new();
    for (table, found) in answer["columns"].as_object().expect("there are tables") {
        for column in found.as_array().expect("there are columns") {
            let kind = match column[1].as_str() {
                Some("UINT_32") => "u32",
                Some("UINT_64") => "u64",
                Some("UTF8") => "text",
                _ => "i64",
            };
            let may_lack = if column[2] == "OPTIONAL" { "?" } else { "" };
            let name = column[0].as_str().expect("a column has a name");
            columns.insert([table.clone(), name.to_owned(), format!("{kind}{may_lack}")]);
        }
    }
    assert_eq!(columns, of_page());
}

#[test]
fn the_same_log_gives_the_same_tables_and_an_incomplete_one_gives_none() {
    let place = logged(PROGRAM);
    let files = || {
        let read = |name| std::fs::read(place.path().join("tables").join(name)).expect("the table is there");
        ["accesses.parquet", "launches.parquet", "sites.parquet"].map(read)
    };
    assert_eq!(export(&place, "run.trace", &[]).status.code(), Some(0));
    let first = files();
    assert_eq!(export(&place, "run.trace", &["--memory", "64M", "--jobs", "2"]).status.code(), Some(0));
    assert!(first == files());
    let log = std::fs::read(place.path().join("run.trace")).expect("it is there");
    place.put("cut.trace", &log[..log.len() - 1]);
    let output = export(&place, "cut.trace", &[]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the log is incomplete (the log is cut off"), "{told}");
    assert!(first == files());
}
