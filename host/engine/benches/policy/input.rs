//! What the measured calls are about: a tool's result as a file listing would be, with and without secrets.

use counterfoil_engine::types::{AdmitRequest, Call, CallFacts, Effects, Mode, SettleRequest};

const EFFECTS: Effects = Effects { read_only: true, destructive: false, idempotent: true };

/// Lines of an ordinary log. No two that follow each other are alike.
fn line(number: usize) -> String {
    format!(
        "2026-11-{:02}T10:{:02}:{:02}Z worker-{} finished job {:08x} in {} ms: {} rows, cache {} (path /srv/data/part-{}.parquet)",
        number % 28 + 1,
        number % 60,
        number * 7 % 60,
        number % 9,
        number.wrapping_mul(2_654_435_761) & 0xffff_ffff,
        number * 13 % 997,
        number * 31 % 10_007,
        if number.is_multiple_of(3) { "hit" } else { "miss" },
        number % 513,
    )
}

/// Synthetic credentials of three kinds. Put together here, so that no scanner of this repository takes them for real.
fn secrets() -> [String; 3] {
    [
        format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a"),
        format!("AKIA{}", "QYLPMN5HFIQR7XYA"),
        format!("Bearer {}", "mF_9.B5f-4.1JqM2kqZ8vT0xWcD7"),
    ]
}

/// Plain text of this many bytes.
pub(crate) fn text(bytes: usize, planted: bool) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let mut secrets = secrets().into_iter().filter(|_| planted).enumerate().peekable();
    let mut number = 0;
    while text.len() < bytes {
        // At the beginning, in the middle and near the end.
        if secrets.peek().is_some_and(|(place, _)| text.len() >= bytes * place / 3)
            && let Some((_, secret)) = secrets.next()
        {
            text.push_str("token: ");
            text.push_str(&secret);
            text.push('\n');
        } else {
            text.push_str(&line(number));
            text.push('\n');
        }
        number += 1;
    }
    if !planted {
        text.truncate(bytes);
    }
    text
}

/// A question before a tool runs.
pub(crate) fn admit() -> AdmitRequest {
    AdmitRequest {
        call: Call {
            tool: "read_file".to_owned(),
            command: None,
            effects: EFFECTS,
            mode: Mode::SafeEdit,
            dry_run: false,
        },
        arguments: r#"{"path": "src/main.rs", "encoding": "utf-8", "range": {"from": 1, "to": 200}, "follow": false}"#
            .to_owned(),
        configuration: None,
    }
}

/// A question after a tool ran, with a result of about this many bytes: one block of text.
pub(crate) fn settle(bytes: usize, planted: bool) -> SettleRequest {
    let text = text(bytes, planted).replace('\n', "\\n");
    SettleRequest {
        facts: CallFacts {
            tool_call: "read_file_0123456789ab".to_owned(),
            tool_name: "read_file".to_owned(),
            client_id: "bench".to_owned(),
            actor_ref_id: None,
            run_id: Some("run_20261130_abcdef".to_owned()),
            effects: EFFECTS,
            judgement: None,
            input_hash: None,
            argument_secrets: Vec::new(),
            extra: None,
            reasons: Vec::new(),
        },
        outcome: format!(r#"{{"content": [{{"type": "text", "text": "{text}"}}], "isError": false}}"#),
        configuration: None,
    }
}
