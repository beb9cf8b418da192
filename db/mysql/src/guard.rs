//! What statements of MySQL and MariaDB may reach: see [`pando_kernel::guard`].

mod code;
mod databases;
pub(crate) mod words;

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::guard::{
    Guard, Known, Reach, Scrutiny, denied, for_administrators, is_ledger, mentions, plain_rows,
};
use pando_sql::ast::{Assignment, DefineAction, Kind, ObjectKind, ObjectName, Scope};
use pando_sql::{Dotted, Item, alike, reading};

use crate::dialect::{MySql, SYNTAX};
use words::{FAR, LEDGER, RUNNERS, SERVERS, TELLING, USERS, WHOLE};

impl Guard for MySql {
    fn judge(&self, asked: &Scrutiny<'_>) -> Result<()> {
        let stmt = asked.statement;
        // The text behind these is read, and judged, by itself.
        if matches!(stmt.kind, Kind::Prepare { .. } | Kind::Preview(_) | Kind::Administration) {
            return Ok(());
        }
        let is_about_rows = is_about_rows(&stmt.kind);
        let reach = asked.standing.reach;
        if is_about_rows && reach > Reach::Own && !mentions(&stmt.text, TELLING) {
            return Ok(());
        }
        let items = reading(&stmt.text, &SYNTAX, plain_rows(&stmt.kind))
            .map_err(|error| ErrorKind::Syntax { message: error.message, at: error.at })?;
        let judge = Judge {
            reach,
            known: Known::of(&stmt.kind),
            depth: 0,
            is_hinted: asked.is_hinted,
            is_about_rows,
        };
        judge.kind(&stmt.kind)?;
        judge.items(&items)
    }

    fn is_ledger(&self, actual: &str) -> bool {
        is_ledgers(actual)
    }
}

/// Who judges a text.
struct Judge {
    reach: Reach,
    /// What the tree knows; nothing of code.
    known: Known,
    /// How many texts this one stands in.
    depth: u8,
    is_hinted: bool,
    /// Nothing can begin in it but the statement itself.
    is_about_rows: bool,
}

impl Judge {
    /// What only an administrator may.
    fn privileged(&self, what: &str) -> Result<()> {
        match self.reach {
            Reach::Administrator => Ok(()),
            Reach::Own | Reach::Every => Err(for_administrators(what)),
        }
    }

    /// What the tree says by itself.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn kind(&self, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Load(load) if !load.local => self.privileged("a file of the server"),
            Kind::Set(list) if list.iter().any(is_global) => {
                self.privileged("a setting of the server")
            }
            Kind::Define(define)
                if define.object == ObjectKind::Database
                    && self.is_hinted
                    && define.action != DefineAction::Comment =>
            {
                Err(denied("a physical database is not changed through a logical one"))
            }
            // Without a name it is the session's own.
            Kind::Define(define)
                if define.object == ObjectKind::Database
                    && define.action == DefineAction::Alter
                    && self.reach == Reach::Own
                    && define.names.iter().any(is_database) =>
            {
                Err(denied(
                    "another database is not changed, and names here are those of storage units",
                ))
            }
            Kind::Show(show)
                if self.is_hinted && self.reach == Reach::Own && show.database.is_some() =>
            {
                Err(denied("a hint leads into no database"))
            }
            _ => Ok(()),
        }
    }

    /// Every name of a text.
    fn items(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Name(name) => {
                    self.ledger(name)?;
                    self.secrets(name)?;
                    self.call(items, at, name)?;
                }
                Item::Unreadable if self.reach == Reach::Own => {
                    return Err(denied("a number behind the point of a name cannot be judged"));
                }
                Item::Variable(name) => self.variable(items, at, name)?,
                Item::Text(..)
                | Item::Number
                | Item::Parameter
                | Item::Mark(_)
                | Item::Unreadable => {}
            }
        }
        self.verbs(items)?;
        self.code(items)?;
        match self.reach {
            Reach::Own => self.own_only(items),
            Reach::Every | Reach::Administrator => Ok(()),
        }
    }

    fn ledger(&self, name: &Dotted<'_>) -> Result<()> {
        match name.parts.iter().find(|part| is_ledgers(part)) {
            Some(part) => Err(is_ledger(part)),
            None => Ok(()),
        }
    }

    fn call(&self, items: &[Item<'_>], at: usize, name: &Dotted<'_>) -> Result<()> {
        if items.get(at + 1) != Some(&Item::Mark("(")) {
            return Ok(());
        }
        let function = name.last().to_ascii_lowercase();
        if function == "load_file" {
            return self.privileged("a file of the server");
        }
        if name.parts.len() > 1 && RUNNERS.contains(&function.as_str()) {
            return Err(denied(format!("what `{function}` would run cannot be judged")));
        }
        Ok(())
    }

    /// `SET @@global.x`, where it is assigned.
    fn variable(&self, items: &[Item<'_>], at: usize, name: &str) -> Result<()> {
        let name = name.to_ascii_lowercase();
        let is_server = ["@@global.", "@@persist.", "@@persist_only."]
            .iter()
            .any(|scope| name.starts_with(scope));
        let is_assigned = matches!(items.get(at + 1), Some(Item::Mark("=" | ":=")));
        // The tree tells of a SET that stands alone.
        match is_server && is_assigned && !self.is_about_rows {
            true => self.privileged("a setting of the server"),
            false => Ok(()),
        }
    }

    /// Whether a statement may begin at this item.
    fn begins(&self, items: &[Item<'_>], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        before.is_none_or(|before| !self.is_about_rows && may_begin(before))
    }

    /// What a text does, by its words: those of a statement, or of each of its code's.
    fn verbs(&self, items: &[Item<'_>]) -> Result<()> {
        for at in 0..items.len() {
            let rest = &items[at..];
            if self.begins(items, at) {
                if SERVERS.iter().any(|words| begins(rest, words)) {
                    self.privileged(&spoken(rest))?;
                }
                if at > 0 || self.depth > 0 || self.is_hinted {
                    self.shows(rest)?;
                }
                if USERS.iter().any(|words| begins(rest, words)) {
                    self.privileged(&spoken(rest))?;
                }
            }
            let next = |word| rest.get(1).is_some_and(|item| item.is_word(word));
            if rest[0].is_word("into") && (next("outfile") || next("dumpfile")) {
                self.privileged("a file of the server")?;
            }
            if rest[0].is_word("load") && (next("data") || next("xml")) && !begins_local(rest) {
                self.privileged("a file of the server")?;
            }
            if rest[0].is_word("soname") {
                self.privileged("loading code into the server")?;
            }
        }
        self.tables_elsewhere(items)
    }

    /// What a storage unit would tell by itself, of its own user and of all its databases: Pando answers these where they come alone.
    fn shows(&self, rest: &[Item<'_>]) -> Result<()> {
        if begins(rest, &["show", "grants"]) {
            self.privileged("what the user of a storage unit may do")?;
        }
        let is_whole = || WHOLE.iter().any(|words| begins(rest, words));
        match self.reach == Reach::Own && is_whole() {
            true => Err(for_administrators(&format!("{} of a storage unit", spoken(rest)))),
            false => Ok(()),
        }
    }

    /// CREATE and ALTER TABLE whose rows stand in a file or on another server.
    fn tables_elsewhere(&self, items: &[Item<'_>]) -> Result<()> {
        let defines = items.iter().any(|item| item.is_word("create") || item.is_word("alter"));
        if !defines {
            return Ok(());
        }
        for (at, item) in items.iter().enumerate() {
            let rest = items.get(at + 1..).unwrap_or(&[]);
            let value = rest.iter().find(|item| **item != Item::Mark("="));
            let engine =
                item.is_word("engine") && matches!(value, Some(Item::Name(_) | Item::Text(..)));
            let far = |item: &Item<'_>| {
                let name = item.name().map(Dotted::last).or_else(|| item.text());
                name.is_some_and(|name| FAR.iter().any(|known| alike(known, name)))
            };
            let directory = (item.is_word("data") || item.is_word("index"))
                && rest.first().is_some_and(|item| item.is_word("directory"));
            let connection = item.is_word("connection")
                && matches!(rest, [Item::Mark("="), Item::Text(..), ..] | [Item::Text(..), ..]);
            if engine && value.is_some_and(far) || directory || connection {
                self.privileged("a table that stands elsewhere")?;
            }
        }
        Ok(())
    }
}

fn is_global(assignment: &Assignment) -> bool {
    assignment.scope == Scope::Global
}

/// Whether the name behind ALTER DATABASE is one: an option may follow at once.
fn is_database(name: &ObjectName) -> bool {
    const OPTIONS: [&str; 5] = ["character", "charset", "collate", "default", "encryption"];
    let part = name.parts.first();
    part.is_none_or(|part| part.quoted || !OPTIONS.iter().any(|option| alike(option, &part.value)))
}

fn is_ledgers(name: &str) -> bool {
    LEDGER.iter().any(|own| alike(name, own))
}

/// Statements in which no other stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever is not known to be about rows is not")]
fn is_about_rows(kind: &Kind) -> bool {
    match kind {
        Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_) => true,
        Kind::Explain { inner, .. } => is_about_rows(inner),
        _ => false,
    }
}

/// Whether a statement may begin behind an item.
fn may_begin(item: &Item<'_>) -> bool {
    // Behind the head of a routine, which ends in brackets, a comment or one of its characteristics, and inside its body.
    const WORDS: [&str; 13] = [
        "atomic",
        "begin",
        "data",
        "definer",
        "deterministic",
        "do",
        "else",
        "invoker",
        "loop",
        "repeat",
        "row",
        "sql",
        "then",
    ];
    matches!(item, Item::Mark(";" | ":" | ")") | Item::Text(..))
        || WORDS.iter().any(|word| item.is_word(word))
}

/// Whether these words come first, OR REPLACE and the like left out.
fn begins(items: &[Item<'_>], words: &[&str]) -> bool {
    let skipped = ["or", "replace", "if", "not", "exists"];
    let mut items = items
        .iter()
        .enumerate()
        .filter(|(at, item)| *at == 0 || !skipped.iter().any(|word| item.is_word(word)))
        .map(|(_, item)| item);
    words.iter().all(|word| items.next().is_some_and(|item| item.is_word(word)))
}

/// Whether a LOAD says LOCAL before its file.
fn begins_local(rest: &[Item<'_>]) -> bool {
    let mut words = rest.iter().take_while(|item| !item.is_word("infile"));
    words.any(|item| item.is_word("local"))
}

/// The first words of a statement, for a message.
fn spoken(items: &[Item<'_>]) -> String {
    items.iter().map_while(Item::word).take(2).collect::<Vec<_>>().join(" ").to_uppercase()
}
