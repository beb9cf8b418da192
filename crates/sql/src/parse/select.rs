//! The core of a SELECT.

use super::Result;
use super::parser::Parser;
use crate::ast::{Distinct, Expr, Node, Select, SelectItem};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Result<Select> {
        use Keyword::*;
        let keyword = self.advance().span;
        let mut select = empty(keyword);
        self.quantifiers(&mut select)?;
        select.items_span = Span::at(self.end());
        if !(self.colons() && self.has_no_items()) {
            let start = self.start();
            select.items = self.select_items()?;
            select.items_span = self.since(start);
        }
        if self.is(INTO) {
            select.into_variables = self.peek(1).kind == TokenKind::Variable;
            select.into = Some(self.selected_into()?);
        }
        if self.eat(FROM) {
            select.from = self.table_refs()?;
        }
        if self.eat(WHERE) {
            select.filter = Some(self.expr()?);
        }
        if self.are(&[GROUP, BY]) {
            self.group_by(&mut select)?;
        }
        if self.eat(HAVING) {
            select.having = Some(self.expr()?);
        }
        if self.is(WINDOW) {
            self.window_clause(&mut select)?;
        }
        select.end = self.end();
        select.span = self.since(keyword.start);
        Ok(select)
    }

    /// ALL, DISTINCT [ON (…)] and the modifiers around it.
    fn quantifiers(&mut self, select: &mut Select) -> Result<()> {
        use Keyword::*;
        loop {
            let token = self.token();
            match token.keyword {
                ALL => {
                    self.advance();
                }
                DISTINCT | DISTINCTROW => {
                    self.advance();
                    select.distinct = Distinct::Yes(token.span);
                    if self.colons() && self.eat(ON) {
                        self.expect_symbol("(")?;
                        let list = self.exprs()?;
                        self.expect_symbol(")")?;
                        select.distinct = Distinct::On(list, self.since(token.span.start));
                    }
                }
                HIGH_PRIORITY | STRAIGHT_JOIN | SQL_SMALL_RESULT | SQL_BIG_RESULT
                | SQL_BUFFER_RESULT | SQL_CACHE | SQL_NO_CACHE | SQL_CALC_FOUND_ROWS
                    if self.commas() =>
                {
                    self.advance();
                    select.modifiers.push(self.text_of(token).to_ascii_uppercase());
                }
                _ => return Ok(()),
            }
        }
    }

    fn has_no_items(&self) -> bool {
        use Keyword::*;
        let token = self.token();
        match token.kind {
            TokenKind::End => true,
            TokenKind::Punctuation => self.text_of(token) == ")",
            _ => matches!(
                token.keyword,
                FROM | WHERE | GROUP | HAVING | ORDER | LIMIT | UNION | INTERSECT | EXCEPT | INTO
            ),
        }
    }

    /// Comma separated; at least one.
    pub(super) fn select_items(&mut self) -> Result<Vec<SelectItem>> {
        let mut items = vec![self.select_item()?];
        while self.eat_symbol(",") {
            items.push(self.select_item()?);
        }
        Ok(items)
    }

    fn select_item(&mut self) -> Result<SelectItem> {
        let start = self.start();
        if self.is_symbol("*") {
            return Ok(SelectItem::Star(self.advance().span));
        }
        let expr = self.expr()?;
        let Expr { span, node } = expr;
        match node {
            Node::Column(mut name) if is_star(&name) => {
                name.parts.pop();
                let last = name.parts.last().map_or(span, |part| part.span);
                name.span = Span::new(span.start, last.end);
                Ok(SelectItem::QualifiedStar(name, span))
            }
            node => {
                let alias = self.column_alias()?;
                Ok(SelectItem::Expr { expr: Expr { span, node }, alias, span: self.since(start) })
            }
        }
    }

    /// `INTO OUTFILE '…' …`, `INTO @a, @b`, `INTO [TEMP] [TABLE] t`; INTO is next.
    pub(super) fn selected_into(&mut self) -> Result<Span> {
        use Keyword::*;
        let start = self.start();
        self.expect(INTO)?;
        if self.commas() && self.eat_any(&[OUTFILE, DUMPFILE]) {
            self.string_text("a file name")?;
            while !self.is_end()
                && !self.is_symbol(")")
                && !self.is_any(&[FROM, FOR, LOCK, UNION, LIMIT, ORDER, WHERE])
            {
                self.advance();
            }
            return Ok(self.since(start));
        }
        self.eat_any(&[TEMP, TEMPORARY, UNLOGGED]);
        self.eat(TABLE);
        loop {
            if self.token().kind == TokenKind::Variable {
                self.advance();
            } else {
                self.object_name("a table or variable")?;
            }
            if !self.eat_symbol(",") {
                return Ok(self.since(start));
            }
        }
    }

    fn group_by(&mut self, select: &mut Select) -> Result<()> {
        use Keyword::*;
        let start = self.start();
        self.skip(2);
        if self.is(ALL) || (self.is(DISTINCT) && self.colons()) {
            let word = self.advance();
            // GROUP BY ALL alone: every item without an aggregate. An unknown item, so that nobody takes it for one single group.
            if self.group_by_ends() {
                select.group_by.push(self.other(word.span, Vec::new()));
                select.group_descending.push(None);
            }
        }
        if !self.group_by_ends() {
            loop {
                let sets = matches!(self.keyword(), ROLLUP | CUBE) && self.is_symbol_at(1, "(");
                select.grouping_sets |= sets || self.are(&[GROUPING, SETS]);
                let empty = self.is_symbol("(") && self.is_symbol_at(1, ")");
                // The empty grouping set.
                select.grouping_sets |= empty;
                let item = if empty { self.nothing() } else { self.expr()? };
                select.group_by.push(item);
                let is_descending = self.is(DESC);
                let is_written = self.eat_any(&[ASC, DESC]);
                select.group_descending.push(is_written.then_some(is_descending));
                if !self.eat_symbol(",") {
                    break;
                }
            }
        }
        select.grouping_sets |= self.eat_all(&[WITH, ROLLUP]);
        select.group_span = Some(self.since(start));
        Ok(())
    }

    /// `()`.
    fn nothing(&mut self) -> Expr {
        let start = self.start();
        self.skip(2);
        self.other(self.since(start), Vec::new())
    }

    /// Behind `GROUP BY ALL`.
    fn group_by_ends(&self) -> bool {
        self.is_end()
            || self.is_symbol(")")
            || self.is_any(&[Keyword::HAVING, Keyword::ORDER, Keyword::LIMIT, Keyword::WINDOW])
    }

    fn window_clause(&mut self, select: &mut Select) -> Result<()> {
        let start = self.start();
        self.advance();
        loop {
            self.identifier("a window name")?;
            self.expect(Keyword::AS)?;
            self.window(&mut select.window_exprs)?;
            if !self.eat_symbol(",") {
                break;
            }
        }
        select.window = Some(self.since(start));
        Ok(())
    }
}

fn is_star(name: &crate::ast::ObjectName) -> bool {
    name.parts.last().is_some_and(|part| !part.quoted && part.value == "*")
}

fn empty(keyword: Span) -> Select {
    Select {
        keyword,
        distinct: Distinct::No,
        modifiers: Vec::new(),
        items: Vec::new(),
        items_span: keyword,
        into: None,
        into_variables: false,
        from: Vec::new(),
        filter: None,
        group_by: Vec::new(),
        group_descending: Vec::new(),
        group_span: None,
        grouping_sets: false,
        having: None,
        window: None,
        window_exprs: Vec::new(),
        end: keyword.end,
        span: keyword,
    }
}
