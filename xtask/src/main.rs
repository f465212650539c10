//! `cargo xtask …`: the project's own commands, from any folder of the clone.
//!
//! Each does one thing, says in a line what it does, and calls the ones it needs. Nothing here links the sandbox: what
//! has to run the component is a program of the engine's crate that is built and started.

mod build;
mod cache;
mod check;
mod component;
mod install;
mod process;
mod reproduce;
mod schemas;
mod setup;
mod test;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

/// What `cargo xtask --help` prints.
const HELP: &str = "\
Usage: cargo xtask COMMAND

  setup                 make sure that Rust can build for wasm32-unknown-unknown
  component [--hostile] build, pre-initialise and check the component; with --hostile the test components too
  build                 component, then the optimised binary at target/release/counterfoil
  demo [ARGUMENTS]      build, then the scripted tour
  tools                 install the programs of other projects that the tests call, once, into the tool cache
  test                  component, build, tools, then every test
  check                 formatting, lints, licences and advisories, documentation, dependency rules
  bench                 measure; prints one table
  schemas [--check]     write schemas/*.json anew; with --check only compare
  reproduce             build the component in two folders and compare the files
  help                  this text

Environment:
  COUNTERFOIL_TOOLS             folder of the tool cache (else below XDG_CACHE_HOME or ~/.cache)
  COUNTERFOIL_WASM_ROUTE=debian take Debian's compiler for the component, whatever rustup has
  CI=true                       a test that would be skipped fails
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match dispatch(&root(), &words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Run the command that the words name.
fn dispatch(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        ["setup"] => setup::run(root).map(drop),
        ["component"] => component::run(root).map(drop),
        ["component", "--hostile"] => component::run(root).and_then(|_| component::hostile(root)),
        ["build"] => build::run(root).map(drop),
        ["demo", arguments @ ..] => build::demo(root, arguments),
        ["tools"] => tools::run(root),
        ["test"] => test::run(root),
        ["check"] => check::run(root),
        ["bench"] => build::bench(root),
        ["schemas"] => schemas::run(root, false),
        ["schemas", "--check"] => schemas::run(root, true),
        ["reproduce"] => reproduce::run(root),
        [] | ["help" | "--help" | "-h", ..] => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("`{}` is no command; `cargo xtask --help` lists them", other.join(" ")),
    }
}

/// The workspace's root: the folder above this crate's.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_named_in_the_error() {
        let error = dispatch(&root(), &["tset"]).unwrap_err().to_string();
        assert!(error.contains("`tset`"), "{error}");
        let error = dispatch(&root(), &["component", "--hostlie"]).unwrap_err().to_string();
        assert!(error.contains("`component --hostlie`"), "{error}");
    }

    #[test]
    fn the_root_holds_the_contract() {
        assert!(root().join("wit/world.wit").is_file());
    }
}
