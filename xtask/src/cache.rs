//! Where programs that are not ours are kept between runs.
//!
//! One folder per tool and version, outside the clone. A folder that exists is complete: it is filled under another name
//! and renamed into place. The whole-system tests compile this file too, so that both look in the same place.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

/// Version of the wasmtime command line that the tests call: the line that the engine embeds.
pub const WASMTIME_CLI: &str = "48.0.8";

/// The npm packages that the tests call; the folder's version is [`npm_version`].
pub const NPM: &str = "foreign-npm";

/// The Python packages that the tests call; the folder's version is [`python_version`].
pub const PYTHON: &str = "foreign-python";

/// What names the npm packages with all that they pull in: a digest of the manifest and its lock file.
#[must_use]
pub fn npm_version() -> String {
    digest(&[
        include_bytes!("../../tests/foreign/package.json"),
        include_bytes!("../../tests/foreign/package-lock.json"),
    ])
}

/// What names the Python packages: a digest of the list of exact versions.
#[must_use]
pub fn python_version() -> String {
    digest(&[include_bytes!("../../tests/foreign/requirements.txt")])
}

/// The first 12 hex digits of the SHA-256 of the files.
fn digest(files: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file);
    }
    hex::encode(hash.finalize()).chars().take(12).collect()
}

/// The cache's folder: `$COUNTERFOIL_TOOLS`, else `$XDG_CACHE_HOME/counterfoil/tools`, else `~/.cache/counterfoil/tools`.
/// None where the environment names none of the three.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("COUNTERFOIL_TOOLS")
        .or_else(|| from("XDG_CACHE_HOME").map(|path| path.join("counterfoil/tools")))
        .or_else(|| from("HOME").map(|path| path.join(".cache/counterfoil/tools")))
}

/// Folder of a tool in this version, whether or not it is there yet.
#[must_use]
pub fn place(tool: &str, version: &str) -> Option<PathBuf> {
    Some(folder()?.join(format!("{tool}-{version}")))
}

/// Folder of a tool in this version, when it is installed.
#[must_use]
pub fn installed(tool: &str, version: &str) -> Option<PathBuf> {
    place(tool, version).filter(|path| path.is_dir())
}
