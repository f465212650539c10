//! Whether a build has to be done again: a digest over all that goes into it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Files and folders, from the root, that the component and its precompiled form are made from.
const INPUTS: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "wit",
    "components/core/Cargo.toml",
    "components/core/src",
    "components/policy",
    "host/engine/Cargo.toml",
    "host/engine/src",
    "xtask/src",
];

/// A digest of the inputs, of `words` (the compiler), and of the processor: precompiled code is for one kind of it.
pub fn of(root: &Path, words: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for input in INPUTS {
        collect(&root.join(input), &mut files)?;
    }
    files.sort();
    let mut digest = Sha256::new();
    for word in words.iter().copied().chain([std::env::consts::ARCH, processor().as_str()]) {
        digest.update(sha256(word.as_bytes()));
    }
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        let bytes = fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        digest.update(sha256(name.as_bytes()));
        digest.update(sha256(&bytes));
    }
    Ok(hex::encode(digest.finalize()))
}

/// SHA-256, lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The file, or every file below the folder.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    for entry in entries {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

/// What the processor can do, as Linux lists it; empty elsewhere.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines().find(|line| line.starts_with("flags") || line.starts_with("Features")).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_is_the_published_one() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn another_compiler_is_another_stamp() {
        let root = crate::root();
        assert_eq!(of(&root, &["a"]).unwrap(), of(&root, &["a"]).unwrap());
        assert_ne!(of(&root, &["a"]).unwrap(), of(&root, &["b"]).unwrap());
        assert_ne!(of(&root, &["ab", "c"]).unwrap(), of(&root, &["a", "bc"]).unwrap());
    }
}
