//! The one thread that appends to a run.
//!
//! While it flushes one batch the next one gathers in the queue, so that many callers share a flush without anybody waiting
//! for a timer.

use crate::chain::Chain;
use crate::error::EvidenceError;
use crate::meta::{RunMeta, RunStatus};
use crate::presence::Presence;
use crate::run::{Entry, Recorded, Stats};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Entries that may wait.
const QUEUE: usize = 4096;
/// Entries that share a flush at most.
const BATCH: usize = 256;
/// Bytes of receipts after which a batch is closed.
const BATCH_BYTES: usize = 4 << 20;

/// How long the writer may be at work without a pause. roam-code gives up waiting for the lock after ten seconds.
const STRETCH: Duration = Duration::from_secs(4);
/// A pause that a writer of roam-code's kind, which tries every 20 ms, cannot miss.
const PAUSE: Duration = Duration::from_millis(25);

type Answer = Box<dyn FnOnce(Result<Recorded, EvidenceError>) + Send>;

/// Whom to tell. Told exactly once, also when the writer dies.
pub struct Done(Option<Answer>);

impl Done {
    fn tell(mut self, result: Result<Recorded, EvidenceError>) {
        self.answer(result);
    }

    fn answer(&mut self, result: Result<Recorded, EvidenceError>) {
        if let Some(answer) = self.0.take() {
            // A caller's mistake must not end the run for all others.
            if catch_unwind(AssertUnwindSafe(|| answer(result))).is_err() {
                tracing::error!("a caller failed while it was told that its receipt is recorded");
            }
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.answer(Err(EvidenceError::Stopped));
    }
}

enum Message {
    Record(Entry, Done),
    End(RunStatus, SyncSender<Result<RunMeta, EvidenceError>>),
}

#[derive(Debug, Default)]
struct Counters {
    entries: AtomicU64,
    flushes: AtomicU64,
    failures: AtomicU64,
    settlings: AtomicU64,
}

/// Handle on the thread.
#[derive(Debug)]
pub struct Writer {
    queue: Option<SyncSender<Message>>,
    counters: Arc<Counters>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread.
    pub fn spawn(chain: Chain, presence: Presence) -> Result<Self, EvidenceError> {
        let (queue, messages) = sync_channel(QUEUE);
        let counters = Arc::new(Counters::default());
        let shared = Arc::clone(&counters);
        let thread = thread::Builder::new()
            .name("counterfoil-ledger".to_owned())
            .spawn(move || {
                let chain = work(chain, &messages, &shared);
                // Only now, since the last turn was taken. A run that could not be ended looks like one whose writer died.
                if !chain.failed_to_end() {
                    presence.take_down();
                }
            })
            .map_err(|error| EvidenceError::io("start", Path::new("the ledger's writer"), error))?;
        Ok(Self { queue: Some(queue), counters, thread: Mutex::new(Some(thread)) })
    }

    /// Records an entry and waits for it.
    pub fn record(&self, entry: Entry) -> Result<Recorded, EvidenceError> {
        let (sender, receiver) = sync_channel(1);
        let done = Done(Some(Box::new(move |result| {
            let _ = sender.send(result);
        })));
        let Some(queue) = &self.queue else {
            return Err(EvidenceError::Stopped);
        };
        // When this fails `done` is dropped and answers.
        let _ = queue.send(Message::Record(entry, done));
        receiver.recv().unwrap_or(Err(EvidenceError::Stopped))
    }

    /// Records an entry and calls back.
    pub fn submit(&self, entry: Entry, done: Answer) {
        let done = Done(Some(done));
        let Some(queue) = &self.queue else { return };
        if let Err(TrySendError::Full(Message::Record(_, done))) = queue.try_send(Message::Record(entry, done)) {
            done.tell(Err(EvidenceError::Busy));
        }
    }

    /// Ends the run and waits for it.
    pub fn end(&self, status: RunStatus) -> Result<RunMeta, EvidenceError> {
        let (sender, receiver) = sync_channel(1);
        let Some(queue) = &self.queue else {
            return Err(EvidenceError::Stopped);
        };
        queue.send(Message::End(status, sender)).map_err(|_| EvidenceError::Stopped)?;
        receiver.recv().unwrap_or(Err(EvidenceError::Stopped))
    }

    /// What has been done so far.
    pub fn stats(&self) -> Stats {
        Stats {
            entries: self.counters.entries.load(Ordering::Relaxed),
            flushes: self.counters.flushes.load(Ordering::Relaxed),
            failures: self.counters.failures.load(Ordering::Relaxed),
            settlings: self.counters.settlings.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread
            // The last handle may go in a callback.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn work(mut chain: Chain, messages: &Receiver<Message>, counters: &Counters) -> Chain {
    let mut held_back = None;
    let mut rested = Instant::now();
    loop {
        let idle = Instant::now();
        let Some(message) = held_back.take().or_else(|| messages.recv().ok()) else {
            break;
        };
        if idle.elapsed() >= PAUSE {
            rested = Instant::now();
        } else if rested.elapsed() >= STRETCH {
            thread::sleep(PAUSE);
            rested = Instant::now();
        }
        match message {
            Message::End(status, answer) => {
                let _ = answer.send(chain.end(status));
            }
            Message::Record(entry, done) => {
                let mut bytes = entry.receipt.len();
                let (mut entries, mut waiting) = (vec![entry], vec![done]);
                while entries.len() < BATCH && bytes < BATCH_BYTES {
                    match messages.try_recv() {
                        Ok(Message::Record(entry, done)) => {
                            bytes += entry.receipt.len();
                            entries.push(entry);
                            waiting.push(done);
                        }
                        Ok(other) => {
                            held_back = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                commit(&mut chain, &entries, waiting, counters);
            }
        }
        let so_far = chain.counts();
        counters.flushes.store(so_far.flushes, Ordering::Relaxed);
        counters.settlings.store(so_far.settlings, Ordering::Relaxed);
    }
    chain.stop();
    chain
}

fn commit(chain: &mut Chain, entries: &[Entry], waiting: Vec<Done>, counters: &Counters) {
    match chain.commit(entries) {
        Ok(results) => {
            let fine = results.iter().filter(|result| result.is_ok()).count();
            counters.entries.fetch_add(fine as u64, Ordering::Relaxed);
            counters.failures.fetch_add((results.len() - fine) as u64, Ordering::Relaxed);
            counters.flushes.store(chain.counts().flushes, Ordering::Relaxed);
            for (done, result) in waiting.into_iter().zip(results) {
                done.tell(result);
            }
        }
        Err(error) => {
            counters.failures.fetch_add(entries.len() as u64, Ordering::Relaxed);
            tracing::error!(code = error.code(), receipts = entries.len(), "receipts could not be recorded: {error}");
            for done in waiting {
                done.tell(Err(error.clone()));
            }
        }
    }
}
