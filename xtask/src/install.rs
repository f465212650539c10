//! Filling the tool cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{cache, process};

/// Features of the wasmtime command line that the tests use; without the rest it builds in half the time.
const WASMTIME_FEATURES: &str =
    "run,compile,wizer,component-model,cranelift,parallel-compilation,pooling-allocator,cache,wat";

/// Folder of `tool` in `version`; when it is not there, `fill` makes it.
///
/// `fill` gets an empty folder under another name, which is renamed only when it is full: an install that is killed
/// leaves nothing that looks finished, and of two at once the first wins.
pub fn once(tool: &str, version: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let place = cache::place(tool, version).context("set `COUNTERFOIL_TOOLS` or `HOME`, so that tools have a place")?;
    if place.is_dir() {
        println!("tools: {tool} {version} is installed");
        return Ok(place);
    }
    println!("tools: installing {tool} {version} into {}", place.display());
    let partial = place.with_file_name(format!(".partial-{tool}-{version}-{}", std::process::id()));
    fs::create_dir_all(&partial).with_context(|| format!("cannot make `{}`", partial.display()))?;
    let filled = fill(&partial).and_then(|()| match fs::rename(&partial, &place) {
        Err(_) if place.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot rename to `{}`", place.display())),
    });
    if partial.is_dir() {
        fs::remove_dir_all(&partial).with_context(|| format!("cannot remove `{}`", partial.display()))?;
    }
    filled.with_context(|| format!("cannot install {tool} {version}"))?;
    Ok(place)
}

/// Folder of a Rust program, installed from the registry with the versions of its own lock file.
pub fn crate_once(root: &Path, name: &str, version: &str, arguments: &[&str]) -> Result<PathBuf> {
    once(name, version, |partial| {
        let mut command = process::cargo(root);
        // Its build has nothing in common with ours; in our target folder it would only stay behind.
        command
            .env("CARGO_TARGET_DIR", partial.join("target"))
            .args(["install", name, "--version", version, "--locked", "--root"])
            .arg(partial)
            .args(arguments);
        process::run(&mut command)?;
        fs::remove_dir_all(partial.join("target")).context("cannot remove the build folder")
    })
}

/// The wasmtime command line, installed when it is not there (about ten minutes on two cores).
pub fn wasmtime_cli(root: &Path) -> Result<PathBuf> {
    let arguments = ["--no-default-features", "--features", WASMTIME_FEATURES];
    Ok(crate_once(root, "wasmtime-cli", cache::WASMTIME_CLI, &arguments)?.join("bin/wasmtime"))
}
