//! The columns in the text of SHOW CREATE TABLE as clients see them: each on a line of its own, keys behind them.
//! <https://dev.mysql.com/doc/refman/8.4/en/show-create-table.html>

use pando_kernel::dialect::Language;
use pando_kernel::presentation::{ShownColumn, Telling};

use super::create::quoted;
use super::declared;
use crate::dialect::MySql;

/// The text with columns under the names, and of the types, that clients see.
pub(super) fn told(text: &str, telling: &Telling<'_>) -> String {
    let Some(own) = table(text) else { return text.to_owned() };
    let columns: Vec<&ShownColumn> =
        telling.columns.iter().filter(|one| *one.table == *own).collect();
    if columns.is_empty() {
        return text.to_owned();
    }
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let (mut items, mut rest) = (Vec::new(), Vec::new());
    for line in lines {
        match rest.is_empty() && line.starts_with("  ") {
            true => items.extend(item(line.trim_end_matches(','), &columns, telling)),
            false => rest.push(line),
        }
    }
    format!("{first}\n{}\n{}", items.join(",\n"), rest.join("\n"))
}

/// The name behind CREATE TABLE.
fn table(text: &str) -> Option<String> {
    name(text.get(text.find('`')?..)?).map(|(name, _)| name)
}

/// A name in backticks at the beginning of a text, and what stands behind it.
fn name(text: &str) -> Option<(String, &str)> {
    if !text.starts_with('`') {
        return None;
    }
    let (token, behind) = text.split_at(quoted(text, '`'));
    Some((token.get(1..token.len() - 1)?.replace("``", "`"), behind))
}

/// A column or a key; `None` for a column that clients see nothing of.
fn item(line: &str, columns: &[&ShownColumn], telling: &Telling<'_>) -> Option<String> {
    let Some((stored, behind)) = name(line.trim_start()) else {
        return Some(key(line, columns));
    };
    let Some(column) = columns.iter().find(|one| *one.stored == *stored) else {
        return Some(line.to_owned());
    };
    let quoted = MySql.quote(column.logic.as_deref()?);
    let words = Words::of(behind);
    let kind = match column.declared {
        Some(declared) => declared::spelled(declared, telling.facts),
        None => words.kind.clone(),
    };
    Some(format!("  {quoted} {kind}{}", words.constraints))
}

/// A key's columns in its parentheses; those of another table, behind REFERENCES, are its own.
fn key(line: &str, columns: &[&ShownColumn]) -> String {
    let at = line.find('(').unwrap_or(line.len());
    let (front, list) = line.split_at(at);
    let (mut out, mut rest) = (front.to_owned(), list);
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("REFERENCES ") {
            break;
        }
        let length = match first {
            '`' | '\'' => quoted(rest, first),
            other => other.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        let told = name(token).and_then(|(stored, _)| {
            columns
                .iter()
                .find(|one| *one.stored == *stored)?
                .key_name()
                .map(|name| MySql.quote(name))
        });
        out.push_str(told.as_deref().unwrap_or(token));
        rest = behind;
    }
    out + rest
}

/// What stands behind a column's name.
struct Words {
    kind: String,
    /// NOT NULL, DEFAULT NULL and COMMENT, each with a blank in front. The letters of cipher text, and a default of it,
    /// are not the client's.
    constraints: String,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '\'' | '`' => quoted(rest, first),
                _ => rest.find([' ', '\'']).unwrap_or(rest.len()),
            };
            let (token, behind) = rest.split_at(length.max(1));
            tokens.push(token);
            rest = behind.trim_start();
        }
        let kind = tokens.first().copied().unwrap_or_default().to_owned();
        let mut constraints = String::new();
        for pair in tokens.windows(2) {
            let [word, next] = pair else { continue };
            if matches!((*word, *next), ("NOT", "NULL") | ("DEFAULT", "NULL")) || *word == "COMMENT"
            {
                constraints.push_str(&format!(" {word} {next}"));
            }
        }
        Self { kind, constraints }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pando_kernel::DeclaredType;
    use pando_kernel::dialect::Facts;

    use super::*;

    fn column(stored: &str, logic: Option<&str>, keys_of: Option<&str>) -> ShownColumn {
        ShownColumn {
            table: "t_0".into(),
            stored: stored.into(),
            logic: logic.map(Arc::from),
            declared: logic.map(|_| DeclaredType::Text { most: Some(20) }),
            keys_of: keys_of.map(Arc::from),
        }
    }

    #[test]
    fn each_name_of_a_key_is_told_once() {
        let columns = [column("c", Some("b"), None), column("b", Some("a"), None)];
        let all: Vec<&ShownColumn> = columns.iter().collect();
        for (line, told) in [
            ("  KEY `k` (`c`,`b`)", "  KEY `k` (`b`,`a`)"),
            (
                "  CONSTRAINT `f` FOREIGN KEY (`c`) REFERENCES `o` (`c`)",
                "  CONSTRAINT `f` FOREIGN KEY (`b`) REFERENCES `o` (`c`)",
            ),
            ("  KEY `k` (`c`) COMMENT 'of `c`'", "  KEY `k` (`b`) COMMENT 'of `c`'"),
        ] {
            assert_eq!(key(line, &all), told);
        }
    }

    #[test]
    fn columns_and_keys_are_those_that_clients_see() {
        let text = "CREATE TABLE `t_0` (\n  `id` int(11) NOT NULL,\n  `phone_cipher` varchar(128) CHARACTER SET \
            ascii COLLATE ascii_bin NOT NULL DEFAULT 'x,''y' COMMENT 'DEFAULT NULL, ''a''',\n  `phone_hash` varchar(32) \
            DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `phone_hash` (`phone_hash`),\n  KEY `k` \
            (`id`,`phone_hash`)\n) ENGINE=InnoDB\n/* x */";
        let columns = [
            column("phone_cipher", Some("phone"), None),
            column("phone_hash", None, Some("phone")),
        ];
        let facts = Facts::default();
        let telling = Telling { tables: &[], columns: &columns, facts: &facts };
        assert_eq!(
            told(text, &telling),
            "CREATE TABLE `t_0` (\n  `id` int(11) NOT NULL,\n  `phone` varchar(20) NOT NULL COMMENT 'DEFAULT NULL, \
             ''a''',\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `phone_hash` (`phone`),\n  KEY `k` (`id`,`phone`)\n) \
             ENGINE=InnoDB\n/* x */"
        );
        let others = Telling { columns: &[], ..telling };
        assert_eq!(told(text, &others), text);
    }
}
