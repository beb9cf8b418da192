//! How the lines of a COPY or LOAD DATA are written.

use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_sql::ast::{Copy, Load};

/// Lines a statement may skip.
const MAX_SKIP: u64 = 10_000;

/// Whose reading of a line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    /// PostgreSQL's text.
    Text,
    /// PostgreSQL's CSV.
    Csv,
    /// MySQL's LOAD DATA.
    Load,
}

/// How a field's bytes are letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// UTF-8, or what its letters of ASCII are.
    Utf8,
    /// MySQL's latin1.
    Latin1,
}

/// The form of a line. All marks are ASCII, or longer only where the language allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    /// How marks, escapes and line ends are read.
    pub(crate) rules: Rules,
    /// What its fields' bytes mean.
    pub(crate) letters: Letters,
    /// Between two fields; never empty.
    pub(crate) field: Vec<u8>,
    /// Behind a line; never empty. COPY's lines end as the first of them does, and so where there is none.
    pub(crate) line: Vec<u8>,
    /// In front of a line's first field; may be empty.
    pub(crate) starting: Vec<u8>,
    /// Around fields.
    pub(crate) quote: Option<u8>,
    /// In front of a character that means itself, or a special one.
    pub(crate) escape: Option<u8>,
    /// A field of COPY written so, without quotes, is NULL.
    pub(crate) null: Vec<u8>,
    /// Lines at the beginning that are no rows.
    pub(crate) skip: u64,
    /// What stands in them matters.
    pub(crate) keeps_skipped: bool,
}

/// Whether a COPY is in the binary form.
pub(super) fn is_binary(copy: &Copy) -> bool {
    option(copy, "format") == Some("binary")
}

/// Whether the first line holds the columns' names.
///
/// # Errors
/// `Refused` for a value that servers do not take.
pub(super) fn has_header(copy: &Copy) -> Result<bool> {
    let Some(value) = option(copy, "header") else { return Ok(false) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" | "match" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(refused(&format!("the COPY option `header` with the value `{value}`"))),
    }
}

fn option<'a>(copy: &'a Copy, name: &str) -> Option<&'a str> {
    copy.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

pub(super) fn refused(what: &str) -> Error {
    Error::unsupported(
        20030,
        format!("{what} is not supported for a sharded table"),
        "use the text form",
    )
}

fn one_byte(option: &str, value: &str) -> Result<u8> {
    match value.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(ErrorKind::Server(Box::new(ServerError {
            sqlstate: "0A000".into(),
            message: format!("COPY {option} must be a single one-byte character"),
            severity: "ERROR".into(),
            ..ServerError::default()
        }))
        .into()),
    }
}

/// What the bytes of a file in this character set mean; as the server reads them, shards are found by them.
pub(super) fn letters_of(charset: Option<&str>) -> Result<Letters> {
    match charset.unwrap_or("utf8mb4").to_lowercase().as_str() {
        "utf8mb4" | "utf8mb3" | "utf8" | "ascii" | "binary" => Ok(Letters::Utf8),
        "latin1" => Ok(Letters::Latin1),
        other => Err(refused(&format!("LOAD DATA in character set `{other}`"))),
    }
}

impl Form {
    /// The form a COPY statement asks for.
    pub(crate) fn of_copy(copy: &Copy) -> Result<Self> {
        let option = |name: &str| option(copy, name);
        let format = option("format").unwrap_or("text");
        let csv = match format {
            "text" => option("csv").is_some(),
            "csv" => true,
            _ => return Err(refused(&format!("the COPY format `{format}`"))),
        };
        for known in ["force_not_null", "force_null", "encoding"] {
            if option(known).is_some_and(|value| !value.eq_ignore_ascii_case("utf8")) {
                return Err(refused(&format!("the COPY option `{known}`")));
            }
        }
        // Another default of a column would have to be read from the catalogue.
        if option("default").is_some() {
            return Err(refused("the COPY option `default`"));
        }
        let mut form = Self {
            rules: if csv { Rules::Csv } else { Rules::Text },
            letters: Letters::Utf8,
            field: if csv { b",".to_vec() } else { b"\t".to_vec() },
            line: b"\n".to_vec(),
            starting: Vec::new(),
            quote: csv.then_some(b'"'),
            escape: if csv { Some(b'"') } else { Some(b'\\') },
            null: if csv { Vec::new() } else { b"\\N".to_vec() },
            skip: u64::from(has_header(copy)?),
            keeps_skipped: option("header")
                .is_some_and(|value| value.eq_ignore_ascii_case("match")),
        };
        if let Some(value) = option("delimiter") {
            form.field = vec![one_byte("delimiter", value)?];
        }
        if let Some(value) = option("null") {
            form.null = value.as_bytes().to_vec();
        }
        if let (true, Some(value)) = (csv, option("quote")) {
            form.quote = Some(one_byte("quote", value)?);
            form.escape = form.quote;
        }
        if let (true, Some(value)) = (csv, option("escape")) {
            form.escape = Some(one_byte("escape", value)?);
        }
        Ok(form)
    }

    /// The form a LOAD DATA statement asks for.
    pub(crate) fn of_load(load: &Load) -> Result<Self> {
        let option = |name: &str| {
            load.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        let bytes = |name: &str, default: &str| option(name).unwrap_or(default).as_bytes().to_vec();
        let single = |name: &str, default: &str| match option(name).unwrap_or(default).as_bytes() {
            [] => Ok(None),
            [byte] => Ok(Some(*byte)),
            _ => Err(refused(&format!("LOAD DATA with a longer `{name}`"))),
        };
        let form = Self {
            rules: Rules::Load,
            letters: letters_of(option("character set"))?,
            field: bytes("fields terminated by", "\t"),
            line: bytes("lines terminated by", "\n"),
            starting: bytes("lines starting by", ""),
            quote: single("fields enclosed by", "")?,
            escape: single("fields escaped by", "\\")?,
            null: Vec::new(),
            skip: match option("ignore") {
                None => 0,
                Some(lines) => lines
                    .parse()
                    .map_err(|_| refused(&format!("LOAD DATA that ignores `{lines}` lines")))?,
            },
            keeps_skipped: false,
        };
        if form.field.is_empty() || form.line.is_empty() {
            return Err(refused("LOAD DATA with fixed-width fields"));
        }
        // The server then reads as many fields as there are columns, whatever stands behind them.
        if form.field == form.line {
            return Err(refused("LOAD DATA whose fields and lines end alike"));
        }
        if form.skip > MAX_SKIP {
            return Err(refused("LOAD DATA that skips more than 10,000 lines"));
        }
        Ok(form)
    }
}
