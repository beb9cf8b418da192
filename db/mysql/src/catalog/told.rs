//! Errors of a storage unit in logic names.
//!
//! Which messages hold names and nothing of the client's values is told by their numbers:
//! <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>, <https://mariadb.com/kb/en/mariadb-error-code-reference/>.

use pando_kernel::{ActualNames, ServerError};

use super::relations::is_vendors;

/// `ER_NO_SUCH_TABLE`.
pub(super) fn missing(table: &str) -> ServerError {
    ServerError {
        number: 1146,
        sqlstate: "42S02".into(),
        message: format!("Table '{table}' doesn't exist"),
        ..ServerError::default()
    }
}

/// `ER_BAD_TABLE_ERROR`.
pub(super) fn missing_to_drop(database: &str, names: &[String]) -> ServerError {
    let names: Vec<String> = names.iter().map(|name| format!("{database}.{name}")).collect();
    ServerError {
        number: 1051,
        sqlstate: "42S02".into(),
        message: format!("Unknown table '{}'", names.join(",")),
        ..ServerError::default()
    }
}

/// `Duplicate entry '…' for key 't_0.PRIMARY'`, the same of a unique index of several tables, and MariaDB's `Incorrect … value: '…' for column `ds_0`.`t_0`.`a``.
const VALUE_FIRST: [u32; 7] = [1062, 1264, 1265, 1292, 1366, 1586, 1859];

/// Tables (`Table 'ds_0.t_0' doesn't exist`), columns (`Unknown column 't_0.a'`) and constraints, in quotes of either kind.
const NAMING: [u32; 45] = [
    1005, 1050, 1051, 1054, 1055, 1066, 1091, 1100, 1109, 1140, 1142, 1143, 1146, 1176, 1215, 1216,
    1217, 1347, 1356, 1369, 1393, 1394, 1395, 1451, 1452, 1506, 1553, 1701, 1822, 1824, 1826, 1828,
    1829, 1830, 1832, 1834, 1965, 3730, 3819, 3821, 3822, 3940, 4025, 4091, 4092,
];

/// Of these, those whose names always begin with the database's where they have parts.
const QUALIFIED: [u32; 14] =
    [1005, 1051, 1055, 1140, 1146, 1347, 1356, 1369, 1393, 1394, 1395, 1965, 4091, 4092];

/// `The target table v_0 of the INSERT is not insertable-into`: without quotes.
const UNQUOTED: [u32; 2] = [1288, 1471];

/// How names stand in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Bare,
    /// With the database's in front where they have parts.
    Qualified,
}

pub(super) fn in_logic_names(told: &mut ServerError, names: &ActualNames) {
    if VALUE_FIRST.contains(&told.number) {
        // The value stands before, with whatever marks.
        let ends = [" for key '", " for column `"].map(|words| told.message.rfind(words));
        let Some(at) = ends.into_iter().flatten().max() else { return };
        // `Truncated incorrect INTEGER value: '…'` ends with the value: what looks like a column's name is of it.
        if told.number == 1292 && told.message.ends_with('\'') {
            return;
        }
        let (value, behind) = told.message.split_at(at);
        told.message = format!("{value}{}", renewed(behind, Names::Bare, names));
    } else if UNQUOTED.contains(&told.number) {
        if let Some((ahead, behind)) = told.message.split_once(" table ")
            && let Some((name, rest)) = behind.split_once(" of the ")
            && let Some(logic) = names.table(name)
        {
            told.message = format!("{ahead} table {logic} of the {rest}");
        }
    } else if NAMING.contains(&told.number) {
        let form = match QUALIFIED.contains(&told.number) {
            true => Names::Qualified,
            false => Names::Bare,
        };
        told.message = renewed(&told.message, form, names);
    }
}

/// The text with what stands in quotes anew.
fn renewed(text: &str, form: Names, names: &ActualNames) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Parts of one name so far.
    let mut parts = 0;
    while let Some(at) = rest.find(['\'', '`']) {
        let (ahead, quoted) = rest.split_at(at);
        out.push_str(ahead);
        let mark = if quoted.starts_with('`') { '`' } else { '\'' };
        if ahead.ends_with(char::is_alphanumeric) {
            // doesn't
            out.push(mark);
            rest = &quoted[1..];
            continue;
        }
        let Some(end) = quoted[1..].find(mark) else {
            rest = quoted;
            break;
        };
        let name = &quoted[1..=end];
        rest = &quoted[end + 2..];
        parts = if ahead == "." { parts + 1 } else { 0 };
        out.push(mark);
        match parts {
            // `ds_0`.`t_0`.`a`
            0 if rest.starts_with(".`") && !is_vendors(name) => out.push_str(names.database()),
            0 if !names_table(ahead) => out.push_str(&owned(name, form, names)),
            0 | 1 => match names.table(name) {
                Some(logic) => out.push_str(logic),
                None => out.push_str(&owned(name, form, names)),
            },
            _ => out.push_str(name),
        }
        out.push(mark);
    }
    out.push_str(rest);
    out
}

/// Whether what stands in front of a name says that it is a table's: anything may be called as one is.
fn names_table(ahead: &str) -> bool {
    let word = ahead.trim_end().rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
    matches!(word.as_str(), "table" | "references" | "table/alias:")
}

/// A table with its database in front, a column with its table in front, or what belongs to a table.
fn owned(name: &str, form: Names, names: &ActualNames) -> String {
    let is_qualified = form == Names::Qualified;
    if is_qualified && name.contains(',') && name.split(',').all(|one| one.contains('.')) {
        return listed(name, names);
    }
    match name.split_once('.') {
        Some((table, column)) if names.table(table).is_some() => {
            let column = names.inner(column).unwrap_or_else(|| column.to_owned());
            format!("{}.{column}", names.table(table).unwrap_or(table))
        }
        // `ds_0.t`, and `ds_0.t.a`.
        Some((database, table)) if is_qualified && !is_vendors(database) => {
            let (table, column) = table.split_once('.').unwrap_or((table, ""));
            let dot = if column.is_empty() { "" } else { "." };
            let table = names.table(table).unwrap_or(table);
            format!("{}.{table}{dot}{column}", names.database())
        }
        Some(_) => name.to_owned(),
        None => names.inner(name).unwrap_or_else(|| name.to_owned()),
    }
}

/// `ds_0.t_0,ds_0.t_1`: what a DROP TABLE misses is told together, here each table once.
fn listed(list: &str, names: &ActualNames) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in list.split(',').map(|one| owned(one, Names::Qualified, names)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_logic_ones_and_values_stay() {
        let cases = [
            (
                1062,
                "Duplicate entry 't_0' for key 't_0.PRIMARY'",
                "Duplicate entry 't_0' for key 't.PRIMARY'",
            ),
            (
                1062,
                "Duplicate entry ' for key 't_0.x'' for key 'uk'",
                "Duplicate entry ' for key 't_0.x'' for key 'uk'",
            ),
            (1146, "Table 'ds_0.t_1' doesn't exist", "Table 'shop.t' doesn't exist"),
            (1146, "Table 'ds_0.single' doesn't exist", "Table 'shop.single' doesn't exist"),
            (4091, "Unknown SEQUENCE: 'ds_0.nowhere'", "Unknown SEQUENCE: 'shop.nowhere'"),
            (1146, "Table 'mysql.nowhere' doesn't exist", "Table 'mysql.nowhere' doesn't exist"),
            (
                1051,
                "Unknown table 'ds_0.t_0,ds_0.t_1,ds_0.single'",
                "Unknown table 'shop.t,shop.single'",
            ),
            (1051, "Unknown table 'ds_0.a,b'", "Unknown table 'shop.a,b'"),
            (1054, "Unknown column 't_1' in 'field list'", "Unknown column 't_1' in 'field list'"),
            (1062, "Duplicate entry '1' for key 't_1'", "Duplicate entry '1' for key 't_1'"),
            (
                4025,
                "CONSTRAINT `t_0` failed for `ds_0`.`one`",
                "CONSTRAINT `t_0` failed for `shop`.`one`",
            ),
            (1050, "Table 't_1' already exists", "Table 't' already exists"),
            (
                1471,
                "The target table t_0 of the INSERT is not insertable-into",
                "The target table t of the INSERT is not insertable-into",
            ),
            (1965, "'ds_0.t_0' is a view", "'shop.t' is a view"),
            (1369, "CHECK OPTION failed 'ds_0.t_0'", "CHECK OPTION failed 'shop.t'"),
            (
                1054,
                "Unknown column 't_0.a' in 'field list'",
                "Unknown column 't.a' in 'field list'",
            ),
            (
                1054,
                "Unknown column 'x.t_0' in 'where clause'",
                "Unknown column 'x.t_0' in 'where clause'",
            ),
            (1055, "column 'ds_0.t_0.id' which is not", "column 'shop.t.id' which is not"),
            (
                1091,
                "Can't DROP 'nope_t_0'; check that column/key exists",
                "Can't DROP 'nope'; check that column/key exists",
            ),
            (
                1176,
                "Key 'nope' doesn't exist in table 't_0'",
                "Key 'nope' doesn't exist in table 't'",
            ),
            (
                1366,
                "Incorrect integer value: '`t_0`' for column `ds_0`.`t_0`.`t_0` at row 1",
                "Incorrect integer value: '`t_0`' for column `shop`.`t`.`t_0` at row 1",
            ),
            (
                1292,
                "Incorrect date value: 'x' for column `ds_0`.`t_0`.`t_0` at row 1",
                "Incorrect date value: 'x' for column `shop`.`t`.`t_0` at row 1",
            ),
            (
                1292,
                "Truncated incorrect DOUBLE value: 'x for column `ds_0`.`t_0`.`a` at row 1'",
                "Truncated incorrect DOUBLE value: 'x for column `ds_0`.`t_0`.`a` at row 1'",
            ),
            (
                1452,
                "a foreign key constraint fails (`ds_0`.`t_0`, CONSTRAINT `fk_t_0` FOREIGN KEY (`u`) REFERENCES `t_1` (`id`))",
                "a foreign key constraint fails (`shop`.`t`, CONSTRAINT `fk` FOREIGN KEY (`u`) REFERENCES `t` (`id`))",
            ),
            (
                3819,
                "Check constraint 't_0_chk_1' is violated.",
                "Check constraint 't_chk_1' is violated.",
            ),
            (
                4025,
                "CONSTRAINT `named_t_0` failed for `ds_0`.`t_0`",
                "CONSTRAINT `named` failed for `shop`.`t`",
            ),
            (1644, "a trigger's own 't_0'", "a trigger's own 't_0'"),
            (1146, "Table 'broken off", "Table 'broken off"),
        ];
        let names = ActualNames::new("shop", &[("t_0", "t"), ("t_1", "t")]);
        for (number, sent, expected) in cases {
            let mut told = ServerError { number, message: sent.into(), ..ServerError::default() };
            in_logic_names(&mut told, &names);
            assert_eq!(told.message, expected);
        }
    }
}
