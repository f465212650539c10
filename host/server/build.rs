//! Tells the compiler where the built component lies, or that there is none.
//!
//! With the component the cfg `component_built` is set and the crate embeds it. Without it the crate is one
//! `compile_error!` that says what to run.

use std::path::Path;

fn main() {
    println!("cargo:rustc-check-cfg=cfg(component_built)");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/component");
    let mut complete = true;
    for (variable, name) in [
        ("COUNTERFOIL_COMPONENT", "counterfoil.wasm"),
        ("COUNTERFOIL_PRECOMPILED", "counterfoil.cwasm"),
        ("COUNTERFOIL_BUILD", "counterfoil.json"),
    ] {
        let file = folder.join(name);
        println!("cargo:rerun-if-changed={}", file.display());
        complete &= file.is_file();
        println!("cargo:rustc-env={variable}={}", file.display());
    }
    if complete {
        println!("cargo:rustc-cfg=component_built");
    }
}
