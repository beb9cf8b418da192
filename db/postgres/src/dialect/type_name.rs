//! Built-in types by the names that statements call them.
//! <https://www.postgresql.org/docs/current/datatype.html>

use crate::types::oid;

/// Types that every server has: number, name, and the number of the array of them.
pub(super) const TYPES: [(u32, &str, u32); 24] = [
    (oid::BOOL, "bool", 1000),
    (oid::BYTEA, "bytea", 1001),
    (oid::CHAR, "char", 1002),
    (oid::NAME, "name", 1003),
    (oid::INT8, "int8", 1016),
    (oid::INT2, "int2", 1005),
    (oid::INT4, "int4", 1007),
    (oid::TEXT, "text", 1009),
    (oid::OID, "oid", 1028),
    (oid::JSON, "json", 199),
    (oid::XML, "xml", 143),
    (oid::FLOAT4, "float4", 1021),
    (oid::FLOAT8, "float8", 1022),
    (oid::BPCHAR, "bpchar", 1014),
    (oid::VARCHAR, "varchar", 1015),
    (oid::DATE, "date", 1182),
    (oid::TIME, "time", 1183),
    (oid::TIMESTAMP, "timestamp", 1115),
    (oid::TIMESTAMPTZ, "timestamptz", 1185),
    (oid::INTERVAL, "interval", 1187),
    (oid::TIMETZ, "timetz", 1270),
    (oid::NUMERIC, "numeric", 1231),
    (oid::UUID, "uuid", 2951),
    (oid::JSONB, "jsonb", 3807),
];

/// Names of the standard, each with PostgreSQL's own.
const STANDARD: [(&str, &str); 18] = [
    ("bigint", "int8"),
    ("boolean", "bool"),
    ("character", "bpchar"),
    ("char", "bpchar"),
    ("character varying", "varchar"),
    ("dec", "numeric"),
    ("decimal", "numeric"),
    ("double precision", "float8"),
    ("float", "float8"),
    ("int", "int4"),
    ("integer", "int4"),
    ("real", "float4"),
    ("smallint", "int2"),
    ("time with time zone", "timetz"),
    ("time without time zone", "time"),
    ("timestamp with time zone", "timestamptz"),
    ("timestamp without time zone", "timestamp"),
    ("\"char\"", "char"),
];

/// The number of a type; an array's where brackets follow. Lengths and precisions, which parameters do not have, are passed over.
pub(super) fn number(name: &str) -> Option<u32> {
    let mut words = name.to_lowercase();
    let is_array = words.ends_with(']');
    while let Some((before, _)) = words.split_once('[') {
        words = before.to_owned();
    }
    while let Some((before, (_, after))) =
        words.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?)))
    {
        // A `float(24)` is another type than a `float`.
        if before.trim() == "float" {
            return None;
        }
        words = format!("{before} {after}");
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.strip_prefix("pg_catalog.").unwrap_or(&words);
    if words == "unknown" && !is_array {
        return Some(0);
    }
    let own = STANDARD.iter().find(|(name, _)| *name == words).map_or(words, |(_, own)| own);
    let (number, _, array) = TYPES.iter().find(|(_, name, _)| *name == own)?;
    Some(if is_array { *array } else { *number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_every_name_they_have() {
        for (name, expected) in [
            ("int", Some(oid::INT4)),
            ("INTEGER", Some(oid::INT4)),
            ("pg_catalog.int8", Some(oid::INT8)),
            ("numeric(10, 2)", Some(oid::NUMERIC)),
            ("character  varying(20)", Some(oid::VARCHAR)),
            ("timestamp(3) with time zone", Some(oid::TIMESTAMPTZ)),
            ("timestamp", Some(oid::TIMESTAMP)),
            ("char", Some(oid::BPCHAR)),
            ("\"char\"", Some(oid::CHAR)),
            ("text[]", Some(1009)),
            ("int[3]", Some(1007)),
            ("unknown", Some(0)),
            ("float(24)", None),
            ("mood", None),
            ("public.int4", None),
            ("", None),
        ] {
            assert_eq!(number(name), expected, "{name}");
        }
    }
}
