//! Whether a statement finds its rows in one way whatever its values, so that a plan made without them can hardly differ from one made with them.

use pando_kernel::dialect::TableColumn;
use pando_sql::Span;
use pando_sql::ast::{Expr, Literal, Node};

/// The most rows of a LIMIT that an index answers from the value on: so few cost less from there than any other way to them.
const FEW: i64 = 100;

/// A column that is compared with numbers.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    pub(super) column: &'a str,
    pub(super) how: How,
    pub(super) numbers: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Equal,
    /// IN.
    Among,
    Between,
    /// `<`, `<=`, `>`, `>=`.
    Beyond,
    Otherwise,
}

/// How a statement finds its rows.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// It makes them.
    pub(super) inserts: bool,
    pub(super) compared: Vec<Compared<'a>>,
    /// It tells this many; inner `None` is all of them.
    #[expect(clippy::option_option, reason = "LIMIT ALL is a limit to the server")]
    pub(super) limit: Option<Option<&'a Expr>>,
    /// The column that they are sorted by first, and not by its distinct values.
    pub(super) sorted: Option<&'a str>,
}

impl Found<'_> {
    /// `sharding` are the literals that a sharding column equals.
    pub(super) fn is_narrow(&self, columns: &[TableColumn], sharding: &[Span]) -> bool {
        self.inserts
            || self.finds_one(columns)
            || self.finds_first()
            || self.limit.is_none() && (self.finds_few(columns) || self.finds_shard(sharding))
    }

    /// Whether the whole primary key is given.
    fn finds_one(&self, columns: &[TableColumn]) -> bool {
        let mut key = columns.iter().filter(|column| column.primary_key).peekable();
        let given = |column: &TableColumn| {
            let is_it = |one: &Compared<'_>| one.column.eq_ignore_ascii_case(&column.name);
            self.compared.iter().any(|one| one.how == How::Equal && is_it(one))
        };
        key.peek().is_some() && key.all(given)
    }

    /// Whether a part of the primary key is given.
    fn finds_few(&self, columns: &[TableColumn]) -> bool {
        let is_key = |name: &str| {
            columns.iter().any(|own| own.primary_key && own.name.eq_ignore_ascii_case(name))
        };
        let narrows = |how: How| match how {
            How::Equal | How::Among | How::Between => true,
            How::Beyond | How::Otherwise => false,
        };
        self.compared.iter().any(|one| narrows(one.how) && is_key(one.column))
    }

    /// Whether a sharding column is given.
    fn finds_shard(&self, sharding: &[Span]) -> bool {
        let decides = |one: &Compared<'_>| one.numbers.iter().any(|span| sharding.contains(span));
        self.compared.iter().any(|one| one.how == How::Equal && decides(one))
    }

    /// Whether it reads the first few rows beyond a value of the column that they are sorted by, and asks nothing else of them. (The limit is part of the shape.)
    fn finds_first(&self) -> bool {
        let (Some(Some(limit)), Some(sorted)) = (self.limit, self.sorted) else { return false };
        let is_few = matches!(&limit.node, Node::Literal(Literal::Integer(count)) if *count <= FEW);
        let is_on_the_way = |one: &Compared<'_>| {
            matches!(one.how, How::Beyond | How::Between) && one.column.eq_ignore_ascii_case(sorted)
        };
        is_few && !self.compared.is_empty() && self.compared.iter().all(is_on_the_way)
    }
}
