//! Marks: every text gets an answer, and text around a mark by itself does not hide it.

#![no_main]

use counterfoil_core::markers::scan_markers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let hits = |text: &str| scan_markers(text).iter().map(|hit| hit.hits).sum::<u32>();
    let found = hits(text);
    assert!(scan_markers(text).is_sorted_by(|one, other| one.id < other.id));
    assert!(hits(&format!("{text}\n<tool_result>")) > found);
});
