//! SQL functions that clients of other databases expect and SQLite lacks.

use std::time::{SystemTime, UNIX_EPOCH};

use md5::{Digest, Md5};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use crate::arguments::{argument, failed};

/// Same arguments, same result: may stand in indexes and is computed once.
const PURE: FunctionFlags = FunctionFlags::SQLITE_UTF8.union(FunctionFlags::SQLITE_DETERMINISTIC);
const PLAIN: FunctionFlags = FunctionFlags::SQLITE_UTF8;

type Function = fn(&Context<'_>) -> Result<Value>;

/// Name, number of arguments (-1: any), function.
const PURE_FUNCTIONS: &[(&str, i32, Function)] = &[
    ("pando_integer", 1, integer),
    ("pando_boolean", 1, boolean),
    ("md5", 1, |ctx| text(ctx, 0, |t| Value::Text(hex(&Md5::digest(t.as_bytes()))))),
    ("left", 2, |ctx| cut(ctx, |length, wanted| (0, wanted.min(length)))),
    ("right", 2, |ctx| cut(ctx, |length, wanted| (length - wanted.min(length), length))),
    ("lpad", 2, |ctx| pad(ctx, Side::Left)),
    ("lpad", 3, |ctx| pad(ctx, Side::Left)),
    ("rpad", 2, |ctx| pad(ctx, Side::Right)),
    ("rpad", 3, |ctx| pad(ctx, Side::Right)),
    ("reverse", 1, |ctx| text(ctx, 0, |t| Value::Text(t.chars().rev().collect()))),
    ("repeat", 2, repeat),
    ("char_length", 1, |ctx| text(ctx, 0, |t| count(t.chars().count()))),
    ("character_length", 1, |ctx| text(ctx, 0, |t| count(t.chars().count()))),
    ("lcase", 1, |ctx| text(ctx, 0, |t| Value::Text(t.to_lowercase()))),
    ("ucase", 1, |ctx| text(ctx, 0, |t| Value::Text(t.to_uppercase()))),
    ("ascii", 1, |ctx| text(ctx, 0, |t| Value::Integer(t.bytes().next().unwrap_or(0).into()))),
    ("strpos", 2, |ctx| position(ctx, 0, 1)),
    ("locate", 2, |ctx| position(ctx, 1, 0)),
    ("greatest", -1, |ctx| extreme(ctx, std::cmp::Ordering::Greater)),
    ("least", -1, |ctx| extreme(ctx, std::cmp::Ordering::Less)),
    ("mod", 2, modulo),
    ("ceil", 1, |ctx| number(ctx, 0, |n| whole(n.ceil()))),
    ("ceiling", 1, |ctx| number(ctx, 0, |n| whole(n.ceil()))),
    ("floor", 1, |ctx| number(ctx, 0, |n| whole(n.floor()))),
    ("sqrt", 1, |ctx| number(ctx, 0, |n| Value::Real(n.sqrt()))),
    ("power", 2, power),
    ("pow", 2, power),
    ("unix_timestamp", 1, |ctx| text(ctx, 0, seconds_of)),
];

/// Functions whose result changes.
const CHANGING_FUNCTIONS: &[(&str, i32, Function)] = &[
    ("now", -1, |_| Ok(Value::Text(stamp(Form::Full)))),
    ("clock_timestamp", 0, |_| Ok(Value::Text(stamp(Form::Full)))),
    ("sysdate", -1, |_| Ok(Value::Text(stamp(Form::Full)))),
    ("localtimestamp", -1, |_| Ok(Value::Text(stamp(Form::Full)))),
    ("utc_timestamp", -1, |_| Ok(Value::Text(stamp(Form::Full)))),
    ("curdate", 0, |_| Ok(Value::Text(stamp(Form::Date)))),
    ("curtime", 0, |_| Ok(Value::Text(stamp(Form::Time)))),
    ("unix_timestamp", 0, |_| Ok(Value::Integer(i64::try_from(since_epoch()).unwrap_or(0)))),
    ("version", 0, |_| Ok(Value::Text(format!("{} (SQLite)", rusqlite::version())))),
];

/// Makes the functions known to a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    for (list, flags) in [(PURE_FUNCTIONS, PURE), (CHANGING_FUNCTIONS, PLAIN)] {
        for (name, arguments, function) in list {
            connection.create_scalar_function(*name, *arguments, flags, *function)?;
        }
    }
    crate::arrays::register(connection)?;
    crate::regexp::register(connection)?;
    crate::catalog::functions::register(connection)
}

fn text(ctx: &Context<'_>, at: usize, work: impl FnOnce(&str) -> Value) -> Result<Value> {
    Ok(argument(ctx, at)?.map_or(Value::Null, |text| work(&text)))
}

fn float(ctx: &Context<'_>, at: usize) -> Result<Option<f64>> {
    Ok(match ctx.get_raw(at) {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            argument(ctx, at)?.and_then(|text| text.trim().parse().ok())
        }
    })
}

fn number(ctx: &Context<'_>, at: usize, work: impl FnOnce(f64) -> Value) -> Result<Value> {
    if let ValueRef::Integer(number) = ctx.get_raw(at) {
        // Beyond 2^53 a float would lose digits, and a whole number is its own floor; the root is not exact anyway.
        if number.unsigned_abs() > 1 << 53 {
            return Ok(Value::Integer(number));
        }
    }
    Ok(float(ctx, at)?.map_or(Value::Null, work))
}

fn count(count: usize) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// An integer where the number is one that fits.
fn whole(number: f64) -> Value {
    if number.abs() < 9.0e15 { Value::Integer(number as i64) } else { Value::Real(number) }
}

/// A cast to an integer as PostgreSQL does it: rounded, and an error for what is no number.
fn integer(ctx: &Context<'_>) -> Result<Value> {
    let rounded = |number: f64| {
        let near = number.round_ties_even();
        if near.abs() < 9.2e18 {
            return Ok(Value::Integer(near as i64));
        }
        Err(failed(format!("integer out of range: {number}")))
    };
    match ctx.get_raw(0) {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Real(number) => rounded(number),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            let text = argument(ctx, 0)?.unwrap_or_default();
            let number = text.trim().parse().map(Value::Integer);
            number.map_err(|_| failed(format!("invalid input syntax for type integer: \"{text}\"")))
        }
    }
}

/// A cast to a truth value as PostgreSQL does it.
fn boolean(ctx: &Context<'_>) -> Result<Value> {
    match ctx.get_raw(0) {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(i64::from(number != 0))),
        ValueRef::Real(number) => Ok(Value::Integer(i64::from(number != 0.0))),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            let text = argument(ctx, 0)?.unwrap_or_default();
            match text.trim().to_ascii_lowercase().as_str() {
                "t" | "true" | "y" | "yes" | "on" | "1" => Ok(Value::Integer(1)),
                "f" | "false" | "n" | "no" | "off" | "0" => Ok(Value::Integer(0)),
                _ => Err(failed(format!("invalid input syntax for type boolean: \"{text}\""))),
            }
        }
    }
}

/// A part of the first argument's characters: `range` gets their number and the second argument (negative: 0).
fn cut(ctx: &Context<'_>, range: fn(usize, usize) -> (usize, usize)) -> Result<Value> {
    let (Some(text), Some(wanted)) = (argument(ctx, 0)?, float(ctx, 1)?) else {
        return Ok(Value::Null);
    };
    let (from, to) = range(text.chars().count(), wanted.max(0.0) as usize);
    Ok(Value::Text(text.chars().skip(from).take(to - from).collect()))
}

/// Longest text the filling functions make, in characters: SQLite's own limit is of that size too.
const LONGEST: usize = 16 << 20;

fn size(ctx: &Context<'_>, at: usize) -> Result<Option<usize>> {
    let Some(wanted) = float(ctx, at)? else { return Ok(None) };
    let wanted = wanted.max(0.0) as usize;
    if wanted > LONGEST {
        return Err(failed(format!("requested length too large: {wanted}")));
    }
    Ok(Some(wanted))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

fn pad(ctx: &Context<'_>, side: Side) -> Result<Value> {
    let fill = if ctx.len() > 2 { argument(ctx, 2)? } else { Some(" ".to_owned()) };
    let (Some(text), Some(wanted), Some(fill)) = (argument(ctx, 0)?, size(ctx, 1)?, fill) else {
        return Ok(Value::Null);
    };
    let missing = wanted.saturating_sub(text.chars().count());
    let padding = fill.chars().cycle().take(if fill.is_empty() { 0 } else { missing });
    let kept = text.chars().take(wanted);
    Ok(Value::Text(match side {
        Side::Left => padding.chain(kept).collect(),
        Side::Right => kept.chain(padding).collect(),
    }))
}

fn repeat(ctx: &Context<'_>) -> Result<Value> {
    let (Some(text), Some(times)) = (argument(ctx, 0)?, size(ctx, 1)?) else {
        return Ok(Value::Null);
    };
    if text.len().saturating_mul(times) > LONGEST {
        return Err(failed(format!("requested length too large: {times} times {}", text.len())));
    }
    Ok(Value::Text(text.repeat(times)))
}

/// Character position, from 1, of one argument in another; 0 when it is not there.
fn position(ctx: &Context<'_>, within: usize, part: usize) -> Result<Value> {
    let (Some(text), Some(part)) = (argument(ctx, within)?, argument(ctx, part)?) else {
        return Ok(Value::Null);
    };
    let found = text.find(&part).map_or(0, |at| 1 + text[..at].chars().count());
    Ok(count(found))
}

/// The greatest or least argument that is not NULL, texts as bytes, numbers as numbers, numbers before texts.
fn extreme(ctx: &Context<'_>, wanted: std::cmp::Ordering) -> Result<Value> {
    use std::cmp::Ordering;
    let compare = |a: &Value, b: &Value| match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Integer(a), Value::Real(b)) => (*a as f64).total_cmp(b),
        (Value::Real(a), Value::Integer(b)) => a.total_cmp(&(*b as f64)),
        (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        (Value::Null | Value::Integer(_) | Value::Real(_), _) => Ordering::Less,
        (_, Value::Null | Value::Integer(_) | Value::Real(_)) => Ordering::Greater,
        (Value::Text(_), Value::Blob(_)) => Ordering::Less,
        (Value::Blob(_), Value::Text(_)) => Ordering::Greater,
    };
    let mut best = Value::Null;
    for at in 0..ctx.len() {
        let value: Value = ctx.get(at)?;
        if value == Value::Null {
            continue;
        }
        if best == Value::Null || compare(&value, &best) == wanted {
            best = value;
        }
    }
    Ok(best)
}

fn modulo(ctx: &Context<'_>) -> Result<Value> {
    if let (ValueRef::Integer(a), ValueRef::Integer(b)) = (ctx.get_raw(0), ctx.get_raw(1)) {
        return Ok(a.checked_rem(b).map_or(Value::Null, Value::Integer));
    }
    match (float(ctx, 0)?, float(ctx, 1)?) {
        (Some(a), Some(b)) if b != 0.0 => Ok(Value::Real(a % b)),
        _ => Ok(Value::Null),
    }
}

fn power(ctx: &Context<'_>) -> Result<Value> {
    match (float(ctx, 0)?, float(ctx, 1)?) {
        (Some(a), Some(b)) => Ok(Value::Real(a.powf(b))),
        _ => Ok(Value::Null),
    }
}

fn hex(bytes: &[u8]) -> String {
    crate::literal::hex(bytes).to_ascii_lowercase()
}

fn since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

enum Form {
    Full,
    Date,
    Time,
}

/// The present in UTC: the embedded default has no time zone of its own.
fn stamp(form: Form) -> String {
    let now = since_epoch();
    let (year, month, day) = civil(now / 86_400);
    let (hour, minute, second) = (now / 3600 % 24, now / 60 % 60, now % 60);
    let date = || format!("{year:04}-{month:02}-{day:02}");
    let time = || format!("{hour:02}:{minute:02}:{second:02}");
    match form {
        Form::Full => format!("{} {}", date(), time()),
        Form::Date => date(),
        Form::Time => time(),
    }
}

/// The date so many days after 1970-01-01, by the Gregorian calendar. A year is counted from March, so that the leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Seconds since 1970 of `2026-01-31[ 13:45:00]`, read as UTC; NULL for anything else.
fn seconds_of(text: &str) -> Value {
    let field =
        |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<i64>().ok());
    let (Some(year), Some(month), Some(day)) = (field(0, 4), field(5, 7), field(8, 10)) else {
        return Value::Null;
    };
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Value::Null;
    }
    let (hour, minute, second) =
        (field(11, 13).unwrap_or(0), field(14, 16).unwrap_or(0), field(17, 19).unwrap_or(0));
    // The same calendar as above, the other way round.
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Value::Integer((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: Value) {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let value: Value =
            connection.query_row(&format!("SELECT {sql}"), [], |row| row.get(0)).unwrap();
        assert_eq!(value, expected, "{sql}");
    }

    fn words(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn functions_of_other_databases_give_what_they_give_there() {
        check("md5('abc')", words("900150983cd24fb0d6963f7d28e17f72"));
        check("left('héllo', 2)", words("hé"));
        check("right('hello', 9)", words("hello"));
        check("lpad('7', 3, '0')", words("007"));
        check("rpad('hello', 2)", words("he"));
        check("strpos('héllo', 'l')", Value::Integer(3));
        check("locate('x', 'hello')", Value::Integer(0));
        check("greatest(1, 2.5, NULL)", Value::Real(2.5));
        check("least('b', 'a')", words("a"));
        check("mod(7, 3)", Value::Integer(1));
        check("mod(7, 0)", Value::Null);
        check("floor(-1.5)", Value::Integer(-2));
        check("floor(9007199254740993)", Value::Integer(9_007_199_254_740_993));
        check("char_length('héllo')", Value::Integer(5));
        check("unix_timestamp('2026-01-31 13:45:00')", Value::Integer(1_769_867_100));
        check("unix_timestamp('1970-01-01')", Value::Integer(0));
        check("pando_integer(2.5)", Value::Integer(2));
        check("pando_integer(3.5)", Value::Integer(4));
        check("pando_integer(' 12 ')", Value::Integer(12));
        check("pando_boolean('yes')", Value::Integer(1));
        check("concat('a', NULL, 1)", words("a1"));
        check("repeat('ab', 2)", words("abab"));
        check("md5(NULL)", Value::Null);
    }

    #[test]
    fn what_is_no_number_is_an_error_and_so_is_too_much() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        for sql in
            ["pando_integer('x')", "pando_boolean('x')", "repeat('ab', 1e12)", "lpad('a', 1e12)"]
        {
            let read =
                connection.query_row(&format!("SELECT {sql}"), [], |row| row.get::<_, Value>(0));
            assert!(read.is_err(), "{sql}");
        }
    }

    #[test]
    fn now_is_what_sqlite_says_it_is() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let sql = "SELECT abs(unixepoch(now()) - unixepoch()) <= 1 AND abs(unix_timestamp() - unixepoch()) <= 1";
        assert!(connection.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap());
    }

    #[test]
    fn dates_count_by_the_calendar() {
        let check = |days, expected| assert_eq!(civil(days), expected);
        check(0, (1970, 1, 1));
        check(59, (1970, 3, 1));
        check(11_016, (2000, 2, 29));
        check(20_484, (2026, 1, 31));
    }
}
