//! RAL: what of it changes or shows the configuration. The rest (locks, labels, metadata, files) is for whoever runs things.

mod export;
mod global;
mod plugins;
mod show;
mod variable;

use pando_config::{Global, Node};
use pando_distsql::command::{ComputeNode, Ral};

use crate::around::{Around, Facts};
use crate::change::Change;
use crate::draft::check_readable;
use crate::model::Model;
use crate::refusal::{Kind, Refusal, Result};
use crate::rows::Rows;
use crate::scrub;

pub use export::Export;

impl Model {
    /// A statement that changes the settings of the whole server: SET DIST VARIABLE, ALTER … RULE of a global rule.
    ///
    /// # Errors
    /// `UnknownVariable`, `InvalidVariable`, `InvalidRule`; `NotSupported` for every statement that changes something else than a model.
    pub fn administer(&self, statement: &Ral, around: &Around<'_>) -> Result<Change> {
        let mut tree = self.global().clone();
        let invalid = match statement {
            Ral::SetVariable { name, value } => {
                variable::set(&mut tree, &name.text, value)?;
                Kind::InvalidVariable
            }
            Ral::AlterTransactionRule(rule) => global::transaction(&mut tree, rule),
            Ral::AlterParserRule(rule) => global::parser(&mut tree, rule),
            Ral::AlterFederationRule(rule) => global::federation(&mut tree, rule),
            Ral::AlterTranslatorRule(rule) => global::translator(&mut tree, rule),
            Ral::AlterClockRule(rule) => global::clock(&mut tree, rule),
            Ral::ShowVariable(_)
            | Ral::ShowVariables { .. }
            | Ral::ComputeNode(_)
            | Ral::SetReadUnitState { .. }
            | Ral::SetStorageUnitState { .. }
            | Ral::ShowReadUnits { .. }
            | Ral::ShowStatus { .. }
            | Ral::ShowInDoubt
            | Ral::ShowTransactionStatus
            | Ral::Resolve { .. }
            | Ral::Metadata(_)
            | Ral::LockCluster { .. }
            | Ral::UnlockCluster { .. }
            | Ral::ShowPlugins(_)
            | Ral::ShowGlobalRule(_) => return Err(elsewhere()),
        };
        self.settled(&tree, around, invalid)
    }

    pub(crate) fn settled(
        &self,
        tree: &Node,
        around: &Around<'_>,
        invalid: Kind,
    ) -> Result<Change> {
        let model = self.with_global(tree);
        check_readable(model.global(), invalid)?;
        let read = Global::from_tree(model.global(), around.environment);
        let (global, _) =
            read.map_err(|errors| scrub::refusal(invalid, &errors, model.global()))?;
        let problems = (around.settings)(&global);
        if !problems.is_empty() {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(Refusal::new(invalid, scrub::scrubbed(lines.join("\n"), model.global())));
        }
        Ok(Change { model, database: None, checks: Vec::new(), tasks: Vec::new() })
    }

    /// The file that EXPORT … TO FILE asks for, to be written before [`Model::show`] answers its rows; nothing for other statements.
    /// `database` is the session's.
    ///
    /// # Errors
    /// `UnknownDatabase`; `InvalidDocument` where a placeholder cannot be filled.
    pub fn export(
        &self,
        database: &str,
        statement: &Ral,
        facts: &Facts<'_>,
    ) -> Result<Option<Export>> {
        let Ral::Metadata(statement) = statement else { return Ok(None) };
        export::to_file(self, database, statement, facts)
    }

    /// The rows of a statement that shows settings of the whole server, its instances, the state of replicas or kinds of algorithms, and of
    /// EXPORT. `database` is the session's.
    ///
    /// # Errors
    /// `UnknownVariable`, `UnknownDatabase`, `UnknownPlugin`, `MissingRule`; `NotSupported` for every statement that shows something else.
    pub fn show(&self, database: &str, statement: &Ral, facts: &Facts<'_>) -> Result<Rows> {
        match statement {
            Ral::ShowVariable(name) => variable::show(self.global(), &name.text, facts),
            Ral::ShowVariables { which, like } => variable::show_all(self.global(), *which, facts)
                .map(|rows| rows.like(like.as_deref())),
            Ral::ComputeNode(ComputeNode::List) => Ok(show::nodes(facts)),
            Ral::ComputeNode(ComputeNode::Info) => Ok(show::own_node(facts)),
            Ral::ComputeNode(ComputeNode::Mode) => Ok(show::mode(facts)),
            Ral::ShowReadUnits { group, database: from } => {
                let database = from.as_ref().map_or(database, |name| &name.text);
                let (name, _) = self.database(database)?;
                let (read, _) = self.read(name, facts.around.environment)?;
                show::read_units(&read, group.as_ref(), facts)
            }
            Ral::ShowGlobalRule(rule) => {
                let (read, _) = self.read_global(facts.around.environment)?;
                Ok(global::show(*rule, self.global(), &read))
            }
            Ral::ShowPlugins(plugins) => plugins::show(plugins, facts),
            Ral::Metadata(statement) => {
                export::show(self, database, statement, facts)?.ok_or_else(elsewhere)
            }
            Ral::ComputeNode(
                ComputeNode::SetState { .. }
                | ComputeNode::Label { .. }
                | ComputeNode::Unlabel { .. }
                | ComputeNode::Alter { .. },
            )
            | Ral::SetVariable { .. }
            | Ral::ShowStatus { .. }
            | Ral::ShowInDoubt
            | Ral::ShowTransactionStatus
            | Ral::Resolve { .. }
            | Ral::SetReadUnitState { .. }
            | Ral::SetStorageUnitState { .. }
            | Ral::LockCluster { .. }
            | Ral::UnlockCluster { .. }
            | Ral::AlterTransactionRule(_)
            | Ral::AlterParserRule(_)
            | Ral::AlterFederationRule(_)
            | Ral::AlterTranslatorRule(_)
            | Ral::AlterClockRule(_) => Err(elsewhere()),
        }
    }
}

fn elsewhere() -> Refusal {
    Refusal::not_supported("this statement, which neither changes nor shows the configuration,")
}
