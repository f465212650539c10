//! `cargo xtask reproduce`: the same sources in two folders give the same component.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{component, process, setup};

/// Two paths of different length and depth, below a temporary folder.
const PLACES: [&str; 2] = ["a", "quite/another place/with-a-longer-path"];

/// Build the component in two copies of the source tree and compare the files.
pub fn run(root: &Path) -> Result<()> {
    let route = setup::run(root)?;
    let program = component::prepare_program(root)?;
    let parent = std::env::temp_dir().join(format!("counterfoil-reproduce-{}", std::process::id()));
    // Both before the first build: the sources may be worked on meanwhile.
    let copies = PLACES.map(|place| parent.join(place));
    for copy in &copies {
        copy_tree(root, copy)?;
    }
    let mut found = Vec::new();
    for copy in copies {
        let started = Instant::now();
        let plain = component::compile(&copy, route)?;
        let (wasm, _) = component::prepare(&program, &plain, &copy.join("target/wasm"))?;
        for path in [&copy, root] {
            if holds(&wasm, path) {
                bail!("the component holds the path `{}`", path.display());
            }
        }
        let built = component::describe(&wasm);
        let seconds = started.elapsed().as_secs_f64();
        println!("reproduce: {} {} bytes in {} ({seconds:.0} s)", built.sha256, built.size, copy.display());
        found.push(built);
    }
    fs::remove_dir_all(&parent).with_context(|| format!("cannot remove `{}`", parent.display()))?;
    if found.windows(2).any(|pair| pair.first() != pair.last()) {
        bail!("the two builds differ");
    }
    println!("reproduce: the two builds are the same file");
    Ok(())
}

/// Whether the path's text stands in the bytes.
fn holds(bytes: &[u8], path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    bytes.windows(text.len()).any(|window| window == text)
}

/// Copy what belongs to the source tree: what git tracks or would track.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut git = std::process::Command::new("git");
    git.current_dir(from).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = process::output(&mut git)?;
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let source: PathBuf = from.join(name);
        // A file that was removed and not committed yet is listed all the same.
        if !source.is_file() {
            continue;
        }
        let target = to.join(name);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(&source, &target).with_context(|| format!("cannot copy `{}`", source.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_bytes_is_found() {
        assert!(holds(b"..\0/home/me/x\0..", Path::new("/home/me/x")));
        assert!(!holds(b"..\0/home/me/y\0..", Path::new("/home/me/x")));
        assert!(!holds(b"", Path::new("/home/me/x")));
    }
}
