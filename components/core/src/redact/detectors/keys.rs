//! Private keys and values that describe themselves.

use super::Part::Run;
use super::{Anchor, Detector, Extent, own, token};
use crate::redact::check::{all_kinds, any, base64, filler};
use crate::redact::input::Input;
use crate::redact::sets::Set::{Alnum, UpperDigit, Word};

pub(super) const TABLE: &[Detector] = &[
    Detector {
        id: "pem_private_key",
        provider: "RFC 7468",
        tier: 1,
        rules: &[
            own(Anchor::Exact("-----BEGIN "), super::pem::private_key),
            own(Anchor::Exact("-----END "), super::pem::headless),
        ],
    },
    Detector {
        id: "pgp_private_key",
        provider: "OpenPGP",
        tier: 1,
        rules: &[own(Anchor::Exact("-----BEGIN PGP PRIVATE KEY BLOCK-----"), super::pem::pgp)],
    },
    Detector { id: "jwt", provider: "RFC 7519", tier: 1, rules: &[own(Anchor::Exact("eyJ"), jwt)] },
    Detector {
        id: "age_secret_key",
        provider: "age",
        tier: 1,
        rules: &[token("AGE-SECRET-KEY-1", &[Run(UpperDigit, 50)], any)],
    },
    Detector {
        id: "crypto_private_key",
        provider: "Bitcoin, Ethereum",
        tier: 2,
        rules: &[token("xprv", &[Run(Alnum, 107)], all_kinds), token("zprv", &[Run(Alnum, 107)], all_kinds)],
    },
];

/// Parts with dots of which the first begins with `eyJ`: three to five of them, the third may be empty when the header
/// says that it is a token.
fn jwt(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let header = input.run(Word, at);
    let ends = input.chain(header)?;
    // A name of an algorithm in the header: certain. Without: three parts, as the baseline has it.
    let certain = names_algorithm(input.sample(at, header));
    let end = match ends {
        (_, Some(end)) if header - at > 3 => end,
        (two, None) if certain => two,
        _ => return None,
    };
    let body = input.sample(at + 3, header);
    (certain || !words_only(input, at, end) && !filler(body)).then_some((at, end))
}

/// Whether base64url text decodes to the head of JSON with `alg` or `enc`.
fn names_algorithm(header: &[u8]) -> bool {
    let whole = header.len() / 4 * 4;
    let text = base64(header).or_else(|| base64(header.get(..whole)?)).unwrap_or_default();
    [&b"\"alg\""[..], b"\"enc\""].iter().any(|name| text.windows(name.len()).any(|window| window == *name))
}

/// Three dotted names of a program: letters in one case and hardly anything else.
fn words_only(input: &Input<'_>, from: usize, to: usize) -> bool {
    let text = input.sample(from, to);
    text.len() < 40
        && !text.iter().any(u8::is_ascii_digit)
        && text.iter().skip(3).all(|byte| !byte.is_ascii_uppercase())
}
