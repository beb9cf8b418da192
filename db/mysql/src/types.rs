//! MySQL's column types, flags and character sets, and their values in text and binary form.

mod binary;
pub(crate) mod declared;
mod flags;
mod temporal;
mod text;

pub use binary::{
    glimpse_binary, parameter_value, put_binary_raw, put_parameter, read_binary, write_binary,
};
pub use flags::{BINARY_CHARSET, flag};
pub use temporal::{Clock, Stamp};
pub use text::{float_text, glimpse_text, read_text, text_of, write_text};

use pando_kernel::{Column, Format, Kind, Native};

use crate::codec::ColumnDefinition;

/// The name of this family in [`Native::family`] and the dialect.
pub const FAMILY: &str = "mysql";

/// The type byte of column definitions and parameters.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the manual's own")]
pub enum ColumnType {
    Decimal = 0,
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    NewDate = 14,
    VarChar = 15,
    Bit = 16,
    Timestamp2 = 17,
    DateTime2 = 18,
    Time2 = 19,
    Vector = 242,
    Bool = 244,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    TinyBlob = 249,
    MediumBlob = 250,
    LongBlob = 251,
    Blob = 252,
    VarString = 253,
    String = 254,
    Geometry = 255,
}

impl ColumnType {
    /// The type with this byte; `None` for bytes the protocol does not use.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Decimal,
            1 => Self::Tiny,
            2 => Self::Short,
            3 => Self::Long,
            4 => Self::Float,
            5 => Self::Double,
            6 => Self::Null,
            7 => Self::Timestamp,
            8 => Self::LongLong,
            9 => Self::Int24,
            10 => Self::Date,
            11 => Self::Time,
            12 => Self::DateTime,
            13 => Self::Year,
            14 => Self::NewDate,
            15 => Self::VarChar,
            16 => Self::Bit,
            17 => Self::Timestamp2,
            18 => Self::DateTime2,
            19 => Self::Time2,
            242 => Self::Vector,
            244 => Self::Bool,
            245 => Self::Json,
            246 => Self::NewDecimal,
            247 => Self::Enum,
            248 => Self::Set,
            249 => Self::TinyBlob,
            250 => Self::MediumBlob,
            251 => Self::LongBlob,
            252 => Self::Blob,
            253 => Self::VarString,
            254 => Self::String,
            255 => Self::Geometry,
            _ => return None,
        })
    }

    /// The type of a column by its vendor description; text when another vendor described it.
    pub fn of(native: &Native) -> Self {
        if native.family != FAMILY {
            return Self::VarString;
        }
        u8::try_from(native.type_id).ok().and_then(Self::from_byte).unwrap_or(Self::VarString)
    }

    /// What columns of this type hold, given their flags and character set.
    pub fn kind(self, flags: u16, charset: u16) -> Kind {
        let unsigned = flags & flag::UNSIGNED != 0;
        match self {
            Self::Tiny | Self::Short | Self::Long | Self::LongLong | Self::Int24 => {
                if unsigned {
                    Kind::UInt
                } else {
                    Kind::Int
                }
            }
            Self::Year | Self::Bit => Kind::UInt,
            Self::Bool => Kind::Bool,
            Self::Decimal | Self::NewDecimal => Kind::Decimal,
            Self::Float | Self::Double => Kind::Float,
            Self::Date | Self::NewDate => Kind::Date,
            Self::Time | Self::Time2 => Kind::Time,
            Self::DateTime | Self::DateTime2 | Self::Timestamp | Self::Timestamp2 => {
                Kind::Timestamp
            }
            Self::Null | Self::Json | Self::Enum | Self::Set | Self::Geometry | Self::Vector => {
                Kind::Other
            }
            Self::VarChar
            | Self::TinyBlob
            | Self::MediumBlob
            | Self::LongBlob
            | Self::Blob
            | Self::VarString
            | Self::String => {
                if flags & (flag::ENUM | flag::SET) != 0 {
                    Kind::Other
                } else if charset == BINARY_CHARSET {
                    Kind::Bytes
                } else {
                    Kind::Text
                }
            }
        }
    }
}

/// The kernel's column for a column definition; rows follow in `format`.
pub fn column_of(definition: &ColumnDefinition<'_>, format: Format) -> Column {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fixed = definition.column;
    let column_type = ColumnType::from_byte(fixed.type_id);
    Column {
        name: text(definition.name),
        kind: column_type.map_or(Kind::Other, |found| found.kind(fixed.flags, fixed.charset)),
        format,
        native: Native {
            family: FAMILY,
            type_id: u32::from(fixed.type_id),
            length: i64::from(fixed.length),
            flags: fixed.flags,
            charset: fixed.charset,
            decimals: fixed.decimals,
            ..Native::default()
        },
        extended: definition.extended.into(),
        table: text(definition.table),
        origin_table: text(definition.org_table),
        origin_name: text(definition.org_name),
        schema: text(definition.schema),
    }
}

/// The fixed part of the column definition that describes `column` to a client: the vendor's own when this family
/// described it, else the nearest type for its kind.
pub fn definition_of(column: &Column) -> crate::codec::Column {
    if column.native.family == FAMILY {
        return crate::codec::Column {
            charset: column.native.charset,
            length: u32::try_from(column.native.length).unwrap_or(u32::MAX),
            type_id: ColumnType::of(&column.native) as u8,
            flags: column.native.flags,
            decimals: column.native.decimals,
        };
    }
    let (column_type, charset, length, flags, decimals) = match column.kind {
        Kind::Bool => (ColumnType::Tiny, BINARY_CHARSET, 1, flag::NUM, 0),
        Kind::Int => (ColumnType::LongLong, BINARY_CHARSET, 20, flag::NUM | flag::BINARY, 0),
        Kind::UInt => {
            let flags = flag::NUM | flag::BINARY | flag::UNSIGNED;
            (ColumnType::LongLong, BINARY_CHARSET, 20, flags, 0)
        }
        Kind::Decimal => (ColumnType::NewDecimal, BINARY_CHARSET, 67, flag::NUM | flag::BINARY, 30),
        Kind::Float => (ColumnType::Double, BINARY_CHARSET, 23, flag::NUM | flag::BINARY, 31),
        Kind::Bytes => (ColumnType::Blob, BINARY_CHARSET, u32::MAX, flag::BINARY | flag::BLOB, 0),
        Kind::Date => (ColumnType::Date, BINARY_CHARSET, 10, flag::BINARY, 0),
        Kind::Time => (ColumnType::Time, BINARY_CHARSET, 17, flag::BINARY, 6),
        Kind::Timestamp => (ColumnType::DateTime, BINARY_CHARSET, 26, flag::BINARY, 6),
        Kind::Text | Kind::TimestampTz | Kind::Other => {
            (ColumnType::VarString, TEXT_CHARSET, 262_140, 0, 0)
        }
    };
    crate::codec::Column { charset, length, type_id: column_type as u8, flags, decimals }
}

/// `utf8mb4_general_ci`, which every server since 5.5 knows.
pub const TEXT_CHARSET: u16 = 45;

#[cfg(test)]
mod tests;
