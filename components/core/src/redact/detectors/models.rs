//! Vendors of language models.

use super::Part::{Run, Text};
use super::{Anchor, Detector, Extent, own, token};
use crate::redact::check::{all_kinds, any, digit, mixed, words};
use crate::redact::input::Input;
use crate::redact::sets::Set::{Alnum, Hex, Letter, Word, WordDot};

pub(super) const TABLE: &[Detector] = &[
    Detector { id: "openai_key", provider: "OpenAI", tier: 1, rules: &[own(Anchor::Exact("sk-"), openai)] },
    Detector { id: "anthropic_key", provider: "Anthropic", tier: 1, rules: &[token("sk-ant-", &[Run(Word, 20)], any)] },
    Detector {
        id: "openrouter_key",
        provider: "OpenRouter",
        tier: 1,
        rules: &[token("sk-or-v1-", &[Run(Hex, 32)], any)],
    },
    Detector { id: "sk_prefix_key", provider: "various", tier: 2, rules: &[own(Anchor::Exact("sk-"), sk_prefix)] },
    Detector { id: "google_api_key", provider: "Google", tier: 1, rules: &[token("AIza", &[Run(Word, 35)], any)] },
    Detector {
        id: "huggingface_token",
        provider: "Hugging Face",
        tier: 1,
        rules: &[token("hf_", &[Run(Letter, 34)], any), token("api_org_", &[Run(Letter, 34)], any)],
    },
    Detector { id: "groq_key", provider: "Groq", tier: 1, rules: &[token("gsk_", &[Run(Alnum, 40)], any)] },
    Detector { id: "xai_key", provider: "xAI", tier: 1, rules: &[token("xai-", &[Run(Alnum, 64)], any)] },
    Detector {
        id: "perplexity_key",
        provider: "Perplexity",
        tier: 1,
        rules: &[token("pplx-", &[Run(Alnum, 40)], any)],
    },
    Detector { id: "replicate_token", provider: "Replicate", tier: 1, rules: &[token("r8_", &[Run(Alnum, 37)], any)] },
    Detector { id: "nvidia_key", provider: "NVIDIA", tier: 1, rules: &[token("nvapi-", &[Run(Word, 60)], mixed)] },
    Detector {
        id: "langsmith_key",
        provider: "LangChain",
        tier: 1,
        rules: &[
            token("lsv2_pt_", &[Run(Hex, 32), Text("_"), Run(Hex, 10)], any),
            token("lsv2_sk_", &[Run(Hex, 32), Text("_"), Run(Hex, 10)], any),
        ],
    },
    Detector {
        id: "pinecone_key",
        provider: "Pinecone",
        tier: 1,
        rules: &[token("pcsk_", &[Run(Alnum, 5), Text("_"), Run(Alnum, 50)], all_kinds)],
    },
];

/// `sk-` with the mark of OpenAI inside.
fn openai(input: &Input<'_>, at: usize) -> Option<Extent> {
    let (body, end) = sk_body(input, at)?;
    let sample = input.sample(body, end);
    let mark = b"T3BlbkFJ";
    (sample.windows(mark.len()).any(|window| window == mark) && any(sample)).then_some((at, end))
}

/// `sk-` and 20 signs or more that are not words.
fn sk_prefix(input: &Input<'_>, at: usize) -> Option<Extent> {
    let (body, end) = sk_body(input, at)?;
    let sample = input.sample(body, end);
    (!words(sample)).then_some((at, end))
}

fn sk_body(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.begins(at) {
        return None;
    }
    let body = at + "sk-".len();
    let word = input.run(Word, body);
    if word - body >= 20 {
        return Some((body, word));
    }
    // Some issuers put a dot in.
    if input.at(word) != Some(b'.') || word == body {
        return None;
    }
    let end = input.without_full_stop(body, input.run(WordDot, body));
    (end - body >= 32 && digit(input.sample(body, end))).then_some((body, end))
}
