//! SQL modes by which servers read texts. What is read here must mean the same there, so no connection to a storage unit has one of them, whatever its server's own default is.
//! <https://dev.mysql.com/doc/refman/8.4/en/sql-mode.html>, <https://mariadb.com/kb/en/sql-mode/>

/// Those that no session may have, and the names of groups with one of them.
pub(crate) const READING: [&str; 13] = [
    "ANSI_QUOTES",
    "NO_BACKSLASH_ESCAPES",
    "IGNORE_SPACE",
    "HIGH_NOT_PRECEDENCE",
    "EMPTY_STRING_IS_NULL",
    "ANSI",
    "DB2",
    "MAXDB",
    "MSSQL",
    "ORACLE",
    "POSTGRESQL",
    "MYSQL323",
    "MYSQL40",
];

/// What it means is spelled out before anything is read, in sessions that have set it.
pub(crate) const PIPES: &str = "PIPES_AS_CONCAT";

/// What a session begins with: the modes of `variable` that say nothing of how texts are read. The expression reads alike under all of them.
pub(crate) fn without_reading(variable: &str) -> String {
    let all = format!("CONCAT(',', {variable}, ',')");
    let rest = READING
        .iter()
        .chain(&[PIPES])
        .fold(all, |rest, mode| format!("REPLACE({rest}, ',{mode},', ',')"));
    format!("TRIM(BOTH ',' FROM {rest})")
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
}
