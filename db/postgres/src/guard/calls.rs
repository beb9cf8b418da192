//! Functions that reach further than their arguments.

use pando_kernel::error::Result;
use pando_kernel::guard::{Reach, denied, is_ledger};
use pando_sql::{Dotted, Item, alike};

use super::words::{LEDGER, PRIVILEGED, RUNNERS, WHOLE};
use super::{Judge, is_one_of, schemas};

/// Items of a call that are looked at to count its arguments.
const MAX_ITEMS: usize = 4096;

impl Judge<'_> {
    /// A call; `rest` is what stands behind its opening bracket.
    pub(super) fn call(&self, name: &Dotted<'_>, rest: &[Item<'_>]) -> Result<()> {
        let function = name.last().to_lowercase();
        if is_one_of(WHOLE, name) {
            return Err(denied(format!("`{function}` would read the ledgers, too")));
        }
        if is_one_of(PRIVILEGED, name) {
            self.privileged(&format!("`{function}`"))?;
        }
        // Looked at alone, so that calls inside calls are not gone over again and again.
        if function == "set_config" {
            return self.set_config(rest);
        }
        if matches!(function.as_str(), "nextval" | "setval" | "currval") {
            return self.sequence(&function, rest);
        }
        if !is_one_of(RUNNERS, name) {
            return Ok(());
        }
        let arguments = arguments(&rest[..rest.len().min(MAX_ITEMS)]);
        if function == "ts_rewrite" && arguments.len() < MAX_ITEMS && commas(arguments) != 1 {
            return Ok(());
        }
        self.run(&function, arguments)
    }

    /// A definition by which a function comes to be run under another name: none that would have been judged.
    pub(super) fn bound(&self, rest: &[Item<'_>]) -> Result<()> {
        let items = rest.iter().take_while(|item| **item != Item::Mark(";"));
        for name in items.filter_map(Item::name) {
            let function = name.last().to_lowercase();
            let is_judged = ["currval", "nextval", "set_config", "setval"].contains(&&*function);
            if is_one_of(WHOLE, name) || is_one_of(RUNNERS, name) || is_judged {
                return Err(denied(format!("`{function}` goes under its own name alone")));
            }
            if is_one_of(PRIVILEGED, name) {
                self.privileged(&format!("`{function}`"))?;
            }
        }
        Ok(())
    }

    /// A function that runs what it is given as SQL: the texts are judged, and there may be nothing else that could be one.
    fn run(&self, function: &str, arguments: &[Item<'_>]) -> Result<()> {
        let constants = ["false", "null", "text", "regclass", "true"];
        // By its number a table may be anybody's.
        if function.starts_with("table_to_xml") && arguments.iter().any(is_number) {
            return Err(denied(format!("`{function}` takes the name of a table here")));
        }
        for item in arguments {
            match item {
                Item::Text(text, _) => {
                    if alike(text.trim(), LEDGER) {
                        return Err(is_ledger(text));
                    }
                    self.whole(function, text)?;
                    self.text(text)?;
                }
                Item::Number | Item::Mark("," | "::") => {}
                Item::Name(name) if constants.iter().any(|word| name.is_word(word)) => {}
                Item::Name(_)
                | Item::Variable(_)
                | Item::Parameter
                | Item::Mark(_)
                | Item::Unreadable => {
                    return Err(denied(format!(
                        "what `{function}` would run cannot be judged: it takes a constant text here"
                    )));
                }
            }
        }
        Ok(())
    }

    /// A whole schema that is read, by its name.
    fn whole(&self, function: &str, schema: &str) -> Result<()> {
        if !function.starts_with("schema_to_xml") {
            return Ok(());
        }
        if schema.to_lowercase().starts_with("pg_") {
            self.privileged("the vendor's whole catalogue")?;
        }
        match self.own_schemas() {
            Some(own) if !schemas::is_own(&own, schema) => Err(schemas::foreign(schema)),
            _ => Ok(()),
        }
    }

    /// A setting that is made by a function: constants are judged here, values when the session makes the setting.
    fn set_config(&self, arguments: &[Item<'_>]) -> Result<()> {
        let [Item::Text(name, _), Item::Mark(","), rest @ ..] = arguments else {
            return match self.depth {
                0 => Ok(()),
                _ => self.unjudged("a setting whose name is computed"),
            };
        };
        let name = name.to_lowercase();
        if name != "search_path" && name != "schema" {
            return Ok(());
        }
        match rest {
            [Item::Text(value, _), Item::Mark(","), ..] => self.setting(&name, value),
            _ if self.depth == 0 => Ok(()),
            _ => self.unjudged("a search path that is computed"),
        }
    }

    /// What only an administrator's code may do, because it cannot be judged.
    pub(super) fn unjudged(&self, what: &str) -> Result<()> {
        match self.is_administrator() {
            true => Ok(()),
            false => Err(denied(format!("{what} cannot be judged"))),
        }
    }

    /// A sequence is named by a text.
    fn sequence(&self, function: &str, arguments: &[Item<'_>]) -> Result<()> {
        let name = match arguments {
            [Item::Text(name, _), ..] => Some(name),
            // Of a table whose name stands there.
            [Item::Name(of), Item::Mark("("), Item::Text(table, _), ..]
                if alike(of.last(), "pg_get_serial_sequence") && of.parts.len() == 1 =>
            {
                Some(table)
            }
            _ => None,
        };
        let schema = name.and_then(|name| schemas::of_name(name));
        if schema.as_ref().is_some_and(|schema| alike(schema, LEDGER)) {
            return Err(is_ledger(LEDGER));
        }
        let Some(own) = self.own_schemas() else { return Ok(()) };
        match (name, schema) {
            (None, _) => Err(denied(format!("the sequence of `{function}` cannot be judged"))),
            (_, Some(schema)) if !schemas::is_own(&own, &schema) => Err(schemas::foreign(&schema)),
            _ => Ok(()),
        }
    }

    /// The database's own schemas where the user may reach no others.
    pub(super) fn own_schemas(&self) -> Option<Vec<String>> {
        match self.standing.reach {
            Reach::Own => (self.standing.own_schemas)(),
            Reach::Every | Reach::Administrator => None,
        }
    }
}

/// A number, also as a text.
fn is_number(item: &Item<'_>) -> bool {
    match item {
        Item::Number => true,
        Item::Text(text, _) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        Item::Name(_) | Item::Variable(_) | Item::Parameter | Item::Mark(_) | Item::Unreadable => {
            false
        }
    }
}

/// What stands between a call's brackets.
fn arguments<'i, 'a>(rest: &'i [Item<'a>]) -> &'i [Item<'a>] {
    let mut depth = 0usize;
    let end = rest.iter().position(|item| match item {
        Item::Mark("(") => {
            depth += 1;
            false
        }
        Item::Mark(")") if depth == 0 => true,
        Item::Mark(")") => {
            depth -= 1;
            false
        }
        Item::Name(_)
        | Item::Text(..)
        | Item::Variable(_)
        | Item::Number
        | Item::Parameter
        | Item::Mark(_)
        | Item::Unreadable => false,
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Commas that part the arguments.
fn commas(arguments: &[Item<'_>]) -> usize {
    let mut depth = 0usize;
    let mut count = 0;
    for item in arguments {
        match item {
            Item::Mark("(") => depth += 1,
            Item::Mark(")") => depth = depth.saturating_sub(1),
            Item::Mark(",") if depth == 0 => count += 1,
            Item::Name(_)
            | Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Mark(_)
            | Item::Unreadable => {}
        }
    }
    count
}
