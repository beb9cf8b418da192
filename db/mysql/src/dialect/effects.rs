//! Which names may have effects on connections: stored functions, tables with triggers, and views.

use std::sync::LazyLock;

use pando_kernel::effects::{Effectful, Effects};
use pando_kernel::value::Value;

use super::MySql;

/// The vendors' functions that change nothing of a session, of all versions of both; also types and words that look like calls. What is missing is taken for one that does.
/// <https://dev.mysql.com/doc/refman/8.0/en/built-in-function-reference.html>, <https://mariadb.com/kb/en/function-and-operator-reference/>
static HARMLESS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("tables/harmless.txt").lines().collect());

/// Rows of a kind and a name. Defaults, generated columns and checks call no stored functions and set no variables on these servers, and cascading keys fire no triggers.
/// <https://dev.mysql.com/doc/refman/8.0/en/create-table-generated-columns.html>
const QUERY: &str = "\
SELECT 'call', ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN ('sys', 'mysql') \
UNION SELECT 'written', EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA <> 'sys' \
UNION SELECT 'name', TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')";

impl Effects for MySql {
    fn query(&self) -> &'static str {
        QUERY
    }

    fn read(&self, rows: &[Vec<Value>]) -> Effectful {
        // A reset forgets what is prepared as well.
        let mut effectful = Effectful { prepares: true, ..Effectful::default() };
        for row in rows {
            let [Value::Text(kind), Value::Text(name)] = &row[..] else {
                effectful.everything = true;
                continue;
            };
            let own = match kind.as_str() {
                "call" => &mut effectful.calls,
                "written" => &mut effectful.written,
                _ => &mut effectful.names,
            };
            own.insert(name.to_lowercase());
        }
        // Its views call functions of its own.
        effectful.names.insert("sys".to_owned());
        effectful
    }

    fn is_harmless(&self, function: &str) -> bool {
        HARMLESS.binary_search(&function).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_no_locks() {
        assert!(HARMLESS.is_sorted());
        assert!(["get_lock", "release_lock", "sys_exec"].iter().all(|one| !MySql.is_harmless(one)));
        assert!(["lower", "now", "count", "uuid"].iter().all(|one| MySql.is_harmless(one)));
    }
}
