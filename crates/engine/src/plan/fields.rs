//! Fields of bulk data that go as others: what the rooms say of a statement's lines.

use pando_kernel::changes::{Changes, TurnedField};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Target;
use pando_sql::ast::{CopyDirection, Kind, Statement};

use super::rewrite;

/// The fields that go as others, the same to all targets.
///
/// # Errors
/// `Refused` where they would go to each target as others, and what the rooms refuse.
pub(super) fn turned(
    ctx: &Context<'_>,
    stmt: &Statement,
    targets: &[Target],
) -> Result<Vec<TurnedField>> {
    if !brings_lines(&stmt.kind) {
        return Ok(Vec::new());
    }
    let mut found: Option<Vec<TurnedField>> = None;
    for target in targets {
        let changes = rewrite::by_rooms(ctx, stmt, target, Changes::default())?;
        match &found {
            None => found = Some(changes.fields().to_vec()),
            Some(others) if others == changes.fields() => {}
            Some(_) => {
                return Err(Error::unsupported(
                    30001,
                    "a field of bulk data that goes to each of several shards as another is not supported",
                    "let one rule concern the column on all shards",
                ));
            }
        }
    }
    Ok(found.unwrap_or_default())
}

/// Refuses fields of a statement whose lines do not pass here.
///
/// # Errors
/// `Refused`.
pub(super) fn check(stmt: &Statement, changes: &Changes) -> Result<()> {
    if changes.fields().is_empty() || brings_lines(&stmt.kind) {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "a file on the server cannot be read into a column whose values are stored as others",
        "let the client send it: COPY … FROM STDIN, LOAD DATA LOCAL INFILE",
    ))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn brings_lines(kind: &Kind) -> bool {
    match kind {
        Kind::Copy(copy) => copy.direction == CopyDirection::FromClient,
        Kind::Load(load) => load.local,
        _ => false,
    }
}
