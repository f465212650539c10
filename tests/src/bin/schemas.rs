//! Writes the JSON Schemas into `schemas/`. Run by `cargo xtask schemas`.

use std::path::Path;

fn main() -> anyhow::Result<()> {
    counterfoil_tests::schemas::write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas"))
}
