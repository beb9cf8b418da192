//! Sorting and comparing as the server does.
//!
//! The server alone knows its collations, so text is compared by its weight string, which the storage units compute as a
//! derived column. Collations that pad with spaces (all but the `0900` and `nopad` ones) say that `'a'` and `'a '` are equal
//! and that `'a\n'` comes before both; their weight strings are padded with the weight of a space, so that plain bytes
//! compare right. Padding the text instead would not do: `'ß'` has the weights of `'ss'`, but one letter less.

use pando_kernel::dialect::{Compare, Comparison, Equality, Ordering, TableColumn};
use pando_kernel::folding::Folding;
use pando_kernel::{Column, Error, Format, Kind, Result};

use super::{MySql, folding};
use crate::types::ColumnType;

/// Bytes to which weights are padded at most: as many as the server itself sorts by (`max_sort_length`, unless changed). What
/// lies behind them still tells groups apart.
const PADDED: u32 = 1024;

impl Ordering for MySql {
    fn adds_quotients(&self) -> bool {
        // A sum of decimal quotients has more digits inside than it shows.
        false
    }

    fn nulls_first(&self) -> bool {
        true
    }

    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison {
        let Some(info) = info else {
            return Comparison::ByResult { derive: Some(weights_of_any(text)) };
        };
        match info.kind {
            Kind::Float if is_single(info) => Comparison::DeriveNumber(format!("{text} * 1e0")),
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                Comparison::Value(Compare::Number)
            }
            Kind::Bytes | Kind::Date | Kind::Timestamp | Kind::TimestampTz => {
                Comparison::Value(Compare::Bytes)
            }
            Kind::Time => Comparison::Value(Compare::Temporal(Kind::Time)),
            Kind::Text if pads(&info.collation) => {
                Comparison::Derive(padded_weights(text, padded_length(info)))
            }
            Kind::Text => Comparison::Derive(format!("WEIGHT_STRING({text})")),
            Kind::Other => other(text, info),
        }
    }

    fn equality(&self, column: &TableColumn) -> Equality {
        let collation = column.collation.as_str();
        if column.kind != Kind::Text || collation == "binary" {
            return Equality::Exact;
        }
        match collation.ends_with("_bin") {
            true if pads(collation) || column.type_name.starts_with("char") => Equality::Padded,
            true => Equality::Exact,
            false => match folding::of(collation) {
                Some(by) => {
                    let padded = pads(collation) || column.type_name.starts_with("char");
                    Equality::Folded(Folding { by, padded })
                }
                None => Equality::Loose,
            },
        }
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        let is_cut =
            column.native.type_id == ColumnType::Float as u32 && column.format == Format::Text;
        match column.kind {
            Kind::Float if is_cut => Err(Error::unmerged(
                30001,
                format!("column `{}` is a FLOAT, of which six digits are sent", column.name),
                "order by a column, or by the expression times 1e0",
            )),
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                Ok(Compare::Number)
            }
            Kind::Bytes | Kind::Date | Kind::Timestamp | Kind::TimestampTz => Ok(Compare::Bytes),
            Kind::Time => Ok(Compare::Temporal(Kind::Time)),
            Kind::Text | Kind::Other => Err(Error::unmerged(
                30001,
                format!("the order of column `{}` cannot be reproduced across shards", column.name),
                "order by an expression of another type",
            )),
        }
    }
}

/// Whether values are FLOATs, which are compared by all their digits and sent as text with six.
fn is_single(info: &TableColumn) -> bool {
    info.type_name.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("float"))
}

/// Members of ENUM and SET sort by their number.
fn other(text: &str, info: &TableColumn) -> Comparison {
    let type_name = info.type_name.to_ascii_lowercase();
    if type_name.starts_with("enum(") || type_name.starts_with("set(") {
        return Comparison::Derive(format!("LPAD({text} + 0, 20, '0')"));
    }
    Comparison::Refuse(format!(
        "values of type `{}` have no order that could be reproduced across shards",
        info.type_name
    ))
}

/// Whether a collation pads with spaces before comparing.
fn pads(collation: &str) -> bool {
    !(collation == "binary" || collation.contains("_0900_") || collation.contains("nopad"))
}

/// Bytes to which the weights of a column's values are padded.
fn padded_length(info: &TableColumn) -> u32 {
    let width = if info.collation.contains("_general_") { 2 } else { 3 };
    declared_length(&info.type_name).map_or(PADDED, |length| (length * width).clamp(1, PADDED))
}

/// The length in characters in a type like `varchar(50)`.
fn declared_length(type_name: &str) -> Option<u32> {
    let (_, rest) = type_name.split_once('(')?;
    rest.split_once(')')?.0.trim().parse().ok().filter(|length| *length <= PADDED)
}

fn padded_weights(text: &str, length: u32) -> String {
    format!(
        "CONCAT(RPAD(WEIGHT_STRING({text}), {length}, WEIGHT_STRING(CONCAT(LEFT({text}, 0), ' '))), \
         SUBSTRING(WEIGHT_STRING({text}), {}))",
        length + 1
    )
}

/// For text whose collation is not known here: the server is asked whether it pads. It may be a number, whose weights nobody will look at: MySQL refuses to give
/// them some other length unless it is a text first (error 3854).
fn weights_of_any(text: &str) -> String {
    let shown = format!("CONCAT({text})");
    format!(
        "IF(CONCAT(LEFT({text}, 0), 'a') = CONCAT(LEFT({text}, 0), 'a '), {}, WEIGHT_STRING({shown}))",
        padded_weights(&shown, PADDED)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: Kind, type_name: &str, collation: &str) -> TableColumn {
        TableColumn {
            name: "c".into(),
            kind,
            type_name: type_name.into(),
            collation: collation.into(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        }
    }

    #[test]
    fn each_kind_compares_as_the_server_does() {
        let cases = [
            (column(Kind::Int, "int", ""), Comparison::Value(Compare::Number)),
            (column(Kind::Float, "double", ""), Comparison::Value(Compare::Number)),
            (column(Kind::Float, "float unsigned", ""), Comparison::DeriveNumber("c * 1e0".into())),
            (column(Kind::Date, "date", ""), Comparison::Value(Compare::Bytes)),
            (column(Kind::Time, "time", ""), Comparison::Value(Compare::Temporal(Kind::Time))),
            (
                column(Kind::Text, "varchar(50)", "utf8mb4_0900_ai_ci"),
                Comparison::Derive("WEIGHT_STRING(c)".into()),
            ),
            (
                column(Kind::Other, "enum('b','a')", "utf8mb4_general_ci"),
                Comparison::Derive("LPAD(c + 0, 20, '0')".into()),
            ),
        ];
        for (info, expected) in cases {
            assert_eq!(MySql.comparison("c", Some(&info)), expected, "{info:?}");
        }
        let json = column(Kind::Other, "json", "");
        assert!(matches!(MySql.comparison("c", Some(&json)), Comparison::Refuse(_)));
        for (type_name, collation, length) in [
            ("varchar(50)", "utf8mb4_general_ci", "100"),
            ("varchar(50)", "utf8mb4_unicode_ci", "150"),
            ("varchar(4000)", "utf8mb4_bin", "1024"),
            ("text", "latin1_swedish_ci", "1024"),
        ] {
            let info = column(Kind::Text, type_name, collation);
            let Comparison::Derive(padded) = MySql.comparison("c", Some(&info)) else {
                panic!("text has weights");
            };
            assert!(padded.contains(&format!("RPAD(WEIGHT_STRING(c), {length}, ")), "{padded}");
        }
    }

    #[test]
    fn what_may_be_a_number_is_weighed_as_its_text() {
        let Comparison::ByResult { derive: Some(text) } = MySql.comparison("c", None) else {
            panic!("an expression has weights");
        };
        assert!(text.contains("RPAD(WEIGHT_STRING(CONCAT(c)), 1024, "), "{text}");
        assert!(!text.contains("WEIGHT_STRING(c)"), "{text}");
    }

    #[test]
    fn only_binary_collations_tell_spellings_apart() {
        let cases = [
            ("varchar(9)", "utf8mb4_0900_as_cs", Equality::Loose),
            ("varchar(9)", "utf8mb4_bin", Equality::Padded),
            ("varchar(9)", "utf8mb4_0900_bin", Equality::Exact),
            ("char(9)", "utf8mb4_nopad_bin", Equality::Padded),
        ];
        for (type_name, collation, expected) in cases {
            let column = column(Kind::Text, type_name, collation);
            assert_eq!(MySql.equality(&column), expected, "{column:?}");
        }
    }

    #[test]
    fn collations_that_pad_are_told_by_name() {
        for collation in ["utf8mb4_general_ci", "latin1_bin", "utf8mb4_uca1400_ai_ci"] {
            assert!(pads(collation), "{collation}");
        }
        for collation in ["utf8mb4_0900_ai_ci", "utf8mb4_nopad_bin", "binary"] {
            assert!(!pads(collation), "{collation}");
        }
    }

    #[test]
    fn a_float_that_came_as_text_has_lost_digits() {
        let mut float = Column::computed("c", Kind::Float);
        assert_eq!(MySql.compare_result(&float).unwrap(), Compare::Number);
        float.native.type_id = ColumnType::Float as u32;
        assert!(MySql.compare_result(&float).is_err());
        float.format = Format::Binary;
        assert_eq!(MySql.compare_result(&float).unwrap(), Compare::Number);
    }

    #[test]
    fn text_of_a_result_alone_cannot_be_ordered() {
        assert!(MySql.compare_result(&Column::computed("c", Kind::Text)).is_err());
        assert_eq!(
            MySql.compare_result(&Column::computed("c", Kind::Decimal)).unwrap(),
            Compare::Number
        );
    }
}
