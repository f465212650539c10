//! A text that arrives bit by bit.

use wasmtime::component::ResourceAny;

use crate::questions::let_in;
use crate::types::Hit;
use crate::{Refusal, Session, sanity};

/// Masks secrets in one text that arrives bit by bit, such as a stream of tokens or of server-sent events.
///
/// What may still become a match is held back until it is decided. Deadline and input limit count for each piece anew. A
/// redactor keeps one instance, and its place, until it is dropped; drop it together with the stream.
#[derive(Debug)]
pub struct Redactor {
    session: Session,
    handle: ResourceAny,
}

impl Redactor {
    pub(crate) fn open(mut session: Session) -> Result<Self, Refusal> {
        let handle = session.ask(|exports| &exports.redactor_open, (None::<&str>,), 0)?;
        Ok(Self { session, handle })
    }

    /// Take a piece, in any split, and give back what may go out now. A UTF-8 sign may be cut by a piece's end.
    ///
    /// # Errors
    ///
    /// [`Refusal`]. After any that is not [`Refusal::InputTooLarge`] the rest of the text cannot be had and must be withheld.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Refusal> {
        let_in(piece.len(), self.session.limits().max_input_bytes)?;
        self.session.ask(|exports| &exports.redactor_push, (self.handle, piece), piece.len())
    }

    /// End the text and give back the rest. Afterwards `push` and `finish` refuse.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: the rest must be withheld.
    pub fn finish(&mut self) -> Result<Vec<u8>, Refusal> {
        self.session.ask(|exports| &exports.redactor_finish, (self.handle,), 0)
    }

    /// Begin another text of the same caller in the same instance, with nothing counted yet. What the last one still held back
    /// is gone.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: this redactor is of no more use.
    pub fn restart(&mut self) -> Result<(), Refusal> {
        self.session.discard(self.handle)?;
        self.handle = self.session.ask(|exports| &exports.redactor_open, (None::<&str>,), 0)?;
        Ok(())
    }

    /// Secrets masked up to now, by detector, sorted by id.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when the component fails.
    pub fn secrets(&mut self) -> Result<Vec<Hit>, Refusal> {
        let answer: Vec<Hit> = self.session.ask_plain(|exports| &exports.redactor_secrets, (self.handle,), 0)?;
        let verdict = sanity::hits(&answer);
        self.session.check(answer, verdict)
    }
}
