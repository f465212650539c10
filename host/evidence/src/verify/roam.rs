//! roam-code's verdict, as its library gives it.
//!
//! Two things are better here and differ on purpose: a missing key is reported and not made, and a ledger that makes
//! roam-code fail is `tampered` instead of no answer. Names that lead out of a folder are not followed.

use super::material::Receipts;
use super::seq_value;
use crate::authority::{ChainAuthority, ChainState, ChainVerdict, ReceiptFile, ReceiptIntegrity};
use crate::error::EvidenceError;
use crate::ids::RunId;
use crate::key::LedgerKey;
use crate::runs::{open_run, read_ledger};
use crate::state::StateDir;
use serde::Serialize;
use serde_json::Value;

/// A state in roam-code's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoamState {
    /// Every signature matches, or there are no events.
    Ok,
    /// A signature or a receipt does not match.
    Tampered,
    /// No event carries a signature.
    Unsigned,
    /// The key is missing or unusable.
    KeyMissing,
    /// No such run, or its `meta.json` cannot be read.
    UnknownRun,
    /// There are no runs (only of all runs together).
    NoRuns,
}

impl RoamState {
    const fn of(state: ChainState) -> Self {
        match state {
            ChainState::Ok | ChainState::Empty => Self::Ok,
            ChainState::Tampered => Self::Tampered,
            ChainState::Unsigned => Self::Unsigned,
        }
    }

    /// Exit status of `roam runs verify` in that state.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Ok | Self::Unsigned | Self::KeyMissing | Self::NoRuns => 0,
            Self::UnknownRun => 2,
            Self::Tampered => 5,
        }
    }
}

/// roam-code's verdict on one run. The members are those of its library's `verify_chain_with_receipts`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoamVerification {
    /// The run that was asked for.
    pub run_id: String,
    /// The state, receipts included.
    pub state: RoamState,
    /// The state that the command `roam runs verify` reports, which never looks at receipts.
    pub chain_state: RoamState,
    /// Events whose signature was verified.
    pub events_verified: u64,
    /// `seq` of the first bad event as it stands there, or null.
    pub first_tamper_at_seq: Value,
    /// Whether the answer covers only a part.
    pub partial_success: bool,
    /// The last signature that matched, or null.
    pub final_signature: Option<String>,
    /// The verdict in words; none for an unknown run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// The verdict on the receipts; none when the run or the key is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt_integrity: Option<ReceiptIntegrity>,
    /// `seq` of the first event whose receipt is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_missing_receipt_at_seq: Option<Value>,
    /// The verdict of the command `roam runs verify`: the chain alone.
    #[serde(skip)]
    pub chain: Option<ChainVerdict>,
}

impl RoamVerification {
    /// 0, 2 or 5, by the state with receipts. `roam runs verify` itself exits by [`RoamVerification::chain_state`].
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.state.exit_code()
    }

    fn without_verdict(run: &str, state: RoamState, details: Option<String>) -> Self {
        Self {
            run_id: run.to_owned(),
            state,
            chain_state: state,
            events_verified: 0,
            first_tamper_at_seq: Value::Null,
            partial_success: true,
            final_signature: None,
            details,
            receipt_integrity: None,
            first_missing_receipt_at_seq: None,
            chain: None,
        }
    }
}

/// roam-code's verdicts on all runs together, as `roam runs verify --all` gives them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoamSummary {
    /// The worst state: `tampered`, else `key_missing`, else `unsigned`, else `ok`; `no_runs` without runs.
    pub state: RoamState,
    /// Whether not all runs are `ok`.
    pub partial_success: bool,
    /// Events verified in all runs.
    pub events_verified: u64,
    /// Number of runs.
    pub runs_verified: u64,
    /// Runs that are `ok`.
    pub runs_ok: u64,
    /// Runs that are `tampered`.
    pub runs_tampered: u64,
    /// Runs that are `unsigned`.
    pub runs_unsigned: u64,
    /// Runs whose key is missing.
    pub runs_key_missing: u64,
    /// The verdicts, newest run first.
    pub runs: Vec<RoamVerification>,
}

impl RoamSummary {
    /// Sums up verdicts.
    #[must_use]
    pub fn of(runs: Vec<RoamVerification>) -> Self {
        let count = |state| runs.iter().filter(|run| run.state == state).count() as u64;
        let states = [RoamState::Tampered, RoamState::KeyMissing, RoamState::Unsigned, RoamState::Ok];
        let state = states.into_iter().find(|state| count(*state) > 0).unwrap_or(RoamState::NoRuns);
        Self {
            state,
            partial_success: count(RoamState::Ok) != runs.len() as u64,
            events_verified: runs.iter().map(|run| run.events_verified).sum(),
            runs_verified: runs.len() as u64,
            runs_ok: count(RoamState::Ok),
            runs_tampered: count(RoamState::Tampered),
            runs_unsigned: count(RoamState::Unsigned),
            runs_key_missing: count(RoamState::KeyMissing),
            runs,
        }
    }

    /// 0 or 5, by the state.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.state.exit_code()
    }
}

/// roam-code's verdict on a run.
pub fn as_roam(state: &StateDir, run: &str, authority: &dyn ChainAuthority) -> RoamVerification {
    let unknown = || RoamVerification::without_verdict(run, RoamState::UnknownRun, None);
    let Ok(id) = run.parse::<RunId>() else {
        return unknown();
    };
    let Ok((folder, _)) = open_run(state, &id) else {
        return unknown();
    };
    let key = match LedgerKey::load(state) {
        Ok(key) => key,
        Err(error) => {
            return RoamVerification::without_verdict(run, RoamState::KeyMissing, Some(key_text(&error)));
        }
    };
    match judge(state, &id, &key, authority, &folder) {
        Ok(verification) => verification,
        Err(error) => RoamVerification {
            first_tamper_at_seq: Value::Null,
            receipt_integrity: Some(ReceiptIntegrity::NotLinked),
            partial_success: false,
            ..RoamVerification::without_verdict(
                run,
                RoamState::Tampered,
                Some(format!("the ledger cannot be judged: {error}")),
            )
        },
    }
}

fn judge(
    state: &StateDir,
    run: &RunId,
    key: &LedgerKey,
    authority: &dyn ChainAuthority,
    folder: &crate::files::Folder,
) -> Result<RoamVerification, EvidenceError> {
    let ledger = read_ledger(folder)?;
    let chain = authority.verify_chain(key.bytes(), &ledger)?;
    let receipts = Receipts::open(state, run)?;
    let files: Vec<ReceiptFile> = authority
        .receipt_links(&ledger)?
        .into_iter()
        .filter_map(|link| link.tool_call)
        .map(|tool_call| ReceiptFile { content: receipts.read(&tool_call).into_bytes(), tool_call })
        .collect();
    let full = authority.verify_with_receipts(key.bytes(), &ledger, &files)?;
    Ok(RoamVerification {
        run_id: run.to_string(),
        state: RoamState::of(full.chain.state),
        chain_state: RoamState::of(chain.state),
        events_verified: full.chain.events_verified,
        first_tamper_at_seq: seq_value(full.chain.first_tamper_at_seq.as_deref()),
        partial_success: full.chain.partial_success,
        final_signature: full.chain.final_signature,
        details: Some(full.chain.details),
        receipt_integrity: Some(full.receipt_integrity),
        first_missing_receipt_at_seq: full.first_missing_receipt_at_seq.as_deref().map(|seq| seq_value(Some(seq))),
        chain: Some(chain),
    })
}

fn key_text(error: &EvidenceError) -> String {
    match error {
        EvidenceError::KeyLength { path, length } => format!(
            "ledger key unavailable: ledger key at {} has wrong length ({length} bytes; expected 32); refusing to overwrite \u{2014} manually delete to regenerate.",
            path.display()
        ),
        other => format!("ledger key unavailable: {other}"),
    }
}
