//! Names of built-in types in the catalogue, as in `pg_type.dat`; their numbers never change.
//! <https://www.postgresql.org/docs/current/catalog-pg-type.html>

/// Numbers below this one are built in.
pub const FIRST_OWN: u32 = 16_384;

/// The name in `pg_catalog` of a type that a column may have, arrays and ranges among them; not of pseudo-types, nor of those of the catalogue itself.
pub fn catalogue_name(oid: u32) -> Option<&'static str> {
    NAMES
        .binary_search_by_key(&oid, |(own, _)| *own)
        .ok()
        .and_then(|at| NAMES.get(at))
        .map(|(_, name)| *name)
}

const NAMES: &[(u32, &str)] = &[
    (16, "bool"),
    (17, "bytea"),
    (18, "char"),
    (19, "name"),
    (20, "int8"),
    (21, "int2"),
    (23, "int4"),
    (25, "text"),
    (26, "oid"),
    (114, "json"),
    (142, "xml"),
    (143, "_xml"),
    (199, "_json"),
    (271, "_xid8"),
    (600, "point"),
    (601, "lseg"),
    (602, "path"),
    (603, "box"),
    (604, "polygon"),
    (628, "line"),
    (629, "_line"),
    (650, "cidr"),
    (651, "_cidr"),
    (700, "float4"),
    (701, "float8"),
    (718, "circle"),
    (719, "_circle"),
    (774, "macaddr8"),
    (775, "_macaddr8"),
    (790, "money"),
    (791, "_money"),
    (829, "macaddr"),
    (869, "inet"),
    (1000, "_bool"),
    (1001, "_bytea"),
    (1002, "_char"),
    (1003, "_name"),
    (1005, "_int2"),
    (1007, "_int4"),
    (1009, "_text"),
    (1014, "_bpchar"),
    (1015, "_varchar"),
    (1016, "_int8"),
    (1017, "_point"),
    (1018, "_lseg"),
    (1019, "_path"),
    (1020, "_box"),
    (1021, "_float4"),
    (1022, "_float8"),
    (1027, "_polygon"),
    (1028, "_oid"),
    (1040, "_macaddr"),
    (1041, "_inet"),
    (1042, "bpchar"),
    (1043, "varchar"),
    (1082, "date"),
    (1083, "time"),
    (1114, "timestamp"),
    (1115, "_timestamp"),
    (1182, "_date"),
    (1183, "_time"),
    (1184, "timestamptz"),
    (1185, "_timestamptz"),
    (1186, "interval"),
    (1187, "_interval"),
    (1231, "_numeric"),
    (1266, "timetz"),
    (1270, "_timetz"),
    (1560, "bit"),
    (1561, "_bit"),
    (1562, "varbit"),
    (1563, "_varbit"),
    (1700, "numeric"),
    (2950, "uuid"),
    (2951, "_uuid"),
    (3220, "pg_lsn"),
    (3221, "_pg_lsn"),
    (3614, "tsvector"),
    (3615, "tsquery"),
    (3643, "_tsvector"),
    (3645, "_tsquery"),
    (3802, "jsonb"),
    (3807, "_jsonb"),
    (3904, "int4range"),
    (3905, "_int4range"),
    (3906, "numrange"),
    (3907, "_numrange"),
    (3908, "tsrange"),
    (3909, "_tsrange"),
    (3910, "tstzrange"),
    (3911, "_tstzrange"),
    (3912, "daterange"),
    (3913, "_daterange"),
    (3926, "int8range"),
    (3927, "_int8range"),
    (4072, "jsonpath"),
    (4073, "_jsonpath"),
    (4451, "int4multirange"),
    (4532, "nummultirange"),
    (4533, "tsmultirange"),
    (4534, "tstzmultirange"),
    (4535, "datemultirange"),
    (4536, "int8multirange"),
    (5069, "xid8"),
    (6150, "_int4multirange"),
    (6151, "_nummultirange"),
    (6152, "_tsmultirange"),
    (6153, "_tstzmultirange"),
    (6155, "_datemultirange"),
    (6157, "_int8multirange"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(NAMES.is_sorted_by_key(|(oid, _)| *oid));
        assert_eq!(catalogue_name(1560), Some("bit"));
        assert_eq!(catalogue_name(2249), None, "a record");
    }
}
