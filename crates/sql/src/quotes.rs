//! What stands between quotes.

/// What stands between the quotes behind `skip` bytes of prefix.
pub(crate) fn body_of(raw: &str, skip: usize) -> &str {
    raw.get(skip + 1..raw.len().saturating_sub(1)).unwrap_or("")
}

/// With each pair of quotes as the one that it stands for.
pub(crate) fn undouble(body: &str, quote: char) -> String {
    if !body.contains(quote) {
        return body.to_owned();
    }
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == quote {
            chars.next();
        }
    }
    out
}

/// Takes the quotes off an identifier without escapes.
pub(crate) fn unquoted(raw: &str) -> String {
    undouble(body_of(raw, 0), if raw.starts_with('`') { '`' } else { '"' })
}
