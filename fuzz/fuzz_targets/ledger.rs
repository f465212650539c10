//! Ledgers: every text gets an answer, and what is signed after it continues what was there.

#![no_main]

use counterfoil_core::ledger::{ReceiptFile, read_tail, receipt_links, sign, verify_chain, verify_with_receipts};
use counterfoil_core::vocabulary::ChainState;
use libfuzzer_sys::fuzz_target;

const KEY: [u8; 32] = [1; 32];

fuzz_target!(|events: &[u8]| {
    let tail = read_tail(events).expect("every ledger has a tail");
    let before = verify_chain(&KEY, events).expect("every ledger has a verdict");
    let links = receipt_links(events).expect("every ledger can be searched for links");
    let files: Vec<_> = links
        .iter()
        .filter_map(|link| Some(ReceiptFile { tool_call: link.tool_call.as_deref()?, content: Some(events) }))
        .collect();
    let full = verify_with_receipts(&KEY, events, &files).expect("every ledger has a full verdict");
    assert!(before.state != ChainState::Tampered || full.chain == before);

    let next = sign(&KEY, &tail, &["{\"a\": 1}".to_owned()]).expect("every chain can go on");
    let line = &next.first().expect("one event was signed").line;
    let longer = [events, b"\n", line.as_bytes(), b"\n"].concat();
    let after = verify_chain(&KEY, &longer).expect("every ledger has a verdict");
    // A good chain stays good, a broken one stays broken where it was.
    match before.state {
        ChainState::Ok => {
            assert_eq!((after.state, after.events_verified), (ChainState::Ok, before.events_verified + 1))
        }
        ChainState::Tampered => assert_eq!(after.state, ChainState::Tampered),
        ChainState::Unsigned => assert_eq!((after.state, after.events_verified), (ChainState::Tampered, 0)),
        ChainState::Empty => panic!("no chain is called empty here"),
    }
    assert_eq!(read_tail(&longer).expect("a tail").lines, tail.lines + 1);
});
