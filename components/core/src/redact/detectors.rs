//! The detectors: what tokens are made of, as tables.
//!
//! A [`Detector`] has a closed id and one or more [`Rule`]s. A rule begins at an [`Anchor`], a few bytes that the search
//! finds quickly, and says by its [`Shape`] whether a secret stands there and how far it reaches.

mod clouds;
mod context;
mod keys;
mod models;
pub(super) mod pem;
mod services;
mod sources;

use super::input::Input;
use super::sets::Set;

/// One kind of secret.
#[derive(Debug)]
pub(crate) struct Detector {
    /// Its id, as masks and counts show it.
    pub(crate) id: &'static str,
    /// Who issues it.
    pub(crate) provider: &'static str,
    /// 1: prefix and structure decide. 2: needs more than that.
    pub(crate) tier: u8,
    /// What it may look like.
    pub(super) rules: &'static [Rule],
}

/// One form of a detector.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) anchor: Anchor,
    pub(super) shape: Shape,
    /// The signs of the secret that stand before the anchor; none when it begins there.
    pub(super) behind: Option<Behind>,
}

/// Signs before an anchor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    set: Set,
    /// Fewer are no secret.
    least: usize,
    /// No find begins farther before the anchor.
    most: usize,
}

/// The bytes by which the search finds a candidate. Three or more.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    /// These bytes.
    Exact(&'static str),
    /// These bytes in any case, given in lower case.
    AnyCase(&'static str),
    /// One byte of each of these.
    OneOfEach(&'static [&'static str]),
}

/// What has to stand around an anchor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A token that begins with the anchor, goes on with these parts and passes the check. The check sees what follows
    /// the anchor.
    Token(&'static [Part], Check),
    /// Something else: from the anchor's place to where the secret is.
    Own(fn(&Input<'_>, usize) -> Option<Extent>),
}

/// A piece of a token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// At least so many signs of the set; all that are there belong to it.
    Run(Set, usize),
    /// The text.
    Text(&'static str),
    /// Nothing, or short parts of small letters and digits behind dots.
    Dotted,
    /// One sign of these.
    Sign(&'static str),
}

/// A last look at the body of a token, at most 256 bytes of it.
pub(super) type Check = fn(&[u8]) -> bool;

/// Where a secret is, in bytes from … to.
pub(super) type Extent = (usize, usize);

/// The tables, by kind of provider.
pub(super) const GROUPS: [&[Detector]; 6] =
    [sources::TABLE, models::TABLE, clouds::TABLE, services::TABLE, keys::TABLE, context::TABLE];

/// Every detector.
pub(crate) fn all() -> impl Iterator<Item = &'static Detector> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// Whether a detector has this id.
pub(super) fn exists(id: &[u8]) -> bool {
    all().any(|detector| detector.id.as_bytes() == id)
}

/// A detector whose forms are all tokens of one shape behind different prefixes.
const fn token(prefix: &'static str, parts: &'static [Part], check: Check) -> Rule {
    Rule { anchor: Anchor::Exact(prefix), shape: Shape::Token(parts, check), behind: None }
}

/// A form with its own function.
const fn own(anchor: Anchor, find: fn(&Input<'_>, usize) -> Option<Extent>) -> Rule {
    Rule { anchor, shape: Shape::Own(find), behind: None }
}

/// A form with its own function that begins before its anchor, with `least` to `most` signs of the set.
const fn around(
    (set, least, most): (Set, usize, usize),
    anchor: Anchor,
    find: fn(&Input<'_>, usize) -> Option<Extent>,
) -> Rule {
    Rule { anchor, shape: Shape::Own(find), behind: Some(Behind { set, least, most }) }
}

impl Rule {
    /// Where a secret would begin whose anchor is at a place; none when too little stands before it.
    pub(super) fn begin(&self, input: &Input<'_>, at: usize) -> Option<usize> {
        let signs = self.signs_behind(input, at);
        (signs >= self.behind.map_or(0, |behind| behind.least)).then(|| at - signs)
    }

    /// Signs before a place that would belong to a secret whose anchor is there.
    pub(super) fn signs_behind(&self, input: &Input<'_>, at: usize) -> usize {
        let Some(Behind { set, most, .. }) = self.behind else { return 0 };
        input.slice(at.saturating_sub(most), at).iter().rev().take_while(|byte| set.contains(**byte)).count()
    }

    /// Whether a secret may begin at a place, by what stands before it.
    pub(super) fn may_begin(&self, input: &Input<'_>, at: usize) -> bool {
        matches!(self.shape, Shape::Own(_)) || input.begins(at)
    }

    /// Where the secret is, if one stands at this anchor.
    pub(super) fn find(&self, input: &Input<'_>, at: usize) -> Option<Extent> {
        match self.shape {
            Shape::Own(find) => find(input, at),
            Shape::Token(parts, check) => {
                if !input.begins(at) {
                    return None;
                }
                let body = at + self.anchor.length();
                let end = parts_end(input, body, parts)?;
                check(input.sample(body, end)).then_some((at, end))
            }
        }
    }
}

impl Anchor {
    /// Bytes it has.
    pub(super) const fn length(self) -> usize {
        match self {
            Self::Exact(text) | Self::AnyCase(text) => text.len(),
            Self::OneOfEach(sets) => sets.len(),
        }
    }

    /// Whether it stands at a place.
    pub(super) fn stands(self, input: &Input<'_>, at: usize) -> bool {
        match self {
            Self::Exact(text) => input.has(at, text.as_bytes()),
            Self::AnyCase(text) => input.has_any_case(at, text.as_bytes()),
            Self::OneOfEach(sets) => sets
                .iter()
                .enumerate()
                .all(|(offset, set)| input.at(at + offset).is_some_and(|byte| set.as_bytes().contains(&byte))),
        }
    }

    /// Whether its sign number `offset` may be this byte.
    pub(super) fn may_have(self, offset: usize, byte: u8) -> bool {
        match self {
            Self::Exact(text) => text.as_bytes().get(offset) == Some(&byte),
            Self::AnyCase(text) => text.as_bytes().get(offset) == Some(&byte.to_ascii_lowercase()),
            Self::OneOfEach(sets) => sets.get(offset).is_some_and(|set| set.as_bytes().contains(&byte)),
        }
    }
}

/// Where the parts end that begin at `from`. The end is never inside a word: what follows directly belongs to the token.
pub(super) fn parts_end(input: &Input<'_>, from: usize, parts: &[Part]) -> Option<usize> {
    let mut at = from;
    for part in parts {
        at = match *part {
            Part::Run(set, least) => {
                let end = input.run(set, at);
                if end - at < least {
                    return None;
                }
                end
            }
            Part::Text(text) => {
                if !input.has(at, text.as_bytes()) {
                    return None;
                }
                at + text.len()
            }
            Part::Dotted => dotted_end(input, at),
            Part::Sign(signs) => {
                let byte = input.at(at)?;
                if !signs.as_bytes().contains(&byte) {
                    return None;
                }
                at + 1
            }
        };
    }
    let at = input.without_full_stop(from, at);
    Some(input.run(Set::Alnum, at).max(at))
}

fn dotted_end(input: &Input<'_>, from: usize) -> usize {
    let mut at = from;
    while input.at(at) == Some(b'.') {
        let end = input.run(Set::LowerDigit, at + 1);
        if !(2..=9).contains(&(end - at - 1)) {
            break;
        }
        at = end;
    }
    at
}
