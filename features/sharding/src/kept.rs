//! What a sharding column keeps of a value, and which rows a constant finds. Servers round, pad, trim, convert, and compare without
//! regard to case: a row must be looked for where its kept value is, however the value is spelt.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known to be safe")]

use pando_kernel::dialect::{Equality, TableColumn};
use pando_kernel::feature::Context;
use pando_kernel::folding::Folding;
use pando_kernel::{Kind, Value};
use pando_sql::Fold;

use crate::labels::Labels;
use crate::moment;
use crate::text_keys::TextKeys;
use crate::value;
use crate::zone::{self, Zone};
use pando_inline::number::Number;

/// Doubles tell whole numbers apart up to here.
const EXACT: i128 = 1 << 53;

/// Why a text has no place.
const UNKNOWN: &str = "has characters that are not known to be compared as the column's collation does; an algorithm with `text-keys: bytes` takes it as it is written";

/// Why a moment has no place.
const WITHOUT_ZONE: &str = "is not written as a moment with its offset (`2024-12-31 23:59:59+00`), and the session's time zone is not known to be UTC; an algorithm with `text-keys: bytes` takes it as it is written";

/// Why a moment has no place that is written by another zone than that by which the others are.
const IN_ANOTHER_ZONE: &str = "is written in a `time_zone` of the session's own, and rows are placed by the storage units' own: SET time_zone = DEFAULT, or to an offset ('+02:00') where theirs is one, or an algorithm with `text-keys: bytes`, which takes it as it is written, helps";

/// The rows that a comparison with a constant finds.
#[derive(Debug, PartialEq)]
pub(crate) enum Finds {
    /// None at all.
    Nothing,
    /// Those that keep this value.
    Value(Value),
    /// It cannot be told.
    Anything,
}

/// Columns whose equal values are the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The column is not known.
    Unknown,
    /// Exact numbers.
    Number,
    /// Texts that are equal octet by octet, up to spaces at the end.
    Text,
    /// Texts that are equal where they fold alike.
    Folded(Folding),
    /// Values of this kind.
    Other(Kind),
}

/// How one column keeps its values.
pub(crate) struct Keeper<'a> {
    column: Option<&'a TableColumn>,
    equality: Equality,
    /// The language compares a text with a number as two numbers, and reads what it can of a text.
    loose: bool,
    /// Values are seen as they are written, whatever equals them.
    as_written: bool,
    /// A column of labels.
    labels: Option<Labels>,
    /// By which zone the session writes moments; not looked for where the column has none.
    zone: Zone,
}

impl<'a> Keeper<'a> {
    /// Of a column; of any column when it is not known.
    pub(crate) fn new(
        ctx: &Context<'_>,
        column: Option<&'a TableColumn>,
        text_keys: TextKeys,
    ) -> Self {
        let dialect = ctx.dialect;
        let equality = column.map_or(Equality::Exact, |column| dialect.equality(column));
        let equality = match (equality, text_keys) {
            (Equality::Folded(_), TextKeys::Bytes) => Equality::Loose,
            (equality, TextKeys::Bytes | TextKeys::Collation) => equality,
        };
        let loose = dialect.syntax().fold == Fold::Keep;
        let as_written = text_keys == TextKeys::Bytes;
        let own = column.filter(|_| !as_written);
        let labels = own.filter(|column| loose && column.kind == Kind::Other).and_then(|column| {
            let as_text = || TableColumn { kind: Kind::Text, ..column.clone() };
            Labels::of(&column.type_name, || dialect.equality(&as_text()))
        });
        let is_zoned = |column: &TableColumn| {
            column.kind == Kind::TimestampTz || loose && names_moment(column)
        };
        let is_zoned = own.is_some_and(is_zoned);
        let zone = if is_zoned { Zone::of(&ctx.session.variables) } else { Zone::Theirs };
        Self { column, equality, loose, as_written, labels, zone }
    }

    /// Digits of a second that a column keeps.
    fn precision(&self, column: &TableColumn) -> usize {
        length(&column.type_name).unwrap_or(if self.loose { 0 } else { 6 })
    }

    /// Columns of one class that are equal have the same value, so that both rows live on one shard; `None` where equal values may differ.
    pub(crate) fn class(&self) -> Option<Class> {
        let Some(column) = self.column else { return Some(Class::Unknown) };
        match column.kind {
            _ if self.equality == Equality::Loose => None,
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal => Some(Class::Number),
            Kind::Text => Some(match self.equality {
                Equality::Folded(folding) => Class::Folded(folding),
                Equality::Exact | Equality::Padded | Equality::Loose => Class::Text,
            }),
            Kind::Timestamp if self.is_zoned(column) => None,
            Kind::Bytes | Kind::Date | Kind::Time | Kind::Timestamp => {
                Some(Class::Other(column.kind))
            }
            Kind::Other if is_uuid(column) => Some(Class::Other(column.kind)),
            Kind::Float | Kind::TimestampTz | Kind::Other => None,
        }
    }

    /// The rows whose value equals a constant, which is not NULL.
    pub(crate) fn equal(&self, value: Value) -> Finds {
        let Some(column) = self.column else { return Finds::Value(value) };
        match column.kind {
            Kind::Int | Kind::UInt => self.equal_whole(column, value),
            Kind::Decimal | Kind::Float => self.equal_number(value),
            Kind::Bool => match value {
                Value::Bool(_) => Finds::Value(value),
                _ => Finds::Anything,
            },
            Kind::Text => match (self.equality, value) {
                (Equality::Exact, Value::Text(text)) => Finds::Value(Value::Text(text)),
                (Equality::Padded, Value::Text(text)) => Finds::Value(trimmed(&text)),
                (Equality::Folded(folding), Value::Text(text)) => {
                    found(folding.folded(&text).map(Value::Text))
                }
                _ => Finds::Anything,
            },
            Kind::Bytes => match value {
                Value::Bytes(_) => Finds::Value(value),
                Value::Text(_) if self.loose => Finds::Value(value),
                _ => Finds::Anything,
            },
            Kind::Date => found(moment::date(&value)),
            Kind::Time => found(moment::time(&value)),
            Kind::Timestamp if self.is_zoned(column) => Finds::Anything,
            Kind::Timestamp => found(moment::timestamp(&value)),
            Kind::Other if is_uuid(column) => found(uuid(&value)),
            Kind::Other => found(self.labels.as_ref().and_then(|labels| labels.equal(&value))),
            Kind::TimestampTz => Finds::Anything,
        }
    }

    fn equal_whole(&self, column: &TableColumn, value: Value) -> Finds {
        let plain = match &value {
            Value::Int(_) | Value::UInt(_) | Value::Bool(_) => true,
            Value::Text(text) => is_plain_integer(text),
            Value::Null | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_) => false,
        };
        if column.type_name.starts_with("year") {
            return match value::whole(&value) {
                Some(Number::Small(1901..=2155)) => Finds::Value(value),
                _ => Finds::Anything,
            };
        }
        match value::number(&value) {
            _ if matches!(value, Value::Bytes(_)) => Finds::Anything,
            Some(Number::Small(n)) if plain || n.abs() < EXACT => Finds::Value(value),
            // No whole number equals it, unless it is a text, which may be read as a number in part only.
            Some(Number::Fraction(_)) if !matches!(value, Value::Text(_)) => Finds::Nothing,
            _ => Finds::Anything,
        }
    }

    fn equal_number(&self, value: Value) -> Finds {
        let small = |number: Option<Number>| match number {
            Some(Number::Small(n)) => n.abs() < EXACT,
            Some(Number::Big(_) | Number::Fraction(_)) | None => false,
        };
        let is_decimal = self.column.is_some_and(|column| column.kind == Kind::Decimal);
        match &value {
            Value::Decimal(_) | Value::Int(_) | Value::UInt(_) if is_decimal => Finds::Value(value),
            Value::Bytes(_) => Finds::Anything,
            _ if small(value::number(&value)) => Finds::Value(value),
            _ => Finds::Anything,
        }
    }

    /// A bound of a range in the column's own order; `None` when the constant is compared in another order.
    pub(crate) fn bound(&self, value: Value) -> Option<Value> {
        let Some(column) = self.column else { return Some(value) };
        match column.kind {
            Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                let is_number =
                    !matches!(value, Value::Bytes(_)) && value::number(&value).is_some();
                is_number.then_some(value)
            }
            Kind::Date | Kind::Timestamp if !self.is_zoned(column) => {
                let sure = moment::date(&value).or_else(|| moment::timestamp(&value));
                sure.is_some().then_some(value)
            }
            Kind::Bool
            | Kind::Text
            | Kind::Bytes
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::TimestampTz
            | Kind::Other => None,
        }
    }

    /// The value a row keeps, which is not NULL.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub(crate) fn stored(&self, value: Value) -> Result<Value, &'static str> {
        let Some(column) = self.column else { return Ok(value) };
        match column.kind {
            Kind::Int | Kind::UInt => self.stored_whole(column, value),
            Kind::Decimal => stored_decimal(column, value),
            Kind::Float => stored_float(column, &value),
            Kind::Bool => stored_bool(value),
            Kind::Text => self.stored_text(column, value),
            Kind::Bytes => self.stored_bytes(column, value),
            Kind::Date => moment::date(&value).ok_or("is not written as `2024-12-31`"),
            Kind::Time => moment::time(&value).ok_or("is not written as `23:59:59`"),
            Kind::Timestamp | Kind::TimestampTz if self.as_written && self.is_zoned(column) => {
                Ok(value)
            }
            Kind::TimestampTz => zone::moment(&value, self.zone).ok_or(WITHOUT_ZONE),
            Kind::Timestamp if self.is_zoned(column) && self.zone != Zone::Theirs => {
                match (self.zone, column.zone) {
                    (Zone::Fixed(own), Some(theirs)) => {
                        self.fitting(column, zone::moved(&value, own, theirs))
                    }
                    (Zone::Fixed(_) | Zone::Named | Zone::Theirs, _) => Err(IN_ANOTHER_ZONE),
                }
            }
            Kind::Timestamp => self.fitting(column, moment::timestamp(&value)),
            Kind::Other if is_uuid(column) => uuid(&value).ok_or("is not written as a UUID is"),
            Kind::Other => match &self.labels {
                Some(labels) => labels.stored(&value),
                None => Ok(value),
            },
        }
    }

    /// A moment whose digits the column keeps.
    fn fitting(&self, column: &TableColumn, moment: Option<Value>) -> Result<Value, &'static str> {
        moment.filter(|kept| moment::places(kept) <= self.precision(column)).ok_or(
            "is not written as `2024-12-31 23:59:59`, with no more digits than the column keeps",
        )
    }

    fn stored_whole(&self, column: &TableColumn, value: Value) -> Result<Value, &'static str> {
        let number = match (&value, value::whole(&value)) {
            (Value::Bytes(_), _) | (_, None) => return Err("is not a whole number"),
            (_, Some(Number::Big(_) | Number::Fraction(_))) => return Err("is out of range"),
            (_, Some(Number::Small(number))) => number,
        };
        // Elsewhere a number that does not fit is an error of the server; here it may be cut to the nearest that does.
        match whole_range(&column.type_name).filter(|_| self.loose) {
            Some((low, high)) if !(low..=high).contains(&number) => Err("is out of range"),
            _ => Ok(value),
        }
    }

    fn stored_text(&self, column: &TableColumn, value: Value) -> Result<Value, &'static str> {
        let text = match value {
            Value::Text(text) => text,
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Bool(flag) if self.loose => i32::from(flag).to_string(),
            Value::Bytes(bytes) if bytes.is_ascii() => String::from_utf8_lossy(&bytes).into_owned(),
            Value::Null
            | Value::Bool(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => {
                return Err("is not written as a text");
            }
        };
        if length(&column.type_name).is_some_and(|most| text.chars().count() > most) {
            return Err("is longer than the column");
        }
        match self.equality {
            Equality::Exact | Equality::Loose => Ok(Value::Text(text)),
            Equality::Padded => Ok(trimmed(&text)),
            Equality::Folded(folding) => folding.folded(&text).map(Value::Text).ok_or(UNKNOWN),
        }
    }

    fn stored_bytes(&self, column: &TableColumn, value: Value) -> Result<Value, &'static str> {
        let value = match value {
            Value::Text(text) if !self.loose => {
                Value::Bytes(octets(&text).ok_or("is not written as octets")?.into())
            }
            value => value,
        };
        let size = match &value {
            Value::Bytes(bytes) => bytes.len(),
            Value::Text(text) => text.len(),
            _ => return Err("is not written as octets"),
        };
        match length(&column.type_name) {
            Some(most) if size > most => Err("is longer than the column"),
            Some(most) if column.type_name.starts_with("binary") && size < most => {
                Err("is shorter than the column, which fills it up")
            }
            _ => Ok(value),
        }
    }

    /// A moment that each session reads by its own time zone.
    fn is_zoned(&self, column: &TableColumn) -> bool {
        column.kind == Kind::TimestampTz || self.loose && names_moment(column)
    }
}

/// MySQL's type of moments that each session reads by its own time zone.
fn names_moment(column: &TableColumn) -> bool {
    column.type_name.starts_with("timestamp")
}

fn found(value: Option<Value>) -> Finds {
    value.map_or(Finds::Anything, Finds::Value)
}

fn trimmed(text: &str) -> Value {
    Value::Text(text.trim_end_matches(' ').to_owned())
}

/// Digits, perhaps after a sign: what every server reads as the whole number itself.
fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    (1..=18).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The range of an integer type.
fn whole_range(name: &str) -> Option<(i128, i128)> {
    let bits = [
        ("tinyint", 8),
        ("smallint", 16),
        ("mediumint", 24),
        ("bigint", 64),
        ("year", 0),
        ("int", 32),
    ];
    let bits = bits.iter().find(|(prefix, _)| name.starts_with(prefix))?.1;
    Some(match bits {
        0 => (1901, 2155),
        bits if name.contains("unsigned") => (0, (1 << bits) - 1),
        bits => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    })
}

/// The octets that a text stands for: two hexadecimal digits for each behind `\x`, else characters, of which a
/// backslash escapes itself and three octal digits.
/// <https://www.postgresql.org/docs/current/datatype-binary.html>
fn octets(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs: Vec<char> = digits.chars().collect();
        return pairs
            .chunks(2)
            .map(|pair| {
                if let [high, low] = pair { Some(digit(*high)? << 4 | digit(*low)?) } else { None }
            })
            .collect();
    }
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = match (first, behind) {
            (b'\\', [b'\\', behind @ ..]) => {
                found.push(b'\\');
                behind
            }
            (b'\\', [high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', behind @ ..]) => {
                found.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
                behind
            }
            (b'\\', _) => return None,
            // What else a character is depends on the server's encoding.
            (plain, behind) if plain.is_ascii() => {
                found.push(*plain);
                behind
            }
            _ => return None,
        };
    }
    Some(found)
}

fn stored_decimal(column: &TableColumn, value: Value) -> Result<Value, &'static str> {
    let places = match value::number(&value) {
        _ if matches!(value, Value::Bytes(_)) => return Err("is not a number"),
        None => return Err("is not a number"),
        Some(Number::Small(_) | Number::Big(_)) => 0,
        Some(Number::Fraction(number)) => number.fractional_digit_count(),
    };
    // `decimal` alone keeps none at MySQL, `numeric` alone keeps all at PostgreSQL.
    let most = match arguments(&column.type_name).as_deref() {
        Some([_, scale]) => i64::try_from(*scale).unwrap_or(i64::MAX),
        Some(_) => 0,
        None => i64::MAX,
    };
    if places <= most { Ok(value) } else { Err("has more digits than the column keeps") }
}

/// A float keeps the nearest number it has, which may be a whole one.
#[expect(clippy::cast_possible_truncation, reason = "as the column does")]
fn stored_float(column: &TableColumn, value: &Value) -> Result<Value, &'static str> {
    let number = value::number(value).and_then(|_| value::text(value).trim().parse::<f64>().ok());
    let Some(number) = number.filter(|_| !matches!(value, Value::Bytes(_))) else {
        return Err("is not a number");
    };
    let single = column.type_name.starts_with("float") || column.type_name.starts_with("real");
    match arguments(&column.type_name) {
        Some(_) if number.fract() != 0.0 => Err("may be rounded"),
        _ if single => Ok(Value::Float(f64::from(number as f32))),
        _ => Ok(Value::Float(number)),
    }
}

fn stored_bool(value: Value) -> Result<Value, &'static str> {
    match value {
        Value::Bool(_) => Ok(value),
        Value::Text(text) => match text.as_str() {
            "t" | "true" => Ok(Value::Bool(true)),
            "f" | "false" => Ok(Value::Bool(false)),
            _ => Err("is neither `true` nor `false`"),
        },
        Value::Null
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Bytes(_) => Err("is neither `true` nor `false`"),
    }
}

fn is_uuid(column: &TableColumn) -> bool {
    column.type_name == "uuid"
}

/// The one form of a UUID.
fn uuid(value: &Value) -> Option<Value> {
    let Value::Text(text) = value else { return None };
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, byte): (usize, u8)| {
        if is_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() }
    };
    let whole = text.len() == 36 && text.bytes().enumerate().all(fits);
    whole.then(|| Value::Text(text.to_ascii_lowercase()))
}

/// The numbers in the parentheses of a type.
fn arguments(type_name: &str) -> Option<Vec<u64>> {
    let (_, rest) = type_name.split_once('(')?;
    let (inner, _) = rest.split_once(')')?;
    inner.split(',').map(|part| part.trim().parse().ok()).collect()
}

/// The length of a type like `varchar(20)`.
fn length(type_name: &str) -> Option<usize> {
    arguments(type_name).and_then(|list| usize::try_from(*list.first()?).ok())
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
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: false,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// Letters without regard to their case, and no others.
    #[derive(Debug)]
    struct Lower;

    impl pando_kernel::folding::Folds for Lower {
        fn name(&self) -> &'static str {
            "lower"
        }

        fn folded(&self, text: &str) -> Option<String> {
            text.is_ascii().then(|| text.to_ascii_lowercase())
        }

        fn respelt(&self, column: &str) -> String {
            column.to_owned()
        }
    }

    fn keeper(column: &TableColumn, equality: Equality, loose: bool) -> Keeper<'_> {
        let (labels, zone) = (None, Zone::Theirs);
        Keeper { column: Some(column), equality, loose, as_written: false, labels, zone }
    }

    fn decimal(text: &str) -> Value {
        Value::Decimal(text.parse().expect(text))
    }

    #[test]
    fn whole_numbers_are_found_as_the_server_reads_them() {
        let int = column(Kind::Int, "int(11)");
        let int = keeper(&int, Equality::Exact, true);
        for value in [Value::Int(5), text("5"), text("-5"), decimal("5.0"), Value::Bool(true)] {
            assert_eq!(int.equal(value.clone()), Finds::Value(value));
        }
        assert_eq!(int.equal(decimal("5.5")), Finds::Nothing);
        for value in [
            text("5abc"),
            text("abc"),
            text("5.5"),
            Value::Bytes(b"5".as_slice().into()),
            decimal("1e17"),
        ] {
            assert_eq!(int.equal(value.clone()), Finds::Anything, "{value:?}");
        }
    }

    #[test]
    fn whole_numbers_are_kept_or_refused() {
        let tiny = column(Kind::Int, "tinyint(4)");
        let tiny = keeper(&tiny, Equality::Exact, true);
        assert_eq!(tiny.stored(text("127")), Ok(text("127")));
        for value in [
            decimal("5.7"),
            text("5.7"),
            text("5x"),
            Value::Int(128),
            Value::Bytes(b"5".as_slice().into()),
        ] {
            assert!(tiny.stored(value.clone()).is_err(), "{value:?}");
        }
        let big = column(Kind::UInt, "bigint(20) unsigned");
        let big = keeper(&big, Equality::Exact, true);
        assert!(big.stored(Value::UInt(u64::MAX)).is_ok() && big.stored(Value::Int(-1)).is_err());
    }

    #[test]
    fn texts_are_found_as_their_collation_compares() {
        let varchar = column(Kind::Text, "varchar(4)");
        let folded = Equality::Folded(Folding { by: &Lower, padded: true });
        let folded = keeper(&varchar, folded, true);
        assert_eq!(folded.equal(text("A1 ")), Finds::Value(text("a1")));
        assert_eq!(folded.stored(text("A1 ")), Ok(text("a1")));
        assert_eq!(
            (folded.equal(text("é")), folded.stored(text("é"))),
            (Finds::Anything, Err(UNKNOWN))
        );
        assert_eq!(folded.class(), Some(Class::Folded(Folding { by: &Lower, padded: true })));
        let exact = keeper(&varchar, Equality::Exact, false);
        let padded = keeper(&varchar, Equality::Padded, true);
        let loose = keeper(&varchar, Equality::Loose, true);
        assert_eq!(exact.equal(text("a ")), Finds::Value(text("a ")));
        assert_eq!(padded.equal(text("a ")), Finds::Value(text("a")));
        assert_eq!(padded.stored(text("a ")), Ok(text("a")));
        assert_eq!(loose.equal(text("a")), Finds::Anything);
        assert_eq!(padded.equal(Value::Int(5)), Finds::Anything);
        assert_eq!(padded.stored(Value::Int(5)), Ok(text("5")));
        assert!(padded.stored(text("abcde")).is_err() && padded.stored(decimal("1.5")).is_err());
        assert_eq!(
            (exact.class(), padded.class(), loose.class()),
            (Some(Class::Text), Some(Class::Text), None)
        );
    }

    #[test]
    fn decimals_and_floats_are_kept_as_the_column_rounds() {
        let price = column(Kind::Decimal, "decimal(10,2)");
        let price = keeper(&price, Equality::Exact, true);
        assert!(price.stored(decimal("1.50")).is_ok() && price.stored(decimal("1.505")).is_err());
        let single = column(Kind::Float, "float");
        let single = keeper(&single, Equality::Exact, true);
        assert_eq!(single.stored(decimal("9.99999999999")), Ok(Value::Float(10.0)));
        assert_eq!(single.equal(decimal("0.1")), Finds::Anything);
    }

    #[test]
    fn dates_have_one_form() {
        let date = column(Kind::Date, "date");
        let date = keeper(&date, Equality::Exact, true);
        assert_eq!(date.equal(text("2024-02-03")), Finds::Value(text("2024-02-03")));
        for value in [text("2024-2-3"), text("20240203"), Value::Int(20_240_203)] {
            assert_eq!(date.equal(value.clone()), Finds::Anything);
            assert!(date.stored(value).is_err());
        }
        let zoned = column(Kind::Timestamp, "timestamp");
        let zoned = keeper(&zoned, Equality::Exact, true);
        assert_eq!(zoned.equal(text("2024-02-03 00:00:00")), Finds::Anything);
        let local = column(Kind::Timestamp, "datetime");
        let local = keeper(&local, Equality::Exact, true);
        assert_eq!(local.stored(text("2024-02-03T01:02:03.0")), Ok(text("2024-02-03 01:02:03")));
        assert!(local.stored(text("2024-02-03 01:02:03.5")).is_err());
    }

    #[test]
    fn uuids_have_one_form() {
        let id = column(Kind::Other, "uuid");
        let id = keeper(&id, Equality::Exact, false);
        let upper = text("0188F1A0-0000-7000-8000-00000000ABCD");
        let lower = text("0188f1a0-0000-7000-8000-00000000abcd");
        assert_eq!(id.equal(upper.clone()), Finds::Value(lower.clone()));
        assert_eq!(id.stored(upper), Ok(lower));
        assert!(id.stored(text("0188f1a0000070008000-00000000abcd")).is_err());
    }

    #[test]
    fn octets_are_written_in_two_forms() {
        let check = |text: &str, expected: Option<&[u8]>| {
            assert_eq!(octets(text).as_deref(), expected, "{text}");
        };
        check("\\x01aB", Some(&[0x01, 0xab]));
        check("\\x", Some(&[]));
        check("\\x012", None);
        check("\\x0g", None);
        check("plain", Some(b"plain"));
        check("a\\\\b\\001\\377", Some(b"a\\b\x01\xff"));
        check("\\400", None);
        check("\\n", None);
        check("\u{e9}", None);
    }
}
