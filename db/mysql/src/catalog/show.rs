//! SHOW as the query of the catalogue that it is.
//! <https://dev.mysql.com/doc/refman/8.4/en/show.html>

use pando_kernel::dialect::{Facts, Language};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::presentation::Restated;
use pando_sql::ast::Show;
use pando_sql::{Token, tokenize};

use super::relation::literal;
use super::relations::is_vendors;
use super::version;
use crate::dialect::{MySql, SYNTAX};

/// The columns of SHOW TABLE STATUS and where they come from.
const STATUS: &[(&str, &str)] = &[
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

/// Those of SHOW PROCEDURE STATUS and SHOW FUNCTION STATUS.
const ROUTINES: &[(&str, &str)] = &[
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
];

/// Those of SHOW TRIGGERS.
const TRIGGERS: &[(&str, &str)] = &[
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
];

/// The text of a trigger, from what the catalogue has of it.
const TRIGGER_TEXT: &str = "CONCAT('CREATE DEFINER=`', SUBSTRING_INDEX(DEFINER, '@', 1), '`@`', \
     SUBSTRING_INDEX(DEFINER, '@', -1), '` TRIGGER `', REPLACE(TRIGGER_NAME, '`', '``'), '` ', ACTION_TIMING, ' ', \
     EVENT_MANIPULATION, ' ON `', REPLACE(EVENT_OBJECT_TABLE, '`', '``'), '` FOR EACH ROW ', ACTION_STATEMENT)";

/// A SHOW with the text it stands in.
struct Shown<'a> {
    text: &'a str,
    show: &'a Show,
    facts: &'a Facts,
}

/// The statement to run instead; `None` when the SHOW can stay.
pub(super) fn restate(text: &str, show: &Show, facts: &Facts) -> Result<Option<String>> {
    let shown = Shown { text, show, facts };
    let words: Vec<&str> = show.what.split(' ').collect();
    let plain = match &words[..] {
        ["EXTENDED", "FULL", rest @ ..] | ["EXTENDED" | "FULL", rest @ ..] => rest,
        all => all,
    };
    match plain {
        ["TABLES"] => shown.tables(&words),
        ["TABLE", "STATUS"] => {
            let database = shown.database()?;
            Ok(database.map(|name| shown.of("TABLES", STATUS, &of_schema("TABLE_SCHEMA", &name))))
        }
        ["DATABASES" | "SCHEMAS"] => Ok(Some(shown.databases())),
        ["PROCEDURE", "STATUS"] => {
            Ok(Some(shown.of("ROUTINES", ROUTINES, "ROUTINE_TYPE = 'PROCEDURE'")))
        }
        ["FUNCTION", "STATUS"] => {
            Ok(Some(shown.of("ROUTINES", ROUTINES, "ROUTINE_TYPE = 'FUNCTION'")))
        }
        ["GRANTS"] => shown.grants().map(Some),
        ["CREATE", "DATABASE" | "SCHEMA"] => shown.create_database(),
        ["COLUMNS" | "FIELDS" | "INDEX" | "INDEXES" | "KEYS"] if show.database.is_some() => {
            shown.of_table().map(Some)
        }
        ["TRIGGERS"] => shown.triggers(),
        ["CREATE", "TRIGGER"] => shown.create_trigger(),
        ["EVENTS"] | ["OPEN", "TABLES"] if show.database.is_some() => {
            Ok(shown.database()?.map(|_| format!("SHOW {}{}", show.what, shown.narrowed())))
        }
        _ => Ok(None),
    }
}

/// The columns of SHOW COLUMNS, and those that FULL adds behind the second and at the end.
const COLUMNS: &[(&str, &str)] = &[
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
const FULL: [&str; 3] = ["Collation", "Privileges", "Comment"];

/// What SHOW COLUMNS tells of a default where MariaDB's catalogue has it as an expression: NULL, and a text without its
/// quotes. <https://mariadb.com/kb/en/information-schema-columns-table/>
const MARIADB_DEFAULT: &str = concat!(
    "CASE WHEN c.COLUMN_DEFAULT = 'NULL' THEN NULL WHEN c.COLUMN_DEFAULT LIKE '''%' THEN REPLACE(REPLACE(",
    "SUBSTRING(c.COLUMN_DEFAULT, 2, CHAR_LENGTH(c.COLUMN_DEFAULT) - 2), '''''', ''''), '\\\\\\\\', '\\\\') ",
    "ELSE c.COLUMN_DEFAULT END"
);

/// Those of SHOW INDEX that MySQL and MariaDB share.
const INDEX: &[(&str, &str)] = &[
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
];

/// The statement that answers a SHOW about a table some of whose columns clients see otherwise.
pub(super) fn restate_turned(text: &str, show: &Show, facts: &Facts) -> Result<Option<Restated>> {
    let shown = Shown { text, show, facts };
    let Some(table) = show.table.as_ref().and_then(|name| name.parts.last()) else {
        return Ok(None);
    };
    let words: Vec<&str> = show.what.split(' ').collect();
    if words == ["CREATE", "TABLE"] {
        return Ok(Some(Restated::AsItIs));
    }
    let Some(database) = shown.database()? else { return Ok(None) };
    let condition = format!(
        "{} AND TABLE_NAME = {}",
        of_schema("TABLE_SCHEMA", &database),
        literal(&table.value)
    );
    let (of, columns, order) = match words.last() {
        Some(&"DESCRIBE") if !shown.is_bare() => return Ok(None),
        Some(&("COLUMNS" | "FIELDS" | "DESCRIBE")) => {
            let is_full = words.contains(&"FULL");
            let told = COLUMNS.iter().filter(|(_, label)| is_full || !FULL.contains(label));
            ("COLUMNS", told.copied().collect::<Vec<_>>(), "ORDINAL_POSITION")
        }
        Some(&("INDEX" | "INDEXES" | "KEYS")) => {
            let of_vendor = match version::is_mariadb(facts) {
                true => &[("IGNORED", "Ignored")][..],
                false => &[("IS_VISIBLE", "Visible"), ("EXPRESSION", "Expression")],
            };
            (
                "STATISTICS",
                [INDEX, of_vendor].concat(),
                "INDEX_NAME <> 'PRIMARY', NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX",
            )
        }
        _ => return Ok(None),
    };
    Ok(Some(Restated::Text(shown.in_order(of, &columns, &condition, order))))
}

/// The user of SHOW GRANTS FOR, without the host; `None` where it is the one who asks.
fn granted(text: &str) -> Option<String> {
    let tokens = tokenize(text, &SYNTAX).ok()?;
    let is_for = |token: &&Token| token.span.of(text).eq_ignore_ascii_case("for");
    let rest = text.get(tokens.list.iter().find(is_for)?.span.end as usize..)?.trim();
    let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'));
    let name = match quote {
        Some(quote) => rest[1..].split(quote).next().unwrap_or_default(),
        None => rest.split(|c: char| c == '@' || c == '(' || c.is_whitespace()).next()?,
    };
    let is_self = quote.is_none() && name.eq_ignore_ascii_case("current_user");
    (!is_self).then(|| name.to_owned())
}

/// The name at the end of a text, without its quotes.
fn last_name(text: &str) -> Option<String> {
    let tokens = tokenize(text, &SYNTAX).ok()?.list;
    let name = tokens.iter().rev().find(|token| token.span.of(text) != ";")?.span.of(text);
    match name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(quoted) => Some(quoted.replace("``", "`")),
        None => Some(name.to_owned()),
    }
}

fn of_schema(column: &str, database: &str) -> String {
    format!("{column} = {}", literal(database))
}

impl Shown<'_> {
    /// The logical database that is asked about; `None` for one of the vendor's own.
    fn database(&self) -> Result<Option<String>> {
        let current = self.facts.database.as_ref();
        let Some(named) = &self.show.database else {
            return current.cloned().map(Some).ok_or_else(|| ErrorKind::NoDatabase.into());
        };
        if is_vendors(&named.value) {
            return Ok(None);
        }
        let home = current.or_else(|| self.facts.databases.first());
        if let Some(home) = home.filter(|home| home.eq_ignore_ascii_case(&named.value)) {
            return Ok(Some(home.clone()));
        }
        if self.facts.databases.iter().any(|known| known.eq_ignore_ascii_case(&named.value)) {
            return Err(Error::unsupported(
                30001,
                format!("database `{}` is not the current one", named.value),
                format!("change to `{}` first", named.value),
            ));
        }
        Err(ErrorKind::UnknownDatabase(named.value.clone()).into())
    }

    /// LIKE or WHERE as written.
    fn narrowed(&self) -> String {
        match (&self.show.like, &self.show.filter) {
            (Some(like), _) => format!(" LIKE {}", literal(like)),
            (None, Some(filter)) => format!(" WHERE {}", filter.span.of(self.text)),
            (None, None) => String::new(),
        }
    }

    /// Rows of a query, narrowed by LIKE on its first column or by WHERE on any of them, and sorted by the first.
    fn listed(&self, labels: &[&str], inner: &str) -> String {
        let list: Vec<String> =
            labels.iter().map(|label| format!("t.{}", MySql.quote(label))).collect();
        let filter = match (&self.show.like, &self.show.filter) {
            (Some(like), _) => format!(" WHERE {} LIKE {}", list[0], literal(like)),
            (None, Some(filter)) => format!(" WHERE {}", filter.span.of(self.text)),
            (None, None) => String::new(),
        };
        format!("SELECT {} FROM ({inner}) AS t{filter} ORDER BY 1", list.join(", "))
    }

    /// Columns of a table of the catalogue under other labels.
    fn of(&self, table: &str, columns: &[(&str, &str)], condition: &str) -> String {
        let items: Vec<String> = columns
            .iter()
            .map(|(name, label)| format!("{name} AS {}", MySql.quote(label)))
            .collect();
        let labels: Vec<&str> = columns.iter().map(|(_, label)| *label).collect();
        let inner = format!(
            "SELECT {} FROM information_schema.{table} WHERE {condition}",
            items.join(", ")
        );
        self.listed(&labels, &inner)
    }

    /// Whether DESCRIBE names its table and nothing more.
    fn is_bare(&self) -> bool {
        let Some(table) = &self.show.table else { return false };
        let behind = self.text.get(table.span.end as usize..).unwrap_or_default();
        behind.trim().trim_end_matches(';').trim().is_empty()
    }

    /// As [`Shown::of`], in an order of the catalogue's table.
    fn in_order(
        &self,
        table: &str,
        columns: &[(&str, &str)],
        condition: &str,
        order: &str,
    ) -> String {
        let told = |name: &str| match name == "COLUMN_DEFAULT" && version::is_mariadb(self.facts) {
            true => MARIADB_DEFAULT.to_owned(),
            false => format!("c.{name}"),
        };
        let items =
            columns.iter().map(|(name, label)| format!("{} AS {}", told(name), MySql.quote(label)));
        let rows: Vec<String> = items.collect();
        let list: Vec<String> =
            columns.iter().map(|(_, label)| format!("t.{}", MySql.quote(label))).collect();
        let filter = match (&self.show.like, &self.show.filter) {
            (Some(like), _) => format!(" WHERE {} LIKE {}", list[0], literal(like)),
            (None, Some(filter)) => format!(" WHERE {}", filter.span.of(self.text)),
            (None, None) => String::new(),
        };
        // Numbers of the rows keep their order through the query around them.
        format!(
            "SELECT {} FROM (SELECT {}, ROW_NUMBER() OVER (ORDER BY {order}) AS place \
             FROM information_schema.{table} c WHERE {condition}) AS t{filter} ORDER BY t.place",
            list.join(", "),
            rows.join(", ")
        )
    }

    /// The first column's label, with the pattern of LIKE as the server has it.
    fn label(&self, label: String) -> String {
        match &self.show.like {
            Some(like) => format!("{label} ({like})"),
            None => label,
        }
    }

    fn tables(&self, words: &[&str]) -> Result<Option<String>> {
        let Some(database) = self.database()? else { return Ok(None) };
        let label = self.label(format!("Tables_in_{database}"));
        let mut columns = vec![("TABLE_NAME", label.as_str())];
        if words.contains(&"FULL") {
            columns.push(("TABLE_TYPE", "Table_type"));
        }
        Ok(Some(self.of("TABLES", &columns, &of_schema("TABLE_SCHEMA", &database))))
    }

    /// LIKE is about the tables.
    fn triggers(&self) -> Result<Option<String>> {
        let Some(database) = self.database()? else { return Ok(None) };
        let items =
            TRIGGERS.iter().map(|(name, label)| format!("{name} AS {}", MySql.quote(label)));
        let labels = TRIGGERS.iter().map(|(_, label)| format!("t.{}", MySql.quote(label)));
        let filter = match (&self.show.like, &self.show.filter) {
            (Some(like), _) => format!(" WHERE t.`Table` LIKE {}", literal(like)),
            (None, Some(filter)) => format!(" WHERE {}", filter.span.of(self.text)),
            (None, None) => String::new(),
        };
        Ok(Some(format!(
            "SELECT {} FROM (SELECT {}, ACTION_ORDER AS action_order FROM information_schema.TRIGGERS WHERE {}) AS \
             t{filter} ORDER BY t.`Table`, t.`Event`, t.`Timing`, t.action_order",
            labels.collect::<Vec<_>>().join(", "),
            items.collect::<Vec<_>>().join(", "),
            of_schema("TRIGGER_SCHEMA", &database)
        )))
    }

    fn create_trigger(&self) -> Result<Option<String>> {
        let Some(database) = self.database()? else { return Ok(None) };
        let Some(name) = last_name(self.text) else { return Ok(None) };
        Ok(Some(format!(
            "SELECT TRIGGER_NAME AS `Trigger`, SQL_MODE AS sql_mode, {TRIGGER_TEXT} AS `SQL Original Statement`, \
             CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
             DATABASE_COLLATION AS `Database Collation`, CREATED AS Created FROM information_schema.TRIGGERS \
             WHERE {} AND TRIGGER_NAME = {}",
            of_schema("TRIGGER_SCHEMA", &database),
            literal(&name)
        )))
    }

    fn databases(&self) -> String {
        let label = self.label("Database".into());
        self.of("SCHEMATA", &[("SCHEMA_NAME", &label)], "1 = 1")
    }

    /// What a user may do is Pando's to say; the storage units would tell of the user Pando has there, and how he logs in.
    fn grants(&self) -> Result<String> {
        if let Some(other) = granted(self.text).filter(|name| *name != self.facts.user) {
            return Err(Error::unsupported(
                30001,
                format!("what `{other}` may do is not told to others"),
                "log in as that user; what a storage unit's own users may do is asked there, with the hint DATA_SOURCE_NAME",
            ));
        }
        let user = format!("{}@%", self.facts.user);
        let account = format!("{}@{}", MySql.quote(&self.facts.user), MySql.quote("%"));
        let all = self.facts.databases.iter().map(|database| {
            literal(&format!("GRANT ALL PRIVILEGES ON {}.* TO {account}", MySql.quote(database)))
        });
        let usage = literal(&format!("GRANT USAGE ON *.* TO {account}"));
        let label = MySql.quote(&format!("Grants for {user}"));
        let rows: Vec<String> = std::iter::once(usage)
            .chain(all)
            .enumerate()
            .map(|(i, text)| format!("SELECT {i} AS n, {text} AS g"))
            .collect();
        Ok(format!("SELECT t.g AS {label} FROM ({}) AS t ORDER BY t.n", rows.join(" UNION ALL ")))
    }

    fn create_database(&self) -> Result<Option<String>> {
        let Some(database) = self.database()? else { return Ok(None) };
        Ok(Some(format!(
            "SELECT SCHEMA_NAME AS `Database`, CONCAT('CREATE DATABASE ', {}, ' /*!40100 DEFAULT CHARACTER SET ', \
             DEFAULT_CHARACTER_SET_NAME, ' COLLATE ', DEFAULT_COLLATION_NAME, ' */') AS `Create Database` \
             FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
            literal(&MySql.quote(&database)),
            literal(&database)
        )))
    }

    /// SHOW COLUMNS and SHOW INDEX without the database's name.
    fn of_table(&self) -> Result<String> {
        let own = self.database()?;
        let table = self.show.table.as_ref().and_then(|name| name.parts.last());
        let table = table.map_or_else(String::new, |table| MySql.quote(&table.value));
        let schema = match (&own, &self.show.database) {
            (None, Some(vendors)) => format!("{}.", MySql.quote(&vendors.value)),
            _ => String::new(),
        };
        Ok(format!("SHOW {} FROM {schema}{table}{}", self.show.what, self.narrowed()))
    }
}
