//! Definitions: CREATE, ALTER, DROP and their kin.

use super::{Ident, ObjectName, Query};
use crate::span::Span;

/// A definition statement.
#[derive(Debug, Clone)]
pub struct Define {
    /// What is done.
    pub action: DefineAction,
    /// To what kind of thing.
    pub object: ObjectKind,
    /// The named things: the table of CREATE/ALTER TABLE, every table of DROP/TRUNCATE TABLE, the index of CREATE/DROP INDEX,
    /// the old name of a rename, the database of CREATE/DROP DATABASE.
    pub names: Vec<ObjectName>,
    /// DROP and TRUNCATE of a list: where each name stands there, with ONLY before and `*` behind it. As many as `names`, else empty.
    pub listed: Vec<Span>,
    /// The table an index, trigger or the like belongs to (`ON t`).
    pub on: Option<ObjectName>,
    /// Tables named elsewhere: REFERENCES t, LIKE t, RENAME TO t, INHERITS (t).
    pub referenced: Vec<ObjectName>,
    /// New names: RENAME TO.
    pub renamed_to: Vec<ObjectName>,
    /// Index and constraint names declared or used inside CREATE/ALTER TABLE (they must stay unique where the language makes them global).
    pub inner_names: Vec<InnerName>,
    /// CREATE TABLE: columns in order, as far as they could be read.
    pub columns: Vec<ColumnDefinition>,
    /// MATERIALIZED.
    pub materialized: bool,
    /// CREATE and ALTER VIEW: the names that a list behind the view's gives its first columns.
    pub view_columns: Vec<String>,
    /// CREATE TABLE … AS SELECT, CREATE VIEW … AS SELECT.
    pub query: Option<Box<Query>>,
    /// IF EXISTS / IF NOT EXISTS.
    pub conditional: bool,
    /// TEMPORARY.
    pub temporary: bool,
    /// CASCADE.
    pub cascade: bool,
    /// CREATE INDEX without a name: where one would be inserted.
    pub missing_name_at: Option<u32>,
    /// Indexed column names, where plain (CREATE INDEX).
    pub index_columns: Vec<String>,
    /// Columns written with something in front of them, in the expressions of a table's or an index's definition: CHECK (t.a > 0).
    pub qualified: Vec<ObjectName>,
}

/// A name inside a definition.
#[derive(Debug, Clone)]
pub struct InnerName {
    /// The name.
    pub name: Ident,
    /// What it names.
    pub kind: InnerKind,
}

/// What an inner name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerKind {
    /// INDEX / KEY name.
    Index,
    /// CONSTRAINT name.
    Constraint,
    /// A sequence: SEQUENCE NAME name.
    Sequence,
    /// The string that names a sequence in a default, with its schema: nextval('name').
    SequenceText,
}

/// A column of CREATE TABLE.
#[derive(Debug, Clone)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// The type's text.
    pub type_span: Span,
    /// PRIMARY KEY at the column.
    pub primary_key: bool,
    /// AUTO_INCREMENT, SERIAL, GENERATED … AS IDENTITY.
    pub auto_increment: bool,
}

/// What a definition does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefineAction {
    /// CREATE.
    Create,
    /// ALTER.
    Alter,
    /// DROP.
    Drop,
    /// TRUNCATE.
    Truncate,
    /// RENAME TABLE.
    Rename,
    /// COMMENT ON.
    Comment,
}

/// What a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A table.
    Table,
    /// An index, or statistics of several columns: both stand beside their table under names of their own.
    Index,
    /// A view, materialised or not.
    View,
    /// A database (or, where they are the same, a schema).
    Database,
    /// A schema inside a database.
    Schema,
    /// A sequence.
    Sequence,
    /// A function or procedure.
    Routine,
    /// A trigger or event.
    Trigger,
    /// A user or role.
    User,
    /// A type, domain, extension, … anything else.
    Other,
}
