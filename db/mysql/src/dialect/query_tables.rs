//! Tables that are made of a query's rows: a column that is one of a table keeps its default, its comment and whether
//! it may be NULL. <https://dev.mysql.com/doc/refman/8.0/en/create-table-select.html>

use pando_kernel::dialect::{Language, Metadata, TableColumn};
use pando_kernel::query_tables::{Definitions, PROBE, Probed, QueryTables, Wanted};
use pando_kernel::relation::{Inline, PREFIX};
use pando_kernel::{Error, Result, Value};

use super::MySql;
use super::metadata::text;
use super::relations::{MODE, MODE_BACK};

impl QueryTables for MySql {
    fn selects_into(&self) -> bool {
        false
    }

    fn without_rows(&self) -> Option<&'static str> {
        Some("LIMIT 0")
    }

    fn probe(&self, wanted: &Wanted<'_>) -> String {
        let Wanted { elements, options, query } = wanted;
        format!("CREATE TEMPORARY TABLE {PROBE} {elements} {options} AS {query}")
    }

    fn probed_query(&self) -> String {
        format!("SHOW CREATE TABLE {PROBE}")
    }

    fn probed(&self, _wanted: &Wanted<'_>, rows: &[Vec<Value>]) -> Result<Probed> {
        let text = match rows {
            [row] => match row.get(1) {
                Some(Value::Text(text)) => text.as_str(),
                _ => "",
            },
            _ => "",
        };
        let (_, body) = text
            .split_once(" (")
            .ok_or_else(|| Error::internal("a table's definition has another shape"))?;
        Ok(Probed { body: format!("({body}"), columns: names(body), types: Vec::new() })
    }

    fn definitions(&self) -> &dyn Definitions {
        self
    }
}

impl Definitions for MySql {
    fn definition_of(&self, table: &str) -> Option<String> {
        Some(format!("SHOW CREATE TABLE {table}"))
    }

    fn twin(&self, number: usize, definition: &str) -> Option<Inline> {
        let lines: Vec<&str> = definition.lines().skip(1).collect();
        let end = lines.iter().position(|line| line.starts_with(')'))?;
        // Where a table is kept, and what it refers to, is not its twin's; nor has a temporary table such indexes.
        let left_out = |line: &&str| {
            let words = line.trim_start();
            ["CONSTRAINT ", "FULLTEXT ", "SPATIAL "].iter().any(|word| words.starts_with(word))
        };
        let kept = lines.get(..end)?.iter().filter(|line| !left_out(line));
        let elements: Vec<&str> = kept.map(|line| line.trim_end_matches(',')).collect();
        let options = lines.get(end)?.split(' ');
        let letters =
            options.filter(|word| ["CHARSET=", "COLLATE="].iter().any(|own| word.starts_with(own)));
        let letters: Vec<&str> = letters.collect();
        let name = format!("{PREFIX}{number}");
        let text = format!(
            "CREATE TEMPORARY TABLE {name} ({}) ENGINE=InnoDB {}",
            elements.join(","),
            letters.join(" ")
        );
        let before = vec![MODE.to_owned(), text, MODE_BACK.to_owned()];
        (!elements.is_empty()).then_some(Inline { before, table: name })
    }

    fn alike(&self, definition: &str) -> Option<String> {
        let lines: Vec<&str> = definition.lines().skip(1).collect();
        let end = lines.iter().position(|line| line.starts_with(')'))?;
        let kept = lines.get(..end)?.iter().filter(|line| !is_foreign_key(line));
        let elements: Vec<&str> =
            kept.map(|line| unnamed(line.trim().trim_end_matches(','))).collect();
        let first = lines.get(end)?.trim_start_matches(')').split(' ');
        // The next number that the other table gives is not the new one's.
        let options: Vec<&str> =
            first.filter(|word| !word.starts_with("AUTO_INCREMENT=")).collect();
        let rest = lines.get(end + 1..).unwrap_or_default();
        let body = format!("({}){} {}", elements.join(", "), options.join(" "), rest.join(" "));
        (!elements.is_empty()).then(|| body.trim_end().to_owned())
    }

    /// The catalogue of older servers has no temporary tables.
    fn temporary_columns_query(&self, table: &str) -> String {
        format!("SHOW FULL COLUMNS FROM {}", self.quote(table))
    }

    fn read_temporary_column(&self, row: &[Value]) -> Result<TableColumn> {
        let [name, column_type, collation, nullable, key, default, extra, ..] = row else {
            return Err(Error::internal("a row of SHOW FULL COLUMNS has nine fields"));
        };
        let whole = text(column_type)?;
        let data_type = whole.split(['(', ' ']).next().unwrap_or_default();
        let default = if default.is_null() { Value::Text(String::new()) } else { default.clone() };
        self.read_column(&[
            name.clone(),
            Value::Text(data_type.to_owned()),
            column_type.clone(),
            collation.clone(),
            key.clone(),
            extra.clone(),
            nullable.clone(),
            default,
            Value::Int(0),
            Value::Null,
            Value::Null,
        ])
    }
}

fn is_foreign_key(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix("CONSTRAINT `");
    rest.and_then(|rest| rest.split_once("` "))
        .is_some_and(|(_, words)| words.starts_with("FOREIGN KEY"))
}

/// A check without the name that MySQL has made for it: it is to be unique in its database, and is made anew of the new
/// table's.
fn unnamed(line: &str) -> &str {
    let Some((name, rest)) =
        line.strip_prefix("CONSTRAINT `").and_then(|rest| rest.split_once("` "))
    else {
        return line;
    };
    let number = name.rsplit_once("_chk_").map(|(_, number)| number);
    match number.is_some_and(|number| number.parse::<u32>().is_ok()) {
        true => rest,
        false => line,
    }
}

/// The columns of a definition as SHOW CREATE TABLE writes it: each begins its line.
fn names(body: &str) -> Vec<String> {
    let quoted = |line: &str| {
        let rest = line.trim_start().strip_prefix('`')?;
        let bytes = rest.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match (bytes[at], bytes.get(at + 1)) {
                (b'`', Some(b'`')) => at += 2,
                (b'`', _) => return rest.get(..at).map(|name| format!("`{name}`")),
                _ => at += 1,
            }
        }
        None
    };
    body.lines().filter_map(quoted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "CREATE TABLE `a` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  `o``k` varchar(20) DEFAULT 'q' COMMENT 'c',\n  PRIMARY KEY (`id`),\n  FULLTEXT KEY `f` (`o``k`),\n  CONSTRAINT `x` FOREIGN KEY (`id`) REFERENCES `b` (`id`)\n) ENGINE=MyISAM AUTO_INCREMENT=4 DEFAULT CHARSET=latin1 COLLATE=latin1_bin\n PARTITION BY HASH (`id`)";

    #[test]
    fn a_twin_has_the_columns_and_is_bound_to_nothing() {
        let twin = MySql.twin(3, SHOWN).unwrap();
        assert_eq!(twin.table, "pando_relation_3");
        assert_eq!(
            twin.before[1..2],
            [
                "CREATE TEMPORARY TABLE pando_relation_3 (  `id` int(11) NOT NULL AUTO_INCREMENT,  `o``k` varchar(20) DEFAULT 'q' COMMENT 'c',  PRIMARY KEY (`id`)) ENGINE=InnoDB CHARSET=latin1 COLLATE=latin1_bin"
            ]
        );
        assert!(MySql.twin(1, "CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1").is_none());
    }

    #[test]
    fn a_table_like_another_refers_to_nothing_and_counts_anew() {
        assert_eq!(
            MySql.alike(SHOWN).unwrap(),
            "(`id` int(11) NOT NULL AUTO_INCREMENT, `o``k` varchar(20) DEFAULT 'q' COMMENT 'c', PRIMARY KEY (`id`), FULLTEXT KEY `f` (`o``k`)) ENGINE=MyISAM DEFAULT CHARSET=latin1 COLLATE=latin1_bin  PARTITION BY HASH (`id`)"
        );
        let checked = "CREATE TABLE `a` (\n  `id` int,\n  CONSTRAINT `a_chk_1` CHECK ((`id` > 0)),\n  CONSTRAINT `own` CHECK ((`id` > 1))\n) ENGINE=InnoDB";
        assert_eq!(
            MySql.alike(checked).unwrap(),
            "(`id` int, CHECK ((`id` > 0)), CONSTRAINT `own` CHECK ((`id` > 1))) ENGINE=InnoDB"
        );
        assert!(MySql.alike("CREATE VIEW `v` AS select 1").is_none());
    }

    #[test]
    fn what_was_made_is_read_with_its_columns() {
        let wanted = Wanted { elements: "", options: "", query: "" };
        let rows = [vec![Value::Text("a".into()), Value::Text(SHOWN.into())]];
        let probed = MySql.probed(&wanted, &rows).unwrap();
        assert_eq!(probed.columns, ["`id`", "`o``k`"]);
        assert!(probed.body.starts_with("(\n  `id`"));
        assert!(MySql.probed(&wanted, &[]).is_err());
    }
}
