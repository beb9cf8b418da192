//! Days, times of day, and both together, in the order of ISO 8601.

use jiff::Unit;
use jiff::civil::{Date, DateTime, DateTimeRound, Time};
use pando_kernel::Value;
use pando_kernel::error::Result;

use super::{Aim, Form, Reader};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const FORM: &str = "write it as `2024-12-31` and `23:59:59`";

/// Which digits behind the point of a moment are not kept.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Nothing,
    /// The column has fewer.
    ByColumn,
    /// They are beyond microseconds, which no column has.
    ByServer,
}

impl Cut {
    /// Of a moment as it was given, to microseconds, and as the column has it.
    fn of<T: PartialEq>([given, microseconds, fitting]: [T; 3]) -> Self {
        if given != microseconds {
            return Self::ByServer;
        }
        if microseconds == fitting { Self::Nothing } else { Self::ByColumn }
    }
}

impl Reader<'_> {
    pub(super) fn date(&self, value: &Value) -> Result<String> {
        let text = self.moment(value)?;
        let (day, clock) = self.cut_day(text)?;
        let day = self.day(day, text)?;
        let clock = match clock {
            Some(clock) => self.clock(clock, text)?,
            None => Time::midnight(),
        };
        if self.aim == Aim::Compare && clock != Time::midnight() {
            return Err(self.wrong("a date with a time to compare it with", "give it a date"));
        }
        Ok(day.to_string())
    }

    pub(super) fn timestamp(&self, value: &Value, places: u8) -> Result<String> {
        let text = self.moment(value)?;
        let (day, clock) = self.cut_day(text)?;
        let day = self.day(day, text)?;
        let clock = match clock {
            Some(clock) => self.clock(clock, text)?,
            None => Time::midnight(),
        };
        let given = DateTime::from_parts(day, clock);
        // PostgreSQL keeps microseconds of whatever it is given, and rounds.
        let microseconds = rounded(given, 6);
        let fitting = microseconds.and_then(|given| Some((given, rounded(given, places)?)));
        let Some((microseconds, fitting)) = fitting else {
            return Err(self.out_of_range("timestamp"));
        };
        self.refuse_cut(Cut::of([given, microseconds, fitting]))?;
        let given = microseconds;
        let (told, places) = match self.aim == Aim::Compare && given != fitting {
            true => (given, 6),
            false => (fitting, places),
        };
        let fraction = self.fraction(i64::from(told.subsec_nanosecond()), places);
        Ok(format!("{} {}{fraction}", told.date(), whole_seconds(told.time())))
    }

    pub(super) fn time(&self, value: &Value, places: u8) -> Result<String> {
        let text = self.moment(value)?;
        let (is_negative, own) = match text.strip_prefix('-') {
            Some(own) if self.is_mysql => (true, own),
            Some(_) | None => (false, text),
        };
        let Some((hours, rest)) = own.split_once(':') else {
            return Err(self.no_moment("time", text, Form::Wrong));
        };
        let most = if self.is_mysql { 3 } else { 2 };
        let read = Some(hours).filter(|hours| hours.len() <= most && is_digits(hours));
        let hours: i64 = read.and_then(|hours| hours.parse().ok()).unwrap_or(i64::MAX);
        let beyond = if self.is_mysql { 839 } else { 24 };
        if hours >= beyond {
            return Err(self.no_moment("time", text, Form::Right));
        }
        let clock = self.clock(&format!("00:{rest}"), text)?;
        let within = nanos(clock) + hours * 3_600 * NANOS_PER_SECOND;
        let microseconds = round(within, 6);
        let fitting = round(microseconds, places);
        self.refuse_cut(Cut::of([within, microseconds, fitting]))?;
        let (told, places) = match self.aim == Aim::Compare && microseconds != fitting {
            true => (microseconds, 6),
            false => (fitting, places),
        };
        if told >= beyond * 3_600 * NANOS_PER_SECOND {
            return Err(self.out_of_range("time"));
        }
        let (seconds, rest) = (told / NANOS_PER_SECOND, told % NANOS_PER_SECOND);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let sign = if is_negative && told > 0 { "-" } else { "" };
        let fraction = self.fraction(rest, places);
        Ok(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
    }

    /// Refuses digits behind the point that are too many: MySQL rounds them, MariaDB drops them, and nobody here knows
    /// which of the two it is. To compare, those that the column has not may stay.
    fn refuse_cut(&self, cut: Cut) -> Result<()> {
        let is_lost = match cut {
            Cut::Nothing => false,
            Cut::ByColumn => self.aim != Aim::Compare,
            Cut::ByServer => true,
        };
        if is_lost && self.is_mysql {
            return Err(self.wrong(
                "a time with more digits behind the point than it keeps",
                "send as many digits as the column has",
            ));
        }
        Ok(())
    }

    /// A moment's text. PostgreSQL passes over the zone of one whose type has none; MySQL goes by it.
    fn moment<'v>(&self, value: &'v Value) -> Result<&'v str> {
        let Value::Text(text) = value else {
            return Err(self.wrong("something else than a date or a time", FORM));
        };
        let text = text.trim();
        Ok(if self.is_mysql { text } else { without_zone(text) })
    }

    /// The day, and the time of day behind it.
    fn cut_day<'t>(&self, text: &'t str) -> Result<(&'t str, Option<&'t str>)> {
        match text.split_once([' ', 'T', 't']) {
            Some((day, clock)) => Ok((day, Some(clock.trim_start()))),
            None if text.contains(':') => Err(self.no_moment("date", text, Form::Wrong)),
            None => Ok((text, None)),
        }
    }

    fn day(&self, day: &str, whole: &str) -> Result<Date> {
        let parts: Vec<&str> = day.split('-').collect();
        let read = match parts[..] {
            [year, month, day] if year.len() == 4 => {
                number(year).zip(number(month).zip(number(day)))
            }
            _ => return Err(self.wrong("a date in another form than that of ISO 8601", FORM)),
        };
        let date = read.and_then(|(year, (month, day))| {
            let small = |number: i64| i8::try_from(number).ok();
            Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()
        });
        // MySQL's zero dates and PostgreSQL's years before the first have forms of their own.
        date.filter(|date| date.year() > 0).ok_or_else(|| {
            let form = if read.is_some() { Form::Right } else { Form::Wrong };
            self.no_moment("date", whole, form)
        })
    }

    /// `23:59`, `23:59:59`, `23:59:59.5`.
    fn clock(&self, clock: &str, whole: &str) -> Result<Time> {
        let unreadable = || self.no_moment("time", whole, Form::Wrong);
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) => (clock, fraction),
            None => (clock, ""),
        };
        let parts: Vec<&str> = clock.split(':').collect();
        let (hours, minutes, seconds) = match parts[..] {
            [hours, minutes] if fraction.is_empty() => (hours, minutes, "0"),
            [hours, minutes, seconds] => (hours, minutes, seconds),
            _ => return Err(unreadable()),
        };
        if fraction.len() > 9 || !is_digits(fraction) && !fraction.is_empty() {
            return Err(unreadable());
        }
        let part = |text: &str| {
            let short = Some(text).filter(|text| text.len() <= 2);
            short.and_then(number).and_then(|number| i8::try_from(number).ok())
        };
        let nanos = format!("{fraction:0<9}").parse::<i32>().ok();
        let time = part(hours).zip(part(minutes)).zip(part(seconds)).zip(nanos);
        let time = time.and_then(|(((h, m), s), nanos)| Time::new(h, m, s, nanos).ok());
        time.ok_or_else(|| self.no_moment("time", whole, Form::Right))
    }

    /// MySQL tells as many digits as the column has, PostgreSQL none that are zeros at the end.
    fn fraction(&self, nanos: i64, places: u8) -> String {
        let all = format!("{nanos:09}");
        let own = all.get(..usize::from(places)).unwrap_or_default();
        let own = if self.is_mysql { own } else { own.trim_end_matches('0') };
        if own.is_empty() { String::new() } else { format!(".{own}") }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> Option<i64> {
    Some(text).filter(|text| is_digits(text)).and_then(|text| text.parse().ok())
}

/// Without `+00`, `-05:30`, `Z` behind a time or, as JDBC's driver writes dates, behind a day and a blank.
fn without_zone(text: &str) -> &str {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let Some(at) = text.rfind(['+', '-']) else { return text };
    let (front, zone) = text.split_at(at);
    let is_offset = zone.get(1..).is_some_and(|zone| {
        zone.split(':').all(|part| part.len() == 2 && is_digits(part)) && zone.len() <= 8
    });
    match is_offset && (front.contains(':') || front.ends_with(' ')) {
        true => front.trim_end(),
        false => text,
    }
}

fn rounded(moment: DateTime, places: u8) -> Option<DateTime> {
    let (unit, increment) = match places {
        0 => (Unit::Second, 1),
        1 => (Unit::Millisecond, 100),
        2 => (Unit::Millisecond, 10),
        3 => (Unit::Millisecond, 1),
        4 => (Unit::Microsecond, 100),
        5 => (Unit::Microsecond, 10),
        _ => (Unit::Microsecond, 1),
    };
    moment.round(DateTimeRound::new().smallest(unit).increment(increment)).ok()
}

fn round(nanos: i64, places: u8) -> i64 {
    let step = 10_i64.pow(9 - u32::from(places.min(6)));
    (nanos + step / 2) / step * step
}

fn nanos(time: Time) -> i64 {
    let seconds = i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60;
    (seconds + i64::from(time.second())) * NANOS_PER_SECOND + i64::from(time.subsec_nanosecond())
}

fn whole_seconds(time: Time) -> String {
    format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())
}
