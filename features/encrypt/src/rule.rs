//! `!ENCRYPT`, validated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_columns::{Interest, Origin};
use pando_config::rules::{EncryptColumn, EncryptReads, EncryptTable, Encrypted};
use pando_config::{Placed, Problem, rules};
use pando_kernel::changes::Turn;
use pando_kernel::{Around, DeclaredType};
use pando_sql::Fold;

use crate::canonical::Declared;
use crate::column::{EncryptedColumn, Part, Purpose};
use crate::encryptor::{Encryptor, Like, Plain, Stores, encryptor};
use crate::storage;
use crate::turns::{AsIs, Asked, Pattern, Shown, Stored};

/// All encrypted columns.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) interest: Interest,
    columns: HashMap<Origin, Arc<EncryptedColumn>>,
    /// By table's key its columns in the order in which clients see them.
    orders: HashMap<String, Vec<String>>,
    /// A number for each table that is another where its values are stored otherwise.
    storage: Vec<(String, u64)>,
    /// How the storage units read names without quotes.
    pub(crate) fold: Fold,
}

impl Rule {
    /// Every problem is found, not only the first.
    pub(crate) fn new(section: &rules::Encrypt, around: &Around<'_>) -> Result<Self, Vec<Problem>> {
        let fold = around.fold;
        let mut maker = Maker { encryptors: HashMap::new(), problems: Vec::new(), fold };
        for (name, algorithm) in section.encryptors.iter() {
            match encryptor(algorithm, around.modules) {
                Ok(made) => {
                    maker.encryptors.insert(name.as_str(), made);
                }
                Err(problem) => maker.problems.push(problem),
            }
        }
        let mut columns = HashMap::new();
        let mut orders = HashMap::new();
        let mut tables = HashSet::new();
        for (table, list) in section.tables.iter() {
            if !tables.insert(table.to_lowercase()) {
                maker.wrong(table, format!("table `{}` is named twice", table.value));
            }
            if !list.order.is_empty() {
                for key in [table.to_lowercase(), table.value.clone()] {
                    orders.insert(key, list.order.iter().map(|name| name.value.clone()).collect());
                }
            }
            let mut names = HashSet::new();
            for (name, column) in list.columns.iter() {
                let stored = [&column.assisted_query, &column.like_query].into_iter().flatten();
                let named = stored.map(|part| &part.name).chain([name, &column.cipher.name]);
                for twice in named.filter(|name| !names.insert(name.to_lowercase())) {
                    let message =
                        format!("table `{}` has a column `{}` already", table.value, twice.value);
                    maker.wrong(twice, message);
                }
                // A key is in lower case unless the client's language tells tables apart by case.
                for key in HashSet::from([table.to_lowercase(), table.value.clone()]) {
                    let of = Origin { table: key.into(), column: maker.name(name).into() };
                    if let Some(column) = maker.column(of.clone(), column, list) {
                        columns.insert(of, Arc::new(column));
                    }
                }
            }
        }
        if !maker.problems.is_empty() {
            return Err(maker.problems);
        }
        let pairs = columns.keys().map(|of| (&*of.table, &*of.column));
        let storage = storage::numbers(section);
        Ok(Self { interest: Interest::new(pairs), columns, orders, storage, fold })
    }

    /// How each table's values are stored.
    pub(crate) fn storage(&self) -> Vec<(String, u64)> {
        self.storage.clone()
    }

    /// A column that a use is of.
    pub(crate) fn column(&self, of: &Origin) -> Option<&Arc<EncryptedColumn>> {
        self.columns.get(of)
    }

    /// The encrypted columns of a table.
    pub(crate) fn of_table(&self, key: &str) -> impl Iterator<Item = &Arc<EncryptedColumn>> {
        let own = self.columns.iter().filter(move |(of, _)| *of.table == *key);
        own.map(|(_, column)| column)
    }

    /// The columns of a table in the order in which clients see them, where that is not the one they stand in.
    pub(crate) fn order(&self, key: &str) -> Option<&[String]> {
        self.orders.get(key).map(Vec::as_slice)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<EncryptedColumn>> {
        self.columns.values()
    }
}

/// What a column's values are.
struct Holds {
    column: Arc<str>,
    declared: Option<Declared>,
}

/// What columns are made of.
struct Maker<'a> {
    encryptors: HashMap<&'a str, Arc<dyn Encryptor>>,
    problems: Vec<Problem>,
    fold: Fold,
}

impl Maker<'_> {
    fn wrong(&mut self, at: &Placed<String>, message: String) {
        self.problems.push(at.at.problem(message));
    }

    /// A name as the server has it: one in double quotes keeps its case, as in a statement.
    fn name(&self, name: &Placed<String>) -> String {
        let quoted = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match (quoted, self.fold) {
            (Some(quoted), _) => quoted.to_owned(),
            (None, Fold::Lower) => name.to_lowercase(),
            (None, Fold::Keep) => name.value.clone(),
        }
    }

    fn column(
        &mut self,
        of: Origin,
        column: &EncryptColumn,
        table: &EncryptTable,
    ) -> Option<EncryptedColumn> {
        let declared = self.declared(column.data_type.as_ref())?;
        let holds = Holds { column: Arc::clone(&of.column), declared };
        let cipher = self.part(&holds, &column.cipher, Purpose::Value);
        let assisted = column.assisted_query.as_ref();
        let assisted = assisted.map(|part| self.part(&holds, part, Purpose::Equality));
        let like = column.like_query.as_ref().map(|part| self.part(&holds, part, Purpose::Like));
        let plain = column.plain.as_ref().map(|name| self.plain(&of, name));
        let plain = if let Some(made) = plain { Some(made?) } else { None };
        let mut made = EncryptedColumn {
            shown: None,
            declared,
            told: cipher?,
            assisted: assisted.flatten(),
            like: like.flatten(),
            beside: Vec::new(),
            unwritten: Vec::new(),
            of,
        };
        if table.reads == EncryptReads::Cipher {
            let (column, makes) = (Arc::clone(&made.of.column), Arc::clone(&made.told.makes));
            made.shown = Some(Arc::new(Shown { column, makes, declared }));
        }
        let unread = match (plain, table.reads) {
            (Some(plain), EncryptReads::Plain) => {
                let cipher = std::mem::replace(&mut made.told, plain);
                let asked = [Some(cipher), made.assisted.take(), made.like.take()];
                asked.into_iter().flatten().collect()
            }
            (plain, EncryptReads::Cipher) => plain.into_iter().collect(),
            (None, EncryptReads::Plain) => Vec::new(),
        };
        match table.stage.is_written() {
            false => made.unwritten = unread,
            true => made.beside = unread,
        }
        Some(made)
    }

    /// The stored column with the value in the plain. It is called as clients call it, so that what they write is right
    /// of it as it is.
    fn plain(&mut self, of: &Origin, name: &Placed<String>) -> Option<Part> {
        let own = self.name(name);
        if own != *of.column {
            let message = format!("column `{}` in the plain is to be called so, too", of.column);
            self.wrong(name, message);
            return None;
        }
        Some(Part {
            purpose: Purpose::Plain,
            name: own,
            encryptor: String::new(),
            makes: Arc::new(Plain),
            stored: Turn(Arc::new(AsIs)),
            asked: Turn(Arc::new(AsIs)),
        })
    }

    /// The type that a rule gives a column, in which there may be none; `None` for one that no column can have.
    fn declared(&mut self, data_type: Option<&Placed<String>>) -> Option<Option<Declared>> {
        let Some(text) = data_type else { return Some(None) };
        let fold = self.fold;
        let Some(declared) = DeclaredType::read(text, fold) else {
            let message = format!(
                "values of type `{}` cannot be encrypted; texts, whole and exact numbers with a scale, dates and times \
                 without a zone can",
                text.value
            );
            self.wrong(text, message);
            return None;
        };
        Some(Some(Declared { declared, fold }))
    }

    fn part(&mut self, holds: &Holds, part: &Encrypted, purpose: Purpose) -> Option<Part> {
        let makes = Arc::clone(self.encryptors.get(part.encryptor.as_str())?);
        let abilities = makes.abilities();
        let (can, what) = match purpose {
            Purpose::Value => (abilities.decrypts, "decrypt"),
            Purpose::Equality if makes.stores() == Stores::Characters => (
                false,
                "stand beside another: what it stores is compared by the column's collation",
            ),
            Purpose::Equality => (abilities.equal, "give equal texts for equal values"),
            Purpose::Like => (abilities.like != Like::Never, "digest patterns of LIKE"),
            Purpose::Plain => (true, ""),
        };
        let is_text = |declared: Declared| matches!(declared.declared, DeclaredType::Text { .. });
        if purpose == Purpose::Like && !holds.declared.is_none_or(is_text) {
            let message = format!("column `{}` is no text for LIKE", holds.column);
            self.wrong(&part.name, message);
            return None;
        }
        if !can {
            let message = format!("encryptor `{}` cannot {what}", part.encryptor.value);
            self.wrong(&part.encryptor, message);
            return None;
        }
        let stored = || Stored {
            column: Arc::clone(&holds.column),
            makes: Arc::clone(&makes),
            declared: holds.declared,
            fold: self.fold,
        };
        let asked = match purpose {
            Purpose::Value | Purpose::Equality | Purpose::Plain => Turn(Arc::new(Asked(stored()))),
            Purpose::Like => Turn(Arc::new(Pattern(stored()))),
        };
        Some(Part {
            purpose,
            name: self.name(&part.name),
            encryptor: part.encryptor.value.clone(),
            stored: Turn(Arc::new(stored())),
            asked,
            makes,
        })
    }
}
