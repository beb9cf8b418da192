//! UPDATE, DELETE and MERGE.

use super::Result;
use super::parser::Parser;
use crate::ast::{
    Cte, Delete, Expr, Kind, Merge, MergeThen, MergeWhen, Node, ObjectName, Table, TableFactor,
    Update,
};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::visit;

impl Parser<'_> {
    /// UPDATE is next; `start` is where the statement began.
    pub(super) fn update(&mut self, with: Vec<Cte>, start: u32) -> Result<Update> {
        use Keyword::*;
        self.advance();
        while self.commas() && self.eat_any(&[LOW_PRIORITY, IGNORE]) {}
        let tables = self.table_refs()?;
        self.expect(SET)?;
        let assignments = self.column_assignments()?;
        let mut update = Update {
            with,
            tables,
            assignments,
            from: Vec::new(),
            filter: None,
            order_by: Vec::new(),
            limit: None,
            returning: None,
            span: Span::at(start),
        };
        if self.eat(FROM) {
            update.from = self.table_refs()?;
        }
        update.filter = self.where_clause()?;
        if self.eat_all(&[ORDER, BY]) {
            update.order_by = self.order_items()?;
        }
        if self.is(LIMIT) {
            self.limit_clause(&mut update.limit)?;
        }
        update.returning = self.returning()?;
        update.span = self.since(start);
        Ok(update)
    }

    /// WHERE, also `WHERE CURRENT OF cursor`, which nothing is known about.
    fn where_clause(&mut self) -> Result<Option<Expr>> {
        use Keyword::*;
        if !self.eat(WHERE) {
            return Ok(None);
        }
        if self.are(&[CURRENT, OF]) {
            let start = self.start();
            self.skip(2);
            self.any_name("a cursor")?;
            return Ok(Some(self.node(start, Node::Other(Vec::new()))));
        }
        self.expr().map(Some)
    }

    /// DELETE is next; `start` is where the statement began.
    pub(super) fn delete(&mut self, with: Vec<Cte>, start: u32) -> Result<Delete> {
        use Keyword::*;
        self.advance();
        while self.commas()
            && self.is_any(&[LOW_PRIORITY, QUICK, IGNORE])
            && !self.is_symbol_at(1, ".")
        {
            self.advance();
        }
        let mut delete = Delete {
            with,
            targets: Vec::new(),
            from: Vec::new(),
            filter: None,
            order_by: Vec::new(),
            limit: None,
            returning: None,
            span: Span::at(start),
        };
        if self.eat(FROM) {
            self.delete_from(&mut delete)?;
        } else {
            // DELETE a, b FROM a JOIN b …
            delete.targets = self.delete_names()?;
            self.expect(FROM)?;
            delete.from = self.table_refs()?;
        }
        delete.filter = self.where_clause()?;
        if self.eat_all(&[ORDER, BY]) {
            delete.order_by = self.order_items()?;
        }
        if self.is(LIMIT) {
            self.limit_clause(&mut delete.limit)?;
        }
        delete.returning = self.returning()?;
        delete.span = self.since(start);
        Ok(delete)
    }

    /// `t [alias]`, `t USING …`, `a, b USING …`; FROM was taken.
    fn delete_from(&mut self, delete: &mut Delete) -> Result<()> {
        if self.commas() && self.lists_names_before_using() {
            delete.targets = self.delete_names()?;
        } else {
            let mut tables = self.table_refs()?;
            match (tables.pop(), tables.is_empty()) {
                (Some(TableFactor::Table(table)), true) => delete.targets.push(table),
                _ => return self.unexpected("one table"),
            }
        }
        if self.eat(Keyword::USING) {
            delete.from = self.table_refs()?;
        }
        Ok(())
    }

    /// `a, b USING` or `a.* USING`: names only, no aliases.
    fn lists_names_before_using(&self) -> bool {
        let mut ahead = 0;
        loop {
            if !self.is_identifier_at(ahead) {
                return false;
            }
            ahead += 1;
            while self.is_symbol_at(ahead, ".") {
                ahead += 2;
            }
            if !self.is_symbol_at(ahead, ",") {
                return self.keyword_at(ahead) == Keyword::USING;
            }
            ahead += 1;
        }
    }

    /// `a, b.*, c`.
    fn delete_names(&mut self) -> Result<Vec<Table>> {
        let mut list = Vec::new();
        loop {
            let start = self.start();
            let name = self.object_name("a table")?;
            let mut extras = Vec::new();
            if self.is_symbol(".") && self.is_symbol_at(1, "*") {
                let from = self.start();
                self.skip(2);
                extras.push(self.since(from));
            }
            list.push(Table { name, alias: None, extras, columns: None, span: self.since(start) });
            if !self.eat_symbol(",") {
                return Ok(list);
            }
        }
    }

    /// MERGE: where not all of it can be read, its target and the tables of its source are.
    pub(super) fn merge(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.expect(MERGE)?;
        self.expect(INTO)?;
        let TableFactor::Table(target) = self.merge_table()? else { return self.unknown() };
        self.expect(USING)?;
        let source = self.merge_table()?;
        let mut tables = vec![target.name.clone()];
        match &source {
            TableFactor::Table(table) => tables.push(table.name.clone()),
            TableFactor::Derived { query, .. } => {
                let inner = Kind::Select(query.clone());
                tables.extend(visit::tables(&inner).into_iter().map(|one| one.name.clone()));
            }
            TableFactor::Function { .. } => {}
            TableFactor::Join(_) => return self.unknown(),
        }
        let before = self.mark();
        let read = self.merge_rest().ok().filter(|_| self.is_end());
        let merge = read.map(|(on, whens)| Box::new(Merge { target, source, on, whens }));
        if merge.is_none() {
            self.rewind(before);
            self.skip_merge()?;
        }
        Ok(Kind::Utility { verb: "MERGE".to_owned(), tables, index: None, merge })
    }

    fn skip_merge(&mut self) -> Result<()> {
        while !self.is_end() && !self.is_symbol(")") {
            match self.is_symbol("(") {
                true => {
                    self.skip_group()?;
                }
                false => {
                    self.advance();
                }
            }
        }
        Ok(())
    }

    /// ON and the WHEN clauses.
    fn merge_rest(&mut self) -> Result<(Expr, Vec<MergeWhen>)> {
        use Keyword::*;
        self.expect(ON)?;
        let on = self.expr()?;
        let mut whens = Vec::new();
        while self.eat(WHEN) {
            let matched = !self.eat(NOT);
            self.expect(MATCHED)?;
            let condition = if self.eat(AND) { Some(self.expr()?) } else { None };
            self.expect(THEN)?;
            let then = self.merge_then()?;
            whens.push(MergeWhen { matched, condition, then });
        }
        Ok((on, whens))
    }

    fn merge_then(&mut self) -> Result<MergeThen> {
        use Keyword::*;
        if self.eat_all(&[UPDATE, SET]) {
            return self.column_assignments().map(MergeThen::Update);
        }
        if self.eat(DELETE) {
            return Ok(MergeThen::Delete);
        }
        if self.eat(DO) {
            self.expect(NOTHING)?;
            return Ok(MergeThen::Nothing);
        }
        self.expect(INSERT)?;
        let mut columns = None;
        if self.eat_symbol("(") {
            let mut list = Vec::new();
            loop {
                list.push(self.any_name("a column")?);
                if !self.eat_symbol(",") {
                    break;
                }
            }
            self.expect_symbol(")")?;
            columns = Some(list);
        }
        if self.eat_all(&[DEFAULT, VALUES]) {
            return Ok(MergeThen::Insert { columns, values: None });
        }
        self.expect(VALUES)?;
        self.expect_symbol("(")?;
        let values = self.exprs()?;
        self.expect_symbol(")")?;
        Ok(MergeThen::Insert { columns, values: Some(values) })
    }

    fn merge_table(&mut self) -> Result<TableFactor> {
        let mut factors = self.table_refs()?;
        match (factors.pop(), factors.is_empty()) {
            (Some(factor), true) => Ok(factor),
            _ => self.unexpected("one table"),
        }
    }

    /// Takes the rest as unknown.
    pub(super) fn opaque(&mut self) -> Kind {
        self.skip_rest();
        Kind::Opaque
    }

    /// Comma separated table names, as long as they read as such.
    pub(super) fn names(&mut self) -> Vec<ObjectName> {
        let mut list = Vec::new();
        while self.is_identifier() {
            match self.object_name("a table") {
                Ok(name) => list.push(name),
                Err(_) => break,
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        list
    }
}
