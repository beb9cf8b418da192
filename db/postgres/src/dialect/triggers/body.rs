//! Which columns of the row that is about to be written a function in PL/pgSQL may change.

use std::collections::BTreeSet;

use pando_kernel::triggers::Assigns;
use pando_sql::Item;

/// Words and marks behind which a statement begins.
const BEFORE_STATEMENT: [&str; 6] = ["begin", "declare", "else", "exception", "loop", "then"];

/// The columns of NEW that are assigned: by `:=`, by INTO. What gives it as a whole, or under another name, may change
/// any. The function is known to be made of statements that can be told from each other.
/// <https://www.postgresql.org/docs/current/plpgsql-statements.html>
pub(super) fn assigned(items: &[Item<'_>]) -> Assigns {
    let mut fields = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let is_any = match item.word().as_deref() {
            // `n ALIAS FOR NEW`, and a variable that hides it.
            Some("alias") => true,
            Some("return") => !returns_the_row(items.get(at + 1..).unwrap_or(&[])),
            Some("for" | "foreach") if begins(items, at) => {
                targets(items, at, |item| item.is_word("in")).any(is_new)
            }
            Some("get") if begins(items, at) => {
                targets(items, at, |item| *item == Item::Mark(";")).any(is_new)
            }
            Some("into") => takes(items.get(at + 1..).unwrap_or(&[]), &mut fields),
            _ => is_new(item) && begins(items, at) && !field(item, &mut fields),
        };
        if is_any {
            return Assigns::Any;
        }
    }
    Assigns::Fields(fields)
}

/// Whether a statement begins here.
fn begins(items: &[Item<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| items.get(at)) else { return true };
    *before == Item::Mark(";")
        || *before == Item::Mark(">>")
        || before.word().is_some_and(|word| BEFORE_STATEMENT.contains(&&*word))
}

fn targets<'a, 'b>(
    items: &'a [Item<'b>],
    at: usize,
    is_end: impl Fn(&Item<'b>) -> bool + 'a,
) -> impl Iterator<Item = &'a Item<'b>> {
    items.iter().skip(at + 1).take_while(move |item| !is_end(item))
}

/// NEW, or a column of it.
fn is_new(item: &Item<'_>) -> bool {
    item.name().is_some_and(|name| {
        name.parts.first().is_some_and(|first| match name.quoted {
            true => **first == *"new",
            false => first.eq_ignore_ascii_case("new"),
        })
    })
}

/// Takes the column of NEW that this is; false where it is all of it.
fn field(item: &Item<'_>, fields: &mut BTreeSet<String>) -> bool {
    let column = item.name().filter(|name| !name.star).and_then(|name| name.parts.get(1));
    fields.extend(column.map(|column| column.to_lowercase()));
    column.is_some()
}

/// What stands behind INTO: a list of variables. Answers whether NEW as a whole is one of them.
fn takes(rest: &[Item<'_>], fields: &mut BTreeSet<String>) -> bool {
    let mut at = usize::from(rest.first().is_some_and(|item| item.is_word("strict")));
    while let Some(target) = rest.get(at) {
        if is_new(target) && !field(target, fields) {
            return true;
        }
        at += 1;
        while rest.get(at) == Some(&Item::Mark("[")) {
            let end = rest.iter().skip(at).position(|item| *item == Item::Mark("]"));
            at += end.map_or(rest.len(), |end| end + 1);
        }
        if rest.get(at) != Some(&Item::Mark(",")) {
            return false;
        }
        at += 1;
    }
    false
}

/// Behind RETURN: NEW, OLD, NULL or the one of the two that is there.
fn returns_the_row(rest: &[Item<'_>]) -> bool {
    let words: Vec<String> = rest
        .iter()
        .take_while(|item| **item != Item::Mark(";") && !item.is_word("end"))
        .map(
            |item| if let Item::Mark(mark) = item { Some((*mark).to_owned()) } else { item.word() },
        )
        .map(Option::unwrap_or_default)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(
        words[..],
        [] | ["new" | "old" | "null"] | ["coalesce", "(", "new" | "old", ",", "new" | "old", ")"]
    )
}
