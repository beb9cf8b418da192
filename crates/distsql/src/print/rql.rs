//! Questions.

use std::fmt::{self, Display, Formatter};

use super::{Like, Maybe, from};
use crate::command::{Counted, Detail, Name, Rql, Subject, Usage};

impl Display for Rql {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Here FROM opens a clause that the database is only a part of.
        if let Subject::UnloadedSingleTables { unit, schema } = &self.subject {
            f.write_str("SHOW UNLOADED SINGLE TABLES")?;
            if self.database.is_some() || unit.is_some() {
                f.write_str(" FROM")?;
            }
            Maybe(" ", self.database.as_ref()).fmt(f)?;
            Maybe(" STORAGE UNIT ", unit.as_ref()).fmt(f)?;
            return Maybe(" SCHEMA ", schema.as_ref()).fmt(f);
        }
        subject(f, &self.subject)?;
        write!(f, "{}{}", from(&self.database), Like(self.like.as_deref()))?;
        if let Subject::StorageUnits(Some(count)) = self.subject {
            write!(f, " WHERE USAGE_COUNT = {count}")?;
        }
        Ok(())
    }
}

/// `one` and the name, or `all`.
fn one_or_all(f: &mut Formatter<'_>, name: &Option<Name>, one: &str, all: &str) -> fmt::Result {
    match name {
        Some(name) => write!(f, "SHOW {one} {name}"),
        None => write!(f, "SHOW {all}"),
    }
}

fn subject(f: &mut Formatter<'_>, subject: &Subject) -> fmt::Result {
    match subject {
        Subject::StorageUnits(_) => f.write_str("SHOW STORAGE UNITS"),
        Subject::RulesUsedStorageUnit(name) => {
            write!(f, "SHOW RULES USED STORAGE UNIT {name}")
        }
        Subject::LogicalTables(Detail::Name) => f.write_str("SHOW LOGICAL TABLES"),
        Subject::LogicalTables(Detail::Full) => f.write_str("SHOW FULL LOGICAL TABLES"),
        Subject::ShardingTableRules(name) => {
            one_or_all(f, name, "SHARDING TABLE RULE", "SHARDING TABLE RULES")
        }
        Subject::References(name) => {
            one_or_all(f, name, "SHARDING TABLE REFERENCE RULE", "SHARDING TABLE REFERENCE RULES")
        }
        Subject::ShardingTableNodes(name) => {
            one_or_all(f, name, "SHARDING TABLE NODES", "SHARDING TABLE NODES")
        }
        Subject::ShardingAlgorithms(usage) => used(f, *usage, "SHARDING ALGORITHMS"),
        Subject::KeyGenerators(usage) => used(f, *usage, "SHARDING KEY GENERATORS"),
        Subject::Auditors(usage) => used(f, *usage, "SHARDING AUDITORS"),
        Subject::RulesUsedAlgorithm(name) => {
            write!(f, "SHOW SHARDING TABLE RULES USED ALGORITHM {name}")
        }
        Subject::RulesUsedKeyGenerator(name) => {
            write!(f, "SHOW SHARDING TABLE RULES USED KEY GENERATOR {name}")
        }
        Subject::RulesUsedAuditor(name) => {
            write!(f, "SHOW SHARDING TABLE RULES USED AUDITOR {name}")
        }
        Subject::DefaultStrategies => f.write_str("SHOW DEFAULT SHARDING STRATEGY"),
        Subject::KeyGenerateStrategies(name) => one_or_all(
            f,
            name,
            "SHARDING KEY GENERATE STRATEGY",
            "SHARDING KEY GENERATE STRATEGIES",
        ),
        Subject::Count(counted) => count(f, *counted),
        Subject::BroadcastTables => f.write_str("SHOW BROADCAST TABLE RULES"),
        Subject::SingleTables(name) => one_or_all(f, name, "SINGLE TABLE", "SINGLE TABLES"),
        Subject::UnloadedSingleTables { .. } => f.write_str("SHOW UNLOADED SINGLE TABLES"),
        Subject::DefaultSingleTableUnit => f.write_str("SHOW DEFAULT SINGLE TABLE STORAGE UNIT"),
        Subject::ReadwriteSplittingRules(name) => {
            one_or_all(f, name, "READWRITE_SPLITTING RULE", "READWRITE_SPLITTING RULES")
        }
        Subject::EncryptRules(name) => one_or_all(f, name, "ENCRYPT TABLE RULE", "ENCRYPT RULES"),
        Subject::MaskRules(name) => one_or_all(f, name, "MASK RULE", "MASK RULES"),
        Subject::ShadowRules(name) => one_or_all(f, name, "SHADOW RULE", "SHADOW RULES"),
        Subject::ShadowTableRules(name) => {
            one_or_all(f, name, "SHADOW TABLE RULE", "SHADOW TABLE RULES")
        }
        Subject::ShadowAlgorithms => f.write_str("SHOW SHADOW ALGORITHMS"),
        Subject::DefaultShadowAlgorithm => f.write_str("SHOW DEFAULT SHADOW ALGORITHM"),
        Subject::DiscoveryRules(name) => {
            one_or_all(f, name, "DB_DISCOVERY RULE", "DB_DISCOVERY RULES")
        }
        Subject::DiscoveryTypes => f.write_str("SHOW DB_DISCOVERY TYPES"),
        Subject::DiscoveryHeartbeats => f.write_str("SHOW DB_DISCOVERY HEARTBEATS"),
        Subject::OwnRules(own, name) => {
            let words = own.grammar.words;
            one_or_all(f, name, &format!("{words} RULE"), &format!("{words} RULES"))
        }
    }
}

fn used(f: &mut Formatter<'_>, usage: Usage, what: &str) -> fmt::Result {
    match usage {
        Usage::Any => write!(f, "SHOW {what}"),
        Usage::Unused => write!(f, "SHOW UNUSED {what}"),
    }
}

fn count(f: &mut Formatter<'_>, counted: Counted) -> fmt::Result {
    let what = match counted {
        Counted::Sharding => "SHARDING RULE",
        Counted::Broadcast => "BROADCAST RULE",
        Counted::ReadwriteSplitting => "READWRITE_SPLITTING RULE",
        Counted::Encrypt => "ENCRYPT RULE",
        Counted::Mask => "MASK RULE",
        Counted::Shadow => "SHADOW RULE",
        Counted::Discovery => "DB_DISCOVERY RULE",
        Counted::SingleTable => "SINGLE TABLE",
        Counted::Own(own) => return write!(f, "COUNT {} RULE", own.grammar.words),
        Counted::Every => "DATABASE RULES",
    };
    write!(f, "COUNT {what}")
}
