//! What a PostgreSQL server tells of its part in streaming replication.
//! <https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-RECOVERY-CONTROL>

use std::time::Duration;

use pando_kernel::health::{Answer, Copying, Health, Role, Step, Vitals};
use pando_kernel::{Position, Value};

use super::Postgres;

/// All of it, as text. The control file of a server that writes names its new timeline only after a checkpoint, so that is read from the name of the
/// file being written; a standby follows the highest timeline that any of its three sources names.
const ALL: &str = "\
    SELECT r.standby::text, \
    (SELECT system_identifier::text FROM pg_catalog.pg_control_system()), \
    CASE WHEN r.standby THEN greatest(\
      (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint()), \
      (SELECT min_recovery_end_timeline FROM pg_catalog.pg_control_recovery()), \
      (SELECT max(received_tli) FROM pg_catalog.pg_stat_wal_receiver))::text \
    ELSE ('x' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::bigint::text END, \
    (CASE WHEN r.standby THEN pg_catalog.pg_last_wal_replay_lsn() \
      ELSE pg_catalog.pg_current_wal_lsn() END - '0/0'::pg_lsn)::text, \
    CASE WHEN NOT r.standby OR pg_catalog.pg_last_wal_receive_lsn() <= pg_catalog.pg_last_wal_replay_lsn() THEN '0' \
      ELSE (extract(epoch FROM clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp()) * 1000)::bigint::text END, \
    extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text, \
    EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver)::text \
    FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby) r";

/// For users from whom an administrator took the rest.
const LEAST: &str = "SELECT pg_catalog.pg_is_in_recovery()::text";

impl Health for Postgres {
    fn next(&self, answers: &[Answer]) -> Step {
        match answers {
            [] => Step::Ask(ALL.into()),
            [Answer::Rows { rows, .. }] => told(rows.first().map_or(&[][..], Vec::as_slice)),
            [Answer::Refused(_)] => Step::Ask(LEAST.into()),
            [Answer::Refused(why), rest, ..] => least(rest, &why.message),
            [Answer::Rows { .. }, ..] => Step::Told(Box::default()),
        }
    }
}

fn told(row: &[Value]) -> Step {
    let [standby, cluster, timeline, at, lag, started, receiving] = row else {
        return untold("its answer has another shape");
    };
    let role = role(standby);
    let timeline = text(timeline).and_then(|timeline| timeline.parse().ok());
    let at = text(at).and_then(|at| at.parse().ok());
    let copying = match (role, text(receiving)) {
        (Role::Standby, Some("true")) => Copying::Running,
        (Role::Standby, _) => Copying::Stopped("it receives nothing".into()),
        (Role::Primary | Role::Peer | Role::Unknown, _) => Copying::No,
    };
    let lag = text(lag).and_then(|lag| lag.parse().ok()).map(Duration::from_millis);
    Step::Told(Box::new(Vitals {
        role,
        cluster: text(cluster).map(str::to_owned),
        // All servers of a cluster have its identifier; only one was started at this microsecond.
        node: text(started).map(str::to_owned),
        position: timeline.zip(at).map(|(timeline, at)| Position::Log { timeline, at }),
        lag: lag.filter(|_| role == Role::Standby),
        copying,
        was_copy: timeline.is_some_and(|timeline| timeline > 1),
        ..Vitals::default()
    }))
}

fn least(answer: &Answer, why: &str) -> Step {
    let standby = match answer {
        Answer::Rows { rows, .. } => rows.first().and_then(|row| row.first()),
        Answer::Refused(_) => None,
    };
    let untold = Some(format!("cluster and position: {why}"));
    Step::Told(Box::new(Vitals {
        role: standby.map_or(Role::Unknown, role),
        untold,
        ..Vitals::default()
    }))
}

fn untold(why: &str) -> Step {
    Step::Told(Box::new(Vitals { untold: Some(why.into()), ..Vitals::default() }))
}

fn role(standby: &Value) -> Role {
    match text(standby) {
        Some("true") => Role::Standby,
        Some("false") => Role::Primary,
        Some(_) | None => Role::Unknown,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: every question asks for text")]
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::ServerError;

    use super::*;

    fn row(fields: [&str; 7]) -> Answer {
        let value = |field: &str| match field {
            "" => Value::Null,
            text => Value::Text(text.into()),
        };
        Answer::Rows {
            labels: Vec::new(),
            rows: vec![fields.iter().map(|field| value(field)).collect()],
        }
    }

    fn vitals(answers: &[Answer]) -> Vitals {
        match Postgres.next(answers) {
            Step::Told(vitals) => *vitals,
            Step::Ask(question) => panic!("asks {question}"),
        }
    }

    #[test]
    fn a_promoted_server_tells_its_timeline() {
        let told = vitals(&[row(["false", "77", "2", "4096", "0", "17.5", "false"])]);
        assert_eq!((told.role, told.was_copy, told.lag), (Role::Primary, true, None));
        assert_eq!(told.position, Some(Position::Log { timeline: 2, at: 4096 }));
        assert_eq!(told.cluster.as_deref(), Some("77"));
    }

    #[test]
    fn a_standby_tells_its_lag_and_whether_it_receives() {
        let told = vitals(&[row(["true", "77", "1", "10", "1500", "17.5", "true"])]);
        assert_eq!((told.role, told.copying), (Role::Standby, Copying::Running));
        assert_eq!(told.lag, Some(Duration::from_millis(1500)));
        let told = vitals(&[row(["true", "77", "1", "10", "", "17.5", "false"])]);
        assert!(matches!(told.copying, Copying::Stopped(_)) && told.lag.is_none());
    }

    #[test]
    fn without_rights_the_role_is_still_asked_for() {
        let refused =
            || Answer::Refused(ServerError { message: "denied".into(), ..Default::default() });
        assert_eq!(Postgres.next(&[refused()]), Step::Ask(LEAST.into()));
        let yes = Answer::Rows { labels: Vec::new(), rows: vec![vec![Value::Text("true".into())]] };
        let told = vitals(&[refused(), yes]);
        assert_eq!((told.role, told.untold.is_some()), (Role::Standby, true));
        assert_eq!(vitals(&[refused(), refused()]).role, Role::Unknown);
    }

    #[test]
    fn answers_of_another_shape_tell_nothing() {
        for answer in [
            Answer::Rows { labels: Vec::new(), rows: Vec::new() },
            Answer::Rows { labels: Vec::new(), rows: vec![vec![Value::Int(1)]] },
        ] {
            assert_eq!(vitals(&[answer]).role, Role::Unknown);
        }
        let told = vitals(&[row(["maybe", "", "x", "-1", "y", "", ""])]);
        assert_eq!((told.role, told.position), (Role::Unknown, None));
    }
}
