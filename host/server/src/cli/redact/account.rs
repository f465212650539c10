//! What a redaction found.

use std::collections::BTreeMap;

use counterfoil_engine::types::Hit;
use serde_json::{Map, Value, json};

/// Secrets and injection marks, counted by id.
#[derive(Debug, Default)]
pub struct Account {
    secrets: BTreeMap<String, u64>,
    markers: Option<BTreeMap<String, u64>>,
    not_utf8: u64,
}

impl Account {
    /// Count secrets.
    pub fn add_secrets(&mut self, hits: &[Hit]) {
        add(&mut self.secrets, hits);
    }

    /// Count injection marks. An account that was never given any, not even none, says that they were not looked for.
    pub fn add_markers(&mut self, hits: &[Hit]) {
        add(self.markers.get_or_insert_default(), hits);
    }

    /// Count bytes that are not UTF-8 and went through as they were.
    pub fn add_not_utf8(&mut self, bytes: usize) {
        self.not_utf8 = self.not_utf8.saturating_add(bytes as u64);
    }

    /// What was found as JSON: the members that `--jsonl` writes beside the output, and `invalid_utf8_bytes`.
    /// `injection_markers` is null where nobody looked for marks.
    pub fn report(&self) -> Value {
        let marked = self.markers.as_ref().is_some_and(|markers| !markers.is_empty());
        json!({
            "redactions": reasons(!self.secrets.is_empty(), marked),
            "redaction_details": self.secrets,
            "injection_markers": self.markers,
            "invalid_utf8_bytes": self.not_utf8,
        })
    }

    /// What was found in one line of words.
    pub fn words(&self) -> String {
        let secrets = list("secret", "masked", &self.secrets);
        let mut words = match &self.markers {
            Some(markers) => format!("{secrets}; {}", list("injection mark", "noted", markers)),
            None => secrets,
        };
        match self.not_utf8 {
            0 => {}
            1 => words.push_str("; 1 byte is not UTF-8 and passed unchanged"),
            many => words.push_str(&format!("; {many} bytes are not UTF-8 and passed unchanged")),
        }
        words
    }
}

/// The reasons that a receipt records, in a receipt's order.
pub fn reasons(secrets: bool, markers: bool) -> Vec<&'static str> {
    [(secrets, "secret"), (markers, "prompt_injection_marker")]
        .iter()
        .filter(|(found, _)| *found)
        .map(|(_, word)| *word)
        .collect()
}

/// Hits as a JSON object from id to number, in the order they come in.
pub fn object(hits: &[Hit]) -> Map<String, Value> {
    hits.iter().map(|hit| (hit.id.clone(), Value::from(hit.hits))).collect()
}

fn add(counts: &mut BTreeMap<String, u64>, hits: &[Hit]) {
    for hit in hits {
        let count = counts.entry(hit.id.clone()).or_default();
        *count = count.saturating_add(u64::from(hit.hits));
    }
}

fn list(noun: &str, verb: &str, counts: &BTreeMap<String, u64>) -> String {
    let total: u64 = counts.values().fold(0, |sum, hits| sum.saturating_add(*hits));
    if total == 0 {
        return format!("no {noun}s");
    }
    let each: Vec<String> = counts.iter().map(|(id, hits)| format!("{id} {hits}")).collect();
    format!("{total} {noun}{} {verb} ({})", if total == 1 { "" } else { "s" }, each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: &str, hits: u32) -> Hit {
        Hit { id: id.to_owned(), hits }
    }

    #[test]
    fn the_words_count_and_name() {
        let mut account = Account::default();
        assert_eq!(account.words(), "no secrets");
        account.add_secrets(&[hit("jwt", 1)]);
        account.add_secrets(&[hit("jwt", 1), hit("bearer_token", 3)]);
        account.add_markers(&[hit("tool_result_spoof", 1)]);
        assert_eq!(
            account.words(),
            "5 secrets masked (bearer_token 3, jwt 2); 1 injection mark noted (tool_result_spoof 1)"
        );
    }

    #[test]
    fn the_report_tells_no_marks_from_marks_nobody_looked_for() {
        let mut account = Account::default();
        assert_eq!(account.report()["injection_markers"], Value::Null);
        account.add_markers(&[]);
        assert_eq!(
            account.report(),
            json!({"redactions": [], "redaction_details": {}, "injection_markers": {}, "invalid_utf8_bytes": 0})
        );
    }
}
