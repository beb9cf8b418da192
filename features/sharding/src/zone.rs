//! Moments that sessions write by their own time zones: a sharding algorithm sees each in one form.

use jiff::SignedDuration;
use jiff::civil::DateTime;
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
    let seconds = SignedDuration::from_secs(seconds);
    let moment = whole.parse::<DateTime>().ok()?.checked_sub(seconds).ok()?;
    let point = if fraction.is_empty() { "" } else { "." };
    (1..=9999).contains(&moment.year()).then(|| {
        let whole = moment.strftime("%Y-%m-%d %H:%M:%S");
        Value::Text(format!("{whole}{point}{fraction}+00"))
    })
}

/// A moment that is written so many seconds east of Greenwich, as it is written elsewhere: `2024-12-31 23:59:59`.
pub(crate) fn moved(value: &Value, from: i64, to: i64) -> Option<Value> {
    let Value::Text(local) = moment::timestamp(value)? else { return None };
    let (whole, fraction) = local.split_once('.').unwrap_or((&local, ""));
    let seconds = SignedDuration::from_secs(to - from);
    let moment = whole.parse::<DateTime>().ok()?.checked_add(seconds).ok()?;
    let point = if fraction.is_empty() { "" } else { "." };
    let whole = moment.strftime("%Y-%m-%d %H:%M:%S");
    (1..=9999).contains(&moment.year()).then(|| Value::Text(format!("{whole}{point}{fraction}")))
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
    fn a_moment_is_written_otherwise_elsewhere() {
        let text = |text: &str| Value::Text(text.into());
        for (written, from, to, expected) in [
            ("2024-01-01 03:00:00", 3, 0, Some("2024-01-01 00:00:00")),
            ("2024-01-01 01:30:00.250", 3, 0, Some("2023-12-31 22:30:00.25")),
            ("2024-02-28T23:00:00", -5, 2, Some("2024-02-29 06:00:00")),
            ("2024-01-01", 0, 0, Some("2024-01-01 00:00:00")),
            ("2024-02-30 00:00:00", 1, 0, None),
            ("24-1-1 3:00", 1, 0, None),
        ] {
            let there = moved(&text(written), from * 3600, to * 3600);
            assert_eq!(there, expected.map(text), "{written}");
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
