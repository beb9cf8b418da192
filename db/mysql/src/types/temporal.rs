//! Dates and times: their text form, their binary form, and the parts between.

use bytes::{BufMut, BytesMut};

/// A date with a time of day. Zero parts are allowed, as MySQL allows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// 0–9999.
    pub year: u16,
    /// 0–12.
    pub month: u8,
    /// 0–31.
    pub day: u8,
    /// 0–23.
    pub hour: u8,
    /// 0–59.
    pub minute: u8,
    /// 0–59.
    pub second: u8,
    /// 0–999 999.
    pub micros: u32,
}

/// A signed duration, MySQL's TIME.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Below zero.
    pub negative: bool,
    /// Any number of hours.
    pub hours: u32,
    /// 0–59.
    pub minutes: u8,
    /// 0–59.
    pub seconds: u8,
    /// 0–999 999.
    pub micros: u32,
}

impl Stamp {
    /// Reads the binary form: 0, 4, 7 or 11 bytes without the length byte.
    ///
    /// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html#sect_protocol_binary_resultset_row_value_date>
    pub fn from_binary(bytes: &[u8]) -> Option<Self> {
        let mut stamp = Self::default();
        if !matches!(bytes.len(), 0 | 4 | 7 | 11) {
            return None;
        }
        if let [low, high, month, day, time @ ..] = bytes {
            stamp.year = u16::from_le_bytes([*low, *high]);
            (stamp.month, stamp.day) = (*month, *day);
            if let [hour, minute, second, micros @ ..] = time {
                (stamp.hour, stamp.minute, stamp.second) = (*hour, *minute, *second);
                if let Some(micros) = micros.first_chunk() {
                    stamp.micros = u32::from_le_bytes(*micros);
                }
            }
        }
        stamp.is_valid().then_some(stamp)
    }

    /// Reads `YYYY-MM-DD`, optionally with a time of day after a space or `T`, optionally with a fraction.
    pub fn from_text(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once([' ', 'T']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let mut stamp = Self {
            year: number(parts.next()?)?,
            month: number(parts.next()?)?,
            day: number(parts.next()?)?,
            ..Self::default()
        };
        if parts.next().is_some() {
            return None;
        }
        if let Some(time) = time {
            let clock = Clock::from_text(time).filter(|clock| !clock.negative)?;
            stamp.hour = u8::try_from(clock.hours).ok()?;
            (stamp.minute, stamp.second) = (clock.minutes, clock.seconds);
            stamp.micros = clock.micros;
        }
        stamp.is_valid().then_some(stamp)
    }

    fn is_valid(&self) -> bool {
        self.year <= 9999
            && self.month <= 12
            && self.day <= 31
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.micros < 1_000_000
    }

    /// The date's text form.
    pub fn date_text(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// The text form with as many digits of a second as `decimals` says; `None` writes six when there is a fraction.
    pub fn text(&self, decimals: Option<u8>) -> String {
        let mut text = self.date_text();
        text.push_str(&format!(" {:02}:{:02}:{:02}", self.hour, self.minute, self.second));
        push_fraction(&mut text, self.micros, decimals);
        text
    }

    /// Appends the binary form in its shortest length, length byte included.
    pub fn put_binary(&self, out: &mut BytesMut) {
        let time = self.hour != 0 || self.minute != 0 || self.second != 0;
        let len = match (self.micros != 0, time, *self == Self::default()) {
            (true, ..) => 11,
            (false, true, _) => 7,
            (false, false, false) => 4,
            (false, false, true) => 0,
        };
        out.put_u8(len);
        if len >= 4 {
            out.put_u16_le(self.year);
            out.put_slice(&[self.month, self.day]);
        }
        if len >= 7 {
            out.put_slice(&[self.hour, self.minute, self.second]);
        }
        if len == 11 {
            out.put_u32_le(self.micros);
        }
    }
}

impl Clock {
    /// Reads the binary form: 0, 8 or 12 bytes without the length byte.
    ///
    /// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html#sect_protocol_binary_resultset_row_value_time>
    pub fn from_binary(bytes: &[u8]) -> Option<Self> {
        let [negative, d0, d1, d2, d3, hour, minutes, seconds, micros @ ..] = bytes else {
            return bytes.is_empty().then(Self::default);
        };
        let days = u32::from_le_bytes([*d0, *d1, *d2, *d3]);
        let micros = match micros.len() {
            0 => 0,
            4 => u32::from_le_bytes(*micros.first_chunk()?),
            _ => return None,
        };
        let hours = days.checked_mul(24)?.checked_add(u32::from(*hour))?;
        let clock =
            Self { negative: *negative != 0, hours, minutes: *minutes, seconds: *seconds, micros };
        clock.is_valid().then_some(clock)
    }

    /// Reads `[-]HH:MM[:SS[.ffffff]]`, with any number of hours.
    pub fn from_text(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, fraction),
            None => (text, ""),
        };
        let mut parts = whole.split(':');
        let clock = Self {
            negative,
            hours: number(parts.next()?)?,
            minutes: number(parts.next()?)?,
            seconds: parts.next().map_or(Some(0), number)?,
            micros: micros(fraction)?,
        };
        (parts.next().is_none() && clock.is_valid()).then_some(clock)
    }

    fn is_valid(&self) -> bool {
        self.minutes < 60 && self.seconds < 60 && self.micros < 1_000_000
    }

    /// The text form with as many digits of a second as `decimals` says; `None` writes six when there is a fraction.
    pub fn text(&self, decimals: Option<u8>) -> String {
        let sign = if self.negative { "-" } else { "" };
        let mut text = format!("{sign}{:02}:{:02}:{:02}", self.hours, self.minutes, self.seconds);
        push_fraction(&mut text, self.micros, decimals);
        text
    }

    /// Appends the binary form in its shortest length, length byte included.
    pub fn put_binary(&self, out: &mut BytesMut) {
        if (Self { negative: false, ..*self }) == Self::default() {
            out.put_u8(0);
            return;
        }
        out.put_u8(if self.micros == 0 { 8 } else { 12 });
        out.put_u8(u8::from(self.negative));
        out.put_u32_le(self.hours / 24);
        out.put_slice(&[(self.hours % 24) as u8, self.minutes, self.seconds]);
        if self.micros != 0 {
            out.put_u32_le(self.micros);
        }
    }
}

fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Microseconds of the digits after the point; digits beyond the sixth are cut off.
fn micros(fraction: &str) -> Option<u32> {
    if fraction.is_empty() {
        return Some(0);
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(6);
    Some(digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

fn push_fraction(text: &mut String, micros: u32, decimals: Option<u8>) {
    let digits = match decimals {
        Some(decimals @ 0..=6) => usize::from(decimals),
        Some(_) | None => {
            if micros == 0 {
                0
            } else {
                6
            }
        }
    };
    if digits > 0 {
        let six = format!("{micros:06}");
        text.push('.');
        text.extend(six.chars().take(digits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_survive_text_and_binary_form() {
        let cases = [
            ("0000-00-00 00:00:00", 0),
            ("2026-01-31 00:00:00", 4),
            ("2026-01-31 13:45:00", 7),
            ("2026-01-31 13:45:00.500000", 11),
        ];
        for (text, len) in cases {
            let stamp = Stamp::from_text(text).unwrap();
            let mut out = BytesMut::new();
            stamp.put_binary(&mut out);
            assert_eq!(usize::from(out[0]), len);
            assert_eq!(Stamp::from_binary(&out[1..]), Some(stamp));
            assert_eq!(stamp.text(None), text);
        }
    }

    #[test]
    fn clocks_survive_text_and_binary_form() {
        let cases = [
            ("00:00:00", 0),
            ("-838:59:59", 8),
            ("101:02:03.000004", 12),
            ("-00:00:00.500000", 12),
        ];
        for (text, len) in cases {
            let clock = Clock::from_text(text).unwrap();
            let mut out = BytesMut::new();
            clock.put_binary(&mut out);
            assert_eq!(usize::from(out[0]), len);
            assert_eq!(Clock::from_binary(&out[1..]), Some(clock));
            assert_eq!(clock.text(None), text);
        }
    }

    #[test]
    fn the_fraction_has_as_many_digits_as_the_column() {
        let stamp = Stamp::from_text("2026-01-31 13:45:00.5").unwrap();
        assert_eq!(stamp.text(Some(3)), "2026-01-31 13:45:00.500");
        assert_eq!(stamp.text(Some(0)), "2026-01-31 13:45:00");
        assert_eq!(stamp.text(Some(31)), "2026-01-31 13:45:00.500000");
    }

    #[test]
    fn impossible_parts_are_refused() {
        for text in ["2026-13-01", "2026-01-32", "2026-01-01 24:00:00", "26-1", "x", "2026-01-01-1"]
        {
            assert_eq!(Stamp::from_text(text), None, "{text}");
        }
        for text in ["1:60:00", "1", "1:2:3:4", "1:2:3.x", "+1:00:00"] {
            assert_eq!(Clock::from_text(text), None, "{text}");
        }
        assert_eq!(Stamp::from_binary(&[1, 2, 3]), None);
        assert_eq!(Stamp::from_binary(&[0xEA, 7, 13, 1]), None);
        assert_eq!(Clock::from_binary(&[0; 9]), None);
        assert_eq!(Clock::from_binary(&[0, 255, 255, 255, 255, 0, 0, 0]), None);
    }
}
