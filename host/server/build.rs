//! Tells the compiler where the built component lies. Without one the build ends here, before anything is compiled, with
//! one sentence that says what to run.

use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/component");
    let mut complete = true;
    for (variable, name) in [
        ("COUNTERFOIL_COMPONENT", "counterfoil.wasm"),
        ("COUNTERFOIL_PRECOMPILED", "counterfoil.cwasm"),
        ("COUNTERFOIL_BUILD", "counterfoil.json"),
    ] {
        let file = folder.join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        complete &= file.is_file();
        println!("cargo::rustc-env={variable}={}", file.display());
    }
    if !complete {
        println!("cargo::error=the component is not built yet: run `cargo xtask build`");
    }
}
