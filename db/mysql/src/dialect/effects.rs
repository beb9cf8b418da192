//! Which names may have effects on connections: stored functions, tables with triggers, and views.

mod body;

use std::sync::LazyLock;

use pando_kernel::effects::{Effectful, Effects, Graph, Leaves, Place, Space};
use pando_kernel::value::Value;

use self::body::Owner;
use super::MySql;

/// The vendors' functions that change nothing of a session, of all versions of both; also types and words that look
/// like calls. What is missing is taken for one that does.
/// <https://dev.mysql.com/doc/refman/8.0/en/built-in-function-reference.html>, <https://mariadb.com/kb/en/function-and-operator-reference/>
static HARMLESS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("tables/harmless.txt").lines().collect());

/// Functions of the vendors' that keep something on their session. One of users' under the same name is called only
/// where its schema is said.
const KEEPING: [&str; 14] = [
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "master_pos_wait",
    "release_all_locks",
    "release_lock",
    "service_get_read_locks",
    "service_get_write_locks",
    "service_release_locks",
    "source_pos_wait",
    "sys_eval",
    "sys_exec",
    "sys_set",
];

/// Rows of a kind, a name, a text and the `sql_mode` by which it is read; no text where it is longer than 16 KiB, in a
/// character set that may have no form in ours, or not shown to this user. Defaults, generated columns and checks call
/// no stored functions and set no variables on these servers, and cascading keys fire no triggers.
/// <https://dev.mysql.com/doc/refman/8.0/en/create-table-generated-columns.html>
const QUERY: &str = "\
SELECT ROUTINE_TYPE, ROUTINE_NAME, IF(LENGTH(ROUTINE_DEFINITION) <= 16384 \
AND CHARACTER_SET_CLIENT IN ('utf8', 'utf8mb3', 'utf8mb4', 'latin1', 'ascii'), ROUTINE_DEFINITION, NULL), SQL_MODE \
FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN ('sys', 'mysql') \
UNION ALL SELECT 'TRIGGER', EVENT_OBJECT_TABLE, IF(LENGTH(ACTION_STATEMENT) <= 16384 \
AND CHARACTER_SET_CLIENT IN ('utf8', 'utf8mb3', 'utf8mb4', 'latin1', 'ascii'), ACTION_STATEMENT, NULL), SQL_MODE \
FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA <> 'sys' \
UNION ALL SELECT 'VIEW', TABLE_NAME, IF(LENGTH(VIEW_DEFINITION) <= 16384, VIEW_DEFINITION, NULL), '' \
FROM information_schema.VIEWS WHERE TABLE_SCHEMA NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')";

/// So many bytes of texts are judged.
const MOST: usize = 512 << 10;

/// What a row is about.
fn owned(graph: &mut Graph, kind: &str, name: &str) -> (Place, Option<Owner>) {
    match kind {
        "FUNCTION" => (graph.at(Space::Call, name), Some(Owner::Function)),
        "TRIGGER" => (graph.at(Space::Written, name), Some(Owner::Trigger)),
        "VIEW" => (graph.at(Space::Name, name), Some(Owner::View)),
        // Procedures, packages.
        _ => (graph.at(Space::Call, name), None),
    }
}

impl Effects for MySql {
    fn query(&self) -> &'static str {
        QUERY
    }

    fn read(&self, rows: &[Vec<Value>]) -> Effectful {
        let (mut graph, mut judged, mut reads_key) = (Graph::default(), 0, false);
        // A reset forgets what is prepared as well, so that there is no lesser one. Functions and triggers define
        // nothing: a definition would commit.
        let any = graph.at(Space::Any, "");
        graph.leaves(any, Leaves::Anything);
        for row in rows {
            let said = |at: usize| match row.get(at) {
                Some(Value::Text(text)) => Some(text.as_str()),
                _ => None,
            };
            let [Some(kind), Some(name)] = [said(0), said(1)] else {
                let all = graph.at(Space::All, "");
                graph.leaves(all, Leaves::Definitions);
                continue;
            };
            let name = name.to_lowercase();
            let (place, owner) = owned(&mut graph, kind, &name);
            let text = said(2);
            judged += text.map_or(0, str::len);
            reads_key |= text.is_none_or(|text| KEYS.iter().any(|key| says(text, key)));
            let names = owner.zip(text).filter(|_| judged <= MOST);
            let names = names
                .and_then(|(owner, text)| body::judged(owner, said(3).unwrap_or("ORACLE"), text));
            match names.filter(|_| !KEEPING.contains(&&*name)) {
                Some(names) => graph.says(place, names),
                None => graph.leaves(place, Leaves::Anything),
            }
        }
        let mut effectful = graph.solved(self);
        // Its views call functions of its own.
        effectful.names.insert("sys".to_owned(), Leaves::Anything);
        effectful.reads_key = reads_key;
        effectful
    }

    fn key(&self, last: u64) -> Option<String> {
        Some(format!("SET last_insert_id = {last}"))
    }

    fn is_harmless(&self, function: &str) -> bool {
        HARMLESS.binary_search(&function).is_ok()
    }
}

/// Names by which a text asks for the session's last key.
const KEYS: [&str; 2] = ["last_insert_id", "identity"];

/// Whether a text has a word in it, in whatever case.
fn says(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes().windows(word.len());
    bytes.into_iter().any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use pando_kernel::effects::Access;

    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_no_locks() {
        assert!(HARMLESS.is_sorted());
        assert!(["get_lock", "release_lock", "sys_exec"].iter().all(|one| !MySql.is_harmless(one)));
        assert!(["lower", "now", "count", "uuid"].iter().all(|one| MySql.is_harmless(one)));
    }

    #[test]
    fn triggers_count_with_all_that_they_name() {
        let text = |text: &str| Value::Text(text.to_owned());
        let row = |kind: &str, name: &str, body: &str| {
            vec![text(kind), text(name), text(body), text("STRICT_TRANS_TABLES")]
        };
        let mut rows = vec![
            row("TRIGGER", "stamped", "set new.at = now()"),
            row("TRIGGER", "noted", "insert into Log values (new.a)"),
            row("TRIGGER", "log", "set new.b = twice(new.a)"),
            row("FUNCTION", "Twice", "return a * 2"),
            row("TRIGGER", "counted", "begin insert into n values (1); set @a = 1; end"),
            row("TRIGGER", "deep", "update counted set a = 1"),
            row("VIEW", "seen", "select `t`.`a` AS `a` from `t`"),
            row("FUNCTION", "get_lock", "return 1"),
            row("PROCEDURE", "p", "select 1"),
        ];
        let leaves = |rows: &[Vec<Value>], names: &[&str]| {
            let found = MySql.read(rows);
            let of = |name: &&str| match name.strip_suffix("()") {
                Some(name) => found.calls.get(name).copied().unwrap_or(found.unknown),
                None => found.of_name(name, Access::Writes),
            };
            names.iter().map(of).collect::<Vec<_>>()
        };
        let harmless = ["stamped", "noted", "log", "twice()", "seen", "t"];
        assert_eq!(leaves(&rows, &harmless), [Leaves::Nothing; 6]);
        let others = ["counted", "deep", "get_lock()", "p()", "stranger()", "sys"];
        assert_eq!(leaves(&rows, &others), [Leaves::Anything; 6]);
        rows.push(row("TRIGGER", "log", "set new.c = last_insert_id()"));
        let others = ["noted", "log"];
        assert_eq!(leaves(&rows, &others), [Leaves::Anything; 2]);
        assert_eq!(leaves(&rows, &["stamped"]), [Leaves::Nothing]);
    }

    #[test]
    fn who_reads_the_last_key_is_told_the_clients() {
        let text = |text: &str| Value::Text(text.to_owned());
        let found = |body: Value| {
            let row = vec![text("FUNCTION"), text("f"), body, text("")];
            MySql.read(&[row]).reads_key
        };
        assert!(found(text("return Last_Insert_ID()")) && found(text("return @@identity")));
        assert!(found(Value::Null) && !found(text("return 1")));
        assert_eq!(MySql.key(7).as_deref(), Some("SET last_insert_id = 7"));
    }
}
