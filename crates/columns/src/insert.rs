//! INSERT and REPLACE: which values go into which columns.

use std::rc::Rc;

use pando_sql::ast::{Expr, Ident, Insert, InsertRow, InsertSource, OnConflict};
use pando_sql::{Fold, Span};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::outlet::Outlet;
use crate::scope::{Carries, Columns, Label, Nature, Output, Outputs, Scope, Source};
use crate::stop::Stop;
use crate::uses::{Duplicates, Given, Origin, Place, Reference, Rows, Value};

/// The columns an INSERT fills, each with the column of interest it is and where it is named.
struct Filled {
    /// `None` where the table has no column of interest.
    list: Option<Vec<(Option<Origin>, Option<Span>)>>,
    /// Where a column list would stand.
    at: Span,
}

impl Filled {
    fn into(&self, at: usize) -> Option<Origin> {
        self.list.as_ref()?.get(at)?.0.clone()
    }

    fn origins(&self) -> Option<Vec<Option<Origin>>> {
        Some(self.list.as_ref()?.iter().map(|(of, _)| of.clone()).collect())
    }

    fn of_interest(&self) -> Vec<(usize, Mention)> {
        let list = self.list.iter().flatten().enumerate();
        list.filter_map(|(at, (of, span))| {
            let by = if span.is_some() { Reference::Column } else { Reference::Position };
            let span = span.unwrap_or(self.at);
            Some((at, Mention { of: of.clone()?, span, qualifier: None, by }))
        })
        .collect()
    }
}

impl<'a> Analysis<'a> {
    pub(crate) fn insert(&mut self, insert: &'a Insert, outlet: &Outlet) -> Result<Outputs> {
        let before = self.common.len();
        self.with(&insert.with)?;
        let filled = self.filled(insert)?;
        let had = self.found.columns.len() + self.found.stars.len();
        let mut reads = false;
        if let InsertSource::Query(query) = &insert.source {
            let outputs = self.query(query, &Outlet::Stored(filled.origins()))?;
            reads = self.found.columns.len() + self.found.stars.len() > had;
            self.filled_from(&filled, &outputs)?;
        }
        self.scopes.push(Scope::default());
        self.target(&insert.table)?;
        match &insert.source {
            InsertSource::Values { rows, span } => {
                self.refuse_row_alias(span.end)?;
                self.rows(rows, &filled)?;
            }
            InsertSource::Set(list) => {
                self.refuse_row_alias(list.last().map_or(insert.span.end, |last| last.span.end))?;
                self.assignments(list)?;
            }
            InsertSource::Query(_) => {
                if reads && !insert.on_duplicate.is_empty() {
                    return Err(Stop::unclear(
                        "ON DUPLICATE KEY UPDATE may read what the query reads",
                    ));
                }
            }
            InsertSource::Default => {
                for (at, mention) in filled.of_interest() {
                    self.put(mention, Place::InsertColumn { at, rows: Rows::Default });
                }
            }
        }
        self.conflicts(insert)?;
        let outputs = match &insert.returning {
            Some((items, _)) => self.items(items, &outlet.returning(), Duplicates::Kept)?,
            None => None,
        };
        self.scopes.pop();
        self.common.truncate(before);
        Ok(outputs)
    }

    /// MySQL's `VALUES (…) AS new (a, b)`, which the tree leaves out.
    fn refuse_row_alias(&self, end: u32) -> Result<()> {
        let is_alias = self.text.word_at(end).eq_ignore_ascii_case("as");
        if is_alias && self.fold() == Fold::Keep {
            return Err(Stop::unclear("an alias gives the inserted row's columns other names"));
        }
        Ok(())
    }

    fn filled(&mut self, insert: &'a Insert) -> Result<Filled> {
        let at = Span::at(insert.columns_span.start);
        let Columns::Known(own) = self.columns_of(&insert.table.name)? else {
            self.other(insert.columns_span);
            return Ok(Filled { list: None, at });
        };
        let list = match &insert.columns {
            None => own.iter().map(|one| (one.carries.origin().cloned(), None)).collect(),
            Some(names) => {
                let named = names.iter().map(|name| self.filled_column(&own, name));
                named.collect::<Result<_>>()?
            }
        };
        Ok(Filled { list: Some(list), at })
    }

    fn filled_column(
        &self,
        own: &Rc<[Output]>,
        name: &Ident,
    ) -> Result<(Option<Origin>, Option<Span>)> {
        let found = own.iter().find(|one| self.is_called(one.name.as_deref(), name));
        let Some(of) = found.and_then(|one| one.carries.origin()) else {
            return Ok((None, Some(name.span)));
        };
        if !matches!(self.text.word_at(name.span.end), "," | ")") {
            return Err(Stop::unclear(format!("a part of `{}` alone is set", name.value)));
        }
        Ok((Some(of.clone()), Some(name.span)))
    }

    fn filled_from(&mut self, filled: &Filled, outputs: &Outputs) -> Result<()> {
        let columns = filled.of_interest();
        let Some(list) = outputs else {
            let is_free = columns.is_empty();
            let why = "the columns of the query whose rows are inserted are not known";
            return if is_free { Ok(()) } else { Err(Stop::unclear(why)) };
        };
        for (at, mention) in columns {
            // A row may be shorter than the table.
            let Some(one) = list.get(at) else { continue };
            if one.carries == Carries::Several {
                return Err(self.mixed(mention.span));
            }
            let rows = Rows::Query { at, from: one.carries.origin().cloned() };
            self.put(mention, Place::InsertColumn { at, rows });
        }
        Ok(())
    }

    fn rows(&mut self, rows: &'a [InsertRow], filled: &Filled) -> Result<()> {
        let columns = filled.of_interest();
        let mut given: Vec<Vec<Given>> = columns.iter().map(|_| Vec::new()).collect();
        for row in rows {
            let trees = row.trees().unwrap_or(&[]);
            let valued: Vec<Given> = trees
                .iter()
                .enumerate()
                .map(|(at, expr)| self.stored_value(expr, filled.into(at)))
                .collect::<Result<_>>()?;
            for ((at, _), list) in columns.iter().zip(&mut given) {
                let value = match row.trees() {
                    Some(_) => valued.get(*at).cloned(),
                    None => row
                        .value(*at, self.text.text, self.text.syntax)
                        .map(|literal| Given::Value(Value::Literal(literal.span))),
                };
                list.extend(value);
            }
        }
        for ((at, mention), list) in columns.into_iter().zip(given) {
            if !list.is_empty() && list.len() != rows.len() {
                return Err(Stop::unclear("rows are of different lengths"));
            }
            if !list.is_empty() {
                self.put(mention, Place::InsertColumn { at, rows: Rows::Values(list) });
            }
        }
        Ok(())
    }

    /// A value that goes into a column.
    pub(crate) fn stored_value(&mut self, expr: &'a Expr, into: Option<Origin>) -> Result<Given> {
        let valued = self.value(expr)?;
        if let Some(mention) = valued.mention {
            self.put(mention, Place::AssignedTo { into });
        }
        Ok(valued.given)
    }

    /// What is done where a row stands in the way already.
    fn conflicts(&mut self, insert: &'a Insert) -> Result<()> {
        if let Some(scope) = self.scopes.last_mut() {
            scope.proposes = true;
        }
        self.assignments(&insert.on_duplicate)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.proposes = false;
        }
        let Some(conflict) = &insert.on_conflict else { return Ok(()) };
        let columns = self.columns_of(&insert.table.name)?;
        self.conflict_target(conflict, &columns);
        if let Some(scope) = self.scopes.last_mut() {
            scope.sources.push(Source {
                label: Label::Excluded,
                columns,
                nature: Nature::Proposed,
            });
        }
        self.assignments(&conflict.assignments)?;
        self.clause(conflict.filter.as_ref())?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.sources.pop();
        }
        Ok(())
    }

    /// The plain columns of ON CONFLICT (…), which the tree leaves out. Its expressions are left to the safety net.
    fn conflict_target(&mut self, conflict: &OnConflict, columns: &Columns) {
        let Columns::Known(own) = columns else {
            // Names here can only be the target's.
            self.other(conflict.span);
            return;
        };
        self.others.extend(conflict.constraint.as_ref().map(|name| name.span));
        let tokens = self.text.within(conflict.span);
        let (mut depth, mut found) = (0_usize, Vec::new());
        for (at, token) in tokens.iter().enumerate().skip(2) {
            let word = |at: usize| tokens.get(at).map_or("", |token| self.text.of(token));
            match word(at) {
                "(" => depth += 1,
                ")" if depth == 1 => break,
                ")" => depth -= 1,
                _ => {}
            }
            let is_plain = depth == 1
                && matches!(word(at - 1), "(" | ",")
                && matches!(word(at + 1), ")" | ",");
            let Some(name) = self.text.name(token).filter(|_| is_plain) else { continue };
            let one = own.iter().find(|one| one.name.as_deref() == Some(name.as_str()));
            found.extend(
                one.and_then(|one| one.carries.origin()).map(|of| (of.clone(), token.span)),
            );
        }
        for (of, span) in found {
            let by = Reference::Column;
            self.put(Mention { of, span, qualifier: None, by }, Place::ConflictTarget);
        }
    }
}
