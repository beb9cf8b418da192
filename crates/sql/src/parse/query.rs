//! Query expressions: WITH, set operations, and the clauses behind them.

use super::Result;
use super::operator::level;
use super::parser::Parser;
use crate::ast::{
    Cte, Distinct, Expr, Kind, Limit, Literal, Lock, Node, OrderItem, Query, QueryBody, Select,
    SelectItem, SetOp, TableFactor,
};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::TokenKind;

/// Operands of a set operation joined left-deep; more of the same operator become a balanced tree.
const STRAIGHT: usize = 16;

/// One operand of a set operation.
struct Operand {
    query: Query,
    /// With its parentheses.
    span: Span,
}

/// WITH; without queries where it is not written.
struct With {
    list: Vec<Cte>,
    recursive: bool,
}

/// The words that join two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SetWords {
    op: SetOp,
    /// ALL stands behind it.
    all: bool,
}

impl Parser<'_> {
    /// SELECT, VALUES, TABLE or WITH comes next (a parenthesis may hide one, too).
    pub(super) fn starts_query(&self) -> bool {
        use Keyword::*;
        match self.keyword() {
            SELECT | WITH => true,
            VALUES => self.is_values_list(),
            TABLE => self.is_identifier_at(1),
            _ => false,
        }
    }

    /// VALUES with rows behind it: the word is also a column's name in one language and a function's in the other.
    fn is_values_list(&self) -> bool {
        match self.colons() {
            true => self.is_symbol_at(1, "("),
            false => self.keyword_at(1) == Keyword::ROW,
        }
    }

    /// What only goes on behind a query comes next.
    pub(super) fn continues_query(&self) -> bool {
        use Keyword::*;
        self.set_operator().is_some()
            || self.are(&[ORDER, BY])
            || self.is_any(&[LIMIT, OFFSET, FETCH])
    }

    pub(super) fn query(&mut self) -> Result<Query> {
        // A sub-query takes about as much stack as three nested expressions.
        self.deeper(3, Self::query_here)
    }

    fn query_here(&mut self) -> Result<Query> {
        let start = self.start();
        let With { list: with, recursive } = self.with_clause()?;
        let mut query = self.query_without_with()?;
        if !with.is_empty() {
            query.span = self.since(start);
            query.recursive = recursive;
            query.with = if query.with.is_empty() { with } else { [with, query.with].concat() };
        }
        Ok(query)
    }

    pub(super) fn query_without_with(&mut self) -> Result<Query> {
        let operand = self.operand_query()?;
        self.finish(operand)
    }

    /// Goes on with a query whose left operand was read already; `span` has its parentheses.
    pub(super) fn query_from_left(&mut self, query: Query, span: Span) -> Result<Query> {
        self.finish(Operand { query, span })
    }

    fn finish(&mut self, operand: Operand) -> Result<Query> {
        let Operand { mut query, span } = self.set_operations(operand)?;
        if !self.starts_tail() {
            return Ok(query);
        }
        if query.span != span && (query.limit.is_some() || !query.order_by.is_empty()) {
            query = enclosed(query, span);
        }
        query.span = span;
        self.tail(&mut query)?;
        query.span = self.since(span.start);
        Ok(query)
    }

    /// `[WITH [RECURSIVE] name [(columns)] AS (…), …]`.
    fn with_clause(&mut self) -> Result<With> {
        let mut with = With { list: Vec::new(), recursive: false };
        if !self.eat(Keyword::WITH) {
            return Ok(with);
        }
        with.recursive = self.eat(Keyword::RECURSIVE);
        loop {
            with.list.push(self.cte()?);
            if !self.eat_symbol(",") {
                return Ok(with);
            }
        }
    }

    fn cte(&mut self) -> Result<Cte> {
        let start = self.start();
        let name = self.identifier("a name for the query")?;
        let columns =
            if self.is_symbol("(") { self.identifiers_in_parentheses()? } else { Vec::new() };
        self.expect(Keyword::AS)?;
        self.eat(Keyword::NOT);
        self.eat(Keyword::MATERIALIZED);
        self.expect_symbol("(")?;
        let body = Box::new(self.deeper(1, Self::data_statement)?);
        self.expect_symbol(")")?;
        self.search_and_cycle()?;
        Ok(Cte { name, columns, body, span: self.since(start) })
    }

    /// `SEARCH DEPTH FIRST BY a SET b`, `CYCLE a SET b [TO x DEFAULT y] USING c`, `CYCLE a RESTRICT`.
    fn search_and_cycle(&mut self) -> Result<()> {
        use Keyword::*;
        while self.is_any(&[SEARCH, CYCLE]) {
            while !self.is_end()
                && !self.is_symbol(",")
                && !self.is_any(&[SELECT, INSERT, UPDATE, DELETE, VALUES, TABLE, MERGE])
                && !self.is_symbol("(")
            {
                self.advance();
                // The list of columns has commas of its own.
                while self.is_symbol(",") && self.lists_columns_of_search() {
                    self.skip(2);
                }
            }
        }
        Ok(())
    }

    fn lists_columns_of_search(&self) -> bool {
        self.is_symbol_at(2, ",") || self.keyword_at(2) == Keyword::SET
    }

    fn operand_query(&mut self) -> Result<Operand> {
        use Keyword::*;
        let start = self.start();
        if self.is_symbol("(") {
            self.advance();
            let query = self.query()?;
            self.expect_symbol(")")?;
            return Ok(Operand { query, span: self.since(start) });
        }
        let body = match self.keyword() {
            SELECT => QueryBody::Select(Box::new(self.select()?)),
            VALUES | VALUE => self.values()?,
            TABLE => self.whole_table()?,
            _ => return self.unexpected("`SELECT`"),
        };
        let span = self.since(start);
        Ok(Operand { query: plain(body, span), span })
    }

    /// `TABLE t`, which stands for `SELECT * FROM t` and is read as that in a second pass.
    fn whole_table(&mut self) -> Result<QueryBody> {
        self.tables.push(self.token().span);
        self.advance();
        if self.colons() {
            self.eat(Keyword::ONLY);
        }
        self.object_name("a table")?;
        Ok(QueryBody::Values(Vec::new()))
    }

    /// `VALUES (1, 2), (3, 4)`, `VALUES ROW(1, 2)`.
    fn values(&mut self) -> Result<QueryBody> {
        self.advance();
        let mut rows = Vec::new();
        loop {
            self.eat(Keyword::ROW);
            self.expect_symbol("(")?;
            rows.push(if self.is_symbol(")") { Vec::new() } else { self.exprs()? });
            self.expect_symbol(")")?;
            if !self.eat_symbol(",") {
                return Ok(QueryBody::Values(rows));
            }
        }
    }

    pub(super) fn set_operator(&self) -> Option<SetOp> {
        use Keyword::*;
        match self.keyword() {
            UNION => Some(SetOp::Union),
            INTERSECT => Some(SetOp::Intersect),
            EXCEPT => Some(SetOp::Except),
            MINUS if self.keyword_at(1) == SELECT => Some(SetOp::Except),
            _ => None,
        }
    }

    /// INTERSECT binds more tightly than the others.
    fn set_operations(&mut self, left: Operand) -> Result<Operand> {
        let left = self.set_chain(left, |op| op == SetOp::Intersect)?;
        self.set_chain(left, |op| op != SetOp::Intersect)
    }

    fn set_chain(&mut self, mut left: Operand, wanted: fn(SetOp) -> bool) -> Result<Operand> {
        while let Some(op) = self.set_operator().filter(|&op| wanted(op)) {
            left = self.set_run(left, op)?;
        }
        Ok(left)
    }

    /// `left op right op right …` of one operator, with ALL or without throughout.
    fn set_run(&mut self, mut left: Operand, op: SetOp) -> Result<Operand> {
        let mut rest = Vec::new();
        let mut joined = 0;
        let all = self.set_quantifier();
        loop {
            let is_straight = joined < STRAIGHT || op == SetOp::Except;
            if is_straight {
                self.taller()?;
            }
            let mut right = self.operand_query()?;
            if op != SetOp::Intersect {
                right = self.set_chain(right, |op| op == SetOp::Intersect)?;
            }
            if is_straight {
                left = combined(SetWords { op, all }, left, right);
            } else {
                rest.push(right);
            }
            joined += 1;
            let before = self.mark();
            if self.set_operator() != Some(op) {
                break;
            }
            if self.set_quantifier() != all {
                self.rewind(before);
                break;
            }
        }
        self.balanced_sets(left, rest, SetWords { op, all })
    }

    /// Takes the operator with ALL or DISTINCT; answers whether it was ALL.
    fn set_quantifier(&mut self) -> bool {
        self.advance();
        if self.eat(Keyword::ALL) {
            return true;
        }
        self.eat(Keyword::DISTINCT);
        false
    }

    fn balanced_sets(
        &mut self,
        left: Operand,
        rest: Vec<Operand>,
        words: SetWords,
    ) -> Result<Operand> {
        let mut row = rest;
        row.insert(0, left);
        while row.len() > 1 {
            self.taller()?;
            let mut next = Vec::with_capacity(row.len().div_ceil(2));
            let mut operands = row.into_iter();
            while let Some(left) = operands.next() {
                next.push(match operands.next() {
                    Some(right) => combined(words, left, right),
                    None => left,
                });
            }
            row = next;
        }
        match row.pop() {
            Some(operand) => Ok(operand),
            None => self.unexpected("a query"),
        }
    }

    fn starts_tail(&self) -> bool {
        use Keyword::*;
        self.are(&[ORDER, BY])
            || self.is_any(&[LIMIT, OFFSET, FETCH, INTO])
            || self.starts_lock()
            || (self.commas() && self.is(PROCEDURE))
    }

    fn starts_lock(&self) -> bool {
        use Keyword::*;
        match self.keyword() {
            FOR => matches!(self.keyword_at(1), UPDATE | SHARE | NO | KEY | READ),
            LOCK => self.keyword_at(1) == IN,
            _ => false,
        }
    }

    /// ORDER BY, LIMIT, OFFSET, FETCH, locks and INTO, in any order the languages allow.
    fn tail(&mut self, query: &mut Query) -> Result<()> {
        use Keyword::*;
        while self.starts_tail() {
            let start = self.start();
            match self.keyword() {
                ORDER => {
                    self.skip(2);
                    query.order_by = self.order_items()?;
                    query.order_span = Some(self.since(start));
                }
                LIMIT | OFFSET | FETCH => self.limit_clause(&mut query.limit)?,
                INTO => {
                    let variables = self.peek(1).kind == TokenKind::Variable;
                    let into = self.selected_into()?;
                    match last_select(&mut query.body) {
                        Some(select) => {
                            select.into = Some(into);
                            select.into_variables = variables;
                        }
                        None => return self.unknown(),
                    }
                }
                PROCEDURE => {
                    self.advance();
                    self.object_name("a procedure")?;
                    self.skip_group()?;
                    if let Some(select) = last_select(&mut query.body) {
                        select.modifiers.push("PROCEDURE".to_owned());
                    }
                }
                _ => self.lock_clause(&mut query.lock)?,
            }
        }
        Ok(())
    }

    /// Comma separated; `ORDER BY` was taken.
    pub(super) fn order_items(&mut self) -> Result<Vec<OrderItem>> {
        let mut items = vec![self.order_item()?];
        while self.eat_symbol(",") {
            items.push(self.order_item()?);
        }
        Ok(items)
    }

    fn order_item(&mut self) -> Result<OrderItem> {
        use Keyword::*;
        let start = self.start();
        let expr = self.expr()?;
        let mut using = None;
        let mut descending = false;
        if self.is(USING) {
            let from = self.start();
            self.advance();
            if self.eat(OPERATOR) {
                self.skip_group()?;
            } else if self.advance().kind != TokenKind::Operator {
                return self.unexpected("an operator");
            }
            using = Some(self.since(from));
        } else if self.eat(DESC) {
            descending = true;
        } else {
            self.eat(ASC);
        }
        let nulls_first = if self.is(NULLS) && matches!(self.keyword_at(1), FIRST | LAST) {
            let first = self.keyword_at(1) == FIRST;
            self.skip(2);
            Some(first)
        } else {
            None
        };
        Ok(OrderItem { expr, descending, nulls_first, using, span: self.since(start) })
    }

    /// LIMIT, OFFSET or FETCH FIRST; a second one adds to the first.
    pub(super) fn limit_clause(&mut self, limit: &mut Option<Limit>) -> Result<()> {
        use Keyword::*;
        let start = self.start();
        let mut clause = limit.take().unwrap_or(Limit {
            count: None,
            offset: None,
            with_ties: false,
            span: Span::at(start),
        });
        match self.advance().keyword {
            LIMIT => self.limit_values(&mut clause)?,
            OFFSET => {
                clause.offset = Some(self.expr_at(level::OTHER)?);
                self.eat_any(&[ROW, ROWS]);
            }
            _ => self.fetch_first(&mut clause)?,
        }
        clause.span = clause.span.to(self.since(start));
        *limit = Some(clause);
        Ok(())
    }

    fn limit_values(&mut self, clause: &mut Limit) -> Result<()> {
        use Keyword::*;
        if self.eat(ALL) {
            return Ok(());
        }
        if self.commas() && self.are(&[ROWS]) && self.is_word_at(1, "examined") {
            self.skip(2);
            return self.expr_at(level::OTHER).map(|_| ());
        }
        let first = self.expr_at(level::OTHER)?;
        if self.commas() && self.eat_symbol(",") {
            clause.offset = Some(first);
            clause.count = Some(self.expr_at(level::OTHER)?);
        } else {
            clause.count = Some(first);
        }
        if self.commas() && self.is(OFFSET) {
            self.advance();
            clause.offset = Some(self.expr_at(level::OTHER)?);
        }
        if self.is(ROWS) && self.is_word_at(1, "examined") {
            self.skip(2);
            self.expr_at(level::OTHER)?;
        }
        Ok(())
    }

    /// `FIRST | NEXT [n] ROW | ROWS ONLY | WITH TIES`; FETCH was taken.
    fn fetch_first(&mut self, clause: &mut Limit) -> Result<()> {
        use Keyword::*;
        if !self.eat_any(&[FIRST, NEXT]) {
            return self.unexpected("`FIRST` or `NEXT`");
        }
        clause.count = Some(if self.is_any(&[ROW, ROWS]) {
            Expr { span: Span::at(self.end()), node: Node::Literal(Literal::Integer(1)) }
        } else {
            self.expr_at(level::OTHER)?
        });
        if !self.eat_any(&[ROW, ROWS]) {
            return self.unexpected("`ROWS`");
        }
        if self.eat_all(&[WITH, TIES]) {
            clause.with_ties = true;
            return Ok(());
        }
        self.expect(ONLY)
    }

    /// `FOR UPDATE [OF t, …] [NOWAIT | SKIP LOCKED | WAIT n]`, `LOCK IN SHARE MODE`.
    fn lock_clause(&mut self, lock: &mut Option<Lock>) -> Result<()> {
        use Keyword::*;
        let start = self.start();
        let mut of = Vec::new();
        if self.eat(LOCK) {
            self.expect(IN)?;
            self.expect(SHARE)?;
            self.expect(MODE)?;
        } else {
            self.advance();
            self.eat(NO);
            while self.eat_any(&[KEY, UPDATE, SHARE, READ, ONLY]) {}
            if self.eat(OF) {
                of.push(self.object_name("a table")?);
                while self.eat_symbol(",") {
                    of.push(self.object_name("a table")?);
                }
            }
        }
        if self.eat(WAIT) {
            self.expr_at(level::OTHER)?;
        } else if !self.eat(NOWAIT) {
            self.eat_all(&[SKIP, LOCKED]);
        }
        let span = self.since(start);
        match lock {
            Some(first) => {
                first.span = first.span.to(span);
                first.of.append(&mut of);
            }
            None => *lock = Some(Lock { span, of }),
        }
        Ok(())
    }

    /// What a CTE or EXPLAIN may hold: a query or a statement that changes rows.
    pub(super) fn data_statement(&mut self) -> Result<Kind> {
        let start = self.start();
        let with = self.with_clause()?;
        self.data_statement_behind(with, start)
    }

    /// Apart, so that a WITH inside a WITH takes little stack.
    fn data_statement_behind(&mut self, with: With, start: u32) -> Result<Kind> {
        use Keyword::*;
        let With { list: with, recursive } = with;
        match self.keyword() {
            INSERT | REPLACE => self.insert(with, start).map(|i| Kind::Insert(Box::new(i))),
            UPDATE => self.update(with, start).map(|u| Kind::Update(Box::new(u))),
            DELETE => self.delete(with, start).map(|d| Kind::Delete(Box::new(d))),
            // The tree has no place for the queries in front of it.
            MERGE if !with.is_empty() => self.unknown(),
            MERGE => self.merge(),
            _ => {
                let mut query = self.deeper(3, Self::query_without_with)?;
                if !with.is_empty() {
                    query.span = self.since(start);
                    query.recursive = recursive;
                    query.with = [with, query.with].concat();
                }
                Ok(Kind::Select(Box::new(query)))
            }
        }
    }
}

/// The SELECT that an INTO behind the whole query is noted at: of a set operation, the last one.
fn last_select(body: &mut QueryBody) -> Option<&mut Select> {
    match body {
        QueryBody::Select(select) => Some(select),
        QueryBody::Set { right, .. } => last_select(&mut right.body),
        QueryBody::Values(_) => None,
    }
}

fn plain(body: QueryBody, span: Span) -> Query {
    Query {
        with: Vec::new(),
        recursive: false,
        body,
        order_by: Vec::new(),
        order_span: None,
        limit: None,
        lock: None,
        span,
    }
}

fn combined(words: SetWords, left: Operand, right: Operand) -> Operand {
    let SetWords { op, all } = words;
    let span = left.span.to(right.span);
    let body = QueryBody::Set { op, all, left: Box::new(left.query), right: Box::new(right.query) };
    Operand { query: plain(body, span), span }
}

/// `(SELECT … LIMIT 3) LIMIT 2`: the outer clauses must not overwrite the inner ones, so the inner query becomes a derived table of a
/// SELECT that is not in the text (its spans are empty).
fn enclosed(query: Query, span: Span) -> Query {
    let nowhere = Span::at(span.start);
    let derived =
        TableFactor::Derived { query: Box::new(query), alias: None, lateral: false, span };
    let select = Select {
        keyword: nowhere,
        distinct: Distinct::No,
        modifiers: Vec::new(),
        items: vec![SelectItem::Star(nowhere)],
        items_span: nowhere,
        into: None,
        into_variables: false,
        from: vec![derived],
        filter: None,
        group_by: Vec::new(),
        group_descending: Vec::new(),
        group_span: None,
        grouping_sets: false,
        having: None,
        window: None,
        window_exprs: Vec::new(),
        end: span.end,
        span,
    };
    plain(QueryBody::Select(Box::new(select)), span)
}
