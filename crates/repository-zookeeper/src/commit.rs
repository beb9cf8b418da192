//! Making a change: looks at the nodes it concerns, plans one multi, and sends it with the namespace's version as a guard.
//!
//! Every change raises the version of the namespace's node. So a multi that is guarded by the version from before its looking is made
//! only if nobody changed anything since, and changes are made one after the other however many instances make them.

use std::collections::BTreeMap;

use bytes::Bytes;
use pando_repository::{Change, Error, Revision};

use crate::link::{Broken, Link};
use crate::plan::{self, Node};
use crate::read::{self, Failed};
use crate::wire::{self, Access, Op, Step, code};

/// What a server takes in one request, unless it has been told otherwise (`jute.maxbuffer`).
const MAX_REQUEST: usize = 0xf_ffff - 1024;

/// How an attempt ended that made nothing.
pub(crate) enum Outcome {
    /// Someone else was faster.
    Again,
    /// The connection broke before the multi left.
    NoLink,
    Failed(Error),
    Server(i32),
}

impl From<Failed> for Outcome {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Again => Self::Again,
            Failed::Broken => Self::NoLink,
            Failed::Server(error) => Self::Server(error),
            Failed::Odd => Self::Failed(Error::Unavailable("an odd answer".into())),
            Failed::TooLarge(e) => Self::Failed(e),
        }
    }
}

/// The multi of one attempt, ready to go.
pub(crate) async fn prepare(link: &Link, root: &str, change: &Change) -> Result<Op, Outcome> {
    let own = link.call(Op::Exists { path: root.to_owned() }).await.map_err(Failed::from)?;
    let version = read::stat(own)?.version;
    let nodes = look(link, root, &plan::concerned(change)).await?;
    let steps = plan::steps(root, link.session, nodes, change).map_err(Outcome::Failed)?;
    // The version is the guard; raising it is what guards the others.
    let mut all = vec![Step::Set { path: root.to_owned(), data: None, version }];
    all.extend(steps);
    let multi = Op::Multi(all);
    let bytes = wire::request(0, &multi, Access::Everybody).len();
    if bytes > MAX_REQUEST {
        let why = format!("the change takes a request of {bytes} bytes, more than {MAX_REQUEST}");
        return Err(Outcome::Failed(Error::Refused(why)));
    }
    Ok(multi)
}

async fn look(
    link: &Link,
    root: &str,
    paths: &[String],
) -> Result<BTreeMap<String, Node>, Outcome> {
    let mut nodes = BTreeMap::new();
    for (path, stat) in paths.iter().zip(read::nodes(link, root, paths).await?) {
        let Some(stat) = stat else { continue };
        let mut has_value = true;
        if stat.length == 0 {
            // No data and empty data have the same length.
            let full = format!("{root}{path}");
            let reply = link.call(Op::GetData { path: full }).await.map_err(Failed::from)?;
            let found: Option<(Option<Bytes>, _)> = read::data(reply)?;
            has_value = found.ok_or(Outcome::Again)?.0.is_some();
        }
        nodes.insert(path.clone(), Node { stat, has_value });
    }
    Ok(nodes)
}

/// Sends the multi. An error other than `Outcome::Again` is final.
pub(crate) async fn send(link: &Link, multi: Op) -> Result<Revision, Outcome> {
    let reply = match link.call(multi).await {
        Ok(reply) => reply,
        Err(Broken::NotSent) => return Err(Outcome::NoLink),
        Err(Broken::InDoubt(why)) => return Err(Outcome::Failed(Error::Unknown(why))),
    };
    let zxid = reply.zxid as u64;
    let error = match reply.error {
        0 => {
            let mut body = reply.body;
            let odd = || Outcome::Failed(Error::Unknown("an odd answer".into()));
            body.multi().ok_or_else(odd)?
        }
        error => error,
    };
    match error {
        0 => Ok(Revision(zxid)),
        code::BAD_VERSION
        | code::NO_NODE
        | code::NODE_EXISTS
        | code::NOT_EMPTY
        | code::NO_CHILDREN_FOR_EPHEMERALS => Err(Outcome::Again),
        error => Err(Outcome::Server(error)),
    }
}
