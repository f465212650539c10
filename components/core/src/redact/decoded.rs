//! The value of a JSON string, and the way back to the text it stands in.

use std::borrow::Cow;

use crate::canonical::Unescaped;
use crate::canonical::reader::Text;

/// The value of a string. A lone surrogate becomes U+FFFD.
pub(super) fn value(text: Text, json: &str) -> Cow<'_, str> {
    let raw = text.raw(json);
    if !text.escaped {
        return Cow::Borrowed(raw);
    }
    let mut value = String::with_capacity(raw.len());
    for (run, sign) in (Runs { rest: raw }) {
        value.push_str(run);
        value.extend(sign);
    }
    Cow::Owned(value)
}

/// Turns places in the value of a string into places in the JSON text, in ascending order.
pub(super) struct Places<'j> {
    runs: Runs<'j>,
    /// Bytes of the value and of the text that are passed.
    value: usize,
    raw: usize,
    /// The run that comes next, and the sign behind it.
    run: usize,
    sign: usize,
    sign_raw: usize,
}

impl<'j> Places<'j> {
    pub(super) fn new(text: Text, json: &'j str) -> Self {
        let mut places =
            Self { runs: Runs { rest: text.raw(json) }, value: 0, raw: text.start, run: 0, sign: 0, sign_raw: 0 };
        places.read();
        places
    }

    /// Where in the JSON text a place of the value is.
    pub(super) fn of(&mut self, place: usize) -> usize {
        while place > self.value + self.run && self.run + self.sign > 0 {
            self.value += self.run + self.sign;
            self.raw += self.run + self.sign_raw;
            self.read();
        }
        self.raw + (place.saturating_sub(self.value)).min(self.run)
    }

    fn read(&mut self) {
        let before = self.runs.rest.len();
        let (run, sign) = self.runs.next().unwrap_or_default();
        self.run = run.len();
        self.sign = sign.map_or(0, char::len_utf8);
        self.sign_raw = before - self.runs.rest.len() - run.len();
    }
}

/// Raw content in runs without escapes, each with the sign of the escape behind it.
struct Runs<'j> {
    rest: &'j str,
}

impl<'j> Iterator for Runs<'j> {
    type Item = (&'j str, Option<char>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((run, escape)) = self.rest.find('\\').and_then(|at| self.rest.split_at_checked(at)) else {
            return Some((std::mem::take(&mut self.rest), None));
        };
        let mut signs = Unescaped::new(escape);
        let sign = signs.next();
        self.rest = signs.rest();
        Some((run, sign))
    }
}
