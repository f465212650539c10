//! What one call may cost.

use std::time::Duration;

const MIB: usize = 1 << 20;

/// What one call may cost, and how many may run at once.
///
/// The bounds of a call grow with its input, so a small call that goes astray is stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes that the texts of one question may have together. Default: 16 MiB.
    pub max_input_bytes: usize,
    /// The same for questions about a ledger, which takes in all its lines and receipts. Default: 64 MiB.
    pub max_ledger_bytes: usize,
    /// Memory of an instance, in bytes, whatever the input. Default: 64 MiB.
    pub memory_base: usize,
    /// Memory of an instance that comes to it for each byte of input. Default: 16.
    pub memory_per_input_byte: usize,
    /// Time for a call, whatever the input. Default: 1 s. A call is stopped at most 10 ms later.
    pub deadline_base: Duration,
    /// Time that comes to it for each MiB of input, a part counting in proportion. Default: 500 ms.
    pub deadline_per_mib: Duration,
    /// Instances that may live at once, those of sessions and streams counted in. At least 1. Default: 64.
    pub max_instances: u32,
    /// How long a call waits for another to end when all instances are taken. Default: 2 s.
    pub wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_input_bytes: 16 * MIB,
            max_ledger_bytes: 64 * MIB,
            memory_base: 64 * MIB,
            memory_per_input_byte: 16,
            deadline_base: Duration::from_secs(1),
            deadline_per_mib: Duration::from_millis(500),
            max_instances: 64,
            wait: Duration::from_secs(2),
        }
    }
}

impl Limits {
    /// Memory, in bytes, that an instance may have for an input of this size.
    pub(crate) fn memory(&self, input: usize) -> usize {
        self.memory_base.saturating_add(self.memory_per_input_byte.saturating_mul(input)).min(LARGEST_MEMORY)
    }

    /// The most that [`Limits::memory`] gives for an input that is let in.
    pub(crate) fn largest_memory(&self) -> usize {
        self.memory(self.max_input_bytes.max(self.max_ledger_bytes))
    }

    /// Time for a call with an input of this size.
    pub(crate) fn deadline(&self, input: usize) -> Duration {
        let mebibytes = u32::try_from(input.div_ceil(MIB / 64)).unwrap_or(u32::MAX);
        self.deadline_base.saturating_add(self.deadline_per_mib.saturating_mul(mebibytes) / 64)
    }
}

/// A 32-bit memory ends here.
const LARGEST_MEMORY: usize = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_grows_in_proportion_to_the_input() {
        let limits = Limits::default();
        assert_eq!(limits.deadline(0), Duration::from_secs(1));
        assert_eq!(limits.deadline(MIB), Duration::from_millis(1500));
        assert_eq!(limits.deadline(MIB / 2), Duration::from_millis(1250));
        assert!(limits.deadline(1) < Duration::from_millis(1010));
    }

    #[test]
    fn bounds_of_a_huge_input_do_not_overflow() {
        let limits = Limits { deadline_per_mib: Duration::MAX, ..Limits::default() };
        assert_eq!(limits.memory(usize::MAX), LARGEST_MEMORY);
        assert!(limits.deadline(usize::MAX) > Duration::from_secs(1));
    }
}
