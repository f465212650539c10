//! What the strict verdict rests on.

use serde::Serialize;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something cannot be relied on, without a sign that anybody changed it.
    Doubt,
    /// The evidence was changed after it was written, or does not come from a careful writer.
    Tampering,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident => $word:literal, $severity:ident;)+) => {
        /// What a finding is about. A closed list; `as_str` is what JSON carries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FindingCode {
            $($(#[$doc])* $name,)+
        }

        impl FindingCode {
            /// Every member, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The word as JSON spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }

            /// How much it weighs.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// There is no such run, or its `meta.json` cannot be read.
    UnknownRun => "unknown_run", Doubt;
    /// The name is no run id; it was not followed.
    UnsafeRunId => "unsafe_run_id", Doubt;
    /// `meta.json` names another run.
    MetaRunId => "meta_run_id", Tampering;
    /// There is no ledger key.
    KeyMissing => "key_missing", Doubt;
    /// The ledger key has a wrong length or cannot be read.
    KeyInvalid => "key_invalid", Doubt;
    /// Others than its owner can reach the ledger key, so they could have signed anything.
    KeyExposed => "key_exposed", Doubt;
    /// The ledger or a folder cannot be read.
    Unreadable => "unreadable", Doubt;
    /// The chain breaks: a signature is missing, malformed or wrong.
    ChainBroken => "chain_broken", Tampering;
    /// The ledger cannot be judged: it holds bytes or values that no writer of a ledger leaves.
    Unverifiable => "unverifiable", Tampering;
    /// Nothing is signed, so anything can have been changed.
    Unsigned => "unsigned", Tampering;
    /// Nothing is signed, but the run was signed once.
    SignaturesStripped => "signatures_stripped", Tampering;
    /// A line is no event.
    UnreadableLine => "unreadable_line", Tampering;
    /// The last line is no event and has no line end: a crash that was not yet recovered, or a cut.
    LineCut => "line_cut", Doubt;
    /// A line is no event, and a signed event says that it was cut by a crash.
    RecoveredLine => "recovered_line", Note;
    /// A line is not spelled as its writer spells it: duplicate members, other blanks, other order.
    RewrittenLine => "rewritten_line", Tampering;
    /// `seq` of an event is not its place.
    SeqWrong => "seq_wrong", Tampering;
    /// The run had more events when it was ended.
    LedgerCut => "ledger_cut", Tampering;
    /// The last event of the ended run has another signature than `meta.json` says.
    FinalSignature => "final_signature", Tampering;
    /// Events were added after the run was ended.
    AppendedAfterEnd => "appended_after_end", Note;
    /// An ended run does not say how many events it had.
    MetaIncomplete => "meta_incomplete", Note;
    /// The journal promises an event that is not in the ledger: a crash that was not yet recovered, or a cut ledger.
    JournalAhead => "journal_ahead", Doubt;
    /// A receipt is not what its event says.
    ReceiptTampered => "receipt_tampered", Tampering;
    /// A linked receipt is not there.
    ReceiptMissing => "receipt_missing", Tampering;
    /// A linked receipt is there and cannot be read: too large, a link, no regular file.
    ReceiptUnreadable => "receipt_unreadable", Tampering;
    /// A receipt's file holds more or fewer newlines than one at its end.
    ReceiptNewlines => "receipt_newlines", Tampering;
    /// A receipt names another call, tool or run than its event.
    ReceiptDisagrees => "receipt_disagrees", Tampering;
    /// An event links a receipt without saying which, or without a hash.
    LinkIncomplete => "link_incomplete", Tampering;
    /// The name of a linked receipt leaves the run's folder; it was not followed.
    UnsafeToolCall => "unsafe_tool_call", Tampering;
    /// Two events link the same receipt.
    LinkedTwice => "linked_twice", Doubt;
    /// A receipt in the run's folder is linked by no event.
    ReceiptUnlinked => "receipt_unlinked", Doubt;
    /// A receipt in the folder of a run of ours is linked by no event; we link every one.
    ReceiptLinkLost => "receipt_link_lost", Tampering;
    /// Something in the receipt folder is no receipt.
    StrayFile => "stray_file", Note;
    /// The run was being written to and its lock could not be had, so the verdict may be of a moment in between.
    NotLocked => "not_locked", Note;
}

impl Serialize for FindingCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub code: FindingCode,
    /// How much it weighs.
    pub severity: Severity,
    /// Place of the event among the lines that are not blank, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The file, below the state folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// In words.
    pub message: String,
}

impl Finding {
    pub(super) fn new(code: FindingCode, message: impl Into<String>) -> Self {
        Self { code, severity: code.severity(), seq: None, path: None, message: message.into() }
    }

    pub(super) fn at(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    pub(super) fn on(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}
