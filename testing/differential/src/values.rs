//! Constants: how a server writes them, and how they travel as parameters.

use crate::chance::Chance;
use crate::schema::{Class, Kind, Server};
use crate::wire::Parameter;

/// A constant that may be written out or given as a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Constant {
    /// As it stands in a text.
    pub(crate) literal: String,
    /// `None` where it can only be written out.
    pub(crate) parameter: Option<Parameter>,
}

impl Constant {
    pub(crate) fn null() -> Self {
        Self { literal: "null".to_owned(), parameter: Some(Parameter::Null) }
    }

    pub(crate) fn whole(number: i64) -> Self {
        Self { literal: number.to_string(), parameter: Some(Parameter::Whole(number)) }
    }

    fn quoted(text: &str) -> Self {
        let literal = format!("'{}'", text.replace('\'', "''"));
        Self { literal, parameter: Some(Parameter::Text(text.to_owned())) }
    }
}

/// Texts that differ only by case, accent or trailing spaces are the point of them.
const TEXTS: [&str; 22] = [
    "a", "A", "b", "B", "ab", "a b", "a ", "", "é", "e", "E", "z", "Zebra", "zebra", "über",
    "日本", "x_y", "50%", "it's", "🦀", "10", "9",
];
/// What tells rows apart the same way under every collation: keys are made of these.
const PLAIN: [&str; 12] =
    ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "k-1", "k-10", "k-2", "日本"];
const JSON: [&str; 8] = [
    r#"{"a": 1, "b": "x"}"#,
    r#"{"a": 2}"#,
    r#"{"a": [1, 2, 3]}"#,
    "[]",
    "[1, 2]",
    r#""text""#,
    "17",
    r#"{"b": null, "é": {"c": true}}"#,
];

/// A value for a column, never NULL.
pub(crate) fn value(chance: &mut Chance, server: Server, kind: Kind) -> Constant {
    match kind {
        Kind::Small => Constant::whole(small(chance)),
        Kind::Int => Constant::whole(if chance.percent(5) { 70_000 } else { small(chance) }),
        Kind::Big => {
            let large = [5_000_000_000, -5_000_000_000, 9_007_199_254_740_993];
            Constant::whole(if chance.percent(8) { *chance.one(&large) } else { small(chance) })
        }
        Kind::Decimal(_, scale) => exact(chance, usize::from(scale)),
        Kind::Numeric => {
            let scale = chance.between(0, 5);
            exact(chance, scale)
        }
        Kind::Real | Kind::Double => float(chance),
        Kind::Plain => Constant::quoted(chance.pick(&PLAIN)),
        Kind::Char(_) => Constant::quoted(chance.pick(&TEXTS).trim_end()),
        Kind::Text if chance.percent(2) => Constant::quoted(&"wide ".repeat(60)),
        Kind::Text | Kind::VarChar(_) => Constant::quoted(chance.pick(&TEXTS)),
        Kind::Date => Constant::quoted(&date(chance)),
        Kind::Stamp => {
            let clock = *chance.one(&["00:00:00", "10:30:00", "23:59:59.5", "12:00:00.125"]);
            Constant::quoted(&format!("{} {clock}", date(chance)))
        }
        Kind::Bool => boolean(server, chance.percent(50)),
        Kind::Json => Constant::quoted(chance.pick(&JSON)),
        Kind::Ints => Constant::quoted(chance.pick(&["{}", "{1,2,3}", "{3,NULL}", "{7}", "{1,2}"])),
        Kind::Texts => {
            Constant::quoted(chance.pick(&["{}", "{a,b}", "{\"a b\",NULL}", "{é}", "{A}"]))
        }
        Kind::Bytes => {
            let hex = *chance.one(&["00ff", "", "61", "6162", "c3a9", "e9", "4100"]);
            let literal =
                if server.is_postgres() { format!("'\\x{hex}'") } else { format!("x'{hex}'") };
            Constant { literal, parameter: None }
        }
        Kind::Uuid => Constant::quoted(chance.pick(&[
            "11111111-1111-1111-1111-111111111111",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ffffffff-0000-0000-0000-000000000000",
        ])),
        Kind::Mood => Constant::quoted(chance.pick(&["sad", "ok", "glad"])),
    }
}

/// Something to compare a value of this class with.
pub(crate) fn to_compare(chance: &mut Chance, server: Server, class: Class) -> Constant {
    if chance.percent(4) {
        return Constant::null();
    }
    let kind = match class {
        Class::Whole => Kind::Int,
        Class::Exact => Kind::Decimal(10, 2),
        Class::Float => Kind::Double,
        Class::Text if chance.percent(40) => Kind::Plain,
        Class::Text => Kind::VarChar(30),
        Class::Date => Kind::Date,
        Class::Stamp => Kind::Stamp,
        Class::Bool => Kind::Bool,
        Class::Json => Kind::Json,
        Class::Ints => Kind::Ints,
        Class::Texts => Kind::Texts,
        Class::Bytes => Kind::Bytes,
        Class::Uuid => Kind::Uuid,
        Class::Mood => Kind::Mood,
    };
    value(chance, server, kind)
}

fn boolean(server: Server, holds: bool) -> Constant {
    let parameter = if server.is_postgres() {
        Parameter::Text(if holds { "t" } else { "f" }.to_owned())
    } else {
        Parameter::Whole(i64::from(holds))
    };
    Constant { literal: holds.to_string(), parameter: Some(parameter) }
}

/// Few different ones near 0, so that they meet.
fn small(chance: &mut Chance) -> i64 {
    let near = i64::try_from(chance.below(14)).unwrap_or(0) - 2;
    if chance.percent(10) { *chance.one(&[100, -100, 1000, 33]) } else { near }
}

fn exact(chance: &mut Chance, scale: usize) -> Constant {
    let digits = *chance.one(&["0", "5", "25", "50", "1", "9999", "0001", "75"]);
    let whole = small(chance);
    let fraction = &digits[..digits.len().min(scale)];
    let text = if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") };
    Constant { literal: text.clone(), parameter: Some(Parameter::Text(text)) }
}

/// Never -0, which is one value and two texts.
fn float(chance: &mut Chance) -> Constant {
    let number = *chance.one(&[0.0, 1.5, -2.25, 0.1, 1e10, 3.0, -7.5, 0.001, 123.456, 1e-5]);
    Constant { literal: format!("{number:?}"), parameter: Some(Parameter::Float(number)) }
}

fn date(chance: &mut Chance) -> String {
    let dates =
        ["2020-01-01", "2020-01-02", "2020-02-29", "1999-12-31", "2021-06-15", "2024-12-25"];
    (*chance.one(&dates)).to_owned()
}
