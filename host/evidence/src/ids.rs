//! Names that may become paths.

use crate::error::EvidenceError;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Longest `tool_call` that is written: the file name of its temporary sibling still fits.
const TOOL_CALL_MAX: usize = 128;
/// Longest part of a tool's name that a call id keeps.
const TOOL_NAME_KEPT: usize = 64;

/// Id of a run: `run_`, eight digits, `_`, six or more of `0-9a-f`, all ASCII. Safe as a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// A fresh id for a run that starts now: the UTC date and twelve random hex digits.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn fresh(date: &str) -> Result<Self, EvidenceError> {
        Ok(Self(format!("run_{date}_{}", random_hex::<6>()?)))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = EvidenceError;

    fn from_str(text: &str) -> Result<Self, EvidenceError> {
        let refused = || EvidenceError::UnsafeId {
            what: "run id",
            rule: "it is `run_`, eight digits, `_` and at least six of `0-9a-f`",
        };
        let rest = text.strip_prefix("run_").ok_or_else(refused)?;
        let (date, tag) = rest.split_once('_').ok_or_else(refused)?;
        let digits = date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit());
        let hex = (6..=200).contains(&tag.len()) && tag.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if digits && hex { Ok(Self(text.to_owned())) } else { Err(refused()) }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A new `tool_call` for a call of a tool: its name with everything but `A-Za-z0-9_.-` replaced by `_`, at most 64 signs,
/// then `_` and twelve random hex digits.
///
/// # Errors
/// When the system gives no random bytes.
pub fn tool_call_id(tool_name: &str) -> Result<String, EvidenceError> {
    let mut id: String = tool_name.chars().take(TOOL_NAME_KEPT).map(|c| if is_kept(c) { c } else { '_' }).collect();
    // A leading dot would hide the file and could spell `..`.
    if id.starts_with('.') {
        id.replace_range(0..1, "_");
    }
    id.push('_');
    id.push_str(&random_hex::<6>()?);
    Ok(id)
}

fn is_kept(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// Checks a `tool_call` that is to be written.
///
/// # Errors
/// When it holds anything but `A-Za-z0-9_.-`, starts with a dot, is empty or too long.
pub(crate) fn check_tool_call(tool_call: &str) -> Result<(), EvidenceError> {
    let fine = !tool_call.is_empty()
        && tool_call.len() <= TOOL_CALL_MAX
        && !tool_call.starts_with('.')
        && tool_call.chars().all(is_kept);
    if fine {
        Ok(())
    } else {
        Err(EvidenceError::UnsafeId {
            what: "tool call id",
            rule: "it is 1 to 128 of `A-Za-z0-9_.-` and does not start with a dot",
        })
    }
}

/// The parts of the path below a run's receipt folder that a `tool_call` of any writer names, the last one without
/// `.json`; none if following it could leave that folder. roam-code makes folders of a `/` in a tool's name.
pub(crate) fn receipt_parts(tool_call: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = tool_call.split('/').collect();
    let safe = parts.len() <= 8
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.len() <= 250 && *part != "." && *part != ".." && !part.contains('\0'));
    safe.then_some(parts)
}

/// `2 * N` random lower-case hex digits.
pub(crate) fn random_hex<const N: usize>() -> Result<String, EvidenceError> {
    let mut bytes = [0_u8; N];
    fill_random(&mut bytes)?;
    Ok(hex::encode(bytes))
}

/// Fills a buffer from the system's random source.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), EvidenceError> {
    getrandom::fill(bytes).map_err(|error| {
        EvidenceError::io("read", std::path::Path::new("the random source"), std::io::Error::other(error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn run_ids_of_roam_are_taken_and_paths_are_not() {
        for good in ["run_20260511_4cd889", "run_00000000_abcdef0123456789"] {
            assert_eq!(good.parse::<RunId>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "run_",
            "run_2026051_4cd889",
            "run_20260511_4cd88",
            "run_20260511_4CD889",
            "run_20260511_4cd889/",
            "../runs/run_20260511_4cd889",
            "run_20260511_4cd889\n",
            "run_٢٠٢٦٠٥١١_4cd889",
            "run_20260511_4cd889_x",
            " run_20260511_4cd889",
        ] {
            assert!(bad.parse::<RunId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_call_id_ends_in_twelve_hex_digits() {
        let id = tool_call_id("get-env").unwrap();
        let (name, tag) = id.rsplit_once('_').unwrap();
        assert_eq!(name, "get-env");
        assert_eq!(tag.len(), 12);
        assert!(tag.bytes().all(|b| b.is_ascii_hexdigit()));
    }

    proptest! {
        #[test]
        fn a_call_id_of_any_name_is_a_safe_file_name(name in ".{0,200}") {
            let id = tool_call_id(&name).unwrap();
            prop_assert!(check_tool_call(&id).is_ok());
            prop_assert!(id.len() <= TOOL_NAME_KEPT + 13);
            prop_assert_eq!(receipt_parts(&id), Some(vec![id.as_str()]));
        }

        #[test]
        fn parts_never_climb(name in "[a./\\x00]{0,12}") {
            if let Some(parts) = receipt_parts(&name) {
                let path: std::path::PathBuf = parts.iter().collect();
                prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
