//! Types that a column is declared with, where what is stored of it has another.

use pando_sql::Fold;

use crate::value::Kind;

/// A type of which the values can be told by their text, so that a room may store the text in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeclaredType {
    /// Characters, at most so many; `None` for no bound but the vendor's.
    Text {
        /// The most characters.
        most: Option<u32>,
    },
    /// Characters, of which those behind the last that is no blank do not count.
    Char {
        /// The most characters, and as many as PostgreSQL tells.
        length: u32,
    },
    /// Whole numbers.
    Int {
        /// Octets that the vendor stores them in: 1, 2, 3, 4 or 8.
        octets: u8,
        /// From 0 on, with twice the range.
        unsigned: bool,
    },
    /// MySQL's TINYINT(1), by whose width drivers tell booleans; it holds what a TINYINT does.
    TinyInt1,
    /// Exact numbers.
    Decimal {
        /// Digits in all, from 1.
        digits: u8,
        /// Those behind the point, at most `digits`.
        scale: u8,
    },
    /// Days.
    Date,
    /// Times of day.
    Time {
        /// Digits behind the point, at most 6.
        places: u8,
    },
    /// Date and time without a zone.
    Timestamp {
        /// Digits behind the point, at most 6.
        places: u8,
    },
    /// Booleans.
    Bool,
    /// UUIDs.
    Uuid,
}

/// The most digits of a decimal that every family takes.
const MOST_DIGITS: u8 = 65;
/// MySQL's rows have 65,535 octets, and a character takes up to four of them.
const LONGEST: u32 = 16_383;

impl DeclaredType {
    /// Reads a type as CREATE TABLE has it, for servers that read names so. `None` for one whose values have no one
    /// text (floating point numbers, octets, instants that are told by a session's time zone), or whose values differ
    /// in what their text does not say (decimals without a scale).
    pub fn read(text: &str, fold: Fold) -> Option<Self> {
        let (words, arguments) = parts(text)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_mysql = fold == Fold::Keep;
        let number = |at: usize| arguments.get(at).copied();
        let told = match (&words[..], arguments.len()) {
            (["varchar"] | ["character", "varying"] | ["nvarchar"], 0 | 1) => {
                let most = number(0);
                if is_mysql && most.is_none() {
                    return None;
                }
                Self::Text { most }
            }
            (["text"], 0) => Self::Text { most: None },
            (["mediumtext" | "longtext"], 0) if is_mysql => Self::Text { most: None },
            (["char" | "character"], 0 | 1) => Self::Char { length: number(0).unwrap_or(1) },
            (["bool" | "boolean"], 0) if is_mysql => Self::TinyInt1,
            (["tinyint"], 1) if is_mysql && number(0) == Some(1) => Self::TinyInt1,
            (["bool" | "boolean"], 0) => Self::Bool,
            (["uuid"], 0) if !is_mysql => Self::Uuid,
            (["date"], 0) => Self::Date,
            (["decimal" | "numeric" | "dec"], _) => return decimal(&arguments, fold),
            ([name, rest @ ..], _) if octets(name, fold).is_some() => {
                let unsigned = match rest {
                    [] | ["signed"] => false,
                    ["unsigned"] if is_mysql => true,
                    _ => return None,
                };
                // MySQL's display width says nothing of the values.
                if arguments.len() > usize::from(is_mysql) {
                    return None;
                }
                Self::Int { octets: octets(name, fold)?, unsigned }
            }
            (words, 0 | 1) => return moment(words, number(0), fold),
            _ => return None,
        };
        let length = match told {
            Self::Text { most } => most,
            Self::Char { length } => Some(length),
            Self::Int { .. }
            | Self::TinyInt1
            | Self::Decimal { .. }
            | Self::Date
            | Self::Time { .. }
            | Self::Timestamp { .. }
            | Self::Bool
            | Self::Uuid => None,
        };
        length.is_none_or(|length| (1..=LONGEST).contains(&length)).then_some(told)
    }

    /// The type as the families' catalogues spell it, without MariaDB's display widths.
    pub fn spelled(self, fold: Fold) -> String {
        let behind = |places: u8| match (places, fold) {
            (0, Fold::Keep) | (6, Fold::Lower) => String::new(),
            (places, _) => format!("({places})"),
        };
        match (self, fold) {
            (Self::Text { most: Some(most) }, Fold::Lower) => format!("character varying({most})"),
            (Self::Text { most: Some(most) }, Fold::Keep) => format!("varchar({most})"),
            (Self::Text { most: None }, _) => "text".to_owned(),
            (Self::Char { length }, Fold::Lower) => format!("character({length})"),
            (Self::Char { length }, Fold::Keep) => format!("char({length})"),
            (Self::Int { octets, unsigned }, _) => {
                let name = match (octets, fold) {
                    (1, _) => "tinyint",
                    (2, _) => "smallint",
                    (3, _) => "mediumint",
                    (8, _) => "bigint",
                    (_, Fold::Lower) => "integer",
                    (_, Fold::Keep) => "int",
                };
                format!("{name}{}", if unsigned { " unsigned" } else { "" })
            }
            (Self::TinyInt1, _) => "tinyint(1)".to_owned(),
            (Self::Decimal { digits, scale }, Fold::Lower) => format!("numeric({digits},{scale})"),
            (Self::Decimal { digits, scale }, Fold::Keep) => format!("decimal({digits},{scale})"),
            (Self::Date, _) => "date".to_owned(),
            (Self::Time { places }, Fold::Lower) => {
                format!("time{} without time zone", behind(places))
            }
            (Self::Time { places }, Fold::Keep) => format!("time{}", behind(places)),
            (Self::Timestamp { places }, Fold::Lower) => {
                format!("timestamp{} without time zone", behind(places))
            }
            (Self::Timestamp { places }, Fold::Keep) => format!("datetime{}", behind(places)),
            (Self::Bool, _) => "boolean".to_owned(),
            (Self::Uuid, _) => "uuid".to_owned(),
        }
    }

    /// What its values are.
    pub fn kind(self) -> Kind {
        match self {
            Self::Text { .. } | Self::Char { .. } => Kind::Text,
            Self::Int { unsigned: false, .. } | Self::TinyInt1 => Kind::Int,
            Self::Int { unsigned: true, .. } => Kind::UInt,
            Self::Decimal { .. } => Kind::Decimal,
            Self::Date => Kind::Date,
            Self::Time { .. } => Kind::Time,
            Self::Timestamp { .. } => Kind::Timestamp,
            Self::Bool => Kind::Bool,
            Self::Uuid => Kind::Other,
        }
    }

    /// The most characters of a value's text; `None` where there is no bound.
    pub fn characters(self) -> Option<usize> {
        let digits = |places: u8| if places == 0 { 0 } else { usize::from(places) + 1 };
        Some(match self {
            Self::Text { most } => return most.map(|most| most as usize),
            Self::Char { length } => length as usize,
            Self::Int { .. } | Self::TinyInt1 => 20,
            // A sign, and a point with a zero before it.
            Self::Decimal { digits, .. } => usize::from(digits) + 3,
            Self::Date => 10,
            Self::Time { places } => 8 + digits(places),
            Self::Timestamp { places } => 19 + digits(places),
            Self::Bool => 5,
            Self::Uuid => 36,
        })
    }

    /// Whether its values are texts.
    pub fn is_text(self) -> bool {
        self.kind() == Kind::Text
    }
}

/// Its words in lower case, and the numbers in its parentheses. What stands behind these belongs to the words
/// (`timestamp(3) without time zone`).
fn parts(text: &str) -> Option<(Vec<String>, Vec<u32>)> {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    let Some((front, rest)) = text.split_once('(') else { return Some((words(text), Vec::new())) };
    let (inner, behind) = rest.split_once(')')?;
    let numbers: Option<Vec<u32>> =
        inner.split(',').map(|number| number.trim().parse().ok()).collect();
    Some((words(&format!("{front} {behind}")), numbers?))
}

fn octets(name: &str, fold: Fold) -> Option<u8> {
    Some(match name {
        "smallint" | "int2" => 2,
        "int" | "integer" | "int4" => 4,
        "bigint" | "int8" => 8,
        "tinyint" if fold == Fold::Keep => 1,
        "mediumint" if fold == Fold::Keep => 3,
        _ => return None,
    })
}

/// Without a scale it has none in MySQL; in PostgreSQL any number of digits, so that equal values have several texts.
fn decimal(arguments: &[u32], fold: Fold) -> Option<DeclaredType> {
    let (digits, scale) = match arguments {
        [] if fold == Fold::Keep => (10, 0),
        [digits] => (*digits, 0),
        [digits, scale] => (*digits, *scale),
        _ => return None,
    };
    let fits = digits >= 1 && digits <= u32::from(MOST_DIGITS) && scale <= digits.min(30);
    fits.then_some(DeclaredType::Decimal { digits: digits as u8, scale: scale as u8 })
}

fn moment(words: &[&str], places: Option<u32>, fold: Fold) -> Option<DeclaredType> {
    let is_mysql = fold == Fold::Keep;
    // PostgreSQL keeps six digits unless told otherwise, and tells no zeros at the end.
    let places = places.unwrap_or(if is_mysql { 0 } else { 6 });
    let places = u8::try_from(places).ok().filter(|places| *places <= 6)?;
    match words {
        ["datetime"] if is_mysql => Some(DeclaredType::Timestamp { places }),
        ["timestamp"] | ["timestamp", "without", "time", "zone"] if !is_mysql => {
            Some(DeclaredType::Timestamp { places })
        }
        ["time"] | ["time", "without", "time", "zone"] if !is_mysql => {
            Some(DeclaredType::Time { places })
        }
        ["time"] => Some(DeclaredType::Time { places }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> [String; 2] {
        [Fold::Lower, Fold::Keep].map(|fold| match DeclaredType::read(text, fold) {
            Some(told) => format!("{told:?}"),
            None => "-".to_owned(),
        })
    }

    #[test]
    fn types_are_read_as_the_families_have_them() {
        let same = |text: &str, expected: &str| {
            assert_eq!(read(text), [expected, expected], "{text}");
        };
        same("VARCHAR(20)", "Text { most: Some(20) }");
        same("character varying ( 5 )", "Text { most: Some(5) }");
        same("text", "Text { most: None }");
        same("char", "Char { length: 1 }");
        same("BIGINT", "Int { octets: 8, unsigned: false }");
        same("numeric(10, 2)", "Decimal { digits: 10, scale: 2 }");
        same("DECIMAL(5)", "Decimal { digits: 5, scale: 0 }");
        same("date", "Date");
        for (text, postgres, mysql) in [
            ("varchar", "Text { most: None }", "-"),
            ("int unsigned", "-", "Int { octets: 4, unsigned: true }"),
            ("tinyint(1)", "-", "TinyInt1"),
            ("tinyint(4)", "-", "Int { octets: 1, unsigned: false }"),
            ("boolean", "Bool", "TinyInt1"),
            ("numeric", "-", "Decimal { digits: 10, scale: 0 }"),
            ("datetime(3)", "-", "Timestamp { places: 3 }"),
            ("timestamp", "Timestamp { places: 6 }", "-"),
            ("timestamp(3) without time zone", "Timestamp { places: 3 }", "-"),
            ("time(2)", "Time { places: 2 }", "Time { places: 2 }"),
            ("uuid", "Uuid", "-"),
        ] {
            assert_eq!(read(text), [postgres, mysql], "{text}");
        }
    }

    #[test]
    fn a_type_is_read_again_as_it_is_spelled() {
        for fold in [Fold::Lower, Fold::Keep] {
            for text in [
                "varchar(20)",
                "text",
                "char(3)",
                "smallint",
                "int",
                "bigint unsigned",
                "tinyint",
                "numeric(10, 2)",
                "date",
                "time",
                "time(3)",
                "datetime(3)",
                "timestamp",
                "timestamp(0)",
                "bool",
                "uuid",
            ] {
                if let Some(told) = DeclaredType::read(text, fold) {
                    let spelled = told.spelled(fold);
                    assert_eq!(DeclaredType::read(&spelled, fold), Some(told), "{spelled}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_one_text_is_none() {
        for text in [
            "",
            "double precision",
            "float",
            "bytea",
            "blob",
            "json",
            "timestamptz",
            "timestamp with time zone",
            "varchar(0)",
            "varchar(20000)",
            "varchar(x)",
            "varchar(5",
            "decimal(5, 6)",
            "decimal(66)",
            "decimal(40, 31)",
            "datetime(7)",
            "int array",
        ] {
            assert_eq!(read(text), ["-", "-"], "{text}");
        }
    }
}
