//! A secret that was found once is masked wherever it stands.

use super::engine::Find;

/// Bytes that a value needs to be looked for elsewhere: a shorter one is also a word or a number of its own.
const LEAST: usize = 8;

/// Bytes of a value that are looked for; what goes on like the value behind them is masked too.
const HEAD: usize = 64;

/// Bytes that are looked at together. A place where none of the values has them is passed over whole.
const BLOCK: usize = 4;

/// Where in the first [`LEAST`] bytes of a value the block stands that is looked at.
const LAST: usize = LEAST - BLOCK;

/// The longest step: no value has the block in the bytes that count.
const STEP: usize = LAST + 1;

/// A secret that was found, to be found again.
#[derive(Debug, Clone)]
pub(super) struct Value {
    text: String,
    find: Find,
    /// Where in the text that is searched it may be found again.
    since: usize,
}

impl Value {
    /// The text of a find; none when it is not to be looked for. It is looked for from `since` on.
    pub(super) fn new(text: &str, find: Find, since: usize) -> Option<Self> {
        // Blocks are recognised wherever they stand, and their first line is no secret.
        let block = matches!(find.id, "pem_private_key" | "pgp_private_key");
        (text.len() >= LEAST && !block).then(|| Self { text: text.to_owned(), find, since })
    }

    /// The same, to be looked for everywhere.
    pub(super) fn everywhere(self) -> Self {
        Self { since: 0, ..self }
    }

    /// What is looked for.
    pub(super) fn head(&self) -> &[u8] {
        let bytes = self.text.as_bytes();
        bytes.get(..HEAD).unwrap_or(bytes)
    }
}

/// Secrets that were found, and a search for all of them.
///
/// The search looks at four bytes and knows how far the next place is where a value may begin. Its tables are made in a
/// microsecond, and however many values there are, a place costs a few comparisons at most.
#[derive(Debug, Clone)]
pub(super) struct Values {
    /// In the order of their heads, no two of which are alike.
    values: Vec<Value>,
    /// For each value the one with the longest head that its own begins with.
    shorter: Vec<Option<usize>>,
    /// For each hash of a block the bytes to the next place where a value may begin; 0: here.
    steps: Vec<u8>,
    /// Bits of a hash.
    bits: u32,
    /// Bytes of the shortest head.
    least: usize,
}

impl Values {
    /// None when there is nothing to look for. Of values with the same head the first by its text is kept.
    pub(super) fn new(mut values: Vec<Value>) -> Option<Self> {
        values.sort_by(|a, b| (&a.text, a.since).cmp(&(&b.text, b.since)));
        values.dedup_by(|next, kept| {
            let same = next.head() == kept.head();
            if same {
                kept.since = kept.since.min(next.since);
            }
            same
        });
        let least = values.iter().map(|value| value.head().len()).min()?;
        let bits = (values.len() * 64).next_power_of_two().ilog2().clamp(9, 20);
        let mut steps = vec![STEP as u8; 1 << bits];
        for value in &values {
            for (offset, block) in value.head().windows(BLOCK).take(STEP).enumerate() {
                if let Some(step) = hash(block, bits).and_then(|hash| steps.get_mut(hash)) {
                    *step = (*step).min((LAST - offset) as u8);
                }
            }
        }
        let shorter = shorter(&values);
        Some(Self { values, shorter, steps, bits, least })
    }

    /// Bytes that a text needs to hold one of the values.
    pub(super) const fn least(&self) -> usize {
        self.least
    }

    /// Add the places, from `from` on, where one of the values stands.
    pub(super) fn find_in(&self, text: &str, from: usize, finds: &mut Vec<Find>) {
        let bytes = text.as_bytes();
        let mut at = from;
        while let Some(block) = bytes.get(at + LAST..at + LEAST) {
            // Four steps at once where all are long, as they are nearly everywhere: none waits for the one before.
            if let Some(four) = bytes.get(at + LAST..at + LAST + 4 * STEP)
                && four.chunks_exact(STEP).fold(true, |long, block| long & (self.step(block) == STEP))
            {
                at += 4 * STEP;
                continue;
            }
            let step = self.step(block);
            if step > 0 {
                at += step;
                continue;
            }
            let Some(find) = self.value_at(text, at) else {
                at += 1;
                continue;
            };
            at = find.end;
            finds.push(find);
        }
    }

    /// How far it is from a place to the next where a value may begin, by the block that stands [`LAST`] bytes behind it.
    fn step(&self, block: &[u8]) -> usize {
        usize::from(hash(block, self.bits).and_then(|hash| self.steps.get(hash)).copied().unwrap_or_default())
    }

    /// The value with the longest head that stands at a place, as far as the text goes on like it.
    fn value_at(&self, text: &str, at: usize) -> Option<Find> {
        let bytes = text.as_bytes();
        let rest = bytes.get(at..)?;
        let window = rest.get(..HEAD).unwrap_or(rest);
        // What begins like a head stands directly behind it in the order, or is the head of another that does.
        let mut place = self.values.partition_point(|value| value.head() <= window).checked_sub(1)?;
        let value = loop {
            let value = self.values.get(place)?;
            if at >= value.since && window.starts_with(value.head()) {
                break value;
            }
            place = (*self.shorter.get(place)?)?;
        };
        let text_of_value = value.text.as_bytes();
        let head = at + value.head().len();
        if text_of_value.len() < 16 && !alone(bytes, at, head) {
            return None;
        }
        // Nothing of the word it ends in is left behind it, so that no new token begins there.
        let mut end = at + text_of_value.iter().zip(rest).take_while(|(a, b)| a == b).count();
        let word = |byte: &u8| byte.is_ascii_alphanumeric();
        if end.checked_sub(1).and_then(|last| bytes.get(last)).is_some_and(word) {
            end += bytes.get(end..).unwrap_or_default().iter().take_while(|byte| word(byte)).count();
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Some(value.find.moved(at, end))
    }

    /// From where on, from `from`, the text may be the beginning of a value; its end when nothing is.
    pub(super) fn unfinished(&self, text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        let begins = |at: &usize| {
            let rest = bytes.get(*at..).unwrap_or_default();
            let first = self.values.partition_point(|value| value.head() < rest);
            let alike = self.values.get(first..).unwrap_or_default().iter();
            alike.take_while(|value| value.head().starts_with(rest)).any(|value| value.since <= *at)
        };
        (from.max(bytes.len().saturating_sub(HEAD))..bytes.len()).find(begins).unwrap_or(bytes.len())
    }
}

/// The place of a block of [`BLOCK`] bytes in a table of 2^`bits` places.
fn hash(block: &[u8], bits: u32) -> Option<usize> {
    let block = u32::from_le_bytes(*block.first_chunk::<BLOCK>()?);
    usize::try_from(block.wrapping_mul(0x9e37_79b1) >> (u32::BITS - bits)).ok()
}

/// For each of the values, which are in order, the one before it with the longest head that its own begins with.
fn shorter(values: &[Value]) -> Vec<Option<usize>> {
    let mut shorter: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        let mut other = place.checked_sub(1);
        while let Some(candidate) = other
            && !values.get(candidate).is_some_and(|other| value.head().starts_with(other.head()))
        {
            other = shorter.get(candidate).copied().flatten();
        }
        shorter.push(other);
    }
    shorter
}

fn alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !word(start.checked_sub(1).and_then(|at| bytes.get(at))) && !word(bytes.get(end))
}
