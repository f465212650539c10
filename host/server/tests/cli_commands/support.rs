//! A project folder and the binary in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is the root of a project.
pub struct Place(TempDir);

/// How a command ended and what it printed.
#[derive(Debug)]
pub struct Told {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("objects")).unwrap();
        std::fs::create_dir_all(git.join("refs")).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Its state folder, there or not.
    pub fn state(&self) -> PathBuf {
        self.path().join(".roam")
    }

    /// Write a file, and its folders.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary in this folder, with nothing of our own environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_counterfoil"));
        command.env_clear().current_dir(self.path()).args(arguments);
        command
    }

    /// Run it.
    pub fn cli(&self, arguments: &[&str]) -> Told {
        self.cli_with(arguments, b"", &[])
    }

    /// Run it with text on standard input.
    pub fn pipe(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Told {
        self.cli_with(arguments, input.as_ref(), &[])
    }

    /// Run it with text on standard input and variables in the environment.
    pub fn cli_with(&self, arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Told {
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // From a thread of its own: a filter answers while it still reads. One that stops early closes the pipe.
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Told {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Told {
    /// The same, once it is known to have ended with this status.
    pub fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Each line of standard output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }

    /// Standard error as the one line of an error.
    pub fn error(&self) -> &str {
        let line = self.err.strip_suffix('\n').unwrap_or(&self.err);
        assert!(!line.contains('\n') && line.starts_with("error: "), "{self:?}");
        line
    }
}

/// A synthetic token of GitHub's classic shape. Put together here so that no scanner takes this file for a leak.
pub fn token() -> String {
    ["gh", "p_", "x7Kq2mVb9TzR4wLp8NcY1sJd6HfG3aEu5QoX"].concat()
}

/// What a masked [`token`] reads as.
pub const MASK: &str = "[REDACTED:github_pat_classic]";
