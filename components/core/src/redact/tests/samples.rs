//! A made-up token for every detector, in several surroundings.

use super::*;

/// For each detector templates of the secret, with what stands around it: `{a36}` are 36 signs of the set `a` (letters
/// and digits), `l` (small letters and digits), `u` (capitals and digits), `s` (base32), `h` (hex), `d` (digits),
/// `w` (base64url), `b` (base64), `c` (letters). What is in `<…>` is the secret.
const SAMPLES: &[(&str, &[&str])] = &[
    ("github_pat_classic", &["<ghp_{a36}>"]),
    ("github_pat_fine_grained", &["<github_pat_{a22}_{a59}>"]),
    ("github_oauth_token", &["<gho_{a36}>"]),
    ("github_app_token", &["<ghu_{a36}>", "<ghs_{a36}>", "<ghs_{d7}_eyJ{w40}.{w80}.{w120}>"]),
    ("github_refresh_token", &["<ghr_{a36}>", "<ghr_{a76}>"]),
    ("gitlab_pat", &["<glpat-{w20}>", "<glpat-{w40}.01.{l9}>"]),
    (
        "gitlab_token_other",
        &[
            "<gldt-{w20}>",
            "<glrt-{w20}>",
            "<glcbt-{w20}>",
            "<glft-{w20}>",
            "<glsoat-{w20}>",
            "<glffct-{w20}>",
            "<glptt-{h40}>",
            "<glagent-{w50}>",
            "<gloas-{w64}>",
            "<glimt-{w25}>",
            "<GR1348941{w20}>",
        ],
    ),
    ("npm_token", &["<npm_{a36}>"]),
    (
        "npmrc_auth",
        &["//registry.test/:_authToken=<{h8}-{h4}-{h4}-{h4}-{h12}>", ":_auth=<{b32}>", ":_password=<{b20}==>"],
    ),
    ("pypi_token", &["<pypi-AgEIcHlwaS5vcmc{w140}>"]),
    ("rubygems_token", &["<rubygems_{h48}>"]),
    ("cargo_registry_token", &["<cio{a32}>"]),
    ("nuget_key", &["<oy2aaaaabcde23{c0}abcdefgh567jklmnopq2rstuvwxyzabc>"]),
    ("docker_hub_token", &["<dckr_pat_{w27}>", "<dckr_oat_{w32}>"]),
    ("atlassian_token", &["<ATATT3{w180}={u8}>", "<ATCTT3{w180}={u8}>", "<ATSTT3{w180}={u8}>", "<ATBB{a32}{u8}>"]),
    ("sonar_token", &["<sqp_{h40}>", "<squ_{h40}>", "<sqa_{h40}>"]),
    ("postman_key", &["<PMAK-{h24}-{h34}>"]),
    ("circleci_token", &["<CCIPAT_{a22}_{h40}>", "<CCIPRJ_{a22}_{h40}>"]),
    ("buildkite_token", &["<bkua_{h40}>", "<bkct_{w60}>", "<bkaj_{w60}>", "<bkat_{w60}>"]),
    ("openai_key", &["<sk-{a20}T3BlbkFJ{a20}>", "<sk-proj-{w74}T3BlbkFJ{w74}>", "<sk-svcacct-{w58}T3BlbkFJ{w58}>"]),
    ("anthropic_key", &["<sk-ant-api03-{w93}AA>", "<sk-ant-admin01-{w93}AA>"]),
    ("openrouter_key", &["<sk-or-v1-{h64}>"]),
    ("sk_prefix_key", &["<sk-{h32}>", "<sk-{a48}>", "<sk-{l8}.{l32}>"]),
    ("google_api_key", &["<AIzaSy{w33}>"]),
    ("huggingface_token", &["<hf_{c34}>", "<api_org_{c34}>"]),
    ("groq_key", &["<gsk_{a52}>"]),
    ("xai_key", &["<xai-{a80}>"]),
    ("perplexity_key", &["<pplx-{a48}>"]),
    ("replicate_token", &["<r8_{a37}>"]),
    ("nvidia_key", &["<nvapi-{w64}>"]),
    ("langsmith_key", &["<lsv2_pt_{h32}_{h10}>", "<lsv2_sk_{h32}_{h10}>"]),
    ("pinecone_key", &["<pcsk_{a5}_{a63}>", "<pcsk_{a6}_{a63}>"]),
    ("aws_access_key_id", &["<AKIA{s16}>", "<ASIA{s16}>", "<ABIA{s16}>", "<ACCA{s16}>"]),
    ("aws_session_token", &["<IQoJb3JpZ2luX2Vj{b400}==>", "<FwoGZXIvYXdz{b400}>", "<FQoGZXIvYXdz{b400}>"]),
    ("aws_bedrock_key", &["<ABSKQmVkcm9ja0FQSUtleS{b110}=>", "<bedrock-api-key-{b300}>"]),
    ("azure_ad_client_secret", &["<{a3}8Q~{w34}>"]),
    ("azure_devops_pat", &["<{a52}JQQJ99{a18}AZDO{a4}>"]),
    ("google_oauth_access_token", &["<ya29.{w100}>"]),
    ("google_oauth_client_secret", &["<GOCSPX-{w28}>"]),
    ("google_oauth_refresh_token", &["<1//0{w60}>"]),
    ("digitalocean_token", &["<dop_v1_{h64}>", "<doo_v1_{h64}>", "<dor_v1_{h64}>"]),
    ("heroku_key", &["<HRKU-AA{w58}>"]),
    ("cloudflare_token", &["<cfk_{a40}{h8}>", "<cfut_{a40}{h8}>", "<cfat_{a40}{h8}>", "<v1.0-{h24}-{h146}>"]),
    ("fly_token", &["<FlyV1 fm2_{b200},fm1r_{b200}>", "<FlyV1%20fm2_{b200}>", "<fm1a_{b200}>"]),
    ("vercel_token", &["<vcp_{a56}>", "<vci_{a56}>", "<vca_{a56}>", "<vcr_{a56}>", "<vck_{a56}>"]),
    ("netlify_token", &["<nfp_{a36}>", "<nfc_{a36}>", "<nfo_{a36}>", "<nfu_{a36}>", "<nfb_{a36}>"]),
    ("supabase_key", &["<sbp_{h40}>", "<sb_secret_{w31}>"]),
    ("planetscale_token", &["<pscale_tkn_{w43}>", "<pscale_pw_{w43}>", "<pscale_oauth_{w43}>"]),
    ("neon_key", &["<napi_{l64}>"]),
    ("databricks_token", &["<dapi{h32}>", "<dapi{h32}-2>"]),
    ("vault_token", &["<hvs.{w95}>", "<hvb.{w140}>", "<hvr.{w24}>"]),
    ("terraform_cloud_token", &["<{a14}.atlasv1.{w67}>"]),
    (
        "doppler_token",
        &[
            "<dp.pt.{a43}>",
            "<dp.st.dev.{a43}>",
            "<dp.sa.{a43}>",
            "<dp.ct.{a43}>",
            "<dp.scim.{a43}>",
            "<dp.audit.{a43}>",
        ],
    ),
    ("pulumi_token", &["<pul-{h40}>"]),
    ("tailscale_key", &["<tskey-auth-{a11}CNTRL-{a32}>"]),
    ("grafana_token", &["<glsa_{a32}_{h8}>", "<glc_eyJ{b120}==>", "<eyJrIjoi{b80}>"]),
    ("newrelic_key", &["<NRAK-{u27}>", "<NRII-{w32}>", "<{h36}NRAL>"]),
    ("sentry_token", &["<sntryu_{h64}>", "<sntrys_eyJ{b120}=_{b43}>"]),
    ("dynatrace_token", &["<dt0c01.{u24}.{u64}>"]),
    ("stripe_key", &["<sk_live_{a24}>", "<rk_test_{a99}>", "<sk_prod_{a24}>"]),
    ("stripe_webhook_secret", &["<whsec_{b32}>"]),
    ("square_token", &["<EAAA{a60}>", "<sq0csp-{w43}>", "<sq0atp-{w22}>"]),
    ("shopify_token", &["<shpat_{h32}>", "<shpca_{h32}>", "<shppa_{h32}>", "<shpss_{h32}>"]),
    ("sendgrid_key", &["<SG.{w22}.{w43}>"]),
    ("mailchimp_key", &["<{h32}-us7>", "<{h32}-us21>"]),
    ("mailgun_key", &["<key-{h32}>"]),
    ("brevo_key", &["<xkeysib-{h64}-{a16}>", "<xsmtpsib-{h64}-{a16}>"]),
    ("slack_token", &["<xoxb-{d12}-{d13}-{a24}>", "<xoxe.xoxp-1-{a160}>", "<xoxd-{a40}%2B{a40}%3D>"]),
    ("slack_app_token", &["<xapp-1-{u11}-{d13}-{h64}>"]),
    (
        "slack_webhook",
        &[
            "https://hooks.slack.com/services/<T{u9}/B{u9}/{a24}>",
            "https://hooks.slack.com/triggers/<T{u9}/{d13}/{a32}>",
        ],
    ),
    ("discord_bot_token", &["<MTA1MjM0NTY3ODkwMTIzNDU2.G{w5}.{w38}>"]),
    ("discord_webhook", &["https://discord.com/api/webhooks/{d18}/<{w68}>"]),
    ("telegram_bot_token", &["<{d9}:AA{w33}>", "https://api.telegram.org/bot<{d10}:AA{w33}>/getMe"]),
    (
        "teams_webhook",
        &["https://x.webhook.office.com/webhookb2/{h8}@{h8}/IncomingWebhook/<{h32}/{h8}-{h4}-{h4}-{h4}-{h12}>"],
    ),
    ("figma_token", &["<figd_{w40}>", "<figo_{w40}>", "<figor_{w40}>"]),
    ("notion_token", &["<ntn_{d11}{a35}>", "<secret_{a43}>"]),
    ("linear_key", &["<lin_api_{a40}>", "<lin_oauth_{h64}>"]),
    ("airtable_pat", &["<pat{a14}.{h64}>"]),
    ("pem_private_key", &["<-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n{b20}==\n-----END PRIVATE KEY----->"]),
    (
        "pgp_private_key",
        &[
            "<-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{b64}\n{b30}==\n=ab+d\n-----END PGP PRIVATE KEY BLOCK----->",
        ],
    ),
    (
        "jwt",
        &[
            "<eyJhbGciOiJIUzI1NiJ9.eyJ{w30}.{w43}>",
            "<eyJhbGciOiJub25lIn0.eyJ{w30}.>",
            "<eyJhbGciOiJkaXIifQ..{w16}.{w40}.{w22}>",
        ],
    ),
    ("age_secret_key", &["<AGE-SECRET-KEY-1{u58}>"]),
    ("crypto_private_key", &["<xprv{a107}>"]),
    (
        "bearer_token",
        &["Authorization: Bearer <{a30}>", "authorization: token <{h40}>", "proxy-authorization: bearer <{w20}>"],
    ),
    ("basic_auth", &["Authorization: Basic <dXNlcjpodW50ZXIyLWh1bnRlcjI=>"]),
    (
        "url_password",
        &[
            "postgres://app:<{a16}>@db.internal:5432/app",
            "amqps://:<{a16}>@mq",
            "https:\\/\\/app:<{a16}>@host\\/x",
            "next=postgres%3A%2F%2Fapp%3A<{a16}>%40db%2Fapp",
        ],
    ),
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn signs(&mut self, set: u8, count: usize) -> String {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        let upper = LOWER.to_ascii_uppercase();
        let signs = match set {
            b'a' => format!("{LOWER}{upper}0123456789"),
            b'l' => format!("{LOWER}0123456789"),
            b'u' => format!("{upper}0123456789"),
            b's' => format!("{upper}234567"),
            b'h' => "0123456789abcdef".to_owned(),
            b'd' => "0123456789".to_owned(),
            b'w' => format!("{LOWER}{upper}0123456789_"),
            b'b' => format!("{LOWER}{upper}0123456789+/"),
            b'c' => format!("{LOWER}{upper}"),
            _ => panic!("no set `{}`", char::from(set)),
        };
        let pick = |_| {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(signs.as_bytes()[usize::try_from(self.0 >> 33).unwrap() % signs.len()])
        };
        (0..count).map(pick).collect()
    }

    fn fill(&mut self, template: &str) -> String {
        let mut parts = template.split('{');
        let mut out = parts.next().unwrap().to_owned();
        for part in parts {
            let (spec, rest) = part.split_once('}').unwrap();
            let (set, count) = spec.split_at(1);
            out += &self.signs(set.as_bytes()[0], count.parse().unwrap());
            out += rest;
        }
        out
    }
}

#[test]
fn every_detector_masks_its_samples_and_nothing_around_them() {
    let mut dice = Dice(7);
    for (id, templates) in SAMPLES {
        for template in *templates {
            let filled = dice.fill(template);
            let (before, rest) = filled.split_once('<').unwrap();
            let (secret, after) = rest.rsplit_once('>').unwrap();
            for (left, right) in
                [("", ""), ("x = ", ";"), ("\"", "\""), ("日本、", "。"), ("\\n", "\\n"), ("(", ").\n")]
            {
                let text = format!("{left}{before}{secret}{after}{right}");
                let expected = format!("{left}{before}[REDACTED:{id}]{after}{right}");
                assert_eq!(scrubbed(&text), expected, "in `{text}`");
            }
        }
    }
}

#[test]
fn every_detector_has_a_sample() {
    let sampled: Vec<_> = SAMPLES.iter().map(|(id, _)| *id).collect();
    let missing: Vec<_> = all().map(|detector| detector.id).filter(|id| !sampled.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
