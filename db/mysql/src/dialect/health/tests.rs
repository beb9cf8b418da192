use std::time::Duration;

use pando_kernel::{ServerError, Value};

use super::*;

const UUID: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

fn text(text: &str) -> Value {
    if text == "NULL" { Value::Null } else { Value::Text(text.into()) }
}

fn pairs(list: &[(&str, &str)]) -> Answer {
    let rows = list.iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    Answer::Rows { labels: vec!["Variable_name".into(), "Value".into()], rows }
}

fn table(labels: &[&str], rows: &[&[&str]]) -> Answer {
    Answer::Rows {
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        rows: rows.iter().map(|row| row.iter().map(|field| text(field)).collect()).collect(),
    }
}

fn refused() -> Answer {
    Answer::Refused(ServerError { number: 1227, message: "denied".into(), ..Default::default() })
}

fn mysql(more: &[(&str, &str)]) -> Answer {
    let mut list = vec![("version", "8.0.31"), ("server_id", "1"), ("server_uuid", UUID)];
    list.extend(more);
    pairs(&list)
}

/// Asks until all is told; the questions beside what they told.
fn ask(first: Answer, rest: &[(&str, Answer)]) -> (Vec<String>, Vitals) {
    let (mut asked, mut answers) = (Vec::new(), vec![first]);
    loop {
        match MySql.next(&answers) {
            Step::Told(vitals) => return (asked, *vitals),
            Step::Ask(question) => {
                let known = rest.iter().find(|(begin, _)| question.contains(begin));
                answers.push(known.map_or_else(|| table(&[], &[]), |(_, answer)| answer.clone()));
                asked.push(question);
            }
        }
    }
}

#[test]
fn a_server_that_may_be_written_and_copies_nobody_is_a_primary() {
    assert_eq!(MySql.next(&[]), Step::Ask(VARIABLES.into()));
    let executed = ("gtid_executed", table(&["x"], &[&[&format!("{UUID}:1-7")]]));
    let (asked, told) = ask(mysql(&[("read_only", "OFF")]), &[executed]);
    assert_eq!(asked, ["SHOW REPLICA STATUS", EXECUTED]);
    assert_eq!(
        (told.role, told.was_copy, told.node.as_deref()),
        (Role::Primary, false, Some(UUID))
    );
    let foreign = ("gtid_executed", table(&["x"], &[&["aaaa:1-7"]]));
    assert!(ask(mysql(&[("read_only", "OFF")]), &[foreign]).1.was_copy);
}

#[test]
fn a_replica_names_its_source_and_its_lag() {
    let status = |io: &str, seconds: &str| {
        let labels = [
            "Source_UUID",
            "Source_Server_Id",
            "Replica_IO_Running",
            "Replica_SQL_Running",
            "Seconds_Behind_Source",
        ];
        ("REPLICA", table(&labels, &[&["u", "9", io, "Yes", seconds]]))
    };
    let (_, told) = ask(mysql(&[("read_only", "ON")]), &[status("Yes", "3")]);
    assert_eq!((told.role, told.copying), (Role::Standby, Copying::Running));
    assert_eq!((told.source.as_deref(), told.lag), (Some("u"), Some(Duration::from_secs(3))));
    let (_, told) = ask(mysql(&[("read_only", "OFF")]), &[status("Connecting", "NULL")]);
    assert_eq!((told.role, told.lag), (Role::Unknown, None));
    assert!(matches!(told.copying, Copying::Stopped(why) if why.contains("receiver")));
}

#[test]
fn mariadb_is_asked_in_its_words_and_one_stopped_channel_counts() {
    let labels =
        ["Master_Server_Id", "Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"];
    let rows: [&[&str]; 2] = [&["5", "Yes", "Yes", "1"], &["6", "Yes", "No", "NULL"]];
    let server = pairs(&[
        ("version", "10.11.19-MariaDB"),
        ("server_id", "2"),
        ("read_only", "ON"),
        ("gtid_current_pos", "0-5-77"),
        ("gtid_slave_pos", "0-5-77"),
    ]);
    let (asked, told) = ask(server, &[("SLAVES", table(&labels, &rows))]);
    assert_eq!(asked, ["SHOW ALL SLAVES STATUS"]);
    assert_eq!((told.node.as_deref(), told.source.as_deref()), (Some("2"), Some("5")));
    assert!(told.was_copy && told.lag.is_none() && told.position.is_some());
    assert!(matches!(told.copying, Copying::Stopped(why) if why.contains("applier")));
}

#[test]
fn missing_rights_leave_the_role_open_and_are_named() {
    let (_, told) = ask(mysql(&[("read_only", "OFF")]), &[("STATUS", refused())]);
    assert_eq!(told.role, Role::Unknown);
    assert!(told.untold.unwrap().contains("denied"));
    // Who takes no writes takes none, whatever else is hidden.
    assert_eq!(ask(mysql(&[("read_only", "ON")]), &[("STATUS", refused())]).1.role, Role::Standby);
    assert_eq!(ask(refused(), &[]).1.role, Role::Unknown);
}

#[test]
fn old_servers_are_asked_in_old_words() {
    for (version, words) in [
        ("5.7.44-log", "SHOW SLAVE STATUS"),
        ("8.0.15", "SHOW SLAVE STATUS"),
        ("8.0.22", "SHOW REPLICA STATUS"),
        ("9.7.4", "SHOW REPLICA STATUS"),
        ("what", "SHOW SLAVE STATUS"),
    ] {
        assert_eq!(replica_question(version), words, "{version}");
    }
}

#[test]
fn a_group_names_its_primary_but_only_with_a_majority() {
    let group = |rows: &[[&str; 3]]| {
        let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
        let members = table(&["MEMBER_ID", "MEMBER_STATE", "MEMBER_ROLE"], &rows);
        let server = mysql(&[("read_only", "OFF"), ("group_replication_group_name", "g")]);
        ask(server, &[("group_members", members)]).1
    };
    let (other, third) = (["b", "ONLINE", "SECONDARY"], ["c", "ONLINE", "SECONDARY"]);
    let told = group(&[[UUID, "ONLINE", "PRIMARY"], other, third]);
    assert_eq!((told.role, told.cluster.as_deref()), (Role::Primary, Some("g")));
    let told = group(&[[UUID, "ONLINE", "PRIMARY"], ["b", "ONLINE", "PRIMARY"], third]);
    assert_eq!(told.role, Role::Peer);
    let told = group(&[[UUID, "ONLINE", "SECONDARY"], other, third]);
    assert_eq!((told.role, told.unfit), (Role::Standby, None));
    let gone = ["b", "UNREACHABLE", "SECONDARY"];
    let told = group(&[[UUID, "ONLINE", "PRIMARY"], gone, gone]);
    assert!(told.role == Role::Standby && told.unfit.is_some());
    let told = group(&[[UUID, "RECOVERING", "SECONDARY"], other, third]);
    assert!(told.role == Role::Standby && told.unfit.is_some());
    // Configured, but not started: an ordinary server.
    assert_eq!(group(&[[UUID, "OFFLINE", ""]]).role, Role::Primary);
}

#[test]
fn a_galera_server_takes_writes_while_it_is_in_step() {
    let server =
        || pairs(&[("version", "10.11-MariaDB"), ("read_only", "OFF"), ("wsrep_on", "ON")]);
    let status = |cluster: &str, state: &str| {
        let list = [
            ("wsrep_cluster_state_uuid", "c"),
            ("wsrep_cluster_status", cluster),
            ("wsrep_local_state_comment", state),
            ("wsrep_ready", "ON"),
        ];
        [("wsrep_cluster", pairs(&list))]
    };
    assert_eq!(ask(server(), &status("Primary", "Synced")).1.role, Role::Peer);
    for status in [status("Primary", "Donor/Desynced"), status("non-Primary", "Synced")] {
        let told = ask(server(), &status).1;
        assert!(told.role == Role::Standby && told.unfit.is_some());
    }
}
