//! From the bytes of a component to code that is ready to run.

use std::fmt;

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

use crate::bindings::Guard;
use crate::exports::Exports;
use crate::sandbox::Bounds;
use crate::types::Information;
use crate::{Limits, LoadError, Refusal, bake, sanity, session};

/// Where the component comes from.
#[derive(Clone)]
pub enum Source {
    /// The bytes of any component that fits the contract. It is compiled when it is loaded.
    Component(Vec<u8>),
    /// A component that was built into the program, with the form that [`precompile`](crate::precompile) made of it at the
    /// time. Loading does not compile it, unless this processor or this version of the sandbox needs other code.
    Embedded {
        /// The component.
        component: &'static [u8],
        /// Its precompiled form. It is trusted like the program's own code.
        precompiled: &'static [u8],
    },
}

impl Source {
    /// The component's bytes.
    pub(crate) fn component(&self) -> &[u8] {
        match self {
            Self::Component(bytes) => bytes,
            Self::Embedded { component, .. } => component,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Component(_) => "Component",
            Self::Embedded { .. } => "Embedded",
        };
        write!(formatter, "{kind}({} bytes)", self.component().len())
    }
}

/// A component that is ready to run, with the configuration that is in force in it.
pub(crate) struct Loaded {
    pub(crate) instances: InstancePre<Bounds>,
    pub(crate) exports: Exports,
    pub(crate) imported: Vec<String>,
    pub(crate) exported: Vec<String>,
    pub(crate) precompiled: bool,
    /// What an instance says of itself.
    pub(crate) information: Information,
}

impl Loaded {
    /// Make a source ready, as it is or with this configuration baked in.
    pub(crate) fn load(
        engine: &Engine,
        source: &Source,
        configuration: Option<&str>,
        limits: &Limits,
    ) -> Result<Self, LoadError> {
        let (component, precompiled) = match configuration {
            Some(configuration) => {
                let baked = bake::bake_within(source.component(), configuration, limits)?;
                (compile(engine, &baked)?, false)
            }
            None => ready(engine, source)?,
        };
        let kind = component.component_type();
        let imported: Vec<String> = kind.imports(engine).map(|(name, _)| name.to_owned()).collect();
        refuse_imports(&imported)?;
        let exports = Exports::find(&component)?;
        // Lay the memory image out now and not in the first call.
        component.initialize_copy_on_write_image().map_err(invalid)?;
        let instances = Linker::new(engine).instantiate_pre(&component).map_err(invalid)?;
        Ok(Self {
            information: introduce(engine, &instances, limits)?,
            instances,
            exports,
            imported,
            exported: kind.exports(engine).map(|(name, _)| name.to_owned()).collect(),
            precompiled,
        })
    }
}

/// Code of the source as it is, and whether it was there already.
fn ready(engine: &Engine, source: &Source) -> Result<(Component, bool), LoadError> {
    if let Source::Embedded { precompiled, .. } = source {
        match deserialize(engine, precompiled) {
            Ok(component) => return Ok((component, true)),
            Err(error) => tracing::warn!(
                reason = format!("{error:#}"),
                "the precompiled component does not suit this machine, compiling it instead"
            ),
        }
    }
    Ok((compile(engine, source.component())?, false))
}

/// Policy must not ask its host for anything.
pub(crate) fn refuse_imports(names: &[String]) -> Result<(), LoadError> {
    if names.is_empty() { Ok(()) } else { Err(LoadError::Imports { names: names.to_vec() }) }
}

/// Check the types of all functions against the contract and ask what the component is. The pool has one place more than
/// calls may take, so that this never waits for them.
fn introduce(engine: &Engine, instances: &InstancePre<Bounds>, limits: &Limits) -> Result<Information, LoadError> {
    let mut store = session::bounded_store(engine, limits, 0);
    let failed = |error: wasmtime::Error| LoadError::Refused(session::classify(&error));
    let instance = instances.instantiate(&mut store).map_err(failed)?;
    let guard =
        Guard::new(&mut store, &instance).map_err(|error| LoadError::Mismatch { reason: format!("{error:#}") })?;
    let information = guard.counterfoil_policy_about().call_info(&mut store).map_err(failed)?;
    sanity::information(&information).map_err(|what| LoadError::Refused(Refusal::Nonsense { what }))?;
    Ok(information)
}

/// SHA-256 of a component's file, lower-case hex.
pub(crate) fn digest(component: &[u8]) -> String {
    hex::encode(Sha256::digest(component))
}

pub(crate) fn compile(engine: &Engine, component: &[u8]) -> Result<Component, LoadError> {
    // Only the binary form: `Component::new` would take text too, where that is compiled in.
    Component::from_binary(engine, component).map_err(invalid)
}

#[expect(
    unsafe_code,
    reason = "precompiled code is run as it is; it comes from this program's own file, which is trusted"
)]
fn deserialize(engine: &Engine, precompiled: &'static [u8]) -> wasmtime::Result<Component> {
    // SAFETY: `Source::Embedded` asks for bytes that were built into the program and came out of `precompile`. Whoever can
    // change them can change the program. wasmtime itself refuses bytes of another version or for another processor.
    unsafe { Component::deserialize(engine, precompiled) }
}

pub(crate) fn invalid(error: wasmtime::Error) -> LoadError {
    LoadError::Invalid { reason: format!("{error:#}") }
}
