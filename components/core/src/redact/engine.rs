//! The search: one pass over the text, candidates by their first three bytes, the checks of the detectors behind.

use std::cmp::Reverse;
use std::sync::OnceLock;

use super::detectors::{self, Rule};
use super::input::Input;
use super::mask::Mask;

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
}

/// Groups of anchors, one bit each.
const GROUPS: usize = 64;

/// The tables of the search.
struct Engine {
    /// For each of the first three bytes of a place the groups that may begin there.
    first: [u64; 256],
    second: [u64; 256],
    third: [u64; 256],
    groups: Vec<Vec<Candidate>>,
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
        let mut engine = Self { first: [0; 256], second: [0; 256], third: [0; 256], groups: vec![Vec::new(); GROUPS] };
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
        }
        engine
    }

    fn groups_at(&self, window: &[u8]) -> u64 {
        let of = |table: &[u64; 256], byte: &u8| table.get(usize::from(*byte)).copied().unwrap_or_default();
        match window {
            [a, b, c] => of(&self.first, a) & of(&self.second, b) & of(&self.third, c),
            _ => 0,
        }
    }
}

/// Where the first candidate of a text is, if there is one.
fn first_candidate(text: &[u8]) -> Option<usize> {
    let engine = engine();
    text.windows(3).position(|window| {
        // Most texts have none: nothing is made ready for the checks before there is one.
        engine.groups_at(window) != 0
    })
}

/// Search from a place on. For each find, and for each candidate that may become one when the text goes on, `found` is
/// called in order of the anchors.
pub(super) fn search(input: &Input<'_>, from: usize, mut found: impl FnMut(Seen)) {
    let engine = engine();
    let bytes = input.bytes();
    let windows = bytes.get(from..).unwrap_or_default().windows(3);
    for (offset, window) in windows.enumerate() {
        let mut groups = engine.groups_at(window);
        while groups != 0 {
            let group = engine.groups.get(groups.trailing_zeros() as usize);
            groups &= groups - 1;
            for candidate in group.into_iter().flatten() {
                look(input, from + offset, candidate, &mut found);
            }
        }
    }
}

fn look(input: &Input<'_>, at: usize, candidate: &Candidate, found: &mut impl FnMut(Seen)) {
    let extent = if candidate.rule.anchor.stands(input, at) { candidate.rule.find(input, at) } else { None };
    if input.take_beyond() {
        found(Seen::Open { start: extent.map_or(at, |(start, _)| start.min(at)), id: candidate.id });
    } else if let Some((start, end)) = extent {
        found(Seen::Find(Find { start, end, id: candidate.id, from: start.min(at), rank: candidate.rank }));
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

/// The secrets of a whole text, in order and apart from one another.
pub(super) fn finds(text: &[u8], mask: &Mask) -> Vec<Find> {
    let Some(first) = first_candidate(text) else {
        return Vec::new();
    };
    let mut finds = Vec::new();
    let input = Input::new(text);
    search(&input, first, |seen| {
        if let Seen::Find(find) = seen {
            finds.push(find);
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
