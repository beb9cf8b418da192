//! How MySQL and MariaDB tell who waits for whom: InnoDB's row locks, and locks of `GET_LOCK`. Waits for other metadata
//! locks are not told.

use pando_kernel::error::{Error, Result, ServerError};
use pando_kernel::waits::{Server, Waits};
use pando_kernel::{ServerFunction, Value};

use super::MySql;
use super::locks::FUNCTIONS;

/// Neither name nor number is unique by itself where servers were set up by copying; no two share a data directory.
const SERVER: &str =
    "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir), VERSION(), @@performance_schema";

/// Locks of `GET_LOCK`: the server tells who has one, and the text of a call, as it is sent from here, which one it
/// waits for, where the name can be read off it.
macro_rules! named {
    () => {
        " UNION ALL SELECT waiter, holder FROM (SELECT CAST(id AS UNSIGNED) AS waiter, CAST(CASE \
         WHEN state = 'User lock' AND info REGEXP '^SELECT GET_LOCK[(]''[^'']*'', ' AND INSTR(info, CHAR(92)) = 0 AND INSTR(info, '?') = 0 \
         THEN IS_USED_LOCK(SUBSTRING_INDEX(SUBSTRING_INDEX(info, CHAR(39), 2), CHAR(39), -1)) END AS UNSIGNED) AS holder \
         FROM information_schema.processlist) AS named WHERE holder IS NOT NULL LIMIT 4096"
    };
}

/// MariaDB, and MySQL before 8. <https://mariadb.com/kb/en/information-schema-innodb_lock_waits-table/>
/// What the server shows is up to 0.1 s old, and becomes no newer while somebody else looks more often than that.
///
/// In MariaDB every transaction that has only read has the number 0. So who waits is known by its lock; and of those who hold up others with a shared lock it is only known
/// who it is where one of them alone has any locks: else it is not told.
const OLD: &str = concat!(
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.innodb_lock_waits AS w \
     JOIN information_schema.innodb_trx AS r ON r.trx_requested_lock_id = w.requested_lock_id \
     LEFT JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_trx_id AND (b.trx_id <> 0 OR b.trx_lock_structs > 0 \
     AND (SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_id = 0 AND trx_lock_structs > 0) = 1) \
     WHERE b.trx_id IS NOT NULL OR w.blocking_trx_id = 0",
    named!()
);

/// <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-data-lock-waits-table.html>
/// Its own numbers of threads are of those who made a lock's record, which another one may have done on behalf of the holder: transactions are what counts.
const NEW: &str = concat!(
    "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM performance_schema.data_lock_waits AS w \
     JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_engine_transaction_id \
     JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_engine_transaction_id",
    named!()
);

/// All that is told without the performance schema: that somebody waits.
const WAITERS: &str = concat!(
    "SELECT trx_mysql_thread_id, NULL FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
    named!()
);

impl Waits for MySql {
    fn server_query(&self) -> &'static str {
        SERVER
    }

    fn read_server(&self, row: &[Value]) -> Result<Server> {
        let [Value::Text(name), Value::Text(version), recorded] = row else {
            return Err(Error::internal("the server's name has another shape"));
        };
        let major = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0u32);
        let is_old = version.contains("MariaDB") || major < 8;
        let is_recorded = matches!(recorded, Value::Int(1) | Value::UInt(1));
        let (waits, untold) = match (is_old, is_recorded) {
            (true, _) => (OLD, None),
            (false, true) => (NEW, None),
            (false, false) => (WAITERS, Some("performance_schema is OFF".to_owned())),
        };
        Ok(Server { name: name.as_str().into(), waits, untold })
    }

    fn server_functions(&self) -> &'static [ServerFunction] {
        &FUNCTIONS
    }

    /// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html#error_er_lock_deadlock>
    fn deadlock(&self) -> ServerError {
        ServerError {
            number: 1213,
            sqlstate: "40001".into(),
            message: "Deadlock found when trying to get lock; try restarting transaction".into(),
            severity: String::new(),
            fields: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_asked_where_it_tells() {
        let text = |text: &str| Value::Text(text.into());
        for (version, recorded, query, told) in [
            ("10.11.6-MariaDB-0+deb12u1", 0, OLD, true),
            ("11.4.2-MariaDB", 1, OLD, true),
            ("5.7.44-log", 0, OLD, true),
            ("8.0.31", 1, NEW, true),
            ("9.1.0", 1, NEW, true),
            ("8.0.31", 0, WAITERS, false),
        ] {
            let server =
                MySql.read_server(&[text("h 1 /d/"), text(version), Value::Int(recorded)]).unwrap();
            assert_eq!((server.waits, server.untold.is_none()), (query, told), "{version}");
        }
        assert!(MySql.read_server(&[Value::Null]).is_err());
    }
}
