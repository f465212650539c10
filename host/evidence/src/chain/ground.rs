//! What a new line stands on: the ledger as other writers left it.

use super::restore::Restored;
use super::{Chain, JournalMark, is_whole, last_line, tail_after};
use crate::authority::Tail;
use crate::error::EvidenceError;
use crate::events;
use crate::store::{Position, Turn};

/// Where the next line goes.
pub struct Ground {
    /// The ledger's end.
    pub position: Position,
    /// The chain's end.
    pub tail: Tail,
    /// The last line, if it is cut, unreadable or unsigned, and was not ours to complete.
    pub broken: Option<Vec<u8>>,
}

impl Ground {
    /// What has to come before the next line: an incomplete last line gets its line end and stays where it is.
    pub fn line_end(&self) -> Vec<u8> {
        if self.tail.complete { Vec::new() } else { vec![b'\n'] }
    }
}

impl Chain {
    /// Sees what happened since the last turn, makes good what a writer that died left undone, and stops at a fork.
    pub fn catch_up(&mut self, turn: &mut dyn Turn) -> Result<(Ground, Restored), EvidenceError> {
        let journal_length = turn.journal_length()?;
        let (tail, since) = self.look(turn)?;
        if journal_length == self.mark.length {
            return Ok((self.ground(turn, tail, &since)?, Restored::default()));
        }
        // Bytes of the journal that are known to be carried out need no second look, if they are still the same.
        let journal_since = self.journal_since(turn)?;
        let (journal, ledger) = match journal_since {
            Some(journal) => (journal, since.clone()),
            None => (turn.read_journal(0)?, turn.read_ledger(0)?),
        };
        let restored = self.restore(turn, &journal, &ledger, tail)?;
        if restored.changed_ledger {
            self.memory = None;
        }
        let (tail, since) = self.look(turn)?;
        // From here on everything in the journal is carried out.
        let mut whole = turn.read_journal(0)?;
        if !(whole.is_empty() || whole.ends_with(b"\n")) {
            // The next promise must not be glued to one that was cut.
            turn.append_journal(b"\n")?;
            whole.push(b'\n');
        }
        self.mark = JournalMark { length: whole.len() as u64, last_line: last_line(&whole) };
        Ok((self.ground(turn, tail, &since)?, restored))
    }

    fn ground(&mut self, turn: &mut dyn Turn, tail: Tail, since: &[u8]) -> Result<Ground, EvidenceError> {
        let position = turn.position()?;
        let broken = (!tail.sound).then(|| events::lines(since).last().unwrap_or_default().to_vec());
        // An incomplete or broken end is looked at again next time, whole, in case nothing gets written now.
        if tail.sound && tail.complete {
            let last = last_line(since);
            if !last.is_empty() {
                self.remember(position, tail.clone(), last);
            }
        } else {
            self.memory = None;
        }
        Ok(Ground { position, tail, broken })
    }

    /// The chain's end now, and the ledger's bytes from our last line on.
    fn look(&mut self, turn: &mut dyn Turn) -> Result<(Tail, Vec<u8>), EvidenceError> {
        let position = turn.position()?;
        let Some(memory) = &self.memory else {
            let whole = turn.read_ledger(0)?;
            return Ok((self.authority.read_tail(&whole)?, whole));
        };
        if position == memory.position {
            return Ok((memory.tail.clone(), Vec::new()));
        }
        let own = memory.last_line.len() as u64;
        let grown = position.identity == memory.position.identity && position.length >= memory.position.length;
        if grown && let Some(from) = memory.position.length.checked_sub(own) {
            let since = turn.read_ledger(from)?;
            if let Some(news) = since.strip_prefix(memory.last_line.as_slice())
                && let Some(tail) = self.follow(&memory.tail, news)?
            {
                return Ok((tail, since));
            }
        }
        // Rewritten, cut, or with lines that do not go on from ours: it must still hold our last line and be one chain.
        let whole = turn.read_ledger(0)?;
        let kept = memory.last_line.is_empty() || holds_line(&whole, &memory.last_line);
        let verdict = self.authority.verify_chain(self.key.bytes(), &whole)?;
        if kept && is_whole(verdict.state) { Ok((self.authority.read_tail(&whole)?, whole)) } else { Err(self.fork()) }
    }

    /// The chain's end after lines of others, if each goes on from the one before.
    fn follow(&self, tail: &Tail, news: &[u8]) -> Result<Option<Tail>, EvidenceError> {
        if !(news.is_empty() || news.ends_with(b"\n")) {
            return Ok(None);
        }
        let mut stored = Vec::new();
        let mut texts = Vec::new();
        for line in events::lines(news) {
            let signature = events::parse(line).and_then(|event| events::text(&event, "signature").map(str::to_owned));
            match (signature, std::str::from_utf8(line)) {
                (Some(signature), Ok(text)) => {
                    stored.push(signature);
                    texts.push(text.to_owned());
                }
                _ => return Ok(None),
            }
        }
        // Signing what stands there again gives what stands there.
        let Ok(signed) = self.sign(tail, &texts) else {
            return Ok(None);
        };
        let same = signed.iter().map(|event| &event.signature).eq(&stored);
        Ok(same.then(|| tail_after(tail, &signed)))
    }

    /// The journal's bytes since its mark, if what is before it is unchanged.
    fn journal_since(&self, turn: &mut dyn Turn) -> Result<Option<Vec<u8>>, EvidenceError> {
        let Some(from) = self.mark.length.checked_sub(self.mark.last_line.len() as u64) else {
            return Ok(None);
        };
        if self.memory.is_none() || self.mark.last_line.is_empty() || turn.journal_length()? < self.mark.length {
            return Ok(None);
        }
        let since = turn.read_journal(from)?;
        Ok(since.strip_prefix(self.mark.last_line.as_slice()).map(<[u8]>::to_vec))
    }
}

fn holds_line(ledger: &[u8], line: &[u8]) -> bool {
    ledger.split_inclusive(|byte| *byte == b'\n').any(|there| there == line)
}
