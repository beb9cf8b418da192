//! SQLite's declared types in the words of the other vendors.

/// PostgreSQL's types: number, catalogue name, name in SQL, category, number of the array type, bytes (-1: any).
/// <https://www.postgresql.org/docs/15/datatype.html>
const TYPES: &[(i64, &str, &str, &str, i64, i64)] = &[
    (16, "bool", "boolean", "B", 1000, 1),
    (17, "bytea", "bytea", "U", 1001, -1),
    (18, "char", "\"char\"", "Z", 1002, 1),
    (19, "name", "name", "S", 1003, 64),
    (20, "int8", "bigint", "N", 1016, 8),
    (21, "int2", "smallint", "N", 1005, 2),
    (23, "int4", "integer", "N", 1007, 4),
    (25, "text", "text", "S", 1009, -1),
    (26, "oid", "oid", "N", 1028, 4),
    (114, "json", "json", "U", 199, -1),
    (700, "float4", "real", "N", 1021, 4),
    (701, "float8", "double precision", "N", 1022, 8),
    (1042, "bpchar", "character", "S", 1014, -1),
    (1043, "varchar", "character varying", "S", 1015, -1),
    (1082, "date", "date", "D", 1182, 4),
    (1083, "time", "time without time zone", "D", 1183, 8),
    (1114, "timestamp", "timestamp without time zone", "D", 1115, 8),
    (1184, "timestamptz", "timestamp with time zone", "D", 1185, 8),
    (1700, "numeric", "numeric", "N", 1231, -1),
    (2950, "uuid", "uuid", "U", 2951, 16),
    (3802, "jsonb", "jsonb", "U", 3807, -1),
];

/// The catalogue relations that other relations refer to by number.
const CLASSES: &[(i64, &str)] = &[
    (1247, "pg_type"),
    (1249, "pg_attribute"),
    (1255, "pg_proc"),
    (1259, "pg_class"),
    (1262, "pg_database"),
    (2604, "pg_attrdef"),
    (2606, "pg_constraint"),
    (2615, "pg_namespace"),
    (2617, "pg_operator"),
    (2618, "pg_rewrite"),
    (2620, "pg_trigger"),
    (3079, "pg_extension"),
];

/// A declared type, taken apart: `VARCHAR(10) UNSIGNED`.
struct Parts {
    /// Upper-cased words in front of the parenthesis and behind it.
    words: Vec<String>,
    numbers: Vec<i64>,
}

impl Parts {
    fn of(declared: &str) -> Self {
        let upper = declared.to_ascii_uppercase();
        let (head, rest) = upper.split_once('(').unwrap_or((&upper, ""));
        let (inner, tail) = rest.split_once(')').unwrap_or((rest, ""));
        let words = head.split_whitespace().chain(tail.split_whitespace()).map(str::to_owned);
        let numbers = inner.split(',').filter_map(|number| number.trim().parse().ok());
        Self { words: words.collect(), numbers: numbers.collect() }
    }

    fn first(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    /// With the numbers, the way they are written in SQL.
    fn with_numbers(&self, name: &str) -> String {
        if self.numbers.is_empty() {
            return name.to_owned();
        }
        let numbers: Vec<String> = self.numbers.iter().map(i64::to_string).collect();
        format!("{name}({})", numbers.join(","))
    }
}

/// What a column is to its table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Their only key: declared `INTEGER` it is another name of the rowid.
    Row,
    Other,
}

/// The number of the PostgreSQL type; the alias of a rowid has 64 bits whatever its declaration says.
pub(super) fn oid(declared: &str, key: Key) -> i64 {
    let parts = Parts::of(declared);
    match parts.first() {
        "INTEGER" if key == Key::Row => 20,
        "BOOL" | "BOOLEAN" => 16,
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" | "BYTEA" => 17,
        "BIGINT" | "INT8" | "BIGSERIAL" => 20,
        "INT" | "INTEGER" | "INT4" | "MEDIUMINT" | "SERIAL" if parts.has("UNSIGNED") => 20,
        "SMALLINT" | "INT2" | "TINYINT" | "YEAR" | "SMALLSERIAL" => 21,
        "INT" | "INTEGER" | "INT4" | "MEDIUMINT" | "SERIAL" => 23,
        "OID" => 26,
        "JSON" => 114,
        "JSONB" => 3802,
        "REAL" | "FLOAT4" => 700,
        "FLOAT" | "DOUBLE" | "FLOAT8" => 701,
        "CHARACTER" | "NCHAR" | "CHAR" if parts.has("VARYING") => 1043,
        "CHAR" | "CHARACTER" | "NCHAR" | "BPCHAR" => 1042,
        "VARCHAR" | "NVARCHAR" => 1043,
        "DATE" => 1082,
        "TIME" => 1083,
        "TIMESTAMPTZ" => 1184,
        "TIMESTAMP" if parts.has("WITH") => 1184,
        "TIMESTAMP" | "DATETIME" => 1114,
        "DECIMAL" | "DEC" | "NUMERIC" | "NUMBER" | "FIXED" | "MONEY" => 1700,
        "UUID" => 2950,
        _ => 25,
    }
}

/// The type modifier: a length or precision with scale, in PostgreSQL's encoding.
pub(super) fn modifier(declared: &str) -> i64 {
    let numbers = Parts::of(declared).numbers;
    match (oid(declared, Key::Other), &numbers[..]) {
        (1042 | 1043, [length, ..]) => length + 4,
        (1700, [precision]) => (precision << 16) + 4,
        (1700, [precision, scale, ..]) => ((precision << 16) | (scale & 0x7ff)) + 4,
        (1083 | 1114 | 1184, [digits, ..]) => *digits,
        _ => -1,
    }
}

/// What `format_type` tells.
pub(super) fn format_type(oid: i64, modifier: Option<i64>) -> String {
    let modifier = modifier.filter(|modifier| *modifier >= 0);
    let Some((.., name, _, _, _)) = TYPES.iter().find(|known| known.0 == oid) else {
        let array = TYPES.iter().find(|known| known.4 == oid);
        return array.map_or_else(|| "???".to_owned(), |known| format!("{}[]", known.2));
    };
    match (oid, modifier) {
        (1042 | 1043, Some(length)) => format!("{name}({})", length - 4),
        (1700, Some(both)) => format!("numeric({},{})", (both - 4) >> 16, (both - 4) & 0x7ff),
        (1083 | 1114 | 1184, Some(digits)) => {
            let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
            format!("{first}({digits}) {rest}")
        }
        _ => (*name).to_owned(),
    }
}

/// The catalogue name of a type.
pub(super) fn type_name(oid: i64) -> Option<&'static str> {
    TYPES.iter().find(|known| known.0 == oid).map(|known| known.1)
}

/// The number of a type given by any of its names.
pub(super) fn to_type(name: &str) -> Option<i64> {
    let lower = name.trim().to_ascii_lowercase();
    let bare = lower.strip_prefix("pg_catalog.").unwrap_or(&lower);
    let known = TYPES.iter().find(|known| known.1 == bare || known.2 == bare);
    known.map(|known| known.0).or_else(|| bare.parse().ok())
}

/// Bytes of a type's values, -1 for any number.
pub(super) fn length(oid: i64) -> i64 {
    TYPES.iter().find(|known| known.0 == oid).map_or(-1, |known| known.5)
}

/// Whether it is one of the texts.
pub(super) fn is_text(oid: i64) -> bool {
    matches!(oid, 19 | 25 | 1042 | 1043)
}

/// Types and their arrays as a JSON array of number, name, category, array type and element type.
pub(super) fn types() -> String {
    let own = TYPES.iter().map(|(oid, name, _, category, array, _)| {
        format!("[{oid},\"{name}\",\"{category}\",{array},0]")
    });
    let arrays = TYPES
        .iter()
        .map(|(oid, name, _, _, array, _)| format!("[{array},\"_{name}\",\"A\",0,{oid}]"));
    format!("[{}]", own.chain(arrays).collect::<Vec<_>>().join(","))
}

/// The number of a relation of the catalogue.
pub(super) fn class(name: &str) -> Option<i64> {
    let bare = name.strip_prefix("pg_catalog.").unwrap_or(name);
    CLASSES.iter().find(|known| known.1 == bare).map(|known| known.0)
}

/// The name of a relation of the catalogue.
pub(super) fn class_name(oid: i64) -> Option<&'static str> {
    CLASSES.iter().find(|known| known.0 == oid).map(|known| known.1)
}

/// Bits of a whole number.
pub(super) fn bits(oid: i64) -> Option<i64> {
    match oid {
        20 => Some(64),
        21 => Some(16),
        23 => Some(32),
        700 => Some(24),
        701 => Some(53),
        _ => None,
    }
}

/// The number in a declaration, counted from 0.
pub(super) fn declared_number(declared: &str, at: usize) -> Option<i64> {
    Parts::of(declared).numbers.get(at).copied()
}

/// The type as MySQL would show it.
pub(super) fn mysql(declared: &str, key: Key) -> String {
    let parts = Parts::of(declared);
    let unsigned = if parts.has("UNSIGNED") { " unsigned" } else { "" };
    let whole = |name: &str| format!("{name}{unsigned}");
    match parts.first() {
        "INTEGER" if key == Key::Row => whole("bigint"),
        "BIGINT" | "INT8" | "BIGSERIAL" => whole("bigint"),
        "INT" | "INTEGER" | "INT4" | "SERIAL" | "OID" => whole("int"),
        "SMALLINT" | "INT2" | "SMALLSERIAL" => whole("smallint"),
        "MEDIUMINT" => whole("mediumint"),
        "TINYINT" => whole(&parts.with_numbers("tinyint")),
        "BOOL" | "BOOLEAN" => "tinyint(1)".to_owned(),
        "YEAR" => "year".to_owned(),
        "DECIMAL" | "DEC" | "NUMERIC" | "NUMBER" | "FIXED" | "MONEY" => match &parts.numbers[..] {
            [] => whole("decimal(65,30)"),
            [precision] => whole(&format!("decimal({precision},0)")),
            _ => whole(&parts.with_numbers("decimal")),
        },
        "REAL" | "DOUBLE" | "FLOAT8" => whole("double"),
        "FLOAT" | "FLOAT4" => whole("float"),
        "CHAR" | "CHARACTER" | "NCHAR" | "BPCHAR" if !parts.has("VARYING") => {
            parts.with_numbers("char")
        }
        "VARCHAR" | "NVARCHAR" | "CHAR" | "CHARACTER" | "NCHAR" if !parts.numbers.is_empty() => {
            parts.with_numbers("varchar")
        }
        "BINARY" | "VARBINARY" if !parts.numbers.is_empty() => {
            parts.with_numbers(&parts.first().to_ascii_lowercase())
        }
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BYTEA" | "BINARY" | "VARBINARY" => {
            "longblob".to_owned()
        }
        "DATE" => "date".to_owned(),
        "TIME" | "TIMETZ" => parts.with_numbers("time"),
        "DATETIME" => parts.with_numbers("datetime"),
        "TIMESTAMP" | "TIMESTAMPTZ" => parts.with_numbers("timestamp"),
        "JSON" | "JSONB" => "json".to_owned(),
        _ => "longtext".to_owned(),
    }
}

/// The name in front of the parenthesis.
pub(super) fn base(mysql: &str) -> &str {
    mysql.split(['(', ' ']).next().unwrap_or_default()
}

/// Whether MySQL's type holds text.
pub(super) fn is_mysql_text(mysql: &str) -> bool {
    matches!(base(mysql), "char" | "varchar" | "longtext")
}

/// Decimal digits of MySQL's numeric types.
pub(super) fn digits(mysql: &str) -> Option<i64> {
    match base(mysql) {
        "tinyint" => Some(3),
        "smallint" => Some(5),
        "mediumint" => Some(7),
        "int" => Some(10),
        "bigint" => Some(if mysql.ends_with("unsigned") { 20 } else { 19 }),
        "float" => Some(12),
        "double" => Some(22),
        "decimal" => declared_number(mysql, 0),
        _ => None,
    }
}

/// Digits behind the point of MySQL's numeric types.
pub(super) fn fraction(mysql: &str) -> Option<i64> {
    match base(mysql) {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Some(0),
        "decimal" => declared_number(mysql, 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_are_told_in_both_vendors_words() {
        let cases = [
            ("VARCHAR(20)", "character varying(20)", "varchar(20)"),
            ("character varying(20)", "character varying(20)", "varchar(20)"),
            ("DECIMAL(10, 2)", "numeric(10,2)", "decimal(10,2)"),
            ("numeric", "numeric", "decimal(65,30)"),
            ("INT", "integer", "int"),
            ("INT UNSIGNED", "bigint", "int unsigned"),
            ("BIGINT", "bigint", "bigint"),
            ("BOOLEAN", "boolean", "tinyint(1)"),
            ("TIMESTAMP(3)", "timestamp(3) without time zone", "timestamp(3)"),
            ("timestamp with time zone", "timestamp with time zone", "timestamp"),
            ("double precision", "double precision", "double"),
            ("", "text", "longtext"),
        ];
        for (declared, postgres, told) in cases {
            let own = format_type(oid(declared, Key::Other), Some(modifier(declared)));
            assert_eq!((own.as_str(), mysql(declared, Key::Other).as_str()), (postgres, told));
        }
        assert_eq!(format_type(oid("INTEGER", Key::Row), None), "bigint");
        assert_eq!(mysql("INTEGER", Key::Row), "bigint");
    }
}
