//! Figures of tables whose parts several storage units hold: how much room they take, how many rows they have, how
//! often they were read. Each unit is asked for those of its parts, and what is shown is the sum.
//! <https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE>, <https://www.postgresql.org/docs/current/monitoring-stats.html>

use std::collections::HashMap;
use std::fmt::Write as _;

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::error::{Error, Result};
use pando_kernel::presentation::{Figure, Figured, Figures, View};
use pando_kernel::route::Need;
use pando_kernel::{Parameter, Value};
use pando_sql::ast::{Expr, Function, Literal, Node, Statement};
use pando_sql::{Edits, Span, visit};

use super::calls::{Given, bound, name_of, named, relation_argument, split};
use super::names::{Names, literal, renamed};
use crate::dialect::Postgres;

/// Stands in what is asked for the row source `(oid, a, l, h)` of a unit's parts.
const PARTS: &str = "{parts}";

/// Functions that tell how much room a table takes.
const SIZES: &[&str] =
    &["pg_indexes_size", "pg_relation_size", "pg_table_size", "pg_total_relation_size"];

/// Those that tell what was done with it. Some take indexes, too.
pub(super) const COUNTS: &[&str] = &[
    "pg_stat_get_analyze_count",
    "pg_stat_get_autoanalyze_count",
    "pg_stat_get_autovacuum_count",
    "pg_stat_get_blocks_fetched",
    "pg_stat_get_blocks_hit",
    "pg_stat_get_dead_tuples",
    "pg_stat_get_ins_since_vacuum",
    "pg_stat_get_live_tuples",
    "pg_stat_get_mod_since_analyze",
    "pg_stat_get_numscans",
    "pg_stat_get_tuples_deleted",
    "pg_stat_get_tuples_fetched",
    "pg_stat_get_tuples_hot_updated",
    "pg_stat_get_tuples_inserted",
    "pg_stat_get_tuples_newpage_updated",
    "pg_stat_get_tuples_returned",
    "pg_stat_get_tuples_updated",
    "pg_stat_get_vacuum_count",
];

const DATABASE_SIZE: &str = "pg_database_size";

/// How figures of parts become that of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    /// They add up.
    Count,
    /// So do these, with a fraction.
    Time,
    /// They add up where all are known; -1 stands for what is not.
    Rows,
    /// A moment: the last one of all parts.
    Latest,
    /// A moment: since then all parts are so; NULL where one never was.
    Since,
}

/// What stands for the columns of a relation whose figures are those of parts.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    /// Joins the row `z` of a table's figures.
    pub(super) join: String,
    columns: Vec<String>,
}

impl Wholes {
    /// What a column is shown as.
    pub(super) fn shown(&self, column: &str) -> Option<String> {
        let place = self.columns.iter().position(|known| known == column)?;
        let own = format!("x.{}", Postgres.quote(column));
        Some(format!("CASE WHEN z.o IS NULL THEN {own} ELSE z.c{place} END"))
    }
}

impl Figured for Postgres {
    fn figures_question(&self, asked: &str, parts: &View<'_>) -> Option<String> {
        if !asked.contains(PARTS) {
            return Some(asked.to_owned());
        }
        (!parts.tables.is_empty()).then(|| asked.replacen(PARTS, &Names::new(parts).owned(), 1))
    }
}

/// What a relation's figures are shown as, where the statement may read one.
///
/// # Errors
/// What must be asked first.
pub(super) fn of_relation(
    stmt: &Statement,
    view: &View<'_>,
    relation: &str,
    columns: &[TableColumn],
) -> std::result::Result<Wholes, Need> {
    let none = Ok(Wholes::default());
    let Some(number) = number_column(relation) else { return none };
    let summed: Vec<(&TableColumn, Sum)> = columns
        .iter()
        .filter_map(|column| sum_of(relation, column).map(|sum| (column, sum)))
        .collect();
    let is_summed = |name: &str| summed.iter().any(|(column, _)| column.name == name);
    if summed.is_empty() || !visit::may_read_column(&stmt.kind, is_summed) {
        return none;
    }
    let list: String = summed.iter().map(|(column, sum)| asked_column(column, *sum)).collect();
    let from = format!("JOIN pg_catalog.{relation} x ON x.{number} = c.oid");
    let asked = question_of_parts(&list, &from, "");
    let Some(figures) = told(view, &asked) else { return Err(Need::Figures(asked.into())) };
    let mut rows = Vec::new();
    for (own, all) in by_shown(figures, view.number) {
        let mut row = format!("({own}::pg_catalog.oid");
        for (place, (column, sum)) in summed.iter().enumerate() {
            let parts = all.iter().map(|figure| text(figure, place));
            let _ = write!(row, ", {}::{}", sum.of(parts), column.type_name);
        }
        row.push(')');
        rows.push(row);
    }
    if rows.is_empty() {
        return none;
    }
    let labels: String = (0..summed.len()).map(|place| format!(", c{place}")).collect();
    let rows = rows.join(", ");
    Ok(Wholes {
        join: format!(" LEFT JOIN (VALUES {rows}) z(o{labels}) ON z.o = x.{number}"),
        columns: summed.into_iter().map(|(column, _)| column.name.clone()).collect(),
    })
}

/// Makes functions tell of all parts. Gives back what must be asked first.
///
/// # Errors
/// `Refused` where it is not written what a function is to tell.
pub(super) fn of_calls(
    stmt: &Statement,
    view: &View<'_>,
    parameters: Option<&[Parameter]>,
    edits: &mut Edits,
) -> Result<Option<Need>> {
    let calls = Calls::of(stmt, parameters)?;
    if let Some(asked) = calls.database_asked() {
        let Some(figures) = told(view, asked) else { return Ok(Some(Need::Figures(asked.into()))) };
        let sum = Sum::Count.of(figures.rows.iter().map(|figure| text(figure, 0)));
        for call in &calls.of_database {
            database_size(call, view, &sum, edits);
        }
    }
    if calls.list.is_empty() {
        return Ok(None);
    }
    let mut forms: Vec<&str> = calls.list.iter().map(|call| call.form.as_str()).collect();
    forms.sort_unstable();
    forms.dedup();
    let list: String = forms.iter().map(|form| format!(", {form}::pg_catalog.text")).collect();
    let asked = question_of_parts(&list, "", &calls.condition());
    let Some(figures) = told(view, &asked) else { return Ok(Some(Need::Figures(asked.into()))) };
    let shown = by_shown(figures, view.number);
    for call in &calls.list {
        let Some(place) = forms.iter().position(|form| *form == call.form) else { continue };
        let mut rows = Vec::new();
        for (own, all) in &shown {
            let others = all.iter().filter(|figure| !is_of(figure, view.number, *own));
            let sum = Sum::Count.of(others.map(|figure| text(figure, place)));
            if sum != "NULL" && sum != "0" {
                rows.push(format!("({own}::pg_catalog.oid, {sum}::pg_catalog.int8)"));
            }
        }
        if !rows.is_empty() {
            call.add(&rows.join(", "), edits);
        }
    }
    Ok(None)
}

/// The calls of a statement that ask for figures.
struct Calls<'a> {
    list: Vec<Call<'a>>,
    of_database: Vec<Call<'a>>,
    /// The relations they are about, where all of these are known by name.
    names: Option<Vec<String>>,
}

struct Call<'a> {
    span: Span,
    function: &'a Function,
    argument: &'a Expr,
    /// What is asked of `c.oid` for it.
    form: String,
}

impl<'a> Calls<'a> {
    fn of(stmt: &'a Statement, parameters: Option<&[Parameter]>) -> Result<Self> {
        let mut calls =
            Calls { list: Vec::new(), of_database: Vec::new(), names: Some(Vec::new()) };
        let mut refused = Ok(());
        visit::exprs(&stmt.kind, &mut |expr| {
            let Node::Function(function) = &expr.node else { return };
            let name = name_of(function);
            let call = |argument, form| Call { span: expr.span, function, argument, form };
            match &function.arguments[..] {
                [argument] if name == DATABASE_SIZE => {
                    calls.of_database.push(call(argument, String::new()));
                }
                [_, rest @ ..] if SIZES.contains(&name) || COUNTS.contains(&name) => {
                    let Some(argument) = relation_argument(function) else { return };
                    let Some(form) = form(name, rest) else {
                        return refused = Err(unknown_fork(name));
                    };
                    let known = named_relation(argument, parameters);
                    calls.names = calls.names.take().zip(known).map(|(mut names, known)| {
                        names.push(known);
                        names
                    });
                    calls.list.push(call(argument, form));
                }
                _ => {}
            }
        });
        refused.map(|()| calls)
    }

    fn database_asked(&self) -> Option<&'static str> {
        (!self.of_database.is_empty()).then_some(
            "SELECT NULL, NULL, NULL, pg_catalog.pg_database_size(pg_catalog.current_database())::pg_catalog.text",
        )
    }

    /// Who asks for one table is not to wait for the locks of another.
    fn condition(&self) -> String {
        let Some(names) = &self.names else { return String::new() };
        let list: Vec<String> = names.iter().map(|name| literal(name)).collect();
        format!(" AND {} IN ({})", renamed("c.relname", "m"), list.join(", "))
    }
}

impl Call<'_> {
    /// Adds what others have, given as rows of an own number and a figure.
    fn add(&self, others: &str, edits: &mut Edits) {
        let name = name_of(self.function);
        let taken = if SIZES.contains(&name) { "regclass" } else { "oid" };
        let own = self.form.replacen("c.oid", "s.o", 1);
        edits.replace(
            Span::new(self.span.start, self.argument.span.start),
            format!(
                "(SELECT {own} + coalesce((SELECT v.n FROM (VALUES {others}) v(o, n) WHERE v.o = s.o), 0) AS {name} FROM (SELECT ("
            ),
        );
        edits.replace(
            Span::new(self.argument.span.end, self.span.end),
            format!(")::pg_catalog.{taken}::pg_catalog.oid AS o) s)"),
        );
    }
}

/// The size of the logical database; that of others is not known here.
fn database_size(call: &Call<'_>, view: &View<'_>, sum: &str, edits: &mut Edits) {
    let database = literal(view.database);
    edits.replace(
        Span::new(call.span.start, call.argument.span.start),
        format!(
            "(SELECT CASE WHEN s.d IN ({database}, pg_catalog.current_database()::pg_catalog.text, \
             (SELECT d.oid::pg_catalog.text FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())) \
             THEN {sum}::pg_catalog.int8 END AS {DATABASE_SIZE} FROM (SELECT ("
        ),
    );
    edits.replace(Span::new(call.argument.span.end, call.span.end), ")::pg_catalog.text AS d) s)");
}

/// What is asked of `c.oid`; `None` where it is not written which of a relation's files is meant.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn form(name: &str, rest: &[Expr]) -> Option<String> {
    match rest {
        [] => Some(format!("pg_catalog.{name}(c.oid)")),
        [fork] => match &fork.node {
            Node::Literal(Literal::Text(fork)) => {
                Some(format!("pg_catalog.{name}(c.oid, {})", literal(fork)))
            }
            _ => None,
        },
        _ => None,
    }
}

fn unknown_fork(name: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "`{name}` of the parts of a table is not known where its second argument is computed"
        ),
        "write the argument as a string",
    )
}

/// The last name of the relation that an argument names.
fn named_relation(argument: &Expr, parameters: Option<&[Parameter]>) -> Option<String> {
    let name = match (named(argument), bound(argument, parameters)) {
        (Some((name, _)), _) | (None, Some((_, Given::Name(name)))) => name,
        (None, _) => return None,
    };
    split(name)?.pop()
}

/// The column of a relation with the number of the table or index that a row is about.
fn number_column(relation: &str) -> Option<&'static str> {
    match relation {
        "pg_class" => Some("oid"),
        _ if !relation.starts_with("pg_stat") => None,
        _ if relation.ends_with("_tables") => Some("relid"),
        _ if relation.ends_with("_indexes") => Some("indexrelid"),
        _ => None,
    }
}

fn sum_of(relation: &str, column: &TableColumn) -> Option<Sum> {
    match (relation, column.name.as_str(), column.type_name.as_str()) {
        ("pg_class", "relpages" | "relallvisible" | "relallfrozen", _) => Some(Sum::Count),
        ("pg_class", "reltuples", _) => Some(Sum::Rows),
        ("pg_class", ..) => None,
        (.., "bigint") => Some(Sum::Count),
        (.., "double precision") => Some(Sum::Time),
        (_, name, "timestamp with time zone") => {
            Some(if name.contains("scan") { Sum::Latest } else { Sum::Since })
        }
        _ => None,
    }
}

fn asked_column(column: &TableColumn, sum: Sum) -> String {
    let own = format!("x.{}", Postgres.quote(&column.name));
    match sum {
        Sum::Count | Sum::Time => format!(", {own}::pg_catalog.text"),
        // Nobody has looked at an empty part; it has no rows for certain.
        Sum::Rows => format!(
            ", CASE WHEN {own} >= 0 OR pg_catalog.pg_stat_get_live_tuples(c.oid) > 0 THEN {own}::pg_catalog.text END"
        ),
        Sum::Latest | Sum::Since => {
            format!(", extract(epoch FROM {own})::pg_catalog.numeric::pg_catalog.text")
        }
    }
}

impl Sum {
    /// SQL for the figure of a table whose parts have these.
    fn of<'a>(self, parts: impl Iterator<Item = Option<&'a str>>) -> String {
        let parts: Vec<Option<f64>> = match self {
            Self::Count => {
                let known: Vec<i128> = parts.flatten().filter_map(|own| own.parse().ok()).collect();
                return match known.is_empty() {
                    true => "NULL".into(),
                    false => known.iter().sum::<i128>().to_string(),
                };
            }
            Self::Time | Self::Rows | Self::Latest | Self::Since => {
                parts.map(|own| own.and_then(|own| own.parse().ok())).collect()
            }
        };
        let known = || parts.iter().flatten().copied();
        let moment = |moment: f64| format!("pg_catalog.to_timestamp({moment:.6})");
        let shown = match self {
            Self::Rows if known().next().is_none() || known().any(|own| own < 0.0) => {
                Some("'-1'".into())
            }
            Self::Rows | Self::Time | Self::Count => {
                let sum = known().reduce(|sum, own| sum + own);
                sum.map(|sum| format!("'{sum}'"))
            }
            Self::Latest => known().reduce(f64::max).map(moment),
            Self::Since => {
                let least = known().reduce(f64::min);
                least.filter(|_| parts.iter().all(Option::is_some)).map(moment)
            }
        };
        shown.unwrap_or_else(|| "NULL".into())
    }
}

/// What is asked of every unit about its parts: a row each with what it is called in the logical database, its number
/// there, whether another one stands for it, and then what `list` has.
fn question_of_parts(list: &str, joins: &str, condition: &str) -> String {
    format!(
        "SELECT CASE c.relkind WHEN 't' THEN m.l ELSE {} END || ':' || c.relkind::pg_catalog.text, c.oid::pg_catalog.int8, m.h{list} \
         FROM {PARTS} m JOIN pg_catalog.pg_class c ON c.oid = m.oid {joins} WHERE c.relkind IN ('r', 'p', 't', 'i', 'I'){condition}",
        renamed("c.relname", "m")
    )
}

fn told<'a>(view: &View<'a>, asked: &str) -> Option<&'a Figures> {
    view.facts.figures.iter().find(|figures| *figures.asked == *asked)
}

/// The own numbers of what a unit shows, each with the figures of all its parts.
fn by_shown(figures: &Figures, unit: usize) -> Vec<(i64, Vec<&Figure>)> {
    let mut parts: HashMap<&str, Vec<&Figure>> = HashMap::new();
    let mut shown = Vec::new();
    for figure in &figures.rows {
        let [Value::Text(name), Value::Int(own), hidden, ..] = &figure.row[..] else { continue };
        parts.entry(name).or_default().push(figure);
        if figure.unit == unit && *hidden == Value::Bool(false) {
            shown.push((*own, name.as_str()));
        }
    }
    let all = |name: &str| parts.get(name).cloned().unwrap_or_default();
    shown.into_iter().map(|(own, name)| (own, all(name))).collect()
}

fn is_of(figure: &Figure, unit: usize, own: i64) -> bool {
    figure.unit == unit && figure.row.get(1) == Some(&Value::Int(own))
}

/// The figure of this place, behind what says whose it is.
fn text(figure: &Figure, place: usize) -> Option<&str> {
    match figure.row.get(place + 3) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
