//! What client and server agree on at login.

use std::ops::{BitAnd, BitOr};

/// The capability flags; MariaDB's own stand in the upper half.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html>,
/// <https://mariadb.com/kb/en/connection/#capabilities>
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// The old name of bit 0 (`CLIENT_LONG_PASSWORD`); MariaDB servers leave it unset to say they are MariaDB.
    pub const LONG_PASSWORD: Self = Self(1);
    /// The affected count of UPDATE is rows found, not rows changed.
    pub const FOUND_ROWS: Self = Self(1 << 1);
    /// Column flags are two bytes.
    pub const LONG_FLAG: Self = Self(1 << 2);
    /// The login names a database.
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    /// zlib compression of the stream.
    pub const COMPRESS: Self = Self(1 << 5);
    /// `LOAD DATA LOCAL` may ask the client for a file.
    pub const LOCAL_FILES: Self = Self(1 << 7);
    /// Spaces before `(` are ignored by the parser.
    pub const IGNORE_SPACE: Self = Self(1 << 8);
    /// The 4.1 protocol.
    pub const PROTOCOL_41: Self = Self(1 << 9);
    /// The time-out is the interactive one.
    pub const INTERACTIVE: Self = Self(1 << 10);
    /// TLS follows.
    pub const SSL: Self = Self(1 << 11);
    /// Status flags in OK packets.
    pub const TRANSACTIONS: Self = Self(1 << 13);
    /// 20 byte scrambles (was `CLIENT_SECURE_CONNECTION`).
    pub const SECURE_CONNECTION: Self = Self(1 << 15);
    /// Several statements in one COM_QUERY.
    pub const MULTI_STATEMENTS: Self = Self(1 << 16);
    /// Several result sets in answer to COM_QUERY.
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    /// Several result sets in answer to COM_STMT_EXECUTE.
    pub const PS_MULTI_RESULTS: Self = Self(1 << 18);
    /// Authentication by named plugins.
    pub const PLUGIN_AUTH: Self = Self(1 << 19);
    /// Connect attributes in the login.
    pub const CONNECT_ATTRS: Self = Self(1 << 20);
    /// The authentication answer may exceed 255 bytes.
    pub const PLUGIN_AUTH_LENENC: Self = Self(1 << 21);
    /// A login with an expired password is possible.
    pub const EXPIRED_PASSWORDS: Self = Self(1 << 22);
    /// OK packets carry session state changes.
    pub const SESSION_TRACK: Self = Self(1 << 23);
    /// No EOF after column definitions; an OK with header 0xFE ends the rows.
    pub const DEPRECATE_EOF: Self = Self(1 << 24);
    /// Column definitions may be left out.
    pub const OPTIONAL_METADATA: Self = Self(1 << 25);
    /// zstd compression of the stream.
    pub const ZSTD: Self = Self(1 << 26);
    /// Named attributes with queries.
    pub const QUERY_ATTRIBUTES: Self = Self(1 << 27);
    /// Column definitions say more of a type than its number (MariaDB).
    pub const EXTENDED_METADATA: Self = Self(1 << 35);

    /// From the half that both families know and the one that is MariaDB's.
    pub fn from_halves(common: u32, extended: u32) -> Self {
        Self(u64::from(common) | u64::from(extended) << 32)
    }

    /// The flags that both families know.
    pub fn common(self) -> u32 {
        self.0 as u32
    }

    /// MariaDB's own, which travel only where [`Self::LONG_PASSWORD`] is unset; none where it is set.
    pub fn extended(self) -> u32 {
        if self.has(Self::LONG_PASSWORD) { 0 } else { (self.0 >> 32) as u32 }
    }

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

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Capabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
