//! Clouds and hosting.

use super::Part::{Run, Sign, Text};
use super::{Anchor, Detector, Extent, around, own, token};
use crate::redact::check::{all_kinds, any, as_roam, mixed};
use crate::redact::input::Input;
use crate::redact::sets::Set::{
    Alnum, Base64, Base64List, Hex, LowerDigit, Pad, Unreserved, UpperDigit, Word, WordDot, WordDotPad,
};

const DIGITALOCEAN: &[super::Part] = &[Run(Hex, 64)];
const VERCEL: &[super::Part] = &[Run(Word, 24)];
const NETLIFY: &[super::Part] = &[Run(Alnum, 36)];
const CLOUDFLARE: &[super::Part] = &[Run(Alnum, 40)];
const PLANETSCALE: &[super::Part] = &[Run(WordDotPad, 32)];
const VAULT: &[super::Part] = &[Run(Word, 24)];

pub(super) const TABLE: &[Detector] = &[
    Detector {
        id: "aws_access_key_id",
        provider: "AWS",
        tier: 1,
        rules: &[
            own(Anchor::Exact("AKIA"), aws_key_id),
            own(Anchor::Exact("ASIA"), aws_key_id),
            own(Anchor::Exact("ABIA"), aws_key_id),
            own(Anchor::Exact("ACCA"), aws_key_id),
        ],
    },
    Detector {
        id: "aws_session_token",
        provider: "AWS",
        tier: 1,
        rules: &[
            token("IQoJb3JpZ2luX2Vj", &[Run(Base64, 80), Run(Pad, 0)], any),
            token("FwoGZXIvYXdz", &[Run(Base64, 80), Run(Pad, 0)], any),
            token("FQoGZXIvYXdz", &[Run(Base64, 80), Run(Pad, 0)], any),
        ],
    },
    Detector {
        id: "aws_bedrock_key",
        provider: "AWS",
        tier: 1,
        rules: &[
            token("ABSKQmVkcm9ja0FQSUtleS", &[Run(Base64, 60), Run(Pad, 0)], any),
            token("bedrock-api-key-", &[Run(Base64, 40), Run(Pad, 0)], any),
        ],
    },
    Detector {
        id: "azure_ad_client_secret",
        provider: "Microsoft Entra",
        tier: 1,
        rules: &[around((Unreserved, 3, 3), Anchor::OneOfEach(&["0123456789", "Q", "~"]), azure_ad)],
    },
    Detector {
        id: "azure_devops_pat",
        provider: "Azure DevOps",
        tier: 1,
        rules: &[around((Alnum, 52, 78), Anchor::Exact("JQQJ99"), azure_devops)],
    },
    Detector {
        id: "google_oauth_access_token",
        provider: "Google",
        tier: 1,
        rules: &[token("ya29.", &[Run(WordDot, 20)], mixed)],
    },
    Detector {
        id: "google_oauth_client_secret",
        provider: "Google",
        tier: 1,
        rules: &[token("GOCSPX-", &[Run(Word, 24)], any)],
    },
    Detector {
        id: "google_oauth_refresh_token",
        provider: "Google",
        tier: 1,
        rules: &[token("1//0", &[Run(Word, 30)], mixed)],
    },
    Detector {
        id: "digitalocean_token",
        provider: "DigitalOcean",
        tier: 1,
        rules: &[
            token("dop_v1_", DIGITALOCEAN, any),
            token("doo_v1_", DIGITALOCEAN, any),
            token("dor_v1_", DIGITALOCEAN, any),
        ],
    },
    Detector { id: "heroku_key", provider: "Heroku", tier: 1, rules: &[token("HRKU-AA", &[Run(Word, 50)], any)] },
    Detector {
        id: "cloudflare_token",
        provider: "Cloudflare",
        tier: 1,
        rules: &[
            token("cfk_", CLOUDFLARE, any),
            token("cfut_", CLOUDFLARE, any),
            token("cfat_", CLOUDFLARE, any),
            token("v1.0-", &[Run(Hex, 24), Text("-"), Run(Hex, 140)], any),
        ],
    },
    Detector {
        id: "fly_token",
        provider: "Fly.io",
        tier: 1,
        rules: &[
            token("FlyV1 fm", &[Sign("12"), Run(LowerDigit, 0), Text("_"), Run(Base64List, 40)], any),
            token("FlyV1%20fm", &[Sign("12"), Run(LowerDigit, 0), Text("_"), Run(Base64List, 40)], any),
            token("fm1r_", &[Run(Base64List, 80)], any),
            token("fm1a_", &[Run(Base64List, 80)], any),
            token("fm2_", &[Run(Base64List, 80)], any),
        ],
    },
    Detector {
        id: "vercel_token",
        provider: "Vercel",
        tier: 1,
        rules: &[
            token("vcp_", VERCEL, all_kinds),
            token("vci_", VERCEL, all_kinds),
            token("vca_", VERCEL, all_kinds),
            token("vcr_", VERCEL, all_kinds),
            token("vck_", VERCEL, all_kinds),
        ],
    },
    Detector {
        id: "netlify_token",
        provider: "Netlify",
        tier: 1,
        rules: &[
            token("nfp_", NETLIFY, any),
            token("nfc_", NETLIFY, any),
            token("nfo_", NETLIFY, any),
            token("nfu_", NETLIFY, any),
            token("nfb_", NETLIFY, any),
        ],
    },
    Detector {
        id: "supabase_key",
        provider: "Supabase",
        tier: 1,
        rules: &[token("sbp_", &[Run(Hex, 40)], any), token("sb_secret_", &[Run(Word, 31)], any)],
    },
    Detector {
        id: "planetscale_token",
        provider: "PlanetScale",
        tier: 1,
        rules: &[
            token("pscale_tkn_", PLANETSCALE, mixed),
            token("pscale_pw_", PLANETSCALE, mixed),
            token("pscale_oauth_", PLANETSCALE, mixed),
        ],
    },
    Detector { id: "neon_key", provider: "Neon", tier: 1, rules: &[token("napi_", &[Run(LowerDigit, 60)], any)] },
    Detector {
        id: "databricks_token",
        provider: "Databricks",
        tier: 1,
        rules: &[own(Anchor::Exact("dapi"), databricks)],
    },
    Detector {
        id: "vault_token",
        provider: "HashiCorp Vault",
        tier: 1,
        rules: &[token("hvs.", VAULT, mixed), token("hvb.", VAULT, mixed), token("hvr.", VAULT, mixed)],
    },
    Detector {
        id: "terraform_cloud_token",
        provider: "HCP Terraform",
        tier: 1,
        rules: &[around((Alnum, 14, 40), Anchor::Exact(".atlasv1."), terraform)],
    },
    Detector {
        id: "doppler_token",
        provider: "Doppler",
        tier: 1,
        rules: &[
            token("dp.pt.", &[Run(Alnum, 40)], any),
            token("dp.sa.", &[Run(Alnum, 40)], any),
            token("dp.ct.", &[Run(Alnum, 40)], any),
            token("dp.scim.", &[Run(Alnum, 40)], any),
            token("dp.audit.", &[Run(Alnum, 40)], any),
            token("dp.st.", &[Run(WordDot, 40)], mixed),
        ],
    },
    Detector { id: "pulumi_token", provider: "Pulumi", tier: 1, rules: &[token("pul-", &[Run(Hex, 40)], any)] },
    Detector {
        id: "tailscale_key",
        provider: "Tailscale",
        tier: 1,
        rules: &[token("tskey-", &[Run(Word, 30)], mixed)],
    },
];

/// Four letters and 16 capitals and digits. A longer one is a key only when it stays in the alphabet of keys.
fn aws_key_id(input: &Input<'_>, at: usize) -> Option<Extent> {
    let body = at + 4;
    let end = input.run(UpperDigit, body);
    let length = end - body;
    let base32 = |byte: &u8| !matches!(byte, b'0' | b'1' | b'8' | b'9');
    let fits = match length {
        16 => true,
        17..=32 => input.sample(body, end).iter().all(base32),
        _ => false,
    };
    let whole = !input.at(end).is_some_and(|byte| byte.is_ascii_lowercase());
    (fits && whole && input.begins(at) && as_roam(input.sample(body, end))).then_some((at, end))
}

/// Three signs, a digit, `Q~` and 31 signs or more; the anchor is at the digit.
fn azure_ad(input: &Input<'_>, at: usize) -> Option<Extent> {
    let start = at.checked_sub(3)?;
    let head = input.slice(start, at).iter().all(|byte| Unreserved.contains(*byte));
    let end = input.without_full_stop(at + 3, input.run(Unreserved, at + 3));
    let plausible = head && end - (at + 3) >= 31 && input.begins(start);
    (plausible && any(input.sample(start, end))).then_some((start, end))
}

/// Where a token begins that has `usual` letters and digits before a place, or some more. An escape before it may end in
/// a letter.
fn start(input: &Input<'_>, at: usize, usual: usize) -> Option<usize> {
    let most = usual + 26;
    let before =
        input.slice(at.saturating_sub(most), at).iter().rev().take_while(|byte| Alnum.contains(**byte)).count();
    let exact = at.checked_sub(usual).filter(|start| before >= usual && input.begins(*start));
    exact.or_else(|| (usual..most).contains(&before).then(|| at - before))
}

/// 52 signs, the mark of keys with annotations, 18 signs, the mark of the provider; the anchor is at the first mark.
fn azure_devops(input: &Input<'_>, at: usize) -> Option<Extent> {
    let start = start(input, at, 52)?;
    let end = input.run(Alnum, at);
    let mark = b"AZDO";
    let marked = input.slice(at, end.min(at + 64)).windows(mark.len()).any(|window| window == mark);
    marked.then_some((start, end))
}

/// `dapi`, 32 hex digits, perhaps `-` and a digit.
fn databricks(input: &Input<'_>, at: usize) -> Option<Extent> {
    let body = at + "dapi".len();
    let end = super::parts_end(input, body, &[Run(Hex, 32)])?;
    if !input.begins(at) || !any(input.sample(body, end)) {
        return None;
    }
    let suffix = input.at(end) == Some(b'-') && input.at(end + 1).is_some_and(|byte| byte.is_ascii_digit());
    Some((at, if suffix { input.run(Alnum, end + 1) } else { end }))
}

/// 14 signs, `.atlasv1.`, 60 signs or more; the anchor is at the mark.
fn terraform(input: &Input<'_>, at: usize) -> Option<Extent> {
    let start = start(input, at, 14)?;
    let body = at + ".atlasv1.".len();
    let end = input.run(Word, body);
    (end - body >= 50 && any(input.sample(body, end))).then_some((start, end))
}
