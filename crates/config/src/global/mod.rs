//! What holds for the whole server: `global.yaml`, or the older `server.yaml`.

mod authority;
mod idle;
mod mode;
mod parser;
mod props;
mod require;
mod transaction;

pub use authority::{Authority, CERTIFICATE, Permission, Privilege, User};
pub use mode::{Mode, Repository};
pub use parser::{CacheSize, GlobalClock, SqlFederation, SqlTranslator};
pub use props::{Health, Properties, Protocol};
pub use require::{Level, Require};
pub use transaction::{Transaction, TransactionType};

use crate::node::Node;
use crate::place::{Errors, Problem, Report};
use crate::placeholder::Environment;
use crate::read::Fields;
use crate::suggest;

/// Every global section; those not given have ShardingSphere's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Global {
    /// Where configuration is kept; absent means standalone.
    pub mode: Mode,
    /// `mode.overwrite`: at the start of an instance its files win over what a repository holds.
    pub overwrite: bool,
    /// Who may log in and what they may see.
    pub authority: Authority,
    /// How transactions over several storage units end.
    pub transaction: Transaction,
    /// Translation between dialects.
    pub sql_translator: SqlTranslator,
    /// The distributed executor.
    pub sql_federation: SqlFederation,
    /// The clock of snapshots.
    pub global_clock: GlobalClock,
    /// `props`.
    pub props: Properties,
}

const TAGS: [&str; 7] = [
    "AUTHORITY",
    "TRANSACTION",
    "SQL_PARSER",
    "SQL_TRANSLATOR",
    "SQL_FEDERATION",
    "GLOBAL_CLOCK",
    "LOGGING",
];

impl Global {
    /// Reads a tree whose placeholders are not filled yet; also gives what is accepted but should be changed.
    ///
    /// # Errors
    /// The first placeholder that cannot be filled, else every problem of the tree.
    pub fn from_tree(
        root: &Node,
        environment: Environment<'_>,
    ) -> Result<(Self, Vec<Problem>), Errors> {
        let root = root.filled(environment)?;
        let mut report = Report::default();
        let mut global = Self::default();
        if let Some(mut fields) = Fields::of(&root, &mut report) {
            global = Self::read(&mut fields);
            if let Some(node) = fields.optional("rules") {
                global.read_rules(node, fields.report());
            }
            fields.finish();
        }
        Ok((global, report.finish()?))
    }

    /// Reads the global keys of a file; `rules` only in a file that has no database.
    pub(crate) fn read(fields: &mut Fields<'_, '_>) -> Self {
        let mut global = Self::default();
        let keys = [
            ("authority", "AUTHORITY"),
            ("transaction", "TRANSACTION"),
            ("sqlParser", "SQL_PARSER"),
            ("sqlTranslator", "SQL_TRANSLATOR"),
            ("sqlFederation", "SQL_FEDERATION"),
            ("globalClock", "GLOBAL_CLOCK"),
            ("logging", "LOGGING"),
        ];
        for (key, tag) in keys {
            if let Some(node) = fields.optional(key) {
                global.read_section(tag, node, fields.report());
            }
        }
        if let Some(node) = fields.optional("mode") {
            (global.mode, global.overwrite) = Mode::read(node, fields.report());
        }
        if let Some(node) = fields.optional("props") {
            global.props = Properties::read(node, fields.report());
        }
        global
    }

    /// Reads `rules` of the older `server.yaml`, where each section is a tagged item.
    pub(crate) fn read_rules(&mut self, node: &Node, report: &mut Report) {
        let mut given: Vec<&str> = Vec::new();
        for item in node.list(report).unwrap_or_default() {
            let Some(tag) = item.tag.as_deref() else {
                report.error(item.expected("a rule, which starts with its tag, as `!AUTHORITY`"));
                continue;
            };
            if given.contains(&tag) {
                report.error(item.at.problem(format!("rule `!{tag}` was already given")));
                continue;
            }
            given.push(tag);
            if TAGS.contains(&tag) {
                self.read_section(tag, item, report);
            } else {
                let hint = suggest::hint(tag, TAGS);
                report.error(item.at.problem(format!("unknown global rule `!{tag}`{hint}")));
            }
        }
    }

    fn read_section(&mut self, tag: &str, node: &Node, report: &mut Report) {
        match tag {
            "AUTHORITY" => self.authority = Authority::read(node, report),
            "TRANSACTION" => self.transaction = Transaction::read(node, report),
            "SQL_PARSER" => parser::check_sql_parser(node, report),
            "SQL_TRANSLATOR" => self.sql_translator = SqlTranslator::read(node, report),
            "SQL_FEDERATION" => self.sql_federation = SqlFederation::read(node, report),
            "GLOBAL_CLOCK" => self.global_clock = GlobalClock::read(node, report),
            _ => report.warn(node.at.problem("`logging` has no effect: it was removed in 5.5.3")),
        }
    }
}
