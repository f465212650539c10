//! Why a call of the core failed.

use std::fmt;

/// Why a call failed. The texts are for people: lower case, no full stop, and never with a piece of the input that could
/// hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text is not JSON.
    InvalidJson(String),
    /// JSON that the canonical forms cannot carry.
    UnsupportedValue(String),
    /// The bytes are not UTF-8.
    InvalidUtf8(String),
    /// Not one of the four modes.
    UnknownMode(String),
    /// A receipt's members break a rule of the format.
    InvalidReceipt(String),
    /// An event that cannot be signed.
    InvalidEvent(String),
    /// The ledger key is not 32 bytes.
    InvalidKey(String),
    /// A configuration that is not understood.
    InvalidConfiguration(String),
    /// An argument that is none of the above.
    InvalidArgument(String),
}

impl Error {
    /// The name of the case, as JSON spells it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidJson(_) => "invalid_json",
            Self::UnsupportedValue(_) => "unsupported_value",
            Self::InvalidUtf8(_) => "invalid_utf8",
            Self::UnknownMode(_) => "unknown_mode",
            Self::InvalidReceipt(_) => "invalid_receipt",
            Self::InvalidEvent(_) => "invalid_event",
            Self::InvalidKey(_) => "invalid_key",
            Self::InvalidConfiguration(_) => "invalid_configuration",
            Self::InvalidArgument(_) => "invalid_argument",
        }
    }

    /// The text for people.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::InvalidJson(text)
            | Self::UnsupportedValue(text)
            | Self::InvalidUtf8(text)
            | Self::UnknownMode(text)
            | Self::InvalidReceipt(text)
            | Self::InvalidEvent(text)
            | Self::InvalidKey(text)
            | Self::InvalidConfiguration(text)
            | Self::InvalidArgument(text) => text,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}
