//! Rows of elsewhere as a table of a statement: a temporary table, which alone has every type, length and collation of the original.
//! <https://dev.mysql.com/doc/refman/8.0/en/create-temporary-table.html>

use std::fmt::Write as _;

use pando_kernel::dialect::{Language, TableColumn, Variables};
use pando_kernel::query_tables::QueryTables;
use pando_kernel::relation::{Carried, Inline, PREFIX, RelationWriter, Relations, Stands};
use pando_kernel::{Column, Error, Kind, Result};

use super::metadata::JSON;
use super::variables::LIMIT;
use super::{MySql, text_literal};

/// Bytes of one INSERT; a single longer row makes a longer one.
const BATCH: usize = 256 << 10;
/// Under this mode every value that stands in a table can be written again, and none that cannot is changed silently. A
/// check of MariaDB's is there to tell the type, not to be made again.
pub(super) const MODE: &str = "SET @pando_sql_mode = @@SESSION.sql_mode, SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION' /*M!100502 , @pando_checks = @@SESSION.check_constraint_checks, SESSION check_constraint_checks = 0 */";
/// UNSIGNED_FLAG and MYSQL_TYPE_DOUBLE of a column definition.
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__column__definition__flags.html>
const UNSIGNED: u16 = 32;
const DOUBLE: u32 = 5;
/// Variables that name a character set through which texts go to the server, or come from it.
const NARROWING: &[&str] = &[
    "names",
    "character set",
    "charset",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
];
pub(super) const MODE_BACK: &str = "SET SESSION sql_mode = @pando_sql_mode /*M!100502 , SESSION check_constraint_checks = @pando_checks */";
/// A session that only reads writes its temporary tables all the same.
const WRITING: &str = "START TRANSACTION READ WRITE";
const WRITTEN: &str = "COMMIT";

impl Relations for MySql {
    fn check(&self, variables: &[(String, String)]) -> Result<()> {
        if let Some(rows) = self.select_limit(variables)? {
            return Err(Error::uncarried(
                30001,
                format!("with `{LIMIT}` = {rows} not all rows travel between storage units"),
                "use LIMIT in the statement",
            ));
        }
        let narrow = |(name, value): &&(String, String)| {
            let value = value.to_ascii_lowercase();
            NARROWING.contains(&name.as_str()) && !value.contains("utf8mb4") && value != "default"
        };
        match variables.iter().find(narrow) {
            None => Ok(()),
            Some((_, value)) => Err(Error::uncarried(
                30001,
                format!(
                    "in the character set {value} rows cannot travel between storage units without loss"
                ),
                "use utf8mb4",
            )),
        }
    }

    fn carry(&self, column: &TableColumn) -> Result<String> {
        let name = self.quote(&column.name);
        Ok(match Form::of(column)? {
            Form::Text | Form::Year => name,
            Form::Hex => format!("HEX({name})"),
            Form::Bits => format!("{name} + 0"),
            // As text a FLOAT is cut to six digits; a sum would lose the sign of -0.
            Form::Single => format!("{name} * 1e0"),
        })
    }

    fn answered(&self, column: &Column, like: Option<&TableColumn>) -> Option<TableColumn> {
        if let Some(like) = like {
            return Some(like.clone());
        }
        let native = column.native;
        let unsigned = if native.flags & UNSIGNED == 0 { "" } else { " unsigned" };
        let type_name = match (column.kind, native.decimals) {
            (Kind::Int | Kind::UInt, _) => format!("bigint{unsigned}"),
            (Kind::Decimal, places) => {
                // The length counts the sign and the point.
                let sign = i64::from(unsigned.is_empty());
                let digits = native.length - sign - i64::from(places > 0);
                format!("decimal({},{places}){unsigned}", digits.clamp(1, 65))
            }
            // Of a sum of FLOATs, too.
            (Kind::Float, _) if native.type_id == DOUBLE => "double".to_owned(),
            _ => return None,
        };
        Some(TableColumn {
            name: String::new(),
            kind: column.kind,
            type_name,
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        })
    }

    fn described(&self, columns: &[Carried]) -> String {
        let items: Vec<String> = columns
            .iter()
            .map(|carried| {
                let column = &carried.column;
                format!("CAST(NULL AS {}) AS {}", cast(column), self.quote(&column.name))
            })
            .collect();
        format!("(SELECT {} FROM DUAL WHERE FALSE)", items.join(", "))
    }

    fn begin(&self, number: usize, columns: &[Carried]) -> Box<dyn RelationWriter> {
        let name = format!("{PREFIX}{number}");
        // In a transaction that changes others an earlier statement may have left its own.
        let drop = format!("DROP TEMPORARY TABLE IF EXISTS {name}");
        let before = vec![MODE.to_owned(), drop, definition(&name, columns)];
        let names: Vec<String> =
            columns.iter().map(|carried| self.quote(&carried.column.name)).collect();
        // As a sub-query it shows its columns to whoever plans a statement around it; the server sees through it.
        let derived = format!("(SELECT {} FROM {name})", names.join(", "));
        let forms =
            columns.iter().map(|carried| Form::of(&carried.column).unwrap_or(Form::Text)).collect();
        Box::new(Loading { name, derived, before, forms, batch: String::new(), size: 0 })
    }

    fn query_tables(&self) -> Option<&dyn QueryTables> {
        Some(self)
    }
}

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Hex,
    Bits,
    Single,
    Year,
}

impl Form {
    fn of(column: &TableColumn) -> Result<Self> {
        let type_name = column.type_name.to_ascii_lowercase();
        let base = type_name.split(['(', ' ']).next().unwrap_or("");
        Ok(match (base, column.kind) {
            ("bit", _) => Self::Bits,
            ("float", _) => Self::Single,
            ("year", _) => Self::Year,
            (
                "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
                | "multipolygon" | "geometrycollection" | "geomcollection" | "vector",
                _,
            ) => {
                return Err(Error::uncarried(
                    30001,
                    format!("values of type {base} cannot travel between storage units"),
                    "",
                ));
            }
            (_, Kind::Bytes) => Self::Hex,
            _ => Self::Text,
        })
    }
}

/// A type that CAST knows, near enough for a description.
fn cast(column: &TableColumn) -> &'static str {
    match column.kind {
        Kind::Bool | Kind::Int => "SIGNED",
        Kind::UInt => "UNSIGNED",
        Kind::Decimal => "DECIMAL(65,30)",
        Kind::Float => "DECIMAL(65,30)",
        Kind::Date => "DATE",
        Kind::Time => "TIME",
        Kind::Timestamp | Kind::TimestampTz => "DATETIME",
        Kind::Bytes => "BINARY",
        Kind::Text | Kind::Other => "CHAR",
    }
}

fn definition(name: &str, columns: &[Carried]) -> String {
    let mut text = format!("CREATE TEMPORARY TABLE {name} (");
    for (at, Carried { column, .. }) in columns.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let (name, json) = (MySql.quote(&column.name), column.type_name.strip_suffix(JSON));
        let _ = write!(text, "{comma}{name} {}", json.unwrap_or(&column.type_name));
        if !column.collation.is_empty() {
            let _ = write!(text, " COLLATE {}", column.collation);
        }
        // Without a word of its own a TIMESTAMP would set itself.
        text.push_str(if column.nullable { " NULL DEFAULT NULL" } else { " NOT NULL" });
        if json.is_some() {
            let _ = write!(text, " CHECK (json_valid({name}))");
        }
    }
    let is_indexable = |column: &TableColumn| {
        let type_name = column.type_name.to_ascii_lowercase();
        !["blob", "text", "json"].iter().any(|long| type_name.contains(long))
    };
    let key: Vec<&Carried> = columns.iter().filter(|carried| carried.is_key).collect();
    if !key.is_empty() && key.iter().all(|carried| is_indexable(&carried.column)) {
        let names: Vec<String> = key.iter().map(|one| MySql.quote(&one.column.name)).collect();
        let _ = write!(text, ", PRIMARY KEY ({})", names.join(", "));
    }
    let short = |column: &TableColumn| {
        matches!(column.kind, Kind::Int | Kind::UInt | Kind::Decimal | Kind::Date | Kind::Timestamp)
    };
    for carried in columns.iter().filter(|one| one.is_compared && short(&one.column)) {
        let _ = write!(text, ", KEY ({})", MySql.quote(&carried.column.name));
    }
    // Whatever the session has its temporary tables made of.
    text.push_str(") ENGINE=InnoDB");
    text
}

/// The INSERTs of a temporary table.
#[derive(Debug)]
struct Loading {
    name: String,
    derived: String,
    before: Vec<String>,
    forms: Vec<Form>,
    batch: String,
    size: usize,
}

impl Loading {
    fn cut(&mut self) {
        if !self.batch.is_empty() {
            self.before.push(std::mem::take(&mut self.batch));
        }
    }
}

impl RelationWriter for Loading {
    fn row(&mut self, fields: &[Option<&str>]) {
        let before = self.batch.len();
        if self.batch.is_empty() {
            let _ = write!(self.batch, "INSERT INTO {} VALUES (", self.name);
        } else {
            self.batch.push_str(",(");
        }
        for (at, (field, form)) in fields.iter().zip(&self.forms).enumerate() {
            if at > 0 {
                self.batch.push(',');
            }
            match (field, form) {
                (None, _) => self.batch.push_str("NULL"),
                // A FLOAT too: as a number -0 loses its sign.
                (Some(text), Form::Text | Form::Single) => {
                    self.batch.push_str(&text_literal(text));
                }
                (Some(text), Form::Hex) => {
                    let _ = write!(self.batch, "X'{text}'");
                }
                (Some(text), Form::Bits) => self.batch.push_str(text),
                // As a number: the text of a least year 0 is no 0000 but 2000.
                (Some(text), Form::Year) if text.parse::<u16>().is_ok() => {
                    self.batch.push_str(text);
                }
                (Some(text), Form::Year) => self.batch.push_str(&text_literal(text)),
            }
        }
        self.batch.push(')');
        self.size += self.batch.len() - before;
        if self.batch.len() >= BATCH {
            self.cut();
        }
    }

    fn size(&self) -> usize {
        self.size
    }

    fn finish(mut self: Box<Self>, stands: Stands) -> Inline {
        self.cut();
        self.before.push(MODE_BACK.to_owned());
        // A temporary table may stand only once in a statement, so each place gets its own.
        let table = match stands {
            Stands::Apart => {
                self.before.insert(0, WRITING.to_owned());
                self.before.push(WRITTEN.to_owned());
                self.name
            }
            Stands::InTransaction => self.derived,
        };
        Inline { before: self.before, table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: Kind, type_name: &str, collation: &str) -> Carried {
        let column = TableColumn {
            name: name.into(),
            kind,
            type_name: type_name.into(),
            collation: collation.into(),
            collate: String::new(),
            zone: None,
            primary_key: name == "id",
            auto_increment: false,
            nullable: name != "id",
            invisible: false,
            attribute: Default::default(),
            timed: None,
        };
        Carried { is_key: column.primary_key, is_compared: false, column }
    }

    #[test]
    fn a_temporary_table_has_the_types_and_takes_the_rows() {
        let columns = [
            column("id", Kind::Int, "int(11)", ""),
            column("n", Kind::Text, "varchar(9)", "utf8mb4_bin"),
            column("b", Kind::Bytes, "blob", ""),
            column("f", Kind::Float, "float", ""),
            column("y", Kind::UInt, "year(4)", ""),
            column("j", Kind::Text, "longtext json", "utf8mb4_bin"),
        ];
        let mut writer = MySql.begin(2, &columns);
        writer.row(&[Some("1"), Some("a'b\\"), Some("00FF"), Some("0.1"), Some("0"), Some("{}")]);
        writer.row(&[Some("2"), None, None, None, None, None]);
        let inline = writer.finish(Stands::InTransaction);
        assert_eq!(inline.table, "(SELECT `id`, `n`, `b`, `f`, `y`, `j` FROM pando_relation_2)");
        assert_eq!(
            inline.before[2..4],
            [
                "CREATE TEMPORARY TABLE pando_relation_2 (`id` int(11) NOT NULL, `n` varchar(9) COLLATE utf8mb4_bin NULL DEFAULT NULL, `b` blob NULL DEFAULT NULL, `f` float NULL DEFAULT NULL, `y` year(4) NULL DEFAULT NULL, `j` longtext COLLATE utf8mb4_bin NULL DEFAULT NULL CHECK (json_valid(`j`)), PRIMARY KEY (`id`)) ENGINE=InnoDB",
                "INSERT INTO pando_relation_2 VALUES ('1','a''b\\\\',X'00FF','0.1',0,'{}'),('2',NULL,NULL,NULL,NULL,NULL)",
            ]
        );
    }

    #[test]
    fn items_lose_nothing() {
        let item = |kind, type_name| MySql.carry(&column("c", kind, type_name, "").column);
        assert_eq!(item(Kind::UInt, "bit(3)").unwrap(), "`c` + 0");
        assert_eq!(item(Kind::Float, "float").unwrap(), "`c` * 1e0");
        assert_eq!(item(Kind::Float, "double").unwrap(), "`c`");
        assert!(item(Kind::Other, "point").is_err());
    }

    #[test]
    fn a_session_that_only_reads_may_write_its_temporary_tables() {
        let writer = MySql.begin(1, &[column("n", Kind::Int, "int", "")]);
        let before = writer.finish(Stands::Apart).before;
        assert_eq!(before.first().map(String::as_str), Some("START TRANSACTION READ WRITE"));
        assert_eq!(before.last().map(String::as_str), Some("COMMIT"));
    }

    #[test]
    fn a_session_that_cuts_its_answers_is_refused() {
        let check = |value: &str| MySql.check(&[("sql_select_limit".to_owned(), value.to_owned())]);
        assert!(check("2").is_err());
        assert!(check("DEFAULT").is_ok());
        assert!(check("18446744073709551615").is_ok());
    }

    #[test]
    fn long_loads_are_cut() {
        let mut writer = MySql.begin(1, &[column("n", Kind::Text, "text", "")]);
        let long = "x".repeat(BATCH);
        writer.row(&[Some(&long)]);
        writer.row(&[Some("y")]);
        assert_eq!(writer.finish(Stands::InTransaction).before.len(), 6);
    }
}
