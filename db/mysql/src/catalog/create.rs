//! The texts of SHOW CREATE TABLE and SHOW CREATE VIEW in logic names.

use pando_kernel::presentation::{Shown, Telling};
use pando_sql::ast::Show;

use super::definitions;

/// Endings of names that the server makes for constraints: `t_ibfk_1`, `t_chk_1`.
const MADE: [&str; 3] = ["_ibfk_", "_chk_", "_fk_"];

/// The logic name of a table.
pub(super) fn table(name: &str, tables: &[Shown]) -> Option<String> {
    let known = tables.iter().find(|shown| shown.actual.eq_ignore_ascii_case(name))?;
    (known.actual != known.logic).then(|| known.logic.to_string())
}

/// A constraint's name without the actual table's.
fn constraint(name: &str, tables: &[Shown]) -> Option<String> {
    let differ = || tables.iter().filter(|shown| shown.actual != shown.logic);
    let by_ending = index(name, tables);
    by_ending.or_else(|| {
        differ().find_map(|shown| {
            let rest = name.strip_prefix(&*shown.actual)?;
            MADE.iter().any(|made| rest.starts_with(made)).then(|| format!("{}{rest}", shown.logic))
        })
    })
}

/// The name of an index that the server made for a constraint and called the same.
pub(super) fn index(name: &str, tables: &[Shown]) -> Option<String> {
    let differ = tables.iter().filter(|shown| shown.actual != shown.logic);
    differ
        .filter_map(|shown| name.strip_suffix(&*shown.actual)?.strip_suffix('_'))
        .filter(|rest| !rest.is_empty())
        .min_by_key(|rest| rest.len())
        .map(str::to_owned)
}

/// What a field of a SHOW's answer is told as; `None` leaves it.
pub(super) fn retold(
    show: &Show,
    label: &str,
    field: &str,
    telling: &Telling<'_>,
) -> Option<String> {
    let tables = telling.tables;
    let what = show.what.as_str();
    let of_index = matches!(what.rsplit(' ').next(), Some("INDEX" | "INDEXES" | "KEYS"));
    match (what, label) {
        ("CREATE TABLE", "Create Table") => Some(text(&definitions::told(field, telling), tables)),
        ("CREATE TABLE" | "CREATE VIEW", "Create View") => Some(view(field, tables)),
        ("CREATE TABLE" | "CREATE VIEW", "View") => table(field, tables),
        ("CREATE TABLE" | "TRIGGERS", "Table") => table(field, tables),
        (_, "Table") if of_index => table(field, tables),
        (_, "Key_name") if of_index => index(field, tables),
        _ => None,
    }
}

/// The text with every table and constraint under its logic name. Strings and comments stay as they are.
pub(super) fn text(text: &str, tables: &[Shown]) -> String {
    rewritten(text, &|token, word| renamed(token, word, tables))
}

/// A view's text with every table under its logic name.
pub(super) fn view(text: &str, tables: &[Shown]) -> String {
    rewritten(text, &|token, word| {
        // What stands behind a point is a column, and behind AS a name that somebody has given.
        match word == "." || word.eq_ignore_ascii_case("as") {
            true => None,
            false => of_table(token, tables),
        }
    })
}

fn of_table(token: &str, tables: &[Shown]) -> Option<String> {
    let name = token.get(1..token.len() - 1)?.replace("``", "`");
    Some(format!("`{}`", table(&name, tables)?.replace('`', "``")))
}

/// The text with names in backticks anew where `new` gives one for the name and the token in front of it.
fn rewritten(text: &str, new: &dyn Fn(&str, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut word = "";
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '`' | '\'' | '"' => quoted(rest, first),
            letter if letter.is_alphanumeric() || letter == '_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            other => other.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        let other = match first {
            '`' => new(token, word),
            _ => None,
        };
        out.push_str(other.as_deref().unwrap_or(token));
        if !token.trim().is_empty() {
            word = token;
        }
        rest = behind;
    }
    out
}

fn renamed(token: &str, word: &str, tables: &[Shown]) -> Option<String> {
    let name = token.get(1..token.len() - 1)?.replace("``", "`");
    let new = match word.to_ascii_uppercase().as_str() {
        "TABLE" | "REFERENCES" | "EXISTS" => table(&name, tables),
        "CONSTRAINT" => constraint(&name, tables),
        "KEY" => index(&name, tables),
        _ => None,
    }?;
    Some(format!("`{}`", new.replace('`', "``")))
}

/// Bytes of a quoted token with both its marks; a doubled mark is part of it, and in strings so is an escaped one.
pub(super) fn quoted(text: &str, mark: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && mark != '`' {
            letters.next();
        } else if letter == mark {
            match letters.peek() {
                Some((_, next)) if *next == mark => {
                    letters.next();
                }
                _ => return at + letter.len_utf8(),
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(actual: &str, logic: &str, hidden: bool) -> Shown {
        Shown { actual: actual.into(), logic: logic.into(), hidden }
    }

    #[test]
    fn tables_and_constraints_get_their_logic_names_and_nothing_else_does() {
        let tables = [
            shown("t_order_0", "t_order", false),
            shown("t_item_0", "t_item", false),
            shown("t_item_1", "t_item", true),
        ];
        let server = "CREATE TABLE `t_item_0` (\n  `t_order_0` int COMMENT 'CONSTRAINT `fk_t_item_0` it''s \\' REFERENCES `t_order_0`',\n  \
             KEY `k_t_item_0` (`t_order_0`),\n  CONSTRAINT `fk_t_item_0` FOREIGN KEY (`o`) REFERENCES `t_order_0` (`id`),\n  \
             CONSTRAINT `t_item_0_ibfk_1` FOREIGN KEY (`p`) REFERENCES `t_item_1` (`id`)\n) ENGINE=InnoDB";
        let logic = "CREATE TABLE `t_item` (\n  `t_order_0` int COMMENT 'CONSTRAINT `fk_t_item_0` it''s \\' REFERENCES `t_order_0`',\n  \
             KEY `k` (`t_order_0`),\n  CONSTRAINT `fk` FOREIGN KEY (`o`) REFERENCES `t_order` (`id`),\n  \
             CONSTRAINT `t_item_ibfk_1` FOREIGN KEY (`p`) REFERENCES `t_item` (`id`)\n) ENGINE=InnoDB";
        assert_eq!(text(server, &tables), logic);
    }

    #[test]
    fn a_text_that_breaks_off_stays_whole() {
        for cut in ["`a", "'a\\", "\"", "``"] {
            assert_eq!(text(cut, &[shown("a", "b", false)]), cut);
        }
    }
}
