//! Microseconds of `settle` over results of several sizes, clean and with three made-up secrets.

use std::time::Instant;

use counterfoil_core::call::{CallFacts, SettleRequest, settle};
use counterfoil_core::redact::redact_text;
use counterfoil_core::vocabulary::Effects;
use counterfoil_core::{Configuration, Error};

fn main() -> Result<(), Error> {
    let configuration = Configuration::default();
    let facts = CallFacts {
        tool_call: "read_file_0123456789ab",
        tool_name: "read_file",
        client_id: "example",
        actor_ref_id: None,
        run_id: Some("run_20261130_abcdef"),
        effects: Effects { read_only: true, destructive: false, idempotent: true },
        judgement: None,
        input_hash: None,
        argument_secrets: &[],
        extra: None,
        reasons: &[],
    };
    for size in [256, 4 << 10, 64 << 10, 1 << 20] {
        for planted in [false, true] {
            let text = text(size, planted);
            let escaped = text.replace('\n', "\\n");
            let outcome = format!(r#"{{"content": [{{"type": "text", "text": "{escaped}"}}], "isError": false}}"#);
            let request = SettleRequest { facts, outcome: &outcome };
            let settled = median(size, || settle(&request, &configuration).map(|settlement| settlement.secrets.len()))?;
            let cleaned = median(size, || redact_text(&text, &configuration).map(|redacted| redacted.secrets.len()))?;
            let rate = text.len() as f64 / cleaned;
            println!("{size:>8} bytes, planted {planted:<5}: settle {settled:>8.1} µs, redact_text {rate:>4.0} MB/s");
        }
    }
    Ok(())
}

/// The median of many runs, in microseconds.
fn median(size: usize, run: impl Fn() -> Result<usize, Error>) -> Result<f64, Error> {
    let mut times = Vec::new();
    for _ in 0..((64 << 20) / (size + 4096)).clamp(30, 4000) {
        let start = Instant::now();
        std::hint::black_box(run()?);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// Lines of a log, with secrets at the beginning, in the middle and near the end.
fn text(size: usize, planted: bool) -> String {
    let mut secrets =
        vec!["Bearer mF_9.B5f-4.1JqM2kqZ8vT0xWcD7", "AKIAQYLPMN5HFIQR7XYA", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"];
    let mut text = String::with_capacity(size + 200);
    let mut number = 0_usize;
    while text.len() < size {
        if planted
            && text.len() >= size * (3 - secrets.len()) / 3
            && let Some(secret) = secrets.pop()
        {
            text.push_str(&format!("token: {secret}\n"));
            continue;
        }
        number += 1;
        text.push_str(&format!(
            "2026-11-{:02}T10:{:02}:{:02}Z worker-{} finished job {:08x} in {} ms: {} rows, cache hit (path /srv/data/part-{}.parquet)\n",
            number % 28 + 1,
            number % 60,
            number * 7 % 60,
            number % 9,
            number.wrapping_mul(2_654_435_761) & 0xffff_ffff,
            number * 13 % 997,
            number * 31 % 10_007,
            number % 513,
        ));
    }
    text
}
