//! Why a question was not answered.

use std::time::Duration;

use crate::types::Error;

/// Why a question was not answered. Whoever gets one denies the call or withholds the result.
///
/// The texts never hold a piece of the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The component understood the question and says why it cannot answer it.
    #[error("{}", policy_text(.0))]
    Policy(Error),
    /// The input is larger than [`Limits`](crate::Limits) allow. The component was not asked.
    #[error("input of {size} bytes is larger than the {limit} bytes allowed")]
    InputTooLarge {
        /// Bytes of the input.
        size: usize,
        /// Most bytes that are allowed.
        limit: usize,
    },
    /// The component took longer than the input's size allows.
    #[error("policy did not answer in time")]
    Deadline,
    /// The component wanted more memory than the input's size allows.
    #[error("policy wanted more memory than it may have")]
    MemoryLimit,
    /// The component stopped in the middle of the call.
    #[error("policy stopped without an answer")]
    Trap,
    /// Every instance was taken for as long as the call may wait.
    #[error("every policy instance was taken for {waited:?}")]
    Busy {
        /// How long the call waited.
        waited: Duration,
    },
    /// The component gave an answer that cannot be right.
    #[error("policy gave an answer that cannot be right: {what}")]
    Nonsense {
        /// What is wrong with the answer.
        what: &'static str,
    },
}

impl Refusal {
    /// A word for logs, counters and receipts. For [`Refusal::Policy`] it names the component's error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Policy(error) => policy_code(error),
            Self::InputTooLarge { .. } => "input_too_large",
            Self::Deadline => "deadline",
            Self::MemoryLimit => "memory_limit",
            Self::Trap => "trap",
            Self::Busy { .. } => "busy",
            Self::Nonsense { .. } => "nonsense",
        }
    }
}

fn policy_code(error: &Error) -> &'static str {
    match error {
        Error::InvalidJson(_) => "invalid_json",
        Error::UnsupportedValue(_) => "unsupported_value",
        Error::InvalidUtf8(_) => "invalid_utf8",
        Error::UnknownMode(_) => "unknown_mode",
        Error::InvalidReceipt(_) => "invalid_receipt",
        Error::InvalidEvent(_) => "invalid_event",
        Error::InvalidKey(_) => "invalid_key",
        Error::InvalidConfiguration(_) => "invalid_configuration",
        Error::InvalidArgument(_) => "invalid_argument",
    }
}

/// The component's own text, which names its kind of error where that helps.
pub(crate) fn policy_text(error: &Error) -> &str {
    match error {
        Error::InvalidJson(text)
        | Error::UnsupportedValue(text)
        | Error::InvalidUtf8(text)
        | Error::UnknownMode(text)
        | Error::InvalidReceipt(text)
        | Error::InvalidEvent(text)
        | Error::InvalidKey(text)
        | Error::InvalidConfiguration(text)
        | Error::InvalidArgument(text) => text,
    }
}
