//! ZooKeeper's messages as bytes: big-endian integers, strings and buffers with their length before them (-1 for none). The layouts are
//! those of `zookeeper.jute` in <https://github.com/apache/zookeeper>; frames around them have a four-byte length.

use bytes::Bytes;

/// What a request can ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Exists { path: String },
    GetData { path: String },
    GetChildren { path: String },
    Sync { path: String },
    AddWatch { path: String },
    Close,
    Multi(Vec<Step>),
}

/// One part of a multi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Check {
        path: String,
        version: i32,
    },
    /// Data `None` marks a node that is there only for those below it.
    Create {
        path: String,
        data: Option<Bytes>,
        kind: Kind,
    },
    /// Version -1 fits every one.
    Set {
        path: String,
        data: Option<Bytes>,
        version: i32,
    },
    Delete {
        path: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Persistent,
    Ephemeral,
}

/// Who may do what with a new node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Everybody,
    Creator,
}

/// What a server says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// The transaction that changed the data last.
    pub(crate) mzxid: i64,
    pub(crate) version: i32,
    /// 0 for a node without a session.
    pub(crate) owner: i64,
    pub(crate) length: i32,
    pub(crate) children: i32,
}

/// Error codes, <https://zookeeper.apache.org/doc/r3.8.0/apidocs/zookeeper-server/org/apache/zookeeper/KeeperException.Code.html>.
pub(crate) mod code {
    pub(crate) const RUNTIME_INCONSISTENCY: i32 = -2;
    pub(crate) const NO_NODE: i32 = -101;
    pub(crate) const NO_AUTH: i32 = -102;
    pub(crate) const BAD_VERSION: i32 = -103;
    pub(crate) const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    pub(crate) const NODE_EXISTS: i32 = -110;
    pub(crate) const NOT_EMPTY: i32 = -111;
    pub(crate) const INVALID_ACL: i32 = -114;
    pub(crate) const AUTH_FAILED: i32 = -115;
    pub(crate) const QUOTA_EXCEEDED: i32 = -125;
}

/// Reserved transaction numbers of requests and replies.
pub(crate) mod xid {
    pub(crate) const EVENT: i32 = -1;
    pub(crate) const PING: i32 = -2;
    pub(crate) const AUTH: i32 = -4;
}

const MULTI: i32 = 14;
const PERMISSIONS: i32 = 31;

/// The payload of a frame that opens or takes up a session.
pub(crate) fn connect(zxid: i64, timeout: i32, session: i64, password: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    int(&mut out, 0);
    long(&mut out, zxid);
    int(&mut out, timeout);
    long(&mut out, session);
    buffer(&mut out, Some(password));
    out.push(0); // Never a server without a quorum.
    out
}

pub(crate) fn ping() -> Vec<u8> {
    header(xid::PING, 11)
}

pub(crate) fn auth(digest: &str) -> Vec<u8> {
    let mut out = header(xid::AUTH, 100);
    int(&mut out, 0);
    text(&mut out, "digest");
    buffer(&mut out, Some(digest.as_bytes()));
    out
}

pub(crate) fn request(xid: i32, op: &Op, access: Access) -> Vec<u8> {
    let of_path = |kind: i32, path: &str| {
        let mut out = header(xid, kind);
        text(&mut out, path);
        out
    };
    let unwatched = |kind, path: &str| {
        let mut out = of_path(kind, path);
        out.push(0);
        out
    };
    match op {
        Op::Exists { path } => unwatched(3, path),
        Op::GetData { path } => unwatched(4, path),
        Op::GetChildren { path } => unwatched(12, path),
        Op::Sync { path } => of_path(9, path),
        Op::AddWatch { path } => {
            let mut out = of_path(106, path);
            int(&mut out, 1); // Persistent, and for all nodes below.
            out
        }
        Op::Close => header(xid, -11),
        Op::Multi(steps) => multi(xid, steps, access),
    }
}

fn multi(xid: i32, steps: &[Step], access: Access) -> Vec<u8> {
    let mut out = header(xid, MULTI);
    let begin = |out: &mut Vec<u8>, kind: i32| {
        int(out, kind);
        out.push(0);
        int(out, -1);
    };
    for step in steps {
        match step {
            Step::Check { path, version } => {
                begin(&mut out, 13);
                text(&mut out, path);
                int(&mut out, *version);
            }
            Step::Create { path, data, kind } => {
                begin(&mut out, 1);
                text(&mut out, path);
                buffer(&mut out, data.as_deref());
                acl(&mut out, access);
                int(&mut out, i32::from(*kind == Kind::Ephemeral));
            }
            Step::Set { path, data, version } => {
                begin(&mut out, 5);
                text(&mut out, path);
                buffer(&mut out, data.as_deref());
                int(&mut out, *version);
            }
            Step::Delete { path } => {
                begin(&mut out, 2);
                text(&mut out, path);
                int(&mut out, -1);
            }
        }
    }
    int(&mut out, -1);
    out.push(1);
    int(&mut out, -1);
    out
}

fn acl(out: &mut Vec<u8>, access: Access) {
    let (scheme, id) = match access {
        Access::Everybody => ("world", "anyone"),
        Access::Creator => ("auth", ""),
    };
    int(out, 1);
    int(out, PERMISSIONS);
    text(out, scheme);
    text(out, id);
}

fn header(xid: i32, kind: i32) -> Vec<u8> {
    let mut out = Vec::new();
    int(&mut out, xid);
    int(&mut out, kind);
    out
}

fn int(out: &mut Vec<u8>, n: i32) {
    out.extend_from_slice(&n.to_be_bytes());
}

fn long(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&n.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    buffer(out, Some(text.as_bytes()));
}

fn buffer(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    // Lengths are below a mebibyte: whoever asks for more has been refused before.
    int(out, bytes.map_or(-1, |bytes| bytes.len() as i32));
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// Reads a message; `None` when it is shorter than it says.
pub(crate) struct Reader(pub(crate) Bytes);

impl Reader {
    pub(crate) fn int(&mut self) -> Option<i32> {
        let (bytes, _) = self.0.split_first_chunk()?;
        let n = i32::from_be_bytes(*bytes);
        drop(self.0.split_to(4));
        Some(n)
    }

    pub(crate) fn long(&mut self) -> Option<i64> {
        let (bytes, _) = self.0.split_first_chunk()?;
        let n = i64::from_be_bytes(*bytes);
        drop(self.0.split_to(8));
        Some(n)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        let first = *self.0.first()?;
        drop(self.0.split_to(1));
        Some(first != 0)
    }

    /// `Some(None)` for no bytes at all, which is not the same as empty.
    pub(crate) fn buffer(&mut self) -> Option<Option<Bytes>> {
        let length = self.int()?;
        if length < 0 {
            return Some(None);
        }
        let length = usize::try_from(length).ok()?;
        (length <= self.0.len()).then(|| Some(self.0.split_to(length)))
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.buffer()??.to_vec()).ok()
    }

    pub(crate) fn texts(&mut self) -> Option<Vec<String>> {
        let count = usize::try_from(self.int()?).ok()?;
        // Each has four bytes at least: a lying count ends soon and reserves nothing.
        (0..count).map(|_| self.text()).collect()
    }

    pub(crate) fn stat(&mut self) -> Option<Stat> {
        let _created = self.long()?;
        let mzxid = self.long()?;
        let _times = (self.long()?, self.long()?);
        let version = self.int()?;
        let _versions = (self.int()?, self.int()?);
        let owner = self.long()?;
        let (length, children) = (self.int()?, self.int()?);
        let _children_changed = self.long()?;
        Some(Stat { mzxid, version, owner, length, children })
    }

    /// The first error of a multi's results; 0 when there is none.
    pub(crate) fn multi(&mut self) -> Option<i32> {
        let mut first = 0;
        loop {
            let (kind, done, _) = (self.int()?, self.flag()?, self.int()?);
            if done {
                return Some(first);
            }
            match kind {
                1 => drop(self.text()?),
                5 => drop(self.stat()?),
                2 | 13 => {}
                -1 => {
                    let error = self.int()?;
                    // What only says that another part failed.
                    let is_cause = error != 0 && error != code::RUNTIME_INCONSISTENCY;
                    if is_cause && first == 0 {
                        first = error;
                    }
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multi_is_laid_out_as_the_servers_read_it() {
        let steps = [
            Step::Check { path: "/a".into(), version: 3 },
            Step::Create { path: "/b".into(), data: None, kind: Kind::Ephemeral },
        ];
        let bytes = request(7, &Op::Multi(steps.into()), Access::Everybody);
        let expected: Vec<u8> = [
            &[0, 0, 0, 7, 0, 0, 0, 14][..],
            &[0, 0, 0, 13, 0, 255, 255, 255, 255, 0, 0, 0, 2, b'/', b'a', 0, 0, 0, 3],
            &[0, 0, 0, 1, 0, 255, 255, 255, 255, 0, 0, 0, 2, b'/', b'b', 255, 255, 255, 255],
            &[0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5],
            b"world",
            &[0, 0, 0, 6],
            b"anyone",
            &[0, 0, 0, 1],
            &[255, 255, 255, 255, 1, 255, 255, 255, 255],
        ]
        .concat();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_cause_of_a_failed_multi_is_found() {
        let mut out = Vec::new();
        for error in [0, code::BAD_VERSION, code::RUNTIME_INCONSISTENCY] {
            int(&mut out, -1);
            out.push(0);
            int(&mut out, error);
            int(&mut out, error);
        }
        int(&mut out, -1);
        out.push(1);
        int(&mut out, -1);
        assert_eq!(Reader(out.clone().into()).multi(), Some(code::BAD_VERSION));
        for end in 0..out.len() {
            assert_eq!(Reader(out[..end].to_vec().into()).multi(), None);
        }
    }

    #[test]
    fn lying_lengths_are_not_believed() {
        let mut huge = Vec::new();
        int(&mut huge, i32::MAX);
        huge.push(b'x');
        assert!(Reader(huge.clone().into()).texts().is_none());
        assert!(Reader(huge.into()).buffer().is_none());
        assert_eq!(Reader(vec![255; 4].into()).buffer(), Some(None));
        assert!(Reader(vec![0; 67].into()).stat().is_none());
        assert!(Reader(vec![0; 68].into()).stat().is_some());
    }
}
