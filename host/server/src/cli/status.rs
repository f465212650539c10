//! Exit statuses, and the errors that choose one.

use std::fmt;
use std::io;
use std::process::ExitCode;

use counterfoil_evidence::EvidenceError;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Everything is as asked.
    Fine,
    /// Something went wrong.
    Failed,
    /// Wrong use, or the thing named does not exist.
    WrongUse,
    /// Evidence was tampered with, as roam-code says it.
    Tampered,
    /// Policy refuses the call.
    Refused,
}

impl Status {
    /// The status of a verdict that comes with an exit code of its own.
    pub fn of_exit_code(code: u8) -> Self {
        match code {
            0 => Self::Fine,
            2 => Self::WrongUse,
            5 => Self::Tampered,
            6 => Self::Refused,
            _ => Self::Failed,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Fine => 0,
            Status::Failed => 1,
            Status::WrongUse => 2,
            Status::Tampered => 5,
            Status::Refused => 6,
        })
    }
}

/// Wrong use, or something named on the command line that does not exist
#[derive(Debug)]
pub struct WrongUse(pub String);

impl fmt::Display for WrongUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUse {}

/// Standard output was closed by its reader: no failure, there is only nobody left to write to
#[derive(Debug)]
pub struct NobodyReads;

impl fmt::Display for NobodyReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for NobodyReads {}

/// The error of a write to standard output.
pub fn of_output(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        anyhow::Error::new(NobodyReads)
    } else {
        anyhow::Error::new(error).context("cannot write to standard output")
    }
}

/// The error of opening or reading the file at `path` that was named on the command line: status 2 where it is not there.
pub fn of_input(path: &std::path::Path, error: io::Error) -> anyhow::Error {
    let text = format!("cannot read `{}`", path.display());
    let wrong =
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory);
    let error = anyhow::Error::new(error);
    if wrong { error.context(WrongUse(text)) } else { error.context(text) }
}

/// What to print for an error, and the status to end with. Nothing is printed where nobody reads any more.
pub fn report(error: &anyhow::Error) -> (Status, Option<String>) {
    if error.downcast_ref::<NobodyReads>().is_some() {
        return (Status::Fine, None);
    }
    let wrong =
        error.downcast_ref::<WrongUse>().is_some() || error.downcast_ref::<EvidenceError>().is_some_and(names_nothing);
    let status = if wrong { Status::WrongUse } else { Status::Failed };
    let text = chain(error);
    let line = text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    (status, Some(line))
}

/// An error and its causes, each said once: many a text has the words of its cause in it already.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = cause.to_string();
        if !text.contains(&words) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&words);
        }
    }
    text
}

/// Whether an error says that what was named is not there, or is no name at all.
fn names_nothing(error: &EvidenceError) -> bool {
    matches!(
        error,
        EvidenceError::UnknownRun { .. }
            | EvidenceError::UnknownReceipt { .. }
            | EvidenceError::UnsafeId { .. }
            | EvidenceError::UnknownStatus
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_missing_file_is_wrong_use_and_a_denied_one_a_failure() {
        let path = std::path::Path::new("x");
        let missing = of_input(path, io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(report(&missing).0, Status::WrongUse);
        let denied = of_input(path, io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(report(&denied).0, Status::Failed);
    }

    #[test]
    fn a_closed_output_is_silent_and_fine() {
        let error =
            Err::<(), _>(of_output(io::Error::from(io::ErrorKind::BrokenPipe))).context("while listing").unwrap_err();
        assert_eq!(report(&error), (Status::Fine, None));
    }

    #[test]
    fn a_cause_is_said_once() {
        let system = || io::Error::from_raw_os_error(20);
        let inner = EvidenceError::io("open", std::path::Path::new("x"), system());
        let (_, line) = report(&anyhow::Error::new(inner).context("no run can be started"));
        let line = line.unwrap();
        assert_eq!(line.matches(&system().to_string()).count(), 1, "{line}");
        assert!(line.starts_with("no run can be started: cannot open `x`: "), "{line}");
        let (_, line) = report(&anyhow::Error::new(system()).context("cannot read `x`"));
        assert_eq!(line.unwrap(), format!("cannot read `x`: {}", system()));
    }

    #[test]
    fn a_chain_is_one_line() {
        let error = anyhow::anyhow!("inner\n  detail").context("outer");
        assert_eq!(report(&error), (Status::Failed, Some("outer: inner detail".to_owned())));
    }
}
