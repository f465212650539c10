//! How many instances live at once, and waiting for one to end.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Refusal;

/// The places for instances.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Slots>);

impl Slots {
    pub(crate) fn new(count: u32) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new(count), freed: Condvar::new() })
    }

    /// Take a place, waiting for at most this long.
    pub(crate) fn take(self: &Arc<Self>, wait: Duration) -> Result<Slot, Refusal> {
        // A panic cannot leave the counter half changed, so a poisoned lock is as good as any.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            let begin = Instant::now();
            (free, _) =
                self.freed.wait_timeout_while(free, wait, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
            if *free == 0 {
                return Err(Refusal::Busy { waited: begin.elapsed() });
            }
        }
        *free -= 1;
        Ok(Slot(Arc::clone(self)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_refuses_after_the_wait_and_serves_again_when_a_place_is_freed() {
        let slots = Slots::new(1);
        let held = slots.take(Duration::ZERO).unwrap();
        let begin = Instant::now();
        let refused = slots.take(Duration::from_millis(30)).unwrap_err();
        assert_eq!(refused.code(), "busy");
        assert!(begin.elapsed() >= Duration::from_millis(30));
        drop(held);
        slots.take(Duration::ZERO).unwrap();
    }

    #[test]
    fn a_waiting_call_gets_the_place_that_is_freed() {
        let slots = Slots::new(1);
        let held = slots.take(Duration::ZERO).unwrap();
        let waiting = {
            let slots = Arc::clone(&slots);
            std::thread::spawn(move || slots.take(Duration::from_secs(10)).is_ok())
        };
        std::thread::sleep(Duration::from_millis(20));
        drop(held);
        assert!(waiting.join().unwrap());
    }
}
