//! What the engine's tests share: the components that were built and requests that ask nothing special.

use std::path::{Path, PathBuf};

use counterfoil_engine::types::{AdmitRequest, Call, CallFacts, Effects, Mode, SettleRequest};
use counterfoil_engine::{Engine, Limits, Source};

/// The component that misbehaves when asked to.
pub(crate) fn hostile() -> Vec<u8> {
    built("hostile/hostile.wasm", "cargo xtask component --hostile")
}

/// The component of this project.
pub(crate) fn component() -> Vec<u8> {
    built("counterfoil.wasm", "cargo xtask component")
}

/// Its precompiled form.
pub(crate) fn precompiled() -> Vec<u8> {
    built("counterfoil.cwasm", "cargo xtask component")
}

fn built(name: &str, command: &str) -> Vec<u8> {
    let path = target().join("component").join(name);
    std::fs::read(&path).unwrap_or_else(|_| panic!("`{}` is missing, run `{command}` first", path.display()))
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// An engine with the component that misbehaves.
pub(crate) fn hostile_engine(limits: Limits) -> Engine {
    Engine::builder(Source::Component(hostile())).limits(limits).build().expect("the component fits the contract")
}

/// A call of this tool in the mode `safe_edit`.
pub(crate) fn call(tool: &str) -> Call {
    Call {
        tool: tool.to_owned(),
        command: None,
        effects: Effects { read_only: true, destructive: false, idempotent: true },
        mode: Mode::SafeEdit,
        dry_run: false,
    }
}

/// What is asked before this tool runs.
pub(crate) fn admit(tool: &str, arguments: &str) -> AdmitRequest {
    AdmitRequest { call: call(tool), arguments: arguments.to_owned(), configuration: None }
}

/// What is asked after this tool ran.
pub(crate) fn settle(tool: &str, outcome: &str) -> SettleRequest {
    SettleRequest {
        facts: CallFacts {
            tool_call: format!("{tool}_0123456789ab"),
            tool_name: tool.to_owned(),
            client_id: "tester".to_owned(),
            actor_ref_id: None,
            run_id: Some("run_test".to_owned()),
            effects: Effects { read_only: true, destructive: false, idempotent: true },
            judgement: None,
            input_hash: None,
            argument_secrets: Vec::new(),
            extra: None,
            reasons: Vec::new(),
        },
        outcome: outcome.to_owned(),
        configuration: None,
    }
}
