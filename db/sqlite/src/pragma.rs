//! Pragmas: a client reads some, and sets none. They hold for a connection that others have next, for the file, or for the whole process
//! (`hard_heap_limit` of one database stops all of them).
//! <https://www.sqlite.org/pragma.html>

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Those that only tell, whatever they are given: of a table, an index. Sorted.
const TELLING: &[&str] = &[
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "page_count",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Those that tell where they are given nothing. Sorted.
const READABLE: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "cache_size",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "page_size",
    "query_only",
    "recursive_triggers",
    "schema_version",
    "synchronous",
    "user_version",
];

/// What a client's statement may do: no other file is reached, and no pragma is set. (An empty name is the scratch database of VACUUM.)
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over actions")]
pub(crate) fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { filename } if !filename.is_empty() => Authorization::Deny,
        AuthAction::Pragma { pragma_name, pragma_value } => may(pragma_name, pragma_value),
        _ => Authorization::Allow,
    }
}

fn may(name: &str, value: Option<&str>) -> Authorization {
    let name = name.to_ascii_lowercase();
    let is_in = |list: &[&str]| list.binary_search(&name.as_str()).is_ok();
    match is_in(TELLING) || (value.is_none() && is_in(READABLE)) {
        true => Authorization::Allow,
        false => Authorization::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_are_sorted() {
        assert!(TELLING.is_sorted() && READABLE.is_sorted());
    }

    #[test]
    fn what_only_tells_is_let_through() {
        for (name, value, is_let) in [
            ("table_info", Some("t"), true),
            ("Journal_Mode", None, true),
            ("journal_mode", Some("delete"), false),
            ("hard_heap_limit", None, false),
            ("hard_heap_limit", Some("1"), false),
            ("writable_schema", Some("1"), false),
            ("foreign_keys", Some("off"), false),
        ] {
            assert_eq!(may(name, value) == Authorization::Allow, is_let, "{name} {value:?}");
        }
    }
}
