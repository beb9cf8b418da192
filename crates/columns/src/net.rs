//! The safety net: every word that is spelled like a column of interest must have been understood.

use pando_sql::{Span, TokenKind};

use crate::analysis::{Analysis, Result};
use crate::interest::is_alike;
use crate::stop::Stop;
use crate::uses::Uses;

impl Analysis<'_> {
    /// The uses, in text order, when no word is left over.
    pub(crate) fn checked(mut self) -> Result<Uses> {
        let known = self.known();
        let columns = self.columns_named();
        let left = self.text.list.iter().find(|token| {
            let name = self.text.name(token);
            let is_one = name.is_some_and(|name| columns.iter().any(|one| is_alike(one, &name)));
            (is_one || token.kind == TokenKind::UnicodeIdentifier) && !covers(&known, token.span)
        });
        if let Some(token) = left {
            let shown = self.text.of(token);
            return Err(Stop::unclear(format!("it cannot be told what `{shown}` means")));
        }
        let place = |span: Span| (span.start, span.end);
        self.found.columns.sort_by_key(|one| place(one.span));
        self.found.stars.sort_by_key(|one| place(one.span));
        Ok(self.found)
    }

    /// The columns of interest of the tables that the text mentions.
    fn columns_named(&self) -> Vec<String> {
        let tables = self.interest.tables().filter(|table| self.text.mentions(table));
        let columns = tables.flat_map(|table| self.interest.of_table(table));
        columns.map(|of| of.column.to_string()).collect()
    }

    /// The ranges that were understood, in text order, none inside another.
    fn known(&self) -> Vec<Span> {
        let names = self.found.columns.iter().filter(|one| one.by != crate::Reference::Query);
        let names = names.flat_map(|one| one.qualifier.into_iter().chain([one.span]));
        let stars = self.found.stars.iter().map(|star| star.span);
        let mut all: Vec<Span> = names.chain(stars).chain(self.others.iter().copied()).collect();
        all.sort();
        let mut joined: Vec<Span> = Vec::with_capacity(all.len());
        for span in all {
            match joined.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                Some(_) | None => joined.push(span),
            }
        }
        joined
    }
}

fn covers(known: &[Span], span: Span) -> bool {
    let behind = known.partition_point(|one| one.start <= span.start);
    let before = behind.checked_sub(1).and_then(|at| known.get(at));
    before.is_some_and(|one| span.end <= one.end)
}
