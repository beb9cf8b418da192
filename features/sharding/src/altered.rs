//! Definitions leave the rows of a sharded table where they are looked for: its sharding columns may not be dropped, called otherwise, or get other values.

mod foreign;
mod meets;
mod typed;
mod words;

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::route::Need;
use pando_sql::ast::{Define, DefineAction, ObjectKind};

use crate::asked::Asked;
use crate::placed::sharded;
use crate::rule::Rule;
use crate::table::Table;

pub(crate) use meets::units as meeting_units;
use typed::{Change, Types};
use words::Words;

/// Words behind RENAME that are followed by something else than a column.
const OTHERS: [&str; 5] = ["constraint", "index", "key", "to", "as"];

/// What is always possible.
const WAY: &str = "make a new table with its rule, and move the rows";

/// What a statement does to the sharding columns of the tables it names.
struct Altered<'a> {
    asked: &'a Asked<'a>,
    tables: Vec<&'a Table>,
    /// The tables get another collation for what is added to them.
    is_recollated: bool,
}

/// Refuses a definition of sharded tables after which a row may be elsewhere than where it is looked for, now or with a later change of another table.
///
/// # Errors
/// `Refused` 20031.
pub(crate) fn keeps_rows(asked: &Asked<'_>, define: &Define) -> Result<()> {
    let Some(name) = define.names.first() else { return Ok(()) };
    let alters = define.action == DefineAction::Alter;
    let makes = define.action == DefineAction::Create && define.object == ObjectKind::Table;
    if !(alters || makes) {
        return Ok(());
    }
    let Ok(tokens) = pando_sql::tokenize(&asked.stmt.text, asked.ctx.dialect.syntax()) else {
        return Ok(());
    };
    let behind = tokens.list.iter().filter(|token| token.span.start >= name.span.end);
    let all: Vec<&str> = behind.map(|token| token.span.of(&asked.stmt.text)).collect();
    let tables = sharded(asked.rule, &asked.stmt.kind);
    let altered = Altered { asked, tables, is_recollated: false };
    if !alters {
        let Some(inner) = Words(&all).in_parentheses() else { return Ok(()) };
        return inner.elements().try_for_each(|element| altered.column(element));
    }
    let is_recollated = Words(&all).elements().any(gives_the_table_a_collation);
    let altered = Altered { is_recollated, ..altered };
    Words(&all).elements().try_for_each(|action| altered.action(action))
}

/// Whether an action of ALTER TABLE is about the table's own character set or collation: `[DEFAULT] CHARACTER SET x`,
/// `CHARSET x`, `COLLATE x`, also behind other options, and CONVERT TO.
fn gives_the_table_a_collation(action: Words<'_>) -> bool {
    const OF_COLUMNS: [&str; 5] = ["add", "modify", "change", "alter", "drop"];
    let is_of_a_column = OF_COLUMNS.iter().any(|verb| action.is(0, verb));
    !is_of_a_column
        && ["character", "charset", "collate", "convert"].iter().any(|word| action.has(&[word]))
}

impl Altered<'_> {
    fn action(&self, action: Words<'_>) -> Result<()> {
        let Some(verb) = action.word(0) else { return Ok(()) };
        let rest = action.from(1);
        match verb.to_ascii_lowercase().as_str() {
            "drop" => match rest.column().name() {
                Some(column) if self.is_key(column) => Err(dropped(column)),
                Some(_) | None => Ok(()),
            },
            "rename" => {
                let rest = rest.column();
                if OTHERS.iter().any(|other| rest.is(0, other)) || !rest.is(1, "to") {
                    return Ok(());
                }
                self.renames(rest.name(), rest.from(2).name())
            }
            "change" => {
                let rest = rest.column();
                self.renames(rest.name(), rest.from(1).name())?;
                self.modifies(rest.from(1))
            }
            "modify" => self.modifies(rest.column()),
            "alter" => self.alters(rest.column()),
            "convert" if rest.is(0, "to") => self.converts(rest),
            "add" => {
                let rest = rest.column();
                let elements = rest.in_parentheses().unwrap_or(rest);
                elements.elements().try_for_each(|element| self.column(element))
            }
            _ => Ok(()),
        }
    }

    fn renames(&self, old: Option<&str>, new: Option<&str>) -> Result<()> {
        let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
        if old.eq_ignore_ascii_case(new) || !(self.is_key(old) || self.is_key(new)) {
            return Ok(());
        }
        let reason =
            format!("a column may not be renamed from or to a sharding column (`{old}`, `{new}`)");
        Err(Error::unsupported(20031, reason, WAY))
    }

    /// MySQL: a column and all of its new definition.
    fn modifies(&self, definition: Words<'_>) -> Result<()> {
        let Some(column) = definition.name().filter(|name| self.is_key(name)) else {
            return Ok(());
        };
        self.column(definition)?;
        let change = Change::modify(definition.from(1));
        let change = if self.is_recollated { change.in_another() } else { change };
        self.of_type(column, &change)
    }

    /// `[COLUMN] k [SET DATA] TYPE …`, `k SET EXPRESSION AS (…)`.
    fn alters(&self, action: Words<'_>) -> Result<()> {
        let Some(column) = action.name().filter(|name| self.is_key(name)) else { return Ok(()) };
        let rest = action.from(1);
        if rest.is(0, "set") && rest.is(1, "expression") {
            return Err(computed(column));
        }
        let rest = if rest.is(0, "set") && rest.is(1, "data") { rest.from(2) } else { rest };
        if !rest.is(0, "type") {
            return Ok(());
        }
        self.of_type(column, &Change::set_type(column, rest.from(1)))
    }

    /// `CONVERT TO CHARACTER SET …`: all columns of texts.
    fn converts(&self, action: Words<'_>) -> Result<()> {
        let change = Change::convert(action);
        for table in &self.tables {
            for key in table.keys() {
                self.of_type(key, &change)?;
            }
        }
        Ok(())
    }

    /// A column or a constraint, as CREATE TABLE has it in its list.
    fn column(&self, element: Words<'_>) -> Result<()> {
        foreign::check(element, &self.tables, self.asked.rule)?;
        let Some(column) = element.name().filter(|name| self.is_key(name)) else { return Ok(()) };
        let has = |words: &[&str]| element.from(1).has(words);
        if has(&["as", "("]) {
            return Err(computed(column));
        }
        let stamped = [["on", "update", "current_timestamp"], ["on", "update", "now"]];
        let local = [["on", "update", "localtime"], ["on", "update", "localtimestamp"]];
        if stamped.iter().chain(&local).any(|words| has(words)) {
            return Err(Error::unsupported(
                20031,
                format!("each UPDATE would change the sharding column `{column}`"),
                "leave ON UPDATE out",
            ));
        }
        Ok(())
    }

    /// Whether a key keeps all of its values, in each of the tables that have it.
    fn of_type(&self, key: &str, change: &Change) -> Result<()> {
        let own = self.tables.iter().filter(|table| table.is_key(key));
        for table in own {
            let Some(columns) = self.asked.columns(table.logic()) else { continue };
            let Some(column) = columns.iter().find(|own| own.name.eq_ignore_ascii_case(key)) else {
                continue;
            };
            let types = match self.asked.ctx.dialect.syntax().fold {
                pando_sql::Fold::Keep => Types::Loose,
                pando_sql::Fold::Lower => Types::Strict,
            };
            change.keeps(column, types).map_err(|why| {
                let reason = format!(
                    "the sharding column `{key}` may not become another: {}; rows would be looked for where they are not",
                    why.reason
                );
                Error::unsupported(20031, reason, why.way.unwrap_or_else(|| WAY.to_owned()))
            })?;
        }
        Ok(())
    }

    fn is_key(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table.is_key(name))
    }
}

fn dropped(column: &str) -> Error {
    Error::unsupported(20031, format!("the sharding column `{column}` may not be dropped"), WAY)
}

fn computed(column: &str) -> Error {
    Error::unsupported(
        20031,
        format!("the sharding column `{column}` may not be computed from other columns"),
        "let the client give its values, or shard the table by the other columns",
    )
}

/// Refuses a definition that names no table and yet changes sharding columns of some: of their types, or of what their types belong to. What must be read first.
///
/// # Errors
/// `Refused` 20031.
pub(crate) fn keeps_types(asked: &Asked<'_>, define: &Define) -> Result<Option<Need>> {
    let Ok(tokens) = pando_sql::tokenize(&asked.stmt.text, asked.ctx.dialect.syntax()) else {
        return Ok(None);
    };
    let all: Vec<&str> = tokens.list.iter().map(|token| token.span.of(&asked.stmt.text)).collect();
    let all = Words(&all);
    let of_type = all.is(1, "type") || all.is(1, "domain");
    let renames = all.has(&["rename", "value"]) || all.has(&["attribute"]);
    let concerns = match define.action {
        DefineAction::Alter => all.is(1, "type") && renames,
        DefineAction::Drop => {
            let owns = ["extension", "schema", "owned", "collation"];
            all.has(&["cascade"]) && (of_type || owns.iter().any(|word| all.is(1, word)))
        }
        DefineAction::Create
        | DefineAction::Truncate
        | DefineAction::Rename
        | DefineAction::Comment => false,
    };
    if !concerns {
        return Ok(None);
    }
    let named = |column: &TableColumn| {
        let own = column.type_name.split('(').next().unwrap_or_default();
        let own = own.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
        let own = words::unquoted(own);
        let parts = define.names.iter().filter_map(|name| name.parts.last());
        parts.map(|part| part.value.as_str()).any(|name| name.eq_ignore_ascii_case(own))
    };
    for (table, columns) in of_all(asked.rule, asked) {
        let Some(columns) = columns else {
            return Ok(Some(Need::Columns(table.logic().to_string())));
        };
        let keys = columns.iter().filter(|column| table.is_key(&column.name));
        for column in keys {
            let is_meant =
                if of_type { named(column) } else { typed::is_of_users(&column.type_name) };
            if is_meant {
                let reason = format!(
                    "the sharding column `{}` of `{}` has the type `{}`, and would be dropped or get other values",
                    column.name,
                    table.name(),
                    column.type_name
                );
                return Err(Error::unsupported(20031, reason, WAY));
            }
        }
    }
    Ok(None)
}

fn of_all<'a>(
    rule: &'a Rule,
    asked: &'a Asked<'_>,
) -> impl Iterator<Item = (&'a Table, Option<Arc<Vec<TableColumn>>>)> {
    rule.tables().map(|table| (table, asked.ctx.catalog.columns(table.logic())))
}
