//! Python's idea of characters, where roam-code's formats and patterns rest on it.

/// White space: Unicode's, and the four separators U+001C to U+001F.
pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// A sign of a word in a pattern: letters, numbers and `_`.
pub(crate) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Whether a character matches an ASCII letter when case is ignored: Python lets `i` match `İ` and `ı`, `s` also `ſ`, and
/// `k` also the Kelvin sign. `letter` is lower-case.
pub(crate) fn same_letter(character: char, letter: char) -> bool {
    character.to_ascii_lowercase() == letter
        || match letter {
            'i' => matches!(character, '\u{130}' | '\u{131}'),
            's' => character == '\u{17f}',
            'k' => character == '\u{212a}',
            _ => false,
        }
}
