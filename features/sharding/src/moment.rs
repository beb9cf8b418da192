//! Dates and times in the one form that every server reads alike; other spellings are left to the servers.

use pando_kernel::Value;

/// `2024-12-31`; a timestamp at midnight is its date.
pub(crate) fn date(value: &Value) -> Option<Value> {
    let text = text(value)?;
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    let midnight = rest.is_empty() || clock(rest.strip_prefix([' ', 'T'])?)? == "00:00:00";
    (is_day(day) && midnight).then(|| Value::Text(day.to_owned()))
}

/// `23:59:59`, with up to six digits behind the point.
pub(crate) fn time(value: &Value) -> Option<Value> {
    clock(text(value)?).map(Value::Text)
}

/// `2024-12-31 23:59:59`, with up to six digits behind the point; a date alone is its midnight.
pub(crate) fn timestamp(value: &Value) -> Option<Value> {
    let text = text(value)?;
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    if !is_day(day) {
        return None;
    }
    let clock = match rest {
        "" => "00:00:00".to_owned(),
        _ => clock(rest.strip_prefix([' ', 'T'])?)?,
    };
    Some(Value::Text(format!("{day} {clock}")))
}

/// Digits behind the point of what [`timestamp`] gave.
pub(crate) fn places(value: &Value) -> usize {
    text(value).and_then(|text| text.split_once('.')).map_or(0, |(_, digits)| digits.len())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Bytes(_) => None,
    }
}

/// Whether `text` has digits where `shape` has `0`, and its other characters.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

fn is_day(text: &str) -> bool {
    has_shape(text, "0000-00-00") && !text.starts_with("0000") && &text[5..] != "00-00"
}

/// A time of day without zeros at the end of its fraction.
fn clock(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fits = has_shape(whole, "00:00:00")
        && whole < "24:00:00"
        && fraction.len() <= 6
        && !text.ends_with('.')
        && fraction.bytes().all(|b| b.is_ascii_digit());
    if !fits {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    Some(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: fn(&Value) -> Option<Value>, given: &str) -> Option<String> {
        match form(&Value::Text(given.into())) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn one_form_each() {
        assert_eq!(read(date, "2024-12-31").as_deref(), Some("2024-12-31"));
        assert_eq!(read(date, "2024-12-31 00:00:00.000").as_deref(), Some("2024-12-31"));
        assert_eq!(read(time, "01:02:03.500").as_deref(), Some("01:02:03.5"));
        assert_eq!(read(timestamp, "2024-12-31").as_deref(), Some("2024-12-31 00:00:00"));
        assert_eq!(read(timestamp, "2024-12-31T01:02:03").as_deref(), Some("2024-12-31 01:02:03"));
        assert_eq!(places(&Value::Text("2024-12-31 01:02:03.25".into())), 2);
    }

    #[test]
    fn other_spellings_are_not_read() {
        for given in [
            "",
            "2024-1-1",
            "20240101",
            "2024-01-01 25:00:00",
            "2024/01/01",
            "2024-01-01 01",
            "é024-01-01",
        ] {
            assert_eq!(read(date, given), None, "{given}");
            assert_eq!(read(timestamp, given), None, "{given}");
        }
        assert_eq!(read(date, "2024-01-01 10:00:00"), None);
        assert_eq!(read(time, "1:2:3"), None);
        assert_eq!(read(timestamp, "2024-01-01 10:00:00+01"), None);
    }
}
