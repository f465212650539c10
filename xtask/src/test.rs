//! `cargo xtask test`: every test there is, on the component and the binary as they are now.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::{build, component, process, tools};

/// Build what the tests run on, then run them.
pub fn run(root: &Path) -> Result<()> {
    let strict = std::env::var_os("CI").is_some_and(|value| value == "true");
    build::run(root)?;
    component::hostile(root)?;
    if let Err(error) = tools::run(root) {
        if strict {
            return Err(error);
        }
        eprintln!("tools: {error:#}");
        eprintln!("tools: NOT COMPLETE; tests that need what is missing are skipped");
    }
    let skipped = root.join("target/skipped.txt");
    if skipped.is_file() {
        fs::remove_file(&skipped)?;
    }
    println!("test: the workspace");
    // `xtask` is built for this already and needs no optimisation.
    let mut tests = process::cargo(root);
    tests.args(["test", "--release", "--no-fail-fast", "--exclude", "xtask"]);
    let whole = process::run(component::without_guests(&mut tests));
    println!("test: xtask");
    let own = process::run(process::cargo(root).args(["test", "--quiet", "--package", "xtask"]));
    let lines = fs::read_to_string(&skipped).unwrap_or_default();
    print!("{lines}");
    let count = lines.lines().count();
    println!("test: {count} skipped for want of a foreign program");
    whole.and(own)?;
    if strict && count > 0 {
        bail!("{count} tests were skipped; with `CI=true` none may be");
    }
    println!("test: all passed");
    Ok(())
}
