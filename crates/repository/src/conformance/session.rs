//! Keys that live as long as an instance.

use super::{Done, Stand, hold, key, signal};
use crate::{Change, Expected, Key, Lifetime, Prefix, Repository, SessionState};

/// Puts two session keys and a lasting one, and sees that another instance has them.
async fn settle(
    stand: &dyn Stand,
    repository: &dyn Repository,
    case: &str,
) -> Result<(), super::Failure> {
    let (a, b, kept) = (key(case, "a")?, key(case, "deep/b")?, key(case, "kept")?);
    let change = Change::new().put_for_session(&a, "1").put_for_session(&b, "2").put(&kept, "3");
    repository.commit(change).await?;
    let view = stand.instance().await?.read(&Prefix::parse(&format!("/{case}"))?).await?;
    let lifetimes: Vec<_> = view.entries.values().map(|entry| entry.lifetime).collect();
    let wanted = [Lifetime::Session, Lifetime::Session, Lifetime::Forever];
    hold!(lifetimes == wanted, "{:?}: {lifetimes:?}", view.entries.keys());
    let session = repository.session().now();
    hold!(session.number > 0 && session.state == SessionState::Connected, "{session:?}");
    Ok(())
}

/// Waits, by its watch alone, until only the lasting key is there.
async fn see_them_go(
    stand: &dyn Stand,
    other: &dyn Repository,
    case: &str,
) -> Result<(), super::Failure> {
    let below = Prefix::parse(&format!("/{case}"))?;
    let mut watch = other.watch(&below);
    loop {
        let view = other.read(&below).await?;
        let left: Vec<&Key> = view.entries.keys().collect();
        hold!(left.len() != 2, "the keys of one session went one by one: {left:?}");
        if left == [&key(case, "kept")?] {
            return Ok(());
        }
        signal(stand, &mut watch).await?;
    }
}

pub(super) async fn a_closed_sessions_keys_go_at_once(stand: &dyn Stand) -> Done {
    let (repository, other) = (stand.instance().await?, stand.instance().await?);
    settle(stand, &*repository, "closing").await?;
    repository.close().await;
    let view = other.read(&Prefix::parse("/closing")?).await?;
    hold!(view.entries.len() == 1, "still there: {:?}", view.entries.keys());
    Ok(Some(()))
}

pub(super) async fn an_abandoned_sessions_keys_go_with_time(stand: &dyn Stand) -> Done {
    let (repository, other) = (stand.instance().await?, stand.instance().await?);
    settle(stand, &*repository, "abandoned").await?;
    drop(repository);
    see_them_go(stand, &*other, "abandoned").await?;
    Ok(Some(()))
}

pub(super) async fn a_session_key_can_become_lasting_and_back(stand: &dyn Stand) -> Done {
    let (repository, other) = (stand.instance().await?, stand.instance().await?);
    let (a, b) = (key("lasting", "a")?, key("lasting", "b")?);
    let first = repository.commit(Change::new().put_for_session(&a, "1").put(&b, "1")).await?;
    let change = Change::new().expect(&a, Expected::At(first)).put(&a, "2");
    repository.commit(change.put_for_session(&b, "2")).await?;
    // Another instance takes a session's key over: it is its own from then on.
    let c = key("lasting", "c")?;
    repository.commit(Change::new().put_for_session(&c, "1")).await?;
    other.commit(Change::new().put_for_session(&c, "2")).await?;
    repository.close().await;
    let view = other.read(&Prefix::parse("/lasting")?).await?;
    hold!(view.entries.keys().eq([&a, &c]), "{:?}", view.entries.keys());
    hold!(view.entries[&a].value == "2" && view.entries[&c].value == "2", "other values");
    Ok(Some(()))
}
