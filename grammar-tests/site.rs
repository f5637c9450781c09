//! The report as a site, through the real binary and in a real browser (Chromium, without a screen).

use crate::cli::{Place, Seen};
use crate::support::tools;
use std::fs::{read_dir, read_to_string};
use std::process::Command;

const PLAIN: [&str; 5] = ["--front", "tree-sitter", "--solver", "none", "--no-cache"];

fn check(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["check"], arguments, &PLAIN].concat())
}

const RACY: &str = "__global__ void shift(int *x) { x[threadIdx.x] = x[threadIdx.x + 1]; }\n";
const FREE: &str = "__global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 0; }\n\
                    __global__ void copy(int *x, const int *y) { x[threadIdx.x] = y[threadIdx.x]; }\n";

/// What a page is after a script ran behind its own.
fn after(place: &Place, page: &str, script: &str) -> String {
    let text = read_to_string(place.path().join(page)).expect("the page");
    let changed =
        text.replace("</body>", &format!("<script>addEventListener('load', () => {{ {script} }});</script></body>"));
    let copy = format!("{page}.changed.html");
    place.put(&copy, changed.as_bytes());
    let profile = place.path().join("profile");
    let shown = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", place.path().join(&copy).display()))
        .output()
        .expect("chromium is there");
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    String::from_utf8(shown.stdout).expect("text")
}

/// The names in the table, in its order, of rows that are shown.
fn rows(dom: &str) -> Vec<String> {
    let rows =
        dom.split("<tr data-race=").skip(1).filter(|row| !row.split('>').next().unwrap_or("").contains("hidden"));
    rows.filter_map(|row| Some(row.split(".html\">").nth(1)?.split('<').next()?.to_owned())).collect()
}

#[test]
fn a_browser_sorts_filters_and_moves_the_launch() {
    if !tools::are_used() {
        return;
    }
    let place = Place::with(&[("src/a.cu", RACY), ("src/b.cu", FREE)]);
    let seen = check(&place, &["src", "--html", "site", "--quiet"]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert_eq!(rows(&after(&place, "site/index.html", "")), ["shift", "fill", "copy"]);
    let press = |column: usize| format!("document.querySelectorAll('thead button')[{column}].click();");
    let by_name = after(&place, "site/index.html", &press(0));
    assert_eq!(rows(&by_name), ["copy", "fill", "shift"]);
    assert!(by_name.contains("aria-sort=\"ascending\""));
    // Races are sorted by what has to be looked at first, and the other way round.
    let by_race = after(&place, "site/index.html", &format!("{0}{0}", press(2)));
    assert_eq!(rows(&by_race).last().map(String::as_str), Some("shift"));
    let typed = "const box = document.getElementById('words'); box.value = 'b.cu fi'; \
                 box.dispatchEvent(new Event('input', { bubbles: true }));";
    let filtered = after(&place, "site/index.html", typed);
    assert_eq!(rows(&filtered), ["fill"]);
    assert!(filtered.contains("1 of 3 kernels"), "{filtered}");
    let unchecked = "document.querySelector('input[value=\"race-free\"]').click();";
    assert_eq!(rows(&after(&place, "site/index.html", unchecked)), ["shift"]);
    let page = "site/kernels/0001-shift.html";
    let shown = |dom: &str| -> Vec<bool> {
        let figures = dom.split("<figure class=\"launch\"").skip(1);
        figures.map(|figure| !figure.split('>').next().unwrap_or("").contains("hidden")).collect()
    };
    let one = after(&place, page, "");
    assert_eq!(shown(&one).iter().filter(|&&is_shown| is_shown).count(), 1, "{one}");
    let last = "const slider = document.getElementById('launch'); slider.value = slider.max; \
                slider.dispatchEvent(new Event('input', { bubbles: true }));";
    assert_eq!(shown(&after(&place, page, last)).last(), Some(&true));
}

#[test]
fn a_site_needs_no_network_and_every_link_leads_somewhere() {
    let place = Place::with(&[("src/a.cu", RACY), ("src/b.cu", FREE)]);
    check(&place, &["src", "--html", "site"]).expect(1);
    let pages = read_dir(place.path().join("site/kernels")).expect("pages");
    let mut pages: Vec<String> =
        pages.map(|page| format!("kernels/{}", page.expect("a page").file_name().to_string_lossy())).collect();
    pages.push("index.html".to_owned());
    for name in pages {
        let page = read_to_string(place.path().join("site").join(&name)).expect("text");
        let base = if name.starts_with("kernels/") { "site/kernels" } else { "site" };
        for part in page.split("href=\"").chain(page.split("src=\"")).skip(1) {
            let to = part.split('"').next().unwrap_or_default();
            if to.starts_with('<') || to.is_empty() {
                continue;
            }
            assert!(!to.contains(':') || to.starts_with('#'), "{name} leads to {to}");
            match to.strip_prefix('#') {
                Some(anchor) => assert!(page.contains(&format!("id=\"{anchor}\"")), "{name} has no {anchor}"),
                None if to.contains('\n') => {}
                None => assert!(place.path().join(base).join(to).exists(), "{name} leads to {to}"),
            }
        }
    }
}

#[test]
fn what_is_in_the_way_is_told_before_the_work() {
    let place = Place::with(&[("a.cu", RACY), ("out/notes.txt", "mine")]);
    let seen = check(&place, &["a.cu", "--html", "out"]);
    seen.expect(2).complains("--html: out holds files that are no site of raceproof");
    assert_eq!(read_to_string(place.path().join("out/notes.txt")).expect("still there"), "mine");
}

#[test]
fn what_a_baseline_has_is_no_finding_of_the_site() {
    let place = Place::with(&[("a.cu", RACY)]);
    check(&place, &["a.cu", "--write-baseline", "b.json"]).expect(0);
    check(&place, &["a.cu", "--baseline", "b.json", "--html", "site"]).expect(0);
    let page = read_to_string(place.path().join("site/kernels/0001-shift.html")).expect("a page");
    assert!(!page.contains("class=\"finding"), "{page}");
    assert!(page.contains("1 finding in the baseline"), "{page}");
}
