//! `cargo xtask build`, `demo` and `bench`: the binary and what is run with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{component, process};

/// The component, then the optimised binary. Gives back where it is.
pub fn run(root: &Path) -> Result<PathBuf> {
    component::run(root)?;
    println!("build: the optimised binary");
    let binary = component::program(root, "counterfoil")?;
    println!("build: {}", binary.display());
    Ok(binary)
}

/// The scripted tour, with further arguments for it.
pub fn demo(root: &Path, arguments: &[&str]) -> Result<()> {
    let binary = run(root)?;
    println!("demo: the scripted tour");
    process::run(Command::new(binary).arg("demo").args(arguments))
}

/// The engine's measurements, on the component and the binary as they are now.
pub fn bench(root: &Path) -> Result<()> {
    run(root)?;
    println!("bench: measuring; other load on the machine shows in the numbers");
    let mut bench = process::cargo(root);
    bench.args(["bench", "--exclude", "xtask", "--bench", "policy"]);
    process::run(component::without_guests(&mut bench))
}
