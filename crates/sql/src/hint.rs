//! The hint comment: `/* SHARDINGSPHERE_HINT: KEY=VALUE, KEY=VALUE */`.

use crate::span::Span;
use crate::token::Hint;

const PREFIXES: [&str; 2] = ["SHARDINGSPHERE_HINT", "SHARDINGSPHERE HINT"];

/// Keys in their long form; the short form is the same without underscores.
const KEYS: [&str; 8] = [
    "DATA_SOURCE_NAME",
    "WRITE_ROUTE_ONLY",
    "SKIP_SQL_REWRITE",
    "SKIP_METADATA_VALIDATE",
    "DISABLE_AUDIT_NAMES",
    "SHARDING_DATABASE_VALUE",
    "SHARDING_TABLE_VALUE",
    "SHADOW",
];

/// Reads a comment's content (without its delimiters). `None` when it is no hint.
pub(crate) fn read(content: &str, span: Span) -> Option<Hint> {
    let content = content.trim_start();
    let is_hint = PREFIXES.iter().any(|prefix| {
        content.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    });
    if !is_hint {
        return None;
    }
    let (_, list) = content.split_once(':')?;
    let mut pairs = Vec::new();
    for entry in list.split(',') {
        // An entry without exactly one `=` says nothing, as the original extractor has it.
        let mut halves = entry.split('=');
        if let (Some(key), Some(value), None) = (halves.next(), halves.next(), halves.next()) {
            pairs.push((long_key(key.trim()), value.trim().to_owned()));
        }
    }
    Some(Hint { pairs, span })
}

fn long_key(key: &str) -> String {
    let (table, name) = match key.rsplit_once('.') {
        Some((table, name)) => (Some(table), name),
        None => (None, key),
    };
    let upper = name.to_uppercase();
    let long = KEYS
        .iter()
        .find(|long| long.replace('_', "") == upper)
        .map_or(upper.clone(), |long| (*long).to_owned());
    match table {
        Some(table) => format!("{}.{long}", table.to_uppercase()),
        None => long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: Option<&[(&str, &str)]>) {
        let found = read(content, Span::default()).map(|hint| hint.pairs);
        let expected = expected.map(|pairs| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{content}");
    }

    #[test]
    fn pairs_are_split_and_keys_brought_to_their_long_form() {
        check(
            " SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 , writeRouteOnly = true ",
            Some(&[("DATA_SOURCE_NAME", "ds_0"), ("WRITE_ROUTE_ONLY", "true")]),
        );
        check(
            "ShardingSphere hint: t_order.shardingTableValue=3",
            Some(&[("T_ORDER.SHARDING_TABLE_VALUE", "3")]),
        );
    }

    #[test]
    fn entries_without_exactly_one_equals_sign_are_left_out() {
        check("SHARDINGSPHERE_HINT: a=b=c, d, SHADOW=1", Some(&[("SHADOW", "1")]));
    }

    #[test]
    fn other_comments_are_no_hints() {
        check(" just a note: a=b ", None);
        check("SHARDINGSPHERE_HINT", None);
        check("", None);
    }
}
