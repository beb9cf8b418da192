//! What the room changes of a statement that it lets through.

use std::collections::HashMap;

use pando_columns::{Given, Place, Reference, Rows, Star, StarPlace, Use, Uses, Value};
use pando_kernel::changes::{Changes, Turn};
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::{CopyDirection, Expr, InsertSource, Kind, Node, Statement};
use pando_sql::{Span, visit};

use crate::turning::{ASKED, LOGIC, STORED, refused};

/// What values become.
#[derive(Debug)]
pub(crate) struct Turns {
    /// In the column that is told.
    pub(crate) stored: Turn,
    /// In the one that lists of constants are compared with, where there is one.
    pub(crate) asked: Option<Turn>,
}

/// Writes one statement.
struct Writer<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    uses: &'a Uses,
    turns: &'a Turns,
    constants: HashMap<Span, Expr>,
}

/// Renames the column and turns the values that it meets.
pub(crate) fn write(
    ctx: &Context<'_>,
    stmt: &Statement,
    uses: &Uses,
    (changes, turns): (&mut Changes, &Turns),
) -> Result<()> {
    let mut constants: HashMap<Span, Expr> = HashMap::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if matches!(expr.node, Node::Literal(_) | Node::Parameter(_)) {
            constants.insert(expr.span, expr.clone());
        }
    });
    let writer = Writer { ctx, stmt, uses, turns, constants };
    for one in &uses.columns {
        writer.renames(one, changes);
        writer.turns(one, changes)?;
    }
    for star in &uses.stars {
        // What clients see is another number of columns, or under another name.
        if turns.asked.is_some() || star.place == StarPlace::Inner {
            let text = writer.spelled_out(star);
            changes.text().replace(star.span, text);
        }
    }
    Ok(())
}

fn brings_lines(kind: &Kind) -> bool {
    match kind {
        Kind::Copy(copy) => copy.direction != CopyDirection::ToClient,
        kind => matches!(kind, Kind::Load(_)),
    }
}

impl Writer<'_> {
    fn is_two(&self) -> bool {
        self.turns.asked.is_some()
    }

    fn renames(&self, one: &Use, changes: &mut Changes) {
        match one.by {
            Reference::Column | Reference::Proposed => {}
            Reference::Named | Reference::Ordinal | Reference::Query | Reference::Position => {
                return;
            }
        }
        let name = match &one.place {
            Place::InList { .. } if self.is_two() => ASKED.to_owned(),
            Place::InsertColumn { .. } if self.is_two() && !self.is_set(one) => {
                format!("{STORED}, {ASKED}")
            }
            Place::Assigned(_) if self.is_two() && !self.is_set(one) => {
                format!("{STORED}, {ASKED}")
            }
            _ => STORED.to_owned(),
        };
        changes.text().replace(one.span, name);
        if let Place::Item { expr, alias: None, .. }
        | Place::Returning { expr, alias: None, .. }
        | Place::InnerItem { expr, alias: None, .. }
        | Place::Stored { expr, alias: None, .. } = &one.place
        {
            let written = one.span.of(&self.stmt.text);
            changes.text().replace(Span::at(expr.end), format!(" AS {written}"));
        }
        if let Place::Stored { expr, alias, into: Some(_), .. } = &one.place
            && self.is_two()
        {
            let end = alias.map_or(expr.end, |alias| alias.end);
            let asked = format!(", {}{ASKED}", self.owner(one));
            changes.text().replace(Span::at(end), asked);
        }
    }

    /// The qualifier in front of a name, with its dot.
    fn owner(&self, one: &Use) -> String {
        one.qualifier.map_or(String::new(), |span| format!("{}.", span.of(&self.stmt.text)))
    }

    /// Whether `=` stands behind the name: it is assigned to by itself.
    fn is_set(&self, one: &Use) -> bool {
        let behind = self.stmt.text.get(one.span.end as usize..).unwrap_or_default();
        behind.trim_start_matches(['"', '`', ' ']).starts_with('=')
    }

    fn turns(&self, one: &Use, changes: &mut Changes) -> Result<()> {
        let Turns { stored, asked } = self.turns;
        if let Place::InsertColumn { at, rows: Rows::Values(_) } = &one.place {
            return self.inserted(*at, &mut |expr| match (&expr.node, asked) {
                (Node::Default, Some(_)) => {
                    changes.text().replace(Span::at(expr.span.end), ", DEFAULT");
                    Ok(())
                }
                (Node::Default, None) => Ok(()),
                (_, asked) => {
                    changes.value(expr, stored)?;
                    asked.as_ref().map_or(Ok(()), |asked| changes.further(expr, asked))
                }
            });
        }
        if let Place::Field { at } = one.place
            && brings_lines(&self.stmt.kind)
        {
            changes.field(at, stored)?;
            if let Some(asked) = asked {
                changes.further_field(at, asked);
            }
        }
        let in_asked = matches!(one.place, Place::InList { .. });
        for value in met(&one.place) {
            let (Value::Literal(span)
            | Value::Parameter { span, .. }
            | Value::Cast { whole: span, .. }) = value;
            let expr = self.constants.get(&span).ok_or_else(|| refused("a value was not found"))?;
            match asked {
                Some(asked) if in_asked => changes.value(expr, asked)?,
                Some(_) | None => changes.value(expr, stored)?,
            }
        }
        match (&one.place, asked) {
            (Place::Assigned(given), Some(asked)) => self.assigned(one, given, (changes, asked)),
            _ => Ok(()),
        }
    }

    /// Assigns what the further column is to hold.
    fn assigned(
        &self,
        one: &Use,
        given: &Given,
        (changes, turn): (&mut Changes, &Turn),
    ) -> Result<()> {
        let column = format!("{}{ASKED}", self.owner(one));
        match given {
            Given::Value(
                Value::Literal(span)
                | Value::Parameter { span, .. }
                | Value::Cast { whole: span, .. },
            ) => {
                let expr = self.constants.get(span).ok_or_else(|| refused("no value"))?;
                match self.is_set(one) {
                    true => changes.further_behind(expr, format!(", {column} = "), turn),
                    false => changes.further(expr, turn),
                }
            }
            Given::Default(span) => {
                changes.text().replace(Span::at(span.end), format!(", {column} = DEFAULT"));
                Ok(())
            }
            Given::Column(_) => {
                let (end, text) = self.copied(one).ok_or_else(|| refused("no column"))?;
                changes.text().replace(Span::at(end), format!(", {column}{text}"));
                Ok(())
            }
            Given::Expression(_) => Err(refused("an expression is assigned")),
        }
    }

    /// `= u.secret` or `= VALUES(secret)` behind a column that is assigned to, for the further column; where it ends.
    fn copied(&self, left: &Use) -> Option<(u32, String)> {
        let behind = self.uses.columns.iter().filter(|one| {
            matches!(one.place, Place::AssignedTo { .. }) && one.span.start >= left.span.end
        });
        let right = behind.min_by_key(|one| one.span.start)?;
        let between = Span::new(left.span.end, right.span.start).of(&self.stmt.text);
        let closing = if between.to_uppercase().contains("VALUES(") { ")" } else { "" };
        let end = right.span.end + closing.len() as u32;
        Some((end, format!("{between}{ASKED}{closing}")))
    }

    /// The values of an INSERT's rows for one column.
    fn inserted(&self, at: usize, see: &mut dyn FnMut(&Expr) -> Result<()>) -> Result<()> {
        let Kind::Insert(insert) = &self.stmt.kind else {
            return Err(refused("an INSERT in a statement"));
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
    fn spelled_out(&self, star: &Star) -> String {
        let stores = matches!(star.place, StarPlace::Stored(_)) && self.is_two();
        let columns = star.columns.iter().map(|one| {
            let of = one.source.map(|span| format!("{}.", span.of(&self.stmt.text)));
            let owner = of.unwrap_or_default();
            let name = one.name.as_deref().unwrap_or_default();
            match one.of.is_some() && one.by == Reference::Column {
                true if stores => format!("{owner}{STORED}, {owner}{ASKED}"),
                true => format!("{owner}{STORED} AS {LOGIC}"),
                false => format!("{owner}{}", self.ctx.dialect.quote(name)),
            }
        });
        columns.collect::<Vec<_>>().join(", ")
    }
}

/// The constants that a place holds, those of rows aside.
fn met(place: &Place) -> Vec<Value> {
    match place {
        Place::EqualTo(value) | Place::NotEqualTo(value) => vec![*value],
        Place::Assigned(Given::Value(value)) => vec![*value],
        Place::InList { values, .. } => values.clone(),
        Place::Assigned(Given::Default(_) | Given::Column(_) | Given::Expression(_))
        | Place::Item { .. }
        | Place::Returning { .. }
        | Place::InnerItem { .. }
        | Place::Stored { .. }
        | Place::EqualToColumn(_)
        | Place::NotEqualToColumn(_)
        | Place::Between { .. }
        | Place::Ordered { .. }
        | Place::Like { .. }
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
        | Place::Inside { .. } => Vec::new(),
    }
}
