//! Reading a whole tree as it was at one moment.
//!
//! ZooKeeper answers for one node at a time. But a client learns of a change by its watch before it sees anything the change did: when
//! the watch of the prefix is quiet from before the first answer until after the last, all answers are of one moment.

use pando_repository::{Entry, Key, Lifetime, Prefix, Revision, View, Watch};

use crate::link::{Broken, Link, Reply};
use crate::wire::{Op, Stat, code};

/// Requests under way at once.
const WINDOW: usize = 32;

/// How an attempt failed.
pub(crate) enum Failed {
    /// Something changed meanwhile.
    Again,
    /// The connection ended.
    Broken,
    Server(i32),
    Odd,
    TooLarge(pando_repository::Error),
}

impl From<Broken> for Failed {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

/// One attempt. `watch` is on the same prefix.
pub(crate) async fn view(
    link: &Link,
    root: &str,
    below: &Prefix,
    watch: &mut Watch,
) -> Result<View, Failed> {
    // Another server may lag behind the one that made the last change.
    body(link.call(Op::Sync { path: root.to_owned() }).await?)?;
    watch.has_changed();
    let own = stat(link.call(Op::Exists { path: root.to_owned() }).await?)?;
    let mut view = View { revision: Revision(own.mzxid as u64), ..View::default() };
    let (mut bytes, mut level) = (0, vec![below.key().map_or("", Key::as_str).to_owned()]);
    while !level.is_empty() {
        let mut parents = Vec::new();
        for window in level.chunks(WINDOW) {
            let ask = |path: &String| Op::GetData { path: format!("{root}{path}") };
            for (path, reply) in window.iter().zip(all(link, window.iter().map(ask)).await?) {
                let Some((data, stat)) = data(reply)? else {
                    if below.key().is_some_and(|key| key.as_str() == path) {
                        continue;
                    }
                    return Err(Failed::Again);
                };
                if stat.children > 0 {
                    parents.push(path.clone());
                }
                // Other programs may have made nodes that no key names.
                if let (Some(value), Ok(key)) = (data, Key::parse(path)) {
                    let lifetime =
                        if stat.owner == 0 { Lifetime::Forever } else { Lifetime::Session };
                    let revision = Revision(stat.mzxid as u64);
                    let entry = Entry { value, revision, lifetime };
                    view.add(key, entry, &mut bytes).map_err(Failed::TooLarge)?;
                }
            }
        }
        level.clear();
        for window in parents.chunks(WINDOW) {
            let ask = |path: &String| Op::GetChildren { path: format!("{root}{path}") };
            for (path, reply) in window.iter().zip(all(link, window.iter().map(ask)).await?) {
                let mut body = body(reply)?;
                let names = body.texts().ok_or(Failed::Odd)?;
                level.extend(names.into_iter().map(|name| format!("{path}/{name}")));
            }
        }
    }
    if watch.has_changed() { Err(Failed::Again) } else { Ok(view) }
}

/// The stat of one node; `None` when there is none.
pub(crate) async fn nodes(
    link: &Link,
    root: &str,
    paths: &[String],
) -> Result<Vec<Option<Stat>>, Failed> {
    let mut found = Vec::with_capacity(paths.len());
    for window in paths.chunks(WINDOW) {
        let ask = |path: &String| Op::Exists { path: format!("{root}{path}") };
        for reply in all(link, window.iter().map(ask)).await? {
            found.push(if reply.error == code::NO_NODE { None } else { Some(stat(reply)?) });
        }
    }
    Ok(found)
}

/// The node's data, which may be none; `None` without a node.
pub(crate) fn data(reply: Reply) -> Result<Option<(Option<bytes::Bytes>, Stat)>, Failed> {
    if reply.error == code::NO_NODE {
        return Ok(None);
    }
    let mut body = body(reply)?;
    let data = body.buffer().ok_or(Failed::Odd)?;
    Ok(Some((data, body.stat().ok_or(Failed::Odd)?)))
}

pub(crate) fn stat(reply: Reply) -> Result<Stat, Failed> {
    body(reply)?.stat().ok_or(Failed::Odd)
}

fn body(reply: Reply) -> Result<crate::wire::Reader, Failed> {
    match reply.error {
        0 => Ok(reply.body),
        code::NO_NODE => Err(Failed::Again),
        error => Err(Failed::Server(error)),
    }
}

async fn all(link: &Link, ops: impl Iterator<Item = Op>) -> Result<Vec<Reply>, Broken> {
    let mut pending = Vec::new();
    for op in ops {
        pending.push(link.ask(op).await);
    }
    let mut replies = Vec::with_capacity(pending.len());
    for answer in pending {
        replies.push(answer.answer().await?);
    }
    Ok(replies)
}
