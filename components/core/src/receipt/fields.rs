//! A receipt that comes as JSON.

use super::repr::{repr, repr_text};
use super::{BOTH_OUTPUTS, Sealed};
use crate::Error;
use crate::canonical::{Document, Edit, Form, Kind, Value};
use crate::vocabulary::{PolicyDecision, RedactionReason};

/// What a member holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    TextOrNull,
    Texts,
    Anything,
}

/// A member: name, what it holds, and the text that stands for it when it is absent; none where it must be there.
type Field = (&'static str, Holds, Option<&'static str>);

/// In roam-code's order of declaration.
const FIELDS: [Field; 13] = [
    ("tool_call", Holds::Text, None),
    ("client_id", Holds::Text, None),
    ("tool_name", Holds::Text, None),
    ("actor_ref_id", Holds::TextOrNull, Some("null")),
    ("declared_side_effects", Holds::Texts, Some("[]")),
    ("required_mode", Holds::TextOrNull, Some("null")),
    ("input_hash", Holds::TextOrNull, Some("null")),
    ("policy_decision", Holds::Text, Some("\"not_evaluated\"")),
    ("output_ref", Holds::TextOrNull, Some("null")),
    ("output_hash", Holds::TextOrNull, Some("null")),
    ("run_event_id", Holds::TextOrNull, Some("null")),
    ("redactions", Holds::Texts, Some("[]")),
    // roam-code takes anything here and keeps it.
    ("extra", Holds::Anything, Some("{}")),
];

/// Check a receipt's members, given as a JSON object's text, and put it in canonical form. Members that may be absent
/// are filled in.
///
/// Checked in this order: unknown and missing members, the decision, the redactions one by one, both outputs, and last
/// what roam-code does not check, that each member holds what its name says. Where roam-code refuses with a message of
/// its own, the message is the same, save that only what could be a word is repeated: texts with other
/// characters than letters, `_`, `-` and blanks, or of more than 24, are named by their length.
///
/// # Errors
///
/// [`Error::InvalidReceipt`] when a check fails, besides the errors of
/// [`canonicalize`](crate::canonical::canonicalize).
pub fn seal(fields: &str) -> Result<Sealed, Error> {
    let document = Document::parse(fields)?;
    let root = document.root();
    if !root.is_object() {
        return Err(invalid("a receipt must be a JSON object"));
    }
    let members = Members::of(root)?;
    if let Some(value) = members.get("policy_decision") {
        check_decision(value)?;
    }
    if let Some(value) = members.get("redactions") {
        check_redactions(value)?;
    }
    let given = |name| members.get(name).is_some_and(|value| !value.is_null());
    if given("output_ref") && given("output_hash") {
        return Err(invalid(BOTH_OUTPUTS));
    }
    members.check_kinds()?;

    let defaults: Vec<(&str, &str)> = members.absent().collect();
    let mut canonical = String::with_capacity(fields.len() + 256);
    document.write_edited(Form::Receipt, Edit { leave_out: &[], put_in: &defaults }, &mut canonical);
    Ok(Sealed::new(canonical))
}

/// The members of a receipt, in the order of [`FIELDS`].
struct Members<'d> {
    values: [Option<Value<'d>>; FIELDS.len()],
}

impl<'d> Members<'d> {
    fn of(receipt: Value<'d>) -> Result<Self, Error> {
        let mut values = [None; FIELDS.len()];
        for (key, value) in receipt.members() {
            let place = FIELDS.iter().zip(&mut values).find(|((name, ..), _)| key == *name);
            match place {
                // Of repeated members the last one counts.
                Some((_, slot)) => *slot = Some(value),
                None => {
                    return Err(Error::InvalidReceipt(format!("a receipt has no member {}", repr_text(&key))));
                }
            }
        }
        let members = Self { values };
        let missing: Vec<&str> =
            members.pairs().filter(|((.., default), value)| default.is_none() && value.is_none()).map(name).collect();
        if missing.is_empty() {
            Ok(members)
        } else {
            Err(Error::InvalidReceipt(format!("a receipt must have the member `{}`", missing.join("`, `"))))
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static Field, &Option<Value<'d>>)> {
        FIELDS.iter().zip(&self.values)
    }

    fn get(&self, wanted: &str) -> Option<Value<'d>> {
        self.pairs().find(|((name, ..), _)| *name == wanted).and_then(|(_, value)| *value)
    }

    /// Names of what is not there, and what stands for it.
    fn absent(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.pairs()
            .filter(|(_, value)| value.is_none())
            .filter_map(|((name, _, default), _)| Some((*name, (*default)?)))
    }

    fn check_kinds(&self) -> Result<(), Error> {
        for ((name, holds, _), value) in self.pairs() {
            let Some(value) = value else { continue };
            let (fits, wanted) = match holds {
                Holds::Text => (value.kind() == Kind::String, "a string"),
                Holds::TextOrNull => (matches!(value.kind(), Kind::String | Kind::Null), "a string or null"),
                Holds::Texts => (is_texts(*value), "an array of strings"),
                Holds::Anything => (true, ""),
            };
            if !fits {
                return Err(Error::InvalidReceipt(format!("`{name}` must be {wanted}")));
            }
        }
        Ok(())
    }
}

fn name((field, _): (&'static Field, &Option<Value<'_>>)) -> &'static str {
    field.0
}

fn is_texts(value: Value<'_>) -> bool {
    value.kind() == Kind::Array && value.elements().all(|element| element.kind() == Kind::String)
}

fn check_decision(value: Value<'_>) -> Result<(), Error> {
    if matches!(value.kind(), Kind::Array | Kind::Object) {
        return Err(invalid("`policy_decision` must be a string"));
    }
    if value.as_str().is_some_and(|word| word.parse::<PolicyDecision>().is_ok()) {
        return Ok(());
    }
    let mut known: Vec<&str> = PolicyDecision::ALL.iter().map(|decision| decision.as_str()).collect();
    known.sort_unstable();
    Err(Error::InvalidReceipt(format!(
        "unknown policy_decision: {}; expected one of ['{}']",
        repr(value),
        known.join("', '")
    )))
}

fn check_redactions(value: Value<'_>) -> Result<(), Error> {
    let not_texts = || invalid("`redactions` must be an array of strings");
    if let Some(text) = value.as_str() {
        // Python goes through a bare text character by character, and none of them is a reason.
        return Err(match text.chars().next() {
            Some(first) => unknown_reason(&repr_text(first.encode_utf8(&mut [0; 4]))),
            None => not_texts(),
        });
    }
    if value.kind() != Kind::Array {
        return Err(not_texts());
    }
    for element in value.elements() {
        match element.as_str() {
            Some(word) if word.parse::<RedactionReason>().is_ok() => {}
            None if matches!(element.kind(), Kind::Array | Kind::Object) => return Err(not_texts()),
            _ => return Err(unknown_reason(&repr(element))),
        }
    }
    Ok(())
}

fn unknown_reason(shown: &str) -> Error {
    Error::InvalidReceipt(format!("unknown redaction reason: {shown}; must be one of REDACTION_REASONS"))
}

fn invalid(message: &str) -> Error {
    Error::InvalidReceipt(message.to_owned())
}
