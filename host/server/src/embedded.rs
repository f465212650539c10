//! The component that this binary carries, and its form precompiled for the machine that built it.

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
