//! Tables on their way to encrypted columns, or back.

use pando_config::Node;
use pando_config::rules::EncryptStage;
use pando_distsql::command::{EncryptStep, Name};

use super::encrypt::{TAG, take_out};
use crate::around::Around;
use crate::change::Change;
use crate::draft::Draft;
use crate::model::Model;
use crate::refusal::{Kind, Refusal, Result};

impl Model {
    /// Notes that a table whose rows are stored otherwise from now on has come from one stage to another.
    ///
    /// # Errors
    /// `MissingRule`, and `InvalidRule` where it is at another stage by now.
    pub fn reach_encrypt_stage(
        &self,
        database: &str,
        table: &str,
        advance: EncryptAdvance,
        around: &Around<'_>,
    ) -> Result<Change> {
        self.drafted(database, around, |draft| {
            reach(draft, table, advance)?;
            Ok(Kind::InvalidRule)
        })
    }

    /// Keeps the order in which clients see the columns of a table with an encrypt rule, unless one is kept already.
    ///
    /// # Errors
    /// `MissingRule`.
    pub fn keep_encrypt_order(
        &self,
        database: &str,
        table: &str,
        order: &[String],
        around: &Around<'_>,
    ) -> Result<Change> {
        self.drafted(database, around, |draft| {
            keep_order(draft, table, order)?;
            Ok(Kind::InvalidRule)
        })
    }

    /// Forgets the columns that COMMIT or ROLLBACK ENCRYPT TABLE has dropped.
    ///
    /// # Errors
    /// As [`Model::reach_encrypt_stage`].
    pub fn end_encrypt_table(
        &self,
        database: &str,
        table: &str,
        around: &Around<'_>,
    ) -> Result<Change> {
        self.drafted(database, around, |draft| {
            end(draft, table)?;
            Ok(Kind::InvalidRule)
        })
    }
}

/// A table's entry in the rule.
struct Table {
    key: String,
    node: Node,
}

/// A step of a table.
pub(super) struct Taken<'s> {
    pub(super) step: EncryptStep,
    pub(super) table: &'s Name,
    pub(super) rows_per_second: Option<u64>,
}

/// Takes a step.
///
/// # Errors
/// `MissingRule`; `InvalidRule` where the table is not at the step before.
pub(super) fn step(draft: &mut Draft<'_>, taken: &Taken<'_>) -> Result<()> {
    let step = taken.step;
    let mut table = Table::of(draft, &taken.table.text)?;
    match step {
        EncryptStep::Encrypt => table.begins_to_encrypt()?,
        EncryptStep::Decrypt => table.begins_to_decrypt()?,
        EncryptStep::Reencrypt => {
            if !table.stage().is_written() {
                return Err(table.refusal("its columns are not there yet"));
            }
            table.set_stage(EncryptStage::Rows);
        }
        EncryptStep::ReadCipher | EncryptStep::ReadPlain => {
            if !table.has_plain() {
                return Err(table.refusal("it has no columns in the plain"));
            }
            let is_there = table.stage() == EncryptStage::InStep;
            if !is_there {
                return Err(table
                    .refusal("its columns are not in step: see SHOW STATUS FROM ENCRYPT TABLES"));
            }
            match step == EncryptStep::ReadCipher {
                true => drop(table.node.remove("queryWithCipherColumn")),
                false => table.node.set("queryWithCipherColumn", Node::text("false")),
            }
        }
        EncryptStep::Commit => {
            if !table.has_plain() {
                return Err(table.refusal("it has no columns in the plain"));
            }
            if table.reads_plain() {
                return Err(table.refusal("it is read in the plain: ALTER ENCRYPT TABLE first"));
            }
            table.set_stage(EncryptStage::Waiting);
        }
        EncryptStep::Rollback | EncryptStep::RollbackInNewOrder => {
            if !table.reads_plain() {
                return Err(table.refusal("it is not read in the plain"));
            }
            table.set_stage(EncryptStage::Waiting);
        }
    }
    table.set_rate(taken.rows_per_second);
    table.put(draft);
    Ok(())
}

/// From one stage to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncryptAdvance {
    /// Where the table must be.
    pub from: EncryptStage,
    /// Where it comes to.
    pub to: EncryptStage,
}

/// Notes how far a table is.
fn reach(draft: &mut Draft<'_>, name: &str, advance: EncryptAdvance) -> Result<()> {
    let mut table = Table::of(draft, name)?;
    if table.stage() != advance.from {
        return Err(table.refusal("it is at another stage by now"));
    }
    table.set_stage(advance.to);
    table.put(draft);
    Ok(())
}

/// Forgets the columns that were dropped: those in the plain, or, where these are read, the whole rule.
fn end(draft: &mut Draft<'_>, name: &str) -> Result<()> {
    let mut table = Table::of(draft, name)?;
    if table.stage() != EncryptStage::Waiting {
        return Err(table.refusal("it is at another stage by now"));
    }
    if table.reads_plain() {
        draft.tree.change_rule(TAG, |section| take_out(section, &table.key));
        return Ok(());
    }
    table.set_stage(EncryptStage::InStep);
    table.each_column(|_, column| drop(column.remove("plain")));
    table.put(draft);
    Ok(())
}

/// Keeps the order in which clients see a table's columns, by their names.
fn keep_order(draft: &mut Draft<'_>, name: &str, order: &[String]) -> Result<()> {
    let mut table = Table::of(draft, name)?;
    if table.node.get("columnOrder").is_none() {
        let names = order.iter().map(|name| Node::text(name.as_str()));
        table.node.set("columnOrder", Node::sequence(names));
        table.put(draft);
    }
    Ok(())
}

/// The order that is kept of a table's columns.
pub(super) fn order(draft: &Draft<'_>, name: &str) -> Option<Node> {
    Table::of(draft, name).ok()?.node.get("columnOrder").cloned()
}

/// Refuses to change the rule of a table on its way.
pub(super) fn refuse_on_the_way(draft: &Draft<'_>, name: &str) -> Result<()> {
    match Table::of(draft, name) {
        Ok(table) if table.has_plain() || table.stage() != EncryptStage::InStep => {
            Err(table.refusal(
                "it is being encrypted or decrypted; end that with COMMIT or ROLLBACK ENCRYPT TABLE",
            ))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

impl Table {
    fn of(draft: &Draft<'_>, name: &str) -> Result<Self> {
        let tables = draft.field(TAG, "tables");
        let key = super::key_of(tables, name);
        let node = key.as_ref().and_then(|key| tables?.get(key)).cloned();
        match key.zip(node) {
            Some((key, node)) => Ok(Self { key, node }),
            None => {
                let message = format!("table `{name}` has no encrypt rule");
                Err(Refusal::new(Kind::MissingRule, message))
            }
        }
    }

    fn put(self, draft: &mut Draft<'_>) {
        let Self { key, node } = self;
        draft.tree.change_rule(TAG, |section| {
            section.change("tables", |tables| tables.set(&key, node));
        });
    }

    fn refusal(&self, why: &str) -> Refusal {
        let message = format!("table `{}` cannot take this step: {why}", self.key);
        Refusal::new(Kind::InvalidRule, message)
    }

    fn stage(&self) -> EncryptStage {
        let word = self.node.get("stage").and_then(Node::as_text).unwrap_or_default();
        let known = EncryptStage::WORDS.iter();
        let mut known = known.filter(|(own, _)| own.eq_ignore_ascii_case(word));
        known.next().map_or(EncryptStage::InStep, |(_, stage)| *stage)
    }

    fn set_stage(&mut self, stage: EncryptStage) {
        match stage {
            EncryptStage::InStep => {
                self.node.remove("stage");
                self.set_rate(None);
            }
            EncryptStage::Waiting | EncryptStage::Columns | EncryptStage::Rows => {
                self.node.set("stage", Node::text(stage.word()))
            }
        }
    }

    /// The bound of the work that is to be done.
    fn set_rate(&mut self, rows_per_second: Option<u64>) {
        match rows_per_second {
            Some(rate) => self.node.set("rowsPerSecond", Node::text(rate.to_string())),
            None => drop(self.node.remove("rowsPerSecond")),
        }
    }

    fn reads_plain(&self) -> bool {
        self.node.get("queryWithCipherColumn").and_then(Node::as_text) == Some("false")
    }

    fn has_plain(&self) -> bool {
        let columns = self.node.get("columns").map(Node::pairs).unwrap_or_default();
        columns.iter().any(|column| column.value.get("plain").is_some())
    }

    fn each_column(&mut self, mut then: impl FnMut(&str, &mut Node)) {
        self.node.change("columns", |columns| {
            let names: Vec<String> = columns.pairs().iter().map(|one| one.key.clone()).collect();
            for name in names {
                columns.change(&name, |column| then(&name, column));
            }
        });
    }

    fn begins_to_encrypt(&mut self) -> Result<()> {
        if !self.reads_plain() {
            return Err(self.refusal("it is not read in the plain; its rule has to have PLAIN columns and QUERY_WITH_CIPHER_COLUMN=false"));
        }
        self.goes_on();
        Ok(())
    }

    fn begins_to_decrypt(&mut self) -> Result<()> {
        if self.reads_plain() {
            return Err(self.refusal("it is read in the plain already"));
        }
        if self.has_plain() {
            self.goes_on();
            return Ok(());
        }
        if self.stage() != EncryptStage::InStep {
            return Err(self.refusal("its rows are being encrypted anew"));
        }
        self.each_column(|name, column| column.set("plain", Node::text(name)));
        self.set_stage(EncryptStage::Columns);
        Ok(())
    }

    /// Begins, or looks at all rows once more.
    fn goes_on(&mut self) {
        match self.stage().is_written() {
            true => self.set_stage(EncryptStage::Rows),
            false => self.set_stage(EncryptStage::Columns),
        }
    }
}
