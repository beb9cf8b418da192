//! What becomes of a statement that is let through: stored columns in the place of logic ones, and values as they are
//! stored.

use std::collections::HashMap;

use pando_columns::{Given, Place, Reference, Rows, Star, StarPlace, Use, Uses, Value};
use pando_kernel::changes::{Changes, Turn};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{CopyDirection, Expr, InsertSource, Kind, Node, Statement};
use pando_sql::{Fold, Span, visit};

use crate::cast::Constant;
use crate::column::{EncryptedColumn, Part};
use crate::places::{by_cipher, found, is_own};
use crate::rule::Rule;
use crate::{define, in_step, refused};

/// Writes one statement.
pub(crate) struct Writer<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) ctx: &'a Context<'a>,
    pub(crate) stmt: &'a Statement,
    uses: &'a Uses,
    constants: HashMap<Span, Expr>,
    /// Where the outermost parentheses around an expression end, by where it stands.
    closed: HashMap<Span, u32>,
}

/// Edits a statement that `places` and `define` have let through.
///
/// # Errors
/// `Refused` where a value is not a constant.
pub(crate) fn write(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    uses: &Uses,
    changes: &mut Changes,
) -> Result<()> {
    if uses.is_empty() {
        return Ok(());
    }
    let mut constants: HashMap<Span, Expr> = HashMap::new();
    let mut closed: HashMap<Span, u32> = HashMap::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        let end = closed.entry(unwrapped(expr).span).or_default();
        *end = expr.span.end.max(*end);
        if matches!(
            expr.node,
            Node::Literal(_) | Node::Parameter(_) | Node::Unary { .. } | Node::Cast { .. }
        ) {
            constants.insert(expr.span, expr.clone());
        }
    });
    let writer = Writer { rule, ctx, stmt, uses, constants, closed };
    for one in &uses.columns {
        let column = found(rule, &one.of)?;
        if let Place::Definition(part) = &one.place {
            define::write(&writer, one, column, *part, changes)?;
            continue;
        }
        writer.names(one, column, changes)?;
        writer.values(one, column, changes)?;
    }
    for star in &uses.stars {
        let text = writer.spelled_out(star)?;
        changes.text().replace(star.span, text);
    }
    writer.lists_fields(changes);
    Ok(())
}

/// What stands in parentheses.
fn unwrapped(expr: &Expr) -> &Expr {
    if let Node::Nested(inner) = &expr.node { unwrapped(inner) } else { expr }
}

impl Writer<'_> {
    pub(crate) fn quoted(&self, part: &Part) -> String {
        self.ctx.dialect.quote(&part.name)
    }

    /// A constant as it is stored.
    ///
    /// # Errors
    /// `Refused` for one that is no value of its column.
    pub(crate) fn turned(&self, constant: &Expr, turn: &Turn) -> Result<String> {
        let unread = || refused("a default is no constant");
        let value = pando_kernel::Value::of_constant(constant).ok_or_else(unread)?;
        turn.of(&value).map(|value| self.ctx.dialect.literal(&value))
    }

    /// The name of a table's column, as a statement writes it, behind which another is to stand.
    pub(crate) fn behind(&self, table: &str, written: &str) -> String {
        let name = written.trim_matches('`').replace("``", "`");
        let mut own = self.rule.of_table(table);
        let encrypted = own.find(|column| self.rule.is_called(&column.of.column, &name));
        let last = encrypted.and_then(|column| column.parts().last());
        last.map_or_else(|| written.to_owned(), |part| self.quoted(part))
    }

    /// The names of all its stored columns.
    fn all(&self, column: &EncryptedColumn, owner: &str) -> String {
        let names: Vec<String> =
            column.parts().map(|part| format!("{owner}{}", self.quoted(part))).collect();
        names.join(", ")
    }

    /// Puts stored names in the place of the logic one.
    fn names(&self, one: &Use, column: &EncryptedColumn, changes: &mut Changes) -> Result<()> {
        if !is_own(one) {
            return Ok(());
        }
        let is_list = matches!(one.place, Place::InsertColumn { .. } | Place::Field { .. })
            || matches!(one.place, Place::Assigned(_)) && !self.is_set(one);
        if column.is_told_plain() && !is_list && !matches!(one.place, Place::Stored { .. }) {
            return Ok(());
        }
        let name = match is_list {
            true => self.all(column, ""),
            false => self.quoted(self.asked(&one.place, column)?),
        };
        changes.text().replace(one.span, name);
        if let Place::Item { expr, alias: None, .. }
        | Place::Returning { expr, alias: None, .. }
        | Place::InnerItem { expr, alias: None, .. }
        | Place::Stored { expr, alias: None, .. } = &one.place
        {
            let label = self.label(one);
            changes.text().replace(Span::at(expr.end), format!(" AS {label}"));
        }
        if let Place::Stored { expr, alias, into: Some(_), .. } = &one.place {
            let owner = self.owner(one, changes);
            let end = alias.map_or(expr.end, |alias| alias.end);
            for part in column.further() {
                let name = self.quoted(part);
                changes.text().replace(Span::at(end), format!(", {owner}{name}"));
            }
        }
        Ok(())
    }

    /// The stored column that a place asks.
    fn asked<'c>(&self, place: &Place, column: &'c EncryptedColumn) -> Result<&'c Part> {
        let lacking =
            || refused(format!("column `{}` has no such stored column", column.of.column));
        match place {
            Place::EqualTo(_)
            | Place::NotEqualTo(_)
            | Place::InList { .. }
            | Place::ConflictTarget => column.equality().ok_or_else(lacking),
            Place::Aggregate { distinct: true, .. } if !column.told.makes.abilities().equal => {
                column.equality().ok_or_else(lacking)
            }
            Place::EqualToColumn(other) | Place::NotEqualToColumn(other)
                if !by_cipher(column, found(self.rule, other)?) =>
            {
                column.equality().ok_or_else(lacking)
            }
            Place::Like { .. } => column.like.as_ref().ok_or_else(lacking),
            Place::Item { .. }
            | Place::Returning { .. }
            | Place::InnerItem { .. }
            | Place::Stored { .. }
            | Place::EqualToColumn(_)
            | Place::NotEqualToColumn(_)
            | Place::Between { .. }
            | Place::Ordered { .. }
            | Place::NullTest
            | Place::GroupKey
            | Place::OrderKey
            | Place::DistinctKey
            | Place::Aggregate { .. }
            | Place::InsertColumn { .. }
            | Place::Assigned(_)
            | Place::AssignedTo { .. }
            | Place::Field { .. }
            | Place::Definition(_)
            | Place::Inside { .. } => Ok(&column.told),
        }
    }

    /// What the client would read above the column: its name as the statement writes it.
    fn label(&self, one: &Use) -> String {
        let written = one.span.of(&self.stmt.text);
        let is_quoted = written.starts_with(['"', '`', '[']);
        match self.rule.fold {
            _ if is_quoted => written.to_owned(),
            Fold::Keep => self.ctx.dialect.quote(written),
            Fold::Lower => self.ctx.dialect.quote(&one.of.column),
        }
    }

    /// The qualifier in front of a name, with its dot, as rooms before have renamed it.
    fn owner(&self, one: &Use, changes: &Changes) -> String {
        let renamed = |span| format!("{}.", changes.edited(span, &self.stmt.text));
        one.qualifier.map_or(String::new(), renamed)
    }

    /// Whether `=` stands behind the name: it is assigned to by itself.
    fn is_set(&self, one: &Use) -> bool {
        let behind = self.stmt.text.get(one.span.end as usize..).unwrap_or_default();
        behind.trim_start().starts_with(['=', ':'])
    }

    /// Has values go as they are stored, or as what is stored is asked.
    fn values(&self, one: &Use, column: &EncryptedColumn, changes: &mut Changes) -> Result<()> {
        match &one.place {
            Place::InsertColumn { at, rows: Rows::Values(_) } => self.inserted(*at, &mut |expr| {
                if matches!(expr.node, Node::Default) {
                    for _ in column.further() {
                        changes.text().replace(Span::at(expr.span.end), ", DEFAULT");
                    }
                    return Ok(());
                }
                let own = self.value_of(unwrapped(expr), column, changes)?;
                let behind = own.up_to(expr.span.end);
                column.further().try_for_each(|part| {
                    changes.further(&behind, &self.kept(column, own.turn(column, &part.stored)))
                })
            }),
            Place::Field { at } if self.brings_lines() => {
                if !column.is_told_plain() {
                    changes.field(*at, &self.kept(column, column.told.stored.clone()))?;
                }
                column.further().for_each(|part| {
                    changes.further_field(*at, &self.kept(column, part.stored.clone()));
                });
                Ok(())
            }
            Place::Assigned(given) => self.assigned(one, column, given, changes),
            Place::EqualTo(value) | Place::NotEqualTo(value) => {
                self.compared(one, column, std::slice::from_ref(value), changes)
            }
            Place::InList { values, .. } => self.compared(one, column, values, changes),
            Place::Like { pattern, .. } => {
                self.compared(one, column, std::slice::from_ref(pattern), changes)
            }
            // None of them holds a value.
            Place::Item { .. }
            | Place::Returning { .. }
            | Place::InnerItem { .. }
            | Place::Stored { .. }
            | Place::EqualToColumn(_)
            | Place::NotEqualToColumn(_)
            | Place::Between { .. }
            | Place::Ordered { .. }
            | Place::NullTest
            | Place::GroupKey
            | Place::OrderKey
            | Place::DistinctKey
            | Place::Aggregate { .. }
            | Place::InsertColumn { .. }
            | Place::AssignedTo { .. }
            | Place::ConflictTarget
            | Place::Field { .. }
            | Place::Definition(_)
            | Place::Inside { .. } => Ok(()),
        }
    }

    fn compared(
        &self,
        one: &Use,
        column: &EncryptedColumn,
        values: &[Value],
        changes: &mut Changes,
    ) -> Result<()> {
        if column.is_told_plain() {
            return Ok(());
        }
        let part = if is_own(one) { self.asked(&one.place, column)? } else { &column.told };
        values.iter().try_for_each(|value| {
            let expr = self.constant(value)?;
            let own = Constant::of(expr, &self.stmt.text, self.rule.fold, changes);
            changes.value(&own.expr, &own.turn(column, &part.asked))
        })
    }

    /// A value that is stored, which goes as what is told of its column is.
    fn value_of(
        &self,
        expr: &Expr,
        column: &EncryptedColumn,
        changes: &mut Changes,
    ) -> Result<Constant> {
        let (text, fold) = (&self.stmt.text, self.rule.fold);
        if column.is_told_plain() {
            return Ok(Constant::kept(expr, text, fold));
        }
        let own = Constant::of(expr, text, fold, changes);
        changes.value(&own.expr, &self.kept(column, own.turn(column, &column.told.stored)))?;
        Ok(own)
    }

    fn kept(&self, column: &EncryptedColumn, turn: Turn) -> Turn {
        in_step::kept(self.ctx, column, turn)
    }

    fn constant(&self, value: &Value) -> Result<&Expr> {
        let (Value::Literal(span)
        | Value::Parameter { span, .. }
        | Value::Cast { whole: span, .. }) = value;
        let lost = || Error::internal("a constant of a statement is not in it");
        self.constants.get(span).ok_or_else(lost)
    }

    fn brings_lines(&self) -> bool {
        if let Kind::Copy(copy) = &self.stmt.kind {
            return copy.direction != CopyDirection::ToClient;
        }
        matches!(self.stmt.kind, Kind::Load(_))
    }

    /// Assigns what the stored columns are to hold.
    fn assigned(
        &self,
        one: &Use,
        column: &EncryptedColumn,
        given: &Given,
        changes: &mut Changes,
    ) -> Result<()> {
        let owner = self.owner(one, changes);
        let front = |part: &Part| match self.is_set(one) {
            true => format!(", {owner}{} = ", self.quoted(part)),
            false => ", ".to_owned(),
        };
        match given {
            Given::Value(value) => {
                let expr = self.constant(value)?;
                let own = self.value_of(expr, column, changes)?;
                let behind = own.up_to(self.closed.get(&expr.span).copied().unwrap_or_default());
                column.further().try_for_each(|part| {
                    let turn = self.kept(column, own.turn(column, &part.stored));
                    changes.further_behind(&behind, front(part), &turn)
                })
            }
            Given::Default(span) => {
                for part in column.further() {
                    changes.text().replace(Span::at(span.end), format!("{}DEFAULT", front(part)));
                }
                Ok(())
            }
            Given::Column(from) => {
                let from = found(self.rule, from)?;
                for (at, part) in column.further().enumerate() {
                    let (end, text) = self.copied(one, from.further().nth(at), changes)?;
                    changes.text().replace(Span::at(end), format!("{}{text}", front(part)));
                }
                Ok(())
            }
            Given::Expression(_) => Err(refused("an encrypted column is given an expression")),
        }
    }

    /// What is copied into a further column where `phone = u.phone` or `phone = VALUES(phone)` copies its value, and
    /// where that ends.
    fn copied(&self, left: &Use, part: Option<&Part>, changes: &Changes) -> Result<(u32, String)> {
        let lost = || refused("a column that is copied was not found");
        let behind = self.uses.columns.iter().filter(|one| {
            matches!(one.place, Place::AssignedTo { .. }) && one.span.start >= left.span.end
        });
        let right = behind.min_by_key(|one| one.span.start).filter(|_| self.is_set(left));
        let (right, part) = (right.ok_or_else(lost)?, part.ok_or_else(lost)?);
        let name = self.quoted(part);
        // The function's parenthesis, and others.
        let between = Span::new(left.span.end, right.span.start).of(&self.stmt.text);
        let opened = between.matches('(').count();
        let end = self.behind_closed(right.span.end, opened).ok_or_else(lost)?;
        // A proposed column has a qualifier, or stands in the function.
        match right.by == Reference::Proposed && right.qualifier.is_none() {
            true => Ok((end, format!("VALUES({name})"))),
            false => Ok((end, format!("{}{name}", self.owner(right, changes)))),
        }
    }

    /// Where so many parentheses are closed behind a place, and nothing else stands there.
    fn behind_closed(&self, at: u32, count: usize) -> Option<u32> {
        let behind = self.stmt.text.get(at as usize..)?;
        let mut ends = behind.char_indices().filter(|(_, own)| !own.is_whitespace());
        let mut end = at;
        for _ in 0..count {
            let (place, _) = ends.next().filter(|(_, own)| *own == ')')?;
            end = at + u32::try_from(place).ok()? + 1;
        }
        Some(end)
    }

    /// The values of an INSERT's rows for one column.
    fn inserted(&self, at: usize, see: &mut dyn FnMut(&Expr) -> Result<()>) -> Result<()> {
        let Kind::Insert(insert) = &self.stmt.kind else {
            return Err(refused("an INSERT into an encrypted column stands in another statement"));
        };
        let InsertSource::Values { rows, .. } = &insert.source else { return Ok(()) };
        let syntax = self.ctx.dialect.syntax();
        for row in rows {
            if let Some(expr) = row.value(at, &self.stmt.text, syntax) {
                see(&expr)?;
            }
        }
        Ok(())
    }

    /// The columns that a `*` stands for, under the names that are known outside.
    fn spelled_out(&self, star: &Star) -> Result<String> {
        let mut columns = Vec::new();
        for one in &star.columns {
            let source = one.source.map(|span| format!("{}.", span.of(&self.stmt.text)));
            let (owner, name) = (source.unwrap_or_default(), one.name.as_deref());
            let name = self.ctx.dialect.quote(name.unwrap_or_default());
            columns.push(match &one.of {
                Some(of) if one.by == Reference::Column => {
                    let column = found(self.rule, of)?;
                    match &star.place {
                        StarPlace::Stored(_) => self.all(column, &owner),
                        StarPlace::Result | StarPlace::Returning | StarPlace::Inner => {
                            format!("{owner}{} AS {name}", self.quoted(&column.told))
                        }
                    }
                }
                Some(_) | None => format!("{owner}{name}"),
            });
        }
        Ok(columns.join(", "))
    }

    /// Lines that list no columns bring the logic ones in order: the statement lists what is sent.
    fn lists_fields(&self, changes: &mut Changes) {
        let (table, listed, at) = if let Kind::Copy(copy) = &self.stmt.kind {
            (copy.table.as_ref(), &copy.columns, copy.columns_at)
        } else if let Kind::Load(load) = &self.stmt.kind {
            (Some(&load.table), &load.columns, load.columns_at)
        } else {
            return;
        };
        if listed.is_some() || !self.brings_lines() {
            return;
        }
        let key = table.map(|table| table.key()).unwrap_or_default();
        let Some(seen) = self.ctx.catalog.columns(&key) else { return };
        let name = |name: &str| {
            let mut own = self.rule.of_table(&key);
            match own.find(|column| self.rule.is_called(&column.of.column, name)) {
                Some(column) => self.all(column, ""),
                None => self.ctx.dialect.quote(name),
            }
        };
        let names: Vec<String> = seen.iter().map(|column| name(&column.name)).collect();
        changes.text().replace(Span::at(at), format!(" ({})", names.join(", ")));
    }
}
