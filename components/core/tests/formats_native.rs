//! The vectors of the formats through the plain functions. The same runner puts them to the component.

#[path = "../../../tests/src/vectors/formats.rs"]
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a runner for tests: a vector that cannot be read ends the test"
)]
mod formats;

use std::path::Path;

use counterfoil_core::canonical::{Form, canonicalize};
use counterfoil_core::{Error, ledger, receipt};
use formats::{Formats, FullVerdict, Refused, Spelling, Tail, Verdict};

struct Native;

fn refused(error: Error) -> Refused {
    (error.code().to_owned(), error.message().to_owned())
}

fn verdict(chain: ledger::ChainVerdict) -> Verdict {
    Verdict {
        state: chain.state.to_string(),
        events_verified: chain.events_verified,
        first_tamper_at_seq: chain.first_tamper_at_seq,
        partial_success: chain.partial_success,
        final_signature: chain.final_signature,
        details: chain.details,
        unreadable_lines: chain.unreadable_lines,
    }
}

impl Formats for Native {
    fn canonicalize(&self, json: &str, spelling: Spelling) -> Result<String, Refused> {
        let form = match spelling {
            Spelling::Receipt => Form::Receipt,
            Spelling::Event => Form::Event,
            Spelling::Line => Form::Line,
        };
        canonicalize(json, form).map_err(refused)
    }

    fn seal(&self, fields: &str) -> Result<(String, String), Refused> {
        receipt::seal(fields).map(|sealed| (sealed.canonical, sealed.content_hash)).map_err(refused)
    }

    fn input_hash(&self, arguments: &str) -> Result<String, Refused> {
        receipt::input_hash(arguments).map_err(refused)
    }

    fn output_of(&self, outcome: &str) -> Result<(Option<String>, Option<String>), Refused> {
        receipt::output_of(outcome).map(|output| (output.output_hash, output.output_ref)).map_err(refused)
    }

    fn read_tail(&self, events: &[u8]) -> Result<Tail, Refused> {
        let ledger::Tail { lines, signature, complete, sound } = ledger::read_tail(events).map_err(refused)?;
        Ok(Tail { lines, signature, complete, sound })
    }

    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<(u64, String, String)>, Refused> {
        let Tail { lines, signature, complete, sound } = after.clone();
        let signed = ledger::sign(key, &ledger::Tail { lines, signature, complete, sound }, events).map_err(refused)?;
        Ok(signed.into_iter().map(|event| (event.seq, event.signature, event.line)).collect())
    }

    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<Verdict, Refused> {
        ledger::verify_chain(key, events).map(verdict).map_err(refused)
    }

    fn receipt_links(&self, events: &[u8]) -> Result<Vec<Option<String>>, Refused> {
        let links = ledger::receipt_links(events).map_err(refused)?;
        Ok(links.into_iter().map(|link| link.tool_call).collect())
    }

    fn verify_with_receipts(
        &self,
        key: &[u8],
        events: &[u8],
        files: &[(String, Option<Vec<u8>>)],
    ) -> Result<FullVerdict, Refused> {
        let files: Vec<_> = files
            .iter()
            .map(|(tool_call, content)| ledger::ReceiptFile { tool_call, content: content.as_deref() })
            .collect();
        let full = ledger::verify_with_receipts(key, events, &files).map_err(refused)?;
        Ok((verdict(full.chain), full.receipt_integrity.to_string(), full.first_missing_receipt_at_seq))
    }
}

#[test]
fn every_vector_of_the_formats_agrees_or_is_a_listed_exception() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let (agreed, failures) = formats::run(&Native, &tests);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(agreed > 900, "only {agreed} comparisons were made");
    println!("{agreed} comparisons agree");
}
