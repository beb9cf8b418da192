//! Definitions: every word of one that is spelled like a column of its table is a use.

use pando_sql::Span;
use pando_sql::ast::{Define, DefineAction, ObjectKind, ObjectName};

use crate::analysis::{Analysis, Result};
use crate::interest::is_alike;
use crate::lookup::Mention;
use crate::stop::Stop;
use crate::uses::{Definition, Place, Reference};

impl<'a> Analysis<'a> {
    pub(crate) fn define(&mut self, define: &'a Define) -> Result<()> {
        let is_drop = matches!(define.action, DefineAction::Drop | DefineAction::Truncate);
        if is_drop && define.object == ObjectKind::Table {
            self.others.extend(define.names.iter().map(|name| name.span));
            return Ok(());
        }
        let Some(table) = self.defined(define)? else { return Ok(()) };
        self.others.extend(define.inner_names.iter().map(|inner| inner.name.span));
        self.other(table.span);
        if define.object == ObjectKind::Index {
            self.others.extend(define.names.iter().map(|name| name.span));
        }
        let key = table.key();
        let mut found = Vec::new();
        for (at, token) in self.text.list.iter().enumerate() {
            let Some(name) = self.text.name(token) else { continue };
            if self.others.contains(&token.span) {
                continue;
            }
            let of = self.interest.of_table(&key).iter().find(|of| is_alike(&of.column, &name));
            let Some(of) = of.cloned() else { continue };
            found.push((of, token.span, self.part(define, at, token.span)));
        }
        for (of, span, part) in found {
            let by = Reference::Column;
            self.put(Mention { of, span, qualifier: None, by }, Place::Definition(part));
        }
        Ok(())
    }

    /// The one table that is defined, where it is of interest.
    fn defined(&self, define: &'a Define) -> Result<Option<&'a ObjectName>> {
        let is_table = define.object == ObjectKind::Table;
        let is_of_columns = is_table || define.object == ObjectKind::Index;
        let (elsewhere, is_comment) = (
            define.referenced.iter().chain(&define.renamed_to),
            define.action == DefineAction::Comment,
        );
        let mut elsewhere = elsewhere;
        let names_elsewhere = elsewhere.any(|name| self.interest.has_table(&name.key()));
        if names_elsewhere || define.query.is_some() || !(is_of_columns || is_comment) {
            return Err(Stop::unclear("a definition rests on a table whose columns are turned"));
        }
        let own = if is_table { define.names.first() } else { None };
        let table = define.on.as_ref().or(own);
        let Some(table) = table.filter(|table| self.interest.has_table(&table.key())) else {
            return Ok(None);
        };
        if define.action == DefineAction::Rename || !define.renamed_to.is_empty() {
            return Err(Stop::unclear("a table whose columns are turned gets another name"));
        }
        Ok(Some(table))
    }

    fn part(&self, define: &Define, at: usize, span: Span) -> Definition {
        if let Some(column) = define.columns.iter().find(|column| column.name.span == span) {
            return Definition::Column { type_span: column.type_span };
        }
        let is_index = define.object == ObjectKind::Index;
        if self.is_key(at, is_index) { Definition::Key } else { Definition::Other }
    }

    /// Whether the token is a plain element of a list of columns: of an index, or behind PRIMARY KEY, UNIQUE, KEY, INDEX.
    fn is_key(&self, at: usize, is_index: bool) -> bool {
        let word = |at: usize| {
            self.text.list.get(at).map_or(String::new(), |token| self.text.of(token).to_uppercase())
        };
        let is_end = matches!(word(at + 1).as_str(), ")" | "," | "ASC" | "DESC");
        let Some(open) = self.opening(at).filter(|_| is_end) else { return false };
        let starts = at.checked_sub(1).is_some_and(|before| before == open || word(before) == ",");
        let head = |back: usize| open.checked_sub(back).map_or(String::new(), word);
        if is_index {
            let is_partial = (0..at).any(|before| word(before) == "WHERE");
            return starts && !is_partial && self.opening(open).is_none();
        }
        let is_head = |word: &str| matches!(word, "KEY" | "INDEX" | "UNIQUE");
        let is_named = is_head(&head(2)) && self.text.list.get(open - 1).is_some();
        starts && (is_head(&head(1)) || is_named) && head(2) != "FOREIGN" && head(3) != "FOREIGN"
    }

    /// The opening parenthesis around a token.
    fn opening(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for before in (0..at).rev() {
            match self.text.list.get(before).map(|token| self.text.of(token)) {
                Some(")") => depth += 1,
                Some("(") if depth == 0 => return Some(before),
                Some("(") => depth -= 1,
                Some(_) | None => {}
            }
        }
        None
    }
}
