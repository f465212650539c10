//! Canonical JSON where the vectors say nothing: limits, error texts, the tokeniser, looking into a document.

use counterfoil_core::Error;
use counterfoil_core::canonical::reader::{Reader, Token};
use counterfoil_core::canonical::{Document, Form, MAX_DEPTH, canonicalize};

#[test]
fn nesting_is_limited_to_512_levels() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(canonicalize(&nested(MAX_DEPTH), Form::Receipt), Ok(nested(MAX_DEPTH)));
    assert_eq!(
        canonicalize(&nested(MAX_DEPTH + 1), Form::Receipt),
        Err(Error::UnsupportedValue("more than 512 levels of nesting at byte 512".to_owned()))
    );
    let objects = format!("{}1{}", "{\"a\":".repeat(MAX_DEPTH), "}".repeat(MAX_DEPTH));
    assert_eq!(canonicalize(&objects, Form::Event), Ok(objects.clone()));
}

#[test]
fn an_integer_may_have_4300_digits_and_no_more() {
    let digits = "9".repeat(4300);
    for fits in [digits.clone(), format!("-{digits}")] {
        assert_eq!(canonicalize(&fits, Form::Receipt), Ok(fits));
    }
    let error = canonicalize(&format!("[{digits}9]"), Form::Receipt);
    assert_eq!(error, Err(Error::UnsupportedValue("an integer of more than 4300 digits at byte 1".to_owned())));
}

#[test]
fn text_that_is_not_json_is_refused_with_its_place() {
    let cases = [
        ("", "expected a value at byte 0"),
        ("  ", "expected a value at byte 2"),
        ("\u{feff}{}", "expected a value at byte 0"),
        ("{\"a\":1}x", "expected the end of the text at byte 7"),
        ("{,}", "expected a key in `\"` at byte 1"),
        ("{\"a\":1,}", "expected a key in `\"` at byte 7"),
        ("{\"a\" 1}", "expected `:` at byte 5"),
        ("{\"a\":1 \"b\":2}", "expected `,` or `}` at byte 7"),
        ("{\"a\":1]", "expected `,` or `}` at byte 6"),
        ("[1,]", "expected a value at byte 3"),
        ("[1}", "expected `,` or `]` at byte 2"),
        ("[1", "expected `,` or `]` at byte 2"),
        ("[\u{a0}1]", "expected a value at byte 1"),
        ("[\u{b}1]", "expected a value at byte 1"),
        ("01", "expected the end of the text at byte 1"),
        ("-", "expected a digit at byte 1"),
        ("1.", "expected a digit after `.` at byte 2"),
        (".5", "expected a value at byte 0"),
        ("1e", "expected a digit in the exponent at byte 2"),
        ("+1", "expected a value at byte 0"),
        ("0x10", "expected the end of the text at byte 1"),
        ("tru", "expected a value at byte 0"),
        ("nulll", "expected the end of the text at byte 4"),
        ("'a'", "expected a value at byte 0"),
        ("\"a", "a string without end begins at byte 0"),
        ("\"a\\", "unknown escape at byte 2"),
        ("\"\\x\"", "unknown escape at byte 1"),
        ("\"\\u12\"", "expected four hex digits in the escape at byte 1"),
        ("\"\\u+123\"", "expected four hex digits in the escape at byte 1"),
        ("\"\n\"", "a control character in a string must be escaped, at byte 1"),
        ("\"abcdefghij\u{1f}\"", "a control character in a string must be escaped, at byte 11"),
        ("-NaN", "expected a digit at byte 1"),
        ("[NaN", "expected `,` or `]` at byte 4"),
    ];
    for (text, message) in cases {
        let expected = Error::InvalidJson(format!("not JSON: {message}"));
        assert_eq!(canonicalize(text, Form::Receipt), Err(expected), "{text:?}");
    }
}

#[test]
fn values_that_the_forms_cannot_carry_are_named() {
    let cases = [
        ("[NaN]", "`NaN` at byte 1"),
        ("[1,Infinity]", "`Infinity` at byte 3"),
        ("-Infinity", "`-Infinity` at byte 0"),
        ("1e309", "a number beyond the range of a double at byte 0"),
        ("\"\\ud800\"", "a lone surrogate at byte 1"),
        ("\"\\udc00\\ud800\"", "a lone surrogate at byte 1"),
        ("\"\\ud83d\\ud83d\\ude00\"", "a lone surrogate at byte 1"),
        ("{\"a\\udfff\":1}", "a lone surrogate at byte 3"),
    ];
    for (text, message) in cases {
        assert_eq!(canonicalize(text, Form::Event), Err(Error::UnsupportedValue(message.to_owned())), "{text}");
    }
    let long = format!("{}.5", "9".repeat(309));
    assert!(matches!(canonicalize(&long, Form::Event), Err(Error::UnsupportedValue(_))));
    let longest = format!("1{}.5", "0".repeat(308));
    assert_eq!(canonicalize(&longest, Form::Event), Ok("1e+308".to_owned()));
}

#[test]
fn keys_that_are_equal_after_unescaping_are_one_member() {
    let json = r#"{"\u0061": 1, "b": 2, "a": {"z": 0, "\u007a": 1}, "\/": 3, "/": 4}"#;
    assert_eq!(canonicalize(json, Form::Receipt).as_deref(), Ok(r#"{"/":4,"a":{"z":1},"b":2}"#));
}

#[test]
fn strings_are_respelled_around_word_boundaries() {
    // The reader skips eight bytes at a time: put every special byte at every place of a word.
    for special in ["\u{7f}", "é", "\u{10ffff}", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\/", "\\u001F"] {
        for before in 0..17 {
            for after in 0..9 {
                let json = format!("\"{}{special}{}\"", "a".repeat(before), "b".repeat(after));
                let expected: Option<String> = serde_json::from_str(&json).ok();
                for form in [Form::Receipt, Form::Event, Form::Line] {
                    let canonical = canonicalize(&json, form).unwrap_or_default();
                    assert_eq!(serde_json::from_str(&canonical).ok(), expected, "{json} {canonical}");
                    assert!(form != Form::Receipt || canonical.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
                    assert!(!canonical.contains("\\/") && !canonical.contains('F'), "{canonical}");
                }
            }
        }
    }
}

#[test]
fn the_reader_gives_the_place_of_every_string() {
    let json = "{\"k\\n\": [\"v\", {\"é\": 1.5}], \"z\": true}";
    let mut reader = Reader::new(json);
    let mut seen = Vec::new();
    while let Ok(Some(token)) = reader.next_token() {
        match token {
            Token::Key(text) => seen.push(format!("key {} {}", text.raw(json), reader.depth())),
            Token::String(text) => seen.push(format!("string {} {}", text.raw(json), reader.depth())),
            Token::Float(start, end) => seen.push(format!("float {start}..{end}")),
            Token::Bool(value, at) => seen.push(format!("{value} at {at}")),
            Token::ObjectStart(_) => seen.push("{".to_owned()),
            Token::ObjectEnd(_) => seen.push("}".to_owned()),
            Token::ArrayStart(_) | Token::ArrayEnd(_) | Token::Integer(..) | Token::Null(_) => {}
        }
    }
    assert_eq!(
        seen,
        ["{", "key k\\n 1", "string v 2", "{", "key é 3", "float 21..24", "}", "key z 1", "true at 33", "}"]
    );
}

#[test]
fn a_document_can_be_looked_into() -> Result<(), Error> {
    let document = Document::parse(r#"{"a": 1, "list": ["x", [], "\u00e9"], "a": {"b": "c"}, "yes": true}"#)?;
    let root = document.root();
    assert_eq!(root.get("a").map(|value| value.raw()), Some(r#"{"b": "c"}"#));
    assert_eq!(root.get("a").and_then(|value| value.get("b")?.as_str()).as_deref(), Some("c"));
    assert!(root.get("none").is_none() && root.get("b").is_none());
    let list: Vec<_> = root.get("list").into_iter().flat_map(|list| list.elements()).collect();
    assert_eq!(list.iter().map(|value| value.raw()).collect::<Vec<_>>(), [r#""x""#, "[]", r#""\u00e9""#]);
    assert_eq!(list.last().and_then(|value| value.as_str()).as_deref(), Some("é"));
    assert_eq!(root.members().map(|(key, _)| key.into_owned()).collect::<Vec<_>>(), ["a", "list", "a", "yes"]);
    assert_eq!(root.get("yes").and_then(|value| value.as_bool()), Some(true));
    Ok(())
}
