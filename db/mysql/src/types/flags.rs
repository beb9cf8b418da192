//! Column flags and the character sets the code must tell apart.

/// Column flags.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__column__definition__flags.html>
pub mod flag {
    /// NULL is not allowed.
    pub const NOT_NULL: u16 = 1;
    /// Part of the primary key.
    pub const PRIMARY_KEY: u16 = 2;
    /// A BLOB or TEXT.
    pub const BLOB: u16 = 16;
    /// An unsigned number.
    pub const UNSIGNED: u16 = 32;
    /// As wide as it was defined, with zeros in front.
    pub const ZEROFILL: u16 = 64;
    /// Compared as bytes, or no text.
    pub const BINARY: u16 = 128;
    /// An ENUM, sent as a string.
    pub const ENUM: u16 = 256;
    /// Keys are generated.
    pub const AUTO_INCREMENT: u16 = 512;
    /// A SET, sent as a string.
    pub const SET: u16 = 2048;
    /// A number.
    pub const NUM: u16 = 32_768;
}

/// The character set of octets, and of everything that is no text.
pub const BINARY_CHARSET: u16 = 63;
