//! Whether two rules store the values of a table alike, as a number.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use pando_config::rules::{Encrypt, EncryptColumn, EncryptTable, Encrypted};

/// A number for each table, by its keys, that is another where a rule writes it otherwise. What is read does not matter.
pub(crate) fn numbers(section: &Encrypt) -> Vec<(String, u64)> {
    let of_table = |(name, table): (&pando_config::Placed<String>, &EncryptTable)| {
        let keys = HashSet::from([name.to_lowercase(), name.value.clone()]);
        let number = number(section, table);
        keys.into_iter().map(move |key| (key, number)).collect::<Vec<_>>()
    };
    section.tables.iter().flat_map(of_table).collect()
}

fn number(section: &Encrypt, table: &EncryptTable) -> u64 {
    let mut hasher = DefaultHasher::new();
    table.stage.is_written().hash(&mut hasher);
    for (name, column) in table.columns.iter() {
        for part in stored(column) {
            hash(section, part, &mut hasher);
        }
        let plain = column.plain.as_ref().map(|plain| plain.as_str());
        let kind = column.data_type.as_ref().map(|kind| kind.as_str());
        (name.as_str(), plain, kind).hash(&mut hasher);
    }
    hasher.finish()
}

fn stored(column: &EncryptColumn) -> impl Iterator<Item = &Encrypted> {
    let asked = [column.assisted_query.as_ref(), column.like_query.as_ref()];
    std::iter::once(&column.cipher).chain(asked.into_iter().flatten())
}

/// The column's name and what makes it.
fn hash(section: &Encrypt, part: &Encrypted, hasher: &mut DefaultHasher) {
    part.name.hash(hasher);
    let mut encryptors = section.encryptors.iter();
    let made = encryptors.find(|(own, _)| own.value == part.encryptor.value);
    let Some((_, made)) = made else { return };
    made.kind.hash(hasher);
    for (name, value) in made.props.iter() {
        (name.as_str(), value.as_str()).hash(hasher);
    }
}
