//! Masks into a text, and counts.

use std::collections::BTreeMap;

use super::engine::{self, Find};
use super::mask::Mask;
use super::values::{Value, Values};
use crate::markers::Watch;
use crate::vocabulary::Hit;

/// Secrets masked, by detector.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts(BTreeMap<&'static str, u32>);

impl Counts {
    pub(super) fn add(&mut self, id: &'static str) {
        let count = self.0.entry(id).or_default();
        *count = count.saturating_add(1);
    }

    pub(super) fn hits(&self) -> Vec<Hit> {
        self.0.iter().map(|(id, hits)| Hit { id: (*id).to_owned(), hits: *hits }).collect()
    }

    pub(super) fn into_hits(self) -> Vec<Hit> {
        self.hits()
    }
}

/// The text with its secrets masked; none when there are none. Marks are counted by `watch`, if one is given.
pub(super) fn redact(text: &str, mask: &Mask, counts: &mut Counts, watch: Option<&mut Watch<'_>>) -> Option<String> {
    let mut finds = match watch {
        Some(watch) => engine::finds(text.as_bytes(), mask, |at| watch.place(at)),
        None => engine::finds(text.as_bytes(), mask, |_| {}),
    };
    if finds.is_empty() {
        return None;
    }
    if let Some(values) = Values::new(values(text, &finds).collect()) {
        values.find_in(text, 0, &mut finds);
        engine::resolve(text.as_bytes(), mask, &mut finds);
    }
    let mut out = String::with_capacity(text.len());
    write(text, &finds, mask, &mut out);
    finds.iter().for_each(|find| counts.add(find.id));
    Some(out)
}

/// The values of finds in a text, to be looked for everywhere.
pub(super) fn values(text: &str, finds: &[Find]) -> impl Iterator<Item = Value> {
    finds.iter().filter_map(|find| Value::new(text.get(find.start..find.end)?, *find, 0))
}

/// Copy a text with masks in place of the finds.
pub(super) fn write(text: &str, finds: &[Find], mask: &Mask, out: &mut String) {
    let mut done = 0;
    for find in finds {
        out.push_str(text.get(done..find.start).unwrap_or_default());
        mask.write(find.id, 1, out);
        done = find.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
}
