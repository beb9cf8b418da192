//! `!MASK`: columns whose values are hidden from readers.

use crate::algorithm::{Algorithm, Named};
use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};

/// The section as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Where it stands.
    pub at: At,
    /// Tables by logic name, in file order.
    pub tables: Named<MaskTable>,
    /// Mask algorithms by name.
    pub algorithms: Named<Algorithm>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskTable {
    /// Where it stands.
    pub at: At,
    /// Columns by name, in file order.
    pub columns: Named<MaskColumn>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskColumn {
    /// Where it stands.
    pub at: At,
    /// The mask algorithm's name.
    pub algorithm: Placed<String>,
    /// Whether conditions may look at the column: values can be guessed by them. Pando's own.
    pub allows_conditions: bool,
    /// Users who see its values. Pando's own.
    pub unmasked: Vec<Placed<String>>,
}

impl Mask {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let tables: Named<MaskTable> = fields.map("tables", table).into_iter().collect();
        let algorithms = Named::read(&mut fields, "maskAlgorithms");
        for (_, column) in tables.iter().flat_map(|(_, table)| table.columns.iter()) {
            algorithms.check(&column.algorithm, "mask algorithm", fields.report());
        }
        fields.finish();
        Some(Self { at: node.at.clone(), tables, algorithms })
    }
}

fn table(entry: &Entry, report: &mut Report) -> Option<(Placed<String>, MaskTable)> {
    let column = |entry: &Entry, report: &mut Report| {
        let mut fields = Fields::of(&entry.value, report)?;
        let algorithm = fields.name("maskAlgorithm");
        let allows_conditions = fields.optional_boolean("allowConditions").unwrap_or(true);
        let unmasked = fields.names("unmaskedUsers");
        let at = fields.at();
        fields.finish();
        let algorithm = algorithm?;
        Some((read::key(entry), MaskColumn { at, algorithm, allows_conditions, unmasked }))
    };
    let mut fields = Fields::of(&entry.value, report)?;
    let columns = fields.map("columns", column).into_iter().collect();
    let at = fields.at();
    fields.finish();
    Some((read::key(entry), MaskTable { at, columns }))
}
