//! The assembly over rows of tables: each logic table is read once, narrowed by what every place of it allows.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::relation::Relations;
use pando_sql::Edits;
use pando_sql::ast::Statement;

use super::Rest;
use super::assembly::{Assembly, Place, Read, Typed};
use super::columns::Columns;
use super::filter::{self, Asked};
use super::keyed;
use super::qualifiers::unqualify;
use super::walk::Leaf;

pub(super) fn build(
    ctx: &Context<'_>,
    rest: Rest<'_>,
    leaves: &[Leaf<'_>],
    columns: &Columns,
    relations: &dyn Relations,
) -> Result<Option<Assembly>> {
    let Rest { stmt, at, is_beside } = rest;
    let Some(at) = at else { return Ok(None) };
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
        let after = match (&leaf.table.alias, own) {
            (None, Some(own)) => format!(" AS {}", own.span.of(&stmt.text)),
            _ => String::new(),
        };
        places.push(Place { span: leaf.table.name.span, before: String::new(), after, read });
    }
    unqualify(stmt, leaves, &mut edits)?;
    let reads = reads.into_iter().map(|(_, read)| read).collect();
    Ok(Some(Assembly { reads, places, rest: stmt.clone(), edits, at, is_beside }))
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
    let is_about_stored = columns.turns_some(&leaf.logic);
    let columns = carried.into_iter().map(Typed::Known).collect();
    Ok(Read { table: name.to_owned(), text, columns, is_about_stored })
}
