//! One instance and how a question is put to it.

use std::fmt;
use std::sync::Arc;

use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, ResourceAny};
use wasmtime::{Engine, Store, Trap};

use crate::engine::Inner;
use crate::exports::Exports;
use crate::load::Loaded;
use crate::sandbox::{Bounds, OutOfBounds};
use crate::slots::Slot;
use crate::types::Error;
use crate::{Limits, Refusal, ticker};

/// One instance that answers several questions, with the configuration that was in force when it was opened.
///
/// [`Engine`](crate::Engine) makes a new instance for each call, so that nothing of one call reaches another. A session gives
/// that up and saves about the cost of an instance each time: it is for many questions of *one* caller, such as a table of
/// tests or the lines of one file, and for measuring. It holds one of the places that
/// [`Limits::max_instances`](crate::Limits) counts.
pub struct Session {
    // Dropped in this order: the place is free when the instance is gone.
    store: Store<Bounds>,
    instance: Instance,
    loaded: Arc<Loaded>,
    _slot: Slot,
    // Keeps the clock running for as long as the instance lives.
    inner: Arc<Inner>,
    broken: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").field("broken", &self.broken).finish_non_exhaustive()
    }
}

impl Session {
    /// Start an instance for a question of this size.
    pub(crate) fn start(inner: &Arc<Inner>, loaded: Arc<Loaded>, input: usize) -> Result<Self, Refusal> {
        let slot = inner.slots.take(inner.limits.wait)?;
        let mut store = bounded_store(&inner.sandbox, &inner.limits, input);
        let instance = loaded.instances.instantiate(&mut store).map_err(|error| report(&error))?;
        Ok(Self { store, instance, loaded, _slot: slot, inner: Arc::clone(inner), broken: false })
    }

    /// Put a question whose answer may be an error of the component's own.
    pub(crate) fn ask<P, T>(
        &mut self,
        function: fn(&Exports) -> &ComponentExportIndex,
        parameters: P,
        input: usize,
    ) -> Result<T, Refusal>
    where
        P: ComponentNamedList + Lower,
        T: Lift + 'static,
    {
        self.ask_plain::<P, Result<T, Error>>(function, parameters, input)?.map_err(Refusal::Policy)
    }

    /// Put a question that always has an answer.
    pub(crate) fn ask_plain<P, T>(
        &mut self,
        function: fn(&Exports) -> &ComponentExportIndex,
        parameters: P,
        input: usize,
    ) -> Result<T, Refusal>
    where
        P: ComponentNamedList + Lower,
        T: Lift + 'static,
    {
        if self.broken {
            return Err(Refusal::Trap);
        }
        self.allow(input);
        let answer = self
            .instance
            .get_typed_func::<P, (T,)>(&mut self.store, function(&self.loaded.exports))
            .and_then(|function| function.call(&mut self.store, parameters));
        match answer {
            Ok((answer,)) => Ok(answer),
            Err(error) => {
                self.broken = true;
                Err(report(&error))
            }
        }
    }

    /// Give a resource of the instance up.
    pub(crate) fn discard(&mut self, resource: ResourceAny) -> Result<(), Refusal> {
        if self.broken {
            return Err(Refusal::Trap);
        }
        self.allow(0);
        resource.resource_drop(&mut self.store).map_err(|error| {
            self.broken = true;
            report(&error)
        })
    }

    /// Check an answer. An instance that answers nonsense is not asked again.
    pub(crate) fn check<T>(&mut self, answer: T, verdict: Result<(), &'static str>) -> Result<T, Refusal> {
        match verdict {
            Ok(()) => Ok(answer),
            Err(what) => {
                self.broken = true;
                tracing::error!(what, "policy gave an answer that cannot be right");
                Err(Refusal::Nonsense { what })
            }
        }
    }

    /// The limits that this session works within.
    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Time and memory for a question of this size. Memory that an instance has already is not taken away.
    fn allow(&mut self, input: usize) {
        let limits = &self.inner.limits;
        self.store.set_epoch_deadline(ticker::ticks(limits.deadline(input)));
        let bounds = self.store.data_mut();
        bounds.memory = bounds.memory.max(limits.memory(input));
    }
}

/// A store whose instance has the time and memory that an input of this size may take.
pub(crate) fn bounded_store(engine: &Engine, limits: &Limits, input: usize) -> Store<Bounds> {
    let mut store = Store::new(engine, Bounds { memory: limits.memory(input) });
    store.limiter(|bounds| bounds);
    store.epoch_deadline_trap();
    store.set_epoch_deadline(ticker::ticks(limits.deadline(input)));
    store
}

/// Note what happened for the operator and say it as a refusal.
fn report(error: &wasmtime::Error) -> Refusal {
    let refusal = classify(error);
    // The sandbox's own texts name code and types, never data.
    tracing::error!(code = refusal.code(), reason = format!("{error:#}"), "policy call failed");
    refusal
}

/// What a failed call means.
pub(crate) fn classify(error: &wasmtime::Error) -> Refusal {
    if error.is::<OutOfBounds>() {
        return Refusal::MemoryLimit;
    }
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        return Refusal::Busy { waited: std::time::Duration::ZERO };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => Refusal::Deadline,
        Some(_) => Refusal::Trap,
        // Neither a trap nor one of ours: what came back does not have the form that the contract says.
        None => Refusal::Nonsense { what: "its form breaks the contract" },
    }
}
