//! What a replica's status tells.
//! <https://dev.mysql.com/doc/refman/8.0/en/show-replica-status.html>

use std::time::Duration;

use pando_kernel::health::{Copying, Vitals};

use super::answers::Row;

/// One row for each channel. All must run; the slowest tells the lag.
pub(super) fn told(copies: &[Row<'_>], vitals: &mut Vitals) {
    let Some(first) = copies.first() else { return };
    let source = first.text(&["Source_UUID", "Master_UUID"]);
    let source = source.filter(|uuid| !uuid.is_empty());
    vitals.source = source.or_else(|| first.text(&["Source_Server_Id", "Master_Server_Id"]));
    vitals.copying = Copying::Running;
    let mut lag = Some(0);
    for copy in copies {
        for (thread, names) in [
            ("receiver", ["Replica_IO_Running", "Slave_IO_Running"]),
            ("applier", ["Replica_SQL_Running", "Slave_SQL_Running"]),
        ] {
            let state = copy.text(&names).unwrap_or_default();
            if !state.eq_ignore_ascii_case("yes") {
                let error = copy.text(&["Last_Error"]).filter(|error| !error.is_empty());
                let error = error.map(|error| format!(": {error}")).unwrap_or_default();
                vitals.copying = Copying::Stopped(format!("its {thread} is `{state}`{error}"));
            }
        }
        let behind = copy.text(&["Seconds_Behind_Source", "Seconds_Behind_Master"]);
        let behind = behind.and_then(|seconds| seconds.parse::<u64>().ok());
        lag = lag.zip(behind).map(|(most, behind)| most.max(behind));
    }
    vitals.lag = lag.map(Duration::from_secs);
}
