//! Both verdicts on a run: roam-code's and ours. Neither writes anything.

mod finding;
mod lines;
mod links;
mod material;
mod promises;
mod roam;
mod strict;

pub use finding::{Finding, FindingCode, Severity};
pub use roam::{RoamSummary, RoamVerification, as_roam};
pub use strict::{State, Verification, strict};

use serde_json::Value;

/// `seq` as the authority gives it, as a JSON value. What roam-code reads and JSON does not know becomes text.
fn seq_value(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
}
