//! Values that a server would change on their way into a column in the plain, while another one is written beside it: the
//! two would have different values. A server that is not strict makes an empty text of a missing value or of NULL, and
//! cuts what is too long; every server cuts blanks behind a text.
//! <https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html#sql-mode-strict>

use std::sync::Arc;

use pando_columns::{Given, Origin, Place, Rows, Use, Uses};
use pando_kernel::changes::{Turn, ValueMap};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::{DeclaredType, Value};
use pando_sql::Fold;
use pando_sql::ast::{Kind, Statement};

use crate::column::EncryptedColumn;
use crate::places::found;
use crate::rule::Rule;

/// The tables whose columns must be known.
pub(crate) fn need(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, uses: &Uses) -> Option<Need> {
    let written = uses.columns.iter().filter(|one| is_written(&one.place));
    let sources = written.clone().filter_map(|one| source(&one.place));
    let tables = written.map(|one| &one.of).chain(sources).filter(|of| is_kept(rule, of));
    let tables = tables.map(|of| of.table.to_string());
    let target = target(stmt).filter(|table| rule.of_table(table).any(|own| own.has_beside()));
    let mut unknown = tables.chain(target).filter(|table| ctx.catalog.columns(table).is_none());
    unknown.next().map(Need::Columns)
}

/// Refuses a statement by which a server could give the one column another value than the other has.
///
/// # Errors
/// As a strict server says; `Refused` for what no strict server refuses.
pub(crate) fn check(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, uses: &Uses) -> Result<()> {
    if rule.fold == Fold::Lower {
        return Ok(());
    }
    let written = || uses.columns.iter().filter(|one| is_written(&one.place));
    for one in written().filter(|one| is_kept(rule, &one.of)) {
        check_one(ctx, one)?;
    }
    let Some(table) = target(stmt) else { return Ok(()) };
    for column in rule.of_table(&table).filter(|own| own.has_beside()) {
        let is_given = written().any(|one| one.of == column.of && is_brought(&one.place));
        if !is_given && !takes_null(ctx, &column.of) {
            return Err(no_default(&column.of));
        }
    }
    Ok(())
}

fn check_one(ctx: &Context<'_>, one: &Use) -> Result<()> {
    if takes_null(ctx, &one.of) {
        return Ok(());
    }
    if gives_default(&one.place) {
        return Err(no_default(&one.of));
    }
    match source(&one.place) {
        Some(from) if takes_null(ctx, from) => {
            let (own, from) = (&one.of.column, &from.column);
            Err(Error::unsupported(
                30001,
                format!(
                    "`{own}` takes no NULL, may be given one of `{from}`, and is stored twice for now"
                ),
                "end that with COMMIT or ROLLBACK ENCRYPT TABLE first",
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// A value that goes into a column beside the one in the plain, of which that one is.
pub(crate) fn kept(ctx: &Context<'_>, column: &EncryptedColumn, then: Turn) -> Turn {
    if !column.has_beside() {
        return then;
    }
    let own = found_column(ctx, &column.of);
    let fold = ctx.dialect.syntax().fold;
    let most = match (&own, column.declared) {
        (Some(own), None) => most(&own.type_name, fold),
        // A type that is declared is looked at where the value's text is made.
        (None, None) | (_, Some(_)) => Most::Anything,
    };
    let takes_null = fold == Fold::Lower || own.is_none_or(|own| own.nullable);
    let column = Arc::clone(&column.of.column);
    Turn(Arc::new(Kept { column, takes_null, fold, most, then }))
}

/// How much of a text stays in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Most {
    Anything,
    Characters(u32),
    Octets(usize),
}

fn most(kind: &str, fold: Fold) -> Most {
    if let Some(DeclaredType::Text { most: Some(most) }) = DeclaredType::read(kind, fold) {
        return Most::Characters(most);
    }
    match (fold, kind.to_ascii_lowercase().as_str()) {
        (Fold::Keep, "tinytext") => Most::Octets(255),
        (Fold::Keep, "text") => Most::Octets(65_535),
        (Fold::Keep, "mediumtext") => Most::Octets(16_777_215),
        _ => Most::Anything,
    }
}

/// Refuses what the column in the plain would have otherwise.
#[derive(Debug)]
struct Kept {
    column: Arc<str>,
    takes_null: bool,
    fold: Fold,
    most: Most,
    then: Turn,
}

impl ValueMap for Kept {
    fn turned(&self, value: &Value) -> Result<Value> {
        let text = match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Bytes(octets) => std::str::from_utf8(octets).ok(),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_) => None,
        };
        let is_too_long = text.is_some_and(|text| match self.most {
            Most::Anything => false,
            Most::Characters(most) => text.chars().count() > most as usize,
            Most::Octets(most) => text.len() > most,
        });
        match is_too_long {
            true => Err(self.too_long()),
            false => self.then.of(value),
        }
    }

    fn null(&self) -> Result<Value> {
        match self.takes_null {
            true => self.then.of(&Value::Null),
            false => Err(server(1048, "23000", format!("Column '{}' cannot be null", self.column))),
        }
    }

    fn declared(&self) -> Option<DeclaredType> {
        self.then.0.declared()
    }
}

impl Kept {
    fn too_long(&self) -> Error {
        let column = &self.column;
        ErrorKind::TooLong(match (self.fold, self.most) {
            (Fold::Lower, Most::Characters(most)) => {
                format!("value too long for type character varying({most})")
            }
            (Fold::Lower | Fold::Keep, _) => format!("Data too long for column '{column}'"),
        })
        .into()
    }
}

fn is_kept(rule: &Rule, of: &Origin) -> bool {
    found(rule, of).is_ok_and(EncryptedColumn::has_beside)
}

fn found_column(ctx: &Context<'_>, of: &Origin) -> Option<TableColumn> {
    let seen = ctx.catalog.columns(&of.table)?;
    let name = of.column.to_lowercase();
    seen.iter().find(|own| own.name.to_lowercase() == name).cloned()
}

/// One that is not known yet does: planning asks first.
fn takes_null(ctx: &Context<'_>, of: &Origin) -> bool {
    found_column(ctx, of).is_none_or(|own| own.nullable)
}

fn is_written(place: &Place) -> bool {
    matches!(place, Place::InsertColumn { .. } | Place::Assigned(_) | Place::Field { .. })
}

/// Whether it gives new rows a value.
fn is_brought(place: &Place) -> bool {
    matches!(place, Place::InsertColumn { .. } | Place::Field { .. })
}

/// The column whose values are copied.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over places")]
fn source(place: &Place) -> Option<&Origin> {
    match place {
        Place::Assigned(Given::Column(from))
        | Place::InsertColumn { rows: Rows::Query { from: Some(from), .. }, .. } => Some(from),
        _ => None,
    }
}

/// The table that a statement puts new rows into.
fn target(stmt: &Statement) -> Option<String> {
    if let Kind::Insert(insert) = &stmt.kind {
        return insert.table.name.parts.last().map(|name| name.key());
    }
    if let Kind::Load(load) = &stmt.kind {
        return Some(load.table.key());
    }
    None
}

/// Whether DEFAULT is written there.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over places")]
fn gives_default(place: &Place) -> bool {
    let is_default = |given: &Given| matches!(given, Given::Default(_));
    match place {
        Place::Assigned(given) => is_default(given),
        Place::InsertColumn { rows: Rows::Values(list), .. } => list.iter().any(is_default),
        Place::InsertColumn { rows: Rows::Default, .. } => true,
        _ => false,
    }
}

/// What a strict server says.
fn no_default(of: &Origin) -> Error {
    let message = format!("Field '{}' doesn't have a default value", of.column);
    server(1364, "HY000", message)
}

fn server(number: u32, sqlstate: &str, message: String) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message,
        severity: "ERROR".to_owned(),
        ..ServerError::default()
    }))
    .into()
}
