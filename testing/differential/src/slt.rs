//! sqllogictest files: what is asked, never what is answered, as the straight server knows that.
//!
//! <https://www.sqlite.org/sqllogictest/doc/trunk/about.wiki>

use crate::layout::{Layout, Placement};
use crate::schema::Server;

/// A file as far as it concerns one server.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) records: Vec<Record>,
    /// Tables and what they may be sharded by.
    pub(crate) split: Vec<(String, Vec<Key>)>,
    pub(crate) bound: Vec<Vec<String>>,
    /// Tables that may be everywhere.
    pub(crate) small: Vec<String>,
    /// Files whose records come first, by their names beside this one.
    pub(crate) includes: Vec<String>,
    /// Where a found case's tables stood.
    pub(crate) fixed: Option<Layout>,
}

/// A column to shard by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) column: String,
    pub(crate) is_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) line: usize,
    pub(crate) sql: String,
    pub(crate) wants: Wants,
    pub(crate) sides: Sides,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Rows, in their places if ordered.
    Rows {
        is_ordered: bool,
        /// Floats may differ in their last digits.
        is_loose: bool,
    },
    Success,
    Error,
    /// `statement maybe`: whatever the straight server says.
    Either,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sides {
    Both,
    Straight,
    Pando,
}

/// Reads a file for this server.
///
/// # Errors
/// Names the line that is no record.
pub(crate) fn parse(text: &str, server: Server) -> Result<Script, String> {
    let mut script = Script::default();
    let mut lines = text.lines().enumerate().peekable();
    let (mut applies, mut sides) = (true, Sides::Both);
    while let Some((at, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wants = match words.as_slice() {
            [] => continue,
            ["#", rest @ ..] => {
                directive(&mut script, rest).map_err(|why| format!("line {}: {why}", at + 1))?;
                continue;
            }
            [word, ..] if word.starts_with('#') => continue,
            [word @ ("onlyif" | "skipif"), "pando"] => {
                sides = if *word == "onlyif" { Sides::Pando } else { Sides::Straight };
                continue;
            }
            [word @ ("onlyif" | "skipif"), names @ ..] => {
                let family = if server.is_postgres() { "postgres" } else { "mysqls" };
                let has = names.contains(&server.name()) || names.contains(&family);
                applies &= has == (*word == "onlyif");
                continue;
            }
            ["include", name] => {
                script.includes.push((*name).to_owned());
                continue;
            }
            ["halt"] if applies => break,
            ["halt"] => {
                applies = true;
                continue;
            }
            ["hash-threshold", ..] => continue,
            ["statement", "ok", ..] => Wants::Success,
            ["statement", "error", ..] => Wants::Error,
            ["statement", "maybe" | "count", ..] => Wants::Either,
            ["query", _, "rowsort" | "valuesort", rest @ ..] => {
                Wants::Rows { is_ordered: false, is_loose: rest.contains(&"loose") }
            }
            ["query", _, "nosort", rest @ ..] => {
                Wants::Rows { is_ordered: true, is_loose: rest.contains(&"loose") }
            }
            ["query", _] => Wants::Rows { is_ordered: true, is_loose: false },
            _ => return Err(format!("line {}: `{line}` begins no record", at + 1)),
        };
        let mut sql = Vec::new();
        let mut is_answer = false;
        while let Some((_, line)) = lines.next_if(|(_, line)| !line.trim().is_empty()) {
            is_answer |= line.trim() == "----";
            if !is_answer {
                sql.push(line);
            }
        }
        if applies {
            script.records.push(Record { line: at + 1, sql: sql.join("\n"), wants, sides });
        }
        (applies, sides) = (true, Sides::Both);
    }
    Ok(script)
}

fn directive(script: &mut Script, words: &[&str]) -> Result<(), String> {
    let number = |word: &str| word.parse::<usize>().map_err(|_| format!("`{word}` is no number"));
    match words {
        ["units", count] => fixed(script).units = number(count)?.clamp(1, crate::arena::UNITS),
        ["place", table, place @ ..] => {
            let placement = match place {
                ["single", unit] => Placement::Single(number(unit)?),
                ["broadcast"] => Placement::Broadcast,
                ["split", by, algorithm, shards] => Placement::Split {
                    by: (*by).to_owned(),
                    algorithm: match *algorithm {
                        "MOD" => "MOD",
                        "HASH_MOD" => "HASH_MOD",
                        "BOUNDARY_RANGE" => "BOUNDARY_RANGE",
                        other => return Err(format!("`{other}` is no known algorithm")),
                    },
                    shards: number(shards)?,
                },
                ["grid", units_by, tables_by, each] => Placement::Grid {
                    units_by: (*units_by).to_owned(),
                    tables_by: (*tables_by).to_owned(),
                    each: number(each)?,
                },
                _ => return Ok(()),
            };
            fixed(script).places.push(((*table).to_owned(), placement));
        }
        ["bound", tables @ ..] => {
            fixed(script).bound.push(tables.iter().map(|&name| name.to_owned()).collect());
        }
        ["shard", table, "by", keys @ ..] => {
            let keys = keys.iter().filter(|word| **word != "or").map(|word| {
                match word.strip_prefix("text:") {
                    Some(column) => Key { column: column.to_owned(), is_text: true },
                    None => Key { column: (*word).to_owned(), is_text: false },
                }
            });
            script.split.push(((*table).to_owned(), keys.collect()));
        }
        ["bind", tables @ ..] => {
            script.bound.push(tables.iter().map(|&name| name.to_owned()).collect());
        }
        ["small", tables @ ..] => script.small.extend(tables.iter().map(|&name| name.to_owned())),
        _ => {}
    }
    Ok(())
}

fn fixed(script: &mut Script) -> &mut Layout {
    let empty =
        || Layout { units: 1, places: Vec::new(), bound: Vec::new(), encrypted: Vec::new() };
    script.fixed.get_or_insert_with(empty)
}

impl Script {
    /// Takes another script's records and tables in front of its own.
    pub(crate) fn put_before(&mut self, first: Self) {
        self.records.splice(0..0, first.records);
        self.split.splice(0..0, first.split);
        self.bound.splice(0..0, first.bound);
        self.small.splice(0..0, first.small);
        if self.fixed.is_none() {
            self.fixed = first.fixed;
        }
    }

    /// Every table that is declared.
    pub(crate) fn tables(&self) -> Vec<String> {
        if let Some(fixed) = &self.fixed {
            return fixed.places.iter().map(|(name, _)| name.clone()).collect();
        }
        self.split.iter().map(|(name, _)| name).chain(&self.small).cloned().collect()
    }

    /// Every layout the file is run in, by name.
    pub(crate) fn layouts(&self) -> Vec<(&'static str, Layout)> {
        if let Some(fixed) = &self.fixed {
            return vec![("as found", fixed.clone())];
        }
        if self.split.is_empty() {
            let layout = |units| Layout {
                units,
                places: Vec::new(),
                bound: Vec::new(),
                encrypted: Vec::new(),
            };
            return vec![("one unit", layout(1)), ("two units", layout(2))];
        }
        let first = Recipe { units: 1, shards: 1, algorithm: "MOD", key: 0, small: Small::Single };
        let recipes = [
            ("one shard", first),
            ("two shards", Recipe { units: 2, shards: 2, small: Small::Broadcast, ..first }),
            (
                "three by the other key",
                Recipe {
                    units: 2,
                    shards: 3,
                    algorithm: "HASH_MOD",
                    key: 1,
                    small: Small::Broadcast,
                },
            ),
            (
                "four bound",
                Recipe {
                    units: 2,
                    shards: 4,
                    algorithm: "HASH_MOD",
                    small: Small::Broadcast,
                    ..first
                },
            ),
            (
                "eight over four units",
                Recipe { units: 4, shards: 8, small: Small::Broadcast, ..first },
            ),
            ("small ones single", Recipe { units: 2, shards: 4, small: Small::Single, ..first }),
        ];
        let mut layouts: Vec<(&'static str, Layout)> =
            recipes.into_iter().map(|(name, recipe)| (name, self.layout(recipe))).collect();
        layouts.push(("all single", self.placed(2, |_| Placement::Single(0))));
        layouts.push(("all broadcast", self.placed(2, |_| Placement::Broadcast)));
        layouts.push(("mixed", self.mixed()));
        if self.split.iter().any(|(_, keys)| is_grid(keys)) {
            layouts.push(("grid", self.grid()));
        }
        layouts
    }

    fn layout(&self, recipe: Recipe) -> Layout {
        let mut places = Vec::new();
        for (table, keys) in &self.split {
            let Some(key) = keys.get(recipe.key).or_else(|| keys.first()) else { continue };
            let algorithm = if key.is_text { "HASH_MOD" } else { recipe.algorithm };
            let by = key.column.clone();
            places.push((table.clone(), Placement::Split { by, algorithm, shards: recipe.shards }));
        }
        for table in &self.small {
            let placement = match recipe.small {
                Small::Broadcast => Placement::Broadcast,
                Small::Single => Placement::Single(recipe.units - 1),
            };
            places.push((table.clone(), placement));
        }
        // Binding is about the first keys.
        let bound = if recipe.key == 0 { self.bound.clone() } else { Vec::new() };
        Layout { units: recipe.units, places, bound, encrypted: Vec::new() }
    }

    fn placed(&self, units: usize, of: impl Fn(usize) -> Placement) -> Layout {
        let places = self.tables().into_iter().enumerate().map(|(at, name)| (name, of(at)));
        Layout { units, places: places.collect(), bound: Vec::new(), encrypted: Vec::new() }
    }

    /// The first is split, the others take turns at everything else.
    fn mixed(&self) -> Layout {
        let mut layout = self.placed(2, |at| match at % 3 {
            1 => Placement::Broadcast,
            _ => Placement::Single(1),
        });
        if let (Some((_, keys)), Some((_, place))) = (self.split.first(), layout.places.first_mut())
            && let Some(key) = keys.first()
        {
            let by = key.column.clone();
            *place = Placement::Split { by, algorithm: "HASH_MOD", shards: 4 };
        }
        layout
    }

    fn grid(&self) -> Layout {
        let mut layout = self.placed(2, |_| Placement::Broadcast);
        for ((_, keys), (_, place)) in self.split.iter().zip(&mut layout.places) {
            if !is_grid(keys) {
                continue;
            }
            *place = Placement::Grid {
                units_by: keys[1].column.clone(),
                tables_by: keys[0].column.clone(),
                each: 2,
            };
        }
        layout
    }
}

/// Two numbers to split by, one for the unit and one for the table in it.
fn is_grid(keys: &[Key]) -> bool {
    keys.len() > 1 && keys.iter().all(|key| !key.is_text)
}

#[derive(Debug, Clone, Copy)]
struct Recipe {
    units: usize,
    shards: usize,
    algorithm: &'static str,
    /// Which of a table's keys.
    key: usize,
    small: Small,
}

#[derive(Debug, Clone, Copy)]
enum Small {
    Broadcast,
    Single,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# shard t by id or text:name\n# small d\n\nonlyif postgres\nstatement ok\ncreate table t (\n id int)\n\nskipif mysqls\nquery I nosort\nselect 1\n----\n1\n\nstatement error\nselect x\n";

    #[test]
    fn a_file_is_read_for_one_server() {
        let script = parse(TEXT, Server::Postgres).unwrap();
        let told: Vec<(usize, &str)> =
            script.records.iter().map(|record| (record.line, record.sql.as_str())).collect();
        assert_eq!(told, [(5, "create table t (\n id int)"), (10, "select 1"), (15, "select x")]);
        assert_eq!(script.records[1].wants, Wants::Rows { is_ordered: true, is_loose: false });
        let other = parse(TEXT, Server::MariaDb).unwrap();
        assert_eq!(other.records.len(), 1);
    }

    #[test]
    fn tables_stand_in_many_ways() {
        let layouts = parse(TEXT, Server::Postgres).unwrap().layouts();
        assert_eq!(layouts.len(), 9);
        let shards: Vec<usize> = layouts
            .iter()
            .filter_map(|(_, layout)| match layout.of("t")? {
                Placement::Split { shards, .. } => Some(*shards),
                Placement::Single(_) | Placement::Broadcast | Placement::Grid { .. } => None,
            })
            .collect();
        assert_eq!(shards, [1, 2, 3, 4, 8, 4, 4]);
    }

    #[test]
    fn what_is_no_record_is_an_error() {
        assert_eq!(
            parse("statement ok\nselect 1\n\nqueri I\n", Server::MySql).unwrap_err(),
            "line 4: `queri I` begins no record"
        );
    }
}
