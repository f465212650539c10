//! The vectors put to the component through the engine: what the plain functions pass, the component passes too.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot be set up ends")]

#[path = "component_vectors/policy.rs"]
mod policy_in_component;

use std::fs;
use std::path::Path;

use counterfoil_engine::types::{self, Form};
use counterfoil_engine::{Engine, Refusal, Source};
use counterfoil_tests::tool_cache::component;
use counterfoil_tests::vectors::formats::{self, Formats, FullVerdict, Refused, Spelling, Tail, Verdict};
use counterfoil_tests::vectors::policy;

/// The component under test.
struct Component(Engine);

impl Component {
    /// The component with a configuration baked in, or as it was built.
    fn load(configuration: Option<&str>) -> Self {
        let bytes = fs::read(component()).expect("the component can be read");
        let builder = Engine::builder(Source::Component(bytes)).configuration(configuration.map(str::to_owned));
        Self(builder.build().expect("the component can be loaded"))
    }
}

/// The folder of this package.
fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_component_passes_the_vectors_of_the_formats() {
    let (agreed, failures) = formats::run(&Component::load(None), tests());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(agreed > 900, "only {agreed} comparisons were made");
}

#[test]
fn the_component_passes_the_vectors_of_the_policy() {
    let (agreed, failures) = policy::run(&Component::load(Some("{\"preset\": \"roam\"}")), tests());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(agreed > 2000, "only {agreed} comparisons were made");
}

/// Code and text, as the plain functions give them.
fn refused(refusal: Refusal) -> Refused {
    (refusal.code().to_owned(), refusal.to_string())
}

fn tail(tail: &Tail) -> types::Tail {
    let Tail { lines, signature, complete, sound } = tail.clone();
    types::Tail { lines, signature, complete, sound }
}

fn verdict(chain: types::ChainVerdict) -> Verdict {
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

impl Formats for Component {
    fn canonicalize(&self, json: &str, spelling: Spelling) -> Result<String, Refused> {
        let form = match spelling {
            Spelling::Receipt => Form::Receipt,
            Spelling::Event => Form::Event,
            Spelling::Line => Form::Line,
        };
        self.0.canonicalize(json, form).map_err(refused)
    }

    fn seal(&self, fields: &str) -> Result<(String, String), Refused> {
        self.0.seal(fields).map(|sealed| (sealed.canonical, sealed.content_hash)).map_err(refused)
    }

    fn input_hash(&self, arguments: &str) -> Result<String, Refused> {
        self.0.input_hash(arguments).map_err(refused)
    }

    fn output_of(&self, outcome: &str) -> Result<(Option<String>, Option<String>), Refused> {
        self.0.output_of(outcome).map(|output| (output.output_hash, output.output_ref)).map_err(refused)
    }

    fn read_tail(&self, events: &[u8]) -> Result<Tail, Refused> {
        let types::Tail { lines, signature, complete, sound } = self.0.read_tail(events).map_err(refused)?;
        Ok(Tail { lines, signature, complete, sound })
    }

    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<(u64, String, String)>, Refused> {
        let signed = self.0.sign(key, &tail(after), events).map_err(refused)?;
        Ok(signed.into_iter().map(|event| (event.seq, event.signature, event.line)).collect())
    }

    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<Verdict, Refused> {
        self.0.verify_chain(key, events).map(verdict).map_err(refused)
    }

    fn receipt_links(&self, events: &[u8]) -> Result<Vec<Option<String>>, Refused> {
        let links = self.0.receipt_links(events).map_err(refused)?;
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
            .map(|(tool_call, content)| types::ReceiptFile { tool_call: tool_call.clone(), content: content.clone() })
            .collect();
        let full = self.0.verify_with_receipts(key, events, &files).map_err(refused)?;
        Ok((verdict(full.chain), full.receipt_integrity.to_string(), full.first_missing_receipt_at_seq))
    }
}
