//! Statements that no merge can answer: the rows they need are read from every shard, and one storage unit answers the statement over
//! them. The server itself evaluates it, so its rules of types, collations and NULL hold by construction; only memory bounds it.

mod assembly;
mod changed;
mod columns;
mod filter;
mod keyed;
mod walk;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::relation::{Inline, Relations};
use pando_kernel::route::Need;
use pando_sql::ast::Statement;
use pando_sql::visit::{self, Occurrence};
use pando_sql::{Edits, Span};

use super::{Planned, Purpose, any_unit};
use assembly::Place;
pub use assembly::{Assembly, Read};
use columns::Columns;
use filter::Asked;
use walk::Leaf;

/// Takes a statement apart that was refused; gives the refusal back where that is not possible either.
///
/// # Errors
/// The refusal.
pub(super) fn assemble(
    ctx: &Context<'_>,
    stmt: &Statement,
    purpose: Purpose,
    refusal: Error,
) -> Result<Planned> {
    let Some(relations) = ctx.dialect.relations().filter(|_| walk::is_plain(stmt)) else {
        return Err(refusal);
    };
    let occurrences = visit::tables(&stmt.kind);
    let mut leaves = walk::leaves(stmt, &occurrences);
    let columns = match Columns::of(ctx, stmt, &leaves) {
        Ok(Some(columns)) => columns,
        Ok(None) => return Err(refusal),
        Err(need) => return Ok(Planned::Needs(need)),
    };
    let fold = ctx.dialect.syntax().fold;
    let Some(changed) = changed::named(stmt, &leaves, &columns, fold) else { return Err(refusal) };
    leaves.retain(|leaf| !changed.contains(&leaf.table.name.span));
    if !are_replaceable(ctx, &leaves, (&occurrences, &changed)) {
        return Err(refusal);
    }
    let assembly = build(ctx, stmt, &leaves, &columns, relations)?;
    let Some(assembly) = assembly else { return Err(refusal) };
    match purpose {
        Purpose::Run => Ok(Planned::Assembly(Box::new(assembly))),
        Purpose::Describe => {
            let tables = assembly.places.iter().map(|place| {
                let read = assembly.reads.get(place.read);
                let table = read.map(|read| relations.described(&read.columns));
                Inline { before: Vec::new(), table: table.unwrap_or_default() }
            });
            assembly.finish(ctx, tables.collect(), purpose)
        }
    }
}

/// Whether every table but the changed one stands where another can, and none belongs to the vendor's catalogue.
fn are_replaceable(
    ctx: &Context<'_>,
    leaves: &[Leaf<'_>],
    (occurrences, changed): (&[Occurrence<'_>], &[Span]),
) -> bool {
    let presentation = ctx.dialect.presentation();
    let vendors = |name| presentation.is_some_and(|shown| shown.holding(name).is_some());
    let stays = |found: &&Occurrence<'_>| changed.contains(&found.name.span);
    let staying = occurrences.iter().filter(stays).count();
    !leaves.is_empty()
        && leaves.len() + staying == occurrences.len()
        && occurrences.iter().all(|found| !vendors(found.name))
        && leaves.iter().all(|leaf| leaf.table.extras.is_empty())
}

fn build(
    ctx: &Context<'_>,
    stmt: &Statement,
    leaves: &[Leaf<'_>],
    columns: &Columns,
    relations: &dyn Relations,
) -> Result<Option<Assembly>> {
    let Some(at) = any_unit(ctx) else { return Ok(None) };
    let mut edits = keyed::edits(ctx, stmt, leaves, columns);
    let mut reads: Vec<(String, Read)> = Vec::new();
    let mut places = Vec::new();
    for leaf in leaves {
        let read = match reads.iter().position(|(logic, _)| *logic == leaf.logic) {
            Some(read) => read,
            None => {
                let into = (relations, &mut edits);
                let read = read(ctx, stmt, (leaf, leaves), columns, into)?;
                reads.push((leaf.logic.clone(), read));
                reads.len() - 1
            }
        };
        let own = leaf.table.name.parts.last();
        let label = match (&leaf.table.alias, own) {
            (None, Some(own)) => Some(own.span.of(&stmt.text).to_owned()),
            _ => None,
        };
        places.push(Place { span: leaf.table.name.span, label, read });
    }
    let reads = reads.into_iter().map(|(_, read)| read).collect();
    Ok(Some(Assembly { reads, places, rest: stmt.clone(), edits, at }))
}

/// The query for one table, whose conditions let through what any of its places needs. Where there is but one place its conditions need not be
/// asked again: the server that answers the statement would only think fewer rows to be left than there are.
fn read(
    ctx: &Context<'_>,
    stmt: &Statement,
    (leaf, leaves): (&Leaf<'_>, &[Leaf<'_>]),
    columns: &Columns,
    (relations, edits): (&dyn Relations, &mut Edits),
) -> Result<Read> {
    let carried = columns.carried(&leaf.logic);
    let items: Vec<String> =
        carried.iter().map(|one| relations.carry(&one.column)).collect::<Result<_>>()?;
    let name = leaf.table.name.span.of(&stmt.text);
    let mut text = format!("SELECT {} FROM {name}", items.join(", "));
    let places = leaves.iter().filter(|other| other.logic == leaf.logic);
    let asked: Option<Vec<Asked>> =
        places.map(|place| filter::of(ctx, stmt, place, columns)).collect();
    if let Some(mut asked) = asked {
        if let [one] = &asked[..] {
            one.met.iter().for_each(|span| edits.replace(*span, "TRUE"));
        }
        asked.dedup_by(|a, b| a.text == b.text);
        let texts: Vec<&str> = asked.iter().map(|asked| asked.text.as_str()).collect();
        text.push_str(" WHERE ");
        match &texts[..] {
            [one] => text.push_str(one),
            many => text.push_str(&format!("({})", many.join(") OR ("))),
        }
    }
    Ok(Read { text, columns: carried })
}

/// What a table's columns must be known for.
type Known<T> = std::result::Result<T, Need>;
