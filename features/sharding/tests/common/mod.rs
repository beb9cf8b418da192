//! How sharding values and case files are written in tests.

use pando_kernel::Value;

/// Lines of a case file that are not comments, with their numbers; blocks start with `== `.
pub(crate) fn blocks(text: &str) -> Vec<(String, Vec<(usize, String)>)> {
    let mut blocks: Vec<(String, Vec<(usize, String)>)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("== ") {
            blocks.push((name.to_owned(), Vec::new()));
        } else if let Some((_, lines)) = blocks.last_mut()
            && !line.trim().is_empty()
            && !line.starts_with("# ")
        {
            lines.push((number + 1, line.to_owned()));
        }
    }
    blocks
}

/// `5`, `'text'`, `u5`, `1.5d` (decimal), `1.5f` (double), `true`, `null`, `b'bytes'`.
pub(crate) fn value(text: &str) -> Option<Value> {
    let quoted = |text: &str| {
        let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
        Some(inner.to_owned())
    };
    if let Some(text) = quoted(text) {
        return Some(Value::Text(text));
    }
    match text {
        "null" => return Some(Value::Null),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if let Some(bytes) = text.strip_prefix('b').and_then(quoted) {
        return Some(Value::Bytes(bytes::Bytes::from(bytes)));
    }
    if let Some(number) = text.strip_prefix('u') {
        return number.parse().ok().map(Value::UInt);
    }
    if let Some(number) = text.strip_suffix('d') {
        return number.parse().ok().map(Value::Decimal);
    }
    if let Some(number) = text.strip_suffix('f') {
        return number.parse().ok().map(Value::Float);
    }
    text.parse().ok().map(Value::Int)
}
