//! What a MySQL or MariaDB server tells of its part in replication, Group Replication or Galera.

mod answers;
mod gtid;
mod members;
mod replication;

use pando_kernel::Position;
use pando_kernel::health::{Answer, Copying, Health, Role, Step, Vitals};

use super::MySql;
use answers::{Row, Told};

/// Unknown names give no row, so one question serves every version, and no right is needed.
const VARIABLES: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', 'super_read_only', \
    'server_id', 'server_uuid', 'gtid_slave_pos', 'gtid_binlog_pos', 'gtid_current_pos', \
    'group_replication_group_name', 'wsrep_on')";
/// Beside the variables, which are cut after 1024 characters.
/// <https://dev.mysql.com/doc/refman/8.0/en/replication-options-gtids.html#sysvar_gtid_executed>
const EXECUTED: &str = "SELECT @@GLOBAL.gtid_executed AS gtid_executed";
/// <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-replication-group-members-table.html>
const MEMBERS: &str = "SELECT * FROM performance_schema.replication_group_members";
/// <https://galeracluster.com/library/documentation/galera-status-variables.html>
const GALERA: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_state_uuid', \
    'wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready')";

impl Health for MySql {
    fn next(&self, answers: &[Answer]) -> Step {
        let Some((first, rest)) = answers.split_first() else {
            return Step::Ask(VARIABLES.into());
        };
        let server = Told::pairs(first);
        let questions = questions(&server);
        match questions.get(rest.len()) {
            Some((_, question)) => Step::Ask((*question).into()),
            None => {
                let of = |wanted| {
                    let at = questions.iter().position(|(topic, _)| *topic == wanted)?;
                    rest.get(at)
                };
                Step::Told(Box::new(vitals(&server, &of)))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Replica,
    Executed,
    Members,
    Galera,
}

/// What this server can be asked, by its version and what is switched on.
fn questions(server: &Told) -> Vec<(Topic, &'static str)> {
    let version = server.get("version").unwrap_or_default();
    if version.contains("MariaDB") {
        let mut list = vec![(Topic::Replica, "SHOW ALL SLAVES STATUS")];
        if server.is_on("wsrep_on") {
            list.push((Topic::Galera, GALERA));
        }
        return list;
    }
    let mut list = vec![(Topic::Replica, replica_question(version))];
    if server.get("server_uuid").is_some() {
        list.push((Topic::Executed, EXECUTED));
    }
    if server.get("group_replication_group_name").is_some_and(|name| !name.is_empty()) {
        list.push((Topic::Members, MEMBERS));
    }
    list
}

/// The old words went in 8.4, the new ones came in 8.0.22.
/// <https://dev.mysql.com/doc/refman/8.0/en/show-replica-status.html>
fn replica_question(version: &str) -> &'static str {
    let mut numbers = version.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let mut next = || numbers.next().unwrap_or_default();
    match (next(), next(), next()) {
        (0..8, _, _) | (8, 0, 0..22) => "SHOW SLAVE STATUS",
        _ => "SHOW REPLICA STATUS",
    }
}

fn vitals<'a>(server: &Told, answer: &dyn Fn(Topic) -> Option<&'a Answer>) -> Vitals {
    let mut vitals = Vitals { node: node(server), ..Vitals::default() };
    let copies = match answer(Topic::Replica) {
        None => Vec::new(),
        Some(Answer::Rows { labels, rows }) => Row::all(labels, rows),
        Some(Answer::Refused(why)) => {
            vitals.untold = Some(format!("replication: {}", why.message));
            Vec::new()
        }
    };
    replication::told(&copies, &mut vitals);
    let executed = answer(Topic::Executed).and_then(answers::single);
    if let Some(transactions) = gtid::of(server, executed.as_deref()) {
        vitals.was_copy = gtid::was_copy(server, &transactions);
        vitals.position = Some(Position::Transactions(transactions));
    }
    vitals.role = role(server, &vitals);
    if let Some(members) = answer(Topic::Members) {
        members::group(server, members, &mut vitals);
    }
    if let Some(status) = answer(Topic::Galera) {
        members::galera(&Told::pairs(status), &mut vitals);
    }
    vitals
}

/// As a replica's status names its source.
fn node(server: &Told) -> Option<String> {
    server.get("server_uuid").or_else(|| server.get("server_id")).map(str::to_owned)
}

/// A server that copies and yet may be written to can't say which of both it is meant for.
fn role(server: &Told, vitals: &Vitals) -> Role {
    if server.is_on("read_only") || server.is_on("super_read_only") {
        Role::Standby
    } else if server.get("read_only").is_none()
        || vitals.untold.is_some()
        || vitals.copying != Copying::No
    {
        Role::Unknown
    } else {
        Role::Primary
    }
}

#[cfg(test)]
mod tests;
