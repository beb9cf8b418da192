//! The numbers of the built-in types, as in `pg_type.dat`; they never change.
//! <https://www.postgresql.org/docs/current/catalog-pg-type.html>

/// boolean
pub const BOOL: u32 = 16;
/// bytea
pub const BYTEA: u32 = 17;
/// "char"
pub const CHAR: u32 = 18;
/// name
pub const NAME: u32 = 19;
/// bigint
pub const INT8: u32 = 20;
/// smallint
pub const INT2: u32 = 21;
/// integer
pub const INT4: u32 = 23;
/// text
pub const TEXT: u32 = 25;
/// oid
pub const OID: u32 = 26;
/// json
pub const JSON: u32 = 114;
/// xml
pub const XML: u32 = 142;
/// real
pub const FLOAT4: u32 = 700;
/// double precision
pub const FLOAT8: u32 = 701;
/// unknown, the type of a literal nobody has typed
pub const UNKNOWN: u32 = 705;
/// character(n)
pub const BPCHAR: u32 = 1042;
/// character varying
pub const VARCHAR: u32 = 1043;
/// date
pub const DATE: u32 = 1082;
/// time without time zone
pub const TIME: u32 = 1083;
/// timestamp without time zone
pub const TIMESTAMP: u32 = 1114;
/// timestamp with time zone
pub const TIMESTAMPTZ: u32 = 1184;
/// interval
pub const INTERVAL: u32 = 1186;
/// time with time zone
pub const TIMETZ: u32 = 1266;
/// numeric
pub const NUMERIC: u32 = 1700;
/// uuid
pub const UUID: u32 = 2950;
/// jsonb
pub const JSONB: u32 = 3802;

/// The SQL name of a type, for messages.
pub fn name(oid: u32) -> &'static str {
    match oid {
        BOOL => "boolean",
        BYTEA => "bytea",
        CHAR => "\"char\"",
        NAME => "name",
        INT8 => "bigint",
        INT2 => "smallint",
        INT4 => "integer",
        TEXT => "text",
        OID => "oid",
        JSON => "json",
        XML => "xml",
        FLOAT4 => "real",
        FLOAT8 => "double precision",
        BPCHAR => "character",
        VARCHAR => "character varying",
        DATE => "date",
        TIME => "time without time zone",
        TIMESTAMP => "timestamp without time zone",
        TIMESTAMPTZ => "timestamp with time zone",
        INTERVAL => "interval",
        TIMETZ => "time with time zone",
        NUMERIC => "numeric",
        UUID => "uuid",
        JSONB => "jsonb",
        _ => "unknown",
    }
}
