//! How long a receipt takes to be durable, and how many share a flush.
//!
//! `cargo bench -p counterfoil-evidence` measures in a temporary folder; `-- DIR` measures on the disk that `DIR` is on. The native
//! core signs, so this is the disk's share of a call.
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on has nothing to say")]
#![expect(clippy::panic, clippy::indexing_slicing, reason = "shared with the tests")]
#![expect(clippy::print_stdout, reason = "this is what a measurement is for")]

#[path = "../tests/evidence/workbench.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod workbench;

use counterfoil_evidence::{Run, RunStatus, StateDir, runs};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use workbench::{Bench, entry};

fn main() {
    // Cargo passes `--bench`.
    let place = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let place = place.unwrap_or_else(|| std::env::temp_dir().display().to_string());
    println!("callers  entries  flushes  p50 µs  p99 µs  max µs  entries/s");
    for (callers, each) in [(1, 2000), (8, 500), (64, 100)] {
        let dir = tempfile::tempdir_in(&place).unwrap();
        let state = StateDir::at(dir.path().join(".roam"));
        let bench = Bench { dir, state, ..Bench::new() };
        measure(&bench, callers, each);
    }
}

fn measure(bench: &Bench, callers: usize, each: usize) {
    let run = bench.start();
    let taken = Mutex::new(Vec::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..callers {
            scope.spawn(|| {
                let own = call(&run, each);
                taken.lock().unwrap().extend(own);
            });
        }
    });
    let whole = begun.elapsed();
    let mut taken = taken.into_inner().unwrap();
    taken.sort_unstable();
    let at = |share: f64| micros(taken[((taken.len() - 1) as f64 * share) as usize]);
    let stats = run.stats();
    println!(
        "{callers:>7}  {:>7}  {:>7}  {:>6}  {:>6}  {:>6}  {:>9.0}",
        stats.entries,
        stats.flushes,
        at(0.5),
        at(0.99),
        at(1.0),
        taken.len() as f64 / whole.as_secs_f64(),
    );
    run.end(RunStatus::Completed).unwrap();
    let begun = Instant::now();
    let verdict = runs::verify(&bench.state, run.id().as_str(), &bench.authority);
    assert_eq!(verdict.exit_code(), 0, "{verdict:#?}");
    println!("         verified strictly in {} µs", micros(begun.elapsed()));
}

fn call(run: &Run, times: usize) -> Vec<Duration> {
    let entries: Vec<_> = (0..times).map(|_| entry(run.id())).collect();
    entries
        .into_iter()
        .map(|entry| {
            let begun = Instant::now();
            run.record(entry).unwrap();
            begun.elapsed()
        })
        .collect()
}

const fn micros(time: Duration) -> u128 {
    time.as_micros()
}
