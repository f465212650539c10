//! The component that this binary carries, and its form precompiled for the machine that built it.

#[cfg(not(component_built))]
compile_error!("the component is not built yet: run `cargo xtask build`");

#[cfg(component_built)]
pub use built::{BUILD, COMPONENT, source};

#[cfg(component_built)]
mod built {
    use counterfoil_engine::Source;

    /// The component, configured with the default configuration.
    pub const COMPONENT: &[u8] = include_bytes!(env!("COUNTERFOIL_COMPONENT"));
    /// `COMPONENT` compiled for the processor of the machine that built it.
    pub const PRECOMPILED: &[u8] = include_bytes!(env!("COUNTERFOIL_PRECOMPILED"));
    /// How `COMPONENT` was built, as JSON: `sha256`, `size`, `compiler`, `route`.
    pub const BUILD: &str = include_str!(env!("COUNTERFOIL_BUILD"));

    /// What the engine loads when no other component is named.
    #[must_use]
    pub const fn source() -> Source {
        Source::Embedded { component: COMPONENT, precompiled: PRECOMPILED }
    }
}
