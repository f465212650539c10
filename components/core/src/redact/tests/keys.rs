//! Private keys as logs, tools and programs show them, whole and bit by bit.

use super::*;

const LINES: [&str; 4] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
    "NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ",
    "q1Ofkz3qVn+gJqE=",
];
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
const MASK: &str = "[REDACTED:pem_private_key]";

fn streamed(text: &str, size: usize) -> String {
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(size) {
        out.extend(redactor.push(piece).unwrap());
    }
    out.extend(redactor.finish().unwrap());
    String::from_utf8(out).unwrap()
}

/// The text without secrets, which does not depend on how it comes, and in which no line of the key is.
#[track_caller]
fn without_key(text: &str, lines: &[&str]) -> String {
    let output = scrubbed(text);
    for line in lines {
        let left = line.as_bytes().chunks(8).find(|part| part.len() == 8 && output.contains(str(part)));
        assert_eq!(left, None, "{output}");
    }
    for size in [1, 7, 64, 65, 1000, text.len()] {
        assert_eq!(streamed(text, size), output, "in pieces of {size}");
    }
    output
}

fn str(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A key whose line number `n`, its marks included, `line` writes.
fn key(line: impl Fn(usize, &str) -> String) -> String {
    let all = [&[BEGIN][..], &LINES, &[END]].concat();
    all.iter().enumerate().map(|(number, text)| line(number + 8, text)).collect()
}

#[test]
fn a_key_goes_whatever_stands_before_each_of_its_lines() {
    type Form = fn(usize, &str) -> String;
    let forms: [Form; 15] = [
        |number, line| format!("{number}:{line}\n"),
        |number, line| format!("key.pem:{number}:{line}\n"),
        |number, line| format!("{number:6}→{line}\n"),
        |number, line| format!("{number:6}\t{line}\n"),
        |_, line| format!("# {line}\n"),
        |_, line| format!("// {line}\r\n"),
        |_, line| format!("-{line}\n"),
        |_, line| format!("+{line}\n"),
        |_, line| format!("> {line}\n"),
        |_, line| format!("| {line}\n"),
        |number, line| format!("2026-01-02T03:04:{number:02}.123Z INFO [main] dump: {line}\n"),
        |_, line| format!("  \"{line}\\n\" +\n"),
        |_, line| format!("  '{line}' .\n"),
        |number, line| format!("{number}:{line}\\n"),
        |_, line| line.to_owned(),
    ];
    for form in forms {
        let text = key(form);
        let output = without_key(&format!("before\n{text}after\n"), &LINES);
        assert!(output.starts_with("before\n") && output.ends_with("after\n"), "{output}");
        assert_eq!(output.matches(MASK).count(), 1, "{output}");
        // The end is missing.
        let cut = text.get(..text.find("-----END").unwrap()).unwrap();
        let output = without_key(&format!("before\n{cut}"), LINES.get(..3).unwrap());
        assert_eq!(output.matches(MASK).count(), 1, "{output}");
    }
}

#[test]
fn a_key_goes_with_line_ends_of_markup_and_of_urls_and_in_short_lines() {
    for between in ["<br>", "<br />", "%0A", "%0D%0A", "&#10;", "&#xA;\n", " "] {
        let text = key(|_, line| format!("{line}{between}"));
        let output = without_key(&format!("a {text}b"), &LINES);
        assert_eq!(output, format!("a {MASK}{between}b"));
        let cut = text.get(..text.find("-----END").unwrap()).unwrap();
        assert!(without_key(cut, LINES.get(..3).unwrap()).starts_with(MASK));
    }
    let body = LINES.concat();
    let short: Vec<_> = body.as_bytes().chunks(10).map(str).collect();
    assert_eq!(without_key(&format!("a {BEGIN}\n{}\n{END} b", short.join("\n")), &short), format!("a {MASK} b"));
    // Without the end mark, and with another prefix than the first line has.
    assert_eq!(without_key(&format!("a {BEGIN}\n{}\nb", short.join("\n")), &short), format!("a {MASK}\nb"));
    assert_eq!(without_key(&format!("a# {BEGIN}\n# {}", LINES.join("\n# ")), &LINES), format!("a# {MASK}"));
    let encoded = body.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    assert_eq!(without_key(&format!("k={BEGIN}%0A{encoded}%0A{END}&a"), &LINES), format!("k={MASK}&a"));
}

#[test]
fn a_body_without_first_line_goes_in_a_stream_as_in_a_text() {
    for (before, after) in [
        ("", "\n"),
        ("", "\r\n"),
        ("    ", "\n"),
        ("// ", "\n"),
        ("# ", "\n"),
        ("> ", "\n"),
        ("- ", "\n"),
        ("12:", "\n"),
        ("     7→", "\n"),
        ("\"", "\\n\" +\n"),
        ("", r"\n"),
        ("", "<br>"),
        ("", " "),
    ] {
        let body: String = LINES.iter().map(|line| format!("{before}{line}{after}")).collect();
        let output = without_key(&format!("text. one two\n{body}{before}{END} and\n"), &LINES);
        assert_eq!(output, format!("text. one two\n{before}{MASK} and\n"));
        let eight: String = (0..8).map(|number| format!("{before}{}{after}", LINES.get(number % 3).unwrap())).collect();
        assert_eq!(without_key(&format!("{eight}{before}{END}"), &LINES), format!("{before}{MASK}"));
    }
}

#[test]
fn long_base64_that_no_end_mark_follows_stays_and_is_not_kept() {
    let image = format!("{}\n", LINES.get(1).unwrap()).repeat(4000);
    let mut redactor = Redactor::open(&Configuration::default()).unwrap();
    let mut out = String::new();
    for piece in image.as_bytes().chunks(100) {
        out += &redactor.push_text(str(piece));
    }
    assert!(image.len() - out.len() < HELD, "{} bytes are held", image.len() - out.len());
    out += &redactor.finish_text();
    assert_eq!(out, image);
}

/// What is held back at most of a body, and what comes before the next look at it.
const HELD: usize = 40 * 1024;

#[test]
fn prose_and_programs_between_the_marks_stay() {
    for text in [
        format!("It begins with {BEGIN} and ends with {END}, and nothing else."),
        format!("sed -n '/{BEGIN}/,/{END}/p' /etc/Ssl1/private2/KEYS/server.pem"),
        format!("const A = \"{BEGIN}\";\nconst B = \"{END}\";\nstripHeaderOfKey64(A).replaceAll(B, '');"),
        format!(
            "const A = '{BEGIN}';\n{}\nconst B = '{END}';\n",
            "let total_sum2 = count_Of(things_1) + 1;\n".repeat(6)
        ),
        format!("{BEGIN}\n...\n{END}\n"),
        format!("{BEGIN} | etag {} {} and", LINES[1].get(..40).unwrap(), LINES[2].get(..40).unwrap()),
        format!("{BEGIN}\nYOUR_PRIVATE_KEY\n{END}\n"),
    ] {
        assert_eq!(without_key(&text, &[]), text);
    }
}

#[test]
fn an_escape_hides_no_hex_and_no_digits() {
    let hex = "3f9c2a7be41d5086c7e2f90b1a4d6c8e";
    let bot = "734561298:AAHk3x9vQ2mT7yLw0ZrB5nCjD8sFgE1uPqX";
    for escape in [r"\u0022", r"\U0022", r"\u00AB", r"\u003d", r"\\u0022", r"\x22", r"\n"] {
        for (token, id) in [(&format!("{hex}-us12"), "mailchimp_key"), (&bot.to_owned(), "telegram_bot_token")] {
            let output = without_key(&format!("v {escape}{token}\\u0022 w"), &[]);
            assert_eq!(output, format!("v {escape}[REDACTED:{id}]\\u0022 w"));
        }
    }
}
