//! `check --shard` and `merge`: what the shards of a run write is put together to the bytes that one run writes, or an error
//! says what is missing.

use super::{FREE, Place, RACY, Seen, UNKNOWN};
use crate::support::tier::Tier;
use std::fs;

/// A header with a race, which several units include: it is told once, in whichever shard they are.
const SHARED: &str = "template <int N> __device__ void put(float *y) { y[0] = threadIdx.x + N; }\n\
                      __global__ void in_header(int *y) { y[1] = threadIdx.x; }\n\
                      __global__ void maybe(int *y, const int *at) { y[at[threadIdx.x]] = threadIdx.x; }\n";

/// Files that are judged by each other, and folders of fixtures.
fn tree() -> Place {
    let unit = |name: &str| {
        format!("#include \"shared.cuh\"\n__global__ void {name}(float *y) {{ put<1>(y); }}\n{RACY}{}", super::MENDABLE)
    };
    let place = Place::with(&[
        ("own/a.cu", &unit("a")),
        ("own/b.cu", &unit("b")),
        ("own/c/d.cu", &unit("d").replace("shared.cuh", "../shared.cuh")),
        ("own/c/launches.cu", "__global__ void far(float *y, int n);\nvoid go() { far<<<1, 32>>>(0, 1); }\n"),
        ("own/far.cu", "__global__ void far(float *y, int n) { y[threadIdx.x / n] = threadIdx.x; }\n"),
        ("own/free.cu", FREE),
        ("own/host.cu", "int main() { return 0; }\n"),
        (
            "own/parts.cuh",
            "__global__ void part(float *y) { if (threadIdx.x < LIMIT) y[blockIdx.x * LIMIT + threadIdx.x] = 1; }\n",
        ),
        ("own/shared.cuh", SHARED),
        ("own/unknown.cu", UNKNOWN),
        ("own/whole.cu", "#define LIMIT 64\n#include \"parts.cuh\"\nint main() { return 0; }\n"),
    ]);
    let many: &[&str] = if Tier::current() == Tier::Full { &["idioms", "traps", "warps"] } else { &[] };
    for folder in ["soundness", "stencils", "tickets"].iter().chain(many) {
        let from = format!("{}/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            place.put(&format!("{folder}/{}", entry.file_name().unwrap().to_str().unwrap()), &fs::read(entry).unwrap());
        }
    }
    place
}

/// The names of the reports of all shards.
fn shards(place: &Place, of: usize, format: &str, more: &[&str]) -> Vec<String> {
    let one = |number: usize| {
        let share = format!("{number}/{of}");
        let seen =
            place.run(&[&["check", ".", "--solver", "none", "--shard", &share, "--format", format], more].concat());
        let name = format!("{number}-of-{of}.{format}");
        place.put(&name, seen.out.as_bytes());
        name
    };
    (1..=of).map(one).collect()
}

fn merge(place: &Place, reports: &[String], more: &[&str]) -> Seen {
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    place.run(&[&["merge"], reports.as_slice(), more].concat())
}

#[test]
fn shards_become_the_bytes_of_one_run() {
    let place = tree();
    for format in ["json", "sarif"] {
        let whole = place.run(&["check", ".", "--solver", "none", "--format", format]).expect(1);
        if format == "json" {
            assert!(whole.out.contains("\"repeats\":") && whole.out.contains("\"also_in\":"), "nothing is told once");
        }
        for of in [1, 3, 7] {
            let mut reports = shards(&place, of, format, &[]);
            reports.reverse();
            let merged = merge(&place, &reports, &[]).expect(1);
            assert!(merged.out == whole.out, "{format}, {of} shards: {:?}", first_difference(&merged.out, &whole.out));
        }
    }
}

/// Where two texts part, with what stands there.
fn first_difference(one: &str, other: &str) -> Option<(String, String)> {
    let at = one.bytes().zip(other.bytes()).position(|(one, other)| one != other)?;
    let part = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(200)..text.len().min(at + 80)]).into_owned()
    };
    Some((part(one), part(other)))
}

#[test]
fn more_shards_than_files_are_merged_and_the_exit_code_is_that_of_the_run() {
    let place = Place::with(&[("free.cu", FREE), ("odd.cu", UNKNOWN)]);
    let check = ["check", ".", "--solver", "none", "--format", "json"];
    let whole = place.run(&check).expect(0);
    let reports = shards(&place, 5, "json", &[]);
    assert_eq!(merge(&place, &reports, &[]).expect(0).out, whole.out);
    merge(&place, &reports, &["--fail-on", "unknown"]).expect(1);
    let seen = merge(&place, &reports, &["-o", "all.json"]).expect(0);
    assert_eq!((seen.out.as_str(), fs::read_to_string(place.path().join("all.json")).unwrap()), ("", whole.out));
    // What one shard has, the run has; what none has is an error of the run.
    let reports = shards(&place, 2, "json", &["--kernel", "free_k"]);
    merge(&place, &reports, &[]).expect(0);
    let reports = shards(&place, 2, "json", &["--kernel", "nobody", "--param", "n=1"]);
    merge(&place, &reports, &[]).expect(2).complains("no kernel named `nobody`").complains("parameter named `n`");
    // A file that cannot be read costs the same exit code.
    fs::create_dir(place.path().join("folder")).unwrap();
    let reports = shards(&place, 2, "json", &["missing.cu"]);
    merge(&place, &reports, &[]).expect(2).complains("a path gave no file");
}

#[test]
fn what_is_no_share_is_refused() {
    let place = Place::with(&[("free.cu", FREE)]);
    for wrong in ["0/4", "5/4", "a/b", "3", "1/0"] {
        let seen = place.run(&["check", ".", "--format", "json", "--shard", wrong]).expect(2);
        assert!(seen.err.contains("--shard <K/N>"), "{wrong}: {}", seen.err);
    }
    place.run(&["check", ".", "--shard", "1/2"]).expect(2).complains("add --format json or --format sarif");
    place.run(&["check", "-", "--format", "json", "--shard", "1/2"]).expect(2).complains("standard input");
    for option in [&["--fix"][..], &["--reproduce", "races"], &["--max-findings", "3"]] {
        let check = [&["check", ".", "--format", "json", "--shard", "1/2"], option].concat();
        place.run(&check).expect(2).complains("cannot be used with");
    }
}

#[test]
fn shards_that_do_not_make_a_run_are_refused() {
    let place = Place::with(&[("a.cu", FREE), ("b.cu", RACY), ("c.cu", UNKNOWN)]);
    let three = shards(&place, 3, "json", &[]);
    merge(&place, &three[..2], &[]).expect(2).complains("shard of 3 not given: 3;");
    merge(&place, &[three[0].clone()], &[]).expect(2).complains("shards of 3 not given: 2, 3;");
    let twice = [&three[..], &three[1..2]].concat();
    merge(&place, &twice, &[]).expect(2).complains("it is shard 2/3, as 2-of-3.json is");
    let two = shards(&place, 2, "json", &[]);
    let mixed = [three[0].clone(), two[1].clone()];
    merge(&place, &mixed, &[]).expect(2).complains("2-of-2.json: it is shard 2/2, and 1-of-3.json is one of 3");
    let sarif = shards(&place, 3, "sarif", &[]);
    merge(&place, &[three[0].clone(), sarif[1].clone(), three[2].clone()], &[]).expect(2).complains("another format");
    let with = |reports: Vec<String>| {
        let kept = fs::read(place.path().join(&reports[1])).unwrap();
        place.put("other.json", &kept);
        shards(&place, 3, "json", &[]);
        merge(&place, &[three[0].clone(), "other.json".to_owned(), three[2].clone()], &[]).expect(2)
    };
    with(shards(&place, 3, "json", &["--level", "block"]))
        .complains("other.json: it is of another run than 1-of-3.json: other options");
    place.put("b.cu", FREE.as_bytes());
    let changed = shards(&place, 3, "json", &[]);
    place.put("b.cu", RACY.as_bytes());
    with(changed).complains("other files, or other text in them");
    let text = fs::read_to_string(place.path().join(&three[1])).unwrap();
    place.put("2-of-3.json", text.replace("\"unfinished\":0", "\"unfinished\":1").as_bytes());
    merge(&place, &three, &[]).expect(2).complains("shard 2/3 was interrupted, and 1 of its files were not checked");
    place.put("2-of-3.json", text.replace(env!("CARGO_PKG_VERSION"), "0.0.1").as_bytes());
    merge(&place, &three, &[]).expect(2).complains("another run than 1-of-3.json: raceproof 0.0.1");
    place.put("2-of-3.json", &text.as_bytes()[..text.len() / 2]);
    merge(&place, &three, &[]).expect(2).complains("2-of-3.json: it is damaged");
}

#[test]
fn what_is_no_report_of_a_shard_is_refused() {
    let place = Place::with(&[("a.cu", FREE), ("other.json", "{\"results\": []}\n"), ("text.json", "racy\n")]);
    for format in ["json", "sarif"] {
        let whole = place.run(&["check", ".", "--format", format]).out;
        place.put("whole.json", whole.as_bytes());
        place.run(&["merge", "whole.json"]).expect(2).complains("the report of a whole run");
    }
    place.run(&["merge", "other.json"]).expect(2).complains("other.json: it is no report of raceproof");
    place.run(&["merge", "text.json"]).expect(2).complains("text.json: it is damaged");
    place.run(&["merge", "gone.json"]).expect(2).complains("cannot read gone.json");
    place.run(&["merge"]).expect(2);
    // A shard is no whole report, and says so.
    let shard = place.run(&["check", ".", "--format", "json", "--shard", "1/1"]).expect(0);
    assert!(shard.out.starts_with("{\"schema\":\"raceproof.shard.v1\","), "{}", shard.out);
}
