//! Broken connections and stopped servers.

use std::time::Duration;

use pando_kernel::runtime::within;

use super::{Done, Failure, Server, Stand, hold, key, signal};
use crate::{Change, Error, Expected, Prefix, Repository, SessionState};

/// A call's deadline, with what a busy machine adds.
const ENDS: Duration = Duration::from_secs(8);

pub(super) async fn a_cut_session_expires_and_another_begins(stand: &dyn Stand) -> Done {
    let Some(made) = stand.behind_relay().await else { return Ok(None) };
    let (repository, relay) = made?;
    let other = stand.instance().await?;
    let below = Prefix::parse("/cut")?;
    let own = key("cut", "a")?;
    repository.commit(Change::new().put_for_session(&own, "1").put(&key("cut", "b")?, "1")).await?;
    let mut session = repository.session();
    let before = session.now();
    let mut watch = other.watch(&below);
    relay.cut();
    failing_calls(stand, &*repository).await?;
    hold!(matches!(session.now().state, SessionState::Lost { .. }), "{:?}", session.now());
    while other.read(&below).await?.entries.contains_key(&own) {
        signal(stand, &mut watch).await?;
    }
    let mut seen = repository.watch(&below);
    relay.heal();
    let told = async {
        while session.changed().await?.number == before.number {}
        Ok::<_, Failure>(())
    };
    let told = within(&*stand.runtime(), Duration::from_secs(20), told).await;
    told.ok_or_else(|| Failure("no new session after 20 s".into()))??;
    // What happened meanwhile is told.
    signal(stand, &mut seen).await?;
    repository.commit(Change::new().put_for_session(&own, "2")).await?;
    let view = other.read(&below).await?;
    hold!(view.entries.len() == 2 && view.entries[&own].value == "2", "{view:?}");
    Ok(Some(()))
}

pub(super) async fn calls_end_while_the_server_is_stopped_and_work_after(
    stand: &dyn Stand,
) -> Done {
    let Some(server) = stand.server() else { return Ok(None) };
    outage(stand, server, || server.stop(), "stopped").await?;
    Ok(Some(()))
}

pub(super) async fn what_is_stored_survives_a_killed_server(stand: &dyn Stand) -> Done {
    let Some(server) = stand.server() else { return Ok(None) };
    outage(stand, server, || server.kill(), "killed").await?;
    Ok(Some(()))
}

async fn outage(
    stand: &dyn Stand,
    server: &dyn Server,
    end: impl Fn() -> Result<(), String>,
    case: &str,
) -> Result<(), Failure> {
    let (repository, other) = (stand.instance().await?, stand.instance().await?);
    let below = Prefix::parse(&format!("/{case}"))?;
    let (own, kept) = (key(case, "a")?, key(case, "b")?);
    let put = repository.commit(Change::new().put_for_session(&own, "1").put(&kept, "1")).await?;
    repository.read(&below).await?;
    let mut watch = repository.watch(&below);
    end()?;
    failing_calls(stand, &*repository).await?;
    server.start()?;
    // A new connection is told of, as anything may have changed meanwhile.
    signal(stand, &mut watch).await?;
    let view = repository.read(&below).await?;
    let revision = view.entries.get(&kept).map(|entry| entry.revision);
    hold!(revision == Some(put), "what was told to be stored is not there: {view:?}");
    other.commit(Change::new().expect(&kept, Expected::At(put)).put(&kept, "2")).await?;
    let mut view = repository.read(&below).await?;
    while view.entries[&kept].value != "2" {
        signal(stand, &mut watch).await?;
        view = repository.read(&below).await?;
    }
    Ok(())
}

/// Every call ends by itself, and none claims to have done something.
async fn failing_calls(stand: &dyn Stand, repository: &dyn Repository) -> Result<(), Failure> {
    let below = Prefix::root();
    let read = within(&*stand.runtime(), ENDS, repository.read(&below)).await;
    hold!(matches!(read, Some(Err(Error::Unavailable(_)))), "a read without a server: {read:?}");
    let change = Change::new().put(&key("nothing", "a")?, "x");
    let done = within(&*stand.runtime(), ENDS, repository.commit(change)).await;
    let failed = matches!(done, Some(Err(Error::Unavailable(_) | Error::Unknown(_))));
    hold!(failed, "a change without a server: {done:?}");
    Ok(())
}
