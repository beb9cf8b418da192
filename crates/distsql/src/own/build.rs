//! From what a room's grammar found to commands.

use pando_kernel::grammar::{Field, Form, Key};

use super::{RULE, labelled, piece};
use crate::build::{algorithm, define, drop_removal, each, query};
use crate::command::{Command, Counted, Definition, Given, OwnRule, Removal, Subject};
use crate::error::{Error, Result};
use crate::tree::Part;

/// CREATE and ALTER.
pub(super) fn definition(part: Part<'_>) -> Result<Command> {
    let own = part.own()?;
    let rule = |part: Part<'_>| rule(part, &own.grammar.key, own.grammar.fields);
    let rules: Result<Vec<OwnRule>> = part.all(RULE).map(rule).collect();
    define(part, Definition::Own(own, rules?))
}

/// DROP.
pub(super) fn removal(part: Part<'_>) -> Result<Command> {
    let own = part.own()?;
    drop_removal(part, Removal::Own(own, part.names(piece(own.grammar.key.named))))
}

/// SHOW.
pub(super) fn shown(part: Part<'_>) -> Result<Command> {
    let own = part.own()?;
    query(part, Subject::OwnRules(own, part.maybe_name(piece(own.grammar.key.named))))
}

/// COUNT.
pub(super) fn counted(part: Part<'_>) -> Result<Command> {
    query(part, Subject::Count(Counted::Own(part.own()?)))
}

fn rule(part: Part<'_>, key: &Key, fields: &'static [Field]) -> Result<OwnRule> {
    let given = labelled(fields)
        .map(|(label, field)| part.get(label).map(|found| self::given(found, field)).transpose());
    Ok(OwnRule { key: part.name_of(piece(key.named))?, given: given.collect::<Result<_>>()? })
}

fn given(part: Part<'_>, field: &Field) -> Result<Given> {
    Ok(match field.form {
        Form::Name(named) => Given::Name(part.name_of(piece(named))?),
        Form::Text => Given::Text(part.text_of("value")?),
        Form::Number { least, most } => {
            let part = part.need("integer")?;
            let number = part.number(most)?;
            if number < least {
                let message = format!("`{number}` is too small, expected at least {least}");
                return Err(Error::value(message, part.span()));
            }
            Given::Number(number)
        }
        Form::Boolean => Given::Boolean(part.need("boolean")?.truth()),
        Form::Names(named) => Given::Names(part.names(piece(named))),
        Form::Algorithm(_) | Form::Algorithms(_) => {
            Given::Algorithms(each(part, "algorithm", algorithm)?)
        }
        Form::Parts(inner) => {
            let rule = |part: Part<'_>| rule(part, &inner.key, inner.fields);
            Given::Parts(part.all(RULE).map(rule).collect::<Result<_>>()?)
        }
    })
}
