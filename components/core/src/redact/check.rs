//! Looks at the body of a token.

/// Nothing more is asked than what the parts say, but a placeholder is none.
pub(super) fn any(body: &[u8]) -> bool {
    !placeholder(body)
}

/// A digit is in it, and it is no placeholder.
pub(super) fn digit(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit) && !placeholder(body)
}

/// A digit or a capital inside is in it: not a run of lower-case words.
pub(super) fn mixed(body: &[u8]) -> bool {
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = body.iter().any(u8::is_ascii_uppercase);
    let lower = body.iter().any(u8::is_ascii_lowercase);
    (digits >= 2 || upper && lower) && !placeholder(body)
}

/// Digits, capitals and small letters are in it.
pub(super) fn all_kinds(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit)
        && body.iter().any(u8::is_ascii_uppercase)
        && body.iter().any(u8::is_ascii_lowercase)
        && !placeholder(body)
}

/// What roam-code masks whatever it is made of: only what is plainly no secret is let through.
pub(super) fn as_roam(body: &[u8]) -> bool {
    !filler(body)
}

/// Words that a real value does not hold.
const WORDS: [&[u8]; 9] = [
    b"example",
    b"your",
    b"changeme",
    b"placeholder",
    b"dummy",
    b"redacted",
    b"abcdefghij",
    b"1234567890",
    b"0123456789",
];

/// A value that stands for another: a filler, or one with a telling word in it.
pub(super) fn placeholder(body: &[u8]) -> bool {
    if filler(body) {
        return true;
    }
    let lower = body.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.windows(word.len()).any(|window| window == *word))
}

/// One sign or a short piece repeated, or a run of `x` or `*` of which at most a few signs differ.
pub(super) fn filler(body: &[u8]) -> bool {
    if body.ends_with(b"EXAMPLE") || body.ends_with(b"EXAMPLEKEY") {
        return true;
    }
    let repeats =
        |period: usize| body.len() >= 3 * period && body.iter().zip(body.iter().skip(period)).all(|(a, b)| a == b);
    if (1..=4).any(repeats) {
        return true;
    }
    let filling = body.iter().filter(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'-' | b'_')).count();
    body.len() >= 8 && filling * 10 >= body.len() * 9
}

/// The bytes that base64 spells, either alphabet, padding or not. At most so many as the text has.
pub(super) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in text.iter().take_while(|byte| **byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            let [.., byte] = (bits >> count).to_be_bytes();
            out.push(byte);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

/// Words between hyphens and underscores: no digit anywhere and no capital inside a word; or a filler.
pub(super) fn words(body: &[u8]) -> bool {
    let inside =
        body.windows(2).any(|pair| matches!(pair, [a, b] if a.is_ascii_alphabetic() && b.is_ascii_uppercase()));
    filler(body) || !inside && !body.iter().any(u8::is_ascii_digit)
}
