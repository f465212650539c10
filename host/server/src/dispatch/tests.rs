//! The spine with an upstream and a recorder that do as the test says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_engine::Engine;
use counterfoil_engine::types::{Effects, Mode};
use counterfoil_evidence::{Entry, EvidenceError, Recorded, RunId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::embedded;

/// An upstream with one answer.
struct Scripted {
    lookup: Lookup,
    reply: Reply,
    slow: bool,
    got: Mutex<Vec<UpstreamCall>>,
}

impl Upstream for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn look_up<'a>(&'a self, _tool: &'a str) -> Pending<'a, Lookup> {
        Box::pin(std::future::ready(self.lookup))
    }

    fn call(&self, call: UpstreamCall) -> Pending<'_, Reply> {
        Box::pin(async move {
            let cancelled = call.cancelled.clone();
            self.got.lock().unwrap().push(call);
            if self.slow {
                cancelled.cancelled().await;
                return Reply::Cancelled;
            }
            self.reply.clone()
        })
    }
}

/// A recorder that keeps receipts in memory, or fails.
#[derive(Default)]
struct Memory {
    entries: Mutex<Vec<Entry>>,
    fails: bool,
    forks: bool,
    run: Mutex<u32>,
}

fn run_name(number: u32) -> String {
    format!("run_20260101_{number:012x}")
}

impl Recorder for Memory {
    fn run_id(&self) -> String {
        run_name(*self.run.lock().unwrap())
    }

    fn submit(&self, run: &str, entry: Entry, saved: Saved) {
        let mut number = self.run.lock().unwrap();
        if self.fails {
            return saved(Err(EvidenceError::Stopped));
        }
        if self.forks && *number == 0 {
            *number = 1;
            drop(number);
            return saved(Err(EvidenceError::Forked { run: run.to_owned() }));
        }
        assert_eq!(run, run_name(*number));
        let recorded = Recorded {
            run: run.parse::<RunId>().unwrap(),
            tool_call: entry.tool_call.clone(),
            content_hash: entry.content_hash.clone(),
            path: "nowhere".into(),
            seq: 1,
            signature: String::new(),
        };
        self.entries.lock().unwrap().push(entry);
        saved(Ok(recorded));
    }
}

const READS: Effects = Effects { read_only: true, destructive: false, idempotent: true };

struct Stage {
    dispatcher: Dispatcher,
    upstream: Arc<Scripted>,
    memory: Arc<Memory>,
}

fn stage(lookup: Lookup, reply: Reply, slow: bool, memory: Memory) -> Stage {
    let upstream = Arc::new(Scripted { lookup, reply, slow, got: Mutex::default() });
    let memory = Arc::new(memory);
    let dispatcher = Dispatcher::new(Parts {
        engine: Engine::builder(embedded::source()).build().unwrap(),
        recorder: Arc::clone(&memory) as Arc<_>,
        upstream: Arc::clone(&upstream) as Arc<_>,
        mode: Mode::SafeEdit,
        dry_run: false,
        shape: |value| match value {
            Value::Object(members) if members.contains_key("odd") => Err("it is odd".to_owned()),
            Value::Object(members) if members.contains_key("more") => {
                let rest = members.iter().filter(|(name, _)| *name != "more");
                Ok(Some(rest.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()))
            }
            _ => Ok(None),
        },
    });
    Stage { dispatcher, upstream, memory }
}

fn replying(reply: Reply) -> Stage {
    stage(Lookup::Known(READS), reply, false, Memory::default())
}

fn context() -> CallContext {
    CallContext {
        principal: Principal::anonymous(),
        client_id: "probe/1".to_owned(),
        agent_id: None,
        cancelled: CancellationToken::new(),
    }
}

fn tool_call(tool: &str) -> ToolCall {
    ToolCall { tool: tool.to_owned(), arguments: None, meta: Map::new() }
}

impl Stage {
    async fn call(&self, tool: &str) -> Outcome {
        self.dispatcher.call(context(), tool_call(tool)).await
    }

    fn receipts(&self) -> Vec<Value> {
        let entries = self.memory.entries.lock().unwrap();
        entries.iter().map(|entry| serde_json::from_str(&entry.receipt).unwrap()).collect()
    }

    fn receipt(&self) -> Value {
        let mut receipts = self.receipts();
        assert_eq!(receipts.len(), 1, "{receipts:?}");
        receipts.remove(0)
    }
}

#[tokio::test]
async fn nothing_goes_out_without_a_receipt() {
    for reply in [
        Reply::Result(r#"{"content":"inside"}"#.to_owned()),
        Reply::Error(r#"{"code":1,"message":"inside"}"#.to_owned()),
        Reply::Garbled,
        Reply::TimedOut,
        Reply::Unavailable(Unavailable::Unreachable),
    ] {
        let stage = stage(Lookup::Known(READS), reply, false, Memory { fails: true, ..Memory::default() });
        let outcome = stage.call("read").await;
        assert_eq!(outcome.receipt, None);
        let Answer::Failed(sentence) = outcome.answer else {
            panic!("{outcome:?}");
        };
        assert!(sentence.starts_with("the receipt of this call could not be written"), "{sentence}");
    }
}

#[tokio::test]
async fn a_denied_call_goes_out_only_with_its_receipt() {
    let writes = Effects { read_only: false, destructive: true, idempotent: false };
    let stage = stage(Lookup::Known(writes), Reply::Garbled, false, Memory { fails: true, ..Memory::default() });
    assert!(matches!(stage.call("wipe").await.answer, Answer::Failed(_)));
    assert!(stage.upstream.got.lock().unwrap().is_empty());
}

#[tokio::test]
async fn each_reply_has_its_outcome_in_the_receipt() {
    for (reply, outcome, reasons) in [
        (Reply::Result("{}".to_owned()), "completed", json!([])),
        (Reply::Error(r#"{"code":1,"message":"m"}"#.to_owned()), "failed", json!([])),
        (Reply::Error(r#"{"code":"x"}"#.to_owned()), "withheld", json!(["policy"])),
        (Reply::Error("7".to_owned()), "withheld", json!(["policy"])),
        (Reply::Garbled, "withheld", json!(["policy"])),
        (Reply::TimedOut, "timed_out", json!([])),
        (Reply::Cancelled, "cancelled", json!([])),
        (Reply::Unavailable(Unavailable::Slow), "failed", json!(["producer_not_available"])),
        (Reply::Result(r#"{"odd":1}"#.to_owned()), "withheld", json!(["policy"])),
        (Reply::Result(r#"{"more":1,"rest":2}"#.to_owned()), "completed", json!(["schema_strict"])),
        (Reply::Result("not json".to_owned()), "withheld", json!(["policy"])),
        (Reply::Result(r#"{"a":"\ud800"}"#.to_owned()), "withheld", json!(["policy"])),
        (Reply::Result(format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))), "withheld", json!(["policy"])),
    ] {
        let shown = format!("{reply:?}").chars().take(80).collect::<String>();
        let stage = replying(reply);
        let note = stage.call("read").await.receipt.unwrap();
        let receipt = stage.receipt();
        assert_eq!(receipt["extra"]["outcome"], outcome, "{shown}");
        assert_eq!(receipt["redactions"], reasons, "{shown}");
        assert_eq!(receipt["policy_decision"], "allow", "{shown}");
        assert_eq!(receipt["tool_call"], json!(note.tool_call));
        assert_eq!(note.to_json()["redactions"], reasons);
    }
}

#[tokio::test]
async fn a_large_result_is_settled_like_a_small_one() {
    let secret = ["ghp", "m8bz3LuMJ5kgrlgtephAJu0gD6vlfs4QHNJc"].join("_");
    let text = json!({"content": [{"text": format!("{} {secret}", "filler ".repeat(40_000))}]}).to_string();
    let stage = replying(Reply::Result(text));
    let outcome = stage.call("read").await;
    let Answer::Result(value) = outcome.answer else {
        panic!("no result");
    };
    let text = value["content"][0]["text"].as_str().unwrap();
    assert!(text.len() > 250_000 && !text.contains(&secret));
    assert_eq!(outcome.receipt.unwrap().to_json()["secrets"], json!({"github_pat_classic": 1}));
}

#[tokio::test]
async fn an_unknown_tool_leaves_no_receipt_and_an_unreachable_upstream_does() {
    let unknown = stage(Lookup::Unknown, Reply::Garbled, false, Memory::default());
    assert_eq!(unknown.call("read").await.answer, Answer::UnknownTool);
    assert!(unknown.receipts().is_empty());

    let secret = ["ghp", "m8bz3LuMJ5kgrlgtephAJu0gD6vlfs4QHNJc"].join("_");
    for (tool, known) in [("read", true), (secret.as_str(), false), ("", false), (&"x".repeat(600), false)] {
        let away = stage(Lookup::Unreachable(Unavailable::Unauthorized), Reply::Garbled, false, Memory::default());
        let outcome = away.call(tool).await;
        if known {
            assert_eq!(outcome.answer, Answer::Failed(Unavailable::Unauthorized.to_string()));
            assert_eq!(away.receipt()["policy_decision"], "not_evaluated");
            assert_eq!(away.receipt()["redactions"], json!(["producer_not_available"]));
        } else {
            assert_eq!(outcome.answer, Answer::UnknownTool);
            assert!(away.receipts().is_empty());
        }
    }
}

#[tokio::test]
async fn a_call_whose_client_goes_away_is_recorded_as_cancelled() {
    let stage = stage(Lookup::Known(READS), Reply::Garbled, true, Memory::default());
    let call = tokio::spawn({
        let dispatcher = stage.dispatcher.clone();
        async move { dispatcher.call(context(), tool_call("read")).await }
    });
    while stage.upstream.got.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The future is dropped: nobody waits for the answer any more.
    call.abort();
    stage.dispatcher.finish(Duration::from_secs(5)).await;
    assert_eq!(stage.receipt()["extra"]["outcome"], "cancelled");
}

#[tokio::test]
async fn after_the_grace_calls_are_cancelled_and_new_ones_are_refused() {
    let stage = stage(Lookup::Known(READS), Reply::Garbled, true, Memory::default());
    let call = tokio::spawn({
        let dispatcher = stage.dispatcher.clone();
        async move { dispatcher.call(context(), tool_call("read")).await }
    });
    while stage.upstream.got.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stage.dispatcher.finish(Duration::from_millis(50)).await;
    assert_eq!(call.await.unwrap().answer, Answer::Failed("the call was cancelled".to_owned()));
    let late = stage.call("read").await;
    assert_eq!(late.answer, Answer::Failed("the gateway is stopping".to_owned()));
    assert_eq!(stage.receipts().len(), 1);
}

#[tokio::test]
async fn a_call_during_which_the_ledger_was_forked_is_withheld_and_noted_in_the_next_run() {
    let memory = Memory { forks: true, ..Memory::default() };
    let stage = stage(Lookup::Known(READS), Reply::Result(r#"{"a":"inside"}"#.to_owned()), false, memory);
    let outcome = stage.call("read").await;
    assert!(matches!(outcome.answer, Answer::Failed(_)), "{outcome:?}");
    let receipt = stage.receipt();
    assert_eq!(receipt["run_event_id"], json!(run_name(1)));
    assert_eq!(receipt["extra"]["outcome"], "withheld");
    assert_eq!(outcome.receipt.unwrap().run, run_name(1));
}

#[tokio::test]
async fn arguments_and_metadata_go_on_as_they_came() {
    let stage = replying(Reply::Result("{}".to_owned()));
    for arguments in [None, Some("{}"), Some(r#"{"b":1.50,"a":[null]}"#)] {
        let mut call = tool_call("read");
        call.arguments = arguments.map(|text| serde_json::from_str(text).unwrap());
        call.meta = Map::from_iter([("traceparent".to_owned(), json!("00-1-2-01"))]);
        stage.dispatcher.call(context(), call.clone()).await;
        let got = stage.upstream.got.lock().unwrap().pop().unwrap();
        assert_eq!(got.tool, "read");
        assert_eq!(got.arguments.map(|map| Value::Object(map).to_string()).as_deref(), arguments);
        assert_eq!(got.meta, call.meta);
    }
}

#[tokio::test]
async fn what_a_client_calls_itself_is_cleaned() {
    let secret = ["ghp", "m8bz3LuMJ5kgrlgtephAJu0gD6vlfs4QHNJc"].join("_");
    let stage = replying(Reply::Result("{}".to_owned()));
    let mut context = context();
    context.client_id = format!("line\nbreak {secret} {}", "x".repeat(1000));
    stage.dispatcher.call(context, tool_call("read")).await;
    let client = stage.receipt()["client_id"].as_str().unwrap().to_owned();
    assert!(client.starts_with("line break [REDACTED:github_pat_classic] xxx"), "{client}");
    assert!(client.len() < 300 && !client.contains(&secret));
}
