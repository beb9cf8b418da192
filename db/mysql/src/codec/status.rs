//! The state a server reports at the end of each reply.

use std::ops::BitOr;

/// The server status flags.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html> (`SERVER_STATUS_flags_enum`)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub u16);

impl Status {
    /// A transaction is open.
    pub const IN_TRANSACTION: Self = Self(1);
    /// Statements commit by themselves.
    pub const AUTOCOMMIT: Self = Self(1 << 1);
    /// Another result follows this one.
    pub const MORE_RESULTS: Self = Self(1 << 3);
    /// A cursor was opened; rows come with COM_STMT_FETCH.
    pub const CURSOR_EXISTS: Self = Self(1 << 6);
    /// The cursor has no more rows.
    pub const LAST_ROW_SENT: Self = Self(1 << 7);
    /// `NO_BACKSLASH_ESCAPES` is in the SQL mode.
    pub const NO_BACKSLASH_ESCAPES: Self = Self(1 << 9);
    /// The result holds a procedure's OUT parameters.
    pub const OUT_PARAMETERS: Self = Self(1 << 12);
    /// The open transaction is read-only.
    pub const IN_READ_ONLY_TRANSACTION: Self = Self(1 << 13);
    /// Session state changes are in this OK.
    pub const SESSION_CHANGED: Self = Self(1 << 14);

    /// `ANSI_QUOTES` is in the SQL mode: MariaDB alone tells so.
    pub const ANSI_QUOTES: Self = Self(1 << 15);

    /// True when every flag of `other` is set here.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of this one that `other` does not have.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr<Option<Self>> for Status {
    type Output = Self;
    fn bitor(self, other: Option<Self>) -> Self {
        Self(self.0 | other.map_or(0, |other| other.0))
    }
}

impl BitOr for Status {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
