//! Trees that are made and changed by commands: building, looking up, replacing. Values made here stand nowhere.

use std::mem;

use crate::node::{Content, Entry, Node};
use crate::place::{At, Path, Problem};
use crate::placeholder::{self, Environment};

impl Node {
    /// A text, which stays one even where it looks like nothing (`null`, `~` or empty).
    pub fn text(text: impl Into<String>) -> Self {
        let mut node = Self::new(Content::Scalar { text: text.into(), quoted: false });
        if let (true, Content::Scalar { quoted, .. }) = (node.is_null(), &mut node.content) {
            *quoted = true;
        }
        node
    }

    /// Nothing, as `key:` has.
    pub fn nothing() -> Self {
        Self::new(Content::Scalar { text: String::new(), quoted: false })
    }

    /// A list.
    pub fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Content::Sequence(items.into_iter().collect()))
    }

    /// A mapping; of two entries with one key the later one counts.
    pub fn mapping<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let mut node = Self::new(Content::Mapping(Vec::new()));
        for (key, value) in entries {
            node.set(&key.into(), value);
        }
        node
    }

    /// The same with a tag, written without its `!`.
    #[must_use]
    pub fn tagged(self, tag: impl Into<String>) -> Self {
        Self { tag: Some(tag.into()), ..self }
    }

    fn new(content: Content) -> Self {
        Self { at: At::default(), tag: None, content }
    }

    /// The text of a scalar that holds something.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } if !self.is_null() => Some(text),
            Content::Scalar { .. } | Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    /// The entries of a mapping; none for anything else.
    pub fn pairs(&self) -> &[Entry] {
        match &self.content {
            Content::Mapping(entries) => entries,
            Content::Scalar { .. } | Content::Sequence(_) => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Self] {
        match &self.content {
            Content::Sequence(items) => items,
            Content::Scalar { .. } | Content::Mapping(_) => &[],
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.pairs().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The value at the end of several keys.
    pub fn find(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Puts a value at a key, in the place of an older one, else at the end. Whatever is no mapping becomes one.
    pub fn set(&mut self, key: &str, value: Self) {
        let entry = |value| Entry { key: key.to_owned(), at: At::default(), value };
        let Content::Mapping(entries) = &mut self.content else {
            self.content = Content::Mapping(vec![entry(value)]);
            return;
        };
        match entries.iter_mut().find(|entry| entry.key == key) {
            Some(old) => old.value = value,
            None => entries.push(entry(value)),
        }
    }

    /// Changes the value of a key where it stands; it is nothing at first where there is none.
    pub fn change<R>(&mut self, key: &str, change: impl FnOnce(&mut Self) -> R) -> R {
        let mut value = match &mut self.content {
            Content::Mapping(entries) => {
                let old = entries.iter_mut().find(|entry| entry.key == key);
                old.map_or_else(Self::nothing, |old| mem::replace(&mut old.value, Self::nothing()))
            }
            Content::Scalar { .. } | Content::Sequence(_) => Self::nothing(),
        };
        let result = change(&mut value);
        self.set(key, value);
        result
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        match &mut self.content {
            Content::Mapping(entries) => {
                let index = entries.iter().position(|entry| entry.key == key)?;
                Some(entries.remove(index).value)
            }
            Content::Scalar { .. } | Content::Sequence(_) => None,
        }
    }

    /// Puts the entries of a mapping into another order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&Entry) -> K) {
        if let Content::Mapping(entries) = &mut self.content {
            entries.sort_by_key(key);
        }
    }

    /// Whether it is nothing, or a list or mapping without content.
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Scalar { .. } => self.is_null(),
            Content::Sequence(items) => items.is_empty(),
            Content::Mapping(entries) => entries.is_empty(),
        }
    }

    /// The item of a database's `rules` with this tag.
    pub fn rule(&self, tag: &str) -> Option<&Self> {
        let rules = self.get("rules")?.items();
        rules.iter().find(|item| item.tag.as_deref() == Some(tag))
    }

    /// Changes the item of a database's `rules` with this tag; an empty one is made at the end of the list where there is none.
    pub fn change_rule<R>(&mut self, tag: &str, change: impl FnOnce(&mut Self) -> R) -> R {
        self.change("rules", |rules| {
            let mut items = match mem::replace(&mut rules.content, Content::Sequence(Vec::new())) {
                Content::Sequence(items) => items,
                Content::Scalar { .. } | Content::Mapping(_) => Vec::new(),
            };
            let found = items.iter().position(|item| item.tag.as_deref() == Some(tag));
            let index = found.unwrap_or_else(|| {
                items.push(Self::new(Content::Mapping(Vec::new())).tagged(tag));
                items.len() - 1
            });
            let result = change(&mut items[index]);
            rules.content = Content::Sequence(items);
            result
        })
    }

    /// Takes the rule with this tag out.
    pub fn remove_rule(&mut self, tag: &str) -> Option<Self> {
        self.change("rules", |rules| match &mut rules.content {
            Content::Sequence(items) => {
                let index = items.iter().position(|item| item.tag.as_deref() == Some(tag))?;
                Some(items.remove(index))
            }
            Content::Scalar { .. } | Content::Mapping(_) => None,
        })
    }

    /// The same tree with every `$${NAME::DEFAULT}` of its values filled, and each value's path as its place.
    ///
    /// # Errors
    /// The first placeholder that is not closed, has no name, or is unset without a default.
    pub fn filled(&self, environment: Environment<'_>) -> Result<Self, Problem> {
        self.filled_at(&Path::default(), environment)
    }

    fn filled_at(&self, path: &Path, environment: Environment<'_>) -> Result<Self, Problem> {
        let path = self.tag.as_deref().map_or_else(|| path.clone(), |tag| path.tag(tag));
        let at = At::default().with_path(path.clone());
        let content = match &self.content {
            Content::Scalar { text, quoted } => {
                let text = placeholder::fill(text, environment).map_err(|why| at.problem(why))?;
                Content::Scalar { text, quoted: *quoted }
            }
            Content::Sequence(items) => {
                let item = |(i, item): (usize, &Self)| item.filled_at(&path.index(i), environment);
                Content::Sequence(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            Content::Mapping(entries) => {
                let entry = |entry: &Entry| {
                    let path = path.key(&entry.key);
                    let value = entry.value.filled_at(&path, environment)?;
                    Ok(Entry { key: entry.key.clone(), at: At::default().with_path(path), value })
                };
                Content::Mapping(entries.iter().map(entry).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { at, tag: self.tag.clone(), content })
    }

    /// The same tree standing nowhere, quotes kept only where they change the meaning: equal trees are equal configurations.
    #[must_use]
    pub fn plain(&self) -> Self {
        let content = match &self.content {
            Content::Scalar { .. } if self.is_null() => {
                return Self { tag: self.tag.clone(), ..Self::nothing() };
            }
            Content::Scalar { text, .. } => Self::text(text.as_str()).content,
            Content::Sequence(items) => Content::Sequence(items.iter().map(Self::plain).collect()),
            Content::Mapping(entries) => {
                let entry = |entry: &Entry| Entry {
                    key: entry.key.clone(),
                    at: At::default(),
                    value: entry.value.plain(),
                };
                Content::Mapping(entries.iter().map(entry).collect())
            }
        };
        Self { at: At::default(), tag: self.tag.clone(), content }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Database, parse_raw, print};

    #[test]
    fn a_tree_is_built_changed_and_read() {
        let mut root = Node::mapping([("databaseName", Node::text("shop"))]);
        let url = Node::text("jdbc:mysql://$${HOST::db1}/shop");
        root.change("dataSources", |units| units.change("ds_0", |unit| unit.set("url", url)));
        let tables = |name| Node::sequence([Node::text(name)]);
        root.change_rule("BROADCAST", |rule| rule.set("tables", tables("t_dict")));
        root.change_rule("SINGLE", |rule| rule.set("tables", tables("*.*")));
        assert!(root.remove_rule("SINGLE").is_some());
        let tables = root.rule("BROADCAST").and_then(|rule| rule.get("tables"));
        assert_eq!(tables.map(|tables| tables.items().len()), Some(1));
        let raw = parse_raw("t.yaml", &print(&root)).unwrap().unwrap();
        assert_eq!(raw.plain(), root);
        let (database, warnings) = Database::from_tree(&root, &|_| None).unwrap();
        assert_eq!(database.storage_units[0].url.host, "db1");
        assert!(warnings.is_empty());
    }

    #[test]
    fn problems_of_a_built_tree_say_their_path() {
        let mut root = Node::mapping([("databaseName", Node::text("shop"))]);
        let table = Node::mapping([("t", Node::mapping([("colums", Node::nothing())]))]);
        root.change_rule("MASK", |rule| rule.set("tables", table));
        let errors = Database::from_tree(&root, &|_| None).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "rules[0].!MASK.tables.t.colums: unknown key `colums`; did you mean `columns`?"
        );
        root.set("databaseName", Node::text("$${NAME}"));
        let errors = Database::from_tree(&root, &|_| None).unwrap_err().to_string();
        assert!(errors.starts_with("databaseName: environment variable `NAME`"), "{errors}");
    }

    #[test]
    fn texts_that_look_like_nothing_stay_texts() {
        assert_eq!(Node::text("null").as_text(), Some("null"));
        assert_eq!(Node::nothing().as_text(), None);
        assert_eq!(Node::text("").plain(), Node::text(""));
    }
}
