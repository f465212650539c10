//! A store that fails, dies or is disturbed at a chosen step.

use counterfoil_evidence::store::{DiskStore, Position, Put, Store, Turn};
use counterfoil_evidence::{EvidenceError, RunMeta};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Turn,
    Journal,
    Receipt,
    Ledger,
    Settle,
}

/// How much of the step is done before the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Nothing,
    /// That many bytes of what is appended.
    Bytes(usize),
    All,
}

type Disturbance = Box<dyn FnMut() + Send>;

#[derive(Default)]
struct Plan {
    fault: Option<(Step, Done, io::ErrorKind)>,
    /// Once the fault has come, everything fails: the process is gone.
    fatal: bool,
    dead: bool,
    /// Done once, right before a step.
    disturbance: Option<(Step, Disturbance)>,
    flushes: u64,
}

/// The store. Clones share one plan.
#[derive(Clone)]
pub struct Faulty {
    inner: DiskStore,
    plan: Arc<Mutex<Plan>>,
}

impl Faulty {
    pub fn new(inner: DiskStore) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Fails at every such step until it is healed.
    pub fn fail(&self, step: Step, done: Done, kind: io::ErrorKind) {
        self.plan.lock().unwrap().fault = Some((step, done, kind));
    }

    /// Dies at the next such step.
    pub fn die(&self, step: Step, done: Done) {
        let mut plan = self.plan.lock().unwrap();
        plan.fault = Some((step, done, io::ErrorKind::Other));
        plan.fatal = true;
    }

    pub fn heal(&self) {
        let mut plan = self.plan.lock().unwrap();
        plan.fault = None;
    }

    /// Does something right before the next such step.
    pub fn disturb(&self, step: Step, disturbance: impl FnMut() + Send + 'static) {
        self.plan.lock().unwrap().disturbance = Some((step, Box::new(disturbance)));
    }

    pub fn is_dead(&self) -> bool {
        self.plan.lock().unwrap().dead
    }

    pub fn flushes(&self) -> u64 {
        self.plan.lock().unwrap().flushes
    }

    /// What is to be done of a step, and the error that follows.
    fn meet(&self, step: Step) -> Option<(Done, EvidenceError)> {
        let mut plan = self.plan.lock().unwrap();
        let error = |kind| EvidenceError::io("write", Path::new("injected"), io::Error::from(kind));
        if plan.dead {
            return Some((Done::Nothing, error(io::ErrorKind::Other)));
        }
        if let Some((at, mut disturbance)) = plan.disturbance.take() {
            if at == step {
                drop(plan);
                disturbance();
                return self.meet(step);
            }
            plan.disturbance = Some((at, disturbance));
        }
        let (at, done, kind) = plan.fault?;
        if at != step {
            return None;
        }
        plan.dead = plan.fatal;
        Some((done, error(kind)))
    }
}

impl Store for Faulty {
    fn turn(&self) -> Result<Box<dyn Turn + '_>, EvidenceError> {
        if let Some((_, error)) = self.meet(Step::Turn) {
            return Err(error);
        }
        Ok(Box::new(FaultyTurn { store: self, inner: self.inner.turn()? }))
    }
}

struct FaultyTurn<'a> {
    store: &'a Faulty,
    inner: Box<dyn Turn + 'a>,
}

impl FaultyTurn<'_> {
    fn append(
        &mut self,
        step: Step,
        bytes: &[u8],
        append: impl Fn(&mut dyn Turn, &[u8]) -> Result<(), EvidenceError>,
    ) -> Result<(), EvidenceError> {
        match self.store.meet(step) {
            None => append(self.inner.as_mut(), bytes),
            Some((done, error)) => {
                let part = match done {
                    Done::Nothing => 0,
                    Done::Bytes(count) => count.min(bytes.len()),
                    Done::All => bytes.len(),
                };
                append(self.inner.as_mut(), &bytes[..part])?;
                Err(error)
            }
        }
    }

    /// Steps that the plan does not name die with the process.
    fn alive(&self) -> Result<(), EvidenceError> {
        if self.store.is_dead() {
            return Err(EvidenceError::io("use", Path::new("injected"), io::Error::other("dead")));
        }
        Ok(())
    }
}

impl Turn for FaultyTurn<'_> {
    fn position(&mut self) -> Result<Position, EvidenceError> {
        self.alive()?;
        self.inner.position()
    }

    fn read_ledger(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError> {
        self.alive()?;
        self.inner.read_ledger(from)
    }

    fn append_ledger(&mut self, bytes: &[u8]) -> Result<(), EvidenceError> {
        self.append(Step::Ledger, bytes, |turn, bytes| turn.append_ledger(bytes))
    }

    fn journal_length(&mut self) -> Result<u64, EvidenceError> {
        self.alive()?;
        self.inner.journal_length()
    }

    fn read_journal(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError> {
        self.alive()?;
        self.inner.read_journal(from)
    }

    fn append_journal(&mut self, bytes: &[u8]) -> Result<(), EvidenceError> {
        self.store.plan.lock().unwrap().flushes += 1;
        self.append(Step::Journal, bytes, |turn, bytes| turn.append_journal(bytes))
    }

    fn has_receipt(&mut self, tool_call: &str) -> Result<bool, EvidenceError> {
        self.alive()?;
        self.inner.has_receipt(tool_call)
    }

    fn put_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<Put, EvidenceError> {
        match self.store.meet(Step::Receipt) {
            None => self.inner.put_receipt(tool_call, bytes),
            Some((Done::Nothing, error)) => Err(error),
            Some((Done::Bytes(count), error)) => {
                self.inner.put_receipt(tool_call, &bytes[..count.min(bytes.len())])?;
                Err(error)
            }
            Some((Done::All, error)) => {
                self.inner.put_receipt(tool_call, bytes)?;
                Err(error)
            }
        }
    }

    fn read_receipt(&mut self, tool_call: &str) -> Result<Option<Vec<u8>>, EvidenceError> {
        self.alive()?;
        self.inner.read_receipt(tool_call)
    }

    fn replace_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<(), EvidenceError> {
        self.alive()?;
        self.inner.replace_receipt(tool_call, bytes)
    }

    fn settle(&mut self) -> Result<(), EvidenceError> {
        match self.store.meet(Step::Settle) {
            None => self.inner.settle(),
            Some((_, error)) => Err(error),
        }
    }

    fn read_meta(&mut self) -> Option<RunMeta> {
        self.inner.read_meta()
    }

    fn write_meta(&mut self, meta: &RunMeta) -> Result<(), EvidenceError> {
        self.alive()?;
        self.inner.write_meta(meta)
    }
}
