//! SQL that turns a unit's names and numbers into those of the logical database, and back.

use std::collections::HashSet;
use std::fmt::Write as _;

use pando_kernel::Value;
use pando_kernel::dialect::Language;
use pando_kernel::oids::Others;
use pando_kernel::presentation::View;

use crate::dialect::Postgres;
use crate::dialect::views::OWN_QUERY;
use crate::types;

const FIRST_USER: u64 = types::FIRST_OWN as u64;

/// The schema of the tables that the rules speak of; dumps leave the search path empty.
const HOME: &str = "coalesce(pg_catalog.current_schema(), 'public')";

/// Numbers of objects of unit n are shown so many times n higher, so that no two units show the same number.
pub(super) const STEP: u64 = 1 << 26;

/// How names end that a server makes for what belongs to a table.
const MADE: &[&str] = &["_pkey", "_key", "_idx", "_seq", "_excl"];

/// Whose number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Clients are shown it.
    Shown,
    /// The unit's own.
    Own,
}

/// The names of one unit.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) view: &'a View<'a>,
    /// (actual, logic, hidden) of every table that is not simply shown.
    entries: Vec<(String, String, bool)>,
    /// The same as a row source of three columns.
    values: String,
    /// The same as a jsonb object of actual names, where the server finds one among thousands without looking at the others.
    object: String,
}

/// What stands before and behind an expression.
pub(super) struct Around {
    pub(super) before: String,
    pub(super) behind: String,
}

/// SQL for a name that a server has made for a part of a table, where nothing is called as clients say.
pub(super) fn either(shown: &str, made: &str) -> String {
    let (shown, made) = (literal(shown), literal(made));
    format!(
        "(SELECT CASE WHEN pg_catalog.to_regclass({shown}) IS NULL THEN {made} ELSE {shown} END)"
    )
}

impl<'a> Names<'a> {
    pub(super) fn new(view: &'a View<'a>) -> Self {
        let mut entries: Vec<(String, String, bool)> = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        let mut add = |actual: &str, logic: &str, hidden| {
            if !known.contains(actual) {
                known.insert(actual.to_owned());
                entries.push((actual.to_owned(), logic.to_owned(), hidden));
            }
        };
        for shown in view.tables {
            add(&shown.actual, &shown.logic, shown.hidden);
            // A name configured in mixed case and never quoted in a statement is a lower-case table.
            add(&shown.actual.to_lowercase(), &shown.logic.to_lowercase(), shown.hidden);
        }
        let (mut values, mut object) = (String::from("(VALUES "), String::from("{"));
        for (i, (actual, logic, hidden)) in entries.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(object, "{comma}{}: [{}, {hidden}]", json(actual), json(logic));
            let (actual, logic) = (literal(actual), literal(logic));
            let _ = write!(values, "{comma}({actual}::text, {logic}::text, {hidden})");
        }
        values.push(')');
        object.push('}');
        let object = format!("{}::pg_catalog.jsonb", literal(&object));
        Self { view, entries, values, object }
    }

    /// Whether every table is shown under its own name.
    pub(super) fn are_plain(&self) -> bool {
        self.entries.is_empty()
    }

    /// The actual table that stands for a logic one here.
    pub(super) fn actual(&self, logic: &str) -> Option<&str> {
        let shown = self.entries.iter().filter(|(.., hidden)| !hidden);
        shown.into_iter().find(|(_, known, _)| known == logic).map(|(actual, ..)| actual.as_str())
    }

    /// Whether a name may be that of an index of a table with parts: it is none of a table, none that a server has made,
    /// and no number.
    pub(super) fn may_be_index(&self, name: &str) -> bool {
        let is_known = |entry: &(String, String, bool)| entry.0 == name || entry.1 == name;
        let tables = self.view.catalog.tables();
        !self.are_plain()
            && !tables.is_some_and(|tables| tables.contains_key(name))
            && !self.entries.iter().any(is_known)
            && self.made(name).is_none()
            && !name.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Whether a shown table is made of actual ones under other names.
    pub(super) fn has_parts(&self, logic: &str) -> bool {
        self.entries.iter().any(|(actual, known, _)| known == logic && actual != logic)
    }

    /// `t_0_id_seq` for `t_id_seq`, where `t_0` is the part of `t` that is shown: the names that servers make begin
    /// with the table's. <https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-SERIAL>
    pub(super) fn made(&self, shown: &str) -> Option<String> {
        let kind = shown.trim_end_matches(|digit: char| digit.is_ascii_digit());
        if !MADE.iter().any(|end| kind.ends_with(end)) {
            return None;
        }
        let mut cuts = shown.match_indices('_').map(|(at, _)| shown.split_at(at)).rev();
        let (table, rest) = cuts.find(|(table, _)| self.has_parts(table))?;
        Some(format!("{}{rest}", self.actual(table)?))
    }

    /// SQL for the name of an index that clients call so, where a part that is shown has one: its name stands in front of
    /// the part's. Other names stay. The `schema` is in front of it, with its dot, or nothing.
    pub(super) fn index(&self, shown: &str, schema: &str) -> String {
        let (whole, name) =
            (literal(&format!("{schema}{}", Postgres.quote(shown))), literal(shown));
        format!(
            "(SELECT coalesce((SELECT {} || pg_catalog.quote_ident(c.relname) FROM {} v(a, l, h) \
             JOIN pg_catalog.pg_class t ON t.relname = v.a JOIN pg_catalog.pg_index i ON i.indrelid = t.oid \
             JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE NOT v.h AND v.a <> v.l \
             AND c.relname = {name} || '_' || v.a AND pg_catalog.to_regclass({whole}) IS NULL LIMIT 1), {whole}))",
            literal(schema),
            self.values
        )
    }

    /// A row source `(oid, a, l, h)` of the unit's tables that are not simply shown, their indexes, sequences and overflow tables.
    pub(super) fn owned(&self) -> String {
        format!(
            "(SELECT r.oid, v.a, v.l, v.h FROM {} v(a, l, h) JOIN pg_catalog.pg_class c ON c.relname = v.a AND c.relnamespace = \
             (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = {HOME}) \
             CROSS JOIN LATERAL (SELECT c.oid UNION SELECT c.reltoastrelid WHERE c.reltoastrelid <> 0 \
             UNION SELECT i.indexrelid FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid \
             UNION SELECT d.objid FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass \
             AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = c.oid AND d.refobjsubid > 0 \
             AND d.deptype IN ('a', 'i')) r(oid))",
            self.values
        )
    }

    /// A row source `(a, l, h)` under an alias, joined by a table's name. Servers look names up by hash then, however many there are.
    pub(super) fn table_join(&self, column: &str, schema: &str, alias: &str) -> String {
        format!(
            " LEFT JOIN {} {alias}(a, l, h) ON {alias}.a = {column}::pg_catalog.text AND {schema}::pg_catalog.text = \
             {HOME}::pg_catalog.text",
            self.values
        )
    }

    /// The row `(a, l, h)` of the table whose name an index, constraint or sequence has at its end or start.
    pub(super) fn part_row(&self, column: &str) -> String {
        let text = format!("{column}::pg_catalog.text");
        format!("(SELECT p.a, p.l, p.h {})", self.longest(&text, ""))
    }

    /// What stands around an expression whose text names a table, so that it names the unit's own: the parts are taken off it as the server does,
    /// and the logical database, which the unit does not know, is left out. A number stays.
    /// `label` is the name of the result's column.
    pub(super) fn around_name(&self, label: &str) -> Around {
        let values =
            if self.are_plain() { "(SELECT NULL::text, NULL::text, true)" } else { &self.values };
        // As `made`.
        let made = format!(
            "CASE WHEN u.x ~ '_(pkey|key|idx|seq|excl)[0-9]*$' AND NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.relname = u.x) \
             THEN (SELECT w.a || pg_catalog.substr(u.x, pg_catalog.length(w.l) + 1) FROM {values} w(a, l, h) WHERE NOT w.h AND w.a <> w.l \
             AND pg_catalog.left(u.x, pg_catalog.length(w.l) + 1) = w.l || '_' ORDER BY pg_catalog.length(w.l) DESC LIMIT 1) END"
        );
        let before = format!(
            "(SELECT CASE WHEN n.n ~ '^[0-9]*$' THEN n.n ELSE (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(\
             CASE WHEN u.o = c.c THEN coalesce(v.l, {made}, u.x) ELSE u.x END), '.' ORDER BY u.o) \
             FROM (SELECT pg_catalog.parse_ident(n.n) AS i) i CROSS JOIN LATERAL (SELECT pg_catalog.array_length(i.i, 1) AS c) c \
             CROSS JOIN LATERAL pg_catalog.unnest(i.i) WITH ORDINALITY u(x, o) "
        );
        let join = format!("LEFT JOIN {values} v(l, x, h) ON v.x = u.x AND u.o = c.c AND NOT v.h ");
        let label = Postgres.quote(label);
        let behind = format!("WHERE c.c < 3 OR u.o > c.c - 2) END AS {label} FROM (SELECT (");
        let before = format!("{before}{join}{behind}");
        Around { before, behind: ")::pg_catalog.text AS n) n)".to_owned() }
    }

    /// What stands around an expression so that tables in its text get their logic names, in quotes where the server
    /// would write them so. `label` is the name of the result's column.
    pub(super) fn around_definition(&self, label: &str) -> Around {
        let before = format!(
            "(SELECT pg_catalog.string_agg(coalesce((SELECT CASE WHEN n.n = t.n THEN t.w ELSE pg_catalog.quote_ident(n.n) END \
             FROM (SELECT {} {}) n(n)), t.w), '' ORDER BY t.o) AS {} FROM (SELECT r.w[1] AS w, r.o, \
             CASE WHEN pg_catalog.left(r.w[1], 1) = '\"' THEN pg_catalog.replace(pg_catalog.btrim(r.w[1], '\"'), '\"\"', '\"') \
             ELSE r.w[1] END AS n FROM pg_catalog.regexp_matches(pg_catalog.regexp_replace((",
            renamed("t.n", "p"),
            self.longest("t.n", "SELECT t.n UNION ALL "),
            Postgres.quote(label),
        );
        // A literal is a value, whatever stands in it, unless it is a name: `nextval('t_0_id_seq'::regclass)`.
        let words = "(?!''::regclass)''(?:[^'']|'''')*''(?!::regclass)|\"(?:[^\"]|\"\")*\"|[[:alnum:]_$]+|[^[:alnum:]_$''\"]+|''|\"";
        // A materialized view over sharded tables is told by its own query.
        let own = format!(
            "^[[:space:]]*SELECT (?:(?!FROM [(] ).)*FROM [(] (.*)[)] {OWN_QUERY}[[:space:]]+WHERE false[[:space:]]+UNION ALL[[:space:]].*$"
        );
        let behind = format!(
            ")::pg_catalog.text, '{own}', ' ' || pg_catalog.chr(92) || '1;'), '{words}', 'g') WITH ORDINALITY r(w, o)) t)"
        );
        Around { before, behind }
    }

    /// From the row `p(a, l, h)` of the longest table name that is a part of a text, or one of the `others`. Names that the server makes for what
    /// belongs to a table begin with the table's name; those Pando makes end with it.
    fn longest(&self, text: &str, others: &str) -> String {
        format!(
            "FROM (SELECT k.a, k.v ->> 0, (k.v ->> 1)::pg_catalog.bool FROM (SELECT c.a, {} -> c.a FROM \
             ({others}SELECT pg_catalog.substr({text}, s.p + 1) FROM pg_catalog.generate_series(1, pg_catalog.length({text})) s(p) \
             WHERE pg_catalog.substr({text}, s.p, 1) = '_' \
             UNION ALL SELECT pg_catalog.left({text}, s.p - 1) FROM pg_catalog.generate_series(1, pg_catalog.length({text})) s(p) \
             WHERE pg_catalog.substr({text}, s.p, 1) = '_' AND {text} ~ '_(pkey|key|fkey|check|idx|seq|excl|not_null)[0-9]*$') c(a)) k(a, v) \
             WHERE k.v IS NOT NULL ORDER BY pg_catalog.length(k.a) DESC LIMIT 1) p(a, l, h)",
            self.object
        )
    }

    /// How much higher this unit's numbers are shown.
    pub(super) fn shift(&self) -> u64 {
        self.view.number as u64 * STEP
    }

    /// The number as shown.
    pub(super) fn shown_number(&self, column: &str) -> String {
        match self.shift() {
            0 => column.to_owned(),
            shift => format!(
                "(SELECT CASE WHEN s.n >= {FIRST_USER} THEN (s.n + {shift}) % 4294967296 ELSE s.n END \
                 FROM (SELECT ({column})::pg_catalog.oid::pg_catalog.int8 AS n) s)::pg_catalog.oid"
            ),
        }
    }

    /// The number of a type as shown; `None` where that is its own.
    pub(super) fn shown_type(&self, column: &str) -> Option<String> {
        let Around { before, behind } = self.types(Number::Shown, "n")?;
        Some(format!("{before}{column}{behind}"))
    }

    /// What stands around an expression that gives a type's number, so that it gives the other one; `None` where both are the same. `label` is the name of the
    /// result's column.
    pub(super) fn types(&self, wanted: Number, label: &str) -> Option<Around> {
        let numbers = self.view.numbers?;
        let mut known: Vec<(u32, u32)> = numbers.types().collect();
        known.sort_unstable();
        let mut cases = String::new();
        for (own, shown) in known {
            let _ = match wanted {
                Number::Shown => write!(cases, " WHEN u.n = {own} THEN {shown}"),
                Number::Own => write!(cases, " WHEN u.n = {shown} THEN {own}"),
            };
        }
        let Others { first, higher } = numbers.others();
        let (first, higher) = (u64::from(first), u64::from(higher));
        let other = match wanted {
            Number::Shown => format!("WHEN u.n >= {first} THEN (u.n + {higher}) % 4294967296"),
            Number::Own => format!("WHEN u.n >= {} THEN u.n - {higher}", first + higher),
        };
        Some(Around {
            before: format!(
                "(SELECT CASE{cases} {other} ELSE u.n END AS {} FROM (SELECT (",
                Postgres.quote(label)
            ),
            behind: ")::pg_catalog.oid::pg_catalog.int8 AS n) u)::pg_catalog.oid".to_owned(),
        })
    }

    /// The condition that an object does not come with the server.
    pub(super) fn is_users(column: &str) -> String {
        format!("{column}::pg_catalog.int8 >= {FIRST_USER}")
    }

    /// The unit's own number for one that is shown.
    pub(super) fn own_number(&self, shown: u64) -> u64 {
        shown.checked_sub(self.shift()).filter(|own| *own >= FIRST_USER).unwrap_or(shown)
    }

    /// What stands around an expression that gives a shown number, so that it gives the unit's own.
    pub(super) fn around_number(&self) -> Around {
        let shift = self.shift();
        let before = format!(
            "(SELECT CASE WHEN u.n >= {} THEN u.n - {shift} ELSE u.n END FROM (SELECT (",
            shift + FIRST_USER
        );
        let behind = ")::pg_catalog.oid::pg_catalog.int8 AS n) u)::pg_catalog.oid".to_owned();
        Around { before, behind }
    }
}

/// A relation's number as shown by the unit of this place.
pub(super) fn shown_number(own: u32, unit: usize) -> u32 {
    if u64::from(own) < FIRST_USER {
        return own;
    }
    let shown = (u64::from(own) + unit as u64 * STEP) % (1 << 32);
    u32::try_from(shown).unwrap_or(own)
}

pub(super) fn literal(text: &str) -> String {
    Postgres.literal(&Value::Text(text.to_owned()))
}

/// A JSON text.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name with the actual table's name in it, with the logic one's instead. `row` has `a` and `l`; where it is NULL, the name stays.
pub(super) fn renamed(column: &str, row: &str) -> String {
    format!(
        "CASE WHEN {row}.a IS NULL THEN {column}::pg_catalog.text WHEN {column}::pg_catalog.text = {row}.a THEN {row}.l \
         WHEN {column}::pg_catalog.text = '_' || {row}.a THEN '_' || {row}.l \
         WHEN pg_catalog.right({column}::pg_catalog.text, pg_catalog.length({row}.a) + 1) = '_' || {row}.a \
         THEN pg_catalog.left({column}::pg_catalog.text, -pg_catalog.length({row}.a) - 1) \
         WHEN pg_catalog.left({column}::pg_catalog.text, pg_catalog.length({row}.a) + 1) = {row}.a || '_' \
         THEN {row}.l || pg_catalog.substr({column}::pg_catalog.text, pg_catalog.length({row}.a) + 1) \
         ELSE {column}::pg_catalog.text END"
    )
}
