//! `!ENCRYPT`: columns stored as cipher text.

use crate::algorithm::{Algorithm, Named};
use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};

/// The section as written, in the form of 5.4 and later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encrypt {
    /// Where it stands.
    pub at: At,
    /// Tables by logic name, in file order.
    pub tables: Named<EncryptTable>,
    /// Encryptors by name.
    pub encryptors: Named<Algorithm>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptTable {
    /// Where it stands.
    pub at: At,
    /// Columns by logic name, in file order.
    pub columns: Named<EncryptColumn>,
    /// Which stored columns values are read from, where they stand in the plain as well.
    pub reads: EncryptReads,
    /// How far those that are not read are in step with those that are.
    pub stage: EncryptStage,
    /// How many rows are looked at in a second at most while those are brought in step; `None` has no bound.
    pub rows_per_second: Option<u64>,
    /// All of the table's columns in the order in which clients see them; empty where they stand so.
    pub order: Vec<Placed<String>>,
}

/// Which of a table's stored columns values are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EncryptReads {
    /// `queryWithCipherColumn: true`, as without it.
    #[default]
    Cipher,
    /// `queryWithCipherColumn: false`.
    Plain,
}

/// How far the stored columns of a table that are not read are in step with those that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EncryptStage {
    /// They may be missing, and nothing is written into them.
    Waiting,
    /// The same, and they are being made.
    Columns,
    /// Each change of a row writes all of them, and older rows are brought in step.
    Rows,
    /// Those of all rows are.
    #[default]
    InStep,
}

impl EncryptStage {
    /// As `stage` has it.
    pub const WORDS: [(&str, Self); 4] = [
        ("WAITING", Self::Waiting),
        ("COLUMNS", Self::Columns),
        ("ROWS", Self::Rows),
        ("IN_STEP", Self::InStep),
    ];

    /// Whether they are written.
    pub fn is_written(self) -> bool {
        match self {
            Self::Waiting | Self::Columns => false,
            Self::Rows | Self::InStep => true,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }
}

/// One logic column and the columns that stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptColumn {
    /// Where it stands.
    pub at: At,
    /// The type that clients see it of, as CREATE TABLE would have it.
    pub data_type: Option<Placed<String>>,
    /// Holds the cipher text.
    pub cipher: Encrypted,
    /// Holds what equality is asked on.
    pub assisted_query: Option<Encrypted>,
    /// Holds what LIKE is asked on.
    pub like_query: Option<Encrypted>,
    /// Holds the value itself as well.
    pub plain: Option<Placed<String>>,
}

/// A stored column and its encryptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encrypted {
    /// The column's name in the storage unit.
    pub name: Placed<String>,
    /// The encryptor's name.
    pub encryptor: Placed<String>,
}

impl Encrypt {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let table = |entry: &Entry, report: &mut Report| {
            let mut fields = Fields::of(&entry.value, report)?;
            let columns: Named<EncryptColumn> = fields.map("columns", column).into_iter().collect();
            let (reads, stage) = steps(&mut fields, &columns);
            let rate = fields.optional_integer("rowsPerSecond", 1..=1_000_000_000);
            let rows_per_second = rate.map(i64::unsigned_abs);
            let order = fields.names("columnOrder");
            let at = fields.at();
            fields.finish();
            let table = EncryptTable { at, columns, reads, stage, rows_per_second, order };
            Some((read::key(entry), table))
        };
        let tables: Named<EncryptTable> = fields.map("tables", table).into_iter().collect();
        let encryptors = Named::read(&mut fields, "encryptors");
        let columns = tables.iter().flat_map(|(_, table)| table.columns.iter());
        for (_, column) in columns {
            let others = [&column.assisted_query, &column.like_query].into_iter().flatten();
            for stored in others.chain([&column.cipher]) {
                encryptors.check(&stored.encryptor, "encryptor", fields.report());
            }
        }
        fields.finish();
        Some(Self { at: node.at.clone(), tables, encryptors })
    }
}

/// Where values are read, and how far the other columns are.
fn steps(
    fields: &mut Fields<'_, '_>,
    columns: &Named<EncryptColumn>,
) -> (EncryptReads, EncryptStage) {
    let reads = match fields.optional_boolean("queryWithCipherColumn") {
        Some(true) | None => EncryptReads::Cipher,
        Some(false) => EncryptReads::Plain,
    };
    let stage = fields.optional("stage");
    let stage = stage.and_then(|node| node.choice(&EncryptStage::WORDS, fields.report()));
    let stage = stage.unwrap_or_default();
    let lacking = columns.iter().find(|(_, column)| column.plain.is_none());
    if let (EncryptReads::Plain, Some((name, _))) = (reads, lacking) {
        let message =
            format!("`queryWithCipherColumn: false`, and `{}` has no `plain`", name.value);
        fields.report().error(name.at.problem(message));
    }
    (reads, stage)
}

fn column(entry: &Entry, report: &mut Report) -> Option<(Placed<String>, EncryptColumn)> {
    let mut fields = Fields::of(&entry.value, report)?;
    let data_type = fields.optional_name("dataType");
    let cipher = fields.field("cipher");
    let cipher = cipher.and_then(|node| encrypted(node, fields.report()));
    let assisted_query = fields.optional("assistedQuery");
    let assisted_query = assisted_query.and_then(|node| encrypted(node, fields.report()));
    let like_query = fields.optional("likeQuery");
    let like_query = like_query.and_then(|node| encrypted(node, fields.report()));
    let plain = fields.optional_name("plain");
    let at = fields.at();
    fields.finish();
    let cipher = cipher?;
    let column = EncryptColumn { at, data_type, cipher, assisted_query, like_query, plain };
    Some((read::key(entry), column))
}

fn encrypted(node: &Node, report: &mut Report) -> Option<Encrypted> {
    let mut fields = Fields::of(node, report)?;
    let name = fields.name("name");
    let encryptor = fields.name("encryptorName");
    fields.finish();
    Some(Encrypted { name: name?, encryptor: encryptor? })
}
