//! SQL modes by which servers read texts. What is read here must mean the same there, so no connection to a storage
//! unit has one of them, whatever its server's own default is: a session's texts are restated before they go there.
//! <https://dev.mysql.com/doc/refman/8.4/en/sql-mode.html>, <https://mariadb.com/kb/en/sql-mode/>

use pando_sql::Modes;

use crate::dialect::string_of;

/// The variable that has them.
pub(crate) const VARIABLE: &str = "sql_mode";

/// Those that change how a text is read, and the names of groups with one of them.
pub(crate) const READING: [&str; 13] = [
    ANSI_QUOTES,
    NO_BACKSLASH_ESCAPES,
    IGNORE_SPACE,
    ANSI,
    "HIGH_NOT_PRECEDENCE",
    "EMPTY_STRING_IS_NULL",
    "DB2",
    "MAXDB",
    "MSSQL",
    "ORACLE",
    "POSTGRESQL",
    "MYSQL323",
    "MYSQL40",
];

/// Those of them that no session may have.
pub(crate) const UNREAD: [&str; 9] = [
    "HIGH_NOT_PRECEDENCE",
    "EMPTY_STRING_IS_NULL",
    "DB2",
    "MAXDB",
    "MSSQL",
    "ORACLE",
    "POSTGRESQL",
    "MYSQL323",
    "MYSQL40",
];

const ANSI_QUOTES: &str = "ANSI_QUOTES";
const NO_BACKSLASH_ESCAPES: &str = "NO_BACKSLASH_ESCAPES";
const IGNORE_SPACE: &str = "IGNORE_SPACE";
/// A group with ANSI_QUOTES and IGNORE_SPACE.
const ANSI: &str = "ANSI";
/// Those that a client's session may have and storage units' connections have not.
const LEXING: [&str; 4] = [ANSI_QUOTES, NO_BACKSLASH_ESCAPES, IGNORE_SPACE, ANSI];

/// What it means is spelled out before anything is read, in sessions that have set it.
pub(crate) const PIPES: &str = "PIPES_AS_CONCAT";

const GROUP_BY: &str = "ONLY_FULL_GROUP_BY";
/// What ANSI stands for beside itself; GROUP_BY in MySQL only.
const OF_ANSI: [&str; 5] = ["REAL_AS_FLOAT", PIPES, ANSI_QUOTES, IGNORE_SPACE, GROUP_BY];
/// What TRADITIONAL stands for beside itself; the last one in MariaDB only.
const OF_TRADITIONAL: [&str; 7] = [
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_ENGINE_SUBSTITUTION",
    "NO_AUTO_CREATE_USER",
];

/// The order in which servers show them.
const ORDER: [&str; 24] = [
    "REAL_AS_FLOAT",
    PIPES,
    ANSI_QUOTES,
    IGNORE_SPACE,
    "IGNORE_BAD_TABLE_OPTIONS",
    GROUP_BY,
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    ANSI,
    "NO_AUTO_VALUE_ON_ZERO",
    NO_BACKSLASH_ESCAPES,
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NO_AUTO_CREATE_USER",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
];

/// What a session begins with: the modes of `variable` that say nothing of how texts are read. The expression reads
/// alike under all of them.
pub(crate) fn without_reading(variable: &str) -> String {
    let all = format!("CONCAT(',', {variable}, ',')");
    let rest = READING
        .iter()
        .chain(&[PIPES])
        .fold(all, |rest, mode| format!("REPLACE({rest}, ',{mode},', ',')"));
    format!("TRIM(BOTH ',' FROM {rest})")
}

/// The modes that a session's value names, where some of them are not for storage units; empty otherwise.
pub(crate) fn told(value: &str) -> String {
    let names = named(value);
    match names.iter().any(|name| LEXING.contains(&name.as_str())) {
        true => names.join(","),
        false => String::new(),
    }
}

/// How the texts of a client are read that was told so.
pub(crate) fn told_modes(told: &[(String, String)]) -> Modes {
    let names = told.iter().find(|(name, _)| name == VARIABLE).map_or("", |(_, names)| names);
    if names.is_empty() {
        return Modes::default();
    }
    let has = |mode: &str| names.split(',').any(|name| name == mode);
    Modes {
        ansi_quotes: has(ANSI_QUOTES) || has(ANSI),
        plain_backslashes: has(NO_BACKSLASH_ESCAPES),
        ignore_space: has(IGNORE_SPACE) || has(ANSI),
        pipes_concatenate: has(PIPES) || has(ANSI),
    }
}

/// The value that storage units get for a session's: an expression. Which modes a group has is theirs to say.
pub(crate) fn for_units(value: &str) -> String {
    let names = named(value);
    if told(value).is_empty() {
        return value.to_owned();
    }
    let has_ansi = names.iter().any(|name| name == ANSI);
    let of_ansi = OF_ANSI.iter().filter(|_| has_ansi).map(|name| (*name).to_owned());
    let mut kept: Vec<String> = names.into_iter().chain(of_ansi).collect();
    kept.retain(|name| !LEXING.contains(&name.as_str()));
    let list = |names: &[String]| format!("'{}'", names.join(","));
    let all = list(&kept);
    kept.retain(|name| name != GROUP_BY);
    match has_ansi && !named(value).iter().any(|name| name == GROUP_BY) {
        true => format!("IF(LOCATE('MariaDB', VERSION()) > 0, {}, {all})", list(&kept)),
        false => all,
    }
}

/// The modes as a server shows them.
pub(crate) fn shown(names: &str, version: Option<&str>) -> String {
    let is_fork = version.is_some_and(|version| version.contains("MariaDB"));
    let mut all: Vec<&str> = names.split(',').collect();
    if all.contains(&ANSI) {
        all.extend(OF_ANSI.iter().filter(|name| !is_fork || **name != GROUP_BY));
    }
    if all.contains(&"TRADITIONAL") {
        let of_fork = OF_TRADITIONAL.len() - usize::from(!is_fork);
        all.extend(OF_TRADITIONAL.iter().take(of_fork));
    }
    let (known, other): (Vec<&str>, Vec<&str>) = all.iter().partition(|name| ORDER.contains(*name));
    let ordered = ORDER.iter().copied().filter(|name| known.contains(name));
    ordered.chain(other).collect::<Vec<_>>().join(",")
}

/// The names in a value, in upper case; none in one that has to be computed.
fn named(value: &str) -> Vec<String> {
    let list = string_of(value).unwrap_or_default().to_ascii_uppercase();
    list.split(',').map(|name| name.trim_end().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_taken_out_of_the_list() {
        let expression = without_reading("@@SESSION.sql_mode");
        for mode in READING.iter().chain(&[PIPES]) {
            assert!(expression.contains(&format!(", ',{mode},', ',')")), "{mode}");
        }
        assert!(expression.contains("CONCAT(',', @@SESSION.sql_mode, ',')"));
    }

    #[test]
    fn units_get_what_says_nothing_of_texts() {
        for (value, expected) in [
            ("'STRICT_ALL_TABLES'", "'STRICT_ALL_TABLES'"),
            ("@@global.sql_mode", "@@global.sql_mode"),
            ("'ansi_quotes,PIPES_AS_CONCAT'", "'PIPES_AS_CONCAT'"),
            ("`NO_BACKSLASH_ESCAPES`", "''"),
            (
                "ANSI",
                "IF(LOCATE('MariaDB', VERSION()) > 0, 'REAL_AS_FLOAT,PIPES_AS_CONCAT', \
                 'REAL_AS_FLOAT,PIPES_AS_CONCAT,ONLY_FULL_GROUP_BY')",
            ),
            (
                "'ANSI,ONLY_FULL_GROUP_BY'",
                "'ONLY_FULL_GROUP_BY,REAL_AS_FLOAT,PIPES_AS_CONCAT,ONLY_FULL_GROUP_BY'",
            ),
        ] {
            assert_eq!(for_units(value), expected, "{value}");
        }
    }

    #[test]
    fn modes_are_shown_as_servers_show_them() {
        for (value, version, expected) in [
            (
                "ANSI",
                "8.0.31",
                "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI",
            ),
            (
                "ANSI",
                "10.11.19-MariaDB",
                "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI",
            ),
            (
                "'TRADITIONAL,ANSI_QUOTES'",
                "8.0.31",
                "ANSI_QUOTES,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                 ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,NO_ENGINE_SUBSTITUTION",
            ),
            (
                "'NO_BACKSLASH_ESCAPES,strict_trans_tables'",
                "8.0.31",
                "NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES",
            ),
        ] {
            assert_eq!(shown(&told(value), Some(version)), expected, "{value}");
        }
        assert_eq!(told("'STRICT_ALL_TABLES'"), "");
    }
}
