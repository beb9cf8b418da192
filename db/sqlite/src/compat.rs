//! From a client's SQL to SQLite's, token by token: what SQLite cannot parse but other databases' clients write as a matter of course. What is
//! not listed here arrives byte for byte.

mod column;
mod expand;
mod expression;
mod insert;
mod literal;
mod postgres;
mod statement;
mod table;
mod translation;
mod words;

use pando_kernel::Result;
use pando_sql::{Edits, Syntax, tokenize};

use crate::error::refuse;
use crate::tongue::Tongue;
use translation::unsupported;
pub(crate) use translation::{Translation, Verb};
use words::Words;

/// Translates one statement, written in this language.
///
/// # Errors
/// `Server` with SQLSTATE 42601 for a text without proper tokens, 0A000 for what SQLite could only do wrongly.
pub(crate) fn translate(sql: &str, tongue: Tongue) -> Result<Translation> {
    let syntax = tongue.syntax();
    let tokens = tokenize(sql, syntax).map_err(|error| refuse("42601", error.to_string()))?;
    if tongue == Tongue::Any {
        refuse_ambiguous(sql, syntax)?;
    }
    let words = Words::new(sql, &tokens.list);
    if words.is_empty() {
        return Ok(Translation::Empty);
    }
    if let Some(done) = statement::instead(words)? {
        return Ok(done);
    }
    if tongue == Tongue::MySql
        && words.one_of(0, &["SHOW", "DESCRIBE", "DESC", "EXPLAIN"])
        && let Some(query) = crate::catalog::of_table(sql)?
    {
        return translate(&query, tongue);
    }
    if let Some(variable) = words.variable() {
        return Err(refuse("HY000", format!("unknown system variable '{variable}'")));
    }
    let mut edits = Edits::default();
    let verb = verb(words);
    let mut more = Vec::new();
    statement::edit(words, &mut edits, &mut more)?;
    if verb == Verb::Insert {
        insert::edit(words, &mut edits);
    }
    literal::edit(words, syntax, &mut edits);
    if tongue == Tongue::Postgres {
        postgres::edit(words, &mut edits);
    }
    expression::edit(words, syntax, &mut edits);
    let text = if edits.is_empty() { sql.to_owned() } else { edits.apply(sql) };
    if more.is_empty() {
        return Ok(Translation::One(text, verb));
    }
    more.insert(0, text);
    Ok(Translation::Several(more))
}

/// Where the language is not known, a backslash in front of a quote could end a string in one language and not in the other. Guessing would open a door
/// for injection.
fn refuse_ambiguous(sql: &str, syntax: &Syntax) -> Result<()> {
    if !sql.contains('\\') {
        return Ok(());
    }
    let spans = |syntax: &Syntax| {
        tokenize(sql, syntax).map(|t| t.list.iter().map(|token| token.span).collect::<Vec<_>>())
    };
    let escaping = Syntax { backslash_escapes: true, ..*syntax };
    if spans(syntax) == spans(&escaping) {
        return Ok(());
    }
    Err(unsupported("a backslash in front of a quote is ambiguous here: use a parameter instead"))
}

fn verb(words: Words<'_>) -> Verb {
    const VERBS: [(&str, Verb); 11] = [
        ("INSERT", Verb::Insert),
        ("REPLACE", Verb::Insert),
        ("UPDATE", Verb::Change),
        ("DELETE", Verb::Change),
        ("WITH", Verb::With),
        ("CREATE", Verb::Define),
        ("DROP", Verb::Define),
        ("ALTER", Verb::Define),
        ("TRUNCATE", Verb::Change),
        ("RENAME", Verb::Define),
        ("REINDEX", Verb::Define),
    ];
    let known = VERBS.iter().find(|(word, _)| words.is(0, word));
    known.map_or(Verb::Other, |(_, verb)| *verb)
}

#[cfg(test)]
mod tests;
