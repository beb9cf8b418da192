//! The methods and functions people call in inline expressions: what they are called, and what they take.

use std::ops::RangeInclusive;

/// A method of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    ToInteger,
    ToLong,
    ToBigInteger,
    ToDecimal,
    ToText,
    HashCode,
    Abs,
    IntDiv,
    Remainder,
    Plus,
    Minus,
    Multiply,
    Power,
    Equals,
    OfText(TextMethod),
    OfItems(ItemsMethod),
}

/// A method only texts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextMethod {
    Substring,
    CharAt,
    IndexOf,
    LastIndexOf,
    ToLower,
    ToUpper,
    Trim,
    PadLeft,
    PadRight,
    StartsWith,
    EndsWith,
    Replace,
    Split,
}

/// A method of what has items: lists, and texts with their characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemsMethod {
    Length,
    IsEmpty,
    First,
    Last,
    Contains,
    Join,
    Reverse,
}

/// Names, arguments from and to.
const METHODS: &[(&str, Method, usize, usize)] = &[
    ("toInteger", Method::ToInteger, 0, 0),
    ("intValue", Method::ToInteger, 0, 0),
    ("toLong", Method::ToLong, 0, 0),
    ("longValue", Method::ToLong, 0, 0),
    ("toBigInteger", Method::ToBigInteger, 0, 0),
    ("toBigDecimal", Method::ToDecimal, 0, 0),
    ("toDouble", Method::ToDecimal, 0, 0),
    ("doubleValue", Method::ToDecimal, 0, 0),
    ("toString", Method::ToText, 0, 0),
    ("length", Method::OfItems(ItemsMethod::Length), 0, 0),
    ("size", Method::OfItems(ItemsMethod::Length), 0, 0),
    ("hashCode", Method::HashCode, 0, 0),
    ("abs", Method::Abs, 0, 0),
    ("intdiv", Method::IntDiv, 1, 1),
    ("mod", Method::Remainder, 1, 1),
    ("remainder", Method::Remainder, 1, 1),
    ("plus", Method::Plus, 1, 1),
    ("add", Method::Plus, 1, 1),
    ("minus", Method::Minus, 1, 1),
    ("subtract", Method::Minus, 1, 1),
    ("multiply", Method::Multiply, 1, 1),
    ("power", Method::Power, 1, 1),
    ("substring", Method::OfText(TextMethod::Substring), 1, 2),
    ("charAt", Method::OfText(TextMethod::CharAt), 1, 1),
    ("indexOf", Method::OfText(TextMethod::IndexOf), 1, 1),
    ("lastIndexOf", Method::OfText(TextMethod::LastIndexOf), 1, 1),
    ("toLowerCase", Method::OfText(TextMethod::ToLower), 0, 0),
    ("toUpperCase", Method::OfText(TextMethod::ToUpper), 0, 0),
    ("trim", Method::OfText(TextMethod::Trim), 0, 0),
    ("padLeft", Method::OfText(TextMethod::PadLeft), 1, 2),
    ("padRight", Method::OfText(TextMethod::PadRight), 1, 2),
    ("startsWith", Method::OfText(TextMethod::StartsWith), 1, 1),
    ("endsWith", Method::OfText(TextMethod::EndsWith), 1, 1),
    ("contains", Method::OfItems(ItemsMethod::Contains), 1, 1),
    ("replace", Method::OfText(TextMethod::Replace), 2, 2),
    ("split", Method::OfText(TextMethod::Split), 1, 1),
    ("tokenize", Method::OfText(TextMethod::Split), 1, 1),
    ("reverse", Method::OfItems(ItemsMethod::Reverse), 0, 0),
    ("equals", Method::Equals, 1, 1),
    ("isEmpty", Method::OfItems(ItemsMethod::IsEmpty), 0, 0),
    ("first", Method::OfItems(ItemsMethod::First), 0, 0),
    ("last", Method::OfItems(ItemsMethod::Last), 0, 0),
    ("join", Method::OfItems(ItemsMethod::Join), 1, 1),
];

/// A function of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Max,
    Min,
    FloorMod,
    FloorDiv,
    Floor,
    Ceil,
    Round,
    Format,
    ParseInteger,
    ParseLong,
    TextOf,
}

const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("Math.abs", Function::Abs, 1, 1),
    ("Math.max", Function::Max, 2, 2),
    ("Math.min", Function::Min, 2, 2),
    ("Math.floorMod", Function::FloorMod, 2, 2),
    ("Math.floorDiv", Function::FloorDiv, 2, 2),
    ("Math.floor", Function::Floor, 1, 1),
    ("Math.ceil", Function::Ceil, 1, 1),
    ("Math.round", Function::Round, 1, 1),
    ("String.format", Function::Format, 1, 16),
    ("sprintf", Function::Format, 1, 16),
    ("String.valueOf", Function::TextOf, 1, 1),
    ("Integer.valueOf", Function::ParseInteger, 1, 1),
    ("Integer.parseInt", Function::ParseInteger, 1, 1),
    ("Long.valueOf", Function::ParseLong, 1, 1),
    ("Long.parseLong", Function::ParseLong, 1, 1),
];

impl Method {
    pub(crate) fn named(name: &str) -> Option<Self> {
        METHODS.iter().find(|(known, ..)| *known == name).map(|(_, method, ..)| *method)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        METHODS.iter().map(|(name, ..)| *name)
    }

    /// How many arguments it takes.
    pub(crate) fn arguments(self) -> RangeInclusive<usize> {
        let found = METHODS.iter().find(|(_, method, ..)| *method == self);
        found.map_or(0..=0, |(_, _, least, most)| *least..=*most)
    }
}

impl Function {
    pub(crate) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(known, ..)| *known == name).map(|(_, function, ..)| *function)
    }

    pub(crate) fn is_class(name: &str) -> bool {
        matches!(name, "Math" | "String" | "Integer" | "Long")
    }

    /// How many arguments it takes.
    pub(crate) fn arguments(self) -> RangeInclusive<usize> {
        let found = FUNCTIONS.iter().find(|(_, function, ..)| *function == self);
        found.map_or(0..=0, |(_, _, least, most)| *least..=*most)
    }
}
