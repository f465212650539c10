//! `counterfoil demo`: a tour with a built-in sample server.
//!
//! Everything in it is real: [`upstream`] is an MCP server on a loopback port, the host in front of it is what `serve` runs,
//! and the client is an ordinary MCP client. [`steps`] are the stations of the tour, [`evidence`] looks at what was written.

mod evidence;
mod steps;
mod upstream;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

/// Take a tour: a gated, redacted, receipted MCP call in front of a built-in sample server
///
/// Ends with status 0 only if each step did what it should. Needs no network, and leaves nothing behind but for `--keep`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil demo
  counterfoil demo --keep /tmp/tour && counterfoil --state-dir /tmp/tour/.roam runs verify --all")]
pub struct DemoArgs {
    /// Leave the evidence in this folder, which must be new or empty
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Where the tour tells what it does.
pub type Say<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// Take the tour. The answer is whether each step did what it should.
///
/// # Errors
///
/// When the tour cannot go on: the host does not start, a folder cannot be written.
pub fn run(args: DemoArgs, component: Option<PathBuf>, say: Say<'_>) -> anyhow::Result<bool> {
    let folder = match args.keep {
        Some(path) => Folder::kept(path)?,
        None => Folder::passing()?,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    let mut tour = Tour { say, number: 0, failed: 0 };
    runtime.block_on(async {
        tokio::select! {
            toured = steps::all(&mut tour, folder.path(), component) => toured,
            // Ending here, and not by the signal, takes the folder away.
            _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("the tour was interrupted")),
        }
    })?;
    if folder.kept {
        tour.note(&format!("the evidence is in {}", folder.path().display()))?;
    }
    let all_well = tour.failed == 0;
    (tour.say)(if all_well { "\nEach step did what it should.\n" } else { "\nNot every step did what it should.\n" })?;
    Ok(all_well)
}

/// The tour as its steps see it.
pub struct Tour<'a> {
    say: Say<'a>,
    number: usize,
    failed: usize,
}

impl Tour<'_> {
    /// Begin a step.
    fn step(&mut self, title: &str) -> anyhow::Result<()> {
        self.number = self.number.saturating_add(1);
        (self.say)(&format!("\n{}. {title}\n", self.number))
    }

    /// Say what a step expected and whether it came so.
    fn check(&mut self, holds: bool, text: &str) -> anyhow::Result<()> {
        if !holds {
            self.failed = self.failed.saturating_add(1);
        }
        (self.say)(&format!("   {} {text}\n", if holds { "ok    " } else { "FAILED" }))
    }

    /// Say something beside the checks.
    fn note(&mut self, text: &str) -> anyhow::Result<()> {
        for line in text.lines() {
            (self.say)(&format!("   {line}\n"))?;
        }
        Ok(())
    }
}

/// The tour's folder. One that is not kept goes when this is dropped.
struct Folder {
    path: PathBuf,
    kept: bool,
}

impl Folder {
    fn kept(path: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        let mut inside = std::fs::read_dir(&path).with_context(|| format!("cannot look into `{}`", path.display()))?;
        anyhow::ensure!(
            inside.next().is_none(),
            "`{}` is not empty; the tour wants a folder of its own",
            path.display()
        );
        Ok(Self { path, kept: true })
    }

    fn passing() -> anyhow::Result<Self> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(anyhow::Error::msg).context("the system gives no random bytes")?;
        let path = std::env::temp_dir().join(format!("counterfoil-demo-{}", hex::encode(name)));
        std::fs::create_dir(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        Ok(Self { path, kept: false })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed stays in the system's folder for passing things.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
