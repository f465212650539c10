//! Time as the host measures it. Policy never sees it.

use std::time::Instant;

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    begun: Instant,
}

impl Stopwatch {
    /// Begin to measure.
    #[must_use]
    pub fn start() -> Self {
        Self { begun: Instant::now() }
    }

    /// Whole milliseconds since the start.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
