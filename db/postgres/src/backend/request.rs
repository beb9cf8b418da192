//! Executions as frontend messages.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::request::UNNUMBERED;
use pando_kernel::{Error, ErrorKind, Format, Native, Parameter, Result, Value};
use pando_sql::Span;

use super::statements::name;
use crate::codec::frontend::{
    Binding, Close, Describe, Execute, Named, Parse, Query, encode_sync, put,
};
use crate::dialect::SYNTAX;
use crate::types::{self, oid};

/// What to run with which parameters.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) sql: Arc<str>,
    pub(super) types: Arc<[u32]>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) formats: Vec<Format>,
    /// Of the definitions that it was made by.
    pub(super) era: u64,
    /// The text that it stands for, when it came as one.
    pub(super) text: Option<Arc<str>>,
}

/// What to tell the types of.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) sql: Arc<str>,
    pub(super) types: Arc<[u32]>,
    /// Of the definitions that it was made by.
    pub(super) era: u64,
}

/// What is asked of the server about a statement beside its success.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Columns,
    Nothing,
}

/// Which of the messages of a call or question are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub(super) parse: bool,
    pub(super) describe: bool,
}

/// A statement's text may not hold a zero byte: the server would run only what stands before it.
pub(super) fn check(sql: &str) -> Result<()> {
    match memchr::memchr(0, sql.as_bytes()) {
        None => Ok(()),
        Some(_) => Err(Error::new(ErrorKind::Value("a statement holds a zero byte".into()))),
    }
}

/// Appends a simple query, of which the server runs whatever statements it finds: for texts of ours alone.
pub(super) fn query(out: &mut BytesMut, sql: &str) -> Result<()> {
    check(sql)?;
    Query { text: sql }.encode(out);
    Ok(())
}

/// Appends what ends a copy to the server. In copy mode it passes over the Sync that went with the call, but a copy may have failed before it has read as far, at a
/// trigger, say; then it is ready once more. Which of the two it is nobody can see: so something is closed, which it tells once it has passed all of that.
/// <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>
pub(super) fn settle(output: &mut BytesMut) {
    encode_sync(output);
    Close(Named::Portal("")).encode(output);
    encode_sync(output);
}

/// Appends what runs a statement given as text, which may hold words of a client's. A server takes one statement for each Parse, so that what it would read as several
/// where we read one fails. Several, of ours, go one by one up to the same Sync.
pub(super) fn text(out: &mut BytesMut, sql: &str) -> Result<()> {
    if memchr::memchr(b';', sql.as_bytes()).is_none() {
        statement(out, sql, Asked::Columns)?;
    } else {
        // One that cannot be cut is for the server to refuse.
        let whole = || vec![Span::new(0, u32::try_from(sql.len()).unwrap_or(u32::MAX))];
        let mut spans = pando_sql::split(sql, &SYNTAX).unwrap_or_else(|_| whole());
        if spans.is_empty() {
            spans = whole();
        }
        for span in spans {
            statement(out, span.of(sql), Asked::Columns)?;
        }
    }
    encode_sync(out);
    Ok(())
}

/// Appends what runs a statement given as text, up to the Sync, which that of the next execution is to be: its reply then comes together with the next
/// one's.
pub(super) fn aside(out: &mut BytesMut, sql: &str) -> Result<()> {
    statement(out, sql, Asked::Nothing)
}

fn statement(out: &mut BytesMut, sql: &str, asked: Asked) -> Result<()> {
    check(sql)?;
    Parse::encode(out, "", sql, &[])?;
    Binding { portal: "", statement: "", formats: &[], count: 0, results: &[] }
        .encode(out, |_, _| Ok::<_, Error>(()))?;
    match asked {
        Asked::Columns => Describe(Named::Portal("")).encode(out),
        Asked::Nothing => {}
    }
    Execute { portal: "", max_rows: 0 }.encode(out);
    Ok(())
}

/// Appends Close for statements that are no longer used.
pub(super) fn close(out: &mut BytesMut, statements: &[u64]) {
    statements.iter().for_each(|id| Close(Named::Statement(&name(*id))).encode(out));
}

/// Appends what runs a call under a statement's name; empty is the unnamed one.
pub(super) fn call(out: &mut BytesMut, statement: &str, call: &Call, steps: Steps) -> Result<()> {
    if steps.parse {
        check(&call.sql)?;
        Parse::encode(out, statement, &call.sql, &numbers(&call.types))?;
    }
    bind(out, statement, call)?;
    if steps.describe {
        Describe(Named::Portal("")).encode(out);
    }
    Execute { portal: "", max_rows: 0 }.encode(out);
    encode_sync(out);
    Ok(())
}

/// Appends what prepares and describes a statement.
pub(super) fn describe(
    out: &mut BytesMut,
    statement: &str,
    question: &Question,
    steps: Steps,
) -> Result<()> {
    let Question { sql, types, .. } = question;
    if steps.parse {
        check(sql)?;
        Parse::encode(out, statement, sql, &numbers(types))?;
    }
    if steps.describe {
        Describe(Named::Statement(statement)).encode(out);
    }
    encode_sync(out);
    Ok(())
}

/// Types as the server numbers them: 0 for those that it numbers by itself.
fn numbers(types: &[u32]) -> Cow<'_, [u32]> {
    match types.contains(&UNNUMBERED) {
        false => Cow::Borrowed(types),
        true => types.iter().map(|one| if *one == UNNUMBERED { 0 } else { *one }).collect(),
    }
}

fn bind(out: &mut BytesMut, statement: &str, call: &Call) -> Result<()> {
    let parameters = &call.parameters;
    let binary = parameters.iter().filter(|parameter| format(parameter) == Format::Binary).count();
    let mixed: Vec<Format>;
    let formats: &[Format] = match binary {
        0 => &[],
        all if all == parameters.len() => &[Format::Binary],
        _ => {
            mixed = parameters.iter().map(format).collect();
            &mixed
        }
    };
    let binding =
        Binding { portal: "", statement, formats, count: parameters.len(), results: &call.formats };
    binding.encode(out, |index, out| {
        let parameter = &parameters[index];
        match passes(parameter) {
            true => put(out, parameter.raw.as_deref()),
            false => {
                let oid = made_type(parameter, call.types.get(index).copied());
                types::encode_sized(oid, Format::Text, &parameter.value, out)?;
            }
        }
        Ok(())
    })
}

/// Whether the wire bytes of a parameter mean the same to this server.
fn passes(parameter: &Parameter) -> bool {
    parameter.raw.is_some() && parameter.native.family == types::FAMILY
}

fn format(parameter: &Parameter) -> Format {
    if passes(parameter) { parameter.format } else { Format::Text }
}

/// The type a value of ours is written as.
fn made_type(parameter: &Parameter, declared: Option<u32>) -> u32 {
    let Native { family, type_id, .. } = parameter.native;
    let own = if family == types::FAMILY { type_id } else { 0 };
    match declared.filter(|oid| *oid != 0 && *oid != UNNUMBERED).unwrap_or(own) {
        // Octets without a known type can only be meant as such.
        0 if matches!(parameter.value, Value::Bytes(_)) => oid::BYTEA,
        other => other,
    }
}
