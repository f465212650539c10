//! The host's clock as the ledger spells it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Now, UTC, ISO 8601 with six fraction digits and `Z`.
pub fn now() -> String {
    spell(Timestamp::now())
}

/// The UTC date in eight digits, as run ids carry it.
pub fn date() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%d").to_string()
}

fn spell(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_six_fraction_digits() {
        assert_eq!(spell(Timestamp::new(1_800_000_000, 5_000).unwrap()), "2027-01-15T08:00:00.000005Z");
        assert_eq!(spell(Timestamp::new(1_800_000_000, 0).unwrap()), "2027-01-15T08:00:00.000000Z");
    }
}
