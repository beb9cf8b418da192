//! INSERT and REPLACE.

use super::Result;
use super::parser::Parser;
use crate::ast::{
    ColumnAssignment, Cte, Ident, Insert, InsertRow, InsertSource, OnConflict, Query, RowAlias,
    SelectItem, Table,
};
use crate::keyword::Keyword;
use crate::span::Span;

impl Parser<'_> {
    /// INSERT or REPLACE is next; `start` is where the statement began.
    pub(super) fn insert(&mut self, with: Vec<Cte>, start: u32) -> Result<Insert> {
        use Keyword::*;
        let replace = self.advance().keyword == REPLACE;
        let mut modifiers = Vec::new();
        while self.commas() && self.is_any(&[LOW_PRIORITY, DELAYED, HIGH_PRIORITY, IGNORE]) {
            let token = self.advance();
            modifiers.push(self.text_of(token).to_ascii_uppercase());
        }
        if !self.eat(INTO) && self.colons() {
            return self.malformed("`INTO`");
        }
        let table = self.insert_target()?;
        let (columns, columns_span) = self.insert_columns(&table)?;
        if self.eat(OVERRIDING) {
            self.any_name("`SYSTEM` or `USER`")?;
            self.expect(VALUE)?;
        }
        let source = self.insert_source()?;
        let row_alias = match self.commas() && self.is(AS) {
            true => Some(self.row_alias()?),
            false => None,
        };
        let mut insert = Insert {
            with,
            replace,
            modifiers,
            table,
            columns,
            columns_span,
            source,
            row_alias,
            on_duplicate: Vec::new(),
            on_conflict: None,
            returning: None,
            span: Span::at(start),
        };
        self.insert_tail(&mut insert)?;
        insert.span = self.since(start);
        Ok(insert)
    }

    fn insert_target(&mut self) -> Result<Table> {
        let start = self.start();
        let name = self.object_name("a table")?;
        let mut extras = Vec::new();
        self.partitions(&mut extras)?;
        let alias = if self.colons() && self.eat(Keyword::AS) {
            Some(self.any_name("an alias")?)
        } else {
            None
        };
        Ok(Table { name, alias, extras, columns: None, span: self.since(start) })
    }

    /// The column list, or where one would be inserted.
    fn insert_columns(&mut self, table: &Table) -> Result<(Option<Vec<Ident>>, Span)> {
        if !self.is_symbol("(") || self.is_query_in_parentheses() {
            return Ok((None, Span::at(table.span.end)));
        }
        let start = self.start();
        self.expect_symbol("(")?;
        let mut columns = Vec::new();
        while !self.is_symbol(")") {
            columns.push(self.insert_column()?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        // MySQL takes an empty list for none.
        Ok(((!columns.is_empty()).then_some(columns), self.since(start)))
    }

    /// `c`, `t.c` (only `c` counts), `c[1]`, `c.field`.
    fn insert_column(&mut self) -> Result<Ident> {
        let mut name = self.any_name("a column")?;
        while self.eat_symbol(".") {
            let part = self.any_name("a column behind the dot")?;
            if self.commas() {
                name = part;
            }
        }
        while self.is_symbol("[") {
            self.skip_group()?;
        }
        Ok(name)
    }

    /// `(SELECT`, `((SELECT`, …: a query, not a column list.
    fn is_query_in_parentheses(&self) -> bool {
        let mut ahead = 1;
        while self.is_symbol_at(ahead, "(") {
            ahead += 1;
        }
        use Keyword::*;
        match self.keyword_at(ahead) {
            SELECT | WITH => true,
            // These may be names of columns, behind which no row and no table follows.
            VALUES | VALUE => {
                ahead > 1 || self.is_symbol_at(ahead + 1, "(") || self.keyword_at(ahead + 1) == ROW
            }
            TABLE => ahead > 1 || !self.is_symbol_at(ahead + 1, ")"),
            _ => false,
        }
    }

    fn insert_source(&mut self) -> Result<InsertSource> {
        use Keyword::*;
        if self.eat_all(&[DEFAULT, VALUES]) {
            return Ok(InsertSource::Default);
        }
        if self.commas() && self.eat(SET) {
            return self.column_assignments().map(InsertSource::Set);
        }
        if self.is_any(&[VALUES, VALUE]) {
            let before = self.mark();
            self.advance();
            let (rows, span) = self.insert_rows()?;
            if !self.continues_query() {
                return Ok(InsertSource::Values { rows, span });
            }
            self.rewind(before);
        }
        self.query().map(|query: Query| InsertSource::Query(Box::new(query)))
    }

    fn insert_rows(&mut self) -> Result<(Vec<InsertRow>, Span)> {
        let start = self.start();
        let mut rows = Vec::new();
        loop {
            let row_start = self.start();
            let folded = self.eat_rows();
            if !folded.is_empty() {
                rows.extend(folded.iter().map(|row| InsertRow::of_literals(row.width, row.span)));
                if !self.eat_symbol(",") {
                    return Ok((rows, self.since(start)));
                }
                continue;
            }
            self.eat(Keyword::ROW);
            self.expect_symbol("(")?;
            let values = if self.is_symbol(")") { Vec::new() } else { self.exprs()? };
            self.expect_symbol(")")?;
            rows.push(InsertRow::of_trees(values, self.since(row_start)));
            if !self.eat_symbol(",") {
                return Ok((rows, self.since(start)));
            }
        }
    }

    /// `AS new [(a, b)]`.
    fn row_alias(&mut self) -> Result<RowAlias> {
        self.advance();
        let name = self.any_name("an alias")?;
        let mut columns = Vec::new();
        if self.eat_symbol("(") {
            columns.push(self.any_name("a column")?);
            while self.eat_symbol(",") {
                columns.push(self.any_name("a column")?);
            }
            self.expect_symbol(")")?;
        }
        Ok(RowAlias { name, columns })
    }

    fn insert_tail(&mut self, insert: &mut Insert) -> Result<()> {
        use Keyword::*;
        if self.commas() && self.are(&[ON, DUPLICATE]) {
            self.skip(2);
            self.expect(KEY)?;
            self.expect(UPDATE)?;
            insert.on_duplicate = self.column_assignments()?;
        } else if self.are(&[ON, CONFLICT]) {
            insert.on_conflict = Some(self.on_conflict()?);
        }
        insert.returning = self.returning()?;
        Ok(())
    }

    fn on_conflict(&mut self) -> Result<OnConflict> {
        use Keyword::*;
        let start = self.start();
        self.skip(2);
        let mut constraint = None;
        if self.eat_all(&[ON, CONSTRAINT]) {
            constraint = Some(self.any_name("a constraint")?);
        } else if self.is_symbol("(") {
            self.skip_group()?;
            if self.eat(WHERE) {
                self.expr()?;
            }
        }
        self.expect(DO)?;
        let mut conflict =
            OnConflict { constraint, assignments: Vec::new(), filter: None, span: Span::at(start) };
        if !self.eat(NOTHING) {
            self.expect(UPDATE)?;
            self.expect(SET)?;
            conflict.assignments = self.column_assignments()?;
            if self.eat(WHERE) {
                conflict.filter = Some(self.expr()?);
            }
        }
        conflict.span = self.since(start);
        Ok(conflict)
    }

    /// RETURNING with its items.
    pub(super) fn returning(&mut self) -> Result<Option<(Vec<SelectItem>, Span)>> {
        if !self.is(Keyword::RETURNING) {
            return Ok(None);
        }
        let start = self.start();
        self.advance();
        if self.eat(Keyword::WITH) {
            self.skip_group()?;
        }
        let items = self.select_items()?;
        Ok(Some((items, self.since(start))))
    }

    /// `a = 1, (b, c) = (2, 3), d = DEFAULT`.
    pub(super) fn column_assignments(&mut self) -> Result<Vec<ColumnAssignment>> {
        let mut list = Vec::new();
        loop {
            self.column_assignment(&mut list)?;
            if !self.eat_symbol(",") {
                return Ok(list);
            }
        }
    }

    fn column_assignment(&mut self, list: &mut Vec<ColumnAssignment>) -> Result<()> {
        let start = self.start();
        let mut columns = Vec::new();
        if self.eat_symbol("(") {
            loop {
                columns.push(self.object_name("a column")?);
                if !self.eat_symbol(",") {
                    break;
                }
            }
            self.expect_symbol(")")?;
        } else {
            columns.push(self.object_name("a column")?);
            while self.is_symbol("[") {
                self.skip_group()?;
            }
        }
        if !self.eat_symbol("=") && !self.eat_symbol(":=") {
            return self.unexpected("`=`");
        }
        let value = self.expr()?;
        let span = self.since(start);
        // Several columns share one value: the AST gives every column the same one.
        let last = columns.pop();
        list.extend(columns.into_iter().map(|column| ColumnAssignment {
            column,
            value: value.clone(),
            span,
        }));
        list.extend(last.map(|column| ColumnAssignment { column, value, span }));
        Ok(())
    }
}
