//! The component in force, and how another configuration takes its place.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::load::{self, Loaded, Source};
use crate::slots::Slots;
use crate::types::Information;
use crate::{Limits, LoadError, Redactor, Refusal, Session, sandbox, ticker};

/// Puts questions to the component. Cheap to clone; all clones share the component, its configuration and the limits.
///
/// Every method may be called from any thread and blocks until the answer is there: microseconds for small inputs, about ten
/// milliseconds for a megabyte, and up to [`Limits::wait`] more when all instances are taken.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

/// What clones of an engine share.
pub(crate) struct Inner {
    pub(crate) sandbox: wasmtime::Engine,
    pub(crate) limits: Limits,
    pub(crate) slots: Arc<Slots>,
    source: Source,
    digest: String,
    loaded: RwLock<Arc<Loaded>>,
    /// Two reloads at once would race for the last word.
    reloading: Mutex<()>,
}

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// SHA-256 of the component's file as it was given, lower-case hex. Baking a configuration does not change it.
    pub component_sha256: String,
    /// Size of that file in bytes.
    pub component_size: usize,
    /// Version of the component.
    pub version: String,
    /// Version of the contract.
    pub contract: String,
    /// SHA-256 of the rules, lower-case hex.
    pub rules_digest: String,
    /// SHA-256 of the configuration in force, lower-case hex.
    pub configuration_digest: String,
    /// Whether precompiled code runs, as against code that was compiled at load.
    pub precompiled: bool,
    /// What the component imports: always nothing, or it would not have been loaded.
    pub imports: Vec<String>,
    /// The interfaces that the component exports.
    pub exports: Vec<String>,
}

/// Says how a component is to be loaded. Made by [`Engine::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    source: Source,
    limits: Limits,
    configuration: Option<String>,
}

impl Builder {
    /// What a call may cost. Without it, [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The configuration to bake in, as JSON text. Without it the component stays as it is; the component that the build
    /// makes has the default configuration in it.
    #[must_use]
    pub fn configuration(mut self, configuration: Option<String>) -> Self {
        self.configuration = configuration;
        self
    }

    /// Load the component, configure it and ask it what it is.
    ///
    /// # Errors
    ///
    /// [`LoadError`] when the component or the configuration cannot be put in force.
    pub fn build(self) -> Result<Engine, LoadError> {
        let Self { source, mut limits, configuration } = self;
        limits.max_instances = limits.max_instances.max(1);
        let sandbox = sandbox::pooled(&limits)?;
        ticker::start(&sandbox)?;
        let loaded = Loaded::load(&sandbox, &source, configuration.as_deref(), &limits)?;
        Ok(Engine {
            inner: Arc::new(Inner {
                sandbox,
                slots: Slots::new(limits.max_instances),
                limits,
                digest: load::digest(source.component()),
                source,
                loaded: RwLock::new(Arc::new(loaded)),
                reloading: Mutex::new(()),
            }),
        })
    }
}

impl Engine {
    /// Load a component.
    #[must_use]
    pub fn builder(source: Source) -> Builder {
        Builder { source, limits: Limits::default(), configuration: None }
    }

    /// What is in force now.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let loaded = self.loaded();
        let Information { version, contract, rules_digest, configuration_digest } = loaded.information.clone();
        Identity {
            component_sha256: self.inner.digest.clone(),
            component_size: self.inner.source.component().len(),
            version,
            contract,
            rules_digest,
            configuration_digest,
            precompiled: loaded.precompiled,
            imports: loaded.imported.clone(),
            exports: loaded.exported.clone(),
        }
    }
}

impl Engine {
    /// Put another configuration, as JSON text, in force. Calls that are under way end with the old one; every call that
    /// begins afterwards has the new one. When it fails the old one stays. Takes as long as compiling the component.
    ///
    /// # Errors
    ///
    /// [`LoadError::Configuration`] with the component's own text when it does not accept the configuration.
    pub fn reload(&self, configuration: &str) -> Result<(), LoadError> {
        let inner = &self.inner;
        let _one_at_a_time = inner.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = Loaded::load(&inner.sandbox, &inner.source, Some(configuration), &inner.limits)?;
        *inner.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        Ok(())
    }

    /// One instance for several questions of one caller.
    ///
    /// # Errors
    ///
    /// [`Refusal::Busy`] when every instance is taken.
    pub fn session(&self) -> Result<Session, Refusal> {
        self.session_for(0)
    }

    /// Start a text that arrives bit by bit.
    ///
    /// # Errors
    ///
    /// [`Refusal::Busy`] when every instance is taken.
    pub fn redactor(&self) -> Result<Redactor, Refusal> {
        Redactor::open(self.session()?)
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// A new instance for a question of this size.
    pub(crate) fn session_for(&self, input: usize) -> Result<Session, Refusal> {
        Session::start(&self.inner, self.loaded(), input)
    }

    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.inner.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Engine").field("identity", &self.identity()).finish_non_exhaustive()
    }
}
