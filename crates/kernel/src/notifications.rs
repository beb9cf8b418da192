//! Notifications over channels: what sessions tell each other past their statements, and the words of a family for
//! that.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::Result;

/// What somebody has told over a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The number of who has told it; 0 where that is nobody's that its receiver could know.
    pub process: u32,
    /// The channel, as the server spells it.
    pub channel: Arc<str>,
    /// What was told; may be empty.
    pub payload: Arc<str>,
}

/// What is to be told over a channel when a transaction commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The channel.
    pub channel: String,
    /// What is told; may be empty.
    pub payload: String,
}

/// A family's words for channels.
pub trait Notifications: Send + Sync + Debug {
    /// What has a connection told of a channel from then on.
    fn listen(&self, channel: &str) -> String;

    /// What ends that.
    fn unlisten(&self, channel: &str) -> String;

    /// A query that tells these, in order.
    fn notify(&self, notices: &[Notice]) -> String;

    /// A query with one text that names the place which a channel's name is known in: the same for all connections that
    /// hear the same.
    fn place_query(&self) -> &'static str;

    /// Whether servers would tell that.
    ///
    /// # Errors
    /// `Server`, in the family's words, where no channel can be called so, or what is to be told is too long.
    fn check(&self, notice: &Notice) -> Result<()>;
}

/// The longest name of a channel, in bytes: what is longer is cut where a statement names it.
pub const LONGEST_CHANNEL: usize = 63;

/// A name as servers keep it that is longer than they take.
pub fn cut(name: &str) -> &str {
    let mut end = name.len().min(LONGEST_CHANNEL);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_name_is_cut_between_letters() {
        assert_eq!(cut("a"), "a");
        assert_eq!(cut(&"ä".repeat(40)), "ä".repeat(31));
        assert_eq!(cut(&"a".repeat(64)).len(), 63);
    }
}
