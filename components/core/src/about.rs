//! What the rules are: the catalogue of detectors and markers, and one digest over all rules.

use std::sync::OnceLock;

use crate::canonical::{escape, sha256_hex};
use crate::gate;
use crate::markers::Marker;
use crate::redact;

/// The detectors and markers as JSON text: `{"detectors": [{"id", "provider", "tier"}], "markers": [{"id",
/// "description"}]}`, each list sorted by id.
#[must_use]
pub fn catalogue() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut detectors: Vec<_> = redact::all().collect();
        detectors.sort_by_key(|detector| detector.id);
        let mut out = String::from("{\"detectors\":[");
        for (at, detector) in detectors.iter().enumerate() {
            separate(at, &mut out);
            out.push_str("{\"id\":");
            escape(detector.id, true, &mut out);
            out.push_str(",\"provider\":");
            escape(detector.provider, true, &mut out);
            out.push_str(&format!(",\"tier\":{}}}", detector.tier));
        }
        out.push_str("],\"markers\":[");
        for (at, marker) in Marker::ALL.iter().enumerate() {
            separate(at, &mut out);
            out.push_str("{\"id\":");
            escape(marker.id(), true, &mut out);
            out.push_str(",\"description\":");
            escape(marker.description(), true, &mut out);
            out.push('}');
        }
        out.push_str("]}");
        out
    })
}

/// SHA-256 over the version of the rules, the catalogue and the preset lists, lower-case hex. Computed once.
#[must_use]
pub fn rules_digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let mut text = format!("{}\n{}\n", env!("CARGO_PKG_VERSION"), catalogue());
        gate::roam_lists_text(&mut text);
        sha256_hex(text.as_bytes())
    })
}

fn separate(at: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
}
