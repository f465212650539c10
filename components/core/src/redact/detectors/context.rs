//! Values that their place betrays.

use super::{Anchor, Detector, Extent, own};
use crate::redact::check::{any, base64, filler, placeholder};
use crate::redact::input::Input;
use crate::redact::sets::Set::{Base64, Bearer, Pad, Unreserved};

pub(super) const TABLE: &[Detector] = &[
    Detector {
        id: "bearer_token",
        provider: "RFC 6750",
        tier: 1,
        rules: &[own(Anchor::AnyCase("bearer"), bearer), own(Anchor::AnyCase("authorization"), authorization)],
    },
    Detector { id: "basic_auth", provider: "RFC 7617", tier: 1, rules: &[own(Anchor::AnyCase("basic"), basic)] },
    Detector {
        id: "url_password",
        provider: "RFC 3986",
        tier: 1,
        rules: &[
            own(Anchor::Exact("://"), |input, at| url_password(input, at, at + 3)),
            own(Anchor::Exact(":\\/\\/"), |input, at| url_password(input, at, at + 5)),
            own(Anchor::AnyCase("%3a%2f%2f"), encoded_url_password),
        ],
    },
];

/// Blanks between a scheme and its value, real, encoded or spelled. At most 16 bytes.
fn blanks(input: &Input<'_>, from: usize) -> usize {
    let mut at = from;
    while at - from < 16 {
        at += match input.at(at) {
            Some(b' ' | b'\t' | b'+') => 1,
            Some(b'%') if input.has(at, b"%20") => 3,
            Some(b'\\') if input.has(at, b"\\t") => 2,
            Some(b'\\') if input.has(at, b"\\u0020") => 6,
            Some(0xc2) if input.has(at, b"\xc2\xa0") => 2,
            _ => break,
        };
    }
    at
}

/// The value of a bearer scheme; the anchor is at the scheme.
fn bearer(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let scheme = at + "bearer".len();
    let from = blanks(input, scheme);
    if from == scheme {
        return None;
    }
    let end = value_end(input, from);
    let body = input.sample(from, end);
    let exact = input.has(at, b"Bearer ") && from == scheme + 1;
    let length = input.run(Bearer, from) - from;
    let random = body.iter().any(u8::is_ascii_digit) && !placeholder(body);
    // The baseline masks 20 signs whatever they are, when a word is at their end.
    let baseline = exact && length >= 20 && !filler(body) && body.iter().any(u8::is_ascii_alphanumeric);
    (baseline || length >= 16 && random).then_some((from, end))
}

/// The value of a header `Authorization` whose scheme is not bearer or basic: `token`, `apikey`, or none.
fn authorization(input: &Input<'_>, at: usize) -> Option<Extent> {
    let mut from = at + "authorization".len();
    let mut separators = 0;
    while separators < 24
        && matches!(input.at(from), Some(b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b'[' | b',' | b'>'))
    {
        from += 1;
        separators += 1;
    }
    if separators == 0 {
        return None;
    }
    let schemes: [&[u8]; 5] = [b"token", b"apikey", b"api-key", b"bearer", b"key"];
    let scheme = schemes.iter().find(|scheme| input.has_any_case(from, scheme))?;
    let value = from + scheme.len();
    let start = blanks(input, value);
    if start == value {
        return None;
    }
    let start = start + usize::from(matches!(input.at(start), Some(b'"' | b'\'')));
    let end = value_end(input, start);
    (end - start >= 16 && any(input.sample(start, end))).then_some((start, end))
}

/// The end of a bearer value with its padding, without the full stop of a sentence.
fn value_end(input: &Input<'_>, from: usize) -> usize {
    let signs = input.run(Bearer, from);
    let end = input.run(Pad, signs);
    if end == signs { input.without_full_stop(from, end) } else { end }
}

/// Base64 of `user:password` behind the scheme.
fn basic(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let scheme = at + "basic".len();
    let from = blanks(input, scheme);
    if from == scheme {
        return None;
    }
    let signs = input.run(Base64, from);
    let end = input.run(Pad, signs);
    if signs - from < 8 {
        return None;
    }
    let sample = input.sample(from, signs);
    let text = base64(sample.get(..sample.len().min(248))?)?;
    let colon = text.iter().position(|byte| *byte == b':')?;
    let printable = text.iter().all(|byte| !byte.is_ascii_control());
    (printable && colon + 1 < text.len()).then_some((from, end))
}

/// Signs that a URL's user and password may have together.
const USERINFO: usize = 512;

fn ends_scheme(input: &Input<'_>, at: usize) -> bool {
    input.before(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// The same with its punctuation percent-encoded.
fn encoded_url_password(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !ends_scheme(input, at) {
        return None;
    }
    let from = at + "%3a%2f%2f".len();
    let mut colon = None;
    let mut last = None;
    let mut place = from;
    while place < from + USERINFO {
        match input.at(place) {
            Some(b'%') if input.has_any_case(place, b"%3a") => colon = colon.or(Some(place)),
            Some(b'%') if input.has(place, b"%40") => last = Some(place),
            Some(b'%') if input.has_any_case(place, b"%2f") => break,
            Some(b'%') => {}
            Some(byte) if Unreserved.contains(byte) || matches!(byte, b'+' | b'!' | b'$' | b'*') => {}
            _ => break,
        }
        place += 1;
    }
    let (password, end) = (colon? + 3, last?);
    (end > password && !placeholder(input.slice(password, end))).then_some((password, end))
}

/// The password of `scheme://user:password@host`; the anchor is before the authority.
fn url_password(input: &Input<'_>, at: usize, from: usize) -> Option<Extent> {
    if !ends_scheme(input, at) {
        return None;
    }
    let mut colon = None;
    let mut last = None;
    // A mask in place of the user may hold a colon; one in a bracket counts only when there is no other.
    let mut bracket = None;
    let mut bracketed = false;
    for place in from..from + USERINFO {
        match input.at(place) {
            Some(b':') if colon.is_none() && bracketed => bracket = bracket.or(Some(place)),
            Some(b':') if colon.is_none() => colon = Some(place),
            Some(b'[' | b'(' | b'{') => bracketed = true,
            Some(b']' | b')' | b'}') => {
                bracketed = false;
                bracket = None;
            }
            Some(b'@') => last = Some(place),
            Some(b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`' | b'|' | b' ' | 0..=0x1f) | None => {
                break;
            }
            Some(_) => {}
        }
    }
    let (password, end) = (colon.or(bracket)? + 1, last?);
    if end <= password {
        return None;
    }
    let user = input.slice(from, password - 1);
    let body = input.slice(password, end);
    (!sample_of_documents(input, user, body, end)).then_some((password, end))
}

/// What documents write in place of a password.
fn sample_of_documents(input: &Input<'_>, user: &[u8], body: &[u8], end: usize) -> bool {
    let words: [&[u8]; 8] = [b"password", b"pass", b"passwd", b"pw", b"secret", b"pwd", b"****", b"..."];
    let lower = body.to_ascii_lowercase();
    let word = words.iter().any(|word| lower == *word);
    let host = [&b"localhost"[..], b"host", b"127.0.0.1", b"example."].iter().any(|host| input.has(end + 1, host));
    let variable = matches!(body, [b'$', ..] | [b'{', ..] | [b'%', .., b'%'] | [b'<', ..]);
    let same = word && (host || user == b"user" || user == b"username");
    variable || same || placeholder(body)
}
