//! Texts of definitions, told with the names of columns that clients see.

use pando_kernel::dialect::Language;
use pando_kernel::presentation::{ShownColumn, View};
use pando_sql::ast::{Expr, Function, Node};

use super::calls::name_of;
use super::names::{Around, Names, literal};
use crate::dialect::Postgres;

/// How a function's argument tells the table that its text is about.
struct Definition {
    function: &'static str,
    /// Which argument that is.
    argument: usize,
    /// The catalogue relation whose rows it numbers, with the columns of their own number and of their tables'; `None`
    /// where it is the table's number itself.
    of: Option<(&'static str, &'static str, &'static [&'static str])>,
}

const DEFINITIONS: [Definition; 7] = [
    Definition {
        function: "pg_get_indexdef",
        argument: 0,
        of: Some(("pg_index", "indexrelid", &["indrelid"])),
    },
    Definition {
        function: "pg_get_constraintdef",
        argument: 0,
        of: Some(("pg_constraint", "oid", &["conrelid", "confrelid"])),
    },
    Definition {
        function: "pg_get_triggerdef",
        argument: 0,
        of: Some(("pg_trigger", "oid", &["tgrelid"])),
    },
    Definition {
        function: "pg_get_statisticsobjdef",
        argument: 0,
        of: Some(("pg_statistic_ext", "oid", &["stxrelid"])),
    },
    Definition {
        function: "pg_get_statisticsobjdef_columns",
        argument: 0,
        of: Some(("pg_statistic_ext", "oid", &["stxrelid"])),
    },
    Definition { function: "pg_get_expr", argument: 1, of: None },
    Definition { function: "pg_get_partkeydef", argument: 0, of: None },
];

/// The function's argument that tells the table, where it is a column of a row: nothing else has a type that is known.
fn argument(call: &Function) -> Option<(&'static Definition, &Expr)> {
    let known = DEFINITIONS.iter().find(|known| known.function == name_of(call))?;
    let own = call.arguments.get(known.argument)?;
    let is_told = call.over.is_none() && matches!(own.node, Node::Column(_));
    is_told.then_some((known, own))
}

/// Whether the names in a function's text are told as clients see them.
pub(super) fn is_told(call: &Function, view: &View<'_>) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    argument(call).is_some() && view.columns.iter().all(|one| one.stored.chars().all(is_plain))
}

/// What stands around a call so that its text has the names that clients see; `None` where it may stay. `text` is the
/// statement's.
pub(super) fn around(call: &Function, text: &str, names: &Names<'_>) -> Option<Around> {
    let view = names.view;
    if view.columns.is_empty() || !is_told(call, view) {
        return None;
    }
    let (known, own) = argument(call)?;
    let told = view.columns.iter().fold("d.t".to_owned(), |told, one| renamed(known, one, &told));
    let number = match names.shift() {
        0 => own.span.of(text).to_owned(),
        _ => {
            let Around { before, behind } = names.around_number();
            format!("{before}{}{behind}", own.span.of(text))
        }
    };
    let label = Postgres.quote(known.function);
    // The argument is read beside the call, where no name of the sub-queries can take its place.
    Some(Around {
        before: format!("(SELECT {told} AS {label} FROM (SELECT "),
        behind: format!(" AS t, {number} AS n) d)"),
    })
}

/// A text with whole words that are a stored column anew, if it is about the column's table. `text` stands in it once:
/// there may be many columns.
fn renamed(known: &Definition, one: &ShownColumn, text: &str) -> String {
    let Some(name) = one.key_name() else { return text.to_owned() };
    let word = literal(&format!(r#""?\m{}\M"?"#, one.stored));
    let name = literal(&name.replace('\\', r"\\"));
    format!(
        "pg_catalog.regexp_replace({text}, CASE WHEN {} THEN {word} ELSE '(?!)' END, \
         pg_catalog.quote_ident({name}), 'g')",
        known.is_of(&one.table)
    )
}

impl Definition {
    /// The condition that the object is one of the table's.
    fn is_of(&self, table: &str) -> String {
        let tables = format!(
            "(SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relname = {})",
            literal(table)
        );
        match self.of {
            None => format!("d.n IN {tables}"),
            Some((relation, own, owners)) => {
                let owned: Vec<String> =
                    owners.iter().map(|owner| format!("o.{owner} IN {tables}")).collect();
                format!(
                    "d.n IN (SELECT o.{own} FROM pg_catalog.{relation} o WHERE {})",
                    owned.join(" OR ")
                )
            }
        }
    }
}
