//! `cargo xtask check`: all that is checked without running the code.

mod guard;

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::setup::Route;
use crate::{component, install, process, setup};

/// Version of cargo-deny, installed into the tool cache.
const CARGO_DENY: &str = "0.20.2";
/// For clippy: a warning is an error.
const DENY_WARNINGS: [&str; 3] = ["--", "-D", "warnings"];

/// Formatting, lints, documentation, licences and advisories, dependency rules; the first that fails ends it.
pub fn run(root: &Path) -> Result<()> {
    say("cargo fmt");
    process::run(process::cargo(root).args(["fmt", "--all", "--check"]))?;
    guard::run(root)?;
    deny(root)?;
    // The binary embeds the component, so that nothing of it compiles without.
    component::run(root)?;
    say("cargo clippy, on the workspace");
    let mut lints = process::cargo(root);
    component::without_guests(lints.args(["clippy", "--quiet", "--all-targets"]));
    process::run(lints.args(DENY_WARNINGS))?;
    say("cargo clippy, on the binary without the feature `mcp`");
    let mut lints = process::cargo(root);
    lints.args(["clippy", "--quiet", "--package", "counterfoil", "--no-default-features"]);
    process::run(lints.args(DENY_WARNINGS))?;
    guest_lints(root)?;
    say("cargo doc");
    let mut documentation = process::cargo(root);
    documentation.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--quiet", "--no-deps"]);
    process::run(component::without_guests(&mut documentation))?;
    say("all passed");
    Ok(())
}

/// Say what is checked next.
fn say(what: &str) {
    println!("check: {what}");
}

/// Lints of the guests, for the target that they are built for.
fn guest_lints(root: &Path) -> Result<()> {
    if setup::run(root)? == Route::Debian {
        say(&format!("the guests are not linted; that takes rustup's {}", setup::TARGET));
        return Ok(());
    }
    for guest in component::GUESTS {
        say(&format!("cargo clippy, on {guest}"));
        let mut lints = process::cargo(root);
        lints.env("CARGO_TARGET_DIR", root.join("target/wasm")).args(["clippy", "--quiet", "--package", guest]);
        process::run(lints.args(["--target", setup::TARGET]).args(DENY_WARNINGS))?;
    }
    Ok(())
}

/// Licences, sources, banned crates; advisories too where their database can be had.
fn deny(root: &Path) -> Result<()> {
    let home = install::crate_once(root, "cargo-deny", CARGO_DENY, &[])?;
    let deny = |words: &[&str]| {
        say(&format!("cargo deny {}", words.join(" ")));
        let mut command = Command::new(home.join("bin/cargo-deny"));
        command.current_dir(root).args(["--all-features", "--log-level", "error"]).args(words);
        command
    };
    process::run(&mut deny(&["check", "bans", "licenses", "sources"]))?;
    if process::succeeds(&mut deny(&["fetch", "db"])) {
        return process::run(&mut deny(&["check", "--disable-fetch", "advisories"]));
    }
    eprintln!("check: NOTE: the advisory database cannot be fetched; advisories are NOT CHECKED in this run");
    Ok(())
}
