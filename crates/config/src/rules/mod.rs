//! The rules of one database: one file per tag.

mod broadcast;
mod encrypt;
mod mask;
mod own;
mod readwrite;
mod shadow;
mod sharding;
mod single;
mod strategy;

pub use broadcast::Broadcast;
pub use encrypt::{Encrypt, EncryptColumn, EncryptReads, EncryptStage, EncryptTable, Encrypted};
pub use mask::{Mask, MaskColumn, MaskTable};
pub use readwrite::{Group, ReadwriteSplitting, TransactionalRead};
pub use shadow::{Shadow, ShadowDataSource, ShadowTable};
pub use sharding::{AutoTable, Binding, KeySequence, Sharding, Table};
pub use single::Single;
pub use strategy::{Audit, KeyGenerate, Strategy, StrategyKind};

use crate::node::Node;
use crate::place::{At, Report};

/// The sections under `rules`, each at most once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// `!SHARDING`.
    pub sharding: Option<Sharding>,
    /// `!BROADCAST`, with the older `broadcastTables` of `!SHARDING`.
    pub broadcast: Option<Broadcast>,
    /// `!SINGLE`.
    pub single: Option<Single>,
    /// `!READWRITE_SPLITTING`.
    pub readwrite: Option<ReadwriteSplitting>,
    /// `!ENCRYPT`.
    pub encrypt: Option<Encrypt>,
    /// `!MASK`.
    pub mask: Option<Mask>,
    /// `!SHADOW`.
    pub shadow: Option<Shadow>,
    /// Sections with tags of rooms of Pando's own, as written, in file order; none of them is empty. Whoever builds the
    /// rooms refuses those that no room serves.
    pub own: Vec<Node>,
}

impl Rules {
    /// The tags of the sections that ShardingSphere has, each with a field of its own here.
    pub const TAGS: [&'static str; 7] =
        ["SHARDING", "BROADCAST", "SINGLE", "READWRITE_SPLITTING", "ENCRYPT", "MASK", "SHADOW"];

    /// The tags of the sections that are given, each with where it stands.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &At)> {
        let all = [
            self.sharding.as_ref().map(|section| ("SHARDING", &section.at)),
            self.broadcast.as_ref().map(|section| ("BROADCAST", &section.at)),
            self.single.as_ref().map(|section| ("SINGLE", &section.at)),
            self.readwrite.as_ref().map(|section| ("READWRITE_SPLITTING", &section.at)),
            self.encrypt.as_ref().map(|section| ("ENCRYPT", &section.at)),
            self.mask.as_ref().map(|section| ("MASK", &section.at)),
            self.shadow.as_ref().map(|section| ("SHADOW", &section.at)),
        ];
        let own = self.own.iter().map(|node| (node.tag.as_deref().unwrap_or_default(), &node.at));
        all.into_iter().flatten().chain(own)
    }

    pub(crate) fn read(node: &Node, report: &mut Report) -> Self {
        let mut rules = Self::default();
        let mut given: Vec<&str> = Vec::new();
        for item in node.list(report).unwrap_or_default() {
            let Some(tag) = item.tag.as_deref() else {
                report.error(item.expected("a rule, which starts with its tag, as `!SHARDING`"));
                continue;
            };
            if given.contains(&tag) {
                report.error(item.at.problem(format!("rule `!{tag}` was already given")));
                continue;
            }
            given.push(tag);
            rules.read_one(tag, item, report);
        }
        rules.move_broadcast_tables(report);
        rules
    }

    fn read_one(&mut self, tag: &str, node: &Node, report: &mut Report) {
        match tag {
            "SHARDING" => self.sharding = Sharding::read(node, report),
            "BROADCAST" => self.broadcast = Broadcast::read(node, report),
            "SINGLE" => self.single = Single::read(node, report),
            "READWRITE_SPLITTING" => self.readwrite = ReadwriteSplitting::read(node, report),
            "ENCRYPT" => self.encrypt = Encrypt::read(node, report),
            "MASK" => self.mask = Mask::read(node, report),
            "SHADOW" => self.shadow = Shadow::read(node, report),
            "DB_DISCOVERY" | "TRAFFIC" | "SQL_FORMAT" => {
                let message = format!("rule `!{tag}` was removed in ShardingSphere 5.5");
                report.error(node.at.problem(message));
            }
            "AUTHORITY" | "TRANSACTION" | "SQL_PARSER" | "SQL_TRANSLATOR" | "SQL_FEDERATION"
            | "GLOBAL_CLOCK" | "LOGGING" => {
                let message = format!("rule `!{tag}` belongs in `global.yaml`, not in a database");
                report.error(node.at.problem(message));
            }
            other => self.read_own(other, node, report),
        }
    }

    /// Until 5.3 broadcast tables stood inside `!SHARDING`.
    fn move_broadcast_tables(&mut self, report: &mut Report) {
        let Some(sharding) = &mut self.sharding else { return };
        if sharding.broadcast_tables.is_empty() {
            return;
        }
        let at = sharding.broadcast_tables[0].at.clone();
        report.warn(at.problem("`broadcastTables` of `!SHARDING` is now the rule `!BROADCAST`"));
        let tables = std::mem::take(&mut sharding.broadcast_tables);
        match &mut self.broadcast {
            Some(broadcast) => broadcast.tables.extend(tables),
            None => self.broadcast = Some(Broadcast { at, tables }),
        }
    }
}
