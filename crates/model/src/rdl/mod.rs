//! RDL: one file for each kind of rule; here the way every change takes.

mod broadcast;
mod default;
mod encrypt;
mod encrypting;
mod mask;
mod named;
mod own;
mod readwrite;
mod reference;
mod shadow;
mod single;
mod table;
mod unit;

pub use encrypting::EncryptAdvance;
pub(crate) use unit::POOL;

use pando_config::Node;
use pando_distsql::command::{Change as How, Definition, Missing, Rdl, Removal, Thing};

use crate::algorithms;
use crate::around::Around;
use crate::change::Change;
use crate::draft::Draft;
use crate::model::Model;
use crate::refusal::{Kind, Refusal, Result};

impl Model {
    /// A statement that defines, alters or drops something of a database: the model it leads to, validated as a whole. A statement
    /// with several definitions is all or nothing.
    ///
    /// # Errors
    /// Every kind of refusal that its name fits; `NotSupported` for rules that no release of the last years has.
    pub fn apply(&self, database: &str, statement: &Rdl, around: &Around<'_>) -> Result<Change> {
        self.drafted(database, around, |draft| carry_out(draft, statement))
    }
}

/// Changes the draft; gives the kind of refusal that a whole that cannot be served is.
fn carry_out(draft: &mut Draft<'_>, statement: &Rdl) -> Result<Kind> {
    match statement {
        Rdl::Define { change, definition } => define(draft, *change, definition),
        Rdl::Drop { missing, removal } => drop_removal(draft, *missing, removal),
        Rdl::SetDefaultSingleTableUnit(unit) => single::set_default(draft, unit.as_ref()),
        Rdl::LoadSingleTables(tables) => single::load(draft, tables),
        Rdl::UnloadSingleTables(tables) => single::unload(draft, tables),
        Rdl::UnloadAllSingleTables => Ok(single::unload_all(draft)),
        Rdl::EncryptTable { step, table, rows_per_second } => {
            let (step, rows_per_second) = (*step, *rows_per_second);
            encrypting::step(draft, &encrypting::Taken { step, table, rows_per_second })?;
            Ok(Kind::InvalidRule)
        }
    }
}

fn define(draft: &mut Draft<'_>, change: How, definition: &Definition) -> Result<Kind> {
    let rule = Ok(Kind::InvalidRule);
    match definition {
        Definition::StorageUnits { units, privileges } => {
            unit::define(draft, change, units, privileges)?;
            return Ok(Kind::InvalidStorageUnit);
        }
        Definition::ShardingTables(rules) => table::define(draft, change, rules)?,
        Definition::References(references) => {
            reference::define(draft, change, references)?;
            return Ok(Kind::InvalidReference);
        }
        Definition::BroadcastTables(tables) => broadcast::define(draft, change, tables)?,
        Definition::DefaultStrategy(scope, strategy) => {
            default::define(draft, change, *scope, strategy)?;
        }
        Definition::ShardingAlgorithms(all) => {
            named::define(draft, change, &algorithms::SHARDING, all)?;
        }
        Definition::KeyGenerators(all) => {
            named::define(draft, change, &algorithms::KEY_GENERATOR, all)?;
        }
        Definition::Auditors(all) => named::define(draft, change, &algorithms::AUDITOR, all)?,
        Definition::KeyGenerateStrategy(rule) => named::define_key(draft, change, rule)?,
        Definition::ReadwriteSplitting(rules) => readwrite::define(draft, change, rules)?,
        Definition::Encrypt(rules) => encrypt::define(draft, change, rules)?,
        Definition::Mask(rules) => mask::define(draft, change, rules)?,
        Definition::Shadow(rules) => shadow::define(draft, change, rules)?,
        Definition::DefaultShadowAlgorithm(algorithm) => {
            shadow::define_default(draft, change, algorithm)?;
        }
        Definition::Own(sort, rules) => own::define(draft, change, *sort, rules)?,
        Definition::Discovery(_)
        | Definition::DiscoveryTypes(_)
        | Definition::DiscoveryHeartbeats(_) => return Err(discovery()),
    }
    rule
}

fn drop_removal(draft: &mut Draft<'_>, missing: Missing, removal: &Removal) -> Result<Kind> {
    match removal {
        Removal::StorageUnits { units, ignored } => {
            unit::drop_all(draft, missing, units, *ignored)?;
        }
        Removal::Named(thing, names) => match thing {
            Thing::ShardingTable => table::drop_all(draft, missing, names)?,
            Thing::Reference => reference::drop_named(draft, missing, names)?,
            Thing::BroadcastTable => broadcast::drop_all(draft, missing, names)?,
            Thing::ShardingAlgorithm => {
                named::drop_all(draft, missing, &algorithms::SHARDING, names)?;
            }
            Thing::KeyGenerator => {
                named::drop_all(draft, missing, &algorithms::KEY_GENERATOR, names)?;
            }
            Thing::Auditor => named::drop_all(draft, missing, &algorithms::AUDITOR, names)?,
            Thing::ShadowAlgorithm => named::drop_all(draft, missing, &algorithms::SHADOW, names)?,
            Thing::KeyGenerateStrategy => named::drop_keys(draft, missing, names)?,
            Thing::ReadwriteSplitting => readwrite::drop_all(draft, missing, names)?,
            Thing::Encrypt => encrypt::drop_all(draft, missing, names)?,
            Thing::Mask => mask::drop_all(draft, missing, names)?,
            Thing::Shadow => shadow::drop_all(draft, missing, names)?,
            Thing::Discovery | Thing::DiscoveryType | Thing::DiscoveryHeartbeat => {
                return Err(discovery());
            }
        },
        Removal::Own(sort, keys) => own::drop_all(draft, missing, *sort, keys)?,
        Removal::DefaultStrategy(scope) => default::drop_one(draft, missing, *scope)?,
        Removal::DefaultShadowAlgorithm => shadow::drop_default(draft, missing)?,
        Removal::References(lists) => reference::drop_unnamed(draft, missing, lists)?,
        Removal::AllBroadcastTables => broadcast::drop_every(draft, missing)?,
    }
    Ok(Kind::InvalidRule)
}

fn discovery() -> Refusal {
    Refusal::not_supported("database discovery, which ShardingSphere has dropped since 5.4,")
}

/// A key of a mapping as it is written there, whatever the case it is asked for in: tables are not told apart by case.
fn key_of(map: Option<&Node>, name: &str) -> Option<String> {
    let found = map?.pairs().iter().find(|entry| entry.key.eq_ignore_ascii_case(name));
    found.map(|entry| entry.key.clone())
}
