//! Figures of tables whose parts several storage units hold: how many rows they have, how much room they take. Each
//! unit is asked for those of its parts, and what is shown is the sum.
//! <https://dev.mysql.com/doc/refman/8.4/en/information-schema-tables-table.html>

use std::collections::HashMap;
use std::fmt::Write as _;

use pando_kernel::Value;
use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::presentation::{Figure, Figured, Figures, View};
use pando_kernel::route::Need;
use pando_sql::ast::Statement;
use pando_sql::visit;

use super::relation::literal;
use crate::dialect::MySql;

/// Tables of `information_schema` whose columns are figures, and what tells the parts of one table in it apart.
const TABLES: &[(&str, &str)] = &[
    ("TABLES", "''"),
    (
        "PARTITIONS",
        "CONCAT(COALESCE(x.PARTITION_NAME, ''), '.', COALESCE(x.SUBPARTITION_NAME, ''))",
    ),
];

/// How figures of parts become that of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    /// They add up.
    Count,
    /// So do these, without what goes beyond 32 bits.
    Checksum,
    /// The length of all rows by their number.
    Average,
    /// The greatest.
    Most,
    /// A moment: the first one of all parts.
    First,
    /// A moment: the last one of all parts.
    Last,
    /// A moment: since then all parts are so; NULL where one never was.
    Since,
}

const COLUMNS: &[(&str, Sum)] = &[
    ("TABLE_ROWS", Sum::Count),
    ("DATA_LENGTH", Sum::Count),
    ("AVG_ROW_LENGTH", Sum::Average),
    ("MAX_DATA_LENGTH", Sum::Count),
    ("INDEX_LENGTH", Sum::Count),
    ("DATA_FREE", Sum::Count),
    ("AUTO_INCREMENT", Sum::Most),
    ("CHECKSUM", Sum::Checksum),
    ("CREATE_TIME", Sum::First),
    ("UPDATE_TIME", Sum::Last),
    ("CHECK_TIME", Sum::Since),
];

/// Places of the figures that an average is made of.
const ROWS: usize = 0;
const LENGTH: usize = 1;

/// What stands for the columns of a table of `information_schema` whose figures are those of parts.
#[derive(Debug, Default)]
pub(super) struct Wholes<'a> {
    /// How the row is known.
    own: &'static str,
    shown: Vec<Whole<'a>>,
}

/// The figures of all parts of what a unit shows.
#[derive(Debug)]
struct Whole<'a> {
    table: &'a str,
    own: &'a str,
    parts: Vec<&'a Figure>,
}

/// What a table's figures are shown as, where the statement may read one.
///
/// # Errors
/// What must be asked first.
pub(super) fn of_table<'a>(
    stmt: &Statement,
    view: &View<'a>,
    name: &str,
    columns: &[TableColumn],
) -> Result<Wholes<'a>, Need> {
    let none = Ok(Wholes::default());
    let Some((_, own)) = TABLES.iter().find(|(known, _)| *known == name) else { return none };
    let has = |figure: &str| columns.iter().any(|own| own.name.eq_ignore_ascii_case(figure));
    let figures: Vec<&str> =
        COLUMNS.iter().map(|(figure, _)| *figure).filter(|own| has(own)).collect();
    let is_figure = |name: &str| figures.iter().any(|own| own.eq_ignore_ascii_case(name));
    if figures.is_empty() || !visit::may_read_column(&stmt.kind, is_figure) {
        return none;
    }
    let mut list = String::new();
    for (column, sum) in COLUMNS {
        let text = match has(column) {
            false => "NULL".to_owned(),
            true if sum.is_moment() => format!("CAST(UNIX_TIMESTAMP(x.{column}) AS CHAR)"),
            true => format!("CAST(x.{column} AS CHAR)"),
        };
        let _ = write!(list, ", {text}");
    }
    let asked = format!("x.TABLE_NAME, {own}{list} FROM information_schema.{name} x");
    match view.facts.figures.iter().find(|figures| *figures.asked == *asked) {
        None => Err(Need::Figures(asked.into())),
        Some(figures) => Ok(Wholes { own, shown: by_shown(figures, view.number) }),
    }
}

impl Figured for MySql {
    fn figures_question(&self, asked: &str, parts: &View<'_>) -> Option<String> {
        let (mut logic, mut hidden, mut all) = (String::new(), Vec::new(), Vec::new());
        for part in parts.tables {
            let actual = literal(&part.actual);
            let _ = write!(logic, " WHEN {actual} THEN {}", literal(&part.logic));
            if part.hidden {
                hidden.push(actual.clone());
            }
            all.push(actual);
        }
        let hidden = match hidden.is_empty() {
            true => "0".to_owned(),
            false => format!("x.TABLE_NAME IN ({})", hidden.join(", ")),
        };
        let all = all.join(", ");
        (!logic.is_empty()).then(|| {
            format!(
                "SELECT CASE x.TABLE_NAME{logic} END, {hidden}, {asked} \
             WHERE x.TABLE_SCHEMA = DATABASE() AND x.TABLE_NAME IN ({all})"
            )
        })
    }
}

impl Wholes<'_> {
    /// What a column is shown as.
    pub(super) fn shown(&self, column: &str) -> Option<String> {
        let place = COLUMNS.iter().position(|(own, _)| own.eq_ignore_ascii_case(column))?;
        let mut branches = String::new();
        for whole in &self.shown {
            let figure = COLUMNS[place].1.of(place, &whole.parts);
            let own = match whole.own {
                "" => String::new(),
                own => format!(" AND {} = {}", self.own, literal(own)),
            };
            let table = literal(whole.table);
            let _ = write!(branches, " WHEN x.TABLE_NAME = {table}{own} THEN {figure}");
        }
        let column = MySql.quote(column);
        (!branches.is_empty()).then(|| format!("CASE{branches} ELSE x.{column} END"))
    }
}

impl Sum {
    const fn is_moment(self) -> bool {
        matches!(self, Self::First | Self::Last | Self::Since)
    }

    /// SQL for the figure of a table with these parts.
    fn of(self, place: usize, parts: &[&Figure]) -> String {
        let figures = |place| parts.iter().filter_map(move |part| number(part, place));
        let (known, all) = (figures(place).count(), parts.len());
        let sum = || figures(place).sum::<i128>();
        let figure = match self {
            _ if known == 0 => None,
            Self::Count => Some(sum()),
            Self::Checksum => Some(sum() % (1 << 32)),
            Self::Average => {
                Some(figures(LENGTH).sum::<i128>().checked_div(figures(ROWS).sum()).unwrap_or(0))
            }
            Self::Most | Self::Last => figures(place).max(),
            Self::First => figures(place).min(),
            Self::Since => figures(place).min().filter(|_| known == all),
        };
        match figure {
            None => "NULL".to_owned(),
            Some(moment) if self.is_moment() => format!("FROM_UNIXTIME({moment})"),
            Some(figure) => format!("CAST({figure} AS UNSIGNED)"),
        }
    }
}

/// The figures of everything that a unit shows.
fn by_shown(figures: &Figures, unit: usize) -> Vec<Whole<'_>> {
    let mut parts: HashMap<(&str, &str), Vec<&Figure>> = HashMap::new();
    let mut shown = Vec::new();
    for figure in &figures.rows {
        let [Value::Text(logic), hidden, Value::Text(table), Value::Text(own), ..] =
            &figure.row[..]
        else {
            continue;
        };
        parts.entry((logic, own)).or_default().push(figure);
        if figure.unit == unit && *hidden == Value::Int(0) {
            shown.push((logic.as_str(), table.as_str(), own.as_str()));
        }
    }
    let of = |logic, own| parts.get(&(logic, own)).cloned().unwrap_or_default();
    shown
        .into_iter()
        .map(|(logic, table, own)| Whole { table, own, parts: of(logic, own) })
        .collect()
}

/// The figure of this place, behind what says whose it is; a fraction of a second is nobody's.
fn number(figure: &Figure, place: usize) -> Option<i128> {
    match figure.row.get(place + 4) {
        Some(Value::Text(text)) => text.split('.').next()?.parse().ok(),
        _ => None,
    }
}
