//! Statements as trees: what the generator makes, the shrinker cuts and both servers are sent as text.

use crate::schema::Class;
use crate::values::Constant;

/// An expression, only as deep as cutting it needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Raw(String),
    /// A column of a source, by the source's alias.
    Column(String, String),
    /// A constant; a prepared statement may give it as a parameter.
    Value(Constant, Given),
    /// These one after the other. Any of them that is no `Raw` may stand for the whole.
    Parts(Vec<Expr>),
    /// In parentheses.
    Query(Box<Query>),
}

/// Where a constant may travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Always in the text.
    Written,
    /// As a parameter when the statement is prepared.
    Bound,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Query {
    pub(crate) with: Vec<Common>,
    pub(crate) body: Body,
    pub(crate) order: Vec<Key>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
    pub(crate) form: LimitForm,
    pub(crate) lock: Option<String>,
}

/// How LIMIT is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitForm {
    Limit,
    /// `LIMIT offset, count`
    Comma,
    Fetch,
    Ties,
}

/// One name of WITH.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Common {
    pub(crate) name: String,
    pub(crate) query: Query,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Select(Box<Select>),
    Set { operator: String, left: Box<Query>, right: Box<Query> },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) from: Vec<Source>,
    pub(crate) filter: Option<Expr>,
    pub(crate) group: Vec<Expr>,
    pub(crate) grouped_by: GroupForm,
    pub(crate) rollup: bool,
    pub(crate) having: Option<Expr>,
}

/// How a group names the item that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupForm {
    Expression,
    Ordinal,
    Alias,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// Tells it from its neighbours when they are cut away.
    pub(crate) id: usize,
    pub(crate) expr: Expr,
    pub(crate) alias: Option<String>,
    pub(crate) class: Class,
    /// Floats were added up, in whatever order.
    pub(crate) loose: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) by: By,
    /// `desc`, `nulls first`, …
    pub(crate) suffix: String,
}

/// What an ORDER BY item names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum By {
    /// An item of the select list, by its id.
    Ordinal(usize),
    /// The same, by its alias or else its expression.
    Name(usize),
    Hidden(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// `join`, `left join`, `,`; of no meaning for the first.
    pub(crate) join: String,
    pub(crate) what: What,
    pub(crate) alias: String,
    /// ON or USING with its word, where there is one.
    pub(crate) on: Option<Expr>,
    /// Columns that tell its rows apart; empty if there are none.
    pub(crate) unique: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Table(String),
    Derived(Box<Query>),
}

/// Everything that is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    Select(Query),
    Insert(Insert),
    Update(Change),
    Delete(Change),
    /// CREATE TABLE … AS, CREATE VIEW … AS.
    Make(Make),
    /// BEGIN, COMMIT, SAVEPOINT and the like.
    Plain(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Insert {
    /// `insert into`, `replace into`, `insert ignore into`
    pub(crate) verb: String,
    pub(crate) table: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Expr>>,
    /// Instead of rows.
    pub(crate) query: Option<Query>,
    /// ON CONFLICT …, ON DUPLICATE KEY UPDATE …
    pub(crate) conflict: Option<Expr>,
    pub(crate) returning: Option<Expr>,
}

/// A table or a view out of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Make {
    /// `table`, `temporary table`, `view`, `materialized view`.
    pub(crate) what: &'static str,
    pub(crate) name: String,
    pub(crate) query: Query,
}

impl Make {
    /// What takes it away again, whether it is there or not.
    pub(crate) fn undone(&self) -> String {
        // What MySQL drops as temporary is never another one of the name.
        format!("drop {} if exists {}", self.what.trim_start_matches("temporary "), self.name)
    }
}

/// UPDATE and DELETE.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// All up to the table: `update`, `delete from`, `delete x from`.
    pub(crate) verb: String,
    pub(crate) from: Vec<Source>,
    pub(crate) sets: Vec<(String, Expr)>,
    /// `from …` and `using …` of PostgreSQL.
    pub(crate) beside: Option<(String, Vec<Source>)>,
    pub(crate) filter: Option<Expr>,
    pub(crate) order: Vec<Expr>,
    pub(crate) limit: Option<Expr>,
    pub(crate) returning: Option<Expr>,
}

impl Statement {
    /// The table or view that it makes.
    pub(crate) fn made(&self) -> Option<&Make> {
        match self {
            Self::Make(make) => Some(make),
            Self::Select(_)
            | Self::Insert(_)
            | Self::Update(_)
            | Self::Delete(_)
            | Self::Plain(_) => None,
        }
    }

    /// What it is counted as.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Select(_) => "select",
            Self::Insert(insert) if insert.query.is_some() => "insert select",
            Self::Insert(insert) if insert.conflict.is_some() => "upsert",
            Self::Insert(_) => "insert",
            Self::Update(_) => "update",
            Self::Delete(_) => "delete",
            Self::Make(_) => "table or view as query",
            Self::Plain(_) => "other",
        }
    }
}

impl Expr {
    pub(crate) fn raw(text: impl Into<String>) -> Self {
        Self::Raw(text.into())
    }

    pub(crate) fn parts(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::Parts(parts.into_iter().collect())
    }

    /// `before`, this, `after`.
    pub(crate) fn within(self, before: &str, after: &str) -> Self {
        Self::parts([Self::raw(before), self, Self::raw(after)])
    }
}

impl Query {
    pub(crate) fn of(select: Select) -> Self {
        Self::body(Body::Select(Box::new(select)))
    }

    pub(crate) fn body(body: Body) -> Self {
        Self {
            with: Vec::new(),
            body,
            order: Vec::new(),
            limit: None,
            offset: None,
            form: LimitForm::Limit,
            lock: None,
        }
    }

    /// The items its rows consist of: those of the leftmost SELECT.
    pub(crate) fn items(&self) -> &[Item] {
        match &self.body {
            Body::Select(select) => &select.items,
            Body::Set { left, .. } => left.items(),
        }
    }

    /// True if anything in it, however deep, satisfies.
    pub(crate) fn any_select(&self, of: &mut dyn FnMut(&Select) -> bool) -> bool {
        if self.with.iter().any(|common| common.query.any_select(of)) {
            return true;
        }
        match &self.body {
            Body::Select(select) => {
                of(select)
                    || select.from.iter().any(|source| match &source.what {
                        What::Table(_) => false,
                        What::Derived(query) => query.any_select(of),
                    })
            }
            Body::Set { left, right, .. } => left.any_select(of) || right.any_select(of),
        }
    }
}
