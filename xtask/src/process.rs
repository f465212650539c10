//! Running other programs: always from the workspace's root, with the command in the error when it fails.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The cargo that started us, working in the workspace at `root` and building into its `target` folder.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).env("CARGO_TARGET_DIR", root.join("target"));
    // What `cargo run` tells this program about itself is not meant for what this program starts.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST") || text == "CARGO_PRIMARY_PACKAGE" {
            command.env_remove(&name);
        }
    }
    command
}

/// Run to the end, output going where ours goes. Any other end than success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Run to the end and give back what it printed on standard output, trimmed.
pub fn output(command: &mut Command) -> Result<String> {
    let done =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{}`", line(command)))?;
    if !done.status.success() {
        bail!("`{}` ended with {}", line(command), done.status);
    }
    Ok(String::from_utf8(done.stdout).context("its output is not UTF-8")?.trim().to_owned())
}

/// Whether the program runs and ends with success; what it prints is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
