//! How PostgreSQL sorts and compares.
//! <https://www.postgresql.org/docs/current/collation.html>

use pando_kernel::dialect::{Compare, Comparison, Equality, Ordering, TableColumn};
use pando_kernel::{Column, Error, Kind, Result};

use super::Postgres;
use crate::types::oid;

impl Ordering for Postgres {
    fn nulls_first(&self) -> bool {
        false
    }

    fn comparison(&self, text: &str, info: Option<&TableColumn>) -> Comparison {
        if let Some(collation) = explicit(text) {
            return match is_bytewise(&collation) {
                true => Comparison::Value(Compare::Bytes),
                false => unknown_collation(&collation),
            };
        }
        let Some(info) = info else { return Comparison::ByResult { derive: None } };
        match info.kind {
            // Names and single octets have the C collation or none.
            Kind::Text if info.collation.is_empty() => Comparison::Value(Compare::Bytes),
            Kind::Text if !is_bytewise(&info.collation) => unknown_collation(&info.collation),
            Kind::Text if is_padded(&info.type_name) => Comparison::Value(Compare::Padded),
            Kind::Text => Comparison::Value(Compare::Bytes),
            Kind::Other if info.type_name == "uuid" => Comparison::Value(Compare::Bytes),
            kind @ (Kind::Bool
            | Kind::Int
            | Kind::UInt
            | Kind::Decimal
            | Kind::Float
            | Kind::Bytes
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::TimestampTz
            | Kind::Other) => match compare(kind) {
                Some(compare) => Comparison::Value(compare),
                None => Comparison::Refuse(format!(
                    "the order of type `{}` is known to the server only",
                    info.type_name
                )),
            },
        }
    }

    fn averages(&self, sum: &Column) -> bool {
        // `avg(real)` adds up in double precision, `sum(real)` does not.
        sum.native.family != crate::types::FAMILY || sum.native.type_id != oid::FLOAT4
    }

    fn equality(&self, column: &TableColumn) -> Equality {
        let open =
            column.collation.starts_with("nondeterministic:") || column.type_name == "citext";
        if open {
            Equality::Loose
        } else if is_padded(&column.type_name) {
            Equality::Padded
        } else {
            Equality::Exact
        }
    }

    /// Sums of intervals, amounts of money and types of extensions are other than numbers.
    fn adds(&self, sum: &Column) -> bool {
        match sum.kind {
            Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => true,
            Kind::Bool
            | Kind::Text
            | Kind::Bytes
            | Kind::Date
            | Kind::Time
            | Kind::Timestamp
            | Kind::TimestampTz
            | Kind::Other => false,
        }
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        let own = column.native.family == crate::types::FAMILY;
        match (column.native.type_id, column.kind) {
            (oid::NAME | oid::CHAR | oid::UUID, _) if own => Ok(Compare::Bytes),
            (_, Kind::Text) => Err(Error::unmerged(
                30001,
                format!("the collation of `{}` is not known outside the server", column.name),
                "add COLLATE \"C\" to the expression",
            )),
            (_, kind) => compare(kind).ok_or_else(|| {
                Error::unmerged(
                    30001,
                    format!("the order of `{}` is known to the server only", column.name),
                    "sort by a column of a simple type",
                )
            }),
        }
    }
}

/// How values of a kind compare, text apart.
fn compare(kind: Kind) -> Option<Compare> {
    match kind {
        Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => Some(Compare::Number),
        // Times of day print with two digits each, so that their text sorts as they do.
        Kind::Bytes | Kind::Time => Some(Compare::Bytes),
        Kind::Date | Kind::Timestamp | Kind::TimestampTz => Some(Compare::Temporal(kind)),
        Kind::Text | Kind::Other => None,
    }
}

/// Collations under which UTF-8 text sorts as its bytes do.
fn is_bytewise(collation: &str) -> bool {
    matches!(collation, "C" | "POSIX" | "C.UTF-8" | "C.utf8" | "ucs_basic" | "PG_UNICODE_FAST")
}

fn is_padded(type_name: &str) -> bool {
    type_name == "bpchar"
        || type_name.starts_with("character") && !type_name.starts_with("character varying")
}

fn unknown_collation(collation: &str) -> Comparison {
    Comparison::Refuse(format!(
        "the order of collation `{collation}` is known to the server only (COLLATE \"C\" is not)"
    ))
}

/// The collation an item's text ends with: `… COLLATE "C"`.
fn explicit(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let at = lower.rfind("collate")?;
    let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    if !free(text[..at].chars().next_back()) || !free(text[at + 7..].chars().next()) {
        return None;
    }
    let name = text[at + 7..].trim();
    // A schema in front changes nothing about what the name means here.
    let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) if !quoted.contains('"') => Some(quoted.to_owned()),
        Some(_) => None,
        None => {
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            (plain && !name.is_empty()).then(|| name.to_lowercase())
        }
    }
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
    fn text_sorts_as_bytes_only_under_collations_that_do() {
        let of = |collation: &str| {
            Postgres.comparison("c", Some(&column(Kind::Text, "text", collation)))
        };
        assert_eq!(of("C"), Comparison::Value(Compare::Bytes));
        assert_eq!(of("C.UTF-8"), Comparison::Value(Compare::Bytes));
        assert!(matches!(of("en_US.UTF-8"), Comparison::Refuse(_)));
        assert!(matches!(of("icu:und-x-icu"), Comparison::Refuse(_)));
        assert!(matches!(of("nondeterministic:ci"), Comparison::Refuse(_)));
    }

    #[test]
    fn a_collation_in_the_text_counts_more_than_the_columns() {
        let german = column(Kind::Text, "text", "de_DE");
        let of = |text: &str| Postgres.comparison(text, Some(&german));
        assert_eq!(of("c COLLATE \"C\""), Comparison::Value(Compare::Bytes));
        assert_eq!(of("c collate pg_catalog.\"POSIX\""), Comparison::Value(Compare::Bytes));
        assert_eq!(of("c collate ucs_basic"), Comparison::Value(Compare::Bytes));
        assert!(matches!(of("c COLLATE \"de_DE\""), Comparison::Refuse(_)));
        // Unquoted, the name folds to `c`, which is no collation.
        assert!(matches!(of("c COLLATE C"), Comparison::Refuse(_)));
        assert!(matches!(of("collate_it"), Comparison::Refuse(_)));
    }

    #[test]
    fn padded_text_compares_without_its_spaces() {
        let info = column(Kind::Text, "character(5)", "C");
        assert_eq!(Postgres.comparison("t.c", Some(&info)), Comparison::Value(Compare::Padded));
    }

    #[test]
    fn other_types_compare_as_their_kind_says() {
        let of = |kind, name| Postgres.comparison("c", Some(&column(kind, name, "")));
        assert_eq!(of(Kind::Int, "integer"), Comparison::Value(Compare::Number));
        assert_eq!(of(Kind::Other, "uuid"), Comparison::Value(Compare::Bytes));
        assert_eq!(of(Kind::Date, "date"), Comparison::Value(Compare::Temporal(Kind::Date)));
        assert!(matches!(of(Kind::Other, "interval"), Comparison::Refuse(_)));
        assert_eq!(Postgres.comparison("a + b", None), Comparison::ByResult { derive: None });
    }

    #[test]
    fn a_computed_text_is_refused_with_a_way_out() {
        let error = Postgres.compare_result(&Column::computed("l", Kind::Text)).unwrap_err();
        assert!(error.to_string().contains("COLLATE \"C\""), "{error}");
        assert!(Postgres.compare_result(&Column::computed("l", Kind::Int)).is_ok());
    }
}
