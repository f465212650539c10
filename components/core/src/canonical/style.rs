//! Which spelling.

/// The three spellings of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Receipts and hashes: no blanks, everything outside U+0020…U+007E escaped.
    Receipt,
    /// The bytes of an event that are signed: no blanks, only controls below U+0020, `"` and `\` escaped.
    Event,
    /// A line of the ledger: a blank after `,` and `:`, escaped as [`Form::Event`], no line end.
    Line,
}

/// How values are spelled: the two choices that the forms differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether everything outside U+0020…U+007E is escaped.
    pub ascii: bool,
    /// Whether a blank follows `,` and `:`.
    pub spaced: bool,
}

impl Style {
    /// The line that Counterfoil writes: spaced as [`Form::Line`], escaped as [`Form::Receipt`]. It reads back to the
    /// same value, and no reader can take U+2028 or U+0085 in it for a line end.
    pub const ASCII_LINE: Self = Self { ascii: true, spaced: true };
}

impl From<Form> for Style {
    fn from(form: Form) -> Self {
        match form {
            Form::Receipt => Self { ascii: true, spaced: false },
            Form::Event => Self { ascii: false, spaced: false },
            Form::Line => Self { ascii: false, spaced: true },
        }
    }
}
