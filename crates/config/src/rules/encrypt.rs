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
            let columns = fields.map("columns", column).into_iter().collect();
            let at = fields.at();
            fields.finish();
            Some((read::key(entry), EncryptTable { at, columns }))
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

fn column(entry: &Entry, report: &mut Report) -> Option<(Placed<String>, EncryptColumn)> {
    let mut fields = Fields::of(&entry.value, report)?;
    let data_type = fields.optional_name("dataType");
    let cipher = fields.field("cipher");
    let cipher = cipher.and_then(|node| encrypted(node, fields.report()));
    let assisted_query = fields.optional("assistedQuery");
    let assisted_query = assisted_query.and_then(|node| encrypted(node, fields.report()));
    let like_query = fields.optional("likeQuery");
    let like_query = like_query.and_then(|node| encrypted(node, fields.report()));
    let at = fields.at();
    fields.finish();
    let cipher = cipher?;
    Some((read::key(entry), EncryptColumn { at, data_type, cipher, assisted_query, like_query }))
}

fn encrypted(node: &Node, report: &mut Report) -> Option<Encrypted> {
    let mut fields = Fields::of(node, report)?;
    let name = fields.name("name");
    let encryptor = fields.name("encryptorName");
    fields.finish();
    Some(Encrypted { name: name?, encryptor: encryptor? })
}
