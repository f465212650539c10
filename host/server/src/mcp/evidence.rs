//! The run of this process.
//!
//! There is one, from start to stop. When somebody else breaks its ledger it is closed as failed, and a new one is begun.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use counterfoil_evidence::{ChainAuthority, Entry, EvidenceError, Run, RunOptions, RunStatus, StateDir};

use crate::dispatch::{Recorder, Saved};

/// Keeps receipts in the run of this process.
pub struct Evidence {
    shared: Arc<Shared>,
}

struct Shared {
    state: StateDir,
    options: RunOptions,
    authority: Arc<dyn ChainAuthority>,
    run: RwLock<Run>,
    /// Whether the last receipt could be written.
    sound: AtomicBool,
}

impl Evidence {
    /// Start a run.
    ///
    /// # Errors
    ///
    /// When the state folder cannot be written or its key cannot be used.
    pub fn start(
        state: StateDir,
        options: RunOptions,
        authority: Arc<dyn ChainAuthority>,
    ) -> Result<Self, EvidenceError> {
        let run = Run::start(&state, options.clone(), Arc::clone(&authority))?;
        Ok(Self {
            shared: Arc::new(Shared { state, options, authority, run: RwLock::new(run), sound: AtomicBool::new(true) }),
        })
    }

    /// Whether the last receipt could be written and the run's folder is there.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.shared.sound.load(Ordering::Relaxed) && self.shared.state.events_path(self.shared.run().id()).is_file()
    }

    /// The state folder.
    #[cfg(test)]
    pub fn state(&self) -> &StateDir {
        &self.shared.state
    }

    /// End the run. Blocks until what is waiting is written.
    ///
    /// # Errors
    ///
    /// When the run's folder cannot be written.
    pub fn end(&self) -> Result<(), EvidenceError> {
        let run = self.shared.run();
        match run.end(RunStatus::Completed) {
            Err(EvidenceError::StatusRefused { .. }) => run.end(RunStatus::Failed).map(|_| ()),
            ended => ended.map(|_| ()),
        }
    }
}

impl Shared {
    fn run(&self) -> Run {
        self.run.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, forked: &Run, error: &EvidenceError) {
        self.sound.store(false, Ordering::Relaxed);
        if !matches!(error, EvidenceError::Forked { .. } | EvidenceError::Ended { .. }) {
            return;
        }
        let mut current = self.run.write().unwrap_or_else(PoisonError::into_inner);
        if current.id() != forked.id() {
            return;
        }
        match Run::start(&self.state, self.options.clone(), Arc::clone(&self.authority)) {
            Ok(next) => {
                tracing::warn!(from = %current.id(), to = %next.id(), "somebody else wrote into the run: going on in a new one");
                *current = next;
                self.sound.store(true, Ordering::Relaxed);
                drop(current);
                close(forked);
            }
            Err(error) => tracing::error!(%error, "no new run can be started"),
        }
    }
}

/// Close a run that somebody else wrote into. One that is closed already stays as it is.
fn close(run: &Run) {
    match run.end(RunStatus::Failed) {
        Ok(_) | Err(EvidenceError::Ended { .. }) => {}
        Err(error) => tracing::error!(run = %run.id(), %error, "the run could not be closed"),
    }
}

impl Recorder for Evidence {
    fn run_id(&self) -> String {
        self.shared.run().id().to_string()
    }

    fn submit(&self, named: &str, entry: Entry, saved: Saved) {
        let run = self.shared.run();
        if run.id().as_str() != named {
            return saved(Err(EvidenceError::Ended { run: named.to_owned() }));
        }
        let shared = Arc::clone(&self.shared);
        let used = run.clone();
        run.submit(
            entry,
            Box::new(move |result| match result {
                Ok(recorded) => {
                    shared.sound.store(true, Ordering::Relaxed);
                    saved(Ok(recorded));
                }
                Err(error @ (EvidenceError::Forked { .. } | EvidenceError::Ended { .. })) => {
                    // Starting a run waits for the disk, and this is the writer's own thread.
                    let begun = std::thread::Builder::new().name("counterfoil-run".to_owned()).spawn(move || {
                        shared.note(&used, &error);
                        saved(Err(error));
                    });
                    if let Err(error) = begun {
                        // The call's answer is withheld: its writer is gone.
                        tracing::error!(%error, "no thread can be started");
                    }
                }
                Err(error) => {
                    shared.note(&used, &error);
                    saved(Err(error));
                }
            }),
        );
    }
}
