//! The small typed layer between the tree and our structs: every miss is reported with its place, and reading goes on.
//!
//! `None` from a reader means "already reported" for a required value and "not given" for an optional one.

use std::ops::RangeInclusive;

use crate::algorithm::{Algorithm, Named};
use crate::node::{Content, Entry, Node};
use crate::place::{At, Placed, Report};
use crate::suggest;

impl Node {
    /// Its entries; nothing (`key:`) counts as an empty mapping.
    pub fn entries(&self, report: &mut Report) -> Option<&[Entry]> {
        match &self.content {
            Content::Mapping(entries) => Some(entries),
            Content::Scalar { .. } if self.is_null() => Some(&[]),
            Content::Scalar { .. } | Content::Sequence(_) => {
                report.error(self.expected("a mapping"));
                None
            }
        }
    }

    /// Its items; nothing (`key:`) counts as an empty list.
    pub fn list(&self, report: &mut Report) -> Option<&[Self]> {
        match &self.content {
            _ if self.has_stray_tag(report) => None,
            Content::Sequence(items) => Some(items),
            Content::Scalar { .. } if self.is_null() => Some(&[]),
            Content::Scalar { .. } | Content::Mapping(_) => {
                report.error(self.expected("a list"));
                None
            }
        }
    }

    /// Its text. Numbers and booleans are texts too, as `password: 123456` is.
    pub fn string(&self, report: &mut Report) -> Option<&str> {
        match &self.content {
            _ if self.has_stray_tag(report) => None,
            Content::Scalar { text, .. } if !self.is_null() => Some(text),
            Content::Scalar { .. } | Content::Sequence(_) | Content::Mapping(_) => {
                report.error(self.expected("a string"));
                None
            }
        }
    }

    /// Its text with its place.
    pub fn placed_string(&self, report: &mut Report) -> Option<Placed<String>> {
        let value = self.string(report)?.to_owned();
        Some(Placed { value, at: self.at.clone() })
    }

    /// Its text, which must not be empty, without white space around it.
    pub fn name(&self, report: &mut Report) -> Option<Placed<String>> {
        let name = self.string(report)?.trim();
        if name.is_empty() {
            report.error(self.at.problem("expected a name, found an empty text"));
            return None;
        }
        Some(Placed { value: name.to_owned(), at: self.at.clone() })
    }

    /// Its value as a whole number within `range`, both ends included.
    pub fn integer(&self, range: RangeInclusive<i64>, report: &mut Report) -> Option<i64> {
        let text = match &self.content {
            _ if self.has_stray_tag(report) => return None,
            Content::Scalar { text, .. } if !self.is_null() => text,
            Content::Scalar { .. } | Content::Sequence(_) | Content::Mapping(_) => {
                report.error(self.expected("a whole number"));
                return None;
            }
        };
        let Ok(number) = text.trim().replace('_', "").parse::<i64>() else {
            report.error(self.expected("a whole number"));
            return None;
        };
        if !range.contains(&number) {
            let (low, high) = range.into_inner();
            let wanted = format!("a whole number from {low} to {high}");
            report.error(self.expected(&wanted));
            return None;
        }
        Some(number)
    }

    /// Its value as a boolean: `true`, `false`, and YAML 1.1's `yes`, `no`, `on`, `off`.
    pub fn boolean(&self, report: &mut Report) -> Option<bool> {
        if self.has_stray_tag(report) {
            return None;
        }
        if let Content::Scalar { text, .. } = &self.content {
            match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => return Some(true),
                "false" | "no" | "off" => return Some(false),
                _ => {}
            }
        }
        report.error(self.expected("`true` or `false`"));
        None
    }

    /// Its items as names; also a single text with commas between the names, which older files use.
    pub fn names(&self, report: &mut Report) -> Option<Vec<Placed<String>>> {
        if let (Content::Scalar { text, .. }, false) = (&self.content, self.is_null()) {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            let place = |part: &str| Placed { value: part.to_owned(), at: self.at.clone() };
            return Some(parts.map(place).collect());
        }
        Some(self.list(report)?.iter().filter_map(|item| item.name(report)).collect())
    }

    /// Its word as one of `known`, case ignored.
    pub fn choice<T: Copy>(&self, known: &[(&str, T)], report: &mut Report) -> Option<T> {
        let word = self.string(report)?;
        let found = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim()));
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            report.error(self.expected(&format!("one of {}", names.join(", "))));
        }
        found.map(|(_, value)| *value)
    }

    fn has_stray_tag(&self, report: &mut Report) -> bool {
        let Some(tag) = &self.tag else { return false };
        report.error(self.at.problem(format!("tag `!{tag}` does not belong here")));
        true
    }
}

/// The fields of one mapping, read one by one; [`Fields::finish`] reports those nobody asked for.
#[derive(Debug)]
pub struct Fields<'n, 'r> {
    at: &'n At,
    entries: &'n [Entry],
    taken: Vec<bool>,
    known: Vec<&'static str>,
    report: &'r mut Report,
}

impl<'n, 'r> Fields<'n, 'r> {
    /// The fields of an untagged mapping.
    pub fn of(node: &'n Node, report: &'r mut Report) -> Option<Self> {
        if node.has_stray_tag(report) { None } else { Self::of_tagged(node, report) }
    }

    /// The fields of a mapping whose tag was already looked at.
    pub fn of_tagged(node: &'n Node, report: &'r mut Report) -> Option<Self> {
        let entries = node.entries(report)?;
        let taken = vec![false; entries.len()];
        Some(Self { at: &node.at, entries, taken, known: Vec::new(), report })
    }

    /// Where the mapping stands.
    pub fn at(&self) -> At {
        self.at.clone()
    }

    /// Where problems go.
    pub fn report(&mut self) -> &mut Report {
        self.report
    }

    /// The field even if it holds nothing, with the place of its key.
    pub fn entry(&mut self, name: &'static str) -> Option<&'n Entry> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        let index = self.entries.iter().position(|entry| entry.key == name)?;
        self.taken[index] = true;
        Some(&self.entries[index])
    }

    /// The field, unless it is absent or holds nothing.
    pub fn optional(&mut self, name: &'static str) -> Option<&'n Node> {
        self.entry(name).map(|entry| &entry.value).filter(|node| !node.is_null())
    }

    /// The one given of several names for the same thing; two of them at once are an error.
    pub fn synonym(&mut self, names: &[&'static str]) -> Option<&'n Node> {
        let mut given: Option<(&str, &'n Node)> = None;
        for name in names {
            let Some(node) = self.optional(name) else { continue };
            if let Some((first, _)) = given {
                let message = format!("`{name}` and `{first}` mean the same; give one of them");
                self.report.error(node.at.problem(message));
            } else {
                given = Some((name, node));
            }
        }
        given.map(|(_, node)| node)
    }

    /// The field, which must be there and hold something.
    pub fn field(&mut self, name: &'static str) -> Option<&'n Node> {
        let node = self.optional(name);
        if node.is_none() {
            self.missing(name);
        }
        node
    }

    /// Reports that a required field is missing.
    pub fn missing(&mut self, name: &str) {
        let at = self.entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value.at);
        let message = format!("field `{name}` is required");
        self.report.error(at.unwrap_or(self.at).problem(message));
    }

    /// A required, non-empty text.
    pub fn name(&mut self, name: &'static str) -> Option<Placed<String>> {
        self.field(name)?.name(self.report)
    }

    /// An optional, non-empty text.
    pub fn optional_name(&mut self, name: &'static str) -> Option<Placed<String>> {
        self.optional(name)?.name(self.report)
    }

    /// An optional text.
    pub fn optional_string(&mut self, name: &'static str) -> Option<Placed<String>> {
        self.optional(name)?.placed_string(self.report)
    }

    /// An optional boolean.
    pub fn optional_boolean(&mut self, name: &'static str) -> Option<bool> {
        self.optional(name)?.boolean(self.report)
    }

    /// An optional whole number within `range`.
    pub fn optional_integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
    ) -> Option<i64> {
        self.optional(name)?.integer(range, self.report)
    }

    /// A list of names; empty where the field is absent.
    pub fn names(&mut self, name: &'static str) -> Vec<Placed<String>> {
        let node = self.optional(name);
        node.and_then(|node| node.names(self.report)).unwrap_or_default()
    }

    /// Algorithms by the names that rules use them by; none where the field is absent.
    pub fn algorithms(&mut self, name: &'static str) -> Named<Algorithm> {
        Named::read(self, name)
    }

    /// Every entry of a mapping field read by `read`; entries that fail are left out, as they are already reported.
    pub fn map<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&'n Entry, &mut Report) -> Option<T>,
    ) -> Vec<T> {
        let Some(node) = self.optional(name) else { return Vec::new() };
        if node.has_stray_tag(self.report) {
            return Vec::new();
        }
        let entries = node.entries(self.report).unwrap_or_default();
        entries.iter().filter_map(|entry| read(entry, self.report)).collect()
    }

    /// A field that older files may carry and that has no effect any more: a warning.
    pub fn ignored(&mut self, name: &'static str, why: &str) {
        if let Some(entry) = self.entry(name) {
            self.report.warn(entry.at.problem(format!("`{name}` has no effect: {why}")));
        }
    }

    /// Takes every field not asked for so far.
    pub fn rest(&mut self) -> Vec<&'n Entry> {
        let taken = &mut self.taken;
        let left = self.entries.iter().enumerate().filter(|(i, _)| !taken[*i]);
        let left: Vec<&'n Entry> = left.map(|(_, entry)| entry).collect();
        taken.fill(true);
        left
    }

    /// Reports every field that nobody asked for.
    pub fn finish(self) {
        for (entry, taken) in self.entries.iter().zip(&self.taken) {
            if !taken {
                let hint = suggest::hint(&entry.key, self.known.iter().copied());
                self.report.error(entry.at.problem(format!("unknown key `{}`{hint}", entry.key)));
            }
        }
    }
}

/// The key of an entry as a name with its place.
pub(crate) fn key(entry: &Entry) -> Placed<String> {
    Placed { value: entry.key.clone(), at: entry.at.clone() }
}
