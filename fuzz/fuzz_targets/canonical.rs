//! Canonical JSON: the forms lead to each other, and a strict reader agrees on what is JSON.

#![no_main]

use counterfoil_core::Error;
use counterfoil_core::canonical::{Form, canonicalize};
use counterfoil_core::receipt::{input_hash, output_of, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = (seal(text), input_hash(text), output_of(text));
    match canonicalize(text, Form::Receipt) {
        Ok(receipt) => {
            assert!(receipt.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            for form in [Form::Receipt, Form::Event, Form::Line] {
                let other = canonicalize(text, form).expect("what has one form has all");
                assert_eq!(canonicalize(&other, form).as_ref(), Ok(&other));
                assert_eq!(canonicalize(&other, Form::Receipt).as_ref(), Ok(&receipt));
            }
        }
        // The other reader stops at 128 levels, which is no word on the grammar.
        Err(Error::InvalidJson(_)) => {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err())
        }
        Err(error) => assert_eq!(error.code(), "unsupported_value"),
    }
});
