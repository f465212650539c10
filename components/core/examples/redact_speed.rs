//! Megabytes a second of the redactor over a text from standard input.

use std::io::Read;
use std::time::Instant;

use counterfoil_core::Configuration;
use counterfoil_core::redact::{redact_json, redact_text, scrub};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    let configuration = Configuration::default();
    let json = serde_json::Value::from(text.clone()).to_string();
    let lines = serde_json::Value::from(text.lines().collect::<Vec<_>>()).to_string();
    type Run<'a> = &'a dyn Fn() -> Result<usize, counterfoil_core::Error>;
    let runs: [(&str, usize, Run<'_>); 4] = [
        ("scrub", text.len(), &|| Ok(scrub(&text, &configuration).len())),
        ("redact_text", text.len(), &|| Ok(redact_text(&text, &configuration)?.secrets.len())),
        ("redact_json, one string", json.len(), &|| Ok(redact_json(&json, &configuration)?.secrets.len())),
        ("redact_json, a string a line", lines.len(), &|| Ok(redact_json(&lines, &configuration)?.secrets.len())),
    ];
    for (name, size, run) in runs {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            std::hint::black_box(run()?);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name}: {:.0} MB/s", size as f64 / 1e6 / best);
    }
    Ok(())
}
