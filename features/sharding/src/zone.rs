//! Moments that sessions write by their own time zones: a sharding algorithm sees each in one form.

use pando_kernel::Value;

use crate::moment;

/// The time zone by which a session writes moments that name none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    /// The storage units' own: it was not set.
    Theirs,
    /// So many seconds east of Greenwich, at any time.
    Fixed(i64),
    /// Another one, whose clocks may be turned.
    Named,
}

/// Names of the variable.
const NAMES: [&str; 3] = ["time_zone", "timezone", "time zone"];

/// Names of the zone of Greenwich whose clocks nobody turns.
const OF_GREENWICH: [&str; 7] =
    ["utc", "gmt", "etc/utc", "etc/gmt", "zulu", "universal", "etc/universal"];

impl Zone {
    /// Of a session's variables: name, and the value's text as SQL.
    pub(crate) fn of(variables: &[(String, String)]) -> Self {
        let is_it =
            |(name, _): &&(String, String)| NAMES.iter().any(|own| name.eq_ignore_ascii_case(own));
        let Some((_, text)) = variables.iter().rev().find(is_it) else { return Self::Theirs };
        let text = text.trim().trim_matches(['\'', '"']).to_ascii_lowercase();
        if ["default", "system", "local"].contains(&text.as_str()) {
            return Self::Theirs;
        }
        if OF_GREENWICH.contains(&text.as_str()) {
            return Self::Fixed(0);
        }
        // Elsewhere than in MySQL a bare offset may count to the west.
        match text.contains(':').then(|| offset(&text)).flatten() {
            Some(0) => Self::Fixed(0),
            Some(seconds) if variables.iter().any(|(name, _)| name == NAMES[0]) => {
                Self::Fixed(seconds)
            }
            _ => Self::Named,
        }
    }
}

/// The one form of a moment that is written with its offset, or in a zone that has one: `2024-12-31 23:59:59+00`.
pub(crate) fn moment(value: &Value, zone: Zone) -> Option<Value> {
    let Value::Text(text) = value else { return None };
    let text = text.trim();
    let (day, behind) = (text.get(..10)?, text.get(10..)?);
    let at = behind.find(['+', '-', 'Z', 'z']).unwrap_or(behind.len());
    let (clock, written) = (behind[..at].trim_end(), &behind[at..]);
    let seconds = match (written, zone) {
        ("Z" | "z", _) => 0,
        ("", Zone::Fixed(seconds)) => seconds,
        ("", Zone::Theirs | Zone::Named) => return None,
        (written, _) => offset(written)?,
    };
    let local = moment::timestamp(&Value::Text(format!("{day}{clock}")))?;
    let Value::Text(local) = local else { return None };
    let (whole, fraction) = local.split_once('.').unwrap_or((&local, ""));
    let number = |from: usize, to: usize| whole.get(from..to)?.parse::<i64>().ok();
    let days = days(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    let of_day = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let all = days * 86_400 + of_day - seconds;
    let (day, rest) = (all.div_euclid(86_400), all.rem_euclid(86_400));
    let point = if fraction.is_empty() { "" } else { "." };
    Some(Value::Text(format!(
        "{} {:02}:{:02}:{:02}{point}{fraction}+00",
        date(day)?,
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )))
}

/// `+09`, `+09:30`, `-0330`, `+01:02:03` in seconds.
fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|letter| *letter != ':').collect();
    let is_clock = digits.bytes().all(|byte| byte.is_ascii_digit());
    let plain = match digits.len() {
        1 | 2 | 4 | 6 if is_clock => format!("{digits:0>2}"),
        3 if is_clock => format!("0{digits}"),
        _ => return None,
    };
    let part = |at: usize| plain.get(at..at + 2).map_or(Some(0), |two| two.parse::<i64>().ok());
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    (hours < 16 && minutes < 60 && seconds < 60)
        .then_some(sign * (hours * 3600 + minutes * 60 + seconds))
}

/// Days since 1970; `None` for a day that there is not.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // The year begins in March, so that the odd day is its last.
    let shifted = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The day so many days after 1970 began; `None` where its year has not four digits.
fn date(days: i64) -> Option<String> {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, zone: Zone) -> Option<String> {
        match moment(&Value::Text(text.into()), zone) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn one_moment_has_one_form() {
        for text in [
            "2024-01-01 00:00:00+00",
            "2024-01-01T00:00:00Z",
            "2024-01-01 09:00:00+09",
            "2024-01-01 09:00:00.000 +09:00",
            "2023-12-31 20:30:00-0330",
            "2024-01-01 05:30+05:30:00",
        ] {
            let expected = (!text.contains("05:30+")).then_some("2024-01-01 00:00:00+00");
            assert_eq!(seen(text, Zone::Named).as_deref(), expected, "{text}");
        }
        assert_eq!(
            seen("2024-02-29 23:00:00.5-02", Zone::Theirs).as_deref(),
            Some("2024-03-01 01:00:00.5+00")
        );
        assert_eq!(
            seen("2024-03-01 01:00:00", Zone::Fixed(7200)).as_deref(),
            Some("2024-02-29 23:00:00+00")
        );
        for text in ["2024-03-01 01:00:00", "2024-02-30 01:00:00+00", "now", "infinity", ""] {
            assert_eq!(seen(text, Zone::Named), None, "{text}");
        }
    }

    #[test]
    fn days_are_told_back_and_forth() {
        for (year, month, day) in
            [(1970, 1, 1), (1900, 2, 28), (2000, 2, 29), (2024, 12, 31), (1, 1, 1), (9999, 12, 31)]
        {
            let text = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(days(year, month, day).and_then(date), Some(text));
        }
        assert_eq!((days(1970, 1, 1), days(1900, 2, 29)), (Some(0), None));
    }

    #[test]
    fn a_sessions_zone_is_read_off_its_variables() {
        let zone = |name: &str, text: &str| Zone::of(&[(name.to_owned(), text.to_owned())]);
        assert_eq!(Zone::of(&[]), Zone::Theirs);
        assert_eq!(zone("time_zone", "'+09:00'"), Zone::Fixed(32_400));
        assert_eq!(zone("time_zone", "'SYSTEM'"), Zone::Theirs);
        assert_eq!(zone("time_zone", "'Europe/Berlin'"), Zone::Named);
        assert_eq!(zone("TimeZone", "'UTC'"), Zone::Fixed(0));
        // What counts to the west is left alone.
        assert_eq!(zone("timezone", "'+09:00'"), Zone::Named);
        assert_eq!(zone("time zone", "-7"), Zone::Named);
    }
}
