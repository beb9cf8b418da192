//! What a routine's source says that it does.

use std::collections::BTreeSet;

use pando_kernel::effects::{Leaves, Stands, said};
use pando_kernel::triggers::{Assigns, Beyond, Work};
use pando_sql::{Item, reading, tokenize};

use super::body::assigned;
use crate::dialect::SYNTAX;
use crate::dialect::effects::{Language, OWN, UNCALLED, is_harmless, judged};

/// A routine's text, and its language as the server calls it: empty where the server has parsed it already.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) language: &'a str,
    pub(super) text: Option<&'a str>,
}

/// What a source says by itself, and which routines of users it calls.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) work: Work,
    /// In lower case.
    pub(super) calls: BTreeSet<String>,
}

/// Statements and clauses that change tables, or read them otherwise than behind FROM.
const ON_TABLES: [&str; 12] = [
    "copy",
    "delete",
    "insert",
    "join",
    "lock",
    "merge",
    "table",
    "truncate",
    "update",
    "lateral",
    "tablesample",
    "only",
];

/// What a trigger's function is told of its table by that a part of a sharded one has of its own.
const OF_PART: [&str; 4] = ["tableoid", "tg_relid", "tg_relname", "tg_table_name"];

/// Functions with a FROM among their arguments.
/// <https://www.postgresql.org/docs/current/functions-string.html>
const WITH_FROM: [&str; 4] = ["extract", "overlay", "substring", "trim"];

/// What RAISE says that goes on afterwards.
const TELLING: [&str; 5] = ["debug", "info", "log", "notice", "warning"];

pub(super) fn unread() -> Work {
    Work { beyond: Some(Beyond::Unread), assigns: Assigns::Any, ..Work::default() }
}

impl Source<'_> {
    pub(super) fn said(&self) -> Said {
        let nothing_known = || Said { work: unread(), ..Said::default() };
        let Some(text) = self.text else { return nothing_known() };
        match self.language {
            "c" if text.ends_with("/moddatetime") => {
                let names = BTreeSet::from(["now".to_owned()]);
                let work = Work { assigns: Assigns::FirstArgument, names, ..Work::default() };
                Said { work, ..Said::default() }
            }
            "plpgsql" => read(Language::PlPgSql, text).unwrap_or_else(nothing_known),
            "sql" => read(Language::Sql, text).unwrap_or_else(nothing_known),
            _ => nothing_known(),
        }
    }
}

fn read(language: Language, text: &str) -> Option<Said> {
    let tokens = tokenize(text, &SYNTAX).ok()?;
    let items = reading(text, &SYNTAX, None).ok()?;
    if items.iter().any(|item| matches!(item, Item::Unreadable)) {
        return None;
    }
    let mut found = Said::default();
    for one in said(text, &tokens.list, UNCALLED)? {
        if one.stands == Stands::Called && !is_harmless(&one.name) {
            found.calls.insert(one.name.clone());
        }
        found.work.names.insert(one.name);
    }
    if judged(language, text).0 != Leaves::Nothing {
        let names = found.work.names;
        return Some(Said { work: Work { names, ..unread() }, ..Said::default() });
    }
    let work = &mut found.work;
    let on_one_unit = OWN.iter().find(|name| work.names.contains(**name));
    work.beyond = on_one_unit.map(|name| Beyond::Calls((*name).to_owned()));
    let asks = |item: &Item<'_>| {
        let name = item.name();
        name.is_some_and(|name| OF_PART.iter().any(|own| name.last().eq_ignore_ascii_case(own)))
    };
    if items.iter().any(asks) {
        work.beyond.get_or_insert(Beyond::PartName);
    }
    match tables(&items) {
        Some(tables) => work.reads = tables,
        // What changes tables is that before anything else.
        None => work.beyond = Some(Beyond::Tables),
    }
    let tells = |pair: &[Item<'_>]| {
        pair[0].is_word("raise") && pair[1].word().is_some_and(|word| TELLING.contains(&&*word))
    };
    work.tells = work.names.contains("pg_notify") || items.windows(2).any(tells);
    let is_plpgsql = language == Language::PlPgSql;
    work.picks = !work.reads.is_empty() && (!is_plpgsql || takes_first(&items));
    if is_plpgsql {
        work.assigns = assigned(&items);
    }
    Some(found)
}

/// Whether INTO takes the first of several rows. A function in SQL gives the first one of its last query.
/// <https://www.postgresql.org/docs/current/plpgsql-statements.html#PLPGSQL-STATEMENTS-SQL-ONEROW>
fn takes_first(items: &[Item<'_>]) -> bool {
    items.windows(2).any(|pair| pair[0].is_word("into") && !pair[1].is_word("strict"))
}

/// The tables behind each FROM, in lower case; `None` where there may be others.
fn tables(items: &[Item<'_>]) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    // For each parenthesis that is open whether a FROM in it is an argument's.
    let mut open = vec![false];
    for (at, item) in items.iter().enumerate() {
        if *item == Item::Mark("(") {
            let before = at.checked_sub(1).and_then(|at| items.get(at)).and_then(Item::word);
            open.push(before.is_some_and(|word| WITH_FROM.contains(&&*word)));
            continue;
        }
        if *item == Item::Mark(")") {
            open.pop();
            continue;
        }
        let Some(word) = item.word() else { continue };
        if ON_TABLES.contains(&&*word) {
            return None;
        }
        let is_clause = word == "from" && !is_comparison(items, at) && open.last() != Some(&true);
        if !is_clause {
            continue;
        }
        let next = items.get(at + 1)?;
        // Behind a parenthesis is a query of its own, which is met in turn.
        if *next != Item::Mark("(") {
            found.insert(next.name()?.last().to_lowercase());
        }
        if lists_more(items.get(at + 1..)?) {
            return None;
        }
    }
    Some(found)
}

/// `IS [NOT] DISTINCT FROM`.
fn is_comparison(items: &[Item<'_>], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).and_then(|at| items.get(at)).and_then(Item::word);
    word(1).as_deref() == Some("distinct") && matches!(word(2).as_deref(), Some("is" | "not"))
}

/// Whether a comma stands in what is left of a FROM.
fn lists_more(items: &[Item<'_>]) -> bool {
    const ENDS: [&str; 16] = [
        "where",
        "group",
        "order",
        "having",
        "limit",
        "offset",
        "fetch",
        "for",
        "union",
        "except",
        "intersect",
        "window",
        "into",
        "loop",
        "then",
        "returning",
    ];
    let mut depth = 0_usize;
    for item in items {
        let mark = if let Item::Mark(mark) = item { *mark } else { "" };
        let ends =
            matches!(mark, ")" | ";") || item.word().is_some_and(|word| ENDS.contains(&&*word));
        if depth == 0 && (ends || mark == ",") {
            return mark == ",";
        }
        match mark {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(language: &str, text: &str) -> Said {
        Source { language, text: Some(text) }.said()
    }

    #[test]
    fn what_hangs_on_more_than_the_row_is_told() {
        let check = |text: &str, expected: Option<Beyond>| {
            assert_eq!(said("plpgsql", text).work.beyond, expected, "{text}");
        };
        for text in [
            "begin new.updated_at = now(); return new; end",
            "BEGIN NEW.\"Slug\" := lower(NEW.title); RETURN NEW; END",
            "begin if new is distinct from old then new.n := old.n + 1; end if; return new; end",
            "begin if row(new.*) is not distinct from row(old.*) then return null; end if; return new; end",
            "begin new.y := extract(year from new.at); new.s := trim(both from new.s); return new; end",
            "begin raise exception 'no % of %', tg_op, new.id; end",
            "begin perform pg_notify('c', new.id::text); return null; end",
            "begin select now() into new.at; return new; end",
            "declare n int; begin n := length(new.a); if tg_op = 'UPDATE' then n := 0; end if; return new; end",
        ] {
            check(text, None);
        }
        for text in [
            "begin insert into log values (new.id); return new; end",
            "begin update t set n = 1; return new; end",
            "begin delete from t; return old; end",
            "begin new.n := (table t); return new; end",
            "begin select a into new.a from ref, other; return new; end",
            "begin select a into new.a from ref join other using (a); return new; end",
            "begin perform 1 from ref for update; return new; end",
            "begin select distinct from a, b; return new; end",
        ] {
            check(text, Some(Beyond::Tables));
        }
        for text in
            ["begin new.t := tg_table_name; return new; end", "begin new.o := old.tableoid; end"]
        {
            check(text, Some(Beyond::PartName));
        }
        for text in [
            "begin execute 'select 1'; return new; end",
            "begin call p(); return new; end",
            "begin new.a := (select count(*) from pg_class); return new; end",
            "begin notify c; return new; end",
        ] {
            check(text, Some(Beyond::Unread));
        }
        check(
            "begin new.id := nextval('s'); return new; end",
            Some(Beyond::Calls("nextval".to_owned())),
        );
        for language in ["plpython3u", "c", ""] {
            assert_eq!(said(language, "$libdir/refint").work.beyond, Some(Beyond::Unread));
        }
    }

    #[test]
    fn tables_that_are_read_and_routines_that_are_called_are_named() {
        let found = said(
            "plpgsql",
            "begin if not exists (select 1 from public.Ref r where r.a = slug(new.a)) then raise notice 'x'; end if; return new; end",
        );
        let set =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(found.work.beyond, None);
        assert_eq!(found.work.reads, set(&["ref"]));
        assert_eq!(found.calls, set(&["slug"]));
        assert!(found.work.tells);
        assert!(!said("plpgsql", "begin raise 'no'; end").work.tells);
        assert_eq!(said("sql", "select lower($1)").work.beyond, None);
    }

    #[test]
    fn who_takes_the_first_row_of_a_table_is_told() {
        for (language, text, picks) in [
            ("plpgsql", "begin select v into new.v from ref; return new; end", true),
            ("plpgsql", "begin select v into strict new.v from ref; return new; end", false),
            (
                "plpgsql",
                "begin select v into strict new.v from ref; select v from ref into new.w; return new; end",
                true,
            ),
            ("plpgsql", "begin select 1 into new.v; return new; end", false),
            ("plpgsql", "begin new.v := (select v from ref); return new; end", false),
            ("sql", "select v from ref where id = $1", true),
            ("sql", "select lower($1)", false),
        ] {
            assert_eq!(said(language, text).work.picks, picks, "{text}");
        }
    }

    #[test]
    fn columns_of_the_new_row_that_are_assigned_are_named() {
        let check = |text: &str, expected: Option<&[&str]>| {
            let expected = expected.map_or(Assigns::Any, |names| {
                Assigns::Fields(names.iter().map(|name| (*name).to_owned()).collect())
            });
            assert_eq!(said("plpgsql", text).work.assigns, expected, "{text}");
        };
        check("begin new.A := 1; NEW.\"B\" = 2; return new; end", Some(&["a", "b"]));
        check("begin if old.id = new.id then new.a[1] := 2; end if; return new; end", Some(&["a"]));
        check(
            "begin select 1, 2 into strict new.a[1], new.b; return coalesce(new, old); end",
            Some(&["a", "b"]),
        );
        check("begin raise notice '%', to_jsonb(new); return old; end", Some(&[]));
        check("<<l>> begin <<m>> new.a := 1; return; end", Some(&["a"]));
        for text in [
            "begin new := old; return new; end",
            "begin new = jsonb_populate_record(new, '{}'); return new; end",
            "begin select 1, 2 into new; return new; end",
            "begin select 1, 2 into n, new; return new; end",
            "declare n alias for new; begin n.id := 1; return n; end",
            "declare new t; begin return new; end",
            "declare r t; begin r := new; r.id := 1; return r; end",
            "begin for new.id in 1..2 loop null; end loop; return new; end",
            "begin get diagnostics new.id = row_count; return new; end",
            "begin return (1, 2); end",
        ] {
            check(text, None);
        }
    }
}
