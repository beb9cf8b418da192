//! Sorting and comparing as the server does.
//!
//! The server alone knows its collations, so text is compared by its weight string, which the storage units compute as a
//! derived column. Collations that pad with spaces (all but the `0900` and `nopad` ones) say that `'a'` and `'a '` are equal;
//! their weight strings are made from padded text, so that plain bytes compare right.

use pando_kernel::dialect::{Compare, Comparison, Ordering, TableColumn};
use pando_kernel::{Column, Error, Kind, Result};

use super::MySql;

/// Characters of padded text whose weights decide the order; the server itself looks at `max_sort_length` bytes (1024 unless
/// changed), which is as many characters of two bytes. What lies behind them still tells groups apart.
const PADDED: u32 = 512;

impl Ordering for MySql {
    fn nulls_first(&self) -> bool {
        true
    }

    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison {
        let Some(info) = info else {
            return Comparison::ByResult { derive: Some(weights_of_any(text)) };
        };
        match info.kind {
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                Comparison::Value(Compare::Number)
            }
            Kind::Bytes | Kind::Date | Kind::Timestamp | Kind::TimestampTz => {
                Comparison::Value(Compare::Bytes)
            }
            Kind::Time => Comparison::Value(Compare::Temporal(Kind::Time)),
            Kind::Text if pads(&info.collation) => {
                Comparison::Derive(padded_weights(text, declared_length(&info.type_name)))
            }
            Kind::Text => Comparison::Derive(format!("WEIGHT_STRING({text})")),
            Kind::Other => other(text, info),
        }
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        match column.kind {
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                Ok(Compare::Number)
            }
            Kind::Bytes | Kind::Date | Kind::Timestamp | Kind::TimestampTz => Ok(Compare::Bytes),
            Kind::Time => Ok(Compare::Temporal(Kind::Time)),
            Kind::Text | Kind::Other => Err(Error::refused(
                30001,
                format!("the order of column `{}` cannot be reproduced across shards", column.name),
                "order by an expression of another type",
            )),
        }
    }
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

/// The length in characters in a type like `varchar(50)`.
fn declared_length(type_name: &str) -> Option<u32> {
    let (_, rest) = type_name.split_once('(')?;
    rest.split_once(')')?.0.trim().parse().ok()
}

fn padded_weights(text: &str, length: Option<u32>) -> String {
    match length.filter(|length| (1..=PADDED).contains(length)) {
        Some(length) => format!("WEIGHT_STRING({text} AS CHAR({length}))"),
        None => format!(
            "CONCAT(WEIGHT_STRING({text} AS CHAR({PADDED})), WEIGHT_STRING(SUBSTRING(RTRIM({text}), {})))",
            PADDED + 1
        ),
    }
}

/// For text whose collation is not known here: the server is asked whether it pads.
fn weights_of_any(text: &str) -> String {
    format!(
        "IF(CONCAT(LEFT({text}, 0), 'a') = CONCAT(LEFT({text}, 0), 'a '), {}, WEIGHT_STRING({text}))",
        padded_weights(text, None)
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
            primary_key: false,
            auto_increment: false,
            nullable: true,
        }
    }

    #[test]
    fn each_kind_compares_as_the_server_does() {
        let cases = [
            (column(Kind::Int, "int", ""), Comparison::Value(Compare::Number)),
            (column(Kind::Date, "date", ""), Comparison::Value(Compare::Bytes)),
            (column(Kind::Time, "time", ""), Comparison::Value(Compare::Temporal(Kind::Time))),
            (
                column(Kind::Text, "varchar(50)", "utf8mb4_0900_ai_ci"),
                Comparison::Derive("WEIGHT_STRING(c)".into()),
            ),
            (
                column(Kind::Text, "varchar(50)", "utf8mb4_general_ci"),
                Comparison::Derive("WEIGHT_STRING(c AS CHAR(50))".into()),
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
        let Comparison::Derive(long) =
            MySql.comparison("c", Some(&column(Kind::Text, "text", "latin1_swedish_ci")))
        else {
            panic!("text has weights");
        };
        assert!(long.contains("AS CHAR(512)") && long.contains("513"));
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
    fn text_of_a_result_alone_cannot_be_ordered() {
        assert!(MySql.compare_result(&Column::computed("c", Kind::Text)).is_err());
        assert_eq!(
            MySql.compare_result(&Column::computed("c", Kind::Decimal)).unwrap(),
            Compare::Number
        );
    }
}
