//! How MySQL and MariaDB tell views.

use pando_kernel::ServerError;
use pando_kernel::views::{ViewTexts, Waits};

use super::MySql;
use super::variables::ALL;

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
