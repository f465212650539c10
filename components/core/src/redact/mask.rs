//! What is written in place of a secret.

use super::detectors;

/// The place in a template where the id of the detector goes.
const ID: &str = "{id}";

/// Bytes that a template may have.
const MAX_LENGTH: usize = 64;

/// What is written in place of a secret: a template in which `{id}` stands for the id of the detector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    before: String,
    // None when the template does not name the detector.
    after: Option<String>,
}

impl Mask {
    /// Read a template: 1 to 64 bytes, `{id}` at most once, with a sign at both ends that no token is made of, so that a
    /// mask never grows together with the text around it.
    ///
    /// # Errors
    ///
    /// What is wrong, as the end of a sentence that begins with the name of the member.
    pub fn new(template: &str) -> Result<Self, &'static str> {
        let (before, after) = match template.split_once(ID) {
            Some((before, after)) => (before, Some(after)),
            None => (template, None),
        };
        if template.is_empty() || template.len() > MAX_LENGTH {
            return Err("must have 1 to 64 bytes");
        }
        if after.is_some_and(|after| after.contains(ID)) {
            return Err("must hold `{id}` at most once");
        }
        if template.chars().any(|sign| sign.is_control() || sign.is_whitespace() || "\"\\/@".contains(sign)) {
            return Err("must be free of blanks, control characters, quotes, `\\`, `/` and `@`");
        }
        let fence = |sign: Option<char>| sign.is_some_and(|sign| !sign.is_alphanumeric() && !"-._~+=%".contains(sign));
        if !fence(before.chars().next()) || !fence(after.unwrap_or(before).chars().next_back()) {
            return Err("must begin and end with a sign that is no part of a token, as `[` and `]`");
        }
        Ok(Self { before: before.to_owned(), after: after.map(str::to_owned) })
    }

    /// Append the mask for a detector. A count of 2 or more is put inside it, or behind a mask that has no closing sign.
    pub(super) fn write(&self, id: &str, count: usize, out: &mut String) {
        let counter = if count > 1 { format!(":{count}") } else { String::new() };
        match (&self.after, self.closing()) {
            (Some(after), _) => {
                for part in [&self.before, id, &counter, after] {
                    out.push_str(part);
                }
            }
            (None, Some((head, closing))) => {
                for part in [head, &counter, closing] {
                    out.push_str(part);
                }
            }
            (None, None) => {
                out.push_str(&self.before);
                out.push_str(&counter);
            }
        }
    }

    /// A mask without id, split before the bracket that closes it.
    fn closing(&self) -> Option<(&str, &str)> {
        self.before.ends_with([']', ')', '}', '>']).then(|| self.before.split_at_checked(self.before.len() - 1))?
    }

    /// Whether a text is exactly a mask with an id that exists, perhaps with a counter.
    pub(super) fn is(&self, text: &[u8]) -> bool {
        let counter = |text: &[u8]| {
            text.strip_prefix(b":").is_some_and(|count| !count.is_empty() && count.iter().all(u8::is_ascii_digit))
        };
        if let Some(after) = &self.after {
            let inner = text.strip_prefix(self.before.as_bytes()).and_then(|rest| rest.strip_suffix(after.as_bytes()));
            return inner.is_some_and(|id| {
                let at = id.iter().position(|byte| *byte == b':').unwrap_or(id.len());
                let (id, count) = id.split_at_checked(at).unwrap_or_default();
                detectors::exists(id) && (count.is_empty() || counter(count))
            });
        }
        let (head, closing) = self.closing().unwrap_or((&self.before, ""));
        let inner = text.strip_prefix(head.as_bytes()).and_then(|rest| rest.strip_suffix(closing.as_bytes()));
        inner.is_some_and(|count| count.is_empty() || counter(count))
    }
}

impl Default for Mask {
    fn default() -> Self {
        Self { before: "[REDACTED:".to_owned(), after: Some("]".to_owned()) }
    }
}
