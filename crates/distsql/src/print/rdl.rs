//! Statements that change a database's configuration.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use super::own::Rules;
use super::{List, Maybe, Properties, Text};
use crate::command::{
    Address, AlgorithmUse, Change, Definition, EncryptStep, Ignored, Missing, Name,
    ROWS_PER_SECOND, Rdl, Removal, Scope, SingleTables, StorageUnit, Thing,
};

impl Display for Rdl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Define { change, definition } => define(f, *change, definition),
            Self::Drop { missing, removal } => drop(f, *missing, removal),
            Self::SetDefaultSingleTableUnit(Some(unit)) => {
                write!(f, "SET DEFAULT SINGLE TABLE STORAGE UNIT = {unit}")
            }
            Self::SetDefaultSingleTableUnit(None) => {
                f.write_str("SET DEFAULT SINGLE TABLE STORAGE UNIT = RANDOM")
            }
            Self::LoadSingleTables(tables) => write!(f, "LOAD SINGLE TABLE {}", List(tables)),
            Self::UnloadSingleTables(tables) => write!(f, "UNLOAD SINGLE TABLE {}", List(tables)),
            Self::UnloadAllSingleTables => f.write_str("UNLOAD ALL SINGLE TABLES"),
            Self::EncryptTable { step, table, rows_per_second } => {
                encrypt_step(f, *step, table)?;
                match rows_per_second {
                    Some(rate) => write!(f, " PROPERTIES('{ROWS_PER_SECOND}'='{rate}')"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn encrypt_step(f: &mut Formatter<'_>, step: EncryptStep, table: &Name) -> fmt::Result {
    match step {
        EncryptStep::Encrypt => write!(f, "ENCRYPT TABLE {table}"),
        EncryptStep::Decrypt => write!(f, "DECRYPT TABLE {table}"),
        EncryptStep::Reencrypt => write!(f, "REENCRYPT TABLE {table}"),
        EncryptStep::ReadCipher => write!(f, "ALTER ENCRYPT TABLE {table} READ CIPHER"),
        EncryptStep::ReadPlain => write!(f, "ALTER ENCRYPT TABLE {table} READ PLAIN"),
        EncryptStep::Commit => write!(f, "COMMIT ENCRYPT TABLE {table}"),
        EncryptStep::Rollback => write!(f, "ROLLBACK ENCRYPT TABLE {table}"),
        EncryptStep::RollbackInNewOrder => {
            write!(f, "ROLLBACK ENCRYPT TABLE {table} IN NEW ORDER")
        }
    }
}

fn define(f: &mut Formatter<'_>, change: Change, definition: &Definition) -> fmt::Result {
    let alters = change == Change::Alter;
    let verb = if alters { "ALTER" } else { "CREATE" };
    let guard = if change == Change::CreateIfNotExists { " IF NOT EXISTS" } else { "" };
    let what = phrase(definition);
    let head = format!("{verb} {what}{guard}");
    match definition {
        Definition::StorageUnits { units, privileges } => {
            let verb = if alters { "ALTER" } else { "REGISTER" };
            write!(f, "{verb} {what}{guard} {}", List(units))?;
            if !privileges.is_empty() {
                write!(f, ", CHECK_PRIVILEGES={}", List(privileges))?;
            }
            Ok(())
        }
        Definition::ShardingTables(rules) => write!(f, "{head} {}", List(rules)),
        Definition::References(references) if references.iter().any(|r| r.name.is_none()) => {
            write!(f, "{verb} SHARDING BINDING TABLE RULES {}", List(references))
        }
        Definition::References(references) => write!(f, "{head} {}", List(references)),
        // The current language cannot alter them; only the old one replaces the list.
        Definition::BroadcastTables(tables) if alters => {
            write!(f, "ALTER SHARDING BROADCAST TABLE RULES ({})", List(tables))
        }
        Definition::BroadcastTables(tables) => write!(f, "{head} {}", List(tables)),
        Definition::DefaultStrategy(_, strategy) => write!(f, "{head} ({strategy})"),
        Definition::ShardingAlgorithms(list)
        | Definition::KeyGenerators(list)
        | Definition::Auditors(list)
        | Definition::DiscoveryTypes(list) => write!(f, "{head} {}", List(list)),
        Definition::KeyGenerateStrategy(rule) => write!(f, "{head} {rule}"),
        Definition::ReadwriteSplitting(rules) => write!(f, "{head} {}", List(rules)),
        Definition::Encrypt(rules) => write!(f, "{head} {}", List(rules)),
        Definition::Mask(rules) => write!(f, "{head} {}", List(rules)),
        Definition::Shadow(rules) => write!(f, "{head} {}", List(rules)),
        Definition::DefaultShadowAlgorithm(AlgorithmUse::Inline(algorithm)) => {
            write!(f, "{head} {algorithm}")
        }
        Definition::DefaultShadowAlgorithm(AlgorithmUse::Named(name)) => {
            write!(f, "{head} NAME = {name}")
        }
        Definition::Discovery(rules) => write!(f, "{head} {}", List(rules)),
        Definition::DiscoveryHeartbeats(list) => write!(f, "{head} {}", List(list)),
        Definition::Own(own, rules) => {
            write!(f, "{head} {}", Rules { grammar: own.grammar, rules })
        }
    }
}

/// What stands between the verb and IF NOT EXISTS.
fn phrase(definition: &Definition) -> Cow<'static, str> {
    Cow::Borrowed(match definition {
        Definition::StorageUnits { .. } => "STORAGE UNIT",
        Definition::ShardingTables(_) => "SHARDING TABLE RULE",
        Definition::References(_) => "SHARDING TABLE REFERENCE RULE",
        Definition::BroadcastTables(_) => "BROADCAST TABLE RULE",
        Definition::DefaultStrategy(scope, _) => default_strategy(*scope),
        Definition::ShardingAlgorithms(_) => "SHARDING ALGORITHM",
        Definition::KeyGenerators(_) => "SHARDING KEY GENERATOR",
        Definition::Auditors(_) => "SHARDING AUDITOR",
        Definition::KeyGenerateStrategy(_) => "SHARDING KEY GENERATE STRATEGY",
        Definition::ReadwriteSplitting(_) => "READWRITE_SPLITTING RULE",
        Definition::Encrypt(_) => "ENCRYPT RULE",
        Definition::Mask(_) => "MASK RULE",
        Definition::Shadow(_) => "SHADOW RULE",
        Definition::DefaultShadowAlgorithm(_) => "DEFAULT SHADOW ALGORITHM",
        Definition::Discovery(_) => "DB_DISCOVERY RULE",
        Definition::DiscoveryTypes(_) => "DB_DISCOVERY TYPE",
        Definition::DiscoveryHeartbeats(_) => "DB_DISCOVERY HEARTBEAT",
        Definition::Own(own, _) => return Cow::Owned(format!("{} RULE", own.grammar.words)),
    })
}

fn default_strategy(scope: Scope) -> &'static str {
    match scope {
        Scope::Database => "DEFAULT SHARDING DATABASE STRATEGY",
        Scope::Table => "DEFAULT SHARDING TABLE STRATEGY",
    }
}

fn drop(f: &mut Formatter<'_>, missing: Missing, removal: &Removal) -> fmt::Result {
    let guard = if missing == Missing::Passes { " IF EXISTS" } else { "" };
    match removal {
        Removal::StorageUnits { units, ignored } => {
            write!(f, "UNREGISTER STORAGE UNIT{guard} {}", List(units))?;
            f.write_str(match ignored {
                Ignored::None => "",
                Ignored::Single => " IGNORE SINGLE TABLES",
                Ignored::Broadcast => " IGNORE BROADCAST TABLES",
                Ignored::Both => " IGNORE SINGLE, BROADCAST TABLES",
            })
        }
        Removal::Named(thing, names) => {
            write!(f, "DROP {}{guard} {}", named(*thing), List(names))
        }
        Removal::Own(own, keys) => {
            write!(f, "DROP {} RULE{guard} {}", own.grammar.words, List(keys))
        }
        Removal::DefaultStrategy(scope) => write!(f, "DROP {}{guard}", default_strategy(*scope)),
        Removal::DefaultShadowAlgorithm => write!(f, "DROP DEFAULT SHADOW ALGORITHM{guard}"),
        Removal::References(groups) => {
            let groups: Vec<String> =
                groups.iter().map(|tables| format!("({})", List(tables))).collect();
            let space = if groups.is_empty() { "" } else { " " };
            let groups = groups.join(", ");
            write!(f, "DROP SHARDING BINDING TABLE RULES{guard}{space}{groups}")
        }
        Removal::AllBroadcastTables => write!(f, "DROP SHARDING BROADCAST TABLE RULES{guard}"),
    }
}

fn named(thing: Thing) -> &'static str {
    match thing {
        Thing::ShardingTable => "SHARDING TABLE RULE",
        Thing::Reference => "SHARDING TABLE REFERENCE RULE",
        Thing::BroadcastTable => "BROADCAST TABLE RULE",
        Thing::ShardingAlgorithm => "SHARDING ALGORITHM",
        Thing::KeyGenerator => "SHARDING KEY GENERATOR",
        Thing::Auditor => "SHARDING AUDITOR",
        Thing::KeyGenerateStrategy => "SHARDING KEY GENERATE STRATEGY",
        Thing::ReadwriteSplitting => "READWRITE_SPLITTING RULE",
        Thing::Encrypt => "ENCRYPT RULE",
        Thing::Mask => "MASK RULE",
        Thing::Shadow => "SHADOW RULE",
        Thing::ShadowAlgorithm => "SHADOW ALGORITHM",
        Thing::Discovery => "DB_DISCOVERY RULE",
        Thing::DiscoveryType => "DB_DISCOVERY TYPE",
        Thing::DiscoveryHeartbeat => "DB_DISCOVERY HEARTBEAT",
    }
}

impl Display for StorageUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        match &self.address {
            Address::Parts { host, port, database } => {
                write!(f, "HOST={}, PORT={port}, DB={}", Text(host), Text(database))?;
            }
            Address::Url(url) => write!(f, "URL={}", Text(url))?,
        }
        let password = self.password.as_ref().map(|password| Text(password.reveal()));
        write!(f, ", USER={}{}", Text(&self.user), Maybe(", PASSWORD=", password))?;
        write!(f, "{})", Properties(", ", &self.properties))
    }
}

impl Display for SingleTables {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let level = |name: &Option<Name>| match name {
            Some(name) => name.to_string(),
            None => "*".to_owned(),
        };
        let table = level(&self.table);
        match (&self.unit, &self.schema) {
            // Only one that was written without a unit has a table and no unit.
            (None, None) if self.table.is_some() => f.write_str(&table),
            (unit, None) => write!(f, "{}.{table}", level(unit)),
            (unit, Some(schema)) => write!(f, "{}.{}.{table}", level(unit), level(schema)),
        }
    }
}
