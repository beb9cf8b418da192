//! Which columns of each table a statement may need.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_kernel::LogicColumns;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::relation::Carried;
use pando_kernel::route::Need;
use pando_sql::ast::{BinaryOp, Expr, Node, Select, Statement, TableFactor};
use pando_sql::{Fold, Span, TokenKind, visit};

use super::walk::{self, Leaf};

/// What a table's columns must be known for.
pub(super) type Known<T> = std::result::Result<T, Need>;

/// The columns of the statement's tables.
#[derive(Debug)]
pub(super) struct Columns {
    tables: HashMap<String, Arc<Vec<TableColumn>>>,
    /// Those of these tables of which some columns are not as they are stored.
    turned: HashMap<String, Arc<LogicColumns>>,
    /// Every word of the statement, lower-cased: a column that is not among them is not named anywhere.
    words: HashSet<String>,
    whole_rows: bool,
    /// Names of columns that are compared with another column.
    compared: HashSet<String>,
}

impl Columns {
    /// `None` when a table has no columns, or the statement cannot be read.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    pub(super) fn of(
        ctx: &Context<'_>,
        stmt: &Statement,
        leaves: &[Leaf<'_>],
    ) -> Known<Option<Self>> {
        let (mut tables, mut turned) = (HashMap::new(), HashMap::new());
        for leaf in leaves {
            match ctx.catalog.columns(&leaf.logic) {
                None => return Err(Need::Columns(leaf.logic.clone())),
                Some(columns) if columns.is_empty() => return Ok(None),
                Some(columns) => tables.insert(leaf.logic.clone(), columns),
            };
            let logic = ctx.catalog.logic(&leaf.logic);
            turned.extend(logic.map(|logic| (leaf.logic.clone(), logic)));
        }
        let Ok(tokens) = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax()) else {
            return Ok(None);
        };
        let mut words = HashSet::new();
        let mut whole_rows = walk::whole_rows(stmt);
        let mut before = "";
        for token in &tokens.list {
            let text = token.span.of(&stmt.text);
            if matches!(
                token.kind,
                TokenKind::Word | TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier
            ) {
                let bare = text.trim_matches(['"', '`']);
                words.insert(bare.replace("\"\"", "\"").replace("``", "`").to_lowercase());
                whole_rows |= token.kind == TokenKind::UnicodeIdentifier;
            }
            whole_rows |= text == "*" && before == ".";
            before = text;
        }
        // A table's name alone is its row, where the table is in scope and the family has such values.
        let has_rows = ctx.dialect.syntax().fold == Fold::Lower;
        let is_row_of = |leaf: &Leaf<'_>, expr: &Expr, name: &str| {
            let label = leaf.table.alias.as_ref().or(leaf.table.name.parts.last());
            let scope = leaf.select.map_or(Span::new(0, u32::MAX), |select| select.span);
            let inside = scope.start <= expr.span.start && expr.span.end <= scope.end;
            has_rows && inside && label.is_some_and(|label| label.value.eq_ignore_ascii_case(name))
        };
        let mut compared = HashSet::new();
        let mut is_row = false;
        visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
            Node::Column(name) => {
                if let [name] = &name.parts[..] {
                    is_row |= leaves.iter().any(|leaf| is_row_of(leaf, expr, &name.value));
                }
            }
            Node::Binary { op: BinaryOp::Equal, left, right } => {
                if let (Node::Column(left), Node::Column(right)) = (&left.node, &right.node) {
                    let names = [left, right].into_iter().filter_map(|name| name.parts.last());
                    compared.extend(names.map(|name| name.value.to_lowercase()));
                }
            }
            _ => {}
        });
        // Where rows stand as a table all of their columns are seen by `*`.
        let mut hidden =
            tables.values().flat_map(|columns| columns.iter()).filter(|one| one.invisible);
        if whole_rows && hidden.any(|column| words.contains(&column.name.to_lowercase())) {
            return Ok(None);
        }
        // The row would be of another type.
        Ok((!is_row).then_some(Self { tables, turned, words, whole_rows, compared }))
    }

    /// The columns of a table that travel, as they are stored, in table order; never none.
    pub(super) fn carried(&self, logic: &str) -> Vec<Carried> {
        let Some(all) = self.stored(logic) else { return Vec::new() };
        let told =
            |column: &TableColumn| self.told_name(logic, &column.name).map(str::to_lowercase);
        let named = |column: &TableColumn| {
            let told = told(column);
            let all_see = self.whole_rows && !column.invisible;
            told.is_some_and(|told| all_see || self.words.contains(&told))
        };
        let mut kept: Vec<&TableColumn> = all.iter().filter(|column| named(column)).collect();
        if kept.is_empty() {
            kept.extend(all.iter().find(|column| column.primary_key).or(all.first()));
        }
        let whole_key = all.iter().filter(|column| column.primary_key).all(named);
        kept.into_iter()
            .map(|column| Carried {
                column: column.clone(),
                is_key: column.primary_key && whole_key,
                is_compared: told(column).is_some_and(|told| self.compared.contains(&told)),
            })
            .collect()
    }

    fn stored(&self, logic: &str) -> Option<&[TableColumn]> {
        match self.turned.get(logic) {
            Some(turned) => Some(&turned.stored),
            None => self.tables.get(logic).map(|all| &all[..]),
        }
    }

    /// What clients call the column that a stored one is a part of; `None` where they see nothing of it.
    pub(super) fn told_name<'a>(&'a self, logic: &str, stored: &'a str) -> Option<&'a str> {
        match self.turned.get(logic) {
            Some(turned) => turned.of_stored(stored).map(|one| one.column.name.as_str()),
            None => Some(stored),
        }
    }

    /// Whether some of a table's columns are not as they are stored.
    pub(super) fn turns_some(&self, logic: &str) -> bool {
        self.turned.contains_key(logic)
    }

    /// Whether a table's column of this name is not as it is stored.
    pub(super) fn turns(&self, logic: &str, column: &str) -> bool {
        self.turned.get(logic).is_some_and(|turned| turned.turns(column))
    }

    /// Whether the statement may name a column of a table that is not as it is stored.
    pub(super) fn names_turned(&self, logic: &str) -> bool {
        let Some(turned) = self.turned.get(logic) else { return false };
        let mut names = turned.list.iter().filter(|one| !one.is_plain());
        names.any(|one| self.whole_rows || self.words.contains(&one.column.name.to_lowercase()))
    }

    /// Whether a table has a column of this name, without regard to case.
    pub(super) fn has(&self, logic: &str, column: &str) -> bool {
        let own = self.tables.get(logic);
        own.is_some_and(|all| {
            all.iter().any(|known| known.name.to_lowercase() == column.to_lowercase())
        })
    }

    /// Whether any table of the statement has a column of this name.
    pub(super) fn any_has(&self, column: &str) -> bool {
        self.tables.keys().any(|logic| self.has(logic, column))
    }

    /// Whether all tables of the statement have a column of this name.
    pub(super) fn all_have(&self, column: &str) -> bool {
        self.tables.keys().all(|logic| self.has(logic, column))
    }

    /// Whether a bare name in this SELECT can only be a column of this place's table.
    pub(super) fn is_only_of(&self, leaf: &Leaf<'_>, column: &str) -> bool {
        leaf.select.and_then(|select| self.owners(select, column)) == Some(1)
            && self.has(&leaf.logic, column)
    }

    /// How many tables of a FROM clause have the column; `None` when one of them is not known.
    fn owners(&self, select: &Select, column: &str) -> Option<usize> {
        let mut owners = 0;
        let mut factors: Vec<&TableFactor> = select.from.iter().collect();
        while let Some(factor) = factors.pop() {
            match factor {
                TableFactor::Table(table) => {
                    let logic = table.name.parts.last()?.key();
                    self.tables.get(&logic)?;
                    owners += usize::from(self.has(&logic, column));
                }
                TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                TableFactor::Derived { .. } | TableFactor::Function { .. } => return None,
            }
        }
        Some(owners)
    }
}
