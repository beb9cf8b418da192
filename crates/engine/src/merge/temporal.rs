//! Dates and times in text as points on a line, for columns whose text does not sort bytewise.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::value::Kind;

const NANOS: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * NANOS;
/// Longest run of digits: a year of PostgreSQL has six.
const DIGITS: usize = 9;

/// A point: nanoseconds from some origin, then what decides between equal instants (the zone of a time of day, west last).
pub(super) type Moment = (i128, i64);

/// Reads a text as the kind says. Takes years before Christ, signed durations, zone offsets, `24:00:00`, zero dates and infinities.
///
/// # Errors
/// `Value` when the text is none of that; `Internal` when the kind is not temporal.
pub(super) fn moment(kind: Kind, text: &str) -> Result<Moment> {
    match text.trim() {
        "infinity" => return Ok((i128::MAX, 0)),
        "-infinity" => return Ok((i128::MIN, 0)),
        _ => {}
    }
    let mut cursor = Cursor(text.trim());
    let parsed = match kind {
        Kind::Date | Kind::Timestamp => cursor.stamp(packed),
        Kind::TimestampTz => cursor.stamp(civil),
        Kind::Time => cursor.time(),
        Kind::Bool
        | Kind::Int
        | Kind::UInt
        | Kind::Decimal
        | Kind::Float
        | Kind::Text
        | Kind::Bytes
        | Kind::Other => return Err(Error::internal("a key compares as a time but holds none")),
    };
    parsed.filter(|_| cursor.0.is_empty()).ok_or_else(|| {
        let shown: String = text.chars().take(64).collect();
        let message = format!(
            "`{shown}` is not a date or time as ISO writes it, and only such are compared over several shards"
        );
        Error::new(ErrorKind::Value(message))
    })
}

/// Orders dates and keeps zero months and days apart; not a count of days.
fn packed(year: i64, month: i64, day: i64) -> Option<i64> {
    Some((year * 16 + month) * 32 + day)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar; `None` for a zero date, which is no instant.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if month == 0 || day == 0 {
        return None;
    }
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = if month > 2 { year } else { year - 1 };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// What is left of a text.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn take(&mut self, prefix: &str) -> bool {
        self.0.strip_prefix(prefix).map(|rest| self.0 = rest).is_some()
    }

    fn number(&mut self) -> Option<i64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        if end == 0 || end > DIGITS {
            return None;
        }
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse().ok()
    }

    fn below(&mut self, limit: i64) -> Option<i64> {
        self.number().filter(|number| *number <= limit)
    }

    /// A date, and behind it perhaps a time, a zone and an era.
    fn stamp(&mut self, days: fn(i64, i64, i64) -> Option<i64>) -> Option<Moment> {
        let year = self.number()?;
        let month = self.take("-").then(|| self.below(12))??;
        let day = self.take("-").then(|| self.below(31))??;
        let (mut nanos, mut offset) = (0, 0);
        if self.take("T") || (self.0.len() > 3 && self.take(" ")) {
            nanos = self.clock(24)?;
            offset = self.zone()?.unwrap_or(0);
        }
        // The year before 1 AD is 1 BC.
        let year = if self.take(" BC") { 1 - year } else { year };
        let days = i128::from(days(year, month, day)?);
        Some((days * DAY + nanos - i128::from(offset) * NANOS, 0))
    }

    /// A time of day or a duration, perhaps with a zone.
    fn time(&mut self) -> Option<Moment> {
        let negative = self.take("-");
        let nanos = self.clock(i64::MAX)?;
        let nanos = if negative { -nanos } else { nanos };
        let offset = self.zone()?.unwrap_or(0);
        Some((nanos - i128::from(offset) * NANOS, -offset))
    }

    fn clock(&mut self, hours: i64) -> Option<i128> {
        let hours = self.below(hours)?;
        let minutes = self.take(":").then(|| self.below(59))??;
        let seconds = if self.take(":") { self.below(60)? } else { 0 };
        let mut fraction = 0;
        if self.take(".") {
            let before = self.0.len();
            let digits = self.number()?;
            let width = u32::try_from(before - self.0.len()).ok()?;
            fraction = i128::from(digits) * 10i128.pow(9u32.checked_sub(width)?);
        }
        Some(i128::from((hours * 60 + minutes) * 60 + seconds) * NANOS + fraction)
    }

    /// Seconds east of Greenwich; `Some(None)` when there is no zone.
    fn zone(&mut self) -> Option<Option<i64>> {
        if self.take("Z") {
            return Some(Some(0));
        }
        let east = self.take("+");
        if !east && !self.take("-") {
            return Some(None);
        }
        let mut seconds = self.below(15)? * 3600;
        if self.take(":") {
            seconds += self.below(59)? * 60;
        }
        if self.take(":") {
            seconds += self.below(59)?;
        }
        Some(Some(if east { seconds } else { -seconds }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_ascending(kind: Kind, texts: &[&str]) {
        let moments: Vec<Moment> = texts.iter().map(|text| moment(kind, text).unwrap()).collect();
        for (pair, shown) in moments.windows(2).zip(texts.windows(2)) {
            assert!(pair[0] < pair[1], "{shown:?} as {kind:?}");
        }
    }

    #[test]
    fn moments_sort_as_a_server_sorts_them() {
        check_ascending(
            Kind::Date,
            &[
                "-infinity",
                "0044-03-15 BC",
                "0001-01-01 BC",
                "0001-01-01",
                "9999-12-31",
                "10000-01-01",
                "infinity",
            ],
        );
        check_ascending(Kind::Date, &["0000-00-00", "2026-00-00", "2026-01-00", "2026-01-01"]);
        check_ascending(
            Kind::Time,
            &[
                "-838:59:59",
                "-00:00:00.5",
                "00:00:00",
                "09:05:00",
                "23:59:59.999999",
                "24:00:00",
                "100:00:00",
            ],
        );
        check_ascending(
            Kind::Timestamp,
            &[
                "2026-01-31 09:00:00",
                "2026-01-31 09:00:00.5",
                "2026-01-31 10:00:00",
                "2026-02-01 00:00:00",
            ],
        );
        check_ascending(
            Kind::TimestampTz,
            &[
                "0001-06-01 00:00:00+00 BC",
                "2026-01-31 12:00:00+05:30",
                "2026-01-31 07:00:00+00",
                "2026-01-31 23:30:00-02",
                "2026-02-01 01:30:01+00",
            ],
        );
    }

    #[test]
    fn instants_are_equal_in_all_zones_but_times_of_day_are_not() {
        let tz = |text| moment(Kind::TimestampTz, text).unwrap();
        assert_eq!(tz("2026-03-01 00:30:00+01"), tz("2026-02-28 23:30:00+00"));
        let time = |text| moment(Kind::Time, text).unwrap();
        assert!(time("13:00:00+01") < time("12:00:00+00"));
        assert!(time("12:00:00+00") < time("11:00:00-01"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "x", "2026", "2026-13-01", "01/31/2026", "2026-01-31 9", "12345678901-01-01"]
        {
            assert!(moment(Kind::Timestamp, text).is_err(), "{text}");
        }
        assert!(moment(Kind::Time, "12:00:00.0123456789").is_err());
        assert!(moment(Kind::TimestampTz, "0000-00-00 00:00:00").is_err());
        assert!(moment(Kind::Int, "1").is_err());
    }
}
