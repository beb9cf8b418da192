//! How MySQL and MariaDB tell views.

use pando_kernel::ServerError;
use pando_kernel::views::{ViewTexts, Waits};
use pando_sql::ast::Node;
use pando_sql::{Edits, Span, visit};

use super::variables::ALL;
use super::{MySql, SYNTAX};

/// What MySQL 8 writes around the columns of a query WITH ROLLUP in `information_schema`, and nobody can call.
/// Functions of users stand there with their schema.
const OF_ROLLUP: [&str; 2] = ["rollup_group_item", "rollup_sum_switcher"];

/// What stands in `information_schema`, whose texts are utf8mb3, in the place of a character of four octets: once in
/// MySQL's, for each octet in MariaDB's.
const LOST: char = '?';

impl ViewTexts for MySql {
    /// Definitions of MySQL lack the names that a list behind the view gives its columns; MariaDB's have them.
    fn query(&self, _waits: Waits) -> String {
        format!(
            "SELECT NULL, TABLE_NAME, 0 AS place, VIEW_DEFINITION, CHECK_OPTION <> 'NONE', \
             IF(IS_UPDATABLE = 'YES', IF(VERSION() LIKE '%MariaDB%', 1, 2), 0), \
             DATABASE() FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() \
             UNION ALL SELECT NULL, c.TABLE_NAME, CAST(c.ORDINAL_POSITION AS SIGNED), c.COLUMN_NAME, 0, 0, DATABASE() \
             FROM information_schema.COLUMNS c JOIN information_schema.VIEWS v ON v.TABLE_SCHEMA = c.TABLE_SCHEMA \
             AND v.TABLE_NAME = c.TABLE_NAME WHERE c.TABLE_SCHEMA = DATABASE() AND VERSION() NOT LIKE '%MariaDB%' \
             ORDER BY TABLE_NAME, place LIMIT {ALL}"
        )
    }

    fn written(&self, definition: &str) -> String {
        if definition.contains(LOST) {
            return format!("lost: {definition}");
        }
        let mut edits = Edits::default();
        if OF_ROLLUP.iter().any(|name| definition.contains(name))
            && let Ok(stmt) = pando_sql::parse(definition, &SYNTAX)
        {
            visit::exprs(&stmt.kind, &mut |expr| {
                let Node::Function(call) = &expr.node else { return };
                let ([name], Some(own)) = (&call.name.parts[..], call.arguments.first()) else {
                    return;
                };
                if OF_ROLLUP.contains(&&*name.value) {
                    edits.replace(Span { start: expr.span.start, end: own.span.start }, "");
                    edits.replace(Span { start: own.span.end, end: expr.span.end }, "");
                }
            });
        }
        edits.apply(definition)
    }

    /// `ER_VIEW_INVALID`: a table may be dropped under its views.
    fn invalid(&self, database: &str, view: &str) -> Option<ServerError> {
        Some(ServerError {
            number: 1356,
            sqlstate: "HY000".into(),
            message: format!(
                "View '{database}.{view}' references invalid table(s) or column(s) or function(s) or definer/invoker of \
                 view lack rights to use them"
            ),
            ..ServerError::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_server_can_call_is_taken_off() {
        let cases = [
            (
                "select rollup_group_item(`d`.`t`.`g`,0) AS `n0`,rollup_sum_switcher(count(0)) AS `n1` \
                 from `d`.`t` group by `d`.`t`.`g` with rollup",
                "select `d`.`t`.`g` AS `n0`,count(0) AS `n1` from `d`.`t` group by `d`.`t`.`g` with rollup",
            ),
            (
                "select concat(rollup_group_item((`t`.`g` + 1),0),'rollup_group_item(x,0)') AS `n` from `t` \
                 group by (`t`.`g` + 1) with rollup",
                "select concat((`t`.`g` + 1),'rollup_group_item(x,0)') AS `n` from `t` group by (`t`.`g` + 1) with rollup",
            ),
            (
                "select `d`.`rollup_group_item`(`t`.`g`,0) AS `n` from `t`",
                "select `d`.`rollup_group_item`(`t`.`g`,0) AS `n` from `t`",
            ),
        ];
        for (told, written) in cases {
            assert_eq!(MySql.written(told), written);
        }
    }
}
