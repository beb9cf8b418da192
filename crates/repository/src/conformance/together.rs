//! Several instances at once.

use std::sync::Arc;

use super::{Done, Failure, Stand, beside, hold, key, signal};
use crate::{Change, Error, Expected, Key, Prefix, Repository};

const WRITERS: usize = 4;
const ROUNDS: usize = 8;
const TRIES: usize = 8;

async fn number(repository: &dyn Repository, key: &Key) -> Result<(u64, Expected), Failure> {
    let view = repository.read(&Prefix::from(key.clone())).await?;
    let Some(entry) = view.entries.get(key) else { return Ok((0, Expected::Absent)) };
    let text = String::from_utf8_lossy(&entry.value);
    let number = text.parse().map_err(|_| Failure(format!("`{text}` is no number")))?;
    Ok((number, Expected::At(entry.revision)))
}

async fn increment(repository: &dyn Repository, key: &Key) -> Result<(), Failure> {
    loop {
        let (number, expected) = number(repository, key).await?;
        let change = Change::new().expect(key, expected).put(key, (number + 1).to_string());
        match repository.commit(change).await {
            Ok(_) => return Ok(()),
            Err(Error::Conflict(_)) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

pub(super) async fn no_increment_is_lost_among_writers(stand: &dyn Stand) -> Done {
    let counter = key("counter", "n")?;
    let mut writers = Vec::new();
    for _ in 0..WRITERS {
        let (repository, counter) = (stand.instance().await?, counter.clone());
        writers.push(beside(stand, async move {
            for _ in 0..ROUNDS {
                increment(&*repository, &counter).await?;
            }
            Ok::<_, Failure>(())
        }));
    }
    for writer in writers {
        writer.await??;
    }
    let (number, _) = number(&*stand.instance().await?, &counter).await?;
    hold!(number == (WRITERS * ROUNDS) as u64, "{number} of {}", WRITERS * ROUNDS);
    Ok(Some(()))
}

/// Each follower reads only when its watch says so, and must come to what every writer wrote last.
pub(super) async fn every_watch_comes_to_the_last_state(stand: &dyn Stand) -> Done {
    let below = Prefix::parse("/watched")?;
    let mut followers = Vec::new();
    for _ in 0..2 {
        let (repository, below) = (stand.instance().await?, below.clone());
        let mut watch = repository.watch(&below);
        followers.push(beside(stand, async move {
            while !is_last(&*repository, &below).await? {
                watch.changed().await?;
            }
            Ok::<_, Failure>(())
        }));
    }
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let repository: Arc<dyn Repository> = stand.instance().await?;
        writers.push(beside(stand, async move {
            let own = key("watched", &format!("by/{writer}"))?;
            for n in 1..=ROUNDS {
                repository.commit(Change::new().put(&own, n.to_string())).await?;
            }
            Ok::<_, Failure>(())
        }));
    }
    for part in writers.into_iter().chain(followers) {
        part.await??;
    }
    Ok(Some(()))
}

async fn is_last(repository: &dyn Repository, below: &Prefix) -> Result<bool, Failure> {
    let view = repository.read(below).await?;
    let last = ROUNDS.to_string();
    Ok(view.entries.len() == WRITERS && view.entries.values().all(|entry| entry.value == last))
}

pub(super) async fn a_watch_tells_only_of_its_own_keys(stand: &dyn Stand) -> Done {
    let (repository, other) = (stand.instance().await?, stand.instance().await?);
    // After this read the instance's connection stands, so that nothing but changes is signalled.
    repository.read(&Prefix::root()).await?;
    let mut own = repository.watch(&Prefix::parse("/own/a")?);
    let mut all = repository.watch(&Prefix::parse("/own")?);
    // Watches tell of a beginning connection, too, and that may come late: one change in a few must be told to the other alone.
    let mut is_quiet = false;
    for n in 0..TRIES {
        own.has_changed();
        all.has_changed();
        other.commit(Change::new().put(&key("own", "b")?, n.to_string())).await?;
        signal(stand, &mut all).await?;
        is_quiet = !own.has_changed();
        if is_quiet {
            break;
        }
    }
    hold!(is_quiet, "a change of `/own/b` was told to a watch on `/own/a`");
    other.commit(Change::new().put(&key("own", "a/deep")?, "x")).await?;
    signal(stand, &mut own).await?;
    other.commit(Change::new().delete(&key("own", "a/deep")?)).await?;
    signal(stand, &mut own).await?;
    Ok(Some(()))
}
