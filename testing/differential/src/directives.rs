//! How an `.slt` file says where its tables stand: comments that other readers pass over.
//!
//! ```text
//! # place orders split user_id MOD 4
//! # place codes broadcast
//! # units 2
//! # bound orders items
//! ```

use std::fmt::Write as _;

use crate::layout::{Layout, Placement};

/// The comment lines for a layout.
pub(crate) fn written(layout: &Layout) -> String {
    let mut text = format!("# units {}\n", layout.units);
    for (table, placement) in &layout.places {
        let words = match placement {
            Placement::Single(unit) => format!("single {unit}"),
            Placement::Broadcast => "broadcast".to_owned(),
            Placement::Split { by, algorithm, shards } => {
                format!("split {by} {algorithm} {shards}")
            }
            Placement::Grid { units_by, tables_by, each } => {
                format!("grid {units_by} {tables_by} {each}")
            }
        };
        let _ = writeln!(text, "# place {table} {words}");
    }
    for group in &layout.bound {
        let _ = writeln!(text, "# bound {}", group.join(" "));
    }
    text
}
