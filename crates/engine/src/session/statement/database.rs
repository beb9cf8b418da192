//! CREATE DATABASE and DROP DATABASE of logical databases.

use pando_kernel::administration::{Order, Unless};
use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Completion;
use pando_sql::Placeholder;
use pando_sql::ast::{Define, DefineAction, ObjectKind, Statement};

use crate::plan::unread as syntax_error;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::reply::warnings;
use crate::session::statement::{administer, stand};
use crate::session::transaction::commit;

/// What happens to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Created,
    Dropped,
}

/// A database, and what is said of it besides.
#[derive(Debug, Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    options: Options,
}

/// What stands behind the name of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Options {
    None,
    /// How texts are kept, which its storage units decide.
    OfText,
}

/// `ER_UNKNOWN_ERROR`, which notes have that no server gives.
const NOTED: u32 = 1105;

/// Has a logical database made or dropped; false for other definitions, and where nobody administers the configuration.
pub(in crate::session) async fn define_database(
    session: &mut Session,
    stmt: &Statement,
    define: &Define,
) -> Result<bool> {
    let fate = match define.action {
        _ if define.object != ObjectKind::Database
            || session.place.engine().administration().is_none() =>
        {
            return Ok(false);
        }
        DefineAction::Create => Fate::Created,
        DefineAction::Drop => Fate::Dropped,
        DefineAction::Alter
        | DefineAction::Truncate
        | DefineAction::Rename
        | DefineAction::Comment => return Ok(false),
    };
    session.work.refuse_if_failed()?;
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    let Named { name, options } = named(stmt, define, dialect.as_ref())?;
    let unless = if define.conditional { Unless::Passes } else { Unless::Fails };
    let current = session.place.facts().database.as_deref();
    let is_current = current.is_some_and(|current| current.eq_ignore_ascii_case(name));
    // A session of a family whose databases have schemas cannot be without one.
    if fate == Fate::Dropped && is_current && dialect.default_schema().is_some() {
        return Err(server_error(0, "55006", "cannot drop the currently open database"));
    }
    if dialect.definitions_commit() && !session.work.is_idle() {
        commit::commit_implicitly(session).await?;
    }
    match fate {
        Fate::Created => {
            administer::ordered(session, Order::CreateDatabase { name, present: unless }).await?
        }
        Fate::Dropped => {
            administer::ordered(session, Order::DropDatabase { name, missing: unless }).await?
        }
    };
    if fate == Fate::Dropped && is_current {
        stand::leave_database(session, None);
        stand::look_again(session)?;
    }
    let (tag, affected) = match fate {
        Fate::Created => ("CREATE DATABASE", 1),
        Fate::Dropped => ("DROP DATABASE", 0),
    };
    if options == Options::OfText {
        warnings::note(
            session,
            NOTED,
            "tables get the character set and collation of the databases of their storage units",
        );
    }
    session.outbox.complete(Completion {
        tag: tag.into(),
        affected: Some(affected),
        warnings: u16::from(options == Options::OfText),
        ..Completion::default()
    });
    Ok(true)
}

/// The one plain name of the definition, behind which nothing stands that would be lost.
fn named<'a>(stmt: &Statement, define: &'a Define, dialect: &dyn Dialect) -> Result<Named<'a>> {
    let [name] = &define.names[..] else {
        return Err(Error::unsupported(30001, "one statement names one database", ""));
    };
    let [part] = &name.parts[..] else {
        return Err(Error::unsupported(30001, "the name of a database has no dots", ""));
    };
    let tokens = pando_sql::tokenize(&stmt.text, dialect.syntax()).map_err(syntax_error)?;
    let behind = tokens.list.iter().filter(|token| token.span.start >= name.span.end);
    let behind: Vec<&str> = behind.map(|token| token.span.of(&stmt.text)).collect();
    let behind = behind.strip_suffix(&[";"]).unwrap_or(&behind);
    match behind.first() {
        None => Ok(Named { name: &part.value, options: Options::None }),
        Some(_) if is_forced(define, dialect, behind) => {
            Ok(Named { name: &part.value, options: Options::None })
        }
        Some(_) if is_of_spoken_text(define, dialect, behind) => {
            Ok(Named { name: &part.value, options: Options::OfText })
        }
        Some(option) => Err(Error::unsupported(
            30001,
            format!("a logical database has no options, `{option}` neither"),
            "set them on the databases of its storage units",
        )),
    }
}

/// MySQL's character set and collation where they are those of what is spoken with storage units, and that nothing is
/// encrypted: dumps and frameworks write them with every database.
/// <https://dev.mysql.com/doc/refman/8.0/en/create-database.html>
fn is_of_spoken_text(define: &Define, dialect: &dyn Dialect, behind: &[&str]) -> bool {
    if define.action != DefineAction::Create || !dialect.syntax().limit_with_comma {
        return false;
    }
    let lower: Vec<String> = behind.iter().map(|word| word.to_ascii_lowercase()).collect();
    if lower.last().is_some_and(|last| matches!(last.as_str(), "default" | "=")) {
        return false;
    }
    let mut words =
        lower.iter().map(String::as_str).filter(|word| !matches!(*word, "default" | "="));
    while let Some(option) = words.next() {
        let value = match (option, words.next()) {
            ("character", Some("set")) => words.next(),
            (_, value) => value,
        };
        let value = value.unwrap_or_default().trim_matches(['\'', '"', '`']);
        let is_spoken = match option {
            "character" | "charset" => value == "utf8mb4",
            "collate" => value.starts_with("utf8mb4_") || value.starts_with("uca1400_"),
            "encryption" => value == "n",
            _ => false,
        };
        if !is_spoken {
            return false;
        }
    }
    true
}

/// PostgreSQL's `[WITH] (FORCE)`: other sessions of the database end. Here they always lose it.
fn is_forced(define: &Define, dialect: &dyn Dialect, behind: &[&str]) -> bool {
    let words = match behind {
        [with, rest @ ..] if with.eq_ignore_ascii_case("with") => rest,
        _ => behind,
    };
    define.action == DefineAction::Drop
        && dialect.syntax().placeholder == Placeholder::Dollar
        && matches!(words, ["(", force, ")"] if force.eq_ignore_ascii_case("force"))
}
