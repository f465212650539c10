//! The functions of the contract, each once for an engine (an instance of its own) and once for a session.

use crate::sanity;
use crate::size::text as optional;
use crate::types::{
    Admission, AdmitRequest, AdmitRequestBytes, Call, ChainVerdict, CommandRule, Form, FullVerdict, Hit, Information,
    Judgement, Mode, Output, ReceiptFile, ReceiptLink, Redacted, RedactedBytes, ResolvedMode, Sealed, SettleRequest,
    SettleRequestBytes, Settlement, SettlementBytes, SignedEvent, Tail,
};
use crate::{Engine, Refusal, Session, size};

/// `ask` puts a question whose answer may be an error of the component's own, `ask_plain` one that always has an answer.
/// `size` is the size of the input in bytes, `limit` the member of `Limits` that bounds it, `check` what the answer must be.
macro_rules! questions {
    ($(
        $(#[$text:meta])*
        fn $name:ident($($parameter:ident: $kind:ty),*) -> $answer:ty;
        $ask:ident($($given:expr),*), size: $size:expr, limit: $limit:ident, check: $check:expr;
    )*) => {
        /// Each of these is answered by an instance of its own. Every one fails with a [`Refusal`] when the component
        /// cannot answer, or may not any longer.
        impl Engine {
            $(
                $(#[$text])*
                ///
                /// # Errors
                ///
                /// [`Refusal`]: the caller denies, or withholds.
                pub fn $name(&self, $($parameter: $kind),*) -> Result<$answer, Refusal> {
                    let size = $size;
                    let_in(size, self.limits().$limit)?;
                    self.session_for(size)?.$name($($parameter),*)
                }
            )*
        }

        /// Each of these is answered by the session's one instance.
        impl Session {
            $(
                $(#[$text])*
                ///
                /// # Errors
                ///
                /// [`Refusal`]: the caller denies, or withholds.
                pub fn $name(&mut self, $($parameter: $kind),*) -> Result<$answer, Refusal> {
                    let size = $size;
                    let_in(size, self.limits().$limit)?;
                    let answer: $answer = self.$ask(|exports| &exports.$name, ($($given,)*), size)?;
                    let check: fn(&$answer $(, $kind)*) -> sanity::Verdict = $check;
                    let verdict = check(&answer $(, $parameter)*);
                    self.check(answer, verdict)
                }
            )*
        }
    };
}

questions! {
    /// Judge a call.
    fn decide(call: &Call) -> Judgement;
    ask(call, None::<&str>), size: size::call(call), limit: max_input_bytes, check: |answer, call| sanity::judgement(call, answer);

    /// Judge a call and prepare it: all that a gateway needs before the tool runs.
    fn admit(request: &AdmitRequest) -> Admission;
    ask(request), size: size::admit(request), limit: max_input_bytes, check: |answer, request| sanity::admission(&request.call, answer);

    /// [`admit`](Self::admit) with the arguments as bytes that may not be UTF-8.
    fn admit_bytes(request: &AdmitRequestBytes) -> Admission;
    ask(request), size: size::admit_bytes(request), limit: max_input_bytes, check: |answer, request| sanity::admission(&request.call, answer);

    /// Clean a result and write its receipt: all that a gateway needs after the tool ran.
    fn settle(request: &SettleRequest) -> Settlement;
    ask(request), size: size::settle(request), limit: max_input_bytes, check: |answer, _| sanity::settlement(answer);

    /// [`settle`](Self::settle) with the result as bytes that may not be UTF-8.
    fn settle_bytes(request: &SettleRequestBytes) -> SettlementBytes;
    ask(request), size: size::settle_bytes(request), limit: max_input_bytes, check: |answer, _| sanity::settlement_bytes(answer);

    /// The mode with this name. Any spelling but the four is refused.
    fn parse_mode(name: &str) -> Mode;
    ask(name), size: name.len(), limit: max_input_bytes, check: |_, _| Ok(());

    /// The first of the three that is there, else `safe_edit`. An unknown name is refused.
    fn resolve_mode(explicit: Option<&str>, environment: Option<&str>, file: Option<&str>) -> ResolvedMode;
    ask(explicit, environment, file), size: optional(explicit) + optional(environment) + optional(file),
        limit: max_input_bytes, check: |_, _, _, _| Ok(());

    /// The bare command of a command line: what the allow-lists are asked about.
    fn command_name(line: &str) -> String;
    ask_plain(line), size: line.len(), limit: max_input_bytes, check: |_, _| Ok(());

    /// The command that stands for a tool under the preset `roam`.
    fn tool_command(tool: &str) -> String;
    ask_plain(tool), size: tool.len(), limit: max_input_bytes, check: |_, _| Ok(());

    /// Whether the allow-lists of the configuration let a mode run a command.
    fn check_command(line: &str, mode: Mode) -> CommandRule;
    ask(line, mode, None::<&str>), size: line.len(), limit: max_input_bytes, check: |_, _, _| Ok(());

    /// The result that is sent for a denied call, as JSON text.
    fn blocked_envelope(tool: &str, command: Option<&str>, judgement: &Judgement) -> String;
    ask_plain(tool, command, judgement), size: tool.len() + optional(command) + judgement.reason.len(),
        limit: max_input_bytes, check: |answer, _, _, _| sanity::json(answer.as_bytes());

    /// Mask secrets in plain text.
    fn redact_text(text: &str) -> Redacted;
    ask(text, None::<&str>), size: text.len(), limit: max_input_bytes, check: |answer, _| sanity::redacted(answer);

    /// [`redact_text`](Self::redact_text) on bytes that may not be UTF-8.
    fn redact_text_bytes(text: &[u8]) -> RedactedBytes;
    ask(text, None::<&str>), size: text.len(), limit: max_input_bytes, check: |answer, _| sanity::redacted_bytes(answer);

    /// Mask secrets in JSON text: strings and keys at every depth, decoded for the search.
    fn redact_json(json: &str) -> Redacted;
    ask(json, None::<&str>), size: json.len(), limit: max_input_bytes, check: |answer, _| sanity::redacted(answer);

    /// [`redact_json`](Self::redact_json) on bytes that may not be UTF-8.
    fn redact_json_bytes(json: &[u8]) -> RedactedBytes;
    ask(json, None::<&str>), size: json.len(), limit: max_input_bytes, check: |answer, _| sanity::redacted_bytes(answer);

    /// Count injection marks in plain text.
    fn scan_markers(text: &str) -> Vec<Hit>;
    ask_plain(text), size: text.len(), limit: max_input_bytes, check: |answer, _| sanity::hits(answer);

    /// The pieces of a text that arrives bit by bit: what may go out after each and, last, after the end.
    fn redact_pieces(pieces: &[String]) -> Vec<String>;
    ask(pieces, None::<&str>), size: size::texts(pieces), limit: max_input_bytes, check: |answer, pieces| sanity::pieces(pieces.len(), answer);

    /// Check a receipt's members, given as a JSON object's text, and put it in canonical form.
    fn seal(fields: &str) -> Sealed;
    ask(fields), size: fields.len(), limit: max_input_bytes, check: |answer, _| sanity::sealed(answer);

    /// SHA-256 of the canonical arguments without their member `ctx`, lower-case hex.
    fn input_hash(arguments: &str) -> String;
    ask(arguments), size: arguments.len(), limit: max_input_bytes, check: |answer, _| sanity::hash(answer);

    /// What a receipt says of a result, given as JSON text.
    fn output_of(outcome: &str) -> Output;
    ask(outcome), size: outcome.len(), limit: max_input_bytes, check: |answer, _| sanity::output(answer);

    /// A JSON text in one of the canonical forms.
    fn canonicalize(json: &str, form: Form) -> String;
    ask(json, form), size: json.len(), limit: max_input_bytes, check: |answer, _, _| sanity::json(answer.as_bytes());

    /// Where the chain of a ledger ends, from the text of `events.jsonl`.
    fn read_tail(events: &[u8]) -> Tail;
    ask(events), size: events.len(), limit: max_ledger_bytes, check: |answer, _| sanity::tail(answer);

    /// Sign events one after the other, given as texts of JSON objects.
    fn sign(key: &[u8], after: &Tail, events: &[String]) -> Vec<SignedEvent>;
    ask(key, after, events), size: key.len() + size::texts(events), limit: max_ledger_bytes,
        check: |answer, _, _, events| sanity::signed(events.len(), answer);

    /// Verify a chain as roam-code does, from the text of `events.jsonl`.
    fn verify_chain(key: &[u8], events: &[u8]) -> ChainVerdict;
    ask(key, events), size: key.len() + events.len(), limit: max_ledger_bytes, check: |_, _, _| Ok(());

    /// The receipts that a ledger links, in order.
    fn receipt_links(events: &[u8]) -> Vec<ReceiptLink>;
    ask(events), size: events.len(), limit: max_ledger_bytes, check: |_, _| Ok(());

    /// Verify a chain and the receipts that it links as roam-code's library does.
    fn verify_with_receipts(key: &[u8], events: &[u8], files: &[ReceiptFile]) -> FullVerdict;
    ask(key, events, files), size: key.len() + events.len() + size::files(files), limit: max_ledger_bytes,
        check: |_, _, _, _| Ok(());

    /// What the component is and what is in force.
    fn info() -> Information;
    ask_plain(), size: 0, limit: max_input_bytes, check: sanity::information;

    /// The detectors and markers as JSON text.
    fn catalogue() -> String;
    ask_plain(), size: 0, limit: max_input_bytes, check: |answer| sanity::json(answer.as_bytes());
}

/// Let an input in, or not, before an instance is taken for it.
pub(crate) fn let_in(size: usize, limit: usize) -> Result<(), Refusal> {
    if size > limit { Err(Refusal::InputTooLarge { size, limit }) } else { Ok(()) }
}
