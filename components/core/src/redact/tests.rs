//! What the detectors find, and that the work stays linear.

mod keys;
mod samples;
mod values;

use super::detectors;
use super::engine::{Seen, search};
use super::input::Input;
use super::*;

fn scrubbed(text: &str) -> String {
    scrub(text, &Configuration::default()).into_owned()
}

fn json(text: &str) -> String {
    redact_json(text, &Configuration::default()).unwrap().output.unwrap_or_else(|| text.to_owned())
}

const GHP: &str = "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";

#[test]
fn ids_are_unique_and_lower_case() {
    let mut ids: Vec<_> = all().map(|detector| detector.id).collect();
    assert!(ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_sign_of_a_word_before_a_token_hides_it_but_an_escape_does_not() {
    assert_eq!(scrubbed(&format!("x{GHP}")), format!("x{GHP}"));
    for before in ["", " ", "_", "-", "TOKEN_", "²", "é", "%3D", r"\n", r"\u0022", "\u{1b}[31m", r"\x1b[0m"] {
        assert_eq!(scrubbed(&format!("{before}{GHP} rest")), format!("{before}[REDACTED:github_pat_classic] rest"));
    }
}

#[test]
fn a_token_that_is_too_long_goes_whole() {
    assert_eq!(scrubbed(&format!("a {GHP}ABCDEF01 b")), "a [REDACTED:github_pat_classic] b");
}

#[test]
fn of_overlapping_finds_the_longest_names_the_mask() {
    assert_eq!(scrubbed("Bearer abc-def.ghij.AKIAQWERTYUIOPASDFGH.xyz0123~~"), "Bearer [REDACTED:bearer_token]");
    assert_eq!(
        scrubbed(&format!("Authorization: Bearer {GHP}")),
        "Authorization: Bearer [REDACTED:github_pat_classic]"
    );
}

#[test]
fn a_value_is_masked_wherever_it_stands() {
    let body = GHP.trim_start_matches("ghp_");
    let text = format!("x{GHP} {GHP} {body}");
    assert_eq!(scrubbed(&text), format!("x[REDACTED:github_pat_classic] [REDACTED:github_pat_classic] {body}"));
    assert_eq!(
        json(&format!(r#"{{"a":"{GHP}","x{GHP}":1}}"#)),
        r#"{"a":"[REDACTED:github_pat_classic]","x[REDACTED:github_pat_classic]":1}"#
    );
}

#[test]
fn the_first_bytes_of_a_long_value_are_masked_in_another_string() {
    let key = format!("Bearer {}", "k3J9x".repeat(4) + &"Qw7Zt2Lm".repeat(9));
    let head = key.get(7..75).unwrap();
    assert_eq!(
        json(&format!(r#"["{key}","{head}="]"#)),
        r#"["Bearer [REDACTED:bearer_token]","[REDACTED:bearer_token]="]"#
    );
}

#[test]
fn keys_that_become_the_same_are_numbered() {
    let other = GHP.replace("zQW", "aQW");
    assert_eq!(
        json(&format!(r#"{{"{GHP}":1,"[REDACTED:github_pat_classic:2]":2,"{other}":3}}"#)),
        r#"{"[REDACTED:github_pat_classic]":1,"[REDACTED:github_pat_classic:2]":2,"[REDACTED:github_pat_classic:3]":3}"#
    );
    let plain = Configuration::parse(r#"{"mask":"***"}"#).unwrap();
    let output = redact_json(&format!(r#"{{"{GHP}":1,"{other}":3}}"#), &plain).unwrap().output.unwrap();
    assert_eq!(output, r#"{"***":1,"***:2":3}"#);
    let roam = Configuration::parse(r#"{"mask":"[REDACTED]"}"#).unwrap();
    let output = redact_json(&format!(r#"{{"{GHP}":1,"{other}":3}}"#), &roam).unwrap().output.unwrap();
    assert_eq!(output, r#"{"[REDACTED]":1,"[REDACTED:2]":3}"#);
}

#[test]
fn json_outside_the_masks_stays_byte_for_byte() {
    let text =
        format!("{{ \"a\\u0062\" : [ 1.50, \"\\ud83d\\ude00 \\u0067{} \\/\", null ] }}\n", GHP.trim_start_matches('g'));
    let expected = "{ \"a\\u0062\" : [ 1.50, \"\\ud83d\\ude00 [REDACTED:github_pat_classic] \\/\", null ] }\n";
    assert_eq!(json(&text), expected);
}

#[test]
fn a_private_key_goes_with_its_body() {
    let line = "MC4CAQAwBQYDK2VwBCIEIK6IhqsQJQHuwwmDVtbYjutywr/2ew7wGrgFr1Bma5sg";
    for (begin, between, end) in [
        ("-----BEGIN PRIVATE KEY-----", "\n", "-----END PRIVATE KEY-----"),
        ("-----BEGIN RSA PRIVATE KEY-----", "\r\n", "-----END RSA PRIVATE KEY-----"),
        ("-----BEGIN EC PRIVATE KEY-----", "\r", "-----END EC PRIVATE KEY-----"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", r"\n", "-----END OPENSSH PRIVATE KEY-----"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----", r"\\n", "-----END ENCRYPTED PRIVATE KEY-----"),
        ("-----BEGIN PRIVATE KEY-----", "\n    ", "-----END PRIVATE KEY-----"),
        ("-----BEGIN PRIVATE KEY-----", "\n> ", "-----END PRIVATE KEY-----"),
        ("-----BEGIN PRIVATE KEY-----", "\",\n  \"", "-----END PRIVATE KEY-----"),
        ("-----BEGIN DSA PRIVATE KEY-----", "\n", ""),
    ] {
        let text = format!("a {begin}{between}{line}{between}{line}{between}QUJD{between}{end} b");
        let output = scrubbed(&text);
        assert!(output.starts_with("a [REDACTED:pem_private_key]") && output.ends_with(" b"), "{output}");
        assert!(!output.contains("QUJD") && output.len() < 50, "{output}");
    }
    assert_eq!(
        scrubbed(&format!("x\n{line}\n{line}\nAAAA\n-----END EC PRIVATE KEY-----\n")),
        "x\n[REDACTED:pem_private_key]\n"
    );
    let headers = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n";
    assert_eq!(scrubbed(&format!("{headers}\n{line}\n-----END RSA PRIVATE KEY-----")), "[REDACTED:pem_private_key]");
}

#[test]
fn a_marker_without_a_body_is_no_key_unless_it_names_a_kind() {
    assert_eq!(scrubbed("-----BEGIN PRIVATE KEY----- and then"), "-----BEGIN PRIVATE KEY----- and then");
    assert_eq!(scrubbed("x-----BEGIN RSA PRIVATE KEY-----y"), "x[REDACTED:pem_private_key]y");
    let constant = "contains(\"-----BEGIN RSA PRIVATE KEY-----\")";
    assert_eq!(scrubbed(constant), constant);
    for public in ["-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----", "-----BEGIN PGP PUBLIC KEY BLOCK-----"]
    {
        let text = format!("{public}\nMC4CAQAwBQYDK2VwBCIEIK6IhqsQJQHuwwmDVtbYjutywr\n");
        assert_eq!(scrubbed(&text), text);
    }
}

#[test]
fn a_key_whose_lines_are_items_of_a_list_goes() {
    let line = "MC4CAQAwBQYDK2VwBCIEIK6IhqsQJQHuwwmDVtbYjutywr/2ew7wGrgFr1Bma5sg";
    assert_eq!(
        json(&format!(r#"["-----BEGIN PRIVATE KEY-----","{line}","QUJD","-----END PRIVATE KEY-----","abcd"]"#)),
        r#"["-----BEGIN PRIVATE KEY-----","[REDACTED:pem_private_key]","[REDACTED:pem_private_key]","-----END PRIVATE KEY-----","abcd"]"#
    );
}

#[test]
fn schemes_of_headers_stay_and_values_go() {
    for (text, expected) in [
        ("Bearer antidisestablishmentarianism", "Bearer [REDACTED:bearer_token]"),
        ("bearer\tqc81q5BaO/bwOqGRcFz8fV66", "bearer\t[REDACTED:bearer_token]"),
        ("BEARER  qc81q5BaO_bwOqGRcFz8fV66== x", "BEARER  [REDACTED:bearer_token] x"),
        ("Authorization: token 0k2h4j6l8qabcdef0hij.", "Authorization: token [REDACTED:bearer_token]."),
        ("{\"authorization\": \"apikey qc81q5BaObwOqGRc\"}", "{\"authorization\": \"apikey [REDACTED:bearer_token]\"}"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Authorization: Basic [REDACTED:basic_auth]"),
        ("the bearer of bad news", "the bearer of bad news"),
        ("Send a Bearer token with every request.", "Send a Bearer token with every request."),
        ("basic understanding of things", "basic understanding of things"),
        ("Authorization: Bearer YOUR_API_KEY", "Authorization: Bearer YOUR_API_KEY"),
    ] {
        assert_eq!(scrubbed(text), expected);
    }
}

#[test]
fn only_the_password_of_a_url_goes() {
    for (text, expected) in [
        ("postgres://app:s3cr3t-Pa55@db:5432/app", "postgres://app:[REDACTED:url_password]@db:5432/app"),
        ("redis://:hunter2hunter@cache", "redis://:[REDACTED:url_password]@cache"),
        ("https://host:8080/a@b", "https://host:8080/a@b"),
        ("postgres://user:password@localhost/db", "postgres://user:password@localhost/db"),
        ("postgres://app:${DB_PASSWORD}@pg/app", "postgres://app:${DB_PASSWORD}@pg/app"),
    ] {
        assert_eq!(scrubbed(text), expected);
    }
}

#[test]
fn words_and_fillers_stay() {
    for text in [
        "sk-learn-compatible-estimator-docs",
        "risk-adjusted-return-of-the-portfolio",
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "glpat-XXXXXXXXXXXXXXXXXXXX",
        "[REDACTED:github_pat_classic]",
        "https://u:[REDACTED:url_password]@h",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn a_wrapped_value_is_no_mask() {
    assert_eq!(scrubbed(&format!("[REDACTED:{GHP}]")), "[REDACTED:[REDACTED:github_pat_classic]]");
}

#[test]
fn masks_that_could_grow_together_with_text_are_refused() {
    for bad in ["", "X", "[x", "x]", "a{id}", "[{id}{id}]", "[a b]", "[a\"b]", "[a@b]", "-x-", "[\u{7}]"] {
        assert!(Mask::new(bad).is_err(), "{bad}");
    }
    for good in ["***", "[REDACTED]", "<{id}>", "[REDACTED:{id}]", "{id}".repeat(0).as_str()] {
        assert_eq!(Mask::new(good).is_ok(), !good.is_empty(), "{good}");
    }
    assert_eq!(Mask::new("[REDACTED:{id}]"), Ok(Mask::default()));
}

#[test]
fn a_text_that_never_ends_a_candidate_is_masked_and_not_kept() {
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    let mut out = redactor.push_text("a eyJ");
    for _ in 0..300 {
        out += &redactor.push_text(&"abcdefgh12345678".repeat(64));
    }
    out += &redactor.push_text("ij. and then");
    out += &redactor.finish_text();
    assert_eq!(out, "a [REDACTED:jwt] and then");
}

#[test]
fn a_stream_masks_a_value_again_behind_its_first_place_in_any_split() {
    let text = format!("x{GHP} first {GHP} then {}x{GHP}yz and {GHP}.", "filling ".repeat(100));
    let mask = "[REDACTED:github_pat_classic]";
    let expected = format!("x{GHP} first {mask} then {}x{mask} and {mask}.", "filling ".repeat(100));
    for size in [1, 7, 64, 333, text.len()] {
        let mut redactor = Redactor::open(&Configuration::default()).unwrap();
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            out.extend(redactor.push(piece).unwrap());
        }
        out.extend(redactor.finish().unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), expected, "in pieces of {size}");
    }
}

#[test]
fn a_piece_goes_out_up_to_where_something_may_still_become_a_secret() {
    let key = GHP.get(..20).unwrap();
    let hex = "0123456789abcdef0123456789abcdef";
    for (out, held) in [
        ("hello world\n", ""),
        ("hello world.\r\n", ""),
        ("Password: ", ""),
        ("日本語\n", ""),
        ("really?", ""),
        ("no key: ghp_ or sk-\n", ""),
        ("two lines\nand a ", "word"),
        ("hello ", "world"),
        ("see ", "gh"),
        ("see (", "gh"),
        ("see ", "Bearer "),
        ("see ", "Authorization: token "),
        ("a line\n", "-----BEGIN"),
        ("a line\n", "-----BEGIN PRIVATE KEY-----\n"),
        ("token = ", key),
        ("token = ", "eyJhbGciOiJIUzI1NiJ9."),
        ("token = ", hex),
        ("token = ", "0123456789abcdef0123456789abcdef-u"),
        ("token = ", "123456789:"),
        ("at https", "://user:pass"),
    ] {
        let mut redactor = Redactor::open(&Configuration::default()).unwrap();
        assert_eq!(redactor.push_text(&format!("{out}{held}")), out);
        assert_eq!(redactor.finish_text(), held);
    }
}

#[test]
fn every_line_goes_out_with_its_end_however_small_the_pieces() {
    let lines = ["job 17 done (in 3 ms)\n", &format!("token: {GHP}\n"), "-> https://host/path?a=b\n", "\n", "é: 5%\n"];
    for size in [1, 5, 1000] {
        let mut redactor = Redactor::open(&Configuration::default()).unwrap();
        for line in lines.repeat(300) {
            let mut out = Vec::new();
            for piece in line.as_bytes().chunks(size) {
                out.extend(redactor.push(piece).unwrap());
            }
            assert_eq!(String::from_utf8(out).unwrap(), scrubbed(line), "in pieces of {size}");
        }
    }
}

#[test]
fn the_beginning_of_a_known_value_is_held_back() {
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    assert_eq!(redactor.push_text("Bearer .~9x7k2m4p1q8z~~ then\n"), "Bearer [REDACTED:bearer_token] then\n");
    assert_eq!(redactor.push_text("and .~9x7"), "and ");
    assert_eq!(redactor.push_text("k2m4p1q8z~~."), "");
    assert_eq!(redactor.push_text("\n"), "[REDACTED:bearer_token].\n");
}

#[test]
fn a_redactor_refuses_bytes_that_are_no_text_and_pieces_after_the_end() {
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    assert!(redactor.push("é".as_bytes().get(..1).unwrap()).is_ok());
    assert!(matches!(redactor.push(b"x"), Err(Error::InvalidUtf8(_))));
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    redactor.push("é".as_bytes().get(..1).unwrap()).unwrap();
    assert!(matches!(redactor.finish(), Err(Error::InvalidUtf8(_))));
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    redactor.finish().unwrap();
    assert!(matches!(redactor.push(b"x"), Err(Error::InvalidArgument(_))));
}

#[test]
fn a_stream_of_single_bytes_is_searched_a_few_times_over_and_not_more() {
    for piece in [
        "word and word ",
        "eyJabcdef",
        "-----BEGIN PRIVATE KEY-----\nABCDEFGHIJKLMNOPQRSTUVWXYZ012345\n",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\n",
        "1 2 3\n",
        "\n",
        "ghp_",
    ] {
        let mut redactor = Redactor::open(&Configuration::default()).unwrap();
        let text = piece.repeat(200_000 / piece.len());
        for byte in text.as_bytes().chunks(1) {
            redactor.push(byte).unwrap();
        }
        redactor.finish().unwrap();
        let times = redactor.searched / text.len();
        assert!(times < 40, "`{piece}`: {times} times over");
    }
}

/// Steps that the checks take for a text.
fn steps(text: &str) -> usize {
    let input = Input::new(text.as_bytes());
    let mut finds = 0;
    search(&input, 0, |seen| finds += usize::from(matches!(seen, Seen::Find(_))));
    input.steps.get() + finds
}

#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    let mut pieces = vec![
        "-sk-",
        "ghp_",
        "eyJ.",
        "eyJa-",
        "eyJa.",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n1:",
        "x1: -----BEGIN PRIVATE KEY-----\n1 2 3 4\n",
        "-----BEGIN PRIVATE KEY-----+ . %2b<br>%0a",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\n-----END PRIVATE KEY-----",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\n-----END EC ",
        "-----END PRIVATE KEY-----\n1 2 3\n",
        "password=",
        "://a:",
        "a://a:b@",
        "A",
        "[[[[",
        "\\",
        "\\n",
        "Bearer ",
        "bearer a",
        "Basic QTpC",
        "github_pat_",
        "é",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAABBBBCCCCDDDDEEEEFFFF\n",
        "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH\n",
        "0Q~",
        ":AA",
        "1:AA",
        "-us1",
        "authorization:",
        "Authorization: token ",
        "ghs_1_eyJ",
        "sk-ant-",
        "sk-ant-example",
        "x0-",
        "JQQJ99",
        ".atlasv1.",
        "EAAA",
        "MTA0",
        "FlyV1 fm1_",
        "AKIA",
        "key-",
        "ya29.",
        "dapi",
        "xoxb-1-",
        "hooks.slack.com/services/",
    ];
    pieces.extend(all().flat_map(|detector| detector.rules).filter_map(|rule| match rule.anchor {
        detectors::Anchor::Exact(text) | detectors::Anchor::AnyCase(text) => Some(text),
        detectors::Anchor::OneOfEach(_) => None,
    }));
    for piece in pieces {
        let of = |size: usize| steps(&piece.repeat(size / piece.len()));
        let (small, large) = (of(64 * 1024), of(256 * 1024));
        assert!(large <= small * 5 + 4096, "`{piece}`: {small} steps, then {large}");
        assert!(large <= 256 * 1024 * 400, "`{piece}`: {large} steps");
    }
}
