//! Names of distributed transactions.

use std::fmt;

/// Names a distributed transaction: the deciding unit's identity, the instance, its epoch, and a number. At most 64 octets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlobalId {
    text: String,
}

/// Octets of the instance's name that are part of the name.
const INSTANCE: usize = 12;
/// Octets of an identity.
const IDENTITY: usize = 12;

impl GlobalId {
    /// A name. `instance` and `identity` are cut to what fits, and to letters and digits.
    pub fn new(identity: &str, instance: &str, epoch: u64, number: u64) -> Self {
        let (identity, instance) = (plain(identity, IDENTITY), plain(instance, INSTANCE));
        Self { text: format!("pando-{identity}-{instance}-{epoch:x}-{number:x}") }
    }

    /// Reads a name; `None` when Pando did not make it.
    pub fn read(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let [kind, identity, instance, epoch, number] = parts[..] else { return None };
        let is_number = |part: &str| u64::from_str_radix(part, 16).is_ok();
        let is_name =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let ours = kind == "pando"
            && text.len() <= 64
            && is_name(identity)
            && is_name(instance)
            && is_number(epoch)
            && is_number(number);
        ours.then(|| Self { text: text.to_owned() })
    }

    /// The identity of the unit that decides.
    pub fn decider(&self) -> &str {
        self.text.split('-').nth(1).unwrap_or_default()
    }

    /// The instance that began it.
    pub fn instance(&self) -> &str {
        self.text.split('-').nth(2).unwrap_or_default()
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for GlobalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The last letters and digits of a name: instances of one host differ at the end.
fn plain(name: &str, length: usize) -> String {
    let letters: Vec<char> = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain: String = letters.iter().skip(letters.len().saturating_sub(length)).collect();
    if plain.is_empty() { "0".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_fits() {
        let id = GlobalId::new("0a1b2c3d4e5f", "host-with-a-long-name@3307", u64::MAX, u64::MAX);
        assert!(id.as_str().len() <= 80, "{id}");
        let id = GlobalId::new("0a1b2c3d4e5f", "host-with-a-long-name@3307", 1 << 41, 1 << 40);
        assert!(id.as_str().len() <= 64, "{id}");
        assert_eq!(GlobalId::read(id.as_str()), Some(id.clone()));
        assert_eq!((id.decider(), id.instance()), ("0a1b2c3d4e5f", "longname3307"));
    }

    #[test]
    fn names_of_others_are_not_read() {
        for text in [
            "",
            "pando",
            "atomikos-a-b-1-2",
            "pando-a-b-1",
            "pando-a-b-x-2",
            "pando--b-1-2",
            "pando-a';-b-1-2",
        ] {
            assert_eq!(GlobalId::read(text), None, "{text}");
        }
    }
}
