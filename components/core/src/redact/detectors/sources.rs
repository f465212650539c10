//! Source hosting, package registries, build services.

use super::Part::{Dotted, Run, Text};
use super::{Anchor, Detector, Extent, own, token};
use crate::redact::check::{all_kinds, any, as_roam, digit, mixed};
use crate::redact::input::Input;
use crate::redact::sets::Set::{Alnum, AlnumUnderscore, Base64, Hex, Pad, Word, WordDot};

pub(super) const TABLE: &[Detector] = &[
    Detector {
        id: "github_pat_classic",
        provider: "GitHub",
        tier: 1,
        rules: &[token("ghp_", &[Run(AlnumUnderscore, 32)], as_roam)],
    },
    Detector {
        id: "github_pat_fine_grained",
        provider: "GitHub",
        tier: 1,
        rules: &[own(Anchor::Exact("github_pat_"), github_pat_fine_grained)],
    },
    Detector { id: "github_oauth_token", provider: "GitHub", tier: 1, rules: &[token("gho_", &[Run(Alnum, 34)], any)] },
    Detector {
        id: "github_app_token",
        provider: "GitHub",
        tier: 1,
        rules: &[
            token("ghu_", &[Run(Alnum, 34)], any),
            token("ghs_", &[Run(Alnum, 34)], any),
            own(Anchor::Exact("ghs_"), github_app_jwt),
        ],
    },
    Detector {
        id: "github_refresh_token",
        provider: "GitHub",
        tier: 1,
        rules: &[token("ghr_", &[Run(Alnum, 34)], any)],
    },
    Detector {
        id: "gitlab_pat",
        provider: "GitLab",
        tier: 1,
        rules: &[token("glpat-", &[Run(Word, 20), Dotted], any)],
    },
    Detector {
        id: "gitlab_token_other",
        provider: "GitLab",
        tier: 1,
        rules: &[
            token("gldt-", &[Run(Word, 20), Dotted], any),
            token("glrt-", &[Run(Word, 20), Dotted], any),
            token("glrtr-", &[Run(Word, 20), Dotted], any),
            token("glcbt-", &[Run(Word, 20), Dotted], any),
            token("glft-", &[Run(Word, 20), Dotted], any),
            token("glsoat-", &[Run(Word, 20), Dotted], any),
            token("glffct-", &[Run(Word, 20), Dotted], any),
            token("glptt-", &[Run(Word, 40), Dotted], any),
            token("glagent-", &[Run(Word, 50), Dotted], any),
            token("gloas-", &[Run(Word, 64), Dotted], any),
            token("glimt-", &[Run(Word, 25), Dotted], any),
            token("GR1348941", &[Run(Word, 20)], any),
        ],
    },
    Detector { id: "npm_token", provider: "npm", tier: 1, rules: &[token("npm_", &[Run(Alnum, 36)], any)] },
    Detector { id: "pypi_token", provider: "PyPI", tier: 1, rules: &[token("pypi-AgE", &[Run(Word, 50)], any)] },
    Detector {
        id: "rubygems_token",
        provider: "RubyGems",
        tier: 1,
        rules: &[token("rubygems_", &[Run(Hex, 48)], any)],
    },
    Detector {
        id: "cargo_registry_token",
        provider: "Cargo registry",
        tier: 2,
        rules: &[token("cio", &[Run(Alnum, 32)], all_kinds)],
    },
    Detector { id: "nuget_key", provider: "NuGet", tier: 2, rules: &[token("oy2", &[Run(Alnum, 43)], nuget)] },
    Detector {
        id: "docker_hub_token",
        provider: "Docker",
        tier: 1,
        rules: &[token("dckr_pat_", &[Run(Word, 27)], any), token("dckr_oat_", &[Run(Word, 32)], any)],
    },
    Detector {
        id: "atlassian_token",
        provider: "Atlassian",
        tier: 1,
        rules: &[
            token("ATATT3", &[Run(Word, 60), Run(Pad, 0), Run(Hex, 0)], any),
            token("ATCTT3", &[Run(Word, 60), Run(Pad, 0), Run(Hex, 0)], any),
            token("ATSTT3", &[Run(Word, 60), Run(Pad, 0), Run(Hex, 0)], any),
            token("ATBB", &[Run(Word, 24), Run(Pad, 0), Run(Hex, 0)], all_kinds),
        ],
    },
    Detector {
        id: "sonar_token",
        provider: "SonarQube",
        tier: 1,
        rules: &[
            token("sqp_", &[Run(Hex, 40)], any),
            token("squ_", &[Run(Hex, 40)], any),
            token("sqa_", &[Run(Hex, 40)], any),
        ],
    },
    Detector {
        id: "postman_key",
        provider: "Postman",
        tier: 1,
        rules: &[token("PMAK-", &[Run(Hex, 24), Text("-"), Run(Hex, 34)], any)],
    },
    Detector {
        id: "circleci_token",
        provider: "CircleCI",
        tier: 1,
        rules: &[
            token("CCIPAT_", &[Run(Alnum, 22), Text("_"), Run(Hex, 40)], any),
            token("CCIPRJ_", &[Run(Alnum, 22), Text("_"), Run(Hex, 40)], any),
        ],
    },
    Detector {
        id: "buildkite_token",
        provider: "Buildkite",
        tier: 1,
        rules: &[
            token("bkua_", &[Run(Hex, 40)], any),
            token("bkct_", &[Run(Word, 40)], mixed),
            token("bkaj_", &[Run(WordDot, 40)], mixed),
            token("bkat_", &[Run(WordDot, 40)], mixed),
        ],
    },
    Detector {
        id: "npmrc_auth",
        provider: "npm clients",
        tier: 2,
        rules: &[
            own(Anchor::Exact(":_authToken="), |input, at| npmrc(input, at + 12)),
            own(Anchor::Exact(":_auth="), |input, at| npmrc(input, at + 7)),
            own(Anchor::Exact(":_password="), |input, at| npmrc(input, at + 11)),
        ],
    },
];

/// `github_pat_` and 80 letters, digits and `_` or more, in any script.
fn github_pat_fine_grained(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let body = at + "github_pat_".len();
    let ascii = input.run(AlnumUnderscore, body);
    if ascii - body >= 80 {
        return any_filler(input, body, ascii).then_some((at, ascii));
    }
    // The baseline counts letters and digits of any script.
    let bytes = input.slice(body, body + 4 * 91);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?,
    };
    let inside = |sign: &char| sign.is_alphanumeric() || *sign == '_';
    let signs = text.chars().take_while(inside);
    let (count, length) = signs.fold((0, 0), |(count, length), sign| (count + 1, length + sign.len_utf8()));
    if length + 4 > bytes.len() {
        // Asks for more text where there may be some.
        let _more = input.at(body + 4 * 91);
    }
    (count >= 80).then(|| (at, input.run(AlnumUnderscore, body + length)))
}

/// 43 signs of lower-case base32.
fn nuget(body: &[u8]) -> bool {
    body.len() == 43 && body.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7')) && digit(body)
}

fn any_filler(input: &Input<'_>, from: usize, to: usize) -> bool {
    as_roam(input.sample(from, to))
}

/// `ghs_`, the digits of an app, `_`, three parts with dots.
fn github_app_jwt(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let id = at + "ghs_".len();
    let after = input.run(Alnum, id);
    if after == id || !input.has(after, b"_eyJ") {
        return None;
    }
    let end = input.run(WordDot, after);
    (end - after >= 36).then(|| (at, input.without_full_stop(after, end)))
}

/// The value behind the name of a credential in `.npmrc`.
fn npmrc(input: &Input<'_>, from: usize) -> Option<Extent> {
    let from = from + usize::from(input.at(from) == Some(b'"'));
    let word = input.run(Word, from);
    let end = input.run(Pad, input.run(Base64, word).max(word));
    (end - from >= 8 && any(input.sample(from, end))).then_some((from, end))
}
