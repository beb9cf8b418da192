//! What triggers run on PostgreSQL: functions of users, whose sources are read, and few of the vendor's.
//! <https://www.postgresql.org/docs/current/plpgsql-trigger.html>

mod body;
mod work;

use std::collections::{BTreeSet, HashMap, HashSet};

use pando_kernel::triggers::{Assigns, Beyond, Fires, TriggerTexts, Triggers, Use, Work};
use pando_kernel::value::Value;
use pando_sql::reading;

use self::work::{Said, Source};
use super::{Postgres, SYNTAX};

/// Rows of four texts. `routine`: the name, language and source of a function that users have made; that of C has the
/// file as its source. `trigger`: the function's name, the table's, and when it runs. Sources longer than 16 KiB are
/// left out, and what is beyond 512 KiB of them, the shortest first, and those that may have no form in UTF-8.
/// <https://www.postgresql.org/docs/current/catalog-pg-trigger.html>
const QUERY: &str = "\
WITH routine AS (
 SELECT p.proname::pg_catalog.text AS name, l.lanname::pg_catalog.text AS language, l.lanname OPERATOR(pg_catalog.=) 'sql' AND p.prosrc OPERATOR(pg_catalog.=) '' AS parsed,
  CASE WHEN l.lanname OPERATOR(pg_catalog.=) 'c' THEN p.probin ELSE p.prosrc END AS source, p.oid
 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
 WHERE p.oid OPERATOR(pg_catalog.>=) 16384
), measured AS (
 SELECT r.*, pg_catalog.octet_length(r.source) AS size,
  pg_catalog.sum(pg_catalog.octet_length(r.source)) OVER (ORDER BY pg_catalog.octet_length(r.source), r.oid) AS all_sizes FROM routine r
)
SELECT 'routine', name, CASE WHEN parsed THEN '' ELSE language END, CASE WHEN size OPERATOR(pg_catalog.<=) 16384
  AND all_sizes OPERATOR(pg_catalog.<=) 524288 AND (pg_catalog.getdatabaseencoding() IN ('UTF8', 'LATIN1')
  OR source OPERATOR(pg_catalog.!~) '[^[:ascii:]]') THEN source END FROM measured
UNION ALL SELECT 'trigger', p.proname::pg_catalog.text, c.relname::pg_catalog.text,
 CASE WHEN (t.tgtype OPERATOR(pg_catalog.&) 1::pg_catalog.int2) OPERATOR(pg_catalog.=) 0::pg_catalog.int2 THEN 'statement'
  WHEN (t.tgtype OPERATOR(pg_catalog.&) 2::pg_catalog.int2) OPERATOR(pg_catalog.=) 0::pg_catalog.int2 THEN 'after' ELSE 'before' END
 FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid
 JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid WHERE NOT t.tgisinternal";

/// What stands behind a name that is called: a routine of its own, and what it calls in turn.
#[derive(Debug, Default)]
struct Routines(HashMap<String, Said>);

impl Routines {
    /// What a routine does with all that it calls.
    fn resolved(&self, said: &Said) -> Work {
        let mut work = said.work.clone();
        let mut open: Vec<&String> = said.calls.iter().collect();
        let mut seen: HashSet<&String> = open.iter().copied().collect();
        while let Some(name) = open.pop() {
            let Some(called) = self.0.get(name) else {
                work.beyond.get_or_insert_with(|| Beyond::Calls(name.clone()));
                continue;
            };
            // What it assigns is its own variables'.
            work.add(&Work { assigns: Assigns::default(), ..called.work.clone() });
            open.extend(called.calls.iter().filter(|name| seen.insert(name)));
        }
        work
    }
}

/// The vendor's functions for triggers, and one of those that come with it.
/// <https://www.postgresql.org/docs/current/textsearch-features.html#TEXTSEARCH-UPDATE-TRIGGERS>,
/// <https://www.postgresql.org/docs/current/functions-trigger.html>
fn vendors() -> [(String, Work); 3] {
    let writes = |name: &str| {
        let names = BTreeSet::from([name.to_owned()]);
        (name.to_owned(), Work { assigns: Assigns::FirstArgument, names, ..Work::default() })
    };
    let skips = "suppress_redundant_updates_trigger".to_owned();
    [
        writes("tsvector_update_trigger"),
        writes("tsvector_update_trigger_column"),
        (skips, Work::default()),
    ]
}

impl TriggerTexts for Postgres {
    fn triggers_query(&self) -> &'static str {
        QUERY
    }

    fn read_triggers(&self, rows: &[Vec<Value>]) -> Triggers {
        let said = |row: &[Value], at: usize| match row.get(at) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let mut routines = Routines::default();
        let mut found = Triggers::default();
        for row in rows {
            let name = said(row, 1).unwrap_or_default().to_lowercase();
            let second = said(row, 2).unwrap_or_default();
            let third = said(row, 3);
            if matches!(row.first(), Some(Value::Text(kind)) if kind == "routine") {
                let source = Source { language: &second, text: third.as_deref() };
                let own = source.said();
                let all = routines.0.entry(name).or_default();
                all.work.add(&own.work);
                all.calls.extend(own.calls);
                continue;
            }
            let fires = match third.as_deref() {
                Some("statement") => Fires::Statement,
                Some("after") => Fires::AfterRow,
                _ => Fires::BeforeRow,
            };
            let one = Use { table: second.to_lowercase(), fires };
            found.uses.entry(name).or_default().push(one);
        }
        found.routines = vendors().into_iter().collect();
        for (name, said) in &routines.0 {
            found.routines.entry(name.clone()).or_default().add(&routines.resolved(said));
        }
        called(&routines, &mut found);
        found
    }

    fn defined(&self, text: &str, known: &Triggers) -> Work {
        let Ok(items) = reading(text, &SYNTAX, None) else { return work::unread() };
        let behind = |word: &'static str| {
            let pairs = items.windows(2).filter(move |pair| pair[0].is_word(word));
            pairs.map(|pair| &pair[1])
        };
        let language = behind("language").next().and_then(|item| match item.text() {
            Some(language) => Some(language.to_lowercase()),
            None => item.word(),
        });
        let source = behind("as").find_map(|item| item.text());
        // A body that is no string is a query, or several.
        let language = if source.is_some() { language.unwrap_or_default() } else { String::new() };
        with_calls(&Source { language: &language, text: source }.said(), known)
    }

    fn condition(&self, text: &str, known: &Triggers) -> Work {
        let said = Source { language: "sql", text: Some(&format!("SELECT {text}")) }.said();
        with_calls(&said, known)
    }
}

/// Whoever a trigger's function calls is run by the trigger, too.
fn called(routines: &Routines, found: &mut Triggers) {
    let direct: Vec<(String, Vec<Use>)> =
        found.uses.iter().map(|(name, uses)| (name.clone(), uses.clone())).collect();
    for (name, uses) in direct {
        let mut seen: HashSet<&String> = HashSet::new();
        let mut open: Vec<&String> =
            routines.0.get(&name).into_iter().flat_map(|own| &own.calls).collect();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            let own = found.uses.entry(name.clone()).or_default();
            own.extend(uses.iter().filter(|one| !own.contains(one)).cloned().collect::<Vec<_>>());
            open.extend(routines.0.get(name).into_iter().flat_map(|own| &own.calls));
        }
    }
}

/// What is known already of what it calls.
fn with_calls(said: &Said, known: &Triggers) -> Work {
    let mut work = said.work.clone();
    for name in &said.calls {
        match known.routines.get(name) {
            Some(called) => work.add(&Work { assigns: Assigns::default(), ..called.clone() }),
            None => {
                work.beyond.get_or_insert_with(|| Beyond::Calls(name.clone()));
            }
        }
    }
    work
}
