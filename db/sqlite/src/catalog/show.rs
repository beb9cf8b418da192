//! SHOW as the question about the catalogue that it is.
//! <https://dev.mysql.com/doc/refman/8.0/en/show.html>, <https://www.postgresql.org/docs/15/sql-show.html>

use pando_kernel::dialect::Facts;
use pando_kernel::presentation::Shown;
use pando_kernel::{Error, ErrorKind, Result};
use pando_sql::ast::{Kind, Show};

use super::{MYSQLS, base, mysql, relation::Relation, settings};
use crate::error::refuse;
use crate::literal::text_literal;
use crate::tongue::Tongue;

/// Columns under the labels of SHOW, and where they come from.
type Columns = &'static [(&'static str, &'static str)];

const STATUS: Columns = &[
    ("TABLE_NAME", "Name"),
    ("ENGINE", "Engine"),
    ("VERSION", "Version"),
    ("ROW_FORMAT", "Row_format"),
    ("TABLE_ROWS", "Rows"),
    ("AVG_ROW_LENGTH", "Avg_row_length"),
    ("DATA_LENGTH", "Data_length"),
    ("MAX_DATA_LENGTH", "Max_data_length"),
    ("INDEX_LENGTH", "Index_length"),
    ("DATA_FREE", "Data_free"),
    ("AUTO_INCREMENT", "Auto_increment"),
    ("CREATE_TIME", "Create_time"),
    ("UPDATE_TIME", "Update_time"),
    ("CHECK_TIME", "Check_time"),
    ("TABLE_COLLATION", "Collation"),
    ("CHECKSUM", "Checksum"),
    ("CREATE_OPTIONS", "Create_options"),
    ("TABLE_COMMENT", "Comment"),
];
const VARIABLES: Columns = &[("VARIABLE_NAME", "Variable_name"), ("VARIABLE_VALUE", "Value")];
const COLUMNS: Columns = &[
    ("COLUMN_NAME", "Field"),
    ("COLUMN_TYPE", "Type"),
    ("IS_NULLABLE", "Null"),
    ("COLUMN_KEY", "Key"),
    ("COLUMN_DEFAULT", "Default"),
    ("EXTRA", "Extra"),
];
const FULL_COLUMNS: Columns = &[
    ("COLUMN_NAME", "Field"),
    ("COLUMN_TYPE", "Type"),
    ("COLLATION_NAME", "Collation"),
    ("IS_NULLABLE", "Null"),
    ("COLUMN_KEY", "Key"),
    ("COLUMN_DEFAULT", "Default"),
    ("EXTRA", "Extra"),
    ("PRIVILEGES", "Privileges"),
    ("COLUMN_COMMENT", "Comment"),
];
const INDEX: Columns = &[
    ("TABLE_NAME", "Table"),
    ("NON_UNIQUE", "Non_unique"),
    ("INDEX_NAME", "Key_name"),
    ("SEQ_IN_INDEX", "Seq_in_index"),
    ("COLUMN_NAME", "Column_name"),
    ("COLLATION", "Collation"),
    ("CARDINALITY", "Cardinality"),
    ("SUB_PART", "Sub_part"),
    ("PACKED", "Packed"),
    ("NULLABLE", "Null"),
    ("INDEX_TYPE", "Index_type"),
    ("COMMENT", "Comment"),
    ("INDEX_COMMENT", "Index_comment"),
    ("IS_VISIBLE", "Visible"),
    ("EXPRESSION", "Expression"),
];

/// Statements of one form: the words of SHOW, the relation that answers, its columns.
const LISTS: &[(&[&str], &str, Columns)] = &[
    (
        &["ENGINES", "STORAGE ENGINES"],
        "ENGINES",
        &[
            ("ENGINE", "Engine"),
            ("SUPPORT", "Support"),
            ("COMMENT", "Comment"),
            ("TRANSACTIONS", "Transactions"),
            ("XA", "XA"),
            ("SAVEPOINTS", "Savepoints"),
        ],
    ),
    (
        &["CHARSET", "CHARACTER SET", "CHARACTER", "CHAR SET"],
        "CHARACTER_SETS",
        &[
            ("CHARACTER_SET_NAME", "Charset"),
            ("DESCRIPTION", "Description"),
            ("DEFAULT_COLLATE_NAME", "Default collation"),
            ("MAXLEN", "Maxlen"),
        ],
    ),
    (
        &["COLLATION"],
        "COLLATIONS",
        &[
            ("COLLATION_NAME", "Collation"),
            ("CHARACTER_SET_NAME", "Charset"),
            ("ID", "Id"),
            ("IS_DEFAULT", "Default"),
            ("IS_COMPILED", "Compiled"),
            ("SORTLEN", "Sortlen"),
        ],
    ),
    (
        &["VARIABLES", "SESSION VARIABLES", "LOCAL VARIABLES", "GLOBAL VARIABLES"],
        "SESSION_VARIABLES",
        VARIABLES,
    ),
    (&["STATUS", "SESSION STATUS", "LOCAL STATUS", "GLOBAL STATUS"], "SESSION_STATUS", VARIABLES),
    (
        &["PLUGINS"],
        "PLUGINS",
        &[
            ("PLUGIN_NAME", "Name"),
            ("PLUGIN_STATUS", "Status"),
            ("PLUGIN_TYPE", "Type"),
            ("PLUGIN_LIBRARY", "Library"),
            ("PLUGIN_LICENSE", "License"),
        ],
    ),
    (
        &["TRIGGERS", "FULL TRIGGERS"],
        "TRIGGERS",
        &[
            ("TRIGGER_NAME", "Trigger"),
            ("EVENT_MANIPULATION", "Event"),
            ("EVENT_OBJECT_TABLE", "Table"),
            ("ACTION_STATEMENT", "Statement"),
            ("ACTION_TIMING", "Timing"),
            ("CREATED", "Created"),
            ("SQL_MODE", "sql_mode"),
            ("DEFINER", "Definer"),
            ("CHARACTER_SET_CLIENT", "character_set_client"),
            ("COLLATION_CONNECTION", "collation_connection"),
            ("DATABASE_COLLATION", "Database Collation"),
        ],
    ),
    (
        &["EVENTS"],
        "EVENTS",
        &[
            ("EVENT_SCHEMA", "Db"),
            ("EVENT_NAME", "Name"),
            ("DEFINER", "Definer"),
            ("TIME_ZONE", "Time zone"),
            ("EVENT_TYPE", "Type"),
            ("STATUS", "Status"),
        ],
    ),
    (
        &["PROCEDURE STATUS", "FUNCTION STATUS"],
        "ROUTINES",
        &[
            ("ROUTINE_SCHEMA", "Db"),
            ("ROUTINE_NAME", "Name"),
            ("ROUTINE_TYPE", "Type"),
            ("DEFINER", "Definer"),
            ("LAST_ALTERED", "Modified"),
            ("CREATED", "Created"),
            ("SECURITY_TYPE", "Security_type"),
            ("ROUTINE_COMMENT", "Comment"),
            ("CHARACTER_SET_CLIENT", "character_set_client"),
            ("COLLATION_CONNECTION", "collation_connection"),
            ("DATABASE_COLLATION", "Database Collation"),
        ],
    ),
];

/// A setting of PostgreSQL's.
pub(super) fn postgres(show: &Show) -> Result<String> {
    if show.what == "all" {
        return Ok("SELECT name, setting, short_desc AS description FROM pg_catalog.pg_settings ORDER BY 1".into());
    }
    let Some((name, _)) = settings::setting(&show.what) else {
        let message = format!("unrecognized configuration parameter \"{}\"", show.what);
        return Err(refuse("42704", message));
    };
    let text = text_literal(name);
    Ok(format!("SELECT setting AS \"{name}\" FROM pg_catalog.pg_settings WHERE name = {text}"))
}

/// A SHOW of MySQL's with the text it stands in.
struct Question<'a> {
    text: &'a str,
    show: &'a Show,
    facts: &'a Facts,
}

/// The statement to run instead; `None` for those about one table, which the connection answers.
pub(super) fn mysql(text: &str, show: &Show, facts: &Facts) -> Result<Option<String>> {
    let question = Question { text, show, facts };
    let plain = show.what.trim_start_matches("EXTENDED ").trim_start_matches("FULL ");
    match plain {
        "TABLES" => question.tables(&show.what).map(Some),
        "TABLE STATUS" => {
            let condition = format!("TABLE_SCHEMA = {}", text_literal(&question.database()?));
            Ok(Some(question.of("TABLES", STATUS, &condition)))
        }
        "DATABASES" | "SCHEMAS" => Ok(Some(question.listed(
            "SCHEMATA",
            &[("SCHEMA_NAME", &question.label("Database"))],
            "1 = 1",
        ))),
        "CREATE DATABASE" | "CREATE SCHEMA" => question.create_database().map(Some),
        "WARNINGS" | "ERRORS" => Ok(Some(
            "SELECT w.* FROM (SELECT '' AS `Level`, 0 AS `Code`, '' AS `Message`) AS w WHERE 1 = 0"
                .into(),
        )),
        "DESCRIBE" | "COLUMNS" | "FIELDS" | "INDEX" | "INDEXES" | "KEYS" => {
            if show.database.is_none() {
                return Ok(None);
            }
            question.database()?;
            let table = show.table.as_ref().and_then(|name| name.parts.last());
            let table = table.map_or_else(String::new, |name| tick(&name.value));
            Ok(Some(format!("SHOW {} FROM {table}{}", show.what, narrowed(text, show))))
        }
        "CREATE TABLE" | "CREATE VIEW" => Ok(None),
        what => {
            let list = LISTS
                .iter()
                .find(|(words, ..)| words.contains(&what) || words.contains(&show.what.as_str()));
            let (_, relation, columns) = list.ok_or_else(|| not_available(&show.what))?;
            Ok(Some(question.of(relation, columns, "1 = 1")))
        }
    }
}

fn not_available(what: &str) -> Error {
    refuse("0A000", format!("SHOW {what} is not available: the storage units are SQLite"))
}

fn tick(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// LIKE or WHERE as written.
fn narrowed(text: &str, show: &Show) -> String {
    match (&show.like, &show.filter) {
        (Some(like), _) => format!(" LIKE {}", mysql_literal(like)),
        (None, Some(filter)) => format!(" WHERE {}", filter.span.of(text)),
        (None, None) => String::new(),
    }
}

/// A string as MySQL writes it.
fn mysql_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

impl Question<'_> {
    /// The logical database that is asked about.
    fn database(&self) -> Result<String> {
        let current = self.facts.database.as_ref();
        let Some(named) = &self.show.database else {
            return current.cloned().ok_or_else(|| ErrorKind::NoDatabase.into());
        };
        let name = &named.value;
        if current.is_some_and(|own| own.eq_ignore_ascii_case(name))
            || MYSQLS.iter().any(|own| own.eq_ignore_ascii_case(name))
        {
            return Ok(current
                .filter(|own| own.eq_ignore_ascii_case(name))
                .unwrap_or(name)
                .clone());
        }
        if self.facts.databases.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Error::unsupported(
                30001,
                format!("database `{name}` is not the current one"),
                format!("change to `{name}` first"),
            ));
        }
        Err(ErrorKind::UnknownDatabase(name.clone()).into())
    }

    /// The first column's label, with the pattern of LIKE as the server has it.
    fn label(&self, label: &str) -> String {
        match &self.show.like {
            Some(like) => format!("{label} ({like})"),
            None => label.to_owned(),
        }
    }

    fn of(&self, relation: &str, columns: Columns, condition: &str) -> String {
        self.listed(relation, columns, condition)
    }

    /// Columns of a relation under other labels, narrowed by LIKE on the first or by WHERE on any, and sorted by the first.
    fn listed(&self, relation: &str, columns: &[(&str, &str)], condition: &str) -> String {
        let items: Vec<String> =
            columns.iter().map(|(name, label)| format!("{name} AS {}", tick(label))).collect();
        let inner = format!(
            "SELECT {} FROM information_schema.{relation} WHERE {condition}",
            items.join(", ")
        );
        let labels: Vec<String> =
            columns.iter().map(|(_, label)| format!("t.{}", tick(label))).collect();
        let filter = filter(self.text, self.show, labels.first().map_or("1", String::as_str));
        format!("SELECT {} FROM ({inner}) AS t{filter} ORDER BY 1", labels.join(", "))
    }

    fn tables(&self, words: &str) -> Result<String> {
        let database = self.database()?;
        let label = self.label(&format!("Tables_in_{database}"));
        let mut columns = vec![("TABLE_NAME", label.as_str())];
        if words.contains("FULL") {
            columns.push(("TABLE_TYPE", "Table_type"));
        }
        let condition = format!("TABLE_SCHEMA = {}", text_literal(&database));
        Ok(self.listed("TABLES", &columns, &condition))
    }

    fn create_database(&self) -> Result<String> {
        let database = self.database()?;
        let create = format!(
            "CREATE DATABASE {} /*!40100 DEFAULT CHARACTER SET utf8mb4 */",
            tick(&database)
        );
        Ok(format!(
            "SELECT SCHEMA_NAME AS `Database`, {} AS `Create Database` FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
            text_literal(&create),
            text_literal(&database)
        ))
    }
}

fn filter(text: &str, show: &Show, first: &str) -> String {
    match (&show.like, &show.filter) {
        (Some(like), _) => format!(" WHERE {first} LIKE {}", mysql_literal(like)),
        (None, Some(filter)) => format!(" WHERE {}", filter.span.of(text)),
        (None, None) => String::new(),
    }
}

/// The answer to a SHOW about one actual table, in MySQL's language; `None` for any other statement.
///
/// # Errors
/// `Server` for a SHOW that has no answer here.
pub(crate) fn of_table(sql: &str) -> Result<Option<String>> {
    let syntax = Tongue::MySql.syntax();
    let Ok(stmt) = pando_sql::parse(sql, syntax) else { return Ok(None) };
    let Kind::Show(show) = &stmt.kind else { return Ok(None) };
    let name = show.table.as_ref().and_then(|name| name.parts.last());
    let Some(name) = name else { return Err(not_available(&show.what)) };
    let name = text_literal(&name.value);
    let words: Vec<&str> = show.what.split(' ').collect();
    let (relation, columns, order) = match words.last().copied() {
        Some("DESCRIBE") => ("columns", COLUMNS, "ORDINAL_POSITION"),
        Some("COLUMNS" | "FIELDS") if words.contains(&"FULL") => {
            ("columns", FULL_COLUMNS, "ORDINAL_POSITION")
        }
        Some("COLUMNS" | "FIELDS") => ("columns", COLUMNS, "ORDINAL_POSITION"),
        Some("INDEX" | "INDEXES" | "KEYS") => {
            ("statistics", INDEX, "NON_UNIQUE, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX")
        }
        Some("TABLE" | "VIEW") => return Ok(Some(create(&name))),
        _ => return Err(not_available(&show.what)),
    };
    let Some(relation) = mysql::RELATIONS.iter().find(|known| known.name == relation) else {
        return Err(Error::internal("a relation of the catalogue is missing"));
    };
    let items: Vec<String> =
        columns.iter().map(|(own, label)| format!("r.{own} AS {}", tick(label))).collect();
    let labels: Vec<String> =
        columns.iter().map(|(_, label)| format!("t.{}", tick(label))).collect();
    let filter = filter(&stmt.text, show, labels.first().map_or("1", String::as_str));
    Ok(Some(format!(
        "{} SELECT {} FROM (SELECT {} FROM pando_k AS k CROSS JOIN {} AS r WHERE r.TABLE_NAME = k.name ORDER BY {order}) AS t{filter}",
        expressions(relation, &name),
        labels.join(", "),
        items.join(", "),
        relation.stand_in()
    )))
}

/// The common table expressions for one table, whose name is a literal: `pando_k` is an error when there is no such table.
fn expressions(relation: &Relation, name: &str) -> String {
    format!(
        "WITH {}, {}, pando_k(name) AS (SELECT pando_known((SELECT m.name FROM sqlite_master AS m WHERE m.name = {name} COLLATE NOCASE \
         AND m.type IN ('table', 'view')), {name}))",
        base::text(&[], 0, Tongue::MySql),
        relation.expression(&Facts::default())
    )
}

/// SHOW CREATE TABLE: the table as MySQL would write it.
fn create(name: &str) -> String {
    let columns = mysql::RELATIONS.iter().find(|known| known.name == "columns");
    let head = columns.map_or_else(String::new, |columns| expressions(columns, name));
    format!(
        "{head}, lines(part, place, line) AS (\
         SELECT 1, c.ORDINAL_POSITION, concat('  ', pando_tick(c.COLUMN_NAME), ' ', c.COLUMN_TYPE, CASE c.IS_NULLABLE WHEN 'NO' THEN ' NOT NULL' END, \
         CASE c.EXTRA WHEN 'auto_increment' THEN ' AUTO_INCREMENT' END, \
         CASE WHEN o.dflt IS NOT NULL THEN concat(' DEFAULT ', o.dflt) WHEN c.IS_NULLABLE = 'YES' THEN ' DEFAULT NULL' END) \
         FROM pando_k AS k CROSS JOIN pando_information_schema_columns AS c CROSS JOIN pando_columns AS o WHERE c.TABLE_NAME = k.name AND o.tname = k.name AND o.name = c.COLUMN_NAME \
         UNION ALL SELECT CASE WHEN i.origin = 'pk' THEN 2 WHEN i.uniq THEN 3 ELSE 4 END, i.oid, concat('  ', CASE WHEN i.origin = 'pk' THEN 'PRIMARY KEY' \
         ELSE concat(CASE WHEN i.uniq THEN 'UNIQUE ' END, 'KEY ', pando_tick(i.name)) END, ' (', \
         (SELECT group_concat(coalesce(pando_tick(x.name), '(expression)'), ',') FROM (SELECT * FROM pando_keys ORDER BY seq) AS x WHERE x.oid = i.oid AND x.part = 1), ')') \
         FROM pando_k AS k CROSS JOIN pando_indexes AS i WHERE i.tname = k.name \
         UNION ALL SELECT 5, f.id, concat('  CONSTRAINT ', pando_tick(concat(f.tname, '_ibfk_', f.id + 1)), ' FOREIGN KEY (', group_concat(pando_tick(f.own), ','), ') REFERENCES ', \
         pando_tick(f.target), ' (', group_concat(pando_tick(f.other), ','), ')', CASE WHEN f.deleted <> 'NO ACTION' THEN concat(' ON DELETE ', f.deleted) END, \
         CASE WHEN f.updated <> 'NO ACTION' THEN concat(' ON UPDATE ', f.updated) END) \
         FROM pando_k AS k CROSS JOIN (SELECT * FROM pando_references ORDER BY seq) AS f WHERE f.tname = k.name GROUP BY f.id) \
         SELECT k.name AS `Table`, concat('CREATE TABLE ', pando_tick(k.name), ' (', char(10), \
         (SELECT group_concat(l.line, concat(',', char(10))) FROM (SELECT line FROM lines ORDER BY part, place) AS l), \
         char(10), ') ENGINE=SQLite DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin') AS `Create Table` FROM pando_k AS k"
    )
}

/// A field of an answer about one table, in logic names.
pub(super) fn retell(show: &Show, label: &str, field: &str, tables: &[Shown]) -> Option<String> {
    match (show.what.as_str(), label) {
        ("CREATE TABLE" | "CREATE VIEW", "Create Table") => Some(renamed(field, tables)),
        (_, "Table") => logic(field, tables),
        (_, "Key_name") => part(field, tables),
        _ => None,
    }
}

fn logic(name: &str, tables: &[Shown]) -> Option<String> {
    let known = tables.iter().find(|shown| shown.actual.eq_ignore_ascii_case(name))?;
    Some(known.logic.to_string())
}

/// An index or constraint's name without the actual table's: it begins or ends with it.
fn part(name: &str, tables: &[Shown]) -> Option<String> {
    tables.iter().filter(|shown| shown.actual != shown.logic).find_map(|shown| {
        let ending = name.strip_suffix(&*shown.actual).and_then(|rest| rest.strip_suffix('_'));
        let beginning = name.strip_prefix(&*shown.actual).filter(|rest| rest.starts_with('_'));
        ending
            .filter(|rest| !rest.is_empty())
            .map(str::to_owned)
            .or_else(|| beginning.map(|rest| format!("{}{rest}", shown.logic)))
    })
}

/// A CREATE TABLE of ours with its quoted names told anew. Strings stay.
fn renamed(text: &str, tables: &[Shown]) -> String {
    let syntax = Tongue::MySql.syntax();
    let Ok(tokens) = pando_sql::tokenize(text, syntax) else { return text.to_owned() };
    let mut edits = pando_sql::Edits::default();
    for pair in tokens.list.windows(2) {
        let [before, token] = pair else { continue };
        let quoted = token.span.of(text);
        let Some(name) = quoted.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) else {
            continue;
        };
        let name = name.replace("``", "`");
        let new = match before.span.of(text) {
            "TABLE" | "REFERENCES" => logic(&name, tables),
            "KEY" | "CONSTRAINT" => part(&name, tables),
            _ => None,
        };
        if let Some(new) = new {
            edits.replace(token.span, tick(&new));
        }
    }
    edits.apply(text)
}
