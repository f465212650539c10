//! Values across the boundary: the contract's types are written by a macro, the core's by hand, and they are alike.

use counterfoil_core as core;

use crate::wit;

/// A value of the core, on its way out.
pub trait Out {
    /// The same as the contract has it.
    type To;

    /// Give it out.
    fn out(self) -> Self::To;
}

/// Types that are the same on both sides.
macro_rules! same {
    ($($name:ty),+) => {$(
        impl Out for $name {
            type To = Self;
            fn out(self) -> Self { self }
        }
    )+};
}

/// Types that hold others.
macro_rules! holders {
    ($([$($generic:ident),+] $holder:ident: |$value:ident| $body:expr;)+) => {$(
        impl<$($generic: Out),+> Out for $holder<$($generic),+> {
            type To = $holder<$($generic::To),+>;
            fn out(self) -> Self::To { let $value = self; $body }
        }
    )+};
}

/// Enums of one interface whose cases are spelled alike, in both directions. Some carry a text.
macro_rules! enums {
    ($($module:ident::$name:ident as $home:ident: $($case:ident $(($text:ident))?)+;)+) => {$(
        impl Out for core::$module::$name {
            type To = wit::$home::$name;
            fn out(self) -> Self::To {
                match self { $(Self::$case $(($text))? => wit::$home::$name::$case $(($text))?,)+ }
            }
        }

        impl From<wit::$home::$name> for core::$module::$name {
            fn from(value: wit::$home::$name) -> Self {
                match value { $(wit::$home::$name::$case $(($text))? => Self::$case $(($text))?,)+ }
            }
        }
    )+};
}

/// Records that go out and whose fields are spelled alike.
macro_rules! records {
    ($($module:ident::$name:ident as $home:ident: $($field:ident)+;)+) => {$(
        impl Out for core::$module::$name {
            type To = wit::$home::$name;
            fn out(self) -> Self::To { wit::$home::$name { $($field: self.$field.out(),)+ } }
        }
    )+};
}

/// Records that come in and whose fields are spelled alike.
macro_rules! records_in {
    ($($from:path => $to:path: $($field:ident)+;)+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self { Self { $($field: value.$field.into(),)+ } }
        }
    )+};
}

/// Records that go out a second time with their text as bytes.
macro_rules! records_of_bytes {
    ($($from:path => $to:path: $body:ident $($field:ident)+;)+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                Self { $body: value.$body.map(String::into_bytes), $($field: value.$field,)+ }
            }
        }
    )+};
}

same!(bool, u32, u64, String);

holders! {
    [T] Option: |value| value.map(Out::out);
    [T] Vec: |value| value.into_iter().map(Out::out).collect();
    [T, E] Result: |value| value.map(Out::out).map_err(Out::out);
}

enums! {
    error::Error as vocabulary:
        InvalidJson(text) UnsupportedValue(text) InvalidUtf8(text) UnknownMode(text) InvalidReceipt(text)
        InvalidEvent(text) InvalidKey(text) InvalidConfiguration(text) InvalidArgument(text);
    vocabulary::Mode as vocabulary: ReadOnly SafeEdit Migration AutonomousPr;
    vocabulary::Decision as vocabulary: Allow Deny;
    vocabulary::Enforcement as vocabulary: Enforced DryRun;
    vocabulary::PolicyDecision as vocabulary:
        Allow Deny Escalate Redact NotEvaluated WouldDenyDryRun;
    vocabulary::RedactionReason as vocabulary:
        Secret Pii SensitiveContent SizeLimit Policy UserOptInRequired MachineLocalPath SchemaStrict
        ProducerNotAvailable PromptInjectionMarker;
    vocabulary::ReceiptIntegrity as vocabulary: Ok Missing Tampered NotLinked;
    vocabulary::ChainState as vocabulary: Ok Tampered Unsigned Empty;
    canonical::Form as receipts: Receipt Event Line;
}

records! {
    vocabulary::Hit as vocabulary: id hits;
    gate::Judgement as gate: decision enforcement active_mode required_mode reason;
    gate::ResolvedMode as gate: mode source;
    gate::CommandRule as gate: command allowed reason;
    call::Admission as gate: judgement input_hash arguments secrets blocked;
    call::Settlement as receipts: outcome secrets markers policy_decision reasons output receipt;
    redact::Redacted as redaction: output secrets markers;
    receipt::Sealed as receipts: canonical content_hash;
    receipt::Output as receipts: output_hash output_ref;
    ledger::Tail as ledger: lines signature complete sound;
    ledger::SignedEvent as ledger: seq signature line;
    ledger::ReceiptLink as ledger: position tool_call receipt_hash;
    ledger::ChainVerdict as ledger:
        state events_verified first_tamper_at_seq partial_success final_signature details unreadable_lines;
    ledger::FullVerdict as ledger: chain receipt_integrity first_missing_receipt_at_seq;
}

records_in! {
    wit::vocabulary::Effects => core::vocabulary::Effects: read_only destructive idempotent;
    wit::vocabulary::Hit => core::vocabulary::Hit: id hits;
    wit::gate::Judgement => core::gate::Judgement:
        decision enforcement active_mode required_mode reason;
    wit::ledger::Tail => core::ledger::Tail: lines signature complete sound;
}

records_of_bytes! {
    wit::redaction::Redacted => wit::redaction::RedactedBytes: output secrets markers;
    wit::receipts::Settlement => wit::receipts::SettlementBytes:
        outcome secrets markers policy_decision reasons output receipt;
}
