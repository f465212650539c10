//! Measuring in turns, and the table.

use std::time::{Duration, Instant};

/// Time that one row may take.
const BUDGET: Duration = Duration::from_millis(900);
/// Most turns of one row.
const TURNS: usize = 3000;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) fresh: Duration,
    pub(crate) warm: Option<Duration>,
    pub(crate) native: Option<Duration>,
}

/// The medians of several things to do, each done once a turn, so that a slow moment of the machine meets all of them.
pub(crate) fn medians<const N: usize>(mut things: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(TURNS));
    let begin = Instant::now();
    while begin.elapsed() < BUDGET && times.first().is_some_and(|times| times.len() < TURNS) {
        for (thing, times) in things.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            thing();
            times.push(begin.elapsed());
        }
    }
    times.map(middle)
}

/// The median of one thing to do.
pub(crate) fn median(mut thing: impl FnMut()) -> Duration {
    let [median] = medians([&mut thing]);
    median
}

/// The middle one.
pub(crate) fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn heading() {
    println!(
        "{:<26} {:>9} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11}",
        "", "bytes", "fresh", "warm", "native", "fresh-warm", "warm/native", "fresh MB/s"
    );
}

pub(crate) fn print(row: &Row) {
    let ratio = match (row.warm, row.native) {
        (Some(warm), Some(native)) => format!("{:.2}", warm.as_secs_f64() / native.as_secs_f64()),
        _ => String::new(),
    };
    println!(
        "{:<26} {:>9} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11}",
        row.name,
        row.bytes,
        micros(Some(row.fresh)),
        micros(row.warm),
        micros(row.native),
        micros(row.warm.map(|warm| row.fresh.saturating_sub(warm))),
        ratio,
        if row.bytes == 0 { String::new() } else { format!("{:.0}", row.bytes as f64 / row.fresh.as_secs_f64() / 1e6) },
    );
}

fn micros(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{:.1} µs", time.as_secs_f64() * 1e6))
}
