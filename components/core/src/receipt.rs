//! Receipts: what was decided about a call and what it gave, byte for byte as roam-code writes them.
//!
//! [`Receipt`] builds one from typed parts; [`seal`] checks one that comes as JSON. [`input_hash`] and [`output_of`] give
//! the two hashes in it.

mod fields;
mod repr;

use sha2::{Digest, Sha256};

use crate::Error;
use crate::canonical::{DigestSink, Document, Edit, Form, Value, escape, sha256_hex};
use crate::vocabulary::{PolicyDecision, RedactionReason, SideEffect};

pub use fields::seal;

/// A receipt in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The canonical text, without a line end.
    pub canonical: String,
    /// SHA-256 of the canonical text, lower-case hex.
    pub content_hash: String,
}

impl Sealed {
    fn new(canonical: String) -> Self {
        let content_hash = sha256_hex(canonical.as_bytes());
        Self { canonical, content_hash }
    }
}

/// What a receipt says of the output: at most one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// SHA-256 of the canonical result, lower-case hex.
    pub output_hash: Option<String>,
    /// `handle:` and the handle of a result that was put aside.
    pub output_ref: Option<String>,
}

/// The members of a receipt.
#[derive(Debug, Clone, Copy)]
pub struct Receipt<'a> {
    /// Id of the call.
    pub tool_call: &'a str,
    /// Who asked.
    pub client_id: &'a str,
    /// Name of the tool.
    pub tool_name: &'a str,
    /// On whose behalf.
    pub actor_ref_id: Option<&'a str>,
    /// What the tool declares to do beyond reading.
    pub declared_side_effects: &'a [SideEffect],
    /// The mode the call needs; the name of a mode as a rule, but the format takes any text.
    pub required_mode: Option<&'a str>,
    /// SHA-256 of the arguments, see [`input_hash`].
    pub input_hash: Option<&'a str>,
    /// What was decided.
    pub policy_decision: PolicyDecision,
    /// What it gave.
    pub output: &'a Output,
    /// Id of the run.
    pub run_event_id: Option<&'a str>,
    /// What is missing from the result, in the order found.
    pub redactions: &'a [RedactionReason],
    /// More facts: JSON text in [`Form::Receipt`], `{}` for none.
    pub extra: &'a str,
}

const BOTH_OUTPUTS: &str = "output_ref and output_hash are mutually exclusive; use output_ref for large/referenced outputs, output_hash for small inline outputs";

impl Receipt<'_> {
    /// The receipt in canonical form, with its hash.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidReceipt`] when `output` has both of its members.
    pub fn seal(&self) -> Result<Sealed, Error> {
        if self.output.output_hash.is_some() && self.output.output_ref.is_some() {
            return Err(Error::InvalidReceipt(BOTH_OUTPUTS.to_owned()));
        }
        // Room for the names, three hashes and ids of usual length.
        let mut out = String::with_capacity(704 + self.extra.len());
        // Names in canonical order.
        optional("{\"actor_ref_id\":", self.actor_ref_id, &mut out);
        optional(",\"client_id\":", Some(self.client_id), &mut out);
        words(",\"declared_side_effects\":", self.declared_side_effects.iter().map(|effect| effect.as_str()), &mut out);
        out.push_str(",\"extra\":");
        out.push_str(self.extra);
        optional(",\"input_hash\":", self.input_hash, &mut out);
        optional(",\"output_hash\":", self.output.output_hash.as_deref(), &mut out);
        optional(",\"output_ref\":", self.output.output_ref.as_deref(), &mut out);
        optional(",\"policy_decision\":", Some(self.policy_decision.as_str()), &mut out);
        words(",\"redactions\":", self.redactions.iter().map(|reason| reason.as_str()), &mut out);
        optional(",\"required_mode\":", self.required_mode, &mut out);
        optional(",\"run_event_id\":", self.run_event_id, &mut out);
        optional(",\"tool_call\":", Some(self.tool_call), &mut out);
        optional(",\"tool_name\":", Some(self.tool_name), &mut out);
        out.push('}');
        Ok(Sealed::new(out))
    }
}

fn optional(name: &str, text: Option<&str>, out: &mut String) {
    out.push_str(name);
    match text {
        Some(text) => escape(text, true, out),
        None => out.push_str("null"),
    }
}

fn words<'w>(name: &str, words: impl Iterator<Item = &'w str>, out: &mut String) {
    out.push_str(name);
    let mut separator = "[\"";
    for word in words {
        out.push_str(separator);
        out.push_str(word);
        separator = "\",\"";
    }
    out.push_str(if separator.len() == 2 { "[]" } else { "\"]" });
}

/// SHA-256 of the canonical arguments without their member `ctx`, lower-case hex.
///
/// # Errors
///
/// [`Error::InvalidArgument`] when the text is JSON but no object, besides the errors of
/// [`canonicalize`](crate::canonical::canonicalize).
pub fn input_hash(arguments: &str) -> Result<String, Error> {
    input_hash_of(&Document::parse(arguments)?)
}

/// [`input_hash`] of a text that was read already.
///
/// # Errors
///
/// [`Error::InvalidArgument`] when it is no object.
pub fn input_hash_of(arguments: &Document<'_>) -> Result<String, Error> {
    if !arguments.root().is_object() {
        return Err(Error::InvalidArgument("the arguments must be a JSON object".to_owned()));
    }
    Ok(hash(arguments, Edit { leave_out: &["ctx"], put_in: &[] }).0)
}

/// Results whose canonical form has more bytes than this may be recorded by reference.
pub const OUTPUT_LIMIT: u64 = 8192;

/// What a receipt says of a result, given as JSON text.
///
/// - `null`: nothing.
/// - A canonical form of more than [`OUTPUT_LIMIT`] bytes of an object with a truthy `is_handle` whose `summary` is an
///   object with a non-empty text `handle`: `handle:` and that handle.
/// - Everything else: the hash of the canonical form. That includes a `summary` that is no object, where roam-code
///   fails and writes no receipt.
///
/// # Errors
///
/// Those of [`canonicalize`](crate::canonical::canonicalize).
pub fn output_of(outcome: &str) -> Result<Output, Error> {
    Ok(output_fields(&Document::parse(outcome)?))
}

/// [`output_of`] a text that was read already.
#[must_use]
pub fn output_fields(outcome: &Document<'_>) -> Output {
    let root = outcome.root();
    if root.is_null() {
        return Output::default();
    }
    let (digest, size) = hash(outcome, Edit::default());
    if size > OUTPUT_LIMIT
        && let Some(handle) = handle(root)
    {
        return Output { output_hash: None, output_ref: Some(format!("handle:{handle}")) };
    }
    Output { output_hash: Some(digest), output_ref: None }
}

/// The handle of a result that was put aside.
fn handle(outcome: Value<'_>) -> Option<String> {
    if !outcome.get("is_handle")?.is_truthy() {
        return None;
    }
    let handle = outcome.get("summary")?.get("handle")?.as_str()?;
    (!handle.is_empty()).then(|| handle.into_owned())
}

/// SHA-256 of form R in lower-case hex, and the bytes it was taken over.
fn hash(document: &Document<'_>, edit: Edit<'_>) -> (String, u64) {
    let mut hash = Sha256::new();
    let mut sink = DigestSink::new(&mut hash);
    document.write_edited(Form::Receipt, edit, &mut sink);
    let size = sink.finish();
    (hex::encode(hash.finalize()), size)
}
