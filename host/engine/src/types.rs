//! The records and enums of the contract, as Rust types. They are generated from `wit/`, and each item has its text there.

pub use crate::bindings::exports::counterfoil::policy::about::Information;
pub use crate::bindings::exports::counterfoil::policy::gate::{
    Admission, AdmitRequest, AdmitRequestBytes, Call, CommandRule, Judgement, ResolvedMode,
};
pub use crate::bindings::exports::counterfoil::policy::ledger::{
    ChainVerdict, FullVerdict, ReceiptFile, ReceiptLink, SignedEvent, Tail,
};
pub use crate::bindings::exports::counterfoil::policy::receipts::{
    CallFacts, Form, Output, Sealed, SettleRequest, SettleRequestBytes, Settlement, SettlementBytes,
};
pub use crate::bindings::exports::counterfoil::policy::redaction::{Redacted, RedactedBytes};
pub use crate::bindings::exports::counterfoil::policy::vocabulary::{
    ChainState, Decision, Effects, Enforcement, Error, Hit, Mode, PolicyDecision, ReceiptIntegrity, RedactionReason,
    RunStatus, SideEffect,
};
