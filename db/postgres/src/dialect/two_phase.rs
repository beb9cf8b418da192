//! Two-phase commit by PREPARE TRANSACTION (<https://www.postgresql.org/docs/15/sql-prepare-transaction.html>), and the ledger in schema `pando`.

use pando_kernel::error::{Error, Result, ServerError};
use pando_kernel::two_phase::{Against, Branch, InDoubt, Ledger, Patience, Standing, TwoPhase};
use pando_kernel::value::Value;

use super::Postgres;

/// Between the global name and the part's name: in neither.
const BETWEEN: char = '/';

fn gid(branch: &Branch<'_>) -> String {
    format!("'{}{BETWEEN}{}'", branch.global, branch.part)
}

fn one(text: impl Into<String>) -> Vec<String> {
    vec![text.into()]
}

impl TwoPhase for Postgres {
    fn begin(&self, _branch: &Branch<'_>, modes: &[String]) -> Vec<String> {
        match modes {
            [] => one("BEGIN"),
            modes => one(format!("BEGIN {}", modes.join(" "))),
        }
    }

    fn commit(&self, _branch: &Branch<'_>) -> Vec<String> {
        one("COMMIT")
    }

    fn rollback(&self, _branch: &Branch<'_>) -> Vec<String> {
        one("ROLLBACK")
    }

    fn prepare(&self, branch: &Branch<'_>) -> Vec<String> {
        one(format!("PREPARE TRANSACTION {}", gid(branch)))
    }

    /// A failed transaction is rolled back by PREPARE TRANSACTION and by COMMIT, without an error.
    fn refused(&self, tag: &str) -> bool {
        tag == "ROLLBACK"
    }

    fn commit_prepared(&self, branch: &Branch<'_>) -> String {
        format!("COMMIT PREPARED {}", gid(branch))
    }

    fn rollback_prepared(&self, branch: &Branch<'_>) -> String {
        format!("ROLLBACK PREPARED {}", gid(branch))
    }

    fn is_gone(&self, error: &ServerError) -> bool {
        error.sqlstate == "42704"
    }

    /// Process numbers come again: what it last did tells whether it is the one.
    fn evict_decider(&self, global: &str, connection: u64) -> String {
        let record = self.record(global).replace('\'', "''");
        format!(
            "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity \
             WHERE pid = {connection} AND query = '{record}'"
        )
    }

    fn wrote_query(&self) -> Option<&'static str> {
        Some("SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL")
    }

    fn snapshot_query(&self) -> &'static str {
        "SELECT 1"
    }

    fn lock_tables(&self, tables: &[&str], against: Against, patience: Patience) -> Option<String> {
        let mode = match against {
            Against::Writers => "SHARE",
            Against::Everybody => "SHARE ROW EXCLUSIVE",
        };
        let at_once = match patience {
            Patience::Waits => "",
            Patience::Fails => " NOWAIT",
        };
        Some(format!("LOCK TABLE {} IN {mode} MODE{at_once}", tables.join(", ")))
    }

    fn ended_query(&self) -> Option<&'static str> {
        Some("SELECT pg_catalog.txid_current_snapshot()::text")
    }

    /// What a subtransaction of one's own has left behind is aborted, and oneself under way.
    fn committed_query(&self, ended: &str) -> Option<String> {
        let is_snapshot = |c: char| c.is_ascii_digit() || c == ':' || c == ',';
        ended.chars().all(is_snapshot).then(|| {
            format!(
                "WITH seen AS (SELECT '{ended}'::pg_catalog.txid_snapshot AS before, pg_catalog.txid_current_snapshot() AS after), \
                 newer AS (SELECT after, pg_catalog.txid_snapshot_xip(before) AS id FROM seen UNION ALL \
                 SELECT after, pg_catalog.generate_series(pg_catalog.txid_snapshot_xmax(before), pg_catalog.txid_snapshot_xmax(after) - 1) FROM seen) \
                 SELECT EXISTS (SELECT 1 FROM newer WHERE pg_catalog.txid_visible_in_snapshot(id, after) \
                 AND pg_catalog.txid_status(id) = 'committed')"
            )
        })
    }

    fn prepared_query(&self) -> &'static str {
        "SELECT gid, GREATEST(0, EXTRACT(EPOCH FROM clock_timestamp() - prepared))::bigint \
         FROM pg_catalog.pg_prepared_xacts \
         WHERE database = pg_catalog.current_database() AND gid LIKE 'pando-%' LIMIT 10000"
    }

    fn read_prepared(&self, row: &[Value]) -> Option<InDoubt> {
        let [Value::Text(gid), seconds] = row else { return None };
        let (global, part) = gid.split_once(BETWEEN)?;
        let seconds =
            if let Value::Int(seconds) = seconds { u64::try_from(*seconds).ok() } else { None };
        Some(InDoubt { global: global.to_owned(), part: part.to_owned(), seconds })
    }

    fn standing_query(&self) -> &'static str {
        "SELECT pg_catalog.current_setting('max_prepared_transactions')::bigint, pg_catalog.pg_is_in_recovery(), \
         (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'default_transaction_isolation')"
    }

    fn read_standing(&self, row: &[Value]) -> Result<Standing> {
        match row {
            [_, Value::Bool(true), _] => Ok(Standing::ReadOnly),
            [Value::Int(0), _, _] => Err(Error::unsupported(
                30001,
                "its server has max_prepared_transactions = 0",
                "set it to the largest number of connections to it, and restart the server",
            )),
            [Value::Int(_), _, _] => Ok(Standing::Able),
            _ => Err(Error::internal("a standing of another form")),
        }
    }

    fn ledger(&self) -> &dyn Ledger {
        self
    }
}

/// Where the decisions were removed, and nothing else, the identity goes with them: under the same one a transaction
/// that was decided to commit would be taken for one
/// that nobody has decided, and be rolled back where it is prepared.
const RENOUNCE: &str = "DO $$ BEGIN \
     IF pg_catalog.to_regclass('pando.decision') IS NULL AND pg_catalog.to_regclass('pando.unit') IS NOT NULL THEN \
     LOCK TABLE pando.unit IN ACCESS EXCLUSIVE MODE; \
     IF pg_catalog.to_regclass('pando.decision') IS NULL THEN DELETE FROM pando.unit; END IF; \
     END IF; END $$";

impl Ledger for Postgres {
    fn present_query(&self) -> &'static str {
        "SELECT pg_catalog.to_regclass('pando.unit') IS NOT NULL AND pg_catalog.to_regclass('pando.decision') IS NOT NULL"
    }

    fn setup(&self) -> Vec<String> {
        [
            "CREATE SCHEMA IF NOT EXISTS pando",
            RENOUNCE,
            "CREATE TABLE IF NOT EXISTS pando.decision (\
             global text PRIMARY KEY, verdict text NOT NULL, at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp())",
            "CREATE TABLE IF NOT EXISTS pando.unit (one boolean PRIMARY KEY CHECK (one), identity text NOT NULL)",
            "INSERT INTO pando.unit VALUES (true, pg_catalog.substr(pg_catalog.md5(\
             pg_catalog.random()::text || pg_catalog.clock_timestamp()::text), 1, 12)) ON CONFLICT DO NOTHING",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn identity_query(&self) -> &'static str {
        "SELECT identity, pg_catalog.concat_ws('/', pg_catalog.inet_server_addr(), pg_catalog.inet_server_port(), \
         pg_catalog.pg_postmaster_start_time(), pg_catalog.current_database()) FROM pando.unit"
    }

    /// A decision that is not on disk when its COMMIT is answered may be lost, and with it this unit's part alone.
    fn record(&self, global: &str) -> String {
        format!(
            "INSERT INTO pando.decision SELECT '{global}', 'commit' WHERE CASE pg_catalog.current_setting('synchronous_commit') \
             WHEN 'off' THEN pg_catalog.set_config('synchronous_commit', 'on', true) ELSE 'on' END = 'on'"
        )
    }

    fn fence(&self, global: &str) -> Vec<String> {
        vec![
            "SET lock_timeout = '1s'".to_owned(),
            "SELECT CASE pg_catalog.current_setting('synchronous_commit') WHEN 'off' THEN \
             pg_catalog.set_config('synchronous_commit', 'on', false) END"
                .to_owned(),
            format!(
                "INSERT INTO pando.decision VALUES ('{global}', 'abort') ON CONFLICT DO NOTHING"
            ),
        ]
    }

    fn verdict_query(&self, global: &str) -> String {
        format!("SELECT verdict FROM pando.decision WHERE global = '{global}'")
    }

    fn forget(&self, globals: &[&str]) -> String {
        format!("DELETE FROM pando.decision WHERE global IN ('{}')", globals.join("', '"))
    }

    fn stale_query(&self) -> &'static str {
        "SELECT global FROM pando.decision WHERE at < pg_catalog.clock_timestamp() - interval '1 hour' \
         AND (verdict = 'abort' OR at < pg_catalog.clock_timestamp() - interval '30 days') LIMIT 1000"
    }

    fn close(&self) -> &'static [&'static str] {
        &[
            "SET lock_timeout = '2s'",
            "SET idle_in_transaction_session_timeout = '15s'",
            "BEGIN",
            "LOCK TABLE pando.decision IN SHARE MODE",
        ]
    }

    fn open(&self) -> &'static [&'static str] {
        &["ROLLBACK"]
    }

    fn heed(&self) -> &'static str {
        "LOCK TABLE pando.decision IN ROW EXCLUSIVE MODE"
    }

    fn decided_query(&self, globals: &[&str]) -> String {
        let list = globals.join("', '");
        format!(
            "SELECT global FROM pando.decision WHERE verdict = 'commit' AND global IN ('{list}')"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_read_as_it_is_written() {
        let branch = Branch { global: "pando-0a-b-1-2", part: "3" };
        assert_eq!(Postgres.prepare(&branch), ["PREPARE TRANSACTION 'pando-0a-b-1-2/3'"]);
        let row = [Value::Text("pando-0a-b-1-2/3".into()), Value::Int(7)];
        let read = Postgres.read_prepared(&row).unwrap();
        assert_eq!((read.global.as_str(), read.part.as_str()), (branch.global, branch.part));
        assert_eq!(read.seconds, Some(7));
        assert_eq!(Postgres.read_prepared(&[Value::Text("other".into()), Value::Null]), None);
    }

    #[test]
    fn a_server_without_prepared_transactions_is_refused_with_what_to_set() {
        let level = Value::Text("read committed".into());
        let row = |prepares, copies| [Value::Int(prepares), Value::Bool(copies), level.clone()];
        let told = Postgres.read_standing(&row(0, false)).unwrap_err();
        assert!(told.to_string().contains("max_prepared_transactions = 0"), "{told}");
        let replica = Postgres.read_standing(&row(0, true));
        assert_eq!(replica.unwrap(), Standing::ReadOnly);
    }
}
