//! The search: one pass over the text, candidates by their first bytes, the checks of the detectors behind.

use std::cmp::Reverse;
use std::sync::OnceLock;

use super::detectors::{self, Rule};
use super::input::Input;
use super::mask::Mask;
use crate::markers;

/// A secret: bytes from … to, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: &'static str,
    /// Where the text begins that was needed to find it: its anchor may stand before it.
    pub(super) from: usize,
    /// Place of the detector in the tables: of equal finds the first one names it.
    rank: usize,
}

impl Find {
    /// The same kind of secret at another place.
    pub(super) const fn moved(self, start: usize, end: usize) -> Self {
        Self { start, end, from: start, ..self }
    }

    /// What is left of it from a place on.
    pub(super) fn clipped(self, from: usize) -> Self {
        Self { start: self.start.max(from), ..self }
    }
}

/// Groups of anchors, one bit each.
const GROUPS: usize = 64;

/// The tables of the search.
struct Engine {
    /// For each hash of three bytes, one bit, whether a candidate or an injection mark may begin with them.
    beginnings: [u64; 1024],
    /// For each of the first three bytes of a place the groups that may begin there.
    first: [u64; 256],
    second: [u64; 256],
    third: [u64; 256],
    groups: Vec<Vec<Candidate>>,
    /// Those whose secret begins before the anchor.
    behind: Vec<Candidate>,
}

#[derive(Clone, Copy)]
struct Candidate {
    rule: &'static Rule,
    id: &'static str,
    rank: usize,
}

/// Build the tables, if they are not yet.
pub(super) fn prepare() {
    engine();
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::build)
}

impl Engine {
    fn build() -> Self {
        let candidates = detectors::all().enumerate().flat_map(|(rank, detector)| {
            detector.rules.iter().map(move |rule| Candidate { rule, id: detector.id, rank })
        });
        let mut engine = Self {
            beginnings: [0; 1024],
            first: [0; 256],
            second: [0; 256],
            third: [0; 256],
            groups: vec![Vec::new(); GROUPS],
            behind: Vec::new(),
        };
        let mut heads: Vec<[Option<u8>; 2]> = Vec::new();
        for candidate in candidates {
            let anchor = candidate.rule.anchor;
            // Anchors that begin alike share a group, so that the groups stay selective.
            let head = [0, 1].map(|offset| (0..=255).find(|byte| anchor.may_have(offset, *byte)));
            let number = heads.iter().position(|known| *known == head).unwrap_or_else(|| {
                heads.push(head);
                heads.len() - 1
            });
            let group = number % GROUPS;
            for (offset, table) in [&mut engine.first, &mut engine.second, &mut engine.third].into_iter().enumerate() {
                for (byte, groups) in (0..=255).zip(table.iter_mut()) {
                    if anchor.may_have(offset, byte) {
                        *groups |= 1 << group;
                    }
                }
            }
            if let Some(group) = engine.groups.get_mut(group) {
                group.push(candidate);
            }
            if candidate.rule.behind.is_some() {
                engine.behind.push(candidate);
            }
            let of = |offset| (0..=255).filter(|byte| anchor.may_have(offset, *byte)).collect::<Vec<u8>>();
            engine.allow([&of(0), &of(1), &of(2)]);
        }
        markers::BEGINNINGS.into_iter().for_each(|bytes| engine.allow(bytes));
        engine
    }

    /// Let something begin with one of each of these bytes.
    fn allow(&mut self, [first, second, third]: [&[u8]; 3]) {
        for (one, two) in first.iter().flat_map(|one| second.iter().map(move |two| (one, two))) {
            for three in third {
                let hash = hash(u32::from_le_bytes([*one, *two, *three, 0]));
                if let Some(bits) = self.beginnings.get_mut(hash >> 6) {
                    *bits |= 1 << (hash & 63);
                }
            }
        }
    }

    fn may_begin(&self, window: u32) -> bool {
        let hash = hash(window);
        self.beginnings.get(hash >> 6).is_some_and(|bits| bits >> (hash & 63) & 1 != 0)
    }

    /// The groups of which a candidate may begin with these bytes, three or fewer.
    fn groups_at(&self, window: &[u8]) -> u64 {
        let tables = [&self.first, &self.second, &self.third];
        window
            .iter()
            .zip(tables)
            .fold(u64::MAX, |groups, (byte, table)| groups & table.get(usize::from(*byte)).copied().unwrap_or_default())
    }

    /// The candidates of groups.
    fn candidates(&self, groups: u64) -> impl Iterator<Item = &Candidate> {
        let mut groups = groups;
        let numbers = std::iter::from_fn(move || {
            let number = groups.trailing_zeros() as usize;
            (groups != 0).then(|| groups &= groups - 1).map(|()| number)
        });
        numbers.filter_map(|number| self.groups.get(number)).flatten()
    }

    /// Call `place` with every place from `from` on where something may begin, and the groups of the candidates there.
    fn places(&self, bytes: &[u8], from: usize, mut place: impl FnMut(usize, u64)) {
        let mut next = from;
        while let Some(at) = self.next(bytes, next) {
            place(at, self.groups_at(bytes.get(at..at + 3).unwrap_or_default()));
            next = at + 1;
        }
    }

    /// The next place from `from` on where something may begin. Apart from its caller, so that nothing else is in the
    /// registers of this loop over every byte.
    #[inline(never)]
    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        // Four bytes are read at once as long as there are four.
        let begins =
            |window: &[u8]| window.first_chunk().is_some_and(|window| self.may_begin(u32::from_le_bytes(*window)));
        let place = rest.windows(4).position(begins);
        let last = || match rest {
            [.., one, two, three] if self.may_begin(u32::from_le_bytes([*one, *two, *three, 0])) => {
                Some(rest.len() - 3)
            }
            _ => None,
        };
        Some(from + place.or_else(last)?)
    }
}

/// The place of the first three of four bytes among 2^16 bits.
fn hash(window: u32) -> usize {
    ((window << 8).wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// Search from a place on. For each find, and for each candidate that may become one when the text goes on, `found` is
/// called in order of the anchors.
pub(super) fn search(input: &Input<'_>, from: usize, mut found: impl FnMut(Seen)) {
    let engine = engine();
    engine.places(input.bytes(), from, |at, groups| {
        engine.candidates(groups).for_each(|candidate| candidate.look(input, at, &mut found));
    });
}

/// From where on something may still begin at the end of the text whose anchor is not there yet, or not more of it than
/// two bytes: from there on the search has seen no candidate. The end of the text when nothing may.
pub(super) fn unfinished(input: &Input<'_>) -> usize {
    let engine = engine();
    let bytes = input.bytes();
    let end = bytes.len();
    let mut least = end;
    for at in [end.saturating_sub(2), end.saturating_sub(1)] {
        let tail = input.slice(at, end);
        for Candidate { rule, .. } in engine.candidates(if tail.is_empty() { 0 } else { engine.groups_at(tail) }) {
            let stands = tail.iter().enumerate().all(|(offset, byte)| rule.anchor.may_have(offset, *byte));
            if stands && rule.may_begin(input, at) {
                least = least.min(rule.begin(input, at).unwrap_or(end));
            }
        }
    }
    for Candidate { rule, .. } in &engine.behind {
        least = least.min(end - rule.signs_behind(input, end));
    }
    least
}

impl Candidate {
    fn look(&self, input: &Input<'_>, at: usize, found: &mut impl FnMut(Seen)) {
        let Some(begin) = self.rule.begin(input, at) else { return };
        let extent = if self.rule.anchor.stands(input, at) { self.rule.find(input, at) } else { None };
        if input.take_beyond() {
            found(Seen::Open { start: extent.map_or(begin, |(start, _)| start.min(begin)), id: self.id });
        } else if let Some((start, end)) = extent {
            found(Seen::Find(Find { start, end, id: self.id, from: start.min(at), rank: self.rank }));
        }
    }
}

/// What the search saw at an anchor.
pub(super) enum Seen {
    /// A secret.
    Find(Find),
    /// Something that may become one, or reach further, when more of the text is there.
    Open {
        /// Its first byte.
        start: usize,
        /// What it may become.
        id: &'static str,
    },
}

/// A text that is a secret from its first byte to its last.
pub(super) fn whole(text: &str, id: &str) -> Vec<Find> {
    let detector = detectors::all().enumerate().find(|(_, detector)| detector.id == id);
    let find = detector.map(|(rank, detector)| Find { start: 0, end: text.len(), id: detector.id, from: 0, rank });
    find.into_iter().collect()
}

/// The secrets of a whole text, in order and apart from one another. On the way `mark` is called with every place where
/// an injection mark may begin.
pub(super) fn finds(text: &[u8], mask: &Mask, mut mark: impl FnMut(usize)) -> Vec<Find> {
    let engine = engine();
    let mut finds = Vec::new();
    // Most texts have no candidate: nothing is made ready for the checks before there is one.
    let mut input = None;
    engine.places(text, 0, |at, groups| {
        mark(at);
        if groups != 0 {
            let input = input.get_or_insert_with(|| Input::new(text));
            engine.candidates(groups).for_each(|candidate| {
                candidate.look(input, at, &mut |seen| {
                    if let Seen::Find(find) = seen {
                        finds.push(find);
                    }
                });
            });
        }
    });
    resolve(text, mask, &mut finds);
    finds
}

/// Put finds in order, drop masks of our own, and unite finds that overlap under the name of the longest.
pub(super) fn resolve(text: &[u8], mask: &Mask, finds: &mut Vec<Find>) {
    finds.retain(|find| !text.get(find.start..find.end).is_some_and(|text| mask.is(text)));
    finds.sort_by_key(|find| (find.start, Reverse(find.end), find.rank));
    let mut longest = finds.first().map_or(0, |first| first.end - first.start);
    finds.dedup_by(|next, kept| {
        let length = next.end - next.start;
        if next.start >= kept.end {
            longest = length;
            return false;
        }
        if length > longest {
            longest = length;
            (kept.id, kept.rank) = (next.id, next.rank);
        }
        kept.end = kept.end.max(next.end);
        kept.from = kept.from.min(next.from);
        true
    });
}
