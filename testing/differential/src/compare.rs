//! When two answers are the same.

use std::collections::BTreeSet;

use crate::render;
use crate::schema::Server;
use crate::tree::{Body, By, Expr, Query, Select};
use crate::wire::{Cell, Column, Reply};

/// What a statement promises about its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Promise {
    pub(crate) order: Order,
    /// Which rows come is open where the order leaves it open.
    pub(crate) is_limited: bool,
    /// By column: floats that were added up in any order.
    pub(crate) loose: Vec<bool>,
    /// Groups, DISTINCT and the like show one of several values that compare as equal.
    pub(crate) folds: bool,
    /// Some of its groups are rolled up.
    pub(crate) rolls: bool,
}

/// What ORDER BY says of the rows' places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    None,
    /// These columns, by place, are in order; rows that agree in them stand anyhow.
    Keys(Vec<usize>),
    /// Every row has its place.
    Total,
}

impl Promise {
    /// Rows in any order.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn of(query: &Query) -> Self {
        let items = query.items();
        let groups = |select: &Select| {
            select.distinct
                || !select.group.is_empty()
                || select.items.iter().any(|item| shows_one_of_equals(&item.expr))
        };
        let in_set =
            matches!(&query.body, Body::Set { operator, .. } if !operator.ends_with("all"));
        Self {
            order: order(query),
            is_limited: query.limit.is_some() || query.offset.is_some(),
            loose: items.iter().map(|item| item.loose).collect(),
            folds: in_set || query.any_select(&mut { groups }),
            rolls: query.any_select(&mut |select| select.rollup),
        }
    }
}

/// `min`, `max` and whatever concatenates or ranks values.
fn shows_one_of_equals(expr: &Expr) -> bool {
    let text = render::expression(expr);
    ["min(", "max(", "_concat(", "_agg(", "distinct"].iter().any(|word| text.contains(word))
}

fn order(query: &Query) -> Order {
    let mut named: BTreeSet<String> = BTreeSet::new();
    let (mut keys, mut all_shown) = (Vec::new(), true);
    for key in &query.order {
        let item = match &key.by {
            By::Ordinal(id) | By::Name(id) => query.items().iter().position(|item| item.id == *id),
            By::Hidden(expr) => {
                named.insert(render::expression(expr));
                None
            }
        };
        match item {
            Some(at) => {
                named.insert(render::expression(&query.items()[at].expr));
                if all_shown {
                    keys.push(at);
                }
            }
            None => all_shown = false,
        }
    }
    if let Body::Select(select) = &query.body
        && is_total(select, &named)
    {
        return Order::Total;
    }
    if keys.is_empty() { Order::None } else { Order::Keys(keys) }
}

fn is_total(select: &Select, named: &BTreeSet<String>) -> bool {
    if select.distinct || select.rollup || named.is_empty() {
        return false;
    }
    if !select.group.is_empty() {
        return select.group.iter().all(|expr| named.contains(&render::expression(expr)));
    }
    !select.from.is_empty()
        && select.from.iter().all(|source| {
            let unique = &source.unique;
            !unique.is_empty()
                && unique.iter().all(|name| named.contains(&format!("{}.{name}", source.alias)))
        })
}

/// How Pando's answer stands to the server's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    /// Not answered, with the reason.
    Refused(String),
    /// What is different.
    Different(String),
}

/// `straight` is right by definition.
pub(crate) fn compare(
    server: Server,
    straight: &Reply,
    pando: &Reply,
    promise: &Promise,
) -> Verdict {
    let different = |what: String| Verdict::Different(what);
    match (straight, pando) {
        (Reply::Failed(right), Reply::Failed(ours)) => {
            let equal = if server.is_postgres() {
                let (right, ours) = (right.state.as_str(), ours.state.as_str());
                // Of two mistakes in one statement a bad constant is found before a bad name if it is written out, and after it if it is bound.
                let is_name = matches!(right, "42P01" | "42703");
                right.get(..2) == ours.get(..2) || is_name && ours.starts_with("22")
            } else {
                right.code == ours.code
            };
            if equal {
                Verdict::Same
            } else if ours.state == "0A000" {
                Verdict::Refused(ours.message.clone())
            } else {
                different(format!("error {ours} instead of {right}"))
            }
        }
        (_, Reply::Failed(ours)) if ours.state == "0A000" => Verdict::Refused(ours.message.clone()),
        (_, Reply::Failed(ours)) => different(format!("error {ours} instead of an answer")),
        (Reply::Failed(right), _) => different(format!("an answer instead of error {right}")),
        (Reply::Done(right), Reply::Done(ours)) if right == ours => Verdict::Same,
        (Reply::Done(right), Reply::Done(ours)) => {
            different(format!("`{ours}` instead of `{right}`"))
        }
        (
            Reply::Rows { columns: right, rows: right_rows, tag: right_tag },
            Reply::Rows { columns: ours, rows: our_rows, tag: our_tag },
        ) => {
            if !same_columns(server, right, ours, promise) {
                let (a, b) = first_difference(right, ours);
                return different(format!("column {b} instead of {a}"));
            }
            if right_tag != our_tag {
                return different(format!("tag `{our_tag}` instead of `{right_tag}`"));
            }
            let cells = Cells { promise, kinds: right.iter().map(|c| c.kind.as_str()).collect() };
            match cells.compare(right_rows, our_rows) {
                None => Verdict::Same,
                Some(what) => different(what),
            }
        }
        (Reply::Rows { .. }, Reply::Done(_)) => different("no rows instead of rows".to_owned()),
        (Reply::Done(_), Reply::Rows { .. }) => different("rows instead of none".to_owned()),
    }
}

/// Types that change on one server, too, as the plan goes, are not told apart.
fn same_columns(server: Server, right: &[Column], ours: &[Column], promise: &Promise) -> bool {
    let plain = |column: &Column| {
        let kind = &column.kind;
        // The greatest or least of an enum is an enum where it stood in a temporary table, and a text else.
        if promise.folds && (kind.starts_with("type 254 ") || kind.starts_with("type 253 ")) {
            return format!("text {}", kind[9..].replace("flags 256", "flags 0"));
        }
        // MySQL's groups of INT are BIGINT where a join has made another column of them, or a union.
        let is_whole = kind.starts_with("type 3 ") || kind.starts_with("type 8 ");
        if promise.rolls && server == Server::MySql && is_whole {
            return format!("whole {}", &kind[7..]);
        }
        kind.clone()
    };
    right.len() == ours.len()
        && right.iter().zip(ours).all(|(a, b)| a.name == b.name && plain(a) == plain(b))
}

fn first_difference(right: &[Column], ours: &[Column]) -> (String, String) {
    let at =
        right.iter().zip(ours).position(|(a, b)| a != b).unwrap_or(right.len().min(ours.len()));
    let told = |columns: &[Column]| {
        columns.get(at).map_or("nothing".to_owned(), |c| format!("`{}` {}", c.name, c.kind))
    };
    (told(right), told(ours))
}

struct Cells<'a> {
    promise: &'a Promise,
    kinds: Vec<&'a str>,
}

type Row = Vec<Cell>;

impl Cells<'_> {
    fn compare(&self, right: &[Row], ours: &[Row]) -> Option<String> {
        if right.len() != ours.len() {
            return Some(format!("{} rows instead of {}", ours.len(), right.len()));
        }
        match &self.promise.order {
            Order::Total => self.in_place(right, ours),
            Order::None if self.promise.is_limited => None,
            Order::None => self.as_bags(right, ours),
            Order::Keys(keys) => self.by_keys(keys, right, ours),
        }
    }

    fn in_place(&self, right: &[Row], ours: &[Row]) -> Option<String> {
        let at = right.iter().zip(ours).position(|(a, b)| !self.same_row(a, b))?;
        Some(format!("row {} is {} instead of {}", at + 1, shown(&ours[at]), shown(&right[at])))
    }

    fn as_bags(&self, right: &[Row], ours: &[Row]) -> Option<String> {
        let sorted = |rows: &[Row]| {
            let mut rows: Vec<Row> = rows.to_vec();
            rows.sort_by_cached_key(|row| self.sort_form(row));
            rows
        };
        let different = self.in_place(&sorted(right), &sorted(ours))?;
        let is_loose = self.promise.loose.contains(&true);
        (!is_loose || !self.pair_up(right, ours)).then_some(different)
    }

    /// True if each row has one of its own on the other side. Sorting does not find that where rows differ in loose values only.
    fn pair_up(&self, right: &[Row], ours: &[Row]) -> bool {
        let mut open: Vec<&Row> = ours.iter().collect();
        right.iter().all(|row| match open.iter().position(|other| self.same_row(row, other)) {
            Some(at) => {
                open.swap_remove(at);
                true
            }
            None => false,
        })
    }

    /// Loose values must not decide the places.
    fn sort_form(&self, row: &Row) -> Vec<Cell> {
        let mut form: Vec<Cell> = (0..row.len())
            .map(|at| if self.is_loose(at) { None } else { self.form(at, &row[at]) })
            .collect();
        form.extend(row.iter().cloned());
        form
    }

    fn by_keys(&self, keys: &[usize], right: &[Row], ours: &[Row]) -> Option<String> {
        let key = |row: &Row| -> Vec<Cell> {
            keys.iter().map(|at| fold(self.kind(*at), row.get(*at).unwrap_or(&None))).collect()
        };
        let (right_keys, our_keys): (Vec<_>, Vec<_>) =
            (right.iter().map(key).collect(), ours.iter().map(key).collect());
        if let Some(at) = right_keys.iter().zip(&our_keys).position(|(a, b)| a != b) {
            let (a, b) = (shown(&right[at]), shown(&ours[at]));
            return Some(format!("row {} has another order key: {b} instead of {a}", at + 1));
        }
        let mut start = 0;
        while start < right.len() {
            let end = (start..right.len()).find(|at| right_keys[*at] != right_keys[start]);
            let end = end.unwrap_or(right.len());
            let is_open = self.promise.is_limited && (start == 0 || end == right.len());
            if !is_open && let Some(what) = self.as_bags(&right[start..end], &ours[start..end]) {
                return Some(what);
            }
            start = end;
        }
        None
    }

    fn kind(&self, at: usize) -> &str {
        self.kinds.get(at).copied().unwrap_or("")
    }

    fn is_loose(&self, at: usize) -> bool {
        self.promise.loose.get(at).copied().unwrap_or(false)
    }

    fn form(&self, at: usize, cell: &Cell) -> Cell {
        if self.promise.folds { fold(self.kind(at), cell) } else { cell.clone() }
    }

    fn same_row(&self, right: &Row, ours: &Row) -> bool {
        right.len() == ours.len()
            && right.iter().zip(ours).enumerate().all(|(at, (a, b))| {
                a == b
                    || self.form(at, a) == self.form(at, b)
                    || (self.is_loose(at) && nearly(self.kind(at), a.as_deref(), b.as_deref()))
            })
    }
}

/// Floats, as text or in binary of either byte order.
fn nearly(kind: &str, right: Option<&[u8]>, ours: Option<&[u8]>) -> bool {
    let (Some(right), Some(ours)) = (right, ours) else { return false };
    // PostgreSQL adds up `real` in `real`: -7.5 + 3 + 3 + 1.5 + 1e-05 keeps one digit of the last, or all, by their order.
    let (share, least) = if kind.starts_with("oid 700 ") { (1e-5, 1.0) } else { (1e-9, 1e-6) };
    let close = |a: f64, b: f64| (a - b).abs() <= share * a.abs().max(b.abs()).max(least);
    let parsed = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<f64>().ok();
    if let (Some(a), Some(b)) = (parsed(right), parsed(ours)) {
        return close(a, b);
    }
    if let (Ok(a), Ok(b)) = (<[u8; 4]>::try_from(right), <[u8; 4]>::try_from(ours)) {
        return close(f32::from_be_bytes(a).into(), f32::from_be_bytes(b).into());
    }
    let (Ok(a), Ok(b)) = (<[u8; 8]>::try_from(right), <[u8; 8]>::try_from(ours)) else {
        return false;
    };
    close(f64::from_be_bytes(a), f64::from_be_bytes(b))
        || close(f64::from_le_bytes(a), f64::from_le_bytes(b))
}

/// One form for what a server may call equal: case, accents and spaces of MySQL's text, zeros behind the point of PostgreSQL's numeric.
fn fold(kind: &str, cell: &Cell) -> Cell {
    let bytes = cell.as_ref()?;
    if kind.starts_with("oid 1700 ") && kind.contains("format 1") && bytes.len() >= 8 {
        // The display scale stands in the last two bytes of the head.
        return Some([&bytes[..6], &[0, 0], &bytes[8..]].concat());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return cell.clone() };
    if kind.starts_with("oid 1700 ") && text.contains('.') {
        return Some(text.trim_end_matches('0').trim_end_matches('.').as_bytes().to_vec());
    }
    if !kind.starts_with("type ") || kind.contains("charset 63 ") {
        return Some(if text == "-0" { b"0".to_vec() } else { bytes.clone() });
    }
    let folded: String = text
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            'é' | 'è' => 'e',
            'ü' => 'u',
            other => other,
        })
        .filter(|c| *c != ' ')
        .collect();
    Some(folded.into_bytes())
}

/// A row for people.
pub(crate) fn shown(row: &[Cell]) -> String {
    let cells: Vec<String> = row
        .iter()
        .map(|cell| match cell {
            None => "NULL".to_owned(),
            Some(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains(['\0', '\u{1}']) => format!("'{text}'"),
                _ => format!("{bytes:02x?}"),
            },
        })
        .collect();
    format!("({})", cells.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[&[&str]]) -> Reply {
        let columns = values.first().map_or(0, |row| row.len());
        let column = |at| Column { name: format!("c{at}"), kind: "oid 23".to_owned() };
        let cell = |text: &&str| (*text != "null").then(|| text.as_bytes().to_vec());
        Reply::Rows {
            columns: (0..columns).map(column).collect(),
            rows: values.iter().map(|row| row.iter().map(cell).collect()).collect(),
            tag: String::new(),
        }
    }

    fn check(promise: &Promise, right: &[&[&str]], ours: &[&[&str]]) -> bool {
        compare(Server::Postgres, &rows(right), &rows(ours), promise) == Verdict::Same
    }

    #[test]
    fn only_the_promised_order_counts() {
        let keys =
            |keys: &[usize]| Promise { order: Order::Keys(keys.to_vec()), ..Promise::none() };
        let (a, b) = ([&["1", "x"][..], &["1", "y"]], [&["1", "y"][..], &["1", "x"]]);
        assert!(check(&Promise::none(), &a, &b));
        assert!(check(&keys(&[0]), &a, &b));
        assert!(!check(&keys(&[0, 1]), &a, &b));
        assert!(!check(&Promise { order: Order::Total, ..Promise::none() }, &a, &b));
        assert!(!check(&Promise::none(), &a, &[&["1", "x"], &["1", "x"]]));
    }

    #[test]
    fn a_limit_leaves_only_the_outer_ties_open() {
        let promise = Promise { order: Order::Keys(vec![0]), is_limited: true, ..Promise::none() };
        let right = [&["1", "a"][..], &["2", "b"], &["3", "c"]];
        assert!(check(&promise, &right, &[&["1", "z"], &["2", "b"], &["3", "z"]]));
        assert!(!check(&promise, &right, &[&["1", "a"], &["2", "z"], &["3", "c"]]));
        assert!(!check(&promise, &right, &[&["1", "a"], &["2", "b"], &["4", "c"]]));
    }

    #[test]
    fn added_floats_may_differ_in_their_last_places_only_where_said() {
        let loose = Promise { loose: vec![true], ..Promise::none() };
        assert!(check(&loose, &[&["0.3"]], &[&["0.30000000000000004"]]));
        assert!(!check(&Promise::none(), &[&["0.3"]], &[&["0.30000000000000004"]]));
        assert!(!check(&loose, &[&["0.3"]], &[&["0.31"]]));
        assert!(check(&loose, &[&["3.0000000001e10"], &["370"]], &[&["3e10"], &["370"]]));
        assert!(!check(&loose, &[&["3e10"], &["370"]], &[&["3e10"], &["3e10"]]));
    }
}
