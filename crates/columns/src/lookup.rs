//! What a column's name means: inner FROMs first.

use pando_sql::ast::{Ident, ObjectName};
use pando_sql::{Fold, Span};

use crate::analysis::{Analysis, Result};
use crate::scope::{Carries, Columns, Nature, Source};
use crate::stop::Stop;
use crate::uses::{Origin, Reference};

/// A reference to the value of a column of interest.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    pub(crate) of: Origin,
    pub(crate) span: Span,
    pub(crate) qualifier: Option<Span>,
    pub(crate) by: Reference,
}

/// What one FROM knows of a bare name.
enum Has {
    /// One of its columns.
    Column(Carries, Nature),
    /// Perhaps: it has a factor whose columns are not known.
    Perhaps,
    No,
}

/// Words that stand for something else than a column, with one family of servers or another. Sorted.
const WORDS: &[&str] = &[
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dayofmonth",
    "default",
    "localtime",
    "localtimestamp",
    "maxvalue",
    "rownum",
    "session_user",
    "sql_calc_found_rows",
    "sysdate",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];

fn is_word(name: &str) -> bool {
    WORDS.binary_search(&name.to_lowercase().as_str()).is_ok()
}

impl<'a> Analysis<'a> {
    /// What a column's name means; `None` where that is no column of interest.
    pub(crate) fn column(&mut self, name: &'a ObjectName) -> Result<Option<Mention>> {
        let Some((column, qualifier)) = name.parts.split_last() else { return Ok(None) };
        if !column.quoted && column.value == "*" {
            self.whole_row(name, qualifier)?;
            return Ok(None);
        }
        let (carries, nature) = match qualifier {
            [] => self.bare(column)?,
            _ => self.qualified(name, column, qualifier)?,
        };
        let before = qualifier.first().zip(qualifier.last());
        let qualifier = before.map(|(first, last)| first.span.to(last.span));
        let by = match nature {
            Nature::Table => Reference::Column,
            Nature::Derived => Reference::Named,
            Nature::Proposed => Reference::Proposed,
        };
        match carries {
            Carries::Nothing => {
                self.other(name.span);
                Ok(None)
            }
            Carries::Column(of) => Ok(Some(Mention { of, span: column.span, qualifier, by })),
            Carries::Several => Err(self.mixed(name.span)),
        }
    }

    pub(crate) fn mixed(&self, span: Span) -> Stop {
        Stop::unclear(format!("`{}` holds values of several columns", self.shown(span)))
    }

    fn not_told(&self, span: Span) -> Stop {
        Stop::unclear(format!("it cannot be told what `{}` means", self.shown(span)))
    }

    fn bare(&mut self, name: &'a Ident) -> Result<(Carries, Nature)> {
        let mut perhaps_inside = false;
        for depth in (0..self.scopes.len()).rev() {
            match self.bare_at(depth, name)? {
                Has::Column(carries, nature) if !perhaps_inside => return Ok((carries, nature)),
                Has::Column(Carries::Nothing, nature) => return Ok((Carries::Nothing, nature)),
                Has::Column(..) => return Err(self.not_told(name.span)),
                Has::Perhaps => perhaps_inside = true,
                Has::No => {}
            }
        }
        let row = std::slice::from_ref(name);
        if let Some(source) = self.source(row)? {
            if source.is_of_interest() {
                return Err(Stop::unclear(format!("`{}` is a whole row", name.value)));
            }
            return Ok((Carries::Nothing, Nature::Derived));
        }
        if perhaps_inside || self.is_hidden(name) || !self.is_concerned() {
            return Ok((Carries::Nothing, Nature::Derived));
        }
        let is_word = !name.quoted && is_word(&name.value);
        Err(match is_word || self.is_named_again(name) {
            true => self.not_told(name.span),
            false => Stop::Unknown { column: name.value.clone() },
        })
    }

    /// Whether nothing that the statement reads may have a column of this name.
    pub(crate) fn is_no_column(&self, name: &ObjectName) -> Result<bool> {
        let Some((column, qualifier)) = name.parts.split_last() else { return Ok(false) };
        if !qualifier.is_empty() {
            return Ok(self.source(qualifier)?.is_none());
        }
        for depth in 0..self.scopes.len() {
            if !matches!(self.bare_at(depth, column)?, Has::No) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the text has the name elsewhere, too: it may be what something in it is called.
    fn is_named_again(&self, name: &Ident) -> bool {
        let is_it = |told: &str| told.eq_ignore_ascii_case(&name.value);
        let named = self.text.list.iter().filter(|token| {
            token.span != name.span && self.text.name(token).is_some_and(|told| is_it(&told))
        });
        named.count() > 0
    }

    /// A bare name in one FROM. Two factors that have it are an error of the server's, unless a join makes them one.
    fn bare_at(&self, depth: usize, name: &Ident) -> Result<Has> {
        let Some(scope) = self.scopes.get(depth) else { return Ok(Has::No) };
        let mut found: Option<(Carries, Nature)> = None;
        let mut rest = Has::No;
        for source in scope.seen() {
            // The proposed row is known by its name alone.
            let Columns::Known(list) = &source.columns else { continue };
            if source.nature == Nature::Proposed {
                continue;
            }
            let fits = list.iter().filter(|one| self.is_called(one.name.as_deref(), name));
            for one in fits {
                let unlike = found.as_ref().is_some_and(|(carries, _)| {
                    *carries != Carries::Nothing || one.carries != Carries::Nothing
                });
                if unlike {
                    return Err(self.not_told(name.span));
                }
                found = Some((one.carries.clone(), source.nature));
            }
        }
        let found = self.alias_or(depth, name, found)?;
        if let Some((carries, nature)) = found {
            if carries != Carries::Nothing && self.is_read_of_another(depth, name)? {
                return Err(self.not_told(name.span));
            }
            return Ok(Has::Column(carries, nature));
        }
        for source in scope.seen() {
            match &source.columns {
                Columns::Known(_) => {}
                Columns::Open => rest = Has::Perhaps,
                Columns::Unread(key) => {
                    let columns = self.read(key)?;
                    if columns.iter().any(|one| self.same(&one.name, &name.value)) {
                        return Ok(Has::Column(Carries::Nothing, Nature::Table));
                    }
                    if columns.is_empty() {
                        rest = Has::Perhaps;
                    }
                }
            }
        }
        Ok(rest)
    }

    /// Whether a table without columns of interest has it, too: without the room it would be an error.
    fn is_read_of_another(&self, depth: usize, name: &Ident) -> Result<bool> {
        let Some(scope) = self.scopes.get(depth) else { return Ok(false) };
        for source in scope.seen() {
            let Columns::Unread(key) = &source.columns else { continue };
            if self.read(key)?.iter().any(|one| self.same(&one.name, &name.value)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An alias of the select list, where expressions may name one: servers differ in what comes first.
    fn alias_or(
        &self,
        depth: usize,
        name: &Ident,
        found: Option<(Carries, Nature)>,
    ) -> Result<Option<(Carries, Nature)>> {
        let aliases = self.scopes.get(depth).and_then(|scope| scope.aliases.as_ref());
        let alias = aliases.and_then(|list| {
            list.iter().find(|one| {
                one.naming == crate::scope::Naming::Alias
                    && self.is_called(one.name.as_deref(), name)
            })
        });
        let Some(alias) = alias else { return Ok(found) };
        match found {
            Some((carries, nature)) if carries == alias.carries => Ok(Some((carries, nature))),
            Some(_) => Err(self.not_told(name.span)),
            None => Ok(Some((alias.carries.clone(), Nature::Derived))),
        }
    }

    pub(crate) fn is_called(&self, own: Option<&str>, name: &Ident) -> bool {
        own.is_some_and(|own| self.same(own, &name.value))
    }

    /// Whether the innermost FROM has a column of this name; `None` where that is not known.
    pub(crate) fn has_here(&self, name: &Ident) -> Result<Option<bool>> {
        let Some(depth) = self.scopes.len().checked_sub(1) else { return Ok(Some(false)) };
        Ok(match self.bare_at(depth, name)? {
            Has::Column(..) => Some(true),
            Has::Perhaps => None,
            Has::No => Some(false),
        })
    }

    /// The innermost factor of this name. Some servers tell names by their case that others do not: where that makes
    /// a difference, it is not told.
    pub(crate) fn source(&self, qualifier: &[Ident]) -> Result<Option<&Source<'a>>> {
        let mut alike: Option<&Source<'a>> = None;
        for scope in self.scopes.iter().rev() {
            let mut seen = scope.seen().iter();
            if let Some(exact) = seen.find(|one| one.label.is_spelled(qualifier)) {
                return match alike {
                    Some(inner) if inner.is_of_interest() || exact.is_of_interest() => {
                        Err(self
                            .not_told(qualifier.last().map_or(Span::default(), |last| last.span)))
                    }
                    Some(_) | None => Ok(Some(exact)),
                };
            }
            alike = alike.or_else(|| scope.seen().iter().find(|one| one.label.is(qualifier)));
        }
        Ok(alike)
    }

    fn qualified(
        &mut self,
        name: &'a ObjectName,
        column: &Ident,
        qualifier: &[Ident],
    ) -> Result<(Carries, Nature)> {
        let Some(source) = self.source(qualifier)? else {
            let is_free = !self.is_concerned();
            return if is_free {
                Ok((Carries::Nothing, Nature::Derived))
            } else {
                Err(self.not_told(name.span))
            };
        };
        let nature = source.nature;
        let Columns::Known(list) = &source.columns else {
            return Ok((Carries::Nothing, nature));
        };
        let mut fits = list.iter().filter(|one| self.is_called(one.name.as_deref(), column));
        match (fits.next(), fits.next()) {
            (Some(one), None) => Ok((one.carries.clone(), nature)),
            (None, _) if self.is_hidden(column) || !source.is_of_interest() => {
                Ok((Carries::Nothing, nature))
            }
            // Of a row, what is written like a column may be a function of the whole row.
            (None, _) | (Some(_), Some(_)) => Err(self.not_told(name.span)),
        }
    }

    /// Columns that every table has and no catalogue lists.
    fn is_hidden(&self, name: &Ident) -> bool {
        let hidden = self.ctx.dialect.hidden_columns();
        hidden.iter().any(|one| one.eq_ignore_ascii_case(&name.value))
    }

    /// `t.*` as a value.
    fn whole_row(&mut self, name: &ObjectName, qualifier: &[Ident]) -> Result<()> {
        let is_free = match self.source(qualifier)? {
            Some(source) => !source.is_of_interest(),
            None => !self.is_concerned(),
        };
        if is_free {
            self.other(name.span);
            return Ok(());
        }
        Err(Stop::unclear(format!("`{}` is a whole row", self.shown(name.span))))
    }

    /// Whether aliases of the select list may be named in expressions.
    pub(crate) fn sees_aliases(&self) -> bool {
        self.fold() == Fold::Keep
    }
}
