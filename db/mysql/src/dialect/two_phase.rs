//! Two-phase commit by XA statements (<https://dev.mysql.com/doc/refman/8.0/en/xa-statements.html>, <https://mariadb.com/kb/en/xa-transactions/>), and the
//! ledger in tables `pando_unit` and `pando_decision`.
//!
//! `MariaDB` and `MySQL` before 8.0.29 let only the connection that prepared a branch end it, as long as that connection lives. So a part's name tells the
//! connection's number, and whoever recovers the branch can end that connection first.

use pando_kernel::error::{Error, Result, ServerError};
use pando_kernel::two_phase::{Branch, InDoubt, Ledger, Standing, TwoPhase};
use pando_kernel::value::Value;

use super::MySql;

fn xid(branch: &Branch<'_>) -> String {
    format!("'{}','{}'", branch.global, branch.part)
}

/// Reading any table of the engine makes the view that all reads share, and makes the engine part of the transaction: at the return to a savepoint that was set before
/// that, the server rolls back all the engine has of it, views and locks.
const SEE: &str = "SELECT 1 FROM pando_unit WHERE one = 1";

fn length(value: &Value) -> Option<usize> {
    if let Value::UInt(number) = value {
        return usize::try_from(*number).ok();
    }
    let Value::Int(number) = value else { return None };
    usize::try_from(*number).ok()
}

/// Ends the work of a branch, then this.
fn ended(branch: &Branch<'_>, verb: &str, after: &str) -> Vec<String> {
    let xid = xid(branch);
    vec![format!("XA END {xid}"), format!("XA {verb} {xid}{after}")]
}

impl TwoPhase for MySql {
    fn begin(&self, branch: &Branch<'_>, modes: &[String]) -> Vec<String> {
        let mut texts = Vec::new();
        let said = modes.iter().filter(|mode| !mode.starts_with("WITH "));
        let said: Vec<&str> = said.map(String::as_str).collect();
        if !said.is_empty() {
            texts.push(format!("SET TRANSACTION {}", said.join(", ")));
        }
        texts.push(format!("XA START {}", xid(branch)));
        if said.len() < modes.len() {
            texts.push(SEE.to_owned());
        }
        texts
    }

    fn commit(&self, branch: &Branch<'_>) -> Vec<String> {
        ended(branch, "COMMIT", " ONE PHASE")
    }

    fn rollback(&self, branch: &Branch<'_>) -> Vec<String> {
        ended(branch, "ROLLBACK", "")
    }

    fn prepare(&self, branch: &Branch<'_>) -> Vec<String> {
        ended(branch, "PREPARE", "")
    }

    fn commit_prepared(&self, branch: &Branch<'_>) -> String {
        format!("XA COMMIT {}", xid(branch))
    }

    fn rollback_prepared(&self, branch: &Branch<'_>) -> String {
        format!("XA ROLLBACK {}", xid(branch))
    }

    /// 1397 is XAER_NOTA.
    fn is_gone(&self, error: &ServerError) -> bool {
        error.number == 1397
    }

    fn evict_decider(&self, _global: &str, connection: u64) -> String {
        format!("KILL CONNECTION {connection}")
    }

    fn evict_owner(&self, connection: u64) -> Option<String> {
        Some(format!("KILL CONNECTION {connection}"))
    }

    fn snapshot_query(&self) -> &'static str {
        SEE
    }

    /// InnoDB makes the view with the first plain SELECT; whatever a change reads it locks, and finds as it is then,
    /// what its triggers read included.
    /// <https://dev.mysql.com/doc/refman/8.0/en/innodb-consistent-read.html>
    fn sees_when_it_reads(&self) -> bool {
        true
    }

    fn prepared_query(&self) -> &'static str {
        "XA RECOVER"
    }

    fn read_prepared(&self, row: &[Value]) -> Option<InDoubt> {
        let [_, global, part, data] = row else { return None };
        let (global, part) = (length(global)?, length(part)?);
        let data = if let Value::Bytes(bytes) = data {
            std::str::from_utf8(bytes).ok()?
        } else {
            let Value::Text(text) = data else { return None };
            text.as_str()
        };
        if !data.starts_with("pando-") || data.len() != global + part {
            return None;
        }
        let (global, part) = (data.get(..global)?, data.get(global..)?);
        Some(InDoubt { global: global.to_owned(), part: part.to_owned(), seconds: None })
    }

    fn standing_query(&self) -> &'static str {
        "SELECT @@global.read_only, @@transaction_isolation"
    }

    fn read_standing(&self, row: &[Value]) -> Result<Standing> {
        match row {
            [Value::Int(0) | Value::UInt(0) | Value::Bool(false), _] => Ok(Standing::Able),
            [_, _] => Ok(Standing::ReadOnly),
            _ => Err(Error::internal("a standing of another form")),
        }
    }

    fn ledger(&self) -> &dyn Ledger {
        self
    }
}

impl Ledger for MySql {
    fn present_query(&self) -> &'static str {
        "SELECT COUNT(*) = 2 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
         AND TABLE_NAME IN ('pando_unit', 'pando_decision')"
    }

    fn setup(&self) -> Vec<String> {
        [
            // Where the decisions were removed, and nothing else, the identity goes with them: under the same one a
            // transaction that was decided to commit would
            // be taken for one that nobody has decided, and be rolled back where it is prepared.
            "SELECT GET_LOCK('pando_ledger', 5)",
            "SET @pando_renounces = (SELECT IF(SUM(TABLE_NAME = 'pando_decision') = 0, 'DELETE FROM pando_unit', 'DO 0') \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('pando_unit', 'pando_decision'))",
            "SET @pando_renounces = IFNULL(@pando_renounces, 'DO 0')",
            "PREPARE pando_renounces FROM @pando_renounces",
            "EXECUTE pando_renounces",
            "DEALLOCATE PREPARE pando_renounces",
            "CREATE TABLE IF NOT EXISTS pando_decision (\
             global VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, verdict VARCHAR(6) NOT NULL, \
             at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB",
            "CREATE TABLE IF NOT EXISTS pando_unit (one TINYINT PRIMARY KEY, identity VARCHAR(12) NOT NULL) ENGINE = InnoDB",
            "INSERT IGNORE INTO pando_unit VALUES (1, SUBSTR(MD5(CONCAT(UUID(), RAND())), 1, 12))",
            "SELECT RELEASE_LOCK('pando_ledger')",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn identity_query(&self) -> &'static str {
        "SELECT identity, CONCAT_WS('/', @@hostname, @@port, @@datadir, DATABASE()) FROM pando_unit"
    }

    fn record(&self, global: &str) -> String {
        format!("INSERT INTO pando_decision (global, verdict) VALUES ('{global}', 'commit')")
    }

    fn fence(&self, global: &str) -> Vec<String> {
        vec![
            "SET innodb_lock_wait_timeout = 1".to_owned(),
            format!(
                "INSERT INTO pando_decision (global, verdict) VALUES ('{global}', 'abort') ON DUPLICATE KEY UPDATE verdict = verdict"
            ),
        ]
    }

    fn verdict_query(&self, global: &str) -> String {
        format!("SELECT verdict FROM pando_decision WHERE global = '{global}'")
    }

    fn forget(&self, globals: &[&str]) -> String {
        format!("DELETE FROM pando_decision WHERE global IN ('{}')", globals.join("', '"))
    }

    fn stale_query(&self) -> &'static str {
        "SELECT global FROM pando_decision WHERE at < NOW() - INTERVAL 1 HOUR \
         AND (verdict = 'abort' OR at < NOW() - INTERVAL 30 DAY) LIMIT 1000"
    }

    /// A READ lock would let those pass that come after it, and wait for ever.
    fn close(&self) -> &'static [&'static str] {
        &["SET lock_wait_timeout = 2, wait_timeout = 15", "LOCK TABLES pando_decision WRITE"]
    }

    fn open(&self) -> &'static [&'static str] {
        &["UNLOCK TABLES", "SET wait_timeout = DEFAULT"]
    }

    fn heed(&self) -> &'static str {
        "INSERT INTO pando_decision (global, verdict) SELECT '', '' FROM DUAL WHERE 1 = 0"
    }

    fn decided_query(&self, globals: &[&str]) -> String {
        let list = globals.join("', '");
        format!(
            "SELECT global FROM pando_decision WHERE verdict = 'commit' AND global IN ('{list}')"
        )
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::two_phase::Part;

    use super::*;

    #[test]
    fn a_branch_is_read_as_it_is_written() {
        let part = Part { number: 1, connection: 42, decider: 7 };
        let name = part.to_string();
        let branch = Branch { global: "pando-0a", part: &name };
        let texts = MySql.prepare(&branch);
        assert_eq!(texts, ["XA END 'pando-0a','1-42-7'", "XA PREPARE 'pando-0a','1-42-7'"]);
        let told = Value::Text("pando-0a1-42-7".into());
        let row = [Value::Int(1), Value::Int(8), Value::Int(6), told];
        let read = MySql.read_prepared(&row).unwrap();
        assert_eq!((read.global.as_str(), read.part.as_str()), (branch.global, branch.part));
        assert_eq!(Part::read(&read.part), Some(part));
    }

    #[test]
    fn branches_of_others_are_not_ours() {
        let row = |data: &str, global| {
            [1, global, 4]
                .map(Value::Int)
                .into_iter()
                .chain([Value::Text(data.into())])
                .collect::<Vec<_>>()
        };
        assert_eq!(MySql.read_prepared(&row("atomikos1-42", 8)), None);
        assert_eq!(MySql.read_prepared(&row("pando-0a1-42-7", 99)), None);
    }

    #[test]
    fn modes_stand_in_front_of_the_branch() {
        let modes = ["ISOLATION LEVEL SERIALIZABLE".to_owned(), "READ ONLY".to_owned()];
        let branch = Branch { global: "g", part: "p" };
        assert_eq!(
            MySql.begin(&branch, &modes),
            ["SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "XA START 'g','p'"]
        );
    }
}
