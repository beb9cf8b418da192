//! A variable's value as SET takes it.

use pando_kernel::{Dialect, Value};

/// A list of names is written as one, so that each stays a name of its own.
pub(in crate::session) fn value_text(name: &str, text: &str, dialect: &dyn Dialect) -> String {
    let literal = |text: &str| dialect.literal(&Value::Text(text.to_owned()));
    let is_list = name.eq_ignore_ascii_case("search_path");
    let Some(names) = is_list.then(|| names(text)).flatten() else { return literal(text) };
    let parts = names.iter().map(|name| match name.is_empty() {
        true => literal(name),
        false => dialect.quote(name),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The names of a list as servers read it; `None` where it is none.
fn names(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    loop {
        let end = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut from = 0;
                let end = loop {
                    let at = from + quoted.get(from..)?.find('"')?;
                    if !quoted[at + 1..].starts_with('"') {
                        break at;
                    }
                    from = at + 2;
                };
                names.push(quoted[..end].replace("\"\"", "\""));
                end + 2
            }
            None => {
                let is_end = |letter: char| letter == ',' || letter.is_whitespace();
                let end = rest.find(is_end).unwrap_or(rest.len());
                names.push(rest[..end].to_lowercase());
                if end == 0 {
                    return None;
                }
                end
            }
        };
        rest = rest[end..].trim_start();
        if rest.is_empty() {
            return Some(names);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_list_is_read_as_servers_read_it() {
        for (text, expected) in [
            ("a", Some(vec!["a"])),
            (" A , \"B,c\",\"d\"\"\" ", Some(vec!["a", "B,c", "d\""])),
            ("\"$user\", public", Some(vec!["$user", "public"])),
            ("\"\"", Some(vec![""])),
            ("", None),
            ("a,", None),
            ("a b", None),
            ("\"a", None),
            ("\"a\"b", None),
            ("\"a\"; drop table t", None),
        ] {
            let expected: Option<Vec<String>> =
                expected.map(|list| list.into_iter().map(str::to_owned).collect());
            assert_eq!(names(text), expected, "{text}");
        }
    }
}
