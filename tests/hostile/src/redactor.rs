//! A stream that holds each piece back until the next one comes.

use std::cell::RefCell;

use crate::bindings::exports::counterfoil::policy::redaction::{GuestRedactor, Redactor};
use crate::bindings::exports::counterfoil::policy::vocabulary::{Error, Hit};
use crate::misdeeds;

/// The piece that is held back; none after the end.
pub struct Held(RefCell<Option<Vec<u8>>>);

impl GuestRedactor for Held {
    fn open(_: Option<String>) -> Result<Redactor, Error> {
        Ok(Redactor::new(Self(RefCell::new(Some(Vec::new())))))
    }

    fn push(&self, piece: Vec<u8>) -> Result<Vec<u8>, Error> {
        if let Ok(word) = str::from_utf8(&piece) {
            misdeeds::commit(word);
        }
        match self.0.borrow_mut().as_mut() {
            Some(held) => Ok(std::mem::replace(held, piece)),
            None => Err(Error::InvalidArgument("the text has ended".to_owned())),
        }
    }

    fn finish(&self) -> Result<Vec<u8>, Error> {
        self.0.borrow_mut().take().ok_or_else(|| Error::InvalidArgument("the text has ended".to_owned()))
    }

    fn secrets(&self) -> Vec<Hit> {
        Vec::new()
    }
}
