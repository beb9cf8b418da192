//! What goes out: one database, everything, storage nodes; to the client or into a file that somebody else writes.

use pando_distsql::command::{Metadata, Name};

use crate::around::Facts;
use crate::model::Model;
use crate::refusal::Result;
use crate::rows::Rows;

/// A file to be written before the statement's rows are answered.
#[derive(Clone, PartialEq, Eq)]
pub struct Export {
    /// Where to, as the statement says it.
    pub file: String,
    /// What stands in it; passwords among it.
    pub text: String,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Export").field("file", &self.file).finish_non_exhaustive()
    }
}

/// One of the three statements.
#[derive(Clone, Copy)]
enum What<'s> {
    Database(&'s str),
    Everything,
    StorageNodes(Option<&'s str>),
}

/// What a statement exports, and where to; nothing for other statements.
fn asked<'s>(statement: &'s Metadata, session: &'s str) -> Option<(What<'s>, Option<&'s str>)> {
    let named = |name: &'s Option<Name>| name.as_ref().map(|name| name.text.as_str());
    match statement {
        Metadata::ExportDatabase { database, file } => {
            let database = named(database).unwrap_or(session);
            Some((What::Database(database), file.as_deref()))
        }
        Metadata::Export { file } => Some((What::Everything, file.as_deref())),
        Metadata::ExportStorageNodes { database, file } => {
            Some((What::StorageNodes(named(database)), file.as_deref()))
        }
        Metadata::RefreshDatabase { .. }
        | Metadata::RefreshTable { .. }
        | Metadata::ShowTable { .. }
        | Metadata::ImportDatabase { .. }
        | Metadata::Import(_)
        | Metadata::ConvertYaml { .. } => None,
    }
}

/// The file of a statement that exports into one.
pub(super) fn to_file(
    model: &Model,
    session: &str,
    statement: &Metadata,
    facts: &Facts<'_>,
) -> Result<Option<Export>> {
    let Some((what, Some(file))) = asked(statement, session) else { return Ok(None) };
    let text = match what {
        What::Database(name) => model.yaml(name)?,
        What::Everything => model.metadata(),
        What::StorageNodes(name) => model.storage_nodes(name, &facts.around)?,
    };
    Ok(Some(Export { file: file.to_owned(), text }))
}

/// The rows of a statement that exports; nothing for other statements.
pub(super) fn show(
    model: &Model,
    session: &str,
    statement: &Metadata,
    facts: &Facts<'_>,
) -> Result<Option<Rows>> {
    let Some((what, file)) = asked(statement, session) else { return Ok(None) };
    let done = file.map(|file| format!("Successfully exported to: '{file}'"));
    let node = facts.nodes.get(facts.own).map_or("", |node| node.id.as_str());
    let rows = match what {
        What::Database(name) => {
            let text = done.map_or_else(|| model.yaml(name), Ok)?;
            let mut rows = Rows::of("EXPORT DATABASE CONFIGURATION");
            rows.push([&text]);
            rows
        }
        What::Everything => {
            let mut rows = Rows::of("EXPORT METADATA");
            rows.push([node, facts.now, &done.unwrap_or_else(|| model.metadata_base64())]);
            rows
        }
        What::StorageNodes(name) => {
            let text = done.map_or_else(|| model.storage_nodes(name, &facts.around), Ok)?;
            let mut rows = Rows::of("EXPORT STORAGE NODES");
            rows.push([node, facts.now, &text]);
            rows
        }
    };
    Ok(Some(rows))
}
