//! `cargo xtask component`: from the policy crate to the file that hosts load.
//!
//! compile → encode as a component → snapshot with the default configuration and precompile → check. Each step's
//! output is a function of the sources and the compiler alone, whatever folder they are in.

mod inspect;
mod stamp;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::json;
use wit_component::ComponentEncoder;

use crate::process;
use crate::setup::{self, Route, TARGET};

/// The component may not be larger.
const MAX_BYTES: usize = 2 << 20;
/// Separates the flags in `CARGO_ENCODED_RUSTFLAGS`, so that a path may hold a blank.
const FLAG_SEPARATOR: &str = "\u{1f}";

/// The crates that exist for the component target only.
pub const GUESTS: [&str; 2] = ["counterfoil-policy", "counterfoil-hostile"];

/// The command on the whole workspace, with the guests left out.
pub fn without_guests(command: &mut Command) -> &mut Command {
    command.arg("--workspace").args(GUESTS.iter().flat_map(|guest| ["--exclude", guest]))
}

/// `cargo build --release` of one program, in the selection of packages that the tests are built in.
///
/// Cargo settles the features of dependencies for what is selected. A selection of its own for each program, or one
/// without the dependencies of tests, would have the sandbox compiled two or three times over. The example is there
/// because cargo looks at the dependencies of tests only when something that may use them is built; it is small.
pub fn program(root: &Path, name: &str) -> Result<PathBuf> {
    let mut build = process::cargo(root);
    build.args(["build", "--release", "--exclude", "xtask", "--bin", name, "--example", "redact_lines"]);
    process::run(without_guests(&mut build))?;
    Ok(root.join("target/release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// SHA-256 of the component, lower-case hex.
    pub sha256: String,
    /// Its size in bytes.
    pub size: usize,
}

/// Build `target/component/counterfoil.{wasm,cwasm,json}`, unless they are there and nothing they come from has changed.
pub fn run(root: &Path) -> Result<Built> {
    let route = setup::run(root)?;
    let compiler = process::output(route.rustc(root).arg("--version"))?;
    let stamp = stamp::of(root, &[route.as_str(), &process::output(route.rustc(root).arg("-vV"))?])?;
    let folder = root.join("target/component");
    let wasm_path = folder.join("counterfoil.wasm");
    let stamp_path = folder.join("stamp");
    let fresh = fs::read_to_string(&stamp_path).is_ok_and(|found| found == stamp);
    if fresh && folder.join("counterfoil.cwasm").is_file() && folder.join("counterfoil.json").is_file() {
        println!("component: nothing it is built from has changed");
    } else {
        let started = Instant::now();
        fs::create_dir_all(&folder)?;
        println!("component: compiling with {compiler} ({})", route.as_str());
        let plain = compile(root, route)?;
        let (wasm, cwasm) = prepare(&prepare_program(root)?, &plain, &root.join("target/wasm"))?;
        let built = describe(&wasm);
        replace(&wasm_path, &wasm)?;
        replace(&folder.join("counterfoil.cwasm"), &cwasm)?;
        let facts = json!({
            "sha256": built.sha256, "size": built.size, "compiler": compiler, "route": route.as_str(),
        });
        replace(&folder.join("counterfoil.json"), format!("{facts:#}\n").as_bytes())?;
        // Last, so that a build that was killed is done again.
        replace(&stamp_path, stamp.as_bytes())?;
        println!("component: built in {:.1} s", started.elapsed().as_secs_f64());
    }
    let wasm = fs::read(&wasm_path).with_context(|| format!("cannot read `{}`", wasm_path.display()))?;
    let contents = inspect::inspect(&wasm)?;
    if !contents.imports.is_empty() {
        bail!("the component imports {}; it may import nothing", contents.imports.join(", "));
    }
    if wasm.len() > MAX_BYTES {
        bail!("the component has {} bytes; at most {MAX_BYTES} are allowed", wasm.len());
    }
    let built = describe(&wasm);
    println!("component: {}", wasm_path.display());
    println!("component: {} bytes, valid, imports: none, exports: {}", built.size, contents.exports.join(" "));
    println!("component: sha256 {} ({compiler}, {})", built.sha256, route.as_str());
    Ok(built)
}

/// Build the components that misbehave, for the tests, to `target/component/hostile/<name>.wasm`.
///
/// Each feature of the crate `tests/hostile` is one of them.
pub fn hostile(root: &Path) -> Result<()> {
    let route = setup::run(root)?;
    let folder = root.join("target/component/hostile");
    fs::create_dir_all(&folder)?;
    let manifest =
        fs::read_to_string(root.join("tests/hostile/Cargo.toml")).context("cannot read `tests/hostile/Cargo.toml`")?;
    for name in feature_names(&manifest) {
        let module = build(root, route, &["--package", "counterfoil-hostile", "--features", name])?;
        let component = encode(&module.join("counterfoil_hostile.wasm"))?;
        inspect::inspect(&component)?;
        replace(&folder.join(format!("{name}.wasm")), &component)?;
        println!("component: hostile/{name}.wasm, {} bytes", component.len());
    }
    Ok(())
}

/// The names in a manifest's table `[features]`, but `default`.
fn feature_names(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim()))
        .filter(|name| !name.starts_with('#') && *name != "default")
}

/// Compile the policy crate of the workspace at `root` and encode it as a component.
pub fn compile(root: &Path, route: Route) -> Result<Vec<u8>> {
    let folder = build(root, route, &["--package", "counterfoil-policy"])?;
    encode(&folder.join("counterfoil_policy.wasm"))
}

/// Build a package for the target; gives back the folder of the output.
fn build(root: &Path, route: Route, package: &[&str]) -> Result<PathBuf> {
    // The registry's folder has to be there before its path can be made anonymous.
    process::run(process::cargo(root).args(["fetch", "--quiet", "--target", TARGET]))?;
    let target = root.join("target/wasm");
    let mut command = route.cargo_build(root);
    command
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(root, route)?.join(FLAG_SEPARATOR.as_ref()))
        .args(["--profile", "component"])
        .args(package);
    process::run(&mut command)?;
    Ok(target.join(TARGET).join("component"))
}

/// Flags of the compiler: SIMD, and no path of this machine in the output.
fn rustflags(root: &Path, route: Route) -> Result<Vec<OsString>> {
    let sysroot = PathBuf::from(process::output(route.rustc(root).args(["--print", "sysroot"]))?);
    let verbose = process::output(route.rustc(root).arg("-vV"))?;
    let commit = verbose.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown");
    let cargo_home = match std::env::var_os("CARGO_HOME") {
        Some(path) => PathBuf::from(path),
        None => std::env::home_dir().context("set `CARGO_HOME` or `HOME`")?.join(".cargo"),
    };
    // Of several that match the last counts: the general ones come first.
    let mut remaps = vec![
        (sysroot.clone(), "/sysroot".to_owned()),
        // What the precompiled standard library has for the same place.
        (sysroot.join("lib/rustlib/src/rust"), format!("/rustc/{commit}")),
        (cargo_home.clone(), "/cargo".to_owned()),
    ];
    let mut registries: Vec<PathBuf> = match fs::read_dir(cargo_home.join("registry/src")) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?,
        Err(_) => Vec::new(),
    };
    registries.sort();
    // The folder's name depends on the mirror that a machine takes its crates from.
    remaps.extend(registries.into_iter().map(|path| (path, "/registry".to_owned())));
    remaps.push((root.to_path_buf(), "/counterfoil".to_owned()));
    let mut flags = vec![OsString::from("-Ctarget-feature=+simd128")];
    for (from, to) in remaps {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push("=");
        flag.push(to);
        flags.push(flag);
    }
    Ok(flags)
}

/// The component in the core module at `path`, which holds the contract in a section of its own.
fn encode(path: &Path) -> Result<Vec<u8>> {
    let module = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    ComponentEncoder::default().validate(true).module(&module)?.encode().context("cannot encode the component")
}

/// The engine's program that snapshots and precompiles a component, built.
pub fn prepare_program(root: &Path) -> Result<PathBuf> {
    program(root, "counterfoil-prepare")
}

/// The snapshot of a component with its default configuration, and its precompiled form. `scratch` takes the files.
pub fn prepare(program: &Path, plain: &[u8], scratch: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
    let [from, wasm, cwasm] = ["plain.wasm", "snapshot.wasm", "snapshot.cwasm"].map(|name| scratch.join(name));
    fs::write(&from, plain)?;
    process::run(Command::new(program).args([&from, &wasm, &cwasm]))?;
    Ok((fs::read(wasm)?, fs::read(cwasm)?))
}

/// Digest and size.
pub fn describe(wasm: &[u8]) -> Built {
    Built { sha256: stamp::sha256(wasm), size: wasm.len() }
}

/// Put `bytes` at `path` in one step. A file that holds them already is left alone, so that what depends on it is not
/// built anew.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    fs::write(&partial, bytes).with_context(|| format!("cannot write `{}`", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_names_are_those_of_the_table() {
        let manifest = "[package]\nname = \"x\"\n\n[features]\ndefault = []\n# Traps.\ntrap = []\nspin = []\n\n[lib]\ntest = false\n";
        assert_eq!(feature_names(manifest).collect::<Vec<_>>(), ["trap", "spin"]);
        assert_eq!(feature_names("[package]\nname = \"x\"\n").count(), 0);
    }
}
