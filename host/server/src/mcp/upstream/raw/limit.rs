//! Bounds on what an upstream may send.

use std::error::Error;
use std::io;

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};

use super::HttpError;

/// The whole body, or an error once it is larger than `most` bytes.
pub(super) async fn read(response: reqwest::Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut stream = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        if chunk.len() > most - body.len() {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// An event is larger than it may be.
#[derive(Debug, thiserror::Error)]
#[error("an event is larger than {0} bytes")]
pub(super) struct EventTooLarge(pub(super) usize);

/// The limit that an error of a stream of events speaks of, if it is about that.
pub(super) fn exceeded(error: &SseError) -> Option<usize> {
    let SseError::Body(error) = error else {
        return None;
    };
    let mut source: Option<&(dyn Error + 'static)> = Some(error.as_ref());
    while let Some(current) = source {
        if let Some(EventTooLarge(limit)) = current.downcast_ref() {
            return Some(*limit);
        }
        // The words around an inner error of `io` are the inner error's, and its source is that one's source.
        let inner = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        source = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| current.source());
    }
    None
}

/// Counts the bytes between blank lines, which are what the reader of events holds back.
#[derive(Debug, Default)]
struct Meter {
    held: usize,
    in_line: bool,
}

impl Meter {
    /// Whether more than `most` bytes are held after this chunk.
    fn exceeds(&mut self, chunk: &[u8], most: usize) -> bool {
        for byte in chunk {
            match byte {
                b'\n' if !self.in_line => self.held = 0,
                b'\n' => self.in_line = false,
                b'\r' => {}
                _ => self.in_line = true,
            }
            self.held = self.held.saturating_add(1);
            if self.held > most {
                return true;
            }
        }
        false
    }
}

/// The bytes of a stream of events, ending in an error once one event is larger than `most` bytes.
pub(super) fn lines<S, E>(stream: S, most: usize) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Error + Send + Sync + 'static,
{
    stream.scan((Meter::default(), false), move |(meter, failed), chunk| {
        let next = match chunk {
            _ if *failed => None,
            Ok(chunk) if meter.exceeds(&chunk, most) => {
                *failed = true;
                Some(Err(io::Error::other(EventTooLarge(most))))
            }
            Ok(chunk) => Some(Ok(chunk)),
            Err(error) => Some(Err(io::Error::other(error))),
        };
        std::future::ready(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passes(chunks: &[&'static str], most: usize) -> bool {
        let source: Vec<Result<Bytes, io::Error>> =
            chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect();
        let read: Vec<_> = lines(futures::stream::iter(source), most).collect().await;
        read.iter().all(Result::is_ok)
    }

    #[tokio::test]
    async fn an_event_over_the_limit_ends_the_stream_and_small_ones_go_on() {
        assert!(passes(&["data: a\n\n", "data: b\r\n\r\n", "data: c\n\n"], 12).await);
        assert!(!passes(&["data: ", "aaaaaaaaaaaaaaaa"], 12).await);
        assert!(!passes(&["data: a\n", "data: b\n", "data: c\n"], 12).await);
    }
}
