//! `cargo xtask check`: all that is checked without running the code.

mod guard;

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::setup::Route;
use crate::{component, install, process, schemas, setup};

/// Version of cargo-deny, installed into the tool cache.
const CARGO_DENY: &str = "0.20.2";

/// Formatting, lints, documentation, schemas, licences and advisories, dependency rules; the first that fails ends it.
pub fn run(root: &Path) -> Result<()> {
    let cargo = |words: &[&str]| {
        println!("check: cargo {}", words.join(" "));
        let mut command = process::cargo(root);
        command.args(words);
        command
    };
    process::run(&mut cargo(&["fmt", "--all", "--check"]))?;
    guard::run(root)?;
    deny(root)?;
    // The binary embeds the component, so that nothing of it compiles without.
    component::run(root)?;
    let lints = [
        "--workspace",
        "--exclude",
        "counterfoil-policy",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    process::run(&mut cargo(
        &[&["clippy", "--quiet"], lints.as_slice()].concat(),
    ))?;
    let without_mcp = [
        "--package",
        "counterfoil",
        "--no-default-features",
        "--",
        "-D",
        "warnings",
    ];
    process::run(&mut cargo(
        &[&["clippy", "--quiet"], without_mcp.as_slice()].concat(),
    ))?;
    policy_lints(root)?;
    let documents = [
        "doc",
        "--quiet",
        "--workspace",
        "--exclude",
        "counterfoil-policy",
        "--no-deps",
    ];
    process::run(cargo(&documents).env("RUSTDOCFLAGS", "-D warnings"))?;
    println!("check: the schemas are those of the code");
    schemas::run(root, true)?;
    println!("check: all passed");
    Ok(())
}

/// Lints of the policy crate, for the target that it is built for.
fn policy_lints(root: &Path) -> Result<()> {
    if setup::run(root)? == Route::Debian {
        println!(
            "check: the policy crate is not linted; that takes rustup's {}",
            setup::TARGET
        );
        return Ok(());
    }
    println!(
        "check: cargo clippy --package counterfoil-policy --target {}",
        setup::TARGET
    );
    let mut command = process::cargo(root);
    command
        .env("CARGO_TARGET_DIR", root.join("target/wasm"))
        .args(["clippy", "--quiet"]);
    command.args([
        "--package",
        "counterfoil-policy",
        "--target",
        setup::TARGET,
        "--",
        "-D",
        "warnings",
    ]);
    process::run(&mut command)
}

/// Licences, sources, banned crates; advisories too where their database can be had.
fn deny(root: &Path) -> Result<()> {
    let home = install::crate_once(root, "cargo-deny", CARGO_DENY, &[])?;
    let deny = |words: &[&str]| {
        println!("check: cargo deny {}", words.join(" "));
        let mut command = Command::new(home.join("bin/cargo-deny"));
        command
            .current_dir(root)
            .args(["--all-features", "--log-level", "error"])
            .args(words);
        command
    };
    process::run(&mut deny(&["check", "bans", "licenses", "sources"]))?;
    if process::succeeds(&mut deny(&["fetch", "db"])) {
        return process::run(&mut deny(&["check", "--disable-fetch", "advisories"]));
    }
    eprintln!(
        "check: NOTE: the advisory database cannot be fetched; advisories are NOT CHECKED in this run"
    );
    Ok(())
}
