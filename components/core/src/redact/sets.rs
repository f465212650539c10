//! Sets of signs that tokens are made of.

/// A set of ASCII signs, by the letters that the descriptions of tokens use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Set {
    /// `0-9`.
    Digit,
    /// `0-9 a-f A-F`.
    Hex,
    /// `A-Z a-z`.
    Letter,
    /// `A-Z a-z 0-9`.
    Alnum,
    /// `A-Z a-z 0-9 _`.
    AlnumUnderscore,
    /// `A-Z a-z 0-9 - _`, base64url.
    Word,
    /// `A-Z a-z 0-9 - _ .`.
    WordDot,
    /// `A-Z a-z 0-9 - _ . =`.
    WordDotPad,
    /// `A-Z a-z 0-9 + /`, base64.
    Base64,
    /// `A-Z 0-9`.
    UpperDigit,
    /// `a-z 0-9`.
    LowerDigit,
    /// `A-Z a-z 0-9 - . _ ~ + /`, the signs of a bearer token without its padding.
    Bearer,
    /// `A-Z a-z 0-9 - . _ ~`.
    Unreserved,
    /// `A-Z a-z 0-9 - _ % + /`: a token that may be percent-encoded.
    Percent,
    /// `A-Z a-z 0-9 + / = _ - , %`: comma separated base64, perhaps percent-encoded.
    Base64List,
    /// `=`.
    Pad,
}

/// Sets there are.
pub const SETS: usize = Set::Pad as usize + 1;

impl Set {
    const fn holds(self, byte: u8) -> bool {
        let alnum = byte.is_ascii_alphanumeric();
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Letter => byte.is_ascii_alphabetic(),
            Self::Alnum => alnum,
            Self::AlnumUnderscore => alnum || byte == b'_',
            Self::Word => alnum || matches!(byte, b'-' | b'_'),
            Self::WordDot => alnum || matches!(byte, b'-' | b'_' | b'.'),
            Self::WordDotPad => alnum || matches!(byte, b'-' | b'_' | b'.' | b'='),
            Self::Base64 => alnum || matches!(byte, b'+' | b'/'),
            Self::UpperDigit => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::LowerDigit => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Bearer => alnum || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/'),
            Self::Unreserved => alnum || matches!(byte, b'-' | b'.' | b'_' | b'~'),
            Self::Percent => alnum || matches!(byte, b'-' | b'_' | b'%' | b'+' | b'/'),
            Self::Base64List => alnum || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b',' | b'%'),
            Self::Pad => byte == b'=',
        }
    }

    /// Whether the sign is in the set.
    #[must_use]
    pub fn contains(self, byte: u8) -> bool {
        CLASSES.get(usize::from(byte)).is_some_and(|sets| sets & (1 << self as u32) != 0)
    }
}

const ALL: [Set; SETS] = [
    Set::Digit,
    Set::Hex,
    Set::Letter,
    Set::Alnum,
    Set::AlnumUnderscore,
    Set::Word,
    Set::WordDot,
    Set::WordDotPad,
    Set::Base64,
    Set::UpperDigit,
    Set::LowerDigit,
    Set::Bearer,
    Set::Unreserved,
    Set::Percent,
    Set::Base64List,
    Set::Pad,
];

/// For each byte the sets it is in, one bit a set.
static CLASSES: [u32; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "runs when compiled, where an index out of range is an error")]
const fn classes() -> [u32; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut set = 0;
        while set < SETS {
            let sign = byte as u8;
            if ALL[set].holds(sign) {
                classes[byte] |= 1 << ALL[set] as u32;
            }
            set += 1;
        }
        byte += 1;
    }
    classes
}
