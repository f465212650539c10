//! `cargo xtask setup`: a Rust that builds for `wasm32-unknown-unknown`.
//!
//! rustup's target is the ordinary way. Where rustup cannot give it, Debian's compiler and library source of one version
//! build the standard library from source. The two give different bytes, so the route is written beside each digest.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// The target that the component is built for.
pub const TARGET: &str = "wasm32-unknown-unknown";
/// Debian's compiler, put there by the package `rustc-web`.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
/// Debian's packages: the compiler and the source of its standard library.
const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// How the component is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The compiler in use, with the target's standard library as rustup installs it.
    Rustup,
    /// Debian's compiler, the standard library built from source.
    Debian,
}

impl Route {
    /// The route's name as it stands beside a digest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rustup => "rustup",
            Self::Debian => "debian-build-std",
        }
    }

    /// A `cargo build` on this route for the target, without the package's options.
    pub fn cargo_build(self, root: &Path) -> Command {
        let mut command = process::cargo(root);
        command.arg("build");
        if self == Self::Debian {
            command
                .env("RUSTC", DEBIAN_RUSTC)
                // `-Zbuild-std` is not stable yet, and the standard library is built with what is not stable anyway.
                .env("RUSTC_BOOTSTRAP", "1")
                .arg("-Zbuild-std=std,panic_abort");
            // Debian's compiler comes without the linker for WebAssembly; the toolchain of the cargo in use has one.
            if let Some(path) = path_with_linker(root) {
                command.env("PATH", path);
            }
        }
        command.args(["--target", TARGET]);
        command
    }

    /// The route's compiler, to be asked about itself from within the workspace.
    pub fn rustc(self, root: &Path) -> Command {
        let mut command = Command::new(match self {
            Self::Rustup => std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
            Self::Debian => DEBIAN_RUSTC.into(),
        });
        command.current_dir(root);
        command
    }
}

/// Find a route, installing what is missing where that can be done.
pub fn run(root: &Path) -> Result<Route> {
    let forced = std::env::var_os("COUNTERFOIL_WASM_ROUTE").is_some_and(|value| value == "debian");
    if !forced {
        if has_target(root) {
            println!("setup: Rust builds for {TARGET}");
            return Ok(Route::Rustup);
        }
        println!("setup: rustup target add {TARGET}");
        let mut rustup = Command::new("rustup");
        if process::succeeds(rustup.current_dir(root).args(["target", "add", TARGET])) && has_target(root) {
            return Ok(Route::Rustup);
        }
    }
    if debian_is_ready() || install_debian() {
        println!("setup: Debian's Rust builds for {TARGET}, standard library from source");
        return Ok(Route::Debian);
    }
    bail!(
        "Rust cannot build for {TARGET} here: run `rustup target add {TARGET}`, or on Debian as root \
         `apt-get install --no-install-recommends {}`",
        DEBIAN_PACKAGES.join(" ")
    )
}

/// `PATH` with the folder in front in which the toolchain in use keeps `rust-lld`.
fn path_with_linker(root: &Path) -> Option<std::ffi::OsString> {
    let folder = process::output(Route::Rustup.rustc(root).args(["--print", "target-libdir"])).ok()?;
    // `<sysroot>/lib/rustlib/<host>/lib`, and the linker is in `bin` beside it.
    let folder = PathBuf::from(folder).parent()?.join("bin");
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&rest))).ok()
}

/// Whether the compiler in use has the target's standard library.
fn has_target(root: &Path) -> bool {
    let folder = process::output(Route::Rustup.rustc(root).args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_ok_and(|folder| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()))
}

/// Whether Debian's compiler and the source that belongs to it are installed, and new enough for this workspace.
fn debian_is_ready() -> bool {
    let Ok(sysroot) = process::output(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])) else {
        return false;
    };
    let version = process::output(Command::new(DEBIAN_RUSTC).arg("--version")).unwrap_or_default();
    is_new_enough(&version) && PathBuf::from(sysroot).join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file()
}

/// Whether `rustc 1.96.0 (…)` is the workspace's `rust-version` or later.
fn is_new_enough(version: &str) -> bool {
    let number = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let found = version.split_whitespace().nth(1).and_then(number);
    found.is_some() && found >= number(env!("CARGO_PKG_RUST_VERSION"))
}

/// Install Debian's packages, where this is Debian and we are root.
fn install_debian() -> bool {
    let root_user = process::output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0");
    if !Path::new("/etc/debian_version").is_file() || !root_user {
        return false;
    }
    // Stale package lists name a compiler that is too old: the one that is new enough comes by Debian's security updates.
    println!("setup: apt-get update");
    if !process::succeeds(Command::new("apt-get").arg("update")) {
        eprintln!("setup: the package lists could not be brought up to date");
    }
    println!("setup: apt-get install --no-install-recommends {}", DEBIAN_PACKAGES.join(" "));
    apt_install() && debian_is_ready()
}

/// One try to install Debian's packages.
fn apt_install() -> bool {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "--no-install-recommends"]);
    process::succeeds(command.args(DEBIAN_PACKAGES))
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn a_compiler_older_than_the_workspace_asks_for_is_not_taken() {
        assert!(!is_new_enough("rustc 1.85.0 (4d91de4e4 2025-02-17) (built from a source tarball)"));
        assert!(is_new_enough("rustc 1.95.0 (59807616e 2026-04-14)"));
        assert!(is_new_enough("rustc 1.96.0 (ac68faa20 2026-05-25)"));
        assert!(is_new_enough("rustc 2.0.0"));
        assert!(!is_new_enough(""));
    }
}
