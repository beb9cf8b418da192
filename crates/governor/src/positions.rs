//! How far rows are that are stored otherwise, kept in the repository: after any end of an instance whoever goes on
//! begins behind them. Only who has the key can read or make such an entry, as it has primary keys, and rows that it
//! says are in step are not looked at again.

use std::collections::BTreeMap;

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_repository::{Change, Expected, Key, Prefix, Revision};

use crate::error::repository as failed;
use crate::governor::Governor;
use crate::house::{Found, Position, Positions, RowsLook};
use crate::keys::{self, escaped, unescaped};

/// A larger entry is not kept: everybody reads all of a repository's entries when any of them changes.
const MOST_BYTES: usize = 64 * 1024;

/// Where a table's rows are, and how many were looked at and written until then.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Kept {
    pub(crate) positions: Positions,
    pub(crate) seen: u64,
    pub(crate) written: u64,
}

/// Whose rows they are, and by what right they are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed<'a> {
    pub(crate) database: &'a str,
    pub(crate) table: &'a str,
    /// Of the entry by which this instance has the work.
    pub(crate) claim: Revision,
}

impl Governor {
    /// What is kept of a table; nothing where that cannot be read.
    ///
    /// # Errors
    /// As the repository says.
    pub(crate) async fn kept(&self, of: Claimed<'_>) -> Result<Kept> {
        let (Some(repository), Some(secret)) = (self.repository(), self.secret()) else {
            return Ok(Kept::default());
        };
        let key = of.key(keys::POSITIONS)?;
        let below = Prefix::parse(key.as_str()).map_err(|error| failed(&error))?;
        let view = repository.read(&below).await.map_err(|error| failed(&error))?;
        let sealed = view.entries.get(&key).map(|entry| entry.value.to_vec());
        let sealed = sealed.and_then(|value| String::from_utf8(value).ok());
        let text = sealed.and_then(|sealed| secret.open(&sealed, key.as_str()));
        Ok(text.and_then(|text| Kept::read(&text)).unwrap_or_default())
    }

    /// Keeps it, as long as the work is this instance's; not where nothing tells by what rows were made so.
    ///
    /// # Errors
    /// As the repository says; a conflict where the work is another instance's by now.
    pub(crate) async fn keep(&self, of: Claimed<'_>, kept: &Kept) -> Result<()> {
        let (Some(repository), Some(secret)) = (self.repository(), self.secret()) else {
            return Ok(());
        };
        if kept.positions.made_by.is_empty() {
            return self.forget_kept(of).await;
        }
        let (key, claim) = (of.key(keys::POSITIONS)?, of.key(keys::REFILLS)?);
        let sealed = secret.seal(&kept.text(), key.as_str()).unwrap_or_default();
        if sealed.len() > MOST_BYTES {
            return Ok(());
        }
        let change = Change::new().expect(&claim, Expected::At(of.claim));
        let kept = repository.commit(change.put(&key, sealed.into_bytes())).await;
        kept.map(drop).map_err(|error| failed(&error))
    }

    /// Forgets it: the next look at the rows begins with the first one.
    ///
    /// # Errors
    /// As [`Governor::keep`].
    pub(crate) async fn forget_kept(&self, of: Claimed<'_>) -> Result<()> {
        let Some(repository) = self.repository() else { return Ok(()) };
        let (key, claim) = (of.key(keys::POSITIONS)?, of.key(keys::REFILLS)?);
        let change = Change::new().expect(&claim, Expected::At(of.claim)).delete(&key);
        repository.commit(change).await.map(drop).map_err(|error| failed(&error))
    }
}

impl Claimed<'_> {
    fn key(&self, folder: &str) -> Result<Key> {
        keys::key(folder, &[self.database, self.table]).map_err(|error| failed(&error))
    }
}

impl Kept {
    /// A line of what is said once, one of what rows were made by, and one for each data node.
    fn text(&self) -> String {
        let Self { positions: Positions { look, made_by, nodes }, seen, written } = self;
        let look = match look {
            RowsLook::First => "first",
            RowsLook::Second => "second",
        };
        let made_by: Vec<String> = made_by.iter().map(|own| escaped(own)).collect();
        let mut lines = vec![format!("{look} {seen} {written}"), made_by.join(" ")];
        lines.extend(nodes.iter().map(|(node, position)| {
            let schema = node.schema.as_ref();
            let schema = schema.map_or("-".to_owned(), |name| format!("+{}", escaped(name)));
            let position = match position {
                Position::End => "end".to_owned(),
                Position::Behind(key) => {
                    let key: Vec<String> = key.iter().map(cell).collect();
                    format!("behind {}", key.join(" "))
                }
            };
            format!("{} {schema} {} {position}", escaped(&node.unit), escaped(&node.table))
        }));
        lines.join("\n")
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let said: Vec<&str> = lines.next()?.split(' ').collect();
        let [look, seen, written] = said[..] else { return None };
        let look = match look {
            "first" => RowsLook::First,
            "second" => RowsLook::Second,
            _ => return None,
        };
        let made_by = lines.next()?.split(' ').filter(|own| !own.is_empty());
        let made_by = made_by.map(unescaped).collect::<Option<Vec<_>>>()?;
        let nodes = lines.map(node).collect::<Option<BTreeMap<_, _>>>()?;
        let positions = Positions { look, made_by, nodes };
        Some(Self { positions, seen: seen.parse().ok()?, written: written.parse().ok()? })
    }
}

fn node(line: &str) -> Option<(Found, Position)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [unit, schema, table, position, key @ ..] = &words[..] else { return None };
    let schema = match schema.strip_prefix('+') {
        Some(name) => Some(unescaped(name)?),
        None => None,
    };
    let position = match *position {
        "end" => Position::End,
        "behind" => Position::Behind(key.iter().map(|cell| value(cell)).collect::<Option<_>>()?),
        _ => return None,
    };
    Some((Found { unit: unescaped(unit)?, schema, table: unescaped(table)? }, position))
}

/// A value with a letter for its type in front.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "n".to_owned(),
        Value::Bool(is) => format!("b{is}"),
        Value::Int(number) => format!("i{number}"),
        Value::UInt(number) => format!("u{number}"),
        Value::Float(number) => format!("f{}", number.to_bits()),
        Value::Decimal(number) => format!("d{number}"),
        Value::Text(text) => format!("t{}", escaped(text)),
        Value::Bytes(octets) => {
            let digits: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            format!("o{}", digits.concat())
        }
    }
}

fn value(cell: &str) -> Option<Value> {
    let rest = cell.get(1..)?;
    Some(match cell.get(..1)? {
        "n" => Value::Null,
        "b" => Value::Bool(rest.parse().ok()?),
        "i" => Value::Int(rest.parse().ok()?),
        "u" => Value::UInt(rest.parse().ok()?),
        "f" => Value::Float(f64::from_bits(rest.parse().ok()?)),
        "d" => Value::decimal(rest)?,
        "t" => Value::Text(unescaped(rest)?),
        "o" => {
            let pairs = (0..rest.len()).step_by(2).map(|at| rest.get(at..at + 2));
            let octets = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok());
            Value::Bytes(octets.collect::<Option<Vec<u8>>>()?.into())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_as_it_was() {
        let found = |schema: Option<&str>, table: &str| Found {
            unit: "ds 0".to_owned(),
            schema: schema.map(str::to_owned),
            table: table.to_owned(),
        };
        let key = vec![
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Bool(true),
            Value::Float(0.1 + 0.2),
            Value::decimal("-12345678901234567890.10").unwrap(),
            Value::Text("a b\n%'; DROP TABLE t; --ü".to_owned()),
            Value::Text(String::new()),
            Value::Bytes(vec![0, 255, 10].into()),
            Value::Null,
        ];
        let nodes = [
            (found(Some("public"), "t_0"), Position::Behind(key)),
            (found(Some(""), "t_1"), Position::End),
            (found(None, "t.2"), Position::Behind(vec![Value::Int(7)])),
        ];
        let positions = Positions {
            look: RowsLook::Second,
            made_by: vec!["phone=a b".to_owned(), "x".to_owned()],
            nodes: nodes.into_iter().collect(),
        };
        let kept = Kept { positions, seen: 12, written: 3 };
        assert_eq!(Kept::read(&kept.text()), Some(kept.clone()));
        assert_eq!(Kept::read(&Kept::default().text()), Some(Kept::default()));
        for wrong in [
            "",
            "first 1",
            "third 1 1\n",
            "first 1 1\n\nds - t up",
            "first 1 1\n\nds - t behind q1",
        ] {
            assert_eq!(Kept::read(wrong), None, "{wrong}");
        }
    }
}
