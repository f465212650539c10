//! `cargo xtask tools`: the programs of other projects that the tests call, once, into the tool cache.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{cache, install, process};

/// Install what is not there yet.
///
/// A machine without npm or Python gets a message instead of an error: the tests that need them say that they were
/// skipped.
pub fn run(root: &Path) -> Result<()> {
    npm_packages(root)?;
    python_packages(root)?;
    install::wasmtime_cli(root)?;
    Ok(())
}

/// The npm packages of `tests/foreign/package.json`, exactly as its lock file names them, a Node.js binary among them.
fn npm_packages(root: &Path) -> Result<()> {
    let version = cache::npm_version();
    if cache::installed(cache::NPM, &version).is_none() && !process::succeeds(Command::new("npm").arg("--version")) {
        println!("tools: there is no `npm` here: tests with JavaScript programs will be skipped");
        return Ok(());
    }
    install::once(cache::NPM, &version, |folder| {
        for name in ["package.json", "package-lock.json"] {
            fs::copy(root.join("tests/foreign").join(name), folder.join(name))
                .with_context(|| format!("cannot copy `{name}`"))?;
        }
        // No package needs a script of its own to run at installation; not running any is safer.
        process::run(
            Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(folder),
        )
    })?;
    Ok(())
}

/// The Python packages of `tests/foreign/requirements.txt`, in an environment of their own.
fn python_packages(root: &Path) -> Result<()> {
    let version = cache::python_version();
    if cache::installed(cache::PYTHON, &version).is_none()
        && !process::succeeds(Command::new("python3").args(["-m", "venv", "--help"]))
    {
        println!("tools: there is no `python3` with `venv` here: tests with Python programs will be skipped");
        return Ok(());
    }
    install::once(cache::PYTHON, &version, |folder| {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        // Programs of the environment name the folder that it was made in, which is renamed afterwards: call its
        // `python -m` only.
        process::run(
            Command::new(folder.join("bin/python"))
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"])
                .arg("--requirement")
                .arg(root.join("tests/foreign/requirements.txt")),
        )
    })?;
    Ok(())
}
