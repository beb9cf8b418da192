//! As much of Rust's lexis as finding calls and their texts needs.

/// A piece of source without comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, keyword or number.
    Word(String),
    /// What a string literal says.
    Text(String),
    /// Anything else that is no space.
    Sign(char),
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        match self {
            Self::Word(word) => word == text,
            Self::Sign(sign) => text.chars().eq([*sign]),
            Self::Text(_) => false,
        }
    }
}

/// The tokens up to the file's tests.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let source = source.split_once("\n#[cfg(test)]\nmod ").map_or(source, |(before, _)| before);
    let mut rest = source;
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, rest.find("*/").map_or(rest.len(), |at| at + 2))
        } else if let Some((text, length)) = raw_string(rest) {
            (Some(Token::Text(text)), length)
        } else if first == '"' {
            let (text, length) = string(rest);
            (Some(Token::Text(text)), length)
        } else if let Some(length) = character(rest) {
            (Some(Token::Sign('\'')), length)
        } else if first == '_' || first.is_alphanumeric() {
            let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            (Some(Token::Word(rest[..end].to_owned())), end)
        } else {
            ((!first.is_whitespace()).then_some(Token::Sign(first)), first.len_utf8())
        };
        found.extend(token);
        rest = &rest[length..];
    }
    found
}

/// `r"…"` and `r#"…"#`, with or without a `b`.
fn raw_string(rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let body = after.trim_start_matches('#');
    let end = format!("\"{}", &after[..after.len() - body.len()]);
    let body = body.strip_prefix('"')?;
    let length = body.find(&end)?;
    Some((body[..length].to_owned(), rest.len() - body.len() + length + end.len()))
}

fn string(rest: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    (text, rest.len())
}

/// The length of a character literal; none for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    if let Some(escaped) = body.strip_prefix('\\') {
        let first = escaped.chars().next()?;
        let behind = first.len_utf8();
        return Some(2 + behind + escaped[behind..].find('\'')? + 1);
    }
    let first = body.chars().next()?;
    body[first.len_utf8()..].starts_with('\'').then(|| 2 + first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_characters_hide_no_strings() {
        let found = tokens("a('\"', '\\'', \"b \\\"c\\\"\") // \"no\"\n/* \"no\" */ <'x> r#\"d\"#");
        let texts = found.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            Token::Word(_) | Token::Sign(_) => None,
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["b \"c\"", "d"]);
    }

    #[test]
    fn tests_are_not_read() {
        assert_eq!(tokens("a\n#[cfg(test)]\nmod tests { b }"), [Token::Word("a".into())]);
    }
}
