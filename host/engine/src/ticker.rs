//! The clock that ends calls that take too long.

use std::time::Duration;

use crate::LoadError;

/// Time between two ticks. Short against every deadline, and 200 wake-ups a second do not show on a processor.
const TICK: Duration = Duration::from_millis(5);

/// Advance the epoch of this engine for as long as it lives.
pub(crate) fn start(engine: &wasmtime::Engine) -> Result<(), LoadError> {
    let engine = engine.weak();
    std::thread::Builder::new()
        .name("counterfoil-tick".to_owned())
        .spawn(move || {
            while let Some(engine) = engine.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })
        .map_err(|error| LoadError::Sandbox { reason: error.to_string() })?;
    Ok(())
}

/// The number of ticks after which this much time has surely passed.
pub(crate) fn ticks(time: Duration) -> u64 {
    let whole = time.as_nanos().div_ceil(TICK.as_nanos());
    // The tick that is under way may end at once.
    u64::try_from(whole).unwrap_or(u64::MAX / 2).min(u64::MAX / 2) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_never_comes_early() {
        assert_eq!(ticks(Duration::ZERO), 1);
        assert_eq!(ticks(Duration::from_millis(5)), 2);
        assert_eq!(ticks(Duration::from_millis(6)), 3);
        assert_eq!(ticks(Duration::MAX), u64::MAX / 2 + 1);
    }
}
