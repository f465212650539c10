//! Observability, payments, messaging, office.

use super::Part::{Run, Text};
use super::{Anchor, Detector, Extent, around, own, token};
use crate::redact::check::{all_kinds, any, base64, digit, mixed};
use crate::redact::input::Input;
use crate::redact::sets::Set::{Alnum, Base64, Digit, Hex, Pad, Percent, UpperDigit, Word};

const STRIPE: &[super::Part] = &[Run(Alnum, 10)];
const SHOPIFY: &[super::Part] = &[Run(Hex, 32)];
const SLACK: &[super::Part] = &[Run(Word, 20)];

pub(super) const TABLE: &[Detector] = &[
    Detector {
        id: "grafana_token",
        provider: "Grafana",
        tier: 1,
        rules: &[
            token("glsa_", &[Run(Alnum, 32), Text("_"), Run(Hex, 8)], any),
            token("glc_eyJ", &[Run(Base64, 30), Run(Pad, 0)], any),
            token("eyJrIjoi", &[Run(Base64, 40), Run(Pad, 0)], any),
        ],
    },
    Detector {
        id: "newrelic_key",
        provider: "New Relic",
        tier: 1,
        rules: &[
            token("NRAK-", &[Run(UpperDigit, 27)], any),
            token("NRII-", &[Run(Word, 32)], any),
            around((Hex, 36, 65), Anchor::Exact("NRAL"), newrelic_licence),
        ],
    },
    Detector {
        id: "sentry_token",
        provider: "Sentry",
        tier: 1,
        rules: &[
            token("sntryu_", &[Run(Hex, 64)], any),
            token("sntrys_eyJ", &[Run(Base64, 20), Run(Pad, 0), Text("_"), Run(Base64, 43)], any),
        ],
    },
    Detector {
        id: "dynatrace_token",
        provider: "Dynatrace",
        tier: 1,
        rules: &[token("dt0", &[Run(Alnum, 3), Text("."), Run(UpperDigit, 24), Text("."), Run(UpperDigit, 64)], any)],
    },
    Detector {
        id: "stripe_key",
        provider: "Stripe",
        tier: 1,
        rules: &[
            token("sk_live_", STRIPE, any),
            token("sk_test_", STRIPE, any),
            token("sk_prod_", STRIPE, any),
            token("rk_live_", STRIPE, any),
            token("rk_test_", STRIPE, any),
            token("rk_prod_", STRIPE, any),
        ],
    },
    Detector {
        id: "stripe_webhook_secret",
        provider: "Stripe, Svix",
        tier: 1,
        rules: &[token("whsec_", &[Run(Base64, 32), Run(Pad, 0)], any)],
    },
    Detector {
        id: "square_token",
        provider: "Square",
        tier: 2,
        rules: &[
            own(Anchor::Exact("EAAA"), square),
            token("sq0csp-", &[Run(Word, 43)], any),
            token("sq0atp-", &[Run(Word, 22)], any),
        ],
    },
    Detector {
        id: "shopify_token",
        provider: "Shopify",
        tier: 1,
        rules: &[
            token("shpat_", SHOPIFY, any),
            token("shpca_", SHOPIFY, any),
            token("shppa_", SHOPIFY, any),
            token("shpss_", SHOPIFY, any),
        ],
    },
    Detector {
        id: "sendgrid_key",
        provider: "SendGrid",
        tier: 1,
        rules: &[token("SG.", &[Run(Word, 20), Text("."), Run(Word, 40)], any)],
    },
    Detector {
        id: "mailchimp_key",
        provider: "Mailchimp",
        tier: 1,
        rules: &[around((Hex, 32, 65), Anchor::Exact("-us"), mailchimp)],
    },
    Detector { id: "mailgun_key", provider: "Mailgun", tier: 2, rules: &[own(Anchor::Exact("key-"), mailgun)] },
    Detector {
        id: "brevo_key",
        provider: "Brevo",
        tier: 1,
        rules: &[
            token("xkeysib-", &[Run(Hex, 64), Text("-"), Run(Alnum, 16)], any),
            token("xsmtpsib-", &[Run(Hex, 64), Text("-"), Run(Alnum, 16)], any),
        ],
    },
    Detector {
        id: "slack_token",
        provider: "Slack",
        tier: 1,
        rules: &[
            token("xoxb-", SLACK, digit),
            token("xoxp-", SLACK, digit),
            token("xoxa-", SLACK, digit),
            token("xoxr-", SLACK, digit),
            token("xoxs-", SLACK, digit),
            token("xoxo-", SLACK, digit),
            token("xoxc-", SLACK, digit),
            token("xoxe-", SLACK, digit),
            token("xoxe.xoxp-", SLACK, digit),
            token("xoxe.xoxb-", SLACK, digit),
            token("xoxd-", &[Run(Percent, 20), Run(Pad, 0)], digit),
        ],
    },
    Detector {
        id: "slack_app_token",
        provider: "Slack",
        tier: 1,
        rules: &[token("xapp-", &[Run(Digit, 1), Text("-"), Run(Word, 40)], digit)],
    },
    Detector {
        id: "slack_webhook",
        provider: "Slack",
        tier: 1,
        rules: &[
            own(Anchor::Exact("hooks.slack.com/services/"), |input, at| path(input, at + 25, 20)),
            own(Anchor::Exact("hooks.slack.com/workflows/"), |input, at| path(input, at + 26, 20)),
            own(Anchor::Exact("hooks.slack.com/triggers/"), |input, at| path(input, at + 25, 20)),
        ],
    },
    Detector {
        id: "discord_bot_token",
        provider: "Discord",
        tier: 1,
        rules: &[own(Anchor::OneOfEach(&["MNO", "DTjz", "AEIMQUYcgk", "wxyz012345"]), discord_bot)],
    },
    Detector {
        id: "discord_webhook",
        provider: "Discord",
        tier: 1,
        rules: &[own(Anchor::Exact("/api/webhooks/"), discord_webhook)],
    },
    Detector {
        id: "telegram_bot_token",
        provider: "Telegram",
        tier: 1,
        rules: &[around((Digit, 8, 15), Anchor::Exact(":AA"), telegram)],
    },
    Detector {
        id: "teams_webhook",
        provider: "Microsoft",
        tier: 1,
        rules: &[own(Anchor::Exact("/IncomingWebhook/"), |input, at| path(input, at + 17, 32))],
    },
    Detector {
        id: "figma_token",
        provider: "Figma",
        tier: 1,
        rules: &[
            token("figd_", &[Run(Word, 38)], mixed),
            token("figo_", &[Run(Word, 38)], mixed),
            token("figor_", &[Run(Word, 38)], mixed),
        ],
    },
    Detector {
        id: "notion_token",
        provider: "Notion",
        tier: 1,
        rules: &[token("ntn_", &[Run(Alnum, 40)], digit), token("secret_", &[Run(Alnum, 43)], all_kinds)],
    },
    Detector {
        id: "linear_key",
        provider: "Linear",
        tier: 1,
        rules: &[token("lin_api_", &[Run(Alnum, 32)], any), token("lin_oauth_", &[Run(Hex, 60)], any)],
    },
    Detector {
        id: "airtable_pat",
        provider: "Airtable",
        tier: 1,
        rules: &[token("pat", &[Run(Alnum, 14), Text("."), Run(Hex, 64)], any)],
    },
];

/// The parts of a path from `from` on, when they have so many signs.
fn path(input: &Input<'_>, from: usize, least: usize) -> Option<Extent> {
    let end = input.run(Base64, from);
    // The parts may hold `-` and `_` too.
    let end = input.run(Percent, end.max(from)).max(end);
    (end - from >= least && any(input.sample(from, end))).then_some((from, end))
}

/// 36 hex digits and `NRAL`; the anchor is at the mark.
fn newrelic_licence(input: &Input<'_>, at: usize) -> Option<Extent> {
    let before = hex_before(input, at);
    let end = at + "NRAL".len();
    let whole = !input.at(end).is_some_and(|byte| Alnum.contains(byte));
    (whole && before == 36).then_some((at - before, end))
}

/// `EAAA` and 60 signs, with a word's boundary on both sides.
fn square(input: &Input<'_>, at: usize) -> Option<Extent> {
    let boundary = !input.before(at).is_some_and(|byte| byte == b'/' || byte == b'+' || byte == b'=');
    let end = input.run(Word, at);
    let after = input.at(end).is_some_and(|byte| matches!(byte, b'/' | b'+' | b'='));
    (boundary && end - at >= 62 && !after && input.begins(at) && all_kinds(input.sample(at, end))).then_some((at, end))
}

/// Hex digits directly before a place, at most 65, without those of an escape.
fn hex_before(input: &Input<'_>, at: usize) -> usize {
    let digits = input.slice(at.saturating_sub(65), at).iter().rev().take_while(|byte| Hex.contains(**byte)).count();
    at - input.behind_escape(at - digits, at)
}

/// 32 hex digits, `-us`, one or two digits; the anchor is at the mark.
fn mailchimp(input: &Input<'_>, at: usize) -> Option<Extent> {
    let before = hex_before(input, at);
    if before < 32 {
        return None;
    }
    let start = at - before;
    let from = at + "-us".len();
    let end = input.run(Digit, from);
    let digits = (1..=2).contains(&(end - from)) && !input.at(end).is_some_and(|byte| Alnum.contains(byte));
    (digits && before < 65 && input.begins(start) && any(input.sample(start, at))).then_some((start, end))
}

/// `key-` and 32 hex digits, when the name is not a part of another one.
fn mailgun(input: &Input<'_>, at: usize) -> Option<Extent> {
    let from = at + "key-".len();
    let end = super::parts_end(input, from, &[Run(Hex, 32)])?;
    let alone = !input.before(at).is_some_and(|byte| matches!(byte, b'-' | b'_'));
    (alone && input.begins(at) && any(input.sample(from, end))).then_some((at, end))
}

/// Three parts with dots, the first of which is base64 of digits.
fn discord_bot(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let first = input.run(Word, at);
    if !(22..=28).contains(&(first - at)) || input.at(first) != Some(b'.') {
        return None;
    }
    let second = input.run(Word, first + 1);
    if second - first - 1 != 6 || input.at(second) != Some(b'.') {
        return None;
    }
    let end = input.run(Word, second + 1);
    let id = base64(input.slice(at, first))?;
    (end - second > 27 && id.iter().all(u8::is_ascii_digit)).then_some((at, end))
}

/// The last part of a path of digits and a token, behind a host of Discord.
fn discord_webhook(input: &Input<'_>, at: usize) -> Option<Extent> {
    let host = input.slice(at.saturating_sub(14), at);
    let digits = at + "/api/webhooks/".len();
    let slash = input.run(Digit, digits);
    if !(host.ends_with(b"discord.com") || host.ends_with(b"discordapp.com")) || input.at(slash) != Some(b'/') {
        return None;
    }
    let from = slash + 1;
    let end = input.run(Word, from);
    (end - from >= 40 && any(input.sample(from, end))).then_some((from, end))
}

/// 8 to 10 digits, `:`, `AA` and 33 signs; the anchor is at the colon.
fn telegram(input: &Input<'_>, at: usize) -> Option<Extent> {
    // Four more may belong to an escape before them.
    let before = input.slice(at.saturating_sub(15), at).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let from = at + 1;
    let end = input.run(Word, from);
    let start = input.behind_escape(at - before, at);
    let before = at - start;
    // The address of the interface puts `bot` before the digits.
    let begins = input.begins(start) || input.slice(start.saturating_sub(3), start) == b"bot";
    let fits = (8..=10).contains(&before) && end - from >= 34;
    (fits && begins && any(input.sample(from, end))).then_some((start, end))
}
