//! Tree → YAML text in block style, which reads back as the same tree. Comments and anchors of the text it came from are gone.

use std::fmt::Write as _;

use crate::node::{Content, Entry, Node};

/// The text of a document; ends with a line break.
pub fn print(root: &Node) -> String {
    let mut out = String::new();
    if let Some(tag) = &root.tag {
        let _ = write!(out, "!{tag}");
        if root.is_leaf() {
            out.push(' ');
        } else {
            out.push('\n');
        }
    }
    value(root, 0, &mut out);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

impl Node {
    /// Whether it stands on the line of its key.
    fn is_leaf(&self) -> bool {
        match &self.content {
            Content::Scalar { .. } => true,
            Content::Sequence(items) => items.is_empty(),
            Content::Mapping(entries) => entries.is_empty(),
        }
    }
}

/// A value whose first line is already indented.
fn value(node: &Node, indent: usize, out: &mut String) {
    match &node.content {
        Content::Scalar { text, quoted: true } => quoted_scalar(text, out),
        Content::Scalar { text, quoted: false } => plain_scalar(text, out),
        Content::Sequence(items) if items.is_empty() => out.push_str("[]"),
        Content::Mapping(entries) if entries.is_empty() => out.push_str("{}"),
        Content::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                start(i, indent, out);
                out.push('-');
                below(item, indent + 2, out);
            }
        }
        Content::Mapping(entries) => {
            for (i, entry) in entries.iter().enumerate() {
                start(i, indent, out);
                key(entry, out);
                below(&entry.value, indent + 2, out);
            }
        }
    }
}

/// Every line but the first begins with the indent; the first one's stands already.
fn start(number: usize, indent: usize, out: &mut String) {
    if number > 0 {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn key(entry: &Entry, out: &mut String) {
    match is_plain(&entry.key) && !is_null_word(&entry.key) {
        true => out.push_str(&entry.key),
        false => quote(&entry.key, out),
    }
    out.push(':');
}

/// What stands behind a key or a dash: on the same line, or below it.
fn below(node: &Node, indent: usize, out: &mut String) {
    if let Some(tag) = &node.tag {
        let _ = write!(out, " !{tag}");
    }
    if node.is_leaf() {
        out.push(' ');
    } else {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
    }
    value(node, indent, out);
}

fn plain_scalar(text: &str, out: &mut String) {
    match text {
        "" => out.push('~'),
        text if is_plain(text) => out.push_str(text),
        text => quote(text, out),
    }
}

/// One that is a text, whatever it looks like.
fn quoted_scalar(text: &str, out: &mut String) {
    match is_plain(text) && !is_null_word(text) && !looks_typed(text) {
        true => out.push_str(text),
        false => quote(text, out),
    }
}

fn is_null_word(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Whether another reader of YAML would take the bare text for something else than text.
fn looks_typed(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    let is_word = matches!(&*word, "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n");
    is_word || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
}

/// Whether it can stand without quotes, in a list or as a key, too. Stricter than YAML.
fn is_plain(text: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "_-./+$()=@%;<>^~ ".contains(c);
    let first = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '$' | '.' | '+' | '~');
    text.starts_with(first) && text.chars().all(inside) && !text.ends_with(' ')
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn read(text: &str) -> Node {
        parse("t.yaml", text, &|_| None).unwrap().unwrap()
    }

    /// Equal up to places, and to quotes that change nothing.
    fn same(a: &Node, b: &Node) -> bool {
        let content = match (&a.content, &b.content) {
            (Content::Scalar { text: x, .. }, Content::Scalar { text: y, .. }) => {
                a.is_null() == b.is_null() && (a.is_null() || x == y)
            }
            (Content::Sequence(x), Content::Sequence(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
            }
            (Content::Mapping(x), Content::Mapping(y)) => {
                let entry = |(x, y): (&Entry, &Entry)| x.key == y.key && same(&x.value, &y.value);
                x.len() == y.len() && x.iter().zip(y).all(entry)
            }
            _ => false,
        };
        content && a.tag == b.tag
    }

    #[track_caller]
    fn comes_back(text: &str) {
        let first = read(text);
        let printed = print(&first);
        assert!(same(&first, &read(&printed)), "{printed}");
        assert_eq!(print(&read(&printed)), printed, "printing twice differs");
    }

    #[test]
    fn rules_with_tags_come_back() {
        let text = "databaseName: shop\nrules:\n- !SHARDING\n  tables:\n    t:\n      actualDataNodes: \"ds_${0..1}.t_${0..1}\"\n- !SINGLE\n  tables: [\"*.*\"]\n- !BROADCAST {}\n";
        comes_back(text);
        assert_eq!(
            print(&read(text)),
            "databaseName: shop\nrules:\n  - !SHARDING\n    tables:\n      t:\n        actualDataNodes: \"ds_${0..1}.t_${0..1}\"\n  - !SINGLE\n    tables:\n      - \"*.*\"\n  - !BROADCAST {}\n"
        );
    }

    #[test]
    fn texts_that_look_like_something_else_come_back() {
        comes_back(
            "a: ''\nb: ~\nc: 'null'\nd: \"x: y # z\"\ne: '- f'\n'~': [[], {}, [[a, b]], [{c: d, e: [f]}]]\n",
        );
        comes_back(
            "a: \"tab\\there\\nnew line \\u0007 \\u2028 \\\\ \\\"\"\nb: ' leading'\nc: 'trailing '\n'': x\n",
        );
        comes_back("- 12\n- '12'\n- 1.5e3\n- yes\n- 'no'\n- é\n- !x y\n- !z [a]\n- !w {a: b}\n");
        comes_back("plain");
        comes_back("!t\na: b\n");
    }
}
