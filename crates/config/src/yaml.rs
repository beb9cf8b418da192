//! Text → tree, with bounds: one document, no duplicate keys, no bomb of aliases.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use crate::node::{Content, Entry, Node, shorten};
use crate::place::{At, Path, Problem};
use crate::placeholder::{self, Environment};

/// The largest file read, in bytes.
pub(crate) const MOST_BYTES: usize = 4 << 20;
/// The deepest nesting.
const MOST_DEPTH: usize = 64;
/// The most values of one file, those behind aliases counted where they are used.
const MOST_NODES: usize = 200_000;
/// The most bytes of text of one file, counted likewise.
const MOST_TEXT: usize = 16 << 20;

/// The tree of the one document in `text`; nothing for a file that holds only comments.
///
/// # Errors
/// The first thing that is not valid YAML, or beyond a bound.
pub fn parse(
    file: &str,
    text: &str,
    environment: Environment<'_>,
) -> Result<Option<Node>, Problem> {
    read(file, text, Some(environment))
}

/// [`parse`], with every `$${NAME::DEFAULT}` left as it is written; [`Node::filled`] fills them.
///
/// # Errors
/// The first thing that is not valid YAML, or beyond a bound.
pub fn parse_raw(file: &str, text: &str) -> Result<Option<Node>, Problem> {
    read(file, text, None)
}

fn read(
    file: &str,
    text: &str,
    environment: Option<Environment<'_>>,
) -> Result<Option<Node>, Problem> {
    let file: Arc<str> = file.into();
    let root = At::new(file.clone(), 1, 1, Path::default());
    if text.len() > MOST_BYTES {
        return Err(root.problem(format!("file is larger than {MOST_BYTES} bytes")));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parser = Parser::new_from_str(text);
    let mut builder =
        Builder { file, text, parser, environment, anchors: HashMap::new(), nodes: 0, bytes: 0 };
    builder.document()
}

struct Builder<'t, 'e> {
    file: Arc<str>,
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    /// Absent leaves placeholders as they are.
    environment: Option<Environment<'e>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    bytes: usize,
}

type Step<'t> = (Event<'t>, Span);

impl<'t> Builder<'t, '_> {
    fn document(&mut self) -> Result<Option<Node>, Problem> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(self.problem(
                        span.start,
                        "a second document starts here; a file holds one document",
                    ));
                }
                Event::Nothing
                | Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
                Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => {
                    let node = self.node((event, span), Path::default(), 0)?;
                    root = (!node.is_null()).then_some(node);
                }
            }
        }
    }

    fn next(&mut self) -> Result<Step<'t>, Problem> {
        match self.parser.next_event() {
            Some(Ok(step)) => Ok(step),
            Some(Err(error)) => Err(self.scan_problem(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, step: Step<'t>, path: Path, depth: usize) -> Result<Node, Problem> {
        let (event, span) = step;
        self.count(span.start, 1, 0)?;
        if depth > MOST_DEPTH {
            let message = format!("nested deeper than {MOST_DEPTH} levels");
            return Err(self.problem(span.start, message));
        }
        match event {
            Event::Alias(id) => self.alias(id, span.start, &path),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = |tag: &Tag| tag.is_yaml_core_schema() && tag.suffix == "str";
                let quoted = style != ScalarStyle::Plain || tag.as_deref().is_some_and(is_text);
                let (at, _, tag) = self.head(span.start, path, tag.as_deref())?;
                let text = self.filled(&text, &at)?;
                self.count(span.start, 0, text.len())?;
                Ok(self
                    .anchored(anchor, Node { at, tag, content: Content::Scalar { text, quoted } }))
            }
            Event::SequenceStart(anchor, tag) => {
                let (at, path, tag) = self.head(span.start, path, tag.as_deref())?;
                let content = Content::Sequence(self.items(&path, depth)?);
                Ok(self.anchored(anchor, Node { at, tag, content }))
            }
            Event::MappingStart(anchor, tag) => {
                let (at, path, tag) = self.head(span.start, path, tag.as_deref())?;
                let content = Content::Mapping(self.entries(&path, depth)?);
                Ok(self.anchored(anchor, Node { at, tag, content }))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => Err(self.problem(span.start, "a value is missing here")),
        }
    }

    fn head(
        &self,
        mark: Marker,
        path: Path,
        tag: Option<&Tag>,
    ) -> Result<(At, Path, Option<String>), Problem> {
        let Some(tag) = tag else { return Ok((self.at(mark, path.clone()), path, None)) };
        if tag.is_yaml_core_schema() {
            return match tag.suffix.as_str() {
                "str" | "int" | "bool" | "float" | "null" | "map" | "seq" => {
                    Ok((self.at(mark, path.clone()), path, None))
                }
                other => Err(self.problem(mark, format!("tag `!!{other}` is not supported"))),
            };
        }
        if tag.handle != "!" {
            let message = format!("tag `{}{}` is not supported", tag.handle, tag.suffix);
            return Err(self.problem(mark, message));
        }
        let path = path.tag(&tag.suffix);
        Ok((self.at(mark, path.clone()), path, Some(tag.suffix.clone())))
    }

    /// With its placeholders filled in.
    fn filled(&self, text: &str, at: &At) -> Result<String, Problem> {
        match self.environment {
            Some(environment) => {
                placeholder::fill(text, environment).map_err(|why| at.problem(why))
            }
            None => Ok(text.to_owned()),
        }
    }

    fn items(&mut self, path: &Path, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut items = Vec::new();
        loop {
            let step = self.next()?;
            if step.0 == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(step, path.index(items.len()), depth + 1)?);
        }
    }

    fn entries(&mut self, path: &Path, depth: usize) -> Result<Vec<Entry>, Problem> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut merged: Vec<Entry> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        loop {
            let step = self.next()?;
            if step.0 == Event::MappingEnd {
                break;
            }
            let (key, mark, is_merge) = self.key(step)?;
            let path_of_value = path.key(&key);
            let at = self.at(mark, path_of_value.clone());
            let value = self.next()?;
            let value = self.node(value, path_of_value, depth + 1)?;
            if is_merge {
                self.merge(&value, path, &mut merged)?;
                continue;
            }
            if let Some(line) = places.insert(key.clone(), at.line()) {
                return Err(at.problem(format!("key `{key}` was already given in line {line}")));
            }
            entries.push(Entry { key, at, value });
        }
        let mut taken: HashSet<String> = places.into_keys().collect();
        entries.extend(merged.into_iter().filter(|entry| taken.insert(entry.key.clone())));
        Ok(entries)
    }

    fn key(&mut self, step: Step<'t>) -> Result<(String, Marker, bool), Problem> {
        let (event, span) = step;
        let Event::Scalar(text, style, ..) = event else {
            return Err(self.problem(span.start, "a key must be a plain or quoted text"));
        };
        const LONGEST: usize = 512;
        if text.len() > LONGEST {
            let message = format!("key `{}` is longer than {LONGEST} bytes", shorten(&text));
            return Err(self.problem(span.start, message));
        }
        let is_merge = text == "<<" && style == ScalarStyle::Plain;
        Ok((text.into_owned(), span.start, is_merge))
    }

    /// Takes the entries of `<<: *a` or `<<: [*a, *b]`; what comes first wins.
    fn merge(&mut self, value: &Node, path: &Path, merged: &mut Vec<Entry>) -> Result<(), Problem> {
        match &value.content {
            Content::Mapping(entries) => {
                merged.extend(entries.iter().map(|entry| entry.moved_to(path)));
                Ok(())
            }
            Content::Sequence(items) => {
                for item in items {
                    let Content::Mapping(entries) = &item.content else {
                        return Err(item.expected("a mapping to merge"));
                    };
                    merged.extend(entries.iter().map(|entry| entry.moved_to(path)));
                }
                Ok(())
            }
            Content::Scalar { .. } => Err(value.expected("a mapping to merge")),
        }
    }

    fn alias(&mut self, id: usize, mark: Marker, path: &Path) -> Result<Node, Problem> {
        let Some(node) = self.anchors.get(&id) else {
            return Err(self.problem(mark, "an alias stands inside its own anchor"));
        };
        let (nodes, bytes) = weight(node);
        let node = node.moved_to(path);
        self.count(mark, nodes, bytes)?;
        Ok(node)
    }

    fn anchored(&mut self, anchor: usize, node: Node) -> Node {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn count(&mut self, mark: Marker, nodes: usize, bytes: usize) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.nodes > MOST_NODES || self.bytes > MOST_TEXT {
            let message = format!(
                "more than {MOST_NODES} values or {MOST_TEXT} bytes of text, aliases counted"
            );
            return Err(self.problem(mark, message));
        }
        Ok(())
    }

    fn at(&self, mark: Marker, path: Path) -> At {
        At::new(self.file.clone(), mark.line().max(1), mark.col() + 1, path)
    }

    fn problem(&self, mark: Marker, message: impl Into<String>) -> Problem {
        self.at(mark, Path::default()).problem(message)
    }

    fn scan_problem(&self, error: &ScanError) -> Problem {
        let mark = *error.marker();
        let lines = [mark.line(), mark.line().saturating_sub(1)];
        let tab = lines.into_iter().find_map(|line| self.tab_in(line).map(|column| (line, column)));
        if let Some((line, column)) = tab {
            let at = At::new(self.file.clone(), line, column, Path::default());
            return at.problem("a tab is used for indentation; YAML wants spaces");
        }
        self.problem(mark, format!("not valid YAML: {}", error.info()))
    }

    /// The column of a tab among the leading white space of a line.
    fn tab_in(&self, line: usize) -> Option<usize> {
        let line = self.text.lines().nth(line.checked_sub(1)?)?;
        let indent = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
        indent.enumerate().find(|(_, c)| *c == '\t').map(|(column, _)| column + 1)
    }
}

fn weight(node: &Node) -> (usize, usize) {
    let sum = |all: &mut dyn Iterator<Item = &Node>| {
        all.map(weight).fold((1, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    match &node.content {
        Content::Scalar { text, .. } => (1, text.len()),
        Content::Sequence(items) => sum(&mut items.iter()),
        Content::Mapping(entries) => sum(&mut entries.iter().map(|entry| &entry.value)),
    }
}
