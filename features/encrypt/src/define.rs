//! Definitions that name encrypted columns: CREATE TABLE and ALTER TABLE … ADD make the stored columns, DROP drops them
//! all, an index or a key stands on the one that is equal where values are.

use pando_columns::{Definition, Place, Use, Uses};
use pando_kernel::changes::Changes;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{DefineAction, Kind, ObjectKind, Statement};
use pando_sql::{Span, Token};

use crate::column::EncryptedColumn;
use crate::declaration::{Cut, Declaration};
use crate::places::found;
use crate::refused;
use crate::rule::Rule;
use crate::write::Writer;

/// Refuses definitions that would keep values in the plain, or an order of them.
///
/// # Errors
/// `Refused`, with what may stand there.
pub(crate) fn check(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, uses: &Uses) -> Result<()> {
    refuse_renames(rule, ctx, stmt)?;
    let is_of = |one: &&Use| matches!(one.place, Place::Definition(_));
    let mut own = uses.columns.iter().filter(is_of).peekable();
    if own.peek().is_none() {
        return Ok(());
    }
    let tokens = tokens(ctx, stmt)?;
    let cut = Cut { text: &stmt.text, tokens: &tokens, syntax: ctx.dialect.syntax() };
    for one in own {
        let column = found(rule, &one.of)?;
        let Place::Definition(part) = &one.place else { continue };
        match Named::of(&cut, stmt, one, column, *part)? {
            Named::Declared(_) | Named::Added { .. } | Named::Dropped { .. }
                if column.is_in_transition() =>
            {
                return Err(in_transition(column));
            }
            Named::Declared(made) | Named::Added { made, .. } if made.is_unique() => {
                has_equality(column)?;
            }
            Named::Key => has_equality(column)?,
            Named::Declared(_) | Named::Added { .. } | Named::Dropped { .. } | Named::Before => {}
        }
    }
    Ok(())
}

/// The order of a table's columns goes by their names.
fn refuse_renames(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Result<()> {
    let Kind::Define(define) = &stmt.kind else { return Ok(()) };
    let is_ordered = define.names.iter().any(|table| rule.order(&table.key()).is_some());
    if define.action != DefineAction::Alter || !is_ordered {
        return Ok(());
    }
    let tokens = tokens(ctx, stmt)?;
    let cut = Cut { text: &stmt.text, tokens: &tokens, syntax: ctx.dialect.syntax() };
    let of_table = ["RENAME TO", "RENAME AS", "RENAME CONSTRAINT", "RENAME INDEX", "RENAME KEY"];
    let renames = |at: usize| {
        cut.has(at, "CHANGE")
            || cut.has(at, "RENAME") && !of_table.iter().any(|own| cut.has(at, own))
    };
    let adds_again = |at: usize| {
        let fronts = ["ADD COLUMN IF NOT EXISTS", "ADD COLUMN", "ADD IF NOT EXISTS", "ADD"];
        let front = fronts.iter().find(|words| cut.has(at, words));
        let name = front.map(|words| cut.part(at + words.split(' ').count(), 1));
        let name = name.map(|name| name.trim_matches(['`', '"']).to_lowercase());
        let mut orders = define.names.iter().filter_map(|table| rule.order(&table.key()));
        orders.any(|order| order.iter().any(|own| Some(own.to_lowercase()) == name))
    };
    match (0..tokens.len()).any(|at| renames(at) || adds_again(at)) {
        false => Ok(()),
        true => Err(Error::unsupported(
            30001,
            "clients see the columns of this table in an order that its encrypt rule keeps by their names",
            "leave the name as it is; `columnOrder` of the rule has the order",
        )),
    }
}

fn tokens(ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<Token>> {
    let tokens = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax());
    let lost = |_| Error::internal("a statement that was parsed cannot be cut");
    tokens.map(|tokens| tokens.list).map_err(lost)
}

fn has_equality(column: &EncryptedColumn) -> Result<()> {
    match column.equality() {
        Some(_) => Ok(()),
        None => Err(Error::unsupported(
            30001,
            format!(
                "nothing of the encrypted column `{}` is equal where values are",
                column.of.column
            ),
            "give it an `assistedQuery` in its rule",
        )),
    }
}

/// Writes what a definition says of one column.
///
/// # Errors
/// As [`check`].
pub(crate) fn write(
    writer: &Writer<'_>,
    one: &Use,
    column: &EncryptedColumn,
    part: Definition,
    changes: &mut Changes,
) -> Result<()> {
    let tokens = tokens(writer.ctx, writer.stmt)?;
    let syntax = writer.ctx.dialect.syntax();
    let cut = Cut { text: &writer.stmt.text, tokens: &tokens, syntax };
    let (span, text) = match Named::of(&cut, writer.stmt, one, column, part)? {
        Named::Declared(made) => {
            let text = made.stored(writer, column, ", ")?;
            (Span::new(one.span.start, made.end), text)
        }
        Named::Added { front, made } => {
            let text = made.stored(writer, column, &format!(", {front}"))?;
            (Span::new(one.span.start, made.end), text)
        }
        Named::Dropped { front, behind, end } => {
            let names = column.parts().map(|part| format!("{}{behind}", writer.quoted(part)));
            let text = names.collect::<Vec<_>>().join(&format!(", {front}"));
            (Span::new(one.span.start, end), text)
        }
        Named::Before => {
            let last = column.parts().last().map(|part| writer.quoted(part)).unwrap_or_default();
            (one.span, last)
        }
        Named::Key => {
            let equality = column.equality().ok_or_else(|| refused("no column for equality"))?;
            (one.span, writer.quoted(equality))
        }
    };
    changes.text().replace(span, text);
    Ok(())
}

/// What a definition names a column for.
enum Named {
    /// CREATE TABLE declares it.
    Declared(Declaration),
    /// ALTER TABLE adds it. `front` is what stands before its name: `ADD COLUMN `.
    Added { front: String, made: Declaration },
    /// ALTER TABLE drops it; `behind` its name stands RESTRICT or CASCADE, or nothing.
    Dropped { front: String, behind: String, end: u32 },
    /// Another is to stand behind it.
    Before,
    /// It is a part of an index or a key.
    Key,
}

impl Named {
    fn of(
        cut: &Cut<'_>,
        stmt: &Statement,
        one: &Use,
        column: &EncryptedColumn,
        part: Definition,
    ) -> Result<Self> {
        let unknown = || unknown(column);
        let at = cut.tokens.iter().position(|token| token.span == one.span).ok_or_else(unknown)?;
        let Kind::Define(define) = &stmt.kind else { return Err(unknown()) };
        let is_table = define.object == ObjectKind::Table;
        match part {
            Definition::Key => Ok(Self::Key),
            Definition::Column { .. } if define.action == DefineAction::Create => {
                Declaration::read(cut, at + 1, column).map(Self::Declared)
            }
            Definition::Other if is_table && define.action == DefineAction::Alter => {
                Self::altered(cut, at, column)
            }
            Definition::Column { .. } | Definition::Other => Err(unknown()),
        }
    }

    fn altered(cut: &Cut<'_>, at: usize, column: &EncryptedColumn) -> Result<Self> {
        const FRONTS: [&str; 8] = [
            "ADD COLUMN IF NOT EXISTS",
            "ADD IF NOT EXISTS",
            "ADD COLUMN",
            "ADD",
            "DROP COLUMN IF EXISTS",
            "DROP IF EXISTS",
            "DROP COLUMN",
            "DROP",
        ];
        if at.checked_sub(1).is_some_and(|before| cut.has(before, "AFTER")) {
            return Ok(Self::Before);
        }
        let starts = |words: &&&str| {
            let length = words.split(' ').count();
            at.checked_sub(length).is_some_and(|from| cut.has(from, words))
        };
        let words = FRONTS.iter().find(starts).ok_or_else(|| unknown(column))?;
        let length = words.split(' ').count();
        let front = format!("{} ", cut.part(at - length, length));
        if words.starts_with("ADD") {
            let made = Declaration::read(cut, at + 1, column)?;
            return Ok(Self::Added { front, made });
        }
        let behind = match cut.length(at + 1) {
            0 => String::new(),
            1 if cut.has(at + 1, "CASCADE") || cut.has(at + 1, "RESTRICT") => {
                format!(" {}", cut.part(at + 1, 1))
            }
            _ => return Err(unknown(column)),
        };
        let last = cut.tokens.get(at + usize::from(!behind.is_empty()));
        let end = last.map(|token| token.span.end).ok_or_else(|| unknown(column))?;
        Ok(Self::Dropped { front, behind, end })
    }
}

fn in_transition(column: &EncryptedColumn) -> Error {
    let (table, name) = (&column.of.table, &column.of.column);
    let why = format!("column `{name}` is being encrypted or decrypted");
    let hint =
        format!("end that first: COMMIT ENCRYPT TABLE {table}, or ROLLBACK ENCRYPT TABLE {table}");
    Error::unsupported(30001, why, hint)
}

fn unknown(column: &EncryptedColumn) -> Error {
    let why = format!(
        "a definition names the encrypted column `{}` in a way that is not known",
        column.of.column
    );
    let hint = "CREATE TABLE, ALTER TABLE with ADD COLUMN and DROP COLUMN, and indexes and keys of whole columns, are known";
    Error::unsupported(30001, why, hint)
}
