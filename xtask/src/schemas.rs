//! `cargo xtask schemas`: `schemas/*.json`, generated from the closed vocabularies.

use std::path::Path;

use anyhow::Result;

use crate::process;

/// Write the schemas, or with `check` only compare them with what the code gives.
pub fn run(root: &Path, check: bool) -> Result<()> {
    println!("schemas: {}", if check { "comparing" } else { "writing" });
    let package = ["--release", "--quiet", "--package", "counterfoil-tests"];
    let mut command = process::cargo(root);
    if check {
        command.arg("test").args(package).args(["--test", "schemas"]);
    } else {
        command.arg("run").args(package).args(["--bin", "schemas"]);
    }
    process::run(&mut command)
}
