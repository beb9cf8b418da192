//! References: tables that are sharded alike (`bindingTables`).

use pando_distsql::command::{Change as How, Missing, Name, Reference};

use super::table::defined_as;
use crate::canonical::{self, read_references, reference_name, write_references};
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result, listed};

const TAG: &str = "SHARDING";
const WHAT: &str = "sharding table references";

fn current(draft: &Draft<'_>) -> Vec<canonical::Reference> {
    draft.field(TAG, "bindingTables").map(read_references).unwrap_or_default()
}

fn store(draft: &mut Draft<'_>, references: &[canonical::Reference]) {
    draft.tree.change_rule(TAG, |section| {
        section.set("bindingTables", write_references(references));
    });
}

pub(super) fn define(draft: &mut Draft<'_>, change: How, references: &[Reference]) -> Result<()> {
    let mut old = current(draft);
    let has_names = references.iter().all(|reference| reference.name.is_some());
    // Without names there is nothing to tell which one is meant, so all are replaced, as 5.0 does.
    if change == How::Alter && !has_names {
        old.clear();
    }
    let mut named: Vec<canonical::Reference> = Vec::new();
    for reference in references {
        let tables: Vec<String> = reference.tables.iter().map(|name| name.text.clone()).collect();
        let name = match &reference.name {
            Some(name) => name.text.clone(),
            None => {
                let others: Vec<_> = old.iter().chain(&named).cloned().collect();
                reference_name(&others, &tables)
            }
        };
        named.push((name, tables));
    }
    let exists = |name: &str| old.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    let how = if has_names { change } else { How::Create };
    let wanted = draft.wanted(how, &named, |(name, _)| name.as_str(), &taken)?;
    let wanted: Vec<canonical::Reference> = wanted.into_iter().cloned().collect();
    for (name, tables) in &wanted {
        check(draft, name, tables)?;
    }
    old.retain(|(own, _)| wanted.iter().all(|(name, _)| !own.eq_ignore_ascii_case(name)));
    old.extend(wanted);
    once(draft, &old)?;
    store(draft, &old);
    Ok(())
}

/// The name can stand before a colon, and every table is sharded.
fn check(draft: &Draft<'_>, name: &str, tables: &[String]) -> Result<()> {
    let mut names = std::iter::once(name).chain(tables.iter().map(String::as_str));
    if let Some(name) = names.find(|name| name.contains([':', ',']) || name.trim() != *name) {
        let message = format!(
            "a reference and its tables have no `:`, no `,` and no white space around their names, found `{name}`"
        );
        return Err(Refusal::new(Kind::InvalidReference, message));
    }
    let section = draft.section(TAG);
    let missing = tables.iter().map(String::as_str);
    let missing: Vec<&str> = missing.filter(|table| defined_as(section, table).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message =
        format!("sharding tables {} do not exist in database `{}`", listed(missing), draft.name);
    Err(Refusal::new(Kind::MissingRule, message))
}

/// A table is in one reference at most.
fn once(draft: &Draft<'_>, references: &[canonical::Reference]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    let tables = references.iter().flat_map(|(_, tables)| tables);
    let twice: Vec<&str> =
        tables.filter(|table| !seen.insert(table.to_lowercase())).map(String::as_str).collect();
    if twice.is_empty() {
        return Ok(());
    }
    let message =
        format!("tables {} are in a reference of database `{}` already", listed(twice), draft.name);
    Err(Refusal::new(Kind::DuplicateRule, message))
}

pub(super) fn drop_named(draft: &mut Draft<'_>, missing: Missing, names: &[Name]) -> Result<()> {
    let mut old = current(draft);
    let exists = |name: &str| old.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    let gone = draft.dropped(missing, names, &taken)?;
    old.retain(|(own, _)| gone.iter().all(|name| !own.eq_ignore_ascii_case(name)));
    store(draft, &old);
    Ok(())
}

/// By their tables, in any order; no list means all references.
pub(super) fn drop_unnamed(
    draft: &mut Draft<'_>,
    missing: Missing,
    lists: &[Vec<Name>],
) -> Result<()> {
    let mut old = current(draft);
    let refused = |what: String| {
        let message = format!("{WHAT} {what} do not exist in database `{}`", draft.name);
        Refusal::new(Kind::MissingRule, message)
    };
    if lists.is_empty() {
        if old.is_empty() && missing == Missing::Fails {
            return Err(refused("of any tables".to_owned()));
        }
        old.clear();
    }
    let set = |tables: &mut dyn Iterator<Item = &str>| {
        tables.map(str::to_lowercase).collect::<std::collections::BTreeSet<_>>()
    };
    for tables in lists {
        let wanted = set(&mut tables.iter().map(|name| name.text.as_str()));
        let before = old.len();
        old.retain(|(_, own)| set(&mut own.iter().map(String::as_str)) != wanted);
        if old.len() == before && missing == Missing::Fails {
            let names = listed(tables.iter().map(|name| name.text.as_str()));
            return Err(refused(format!("of the tables {names}")));
        }
    }
    store(draft, &old);
    Ok(())
}
