//! The search for known values against a plain one.

use proptest::prelude::*;

use super::super::engine::{self, Find};
use super::super::values::{Value, Values};

fn values(texts: &[String]) -> Option<Values> {
    let find = engine::whole("", "jwt").pop()?;
    Values::new(texts.iter().filter_map(|text| Value::new(text, find, 0)).collect())
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// At each place, the value with the longest head; how far it goes on; the rest of the word.
fn plainly(texts: &[String], text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut sorted: Vec<&[u8]> = texts.iter().map(String::as_bytes).filter(|value| value.len() >= 8).collect();
    sorted.sort_unstable();
    sorted.dedup_by(|next, kept| next.iter().take(64).eq(kept.iter().take(64)));
    let head = |value: &[u8]| value.len().min(64);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let longest =
            sorted.iter().filter(|value| rest.starts_with(&value[..head(value)])).max_by_key(|value| head(value));
        let begins = at == 0 || ends_word(bytes, at - 1);
        match longest.filter(|value| value.len() >= 16 || begins && ends_word(rest, value.len())) {
            Some(value) => {
                let mut end = at + value.iter().zip(rest).take_while(|(a, b)| a == b).count();
                while end > at && !ends_word(bytes, end - 1) && !ends_word(bytes, end) {
                    end += 1;
                }
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                found.push((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof!["[ab-]{1,4}", "(ab){2,40}", "(a|b-|é){6,90}", "a{60,70}", "[a-z -]{1,30}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn values_are_found_where_a_plain_search_finds_them(
        pieces in prop::collection::vec(piece(), 1..8),
        known in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..9),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let text: String = order.iter().map(|index| index.get(&pieces).as_str()).collect();
        let known: Vec<String> =
            known.iter().map(|(one, other)| format!("{}{}", one.get(&pieces), other.get(&pieces))).collect();
        let mut finds: Vec<Find> = Vec::new();
        if let Some(values) = values(&known) {
            values.find_in(&text, 0, &mut finds);
        }
        let places: Vec<_> = finds.iter().map(|find| (find.start, find.end)).collect();
        prop_assert_eq!(places, plainly(&known, &text));
    }
}
