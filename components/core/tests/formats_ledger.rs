//! The ledger where the vectors say nothing: tails, and answers where roam-code has none.

use counterfoil_core::Error;
use counterfoil_core::ledger::{ReceiptFile, Tail, read_tail, receipt_links, sign, verify_chain, verify_with_receipts};
use counterfoil_core::vocabulary::{ChainState, ReceiptIntegrity};

const KEY: [u8; 32] = [7; 32];
const BEGIN: Tail = Tail { lines: 0, signature: None, complete: true, sound: true };

fn ledger(events: &[&str]) -> String {
    let events: Vec<String> = events.iter().map(ToString::to_string).collect();
    let signed = sign(&KEY, &BEGIN, &events).unwrap_or_default();
    assert_eq!(signed.len(), events.len(), "every event can be signed");
    signed.into_iter().map(|event| event.line + "\n").collect()
}

#[test]
fn a_tail_that_is_not_sound_still_knows_the_last_signature() -> Result<(), Error> {
    let good = ledger(&[r#"{"a": 1}"#, r#"{"a": 2}"#]);
    let sound = read_tail(good.as_bytes())?;
    assert_eq!((sound.lines, sound.complete, sound.sound), (2, true, true));
    for unsound in ["{\"a\": 3}\n", "{\"a\": \n", "\u{1f}garbage", "{\"signature\": \"00\"}\r", "{\"signature\": 1}\n"]
    {
        let tail = read_tail(format!("{good}{unsound}").as_bytes())?;
        assert_eq!(tail.signature, sound.signature, "{unsound:?}");
        assert_eq!((tail.lines, tail.sound), (3, false), "{unsound:?}");
        assert_eq!(tail.complete, !unsound.ends_with('e'), "{unsound:?}");
    }
    let bytes = [good.as_bytes(), b"\xff"].concat();
    assert_eq!(read_tail(&bytes)?, Tail { lines: 3, complete: false, sound: false, ..sound.clone() });
    for blank in ["", "\n", " \t\r\n\u{a0}\u{2028}\u{1c}\u{1f}\n"] {
        assert_eq!(read_tail(blank.as_bytes())?, BEGIN, "{blank:?}");
        assert_eq!(read_tail(format!("{good}{blank}").as_bytes())?, sound, "{blank:?}");
    }
    Ok(())
}

#[test]
fn a_chain_goes_on_over_a_torn_line_without_forking() -> Result<(), Error> {
    let torn = format!("{}{{\"a\": 3, \"se\n", ledger(&[r#"{"a": 1}"#, r#"{"a": 2}"#]));
    let next = sign(&KEY, &read_tail(torn.as_bytes())?, &[r#"{"a": 3}"#.to_owned()])?;
    let whole: String = next.iter().map(|event| format!("{torn}{}\n", event.line)).collect();
    let verdict = verify_chain(&KEY, whole.as_bytes())?;
    assert_eq!((verdict.state, verdict.events_verified, verdict.unreadable_lines), (ChainState::Ok, 3, 1));
    assert_eq!(next.first().map(|event| event.seq), Some(4));
    Ok(())
}

#[test]
fn lines_are_ascii_and_seq_and_signature_are_ours() -> Result<(), Error> {
    let text =
        ledger(&["{\"t\": \"\u{2028}\u{85}é\", \"seq\": 99, \"signature\": \"x\", \"\u{1f600}\": {\"signature\": 1}}"]);
    assert!(text.is_ascii() && text.contains("\"seq\": 1, ") && text.contains("{\"signature\": 1}"), "{text}");
    assert_eq!(verify_chain(&KEY, text.as_bytes())?.state, ChainState::Ok);
    Ok(())
}

#[test]
fn what_cannot_be_signed_is_refused() {
    let sign_one = |key: &[u8], tail: &Tail, event: &str| {
        sign(key, tail, &[event.to_owned()]).map_err(|error| error.code()).map(|_| ())
    };
    assert_eq!(sign_one(&KEY, &BEGIN, "[]"), Err("invalid_event"));
    assert_eq!(sign_one(&KEY, &BEGIN, "{"), Err("invalid_json"));
    assert_eq!(sign_one(&KEY, &BEGIN, "{\"a\": NaN}"), Err("unsupported_value"));
    assert_eq!(sign_one(&KEY[1..], &BEGIN, "{}"), Err("invalid_key"));
    let tail = Tail { signature: Some("F".repeat(64)), ..BEGIN };
    assert_eq!(sign_one(&KEY, &tail, "{}"), Err("invalid_argument"));
    let tail = Tail { lines: u64::MAX, ..BEGIN };
    assert_eq!(sign_one(&KEY, &tail, "{}"), Err("invalid_argument"));
}

#[test]
fn events_that_cannot_be_verified_are_tampered_where_they_stand() -> Result<(), Error> {
    let deep = format!("{{\"seq\": 2, \"a\": {}1{}}}", "[".repeat(600), "]".repeat(600));
    let huge = format!("{{\"seq\": 2, \"a\": {}}}", "9".repeat(4301));
    let signed = ledger(&[r#"{"a": 1}"#]);
    let bad: [&[u8]; 6] = [
        deep.as_bytes(),
        huge.as_bytes(),
        b"{\"seq\": 2, \"signature\": \"\\ud800\"}",
        b"{\"seq\": 2, \"signature\": [1]}",
        b"{\"a\": 1e999, \"signature\": null}",
        b"{\"a\": \"\xff\"}",
    ];
    for line in bad {
        for after in ["", "\n{\"a\": 2, \"signature\": \"00\"}\n"] {
            let events = [signed.as_bytes(), line, after.as_bytes()].concat();
            let verdict = verify_chain(&KEY, &events)?;
            assert_eq!(verdict.state, ChainState::Tampered);
            assert_eq!((verdict.events_verified, verdict.first_tamper_at_seq.as_deref()), (1, Some("2")));
            assert_eq!(verdict.unreadable_lines, 0);
        }
    }
    Ok(())
}

#[test]
fn an_unsigned_chain_with_an_event_nobody_can_look_into_is_tampered() -> Result<(), Error> {
    let state = |events: &[u8]| verify_chain(&KEY, events).map(|verdict| (verdict.state, verdict.first_tamper_at_seq));
    let tampered = |at: &str| Ok((ChainState::Tampered, Some(at.to_owned())));
    assert_eq!(state(b"{\"a\": NaN}\n{\"b\": \"\\ud800\"}\n"), Ok((ChainState::Unsigned, None)));
    assert_eq!(state(b"{\"a\": 1}\n{\"b\": \"\xff\"}\n"), tampered("2"));
    // Not an object even for roam-code, which passes over it.
    let verdict = verify_chain(&KEY, b"[NaN]\nnonsense\n\"\\ud800\"\n{\"a\": NaN,\n")?;
    assert_eq!((verdict.state, verdict.unreadable_lines), (ChainState::Ok, 4));
    Ok(())
}

#[test]
fn a_file_that_was_not_handed_over_counts_as_missing() -> Result<(), Error> {
    let link = |call: &str| format!("{{\"action\": \"mcp_receipt\", \"receipt_hash\": \"00\", \"tool_call\": {call}}}");
    let events = ledger(&[&link("\"a\""), "{}", &link("7"), &link("\"b\"")]);
    let calls: Vec<_> =
        receipt_links(events.as_bytes())?.into_iter().map(|link| (link.position, link.tool_call)).collect();
    assert_eq!(calls, [(1, Some("a".to_owned())), (3, None), (4, Some("b".to_owned()))]);
    let verdict = verify_with_receipts(&KEY, events.as_bytes(), &[])?;
    assert_eq!(verdict.receipt_integrity, ReceiptIntegrity::Missing);
    assert_eq!(verdict.first_missing_receipt_at_seq.as_deref(), Some("1"));
    let files = [ReceiptFile { tool_call: "b", content: Some(b"{}\n") }];
    let verdict = verify_with_receipts(&KEY, events.as_bytes(), &files)?;
    assert_eq!(verdict.receipt_integrity, ReceiptIntegrity::Tampered);
    assert_eq!(verdict.chain.first_tamper_at_seq.as_deref(), Some("4"));
    assert_eq!(verdict.first_missing_receipt_at_seq, None);
    Ok(())
}
