//! `{type, props}`: how every algorithm is written, whatever it is for.

use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};
use crate::suggest;

/// Properties in file order, all as text: whoever takes one knows its type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Props(Vec<(Placed<String>, Placed<String>)>);

impl Props {
    /// Properties from no file, for configuration made by commands and for tests.
    pub fn nowhere<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let place = |text: &str| Placed::nowhere(text.to_owned());
        Self(pairs.into_iter().map(|(key, value)| (place(key), place(value))).collect())
    }

    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let entries = node.entries(report)?;
        let mut props = Vec::with_capacity(entries.len());
        for entry in entries {
            let at = entry.value.at.clone();
            let value = if entry.value.is_null() {
                String::new()
            } else {
                entry.value.string(report)?.to_owned()
            };
            props.push((read::key(entry), Placed { value, at }));
        }
        Some(Self(props))
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&Placed<String>> {
        self.0.iter().find(|(key, _)| key.value == name).map(|(_, value)| value)
    }

    /// Keys and values in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&Placed<String>, &Placed<String>)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One algorithm as configured; whether its type exists and its properties fit is for the room that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Algorithm {
    /// Where it stands.
    pub at: At,
    /// Its type as written, as `HASH_MOD`.
    pub kind: Placed<String>,
    /// Its properties.
    pub props: Props,
}

impl Algorithm {
    /// An algorithm from no file.
    pub fn nowhere<'a>(kind: &str, props: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let kind = Placed::nowhere(kind.to_owned());
        Self { at: At::default(), kind, props: Props::nowhere(props) }
    }

    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of(node, report)?;
        let kind = fields.name("type");
        let props = match fields.optional("props") {
            Some(node) => Props::read(node, fields.report()),
            None => Some(Props::default()),
        };
        fields.finish();
        Some(Self { at: node.at.clone(), kind: kind?, props: props? })
    }
}

/// Things by the name they were given, in file order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T>(Vec<(Placed<String>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<(Placed<String>, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (Placed<String>, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<T> Named<T> {
    /// The thing of that name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key.value == name).map(|(_, value)| value)
    }

    /// Names and things in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&Placed<String>, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The names in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, name: Placed<String>, value: T) {
        self.0.push((name, value));
    }

    pub(crate) fn find_mut(&mut self, test: impl Fn(&Placed<String>) -> bool) -> Option<&mut T> {
        self.0.iter_mut().find(|(name, _)| test(name)).map(|(_, value)| value)
    }

    /// Reports a reference to a name that is not here; `what` is the word for the thing.
    pub fn check(&self, reference: &Placed<String>, what: &str, report: &mut Report) {
        if self.get(reference).is_none() {
            let hint = suggest::hint(reference, self.names());
            let message = format!("{what} `{}` is not defined{hint}", reference.value);
            report.error(reference.at.problem(message));
        }
    }
}

impl Named<Algorithm> {
    pub(crate) fn read(fields: &mut Fields<'_, '_>, name: &'static str) -> Self {
        let read = |entry: &Entry, report: &mut Report| {
            Some((read::key(entry), Algorithm::read(&entry.value, report)?))
        };
        fields.map(name, read).into_iter().collect()
    }
}
