//! Prompt-injection marks: structure in a result that tries to steer the model.
//!
//! The scan counts and never changes the text. It knows roam-code's four marks, matched as roam-code 14.1.0 matches them
//! (Python's white space, word boundaries and case rules). Each is literals with bounded structure around them, so the
//! scan takes one pass and time linear in the text. That a text has no marks does not make it safe.

mod patterns;

use crate::vocabulary::Hit;
pub(crate) use patterns::BEGINNINGS;
use patterns::Scan;

/// A kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marker {
    /// `<|im_start|>`, `[INST]`, `<<SYS>>` and their kin.
    ChatTemplateControlToken,
    /// "ignore all previous instructions" and its variants.
    IgnorePreviousInstructions,
    /// A line that begins like a turn of the system or the assistant.
    SpoofedTurnHeader,
    /// `<tool_result>`, `<function_calls>` and their closing tags.
    ToolResultSpoof,
}

impl Marker {
    /// Every marker, in the order of their ids.
    pub const ALL: [Self; 4] = [
        Self::ChatTemplateControlToken,
        Self::IgnorePreviousInstructions,
        Self::SpoofedTurnHeader,
        Self::ToolResultSpoof,
    ];

    /// Its id in receipts.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::ChatTemplateControlToken => "chat_template_control_token",
            Self::IgnorePreviousInstructions => "ignore_previous_instructions",
            Self::SpoofedTurnHeader => "spoofed_turn_header",
            Self::ToolResultSpoof => "tool_result_spoof",
        }
    }

    /// What it stands for, in words.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::ChatTemplateControlToken => "a control token of a chat template",
            Self::IgnorePreviousInstructions => "a phrase that revokes earlier instructions",
            Self::SpoofedTurnHeader => "a line that begins like a turn of the system or the assistant",
            Self::ToolResultSpoof => "a tag that forges tool traffic",
        }
    }
}

/// Marks counted up to now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u32; Marker::ALL.len()]);

impl Counts {
    /// Count the marks of one more text. Every string of a JSON value is a text of its own.
    pub fn scan(&mut self, text: &str) {
        let mut watch = Watch::new(text, self);
        for (at, window) in text.as_bytes().windows(3).enumerate() {
            if patterns::may_begin(window) {
                watch.place(at);
            }
        }
    }

    fn add(&mut self, marker: Marker) {
        if let Some(count) = self.0.get_mut(marker as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// What was found, sorted by id.
    #[must_use]
    pub fn into_hits(self) -> Vec<Hit> {
        let found = Marker::ALL.into_iter().zip(self.0).filter(|(_, hits)| *hits > 0);
        found.map(|(marker, hits)| Hit { id: marker.id().to_owned(), hits }).collect()
    }
}

/// Counts the marks of a text that a caller walks through anyway: give it every place that has one of the
/// [`BEGINNINGS`], in order.
#[derive(Debug)]
pub(crate) struct Watch<'t> {
    scan: Scan<'t>,
    counts: &'t mut Counts,
}

impl<'t> Watch<'t> {
    /// A watch over a text. Looks at its start at once.
    pub(crate) fn new(text: &'t str, counts: &'t mut Counts) -> Self {
        if patterns::turn_header(text) {
            counts.add(Marker::SpoofedTurnHeader);
        }
        Self { scan: Scan::new(text), counts }
    }

    /// A place where a mark may begin. Any other place does no harm.
    pub(crate) fn place(&mut self, at: usize) {
        if let Some(marker) = self.scan.mark_at(at) {
            self.counts.add(marker);
        }
    }
}

/// Count the marks of a text, sorted by id.
#[must_use]
pub fn scan_markers(text: &str) -> Vec<Hit> {
    let mut counts = Counts::default();
    counts.scan(text);
    counts.into_hits()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece() -> impl Strategy<Value = String> {
        let words = "<\\|im_start\\|>|<\\|system\\|>|<<SYS>>|<</\u{17f}ys>>|\\[/?[i\u{130}]nst\\]|</?tool_result>|</?FUNCTION_calls>\
            |(ignore|\u{131}gnore|d[i\u{131}\u{130}]sregard|di\u{17f}regard|forget) (all )?(the )?prior (prompts|context)\
            |\n[ \t]{0,3}(system|\u{17f}ystem|a[s\u{17f}]sistant) ?: ?x";
        prop_oneof![words, "[ \n<\\[a-zİı]{1,3}"]
    }

    proptest! {
        #[test]
        fn marks_begin_only_where_they_are_looked_for(pieces in prop::collection::vec(piece(), 0..12)) {
            let text = pieces.concat();
            let (mut scanned, mut everywhere) = (Counts::default(), Counts::default());
            scanned.scan(&text);
            let mut watch = Watch::new(&text, &mut everywhere);
            (0..text.len()).for_each(|at| watch.place(at));
            prop_assert_eq!(scanned, everywhere);
            let redacted = crate::redact::redact_text(&text, &crate::Configuration::default()).unwrap();
            prop_assert_eq!(redacted.markers, scanned.into_hits());
        }
    }
}
