//! How long the rest of a run may take, from what is done and what files weigh.
//!
//! Files differ in cost by orders of magnitude, so that counting them says little. What costs is kernels: the [`weight`] of a
//! file is the text of its functions for the device, and a little for the file itself. The rate is measured: what has been
//! done so far, by the time that it took.
//!
//! Guarantees: nothing is said before a tenth is done; of the recorded run below it is right within a factor of two from then
//! on. Deliberately absent: what one kernel takes, which its text does not tell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a file weighs that has no function for the device: it is read all the same.
const OF_A_FILE: u64 = 300;

/// The part of the work that has to be done before anything is said: one in so many.
const SAYS_FROM: u64 = 10;

/// The words that a function for the device begins with.
const OF_DEVICE: [&[u8]; 4] = [b"__global__", b"__device__", b"__kernel", b"kernel void"];

/// What is done, and what all of it weighs.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimate {
    weights: BTreeMap<PathBuf, u64>,
    whole: u64,
    done: u64,
    count: usize,
}

impl Estimate {
    /// Of files with what they weigh.
    pub(super) fn of(files: impl Iterator<Item = (PathBuf, u64)>) -> Estimate {
        let weights: BTreeMap<PathBuf, u64> = files.collect();
        Estimate { whole: weights.values().sum(), weights, done: 0, count: 0 }
    }

    /// These are done.
    pub(super) fn done(&mut self, files: impl Iterator<Item = PathBuf>) {
        for file in files {
            self.count += 1;
            self.done += self.weights.remove(&file).unwrap_or(0);
        }
    }

    /// What all files weigh.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// What those weigh that are done.
    pub(super) fn position(&self) -> u64 {
        self.done
    }

    /// How many are done.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What the rest may take, if that can be told.
    pub(super) fn left(&self, elapsed: Duration) -> Option<Duration> {
        let tells = self.done > 0 && self.done * SAYS_FROM >= self.whole;
        tells.then(|| elapsed.mul_f64((self.whole - self.done) as f64 / self.done as f64))
    }
}

/// What a file weighs.
pub(super) fn weight(text: &[u8]) -> u64 {
    let mut weight = OF_A_FILE;
    let mut at = 0;
    while let Some(found) = next_of_device(&text[at..]) {
        let (skipped, body) = body(&text[at + found..]);
        weight += body as u64;
        at += found + skipped + body;
    }
    weight
}

/// The end of the next word that a function for the device begins with.
fn next_of_device(text: &[u8]) -> Option<usize> {
    (0..text.len()).find_map(|at| {
        let word = OF_DEVICE.iter().find(|word| text[at..].starts_with(word))?;
        Some(at + word.len())
    })
}

/// How far away the braces of a function are, and how much stands in them: nothing, if it is only declared.
fn body(head: &[u8]) -> (usize, usize) {
    let Some(open) = head.iter().position(|byte| matches!(byte, b'{' | b';')) else { return (head.len(), 0) };
    if head[open] == b';' {
        return (open, 0);
    }
    let mut depth = 0_usize;
    let close = head[open..].iter().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    (open, close.unwrap_or(head.len() - open))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each file of cuda-samples, in their order, what it weighs and the milliseconds that it took (two cores, tree-sitter, no
    /// solver).
    const RECORDED: &str = include_str!("estimate/recorded.txt");

    /// The times at which the files were done, on two threads that each begin in a half of them and help each other.
    fn schedule(files: &[(u64, u64)]) -> Vec<(u64, usize)> {
        let half = files.len() / 2;
        let mut open = [(0..half).collect::<Vec<_>>(), (half..files.len()).collect()];
        let (mut now, mut ends) = ([0, 0], Vec::new());
        while open.iter().any(|open| !open.is_empty()) {
            let mut thread = usize::from(now[1] < now[0]);
            if open[thread].is_empty() {
                let kept = open[1 - thread].len() / 2;
                open[thread] = open[1 - thread].split_off(kept);
            }
            if open[thread].is_empty() {
                thread = 1 - thread;
            }
            let file = open[thread].remove(0);
            now[thread] += files[file].1;
            ends.push((now[thread], file));
        }
        ends.sort_unstable();
        ends
    }

    #[test]
    fn of_a_recorded_run_the_rest_is_told_within_a_factor_of_two() {
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok()).expect("two numbers");
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            (number(words.next()), number(words.next()))
        };
        let files: Vec<(u64, u64)> = RECORDED.lines().map(line).collect();
        let path = |file: usize| PathBuf::from(file.to_string());
        let mut estimate = Estimate::of(files.iter().enumerate().map(|(at, (weight, _))| (path(at), *weight)));
        let ends = schedule(&files);
        let all = ends.last().expect("there are files").0;
        let mut done = ends.iter().peekable();
        for percent in 1..95 {
            let now = all * percent / 100;
            while let Some((_, file)) = done.next_if(|(end, _)| *end <= now) {
                estimate.done(std::iter::once(path(*file)));
            }
            let Some(left) = estimate.left(Duration::from_millis(now)) else {
                assert!(percent <= 20, "nothing is said at {percent} %");
                continue;
            };
            let ratio = left.as_secs_f64() / Duration::from_millis(all - now).as_secs_f64();
            assert!((0.5..2.0).contains(&ratio), "at {percent} %: {ratio:.2} of what it took");
        }
    }

    #[test]
    fn functions_of_the_device_weigh() {
        let kernel = "__global__ void k(int *x) { if (x) { x[0] = 1; } }\n";
        let host = "int main() { return 0; }\n__device__ int declared(int);\n";
        let inside = weight(kernel.as_bytes()) - OF_A_FILE;
        assert_eq!(inside, "{ if (x) { x[0] = 1; } ".len() as u64);
        assert_eq!(weight(host.as_bytes()), OF_A_FILE);
        assert_eq!(weight(format!("{host}{kernel}{host}{kernel}").as_bytes()), OF_A_FILE + 2 * inside);
        for cut in ["__global__ void k() {", "__kernel", ""] {
            assert!(weight(cut.as_bytes()) >= OF_A_FILE);
        }
    }
}
