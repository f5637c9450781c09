//! What stands on the pages, and where a site is not written.

use super::{Site, SiteError};
use crate::driver::Options;
use crate::driver::options::{Evidence, Pictures};
use crate::driver::parallel::{Input, Run, Unwatched, check_all};
use std::fs;
use std::path::Path;

fn checked(name: &str, text: &str) -> Run {
    let evidence = Evidence { pictures: Pictures::Draw, ..Evidence::default() };
    let options = Options { evidence, ..Options::default() };
    check_all(&[Input::Text(name.into(), text.as_bytes().to_vec())], &options, &Unwatched)
}

fn page(directory: &Path, number: usize) -> String {
    let of_number = |name: &str| name.starts_with(&format!("{number:04}-"));
    let entries = fs::read_dir(directory.join("kernels")).expect("pages").map(|entry| entry.expect("an entry"));
    let found = entries.map(|entry| entry.path()).find(|path| of_number(&path.file_name().unwrap().to_string_lossy()));
    fs::read_to_string(found.expect("the page of that number")).expect("text")
}

const NEIGHBOURS: &str = "__global__ void shifted(float *out, const float *in) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // 1 < 2 && \"quoted\"
}
__global__ void same(int *out) { out[0] = threadIdx.x; }
";

#[test]
fn a_page_shows_intervals_accesses_launches_and_findings() {
    let directory = tempfile::tempdir().expect("a directory");
    let site = Site::open(directory.path()).expect("an empty directory");
    site.write(&checked("a<b>.cu", NEIGHBOURS)).expect("written");
    let index = fs::read_to_string(directory.path().join("index.html")).expect("an index");
    assert!(index.contains("<b>1</b> race-free, <b>1</b> racy"), "{index}");
    assert!(index.contains("a&lt;b&gt;.cu:1") && !index.contains("<b>.cu"));
    let proved = page(directory.path(), 1);
    assert!(proved.contains("<td class=\"interval i1\">1</td><td class=\"number\">3</td>"), "{proved}");
    assert!(proved.contains("<td class=\"interval i2\">2</td><td class=\"number\">5</td>"));
    assert!(proved.contains("1 &lt; 2 &amp;&amp; &quot;quoted&quot;"));
    assert!(proved.contains("<mark class=\"barrier\""));
    assert!(!proved.contains("class=\"cross\" d=\"M9"), "no launch of a proved kernel shows a collision");
    let racy = page(directory.path(), 2);
    assert!(racy.contains("class=\"finding error\"") && racy.contains("collisions at 0"), "{racy}");
    assert!(racy.contains("<a href=\"#f0l7\">"), "places lead to lines");
    assert!(racy.contains("id=\"f0l7\""));
}

#[test]
fn a_directory_with_anything_else_is_refused_and_an_earlier_site_goes() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("thesis.tex"), "years of work").expect("written");
    assert!(matches!(Site::open(directory.path()), Err(SiteError::Occupied(_))));
    let site = directory.path().join("site");
    Site::open(&site).and_then(|site| site.write(&checked("a.cu", NEIGHBOURS))).expect("written");
    assert_eq!(fs::read_dir(site.join("kernels")).expect("pages").count(), 2);
    let one = "__global__ void one(int *x) { x[threadIdx.x] = 1; }";
    Site::open(&site).and_then(|site| site.write(&checked("a.cu", one))).expect("written");
    assert_eq!(fs::read_dir(site.join("kernels")).expect("pages").count(), 1, "no page of the earlier site stays");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let written = || {
        let directory = tempfile::tempdir().expect("a directory");
        Site::open(directory.path()).and_then(|site| site.write(&checked("a.cu", NEIGHBOURS))).expect("written");
        [1, 2].map(|number| page(directory.path(), number))
    };
    assert_eq!(written(), written());
}

#[test]
fn a_file_that_cannot_be_read_in_part_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "__global__ void broken(int *x) { x[ = 1; }";
    Site::open(directory.path()).and_then(|site| site.write(&checked("a.cu", text))).expect("written");
    let index = fs::read_to_string(directory.path().join("index.html")).expect("an index");
    assert!(index.contains("<h2>Files</h2>") && index.contains("a.cu:1"), "{index}");
}
