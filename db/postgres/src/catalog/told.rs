//! Errors and notices of a storage unit in logic names.
//!
//! Names stand in double quotes behind the word that says what they are; a value of the client's stands behind a colon, in parentheses, or behind no such word.
//! Fields: <https://www.postgresql.org/docs/current/protocol-error-fields.html>

use std::borrow::Cow;

use pando_kernel::{ActualNames, ServerError};

const DETAIL: u8 = b'D';
const HINT: u8 = b'H';
const CONTEXT: u8 = b'W';
const TABLE: u8 = b't';
const CONSTRAINT: u8 = b'n';
const ROUTINE: u8 = b'R';
/// How a notice of DROP … CASCADE begins.
const CASCADES: &str = "drop cascades to ";
/// Where PL/pgSQL's RAISE speaks: in words of the client's own.
const RAISE: &str = "exec_stmt_raise";

pub(super) fn in_logic_names(told: &mut ServerError, names: &ActualNames) {
    if told.fields.iter().any(|(code, value)| *code == ROUTINE && value == RAISE) {
        return;
    }
    // A value begins where a colon and a quote stand.
    let own = told.message.find(": \"").unwrap_or(told.message.len());
    renew(&mut told.message, 0, own, names);
    let depends = [CASCADES, "cannot drop "];
    let lists = depends.iter().any(|start| told.message.starts_with(start));
    let mut only = None;
    for (code, value) in &mut told.fields {
        match *code {
            TABLE => {
                if let Some(logic) = names.table(value) {
                    *value = logic.to_owned();
                }
            }
            CONSTRAINT => {
                if let Some(logic) = names.inner(value) {
                    *value = logic;
                }
            }
            // `Key (a)=(…) is not present in table "t_0".`
            DETAIL if lists && value.contains('\n') => {
                let count = lines(value, names);
                told_of(&mut told.message, count);
                if count == Some(1) && told.message.starts_with(CASCADES) {
                    only = Some(value.clone());
                }
            }
            DETAIL => {
                let behind = value.rfind(')').map_or(0, |at| at + 1);
                renew(value, behind, value.len(), names);
            }
            HINT => renew(value, 0, value.len(), names),
            CONTEXT => context(value, names),
            _ => {}
        }
    }
    if let Some(line) = only {
        // Of one object a server tells in the message itself.
        told.message = line;
        told.fields.retain(|(code, _)| *code != DETAIL);
    }
}

/// What depends on what, a line each: one line for all parts of a table. Result: how many there are, where all are
/// told.
fn lines(value: &mut String, names: &ActualNames) -> Option<usize> {
    let mut all: Vec<String> = Vec::new();
    for line in value.lines() {
        let mut line = line.to_owned();
        let behind = line.rfind(')').map_or(0, |at| at + 1);
        let end = line.len();
        renew(&mut line, behind, end, names);
        if !all.contains(&line) {
            all.push(line);
        }
    }
    *value = all.join("\n");
    // A server that has more to tell than fits ends with `and 5 other objects (see server log for list)`.
    let is_whole = all.last().is_some_and(|last| !last.starts_with("and "));
    is_whole.then_some(all.len())
}

/// `drop cascades to 2 other objects`, with the number of those that are told.
fn told_of(message: &mut String, count: Option<usize>) {
    let number = message
        .strip_prefix(CASCADES)
        .and_then(|rest| rest.strip_suffix(" other objects"))
        .and_then(|number| number.parse::<usize>().ok());
    if let (Some(_), Some(count)) = (number, count) {
        *message = format!("drop cascades to {count} other objects");
    }
}

/// `COPY t_0, line 1, column a: "…"`, and `while updating tuple (0,1) in relation "t_0"`.
fn context(value: &mut String, names: &ActualNames) {
    if value.starts_with("while ") {
        renew(value, 0, value.len(), names);
    } else if let Some(rest) = value.strip_prefix("COPY ")
        && let Some((table, rest)) = rest.split_once(',')
        && let Some(logic) = names.table(table)
    {
        *value = format!("COPY {logic},{rest}");
    }
}

/// Gives the names between two places of a text anew.
fn renew(text: &mut String, from: usize, to: usize, names: &ActualNames) {
    let (Some(ahead), Some(own), Some(rest)) =
        (text.get(..from), text.get(from..to), text.get(to..))
    else {
        return;
    };
    let mut out = String::from(ahead);
    let mut changes = false;
    let mut before = "";
    let mut pieces = own.split('"').enumerate().peekable();
    while let Some((at, piece)) = pieces.next() {
        if at > 0 {
            out.push('"');
        }
        let new = match at % 2 {
            0 => unquoted(piece, names),
            _ => {
                let behind = pieces.peek().map_or("", |(_, behind)| *behind);
                quoted(piece, before, behind, names)
            }
        };
        changes |= new.is_some();
        out.push_str(new.as_deref().unwrap_or(piece));
        before = piece;
    }
    if changes {
        out.push_str(rest);
        *text = out;
    }
}

/// What stands behind a name that is one of the wrong kind.
const KINDS: [&str; 8] = [
    " is not a table",
    " is not a view",
    " is not a materialized view",
    " is not a sequence",
    " is not an index",
    " is not a foreign table",
    " is a view",
    " is an index",
];

/// What stands in quotes behind some words.
fn quoted(name: &str, before: &str, behind: &str, names: &ActualNames) -> Option<String> {
    // `"t_0" is not a view`
    if before.is_empty() && KINDS.contains(&behind) {
        return named("table", name, names);
    }
    named(before.trim_end().rsplit(' ').next()?, name, names)
}

/// `column t_0.a does not exist`, `table t_item_0 depends on table t_0`: names that stand without quotes.
fn unquoted(text: &str, names: &ActualNames) -> Option<String> {
    let lines: Vec<(&str, Option<String>)> =
        text.split('\n').map(|line| (line, unquoted_line(line, names))).collect();
    if lines.iter().all(|(_, new)| new.is_none()) {
        return None;
    }
    let lines = lines.into_iter().map(|(line, new)| new.unwrap_or_else(|| line.to_owned()));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn unquoted_line(text: &str, names: &ActualNames) -> Option<String> {
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    let mut changes = false;
    for word in text.split(' ') {
        let name = word.trim_end_matches(['.', ',']);
        let new = words.last().and_then(|before| named(before, name, names));
        changes |= new.is_some();
        words.push(match new {
            Some(new) => format!("{new}{}", word.get(name.len()..).unwrap_or_default()).into(),
            None => word.into(),
        });
    }
    changes.then(|| words.join(" "))
}

/// The logic name of what the word before says it is.
fn named(what: &str, name: &str, names: &ActualNames) -> Option<String> {
    match what {
        "relation" | "table" | "view" => match name.rsplit_once('.') {
            Some((schema, table)) => Some(format!("{schema}.{}", names.table(table)?)),
            None => names.table(name).map(str::to_owned).or_else(|| names.inner(name)),
        },
        "constraint" | "index" => names.inner(name),
        "column" => {
            let (table, column) = name.split_once('.')?;
            Some(format!("{}.{column}", names.table(table)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_logic_ones_and_values_stay() {
        let cases = [
            (
                r#"duplicate key value violates unique constraint "t_0_pkey""#,
                r#"duplicate key value violates unique constraint "t_pkey""#,
            ),
            (r#"relation "t_u_t_0" already exists"#, r#"relation "t_u" already exists"#),
            (r#"relation "public.t_0" does not exist"#, r#"relation "public.t" does not exist"#),
            ("column t_0.nope does not exist", "column t.nope does not exist"),
            (
                r#"column "t_0" of relation "t_0" does not exist"#,
                r#"column "t_0" of relation "t" does not exist"#,
            ),
            (
                r#"invalid input syntax for type integer: "table "t_0"""#,
                r#"invalid input syntax for type integer: "table "t_0"""#,
            ),
            (r#""t_0" is not a table"#, r#""t" is not a table"#),
            (r#""t_0" is not a valid binary digit"#, r#""t_0" is not a valid binary digit"#),
            (r#"view "t_0" does not exist"#, r#"view "t" does not exist"#),
            (
                "cannot drop table t_0 because other objects depend on it",
                "cannot drop table t because other objects depend on it",
            ),
            (
                r#"new row for relation "t_1" violates check constraint "named_t_1""#,
                r#"new row for relation "t" violates check constraint "named""#,
            ),
            ("raised by table \"t_0", "raised by table \"t"),
            ("t_0 \"t_0\"", "t_0 \"t_0\""),
        ];
        let names = ActualNames::new("shop", &[("t_0", "t"), ("t_1", "t")]);
        for (sent, expected) in cases {
            let mut told = ServerError { message: sent.into(), ..ServerError::default() };
            in_logic_names(&mut told, &names);
            assert_eq!(told.message, expected);
        }
    }

    #[test]
    fn what_a_client_raises_stays() {
        let names = ActualNames::new("shop", &[("t_0", "t")]);
        let message = "no rows for table t_0";
        for (routine, expected) in [(RAISE, message), ("other", "no rows for table t")] {
            let fields = vec![(ROUTINE, routine.to_owned())];
            let mut told =
                ServerError { message: message.into(), fields, ..ServerError::default() };
            in_logic_names(&mut told, &names);
            assert_eq!(told.message, expected);
        }
    }

    #[test]
    fn what_depends_is_told_once_for_all_parts() {
        let names = ActualNames::new("shop", &[("t_0", "t"), ("t_1", "t"), ("u_0", "u")]);
        let check = |message: &str, detail: &str, expected: (&str, &[&str])| {
            let fields = vec![(DETAIL, detail.to_owned())];
            let mut told =
                ServerError { message: message.into(), fields, ..ServerError::default() };
            in_logic_names(&mut told, &names);
            let details: Vec<&str> = told.fields.iter().map(|(_, value)| value.as_str()).collect();
            assert_eq!((told.message.as_str(), &details[..]), expected);
        };
        check(
            "drop cascades to 4 other objects",
            "drop cascades to table t_0\ndrop cascades to table t_1\ndrop cascades to table u_0\n\
             drop cascades to view v",
            (
                "drop cascades to 3 other objects",
                &["drop cascades to table t\ndrop cascades to table u\ndrop cascades to view v"],
            ),
        );
        check(
            "drop cascades to 2 other objects",
            "drop cascades to table t_0\ndrop cascades to table t_1",
            ("drop cascades to table t", &[]),
        );
        check(
            "drop cascades to 200 other objects",
            "drop cascades to table t_0\ndrop cascades to table t_1\n\
             and 198 other objects (see server log for list)",
            (
                "drop cascades to 200 other objects",
                &["drop cascades to table t\nand 198 other objects (see server log for list)"],
            ),
        );
        check(
            "cannot drop table u_0 because other objects depend on it",
            "constraint f_t_0 on table t_0 depends on table u_0\n\
             constraint f_t_1 on table t_1 depends on table u_0",
            (
                "cannot drop table u because other objects depend on it",
                &["constraint f on table t depends on table u"],
            ),
        );
    }

    #[test]
    fn fields_are_told_alike() {
        let cases = [
            (TABLE, "t_1", "t"),
            (CONSTRAINT, "t_0_u_key", "t_u_key"),
            (
                DETAIL,
                r#"Key (a)=(table "t_0") is not present in table "t_0"."#,
                r#"Key (a)=(table "t_0") is not present in table "t"."#,
            ),
            (
                DETAIL,
                "constraint fk_t_1 on table t_1 depends on table t_0",
                "constraint fk on table t depends on table t",
            ),
            (
                DETAIL,
                "view v depends on table t_0\nview w depends on table t_1",
                "view v depends on table t\nview w depends on table t",
            ),
            (
                DETAIL,
                r#"Failing row contains (1, table "t_0")."#,
                r#"Failing row contains (1, table "t_0")."#,
            ),
            (
                HINT,
                r#"Perhaps you meant to reference the column "t_0.v"."#,
                r#"Perhaps you meant to reference the column "t.v"."#,
            ),
            (CONTEXT, r#"COPY t_0, line 1, column v: "t_0""#, r#"COPY t, line 1, column v: "t_0""#),
            (b'c', "t_0", "t_0"),
        ];
        let names = ActualNames::new("shop", &[("t_0", "t"), ("t_1", "t")]);
        for (code, sent, expected) in cases {
            let fields = vec![(code, sent.to_owned())];
            let mut told = ServerError { fields, ..ServerError::default() };
            in_logic_names(&mut told, &names);
            assert_eq!(told.fields, [(code, expected.to_owned())]);
        }
    }
}
