//! Configuration is baked: a component is configured once, and the memory it then has becomes its new beginning.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::component::{Instance, Lift, Linker, WasmList};
use wasmtime::{Engine, Store};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

use crate::exports::Exports;
use crate::load::{compile, refuse_imports};
use crate::refusal::policy_text;
use crate::sandbox::{self, Bounds};
use crate::types::{Error, Information};
use crate::{Limits, LoadError, session, ticker};

/// What a build embeds.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The configured component. It runs in every host.
    pub component: Vec<u8>,
    /// Code of it for this kind of machine and this version of the sandbox, for [`Source::Embedded`](crate::Source).
    pub precompiled: Vec<u8>,
}

/// Bake a configuration, as JSON text, into a component and compile what comes of it.
///
/// # Errors
///
/// [`LoadError`] when the component cannot be loaded or does not accept the configuration.
pub fn prepare(component: &[u8], configuration: &str) -> Result<Prepared, LoadError> {
    let component = bake(component, configuration)?;
    let precompiled = precompile(&component)?;
    Ok(Prepared { component, precompiled })
}

/// Bake a configuration, as JSON text, into a component: the file that comes of it starts configured in every host. The
/// same component and configuration give the same file.
///
/// # Errors
///
/// [`LoadError`] when the component cannot be loaded or does not accept the configuration.
pub fn bake(component: &[u8], configuration: &str) -> Result<Vec<u8>, LoadError> {
    bake_within(component, configuration, &Limits::default())
}

/// Compile a component for this kind of machine with the settings that an [`Engine`](crate::Engine) has.
///
/// # Errors
///
/// [`LoadError::Invalid`] when the bytes are no component.
pub fn precompile(component: &[u8]) -> Result<Vec<u8>, LoadError> {
    sandbox::pooled(&Limits { max_instances: 1, ..Limits::default() })?
        .precompile_component(component)
        .map_err(crate::load::invalid)
}

/// [`bake`] for a host that has limits of its own.
pub(crate) fn bake_within(component: &[u8], configuration: &str, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    // The snapshotter panics on shapes of components that it does not know. That must not end a gateway.
    std::panic::catch_unwind(|| snapshot(component, configuration, limits))
        .unwrap_or_else(|_| Err(LoadError::Snapshot { reason: "its shape is unknown to the snapshotter".to_owned() }))
}

fn snapshot(component: &[u8], configuration: &str, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    let engine = sandbox::single()?;
    ticker::start(&engine)?;

    let mut wizer = Wizer::new();
    // Nothing is called by wizer, so nothing that was called is to be taken out of the file.
    wizer.keep_init_func(true);
    let (context, instrumented) = wizer.instrument_component(component).map_err(snapshot_error)?;

    let mut state = Snapshotted::start(&engine, &instrumented, limits, configuration.len())?;
    state.configure(configuration)?;
    let baked = at_once(wizer.snapshot_component(&context, &mut state))
        .ok_or_else(|| LoadError::Snapshot { reason: "the snapshot waits for something".to_owned() })?
        .map_err(snapshot_error)?;
    match state.failure {
        None => Ok(baked),
        Some(error) => Err(snapshot_error(error)),
    }
}

/// The instance that is configured and whose memory is then read.
struct Snapshotted {
    store: Store<Bounds>,
    instance: Instance,
    exports: Exports,
    /// The snapshotter takes no errors from its reads, so the first one waits here.
    failure: Option<wasmtime::Error>,
}

impl Snapshotted {
    fn start(engine: &Engine, instrumented: &[u8], limits: &Limits, input: usize) -> Result<Self, LoadError> {
        let component = compile(engine, instrumented)?;
        let kind = component.component_type();
        refuse_imports(&kind.imports(engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>())?;
        let exports = Exports::find(&component)?;
        let mut store = session::bounded_store(engine, limits, input);
        let instance = Linker::new(engine)
            .instantiate(&mut store, &component)
            .map_err(|error| LoadError::Refused(session::classify(&error)))?;
        Ok(Self { store, instance, exports, failure: None })
    }

    fn configure(&mut self, configuration: &str) -> Result<(), LoadError> {
        let function = self
            .instance
            .get_typed_func::<(&str,), (Result<Information, Error>,)>(&mut self.store, &self.exports.configure)
            .map_err(|error| LoadError::Mismatch { reason: format!("{error:#}") })?;
        match function.call(&mut self.store, (configuration,)) {
            Ok((Ok(_),)) => Ok(()),
            Ok((Err(error),)) => Err(LoadError::Configuration { message: policy_text(&error).to_owned() }),
            Err(error) => Err(LoadError::Refused(session::classify(&error))),
        }
    }

    /// Ask one of the functions that the snapshotter added.
    fn read<T: Lift + 'static>(&mut self, interface: &str, function: &str) -> wasmtime::Result<T> {
        let missing = || wasmtime::Error::msg("a function of the snapshotter is missing");
        let interface = self.instance.get_export_index(&mut self.store, None, interface).ok_or_else(missing)?;
        let function =
            self.instance.get_export_index(&mut self.store, Some(&interface), function).ok_or_else(missing)?;
        let function = self.instance.get_typed_func::<(), (T,)>(&mut self.store, &function)?;
        Ok(function.call(&mut self.store, ())?.0)
    }

    fn read_or_note<T: Lift + Default + 'static>(&mut self, interface: &str, function: &str) -> T {
        self.read(interface, function).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            T::default()
        })
    }
}

impl ComponentInstanceState for Snapshotted {
    async fn call_func_ret_list_u8(&mut self, interface: &str, function: &str, contents: impl FnOnce(&[u8]) + Send) {
        match self.read::<WasmList<u8>>(interface, function) {
            Ok(list) => contents(list.as_le_slice(&self.store)),
            Err(error) => {
                self.failure.get_or_insert(error);
                contents(&[]);
            }
        }
    }

    async fn call_func_ret_s32(&mut self, interface: &str, function: &str) -> i32 {
        self.read_or_note(interface, function)
    }

    async fn call_func_ret_s64(&mut self, interface: &str, function: &str) -> i64 {
        self.read_or_note(interface, function)
    }

    async fn call_func_ret_f32(&mut self, interface: &str, function: &str) -> u32 {
        self.read_or_note::<f32>(interface, function).to_bits()
    }

    async fn call_func_ret_f64(&mut self, interface: &str, function: &str) -> u64 {
        self.read_or_note::<f64>(interface, function).to_bits()
    }
}

/// The outcome of a future that never waits. The snapshotter is asynchronous only for hosts whose instances are.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

fn snapshot_error(error: wasmtime::Error) -> LoadError {
    LoadError::Snapshot { reason: format!("{error:#}") }
}
