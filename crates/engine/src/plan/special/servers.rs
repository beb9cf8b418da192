//! Definitions of a whole server, as roles are: storage units may be databases of one server, which is told once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_kernel::UnitName;
use pando_sql::ast::{Kind, Statement};
use pando_sql::{Syntax, TokenKind, tokenize};

use crate::plan::Plan;

/// Whether a plan goes to several units, of which some may be of one server that it is to tell once.
pub(crate) fn may_tell_twice(syntax: &Syntax, stmt: &Statement, plan: &Plan) -> bool {
    let may_be = matches!(stmt.kind, Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque);
    may_be && plan.units.len() > 1 && is_of_server(syntax, stmt)
}

/// Leaves one unit of each server. One whose server is not known is told by itself.
pub(crate) fn tell_once(plan: &mut Plan, servers: &HashMap<UnitName, Arc<str>>) {
    let mut told: HashSet<&str> = HashSet::new();
    plan.units.retain(|unit| {
        servers.get(&unit.target.unit).is_none_or(|server| told.insert(server.as_ref()))
    });
}

/// Whether what the statement defines, changes or drops is every database's of its server: users, roles, who is in a
/// role.
fn is_of_server(syntax: &Syntax, stmt: &Statement) -> bool {
    let Ok(tokens) = tokenize(&stmt.text, syntax) else { return false };
    let words = tokens.list.iter().filter(|token| token.kind == TokenKind::Word);
    let words: Vec<String> =
        words.map(|token| token.span.of(&stmt.text).to_ascii_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["CREATE" | "ALTER" | "DROP" | "RENAME", "USER", "MAPPING", ..] => false,
        ["CREATE" | "ALTER" | "DROP" | "RENAME", "USER" | "ROLE" | "GROUP", ..] => true,
        ["COMMENT", "ON", "ROLE", ..] => true,
        // Rights on something are of its database.
        ["GRANT" | "REVOKE", ..] => !words.contains(&"ON"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pando_fake::FakeDialect;
    use pando_kernel::dialect::Language;

    use super::*;

    fn check(text: &str, expected: bool) {
        let dialect = FakeDialect::default();
        let stmt = pando_sql::parse(text, dialect.syntax()).unwrap();
        assert_eq!(is_of_server(dialect.syntax(), &stmt), expected, "{text}");
    }

    #[test]
    fn roles_are_of_their_server() {
        check("CREATE ROLE r", true);
        check("create user u WITH PASSWORD 'x'", true);
        check("ALTER GROUP g ADD USER u", true);
        check("DROP ROLE IF EXISTS r, s", true);
        check("COMMENT ON ROLE r IS 'of x'", true);
        check("GRANT r TO u", true);
        check("REVOKE r FROM u", true);
    }

    #[test]
    fn rights_and_schemas_are_of_their_database() {
        check("CREATE SCHEMA s", false);
        check("CREATE USER MAPPING FOR u SERVER s", false);
        check("GRANT USAGE ON SCHEMA s TO u", false);
        check("REVOKE ALL ON ALL TABLES IN SCHEMA s FROM u", false);
        check("COMMENT ON SCHEMA s IS 'ROLE'", false);
    }
}
