//! What PostgreSQL statements may reach: see [`pando_kernel::guard`].

mod calls;
mod code;
mod schemas;
pub(crate) mod words;

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::guard::{
    Guard, Known, Reach, Scrutiny, Standing, denied, for_administrators, is_ledger, mentions,
    plain_rows,
};
use pando_sql::ast::{Copy, CopyDirection, DefineAction, Kind, ObjectKind};
use pando_sql::{Dotted, Item, alike, reading};

use crate::dialect::{Postgres, SYNTAX};
use words::{
    BETWEEN, BOUND, LEDGER, OF_OTHERS, ROUTINES, SECRET, SERVERS, TELLING, TRUSTED, listed,
};

impl Guard for Postgres {
    fn judge(&self, asked: &Scrutiny<'_>) -> Result<()> {
        let stmt = asked.statement;
        // The text behind these is read, and judged, by itself.
        if matches!(stmt.kind, Kind::Prepare { .. } | Kind::Preview(_) | Kind::Administration) {
            return Ok(());
        }
        let is_about_rows = is_about_rows(&stmt.kind);
        if is_about_rows && asked.standing.reach > Reach::Own && !mentions(&stmt.text, TELLING) {
            return Ok(());
        }
        let items = reading(&stmt.text, &SYNTAX, plain_rows(&stmt.kind))
            .map_err(|error| ErrorKind::Syntax { message: error.message, at: error.at })?;
        let judge = Judge {
            standing: asked.standing,
            known: Known::of(&stmt.kind),
            depth: 0,
            is_hinted: asked.is_hinted,
            is_about_rows,
        };
        judge.files(&stmt.kind)?;
        judge.items(&items)?;
        match judge.is_about_rows {
            true => Ok(()),
            false => judge.definition(&stmt.kind, &items),
        }
    }

    fn judge_setting(&self, name: &str, value: &str, asked: &Standing<'_>) -> Result<()> {
        if name != "search_path" && name != "schema" {
            return Ok(());
        }
        let own = if asked.reach == Reach::Own { (asked.own_schemas)() } else { None };
        for schema in schemas::listed(value) {
            if alike(&schema, LEDGER) {
                return Err(is_ledger(LEDGER));
            }
            if own.as_ref().is_some_and(|own| !schemas::is_own(own, &schema)) {
                return Err(schemas::foreign(&schema));
            }
        }
        Ok(())
    }
}

/// Statements about rows define nothing.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever is not known to be about rows is not")]
fn is_about_rows(kind: &Kind) -> bool {
    match kind {
        Kind::Select(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Cursor(_)
        | Kind::Execute { .. }
        | Kind::Transaction(_) => true,
        Kind::Explain { inner, .. } => is_about_rows(inner),
        _ => false,
    }
}

/// What a statement makes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Definition {
    /// CREATE.
    New,
    /// ALTER, DROP.
    Changed,
}

/// Who judges a text.
struct Judge<'a> {
    standing: Standing<'a>,
    /// What the tree knows; nothing of code.
    known: Known,
    /// How many texts this one stands in.
    depth: u8,
    is_hinted: bool,
    /// Its words are about rows, and speak of no schema.
    is_about_rows: bool,
}

impl Judge<'_> {
    fn is_administrator(&self) -> bool {
        self.standing.reach == Reach::Administrator
    }

    /// What only an administrator may.
    fn privileged(&self, what: &str) -> Result<()> {
        match self.is_administrator() {
            true => Ok(()),
            false => Err(for_administrators(what)),
        }
    }

    /// Every name of a text.
    fn items(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Name(name) => {
                    self.name(name)?;
                    self.change(&items[..at], name)?;
                    let before = at.checked_sub(1).and_then(|before| items.get(before));
                    let is_called = items.get(at + 1) == Some(&Item::Mark("("));
                    if is_called && !self.known.is_table(name.span) && !is_named(before) {
                        self.call(name, items.get(at + 2..).unwrap_or(&[]))?;
                    }
                }
                Item::Unreadable => {
                    return Err(denied("a name with UESCAPE cannot be judged"));
                }
                Item::Text(..)
                | Item::Variable(_)
                | Item::Number
                | Item::Parameter
                | Item::Mark(_) => {}
            }
        }
        self.schemas(items)
    }

    /// Ledgers, and relations that are not for everybody.
    fn name(&self, name: &Dotted<'_>) -> Result<()> {
        let schemas = match name.star {
            true => &name.parts[..],
            false => &name.parts[..name.parts.len() - 1],
        };
        if schemas.iter().any(|part| alike(part, LEDGER)) && !self.known.is_column(name.span) {
            return Err(is_ledger(&name.parts.join(".")));
        }
        let relation = name.last().to_lowercase();
        let is_vendors = match &name.parts[..] {
            [_] => true,
            [.., schema, _] => alike(schema, "pg_catalog") || relation == "pg_stat_statements",
            [] => false,
        };
        if is_vendors && SECRET.contains(&relation.as_str()) {
            self.privileged(&format!("`{relation}`"))?;
        }
        let others =
            || self.standing.reach == Reach::Own && (self.standing.own_schemas)().is_some();
        if is_vendors && OF_OTHERS.contains(&relation.as_str()) && others() {
            return Err(denied(format!("`{relation}` shows what belongs to other databases")));
        }
        Ok(())
    }

    /// A change of the vendor's own catalogue: it would reach any object, whatever it is called.
    fn change(&self, before: &[Item<'_>], name: &Dotted<'_>) -> Result<()> {
        let is_vendors = match &name.parts[..] {
            [only] => only.to_lowercase().starts_with("pg_"),
            [schema, ..] => alike(schema, "pg_catalog") || alike(schema, "information_schema"),
            [] => false,
        };
        if !is_vendors {
            return Ok(());
        }
        let mut words = before.iter().rev().filter(|item| !item.is_word("only"));
        let (last, one_before) = (words.next(), words.next());
        let last = |word| last.is_some_and(|item| item.is_word(word));
        let one_before = |word| one_before.is_some_and(|item| item.is_word(word));
        let makes = ["alter", "drop", "truncate"].into_iter().any(one_before);
        // `ON CONFLICT DO UPDATE SET`, `FOR UPDATE OF`: what follows there is no relation.
        let changes = last("update")
            || last("into")
            || last("truncate")
            || last("from") && one_before("delete")
            || last("table") && makes;
        match changes {
            true => Err(denied(format!("`{}` may not be changed", name.parts.join(".")))),
            false => Ok(()),
        }
    }

    /// Files and programs of the server.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn files(&self, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Copy(copy) if is_of_server(copy) => {
                self.privileged("a file or program of the server")
            }
            Kind::Load(_) => self.privileged("loading code into the server"),
            _ => Ok(()),
        }
    }

    /// A statement that makes something, or is not known.
    fn definition(&self, kind: &Kind, items: &[Item<'_>]) -> Result<()> {
        self.verbs(items)?;
        if let Kind::Define(define) = kind
            && define.object == ObjectKind::Database
            && define.action != DefineAction::Comment
            && (self.is_hinted || define.action == DefineAction::Alter)
        {
            return Err(denied("a physical database is not changed through a logical one"));
        }
        self.code(items)
    }

    /// What stands behind each verb of a text of definitions.
    fn verbs(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            let rest = items.get(at + 1..).unwrap_or(&[]);
            let is = |word| item.is_word(word);
            let next = |word| rest.first().is_some_and(|item| item.is_word(word));
            if (is("drop") || is("reassign")) && next("owned") {
                return Err(denied(
                    "what a role owns may hold the ledgers: it is dropped or given away on the storage unit itself",
                ));
            }
            if is("all") && next("in") && rest.get(1).is_some_and(|item| item.is_word("tablespace"))
            {
                return Err(denied("what stands in a tablespace may be the ledgers"));
            }
            if is("copy") && reaches_file(rest) {
                self.privileged("a file or program of the server")?;
            }
            if is("import") && next("foreign") || is("load") && at == 0 {
                self.privileged("reaching out of the database")?;
            }
            let before = at.checked_sub(1).and_then(|before| items.get(before));
            if self.begins(before) && is("create") {
                self.defined(Definition::New, rest)?;
            }
            if self.begins(before) && (is("alter") || is("drop")) {
                self.defined(Definition::Changed, rest)?;
            }
            let gives = self.begins(before) && (is("grant") || is("revoke"));
            if gives && !rest.iter().any(|item| item.is_word("on")) {
                self.privileged("who is in a role of the servers")?;
            }
        }
        Ok(())
    }

    /// Whether a statement may begin behind this item.
    fn begins(&self, before: Option<&Item<'_>>) -> bool {
        let words = ["begin", "then", "else", "loop"];
        before.is_none_or(|before| {
            *before == Item::Mark(";")
                || self.depth > 0 && words.iter().any(|word| before.is_word(word))
        })
    }

    /// The object behind CREATE, ALTER or DROP.
    fn defined(&self, definition: Definition, rest: &[Item<'_>]) -> Result<()> {
        let words = rest.iter().map_while(Item::word);
        let mut words = words.filter(|word| !BETWEEN.contains(&word.as_str()));
        let Some(object) = words.next() else { return Ok(()) };
        let behind = words.next().unwrap_or_default();
        if SERVERS.contains(&object.as_str()) || object == "user" && behind == "mapping" {
            return self.privileged(&object.to_uppercase());
        }
        if matches!(object.as_str(), "role" | "user" | "group") {
            return self.privileged("a role of the servers");
        }
        if object == "publication" && self.own_schemas().is_some() {
            let is_all = |two: &[Item<'_>]| two[0].is_word("all") && two[1].is_word("tables");
            if rest.windows(2).any(is_all) {
                return Err(denied("a publication of all tables holds those of other databases"));
            }
        }
        let renames = || rest.iter().any(|item| item.is_word("rename") || item.is_word("schema"));
        if BOUND.contains(&object.as_str())
            || definition == Definition::Changed && ROUTINES.contains(&object.as_str()) && renames()
        {
            self.bound(rest)?;
        }
        if object == "extension" && definition == Definition::New {
            let is_trusted =
                |item: &Item<'_>| item.name().is_some_and(|name| is_one_of(TRUSTED, name));
            let skipped = ["extension", "if", "not", "exists"];
            let name = rest.iter().find(|item| !skipped.iter().any(|word| item.is_word(word)));
            if !name.is_some_and(is_trusted) {
                return self.privileged("an extension that is not trusted");
            }
        }
        Ok(())
    }
}

fn is_of_server(copy: &Copy) -> bool {
    copy.direction == CopyDirection::ServerFile
}

/// Whether a COPY, behind its verb, names a file or a program.
fn reaches_file(rest: &[Item<'_>]) -> bool {
    let end = rest.iter().position(|item| *item == Item::Mark(";")).unwrap_or(rest.len());
    rest[..end].windows(2).any(|two| {
        let way = two[0].is_word("to") || two[0].is_word("from");
        way && (matches!(two[1], Item::Text(..)) || two[1].is_word("program"))
    })
}

/// Whether what follows is named here, although a parenthesis stands behind it: a table with its columns, a function that is made.
fn is_named(before: Option<&Item<'_>>) -> bool {
    const WORDS: [&str; 10] = [
        "aggregate",
        "as",
        "exists",
        "function",
        "into",
        "procedure",
        "recursive",
        "references",
        "table",
        "with",
    ];
    before.is_some_and(|before| WORDS.iter().any(|word| before.is_word(word)))
}

/// Whether a function is one of a list, by its last part.
fn is_one_of(list: &[&str], name: &Dotted<'_>) -> bool {
    listed(list, &name.last().to_lowercase())
}
