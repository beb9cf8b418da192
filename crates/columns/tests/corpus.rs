//! Every statement of the differential corpus, with each column of its tables of interest in turn.

#![allow(clippy::unwrap_used, reason = "test support functions")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use pando_columns::{Interest, Reference, Stop};
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Catalog;
use pando_kernel::route::UnitName;
use pando_kernel::value;
use pando_sql::ast::{DefineAction, Kind, ObjectKind};

/// The tables that a file has made so far.
#[derive(Debug, Default)]
struct Made(BTreeMap<String, Vec<String>>);

impl Catalog for Made {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let names = self.0.get(table).map_or(&[][..], Vec::as_slice);
        let column = |name: &String| table_column(name, value::Kind::Text);
        Some(Arc::new(names.iter().map(column).collect()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
    }
}

impl Made {
    fn learn(&mut self, family: &str, sql: &str) {
        let dialect = support::dialect(family);
        let Ok(stmt) = pando_sql::parse(sql, dialect.syntax()) else { return };
        if let Kind::Define(define) = &stmt.kind
            && (define.action, define.object) == (DefineAction::Create, ObjectKind::Table)
            && let Some(name) = define.names.first()
            && !define.columns.is_empty()
        {
            let columns = define.columns.iter().map(|column| column.name.value.clone());
            self.0.insert(name.key(), columns.collect());
        }
    }
}

/// The statements of a file.
fn statements(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    for block in text.split("\n\n") {
        let mut lines = block
            .lines()
            .skip_while(|line| !line.starts_with("statement") && !line.starts_with("query"));
        if lines.next().is_some() {
            let sql: Vec<&str> = lines.take_while(|line| *line != "----").collect();
            list.push(sql.join("\n"));
        }
    }
    list
}

#[derive(Debug, Default)]
struct Tally {
    clear: usize,
    used: usize,
    unclear: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Tally {
    fn judge(&mut self, made: &Made, (family, sql): (&str, &str), (table, column): (&str, &str)) {
        let interest = Interest::new([(table, column)]);
        let Ok((text, found)) = support::analyse_with(family, sql, (made, &interest)) else {
            return;
        };
        let uses = match found {
            Ok(uses) => uses,
            Err(Stop::Unclear { why }) => {
                *self.unclear.entry(why).or_default() += 1;
                return;
            }
            Err(Stop::Unknown { column }) => {
                *self.unclear.entry(format!("unknown column {column}")).or_default() += 1;
                return;
            }
            Err(Stop::Need(need)) => {
                self.wrong.push(format!("needs {need:?}: {sql}"));
                return;
            }
        };
        self.clear += 1;
        self.used += usize::from(!uses.is_empty());
        for one in uses.columns.iter().filter(|one| one.by == Reference::Column) {
            let written = one.span.of(&text).trim_matches(|c| c == '"' || c == '`');
            if !written.eq_ignore_ascii_case(column) {
                self.wrong.push(format!("`{written}` is no `{column}`: {sql}"));
            }
        }
    }
}

fn play(family: &str, folder: &str, tally: &mut Tally) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/cases/slt").join(folder);
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let mut made = Made::default();
        for sql in statements(&text) {
            made.learn(family, &sql);
            for (table, columns) in &made.0 {
                for column in columns {
                    tally.judge(&made, (family, &sql), (table, column));
                }
            }
        }
    }
}

#[test]
fn the_corpus_is_read() {
    let mut tally = Tally::default();
    for (family, own) in [("my", "mysql"), ("pg", "postgres")] {
        for folder in [own, "common", "found"] {
            play(family, folder, &mut tally);
        }
    }
    // The files make many views and tables of queries, none of which is read.
    let definitions = "a definition rests on a table whose columns are turned";
    let others = tally.unclear.iter().filter(|(why, _)| *why != definitions);
    let unclear: usize = others.map(|(_, count)| count).sum();
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    // One in twenty may be refused: tables that a file changes behind its CREATE TABLE are known here as they were.
    assert!(tally.used > 2_500 && unclear * 20 < tally.clear, "{tally:?}");
}
