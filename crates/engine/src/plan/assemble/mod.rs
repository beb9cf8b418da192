//! Statements that no merge can answer: the rows they need are read from every shard, and one storage unit answers the statement over
//! them. The server itself evaluates it, so its rules of types, collations and NULL hold by construction; only memory bounds it.

mod assembly;
mod beside;
mod changed;
mod columns;
mod filter;
mod finish;
mod grouped;
mod keyed;
mod names;
mod qualifiers;
mod stored;
mod tables;
pub(super) mod walk;

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::relation::{Carried, Inline};
use pando_kernel::route::UnitName;
use pando_sql::Span;
use pando_sql::ast::Statement;
use pando_sql::visit;

use super::about::writing_unit;
use super::fulltext;
use super::special::temporary;
use super::{Planned, Purpose};
pub use assembly::{Assembly, Read, Typed};
use columns::Columns;
pub(super) use names::given;
use walk::Leaf;
pub(super) use walk::conjuncts;

/// What may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Groups, where that is enough.
    Any,
    /// Rows of tables only, whose types are known.
    Tables,
}

/// Takes a statement apart that was refused; gives the refusal back where that is not possible either.
///
/// # Errors
/// The refusal.
pub(super) fn assemble(
    ctx: &Context<'_>,
    stmt: &Statement,
    (purpose, form): (Purpose, Form),
    refusal: Error,
) -> Result<Planned> {
    let Some(relations) = ctx.dialect.relations().filter(|_| walk::is_plain(stmt)) else {
        return Err(refusal);
    };
    // Groups are made of what stands on the shards, and not of temporary tables.
    if form == Form::Any
        && purpose == Purpose::Run
        && temporary::concerned(ctx, stmt).is_none()
        && let Some(at) = writing_unit(ctx)
        && let Some(planned) = grouped::grouped(ctx, stmt, relations, at)
    {
        return Ok(planned);
    }
    let occurrences = visit::tables(&stmt.kind);
    let mut leaves = walk::leaves(stmt, &occurrences);
    let columns = match Columns::of(ctx, stmt, &leaves) {
        Ok(Some(columns)) => columns,
        Ok(None) => return Err(refusal),
        Err(need) => return Ok(Planned::Needs(need)),
    };
    let fold = ctx.dialect.syntax().fold;
    let Some(changed) = changed::named(stmt, &leaves, &columns, fold) else { return Err(refusal) };
    let there = beside::stays(ctx, stmt, &changed);
    let mut staying = changed;
    staying.extend(there.iter().flat_map(|own| beside::spans(own, &leaves)));
    leaves.retain(|leaf| !staying.contains(&leaf.table.name.span));
    if !are_replaceable(ctx, stmt, &leaves, &staying) {
        return Err(refusal);
    }
    let rest = match there {
        Some(own) => Rest { stmt, at: Some(Arc::clone(&own.unit)), is_beside: true },
        None => Rest { stmt, at: writing_unit(ctx), is_beside: false },
    };
    let reads_turned = leaves.iter().any(|leaf| columns.names_turned(&leaf.logic));
    names::check(ctx, stmt, &columns)?;
    let assembly = tables::build(ctx, rest, &leaves, &columns, relations)?;
    let Some(assembly) = assembly.filter(|built| !fulltext::remains(stmt, &built.edits)) else {
        return Err(refusal);
    };
    match purpose {
        Purpose::Run => {
            if reads_turned {
                // What rooms refuse of it they refuse before its rows are read.
                let planned = assembly.finish(ctx, &assembly.unread(), purpose)?;
                if let Planned::Needs(need) = planned {
                    return Ok(Planned::Needs(need));
                }
            }
            Ok(Planned::Assembly(Box::new(assembly)))
        }
        Purpose::Describe => {
            let tables = assembly.places.iter().map(|place| {
                let read = assembly.reads.get(place.read);
                let known = |typed: &Typed| match typed {
                    Typed::Known(carried) => Some(carried.clone()),
                    Typed::AsRead { .. } => None,
                };
                let columns: Vec<Carried> =
                    read.iter().flat_map(|read| read.columns.iter().filter_map(known)).collect();
                Inline { before: Vec::new(), table: relations.described(&columns) }
            });
            assembly.finish(ctx, &tables.collect::<Vec<_>>(), purpose)
        }
    }
}

/// A statement that is answered over rows that were read, and where.
#[derive(Debug, Clone)]
struct Rest<'a> {
    stmt: &'a Statement,
    /// `None` where there is no unit.
    at: Option<UnitName>,
    /// Beside the session's temporary tables, on their connection.
    is_beside: bool,
}

/// Whether every table but those that stay is one in whose place rows can stand, and none belongs to the vendor's
/// catalogue.
fn are_replaceable(
    ctx: &Context<'_>,
    stmt: &Statement,
    leaves: &[Leaf<'_>],
    staying: &[Span],
) -> bool {
    let occurrences = visit::tables(&stmt.kind);
    let presentation = ctx.dialect.presentation();
    let vendors = |name| presentation.is_some_and(|shown| shown.holding(name).is_some());
    let stays = |found: &&visit::Occurrence<'_>| staying.contains(&found.name.span);
    !leaves.is_empty()
        && leaves.len() + occurrences.iter().filter(stays).count() == occurrences.len()
        && occurrences.iter().all(|found| !vendors(found.name))
        && leaves.iter().all(|leaf| leaf.table.extras.is_empty())
}
