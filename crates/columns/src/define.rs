//! Definitions: every word of one that is spelled like a column of its table is a use.

use std::collections::HashSet;

use pando_sql::Span;
use pando_sql::ast::{Define, DefineAction, ObjectKind, ObjectName};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::stop::Stop;
use crate::text::Text;
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
        let tables = define.referenced.iter().chain([table]);
        self.others.extend(tables.flat_map(|name| &name.parts).map(|part| part.span));
        if define.object == ObjectKind::Index {
            self.others.extend(define.names.iter().map(|name| name.span));
        }
        let key = table.key();
        let others: HashSet<Span> = self.others.iter().copied().collect();
        let words = Words::new(&self.text, define.object);
        let (mut found, mut foreign) = (Vec::new(), Vec::new());
        for (at, token) in self.text.list.iter().enumerate() {
            let Some(name) = self.text.name(token).filter(|_| !others.contains(&token.span)) else {
                continue;
            };
            let mut columns = self.interest.of_table(&key).iter();
            let of = columns.find(|of| self.same(&of.column, &name));
            let Some(of) = of.cloned() else { continue };
            if words.is_of_another(at) {
                foreign.push(token.span);
                continue;
            }
            let declared = define.columns.iter().find(|column| column.name.span == token.span);
            let part = match declared {
                Some(column) => Definition::Column { type_span: column.type_span },
                None if words.is_key(at) => Definition::Key,
                None => Definition::Other,
            };
            found.push((of, token.span, part));
        }
        self.others.extend(foreign);
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
}

/// The words of a definition, and which parenthesis each stands in.
struct Words<'a, 't> {
    text: &'t Text<'a>,
    /// For each token the innermost parenthesis that is open there.
    openings: Vec<Option<usize>>,
    is_index: bool,
    /// The first WHERE: of a partial index.
    filter: usize,
}

impl<'a, 't> Words<'a, 't> {
    fn new(text: &'t Text<'a>, object: ObjectKind) -> Self {
        let mut open = Vec::new();
        let mut openings = Vec::with_capacity(text.list.len());
        for (at, token) in text.list.iter().enumerate() {
            if text.of(token) == ")" {
                open.pop();
            }
            openings.push(open.last().copied());
            if text.of(token) == "(" {
                open.push(at);
            }
        }
        let mut all = text.list.iter();
        let filter = all.position(|token| text.of(token).eq_ignore_ascii_case("where"));
        let filter = filter.unwrap_or(text.list.len());
        Self { text, openings, is_index: object == ObjectKind::Index, filter }
    }

    fn word(&self, at: usize) -> String {
        self.text.list.get(at).map_or(String::new(), |token| self.text.of(token).to_uppercase())
    }

    fn opening(&self, at: usize) -> Option<usize> {
        self.openings.get(at).copied().flatten()
    }

    /// Whether the token stands in REFERENCES t (…), which names columns of another table.
    fn is_of_another(&self, at: usize) -> bool {
        let Some(open) = self.opening(at) else { return false };
        let before = |back: usize| open.checked_sub(back).map_or(String::new(), |at| self.word(at));
        let mut back = 2;
        while before(back) == "." {
            back += 2;
        }
        before(back) == "REFERENCES"
    }

    /// Whether the token is a plain element of a list of columns: of an index, or behind PRIMARY KEY, UNIQUE, KEY,
    /// INDEX.
    fn is_key(&self, at: usize) -> bool {
        let Some(open) = self.opening(at) else { return false };
        let starts = at == open + 1 || at.checked_sub(1).is_some_and(|at| self.word(at) == ",");
        let ends = matches!(self.word(at + 1).as_str(), ")" | "," | "ASC" | "DESC");
        if self.is_index {
            return starts && ends && at < self.filter && self.opening(open).is_none();
        }
        let head = |back: usize| open.checked_sub(back).map_or(String::new(), |at| self.word(at));
        let is_head = |word: &str| matches!(word, "KEY" | "INDEX" | "UNIQUE");
        let is_list = is_head(&head(1)) || is_head(&head(2));
        starts && ends && is_list && head(2) != "FOREIGN" && head(3) != "FOREIGN"
    }
}
