//! Answers to tool calls as strings, carried through rmcp in a result of our own.

use std::collections::HashSet;

use rmcp::model::{CustomResult, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sse_stream::Sse;

/// The only member of a carried answer. No result of the protocol has it, so rmcp takes none of its own types for it.
const KEY: &str = "dev.counterfoil/answer";

/// What stands on the outside of a JSON-RPC message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn is_for(&self, id: &RequestId) -> bool {
        self.id.and_then(|text| serde_json::from_str::<RequestId>(text.get()).ok()).is_some_and(|found| &found == id)
    }

    fn answer(&self) -> Answer {
        match (self.result, self.error) {
            (Some(result), None) => Answer::Result(result.get().to_owned()),
            (None, Some(error)) => Answer::Error(error.get().to_owned()),
            _ => Answer::Garbled,
        }
    }
}

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The result, as it was sent.
    Result(String),
    /// The error, as it was sent.
    Error(String),
    /// No JSON-RPC response.
    Garbled,
    /// More than this many bytes; they were not read to their end.
    TooLarge(usize),
}

impl Answer {
    /// The answer in the body of a response to one request.
    pub(super) fn parse(body: &[u8]) -> Self {
        match serde_json::from_slice::<Envelope<'_>>(body) {
            Ok(envelope) if envelope.method.is_none() => envelope.answer(),
            _ => Self::Garbled,
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Result(text) => json!({ KEY: { "result": text } }),
            Self::Error(text) => json!({ KEY: { "error": text } }),
            Self::Garbled => json!({ KEY: {} }),
            Self::TooLarge(limit) => json!({ KEY: { "larger_than": limit } }),
        }
    }

    /// The message that carries this answer through rmcp.
    pub(super) fn carried(&self, id: RequestId) -> ServerJsonRpcMessage {
        let result = ServerResult::CustomResult(CustomResult::new(self.to_value()));
        ServerJsonRpcMessage::response(result, id)
    }

    /// The answer that a result of rmcp carries. Anything else was not carried by us, and cannot be trusted to be whole.
    #[must_use]
    pub fn from_carried(result: ServerResult) -> Self {
        let ServerResult::CustomResult(CustomResult(mut value)) = result else {
            return Self::Garbled;
        };
        let Some(Value::Object(inner)) = value.get_mut(KEY) else {
            return Self::Garbled;
        };
        if let Some(limit) = inner.get("larger_than").and_then(Value::as_u64) {
            return Self::TooLarge(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        match (inner.remove("result"), inner.remove("error")) {
            (Some(Value::String(text)), None) => Self::Result(text),
            (None, Some(Value::String(text))) => Self::Error(text),
            _ => Self::Garbled,
        }
    }
}

/// The event that says that an answer on a stream is too large.
pub(super) fn too_large_event(id: &RequestId, limit: usize) -> Sse {
    Sse::default().data(carried_line(&Answer::TooLarge(limit), id))
}

fn carried_line(answer: &Answer, id: &RequestId) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": answer.to_value()}).to_string()
}

/// The data of one event on the stream of a tool call, with the answer made into a carried one, and whether it was that.
pub(super) fn carry_event(data: Option<String>, id: &RequestId) -> (Option<String>, bool) {
    let Some(text) = data else {
        return (None, false);
    };
    if text.trim().is_empty() {
        return (Some(text), false);
    }
    let answer = match serde_json::from_str::<Envelope<'_>>(&text) {
        // A notification, a request of the server, or the answer to something else: rmcp knows what to do.
        Ok(envelope) if envelope.method.is_some() || !envelope.is_for(id) => {
            return (Some(text), false);
        }
        Ok(envelope) => envelope.answer(),
        Err(_) => Answer::Garbled,
    };
    (Some(carried_line(&answer, id)), true)
}

/// The data of one event on a stream that serves several calls, with answers to pending tool calls made into carried ones.
pub(super) fn carry_resumed(data: Option<String>, pending: &mut HashSet<RequestId>) -> Option<String> {
    let text = data?;
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&text) else {
        return Some(text);
    };
    if envelope.method.is_some() {
        return Some(text);
    }
    let Some(id) = pending.iter().find(|id| envelope.is_for(id)).cloned() else {
        return Some(text);
    };
    pending.remove(&id);
    Some(carried_line(&envelope.answer(), &id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_rmcp(line: &str) -> Answer {
        match serde_json::from_str::<ServerJsonRpcMessage>(line).unwrap() {
            ServerJsonRpcMessage::Response(response) => Answer::from_carried(response.result),
            other => panic!("not a response: {other:?}"),
        }
    }

    #[test]
    fn a_result_goes_through_rmcp_with_every_character() {
        let result = r#"{"b":1.50, "a":1e400,"content":[{"type":"odd","text":"\ud800"}],"b":2}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        let (carried, answered) = carry_event(Some(line), &RequestId::Number(7));
        assert!(answered);
        assert_eq!(through_rmcp(&carried.unwrap()), Answer::Result(result.to_owned()));
    }

    #[test]
    fn a_limit_goes_through_rmcp() {
        let line = too_large_event(&RequestId::Number(7), 1 << 24).data.unwrap();
        assert_eq!(through_rmcp(&line), Answer::TooLarge(1 << 24));
    }

    #[test]
    fn an_error_goes_through_rmcp_as_it_came() {
        let body = br#"{"id":7,"jsonrpc":"2.0","error":{"code":-32602,"message":"no \u00e9","data":{"x":1}}}"#;
        let message = Answer::parse(body).carried(RequestId::Number(7));
        let line = serde_json::to_string(&message).unwrap();
        assert_eq!(
            through_rmcp(&line),
            Answer::Error(r#"{"code":-32602,"message":"no \u00e9","data":{"x":1}}"#.to_owned())
        );
    }

    #[test]
    fn what_is_no_response_is_garbled() {
        for body in [
            &b"not json"[..],
            b"{\"id\":1,\"result\":NaN}",
            b"{\"id\":1}",
            b"{\"id\":1,\"result\":1,\"error\":2}",
            b"{\"id\":1,\"result\":1,\"result\":2}",
            b"{\"id\":1,\"result\":\"\xff\"}",
            b"[]",
        ] {
            assert_eq!(Answer::parse(body), Answer::Garbled, "{}", String::from_utf8_lossy(body));
        }
        let (carried, answered) = carry_event(Some("{\"id\":1,\"result\":NaN}".to_owned()), &RequestId::Number(1));
        assert!(answered);
        assert_eq!(through_rmcp(&carried.unwrap()), Answer::Garbled);
    }

    #[test]
    fn notifications_and_other_answers_pass_unchanged() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
        ] {
            let (data, answered) = carry_event(Some(line.to_owned()), &RequestId::Number(7));
            assert_eq!((data.as_deref(), answered), (Some(line), false));
        }
    }

    #[test]
    fn a_resumed_stream_carries_only_answers_to_pending_calls() {
        let mut pending = HashSet::from([RequestId::Number(7)]);
        let other = r#"{"jsonrpc":"2.0","id":8,"result":{"tools":[]}}"#;
        assert_eq!(carry_resumed(Some(other.to_owned()), &mut pending).as_deref(), Some(other));
        let line = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
        let carried = carry_resumed(Some(line.to_owned()), &mut pending).unwrap();
        assert_eq!(through_rmcp(&carried), Answer::Result(r#"{"content":[]}"#.to_owned()));
        assert!(pending.is_empty());
    }

    #[test]
    fn a_result_that_was_not_carried_is_garbled() {
        let result: ServerResult = serde_json::from_str(r#"{"content":[{"type":"text","text":"x"}]}"#).unwrap();
        assert_eq!(Answer::from_carried(result), Answer::Garbled);
    }
}
