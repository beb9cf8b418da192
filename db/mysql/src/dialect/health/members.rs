//! Clusters that elect their primary themselves, or have several.

use pando_kernel::health::{Answer, Copying, Role, Vitals};

use super::answers::{Row, Told};

/// What Group Replication's own list of members makes of a server. A server that is in no group is what its replication says.
pub(super) fn group(server: &Told, answer: &Answer, vitals: &mut Vitals) {
    let (labels, rows) = match answer {
        Answer::Rows { labels, rows } => (labels, rows),
        Answer::Refused(why) => {
            vitals.untold = Some(format!("group members: {}", why.message));
            vitals.role = Role::Unknown;
            return;
        }
    };
    let members = Row::all(labels, rows);
    let state = |member: &Row<'_>| member.text(&["MEMBER_STATE"]).unwrap_or_default();
    let is_writer = |member: &Row<'_>| {
        state(member) == "ONLINE" && member.text(&["MEMBER_ROLE"]).as_deref() == Some("PRIMARY")
    };
    let uuid = server.get("server_uuid");
    let own = members.iter().find(|member| member.text(&["MEMBER_ID"]).as_deref() == uuid);
    let Some(own) = own.filter(|own| state(own) != "OFFLINE") else { return };
    vitals.cluster = server.get("group_replication_group_name").map(str::to_owned);
    vitals.was_copy = true;
    let lost = members.iter().filter(|member| state(member) == "UNREACHABLE").count();
    vitals.role = Role::Standby;
    if state(own) != "ONLINE" {
        vitals.unfit = Some(format!("its state in the group is `{}`", state(own)));
    } else if lost * 2 >= members.len() {
        // Without a majority it may still believe itself the primary, while the others have elected another.
        vitals.unfit = Some("it has lost the majority of its group".into());
    } else if is_writer(own) {
        let writers = members.iter().filter(|member| is_writer(member)).count();
        vitals.role = if writers > 1 { Role::Peer } else { Role::Primary };
    } else if own.text(&["MEMBER_ROLE"]).is_none() {
        // 5.7's list has no roles; the elected primary is the one that isn't read-only.
        vitals.role = if server.is_on("read_only") { Role::Standby } else { Role::Primary };
    } else {
        vitals.copying = Copying::Running;
    }
}

/// What Galera's state makes of a server: any that is in step takes writes.
pub(super) fn galera(status: &Told, vitals: &mut Vitals) {
    vitals.cluster = status.get("wsrep_cluster_state_uuid").map(str::to_owned);
    let is_part =
        status.get("wsrep_cluster_status") == Some("Primary") && status.is_on("wsrep_ready");
    let state = status.get("wsrep_local_state_comment").unwrap_or("unknown");
    if is_part && state == "Synced" {
        if vitals.role == Role::Primary {
            vitals.role = Role::Peer;
        }
    } else {
        vitals.role = Role::Standby;
        vitals.unfit = Some(format!("its state in the cluster is `{state}`"));
    }
}
