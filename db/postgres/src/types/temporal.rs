//! Dates and times: the wire counts from 2000-01-01, values are text in ISO form.
//! <https://www.postgresql.org/docs/current/datatype-datetime.html>

use std::fmt::Write as _;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// 2000-01-01 in days since 1970-01-01.
const EPOCH: i64 = 10_957;

/// A date as text from days since 2000-01-01.
pub(super) fn date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".into(),
        i32::MIN => "-infinity".into(),
        days => {
            let (text, bc) = civil(i64::from(days));
            text + bc
        }
    }
}

/// A time of day as text from microseconds since midnight; `None` outside 0 to 24 hours.
pub(super) fn time(micros: i64) -> Option<String> {
    (0..=MICROS_PER_DAY).contains(&micros).then(|| clock(micros))
}

/// A time with its zone (seconds west of Greenwich).
pub(super) fn time_tz(micros: i64, west: i32) -> Option<String> {
    (west.unsigned_abs() < 86_400).then_some(())?;
    time(micros).map(|clock| clock + &offset(-west))
}

/// A timestamp as text from microseconds since 2000-01-01; `zone` is appended to finite ones.
pub(super) fn timestamp(micros: i64, zone: &str) -> String {
    match micros {
        i64::MAX => "infinity".into(),
        i64::MIN => "-infinity".into(),
        micros => {
            let (day, bc) = civil(micros.div_euclid(MICROS_PER_DAY));
            let clock = clock(micros.rem_euclid(MICROS_PER_DAY));
            format!("{day} {clock}{zone}{bc}")
        }
    }
}

/// A moment as text, from microseconds since 1970-01-01 UTC.
pub(crate) fn moment(micros: i64) -> String {
    timestamp(micros.saturating_sub(EPOCH * MICROS_PER_DAY), "+00")
}

/// An interval as text in the `postgres` style, the default of `IntervalStyle`.
pub(super) fn interval(micros: i64, days: i32, months: i32) -> String {
    let mut text = String::new();
    let mut part = |count: i64, unit: &str, negative_before: &mut bool| {
        if count != 0 {
            let space = if text.is_empty() { "" } else { " " };
            // After a negative part a positive one needs its sign.
            let sign = if *negative_before && count > 0 { "+" } else { "" };
            let plural = if count == 1 { "" } else { "s" };
            let _ = write!(text, "{space}{sign}{count} {unit}{plural}");
            *negative_before = count < 0;
        }
    };
    let mut negative = false;
    part(i64::from(months / 12), "year", &mut negative);
    part(i64::from(months % 12), "mon", &mut negative);
    part(i64::from(days), "day", &mut negative);
    if micros != 0 || text.is_empty() {
        let space = if text.is_empty() { "" } else { " " };
        let sign = match (micros < 0, negative) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let size = micros.unsigned_abs();
        let seconds = size / MICROS_PER_SECOND.unsigned_abs();
        let _ = write!(
            text,
            "{space}{sign}{:02}:{:02}:{:02}{}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            fraction(size % MICROS_PER_SECOND.unsigned_abs())
        );
    }
    text
}

/// Days since 2000-01-01 of a date's text; `None` when it is none.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    match text {
        "infinity" => return Some(i32::MAX),
        "-infinity" => return Some(i32::MIN),
        _ => {}
    }
    let (text, era) = era(text);
    i32::try_from(days(text, era)?).ok().filter(|days| *days != i32::MAX && *days != i32::MIN)
}

/// Microseconds since midnight of a time's text.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = seconds.split(':');
    let hours = number(parts.next()?, 2)?;
    let minutes = number(parts.next()?, 2)?;
    let seconds = parts.next().map_or(Some(0), |text| number(text, 2))?;
    let micros =
        ((hours * 60 + minutes) * 60 + seconds) * MICROS_PER_SECOND + parse_fraction(fraction)?;
    let fits = minutes < 60 && seconds <= 60 && micros <= MICROS_PER_DAY && parts.next().is_none();
    fits.then_some(micros)
}

/// Whether a timestamp has a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// It has none, and takes no offset.
    Without,
    /// An offset is taken into account, and none means UTC.
    With,
}

/// How years are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Ad,
    Bc,
}

/// Microseconds since 2000-01-01 of a timestamp's text.
pub(super) fn parse_timestamp(text: &str, zone: Zone) -> Option<i64> {
    match text {
        "infinity" => return Some(i64::MAX),
        "-infinity" => return Some(i64::MIN),
        _ => {}
    }
    let (text, era) = era(text);
    let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let (clock, west) = match zone {
        Zone::With => split_offset(clock)?,
        Zone::Without => (clock, 0),
    };
    let day = days(day, era)?.checked_mul(MICROS_PER_DAY)?;
    day.checked_add(parse_time(clock)?)?.checked_sub(west * MICROS_PER_SECOND)
}

/// The clock and its offset east of Greenwich, seconds.
fn split_offset(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, 0)) };
    let (clock, offset) = clock.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let mut parts = offset[1..].split(':');
    let mut part = |limit: i64| {
        parts.next().map_or(Some(0), |text| number(text, 2)).filter(|part| *part < limit)
    };
    let (hours, minutes, seconds) = (part(16)?, part(60)?, part(60)?);
    Some((clock.trim_end(), sign * ((hours * 60 + minutes) * 60 + seconds)))
}

fn era(text: &str) -> (&str, Era) {
    text.strip_suffix(" BC").map_or((text, Era::Ad), |text| (text, Era::Bc))
}

/// Days since 2000-01-01 of `YYYY-MM-DD`, in the proleptic Gregorian calendar.
fn days(text: &str, era: Era) -> Option<i64> {
    let mut parts = text.split('-');
    let year = number(parts.next()?, 7)?;
    let month = number(parts.next()?, 2)?;
    let day = number(parts.next()?, 2)?;
    if year == 0 || parts.next().is_some() {
        return None;
    }
    let year = match era {
        Era::Ad => year,
        Era::Bc => 1 - year,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // The year begins in March, so that the leap day is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 - EPOCH)
}

/// `YYYY-MM-DD` of days since 2000-01-01, and the era's suffix.
fn civil(days: i64) -> (String, &'static str) {
    let days = days + EPOCH + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    if year > 0 {
        (format!("{year:04}-{month:02}-{day:02}"), "")
    } else {
        (format!("{:04}-{month:02}-{day:02}", 1 - year), " BC")
    }
}

fn clock(micros: i64) -> String {
    let seconds = micros / MICROS_PER_SECOND;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let fraction = fraction((micros % MICROS_PER_SECOND).unsigned_abs());
    format!("{hours:02}:{minutes:02}:{:02}{fraction}", seconds % 60)
}

fn fraction(micros: u64) -> String {
    if micros == 0 {
        return String::new();
    }
    format!(".{micros:06}").trim_end_matches('0').to_owned()
}

fn offset(east: i32) -> String {
    let sign = if east < 0 { '-' } else { '+' };
    let seconds = east.unsigned_abs();
    let mut text = format!("{sign}{:02}", seconds / 3600);
    if !seconds.is_multiple_of(3600) {
        let _ = write!(text, ":{:02}", seconds / 60 % 60);
    }
    if !seconds.is_multiple_of(60) {
        let _ = write!(text, ":{:02}", seconds % 60);
    }
    text
}

/// A number of at most `digits` decimal digits and nothing else.
fn number(text: &str, digits: usize) -> Option<i64> {
    let plain =
        (1..=digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn parse_fraction(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    // Digits behind the sixth would have to be rounded, which PostgreSQL does from the float.
    let micros = number(text, 6)?;
    u32::try_from(6 - text.len()).ok().map(|missing| micros * 10_i64.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_back_as_they_went() {
        for (text, days) in [
            ("2000-01-01", 0),
            ("1999-12-31", -1),
            ("2024-02-29", 8825),
            ("0001-01-01", -730_119),
            ("0001-12-31 BC", -730_120),
            ("4714-11-24 BC", -2_451_545),
            ("5874897-12-31", 2_145_031_948),
            ("infinity", i32::MAX),
            ("-infinity", i32::MIN),
        ] {
            assert_eq!(parse_date(text), Some(days), "{text}");
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2024-02-30",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "0000-01-01",
            "2024-1-1-1",
            "24/1/1",
            "2024-01-01x",
            "+2024-01-01",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn timestamps_come_back_as_they_went() {
        for (text, micros) in [
            ("2000-01-01 00:00:00", 0),
            ("1999-12-31 23:59:59.999999", -1),
            ("2026-01-31 13:45:00.5", 823_182_300_500_000),
            ("0044-03-15 12:00:00 BC", -64_464_465_600_000_000),
            ("infinity", i64::MAX),
        ] {
            assert_eq!(timestamp(micros, ""), text);
            assert_eq!(parse_timestamp(text, Zone::Without), Some(micros), "{text}");
        }
    }

    #[test]
    fn an_offset_moves_the_instant() {
        assert_eq!(timestamp(0, "+00"), "2000-01-01 00:00:00+00");
        for text in [
            "2000-01-01 00:00:00+00",
            "2000-01-01 05:30:00+05:30",
            "1999-12-31T19:00:00-05",
            "2000-01-01 00:00:00Z",
            "2000-01-01 00:00:00",
            "2000-01-01",
        ] {
            assert_eq!(parse_timestamp(text, Zone::With), Some(0), "{text}");
        }
        assert_eq!(parse_timestamp("2000-01-01 00:00:00+99", Zone::With), None);
    }

    #[test]
    fn times_come_back_as_they_went() {
        for (text, micros) in
            [("00:00:00", 0), ("24:00:00", MICROS_PER_DAY), ("13:45:00.000001", 49_500_000_001)]
        {
            assert_eq!(time(micros).as_deref(), Some(text));
            assert_eq!(parse_time(text), Some(micros));
        }
        assert_eq!(time(-1), None);
        for text in ["", "1", "25:00:00", "12:60:00", "12:00:61", "12:00:00:00", "12:00:00.1234567"]
        {
            assert_eq!(parse_time(text), None, "{text}");
        }
        assert_eq!(time_tz(0, -19_800).as_deref(), Some("00:00:00+05:30"));
        assert_eq!(time_tz(0, 18_000).as_deref(), Some("00:00:00-05"));
    }

    #[test]
    fn intervals_read_as_postgresql_prints_them() {
        assert_eq!(interval(0, 0, 0), "00:00:00");
        assert_eq!(interval(14_706_000_000, 3, 14), "1 year 2 mons 3 days 04:05:06");
        assert_eq!(interval(-1_500_000, 1, 0), "1 day -00:00:01.5");
        assert_eq!(interval(0, -1, 1), "1 mon -1 days");
        assert_eq!(interval(1_000_000, -1, 0), "-1 days +00:00:01");
    }
}
