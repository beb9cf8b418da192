//! The types of computed columns, read out of the statement. SQLite knows none before it has a value, but a client that only asks for a description,
//! and a shard whose values are all NULL, need one.

use std::cell::RefCell;
use std::collections::HashMap;

use pando_kernel::Kind;
use pando_sql::ast::{
    BinaryOp, Cte, Expr, Function, Kind as Statement, Literal, Node, ObjectName, Query, QueryBody,
    Select, SelectItem, TableFactor,
};
use rusqlite::Connection;

use crate::tongue::Tongue;
use crate::types::{Declared, declared};

/// Sub-queries followed into each other.
const DEPTH: usize = 16;

/// What each of the `count` columns of this query's result holds, where that can be told.
pub(crate) fn columns(
    connection: &Connection,
    sql: &str,
    tongue: Tongue,
    count: usize,
) -> Vec<Option<Declared>> {
    let unknown = vec![None; count];
    let Ok(statement) = pando_sql::parse(sql, tongue.syntax()) else { return unknown };
    let Statement::Select(query) = &statement.kind else { return unknown };
    let reader = Reader { connection, text: &statement.text, tongue, tables: RefCell::default() };
    let ctes = query.with.iter().collect();
    let Some(items) = reader.select(query).map(|select| &select.items) else { return unknown };
    let scope = Scope { query, ctes, depth: 0 };
    let star =
        |item: &SelectItem| matches!(item, SelectItem::Star(_) | SelectItem::QualifiedStar(..));
    let of = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => reader.expr(expr, &scope),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
    };
    let Some(first_star) = items.iter().position(star) else {
        let mut kinds: Vec<_> = items.iter().map(of).collect();
        kinds.resize(count, None);
        return kinds;
    };
    // A star stands for any number of columns: those in front of the first and behind the last one keep their places.
    let mut kinds = unknown;
    for (place, item) in kinds.iter_mut().zip(items.iter().take(first_star)) {
        *place = of(item);
    }
    let behind = items.iter().rev().take_while(|item| !star(item));
    for (place, item) in kinds.iter_mut().skip(first_star).rev().zip(behind) {
        *place = of(item);
    }
    kinds
}

type Columns = HashMap<String, Declared>;

struct Reader<'a> {
    connection: &'a Connection,
    text: &'a str,
    tongue: Tongue,
    /// Declared columns by table, lower-cased.
    tables: RefCell<HashMap<String, Columns>>,
}

/// Where names are looked up.
struct Scope<'q> {
    query: &'q Query,
    ctes: Vec<&'q Cte>,
    depth: usize,
}

impl<'q> Scope<'q> {
    fn inner(&self, query: &'q Query) -> Option<Self> {
        if self.depth >= DEPTH {
            return None;
        }
        let ctes = query.with.iter().chain(self.ctes.iter().copied()).collect();
        Some(Self { query, ctes, depth: self.depth + 1 })
    }
}

fn named(name: &ObjectName) -> &str {
    name.parts.last().map_or("", |part| &part.value)
}

impl Reader<'_> {
    /// The first SELECT of a query: it names and types the columns.
    fn select<'q>(&self, query: &'q Query) -> Option<&'q Select> {
        match &query.body {
            QueryBody::Select(select) => Some(select),
            QueryBody::Set { left, .. } => self.select(left),
            QueryBody::Values(_) => None,
        }
    }

    fn expr<'q>(&self, expr: &'q Expr, scope: &Scope<'q>) -> Option<Declared> {
        match &expr.node {
            Node::Column(name) => self.column(name, scope),
            Node::Literal(Literal::Boolean(_)) => Some(self.truth()),
            Node::Literal(literal) => of_literal(literal),
            Node::Unary { op, operand } if op != "NOT" && op != "!" => self.expr(operand, scope),
            Node::Binary { op, left, right } => {
                self.binary(op, || self.expr(left, scope), || self.expr(right, scope))
            }
            Node::Function(call) => self.call(call, scope),
            Node::Case { branches, otherwise, .. } => {
                let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                self.shared(results, scope)
            }
            Node::Cast { to, .. } => self.cast(to.of(self.text)),
            Node::Collate { operand, .. } | Node::Nested(operand) => self.expr(operand, scope),
            Node::Subquery(query) => self.first_of(query, scope),
            Node::Unary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Exists(_) => Some(self.truth()),
            Node::Parameter(_)
            | Node::Variable(_)
            | Node::Row(_)
            | Node::Other(_)
            | Node::Default => None,
        }
    }

    /// Truth values are numbers in one language and their own type in the other.
    fn truth(&self) -> Declared {
        Declared::of(if self.tongue == Tongue::Postgres { Kind::Bool } else { Kind::Int })
    }

    fn binary(
        &self,
        op: &BinaryOp,
        left: impl FnOnce() -> Option<Declared>,
        right: impl FnOnce() -> Option<Declared>,
    ) -> Option<Declared> {
        match op {
            BinaryOp::Divide if self.tongue == Tongue::MySql => Some(Declared::of(Kind::Float)),
            BinaryOp::Plus
            | BinaryOp::Minus
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => {
                let (left, right) = (left()?.kind, right()?.kind);
                let whole = |kind| matches!(kind, Kind::Int | Kind::UInt | Kind::Bool);
                let exact = |kind| whole(kind) || kind == Kind::Decimal;
                let number = |kind| exact(kind) || kind == Kind::Float;
                if whole(left) && whole(right) {
                    Some(Declared::of(Kind::Int))
                } else if exact(left) && exact(right) {
                    Some(Declared::of(Kind::Decimal))
                } else {
                    (number(left) && number(right)).then(|| Declared::of(Kind::Float))
                }
            }
            BinaryOp::Other(op) => (op == "||").then(|| Declared::of(Kind::Text)),
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Equal
            | BinaryOp::NullSafeEqual
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Some(self.truth()),
        }
    }

    /// The type all of these share; NULLs and parameters have none of their own.
    fn shared<'q>(
        &self,
        list: impl Iterator<Item = &'q Expr>,
        scope: &Scope<'q>,
    ) -> Option<Declared> {
        let mut shared: Option<Declared> = None;
        for expr in list {
            if matches!(expr.node, Node::Literal(Literal::Null) | Node::Parameter(_)) {
                continue;
            }
            let own = self.expr(expr, scope)?;
            shared = match shared {
                None => Some(own),
                Some(known) if known.kind == own.kind => Some(known),
                Some(known) => {
                    let number = |kind| matches!(kind, Kind::Int | Kind::Float | Kind::Decimal);
                    if !(number(known.kind) && number(own.kind)) {
                        return None;
                    }
                    Some(Declared::of(Kind::Float))
                }
            };
        }
        shared
    }

    fn cast(&self, to: &str) -> Option<Declared> {
        let kind = match to.trim().to_ascii_uppercase().split(['(', ' ']).next()? {
            "SIGNED" => Kind::Int,
            "UNSIGNED" => Kind::UInt,
            "BOOL" | "BOOLEAN" if self.tongue != Tongue::Postgres => Kind::Int,
            _ => return Some(declared(to)).filter(|declared| declared.kind != Kind::Other),
        };
        Some(Declared::of(kind))
    }

    fn call<'q>(&self, call: &'q Function, scope: &Scope<'q>) -> Option<Declared> {
        let argument = |at: usize| call.arguments.get(at).and_then(|expr| self.expr(expr, scope));
        let kind = match named(&call.name).to_ascii_lowercase().as_str() {
            "sum" | "total" => return argument(0).and_then(of_sum),
            "min" | "max" | "abs" | "first_value" | "last_value" | "nth_value" | "lag" | "lead"
            | "nullif" | "any_value" => return argument(0),
            "coalesce" | "ifnull" | "greatest" | "least" => {
                return self.shared(call.arguments.iter(), scope);
            }
            "if" | "iif" => return self.shared(call.arguments.iter().skip(1), scope),
            "count" | "length" | "char_length" | "character_length" | "octet_length" | "instr"
            | "strpos" | "locate" | "row_number" | "rank" | "dense_rank" | "ntile" | "ascii"
            | "unicode" | "sign" | "unix_timestamp" | "unixepoch" | "ceil" | "ceiling"
            | "floor" | "random" => Kind::Int,
            "avg" | "round" | "sqrt" | "power" | "pow" | "percent_rank" | "cume_dist"
            | "julianday" => Kind::Float,
            "lower" | "upper" | "lcase" | "ucase" | "concat" | "concat_ws" | "substr"
            | "substring" | "replace" | "trim" | "ltrim" | "rtrim" | "left" | "right" | "lpad"
            | "rpad" | "reverse" | "repeat" | "md5" | "hex" | "printf" | "format" | "quote"
            | "group_concat" | "string_agg" | "strftime" | "version" | "typeof" | "char" => {
                Kind::Text
            }
            "now" | "sysdate" | "localtimestamp" | "utc_timestamp" | "current_timestamp"
            | "datetime" => Kind::Timestamp,
            "curdate" | "current_date" | "date" => Kind::Date,
            "curtime" | "current_time" | "time" => Kind::Time,
            _ => return None,
        };
        Some(Declared::of(kind))
    }

    fn first_of<'q>(&self, query: &'q Query, scope: &Scope<'q>) -> Option<Declared> {
        let inner = scope.inner(query)?;
        match self.select(query)?.items.first()? {
            SelectItem::Expr { expr, .. } => self.expr(expr, &inner),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        }
    }

    fn column(&self, name: &ObjectName, scope: &Scope<'_>) -> Option<Declared> {
        let column = named(name);
        let qualifier = name.parts.len().checked_sub(2).map(|at| name.parts[at].value.as_str());
        let from = &self.select(scope.query)?.from;
        from.iter().find_map(|factor| self.column_in(factor, qualifier, column, scope))
    }

    fn column_in<'q>(
        &self,
        factor: &'q TableFactor,
        qualifier: Option<&str>,
        column: &str,
        scope: &Scope<'q>,
    ) -> Option<Declared> {
        let fits = |own: &str| qualifier.is_none_or(|wanted| wanted.eq_ignore_ascii_case(own));
        match factor {
            TableFactor::Table(table) => {
                let name = named(&table.name);
                if !fits(table.alias.as_ref().map_or(name, |alias| &alias.value)) {
                    return None;
                }
                let cte = scope.ctes.iter().find(|cte| cte.name.value.eq_ignore_ascii_case(name));
                match cte {
                    Some(cte) => self.cte_column(cte, column, scope),
                    None => self.table_column(name, column),
                }
            }
            TableFactor::Derived { query, alias, .. } => {
                let fits = fits(alias.as_ref().map_or("", |alias| &alias.value));
                if fits { self.query_column(query, column, scope) } else { None }
            }
            TableFactor::Join(join) => self
                .column_in(&join.left, qualifier, column, scope)
                .or_else(|| self.column_in(&join.right, qualifier, column, scope)),
            TableFactor::Function { .. } => None,
        }
    }

    fn cte_column<'q>(&self, cte: &'q Cte, column: &str, scope: &Scope<'q>) -> Option<Declared> {
        let Statement::Select(query) = &*cte.body else { return None };
        if cte.columns.is_empty() {
            return self.query_column(query, column, scope);
        }
        let at = cte.columns.iter().position(|own| own.value.eq_ignore_ascii_case(column))?;
        let SelectItem::Expr { expr, .. } = self.select(query)?.items.get(at)? else { return None };
        self.expr(expr, &scope.inner(query)?)
    }

    fn query_column<'q>(
        &self,
        query: &'q Query,
        column: &str,
        scope: &Scope<'q>,
    ) -> Option<Declared> {
        let inner = scope.inner(query)?;
        let select = self.select(query)?;
        select.items.iter().find_map(|item| {
            let SelectItem::Expr { expr, alias, .. } = item else {
                return select
                    .from
                    .iter()
                    .find_map(|factor| self.column_in(factor, None, column, &inner));
            };
            let own = match (alias, &expr.node) {
                (Some(alias), _) => &alias.value,
                (None, Node::Column(name)) => named(name),
                (None, _) => return None,
            };
            if own.eq_ignore_ascii_case(column) { self.expr(expr, &inner) } else { None }
        })
    }

    fn table_column(&self, table: &str, column: &str) -> Option<Declared> {
        let key = table.to_ascii_lowercase();
        let mut tables = self.tables.borrow_mut();
        let columns = tables.entry(key).or_insert_with(|| self.declared_columns(table));
        columns.get(&column.to_ascii_lowercase()).copied()
    }

    /// An unreadable catalogue means that nothing is known; the statement itself will tell what is wrong.
    fn declared_columns(&self, table: &str) -> Columns {
        let read = || -> rusqlite::Result<Columns> {
            let sql = "SELECT lower(name), type FROM pragma_table_info(?1)";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([table], |row| {
                let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((name, declared(&kind)))
            })?;
            rows.filter(|row| row.as_ref().map_or(true, |(_, own)| own.kind != Kind::Other))
                .collect()
        };
        read().unwrap_or_default()
    }
}

fn of_literal(literal: &Literal) -> Option<Declared> {
    let kind = match literal {
        Literal::Integer(_) | Literal::Boolean(_) => Kind::Int,
        Literal::Number(_) => Kind::Float,
        Literal::Text(_) => Kind::Text,
        Literal::Bytes(_) => Kind::Bytes,
        Literal::Typed(name, _) => return Some(declared(name)),
        Literal::Null => return None,
    };
    Some(Declared::of(kind))
}

/// The sum of whole numbers is whole, that of exact ones exact.
fn of_sum(of: Declared) -> Option<Declared> {
    match of.kind {
        Kind::Int | Kind::UInt | Kind::Bool => Some(Declared::of(Kind::Int)),
        Kind::Decimal => Some(of),
        Kind::Float => Some(Declared::of(Kind::Float)),
        Kind::Text
        | Kind::Bytes
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp
        | Kind::TimestampTz
        | Kind::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_in(tongue: Tongue, items: &str, expected: &[Option<Kind>]) {
        let connection = Connection::open_in_memory().unwrap();
        let tables =
            "CREATE TABLE t (id BIGINT, price DECIMAL(10,2), name TEXT, at TIMESTAMP, f DOUBLE);
            CREATE TABLE u (id INT, note VARCHAR(9))";
        connection.execute_batch(tables).unwrap();
        let sql = format!("SELECT {items}");
        let kinds = columns(&connection, &sql, tongue, expected.len());
        let kinds: Vec<Option<Kind>> = kinds.iter().map(|own| own.map(|own| own.kind)).collect();
        assert_eq!(kinds, expected, "{sql}");
    }

    fn check(items: &str, expected: &[Option<Kind>]) {
        check_in(Tongue::Any, items, expected);
    }

    #[test]
    fn computed_columns_have_types_before_they_have_values() {
        use Kind::{Bool, Decimal, Float, Int, Text, Timestamp};
        check(
            "count(*), sum(id), sum(price), avg(id), max(at) FROM t",
            &[Some(Int), Some(Int), Some(Decimal), Some(Float), Some(Timestamp)],
        );
        check(
            "id + 1, id * price, id / f, name || 'x', -id FROM t",
            &[Some(Int), Some(Decimal), Some(Float), Some(Text), Some(Int)],
        );
        check(
            "coalesce(max(id), ?, 0), CASE WHEN id > 1 THEN name ELSE NULL END, ? FROM t",
            &[Some(Int), Some(Text), None],
        );
        check(
            "CAST(x AS BIGINT), '5'::text, (SELECT max(note) FROM u) FROM t",
            &[Some(Int), Some(Text), Some(Text)],
        );
        check(
            "x.n, y.id, z FROM (SELECT count(*) AS n FROM t) x JOIN u AS y ON 1, t",
            &[Some(Int), Some(Int), None],
        );
        check_in(Tongue::Postgres, "id = 1, name IS NULL FROM t", &[Some(Bool), Some(Bool)]);
        check_in(Tongue::MySql, "id = 1, id / 2 FROM t", &[Some(Int), Some(Float)]);
    }

    #[test]
    fn a_star_keeps_the_columns_around_it_in_their_places() {
        use Kind::{Int, Text};
        check(
            "count(*), t.*, 'x', 1 FROM t",
            &[Some(Int), None, None, None, None, None, Some(Text), Some(Int)],
        );
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        check("missing FROM nowhere", &[None]);
        check("max(name, 1), f(x), id + name FROM t", &[Some(Kind::Text), None, None]);
        check("nonsense FROM (", &[None]);
    }

    #[test]
    fn common_table_expressions_are_looked_into_without_end() {
        let connection = Connection::open_in_memory().unwrap();
        let check = |sql: &str, expected: Option<Kind>| {
            let kinds = columns(&connection, sql, Tongue::Any, 1);
            assert_eq!(kinds[0].map(|own| own.kind), expected, "{sql}");
        };
        check(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            Some(Kind::Int),
        );
        check("WITH RECURSIVE n(i) AS (SELECT i FROM n) SELECT i FROM n", None);
        check(
            "WITH a AS (SELECT 'x' AS c), b AS (SELECT c FROM a) SELECT max(c) FROM b",
            Some(Kind::Text),
        );
    }
}
