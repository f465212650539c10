//! Reading what is to be judged, without following links or names that lead elsewhere.

use crate::error::EvidenceError;
use crate::files::Folder;
use crate::ids::{RunId, receipt_parts};
use crate::state::StateDir;
use crate::store::{RECEIPT_MAX, RECEIPTS_FOLDER};

/// How deep below a run's receipt folder receipts are looked for.
const DEPTH_MAX: usize = 8;

/// What was found where a receipt should be.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The bytes.
    Bytes(Vec<u8>),
    /// Nothing.
    Missing,
    /// Something that cannot be read as a receipt, and why.
    Unreadable(String),
    /// The name leads out of the run's folder.
    Unsafe,
}

impl Found {
    /// The bytes, if there are any.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Missing | Self::Unreadable(_) | Self::Unsafe => None,
        }
    }
}

/// The receipts of one run.
pub struct Receipts {
    folder: Option<Folder>,
}

impl Receipts {
    /// Opens a run's receipt folder, if there is one.
    pub fn open(state: &StateDir, run: &RunId) -> Result<Self, EvidenceError> {
        let all = match state.open_if_there()? {
            Some(folder) => folder.child_if_there(RECEIPTS_FOLDER)?,
            None => None,
        };
        let folder = match all {
            Some(all) => all.child_if_there(run.as_str())?,
            None => None,
        };
        Ok(Self { folder })
    }

    /// The receipt that a ledger names.
    pub fn read(&self, tool_call: &str) -> Found {
        let Some(parts) = receipt_parts(tool_call) else {
            return Found::Unsafe;
        };
        let (Some(folder), Some((name, folders))) = (&self.folder, parts.split_last()) else {
            return Found::Missing;
        };
        let mut below: Option<Folder> = None;
        for part in folders {
            match below.as_ref().unwrap_or(folder).child_if_there(part) {
                Ok(Some(child)) => below = Some(child),
                Ok(None) => return Found::Missing,
                Err(error) => return Found::Unreadable(error.to_string()),
            }
        }
        match below.as_ref().unwrap_or(folder).read(&format!("{name}.json"), RECEIPT_MAX) {
            Ok(Some(bytes)) => Found::Bytes(bytes),
            Ok(None) => Found::Missing,
            Err(error) => Found::Unreadable(error.to_string()),
        }
    }

    /// The paths of everything in the folder, sorted; temporary files of writers are left out.
    pub fn names(&self) -> Result<Vec<String>, EvidenceError> {
        let mut names = Vec::new();
        if let Some(folder) = &self.folder {
            collect(folder, "", 0, &mut names)?;
        }
        Ok(names)
    }
}

fn collect(folder: &Folder, prefix: &str, depth: usize, names: &mut Vec<String>) -> Result<(), EvidenceError> {
    for name in folder.names()? {
        let path = format!("{prefix}{name}");
        if name.starts_with('.') && name.ends_with(".tmp") {
            continue;
        }
        match folder.child(&name) {
            Ok(child) if depth < DEPTH_MAX => collect(&child, &format!("{path}/"), depth + 1, names)?,
            _ => names.push(path),
        }
    }
    Ok(())
}
