//! FROM: tables, derived tables, functions and joins.

use super::Result;
use super::operator::level;
use super::parser::Parser;
use crate::ast::{
    Expr, Ident, Join, JoinConstraint, JoinKind, Node, ObjectName, Table, TableFactor,
};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::TokenKind;

/// What a query in FROM sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Its own tables.
    Inside,
    /// The factors in front of it, too.
    Lateral,
}

impl Parser<'_> {
    /// Comma separated factors with their joins.
    pub(super) fn table_refs(&mut self) -> Result<Vec<TableFactor>> {
        if self.is_dual() {
            self.advance();
            return Ok(Vec::new());
        }
        let mut items = vec![self.table_ref()?];
        while self.eat_symbol(",") {
            items.push(self.table_ref()?);
        }
        Ok(items)
    }

    /// `FROM DUAL` names no table.
    fn is_dual(&self) -> bool {
        self.commas() && self.is(Keyword::DUAL) && !self.is_symbol_at(1, ".")
    }

    /// One factor with the joins behind it.
    fn table_ref(&mut self) -> Result<TableFactor> {
        // Joins in parentheses take about as much stack as two nested expressions.
        self.deeper(2, |parser| {
            let left = parser.factor()?;
            parser.joins(left)
        })
    }

    fn joins(&mut self, mut left: TableFactor) -> Result<TableFactor> {
        while let Some((kind, natural, words)) = self.join_kind() {
            self.skip(words);
            self.taller()?;
            let right = self.factor()?;
            let (right, constraint) = if natural {
                (right, JoinConstraint::Natural)
            } else {
                self.join_constraint(right, kind)?
            };
            let span = self.since(span_of(&left).start);
            let columns = None;
            left =
                TableFactor::Join(Box::new(Join { left, right, kind, constraint, columns, span }));
        }
        Ok(left)
    }

    /// Which join comes next, whether NATURAL, and how many words it takes.
    fn join_kind(&self) -> Option<(JoinKind, bool, usize)> {
        use Keyword::*;
        let natural = usize::from(self.is(NATURAL));
        let outer = |ahead: usize| ahead + usize::from(self.keyword_at(ahead) == OUTER);
        let (kind, ahead) = match self.keyword_at(natural) {
            STRAIGHT_JOIN if natural == 0 => return Some((JoinKind::Inner, false, 1)),
            JOIN => (JoinKind::Inner, natural),
            INNER => (JoinKind::Inner, natural + 1),
            CROSS => (JoinKind::Cross, natural + 1),
            LEFT => (JoinKind::Left, outer(natural + 1)),
            RIGHT => (JoinKind::Right, outer(natural + 1)),
            FULL => (JoinKind::Full, outer(natural + 1)),
            _ => return None,
        };
        (self.keyword_at(ahead) == JOIN).then_some((kind, natural == 1, ahead + 1))
    }

    /// ON, USING or nothing. `a JOIN b JOIN c ON … ON …` nests to the right.
    fn join_constraint(
        &mut self,
        mut right: TableFactor,
        kind: JoinKind,
    ) -> Result<(TableFactor, JoinConstraint)> {
        if kind != JoinKind::Cross && self.join_kind().is_some() {
            right = self.deeper(1, |parser| parser.joins(right))?;
        }
        if self.eat(Keyword::ON) {
            let condition = self.expr()?;
            return Ok((right, JoinConstraint::On(condition)));
        }
        if self.is(Keyword::USING) && self.is_symbol_at(1, "(") {
            self.advance();
            let columns = self.identifiers_in_parentheses()?;
            if self.colons() && self.eat(Keyword::AS) {
                self.any_name("an alias")?;
            }
            return Ok((right, JoinConstraint::Using(columns)));
        }
        Ok((right, JoinConstraint::None))
    }

    fn factor(&mut self) -> Result<TableFactor> {
        let start = self.start();
        if self.is_symbol("(") {
            return self.factor_in_parentheses(Sight::Inside, start);
        }
        if self.is_symbol("{") {
            self.advance();
            self.any_name("`OJ`")?;
            let inner = self.table_ref()?;
            self.expect_symbol("}")?;
            return Ok(inner);
        }
        if self.is(Keyword::LATERAL) {
            self.advance();
            if self.is_symbol("(") {
                return self.factor_in_parentheses(Sight::Lateral, start);
            }
        }
        if self.colons() && self.are(&[Keyword::ROWS, Keyword::FROM]) {
            return self.rows_from(start);
        }
        if self.colons() && self.is(Keyword::ONLY) && self.follows_only() {
            return self.only(start);
        }
        let name = self.object_name("a table")?;
        if self.is_symbol("(") {
            let expr = self.call(name)?;
            return self.function_factor(expr, start);
        }
        self.table_after(name, start).map(TableFactor::Table)
    }

    /// A bare function in FROM may be written without parentheses nowhere else, so ONLY in front of a name is the keyword.
    fn follows_only(&self) -> bool {
        self.is_symbol_at(1, "(") || self.is_identifier_at(1)
    }

    fn only(&mut self, start: u32) -> Result<TableFactor> {
        let only = self.advance().span;
        let bracket = self.eat_symbol("(");
        let name = self.object_name("a table")?;
        if bracket {
            self.expect_symbol(")")?;
        }
        let mut table = self.table_after(name, start)?;
        table.extras.insert(0, only);
        Ok(TableFactor::Table(table))
    }

    /// `(query) alias`, `(a JOIN b …)`, `(a, b)`.
    fn factor_in_parentheses(&mut self, sight: Sight, start: u32) -> Result<TableFactor> {
        let lateral = sight == Sight::Lateral;
        self.expect_symbol("(")?;
        if self.starts_query() || self.are(&[Keyword::VALUES]) {
            let query = Box::new(self.query()?);
            self.expect_symbol(")")?;
            let alias = self.alias_with_columns()?;
            let span = self.since(start);
            return Ok(TableFactor::Derived { query, alias, lateral, span });
        }
        let first = self.table_ref()?;
        if self.continues_query()
            && let TableFactor::Derived { query, alias: None, span, .. } = first
        {
            let query = Box::new(self.query_from_left(*query, span)?);
            self.expect_symbol(")")?;
            let alias = self.alias_with_columns()?;
            let span = self.since(start);
            return Ok(TableFactor::Derived { query, alias, lateral, span });
        }
        self.rest_of_parentheses(first, start)
    }

    fn rest_of_parentheses(&mut self, first: TableFactor, start: u32) -> Result<TableFactor> {
        let mut left = first;
        while self.eat_symbol(",") {
            self.taller()?;
            let right = self.table_ref()?;
            let span = self.since(span_of(&left).start);
            let (kind, constraint, columns) = (JoinKind::Cross, JoinConstraint::None, None);
            left =
                TableFactor::Join(Box::new(Join { left, right, kind, constraint, columns, span }));
        }
        self.expect_symbol(")")?;
        let name = self.table_alias()?;
        let columns = self.column_names(name.as_ref())?;
        if let TableFactor::Join(join) = &mut left {
            join.columns = join.columns.or(columns);
        }
        // `((SELECT …)) AS d`: only the outer parentheses carry the name.
        if let (TableFactor::Derived { alias, span, .. }, Some(name)) = (&mut left, name) {
            *alias = Some(name);
            *span = self.since(start);
        }
        Ok(left)
    }

    fn rows_from(&mut self, start: u32) -> Result<TableFactor> {
        self.skip(2);
        self.expect_symbol("(")?;
        let mut parts = Vec::new();
        loop {
            parts.push(self.expr()?);
            if self.eat(Keyword::AS) {
                self.skip_group()?;
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        let expr = Expr { span: self.since(start), node: Node::Other(parts) };
        self.function_factor(expr, start)
    }

    fn function_factor(&mut self, expr: Expr, start: u32) -> Result<TableFactor> {
        self.eat_all(&[Keyword::WITH, Keyword::ORDINALITY]);
        let alias = if self.is(Keyword::AS) && self.is_symbol_at(1, "(") {
            self.advance();
            self.skip_group()?;
            None
        } else {
            self.alias_with_columns()?
        };
        Ok(TableFactor::Function { expr, alias, span: self.since(start) })
    }

    /// An alias, perhaps with names (and types) for the columns.
    fn alias_with_columns(&mut self) -> Result<Option<Ident>> {
        let alias = self.table_alias()?;
        self.column_names(alias.as_ref())?;
        Ok(alias)
    }

    /// The names for columns behind an alias, with their parentheses.
    fn column_names(&mut self, alias: Option<&Ident>) -> Result<Option<Span>> {
        let follow = alias.is_some() && self.is_symbol("(");
        if follow { self.skip_group().map(Some) } else { Ok(None) }
    }

    /// What follows a table's name in FROM.
    fn table_after(&mut self, name: ObjectName, start: u32) -> Result<Table> {
        let mut extras = Vec::new();
        if self.colons() && self.is_symbol("*") {
            extras.push(self.advance().span);
        }
        if self.commas() {
            self.partitions(&mut extras)?;
            self.system_time(&mut extras)?;
        }
        let alias = self.table_alias()?;
        let columns = if self.colons() { self.column_names(alias.as_ref())? } else { None };
        extras.extend(columns);
        if self.commas() {
            self.index_hints(&mut extras)?;
        }
        if self.is(Keyword::TABLESAMPLE) {
            extras.push(self.table_sample()?);
        }
        Ok(Table { name, alias, extras, columns, span: self.since(start) })
    }

    /// `PARTITION (p0, p1)`.
    pub(super) fn partitions(&mut self, extras: &mut Vec<Span>) -> Result<()> {
        if self.is(Keyword::PARTITION) && self.is_symbol_at(1, "(") {
            let start = self.start();
            self.advance();
            self.skip_group()?;
            extras.push(self.since(start));
        }
        Ok(())
    }

    /// `FOR SYSTEM_TIME AS OF …`, `BETWEEN … AND …`, `FROM … TO …`, `ALL`.
    fn system_time(&mut self, extras: &mut Vec<Span>) -> Result<()> {
        use Keyword::*;
        if !self.are(&[FOR, SYSTEM_TIME]) {
            return Ok(());
        }
        let start = self.start();
        self.skip(2);
        if !self.eat(ALL) {
            let _ = self.eat_all(&[AS, OF]) || self.eat_any(&[BETWEEN, FROM]);
            self.eat_any(&[TRANSACTION]);
            self.expr_at(level::OTHER)?;
            if self.eat_any(&[AND, TO]) {
                self.expr_at(level::OTHER)?;
            }
        }
        extras.push(self.since(start));
        Ok(())
    }

    /// `USE INDEX FOR JOIN (i)`, `FORCE KEY (i)`, `IGNORE INDEX (i)`, several in a row.
    fn index_hints(&mut self, extras: &mut Vec<Span>) -> Result<()> {
        use Keyword::*;
        while self.is_any(&[USE, FORCE, IGNORE]) && matches!(self.keyword_at(1), INDEX | KEY) {
            let start = self.start();
            self.skip(2);
            if self.eat(FOR) {
                while !self.is_symbol("(") && self.token().kind == TokenKind::Word {
                    self.advance();
                }
            }
            if !self.is_symbol("(") {
                return self.unexpected("`(`");
            }
            self.skip_group()?;
            extras.push(self.since(start));
            if self.is_symbol(",") && matches!(self.keyword_at(1), USE | FORCE | IGNORE) {
                self.advance();
            }
        }
        Ok(())
    }

    /// `TABLESAMPLE method (…) [REPEATABLE (…)]`.
    fn table_sample(&mut self) -> Result<Span> {
        let start = self.start();
        self.advance();
        self.object_name("a sampling method")?;
        self.skip_group()?;
        if self.eat(Keyword::REPEATABLE) {
            self.skip_group()?;
        }
        Ok(self.since(start))
    }
}

/// The whole factor.
pub(super) fn span_of(factor: &TableFactor) -> Span {
    match factor {
        TableFactor::Table(table) => table.span,
        TableFactor::Derived { span, .. } | TableFactor::Function { span, .. } => *span,
        TableFactor::Join(join) => join.span,
    }
}
