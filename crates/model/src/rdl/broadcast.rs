//! Broadcast tables.

use std::collections::HashSet;

use pando_distsql::command::{Change as How, Missing, Name};

use crate::canonical::{list, names};
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result};

const TAG: &str = "BROADCAST";
const WHAT: &str = "broadcast tables";

fn current(draft: &Draft<'_>) -> Vec<String> {
    draft.field(TAG, "tables").map(names).unwrap_or_default()
}

/// For looking up: lists have thousands of names.
fn lowered<T: AsRef<str>>(names: &[T]) -> HashSet<String> {
    names.iter().map(|name| name.as_ref().to_lowercase()).collect()
}

fn store(draft: &mut Draft<'_>, tables: &[String]) {
    draft.tree.change_rule(TAG, |section| section.set("tables", list(tables)));
}

pub(super) fn define(draft: &mut Draft<'_>, change: How, tables: &[Name]) -> Result<()> {
    let mut old = current(draft);
    let how = match change {
        // Altering replaces the whole list, so no name must be there already.
        How::Alter if old.is_empty() => {
            let message = format!("database `{}` has no broadcast tables", draft.name);
            return Err(Refusal::new(Kind::MissingRule, message));
        }
        How::Alter => {
            old.clear();
            How::Create
        }
        How::Create | How::CreateIfNotExists => change,
    };
    let known = lowered(&old);
    let exists = |name: &str| known.contains(&name.to_lowercase());
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    let new = draft.wanted(how, tables, |name| &name.text, &taken)?;
    let new: Vec<String> = new.into_iter().map(|name| name.text.clone()).collect();
    old.extend(new);
    store(draft, &old);
    Ok(())
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, tables: &[Name]) -> Result<()> {
    let mut old = current(draft);
    let known = lowered(&old);
    let exists = |name: &str| known.contains(&name.to_lowercase());
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    let gone = lowered(&draft.dropped(missing, tables, &taken)?);
    old.retain(|own| !gone.contains(&own.to_lowercase()));
    store(draft, &old);
    Ok(())
}

pub(super) fn drop_every(draft: &mut Draft<'_>, missing: Missing) -> Result<()> {
    if current(draft).is_empty() && missing == Missing::Fails {
        let message = format!("database `{}` has no broadcast tables", draft.name);
        return Err(Refusal::new(Kind::MissingRule, message));
    }
    store(draft, &[]);
    Ok(())
}
