//! Administration.

use std::fmt::{self, Display, Formatter};

use super::{Like, List, Maybe, MaybeIn, Properties, Text, Truth, from};
use crate::command::{
    Cache, ClockRule, ComputeNode, FederationRule, GlobalRule, Labelling, Metadata, MetadataSource,
    Node, ParserRule, Plugins, Ral, ReadUnit, Resolution, State, Status, TransactionRule,
    TranslatorRule, Variables,
};

impl Display for Ral {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetVariable { name, value } => write!(f, "SET DIST VARIABLE {name} = {value}"),
            Self::ShowVariable(name) => write!(f, "SHOW DIST VARIABLE WHERE NAME = {name}"),
            Self::ShowVariables { which, like } => {
                let temp = match which {
                    Variables::Lasting => "",
                    Variables::Temporary => "TEMP ",
                };
                write!(f, "SHOW {temp}DIST VARIABLES{}", Like(like.as_deref()))
            }
            Self::ComputeNode(statement) => statement.fmt(f),
            Self::SetReadUnitState { unit, state } => read_unit(f, unit, *state),
            Self::SetStorageUnitState { unit, state, database } => {
                write!(f, "{} STORAGE UNIT {unit}{}", verb(*state), from(database))
            }
            Self::ShowReadUnits { group, database } => {
                f.write_str("SHOW STATUS FROM READWRITE_SPLITTING ")?;
                match group {
                    Some(group) => write!(f, "RULE {group}{}", from(database)),
                    None => write!(f, "RULES{}", from(database)),
                }
            }
            Self::ShowStatus { of, database } => {
                let of = match of {
                    Status::StorageUnits => "STATUS FROM STORAGE UNITS",
                    Status::Limits => "STATUS FROM LIMIT RULES",
                    Status::CircuitBreakers => "STATUS FROM CIRCUIT BREAKERS",
                    Status::Mirrors => "STATUS FROM MIRROR RULES",
                    Status::MirrorDifferences => "DIFFERENCES FROM MIRROR RULES",
                    Status::EncryptTables => "STATUS FROM ENCRYPT TABLES",
                };
                write!(f, "SHOW {of}{}", from(database))
            }
            Self::ShowInDoubt => f.write_str("SHOW IN DOUBT TRANSACTIONS"),
            Self::ShowTransactionStatus => f.write_str("SHOW TRANSACTION STATUS"),
            Self::Resolve { global, ending } => {
                let ending = match ending {
                    Resolution::Commit => "COMMIT",
                    Resolution::Rollback => "ROLLBACK",
                };
                write!(f, "RESOLVE IN DOUBT TRANSACTION {} {ending}", Text(global))
            }
            Self::Metadata(statement) => statement.fmt(f),
            Self::LockCluster { strategy, timeout } => {
                let timeout = Maybe(" TIMEOUT ", *timeout);
                write!(f, "LOCK CLUSTER WITH LOCK_STRATEGY({strategy}){timeout}")
            }
            Self::UnlockCluster { timeout } => {
                write!(f, "UNLOCK CLUSTER{}", Maybe(" TIMEOUT ", *timeout))
            }
            Self::ShowPlugins(plugins) => show_plugins(f, plugins),
            Self::ShowGlobalRule(rule) => write!(f, "SHOW {} RULE", global_rule(*rule)),
            Self::AlterTransactionRule(rule) => rule.fmt(f),
            Self::AlterParserRule(rule) => rule.fmt(f),
            Self::AlterFederationRule(rule) => rule.fmt(f),
            Self::AlterTranslatorRule(rule) => rule.fmt(f),
            Self::AlterClockRule(rule) => rule.fmt(f),
        }
    }
}

fn verb(state: State) -> &'static str {
    match state {
        State::Enabled => "ENABLE",
        State::Disabled => "DISABLE",
    }
}

impl Display for ComputeNode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("SHOW COMPUTE NODES"),
            Self::Info => f.write_str("SHOW COMPUTE NODE INFO"),
            Self::Mode => f.write_str("SHOW COMPUTE NODE MODE"),
            Self::SetState { node, state } => {
                write!(f, "{} COMPUTE NODE {node}", verb(*state))
            }
            Self::Label { node, labels, labelling } => {
                let verb = match labelling {
                    Labelling::Adds => "LABEL",
                    Labelling::Replaces => "RELABEL",
                };
                write!(f, "{verb} COMPUTE NODE {node} WITH {}", List(labels))
            }
            Self::Unlabel { node, labels } if labels.is_empty() => {
                write!(f, "UNLABEL COMPUTE NODE {node}")
            }
            Self::Unlabel { node, labels } => {
                write!(f, "UNLABEL COMPUTE NODE {node} WITH {}", List(labels))
            }
            Self::Alter { node, settings } => {
                let settings: Vec<String> =
                    settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "ALTER COMPUTE NODE {node} SET {}", List(&settings))
            }
        }
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Text(&self.0.text).fmt(f)
    }
}

fn read_unit(f: &mut Formatter<'_>, unit: &ReadUnit, state: State) -> fmt::Result {
    let ReadUnit { group, unit, database } = unit;
    let (verb, from) = (verb(state), from(database));
    match group {
        Some(group) => write!(f, "ALTER READWRITE_SPLITTING RULE {group} {verb} {unit}{from}"),
        None => write!(f, "{verb} READWRITE_SPLITTING READ {unit}{from}"),
    }
}

impl Display for Metadata {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let to = |file: &Option<String>| match file {
            Some(file) => format!(" TO FILE {}", Text(file)),
            None => String::new(),
        };
        match self {
            Self::RefreshDatabase { force, database } => {
                let force = if *force { "FORCE " } else { "" };
                write!(f, "{force}REFRESH DATABASE METADATA{}", Maybe(" ", database.as_ref()))
            }
            Self::RefreshTable { table, unit, schema } => {
                write!(f, "REFRESH TABLE METADATA{}", Maybe(" ", table.as_ref()))?;
                Maybe(" FROM STORAGE UNIT ", unit.as_ref()).fmt(f)?;
                Maybe(" SCHEMA ", schema.as_ref()).fmt(f)
            }
            Self::ShowTable { tables, database } => {
                write!(f, "SHOW TABLE METADATA {}{}", List(tables), from(database))
            }
            Self::ExportDatabase { database, file } => {
                write!(f, "EXPORT DATABASE CONFIGURATION{}{}", from(database), to(file))
            }
            Self::ImportDatabase { file } => {
                write!(f, "IMPORT DATABASE CONFIGURATION FROM FILE {}", Text(file))
            }
            Self::Export { file } => write!(f, "EXPORT METADATA{}", to(file)),
            Self::Import(MetadataSource::Text(text)) => {
                write!(f, "IMPORT METADATA {}", Text(text))
            }
            Self::Import(MetadataSource::File(file)) => {
                write!(f, "IMPORT METADATA FROM FILE {}", Text(file))
            }
            Self::ExportStorageNodes { database, file } => {
                write!(f, "EXPORT STORAGE NODES{}{}", from(database), to(file))
            }
            Self::ConvertYaml { file } => {
                write!(f, "CONVERT YAML CONFIGURATION FROM FILE {}", Text(file))
            }
        }
    }
}

fn show_plugins(f: &mut Formatter<'_>, plugins: &Plugins) -> fmt::Result {
    f.write_str(match plugins {
        Plugins::Of(interface) => return write!(f, "SHOW PLUGINS OF {}", Text(interface)),
        Plugins::Sharding => "SHOW SHARDING ALGORITHM PLUGINS",
        Plugins::Encrypt => "SHOW ENCRYPT ALGORITHM PLUGINS",
        Plugins::Mask => "SHOW MASK ALGORITHM PLUGINS",
        Plugins::Shadow => "SHOW SHADOW ALGORITHM PLUGINS",
        Plugins::KeyGenerate => "SHOW KEY GENERATE ALGORITHM PLUGINS",
        Plugins::LoadBalance => "SHOW LOAD BALANCE ALGORITHM PLUGINS",
    })
}

fn global_rule(rule: GlobalRule) -> &'static str {
    match rule {
        GlobalRule::Authority => "AUTHORITY",
        GlobalRule::Transaction => "TRANSACTION",
        GlobalRule::Parser => "SQL_PARSER",
        GlobalRule::Federation => "SQL_FEDERATION",
        GlobalRule::Translator => "SQL_TRANSLATOR",
        GlobalRule::Clock => "GLOBAL CLOCK",
    }
}

impl Display for TransactionRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let provider = Maybe(", ", self.provider.as_ref());
        let default_type = Text(&self.default_type.text);
        write!(f, "ALTER TRANSACTION RULE(DEFAULT={default_type}{provider})")
    }
}

impl Display for ParserRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ALTER SQL_PARSER RULE(")?;
        MaybeIn("PARSE_TREE_CACHE(", &self.parse_trees).fmt(f)?;
        if self.parse_trees.is_some() && self.statements.is_some() {
            f.write_str(", ")?;
        }
        MaybeIn("SQL_STATEMENT_CACHE(", &self.statements).fmt(f)?;
        f.write_str(")")
    }
}

impl Display for Cache {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Maybe("INITIAL_CAPACITY=", self.initial).fmt(f)?;
        let comma = if self.initial.is_some() { ", " } else { "" };
        Maybe(&format!("{comma}MAXIMUM_SIZE="), self.maximum).fmt(f)
    }
}

impl Display for FederationRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER SQL_FEDERATION RULE(SQL_FEDERATION_ENABLED={}", Truth(self.enabled))?;
        Maybe(", ALL_QUERY_USE_SQL_FEDERATION=", self.all_queries.map(Truth)).fmt(f)?;
        MaybeIn(", EXECUTION_PLAN_CACHE(", &self.plans).fmt(f)?;
        f.write_str(")")
    }
}

impl Display for TranslatorRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let original = self.original_on_failure.map(Truth);
        let original = Maybe(", USE_ORIGINAL_SQL_WHEN_TRANSLATING_FAILED=", original);
        write!(f, "ALTER SQL_TRANSLATOR RULE({}{original})", self.provider)
    }
}

impl Display for ClockRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (kind, provider) = (Text(&self.kind.text), Text(&self.provider.text));
        let (enabled, properties) = (Truth(self.enabled), Properties(", ", &self.properties));
        write!(
            f,
            "ALTER GLOBAL CLOCK RULE(TYPE={kind}, PROVIDER={provider}, ENABLED={enabled}{properties})"
        )
    }
}
