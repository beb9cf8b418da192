//! Constants that a column of which the values are told is compared with. One that servers read in ways of their own is
//! none.

#![expect(clippy::wildcard_enum_match_arm, reason = "filters over syntax nodes and values")]

use pando_kernel::feature::Context;
use pando_kernel::table::TableColumn;
use pando_kernel::value::{Kind, Value};
use pando_sql::Fold;
use pando_sql::ast::{Expr, Literal, Node};

use crate::plan::merge_plan::resolve::unwrapped;

/// Digits of a number that servers may read as a floating point number, and that is exact all the same.
const EXACT_DIGITS: usize = 15;

/// The value that an expression is, as the column's type reads it; NULL for a parameter whose value is not known yet.
/// `None` where it is no constant, or where how it compares is the server's own.
pub(super) fn constant(ctx: &Context<'_>, column: &TableColumn, expr: &Expr) -> Option<Value> {
    let expr = unwrapped(expr);
    let value = match &expr.node {
        Node::Parameter(at) => ctx.parameter(*at).cloned().unwrap_or(Value::Null),
        Node::Literal(Literal::Typed(word, text)) => {
            let kind = match word.to_ascii_lowercase().as_str() {
                "date" => Kind::Date,
                "timestamp" => Kind::Timestamp,
                _ => return None,
            };
            (kind == column.kind).then(|| Value::Text(text.clone()))?
        }
        _ => Value::of_constant(expr)?,
    };
    fitting(column, value, ctx.dialect.syntax().fold)
}

fn fitting(column: &TableColumn, value: Value, fold: Fold) -> Option<Value> {
    let Value::Text(text) = &value else {
        let fits = matches!(
            (&value, column.kind),
            (Value::Null, _)
                | (Value::Bool(_), Kind::Bool)
                | (
                    Value::Int(_) | Value::UInt(_) | Value::Decimal(_),
                    Kind::Int | Kind::UInt | Kind::Decimal,
                )
        );
        return fits.then_some(value);
    };
    match column.kind {
        Kind::Text => Some(value),
        Kind::Int | Kind::Decimal if fold == Fold::Lower => number(text, column.kind),
        Kind::Date => is_day(text).then_some(value),
        Kind::Timestamp => is_moment(text).then_some(value),
        Kind::Time => is_clock(text).then_some(value),
        Kind::Other if column.type_name == "uuid" => is_uuid(text).then_some(value),
        Kind::Bool
        | Kind::Int
        | Kind::UInt
        | Kind::Decimal
        | Kind::Float
        | Kind::Bytes
        | Kind::TimestampTz
        | Kind::Other => None,
    }
}

/// A number as PostgreSQL reads a text for a column of numbers.
fn number(text: &str, kind: Kind) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_one = !whole.is_empty()
        && whole.len() + fraction.len() <= EXACT_DIGITS
        && are_digits(whole)
        && are_digits(fraction);
    match kind {
        Kind::Int if is_one && !digits.contains('.') => text.parse().ok().map(Value::Int),
        Kind::Decimal if is_one && !digits.ends_with('.') => Value::decimal(text),
        _ => None,
    }
}

/// `2026-01-31`, a day of the calendar.
fn is_day(text: &str) -> bool {
    let Some((year, month, day)) = parts(text, '-', [4, 2, 2]) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

/// `13:45:00`, with up to six digits behind a point.
fn is_clock(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let is_fraction = |text: &str| {
        (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_clock = parts(clock, ':', [2, 2, 2])
        .is_some_and(|(hours, minutes, seconds)| hours < 24 && minutes < 60 && seconds < 60);
    is_clock && fraction.is_none_or(is_fraction)
}

/// A day, and a time of it behind a space or a `T`.
fn is_moment(text: &str) -> bool {
    match text.split_once([' ', 'T']) {
        Some((day, clock)) => is_day(day) && is_clock(clock),
        None => is_day(text),
    }
}

/// Three numbers of so many digits.
fn parts(text: &str, by: char, widths: [usize; 3]) -> Option<(u32, u32, u32)> {
    let mut found = [0u32; 3];
    let mut pieces = text.split(by);
    for (number, width) in found.iter_mut().zip(widths) {
        let piece = pieces.next()?;
        let is_number = piece.len() == width && piece.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| piece.parse().ok())??;
    }
    pieces.next().is_none().then_some((found[0], found[1], found[2]))
}

/// A UUID as servers write it.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: Kind, type_name: &str) -> TableColumn {
        TableColumn {
            name: "c".into(),
            kind,
            type_name: type_name.into(),
            collation: String::new(),
            collate: String::new(),
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
            zone: None,
        }
    }

    #[test]
    fn only_what_all_servers_read_alike_is_a_constant() {
        let text = |text: &str| Value::Text(text.into());
        for (kind, name, value, expected) in [
            (Kind::Text, "text", text("a"), true),
            (Kind::Text, "text", Value::Int(1), false),
            (Kind::Int, "integer", Value::Int(1), true),
            (Kind::Int, "integer", Value::decimal("1.5").unwrap(), true),
            (Kind::Int, "integer", Value::Float(1.5), false),
            (Kind::Int, "integer", Value::Null, true),
            (Kind::Int, "integer", text("-12"), true),
            (Kind::Int, "integer", text("1.5"), false),
            (Kind::Int, "integer", text(" 1"), false),
            (Kind::Decimal, "numeric(10,2)", text("1.50"), true),
            (Kind::Decimal, "numeric(10,2)", text("1e2"), false),
            (Kind::Decimal, "numeric(18,4)", text("1234567890123456"), false),
            (Kind::Bool, "boolean", Value::Bool(true), true),
            (Kind::Bool, "boolean", text("yes"), false),
            (Kind::Date, "date", text("2024-02-29"), true),
            (Kind::Date, "date", text("2023-02-29"), false),
            (Kind::Date, "date", text("2024-2-29"), false),
            (Kind::Date, "date", text("2024-02-29 00:00:00"), false),
            (Kind::Timestamp, "timestamp", text("2024-02-29"), true),
            (Kind::Timestamp, "timestamp", text("2024-02-29T10:00:00.123"), true),
            (Kind::Timestamp, "timestamp", text("2024-02-29 24:00:00"), false),
            (Kind::Timestamp, "timestamp", text("2024-02-29 10:00"), false),
            (Kind::Time, "time", text("10:00:00.5"), true),
            (Kind::Time, "time", text("10:00"), false),
            (Kind::Other, "uuid", text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), true),
            (Kind::Other, "uuid", text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), false),
            (Kind::Other, "jsonb", text("{}"), false),
        ] {
            let found = fitting(&column(kind, name), value.clone(), Fold::Lower).is_some();
            assert_eq!(found, expected, "{name} {value:?}");
        }
        let of_mysql = |kind, value| fitting(&column(kind, "int"), value, Fold::Keep);
        assert_eq!(of_mysql(Kind::Int, text("3")), None, "read as a floating point number there");
    }
}
