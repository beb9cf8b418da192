//! Columns written with their table's schema: the rows that stand in the table's place have its name, but no schema.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::Statement;
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Span};

use super::walk::Leaf;

/// Takes the schema out of qualifiers that mean one of the tables.
///
/// # Errors
/// `Refused` where the name without its schema may mean something else of the statement, which the server would look up first.
pub(super) fn unqualify(stmt: &Statement, leaves: &[Leaf<'_>], edits: &mut Edits) -> Result<()> {
    let mut labels = None;
    for owner in visit::column_owners(&stmt.kind) {
        let ([_, .., last], Refers::Table(name)) = (owner.parts, owner.refers) else { continue };
        let is_read = leaves.iter().any(|leaf| leaf.table.name.span == name.span);
        if !is_read || edits.covers(owner.span) {
            continue;
        }
        let own = |span: Span| {
            leaves.iter().any(|leaf| {
                leaf.logic == name.key()
                    && leaf.table.alias.is_none()
                    && leaf.table.name.span.start <= span.start
                    && span.end <= leaf.table.name.span.end
            })
        };
        let labels = labels.get_or_insert_with(|| visit::labels(&stmt.kind));
        if labels.iter().any(|label| label.is_alike(last) && !own(label.span)) {
            return Err(Error::uncarried(
                30001,
                format!(
                    "columns of `{}` are written with its schema, and its name alone means something else here, too",
                    last.value
                ),
                "give the table an alias, and write its columns with that",
            ));
        }
        edits.replace(Span::new(owner.span.start, last.span.start), "");
    }
    Ok(())
}
